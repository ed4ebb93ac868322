/* Work on independent items, shared out among threads in fixed contiguous shares: what an item computes never depends on
 * how many threads there are. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

typedef struct sim_threads sim_threads;

/* Items [first, end) are this call's share; `worker` counts from 0. */
typedef void threads_task(void *context, int worker, int first, int end);

/* NULL when the threads could not be had.  One thread is the caller's own. */
sim_threads *threads_create(int count);
void threads_free(sim_threads *threads);
int threads_count(const sim_threads *threads);
/* Returns when all items are done. */
void threads_run(sim_threads *threads, int items, threads_task *share, void *context);
/* The same in pieces, each taken by whoever is free: `share` may be called more than once by a worker, in any order, and no
 * call may depend on which.  For work of a microsecond and more, over and over: it waits for no thread that has not begun,
 * so that where others want the processors it takes hardly longer than alone. */
void threads_run_dynamic(sim_threads *threads, int items, threads_task *share, void *context);

#endif
