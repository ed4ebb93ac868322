#include "base/threads.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    struct sim_threads *owner;
    int index;
    pthread_t thread;
} worker;

struct sim_threads {
    int count;   /* the caller included */
    int started; /* threads that run */
    worker *worker;
    pthread_mutex_t mutex;
    pthread_cond_t go, done;
    unsigned round; /* rises with each run */
    int busy;
    int quit;
    int items;
    sim_share *share;
    void *context;
};

static void do_share(struct sim_threads *t, int index) {
    int first = (int)((long long)t->items * index / t->count);
    int end = (int)((long long)t->items * (index + 1) / t->count);
    if (first < end) {
        t->share(t->context, index, first, end);
    }
}

static void *work(void *argument) {
    worker *self = argument;
    struct sim_threads *t = self->owner;
    unsigned seen = 0;
    pthread_mutex_lock(&t->mutex);
    for (;;) {
        while (t->round == seen && !t->quit) {
            pthread_cond_wait(&t->go, &t->mutex);
        }
        if (t->quit) {
            break;
        }
        seen = t->round;
        pthread_mutex_unlock(&t->mutex);
        do_share(t, self->index);
        pthread_mutex_lock(&t->mutex);
        if (--t->busy == 0) {
            pthread_cond_signal(&t->done);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

sim_threads *sim_threads_create(int count) {
    sim_threads *t = calloc(1, sizeof *t);
    worker *workers = calloc((size_t)count, sizeof *workers);
    if (!t || !workers) {
        free(t);
        free(workers);
        return NULL;
    }
    t->count = count;
    t->worker = workers;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->go, NULL);
    pthread_cond_init(&t->done, NULL);
    for (int i = 1; i < count; i++) {
        workers[i] = (worker){.owner = t, .index = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            sim_threads_free(t);
            return NULL;
        }
        t->started++;
    }
    return t;
}

void sim_threads_free(sim_threads *t) {
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->mutex);
    t->quit = 1;
    pthread_cond_broadcast(&t->go);
    pthread_mutex_unlock(&t->mutex);
    for (int i = 1; i <= t->started; i++) {
        pthread_join(t->worker[i].thread, NULL);
    }
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->go);
    pthread_mutex_destroy(&t->mutex);
    free(t->worker);
    free(t);
}

int sim_threads_count(const sim_threads *t) { return t->count; }

void sim_threads_run(sim_threads *t, int items, sim_share *share, void *context) {
    if (t->count == 1 || items == 1) {
        if (items > 0) {
            share(context, 0, 0, items);
        }
        return;
    }
    pthread_mutex_lock(&t->mutex);
    t->items = items;
    t->share = share;
    t->context = context;
    t->busy = t->count - 1;
    t->round++;
    pthread_cond_broadcast(&t->go);
    pthread_mutex_unlock(&t->mutex);
    do_share(t, 0);
    pthread_mutex_lock(&t->mutex);
    while (t->busy) {
        pthread_cond_wait(&t->done, &t->mutex);
    }
    pthread_mutex_unlock(&t->mutex);
}
