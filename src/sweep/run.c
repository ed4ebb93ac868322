/* One run of a sweep: scene, steps, row.  The steps and records are those of `sim SCENE --set ...`. */
#include "record/run/run_statistics.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scene ---- */

/* "PATH=VALUE" of all runs, then of the inputs; the second part is malloc'd.  -1: no memory. */
static int list_overrides(const sim_sweep *s, int64_t run, int inputs, const char **set) {
    int count = 0;
    for (int k = 0; k < s->sets; k++) {
        set[count++] = s->set[k];
    }
    for (int k = 0; k < inputs; k++) {
        char room[SWEEP_VALUE_BYTES];
        const char *value = sweep_value(s, &s->input[k], run, room);
        for (int p = 0; p < s->input[k].places; p++) {
            text option = {0};
            text_add(&option, "%s=%s", s->input[k].path[p], value);
            if (!(set[count] = text_take(&option))) {
                return -1;
            }
            count++;
        }
    }
    return count;
}

sim_scene *sweep_scene(const sim_sweep *s, int64_t run, int inputs, sim_error *error) {
    const char **set = calloc((size_t)(s->sets + s->most_places) + 1, sizeof *set);
    int count = set ? list_overrides(s, run, inputs, set) : -1;
    sim_scene *scene = NULL;
    if (count < 0) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the inputs");
    } else {
        sim_scene_overrides overrides = {.count = count, .set = set, .cache = s->cache};
        scene = sim_scene_parse(s->scene_text, s->scene_length, s->scene_path, &overrides, NULL, error);
    }
    for (int k = s->sets; set && set[k]; k++) {
        free((char *)set[k]);
    }
    free(set);
    return scene;
}

/* ---- steps ---- */

typedef struct sweep_run {
    const sim_sweep *sweep;
    sim_scene *scene;
    sim_world *world;
    sweep_watch *watch;
    run_statistics statistics;
    int64_t last_step, recorded;
} sweep_run;

static void record_run(sweep_run *r) {
    statistics_add_state(&r->statistics, r->world);
    sweep_watch_record(r->watch);
    r->recorded = sim_world_state(r->world)->step;
}

static sim_status begin_run(sweep_run *r, int64_t run, sim_error *error) {
    int missing;
    r->scene = sweep_scene(r->sweep, run, r->sweep->inputs, error);
    if (!r->scene) {
        return error->status;
    }
    r->scene->options.threads = 1;
    if (count_run_steps(r->scene, &r->last_step, error)) {
        return error->status;
    }
    r->world = sim_world_create(r->scene->model, &r->scene->options, error);
    if (!r->world) {
        return error->status;
    }
    r->watch = sweep_watch_create(r->sweep, r->scene, r->world, &missing);
    return r->watch ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for the signals");
}

/* SIM_OK: to the end; `*stopped`: the caller wished no more. */
static sim_status step_run(sweep_run *r, bool (*stop)(void *context), void *context, bool *stopped, sim_error *error) {
    sim_status status = SIM_OK;
    int64_t every = r->scene->record.every;
    *stopped = false;
    statistics_start(&r->statistics, r->world);
    record_run(r);
    while (!status && sim_world_state(r->world)->step < r->last_step) {
        if (stop && stop(context)) {
            *stopped = true;
            return SIM_OK;
        }
        status = sim_world_step(r->world, error);
        if (!status) {
            statistics_add_step(&r->statistics, r->world);
            if (sim_world_stopped(r->world) >= 0) {
                r->last_step = sim_world_state(r->world)->step;
            }
            if (sim_world_state(r->world)->step % every == 0) {
                record_run(r);
            }
        }
    }
    if (r->recorded != sim_world_state(r->world)->step) {
        record_run(r);
    }
    return status;
}

/* ---- the row ---- */

static double part_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }

#define SUMMARY(name, value)                                                                                           \
    { "summary", name, value }
#define CERTIFICATE(name, value)                                                                                       \
    { "certificate", name, value }

typedef struct summary_number {
    const char *group, *name;
    double value;
} summary_number;

enum { MAX_SUMMARY = 48 };

