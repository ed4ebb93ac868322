/* Supernodal Cholesky factorisation by CHOLMOD, in the order of the graph of nodes, so that supernodes hold whole
 * trees.
 *
 * CHOLMOD reads H as its lower triangle in compressed columns.  The column of an unknown holds the rest of its row in
 * the diagonal block, then its row in each block eliminated later.  All allocations of the library happen in this file.
 *
 * Graphs too large for order.c take the cheaper of two orders, by the multiplications of their factors. Minimum degree
 * (AMD) is best for chains and sheets, nested dissection (METIS) for dense packings in space.
 *
 * References: Chen, Davis, Hager, Rajamanickam 2008 (CHOLMOD); Amestoy, Davis, Duff 1996 (AMD); Karypis, Kumar 1998
 * (METIS).
 * Limit: if another thread calls rand() meanwhile, METIS may give another order, and so another rounding. */
#define _DEFAULT_SOURCE /* initstate, setstate */
#include "linalg/supernodal.h"
#include "linalg/dense/lapack.h"
#include "linalg/dense/strip.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

/* A run of numbers for a column of H. */
typedef struct link {
    int later; /* node */
    int edge;
} link;

struct supernodal {
    cholmod_common common;
    cholmod_sparse *H;
    cholmod_factor *L;
    cholmod_dense *b, *x, *Y, *E;
    spd_graph graph;
    const int *node;
    int *rank;       /* [unknowns] place in L, node after node */
    int *first;      /* [nodes] first unknown of a node in the order of elimination */
    int *link_start; /* [nodes + 1] by node, links in the order of elimination */
    link *link;
};

static void free_factor(supernodal *s) {
    cholmod_free_sparse(&s->H, &s->common);
    cholmod_free_factor(&s->L, &s->common);
    cholmod_free_dense(&s->b, &s->common);
    cholmod_free_dense(&s->x, &s->common);
    cholmod_free_dense(&s->Y, &s->common);
    cholmod_free_dense(&s->E, &s->common);
    free(s->rank);
    free(s->first);
    free(s->link_start);
    free(s->link);
    s->rank = s->first = s->link_start = NULL;
    s->link = NULL;
}

supernodal *supernodal_create(void) {
    supernodal *s = lapack_has_room() ? calloc(1, sizeof *s) : NULL;
    if (s) {
        cholmod_start(&s->common);
        s->common.print = 0;
        s->common.try_catch = 1;
        s->common.nmethods = 1;
        s->common.method[0].ordering = CHOLMOD_NATURAL;
        s->common.postorder = 1;
        s->common.supernodal = CHOLMOD_SUPERNODAL;
        s->common.final_asis = 1;
    }
    return s;
}

void supernodal_free(supernodal *s) {
    if (s) {
        free_factor(s);
        cholmod_finish(&s->common);
        free(s);
    }
}

size_t supernodal_bytes(const supernodal *s) { return s->common.memory_inuse; }

static int later_node(const spd_edge *edge, const int *place, int k) {
    return place[edge[k].a] < place[edge[k].b] ? edge[k].b : edge[k].a;
}

static int earlier_node(const spd_edge *edge, const int *place, int k) {
    return place[edge[k].a] < place[edge[k].b] ? edge[k].a : edge[k].b;
}

/* By insertion: neighbours are few. */
static void sort_links(const int *place, link *l, int count) {
    for (int k = 1; k < count; k++) {
        link moved = l[k];
        int at = k;
        for (; at > 0 && place[l[at - 1].later] > place[moved.later]; at--) {
            l[at] = l[at - 1];
        }
        l[at] = moved;
    }
}

