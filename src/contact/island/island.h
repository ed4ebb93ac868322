/* Solving an island: restitution, overlaps that a motion can undo, energy guard, correction of positions. */
#ifndef CONTACT_ISLAND_ISLAND_H
#define CONTACT_ISLAND_ISLAND_H

#include "contact/problem/assemble.h"

/* A solver with scratch memory, for one thread. */
typedef struct worker {
    sim_solver *solver;
    sim_arena *scratch;
} worker;

/* All islands, the large ones by all threads together; `failed` of each says whether it could. */
void solve_islands(assembly *f, const contact_options *options, const worker *workers, sim_threads *threads);
/* One island, with the reason of a failure in words. */
sim_status solve_island(assembly *f, const contact_options *options, const worker *w, island *is, sim_error *error);
/* The failure of a step that its caller stopped. */
sim_status fail_stopped(sim_error *error);

/* ---- budget ---- */

/* The deadlines of all islands, from now on; `parallel` of each is known. */
void budget_share_time(const assembly *f, const sim_budget *budget);
/* Is its deadline over?  Or its iterations used up? */
bool budget_is_late(const island *is);
bool budget_is_spent(const island *is, const sim_budget *budget);

/* ---- restitution ---- */

typedef enum restitution_stage {
    RESTITUTION_WHOLE,  /* no search: nothing bounces that could gain energy */
    RESTITUTION_NONE,   /* the first solution: nearly none, the measure */
    RESTITUTION_NEWTON, /* the second: all of it */
    RESTITUTION_SECANT, /* parts between */
    RESTITUTION_LAST    /* the best part once more */
} restitution_stage;

/* The search for the greatest part a of every restitution whose solution gains no more than it may. */
typedef struct restitution_search {
    const assembly *f;
    const island *is;
    double part; /* a of the next solution */
    restitution_stage stage;
    double *bound;         /* [constraints] (e s)^2 of a strike, 0 of other constraints */
    double *v_free;        /* [nv] v* of free motion */
    double *extra;         /* [nv] on the diagonal of A at a = 0 */
    double *sum, *image;   /* [nv] */
    double none, allowed;  /* J: T - T* at a = 0, and B */
    bool measured;         /* is there a solution at a = 0? */
    double residual;       /* of the solver at a = 0 */
    double low, high;      /* a that holds, and one that does not */
    double unused;         /* J that might be given back beside that at low */
    double below, above;   /* J from the bound; halved at an end that stays */
    int stayed;            /* the end that stayed: -1 low, 1 high */
    int secants, failures; /* parts tried; of them those without a solution */
} restitution_search;

/* Sets the first part; the island's problem is the full one. */
sim_status restitution_begin(restitution_search *r, const assembly *f, const island *is, double threshold,
                             sim_arena *scratch);
/* After a solution: is another one needed, with the next part? */
bool restitution_next(restitution_search *r);

/* ---- overlaps ---- */

typedef struct undo_rules {
    const double *moved;    /* [model ntree] kg that move */
    const double *size;     /* [model nbody] m */
    double undo, threshold; /* m/s: fastest undoing; slowest bounce */
    double rigid_part;      /* compliance up to which a row is rigid, over 1/M */
    bool examine_shallow;   /* shallow overlaps, too, before the first solve */
} undo_rules;

/* Lowers the targets, and raises R, of overlaps that no motion undoes. Finds the island's `budget`, `stuck` and the
 * members that follow; of shallow overlaps only by that rule, or if it is `thorough`. */
sim_status undo_possible(const assembly *f, island *is, const undo_rules *rules, sim_arena *scratch);
/* Does a stop undo an overlap, rather than bounce?  Does any rigid constraint? */
bool undo_pushes(const island *is, double threshold, const sim_constraint *c);
bool undo_any(const assembly *f, island *is, const undo_rules *rules);

/* ---- judging and guarding ---- */

/* Judges the solution; an outcome that the judge does not confirm is refuted. */
sim_status judge_island(island *is, const sim_solver *solver, sim_arena *scratch, sim_error *error);
/* J that the judged solution gains beyond what it may; 0 if none, or within the tolerances of solvers. */
double guard_excess(const island *is, sim_arena *scratch);
/* Replaces the solution by one that gains nothing. */
sim_status guard_replace(island *is, sim_arena *scratch);
/* J that undoing overlaps put in. */
double guard_undone(const island *is, double threshold);

/* The velocity with which positions move beyond v_start + travel (v - v_start), into `shift`; `fall`: g dt, m/s. */
sim_status correct_positions(const assembly *f, const island *is, double fall, sim_arena *scratch);

/* The shift that parts the bodies of an island, which was assembled at the end of the step. The gap of contact k is to
 * change by least[k] or more, m; nothing moves unless one of them is `deep`. */
sim_status separate_island(const assembly *f, island *is, const double *least, const char *deep, sim_arena *scratch);

#endif
