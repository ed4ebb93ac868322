/* Contacts within a step: from the free motion to the input of the contact stage, and from its output to the next
 * state. */
#ifndef WORLD_CONTACT_CONTACTS_H
#define WORLD_CONTACT_CONTACTS_H

#include "collide/collision.h"
#include "contact/stage.h"
#include "math/v3.h"
#include "world/integrator/motion.h"
#include "world/sleep/sleep.h"

/* A child of the world with all that it carries. */
typedef struct limb {
    int v0, v_end; /* its dofs */
    int pairs;     /* of shapes by which it is touched */
    double size;   /* m, radius of its smallest shape */
    double mass;   /* kg */
} limb;

/* How a contact lasts (prediction.c): by the pair at the end of the step; likewise, on surfaces that turn as one; carried
 * by both bodies, between more pairs. */
typedef enum lasting_way { LASTS_NOT, LASTS, LASTS_AS_ONE, LASTS_CARRIED } lasting_way;

typedef struct world_contacts {
    /* read */
    const sim_model *model;
    const sim_options *options;
    const sim_equality *equality; /* [nequality] as they act now */
    sim_threads *threads;
    memory_pool *pool;

    /* written */
    sim_state *now; /* only its room for contacts */
    sim_state *next;
    sim_step_info *info;
    motion_work *motion; /* free motion; of trees that a contact wakes it is found here */
    world_sleep *sleep;  /* NULL: nothing sleeps */
    worker_info *worker; /* [threads] */

    contact_stage *stage;       /* NULL: there can be no constraint */
    collision_stage *collision; /* the world's */
    bool collides;              /* can shapes touch? */
    sim_derived *start; /* kinematics where the step starts; the motion's own where that is the point of the scheme */
    sim_derived *middle,
        *end; /* where J of contacts is taken; where the velocities of the start lead: see prediction.c */
    int room; /* for contacts in `now` and `next` */

    /* contacts that last (prediction.c) */
    contact_follower *follower;
    lasting_way *way;           /* [room] of contacts that last ... */
    char *wanted;               /* [room] ... of which these are collided again */
    char *lasts;                /* [ntree] the trees that they press */
    bool any_lasts;             /* is one of them so? */
    followed_contact *followed; /* [room] */
    limb *limb;                 /* [nbody] at its first body */
    int *limb_of;               /* [nbody] that first body */
    double *mass;               /* [nv] that each dof feels, where the model begins */
    double *q_ahead;            /* [nq] */
    double *v_ahead;            /* [nv] predicted end velocities of these trees ... */
    double *v_mean;             /* ... and those that positions move with */
    double *held;               /* [nv] forces of constraints a step ago, as far as they last */
    double *elastic_work;       /* [ntree] J: of rows of elasticity; NULL: there are no soft bodies */
    double *tied_work;          /* [ntree] J: of rigid constraints that tie soft bodies; likewise */
    double *gain, *energies;    /* [ntree] J: energy that the step gave, that at both ends (soft_damping.c); likewise */
    double *own_gain;           /* [ntree] of sets now damped, by their scheme, over the energies; INFINITY: unknown */
    int *tied_set;              /* [ntree] sets of trees that constraints tie; likewise */
    char *tie_parted;           /* [ntree] of ties of soft bodies whose velocities jump; likewise */
    double *unheld;             /* [nv] forces of all contacts and limits of this step */

    /* bodies that overlap at the end (separation.c) */
    double *body_size, *body_reach; /* [nbody] m: radius of its smallest shape; of all its shapes from its origin */
    char *on_course;                /* [nbody] it has moved as the contact problem had in view */
    char *parted;                   /* [ntree] */
    double *promised;               /* [room] m: gaps at the end, by the law */
    double *least;                  /* [least_room] m: least changes of gaps there */
    char *deep;                     /* ... and which of them must change */
    int least_room;

    /* result */
    double *v_free, *v_end, *shift; /* [nv] without contacts; with them; see contact/island/position_correction.c */
    char *in_contact;               /* [ntree] */
    char *unsolved;                 /* [ntree] its contacts have no solution */
    double *row_effort;             /* [nactuator] efforts found with the contacts; NAN: of other actuators */
} world_contacts;

/* ---- contacts.c ---- */

