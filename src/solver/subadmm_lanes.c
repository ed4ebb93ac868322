/* One iteration of SubADMM on contacts and single bodies, LANE_WIDTH of them at a time; the equations stand in the header.
 * Compiled twice, as wide as the machine's vectors and one by one. */
#include "solver/subadmm_lanes.h"

#include <float.h>

/* ---- contacts ---- */

LANE_INLINE void load3(double (*x)[LANES], int at, wide to[3]) {
    for (int k = 0; k < 3; k++) {
        to[k] = lane_load(x[k] + at);
    }
}

typedef struct point_rows {
    wide axis[3][3], lever[2][3]; /* axis[k]: t1, t2, n */
} point_rows;

/* What a contact's rows make of the velocities of its bodies, and its impulse of their slots. */
LANE_INLINE void read_point(const double *g, int sides, point_rows *p) {
    for (int k = 0; k < 9; k++) {
        p->axis[k / 3][k % 3] = lane_load(g + LANES * k);
    }
    for (int k = 0; k < 3 * sides; k++) {
        p->lever[k / 3][k % 3] = lane_load(g + LANES * (9 + k));
    }
}

/* v + w x r */
LANE_INLINE void at_point(const wide V[LANES], const wide r[3], wide u[3]) {
    u[0] = V[3] + (V[1] * r[2] - V[2] * r[1]);
    u[1] = V[4] + (V[2] * r[0] - V[0] * r[2]);
    u[2] = V[5] + (V[0] * r[1] - V[1] * r[0]);
}

