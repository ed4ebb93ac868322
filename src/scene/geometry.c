/* Hulls, meshes, height fields and distance fields: each built once, however many shapes and copies of models use it. */
#include "math/spatial.h"
#include "scene/loader.h"
#include "scene/placement.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What was built, from what: a value of the scene, or a file. */
typedef struct geometry_entry {
    int type;
    const node *at;   /* the shape, where its geometry stands in the scene */
    const char *path; /* else the file */
    sim_v3 scale;
    const sim_geometry *geometry; /* NULL: it is wrong, and that was said */
    struct geometry_entry *next;
} geometry_entry;

static sim_v3 scale_of(const number_list *given) {
    const double *s = given->value;
    return given->count == 3   ? (sim_v3){s[0], s[1], s[2]}
           : given->count == 0 ? (sim_v3){1, 1, 1}
                               : (sim_v3){s[0], s[0], s[0]};
}

static bool check_scale(loader *l, const node *at, const number_list *given) {
    sim_v3 s = scale_of(given);
    if (given->count == 2 || s.x == 0 || s.y == 0 || s.z == 0) {
        sim_report_once(&l->report, sim_node_member(at, "scale"), NULL, "one factor, or three; none of them 0");
        return false;
    }
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
    return sim_geometry_mesh(point, points, (const int(*)[3])triangle, count, why);
}

