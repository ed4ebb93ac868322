/* Hulls, meshes, height fields, distance fields and compounds from the text of a scene. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>

#define SHAPE(text) "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n" text "\n]}]}"
#define FREE(text) "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'shapes': [" text "]}]}"
#define CUBE                                                                                                           \
    "'points': [[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,1,1],[1,1,1]], "                                    \
    "'triangles': [[0,2,1],[1,2,3],[4,5,6],[5,7,6],[0,1,4],[1,5,4],[2,6,3],[3,6,7],[0,4,2],[2,4,6],[1,3,5],[3,7,5]]"

static void near(double x, double expected) { cr_assert_float_eq(x, expected, 1e-12 * fmax(1, fabs(expected))); }

Test(scene_solids, a_hull_weighs_what_its_points_enclose) {
    sim_scene *scene = load_good(FREE("{'type': 'convex', 'density': 1200, 'points': "
                                      "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}"));
    const sim_body *b = &scene->model->body[1];
    near(b->inertia.mass, 200);
    near(b->inertia.com.x, 0.25);
    near(b->inertia.moment.xx, 200 * 3.0 / 40); /* about the centre of mass */
    cr_assert_eq(scene->model->shape[0].type, SIM_CONVEX);
    cr_assert_eq(scene->model->shape[0].geometry, scene->model->geometry[0]);
    sim_scene_free(scene);
}

Test(scene_solids, a_mesh_of_a_mass_is_scaled_to_it) {
    sim_scene *scene = load_good(FREE("{'type': 'mesh', 'mass': 6, 'pose': {'position': [1, 0, 0]}, " CUBE "}"));
    const sim_body *b = &scene->model->body[1];
    near(b->inertia.mass, 6);
    near(b->inertia.com.x, 1.5);
    near(b->inertia.moment.zz, 1);
    sim_scene_free(scene);
}

Test(scene_solids, copies_share_one_geometry) {
    sim_scene *scene = load_good("{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a', "
                                 "'joint': 'free', 'shapes': [{'type': 'mesh', 'density': 1, " CUBE
                                 "}]}]}}, 'instances': [{'model': 'm', 'prefix': 'p', 'repeat': {'placement': 'line', "
                                 "'count': 50, 'offset': [2, 0, 0]}}]}");
    cr_assert_eq(scene->model->nshape, 50);
    cr_assert_eq(scene->model->ngeometry, 1);
    sim_scene_free(scene);
}

Test(scene_solids, a_compound_is_its_parts_in_their_places) {
    sim_scene *scene = load_good(
        FREE("{'type': 'compound', 'pose': {'position': [0, 0, 1]}, 'shapes': [{'type': 'sphere', 'radius': 1, "
             "'mass': 2, 'pose': {'position': [1, 0, 0]}}, {'type': 'compound', 'pose': {'rpy_deg': [0, 0, 90]}, "
             "'shapes': [{'type': 'sphere', 'radius': 1, 'mass': 2, 'pose': {'position': [1, 0, 0]}}]}]}"));
    const sim_model *m = scene->model;
    cr_assert_eq(m->nshape, 2);
    near(m->shape[0].pose.p.x, 1);
    near(m->shape[0].pose.p.z, 1);
    near(m->shape[1].pose.p.y, 1);
    near(m->body[1].inertia.mass, 4);
    near(m->body[1].inertia.com.x, 0.5);
    sim_scene_free(scene);
}

Test(scene_solids, a_height_field_has_rows_along_y) {
    sim_scene *scene = load_good(SHAPE("{'type': 'height_field', 'columns': 3, 'extent': [4, 2], "
                                       "'heights': [0, 1, 2, 3, 4, 5]}"));
    const sim_heights *h = scene->model->shape[0].geometry->heights;
    cr_assert(h->columns == 3 && h->rows == 2);
    near(h->height[4], 4);
    near(h->highest, 5);
    sim_scene_free(scene);
}

