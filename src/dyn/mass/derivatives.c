/* Analytical derivatives of inverse and forward dynamics.
 *
 *     S_j       axis of dof j; motions and forces stand at one fixed point O, in world axes
 *     v, a      velocity and spatial acceleration before the joint (the parent's);  v': velocity after it (the body's)
 *
 *     Sd_j = v x S_j,    Sdd_j = a x S_j + v x Sd_j,    T_j = Sd_j + v' x S_j
 *     2 B x = v x* I x - I (v x x) + x x* I v          of one body;  I, 2 B, F: sums over a body and all below it
 *
 * the force tau_i of a dof i on the path from j to the root, and that of j itself, change by
 *
 *     d tau_i / d q_j = S_i . (I Sdd_j + 2B Sd_j + S_j x* F),     d tau_i / d v_j = S_i . (I T_j + 2B S_j)
 *     d tau_j / d q_i = S_j . (I Sdd_i + 2B Sd_i),                d tau_j / d v_i = S_j . (I T_i + 2B S_i)
 *
 * with the sums of j's body.  A joint of several dofs is a chain of joints without bodies between.  The three dofs
 * of an orientation turn together instead: they have one v, one a and one v'.  q_j is the direction q (+) h e_j.
 * Forward dynamics a = M^-1 (tau - C):
 *
 *     d a / d q = -M^-1 d tau / d q,    d a / d v = -M^-1 d tau / d v,    d a / d tau = M^-1
 *
 * the derivatives of tau taken at that a.
 *
 * Reference: S. Singh, R. Russell, P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial
 * vector algebra, IEEE RA-L 7, 2022, equations 30 to 40; J. Carpentier, N. Mansard, Analytical derivatives of rigid
 * body dynamics algorithms, RSS 2018, section V (forward dynamics).
 * Cost: O(n d) for n dofs of depth d, each pair 24 multiplications; forward dynamics O(n^2 d). */
#include "dyn/motion/rigid.h"
#include <sim/derivatives.h>

#include "base/pool.h"
#include "math/simd.h"

#include <string.h>

/* Of one dof, at O. */
typedef struct dof_motion {
    motion S, Sd, Sdd, T;
} dof_motion;

/* Of a body and, after the way inwards, of all below it, at O. */
typedef struct body_sums {
    motion vel, acc; /* spatial, of the body alone; less gravity */
    rigid I;
    force F;
    double B[6][6]; /* 2 B */
} body_sums;

/* Six rows of nv numbers each: motions of all dofs, number by number. */
enum { AXIS_S = 0, AXIS_SD = 6, AXIS_SDD = 12, AXIS_T = 18, AXIS_ROWS = 24 };

struct sim_derivatives {
    dof_motion *dof; /* [nv] */
    double *axes;    /* [AXIS_ROWS][nv] the same */
    body_sums *body; /* [nbody] */
    double *M;       /* [nl] */
    double *panel;   /* rows for the dofs of a tree (panel_width) */
    int *end;        /* [nv] past the last dof below each */
    memory_pool *memory;
};

/* Numbers in a row of the panel: three matrices, in whole strips. */
enum { STRIP = 2 * SIMD_WIDTH };
static ptrdiff_t panel_width(int nv) { return ((ptrdiff_t)3 * nv + STRIP - 1) / STRIP * STRIP; }

