/* Hulls, meshes, height fields and distance fields: each built once for all shapes and copies of models. */
#include "math/spatial.h"
#include "scene/loader/loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Geometries by their source: a value of the scene, or a file. */
struct geometry_entry {
    int type;
    const char *path; /* NULL: numbers of the scene */
    sim_v3 scale;
    const sim_geometry *geometry; /* NULL: it is wrong, and that was said */
    char content[65];             /* of the triangles of a file, as they are scaled; empty: numbers of the scene */
    int borders;                  /* edges of a mesh with nothing across */
    geometry_entry *first;        /* another with the same content; NULL: none */
    struct decomposition *decompositions;
    struct geometry_entry *next;
};

/* Parts of a mesh, by their options. */
typedef struct decomposition {
    sim_split_options options;
    const sim_geometry **part;
    int count;
    struct decomposition *next;
} decomposition;

/* ---- once each ---- */

static const char *const source_key[] = {"type",    "file",    "scale",  "points", "triangles",
                                         "heights", "columns", "extent", "field",  "resolution"};
enum { SOURCE_KEYS = sizeof source_key / sizeof source_key[0] };

static bool check_source(loader *l, const shape_data *d, sim_v3 *scale) {
    const char *name = sim_shape_name((sim_shape_type)d->type);
    if ((d->type == SIM_CONVEX || d->type == SIM_MESH) && !d->file && !d->points.count) {
        report_once(&l->report, d->at, NULL, "a %s needs \"file\" or \"points\"", name);
        return false;
    }
    if (d->type == SIM_MESH && !d->file != !!d->triangles.count) {
        const node *at = node_member(d->at, d->file ? "triangles" : "points");
        report_once(&l->report, at, NULL, "\"points\" of a mesh need \"triangles\", a file excludes them");
        return false;
    }
    const node *given = node_member(d->at, "scale");
    if (given && !d->file) {
        report_once(&l->report, given, NULL, "\"scale\" applies to files, not to points");
        return false;
    }
    return read_scale(l, d->at, &d->scale, scale);
}

static const node *source_node(const shape_data *d) {
    const char *const key[] = {"file", "triangles", "points", "heights"};
    const node *at = NULL;
    for (int k = 0; k < 4 && !at; k++) {
        at = node_member(d->at, key[k]);
    }
    return at ? at : d->at;
}

static void doubt_outlines(loader *l, const node *at, const char *path, const sim_triangles *t) {
    if (t->ncrossed) {
        report_warning(&l->report, at, NULL,
                       "%.200s:%ld:%ld: the outline of this face%s crosses itself: cut into triangles that overlap",
                       path, t->crossed_line, t->crossed_column, t->ncrossed == 1 ? "" : ", the first of several,");
    }
}

/* From a file, unless its triangles make a geometry that is there already: e->first. */
static sim_geometry *make_from_file(loader *l, const shape_data *d, geometry_entry *e, sim_error *why) {
    sim_triangles t = {0};
    sha256_state state;
    if (read_file_triangles(l, e->path, e->scale, &t, why)) {
        return NULL;
    }
    sha256_start(&state);
    sha256_add(&state, t.vertex, (size_t)t.nvertex * sizeof *t.vertex);
    sha256_add(&state, t.triangle, (size_t)t.ntriangle * sizeof *t.triangle);
    sha256_finish(&state, e->content);
    for (geometry_entry *o = l->geometries; o && !e->first; o = o->next) {
        bool alike = o != e && o->type == e->type && o->geometry && strcmp(o->content, e->content) == 0;
        e->first = alike ? o : NULL;
    }
    sim_geometry *g = e->first ? NULL : geometry_of_triangles(l, d->type, &t, why);
    if (!e->first) {
        doubt_outlines(l, source_node(d), e->path, &t);
    }
    free(t.vertex);
    free(t.triangle);
    return g;
}

static void build_geometry(loader *l, const document *from, const shape_data *d, geometry_entry *e) {
    /* from a file, numbers or a definition */
    sim_error why = {0};
    sim_geometry *g = d->type == SIM_SDF ? geometry_from_field(l, from, d)
                      : e->path          ? make_from_file(l, d, e, &why)
                                         : geometry_from_rows(l, d, &why);
    if (e->first) {
        e->geometry = e->first->geometry;
        e->borders = e->first->borders;
        return;
    }
    if (!g) {
        report_geometry(l, source_node(d), &why);
        return;
    }
    /* into the model */
    for (int k = 0; g->type == SIM_GEOMETRY_MESH && k < 3 * g->mesh->ntriangle; k++) {
        e->borders += g->mesh->across[k / 3][k % 3] < 0;
    }
    uint64_t print = g->fingerprint;
    sha256_add(&l->hash, &print, sizeof print);
    e->geometry = sim_builder_add_geometry(l->builder, g);
    l->report.no_memory |= !e->geometry;
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
            if (!same_tree(node_member(shape, source_key[k]), node_member(shape->origin, source_key[k]))) {
                return (node *)shape;
            }
        }
        shape = shape->origin;
    }
    return (node *)shape;
}

