/* Elastic tetrahedra: derivatives by differences, rigid motion, eigenvalues, frequency, inversion, viscosity.  Gas in
 * chambers: sum and moment of its forces, and the volumes of which they are derivatives. */
#include "dyn/soft/elastic_tet.h"
#include "dyn/soft/soft_body.h"
#include "dyn/soft/soft_system.h"
#include "support/elastic_places.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdlib.h>
#include <string.h>

static double *number_of(v3 x[4], int k) {
    v3 *p = &x[k / 3];
    return k % 3 == 0 ? &p->x : k % 3 == 1 ? &p->y : &p->z;
}

/* Eighth-order central difference of the energy (k < 0) or the forces along coordinate j. */
static void difference(const elastic_material *m, const elastic_tet *t, const v3 x[4], int j, double *energy,
                       double force[12]) {
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const double h = 2e-3;
    *energy = 0;
    memset(force, 0, 12 * sizeof *force);
    for (int step = -4; step <= 4; step++) {
        if (step == 0) {
            continue;
        }
        v3 at[4], f[4];
        memcpy(at, x, sizeof at);
        *number_of(at, j) += step * h;
        double w = (step > 0 ? weight[step - 1] : -weight[-step - 1]) / h;
        *energy += w * eval_elastic_tet(m, t, at, f);
        for (int k = 0; k < 12; k++) {
            force[k] += w * *number_of(f, k);
        }
    }
}

Test(elastic_tet, forces_and_stiffness_are_derivatives_of_the_energy) {
    random_source r = {5};
    elastic_tet tet = make_elastic_tet(CORNER);
    for (int trial = 0; trial < 40; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, trial % 3 ? 0.3 : 0.49, 0);
        v3 x[4], f[4];
        random_place(&r, 0.2, x);
        double K[12][12], slope, row[12], size = 0, wrong_force = 0, wrong_stiffness = 0;
        eval_elastic_tet(&m, &tet, x, f);
        eval_elastic_matrices(&m, &tet, x, &(elastic_matrices){.stiffness = K});
        for (int j = 0; j < 12; j++) {
            difference(&m, &tet, x, j, &slope, row);
            wrong_force = fmax(wrong_force, fabs(slope + *number_of(f, j)));
            for (int k = 0; k < 12; k++) {
                wrong_stiffness = fmax(wrong_stiffness, fabs(row[k] + K[j][k]));
                size = fmax(size, fabs(K[j][k]));
            }
        }
        cr_expect(wrong_force <= 1e-8 * size, "%s: forces differ by %g of %g", name_of(m.law), wrong_force, size);
        cr_expect(wrong_stiffness <= 1e-8 * size, "%s: stiffness differs by %g of %g", name_of(m.law), wrong_stiffness,
                  size);
    }
}

Test(elastic_tet, rigid_motion_makes_no_force) {
    random_source r = {6};
    elastic_tet tet = make_elastic_tet(CORNER);
    for (int trial = 0; trial < 100; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, 0.4, 0);
        v3 x[4], f[4];
        random_place(&r, 0, x);
        for (int n = 0; n < 4; n++) {
            x[n] = v3_add(x[n], (v3){3, -2, 1});
        }
        double energy = eval_elastic_tet(&m, &tet, x, f);
        cr_expect_float_eq(energy, 0, 1e-15, "%s: energy %g", name_of(m.law), energy);
        for (int n = 0; n < 4; n++) {
            cr_expect(v3_norm(f[n]) < 1e-14, "%s: force %g", name_of(m.law), v3_norm(f[n]));
        }
    }
}

/* ---- eigenvalues ---- */

/* Cyclic Jacobi rotations of a symmetric matrix of n rows; columns of e become its eigenvectors. */
static void eigen_of(int n, double (*A)[12], double (*e)[12]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            e[i][j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 20; sweep++) {
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                double angle = 0.5 * atan2(2 * A[p][q], A[p][p] - A[q][q]), c = cos(angle), s = sin(angle);
                for (int k = 0; k < n; k++) {
                    double x = A[k][p], y = A[k][q], u = e[k][p], w = e[k][q];
                    A[k][p] = c * x + s * y, A[k][q] = c * y - s * x;
                    e[k][p] = c * u + s * w, e[k][q] = c * w - s * u;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x + s * y, A[q][k] = c * y - s * x;
                }
            }
        }
    }
}

