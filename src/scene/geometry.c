/* Hulls, meshes, height fields and distance fields: each built once, however many shapes and copies of models use it. */
#include "math/spatial.h"
#include "scene/loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What was built, from what: a value of the scene, or a file. */
struct geometry_entry {
    int type;
    const char *path; /* NULL: numbers of the scene */
    sim_v3 scale;
    const sim_geometry *geometry; /* NULL: it is wrong, and that was said */
    int borders;                  /* edges of a mesh with nothing across */
    struct geometry_entry *next;
};

/* Steps, of which a scene has room for so many (scene_limits): measured. */
enum { STEPS_PER_TRIANGLE = 1000, STEPS_PER_POINT = 3000, STEPS_PER_HEIGHT = 20 };

bool sim_read_scale(loader *l, const node *at, const number_list *given, sim_v3 *scale) {
    const double *s = given->value;
    *scale = given->count == 3   ? (sim_v3){s[0], s[1], s[2]}
             : given->count == 0 ? (sim_v3){1, 1, 1}
                                 : (sim_v3){s[0], s[0], s[0]};
    if (given->count == 2 || scale->x == 0 || scale->y == 0 || scale->z == 0) {
        sim_report_once(&l->report, sim_node_member(at, "scale"), NULL,
                        "expected one factor, or three; none of them 0");
        return false;
    }
    return true;
}

void sim_report_geometry(loader *l, const node *at, const sim_error *why) {
    if (why->status) {
        l->report.no_resource |= why->status == SIM_NO_RESOURCE;
        sim_report_once(&l->report, at, NULL, "%s", why->text);
    }
}

static bool has_room(loader *l, int count, int steps, const char *what, sim_error *why) {
    if (count > l->steps_left / steps) {
        sim_fail(why, SIM_BAD_INPUT, "the solids of the scene are too many: this one has %d %s, there is room for %lld",
                 count, what, (long long)(l->steps_left / steps));
        return false;
    }
    l->steps_left -= (int64_t)count * steps;
    return true;
}

/* ---- from numbers in the scene ---- */

static sim_v3 *points_of(loader *l, const number_list *rows) {
    sim_v3 *point = POOL_NEW(l->work, sim_v3, rows->count / 3);
    for (int k = 0; point && k < rows->count / 3; k++) {
        point[k] = (sim_v3){rows->value[3 * k], rows->value[3 * k + 1], rows->value[3 * k + 2]};
    }
    return point;
}

static sim_geometry *hull_of(loader *l, const sim_v3 *point, int count, sim_error *why) {
    return has_room(l, count, STEPS_PER_POINT, "points", why) ? sim_geometry_hull(point, count, why) : NULL;
}

static sim_geometry *mesh_of(loader *l, const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                             sim_error *why) {
    return has_room(l, ntriangle, STEPS_PER_TRIANGLE, "triangles", why)
               ? sim_geometry_mesh(vertex, nvertex, triangle, ntriangle, why)
               : NULL;
}

