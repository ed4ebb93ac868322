/* The interface between a solver and the table of solvers: sim/method.h, and the services that only the library has. */
#ifndef SOLVER_CORE_CALL_H
#define SOLVER_CORE_CALL_H

#include "base/arena.h"
#include "base/threads.h"
#include <sim/method.h>

/* The contract is public: sim/method.h. */
typedef sim_solver_call solver_call;
typedef sim_solver_method solver_type;
typedef sim_solver_piece solver_piece;

/* The option of those with dense matrices: what these may take. */
#define SOLVER_MOST_MEMORY                                                                                             \
    {                                                                                                                  \
        "most_memory", "GB of dense matrices: a problem that takes more is refused before they are made", 0, 1e6, 4,   \
            0, NULL                                                                                                    \
    }

/* The option of those that go on in small steps: after how much work (solver_call.work) they give up. */
#define SOLVER_MOST_WORK                                                                                               \
    {                                                                                                                  \
        "most_work", "it ends where its work would be so many multiplications, or what takes as long, in 1e9", 0,      \
            1e12, 100, 0, NULL                                                                                         \
    }

/* For a card's `claim`: so many times the tolerance, but no more than 1e-2 unless that was asked for. */
double solver_claim(double loose, double tolerance);
/* Of pyramids whose directions stay where they are: how far friction along the nearest direction is from where it slips. */
double solver_claim_of_pyramid(int directions);

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
