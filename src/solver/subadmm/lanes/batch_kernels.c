/* Step of SubADMM for trees of equal shape, in SIMD lanes.
 *
 * The equations are those of branch.c; each number stands for LANE_WIDTH trees.  What pushes on bodies passes from
 * the tips to the root,
 *
 *     F_p += (X' F)_c,   push_j += S_j . F,
 *
 * the momentum A x is taken off, K = L' D L is solved along the paths from the root, and velocities pass back to the tips,
 *
 *     V_c = X V_p + sum_j S_j x_j.
 *
 * Compiled twice, as wide as the machine's vectors and one by one. */
#include "solver/subadmm/lanes/batch_kernels.h"

/* ---- motions and forces ---- */

SIMD_INLINE void load(int n, double (*from)[LANES], int at, wide *to) {
    for (int k = 0; k < n; k++) {
        to[k] = lane_load(from[k] + at);
    }
}

SIMD_INLINE void store(int n, const wide *from, int at, double (*to)[LANES]) {
    for (int k = 0; k < n; k++) {
        lane_store(to[k] + at, from[k]);
    }
}

SIMD_INLINE void add_cross(const wide a[3], const wide b[3], wide to[3]) {
    to[0] += a[1] * b[2] - a[2] * b[1];
    to[1] += a[2] * b[0] - a[0] * b[2];
    to[2] += a[0] * b[1] - a[1] * b[0];
}

SIMD_INLINE wide dot6(double (*S)[LANES], int at, const wide F[6]) {
    wide a = lane_load(S[0] + at) * F[0] + (lane_load(S[1] + at) * F[1] + lane_load(S[2] + at) * F[2]);
    wide b = lane_load(S[3] + at) * F[3] + (lane_load(S[4] + at) * F[4] + lane_load(S[5] + at) * F[5]);
    return a + b;
}

/* ---- between the numbers of trees, one tree after the other, and lanes ---- */

/* x of each tree; reads up to a vector's width behind a tree's numbers. */
static void load_trees(const subadmm_alike *a, int at, const double *x, double (*to)[LANES]) {
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

static void store_trees(const subadmm_alike *a, int at, double (*from)[LANES], double *x) {
    for (int j = 0; j < a->nv; j += LANE_WIDTH) {
        wide all[LANE_WIDTH];
        int few = a->nv - j < LANE_WIDTH ? a->nv - j : LANE_WIDTH;
        for (int k = 0; k < LANE_WIDTH; k++) {
            all[k] = k < few ? lane_load(from[j + k] + at) : lane_all(0);
        }
        lane_turn(all);
        for (int k = 0; k < LANE_WIDTH; k++) {
            if (few == LANE_WIDTH) {
                lane_store(x + a->v0[at + k] + j, all[k]);
            } else {
                memcpy(x + a->v0[at + k] + j, &all[k], (size_t)few * sizeof *x);
            }
        }
    }
}

/* ---- matrices ---- */

/* What contacts of the lanes add to a body, of which a lower triangle is kept.  Behind it stands the next one, and in the
 * end that of the row which is no body's. */
static void load_added(const subadmm *s, subadmm_alike *a, int at, int body) {
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

static void begin(const subadmm *s, subadmm_alike *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int i = 0; i < a->nbody; i++) {
            load_added(s, a, at, i);
        }
    }
}

/* H_j S_j on its way from body `body` to the root, felt by the dofs on it: the row of j. */
static void add_row(const subadmm_alike *a, int chain, int at, int body, int j, double (*row)[LANES]) {
    wide S[6], F[6], r[3];
    load(6, a->S[chain][j], at, S);
    for (int i = 0; i < 6; i++) {
        F[i] = lane_all(0);
        for (int k = 0; k < 6; k++) {
            F[i] += lane_load(a->H[body][6 * i + k] + at) * S[k];
        }
    }
    for (int i = body, k = j, entry = a->depth[j] - 1; entry >= 0;) {
        for (; k >= a->dof[i]; k--, entry--) {
            lane_store(row[entry] + at, lane_load(row[entry] + at) + dot6(a->S[chain][k], at, F));
        }
        if (entry >= 0) {
            load(3, a->r[chain][i], at, r);
            add_cross(r, F + 3, F);
            i = a->parent[i];
            k = a->dof[i + 1] - 1;
        }
    }
}

