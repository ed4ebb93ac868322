/* The first point of a ray on a shape, against the function that is negative inside: zero at the hit, of one sign before.
 *
 * The functions share no code with the library: solids by their definition, height fields by interpolation. */
#include "support/fields.h"
#include "support/meshes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/collide.h>

static const double sizes[3] = {0.3, 0.5, 0.7};

static double solid_value(const sim_shape *s, sim_v3 p) {
    double r = hypot(p.x, p.y), half = s->size[1] / 2;
    switch (s->type) {
    case SIM_SPHERE:
        return sqrt(r * r + p.z * p.z) - s->size[0];
    case SIM_CAPSULE:
        return hypot(r, fmax(fabs(p.z) - half, 0)) - s->size[0];
    case SIM_CYLINDER:
        return fmax(r - s->size[0], fabs(p.z) - half);
    case SIM_ELLIPSOID:
        return pow(p.x / s->size[0], 2) + pow(p.y / s->size[1], 2) + pow(p.z / s->size[2], 2) - 1;
    case SIM_HALF_SPACE:
        return p.z;
    default: /* a box, in any of its forms */
        return fmax(fmax(fabs(p.x) - sizes[0] / 2, fabs(p.y) - sizes[1] / 2), fabs(p.z) - sizes[2] / 2);
    }
}

enum { SAMPLES = 400 };

/* One ray: where it meets the surface, the function is zero, and nowhere before does it change its sign. */
static bool check_ray(const sim_shape *s, const sim_pose *X, sim_v3 o, sim_v3 d, double max) {
    double t = sim_ray_shape(s, X, o, d, max), end = fmin(t, max);
    double first = 0;
    for (int k = 0; k <= SAMPLES; k++) {
        double at = end * k / SAMPLES;
        sim_v3 p = {o.x + at * d.x - X->p.x, o.y + at * d.y - X->p.y, o.z + at * d.z - X->p.z};
        sim_v3 local = {X->R.x.x * p.x + X->R.x.y * p.y + X->R.x.z * p.z,
                        X->R.y.x * p.x + X->R.y.y * p.y + X->R.y.z * p.z,
                        X->R.z.x * p.x + X->R.z.y * p.y + X->R.z.z * p.z};
        double value = solid_value(s, local);
        first = k == 0 ? value : first;
        if (k == SAMPLES && isfinite(t)) {
            cr_assert(fabs(value) < 2e-9, "%s: %g at the hit", sim_shape_name(s->type), value);
        } else {
            cr_assert(value * first > 0 || fabs(value) < 1e-9, "%s: passed the surface at %g of %g",
                      sim_shape_name(s->type), at, end);
        }
    }
    return isfinite(t);
}

static void check_rays(const sim_shape *s, int least_hits) {
    random_source random = {7};
    int hits = 0;
    for (int k = 0; k < 600; k++) {
        sim_pose X = {random_rotation(&random), random_unit(&random)};
        sim_v3 to = random_unit(&random), d = random_unit(&random);
        double far = random_uniform(&random, 0, 1);
        sim_v3 o = {X.p.x + far * to.x, X.p.y + far * to.y, X.p.z + far * to.z};
        hits += check_ray(s, &X, o, d, k % 3 ? 10 : 0.4);
    }
    cr_assert(hits > least_hits, "%s: %d hits of 600", sim_shape_name(s->type), hits);
}

Test(rays, meet_solids_where_their_definition_says) {
    const sim_shape_type types[] = {SIM_SPHERE, SIM_BOX, SIM_CAPSULE, SIM_CYLINDER, SIM_ELLIPSOID, SIM_HALF_SPACE};
    for (int k = 0; k < 6; k++) {
        sim_shape s = sim_shape_default();
        s.type = types[k];
        for (int i = 0; i < 3; i++) {
            s.size[i] = sizes[i];
        }
        check_rays(&s, 150);
    }
}

Test(rays, meet_a_box_alike_as_hull_mesh_and_distance_field) {
    const sim_shape_type types[] = {SIM_CONVEX, SIM_MESH, SIM_SDF};
    sim_field_def def = field_box(sizes[0], sizes[1], sizes[2]);
    soup corners = soup_box(sizes[0], sizes[1], sizes[2]);
    sim_geometry *forms[] = {sim_geometry_hull(corners.vertex, corners.nvertex, NULL),
                             soup_geometry(soup_box(sizes[0], sizes[1], sizes[2])), field_geometry(&def, 0)};
    for (int k = 0; k < 3; k++) {
        sim_shape s = sim_shape_default();
        s.type = types[k];
        s.geometry = forms[k];
        check_rays(&s, 150);
        sim_geometry_free(forms[k]);
    }
    soup_free(&corners);
}

