/* The dynamics algorithms against each other, against dense linear algebra and against finite differences, on random
 * forests with joints of every type.  Cartesian joints are compared with three sliders.  Long: the algorithms share the dense reference that is built here. */
#include "support/models.h"

#include "dyn/motion/lanes.h"
#include "model/parts/joint.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    random_source random;
    sim_model *model;
    sim_derived *d;
    sim_range all;
    double *q, *v, *a, *tau, *tau2, *M; /* M branch-sparse */
} fixture;

static double *numbers(int count) { return calloc((size_t)(count > 0 ? count : 1), sizeof(double)); }

static fixture forest(uint64_t seed, int bodies) {
    fixture f = {.random = {seed}};
    f.model = random_forest(&f.random, bodies);
    cr_assert_not_null(f.model);
    f.d = sim_derived_create(f.model, NULL);
    f.all = sim_all(f.model);
    f.q = numbers(f.model->nq);
    f.v = numbers(f.model->nv);
    f.a = numbers(f.model->nv);
    f.tau = numbers(f.model->nv);
    f.tau2 = numbers(f.model->nv);
    f.M = numbers((int)f.model->nl);
    random_state(&f.random, f.model, f.q, f.v);
    for (int j = 0; j < f.model->nv; j++) {
        f.tau[j] = random_uniform(&f.random, -10, 10);
    }
    sim_kinematics(f.d, f.all, f.q);
    sim_velocities(f.d, f.all, f.v);
    return f;
}

static void drop(fixture *f) {
    sim_derived_free(f->d);
    sim_model_free(f->model);
    free(f->q);
    free(f->v);
    free(f->a);
    free(f->tau);
    free(f->tau2);
    free(f->M);
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double largest_difference(const double *x, const double *y, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        double gap = fabs(x[i] - y[i]);
        most = isnan(gap) ? INFINITY : fmax(most, gap);
    }
    return most;
}

/* Dense symmetric matrix from its branch-sparse rows. */
static double *dense(const sim_model *m, const double *M) {
    double *D = numbers(m->nv * m->nv);
    for (int i = 0; i < m->nv; i++) {
        for (int j = i; j >= 0; j = m->dof[j].parent) {
            D[i * m->nv + j] = D[j * m->nv + i] = M[m->dof[i].row + m->dof[j].depth - 1];
        }
    }
    return D;
}

/* x <- A^-1 x by dense Cholesky; A is overwritten. */
static void dense_solve(double *A, int n, double *x, int columns) {
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            for (int i = j; i < n; i++) {
                A[i * n + j] -= A[i * n + k] * A[j * n + k];
            }
        }
        double root = sqrt(A[j * n + j]);
        for (int i = j; i < n; i++) {
            A[i * n + j] /= root;
        }
    }
    for (int c = 0; c < columns; c++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++) {
                x[i * columns + c] -= A[i * n + k] * x[k * columns + c];
            }
            x[i * columns + c] /= A[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) {
                x[i * columns + c] -= A[k * n + i] * x[k * columns + c];
            }
            x[i * columns + c] /= A[i * n + i];
        }
    }
}

/* Size of what cancels in M a + C = tau. */
static double force_scale(fixture *f) {
    const sim_model *m = f->model;
    double *bias = numbers(m->nv);
    sim_rnea(f->d, f->all, NULL, NULL, m->gravity, bias);
    double scale = largest(f->M, (int)m->nl) * largest(f->a, m->nv) + largest(bias, m->nv);
    free(bias);
    return scale;
}

