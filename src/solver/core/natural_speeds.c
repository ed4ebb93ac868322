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

/* speed <- max(|v*|, |D^2 A v*|) of all dofs; false without memory. */
static bool eval_dof_speeds(const sim_problem *p, sim_arena *scratch, double *speed) {
    problem_mass_times(p, p->v_free, speed);
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        size_t mark = arena_mark(scratch);
        double *A = arena_alloc(scratch, (size_t)n * (size_t)n, sizeof *A);
        if (!A) {
            return false;
        }
        p->mass.matrix(p->mass.self, t, A);
        for (int j = 0; j < n; j++) {
            speed[v0 + j] = fmax(fabs(p->v_free[v0 + j]), fabs(speed[v0 + j]) / A[(size_t)j * (size_t)(n + 1)]);
        }
        arena_release(scratch, mark);
    }
    return true;
}

double *natural_speeds(const sim_problem *p, sim_arena *scratch) {
    /* memory; local problems know no velocities */
    double *square = ARENA_NEW(scratch, double, p->nconstraint);
    size_t mark = arena_mark(scratch);
    double *of_dofs = ARENA_NEW(scratch, double, p->nv), *of_rows = ARENA_NEW(scratch, double, p->nrow);
    if (!square || !of_dofs || !of_rows) {
        return NULL;
    }
    memset(square, 0, (size_t)p->nconstraint * sizeof *square);
    if (sim_problem_local(p)) {
        return square;
    }
    /* |J| max(|v*|, |D^2 A v*|) + |w| of the rows, and sums of its squares */
    if (!eval_dof_speeds(p, scratch, of_dofs)) {
        return NULL;
    }
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
