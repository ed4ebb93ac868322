/* A solver from outside the library, the one that the documentation shows: registered, named in scenes, used in
 * worlds. */
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <sim/method.h>
#include <sim/scene.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sim_solver_method solver_jacobi;

static const char *const heap =
    "{\"sim\": 1, \"world\": {\"solver\": \"jacobi:tolerance=1e-9\", \"solver_options\": {\"max_iterations\": 50000}},"
    " \"bodies\": [{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\"}]},"
    " {\"name\": \"a\", \"joint\": \"free\", \"pose\": {\"position\": [0, 0, 0.1]},"
    "  \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2], \"density\": 1000}]},"
    " {\"name\": \"b\", \"joint\": \"free\", \"pose\": {\"position\": [1, 0, 0.12]},"
    "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1, \"density\": 1000}], \"v\": [0, 0, 0, 1, 0, 0]}]}";

typedef struct desk {
    sim_solver_registry *solvers;
    const sim_solver_info *info;
} desk;

static desk desk_with(const sim_solver_method *method) {
    sim_error error = {0};
    desk d = {sim_solver_registry_create(&error), NULL};
    d.info = sim_solver_register(d.solvers, method, &error);
    cr_assert_not_null(d.info, "%s", error.text);
    return d;
}

static sim_scene *load(const char *text, const sim_solver_registry *solvers, sim_error *error) {
    sim_scene_overrides own = {.solvers = solvers};
    return sim_scene_parse(text, strlen(text), "heap.json", &own, NULL, error);
}

Test(adding, its_answers_are_those_of_the_law) {
    random_source r = {5};
    desk d = desk_with(&solver_jacobi);
    int solved = 0;
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = {.bodies = 2 + trial % 4,
                                 .contacts = 2 + trial % 5,
                                 .friction = 0.5,
                                 .impact = 1,
                                 .chain = trial % 3 ? 0 : 4,
                                 .scatter = 0.3,
                                 .kinds = trial % 2 ? 0 : 1 << SIM_LIMIT | 1 << SIM_FRICTION | 1 << SIM_EQUALITY};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3);
        sim_law_options o = sim_law_options_default();
        sim_error error;
        sim_regularise(p, SIM_RIGID, &o, a.W, a.R, a.target);
        sim_solver *solver = sim_solver_create(d.info, NULL, &error);
        a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
        cr_assert_eq(sim_solver_solve(solver, p, &a.law, &a.out, &error), SIM_OK);
        solved += a.out.outcome == SIM_SOLVED;
        if (a.out.outcome == SIM_SOLVED) {
            cr_expect_lt(judged(p, a.impulse).E, 1e-6, "trial %d", trial);
        } else {
            cr_expect_eq(a.out.reason, SIM_REASON_ITERATIONS, "%s", sim_reason_name(a.out.reason));
        }
        sim_solver_free(solver);
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_expect_geq(solved, 15, "%d of 20", solved);
    sim_solver_registry_free(d.solvers);
}

/* Scene, world, options behind the name and beside it; the same bits with threads. */
Test(adding, a_scene_names_it_and_a_world_runs_it) {
    desk d = desk_with(&solver_jacobi);
    double end[2][32];
    for (int run = 0; run < 2; run++) {
        sim_error error = {0};
        sim_scene *scene = load(heap, d.solvers, &error);
        cr_assert_not_null(scene, "%s", error.text);
        cr_assert_eq(scene->options.solver, d.info);
        cr_assert(scene->options.solver_option[0] == 1e-9 && scene->options.solver_option[1] == 50000);
        scene->options.threads = run ? 3 : 1;
        sim_world *world = sim_world_create(scene->model, &scene->options, &error);
        cr_assert_not_null(world, "%s", error.text);
        for (int k = 0; k < 300; k++) {
            cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
            cr_expect_eq(sim_world_info(world)->unsolved, 0, "step %d", k);
        }
        const sim_state *state = sim_world_state(world);
        cr_expect_lt(fabs(state->q[2] - 0.1), 1e-6, "the box rests");
        cr_expect_lt(fabs(state->q[9] - 0.1), 1e-3, "the ball has landed");
        memcpy(end[run], state->q, (size_t)scene->model->nq * sizeof(double));
        sim_world_free(world);
        sim_scene_free(scene);
    }
    cr_expect_eq(memcmp(end[0], end[1], 14 * sizeof(double)), 0);
    sim_solver_registry_free(d.solvers);
}

