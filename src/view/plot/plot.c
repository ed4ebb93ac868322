/* Layout of a page of plots.  From above: the title, the legend that all panels share, the panels.  Each panel is
 * headed by its name, unit and legend, which so never cover a curve; ticks and grid are shared by x, and x is named
 * below the last.  data -> scales -> axes -> marks. */
#include "view/plot/plot.h"
#include "view/plot/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 14,
    TITLE_HEIGHT = 26,
    KEY_HEIGHT = 18,
    KEYS_HEIGHT = 24, /* of one line of the shared legend */
    HEAD_HEIGHT = 24,
    FOOT_HEIGHT = 42, /* labels and name of x */
    PANEL_GAP = 12,
    ONE_PANEL = 300, /* heights of plots, if it is left to us */
    SOME_PANELS = 180,
    KEY_LINE = 22,
    KEY_GAP = 16,
    NAME_ROOM = 300,
};

typedef struct sheet {
    const plot_page *page;
    FILE *file;
    plot_scale x;
    plot_ticks x_ticks;
    double left, right, plot_height;
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

static bool is_usable(double value, int log) { return isfinite(value) && (!log || value > 0); }

static bool in_sight(const plot_page *page, double x) {
    return is_usable(x, page->x.log) && !(x < page->from) && !(x > page->to);
}

static range range_of(const plot_page *page, const plot_panel *panel, int of_x) {
    range r = {INFINITY, -INFINITY};
    for (int c = 0; c < panel->curves; c++) {
        const plot_curve *curve = &panel->curve[c];
        for (ptrdiff_t k = 0; k < curve->count; k++) {
            if (in_sight(page, curve->x[k]) && (of_x || is_usable(curve->y[k], panel->y.log))) {
                widen_range(&r, of_x ? curve->x[k] : curve->y[k]);
            }
        }
    }
    return r;
}

static plot_scale scale_of_x(const plot_page *page) {
    range r = {INFINITY, -INFINITY};
    for (int p = 0; p < page->panels; p++) {
        range part = range_of(page, &page->panel[p], 1);
        if (part.least <= part.most) {
            widen_range(&r, part.least);
            widen_range(&r, part.most);
        }
    }
    if (r.least > r.most) {
        return (plot_scale){.low = 0, .high = 1};
    }
    if (plot_scale_narrow(r.least, r.most) || page->x.log || page->x.airy) {
        return plot_scale_around(r.least, r.most, page->x.log);
    }
    return (plot_scale){.low = r.least, .high = r.most};
}

static bool scale_of_y(const plot_page *page, const plot_panel *panel, plot_scale *scale, plot_ticks *ticks,
                       double height) {
    range r = range_of(page, panel, 0);
    if (r.least > r.most) {
        *ticks = (plot_ticks){0};
        return false;
    }
    *scale = plot_scale_around(r.least, r.most, panel->y.log);
    int wanted = (int)(height / 45);
    plot_ticks_choose(scale, wanted < 2 ? 2 : wanted, panel->y.whole, ticks);
    return true;
}

static double widest_label(const plot_page *page, double height) {
    double width = 0;
    for (int p = 0; p < page->panels; p++) {
        plot_scale scale;
        plot_ticks ticks;
        scale_of_y(page, &page->panel[p], &scale, &ticks, height);
        for (int k = 0; k < ticks.count; k++) {
            width = fmax(width, ink_width(ticks.label[k], 11));
        }
    }
    return width;
}

/* ---- texts ---- */

static void put_svg_text(sheet *s, const char *class, const char *anchor, double x, double y, const char *text) {
    fprintf(s->file, "<text class=\"%s\" x=\"", class);
    ink_number(s->file, x);
    fputs("\" y=\"", s->file);
    ink_number(s->file, y);
    if (*anchor) {
        fprintf(s->file, "\" text-anchor=\"%s", anchor);
    }
    fputs("\">", s->file);
    ink_text(s->file, text);
    fputs("</text>\n", s->file);
}

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

enum { KEY_LETTERS = 64 };

static double key_width(const plot_key *key) {
    char brief[KEY_LETTERS];
    shorten_name(key->label, brief, sizeof brief);
    return KEY_LINE + 6 + ink_width(brief, 11.5) + KEY_GAP;
}

/* From `x` on, in as many lines as needed, the first of them at s->y; returns the height after the last. */
static double put_keys(sheet *s, const plot_key *key, int keys, double x, int draw) {
    double down = 0;
    for (int k = 0; k < keys; k++) {
        double width = key_width(&key[k]);
        char brief[KEY_LETTERS];
        shorten_name(key[k].label, brief, sizeof brief);
        if (k > 0 && x + width - KEY_GAP > s->right) {
            x = s->left;
            down += KEY_HEIGHT;
        }
        if (draw) {
            fputs("<path class=\"", s->file);
            ink_class(s->file, key[k].colour, key[k].dash);
            fputs("\" d=\"M", s->file);
            ink_number(s->file, x);
            fputc(' ', s->file);
            ink_number(s->file, s->y + down - 4);
            fprintf(s->file, "h%d\"/>\n", KEY_LINE);
            put_svg_text(s, "key", "", x + KEY_LINE + 6, s->y + down, brief);
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

static void put_grid(sheet *s, const plot_scale *y, const plot_ticks *ticks) {
    double top = y->to, bottom = y->from;
    for (int k = 0; k < ticks->minors; k++) {
        double at = plot_place(y, ticks->minor[k]);
        ink_line(s->file, "minor", s->left, at, s->right, at);
    }
    for (int k = 0; k < s->x_ticks.count; k++) {
        double at = plot_place(&s->x, s->x_ticks.value[k]);
        ink_line(s->file, "grid", at, bottom, at, top);
    }
    for (int k = 0; k < ticks->count; k++) {
        double at = plot_place(y, ticks->value[k]);
        ink_line(s->file, "grid", s->left, at, s->right, at);
        put_svg_text(s, "label", "end", s->left - 7, at + 4, ticks->label[k]);
    }
    if (!y->log && y->low < 0 && y->high > 0) {
        ink_line(s->file, "zero", s->left, plot_place(y, 0), s->right, plot_place(y, 0));
    }
    ink_line(s->file, "axis", s->left, bottom, s->right, bottom);
}

static void put_x_labels(sheet *s, double bottom) {
    char name[NAME_ROOM];
    for (int k = 0; k < s->x_ticks.count; k++) {
        double at = plot_place(&s->x, s->x_ticks.value[k]);
        ink_line(s->file, "axis", at, bottom, at, bottom + 4);
        put_svg_text(s, "label", "middle", at, bottom + 17, s->x_ticks.label[k]);
    }
    name_of(&s->page->x, &s->x_ticks, name);
    put_svg_text(s, "name", "middle", (s->left + s->right) / 2, bottom + 35, name);
}

static void put_curves(sheet *s, const plot_panel *panel, int number, const plot_scale *y) {
    fprintf(s->file, "<clipPath id=\"p%d\"><rect x=\"", number);
    ink_number(s->file, s->left - 2);
    fputs("\" y=\"", s->file);
    ink_number(s->file, y->to - 2);
    fputs("\" width=\"", s->file);
    ink_number(s->file, s->right - s->left + 4);
    fputs("\" height=\"", s->file);
    ink_number(s->file, y->from - y->to + 4);
    fprintf(s->file, "\"/></clipPath>\n<g clip-path=\"url(#p%d)\">\n", number);
    for (int c = panel->curves - 1; c >= 0; c--) { /* the first on top */
        ink_curve(s->file, &panel->curve[c], &s->x, y);
    }
    fputs("</g>\n", s->file);
}

static double head_height(sheet *s, const plot_panel *panel, const plot_ticks *ticks, int draw) {
    char name[NAME_ROOM];
    name_of(&panel->y, ticks, name);
    if (draw) {
        put_svg_text(s, "name", "", s->left, s->y, name);
    }
    return put_keys(s, panel->key, panel->keys, s->left + ink_width(name, 13.5) + KEY_GAP, draw);
}

static void put_panel(sheet *s, int number) {
    const plot_panel *panel = &s->page->panel[number];
    plot_scale y = {0};
    plot_ticks ticks;
    int any = scale_of_y(s->page, panel, &y, &ticks, s->plot_height);
    s->y += 14;
    s->y += head_height(s, panel, &ticks, 1) + HEAD_HEIGHT - 14;
    y.to = s->y;
    y.from = s->y + s->plot_height;
    if (any) {
        put_grid(s, &y, &ticks);
        put_curves(s, panel, number, &y);
    } else {
        ink_line(s->file, "axis", s->left, y.from, s->right, y.from);
        put_svg_text(s, "label", "middle", (s->left + s->right) / 2, (y.from + y.to) / 2,
                     panel->y.log ? "no positive number to draw" : "no number to draw");
    }
    if (number == s->page->panels - 1) {
        put_x_labels(s, y.from);
    }
    s->y = y.from + PANEL_GAP;
}

/* ---- the page ---- */

/* Everything but the plots themselves; left and right must stand. */
static double height_around_plots(sheet *s) {
    const plot_page *page = s->page;
    double height = MARGIN + (*page->title ? TITLE_HEIGHT : 0) + FOOT_HEIGHT;
    if (page->keys) {
        height += KEYS_HEIGHT + put_keys(s, page->key, page->keys, s->left, 0);
    }
    for (int p = 0; p < page->panels; p++) {
        plot_scale scale;
        plot_ticks ticks;
        scale_of_y(page, &page->panel[p], &scale, &ticks, s->plot_height);
        height += HEAD_HEIGHT + head_height(s, &page->panel[p], &ticks, 0) + (p ? PANEL_GAP : 0);
    }
    return height;
}

static void lay_out(sheet *s) {
    const plot_page *page = s->page;
    enum { LEAST_PLOT = 60 };
    s->plot_height = page->panels == 1 ? ONE_PANEL : SOME_PANELS;
    for (int pass = 0; pass < 2; pass++) { /* labels depend on the height a little, and the height on them */
        s->left = MARGIN + ceil(widest_label(page, s->plot_height)) + 8;
        s->right = page->width - MARGIN - 6;
        if (page->height > 0) {
            s->plot_height = floor((page->height - height_around_plots(s)) / page->panels);
            s->plot_height = fmax(s->plot_height, LEAST_PLOT);
        }
    }
    s->x = scale_of_x(page);
    s->x.from = s->left;
    s->x.to = s->right;
    int wanted = (int)((s->right - s->left) / 90);
    plot_ticks_choose(&s->x, wanted < 2 ? 2 : wanted, page->x.whole, &s->x_ticks);
}

static void put_svg_page(sheet *s) {
    const plot_page *page = s->page;
    double height = ceil(height_around_plots(s) + page->panels * s->plot_height);
    fprintf(s->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n",
            page->width, height, page->width, height);
    ink_style(s->file);
    fprintf(s->file, "<rect class=\"paper\" width=\"%d\" height=\"%.0f\"/>\n", page->width, height);
    s->y = MARGIN;
    if (*page->title) {
        put_svg_text(s, "title", "", s->left, s->y + 12, page->title);
        s->y += TITLE_HEIGHT;
    }
    if (page->keys) {
        s->y += 12;
        s->y += put_keys(s, page->key, page->keys, s->left, 1) + KEYS_HEIGHT - 12;
    }
    for (int p = 0; p < page->panels; p++) {
        put_panel(s, p);
    }
    fputs("</svg>\n", s->file);
}

char *plot_svg(const plot_page *page, sim_error *error) {
    char *text = NULL;
    size_t size = 0;
    sheet s = {.page = page, .file = open_memstream(&text, &size)};
    if (s.file) {
        lay_out(&s);
        put_svg_page(&s);
    }
    int good = s.file && !ferror(s.file);
    if ((s.file && fclose(s.file)) || !good) {
        free(text);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
        return NULL;
    }
    return text;
}
