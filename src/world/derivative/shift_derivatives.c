/* Derivative of the least shift of positions, on its active rows.
 *
 *     c = A^-1 J' pi,    J c = b,    b = min(J v + w, -phi / dt) - J v_q,    v_q = v0 + theta (v - v0)               (1)
 *     K dpi = db - dJ c - Y' g,    g = dJ' pi - dA c,    dc = A^-1 (g + J' dpi),    Y = A^-1 J',  K = J Y            (2)
 *
 *     J    rows of the bounds that hold with equality, b = 0 of equalities;  pi: multipliers, N s
 *     c    shift over the step, m/s or rad/s;  other letters: contact/island/position_correction.c
 *
 * Rows that depend on others, as the corners of a box on a plane do, have no part in (2).  A row that holds without a
 * multiplier is at a kink, and taken as held.
 * Reference: contact/island/least_shift.c.  Cost: n^2 for each active row, the cube of their number. */
#include "linalg/dense/lu.h"
#include "world/derivative/derivative.h"

#include <math.h>
#include <string.h>

static const double MAX_ERROR = 1e-3;       /* of a row that may be active, over the greatest bound: sweeps are slow */
static const double MAX_SHIFT_ERROR = 1e-6; /* of the shift of the step, as least_shift has it: more did not converge */
static const double MIN_PIVOT_RATIO = 1e-10; /* of K: less is a row that depends on others */

/* The active rows. */
typedef struct active_rows {
    int count;
    int *constraint, *row;
    bool *equal;
    double *J, *Y;        /* count x n */
    double *K, *b, *pi;   /* count x count, of L D L'; count */
    double *pivot, *rate; /* count: D, 0 of dependent rows; count x width: right sides of (2), then dpi */
    double *g;            /* n x width */
} active_rows;

static bool make_rows(const island_system *s, active_rows *a) {
    sim_arena *arena = s->step->arena;
    int most = s->is->problem.nrow;
    *a = (active_rows){0};
    a->constraint = ARENA_NEW(arena, int, most);
    a->row = ARENA_NEW(arena, int, most);
    a->equal = ARENA_NEW(arena, bool, most);
    a->J = zeros(arena, (ptrdiff_t)(most + 1) * s->n);
    a->Y = zeros(arena, (ptrdiff_t)most * s->n);
    a->K = zeros(arena, (ptrdiff_t)most * most);
    a->b = zeros(arena, most);
    a->pi = zeros(arena, most);
    a->pivot = zeros(arena, most);
    a->rate = zeros(arena, (ptrdiff_t)most * s->width);
    a->g = zeros(arena, (ptrdiff_t)s->n * s->width);
    return a->constraint && a->row && a->equal && a->b && a->J && a->Y && a->K && a->pi && a->pivot && a->rate && a->g;
}

static double velocity_at(const island_system *s, int j, double travel) {
    double v0 = s->step->motion->now->v[s->dof[j]];
    return v0 + travel * (s->is->v[j] - v0);
}

/* A row whose b is zero: of an equality, or of a contact that obeys the mean velocity. */
static bool is_unmoved(const island_system *s, int i) {
    return s->constraint[i].c->kind == SIM_EQUALITY || s->is->rolls[i] == ROLLS_IN_MEAN;
}

/* b of a row of J; does the gap bound it, rather than the velocity? */
static double bound_of(const island_system *s, int i, int k, const double *J, bool *by_gap) {
    const sim_constraint *c = s->constraint[i].c;
    const sim_problem *p = &s->is->problem;
    double travel = theta_travel(s->step->motion->options->integrator), u = 0, mean = 0;
    *by_gap = false;
    if (is_unmoved(s, i)) {
        return 0;
    }
    for (int j = 0; j < s->n; j++) {
        u += J[j] * s->is->v[j];
        mean += J[j] * velocity_at(s, j, travel);
    }
    u += p->offset ? p->offset[c->row + k] : 0;
    double closing = -p->gap[c->row + k] / s->dt;
    *by_gap = closing < u;
    return (*by_gap ? closing : u) - mean;
}

/* A row of a constraint over all dofs. */
static void spread_row(const island_system *s, const constraint_system *k, const double *local, double *to) {
    const local_frame *at = &k->by.at;
    memset(to, 0, sizeof *to * (size_t)s->n);
    for (int side = 0; side < at->trees; side++) {
        memcpy(to + at->dof[side], local, sizeof *to * (size_t)at->dofs[side]);
        local += at->dofs[side];
    }
}

static bool may_bind(const island_system *s, int i, const sim_constraint *c, int k) {
    if (c->kind == SIM_EQUALITY) {
        return true;
    }
    return is_stop(c) && k == normal_row(c) && s->is->rolls[i] != HAS_NO_GAP;
}

