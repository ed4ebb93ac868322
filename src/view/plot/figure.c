/* Figures: plots described by a JSON file.  JSON -> tree -> structs by tables of keys, as scenes are read -> page.
 *
 * Series of one label have one colour.  Labels of all panels stand in one legend, others in those of their panels. */
#include "view/plot/figure.h"
#include "base/file.h"
#include "scene/format/read.h"
#include "scene/format/tables/table_words.h"
#include "view/plot/plot.h"
#include "view/plot/scale.h"

#include <stdlib.h>
#include <string.h>

typedef struct axis_data {
    const node *at;
    const char *label, *unit;
    bool log;
    number_list from, to;
} axis_data;

typedef struct series_data {
    const node *at;
    const char *label;
    number_list x, y, low, high;
    int style, dash;
    int64_t color;
} series_data;

typedef struct panel_data {
    const node *at;
    const char *title;
    axis_data x, y;
    bool equal;
    const node *series;
} panel_data;

typedef struct figure_data {
    const node *at;
    int64_t version;
    const char *title;
    int64_t width, height, columns;
    const node *panels;
} figure_data;

static const char *style_name(int i) {
    static const char *const name[PLOT_STYLES] = {"auto", "line", "points", "both", "segments"};
    return i < PLOT_STYLES ? name[i] : NULL;
}

static const char *dash_name(int i) {
    static const char *const name[PLOT_DASHES] = {"solid", "dash", "dot", "dashdot"};
    return i < PLOT_DASHES ? name[i] : NULL;
}

enum { MIN_PIXELS = 200, MAX_PIXELS = 10000, MAX_COLUMNS = 8 };

static const field axis_fields[] = {
    {"label", FIELD_TEXT, AT(axis_data, label), .standard = "\"\""},
    {"unit", FIELD_TEXT, AT(axis_data, unit), .standard = "\"\""},
    {"log", FIELD_FLAG, AT(axis_data, log)},
    {"from", FIELD_NUMBERS, AT(axis_data, from), 1, WITHIN(-1e300, 1e300)},
    {"to", FIELD_NUMBERS, AT(axis_data, to), 1, WITHIN(-1e300, 1e300)},
};
static const table axis_table = {"axis", "", sizeof(axis_data), axis_fields, .count = COUNT(axis_fields)};

static const field series_fields[] = {
    {"label", FIELD_TEXT, AT(series_data, label), .standard = "\"\""},
    {"x", FIELD_NUMBERS, AT(series_data, x), .required = true},
    {"y", FIELD_NUMBERS, AT(series_data, y), .required = true},
    {"low", FIELD_NUMBERS, AT(series_data, low)},
    {"high", FIELD_NUMBERS, AT(series_data, high)},
    {"style", FIELD_ENUM, AT(series_data, style), .name_of = style_name, .standard = "\"auto\""},
    {"dash", FIELD_ENUM, AT(series_data, dash), .name_of = dash_name, .standard = "\"solid\""},
    {"color", FIELD_INTEGER, AT(series_data, color), WITHIN(0, PLOT_COLOURS), .standard = "-1"},
};
static const table series_table = {"series", "", sizeof(series_data), series_fields, .count = COUNT(series_fields)};

static const field panel_fields[] = {
    {"title", FIELD_TEXT, AT(panel_data, title)},
    {"x", FIELD_OBJECT, AT(panel_data, x), .table = &axis_table},
    {"y", FIELD_OBJECT, AT(panel_data, y), .table = &axis_table},
    {"equal", FIELD_FLAG, AT(panel_data, equal)},
    {"series", FIELD_OBJECTS, AT(panel_data, series), .required = true, .table = &series_table},
};
static const table panel_table = {"panel", "", sizeof(panel_data), panel_fields, .count = COUNT(panel_fields)};

static const field figure_fields[] = {
    {"figure", FIELD_INTEGER, AT(figure_data, version), WITHIN(1, 1), .required = true},
    {"title", FIELD_TEXT, AT(figure_data, title), .standard = "\"\""},
    {"width", FIELD_INTEGER, AT(figure_data, width), WITHIN(MIN_PIXELS, MAX_PIXELS), .standard = "800"},
    {"height", FIELD_INTEGER, AT(figure_data, height), WITHIN(MIN_PIXELS, MAX_PIXELS)},
    {"columns", FIELD_INTEGER, AT(figure_data, columns), WITHIN(1, MAX_COLUMNS), .standard = "1"},
    {"panels", FIELD_OBJECTS, AT(figure_data, panels), .required = true, .table = &panel_table},
};
static const table figure_table = {"figure", "", sizeof(figure_data), figure_fields, .count = COUNT(figure_fields)};

