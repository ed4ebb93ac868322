/* Todorov's method: what stands on an edge is derived as eqs. 25 and 26 say, edges end chattering, a shock goes
 * through a stack within a step, and what is reported is so. */
#include "solver/implicit/incp.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/scene.h>
#include <sim/world.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_OPTIONS = 16 };

static void options_of(double *option) {
    const sim_solver_info *info = sim_solver_find("incp");
    for (int k = 0; k < info->noptions; k++) {
        option[k] = info->option[k].default_value;
    }
}

/* ---- the derivative on edges ---- */

typedef struct bench {
    sim_problem *problem;
    answer entry;
    sim_arena *scratch;
    double option[MOST_OPTIONS];
    solver_call call;
    dual d;
    incp m;
} bench;

static void begin(bench *b, random_source *r, double friction) {
    problem_recipe recipe = {.bodies = 4, .contacts = 6, .friction = friction, .impact = 1, .scatter = 0.5};
    *b = (bench){.problem = random_problem(r, &recipe), .scratch = arena_create()};
    b->entry = rigid_entry(b->problem);
    options_of(b->option);
    b->call = (solver_call){.problem = b->problem,
                            .R = b->entry.R,
                            .target = b->entry.target,
                            .option = b->option,
                            .scratch = b->scratch,
                            .out = &b->entry.out};
    cr_assert(incp_make(&b->m, &b->call, &b->d));
    cr_assert_leq(b->m.h.n, MOST_ROWS);
}

static void end(bench *b) {
    sim_problem_free(b->problem);
    answer_free(&b->entry);
    arena_free(b->scratch);
}

/* Anywhere, with one contact put on an edge. */
static void put_on_edge(bench *b, random_source *r, int contact, edge e) {
    incp *m = &b->m;
    double x[MOST_ROWS];
    for (int k = 0; k < m->h.n; k++) {
        x[k] = random_normal(r);
    }
    const sim_constraint *c = &b->problem->constraint[contact];
    x[c->row + 2] = -fabs(x[c->row + 2]);
    project_to_edge(e, c->friction, x + c->row);
    for (int i = 0; i < b->problem->nconstraint; i++) {
        m->edge[i] = i == contact ? e : EDGE_NONE;
    }
    incp_move_to(m, x);
}

/* The slope of l from x along u, by a difference on that side alone. */
static double slope_towards(incp *m, const double *u) {
    double at[MOST_ROWS], r[MOST_ROWS], l[3], d = 1e-6;
    for (int step = 0; step < 3; step++) {
        for (int k = 0; k < m->h.n; k++) {
            at[k] = m->x[k] + step * d * u[k];
        }
        residual_map_eval(&m->h, at, r);
        l[step] = 0;
        for (int k = 0; k < m->h.n; k++) {
            l[step] += 0.5 * r[k] * r[k];
        }
    }
    return (4 * l[1] - l[2] - 3 * l[0]) / (2 * d);
}

/* J of a contact on an edge: of the two sides, by differences, what eqs. 25 and 26 make of them.  Where l rises both
 * ways the mean is convex and l is flat across; else it is the side that falls more. */
Test(incp, the_derivative_on_an_edge_is_the_mean_of_its_sides_that_is_flat_across) {
    random_source r = {1};
    int held = 0, left = 0;
    for (int trial = 0; trial < 300; trial++) {
        bench b;
        begin(&b, &r, random_uniform(&r, 0.2, 1.5));
        edge e = trial % 2 ? EDGE_CONE : EDGE_PLANE;
        int contact = trial % b.problem->nconstraint, row = b.problem->constraint[contact].row, n = b.m.h.n;
        put_on_edge(&b, &r, contact, e);
        double normal[3], F[2][9], u[MOST_ROWS] = {0}, rise[2];
        eval_edge_sides(e, b.problem->constraint[contact].friction, b.m.x + row, normal, F[0], F[1]);
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3; k++) {
                u[row + k] = (side ? -1 : 1) * normal[k];
            }
            rise[side] = slope_towards(&b.m, u);
        }
        incp_linearise(&b.m);
        double across = 0, share = NAN;
        for (int k = 0; k < 3; k++) {
            across += b.m.g[row + k] * normal[k];
        }
        for (int k = 0; k < 9; k++) {
            double jump = F[0][k] - F[1][k], here = b.m.F[RESIDUAL_BLOCK * contact + k];
            share = fabs(jump) > 0.1 && isnan(share) ? (here - F[1][k]) / jump : share;
            cr_expect(isnan(share) || fabs(F[1][k] + share * jump - here) < 1e-12, "trial %d: no mean of its sides",
                      trial);
        }
        double size = 1 + fabs(rise[0]) + fabs(rise[1]);
        if (fabs(rise[0]) < 1e-6 * size || fabs(rise[1]) < 1e-6 * size) {
            end(&b);
            continue;
        }
        int both = rise[0] > 0 && rise[1] > 0;
        cr_expect_eq(b.m.active[contact], both, "trial %d: rises %g and %g, active %d", trial, rise[0], rise[1],
                     b.m.active[contact]);
        cr_expect(share >= 0 && share <= 1, "trial %d: share %g", trial, share);
        if (both) {
            cr_expect_leq(fabs(across), 1e-12 * size, "trial %d: slope %g across", trial, across);
        } else {
            double down = rise[0] < rise[1] ? rise[0] : -rise[1];
            cr_expect_float_eq(across, down, 1e-5 * size, "trial %d: %g, not %g", trial, across, down);
        }
        held += both;
        left += !both;
        cr_assert(n > 0);
        end(&b);
    }
    cr_expect(held > 20 && left > 20, "%d held, %d left", held, left);
}