sim_derivatives *sim_derivatives_create(const sim_model *m, sim_error *error) {
    /* memory, the panel for the largest tree */
    memory_pool *pool = pool_create();
    sim_derivatives *w = pool ? POOL_NEW(pool, sim_derivatives, 1) : NULL;
    if (w) {
        w->dof = POOL_NEW(pool, dof_motion, m->nv);
        w->axes = POOL_NEW(pool, double, AXIS_ROWS *(size_t)m->nv);
        w->body = POOL_NEW(pool, body_sums, m->nbody);
        w->M = POOL_NEW(pool, double, m->nl);
        int most = 0;
        for (int t = 0; t < m->ntree; t++) {
            most = m->tree[t].nv > most ? m->tree[t].nv : most;
        }
        w->panel = POOL_NEW(pool, double, most *panel_width(most) + 2 * m->nv);
        w->end = POOL_NEW(pool, int, m->nv);
        w->memory = pool;
    }
    if (!w || !w->dof || !w->axes || !w->body || !w->M || !w->panel || !w->end) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for derivatives of %d degrees of freedom", m->nv);
        pool_free(pool);
        return NULL;
    }
    /* ends of subtrees */
    for (int k = m->nv - 1; k >= 0; k--) {
        int parent = m->dof[k].parent;
        w->end[k] = w->end[k] > k ? w->end[k] : k + 1;
        if (parent >= 0 && w->end[parent] < w->end[k]) {
            w->end[parent] = w->end[k];
        }
    }
    return w;
}

void sim_derivatives_free(sim_derivatives *work) {
    if (work) {
        pool_free(work->memory);
    }
}

/* ---- products ---- */

static motion motion_cross(motion a, motion b) {
    return (motion){v3_cross(a.ang, b.ang), v3_add(v3_cross(a.ang, b.lin), v3_cross(a.lin, b.ang))};
}

static force force_cross(motion a, force f) {
    return (force){v3_add(v3_cross(a.ang, f.ang), v3_cross(a.lin, f.lin)), v3_cross(a.ang, f.lin)};
}

static force times_B(const double B[6][6], motion x) {
    const double in[6] = {x.ang.x, x.ang.y, x.ang.z, x.lin.x, x.lin.y, x.lin.z};
    double out[6];
    for (int i = 0; i < 6; i++) {
        out[i] = 0;
        for (int j = 0; j < 6; j++) {
            out[i] += B[i][j] * in[j];
        }
    }
    return (force){{out[0], out[1], out[2]}, {out[3], out[4], out[5]}};
}

/* B' x, which is a force, too. */
static force transposed_times_B(const double B[6][6], motion x) {
    const double in[6] = {x.ang.x, x.ang.y, x.ang.z, x.lin.x, x.lin.y, x.lin.z};
    double out[6] = {0};
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) {
            out[i] += B[j][i] * in[j];
        }
    }
    return (force){{out[0], out[1], out[2]}, {out[3], out[4], out[5]}};
}

/* The columns of v x* I - I v x + (.) x* I v. */
static void fill_B(double B[6][6], const rigid *I, motion v) {
    force h = rigid_times(I, v);
    for (int k = 0; k < 6; k++) {
        motion unit = {{k == 0, k == 1, k == 2}, {k == 3, k == 4, k == 5}};
        force column = force_cross(v, rigid_times(I, unit));
        column = force_sub(column, rigid_times(I, motion_cross(v, unit)));
        column = force_add(column, force_cross(unit, h));
        const double of[6] = {column.ang.x, column.ang.y, column.ang.z, column.lin.x, column.lin.y, column.lin.z};
        for (int i = 0; i < 6; i++) {
            B[i][k] = of[i];
        }
    }
}

/* ---- outwards ---- */

/* The dof after those that turn together with dof j of body b. */
static int group_end(const sim_body *b, int j) {
    bool turns_freely = b->joint == SIM_BALL || (b->joint == SIM_FREE && j >= b->v0 + 3);
    return turns_freely ? b->v0 + b->nv : j + 1;
}

/* Axes of a joint's dofs and their derivatives; v and a come as the parent's and leave as the body's. */
static void cross_joint(sim_derivatives *w, const sim_derived *d, int i, v3 from_O, const double *rate,
                        const double *acceleration, motion *v, motion *a) {
    const sim_body *b = &d->model->body[i];
    for (int first = b->v0, end; first < b->v0 + b->nv; first = end) {
        end = group_end(b, first);
        /* before the group, and its part */
        motion joint = {{0, 0, 0}, {0, 0, 0}}, change = joint;
        for (int j = first; j < end; j++) {
            dof_motion *m = &w->dof[j];
            m->S = motion_at_child(d->S[j], v3_neg(from_O));
            m->Sd = motion_cross(*v, m->S);
            m->Sdd = motion_add(motion_cross(*a, m->S), motion_cross(*v, m->Sd));
            joint = motion_axpy(joint, rate[j], m->S);
            change = acceleration ? motion_axpy(change, acceleration[j], m->S) : change;
        }
        /* after it */
        *v = motion_add(*v, joint);
        *a = motion_add(*a, motion_add(change, motion_cross(*v, joint)));
        for (int j = first; j < end; j++) {
            w->dof[j].T = motion_add(w->dof[j].Sd, motion_cross(*v, w->dof[j].S));
        }
    }
}

