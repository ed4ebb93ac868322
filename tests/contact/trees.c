/* Many contacts on trees of any shape: what the problem says of them beside J and A. */
#include "math/v3.h"
#include "solver/core/products.h"
#include "solver/matrices/delassus.h"
#include "solver/matrices/hessian.h"
#include "support.h"
#include "support/touched.h"
#include "world/core/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 60, CONTACTS = 40, SEEDS = 8 };

/* Few and many dofs, bushes and chains, with and without something on the diagonal. */
static touched *any(uint64_t seed) {
    random_source r = {seed};
    sim_model *m = seed % 4 == 3 ? swinging_chain(70) : random_forest(&r, seed % 2 ? BODIES : BODIES / 4);
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    sim_contact contact[CONTACTS];
    random_state(&r, m, q, v);
    random_contacts(&r, m, q, CONTACTS, contact);
    touched *t = touched_create(m, q, v, seed % 3 != 0, contact, CONTACTS, "sap", 0);
    free(q);
    free(v);
    return t;
}

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

Test(trees, rows_are_zero_beside_the_columns_that_they_name) {
    int narrower = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                    sim_columns of = sim_block_columns(p, c, side);
                    int nv = p->tree[c->tree[side]].nv;
                    cr_assert(of.first >= 0 && of.first + of.count <= nv);
                    narrower += of.count < nv;
                    for (int k = 0; k < c->rows * nv; k++) {
                        int inside = k % nv >= of.first && k % nv < of.first + of.count;
                        cr_assert(inside || p->J[c->block[side] + k] == 0);
                    }
                }
            }
        }
        touched_free(t);
    }
    cr_assert_gt(narrower, 100);
}

/* J A^-1 J' of one side by whole solves, beside the squares of B J'. */
static double half_error(const sim_problem *p, const sim_constraint *c, int side) {
    int nv = p->tree[c->tree[side]].nv, rows = c->rows;
    size_t size = (size_t)(rows * nv);
    double *Y = malloc(size * sizeof *Y), *Z = malloc(size * sizeof *Z), W[36], worst = 0;
    const double *J = p->J + c->block[side];
    sim_columns of = sim_block_columns(p, c, side);
    memcpy(Y, J, size * sizeof *Y);
    memcpy(Z, J, size * sizeof *Z);
    p->mass.half(p->mass.self, c->tree[side], rows, of, Z);
    for (int r = 0; r < rows; r++) {
        p->mass.solve(p->mass.self, c->tree[side], Y + r * nv);
        for (int j = of.first + of.count; j < nv; j++) {
            cr_assert_eq(Z[r * nv + j], 0);
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int s = 0; s < rows; s++) {
            double half = 0;
            W[r * rows + s] = 0;
            for (int j = 0; j < nv; j++) {
                W[r * rows + s] += J[r * nv + j] * Y[s * nv + j];
                half += Z[r * nv + j] * Z[s * nv + j];
            }
            worst = fmax(worst, fabs(W[r * rows + s] - half));
        }
    }
    double most = largest(W, rows * rows);
    free(Y);
    free(Z);
    return most > 0 ? worst / most : worst;
}

Test(trees, two_halves_make_a_solve) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            for (int i = 0; i < p->nconstraint; i++) {
                for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
                    double error = half_error(p, &p->constraint[i], side);
                    cr_assert_leq(error, 1e-12, "seed %d, constraint %d: %g", (int)seed, i, error);
                }
            }
        }
        touched_free(t);
    }
}

/* The same problem with nothing said but J and A; the constraints are the caller's to free(). */
static sim_problem bare(const sim_problem *p) {
    sim_problem q = *p;
    sim_constraint *c = malloc((size_t)p->nconstraint * sizeof *c);
    for (int i = 0; i < p->nconstraint; i++) {
        c[i] = p->constraint[i];
        c[i].columns[0] = c[i].columns[1] = (sim_columns){0, 0};
    }
    q.constraint = c;
    q.mass.half = NULL;
    return q;
}

static double *assembled(const sim_problem *p, sim_arena *scratch, ptrdiff_t *size) {
    delassus_response Y;
    sim_delassus W;
    bool many = false;
    cr_assert(delassus_response_make(p, 1, scratch, &Y) && delassus_pattern(p, SIZE_MAX, scratch, &W, &many) &&
              delassus_assemble(p, &Y, scratch, &W));
    *size = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = W.start[i]; k < W.start[i + 1]; k++) {
            *size += p->constraint[i].rows * p->constraint[W.column[k]].rows;
        }
    }
    return (double *)W.value;
}

Test(trees, inverse_masses_along_paths_are_those_of_whole_solves) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            sim_problem plain = bare(p);
            sim_arena *scratch = arena_create();
            ptrdiff_t size, other;
            double *a = assembled(p, scratch, &size), *b = assembled(&plain, scratch, &other);
            double most = largest(b, (int)size);
            cr_assert_eq(size, other);
            for (ptrdiff_t k = 0; k < size; k++) {
                cr_assert_float_eq(a[k], b[k], 1e-12 * most, "seed %d: %g", (int)seed, (a[k] - b[k]) / most);
            }
            arena_free(scratch);
            free((void *)plain.constraint);
        }
        touched_free(t);
    }
}

