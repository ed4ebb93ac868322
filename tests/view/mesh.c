/* Triangles that stand for shapes: they enclose the solid's volume, face outwards, leave no hole, and lie on the
 * surface. */
#include "view/mesh/mesh.h"
#include "math/v3.h"
#include "view/mesh/extent.h"
#include "view/mesh/soft.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static v3 corner(const view_mesh *mesh, int t, int k) {
    const float *p = mesh->position[mesh->triangle[t][k]];
    return v3_make(p[0], p[1], p[2]);
}

/* Divergence theorem: the volume under each triangle seen from the origin. */
static double volume(const view_mesh *mesh) {
    double sum = 0;
    for (int t = 0; t < mesh->ntriangle; t++) {
        sum += v3_dot(corner(mesh, t, 0), v3_cross(corner(mesh, t, 1), corner(mesh, t, 2))) / 6;
    }
    return sum;
}

/* The area vectors of a closed surface add up to zero. */
static double gap(const view_mesh *mesh) {
    v3 sum = {0, 0, 0};
    double all = 0;
    for (int t = 0; t < mesh->ntriangle; t++) {
        v3 a = corner(mesh, t, 0), area = v3_cross(v3_sub(corner(mesh, t, 1), a), v3_sub(corner(mesh, t, 2), a));
        sum = v3_add(sum, area);
        all += v3_norm(area);
    }
    return v3_norm(sum) / all;
}

static void cr_check(const view_mesh *mesh, double expected, double tolerance) {
    cr_assert_not_null(mesh);
    cr_assert_float_eq(volume(mesh), expected, tolerance * expected, "%g", volume(mesh) / expected);
    cr_assert_lt(gap(mesh), 1e-6);
    for (int t = 0; t < mesh->ntriangle; t++) {
        v3 a = corner(mesh, t, 0), area = v3_cross(v3_sub(corner(mesh, t, 1), a), v3_sub(corner(mesh, t, 2), a));
        cr_assert_gt(v3_norm(area), 0, "triangle %d has no area", t);
        for (int k = 0; k < 3; k++) {
            const float *n = mesh->normal[mesh->triangle[t][k]];
            v3 normal = v3_make(n[0], n[1], n[2]);
            cr_assert_float_eq(v3_norm(normal), 1, 1e-5);
            cr_assert_gt(v3_dot(normal, area), 0.75 * v3_norm(area), "triangle %d against its normal", t);
        }
    }
}

static void round_trip(sim_shape_type type, double x, double y, double z, double expected, double tolerance) {
    sim_shape shape = {.type = type, .size = {x, y, z}};
    view_mesh *mesh = view_mesh_create(&shape, 96);
    cr_check(mesh, expected, tolerance);
    view_mesh_free(mesh);
}

Test(mesh, encloses_the_volume_of_each_primitive) {
    round_trip(SIM_SPHERE, 0.3, 0, 0, 4 * pi / 3 * 0.027, 3e-3);
    round_trip(SIM_ELLIPSOID, 0.3, 0.1, 0.2, 4 * pi / 3 * 0.006, 3e-3);
    round_trip(SIM_BOX, 0.3, 0.1, 0.2, 0.006, 1e-6);
    round_trip(SIM_CYLINDER, 0.3, 0.1, 0, pi * 0.009, 3e-3);
    round_trip(SIM_CAPSULE, 0.3, 0.1, 0, pi * 0.009 + 4 * pi / 3 * 0.027, 3e-3);
}

Test(mesh, converges_to_a_sphere_by_the_square_of_the_detail) {
    sim_shape shape = {.type = SIM_SPHERE, .size = {1}};
    double missing[2];
    for (int k = 0; k < 2; k++) {
        view_mesh *mesh = view_mesh_create(&shape, 32 << k);
        missing[k] = 4 * pi / 3 - volume(mesh);
        view_mesh_free(mesh);
    }
    cr_assert_float_eq(missing[0] / missing[1], 4, 0.05);
}

Test(mesh, of_an_ellipsoid_has_the_normals_of_its_gradient) {
    sim_shape shape = {.type = SIM_ELLIPSOID, .size = {0.5, 0.1, 0.2}};
    view_mesh *mesh = view_mesh_create(&shape, 16);
    for (int i = 0; i < mesh->nvertex; i++) {
        const float *p = mesh->position[i], *n = mesh->normal[i];
        v3 slope = v3_make(p[0] / 0.25, p[1] / 0.01, p[2] / 0.04);
        cr_assert_gt(v3_dot(slope, v3_make(n[0], n[1], n[2])), 0.9999 * v3_norm(slope));
    }
    view_mesh_free(mesh);
}

/* A prism of n sides: its mantle looks round from the number on at which sides lean less than the crease, its ends
 * never. */
static sim_geometry *prism(int n) {
    sim_v3 *point = calloc(2 * (size_t)n, sizeof *point);
    for (int k = 0; k < 2 * n; k++) {
        point[k] = v3_make(cos(2 * pi * k / n), sin(2 * pi * k / n), k < n ? -1 : 1);
    }
    sim_geometry *geometry = sim_geometry_hull(point, 2 * n, NULL);
    free(point);
    return geometry;
}

