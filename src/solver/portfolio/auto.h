/* State of a portfolio: its methods and their progress (auto.c). */
#ifndef SOLVER_PORTFOLIO_AUTO_H
#define SOLVER_PORTFOLIO_AUTO_H

#include "solver/core/call.h"
#include "solver/matrices/delassus_factor.h"

enum { AUTO_LOOKS = 64 };

/* Who has ended short of the tolerance may begin again from elsewhere; who is done may not. */
typedef enum auto_stage { AUTO_NOT_BEGUN, AUTO_RUNNING, AUTO_ENDED, AUTO_DONE } auto_stage;

/* A method. */
typedef struct auto_branch {
    int index;
    const solver_type *type;
    auto_stage stage;
    solver_call call; /* with its own options, and `out` */
    sim_solution out; /* the best that it has found since it last began */
    double *option;
    void *state;
    int limit;     /* place of the option that limits iterations */
    int rounds;    /* W is not symmetric: each turn is a solve of its own, from the best there is (symmetric_split.c) */
    int again;     /* together: it has ended, and may begin once more from the best there is */
    double ended;  /* best E when it did */
    double taken;  /* apart: E of the impulses that it took last from another */
    double before; /* its work before the present start */
    double expected;  /* work of beginning, and of an iteration, before it has begun */
    int turns, looks; /* turns; E after so much work, since the turn began */
    double E_at[AUTO_LOOKS], work_at[AUTO_LOOKS];
} auto_branch;

/* From where and in which way they set out, and when it has come to nothing (auto.c). */
typedef struct auto_start {
    int together, from_guess;
    double least, growth;
} auto_start;

typedef struct auto_turns {
    solver_call *call;
    const sim_problem *problem;
    sim_problem velocities; /* a local problem with a factor of W ... */
    bool factored;          /* ... after the first attempt */
    delassus_factor_result factor;
    double *guess; /* [nrow] finite; NULL: none */
    int count;
    auto_branch branch[SIM_MAX_BRANCHES];
    double tolerance;
    int best;                       /* who found the best answer; -1: there is none */
    double E, *impulse, *v;         /* of it */
    const auto_start *start;        /* the present one */
    const double *from;             /* its impulses; NULL: the problem's guess */
    double began;                   /* work before it, and that is no iteration */
    double least;                   /* E since then */
    double halved, work_at_halving; /* when it was last halved */
} auto_turns;

/* These return false without memory. */
bool auto_set_up(auto_turns *t, const solver_type *const *type, int count, void **kept);
bool auto_begin(auto_turns *t, auto_branch *b);
/* A turn of one whole solve, of about `steps` iterations. */
bool auto_solve_in_rounds(auto_turns *t, auto_branch *b, double steps);

/* On for so much work. */
bool auto_go_on(auto_turns *t, auto_branch *b, double work);

/* The method begins anew from the impulses `from`. */
void auto_take(auto_turns *t, auto_branch *b, const double *from);
/* All do, from the present start. */
bool auto_begin_anew(auto_turns *t);
/* Is there anything to do for a finisher b, beside `own`, who goes his own way?  It takes it up. */
bool auto_may_finish(const auto_turns *t, const auto_branch *b, const auto_branch *own);
void auto_hand_over(auto_turns *t, auto_branch *b);
/* E as it stands after some work. */
void auto_look(auto_turns *t, auto_branch *b);
/* Work of all so far; of one, from the present start; of an iteration, as known or guessed. */
double auto_work(const auto_turns *t);
static inline double auto_since(const auto_branch *b) { return b->call.work - b->before; }
double auto_unit(const auto_turns *t, const auto_branch *b);
/* The effort of a part is added to that of all. */
void auto_add_effort(sim_solution *sum, const sim_solution *part);

#endif
