/* The world: a model in motion.  Owns two states (now, next) and everything derived; a step happens whole or not at all. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <sim/base.h>
#include <sim/collide.h>
#include <sim/dynamics.h>
#include <sim/judge.h>
#include <sim/math.h>
#include <sim/model.h>
#include <sim/solver.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a step is taken; docs/theory.md says which to choose.
 *   midpoint        implicit midpoint: order 2, keeps energy, the default
 *   symplectic      symplectic (semi-implicit) Euler: order 1, one evaluation a step
 *   implicit        implicit Euler: order 1, damps
 *   moreau          Moreau's midpoint: positions at the middle, velocities explicit
 *   rk4             classical Runge-Kutta, for reference runs without contact */
typedef enum sim_integrator {
    SIM_MIDPOINT,
    SIM_SYMPLECTIC_EULER,
    SIM_IMPLICIT_EULER,
    SIM_MOREAU,
    SIM_RK4,
    SIM_INTEGRATORS,
} sim_integrator;

SIM_API const char *sim_integrator_name(sim_integrator integrator);

typedef struct sim_options {
    double step; /* s */
    sim_integrator integrator;
    int threads;      /* 1 .. 64; the same bits for any number */
    double tolerance; /* implicit integrators: estimated error left in the acceleration, over its size */
    int max_iterations;
    int contacts;          /* 0: shapes pass through each other */
    double contact_margin; /* m: shapes with a gap up to this are in contact though nothing moves; NAN: by their size */
    const sim_solver_info *solver; /* of the contact problem; NULL: sap */
    const double *solver_option;   /* one for each of its options; NULL: as they stand.  Those of a world are its own */
    int compliance;                /* a sim_compliance; -1: the solver's own */
    sim_law_options law;
    int sleep;          /* whether islands that lie still are left out of steps (docs/contact.md, "What sleeps") */
    double sleep_speed; /* m/s: who has no point faster is still; NAN: by the size of each body and gravity */
    double sleep_time;  /* s: for how long before it sleeps; NAN: by the size of each tree and gravity */
} sim_options;

/* 1 ms, midpoint, one thread, 1e-10, 50 iterations, contacts on, margin by size, sap, nothing sleeps. */
SIM_API sim_options sim_options_default(void);

/* How still a tree is. */
typedef struct sim_rest {
    int64_t steps;  /* for so many it was, and what drives it stayed as it is */
    int64_t island; /* 1 + the first tree of the island in which it sleeps; 0: awake */
    uint64_t seal;  /* a hash of what drives it; asleep, of its q and v besides: when that no longer holds, it wakes */
} sim_rest;

/* Exactly what a checkpoint holds: copy it, step, and get the same bits. */
typedef struct sim_state {
    double time;  /* time0 + step * dt, never summed up step by step */
    double time0; /* when step was 0 */
    int64_t step; /* steps taken */
    double *q;    /* [nq] */
    double *v;    /* [nv] */
    double *a;    /* [nv] mean acceleration of the last step, contacts left out: where the next one starts to iterate */
    int ncontact; /* contacts of the last step ... */
    sim_contact *contact;
    sim_v3 *impulse;          /* ... and what each gave, N s, in the world, on A: where the next solver starts */
    double *joint_impulse;    /* [nv][3] what the ends of ranges (low, high) and dry friction gave, N s or N m s */
    double *equality_impulse; /* [nequality][6] what constraints between bodies gave, row by row */
    double *effort;           /* [nactuator] what each actuator gave, N or N m, within its limit; zero before a step */
    double *held;   /* [nv] what constraints gave, as generalised forces: the next step first moves as if they stayed */
    double *trail;  /* [4][nv] v one and two steps before; what contacts gave that may last, now and a step before */
    sim_rest *rest; /* [ntree]; NULL: all are awake, or nothing sleeps */
} sim_state;

/* What happened in the last step. */
typedef struct sim_step_info {
    int iterations;   /* implicit integrators: the most that any tree took */
    int sweeps;       /* articulated-body sweeps, summed over trees */
    int nonconverged; /* trees whose iteration hit the limit */
    double residual;  /* the worst tree's estimated error, relative (held against `tolerance`) */
    int saturated;    /* actuators at their effort limit */

    /* contacts */
    int contacts, islands;
    int solver_iterations;          /* the most that any island took ... */
    int solver_total;               /* ... and the sum over islands */
    int unsolved;                   /* islands whose solver gave up, or was refuted (sim_solver_confirm) ... */
    int gave_up[SIM_REASONS];       /* ... by reason */
    int finished[SIM_MAX_BRANCHES]; /* islands that each branch of the solver solved, where it has branches */
    int factorisations;             /* over islands, of solvers that factor ... */
    double multiplications;         /* ... and what they would cost from scratch */
    int stuck;                      /* constraints whose overlap no motion can undo ... */
    int stuck_body[2];              /* ... the bodies of the deepest (-1: a joint alone) ... */
    double stuck_depth;             /* ... and how deep it is, m or rad */
    int refused;                    /* islands whose answer created energy, and was not taken: unsolved, too */
    double undone;                  /* J that undoing overlaps put in */
    sim_certificate certificate;    /* of the islands that are awake */
    int worst_body[SIM_WORSTS][2];  /* bodies of the model that the worst constraints join; -1: none, or one alone */
    /* m: how deep the contact stands that is the deepest beside the radius of what it carries, of those under load that yield
     * by the near-rigid law beyond their material; that part of the radius, 0: none yields; its bodies */
    double sag, sag_part;
    int sag_body[2];
    /* m: how far a solver of the convex law lifts what slides, the furthest of this step's contacts (docs/contact.md): the gap
     * at which it glides, and how high the speed with which it is thrown up goes against gravity; 0: nothing slides; its
     * bodies */
    double lift;
    int lift_body[2];

    /* sleep */
    int asleep, asleep_bodies, asleep_contacts; /* trees, their bodies and contacts that the step passed over */
    int woken;                                  /* trees that woke in it */
    double stilled;                             /* J: kinetic energy of those that fell asleep at its end */
} sim_step_info;