/* With three corners on the axes, a unit away, K of these is the Hessian by F times the volume. */
Test(elastic_tet, projection_sets_negative_eigenvalues_to_zero_and_no_others) {
    random_source r = {7};
    const v3 unit[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    elastic_tet tet = make_elastic_tet(unit);
    int negative = 0;
    for (int trial = 0; trial < 100; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, 0.45, 0);
        v3 x[4];
        for (int k = 0; k < 12; k++) {
            *number_of(x, k) = random_uniform(&r, -1, 1);
        }
        double K[12][12], P[12][12], A[12][12], e[12][12];
        eval_elastic_matrices(&m, &tet, x, &(elastic_matrices){.stiffness = K});
        eval_elastic_matrices(&m, &tet, x, &(elastic_matrices){.stiffness = P, .projected = true});
        double wrong = 0, size = 0;
        for (int i = 0; i < 9; i++) {
            memcpy(A[i], K[i + 3] + 3, 9 * sizeof(double));
        }
        eigen_of(9, A, e);
        for (int i = 0; i < 9; i++) {
            negative += A[i][i] < -1e-9;
            for (int j = 0; j < 9; j++) {
                double clamped = 0;
                for (int k = 0; k < 9; k++) {
                    clamped += fmax(A[k][k], 0) * e[i][k] * e[j][k];
                }
                wrong = fmax(wrong, fabs(clamped - P[i + 3][j + 3]));
                size = fmax(size, fabs(K[i + 3][j + 3]));
            }
        }
        cr_expect(wrong < 1e-12 * size, "%s, trial %d: wrong by %g of %g", name_of(m.law), trial, wrong, size);
    }
    cr_expect(negative > 100, "only %d eigenvalues are negative", negative);
}

/* As springs it has the same forces and the same stiffness, projected or not, but for those below a floor. */
Test(elastic_tet, springs_add_up_to_forces_and_stiffness) {
    random_source r = {11};
    elastic_tet tet = make_elastic_tet(CORNER);
    int turning = 0;
    for (int trial = 0; trial < 100; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, 0.4, 0);
        v3 x[4], f[4];
        random_place(&r, 0.6, x);
        double K[12][12], wrong = 0, size = 0;
        elastic_rows s;
        eval_elastic_rows(&m, &tet, x, &s);
        eval_elastic_matrices(&m, &tet, x, &(elastic_matrices){.stiffness = K, .force = f});
        for (int i = 0; i < 12; i++) {
            double force = *number_of(f, i);
            for (int row = 0; row < s.count; row++) {
                force += s.stiffness[row] * s.stretch[row] * s.w[row][i];
                turning += s.slope[row] < 0;
                cr_assert(s.stiffness[row] > 0 && s.stiffness[row] >= s.slope[row]);
            }
            wrong = fmax(wrong, fabs(force));
            for (int j = 0; j < 12; j++) {
                double k = K[i][j];
                for (int row = 0; row < s.count; row++) {
                    k -= s.slope[row] * s.w[row][i] * s.w[row][j];
                }
                wrong = fmax(wrong, fabs(k));
                size = fmax(size, fabs(K[i][j]));
            }
        }
        cr_expect(wrong < 1e-12 * size, "%s, trial %d: wrong by %g of %g", name_of(m.law), trial, wrong, size);
    }
    cr_expect_gt(turning, 100);
}

/* ---- motion of one tetrahedron ---- */

typedef struct one_tet {
    elastic_material material;
    elastic_tet tet;
    double mass; /* of a corner */
    v3 x[4], v[4];
} one_tet;

