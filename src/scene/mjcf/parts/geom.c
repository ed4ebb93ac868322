/* Geoms, sites and cameras of bodies. */
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const shape_name[MJCF_SHAPES] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                                    "cylinder", "box",    "mesh",   "sdf"};
/* Sizes that each has. */
static const int size_count[MJCF_SHAPES] = {0, 0, 1, 2, 3, 2, 3, 0, 0};

static mjcf_shape read_shape(const mjcf_item *i, mjcf_shape otherwise) {
    const char *said = mjcf_text(i, "type");
    for (int k = 0; said && k < MJCF_SHAPES; k++) {
        otherwise = strcmp(said, shape_name[k]) == 0 ? (mjcf_shape)k : otherwise;
    }
    return otherwise;
}

/* Pose and length between two points, in place of any orientation; z points to the first. */
static bool read_ends(mjcf_work *w, const mjcf_item *i, mjcf_shape type, mjcf_place *place, double size[3]) {
    double end[6];
    const xml_element *at = mjcf_holder(i, "fromto");
    if (!at || mjcf_numbers(i, "fromto", 6, end) != 6) {
        return false;
    }
    sim_v3 a = mjcf_vector(end), b = mjcf_vector(end + 3), along = v3_sub(a, b);
    double length = v3_norm(along);
    if (!(length > 1e-14) ||
        (type != MJCF_CAPSULE && type != MJCF_CYLINDER && type != MJCF_ELLIPSOID && type != MJCF_BOX)) {
        xml_error(w->report, at, "fromto", NULL,
                  length > 1e-14 ? "a %s has no \"fromto\"" : "the two points of the %s are one", shape_name[type]);
        mjcf_refuse(w);
        return true;
    }
    double p[3] = {0};
    mjcf_numbers(i, "pos", 3, p);
    if (p[0] != 0 || p[1] != 0 || p[2] != 0) {
        xml_error(w->report, at, "fromto", NULL, "\"fromto\" and \"pos\" exclude each other");
        mjcf_refuse(w);
    }
    *place = (mjcf_place){v3_scale(0.5, v3_add(a, b)), mjcf_turn_to(along)};
    size[1] = length / 2;
    if (type == MJCF_ELLIPSOID || type == MJCF_BOX) {
        size[2] = size[1];
        size[1] = size[0];
    }
    return true;
}

static void check_size(mjcf_work *w, const mjcf_item *i, mjcf_shape type, const double size[3]) {
    for (int k = 0; k < size_count[type]; k++) {
        if (!(size[k] > 0)) {
            const xml_element *at = mjcf_holder(i, "size");
            xml_error(w->report, at ? at : i->at, at ? "size" : NULL, NULL, "a %s needs %d size%s above 0",
                      shape_name[type], size_count[type], size_count[type] > 1 ? "s" : "");
            mjcf_refuse(w);
            return;
        }
    }
}

/* A whole number of an attribute. */
static int read_whole(mjcf_work *w, const mjcf_item *i, const char *key, int otherwise, double least, double most) {
    double number = mjcf_number(i, key, otherwise);
    if (number != floor(number) || number < least || number > most) {
        xml_error(w->report, mjcf_holder(i, key), key, NULL, "expected a whole number from %.0f to %.0f, not %g", least,
                  most, number);
        mjcf_refuse(w);
        return otherwise;
    }
    return (int)(uint32_t)(int64_t)number;
}

static void read_contact(mjcf_work *w, mjcf_geom *g) {
    /* bits, numbers of directions */
    const mjcf_item *i = &g->item;
    g->contype = read_whole(w, i, "contype", 1, -2147483648.0, 4294967295.0);
    g->conaffinity = read_whole(w, i, "conaffinity", 1, -2147483648.0, 4294967295.0);
    g->condim = read_whole(w, i, "condim", 3, 1, 6);
    if (g->condim == 2 || g->condim == 5) {
        xml_error(w->report, mjcf_holder(i, "condim"), "condim", NULL, "expected 1, 3, 4 or 6, not %d", g->condim);
        mjcf_refuse(w);
    }
    g->group = read_whole(w, i, "group", 0, -1000, 1000);
    g->priority = read_whole(w, i, "priority", 0, -1000000, 1000000);
    /* friction and softness */
    g->friction[0] = 1;
    g->friction[1] = 0.005;
    g->friction[2] = 0.0001;
    mjcf_numbers(i, "friction", 3, g->friction);
    mjcf_numbers(i, "surfacevel", 6, g->belt);
    g->adhesion = mjcf_number(i, "adhesion", 0);
    g->gap = mjcf_number(i, "gap", 0);
    g->solmix = mjcf_number(i, "solmix", 1);
    g->soft = mjcf_read_softness(i, "solref", "solimp");
    g->visual = !g->contype && !g->conaffinity;
    if (g->adhesion < 0 || (g->adhesion > 0 && g->gap < 0)) {
        const char *key = g->adhesion < 0 ? "adhesion" : "gap";
        xml_error(w->report, mjcf_holder(i, key), key, NULL, "the %s is negative", key);
        mjcf_refuse(w);
    }
    for (int k = 0; k < 3; k++) {
        if (g->friction[k] < 0) {
            xml_error(w->report, mjcf_holder(i, "friction"), "friction", NULL, "friction is negative");
            mjcf_refuse(w);
            return;
        }
    }
}

