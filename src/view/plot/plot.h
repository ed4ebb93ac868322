/* Plots as SVG: panels in rows and columns. */
#ifndef VIEW_PLOT_PLOT_H
#define VIEW_PLOT_PLOT_H

#include <sim/base.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    PLOT_COLOURS = 8, /* that eyes tell apart; further curves take the first again */
    PLOT_DASHES = 4,
    PLOT_NEUTRAL = -1, /* the colour of text */
};

typedef enum plot_style {
    PLOT_AUTO, /* lines, and points where there are few */
    PLOT_LINE,
    PLOT_POINTS,
    PLOT_BOTH,
    PLOT_SEGMENTS, /* lines between the first and second, the third and fourth point ... */
    PLOT_STYLES
} plot_style;

typedef struct plot_look {
    int colour, dash;
    plot_style style;
} plot_look;

/* Numbers that are not finite, or not positive on a log axis, are gaps. */
typedef struct plot_curve {
    ptrdiff_t count;
    const double *x, *y;
    const double *low, *high; /* edges of a band behind the curve; NULL: none */
    plot_look look;
} plot_curve;

typedef struct plot_key {
    const char *label;
    plot_look look;
} plot_key;

typedef struct plot_axis {
    const char *name, *unit; /* "": a pure number */
    bool log;
    bool whole;            /* counts: no ticks between whole numbers */
    bool padded;           /* of x: the ends are not those of the data */
    bool has_from, has_to; /* else as far as the data go */
    bool exact;            /* `from` and `to` are the ends, whatever the data */
    double from, to;
} plot_axis;

/* Numbers over cells, of which row 0 is the lowest; those that are not finite are gaps. */
typedef struct plot_map {
    int columns, rows;
    const double *x_edge, *y_edge; /* [columns + 1], [rows + 1] */
    const double *value;           /* [rows][columns] */
    double least, most;            /* of the colours */
} plot_map;

typedef struct plot_panel {
    const char *title; /* NULL: none */
    plot_axis x, y;
    bool equal; /* one unit has the same length on both axes */
    int curves, keys;
    const plot_curve *curve;
    const plot_map *map; /* in place of curves, over axes with ends; NULL: none */
    const plot_key *key; /* of this panel's legend */
} plot_panel;

typedef struct plot_page {
    const char *title; /* "": none */
    bool shared_x;     /* of one column: the panels have one x axis, named below the last */
    int width, height; /* pixels; height 0: by the number of panels */
    int columns, panels, keys;
    const plot_panel *panel;
    const plot_key *key; /* of the legend that all panels share */
} plot_page;

/* The picture as text, to be freed; NULL without memory. */
char *plot_svg(const plot_page *page, sim_error *error);

#endif
