/* Contact and body update of SubADMM in SIMD lanes, LANE_WIDTH at a time; the equations are in the header.
 * Compiled twice: as wide as the machine's vectors, and one by one. */
#include "solver/subadmm/lanes/lanes.h"

#include <float.h>

/* ---- contacts ---- */

SIMD_INLINE void load_vector(const double *x, wide to[3]) {
    for (int k = 0; k < 3; k++) {
        to[k] = lane_load(x + LANES * k);
    }
}

typedef struct point_rows {
    wide axis[3][3], lever[2][3]; /* axis[k]: t1, t2, n */
} point_rows;

/* Rows of a point contact: velocity from the motions of its bodies, wrenches on the bodies from its impulse. */
SIMD_INLINE void read_point(const double *g, int sides, point_rows *p) {
    for (int k = 0; k < 9; k++) {
        p->axis[k / 3][k % 3] = lane_load(g + LANES * k);
    }
    for (int k = 0; k < 3 * sides; k++) {
        p->lever[k / 3][k % 3] = lane_load(g + LANES * (9 + k));
    }
}

/* v + w x r */
SIMD_INLINE void velocity_at_point(const wide V[6], const wide r[3], wide u[3]) {
    u[0] = V[3] + (V[1] * r[2] - V[2] * r[1]);
    u[1] = V[4] + (V[2] * r[0] - V[0] * r[2]);
    u[2] = V[5] + (V[0] * r[1] - V[1] * r[0]);
}

