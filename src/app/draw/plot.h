/* `sim plot`: plots of recorded quantities. */
#ifndef APP_DRAW_PLOT_H
#define APP_DRAW_PLOT_H

#include "app/cli/options.h"

extern const option_set plot_options;

int plot_command(int count, char **arguments);

#endif
