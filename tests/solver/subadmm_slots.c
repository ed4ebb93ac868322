/* SubADMM against its equations written out: slots z_ij kept, one dense matrix, nothing eliminated (Lee et al. 2024,
 * eqs. 34 to 39). */
#include "math/v3.h"
#include "support/answers.h"
#include "support/problems.h"
#include "support/touched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS = 16, MOST_CONTACTS = 40, ITERATIONS = 5, BODIES = 0, TREES = 1, WHOLE = 2, SLOTS = 600 };
static const double KAPPA = 1; /* where it begins */

/* One row's part on one body, tree or dof, as a row over all velocities. */
typedef struct slot {
    int row, constraint;
    double *j, z;
} slot;

typedef struct paper {
    const sim_problem *p;
    const answer *a;
    int count;
    slot slot[SLOTS];
    double *A, *K, *v, *lambda;
} paper;

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * y[k];
    }
    return sum;
}

static double *new_slot(paper *w, int constraint, int row) {
    slot *s = &w->slot[w->count++];
    cr_assert_leq(w->count, SLOTS);
    *s = (slot){w->p->constraint[constraint].row + row, constraint, calloc((size_t)w->p->nv, sizeof(double)), 0};
    return s->j;
}

/* J_ib J_b: from a body to the root. */
static void pull_back(const sim_problem_bodies *b, const sim_body_chain *chain, int body, const double *J, double *j) {
    v3 ang = {J[0], J[1], J[2]}, lin = {J[3], J[4], J[5]};
    for (int i = body; i >= 0; i = b->node[i].parent) {
        for (int k = b->node[i].v0; k < b->node[i].v0 + b->node[i].nv; k++) {
            j[k] += v3_dot(ang, chain->S[k].ang) + v3_dot(lin, chain->S[k].lin);
        }
        ang = v3_add(ang, v3_cross(chain->r[i], lin));
    }
}

static int bodies_of_tree(const sim_problem *p, int tree) {
    return p->bodies->first[tree + 1] - p->bodies->first[tree];
}

static void add_tree(const sim_problem *p, const sim_constraint *c, int side, int row, double *j) {
    const sim_problem_tree *t = &p->tree[c->tree[side]];
    for (int k = 0; k < t->nv; k++) {
        j[t->v0 + k] += p->J[c->block[side] + (ptrdiff_t)row * t->nv + k];
    }
}

static void split_by_bodies(paper *w, int i, int row) {
    const sim_problem_bodies *b = w->p->bodies;
    const sim_constraint *c = &w->p->constraint[i];
    const sim_body_rows *on = &b->rows[i];
    for (int side = 0; side < 2; side++) {
        if (on->body[side] >= 0) {
            pull_back(b, &b->chain[on->chain], on->body[side], b->J + on->block[side] + 6 * row, new_slot(w, i, row));
        }
    }
    for (int side = 0; side < 2 && on->body[0] < 0 && on->body[1] < 0 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &w->p->tree[c->tree[side]];
        const double *J = w->p->J + c->block[side] + (ptrdiff_t)row * t->nv;
        if (bodies_of_tree(w->p, c->tree[side]) == 1) {
            add_tree(w->p, c, side, row, new_slot(w, i, row));
            continue;
        }
        for (int k = 0; k < t->nv; k++) {
            if (J[k] != 0) {
                new_slot(w, i, row)[t->v0 + k] = J[k];
            }
        }
    }
}

static void split_up(paper *w, int split) {
    for (int i = 0; i < w->p->nconstraint; i++) {
        const sim_constraint *c = &w->p->constraint[i];
        for (int row = 0; row < c->rows; row++) {
            double *whole = split == WHOLE ? new_slot(w, i, row) : NULL;
            if (split == BODIES) {
                split_by_bodies(w, i, row);
            }
            for (int side = 0; side < 2 && c->tree[side] >= 0 && split != BODIES; side++) {
                add_tree(w->p, c, side, row, whole ? whole : new_slot(w, i, row));
            }
        }
    }
}

static double penalty(const paper *w, int i) {
    const double *W = w->a->W;
    double trace = 0;
    int rows = w->p->constraint[i].rows;
    for (int k = 0; k < i; k++) {
        W += w->p->constraint[k].rows * w->p->constraint[k].rows;
    }
    for (int r = 0; r < rows; r++) {
        trace += W[r * (rows + 1)];
    }
    return KAPPA * rows / trace;
}

