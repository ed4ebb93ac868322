/* Bodies depth first, with what is in them.
 *
 *     frame       its place in front of what is in it, which belongs to the body around
 *     replicate   the same for each copy; the frame of copy n is that of copy n - 1, then the offset and the turn
 *     attach      bodies of another file, under its own defaults and compiler options, with a prefix
 *
 * Joints, geoms and sites of a body are listed before the bodies that it carries, in the order of the file. */
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ATTACHED_DEPTH = 32, MAX_WALK_DEPTH = 1000 };

/* Where the walk is: in a body, seen from a frame, with the class of what names none. */
typedef struct walk {
    mjcf_work *w;
    const mjcf_scope *scope;
    int body, cls, depth, attached;
    mjcf_place frame;
    bool bodies; /* the bodies are listed now, else what else is in the body */
} walk;

static void walk_inside(const walk *at, const xml_element *e);

static int child_class(const walk *at, const xml_element *e) {
    const mjcf_classes *c = &at->scope->file->classes;
    int found = mjcf_find_class(at->w->report, c, e, "childclass", at->cls);
    if (found < 0 && xml_text(e, "childclass") && strcmp(xml_text(e, "childclass"), "main") != 0) {
        mjcf_refuse(at->w);
    }
    return found;
}

/* ---- bodies ---- */

static mjcf_body empty_body(const mjcf_scope *s, const xml_element *e, int parent) {
    return (mjcf_body){.item = mjcf_plain(s, e),
                       .scope = s,
                       .parent = parent,
                       .inside = mjcf_identity(),
                       .joint = -1,
                       .geom = -1,
                       .site = -1,
                       .last_joint = -1,
                       .last_geom = -1,
                       .last_site = -1,
                       .mass_factor = 1};
}

static int add_body(const walk *at, const xml_element *e) {
    mjcf_work *w = at->w;
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, e, (void **)&m->body, m->nbody, &m->body_room, sizeof *m->body)) {
        return -1;
    }
    /* name */
    int index = m->nbody++;
    mjcf_body b = empty_body(at->scope, e, at->body);
    b.name = mjcf_name(w, at->scope, e);
    if (b.name) {
        mjcf_add_name(w, &m->bodies, e, "body", b.name, index);
    }
    /* place */
    mjcf_place given = mjcf_read_place(w, at->scope->file, &b.item);
    b.place = mjcf_product(at->frame, given);
    b.inside = at->scope->file->compiler.global ? mjcf_inverse(given) : b.inside;
    m->body[index] = b;
    return index;
}

static void walk_body(const walk *at, const xml_element *e) {
    walk inner = *at;
    inner.body = add_body(at, e);
    if (inner.body < 0) {
        return;
    }
    inner.cls = child_class(at, e);
    inner.frame = at->w->model.body[inner.body].inside;
    inner.depth++;
    const xml_element *inertial = xml_child(e, "inertial");
    at->w->model.body[inner.body].inertial = inertial;
    if (inertial) {
        at->w->model.body[inner.body].inertial_item = mjcf_plain(at->scope, inertial);
    }
    inner.bodies = false;
    walk_inside(&inner, e);
    inner.bodies = true;
    walk_inside(&inner, e);
}

/* ---- frames and copies ---- */

static void walk_frame(const walk *at, const xml_element *e) {
    walk inner = *at;
    mjcf_item item = mjcf_plain(at->scope, e);
    inner.frame = mjcf_product(at->frame, mjcf_read_place(at->w, at->scope->file, &item));
    inner.cls = child_class(at, e);
    inner.depth++;
    walk_inside(&inner, e);
}

static mjcf_scope *copy_scope(const walk *at, const xml_element *e, const char *separator, int copy, int count) {
    mjcf_scope *s = POOL_NEW(at->w->pool, mjcf_scope, 1);
    int width = snprintf(NULL, 0, "%d", count);
    size_t size = strlen(at->scope->suffix) + strlen(separator) + (size_t)width + 1;
    char *suffix = s ? pool_alloc(at->w->pool, size, 1) : NULL;
    if (!suffix) {
        at->w->report->no_memory = true;
        mjcf_refuse(at->w);
        return NULL;
    }
    snprintf(suffix, size, "%s%0*d%s", separator, width, copy, at->scope->suffix);
    *s = *at->scope;
    s->suffix = suffix;
    s->copied = e;
    s->around = at->scope;
    s->next = NULL;
    return s;
}

