/* Layout of a page of plots.  From above: the title, the legend that all panels share, rows of panels.  Each panel is
 * headed by its title, the name and unit of y, and its legend, which so never cover a curve.
 * data -> scales -> axes -> marks. */
#include "view/plot/plot.h"
#include "view/plot/map.h"
#include "view/plot/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 14,
    TITLE_HEIGHT = 26,
    PANEL_TITLE_HEIGHT = 18,
    KEY_HEIGHT = 18,
    KEYS_HEIGHT = 24, /* of one line of the shared legend */
    HEAD_HEIGHT = 24,
    FOOT_HEIGHT = 42, /* labels and name of x */
    PANEL_GAP = 12,
    COLUMN_GAP = 10,
    MIN_PLOT = 60, /* width and height */
    KEY_LINE = 22,
    KEY_GAP = 16,
    KEY_LETTERS = 64,
    NAME_ROOM = 300,
};

/* A panel and its place. */
typedef struct cell {
    const plot_panel *panel;
    plot_scale x, y;
    plot_ticks x_ticks, y_ticks;
    bool any; /* numbers to draw */
    double left, right;
} cell;

typedef struct sheet {
    const plot_page *page;
    FILE *file;
    cell *cell;
    int columns, rows;
    double plot_height;
    double y; /* where the next thing starts */
} sheet;

/* ---- scales ---- */

typedef struct range {
    double least, most; /* least > most: empty */
} range;

static void widen_range(range *r, double value) {
    r->least = fmin(r->least, value);
    r->most = fmax(r->most, value);
}

static bool in_sight(const plot_axis *x, double value) {
    return plot_has_place(value, x->log) && !(x->has_from && value < x->from) && !(x->has_to && value > x->to);
}

static void add_range(const plot_panel *panel, bool of_x, range *r) {
    for (int c = 0; c < panel->curves; c++) {
        const plot_curve *curve = &panel->curve[c];
        const double *const column[] = {of_x ? curve->x : curve->y, of_x ? NULL : curve->low,
                                        of_x ? NULL : curve->high};
        for (ptrdiff_t k = 0; k < 3 * curve->count; k++) {
            const double *number = column[k / curve->count];
            ptrdiff_t at = k % curve->count;
            if (number && in_sight(&panel->x, curve->x[at]) && (of_x || plot_has_place(number[at], panel->y.log))) {
                widen_range(r, number[at]);
            }
        }
    }
}

/* From the least to the greatest number, or between the ends that are given. */
static plot_scale scale_of(const plot_axis *axis, range r, bool of_x) {
    if (r.least > r.most) {
        r = axis->log ? (range){1, 10} : (range){0, 1};
    }
    plot_scale s = plot_scale_around(r.least, r.most, axis->log);
    if (of_x && !axis->log && !axis->padded && !plot_scale_narrow(r.least, r.most)) {
        s = (plot_scale){.low = r.least, .high = r.most};
    }
    if (axis->exact) {
        s.low = axis->has_from ? axis->from : s.low;
        s.high = axis->has_to ? axis->to : s.high;
    }
    bool empty = s.high <= s.low || plot_scale_narrow(s.low, s.high); /* no number beyond the end that is given */
    if (empty && axis->has_from) {
        s.high = axis->log ? 10 * s.low : s.low + 1 + fabs(s.low);
    } else if (empty) {
        s.low = axis->log ? s.high / 10 : s.high - 1 - fabs(s.high);
    }
    return s;
}

static void set_scales(sheet *s) {
    range shared = {INFINITY, -INFINITY};
    for (int p = 0; p < s->page->panels && s->page->shared_x; p++) {
        add_range(&s->page->panel[p], true, &shared);
    }
    for (int p = 0; p < s->page->panels; p++) {
        cell *c = &s->cell[p];
        range x = shared, y = {INFINITY, -INFINITY};
        if (!s->page->shared_x) {
            add_range(c->panel, true, &x);
        }
        add_range(c->panel, false, &y);
        c->any = y.least <= y.most || c->panel->map;
        c->x = scale_of(&c->panel->x, x, true);
        c->y = scale_of(&c->panel->y, y, false);
    }
}

/* Widens the axis on which a unit is longer. */
static void equalise_units(cell *c, double height) {
    double width = c->right - c->left, x = c->x.high - c->x.low, y = c->y.high - c->y.low;
    double unit = fmin(width / x, height / y), more_x = width / unit - x, more_y = height / unit - y;
    if (!isfinite(more_x) || !isfinite(more_y)) { /* too wide for a double */
        return;
    }
    c->x.low -= more_x / 2;
    c->x.high += more_x / 2;
    c->y.low -= more_y / 2;
    c->y.high += more_y / 2;
}

