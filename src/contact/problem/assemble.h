/* From what acts in a step to the problems of its islands, and the problems derived from them. */
#ifndef CONTACT_PROBLEM_ASSEMBLE_H
#define CONTACT_PROBLEM_ASSEMBLE_H

#include "contact/problem/row/row.h"

/* Contacts, ends of ranges in reach, dry friction and equalities, and limited actuators of the trees they touch. */
sim_status active_set_find(assembly *f);

/* ---- limited actuators ---- */

/* J, gap and warm start, as `rows_of_joint` has them. */
void rows_of_actuator(assembly *f, const sim_model *model, int constraint);
sim_constraint actuator_constraint(const assembly *f, const sim_model *m, const contact_actuator *actuator);
/* The force, N or N m, of the k-th row among those of actuators, with this impulse, to its place in the model's order. */
void actuator_scatter(const assembly *f, const island *is, int k, double impulse, double *effort);
/* Is the k-th row among those of actuators in no free motion, but in the forces that the next step begins with? */
bool actuator_is_held(const assembly *f, const island *is, int k);
/* v* without the actuators that are rows, into v; A is that of the derived problem. */
void actuators_remove_from_v_free(const assembly *f, const island *is, double *v);
/* The diagonal of A without the actuators that are rows, into `extra`. */
void actuators_remove_from_mass(assembly *f, const island *is);
/* How many come first in the order as rows: those that the last step left on another side than free motion has them. */
int actuators_predict_rows(const assembly *f, island *is);
/* How many join them: those that the solution drives off their side.  The solution becomes the warm start if any do. */
int actuators_add_crossed(const assembly *f, island *is);

/* ---- problems derived from `base` ---- */

/* The problem with that part of every restitution and every actuator a row; R and target follow from it (full_law).
 * Then those with the first `rows` of the island's order.  The problem derived before is no longer valid: both share
 * the factors of A. */
void derive_full_problem(assembly *f, island *is, double restitution);
void derive_problem(assembly *f, island *is, double restitution, int rows);

/* ---- bodies and positions, for solvers that ask for them ---- */

/* Memory of the bodies of every island's trees.  Their numbers: at once, or when a solver first asks, after the rows. */
sim_status bodies_lay_out(assembly *f, const sim_model *model);
void bodies_fill(island *is);
/* Those of all islands as one list; NULL without memory. */
const sim_problem_bodies *bodies_of_all(const assembly *f);
/* The diagonal of A beside the bodies', which depends on the actuators that are rows. */
void bodies_diagonal(const assembly *f, const sim_model *model, const island *is);

/* Memory; `lay_out` gives problems their positions, `fill` follows when J is filled. */
sim_status positions_create(positions_memory *p, const sim_model *model, memory_pool *pool);
sim_status positions_lay_out(assembly *f, const sim_model *model, const int *last_dof, const positions_memory *p);
void positions_fill(assembly *f);

/* ---- soft trees ---- */

/* Replaces the soft trees of all islands by their dofs that constraints touch; the problems stay equivalent. */
sim_status condense_islands(assembly *f);
/* From touched dofs to all of a tree [nv]: of velocities; of shifts. */
void condensed_velocity(const island *is, int tree, const double *v, double *all);
void condensed_shift(const island *is, int tree, const double *shift, double *all);

/* ---- assembling ---- */

typedef struct assembly_memory {
    mass_memory mass;
    const positions_memory *positions; /* NULL: the solver asks for none */
    sim_motion *acc;                   /* [nbody], where the model has equalities or tendons */
} assembly_memory;

/* The problems of all islands, in f->arena; f->in, f->tables, f->arena and f->rigid are given. */
sim_status assemble_problems(assembly *f, const assembly_memory *memory, bool bodies, sim_threads *threads);
/* A on these trees of the model, as the last derived problems have it. */
mass_operator assembly_mass(const assembly *f, const mass_memory *memory, const int *tree);

#endif