static void make_matrices(paper *w) {
    int n = w->p->nv;
    w->A = calloc((size_t)(n * n), sizeof *w->A);
    w->K = calloc((size_t)(n * n), sizeof *w->K);
    for (int t = 0; t < w->p->ntree; t++) {
        int nv = w->p->tree[t].nv, v0 = w->p->tree[t].v0;
        double *A = calloc((size_t)(nv * nv), sizeof *A);
        w->p->mass.matrix(w->p->mass.self, t, A);
        for (int k = 0; k < nv * nv; k++) {
            w->A[(v0 + k / nv) * n + v0 + k % nv] = A[k];
        }
        free(A);
    }
    memcpy(w->K, w->A, (size_t)(n * n) * sizeof *w->K);
    for (int s = 0; s < w->count; s++) {
        const double *j = w->slot[s].j, beta = penalty(w, w->slot[s].constraint);
        for (int k = 0; k < n * n; k++) {
            w->K[k] += beta * j[k / n] * j[k % n];
        }
    }
}

/* K v = A v* + sum_ij J_ij'(beta z_ij + lambda_i), with K and beta z as they stand, or A and nothing for them. */
static void move(paper *w, int penalised) {
    int n = w->p->nv;
    double *K = malloc((size_t)(n * n) * sizeof *K);
    memcpy(K, penalised ? w->K : w->A, (size_t)(n * n) * sizeof *K);
    for (int i = 0; i < n; i++) {
        w->v[i] = dot(n, w->A + (ptrdiff_t)i * n, w->p->v_free);
    }
    for (int s = 0; s < w->count; s++) {
        const slot *of = &w->slot[s];
        double f = w->lambda[of->row] + (penalised ? penalty(w, of->constraint) * of->z : 0);
        for (int k = 0; k < n; k++) {
            w->v[k] += of->j[k] * f;
        }
    }
    answer_eliminate(n, K, w->v);
    free(K);
}

/* The law's impulse for y. */
static void obey(const sim_constraint *c, double dt, double *y) {
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? dt * c->bound : HUGE_VAL;
    if (c->kind == SIM_CONTACT) {
        y[2] = fmax(0, y[2]);
        double size = hypot(y[0], y[1]), most = c->friction * y[2];
        for (int k = 0; k < 2 && size > most; k++) {
            y[k] *= most / size;
        }
    }
    for (int k = 0; k < c->rows && c->kind != SIM_CONTACT; k++) {
        y[k] = fmin(fmax(y[k], c->kind == SIM_LIMIT ? 0 : -bound), bound);
    }
}

/* Eqs. 35 to 39 for all constraints; checks the identities of the primal residual. */
static void project(paper *w) {
    const sim_problem *p = w->p;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double beta = penalty(w, i), y[SIM_MAX_ROWS];
        for (int r = 0; r < c->rows; r++) {
            double sum = 0;
            int row = c->row + r, count = 0;
            for (int s = 0; s < w->count; s++) {
                if (w->slot[s].row == row) {
                    sum += beta * dot(p->nv, w->slot[s].j, w->v) - w->lambda[row];
                    count++;
                }
            }
            double offset = p->offset ? p->offset[row] : 0;
            y[r] = -(sum / beta + offset - w->a->target[row]) / (count / beta + w->a->R[row]);
        }
        obey(c, p->step, y);
        for (int s = 0; s < w->count; s++) {
            slot *of = &w->slot[s];
            if (of->constraint == i) {
                double u = dot(p->nv, of->j, w->v), from = w->lambda[of->row], to = y[of->row - c->row];
                of->z = (beta * u - from + to) / beta;
                cr_assert_float_eq(beta * (u - of->z), from - to, 1e-9 * (fabs(beta * u) + fabs(from) + fabs(to)));
            }
        }
        memcpy(w->lambda + c->row, y, (size_t)c->rows * sizeof *y);
    }
}

/* A (v - v*) - J' lambda' = sum beta J_ij'(z_ij - z_ij'), for slots and multipliers before and after the law. */
static void check_dual(const paper *w, const double *z) {
    int n = w->p->nv;
    double size = 0;
    for (int i = 0; i < n; i++) {
        double left = 0, right = 0;
        for (int k = 0; k < n; k++) {
            double part = w->A[i * n + k] * (w->v[k] - w->p->v_free[k]);
            left += part;
            size = fmax(size, fabs(part));
        }
        for (int s = 0; s < w->count; s++) {
            const slot *of = &w->slot[s];
            left -= of->j[i] * w->lambda[of->row];
            right += penalty(w, of->constraint) * of->j[i] * (z[s] - of->z);
            size = fmax(size, fabs(of->j[i] * w->lambda[of->row]));
        }
        cr_assert_float_eq(left, right, 1e-8 * (size + fabs(left)), "%d: %g, not %g", i, right, left);
    }
}

