/* Lift: height to which the convex law lifts sliding contacts.
 *
 *     h = min(max(phi, 0), T mu |s_t|) + r^2 / 2g,     r = min(max(u_n, 0), mu |s_t|)
 *
 *     h      lift of a contact that pushes, m: its gap, and the rise at its parting speed against gravity
 *     phi    gap, m;  mu: friction coefficient;  s, u: velocities of the law, m/s (problem.h)
 *     T      dt or dt + tau, s;  g: gravity, m/s^2; without gravity the gap counts alone
 *
 * At the edge of the friction cone the convex law asks for s_n = mu |s_t| in place of s_n = 0.  So sliding points
 * part at u_n = mu |s_t| - phi/T - R_n gamma_n: they glide at a gap, and a contact without one is thrown up to it and
 * beyond. A point of speed v on a plane has h = (mu v / (1 + mu^2))^2 / 2g. mu |s_t| also bounds the part of
 * restitution and other causes of parting in r.  A point of a body that turns or is held rises less than h.
 *
 * Cost: a product of rows for each contact that pushes, three for those that may be the highest. */
#include "contact/result/result.h"

#include <math.h>

/* u of one row. */
static double eval_row_velocity(const island *is, const sim_constraint *c, int row) {
    const sim_problem *p = &is->problem;
    return velocity_of_row(p, c, row, is->v) + (p->offset ? p->offset[c->row + row] : 0);
}

/* h of one contact; 0 if it is at most `least`, which the normal row decides for most contacts. */
static double eval_lift(const island *is, const sim_constraint *c, double reach, double gravity, double least) {
    double gap = fmax(is->problem.gap[c->row + 2], 0), parts = fmax(eval_row_velocity(is, c, 2), 0), s[SIM_MAX_ROWS];
    double per_speed = gravity > 0 ? 1 / (2 * gravity) : 0;
    if (!(gap + per_speed * parts * parts > least)) {
        return 0;
    }
    for (int k = 0; k < c->rows; k++) {
        int row = c->row + k;
        s[k] = eval_row_velocity(is, c, k) - is->law.target[row] + is->law.R[row] * is->impulse[row];
    }
    double most = c->friction * sqrt(s[0] * s[0] + s[1] * s[1]);
    sim_disc disc[SIM_MAX_DISCS];
    for (int k = 1, count = sim_contact_discs(c, disc); k < count; k++) {
        most += disc[k].bound * hypot(s[disc[k].row], disc[k].rows == 2 ? s[disc[k].row + 1] : 0);
    }
    double rises = fmin(parts, most);
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
            double lift = eval_lift(is, c, reach, gravity, info->lift);
            if (lift > info->lift && isfinite(lift)) {
                info->lift = lift;
                info->lift_body[0] = c->body[0];
                info->lift_body[1] = c->body[1];
            }
        }
    }
}
