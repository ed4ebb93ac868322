/* How does the time of a step grow?
 *
 * Chains of 125 to 1,000 links and 1,250 to 10,000 free bodies: building the model, one step with the default
 * integrator, memory; then the exponent of the growth between the smallest and the largest. */
#include "support/models.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct figures {
    double build, step, model_bytes, world_bytes;
} figures;

static sim_model *make(int chain, int count) {
    random_source r = {1};
    return chain ? swinging_chain(count) : free_bodies(&r, count);
}

static figures measure(int chain, int count) {
    figures f;
    double begin = seconds();
    sim_model *m = make(chain, count);
    sim_world *w = sim_world_create(m, NULL, NULL);
    f.build = seconds() - begin;
    f.step = INFINITY;
    for (int batch = 0; batch < 10; batch++) {
        begin = seconds();
        for (int k = 0; k < 5; k++) {
            sim_world_step(w, NULL);
        }
        f.step = fmin(f.step, (seconds() - begin) / 5);
    }
    f.model_bytes = (double)m->bytes;
    f.world_bytes = (double)sim_world_bytes(w);
    sim_world_free(w);
    sim_model_free(m);
    return f;
}

static void report(const char *what, int chain, int smallest) {
    figures first = measure(chain, smallest), f = first;
    printf("%-12s %7s %12s %12s %12s %12s\n", what, "n", "build [ms]", "step [us]", "model [kB]", "world [kB]");
    for (int n = smallest; n <= 8 * smallest; n *= 2) {
        f = measure(chain, n);
        printf("%-12s %7d %12.3f %12.1f %12.1f %12.1f\n", "", n, 1e3 * f.build, 1e6 * f.step, f.model_bytes / 1e3,
               f.world_bytes / 1e3);
    }
    printf("%-12s %7s %12.2f %12.2f %12.2f %12.2f\n", "", "exponent", log(f.build / first.build) / log(8),
           log(f.step / first.step) / log(8), log(f.model_bytes / first.model_bytes) / log(8),
           log(f.world_bytes / first.world_bytes) / log(8));
}

int main(int count, char **word) {
    int part = asked_quick(count, word) ? 10 : 1;
    printf("sim %s, %s\n", sim_version(), sim_build_info());
    report("chain", 1, 125 / part);
    report("free bodies", 0, 1250 / part);
    return 0;
}
