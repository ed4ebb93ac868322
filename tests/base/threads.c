/* Work shared out: every item once, in order, by whoever, however long they waited. */
#include "base/threads.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 100 };

typedef struct tally {
    int items, times[MOST], worker[MOST];
} tally;

static void count(void *context, int worker, int first, int end) {
    tally *t = context;
    for (int k = first; k < end; k++) {
        t->times[k]++;
        t->worker[k] = worker;
    }
}

static void nap(long nanoseconds) { nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

Test(threads, do_every_item_once_in_contiguous_shares) {
    for (int threads = 1; threads <= 7; threads++) {
        sim_threads *t = threads_create(threads);
        cr_assert(t && threads_count(t) == threads);
        for (int items = 0; items <= MOST; items++) {
            tally done = {.items = items};
            threads_run(t, items, count, &done);
            for (int k = 0; k < MOST; k++) {
                cr_assert_eq(done.times[k], k < items);
                cr_assert(k == 0 || k >= items || done.worker[k] >= done.worker[k - 1]);
            }
        }
        threads_free(t);
    }
}

typedef struct pause_job {
    tally done;
    long pause;
} pause_job;

static void nap_a_little(void *context, int worker, int first, int end) {
    pause_job *job = context;
    count(&job->done, worker, first, end);
    if (worker % 2 && job->pause) {
        nap(job->pause);
    }
}

/* Waits of no time and of a millisecond in turn: workers that look, and workers that sleep; a caller that does. */
Test(threads, miss_no_work_however_long_they_waited, .timeout = 60) {
    sim_threads *t = threads_create(3);
    pause_job job = {.done = {.items = MOST}};
    cr_assert_not_null(t);
    for (int run = 0; run < 3000; run++) {
        job.pause = run % 100 == 7 ? 1000000 : 0;
        if (run % 100 == 50) {
            nap(1000000);
        }
        threads_run(t, MOST, nap_a_little, &job);
        for (int k = 0; k < MOST; k++) {
            cr_assert_eq(job.done.times[k], run + 1);
        }
    }
    threads_free(t);
}

/* Data that one run writes and the next one reads, on other threads. */
typedef struct relay {
    double x[MOST], y[MOST];
} relay;

static void forth(void *context, int worker, int first, int end) {
    relay *r = context;
    (void)worker;
    for (int k = first; k < end; k++) {
        r->y[k] = r->x[MOST - 1 - k] + 1;
    }
}

static void back(void *context, int worker, int first, int end) {
    relay *r = context;
    (void)worker;
    for (int k = first; k < end; k++) {
        r->x[k] = r->y[(k + 37) % MOST] + 1;
    }
}

Test(threads, see_what_the_run_before_wrote, .timeout = 60) {
    sim_threads *t = threads_create(2);
    relay r = {{0}, {0}};
    cr_assert_not_null(t);
    for (int run = 0; run < 5000; run++) {
        threads_run(t, MOST, forth, &r);
        threads_run(t, MOST, back, &r);
    }
    for (int k = 0; k < MOST; k++) {
        cr_assert_eq(r.x[k], 10000.0);
    }
    threads_free(t);
}

static void count_pieces(void *context, int worker, int first, int end) {
    tally *t = context;
    (void)worker;
    for (int k = first; k < end; k++) {
        t->times[k]++;
    }
}

/* Both kinds in turn, with naps between, so that some workers come late and find the round over. */
Test(threads, take_every_item_once, .timeout = 60) {
    for (int threads = 1; threads <= 5; threads++) {
        sim_threads *t = threads_create(threads);
        cr_assert_not_null(t);
        for (int run = 0; run < 2000; run++) {
            int items = run % (MOST + 1);
            tally done = {.items = items};
            (run % 7 == 3 ? threads_run : threads_run_dynamic)(t, items, count_pieces, &done);
            for (int k = 0; k < MOST; k++) {
                cr_assert_eq(done.times[k], k < items);
            }
            if (run % 500 == 100) {
                nap(1000000);
            }
        }
        threads_free(t);
    }
}

Test(threads, see_what_the_pieces_before_wrote, .timeout = 60) {
    sim_threads *t = threads_create(3);
    relay r = {{0}, {0}};
    cr_assert_not_null(t);
    for (int run = 0; run < 5000; run++) {
        threads_run_dynamic(t, MOST, forth, &r);
        threads_run_dynamic(t, MOST, back, &r);
    }
    for (int k = 0; k < MOST; k++) {
        cr_assert_eq(r.x[k], 10000.0);
    }
    threads_free(t);
}
