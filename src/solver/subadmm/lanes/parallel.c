/* Distribution of SubADMM's batches over the threads of a solve.  No batch writes data of another: the bits of the
 * solution do not depend on the number of threads. */
#include "solver/subadmm/subadmm.h"

enum { MIN_PARALLEL_BATCHES = 16 }; /* about a microsecond of work */

typedef struct job {
    admm_lanes *lanes;
    void (*kernel)(admm_lanes *l, int first, int end);
} job;

static void run_kernel_share(void *context, int worker, int first, int end) {
    const job *j = context;
    (void)worker;
    j->kernel(j->lanes, first, end);
}

void subadmm_run_kernel(subadmm *s, int batches, void (*kernel)(admm_lanes *l, int first, int end)) {
    if (batches < MIN_PARALLEL_BATCHES) {
        kernel(&s->lanes, 0, batches);
    } else {
        solver_run(s->call, batches, run_kernel_share, &(job){&s->lanes, kernel});
    }
}