static void spread_motion(motion x, ptrdiff_t nv, double *to) {
    const double numbers[6] = {x.ang.x, x.ang.y, x.ang.z, x.lin.x, x.lin.y, x.lin.z};
    for (int c = 0; c < 6; c++) {
        to[c * nv] = numbers[c];
    }
}

static void spread_axes(sim_derivatives *w, ptrdiff_t nv, int first, int end) {
    for (int j = first; j < end; j++) {
        const dof_motion *of = &w->dof[j];
        spread_motion(of->S, nv, w->axes + AXIS_S * nv + j);
        spread_motion(of->Sd, nv, w->axes + AXIS_SD * nv + j);
        spread_motion(of->Sdd, nv, w->axes + AXIS_SDD * nv + j);
        spread_motion(of->T, nv, w->axes + AXIS_T * nv + j);
    }
}

static void go_outwards(sim_derivatives *w, const sim_derived *d, sim_range range, const double *v, const double *a,
                        v3 gravity) {
    const sim_model *m = d->model;
    const motion rest = {{0, 0, 0}, {0, 0, 0}}, falls = {{0, 0, 0}, v3_neg(gravity)};
    v3 O = {0, 0, 0};
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        body_sums *s = &w->body[i];
        O = b->parent ? O : d->pose[i].p; /* of the tree: its first body's origin */
        v3 from_O = v3_sub(d->pose[i].p, O);
        s->vel = b->parent ? w->body[b->parent].vel : rest;
        s->acc = b->parent ? w->body[b->parent].acc : falls;
        cross_joint(w, d, i, from_O, v, a, &s->vel, &s->acc);
        spread_axes(w, m->nv, b->v0, b->v0 + b->nv);
        s->I = rigid_at_parent(d->I[i], from_O);
        s->F = force_add(rigid_times(&s->I, s->acc), force_cross(s->vel, rigid_times(&s->I, s->vel)));
        fill_B(s->B, &s->I, s->vel);
    }
}

/* ---- inwards ---- */

static void add_sums(body_sums *to, const body_sums *s) {
    to->I = rigid_add(to->I, s->I);
    to->F = force_add(to->F, s->F);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            to->B[i][j] += s->B[i][j];
        }
    }
}

static void spread_force(force f, double to[6]) {
    const double numbers[6] = {f.ang.x, f.ang.y, f.ang.z, f.lin.x, f.lin.y, f.lin.z};
    memcpy(to, numbers, sizeof numbers);
}

/* Forces above by q_j and v_j, and products that give j's force by those of dofs above. */
typedef struct dof_forces {
    double by_q[6], by_q_above[6], by_v[6], IS[6], BS[6];
} dof_forces;

static dof_forces forces_of(const body_sums *s, const dof_motion *of) {
    dof_forces f;
    force by_q = force_add(rigid_times(&s->I, of->Sdd), times_B(s->B, of->Sd));
    spread_force(by_q, f.by_q);
    spread_force(force_add(by_q, force_cross(of->S, s->F)), f.by_q_above);
    spread_force(force_add(rigid_times(&s->I, of->T), times_B(s->B, of->S)), f.by_v);
    spread_force(rigid_times(&s->I, of->S), f.IS);
    spread_force(transposed_times_B(s->B, of->S), f.BS);
    return f;
}

