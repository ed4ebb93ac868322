/* Batches of trees of equal shape, and the layout of their SIMD lanes.
 *
 * Two trees have the same shape if, body by body, parents and numbers of dofs agree.  Split trees (branch.c) with a
 * partner join batches in the order of the trees.  The matrices H_b and A + kappa C are those of branch.c;
 * batch_kernels.c does the arithmetic. */
#include "solver/subadmm/lanes/batch_kernels.h"
#include "solver/subadmm/lanes/six.h"

#include <math.h>
#include <string.h>

enum {
    MAX_COMPARED_BATCHES = 32, /* of one tree, the last batches first */
    MIN_PARALLEL_BATCHES = 4,  /* some microseconds of work */
};

static int lane_tree(const subadmm_batch *a, int lane) { return a->node[lane < a->trees ? lane : a->trees - 1]; }

/* ---- shapes ---- */

static bool has_same_shape(const sim_problem_bodies *b, const subadmm_tree *t, const subadmm_tree *u) {
    bool same = t->nv == u->nv && t->body1 - t->body0 == u->body1 - u->body0;
    for (int i = 0; same && i < t->body1 - t->body0; i++) {
        const sim_body_node *m = &b->node[t->body0 + i], *n = &b->node[u->body0 + i];
        int root = m->parent < 0 || n->parent < 0;
        same = m->nv == n->nv && m->v0 - t->v0 == n->v0 - u->v0 &&
               (root ? m->parent == n->parent : m->parent - t->body0 == n->parent - u->body0);
    }
    return same;
}

static subadmm_batch *batch_for(const subadmm *s, const subadmm_tree *t, int count) {
    for (int k = count - 1; k >= 0 && k >= count - MAX_COMPARED_BATCHES; k--) {
        subadmm_batch *a = &s->batch_list[k];
        if (a->trees < LANES && has_same_shape(s->bodies.is, &s->tree[a->node[0]], t)) {
            return a;
        }
    }
    return NULL;
}

/* Batches of two trees or more. */
static void gather_batches(subadmm *s) {
    /* trees of the same shape */
    int count = 0;
    for (int k = 0; k < s->ntree; k++) {
        if (s->tree[k].form == SUBADMM_BRANCH) {
            subadmm_batch *a = batch_for(s, &s->tree[k], count);
            if (!a) {
                a = &s->batch_list[count++];
                *a = (subadmm_batch){0};
            }
            a->node[a->trees++] = k;
        }
    }
    /* a single tree is no batch */
    for (int k = 0; k < count; k++) {
        if (s->batch_list[k].trees > 1) {
            s->batch_list[s->nbatch++] = s->batch_list[k];
        }
    }
    /* trees know their places */
    for (int k = 0; k < s->nbatch; k++) {
        for (int lane = 0; lane < s->batch_list[k].trees; lane++) {
            subadmm_tree *t = &s->tree[s->batch_list[k].node[lane]];
            t->form = SUBADMM_BATCHED;
            t->batch = k;
            t->in_batch = lane;
        }
    }
}

/* Topology of the trees of a batch: parents, dofs, paths. */
static bool store_shape(subadmm *s, subadmm_batch *a) {
    const sim_problem_bodies *b = s->bodies.is;
    const subadmm_tree *t = &s->tree[a->node[0]];
    a->nbody = t->body1 - t->body0;
    a->nv = t->nv;
    a->chains = 1 + s->bodies.two_chains;
    a->parent = ARENA_NEW(s->call->scratch, int, 5 * a->nbody + 2 + 3 * a->nv);
    if (!a->parent) {
        return false;
    }
    /* addresses of the arrays */
    a->dof = a->parent + a->nbody;
    a->depth = a->dof + a->nbody + 1;
    a->row = a->depth + a->nv;
    a->first_beyond = a->row + a->nv;
    a->bears = a->first_beyond + a->nv + 1;
    a->first = a->bears + a->nbody;
    a->touched = a->first + a->nbody;
    memset(a->bears, 0, 3 * (size_t)a->nbody * sizeof *a->bears);
    for (int i = 0; i < a->nbody; i++) {
        /* parent and dofs of a body */
        const sim_body_node *n = &b->node[t->body0 + i];
        a->parent[i] = n->parent < 0 ? -1 : n->parent - t->body0;
        a->dof[i] = n->v0 - t->v0;
        /* paths and rows of its dofs */
        int above = a->parent[i]; /* nearest ancestor with dofs */
        while (above >= 0 && a->dof[above + 1] == a->dof[above]) {
            above = a->parent[above];
        }
        int depth = above < 0 ? 0 : a->depth[a->dof[above + 1] - 1];
        a->dof[i + 1] = a->dof[i] + n->nv;
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            a->depth[j] = ++depth;
            a->row[j] = a->numbers;
            a->numbers += depth;
        }
    }
    a->path = ARENA_NEW(s->call->scratch, subadmm_entry, 2 * a->numbers);
    a->beyond = a->path + a->numbers;
    return a->path != NULL;
}