static void read_mass(mjcf_work *w, mjcf_geom *g) {
    const mjcf_item *i = &g->item;
    const mjcf_compiler *c = &g->scope->file->compiler;
    g->mass = mjcf_number(i, "mass", -1);
    g->density = mjcf_number(i, "density", 1000);
    bool negative = mjcf_holder(i, "mass") ? g->mass < 0 : g->density < 0;
    if (negative) {
        const char *key = mjcf_holder(i, "mass") ? "mass" : "density";
        xml_error(w->report, mjcf_holder(i, key), key, NULL, "the %s is negative", key);
        mjcf_refuse(w);
    }
    g->shell = mjcf_says(&g->item, "shellinertia", "true");
    bool explicit = w->model.body[g->body].inertial && c->inertia != MJCF_INERTIA_ALWAYS;
    g->weighs = g->body > 0 && !explicit && c->inertia != MJCF_INERTIA_NEVER && g->group >= c->groups[0] &&
                g->group <= c->groups[1] && (g->mass < 0 ? g->density > 0 : g->mass > 0) && g->type != MJCF_PLANE &&
                g->type != MJCF_HFIELD;
}

/* Tries to read the mesh of a geom without mass. */
static void try_mesh(mjcf_work *w, mjcf_mesh *mesh) {
    sim_error why = {0};
    if (mesh->tried || mesh->lost || !mesh->path) {
        return;
    }
    mesh->tried = true;
    if (!w->files.readable(w->files.context, mesh->path, mjcf_vector(mesh->scale), &why)) {
        char said[sizeof why.text + 32];
        snprintf(said, sizeof said, "cannot be read: %s", why.text);
        mesh->lost = pool_text(w->pool, said);
        mesh->absent = why.status == SIM_NO_RESOURCE;
        w->report->no_memory |= !mesh->lost;
    }
}

/* A mesh that cannot be had is left out of pictures with a notice; of contacts only where that is allowed. */
static void find_mesh(mjcf_work *w, mjcf_geom *g) {
    mjcf_mesh *mesh = g->mesh;
    if (!g->weighs) {
        try_mesh(w, mesh);
    }
    if (!mesh->lost) {
        return;
    }
    const char *file = xml_text(mesh->at, "file");
    if (!g->weighs && g->visual) {
        w->undrawn_why = w->undrawn || !mesh->tried ? w->undrawn_why : mesh->lost;
        w->undrawn = w->undrawn ? w->undrawn : mesh->at;
        w->nundrawn++;
    } else if (!g->weighs && xml_allows(&w->allowed, "mesh")) {
        xml_notice(w->report, mesh->at, "file", NULL, "\"%.200s\" %s: its geoms are left out", file, mesh->lost);
    } else {
        w->report->no_resource |= mesh->absent;
        xml_error(w->report, mesh->at, "file", g->weighs ? NULL : "--allow mesh leaves its geoms out", "\"%.200s\" %s",
                  file, mesh->lost);
        mjcf_refuse(w);
    }
    g->mesh = NULL;
}

/* Size and place, of a mesh its asset. */
static void read_extent(mjcf_work *w, mjcf_geom *g, mjcf_place frame) {
    const mjcf_item *i = &g->item;
    mjcf_numbers(i, "size", 3, g->size);
    if (g->type == MJCF_SDF) {
        xml_error(w->report, i->at, mjcf_holder(i, "type") == i->at ? "type" : NULL, NULL,
                  "a geom of type sdf needs a plugin, which is not supported");
        mjcf_refuse(w);
    }
    bool ends = read_ends(w, i, g->type, &g->place, g->size);
    if (!ends) {
        g->place = mjcf_read_place(w, g->scope->file, i);
    }
    int mesh = mjcf_find_asset_index(w, g->scope, i, "mesh", "mesh");
    g->mesh = mesh >= 0 ? mjcf_open_mesh(w, g->scope, mesh) : NULL;
    g->hfield = g->type == MJCF_HFIELD ? mjcf_find_asset(w, g->scope, i, "hfield", "hfield") : NULL;
    bool needs_mesh = g->type == MJCF_MESH && !g->mesh, needs_hfield = g->type == MJCF_HFIELD && !g->hfield;
    if (needs_mesh || needs_hfield) {
        if (!mjcf_holder(i, needs_mesh ? "mesh" : "hfield")) {
            xml_error(w->report, i->at, NULL, NULL, "the geom names no %s", needs_mesh ? "mesh" : "hfield");
        }
        mjcf_refuse(w);
        return;
    }
    if (g->mesh && g->type != MJCF_MESH) {
        if (!mjcf_fit_mesh(w, g)) {
            return;
        }
        g->mesh = NULL;
    } else if (g->mesh) {
        find_mesh(w, g);
    }
    check_size(w, i, g->type, g->size);
    g->place = mjcf_product(frame, g->place);
}

