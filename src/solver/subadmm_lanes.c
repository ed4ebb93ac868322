/* One iteration of SubADMM on contacts and single bodies, LANE_WIDTH of them at a time; the equations stand in the header.
 * Compiled twice, as wide as the machine's vectors and one by one. */
#include "solver/subadmm_lanes.h"

#include <float.h>

/* ---- contacts ---- */

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
LANE_INLINE void at_point(const wide V[6], const wide r[3], wide u[3]) {
    u[0] = V[3] + (V[1] * r[2] - V[2] * r[1]);
    u[1] = V[4] + (V[2] * r[0] - V[0] * r[2]);
    u[2] = V[5] + (V[0] * r[1] - V[1] * r[0]);
}

LANE_INLINE void velocity_point(const point_rows *p, const admm_lanes *l, const admm_contacts *c, int at, int sides,
                                wide u[3]) {
    wide V[6], a[3], b[3];
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
        wide wrench[6] = {
            r[1] * F[2] - r[2] * F[1], r[2] * F[0] - r[0] * F[2], r[0] * F[1] - r[1] * F[0], F[0], F[1], F[2]};
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
        wide V[6];
        lane_rows_load(l->row, c->row[side] + at, V);
        for (int k = 0; k < 18; k++) {
            u[k / 6] += lane_load(J + LANES * (18 * side + k)) * V[k % 6];
        }
    }
}

LANE_INLINE void push_general(const double *J, admm_lanes *l, const admm_contacts *c, int at, int sides,
                              const wide f[3]) {
    for (int side = 0; side < sides; side++) {
        wide wrench[6];
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

/* LANE_WIDTH contacts of a batch from `at` on.  The form of its rows and its sides are constants wherever this is called. */
LANE_INLINE void update(admm_lanes *l, const admm_contacts *c, double *lambda, int at, admm_form form, int sides) {
    const double *geometry = c->geometry + at;
    point_rows p;
    wide u[3], g[3], next[3], f[3];
    if (form == ADMM_POINT) {
        read_point(geometry, sides, &p);
        velocity_point(&p, l, c, at, sides, u);
    } else {
        velocity_general(geometry, l, c, at, sides, u);
    }
    for (int k = 0; k < 3; k++) {
        g[k] = lane_load(lambda + LANES * k + at);
    }
    project(c, at, u, g, next);
    for (int k = 0; k < 3; k++) {
        f[k] = next[k] + (next[k] - g[k]);
        lane_store(lambda + LANES * k + at, next[k]);
    }
    if (form == ADMM_POINT) {
        push_point(&p, l, c, at, sides, f);
    } else {
        push_general(geometry, l, c, at, sides, f);
    }
}

static void contacts(admm_lanes *l, int first, int end) {
    for (int k = first; k < end; k++) {
        const admm_contacts *c = &l->contacts[k];
        double *lambda = l->lambda + (ptrdiff_t)3 * LANES * k;
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            if (c->form == ADMM_POINT && c->sides == 2) {
                update(l, c, lambda, at, ADMM_POINT, 2);
            } else if (c->form == ADMM_POINT) {
                update(l, c, lambda, at, ADMM_POINT, 1);
            } else {
                update(l, c, lambda, at, ADMM_GENERAL, c->sides);
            }
        }
    }
}

static void soften(admm_lanes *l, int first, int end, double kappa) {
    for (int k = first; k < end; k++) {
        admm_contacts *c = &l->contacts[k];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            wide zeta = lane_load(c->slack + at) / kappa;
            lane_store(c->zeta + at, zeta);
            lane_store(c->inverse_t + at, 1 / (zeta + lane_load(c->R_t + at)));
            lane_store(c->inverse_n + at, 1 / (zeta + lane_load(c->R_n + at)));
        }
    }
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

LANE_INLINE wide stiffened(const admm_bodies *b, int k, int at, double kappa) {
    return lane_load(b->A[k] + at) + kappa * lane_load(b->C[k] + at);
}

/* H = L D L', row by row; 1 / D on the diagonal.  H is positive definite, so that no pivot is 0. */
LANE_INLINE void factor_lanes(admm_bodies *b, int at, double kappa) {
    wide L[ADMM_SYMMETRIC];
    for (int i = 0; i < 6; i++) {
        wide scaled[6], d = stiffened(b, TRIANGLE(i, i), at, kappa); /* scaled: L_ij D_j */
        for (int j = 0; j < i; j++) {
            wide a = stiffened(b, TRIANGLE(i, j), at, kappa);
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

static void bodies(admm_lanes *l, int first, int end) {
    const int index[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int n = first; n < end; n++) {
        const admm_bodies *b = &l->bodies[n];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            double *rows = l->row + (ptrdiff_t)LANES * (b->row + at);
            wide x[6], r[LANES], inertial[6];
            lane_rows_load(rows, index, x);
            sum_slots(l, b, at, r);
            symmetric_times(b->A, at, x, inertial);
            for (int k = 0; k < 6; k++) {
                r[k] -= inertial[k];
            }
            solve_lanes(b, at, r);
            for (int k = 0; k < 6; k++) {
                x[k] += r[k];
            }
            lane_rows_store(rows, index, x);
        }
    }
}

static void factor(admm_lanes *l, int first, int end, double kappa) {
    for (int n = first; n < end; n++) {
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            factor_lanes(&l->bodies[n], at, kappa);
        }
    }
}

#if LANE_WIDTH == 1
const admm_kernels admm_scalar
#else
const admm_kernels admm_vector
#endif
    = {contacts, bodies, soften, factor};
