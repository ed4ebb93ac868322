/* The world's insides, shared by the files of this room. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "base/pool.h"
#include "base/threads.h"
#include "collide/collision.h"
#include "contact/stage.h"
#include <sim/world.h>

enum { ANDERSON_DEPTH = 5, RK_VECTORS = 6 };

/* Parts of the model that act on the dofs of one tree. */
typedef struct tree_parts {
    int actuator0, actuators; /* in world->actuator_order */
    int load0, loads;         /* in world->load_order */
    int passive;              /* any spring or damper */
    int gravity_compensation; /* any actuator asks for it */
    int limited;              /* any actuator has an effort limit */
    int motor0, motors;       /* in world->motor */
    int spin0, spins;         /* in world->spin */
    int turns;                /* any ball or free joint */
    int spins_only;           /* no other joints, and spin.c's answer is exact for forces known beforehand */
    int placed;               /* `next` has its positions of the free motion */
    double mass;
} tree_parts;

/* A ball or free joint that moves one rigid body, with what is fixed to it, and hangs on the world; see spin.c. */
typedef struct world_spin {
    int body, linear, angular; /* its first linear dof (ball: -1), its first angular one */
    double mass;
    sim_v3 com; /* from its origin, in its axes; ball: zero */
    sim_sym3 J; /* about its centre of mass; ball: about its origin */
} world_spin;

/* What one thread reports of its trees. */
typedef struct worker_info {
    sim_step_info info;
    int bad_tree; /* the first tree that went non-finite, or -1 */
} worker_info;

/* Who sleeps, and what that hangs on; see sleep.c. */
typedef struct world_sleep {
    double *radius,
        *limit;      /* [nbody] from its centre of mass to its farthest point; the speed below which it is still */
    int64_t *enough; /* [ntree] steps that it must have been still */
    char *moves;     /* [nbody] some joint moves it */

    /* of this step */
    char *asleep; /* [ntree] */
    char *woken;  /* [ntree] by a contact: its free motion is not known yet */
    char *ready,
        *upset;  /* [ntree] still for long enough; whether its seal is broken, or of its island's first tree, any's */
    char *still; /* [nbody] its tree sleeps, or none moves it */
    uint64_t *seal; /* [ntree] of what drives it */
    int *parent;    /* [ntree] */

    char *posed; /* [ntree] it sleeps, and `start` has its poses from the steps before */
} world_sleep;

struct sim_world {
    const sim_model *model;
    sim_options options;
    sim_pool *pool;
    sim_threads *threads;

    sim_state now, next;
    sim_step_info info;
    worker_info *worker;    /* [threads] */
    sim_profile *profile;   /* NULL: nobody asks */
    const sim_watch *watch; /* NULL: nobody waits */
    double since;           /* its last reading */

    /* inputs */
    double *applied;   /* [nv] */
    tree_parts *parts; /* [ntree] */
    world_spin *spin;  /* tree by tree */
    int *actuator_order, *load_order;

    /* derived from q, v: at the present state when `shown`, else wherever the step left it */
    sim_derived *derived;
    sim_derived *ahead; /* of trees that turn far in a step; NULL: none could */
    int shown;
    sim_collision *collision; /* NULL until contacts are asked for ... */
    int touched;              /* ... at the present state */

    /* contacts of a step and other constraints; NULL where there can be none */
    contact_stage *stage;
    int collides;       /* whether any of them are contacts */
    sim_derived *start; /* kinematics where the step starts; `derived` itself where that is the point of the scheme */
    sim_derived *middle, *end; /* where J of contacts is taken; where the velocities of the start lead: see follow.c */
    sim_follower *follower;
    char *wanted;                   /* [room] contacts that last ... */
    char *lasts;                    /* [ntree] ... and the trees that they press */
    followed_contact *followed;     /* [room] */
    int *pairs;                     /* [ntree] of shapes by which it is touched */
    double *tree_size;              /* [ntree] radius of its smallest shape */
    double *mass;                   /* [nv] that each dof feels, where the model begins */
    double *q_ahead;                /* [nq] */
    double *v_ahead;                /* [nv] predicted end velocities of these trees ... */
    double *v_mean;                 /* ... and those that positions move with */
    double *held;                   /* [nv] what held the trees a step ago, as long as it may last */
    double *v_free, *v_end, *shift; /* [nv] without contacts; with them; see contact/island/position_correction.c */
    char *in_contact;               /* [ntree] */
    int room;                       /* for contacts in `now` and `next` */

