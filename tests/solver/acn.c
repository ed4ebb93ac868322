/* ACN: the steps of nsn in velocities, the strict law at the end, and no more claimed than reached. */
#include "math/v3.h"
#include "solver/matrices/tree_lu.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"
#include "support/touched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double own_error(const answer *a) {
    return certificate_of(a->problem, &a->law, SIM_CONE_STRICT, a->v, a->impulse).own;
}

Test(acn, obeys_the_strict_law_with_all_kinds_of_rows) {
    random_source r = {1};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = {.bodies = 4,
                                 .chain = trial % 2 ? 7 : 0,
                                 .contacts = 8,
                                 .friction = 0.15 * (trial % 6),
                                 .bias = 0.1,
                                 .kinds = 63,
                                 .impact = 1,
                                 .scatter = 0.5};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = trial % 3 ? rigid_entry(p) : answer_create(p, 1, 1e-3);
        answer_find(&a, "acn", NULL);
        sim_certificate found = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_leq(found.own, 2e-8, "trial %d: E %g, %s", trial, found.own, sim_outcome_name(a.out.outcome));
        cr_expect_leq(found.momentum, 1e-13, "trial %d: momentum %g", trial, found.momentum);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* Both take whole Newton steps on the same equations by the same rule, one in velocities and one in impulses: the
 * iterates are the same up to the rounding of their linear systems. */
Test(acn, takes_the_steps_of_nsn) {
    random_source r = {2};
    int same = 0;
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &mixed_recipe);
        answer a = answer_create(p, 1, 1e-3), b = answer_create(p, 1, 1e-3);
        answer_find(&a, "acn", NULL);
        answer_find(&b, "nsn", NULL);
        if (a.out.iterations == b.out.iterations) {
            cr_expect_leq(own_error(&a), 2e-8, "trial %d", trial);
            double apart = distance_between(a.v, b.v, p->nv) / norm_of(b.v, p->nv);
            cr_expect_leq(apart, 1e-7, "trial %d: velocities differ by %g", trial, apart);
            same++;
        }
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
    cr_assert_geq(same, 36, "the same number of steps in %d of 40", same);
}

/* Heaps at friction 1 with impulses that mislead: each rule of the outer iterations solves some that the other does not,
 * and claims none that is not. */
Test(acn, solves_by_the_exact_rule_what_the_quick_one_does_not) {
    static const problem_recipe heap = {
        .bodies = 24, .contacts = 90, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 1};
    random_source r = {5};
    int more = 0, solved = 0;
    for (int trial = 0; trial < trials_of(60); trial++) {
        sim_problem *p = random_problem(&r, &heap);
        answer quick = rigid_entry(p), exact = rigid_entry(p);
        double option[32];
        options_with("acn", (option_setting[]){{"exact", 1}, {NULL, 0}}, option);
        answer_find(&quick, "acn", NULL);
        answer_find(&exact, "acn", option);
        bool done = exact.out.outcome == SIM_SOLVED;
        cr_expect(!done || own_error(&exact) <= 1.0001e-8, "trial %d: E %g", trial, own_error(&exact));
        more += done && quick.out.outcome != SIM_SOLVED;
        solved += done;
        answer_free(&quick);
        answer_free(&exact);
        sim_problem_free(p);
    }
    cr_expect_geq(solved, trials_of(30), "%d solved", solved);
    cr_expect(more > 0 || trials_of(60) < 60, "none that the quick rule does not solve");
}

