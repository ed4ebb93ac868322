/* `sim render`: pictures and films of scenes and runs. */
#ifndef APP_DRAW_RENDER_H
#define APP_DRAW_RENDER_H

#include "app/cli/options.h"

extern const option_set render_options;

int render_command(int count, char **arguments);

#endif
