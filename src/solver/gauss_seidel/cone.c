/* Exact solution of one contact with Coulomb friction, with all others fixed.
 *
 * s = K g + b with a general 3 x 3 block K; Signorini's and Coulomb's laws allow one of
 *
 *     open    g = 0                      where b_n >= 0
 *     stick   g = -K^-1 b                where |g_t| <= mu g_n
 *     slide   s_n = 0,  s_t = -lambda g_t,  |g_t| = mu g_n,  lambda >= 0.
 *
 * For sliding, elimination of g_n and then g_t,
 *
 *     S = K_tt - K_tn K_nt / K_nn,   c = b_t - K_tn b_n / K_nn,
 *     g_t(lambda) = -(S + lambda)^-1 c,   g_n(lambda) = -(b_n + K_nt g_t(lambda)) / K_nn,
 *
 * leaves one equation for the multiplier lambda (a quartic, if multiplied out),
 *
 *     psi(lambda) = mu g_n(lambda) / |g_t(lambda)| - 1 = 0,
 *
 * nearly linear in lambda, as the secular equation of a trust region is.  psi(0) < 0, or the contact sticks; for b_n <
 * 0, psi > 0 where |c| (1 + mu |K_nt| / K_nn) < -lambda mu b_n / K_nn, because |g_t| <= |c| / lambda.  So a root lies
 * in between for every K with K_nn > 0, symmetric or not, and every mu.  Newton's method finds it within the bracket.
 * If several solutions exist (large mu, strong coupling), open comes before stick, and stick before slide.
 *
 * A contact that resists turning has these three rows and its other discs solved in turns, each exactly, until they no
 * longer change. For a disc of radius r = mu_k g_n the same equation holds with m = 0.
 * Reference: More, Sorensen 1983 (secular equation). */
#include "solver/gauss_seidel/pgs.h"

#include <float.h>
#include <math.h>

enum { MAX_NEWTON_STEPS = 60 };

typedef struct slide {
    double S[4], c[2]; /* tangential problem */
    double r, m[2];    /* mu g_n = r + m . g_t */
    double g[2];       /* at the last lambda */
} slide;

static double slide_norm(const double x[2]) { return sqrt(x[0] * x[0] + x[1] * x[1]); }

static slide eliminate_normal(const double *K, double mu, const double b[3]) {
    double w = 1 / K[8];
    slide e = {.r = -mu * b[2] * w};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            e.S[2 * i + j] = K[3 * i + j] - K[3 * i + 2] * K[6 + j] * w;
        }
        e.c[i] = b[i] - K[3 * i + 2] * b[2] * w;
        e.m[i] = -mu * K[6 + i] * w;
    }
    return e;
}

/* psi and its derivative; NAN where S + lambda is singular: K is indefinite by rounding. */
static double eval_secular(slide *e, double lambda, double *derivative) {
    double a = e->S[0] + lambda, d = e->S[3] + lambda, det = a * d - e->S[1] * e->S[2];
    if (!(det > 0)) {
        return NAN;
    }
    double *g = e->g;
    g[0] = (e->S[1] * e->c[1] - d * e->c[0]) / det;
    g[1] = (e->S[2] * e->c[0] - a * e->c[1]) / det;
    double x = (e->S[1] * g[1] - d * g[0]) / det, y = (e->S[2] * g[0] - a * g[1]) / det; /* g' = -(S + lambda)^-1 g */
    double square = g[0] * g[0] + g[1] * g[1], size = sqrt(square), r = e->r + e->m[0] * g[0] + e->m[1] * g[1];
    *derivative = (e->m[0] * x + e->m[1] * y - r * (g[0] * x + g[1] * y) / square) / size;
    return r / size - 1;
}

/* Root of psi, from *lambda if that is within the bracket; false on overflow. */
static bool find_multiplier(slide *e, double *lambda) {
    double size_c = slide_norm(e->c);
    double low = 0, high = size_c * (1 + slide_norm(e->m)) / e->r, x = *lambda, derivative = NAN;
    if (!(high < DBL_MAX)) {
        return false;
    }
    x = x > low && x < high ? x : fmin(size_c / e->r, high);
    for (int step = 0; step < MAX_NEWTON_STEPS; step++) {
        double psi = eval_secular(e, x, &derivative), next;
        if (psi > 0) {
            high = x;
        } else {
            low = x;
        }
        next = x - psi / derivative;
        next = next > low && next < high ? next : 0.5 * (low + high); /* also where it is NAN */
        if (fabs(psi) <= 4 * DBL_EPSILON || fabs(next - x) <= DBL_EPSILON * x) {
            break;
        }
        x = next;
    }
    *lambda = x;
    return true;
}

static void solve_slide(pgs_block *contact, const double b[3], double *g) {
    double w = 1 / contact->K[8], mu = contact->limit;
    slide e = eliminate_normal(contact->K, mu, b);
    g[0] = g[1] = 0;
    g[2] = -b[2] * w;
    if (!(mu > 0) || !find_multiplier(&e, &contact->multiplier)) {
        return;
    }
    double size = slide_norm(e.g), limit = e.r + e.m[0] * e.g[0] + e.m[1] * e.g[1];
    g[2] = fmax(0, limit / mu);
    for (int k = 0; k < 2 && size > 0; k++) {
        g[k] = e.g[k] * (mu * g[2] / size); /* on the cone to rounding */
    }
}