LANE_INLINE void velocity_point(const point_rows *p, const admm_lanes *l, const admm_contacts *c, int at, int sides,
                                wide u[3]) {
    wide V[LANES], a[3], b[3];
    lane_rows_load(l->row, c->row[0] + at, V);
    at_point(V, p->lever[0], a);
    if (sides == 2) {
        lane_rows_load(l->row, c->row[1] + at, V);
        at_point(V, p->lever[1], b);
        for (int k = 0; k < 3; k++) {
            a[k] -= b[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        u[k] = p->axis[k][0] * a[0] + (p->axis[k][1] * a[1] + p->axis[k][2] * a[2]);
    }
}

LANE_INLINE void push_point(const point_rows *p, admm_lanes *l, const admm_contacts *c, int at, int sides,
                            const wide f[3]) {
    wide F[3];
    for (int k = 0; k < 3; k++) {
        F[k] = p->axis[0][k] * f[0] + (p->axis[1][k] * f[1] + p->axis[2][k] * f[2]);
    }
    for (int side = 0; side < sides; side++) {
        const wide *r = p->lever[side];
        wide wrench[LANES] = {r[1] * F[2] - r[2] * F[1],
                              r[2] * F[0] - r[0] * F[2],
                              r[0] * F[1] - r[1] * F[0],
                              F[0],
                              F[1],
                              F[2],
                              lane_all(0),
                              lane_all(0)};
        for (int k = 0; k < 6 && side; k++) {
            wrench[k] = -wrench[k];
        }
        lane_rows_store(l->slot, c->slot[side] + at, wrench);
    }
}

LANE_INLINE void velocity_general(const double *J, const admm_lanes *l, const admm_contacts *c, int at, int sides,
                                  wide u[3]) {
    u[0] = u[1] = u[2] = lane_all(0);
    for (int side = 0; side < sides; side++) {
        wide V[LANES];
        lane_rows_load(l->row, c->row[side] + at, V);
        for (int k = 0; k < 18; k++) {
            u[k / 6] += lane_load(J + LANES * (18 * side + k)) * V[k % 6];
        }
    }
}

LANE_INLINE void push_general(const double *J, admm_lanes *l, const admm_contacts *c, int at, int sides,
                              const wide f[3]) {
    for (int side = 0; side < sides; side++) {
        wide wrench[LANES];
        wrench[6] = wrench[7] = lane_all(0);
        for (int k = 0; k < 6; k++) {
            const double *column = J + LANES * (18 * side + k);
            wrench[k] = lane_load(column) * f[0] +
                        (lane_load(column + 6 * LANES) * f[1] + lane_load(column + 12 * LANES) * f[2]);
        }
        lane_rows_store(l->slot, c->slot[side] + at, wrench);
    }
}

/* Where friction suffices, most / size is 1 or more; where both are nothing it is 0, and so is what it scales. */
LANE_INLINE wide to_disc(wide square, wide most) {
    return lane_min(most / lane_sqrt(lane_max(square, lane_all(DBL_MIN))), lane_all(1));
}

/* The impulse that obeys the law while s = q + (zeta + R) lambda; `g` the old one. */
LANE_INLINE void project(const admm_contacts *c, int at, const wide u[3], const wide g[3], wide next[3]) {
    wide zeta = lane_load(c->zeta + at), yield = lane_load(c->inverse_t + at), zero = lane_all(0), want[3];
    for (int k = 0; k < 3; k++) {
        want[k] = zeta * g[k] - u[k] + lane_load(c->target[k] + at);
    }
    next[2] = lane_max(want[2] * lane_load(c->inverse_n + at), zero);
    wide x = want[0] * yield, y = want[1] * yield,
         scale = to_disc(x * x + y * y, lane_load(c->friction + at) * next[2]);
    next[0] = x * scale;
    next[1] = y * scale;
}

/* LANE_WIDTH contacts of a batch from `at` on.  What its rows look like and what is wanted are constants wherever this is
 * called: no branch remains. */
LANE_INLINE void update(admm_lanes *l, admm_contacts *c, int at, admm_form form, int sides, int look) {
    const double *geometry = c->geometry + at;
    point_rows p;
    wide u[3], g[3], next[3], f[3], sum = lane_all(0);
    if (form == ADMM_POINT) {
        read_point(geometry, sides, &p);
        velocity_point(&p, l, c, at, sides, u);
    } else {
        velocity_general(geometry, l, c, at, sides, u);
    }
    load3(c->lambda, at, g);
    project(c, at, u, g, next);
    for (int k = 0; k < 3; k++) {
        wide change = next[k] - g[k];
        lane_store(c->lambda[k] + at, next[k]);
        f[k] = look ? next[k] : next[k] + change;
        if (look) {
            lane_store(c->change[k] + at, change);
            sum += change * change;
        }
    }
    if (look) {
        wide zeta = lane_load(c->zeta + at);
        lane_store(c->primal + at, zeta * zeta * sum);
    }
    if (form == ADMM_POINT) {
        push_point(&p, l, c, at, sides, f);
    } else {
        push_general(geometry, l, c, at, sides, f);
    }
}

LANE_INLINE void push_again(admm_lanes *l, admm_contacts *c, int at, admm_form form, int sides, double ratio) {
    const double *geometry = c->geometry + at;
    wide g[3], change[3], f[3];
    load3(c->lambda, at, g);
    load3(c->change, at, change);
    for (int k = 0; k < 3; k++) {
        f[k] = g[k] + ratio * change[k];
    }
    if (form == ADMM_POINT) {
        point_rows p;
        read_point(geometry, sides, &p);
        push_point(&p, l, c, at, sides, f);
    } else {
        push_general(geometry, l, c, at, sides, f);
    }
}

#define EACH_FORM(call)                                                                                                \
    for (int k = first; k < end; k++) {                                                                                \
        admm_contacts *c = &l->contacts[k];                                                                            \
        for (int at = 0; at < LANES; at += LANE_WIDTH) {                                                               \
            if (c->form == ADMM_POINT) {                                                                               \
                if (c->sides == 2) {                                                                                   \
                    call(ADMM_POINT, 2);                                                                               \
                } else {                                                                                               \
                    call(ADMM_POINT, 1);                                                                               \
                }                                                                                                      \
            } else if (c->sides == 2) {                                                                                \
                call(ADMM_GENERAL, 2);                                                                                 \
            } else {                                                                                                   \
                call(ADMM_GENERAL, 1);                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

static void contacts_step(admm_lanes *l, int first, int end) {
#define CALL(form, sides) update(l, c, at, form, sides, 0)
    EACH_FORM(CALL)
#undef CALL
}

static void contacts_look(admm_lanes *l, int first, int end) {
#define CALL(form, sides) update(l, c, at, form, sides, 1)
    EACH_FORM(CALL)
#undef CALL
}

static void push(admm_lanes *l, int first, int end, double ratio){
#define CALL(form, sides) push_again(l, c, at, form, sides, ratio)
    EACH_FORM(CALL)
#undef CALL
}

/* ---- bodies ---- */

/* The place of row i and column j <= i in a lower triangle. */
#define TRIANGLE(i, j) ((i) * ((i) + 1) / 2 + (j))

LANE_INLINE void symmetric_times(const double (*A)[LANES], int at, const wide x[6], wide y[6]) {
    for (int i = 0; i < 6; i++) {
        y[i] = lane_load(A[TRIANGLE(i, i)] + at) * x[i];
    }
    for (int i = 1; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            wide a = lane_load(A[TRIANGLE(i, j)] + at);
            y[i] += a * x[j];
            y[j] += a * x[i];
        }
    }
}

/* H = L D L', row by row; 1 / D on the diagonal.  H is positive definite, so that no pivot is 0. */
LANE_INLINE void factor_lanes(admm_bodies *b, int at) {
    wide L[ADMM_SYMMETRIC];
    for (int i = 0; i < 6; i++) {
        wide scaled[6], d = lane_load(b->H[TRIANGLE(i, i)] + at); /* scaled: L_ij D_j */
        for (int j = 0; j < i; j++) {
            wide a = lane_load(b->H[TRIANGLE(i, j)] + at);
            for (int k = 0; k < j; k++) {
                a -= scaled[k] * L[TRIANGLE(j, k)];
            }
            scaled[j] = a;
            L[TRIANGLE(i, j)] = a * L[TRIANGLE(j, j)];
            d -= a * L[TRIANGLE(i, j)];
        }
        L[TRIANGLE(i, i)] = 1 / d;
    }
    for (int k = 0; k < ADMM_SYMMETRIC; k++) {
        lane_store(b->factor[k] + at, L[k]);
    }
}

LANE_INLINE void solve_lanes(const admm_bodies *b, int at, wide x[6]) {
    for (int j = 0; j < 6; j++) {
        for (int i = j + 1; i < 6; i++) {
            x[i] -= lane_load(b->factor[TRIANGLE(i, j)] + at) * x[j];
        }
    }
    for (int i = 5; i >= 0; i--) {
        x[i] *= lane_load(b->factor[TRIANGLE(i, i)] + at);
        for (int j = i + 1; j < 6; j++) {
            x[i] -= lane_load(b->factor[TRIANGLE(j, i)] + at) * x[j];
        }
    }
}

/* The sum of the slots of LANE_WIDTH bodies, component by component. */
LANE_INLINE void sum_slots(const admm_lanes *l, const admm_bodies *b, int at, wide sum[LANES]) {
    const double *slot = l->slot + (ptrdiff_t)LANES * (b->first + at);
    for (int first = 0; first < LANES; first += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            sum[first + k] = lane_all(0);
        }
        for (int s = 0; s < b->slots; s++) {
            for (int k = 0; k < LANE_WIDTH; k++) {
                sum[first + k] += lane_load(slot + LANES * (LANES * s + k) + first);
            }
        }
        lane_turn(sum + first);
    }
}

/* sum of slots - A x */
LANE_INLINE void unbalanced(const admm_lanes *l, const admm_bodies *b, int at, const wide x[6], wide r[LANES]) {
    wide inertial[6];
    sum_slots(l, b, at, r);
    symmetric_times(b->A, at, x, inertial);
    for (int k = 0; k < 6; k++) {
        r[k] -= inertial[k];
    }
}

LANE_INLINE void load_rows(const admm_lanes *l, const admm_bodies *b, int at, wide x[LANES]) {
    const int index[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    lane_rows_load(l->row + (ptrdiff_t)LANES * (b->row + at), index, x);
}

static void bodies_step(admm_lanes *l, int first, int end) {
    const int index[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int n = first; n < end; n++) {
        const admm_bodies *b = &l->bodies[n];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            wide x[LANES], r[LANES];
            load_rows(l, b, at, x);
            unbalanced(l, b, at, x, r);
            solve_lanes(b, at, r);
            for (int k = 0; k < 6; k++) {
                x[k] += r[k];
            }
            lane_rows_store(l->row + (ptrdiff_t)LANES * (b->row + at), index, x);
        }
    }
}

static void residual(admm_lanes *l, int first, int end) {
    for (int n = first; n < end; n++) {
        admm_bodies *b = &l->bodies[n];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            wide x[LANES], r[LANES], sum = lane_all(0);
            load_rows(l, b, at, x);
            unbalanced(l, b, at, x, r);
            for (int k = 0; k < 6; k++) {
                sum += lane_load(b->weight[k] + at) * r[k] * r[k];
            }
            lane_store(b->dual + at, sum);
        }
    }
}

static void factor(admm_lanes *l, int first, int end) {
    for (int n = first; n < end; n++) {
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            factor_lanes(&l->bodies[n], at);
        }
    }
}

#if LANE_WIDTH == 1
const admm_kernels admm_scalar
#else
const admm_kernels admm_vector
#endif
    = {contacts_step, contacts_look, push, bodies_step, residual, factor};