Test(dynamics, inverse_of_forward_dynamics_returns_the_forces_on_1000_random_forests) {
    double worst = 0, worst_matrix = 0;
    for (int k = 0; k < 1000; k++) {
        fixture f = forest(1000 + (uint64_t)k, 1 + k % 60);
        const sim_model *m = f.model;
        sim_crba(f.d, f.all, NULL, NULL, f.M);
        sim_aba(f.d, f.all, f.tau, NULL, m->gravity, NULL, NULL, f.a);
        double scale = force_scale(&f);
        sim_rnea(f.d, f.all, f.a, NULL, m->gravity, f.tau2);
        worst = fmax(worst, largest_difference(f.tau, f.tau2, m->nv) / scale);

        double *bias = numbers(m->nv);
        sim_rnea(f.d, f.all, NULL, NULL, m->gravity, bias);
        sim_branch_times(m, f.all, f.M, f.a, f.tau2);
        for (int j = 0; j < m->nv; j++) {
            f.tau2[j] += bias[j];
        }
        worst_matrix = fmax(worst_matrix, largest_difference(f.tau, f.tau2, m->nv) / scale);
        free(bias);
        drop(&f);
    }
    cr_log_warn("RNEA(ABA(tau)) - tau: %.2g; M a + C - tau: %.2g, relative", worst, worst_matrix);
    cr_expect(worst < 1e-12, "%g", worst);
    cr_expect(worst_matrix < 1e-12, "%g", worst_matrix);
}

Test(dynamics, composite_bodies_give_the_columns_of_inverse_dynamics) {
    double worst = 0;
    for (int k = 0; k < 300; k++) {
        fixture f = forest(5000 + (uint64_t)k, 1 + k % 60);
        const sim_model *m = f.model;
        sim_crba(f.d, f.all, NULL, NULL, f.M);
        double *D = dense(m, f.M), scale = largest(f.M, (int)m->nl);
        for (int j = 0; j < m->nv; j++) {
            memset(f.a, 0, (size_t)m->nv * sizeof *f.a);
            f.a[j] = 1;
            sim_mass_times(f.d, f.all, NULL, f.a, f.tau2);
            worst = fmax(worst, largest_difference(D + j * m->nv, f.tau2, m->nv) / scale);
        }
        free(D);
        drop(&f);
    }
    cr_expect(worst < 1e-12, "%g", worst);
}

Test(dynamics, branch_sparse_factors_solve_like_dense_cholesky_and_like_articulated_bodies) {
    double worst = 0, worst_articulated = 0;
    for (int k = 0; k < 300; k++) {
        fixture f = forest(9000 + (uint64_t)k, 1 + k % 60);
        const sim_model *m = f.model;
        double *extra = numbers(m->nv), *x = numbers(m->nv), *y = numbers(m->nv);
        for (int j = 0; j < m->nv; j++) {
            extra[j] = random_uniform(&f.random, 0, 0.5);
        }
        sim_crba(f.d, f.all, extra, NULL, f.M);
        double *D = dense(m, f.M);
        memcpy(x, f.tau, (size_t)m->nv * sizeof *x);
        dense_solve(D, m->nv, x, 1);

        memcpy(y, f.tau, (size_t)m->nv * sizeof *y);
        sim_ltdl(m, f.all, f.M);
        sim_ltdl_solve(m, f.all, f.M, y);
        worst = fmax(worst, largest_difference(x, y, m->nv) / fmax(largest(x, m->nv), 1e-300));

        memcpy(y, f.tau, (size_t)m->nv * sizeof *y);
        sim_articulated_factor(f.d, f.all, extra, NULL);
        sim_articulated_solve(f.d, f.all, y);
        double *back = numbers(m->nv); /* the operator undoes its solve */
        sim_mass_times(f.d, f.all, extra, y, back);
        cr_expect(largest_difference(back, f.tau, m->nv) <= 1e-9 * largest(f.tau, m->nv));
        free(back);
        worst_articulated = fmax(worst_articulated, largest_difference(x, y, m->nv) / fmax(largest(x, m->nv), 1e-300));
        free(D);
        free(extra);
        free(x);
        free(y);
        drop(&f);
    }
    cr_log_warn("against dense Cholesky: LTDL %.2g, articulated %.2g, relative", worst, worst_articulated);
    cr_expect(worst < 1e-10, "%g", worst);
    cr_expect(worst_articulated < 1e-10, "%g", worst_articulated);
}

