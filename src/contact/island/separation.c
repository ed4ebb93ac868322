/* Separation of bodies that overlap at the end of a step: the least shift of positions, on the geometry there.
 *
 *     J_n c >= b / dt at contacts,    J c >= -max(g, 0) / dt at ends of ranges,    J c = 0 of equalities
 *
 *     c    shift of positions over the step, m/s or rad/s (least_shift.c)
 *     b    least change of a contact's gap, m; positive where bodies must part
 *     g    gap to the end of a range, m or rad
 *
 * Islands where no bodies must part stay as they are, and those where no shift lets them: a body that is wedged in.
 *
 * Reference: nonlinear Gauss-Seidel on positions, as in Catto, Box2D (2006); Macklin et al. 2016, XPBD.  Here the
 * metric is that of whole trees, with joints and loops kept, and friction plays no part. */
#include "contact/island/island.h"
#include "contact/island/least_shift.h"

#include <string.h>

static const double MAX_RELATIVE_ERROR = 0.5; /* of the shift, over the greatest change that is wanted */

/* Bounds of all rows; the greatest velocity at which bodies must part, 0: none must. */
static double list_bounds(const assembly *f, const island *is, const double *least, const char *deep,
                          shift_bound *bound, int *count) {
    const sim_problem *p = &is->base;
    double most = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const constraint_source *from = &f->source[is->source[i]];
        if (c->kind == SIM_CONTACT) {
            double b = least[from->index];
            most = deep[from->index] ? max_of(most, b / p->step) : most;
            bound[(*count)++] = (shift_bound){.constraint = i, .row = normal_row(c), .least = b / p->step};
        } else if (c->kind == SIM_LIMIT) {
            double g = max_of(0, p->gap[c->row]);
            bound[(*count)++] = (shift_bound){.constraint = i, .row = 0, .least = -g / p->step};
        } else if (c->kind == SIM_EQUALITY) {
            for (int k = 0; k < c->rows; k++) {
                bound[(*count)++] = (shift_bound){.constraint = i, .row = k, .equal = true};
            }
        }
    }
    return most;
}

sim_status separate_island(const assembly *f, island *is, const double *least, const char *deep, sim_arena *scratch) {
    const sim_problem *p = &is->base;
    int count = 0;
    shift_bound *bound = ARENA_NEW(scratch, shift_bound, p->nrow);
    memset(is->shift, 0, (size_t)p->nv * sizeof *is->shift);
    if (!bound) {
        return SIM_NO_RESOURCE;
    }
    double most = list_bounds(f, is, least, deep, bound, &count), left = 0;
    sim_status status = most > 0 ? least_shift(p, bound, count, scratch, is->shift, &left) : SIM_OK;
    is->parted = most > 0 && left <= MAX_RELATIVE_ERROR * most;
    arena_release(scratch, 0);
    return status;
}