/* Numbers of a run in the order of the row; `r` NULL: their names alone. */
static int list_summary(const sweep_run *r, summary_number out[MAX_SUMMARY]) {
    const run_statistics nothing = {0}, *t = r ? &r->statistics : &nothing;
    const contact_statistics *c = &t->contact;
    const figure_statistics *f = c->figure;
    double steps = (double)c->steps;
    const summary_number number[] = {
        SUMMARY("steps", (double)t->steps),
        SUMMARY("time", r ? sim_world_state(r->world)->time : NAN),
        SUMMARY("iterations_mean", part_of((double)t->iterations, (double)t->steps)),
        SUMMARY("nonconverged_steps", (double)t->nonconverged),
        SUMMARY("saturated_steps", (double)t->saturated),
        SUMMARY("contacts_mean", part_of((double)c->contacts, (double)c->touching)),
        SUMMARY("contacts_most", c->most_contacts),
        SUMMARY("solver_iterations_mean", part_of((double)c->iterations, steps)),
        SUMMARY("solver_iterations_most", c->most_iterations),
        SUMMARY("unsolved_steps", (double)c->unsolved_steps),
        SUMMARY("refused_steps", (double)t->overlap.refused),
        SUMMARY("stuck_steps", (double)t->overlap.stuck),
        SUMMARY("energy_start", t->energy_first),
        SUMMARY("energy_end", t->energy_last),
        SUMMARY("energy_change", statistics_energy_change(t)),
        SUMMARY("sag", c->sag.worst),
        SUMMARY("lift", c->lift.worst),
        CERTIFICATE("E_worst", c->steps ? f[FIGURE_E].worst : NAN),
        CERTIFICATE("E_mean", part_of(f[FIGURE_E].sum, steps)),
        CERTIFICATE("own_worst", c->steps ? f[FIGURE_OWN].worst : NAN),
        CERTIFICATE("own_mean", part_of(f[FIGURE_OWN].sum, steps)),
        CERTIFICATE("momentum_worst", c->steps ? f[FIGURE_MOMENTUM].worst : NAN),
        CERTIFICATE("penetration_worst", c->steps ? f[FIGURE_PENETRATION].worst : NAN),
        CERTIFICATE("past_range_worst", c->steps ? f[FIGURE_PAST_RANGE].worst : NAN),
        CERTIFICATE("slip_worst", c->steps ? f[FIGURE_SLIP].worst : NAN),
        CERTIFICATE("excess_worst", c->steps ? f[FIGURE_EXCESS].worst : NAN),
    };
    _Static_assert(sizeof number / sizeof number[0] <= MAX_SUMMARY, "room");
    memcpy(out, number, sizeof number);
    return sizeof number / sizeof number[0];
}

bool sweep_summary_column(int k, const char **group, const char **name) {
    summary_number number[MAX_SUMMARY];
    if (k >= list_summary(NULL, number)) {
        return false;
    }
    *group = number[k].group;
    *name = number[k].name;
    return true;
}

static void add_number(text *row, double value) {
    char cell[32];
    snprintf(cell, sizeof cell, "%.17g", value);
    char *comma = strchr(cell, ','); /* the caller's locale may write one */
    if (comma) {
        *comma = '.';
    }
    text_add(row, ",%s", isnan(value) ? "nan" : cell);
}

/* Run, inputs, ending, summary and certificate, signals: as list_columns has them. */
static char *write_row(const sweep_run *r, int64_t run, const char *ending, const char *reason) {
    const sim_sweep *s = r->sweep;
    text row = {0};
    summary_number number[MAX_SUMMARY];
    text_add(&row, "%lld", (long long)run);
    for (int k = 0; k < s->inputs; k++) {
        const sweep_input *input = &s->input[k];
        char room[SWEEP_VALUE_BYTES];
        text_add(&row, ",");
        sweep_add_cell(&row,
                       input->shown ? input->shown[sweep_level(s, input, run)] : sweep_value(s, input, run, room));
    }
    text_add(&row, ",%s,", ending);
    sweep_add_cell(&row, reason);
    int count = list_summary(r->watch ? r : NULL, number);
    for (int k = 0; k < count; k++) {
        add_number(&row, r->watch ? number[k].value : NAN);
    }
    for (int k = 0; k < s->signals; k++) {
        add_number(&row, r->watch ? sweep_watch_value(r->watch, k) : NAN);
    }
    return text_take(&row);
}

/* A message about a file names it without the folder of the scene, which is another one on other machines. */
static const char *without_folder(const sim_sweep *s, const char *reason) {
    const char *slash = strrchr(s->scene_path, '/');
    size_t folder = slash ? (size_t)(slash - s->scene_path) + 1 : 0;
    return strncmp(reason, s->scene_path, folder) == 0 ? reason + folder : reason;
}

char *sim_sweep_row_without(const sim_sweep *sweep, int64_t run, const char *reason, sim_error *error) {
    sweep_run r = {.sweep = sweep};
    char *row = write_row(&r, run, "stopped", reason);
    if (!row) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a row");
    }
    return row;
}

char *sim_sweep_run(const sim_sweep *sweep, int64_t run, bool (*stop)(void *context), void *context, sim_error *error) {
    /* run */
    sweep_run r = {.sweep = sweep, .recorded = -1};
    sim_error why = {0};
    bool stopped = false;
    sim_status status = begin_run(&r, run, &why);
    const char *ending = status == SIM_NO_RESOURCE ? "stopped" : "refused";
    if (!status) {
        status = step_run(&r, stop, context, &stopped, &why);
        ending = status == SIM_FAILED ? "failed" : status ? "stopped" : "finished";
    }
    /* row */
    char *row = stopped ? NULL : write_row(&r, run, ending, status ? without_folder(sweep, why.text) : "");
    if (!row) {
        sim_fail(error, stopped ? SIM_FAILED : SIM_NO_RESOURCE, stopped ? "stopped" : "no memory for a row");
    }
    sweep_watch_free(r.watch);
    sim_world_free(r.world);
    sim_scene_free(r.scene);
    return row;
}