/* A regular one with edge a about the origin, of density 1000 kg/m^3. */
static one_tet regular_tet(elastic_law law, double a, double dissipation) {
    one_tet t = {.material = make_elastic(law, 1e5, 0.3, dissipation)};
    const double h = a / sqrt(8);
    const v3 corner[4] = {{h, h, h}, {-h, h, -h}, {h, -h, -h}, {-h, -h, h}};
    memcpy(t.x, corner, sizeof t.x);
    t.tet = make_elastic_tet(t.x);
    t.mass = 1000 * fabs(t.tet.volume) / 4;
    return t;
}

/* Velocity Verlet, with the viscosity at the velocity before. */
static void step_tet(one_tet *t, double dt) {
    v3 f[4];
    double C[12][12], v[12];
    eval_elastic_tet(&t->material, &t->tet, t->x, f);
    eval_elastic_matrices(&t->material, &t->tet, t->x, &(elastic_matrices){.viscosity = C});
    for (int k = 0; k < 12; k++) {
        v[k] = *number_of(t->v, k);
    }
    for (int k = 0; k < 12; k++) {
        double force = *number_of(f, k);
        for (int j = 0; j < 12; j++) {
            force -= C[k][j] * v[j];
        }
        *number_of(t->v, k) += dt * force / t->mass;
    }
    for (int n = 0; n < 4; n++) {
        t->x[n] = v3_axpy(t->x[n], dt, t->v[n]);
    }
}

/* Breathing, every corner along its own radius r: w^2 = 9 K V / (m r^2) with K = E / (3 (1 - 2 nu)), r^2 = 3/8 a^2. */
Test(elastic_tet, breathes_at_its_frequency) {
    for (int law = 0; law < ELASTIC_LAWS; law++) {
        const double a = 0.1, bulk = 1e5 / (3 * (1 - 2 * 0.3));
        one_tet t = regular_tet(law, a, 0);
        double w = sqrt(9 * bulk / (1000 * 0.375 * a * a)), dt = 0.01 / w;
        for (int n = 0; n < 4; n++) {
            t.x[n] = v3_scale(1 + 1e-6, t.x[n]);
        }
        double r0 = v3_norm(t.x[0]), rest = r0 / (1 + 1e-6), before = 1, angle = 0;
        for (int step = 1; step < 2000 && angle == 0; step++) {
            step_tet(&t, dt);
            double now = (v3_norm(t.x[0]) - rest) / (r0 - rest);
            if (now < 0) { /* a quarter period, less half a step: velocities start at a whole one */
                angle = w * dt * (step - 1 + before / (before - now) + 0.5);
            }
            before = now;
        }
        cr_expect_float_eq(angle, acos(-1) / 2, 1e-4, "%s: a quarter period is %g rad", name_of(law), angle);
    }
}

Test(elastic_tet, comes_back_when_inverted) {
    for (int law = 0; law < ELASTIC_LAWS; law++) {
        one_tet t = regular_tet(law, 0.1, 2e-3);
        t.x[0] = v3_add(v3_scale(-1, t.x[0]), (v3){1e-3, 2e-3, -1e-3}); /* through the opposite face */
        t.x[0] = v3_scale(1.2, t.x[0]);
        cr_assert(make_elastic_tet(t.x).volume * t.tet.volume < 0);
        for (int step = 0; step < 40000; step++) {
            step_tet(&t, 2e-5);
        }
        double energy = eval_elastic_tet(&t.material, &t.tet, t.x, NULL);
        double ratio = make_elastic_tet(t.x).volume / t.tet.volume;
        cr_expect_float_eq(ratio, 1, 1e-6, "%s: volume %g of that at rest", name_of(law), ratio);
        cr_expect(energy < 1e-12, "%s: energy %g", name_of(law), energy);
    }
}

/* ---- viscosity ---- */

Test(elastic_tet, viscosity_is_dissipation_times_stiffness_at_rest) {
    elastic_tet tet = make_elastic_tet(CORNER);
    for (int law = 0; law < ELASTIC_LAWS; law++) {
        elastic_material m = make_elastic(law, 1, 0.4, 0.02);
        double K[12][12], C[12][12];
        eval_elastic_matrices(&m, &tet, CORNER, &(elastic_matrices){.stiffness = K, .viscosity = C});
        for (int k = 0; k < 144; k++) {
            cr_expect_float_eq(C[k / 12][k % 12], 0.02 * K[k / 12][k % 12], 1e-15);
        }
    }
}

