/* Step of SubADMM for trees of equal shape, in SIMD lanes.
 *
 * The equations are those of branch.c; each number stands for LANE_WIDTH trees.  Forces on bodies pass from the tips to
 * the root,
 *
 *     F_p += (X' F)_c,   push_j += S_j . F,
 *
 * the momentum A x is subtracted, K = L' D L is solved along the paths from the root, and velocities pass back to the
 * tips,
 *
 *     V_c = X V_p + sum_j S_j x_j.
 *
 * Compiled twice: as wide as the machine's vectors, and one by one. */
#include "solver/subadmm/lanes/batch_kernels.h"

/* ---- motions and forces ---- */

SIMD_INLINE void load_numbers(int n, double (*from)[LANES], int at, wide *to) {
    for (int k = 0; k < n; k++) {
        to[k] = lane_load(from[k] + at);
    }
}

SIMD_INLINE void store_numbers(int n, const wide *from, int at, double (*to)[LANES]) {
    for (int k = 0; k < n; k++) {
        lane_store(to[k] + at, from[k]);
    }
}

SIMD_INLINE void add_cross(const wide a[3], const wide b[3], wide to[3]) {
    to[0] += a[1] * b[2] - a[2] * b[1];
    to[1] += a[2] * b[0] - a[0] * b[2];
    to[2] += a[0] * b[1] - a[1] * b[0];
}

SIMD_INLINE wide dot_motions(double (*S)[LANES], int at, const wide F[6]) {
    wide a = lane_load(S[0] + at) * F[0] + (lane_load(S[1] + at) * F[1] + lane_load(S[2] + at) * F[2]);
    wide b = lane_load(S[3] + at) * F[3] + (lane_load(S[4] + at) * F[4] + lane_load(S[5] + at) * F[5]);
    return a + b;
}

/* ---- transposition: tree after tree <-> lanes ---- */

/* x of each tree; reads up to one vector beyond a tree's numbers. */
static void load_trees(const subadmm_batch *a, int at, const double *x, double (*to)[LANES]) {
    for (int j = 0; j < a->nv; j += LANE_WIDTH) {
        wide all[LANE_WIDTH];
        for (int k = 0; k < LANE_WIDTH; k++) {
            all[k] = lane_load(x + a->v0[at + k] + j);
        }
        lane_turn(all);
        for (int k = 0; k < LANE_WIDTH && j + k < a->nv; k++) {
            lane_store(to[j + k] + at, all[k]);
        }
    }
}

static void store_trees(const subadmm_batch *a, int at, double (*from)[LANES], double *x) {
    for (int j = 0; j < a->nv; j += LANE_WIDTH) {
        wide all[LANE_WIDTH];
        int count = a->nv - j < LANE_WIDTH ? a->nv - j : LANE_WIDTH;
        for (int k = 0; k < LANE_WIDTH; k++) {
            all[k] = k < count ? lane_load(from[j + k] + at) : lane_all(0);
        }
        lane_turn(all);
        for (int k = 0; k < LANE_WIDTH; k++) {
            if (count == LANE_WIDTH) {
                lane_store(x + a->v0[at + k] + j, all[k]);
            } else {
                memcpy(x + a->v0[at + k] + j, &all[k], (size_t)count * sizeof *x);
            }
        }
    }
}

/* ---- matrices ---- */

/* Sum of weight J'J on a body, from its lower triangle.  Reads on into the next body's, at the end the world's row. */
static void load_added(const subadmm *s, subadmm_batch *a, int at, int body) {
    enum { NUMBERS = (ADMM_SYMMETRIC + LANES - 1) / LANES * LANES };
    const double *added = s->lanes.added[0];
    wide L[NUMBERS];
    for (int part = 0; part < NUMBERS; part += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            L[part + k] = lane_load(added + (ptrdiff_t)ADMM_SYMMETRIC * a->place[body][at + k] + part);
        }
        lane_turn(L + part);
    }
    for (int k = 0; k < 36; k++) {
        int row = k / 6 > k % 6 ? k / 6 : k % 6, column = k / 6 + k % 6 - row;
        lane_store(a->H[body][k] + at, L[row * (row + 1) / 2 + column]);
    }
}

