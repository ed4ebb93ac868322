/* Loading a scene: all stages in order; a failure leaves nothing behind. */
#include "scene/loader/loader.h"

#include <stdlib.h>
#include <string.h>

static bool begin_load(loader *l, const char *content, size_t length, const char *path) {
    /* memory of the load and of the scene */
    l->work = pool_create();
    l->kept = pool_create();
    l->builder = sim_builder_create();
    l->scene = l->kept ? POOL_NEW(l->kept, sim_scene, 1) : NULL;
    l->allow_met = l->work ? POOL_NEW(l->work, bool, l->import.nallow) : NULL;
    if (!l->work || !l->scene || !l->builder || !l->allow_met) {
        l->report.no_memory = true;
        return false;
    }
    /* own copy of the text, which recordings store */
    char *text = pool_alloc(l->kept, length + 1, 1);
    if (!text) {
        l->report.no_memory = true;
        return false;
    }
    if (length) {
        memcpy(text, content, length);
    }
    l->scene->text = text;
    l->scene->text_length = length;
    l->scene->memory = l->kept;
    /* parse it */
    l->reader = (reader){&l->report, l->work, l->solvers};
    sha256_start(&l->hash);
    l->main = loader_add_document(l, path, text, length);
    return l->main && l->main->root;
}

/* Notes the folder from which names of files count. */
static void keep_folder(loader *l) {
    const char *beside = path_beside(l, l->main, "");
    char *real = beside ? realpath(beside[0] ? beside : ".", NULL) : NULL;
    l->scene->folder = real ? pool_text(l->kept, real) : NULL;
    l->report.no_memory |= real && !l->scene->folder;
    free(real);
}

/* Keeps the text of the scene as loaded: with the overrides of the caller, or written from a robot. */
static void keep_text(loader *l) {
    size_t length = 0;
    char *resolved = document_print(l->main->root, &length);
    char *kept = resolved ? pool_alloc(l->kept, length + 1, 1) : NULL;
    if (kept) {
        memcpy(kept, resolved, length);
        l->scene->text = kept;
        l->scene->text_length = length;
    }
    l->report.no_memory |= !kept;
    free(resolved);
}

static bool is_sweep(const node *root) {
    return root->kind == NODE_OBJECT && node_member(root, "sweep") && !node_member(root, "sim");
}

static void build_scene(loader *l, const sim_scene_overrides *overrides) {
    /* replaced values come first, so that all later stages see them */
    bool changed = !l->partial && overrides && (overrides->count || overrides->seed || overrides->start);
    if (changed) {
        override_options(l, overrides);
    }
    if (changed || l->main->from.behind) {
        keep_text(l);
    }
    keep_folder(l);
    sha256_add(&l->hash, l->scene->text, l->scene->text_length);
    if (is_sweep(l->main->root)) {
        report_value(&l->report, l->main->root, NULL,
                     "a sweep, where a scene is expected: sim sweep %s --out FILE runs it", l->main->from.name);
        return;
    }
    /* every error of keys, types and ranges in the main file */
    check_object(&l->reader, l->main->root, &table_scene);
    if (l->main->root->kind != NODE_OBJECT || l->report.no_memory) {
        return;
    }
    /* models to one flat list of bodies */
    loader_read(l, l->main->root, &table_scene, &l->data);
    l->seed = (uint64_t)l->data.world.seed;
    expand_instances(l);
    if (l->stopped || l->report.no_memory) {
        return;
    }
    /* options, materials and bodies to the builder */
    read_world_options(l);
    build_materials(l);
    if (!l->stopped) {
        build_bodies(l);
    }
    if (l->stopped || l->report.no_memory || l->partial) {
        return;
    }
    /* what acts on bodies, and what is recorded */
    build_control(l);
    start_at_keyframe(l);
    read_output(l);
}

static void finish_load(loader *l) {
    /* the model */
    sim_error why = {0};
    sim_builder *builder = l->builder;
    l->builder = NULL;
    l->scene->model = sim_builder_finish(builder, &why);
    if (!l->scene->model) {
        l->report.no_memory |= why.status == SIM_NO_RESOURCE;
        report_place(&l->report, &l->main->from, 0, NULL, NULL, "%s", why.text);
        return;
    }
    /* checks, doubts and parts that need it */
    check_moving_masses(l);
    doubt_starts(l);
    doubt_tendons(l);
    doubt_open_constraints(l);
    doubt_moduli(l);
    resolve_output(l);
    check_contact_options(l);
    complete_muscles(l);
    complete_controllers(l);
    exclude_overlaps(l);
    sha256_finish(&l->hash, l->scene->hash);
}

static void explain_load_failure(const loader *l, sim_error *error) {
    report_sort(&l->report);
    if (l->report.no_memory) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the scene");
        return;
    }
    char text[sizeof error->text];
    sim_diagnostic_print(&l->report.found->item[0], text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    sim_fail(error, l->report.no_resource ? SIM_NO_RESOURCE : SIM_BAD_INPUT, "%s", text);
}

