/* What a solver's file gives to the table, and what it gets. */
#ifndef SOLVER_SOLVER_H
#define SOLVER_SOLVER_H

#include "base/arena.h"
#include "base/threads.h"
#include <sim/solver.h>

typedef struct solver_call {
    const sim_problem *problem;
    const double *R, *target; /* [nrow] */
    const double *option;     /* one for each of the card's */
    sim_arena *scratch;       /* given back after the call */
    void *kept;               /* what `create` made */
    sim_solution *out;
    /* Told by those that can be interrupted, in multiplications or what takes as long: done so far; of an iteration. */
    double work, unit;
    sim_threads *threads; /* that one problem may be spread over, to the same bits; NULL: none but the caller's */
} solver_call;

/* How a piece of work ended. */
typedef enum solver_piece { SOLVER_NO_MEMORY, SOLVER_PAUSED, SOLVER_ENDED } solver_piece;

typedef struct solver_type {
    sim_solver_card card;
    int spreads;           /* makes use of threads */
    int lapack;            /* calls LAPACK for so many rows or more; 0: never */
    void *(*create)(void); /* memory from call to call, which must change no bit; NULL: none wanted */
    void (*destroy)(void *kept);
    int (*solve)(
        solver_call *call); /* 0 without memory.  Fills v, impulse, outcome, iterations, residual on every path */
    /* The same in pieces, for solvers made of others; NULL: only whole.  State and memory of a call are in its scratch.
     * `begin` gives NULL without memory; `go_on` works until call->work is `until` or more, or it ends, and leaves the
     * best answer so far in call->out; `take` begins anew from these impulses, and leaves them there. */
    void *(*begin)(solver_call *call);
    solver_piece (*go_on)(void *state, double until);
    void (*take)(void *state, const double *impulse);
} solver_type;

/* The solvers, each in its own file; listed in table.c */
extern const solver_type solver_sap;

/* Lets a solver spread problems over threads, which nobody else may use meanwhile; NULL: no more.  Has it use for them? */
void solver_lend(sim_solver *solver, sim_threads *threads);
int solver_spreads(const sim_solver *solver);

/* Items taken in pieces by the threads of a call (threads.h). */
static inline void solver_run(const solver_call *call, int items, sim_share *share, void *context) {
    if (call->threads) {
        sim_threads_take(call->threads, items, share, context);
    } else if (items > 0) {
        share(context, 0, 0, items);
    }
}

/* Has who waits for the answer had enough?  To be asked once an iteration. */
static inline int solution_stopped(const sim_solution *out) { return out->stop && out->stop(out->stop_context); }

/* gamma, and v = v* + A^-1 J' gamma where there are velocities, to the caller of the solver. */
void solver_hand_out(const solver_call *call, const double *gamma);

/* Keep an iteration in the history, if one is asked for. */
void solver_record(solver_call *call, double residual, double cost);
/* And before it, the unknown that belongs to it. */
void solver_record_place(solver_call *call, const double *x);

#endif