Test(acn, solves_a_load_of_ten_thousand_on_one) {
    for (double top = 1; top < 2e4; top *= 10) {
        sim_problem *p = loaded_stack(top);
        answer a = rigid_entry(p);
        answer_find(&a, "acn", NULL);
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "%g kg: %s", top, sim_outcome_name(a.out.outcome));
        cr_expect_leq(own_error(&a), 2e-8, "%g kg", top);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(acn, says_so_where_no_impulse_satisfies_the_law) {
    double at_rest[3] = {0, 0, -0.1};
    sim_problem *p = point_between_walls(1, 0.5, -0.01, 0.01, at_rest);
    answer a = rigid_entry(p);
    answer_find(&a, "acn", NULL);
    cr_assert(a.out.outcome != SIM_SOLVED && a.out.outcome != SIM_AT_ROUNDING, "%s", sim_outcome_name(a.out.outcome));
    cr_assert(isfinite(a.v[2]));
    answer_free(&a);
    sim_problem_free(p);
}

/* At rest between walls that give way it is squeezed as hard as they overlap it: the next step has the same solution. */
Test(acn, begins_with_the_squeeze_that_soft_walls_ask_for) {
    double at_rest[3] = {0, 0, 0};
    sim_problem *p = point_between_walls(1, 0.5, -0.01, 0.01, at_rest);
    answer first = answer_create(p, 1, 1e-3);
    answer_find(&first, "acn", NULL);
    cr_assert(first.out.outcome == SIM_SOLVED && first.out.iterations > 0);
    p->impulse_guess = first.impulse;
    answer next = answer_create(p, 1, 1e-3);
    answer_find(&next, "acn", NULL);
    cr_expect(next.out.outcome == SIM_SOLVED && next.out.iterations == 0, "%d iterations", next.out.iterations);
    p->impulse_guess = NULL;
    answer_free(&next);
    answer_free(&first);
    sim_problem_free(p);
}

/* ---- one large tree ---- */

enum { LINKS = 220, STUB = 11, TOUCHES = 160 };

static bool is_stub(int i) { return i % STUB == STUB - 1; }

/* A free chain of several joints, with a stub of one link beside every tenth. */
static sim_model *rope(random_source *r) {
    static const sim_joint_type joint[] = {SIM_HINGE, SIM_BALL, SIM_HINGE, SIM_FIXED, SIM_UNIVERSAL, SIM_SLIDER};
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    for (int i = 0, before = 0; i < LINKS; i++) {
        sim_body_def def = sim_body_default();
        def.joint = i ? joint[random_index(r, 6)] : SIM_FREE;
        def.parent = before;
        def.axis = v3_make(1, 0, 0);
        def.axis2 = v3_make(0, 1, 0);
        def.placement.p = v3_scale(0.3, random_unit(r));
        def.inertia = random_inertia(r);
        def.friction[0] = i % 7 == 1 && def.joint == SIM_HINGE ? 2 : 0;
        sim_builder_add_body(builder, &def);
        before = is_stub(i) ? before : i + 1;
    }
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

/* Body k of the rope, of every other contact on the ground and otherwise on a link up to fifteen before; `across`: the
 * last is between two stubs. */
static void touch_rope(random_source *r, const sim_model *m, const double *q, int across, sim_contact *contact) {
    sim_derived *d = sim_derived_create(m, NULL);
    sim_poses(d, sim_all(m), q);
    for (int k = 0; k < TOUCHES; k++) {
        int a = 2 + random_index(r, LINKS - 1), b = k % 2 ? a - 1 - random_index(r, 15) : 0;
        b = b > 0 && !is_stub(b - 1) ? b : 0;
        a = across && k == TOUCHES - 1 ? 5 * STUB : a;
        b = across && k == TOUCHES - 1 ? 4 * STUB : b;
        contact[k] = (sim_contact){
            .body_a = a,
            .body_b = b,
            .at = {.position = v3_axpy(d->pose[a].p, 0.2, random_unit(r)), .normal = random_unit(r), .gap = -1e-4},
            .friction = 0.5,
            .stiffness = INFINITY};
    }
    sim_derived_free(d);
}

static void add_dyad(const sim_problem *p, int i, const double *l, const double *q, double weight, double *H) {
    const sim_constraint *c = &p->constraint[i];
    const double *J = p->J + c->block[0];
    for (int a = 0; a < p->nv; a++) {
        for (int b = 0; b < p->nv; b++) {
            double x = 0, y = 0;
            for (int k = 0; k < c->rows; k++) {
                x += l[k] * J[k * p->nv + a];
                y += q[k] * J[k * p->nv + b];
            }
            H[a * p->nv + b] += weight * x * y;
        }
    }
}

/* The solution of a random H against products with H itself. */
static void check_solution(random_source *r, const sim_problem *p, tree_lu *s) {
    int n = p->nv;
    double *H = calloc((size_t)n * (size_t)n, sizeof *H), *b = calloc(2 * (size_t)n, sizeof *b), *x = b + n;
    p->mass.matrix(p->mass.self, 0, H);
    tree_lu_reset(s);
    for (int i = 0; i < p->nconstraint; i++) {
        double l[SIM_MAX_ROWS], q[SIM_MAX_ROWS];
        for (int k = 0; k < p->constraint[i].rows; k++) {
            l[k] = random_normal(r);
            q[k] = l[k] + 0.3 * random_normal(r);
        }
        tree_lu_add(s, i, l, q, 10);
        add_dyad(p, i, l, q, 10, H);
    }
    for (int j = 0; j < n; j++) {
        b[j] = x[j] = random_normal(r);
    }
    cr_assert(tree_lu_factor(s));
    tree_lu_solve(s, x);
    for (int a = 0; a < n; a++) {
        double sum = -b[a], size = fabs(b[a]);
        for (int k = 0; k < n; k++) {
            sum += H[a * n + k] * x[k];
            size += fabs(H[a * n + k] * x[k]);
        }
        cr_assert_leq(fabs(sum), 1e-10 * size, "row %d: %g of %g", a, sum, size);
    }
    free(H);
    free(b);
}

/* `apart`: A is taken elsewhere than J, as by the midpoint rule. */
static tree_lu_fit try_rope(random_source *r, int apart, int across) {
    sim_model *m = rope(r);
    sim_contact contact[TOUCHES];
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    random_state(r, m, q, v);
    touch_rope(r, m, q, across, contact);
    touched *t = touched_create(m, q, v, 1, contact, TOUCHES, "acn", 1);
    sim_derived *mass = sim_derived_create(m, NULL);
    if (apart) {
        sim_advance(m, sim_all(m), q, v, 0.05, q);
        sim_kinematics(mass, sim_all(m), q);
        sim_velocities(mass, sim_all(m), v);
        sim_articulated_factor(mass, sim_all(m), t->extra, NULL);
        t->in.mass = mass;
    }
    tree_lu *s = tree_lu_create();
    const sim_problem *p = touched_build(t, 0);
    tree_lu_fit fit = tree_lu_prepare(s, p);
    if (fit == TREE_LU_FITS) {
        check_solution(r, p, s);
        cr_expect_lt(tree_lu_multiplications(s), p->nv * p->nv * p->nv / 12.0);
    }
    tree_lu_free(s);
    sim_derived_free(mass);
    touched_free(t);
    free(q);
    free(v);
    return fit;
}

Test(acn, factors_one_large_tree_along_its_branches) {
    random_source r = {5};
    for (int trial = 0; trial < part_of(4); trial++) {
        cr_expect_eq(try_rope(&r, trial % 2, 0), TREE_LU_FITS, "trial %d", trial);
    }
}

Test(acn, leaves_contacts_between_branches_to_a_dense_factor) {
    random_source r = {6};
    cr_expect_eq(try_rope(&r, 0, 1), TREE_LU_UNFIT);
}
