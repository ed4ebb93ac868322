/* How far does the convex law lift what slides?
 *
 * Where friction is at the edge of its cone the law asks for s_n = mu |s_t| instead of s_n = 0 (problem.h), so that points
 * which slide on each other part at u_n = mu |s_t| - phi/T - R_n gamma_n: they glide at a gap, and what has none yet is
 * thrown up to it and beyond.  Reported is, of the contacts that push,
 *
 *     h = min(max(phi, 0), T mu |s_t|) + r^2 / 2g,    r = min(max(u_n, 0), mu |s_t|)
 *
 * with phi [m] the gap, s and u [m/s] as the law has them, T = dt or dt + tau [s], and g [m/s^2] gravity: as high as that speed
 * goes against it.  Without gravity the gap counts alone.  For a point of speed v on a plane h = (mu v / (1 + mu^2))^2 / 2g.
 * Restitution and what else parts the two at once is bounded by mu |s_t|; a point of a body that turns, or that something
 * else holds, rises less than h.
 *
 * Cost: three products of rows for each contact that pushes. */
#include "contact/parts.h"

#include <math.h>

/* Of one contact; n is its third row. */
static double lift_of(const island *is, const sim_constraint *c, double reach, double gravity) {
    const sim_problem *p = &is->problem;
    double s[2];
    for (int k = 0; k < 2; k++) {
        int row = c->row + k;
        s[k] = velocity_of_row(p, c, k, is->v) + (p->offset ? p->offset[row] : 0) - is->target[row] +
               is->R[row] * is->impulse[row];
    }
    int n = c->row + 2;
    double most = c->friction * sqrt(s[0] * s[0] + s[1] * s[1]), glides = fmin(fmax(p->gap[n], 0), reach * most);
    double rises = fmin(fmax(velocity_of_row(p, c, 2, is->v) + (p->offset ? p->offset[n] : 0), 0), most);
    return glides + (gravity > 0 ? rises * rises / (2 * gravity) : 0);
}

void lift_find(const frame *f, double reach, double gravity, contact_info *info) {
    info->lift_body[0] = info->lift_body[1] = -1;
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        for (int i = 0; i < is->problem.nconstraint; i++) {
            const sim_constraint *c = &is->problem.constraint[i];
            if (c->kind != SIM_CONTACT || !(is->impulse[c->row + 2] > 0) || isinf(is->R[c->row])) {
                continue;
            }
            double lift = lift_of(is, c, reach, gravity);
            if (lift > info->lift && isfinite(lift)) {
                info->lift = lift;
                info->lift_body[0] = c->body[0];
                info->lift_body[1] = c->body[1];
            }
        }
    }
}