Test(dynamics, long_chains_factor_in_runs_like_one_dof_at_a_time) {
    sim_model *m = swinging_chain(61);
    sim_derived *d = sim_derived_create(m, NULL);
    double *M = numbers((int)m->nl), *x = numbers(m->nv), *y = numbers(m->nv);
    sim_kinematics(d, sim_all(m), m->q_initial);
    sim_crba(d, sim_all(m), NULL, NULL, M);
    for (int j = 0; j < m->nv; j++) {
        x[j] = sin(j);
    }
    sim_branch_times(m, sim_all(m), M, x, y);
    sim_ltdl(m, sim_all(m), M);
    sim_ltdl_solve(m, sim_all(m), M, y);
    cr_expect(largest_difference(x, y, m->nv) < 1e-9, "%g", largest_difference(x, y, m->nv));
    free(M);
    free(x);
    free(y);
    sim_derived_free(d);
    sim_model_free(m);
}

static sim_articulated random_spd(random_source *r) {
    double G[6][6], S[6][6];
    for (int i = 0; i < 36; i++) {
        G[i / 6][i % 6] = random_uniform(r, -1, 1);
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            S[i][j] = 0;
            for (int k = 0; k < 6; k++) {
                S[i][j] += G[i][k] * G[j][k];
            }
        }
    }
    return (sim_articulated){{S[0][0], S[1][1], S[2][2], S[0][1], S[0][2], S[1][2]},
                             {{S[0][3], S[1][3], S[2][3]}, {S[0][4], S[1][4], S[2][4]}, {S[0][5], S[1][5], S[2][5]}},
                             {S[3][3], S[4][4], S[5][5], S[3][4], S[3][5], S[4][5]}};
}

static force packed_times(const sim_articulated *a, motion m) {
    return (force){v3_add(sym3_times(a->A, m.ang), m3_times(a->B, m.lin)),
                   v3_add(m3_transposed_times(a->B, m.ang), sym3_times(a->C, m.lin))};
}

Test(dynamics, added_body_matrices_act_alike_in_composite_and_articulated_bodies) {
    double worst = 0, worst_dense = 0;
    for (int k = 0; k < 100; k++) {
        fixture f = forest(13000 + (uint64_t)k, 1 + k % 30);
        const sim_model *m = f.model;
        sim_articulated *add = calloc((size_t)m->nbody, sizeof *add);
        for (int i = 1; i < m->nbody; i++) {
            add[i] = random_spd(&f.random);
        }
        double *x = numbers(m->nv), *y = numbers(m->nv), *J = numbers(6 * m->nv);
        sim_crba(f.d, f.all, NULL, NULL, f.M);
        double *D = dense(m, f.M);
        for (int i = 1; i < m->nbody; i++) { /* M + sum J' H J, the definition */
            const sim_tree *t = &m->tree[m->body[i].tree];
            sim_body_jacobian(f.d, i, J);
            for (int p = 0; p < t->nv; p++) {
                motion Sp = {{J[p], J[t->nv + p], J[2 * t->nv + p]},
                             {J[3 * t->nv + p], J[4 * t->nv + p], J[5 * t->nv + p]}};
                force HS = packed_times(&add[i], Sp);
                for (int s = 0; s < t->nv; s++) {
                    motion Ss = {{J[s], J[t->nv + s], J[2 * t->nv + s]},
                                 {J[3 * t->nv + s], J[4 * t->nv + s], J[5 * t->nv + s]}};
                    D[(t->v0 + p) * m->nv + t->v0 + s] += motion_dot(Ss, HS);
                }
            }
        }
        sim_crba(f.d, f.all, NULL, add, f.M);
        double *E = dense(m, f.M);
        worst_dense = fmax(worst_dense, largest_difference(D, E, m->nv * m->nv) / largest(D, m->nv * m->nv));

        memcpy(x, f.tau, (size_t)m->nv * sizeof *x);
        memcpy(y, f.tau, (size_t)m->nv * sizeof *y);
        sim_ltdl(m, f.all, f.M);
        sim_ltdl_solve(m, f.all, f.M, x);
        sim_articulated_factor(f.d, f.all, NULL, add);
        sim_articulated_solve(f.d, f.all, y);
        worst = fmax(worst, largest_difference(x, y, m->nv) / fmax(largest(x, m->nv), 1e-300));
        free(add);
        free(x);
        free(y);
        free(J);
        free(D);
        free(E);
        drop(&f);
    }
    cr_expect(worst_dense < 1e-12, "%g", worst_dense);
    cr_expect(worst < 1e-10, "%g", worst);
}

