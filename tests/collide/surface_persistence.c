/* Contacts on surfaces of triangles that stay the same from step to step, whatever triangles they move across. */
#include "collide/mesh/surface.h"
#include "collide/support.h"
#include "math/spatial.h"
#include "support/meshes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5000, MOST = 64 };

typedef enum ground { FLOOR, TWO_TRIANGLES, BLOCK, FLAT_FIELD, SLOPING_FIELD, GROUNDS } ground;
static const char *const ground_name[GROUNDS] = {"a floor of triangles", "a floor of two triangles",
                                                 "the top of a closed mesh", "a flat height field",
                                                 "a height field that slopes"};
static const double SLOPE = 0.25;

/* A closed mesh with a hole through it, so that it is no hull, whose top is one flat ring in many triangles. */
static sim_geometry *block_with_hole(void) {
    enum { AROUND = 24 };
    soup s = {.nvertex = 4 * AROUND,
              .ntriangle = 8 * AROUND,
              .vertex = malloc(4 * AROUND * sizeof(v3)),
              .triangle = malloc(8 * AROUND * sizeof(int[3]))};
    const double radius[4] = {0.05, 1.5, 1.5, 0.05}, height[4] = {0, 0, -0.5, -0.5};
    for (int k = 0; k < AROUND; k++) {
        double turn = 2 * M_PI * k / AROUND;
        for (int i = 0; i < 4; i++) {
            int a = 4 * k + i, b = 4 * k + (i + 1) % 4, c = 4 * ((k + 1) % AROUND) + i,
                d = 4 * ((k + 1) % AROUND) + (i + 1) % 4;
            s.vertex[a] = v3_make(radius[i] * cos(turn), radius[i] * sin(turn), height[i]);
            memcpy(s.triangle[2 * a], (int[3]){a, b, d}, sizeof(int[3]));
            memcpy(s.triangle[2 * a + 1], (int[3]){a, d, c}, sizeof(int[3]));
        }
    }
    return soup_geometry(s);
}

static sim_geometry *ground_of(ground g) {
    enum { N = 81 };
    static double height[N * N];
    const double size[2] = {3, 3};
    switch (g) {
    case FLOOR:
        return soup_geometry(soup_plane(3, 3, 60, 60));
    case TWO_TRIANGLES:
        return soup_geometry(soup_plane(3, 3, 1, 1));
    case BLOCK:
        return block_with_hole();
    default:
        for (int k = 0; k < N * N; k++) {
            height[k] = g == FLAT_FIELD ? 0 : SLOPE * 3 * ((k % N) / (N - 1.0) - 0.5);
        }
        return sim_geometry_heights(N, N, size, height, NULL);
    }
}

static pose tilt(ground g) {
    pose X = {m3_axis_angle(v3_make(0, 1, 0), g == SLOPING_FIELD ? -atan(SLOPE) : 0), {0, 0, 0}};
    return X;
}

/* The shape on the ground: its body is number 1. */
static stage stage_on(ground g, const sim_shape *shape) {
    sim_builder *b = sim_builder_create();
    sim_shape below = plain_shape(g < FLAT_FIELD ? SIM_MESH : SIM_HEIGHT_FIELD, 0, 0, 0);
    below.geometry = sim_builder_add_geometry(b, ground_of(g));
    sim_builder_add_shape(b, &below);
    add_solid(b, "thing", shape, (sim_v3){0, 0, 1}, 0);
    return stage_create(finished(b), NAN, 1);
}

/* Where the thing stands `height` over the ground at x, y, turned. */
static pose standing(ground g, double x, double y, double height, double turn) {
    pose X = {m3_axis_angle(v3_make(0, 0, 1), turn), {x, y, height}};
    return pose_product(tilt(g), X);
}

static void different(const stage *s) {
    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < i; j++) {
            cr_assert(s->contact[i].at.feature != s->contact[j].at.feature);
        }
    }
}

static void jitter(random_source *r, sim_pose *X, double noise) {
    X->p = v3_axpy(X->p, random_uniform(r, -noise, noise), random_unit(r));
    X->R = m3_product(m3_axis_angle(random_unit(r), random_uniform(r, -noise, noise)), X->R);
}

/* `slide`: how far it moves along the ground in all. */
static void keeps_features(ground g, const sim_shape *shape, double half_height, double slide, int expected) {
    stage s = stage_on(g, shape);
    random_source r = {23};
    uint64_t feature[MOST];
    for (int step = 0; step < STEPS; step++) {
        double way = slide * (step / (STEPS - 1.0) - 0.5);
        s.pose[1] = standing(g, 0.8 * way + 0.3, 0.6 * way + 0.41, half_height - 1e-5, 0.3);
        jitter(&r, &s.pose[1], 1e-6);
        stage_look(&s, 1);
        cr_assert_eq(s.count, expected, "on %s, step %d: %d contacts", ground_name[g], step, s.count);
        different(&s);
        for (int k = 0; k < s.count; k++) {
            feature[k] = step ? feature[k] : s.contact[k].at.feature;
            cr_assert_eq(s.contact[k].at.feature, feature[k], "on %s, step %d, contact %d: %llx became %llx",
                         ground_name[g], step, k, (unsigned long long)feature[k],
                         (unsigned long long)s.contact[k].at.feature);
        }
    }
    stage_free(&s);
}

