/* Paths of the files that a model names. */
#include "scene/mjcf/parts/parts.h"

#include <stdio.h>
#include <string.h>

const char *mjcf_last_part(const char *path) {
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    slash = back && (!slash || back > slash) ? back : slash;
    return slash ? slash + 1 : path;
}

const char *mjcf_path_in(mjcf_work *w, const mjcf_file *f, const xml_element *asset, const char *folder) {
    const char *file = xml_text(asset, "file");
    file = f->compiler.strip_path ? mjcf_last_part(file) : file;
    folder = file[0] == '/' ? "" : folder;
    size_t size = strlen(folder) + strlen(file) + 1;
    char *name = pool_alloc(w->pool, size, 1);
    if (!name) {
        w->report->no_memory = true;
        return NULL;
    }
    snprintf(name, size, "%s%s", folder, file);
    const char *path = mjcf_path_beside(w->pool, f->path, name);
    w->report->no_memory |= !path;
    return path;
}
