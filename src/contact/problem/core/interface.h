/* Input, output and options of the contact stage of a step. */
#ifndef CONTACT_PROBLEM_CORE_INTERFACE_H
#define CONTACT_PROBLEM_CORE_INTERFACE_H

#include "base/threads.h"
#include "collide/follow.h"
#include "dyn/soft/soft_system.h"
#include <sim/collide.h>
#include <sim/dynamics.h>
#include <sim/judge.h>
#include <sim/solver.h>

typedef struct contact_options {
    const sim_solver_info *solver;
    const double *solver_option; /* NULL: defaults */
    sim_budget budget;
    sim_compliance compliance;
    sim_law_options law;
    int threads;
    bool bodies; /* problems have bodies even if the solver does not ask for them */
} contact_options;

/* Parts of the time of solving. */
enum { CONTACT_REGULARISE, CONTACT_SOLVER, CONTACT_CORRECTION, CONTACT_JUDGE, CONTACT_FACTOR, CONTACT_PARTS };
/* A limited actuator: one with feedback and a range of forces.  Free motion has it on one side: within its range (0),
 * or at an end (-1, 1).  Its force is middle + s within +-bound, s = force - (theta dt stiffness + damping) v, with the
 * velocity v of its length.  Positions move with the part theta of v. */
typedef struct contact_actuator {
    int actuator, side;
    double gain;          /* how s falls as the acceleration of its length grows; in `extra` if the side is 0.  0: it is
                             no row */
    double middle, bound; /* N or N m */
    const double *range;  /* low, high: middle -+ bound */
    double force;         /* at v = 0, without the limit */
    const double *moment; /* [nv of its tree] dl/dq, at its length; NULL: of a joint.  With one it is always a row */
    double stiffness, damping; /* of its force over its length at the end, and its rate */
} contact_actuator;

typedef struct contact_input {
    const sim_derived *start; /* kinematics where the step starts: there the gaps are taken */
    const sim_derived
        *middle; /* kinematics where J of contacts is taken, the part `place` of the step on; NULL: at the start */
    const sim_derived *end; /* kinematics and velocities where the step is expected to lead; NULL: not known */
    const double *v_ahead;  /* [nv] the velocities there */
    double place;
    const followed_contact *followed;  /* [ncontact] the contacts at `end`; NULL: not known */
    sim_derived *mass;                 /* kinematics and factors where A = M + diag(extra) is taken */
    const double *extra;               /* [nv] */
    const sim_articulated *body_extra; /* [nbody] of A besides, on bodies: M + diag(extra) + J' E J; NULL: none */
    soft_system *const *soft;          /* [ntree] of soft bodies, with their factors; NULL: there are none */
    const double *q_start, *v_start, *v_free;
    long long index;    /* of the step, from 0 */
    double step;        /* s */
    double position;    /* the mass is taken this part of the step on ... */
    bool holds;         /* the scheme wants the forces of contacts beforehand, for the next step */
    double travel;      /* ... and positions move with v_start + travel (v - v_start) */
    double elastic;     /* elastic forces act this part of the step on */
    const char *damped; /* [ntree] trees that implicit Euler moves: all these parts are 1; NULL: none */
    const char *asleep; /* [ntree] trees that take no part; NULL: none */
    const sim_contact *contact;
    int ncontact;
    const sim_contact *before; /* of the step before, with their impulses: where solvers start */
    const sim_v3 *impulse_before, *trend_before;
    int nbefore;
    const sim_equality *equality; /* [nequality] those of the model as they act in this step */
    const double *joint_before, *equality_before, *tendon_before; /* likewise, in the order of the output */
    const sim_clock *clock;                                       /* times the parts of solving; NULL: not asked for */
    const sim_watch *watch;                                       /* NULL: the step cannot be stopped */
    const contact_actuator *actuator;                             /* limited ones ... */
    int nactuator;                                                /* ... so many */
    const double *effort_before;                                  /* [nactuator] */
} contact_input;