static void choose_ticks(sheet *s) {
    for (int p = 0; p < s->page->panels; p++) {
        cell *c = &s->cell[p];
        if (c->panel->equal && !c->x.log && !c->y.log) {
            equalise_units(c, s->plot_height);
        }
        int along = (int)((c->right - c->left) / (c->x.log ? 50 : 90)), up = (int)(s->plot_height / 45);
        plot_ticks_choose(&c->x, along < 2 ? 2 : along, c->panel->x.whole, &c->x_ticks);
        plot_ticks_choose(&c->y, up < 2 ? 2 : up, c->panel->y.whole, &c->y_ticks);
        c->y_ticks.count = c->any ? c->y_ticks.count : 0;
        c->x.from = c->left;
        c->x.to = c->right;
    }
}

/* ---- texts ---- */

/* Long names keep their beginning and their end. */
static void shorten_name(const char *text, char *brief, size_t size) {
    size_t length = strlen(text), half = size / 2 - 4;
    if (length < size) {
        snprintf(brief, size, "%s", text);
        return;
    }
    const char *end = text + length - half;
    while ((*end & 0xc0) == 0x80) {
        end++;
    }
    while (half > 0 && (text[half] & 0xc0) == 0x80) {
        half--;
    }
    snprintf(brief, size, "%.*s\u2026%s", (int)half, text, end);
}

static double key_width(const plot_key *key) {
    char brief[KEY_LETTERS];
    shorten_name(key->label, brief, sizeof brief);
    return KEY_LINE + 6 + svg_text_width(brief, 11.5) + KEY_GAP;
}

static void put_key(FILE *file, const plot_key *key, double x, double y) {
    char brief[KEY_LETTERS];
    shorten_name(key->label, brief, sizeof brief);
    const plot_look look = key->look, dot = {.colour = look.colour};
    if (look.style != PLOT_POINTS) {
        svg_print(file, "<path class=\"curve %s\" d=\"M%f %fh%d\"/>\n", svg_class_of(look).text, x, y - 4, KEY_LINE);
    }
    if (look.style == PLOT_POINTS || look.style == PLOT_BOTH) {
        svg_print(file, "<path class=\"curve dot %s\" d=\"M%f %fh0\"/>\n", svg_class_of(dot).text, x + KEY_LINE / 2.0,
                  y - 4);
    }
    svg_print(file, "<text class=\"key\" x=\"%f\" y=\"%f\">%t</text>\n", x + KEY_LINE + 6, y, brief);
}

/* From `x` on, in as many lines as needed between `left` and `right`, the first of them at s->y; returns the height
 * after the last. */
static double put_keys(sheet *s, const plot_key *key, int keys, double x, double left, double right, bool draw) {
    double down = 0;
    for (int k = 0; k < keys; k++) {
        double width = key_width(&key[k]);
        if (x > left && x + width - KEY_GAP > right) {
            x = left;
            down += KEY_HEIGHT;
        }
        if (draw) {
            put_key(s->file, &key[k], x, s->y + down);
        }
        x += width;
    }
    return down;
}

static void name_of(const plot_axis *axis, const plot_ticks *ticks, char text[NAME_ROOM]) {
    char unit[NAME_ROOM / 2], name[NAME_ROOM / 2];
    plot_unit_text(ticks, axis->unit, unit, sizeof unit);
    shorten_name(axis->name, name, KEY_LETTERS);
    snprintf(text, NAME_ROOM, "%s%s", name, unit);
}

/* ---- panels ---- */

static void put_grid(FILE *file, const cell *c) {
    /* minor lines */
    const plot_ticks *x = &c->x_ticks, *y = &c->y_ticks;
    for (int k = 0; k < y->minors; k++) {
        svg_print(file, "<path class=\"minor\" d=\"M%f %fL%f %f\"/>\n", c->left, plot_place(&c->y, y->minor[k]),
                  c->right, plot_place(&c->y, y->minor[k]));
    }
    /* lines of the ticks */
    for (int k = 0; k < x->count; k++) {
        double at = plot_place(&c->x, x->value[k]);
        svg_print(file, "<path class=\"grid\" d=\"M%f %fL%f %f\"/>\n", at, c->y.from, at, c->y.to);
    }
    for (int k = 0; k < y->count; k++) {
        double at = plot_place(&c->y, y->value[k]);
        svg_print(file, "<path class=\"grid\" d=\"M%f %fL%f %f\"/>\n", c->left, at, c->right, at);
    }
    /* zero */
    if (!c->y.log && c->y.low < 0 && c->y.high > 0) {
        double zero = plot_place(&c->y, 0);
        svg_print(file, "<path class=\"zero\" d=\"M%f %fL%f %f\"/>\n", c->left, zero, c->right, zero);
    }
}

