/* COLLADA files: the surfaces that their scenes show, in metres with z up, and what is refused with its place. */
#include "geometry/import/mesh_file.h"
#include "support/meshes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tetrahedron with corners at the origin and on the axes, 1 m from it; its faces in `faces`. */
#define POINTS                                                                                                         \
    "<source id='s'><float_array id='f' count='12'>0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>"            \
    "<accessor source='#f' count='4' stride='3'/></technique_common></source>"                                         \
    "<vertices id='v'><input semantic='POSITION' source='#s'/></vertices>"
#define GEOMETRY(faces)                                                                                                \
    "<library_geometries><geometry id='g'><mesh>" POINTS faces "</mesh></geometry></library_geometries>"
#define FILE_OF(asset, faces, nodes)                                                                                   \
    "<?xml version='1.0'?>\n<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' "                            \
    "version='1.4.1'>\n<asset>" asset                                                                                  \
    "</asset>" GEOMETRY(faces) "\n<library_visual_scenes><visual_scene id='all'>" nodes                                \
                               "</visual_scene></library_visual_scenes>\n<scene><instance_visual_scene "               \
                               "url='#all'/></scene></COLLADA>\n"
#define INPUT "<input semantic='VERTEX' source='#v' offset='0'/>"
/* a second number of each corner, of a normal, which need not exist */
#define SECOND_NUMBER                                                                                                  \
    "<triangles count='4'><input semantic='NORMAL' source='#n' offset='0'/>"                                           \
    "<input semantic='VERTEX' source='#v' offset='1'/>"                                                                \
    "<p>9 0 8 2 7 1 0 0 0 1 0 3 5 0 5 3 5 2 1 1 1 2 1 3</p></triangles>"
#define FACES "<triangles count='4'>" INPUT "<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>"
#define SHOWN "<instance_geometry url='#g'/>"
#define Z_UP "<unit name='meter' meter='1'/><up_axis>Z_UP</up_axis>"

static sim_status read(const char *text, sim_triangles *t, sim_error *error) {
    size_t size = strlen(text);
    return mesh_parse("test.dae", text, size, (v3){1, 1, 1}, t, error);
}

static sim_triangles good(const char *text) {
    sim_triangles t;
    sim_error error = {0};
    cr_assert_eq(read(text, &t, &error), SIM_OK, "%s", error.text);
    return t;
}

static void drop(sim_triangles t) {
    free(t.vertex);
    free(t.triangle);
}

static void has(const char *text, int nvertex, int ntriangle, double volume, v3 centre) {
    sim_triangles t = good(text);
    v3 moment;
    double found = volume_of_surface(&t, &moment);
    cr_expect_eq(t.nvertex, nvertex, "%d vertices", t.nvertex);
    cr_expect_eq(t.ntriangle, ntriangle, "%d triangles", t.ntriangle);
    cr_expect(fabs(found - volume) < 1e-14 * fmax(1, volume), "volume %.17g, not %.17g", found, volume);
    v3 off = v3_sub(v3_scale(1 / found, moment), centre);
    cr_expect(v3_norm(off) < 1e-13, "centre off by (%g, %g, %g)", off.x, off.y, off.z);
    drop(t);
}

static const v3 own = {0.25, 0.25, 0.25};

Test(collada, units_and_the_up_axis_make_metres_with_z_up) {
    has(FILE_OF(Z_UP, FACES, "<node>" SHOWN "</node>"), 4, 4, 1.0 / 6, own);
    has(FILE_OF("<unit meter='0.01'/><up_axis>Z_UP</up_axis>", FACES, "<node>" SHOWN "</node>"), 4, 4, 1e-6 / 6,
        v3_scale(0.01, own));
    has(FILE_OF("<up_axis>Y_UP</up_axis>", FACES, "<node>" SHOWN "</node>"), 4, 4, 1.0 / 6, (v3){0.25, -0.25, 0.25});
    has(FILE_OF("", FACES, "<node>" SHOWN "</node>"), 4, 4, 1.0 / 6, (v3){0.25, -0.25, 0.25});
    has(FILE_OF("<up_axis>X_UP</up_axis>", FACES, "<node>" SHOWN "</node>"), 4, 4, 1.0 / 6, (v3){-0.25, -0.25, 0.25});
}

