/* What do vectors and a second thread gain in SubADMM's inner loops?
 *
 * Bodies in a row, each touching others near it, and the world: nanoseconds for each contact and body, best of many,
 * one at a time and as many as the machine's vectors hold; then, by the clock on the wall, an iteration on one thread
 * and on two. */
#include "base/threads.h"
#include "support/lanes.h"
#include "support/quick.h"

#include <stdio.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

enum { CONTACTS, BODIES, FACTOR, SOFTEN };

typedef struct bench {
    admm_lanes l;
    const admm_kernels *kernels;
    int repeat;
    sim_threads *threads;
} bench;

static void call(bench *b, int what) {
    switch (what) {
    case CONTACTS:
        b->kernels->update_contacts(&b->l, 0, b->l.contact_batches);
        break;
    case BODIES:
        b->kernels->update_bodies(&b->l, 0, b->l.solved_batches);
        break;
    case FACTOR:
        b->kernels->factor(&b->l, 0, b->l.solved_batches, 1);
        break;
    default:
        b->kernels->set_compliance(&b->l, 0, b->l.contact_batches, 1);
    }
}

static double best(bench *b, int what) {
    double least = INFINITY;
    for (int k = 0; k < 20; k++) {
        double begin = now(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < b->repeat; i++) {
            call(b, what);
        }
        least = fmin(least, (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / b->repeat);
    }
    return least;
}

static void share_contacts(void *context, int worker, int first, int end) {
    bench *b = context;
    (void)worker;
    b->kernels->update_contacts(&b->l, first, end);
}

static void share_bodies(void *context, int worker, int first, int end) {
    bench *b = context;
    (void)worker;
    b->kernels->update_bodies(&b->l, first, end);
}

static double together(bench *b) {
    double least = INFINITY;
    for (int k = 0; k < 40; k++) {
        double begin = now(CLOCK_MONOTONIC);
        for (int i = 0; i < b->repeat; i++) {
            threads_run_dynamic(b->threads, b->l.contact_batches, share_contacts, b);
            threads_run_dynamic(b->threads, b->l.solved_batches, share_bodies, b);
        }
        least = fmin(least, (now(CLOCK_MONOTONIC) - begin) / b->repeat);
    }
    return least;
}

static int measure(const char *name, const lanes_recipe *recipe, int effort) {
    random_source r = {1};
    lanes_case c = lanes_random(&r, recipe);
    sim_arena *arena = arena_create();
    const admm_kernels *width[2] = {&admm_scalar, &admm_vector};
    double time[2][4], iteration[2];
    bench b = {.repeat = 1 + effort / recipe->contacts};
    int ok = arena != NULL;
    for (int w = 0; w < 2 && ok; w++) {
        b.kernels = width[w];
        ok = lanes_make(&c, b.kernels, 1, arena, &b.l);
        for (int what = 0; what < 4 && ok; what++) {
            time[w][what] = best(&b, what);
        }
    }
    for (int count = 1; count <= 2 && ok; count++) {
        b.threads = threads_create(count);
        ok = b.threads != NULL;
        iteration[count - 1] = ok ? together(&b) : 0;
        threads_free(b.threads);
    }
    if (ok) {
        int n = recipe->contacts, m = recipe->bodies;
        printf("%-22s %5d %6d %8.1f %7.1f %5.1f %8.1f %7.1f %5.1f %8.1f %7.1f %9.2f %9.2f %5.2f\n", name, m, n,
               time[0][0] / n, time[1][0] / n, time[0][0] / time[1][0], time[0][1] / m, time[1][1] / m,
               time[0][1] / time[1][1], time[0][2] / m, time[1][2] / m, 1e-3 * iteration[0], 1e-3 * iteration[1],
               iteration[0] / iteration[1]);
    }
    lanes_free(&c);
    arena_free(arena);
    return ok;
}

int main(int argc, char **argv) {
    int quick = asked_quick(argc, argv), effort = quick ? 1 : 30000, ok = 1;
    const int size[] = {8, 80, 320, 2000};
    printf("%-42s %s\n%-22s %5s %6s %8s %7s %5s %8s %7s %5s %8s %7s %9s %9s %5s\n", "",
           "ns a contact            ns a body               ns a factor      us an iteration", "", "bodies", "contacts",
           "scalar", "vector", "gain", "scalar", "vector", "gain", "scalar", "vector", "1 thread", "2 threads", "gain");
    for (int k = 0; k < (quick ? 1 : 4) && ok; k++) {
        lanes_recipe heap = {.bodies = size[k], .contacts = 3 * size[k], .world = 0.2, .decades = 0.3};
        lanes_recipe boxes = {.bodies = size[k], .contacts = 12 * size[k], .world = 0.1, .decades = 0.3};
        lanes_recipe general = {.bodies = size[k], .contacts = 6 * size[k], .general = 1, .decades = 0.3};
        ok = measure("balls", &heap, effort) && measure("boxes", &boxes, effort) &&
             measure("any rows", &general, effort);
    }
    return !ok;
}
