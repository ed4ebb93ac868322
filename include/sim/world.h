/* The world: a model in motion.  Owns two states (now, next) and all that is derived; a step happens
 * whole or not at all. */
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

/* Integrators; docs/theory.md says which to choose.
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
    bool contacts;         /* 0: shapes pass through each other */
    double contact_margin; /* m: shapes with a gap up to this are in contact though nothing moves; NAN: by their size */
    const sim_solver_info *solver; /* of the contact problem; NULL: sim_solver_default() */
    const double *solver_option;   /* one for each of its options; NULL: defaults.  Those of a world are its own */
    const sim_solver_info *scene_solver; /* of a loaded scene: another `solver` does not take the scene's options ... */
    const double *scene_option;          /* ... which these are, but its defaults */
    sim_budget budget;                   /* of the solver */
    int compliance;                      /* a sim_compliance; -1: the solver's own */
    sim_law_options law;
    bool sleep;         /* do steps leave out islands at rest? (docs/contact.md, "What sleeps") */
    double sleep_speed; /* m/s: a body at rest has no faster point; NAN: by its size and gravity */
    double sleep_time;  /* s: rest before a tree sleeps; NAN: by its size and gravity */
} sim_options;

/* 1 ms, midpoint, one thread, 1e-10, 50 iterations, contacts on, margin by size, auto, nothing sleeps. */
SIM_API sim_options sim_options_default(void);

/* The compliance that contacts get: the one asked for, or that of the solver (NULL: of sim_solver_default()). */
SIM_API sim_compliance sim_options_compliance(const sim_options *options);

/* The rest of a tree. */
typedef struct sim_rest {
    int64_t steps;  /* at rest, with the same drives */
    int64_t island; /* 1 + the first tree of the island in which it sleeps; 0: awake */
    uint64_t
        drive_hash; /* hash of its drives (applied forces, loads, targets); asleep, of its q and v besides: it wakes
                    * when that changes */
} sim_rest;

/* Inputs of an actuator that a caller may set in place of the model's tracks. */
typedef enum sim_input {
    SIM_CTRL,
    SIM_TARGET,
    SIM_TARGET_RATE,
    SIM_FEEDFORWARD,
    SIM_INPUTS,
} sim_input;

/* A constraint as it was switched last. */
typedef struct sim_switched {
    int64_t to; /* a sim_switch */
    /* where it holds: pose of the first frame in the second body (weld: x y z, quaternion w x y z; connect: x y z);
     * distance (distance, spring); offset (coupling, tendon).  Zeros unless `to` is SIM_SWITCH_HOLD */
    double at[7];
} sim_switched;

/* An event up to now. */
typedef struct sim_happened {
    int64_t known;    /* g is that of the present state */
    int64_t count;    /* so many times it happened ... */
    double time;      /* ... the last time at, s: found within the step to second order */
    double g, change; /* of a contact that breaks -p, and its change from the step before */
} sim_happened;

/* Exactly what a checkpoint holds: copy it, step, and get the same bits. */
typedef struct sim_state {
    double time;  /* time0 + step * dt, never summed up step by step */
    double time0; /* when step was 0 */
    int64_t step; /* steps taken */
    double *q;    /* [nq] */
    double *v;    /* [nv] */
    double *a;    /* [nv] mean acceleration of the last step, without contacts: initial guess of the next one */
    int ncontact; /* contacts of the last step ... */
    sim_contact *contact;
    sim_v3 *impulse;          /* ... and their impulses, N s, in the world, on A: warm start of the next solver */
    sim_v3 *impulse_trend;    /* ... and the change of each in that step, zero where it struck */
    double *joint_impulse;    /* [nv][SIM_JOINT_ROWS], N s or N m s */
    double *equality_impulse; /* [nequality][6] impulses of constraints between bodies, row by row */
    double *tendon_impulse;   /* [ntendon][4] impulses of tendons: low end, high end, dry friction, spring, N s */
    double *effort;           /* [nactuator] forces, N or N m, within their limits; zero before a step */
    double *activation;       /* [nactuator] zero of those without */
    double *input;            /* [SIM_INPUTS][nactuator] that the caller has set; NAN: by the model's track */
    double *applied;          /* [nv] generalised forces of the caller, N or N m */
    sim_force *wrench;        /* [nbody] wrenches of the caller, at the bodies' origins in world axes, N m and N */
    sim_switched *switched;   /* [nequality] constraints between bodies */
    double *control;          /* [ncontrol] memory of controllers (sim_controller.first) */
    sim_happened *event;      /* [nevent] */
    double *held;             /* [nv] generalised forces of constraints, with which the next step moves first */
    double *trail;   /* [4][nv] v one and two steps before; lasting forces of contacts, now and a step before */
    double *history; /* [nhistory] of delays: control inputs and readings of the steps before, the youngest first */
    double *sensor;  /* [nsensor_value] readings of sensors; NULL: unknown (of forces and accelerations: 0) */
    sim_rest *rest;  /* [ntree]; NULL: all are awake, or nothing sleeps */
} sim_state;

