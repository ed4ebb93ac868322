/* Residual E of the law that is solved, from the present velocities (natural_map.c).
 *
 * The pyramid of pgs_solve_pyramid has the nested projection in place of the Euclidean one, and no shift mu |s_t|. */
#include "solver/core/natural_map.h"
#include "solver/gauss_seidel/pgs.h"

#include <math.h>

/* |gamma - P(gamma - rho s)|^2 with the nested projection on the pyramid. */
static double pyramid_map(const pgs *p, const pgs_block *b, double rho, const double *s, const double *gamma) {
    double y[SIM_MAX_ROWS], sum = 0;
    for (int k = 0; k < b->rows; k++) {
        y[k] = gamma[k] - rho * s[k];
    }
    pgs_project(p, b, y);
    for (int k = 0; k < b->rows; k++) {
        sum += (gamma[k] - y[k]) * (gamma[k] - y[k]);
    }
    return sum;
}

double pgs_residual(const pgs *p, double *excess) {
    natural_sum sum = {0};
    double s[PGS_WIDEST];
    for (int i = 0; i < p->n; i++) {
        const pgs_block *b = &p->block[i];
        const double *gamma = p->gamma + b->at, *q = p->q + b->at;
        pgs_velocity(p, b, s);
        if (p->pyramid && b->kind == SIM_CONTACT) {
            natural_add_maps(&sum, b->rows, b->rho_E, p->n2[i], pyramid_map(p, b, b->rho_E, s, gamma),
                             pyramid_map(p, b, 1, s, gamma), q, s, gamma);
        } else {
            natural_add(&sum, &p->problem->constraint[i], p->problem->step, b->rho_E, p->n2[i], q, s, gamma);
        }
    }
    *excess = p->size_q > 0 ? fmax(1, sqrt(sum.s) / p->size_q) : 1;
    return natural_error(&sum);
}