Test(scene_solids, a_distance_field_is_built_from_its_parts) {
    sim_scene *scene = load_good(SHAPE(
        "{'type': 'sdf', 'resolution': 0.1, 'field': {'type': 'difference', 'fields': [{'type': 'sphere', 'radius': "
        "1}, {'type': 'cylinder', 'radius': 0.5, 'length': 4, 'pose': {'position': [0, 0, 0]}}]}}"));
    const sim_field *f = scene->model->shape[0].geometry->field;
    near(sim_field_distance(f, (sim_v3){0, 0, 0}, NULL), 0.5);
    near(sim_field_distance(f, (sim_v3){2, 0, 0}, NULL), 1);
    cr_assert_lt(sim_field_distance(f, (sim_v3){0.8, 0, 0}, NULL), 0);
    sim_scene_free(scene);
}

Test(scene_solids, exclusions_name_bodies_in_their_model) {
    sim_scene *scene = load_good("{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a'}, "
                                 "{'name': 'b'}], 'exclusions': [{'first': 'b', 'second': 'a'}]}}, 'instances': "
                                 "[{'model': 'm', 'prefix': 'p'}, {'model': 'm', 'prefix': 'q'}]}");
    const sim_model *m = scene->model;
    cr_assert_eq(m->nexclusion, 2);
    cr_assert_eq(m->exclusion[0].first, sim_model_find_body(m, "pa"));
    cr_assert_eq(m->exclusion[1].second, sim_model_find_body(m, "qb"));
    sim_scene_free(scene);
    refused("{'sim': 1, 'bodies': [{'name': 'arm'}], 'exclusions': [\n{'first': 'arm', 'second': 'amr'}]}",
            "scene.json:2:28", "did you mean \"arm\"");
}

Test(scene_solids, what_makes_no_solid_is_refused_in_place) {
    refused(SHAPE("{'type': 'mesh'}"), "scene.json:2:1", "a mesh needs \"file\" or \"points\"");
    refused(SHAPE("{'type': 'convex', 'points': [[0,0,0],[1,0,0],[0,1,0]]}"), "scene.json:2:30", "at least 4 points");
    refused(SHAPE("{'type': 'convex', 'points': [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}"), "scene.json:2:30", "plane");
    refused(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,3]]}"), "scene.json:2:68",
            "triangle 0 names point 3");
    refused(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]]}"), "scene.json:2:28", "need \"triangles\"");
    refused(SHAPE("{'type': 'mesh', 'file': 'absent.stl'}"), "scene.json:2:26", "absent.stl");
    refused(SHAPE("{'type': 'mesh', 'file': 'a.stl', 'scale': 0}"), "scene.json:2:44", "none of them 0");
    refused(SHAPE("{'type': 'mesh', 'file': 'a.stl', 'scale': [1, 2]}"), "scene.json:2:44", "one factor or three");
    refused(SHAPE("{'type': 'height_field', 'columns': 3, 'extent': [1, 1], 'heights': [0, 1, 2, 3]}"),
            "scene.json:2:69", "two or more rows of 3");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'box', 'size': [1, 1, 1], 'radius': 1}}"), "scene.json:2:61",
            "radius");
    refused(SHAPE("{'type': 'mesh', 'scale': 2, 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [0,1,2]}"),
            "scene.json:2:27", "\"scale\" applies to files");
    refused(SHAPE("{'type': 'convex', 'points': []}"), "scene.json:2:30", "not an empty one");
    refused(SHAPE("{'type': 'height_field', 'columns': 1, 'extent': [1, 1], 'heights': [0, 1]}"), "scene.json:2:37",
            "must be from 2");
    refused(SHAPE("{'type': 'compound', 'shapes': [{'type': 'sphere'}]}"), "scene.json:2:33", "radius");
    refused(SHAPE("{'type': 'compound', 'radius': 1, 'shapes': []}"), "scene.json:2:22", "radius");
    refused(FREE("{'type': 'mesh', 'density': 1, 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2]]}"),
            "scene.json:1:93", "the surface is open");
}

