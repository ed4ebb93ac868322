/* Rows that move more than two trees: these become one tree, and move as before. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81;
static const char *const solvers[] = {"auto", "sap", "pgs", "nsn", "acn", "subadmm"};
enum { SOLVERS = 6, MOST = 6 };

static int add_slider(yard *y, const char *name, double mass) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.joint = SIM_SLIDER;
    def.axis = v3_make(0, 0, 1);
    def.inertia = box_inertia(mass, 0.1, 0.1, 0.1);
    return sim_builder_add_body(y->builder, &def);
}

static int add_sum(yard *y, const char *name, const sim_tendon_joint *joint, int count) {
    sim_tendon t = sim_tendon_default();
    t.name = name;
    t.joint = joint;
    t.njoint = count;
    return sim_builder_add_tendon(y->builder, &t);
}

static int moving_trees(const yard *y) {
    int count = 0;
    for (int t = 0; t < y->model->ntree; t++) {
        count += y->model->tree[t].nv > 0;
    }
    return count;
}

/* Masses m on a string, sum c q = const.:  m a = - m g + c F,  F = g sum c / sum c^2 / m. */
static void check_hoist(yard *y, const char *solver, const double *m, const double *c, int count) {
    double pull = 0, ease = 0;
    for (int k = 0; k < count; k++) {
        pull += g * c[k];
        ease += c[k] * c[k] / m[k];
    }
    yard_open(y, solver, SIM_MIDPOINT, 1e-3);
    cr_assert(moving_trees(y) <= 2, "%d trees", moving_trees(y));
    for (int n = 0; n < 300; n++) {
        yard_step(y);
    }
    const sim_state *now = sim_world_state(y->world);
    for (int k = 0; k < count; k++) {
        double due = 0.5 * (-g + c[k] * pull / ease / m[k]) * now->time * now->time;
        cr_expect_float_eq(now->q[k], due, 2e-5, "%s, mass %d: %.9g, not %.9g", solver, k, now->q[k], due);
    }
    cr_expect_eq(y->unsolved, 0);
    yard_end(y);
}

Test(tied, masses_on_a_string_share_its_force) {
    static const char *const name[] = {"a", "b", "c", "d", "e", "f"};
    for (int k = 0; k < SOLVERS; k++) {
        for (int count = 3; count <= MOST; count++) {
            random_source r = {(uint64_t)(10 * k + count)};
            yard y = yard_begin_without_contacts();
            sim_tendon_joint joint[MOST];
            double m[MOST], c[MOST];
            for (int i = 0; i < count; i++) {
                m[i] = random_uniform(&r, 0.5, 3);
                c[i] = random_uniform(&r, 0.5, 2);
                joint[i] = (sim_tendon_joint){add_slider(&y, name[i], m[i]), 0, c[i]};
            }
            yard_couple_tendons(&y, add_sum(&y, "string", joint, count), -1, 1);
            check_hoist(&y, solvers[k], m, c, count);
        }
    }
}

/* The length of one over two trees follows that of another over one or two more. */
Test(tied, tendons_of_a_constraint_may_move_any_number_of_trees) {
    const double m[] = {1, 2, 3, 1.5}, c[] = {1, 1, -1, -1};
    for (int count = 3; count <= 4; count++) {
        yard y = yard_begin_without_contacts();
        static const char *const name[] = {"a", "b", "c", "d"};
        sim_tendon_joint joint[4];
        for (int k = 0; k < count; k++) {
            joint[k] = (sim_tendon_joint){add_slider(&y, name[k], m[k]), 0, 1};
        }
        int first = add_sum(&y, "first", joint, 2);
        yard_couple_tendons(&y, first, add_sum(&y, "second", joint + 2, count - 2), 1);
        check_hoist(&y, "auto", m, c, count);
    }
}

/* Boxes that slide on the ground, `way` from each other, beside two pendulums of two links; `tied`: a string without any force runs over all
 * of them. */