Test(collada, transforms_of_nodes_act_from_the_innermost_outwards) {
    has(FILE_OF(Z_UP, FACES,
                "<node><translate>1 2 3</translate><rotate>0 0 2 90</rotate><node><scale>2 3 4</scale>" SHOWN
                "</node></node>"),
        4, 4, 4, (v3){1 - 0.75, 2 + 0.5, 3 + 1});
    has(FILE_OF(Z_UP, FACES, "<node><matrix>0 -1 0 5\n1 0 0 6\n0 0 1 7\n0 0 0 1</matrix>" SHOWN "</node>"), 4, 4,
        1.0 / 6, (v3){5 - 0.25, 6 + 0.25, 7 + 0.25});
}

Test(collada, a_mirrored_solid_keeps_its_outside_outside) {
    has(FILE_OF(Z_UP, FACES, "<node><scale>-1 1 1</scale>" SHOWN "</node>"), 4, 4, 1.0 / 6, (v3){-0.25, 0.25, 0.25});
}

Test(collada, all_kinds_of_faces_make_the_same_surface) {
    static const char *const kinds[] = {
        "<polylist count='4'>" INPUT "<vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist>",
        "<polygons count='4'>" INPUT "<p>0 2 1</p><p>0 1 3</p><p>0 3 2</p><p>1 2 3</p></polygons>",
        "<tristrips count='1'>" INPUT "<p>0 2 1 3 0 2</p></tristrips>",
        "<trifans count='2'>" INPUT "<p>0 2 1 3 2</p><p>1 2 3</p></trifans>",
        "<lines count='1'>" INPUT "<p>0 1</p></lines>" FACES,
        SECOND_NUMBER};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char text[4000];
        snprintf(text, sizeof text, FILE_OF(Z_UP, "%s", "<node>" SHOWN "</node>"), kinds[k]);
        has(text, 4, 4, 1.0 / 6, own);
    }
}

/* A prism over the outline (0, 0) (0, 3) (4, 0) (4, 4), whose edges cross; volume and centre count parts on the other
 * side as negative: shoelace formula. */
Test(collada, a_face_that_crosses_itself_keeps_a_surface_closed) {
    has("<COLLADA><asset>" Z_UP "</asset><library_geometries><geometry id='g'><mesh><source id='s'><float_array id='f' "
        "count='24'>0 0 0 0 3 0 4 0 0 4 4 0 0 0 3 0 3 3 4 0 3 4 4 3</float_array></source><vertices id='v'><input "
        "semantic='POSITION' source='#s'/></vertices><polylist count='6'>" INPUT "<vcount>4 4 4 4 4 4</vcount><p>"
        "3 2 1 0 4 5 6 7 0 1 5 4 1 2 6 5 2 3 7 6 3 0 4 7</p></polylist></mesh></geometry></library_geometries>"
        "</COLLADA>",
        8, 12, 6, (v3){20.0 / 3, 7.0 / 3, 1.5});
}

Test(collada, a_geometry_is_shown_as_often_as_nodes_say) {
    has(FILE_OF(Z_UP, FACES,
                "<node id='n'>" SHOWN "</node><node><translate>10 0 0</translate><instance_node url='#n'/></node>"),
        8, 8, 2.0 / 6, (v3){5.25, 0.25, 0.25});
}

Test(collada, without_a_scene_all_geometries_count) {
    has("<COLLADA><asset>" Z_UP "</asset>" GEOMETRY(FACES) "</COLLADA>", 4, 4, 1.0 / 6, own);
}

Test(collada, coordinates_keep_double_precision) {
    sim_triangles t = good("<COLLADA><asset>" Z_UP "</asset><library_geometries><geometry id='g'><mesh>"
                           "<source id='s'><float_array id='f' count='9'>0.1 1.2345678901234567 -3e-300 1 0 0\n0 1 0"
                           "</float_array></source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices>"
                           "<triangles count='1'>" INPUT "<p>0 1 2</p></triangles></mesh></geometry>"
                           "</library_geometries></COLLADA>");
    cr_expect(t.vertex[0].x == 0.1 && t.vertex[0].y == 1.2345678901234567 && t.vertex[0].z == -3e-300);
    drop(t);
}

/* ---- refusals ---- */

static void refused(const char *text, const char *what) {
    sim_triangles t;
    sim_error error = {0};
    cr_expect_eq(read(text, &t, &error), SIM_BAD_INPUT, "%s", what);
    cr_expect(strstr(error.text, what) && strncmp(error.text, "test.dae:", 9) == 0, "\"%s\", not \"%s\"", error.text,
              what);
    cr_expect(!t.vertex && !t.triangle);
}

