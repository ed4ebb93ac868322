/* Panels and curves of files.  A panel for each word and unit; in it a curve for each run and column.  Runs differ by
 * colour and columns by dashes; of a single run the columns differ by colour. */
#include "view/plot/files.h"
#include "base/nearest.h"
#include "view/plot/plot.h"
#include "view/plot/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COLUMNS = 12,                /* in a panel of one run */
    MAX_COLUMNS_OF_SEVERAL_RUNS = 4, /* where dashes tell them apart */
    MAX_RUNS = 24,
    MAX_PANELS = 24,
};

/* A run is a file, or the part of a history for one problem. */
typedef struct run {
    trajectory *file;
    int label; /* of the problem; -1: all records */
    const char *name;
    ptrdiff_t count;
    const double *x;
    int x_column;
} run;

typedef struct drawing {
    memory_pool *pool;
    const plot_wish *wish;
    int runs, panels;
    run run[MAX_RUNS];
    plot_panel panel[MAX_PANELS];
    plot_key key[MAX_RUNS];
    char *note;
    sim_error *error;
    sim_status status;
} drawing;

static bool report_no_memory(drawing *d) {
    d->status = sim_fail(d->error, SIM_NO_RESOURCE, "no memory for the picture");
    return false;
}

static bool refuse_plot(drawing *d, const char *what) {
    d->status = sim_fail(d->error, SIM_BAD_INPUT, "%s", what);
    return false;
}

/* ---- runs ---- */

/* The name of a file without its folders, as many of which as it takes to tell it from the others. */
static const char *brief_name(drawing *d, trajectory *const *file, int files, int k) {
    const char *path = file[k]->path, *name = path + strlen(path);
    int alike = 1;
    while (alike && name > path) {
        for (name--; name > path && name[-1] != '/'; name--) {
        }
        alike = 0;
        for (int other = 0; other < files; other++) {
            size_t length = strlen(file[other]->path), mine = strlen(name);
            alike += other != k && length >= mine && strcmp(file[other]->path + length - mine, name) == 0 &&
                     strcmp(file[other]->path, path) != 0;
        }
    }
    char *text = pool_text(d->pool, name), *dot = text ? strrchr(text, '.') : NULL;
    if (dot && dot > text && dot[-1] != '/' && !strchr(dot, '/')) {
        *dot = 0;
    }
    return text;
}

static const char *problem_name(drawing *d, const char *path, const char *history) {
    char text[600];
    const char *slash = strrchr(path, '/');
    snprintf(text, sizeof text, "%s%s%s", history ? history : "", history ? " \u00b7 " : "", slash ? slash + 1 : path);
    char *name = pool_text(d->pool, text), *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot > name) {
        *dot = 0;
    }
    return name;
}

static bool add_run(drawing *d, trajectory *file, int label, const char *name) {
    if (!name) {
        return report_no_memory(d);
    }
    if (d->runs == MAX_RUNS) {
        snprintf(d->note, 256, "only the first %d runs are drawn", MAX_RUNS);
        return true;
    }
    d->run[d->runs] = (run){.file = file, .label = label, .name = name, .count = file->records};
    if (label >= 0) {
        d->run[d->runs].count = 0;
        for (ptrdiff_t r = 0; r < file->records; r++) {
            d->run[d->runs].count += file->label_of[r] == label;
        }
    }
    d->runs++;
    return true;
}

static bool list_runs(drawing *d, trajectory *const *file, int files) {
    bool good = true;
    for (int k = 0; k < files && good; k++) {
        const char *name = brief_name(d, file, files, k);
        if (file[k]->labels <= 1) {
            good = add_run(d, file[k], -1, name);
        }
        for (int label = 0; label < file[k]->labels && file[k]->labels > 1 && good; label++) {
            good = add_run(d, file[k], label, problem_name(d, file[k]->label[label], files > 1 ? name : NULL));
        }
    }
    for (int k = 0; k < d->runs; k++) {
        d->key[k] = (plot_key){d->run[k].name, {.colour = k % PLOT_COLOURS}};
    }
    return good;
}

/* ---- numbers ---- */