    world_sleep *sleep; /* NULL: nothing sleeps */

    /* work space of a step, indexed by dof, coordinate or body, so that trees never meet */
    double *q_point, *v_point, *tau, *extra, *a_try, *a_out, *hold; /* hold: torque against gravity at the start */
    double *target, *target_rate, *feedforward;                     /* [nactuator] by world_set_targets */
    int *clamped;             /* [nactuator] -1, 0, 1: side of the effort limit in the last evaluation */
    double *asked;            /* [nactuator] effort in the last evaluation, before the limit ... */
    double *gain;             /* ... and how much it falls per unit of the joint's acceleration */
    contact_actuator *motor;  /* actuators with feedback and an effort limit, tree by tree ... */
    int *motor_order, nmotor; /* ... and their places in actuator_order */
    double *row_effort;       /* [nactuator] of those whose effort was found with the contacts; NAN: of others */
    sim_force *external;      /* [nbody] */
    double *strength;         /* [nv] sizes of the terms of tau, summed: what it may have lost to rounding */
    double *history;          /* [2 + 2 ANDERSON_DEPTH][nv] */
    double *rk;               /* [RK_VECTORS][nv] */
};

/* Generalised forces that depend on where the step stands. */
typedef struct force_point {
    double time;                 /* of loads */
    const double *q;             /* where springs act */
    const double *v;             /* where dampers act */
    const double *q_end, *v_end; /* [nq], [nv]: where actuators act; only plain coordinates of q_end are read */
} force_point;

/* What the actuators of a tree are to reach at `end_time`, and their feed-forward at `time`: once a step, or a stage. */
void world_set_targets(sim_world *world, int tree, double time, double end_time);
/* Applied forces, springs, dampers, actuators and loads on the joints of a tree, into tau[]; the number of actuators at
 * their limit. */
int world_joint_forces(sim_world *world, int tree, const force_point *at, double *tau);
/* Wrenches on the bodies of a tree at the time; NULL if there are none.  After sim_kinematics. */
const sim_force *world_wrenches(sim_world *world, int tree, double time);
/* Keep what the actuators of a tree gave: what was found with the contacts; or as last evaluated at the acceleration
 * `from`, carried on along their straight lines to `to`.  Both NULL: as evaluated. */
void world_keep_efforts(sim_world *world, int tree, const double *from, const double *to);
/* What the contact stage must know of the motors of a tree.  After world_theta_free. */
void world_tell_motors(sim_world *world, int tree);
/* Torque that holds the tree against gravity at the start of the step. */
void world_hold(sim_world *world, int tree);

/* Lists the rigid bodies of ball and free joints.  0 without memory. */
int world_spin_create(sim_world *world);
/* Does this body's joint have a quaternion? */
int world_joint_turns(const sim_model *model, int body);
/* The answer g of a sweep with velocities of v0 + theta dt a, as it is with the gyroscopic terms of these bodies implicit; 0:
 * none was found.  `extra` is what the sweep had on the diagonal, NULL: nothing. */
int world_spin_settle(sim_world *world, int tree, double theta, const double *extra, const double *a, double *g);
/* Their attitudes in `next`, for schemes whose map is the exponential one. */
void world_spin_turn(sim_world *world, int tree, const double *extra, const double *a);

/* Does a tree with ball or free joints turn far in a step?  What spin.c answers does not count. */
int world_turns_far(const sim_world *world, int tree);
typedef struct whole_step {
    double time;         /* of loads */
    const double *extra; /* what the sweep had on the diagonal, NULL: nothing */
    const double *q_end; /* where the step would end */
    int drains;          /* the scheme may lose energy */
} whole_step;
/* The mean acceleration of such a tree, after its last sweep, with the energy and momentum that forces gave it; s. */
double world_whole_settle(sim_world *world, int tree, const whole_step *at, double *a);

