/* Newton's method on heaps: threads that share its factors, sums and products change no bit. */
#include "solver/solver.h"
#include "support/clutter.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 160, COLUMNS = 16, MOST_THREADS = 4, STEPS = 60, MIN_CONTACTS = 300 };

typedef struct reply {
    double *v, *impulse;
    sim_solution out;
} reply;

static reply solve(const char *method, const sim_problem *p, const sim_regularisation *law, sim_threads *threads) {
    reply r = {calloc((size_t)p->nv + 1, sizeof *r.v), calloc((size_t)p->nrow + 1, sizeof *r.impulse), {0}};
    sim_solver *s = sim_solver_create(sim_solver_find(method), NULL, NULL);
    cr_assert(s && solver_uses_threads(s));
    r.out.v = r.v;
    r.out.impulse = r.impulse;
    solver_set_threads(s, threads);
    cr_assert_eq(sim_solver_solve(s, p, law, &r.out, NULL), SIM_OK);
    sim_solver_free(s);
    return r;
}

static void drop(reply *r) {
    free(r->v);
    free(r->impulse);
}

/* The answers to every problem of a fall from the first large island on; their number. */
static int compare(const char *method) {
    int compared = 0;
    clutter *c = clutter_create(BODIES, COLUMNS, 1, 0.01);
    for (int k = 0; k < STEPS; k++) {
        sim_regularisation law;
        const sim_problem *p = clutter_problem(c, &law);
        reply alone = solve(method, p, &law, NULL);
        bool large = p->nconstraint >= MIN_CONTACTS && k % 4 == 0;
        for (int count = 2; count <= MOST_THREADS && large; count++) {
            sim_threads *threads = threads_create(count);
            reply r = solve(method, p, &law, threads);
            cr_assert_arr_eq(r.v, alone.v, (size_t)p->nv * sizeof(double), "step %d", k);
            cr_assert_arr_eq(r.impulse, alone.impulse, (size_t)p->nrow * sizeof(double), "step %d", k);
            cr_assert(r.out.residual == alone.out.residual && r.out.iterations == alone.out.iterations);
            threads_free(threads);
            drop(&r);
            compared++;
        }
        clutter_step(c, alone.v);
        drop(&alone);
    }
    clutter_free(c);
    return compared;
}

Test(newton_threads, change_no_bit_of_an_answer) {
    int compared = compare("acn");
    cr_assert_geq(compared, 2 * (MOST_THREADS - 1), "%d", compared);
}
