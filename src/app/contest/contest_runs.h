/* What runs of many steps are summed up to. */
#ifndef APP_CONTEST_CONTEST_RUNS_H
#define APP_CONTEST_CONTEST_RUNS_H

#include "app/contest/contest.h"

typedef struct contest_runs {
    int runs, steps, most;     /* runs; their steps with contacts; iterations of one at most */
    double median, mean;       /* iterations of a step: mean of the runs' medians; mean of all */
    double searches;           /* of a step, mean; this and the next two NAN where the solver does not count them */
    double whole, restarted;   /* share of iterations that took Newton's point; of steps that were begun anew */
    double beyond_8, beyond_6; /* share of steps with E above 1e-8, 1e-6 */
} contest_runs;

/* 0: there are none, or no memory. */
int contest_runs_of(const contest_entry *entry, contest_runs *r);

#endif
