/* The contact stage of a step: contacts and joint rows in, velocities and impulses out. */
#ifndef CONTACT_STAGE_H
#define CONTACT_STAGE_H

#include "contact/problem/core/interface.h"

typedef struct contact_stage contact_stage;

contact_stage *contact_stage_create(const sim_model *model, const contact_options *options, sim_error *error);
void contact_stage_free(contact_stage *stage);
size_t contact_stage_bytes(const contact_stage *stage);

/* Assembles the problems of all islands; `in` must outlive the next calls. */
sim_status contact_stage_build(contact_stage *stage, const contact_input *in, sim_threads *threads, sim_error *error);
/* Solves them, and scatters the solution to the order of the model. */
sim_status contact_stage_solve(contact_stage *stage, sim_threads *threads, contact_output *out, sim_error *error);
/* Parts bodies that overlap at the end of the step, where `in` has the kinematics and contacts of that end.  The gap of
 * contact k is to change by least[k] or more, m; islands without one that is `deep` stay.  Positions of the trees that
 * it marks in `touched` are to move at `shift`[nv] over the step.  The problems of the step are gone then. */
sim_status contact_stage_separate(contact_stage *stage, const contact_input *in, const double *least, const char *deep,
                                  sim_threads *threads, double *shift, char *touched, sim_error *error);
/* The problem of one island as last derived, until the next step is built; NULL past the last. */
const sim_problem *contact_stage_island(const contact_stage *stage, int index);
/* The islands as the last step solved them; NULL: their problems are gone, as bodies were parted. */
const struct assembly *contact_stage_assembly(const contact_stage *stage);
/* All islands as one problem that owns its data. */
sim_problem *contact_stage_problem(contact_stage *stage, sim_error *error);

#endif