/* `count` numbers of row j and of column j, the latter side by side, from consecutive dofs whose axes begin at x. */
static void fill_run(const dof_forces *f, int count, ptrdiff_t nv, const double *x, double *restrict row_q,
                     double *restrict row_v, double *restrict column_q, double *restrict column_v) {
    const double *S = x + AXIS_S * nv, *Sd = x + AXIS_SD * nv, *Sdd = x + AXIS_SDD * nv, *T = x + AXIS_T * nv;
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        simd4 q = simd4_all(0), v = q, above = q, by_v = q;
        for (int c = 0; c < 6; c++) {
            simd4 S_c = simd4_load(S + c * nv + i);
            q += simd4_load(Sdd + c * nv + i) * f->IS[c] + simd4_load(Sd + c * nv + i) * f->BS[c];
            v += simd4_load(T + c * nv + i) * f->IS[c] + S_c * f->BS[c];
            above += S_c * f->by_q_above[c];
            by_v += S_c * f->by_v[c];
        }
        simd4_store(row_q + i, q);
        simd4_store(row_v + i, v);
        simd4_store(column_q + i, above);
        simd4_store(column_v + i, by_v);
    }
    for (; i < count; i++) {
        double q = 0, v = 0, above = 0, by_v = 0;
        for (int c = 0; c < 6; c++) {
            double S_c = S[c * nv + i];
            q += Sdd[c * nv + i] * f->IS[c] + Sd[c * nv + i] * f->BS[c];
            v += T[c * nv + i] * f->IS[c] + S_c * f->BS[c];
            above += S_c * f->by_q_above[c];
            by_v += S_c * f->by_v[c];
        }
        row_q[i] = q;
        row_v[i] = v;
        column_q[i] = above;
        column_v[i] = by_v;
    }
}

/* Row and column j, up to the diagonal: run by run of consecutive dofs on the path to the root. */
static void fill_row_and_column(const sim_derivatives *w, const sim_model *m, int j, int v0, int n, double *dq,
                                double *dv) {
    const body_sums *s = &w->body[m->dof[j].body];
    dof_forces f = forces_of(s, &w->dof[j]);
    ptrdiff_t row = (ptrdiff_t)(j - v0) * n;
    double *column_q = w->panel, *column_v = w->panel + m->nv; /* until it is solved */
    for (int last = j, first; last >= 0; last = m->dof[first].parent) {
        first = last - m->dof[last].run + 1;
        int count = last - first + 1, below = last == j ? count - 1 : count;
        ptrdiff_t at = row + first - v0;
        fill_run(&f, count, m->nv, w->axes + first, dq + at, dv + at, column_q, column_v);
        for (int i = 0; i < below; i++) {
            ptrdiff_t to = (ptrdiff_t)(first - v0 + i) * n + (j - v0);
            dq[to] = column_q[i];
            dv[to] = column_v[i];
        }
    }
    /* dofs that turn together carry each other */
    const sim_body *b = &m->body[m->dof[j].body];
    for (int i = j - 1; i >= b->v0 && group_end(b, i) == group_end(b, j); i--) {
        const motion *S = &w->dof[i].S;
        force by_q = {{f.by_q[0], f.by_q[1], f.by_q[2]}, {f.by_q[3], f.by_q[4], f.by_q[5]}};
        dq[(ptrdiff_t)(i - v0) * n + (j - v0)] = motion_dot(*S, by_q);
    }
}

void sim_rnea_derivatives(sim_derivatives *w, const sim_derived *d, sim_range range, const double *v, const double *a,
                          sim_v3 gravity, double *dtau_dq, double *dtau_dv) {
    const sim_model *m = d->model;
    sim_range dofs = sim_dof_range(m, range);
    int n = dofs.end - dofs.first;
    memset(dtau_dq, 0, sizeof *dtau_dq * (size_t)n * (size_t)n);
    memset(dtau_dv, 0, sizeof *dtau_dv * (size_t)n * (size_t)n);
    go_outwards(w, d, range, v, a, gravity);
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            fill_row_and_column(w, m, j, dofs.first, n, dtau_dq, dtau_dv);
        }
        if (b->parent) {
            add_sums(&w->body[b->parent], &w->body[i]);
        }
    }
}

