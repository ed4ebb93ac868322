/* Number of random scenes of an oracle, from the environment:
 *
 *   SIM_ORACLE_SCENES=N   N in place of the usual number;
 *   SIM_ORACLE_SHARE=P    P percent of it, at least one.  tools/check sets it where a sanitizer watches memory only. */
#ifndef ORACLE_SHARE_H
#define ORACLE_SHARE_H

#include <stdlib.h>

static inline long oracle_scenes(long usual) {
    const char *asked = getenv("SIM_ORACLE_SCENES"), *share = getenv("SIM_ORACLE_SHARE");
    long part = share ? usual * atol(share) / 100 : usual;
    return asked ? atol(asked) : part > 1 ? part : 1;
}

#endif
