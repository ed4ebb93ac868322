/* Where the scenes are that the program itself opens. */
#ifndef APP_CLI_SCENE_PLACE_H
#define APP_CLI_SCENE_PLACE_H

#include <limits.h>

/* `folder`: where they are; NULL: where they were installed, or come from. */
void scene_place(const char *folder, const char *scene, char path[PATH_MAX]);

#endif
