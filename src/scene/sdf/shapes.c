/* Shapes of a link: <visual> is drawn, <collision> touches.  Where nothing of a link can be drawn, its collision shapes
 * are. */
#include "base/words.h"
#include "scene/sdf/sdf.h"
#include "scene/xml/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct link_shape {
    const xml_element *at, *geometry; /* geometry: box, sphere, ...; NULL: nothing */
    const char *file;                 /* of a mesh */
    int surface;                      /* of a collision */
} link_shape;

static const sdf_file *file_of(const sdf_work *w, int link) {
    return w->scope[w->frame[w->link[link].frame].scope].file;
}

/* ---- meshes ---- */

static bool find_mesh(sdf_work *w, int link, link_shape *shape, bool picture) {
    const char *uri = xml_text(shape->geometry, "uri"), *tried = uri;
    bool readable = xml_is_mesh_name(uri);
    sim_error why = {0};
    shape->file = readable ? sdf_find_mesh(w, file_of(w, link), shape->geometry, &tried) : NULL;
    if (shape->file && urdf_can_read(&w->packages, shape->geometry, shape->file, &why)) {
        return true;
    }
    /* left out of pictures; of contacts only where that is allowed */
    if (picture) {
        w->undrawn_why = w->undrawn || !shape->file ? w->undrawn_why : pool_text(w->pool, why.text);
        w->undrawn = w->undrawn ? w->undrawn : shape->geometry;
        w->nundrawn++;
    } else if (!xml_miss_mesh(
                   w->report, &w->allowed, shape->geometry, "uri", readable ? tried : NULL, &why,
                   "--package NAME=DIR says where a package or model is; --allow mesh leaves such shapes out")) {
        w->good = false;
    }
    return false;
}

/* ---- one shape ---- */

static bool is_kind(const link_shape *s, const char *kind) { return strcmp(s->geometry->name, kind) == 0; }

static void put_lengths(sdf_work *w, const xml_element *geometry) {
    static const char *const vector[2] = {"size", "radii"}, *const number[2] = {"radius", "length"};
    bool plane = strcmp(geometry->name, "plane") == 0;
    double value[3];
    for (int k = 0; k < 2; k++) {
        const xml_key *key = plane ? NULL : xml_find_key(geometry->table, vector[k]);
        if (key && xml_vector(geometry, vector[k], value)) {
            writer_put_numbers(w->out, vector[k], 3, value);
        }
    }
    for (int k = 0; k < 2; k++) {
        const xml_key *key = xml_find_key(geometry->table, number[k]);
        if (key && xml_number(geometry, number[k], value)) {
            writer_put_number(w->out, number[k], value[0]);
        }
    }
}

static void put_mesh(sdf_work *w, const link_shape *shape, bool contact) {
    double scale[3] = {1, 1, 1};
    writer_put_text(w->out, "file", shape->file);
    xml_vector(shape->geometry, "scale", scale);
    if (scale[0] != scale[1] || scale[0] != scale[2]) {
        writer_put_numbers(w->out, "scale", 3, scale);
    } else if (scale[0] != 1) {
        writer_put_number(w->out, "scale", scale[0]);
    }
    if (contact && w->options.mesh == SIM_MESH_DECOMPOSED) {
        writer_open(w->out, "decompose", '{');
        writer_close(w->out, '}');
    }
}

static double within_unit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void put_color(sdf_work *w, const xml_element *visual) {
    const xml_element *material = xml_child(visual, "material");
    double rgba[4] = {0, 0, 0, 1}, transparency = 0;
    if (!material || xml_numbers(material, "diffuse", 4, rgba) < 3) {
        return;
    }
    xml_number(visual, "transparency", &transparency);
    rgba[3] *= 1 - within_unit(transparency);
    for (int k = 0; k < 4; k++) {
        rgba[k] = within_unit(rgba[k]);
    }
    writer_put_numbers(w->out, "color", rgba[3] == 1 ? 3 : 4, rgba);
}