/* A contact that rolls and presses takes shifts of either sign (position_correction.c). */
static bool rolls_as_promised(const island_system *s, int i, bool by_gap) {
    const constraint_system *k = &s->constraint[i];
    return s->is->rolls[i] == ROLLS && !by_gap && k->impulse[normal_row(k->c)] > 0;
}

/* Bounds that seem to hold with equality, with their Y. */
static void list_active(island_system *s, active_rows *a) {
    double resolved = 4 * M_PI * M_PI / (s->dt * s->dt), most = 0;
    /* pass 0: the greatest bound */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < constraints_of(s->is); i++) {
            const constraint_system *at = &s->constraint[i];
            const sim_constraint *c = at->c;
            for (int k = 0; k < c->rows; k++) {
                bool by_gap;
                double *J = a->J + (ptrdiff_t)a->count * s->n, b, w = at->W[k * c->rows + k];
                if (!may_bind(s, i, c, k)) {
                    continue;
                }
                spread_row(s, at, at->J + (ptrdiff_t)k * at->by.at.n, J);
                b = bound_of(s, i, k, J, &by_gap);
                most = fmax(most, fabs(b));
                if (pass == 0 || fabs(dense_dot(s->n, J, s->is->shift) - b) > MAX_ERROR * most) {
                    continue;
                }
                if (w > 0 && c->stiffness * w >= resolved) {
                    spread_row(s, at, at->Y + (ptrdiff_t)k * at->by.at.n, a->Y + (ptrdiff_t)a->count * s->n);
                    a->constraint[a->count] = i;
                    a->row[a->count] = k;
                    a->equal[a->count] = c->kind == SIM_EQUALITY || rolls_as_promised(s, i, by_gap);
                    a->b[a->count++] = b;
                }
            }
        }
    }
}

/* K = L D L', without rows that depend on those before. */
static void factor_rows(const island_system *s, active_rows *a) {
    int n = a->count;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = dense_dot(s->n, a->J + (ptrdiff_t)i * s->n, a->Y + (ptrdiff_t)j * s->n), diagonal = sum;
            for (int k = 0; k < j; k++) {
                sum -= a->K[i * n + k] * a->pivot[k] * a->K[j * n + k];
            }
            if (i == j) {
                a->pivot[i] = sum > MIN_PIVOT_RATIO * diagonal ? sum : 0;
            } else {
                a->K[i * n + j] = a->pivot[j] > 0 ? sum / a->pivot[j] : 0;
            }
        }
    }
}

/* y += scale sum of x_k X_k, rows of `width` numbers. */
static void add_nonzero(int count, int width, double scale, const double *x, int step, const double *X, double *y) {
    for (int k = 0; k < count; k++) {
        double part = scale * x[(ptrdiff_t)k * step];
        if (part != 0) {
            dense_axpy(width, part, X + (ptrdiff_t)k * width, y);
        }
    }
}

/* x <- K^-1 x, zero of dependent rows; `columns` numbers a row. */
static void solve_rows(const active_rows *a, int columns, double *x) {
    int n = a->count;
    for (int i = 0; i < n; i++) {
        add_nonzero(i, columns, -1, a->K + (ptrdiff_t)i * n, 1, x, x + (ptrdiff_t)i * columns);
        if (a->pivot[i] == 0) {
            memset(x + (ptrdiff_t)i * columns, 0, sizeof *x * (size_t)columns);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int c = 0; c < columns && a->pivot[i] > 0; c++) {
            x[(ptrdiff_t)i * columns + c] /= a->pivot[i];
        }
        int past = i + 1;
        add_nonzero(n - past, columns, -1, a->K + (ptrdiff_t)past * n + i, n, x + (ptrdiff_t)past * columns,
                    x + (ptrdiff_t)i * columns);
        if (a->pivot[i] == 0) {
            memset(x + (ptrdiff_t)i * columns, 0, sizeof *x * (size_t)columns);
        }
    }
}

static void drop_row(const island_system *s, active_rows *a, int drop) {
    size_t after = (size_t)(--a->count - drop), n = (size_t)s->n;
    double *J = a->J + (ptrdiff_t)drop * s->n, *Y = a->Y + (ptrdiff_t)drop * s->n;
    memmove(J, J + n, sizeof *J * after * n);
    memmove(Y, Y + n, sizeof *Y * after * n);
    memmove(a->b + drop, a->b + drop + 1, sizeof *a->b * after);
    memmove(a->constraint + drop, a->constraint + drop + 1, sizeof *a->constraint * after);
    memmove(a->row + drop, a->row + drop + 1, sizeof *a->row * after);
    memmove(a->equal + drop, a->equal + drop + 1, sizeof *a->equal * after);
}

