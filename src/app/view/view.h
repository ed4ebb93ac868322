/* `sim view`: a recorded run, or one that goes on, as a page for a browser. */
#ifndef APP_VIEW_VIEW_H
#define APP_VIEW_VIEW_H

#include "app/cli/options.h"

typedef struct view_request {
    text_list set;
    robot_request robot;
    const char *file, *html, *scene, *solver, *start, *listen;
    int64_t port;
    int live, open, quiet, help;
} view_request;

extern const option_set view_options;

/* Returns the exit status; has said all there is to say.  arguments[0] is the command. */
int view_command(int count, char **arguments);

#endif
