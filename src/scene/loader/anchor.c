/* Names of files in a scene, as seen from the folder that the scene moves to. */
#include "scene/loader/loader.h"

#include <stdlib.h>
#include <string.h>

/* Both absolute, without links and dots: how to name `file` in `folder`.  In the work pool. */
static const char *name_in_folder(loader *l, const char *folder, const char *file) {
    /* folders that both are in */
    size_t same = 0, length = strlen(folder);
    for (size_t k = 0; k <= length; k++) {
        bool ends = k == length || folder[k] == '/';
        if (ends && strncmp(folder, file, k) == 0 && file[k] == '/') {
            same = k;
        }
        if (k < length && folder[k] != file[k]) {
            break;
        }
    }
    if (same == 0) {
        return pool_text(l->work, file);
    }
    /* up from there, then down */
    size_t up = 0;
    for (size_t k = same; k < length; k++) {
        up += folder[k] == '/' && k + 1 < length;
    }
    char *name = pool_alloc(l->work, 3 * up + strlen(file + same) + 1, 1);
    for (size_t k = 0; name && k < up; k++) {
        memcpy(name + 3 * k, "../", 3);
    }
    if (name) {
        strcpy(name + 3 * up, file + same + 1);
    }
    return name;
}

static void anchor_names(loader *l, node *n, const char *folder) {
    for (node *child = n->first; child; child = child->next) {
        if (child->kind != NODE_TEXT || !child->key || strcmp(child->key, "file") != 0) {
            anchor_names(l, child, folder);
            continue;
        }
        const char *path = path_beside(l, l->main, child->text);
        char *real = path ? realpath(path, NULL) : NULL;
        const char *name = real ? name_in_folder(l, folder, real) : child->text;
        free(real);
        l->report.no_memory |= !path || !name;
        child->text = name ? name : child->text;
    }
}

void anchor_file_names(loader *l, const char *out) {
    /* the folder of the output */
    const char *slash = strrchr(out, '/');
    char *folder = pool_alloc(l->work, strlen(out) + 2, 1);
    if (!folder) {
        l->report.no_memory = true;
        return;
    }
    strcpy(folder, out);
    folder[slash ? (size_t)(slash - out) + 1 : 0] = 0;
    char *real = realpath(slash ? folder : ".", NULL);
    if (real) {
        anchor_names(l, l->main->root, real);
        l->scene->folder = pool_text(l->kept, real);
        l->report.no_memory |= !l->scene->folder;
    }
    free(real);
}
