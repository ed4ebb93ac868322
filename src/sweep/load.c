/* Loading a sweep: its file by the tables, its scene, the columns of its rows, and the first run as a check. */
#include "base/file.h"
#include "base/sha256.h"
#include "scene/format/read.h"
#include "scene/loader/loader.h"
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

typedef struct sweep_loader {
    report report;
    reader reader;
    sim_sweep *sweep;
    sweep_data data;
} sweep_loader;

/* ---- inputs ---- */

/* A value as JSON in one line, in the pool. */
static const char *value_text(sweep_loader *l, const node *n) {
    node alone = *n;
    size_t length = 0;
    alone.key = NULL;
    char *printed = document_print(&alone, &length);
    char *kept = printed ? pool_text(l->sweep->pool, printed) : NULL;
    free(printed);
    if (!kept) {
        l->report.no_memory = true;
        return "";
    }
    kept[strcspn(kept, "\n")] = 0;
    return kept;
}

static void read_values(sweep_loader *l, sweep_input *input, const node *values) {
    const char **value = POOL_NEW(l->sweep->pool, const char *, values->count),
               **shown = POOL_NEW(l->sweep->pool, const char *, values->count);
    int64_t count = 0;
    for (const node *n = values->first; n && value && shown; n = n->next) {
        value[count] = value_text(l, n);
        shown[count] = n->kind == NODE_TEXT ? n->text : value[count];
        count++;
        input->is_text |= n->kind != NODE_NUMBER;
    }
    input->value = value;
    input->shown = shown;
    input->count = count;
    l->report.no_memory |= !value || !shown;
}

static void read_range(sweep_loader *l, sweep_input *input, const input_data *data) {
    bool latin = l->data.design == SWEEP_LATIN;
    const node *count = node_member(data->at, "count");
    if (!node_member(data->at, "from") || !node_member(data->at, "to")) {
        report_value(&l->report, data->at, NULL, "an input has \"values\", or \"from\" and \"to\"");
    } else if (latin == (count != NULL)) {
        report_value(&l->report, latin ? count : data->at, NULL,
                     latin ? "numbers of a Latin hypercube are as many as its runs" : "\"count\" is missing");
    } else if (data->log && !(data->from > 0 && data->to > 0)) {
        report_value(&l->report, node_member(data->at, "log"), NULL, "equal ratios need numbers above 0");
    }
    input->from = data->from;
    input->to = data->to;
    input->log = data->log;
    input->count = data->count;
}

static void read_places(sweep_loader *l, sweep_input *input, const input_data *data) {
    const char **path = POOL_NEW(l->sweep->pool, const char *, data->set->count + 1);
    if (!path || !data->set->first) {
        l->report.no_memory |= !path;
        report_value(&l->report, data->set, NULL, "an input sets one value of the scene at least");
        return;
    }
    for (const node *n = data->set->first; n; n = n->next) {
        place_data place;
        read_object(&l->reader, n, sweep_table_place, &place);
        path[input->places++] = place.path;
        if (strchr(place.path, '=') || !*place.path) {
            report_value(&l->report, n, NULL, "expected a path, as in \"world/step\"");
        }
    }
    input->path = path;
    const char *slash = strrchr(path[0], '/');
    input->name = data->name ? data->name : slash ? slash + 1 : path[0];
    l->sweep->most_places += input->places;
}

/* Each with its places and values. */
static void read_inputs(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    const node *inputs = l->data.inputs;
    if (inputs->count == 0 || inputs->count > MAX_SWEEP_INPUTS) {
        report_value(&l->report, inputs, NULL, "a sweep has 1 to %d inputs, not %d", MAX_SWEEP_INPUTS, inputs->count);
        return;
    }
    s->input = POOL_NEW(s->pool, sweep_input, inputs->count);
    l->report.no_memory |= !s->input;
    for (const node *n = inputs->first; n && s->input; n = n->next) {
        sweep_input *input = &s->input[s->inputs++];
        input_data data;
        read_object(&l->reader, n, sweep_table_input, &data);
        input->at = n;
        read_places(l, input, &data);
        bool ranged =
            node_member(n, "from") || node_member(n, "to") || node_member(n, "count") || node_member(n, "log");
        if (data.values && ranged) {
            report_value(&l->report, n, NULL, "an input has \"values\", or \"from\" and \"to\"");
        } else if (data.values) {
            read_values(l, input, data.values);
        } else {
            read_range(l, input, &data);
        }
    }
}