/* Where the time of steps goes.  What follows SIM_TIME_SOLVE but SIM_TIME_INTEGRATE are its parts, summed over islands
 * and so over threads; the factor is part of the solver. */
typedef enum sim_time {
    SIM_TIME_FREE,      /* every tree as if it touched nothing */
    SIM_TIME_COLLIDE,   /* what touches */
    SIM_TIME_BUILD,     /* islands, rows, masses: the contact problems */
    SIM_TIME_SOLVE,     /* their answers, judged */
    SIM_TIME_INTEGRATE, /* end velocities and positions of all trees */
    SIM_TIME_REGULARISE,
    SIM_TIME_SOLVER,
    SIM_TIME_TOUCHDOWN, /* the shift of positions */
    SIM_TIME_JUDGE,
    SIM_TIME_FACTOR,
    SIM_TIMES,
} sim_time;

SIM_API const char *sim_time_name(sim_time time);

typedef struct sim_profile {
    sim_clock clock;
    int parts;                 /* of solving too: some readings more for each island and factorisation */
    double seconds[SIM_TIMES]; /* added up from step to step */
} sim_profile;

typedef struct sim_energy {
    double kinetic, potential;
} sim_energy;

typedef struct sim_world sim_world;

/* The world keeps a reference to the model, which must outlive it. */
SIM_API sim_world *sim_world_create(const sim_model *model, const sim_options *options, sim_error *error);
SIM_API void sim_world_free(sim_world *world);

SIM_API const sim_model *sim_world_model(const sim_world *world);
SIM_API const sim_options *sim_world_options(const sim_world *world);
SIM_API const sim_state *sim_world_state(const sim_world *world);
SIM_API const sim_step_info *sim_world_info(const sim_world *world);
/* Bytes held by the world, the model apart. */
SIM_API size_t sim_world_bytes(const sim_world *world);

/* Copy `state` in; contacts may be none, the other impulses, efforts, `held` and `rest` NULL.  Refused if a number is not
 * finite, a quaternion not of unit length, the time not that of the step, a contact not of shapes of the model or out of
 * order, or half of what a constraint holds together asleep.  A sleeping tree whose q or v is not what it fell asleep with
 * wakes. */
SIM_API sim_status sim_world_set_state(sim_world *world, const sim_state *state, sim_error *error);
/* The efforts of the state: what each actuator of the model gave in the last step. */
SIM_API const double *sim_world_efforts(const sim_world *world);
/* Generalised forces that the caller applies on top of the model's own: [nv], zero at first, kept until changed. */
SIM_API double *sim_world_applied(sim_world *world);

/* One step.  On failure (a value went non-finite) the state is the one before. */
SIM_API sim_status sim_world_step(sim_world *world, sim_error *error);

/* Asks whether to go on, in the steps from now on; `watch` must live as long; NULL: no more.  A step that is given up fails with
 * SIM_FAILED, and the state is the one before: answers do not depend on who waits. */
SIM_API void sim_world_watch(sim_world *world, const sim_watch *watch);

/* Times the steps from now on, into `profile`, which must live as long; NULL: no more.  Answers do not depend on it. */
SIM_API void sim_world_profile(sim_world *world, sim_profile *profile);

/* Can a step have a contact problem?  Not where no two shapes can touch and no joint or constraint has rows. */
SIM_API int sim_world_has_problems(const sim_world *world);
/* The contact problem that the next step will have to answer; the state stays as it is.  To be freed with
 * sim_problem_free.  NULL on failure, and where there is none. */
SIM_API sim_problem *sim_world_problem(sim_world *world, sim_error *error);

/* Where shapes touch, or will within a step at the present velocities, sorted by shape_a, shape_b and feature; computed
 * when asked, once a state.  They stay until the next step or call of sim_world_set_state. */
SIM_API sim_status sim_world_contacts(sim_world *world, const sim_contact **contact, int *count, sim_error *error);

/* Two bodies that overlap, body[0] < body[1]: their deepest contact. */
typedef struct sim_overlap {
    int body[2], shape[2];
    double depth; /* m */
} sim_overlap;

/* Every two bodies that overlap in the present state by more than a ten-thousandth of the smaller shape's radius, and, if they
 * have a stiffness, by so much that it would throw them apart faster than law.undo; none where contacts are off.  malloc'd; the caller frees. */
SIM_API sim_status sim_world_overlaps(sim_world *world, sim_overlap **list, int *count, sim_error *error);

/* Poses, velocities and all else that follows from the present state; computed when asked, once a state. */
SIM_API const sim_derived *sim_world_derived(sim_world *world);
SIM_API sim_energy sim_world_energy(sim_world *world);
/* Momentum about the world's origin. */
SIM_API sim_force sim_world_momentum(sim_world *world);

#ifdef __cplusplus
}
#endif
#endif
