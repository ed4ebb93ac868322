/* Plots as SVG: panels above one another that share an x axis. */
#ifndef VIEW_PLOT_PLOT_H
#define VIEW_PLOT_PLOT_H

#include <sim/base.h>
#include <stddef.h>

enum {
    PLOT_COLOURS = 8, /* that eyes tell apart; further curves take the first again */
    PLOT_DASHES = 4,
    PLOT_NEUTRAL = -1, /* the colour of text */
};

/* Numbers that are not finite, or not positive on a log axis, are gaps. */
typedef struct plot_curve {
    ptrdiff_t count;
    const double *x, *y;
    int colour, dash;
} plot_curve;

typedef struct plot_key {
    const char *label;
    int colour, dash;
} plot_key;

typedef struct plot_axis {
    const char *name, *unit; /* "": a pure number */
    int log;
    int whole; /* counts: no ticks between whole numbers */
    int airy;  /* of x: the ends are not those of the data */
} plot_axis;

typedef struct plot_panel {
    plot_axis y;
    int curves, keys;
    const plot_curve *curve;
    const plot_key *key; /* of this panel's legend */
} plot_panel;

typedef struct plot_page {
    const char *title; /* "": none */
    plot_axis x;
    double from, to;   /* of x; NAN: as far as the data go */
    int width, height; /* pixels; height 0: by the number of panels */
    int panels, keys;
    const plot_panel *panel;
    const plot_key *key; /* of the legend that all panels share */
} plot_page;

/* The picture as text, to be freed; NULL without memory. */
char *plot_svg(const plot_page *page, sim_error *error);

#endif
