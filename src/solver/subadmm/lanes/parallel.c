/* Batches shared out among the threads of a solve: none writes what another one touches, so that bits do not depend on who
 * did which. */
#include "solver/subadmm/subadmm.h"

enum { WORTH_SHARING = 16 }; /* batches: a microsecond or so */

typedef struct job {
    admm_lanes *lanes;
    void (*kernel)(admm_lanes *l, int first, int end);
} job;

static void share(void *context, int worker, int first, int end) {
    const job *j = context;
    (void)worker;
    j->kernel(j->lanes, first, end);
}

void subadmm_share(subadmm *s, int batches, void (*kernel)(admm_lanes *l, int first, int end)) {
    if (batches < WORTH_SHARING) {
        kernel(&s->lanes, 0, batches);
    } else {
        solver_run(s->call, batches, share, &(job){&s->lanes, kernel});
    }
}