/* The dofs on the path from the root to j, whose body is `body`. */
static void find_batch_path(subadmm_batch *a, int body, int j) {
    for (int i = body, k = j, number = a->row[j] + a->depth[j] - 1; number >= a->row[j];) {
        for (; k >= a->dof[i]; k--, number--) {
            a->path[number] = (subadmm_entry){number, k};
        }
        i = a->parent[i];
        k = i < 0 ? k : a->dof[i + 1] - 1;
    }
}

static void find_children(subadmm_batch *a) {
    for (int i = a->nbody - 1; i >= 0; i--) {
        if (a->parent[i] >= 0) {
            a->first[i] = !a->bears[a->parent[i]];
            a->bears[a->parent[i]] = 1;
        }
    }
}

static void find_batch_paths(subadmm_batch *a) {
    int *next = a->first_beyond;
    memset(next, 0, ((size_t)a->nv + 1) * sizeof *next);
    for (int i = 0; i < a->nbody; i++) {
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            find_batch_path(a, i, j);
            for (int e = 0; e < a->depth[j] - 1; e++) {
                next[a->path[a->row[j] + e].dof]++;
            }
        }
    }
    for (int j = 1; j <= a->nv; j++) { /* ends of the columns; the next loop turns them into starts */
        next[j] += next[j - 1];
    }
    for (int j = 0; j < a->nv; j++) {
        for (int e = 0; e < a->depth[j] - 1; e++) {
            const subadmm_entry *of = &a->path[a->row[j] + e];
            a->beyond[--next[of->dof]] = (subadmm_entry){of->number, j};
        }
    }
}

/* ---- data of the lanes ---- */

static bool allocate_batch(subadmm *s, subadmm_batch *a) {
    /* motion axes and offsets of each chain */
    sim_arena *scratch = s->call->scratch;
    size_t nv = (size_t)a->nv, bodies = (size_t)a->nbody, line = sizeof(double[LANES]);
    for (int chain = 0; chain < a->chains; chain++) {
        a->r[chain] = arena_alloc(scratch, 3 * bodies, line);
        a->S[chain] = arena_alloc(scratch, 6 * nv, line);
        if (!a->r[chain] || !a->S[chain]) {
            return false;
        }
    }
    /* factors and velocities */
    a->A = arena_alloc(scratch, 4 * (size_t)a->numbers, line);
    a->H = arena_alloc(scratch, 36 * bodies, line);
    a->V = arena_alloc(scratch, 6 * bodies, line);
    a->x = arena_alloc(scratch, 2 * nv, line);
    a->place = arena_alloc(scratch, 4 * bodies, sizeof *a->place);
    if (!a->A || !a->H || !a->V || !a->x || !a->place) {
        return false;
    }
    /* parts of shared arrays */
    a->C = a->A + a->numbers;
    a->K = a->C + a->numbers;
    a->inertial = a->K + a->numbers;
    a->push = a->x + nv;
    a->body = a->place + bodies;
    a->slot = a->body + bodies;
    a->slots = a->slot + bodies;
    return true;
}

