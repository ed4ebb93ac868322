/* `sim sweep`: many runs of one scene, a row each. */
#ifndef APP_SWEEP_SWEEP_H
#define APP_SWEEP_SWEEP_H

#include "app/cli/options.h"

extern const option_set sweep_options;

/* Returns the exit status; has said all there is to say.  arguments[0] is the command. */
int sweep_command(int count, char **arguments);

#endif
