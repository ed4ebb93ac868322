/* Path of the scenes that the program opens by itself.  Beside it as it was installed, else where it was built from. */
#include "app/cli/scene_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void scene_path(const char *folder, const char *scene, char path[PATH_MAX]) {
    char program[PATH_MAX];
    if (folder) {
        snprintf(path, PATH_MAX, "%s/%s", folder, scene);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) {
        *slash = 0;
        int all = snprintf(path, PATH_MAX, "%s/" APP_SCENES_BESIDE "/%s", program, scene);
        if (all < PATH_MAX && access(path, R_OK) == 0) {
            return;
        }
    }
    snprintf(path, PATH_MAX, "%s/%s", APP_SCENES_SOURCE, scene);
}