/* Counts and figures of the last step. */
typedef struct sim_step_info {
    int iterations;   /* implicit integrators: maximum over trees */
    int sweeps;       /* articulated-body sweeps, summed over trees */
    int nonconverged; /* trees whose iteration hit the limit */
    double residual;  /* the worst tree's estimated error, relative (held against `tolerance`) */
    int saturated;    /* actuators at their effort limit */
    double curbed;    /* J: greatest kinetic energy that a tree with contacts gained without force; taken back */
    int curbed_body;  /* ... the first body of that tree */
    double created; /* J: greatest energy that the elasticity of a soft body and what ties it created in the step ... */
    int created_body; /* ... that body */
    int damped;       /* soft bodies that would have gained energy by their scheme: implicit Euler moved them */

    /* contacts */
    int contacts, islands;
    int solver_iterations;          /* maximum over islands ... */
    int solver_total;               /* ... and their sum */
    int unsolved;                   /* islands whose solver gave up, or was refuted (sim_solver_confirm) ... */
    int gave_up[SIM_REASONS];       /* ... by reason */
    int finished[SIM_MAX_BRANCHES]; /* islands that each branch of the solver solved, where it has branches */
    int factorisations;             /* over islands, of solvers that factor ... */
    double multiplications;         /* ... and their cost from scratch */
    int stuck;                      /* constraints whose overlap no motion can undo ... */
    int stuck_body[2];              /* ... the bodies of the deepest (-1: a joint alone) ... */
    double stuck_depth;             /* ... and how deep it is, m or rad */
    int refused;                    /* islands whose solution created energy, and was replaced: unsolved, too */
    double undone;                  /* J that undoing overlaps and elastic contacts put in */
    sim_certificate certificate;    /* of the islands that are awake */
    int worst_body[SIM_WORSTS][2];  /* bodies of the worst constraints; -1: none, or one alone */
    /* sag, m: overlap of the contact that is the deepest relative to the radius of its smaller body. Contacts under
     * load count whose near-rigid compliance exceeds their material's. Its part of that radius (0: there is none); its
     * bodies */
    double sag, sag_part;
    int sag_body[2];
    /* lift, m: the greatest height to which the convex law lifts a sliding contact (docs/contact.md). It is the gap at
     * which the contact glides, and the height that its upward speed reaches against gravity. 0: nothing slides; its
     * bodies */
    double lift;
    int lift_body[2];

    /* sleep */
    int asleep, asleep_bodies, asleep_contacts; /* trees, their bodies and contacts that the step passed over */
    int woken;                                  /* trees that woke in it */
    double stilled;                             /* J: kinetic energy of those that fell asleep at its end */
} sim_step_info;

/* Stages by which the time of steps is measured.  Those after SIM_TIME_INTEGRATE are parts of SIM_TIME_SOLVE, summed
 * over islands and so over threads; the factor is part of the solver. */