Test(dynamics, operational_inertia_equals_dense_J_Minv_Jt) {
    enum { K = 5 };
    double worst = 0;
    for (int k = 0; k < 300; k++) {
        fixture f = forest(17000 + (uint64_t)k, 1 + k % 60);
        const sim_model *m = f.model;
        sim_point point[K];
        for (int p = 0; p < K; p++) {
            point[p] = (sim_point){random_index(&f.random, m->nbody), v3_scale(0.2, random_unit(&f.random))};
        }
        sim_operational *work = sim_operational_create(m, K, NULL);
        double W[3 * K * 3 * K];
        sim_articulated_factor(f.d, f.all, NULL, NULL);
        sim_delassus_points(work, f.d, point, K, W);

        int n = m->nv;
        double *Jt = numbers(n * 3 * K), *X = numbers(n * 3 * K), *J = numbers(3 * n);
        for (int p = 0; p < K; p++) {
            if (point[p].body == 0) {
                continue;
            }
            const sim_tree *t = &m->tree[m->body[point[p].body].tree];
            sim_point_jacobian(f.d, point[p], J);
            for (int row = 0; row < 3; row++) {
                for (int j = 0; j < t->nv; j++) {
                    Jt[(t->v0 + j) * 3 * K + 3 * p + row] = J[row * t->nv + j];
                }
            }
        }
        memcpy(X, Jt, (size_t)(n * 3 * K) * sizeof *X);
        sim_crba(f.d, f.all, NULL, NULL, f.M);
        double *D = dense(m, f.M);
        dense_solve(D, n, X, 3 * K);
        double scale = largest(W, 9 * K * K);
        for (int a = 0; a < 3 * K; a++) {
            for (int b = 0; b < 3 * K; b++) {
                double sum = 0;
                for (int j = 0; j < n; j++) {
                    sum += Jt[j * 3 * K + a] * X[j * 3 * K + b];
                }
                double gap = fabs(sum - W[a * 3 * K + b]) / fmax(scale, 1e-300);
                worst = isnan(gap) ? INFINITY : fmax(worst, gap);
            }
        }
        free(Jt);
        free(X);
        free(J);
        free(D);
        sim_operational_free(work);
        drop(&f);
    }
    cr_log_warn("operational-space inertia against dense: %.2g, relative", worst);
    cr_expect(worst < 1e-11, "%g", worst);
}

/* Position of a point after moving along v for the time h. */
static v3 moved_point(fixture *f, sim_derived *other, sim_point point, const double *v, double h) {
    double *q = numbers(f->model->nq);
    sim_advance(f->model, f->all, f->q, v, h, q);
    sim_kinematics(other, f->all, q);
    v3 at = sim_point_position(other, point);
    free(q);
    return at;
}

Test(dynamics, point_jacobians_and_velocities_are_derivatives_of_positions) {
    const double h = 1e-5;
    double worst = 0;
    for (int k = 0; k < 100; k++) {
        fixture f = forest(21000 + (uint64_t)k, 1 + k % 40);
        const sim_model *m = f.model;
        sim_derived *other = sim_derived_create(m, NULL);
        sim_point point = {1 + random_index(&f.random, m->nbody - 1), {0.1, -0.2, 0.3}};
        const sim_tree *t = &m->tree[m->body[point.body].tree];
        double *J = numbers(3 * m->nv);
        sim_point_jacobian(f.d, point, J);
        v3 product = {0, 0, 0};
        for (int j = 0; j < t->nv; j++) {
            product = v3_axpy(product, f.v[t->v0 + j], (v3){J[j], J[t->nv + j], J[2 * t->nv + j]});
        }
        v3 velocity = sim_point_velocity(f.d, point);
        v3 difference =
            v3_scale(0.5 / h, v3_sub(moved_point(&f, other, point, f.v, h), moved_point(&f, other, point, f.v, -h)));
        double scale = 1 + v3_norm(velocity);
        worst = fmax(worst, v3_norm(v3_sub(velocity, difference)) / scale);
        cr_expect(v3_norm(v3_sub(velocity, product)) < 1e-12 * scale);
        free(J);
        sim_derived_free(other);
        drop(&f);
    }
    cr_expect(worst < 1e-7, "%g", worst);
}