void pgs_solve_contact(pgs_block *contact, const double *s, double *g) {
    const double *K = contact->K, *I = contact->inverse;
    double mu = contact->limit, b[3], stick[3];
    for (int k = 0; k < 3; k++) {
        b[k] = s[k] - (K[3 * k] * g[0] + K[3 * k + 1] * g[1] + K[3 * k + 2] * g[2]);
        stick[k] = g[k] - (I[3 * k] * s[0] + I[3 * k + 1] * s[1] + I[3 * k + 2] * s[2]);
    }
    if (!(b[2] < 0) || !(K[8] > 0)) {
        g[0] = g[1] = g[2] = 0;
    } else if (stick[2] >= 0 && stick[0] * stick[0] + stick[1] * stick[1] <= mu * mu * stick[2] * stick[2]) {
        g[0] = stick[0];
        g[1] = stick[1];
        g[2] = stick[2];
    } else {
        solve_slide(contact, b, g);
    }
    if (!isfinite(g[0] + g[1] + g[2])) { /* overflow */
        g[0] = g[1] = g[2] = 0;
    }
}

/* ---- contacts that resist turning ---- */

enum { MAX_ROUNDS = 60 };
static const double ROUND_CHANGE = 1e-15; /* of the impulse in a round, relative: the discs agree */

/* The block of three rows, with its inverse by the adjugate. */
static void take_first_rows(const pgs_block *b, double *K, double *inverse) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[3 * i + j] = b->K[i * b->rows + j];
        }
    }
    double minor[9], det = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, t = (j + 2) % 3, u = (i + 1) % 3, w = (i + 2) % 3;
            minor[3 * i + j] = K[3 * r + u] * K[3 * t + w] - K[3 * r + w] * K[3 * t + u];
        }
    }
    det = K[0] * minor[0] + K[1] * minor[3] + K[2] * minor[6];
    for (int k = 0; k < 9; k++) {
        inverse[k] = det != 0 ? minor[k] / det : 0;
    }
}

/* The impulse of a disc within `radius` that opposes s, from g and s. */
static void solve_disc(const pgs_block *b, const sim_disc *disc, double radius, const double *s, double *g) {
    const double *K = b->K + disc->row * (b->rows + 1);
    double *at = g + disc->row;
    const double *moves = s + disc->row;
    if (!(radius > 0) || !(K[0] > 0)) {
        at[0] = 0;
        at[disc->rows - 1] = 0;
        return;
    }
    if (disc->rows == 1) {
        at[0] = fmin(fmax(at[0] - moves[0] / K[0], -radius), radius);
        return;
    }
    slide e = {.S = {K[0], K[1], K[b->rows], K[b->rows + 1]}, .r = radius};
    for (int k = 0; k < 2; k++) {
        e.c[k] = moves[k] - e.S[2 * k] * at[0] - e.S[2 * k + 1] * at[1];
    }
    /* sticks: S g = -c within the disc; slides: on its edge */
    double lambda = 0, derivative, psi = eval_secular(&e, 0, &derivative);
    if (psi >= 0 || slide_norm(e.c) == 0) {
        at[0] = slide_norm(e.c) == 0 ? 0 : e.g[0];
        at[1] = slide_norm(e.c) == 0 ? 0 : e.g[1];
    } else if (find_multiplier(&e, &lambda)) {
        double size = slide_norm(e.g);
        at[0] = size > 0 ? e.g[0] * (radius / size) : 0;
        at[1] = size > 0 ? e.g[1] * (radius / size) : 0;
    }
}

/* s += K (g - old); |g - old|^2 over |g|^2. */
static double move_velocities(const pgs_block *b, int first, int rows, const double *old, const double *g, double *s) {
    double change2 = 0, size2 = 0;
    for (int k = 0; k < b->rows; k++) {
        size2 += g[k] * g[k];
    }
    for (int k = first; k < first + rows; k++) {
        double change = g[k] - old[k];
        change2 += change * change;
        for (int i = 0; i < b->rows; i++) {
            s[i] += b->K[i * b->rows + k] * change;
        }
    }
    return size2 > 0 ? change2 / size2 : 0;
}

void pgs_solve_turning(pgs_block *b, const double *start, double *g) {
    double K[9], inverse[9], s[SIM_MAX_ROWS], old[SIM_MAX_ROWS];
    sim_disc disc[SIM_MAX_DISCS];
    int count = sim_contact_discs(b->turning, disc);
    pgs_block pressing = {.limit = b->limit, .multiplier = b->multiplier, .K = K, .inverse = inverse};
    take_first_rows(b, K, inverse);
    for (int k = 0; k < b->rows; k++) {
        s[k] = start[k];
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        /* normal and friction, then each of the other discs */
        for (int k = 0; k < b->rows; k++) {
            old[k] = g[k];
        }
        pgs_solve_contact(&pressing, s, g);
        double change = move_velocities(b, 0, 3, old, g, s);
        for (int k = 1; k < count; k++) {
            solve_disc(b, &disc[k], disc[k].bound * g[2], s, g);
            change = fmax(change, move_velocities(b, disc[k].row, disc[k].rows, old, g, s));
        }
        if (!(change > ROUND_CHANGE * ROUND_CHANGE)) {
            break;
        }
    }
    b->multiplier = pressing.multiplier;
}