/* A word of the legends. */
typedef struct label {
    plot_key key;
    int panels, last_panel; /* how many panels have it; the last of them */
} label;

typedef struct figure {
    reader reader;
    memory_pool *pool;
    figure_data data;
    plot_page page;
    plot_panel *panel;
    label *label; /* in order of appearance */
    int labels, colours;
} figure;

/* ---- axes and series ---- */

static void check_lengths(figure *f, const series_data *s) {
    const number_list *list[] = {&s->y, &s->low, &s->high};
    static const char *const key[] = {"y", "low", "high"};
    for (int k = 0; k < 3; k++) {
        if (list[k]->count && list[k]->count != s->x.count) {
            report_value(f->reader.report, node_member(s->at, key[k]), NULL, "%d numbers, but x has %d", list[k]->count,
                         s->x.count);
        }
    }
    if (!s->low.count != !s->high.count) {
        report_value(f->reader.report, s->at, NULL, "\"low\" and \"high\" make a band together: one is missing");
    }
}

static plot_axis axis_of(figure *f, const axis_data *a) {
    plot_axis axis = {.name = a->label,
                      .unit = a->unit,
                      .log = a->log,
                      .has_from = a->from.count > 0,
                      .has_to = a->to.count > 0,
                      .exact = true};
    axis.from = axis.has_from ? a->from.value[0] : 0;
    axis.to = axis.has_to ? a->to.value[0] : 0;
    const double least = 1e-290; /* a tenth of it is a normal number */
    bool positive = !(axis.has_from && axis.from < least) && !(axis.has_to && axis.to < least);
    if (axis.log && !positive) {
        report_value(f->reader.report, a->at, NULL, "a logarithmic axis goes from and to positive numbers");
    } else if (axis.has_from && axis.has_to && (axis.from >= axis.to || plot_scale_narrow(axis.from, axis.to))) {
        report_value(f->reader.report, a->at, NULL, "\"from\" should be less than \"to\"");
    }
    return axis;
}

static label *find_label(const figure *f, const char *text) {
    for (int k = 0; k < f->labels; k++) {
        if (strcmp(f->label[k].key.label, text) == 0) {
            return &f->label[k];
        }
    }
    return NULL;
}

/* The colour that is given, else that of the label, else the next. */
static plot_look look_of(figure *f, const series_data *s, const label *known) {
    plot_look look = {.dash = s->dash, .style = (plot_style)s->style};
    if (s->color >= 0) {
        look.colour = s->color ? (int)s->color - 1 : PLOT_NEUTRAL;
    } else {
        look.colour = known ? known->key.look.colour : f->colours++ % PLOT_COLOURS;
    }
    return look;
}

static plot_curve build_curve(figure *f, const node *at, plot_panel *panel, plot_key *keys) {
    series_data s;
    int number = (int)(panel - f->panel);
    read_object(&f->reader, at, &series_table, &s);
    check_lengths(f, &s);
    label *known = find_label(f, s.label);
    plot_look look = look_of(f, &s, known);
    if (!known && *s.label) {
        known = &f->label[f->labels++];
        *known = (label){{s.label, look}, 0, -1};
    }
    if (known && known->last_panel != number) {
        known->panels++;
        known->last_panel = number;
        keys[panel->keys++] = known->key;
    }
    return (plot_curve){s.x.count, s.x.value, s.y.value, s.low.value, s.high.value, look};
}

/* ---- panels ---- */

static bool build_panel(figure *f, const node *at, plot_panel *panel) {
    panel_data data;
    read_object(&f->reader, at, &panel_table, &data);
    plot_curve *curve = POOL_NEW(f->pool, plot_curve, data.series->count + 1);
    plot_key *keys = POOL_NEW(f->pool, plot_key, data.series->count + 1);
    *panel = (plot_panel){.title = data.title, .equal = data.equal, .curve = curve, .key = keys};
    panel->x = axis_of(f, &data.x);
    panel->y = axis_of(f, &data.y);
    panel->x.padded = data.equal;
    for (const node *item = data.series->first; item && curve && keys; item = item->next) {
        curve[panel->curves++] = build_curve(f, item, panel, keys);
    }
    return curve && keys;
}

