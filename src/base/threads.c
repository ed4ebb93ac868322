/* Pool of threads that starts and joins parallel work within a fraction of a microsecond.
 *
 * Solvers start parallel work every ten microseconds or so, and to wake a sleeping thread takes as long.  A waiting
 * thread therefore polls before it sleeps, for longer than the pause between two parallel regions of one solve.  After
 * a wait that ended in sleep it polls only briefly: with more threads than processors, the thread that it waits for may
 * need this processor.
 *
 * A thread announces that it goes to sleep, then polls once more; a thread that publishes work publishes first, then
 * looks for sleepers.  Both orders are sequentially consistent, so one of the two sees the other, and no work is
 * missed. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { PIECES_PER_THREAD = 3 };
enum { LONG_POLLS = 1500, SHORT_POLLS = 50, RETRY_LONG_AFTER = 16 }; /* polls before sleep, some 40 ns each */

/* How often in a row it ended in sleep. */
typedef struct patience {
    unsigned misses;
} patience;

typedef struct worker {
    struct sim_threads *owner;
    int index;
    patience patience;
    pthread_t thread;
} worker;

struct sim_threads {
    int count;   /* the caller included */
    int started; /* threads that run */
    worker *worker;
    pthread_mutex_t mutex; /* of sleeping threads */
    pthread_cond_t go, done;
    atomic_uint round;  /* rises with each run; odd: one by pieces */
    atomic_ullong next; /* the round (upper half), and its pieces that no thread has taken */
    atomic_int left;    /* pieces that are not done */
    int pieces;
    atomic_int busy;
    atomic_int asleep; /* workers */
    atomic_int waits;  /* does the caller sleep? */
    atomic_int quit;
    patience patience; /* the caller's */
    int items;
    threads_task *share;
    void *context;
};

static inline void look_again(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void run_share(struct sim_threads *t, int index) {
    int first = (int)((long long)t->items * index / t->count);
    int end = (int)((long long)t->items * (index + 1) / t->count);
    if (first < end) {
        t->share(t->context, index, first, end);
    }
}

static int count_polls(const patience *p) { return p->misses % RETRY_LONG_AFTER ? SHORT_POLLS : LONG_POLLS; }

/* Until there is a round after `seen`. */
static void await_round(struct sim_threads *t, unsigned seen, patience *p) {
    for (int k = count_polls(p); k > 0; k--) {
        if (atomic_load(&t->round) != seen) {
            p->misses = 0;
            return;
        }
        look_again();
    }
    p->misses++;
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->asleep, 1);
    while (atomic_load(&t->round) == seen) {
        pthread_cond_wait(&t->go, &t->mutex);
    }
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->mutex);
}

static void begin_round(struct sim_threads *t, unsigned round) {
    atomic_store(&t->round, round);
    if (atomic_load(&t->asleep)) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_broadcast(&t->go);
        pthread_mutex_unlock(&t->mutex);
    }
}

/* One less to wait for. */
static void count_down(struct sim_threads *t, atomic_int *count) {
    if (atomic_fetch_sub(count, 1) == 1 && atomic_load(&t->waits)) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_signal(&t->done);
        pthread_mutex_unlock(&t->mutex);
    }
}

static void await_zero(struct sim_threads *t, atomic_int *count) {
    for (int k = count_polls(&t->patience); k > 0; k--) {
        if (!atomic_load(count)) {
            t->patience.misses = 0;
            return;
        }
        look_again();
    }
    t->patience.misses++;
    pthread_mutex_lock(&t->mutex);
    atomic_store(&t->waits, 1);
    while (atomic_load(count)) {
        pthread_cond_wait(&t->done, &t->mutex);
    }
    atomic_store(&t->waits, 0);
    pthread_mutex_unlock(&t->mutex);
}

/* Pieces of a round until none is left.  A thread that has taken one keeps the round and its task from ending; before
 * that it reads only `next`. */