/* ---- acceptance and search ---- */

static double half_square_at(incp *m, const double *x) {
    double r[MOST_ROWS], sum = 0;
    residual_map_eval(&m->h, x, r);
    for (int k = 0; k < m->h.n; k++) {
        sum += 0.5 * r[k] * r[k];
    }
    return sum;
}

/* Of the Newton point of the first iteration: fall of l over that of the model |J dx + r|^2 / 2. */
static double newton_ratio(incp *m, double lambda) {
    double dx[MOST_ROWS], Jdx[MOST_ROWS], to[MOST_ROWS], range, model = 0;
    incp_linearise(m);
    residual_newton_least_squares(&m->step, m->r, lambda * m->step.size, dx, &range);
    residual_map_jacobian_times(&m->h, m->F, dx, Jdx);
    for (int k = 0; k < m->h.n; k++) {
        model += 0.5 * (m->r[k] + Jdx[k]) * (m->r[k] + Jdx[k]);
        to[k] = m->x[k] + dx[k];
    }
    return (m->l - half_square_at(m, to)) / (m->l - model);
}

static void move_anywhere(incp *m, random_source *r) {
    double x[MOST_ROWS];
    for (int k = 0; k < m->h.n; k++) {
        x[k] = random_normal(r);
    }
    incp_move_to(m, x);
}

/* The Newton point is taken if l falls by at least half of the model's fall (Todorov 2010, section III.A). */
Test(incp, takes_the_newton_point_where_half_of_the_predicted_fall_comes_true) {
    random_source r = {17};
    int between[2] = {0};
    for (int trial = 0; trial < 400; trial++) {
        bench b;
        begin(&b, &r, 0.3 + 0.2 * (trial % 4));
        b.option[INCP_MAX_ITERATIONS] = 1;
        move_anywhere(&b.m, &r);
        double ratio = newton_ratio(&b.m, 1e-6);
        incp_descend(&b.m, 0);
        cr_expect_eq(b.entry.out.whole_steps, ratio >= 0.5, "trial %d: %d whole steps, ratio %g", trial,
                     b.entry.out.whole_steps, ratio);
        between[0] += ratio > 0.1 && ratio < 0.5;
        between[1] += ratio >= 0.5 && ratio < 0.9;
        end(&b);
    }
    cr_expect_gt(between[0], 5, "%d between 0.1 and 0.5", between[0]);
    cr_expect_gt(between[1], 5, "%d between 0.5 and 0.9", between[1]);
}

/* Distance of a point from the segment. */
static double distance_to(const double *x, const double *from, const double *to, int n) {
    double along = 0, length = 0, sum = 0;
    for (int k = 0; k < n; k++) {
        along += (x[k] - from[k]) * (to[k] - from[k]);
        length += (to[k] - from[k]) * (to[k] - from[k]);
    }
    double share = fmin(fmax(along / length, 0), 1);
    for (int k = 0; k < n; k++) {
        double off = x[k] - from[k] - share * (to[k] - from[k]);
        sum += off * off;
    }
    return sqrt(sum);
}

/* Does a contact lie on its plane or cone? */
static bool lies_on_an_edge(const sim_problem *p, const double *x) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *at = x + c->row;
        if (fabs(at[2]) < 1e-12 || fabs(hypot(at[0], at[1]) + c->friction * at[2]) < 1e-12) {
            return true;
        }
    }
    return false;
}

