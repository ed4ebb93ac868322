/* Figures: plots described by a JSON file (docs/plots.md). */
#ifndef VIEW_PLOT_FIGURE_H
#define VIEW_PLOT_FIGURE_H

#include <sim/base.h>

/* The picture as text, to be freed; NULL on failure, of which `error` names file, line and column. */
char *plot_figure(const char *path, sim_error *error);

#endif
