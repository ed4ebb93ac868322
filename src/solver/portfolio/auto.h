/* State of the portfolio: its methods and their progress (auto.c). */
#ifndef SOLVER_PORTFOLIO_AUTO_H
#define SOLVER_PORTFOLIO_AUTO_H

#include "solver/core/call.h"
#include "solver/matrices/delassus_factor.h"

enum { AUTO_MAX_RECORDS = 64, AUTO_MAX_BRANCHES = 5 };
/* Option "most_stalled" of acn by its other rules than the exact one, which keeps its default.  In hard problems E stands
 * still for 100 to 400 outer iterations, then falls. */
enum { AUTO_MAX_STALLED = 400 };

/* ENDED: short of the tolerance, may restart from other impulses.  DONE: may not. */
typedef enum auto_stage { AUTO_NOT_BEGUN, AUTO_RUNNING, AUTO_ENDED, AUTO_DONE } auto_stage;

/* One method. */
typedef struct auto_branch {
    int index;
    const solver_type *type;
    auto_stage stage;
    solver_call call; /* with its own options, and `out` */
    sim_solution out; /* its best solution since its last start */
    double *option;
    void *state;
    int limit, stalled, exact; /* indices of the options that limit iterations, and choose the exact rule of acn */
    int whole_solves; /* 1: W is not symmetric; each turn is a whole solve from the best solution (symmetric_split.c) */
    int again;        /* together: it has ended and may restart from the best solution */
    double ended_E;   /* best E at its end */
    double taken_E;   /* apart: E of the impulses last taken from another method */
    double work_before; /* its work before the present start */
    double expected;    /* work of its preparation and of an iteration, before it has begun */
    int turns, records; /* turns; records of E and work in the present turn */
    double E_at[AUTO_MAX_RECORDS], work_at[AUTO_MAX_RECORDS];
} auto_branch;

/* One start of the portfolio: mode, initial impulses, and the work after which it has failed (auto.c). */
typedef struct auto_start {
    int together, from_warm_start;
    double least, growth; /* least work, over that of the methods; growth of work in which E must halve */
} auto_start;

typedef struct auto_turns {
    solver_call *call;
    const sim_problem *problem;
    sim_problem velocities; /* a local problem with a factor of W ... */
    bool factored;          /* ... after the first attempt */
    delassus_factor_result factor;
    double *warm_start; /* [nrow] finite; NULL: none */
    int count;
    auto_branch branch[AUTO_MAX_BRANCHES];
    double tolerance;
    int best;                       /* method of the best solution; -1: none */
    double E, *impulse, *v;         /* of it */
    const auto_start *start;        /* the present one */
    const double *from;             /* its impulses; NULL: the problem's warm start */
    double excluded_work;           /* work before it, and of preparations */
    double first_work;              /* of the first run of acn; 0: there was none */
    double hard_work;               /* of acn on a hard problem of this size; HUGE_VAL: no patience was asked for */
    double least;                   /* least E since then */
    double halved, work_at_halving; /* E and work at the last halving of E */
} auto_turns;

/* These return false without memory. */
bool auto_init_branches(auto_turns *t, const solver_type *const *type, int count, void **kept);
bool auto_begin_branch(auto_turns *t, auto_branch *b);
/* A turn of one whole solve with about `steps` iterations. */
bool auto_solve_turn(auto_turns *t, auto_branch *b, double steps);

/* Resumes a method for so much work. */
bool auto_resume_branch(auto_turns *t, auto_branch *b, double work);

/* Restarts a method from the impulses `from`. */
void auto_restart_branch(auto_turns *t, auto_branch *b, const double *from);
/* Restarts all methods from the present start. */
bool auto_restart_all(auto_turns *t);
/* The finisher b may run besides `own`, Newton's method from its own start; exchange of impulses before a turn. */
bool auto_may_finish(const auto_turns *t, const auto_branch *b, const auto_branch *own);
void auto_exchange(auto_turns *t, auto_branch *b);
/* Records E after some work; keeps the best solution. */
void auto_record_error(auto_turns *t, auto_branch *b);
/* Work of all methods; of one since the present start; of one iteration, known or estimated. */
double auto_total_work(const auto_turns *t);
static inline double auto_work_since_start(const auto_branch *b) { return b->call.work - b->work_before; }
double auto_iteration_work(const auto_turns *t, const auto_branch *b);
/* Iterations that the caller's limit leaves to all methods; HUGE_VAL without one. */
double auto_iterations_left(const auto_turns *t);
/* sum += iterations, factorisations, searches and multiplications of a part. */
void auto_add_effort(sim_solution *sum, const sim_solution *part);

#endif