/* ---- forward dynamics ---- */

/* A strip of a panel: `width` numbers a row, a row a dof of the tree that begins at dof v0. */
typedef struct strip {
    const sim_dof *dof;
    const int *end; /* of a dof: past the last one below it */
    const double *L;
    double *X;
    ptrdiff_t width;
    int v0;
} strip;

enum { BLOCK = 4 }; /* dofs, each the parent of the next, whose rows stay in registers */

static inline double *strip_row(const strip *s, int k) { return s->X + (k - s->v0) * s->width; }

/* The greatest block of dofs below each other that begins at k and ends before `end`, 1 or BLOCK. */
static int block_at(const strip *s, int k, int end) {
    return k + BLOCK <= end && s->dof[k + BLOCK - 1].run >= BLOCK ? BLOCK : 1;
}

/* x_i <- x_i - sum of L_ki x_k over k in [first, end), all of which lie below the `count` dofs from i on. */
static inline __attribute__((always_inline)) void take_below(const strip *s, int i, int count, int first, int end) {
    simd_wide a[BLOCK], b[BLOCK];
    int column = s->dof[i].depth - 1;
    for (int r = 0; r < count; r++) {
        a[r] = simd_wide_load(strip_row(s, i + r));
        b[r] = simd_wide_load(strip_row(s, i + r) + SIMD_WIDTH);
    }
    for (int k = first; k < end; k++) {
        const double *l = s->L + s->dof[k].row + column, *x = strip_row(s, k);
        simd_wide xa = simd_wide_load(x), xb = simd_wide_load(x + SIMD_WIDTH);
        for (int r = 0; r < count; r++) {
            a[r] -= l[r] * xa;
            b[r] -= l[r] * xb;
        }
    }
    for (int r = 0; r < count; r++) {
        simd_wide_store(strip_row(s, i + r), a[r]);
        simd_wide_store(strip_row(s, i + r) + SIMD_WIDTH, b[r]);
    }
}

/* x_k <- x_k / D_k - sum of L_ki x_i over all i above, for the `count` dofs from k on. */
static inline __attribute__((always_inline)) void take_above(const strip *s, int k, int count) {
    simd_wide a[BLOCK], b[BLOCK];
    const double *l[BLOCK];
    for (int r = 0; r < count; r++) {
        l[r] = s->L + s->dof[k + r].row;
        double inverse = l[r][s->dof[k + r].depth - 1];
        a[r] = inverse * simd_wide_load(strip_row(s, k + r));
        b[r] = inverse * simd_wide_load(strip_row(s, k + r) + SIMD_WIDTH);
    }
    for (int i = s->dof[k].parent; i >= 0; i = s->dof[i].parent) {
        const double *x = strip_row(s, i);
        int column = s->dof[i].depth - 1;
        simd_wide xa = simd_wide_load(x), xb = simd_wide_load(x + SIMD_WIDTH);
        for (int r = 0; r < count; r++) {
            a[r] -= l[r][column] * xa;
            b[r] -= l[r][column] * xb;
        }
    }
    for (int r = 0; r < count; r++) { /* of each other */
        for (int t = 0; t < r; t++) {
            double between = l[r][s->dof[k + t].depth - 1];
            a[r] -= between * a[t];
            b[r] -= between * b[t];
        }
        simd_wide_store(strip_row(s, k + r), a[r]);
        simd_wide_store(strip_row(s, k + r) + SIMD_WIDTH, b[r]);
    }
}

static int ended(const strip *s, int k, int v_end) { return s->end[k] < v_end ? s->end[k] : v_end; }

/* The strip <- M^-1 strip:  x_i <- x_i - sum over k below i of L_ki x_k;  x_k <- x_k / D_k - sum over i above k of
 * L_ki x_i. */