/* H_p += X' H X */
static void add_at_parent(const subadmm_alike *a, int chain, int at, int body) {
    double(*H)[LANES] = a->H[body];
    double(*to)[LANES] = a->H[a->parent[body]];
    wide r[3], M[36];
    load(3, a->r[chain][body], at, r);
    for (int i = 0; i < 6; i++) {
        wide lin[3];
        load(6, H + 6 * i, at, M + 6 * i);
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

static void compose(subadmm_alike *a, int chain, double (*M)[LANES]) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int i = a->nbody - 1; i >= 0; i--) {
            for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
                add_row(a, chain, at, i, j, M + a->row[j]);
            }
            if (a->parent[i] >= 0) {
                add_at_parent(a, chain, at, i);
            }
        }
    }
}

static void eliminate(const subadmm_alike *a, int at, double (*K)[LANES]) {
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

static void factor(subadmm_alike *a, double kappa, double (*K)[LANES]) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        for (int k = 0; k < a->numbers; k++) {
            lane_store(K[k] + at, lane_load(a->A[k] + at) + kappa * lane_load(a->C[k] + at));
        }
        eliminate(a, at, K);
    }
}

/* sum_k M_(number k) x_(dof k) in two sums: each number waits for the one before it, and the last ones come latest. */
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
static void solve(const subadmm_alike *a, int at, double (*K)[LANES], double (*x)[LANES]) {
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
static void take_momentum(const subadmm_alike *a, int at, double (*x)[LANES], double (*y)[LANES]) {
    for (int k = 0; k < a->nv; k++) {
        const subadmm_entry *beyond = a->beyond + a->first_beyond[k];
        wide sum = sum_entries(a->depth[k], a->path + a->row[k], at, a->A, x);
        sum += sum_entries(a->first_beyond[k + 1] - a->first_beyond[k], beyond, at, a->A, x);
        lane_store(y[k] + at, lane_load(y[k] + at) - sum);
    }
}

/* ---- passes ---- */

/* Velocities of bodies from x, as it stands in the lanes; of bodies that nothing touches nobody asks. */
static void spread_chain(subadmm_alike *a, int chain, int at, double *rows, int (*index)[LANES]) {
    for (int i = 0; i < a->nbody; i++) {
        wide V[6], r[3];
        for (int k = 0; k < 6; k++) {
            V[k] = lane_all(0);
        }
        if (a->parent[i] >= 0) {
            load(6, a->V[a->parent[i]], at, V);
            load(3, a->r[chain][i], at, r);
            add_cross(V, r, V + 3);
        }
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            wide x = lane_load(a->x[j] + at);
            for (int k = 0; k < 6; k++) {
                V[k] += lane_load(a->S[chain][j][k] + at) * x;
            }
        }
        if (a->bears[i]) {
            store(6, V, at, a->V[i]);
        }
        if (a->touched[i] || a->others) {
            lane_rows_store(rows, index[i] + at, V);
        }
    }
}

static void spread_all(subadmm_alike *a, int at, double *rows, double *V) {
    for (int chain = 0; chain < a->chains; chain++) {
        int start = chain == SIM_CHAIN_START;
        spread_chain(a, chain, at, start ? rows : V, start ? a->place : a->body);
    }
}

/* The sum of the slots of a body of each tree, of which no tree has more than `most`: each takes as many steps, some of
 * nothing, as how many there are is hard to foresee. */