Test(surface_persistence, a_box_at_rest_on_triangles_keeps_four_features) {
    sim_shape box = box_shape(0.2, 0.3, 0.1);
    for (int g = 0; g < GROUNDS; g++) {
        keeps_features((ground)g, &box, 0.05, 0, 4);
    }
}

Test(surface_persistence, a_box_that_slides_over_their_borders_does_so_too) {
    sim_shape box = box_shape(0.2, 0.3, 0.1);
    for (int g = 0; g < GROUNDS; g++) {
        keeps_features((ground)g, &box, 0.05, 0.5, 4);
    }
}

Test(surface_persistence, a_ball_keeps_one_feature_and_a_capsule_two) {
    sim_shape ball = sphere_shape(0.1), capsule = plain_shape(SIM_CAPSULE, 0.05, 0.3, 0);
    for (int g = 0; g < GROUNDS; g++) {
        keeps_features((ground)g, &ball, 0.1, 0.5, 1);
        stage s = stage_on((ground)g, &capsule);
        uint64_t feature[2] = {0, 0};
        for (int step = 0; step < STEPS; step++) {
            double way = 0.5 * (step / (STEPS - 1.0) - 0.5);
            s.pose[1] = standing((ground)g, 0.8 * way + 0.3, 0.6 * way + 0.41, 0.05 - 1e-5, 0.3);
            s.pose[1].R = m3_product(s.pose[1].R, m3_axis_angle(v3_make(1, 0, 0), 0.5 * M_PI));
            stage_look(&s, 1);
            cr_assert_eq(s.count, 2, "on %s, step %d: %d", ground_name[g], step, s.count);
            for (int k = 0; k < 2; k++) {
                feature[k] = step ? feature[k] : s.contact[k].at.feature;
                cr_assert_eq(s.contact[k].at.feature, feature[k], "on %s, step %d", ground_name[g], step);
            }
        }
        stage_free(&s);
    }
}

/* A body with its middle before an open surface is held, though half of it is behind. */
Test(surface_persistence, what_is_half_way_through_an_open_floor_is_pushed_back_up) {
    const sim_shape thing[3] = {box_shape(0.2, 0.3, 0.1), sphere_shape(0.1), box_shape(0.3, 0.3, 0.02)};
    const double half_height[3] = {0.05, 0.1, 0.01};
    for (int k = 0; k < 3; k++) {
        for (int g = 0; g < GROUNDS; g++) {
            stage s = stage_on((ground)g, &thing[k]);
            v3 up = tilt((ground)g).R.z;
            for (int step = 0; step <= 20; step++) {
                double depth = 0.999 * half_height[k] * step / 20;
                s.pose[1] = standing((ground)g, 0.31, 0.42, half_height[k] - depth, 0.3);
                stage_look(&s, 0);
                cr_assert_gt(s.count, 0, "thing %d, %g deep in %s", k, depth, ground_name[g]);
                for (int c = 0; c < s.count; c++) {
                    cr_assert_float_eq(s.contact[c].at.gap, -depth, 1e-9, "thing %d in %s: %g, not %g", k,
                                       ground_name[g], s.contact[c].at.gap, -depth);
                    double along = fabs(v3_dot(s.contact[c].at.normal, up));
                    cr_assert_float_eq(along, 1, 1e-12, "thing %d, %g deep in %s: off by %g", k, depth, ground_name[g],
                                       1 - along);
                }
            }
            stage_free(&s);
        }
    }
}

/* A torus in bent triangles: as many numbers as there are vertices, edges and faces, whichever triangle names them. */
Test(surface_feature, names_each_vertex_edge_and_face_once) {
    random_source r = {5};
    soup bent = soup_torus(0.5, 0.2, 7, 5);
    for (int k = 0; k < bent.nvertex; k++) { /* no two triangles in one plane */
        bent.vertex[k] = v3_scale(random_uniform(&r, 0.95, 1.05), bent.vertex[k]);
    }
    sim_geometry *torus = soup_geometry(bent);
    surface s = surface_of(torus);
    const int faces = surface_triangles(&s), vertices = torus->mesh->nvertex, edges = faces * 3 / 2;
    const int due = faces + vertices + edges; /* Euler: vertices - edges + faces = 0 */
    uint32_t *named = calloc((size_t)due, sizeof *named);
    int count = 0;
    for (int t = 0; t < faces; t++) {
        for (int feature = 0; feature < 7; feature++) {
            uint32_t name = surface_feature(&s, t, feature);
            int k = 0;
            while (k < count && named[k] != name) {
                k++;
            }
            cr_assert_lt(k, due, "more names than features");
            named[k] = name;
            count = k == count ? count + 1 : count;
            int found[16], around = surface_faces_at(&s, t, feature, found, 16);
            cr_expect_eq(around, feature == 0 ? 1 : feature < 4 ? 2 : 6, "%d triangles at feature %d", around, feature);
        }
    }
    cr_expect_eq(count, due, "%d names of %d features", count, due);
    cr_expect_eq(vertices - edges + faces, 0);
    free(named);
    sim_geometry_free(torus);
}
