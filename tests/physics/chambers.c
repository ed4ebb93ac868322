/* Soft bodies with gas in closed chambers: growth of a hollow sphere, work of the pressure, momentum, refusals. */
#include "support/models.h"
#include "support/share.h"
#include "support/worlds.h"

#include "dyn/soft/soft_body.h"
#include "math/v3.h"
#include "world/core/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdlib.h>
#include <string.h>

/* ---- a hollow sphere ---- */

/* A sphere of triangles: an icosahedron, with every edge halved a few times. */
typedef struct ball_mesh {
    int nnode, nface;
    v3 node[642];
    int face[1280][3];
} ball_mesh;

static int middle_of(ball_mesh *t, int old, int a, int b) {
    v3 x = v3_add(t->node[a], t->node[b]);
    x = v3_scale(1 / v3_norm(x), x);
    for (int n = old; n < t->nnode; n++) {
        if (v3_norm(v3_sub(t->node[n], x)) < 1e-9) {
            return n;
        }
    }
    t->node[t->nnode] = x;
    return t->nnode++;
}

static void halve_edges(ball_mesh *t) {
    ball_mesh fine = *t;
    fine.nface = 0;
    for (int k = 0; k < t->nface; k++) {
        const int *f = t->face[k];
        int m[3];
        for (int i = 0; i < 3; i++) {
            m[i] = middle_of(&fine, t->nnode, f[i], f[(i + 1) % 3]);
        }
        const int part[4][3] = {{f[0], m[0], m[2]}, {m[0], f[1], m[1]}, {m[2], m[1], f[2]}, {m[0], m[1], m[2]}};
        memcpy(fine.face[fine.nface], part, sizeof part);
        fine.nface += 4;
    }
    *t = fine;
}