/* Along x, two other points: the search must come as low as 500 samples a segment, to 1 % of the fall in the mean.  Ends
 * of smooth pieces alone miss it by more.  It counts where it ends: on the second segment, on an edge. */
Test(incp, the_search_finds_the_least_of_both_segments) {
    enum { SAMPLES = 500 };
    random_source r = {19};
    double missed = 0;
    int found = 0, beyond = 0, landed = 0;
    for (int trial = 0; trial < 100; trial++) {
        bench b;
        begin(&b, &r, 0.3 + 0.2 * (trial % 4));
        incp *m = &b.m;
        move_anywhere(m, &r);
        incp_linearise(m);
        double from[2][MOST_ROWS], to[2][MOST_ROWS], at[MOST_ROWS], least = m->l;
        for (int k = 0; k < m->h.n; k++) {
            m->cauchy[k] = m->x[k] - 0.3 * m->g[k];
            m->newton[k] = m->cauchy[k] + random_normal(&r);
            from[0][k] = m->x[k];
            to[0][k] = from[1][k] = m->cauchy[k];
            to[1][k] = m->newton[k];
        }
        for (int i = 0; i < 2 * SAMPLES; i++) {
            for (int k = 0; k < m->h.n; k++) {
                at[k] =
                    from[i / SAMPLES][k] + (i % SAMPLES + 1.0) / SAMPLES * (to[i / SAMPLES][k] - from[i / SAMPLES][k]);
            }
            least = fmin(least, half_square_at(m, at));
        }
        double start = m->l;
        if (incp_search_dogleg(m, 1)) {
            const sim_solution *out = &b.entry.out;
            missed += (half_square_at(m, m->other) - least) / (start - least);
            found++;
            beyond += out->dogleg_steps;
            landed += out->edge_steps;
            cr_expect_eq(out->edge_steps, lies_on_an_edge(b.problem, m->other), "trial %d", trial);
            cr_expect_lt(distance_to(m->other, from[out->dogleg_steps], to[out->dogleg_steps], m->h.n), 1e-9,
                         "trial %d: not on segment %d", trial, out->dogleg_steps);
        } else {
            cr_expect_eq(least, start, "trial %d: nothing found, and samples fall from %g to %g", trial, start, least);
        }
        end(&b);
    }
    cr_expect_gt(found, 50);
    cr_expect(beyond > 5 && beyond < found - 5, "%d of %d beyond the middle", beyond, found);
    cr_expect(landed > 0 && landed < found, "%d of %d on an edge", landed, found);
    cr_expect_lt(missed / found, 0.01, "misses %g of the fall", missed / found);
}

/* ---- chattering ---- */

static sim_solution solve(const sim_problem *p, const double *option) {
    answer a = rigid_entry(p);
    answer_find(&a, "incp", option);
    sim_solution out = a.out;
    cr_expect(out.outcome != SIM_SOLVED ||
              certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse).own <= option[INCP_TOLERANCE] * (1 + 1e-6));
    answer_free(&a);
    return out;
}

/* Sums over problems whose answers lie near edges: without them the Newton point is good on one side only. */
Test(incp, edges_and_the_search_between_them_save_iterations) {
    int iterations[3] = {0}, solved[3] = {0};
    random_source r = {2};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = {.bodies = 6, .contacts = 9, .friction = 0.7, .impact = 1, .scatter = 0.3};
        sim_problem *p = random_problem(&r, &recipe);
        for (int way = 0; way < 3; way++) {
            double option[MOST_OPTIONS];
            options_of(option);
            option[INCP_RESTART] = 0;
            option[INCP_EDGES] = way != 1;
            option[INCP_DOGLEG] = way != 2;
            sim_solution out = solve(p, option);
            iterations[way] += out.iterations;
            solved[way] += out.outcome == SIM_SOLVED;
        }
        sim_problem_free(p);
    }
    cr_log_info("iterations %d, without edges %d, without search %d; solved %d, %d, %d", iterations[0], iterations[1],
                iterations[2], solved[0], solved[1], solved[2]);
    cr_expect_lt(iterations[0], iterations[1]);
    cr_expect_lt(iterations[0], iterations[2]);
    cr_expect_geq(solved[0], solved[1]);
    cr_expect_geq(solved[0], solved[2]);
}