static bool count_tries(mjcf_work *w) {
    mjcf_model *m = &w->model;
    m->tries = m->tries ? m->tries : POOL_NEW(w->pool, int64_t, 1);
    if (!m->tries) {
        w->report->no_memory = true;
        mjcf_refuse(w);
    }
    return m->tries;
}

/* Elements outside the bodies that name something of it are copied, too. */
static void list_copy(mjcf_work *w, mjcf_scope *s) {
    mjcf_model *m = &w->model;
    if (!count_tries(w)) {
        return;
    }
    *(m->last_copy ? &m->last_copy->next : &m->copies) = s;
    m->last_copy = s;
}

static void walk_copies(const walk *at, const xml_element *e) {
    /* count, offset and turn */
    const mjcf_file *f = at->scope->file;
    double count = 0, offset[3] = {0}, euler[3] = {0};
    xml_numbers(e, "count", 1, &count);
    xml_numbers(e, "offset", 3, offset);
    xml_numbers(e, "euler", 3, euler);
    if (!(count >= 0 && count <= 1e6 && count == floor(count))) {
        xml_error(at->w->report, e, "count", NULL, "expected a whole number from 0 to 1000000, not %g", count);
        mjcf_refuse(at->w);
        return;
    }
    /* copy by copy */
    const char *separator = xml_text(e, "sep") ? xml_text(e, "sep") : "";
    mjcf_place step = {mjcf_vector(offset), mjcf_euler(f, euler)}, place = mjcf_identity();
    for (int k = 0; k < (int)count && at->w->good && at->w->items <= at->w->limit; k++) {
        const double turn[3] = {k * euler[0], k * euler[1], k * euler[2]};
        walk inner = *at;
        mjcf_scope *copy = copy_scope(at, e, separator, k, (int)count);
        if (!copy) {
            return;
        }
        inner.scope = copy;
        if (at->bodies) {
            list_copy(at->w, copy);
        }
        place.q = mjcf_euler(f, turn);
        inner.frame = mjcf_product(at->frame, place);
        inner.cls = child_class(at, e);
        inner.depth++;
        if (!mjcf_spend(at->w, e)) {
            return;
        }
        walk_inside(&inner, e);
        place = mjcf_product(place, step);
    }
}

/* ---- attached models ---- */

/* The file of a model, read once. */
static mjcf_file *load_model(const walk *at, const xml_element *asset) {
    mjcf_work *w = at->w;
    const char *path = mjcf_path_beside(w->pool, at->scope->file->path, xml_text(asset, "file"));
    mjcf_file **link = &w->model.files;
    for (; *link; link = &(*link)->next) {
        if (path && strcmp((*link)->path, path) == 0) {
            return *link;
        }
    }
    mjcf_file *f = POOL_NEW(w->pool, mjcf_file, 1);
    const source *from = f && path ? w->files.read(w->files.context, asset, path) : NULL;
    if (!f || !path) {
        w->report->no_memory = true;
        return NULL;
    }
    xml_element *root = from ? xml_parse(from, w->pool, w->report) : NULL;
    f->path = path;
    f->root = root;
    if (!root || !mjcf_include(w->report, w->pool, &w->files, path, root) ||
        !xml_check(w->report, w->pool, root, &mjcf_table_model, &w->allowed) || !mjcf_read_file(w, f)) {
        mjcf_free_file(f);
        return NULL;
    }
    *link = f;
    return f;
}

/* Its own name, else that of the model in its file; NULL: the file cannot be read (reported). */
static const char *name_of_asset(const walk *at, const xml_element *asset) {
    const char *own = xml_text(asset, "name");
    const mjcf_file *f = own ? NULL : load_model(at, asset);
    const char *title = f ? xml_text(f->root, "model") : NULL;
    return own ? own : title ? title : f ? "MuJoCo Model" : NULL;
}

static const xml_element *find_model(const walk *at, const xml_element *e) {
    const char *wanted = xml_text(e, "model");
    const xml_element *root = at->scope->file->root;
    for (const xml_element *asset = xml_child(root, "asset"); asset; asset = xml_next(asset)) {
        for (const xml_element *m = xml_child(asset, "model"); m; m = xml_next(m)) {
            const char *name = name_of_asset(at, m);
            if (name && strcmp(name, wanted) == 0) {
                return m;
            }
        }
    }
    xml_error(at->w->report, e, "model", NULL, "there is no model \"%.80s\" among the assets", wanted);
    return NULL;
}

