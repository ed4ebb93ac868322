/* `sim plot`: what was recorded, as a picture. */
#ifndef APP_PLOT_H
#define APP_PLOT_H

#include "app/options.h"

extern const option_set plot_options;

int plot_command(int count, char **arguments);

#endif
