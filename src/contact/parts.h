/* The stage's insides, shared by the files of this room. */
#ifndef CONTACT_PARTS_H
#define CONTACT_PARTS_H

#include "base/arena.h"
#include "contact/stage.h"
#include "math/v3.h"

/* A on the trees of an island. */
typedef struct mass_operator {
    const sim_model *model;
    sim_derived *derived;
    const double *extra;
    double *M, *L;   /* [nl] branch-sparse, of the trees that mass_prepare found small */
    double *x, *y;   /* [nv] work space */
    const int *tree; /* model's tree for each of the island's */
} mass_operator;

sim_mass mass_interface(const mass_operator *mass);
/* For a tree of the model, before its operator is used. */
void mass_prepare(const mass_operator *mass, int model_tree);

typedef struct island {
    sim_problem problem;
    mass_operator mass;
    double *v, *impulse, *shift; /* answers */
    double *R, *target, *R_rigid, *target_rigid;
    int first_constraint, first_tree, first_row, first_v; /* in the lists of all */
    sim_solution solution;
    sim_judgement judgement;
    sim_status failed;
} island;

/* All that is built for one step. */
typedef struct frame {
    const contact_input *in;
    sim_arena *arena;
    int nisland, nconstraint, ntree, nv, nrow;
    island *island;
    int *tree;            /* [ntree] model's tree of each, island by island */
    int *local;           /* [model ntree] its place in its island, -1: untouched */
    int *contact;         /* [nconstraint] the contact that each came from */
    int *tree_a, *tree_b; /* [ncontact] the trees that move A and B, -1: none does */
    sim_constraint *constraint;
    int *row; /* [nconstraint] its first row in the lists of all */
    m3 *axes; /* [nconstraint] t1, t2, n */
    double *gap, *impulse_guess, *J;
    double *v_start, *v_free; /* [nv] packed island by island */
    sim_problem_tree *packed; /* [ntree] their places within the island */
} frame;

/* Which trees hang together: fills tree, local, contact, and of each island its trees, constraints, rows and velocities
 * as counts.  0 without memory. */
int islands_find(frame *f, const sim_model *model, const int *last_dof);

/* Constraints, Jacobians and guesses of the contacts [first, end) of the frame's list. */
void rows_fill(frame *f, const sim_model *model, const int *last_dof, int first, int end);

/* How fast positions must move beyond v_start + travel (v - v_start). */
int touchdown(const island *island, double travel, sim_arena *scratch);

/* All islands as one problem that owns its data. */
sim_problem *whole_problem(const frame *f, const mass_operator *mass, sim_error *error);

#endif
