/* Internal interface of a solver: the contract of sim/method.h, and services for solvers of the library. */
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

/* Option "most_work" of Newton methods: the bound on the work of their factors. */
#define SOLVER_FACTORS_OPTION                                                                                          \
    {                                                                                                                  \
        .name = "most_work", .help = "limit on the multiplications of all factors, in 1e9", .low = 0, .high = 1e12,    \
        .default_value = 5e3                                                                                           \
    }

/* Option "most_work": the bound on solver_call.work of a solver with many cheap iterations. */
#define SOLVER_WORK_OPTION                                                                                             \
    {                                                                                                                  \
        .name = "most_work", .help = "limit on the work of a solve, in 1e9 multiplications", .low = 0, .high = 1e12,   \
        .default_value = 100                                                                                           \
    }

/* For `claim` of a sim_solver_info: `factor` times the tolerance, at most 1e-2 unless the tolerance is larger. */
double solver_claim(double factor, double tolerance);
/* The same for pyramids with fixed directions: distance of the friction cone from a pyramid, relative. */
double solver_claim_of_pyramid(int directions);

/* Shares items among the threads of a call (threads.h). */
static inline void solver_run(const solver_call *call, int items, threads_task *share, void *context) {
    if (call->threads) {
        threads_run_dynamic(call->threads, items, share, context);
    } else if (items > 0) {
        share(context, 0, 0, items);
    }
}

/* True when the caller wants the solver to stop.  Call it once an iteration. */
static inline bool solution_stopped(const sim_solution *out) { return out->stop && out->stop(out->stop_context); }

/* Writes gamma, and v = v* + A^-1 J' gamma where there are velocities, into the caller's solution. */
void solution_write(const solver_call *call, const double *gamma);
/* The same with the impulses that call->out already holds. */
void solution_write_velocity(const solver_call *call);

/* `solve` of a method that has `begin` and `resume`. */
typedef void *solver_begin(solver_call *call);
typedef solver_piece solver_resume(void *state, double until);
sim_status solver_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume);

/* Adds an iteration to the history, if the caller wants one. */
void solver_record(solver_call *call, double residual, double cost);
/* And before it, the unknown of that iteration. */
void solver_record_place(solver_call *call, const double *x);

#endif
