/* Shapes of a link: <visual> is drawn, <collision> touches.
 *
 * A collision shape that is also a visual one, to the last digit, is one shape of the scene with the colour of the
 * visual one.  Where nothing of a link can be drawn, its collision shapes are. */
#include "base/words.h"
#include "scene/urdf/urdf.h"
#include "scene/xml/robot.h"

#include <stdio.h>
#include <string.h>

typedef struct link_shape {
    const xml_element *at, *geometry; /* geometry: box, sphere, ... */
    const char *file;                 /* of a mesh */
    const xml_element *look;          /* whose colour it takes: a visual shape; NULL: none */
    bool picture, contact;
} link_shape;

/* ---- comparison ---- */

static bool same_numbers(const xml_element *a, const xml_element *b, const char *key, int count) {
    double x[4] = {0}, y[4] = {0};
    if (a) {
        xml_vector(a, key, x);
    }
    if (b) {
        xml_vector(b, key, y);
    }
    return memcmp(x, y, (size_t)count * sizeof *x) == 0;
}

static bool is_same_shape(const link_shape *a, const link_shape *b) {
    if (a->file || b->file || strcmp(a->geometry->name, b->geometry->name) != 0) {
        return false;
    }
    const xml_element *at_a = xml_child(a->at, "origin"), *at_b = xml_child(b->at, "origin");
    for (const xml_attribute *k = a->geometry->attribute; k; k = k->next) {
        if (strcmp(k->name, "size") == 0 ? !same_numbers(a->geometry, b->geometry, k->name, 3)
                                         : !same_numbers(a->geometry, b->geometry, k->name, 1)) {
            return false;
        }
    }
    return same_numbers(at_a, at_b, "xyz", 3) && same_numbers(at_a, at_b, "rpy", 3);
}

/* ---- files of meshes ---- */

/* A mesh that cannot be had is left out of pictures with a notice; of contacts only where that is allowed. */
static bool find_mesh(urdf_work *w, link_shape *shape) {
    const char *name = xml_text(shape->geometry, "filename"), *tried = name;
    bool readable = xml_is_mesh_name(name);
    sim_error why = {0};
    shape->file = readable ? urdf_find_file(w, shape->geometry, "filename", name, &tried) : NULL;
    if (shape->file && urdf_can_read(w, shape->geometry, shape->file, &why)) {
        return true;
    }
    if (shape->picture) {
        w->undrawn_why = w->undrawn || !shape->file ? w->undrawn_why : pool_text(w->pool, why.text);
        w->undrawn = w->undrawn ? w->undrawn : shape->geometry;
        w->nundrawn++;
        return false;
    }
    const char *hint = strstr(name, "://")
                           ? "--package NAME=DIR says where a package is; --allow mesh leaves such shapes out"
                           : "--allow mesh leaves such shapes out";
    if (!xml_miss_mesh(w->report, &w->allowed, shape->geometry, "filename", readable ? tried : NULL, &why, hint)) {
        w->good = false;
    }
    return false;
}

/* ---- one shape as JSON ---- */

static void put_size(urdf_work *w, const xml_element *geometry) {
    double size[3], radius, length;
    if (xml_text(geometry, "size") && xml_vector(geometry, "size", size)) {
        writer_put_numbers(w->out, "size", 3, size);
    }
    if (xml_text(geometry, "radius") && xml_number(geometry, "radius", &radius)) {
        writer_put_number(w->out, "radius", radius);
    }
    if (xml_text(geometry, "length") && xml_number(geometry, "length", &length)) {
        writer_put_number(w->out, "length", length);
    }
}

static void put_mesh(urdf_work *w, const link_shape *shape) {
    double scale[3] = {1, 1, 1};
    writer_put_text(w->out, "file", shape->file);
    xml_vector(shape->geometry, "scale", scale);
    if (scale[0] != scale[1] || scale[0] != scale[2]) {
        writer_put_numbers(w->out, "scale", 3, scale);
    } else if (scale[0] != 1) {
        writer_put_number(w->out, "scale", scale[0]);
    }
}

static double within_unit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void put_color(urdf_work *w, const link_shape *shape) {
    const xml_element *color = shape->look ? urdf_find_color(w, shape->look) : NULL;
    double rgba[4];
    if (!color || !xml_vector(color, "rgba", rgba)) {
        return;
    }
    for (int k = 0; k < 4; k++) {
        rgba[k] = within_unit(rgba[k]);
    }
    writer_put_numbers(w->out, "color", rgba[3] == 1 ? 3 : 4, rgba);
}

