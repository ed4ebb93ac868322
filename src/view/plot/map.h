/* Maps: numbers over two axes as colours. */
#ifndef VIEW_PLOT_MAP_H
#define VIEW_PLOT_MAP_H

#include "view/plot/plot.h"
#include "view/plot/scale.h"
#include <stdio.h>

enum { PLOT_BAR_ROOM = 74 }; /* px, right of a map: its colours with their numbers */

/* The cells of a map, between places of x and y. */
void svg_print_map(FILE *file, const plot_map *map, const plot_scale *x, const plot_scale *y);
/* Its colours from `left` on, as high as the plot. */
void svg_print_bar(FILE *file, const plot_map *map, double left, double top, double bottom);

#endif
