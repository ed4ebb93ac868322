/* Restart from a minimum that is no solution.
 *
 * l = |r|^2 / 2 has such minima: on an edge, with J' r = 0 across and along it, but J singular, so that r is not 0.  Todorov
 * (2010, section III) calls them very rare and would begin anew; in piles with mu >= 1 he meets them in each third step or so.
 * They are no fault of how steps are taken: l measured with other weights has them as well.  What leads out of them:
 *
 *   sweeps     of Gauss and Seidel, from the guess or from nothing, not from the minimum;
 *   softening  from the best there is, a W that is not singular, ever less soft (proximal.c).
 *
 * Where l is not halved in some iterations the next way is taken at once; after the last way there is no hurry.  Iterations of all
 * descents are counted as such, and share one limit; restarts are counted as failures, sweeps as searches. */
#include "solver/implicit/incp.h"
#include "solver/implicit/proximal.h"

#include <string.h>

enum { PATIENCE = 10 };

/* Sweeps of each way; 0: softening. */
static const int once[] = {100}, ways[] = {2000, 0, 10000, 0};
enum { WAYS = sizeof ways / sizeof *ways };

extern const solver_type solver_pgs;

static sim_outcome start_over(incp *m, int patience) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        m->edge[i] = EDGE_NONE;
    }
    incp_stand(m, m->other);
    return incp_descend(m, patience);
}

/* other <- where sweeps come to; 0 without memory. */
static int sweep(incp *m, int most) {
    solver_call call = *m->call;
    sim_problem cold = *m->call->problem;
    double option[16];
    sim_solution out = *m->call->out;
    for (int k = 0; k < solver_pgs.info.noptions; k++) {
        const sim_solver_option *o = &solver_pgs.info.option[k];
        option[k] = strcmp(o->name, "max_iterations") == 0 ? most : o->default_value;
    }
    cold.impulse_guess = NULL;
    call.problem = (int)m->call->option[INCP_START] ? &cold : m->call->problem;
    call.option = option;
    call.out = &out;
    out.impulse = m->slope;
    out.history = NULL;
    out.iterations = 0;
    if (solver_pgs.solve(&call)) {
        return 0;
    }
    m->call->out->searches += out.iterations;
    for (int k = 0; k < m->h.n; k++) {
        m->slope[k] = m->h.dual->given[k] ? 0 : m->slope[k] / m->h.scale[k];
    }
    hybrid_from_impulse(&m->h, m->slope, m->other);
    return 1;
}

/* Softer problems, from the best there is; 0 without memory. */
static int soften(incp *m) {
    proximal p = {.h = &m->h,
                  .step = &m->step,
                  .call = m->call,
                  .tolerance = m->call->option[INCP_TOLERANCE],
                  .most = (int)m->call->option[INCP_MAX_ITERATIONS],
                  .x = m->best,
                  .E = m->E};
    int done = proximal_solve(&p);
    m->E = p.E;
    return done;
}

int incp_descend_and_restart(incp *m, sim_outcome *end) {
    static const struct {
        const int *way;
        int count;
    } plans[] = {{NULL, 0}, {once, 1}, {ways, WAYS}};
    int plan = (int)m->call->option[INCP_RESTART], last = plans[plan].count;
    *end = incp_descend(m, last ? PATIENCE : 0);
    for (int k = 0; k < last && incp_goes_on(m); k++) {
        int sweeps = plans[plan].way[k];
        m->call->out->failures++;
        if (!(sweeps ? sweep(m, sweeps) : soften(m))) {
            return 0;
        }
        if (sweeps) {
            *end = start_over(m, k + 1 < last ? PATIENCE : 0);
        }
    }
    if (m->call->out->iterations >= (int)m->call->option[INCP_MAX_ITERATIONS]) {
        *end = SIM_AT_LIMIT; /* who may go no further is in no minimum */
    }
    return 1;
}
