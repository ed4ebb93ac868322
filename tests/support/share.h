/* Number of random trials of a test, from the environment:
 *
 *   SIM_TEST_SHARE=P      P percent of the usual number, at least one.  tools/check sets it where sanitizers watch memory
 *                         alone: the whole number proves the mathematics, in the optimised build.
 *   SIM_ORACLE_SCENES=N   N scenes of each oracle. */
#ifndef TESTS_SUPPORT_SHARE_H
#define TESTS_SUPPORT_SHARE_H

#include <stdlib.h>

static inline int trials_of(int usual) {
    const char *share = getenv("SIM_TEST_SHARE");
    int part = share ? (int)((double)usual * atof(share) / 100) : usual;
    return part > 1 ? part : 1;
}

static inline long oracle_scenes(long usual) {
    const char *asked = getenv("SIM_ORACLE_SCENES");
    return asked ? atol(asked) : trials_of((int)usual);
}

#endif
