/* Rows of constraints: J, gaps, warm start, and their form body by body and at other positions. */
#ifndef CONTACT_PROBLEM_ROW_ROW_H
#define CONTACT_PROBLEM_ROW_ROW_H

#include "contact/problem/core/assembly.h"

/* J, gap and warm start of one constraint of the list of all; its J holds zeros before. */
void rows_of_contact(assembly *f, const sim_model *model, const int *last_dof, int constraint);
void rows_of_joint(assembly *f, const sim_model *model, int constraint);
/* The place of its impulse among those of its dof; and its value there, or back. */
int joint_row_of(source_kind kind);
double joint_impulse_of(source_kind kind, double impulse);
void rows_of_equality(assembly *f, const sim_model *model, const int *last_dof, int constraint);
void rows_of_tendon(assembly *f, const sim_model *model, int constraint);

/* A side of a constraint writes to the columns of the dofs [first, end). */
void widen_columns(assembly *f, const sim_model *model, int constraint, int side, int first, int end);

/* rows x 6 of one side, (angular; linear) at the body's origin. */
void contact_on_body(const assembly *f, int constraint, int side, double *J);
void equality_on_body(const assembly *f, int constraint, int side, double *J);

/* The change of a contact's gap, and the gaps between two bodies, at other positions; and J there, into zeros. */
double contact_ahead(const assembly *f, const sim_model *model, const int *last_dof, int constraint,
                     const sim_derived *ahead, double *J);
void equality_ahead(const assembly *f, const sim_model *model, const int *last_dof, int constraint,
                    const sim_derived *ahead, double *J, double *gap);

/* A spring with damper along a row whose J is filled: N/m, N s/m, and m at the start; terms of higher degree (spring.h). */
typedef struct row_spring {
    double stiffness, damping, stretch;
    double spring[2], damper[2];
} row_spring;
void fill_spring_row(assembly *f, const sim_model *model, int constraint, row_spring spring);

/* ---- soft bodies ---- */

/* Linearises all elastic tetrahedra that are rows; f->elastic is NULL where there are none. */
sim_status elastic_find(assembly *f);
/* Their sources: part k has the index 2 k for strains, 2 k + 1 for turns against the stress. */
int elastic_source_rows(const assembly *f, int index);
sim_constraint elastic_constraint(const assembly *f, const constraint_source *source);
void rows_of_elastic(assembly *f, const sim_model *model, int constraint);

/* ---- tendons ---- */

/* Their state in this step. */
sim_status tendons_find(assembly *f, sim_threads *threads);
/* J v, m/s, of all velocities of the model. */
double tendon_speed(const assembly *f, int tendon, const double *v);
sim_constraint tendon_constraint(const sim_model *model, const constraint_source *source);
/* Adds a part of the moment arms to the first row of a constraint. */
void add_tendon_moments(assembly *f, int tendon, double part, int constraint);

/* ---- surfaces of contacts ---- */

/* The frame along n; its tangents are scaled so that friction is that of the round cone. */
m3 surface_frame(assembly *f, const sim_model *m, int constraint, v3 n);
/* The velocity of A's surface over B's along the first two axes, m/s, to be added to w.  It is taken at this part of the
 * way to where a contact that lasts is expected at the end; NULL: at the start. */
v3 surface_belts(const assembly *f, const sim_model *m, int constraint, const followed_contact *to, double part);
void surface_add_belts(const assembly *f, int constraint, v3 belts);
/* Warm start from an impulse and its trend, N s in world axes; and the impulse from a solution. */
void surface_set_guess(const assembly *f, int constraint, v3 impulse, v3 trend);
v3 surface_impulse(const assembly *f, int constraint, const double *gamma);
/* The axes of the rows of a contact from the fourth on, L e, m; their number. */
int surface_turning_axes(const assembly *f, int constraint, const sim_contact *contact, v3 axis[3]);
/* J of the rows against turning at the positions of d, into zeros, between the dof `stop` and both bodies.  Their gaps
 * and warm start, from a moment, N m s in world axes.  The moment from a solution.  Rows of one side on its body. */
void surface_turning_rows(const assembly *f, const sim_derived *d, const int last[2], int stop, int constraint,
                          double *J);
void surface_start_turning(assembly *f, int constraint, v3 moment);
v3 surface_moment(const assembly *f, int constraint, const double *gamma);
void surface_turning_on_body(const assembly *f, int constraint, int side, double *J);
/* v* with the load of adhesion; `j` [nv] is work space. */
void surface_pull_together(assembly *f, const island *is, double *j);

#endif
