/* Choice of the factorisation of H, storage of H, reuse between calls.
 *
 *     H x = b,     H by dense blocks on the nodes and edges of a graph
 *
 * SPD_AUTO compares multiplications, which follow from the graph. It takes blocks wherever they save work over one
 * dense matrix. It takes CHOLMOD from MIN_SUPERNODAL_WORK on, where its BLAS calls are faster, and for graphs of more
 * than MAX_ORDERED_NODES. The order, the layout and unchanged parts of the factor are kept while the graph stays the
 * same.
 *
 * Cost: that of the factor; an analysis only for a new graph. */
#include "linalg/spd.h"
#include "linalg/block_system.h"
#include "linalg/dense/strip.h"
#include "linalg/supernodal.h"
#include "math/dense.h"

#include <stdlib.h>
#include <string.h>

static const double MIN_BLOCKS_GAIN = 1.1;     /* multiplications of the dense factor over those by blocks */
static const double MIN_SUPERNODAL_WORK = 2e9; /* multiplications from which CHOLMOD is faster */
static const double MIN_DISSECTED_WORK = 1e7;  /* likewise, from which dissection may save more than it takes */
enum { MAX_ORDERED_NODES = 8192 };             /* whose graph is stored as bits: 8 MB */

struct spd {
    block_system system; /* of one node, where the factor is dense: its layout, not its graph and order */
    supernodal *super;
    spd_method asked;
    bool renewed, lasting;
    spd_work work;
    int dense_size, dense_start[2], dense_node;
    double **diagonal, **between; /* H */
    double *dense;                /* H in one, for the dense factor */
};

spd *spd_create(void) {
    spd *s = calloc(1, sizeof *s);
    if (s && !block_system_open(&s->system)) {
        spd_free(s);
        s = NULL;
    }
    return s;
}

void spd_free(spd *s) {
    if (s) {
        supernodal_free(s->super);
        block_system_close(&s->system);
        free(s);
    }
}

size_t spd_bytes(const spd *s) {
    return arena_bytes(s->system.kept) + arena_bytes(s->system.scratch) + (s->super ? supernodal_bytes(s->super) : 0);
}

static double count_unknowns(const spd_graph *g) {
    double n = 0;
    for (int t = 0; t < g->nodes; t++) {
        n += g->size[t];
    }
    return n;
}

static spd_method choose_method(const spd *s, spd_method asked) {
    double n = count_unknowns(&s->system.graph), dense = n * n * n / 6;
    if (asked != SPD_AUTO && n > 0) {
        return asked;
    }
    if (s->system.graph.nodes < 2 || dense < MIN_BLOCKS_GAIN * s->system.order.multiplications) {
        return dense < MIN_SUPERNODAL_WORK ? SPD_DENSE : SPD_SUPERNODAL;
    }
    return s->system.order.multiplications < MIN_SUPERNODAL_WORK ? SPD_BLOCKS : SPD_SUPERNODAL;
}

/* CHOLMOD, created for the first large system; NULL without memory. */
static supernodal *require_supernodal(spd *s) {
    s->super = s->super ? s->super : supernodal_create();
    return s->super;
}

/* The natural order, or for large graphs that of CHOLMOD. */
static sim_status find_plain_order(spd *s, bool natural) {
    spd_order *o = &s->system.order;
    int n = s->system.graph.nodes;
    o->node = ARENA_NEW(s->system.kept, int, n);
    o->place = ARENA_NEW(s->system.kept, int, n);
    if (!o->node || !o->place) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < n; i++) {
        o->node[i] = i;
    }
    if (!natural && (!require_supernodal(s) || supernodal_order(s->super, &s->system.graph, o->node))) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < n; i++) {
        o->place[o->node[i]] = i;
    }
    return SIM_OK;
}

/* Graphs that last: the order of CHOLMOD where it saves work.  In a cube of 10,368 tetrahedra it saves two fifths. */
static sim_status improve_order(spd *s) {
    block_system *system = &s->system;
    size_t mark = arena_mark(system->scratch);
    int *node = ARENA_NEW(system->scratch, int, system->graph.nodes);
    spd_order *other = ARENA_NEW(system->kept, spd_order, 1);
    sim_status status = node && other && require_supernodal(s) ? SIM_OK : SIM_NO_RESOURCE;
    status = status ? status : supernodal_order(s->super, &system->graph, node);
    status = status ? status : spd_order_given(&system->graph, node, system->kept, system->scratch, other);
    if (!status && other->multiplications < system->order.multiplications) {
        system->order = *other;
    }
    arena_release(system->scratch, mark);
    return status;
}

void spd_expect_lasting(spd *s) { s->lasting = true; }