/* The model attaches a part of itself. */
static mjcf_file *own_file(const walk *at, const xml_element *e) {
    if (xml_text(e, "body") || xml_text(e, "frame")) {
        return at->scope->file;
    }
    xml_error(at->w->report, e, NULL, NULL, "name a `model`, or a `body` or `frame` of this one");
    return NULL;
}

/* A body or frame by name; `*cls` is the class of defaults in which it stands. */
static const xml_element *find_part(const walk *at, const xml_element *e, const char *kind, const char *name,
                                    int *cls) {
    for (const xml_element *child = e->first; child; child = child->next) {
        const char *own = xml_text(child, "name");
        if (strcmp(child->name, kind) == 0 && own && strcmp(own, name) == 0) {
            *cls = at->cls;
            return child;
        }
        walk inner = *at;
        inner.cls = xml_text(child, "childclass") ? child_class(at, child) : at->cls;
        const xml_element *found = find_part(&inner, child, kind, name, cls);
        if (found) {
            return found;
        }
    }
    return NULL;
}

static mjcf_scope *attached_scope(const walk *at, mjcf_file *f, const xml_element *e) {
    mjcf_work *w = at->w;
    mjcf_scope *s = POOL_NEW(w->pool, mjcf_scope, 1);
    const char *prefix = xml_text(e, "prefix");
    size_t size = strlen(at->scope->prefix) + strlen(prefix) + 1;
    char *full = s ? pool_alloc(w->pool, size, 1) : NULL;
    if (!full) {
        w->report->no_memory = true;
        return NULL;
    }
    snprintf(full, size, "%s%s", at->scope->prefix, prefix);
    *s = (mjcf_scope){
        .file = f, .prefix = full, .suffix = at->scope->suffix, .part = xml_text(e, "body") || xml_text(e, "frame")};
    return s;
}

static void add_scope(mjcf_work *w, mjcf_scope *s) {
    mjcf_scope **link = &w->model.scopes;
    while (*link) {
        link = &(*link)->next;
    }
    *link = s;
}

/* One body, one frame, or all that is in the world of the model. */
static void attach_parts(const walk *at, const xml_element *e, const mjcf_file *f) {
    const char *kind = xml_text(e, "frame") ? "frame" : "body", *name = xml_text(e, kind);
    const xml_element *part = NULL;
    walk inside = *at;
    for (const xml_element *world = xml_child(f->root, "worldbody"); world; world = xml_next(world)) {
        part = name && !part ? find_part(at, world, kind, name, &inside.cls) : part;
        if (!name) {
            walk_inside(at, world);
        }
    }
    if (xml_text(e, "frame") && xml_text(e, "body")) {
        xml_error(at->w->report, e, "frame", NULL, "a body and a frame: attach one of them");
        mjcf_refuse(at->w);
    } else if (name && !part) {
        xml_error(at->w->report, e, kind, NULL, "there is no %s \"%.80s\" in the model", kind, name);
        mjcf_refuse(at->w);
    } else if (name && strcmp(kind, "frame") == 0) {
        walk_frame(&inside, part);
    } else if (name && at->bodies) {
        walk_body(&inside, part);
    }
}

static void attach_file(const walk *at, const xml_element *e) {
    /* the model */
    mjcf_work *w = at->w;
    if (at->attached == MAX_ATTACHED_DEPTH) {
        xml_error(w->report, e, NULL, NULL, "models attached more than %d deep", MAX_ATTACHED_DEPTH);
        mjcf_refuse(w);
        return;
    }
    const xml_element *asset = xml_text(e, "model") ? find_model(at, e) : NULL;
    mjcf_file *f = asset ? load_model(at, asset) : xml_text(e, "model") ? NULL : own_file(at, e);
    mjcf_scope *s = f ? attached_scope(at, f, e) : NULL;
    if (!s) {
        mjcf_refuse(w);
        return;
    }
    /* what is in it, under its own defaults */
    walk inner = *at;
    inner.scope = s;
    inner.cls = f->classes.count ? 0 : -1;
    inner.depth++;
    inner.attached++;
    if (!count_tries(w)) {
        return;
    }
    if (at->bodies) {
        add_scope(w, s);
    }
    attach_parts(&inner, e, f);
}

/* ---- all that is in an element ---- */

