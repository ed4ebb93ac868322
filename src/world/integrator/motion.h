/* Free motion of the trees of a model: schemes, forces on joints and bodies, rotation of single rigid bodies. */
#ifndef WORLD_INTEGRATOR_MOTION_H
#define WORLD_INTEGRATOR_MOTION_H

#include "base/pool.h"
#include "contact/problem/core/interface.h"
#include "control/control.h"
#include "dyn/soft/soft_system.h"
#include <sim/world.h>

#include <stdbool.h>

enum { ANDERSON_DEPTH = 5, RK_VECTORS = 6 };

/* Parts of the model that act on the dofs of one tree. */
typedef struct tree_parts {
    int actuator0, actuators;  /* in actuator_order */
    int load0, loads;          /* in load_order */
    int limited0, limited_end; /* in `limited`: actuators with feedback and an effort limit */
    int spin0, spins;          /* in `spin` */
    int drag0, drags;          /* in the model's list */
    int shared0, shareds;      /* in `shared` */
    bool passive;              /* any spring or damper */
    bool gravity_compensation; /* any actuator asks for it */
    bool bends;                /* any damper has terms beyond the linear one */
    bool any_limit;            /* any actuator of a joint has a range of forces */
    bool lengths;              /* any actuator is none of a joint */
    bool turns;                /* any ball or free joint */
    bool spins_only;           /* no other joints, and spin.c is exact for forces known beforehand */
    bool pushed;               /* the caller applies a wrench on a body of it */
    bool placed;               /* `next` has its positions of the free motion */
    bool curbed;               /* its end velocities of the last step were scaled (inertial_work.c) */
    double mass;               /* kg */
} tree_parts;

/* A ball or free joint that moves one rigid body, with the bodies fixed to it, and hangs on the world; see spin.c. */
typedef struct spin_body {
    int body, linear, angular; /* its first linear dof (ball: -1), its first angular one */
    double mass;
    sim_v3 com; /* from its origin, in its axes; ball: zero */
    sim_sym3 J; /* about its centre of mass; ball: about its origin */
} spin_body;

/* The force of an actuator in a step (actuation.c). */
typedef struct drive_law {
    double feedforward, target, target_rate, kp, kd; /* kp, kd 0: it has no target */
    double input;                                    /* control input or activation, u */
    double force, stiffness, damping;                /* of gain u + bias */
} drive_law;

/* A joint or tendon whose actuators' summed effort has a range (shared_effort.c). */
typedef struct shared_effort {
    const double *effort; /* its range */
    bool joint;
    int count;
    const int *member; /* [count] actuators, by their places in actuator_order */
    double sum;        /* of the efforts within their own ranges, when last evaluated */
} shared_effort;

/* The free motion of all trees: its input, and its work space by dof, coordinate or body, so that trees share no
 * number. */
typedef struct motion_work {
    /* read */
    const sim_model *model;
    const sim_options *options;
    const sim_state *now;
    const drive_command *command; /* [nactuator] of controllers; NULL: there are none */
    const double *held;           /* [nv] extrapolated forces of constraints; NULL: there are none */
    const double *row_effort;     /* [nactuator] efforts that the contact stage found; NAN: of other actuators */

    /* fixed when the world is created */
    tree_parts *parts;  /* [ntree] */
    spin_body *spin;    /* tree by tree */
    soft_system **soft; /* [ntree] of soft bodies, NULL of rigid trees; NULL: there are none */
    char *damped;       /* [ntree] trees that implicit Euler moves in this step (soft_damping.c); NULL likewise */
    int *actuator_order, *load_order;
    int *limited_order, nlimited; /* actuators that may be rows, by their places in actuator_order */

    /* written */
    sim_state *next;
    sim_derived *derived; /* kinematics and factors where A is taken */
    sim_derived *ahead;   /* of trees that turn far in a step; NULL: no dof turns */
    double *q_point, *v_point, *tau, *extra;
    double *a_try, *a_out;     /* accelerations: the last evaluated, and the result */
    double *hold;              /* [nv] torque against gravity at the start */
    drive_law *law;            /* [nactuator] by actuation_set_laws */
    shared_effort *shared;     /* of all trees, one tree after the other */
    int *shared_of;            /* [nactuator] which of them it shares, by the order; -1: none */
    double (*range)[2];        /* [nactuator] of forces; of actuators that share a joint's range, of this step */
    int *clamped;              /* [nactuator] -1, 0, 1: side of the range of forces, when last evaluated */
    double *asked;             /* [nactuator] force then, before the limit ... */
    double *gain;              /* ... and its decrease per unit of the length's acceleration */
    double **moment;           /* [nactuator][nv of the tree] of those that are no joints' */
    contact_actuator *limited; /* [nlimited] as the contact stage reads them */
    sim_force *external;       /* [nbody] */
    /* of the fluid; NULL: it does not act */
    sim_force *drag;             /* [nbody] its force at the body's origin, when last evaluated, then of the step */
    sim_articulated *body_extra; /* [nbody] its implicit part E, beside `extra` */
    sim_sym3 *spin_extra;        /* E about the centre of mass of each of `spin`, in its axes */
    sim_motion *drag_motion;     /* [nbody] */
    double *strength;            /* [nv] sizes of the terms of tau, summed: a measure of its rounding */
    double *history;             /* [2 + 2 ANDERSON_DEPTH][nv] */
    double *rk;                  /* [RK_VECTORS][nv] */
} motion_work;

