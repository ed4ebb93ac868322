/* Budget of the solver in a step: iterations of each island, and time of all islands.
 *
 *     deadline of island i = start + time sum_(j <= i) rows_j / sum_j rows_j
 *
 * in the order in which one thread solves them: time that an island leaves unused is the next one's.  With more threads
 * the islands begin earlier, and have more time.  A solver reads the clock after each iteration, so an island exceeds
 * its deadline by one iteration at most, beside the preparation of its problem.  Only a budget of time reads a clock:
 * results that depend on it differ from run to run. */
#include "base/clock.h"
#include "contact/island/island.h"

#include <math.h>

static double add_deadlines(const assembly *f, const sim_budget *budget, bool parallel, double start, double rows) {
    for (int i = 0; i < f->nisland; i++) {
        island *is = &f->island[i];
        if (is->parallel == parallel) {
            rows += is->base.nrow;
            is->deadline = budget->time > 0 ? start + budget->time * rows / fmax(f->nrow, 1) : HUGE_VAL;
        }
    }
    return rows;
}

void budget_share_time(const assembly *f, const sim_budget *budget) {
    double start = budget->time > 0 ? wall_seconds() : 0;
    double rows = add_deadlines(f, budget, true, start, 0); /* large islands come first */
    add_deadlines(f, budget, false, start, rows);
}

bool budget_is_late(const island *is) { return is->deadline < HUGE_VAL && wall_seconds() > is->deadline; }

bool budget_is_spent(const island *is, const sim_budget *budget) {
    return (budget->iterations > 0 && is->solution.iterations >= budget->iterations) || budget_is_late(is);
}
