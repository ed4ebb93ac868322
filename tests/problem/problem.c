/* The contact problem itself: what is refused, and what the laws make of it. */
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/solver.h>
#include <stdio.h>
#include <string.h>

Test(problem, of_a_resting_point_is_regularised_as_the_paper_says) {
    double down[3] = {0, 0, -0.0981}, R[3], target[3], dt = 0.01, mass = 2, gap = -1e-4;
    sim_problem *p = point_on_ground(mass, 0.5, gap, dt, down);
    sim_law_options o = sim_law_options_default();
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass}, w = 1 / (sqrt(3) * mass);
    sim_regularise(p, SIM_NEAR_RIGID, &o, W, R, target);
    cr_assert_float_eq(R[2], w / (4 * M_PI * M_PI), 1e-15);
    cr_assert_float_eq(R[0], 1e-3 * w, 1e-15);
    cr_assert_float_eq(target[2], -gap / (2 * dt), 1e-15);
    o.beta = 0.5;
    sim_regularise(p, SIM_NEAR_RIGID, &o, W, R, target);
    cr_assert_float_eq(R[2], 0.25 * w / (4 * M_PI * M_PI), 1e-15);
    o.slop = 0;
    sim_regularise(p, SIM_RIGID, &o, NULL, R, target);
    cr_assert_eq(R[2], 0);
    cr_assert_float_eq(target[2], 0.2 * 1e-4 / dt, 1e-15);
    sim_problem_free(p);
}

/* The spring of the normal explains -dt R gamma of the overlap; friction keeps its force.  An impulse of four times the
 * body's weight stiffens nothing, one of forty times does by ten. */
Test(problem, of_a_resting_point_is_elastic_about_the_impulse_before) {
    double at_rest[3] = {0}, down[3] = {0, 0, -0.0981}, R[3], target[3], dt = 0.01, mass = 2, gap = -1e-4;
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass}, w = 1 / mass;
    sim_law_options o = sim_law_options_default();
    for (int loads = 1; loads <= 10; loads *= 10) {
        sim_problem *made = point_on_ground(mass, 0.5, gap, dt, down), p = *made;
        double impulse[3] = {0.01, -0.02, loads * 4 * 0.0981 / w};
        p.impulse_guess = impulse;
        p.v_start = at_rest;
        sim_regularise(&p, SIM_ELASTIC, &o, W, R, target);
        double due = w / (4 * M_PI * M_PI) / loads;
        for (int k = 0; k < 3; k++) {
            cr_assert_float_eq(R[k], due, 1e-12 * due, "row %d: %g, not %g", k, R[k], due);
        }
        cr_assert_float_eq(target[0], due * 0.01, 1e-15);
        cr_assert_float_eq(target[1], due * -0.02, 1e-15);
        double held = due * impulse[2];
        cr_assert_float_eq(target[2], held + 0.2 * (-gap / dt - held), 1e-15);
        sim_problem_free(made);
    }
}

/* Forces of the step bear a thousand times the body's weight; a thousand times that is a squeeze, and neither stiffens
 * more nor stays in the spring.  A normal that nothing moves yields by a tenth of the tangents' compliance. */
