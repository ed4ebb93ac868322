/* `sim convert`: a robot in URDF, or a scene, as a scene in JSON. */
#ifndef APP_CONVERT_CONVERT_H
#define APP_CONVERT_CONVERT_H

#include "app/cli/options.h"

extern const option_set convert_options;

/* Returns the exit status; has said all there is to say.  arguments[0] is the command. */
int convert_command(int count, char **arguments);

#endif