typedef enum sim_time {
    SIM_TIME_FREE,      /* free motion of every tree */
    SIM_TIME_COLLIDE,   /* contacts */
    SIM_TIME_BUILD,     /* islands, rows, masses: the contact problems */
    SIM_TIME_SOLVE,     /* their solutions, judged */
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
/* Bytes held by the world, without those of its model and those that its solver keeps from call to call. */
SIM_API size_t sim_world_bytes(const sim_world *world);

/* Copies `state` in.  Contacts may be none.  Trends, the other impulses, efforts, activations, inputs, forces of the
 * caller, `switched`, `control`, `event`, `held` and `rest` may be NULL: as the model begins. Refused if a number is
 * not finite, a quaternion not of unit length, or the time not that of the step. Refused, too, if a contact is not of
 * the model's shapes or out of order. Refused if one of two bodies that a constraint connects is asleep without the
 * other.  A sleeping tree wakes if its q or v has changed. */
SIM_API sim_status sim_world_set_state(sim_world *world, const sim_state *state, sim_error *error);
/* The state of a keyframe of the model, -1: the initial one, at rest but for its velocities; nothing sleeps. */
SIM_API void sim_world_start(sim_world *world, int keyframe);
/* The efforts of the state: the force of each actuator of the model in the last step. */
SIM_API const double *sim_world_efforts(const sim_world *world);
/* An input of all actuators, [nactuator], as part of the state.  A finite number replaces the model's track of an
 * actuator from the next step on.  NAN, the initial value, gives the track back.  A target that is set has the rate 0
 * unless that is set, too.  The array stays where it is. */
SIM_API double *sim_world_inputs(sim_world *world, sim_input input);
/* The readings of all sensors (sim_sensor.first), after the last step. */
SIM_API const double *sim_world_sensors(const sim_world *world);
/* Forces that the caller applies on top of the model's own, kept until changed, as part of the state.  Both arrays are
 * zero at first and stay where they are: generalised forces, [nv]; wrenches on bodies, at their origins in world axes,
 * [nbody]. */
SIM_API double *sim_world_applied(sim_world *world);
SIM_API sim_force *sim_world_wrenches(sim_world *world);
/* Adds a moment and a force in world axes, at a point of a body where it is now, to the body's wrench. */
SIM_API void sim_world_push(sim_world *world, sim_point point, sim_force wrench);

/* Switches a constraint between bodies from the next step on, as part of the state.  On hold a weld keeps the relative
 * pose of now, a connect the point, a distance or spring the distance, a coupling or tendon the offset.  Refused are
 * constraints that the model lacks, and points that are nowhere apart to hold their distance.  Islands at rest wake. */
SIM_API sim_status sim_world_switch(sim_world *world, int equality, sim_switch to, sim_error *error);

/* The phase in which a controller of phases is, -1: before the first step. */
SIM_API int sim_world_phase(const sim_world *world, int controller);

/* Events of the model up to now, [nevent]; an event that ends runs happened in the last step, -1: none did. */
SIM_API const sim_happened *sim_world_events(const sim_world *world);
SIM_API int sim_world_stopped(const sim_world *world);

/* A copy of a world's state: to go back to it, or to branch off in another world of the same model, with
 * sim_world_set_state. */
typedef struct sim_snapshot sim_snapshot;
SIM_API sim_snapshot *sim_snapshot_create(const sim_world *world, sim_error *error);
/* Copies the present state of a world of the same model over it; allocates only for more contacts than ever before. */
SIM_API sim_status sim_snapshot_take(sim_snapshot *snapshot, const sim_world *world, sim_error *error);
SIM_API const sim_state *sim_snapshot_state(const sim_snapshot *snapshot);
SIM_API void sim_snapshot_free(sim_snapshot *snapshot);
/* Have two states of a model the same bits? */
SIM_API bool sim_state_same(const sim_model *model, const sim_state *a, const sim_state *b);

/* One step.  On failure (a value went non-finite) the state is the one before. */
SIM_API sim_status sim_world_step(sim_world *world, sim_error *error);

/* Calls `watch` in the steps from now on; it must live as long; NULL: no more.  A step that it stops fails with
 * SIM_FAILED, and the state is the one before: results do not depend on the caller. */
SIM_API void sim_world_watch(sim_world *world, const sim_watch *watch);

/* Times the steps from now on, into `profile`, which must live as long; NULL: no more.  Results do not depend on it. */
SIM_API void sim_world_profile(sim_world *world, sim_profile *profile);

/* Can a step have a contact problem?  Not where no two shapes can touch and no joint or constraint has rows. */
SIM_API bool sim_world_has_problems(const sim_world *world);
/* The contact problem of the next step; the state stays as it is.  To be freed with
 * sim_problem_free.  NULL on failure, and where there is none. */
SIM_API sim_problem *sim_world_problem(sim_world *world, sim_error *error);

/* Contacts of shapes that touch, or will within a step at the present velocities, sorted by shape_a, shape_b and
 * feature; computed on demand, once a state.  They stay until the next step or call of sim_world_set_state. */
SIM_API sim_status sim_world_contacts(sim_world *world, const sim_contact **contact, int *count, sim_error *error);

/* Two bodies that overlap, body[0] < body[1]: their deepest contact. */
typedef struct sim_overlap {
    int body[2], shape[2];
    double depth; /* m */
} sim_overlap;

/* Pairs of bodies that overlap in the present state by more than a ten-thousandth of the smaller shape's radius.  Pairs
 * with a stiffness count if it would throw them apart faster than law.undo.  None where contacts are off.  malloc'd;
 * the caller frees. */
SIM_API sim_status sim_world_overlaps(sim_world *world, sim_overlap **list, int *count, sim_error *error);

/* The widest opening of the rigid connects, welds and distances that act now: m between their points, less the distance;
 * `*equality`: which one it is in the model.  0 and -1: there is none. */
SIM_API double sim_world_opening(sim_world *world, int *equality);

/* Poses, velocities and all else that follows from the present state; computed on demand, once a state. */
SIM_API const sim_derived *sim_world_derived(sim_world *world);
SIM_API sim_energy sim_world_energy(sim_world *world);
/* Momentum about the world's origin. */
SIM_API sim_force sim_world_momentum(sim_world *world);

#ifdef __cplusplus
}
#endif
#endif