static yard boxes(const char *solver, double way, bool tied) {
    yard y = yard_begin(v3_make(0, 0, -g), (surface){.friction = 0.5, .stiffness = 2e4, .dissipation = 0.01});
    yard_ground(&y);
    sim_path_point path[8];
    random_source r = {7};
    int bodies[8];
    static const char *const name[] = {"b0", "b1", "b2", "b3", "p0", "p1", "q0", "q1"};
    for (int k = 0; k < 8; k++) {
        if (k < 4) {
            bodies[k] = yard_add(&y, name[k], SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(way * k, 0, 0.102 + 0.002 * k),
                                 v3_make(random_uniform(&r, -0.5, 0.5), random_uniform(&r, -1, 1), 0));
            continue;
        }
        sim_body_def def = sim_body_default();
        def.name = name[k];
        def.parent = k % 2 ? bodies[k - 1] : 0;
        def.joint = SIM_HINGE;
        def.axis = v3_make(0, 1, 0);
        def.placement.p = k % 2 ? v3_make(0, 0, -0.3) : v3_make(0.8, k, 2);
        def.inertia = box_inertia(0.7, 0.1, 0.1, 0.3);
        def.q[0] = 0.3 * k;
        bodies[k] = sim_builder_add_body(y.builder, &def);
    }
    for (int k = 0; k < 8; k++) {
        sim_site s = {name[k], bodies[k], {m3_identity(), v3_make(0.05, 0, 0)}};
        path[k] = (sim_path_point){.kind = SIM_PATH_SITE, .site = sim_builder_add_site(y.builder, &s)};
    }
    sim_tendon t = sim_tendon_default();
    t.name = "string";
    t.path = path;
    t.npoint = 8;
    cr_assert(!tied || sim_builder_add_tendon(y.builder, &t) == 0);
    y.tolerance = 1e-10;
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    return y;
}

Test(tied, trees_move_as_they_do_apart) {
    for (int k = 0; k < SOLVERS; k++) {
        const char *solver = solvers[k];
        yard one = boxes(solver, 0.5, false), all = boxes(solver, 0.5, true);
        cr_assert(moving_trees(&one) == 6 && moving_trees(&all) <= 2 && all.model->nv == one.model->nv);
        for (int n = 0; n < (is_part() ? 30 : 100); n++) {
            yard_step(&one);
            yard_step(&all);
        }
        for (int i = 1; i < one.model->nbody; i++) {
            const char *name = one.model->body[i].name;
            sim_v3 apart = v3_sub(place_of(&one, name), place_of(&all, name));
            cr_expect(v3_norm(apart) < 1e-6, "%s: %s is %g m off", solver, name, v3_norm(apart));
        }
        /* at a linear rate one step of a hundred may run out of iterations before 1e-10 */
        bool linear = strcmp(solver, "subadmm") == 0;
        cr_expect(all.unsolved <= linear || one.unsolved > 0, "%s: %d and %d", solver, one.unsolved, all.unsolved);
        yard_end(&one);
        yard_end(&all);
    }
}

/* Sum of the terms that contacts add to J v because they move over their bodies, m/s. */
static double sum_offsets(yard *y) {
    sim_error error = {0};
    sim_problem *p = sim_world_problem(y->world, &error);
    double sum = 0;
    cr_assert(p, "%s", error.text);
    for (int i = 0; i < p->nrow && p->offset; i++) {
        sum += fabs(p->offset[i]);
    }
    sim_problem_free(p);
    return sum;
}

Test(tied, boxes_that_touch_roll_as_they_do_apart) {
    yard one = boxes("pgs", 0.19, false), all = boxes("pgs", 0.19, true);
    yard_step(&one);
    yard_step(&all);
    double apart = sum_offsets(&one), tied = sum_offsets(&all);
    cr_assert(apart > 1e-4, "%g", apart);
    cr_assert_float_eq(tied, apart, 1e-9 * apart, "%.12g, not %.12g", tied, apart);
    yard_end(&one);
    yard_end(&all);
}

/* Those of one tree are neighbours, in their order; the trees of two tendons meet in a third. */
Test(tied, bodies_of_a_tree_stand_together) {
    yard y = yard_begin_without_contacts();
    static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g"};
    int body[7];
    for (int k = 0; k < 7; k++) {
        body[k] = add_slider(&y, name[k], 1);
    }
#define AT(k)                                                                                                          \
    { body[k], 0, 1 }
    const sim_tendon_joint first[] = {AT(1), AT(4)}, second[] = {AT(6), AT(3), AT(1)}, third[] = {AT(0), AT(2)};
    add_sum(&y, "first", first, 2);
    add_sum(&y, "second", second, 3);
    add_sum(&y, "third", third, 2);
    yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
    char order[8] = "";
    for (int i = 1; i < y.model->nbody; i++) {
        order[i - 1] = *y.model->body[i].name;
    }
    cr_expect_str_eq(order, "abdgcef");
    const sim_tendon *t = y.model->tendon;
    cr_expect(y.model->ntree == 5 && y.model->tree[1].nbody == 3 && y.model->tree[1].nv == 3);
    cr_expect(t[0].tree[0] == 1 && t[0].tree[1] == 3 && t[1].tree[0] == 1 && t[1].tree[1] == -1);
    cr_expect(t[2].tree[0] == 0 && t[2].tree[1] == 2);
    yard_end(&y);
}