Test(elastic_tet, viscosity_drains_energy_and_neither_turns_nor_moves) {
    random_source r = {8};
    elastic_tet tet = make_elastic_tet(CORNER);
    for (int trial = 0; trial < 50; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, 0.4, 1);
        v3 x[4], w = random_unit(&r), force = {0, 0, 0}, moment = {0, 0, 0};
        random_place(&r, 0.5, x);
        double C[12][12], v[12], power = 0, rigid = 0;
        eval_elastic_matrices(&m, &tet, x, &(elastic_matrices){.viscosity = C});
        for (int k = 0; k < 12; k++) {
            v[k] = random_normal(&r);
        }
        for (int n = 0; n < 4; n++) {
            double f[3] = {0, 0, 0}, of_turn[3] = {0, 0, 0};
            for (int k = 0; k < 3; k++) {
                for (int j = 0; j < 12; j++) {
                    v3 turn = v3_add(v3_cross(w, x[j / 3]), (v3){1, 2, 3});
                    f[k] -= C[3 * n + k][j] * v[j];
                    of_turn[k] -= C[3 * n + k][j] * (j % 3 == 0 ? turn.x : j % 3 == 1 ? turn.y : turn.z);
                }
                power += f[k] * v[3 * n + k];
                rigid = fmax(rigid, fabs(of_turn[k]));
            }
            v3 at = {f[0], f[1], f[2]};
            force = v3_add(force, at);
            moment = v3_add(moment, v3_cross(x[n], at));
        }
        cr_expect(power < 0, "power %g", power);
        cr_expect(rigid < 1e-12, "force %g in rigid motion", rigid);
        cr_expect(v3_norm(force) < 1e-12 && v3_norm(moment) < 1e-12, "force %g, moment %g", v3_norm(force),
                  v3_norm(moment));
    }
}

/* ---- gas in chambers ---- */

enum { CHAMBERS = 2, GAS_TETS = 6 * 3 };

/* A box of 7 x 3 x 3 cells, with chambers of 2 cells and of 1; the tetrahedra that were there, of its nodes. */
typedef struct hollow_box {
    sim_model *model;
    int gas[GAS_TETS][4];
} hollow_box;

static int node_at(const sim_soft_mesh *t, v3 x) {
    for (int n = 0; n < t->nnode; n++) {
        if (v3_norm(v3_sub(t->node[n], x)) < 1e-12) {
            return n;
        }
    }
    return -1;
}