static void count_runs(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    const node *runs = node_member(l->data.at, "runs"), *seed = node_member(l->data.at, "seed");
    bool latin = s->design == SWEEP_LATIN;
    /* keys of the design */
    if (latin != (runs != NULL)) {
        report_value(&l->report, latin ? l->data.at : runs, NULL,
                     latin ? "\"runs\" is missing" : "\"runs\" belongs to the design \"latin\"");
    }
    if (!latin && seed) {
        report_value(&l->report, seed, "world/seed is that of the scene", "\"seed\" belongs to the design \"latin\"");
    }
    /* product, or the one length */
    int64_t count = latin ? l->data.runs : s->input[0].count;
    for (int k = 1; k < s->inputs && !latin; k++) {
        if (s->design == SWEEP_LIST && s->input[k].count != count) {
            report_value(&l->report, s->input[k].at, NULL, "%lld values, but the first input has %lld",
                         (long long)s->input[k].count, (long long)count);
        }
        count *= s->design == SWEEP_GRID ? s->input[k].count : 1;
        if (count > MAX_SWEEP_RUNS) {
            break;
        }
    }
    if (count > MAX_SWEEP_RUNS) {
        report_value(&l->report, l->data.inputs, NULL, "more than %d runs", MAX_SWEEP_RUNS);
    }
    s->info.runs = count;
}

/* ---- the rest of the file ---- */

static void read_sets(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    const char **set = POOL_NEW(s->pool, const char *, l->data.set ? l->data.set->count : 0);
    for (const node *n = l->data.set ? l->data.set->first : NULL; n && set; n = n->next) {
        text option = {0};
        text_add(&option, "%s=%s", n->key, value_text(l, n));
        char *whole = text_take(&option);
        set[s->sets] = whole ? pool_text(s->pool, whole) : NULL;
        l->report.no_memory |= !set[s->sets++];
        free(whole);
    }
    s->set = set;
    l->report.no_memory |= !set;
}

/* Each with its name. */
static void read_signals(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    const node *signals = l->data.signals;
    if (!signals) {
        return;
    }
    if (signals->count > MAX_SWEEP_SIGNALS) {
        report_value(&l->report, signals, NULL, "more than %d signals", MAX_SWEEP_SIGNALS);
        return;
    }
    s->signal = POOL_NEW(s->pool, sweep_signal, signals->count);
    l->report.no_memory |= !s->signal;
    for (const node *n = signals->first; n && s->signal; n = n->next) {
        static const char *const prefix[SIGNAL_TAKES] = {"", "start ", "least ", "most ", "mean "};
        signal_data data;
        text name = {0};
        read_object(&l->reader, n, sweep_table_signal, &data);
        text_add(&name, "%s%s", prefix[data.take], data.column);
        char *whole = text_take(&name);
        const char *own = data.name ? data.name : whole ? pool_text(s->pool, whole) : NULL;
        free(whole);
        l->report.no_memory |= !own;
        s->signal[s->signals++] = (sweep_signal){own ? own : "", data.column, (signal_take)data.take, n};
    }
}

static void read_scene_of(sweep_loader *l, const char *path) {
    /* path beside the sweep */
    sim_sweep *s = l->sweep;
    text name = {0};
    const char *slash = l->data.scene[0] == '/' ? NULL : strrchr(path, '/');
    text_add(&name, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, l->data.scene);
    char *whole = text_take(&name), *content = NULL;
    sim_error why = {0};
    s->scene_path = whole ? pool_text(s->pool, whole) : NULL;
    free(whole);
    /* content */
    if (!s->scene_path) {
        l->report.no_memory = true;
    } else if (read_scene_file(NULL, s->scene_path, false, &content, &s->scene_length, &why)) {
        l->report.no_resource |= why.status == SIM_NO_RESOURCE;
        report_value(&l->report, node_member(l->data.at, "scene"), NULL, "%.200s: %s", s->scene_path, why.text);
    } else {
        char *kept = pool_alloc(s->pool, s->scene_length + 1, 1);
        if (kept) {
            memcpy(kept, content, s->scene_length);
        }
        s->scene_text = kept;
        l->report.no_memory |= !kept;
    }
    free(content);
}

