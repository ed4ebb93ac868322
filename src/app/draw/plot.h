/* `sim plot`: what was recorded, as a picture. */
#ifndef APP_DRAW_PLOT_H
#define APP_DRAW_PLOT_H

#include "app/cli/options.h"

extern const option_set plot_options;

int plot_command(int count, char **arguments);

#endif