/* The counts of one thread. */
typedef struct worker_info {
    sim_step_info info;
    int bad_tree; /* the first tree with a number that is not finite, or -1 */
} worker_info;

/* ---- forces.c ---- */

/* The place where generalised forces are taken. */
typedef struct force_point {
    double time;                 /* of loads */
    const double *q;             /* where springs act */
    const double *v;             /* where dampers act */
    const double *q_end, *v_end; /* [nq], [nv]: where actuators act; only plain coordinates of q_end are read */
} force_point;

/* Applied forces, springs, dampers, actuators and loads on the joints of a tree, into tau[]; the number of actuators at
 * their limit. */
int motion_joint_forces(motion_work *w, int tree, const force_point *at, double *tau);
/* Notes the trees on whose bodies the caller applies wrenches in this step. */
void motion_find_pushed(motion_work *w);
/* Wrenches on the bodies of a tree at the time; NULL if there are none.  After sim_kinematics. */
const sim_force *motion_wrenches(motion_work *w, int tree, double time);
/* The wrench of a load on a body that stands at X, at its origin. */
sim_force load_wrench(const sim_load *load, const sim_pose *X, double time);
/* Torque that holds the tree against gravity at the start of the step. */
void motion_hold_weight(motion_work *w, int tree);

/* ---- actuation.c ---- */

/* Times and place of the laws of a step, or a stage. */
typedef struct law_point {
    double time, end_time; /* of feed-forward; of targets */
    const double *q, *v;   /* [nq], [nv] where forces that grow with the length are taken */
    double place, travel;  /* parts of the step: at which moments are taken; of v - v0 that positions move with */
} law_point;
void actuation_set_laws(motion_work *w, int tree, const law_point *at);
/* The inputs of the laws alone; `q`, `v` and the parts are not read. */
void actuation_set_inputs(motion_work *w, int tree, const law_point *at);
/* Is the force of an actuator a wrench on a body, and no other?  After sim_kinematics; adds it at the body's origin. */
bool actuation_is_wrench(const motion_work *w, int k);
void actuation_add_wrench(const motion_work *w, int k, sim_force *wrench);
/* Adds the forces of a tree's actuators; the number of those at the end of their range. */
int actuation_add_forces(motion_work *w, int tree, const force_point *at, double *tau);
/* Adds their implicit parts to the diagonal `extra`. */
void actuation_add_gains(motion_work *w, int tree);
/* Forces into `next`: those found with the contacts; or as last evaluated at the acceleration `from`, extrapolated along
 * their straight lines to `to`.  Both NULL: as evaluated.  And activations at the end of the step. */
void actuation_keep(motion_work *w, int tree, const double *from, const double *to);
/* The force with which the actuator at a place of actuator_order pulls at the contacts of its body; 0 of others.  After
 * theta_free_motion of its tree. */
double actuation_pull(const motion_work *w, int k);
/* Control inputs of this step into the history of the next state, where they are delayed. */
void actuation_keep_history(motion_work *w);
/* The limited actuators of a tree for the contact stage.  After theta_free_motion. */
void actuation_list_limited(motion_work *w, int tree);

/* ---- shared_effort.c ---- */

