/* A factor by blocks, panel by panel, by several threads.
 *
 * A panel needs the panels below it in the elimination tree, and no others.  Subtrees of a small part of the whole work
 * go to single threads.  Then all threads factor each panel above them together, one after the other.  A sum over panels
 * runs in their order, whoever computes it.
 *
 * Reference: Heath, Ng, Peyton 1991, Parallel algorithms for sparse linear systems (subtree to subcube).
 * Cost: of a schedule, one pass over the entries of the factor. */
#include "linalg/blocks_schedule.h"

#include <stdatomic.h>

static const double SUBTREES_PER_THREAD = 4; /* of equal work, would they be all */
static const double MIN_TOGETHER_WORK = 5e4; /* multiplications of a panel, some 5 us, worth a start of all threads */

/* Unknowns in the columns of a panel from each entry on. */
static void sum_widths(const spd_blocks *b, int *width) {
    const spd_order *o = b->order;
    for (int s = 0; s < o->panels; s++) {
        for (int e = o->start[s + 1] - 1, sum = 0; e >= o->start[s]; e--) {
            width[e] = sum += b->stride[o->column[e]];
        }
    }
}

/* Products of the panel's own rows, and those that it subtracts. */
static double count_panel_work(const spd_blocks *b, const int *width, int s) {
    double h = b->height[s], sum = h * h * width[b->order->start[s]];
    for (int k = b->above_start[s]; k < b->above_start[s + 1]; k++) {
        spd_above a = b->above[k];
        for (int e = a.first; e < a.end; e++) {
            sum += 2.0 * b->height[a.panel] * b->size[b->order->column[e]] * width[e];
        }
    }
    return sum;
}

/* The panel that has the first row beyond those of panel s; -1: none. */
static int find_parent(const spd_blocks *b, int s) {
    const spd_order *o = b->order;
    int e = o->start[s] + o->first[s + 1] - o->first[s];
    return e < o->start[s + 1] ? b->panel[o->column[e]] : -1;
}

/* Panels stand depth first: a subtree is a run of them, its root the last. */
static void cut_tree(blocks_schedule *s, const spd_blocks *b, double most, double *below, int *begin) {
    int panels = b->order->panels;
    for (int p = 0; p < panels; p++) {
        below[p] = 0;
        begin[p] = p;
    }
    for (int p = 0; p < panels; p++) {
        int parent = find_parent(b, p);
        below[p] += s->work[p];
        if (parent >= 0) {
            below[parent] += below[p];
            begin[parent] = begin[p] < begin[parent] ? begin[p] : begin[parent];
        }
    }
    s->subtrees = s->tops = 0;
    for (int p = 0; p < panels; p++) {
        int parent = find_parent(b, p);
        if (below[p] > most) {
            s->top[s->tops++] = p;
        } else if (parent < 0 || below[parent] > most) {
            s->first[s->subtrees] = begin[p];
            s->last[s->subtrees++] = p;
        }
    }
}

sim_status blocks_schedule_make(blocks_schedule *s, const spd_blocks *b, int threads, sim_arena *kept,
                                sim_arena *scratch) {
    /* memory */
    int panels = b->order->panels;
    size_t mark = arena_mark(scratch);
    int *width = ARENA_NEW(scratch, int, b->order->start[panels]), *begin = ARENA_NEW(scratch, int, panels);
    double *below = ARENA_NEW(scratch, double, panels);
    s->first = ARENA_NEW(kept, int, panels);
    s->last = ARENA_NEW(kept, int, panels);
    s->top = ARENA_NEW(kept, int, panels);
    s->work = ARENA_NEW(kept, double, panels);
    if (!width || !begin || !below || !s->first || !s->last || !s->top || !s->work) {
        return SIM_NO_RESOURCE;
    }
    /* work of the panels, and subtrees */
    double all = 0;
    sum_widths(b, width);
    for (int p = 0; p < panels; p++) {
        s->work[p] = count_panel_work(b, width, p);
        all += s->work[p];
    }
    cut_tree(s, b, all / (SUBTREES_PER_THREAD * threads), below, begin);
    arena_release(scratch, mark);
    return SIM_OK;
}

typedef struct subtree_job {
    const blocks_schedule *schedule;
    const spd_blocks *layout;
    const blocks_panel_method *method;
    atomic_int next;
    atomic_bool failed;
} subtree_job;

/* Subtrees, until none is left. */
static void factor_subtrees(void *context, int worker, int first, int end) {
    subtree_job *job = context;
    const blocks_schedule *s = job->schedule;
    (void)first, (void)end;
    for (int k; !atomic_load(&job->failed) && (k = atomic_fetch_add(&job->next, 1)) < s->subtrees;) {
        for (int p = s->first[k]; p <= s->last[k]; p++) {
            if (job->layout->stale[p] && !job->method->factor(job->method->self, worker, p)) {
                atomic_store(&job->failed, true);
                return;
            }
        }
    }
}

bool blocks_schedule_run(const blocks_schedule *s, spd_blocks *b, sim_threads *threads,
                         const blocks_panel_method *method) {
    spd_blocks_begin_factor(b);
    /* subtrees */
    subtree_job job = {.schedule = s, .layout = b, .method = method};
    threads_run_dynamic(threads, threads_count(threads), factor_subtrees, &job);
    if (atomic_load(&job.failed)) {
        return false;
    }
    /* the panels above them */
    for (int k = 0; k < s->tops; k++) {
        int p = s->top[k];
        bool together = s->work[p] >= MIN_TOGETHER_WORK;
        if (b->stale[p] &&
            !(together ? method->factor_together(method->self, threads, p) : method->factor(method->self, 0, p))) {
            return false;
        }
    }
    spd_blocks_end_factor(b);
    return true;
}
