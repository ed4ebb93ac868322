/* Reduction of a curve to the resolution of the plot.
 *
 * Lines drawn through all numbers of one column of pixels cover the stretch from the least to the most of them, and go
 * on from the last to the first of the next column: these four draw the same picture (Jugel, Jerzak, Hackenbroich,
 * Markl 2014). Where x comes back (a path in a plane), points nearer than a part of a pixel to the last one drawn are
 * left out. */
#include "view/plot/svg.h"

#include <math.h>

static const double COLUMN_PIXELS = 1, MIN_SPOT_DISTANCE = 0.35; /* pixels */

typedef struct spot {
    double x, y;
    ptrdiff_t index;
} spot;

typedef struct pen {
    FILE *file;
    int down;    /* a line has begun */
    int alone;   /* of one point so far */
    double x, y; /* where it is, in tenths of a pixel */
} pen;

static void lift_pen(pen *p) {
    if (p->down && p->alone) {
        fputs("h0", p->file); /* a dot */
    }
    p->down = 0;
}

/* Steps from point to point take fewer letters than places. */
static void draw_to(pen *p, spot at) {
    double x = round(10 * at.x), y = round(10 * at.y);
    fputc(p->down ? 'l' : 'M', p->file);
    ink_number(p->file, (p->down ? x - p->x : x) / 10);
    double down = (p->down ? y - p->y : y) / 10;
    if (down >= 0) {
        fputc(' ', p->file);
    }
    ink_number(p->file, down);
    p->x = x;
    p->y = y;
    p->alone = !p->down;
    p->down = 1;
}

/* Of one column of pixels. */
typedef struct column {
    int count;
    double number;
    spot first, least, most, last;
} column;

static void flush_column(column *c, pen *p) {
    spot order[4] = {c->first, c->least, c->most, c->last};
    if (c->count == 0) {
        return;
    }
    if (order[1].index > order[2].index) {
        order[1] = c->most;
        order[2] = c->least;
    }
    for (int k = 0; k < 4; k++) {
        if (k == 0 || order[k].index > order[k - 1].index) {
            draw_to(p, order[k]);
        }
    }
    c->count = 0;
}

static void add_spot(column *c, pen *p, spot at) {
    double number = floor(at.x / COLUMN_PIXELS);
    if (c->count && number != c->number) {
        flush_column(c, p);
    }
    c->number = number;
    c->first = c->count ? c->first : at;
    c->least = c->count && c->least.y <= at.y ? c->least : at;
    c->most = c->count && c->most.y >= at.y ? c->most : at;
    c->last = at;
    c->count++;
}

static bool is_drawable(const plot_scale *scale, double value) { return isfinite(value) && (!scale->log || value > 0); }

static bool goes_forward(const plot_curve *curve) {
    for (ptrdiff_t k = 1; k < curve->count; k++) {
        if (curve->x[k] < curve->x[k - 1]) {
            return false;
        }
    }
    return true;
}

/* Points far outside would only cost digits; clipping them does not change the picture. */
static double near_paper(double place) { return fmin(fmax(place, -1e5), 1e5); }

/* -1, 1: to the left or right of the page. */
static int side_of_page(const plot_scale *x, double value) { return value < x->low ? -1 : value > x->high ? 1 : 0; }

/* It and its neighbours lie to one side. */
static int out_of_sight(const plot_curve *curve, ptrdiff_t k, const plot_scale *x) {
    int side = side_of_page(x, curve->x[k]);
    return side && (k == 0 || side_of_page(x, curve->x[k - 1]) == side) &&
           (k == curve->count - 1 || side_of_page(x, curve->x[k + 1]) == side);
}

void ink_curve(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y) {
    enum { MAX_MARKED_POINTS = 40 };
    pen p = {.file = file};
    column c = {0};
    spot before = {0};
    bool forward = goes_forward(curve);
    fputs("<path class=\"", file);
    ink_class(file, curve->colour, curve->dash);
    fputs("\" d=\"", file);
    for (ptrdiff_t k = 0; k < curve->count; k++) {
        if (!is_drawable(x, curve->x[k]) || !is_drawable(y, curve->y[k])) {
            flush_column(&c, &p);
            lift_pen(&p);
            continue;
        }
        if (forward && out_of_sight(curve, k, x)) {
            continue;
        }
        spot at = {near_paper(plot_place(x, curve->x[k])), near_paper(plot_place(y, curve->y[k])), k};
        if (forward) {
            add_spot(&c, &p, at);
        } else if (!p.down || k == curve->count - 1 || hypot(at.x - before.x, at.y - before.y) > MIN_SPOT_DISTANCE) {
            draw_to(&p, at);
            before = at;
        }
    }
    flush_column(&c, &p);
    lift_pen(&p);
    fputs("\"/>\n", file);
    for (ptrdiff_t k = 0; curve->count <= MAX_MARKED_POINTS && k < curve->count; k++) {
        if (is_drawable(x, curve->x[k]) && is_drawable(y, curve->y[k])) {
            fputs("<path class=\"dot ", file);
            ink_class(file, curve->colour, 0);
            fputs("\" d=\"M", file);
            ink_number(file, near_paper(plot_place(x, curve->x[k])));
            fputc(' ', file);
            ink_number(file, near_paper(plot_place(y, curve->y[k])));
            fputs("h0\"/>\n", file);
        }
    }
}