SIMD_INLINE void eval_point_velocity(const point_rows *p, const double *rows, const admm_contacts *c, int at, int sides,
                                     wide u[3]) {
    wide V[6], a[3], b[3];
    lane_rows_load(rows, c->row[0] + at, V);
    velocity_at_point(V, p->lever[0], a);
    if (sides == 2) {
        lane_rows_load(rows, c->row[1] + at, V);
        velocity_at_point(V, p->lever[1], b);
        for (int k = 0; k < 3; k++) {
            a[k] -= b[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        u[k] = p->axis[k][0] * a[0] + (p->axis[k][1] * a[1] + p->axis[k][2] * a[2]);
    }
}

SIMD_INLINE void apply_at_point(const point_rows *p, admm_lanes *l, const admm_contacts *c, int at, int sides,
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

SIMD_INLINE void eval_general_velocity(const double *J, const double *rows, const admm_contacts *c, int at, int sides,
                                       wide u[3]) {
    u[0] = u[1] = u[2] = lane_all(0);
    for (int side = 0; side < sides; side++) {
        wide V[6];
        lane_rows_load(rows, c->row[side] + at, V);
        for (int k = 0; k < 18; k++) {
            u[k / 6] += lane_load(J + LANES * (18 * side + k)) * V[k % 6];
        }
    }
}

SIMD_INLINE void apply_general(const double *J, admm_lanes *l, const admm_contacts *c, int at, int sides,
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

/* min(1, most / size): 1 where friction suffices; 0 where `most` is 0. */
SIMD_INLINE wide disc_scale(wide square, wide most) {
    return lane_min(most / lane_sqrt(lane_max(square, lane_all(DBL_MIN))), lane_all(1));
}

/* `next`: the impulse of the law with s = q + (zeta + R) lambda; `g`: the impulse before. */
SIMD_INLINE void project_group(const admm_contacts *c, int at, const wide u[3], const wide g[3], wide next[3]) {
    wide zeta = lane_load(c->zeta + at), yield = lane_load(c->inverse_t + at), zero = lane_all(0), want[3];
    for (int k = 0; k < 3; k++) {
        want[k] = zeta * g[k] - u[k] + lane_load(c->target[k] + at);
    }
    next[2] = lane_max(want[2] * lane_load(c->inverse_n + at), zero);
    wide x = want[0] * yield, y = want[1] * yield,
         scale = disc_scale(x * x + y * y, lane_load(c->friction + at) * next[2]);
    next[0] = x * scale;
    next[1] = y * scale;
}

/* The functions below handle LANE_WIDTH contacts of a batch, from `at` on.  Form and number of sides are constants at
 * each call, so that the compiler specialises them. */

SIMD_INLINE void update_group(admm_lanes *l, const admm_contacts *c, double *lambda, int at, admm_form form,
                              int sides) {
    /* relative velocity */
    const double *geometry = c->geometry + at;
    point_rows p;
    wide u[3], g[3], next[3], f[3];
    if (form == ADMM_POINT) {
        read_point(geometry, sides, &p);
        eval_point_velocity(&p, l->row, c, at, sides, u);
    } else {
        eval_general_velocity(geometry, l->row, c, at, sides, u);
    }
    /* impulse: projection onto the cone */
    load_vector(lambda + at, g);
    project_group(c, at, u, g, next);
    /* reflected impulse 2 next - g, to the bodies */
    for (int k = 0; k < 3; k++) {
        f[k] = next[k] + (next[k] - g[k]);
        lane_store(lambda + LANES * k + at, next[k]);
    }
    if (form == ADMM_POINT) {
        apply_at_point(&p, l, c, at, sides, f);
    } else {
        apply_general(geometry, l, c, at, sides, f);
    }
}

SIMD_INLINE void apply_group(admm_lanes *l, const admm_contacts *c, double *lambda, int at, admm_form form, int sides) {
    const double *geometry = c->geometry + at;
    wide g[3];
    load_vector(lambda + at, g);
    if (form == ADMM_POINT) {
        point_rows p;
        read_point(geometry, sides, &p);
        apply_at_point(&p, l, c, at, sides, g);
    } else {
        apply_general(geometry, l, c, at, sides, g);
    }
}

/* |gamma - P(y)|^2, y = gamma - rho (s + (0, 0, mu |s_t|)), P the nearest point of the cone: y itself inside it, else
 *
 *     P(y)_n = max(0, (y_n + mu |y_t|) / (1 + mu^2)),     P(y)_t = mu P(y)_n y_t / |y_t|. */
SIMD_INLINE wide natural_square(wide mu, wide rho, const wide s[3], wide slip, const wide g[3]) {
    wide y[3] = {g[0] - rho * s[0], g[1] - rho * s[1], g[2] - rho * (s[2] + mu * slip)};
    wide radius = lane_sqrt(y[0] * y[0] + y[1] * y[1]), zero = lane_all(0);
    lane_mask outside = lane_above(radius, mu * y[2]) | lane_above(zero, y[2]);
    wide n = lane_max((y[2] + mu * radius) / (1 + mu * mu), zero);
    wide scale = mu * n / lane_max(radius, lane_all(DBL_MIN));
    wide x = g[0] - lane_select(outside, scale * y[0], y[0]), z = g[1] - lane_select(outside, scale * y[1], y[1]);
    wide w = g[2] - lane_select(outside, n, y[2]);
    return x * x + (z * z + w * w);
}

SIMD_INLINE void eval_natural_group(const admm_lanes *l, admm_contacts *c, const double *lambda, int at, admm_form form,
                                    int sides) {
    /* relative velocity with compliance and target */
    wide s[3], g[3], sum_g = lane_all(0), sum_s = lane_all(0);
    if (form == ADMM_POINT) {
        point_rows p;
        read_point(c->geometry + at, sides, &p);
        eval_point_velocity(&p, l->response, c, at, sides, s);
    } else {
        eval_general_velocity(c->geometry + at, l->response, c, at, sides, s);
    }
    load_vector(lambda + at, g);
    for (int k = 0; k < 3; k++) {
        s[k] += lane_load((k == 2 ? c->R_n : c->R_t) + at) * g[k] - lane_load(c->target[k] + at);
        sum_g += g[k] * g[k];
        sum_s += s[k] * s[k];
    }
    /* squares of the natural map at both step sizes, and norms */
    wide mu = lane_load(c->friction + at), rho = lane_load(c->rho + at), slip = lane_sqrt(s[0] * s[0] + s[1] * s[1]);
    wide map = natural_square(mu, rho, s, slip, g);
    const wide sums[ADMM_SUMS] = {
        natural_square(mu, lane_all(1), s, slip, g), map / (rho * rho), map, sum_g, sum_s, sum_g / (rho * rho)};
    for (int k = 0; k < ADMM_SUMS; k++) {
        lane_store(c->natural[k] + at, sums[k]);
    }
    lane_store(c->normal + at, s[2]);
}

#define FOR_EACH_GROUP(function, l, first, end)                                                                        \
    for (int k_ = first; k_ < end; k_++) {                                                                             \
        admm_contacts *c_ = &(l)->contacts[k_];                                                                        \
        double *lambda_ = (l)->lambda + (ptrdiff_t)3 * LANES * k_;                                                     \
        for (int at_ = 0; at_ < LANES; at_ += LANE_WIDTH) {                                                            \
            if (c_->form == ADMM_POINT && c_->sides == 2) {                                                            \
                function(l, c_, lambda_, at_, ADMM_POINT, 2);                                                          \
            } else if (c_->form == ADMM_POINT) {                                                                       \
                function(l, c_, lambda_, at_, ADMM_POINT, 1);                                                          \
            } else {                                                                                                   \
                function(l, c_, lambda_, at_, ADMM_GENERAL, c_->sides);                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

static void update_contacts(admm_lanes *l, int first, int end) { FOR_EACH_GROUP(update_group, l, first, end) }

static void apply_impulses(admm_lanes *l, int first, int end) { FOR_EACH_GROUP(apply_group, l, first, end) }

static void eval_natural(admm_lanes *l, int first, int end) { FOR_EACH_GROUP(eval_natural_group, l, first, end) }

static void set_compliance(admm_lanes *l, int first, int end, double kappa) {
    for (int k = first; k < end; k++) {
        admm_contacts *c = &l->contacts[k];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            wide zeta = lane_load(c->slack + at) / kappa;
            wide keep = lane_load(c->keep + at);
            lane_store(c->zeta + at, keep * zeta);
            lane_store(c->inverse_t + at, keep / (zeta + lane_load(c->R_t + at)));
            lane_store(c->inverse_n + at, keep / (zeta + lane_load(c->R_n + at)));
        }
    }
}

/* ---- bodies ---- */

/* Index of row i and column j <= i in a packed lower triangle. */
#define TRIANGLE(i, j) ((i) * ((i) + 1) / 2 + (j))

SIMD_INLINE void symmetric_times(const double (*A)[LANES], int at, const wide x[6], wide y[6]) {
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

SIMD_INLINE wide stiffness_entry(const admm_bodies *b, int k, int at, double kappa) {
    return lane_load(b->A[k] + at) + kappa * lane_load(b->C[k] + at);
}

/* H = L D L', row by row; 1 / D on the diagonal.  H is positive definite, so that no pivot is 0. */
SIMD_INLINE void factor_group(const admm_bodies *b, int at, double kappa, double (*factor)[LANES]) {
    wide L[ADMM_SYMMETRIC];
    for (int i = 0; i < 6; i++) {
        wide scaled[6], d = stiffness_entry(b, TRIANGLE(i, i), at, kappa); /* scaled: L_ij D_j */
        for (int j = 0; j < i; j++) {
            wide a = stiffness_entry(b, TRIANGLE(i, j), at, kappa);
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
        lane_store(factor[k] + at, L[k]);
    }
}

SIMD_INLINE void solve_group(const double (*factor)[LANES], int at, wide x[6]) {
    for (int j = 0; j < 6; j++) {
        for (int i = j + 1; i < 6; i++) {
            x[i] -= lane_load(factor[TRIANGLE(i, j)] + at) * x[j];
        }
    }
    for (int i = 5; i >= 0; i--) {
        x[i] *= lane_load(factor[TRIANGLE(i, i)] + at);
        for (int j = i + 1; j < 6; j++) {
            x[i] -= lane_load(factor[TRIANGLE(j, i)] + at) * x[j];
        }
    }
}

/* The sum of the slots of LANE_WIDTH bodies, component by component. */
SIMD_INLINE void sum_body_slots(const admm_lanes *l, const admm_bodies *b, int at, wide sum[LANES]) {
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

static void update_bodies(admm_lanes *l, int first, int end) {
    /* wrench: sum over the contacts of the body, less the inertial force */
    const int index[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int n = first; n < end; n++) {
        const admm_bodies *b = &l->bodies[n];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            double *rows = l->row + (ptrdiff_t)LANES * (b->row + at);
            wide x[6], r[LANES], inertial[6];
            lane_rows_load(rows, index, x);
            sum_body_slots(l, b, at, r);
            symmetric_times(b->A, at, x, inertial);
            for (int k = 0; k < 6; k++) {
                r[k] -= inertial[k];
            }
            /* solve with the factor of the body */
            solve_group(b->factor, at, r);
            for (int k = 0; k < 6; k++) {
                x[k] += r[k];
            }
            lane_rows_store(rows, index, x);
        }
    }
}

static void factor_bodies(admm_lanes *l, int first, int end, double kappa) {
    for (int n = first; n < end; n++) {
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            factor_group(&l->bodies[n], at, kappa, l->bodies[n].factor);
        }
    }
}

static void factor_inertia(admm_lanes *l, int first, int end) {
    for (int n = first; n < end; n++) {
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            factor_group(&l->bodies[n], at, 0, l->bodies[n].inertial);
        }
    }
}

static void solve_inertia(admm_lanes *l, int first, int end) {
    const int index[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int n = first; n < end; n++) {
        const admm_bodies *b = &l->bodies[n];
        for (int at = 0; at < LANES; at += LANE_WIDTH) {
            wide x[LANES];
            sum_body_slots(l, b, at, x);
            solve_group(b->inertial, at, x);
            lane_rows_store(l->response + (ptrdiff_t)LANES * (b->row + at), index, x);
        }
    }
}

#if LANE_WIDTH == 1
const admm_kernels admm_scalar
#else
const admm_kernels admm_vector
#endif
    = {update_contacts, update_bodies,  set_compliance, factor_bodies,
       factor_inertia,  apply_impulses, solve_inertia,  eval_natural};
