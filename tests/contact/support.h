/* Worlds with contacts for tests of physics. */
#ifndef CONTACT_SUPPORT_H
#define CONTACT_SUPPORT_H

#include "support/models.h"

/* A world being made: gravity along -z, a ground below z = 0, one material. */
typedef struct yard {
    sim_builder *builder;
    sim_model *model;
    sim_world *world;
    sim_options options;
    int material;
    double tolerance;     /* of the solver; 0: its own */
    const double *option; /* all options of the solver; NULL: as they stand, but for the tolerance */
    int unsolved;         /* islands, summed over steps */
} yard;

typedef struct surface {
    double friction, stiffness, dissipation, restitution;
} surface;

/* Rigid, with this friction. */
surface rough(double friction);

yard yard_begin(sim_v3 gravity, surface all);
/* Under gravity along -z, without friction and contacts, solved to rounding. */
yard yard_begin_without_contacts(void);
/* Holds the lengths of two tendons in that ratio; a second one of -1: the first keeps its initial length. */
void yard_couple_tendons(yard *y, int first, int second, double ratio);
/* A ground that is solid below z = 0. */
void yard_ground(yard *y);
/* A free body of one shape with the inertia that it has at this mass, moving at v (linear). Index in the builder. */
int yard_add(yard *y, const char *name, sim_shape_type type, double a, double b, double c, double mass, sim_v3 at,
             sim_v3 v);
/* Builds the world; the solver by name, NULL: the default one. */
void yard_open(yard *y, const char *solver, sim_integrator integrator, double step);
void yard_step(yard *y);
void yard_end(yard *y);

enum { YARD_STACK = 4 };
/* A stack of boxes of 0.2 m, box0 to box3, a box `alone` 2 m beside it, and, if `ball`, a heavy ball that rolls at the
 * stack; midpoint, 1 ms. */
yard yard_stack(const char *solver, int sleep, int ball);

/* Where the body stands, and how it moves there. */
sim_v3 place_of(const yard *y, const char *body);
sim_motion motion_of(const yard *y, const char *body);
/* The deepest overlap now, m; 0 if there is none. */
double deepest_overlap(yard *y);
/* Sum of the impulses on the body in the last step. */
sim_v3 impulse_on(const yard *y, const char *body);
double energy_of(yard *y);

#endif