static void refuses_scene(const char *from, const char *to, const sim_solver_registry *solvers, const char *words) {
    char text[1200];
    sim_error error = {0};
    const char *at = strstr(heap, from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - heap), heap, to, at + strlen(from));
    cr_expect_null(load(text, solvers, &error), "%s", to);
    cr_expect(strstr(error.text, words) && strstr(error.text, "heap.json:1:"), "'%s' is not in: %s", words, error.text);
}

Test(adding, scenes_refuse_what_nobody_registered_and_options_that_it_has_not) {
    desk d = desk_with(&solver_jacobi);
    refuses_scene("jacobi:tolerance=1e-9", "jacobi", NULL, "\"jacobi\" is none of: sap, pgs");
    refuses_scene("jacobi:tolerance=1e-9", "jacob", d.solvers, "did you mean \"jacobi\"?");
    refuses_scene("tolerance=1e-9", "tolerance=2", d.solvers, "option tolerance takes a number from 0 to 1, not '2'");
    refuses_scene("max_iterations", "sweeps", d.solvers, "the solver jacobi has no option \"sweeps\"");
    cr_expect_null(sim_solver_find("jacobi"), "nobody else knows it");
    cr_expect_eq(sim_solver_registry_count(d.solvers), sim_solver_count() + 1);
    cr_expect_eq(sim_solver_registry_at(d.solvers, sim_solver_count()), d.info);
    cr_expect_null(sim_solver_registry_at(d.solvers, sim_solver_count() + 1));
    cr_expect_null(sim_solver_registry_at(NULL, sim_solver_count()));
    cr_expect_eq(sim_solver_registry_find(NULL, "pgs"), sim_solver_find("pgs"));
    sim_solver_registry_free(d.solvers);
}

static void refuses(const desk *d, const sim_solver_method *method, const char *words) {
    sim_error error = {0};
    cr_expect_null(sim_solver_register(d->solvers, method, &error), "%s", words);
    cr_expect(strstr(error.text, words), "'%s' is not in: %s", words, error.text);
    cr_expect_eq(error.status, SIM_BAD_INPUT);
}

Test(adding, what_contradicts_itself_is_not_registered) {
    desk d = desk_with(&solver_jacobi);
    sim_solver_method m = solver_jacobi;
    sim_solver_option option[2] = {
        {.name = "deep", .help = "how deep", .low = 0, .high = 1, .default_value = 0.5},
        {.name = "wide", .help = "how wide", .low = 0, .high = 9, .default_value = 3, .integer = true}};
    refuses(&d, &m, "there is a solver jacobi already");
    m.info.name = "pgs";
    refuses(&d, &m, "there is a solver pgs already");
    m.info.name = "a,b";
    refuses(&d, &m, "a solver needs a name");
    m.info.name = NULL;
    refuses(&d, &m, "a solver needs a name");
    m.info.name = "mine";
    m.info.option = option;
    option[1].default_value = 2.5;
    refuses(&d, &m, "the default of option wide is 2.5, but it takes whole numbers from 0 to 9");
    option[1].default_value = 10;
    refuses(&d, &m, "the default of option wide is 10");
    option[1] = option[0];
    refuses(&d, &m, "two options are called deep");
    m.info.noptions = 1;
    m.info.kinds = 0;
    refuses(&d, &m, "kinds of constraints are needed");
    m.info.kinds = 1;
    m.solve = NULL;
    refuses(&d, &m, "solve");
    m.solve = solver_jacobi.solve;
    cr_expect_not_null(sim_solver_register(d.solvers, &m, NULL));
    sim_solver_registry_free(d.solvers);
}

