/* Meshes as convex parts, in scenes and in robots. */
#include "mjcf_model.h"

#include <math.h>
#include <sim/sim.h>
#include <string.h>

/* A block of 3 by 2 by 1 with a slot of 1 by 1 cut in its middle from above: y is up. */
#define SLOT                                                                                                           \
    "'points': [[0,0,0],[3,0,0],[3,2,0],[2,2,0],[2,1,0],[1,1,0],[1,2,0],[0,2,0],[0,0,1],[3,0,1],[3,2,1],[2,2,1],"      \
    "[2,1,1],[1,1,1],[1,2,1],[0,2,1]], 'triangles': [[0,4,1],[0,5,4],[1,3,2],[1,4,3],[0,6,5],[0,7,6],[8,9,12],"        \
    "[8,12,13],[9,10,11],[9,11,12],[8,13,14],[8,14,15],[0,1,9],[0,9,8],[1,2,10],[1,10,9],[2,3,11],[2,11,10],"          \
    "[3,4,12],[3,12,11],[4,5,13],[4,13,12],[5,6,14],[5,14,13],[6,7,15],[6,15,14],[7,0,8],[7,8,15]]"
#define BLOCK(more) "{'name': 'slot', 'type': 'mesh', " more ", " SLOT "}"

Test(scene_decompose, a_mesh_keeps_its_mass_and_picture_and_its_parts_have_the_contacts) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'shapes': [" BLOCK(
        "'decompose': {}, 'density': 2, 'mask': 6") "]}]}");
    const sim_model *m = s->model;
    cr_assert_eq(m->nshape, 4);
    cr_expect_float_eq(m->body[1].inertia.mass, 10, 1e-12);
    cr_expect(m->shape[0].type == SIM_MESH && !m->shape[0].group && !m->shape[0].mask && !m->shape[0].hidden);
    double volume = 0;
    for (int k = 1; k < 4; k++) {
        const sim_shape *p = &m->shape[k];
        cr_expect(p->type == SIM_CONVEX && p->group == 1 && p->mask == 6 && p->hidden);
        cr_expect_str_eq(p->name, "slot");
        volume += p->geometry->solid.mass;
    }
    cr_expect_float_eq(volume, 5, 1e-9);
    sim_scene_free(s);
    /* only contacts; shown parts; one part: the hull */
    s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [" BLOCK(
        "'use': 'contact', 'decompose': {}") "]}, "
                                             "{'name': 'b', 'shapes': [" BLOCK(
                                                 "'decompose': {'show': true}") "]}, "
                                                                                "{'name': 'c', 'shapes': [" BLOCK(
                                                                                    "'decompose': {'parts': 1}") "]}]"
                                                                                                                 "}");
    m = s->model;
    cr_assert_eq(m->nshape, 3 + 3 + 2);
    cr_expect(m->shape[0].hidden && m->shape[0].type == SIM_CONVEX);
    cr_expect(!m->shape[3].hidden && m->shape[3].type == SIM_CONVEX);
    cr_expect_float_eq(m->shape[7].geometry->solid.mass, 6, 1e-9);
    sim_scene_free(s);
}

/* Copies and bodies with the same options share the parts. */
Test(scene_decompose, copies_share_their_parts) {
    sim_scene *s = load_good(
        "{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a', 'joint': "
        "'free', 'shapes': [" BLOCK("'density': 1, 'decompose': {}") "]}]}}, 'instances': "
                                                                     "[{'model': 'm', 'prefix': 'p', 'repeat': "
                                                                     "{'placement': 'line', 'count': 20, 'offset': "
                                                                     "[5, 0, 0]}}]}");
    cr_assert_eq(s->model->nshape, 80);
    cr_assert_eq(s->model->ngeometry, 4);
    sim_scene_free(s);
}

/* A ball falls into the slot, which the hull would close. */
Test(scene_decompose, a_ball_falls_into_a_slot_and_rests_on_its_ground) {
    sim_scene *s =
        load_good("{'sim': 1, 'world': {'gravity': [0, -9.81, 0]}, 'bodies': [{'name': 'block', 'shapes': [" BLOCK(
            "'decompose': {}") "]}, {'name': 'ball', 'joint': 'free', 'pose': {'position': [1.5, 2.2, 0.5]}, 'shapes': "
                               "[{'type': 'sphere', 'radius': 0.4, 'density': 1000}]}]}");
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    for (int k = 0; k < 2000; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_float_eq(sim_world_state(w)->q[1], 1.4, 1e-3, "%g", sim_world_state(w)->q[1]);
    sim_world_free(w);
    sim_scene_free(s);
}

Test(scene_decompose, what_cannot_be_is_refused_and_an_open_surface_has_its_hull) {
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [{'type': 'sphere', 'radius': 1,\n'decompose': {}}]}]}",
            "scene.json:2:1", "the key \"decompose\" does not belong to the type \"sphere\"");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [" BLOCK("\n'decompose': {'parts': 0}") "]}]}",
            "scene.json:2:24", "from 1 to 1000");
    sim_diagnostics found;
    sim_scene *s =
        load_text("{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [{'type': 'mesh', 'open': true, 'decompose': "
                  "{}, 'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], 'triangles': [[0,2,1],[0,1,3],[1,2,3]]}]}]}",
                  NULL, NULL, &found, NULL);
    cr_assert(s && found.count == 1);
    cr_expect_str_eq(found.item[0].message, "the surface is open: its convex hull has its contacts");
    cr_expect_float_eq(s->model->shape[1].geometry->solid.mass, 1 / 6.0, 1e-12);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

Test(scene_decompose, collision_meshes_of_models_are_parts_where_that_is_asked_for) {
    sim_import_options import = {.mesh = SIM_MESH_DECOMPOSED};
    sim_scene *s = load_model(
        MODEL(
            "<asset><mesh name='m' vertex='0 0 0 3 0 0 3 2 0 2 2 0 2 1 0 1 1 0 1 2 0 0 2 0 0 0 1 3 0 1 3 2 1 2 2 1 2 1 "
            "1 1 1 1 1 2 1 0 2 1' face='0 4 1 0 5 4 1 3 2 1 4 3 0 6 5 0 7 6 8 9 12 8 12 13 9 10 11 9 11 12 8 13 14 8 "
            "14 "
            "15 0 1 9 0 9 8 1 2 10 1 10 9 2 3 11 2 11 10 3 4 12 3 12 11 4 5 13 4 13 12 5 6 14 5 14 13 6 7 15 6 15 14 7 "
            "0 "
            "8 7 8 15'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody>"),
        NULL, &import);
    cr_expect_eq(s->model->nshape, 4);
    cr_expect_eq(s->model->shape[1].type, SIM_CONVEX);
    cr_expect_not_null(strstr(s->text, "\"decompose\""));
    sim_scene_free(s);
}