static double *read_plot_column(drawing *d, const run *r, int column) {
    double *all = pool_alloc(d->pool, (size_t)r->file->records, sizeof *all);
    if (!all) {
        report_no_memory(d);
        return NULL;
    }
    d->status = trajectory_values(r->file, column, all, d->error);
    for (ptrdiff_t k = 0, kept = 0; !d->status && r->label >= 0 && k < r->file->records; k++) {
        if (r->file->label_of[k] == r->label) {
            all[kept++] = all[k];
        }
    }
    return d->status ? NULL : all;
}

static void make_quantity(plot_made made, double *y, ptrdiff_t count) {
    double zero = count ? y[0] : 0;
    for (ptrdiff_t k = 0; made == PLOT_FROM_LEAST && k < count; k++) {
        zero = fmin(zero, y[k]);
    }
    for (ptrdiff_t k = 0; made != PLOT_AS_IT_IS && k < count; k++) {
        y[k] = made == PLOT_FROM_LEAST && y[k] == zero ? NAN : y[k] - zero;
    }
}

static bool all_whole(const double *y, ptrdiff_t count) {
    for (ptrdiff_t k = 0; k < count; k++) {
        if (isfinite(y[k]) && y[k] != floor(y[k])) {
            return false;
        }
    }
    return true;
}

/* ---- quantities ---- */

static bool no_such_column(drawing *d, const char *word) {
    nearest near = {.wanted = word};
    char hint[200];
    for (int k = 0; plot_quantity_at(k); k++) {
        nearest_try(&near, plot_quantity_at(k)->word);
    }
    for (int r = 0; r < d->runs; r++) {
        for (int k = 0; k < d->run[r].file->columns; k++) {
            nearest_try(&near, d->run[r].file->column[k].name);
        }
    }
    const char *path = d->run[0].file->path, *meant = nearest_hint(&near, hint, sizeof hint);
    d->status = sim_fail(d->error, SIM_BAD_INPUT, "%s holds no '%.80s'%s%s%s; --list shows its columns", path, word,
                         meant ? " (" : "", meant ? meant : "", meant ? ")" : "");
    return false;
}

static bool find_x(drawing *d) {
    /* axis of each run: as asked, time, or iteration */
    for (int k = 0; k < d->runs; k++) {
        run *r = &d->run[k];
        const char *name = d->wish->x ? d->wish->x : trajectory_find(r->file, "time", 0) >= 0 ? "time" : "iteration";
        r->x_column = trajectory_find(r->file, name, 0);
        if (r->x_column < 0 && d->wish->x) {
            return no_such_column(d, name);
        }
        if (r->x_column < 0) {
            d->status =
                sim_fail(d->error, SIM_BAD_INPUT,
                         "%s: has no column 'time' or 'iteration'; choose the axis with --x NAME", r->file->path);
            return false;
        }
        r->x = read_plot_column(d, r, r->x_column);
        if (!r->x) {
            return false;
        }
    }
    return true;
}

/* Columns of one panel, each by its first appearance in a run. */
typedef struct column_list {
    int count, beyond; /* beyond: not taken, for want of room */
    const trajectory_column *column[MAX_COLUMNS];
} column_list;

static bool is_same_column(const trajectory_column *a, const trajectory_column *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0;
}

static bool is_listed(const column_list *list, const trajectory_column *c) {
    for (int k = 0; k < list->count; k++) {
        if (is_same_column(list->column[k], c)) {
            return true;
        }
    }
    return false;
}

static void find_columns(const drawing *d, const plot_quantity *q, const char *unit, column_list *list) {
    int most = d->runs > 1 ? MAX_COLUMNS_OF_SEVERAL_RUNS : MAX_COLUMNS;
    for (int r = 0; r < d->runs; r++) {
        const trajectory *file = d->run[r].file;
        for (int k = file->labels > 0; k < file->columns; k++) { /* labels are no numbers */
            const trajectory_column *c = &file->column[k];
            if (plot_quantity_has(q, c) && strcmp(c->unit, unit) == 0 && !is_listed(list, c)) {
                if (list->count < most) {
                    list->column[list->count++] = c;
                } else {
                    list->beyond++;
                }
            }
        }
    }
}

/* ---- panels ---- */

static int column_in(const trajectory *file, const trajectory_column *c) {
    for (int k = 0; k < file->columns; k++) {
        if (is_same_column(&file->column[k], c)) {
            return k;
        }
    }
    return -1;
}