/* The height over (x, y), by the two triangles of its cell. */
static double height_at(const sim_heights *h, double x, double y) {
    double u = (x / h->size[0] + 0.5) * (h->columns - 1), v = (y / h->size[1] + 0.5) * (h->rows - 1);
    int i = (int)fmin(fmax(u, 0), h->columns - 2), j = (int)fmin(fmax(v, 0), h->rows - 2);
    double a = h->height[j * h->columns + i], b = h->height[j * h->columns + i + 1];
    double c = h->height[(j + 1) * h->columns + i], d = h->height[(j + 1) * h->columns + i + 1];
    u -= i;
    v -= j;
    return u > v ? a + u * (b - a) + v * (d - b) : a + v * (c - a) + u * (d - c);
}

Test(rays, meet_a_height_field_on_its_triangles) {
    enum { COLUMNS = 30, ROWS = 21 };
    double height[COLUMNS * ROWS];
    random_source random = {3};
    for (int k = 0; k < COLUMNS * ROWS; k++) {
        height[k] = random_uniform(&random, 0, 0.2);
    }
    sim_geometry *g = sim_geometry_heights(COLUMNS, ROWS, (double[]){3, 2}, height, NULL);
    sim_shape s = sim_shape_default();
    sim_pose at = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    s.type = SIM_HEIGHT_FIELD;
    s.geometry = g;
    for (int k = 0; k < 3000; k++) {
        /* from above to a point inside the rectangle: it must meet the surface on the way */
        sim_v3 o = {random_uniform(&random, -1.4, 1.4), random_uniform(&random, -0.9, 0.9), 1};
        sim_v3 e = {random_uniform(&random, -1.4, 1.4), random_uniform(&random, -0.9, 0.9), -0.1};
        double length = sqrt(pow(e.x - o.x, 2) + pow(e.y - o.y, 2) + pow(e.z - o.z, 2));
        sim_v3 d = {(e.x - o.x) / length, (e.y - o.y) / length, (e.z - o.z) / length};
        double t = sim_ray_shape(&s, &at, o, d, 10);
        cr_assert(t < length, "ray %d passed through", k);
        cr_assert_float_eq(o.z + t * d.z, height_at(g->heights, o.x + t * d.x, o.y + t * d.y), 1e-12);
        for (int i = 0; i < 200; i++) {
            double before = t * i / 200;
            cr_assert(o.z + before * d.z > height_at(g->heights, o.x + before * d.x, o.y + before * d.y) - 1e-12);
        }
    }
    /* beside it there is nothing */
    cr_expect_eq(sim_ray_shape(&s, &at, (sim_v3){1.6, 0, 1}, (sim_v3){0, 0, -1}, 10), INFINITY);
    sim_geometry_free(g);
}

Test(rays, meet_curved_meshes_and_fields_as_the_sphere_that_they_stand_for) {
    sim_field_def def = field_sphere(0.5);
    sim_geometry *field = field_geometry(&def, 0), *mesh = soup_geometry(soup_sphere(0.5, 4));
    sim_shape exact = sim_shape_default(), round = exact, fine = exact;
    sim_pose at = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    random_source random = {11};
    exact.size[0] = 0.5;
    round.type = SIM_SDF;
    round.geometry = field;
    fine.type = SIM_MESH;
    fine.geometry = mesh;
    for (int k = 0; k < 500; k++) {
        sim_v3 o = random_unit(&random), e = random_unit(&random);
        sim_v3 d = {0.4 * e.x - o.x, 0.4 * e.y - o.y, 0.4 * e.z - o.z};
        double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        d = (sim_v3){d.x / length, d.y / length, d.z / length};
        double t = sim_ray_shape(&exact, &at, o, d, 10);
        cr_assert_float_eq(sim_ray_shape(&round, &at, o, d, 10), t, 1e-8);
        cr_assert_float_eq(sim_ray_shape(&fine, &at, o, d, 10), t, 5e-3);
    }
    sim_geometry_free(field);
    sim_geometry_free(mesh);
}

Test(rays, through_a_model_meet_the_nearest_shape_with_contacts_of_another_body) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(1, 1, 1, 1);
    sim_shape ball = sim_shape_default();
    for (int k = 0; k < 4; k++) {
        ball.pose.p.x = k;
        ball.body = sim_builder_add_body(b, &def);
        ball.group = k == 1 ? 0 : 1;
        sim_builder_add_shape(b, &ball);
    }
    sim_model *m = sim_builder_finish(b, NULL);
    sim_derived *d = sim_derived_create(m, NULL);
    sim_kinematics(d, sim_all(m), m->q_initial);
    int shape = -1;
    cr_expect_float_eq(sim_ray_model(m, d->pose, 1, (sim_v3){0, 0, 0}, (sim_v3){1, 0, 0}, 10, &shape), 1.9, 1e-14);
    cr_expect_eq(shape, 2);
    cr_expect_float_eq(sim_ray_model(m, d->pose, 3, (sim_v3){0.5, 0, 0}, (sim_v3){1, 0, 0}, 10, &shape), 2.4, 1e-14);
    cr_expect_eq(sim_ray_model(m, d->pose, 1, (sim_v3){0, 0, 0}, (sim_v3){1, 0, 0}, 1.8, &shape), INFINITY);
    sim_derived_free(d);
    sim_model_free(m);
}