Test(problem, of_a_squeezed_point_counts_no_more_load_than_forces_can_give) {
    double at_rest[3] = {0}, down[3] = {0, 0, -0.0981}, R[3], target[3], dt = 0.01, mass = 2, gap = -1e-2;
    double w = 1 / mass, W[9] = {w, 0, 0, 0, w, 0, 0, 0, w}, energy = mass * 0.0981 * 0.0981;
    double most = 1000 * mass * 0.0981, due = w / (4 * M_PI * M_PI) / (1000 / 4.);
    sim_law_options o = sim_law_options_default();
    sim_problem *made = point_on_ground(mass, 0.5, gap, dt, down), p = *made;
    double impulse[3] = {0, 0, 0};
    p.impulse_guess = impulse;
    p.v_start = at_rest;
    p.force_energy = &energy;
    for (double load = 1; load < 1e7; load *= 1e3) {
        impulse[2] = load * most;
        sim_regularise(&p, SIM_ELASTIC, &o, W, R, target);
        cr_expect_float_eq(R[2], due, 1e-12 * due, "%g times: %g, not %g", load, R[2], due);
        cr_expect_float_eq(target[2], due * most + o.undo, 1e-12, "%g times: %g", load, target[2]);
    }
    W[8] = 0;
    impulse[2] = 0;
    sim_regularise(&p, SIM_ELASTIC, &o, W, R, target);
    cr_expect_float_eq(R[2], 0.1 * w / (4 * M_PI * M_PI), 1e-15, "%g", R[2]);
    sim_problem_free(made);
}

/* 1 cm deep, by every law and step: V at most, and what rests there rests as deep as it did. */
Test(problem, of_a_deep_overlap_undoes_it_at_a_bounded_speed_whatever_the_step) {
    double down[3] = {0, 0, -0.0981}, R[3], target[3], mass = 2, gap = -0.01, w = 1 / (sqrt(3) * mass);
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass};
    for (double dt = 1e-5; dt < 0.02; dt *= 10) {
        sim_problem *p = point_on_ground(mass, 0.5, gap, dt, down);
        sim_law_options o = sim_law_options_default();
        sim_regularise(p, SIM_RIGID, &o, NULL, R, target);
        cr_assert(target[2] > 0 && target[2] <= o.undo, "rigid, %g s: %g m/s", dt, target[2]);
        sim_regularise(p, SIM_NEAR_RIGID, &o, W, R, target);
        cr_assert(target[2] > 0 && target[2] <= o.undo, "near-rigid, %g s: %g m/s", dt, target[2]);
        double holds = -gap / (2 * dt) / (w / (4 * M_PI * M_PI));
        cr_assert_float_eq(target[2] / R[2], holds, 1e-12 * holds, "%g s: holds %g N s, not %g", dt, target[2] / R[2],
                           holds);
        sim_problem_free(p);
    }
}

/* A loop that is open by 3, 4 and 12 mm closes along the straight line. */
Test(problem, of_a_wide_gap_of_an_equality_closes_it_at_a_bounded_speed) {
    const double dt = 1e-4, gap[3] = {0.003, -0.004, 0.012};
    sim_constraint joint = {.kind = SIM_EQUALITY, .rows = 3, .tree = {-1, -1}, .stiffness = INFINITY};
    sim_problem p = {.step = dt, .nconstraint = 1, .nrow = 3, .constraint = &joint, .gap = gap};
    sim_law_options o = sim_law_options_default();
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, R[3], target[3];
    for (int law = 0; law < SIM_COMPLIANCES; law++) {
        sim_regularise(&p, (sim_compliance)law, &o, W, R, target);
        for (int k = 0; k < 3; k++) {
            double due = -o.undo * gap[k] / 0.013;
            cr_assert_float_eq(target[k], due, 1e-12, "law %d, row %d: %g, not %g", law, k, target[k], due);
        }
    }
}

/* m is carried: beta dt is the period of m on the contact's spring, k = 1 / (dt (dt + tau) R), if it were the contact's
 * own inverse mass that is 1/m.  The mean over the contacts of two bodies counts. */