/* A step along a cone leaves it by its curvature, and is sent back to it by the search, iteration after iteration. */
Test(incp, steps_along_a_cone_are_put_back_on_it) {
    int iterations[2] = {0}, solved[2] = {0};
    random_source r = {2};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = {.bodies = 6, .contacts = 9, .friction = 0.7, .impact = 1, .scatter = 0.3};
        sim_problem *p = random_problem(&r, &recipe);
        for (int off = 0; off < 2; off++) {
            double option[MOST_OPTIONS];
            options_of(option);
            option[INCP_RESTART] = 0;
            option[INCP_PROJECTION] = !off;
            sim_solution out = solve(p, option);
            iterations[off] += out.iterations;
            solved[off] += out.outcome == SIM_SOLVED;
        }
        sim_problem_free(p);
    }
    cr_log_info("iterations %d, not put back %d; solved %d, %d", iterations[0], iterations[1], solved[0], solved[1]);
    cr_expect_lt(1.2 * iterations[0], iterations[1]);
    cr_expect_geq(solved[0], solved[1]);
}

/* One place for each record, of softer rounds as well: the k-th of one belongs to the k-th of the other.  A ball
 * between walls that both want it away has no answer, so that every way to start anew is gone. */
Test(incp, every_record_has_its_place) {
    enum { ROOM = 4000 };
    static double residual[ROOM], cost[ROOM], place[ROOM * 6];
    double v[3] = {0.3, 0, 0};
    sim_problem *p = point_between_walls(1, 0.5, -0.05, 0.01, v);
    answer a = rigid_entry(p);
    sim_history history = {.room = ROOM, .residual = residual, .cost = cost, .place_room = ROOM * 6, .place = place};
    sim_solver *solver = sim_solver_create(sim_solver_find("incp"), NULL, NULL);
    sim_regularisation law = {a.R, a.target};
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .history = &history};
    cr_assert_eq(sim_solver_solve(solver, p, &law, &a.out, NULL), SIM_OK);
    cr_expect_gt(a.out.failures, 1);
    cr_expect_lt(history.count, ROOM);
    cr_expect_eq(history.place_count, history.count * p->nrow, "%d numbers, %d records of %d", history.place_count,
                 history.count, p->nrow);
    sim_solver_free(solver);
    answer_free(&a);
    sim_problem_free(p);
}

Test(incp, a_ball_on_the_rim_of_its_cone_does_not_chatter) {
    for (int k = 0; k < 40; k++) {
        /* thrown along a floor at the speed at which friction just stops it, and a little beside that */
        double beside = (k % 5 - 2) * 1e-9, angle = 0.1 * k, mu = 0.2 + 0.05 * (k % 7), v = mu * (1 + beside);
        sim_problem *p = point_on_ground(1 + k % 3, mu, 0, 0.01, (double[]){v * cos(angle), v * sin(angle), -1});
        double option[MOST_OPTIONS];
        options_of(option);
        option[INCP_TOLERANCE] = 1e-12;
        sim_solution out = solve(p, option);
        cr_expect_leq(out.outcome, SIM_AT_ROUNDING, "trial %d: %s", k, sim_outcome_name(out.outcome));
        cr_expect_leq(out.iterations, 10, "trial %d: %d iterations", k, out.iterations);
        sim_problem_free(p);
    }
}

/* ---- what is reported ---- */

Test(incp, restarts_and_sweeps_are_counted_and_only_where_they_are_allowed) {
    random_source r = {3};
    int solved[3] = {0}, begun[3] = {0};
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe hard = {.bodies = 4, .contacts = 10, .friction = 2, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &hard);
        for (int way = 0; way < 3; way++) {
            double option[MOST_OPTIONS];
            options_of(option);
            option[INCP_RESTART] = way;
            sim_solution out = solve(p, option);
            solved[way] += out.outcome == SIM_SOLVED;
            begun[way] += out.failures > 0;
            cr_expect_leq(out.failures, way == 2 ? 4 : way, "%d restarts", out.failures);
            cr_expect_eq(out.failures > 0, out.searches > 0);
            cr_expect(way < 2 ? out.searches <= 100 * way : out.searches <= 12100, "%d sweeps", out.searches);
            cr_expect_leq(out.whole_steps, out.iterations);
            cr_expect(out.failures > 0 || out.outcome != SIM_STALLED || way == 0);
        }
        sim_problem_free(p);
    }
    cr_log_info("solved without restarts %d, with one %d, with all %d of 40; begun anew %d, %d", solved[0], solved[1],
                solved[2], begun[1], begun[2]);
    cr_expect(solved[0] < solved[1] && solved[1] <= solved[2], "%d, %d, %d", solved[0], solved[1], solved[2]);
    cr_expect(begun[0] == 0 && begun[1] > 0);
}

