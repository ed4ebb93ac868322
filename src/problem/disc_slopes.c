/* Slopes of the impulse of a contact that resists turning: friction, rolling and torsion, R > 0.
 *
 *     z_k, r_k = |z_k|, t_k = z_k / r_k     rows of disc k;  mu_k: its bound over g_n;  R_k: of its rows
 *     open          z_n + sum mu_k r_k <= 0 (convex), z_n <= 0 (strict)       gamma = 0
 *     S             discs that slide, r_k / R_k > mu_k g_n
 *     convex        g_n = (z_n + sum_S mu_k r_k) / D,   D = R_n + sum_S mu_k^2 R_k
 *     strict        g_n = z_n / R_n
 *     disc k        gamma_k = mu_k g_n t_k in S, else z_k / R_k;  0 where mu_k = 0
 *
 *     dgamma_k = mu_k t_k dg_n + mu_k g_n / r_k (1 - t_k t_k') dz_k + t_k g_n dmu_k     in S
 *
 * From all discs and up, g_n rises and discs leave S, each once.
 * Reference: src/solver/core/cone_discs.c; impulse_slopes.c.  Cost: some fifty operations a contact. */
#include "problem/law_slopes.h"

#include <math.h>

static const double KINK_WIDTH = 1e-9; /* relative distance from the end of a piece of the law */

/* A contact at z: its discs, and the piece. */
typedef struct disc_point {
    const sim_constraint *c;
    const double *z, *R;
    int count;
    sim_disc disc[SIM_MAX_DISCS];
    double size[SIM_MAX_DISCS]; /* r_k */
    bool slides[SIM_MAX_DISCS], convex;
    double normal, D; /* g_n, and its divisor */
} disc_point;

static double disc_size(const sim_disc *disc, const double *z) {
    return disc->rows == 2 ? hypot(z[disc->row], z[disc->row + 1]) : fabs(z[disc->row]);
}

/* g_n and S. */
static void find_piece(disc_point *p) {
    for (int k = 0; k < p->count; k++) {
        p->slides[k] = p->disc[k].bound > 0 && p->size[k] > 0;
    }
    for (bool left = true; left;) {
        double top = p->z[2];
        p->D = p->R[2];
        for (int k = 0; k < p->count && p->convex; k++) {
            double mu = p->slides[k] ? p->disc[k].bound : 0;
            top += mu * p->size[k];
            p->D += mu * mu * p->R[p->disc[k].row];
        }
        p->normal = fmax(top / p->D, 0);
        left = false;
        for (int k = 0; k < p->count && p->normal > 0; k++) {
            if (p->slides[k] && p->size[k] <= p->disc[k].bound * p->normal * p->R[p->disc[k].row]) {
                p->slides[k] = false;
                left = true;
            }
        }
    }
}

/* The unit vector of a disc over all rows. */
static void spread_unit(const disc_point *p, int k, double t[SIM_MAX_ROWS]) {
    for (int r = 0; r < SIM_MAX_ROWS; r++) {
        bool own = r >= p->disc[k].row && r < p->disc[k].row + p->disc[k].rows;
        t[r] = own ? p->z[r] / p->size[k] : 0;
    }
}

/* Those of g_n; `by_R` of a disc stands at its first row. */
static void normal_slopes(const disc_point *p, impulse_slopes *out) {
    double n = p->normal, t[SIM_MAX_ROWS];
    out->G[2][2] = 1 / p->D;
    out->by_R[2][2] = -n / p->D;
    for (int k = 0; k < p->count && p->convex; k++) {
        double mu = p->disc[k].bound;
        int row = p->disc[k].row;
        if (p->slides[k]) {
            spread_unit(p, k, t);
            for (int r = row; r < row + p->disc[k].rows; r++) {
                out->G[2][r] = mu * t[r] / p->D;
            }
            out->by_R[2][row] = -n * mu * mu / p->D;
            out->by_friction[2] += k == 0 ? (p->size[0] - 2 * mu * p->R[0] * n) / p->D : 0;
        }
    }
}

static void slide_disc(const disc_point *p, int k, impulse_slopes *out) {
    double mu = p->disc[k].bound, n = p->normal, t[SIM_MAX_ROWS];
    int row = p->disc[k].row, end = row + p->disc[k].rows;
    spread_unit(p, k, t);
    for (int r = row; r < end; r++) {
        for (int by = 0; by < p->c->rows; by++) {
            out->G[r][by] = mu * t[r] * out->G[2][by];
            out->by_R[r][by] = mu * t[r] * out->by_R[2][by];
        }
        for (int by = row; by < end; by++) {
            out->G[r][by] += mu * n / p->size[k] * ((r == by) - t[r] * t[by]);
        }
        out->by_friction[r] = t[r] * (mu * out->by_friction[2] + (k == 0 ? n : 0));
    }
}

static void find_kinks(const disc_point *p, double near, impulse_slopes *out) {
    double lift = p->z[2], reach = near;
    for (int k = 0; k < p->count; k++) {
        double mu = p->disc[k].bound, R = p->R[p->disc[k].row], edge = mu * p->normal;
        double across = near * hypot(1 / R, mu / p->R[2]);
        lift += p->convex ? mu * p->size[k] : 0;
        reach += p->convex ? mu * near : 0;
        out->kink |= mu > 0 && fabs(p->size[k] / R - edge) <= fmax(across, KINK_WIDTH * edge);
    }
    out->kink |= fabs(lift) <= fmax(reach, KINK_WIDTH * fabs(p->z[2]));
}

void law_disc_slopes(const sim_constraint *c, sim_cone cone, const double *z, const double *R, double near,
                     impulse_slopes *out) {
    /* the piece; then its slopes, disc by disc */
    disc_point p = {.c = c, .z = z, .R = R, .convex = cone == SIM_CONE_CONVEX};
    p.count = sim_contact_discs(c, p.disc);
    for (int k = 0; k < p.count; k++) {
        p.size[k] = disc_size(&p.disc[k], z);
    }
    find_piece(&p);
    find_kinks(&p, near, out);
    if (p.normal == 0) {
        return;
    }
    normal_slopes(&p, out);
    for (int k = 0; k < p.count; k++) {
        if (p.slides[k]) {
            slide_disc(&p, k, out);
        } else if (p.disc[k].bound > 0) {
            for (int r = p.disc[k].row; r < p.disc[k].row + p.disc[k].rows; r++) {
                out->G[r][r] = 1 / R[r];
                out->by_R[r][r] = -z[r] / (R[r] * R[r]);
            }
        }
    }
}