static void begin_stiffness(const subadmm *s, subadmm_batch *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int i = 0; i < a->nbody; i++) {
            load_added(s, a, at, i);
        }
    }
}

/* Row of dof j: H_j S_j, carried from `body` to the root, times S_k of the dofs k on the path. */
static void add_path_row(const subadmm_batch *a, int chain, int at, int body, int j, double (*row)[LANES]) {
    wide S[6], F[6], r[3];
    load_numbers(6, a->S[chain][j], at, S);
    for (int i = 0; i < 6; i++) {
        F[i] = lane_all(0);
        for (int k = 0; k < 6; k++) {
            F[i] += lane_load(a->H[body][6 * i + k] + at) * S[k];
        }
    }
    for (int i = body, k = j, entry = a->depth[j] - 1; entry >= 0;) {
        for (; k >= a->dof[i]; k--, entry--) {
            lane_store(row[entry] + at, lane_load(row[entry] + at) + dot_motions(a->S[chain][k], at, F));
        }
        if (entry >= 0) {
            load_numbers(3, a->r[chain][i], at, r);
            add_cross(r, F + 3, F);
            i = a->parent[i];
            k = a->dof[i + 1] - 1;
        }
    }
}

/* H_p += X' H X */
static void add_operator_at_parent(const subadmm_batch *a, int chain, int at, int body) {
    double(*H)[LANES] = a->H[body];
    double(*to)[LANES] = a->H[a->parent[body]];
    wide r[3], M[36];
    load_numbers(3, a->r[chain][body], at, r);
    for (int i = 0; i < 6; i++) {
        wide lin[3];
        load_numbers(6, H + 6 * i, at, M + 6 * i);
        memcpy(lin, M + 6 * i + 3, sizeof lin);
        add_cross(r, lin, M + 6 * i);
    }
    for (int j = 0; j < 6; j++) {
        const wide lin[3] = {M[18 + j], M[24 + j], M[30 + j]};
        wide ang[3] = {M[j], M[6 + j], M[12 + j]};
        add_cross(r, lin, ang);
        for (int i = 0; i < 3; i++) {
            lane_store(to[6 * i + j] + at, lane_load(to[6 * i + j] + at) + ang[i]);
            lane_store(to[18 + 6 * i + j] + at, lane_load(to[18 + 6 * i + j] + at) + lin[i]);
        }
    }
}

static void compose_operators(subadmm_batch *a, int chain, double (*M)[LANES]) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int i = a->nbody - 1; i >= 0; i--) {
            for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
                add_path_row(a, chain, at, i, j, M + a->row[j]);
            }
            if (a->parent[i] >= 0) {
                add_operator_at_parent(a, chain, at, i);
            }
        }
    }
}

static void eliminate_batch(const subadmm_batch *a, int at, double (*K)[LANES]) {
    for (int k = a->nv - 1; k >= 0; k--) {
        double(*row)[LANES] = K + a->row[k];
        int last = a->depth[k] - 1;
        wide over = 1 / lane_load(row[last] + at);
        for (int e = last - 1; e >= 0; e--) {
            double(*to)[LANES] = K + a->row[a->path[a->row[k] + e].dof];
            wide scaled = lane_load(row[e] + at) * over;
            for (int i = 0; i <= e; i++) {
                lane_store(to[i] + at, lane_load(to[i] + at) - scaled * lane_load(row[i] + at));
            }
            lane_store(row[e] + at, scaled);
        }
        lane_store(row[last] + at, over);
    }
}

static void factor_batch(subadmm_batch *a, double kappa, double (*K)[LANES]) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int k = 0; k < a->numbers; k++) {
            lane_store(K[k] + at, lane_load(a->A[k] + at) + kappa * lane_load(a->C[k] + at));
        }
        eliminate_batch(a, at, K);
    }
}