Test(adding, a_card_that_is_nowhere_makes_no_solver) {
    sim_error error = {0};
    cr_expect_null(sim_solver_create(&solver_jacobi.info, NULL, &error));
    cr_expect(strstr(error.text, "the solver jacobi is neither of the library nor registered"), "%s", error.text);
}

Test(adding, the_contract_projects_on_what_each_law_allows) {
    sim_constraint c[] = {{.kind = SIM_CONTACT, .rows = 3, .friction = 0.5}, {.kind = SIM_LIMIT, .rows = 1},
                          {.kind = SIM_FRICTION, .rows = 1, .bound = 20},    {.kind = SIM_EQUALITY, .rows = 2},
                          {.kind = SIM_ACTUATOR, .rows = 1, .bound = 20},    {.kind = SIM_SPRING, .rows = 1}};
    const double from[] = {3, 4, 0, -2, 3, -7, 9, -3, 5}, to[] = {0.6, 0.8, 2, 0, 2, -7, 9, -2, 5};
    sim_problem p = {.step = 0.1, .nconstraint = 6, .constraint = c};
    double y[9];
    memcpy(y, from, sizeof y);
    for (int i = 0, r = 0; i < p.nconstraint; r += c[i++].rows) {
        sim_solver_project(&p, i, y + r);
    }
    for (int r = 0; r < 9; r++) {
        cr_expect_float_eq(y[r], to[r], 1e-15, "row %d: %g", r, y[r]);
    }
}

/* By hand: a slide of (3, 4) m/s, which friction 0.5 lifts by 2.5 m/s. */
Test(adding, the_contract_steps_by_the_strict_law) {
    sim_constraint c[] = {{.kind = SIM_CONTACT, .rows = 3, .friction = 0.5}, {.kind = SIM_LIMIT, .rows = 1, .row = 3}};
    sim_problem p = {.step = 0.1, .nconstraint = 2, .constraint = c};
    const double s[] = {3, 4, -22.5, -5}, gamma[] = {0, 0, 6, 2}, to[] = {-0.3, -0.4, 8, 2.5};
    double next[4];
    sim_solver_strict_step(&p, 0, 0.1, s, gamma, next);
    sim_solver_strict_step(&p, 1, 0.1, s + 3, gamma + 3, next + 3);
    for (int r = 0; r < 4; r++) {
        cr_expect_float_eq(next[r], to[r], 1e-15, "row %d: %g", r, next[r]);
    }
}

/* A method that asks, and answers nothing: the traces are those of the blocks, with R. */
static sim_status ask_for_traces(sim_solver_call *call) {
    const sim_problem *p = call->problem;
    double *w = sim_solver_memory(call, (size_t)p->nconstraint, sizeof *w);
    double *W = sim_solver_memory(call, sim_delassus_diagonal_size(p), sizeof *W);
    int done = !sim_solver_traces(call, w) && !sim_solver_diagonal(call, W);
    for (int i = 0, at = 0; i < p->nconstraint && done; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0;
        for (int k = 0; k < c->rows; k++) {
            trace += W[at + k * c->rows + k] + call->R[c->row + k];
        }
        cr_expect(trace > 0 && fabs(w[i] - trace) <= 1e-14 * trace, "constraint %d: %g, not %g", i, w[i], trace);
        at += c->rows * c->rows;
    }
    return SIM_NO_RESOURCE;
}

Test(adding, the_contract_measures_every_block_by_its_trace) {
    random_source r = {7};
    problem_recipe recipe = {
        .bodies = 4, .contacts = 5, .friction = 0.5, .scatter = 0.3, .kinds = 1 << SIM_LIMIT | 1 << SIM_EQUALITY};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    sim_solver_method asks = solver_jacobi;
    asks.info.name = "asks";
    asks.solve = ask_for_traces;
    desk d = desk_with(&asks);
    sim_error error;
    sim_solver *solver = sim_solver_create(d.info, NULL, &error);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
    for (int i = 0; i < p->nrow; i++) {
        a.R[i] = 0.25 * (i + 1);
    }
    cr_expect_eq(sim_solver_solve(solver, p, &a.law, &a.out, &error), SIM_NO_RESOURCE);
    sim_solver_free(solver);
    answer_free(&a);
    sim_problem_free(p);
    sim_solver_registry_free(d.solvers);
}