Test(problem, of_a_contact_that_carries_a_load_is_regularised_for_the_load) {
    double down[3] = {0, 0, -0.0981}, still[3] = {0}, dt = 0.01, mass = 2, carries = 100, R[3], target[3];
    double gave[3] = {0.3, 0, carries * 0.0981}, w = 1 / (sqrt(3) * mass);
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass};
    sim_problem *owned = point_on_ground(mass, 0.5, 0, dt, down), p = *owned;
    p.v_start = still;
    p.impulse_guess = gave;
    const struct { double carried, stiffer; } of[] = {{1, 1}, {10, 10}, {1e9, carries * w}};
    for (int k = 0; k < 3; k++) {
        sim_law_options o = sim_law_options_default();
        o.carried = of[k].carried;
        sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
        double due = w / (4 * M_PI * M_PI) / of[k].stiffer;
        cr_assert_float_eq(R[2], due, 1e-12 * due, "up to %g: %g, not %g", o.carried, R[2], due);
        cr_assert_float_eq(R[0] / R[2], 1e-3 * 4 * M_PI * M_PI, 1e-12);
    }
    gave[2] = 0.5 * 0.0981 / w; /* less than what it touches */
    sim_law_options o = sim_law_options_default();
    o.carried = 1e9;
    sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
    cr_assert_float_eq(R[2], w / (4 * M_PI * M_PI), 1e-15);
    sim_problem_free(owned);
}

/* The compliance of a weld in metres must not depend on the unit of its radians, nor on how easily its bodies turn. */
Test(problem, of_a_weld_has_a_compliance_for_metres_and_one_for_radians) {
    sim_constraint weld = {.kind = SIM_EQUALITY, .rows = 6, .tree = {-1, -1}, .stiffness = INFINITY};
    const double dt = 0.01, gap[6] = {0}, inverse_mass = 0.5, inverse_inertia = 200;
    sim_problem p = {.step = dt, .nconstraint = 1, .nrow = 6, .constraint = &weld, .gap = gap};
    sim_law_options o = sim_law_options_default();
    double W[36] = {0}, R[6], target[6];
    for (int k = 0; k < 6; k++) {
        W[7 * k] = k < 3 ? inverse_mass : inverse_inertia;
    }
    sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
    for (int k = 0; k < 6; k++) {
        double due = (k < 3 ? inverse_mass : inverse_inertia) / sqrt(3) / (4 * M_PI * M_PI);
        cr_assert_float_eq(R[k], due, 1e-12 * due, "row %d: %g, not %g", k, R[k], due);
    }
}

Test(problem, with_restitution_bounces_only_what_arrives_within_the_step) {
    double fast[3] = {0, 0, -2}, R[3], target[3];
    sim_law_options o = sim_law_options_default();
    for (int k = 0; k < 2; k++) {
        double gap = k ? 0.03 : 0.01;
        sim_problem *p = point_on_ground(1, 0, gap, 0.01, fast);
        sim_constraint c = p->constraint[0];
        c.restitution = 0.7;
        sim_problem with = *p;
        with.constraint = &c;
        with.v_start = fast;
        sim_regularise(&with, SIM_RIGID, &o, NULL, R, target);
        cr_assert_float_eq(target[2], k ? -gap / 0.01 : 1.4, 1e-14);
        sim_problem_free(p);
    }
}

/* Parts that may be spoilt, of a problem that is none otherwise; constraints in the order of their kinds from the last
 * contact on. */
typedef struct parts {
    sim_problem p;
    sim_problem_tree tree[8];
    sim_constraint c[16];
    double gap[32], J[1024], v_free[64], offset[32], A[512];
} parts;

enum { CONTACTS = 2 };

static void take(parts *d, const sim_problem *from) {
    ptrdiff_t nJ = 0, nA = 0;
    *d = (parts){.p = *from};
    for (int t = 0; t < from->ntree; t++) {
        d->tree[t] = from->tree[t];
        from->mass.matrix(from->mass.self, t, d->A + nA);
        nA += from->tree[t].nv * from->tree[t].nv;
    }
    for (int i = 0; i < from->nconstraint; i++) {
        d->c[i] = from->constraint[i];
        for (int side = 0; side < 2 && d->c[i].tree[side] >= 0; side++) {
            nJ += d->c[i].rows * from->tree[d->c[i].tree[side]].nv;
        }
    }
    memcpy(d->J, from->J, (size_t)nJ * sizeof *d->J);
    memcpy(d->v_free, from->v_free, (size_t)from->nv * sizeof *d->v_free);
    memcpy(d->offset, from->offset, (size_t)from->nrow * sizeof *d->offset);
    d->p.tree = d->tree;
    d->p.constraint = d->c;
    d->p.gap = d->gap;
    d->p.J = d->J;
    d->p.v_free = d->p.v_start = d->v_free;
    d->p.offset = d->offset;
}