/* The multipliers; one after the other, bounds that would pull are dropped. */
static void find_multipliers(const island_system *s, active_rows *a) {
    for (int worst = 0; worst >= 0;) {
        factor_rows(s, a);
        memcpy(a->pi, a->b, sizeof *a->b * (size_t)a->count);
        solve_rows(a, 1, a->pi);
        worst = -1;
        for (int k = 0; k < a->count; k++) {
            if (!a->equal[k] && a->pi[k] < 0 && (worst < 0 || a->pi[k] < a->pi[worst])) {
                worst = k;
            }
        }
        if (worst >= 0) {
            drop_row(s, a, worst);
        }
    }
}

/* db - dJ c of active row k; pi dJ' joins g. */
static void differentiate_bound(const island_system *s, active_rows *a, int k) {
    const constraint_system *of = &s->constraint[a->constraint[k]];
    const local_frame *at = &of->by.at;
    double travel = theta_travel(s->step->motion->options->integrator), *to = a->rate + (ptrdiff_t)k * s->width;
    const double *J = a->J + (ptrdiff_t)k * s->n, *dJ = of->by.J[a->row[k]];
    bool by_gap, fixed = is_unmoved(s, a->constraint[k]);
    bound_of(s, a->constraint[k], a->row[k], J, &by_gap);
    by_gap = by_gap || fixed;
    for (int side = 0; side < at->trees; side++) {
        for (int j = at->dof[side]; j < at->dof[side] + at->dofs[side]; j++, dJ += at->width) {
            double mean = fixed ? 0 : velocity_at(s, j, travel), end = by_gap ? 0 : s->is->v[j];
            add_local(s, at, end - mean - s->is->shift[j], dJ, to);
            add_local(s, at, a->pi[k], dJ, a->g + (ptrdiff_t)j * s->width);
            if (!fixed && J[j] != 0) {
                dense_axpy(s->width, J[j] * ((by_gap ? 0 : 1) - travel), s->dv + (ptrdiff_t)j * s->width, to);
                to[column_of(s, at->tree[side], BY_START_V, j)] -= J[j] * (1 - travel);
            }
        }
    }
    if (!fixed) {
        const double *bound = by_gap ? of->by.gap : of->by.offset;
        add_local(s, at, by_gap ? -1 / s->dt : 1, bound + (ptrdiff_t)a->row[k] * at->width, to);
    }
}

/* Is the shift of the step, found by sweeps, the one of its active rows? */
static bool is_converged(const island_system *s, const active_rows *a) {
    double *c = s->x, error = 0, size = 0;
    memset(c, 0, sizeof *c * (size_t)s->n);
    for (int k = 0; k < a->count; k++) {
        dense_axpy(s->n, a->pi[k], a->Y + (ptrdiff_t)k * s->n, c);
    }
    for (int j = 0; j < s->n; j++) {
        error = fmax(error, fabs(c[j] - s->is->shift[j]));
        size = fmax(size, fabs(c[j]));
    }
    return error <= MAX_SHIFT_ERROR * size;
}

static bool is_shifted(const island_system *s) {
    for (int j = 0; j < s->n; j++) {
        if (s->is->shift[j] != 0) {
            return true;
        }
    }
    return false;
}

bool differentiate_shift(island_system *s, double **out) {
    active_rows a;
    *out = NULL;
    if (!is_shifted(s)) {
        return true;
    }
    double *dc = *out = numbers_of(s->step->arena, (ptrdiff_t)s->n * s->width);
    if (!make_rows(s, &a) || !dc) {
        return false;
    }
    list_active(s, &a);
    find_multipliers(s, &a);
    if (!is_converged(s, &a)) {
        s->trouble = "was shifted by sweeps that did not converge";
        return true;
    }
    /* right sides */
    for (int t = 0; t < s->is->problem.ntree; t++) {
        add_mass_times(s, t, -1, s->is->shift, a.g);
    }
    for (int k = 0; k < a.count; k++) {
        differentiate_bound(s, &a, k);
    }
    for (int k = 0; k < a.count; k++) {
        add_nonzero(s->n, s->width, -1, a.Y + (ptrdiff_t)k * s->n, 1, a.g, a.rate + (ptrdiff_t)k * s->width);
    }
    solve_rows(&a, s->width, a.rate);
    /* dc */
    memcpy(dc, a.g, sizeof *dc * (size_t)s->n * (size_t)s->width);
    for (int j = 0; j < s->n; j++) {
        add_nonzero(a.count, s->width, 1, a.J + j, s->n, a.rate, dc + (ptrdiff_t)j * s->width);
    }
    solve_mass(s, dc);
    return true;
}