/* sum_k M_(number k) x_(dof k), in two sums: shorter chains of dependent additions. */
SIMD_INLINE wide sum_entries(int n, const subadmm_entry *entry, int at, double (*M)[LANES], double (*x)[LANES]) {
    wide sum[2] = {lane_all(0), lane_all(0)};
    for (int k = 0; k + 1 < n; k += 2) {
        for (int i = 0; i < 2; i++) {
            sum[i] += lane_load(M[entry[k + i].number] + at) * lane_load(x[entry[k + i].dof] + at);
        }
    }
    if (n % 2) {
        sum[0] += lane_load(M[entry[n - 1].number] + at) * lane_load(x[entry[n - 1].dof] + at);
    }
    return sum[0] + sum[1];
}

/* x <- K^-1 x: from the tips to the root, 1 / D, from the root to the tips. */
static void solve_batch(const subadmm_batch *a, int at, double (*K)[LANES], double (*x)[LANES]) {
    for (int k = a->nv - 1; k >= 0; k--) {
        const subadmm_entry *beyond = a->beyond + a->first_beyond[k];
        wide sum = sum_entries(a->first_beyond[k + 1] - a->first_beyond[k], beyond, at, K, x);
        lane_store(x[k] + at, lane_load(x[k] + at) - sum);
    }
    for (int k = 0; k < a->nv; k++) {
        int last = a->depth[k] - 1;
        wide here = lane_load(x[k] + at) * lane_load(K[a->row[k] + last] + at);
        lane_store(x[k] + at, here - sum_entries(last, a->path + a->row[k], at, K, x));
    }
}

/* y -= A x */
static void subtract_momentum(const subadmm_batch *a, int at, double (*x)[LANES], double (*y)[LANES]) {
    for (int k = 0; k < a->nv; k++) {
        const subadmm_entry *beyond = a->beyond + a->first_beyond[k];
        wide sum = sum_entries(a->depth[k], a->path + a->row[k], at, a->A, x);
        sum += sum_entries(a->first_beyond[k + 1] - a->first_beyond[k], beyond, at, a->A, x);
        lane_store(y[k] + at, lane_load(y[k] + at) - sum);
    }
}

/* ---- passes ---- */

/* Velocities of bodies from x in the lanes; stored for bodies with constraints only. */
static void spread_chain(subadmm_batch *a, int chain, int at, double *rows, int (*index)[LANES]) {
    for (int i = 0; i < a->nbody; i++) {
        /* velocity of the parent at the body's origin */
        wide V[6], r[3];
        for (int k = 0; k < 6; k++) {
            V[k] = lane_all(0);
        }
        if (a->parent[i] >= 0) {
            load_numbers(6, a->V[a->parent[i]], at, V);
            load_numbers(3, a->r[chain][i], at, r);
            add_cross(V, r, V + 3);
        }
        /* joint velocity */
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            wide x = lane_load(a->x[j] + at);
            for (int k = 0; k < 6; k++) {
                V[k] += lane_load(a->S[chain][j][k] + at) * x;
            }
        }
        /* store for children and for contacts */
        if (a->bears[i]) {
            store_numbers(6, V, at, a->V[i]);
        }
        if (a->touched[i] || a->others) {
            lane_rows_store(rows, index[i] + at, V);
        }
    }
}

static void spread_all(subadmm_batch *a, int at, double *rows, double *V) {
    for (int chain = 0; chain < a->chains; chain++) {
        bool start = chain == SIM_CHAIN_START;
        spread_chain(a, chain, at, start ? rows : V, start ? a->place : a->body);
    }
}

/* Sum of the slots of one body in each tree.  All trees take `most` steps, missing slots count 0: a data-dependent
 * count would be mispredicted. */
SIMD_INLINE void sum_batch_slots(const double *slot, const int *first, const int *count, int most, wide sum[LANES]) {
    static const double zero[LANES] = {0};
    for (int part = 0; part < LANES; part += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            sum[part + k] = lane_all(0);
        }
        for (int n = 0; n < most; n++) {
            for (int k = 0; k < LANE_WIDTH; k++) {
                const double *from = slot + LANES * ((ptrdiff_t)first[k] + LANES * n);
                sum[part + k] += lane_load((n < count[k] ? from : zero) + part);
            }
        }
        lane_turn(sum + part);
    }
}

