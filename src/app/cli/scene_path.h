/* Path of the scenes that the program opens itself. */
#ifndef APP_CLI_SCENE_PATH_H
#define APP_CLI_SCENE_PATH_H

#include <limits.h>

/* `folder`: where they are; NULL: where they were installed, or come from. */
void scene_path(const char *folder, const char *scene, char path[PATH_MAX]);

#endif