static bool enough(void *context) { return *(int *)context; }

Test(adding, the_contract_ends_iterations_by_residual_count_and_wish) {
    int wish = 0;
    sim_solution out = {.stop = enough, .stop_context = &wish, .iterations = 3};
    sim_solver_call call = {.out = &out};
    const double residual[] = {0.5, 1e-9, NAN, INFINITY};
    const sim_outcome outcome[] = {SIM_AT_LIMIT, SIM_SOLVED, SIM_BROKEN_DOWN, SIM_BROKEN_DOWN};
    for (int k = 0; k < 4; k++) {
        out.residual = residual[k];
        cr_expect_eq(sim_solver_finished(&call, 1e-9, 4), k > 0);
        cr_expect_eq(out.outcome, outcome[k]);
    }
    out.residual = 0.5;
    cr_expect(sim_solver_finished(&call, 1e-9, 3) && out.outcome == SIM_AT_LIMIT);
    wish = 1;
    cr_expect(sim_solver_finished(&call, 1e-9, 4) && out.outcome == SIM_AT_LIMIT);
}

Test(adding, the_contract_gives_velocities_of_the_law_and_the_guess) {
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, (double[3]){0.3, 0, -1});
    double v[6], impulse[3], s[3], R[3] = {0.1, INFINITY, 0.2}, target[3] = {0, 0, 0.25};
    sim_solution out = {.v = v, .impulse = impulse};
    sim_solver_call call = {.problem = p, .R = R, .target = target, .out = &out};
    sim_solver_warm_start(&call, impulse);
    cr_expect(impulse[0] == 0 && impulse[1] == 0 && impulse[2] == 0, "there is none");
    const double guess[3] = {0, 0, 3};
    p->impulse_guess = guess;
    sim_solver_warm_start(&call, impulse);
    cr_expect_eq(impulse[2], 3);
    sim_solver_law_velocity(&call, s); /* 2 kg: 3 N s make 1.5 m/s */
    cr_expect(fabs(s[0] - 0.3) < 1e-15 && s[1] == 0 && fabs(s[2] - (0.5 - 0.25 + 0.6)) < 1e-15, "%g %g %g", s[0], s[1],
              s[2]);
    p->impulse_guess = NULL;
    sim_problem_free(p);
}

static void *remember(void) { return calloc(1, sizeof(int)); }

/* It claims the world, and gives back what is no number. */
static sim_status boast(sim_solver_call *call) {
    ++*(int *)call->workspace;
    for (int r = 0; r < call->problem->nrow; r++) {
        call->out->impulse[r] = r == 1 ? NAN : 1;
    }
    sim_solver_response(call->problem, call->out->impulse, call->out->v);
    return SIM_OK;
}

Test(adding, who_calls_it_solved_with_what_is_no_number_is_not_believed) {
    sim_solver_method m = solver_jacobi;
    m.info.name = "boaster";
    m.create = remember;
    m.destroy = free;
    m.solve = boast;
    desk d = desk_with(&m);
    sim_error error = {0};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, (double[3]){0.3, 0, -1});
    answer a = answer_create(p, 1, 1e-3);
    sim_solver *solver = sim_solver_create(d.info, NULL, &error);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
    cr_assert_eq(sim_solver_solve(solver, p, &a.law, &a.out, &error), SIM_OK);
    cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN);
    cr_expect_eq(a.out.reason, SIM_REASON_NONFINITE);
    sim_solver_free(solver);
    answer_free(&a);
    sim_problem_free(p);
    sim_solver_registry_free(d.solvers);
}