static void put_y_labels(FILE *file, const cell *c) {
    for (int k = 0; k < c->y_ticks.count; k++) {
        double at = plot_place(&c->y, c->y_ticks.value[k]);
        svg_print(file, "<text class=\"label\" x=\"%f\" y=\"%f\" text-anchor=\"end\">%t</text>\n", c->left - 7, at + 4,
                  c->y_ticks.label[k]);
    }
}

static void put_x_labels(FILE *file, const cell *c) {
    char name[NAME_ROOM];
    double bottom = c->y.from;
    for (int k = 0; k < c->x_ticks.count; k++) {
        double at = plot_place(&c->x, c->x_ticks.value[k]);
        svg_print(file, "<path class=\"axis\" d=\"M%f %fL%f %f\"/>\n", at, bottom, at, bottom + 4);
        svg_print(file, "<text class=\"label\" x=\"%f\" y=\"%f\" text-anchor=\"middle\">%t</text>\n", at, bottom + 17,
                  c->x_ticks.label[k]);
    }
    name_of(&c->panel->x, &c->x_ticks, name);
    svg_print(file, "<text class=\"name\" x=\"%f\" y=\"%f\" text-anchor=\"middle\">%t</text>\n",
              (c->left + c->right) / 2, bottom + 35, name);
}

static void put_curves(FILE *file, const cell *c, int number) {
    svg_print(file, "<clipPath id=\"p%d\"><rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"/></clipPath>\n", number,
              c->left - 2, c->y.to - 2, c->right - c->left + 4, c->y.from - c->y.to + 4);
    svg_print(file, "<g clip-path=\"url(#p%d)\">\n", number);
    for (int k = c->panel->curves - 1; k >= 0; k--) { /* the first on top */
        svg_print_curve(file, &c->panel->curve[k], &c->x, &c->y);
    }
    svg_print(file, "</g>\n");
}

/* The head of the plot, from s->y on; its height. */
static double put_head(sheet *s, const cell *c, bool draw) {
    char name[NAME_ROOM];
    double title = c->panel->title ? PANEL_TITLE_HEIGHT : 0, top = s->y;
    name_of(&c->panel->y, &c->y_ticks, name);
    s->y += 14;
    if (draw && c->panel->title) {
        svg_print(s->file, "<text class=\"name\" x=\"%f\" y=\"%f\">%t</text>\n", c->left, s->y, c->panel->title);
    }
    s->y += title;
    if (draw) {
        svg_print(s->file, "<text class=\"%s\" x=\"%f\" y=\"%f\">%t</text>\n", c->panel->title ? "key" : "name",
                  c->left, s->y, name);
    }
    double first = c->left + (*name ? svg_text_width(name, c->panel->title ? 11.5 : 13.5) + KEY_GAP : 0);
    double down = put_keys(s, c->panel->key, c->panel->keys, first, c->left, c->right, draw);
    s->y = top;
    return title + HEAD_HEIGHT + down;
}

/* Head, map or curves with their grid, axis of x. */
static void put_panel(sheet *s, int number, double head) {
    cell *c = &s->cell[number];
    put_head(s, c, true);
    c->y.to = s->y + head;
    c->y.from = c->y.to + s->plot_height;
    if (c->panel->map) {
        svg_print_map(s->file, c->panel->map, &c->x, &c->y);
        svg_print_bar(s->file, c->panel->map, c->right, c->y.to, c->y.from);
        put_y_labels(s->file, c);
    } else if (c->any) {
        put_grid(s->file, c);
        put_y_labels(s->file, c);
        put_curves(s->file, c, number);
    } else {
        svg_print(s->file, "<text class=\"label\" x=\"%f\" y=\"%f\" text-anchor=\"middle\">%s</text>\n",
                  (c->left + c->right) / 2, (c->y.from + c->y.to) / 2,
                  c->panel->y.log ? "no positive number to draw" : "no number to draw");
    }
    svg_print(s->file, "<path class=\"axis\" d=\"M%f %fL%f %f\"/>\n", c->left, c->y.from, c->right, c->y.from);
    if (!s->page->shared_x || number == s->page->panels - 1) {
        put_x_labels(s->file, c);
    }
}

/* ---- the page ---- */

static double foot_height(const sheet *s, int row) {
    double gap = row < s->rows - 1 ? PANEL_GAP : 0;
    return gap + (!s->page->shared_x || row == s->rows - 1 ? FOOT_HEIGHT : 0);
}

