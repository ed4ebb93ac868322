/* Files of robots as documents: the XML text becomes the text of a scene, which is parsed as any other. */
#include "base/nearest.h"
#include "scene/loader/loader.h"
#include "scene/mjcf/mjcf.h"
#include "scene/sdf/sdf.h"
#include "scene/urdf/urdf.h"

#include <string.h>

bool is_robot(const char *content, size_t length) {
    if (length >= 3 && memcmp(content, "\xef\xbb\xbf", 3) == 0) { /* a byte-order mark */
        content += 3;
        length -= 3;
    }
    while (length && (*content == ' ' || *content == '\t' || *content == '\r' || *content == '\n')) {
        content++;
        length--;
    }
    return length && *content == '<';
}

/* The text and the places of the writer, kept as long as the load. */
static bool keep_written(loader *l, document *d, json_writer *out) {
    source *behind = POOL_NEW(l->work, source, 1);
    char *written = pool_alloc(l->work, out->out.length + 1, 1);
    source_place *place = POOL_NEW(l->work, source_place, out->nplace);
    if (!behind || !written || !place) {
        l->report.no_memory = true;
        return false;
    }
    memcpy(written, out->out.start, out->out.length + 1);
    memcpy(place, out->place, (size_t)out->nplace * sizeof *place);
    *behind = d->from;
    d->from = (source){d->from.name, written, out->out.length, behind, place, out->nplace};
    return true;
}

static const struct {
    const char *root, *is;
} other_formats[] = {{"mujocoinclude", "a part of a model of MuJoCo (MJCF)"}};

static bool check_format(loader *l, const xml_element *root) {
    for (size_t k = 0; k < sizeof other_formats / sizeof other_formats[0]; k++) {
        if (strcmp(root->name, other_formats[k].root) == 0) {
            xml_error(&l->report, root, NULL, "sim reads scenes in JSON, robots in URDF, models in MJCF and SDFormat",
                      "%s is not read", other_formats[k].is);
            return false;
        }
    }
    return true;
}

/* Of files that cannot be had, only those for want of memory are not the fault of the robot. */
static bool can_read_mesh(loader *l, const char *path, sim_v3 scale, sim_error *why) {
    sim_status status = read_mesh_early(l, path, scale, why);
    l->report.no_memory |= status == SIM_NO_RESOURCE && strstr(why->text, "no memory");
    return status == SIM_OK;
}

/* Meshes by their names in the text of the scene. */
typedef struct named_meshes {
    loader *l;
    const document *d;
} named_meshes;

static bool can_read_named(void *context, const char *file, sim_v3 scale, sim_error *why) {
    const named_meshes *from = context;
    const char *path = path_beside(from->l, from->d, file);
    return path && can_read_mesh(from->l, path, scale, why);
}

static bool translate_urdf(loader *l, const document *d, xml_element *root, sim_base base, json_writer *out) {
    named_meshes meshes = {l, d};
    urdf_work w = {.report = &l->report,
                   .pool = l->work,
                   .path = d->from.name,
                   .options = l->import,
                   .allowed = {l->import.nallow, l->import.allow, l->allow_met},
                   .files = {l->files.exists, l->files.context, can_read_named, &meshes},
                   .out = out};
    w.options.base = base;
    return urdf_translate(&w, root);
}

/* ---- MJCF: models are made of several files ---- */

static bool file_exists(void *context, const char *path) {
    const loader *l = context;
    return l->files.exists(l->files.context, path);
}

static const source *read_part(void *context, const xml_element *at, const char *path) {
    loader *l = context;
    sim_error why = {0};
    size_t length = 0;
    const char *content = loader_read_text(l, path, &length, &why);
    source *part = content ? POOL_NEW(l->work, source, 1) : NULL;
    if (part) {
        *part = (source){.name = path, .text = content, .length = length};
    } else if (why.text[0]) {
        l->report.no_resource |= why.status == SIM_NO_RESOURCE;
        xml_error(&l->report, at, "file", NULL, "\"%.200s\": %s", path, why.text);
    }
    l->report.no_memory |= content && !part;
    return part;
}

static bool read_triangles(void *context, const char *path, sim_v3 scale, sim_triangles *out, sim_error *why) {
    loader *l = context;
    return read_mesh_or_hull(l, path, scale, out, why) == SIM_OK;
}

static bool can_read_triangles(void *context, const char *path, sim_v3 scale, sim_error *why) {
    return can_read_mesh(context, path, scale, why);
}

static bool read_bytes(void *context, const char *path, char **content, size_t *size, sim_error *why) {
    loader *l = context;
    return l->files.bytes(l->files.context, path, &l->mesh_bytes_left, content, size, why) == SIM_OK;
}

static bool translate_mjcf(loader *l, const document *d, xml_element *root, sim_base base, json_writer *out) {
    mjcf_work w = {.report = &l->report,
                   .pool = l->work,
                   .path = d->from.name,
                   .options = l->import,
                   .allowed = {l->import.nallow, l->import.allow, l->allow_met},
                   .files = {file_exists, read_part, read_triangles, can_read_triangles, read_bytes, l},
                   .limit = l->limits.bodies < MJCF_MAX_ITEMS ? l->limits.bodies : MJCF_MAX_ITEMS,
                   .out = out};
    w.options.base = base;
    return mjcf_translate(&w, root);
}