static void solve_strip(const strip *s, int v_end) { /* rows from v_end on are zero, and stay so */
    for (int last = v_end - 1; last >= s->v0;) {
        bool whole = last - BLOCK + 1 >= s->v0 && s->dof[last].run >= BLOCK;
        int i = whole ? last - BLOCK + 1 : last;
        if (whole) {
            take_below(s, i, BLOCK, last + 1, ended(s, last, v_end));
        }
        for (int r = last; r >= i; r--) { /* what is not below the whole block */
            if (whole) {
                take_below(s, r, 1, r + 1, last + 1);
            }
            take_below(s, r, 1, whole ? ended(s, last, v_end) : r + 1, ended(s, r, v_end));
        }
        last = i - 1;
    }
    for (int k = s->v0; k < v_end;) {
        int count = block_at(s, k, v_end);
        if (count == BLOCK) {
            take_above(s, k, BLOCK);
        } else {
            take_above(s, k, 1);
        }
        k += count;
    }
}

/* The panel [-d tau / d q, -d tau / d v, 1] of a tree, solved strip by strip, to the three matrices. */
static void solve_tree(sim_derivatives *w, const sim_model *m, int tree, int first, int n, double *da_dq, double *da_dv,
                       double *da_dtau) {
    sim_range dofs = {m->tree[tree].v0, m->tree[tree].v0 + m->tree[tree].nv};
    int nv = m->tree[tree].nv;
    ptrdiff_t width = panel_width(nv);
    double *X = w->panel;
    for (int i = 0; i < nv; i++) {
        ptrdiff_t at = (ptrdiff_t)(dofs.first - first + i) * n + dofs.first - first;
        double *row = X + i * width;
        for (int j = 0; j < nv; j++) {
            row[j] = -da_dq[at + j];
            row[nv + j] = -da_dv[at + j];
            row[2 * nv + j] = i == j;
        }
        memset(row + 3 * nv, 0, sizeof *row * (size_t)(width - 3 * nv));
    }
    for (ptrdiff_t at = 0; at < width; at += STRIP) {
        /* of M^-1, which is symmetric, rows down to the diagonal */
        ptrdiff_t rows = at < 2 * nv ? nv : at - 2 * nv + STRIP;
        strip one = {m->dof, w->end, w->M, X + at, width, dofs.first};
        solve_strip(&one, dofs.first + (int)(rows < nv ? rows : nv));
    }
    for (int i = 0; i < nv; i++) {
        ptrdiff_t at = (ptrdiff_t)(dofs.first - first + i) * n + dofs.first - first;
        const double *row = X + i * width;
        memcpy(da_dq + at, row, sizeof *row * (size_t)nv);
        memcpy(da_dv + at, row + nv, sizeof *row * (size_t)nv);
        for (int j = i; j < nv; j++) {
            ptrdiff_t mirrored = (ptrdiff_t)(dofs.first - first + j) * n + dofs.first - first;
            da_dtau[at + j] = da_dtau[mirrored + i] = row[2 * nv + j];
        }
    }
}

void sim_forward_derivatives(sim_derivatives *w, sim_derived *d, sim_range range, const double *v, const double *tau,
                             sim_v3 gravity, const double *extra, double *a, double *da_dq, double *da_dv,
                             double *da_dtau) {
    const sim_model *m = d->model;
    sim_range dofs = sim_dof_range(m, range);
    int n = dofs.end - dofs.first;
    sim_aba(d, range, tau, NULL, gravity, extra, NULL, a);
    sim_rnea_derivatives(w, d, range, v, a, gravity, da_dq, da_dv);
    sim_crba(d, range, extra, NULL, w->M);
    sim_ltdl(m, range, w->M);
    memset(da_dtau, 0, sizeof *da_dtau * (size_t)n * (size_t)n);
    for (int t = 0; t < m->ntree; t++) {
        if (m->tree[t].nv && m->tree[t].v0 >= dofs.first && m->tree[t].v0 < dofs.end) {
            solve_tree(w, m, t, dofs.first, n, da_dq, da_dv, da_dtau);
        }
    }
}