static double prism_volume(int n) { return n * sin(2 * pi / n); }

Test(mesh, of_a_hull_is_flat_faced_and_exact) {
    sim_geometry *geometry = prism(7);
    sim_shape shape = {.type = SIM_CONVEX, .geometry = geometry};
    view_mesh *mesh = view_mesh_create(&shape, 8);
    cr_check(mesh, prism_volume(7), 1e-6);
    cr_assert_eq(mesh->nvertex, 2 * 7 + 4 * 7);
    view_mesh_free(mesh);
    sim_geometry_free(geometry);
}

Test(mesh, smooths_what_leans_little_and_keeps_edges) {
    for (int n = 6; n <= 24; n *= 4) {
        sim_geometry *hull = prism(n);
        sim_shape shape = {.type = SIM_MESH, .geometry = hull}; /* the faces of a hull are there as triangles too */
        view_mesh *mesh = view_mesh_create(&shape, 8);
        cr_check(mesh, prism_volume(n), 1e-6);
        cr_assert_eq(mesh->nvertex, n > 10 ? 4 * n : 6 * n, "%d corners of %d sides", mesh->nvertex, n);
        view_mesh_free(mesh);
        sim_geometry_free(hull);
    }
}

Test(mesh, of_a_distance_field_lies_on_its_surface) {
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_CYLINDER;
    def.size[0] = 0.1;
    def.size[1] = 0.3;
    sim_geometry *geometry = sim_geometry_field(&def, 0, NULL, NULL);
    sim_shape shape = {.type = SIM_SDF, .geometry = geometry};
    view_mesh *mesh = view_mesh_create(&shape, 8);
    for (int i = 0; i < mesh->nvertex; i++) {
        const float *p = mesh->position[i];
        cr_assert_lt(fabs(sim_field_distance(geometry->field, v3_make(p[0], p[1], p[2]), NULL)), 1e-3);
    }
    cr_assert_float_eq(volume(mesh), pi * 0.003, 0.01 * pi * 0.003);
    view_mesh_free(mesh);
    sim_geometry_free(geometry);
}

/* A bowl with walls of 8 mm and triangles of 20 mm for its contacts, which leave holes in it.  Its mass comes from the field
 * itself. */
Test(mesh, of_a_coarse_distance_field_has_no_holes) {
    const double line[3][2] = {{0, 0}, {0.05, 0}, {0.1, 0.06}};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = line;
    def.npoint = 3;
    def.thickness = 0.004;
    sim_geometry *coarse = sim_geometry_field(&def, 0.02, NULL, NULL), *fine = sim_geometry_field(&def, 0, NULL, NULL);
    sim_shape shape = {.type = SIM_SDF, .geometry = coarse};
    view_mesh *mesh = view_mesh_create(&shape, 8);
    cr_assert_float_eq(volume(mesh), coarse->solid.mass, 0.02 * coarse->solid.mass, "%g of %g m^3", volume(mesh),
                       coarse->solid.mass);
    cr_assert_lt(gap(mesh), 1e-6);
    cr_assert_eq(mesh->ntriangle, fine->mesh->ntriangle);
    view_mesh_free(mesh);
    sim_geometry_free(coarse);
    sim_geometry_free(fine);
}

Test(mesh, of_a_height_field_passes_through_its_heights_and_faces_up) {
    const double height[] = {0, 1, 2, 0.5, 1.5, 2.5},
                 size[] = {4, 3}; /* the plane 0.5 x / dx + ... of slope 1/2, 1/6 */
    sim_geometry *geometry = sim_geometry_heights(3, 2, size, height, NULL);
    sim_shape shape = {.type = SIM_HEIGHT_FIELD, .geometry = geometry};
    view_mesh *mesh = view_mesh_create(&shape, 8);
    cr_assert_eq(mesh->ntriangle, 4);
    v3 normal = v3_make(-0.5, -0.5 / 3, 1);
    for (int i = 0; i < mesh->nvertex; i++) {
        const float *p = mesh->position[i], *n = mesh->normal[i];
        cr_assert_float_eq(p[2], 1 + 0.5 * p[0] + 0.5 / 3 * (p[1] + 1.5), 1e-6);
        cr_assert_float_eq(v3_dot(normal, v3_make(n[0], n[1], n[2])), v3_norm(normal), 1e-6);
    }
    for (int t = 0; t < mesh->ntriangle; t++) {
        v3 a = corner(mesh, t, 0);
        cr_assert_gt(v3_cross(v3_sub(corner(mesh, t, 1), a), v3_sub(corner(mesh, t, 2), a)).z, 0);
    }
    view_mesh_free(mesh);
    sim_geometry_free(geometry);
}

/* A soft box: each of its eight corners stands there for three faces, edges for two, and so it keeps its creases when it
 * is sheared; its volume is that of the tetrahedra. */