Test(collada, what_is_not_read_is_named_with_its_place) {
    refused(FILE_OF(Z_UP, FACES, "<node><instance_controller url='#g'/></node>"),
            "test.dae:4:53: skins and morphs (<instance_controller>) are not read");
    refused(FILE_OF(Z_UP, FACES, "<node><skew>1 2 3 4 5 6 7</skew>" SHOWN "</node>"), ": of transforms matrix,");
    refused(FILE_OF(Z_UP, "<polygons>" INPUT "<ph><p>0 1 2</p><h>1</h></ph></polygons>", "<node>" SHOWN "</node>"),
            ": polygons with holes (<ph>) are not read");
    refused("<COLLADA><library_geometries><geometry id='g'><spline/></geometry></library_geometries></COLLADA>",
            ": of geometries only <mesh> is read");
    refused("<kml/>", "test.dae:1:1: expected the element <COLLADA>");
    refused("<COLLADA/>", "there are no triangles in the file");
}

Test(collada, wrong_numbers_and_names_are_refused_at_their_place) {
    refused(FILE_OF(Z_UP, "<triangles>" INPUT "<p>0 2 4</p></triangles>", "<node>" SHOWN "</node>"),
            ": expected an index below 4, found 4");
    refused(FILE_OF(Z_UP, "<triangles>" INPUT "<p>0 2 1.5</p></triangles>", "<node>" SHOWN "</node>"),
            ": expected an index below 4, found 1.5");
    refused(FILE_OF(Z_UP, "<triangles>" INPUT "<p>0 2 -1</p></triangles>", "<node>" SHOWN "</node>"), "found -1");
    refused(FILE_OF(Z_UP, "<triangles>" INPUT "<p>0 2 x</p></triangles>", "<node>" SHOWN "</node>"),
            ": expected a number, found \"x");
    refused(FILE_OF(Z_UP, "<triangles>" INPUT "<p>0 2 1 3</p></triangles>", "<node>" SHOWN "</node>"),
            ": the corners do not suffice for the last face");
    refused(FILE_OF(Z_UP, "<polylist>" INPUT "<p>0 2 1</p></polylist>", "<node>" SHOWN "</node>"), "needs a <vcount>");
    refused(FILE_OF(Z_UP, FACES, "<node><instance_geometry url='#h'/></node>"), "url: there is no such element");
    refused(FILE_OF(Z_UP, FACES, "<node><instance_geometry/></node>"), ": the attribute \"url\" is missing");
    refused(FILE_OF(Z_UP, FACES, "<node><translate>1 2</translate>" SHOWN "</node>"), ": expected 3 numbers, found 2");
    refused(FILE_OF(Z_UP, FACES, "<node><translate>1 2 3 4</translate>" SHOWN "</node>"), "numbers, found more");
    refused(FILE_OF(Z_UP, FACES, "<node><translate>1e308 0 0</translate><scale>1e308 1 1</scale>" SHOWN "</node>"),
            "a corner is not finite");
    refused(FILE_OF("<unit meter='0'/>", FACES, "<node>" SHOWN "</node>"), ": expected metres a unit, above 0");
    refused(FILE_OF("<up_axis>W_UP</up_axis>", FACES, "<node>" SHOWN "</node>"), ": expected X_UP, Y_UP or Z_UP");
}

Test(collada, hostile_files_are_refused_in_bounded_time) {
    refused("<!DOCTYPE COLLADA [<!ENTITY a 'b'>]><COLLADA/>", "a document type declaration (DOCTYPE) is not read");
    refused("<COLLADA><asset>", ": not well-formed XML: ");
    refused(FILE_OF(Z_UP, FACES, "<node id='n'><instance_node url='#n'/></node>"),
            ": nodes within nodes, more than 100");
    /* each node shows the next one twice: 2^60 triangles */
    char nodes[8000] = "", text[12000];
    for (int k = 0; k < 60; k++) {
        size_t at = strlen(nodes);
        snprintf(nodes + at, sizeof nodes - at,
                 "<node id='n%d'><instance_node url='#n%d'/><instance_node url='#n%d'/></node>", k, k + 1, k + 1);
    }
    snprintf(text, sizeof text, FILE_OF(Z_UP, FACES, "%s<node id='n60'>" SHOWN "</node>"), nodes);
    refused(text, ": nodes show more triangles or nodes than a file of this length may");
    char deep[3000] = "<COLLADA>";
    for (int k = 0; k < 250; k++) {
        strcat(deep, "<node>");
    }
    refused(deep, ": elements nested more than 200 deep");
}