static void run_pieces(struct sim_threads *t, int index, unsigned round) {
    unsigned long long next = atomic_load(&t->next);
    while (next >> 32 == round && (unsigned)next > 0) {
        if (atomic_compare_exchange_weak(&t->next, &next, next - 1)) {
            long long piece = t->pieces - (long long)(unsigned)next, items = t->items;
            t->share(t->context, index, (int)(items * piece / t->pieces), (int)(items * (piece + 1) / t->pieces));
            count_down(t, &t->left);
            next = atomic_load(&t->next);
        }
    }
}

static void *run_worker(void *argument) {
    worker *self = argument;
    struct sim_threads *t = self->owner;
    for (unsigned seen = 0;;) {
        await_round(t, seen, &self->patience);
        if (atomic_load(&t->quit)) {
            return NULL;
        }
        seen = atomic_load(&t->round);
        if (seen % 2) {
            run_pieces(t, self->index, seen);
        } else {
            run_share(t, self->index);
            count_down(t, &t->busy);
        }
    }
}

static bool make_locks(sim_threads *t) {
    if (pthread_mutex_init(&t->mutex, NULL)) {
        return false;
    }
    if (pthread_cond_init(&t->go, NULL)) {
        pthread_mutex_destroy(&t->mutex);
        return false;
    }
    if (pthread_cond_init(&t->done, NULL)) {
        pthread_cond_destroy(&t->go);
        pthread_mutex_destroy(&t->mutex);
        return false;
    }
    return true;
}

sim_threads *threads_create(int count) {
    /* memory */
    sim_threads *t = calloc(1, sizeof *t);
    worker *workers = calloc((size_t)count, sizeof *workers);
    if (!t || !workers) {
        free(t);
        free(workers);
        return NULL;
    }
    /* barrier */
    t->count = count;
    t->worker = workers;
    if (!make_locks(t)) {
        free(t);
        free(workers);
        return NULL;
    }
    /* workers; the caller is the first */
    for (int i = 1; i < count; i++) {
        workers[i] = (worker){.owner = t, .index = i};
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i])) {
            threads_free(t);
            return NULL;
        }
        t->started++;
    }
    return t;
}

void threads_free(sim_threads *t) {
    if (!t) {
        return;
    }
    atomic_store(&t->quit, 1);
    begin_round(t, (atomic_load(&t->round) | 1) + 1);
    for (int i = 1; i <= t->started; i++) {
        pthread_join(t->worker[i].thread, NULL);
    }
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->go);
    pthread_mutex_destroy(&t->mutex);
    free(t->worker);
    free(t);
}

int threads_count(const sim_threads *t) { return t->count; }

void threads_run(sim_threads *t, int items, threads_task *share, void *context) {
    if (t->count == 1 || items <= 1) {
        if (items > 0) {
            share(context, 0, 0, items);
        }
        return;
    }
    t->items = items;
    t->share = share;
    t->context = context;
    atomic_store(&t->busy, t->started);
    begin_round(t, (atomic_load(&t->round) | 1) + 1); /* the next even number */
    run_share(t, 0);
    await_zero(t, &t->busy);
}

void threads_run_dynamic(sim_threads *t, int items, threads_task *share, void *context) {
    if (t->count == 1 || items <= 1) {
        if (items > 0) {
            share(context, 0, 0, items);
        }
        return;
    }
    unsigned round = (atomic_load(&t->round) + 1) | 1; /* the next odd one */
    t->items = items;
    t->share = share;
    t->context = context;
    t->pieces = items < PIECES_PER_THREAD * t->count ? items : PIECES_PER_THREAD * t->count;
    atomic_store(&t->left, t->pieces);
    atomic_store(&t->next, (unsigned long long)round << 32 | (unsigned)t->pieces);
    begin_round(t, round);
    run_pieces(t, 0, round);
    await_zero(t, &t->left);
}