/* For every node its neighbours that are eliminated later. */
static sim_status find_links(supernodal *s, const int *place) {
    const spd_graph *g = &s->graph;
    s->first = malloc(((size_t)g->nodes + 1) * sizeof *s->first);
    s->link_start = calloc((size_t)g->nodes + 2, sizeof *s->link_start);
    s->link = malloc(((size_t)g->edges + 1) * sizeof *s->link);
    if (!s->first || !s->link_start || !s->link) {
        return SIM_NO_RESOURCE;
    }
    for (int k = 0; k < g->edges; k++) {
        s->link_start[earlier_node(g->edge, place, k) + 2]++;
    }
    for (int t = 0; t < g->nodes; t++) {
        s->link_start[t + 2] += s->link_start[t + 1];
    }
    for (int k = 0; k < g->edges; k++) {
        s->link[s->link_start[earlier_node(g->edge, place, k) + 1]++] = (link){later_node(g->edge, place, k), k};
    }
    for (int t = 0; t < g->nodes; t++) {
        sort_links(place, s->link + s->link_start[t], s->link_start[t + 1] - s->link_start[t]);
    }
    return SIM_OK;
}

/* The pattern of the lower triangle. */
static sim_status find_pattern(supernodal *s) {
    /* columns of each node and number of entries */
    const spd_graph *g = &s->graph;
    size_t n = 0, numbers = 0;
    for (int i = 0; i < g->nodes; i++) {
        int t = s->node[i];
        size_t size = (size_t)g->size[t], beside = 0;
        s->first[t] = (int)n;
        for (int k = s->link_start[t]; k < s->link_start[t + 1]; k++) {
            beside += (size_t)g->size[s->link[k].later];
        }
        numbers += size * (size + 1) / 2 + size * beside;
        n += size;
    }
    /* memory of CHOLMOD */
    s->H = cholmod_allocate_sparse(n, n, numbers, 1, 1, -1, CHOLMOD_REAL, &s->common);
    s->b = cholmod_zeros(n, 1, CHOLMOD_REAL, &s->common);
    if (!s->H || !s->b) {
        return SIM_NO_RESOURCE;
    }
    /* row numbers, column by column */
    int *p = s->H->p, *row = s->H->i, at = 0, column = 0;
    for (int i = 0; i < g->nodes; i++) {
        int t = s->node[i];
        for (int r = 0; r < g->size[t]; r++) {
            p[column++] = at;
            for (int c = r; c < g->size[t]; c++) {
                row[at++] = s->first[t] + c;
            }
            for (int k = s->link_start[t]; k < s->link_start[t + 1]; k++) {
                for (int c = 0; c < g->size[s->link[k].later]; c++) {
                    row[at++] = s->first[s->link[k].later] + c;
                }
            }
        }
    }
    p[column] = at;
    return SIM_OK;
}

/* Places of unknowns in L, which has the rows of H in another order once more. */
static sim_status rank_unknowns(supernodal *s) {
    const int *perm = s->L->Perm;
    size_t n = s->L->n;
    int *back = malloc((n + 1) * sizeof *back);
    s->rank = malloc((n + 1) * sizeof *s->rank);
    for (size_t k = 0; k < n && back && s->rank; k++) {
        back[perm[k]] = (int)k;
    }
    for (int t = 0, at = 0; t < s->graph.nodes && back && s->rank; t++) {
        for (int k = 0; k < s->graph.size[t]; k++) {
            s->rank[at++] = back[s->first[t] + k];
        }
    }
    bool done = back && s->rank;
    free(back);
    return done ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status supernodal_analyse(supernodal *s, const spd_graph *graph, const int *node, const int *place) {
    free_factor(s);
    s->graph = *graph;
    s->node = node;
    if (find_links(s, place) || find_pattern(s)) {
        return SIM_NO_RESOURCE;
    }
    s->L = cholmod_analyze(s->H, &s->common);
    return s->L ? rank_unknowns(s) : SIM_NO_RESOURCE;
}

double supernodal_multiplications(const supernodal *s) { return 0.5 * s->common.fl; }
double supernodal_numbers(const supernodal *s) { return s->common.lnz; }

/* ---- the order of large graphs ---- */

/* The graph, its edges below the diagonal; NULL without memory. */
static cholmod_sparse *make_pattern(supernodal *s, const spd_graph *g) {
    size_t n = (size_t)g->nodes;
    cholmod_sparse *A = cholmod_allocate_sparse(n, n, (size_t)g->edges, 1, 1, -1, CHOLMOD_PATTERN, &s->common);
    if (A) {
        int *p = A->p, *row = A->i, k = 0;
        for (int t = 0; t < g->nodes; t++) {
            p[t] = k;
            for (; k < g->edges && g->edge[k].a == t; k++) {
                row[k] = g->edge[k].b;
            }
        }
        p[g->nodes] = k;
    }
    return A;
}

/* METIS uses rand(), whose state belongs to the process: it gets a state of its own, and the state before is restored.
 * Only one thread at a time computes such an order. */
static bool order_by_dissection(supernodal *s, cholmod_sparse *A, int *node) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    char own[256];
    while (atomic_flag_test_and_set(&taken)) {
    }
    char *others = initstate(1, own, sizeof own);
    bool done = cholmod_metis(A, NULL, 0, 1, node, &s->common);
    if (others) {
        setstate(others);
    }
    atomic_flag_clear(&taken);
    return done;
}