static void fill_body(const subadmm *s, subadmm_batch *a, const subadmm_tree *t, int i, int lane) {
    /* places in the lanes */
    const sim_problem_bodies *b = s->bodies.is;
    int row = s->lanes.row_of[t->lane + i];
    const admm_bodies *of = &s->lanes.bodies[row / LANES];
    a->place[i][lane] = row;
    a->body[i][lane] = t->body0 + i;
    a->slot[i][lane] = of->first + row % LANES;
    a->slots[i][lane] = of->slots;
    a->touched[i] = of->slots > a->touched[i] ? of->slots : a->touched[i];
    /* offsets and motion axes of each chain */
    for (int chain = 0; chain < a->chains; chain++) {
        const v3 *r = &b->chain[chain].r[t->body0 + i];
        const double at[3] = {r->x, r->y, r->z};
        for (int k = 0; k < 3; k++) {
            a->r[chain][i][k][lane] = at[k];
        }
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            const motion *S = &b->chain[chain].S[t->v0 + j];
            double axis[6];
            six_store(S->ang, S->lin, axis);
            for (int k = 0; k < 6; k++) {
                a->S[chain][j][k][lane] = axis[k];
            }
        }
    }
}

static void fill_batch(const subadmm *s, subadmm_batch *a) {
    for (int lane = 0; lane < LANES; lane++) {
        const subadmm_tree *t = &s->tree[lane_tree(a, lane)];
        a->v0[lane] = t->v0;
        for (int i = 0; i < a->nbody; i++) {
            fill_body(s, a, t, i, lane);
        }
    }
}

static void find_other_sides(subadmm *s) {
    for (int k = 0; k < 2 * s->problem->nconstraint; k++) {
        const subadmm_side *side = &s->side[k / 2][k % 2];
        if (side->n > 0 && s->tree[side->tree].form == SUBADMM_BATCHED) {
            s->batch_list[s->tree[side->tree].batch].others = true;
            s->bodies.pushed = true;
        }
    }
    for (int k = 0; k < s->ntree; k++) {
        s->bodies.pushed |= subadmm_is_split(&s->tree[k]) && s->tree[k].form != SUBADMM_BATCHED;
    }
}

bool subadmm_find_batches(subadmm *s) {
    /* number of branch trees */
    size_t branches = 0;
    for (int k = 0; k < s->ntree; k++) {
        branches += s->tree[k].form == SUBADMM_BRANCH;
    }
    s->batch_list = ARENA_NEW(s->call->scratch, subadmm_batch, branches);
    if (!s->batch_list) {
        return false;
    }
    /* trees of the same shape, eight to a batch */
    gather_batches(s);
    /* structure and values of each batch */
    for (int k = 0; k < s->nbatch; k++) {
        if (!store_shape(s, &s->batch_list[k]) || !allocate_batch(s, &s->batch_list[k])) {
            return false;
        }
        find_children(&s->batch_list[k]);
        find_batch_paths(&s->batch_list[k]);
        fill_batch(s, &s->batch_list[k]);
    }
    find_other_sides(s);
    return true;
}

/* ---- matrices ---- */

/* M's diagonal += numbers of dofs. */
static void add_diagonal(const subadmm_batch *a, const double *of, double (*M)[LANES]) {
    for (int k = 0; k < a->nv * LANES; k++) {
        int j = k / LANES, lane = k % LANES;
        M[a->row[j] + a->depth[j] - 1][lane] += of[a->v0[lane] + j];
    }
}

static void put_operators(const subadmm_batch *a, const double *H, int i, int lane) {
    for (int k = 0; k < SIX_NUMBERS; k++) {
        a->H[i][k][lane] = H[k];
    }
}

void subadmm_make_batches(subadmm *s) {
    for (int n = 0; n < s->nbatch; n++) {
        subadmm_batch *a = &s->batch_list[n];
        for (int k = 0; k < a->nbody * LANES; k++) {
            double H[SIX_NUMBERS] = {0};
            six_add_rigid(&s->bodies.is->I[a->body[k / LANES][k % LANES]], H);
            put_operators(a, H, k / LANES, k % LANES);
        }
        memset(a->A, 0, 2 * (size_t)a->numbers * sizeof *a->A); /* and C */
        s->batch_kernels->compose(a, a->chains - 1, a->A);
        add_diagonal(a, s->bodies.is->diagonal, a->A);
        s->batch_kernels->factor(a, 0, a->inertial);
    }
}