/* Is an actuator at b on another side of its effort limit than at a, where it was evaluated? */
int world_limits_crossed(const sim_world *world, int tree, const double *a, const double *b);
/* The part, at most 1, of the Newton step p from there that takes it to the lowest point along p; h = p' H p. */
double world_limits_search(const sim_world *world, int tree, const double *p, double h);

/* The forces of what held the trees, carried on from the last two steps to this one; and what the next one must know. */
void world_hold_lasting(sim_world *world);
void world_leave_trail(sim_world *world);
/* Is it held by what lasts from the step before?  See contacts.c. */
int world_held(const sim_world *world, int tree);
/* What has passed since the last reading goes to `stage`. */
void world_spend(sim_world *world, sim_time stage);

/* Find how one tree moves if it touches nothing: its mean acceleration, in a_out, and A, in the factors of `derived`. */
void world_theta_free(sim_world *world, int tree, sim_step_info *info);
/* Advance it from `now` to `next`, as it moves freely; or with the end velocities v_end and the shift. */
void world_theta_finish(sim_world *world, int tree);
void world_theta_finish_in_contact(sim_world *world, int tree);
/* Memory to follow contacts, 0 without; the contacts of `next` followed to the end of the step. */
int world_hold_create(sim_world *world);
int world_follow_create(sim_world *world);
void world_follow_free(sim_world *world);
int world_follow_room(sim_world *world, int contacts);
size_t world_follow_bytes(const sim_world *world);
sim_status world_follow(sim_world *world, sim_error *error);
/* The part of the step at which J of contacts is taken. */
double world_contact_place(const sim_world *world);
/* How much of v - v0 goes into the positions; whether the scheme stands where the step starts. */
double world_theta_travel(sim_integrator integrator);
/* The part of a step at which A is taken; at which loads are. */
double world_theta_position(sim_integrator integrator);
/* Do forces hang on where the step leads? */
int world_theta_implicit(sim_integrator integrator);
int world_theta_at_start(sim_integrator integrator);
double world_theta_time(sim_integrator integrator);
void world_rk4_step(sim_world *world, int tree, sim_step_info *info);

/* 0 without memory. */
int world_sleep_create(sim_world *world);
/* Likewise: the measures of `sleep`.  Whether a tree that is awake ends the step still; leaves its bodies' velocities in
 * `derived`. */
int world_still_create(sim_world *world);
int world_still(sim_world *world, int tree);
/* Refuses what no world can have left behind. */
sim_status world_sleep_check(const sim_world *world, const sim_state *state, sim_error *error);
/* Who sleeps through this step, as far as contacts do not wake it. */
void world_sleep_begin(sim_world *world);
static inline int world_sleeps(const sim_world *world, int tree) { return world->sleep && world->sleep->asleep[tree]; }
/* Wakes islands that something awake touches; how many trees. */
int world_sleep_wake(sim_world *world, const sim_contact *contact, int count);
/* The contacts within what sleeps among those of `next`, for which there is room; then their impulses, and those of
 * constraints. */
void world_sleep_keep_contacts(sim_world *world);
void world_sleep_keep_impulses(sim_world *world);
/* A sleeping tree from `now` to `next`; the number of its actuators at their limit. */
int world_sleep_pass(sim_world *world, int tree);
/* Who has been still for long enough falls asleep in `next`. */
void world_sleep_end(sim_world *world);

/* Sums up what one tree did, or one thread. */
void world_info_add(sim_step_info *sum, const sim_step_info *part);

/* Who touches, or will in this step, and what the contact stage is to know of it.  After world_theta_free for all trees. */
sim_status world_contacts_find(sim_world *world, contact_input *in, sim_error *error);
/* Where its answers go, once there is room for what was found. */
contact_output world_contacts_output(sim_world *world);
/* End velocities, shift and impulses of whatever touches, after world_theta_free for all trees. */
sim_status world_contacts_step(sim_world *world, sim_error *error);
/* Room for contacts in both states.  0 without memory. */
int world_contacts_room(sim_world *world, int count);
/* The compliance asked for, or the solver's own. */
static inline sim_compliance world_compliance(const sim_options *o) {
    return o->compliance < 0 ? o->solver->default_law : (sim_compliance)o->compliance;
}

#endif