static sim_status find_order(spd *s, spd_method asked) {
    double n = count_unknowns(&s->system.graph);
    if (asked == SPD_DENSE || s->system.graph.nodes <= MAX_ORDERED_NODES) {
        sim_status status = asked == SPD_DENSE ? find_plain_order(s, true) : block_system_find_order(&s->system);
        if (!status && s->lasting && asked != SPD_DENSE && s->system.order.multiplications > MIN_DISSECTED_WORK) {
            status = improve_order(s);
        }
        s->work.method = status ? asked : choose_method(s, asked);
        s->work.multiplications = s->work.method == SPD_DENSE ? n * n * n / 6 : s->system.order.multiplications;
        s->work.numbers = s->work.method == SPD_DENSE ? n * n / 2 : s->system.order.numbers;
        return status;
    }
    s->work = (spd_work){SPD_SUPERNODAL, 0, 0};
    return find_plain_order(s, false);
}

/* The nodes of an edge as row and column. */
static spd_edge orient_edge(const spd *s, int edge) {
    return s->work.method == SPD_DENSE ? s->system.graph.edge[edge] : block_system_orient(&s->system, edge);
}

/* Memory for H, block by block. */
static sim_status allocate_H(spd *s) {
    const spd_graph *g = &s->system.graph;
    s->diagonal = ARENA_NEW(s->system.kept, double *, g->nodes);
    s->between = ARENA_NEW(s->system.kept, double *, g->edges);
    bool ok = s->diagonal && s->between;
    for (int t = 0; t < g->nodes && ok; t++) {
        s->diagonal[t] = block_system_new_block(&s->system, t, t);
        ok = s->diagonal[t] != NULL;
    }
    for (int e = 0; e < g->edges && ok; e++) {
        spd_edge at = orient_edge(s, e);
        s->between[e] = block_system_new_block(&s->system, at.a, at.b);
        ok = s->between[e] != NULL;
    }
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

/* All nodes as one dense block. */
static sim_status prepare_dense(spd *s) {
    s->dense_size = (int)count_unknowns(&s->system.graph);
    s->dense = ARENA_NEW(s->system.kept, double, (size_t)s->dense_size *strip_stride(s->dense_size));
    spd_order *alone = ARENA_NEW(s->system.kept, spd_order, 1);
    if (!s->dense || !alone) {
        return SIM_NO_RESOURCE;
    }
    *alone = (spd_order){.node = &s->dense_node,
                         .place = &s->dense_node,
                         .panels = 1,
                         .first = s->dense_start,
                         .start = s->dense_start,
                         .column = &s->dense_node};
    s->dense_start[0] = s->dense_node = 0;
    s->dense_start[1] = 1;
    if (block_system_prepare(&s->system, alone, 1, &s->dense_size)) {
        return SIM_NO_RESOURCE;
    }
    spd_blocks_connect(&s->system.layout, 0, 0, s->dense);
    return SIM_OK;
}

static sim_status prepare_blocks(spd *s) {
    block_system *system = &s->system;
    const spd_order *o = &system->order;
    if (block_system_find_layout(system)) {
        return SIM_NO_RESOURCE;
    }
    for (int node = 0; node < system->graph.nodes; node++) {
        spd_blocks_connect(&system->layout, o->place[node], o->place[node], s->diagonal[node]);
    }
    for (int e = 0; e < system->graph.edges; e++) {
        spd_edge at = orient_edge(s, e);
        spd_blocks_connect(&system->layout, o->place[at.a], o->place[at.b], s->between[e]);
    }
    return SIM_OK;
}

static sim_status prepare_factor(spd *s, const spd_graph *g, spd_method asked) {
    if (block_system_set_graph(&s->system, g) || find_order(s, asked) || allocate_H(s)) {
        return SIM_NO_RESOURCE;
    }
    if (s->work.method == SPD_SUPERNODAL) {
        if (!require_supernodal(s) ||
            supernodal_analyse(s->super, &s->system.graph, s->system.order.node, s->system.order.place)) {
            return SIM_NO_RESOURCE;
        }
        s->work.multiplications = supernodal_multiplications(s->super);
        s->work.numbers = supernodal_numbers(s->super);
        return SIM_OK;
    }
    return s->work.method == SPD_DENSE ? prepare_dense(s) : prepare_blocks(s);
}

sim_status spd_analyse(spd *s, const spd_graph *g, spd_method asked) {
    s->renewed = s->asked != asked || !block_system_has_graph(&s->system, g);
    if (s->renewed) {
        s->asked = asked;
        s->system.known = prepare_factor(s, g, asked) == SIM_OK;
    }
    return s->system.known ? SIM_OK : SIM_NO_RESOURCE;
}

bool spd_renewed(const spd *s) { return s->renewed; }
spd_work spd_expected(const spd *s) { return s->work; }

static void mark_stale(spd *s, int node) {
    if (s->work.method == SPD_BLOCKS) {
        block_system_mark_stale(&s->system, node);
    } else {
        s->system.layout.stale_all = true;
    }
}

spd_block spd_diagonal(spd *s, int node) {
    mark_stale(s, node);
    return (spd_block){node, node, strip_stride(s->system.graph.size[node]), s->diagonal[node]};
}

spd_block spd_between(spd *s, int edge) {
    spd_edge e = orient_edge(s, edge);
    mark_stale(s, e.a);
    return (spd_block){e.a, e.b, strip_stride(s->system.graph.size[e.b]), s->between[edge]};
}

static void copy_block_to(double *D, int stride, const double *H, int rows, int columns) {
    for (int r = 0; r < rows; r++) {
        memcpy(D + (size_t)r * stride, H + (size_t)r * strip_stride(columns), (size_t)columns * sizeof *D);
    }
}

/* H in one piece, its upper triangle. */
static void gather_dense(spd *s) {
    const spd_graph *g = &s->system.graph;
    int n = s->dense_size, stride = strip_stride(n), first = 0;
    memset(s->dense, 0, (size_t)n * stride * sizeof *s->dense);
    int e = 0;
    for (int t = 0; t < g->nodes; t++) {
        double *rows = s->dense + (size_t)first * stride;
        copy_block_to(rows + first, stride, s->diagonal[t], g->size[t], g->size[t]);
        int column = first, at = t;
        for (; e < g->edges && g->edge[e].a == t; e++) {
            for (; at < g->edge[e].b; at++) {
                column += g->size[at];
            }
            copy_block_to(rows + column, stride, s->between[e], g->size[t], g->size[at]);
        }
        first += g->size[t];
    }
}

spd_outcome spd_factor(spd *s) {
    if (s->work.method == SPD_SUPERNODAL) {
        return supernodal_factor(s->super, (const double *const *)s->diagonal, (const double *const *)s->between);
    }
    if (s->work.method == SPD_DENSE) {
        gather_dense(s);
    }
    return spd_blocks_factor(&s->system.layout) ? SPD_FACTORED : SPD_NOT_POSITIVE;
}

sim_status spd_solve(spd *s, double *x) {
    if (s->work.method == SPD_SUPERNODAL) {
        return supernodal_solve(s->super, x);
    }
    block_system_gather(&s->system, x);
    spd_blocks_solve(&s->system.layout, s->system.x);
    block_system_scatter(&s->system, x);
    return SIM_OK;
}

/* ---- a part of the inverse ---- */

enum { COLUMN_GROUP = 64 };

/* W = Z Z' of rows that are zero in most groups of columns. */
static void multiply_sparse_rows(int count, int n, const double *Z, int *active, double *W) {
    memset(W, 0, (size_t)count * (size_t)count * sizeof *W);
    for (int first = 0; first < n; first += COLUMN_GROUP) {
        int width = n - first < COLUMN_GROUP ? n - first : COLUMN_GROUP, many = 0;
        for (int k = 0; k < count; k++) {
            bool any = false;
            for (int j = first; j < first + width && !any; j++) {
                any = Z[(ptrdiff_t)k * n + j] != 0;
            }
            if (any) {
                active[many++] = k;
            }
        }
        for (int a = 0; a < many; a++) {
            const double *x = Z + (ptrdiff_t)active[a] * n + first;
            double *row = W + (ptrdiff_t)active[a] * count;
            for (int b = a; b < many; b++) {
                row[active[b]] += dense_dot(width, x, Z + (ptrdiff_t)active[b] * n + first);
            }
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            W[(ptrdiff_t)i * count + j] = W[(ptrdiff_t)j * count + i];
        }
    }
}

/* Unit vectors in the layout of the factor. */
static void place_units(const spd *s, int count, const int *unknown, int *at, double *Z) {
    const spd_graph *g = &s->system.graph;
    const spd_blocks *layout = &s->system.layout;
    ptrdiff_t size = layout->x_at[layout->rows];
    int next = 0;
    for (int t = 0; t < g->nodes; t++) {
        int first = s->work.method == SPD_DENSE ? next : layout->x_at[s->system.order.place[t]];
        for (int k = 0; k < g->size[t]; k++) {
            at[next++] = first + k;
        }
    }
    memset(Z, 0, (size_t)count * (size_t)size * sizeof *Z);
    for (int k = 0; k < count; k++) {
        Z[k * size + at[unknown[k]]] = 1;
    }
}

/* H = U'U, Z = E U^-1 of unit vectors E:  W = Z Z'.  No half upwards, and each row on its path to the root alone. */
sim_status spd_inverse_part(spd *s, int count, const int *unknown, double *W) {
    /* memory */
    bool super = s->work.method == SPD_SUPERNODAL;
    const spd_blocks *layout = &s->system.layout;
    int n = super ? supernodal_size(s->super) : layout->x_at[layout->rows];
    size_t numbers = (size_t)count * (size_t)n, mark = arena_mark(s->system.scratch);
    double *Z = ARENA_NEW(s->system.scratch, double, numbers);
    double *work = super ? ARENA_NEW(s->system.scratch, double, numbers) : NULL;
    int *list = ARENA_NEW(s->system.scratch, int, n > count ? n : count);
    if (!Z || !list || (super && !work)) {
        return SIM_NO_RESOURCE;
    }
    /* half solves, products */
    if (super) {
        supernodal_half(s->super, count, unknown, list, work, Z);
    } else {
        place_units(s, count, unknown, list, Z);
        spd_blocks_half(layout, count, Z);
    }
    multiply_sparse_rows(count, n, Z, list, W);
    arena_release(s->system.scratch, mark);
    return SIM_OK;
}