typedef struct contact_info {
    int islands, constraints, rows;
    int iterations;                 /* maximum over islands ... */
    int total;                      /* ... and the sum over islands */
    int unsolved;                   /* islands whose solver gave up ... */
    int gave_up[SIM_REASONS];       /* ... by reason */
    int finished[SIM_MAX_BRANCHES]; /* islands that each branch of the solver solved */
    int factorisations;
    double multiplications;        /* of them, summed over islands */
    double seconds[CONTACT_PARTS]; /* summed over islands; the factor's are part of the solver's */
    int stuck;                     /* constraints whose overlap no motion undoes ... */
    int stuck_body[2];             /* ... and of the deepest the bodies, ... */
    double stuck_depth;            /* ... and how deep, m or rad */
    int refused;                   /* islands whose solution created energy, and was replaced */
    double undone;                 /* J that undoing overlaps put in */
    sim_certificate certificate;
    int worst_body[SIM_WORSTS][2]; /* as in sim_step_info */
    int sag_body[2];               /* likewise */
    double sag, sag_part;
    double lift;
    int lift_body[2];
} contact_info;

/* All arrays are the caller's; those of trees without constraints are unchanged. */
typedef struct contact_output {
    double *v;                /* [nv] end velocities of the trees in contact */
    double *shift;            /* [nv] velocity with which positions move besides: see position_correction.c */
    char *touched;            /* [ntree] */
    char *unsolved;           /* [ntree] of islands whose solver gave up */
    char *parted;             /* [ntree] of ties of soft bodies whose velocities jump; NULL: there are no soft bodies */
    sim_v3 *impulse;          /* [ncontact] N s, in the world, on A */
    sim_v3 *impulse_trend;    /* [ncontact] its change in this step, zero where it struck */
    sim_contact *contact;     /* [ncontact] the contacts themselves, whose moments are filled; NULL: not asked for */
    double *joint_impulse;    /* [nv][SIM_JOINT_ROWS] */
    double *equality_impulse; /* [nequality][6] */
    double *tendon_impulse;   /* [ntendon][4] low end, high end, dry friction, spring */
    double *held;             /* [nv] generalised forces of the equalities and tendon springs, over the step */
    double *pressed;          /* [nv] ... and of contacts and limits that may last */
    double *unheld;           /* [nv] ... and of all contacts and limits; NULL: not asked for */
    double *effort;           /* [nactuator] of actuators that are rows; NAN for others: unchanged */
    double *promised;         /* [ncontact] m: the gap at the end of the step by the law; NULL: not asked for */
    double *elastic_work;     /* [ntree] J: of rows of elasticity; NULL: there are no soft bodies */
    double *tied_work;        /* [ntree] J: of rigid constraints that tie soft bodies, on both sides; likewise */
    contact_info info;
} contact_output;

/* The order in which contacts are listed: by shapes and feature; 0 for the same one. */
int contact_order(const sim_contact *a, const sim_contact *b);

/* Do its options ask for the positions of problems? */
bool contact_wants_positions(const sim_solver_info *info, const double *option);

/* Can its force follow its length, up to a limit? */
bool contact_actuator_is_limited(const sim_model *m, int actuator);

/* Refuses a solver that lacks a kind of constraint of the model. */
sim_status contact_kinds_check(const sim_model *model, const sim_solver_info *info, sim_error *error);

/* x_1 - P(x_2) of a coupling, P its polynomial with offset and ratio. */
static inline double equality_polynomial_gap(const sim_equality *e, double x1, double x2) {
    return x1 - e->offset - e->ratio * x2 - x2 * x2 * (e->higher[0] + x2 * (e->higher[1] + x2 * e->higher[2]));
}

/* Has the model ranges, dry friction, tendons or constraints between bodies, which need the stage without any contact? */
bool contact_stage_needed(const sim_model *model);

#endif
