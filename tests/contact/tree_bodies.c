/* The bodies of a problem: do J and A follow from them? */
#include "dyn/motion/rigid.h"
#include "support.h"
#include "support/touched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS = 40, SEEDS = 8 };

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

/* Free bases with limbs, tied by welds, joints, rods and gears. */
static sim_model *tied(random_source *r) {
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    for (int i = 0; i < 21; i++) {
        sim_body_def def = sim_body_default();
        def.joint = i % 7 ? (sim_joint_type)(SIM_HINGE + random_index(r, 2)) : SIM_FREE;
        def.parent = i % 7 ? 1 + i - 1 - random_index(r, i % 7) : 0;
        def.axis = random_unit(r);
        def.placement.p = random_unit(r);
        def.inertia = random_inertia(r);
        def.armature[0] = 0.1;
        sim_builder_add_body(builder, &def);
    }
    for (int k = 0; k < 8; k++) {
        sim_equality e = sim_equality_default();
        e.type = (sim_equality_type)(k % SIM_TENDON_COUPLING);
        e.body[0] = 2 + k % 5;
        e.body[1] = k == 4 ? 0 : 9 + k % 5;
        e.distance = 1;
        e.ratio = 2;
        e.stiffness = e.type == SIM_SPRING_DAMPER ? 100 : e.stiffness;
        e.frame[0].p = random_unit(r);
        e.frame[1].p = random_unit(r);
        sim_builder_add_equality(builder, &e);
    }
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

/* A taken elsewhere than J, as by the midpoint rule. */
typedef struct halfway {
    touched *t;
    sim_derived *mass;
} halfway;

static halfway halfway_between(uint64_t seed) {
    random_source r = {seed};
    sim_model *m = tied(&r);
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    sim_contact contact[CONTACTS];
    random_state(&r, m, q, v);
    random_contacts(&r, m, q, CONTACTS, contact);
    halfway h = {touched_create(m, q, v, 1, contact, CONTACTS, "sap", 1), sim_derived_create(m, NULL)};
    sim_advance(m, sim_all(m), q, v, 0.05, q);
    sim_kinematics(h.mass, sim_all(m), q);
    sim_velocities(h.mass, sim_all(m), v);
    sim_articulated_factor(h.mass, sim_all(m), h.t->extra, NULL);
    h.t->in.mass = h.mass;
    free(q);
    free(v);
    return h;
}

static void halfway_free(halfway h) {
    sim_derived_free(h.mass);
    touched_free(h.t);
}

/* row += J_b V_b, from a body to the root. */
static void pull_back(const sim_problem_bodies *b, const sim_body_chain *chain, int body, const double *J,
                      double *row) {
    v3 ang = {J[0], J[1], J[2]}, lin = {J[3], J[4], J[5]};
    for (int i = body; i >= 0; i = b->node[i].parent) {
        for (int j = b->node[i].v0; j < b->node[i].v0 + b->node[i].nv; j++) {
            row[j] += v3_dot(ang, chain->S[j].ang) + v3_dot(lin, chain->S[j].lin);
        }
        ang = v3_add(ang, v3_cross(chain->r[i], lin));
    }
}

/* Worst entry of one row of J beside what the bodies make of it, over the row's size. */
static double row_error(const sim_problem *p, int i, int k) {
    const sim_problem_bodies *b = p->bodies;
    const sim_constraint *c = &p->constraint[i];
    const sim_body_rows *on = &b->rows[i];
    double *row = calloc((size_t)p->nv, sizeof *row), worst = 0;
    for (int side = 0; side < 2; side++) {
        if (on->body[side] >= 0) {
            pull_back(b, &b->chain[on->chain], on->body[side], b->J + on->block[side] + 6 * k, row);
        }
    }
    double size = largest(row, p->nv);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        for (int j = 0; j < t->nv; j++) {
            row[t->v0 + j] -= p->J[c->block[side] + k * t->nv + j];
            size = fmax(size, fabs(p->J[c->block[side] + k * t->nv + j]));
        }
    }
    worst = largest(row, p->nv);
    free(row);
    return size > 0 ? worst / size : 0;
}

