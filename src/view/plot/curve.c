/* Reduction of a curve to the resolution of the plot.
 *
 * Lines drawn through all numbers of one column of pixels cover the stretch from the least to the most of them. They
 * go on from the last to the first of the next column: these four draw the same picture (Jugel, Jerzak, Hackenbroich,
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
    svg_print(p->file, p->down && p->alone ? "h0" : ""); /* a dot */
    p->down = 0;
}

/* Steps from point to point take fewer letters than places. */
static void draw_to(pen *p, spot at) {
    double x = round(10 * at.x), y = round(10 * at.y);
    double along = (p->down ? x - p->x : x) / 10, down = (p->down ? y - p->y : y) / 10;
    svg_print(p->file, p->down ? "l%f%s%f" : "M%f%s%f", along, down >= 0 ? " " : "", down);
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
static bool out_of_sight(const plot_curve *curve, ptrdiff_t k, const plot_scale *x) {
    int side = side_of_page(x, curve->x[k]);
    return side && (k == 0 || side_of_page(x, curve->x[k - 1]) == side) &&
           (k == curve->count - 1 || side_of_page(x, curve->x[k + 1]) == side);
}

static bool is_marked(const plot_curve *curve) {
    enum { MAX_MARKED_POINTS = 40 };
    plot_style style = curve->look.style;
    return style == PLOT_POINTS || style == PLOT_BOTH || (style == PLOT_AUTO && curve->count <= MAX_MARKED_POINTS);
}

static bool has_place(const plot_curve *curve, ptrdiff_t k, const plot_scale *x, const plot_scale *y) {
    return plot_has_place(curve->x[k], x->log) && plot_has_place(curve->y[k], y->log);
}

static spot spot_of(const plot_curve *curve, ptrdiff_t k, const plot_scale *x, const plot_scale *y) {
    return (spot){near_paper(plot_place(x, curve->x[k])), near_paper(plot_place(y, curve->y[k])), k};
}

static void print_line(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y) {
    /* path of the curve */
    pen p = {.file = file};
    column c = {0};
    spot before = {0};
    bool pairs = curve->look.style == PLOT_SEGMENTS, forward = !pairs && goes_forward(curve);
    svg_print(file, "<path class=\"curve %s\" d=\"", svg_class_of(curve->look).text);
    for (ptrdiff_t k = 0; k < curve->count; k++) {
        /* a gap lifts the pen */
        bool gap = !has_place(curve, k, x, y);
        if (gap || (pairs && k % 2 == 0)) {
            flush_column(&c, &p);
            lift_pen(&p);
        }
        if (gap || (forward && out_of_sight(curve, k, x))) {
            continue;
        }
        spot at = spot_of(curve, k, x, y);
        double moved = hypot(at.x - before.x, at.y - before.y);
        /* functions of x: least and greatest value of each pixel column; others: spots that are apart */
        if (forward) {
            add_spot(&c, &p, at);
        } else if (!p.down || pairs || k == curve->count - 1 || moved > MIN_SPOT_DISTANCE) {
            draw_to(&p, at);
            before = at;
        }
    }
    flush_column(&c, &p);
    lift_pen(&p);
    svg_print(file, "\"/>\n");
}

/* Forth along the lower edge and back along the upper one. */
static void print_band(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y) {
    pen p = {.file = file};
    svg_print(file, "<path class=\"band %s\" d=\"", svg_class_of((plot_look){.colour = curve->look.colour}).text);
    for (ptrdiff_t k = 0; k < 2 * curve->count; k++) {
        ptrdiff_t at = k < curve->count ? k : 2 * curve->count - 1 - k;
        double edge = k < curve->count ? curve->low[at] : curve->high[at];
        edge = y->log ? fmax(edge, y->low) : edge;
        if (plot_has_place(curve->x[at], x->log) && plot_has_place(edge, y->log)) {
            draw_to(&p, (spot){near_paper(plot_place(x, curve->x[at])), near_paper(plot_place(y, edge)), k});
        }
    }
    svg_print(file, "\"/>\n");
}

void svg_print_curve(FILE *file, const plot_curve *curve, const plot_scale *x, const plot_scale *y) {
    if (curve->low) {
        print_band(file, curve, x, y);
    }
    if (curve->look.style != PLOT_POINTS) {
        print_line(file, curve, x, y);
    }
    if (is_marked(curve)) {
        svg_print(file, "<path class=\"curve dot %s\" d=\"",
                  svg_class_of((plot_look){.colour = curve->look.colour}).text);
        for (ptrdiff_t k = 0; k < curve->count; k++) {
            if (has_place(curve, k, x, y)) {
                spot at = spot_of(curve, k, x, y);
                svg_print(file, "M%f %fh0", at.x, at.y);
            }
        }
        svg_print(file, "\"/>\n");
    }
}