Test(scene_solids, what_is_wrong_with_a_field_is_said_of_its_part) {
    refused(
        SHAPE("{'type': 'sdf', 'field': {'type': 'union', 'fields': [{'type': 'sphere', 'radius': 1}, {'type': "
              "'union', 'fields': [{'type': 'sphere', 'radius': 1},\n{'type': 'thread', 'diameter': 1, 'pitch': 0.1, "
              "'depth': 0.8, 'length': 1}]}]}}"),
        "scene.json:3:1", "/bodies/0/shapes/0/field/fields/1/fields/1: the thread's depth must be");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'thread', 'diameter': 1, 'pitch': 0.1, 'depth': 0.05}}"),
            "scene.json:2:26", "\"length\" is missing, which a rod needs");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'thread', 'internal': true, 'diameter': 1, 'pitch': 0.1, 'depth': "
                  "0.05}}"),
            "scene.json:2:26", "the solid has no bounds");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'union', 'fields': []}}"), "scene.json:2:54", "here are 0");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'difference', 'fields': [{'type': 'sphere', 'radius': 1}]}}"),
            "scene.json:2:59", "a difference needs at least 2, here is 1");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'intersection', 'fields': [{'type': 'sphere', 'radius': 1}, "
                  "{'type': 'sphere', 'radius': 1, 'pose': {'position': [3, 0, 0]}}]}}"),
            "scene.json:2:26", "the parts of an intersection do not meet");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'profile', 'points': [[0, 1]], 'thickness': 0.1}}"),
            "scene.json:2:26", "2 to 65536 points");
}

Test(scene_solids, turned_inside_out_is_refused_and_open_is_warned_of) {
    refused(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], 'triangles': "
                  "[[0,1,2],[0,3,1],[1,3,2],[0,2,3]]}"),
            "scene.json:2:76", "the mesh is turned inside out");
    warned(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2]]}"),
           "scene.json:2:68: warning: /bodies/0/shapes/0/triangles: the surface is open: 3 edges");
    warned(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], 'triangles': "
                 "[[0,2,1],[0,3,1],[1,2,3],[0,3,2]]}"), /* a tetrahedron with one face the wrong way round */
           "scene.json:2:76: warning: /bodies/0/shapes/0/triangles: the surface is open: 6 edges");
    warned(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2],[0,2,1]]}"),
           "the surface encloses no volume");
}

Test(scene_solids, open_may_be_meant) {
    sim_scene *scene =
        load_good(SHAPE("{'type': 'mesh', 'open': true, 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2]]}"));
    cr_assert(!scene->model->shape[0].geometry->mesh->closed);
    sim_scene_free(scene);
    refused(SHAPE("{'type': 'mesh', 'open': true, " CUBE "}"), "scene.json:2:26", "but the surface is closed");
}

/* Every copy is a mesh of its own: its place in the file is that of the model's. */
Test(scene_solids, an_open_mesh_is_told_of_once_for_all_copies) {
    warned(
        "{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a', 'shapes': [\n"
        "{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2]]}]}]}}, 'instances': [{'model': "
        "'m', 'prefix': 'p', 'repeat': {'placement': 'line', 'count': 50, 'offset': [2, 0, 0]}}, {'model': 'm', "
        "'prefix': 'q', 'overrides': {'bodies/0/shapes/0/group': 2}}]}",
        "scene.json:2:68: warning: /models/m/bodies/0");
}

/* Errors come first; the warning would be the second message. */
Test(scene_solids, a_scene_that_is_refused_gives_no_warnings) {
    refused(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2]]}, "
                  "{'type': 'convex', 'points': [[0,0,0],[1,0,0],[0,1,0]]}"),
            "scene.json:2:109", "convex hull");
}

Test(scene_solids, sizes_without_sense_are_refused) {
    refused(SHAPE("{'type': 'box', 'size': [1, 1e160, 1]}"), "scene.json:2:29",
            "must be from 1e-12 to 1e9 m, is 1e+160");
    refused(SHAPE("{'type': 'sphere', 'radius': 0}"), "scene.json:2:30", "must be from 1e-12 to 1e9 m, is 0");
    refused(SHAPE("{'type': 'ellipsoid', 'radii': [1, 1e-300, 1]}"), "scene.json:2:36", "must be from 1e-12");
    refused(SHAPE("{'type': 'height_field', 'columns': 2, 'extent': [1, 1], 'heights': [0, 0, 1e300, 0]}"),
            "scene.json:2:76", "must be from -1e9 to 1e9 m");
    refused(SHAPE("{'type': 'mesh', 'points': [[0,0,0],[1e10,0,0],[0,1,0]], 'triangles': [[0,1,2]]}"),
            "scene.json:2:38", "must be from -1e9 to 1e9 m");
    refused(SHAPE("{'type': 'sdf', 'field': {'type': 'sphere', 'radius': 1e160}}"), "scene.json:2:55", "must be from");
    refused(SHAPE("{'type': 'sphere', 'radius': 1, 'pose': {'position': [0, 0, 1e300]}}"), "scene.json:2:61",
            "must be from -1e15 to 1e15 m");
}

