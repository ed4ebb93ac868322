/* Degrees of freedom that move no mass.
 *
 *     M = L' D L,   D_k <= 8 eps M_kk   or   D_k <= 1e-14 max M_jj of the dofs j of the same body and unit
 *
 * D_k is the inertia that moves with dof k while all dofs beyond it give way, kg or kg m^2.  Bodies without mass may
 * move as long as they carry bodies with mass.  Point masses may move as long as they turn about axes that they are
 * not on.
 *
 * Reference: Featherstone 2008, sections 6.5 and 7.3.  Cost: that of a mass matrix and its factor. */
#include <sim/dynamics.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double MIN_RELATIVE_INERTIA = 1e-14;

/* The greatest diagonal element among the dofs of the same body that have the same unit. */
static double greatest_beside(const sim_model *m, const double *diagonal, int k) {
    const sim_body *b = &m->body[m->dof[k].body];
    double most = 0;
    for (int j = b->v0; j < b->v0 + b->nv; j++) {
        most = m->dof[j].slides == m->dof[k].slides ? fmax(most, diagonal[j]) : most;
    }
    return most;
}

static bool is_massless(const sim_model *m, const double *diagonal, int k, double D) {
    double least = fmax(8 * DBL_EPSILON * diagonal[k], MIN_RELATIVE_INERTIA * greatest_beside(m, diagonal, k));
    return !(D > least);
}

sim_status sim_massless_dof(sim_derived *d, const double *q, int *dof) {
    const sim_model *m = d->model;
    double *M = malloc(((size_t)m->nl + (size_t)m->nv + 1) * sizeof *M);
    if (!M) {
        return SIM_NO_RESOURCE;
    }
    /* mass matrix, its diagonal, its factor */
    double *diagonal = M + m->nl;
    sim_kinematics(d, sim_all(m), q);
    sim_crba(d, sim_all(m), NULL, NULL, M);
    for (int k = 0; k < m->nv; k++) {
        diagonal[k] = M[m->dof[k].row + m->dof[k].depth - 1];
    }
    sim_ltdl(m, sim_all(m), M);
    /* the first pivot that is nothing; the factor holds 1/D */
    *dof = -1;
    for (int k = 0; k < m->nv && *dof < 0; k++) {
        double D = 1 / M[m->dof[k].row + m->dof[k].depth - 1];
        *dof = is_massless(m, diagonal, k, D) ? k : -1;
    }
    free(M);
    return SIM_OK;
}