static bool translate_sdf(loader *l, const document *d, xml_element *root, sim_base base, json_writer *out) {
    named_meshes meshes = {l, d};
    sdf_work w = {.report = &l->report,
                  .pool = l->work,
                  .path = d->from.name,
                  .options = l->import,
                  .allowed = {l->import.nallow, l->import.allow, l->allow_met},
                  .files = {file_exists, read_part, l},
                  .limit = l->limits.bodies < SDF_MAX_ITEMS ? (int)l->limits.bodies : SDF_MAX_ITEMS,
                  .out = out};
    w.options.base = base;
    w.packages = (urdf_work){.report = &l->report,
                             .pool = l->work,
                             .path = d->from.name,
                             .options = l->import,
                             .files = {l->files.exists, l->files.context, can_read_named, &meshes}};
    return sdf_translate(&w, root);
}

/* The last element that begins before or at a place of a text, from `below` on; NULL: none. */
static const xml_element *find_element(const xml_element *below, const source *of, uint32_t at) {
    const xml_element *found = below->source == of && below->at <= at ? below : NULL;
    for (const xml_element *e = below->first; e; e = e->next) {
        const xml_element *within = find_element(e, of, at);
        found = within && (!found || within->at > found->at) ? within : found;
    }
    return found;
}

/* Are there no more values than a document may have?  Else an error at the element that brings one too many. */
static bool check_count(loader *l, const xml_element *root, const json_writer *out) {
    if (out->nplace <= DOCUMENT_MAX_VALUES) {
        return true;
    }
    const source_place *first = &out->place[DOCUMENT_MAX_VALUES];
    const source *of = first->behind ? first->behind : root->source;
    const xml_element *e = find_element(root, of, first->from);
    char path[XML_PATH_BYTES] = "";
    if (e) {
        xml_path(e, path);
    }
    report_place(&l->report, of, first->from, e ? path : NULL, NULL,
                 "the scene of this model has more than %d values: here are those beyond", DOCUMENT_MAX_VALUES);
    return false;
}

/* The text of a robot with errors: more of them.  The tree, if its bodies can be looked at; else NULL. */
static node *parse_partial(loader *l, document *d, bool has_bodies) {
    sim_diagnostics none = {0};
    report quiet = {.found = &none, .pool = l->work}; /* an item may be half written */
    node *tree = document_parse(&d->from, l->work, &quiet);
    l->report.no_memory |= quiet.no_memory;
    if (tree) {
        check_object(&l->reader, tree, &table_scene);
    }
    l->partial = tree && has_bodies;
    return l->partial ? tree : NULL;
}

node *parse_robot(loader *l, document *d, bool main) {
    sim_base base = main ? l->import.base : SIM_BASE_FIXED;
    l->met_robot = true;
    /* elements */
    source *xml = POOL_NEW(l->work, source, 1);
    if (!xml) {
        l->report.no_memory = true;
        return NULL;
    }
    *xml = d->from;
    xml_element *root = xml_parse(xml, l->work, &l->report);
    if (!root || !check_format(l, root)) {
        return NULL;
    }
    /* text of the scene */
    json_writer out = {0};
    bool is_urdf = strcmp(root->name, "mujoco") != 0 && strcmp(root->name, "sdf") != 0;
    bool good = strcmp(root->name, "mujoco") == 0 ? translate_mjcf(l, d, root, base, &out)
                : is_urdf                         ? translate_urdf(l, d, root, base, &out)
                                                  : translate_sdf(l, d, root, base, &out);
    bool fits = out.out.failed || check_count(l, root, &out);
    bool written = fits && out.out.length > 0 && !out.out.failed && keep_written(l, d, &out);
    writer_free(&out);
    /* its tree */
    if (!written || l->report.no_memory) {
        return NULL;
    }
    return good ? document_parse(&d->from, l->work, &l->report) : parse_partial(l, d, main && is_urdf);
}

void check_import_options(loader *l) {
    const sim_import_options *o = &l->import;
    bool robot = is_robot(l->main->from.text, l->main->from.length) || l->main->from.behind;
    const struct {
        bool given, met;
        const char *name, *is;
    } options[] = {{o->base != SIM_BASE_FIXED, robot, "--base", "the scene itself is no robot"},
                   {o->mesh != SIM_MESH_CONVEX, l->met_robot, "--mesh", "the scene has no robot"},
                   {o->repair_inertia, l->met_robot, "--repair-inertia", "the scene has no robot"},
                   {o->strict, l->met_robot, "--strict", "the scene has no robot"},
                   {o->npackage > 0, l->met_robot, "--package", "the scene has no robot"},
                   {o->nallow > 0, l->met_robot, "--allow", "the scene has no robot"}};
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
        const source option = {.name = options[k].name};
        if (options[k].given && !options[k].met) {
            report_place(&l->report, &option, 0, NULL, NULL, "%s (URDF, MJCF or SDFormat), which this option speaks of",
                         options[k].is);
        }
    }
}

void check_allowed_names(loader *l) {
    xml_table_list list = {.count = 0};
    const xml_table *const root[] = {&table_robot, &mjcf_table_model, &sdf_table_file};
    for (size_t k = 0; k < sizeof root / sizeof root[0]; k++) {
        xml_list_tables(&list, root[k]);
    }
    for (int k = 0; k < l->import.nallow && l->met_robot; k++) {
        nearest near = {.wanted = l->import.allow[k]};
        char hint[200];
        const source option = {.name = "--allow"};
        if (!l->allow_met[k] && !xml_list_knows(&list, near.wanted, &near)) {
            report_place(&l->report, &option, 0, NULL, nearest_hint(&near, hint, sizeof hint),
                         "no file refuses \"%.80s\", and no format has an element or attribute of that name",
                         near.wanted);
        }
    }
}
