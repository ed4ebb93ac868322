/* Factor of the panels that have changed, by one thread or several.
 *
 * Threads take panels in rising order.  A panel subtracts the products of earlier ones in their order, and awaits each
 * of them; so the sums, and their bits, are the same for any number of threads.  All panels before one that is taken
 * have been taken, too, and the first that is not done waits for none: no thread waits for ever.
 *
 * In a heap that is a tower, panels depend on each other in a chain.  A thread then subtracts the products of all
 * earlier panels but the last, while another one is still at work on that.
 *
 * Reference: Heath, Ng, Peyton 1991, Parallel Algorithms for Sparse Linear Systems, section 3.3 (column-Cholesky). */
#include "linalg/blocks.h"

/* From where on a factor takes longer than to wake a thread, some 50 us. */
static const double MIN_SHARED_MULTIPLICATIONS = 5e5;

typedef struct shared_factor {
    spd_blocks *b;
    spd_blocks_factor_panel *factor;
    void *self;
    atomic_int next, failed; /* panel that no thread has taken; has a panel no factor? */
} shared_factor;

/* Is the factor of panel s no longer valid? */
static bool is_stale(spd_blocks *b, int s) {
    for (int k = b->above_start[s]; k < b->above_start[s + 1] && !b->stale[s]; k++) {
        b->stale[s] = b->stale[b->above[k].panel];
    }
    return b->stale[s];
}

static void factor_taken_panels(void *context, int worker, int first, int end) {
    shared_factor *f = context;
    spd_blocks *b = f->b;
    (void)first, (void)end; /* an item is a thread */
    while (!atomic_load(&f->failed)) {
        int s = atomic_fetch_add(&f->next, 1);
        if (s >= b->order->panels) {
            return;
        }
        if (b->stale[s] && !f->factor(f->self, worker, s)) {
            atomic_store(&f->failed, 1);
        }
        atomic_store(&b->done[s], 1);
    }
}

static bool factor_in_threads(spd_blocks *b, spd_blocks_factor_panel *factor, void *self, sim_threads *threads) {
    shared_factor f = {.b = b, .factor = factor, .self = self};
    for (int s = 0; s < b->order->panels; s++) {
        atomic_store_explicit(&b->done[s], !is_stale(b, s), memory_order_relaxed);
    }
    b->shared = true;
    threads_run_dynamic(threads, threads_count(threads), factor_taken_panels, &f);
    b->shared = false;
    return !atomic_load(&f.failed);
}

static bool factor_alone(spd_blocks *b, spd_blocks_factor_panel *factor, void *self) {
    bool regular = true;
    for (int s = 0; s < b->order->panels && regular; s++) {
        regular = !is_stale(b, s) || factor(self, 0, s);
    }
    return regular;
}

bool spd_blocks_factor_stale(spd_blocks *b, spd_blocks_factor_panel *factor, void *self, sim_threads *threads) {
    int panels = b->order->panels;
    if (b->stale_all) {
        memset(b->stale, 1, (size_t)panels);
    }
    b->stale_all = true; /* until all panels are done */
    bool shared = threads && threads_count(threads) > 1 && threads_count(threads) <= b->workers &&
                  b->order->multiplications >= MIN_SHARED_MULTIPLICATIONS;
    if (!(shared ? factor_in_threads(b, factor, self, threads) : factor_alone(b, factor, self))) {
        return false;
    }
    memset(b->stale, 0, (size_t)panels);
    b->stale_all = false;
    return true;
}