/* Operations of a factor of the graph in this order; HUGE_VAL without memory. */
static double eval_order_cost(supernodal *s, cholmod_sparse *A, int *node) {
    s->common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_factor *L = cholmod_analyze_p(A, node, NULL, 0, &s->common);
    double cost = L ? s->common.fl : HUGE_VAL;
    cholmod_free_factor(&L, &s->common);
    s->common.method[0].ordering = CHOLMOD_NATURAL;
    return cost;
}

sim_status supernodal_order(supernodal *s, const spd_graph *g, int *node) {
    size_t n = (size_t)g->nodes;
    cholmod_sparse *A = make_pattern(s, g);
    int *other = malloc((n + 1) * sizeof *other);
    bool done = A && other && cholmod_amd(A, NULL, 0, node, &s->common);
    if (done && order_by_dissection(s, A, other) && eval_order_cost(s, A, other) < eval_order_cost(s, A, node)) {
        memcpy(node, other, n * sizeof *node);
    }
    free(other);
    cholmod_free_sparse(&A, &s->common);
    return done ? SIM_OK : SIM_NO_RESOURCE;
}

static void fill_H(supernodal *s, const double *const *diagonal, const double *const *between) {
    const spd_graph *g = &s->graph;
    double *value = s->H->x;
    for (int i = 0; i < g->nodes; i++) {
        int t = s->node[i], n = g->size[t], stride = strip_stride(n);
        for (int r = 0; r < n; r++) {
            memcpy(value, diagonal[t] + (size_t)r * stride + r, (size_t)(n - r) * sizeof *value);
            value += n - r;
            for (int k = s->link_start[t]; k < s->link_start[t + 1]; k++) {
                int m = g->size[s->link[k].later];
                memcpy(value, between[s->link[k].edge] + (size_t)r * strip_stride(m), (size_t)m * sizeof *value);
                value += m;
            }
        }
    }
}

/* Debian builds the library with OpenMP and four threads, independent of other load.  Where its runtime is present,
 * parallel regions are forbidden during the call, so the calling thread does all the work. */
extern int omp_get_max_active_levels(void) __attribute__((weak));
extern void omp_set_max_active_levels(int levels) __attribute__((weak));

static bool factor_in_one_thread(supernodal *s) {
    int levels = omp_get_max_active_levels ? omp_get_max_active_levels() : 0;
    if (omp_set_max_active_levels) {
        omp_set_max_active_levels(0);
    }
    bool done = cholmod_factorize(s->H, s->L, &s->common);
    if (omp_set_max_active_levels) {
        omp_set_max_active_levels(levels);
    }
    return done;
}