static void is_refused(const parts *d, const char *words) {
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&d->p, d->A, &error);
    cr_expect_null(p, "taken, though %s", words);
    cr_expect_eq(error.status, SIM_BAD_INPUT);
    cr_expect(strstr(error.text, words), "'%s' is not in: %s", words, error.text);
    sim_problem_free(p);
}

static void nowhere(void *self, const double *v, double *u) { (void)self, (void)v, (void)u; }

/* It outlives the step, and whom that asks for positions. */
Test(problem, a_copy_does_not_ask_the_step_it_came_from) {
    sim_problem *made = point_on_ground(1, 0.5, 0, 0.01, (double[3]){0, 0, -1}), p = *made;
    const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    sim_positions ahead = {NULL, nowhere, made->J};
    p.positions = &ahead;
    sim_problem *copy = sim_problem_create(&p, A, NULL);
    cr_assert_not_null(copy);
    cr_expect_null(copy->positions);
    sim_problem_free(copy);
    sim_problem_free(made);
}

static sim_problem *of_all_kinds(void) {
    random_source r = {3};
    problem_recipe recipe = {.bodies = 2, .chain = 3, .contacts = CONTACTS, .friction = 0.5, .kinds = 63, .impact = 1};
    return random_problem(&r, &recipe);
}

/* Two bodies of one tree: the parent of each stands before it. */
Test(problem, whose_bodies_do_not_follow_their_parents_is_refused) {
    sim_problem *made = point_on_ground(1, 0.5, 0, 0.01, (double[3]){0, 0, -1}), p = *made;
    const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[6] = {0}, rows[18] = {0};
    const sim_v3 r[2] = {0};
    const sim_motion S[3] = {0};
    const sim_body_inertia I[2] = {0};
    const sim_body_rows on[1] = {{.body = {1, -1}}};
    const int first[2] = {0, 2};
    for (int parent = -1; parent < 2; parent++) {
        sim_body_node node[2] = {{.parent = parent, .v0 = 0, .nv = 2}, {.parent = 0, .v0 = 2, .nv = 1}};
        sim_problem_bodies b = {2, first, node, I, zero, {{r, S}, {r, S}}, on, rows, NULL, NULL};
        p.bodies = &b;
        sim_error error = {0};
        sim_problem *copy = sim_problem_create(&p, A, &error);
        cr_expect_eq(copy != NULL, parent < 0, "parent %d of body 0: %s", parent, error.text);
        cr_expect(copy || strstr(error.text, "bodies: "), "%s", error.text);
        sim_problem_free(copy);
    }
    sim_problem_free(made);
}

