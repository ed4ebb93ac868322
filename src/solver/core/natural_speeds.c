/* Speeds by which the velocities of a problem round, for the floor of E.
 *
 *     n_i^2 = sum over the rows of i of (|J| max(|v*|, |D^2 A v*|) + |w|)^2,    D = diag(A)^-1/2
 *
 * v*: free motion, A: mass matrix.  v* solves A v* = p, and p_j rounds by a part of itself: a velocity v*_j is known to
 * that part of p_j / A_jj.  A joint at rest in a robot that falls is such a velocity.
 *
 * Departure: the diagonal of A stands for its inverse.  Cost: a product with A, and one with J. */
#include "solver/core/natural_map.h"
#include "solver/core/products.h"

#include <math.h>
#include <string.h>

/* speed <- max(|v*|, |D^2 A v*|) of all dofs; `diagonal` [nv] is overwritten. */
static void eval_dof_speeds(const sim_problem *p, double *diagonal, double *speed) {
    problem_mass_times(p, p->v_free, speed);
    for (int t = 0; t < p->ntree; t++) {
        p->mass.diagonal(p->mass.self, t, diagonal + p->tree[t].v0);
    }
    for (int j = 0; j < p->nv; j++) {
        speed[j] = fmax(fabs(p->v_free[j]), fabs(speed[j]) / diagonal[j]);
    }
}

double *squared_natural_speeds(const sim_problem *p, sim_arena *scratch) {
    /* memory; local problems know no velocities */
    double *square = ARENA_NEW(scratch, double, p->nconstraint);
    size_t mark = arena_mark(scratch);
    double *of_dofs = ARENA_NEW(scratch, double, p->nv), *diagonal = ARENA_NEW(scratch, double, p->nv),
           *of_rows = ARENA_NEW(scratch, double, p->nrow);
    if (!square || !of_dofs || !diagonal || !of_rows) {
        return NULL;
    }
    memset(square, 0, (size_t)p->nconstraint * sizeof *square);
    if (sim_problem_local(p)) {
        return square;
    }
    /* |J| max(|v*|, |D^2 A v*|) + |w| of the rows, and sums of its squares */
    eval_dof_speeds(p, diagonal, of_dofs);
    problem_velocity_size(p, of_dofs, of_rows);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            square[i] += of_rows[k] * of_rows[k];
        }
    }
    arena_release(scratch, mark);
    return square;
}