static void iterate(paper *w, int count) {
    double z[SLOTS];
    w->v = calloc((size_t)w->p->nv, sizeof *w->v);
    move(w, 0);
    for (int k = 0; k < count; k++) {
        for (int s = 0; s < w->count; s++) {
            z[s] = w->slot[s].z;
        }
        project(w);
        if (k > 0) {
            check_dual(w, z);
        }
        move(w, 1);
    }
}

static void paper_free(paper *w) {
    for (int s = 0; s < w->count; s++) {
        free(w->slot[s].j);
    }
    free(w->A);
    free(w->K);
    free(w->v);
    free(w->lambda);
}

/* A guess that opens nothing; yielding rows and rigid ones. */
static void disturb(random_source *r, sim_problem *p, double *guess, answer *a) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double R = i % 3 ? 0 : 0.05;
        for (int k = 0; k < c->rows; k++) {
            guess[c->row + k] = c->kind == SIM_CONTACT && k == 2 ? random_uniform(r, 1, 2) : 0.1 * random_normal(r);
            a->R[c->row + k] = R;
        }
    }
    p->impulse_guess = guess;
}

/* Impulses after a few iterations, ours, in vectors and one by one, and those of the equations. */
static void compare(random_source *r, const sim_problem *problem, int split, int articulated, const char *what) {
    sim_problem p = *problem;
    double guess[256], option[] = {1e-6, 5000, ITERATIONS, split, articulated, 0, 0, 300};
    answer a = answer_create(&p, 1, 1e-3);
    cr_assert_lt(p.nrow, 256);
    disturb(r, &p, guess, &a);
    paper w = {.p = &p, .a = &a, .lambda = calloc((size_t)p.nrow, sizeof(double))};
    memcpy(w.lambda, guess, (size_t)p.nrow * sizeof *guess);
    split_up(&w, split);
    make_matrices(&w);
    iterate(&w, ITERATIONS);
    double most = 0;
    for (int k = 0; k < p.nrow; k++) {
        most = fmax(most, fabs(w.lambda[k]));
    }
    for (int scalar = 0; scalar < 2; scalar++) {
        option[6] = scalar;
        answer_find(&a, "subadmm", option);
        cr_expect_eq(a.out.iterations, ITERATIONS);
        for (int k = 0; k < p.nrow; k++) {
            cr_assert_float_eq(a.impulse[k], w.lambda[k], 1e-8 * most, "%s, split %d, row %d: %g, not %g", what, split,
                               k, a.impulse[k], w.lambda[k]);
        }
    }
    paper_free(&w);
    answer_free(&a);
}

