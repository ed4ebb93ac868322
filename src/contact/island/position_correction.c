/* Position correction: the least shift of positions with which gaps end as the contact law promised.
 *
 *     c = A^-1 J_n' pi,     0 <= pi  perp  J_n (v_q + c) - min(J_n v, -phi0 / dt) >= 0
 *
 *     c        shift over the step, m/s or rad/s: the least in the metric of A; it moves positions only
 *     pi       multiplier of a contact, or of the end of a joint's range, N s
 *     v, v_q   velocity at the end of the step, and the mean velocity v0 + travel (v - v0) that positions move with
 *     phi0     gap at the start of the step, m
 *
 * A law promises the gap phi0 + dt u_n at the end of the step, u_n = J_n v.  Schemes that move positions with the mean
 * velocity break that promise where a contact changes the velocity suddenly.  A body that arrives at the speed V and is
 * stopped would sink in by dt V / 2.  A law that asked for phi0 + dt J_n v_q = 0 would send it back as fast as it came.
 * For a contact that moves over its bodies u_n is J_n v + w (rows.c); v_q moves positions without w.  Equalities hold J
 * c = 0.  Trees that implicit Euler moves in this step have travel 1.
 *
 * Where contact lasts, v_n changes by O(dt) a step, c is O(dt) along normals, and the gap pulls it back: the order of
 * the scheme stays.  Contacts soft enough for the step to resolve, 2 pi / sqrt(k W_nn) > dt, need no shift.
 *
 * Cost: least_shift.c, where any stop needs a shift. */
#include "contact/island/island.h"
#include "contact/island/least_shift.h"
#include "problem/laws.h"

#include <string.h>

static const double MIN_RELATIVE_NEED = 1e-3; /* of the change of velocity by forces alone in the step */

static double normal_velocity(const sim_problem *p, const sim_constraint *c, const double *v) {
    return velocity_of_row(p, c, normal_row(c), v);
}

/* v_q where trees travel by parts of their own; NULL: all by the same.  False without memory. */
static bool find_mean(const assembly *f, const island *s, sim_arena *scratch, const double **v_q) {
    const sim_problem *p = &s->problem;
    bool any = false;
    *v_q = NULL;
    for (int k = 0; k < p->ntree; k++) {
        any |= tree_is_damped(f, f->tree[s->first_tree + k]);
    }
    double *v = any ? ARENA_NEW(scratch, double, p->nv) : NULL;
    for (int k = 0; k < p->ntree && v; k++) {
        double travel = travel_of(f, tree_is_damped(f, f->tree[s->first_tree + k]));
        for (int j = p->tree[k].v0; j < p->tree[k].v0 + p->tree[k].nv; j++) {
            v[j] = p->v_start[j] + travel * (s->v[j] - p->v_start[j]);
        }
    }
    *v_q = v;
    return v || !any;
}

/* The least J_n c of each stop, m/s.  Is any large enough to matter?  The shift of 1e-3 g dt^2 that is left out is a
 * twentieth of the overlap that the law leaves alone (laws.c).  The change of either side counts, not that along the
 * normal: gravity closes no gap to a wall, and none between bodies that fall together.  `fall` is g dt: the free motion
 * of a robot at rest has the forces of its contacts in it, and changes nothing.
 *
 * A contact that rolls over both bodies and presses as promised takes c of either sign, so that its gap ends as
 * promised.  Otherwise a gap that swings by the error of the scheme would be pushed out on one side alone, and bodies
 * would gain or lose energy.  A contact that obeys the mean velocity (rows.c) corrects its own gap; c must only not
 * close it. */
static bool find_bounds(const island *s, double travel, const double *v_q, double fall, shift_bound *bound,
                        int *count) {
    const sim_problem *p = &s->problem;
    bool any = false;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        /* loops stay as they are */
        for (int k = 0; k < c->rows && c->kind == SIM_EQUALITY; k++) {
            bound[(*count)++] = (shift_bound){.constraint = i, .row = k, .equal = true};
        }
        /* rows that stop, other than those at the mean velocity */
        if (!is_stop(c) || s->rolls[i] == HAS_NO_GAP) {
            continue;
        }
        shift_bound *b = &bound[(*count)++];
        *b = (shift_bound){.constraint = i, .row = normal_row(c)};
        if (s->rolls[i] == ROLLS_IN_MEAN) {
            continue;
        }
        /* normal velocity at the end that positions need */
        double u0 = normal_velocity(p, c, p->v_start), u = normal_velocity(p, c, s->v);
        double w = p->offset ? p->offset[c->row + normal_row(c)] : 0;
        double closing = -p->gap[c->row + normal_row(c)] / p->step;
        double promised = min_of(u + w, closing);
        b->least = promised - (v_q ? normal_velocity(p, c, v_q) : u0 + travel * (u - u0));
        /* does the contact roll and press? */
        b->equal = s->rolls[i] && s->impulse[c->row + normal_row(c)] > 0 && u + w <= closing + 1e-9 * fabs(closing);
        double change = max_of(law_free_change(p, c), c->kind == SIM_CONTACT ? fall : 0);
        any |= (b->equal ? fabs(b->least) : b->least) > MIN_RELATIVE_NEED * change;
    }
    return any;
}

sim_status correct_positions(const assembly *f, const island *s, double fall, sim_arena *scratch) {
    const sim_problem *p = &s->problem;
    const double *v_q = NULL, travel = f->in->travel;
    int count = 0;
    shift_bound *bound = ARENA_NEW(scratch, shift_bound, p->nrow);
    memset(s->shift, 0, (size_t)p->nv * sizeof *s->shift);
    if (!bound || (travel != 1 && !find_mean(f, s, scratch, &v_q))) {
        return SIM_NO_RESOURCE;
    }
    double left;
    bool needed = travel != 1 && find_bounds(s, travel, v_q, fall, bound, &count);
    return needed ? least_shift(p, bound, count, scratch, s->shift, &left) : SIM_OK;
}
