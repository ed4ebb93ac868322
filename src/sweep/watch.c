/* Signals of a run: columns of its record, of which the row has one number each. */
#include "base/nearest.h"
#include "record/run/channels.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN_BYTES = 2 * CHANNEL_NAME_BYTES, UNIT_BYTES = 32 };

typedef struct signal_sum {
    int channel; /* of the set; -1: the scene has no such column */
    size_t at;   /* in the row */
    double first, last, least, most, sum;
} signal_sum;

struct sweep_watch {
    memory_pool *pool;
    const sim_sweep *sweep;
    const sim_scene *scene;
    channel_set *set;
    channel_source source;
    double *row;
    bool *needed; /* [set->count] */
    signal_sum *sum;
    int64_t records;
};

/* As the header of CSV has it, without and with the unit. */
static void column_name(const sim_scene *scene, const channel_kind *kind, int item, int component,
                        char name[COLUMN_BYTES], char whole[COLUMN_BYTES + UNIT_BYTES]) {
    char thing[CHANNEL_NAME_BYTES];
    kind->name(scene, item, thing, sizeof thing);
    if (kind->rank < 3) {
        snprintf(name, COLUMN_BYTES, "%s%s", kind->column, thing);
    } else {
        snprintf(name, COLUMN_BYTES, "%s.%s%s", thing, kind->column, kind->components[component]);
    }
    snprintf(whole, COLUMN_BYTES + UNIT_BYTES, "%s [%.*s]", name, UNIT_BYTES - 4, kind->unit(scene, item, component));
}

/* Calls `see` with every column that there is. */
static void each_column(const sweep_watch *w,
                        void (*see)(void *context, const char *name, const char *whole, int channel, size_t at),
                        void *context) {
    char name[COLUMN_BYTES], whole[COLUMN_BYTES + UNIT_BYTES];
    for (int s = 0; s < w->set->count; s++) {
        const record_channel *channel = &w->set->channel[s];
        int width = channel->kind->width;
        for (size_t k = 0; k < channel->count && channel->kind->column; k++) {
            column_name(w->scene, channel->kind, (int)k / width, (int)k % width, name, whole);
            see(context, name, whole, s, channel->offset + k);
        }
    }
}

static void take_column(void *context, const char *name, const char *whole, int channel, size_t at) {
    sweep_watch *w = context;
    for (int k = 0; k < w->sweep->signals; k++) {
        const char *wanted = w->sweep->signal[k].column;
        if (w->sum[k].channel < 0 && (strcmp(wanted, name) == 0 || strcmp(wanted, whole) == 0)) {
            w->sum[k].channel = channel;
            w->sum[k].at = at;
            w->needed[channel] = true;
        }
    }
}

static void record_everything(sim_record_spec *record) {
    record->coordinates = record->velocities = record->poses = record->twists = record->energy = record->momentum =
        record->efforts = record->statistics = record->sensors = true;
    record->contacts = false;
}

sweep_watch *sweep_watch_create(const sim_sweep *s, sim_scene *scene, sim_world *world, int *missing) {
    /* every channel of the scene */
    record_everything(&scene->record);
    memory_pool *pool = pool_create();
    sweep_watch *w = pool ? POOL_NEW(pool, sweep_watch, 1) : NULL;
    channel_set *set = w ? channels_choose(scene, pool) : NULL;
    if (set) {
        *w = (sweep_watch){.pool = pool,
                           .sweep = s,
                           .scene = scene,
                           .set = set,
                           .row = POOL_NEW(pool, double, set->width),
                           .needed = POOL_NEW(pool, bool, set->count),
                           .sum = POOL_NEW(pool, signal_sum, s->signals),
                           .source = {.scene = scene, .world = world}};
        w->source.turn = POOL_NEW(pool, sim_quat, scene->model->nbody);
    }
    if (!set || !w->row || !w->needed || !w->sum || !w->source.turn) {
        pool_free(pool);
        return NULL;
    }
    /* the columns that the signals name */
    for (int k = 0; k < s->signals; k++) {
        w->sum[k].channel = -1;
    }
    each_column(w, take_column, w);
    *missing = -1;
    for (int k = s->signals - 1; k >= 0; k--) {
        *missing = w->sum[k].channel < 0 ? k : *missing;
    }
    return w;
}

void sweep_watch_free(sweep_watch *w) {
    if (w) {
        pool_free(w->pool);
    }
}

void sweep_watch_record(sweep_watch *w) {
    for (int s = 0; s < w->set->count; s++) {
        if (w->needed[s]) {
            w->set->channel[s].kind->fetch(&w->source, w->row + w->set->channel[s].offset);
        }
    }
    for (int k = 0; k < w->sweep->signals; k++) {
        signal_sum *sum = &w->sum[k];
        if (sum->channel >= 0) {
            double value = w->row[sum->at];
            sum->first = w->records ? sum->first : value;
            sum->least = w->records ? fmin(sum->least, value) : value;
            sum->most = w->records ? fmax(sum->most, value) : value;
            sum->last = value;
            sum->sum += value;
        }
    }
    w->records++;
}

double sweep_watch_value(const sweep_watch *w, int signal) {
    const signal_sum *sum = &w->sum[signal];
    if (sum->channel < 0 || !w->records) {
        return NAN;
    }
    switch (w->sweep->signal[signal].take) {
    case TAKE_START:
        return sum->first;
    case TAKE_LEAST:
        return sum->least;
    case TAKE_MOST:
        return sum->most;
    case TAKE_MEAN:
        return sum->sum / (double)w->records;
    default:
        return sum->last;
    }
}

/* The nearest name so far, in memory of its own: names of columns do not stay. */
typedef struct near_column {
    nearest near;
    char best[COLUMN_BYTES];
} near_column;

static void try_column(void *context, const char *name, const char *whole, int channel, size_t at) {
    near_column *n = context;
    (void)whole, (void)channel, (void)at;
    nearest_try(&n->near, name);
    if (n->near.best == name) {
        snprintf(n->best, sizeof n->best, "%s", name);
        n->near.best = n->best;
    }
}

const char *sweep_watch_hint(const sweep_watch *w, const char *column, char *hint, size_t size) {
    near_column n = {.near = {.wanted = column}};
    each_column(w, try_column, &n);
    return nearest_hint(&n.near, hint, size);
}
