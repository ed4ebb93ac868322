/* The problem of an island for a set of actuators that are rows, and a part of every restitution.
 *
 *     base (every limited actuator a row, A and v* of free motion)  ->  problem
 *
 * The first constraints are those of `base`, their restitutions times the part.  Of the actuators those that are rows
 * follow, in the island's order; A and v* are without them (actuators.c), R and target as in the full problem.  `base`
 * is only read. Without actuators and with whole restitutions the problem is `base` itself.
 *
 * Cost: one factor of A for every tree with limited actuators, and a solve if any are rows. */
#include "contact/problem/assemble.h"

#include <string.h>

/* The place in `base` of the k-th actuator row; the full problem has them in the order of `base`. */
static int place_in_base(const island *is, bool full, int k) { return full ? k : is->order[k]; }

static void derive_constraints(const assembly *f, island *is, bool full) {
    const sim_constraint *base = is->base.constraint;
    sim_constraint *c = f->constraint_variant + is->first_constraint;
    int first = is->first_actuator;
    for (int i = 0; i < first; i++) {
        c[i] = base[i];
        c[i].restitution = is->restitution * base[i].restitution;
    }
    for (int k = 0; k < is->rows; k++) {
        c[first + k] = base[first + place_in_base(is, full, k)];
        c[first + k].row = base[first + k].row;
    }
    is->problem.constraint = c;
    is->problem.nconstraint = first + is->rows;
}

/* x of the rows of `base` to the rows of the problem. */
static void derive_rows(const island *is, bool full, const double *x, double *to) {
    int first = is->base.nrow - is->actuators;
    memcpy(to, x, (size_t)first * sizeof *x);
    for (int k = 0; k < is->rows; k++) {
        to[first + k] = x[first + place_in_base(is, full, k)];
    }
}

static void derive_variant(assembly *f, island *is, double restitution, int rows, bool full) {
    is->restitution = restitution;
    is->rows = rows;
    is->problem = is->base;
    is->law = is->full_law;
    if (restitution != 1 || is->actuators) {
        derive_constraints(f, is, full);
    }
    if (is->actuators == 0) {
        return;
    }
    /* A and v* without the actuators that are rows */
    actuators_remove_from_mass(f, is);
    actuators_remove_from_v_free(f, is, f->v_free_variant + is->first_v);
    is->problem.v_free = f->v_free_variant + is->first_v;
    /* rows */
    is->problem.nrow = is->base.nrow - is->actuators + rows;
    is->problem.v_guess = is->v_guess;
    is->problem.impulse_guess = f->impulse_variant + is->first_row;
    is->problem.impulse_trend = NULL; /* the guess may be the solution without one of them */
    /* laws read the impulses of the step before, solvers start from the last solution */
    derive_rows(is, full, full ? is->base.impulse_guess : is->impulse_guess, f->impulse_variant + is->first_row);
    if (!full) {
        is->law = is->partial_law;
        derive_rows(is, full, is->full_law.R, is->law.R);
        derive_rows(is, full, is->full_law.target, is->law.target);
        derive_rows(is, full, is->full_law.R_rigid, is->law.R_rigid);
        derive_rows(is, full, is->full_law.target_rigid, is->law.target_rigid);
    }
}

void derive_full_problem(assembly *f, island *is, double restitution) {
    derive_variant(f, is, restitution, is->actuators, true);
}

void derive_problem(assembly *f, island *is, double restitution, int rows) {
    derive_variant(f, is, restitution, rows, false);
}