SIMD_INLINE void add_wrench_to(wide F[6], const wide more[6]) {
    for (int k = 0; k < 6; k++) {
        F[k] += more[k];
    }
}

/* Joint forces from the forces on bodies of one chain. */
static void gather_batch_chain(const subadmm *s, subadmm_batch *a, int chain, int at) {
    for (int i = a->nbody - 1; i >= 0; i--) {
        /* force of the body: from children, contacts and other constraints */
        wide F[6], more[LANES], r[3];
        for (int k = 0; k < 6; k++) {
            F[k] = a->bears[i] ? lane_load(a->V[i][k] + at) : lane_all(0);
        }
        if (chain == SIM_CHAIN_START && a->touched[i]) {
            sum_batch_slots(s->lanes.slot, a->slot[i] + at, a->slots[i] + at, a->touched[i], more);
            add_wrench_to(F, more);
        }
        if (a->others) {
            lane_rows_load(s->bodies.push[chain], a->body[i] + at, more);
            add_wrench_to(F, more);
        }
        /* joint force */
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            lane_store(a->push[j] + at, lane_load(a->push[j] + at) + dot_motions(a->S[chain][j], at, F));
        }
        /* force at the parent */
        if (a->parent[i] >= 0) {
            double(*to)[LANES] = a->V[a->parent[i]];
            load_numbers(3, a->r[chain][i], at, r);
            add_cross(r, F + 3, F);
            for (int k = 0; k < 6 && !a->first[i]; k++) {
                F[k] += lane_load(to[k] + at);
            }
            store_numbers(6, F, at, to);
        }
    }
}

static void gather_batch(const subadmm *s, subadmm_batch *a, int at) {
    if (a->others) {
        load_trees(a, at, s->push, a->push);
    } else {
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->push[j] + at, lane_all(0));
        }
    }
    for (int chain = 0; chain < a->chains && (chain == SIM_CHAIN_START || a->others); chain++) {
        gather_batch_chain(s, a, chain, at);
    }
}

static void spread_batch(subadmm *s, subadmm_batch *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        load_trees(a, at, s->x, a->x);
        spread_all(a, at, s->lanes.row, s->bodies.V);
    }
}

/* x is in the lanes since spread_batch. */
static void step_batch(subadmm *s, subadmm_batch *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        gather_batch(s, a, at);
        subtract_momentum(a, at, a->x, a->push);
        solve_batch(a, at, a->K, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->x[j] + at) + lane_load(a->push[j] + at));
        }
        store_trees(a, at, a->x, s->x);
    }
}

static void solve_batch_response(subadmm *s, subadmm_batch *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        gather_batch(s, a, at);
        solve_batch(a, at, a->inertial, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->push[j] + at));
        }
        store_trees(a, at, a->x, s->v);
        spread_all(a, at, s->lanes.response, s->bodies.response);
    }
}

static void eval_energy(subadmm *s, subadmm_batch *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        wide sum = lane_all(0);
        load_trees(a, at, s->before + (s->x - s->state), a->x);
        load_trees(a, at, s->v, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->x[j] + at) - lane_load(a->push[j] + at));
            lane_store(a->push[j] + at, lane_all(0));
        }
        subtract_momentum(a, at, a->x, a->push);
        for (int j = 0; j < a->nv; j++) {
            sum -= lane_load(a->x[j] + at) * lane_load(a->push[j] + at);
        }
        lane_store(a->energy + at, sum);
    }
}

#if LANE_WIDTH == 1
const subadmm_batch_kernels subadmm_batch_scalar
#else
const subadmm_batch_kernels subadmm_batch_vector
#endif
    = {begin_stiffness, compose_operators, factor_batch, spread_batch, step_batch, solve_batch_response, eval_energy};
