/* Scales of the state for Anderson acceleration: differences of states are compared as energies.
 *
 *     x_j:      sqrt(K_jj) = sqrt(A_jj + kappa C_jj)   (unsplit: sqrt(A_jj))
 *     lambda:   sqrt(zeta) = sqrt(slack / kappa) */
#include "linalg/dense/strip.h"
#include "solver/subadmm/articulated.h"
#include "solver/subadmm/lanes/batch_kernels.h"

#include <math.h>
#include <string.h>

static void scale_lanes(const subadmm *s, double *scale) {
    const admm_lanes *l = &s->lanes;
    for (int row = 0; row < LANES * l->solved_batches; row++) {
        const admm_bodies *b = &l->bodies[row / LANES];
        for (int k = 0; k < 6; k++) {
            int at = k * (k + 3) / 2;
            scale[l->row - s->state + LANES * row + k] = sqrt(b->A[at][row % LANES] + s->kappa * b->C[at][row % LANES]);
        }
    }
    for (int k = 0; k < l->contact_batches; k++) {
        double *to = scale + (l->lambda - s->state) + (ptrdiff_t)3 * LANES * k;
        for (int j = 0; j < 3 * LANES; j++) {
            to[j] = sqrt(l->contacts[k].zeta[j % LANES]);
        }
    }
}

static double stiffness_of_dof(const subadmm *s, const subadmm_tree *t, int j) {
    if (t->form == SUBADMM_ARTICULATED) {
        return subadmm_stiffness_articulated(t, t->v0 + j);
    }
    if (t->form == SUBADMM_BATCHED) {
        return subadmm_stiffness_batched(s, t, j);
    }
    ptrdiff_t at = (ptrdiff_t)j * (strip_stride(t->nv) + 1);
    if (t->form == SUBADMM_BRANCH) {
        at = s->bodies.row[t->v0 + j] + s->bodies.depth[t->v0 + j] - 1;
    }
    return t->A[at] + s->kappa * t->C[at];
}

void subadmm_set_scale(const subadmm *s, anderson *e) {
    double *scale = e->scale;
    if (e->window == 0) {
        return;
    }
    memset(scale, 0, (size_t)e->n * sizeof *scale);
    scale_lanes(s, scale);
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        double *to = scale + (t->form == SUBADMM_ROW ? s->lanes.row - s->state + LANES * s->lanes.row_of[t->lane]
                                                     : s->x - s->state + t->v0);
        for (int j = 0; j < t->nv && t->form != SUBADMM_LANE; j++) {
            to[j] = s->split == SUBADMM_NONE ? s->size[t->v0 + j] : sqrt(stiffness_of_dof(s, t, j));
        }
    }
    for (int r = 0; r < s->problem->nrow && s->beside; r++) {
        scale[s->lambda - s->state + r] = sqrt(s->slack[r] / s->kappa);
    }
}
