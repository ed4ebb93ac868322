/* Plots of sweeps: a number of the rows over one input as a line, over two as a map. */
#ifndef VIEW_PLOT_SWEEP_H
#define VIEW_PLOT_SWEEP_H

#include "view/plot/files.h"

/* The picture as text, to be freed; NULL on failure.  `note` tells of inputs over which the picture has means. */
char *plot_sweep(const char *path, const plot_wish *wish, char note[256], sim_error *error);

#endif