/* Lists the joints with a range of summed efforts.  After actuator_order is filled. */
sim_status shared_effort_create(motion_work *w, memory_pool *pool);
/* Ranges of the forces on these joints, from `asked` and `gain`. */
void shared_effort_narrow(motion_work *w, int tree);
/* -1, 1: the forces that its k-th actuator shares the range with ask for more, on that side; 0: not, or it shares none. */
int shared_effort_side(const motion_work *w, int k);
/* Is a force, of those given for all actuators, at an end of its range, or is that of its joint spent? */
bool actuator_at_limit(const sim_model *m, const double *given, int actuator);

/* ---- drag.c ---- */

/* Lists the resistances of trees.  After spin_create. */
sim_status drag_create(motion_work *w, memory_pool *pool);
/* Forces of the fluid on the bodies of a tree at the velocities v, and E for the weight theta dt.  After sim_kinematics. */
void drag_eval(motion_work *w, int tree, const double *v, double weight);
/* Adds E times the accelerations of the bodies, those of velocities and gravity included.  After sim_velocities. */
void drag_add_implicit(motion_work *w, int tree, const double *a, sim_force *external);
/* Adds J' E J x. */
void drag_add_product(motion_work *w, int tree, const double *x, double *out);
/* Forces as last evaluated at the acceleration `from`, extrapolated along their straight lines to `to`. */
void drag_keep(motion_work *w, int tree, const double *from, const double *to);

/* ---- spin.c ---- */

/* Lists the rigid bodies of ball and free joints. */
sim_status spin_create(motion_work *w, memory_pool *pool);
/* Makes the gyroscopic terms of these bodies implicit in the result g of a sweep, with velocities of v0 + theta dt a;
 * false: no solution was found.  `extra` is the diagonal that the sweep added to the inertias, NULL: nothing. */
bool spin_solve(motion_work *w, int tree, double theta, const double *extra, const double *a, double *g);
/* Their attitudes in `next`, for schemes whose map is the exponential one. */
void spin_advance(motion_work *w, int tree, const double *extra, const double *a);
/* The turn of the attitude in a step by the scheme, R1 = R0 times it; armature and `extra` of its three dofs. */
sim_quat spin_turn(const motion_work *w, const spin_body *s, const double *extra, sim_v3 w0, sim_v3 a);
sim_v3 spin_diagonal(const motion_work *w, const spin_body *s, const double *extra);

/* ---- energy_projection.c ---- */

/* Does a tree with ball or free joints turn far in a step?  Bodies that spin.c solves do not count. */
bool projection_needed(const motion_work *w, int tree);
typedef struct projection_input {
    double time;         /* of loads */
    const double *extra; /* on the diagonal of the sweep, NULL: nothing */
    const double *q_end; /* where the step would end */
    bool drains;         /* the scheme may lose energy */
} projection_input;
/* The mean acceleration of such a tree, after its last sweep, with the energy and momentum that forces gave it; s. */
double project_energy(motion_work *w, int tree, const projection_input *at, double *a);

/* ---- inertial_work.c ---- */

/* The factor s of the end velocities in `next` of a tree with contacts, which takes back the energy that inertial terms
 * created; 1: none.  `part` of v1 - v0 is at the scheme's v*.  `next` has its positions, `a_out` is (v1 - v0) / step. */
double inertial_work_scale(motion_work *w, int tree, double part, double *created);

/* Kinetic energies of a tree at both ends of the step, and the work of its forces with the velocities there, J: D = T1 -
 * T0 - W0 - W1.  Zeros where no body turns far.  The same input. */
typedef struct inertial_balance {
    double T0, T1, W0, W1;
} inertial_balance;
inertial_balance inertial_work(motion_work *w, int tree, double part);

/* ---- soft_motion.c ---- */

/* Systems of the soft bodies of a model.  Refused: what they do not support, by name. */
sim_status soft_motion_create(motion_work *w, memory_pool *pool, sim_error *error);
void soft_motion_free(motion_work *w);
size_t soft_motion_bytes(const motion_work *w);
static inline soft_system *soft_of(const motion_work *w, int tree) { return w->soft ? w->soft[tree] : NULL; }
/* Pa: pressure in the chambers of a soft tree. */
double soft_gas(const motion_work *w, int tree, double time);
/* One Newton step of a soft tree: tau holds the forces on its joints and E a.  After sim_kinematics. */
void soft_sweep(motion_work *w, int tree, const soft_point *at, const sim_force *external, double *out);