SIMD_INLINE void sum_slots(const double *slot, const int *first, const int *count, int most, wide sum[LANES]) {
    static const double nothing[LANES] = {0};
    for (int part = 0; part < LANES; part += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            sum[part + k] = lane_all(0);
        }
        for (int n = 0; n < most; n++) {
            for (int k = 0; k < LANE_WIDTH; k++) {
                const double *from = slot + LANES * ((ptrdiff_t)first[k] + LANES * n);
                sum[part + k] += lane_load((n < count[k] ? from : nothing) + part);
            }
        }
        lane_turn(sum + part);
    }
}

SIMD_INLINE void add(wide F[6], const wide more[6]) {
    for (int k = 0; k < 6; k++) {
        F[k] += more[k];
    }
}

/* What pushes on bodies on a chain, felt by the joints. */
static void gather_chain(const subadmm *s, subadmm_alike *a, int chain, int at) {
    for (int i = a->nbody - 1; i >= 0; i--) {
        wide F[6], more[LANES], r[3];
        for (int k = 0; k < 6; k++) {
            F[k] = a->bears[i] ? lane_load(a->V[i][k] + at) : lane_all(0);
        }
        if (chain == SIM_CHAIN_START && a->touched[i]) {
            sum_slots(s->lanes.slot, a->slot[i] + at, a->slots[i] + at, a->touched[i], more);
            add(F, more);
        }
        if (a->others) {
            lane_rows_load(s->bodies.push[chain], a->body[i] + at, more);
            add(F, more);
        }
        for (int j = a->dof[i]; j < a->dof[i + 1]; j++) {
            lane_store(a->push[j] + at, lane_load(a->push[j] + at) + dot6(a->S[chain][j], at, F));
        }
        if (a->parent[i] >= 0) {
            double(*to)[LANES] = a->V[a->parent[i]];
            load(3, a->r[chain][i], at, r);
            add_cross(r, F + 3, F);
            for (int k = 0; k < 6 && !a->first[i]; k++) {
                F[k] += lane_load(to[k] + at);
            }
            store(6, F, at, to);
        }
    }
}

static void gather(const subadmm *s, subadmm_alike *a, int at) {
    if (a->others) {
        load_trees(a, at, s->push, a->push);
    } else {
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->push[j] + at, lane_all(0));
        }
    }
    for (int chain = 0; chain < a->chains && (chain == SIM_CHAIN_START || a->others); chain++) {
        gather_chain(s, a, chain, at);
    }
}

static void spread(subadmm *s, subadmm_alike *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        load_trees(a, at, s->x, a->x);
        spread_all(a, at, s->lanes.row, s->bodies.V);
    }
}

/* x stands in the lanes since the spread. */
static void move(subadmm *s, subadmm_alike *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        gather(s, a, at);
        take_momentum(a, at, a->x, a->push);
        solve(a, at, a->K, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->x[j] + at) + lane_load(a->push[j] + at));
        }
        store_trees(a, at, a->x, s->x);
    }
}

static void follow(subadmm *s, subadmm_alike *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        gather(s, a, at);
        solve(a, at, a->inertial, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->push[j] + at));
        }
        store_trees(a, at, a->x, s->v);
        spread_all(a, at, s->lanes.answer, s->bodies.answer);
    }
}

static void energy(subadmm *s, subadmm_alike *a) {
    for (int at = 0; at < a->trees; at += LANE_WIDTH) {
        wide sum = lane_all(0);
        load_trees(a, at, s->before + (s->x - s->state), a->x);
        load_trees(a, at, s->v, a->push);
        for (int j = 0; j < a->nv; j++) {
            lane_store(a->x[j] + at, lane_load(a->x[j] + at) - lane_load(a->push[j] + at));
            lane_store(a->push[j] + at, lane_all(0));
        }
        take_momentum(a, at, a->x, a->push);
        for (int j = 0; j < a->nv; j++) {
            sum -= lane_load(a->x[j] + at) * lane_load(a->push[j] + at);
        }
        lane_store(a->energy + at, sum);
    }
}

#if LANE_WIDTH == 1
const subadmm_alike_kernels subadmm_alike_scalar
#else
const subadmm_alike_kernels subadmm_alike_vector
#endif
    = {begin, compose, factor, spread, move, follow, energy};