static const char *scene_type(const urdf_work *w, const link_shape *shape) {
    const char *name = shape->geometry->name;
    if (shape->file) {
        return shape->contact && w->options.mesh == SIM_MESH_CONVEX ? "convex" : "mesh";
    }
    return strcmp(name, "drake:capsule") == 0 ? "capsule" : name;
}

static void put_shape(urdf_work *w, const link_shape *shape) {
    /* type and use */
    w->out->here = shape->geometry->at;
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "type", scene_type(w, shape));
    if (!shape->contact) {
        writer_put_text(w->out, "use", "picture");
    } else if (!shape->picture) {
        writer_put_text(w->out, "use", "contact");
    }
    /* size, place, colour */
    if (shape->file) {
        put_mesh(w, shape);
        if (shape->contact && w->options.mesh == SIM_MESH_DECOMPOSED) {
            writer_open(w->out, "decompose", '{');
            writer_close(w->out, '}');
        }
    } else {
        put_size(w, shape->geometry);
    }
    urdf_put_pose(w, "pose", xml_child(shape->at, "origin"));
    put_color(w, shape);
    writer_close(w->out, '}');
}

/* ---- all of a link ---- */

/* The first element that is a known shape: the tables hold that there is one. */
static const xml_element *shape_element(const xml_element *geometry) {
    const xml_element *e = geometry->first;
    while (e && !e->table) {
        e = e->next;
    }
    return e;
}

/* Is a size 0?  Such a shape can be seen no more than one that is not there. */
static bool has_no_extent(const xml_element *geometry) {
    double size[3] = {1, 1, 1}, radius = 1;
    if (xml_text(geometry, "size")) {
        xml_vector(geometry, "size", size);
    }
    if (xml_text(geometry, "radius")) {
        xml_number(geometry, "radius", &radius);
    }
    return size[0] == 0 || size[1] == 0 || size[2] == 0 || radius == 0;
}

static int list_shapes(urdf_work *w, const xml_element *link, const char *name, bool picture, link_shape *list) {
    int count = 0;
    for (const xml_element *e = xml_child(link, name); e; e = xml_next(e)) {
        link_shape shape = {.at = e, .geometry = shape_element(xml_child(e, "geometry"))};
        shape.picture = picture;
        shape.contact = !picture;
        shape.look = picture ? e : NULL;
        if (picture && has_no_extent(shape.geometry)) {
            xml_notice(w->report, shape.geometry, NULL, NULL, "ignored: a visual shape without extent");
            continue;
        }
        if (strcmp(shape.geometry->name, "mesh") != 0 || find_mesh(w, &shape)) {
            list[count++] = shape;
        }
    }
    return count;
}

/* A collision shape takes the place of the visual one that is the same. */
static int join_twins(link_shape *visual, int nvisual, link_shape *solid, int nsolid) {
    const long long most_pairs = 1000000;
    if ((long long)nvisual * nsolid > most_pairs) {
        return nvisual;
    }
    int kept = 0;
    for (int i = 0; i < nvisual; i++) {
        int twin = 0;
        while (twin < nsolid && (solid[twin].look || !is_same_shape(&visual[i], &solid[twin]))) {
            twin++;
        }
        if (twin < nsolid) {
            solid[twin].picture = true;
            solid[twin].look = visual[i].at;
        } else {
            visual[kept++] = visual[i];
        }
    }
    return kept;
}

void urdf_put_shapes(urdf_work *w, const xml_element *link) {
    /* lists of both kinds */
    int most = 0;
    for (const xml_element *e = link->first; e; e = e->next) {
        most++;
    }
    link_shape *visual = POOL_NEW(w->pool, link_shape, most), *solid = POOL_NEW(w->pool, link_shape, most);
    if (!visual || !solid) {
        w->report->no_memory = true;
        return;
    }
    int nvisual = list_shapes(w, link, "visual", true, visual), drawn = nvisual;
    int nsolid = list_shapes(w, link, "collision", false, solid);
    nvisual = join_twins(visual, nvisual, solid, nsolid);
    if (nvisual + nsolid == 0) {
        return;
    }
    /* contacts first; drawn where nothing else is */
    writer_open(w->out, "shapes", '[');
    for (int k = 0; k < nsolid; k++) {
        solid[k].picture |= drawn == 0;
        put_shape(w, &solid[k]);
    }
    for (int k = 0; k < nvisual; k++) {
        put_shape(w, &visual[k]);
    }
    writer_close(w->out, ']');
}
