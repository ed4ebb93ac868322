/* Where do rounds lead?
 *
 * A round of an iteration is a map x -> G(x); its answer is the fixed point.  From the last rounds, with f = G(x) - x,
 * Anderson's method (Anderson 1965; Walker, Ni 2011) takes the combination that would leave the least change if G were
 * linear, which it is as long as no contact opens or begins to slide:
 *
 *     min over theta  |f - dF theta|,     x <- G(x) - dG theta
 *
 * dF and dG hold differences of consecutive f and G; lengths are measured in the caller's scale.
 *
 * Laws are no linear map: a guess is kept only if the round from it changes no more than `growth` times what the round
 * before it did.  Else that round's result is taken up again, and plain rounds follow, twice as many after each bad guess.
 * At worst it is the plain iteration with one round in 65 lost. */
#include "solver/extrapolate.h"
#include "math/dense.h"

#include <math.h>

enum { LONGEST_PAUSE = 63 };
static const double ridge = 1e-12; /* relative, for differences that are nearly dependent */

int extrapolation_make(extrapolation *e, int numbers, int window, sim_arena *scratch) {
    size_t n = (size_t)numbers, count = window > 0 ? 2 * (size_t)window + 5 : 0;
    *e = (extrapolation){.window = window, .n = numbers, .growth = 1};
    double *all = ARENA_NEW(scratch, double, n *count);
    if (!all) {
        return 0;
    }
    if (window > 0) {
        memset(all, 0, n * count * sizeof *all);
        e->scale = all;
        e->from = all + n;
        e->f = all + 2 * n;
        e->g = all + 3 * n;
        e->change = all + 4 * n;
        e->dF = all + 5 * n;
        e->dG = e->dF + (size_t)window * n;
    }
    return 1;
}

void extrapolation_restart(extrapolation *e) { e->known = e->columns = e->next = e->guessed = e->pause = e->left = 0; }

void extrapolation_begin(extrapolation *e, const double *x) {
    if (e->window > 0) {
        memcpy(e->from, x, (size_t)e->n * sizeof *e->from);
    }
}

static double measure_change(extrapolation *e, const double *x) {
    double size = 0;
    for (int k = 0; k < e->n; k++) {
        e->change[k] = e->scale[k] * (x[k] - e->from[k]);
        size += e->change[k] * e->change[k];
    }
    return size;
}

static void take_back(extrapolation *e, double *x) {
    memcpy(x, e->g, (size_t)e->n * sizeof *e->g);
    e->pause = e->pause < LONGEST_PAUSE ? 2 * e->pause + 1 : e->pause;
    e->left = e->pause;
    e->guessed = 0;
}

/* f and g of this round, and their differences from those before as a new column in place of the oldest. */
static void remember(extrapolation *e, const double *x, double size) {
    int at = e->next, n = e->n;
    double *dF = e->dF + (ptrdiff_t)at * n, *dG = e->dG + (ptrdiff_t)at * n;
    for (int k = 0; k < n; k++) {
        dF[k] = e->change[k] - e->f[k];
        dG[k] = x[k] - e->g[k];
        e->f[k] = e->change[k];
        e->g[k] = x[k];
    }
    e->size = size;
    if (!e->known) {
        e->known = 1;
        return;
    }
    e->columns += e->columns < e->window;
    e->next = (at + 1) % e->window;
    for (int j = 0; j < e->columns; j++) {
        e->gram[at][j] = e->gram[j][at] = dense_dot(n, dF, e->dF + (ptrdiff_t)j * n);
        e->moment[j] += e->gram[at][j]; /* f moved by dF */
    }
    e->moment[at] = dense_dot(n, dF, e->f);
}

/* theta by Cholesky's method; 0 if the columns depend on each other. */
static int least_squares(const extrapolation *e, double *theta) {
    int n = e->columns;
    double L[EXTRAPOLATION_WINDOW][EXTRAPOLATION_WINDOW];
    for (int i = 0; i < n; i++) {
        theta[i] = e->moment[i];
        for (int j = 0; j <= i; j++) {
            double sum = e->gram[i][j] * (i == j ? 1 + ridge : 1);
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 0)) {
                return 0;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int k = 0; k < i; k++) {
            theta[i] -= L[i][k] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            theta[i] -= L[k][i] * theta[k];
        }
        theta[i] /= L[i][i];
    }
    return 1;
}

static int guess(extrapolation *e, double *x) {
    double theta[EXTRAPOLATION_WINDOW];
    if (!least_squares(e, theta)) {
        e->columns = e->next = 0;
        return 0;
    }
    for (int j = 0; j < e->columns; j++) {
        dense_axpy(e->n, -theta[j], e->dG + (ptrdiff_t)j * e->n, x);
    }
    e->guessed = 1;
    return 1;
}

extrapolation_result extrapolation_end(extrapolation *e, double *x) {
    if (e->window == 0) {
        return EXTRAPOLATION_NONE;
    }
    double size = measure_change(e, x);
    if (e->guessed && !(size <= e->growth * e->size)) {
        take_back(e, x);
        return EXTRAPOLATION_BACK;
    }
    e->pause = e->guessed ? e->pause / 2 : e->pause;
    e->guessed = 0;
    remember(e, x, size);
    if (e->left > 0) {
        e->left--;
        return EXTRAPOLATION_NONE;
    }
    return e->columns > 0 && guess(e, x) ? EXTRAPOLATION_GUESS : EXTRAPOLATION_NONE;
}
