/* Sag: the depth at which near-rigid contacts rest, beside the size of their bodies.
 *
 * Near-rigid contact of inverse mass w yields by what the step can resolve, R_n = beta^2/(4 pi^2) w (laws.c), and
 * carries gamma_n at rest at the depth
 *
 *     d = (dt + tau) R_n gamma_n,       for a weight m g:  d = beta^2/(2 pi^2) (m w) g dt^2,   tau = dt.
 *
 * m w is 4 or so at the rim of a solid, and d a thousandth of a millimetre at 1 ms.  But w grows as 1 / I where a
 * body's moments are small beside m r^2 (1 kg in a box of 10 cm with 10^-8 kg m^2: m w = 10^5), as m w does where a
 * light body carries a heavy one, and d with dt^2: then what touches sinks as deep as it is large, while the law is
 * answered to the last bit. The law option `carried` makes contacts as stiff as their load asks for.
 *
 * Reported is the overlap of the contact that has most of it beside the radius of the smaller of its two that move, of
 * those that push in this step as in the one before and whose R_n is above what their material asks for.
 *
 * Cost: a few operations for each contact. */
#include "collide/contact/bounds.h"
#include "contact/result/result.h"

#include <math.h>

double *sag_sizes(sim_pool *pool, const sim_model *m) {
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
    return size;
}

static double smaller(const double *size, const constraint_source *t, const sim_constraint *c) {
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
            double depth = fmin(is->impulse[n], p->impulse_guess[n]) > 0 ? fmax(-p->gap[n], 0) : 0;
            double part = depth / smaller(size, &f->source[is->source[i]], c);
            if (part > info->sag_part) {
                info->sag = depth;
                info->sag_part = part;
                info->sag_body[0] = c->body[0];
                info->sag_body[1] = c->body[1];
            }
        }
    }
}
