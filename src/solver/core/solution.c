/* Solution of a solver for its caller: history, impulses and velocities, claimed accuracy. */
#include "solver/core/call.h"
#include "solver/core/products.h"

#include <math.h>
#include <string.h>

static const double MAX_CLAIM = 1e-2; /* error that a solver may claim as solved, unless its tolerance is larger */

double solver_claim(double factor, double tolerance) { return fmax(fmin(factor * tolerance, MAX_CLAIM), tolerance); }

double solver_claim_of_pyramid(int directions) { return 2 * sin(M_PI / (2 * directions)); }

void solver_record(solver_call *call, double residual, double cost) {
    sim_history *h = call->out->history;
    if (h && h->count < h->room) {
        h->residual[h->count] = residual;
        h->cost[h->count] = cost;
        h->count++;
    }
}

void solver_record_place(solver_call *call, const double *x) {
    sim_history *h = call->out->history;
    int n = call->problem->nrow;
    if (h && h->place && h->count < h->room && h->place_count <= h->place_room - n) {
        memcpy(h->place + h->place_count, x, (size_t)n * sizeof *x);
        h->place_count += n;
    }
}

void solution_write(const solver_call *call, const double *gamma) {
    memcpy(call->out->impulse, gamma, (size_t)call->problem->nrow * sizeof *gamma);
    solution_write_velocity(call);
}

void solution_write_velocity(const solver_call *call) {
    if (!sim_problem_local(call->problem)) {
        problem_response(call->problem, call->out->impulse, call->out->v);
    }
}

sim_status solver_solve_in_one_piece(solver_call *call, solver_begin *begin, solver_resume *resume) {
    void *state = begin(call);
    return state && resume(state, HUGE_VAL) != SIM_PIECE_NO_MEMORY ? SIM_OK : SIM_NO_RESOURCE;
}
