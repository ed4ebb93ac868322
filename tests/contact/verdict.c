/* A solver that reports "solved" is believed if the certificate agrees, whichever it is; with answers made up for the
 * purpose. */
#include "contact/island/island.h"
#include "math/v3.h"
#include "support.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/method.h>
#include <string.h>

enum { BOXES = 3 };

/* An island with the answer of a solver, which calls it solved. */
typedef struct trial {
    sim_problem *problem;
    answer found;
    island is;
    sim_solver *solver;
    sim_arena *scratch;
} trial;

static trial begin(const sim_solver_info *info) {
    const double mass[BOXES] = {1, 2, 1};
    trial t = {.problem = box_stack(BOXES, mass, 0.5, 1e-3, 1), .scratch = arena_create()};
    t.found =
        answer_create(t.problem, info->default_law == SIM_RIGID ? 0 : 1, info->default_law == SIM_RIGID ? 0 : 1e-3);
    sim_error error;
    t.solver = sim_solver_create(info, NULL, &error);
    answer_find(&t.found, info->name, NULL);
    double *R = (double *)t.found.law.R, *target = (double *)t.found.law.target;
    t.is = (island){.problem = *t.problem, .v = t.found.v, .impulse = t.found.impulse, .law = {R, target, R, target}};
    return t;
}

static void end(trial *t) {
    sim_solver_free(t->solver);
    arena_free(t->scratch);
    answer_free(&t->found);
    sim_problem_free(t->problem);
}

/* The outcome that is reported for a solver's own. */
static sim_outcome hear(trial *t, sim_outcome said) {
    t->is.solution = (sim_solution){.outcome = said};
    cr_assert_eq(judge_island(&t->is, t->solver, t->scratch, NULL), SIM_OK);
    arena_release(t->scratch, 0);
    cr_expect_eq(t->is.solution.outcome == SIM_REFUTED, t->is.solution.reason == SIM_REASON_REFUTED);
    return t->is.solution.outcome;
}

static void scale(double *x, int count, double by) {
    for (int k = 0; k < count; k++) {
        x[k] *= by;
    }
}

Test(verdict, believes_whoever_is_right) {
    for (int k = 0; k < sim_solver_count(); k++) {
        trial t = begin(sim_solver_at(k));
        cr_assert_leq(t.found.out.outcome, SIM_AT_ROUNDING, "%s: %s", sim_solver_at(k)->name,
                      sim_outcome_name(t.found.out.outcome));
        cr_expect_eq(hear(&t, SIM_SOLVED), SIM_SOLVED, "%s", sim_solver_at(k)->name);
        cr_expect_eq(hear(&t, SIM_AT_ROUNDING), SIM_AT_ROUNDING);
        cr_expect_eq(hear(&t, SIM_AT_LIMIT), SIM_AT_LIMIT);
        end(&t);
    }
}

Test(verdict, refutes_a_solver_that_diverged_and_says_that_it_solved) {
    static const double wrong[] = {0, -1, 1.02, 1e3, 1e30, 1e200, INFINITY, NAN};
    for (int k = 0; k < sim_solver_count(); k++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            trial t = begin(sim_solver_at(k));
            scale(t.is.impulse, t.problem->nrow, wrong[i]);
            cr_expect_eq(hear(&t, SIM_SOLVED), SIM_REFUTED, "%s: impulses times %g", sim_solver_at(k)->name, wrong[i]);
            cr_expect_eq(hear(&t, SIM_AT_ROUNDING), SIM_REFUTED);
            cr_expect_eq(hear(&t, SIM_STALLED), SIM_STALLED); /* it said so itself */
            end(&t);
        }
    }
}

/* Impulses alone are right: but what moves on is v. */
Test(verdict, refutes_velocities_that_do_not_follow_from_the_impulses) {
    for (int k = 0; k < sim_solver_count(); k++) {
        trial t = begin(sim_solver_at(k));
        t.is.v[2] += 1;
        cr_expect_eq(hear(&t, SIM_SOLVED), SIM_REFUTED, "%s", sim_solver_at(k)->name);
        t.is.v[2] = NAN;
        cr_expect_eq(hear(&t, SIM_SOLVED), SIM_REFUTED, "%s", sim_solver_at(k)->name);
        end(&t);
    }
}

/* Turns every impulse it had into twice as much the other way, and is content. */
static sim_status diverge(sim_solver_call *call) {
    const sim_problem *p = call->problem;
    for (int k = 0; k < p->nrow; k++) {
        call->out->impulse[k] = 1e-3 - 2 * (p->impulse_guess ? p->impulse_guess[k] : 0);
    }
    sim_solver_response(p, call->out->impulse, call->out->v);
    call->out->outcome = SIM_SOLVED;
    call->out->residual = 0;
    return SIM_OK;
}