Test(dynamics, jdot_v_is_the_acceleration_of_a_point_at_constant_joint_velocity) {
    const double h = 1e-4;
    double worst = 0;
    for (int k = 0; k < 100; k++) {
        fixture f = forest(25000 + (uint64_t)k, 1 + k % 20);
        const sim_model *m = f.model;
        sim_derived *other = sim_derived_create(m, NULL);
        sim_point point = {1 + random_index(&f.random, m->nbody - 1), {0.1, -0.2, 0.3}};
        motion *acc = calloc((size_t)m->nbody, sizeof *acc);
        sim_bias_accelerations(f.d, f.all, acc);
        v3 bias = sim_point_bias_acceleration(f.d, acc, point);
        v3 x[5];
        for (int s = 0; s < 5; s++) {
            x[s] = moved_point(&f, other, point, f.v, (s - 2) * h);
        }
        v3 far = v3_add(x[0], x[4]), near = v3_add(x[1], x[3]); /* fourth-order second difference */
        v3 difference = v3_scale(1 / (12 * h * h), v3_axpy(v3_axpy(v3_scale(16, near), -1, far), -30, x[2]));
        worst = fmax(worst, v3_norm(v3_sub(bias, difference)) / (1 + v3_norm(bias)));
        free(acc);
        sim_derived_free(other);
        drop(&f);
    }
    cr_expect(worst < 1e-5, "%g", worst);
}

/* Kinetic energy of a body as that of four masses with the same inertia: an independent road to M. */
Test(dynamics, kinetic_energy_is_that_of_the_moving_mass_points) {
    const double h = 1e-5;
    for (int k = 0; k < 50; k++) {
        fixture f = forest(29000 + (uint64_t)k, 1 + k % 10);
        const sim_model *m = f.model;
        sim_derived *other = sim_derived_create(m, NULL);
        double energy = 0, rotors = 0;
        for (int i = 1; i < m->nbody; i++) {
            const sim_inertia *I = &m->body[i].inertia;
            /* sum over points of weight w_ab (x_a x_b): second moment matrix = tr/2 1 - I; velocity is affine in the
             * body coordinates, so differentiate the points c, c + e_a */
            double trace = I->moment.xx + I->moment.yy + I->moment.zz;
            const double S[3][3] = {{trace / 2 - I->moment.xx, -I->moment.xy, -I->moment.xz},
                                    {-I->moment.xy, trace / 2 - I->moment.yy, -I->moment.yz},
                                    {-I->moment.xz, -I->moment.yz, trace / 2 - I->moment.zz}};
            v3 rate[4];
            for (int p = 0; p < 4; p++) {
                v3 at = v3_add(I->com, (v3){p == 1, p == 2, p == 3});
                sim_point point = {i, at};
                rate[p] = v3_scale(
                    0.5 / h, v3_sub(moved_point(&f, other, point, f.v, h), moved_point(&f, other, point, f.v, -h)));
            }
            energy += 0.5 * I->mass * v3_dot(rate[0], rate[0]);
            for (int p = 0; p < 3; p++) {
                for (int s = 0; s < 3; s++) {
                    energy += 0.5 * S[p][s] * v3_dot(v3_sub(rate[p + 1], rate[0]), v3_sub(rate[s + 1], rate[0]));
                }
            }
        }
        for (int j = 0; j < m->nv; j++) {
            rotors += 0.5 * m->dof[j].armature * f.v[j] * f.v[j];
        }
        double ours = sim_kinetic_energy(f.d, f.all, f.v);
        cr_expect(fabs(ours - energy - rotors) < 1e-7 * (1 + ours), "%g %g", ours, energy + rotors);

        sim_crba(f.d, f.all, NULL, NULL, f.M);
        sim_branch_times(m, f.all, f.M, f.v, f.tau2);
        double quadratic = 0;
        for (int j = 0; j < m->nv; j++) {
            quadratic += 0.5 * f.v[j] * f.tau2[j];
        }
        cr_expect(fabs(ours - quadratic) < 1e-12 * (1 + ours));
        sim_derived_free(other);
        drop(&f);
    }
}