static sim_geometry *mesh_of_rows(loader *l, const shape_data *d, const sim_v3 *point, sim_error *why) {
    int count = d->triangles.count / 3, points = d->points.count / 3;
    int(*triangle)[3] = (int(*)[3])sim_pool_alloc(l->work, (size_t)count, sizeof *triangle);
    if (!triangle) {
        sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    for (int k = 0; k < 3 * count; k++) {
        double number = d->triangles.value[k];
        if (number >= points) {
            sim_fail(why, SIM_BAD_INPUT, "triangle %d names point %.0f; there are %d, counted from 0", k / 3, number,
                     points);
            return NULL;
        }
        triangle[k / 3][k % 3] = (int)number;
    }
    return mesh_of(l, point, points, (const int(*)[3])triangle, count, why);
}

static sim_geometry *from_rows(loader *l, const shape_data *d, sim_error *why) {
    if (d->type == SIM_HEIGHT_FIELD) {
        int columns = (int)d->columns, rows = d->heights.count / columns;
        if (rows < 2 || rows * columns != d->heights.count) {
            sim_fail(why, SIM_BAD_INPUT, "%d heights do not make two or more rows of %d", d->heights.count, columns);
            return NULL;
        }
        return has_room(l, d->heights.count, STEPS_PER_HEIGHT, "heights", why)
                   ? sim_geometry_heights(columns, rows, d->extent, d->heights.value, why)
                   : NULL;
    }
    sim_v3 *point = points_of(l, &d->points);
    if (!point) {
        sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    return d->type == SIM_CONVEX ? hull_of(l, point, d->points.count / 3, why) : mesh_of_rows(l, d, point, why);
}

/* ---- from files ---- */

sim_geometry *sim_geometry_from_file(loader *l, int type, const char *path, sim_v3 scale, sim_error *why) {
    sim_triangles t = {0};
    if (!path[0] || path[strlen(path) - 1] == '/') {
        sim_fail(why, SIM_BAD_INPUT, "expected the name of a file");
        return NULL;
    }
    if (++l->nfiles > l->limits.files) {
        sim_fail(why, SIM_BAD_INPUT, "more than %d files", l->limits.files);
        return NULL;
    }
    if (l->files.mesh(l->files.context, path, scale, &l->mesh_bytes_left, &t, why)) {
        return NULL;
    }
    sim_loader_note_file(l, path);
    sim_geometry *g = type == SIM_CONVEX
                          ? hull_of(l, t.vertex, t.nvertex, why)
                          : mesh_of(l, t.vertex, t.nvertex, (const int(*)[3])t.triangle, t.ntriangle, why);
    free(t.vertex);
    free(t.triangle);
    return g;
}

/* ---- once each ---- */

static const char *const source_key[] = {"type",    "file",    "scale",  "points", "triangles",
                                         "heights", "columns", "extent", "field",  "resolution"};
enum { SOURCE_KEYS = sizeof source_key / sizeof source_key[0] };

static bool check_source(loader *l, const shape_data *d, sim_v3 *scale) {
    const char *name = sim_shape_name((sim_shape_type)d->type);
    if ((d->type == SIM_CONVEX || d->type == SIM_MESH) && !d->file && !d->points.count) {
        sim_report_once(&l->report, d->at, NULL, "a %s needs \"file\" or \"points\"", name);
        return false;
    }
    if (d->type == SIM_MESH && !d->file != !!d->triangles.count) {
        const node *at = sim_node_member(d->at, d->file ? "triangles" : "points");
        sim_report_once(&l->report, at, NULL, "\"points\" of a mesh go with \"triangles\", a file without them");
        return false;
    }
    const node *given = sim_node_member(d->at, "scale");
    if (given && !d->file) {
        sim_report_once(&l->report, given, NULL, "\"scale\" is for files: here are points");
        return false;
    }
    return sim_read_scale(l, d->at, &d->scale, scale);
}

static const node *place_of(const shape_data *d) {
    const char *const key[] = {"file", "triangles", "points", "heights"};
    const node *at = NULL;
    for (int k = 0; k < 4 && !at; k++) {
        at = sim_node_member(d->at, key[k]);
    }
    return at ? at : d->at;
}

static sim_geometry *make(loader *l, const document *from, const shape_data *d, const geometry_entry *e) {
    sim_error why = {0};
    if (d->type == SIM_SDF) {
        return sim_geometry_from_field(l, from, d);
    }
    sim_geometry *g = e->path ? sim_geometry_from_file(l, d->type, e->path, e->scale, &why) : from_rows(l, d, &why);
    if (!g) {
        sim_report_geometry(l, place_of(d), &why);
    }
    return g;
}

static void build(loader *l, const document *from, const shape_data *d, geometry_entry *e) {
    sim_geometry *g = make(l, from, d, e);
    if (g) {
        for (int k = 0; g->type == SIM_GEOMETRY_MESH && k < 3 * g->mesh->ntriangle; k++) {
            e->borders += g->mesh->across[k / 3][k % 3] < 0;
        }
        uint64_t print = g->fingerprint;
        sim_sha256_add(&l->hash, &print, sizeof print);
        e->geometry = sim_builder_add_geometry(l->builder, g);
        l->report.no_memory |= !e->geometry;
    }
}

static bool same_tree(const node *a, const node *b) {
    if (!a || !b) {
        return a == b;
    }
    if (a->kind != b->kind || a->count != b->count || (a->kind == NODE_TEXT && strcmp(a->text, b->text) != 0) ||
        ((a->kind == NODE_NUMBER || a->kind == NODE_FLAG) && a->number != b->number)) {
        return false;
    }
    const node *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if ((x->key && strcmp(x->key, y->key) != 0) || !same_tree(x, y)) {
            return false;
        }
    }
    return x == y;
}

/* The first shape of which this one is a copy, as far as its geometry goes: overrides copy whole models. */
static node *first_of(const node *shape) {
    while (shape->origin && shape->origin->kind == shape->kind) {
        for (int k = 0; k < SOURCE_KEYS; k++) {
            if (!same_tree(sim_node_member(shape, source_key[k]), sim_node_member(shape->origin, source_key[k]))) {
                return (node *)shape;
            }
        }
        shape = shape->origin;
    }
    return (node *)shape;
}

static geometry_entry *entry_of(loader *l, const document *from, const shape_data *d, sim_v3 scale) {
    const char *path = d->file ? sim_path_beside(l, from, d->file) : NULL;
    for (geometry_entry *e = l->geometries; path && e; e = e->next) {
        if (e->type == d->type && strcmp(path, e->path) == 0 && memcmp(&scale, &e->scale, sizeof scale) == 0) {
            return e;
        }
    }
    geometry_entry *e = POOL_NEW(l->work, geometry_entry, 1);
    if (!e || (d->file && !path)) {
        l->report.no_memory = true;
        return NULL;
    }
    *e = (geometry_entry){.type = d->type, .path = path, .scale = scale};
    if (path) {
        e->next = l->geometries;
        l->geometries = e;
    }
    build(l, from, d, e);
    return e;
}

/* An open surface is as often a mistake as it is meant. */
static bool check_open(loader *l, const shape_data *d, const geometry_entry *e) {
    if (d->type != SIM_MESH || !e->geometry || !d->open == !!e->geometry->mesh->closed) {
        return true;
    }
    if (d->open) {
        sim_report_once(&l->report, sim_node_member(d->at, "open"), NULL,
                        "\"open\" is true, but the surface is closed");
        return false;
    }
    const char *hint = "close it, or say \"open\": true", *acts = "it holds only what comes from its front";
    if (e->borders > 0) {
        sim_report_warning(&l->report, place_of(d), hint,
                           "the surface is open: at %d edges of its triangles there is no neighbour, or one that is "
                           "turned the other way; %s",
                           e->borders, acts);
    } else {
        sim_report_warning(&l->report, place_of(d), hint, "the surface encloses nothing; %s", acts);
    }
    return true;
}

const sim_geometry *sim_shape_geometry_of(loader *l, const document *from, const shape_data *d) {
    node *at = (node *)d->at;
    sim_v3 scale;
    if (!at->geometry) {
        if (!l->builder || !check_source(l, d, &scale)) {
            return NULL;
        }
        node *first = first_of(at);
        first->geometry = first->geometry ? first->geometry : entry_of(l, from, d, scale);
        at->geometry = first->geometry;
        if (at->geometry && !check_open(l, d, at->geometry)) {
            return NULL;
        }
    }
    return at->geometry ? at->geometry->geometry : NULL;
}