/* The rotation that takes z to the normal of a plane, by the smallest turn. */
static sim_m3 turn_to(sdf_work *w, const xml_element *plane) {
    double n[3];
    xml_vector(plane, "normal", n);
    sim_v3 normal = {n[0], n[1], n[2]}, z = {0, 0, 1};
    double length = v3_norm(normal);
    if (!(length > 0)) {
        xml_error(w->report, plane, "normal", NULL, "the normal has length 0");
        w->good = false;
        return pose_identity().R;
    }
    normal = v3_scale(1 / length, normal);
    if (normal.z < 0) { /* half a turn about x first */
        sim_m3 half = {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
        sim_v3 axis = v3_cross(v3_neg(z), normal);
        quat q = quat_normalised((quat){1 - normal.z, axis.x, axis.y, axis.z});
        return m3_product(quat_matrix(q), half);
    }
    sim_v3 axis = v3_cross(z, normal);
    return quat_matrix(quat_normalised((quat){1 + normal.z, axis.x, axis.y, axis.z}));
}

static void put_contact(sdf_work *w, const link_shape *shape) {
    const xml_element *surface = xml_child(shape->at, "surface"), *contact = xml_child(surface, "contact");
    const xml_element *ode = xml_child(xml_child(surface, "friction"), "ode");
    char name[40];
    snprintf(name, sizeof name, "surface_%d", shape->surface);
    writer_put_text(w->out, "material", name);
    double bits = 65535, along[3] = {0};
    if (contact) {
        xml_number(contact, "collide_bitmask", &bits);
    }
    if (w->masked) {
        writer_put_number(w->out, "group", bits);
        writer_put_number(w->out, "mask", bits);
    }
    if (ode && xml_vector(ode, "fdir1", along) && (along[0] != 0 || along[1] != 0 || along[2] != 0)) {
        writer_put_numbers(w->out, "friction_direction", 3, along);
    }
}

bool sdf_is_auto(const sdf_work *w, int link) {
    const xml_element *inertial = xml_child(w->frame[w->link[link].frame].at, "inertial");
    return inertial && xml_flag(inertial, "auto");
}

/* Of a link whose shapes have its mass: a mass that is given is that of its only shape. */
static void put_density(sdf_work *w, int link, const link_shape *shape) {
    const xml_element *at = w->frame[w->link[link].frame].at, *inertial = xml_child(at, "inertial");
    const xml_element *first = xml_child(at, "collision");
    double density = 0;
    if (!sdf_is_auto(w, link)) {
        return;
    }
    if (xml_text(inertial, "mass")) {
        if (xml_next(first)) {
            xml_error(w->report, inertial, "mass", "give the shapes densities",
                      "a mass of several shapes whose moments are `auto` is not supported");
            w->good = false;
        }
        xml_number(inertial, "mass", &density);
        writer_put_number(w->out, "mass", density);
        return;
    }
    if (!xml_number(shape->at, "density", &density)) {
        xml_number(inertial, "density", &density);
    }
    writer_put_number(w->out, "density", density);
}

static void put_shape(sdf_work *w, int link, const link_shape *shape, bool contact, const char *use) {
    bool hull = shape->file && contact && w->options.mesh == SIM_MESH_CONVEX;
    sdf_here(w, shape->geometry);
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "type", hull ? "convex" : is_kind(shape, "plane") ? "half_space" : shape->geometry->name);
    if (use) {
        writer_put_text(w->out, "use", use);
    }
    /* size, place, look */
    if (shape->file) {
        put_mesh(w, shape, contact);
    } else {
        put_lengths(w, shape->geometry);
    }
    sim_pose X = sdf_read_pose_in_link(w, link, xml_child(shape->at, "pose"));
    if (is_kind(shape, "plane")) {
        X.R = m3_product(X.R, turn_to(w, shape->geometry));
    }
    sdf_put_pose(w, "pose", X);
    if (contact) {
        put_density(w, link, shape);
        put_contact(w, shape);
    } else {
        put_color(w, shape->at);
    }
    writer_close(w->out, '}');
}

/* ---- all of a link ---- */

/* The first element that is a known shape. */
const xml_element *sdf_shape_element(const xml_element *shape) {
    const xml_element *geometry = xml_child(shape, "geometry"), *e = geometry ? geometry->first : NULL;
    while (e && !e->table) {
        e = e->next;
    }
    return e && strcmp(e->name, "empty") != 0 ? e : NULL;
}

static int list_shapes(sdf_work *w, int link, const char *name, link_shape *list) {
    bool picture = strcmp(name, "visual") == 0;
    int count = 0;
    for (const xml_element *e = xml_child(w->frame[w->link[link].frame].at, name); e; e = xml_next(e)) {
        link_shape shape = {.at = e, .geometry = sdf_shape_element(e)};
        if (!xml_child(e, "geometry")) {
            xml_notice(w->report, e, NULL, NULL, "<%s> without <geometry> shows nothing", name);
        }
        if (shape.geometry && (!is_kind(&shape, "mesh") || find_mesh(w, link, &shape, picture))) {
            shape.surface = picture ? 0 : sdf_find_surface(w, e);
            list[count++] = shape;
        }
    }
    return count;
}

void sdf_put_shapes(sdf_work *w, int link) {
    int most = 0;
    for (const xml_element *e = w->frame[w->link[link].frame].at->first; e; e = e->next) {
        most++;
    }
    link_shape *list = POOL_NEW(w->pool, link_shape, most);
    if (!list) {
        w->report->no_memory = true;
        return;
    }
    int nsolid = list_shapes(w, link, "collision", list), nvisual = list_shapes(w, link, "visual", list + nsolid);
    if (nsolid + nvisual == 0) {
        return;
    }
    writer_open(w->out, "shapes", '[');
    for (int k = 0; k < nsolid + nvisual; k++) {
        put_shape(w, link, &list[k], k < nsolid, k >= nsolid ? "picture" : nvisual ? "contact" : NULL);
    }
    writer_close(w->out, ']');
}