/* Each number of each kind of constraint, out of its range; one that the kind has no use for may be anything. */
Test(problem, with_a_number_that_means_nothing_is_refused_by_name) {
    static const struct {
        const char *name;
        size_t offset;
        unsigned kinds;
        double bad[5];
    } number[] = {
        {"friction", offsetof(sim_constraint, friction), 1 << SIM_CONTACT, {-1, NAN, INFINITY, -INFINITY, -1e-300}},
        {"stiffness", offsetof(sim_constraint, stiffness), 11, {0, -1, NAN, -INFINITY, 1e-310}},
        {"stiffness", offsetof(sim_constraint, stiffness), 48, {-1, NAN, INFINITY, -INFINITY, -1e9}},
        {"dissipation", offsetof(sim_constraint, dissipation), 11, {-1, NAN, INFINITY, -INFINITY, -1e-9}},
        {"restitution", offsetof(sim_constraint, restitution), 3, {-0.1, NAN, INFINITY, 1.1, -INFINITY}},
        {"bound", offsetof(sim_constraint, bound), 36, {-1, NAN, -INFINITY, -1e-9, -5}},
        {"damping", offsetof(sim_constraint, damping), 48, {-1, NAN, INFINITY, -INFINITY, -1e-9}},
        {"force", offsetof(sim_constraint, force), 48, {NAN, INFINITY, -INFINITY, NAN, INFINITY}},
    };
    sim_problem *p = of_all_kinds();
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        for (int i = CONTACTS - 1; i < p->nconstraint; i++) {
            for (int b = 0; b < 5; b++) {
                char words[64];
                parts d;
                take(&d, p);
                snprintf(words, sizeof words, "%s[%d] is ", number[k].name, i);
                *(double *)(void *)((char *)&d.c[i] + number[k].offset) = number[k].bad[b];
                if (number[k].kinds >> d.c[i].kind & 1) {
                    is_refused(&d, words);
                } else if (strcmp(number[k].name, "stiffness") != 0) {
                    sim_problem *made = sim_problem_create(&d.p, d.A, NULL);
                    cr_expect_not_null(made, "%s of no use", words);
                    sim_problem_free(made);
                }
            }
        }
    }
    sim_problem_free(p);
}

Test(problem, that_gives_a_force_whatever_moves_is_refused_and_one_that_only_damps_is_not) {
    sim_problem *p = of_all_kinds();
    for (int i = CONTACTS; i < p->nconstraint; i++) {
        parts d;
        take(&d, p);
        if (d.c[i].kind == SIM_SPRING || d.c[i].kind == SIM_ACTUATOR) {
            d.c[i].stiffness = 0;
            sim_problem *made = sim_problem_create(&d.p, d.A, NULL);
            cr_expect_not_null(made);
            sim_problem_free(made);
            d.c[i].damping = 0;
            is_refused(&d, "belongs to v_free");
        }
    }
    sim_problem_free(p);
}

Test(problem, whose_indices_do_not_fit_is_refused_with_the_place) {
    sim_problem *p = of_all_kinds();
    parts d;
#define SPOILT(change, words)                                                                                          \
    take(&d, p);                                                                                                       \
    change;                                                                                                            \
    is_refused(&d, words)
    SPOILT(d.p.nrow--, "do not fit");
    SPOILT(d.p.nv++, "do not fit");
    SPOILT(d.p.nconstraint = -1, "a count is negative");
    SPOILT(d.p.ntree = -1, "a count is negative");
    SPOILT(d.p.step = 0, "step is 0 s");
    SPOILT(d.p.step = NAN, "step is nan s");
    SPOILT(d.p.gap = NULL, "gap: is missing");
    SPOILT(d.p.v_free = NULL, "v_free: is missing");
    SPOILT(d.p.J = NULL, "J: is missing");
    SPOILT(d.p.tree = NULL, "tree: is missing");
    SPOILT(d.p.constraint = NULL, "constraint: is missing");
    SPOILT(d.tree[1].v0++, "do not follow on");
    SPOILT(d.tree[1].nv = -3, "do not follow on");
    SPOILT(d.tree[0].nv = 0x7fffffff, "do not follow on");
    SPOILT(d.c[1].kind = (sim_constraint_kind)6, "kind[1] is 6");
    SPOILT(d.c[1].kind = (sim_constraint_kind)-1, "kind[1] is -1");
    SPOILT(d.c[1].rows = 2, "rows[1] is 2");
    SPOILT(d.c[3].rows = 7, "rows[3] is 7");
    SPOILT(d.c[3].rows = 0, "rows[3] is 0");
    SPOILT(d.c[1].row = 4, "constraint 1: its rows start at 4, those before end at 3");
    SPOILT(d.c[1].tree[0] = 3, "tree: constraint 1 touches tree 3, of 3");
    SPOILT(d.c[1].tree[0] = -1, "tree: constraint 1 touches none");
    SPOILT(d.c[1].tree[1] = -2, "tree: constraint 1 touches tree -2");
    SPOILT(d.c[1].tree[1] = d.c[1].tree[0], "twice");
    SPOILT(d.c[1].block[0] = -1, "block: constraint 1");
    SPOILT(d.c[1].columns[0] = ((sim_columns){1, 1 << 20}), "columns: constraint 1");
    SPOILT(d.c[1].columns[0] = ((sim_columns){-1, 1}), "columns: constraint 1");
    SPOILT(d.J[5] = NAN, "J[5] is nan");
    SPOILT(d.gap[2] = INFINITY, "gap[2] is inf");
    SPOILT(d.v_free[4] = -INFINITY, "v_free[4] is -inf");
    SPOILT(d.offset[1] = NAN, "offset[1] is nan");
    sim_problem_free(p);
}

