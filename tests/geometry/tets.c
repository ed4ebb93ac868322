/* Soft solids: tetrahedra fill the solid once, and their extent is linear in each. */
#include "math/spatial.h"
#include "support/models.h"

#include <criterion/criterion.h>

static sim_shape solid(sim_shape_type type, double a, double b, double c) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = a, s.size[1] = b, s.size[2] = c;
    return s;
}

static sim_geometry *soft(const sim_shape *shape, double edge) {
    sim_error error = {0};
    sim_geometry *g = sim_shape_pressure(shape, edge, &error);
    cr_assert(g, "%s", error.text);
    cr_assert_eq(g->type, SIM_GEOMETRY_TETS);
    return g;
}

static double volume_of(const sim_tets *t, int k) {
    const int *i = t->tet[k];
    v3 a = t->vertex[i[0]];
    return v3_dot(v3_cross(v3_sub(t->vertex[i[1]], a), v3_sub(t->vertex[i[2]], a)), v3_sub(t->vertex[i[3]], a)) / 6;
}

static void mass_agrees(const sim_inertia *a, const sim_inertia *b, double tolerance) {
    double size2 = (b->moment.xx + b->moment.yy + b->moment.zz) / b->mass;
    cr_expect_float_eq(a->mass, b->mass, tolerance * b->mass, "mass %.9g, due %.9g", a->mass, b->mass);
    cr_expect(v3_norm(v3_sub(a->com, b->com)) <= tolerance * sqrt(size2));
    cr_expect_float_eq(a->moment.xx, b->moment.xx, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.yy, b->moment.yy, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.zz, b->moment.zz, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.xy, b->moment.xy, tolerance * b->mass * size2);
}

Test(tets, flat_solids_are_filled_exactly_and_round_ones_to_second_order) {
    random_source r = {1};
    sim_v3 cloud[20];
    for (int k = 0; k < 20; k++) {
        cloud[k] = v3_scale(0.1, random_unit(&r));
    }
    sim_geometry *hull = sim_geometry_hull(cloud, 20, NULL);
    sim_shape exact[] = {solid(SIM_BOX, 0.3, 0.2, 0.1), solid(SIM_BOX, 0.1, 0.1, 0.1), solid(SIM_CONVEX, 0, 0, 0)};
    exact[2].geometry = hull;
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = soft(&exact[k], 0.07);
        sim_inertia due = sim_shape_inertia(&exact[k], 1);
        mass_agrees(&g->solid, &due, 1e-12);
        sim_geometry_free(g);
    }
    const sim_shape round[] = {solid(SIM_SPHERE, 0.1, 0, 0), solid(SIM_ELLIPSOID, 0.1, 0.05, 0.07),
                               solid(SIM_CYLINDER, 0.1, 0.05, 0), solid(SIM_CYLINDER, 0.03, 0.2, 0),
                               solid(SIM_CAPSULE, 0.05, 0.1, 0)};
    for (int k = 0; k < 5; k++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            sim_geometry *g = soft(&round[k], fine ? 0.01 : 0.02);
            sim_inertia due = sim_shape_inertia(&round[k], 1);
            error[fine] = fabs(g->solid.moment.xx / due.moment.xx - 1) + fabs(g->solid.mass / due.mass - 1);
            sim_geometry_free(g);
        }
        cr_expect(error[1] < 0.02, "%s %d: %g", sim_shape_name(round[k].type), k, error[1]);
        cr_expect(error[1] < 0.45 * error[0], "%s %d: %g, then %g", sim_shape_name(round[k].type), k, error[0],
                  error[1]);
    }
    sim_geometry_free(hull);
}

/* Of a box and a sphere the extent is the depth below the nearest side over the greatest depth. */
Test(tets, extent_is_depth_over_the_greatest_depth) {
    const sim_shape shape[] = {solid(SIM_BOX, 0.3, 0.2, 0.1), solid(SIM_CYLINDER, 0.1, 0.06, 0),
                               solid(SIM_CYLINDER, 0.04, 0.2, 0)};
    random_source r = {2};
    for (int s = 0; s < 3; s++) {
        sim_geometry *g = soft(&shape[s], 0.013);
        const sim_tets *t = g->tets;
        const double *size = shape[s].size;
        double worst = 0;
        for (int k = 0; k < t->ntet; k++) {
            cr_assert(volume_of(t, k) > 0);
            /* a point at random */
            double w[4], sum = 0, extent = 0;
            v3 x = {0, 0, 0};
            for (int i = 0; i < 4; i++) {
                sum += w[i] = random_uniform(&r, 0.01, 1);
            }
            for (int i = 0; i < 4; i++) {
                x = v3_axpy(x, w[i] / sum, t->vertex[t->tet[k][i]]);
                extent += w[i] / sum * t->extent[t->tet[k][i]];
            }
            cr_assert_float_eq(t->level[k] + v3_dot(t->slope[k], x), extent, 1e-12);
            /* depth: of a cylinder below its facets, within the height of a facet */
            double depth, most, slack = 1e-12;
            if (shape[s].type == SIM_BOX) {
                depth = fmin(size[0] / 2 - fabs(x.x), fmin(size[1] / 2 - fabs(x.y), size[2] / 2 - fabs(x.z)));
                most = 0.05;
            } else {
                depth = fmin(size[0] - hypot(x.x, x.y), size[1] / 2 - fabs(x.z));
                most = fmin(size[0], size[1] / 2);
                slack = 0.02;
            }
            worst = fmax(worst, fabs(extent - depth / most) - slack);
        }
        cr_expect(worst <= 0, "shape %d: %g", s, worst);
        sim_geometry_free(g);
    }
}

Test(tets, bad_tetrahedra_are_refused) {
    sim_v3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
    const double extent[5] = {0, 0, 0, 1, 0};
    const int turned[1][4] = {{1, 0, 2, 3}}, flat[1][4] = {{0, 1, 2, 4}}, far[1][4] = {{0, 1, 2, 9}};
    sim_error error;
    sim_geometry *g = sim_geometry_tets(x, 5, turned, 1, extent, &error);
    cr_assert(g && volume_of(g->tets, 0) > 0);
    cr_expect_float_eq(g->tets->slope[0].z, 1, 1e-15);
    sim_geometry_free(g);
    cr_expect(!sim_geometry_tets(x, 5, flat, 1, extent, &error));
    cr_expect_str_eq(error.text, "none of the 1 tetrahedra has a volume");
    cr_expect(!sim_geometry_tets(x, 5, far, 1, extent, &error));
    cr_expect_str_eq(error.text, "tetrahedron 0 names vertex 9; there are 5 vertices");
    x[2].y = NAN;
    cr_expect(!sim_geometry_tets(x, 5, turned, 1, extent, &error));
    sim_shape plane = solid(SIM_HALF_SPACE, 0, 0, 0), ball = solid(SIM_SPHERE, 1, 0, 0);
    cr_expect(!sim_shape_pressure(&plane, 0, &error));
    cr_expect_str_eq(error.text, "a pressure field needs a convex solid, not a half_space");
    cr_expect(!sim_shape_pressure(&ball, 1e-4, &error));
    cr_expect_eq(error.status, SIM_BAD_INPUT);
}