static sim_geometry *from_rows(loader *l, const shape_data *d, sim_error *why) {
    if (d->type == SIM_HEIGHT_FIELD) {
        int columns = (int)d->columns, rows = d->heights.count / columns;
        if (rows < 2 || rows * columns != d->heights.count) {
            sim_fail(why, SIM_BAD_INPUT, "%d heights do not make two or more rows of %d", d->heights.count, columns);
            return NULL;
        }
        return sim_geometry_heights(columns, rows, d->extent, d->heights.value, why);
    }
    sim_v3 *point = points_of(l, &d->points);
    if (!point) {
        sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    return d->type == SIM_CONVEX ? sim_geometry_hull(point, d->points.count / 3, why) : mesh_of_rows(l, d, point, why);
}

/* ---- from files ---- */

static sim_geometry *from_file(loader *l, int type, const char *path, sim_v3 scale, sim_error *why) {
    sim_triangles t = {0};
    if (++l->nfiles > l->limits.files) {
        sim_fail(why, SIM_BAD_INPUT, "more than %d files", l->limits.files);
        return NULL;
    }
    if (l->files.mesh(l->files.context, path, scale, &t, why)) {
        return NULL;
    }
    sim_geometry *g = type == SIM_CONVEX
                          ? sim_geometry_hull(t.vertex, t.nvertex, why)
                          : sim_geometry_mesh(t.vertex, t.nvertex, (const int(*)[3])t.triangle, t.ntriangle, why);
    free(t.vertex);
    free(t.triangle);
    return g;
}

/* ---- distance fields ---- */

/* Meshes that live only while a field is built from them. */
typedef struct sampled {
    sim_geometry *mesh;
    struct sampled *next;
} sampled;

static bool read_field(loader *l, const document *from, const field_data *d, sim_field_def *out, sampled **meshes);

static bool read_grid(loader *l, const document *from, const field_data *d, sim_field_def *out, sampled **meshes) {
    const node *at = sim_node_member(d->at, "file");
    const char *path = sim_path_beside(l, from, d->file);
    sampled *s = POOL_NEW(l->work, sampled, 1);
    sim_error why = {0};
    if (!path || !s || !check_scale(l, d->at, &d->scale)) {
        l->report.no_memory |= !path || !s;
        return false;
    }
    s->mesh = from_file(l, SIM_MESH, path, scale_of(&d->scale), &why);
    if (!s->mesh) {
        l->report.no_memory |= why.status == SIM_NO_RESOURCE && !why.text[0];
        sim_report_once(&l->report, at, NULL, "%s", why.text);
        return false;
    }
    s->next = *meshes;
    *meshes = s;
    out->mesh = s->mesh;
    out->cell = d->cell;
    return true;
}

static bool read_children(loader *l, const document *from, const field_data *d, sim_field_def *out, sampled **meshes) {
    sim_field_def *child = POOL_NEW(l->work, sim_field_def, d->fields->count);
    bool good = child;
    l->report.no_memory |= !child;
    for (const node *n = child ? d->fields->first : NULL; n; n = n->next) {
        field_data own;
        good = sim_loader_read(l, n, &sim_table_solid, &own) &&
               read_field(l, from, &own, &child[out->nchild++], meshes) && good;
    }
    out->child = child;
    return good;
}

static bool read_field(loader *l, const document *from, const field_data *d, sim_field_def *out, sampled **meshes) {
    *out = sim_field_default();
    out->type = (sim_field_type)d->type;
    if (d->type == SIM_FIELD_BOX) {
        memcpy(out->size, d->size, sizeof out->size);
    } else {
        out->size[0] = d->radius;
        out->size[1] = d->length;
    }
    out->rounding = d->rounding;
    out->point = (const double(*)[2])d->points.value;
    out->npoint = d->points.count / 2;
    out->thickness = d->thickness;
    out->thread = (sim_thread){.diameter = d->diameter,
                               .pitch = d->pitch,
                               .depth = d->depth,
                               .length = d->length,
                               .flank_angle = d->flank_angle * (3.14159265358979323846 / 180),
                               .clearance = d->clearance,
                               .internal = d->internal,
                               .left = d->left};
    return sim_placement_read(&l->report, &d->pose, &out->pose) && (!d->file || read_grid(l, from, d, out, meshes)) &&
           (!d->fields || read_children(l, from, d, out, meshes));
}

/* 0 without having said anything leaves the reason in `why`. */
static sim_geometry *from_field(loader *l, const document *from, const shape_data *d, sim_error *why) {
    sim_field_def def;
    sampled *meshes = NULL;
    sim_geometry *g = NULL;
    if (read_field(l, from, &d->field, &def, &meshes)) {
        g = sim_geometry_field(&def, d->resolution, l->cache, why);
    }
    for (; meshes; meshes = meshes->next) {
        sim_geometry_free(meshes->mesh);
    }
    return g;
}

/* ---- once each ---- */

static bool check_source(loader *l, const shape_data *d) {
    if ((d->type == SIM_CONVEX || d->type == SIM_MESH) && !d->file && !d->points.count) {
        sim_report_once(&l->report, d->at, NULL, "a %s needs \"file\" or \"points\"",
                        sim_shape_name((sim_shape_type)d->type));
        return false;
    }
    if (d->type == SIM_MESH && !d->file != !!d->triangles.count) {
        sim_report_once(&l->report, d->at, NULL, "\"points\" of a mesh go with \"triangles\", a file without them");
        return false;
    }
    return check_scale(l, d->at, &d->scale);
}

static const node *place_of(const shape_data *d) {
    const char *const key[] = {"file", "points", "heights", "field"};
    const node *at = NULL;
    for (int k = 0; k < 4 && !at; k++) {
        at = sim_node_member(d->at, key[k]);
    }
    return at ? at : d->at;
}

static void build(loader *l, const document *from, const shape_data *d, geometry_entry *e) {
    sim_error why = {0};
    sim_geometry *g = d->type == SIM_SDF ? from_field(l, from, d, &why)
                      : e->path          ? from_file(l, d->type, e->path, e->scale, &why)
                                         : from_rows(l, d, &why);
    if (g) {
        uint64_t print = g->fingerprint;
        sim_sha256_add(&l->hash, &print, sizeof print);
        e->geometry = sim_builder_add_geometry(l->builder, g);
        l->report.no_memory |= !e->geometry;
    } else if (why.status) {
        sim_report_once(&l->report, place_of(d), NULL, "%s", why.text);
    }
}

const sim_geometry *sim_shape_geometry_of(loader *l, const document *from, const shape_data *d) {
    if (!l->builder || !check_source(l, d)) {
        return NULL;
    }
    geometry_entry wanted = {.type = d->type, .at = d->at, .scale = scale_of(&d->scale)};
    if (d->file && !(wanted.path = sim_path_beside(l, from, d->file))) {
        return NULL;
    }
    for (const geometry_entry *e = l->geometries; e; e = e->next) {
        bool same_file = wanted.path && e->path && strcmp(wanted.path, e->path) == 0 &&
                         memcmp(&wanted.scale, &e->scale, sizeof e->scale) == 0;
        if (e->type == wanted.type && (wanted.path ? same_file : e->at == wanted.at)) {
            return e->geometry;
        }
    }
    geometry_entry *e = POOL_NEW(l->work, geometry_entry, 1);
    if (!e) {
        l->report.no_memory = true;
        return NULL;
    }
    wanted.next = l->geometries;
    *e = wanted;
    l->geometries = e;
    build(l, from, d, e);
    return e->geometry;
}