static double row_head(sheet *s, int row) {
    double head = 0;
    for (int p = row * s->columns; p < (row + 1) * s->columns && p < s->page->panels; p++) {
        head = fmax(head, put_head(s, &s->cell[p], false));
    }
    return head;
}

static double put_shared_keys(sheet *s, bool draw) {
    const plot_page *page = s->page;
    double left = s->cell[0].left;
    return put_keys(s, page->key, page->keys, left, left, page->width - MARGIN - 6, draw);
}

/* Everything but the plots themselves. */
static double height_around_plots(sheet *s) {
    double height = MARGIN + (*s->page->title ? TITLE_HEIGHT : 0);
    height += s->page->keys ? KEYS_HEIGHT + put_shared_keys(s, false) : 0;
    for (int row = 0; row < s->rows; row++) {
        height += row_head(s, row) + foot_height(s, row);
    }
    return height;
}

/* Left and right of the plots of a column: the labels of y stand before them. */
static void place_column(sheet *s, int column) {
    double width = (double)(s->page->width - 2 * MARGIN - (s->columns - 1) * COLUMN_GAP) / s->columns, labels = 0;
    double start = MARGIN + column * (width + COLUMN_GAP);
    for (int p = column; p < s->page->panels; p += s->columns) {
        for (int k = 0; k < s->cell[p].y_ticks.count; k++) {
            labels = fmax(labels, svg_text_width(s->cell[p].y_ticks.label[k], 11));
        }
    }
    for (int p = column; p < s->page->panels; p += s->columns) {
        s->cell[p].left = start + ceil(labels) + 8;
        s->cell[p].right =
            fmax(start + width - (s->cell[p].panel->map ? PLOT_BAR_ROOM : 6), s->cell[p].left + MIN_PLOT);
    }
}

/* Labels depend on the height a little, and the height on them. */
static void lay_out(sheet *s) {
    const plot_page *page = s->page;
    double free_height = page->columns > 1 ? 0.62 * page->width / page->columns : page->panels == 1 ? 300 : 180;
    s->plot_height = free_height;
    for (int pass = 0; pass < 3; pass++) {
        set_scales(s);
        choose_ticks(s);
        for (int column = 0; column < s->columns; column++) {
            place_column(s, column);
        }
        if (page->height > 0) {
            s->plot_height = fmax(floor((page->height - height_around_plots(s)) / s->rows), MIN_PLOT);
        }
    }
    set_scales(s);
    choose_ticks(s);
}

static void put_svg_page(sheet *s) {
    /* paper */
    const plot_page *page = s->page;
    int width = page->width, height = (int)ceil(height_around_plots(s) + s->rows * s->plot_height);
    svg_print(s->file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
              width, height, width, height);
    svg_print_style(s->file);
    svg_print(s->file, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height);
    s->y = MARGIN;
    /* title and keys */
    if (*page->title) {
        svg_print(s->file, "<text class=\"title\" x=\"%f\" y=\"%f\">%t</text>\n", s->cell[0].left, s->y + 12,
                  page->title);
        s->y += TITLE_HEIGHT;
    }
    if (page->keys) {
        s->y += 12;
        s->y += put_shared_keys(s, true) + KEYS_HEIGHT - 12;
    }
    /* panels, row by row */
    for (int row = 0; row < s->rows; row++) {
        double head = row_head(s, row);
        for (int p = row * s->columns; p < (row + 1) * s->columns && p < page->panels; p++) {
            put_panel(s, p, head);
        }
        s->y += head + s->plot_height + foot_height(s, row);
    }
    svg_print(s->file, "</svg>\n");
}

char *plot_svg(const plot_page *page, sim_error *error) {
    /* cells in rows and columns */
    char *text = NULL;
    size_t size = 0;
    sheet s = {.page = page, .columns = page->columns > 1 ? page->columns : 1};
    s.rows = (page->panels + s.columns - 1) / s.columns;
    s.cell = calloc((size_t)page->panels, sizeof *s.cell);
    s.file = s.cell ? open_memstream(&text, &size) : NULL;
    if (s.file) {
        for (int p = 0; p < page->panels; p++) {
            s.cell[p] = (cell){.panel = &page->panel[p], .left = MARGIN, .right = page->width - MARGIN};
        }
        /* lay out and print */
        lay_out(&s);
        put_svg_page(&s);
    }
    /* text, if all of it was written */
    bool good = s.file && !ferror(s.file);
    good &= !s.file || fclose(s.file) == 0;
    free(s.cell);
    if (!good) {
        free(text);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
        return NULL;
    }
    return text;
}