static bool fill_curves(drawing *d, const plot_quantity *q, const column_list *list, plot_panel *panel) {
    /* a curve for each run and column */
    plot_curve *curve = POOL_NEW(d->pool, plot_curve, d->runs * list->count);
    if (!curve) {
        return report_no_memory(d);
    }
    panel->y.whole = 1;
    for (int r = 0; r < d->runs; r++) {
        for (int c = 0; c < list->count; c++) {
            int column = column_in(d->run[r].file, list->column[c]);
            double *y = column < 0 ? NULL : read_plot_column(d, &d->run[r], column);
            if (!y && column >= 0) {
                return false;
            }
            if (column < 0) {
                continue;
            }
            /* derived quantity */
            make_quantity(q->made, y, d->run[r].count);
            panel->y.whole &= all_whole(y, d->run[r].count);
            int of_runs = d->runs > 1;
            /* colours tell runs apart, and columns where there is one run */
            curve[panel->curves++] =
                (plot_curve){.count = d->run[r].count,
                             .x = d->run[r].x,
                             .y = y,
                             .look = {(of_runs ? r : c) % PLOT_COLOURS, of_runs ? c : c / PLOT_COLOURS, PLOT_AUTO}};
        }
    }
    panel->curve = curve;
    return true;
}

/* "energy." of the pattern "energy.*": the name of the panel says it.  Names of sensors and bodies stay. */
static size_t common_beginning(const char *pattern) {
    const char *star = pattern && !strchr(pattern, ' ') ? strchr(pattern, '*') : NULL;
    return star ? (size_t)(star - pattern) : 0;
}

/* `pattern`: of a quantity of the table, NULL: of a column by its name. */
static bool fill_keys(drawing *d, const column_list *list, const char *pattern, plot_panel *panel) {
    plot_key *key = POOL_NEW(d->pool, plot_key, list->count);
    if (!key) {
        return report_no_memory(d);
    }
    size_t skipped = common_beginning(pattern);
    for (int c = 0; c < list->count; c++) {
        const char *name = list->column[c]->name + skipped;
        plot_look of_column = {PLOT_NEUTRAL, c, PLOT_AUTO}, of_run = {c % PLOT_COLOURS, c / PLOT_COLOURS, PLOT_AUTO};
        key[c] = (plot_key){name, d->runs > 1 ? of_column : of_run};
    }
    panel->key = key;
    panel->keys = list->count > 1 || (pattern && strchr(pattern, '*')) ? list->count : 0;
    return true;
}

static bool add_panel(drawing *d, const plot_quantity *q, const char *unit) {
    column_list list = {0};
    find_columns(d, q, unit, &list);
    if (d->panels == MAX_PANELS) {
        return refuse_plot(d, "too many panels for a page: choose fewer quantities");
    }
    if (list.beyond) {
        snprintf(d->note, 256, "%.80s: %d of %d curves are drawn; select some by name", q->word, list.count,
                 list.count + list.beyond);
    }
    plot_panel *panel = &d->panel[d->panels++];
    int named = q->of || q->columns; /* by the table */
    panel->y.name = pool_text(d->pool, named || list.count > 1 ? q->title : list.column[0]->name);
    panel->y.unit = unit;
    panel->y.log = (q->log || d->wish->log) && !d->wish->linear;
    if (!panel->y.name) {
        return report_no_memory(d);
    }
    return fill_curves(d, q, &list, panel) && fill_keys(d, &list, q->columns, panel);
}

/* A panel for each unit among the columns that the word asks for; returns how many it found. */
static int add_word(drawing *d, const char *word) {
    plot_quantity room;
    const plot_quantity *q = plot_quantity_of(word, &room);
    const char *unit[MAX_PANELS];
    int units = 0;
    for (int r = 0; r < d->runs; r++) {
        const trajectory *file = d->run[r].file;
        for (int k = file->labels > 0; k < file->columns; k++) {
            int known = !plot_quantity_has(q, &file->column[k]);
            for (int u = 0; u < units && !known; u++) {
                known = strcmp(unit[u], file->column[k].unit) == 0;
            }
            if (!known && units < MAX_PANELS) {
                unit[units++] = file->column[k].unit;
            }
        }
    }
    for (int u = 0; u < units && !d->status; u++) {
        add_panel(d, q, unit[u]);
    }
    return units;
}

