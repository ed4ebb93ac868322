/* Sag: depth at which near-rigid contacts rest, over the size of their bodies.
 *
 *     R_n = beta^2/(4 pi^2) w,     d = (dt + tau) R_n gamma_n
 *     d = beta^2/(2 pi^2) (m w) g dt^2   for a weight m g and tau = dt
 *
 *     R_n, w     compliance and inverse mass of the contact, 1/kg (laws.c)
 *     d          depth at rest, m;  gamma_n: normal impulse of a step, N s;  dt, tau: step and dissipation time, s
 *
 * At the rim of a solid m w is about 4, and d is a thousandth of a millimetre at 1 ms.  But w grows as 1 / I for a body
 * whose moments of inertia I are small beside m r^2: m w = 10^5 for 1 kg in a box of 10 cm with 10^-8 kg m^2.  So does
 * m w where a light body carries a heavy one; and d grows with dt^2.  Such bodies sink by their own size, though the
 * law is solved exactly.  The law option `carried` makes contacts as stiff as their load needs.
 *
 * Reported is the contact with the greatest overlap over the radius of the smaller of its moving bodies.  It must press
 * in this step and the one before, with R_n above that of its material.
 *
 * Cost: a few operations for each contact. */
#include "collide/contact/bounds.h"
#include "contact/result/result.h"

#include <math.h>

double *sag_sizes(memory_pool *pool, const sim_model *m) {
    double *size = POOL_NEW(pool, double, m->nbody);
    for (int i = 0; size && i < m->nbody; i++) {
        size[i] = 0;
    }
    for (int k = 0; size && k < m->nshape; k++) {
        const sim_shape *shape = &m->shape[k];
        double radius = shape_ball(shape).radius;
        if (isfinite(radius)) {
            size[shape->body] = fmax(size[shape->body], radius);
        }
    }
    for (int k = 0; size && k < m->nsoft; k++) { /* nodes are parts of a body */
        const sim_soft *s = &m->soft[k];
        double radius = 0;
        for (int n = 0; n < s->nnode; n++) {
            radius = fmax(radius, v3_norm(v3_sub(s->node[n], s->node[0])) / 2);
        }
        for (int n = 0; n < s->nnode; n++) {
            size[s->body + 1 + n] = fmax(size[s->body + 1 + n], radius);
        }
    }
    return size;
}

static double smaller_radius_of(const double *size, const constraint_source *t, const sim_constraint *c) {
    double least = INFINITY;
    for (int side = 0; side < 2; side++) {
        if (t->tree[side] >= 0 && c->body[side] >= 0 && size[c->body[side]] > 0) {
            least = fmin(least, size[c->body[side]]);
        }
    }
    return least;
}

void sag_find(const assembly *f, const double *size, contact_info *info) {
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        const sim_problem *p = &is->problem;
        for (int i = 0; i < p->nconstraint; i++) {
            const sim_constraint *c = &p->constraint[i];
            int n = c->row + 2;
            if (c->kind != SIM_CONTACT || !(is->law.R[n] > is->law.R_rigid[n])) {
                continue;
            }
            /* impacts do not repeat their impulse */
            double depth = fmin(is->impulse[n], is->base.impulse_guess[n]) > 0 ? fmax(-p->gap[n], 0) : 0;
            double part = depth / smaller_radius_of(size, &f->source[is->source[i]], c);
            if (part > info->sag_part) {
                info->sag = depth;
                info->sag_part = part;
                info->sag_body[0] = c->body[0];
                info->sag_body[1] = c->body[1];
            }
        }
    }
}
