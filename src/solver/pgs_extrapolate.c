/* Where do sweeps lead?
 *
 * A sweep is a map gamma -> G(gamma); its answer is the fixed point.  From the last sweeps, with f = G(gamma) - gamma,
 * Anderson's method (Anderson 1965; Walker, Ni 2011) takes the combination that would leave the least change if G were
 * linear, which it is as long as no contact opens or begins to slide:
 *
 *     min over theta  |f - dF theta|,     gamma <- P(G(gamma) - dG theta)
 *
 * dF and dG hold differences of consecutive f and G, and P puts each impulse back into its set.  Lengths are measured with
 * 1 / rho_i = trace W_ii / rows, so that |f|^2 is an energy.
 *
 * Laws are no linear map: a guess is kept only if the sweep from it changes no more than `growth` times what the sweep
 * before it did.  Else that sweep's result is taken up again, and plain sweeps follow, twice as many after each bad guess.
 * At worst it is Gauss-Seidel with one sweep in 65 lost. */
#include "solver/pgs_extrapolate.h"
#include "math/dense.h"

#include <math.h>

enum { LONGEST_PAUSE = 63 };
static const double ridge = 1e-12; /* relative, for differences that are nearly dependent */

int pgs_extrapolation_make(pgs_extrapolation *e, const pgs *s, int window, sim_arena *scratch) {
    size_t n = (size_t)s->lanes, count = window > 0 ? 2 * (size_t)window + 5 : 0;
    *e = (pgs_extrapolation){.window = window, .lanes = s->lanes, .growth = 1};
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
        for (int i = 0; i < s->n; i++) {
            for (int k = 0; k < s->block[i].rows; k++) {
                e->scale[s->block[i].at + k] = 1 / sqrt(s->block[i].rho);
            }
        }
    }
    return 1;
}

void pgs_extrapolation_restart(pgs_extrapolation *e) {
    e->known = e->columns = e->next = e->guessed = e->pause = e->left = 0;
}

void pgs_extrapolation_begin(pgs_extrapolation *e, const pgs *s) {
    if (e->window > 0) {
        memcpy(e->from, s->gamma, (size_t)e->lanes * sizeof *e->from);
    }
}

static double measure_change(pgs_extrapolation *e, const pgs *s) {
    double size = 0;
    for (int k = 0; k < e->lanes; k++) {
        e->change[k] = e->scale[k] * (s->gamma[k] - e->from[k]);
        size += e->change[k] * e->change[k];
    }
    return size;
}

static void take_back(pgs_extrapolation *e, pgs *s) {
    memcpy(s->gamma, e->g, (size_t)e->lanes * sizeof *e->g);
    pgs_refresh(s);
    e->pause = e->pause < LONGEST_PAUSE ? 2 * e->pause + 1 : e->pause;
    e->left = e->pause;
    e->guessed = 0;
}

/* f and g of this sweep, and their differences from those before as a new column in place of the oldest. */
static void remember(pgs_extrapolation *e, const pgs *s, double size) {
    int at = e->next, n = e->lanes;
    double *dF = e->dF + (ptrdiff_t)at * n, *dG = e->dG + (ptrdiff_t)at * n;
    for (int k = 0; k < n; k++) {
        dF[k] = e->change[k] - e->f[k];
        dG[k] = s->gamma[k] - e->g[k];
        e->f[k] = e->change[k];
        e->g[k] = s->gamma[k];
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
static int least_squares(const pgs_extrapolation *e, double *theta) {
    int n = e->columns;
    double L[PGS_WINDOW][PGS_WINDOW];
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

static void guess(pgs_extrapolation *e, pgs *s) {
    double theta[PGS_WINDOW];
    if (!least_squares(e, theta)) {
        e->columns = e->next = 0;
        return;
    }
    for (int j = 0; j < e->columns; j++) {
        dense_axpy(e->lanes, -theta[j], e->dG + (ptrdiff_t)j * e->lanes, s->gamma);
    }
    for (int i = 0; i < s->n; i++) {
        pgs_project(s, &s->block[i], s->gamma + s->block[i].at);
    }
    pgs_refresh(s);
    e->guessed = 1;
}

void pgs_extrapolation_end(pgs_extrapolation *e, pgs *s) {
    if (e->window == 0) {
        return;
    }
    double size = measure_change(e, s);
    if (e->guessed && !(size <= e->growth * e->size)) {
        take_back(e, s);
        return;
    }
    e->pause = e->guessed ? e->pause / 2 : e->pause;
    e->guessed = 0;
    remember(e, s, size);
    if (e->left > 0) {
        e->left--;
    } else if (e->columns > 0) {
        guess(e, s);
    }
}