void mjcf_add_geom(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame) {
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, e, (void **)&m->geom, m->ngeom, &m->geom_room, sizeof *m->geom)) {
        return;
    }
    mjcf_geom g = {.scope = s, .body = body, .next = -1, .touching = -1, .surface = -1};
    g.item = mjcf_item_of(w, s, e, "geom", cls);
    g.name = mjcf_name(w, s, e);
    g.type = read_shape(&g.item, MJCF_SPHERE);
    bool good = w->good;
    w->good = true;
    read_contact(w, &g);
    read_mass(w, &g);
    read_extent(w, &g, frame);
    mjcf_read_color(w, &g);
    if (!w->good) {
        xml_lose(w->report, (xml_element *)e);
        return;
    }
    w->good = good;
    if (g.type == MJCF_MESH && !g.mesh) { /* left out */
        return;
    }
    int index = m->ngeom++;
    mjcf_body *b = &m->body[body];
    if (b->last_geom >= 0) {
        m->geom[b->last_geom].next = index;
    } else {
        b->geom = index;
    }
    b->last_geom = index;
    m->geom[index] = g;
    if (g.name) {
        mjcf_add_name(w, &m->geoms, e, "geom", g.name, index);
    }
}

/* Behind the other sites of its body. */
static void list_site(mjcf_model *m, const mjcf_site *t) {
    int index = m->nsite++;
    mjcf_body *b = &m->body[t->body];
    if (b->last_site >= 0) {
        m->site[b->last_site].next = index;
    } else {
        b->site = index;
    }
    b->last_site = index;
    m->site[index] = *t;
}

void mjcf_add_site(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame) {
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, e, (void **)&m->site, m->nsite, &m->site_room, sizeof *m->site)) {
        return;
    }
    /* name, size, place */
    mjcf_site t = {.scope = s, .body = body, .next = -1, .size = {0.005, 0.005, 0.005}};
    t.item = mjcf_item_of(w, s, e, "site", cls);
    t.name = mjcf_name(w, s, e);
    t.type = read_shape(&t.item, MJCF_SPHERE);
    mjcf_numbers(&t.item, "size", 3, t.size);
    mjcf_place place;
    if (!read_ends(w, &t.item, t.type, &place, t.size)) {
        place = mjcf_read_place(w, s->file, &t.item);
    }
    t.place = mjcf_product(frame, place);
    /* into the list of its body */
    t.name = t.name ? t.name : mjcf_number_name(w, "site", m->nsite);
    mjcf_add_name(w, &m->sites, e, "site", t.name, m->nsite);
    list_site(m, &t);
}

const char *mjcf_add_point(mjcf_work *w, mjcf_body *b, sim_v3 point, const char *wanted) {
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, b->item.at, (void **)&m->site, m->nsite, &m->site_room, sizeof *m->site)) {
        return NULL;
    }
    const char *name = mjcf_take_site(w, wanted, m->nsite);
    mjcf_site t = {.item = b->item, .scope = b->scope, .name = name, .body = (int)(b - m->body), .next = -1};
    t.place = (mjcf_place){point, {1, 0, 0, 0}};
    list_site(m, &t);
    return name;
}

void mjcf_add_centre(mjcf_work *w, mjcf_body *b) {
    if (!b->centre) {
        b->centre = mjcf_add_point(w, b, b->inertia.com, mjcf_joined(w, b->name, "_com"));
    }
}

void mjcf_add_camera(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame) {
    mjcf_model *m = &w->model;
    mjcf_item item = mjcf_item_of(w, s, e, "camera", cls);
    const char *mode = mjcf_text(&item, "mode");
    if (mode && strcmp(mode, "fixed") != 0) {
        return;
    }
    if (!mjcf_add(w, e, (void **)&m->camera, m->ncamera, &m->camera_room, sizeof *m->camera)) {
        return;
    }
    m->camera[m->ncamera++] =
        (mjcf_camera){item, mjcf_name(w, s, e), body, mjcf_product(frame, mjcf_read_place(w, s->file, &item))};
}
