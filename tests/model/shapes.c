/* Closed forms of mass properties against sums over a fine lattice of points. */
#include <criterion/criterion.h>
#include <math.h>
#include <sim/model.h>

static sim_inertia inertia_of(sim_shape_type type, const double size[3], double density) {
    sim_shape shape = {.type = type, .size = {size[0], size[1], size[2]}};
    return sim_shape_inertia(&shape, density);
}

static int inside(sim_shape_type type, const double s[3], double x, double y, double z) {
    double r2 = x * x + y * y, end;
    switch (type) {
    case SIM_SPHERE:
        return r2 + z * z < s[0] * s[0];
    case SIM_BOX:
        return fabs(x) < s[0] / 2 && fabs(y) < s[1] / 2 && fabs(z) < s[2] / 2;
    case SIM_CAPSULE:
        end = fmax(0, fabs(z) - s[1] / 2);
        return r2 + end * end < s[0] * s[0];
    case SIM_CYLINDER:
        return r2 < s[0] * s[0] && fabs(z) < s[1] / 2;
    default:
        return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) < 1;
    }
}

/* Midpoint rule on n^3 cells of a cube of half edge h. */
static sim_inertia by_quadrature(sim_shape_type type, const double s[3], double density, double h, int n) {
    sim_inertia sum = {0};
    double cell = 2 * h / n, m = density * cell * cell * cell;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                double x = (i + 0.5) * cell - h, y = (j + 0.5) * cell - h, z = (k + 0.5) * cell - h;
                if (inside(type, s, x, y, z)) {
                    sum.mass += m;
                    sum.moment.xx += m * (y * y + z * z);
                    sum.moment.yy += m * (x * x + z * z);
                    sum.moment.zz += m * (x * x + y * y);
                }
            }
        }
    }
    return sum;
}

static void close_to(double exact, double sum, const char *what, sim_shape_type type) {
    cr_assert(fabs(exact - sum) < 4e-3 * exact, "%s of a %s: %g, by quadrature %g", what, sim_shape_name(type), exact,
              sum);
}

Test(shapes, mass_properties_equal_quadrature) {
    static const struct {
        sim_shape_type type;
        double size[3];
    } shape[] = {{SIM_SPHERE, {0.9, 0, 0}},     {SIM_BOX, {0.8, 1.2, 1.6}},       {SIM_CAPSULE, {0.4, 0.9, 0}},
                 {SIM_CYLINDER, {0.5, 1.6, 0}}, {SIM_ELLIPSOID, {0.5, 0.7, 0.9}}, {SIM_CYLINDER, {0.9, 0.4, 0}}};
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        sim_inertia a = inertia_of(shape[i].type, shape[i].size, 3);
        sim_inertia b = by_quadrature(shape[i].type, shape[i].size, 3, 1, 200);
        close_to(a.mass, b.mass, "mass", shape[i].type);
        close_to(a.moment.xx, b.moment.xx, "xx", shape[i].type);
        close_to(a.moment.yy, b.moment.yy, "yy", shape[i].type);
        close_to(a.moment.zz, b.moment.zz, "zz", shape[i].type);
        cr_assert(a.moment.xy == 0 && a.moment.xz == 0 && a.moment.yz == 0 && a.com.x == 0 && a.com.y == 0 &&
                  a.com.z == 0);
        cr_assert_eq(sim_inertia_check(&a, NULL), SIM_OK);
    }
}

Test(shapes, limits_of_a_capsule_are_a_ball_and_a_rod) {
    const double short_size[3] = {0.5, 1e-12, 0}, ball_size[3] = {0.5, 0, 0};
    sim_inertia capsule = inertia_of(SIM_CAPSULE, short_size, 1), ball = inertia_of(SIM_SPHERE, ball_size, 1);
    cr_assert_float_eq(capsule.mass, ball.mass, 1e-9);
    cr_assert_float_eq(capsule.moment.xx, ball.moment.xx, 1e-9);
    const double long_size[3] = {1e-4, 2, 0};
    sim_inertia rod = inertia_of(SIM_CAPSULE, long_size, 1);
    cr_assert_float_eq(rod.moment.xx / rod.mass, 4 / 12.0, 1e-3);
}

Test(shapes, a_half_space_weighs_nothing) { cr_assert_eq(inertia_of(SIM_HALF_SPACE, (double[3]){0}, 1000).mass, 0); }

Test(shapes, have_the_names_that_scenes_spell) {
    cr_assert_str_eq(sim_shape_name(SIM_SPHERE), "sphere");
    cr_assert_str_eq(sim_shape_name(SIM_HALF_SPACE), "half_space");
    cr_assert_str_eq(sim_shape_name(SIM_SHAPE_TYPES), "?");
}
