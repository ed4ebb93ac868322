/* Clocks, in seconds: of the wall since some moment, and of the processor, all threads of the process together.
 *
 * Only for measurements: no result of a simulation depends on a clock, but for steps with a budget of time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

static inline double clock_seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline double wall_seconds(void) { return clock_seconds_of(CLOCK_MONOTONIC); }
static inline double processor_seconds(void) { return clock_seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

#endif