/* All that the scene does not own. */
static void release_load(loader *l) {
    sim_builder_discard(l->builder);
    names_free(&l->names);
    names_free(&l->joints);
    names_free(&l->sites);
    names_free(&l->keyframes);
    names_free(&l->actuators);
    names_free(&l->sensors);
    free(l->keyframe_name);
    names_free(&l->tendons);
    names_free(&l->round_shapes);
    free(l->entries);
    free(l->site);
    free(l->round_shape);
    drop_early_meshes(l);
    pool_free(l->work);
}

sim_scene *load_scene_text(const char *content, size_t length, const char *path, const sim_scene_overrides *overrides,
                           const scene_limits *limits, const file_reader *files, sim_diagnostics *diagnostics,
                           sim_error *error) {
    /* state of the load */
    sim_diagnostics own = {0};
    memory_pool *messages = pool_create();
    loader l = {.report = {.found = diagnostics ? diagnostics : &own, .pool = messages, .no_memory = !messages},
                .limits = *limits,
                .steps_left = limits->solids,
                .mesh_bytes_left = limits->mesh_bytes,
                .cache = overrides ? overrides->cache : NULL,
                .folder = overrides ? overrides->folder : NULL,
                .solvers = overrides ? overrides->solvers : NULL,
                .files = *files};
    if (overrides && overrides->import) {
        l.import = *overrides->import;
        l.report.strict = l.import.strict;
    }
    *l.report.found = (sim_diagnostics){.memory = messages};
    /* stages */
    if (messages && begin_load(&l, content, length, path)) {
        build_scene(&l, overrides);
        check_allowed_names(&l);
        check_import_options(&l);
        if (loader_good(&l)) {
            finish_load(&l);
        }
    }
    /* warnings of a scene that loads, or errors of one that does not */
    if (loader_good(&l) && l.scene && l.scene->model && overrides && overrides->names_from) {
        anchor_file_names(&l, overrides->names_from);
        keep_text(&l);
    }
    bool good = loader_good(&l) && l.scene && l.scene->model;
    sim_scene *scene = good ? l.scene : NULL;
    if (good) {
        l.report.warned.memory = messages;
        *l.report.found = l.report.warned;
        report_sort(&l.report);
    } else {
        explain_load_failure(&l, error);
        if (l.scene) {
            sim_model_free(l.scene->model);
        }
        pool_free(l.kept);
    }
    /* release all that the scene does not own */
    release_load(&l);
    sim_diagnostics_free(&own);
    return scene;
}

scene_limits scene_limits_default(void) {
    return (scene_limits){.bodies = 1000000,
                          .copied_nodes = 4000000,
                          .work = 2000000000,
                          .files = 1000,
                          .mesh_bytes = 4ll << 30,
                          .solids = 50000000000,
                          .bytes = 4ll * DOCUMENT_MAX_BYTES};
}

static const file_reader file_system = {read_scene_file, read_mesh_file, scene_file_exists, read_bytes_file, NULL};

sim_scene *sim_scene_parse(const char *text, size_t length, const char *path, const sim_scene_overrides *overrides,
                           sim_diagnostics *diagnostics, sim_error *error) {
    scene_limits limits = scene_limits_default();
    return load_scene_text(text, length, path ? path : "scene", overrides, &limits, &file_system, diagnostics, error);
}

/* A file that cannot be read is reported without a line. */
static void say_unreadable(const char *path, const sim_error *why, sim_diagnostics *diagnostics, sim_error *error) {
    sim_diagnostics own = {0};
    sim_diagnostics *found = diagnostics ? diagnostics : &own;
    report r = {.found = found, .pool = pool_create()};
    if (!r.pool) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the scene");
        return;
    }
    found->memory = r.pool;
    source from = {.name = path};
    report_place(&r, &from, 0, NULL, NULL, "%s", why->text);
    sim_fail(error, why->status, "%.200s: error: %s", path, why->text);
    sim_diagnostics_free(&own);
}

sim_scene *sim_scene_load(const char *path, const sim_scene_overrides *overrides, sim_diagnostics *diagnostics,
                          sim_error *error) {
    char *content = NULL;
    size_t length = 0;
    sim_error why = {0};
    if (diagnostics) {
        *diagnostics = (sim_diagnostics){0};
    }
    if (read_scene_file(NULL, path, false, &content, &length, &why)) {
        say_unreadable(path, &why, diagnostics, error);
        return NULL;
    }
    sim_scene *scene = sim_scene_parse(content, length, path, overrides, diagnostics, error);
    free(content);
    return scene;
}

void sim_scene_free(sim_scene *scene) {
    if (scene) {
        sim_model_free(scene->model);
        pool_free(scene->memory);
    }
}