/* `checked`: rows of other constraints, and of contacts. */
static void rows_are_those_of_J(const sim_problem *p, uint64_t seed, int checked[2]) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int on_joints =
            c->kind != SIM_CONTACT && c->rows == 1 && p->bodies->rows[i].body[0] < 0 && p->bodies->rows[i].body[1] < 0;
        for (int k = 0; k < c->rows && !on_joints; k++) {
            double error = row_error(p, i, k);
            cr_assert_leq(error, 1e-12, "seed %d, constraint %d, row %d: %g", (int)seed, i, k, error);
            checked[c->kind == SIM_CONTACT]++;
        }
    }
}

Test(tree_bodies, rows_on_bodies_pulled_back_along_the_joints_are_those_of_J) {
    int checked[2] = {0, 0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        halfway h = halfway_between(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(h.t, island)); island++) {
            rows_are_those_of_J(p, seed, checked);
        }
        halfway_free(h);
    }
    cr_assert(checked[0] > 50 && checked[1] > 500);
}

/* Where a contact moves over both bodies within the step, J is taken at a point that makes its normal velocity
 * exact: on the bodies, too.  An ellipsoid rocks on the ground. */
Test(tree_bodies, rows_of_a_rolling_contact_are_those_of_J) {
    int checked[2] = {0, 0};
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.8));
    yard_ground(&y);
    yard_add(&y, "egg", SIM_ELLIPSOID, 0.1, 0.15, 0.2, 1, v3_make(0, 0, 0.2), v3_make(0.3, 0.2, 0));
    yard_open(&y, "subadmm", SIM_MIDPOINT, 2e-3);
    for (int k = 0; k < 100; k++) {
        sim_error error = {0};
        sim_problem *p = sim_world_problem(y.world, &error);
        cr_assert(p && p->bodies, "%s", error.text);
        rows_are_those_of_J(p, (uint64_t)k, checked);
        sim_problem_free(p);
        yard_step(&y);
    }
    cr_assert_gt(checked[1], 200);
    yard_end(&y);
}

/* Velocities of all bodies of a tree for one dof alone. */
static void move_bodies(const sim_problem_bodies *b, int tree, int dof, motion *V) {
    const sim_body_chain *chain = &b->chain[SIM_CHAIN_MASS];
    const motion rest = {{0, 0, 0}, {0, 0, 0}};
    for (int i = b->first[tree]; i < b->first[tree + 1]; i++) {
        const sim_body_node *n = &b->node[i];
        V[i] = n->parent < 0 ? rest : motion_at_child(V[n->parent], chain->r[i]);
        if (dof >= n->v0 && dof < n->v0 + n->nv) {
            V[i] = motion_add(V[i], chain->S[dof]);
        }
    }
}

static double twice_energy(const sim_problem_bodies *b, int tree, const motion *V, const motion *W) {
    double sum = 0;
    for (int i = b->first[tree]; i < b->first[tree + 1]; i++) {
        sum += motion_dot(V[i], rigid_times(&b->I[i], W[i]));
    }
    return sum;
}

static void inertias_sum_to_A(const sim_problem *p, uint64_t seed) {
    motion *V = calloc((size_t)p->bodies->nbody, sizeof *V), *W = calloc((size_t)p->bodies->nbody, sizeof *W);
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        double *A = calloc((size_t)(n * n), sizeof *A), *diagonal = calloc((size_t)n, sizeof *diagonal);
        p->mass.matrix(p->mass.self, t, A);
        p->mass.diagonal(p->mass.self, t, diagonal);
        double most = largest(A, n * n);
        for (int j = 0; j < n; j++) {
            cr_assert_eq(diagonal[j], A[j * (n + 1)]);
        }
        for (int k = 0; k < n * n; k++) {
            move_bodies(p->bodies, t, v0 + k / n, V);
            move_bodies(p->bodies, t, v0 + k % n, W);
            double sum = twice_energy(p->bodies, t, V, W) + (k / n == k % n ? p->bodies->diagonal[v0 + k % n] : 0);
            cr_assert_float_eq(A[k], sum, 1e-12 * most, "seed %d, tree %d, %d: %g", (int)seed, t, k, A[k] - sum);
        }
        free(A);
        free(diagonal);
    }
    free(V);
    free(W);
}

Test(tree_bodies, inertias_of_bodies_summed_along_the_joints_are_A) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        halfway h = halfway_between(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(h.t, island)); island++) {
            inertias_sum_to_A(p, seed);
        }
        halfway_free(h);
    }
}

