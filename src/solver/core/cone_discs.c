/* Contact with friction, rolling and torsion: projection on the intersection of cones, and its derivative.
 *
 *     K = { g : |g_k| <= mu_k g_n for each disc k },     K* = { s : s_n >= sum mu_k |s_k| }
 *
 * The point of K nearest to y in the norm of R (equal within a disc) has g_k nearest to y_k within its disc, and
 *
 *     g_n = (R_n y_n + sum_S R_k mu_k |y_k|) / D,   D = R_n + sum_S R_k mu_k^2,   S = { k : |y_k| > mu_k g_n },
 *
 * or g = 0 where R_n y_n + sum R_k mu_k |y_k| <= 0.  From all discs and up, g_n rises and discs leave S, each once: the
 * residual is concave in g_n, so this is Newton's method from below.  With t_k = y_k / |y_k|, a = n + sum_S mu_k t_k:
 *
 *     G = -dg/du = a a' / D + sum_S mu_k g_n / (R_k |y_k|) b_k b_k' + sum of 1 / R_k over the rows of other discs
 *
 * b_k is across t_k in its disc; torsion, a disc of one row, has none.  The strict law has G = a n' / R_n + ..., with
 * g_n = max(0, y_n).  A disc without a bound (mu_k = 0) gives nothing and has no part in G.
 *
 * References: Acary, Bourrier 2021 (the cone, and its dual); Castro, Permenter, Han 2021, appendix C (one disc). */
#include "solver/core/cone_discs.h"

#include <math.h>

static double disc_norm(const sim_disc *disc, const double *y) {
    return disc->rows == 2 ? sqrt(y[disc->row] * y[disc->row] + y[disc->row + 1] * y[disc->row + 1])
                           : fabs(y[disc->row]);
}

double discs_lift(const sim_constraint *c, const double *s) {
    sim_disc disc[SIM_MAX_DISCS];
    double sum = 0;
    for (int k = 0, count = sim_contact_discs(c, disc); k < count; k++) {
        sum += disc[k].bound * disc_norm(&disc[k], s);
    }
    return sum;
}

double discs_project_normal(const sim_constraint *c, const double *R, const double *y, unsigned *sliding) {
    /* all discs with a bound */
    sim_disc disc[SIM_MAX_DISCS];
    int count = sim_contact_discs(c, disc);
    double size[SIM_MAX_DISCS];
    *sliding = 0;
    for (int k = 0; k < count; k++) {
        size[k] = disc_norm(&disc[k], y);
        *sliding |= disc[k].bound > 0 && size[k] > 0 ? 1u << k : 0;
    }
    /* those that g_n overtakes leave */
    for (;;) {
        double top = R[2] * y[2], D = R[2], g;
        for (int k = 0; k < count; k++) {
            double part = *sliding >> k & 1 ? R[disc[k].row] * disc[k].bound : 0;
            top += part * size[k];
            D += part * disc[k].bound;
        }
        if (!(top > 0)) {
            *sliding = 0;
            return 0;
        }
        g = *sliding ? top / D : y[2];
        unsigned left = *sliding;
        for (int k = 0; k < count; k++) {
            left &= size[k] > disc[k].bound * g ? ~0u : ~(1u << k);
        }
        if (left == *sliding) {
            return g;
        }
        *sliding = left;
    }
}

/* g_k nearest to y_k within discs of radius mu_k g_n. */
static void fill_discs(const sim_disc *disc, int count, unsigned sliding, const double *y, double normal, double *g) {
    for (int k = 0; k < count; k++) {
        double part = sliding >> k & 1                  ? disc[k].bound * normal / disc_norm(&disc[k], y)
                      : disc[k].bound > 0 && normal > 0 ? 1
                                                        : 0;
        for (int r = disc[k].row; r < disc[k].row + disc[k].rows; r++) {
            g[r] = part * y[r];
        }
    }
    g[2] = normal;
}

void discs_project(const sim_constraint *c, const double *R, const double *y, double *g) {
    sim_disc disc[SIM_MAX_DISCS];
    unsigned sliding;
    int count = sim_contact_discs(c, disc);
    double normal = discs_project_normal(c, R, y, &sliding);
    fill_discs(disc, count, sliding, y, normal, g);
}

void discs_project_evenly(const sim_constraint *c, double *y) {
    static const double one[SIM_MAX_ROWS] = {1, 1, 1, 1, 1, 1};
    discs_project(c, one, y, y);
}

