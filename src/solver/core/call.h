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

/* Option "most_memory": the bound on the dense matrices of a solver that has any. */
#define SOLVER_MEMORY_OPTION                                                                                           \
    {                                                                                                                  \
        .name = "most_memory", .help = "limit on dense matrices, GB; larger problems are refused", .low = 0,           \
        .high = 1e6, .default_value = 4                                                                                \
    }

/* Option "most_work": the bound on solver_call.work of a solver with many cheap iterations. */
#define SOLVER_WORK_OPTION                                                                                             \
    {                                                                                                                  \
        .name = "most_work", .help = "limit on the work of a solve, in 1e9 multiplications", .low = 0, .high = 1e12,   \
        .default_value = 100                                                                                           \
    }

/* For `claim` of a sim_solver_info: so many times the tolerance, but no more than 1e-2 unless that was asked for. */
double solver_claim(double loose, double tolerance);
/* Of pyramids whose directions stay where they are: how far friction along the nearest direction is from where it slips. */
double solver_claim_of_pyramid(int directions);

/* Items taken in pieces by the threads of a call (threads.h). */
static inline void solver_run(const solver_call *call, int items, threads_task *share, void *context) {
    if (call->threads) {
        threads_run_dynamic(call->threads, items, share, context);
    } else if (items > 0) {
        share(context, 0, 0, items);
    }
}

/* Has who waits for the answer had enough?  To be asked once an iteration. */
static inline int solution_stopped(const sim_solution *out) { return out->stop && out->stop(out->stop_context); }

/* Writes gamma, and v = v* + A^-1 J' gamma where there are velocities, into the caller's solution. */
void solution_write(const solver_call *call, const double *gamma);
/* The same with the impulses that call->out already holds. */
void solution_write_velocity(const solver_call *call);

/* `solve` of a method that has `begin` and `resume`. */
typedef void *solver_begin(solver_call *call);
typedef solver_piece solver_resume(void *state, double until);
sim_status solver_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume);

/* Keep an iteration in the history, if one is asked for. */
void solver_record(solver_call *call, double residual, double cost);
/* And before it, the unknown that belongs to it. */
void solver_record_place(solver_call *call, const double *x);

#endif