static hollow_box make_hollow_box(void) {
    const v3 min[CHAMBERS] = {{-2.5, -0.5, -0.5}, {1.5, -0.5, -0.5}},
             max[CHAMBERS] = {{-0.5, 0.5, 0.5}, {2.5, 0.5, 0.5}};
    sim_shape box = sim_shape_default();
    sim_soft_mesh whole, cut;
    sim_error error;
    hollow_box h;
    box.type = SIM_BOX;
    box.size[0] = 7, box.size[1] = box.size[2] = 3;
    cr_assert_eq(sim_shape_soft_mesh(&box, 1, &whole, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_shape_soft_mesh(&box, 1, &cut, &error), SIM_OK, "%s", error.text);
    int count = 0;
    for (int c = 0; c < CHAMBERS; c++) {
        cr_assert_eq(sim_soft_mesh_cut(&cut, min[c], max[c], &error), SIM_OK, "%s", error.text);
        for (int k = 0; k < whole.ntet; k++) {
            int in = 0;
            for (int i = 0; i < 4; i++) {
                v3 x = whole.node[whole.tet[k][i]];
                in += x.x >= min[c].x && x.x <= max[c].x && fabs(x.y) <= 0.5 && fabs(x.z) <= 0.5;
            }
            for (int i = 0; i < 4 && in == 4; i++) {
                cr_assert_lt(count, GAS_TETS);
                h.gas[count][i] = node_at(&cut, whole.node[whole.tet[k][i]]);
            }
            count += in == 4;
        }
    }
    cr_assert(count == GAS_TETS && cut.ntet == whole.ntet - count, "%d tetrahedra, %d are left", count, cut.ntet);
    sim_soft soft = sim_soft_default();
    soft.modulus = 1;
    soft.nnode = cut.nnode, soft.node = cut.node;
    soft.ntet = cut.ntet, soft.tet = (const int(*)[4])cut.tet;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_soft(builder, &soft);
    h.model = sim_builder_finish(builder, &error);
    cr_assert(h.model, "%s", error.text);
    sim_soft_mesh_free(&whole);
    sim_soft_mesh_free(&cut);
    return h;
}

/* The energy of a soft body and its slope, and the forces as its linearisation has them: at the acceleration about which
 * it is taken they are the exact ones, minus the derivative of the energy. */
Test(soft_system, forces_are_those_of_the_linearisation) {
    hollow_box h = make_hollow_box();
    const int nv = h.model->nv;
    random_source r = {17};
    double q[400], v[400], a[400], ahead[2][400], force[400] = {0}, size[400] = {0}, own[400], step = 1e-5;
    cr_assert(nv <= 400 && h.model->nq == nv);
    soft_system *s = soft_system_create(h.model, h.model->soft);
    for (int j = 0; j < nv; j++) {
        q[j] = h.model->q_initial[j] + random_uniform(&r, -0.2, 0.2);
        v[j] = random_uniform(&r, -1, 1);
        a[j] = random_uniform(&r, -1, 1);
        ahead[0][j] = q[j] + step * v[j];
        ahead[1][j] = q[j] - step * v[j];
    }
    /* energy along v */
    double slope = 0, power = 0, energy = soft_system_energy(s, q, v, &slope);
    cr_expect_float_eq(energy, soft_energy(h.model, h.model->soft, q), 1e-12 * energy);
    double rate =
        (soft_system_energy(s, ahead[0], NULL, NULL) - soft_system_energy(s, ahead[1], NULL, NULL)) / (2 * step);
    cr_expect_float_eq(slope, rate, 1e-8 * fabs(slope), "%.12g, by differences %.12g", slope, rate);
    /* forces at a are minus the derivative of the energy */
    soft_point at = {.q = q, .v = v, .a = a, .stiffness = 0.25, .viscosity = 0.5};
    soft_system_linearise(s, &at, force, size);
    soft_system_forces(s, a, own);
    for (int j = 0; j < nv; j++) {
        power += own[j] * v[j];
    }
    cr_expect_float_eq(power, -slope, 1e-12 * fabs(slope), "%g W for %g", power, -slope);
    soft_system_free(s);
    sim_model_free(h.model);
}

static double gas_volume(const hollow_box *h, const double *q) {
    double sum = 0;
    for (int k = 0; k < GAS_TETS; k++) {
        v3 rest[4], x[4];
        for (int i = 0; i < 4; i++) {
            rest[i] = h->model->soft[0].node[h->gas[k][i]];
            x[i] = soft_place(h->model, h->model->soft, h->gas[k][i], q);
        }
        sum += make_elastic_tet(x).volume * (make_elastic_tet(rest).volume > 0 ? 1 : -1);
    }
    return sum;
}

/* The volume is linear in each coordinate, so differences are exact.  The derivatives of forces are symmetric. */
Test(chamber, forces_are_pressure_times_the_derivatives_of_the_volume) {
    hollow_box h = make_hollow_box();
    const int nv = h.model->nv;
    const double p = 2;
    random_source r = {9};
    double q[400], force[400] = {0}, size[400] = {0}, row[2][400], slope[400][400], work[400] = {0};
    cr_assert(nv <= 400 && h.model->nq == nv);
    cr_expect_eq(h.model->soft[0].nchamber, 20 + 12);
    cr_expect_float_eq(gas_volume(&h, h.model->q_initial), 3, 1e-12);
    for (int j = 0; j < nv; j++) {
        q[j] = h.model->q_initial[j] + random_uniform(&r, -0.2, 0.2);
    }
    add_chamber_forces(h.model, h.model->soft, q, p, force, size);
    for (int j = 0; j < nv; j++) {
        double volume[2], at = q[j];
        memset(row, 0, sizeof row);
        for (int side = 0; side < 2; side++) {
            q[j] = at + (side ? 0.1 : -0.1);
            volume[side] = gas_volume(&h, q);
            add_chamber_forces(h.model, h.model->soft, q, p, row[side], work);
        }
        q[j] = at;
        cr_expect_float_eq(force[j], p * (volume[1] - volume[0]) / 0.2, 1e-12, "dof %d", j);
        for (int k = 0; k < nv; k++) {
            slope[j][k] = (row[1][k] - row[0][k]) / 0.2;
        }
    }
    for (int j = 0; j < nv; j++) {
        for (int k = 0; k < j; k++) {
            cr_expect_float_eq(slope[j][k], slope[k][j], 1e-12);
        }
    }
    sim_model_free(h.model);
}

/* The part of the gas in A is k times the negative derivative of its forces, which are quadratic: differences are exact.
 * So is the volume, against that of the tetrahedra of gas, and its rate. */
Test(chamber, stiffness_in_the_mass_matrix_is_the_derivative_of_forces) {
    hollow_box h = make_hollow_box();
    const int nv = h.model->nv;
    const double p = 2, k = 0.25;
    random_source r = {11};
    double q[400], a[400], zero[400] = {0}, work[400] = {0}, f[2][400], force[400] = {0}, size[400] = {0}, own[400];
    double *A = malloc(2 * sizeof *A * (size_t)nv * (size_t)nv), *with = A + (ptrdiff_t)nv * nv;
    cr_assert(nv <= 400 && h.model->nq == nv);
    for (int j = 0; j < nv; j++) {
        q[j] = h.model->q_initial[j] + random_uniform(&r, -0.2, 0.2);
        a[j] = random_uniform(&r, -1, 1);
    }
    /* A without the gas and with it */
    soft_system *s = soft_system_create(h.model, h.model->soft);
    soft_point at = {.q = q, .v = zero, .a = a, .stiffness = k, .pressure = p};
    soft_system_linearise(s, &at, force, size);
    soft_system_matrix(s, A);
    at.tangent = SOFT_WITH_GAS;
    memset(force, 0, sizeof force);
    soft_system_linearise(s, &at, force, size);
    soft_system_matrix(s, with);
    /* the difference, column by column */
    double worst = 0, most = 0;
    for (int j = 0; j < nv; j++) {
        double x = q[j];
        memset(f, 0, sizeof f);
        for (int side = 0; side < 2; side++) {
            q[j] = x + (side ? 0.1 : -0.1);
            add_chamber_forces(h.model, h.model->soft, q, p, f[side], work);
        }
        q[j] = x;
        for (int i = 0; i < nv; i++) {
            double found = with[i * nv + j] - A[i * nv + j], slope = -k * (f[1][i] - f[0][i]) / 0.2;
            worst = fmax(worst, fabs(found - slope));
            most = fmax(most, fabs(slope));
        }
    }
    cr_expect(worst < 1e-12 && most > 0.01, "off by %g of %g", worst, most);
    /* forces at the acceleration about which they are linear: exact */
    double slope = 0, rate = 0, power = 0;
    soft_system_forces(s, a, own);
    soft_system_energy(s, q, a, &slope);
    double volume = chamber_volume(h.model, h.model->soft, q, a, &rate);
    for (int j = 0; j < nv; j++) {
        power += own[j] * a[j];
    }
    cr_expect_float_eq(volume, gas_volume(&h, q), 1e-12);
    cr_expect_float_eq(power, p * rate - slope, 1e-11 * fabs(slope), "%g W for %g", power, p * rate - slope);
    soft_system_free(s);
    free(A);
    sim_model_free(h.model);
}

/* The exact tangent is k times the negative derivative of all forces, by differences.  That without the negative
 * eigenvalues of tetrahedra is another, and greater: their difference has no negative product. */
Test(soft_system, exact_tangent_is_the_derivative_of_forces) {
    hollow_box h = make_hollow_box();
    const int nv = h.model->nv;
    const double p = 2, k = 0.25, step = 1e-5;
    random_source r = {23};
    double q[400], zero[400] = {0}, size[400] = {0}, force[400] = {0}, f[2][400];
    double *A = malloc(2 * sizeof *A * (size_t)nv * (size_t)nv), *projected = A + (ptrdiff_t)nv * nv;
    cr_assert(nv <= 400 && h.model->nq == nv);
    for (int j = 0; j < nv; j++) {
        q[j] = 0.6 * h.model->q_initial[j] + random_uniform(&r, -0.1, 0.1); /* compressed: negative eigenvalues */
    }
    soft_system *s = soft_system_create(h.model, h.model->soft);
    soft_point at = {.q = q, .v = zero, .a = zero, .stiffness = k, .pressure = p, .tangent = SOFT_WITH_GAS};
    soft_system_linearise(s, &at, force, size);
    soft_system_matrix(s, projected);
    at.tangent = SOFT_EXACT;
    soft_system_linearise(s, &at, force, size);
    soft_system_matrix(s, A);
    double worst = 0, most = 0, other = 0, least = 0;
    for (int j = 0; j < nv; j += is_part() ? 10 : 1) {
        double x = q[j];
        for (int side = 0; side < 2; side++) {
            q[j] = x + (side ? step : -step);
            memset(f[side], 0, sizeof f[side]);
            soft_system_linearise(s, &at, f[side], size);
        }
        q[j] = x;
        for (int i = 0; i < nv; i++) {
            double slope = -k * (f[1][i] - f[0][i]) / (2 * step), mass = i == j ? soft_system_mass(s, j) : 0;
            worst = fmax(worst, fabs(A[i * nv + j] - mass - slope));
            other = fmax(other, fabs(projected[i * nv + j] - mass - slope));
            most = fmax(most, fabs(slope));
        }
    }
    cr_expect(worst < 1e-7 * most, "off by %g of %g", worst, most);
    cr_expect(other > 1e-3 * most, "the other is off by %g of %g alone", other, most);
    for (int trial = 0; trial < trials_of(200); trial++) {
        double x[400], product = 0;
        for (int j = 0; j < nv; j++) {
            x[j] = random_uniform(&r, -1, 1);
        }
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j < nv; j++) {
                product += x[i] * (projected[i * nv + j] - A[i * nv + j]) * x[j];
            }
        }
        least = fmin(least, product);
    }
    cr_expect(least > -1e-12 * most, "a product of %g", least);
    soft_system_free(s);
    free(A);
    sim_model_free(h.model);
}

Test(chamber, forces_and_moments_add_up_to_zero) {
    hollow_box h = make_hollow_box();
    random_source r = {10};
    for (int trial = 0; trial < 20; trial++) {
        double q[400], force[400] = {0}, size[400] = {0}, most = 0;
        v3 sum = {0, 0, 0}, moment = {0, 0, 0};
        for (int j = 0; j < h.model->nv; j++) {
            q[j] = h.model->q_initial[j] + random_uniform(&r, -0.2, 0.2);
        }
        add_chamber_forces(h.model, h.model->soft, q, 1, force, size);
        for (int j = 0; j < h.model->nv; j += 3) {
            v3 f = {force[j], force[j + 1], force[j + 2]};
            sum = v3_add(sum, f);
            moment = v3_add(moment, v3_cross((v3){q[j], q[j + 1], q[j + 2]}, f));
            most = fmax(most, v3_norm(f));
        }
        cr_expect(most > 0.1 && v3_norm(sum) < 1e-14 && v3_norm(moment) < 1e-13, "%g N of %g, %g N m", v3_norm(sum),
                  most, v3_norm(moment));
    }
    sim_model_free(h.model);
}
