/* Soft bodies: tetrahedra of a solid or from a file, with their material, to the builder. */
#include "scene/shape/soft.h"

#include "geometry/import/tets/tets_file.h"
#include "math/spatial.h"
#include "scene/loader/placement.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_PER_NODE = 1000 }; /* steps (scene_limits.work): measured */

/* ---- tetrahedra ---- */

/* A file of the scene, within its limits; its content is part of the scene's hash. */
static sim_status read_counted(void *context, const char *path, char **content, size_t *size, sim_error *error) {
    loader *l = context;
    if (++l->nfiles > l->limits.files) {
        return sim_fail(error, SIM_BAD_INPUT, "more than %d files", l->limits.files);
    }
    if (!l->files.exists(l->files.context, path)) {
        return sim_fail(error, SIM_BAD_INPUT, "there is no such file");
    }
    sim_status status = l->files.bytes(l->files.context, path, &l->mesh_bytes_left, content, size, error);
    if (!status) {
        sha256_add(&l->hash, *content, *size);
        loader_note_file(l, path);
    }
    return status;
}

static bool mesh_from_tetrahedra(loader *l, const char *path, v3 scale, sim_soft_mesh *mesh, sim_error *why) {
    tet_list list;
    tet_source from = {read_counted, l};
    if (tets_read(&from, path, scale, &list, why)) {
        return false;
    }
    *mesh = (sim_soft_mesh){list.nnode, list.ntet, list.node, list.tet};
    return true;
}

/* Within a closed surface. */
static bool mesh_from_surface(loader *l, const soft_data *d, const char *path, v3 scale, sim_soft_mesh *mesh,
                              sim_error *why) {
    sim_geometry *g = geometry_from_file(l, SIM_MESH, path, scale, why);
    if (!g) {
        return false;
    }
    sim_shape shape = sim_shape_default();
    shape.type = SIM_MESH;
    shape.geometry = g;
    uint64_t print = g->fingerprint;
    sha256_add(&l->hash, &print, sizeof print);
    sim_status status = sim_shape_soft_mesh(&shape, node_member(d->at, "edge") ? d->edge : 0, mesh, why);
    sim_geometry_free(g);
    return !status;
}

static bool mesh_from_solid(const soft_data *d, sim_soft_mesh *mesh, sim_error *why) {
    static const sim_shape_type type[SOFT_TUBE] = {SIM_SPHERE, SIM_BOX, SIM_CAPSULE, SIM_CYLINDER, SIM_ELLIPSOID};
    double edge = node_member(d->at, "edge") ? d->edge : 0;
    if (d->type == SOFT_TUBE) {
        return !sim_tube_soft_mesh(d->radius, d->bore, d->length, edge, mesh, why);
    }
    sim_shape shape = sim_shape_default();
    shape.type = type[d->type];
    const double *size = d->type == SOFT_BOX ? d->size : d->radii;
    const double round[3] = {d->radius, d->length, 0};
    memcpy(shape.size, d->type == SOFT_BOX || d->type == SOFT_ELLIPSOID ? size : round, sizeof shape.size);
    return !sim_shape_soft_mesh(&shape, edge, mesh, why);
}

static bool cut_mesh(loader *l, const soft_data *d, sim_soft_mesh *mesh) {
    for (const node *n = d->cuts ? d->cuts->first : NULL; n; n = n->next) {
        cut_data cut;
        sim_error why;
        if (!loader_read(l, n, &table_soft_cut, &cut)) {
            return false;
        }
        const double *a = cut.min, *b = cut.max;
        if (sim_soft_mesh_cut(mesh, v3_make(a[0], a[1], a[2]), v3_make(b[0], b[1], b[2]), &why)) {
            report_geometry(l, n, &why);
            return false;
        }
    }
    return true;
}

static bool make_mesh(loader *l, const entry *e, const soft_data *d, sim_soft_mesh *mesh) {
    sim_error why = {0};
    v3 scale;
    bool made = false;
    const char *key = d->file ? "file" : node_member(d->at, "edge") ? "edge" : "type";
    if (!d->file) {
        made = mesh_from_solid(d, mesh, &why);
    } else {
        const char *path = path_beside(l, e->scope->document, d->file);
        if (!path || !read_scale(l, d->at, &d->scale, &scale)) {
            return false;
        }
        made = d->type == SOFT_MESH ? mesh_from_surface(l, d, path, scale, mesh, &why)
                                    : mesh_from_tetrahedra(l, path, scale, mesh, &why);
    }
    if (!made) {
        report_geometry(l, node_member(d->at, key), &why);
        return false;
    }
    if (!cut_mesh(l, d, mesh)) {
        return false;
    }
    /* nodes count as bodies */
    l->copies += mesh->nnode;
    if (l->copies > l->limits.bodies) {
        report_value(&l->report, d->at, NULL, "more than %lld bodies, nodes of soft ones included",
                     (long long)l->limits.bodies);
        l->stopped = true;
    }
    return loader_spend(l, (int64_t)mesh->nnode * WORK_PER_NODE, d->at);
}