Test(verdict, reports_a_solver_of_a_stranger_that_diverges_as_not_solved) {
    static const sim_solver_method method = {.info = {.name = "diverging",
                                                      .method = "none",
                                                      .paper = "none",
                                                      .cone = SIM_CONE_STRICT,
                                                      .default_law = SIM_RIGID,
                                                      .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1},
                                             .solve = diverge};
    sim_error error;
    sim_solver_registry *solvers = sim_solver_registry_create(&error);
    yard y = yard_begin((sim_v3){0, 0, -9.81}, rough(0.5));
    yard_ground(&y);
    int box = yard_add(&y, "box", SIM_BOX, 0.1, 0.1, 0.1, 1, (sim_v3){0, 0, 0.05}, (sim_v3){0, 0, 0});
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
    sim_options options = *sim_world_options(y.world);
    options.solver = sim_solver_register(solvers, &method, &error);
    options.solver_option = NULL;
    cr_assert_not_null(options.solver, "%s", error.text);
    sim_world *world = sim_world_create(y.model, &options, &error);
    cr_assert_not_null(world, "%s", error.text);
    for (int step = 0; step < 5; step++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        const sim_step_info *info = sim_world_info(world);
        int refuted = info->gave_up[SIM_REASON_REFUTED] + info->gave_up[SIM_REASON_ENERGY]; /* that is another veto */
        cr_expect(info->unsolved == info->islands && refuted == info->unsolved, "step %d: %d of %d", step, refuted,
                  info->unsolved);
        const int *who = info->worst_body[SIM_WORST_UNSOLVED];
        cr_expect(info->islands == 0 || who[0] == box || who[1] == box);
    }
    sim_world_free(world);
    yard_end(&y);
    sim_solver_registry_free(solvers);
}

Test(verdict, asks_for_no_more_than_the_solver_was_asked_for) {
    sim_error error;
    for (double tolerance = 1e-8; tolerance < 1; tolerance *= 100) {
        double option[32];
        options_with("pgs", (option_setting[]){{"tolerance", tolerance}, {NULL, 0}}, option);
        sim_solver *solver = sim_solver_create(sim_solver_find("pgs"), option, &error);
        for (int k = 0; k < 4; k++) {
            sim_outcome outcome = k % 2 ? SIM_AT_ROUNDING : SIM_SOLVED;
            sim_reason reason = SIM_REASON_NONE;
            double own = k < 2 ? tolerance : 0, momentum = k < 2 ? 0 : tolerance;
            sim_solver_confirm(solver, own, momentum, &outcome, &reason);
            cr_expect_leq(outcome, SIM_AT_ROUNDING, "%g: %d", tolerance, k);
            own = own > 0 ? 1.1 : 0;
            momentum = momentum > 0 ? 1.1 : 0;
            sim_solver_confirm(solver, own, momentum, &outcome, &reason);
            cr_expect(outcome == SIM_REFUTED && reason == SIM_REASON_REFUTED, "%g: %d", tolerance, k);
        }
        sim_solver_free(solver);
    }
}

/* In free flight nothing needs the weld: what it gives is rounding, and so is what it should. */
Test(verdict, of_bodies_that_fall_as_one_is_no_matter_of_rounding) {
    static const char *const solver[] = {"sap", "pgs", "subadmm", "auto", "nsn", "incp", "mncp-rlm", "mlcp-pivot"};
    for (size_t k = 0; k < sizeof solver / sizeof *solver; k++) {
        yard y = yard_begin((sim_v3){0.3, 0.7, -9.81}, rough(0.5));
        int a = yard_add(&y, "a", SIM_BOX, 0.1, 0.1, 0.1, 1, (sim_v3){0.1, 0.2, 0.3}, (sim_v3){1, 2, 3});
        int b = yard_add(&y, "b", SIM_BOX, 0.1, 0.1, 0.1, 0.7, (sim_v3){0.6, 0.2, 0.3}, (sim_v3){1, 2, 3});
        sim_equality e = sim_equality_default();
        e.type = SIM_WELD;
        e.body[0] = a;
        e.body[1] = b;
        e.frame[0].p = (sim_v3){0.25, 0, 0};
        e.frame[1].p = (sim_v3){-0.25, 0, 0};
        sim_builder_add_equality(y.builder, &e);
        yard_open(&y, solver[k], SIM_MIDPOINT, 1e-3);
        double own = 0;
        for (int step = 0; step < 500; step++) {
            yard_step(&y);
            own = fmax(own, sim_world_info(y.world)->certificate.own);
        }
        cr_expect(y.unsolved == 0 && own < 1e-5, "%s: %d unsolved, own %g", solver[k], y.unsolved, own);
        yard_end(&y);
    }
}

/* Boxes that slide, slowly turning, with a slack spring between them: what it gives is 1e-7 of their momentum and
 * less. */
