/* Distance fields of a scene: their definitions from its tree, and the places of errors. */
#include "geometry/field/field.h"
#include "math/angle.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <stdlib.h>
#include <string.h>

/* Meshes that live only while a field is built from them. */
typedef struct sampled {
    sim_geometry *mesh;
    const char *path;
    sim_v3 scale;
    struct sampled *next;
} sampled;

/* The definition on its way. */
typedef struct reading {
    loader *l;
    const document *from;
    sampled *meshes;
} reading;

static bool read_field(reading *r, const field_data *d, sim_field_def *out);

/* Each file once a field, whatever part of it is made of. */
static const sim_geometry *find_or_read_mesh(reading *r, const node *at, const char *path, sim_v3 scale) {
    sim_error why = {0};
    for (const sampled *s = r->meshes; s; s = s->next) {
        if (strcmp(s->path, path) == 0 && memcmp(&s->scale, &scale, sizeof scale) == 0) {
            return s->mesh;
        }
    }
    sampled *s = POOL_NEW(r->l->work, sampled, 1);
    sim_geometry *mesh = s ? geometry_from_file(r->l, SIM_MESH, path, scale, &why) : NULL;
    if (!mesh) {
        r->l->report.no_memory |= !s;
        report_geometry(r->l, at, &why);
        return NULL;
    }
    *s = (sampled){mesh, path, scale, r->meshes};
    r->meshes = s;
    if (!mesh->mesh->closed) {
        report_once(&r->l->report, at, NULL, "\"%.200s\": the surface is open or encloses no volume", path);
        return NULL;
    }
    return mesh;
}

static bool read_grid(reading *r, const field_data *d, sim_field_def *out) {
    const char *path = path_beside(r->l, r->from, d->file);
    sim_v3 scale;
    if (!path || !read_scale(r->l, d->at, &d->scale, &scale)) {
        return false;
    }
    out->mesh = find_or_read_mesh(r, node_member(d->at, "file"), path, scale);
    out->cell = d->cell;
    return out->mesh;
}

static bool read_children(reading *r, const field_data *d, sim_field_def *out) {
    int least = d->type == SIM_FIELD_DIFFERENCE ? 2 : 1;
    if (d->fields->count < least) {
        report_once(&r->l->report, d->fields, NULL, "%s %s needs at least %d, here %s %d",
                    d->type == SIM_FIELD_INTERSECTION ? "an" : "a", sim_field_name((sim_field_type)d->type), least,
                    d->fields->count == 1 ? "is" : "are", d->fields->count);
        return false;
    }
    sim_field_def *child = POOL_NEW(r->l->work, sim_field_def, d->fields->count);
    bool good = child;
    r->l->report.no_memory |= !child;
    for (const node *n = child ? d->fields->first : NULL; n; n = n->next) {
        field_data own;
        good = loader_read(r->l, n, &table_solid, &own) && read_field(r, &own, &child[out->nchild++]) && good;
    }
    out->child = child;
    return good;
}

static bool read_field(reading *r, const field_data *d, sim_field_def *out) {
    /* dimensions of a primitive */
    *out = sim_field_default();
    out->type = (sim_field_type)d->type;
    if (d->type == SIM_FIELD_BOX) {
        memcpy(out->size, d->size, sizeof out->size);
    } else {
        out->size[0] = d->radius;
        out->size[1] = d->length;
    }
    /* outline and thread */
    out->rounding = d->rounding;
    out->point = (const double(*)[2])d->points.value;
    out->npoint = d->points.count / 2;
    out->thickness = d->thickness;
    out->thread = (sim_thread){.diameter = d->diameter,
                               .pitch = d->pitch,
                               .depth = d->depth,
                               .length = d->length,
                               .flank_angle = d->flank_angle * RADIANS_PER_DEGREE,
                               .clearance = d->clearance,
                               .internal = d->internal,
                               .left = d->left};
    if (d->type == SIM_FIELD_THREAD && !d->internal && !node_member(d->at, "length")) {
        report_once(&r->l->report, d->at, NULL, "the key \"length\" is missing, which a rod needs");
        return false;
    }
    /* placement, and the grid or the operands of a composed field */
    return placement_read(&r->l->report, &d->pose, &out->pose) && (!d->file || read_grid(r, d, out)) &&
           (!d->fields || read_children(r, d, out));
}

/* The builder names a part as "field.child[1].child[0]: ": the part's place in the scene, and the text after it. */
static const node *find_part(const node *whole, char **text) {
    char *at = *text;
    if (strncmp(at, "field", 5) != 0) {
        return whole;
    }
    const node *n = whole;
    for (at += 5; n && strncmp(at, ".child[", 7) == 0;) {
        long k = strtol(at + 7, &at, 10);
        const node *parts = node_member(n, "fields");
        n = parts ? parts->first : NULL;
        for (; n && k > 0; k--) {
            n = n->next;
        }
        at += *at == ']';
    }
    if (!n || strncmp(at, ": ", 2) != 0) {
        return whole;
    }
    *text = at + 2;
    return n;
}

sim_geometry *geometry_from_field(loader *l, const document *from, const shape_data *d) {
    reading r = {.l = l, .from = from};
    sim_field_def def;
    sim_error why = {0};
    /* sample the field within the steps that the scene has left */
    sim_geometry *g = NULL;
    if (read_field(&r, &d->field, &def)) {
        int64_t most = l->steps_left < FIELD_MAX_STEPS ? l->steps_left : FIELD_MAX_STEPS, room = most;
        g = geometry_field_within(&def, d->resolution, l->cache, &room, &why);
        l->steps_left -= most - (room > 0 ? room : 0);
        /* name the part of the definition that was refused */
        if (!g && why.status == SIM_BAD_INPUT) {
            char *text = why.text;
            const node *at = find_part(d->field.at, &text);
            const char *hint = most < FIELD_MAX_STEPS ? "the solids before it have used up most of the work" : NULL;
            report_once(&l->report, at, hint, "%s", text);
        } else if (!g) {
            report_geometry(l, d->field.at, &why);
        }
    }
    /* meshes serve the sampling only */
    for (; r.meshes; r.meshes = r.meshes->next) {
        sim_geometry_free(r.meshes->mesh);
    }
    return g;
}
