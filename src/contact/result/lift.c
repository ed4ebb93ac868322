/* Lift: the height to which the convex law lifts sliding contacts.
 *
 * Where friction is at the edge of its cone the law asks for s_n = mu |s_t| instead of s_n = 0 (problem.h), so that
 * sliding points part at u_n = mu |s_t| - phi/T - R_n gamma_n: they glide at a gap, and what has none yet is thrown up
 * to it and beyond.  Reported is, of the contacts that push,
 *
 *     h = min(max(phi, 0), T mu |s_t|) + r^2 / 2g,    r = min(max(u_n, 0), mu |s_t|)
 *
 * with phi [m] the gap, s and u [m/s] as the law has them, T = dt or dt + tau [s], and g [m/s^2] gravity: as high as
 * that speed goes against it.  Without gravity the gap counts alone.  For a point of speed v on a plane h = (mu v / (1
 * + mu^2))^2 / 2g. Restitution and what else parts the two at once is bounded by mu |s_t|; a point of a body that
 * turns, or that something else holds, rises less than h.
 *
 * Cost: a product of rows for each contact that pushes, three for those that may be the highest. */
#include "contact/result/result.h"

#include <math.h>

/* u of one row. */
static double rate_of(const island *is, const sim_constraint *c, int row) {
    const sim_problem *p = &is->problem;
    return velocity_of_row(p, c, row, is->v) + (p->offset ? p->offset[c->row + row] : 0);
}

/* Of one contact; 0 where it is no more than `least`, which its normal alone tells of most. */
static double lift_of(const island *is, const sim_constraint *c, double reach, double gravity, double least) {
    double gap = fmax(is->problem.gap[c->row + 2], 0), parts = fmax(rate_of(is, c, 2), 0), s[2];
    double per_speed = gravity > 0 ? 1 / (2 * gravity) : 0;
    if (!(gap + per_speed * parts * parts > least)) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        int row = c->row + k;
        s[k] = rate_of(is, c, k) - is->law.target[row] + is->law.R[row] * is->impulse[row];
    }
    double most = c->friction * sqrt(s[0] * s[0] + s[1] * s[1]), rises = fmin(parts, most);
    return fmin(gap, reach * most) + per_speed * rises * rises;
}

void lift_find(const assembly *f, double reach, double gravity, contact_info *info) {
    info->lift_body[0] = info->lift_body[1] = -1;
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        for (int i = 0; i < is->problem.nconstraint; i++) {
            const sim_constraint *c = &is->problem.constraint[i];
            if (c->kind != SIM_CONTACT || !(is->impulse[c->row + 2] > 0) || isinf(is->law.R[c->row])) {
                continue;
            }
            double lift = lift_of(is, c, reach, gravity, info->lift);
            if (lift > info->lift && isfinite(lift)) {
                info->lift = lift;
                info->lift_body[0] = c->body[0];
                info->lift_body[1] = c->body[1];
            }
        }
    }
}
