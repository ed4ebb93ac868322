/* Contact problems that several tests share. */
#ifndef SUPPORT_PROBLEMS_H
#define SUPPORT_PROBLEMS_H

#include "support/models.h"
#include <sim/problem.h>

/* Parameters of a random problem. */
typedef struct problem_recipe {
    int bodies;   /* free bodies of about 1 kg and 0.2 m */
    int chain;    /* besides them one tree with this many dofs; 0: none */
    int contacts; /* contact c on body c mod bodies, every other one against the next body, else the world */
    double friction;
    double bias;    /* offsets of the normals within +- this, m/s */
    int kinds;      /* bits: besides contacts one constraint of each kind (SIM_CONTACT: no effect) ... */
    int more;       /* ... and so many more of each */
    double impact;  /* m/s: approach of the contacts */
    double scatter; /* m/s: random part of it */
} problem_recipe;

/* All kinds of rows: a few contacts, and many. */
extern const problem_recipe mixed_recipe, hard_recipe;

/* Simultaneous impacts with random normals: far harder than resting contact.  To be freed. */
sim_problem *random_problem(random_source *r, const problem_recipe *recipe);
/* `count` boxes of the given masses (edge 0.2 m) on each other and on the ground, four contacts between two. They rest
 * under gravity for a step of `dt`, pushed sideways at the top by `push` newtons. */
sim_problem *box_stack(int count, const double *mass, double friction, double dt, double push);
/* Seven boxes at rest, the last of `top` kg on six of 1 kg. */
sim_problem *loaded_stack(double top);
/* Bodies that float freely and touch each other at points of space; where their centres of mass stand. */
sim_problem *floating_cluster(random_source *r, int bodies, int contacts, double friction, sim_v3 *centre);
/* A rod in the plane of x and z whose end, at (x, 0, z) from its centre of mass, meets the ground; it moves in that
 * plane, with v_free = (turn about y, along x, along z). */
sim_problem *rod_on_ground(double mass, double inertia, double x, double z, double friction, const double v_free[3]);
/* A point mass that moves at v and meets the ground: J = 1, A = m 1. */
sim_problem *point_on_ground(double mass, double friction, double gap, double dt, const double v_free[3]);
/* The same between floor and ceiling, with that gap to each: if it is in both, no impulse gives what both want. */
sim_problem *point_between_walls(double mass, double friction, double gap, double dt, const double v_free[3]);
/* A point mass that meets two walls: rows t1, t2, n of each in J, the same `gap` to both. */
sim_problem *point_at_walls(double mass, double friction, const double J[18], double gap, double dt,
                            const double v_free[3], const double v_start[3]);

#endif