static void make_ball(ball_mesh *t, int halvings) {
    const double g = 1.618033988749895;
    const v3 corner[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                           {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    t->nnode = 12;
    t->nface = 0;
    for (int n = 0; n < 12; n++) {
        t->node[n] = v3_scale(1 / v3_norm(corner[n]), corner[n]);
    }
    for (int a = 0; a < 12; a++) { /* triangles of corners that are all 2 apart, counterclockwise from outside */
        for (int b = a + 1; b < 12; b++) {
            for (int c = a + 1; c < 12; c++) {
                bool near = c != b && v3_norm(v3_sub(corner[a], corner[b])) < 2.1 &&
                            v3_norm(v3_sub(corner[a], corner[c])) < 2.1 && v3_norm(v3_sub(corner[b], corner[c])) < 2.1;
                if (near && v3_dot(corner[a], v3_cross(corner[b], corner[c])) > 0) {
                    memcpy(t->face[t->nface++], (int[3]){a, b, c}, sizeof *t->face);
                }
            }
        }
    }
    for (int k = 0; k < halvings; k++) {
        halve_edges(t);
    }
}

/* Its nodes at two radii with three tetrahedra between each triangle and its image: they share their diagonals. */
static sim_model *hollow_sphere(int halvings, double inner, double outer, sim_soft soft) {
    ball_mesh *t = malloc(sizeof *t);
    make_ball(t, halvings);
    const int n = t->nnode;
    v3 *node = malloc(2 * (size_t)n * sizeof *node);
    int(*tet)[4] = malloc(3 * (size_t)t->nface * sizeof *tet);
    for (int k = 0; k < n; k++) {
        node[k] = v3_scale(inner, t->node[k]);
        node[n + k] = v3_scale(outer, t->node[k]);
    }
    for (int k = 0; k < t->nface; k++) {
        int a = t->face[k][0], b = t->face[k][1], c = t->face[k][2];
        int low = a < b ? (a < c ? a : c) : (b < c ? b : c), high = a > b ? (a > c ? a : c) : (b > c ? b : c);
        int mid = a + b + c - low - high;
        const int part[3][4] = {
            {low, mid, high, n + high}, {low, mid, n + mid, n + high}, {low, n + low, n + mid, n + high}};
        memcpy(tet[3 * k], part, sizeof part);
    }
    soft.nnode = 2 * n, soft.node = node;
    soft.ntet = 3 * t->nface, soft.tet = (const int(*)[4])tet;
    sim_error error;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_builder_add_soft(builder, &soft);
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    cr_expect_eq(m->soft[0].nchamber, t->nface);
    free(t);
    free(node);
    free(tet);
    return m;
}

/* Growth of the inner radius over Lame's for a thick sphere in small strain,
 * p a^3/(b^3 - a^3) ((1 - 2 nu) a/E + (1 + nu) b^3/(2 E a^2)), which is Laplace's p a^2 (1 - nu)/(2 E t) for a thin one. */
static double growth_of_sphere(int halvings, double a, double b, double nu, sim_soft_law law) {
    const double E = 1e6, p = 10, b3 = b * b * b, a3 = a * a * a;
    sim_soft soft = sim_soft_default();
    soft.law = law;
    soft.modulus = E;
    soft.poisson = nu;
    soft.pressure = (sim_track){.keys = 1, .width = 1, .times = &(double){0}, .values = &p};
    sim_model *m = hollow_sphere(halvings, a, b, soft);
    sim_world *w = open_world(m, SIM_IMPLICIT_EULER, 1, 1);
    run_world(w, 4);
    const double *q = sim_world_state(w)->q;
    double radius = 0;
    int n = m->soft[0].nnode / 2;
    for (int k = 0; k < n; k++) {
        radius += v3_norm((v3){q[3 * k], q[3 * k + 1], q[3 * k + 2]}) / n;
    }
    sim_world_free(w);
    sim_model_free(m);
    return (radius - a) / (p * a3 / (b3 - a3) * ((1 - 2 * nu) * a / E + (1 + nu) * b3 / (2 * E * a * a)));
}

/* One layer of linear tetrahedra: its stretch is even through the wall, and its faces are flat.  Both errors shrink
 * with the square of the edge: the limit and the order p of three meshes. */
static void expect_growth(double b, double nu, sim_soft_law law, double expected, double tolerance) {
    double k[3];
    for (int mesh = 0; mesh < 3; mesh++) {
        k[mesh] = growth_of_sphere(mesh + 1, 1, b, nu, law);
        if (is_part()) {
            return;
        }
    }
    double ratio = (k[0] - k[1]) / (k[1] - k[2]), order = log2(ratio), limit = k[2] - (k[1] - k[2]) / (ratio - 1);
    cr_expect_float_eq(order, 2, 0.2, "b = %g, nu = %g: order %g", b, nu, order);
    cr_expect_float_eq(limit, expected, tolerance, "b = %g, nu = %g: growth %g, %g, %g: limit %g", b, nu, k[0], k[1],
                       k[2], limit);
}

Test(chambers, thin_sphere_grows_as_laplace_says) {
    expect_growth(1.02, 0.3, SIM_NEO_HOOKEAN, 1, 0.01);
    expect_growth(1.02, 0, SIM_COROTATED, 1, 0.01);
}

/* A thin sphere that a step of 1 s blows up by a tenth and more: statics.  With the stiffness of the gas in A its Newton
 * steps converge, and near its greatest pressure as well; without it they creep or fail. */
Test(chambers, thin_sphere_is_blown_up_in_few_newton_steps) {
    static const double PRESSURE[2] = {4000, 6000};
    for (int k = 0; k < 2; k++) {
        sim_soft soft = sim_soft_default();
        soft.modulus = 1e6;
        soft.poisson = 0.3;
        soft.pressure = (sim_track){.keys = 1, .width = 1, .times = &(double){0}, .values = &PRESSURE[k]};
        sim_model *m = hollow_sphere(2, 1, 1.02, soft);
        sim_world *w = open_world(m, SIM_IMPLICIT_EULER, 1, 1);
        run_world(w, 1);
        const sim_step_info *info = sim_world_info(w);
        cr_expect(info->nonconverged == 0 && info->iterations <= 12, "%g Pa: %d iterations", PRESSURE[k],
                  info->iterations);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* ---- motion ---- */

/* m^3 of the chambers, by the divergence theorem. */
static double gas_volume(const sim_world *w) {
    const sim_model *m = sim_world_model(w);
    const sim_soft *s = &m->soft[0];
    double volume = 0;
    for (int k = s->nface - s->nchamber; k < s->nface; k++) {
        v3 x[3];
        for (int i = 0; i < 3; i++) {
            const double *q = sim_world_state(w)->q + m->body[s->body + 1 + s->face[k][i]].q0;
            x[i] = (v3){q[0], q[1], q[2]};
        }
        volume -= v3_dot(x[0], v3_cross(x[1], x[2])) / 6;
    }
    return volume;
}

/* A box of 5 x 3 x 3 cells of 1 cm with a chamber off its middle, free, that turns and moves. */
static sim_world *open_box(sim_integrator integrator, double step, const sim_track *pressure, sim_model **m) {
    sim_shape box = sim_shape_default();
    sim_soft_mesh mesh;
    sim_error error;
    box.type = SIM_BOX;
    box.size[0] = 0.05, box.size[1] = box.size[2] = 0.03;
    cr_assert_eq(sim_shape_soft_mesh(&box, 0.01, &mesh, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_soft_mesh_cut(&mesh, (v3){-0.015, -0.005, -0.005}, (v3){0.005, 0.005, 0.005}, &error), SIM_OK);
    sim_soft soft = sim_soft_default();
    soft.modulus = 2e4;
    soft.nnode = mesh.nnode, soft.node = mesh.node;
    soft.ntet = mesh.ntet, soft.tet = (const int(*)[4])mesh.tet;
    soft.pressure = *pressure;
    soft.v = (v3){0.1, 0, -0.2};
    soft.w = (v3){3, 5, -4};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_builder_add_soft(builder, &soft);
    *m = sim_builder_finish(builder, &error);
    cr_assert(*m, "%s", error.text);
    sim_soft_mesh_free(&mesh);
    return open_world(*m, integrator, step, 1);
}

static double total(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

/* Keys of a pressure that rises and falls, Pa over s. */
static const double TIMES[3] = {0, 0.01, 0.02}, PRESSURES[3] = {0, 4000, 1000};
static const sim_track GAS = {.interpolation = SIM_CUBIC, .keys = 3, .width = 1, .times = TIMES, .values = PRESSURES};

/* Energy gained less the integral of p dV, over the largest that was gained. */
static double lost_work(int steps) {
    sim_model *m;
    const double step = 0.02 / steps;
    sim_world *w = open_box(SIM_MIDPOINT, step, &GAS, &m);
    double before = total(w), work = 0, most = 0, p, volume = gas_volume(w);
    for (int k = 0; k < steps; k++) {
        run_world(w, 1);
        cr_assert_eq(sim_world_info(w)->nonconverged, 0, "step %d", k);
        sim_track_at(&GAS, (k + 0.5) * step, &p, NULL);
        work += p * (gas_volume(w) - volume);
        volume = gas_volume(w);
        most = fmax(most, total(w) - before);
    }
    double lost = total(w) - before - work;
    sim_world_free(w);
    sim_model_free(m);
    cr_assert_gt(most, 1e-4);
    return fabs(lost) / most;
}

Test(chambers, pressure_works_p_dv) {
    double coarse = lost_work(100), fine = is_part() ? 0 : lost_work(200);
    cr_expect(is_part() || fabs(log2(coarse / fine) - 2) < 0.2, "energy off by %g and %g of it", coarse, fine);
    cr_expect_lt(fine, 1e-3);
}

Test(chambers, pressure_keeps_momentum) {
    for (int scheme = 0; scheme < 2; scheme++) {
        sim_model *m;
        sim_world *w = open_box(scheme ? SIM_MIDPOINT : SIM_IMPLICIT_EULER, 2e-4, &GAS, &m);
        sim_force p0 = sim_world_momentum(w);
        run_world(w, 100);
        sim_force p1 = sim_world_momentum(w);
        double lin = v3_norm(v3_sub(p1.lin, p0.lin)) / v3_norm(p0.lin);
        double ang = v3_norm(v3_sub(p1.ang, p0.ang)) / v3_norm(p0.ang);
        cr_expect(lin < 1e-12, "scheme %d: momentum changes by %g of it", scheme, lin);
        cr_expect(ang < (scheme ? 1e-8 : 1e-2), "scheme %d: angular momentum changes by %g of it", scheme, ang);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* The potential of the line search in contact: elasticity less pressure times volume.  Its slope along a motion of the
 * nodes is that of differences, and the gas has a good part in both. */
Test(chambers, potential_of_a_search_has_the_slope_of_its_differences) {
    const double d = 1e-7;
    sim_model *m;
    const sim_track steady = {.keys = 1, .width = 1, .times = &(double){0}, .values = &(double){4000}};
    sim_world *w = open_box(SIM_IMPLICIT_EULER, 1e-3, &steady, &m);
    run_world(w, 20);
    random_source r = {3};
    double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
    for (int trial = 0; trial < 10; trial++) {
        double U[2], slope = 0, gas[2];
        for (int j = 0; j < m->nv; j++) {
            v[j] = random_normal(&r);
        }
        for (int side = 0; side < 2; side++) {
            for (int j = 0; j < m->nq; j++) {
                q[j] = sim_world_state(w)->q[j] + (side ? d : -d) * v[j];
            }
            U[side] = soft_newton_potential(&w->contacts, 0, q, NULL, NULL);
            gas[side] = 4000 * chamber_volume(m, &m->soft[0], q, NULL, NULL);
        }
        soft_newton_potential(&w->contacts, 0, sim_world_state(w)->q, v, &slope);
        double difference = (U[1] - U[0]) / (2 * d), of_gas = (gas[1] - gas[0]) / (2 * d);
        double size = fabs(difference) + fabs(of_gas);
        cr_expect_float_eq(slope, difference, 1e-6 * size, "%g, by differences %g", slope, difference);
        cr_expect_gt(fabs(of_gas), 1e-4 * size, "the gas does %g of %g", of_gas, difference);
    }
    free(q);
    free(v);
    sim_world_free(w);
    sim_model_free(m);
}
