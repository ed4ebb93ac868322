/* `sim render`: pictures and films of scenes and runs. */
#ifndef APP_RENDER_H
#define APP_RENDER_H

#include "app/options.h"

extern const option_set render_options;

int render_command(int count, char **arguments);

#endif