/* Velocities that sap answers with, under the near-rigid law; impulses beside them. */
static void answer_of(const sim_problem *p, double *v, double *impulse, sim_judgement *judged) {
    size_t rows = (size_t)p->nrow;
    double *W = calloc(sim_delassus_diagonal_size(p), sizeof *W), *R = calloc(2 * rows, sizeof *R);
    double *work = calloc(sim_judge_work(p), sizeof *work);
    sim_law_options law = sim_law_options_default();
    double option[8];
    const sim_solver_info *info = sim_solver_find("sap");
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, "tolerance") == 0 ? 1e-13 : info->option[k].default_value;
    }
    sim_solver *solver = sim_solver_create(info, option, NULL);
    cr_assert_eq(sim_delassus_diagonal(p, W, NULL), SIM_OK);
    sim_regularise(p, SIM_NEAR_RIGID, &law, W, R, R + rows);
    sim_regularisation given = {R, R + rows};
    sim_solution out = {.v = v, .impulse = impulse};
    cr_assert_eq(sim_solver_solve(solver, p, &given, &out, NULL), SIM_OK);
    cr_assert(out.outcome == SIM_SOLVED || out.outcome == SIM_AT_ROUNDING);
    sim_judge(p, &given, &given, SIM_CONE_CONVEX, v, impulse, work, judged);
    sim_solver_free(solver);
    free(W);
    free(R);
    free(work);
}

Test(trees, what_is_said_of_columns_and_paths_changes_no_answer) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        touched *t = any(seed);
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            sim_problem plain = bare(p);
            sim_judgement judged[2];
            size_t nv = (size_t)p->nv, rows = (size_t)p->nrow;
            double *v = calloc(2 * nv, sizeof *v), *impulse = calloc(2 * rows, sizeof *impulse);
            answer_of(p, v, impulse, &judged[0]);
            answer_of(&plain, v + nv, impulse + rows, &judged[1]);
            double most = largest(v, p->nv), strongest = largest(impulse, p->nrow);
            for (size_t j = 0; j < nv; j++) {
                cr_assert_float_eq(v[j], v[nv + j], 1e-8 * most, "seed %d: v", (int)seed);
            }
            for (size_t j = 0; j < rows; j++) {
                cr_assert_float_eq(impulse[j], impulse[rows + j], 1e-7 * strongest, "seed %d: impulse", (int)seed);
            }
            sim_certificate a = sim_judgement_finish(&judged[0]), b = sim_judgement_finish(&judged[1]);
            cr_assert_lt(a.momentum, 1e-9);
            cr_assert_float_eq(a.own, b.own, 1e-8);
            cr_assert_float_eq(a.E, b.E, 1e-8);
            free(v);
            free(impulse);
            free((void *)plain.constraint);
        }
        touched_free(t);
    }
}

/* Contacts that stick, slide and are open, at random. */
static void random_bends(random_source *r, const sim_problem *p, cone_hessian *bend) {
    for (int i = 0; i < p->nconstraint; i++) {
        double angle = random_uniform(r, -3, 3);
        bend[i] = (cone_hessian){
            .sliding = random_index(r, 3) == 0, .t = {cos(angle), sin(angle)}, .lean = p->constraint[i].friction};
        int open = random_index(r, 3) == 0;
        for (int k = 0; k < p->constraint[i].rows && !open; k++) {
            bend[i].weight[k] = random_uniform(r, 0, 1e3);
        }
    }
}

/* y = (A + J' G J) x */
static void bent_times(const sim_problem *p, const cone_hessian *bend, const double *x, double *y) {
    problem_mass_times(p, x, y);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double u[SIM_MAX_ROWS] = {0}, g[SIM_MAX_ROWS] = {0};
        for (int k = 0; k < 2 * c->rows; k++) {
            int t = c->tree[k / c->rows], n = t >= 0 ? p->tree[t].nv : 0;
            for (int j = 0; j < n; j++) {
                u[k % c->rows] += p->J[c->block[k / c->rows] + k % c->rows * n + j] * x[p->tree[t].v0 + j];
            }
        }
        const double *w = bend[i].weight, *t = bend[i].t, mu = c->friction;
        double along = w[0] * (mu * (t[0] * u[0] + t[1] * u[1]) + u[2]), across = w[1] * (t[0] * u[1] - t[1] * u[0]);
        for (int k = 0; k < c->rows; k++) {
            double slides[3] = {along * mu * t[0] - across * t[1], along * mu * t[1] + across * t[0], along};
            g[k] = bend[i].sliding ? slides[k] : w[k] * u[k];
        }
        for (int k = 0; k < 2 * c->rows; k++) {
            int tree = c->tree[k / c->rows], n = tree >= 0 ? p->tree[tree].nv : 0;
            for (int j = 0; j < n; j++) {
                y[p->tree[tree].v0 + j] += p->J[c->block[k / c->rows] + k % c->rows * n + j] * g[k % c->rows];
            }
        }
    }
}

