/* Restart of INCP from a minimum that is no solution.
 *
 * l = |r|^2 / 2 has such minima: on an edge, with J' r = 0 across and along it, but J singular and r not 0.  Todorov
 * (2010, section III) calls them very rare and restarts; in piles with mu >= 1 they occur in about each third step,
 * whatever the weights of l.  Two kinds of restart leave them:
 *
 *   sweeps     of Gauss-Seidel, from the warm start or from zero, not from the minimum;
 *   softening  from the point of least E, with a W that is not singular, softened less and less (proximal.c).
 *
 * Where l is not halved in some iterations the next restart follows at once; after the last one there is no such limit.
 * The iterations of all descents share one limit; restarts count as failures, sweeps as searches. */
#include "solver/implicit/incp.h"
#include "solver/implicit/proximal.h"

#include <string.h>

enum { MAX_STALLED_ITERATIONS = 10 };

/* Sweeps of each restart; 0: softening. */
static const int single_plan[] = {100}, full_plan[] = {2000, 0, 10000, 0};
enum { FULL_PLAN_LENGTH = sizeof full_plan / sizeof *full_plan };

extern const solver_type solver_pgs;

static sim_outcome descend_from_other(incp *m, int max_stalled) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        m->edge[i] = EDGE_NONE;
    }
    incp_move_to(m, m->other);
    return incp_descend(m, max_stalled);
}

/* other <- result of sweeps; false without memory. */
static bool start_from_sweeps(incp *m, int sweeps) {
    solver_call call = *m->call;
    sim_problem cold = *m->call->problem;
    double option[16];
    sim_solution out = *m->call->out;
    /* default options of PGS, with the number of sweeps */
    for (int k = 0; k < solver_pgs.info.noptions; k++) {
        const sim_solver_option *o = &solver_pgs.info.option[k];
        option[k] = strcmp(o->name, "max_iterations") == 0 ? sweeps : o->default_value;
    }
    /* impulses of the sweeps go to m->slope; the solution of the caller stays */
    cold.impulse_guess = NULL;
    call.problem = (int)m->call->option[INCP_START] ? &cold : m->call->problem;
    call.option = option;
    call.out = &out;
    out.impulse = m->slope;
    out.history = NULL;
    out.iterations = 0;
    if (solver_pgs.solve(&call)) {
        return false;
    }
    m->call->out->searches += out.iterations;
    /* scaled impulses, then x */
    for (int k = 0; k < m->h.n; k++) {
        m->slope[k] = m->h.dual->given[k] ? 0 : m->slope[k] / m->h.scale[k];
    }
    residual_map_from_impulse(&m->h, m->slope, m->other);
    return true;
}

/* Proximal outer iterations from the point of least E; false without memory. */
static bool solve_incp_softened(incp *m) {
    proximal p = {.h = &m->h,
                  .step = &m->step,
                  .call = m->call,
                  .tolerance = m->call->option[INCP_TOLERANCE],
                  .max_iterations = (int)m->call->option[INCP_MAX_ITERATIONS],
                  .x = m->best,
                  .E = m->E};
    bool done = proximal_solve(&p);
    m->E = p.E;
    return done;
}

bool incp_descend_and_restart(incp *m, sim_outcome *end) {
    static const struct {
        const int *way;
        int count;
    } plans[] = {{NULL, 0}, {single_plan, 1}, {full_plan, FULL_PLAN_LENGTH}};
    int plan = (int)m->call->option[INCP_RESTART], last = plans[plan].count;
    *end = incp_descend(m, last ? MAX_STALLED_ITERATIONS : 0);
    for (int k = 0; k < last && incp_continues(m); k++) {
        int sweeps = plans[plan].way[k];
        m->call->out->failures++;
        if (!(sweeps ? start_from_sweeps(m, sweeps) : solve_incp_softened(m))) {
            return false;
        }
        if (sweeps) {
            *end = descend_from_other(m, k + 1 < last ? MAX_STALLED_ITERATIONS : 0);
        }
    }
    if (m->call->out->iterations >= (int)m->call->option[INCP_MAX_ITERATIONS]) {
        *end = SIM_AT_LIMIT; /* the limit, not a minimum, ended the descent */
    }
    return true;
}
