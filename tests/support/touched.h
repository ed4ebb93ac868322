/* Trees with contacts put on them by hand, up to the problem of a step: no shapes, no collision. */
#ifndef SUPPORT_TOUCHED_H
#define SUPPORT_TOUCHED_H

#include "contact/stage.h"
#include "support/models.h"

typedef struct touched {
    sim_model *model;
    sim_derived *derived;
    double *q, *v, *v_free, *extra;
    sim_contact *contact;
    contact_input in;
    contact_output out;
    sim_threads *threads;
    contact_stage *stage;
} touched;

/* The model (freed with the rest) in a state, given or NULL: its first, at rest.  `extra`: also something on the
 * diagonal of A.  Contacts are copied; their shapes and features are numbered here.  `bodies`: the problem has them. */
touched *touched_create(sim_model *model, const double *q, const double *v, int extra, const sim_contact *contact,
                        int count, const char *solver, int bodies);
void touched_free(touched *t);
/* The problem of an island, NULL past the last; the step's answer. */
const sim_problem *touched_build(touched *t, int island);
void touched_solve(touched *t);

/* Contacts anywhere on the bodies of a model, with the world and with each other. */
void random_contacts(random_source *r, const sim_model *model, const double *q, int count, sim_contact *contact);
/* Contacts at the ends of the limbs with a level ground below them, `each` at every body without children. */
int standing_contacts(const sim_model *model, int each, sim_contact *contact);
/* A chain lying in loops of `turn` links: every link on that one loop before it, `each` times. */
int looped_contacts(const sim_model *model, int turn, int each, sim_contact *contact);

#endif