/* Several islands as one problem, in a copy of its own. */
Test(tree_bodies, the_problem_of_all_islands_keeps_the_bodies_of_each) {
    int most = 0, checked[2] = {0, 0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        enum { FEW = 9 };
        random_source r = {seed};
        sim_model *m = random_forest(&r, 30);
        double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
        sim_contact contact[FEW];
        sim_error error;
        random_state(&r, m, q, v);
        random_contacts(&r, m, q, FEW, contact);
        touched *t = touched_create(m, q, v, 1, contact, FEW, "sap", 1);
        int islands = 0;
        while (touched_build(t, islands)) {
            islands++;
        }
        most = islands > most ? islands : most;
        sim_problem *p = contact_stage_problem(t->stage, &error);
        cr_assert(p && p->bodies, "%s", error.text);
        rows_are_those_of_J(p, seed, checked);
        inertias_sum_to_A(p, seed);
        sim_problem_free(p);
        touched_free(t);
        free(q);
        free(v);
    }
    cr_assert(most >= 2 && checked[1] >= 3 * 9 * SEEDS, "%d islands, %d rows", most, checked[1]);
}

/* A step computes them for the first solver that asks, and only then. */
Test(tree_bodies, are_the_same_when_a_solver_asks_late) {
    sim_contact contact[64];
    touched *t[2];
    const sim_problem *p[2];
    for (int k = 0; k < 2; k++) {
        sim_model *m = quadruped_model();
        int count = standing_contacts(m, 1, contact);
        t[k] = touched_create(m, NULL, NULL, 0, contact, count, "subadmm", k);
        p[k] = touched_build(t[k], 0);
        cr_assert(p[k]->bodies->fill);
    }
    const sim_problem_bodies *late = sim_problem_find_bodies(p[0]), *early = p[1]->bodies;
    cr_assert_eq(late->nbody, early->nbody);
    cr_expect_arr_eq(late->I, early->I, (size_t)early->nbody * sizeof *early->I);
    cr_expect_arr_eq(late->diagonal, early->diagonal, (size_t)p[1]->nv * sizeof *early->diagonal);
    for (int i = 0; i < p[1]->nconstraint; i++) {
        const sim_body_rows *row = &early->rows[i];
        size_t size = 6 * (size_t)p[1]->constraint[i].rows * sizeof *early->J;
        for (int side = 0; side < 2 && row->body[side] >= 0; side++) {
            cr_expect_arr_eq(late->J + late->rows[i].block[side], early->J + row->block[side], size);
        }
    }
    touched_free(t[0]);
    touched_free(t[1]);
}

Test(tree_bodies, that_name_what_is_not_there_are_refused) {
    sim_contact contact[64];
    sim_error error;
    sim_model *m = quadruped_model();
    int count = standing_contacts(m, 1, contact);
    touched *t = touched_create(m, NULL, NULL, 0, contact, count, "sap", 1);
    const sim_problem *p = touched_build(t, 0);
    double *A = calloc((size_t)(p->nv * p->nv), sizeof *A);
    p->mass.matrix(p->mass.self, 0, A);
    for (int k = 0; k < 4; k++) {
        sim_problem_bodies bodies = *p->bodies;
        sim_body_node *node = calloc((size_t)bodies.nbody, sizeof *node);
        sim_body_rows *rows = calloc((size_t)p->nconstraint, sizeof *rows);
        memcpy(node, bodies.node, (size_t)bodies.nbody * sizeof *node);
        memcpy(rows, bodies.rows, (size_t)p->nconstraint * sizeof *rows);
        bodies.node = node;
        bodies.rows = rows;
        node[3].parent = k == 1 ? 3 : node[3].parent;
        node[2].nv += k == 2;
        rows[1].body[0] = k == 3 ? bodies.nbody : rows[1].body[0];
        sim_problem parts = *p;
        parts.bodies = &bodies;
        sim_problem *made = sim_problem_create(&parts, A, &error);
        cr_assert_eq(made != NULL, k == 0, "%d", k);
        cr_assert(made || strstr(error.text, "bodies"));
        sim_problem_free(made);
        free(node);
        free(rows);
    }
    free(A);
    touched_free(t);
}

Test(tree_bodies, who_does_not_ask_has_no_bodies) {
    sim_contact contact[64];
    sim_model *m = quadruped_model();
    int count = standing_contacts(m, 1, contact);
    touched *t = touched_create(m, NULL, NULL, 0, contact, count, "sap", 0);
    cr_assert_null(touched_build(t, 0)->bodies);
    touched_free(t);
}