/* ---- the body ---- */

/* Keys of rigid bodies. */
static bool check_keys(loader *l, const body_data *b) {
    static const char *const rigid[] = {"joint", "inertia", "drag", "shapes", "sites", "q", "q_deg"};
    for (size_t k = 0; k < sizeof rigid / sizeof *rigid; k++) {
        const node *given = node_member(b->at, rigid[k]);
        if (given) {
            report_once(&l->report, given, NULL, "a soft body has no \"%s\"", rigid[k]);
            return false;
        }
    }
    if (b->v.count && b->v.count != 3 && b->v.count != 6) {
        report_once(&l->report, node_member(b->at, "v"), NULL, "expected 3 or 6 numbers, found %d", b->v.count);
        return false;
    }
    return true;
}

/* Where the frame of a soft body stands; it does not move. */
static bool place_soft(loader *l, const entry *e, const body_data *b, pose *X) {
    const entry *parent = e->parent >= 0 ? &l->entries[e->parent] : NULL;
    const node *at = node_member(b->at, "parent");
    if (parent && parent->moves) {
        report_once(&l->report, at ? at : b->at, "hold its nodes by \"attachments\"",
                    "a soft body has no moving parent, as \"%.80s\" is", parent->name);
        return false;
    }
    if (!placement_read(&l->report, &b->pose, X) || (parent && parent->index < 0)) {
        return false;
    }
    *X = pose_product(builder_start_pose(l->builder, parent ? parent->index : 0), pose_product(e->frame, *X));
    return true;
}

/* The velocity of a free body: of the origin in the axes of its scope's world, and angular in its own. */
static void read_rates(const entry *e, const body_data *b, sim_soft *s) {
    const double *v = b->v.value;
    if (b->v.count >= 3) {
        v3 world = m3_times(e->scope->world_frame.R, v3_make(v[0], v[1], v[2]));
        s->v = m3_transposed_times(s->pose.R, e->parent == e->scope->world_parent ? world : v3_make(v[0], v[1], v[2]));
    }
    if (b->v.count == 6) {
        s->w = v3_make(v[3], v[4], v[5]);
    }
}

static bool read_material(loader *l, const entry *e, const soft_data *d, sim_soft *s) {
    /* of the solid, of the surface */
    s->law = (sim_soft_law)d->law;
    s->rows = d->elasticity == 1;
    s->modulus = d->modulus;
    s->poisson = d->poisson;
    s->density = d->density;
    s->dissipation = d->dissipation;
    s->thickness = d->thickness;
    s->group = (uint32_t)d->group;
    s->mask = (uint32_t)d->mask;
    const node *color = node_member(d->at, "color");
    for (int i = 0; i < 4 && color; i++) {
        s->color[i] = i < color->count ? (float)d->color[i] : 1;
    }
    if (d->material) {
        s->material = material_index_of(l, e->scope->document, d->material, node_member(d->at, "material"));
    }
    if (s->material >= 0 && s->thickness > 0) {
        note_material(l, s->material, false);
    }
    return s->material >= 0 && (!d->pressure.at || read_track(l, &d->pressure, 1, TRACK_EFFORT, &s->pressure));
}

static void add_soft(loader *l, entry *e, const body_data *b, sim_soft *s, sim_soft_mesh *mesh) {
    /* tetrahedra, nodes that are held */
    attachment_plan plan = {0};
    s->nnode = mesh->nnode;
    s->node = mesh->node;
    s->ntet = mesh->ntet;
    s->tet = (const int(*)[4])mesh->tet;
    if (!plan_attachments(l, e, &b->soft, s, &plan) || !loader_good(l)) {
        return;
    }
    s->held = plan.held;
    s->holder = plan.holder;
    /* the body, its attachments */
    e->index = sim_builder_add_soft(l->builder, s);
    if (e->index < 0) {
        loader_report_refusal(l, b->soft.at);
        return;
    }
    add_attachments(l, &plan, e->index + 1);
    add_layers(l, e, &b->soft, s, e->index + 1);
}

void build_soft(loader *l, entry *e, const body_data *b) {
    sim_soft s = sim_soft_default();
    sim_soft_mesh mesh = {0};
    s.name = e->name;
    bool good = check_keys(l, b) && place_soft(l, e, b, &s.pose) && read_material(l, e, &b->soft, &s);
    if (good && l->builder && make_mesh(l, e, &b->soft, &mesh)) {
        read_rates(e, b, &s);
        add_soft(l, e, b, &s, &mesh);
    }
    sim_soft_mesh_free(&mesh);
}
