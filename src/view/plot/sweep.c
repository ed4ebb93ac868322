/* Plots of sweeps.  Two inputs of numbers that form a grid make a map, one makes a line; each word of a third input has
 * a map or a line of its own.  Numbers of runs that share a place are means; a line has a band from the least to the
 * greatest.  Runs that did not finish are left out. */
#include "view/plot/sweep.h"
#include "base/nearest.h"
#include "scene/json/names.h"
#include "sweep/table.h"
#include "view/plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PANELS = 24, MAX_WORDS = 8, MAX_SPARSE = 4 /* cells a run of a map */ };

/* The different numbers of a column, in order. */
typedef struct levels {
    const sweep_column *column;
    int count;
    double *value;
    int *of; /* [rows] */
    bool log;
} levels;

typedef struct chart {
    memory_pool *pool;
    const plot_wish *wish;
    const sweep_table *table;
    const sweep_column *ending, *words; /* words: the input whose words are apart; NULL: none */
    int word_count;
    const char *word[MAX_WORDS];
    levels x, y; /* y.column NULL: lines */
    int panels;
    plot_panel panel[MAX_PANELS];
    plot_key key[MAX_WORDS];
    sim_error *error;
} chart;

static bool report_no_memory(const chart *c) {
    sim_fail(c->error, SIM_NO_RESOURCE, "no memory for the picture");
    return false;
}