/* Iterations of all descents share one limit. */
Test(incp, begins_anew_only_as_long_as_there_are_iterations_left) {
    random_source r = {3};
    int limited = 0;
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe hard = {.bodies = 4, .contacts = 10, .friction = 2, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &hard);
        for (int most = 1; most <= 64; most *= 2) {
            double option[MOST_OPTIONS];
            options_of(option);
            option[INCP_MAX_ITERATIONS] = most;
            sim_solution out = solve(p, option);
            cr_expect_leq(out.iterations, most, "%d of %d", out.iterations, most);
            cr_expect(out.outcome <= SIM_AT_ROUNDING || out.iterations < most || out.reason == SIM_REASON_ITERATIONS,
                      "%s", sim_reason_name(out.reason));
            limited += out.iterations == most && out.failures > 0;
        }
        sim_problem_free(p);
    }
    cr_expect_gt(limited, 5, "%d ran out after they had begun anew", limited);
}

/* Newton's method alone, where it is taken whole each time: contacts that all stick are a linear problem. */
Test(incp, what_sticks_needs_no_iteration_and_a_guess_that_is_right_none_either) {
    double mass[] = {1, 2, 0.5};
    sim_problem *made = box_stack(3, mass, 0.5, 0.01, 0), p = *made;
    double option[MOST_OPTIONS];
    options_of(option);
    sim_solution out = solve(&p, option);
    cr_expect(out.outcome == SIM_SOLVED && out.iterations == 0, "%s, %d", sim_outcome_name(out.outcome),
              out.iterations);
    sim_problem_free(made);

    random_source r = {4};
    problem_recipe recipe = {.bodies = 5, .contacts = 6, .friction = 0.3, .impact = 1, .scatter = 0.6};
    made = random_problem(&r, &recipe);
    p = *made;
    answer a = rigid_entry(&p);
    option[INCP_TOLERANCE] = 1e-10;
    answer_find(&a, "incp", option);
    cr_assert(a.out.outcome == SIM_SOLVED && a.out.iterations > 0, "%d", a.out.iterations);
    double guess[MOST_ROWS];
    memcpy(guess, a.impulse, (size_t)p.nrow * sizeof *guess);
    p.impulse_guess = guess;
    option[INCP_TOLERANCE] = 1e-9;
    out = solve(&p, option);
    cr_expect_eq(out.iterations, 0, "%d iterations from the answer", out.iterations);
    option[INCP_START] = 1;
    out = solve(&p, option);
    cr_expect_gt(out.iterations, 0, "where all would stick the guess is not looked at");
    answer_free(&a);
    sim_problem_free(made);
}

/* ---- a shock (Todorov 2010, figure 6) ---- */

Test(incp, a_shock_goes_through_a_stack_within_a_step_whichever_ball_is_below) {
    enum { FALL = 28, BALLS = 10 };
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/papers/ball_drop.json", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(w, "%s", error.text);
    const sim_state *s = sim_world_state(w);
    double height[BALLS] = {0}, h = scene->options.step;
    for (int k = 0; k < 200; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        double fastest = 0, slowest = HUGE_VAL;
        for (int b = 0; b < BALLS; b++) {
            double v = hypot(hypot(s->v[6 * b], s->v[6 * b + 1]), s->v[6 * b + 2]);
            fastest = fmax(fastest, v);
            slowest = fmin(slowest, v);
            height[b] = k == FALL - 1 ? s->q[7 * b + 2] : height[b];
            cr_expect(k < FALL || fabs(s->q[7 * b + 2] - height[b]) < 1e-10, "ball %d sinks", b);
        }
        if (k < FALL) {
            cr_expect(fabs(slowest / (9.81 * h * (k + 1)) - 1) < 1e-12 && fabs(fastest / slowest - 1) < 1e-12);
        } else {
            cr_expect_leq(fastest, 1e-9, "step %d: %g m/s", k + 1, fastest);
            cr_expect_eq(sim_world_info(w)->contacts, BALLS);
            cr_expect_leq(sim_world_info(w)->solver_iterations, 1, "step %d: %d", k + 1,
                          sim_world_info(w)->solver_iterations);
        }
    }
    sim_world_free(w);
    sim_scene_free(scene);
}
