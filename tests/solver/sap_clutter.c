/* SAP on clutter (Castro, Permenter, Han 2021, sec. VI-C): 40 balls and boxes fall into a heap and come to rest. */
#include "support/clutter.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { BODIES = 40, STEPS = 1000, SETTLED = 500, MOST_ROWS = 3000, RECORDS = 128 };
static const double DT = 0.01, MU = 1, SIGMA = 1e-3;

typedef struct figures {
    double iterations, residual, slip,
        speed; /* mean of settled steps; worst; mean where bodies rest; fastest at the end */
    int worst, contacts;
} figures;

/* Mean |u_t| of contacts that stick. */
static double slip_of(const sim_problem *p, const double *impulse, const double *v) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *g = impulse + c->row;
        double u[2] = {0, 0};
        if (!(hypot(g[0], g[1]) < 0.999 * MU * g[2])) {
            continue;
        }
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            for (int k = 0; k < 12; k++) {
                u[k / 6] += p->J[c->block[side] + k] * v[6 * c->tree[side] + k % 6];
            }
        }
        sum += hypot(u[0], u[1]);
        count++;
    }
    return count ? sum / count : 0;
}

static figures fall(int walls, int armijo) {
    static double v[6 * BODIES], impulse[MOST_ROWS];
    double residual[RECORDS], cost[RECORDS], option[] = {1e-6, 100, armijo, 0, 1e4, 0};
    figures f = {0};
    clutter *c = clutter_create(BODIES, 4, walls, DT);
    sim_solver *s = sim_solver_create(sim_solver_find("sap"), option, NULL);
    for (int k = 0; k < STEPS; k++) {
        sim_regularisation law;
        sim_history history = {.room = RECORDS, .residual = residual, .cost = cost};
        sim_solution out = {.v = v, .impulse = impulse, .history = &history};
        const sim_problem *p = clutter_problem(c, &law);
        cr_assert_leq(p->nrow, MOST_ROWS);
        cr_assert_eq(sim_solver_solve(s, p, &law, &out, NULL), SIM_OK);
        cr_assert_leq(out.outcome, SIM_AT_ROUNDING, "step %d: %s", k, sim_outcome_name(out.outcome));
        for (int m = 1; m < history.count; m++) {
            cr_assert_leq(cost[m], cost[m - 1] * (1 + 1e-13), "step %d, iteration %d", k, m);
        }
        f.residual = fmax(f.residual, out.residual);
        f.worst = out.iterations > f.worst ? out.iterations : f.worst;
        f.iterations += k >= SETTLED ? out.iterations : 0;
        f.slip += k >= SETTLED ? slip_of(p, impulse, v) : 0;
        f.contacts = p->nconstraint;
        clutter_step(c, v);
    }
    f.iterations /= STEPS - SETTLED;
    f.slip /= STEPS - SETTLED;
    sim_solver_free(s);
    clutter_free(c);
    return f;
}

Test(sap_clutter, takes_few_iterations_at_rest_and_keeps_momentum_at_every_step) {
    for (int walls = 0; walls < part_of(2); walls++) {
        for (int armijo = 0; armijo < 2; armijo++) {
            figures f = fall(walls, armijo);
            cr_expect_lt(f.iterations, 3.5, "%g iterations", f.iterations);
            cr_expect_lt(f.residual, 1e-5, "%g", f.residual);
            cr_expect_lt(f.slip, SIGMA * MU * DT * 9.81, "%g m/s", f.slip);
            cr_log_warn(
                "walls %d, %s: %.2f iterations at rest, %d at most, %d contacts, momentum within %.1e, slip %.1e m/s",
                walls, armijo ? "armijo" : "exact", f.iterations, f.worst, f.contacts, f.residual, f.slip);
        }
    }
}
