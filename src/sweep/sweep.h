/* A sweep in memory, and the stages of a run. */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include "base/pool.h"
#include "scene/format/tables/fields.h"
#include "scene/json/document.h"
#include "scene/json/report.h"
#include "scene/json/text.h"

#include <sim/sweep.h>

enum { MAX_SWEEP_RUNS = 10000000, MAX_SWEEP_INPUTS = 64, MAX_SWEEP_SIGNALS = 256 };

typedef enum sweep_design { SWEEP_GRID, SWEEP_LIST, SWEEP_LATIN, SWEEP_DESIGNS } sweep_design;
typedef enum signal_take { TAKE_END, TAKE_START, TAKE_LEAST, TAKE_MOST, TAKE_MEAN, SIGNAL_TAKES } signal_take;

/* ---- the file, as its tables fill it ---- */

typedef struct place_data {
    const node *at;
    const char *path;
} place_data;

typedef struct input_data {
    const node *at;
    const char *name;
    const node *set, *values;
    double from, to;
    int64_t count;
    bool log;
} input_data;

typedef struct signal_data {
    const node *at;
    const char *name, *column;
    int take;
} signal_data;

typedef struct sweep_data {
    const node *at;
    int64_t version;
    const char *name, *description, *scene;
    const node *set, *inputs;
    int design;
    int64_t runs, seed;
    const node *signals;
} sweep_data;

extern const table table_sweep;
extern const table *const sweep_tables[];
extern const table *const sweep_table_input, *const sweep_table_place, *const sweep_table_signal;

/* ---- the sweep ---- */

typedef struct sweep_input {
    const char *name;
    int places;
    const char *const *path;  /* [places] */
    int64_t count;            /* of values; 0: a range of a Latin hypercube */
    const char *const *value; /* [count] JSON; NULL: numbers of a range */
    const char *const *shown; /* [count] the same, texts without quotes */
    bool is_text;
    double from, to;
    bool log;
    const int32_t *order; /* Latin hypercube: the part of the range that each run has */
    const node *at;
} sweep_input;

typedef struct sweep_signal {
    const char *name, *column;
    signal_take take;
    const node *at;
} sweep_signal;

struct sim_sweep {
    sim_sweep_info info;
    memory_pool *pool;
    const char *scene_path, *scene_text, *cache;
    size_t scene_length;
    sweep_design design;
    int sets;
    const char *const *set; /* "PATH=VALUE", for all runs */
    int inputs, signals;
    sweep_input *input;
    sweep_signal *signal;
    int most_places; /* of all inputs together */
    uint64_t seed;
};

enum { SWEEP_VALUE_BYTES = 64 };

/* The value of an input in a run, as JSON: one of its texts, or a number written into `room`. */
const char *sweep_value(const sim_sweep *s, const sweep_input *input, int64_t run, char room[SWEEP_VALUE_BYTES]);
/* Which of its values an input has in a run. */
int64_t sweep_level(const sim_sweep *s, const sweep_input *input, int64_t run);
/* The parts of the range of each input in a Latin hypercube. */
bool sweep_shuffle(sim_sweep *s);

/* The scene of a run with the values of the first `inputs` inputs.  NULL: refused. */
sim_scene *sweep_scene(const sim_sweep *s, int64_t run, int inputs, sim_error *error);

/* Columns of summary and certificate, in order; false beyond the last. */
bool sweep_summary_column(int k, const char **group, const char **name);

/* A cell of CSV: quoted where it holds a separator, without line breaks. */
void sweep_add_cell(text *row, const char *content);
/* The next cell of a row, into `cell`, which is at least as long as the row; the place behind it, NULL after the last. */
const char *sweep_next_cell(const char *row, char *cell);

/* ---- signals ---- */

typedef struct sweep_watch sweep_watch;
/* NULL without memory.  Signals that the scene does not have are NAN; `missing` is the first of them, or -1. */
sweep_watch *sweep_watch_create(const sim_sweep *s, sim_scene *scene, sim_world *world, int *missing);
void sweep_watch_free(sweep_watch *w);
void sweep_watch_record(sweep_watch *w);
double sweep_watch_value(const sweep_watch *w, int signal);
/* "did you mean ...?" for a column that the scene does not have. */
const char *sweep_watch_hint(const sweep_watch *w, const char *column, char *hint, size_t size);

#endif
