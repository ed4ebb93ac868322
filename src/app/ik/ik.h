/* `sim ik`: joint coordinates at which a site of a robot stands at given poses. */
#ifndef APP_IK_IK_H
#define APP_IK_IK_H

#include "app/cli/options.h"

extern const option_set ik_options;

/* Returns the exit status; has said all there is to say.  arguments[0] is the command. */
int ik_command(int count, char **arguments);

#endif