/* Contacts of the step into `next`, and the input of the contact stage.  After the free motion of all trees. */
sim_status contacts_find(world_contacts *c, contact_input *in, sim_error *error);
/* The places of the stage's output, for the contacts that were found. */
contact_output contacts_output(world_contacts *c);
/* Counts of the stage, impulses of sleeping islands; fails if an impulse is not finite. */
sim_status contacts_report(world_contacts *c, const contact_info *info, sim_error *error);
/* Room for contacts in both states. */
sim_status contacts_make_room(world_contacts *c, int count);
/* Room for contacts in a state; false without memory.  And their end. */
bool state_make_room(sim_state *state, int contacts);
void state_free_contacts(sim_state *state);
/* Was its free motion found with forces of constraints of the step before? */
bool contacts_hold(const world_contacts *c, int tree);

/* v* of a tree from its free motion, less the forces of constraints that this held. */
void free_velocity(world_contacts *c, int tree);

/* ---- soft_newton.c ---- */

sim_status soft_newton_create(world_contacts *c);
/* Elastic energy of a tree at the coordinates q, less pressure times volume of its chambers, J; adds its derivative along
 * v to `slope`, unless that is NULL. */
double soft_newton_potential(const world_contacts *c, int tree, const double *q, const double *v, double *slope);
/* Linearises the elasticity of soft bodies anew about the solution, and solves again, until it creates no energy. */
sim_status soft_newton(world_contacts *c, const contact_input *in, contact_output *out, sim_error *error);

/* ---- soft_damping.c ---- */

/* At the begin of a step: no tree is damped. */
void soft_damp_none(world_contacts *c);
/* Damps what is tied to damped trees: are there more?  Their free motion is to be found again. */
bool soft_damp_tied(world_contacts *c);
/* Damps soft bodies that the step gave energy, or whose ties part, with what is tied to them; likewise.  Notes the energy
 * that steps of any scheme create. */
bool soft_damp(world_contacts *c);
/* Soft bodies that implicit Euler moves in this step. */
int soft_damped_count(const world_contacts *c);

/* ---- acting_point.c ---- */

/* The point at which a contact acts, from the one midway between the surfaces.  Of an overlap with a fixed body it
 * is on the surface of the moving body: a ball of radius r that rolls keeps its lever r.  With the lever r - overlap
 * / 2 it would lose the part overlap / 2r of its speed as it begins to roll.  Contacts with a stiffness stay midway. */
v3 acting_point(const sim_model *m, const sim_contact *c, v3 midway, v3 normal, double gap);

/* ---- prediction.c ---- */

sim_status forces_create(world_contacts *c);
sim_status prediction_create(world_contacts *c);
void prediction_free(world_contacts *c);
sim_status prediction_make_room(world_contacts *c, int contacts);
size_t prediction_bytes(const world_contacts *c);
/* Forces of constraints, extrapolated from the last two steps to this one, into `held`. */
void extrapolate_forces(world_contacts *c);
/* Drops the lasting forces of this step in trees where they are not near all forces of contacts and limits. */
void drop_unbalanced_forces(world_contacts *c);
/* Were the lasting forces of contacts near each other in the two steps before a state? */
bool forces_last(const world_contacts *c, const sim_state *at, int tree);
/* Does free motion from a state take the lasting forces of contacts on, as they change from step to step? */
bool forces_go_on(world_contacts *c, const sim_state *at, int tree);
/* The contacts of `next` that last, where the step is expected to end. */
sim_status predict_contacts(world_contacts *c, sim_error *error);
/* The part of the step at which J of contacts is taken. */
double prediction_place(const sim_options *options);
/* Has nothing struck a tree in the two steps before a state?  Leaves the change of v expected in the next step in v_ahead,
 * and overwrites v_mean. */
bool prediction_is_smooth(world_contacts *c, const sim_state *at, int tree);
/* Can it change its answer while no velocity of the tree changes by more than `speed`, m/s or rad/s?  Overwrites both. */
bool prediction_may_change(world_contacts *c, const sim_state *at, int tree, double speed);
/* Velocities and forces of the last steps, for the extrapolations of the next one. */
void keep_trail(const sim_model *model, const sim_state *now, sim_state *next);

/* ---- separation.c ---- */

sim_status separation_create(world_contacts *c);
void separation_free(world_contacts *c);
size_t separation_bytes(const world_contacts *c);
sim_status separation_make_room(world_contacts *c, int contacts);
/* Shifts positions of `next` until bodies that moved overlap no more than the law promised. */
sim_status separate_bodies(world_contacts *c, sim_error *error);

#endif