static bool is_of_all_panels(const figure *f, const char *text) {
    return f->page.panels > 1 && find_label(f, text)->panels == f->page.panels;
}

/* Labels of every panel go into the legend of the page, the others into those of their panels. */
static bool share_legend(figure *f) {
    plot_key *shared = POOL_NEW(f->pool, plot_key, f->labels + 1);
    for (int k = 0; k < f->labels && shared; k++) {
        if (is_of_all_panels(f, f->label[k].key.label)) {
            shared[f->page.keys++] = f->label[k].key;
        }
    }
    for (int p = 0; p < f->page.panels && shared; p++) {
        plot_key *key = (plot_key *)f->panel[p].key;
        int all = f->panel[p].keys;
        f->panel[p].keys = 0;
        for (int k = 0; k < all; k++) {
            if (!is_of_all_panels(f, key[k].label)) {
                key[f->panel[p].keys++] = key[k];
            }
        }
    }
    f->page.key = shared;
    return shared != NULL;
}

static bool build_page(figure *f) {
    /* memory */
    const node *panels = f->data.panels;
    int series = 0;
    for (const node *panel = panels->first; panel; panel = panel->next) {
        series += node_member(panel, "series")->count;
    }
    f->panel = POOL_NEW(f->pool, plot_panel, panels->count + 1);
    f->label = POOL_NEW(f->pool, label, series + 1);
    bool good = f->panel && f->label;
    /* page */
    f->page = (plot_page){.title = f->data.title,
                          .width = (int)f->data.width,
                          .height = (int)f->data.height,
                          .columns = (int)f->data.columns,
                          .panels = panels->count,
                          .panel = f->panel};
    /* panels */
    plot_panel *panel = f->panel;
    for (const node *at = panels->first; at && good; at = at->next) {
        good = build_panel(f, at, panel++);
    }
    return good && share_legend(f);
}

/* ---- the file ---- */

static char *draw_figure(const source *from, memory_pool *pool, report *r, sim_error *error) {
    figure f = {.reader = {.report = r, .pool = pool}, .pool = pool};
    const node *root = document_parse(from, pool, r), *scene = node_member(root, "sim");
    if (!root) {
        return NULL;
    }
    if (scene) {
        report_key(r, scene, "sim SCENE.json --out FILE.h5 records a run of it", "a scene, not a figure");
    } else if (check_object(&f.reader, root, &figure_table)) {
        read_object(&f.reader, root, &figure_table, &f.data);
        if (f.data.panels->count == 0) {
            report_value(r, f.data.panels, NULL, "a figure has a panel at least");
        } else {
            r->no_memory |= !build_page(&f);
        }
    }
    return r->found->count || r->no_memory ? NULL : plot_svg(&f.page, error);
}

char *plot_figure(const char *path, sim_error *error) {
    /* text of the file */
    char *text = NULL, *picture = NULL;
    source from = {.name = path};
    sim_error why = {0};
    sim_status status = file_read(path, DOCUMENT_MAX_BYTES, &text, &from.length, &why);
    if (status) {
        sim_fail(error, status, "%.200s: %s", path, why.text);
        return NULL;
    }
    from.text = text;
    /* parse and draw */
    memory_pool *pool = pool_create();
    sim_diagnostics found = {.memory = pool};
    report r = {.found = &found, .pool = pool, .no_memory = !pool};
    if (pool) {
        picture = draw_figure(&from, pool, &r, error);
    }
    /* the first error of the file */
    if (found.count && !r.no_memory) {
        report_sort(&r);
        const sim_diagnostic *d = &found.item[0];
        bool inside = d->pointer && *d->pointer, hint = d->hint != NULL;
        sim_fail(error, SIM_BAD_INPUT, "%s:%d:%d: %s%s%s%s%s%s", d->file, d->line, d->column, inside ? d->pointer : "",
                 inside ? ": " : "", d->message, hint ? " (" : "", hint ? d->hint : "", hint ? ")" : "");
    } else if (r.no_memory) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the figure");
    }
    sim_diagnostics_free(&found);
    free(text);
    return picture;
}