Test(problem, whose_masses_are_not_symmetric_and_positive_is_refused) {
    sim_problem *p = of_all_kinds();
    parts d;
    SPOILT(d.A[36 + 6] *= 1 + 1e-15, "A: tree 1 has ");
    SPOILT(d.A[1] = NAN, "A: tree 0 has ");
    SPOILT(d.A[7] = INFINITY, "must be finite");
    SPOILT(d.A[7] = -1, "A: the block of tree 0 is not positive definite");
    SPOILT(d.A[7] = 0, "not positive definite");
    SPOILT(d.A[0] = -0.5, "not positive definite");
    sim_error error = {0};
    cr_expect_null(sim_problem_create(p, NULL, &error));
    cr_expect(strstr(error.text, "A: is missing"), "%s", error.text);
    sim_problem_free(p);
}

Test(problem, of_W_that_is_not_as_it_says_is_refused) {
    static const int start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
    static const ptrdiff_t at[] = {0, 1, 2, 3};
    double value[] = {2, 1, 1, 3}, gap[2] = {0}, q[2] = {-1, -1};
    sim_constraint c[2] = {{.kind = SIM_LIMIT, .row = 0, .rows = 1, .tree = {-1, -1}, .stiffness = INFINITY},
                           {.kind = SIM_LIMIT, .row = 1, .rows = 1, .tree = {-1, -1}, .stiffness = INFINITY}};
    for (int k = 0; k < 4; k++) {
        sim_delassus W = {start, column, at, value, k < 3};
        sim_problem p = {.step = 1, .nconstraint = 2, .nrow = 2, .constraint = c, .gap = gap, .W = &W, .q = q};
        sim_error error = {0};
        value[1] = k == 1 || k == 3 ? 1.5 : k == 2 ? NAN : 1;
        sim_problem *made = sim_problem_create(&p, NULL, &error);
        cr_expect_eq(made != NULL, k == 0 || k == 3, "%d: %s", k, error.text);
        cr_expect(made || strstr(error.text, k == 1 ? "W: is declared symmetric" : "W/value[1] is nan"), "%s",
                  error.text);
        sim_problem_free(made);
    }
}

Test(problem, of_nothing_at_all_is_one) {
    sim_problem nothing = {.step = 0.01};
    sim_problem *p = sim_problem_create(&nothing, NULL, NULL);
    cr_assert_not_null(p);
    for (int k = 0; k < sim_solver_count(); k++) {
        sim_solver *s = sim_solver_create(sim_solver_at(k), NULL, NULL);
        double none[1] = {0};
        sim_regularisation law = {none, none};
        sim_solution out = {.v = none, .impulse = none};
        cr_expect_eq(sim_solver_accepts(s, p, NULL), SIM_OK);
        cr_expect_eq(sim_solver_solve(s, p, &law, &out, NULL), SIM_OK);
        cr_expect_eq(out.outcome, SIM_SOLVED);
        sim_solver_free(s);
    }
    sim_problem_free(p);
}