/* ---- inputs ---- */

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int place_among(const levels *l, double value) {
    int low = 0, high = l->count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (l->value[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Numbers over more than a decade and a half in equal ratios. */
static bool has_equal_ratios(const levels *l) {
    static const double MIN_SPAN = 30, MAX_DEVIATION = 1e-6;
    bool equal = l->count > 2 && l->value[0] > 0 && l->value[l->count - 1] / l->value[0] > MIN_SPAN;
    for (int k = 1; k + 1 < l->count && equal; k++) {
        double ratio = l->value[k + 1] / l->value[k] / (l->value[1] / l->value[0]);
        equal = fabs(ratio - 1) < MAX_DEVIATION;
    }
    return equal;
}

static bool find_levels(const chart *c, const sweep_column *column, levels *l) {
    int64_t rows = c->table->rows;
    *l = (levels){.column = column, .value = POOL_NEW(c->pool, double, rows), .of = POOL_NEW(c->pool, int, rows)};
    if (!l->value || !l->of) {
        return report_no_memory(c);
    }
    memcpy(l->value, column->number, (size_t)rows * sizeof(double));
    qsort(l->value, (size_t)rows, sizeof(double), compare_numbers);
    for (int64_t run = 0; run < rows; run++) {
        if (run == 0 || l->value[run] != l->value[l->count - 1]) {
            l->value[l->count++] = l->value[run];
        }
    }
    for (int64_t run = 0; run < rows; run++) {
        l->of[run] = place_among(l, column->number[run]);
    }
    l->log = has_equal_ratios(l);
    return true;
}

static const sweep_column *named_input(const chart *c, const char *name, const char *option) {
    nearest near = {.wanted = name};
    char hint[300];
    int k = sweep_table_find(c->table, name);
    if (k >= 0 && c->table->column[k].number) {
        return &c->table->column[k];
    }
    for (int j = 0; j < c->table->columns; j++) {
        nearest_try(&near, c->table->column[j].name);
    }
    const char *said = nearest_hint(&near, hint, sizeof hint);
    sim_fail(c->error, SIM_BAD_INPUT, "--%s: the sweep has no column of numbers \"%.80s\"%s%s%s", option, name,
             said ? " (" : "", said ? said : "", said ? ")" : "");
    return NULL;
}

static bool varies(const chart *c, const sweep_column *column) {
    for (int64_t run = 1; run < c->table->rows; run++) {
        bool other =
            column->number ? column->number[run] != column->number[0] : strcmp(column->word[run], column->word[0]) != 0;
        if (other) {
            return true;
        }
    }
    return false;
}

/* The first input of numbers that changes, besides `but`. */
static const sweep_column *free_input(const chart *c, const sweep_column *but) {
    for (int k = 0; k < c->table->columns; k++) {
        const sweep_column *column = &c->table->column[k];
        if (column->group == SWEEP_INPUT && column->number && column != but && varies(c, column)) {
            return column;
        }
    }
    return NULL;
}

static bool choose_axes(chart *c) {
    /* x: by name, else the first input */
    const plot_wish *w = c->wish;
    const sweep_column *x = w->x ? named_input(c, w->x, "x") : free_input(c, NULL);
    if (!x) {
        if (!w->x) {
            sim_fail(c->error, SIM_BAD_INPUT, "no input of numbers changes from run to run");
        }
        return false;
    }
    /* y: by name, else the next input if both make a grid */
    const sweep_column *y = w->y ? named_input(c, w->y, "y") : free_input(c, x);
    if ((w->y && !y) || !find_levels(c, x, &c->x)) {
        return false;
    }
    if (y && !find_levels(c, y, &c->y)) {
        return false;
    }
    double cells = y ? (double)c->x.count * c->y.count : 0;
    if (!w->y && cells > MAX_SPARSE * (double)c->table->rows) {
        c->y = (levels){0};
    }
    return true;
}

static void choose_words(chart *c) {
    for (int k = 0; k < c->table->columns && !c->words; k++) {
        const sweep_column *column = &c->table->column[k];
        c->words = column->group == SWEEP_INPUT && column->word && varies(c, column) ? column : NULL;
    }
    c->word_count = !c->words;
    for (int64_t run = 0; run < c->table->rows && c->words; run++) {
        int k = 0;
        while (k < c->word_count && strcmp(c->word[k], c->words->word[run]) != 0) {
            k++;
        }
        if (k == MAX_WORDS) { /* too many to tell apart */
            c->words = NULL;
            c->word_count = 1;
        } else if (k == c->word_count) {
            c->word[c->word_count++] = c->words->word[run];
        }
    }
}

static bool counts(const chart *c, int64_t run, int word, double value) {
    return isfinite(value) && (!c->ending || strcmp(c->ending->word[run], "finished") == 0) &&
           (!c->words || strcmp(c->words->word[run], c->word[word]) == 0);
}

static plot_axis axis_of(const levels *l) { return (plot_axis){.name = l->column->name, .unit = "", .log = l->log}; }

/* ---- lines ---- */

typedef struct line {
    double *x, *mean, *least, *most;
    int *count;
} line;

/* Least, greatest and mean of the runs at each level of x. */
static bool fill_line(const chart *c, const double *number, int word, line *l, int *shared) {
    int n = c->x.count;
    *l = (line){POOL_NEW(c->pool, double, n), POOL_NEW(c->pool, double, n), POOL_NEW(c->pool, double, n),
                POOL_NEW(c->pool, double, n), POOL_NEW(c->pool, int, n)};
    if (!l->x || !l->mean || !l->least || !l->most || !l->count) {
        return report_no_memory(c);
    }
    for (int64_t run = 0; run < c->table->rows; run++) {
        int at = c->x.of[run];
        double value = number[run];
        if (counts(c, run, word, value)) {
            l->least[at] = l->count[at] ? fmin(l->least[at], value) : value;
            l->most[at] = l->count[at] ? fmax(l->most[at], value) : value;
            l->mean[at] += value;
            l->count[at]++;
            *shared = l->count[at] > *shared ? l->count[at] : *shared;
        }
    }
    for (int k = 0; k < n; k++) {
        l->x[k] = c->x.value[k];
        l->mean[k] = l->count[k] ? l->mean[k] / l->count[k] : NAN;
        l->least[k] = l->count[k] ? l->least[k] : NAN;
        l->most[k] = l->count[k] ? l->most[k] : NAN;
    }
    return true;
}

static bool add_lines(chart *c, const sweep_column *quantity) {
    plot_panel *panel = &c->panel[c->panels++];
    plot_curve *curve = POOL_NEW(c->pool, plot_curve, c->word_count);
    if (!curve) {
        return report_no_memory(c);
    }
    /* one number a level where others change, too: a scatter */
    bool scattered = free_input(c, c->x.column) && c->x.count == c->table->rows;
    for (int k = 0; k < c->word_count; k++) {
        line l;
        int shared = 0;
        if (!fill_line(c, quantity->number, k, &l, &shared)) {
            return false;
        }
        plot_look look = {.colour = k % PLOT_COLOURS, .style = scattered ? PLOT_POINTS : PLOT_AUTO};
        curve[k] = (plot_curve){c->x.count, l.x, l.mean, shared > 1 ? l.least : NULL, shared > 1 ? l.most : NULL, look};
        c->key[k] = (plot_key){c->words ? c->word[k] : "", look};
    }
    *panel = (plot_panel){.x = axis_of(&c->x),
                          .y = {.name = quantity->name, .unit = "", .log = c->wish->log},
                          .curves = c->word_count,
                          .curve = curve};
    return true;
}

/* ---- maps ---- */

/* Half-way between neighbours; the outer ones as far out as in. */
static double *find_edges(const chart *c, const levels *l) {
    double *edge = POOL_NEW(c->pool, double, l->count + 1), *at = POOL_NEW(c->pool, double, l->count);
    for (int k = 0; k < l->count && edge && at; k++) {
        at[k] = l->log ? log(l->value[k]) : l->value[k];
    }
    for (int k = 0; k <= l->count && edge && at; k++) {
        int last = l->count - 1;
        double lone = l->count > 1 ? 0 : 0.5, first_half = l->count > 1 ? (at[1] - at[0]) / 2 : lone,
               last_half = l->count > 1 ? (at[last] - at[last - 1]) / 2 : lone;
        double place = k == 0 ? at[0] - first_half : k > last ? at[last] + last_half : (at[k - 1] + at[k]) / 2;
        edge[k] = l->log ? exp(place) : place;
    }
    return at ? edge : NULL;
}

/* Means of the runs in each cell. */
static bool fill_map(const chart *c, const double *number, int word, plot_map *map) {
    size_t cells = (size_t)c->x.count * (size_t)c->y.count;
    double *value = POOL_NEW(c->pool, double, cells);
    int *count = POOL_NEW(c->pool, int, cells);
    *map = (plot_map){.columns = c->x.count, .rows = c->y.count, .least = INFINITY, .most = -INFINITY, .value = value};
    map->x_edge = find_edges(c, &c->x);
    map->y_edge = find_edges(c, &c->y);
    if (!value || !count || !map->x_edge || !map->y_edge) {
        return report_no_memory(c);
    }
    for (int64_t run = 0; run < c->table->rows; run++) {
        if (counts(c, run, word, number[run])) {
            size_t at = (size_t)c->y.of[run] * (size_t)c->x.count + (size_t)c->x.of[run];
            value[at] += number[run];
            count[at]++;
        }
    }
    for (size_t k = 0; k < cells; k++) {
        value[k] = count[k] ? value[k] / count[k] : NAN;
        map->least = fmin(map->least, value[k]);
        map->most = fmax(map->most, value[k]);
    }
    if (map->least > map->most) {
        map->least = map->most = 0;
    }
    return true;
}

static plot_axis map_axis(const levels *l, const double *edge) {
    plot_axis axis = axis_of(l);
    axis.exact = axis.has_from = axis.has_to = true;
    axis.from = edge[0];
    axis.to = edge[l->count];
    return axis;
}

static bool add_maps(chart *c, const sweep_column *quantity) {
    for (int k = 0; k < c->word_count && c->panels < MAX_PANELS; k++) {
        plot_map *map = POOL_NEW(c->pool, plot_map, 1);
        char title[200];
        if (!map || !fill_map(c, quantity->number, k, map)) {
            return map ? false : report_no_memory(c);
        }
        snprintf(title, sizeof title, "%.120s%s%.60s", quantity->name, c->words ? ", " : "",
                 c->words ? c->word[k] : "");
        plot_panel *panel = &c->panel[c->panels++];
        *panel = (plot_panel){.title = pool_text(c->pool, title),
                              .x = map_axis(&c->x, map->x_edge),
                              .y = map_axis(&c->y, map->y_edge),
                              .map = map};
        if (!panel->title) {
            return report_no_memory(c);
        }
    }
    return true;
}

/* ---- quantities ---- */

static bool add_quantity(chart *c, const sweep_column *quantity) {
    if (c->panels == MAX_PANELS) {
        sim_fail(c->error, SIM_BAD_INPUT, "more than %d panels: choose with --quantity", MAX_PANELS);
        return false;
    }
    return c->y.column ? add_maps(c, quantity) : add_lines(c, quantity);
}

/* Columns of numbers that fit one of the words, which commas separate. */
static bool add_named(chart *c, const char *words) {
    for (const char *from = words; *from;) {
        char word[128];
        size_t length = strcspn(from, ",");
        int found = 0;
        int64_t steps = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, from);
        for (int k = 0; k < c->table->columns; k++) {
            const sweep_column *column = &c->table->column[k];
            if (column->number && name_matches(column->name, word, &steps)) {
                found++;
                if (!add_quantity(c, column)) {
                    return false;
                }
            }
        }
        if (!found) {
            return named_input(c, word, "quantity") != NULL;
        }
        from += length + (from[length] == ',');
    }
    return true;
}

static bool add_quantities(chart *c) {
    if (c->wish->quantities) {
        return add_named(c, c->wish->quantities);
    }
    bool any = false;
    for (int k = 0; k < c->table->columns; k++) {
        if (c->table->column[k].group == SWEEP_SIGNAL && c->table->column[k].number) {
            any = true;
            if (!add_quantity(c, &c->table->column[k])) {
                return false;
            }
        }
    }
    return any || add_named(c, "E_worst");
}

/* Inputs that change but have no axis. */
static void note_means(const chart *c, char note[256]) {
    note[0] = 0;
    for (int k = 0; k < c->table->columns; k++) {
        const sweep_column *column = &c->table->column[k];
        bool shown = column == c->x.column || column == c->y.column || column == c->words;
        if (column->group == SWEEP_INPUT && !shown && varies(c, column)) {
            size_t used = strlen(note);
            snprintf(note + used, 256 - used, "%s%.60s", used ? ", " : "means over ", column->name);
        }
    }
}

static char *draw_chart(chart *c, char note[256]) {
    /* columns to panels */
    int ending = sweep_table_find(c->table, "ending");
    c->ending = ending >= 0 && c->table->column[ending].word ? &c->table->column[ending] : NULL;
    choose_words(c);
    if (!choose_axes(c) || !add_quantities(c)) {
        return NULL;
    }
    note_means(c, note);
    /* page: maps are as high as the paper allows, lines one below the other */
    bool maps = c->y.column != NULL;
    plot_page page = {.title = c->wish->title ? c->wish->title : c->table->title,
                      .shared_x = !maps,
                      .width = c->wish->width,
                      .height = c->wish->height,
                      .columns = maps && c->panels > 1 ? 2 : 1,
                      .panels = c->panels,
                      .panel = c->panel,
                      .keys = c->words && !maps ? c->word_count : 0,
                      .key = c->key};
    if (maps && !page.height && c->panels == 1) {
        page.height = (int)(0.72 * page.width);
    }
    return plot_svg(&page, c->error);
}

char *plot_sweep(const char *path, const plot_wish *wish, char note[256], sim_error *error) {
    sweep_table *table = sweep_table_read(path, error);
    chart *c = table ? POOL_NEW(table->pool, chart, 1) : NULL;
    char *picture = NULL;
    note[0] = 0;
    if (c) {
        *c = (chart){.pool = table->pool, .wish = wish, .table = table, .error = error};
        picture = draw_chart(c, note);
    } else if (table) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
    }
    sweep_table_free(table);
    return picture;
}
