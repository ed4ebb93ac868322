/* Stall watch: counts the iterations in which an error made no progress.
 *
 *     progress:   error < ratio * reference,    0 < ratio <= 1
 *
 * The reference is the error at the last progress (stall_watch_update), or the least error so far
 * (stall_watch_update_least).  With the latter a long series of small gains counts as a stall.  An error that is not a
 * number is never progress. */
#ifndef SOLVER_CORE_STALL_H
#define SOLVER_CORE_STALL_H

#include <math.h>
#include <stdbool.h>

typedef struct stall_watch {
    double ratio;     /* of the reference, below which an error is progress */
    double reference; /* error; HUGE_VAL: none yet */
    int stalled;      /* iterations since the last progress */
} stall_watch;

static inline stall_watch stall_watch_start(double ratio) {
    return (stall_watch){.ratio = ratio, .reference = HUGE_VAL};
}

/* Counts one iteration; true: it made progress. */
static inline bool stall_watch_update(stall_watch *w, double error) {
    bool progress = error < w->ratio * w->reference;
    w->reference = progress ? error : w->reference;
    w->stalled = progress ? 0 : w->stalled + 1;
    return progress;
}

static inline bool stall_watch_update_least(stall_watch *w, double error) {
    bool progress = error < w->ratio * w->reference;
    w->reference = fmin(w->reference, error);
    w->stalled = progress ? 0 : w->stalled + 1;
    return progress;
}

#endif