/* J: elastic energy of a soft tree at q, less the pressure times the volume of its chambers; adds its derivative along v
 * to `slope`, unless that is NULL. */
double soft_potential(const motion_work *w, int tree, double pressure, const double *q, const double *v, double *slope);

/* ---- effort_limits.c ---- */

/* Is an actuator at b on another side of its effort limit than at a, where it was evaluated? */
bool effort_limits_crossed(const motion_work *w, int tree, const double *a, const double *b);
/* The part, at most 1, of the Newton step p from there at the minimum along p; h = p' H p. */
double effort_limits_part(const motion_work *w, int tree, const double *p, double h);

/* ---- theta.c, rk4.c ---- */

/* A scheme of the theta family. */
typedef struct theta_scheme {
    double position;        /* q* = q0 (+) position * dt * (mean velocity of the step) ... */
    bool explicit_position; /* ... or of v0 alone */
    double velocity;        /* v* = v0 + velocity * dt a ... */
    double turning;         /* ... or, in trees with ball or free joints, v0 + turning * dt a */
    double damper;          /* dampers act at v0 + damper * dt a */
    double travel;          /* q1 = q0 (+) dt (v0 + travel * dt a) */
    double time;            /* t* = t0 + time * dt */
} theta_scheme;
const theta_scheme *theta_scheme_of(sim_integrator integrator);
/* The part, at most 1, of the Newton step from a to g with which the energy of the step falls.  After soft_sweep at a, of a
 * scheme whose elastic forces act at the end of the step. */
double soft_descent_part(motion_work *w, int tree, const theta_scheme *scheme, const double *a, const double *g);

/* That by which a tree moves in this step. */
const theta_scheme *theta_scheme_of_tree(const motion_work *w, int tree);

/* The free motion of one tree: its mean acceleration, in a_out, and A, in the factors of `derived`. */
void theta_free_motion(motion_work *w, int tree, sim_step_info *info);
/* The same of a soft tree, linearised about the end velocity v [nv of the model] instead; nothing else changes. */
void theta_linearise_soft(motion_work *w, int tree, const double *v);
/* From `now` to `next`: as it moves freely; or with these end velocities, and positions shifted at this velocity.  Energy
 * that this creates without force is taken from `v_end`, and noted. */
void theta_finish(motion_work *w, int tree);
void theta_finish_in_contact(motion_work *w, int tree, double *v_end, const double *shift, sim_step_info *info);
/* The energies of a tree that ends the step so; changes nothing. */
inertial_balance theta_inertial_work(motion_work *w, int tree, const double *v_end, const double *shift);
/* x <- A^-1 x of the dofs of a tree [nv of the model], A where the free motion has taken it. */
void theta_mass_solve(motion_work *w, int tree, double *x);
/* The part of v - v0 that positions move with. */
double theta_travel(sim_integrator integrator);
/* The part of the step on at which the elasticity of soft bodies acts. */
double elastic_place(const theta_scheme *scheme);
/* The part of a step at which A is taken; at which loads are. */
double theta_position(sim_integrator integrator);
double theta_time(sim_integrator integrator);
/* Do forces depend on where the step leads?  Is A taken where the step starts? */
bool theta_is_implicit(sim_integrator integrator);
bool theta_is_at_start(sim_integrator integrator);
/* Rates of a stage at q0 (+) u with velocity v, `after` seconds into the step; the number of actuators at their limit. */
typedef struct rk4_rates {
    double *rate; /* du/dt */
    double *acc;  /* dv/dt */
} rk4_rates;
int rk4_stage(motion_work *w, int tree, double after, const double *u, const double *v, rk4_rates out);
/* A whole step of one tree. */
void rk4_step(motion_work *w, int tree, sim_step_info *info);

/* Sums of the counts of several trees, or threads. */
static inline void add_step_info(sim_step_info *sum, const sim_step_info *part) {
    sum->iterations = part->iterations > sum->iterations ? part->iterations : sum->iterations;
    sum->sweeps += part->sweeps;
    sum->nonconverged += part->nonconverged;
    sum->residual = part->residual > sum->residual ? part->residual : sum->residual;
    sum->saturated += part->saturated;
    sum->curbed_body = part->curbed > sum->curbed ? part->curbed_body : sum->curbed_body;
    sum->curbed = part->curbed > sum->curbed ? part->curbed : sum->curbed;
}

#endif
