/* Statistics of a run, gathered step by step. */
#ifndef RECORD_RUN_RUN_STATISTICS_H
#define RECORD_RUN_RUN_STATISTICS_H

#include "record/run/frequent_pairs.h"
#include <sim/judge.h>
#include <sim/scene.h>
#include <sim/solver.h>
#include <sim/world.h>
#include <stddef.h>
#include <stdint.h>

/* Islands for which a solver gave up, by reason; those that a method of a portfolio finished. */
typedef struct reason_counts {
    int64_t of[SIM_REASONS];
} reason_counts;

typedef struct branch_counts {
    int64_t of[SIM_MAX_BRANCHES];
} branch_counts;

/* Of a figure that each solved step has: sum, greatest, when that was, and between which bodies (-1: one alone, or not
 * known). */
typedef struct figure_statistics {
    double sum, worst, time;
    int body[2];
} figure_statistics;

/* Certificates of the solutions of a run; sim/judge.h defines each figure. */
enum {
    FIGURE_E,
    FIGURE_OWN,
    FIGURE_MOMENTUM,
    FIGURE_PENETRATION,
    FIGURE_PAST_RANGE,
    FIGURE_SLIP,
    FIGURE_EXCESS,
    FIGURES
};

typedef struct contact_statistics {
    int64_t steps;    /* with anything to solve: contacts, or rows of joints alone */
    int64_t touching; /* with contacts */
    int64_t contacts; /* summed over them */
    int most_contacts, most_islands;
    int64_t iterations, total; /* of the solver: those of the hardest island of each step; of all islands */
    int most_iterations;
    int64_t unsolved_steps, unsolved_islands;
    reason_counts gave_up;  /* islands */
    double first_unsolved;  /* simulated time ... */
    int unsolved_body[2];   /* ... and the bodies with the greatest errors */
    frequent_pairs jammed;  /* such bodies of each unsolved step */
    branch_counts finished; /* islands */
    figure_statistics figure[FIGURES];
    figure_statistics sag;     /* m, the deepest relative to the radius of its body ... */
    double sag_part;           /* ... and that part */
    int sinking, most_sinking; /* for so many steps on end it is much, between the same bodies: now; at most */
    int sinking_body[2];
    figure_statistics lift; /* m, greatest lift of a sliding contact by the convex law */
} contact_statistics;

/* Overlaps that no motion undoes, energy from undoing the others, and rejected solutions. */
typedef struct overlap_statistics {
    int64_t stuck, refused; /* steps */
    double first_stuck, first_refused;
    int body[2]; /* of the deepest that is stuck */
    double depth;
    double undone; /* J */
} overlap_statistics;

typedef struct sleep_statistics {
    int64_t bodies, woken; /* asleep, summed over steps; trees that woke */
    int most_bodies, now;  /* now: in the last step */
    double stilled;        /* J, kinetic energy lost by islands that fell asleep */
} sleep_statistics;

/* Steps that created energy. */
typedef struct energy_gains {
    int64_t steps;
    double first; /* simulated time */
    double most;  /* J, in one step ... */
    int body;     /* ... of this body, or of the tree that begins with it */
} energy_gains;

typedef struct run_statistics {
    double started;     /* on the clock, s */
    int64_t first_step; /* the state's step number at the start */
    double first_time;
    int64_t steps;
    int64_t iterations; /* summed */
    int most_iterations;
    double worst_residual;
    int64_t nonconverged;      /* steps */
    double first_nonconverged; /* simulated time */
    int64_t saturated;         /* steps */
    int64_t damped;            /* steps with soft bodies moved by implicit Euler ... */
    double first_damped;       /* ... simulated time */
    energy_gains curbed;       /* of trees without force, taken back */
    energy_gains created;      /* by the elasticity of soft bodies */
    contact_statistics contact;
    sleep_statistics sleep;
    overlap_statistics overlap;
    int64_t energy_samples;
    double energy_first, energy_last, energy_least, energy_most;
    figure_statistics opening; /* of rigid constraints between bodies, m; `worst` < 0: there are none */
} run_statistics;

double clock_seconds(void);
size_t peak_memory(void); /* bytes */

void statistics_start(run_statistics *statistics, const sim_world *world);
void statistics_add_step(run_statistics *statistics, const sim_world *world);
/* Energy of the present state, and openings of constraints. */
void statistics_add_state(run_statistics *statistics, sim_world *world);
double statistics_simulated_time(const run_statistics *statistics, const sim_world *world);
/* Does something sink in under a load?  An impact is over after some steps. */
bool statistics_sinks(const contact_statistics *statistics);
/* Largest distance of the energy from where it started. */
double statistics_energy_change(const run_statistics *statistics);

/* Number of steps of a run.  SIM_BAD_INPUT: a step longer than the duration, or too many. */
sim_status count_run_steps(const sim_scene *scene, int64_t *steps, sim_error *error);

#endif