/* Lagrange: C = dM/dt v - 1/2 d(v' M v)/dq, all by differences of M, where q' = v component by component. */
Test(dynamics, coriolis_forces_are_those_of_lagrange) {
    const double h = 1e-5;
    const sim_joint_type plain[] = {SIM_HINGE, SIM_SLIDER, SIM_SCREW, SIM_CYLINDRICAL, SIM_UNIVERSAL, SIM_PLANAR};
    for (int trial = 0; trial < 60; trial++) {
        random_source r = {33000 + (uint64_t)trial};
        sim_builder *builder = sim_builder_create();
        int bodies = 1 + trial % 6;
        for (int i = 1; i <= bodies; i++) {
            sim_body_def def = sim_body_default();
            def.joint = plain[random_index(&r, 6)];
            def.parent = i == 1 ? 0 : 1 + random_index(&r, i - 1);
            def.placement = (sim_pose){random_rotation(&r), v3_scale(0.4, random_unit(&r))};
            def.axis = random_unit(&r);
            def.axis2 = v3_perpendicular(def.axis);
            def.pitch = 0.3;
            def.inertia = random_inertia(&r);
            sim_builder_add_body(builder, &def);
        }
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_derived *d = sim_derived_create(m, NULL);
        sim_range all = sim_all(m);
        int n = m->nv;
        double *q = numbers(n), *v = numbers(n), *M = numbers((int)m->nl), *Mv[2] = {numbers(n), numbers(n)};
        double *C = numbers(n), *expected = numbers(n);
        random_state(&r, m, q, v);
        for (int j = 0; j <= n; j++) { /* along each coordinate, and along v */
            double twice_energy[2] = {0, 0};
            for (int side = 0; side < 2; side++) {
                double *moved = numbers(n);
                for (int i = 0; i < n; i++) {
                    moved[i] = q[i] + (side ? h : -h) * (j < n ? i == j : v[i]);
                }
                sim_kinematics(d, all, moved);
                sim_crba(d, all, NULL, NULL, M);
                sim_branch_times(m, all, M, v, Mv[side]);
                for (int i = 0; i < n; i++) {
                    twice_energy[side] += v[i] * Mv[side][i];
                }
                free(moved);
            }
            for (int i = 0; i < n; i++) {
                if (j == n) {
                    expected[i] += (Mv[1][i] - Mv[0][i]) / (2 * h);
                } else if (i == j) {
                    expected[i] -= 0.5 * (twice_energy[1] - twice_energy[0]) / (2 * h);
                }
            }
        }
        sim_kinematics(d, all, q);
        sim_velocities(d, all, v);
        sim_rnea(d, all, NULL, NULL, (v3){0, 0, 0}, C);
        double gap = largest_difference(C, expected, n), scale = 1 + largest(expected, n);
        cr_expect(gap < 1e-7 * scale, "%g of %g in trial %d", gap, scale, trial);
        free(q);
        free(v);
        free(M);
        free(Mv[0]);
        free(Mv[1]);
        free(C);
        free(expected);
        sim_derived_free(d);
        sim_model_free(m);
    }
}