/* ---- columns ---- */

static void add_column(sweep_loader *l, const char *group, const char *name, bool is_text, const node *at) {
    sim_sweep_info *info = &l->sweep->info;
    for (int k = 0; k < info->columns; k++) {
        if (strcmp(info->column[k], name) == 0) {
            report_value(&l->report, at, "\"name\" gives it another one", "there is a column \"%.100s\" already", name);
            return;
        }
    }
    ((const char **)info->column)[info->columns] = name;
    ((const char **)info->group)[info->columns] = group;
    ((bool *)info->is_text)[info->columns++] = is_text;
}

static void list_columns(sweep_loader *l) {
    /* room */
    sim_sweep *s = l->sweep;
    const char *group, *name;
    int summary = 0;
    while (sweep_summary_column(summary, &group, &name)) {
        summary++;
    }
    int most = 3 + s->inputs + summary + s->signals;
    s->info.column = POOL_NEW(s->pool, const char *, most);
    s->info.group = POOL_NEW(s->pool, const char *, most);
    s->info.is_text = POOL_NEW(s->pool, bool, most);
    if (!s->info.column || !s->info.group || !s->info.is_text) {
        l->report.no_memory = true;
        return;
    }
    /* in the order of a row; fixed names first, so that others yield */
    add_column(l, "runs", "run", false, l->data.at);
    for (int k = 0; k < s->inputs; k++) {
        add_column(l, "inputs", s->input[k].name, s->input[k].is_text, s->input[k].at);
    }
    add_column(l, "runs", "ending", true, l->data.inputs);
    add_column(l, "runs", "reason", true, l->data.inputs);
    for (int k = 0; k < summary && sweep_summary_column(k, &group, &name); k++) {
        add_column(l, group, name, false, l->data.inputs);
    }
    for (int k = 0; k < s->signals; k++) {
        add_column(l, "signals", s->signal[k].name, false, s->signal[k].at);
    }
}

/* ---- the first run ---- */

static void check_signals(sweep_loader *l, sim_scene *scene) {
    sim_sweep *s = l->sweep;
    sim_error why;
    int missing = -1;
    char hint[400];
    sim_world *world = sim_world_create(scene->model, &scene->options, &why);
    sweep_watch *watch = world ? sweep_watch_create(s, scene, world, &missing) : NULL;
    l->report.no_memory |= !watch;
    if (watch && missing >= 0) {
        const sweep_signal *signal = &s->signal[missing];
        report_value(&l->report, signal->at, sweep_watch_hint(watch, signal->column, hint, sizeof hint),
                     "no run of this scene records \"%.100s\"", signal->column);
    }
    sweep_watch_free(watch);
    sim_world_free(world);
}

/* With one input after the other, until the scene is refused. */
static void blame_input(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    for (int k = 0; k <= s->inputs; k++) {
        sim_error why = {0};
        sim_scene *scene = sweep_scene(s, 0, k, &why);
        if (!scene) {
            const node *at = k ? s->input[k - 1].at : node_member(l->data.at, l->data.set ? "set" : "scene");
            report_value(&l->report, at, NULL, "the first run: %s", why.text);
            return;
        }
        sim_scene_free(scene);
    }
}

static void check_first_run(sweep_loader *l) {
    sim_sweep *s = l->sweep;
    sim_error why = {0};
    sim_scene *scene = sweep_scene(s, 0, s->inputs, &why);
    if (!scene) {
        blame_input(l);
        return;
    }
    /* identity: file, scene and program */
    sha256_state hash;
    sha256_start(&hash);
    sha256_add(&hash, s->info.text, s->info.text_length);
    sha256_add(&hash, scene->hash, strlen(scene->hash));
    sha256_add(&hash, sim_version(), strlen(sim_version()));
    sha256_add(&hash, sim_build_info(), strlen(sim_build_info()));
    sha256_finish(&hash, s->info.hash);
    check_signals(l, scene);
    sim_scene_free(scene);
}

/* ---- the whole ---- */

static bool good_so_far(const sweep_loader *l) { return l->report.found->count == 0 && !l->report.no_memory; }