static void add_usual(drawing *d) {
    static const char *const usual[] = {"energy", "contacts", "iterations", "own"};
    static const char *const otherwise[] = {"points", "coordinates", "positions", "velocities", "*"};
    if (d->run[0].file->labels) {
        add_word(d, "residual");
        return;
    }
    int found = 0;
    for (size_t k = 0; k < sizeof usual / sizeof usual[0] && !d->status; k++) {
        found += add_word(d, usual[k]);
    }
    for (size_t k = 0; k < sizeof otherwise / sizeof otherwise[0] && !found && !d->status; k++) {
        found += add_word(d, otherwise[k]);
    }
}

static void add_words(drawing *d, const char *words) {
    for (const char *w = words; !d->status;) {
        size_t length = strcspn(w, ",");
        char *word = pool_alloc(d->pool, length + 1, 1);
        if (!word) {
            report_no_memory(d);
            return;
        }
        memcpy(word, w, length);
        if (length == 0) {
            refuse_plot(d, "--quantity takes names separated by commas, as in --quantity energy,contacts");
        } else if (add_word(d, word) == 0 && !d->status) {
            no_such_column(d, word);
        }
        if (!w[length]) {
            return;
        }
        w += length + 1;
    }
}

/* Has any run a record within --from and --to? */
static bool check_window(drawing *d) {
    const plot_wish *w = d->wish;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < d->runs; k++) {
        const run *r = &d->run[k];
        for (ptrdiff_t i = 0; i < r->count; i++) {
            if (!(r->x[i] < w->from) && !(r->x[i] > w->to)) {
                return true;
            }
            least = fmin(least, r->x[i]);
            most = fmax(most, r->x[i]);
        }
    }
    if (least <= most) {
        d->status =
            sim_fail(d->error, SIM_BAD_INPUT, "no record lies within --from and --to: there are %g to %g", least, most);
    }
    return !d->status;
}

/* ---- the page ---- */

/* The scene of all runs; "" if they are of several, or do not say. */
static const char *scene_of(const drawing *d) {
    const char *scene = trajectory_text(d->run[0].file, "scene_name");
    for (int k = 1; k < d->runs && scene; k++) {
        const char *other = trajectory_text(d->run[k].file, "scene_name");
        scene = other && strcmp(other, scene) == 0 ? scene : NULL;
    }
    return scene ? scene : "";
}

static char *draw_plot(drawing *d) {
    /* axis that all panels share */
    const trajectory_column *x = &d->run[0].file->column[d->run[0].x_column];
    for (int p = 0; p < d->panels; p++) {
        d->panel[p].x = (plot_axis){.name = x->name,
                                    .unit = x->unit,
                                    .log = d->wish->log_x,
                                    .whole = strcmp(x->name, "iteration") == 0,
                                    .padded = d->wish->x != NULL,
                                    .has_from = !isnan(d->wish->from),
                                    .has_to = !isnan(d->wish->to),
                                    .from = d->wish->from,
                                    .to = d->wish->to};
    }
    /* page */
    plot_page page = {.title = d->wish->title ? d->wish->title : scene_of(d),
                      .shared_x = true,
                      .width = d->wish->width,
                      .height = d->wish->height,
                      .panels = d->panels,
                      .panel = d->panel,
                      .keys = d->runs > 1 ? d->runs : 0,
                      .key = d->key};
    return plot_svg(&page, d->error);
}

char *plot_files(trajectory *const *file, int files, const plot_wish *wish, char note[256], sim_error *error) {
    /* memory */
    memory_pool *pool = pool_create();
    drawing *d = pool ? POOL_NEW(pool, drawing, 1) : NULL;
    char *text = NULL;
    *note = 0;
    if (!d) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
        pool_free(pool);
        return NULL;
    }
    d->pool = pool;
    d->wish = wish;
    d->note = note;
    d->error = error;
    /* runs, quantities, picture */
    if (list_runs(d, file, files) && find_x(d) && check_window(d)) {
        if (wish->quantities) {
            add_words(d, wish->quantities);
        } else {
            add_usual(d);
        }
        text = d->status ? NULL : draw_plot(d);
    }
    pool_free(pool);
    return text;
}