Test(verdict, sap_answers_for_springs_as_stiff_as_you_like) {
    for (double stiffness = 1e6; stiffness < 2e15; stiffness *= 1e3) {
        yard y = yard_begin((sim_v3){0, 0, -9.81}, rough(0.5));
        yard_ground(&y);
        int a = yard_add(&y, "a", SIM_BOX, 0.1, 0.1, 0.1, 1, (sim_v3){0, 0, 0.05}, (sim_v3){1, 0, 0});
        int b = yard_add(&y, "b", SIM_BOX, 0.1, 0.1, 0.1, 1, (sim_v3){0.5, 0, 0.05}, (sim_v3){0, 0, 0});
        sim_equality e = sim_equality_default();
        e.type = SIM_SPRING_DAMPER;
        e.body[0] = a;
        e.body[1] = b;
        e.stiffness = stiffness;
        e.distance = 0.5;
        sim_builder_add_equality(y.builder, &e);
        yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
        double own = 0;
        for (int step = 0; step < 500; step++) {
            yard_step(&y);
            own = fmax(own, sim_world_info(y.world)->certificate.own);
        }
        cr_expect(y.unsolved == 0 && own < 1e-4, "%g N/m: %d unsolved, own %g", stiffness, y.unsolved, own);
        yard_end(&y);
    }
}

/* ---- what the info of a step says of the law ---- */

/* A ball rests on the ground: its overlap is that of the near-rigid law, unless its material is softer. */
Test(verdict, sag_is_the_overlap_at_rest_where_the_law_is_softer_than_the_material) {
    const double r = 0.1, stiffness[] = {INFINITY, 1e3};
    for (int k = 0; k < 2; k++) {
        surface all = rough(0.5);
        all.stiffness = stiffness[k];
        yard y = yard_begin((sim_v3){0, 0, -9.81}, all);
        yard_ground(&y);
        int ball = yard_add(&y, "ball", SIM_SPHERE, r, 0, 0, 2, (sim_v3){0, 0, r}, (sim_v3){0, 0, 0});
        yard_open(&y, "sap", SIM_MIDPOINT, 1e-2);
        for (int step = 0; step < 100; step++) {
            yard_step(&y);
        }
        const sim_step_info *info = sim_world_info(y.world);
        double due = k ? 0 : deepest_overlap(&y);
        cr_expect_float_eq(info->sag, due, 1e-3 * due, "%g m, %g m due", info->sag, due);
        cr_expect_float_eq(info->sag_part, due / r, 1e-3 * due / r);
        cr_expect(k || (due > 1e-7 && (info->sag_body[0] == ball || info->sag_body[1] == ball)), "%g m", due);
        yard_end(&y);
    }
}

/* A ball on two sliders is pulled over the ground.  It glides by the convex law, and its lift is the gap: its rise of
 * mu dv T in a step, 1.5 mm/s, reaches 1e-7 m against gravity. */
Test(verdict, lift_is_the_gap_at_which_a_contact_glides) {
    yard y = yard_begin((sim_v3){0, 0, -9.81}, rough(0.5));
    yard_ground(&y);
    int parent = 0;
    for (int k = 0; k < 2; k++) {
        sim_body_def def = sim_body_default();
        def.name = k ? "ball" : "x";
        def.parent = parent;
        def.joint = SIM_SLIDER;
        def.axis = k ? (sim_v3){0, 0, 1} : (sim_v3){1, 0, 0};
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.placement.p.z = k ? 0.1 : 0;
        parent = sim_builder_add_body(y.builder, &def);
    }
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 0.1;
    ball.body = parent;
    ball.material = y.material;
    sim_builder_add_shape(y.builder, &ball);
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    sim_world_applied(y.world)[0] = 8;
    for (int step = 0; step < 400; step++) {
        yard_step(&y);
        const sim_state *now = sim_world_state(y.world);
        double gap = now->ncontact ? now->contact[0].at.gap : 0, lift = sim_world_info(y.world)->lift;
        cr_expect(step < 200 || (gap > 1e-4 && fabs(lift - gap) < 1e-3 * gap), "step %d: %g m, gap %g m", step, lift,
                  gap);
    }
    yard_end(&y);
}

/* A ball of 1e300 kg on the ground: the squares of its momentum have no number. */
Test(verdict, a_step_with_a_problem_beyond_the_range_of_numbers_fails) {
    const double masses[] = {1, 1e100, 1e300};
    for (int k = 0; k < 3; k++) {
        yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
        yard_ground(&y);
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, masses[k], v3_make(0, 0, 0.1), v3_make(0, 0, 0));
        yard_open(&y, NULL, SIM_MIDPOINT, 1e-3);
        sim_error error = {0};
        sim_status status = sim_world_step(y.world, &error);
        bool named =
            strstr(error.text, "\"ball\"") && strstr(error.text, "not finite") && strstr(error.text, "step 1,");
        cr_expect_eq(status, masses[k] < 1e200 ? SIM_OK : SIM_FAILED, "%g kg: %d", masses[k], status);
        cr_expect_eq(named, status != SIM_OK, "%s", error.text);
        cr_expect_eq(sim_world_state(y.world)->step, status == SIM_OK);
        yard_end(&y);
    }
}