void discs_set_sliding(cone_hessian *G, const sim_disc *disc, int k, const double *t, double across) {
    double *unit = k == 0 ? G->t : &G->turn[disc->row - SIM_CONTACT_ROWS];
    G->sliding |= 1 << k;
    unit[0] = t[0];
    G->weight[disc->row] = 0;
    if (disc->rows == 2) {
        unit[1] = t[1];
        G->weight[disc->row + 1] = across;
    }
}

double discs_project_convex(const sim_constraint *c, const double *R, const double *y, double *gamma, cone_hessian *G) {
    /* nearest point */
    sim_disc disc[SIM_MAX_DISCS];
    unsigned sliding;
    int count = sim_contact_discs(c, disc);
    double normal = discs_project_normal(c, R, y, &sliding), D = R[2], cost = 0;
    *G = (cone_hessian){0};
    fill_discs(disc, count, sliding, y, normal, gamma);
    /* its derivative, disc by disc */
    for (int k = 0; k < count && normal > 0; k++) {
        const double *of = y + disc[k].row;
        if (sliding >> k & 1) {
            double size = disc_norm(&disc[k], y), over_R = 1 / R[disc[k].row];
            double t[2] = {of[0] / size, disc[k].rows == 2 ? of[1] / size : 0};
            discs_set_sliding(G, &disc[k], k, t, disc[k].bound * normal * over_R / size);
            D += R[disc[k].row] * disc[k].bound * disc[k].bound;
        } else if (disc[k].bound > 0) {
            for (int r = disc[k].row; r < disc[k].row + disc[k].rows; r++) {
                G->weight[r] = 1 / R[r];
            }
        }
    }
    G->weight[2] = normal > 0 ? 1 / D : 0;
    for (int r = 0; r < c->rows; r++) {
        cost += 0.5 * R[r] * gamma[r] * gamma[r];
    }
    return cost;
}

int discs_vectors(const sim_constraint *c, const cone_hessian *G, double vector[][SIM_MAX_ROWS], double *weight) {
    sim_disc disc[SIM_MAX_DISCS];
    int count = sim_contact_discs(c, disc), n = 0;
    /* a, or n where nothing slides */
    if (G->weight[2] > 0) {
        for (int r = 0; r < SIM_MAX_ROWS; r++) {
            vector[0][r] = r == 2;
        }
        weight[n++] = G->weight[2];
    }
    for (int k = 0; k < count; k++) {
        const double *t = k == 0 ? G->t : &G->turn[disc[k].row - SIM_CONTACT_ROWS];
        bool slides = G->sliding >> k & 1;
        for (int r = 0; r < disc[k].rows; r++) {
            /* unit vectors of rows, or b */
            double w = G->weight[disc[k].row + r];
            if (slides && G->weight[2] > 0) {
                vector[0][disc[k].row + r] = disc[k].bound * t[r];
            }
            if (w > 0) {
                for (int i = 0; i < SIM_MAX_ROWS; i++) {
                    vector[n][i] = 0;
                }
                vector[n][disc[k].row] = slides ? -t[1] : r == 0;
                if (disc[k].rows == 2) {
                    vector[n][disc[k].row + 1] = slides ? t[0] : r == 1;
                }
                weight[n++] = w;
            }
        }
    }
    return n;
}

double discs_curvature(const sim_constraint *c, const cone_hessian *G, const double *du) {
    double vector[SIM_MAX_ROWS][SIM_MAX_ROWS], weight[SIM_MAX_ROWS], sum = 0;
    for (int k = 0, count = discs_vectors(c, G, vector, weight); k < count; k++) {
        double along = 0;
        for (int r = 0; r < c->rows; r++) {
            along += vector[k][r] * du[r];
        }
        sum += weight[k] * along * along;
    }
    return sum;
}

void discs_times(const sim_constraint *c, const cone_hessian *G, bool strict, const double *x, double *y) {
    double vector[SIM_MAX_ROWS][SIM_MAX_ROWS], weight[SIM_MAX_ROWS];
    for (int r = 0; r < c->rows; r++) {
        y[r] = 0;
    }
    for (int k = 0, count = discs_vectors(c, G, vector, weight); k < count; k++) {
        bool normal = vector[k][2] != 0;
        double along = normal && strict ? x[2] : 0;
        for (int r = 0; r < c->rows && !(normal && strict); r++) {
            along += vector[k][r] * x[r];
        }
        for (int r = 0; r < c->rows; r++) {
            y[r] += weight[k] * along * vector[k][r];
        }
    }
}