static void near_color(const float color[4], float red) { cr_assert_float_eq(color[0], red, 1e-6f); }

Test(scene_solids, parts_take_from_their_compound_what_they_do_not_say) {
    sim_scene *scene =
        load_good("{'sim': 1, 'materials': [{'name': 'ice', 'friction': 0.01}, {'name': 'felt', 'friction': 1}], "
                  "'bodies': [{'name': 'a', 'shapes': [{'type': 'compound', 'material': 'ice', 'group': 4, 'mask': 6, "
                  "'color': [1, 0, 0], 'shapes': [{'type': 'sphere', 'radius': 1}, {'type': 'compound', 'material': "
                  "'felt', 'shapes': [{'type': 'sphere', 'radius': 1, 'mask': 1, 'color': [0.5, 0, 0]}]}]}, {'type': "
                  "'sphere', 'radius': 1}]}]}");
    const sim_shape *s = scene->model->shape;
    cr_assert(s[0].group == 4 && s[0].mask == 6 && s[1].group == 4 && s[1].mask == 1);
    cr_assert(s[2].group == 1 && s[2].mask == UINT32_MAX);
    near(scene->model->material[s[0].material].friction, 0.01);
    near(scene->model->material[s[1].material].friction, 1);
    near(scene->model->material[s[2].material].friction, 0.5);
    near_color(s[0].color, 1);
    near_color(s[1].color, 0.5f);
    cr_assert_eq(s[0].color[3], 1, "three numbers are a colour that hides what is behind");
    cr_assert_lt(s[2].color[0], 0, "no colour was given");
    sim_scene_free(scene);
}

/* The integrator rk4 is refused where shapes could touch; parts of a compound without groups cannot. */
Test(scene_solids, a_compound_without_a_group_touches_nothing) {
    const char *two = "{'sim': 1, 'world': {\n'integrator': 'rk4'}, 'bodies': [{'name': 'a', 'shapes': [{'type': "
                      "'sphere', 'radius': 1}]}, {'name': 'b', "
                      "'joint': 'free', 'shapes': [{'type': 'compound', 'group': 0, 'shapes': [{'type': 'sphere', "
                      "'radius': 1, 'density': 1%s}]}]}]}";
    char text[500];
    snprintf(text, sizeof text, two, "");
    sim_scene_free(load_good(text));
    snprintf(text, sizeof text, two, ", 'group': 1");
    refused(text, "scene.json:2:15", "the integrator rk4 takes no contacts");
}

Test(scene_solids, soft_shapes_are_convex_have_a_modulus_and_share_their_tetrahedra) {
    refused(SHAPE("{'type': 'sphere', 'radius': 1,\n'compliance': 'field'}"), "scene.json:3:15", "\"modulus\"");
    refused(SHAPE("{'type': 'sphere', 'radius': 1,\n'field_edge': 0.1}"), "scene.json:3:15", "needs \"compliance\"");
#define SOFT(text)                                                                                                     \
    "{'sim': 1, 'materials': [{'name': 'm', 'modulus': 1e5}], 'bodies': [{'name': 'a', 'shapes': [\n" text             \
    "]}, {'name': 'b', 'shapes': [" text "]}]}"
    refused(SOFT("{'type': 'sphere', 'radius': 1, 'material': 'm', 'compliance': 'field',\n'field_edge': 1e-4}"),
            "scene.json:3:15", "200000 triangles");
    sim_scene *scene = load_good(SOFT("{'type': 'sphere', 'radius': 1, 'material': 'm', 'compliance': 'field'}"));
    const sim_shape *shape = scene->model->shape;
    cr_assert(shape[0].pressure && shape[0].pressure == shape[1].pressure);
    cr_assert(shape[0].modulus == 1e5 && scene->model->ngeometry == 1);
    sim_scene_free(scene);
}