static geometry_entry *entry_of(loader *l, const document *from, const shape_data *d, sim_v3 scale) {
    const char *path = d->file ? path_beside(l, from, d->file) : NULL;
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
    build_geometry(l, from, d, e);
    return e;
}

/* An open surface is as often a mistake as it is meant. */
static bool check_open(loader *l, const shape_data *d, const geometry_entry *e) {
    if (d->type != SIM_MESH || !e->geometry || d->use == USE_PICTURE || !d->open == !!e->geometry->mesh->closed) {
        return true;
    }
    if (d->open) {
        report_once(&l->report, node_member(d->at, "open"), NULL, "\"open\" is true, but the surface is closed");
        return false;
    }
    const char *hint = "close it, or give \"open\": true", *acts = "it stops bodies from its front only";
    if (e->borders > 0) {
        report_warning(
            &l->report, source_node(d), hint,
            "the surface is open: %d edges of its triangles have no neighbour, or one of opposite orientation; %s",
            e->borders, acts);
    } else {
        report_warning(&l->report, source_node(d), hint, "the surface encloses no volume; %s", acts);
    }
    return true;
}

const sim_geometry *find_shape_geometry(loader *l, const document *from, const shape_data *d) {
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

/* ---- parts ---- */

enum { STEPS_PER_PART = 20000000, STEPS_PER_CUT_TRIANGLE = 50000 }; /* measured */

/* The parts become the builder's. */
static void take_parts(loader *l, decomposition *c, sim_parts *parts) {
    c->part = POOL_NEW(l->work, const sim_geometry *, parts->count);
    l->report.no_memory |= !c->part;
    for (int k = 0; k < parts->count && c->part; k++) {
        uint64_t print = parts->part[k]->fingerprint;
        sha256_add(&l->hash, &print, sizeof print);
        c->part[k] = sim_builder_add_geometry(l->builder, parts->part[k]);
        l->report.no_memory |= !c->part[k];
        parts->part[k] = NULL;
    }
    c->count = l->report.no_memory ? 0 : parts->count;
}

/* An open surface has no inside to fill: its hull stands for it. */
static sim_status hull_of_open(loader *l, const sim_geometry *mesh, const node *at, sim_parts *parts, sim_error *why) {
    report_warning(&l->report, at, NULL, "the surface is open: its convex hull has its contacts");
    *parts = (sim_parts){.count = 1, .part = calloc(1, sizeof *parts->part)};
    if (!parts->part) {
        return sim_fail(why, SIM_NO_RESOURCE, "no memory for the parts of a mesh");
    }
    parts->part[0] = sim_geometry_hull(mesh->mesh->vertex, mesh->mesh->nvertex, why);
    return parts->part[0] ? SIM_OK : why->status;
}

static sim_status split_mesh(loader *l, const shape_data *d, const sim_geometry *mesh, sim_parts *parts,
                             sim_error *why) {
    /* room, as far as it is known before */
    const sim_split_options options = {d->decompose.concavity, (int)d->decompose.parts};
    int64_t steps = mesh->mesh->convex ? 0 : (int64_t)mesh->mesh->ntriangle * STEPS_PER_CUT_TRIANGLE;
    if (!mesh->mesh->closed) {
        return hull_of_open(l, mesh, d->decompose.at, parts, why);
    }
    if (steps > l->steps_left) {
        return sim_fail(why, SIM_BAD_INPUT, "the solids of the scene are too many to decompose one of %d triangles",
                        mesh->mesh->ntriangle);
    }
    /* the parts; do they keep to the bound that was asked for? */
    sim_status status = sim_geometry_split(mesh, &options, parts, why);
    l->steps_left -= steps + (parts->count > 1 ? (int64_t)parts->count * STEPS_PER_PART : 0);
    if (!status && options.concavity > 0 && parts->concavity > options.concavity) {
        report_warning(&l->report, d->decompose.at, "allow more \"parts\"",
                       "%d parts reach up to %.3g m beyond the mesh", parts->count, parts->concavity);
    }
    return status;
}

int find_shape_parts(loader *l, const shape_data *d, const sim_geometry *const **part) {
    /* once for a mesh and its options */
    geometry_entry *e = d->at->geometry;
    e = e->first ? e->first : e;
    const sim_split_options options = {d->decompose.concavity, (int)d->decompose.parts};
    decomposition *c = e->decompositions;
    while (c && (c->options.concavity != options.concavity || c->options.parts != options.parts)) {
        c = c->next;
    }
    if (!c && e->geometry && l->builder) {
        c = POOL_NEW(l->work, decomposition, 1);
        sim_parts parts = {0};
        sim_error why = {0};
        if (!c) {
            l->report.no_memory = true;
            return 0;
        }
        *c = (decomposition){.options = options, .next = e->decompositions};
        e->decompositions = c;
        if (split_mesh(l, d, e->geometry, &parts, &why)) {
            report_geometry(l, d->decompose.at, &why);
        } else {
            take_parts(l, c, &parts);
        }
        sim_parts_free(&parts);
    }
    *part = c ? c->part : NULL;
    return c ? c->count : 0;
}