Test(dynamics, gravity_forces_are_the_gradient_of_potential_energy) {
    const double h = 1e-5;
    for (int k = 0; k < 50; k++) {
        fixture f = forest(37000 + (uint64_t)k, 1 + k % 20);
        const sim_model *m = f.model;
        sim_derived *other = sim_derived_create(m, NULL);
        double *direction = numbers(m->nv), *q = numbers(m->nq), *rest = numbers(m->nv);
        sim_velocities(f.d, f.all, rest);
        sim_rnea(f.d, f.all, NULL, NULL, m->gravity, f.tau2);
        for (int j = 0; j < m->nv; j++) {
            double side[2];
            direction[j] = 1;
            for (int s = 0; s < 2; s++) {
                sim_advance(m, f.all, f.q, direction, s ? h : -h, q);
                sim_kinematics(other, f.all, q);
                side[s] = sim_potential_energy(other, f.all, q);
            }
            direction[j] = 0;
            double slope = (side[1] - side[0]) / (2 * h);
            cr_expect(fabs(slope - f.tau2[j]) < 1e-5 * (1 + fabs(slope)), "%g %g", slope, f.tau2[j]);
        }
        free(direction);
        free(q);
        free(rest);
        sim_derived_free(other);
        drop(&f);
    }
}

Test(dynamics, external_wrenches_act_through_the_jacobian) {
    for (int k = 0; k < 50; k++) {
        fixture f = forest(41000 + (uint64_t)k, 1 + k % 30);
        const sim_model *m = f.model;
        force *wrench = calloc((size_t)m->nbody, sizeof *wrench);
        double *J = numbers(6 * m->nv), *with = numbers(m->nv), *without = numbers(m->nv), *expected = numbers(m->nv);
        for (int i = 1; i < m->nbody; i++) {
            wrench[i] = (force){random_unit(&f.random), random_unit(&f.random)};
            const sim_tree *t = &m->tree[m->body[i].tree];
            sim_body_jacobian(f.d, i, J);
            for (int j = 0; j < t->nv; j++) {
                expected[t->v0 + j] += J[j] * wrench[i].ang.x + J[t->nv + j] * wrench[i].ang.y +
                                       J[2 * t->nv + j] * wrench[i].ang.z + J[3 * t->nv + j] * wrench[i].lin.x +
                                       J[4 * t->nv + j] * wrench[i].lin.y + J[5 * t->nv + j] * wrench[i].lin.z;
            }
        }
        sim_rnea(f.d, f.all, NULL, NULL, m->gravity, without);
        sim_rnea(f.d, f.all, NULL, wrench, m->gravity, with);
        for (int j = 0; j < m->nv; j++) {
            cr_expect(fabs(without[j] - with[j] - expected[j]) < 1e-10 * (1 + fabs(without[j])));
        }
        sim_aba(f.d, f.all, f.tau, wrench, m->gravity, NULL, NULL, f.a);
        sim_rnea(f.d, f.all, f.a, wrench, m->gravity, f.tau2);
        sim_crba(f.d, f.all, NULL, NULL, f.M);
        cr_expect(largest_difference(f.tau, f.tau2, m->nv) < 1e-11 * force_scale(&f));
        free(wrench);
        free(J);
        free(with);
        free(without);
        free(expected);
        drop(&f);
    }
}

Test(dynamics, nothing_depends_on_how_far_the_tree_stands_from_the_origin_or_how_fast_the_whole_moves) {
    for (int k = 0; k < 20; k++) {
        random_source r = {45000 + (uint64_t)k};
        double a[2][36], tau[36] = {0}, q[37], v[36];
        sim_model *m = humanoid_model();
        random_state(&r, m, q, v);
        for (int s = 0; s < 2; s++) {
            sim_derived *d = sim_derived_create(m, NULL);
            if (s) {
                for (int j = 0; j < 3; j++) {
                    q[j] += 1e4;
                    v[j] += 1e3;
                }
            }
            sim_kinematics(d, sim_all(m), q);
            sim_velocities(d, sim_all(m), v);
            sim_aba(d, sim_all(m), tau, NULL, m->gravity, NULL, NULL, a[s]);
            sim_derived_free(d);
        }
        cr_expect(largest_difference(a[0], a[1], 36) == 0, "%g", largest_difference(a[0], a[1], 36));
        sim_model_free(m);
    }
}

