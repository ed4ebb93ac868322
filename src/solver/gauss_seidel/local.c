/* Solution of one constraint other than a contact, and of the friction pyramid, with all others fixed.
 *
 * Equality, spring: one linear system, g <- g - K^-1 s.  Limit, dry friction, actuator: bounds, row after row,
 *
 *     g_k <- clamp(g_k - s_k / K_kk),     s <- s + K e_k (change of g_k).
 *
 * Pyramid: first the normal, g_n >= 0, then each tangent within |g| <= mu g_n, as game engines do. */
#include "solver/gauss_seidel/pgs.h"

#include <math.h>

/* Solves one row within its bounds and updates s. */
static void solve_row(const pgs_block *b, int k, double low, double high, double *s, double *g) {
    double pivot = b->K[k * b->rows + k];
    double to = pivot > 0 ? fmin(fmax(g[k] - s[k] / pivot, low), high) : fmin(fmax(g[k], low), high),
           change = to - g[k];
    g[k] = to;
    for (int i = 0; i < b->rows; i++) {
        s[i] += b->K[i * b->rows + k] * change;
    }
}

/* Rows of a disc that is one of a pyramid: each within mu g_n. */
static void solve_disc_rows(const pgs_block *b, const sim_disc *disc, double *moving, double *g) {
    for (int r = disc->row; r < disc->row + disc->rows; r++) {
        solve_row(b, r, -disc->bound * g[2], disc->bound * g[2], moving, g);
    }
}

void pgs_solve_pyramid(const pgs_block *b, const double *s, double *g) {
    double moving[PGS_WIDEST];
    for (int i = 0; i < b->rows; i++) {
        moving[i] = s[i];
    }
    solve_row(b, 2, 0, HUGE_VAL, moving, g);
    solve_row(b, 0, -b->limit * g[2], b->limit * g[2], moving, g);
    solve_row(b, 1, -b->limit * g[2], b->limit * g[2], moving, g);
    sim_disc disc[SIM_MAX_DISCS];
    for (int k = 1, count = b->turning ? sim_contact_discs(b->turning, disc) : 0; k < count; k++) {
        solve_disc_rows(b, &disc[k], moving, g);
    }
}

void pgs_solve_other(const pgs_block *b, const double *s, double *g) {
    double moving[PGS_WIDEST], low = b->kind == SIM_LIMIT ? 0 : -b->limit,
                               high = b->kind == SIM_LIMIT ? HUGE_VAL : b->limit;
    if (b->kind == SIM_EQUALITY || b->kind == SIM_SPRING) {
        for (int i = 0; i < b->rows; i++) {
            for (int j = 0; j < b->rows; j++) {
                g[i] -= b->inverse[i * b->rows + j] * s[j];
            }
        }
        return;
    }
    for (int i = 0; i < b->rows; i++) {
        moving[i] = s[i];
    }
    for (int k = 0; k < b->rows; k++) {
        solve_row(b, k, low, high, moving, g);
    }
}

static void project_disc(bool pyramid, const sim_disc *disc, double *y) {
    double bound = disc->bound * y[2], size = 0;
    for (int r = disc->row; r < disc->row + disc->rows; r++) {
        size = hypot(size, y[r]);
    }
    for (int r = disc->row; r < disc->row + disc->rows; r++) {
        y[r] = pyramid ? fmin(fmax(y[r], -bound), bound) : size > bound ? bound / size * y[r] : y[r];
    }
}

/* Projection plane by plane, as in the strict law: the normal first, then the tangents within mu times it. */
void pgs_project(const pgs *s, const pgs_block *b, double *y) {
    if (b->kind == SIM_CONTACT) {
        y[2] = fmax(y[2], 0);
        double bound = b->limit * y[2], size = hypot(y[0], y[1]), shrink = size > bound ? bound / size : 1;
        for (int k = 0; k < 2; k++) {
            y[k] = s->pyramid ? fmin(fmax(y[k], -bound), bound) : shrink * y[k];
        }
        sim_disc disc[SIM_MAX_DISCS];
        for (int k = 1, count = b->turning ? sim_contact_discs(b->turning, disc) : 0; k < count; k++) {
            project_disc(s->pyramid, &disc[k], y);
        }
    } else if (b->kind != SIM_EQUALITY && b->kind != SIM_SPRING) {
        for (int k = 0; k < b->rows; k++) {
            y[k] = b->kind == SIM_LIMIT ? fmax(y[k], 0) : fmin(fmax(y[k], -b->limit), b->limit);
        }
    }
}
