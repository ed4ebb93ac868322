/* Work on independent items, divided among threads in fixed contiguous shares: the result of an item never depends on
 * the number of threads. */
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
/* The same with dynamic scheduling: each free thread takes the next piece.  `share` may be called more than once by a
 * worker, in any order, and no call may depend on the order.  For repeated work of a microsecond and more: the caller
 * waits for no thread that has not begun, so that a busy machine hardly slows it. */
void threads_run_dynamic(sim_threads *threads, int items, threads_task *share, void *context);

#endif