Test(dynamics, advance_and_difference_are_inverse_and_keep_quaternions_unit) {
    for (int k = 0; k < 100; k++) {
        fixture f = forest(49000 + (uint64_t)k, 20);
        const sim_model *m = f.model;
        double *q = numbers(m->nq), *back = numbers(m->nv);
        for (int j = 0; j < m->nv; j++) {
            f.v[j] *= 0.5; /* below half a turn */
        }
        sim_advance(m, f.all, f.q, f.v, 1, q);
        sim_difference(m, f.all, f.q, q, back);
        cr_expect(largest_difference(f.v, back, m->nv) < 1e-13 * 10, "%g", largest_difference(f.v, back, m->nv));
        for (int i = 1; i < m->nbody; i++) {
            if (joint_facts_of(m->body[i].joint)->quaternion >= 0) {
                double norm = quat_norm(joint_quaternion(q + m->body[i].q0 + m->body[i].nq - 4));
                cr_expect(fabs(norm - 1) < 4e-16, "%g", norm - 1);
            }
        }
        free(q);
        free(back);
        drop(&f);
    }
}

/* A hinge, then three translations as one joint or as sliders on frames without mass, then a hinge. */
static sim_model *shifted_pendulum(bool sliders) {
    sim_builder *builder = sim_builder_create();
    random_source r = {91};
    sim_body_def def = sim_body_default(), next = def;
    def.joint = SIM_HINGE;
    def.inertia = random_inertia(&r);
    next.parent = sim_builder_add_body(builder, &def);
    next.placement = (sim_pose){random_rotation(&r), {0.1, -0.3, 0.2}};
    for (int k = 0; k < 2 && sliders; k++) {
        next.joint = SIM_SLIDER;
        next.axis = k ? (v3){0, 1, 0} : (v3){1, 0, 0};
        next.parent = sim_builder_add_body(builder, &next);
        next.placement = pose_identity();
    }
    next.joint = sliders ? SIM_SLIDER : SIM_CARTESIAN;
    next.axis = (v3){0, 0, 1};
    next.inertia = random_inertia(&r);
    def.parent = sim_builder_add_body(builder, &next);
    def.placement = (sim_pose){random_rotation(&r), {0.2, 0, 0.1}};
    sim_builder_add_body(builder, &def);
    return sim_builder_finish(builder, NULL);
}

Test(dynamics, cartesian_joint_is_three_sliders) {
    const double q[5] = {0.3, 0.2, -0.1, 0.4, -0.7}, v[5] = {1, -2, 0.5, 3, 2}, tau[5] = {3, -1, 2, 5, -2};
    double a[2][5], energy[2], potential[2], moved[2][5], back[5];
    for (int k = 0; k < 2; k++) {
        sim_model *m = shifted_pendulum(k == 1);
        cr_assert(m && m->nq == 5 && m->nv == 5);
        sim_derived *d = sim_derived_create(m, NULL);
        sim_kinematics(d, sim_all(m), q);
        sim_velocities(d, sim_all(m), v);
        sim_aba(d, sim_all(m), tau, NULL, m->gravity, NULL, NULL, a[k]);
        energy[k] = sim_kinetic_energy(d, sim_all(m), v);
        potential[k] = sim_potential_energy(d, sim_all(m), q);
        sim_advance(m, sim_all(m), q, v, 0.1, moved[k]);
        sim_difference(m, sim_all(m), q, moved[k], back);
        for (int j = 0; j < 5; j++) {
            cr_expect_float_eq(back[j], 0.1 * v[j], 1e-15);
        }
        sim_derived_free(d);
        sim_model_free(m);
    }
    for (int j = 0; j < 5; j++) {
        cr_expect_float_eq(a[0][j], a[1][j], 1e-11 * fabs(a[1][j]), "%d: %.17g, %.17g", j, a[0][j], a[1][j]);
        cr_expect(moved[0][j] == moved[1][j]);
    }
    cr_expect_float_eq(energy[0], energy[1], 1e-13 * energy[1]);
    cr_expect_float_eq(potential[0], potential[1], 1e-13);
}