static void walk_leaf(const walk *at, const xml_element *e) {
    mjcf_work *w = at->w;
    if (strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0) {
        mjcf_add_joint(w, at->scope, e, at->cls, at->body, at->frame);
    } else if (strcmp(e->name, "geom") == 0) {
        mjcf_add_geom(w, at->scope, e, at->cls, at->body, at->frame);
    } else if (strcmp(e->name, "site") == 0) {
        mjcf_add_site(w, at->scope, e, at->cls, at->body, at->frame);
    } else if (strcmp(e->name, "camera") == 0) {
        mjcf_add_camera(w, at->scope, e, at->cls, at->body, at->frame);
    }
}

static void walk_inside(const walk *at, const xml_element *e) {
    if (at->depth > MAX_WALK_DEPTH) {
        xml_error(at->w->report, e, NULL, NULL, "bodies and frames nested more than %d deep", MAX_WALK_DEPTH);
        mjcf_refuse(at->w);
        return;
    }
    for (const xml_element *child = e->first; child && at->w->items <= at->w->limit; child = child->next) {
        if (!child->table) { /* it was ignored */
            continue;
        }
        if (strcmp(child->name, "frame") == 0) {
            walk_frame(at, child);
        } else if (strcmp(child->name, "replicate") == 0) {
            walk_copies(at, child);
        } else if (strcmp(child->name, "attach") == 0) {
            attach_file(at, child);
        } else if (strcmp(child->name, "body") == 0) {
            if (at->bodies) {
                walk_body(at, child);
            }
        } else if (!at->bodies) {
            walk_leaf(at, child);
        }
    }
}

/* ---- after the walk ---- */

/* Names of bodies that have none, places in the world, what is fixed to what. */
static void finish_bodies(mjcf_work *w) {
    mjcf_model *m = &w->model;
    for (int k = 0; k < m->nbody; k++) {
        bool taken = m->body[k].name && names_find(&m->links, m->body[k].name) >= 0; /* the world; reported */
        if (m->body[k].name && !taken && !names_add(&m->links, m->body[k].name, k)) {
            w->report->no_memory = true;
            mjcf_refuse(w);
        }
    }
    m->body[0].world = pose_identity();
    for (int k = 1; k < m->nbody; k++) {
        mjcf_body *b = &m->body[k];
        b->name = b->name ? b->name : mjcf_take_link(w, "body", k);
        b->world = pose_product(m->body[b->parent].world, mjcf_pose(b->place));
        b->clump = b->joint >= 0 ? k : m->body[b->parent].clump;
    }
}

static void count_coordinates(mjcf_model *m) {
    static const int nq_of[MJCF_JOINT_TYPES] = {7, 4, 1, 1}, nv_of[MJCF_JOINT_TYPES] = {6, 3, 1, 1};
    for (int k = 0; k < m->nbody; k++) {
        for (int j = m->body[k].joint; j >= 0; j = m->joint[j].next) {
            m->joint[j].q0 = m->nq;
            m->joint[j].v0 = m->nv;
            m->nq += nq_of[m->joint[j].type];
            m->nv += nv_of[m->joint[j].type];
        }
    }
}

static bool add_world(mjcf_work *w, mjcf_scope *s) {
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, s->file->root, (void **)&m->body, 0, &m->body_room, sizeof *m->body) ||
        !names_add(&m->bodies, "world", 0) || !names_add(&m->links, "world", 0)) {
        w->report->no_memory |= w->good;
        mjcf_refuse(w);
        return false;
    }
    m->body[0] = empty_body(s, s->file->root, -1);
    m->body[0].name = "world";
    m->nbody = 1;
    return true;
}

bool mjcf_read_tree(mjcf_work *w) {
    /* the world */
    mjcf_model *m = &w->model;
    mjcf_scope *s = POOL_NEW(w->pool, mjcf_scope, 1);
    if (!s) {
        w->report->no_memory = true;
        return false;
    }
    *s = (mjcf_scope){.file = m->files, .prefix = "", .suffix = ""};
    m->scopes = s;
    if (!add_world(w, s)) {
        return false;
    }
    /* all in it */
    walk at = {.w = w, .scope = s, .cls = m->files->classes.count ? 0 : -1, .frame = mjcf_identity()};
    for (int pass = 0; pass < 2; pass++) {
        at.bodies = pass == 1;
        for (const xml_element *e = xml_child(m->files->root, "worldbody"); e; e = xml_next(e)) {
            walk_inside(&at, e);
        }
    }
    if (w->items > w->limit || w->report->no_memory) {
        return false;
    }
    finish_bodies(w);
    count_coordinates(m);
    return true;
}
