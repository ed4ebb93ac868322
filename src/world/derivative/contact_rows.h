/* The rows of a contact, and the place of its point, normal and gap as a function of the state. */
#ifndef WORLD_DERIVATIVE_CONTACT_ROWS_H
#define WORLD_DERIVATIVE_CONTACT_ROWS_H

#include "dyn/mass/wrench.h"
#include "world/derivative/derivative.h"
#include "world/derivative/touch/touch.h"

/* A dof that moves a side: its row in the frame of the contact; its turn, and the velocity of the point at which J is
 * taken. */
typedef struct path_dof {
    int dof, row;
    v3 turns, moves;
} path_dof;

/* A contact and its frame. */
typedef struct contact_rows {
    const island_system *s;
    const sim_contact *c;
    touch at; /* at the start */
    v3 axis[SIM_CONTACT_ROWS], guess;
    v3 turner[SIM_MAX_ROWS - SIM_CONTACT_ROWS],
        moment; /* L e of the rows against turning, m; of the step before, N m s */
    int turners;
    v3 lever[2]; /* of both bodies, at which J is taken */
    path_dof *path[2];
    int count[2], depth[2];     /* up to `stop`, and to the root */
    int body[2], last[2], stop; /* dofs on the path to both bodies, up to `stop`, have no part in J */
} contact_rows;

/* Changes of the point, of its lever on each side, of normal and gap. */
typedef struct place_change {
    v3 x, lever[2], n;
    double gap;
} place_change;

/* The places of a contact in some kinematics along each of its dofs [at->n] and of the parameters. */
typedef struct place_changes {
    place_change *by_dof, *by_parameter;
} place_changes;

bool is_dof_on_path(const sim_model *m, int dof, int last);
/* False without memory. */
bool list_places(const contact_rows *r, const touch *at, const sim_derived *d, const local_frame *frame,
                 place_changes *out);
/* The dofs that move each side, with their motions at the point of J.  False without memory. */
bool list_paths(contact_rows *r, const local_frame *at);

/* A column of the rows: changes of the levers and of the frame. */
void add_row_column(const contact_rows *r, const v3 lever[2], v3 turn, int column, constraint_change *out);
/* The columns of the place where J is taken. */
void add_middle(const contact_rows *r, int side, constraint_change *out);

/* ---- lasting_derivatives.c ---- */

/* All rows of a contact that lasts.  False without memory. */
bool differentiate_lasting(contact_rows *r, int i, constraint_change *out);

#endif