/* Free bodies, limbs with ranges, dry friction and armature, gears, welds and rods. */
static sim_model *machine(random_source *r) {
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    for (int i = 0; i < 12; i++) {
        sim_body_def def = sim_body_default();
        int limb = i % 6 && i < 11;
        def.joint = limb ? (sim_joint_type)(SIM_HINGE + random_index(r, 2)) : SIM_FREE;
        def.parent = limb ? 1 + i - 1 - random_index(r, i % 6) : 0;
        def.axis = random_unit(r);
        def.placement.p = random_unit(r);
        def.inertia = random_inertia(r);
        def.armature[0] = limb ? 0.1 : 0;
        def.friction[0] = i % 3 == 1 ? 2 : 0;
        sim_builder_add_body(builder, &def);
    }
    static const sim_equality_type type[] = {SIM_WELD, SIM_CONNECT, SIM_COUPLING, SIM_DISTANCE};
    for (int k = 0; k < 4; k++) {
        sim_equality e = sim_equality_default();
        e.type = type[k];
        e.body[0] = 2 + k;
        e.body[1] = k == 1 ? 4 : 8 + k % 3;
        e.distance = 1;
        e.ratio = 2;
        e.frame[0].p = random_unit(r);
        e.frame[1].p = random_unit(r);
        sim_builder_add_equality(builder, &e);
    }
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

/* `apart`: A is taken elsewhere than J, as by the midpoint rule.  How many trees of its islands touch, at most. */
static int run_model(random_source *r, sim_model *m, int contacts, int apart, int split, int articulated,
                     const char *what) {
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    sim_contact contact[MOST_CONTACTS];
    random_state(r, m, q, v);
    random_contacts(r, m, q, contacts, contact);
    touched *t = touched_create(m, q, v, 1, contact, contacts, "subadmm", 1);
    sim_derived *mass = sim_derived_create(m, NULL);
    if (apart) {
        sim_advance(m, sim_all(m), q, v, 0.05, q);
        sim_kinematics(mass, sim_all(m), q);
        sim_velocities(mass, sim_all(m), v);
        sim_articulated_factor(mass, sim_all(m), t->extra, NULL);
        t->in.mass = mass;
    }
    const sim_problem *p;
    int most = 0;
    for (int island = 0; (p = touched_build(t, island)); island++) {
        most = p->ntree > most ? p->ntree : most;
        compare(r, p, split, articulated, what);
    }
    sim_derived_free(mass);
    touched_free(t);
    free(q);
    free(v);
    return most;
}

static void run_machines(int apart, int split, int articulated, const char *what) {
    for (uint64_t seed = 1; seed < 5; seed++) {
        random_source r = {seed};
        sim_model *m = machine(&r);
        run_model(&r, m, CONTACTS, apart, split, articulated, what);
    }
}

/* Ten trees of one shape, with a forked limb and a body welded on, and two of another; numbers differ.  `joints`: dry
 * friction and welds, too. */
static sim_model *herd(random_source *r, int joints) {
    enum { ALIKE = 10, TREES_IN_ALL = 12, BODIES_EACH = 5 };
    static const int parent[2][BODIES_EACH] = {{-1, 0, 1, 1, 0}, {-1, 0, 1, 2, 3}};
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    for (int i = 0; i < TREES_IN_ALL * BODIES_EACH; i++) {
        sim_body_def def = sim_body_default();
        int part = i % BODIES_EACH, other = i / BODIES_EACH % (TREES_IN_ALL / 2) == ALIKE / 2;
        def.joint = part == 0 ? SIM_FREE : part == 2 ? SIM_FIXED : part == 4 ? SIM_BALL : SIM_HINGE;
        def.parent = part ? 1 + i - part + parent[other][part] : 0;
        def.axis = random_unit(r);
        def.placement.p = random_unit(r);
        def.inertia = random_inertia(r);
        def.friction[0] = joints && part == 1 ? 2 : 0;
        sim_builder_add_body(builder, &def);
    }
    for (int k = 0; k < 3 * joints; k++) {
        sim_equality e = sim_equality_default();
        e.body[0] = 2 + 7 * k;
        e.body[1] = 12 + 8 * k;
        e.frame[0].p = random_unit(r);
        sim_builder_add_equality(builder, &e);
    }
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

static void run_herds(int joints, int apart) {
    for (uint64_t seed = 1; seed < 3; seed++) {
        random_source r = {seed};
        sim_model *m = herd(&r, joints);
        cr_expect_gt(run_model(&r, m, MOST_CONTACTS, apart, BODIES, 0, "alike"), 10);
    }
}

Test(subadmm_slots, split_over_bodies_it_does_what_the_equations_say) {
    run_machines(0, BODIES, 0, "branches, one place");
    run_machines(1, BODIES, 0, "branches, two places");
}

Test(subadmm_slots, trees_alike_do_so_side_by_side) {
    run_herds(0, 0);
    run_herds(1, 0);
    run_herds(0, 1);
    run_herds(1, 1);
}

Test(subadmm_slots, joint_by_joint_too) {
    run_machines(0, BODIES, 1, "joints, one place");
    run_machines(1, BODIES, 1, "joints, two places");
}

Test(subadmm_slots, split_over_trees_and_unsplit_too) {
    run_machines(0, TREES, 0, "trees");
    run_machines(0, WHOLE, 0, "whole");
}

/* All kinds of rows, without bodies: six dofs stand in lanes or not, as it comes. */
Test(subadmm_slots, without_bodies_they_are_trees) {
    random_source r = {9};
    for (int trial = 0; trial < 8; trial++) {
        problem_recipe recipe = {.bodies = 3,
                                 .chain = trial % 2 ? 9 : 3,
                                 .contacts = 8,
                                 .friction = 0.5,
                                 .bias = 0.1,
                                 .kinds = trial < 4 ? 63 : 0,
                                 .impact = 1,
                                 .scatter = 0.5};
        sim_problem *p = random_problem(&r, &recipe);
        compare(&r, p, TREES, 0, "no bodies");
        compare(&r, p, WHOLE, 0, "no bodies");
        sim_problem_free(p);
    }
}