Test(mesh, of_a_soft_box_follows_its_nodes_and_keeps_its_edges) {
    sim_shape shape = sim_shape_default();
    sim_soft_mesh tets;
    sim_error error;
    shape.type = SIM_BOX;
    shape.size[0] = 3, shape.size[1] = 2, shape.size[2] = 1;
    cr_assert_eq(sim_shape_soft_mesh(&shape, 1, &tets, &error), SIM_OK, "%s", error.text);
    sim_soft soft = sim_soft_default();
    soft.modulus = 1;
    soft.nnode = tets.nnode;
    soft.node = tets.node;
    soft.ntet = tets.ntet;
    soft.tet = (const int(*)[4])tets.tet;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_soft(builder, &soft);
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert_not_null(model, "%s", error.text);
    const sim_soft *s = &model->soft[0];
    view_soft v = {0};
    cr_assert(view_soft_create(&v, s));
    /* 8 corners thrice; inner nodes of edges twice (4 (2 + 1 + 0)); inner nodes of faces (2 of 3 x 2) once */
    cr_assert_eq(v.mesh->nvertex, 3 * 8 + 2 * 4 * (2 + 1) + 2 * 2);
    /* sheared along x by y / 2, stretched along z */
    sim_pose *pose = calloc((size_t)model->nbody, sizeof *pose);
    for (int n = 0; n < s->nnode; n++) {
        v3 x = s->node[n];
        pose[s->body + 1 + n].p = v3_make(x.x + x.y / 2 + 7, x.y, 2 * x.z);
    }
    view_soft_place(&v, s, pose, v3_make(7, 0, 0));
    cr_check(v.mesh, 12, 1e-6);
    for (int t = 0; t < v.mesh->ntriangle; t++) {
        v3 a = corner(v.mesh, t, 0);
        v3 area = v3_cross(v3_sub(corner(v.mesh, t, 1), a), v3_sub(corner(v.mesh, t, 2), a));
        area = v3_scale(1 / v3_norm(area), area);
        for (int k = 0; k < 3; k++) {
            const float *n = v.mesh->normal[v.mesh->triangle[t][k]];
            cr_assert_gt(v3_dot(area, v3_make(n[0], n[1], n[2])), 1 - 1e-6);
        }
    }
    view_soft_free(&v);
    free(pose);
    sim_model_free(model);
    sim_soft_mesh_free(&tets);
}

static void near_v3(v3 a, double x, double y, double z) {
    cr_expect_leq(v3_norm(v3_sub(a, v3_make(x, y, z))), 1e-12, "(%g, %g, %g), not (%g, %g, %g)", a.x, a.y, a.z, x, y,
                  z);
}

static void add_shape(sim_builder *builder, int body, sim_shape_type type, double size, v3 at) {
    sim_shape shape = sim_shape_default();
    shape.body = body;
    shape.type = type;
    shape.size[0] = shape.size[1] = shape.size[2] = size;
    shape.pose.p = at;
    cr_assert_geq(sim_builder_add_shape(builder, &shape), 0);
}

/* Ground without end, a block of 2 m that stands, a ball of 0.5 m that moves from x = 3 to x = 5 m, and a body without
 * a shape that a joint moves to z = 7 m. */
Test(view_extent, holds_what_moves_and_what_stands_apart) {
    sim_builder *builder = sim_builder_create();
    add_shape(builder, 0, SIM_HALF_SPACE, 0, v3_make(0, 0, -1));
    add_shape(builder, 0, SIM_BOX, 2, v3_make(-10, 0, 0));
    sim_body_def def = sim_body_default();
    def.joint = SIM_FREE;
    def.inertia = (sim_inertia){.mass = 1, .moment = {1, 1, 1, 0, 0, 0}};
    int ball = sim_builder_add_body(builder, &def);
    def.joint = SIM_SLIDER;
    int bare = sim_builder_add_body(builder, &def);
    add_shape(builder, ball, SIM_SPHERE, 0.5, v3_make(0, 0, 0));
    sim_error error = {0};
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert(model, "%s", error.text);
    view_extent extent = view_extent_empty();
    v3 box[2];
    view_extent_box(&extent, true, box);
    near_v3(box[1], 1, 1, 1);
    cr_expect(isinf(view_extent_low(&extent)));
    sim_pose at[3] = {{m3_identity(), {0, 0, 0}}, {m3_identity(), {0, 0, 0}}, {m3_identity(), {0, 0, 0}}};
    for (int k = 0; k < 2; k++) {
        at[ball].p = v3_make(3 + 2 * k, 0, 1);
        at[bare].p = v3_make(3, 0, 7);
        view_extent_add(&extent, model, at);
    }
    view_extent_box(&extent, false, box);
    near_v3(box[0], 2.5, -0.5, 0.5);
    near_v3(box[1], 5.5, 0.5, 7);
    view_extent_box(&extent, true, box);
    near_v3(box[0], -11, -1, -1);
    near_v3(box[1], 5.5, 1, 7);
    cr_expect_float_eq(view_extent_low(&extent), -1, 1e-12);
    sim_model_free(model);
}