spd_outcome supernodal_factor(supernodal *s, const double *const *diagonal, const double *const *between) {
    fill_H(s, diagonal, between);
    bool done = factor_in_one_thread(s);
    if (!done || s->common.status < CHOLMOD_OK) {
        return s->common.status == CHOLMOD_OUT_OF_MEMORY ? SPD_NO_MEMORY : SPD_NOT_POSITIVE;
    }
    bool positive = s->common.status != CHOLMOD_NOT_POSDEF && s->L->minor == s->L->n;
    return positive ? SPD_FACTORED : SPD_NOT_POSITIVE;
}

static void permute_unknowns(const supernodal *s, double *x, bool back) {
    double *b = back ? s->x->x : s->b->x;
    for (int t = 0; t < s->graph.nodes; t++) {
        size_t bytes = (size_t)s->graph.size[t] * sizeof *x;
        memcpy(back ? x : b + s->first[t], back ? b + s->first[t] : x, bytes);
        x += s->graph.size[t];
    }
}

sim_status supernodal_solve(supernodal *s, double *x) {
    permute_unknowns(s, x, false);
    if (!cholmod_solve2(CHOLMOD_A, s->L, s->b, NULL, &s->x, NULL, &s->Y, &s->E, &s->common)) {
        return SIM_NO_RESOURCE;
    }
    permute_unknowns(s, x, true);
    return SIM_OK;
}

int supernodal_size(const supernodal *s) { return (int)s->L->n; }

/* The vectors that are not zero in the unknowns [first, end). */
static int list_active(int n, int count, const double *z, int first, int end, int *active) {
    int many = 0;
    for (int k = 0; k < count; k++) {
        const double *one = z + (ptrdiff_t)k * n;
        bool any = false;
        for (int i = first; i < end && !any; i++) {
            any = one[i] != 0;
        }
        if (any) {
            active[many++] = k;
        }
    }
    return many;
}

/* Supernode by supernode: y = L11^-1 x of its own columns, x -= L21 y of the rows below, for all vectors at once. */
void supernodal_half(const supernodal *s, int count, const int *unknown, int *active, double *work, double *z) {
    const cholmod_factor *L = s->L;
    const int *super = L->super, *pi = L->pi, *px = L->px, *row = L->s, n = (int)L->n;
    const double one = 1, none = 0;
    memset(z, 0, (size_t)n * (size_t)count * sizeof *z);
    for (int k = 0; k < count; k++) {
        z[(ptrdiff_t)k * n + s->rank[unknown[k]]] = 1;
    }
    for (int p = 0; p < (int)L->nsuper; p++) {
        int columns = super[p + 1] - super[p], rows = pi[p + 1] - pi[p], below = rows - columns;
        int many = list_active(n, count, z, super[p], super[p + 1], active);
        if (many == 0) {
            continue;
        }
        /* own columns */
        const double *block = (const double *)L->x + px[p];
        double *y = work, *product = work + (ptrdiff_t)columns * many;
        for (int k = 0; k < many; k++) {
            memcpy(y + (ptrdiff_t)k * columns, z + (ptrdiff_t)active[k] * n + super[p], (size_t)columns * sizeof *y);
        }
        dtrsm_("L", "L", "N", "N", &columns, &many, &one, block, &rows, y, &columns);
        if (below > 0) {
            dgemm_("N", "N", &below, &many, &columns, &one, block + columns, &rows, y, &columns, &none, product,
                   &below);
        }
        /* back, and the rows below */
        for (int k = 0; k < many; k++) {
            double *to = z + (ptrdiff_t)active[k] * n;
            memcpy(to + super[p], y + (ptrdiff_t)k * columns, (size_t)columns * sizeof *y);
            for (int r = 0; r < below; r++) {
                to[row[pi[p] + columns + r]] -= product[(ptrdiff_t)k * below + r];
            }
        }
    }
}