/* By the residual of a solve: the error of a solution grows with the condition of the Hessian, here millions. */
Test(trees, hessian_of_many_dofs_is_the_one_of_all_rows) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_source r = {seed};
        touched *t = any(seed);
        hessian *h = hessian_create();
        const sim_problem *p;
        for (int island = 0; (p = touched_build(t, island)); island++) {
            cone_hessian *bend = calloc((size_t)p->nconstraint, sizeof *bend);
            size_t nv = (size_t)p->nv;
            double *x = calloc(3 * nv, sizeof *x), *y = x + nv, *load = y + nv;
            random_bends(&r, p, bend);
            for (size_t j = 0; j < nv; j++) {
                x[j] = random_uniform(&r, -1, 1);
            }
            bent_times(p, bend, x, load);
            memcpy(x, load, nv * sizeof *x);
            cr_assert(hessian_prepare(h, p, SPD_AUTO));
            hessian_set(h, bend);
            cr_assert_eq(hessian_factor(h), HESSIAN_FACTORED);
            cr_assert(hessian_solve(h, x));
            bent_times(p, bend, x, y);
            double most = largest(load, p->nv);
            for (size_t j = 0; j < nv; j++) {
                cr_assert_float_eq(y[j], load[j], 1e-13 * most, "seed %d: %g", (int)seed, (y[j] - load[j]) / most);
            }
            free(x);
            free(bend);
        }
        hessian_free(h);
        touched_free(t);
    }
}

/* A body on limbs of two springy hinges each, on the ground. */
static yard walker(int limbs, sim_integrator integrator) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.7));
    yard_ground(&y);
    int base = yard_add(&y, "base", SIM_BOX, 0.6, 0.4, 0.1, 10, v3_make(0, 0, 0.5), v3_make(0.1, 0, -0.1));
    for (int k = 0; k < 2 * limbs; k++) {
        sim_shape shape = sim_shape_default();
        shape.type = SIM_CAPSULE;
        shape.size[0] = 0.03;
        shape.size[1] = 0.2;
        shape.pose.p = v3_make(0, 0, -0.1);
        shape.material = y.material;
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.parent = k % 2 ? base + k : base;
        def.placement.p = k % 2 ? v3_make(0, 0, -0.25) : v3_make(0.3 * cos(k), 0.2 * sin(k), 0);
        def.axis = v3_make(0, 1, 0);
        def.inertia = sim_shape_inertia(&shape, 1000);
        def.damping[0] = 2;
        def.stiffness[0] = 30;
        def.armature[0] = 0.01;
        shape.body = sim_builder_add_body(y.builder, &def);
        sim_builder_add_shape(y.builder, &shape);
    }
    yard_open(&y, "sap", integrator, 2e-3);
    return y;
}

Test(trees, factors_that_the_free_motion_leaves_are_those_of_the_steps_mass) {
    int checked = 0;
    for (int k = 0; k < 2 * (int)SIM_RK4; k++) {
        yard y = walker(k % 2 ? 30 : 4, (sim_integrator)(k / 2));
        for (int step = 0; step < 40; step++) {
            yard_step(&y);
        }
        contact_input in;
        for (int tree = 0; tree < y.model->ntree; tree++) {
            sim_step_info info;
            theta_free_motion(&y.world->motion, tree, &info);
        }
        contacts_find(&y.world->contacts, &in, NULL);
        contact_stage_build(y.world->contacts.stage, &in, y.world->threads, NULL);
        const sim_problem *p = contact_stage_island(y.world->contacts.stage, 0);
        cr_assert(p, "nothing touches");
        int nv = p->tree[0].nv;
        double *A = calloc((size_t)(nv * nv), sizeof *A), *x = calloc((size_t)nv, sizeof *x);
        p->mass.matrix(p->mass.self, 0, A);
        for (int column = 0; column < nv; column++) {
            for (int j = 0; j < nv; j++) {
                x[j] = A[j * nv + column];
            }
            p->mass.solve(p->mass.self, 0, x);
            for (int j = 0; j < nv; j++) {
                cr_assert_float_eq(x[j], j == column, 1e-10, "case %d: %g", k, x[j] - (j == column));
            }
        }
        for (int i = 0; i < p->nconstraint; i++, checked++) {
            double error = half_error(p, &p->constraint[i], 0);
            cr_assert_leq(error, 1e-12, "case %d, constraint %d: %g", k, i, error);
        }
        free(A);
        free(x);
        yard_end(&y);
    }
    cr_assert_gt(checked, 50);
}
