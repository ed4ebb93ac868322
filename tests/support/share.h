/* Number of random trials of a test, and the cases of long runs, from the environment:
 *
 *   SIM_TEST_SHARE=P      P percent of the usual number, at least one: trials, sizes, steps, members of a list.  tools/check sets
 *                         it where sanitizers watch memory alone; the whole proves the mathematics, in the optimised build.
 *   SIM_TEST_TRIALS=P     P percent of random trials alone: tools/check without --full
 *   SIM_TEST_LONG=yes     cases marked LONG_RUN too, and others for their whole span (tools/check --full)
 *   SIM_ORACLE_SCENES=N   N scenes of each oracle. */
#ifndef TESTS_SUPPORT_SHARE_H
#define TESTS_SUPPORT_SHARE_H

#include <stdbool.h>
#include <stdlib.h>

/* Test(suite, name, LONG_RUN): a case that runs where it is named (--filter) or long runs are asked for.  A shorter case
 * of the same claim always runs. */
#define LONG_RUN .description = "long run"

static inline bool long_runs(void) { return getenv("SIM_TEST_LONG"); }

/* Of a run: all of it where long runs are asked for. */
static inline double span_of(double whole, double brief) { return long_runs() ? whole : brief; }

static inline int percent_of(int usual, const char *share) {
    int part = share ? (int)((double)usual * atof(share) / 100) : usual;
    return part > 1 ? part : 1;
}

/* Of a list, all of which counts where mathematics is proved. */
static inline int part_of(int usual) { return percent_of(usual, getenv("SIM_TEST_SHARE")); }

/* Is this a run of parts?  Then what holds at the end of a whole run need not hold. */
static inline bool is_part(void) { return part_of(2) < 2; }

/* Of random trials. */
static inline int trials_of(int usual) {
    const char *share = getenv("SIM_TEST_SHARE");
    return percent_of(usual, share ? share : getenv("SIM_TEST_TRIALS"));
}

static inline long oracle_scenes(long usual) {
    const char *asked = getenv("SIM_ORACLE_SCENES");
    return asked ? atol(asked) : trials_of((int)usual);
}

#endif