static void read_sweep(sweep_loader *l, const char *path) {
    sim_sweep *s = l->sweep;
    source *from = POOL_NEW(s->pool, source, 1);
    if (!from) {
        l->report.no_memory = true;
        return;
    }
    *from = (source){.name = pool_text(s->pool, path), .text = s->info.text, .length = s->info.text_length};
    const node *root = document_parse(from, s->pool, &l->report);
    if (root && root->kind == NODE_OBJECT && node_member(root, "sim") && !node_member(root, "sweep")) {
        report_value(&l->report, root, NULL,
                     "a scene, where a sweep is expected: sim %s runs it, and a sweep names it as its \"scene\" "
                     "(docs/sweeps.md)",
                     path);
        return;
    }
    if (!root || !check_object(&l->reader, root, &table_sweep) || !good_so_far(l)) {
        return;
    }
    /* its content */
    read_object(&l->reader, root, &table_sweep, &l->data);
    s->info.name = l->data.name;
    s->design = (sweep_design)l->data.design;
    s->seed = (uint64_t)l->data.seed;
    read_inputs(l);
    read_sets(l);
    read_signals(l);
    if (good_so_far(l)) {
        count_runs(l);
        list_columns(l);
        read_scene_of(l, path);
    }
    if (good_so_far(l)) {
        l->report.no_memory |= !sweep_shuffle(s);
    }
    if (good_so_far(l)) {
        check_first_run(l);
    }
}

static void explain_sweep_failure(sweep_loader *l, sim_error *error) {
    report_sort(&l->report);
    if (l->report.no_memory || l->report.found->count == 0) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the sweep");
        return;
    }
    char message[sizeof error->text];
    sim_diagnostic_print(&l->report.found->item[0], message, sizeof message);
    message[strcspn(message, "\n")] = 0;
    sim_fail(error, l->report.no_resource ? SIM_NO_RESOURCE : SIM_BAD_INPUT, "%s", message);
}

sim_sweep *sim_sweep_parse(const char *content, size_t length, const char *path, const char *cache,
                           sim_diagnostics *diagnostics, sim_error *error) {
    /* memory */
    sim_diagnostics own = {0}, *found = diagnostics ? diagnostics : &own;
    sim_error unread;
    error = error ? error : &unread;
    memory_pool *messages = pool_create(), *pool = pool_create();
    *found = (sim_diagnostics){.memory = messages};
    sweep_loader l = {.report = {.found = found, .pool = messages, .no_memory = !messages || !pool}};
    l.sweep = pool ? POOL_NEW(pool, sim_sweep, 1) : NULL;
    char *kept = l.sweep ? pool_alloc(pool, length + 1, 1) : NULL;
    /* content */
    if (kept && messages) {
        memcpy(kept, content, length);
        *l.sweep = (sim_sweep){.pool = pool, .cache = pool_text(pool, cache)};
        l.sweep->info.text = kept;
        l.sweep->info.text_length = length;
        l.reader = (reader){&l.report, pool, NULL};
        read_sweep(&l, path ? path : "sweep");
    } else {
        l.report.no_memory = true;
    }
    bool good = good_so_far(&l);
    if (!good) {
        explain_sweep_failure(&l, error);
        pool_free(pool);
    }
    sim_diagnostics_free(&own);
    return good ? l.sweep : NULL;
}

sim_sweep *sim_sweep_load(const char *path, const char *cache, sim_diagnostics *diagnostics, sim_error *error) {
    char *content = NULL;
    size_t length = 0;
    sim_error why = {0};
    if (diagnostics) {
        *diagnostics = (sim_diagnostics){0};
    }
    sim_status status = file_read(path, DOCUMENT_MAX_BYTES, &content, &length, &why);
    if (status) {
        sim_fail(error, status, "%.200s: %s", path, why.text);
        return NULL;
    }
    sim_sweep *sweep = sim_sweep_parse(content, length, path, cache, diagnostics, error);
    free(content);
    return sweep;
}

void sim_sweep_free(sim_sweep *sweep) {
    if (sweep) {
        pool_free(sweep->pool);
    }
}

const sim_sweep_info *sim_sweep_about(const sim_sweep *sweep) { return &sweep->info; }