void subadmm_begin_batched(subadmm *s, const subadmm_tree *t) {
    const subadmm_batch *a = &s->batch_list[t->batch];
    size_t numbers = SIX_NUMBERS * (size_t)a->nbody;
    for (int chain = 0; chain < a->chains && a->others; chain++) {
        memset(s->bodies.added[chain] + SIX_NUMBERS * (ptrdiff_t)t->body0, 0, numbers * sizeof *s->bodies.added[chain]);
    }
    memset(s->bodies.joint + t->v0, 0, (size_t)t->nv * sizeof *s->bodies.joint);
}

/* H += operators of constraints outside the lanes, on one chain. */
static void add_other_operators(subadmm *s, const subadmm_batch *a, int chain) {
    for (int k = 0; k < a->nbody * LANES; k++) {
        int i = k / LANES, lane = k % LANES;
        const double *H = s->bodies.added[chain] + SIX_NUMBERS * (ptrdiff_t)a->body[i][lane];
        for (int n = 0; n < SIX_NUMBERS; n++) {
            a->H[i][n][lane] += H[n];
        }
    }
}

void subadmm_sum_batches(subadmm *s) {
    for (int n = 0; n < s->nbatch; n++) {
        subadmm_batch *a = &s->batch_list[n];
        memset(a->C, 0, (size_t)a->numbers * sizeof *a->C);
        for (int chain = 0; chain < a->chains && (chain == SIM_CHAIN_START || a->others); chain++) {
            if (chain == SIM_CHAIN_START) {
                s->batch_kernels->begin(s, a);
            } else {
                memset(a->H, 0, (size_t)a->nbody * sizeof *a->H);
            }
            if (a->others) {
                add_other_operators(s, a, chain);
            }
            s->batch_kernels->compose(a, chain, a->C);
        }
        add_diagonal(a, s->bodies.joint, a->C);
    }
}

bool subadmm_factor_batches(subadmm *s) {
    bool positive = true;
    for (int n = 0; n < s->nbatch; n++) {
        subadmm_batch *a = &s->batch_list[n];
        s->batch_kernels->factor(a, s->kappa, a->K);
        for (int k = 0; k < a->nv * LANES; k++) {
            double over = a->K[a->row[k / LANES] + a->depth[k / LANES] - 1][k % LANES];
            positive = positive && (k % LANES >= a->trees || (over > 0 && isfinite(over)));
        }
    }
    return positive;
}

double subadmm_stiffness_batched(const subadmm *s, const subadmm_tree *t, int j) {
    const subadmm_batch *a = &s->batch_list[t->batch];
    int at = a->row[j] + a->depth[j] - 1;
    return a->A[at][t->in_batch] + s->kappa * a->C[at][t->in_batch];
}

/* ---- passes, by threads: no batch writes data of another ---- */

typedef struct job {
    subadmm *s;
    void (*kernel)(subadmm *s, subadmm_batch *a);
} job;

static void run_share_of_batches(void *context, int worker, int first, int end) {
    const job *j = context;
    (void)worker;
    for (int k = first; k < end; k++) {
        j->kernel(j->s, &j->s->batch_list[k]);
    }
}

static void run_on_batches(subadmm *s, void (*kernel)(subadmm *s, subadmm_batch *a)) {
    job j = {s, kernel};
    if (s->nbatch < MIN_PARALLEL_BATCHES) {
        run_share_of_batches(&j, 0, 0, s->nbatch);
    } else {
        solver_run(s->call, s->nbatch, run_share_of_batches, &j);
    }
}

void subadmm_spread_batches(subadmm *s) { run_on_batches(s, s->batch_kernels->spread); }
void subadmm_step_batches(subadmm *s) { run_on_batches(s, s->batch_kernels->move); }
void subadmm_solve_batches(subadmm *s) { run_on_batches(s, s->batch_kernels->follow); }

double subadmm_energy_of_batches(subadmm *s) {
    double sum = 0;
    run_on_batches(s, s->batch_kernels->energy);
    for (int n = 0; n < s->nbatch; n++) {
        for (int lane = 0; lane < s->batch_list[n].trees; lane++) {
            sum += s->batch_list[n].energy[lane];
        }
    }
    return sum;
}
