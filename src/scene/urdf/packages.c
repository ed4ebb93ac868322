/* Names of mesh files in URDF to paths.
 *
 *     package://NAME/rest   1. DIR/rest of --package NAME=DIR
 *                           2. for each folder D from that of the URDF file upwards: D/rest where D is called NAME,
 *                              else D/NAME/rest
 *                           3. for each folder D of ROS_PACKAGE_PATH: D/rest where D is called NAME, else D/NAME/rest
 *                           4. D/rest for the folders D of 2, as a package may lie in a folder of another name; then
 *                              with the first folders of rest left out, one by one
 *     model://NAME/rest     the same; in 3. also the folders of GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH and SDF_PATH
 *     file://path           path
 *     anything else         relative to the folder of the URDF file
 *
 * The first that exists is taken. */
#include "scene/urdf/urdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH_BYTES = 4000, MAX_FOLDERS_UP = 40 };

typedef struct search {
    urdf_work *w;
    const char *package, *rest; /* package: with `size` letters */
    size_t size;
    char found[MAX_PATH_BYTES];
} search;

static bool exists_in(search *s, const char *folder, size_t length, bool named) {
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    int size = named ? snprintf(s->found, sizeof s->found, "%.*s%s%.*s/%s", (int)length, folder, slash, (int)s->size,
                                s->package, s->rest)
                     : snprintf(s->found, sizeof s->found, "%.*s%s%s", (int)length, folder, slash, s->rest);
    return size < MAX_PATH_BYTES && s->w->files.exists(s->w->files.context, s->found);
}

/* The last word of a folder is the name of the package. */
static bool is_package(const search *s, const char *folder, size_t length) {
    return length >= s->size && memcmp(folder + length - s->size, s->package, s->size) == 0 &&
           (length == s->size || folder[length - s->size - 1] == '/');
}

static bool is_in_folder(search *s, const char *folder, size_t length) {
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    return is_package(s, folder, length) ? exists_in(s, folder, length, false) : exists_in(s, folder, length, true);
}

static bool find_in_options(search *s) {
    for (int k = 0; k < s->w->options.npackage; k++) {
        const char *given = s->w->options.package[k], *equals = strchr(given, '=');
        if (equals && (size_t)(equals - given) == s->size && memcmp(given, s->package, s->size) == 0) {
            return exists_in(s, equals + 1, strlen(equals + 1), false);
        }
    }
    return false;
}

/* Length of the folder of a path, without its last slash; 0: the current folder. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
}

/* The folder `levels` above one, by its letters; 0: they do not tell. */
static size_t strip_folders(const char *folder, size_t length, int levels) {
    for (; levels >= 0 && length > 0; levels--) {
        size_t start = length;
        while (start > 0 && folder[start - 1] != '/') {
            start--;
        }
        bool plain = length > start && folder[start] != '.';
        if (!plain || levels == 0) {
            return plain ? length : 0;
        }
        length = start > 0 ? start - 1 : 0;
    }
    return 0;
}

/* Is the folder called like the package?  `up` is the folder `levels` above that of the file. */
static bool is_named(const search *s, const char *up, int levels) {
    const char *path = s->w->path;
    size_t length = strip_folders(path, folder_length(path), levels);
    if (length) {
        return is_package(s, path, length);
    }
    char *real = realpath(up, NULL);
    bool named = real && is_package(s, real, strlen(real));
    free(real);
    return named;
}

/* Folders from that of the file upwards: FOLDER, FOLDER/.., FOLDER/../.. and so on. */
static bool find_above(search *s, bool as_root) {
    char up[MAX_PATH_BYTES];
    size_t length = folder_length(s->w->path);
    if (length + 3 * MAX_FOLDERS_UP + 2 > sizeof up) {
        return false;
    }
    int most = MAX_FOLDERS_UP;
    if (s->w->path[0] == '/') { /* not above the root of all */
        most = 0;
        for (size_t k = 0; k < length; k++) {
            most += s->w->path[k] == '/';
        }
    }
    length = (size_t)snprintf(up, sizeof up, "%.*s", length ? (int)length : 1, length ? s->w->path : ".");
    for (int levels = 0; levels <= most; levels++) {
        if (exists_in(s, up, length, !(as_root || is_named(s, up, levels)))) {
            return true;
        }
        length += (size_t)snprintf(up + length, sizeof up - length, "/..");
    }
    return false;
}

static bool find_on_path(search *s, bool model) {
    static const char *const variable[] = {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"};
    for (int k = 0; k < (model ? 4 : 1); k++) {
        const char *list = getenv(variable[k]);
        while (list && *list) {
            size_t length = strcspn(list, ":");
            if (length && is_in_folder(s, list, length)) {
                return true;
            }
            list += length + (list[length] == ':');
        }
    }
    return false;
}

const char *urdf_seen_from_file(urdf_work *w, const char *found) {
    size_t folder = folder_length(w->path);
    if (folder && strncmp(found, w->path, folder) == 0 && found[folder] == '/') {
        return pool_text(w->pool, found + folder + 1);
    }
    if (!folder && strncmp(found, "./", 2) == 0) {
        return pool_text(w->pool, found + 2);
    }
    /* from an option or the environment: those are relative to the current folder */
    char *real = found[0] == '/' ? NULL : realpath(found, NULL);
    const char *kept = pool_text(w->pool, real ? real : found);
    free(real);
    return kept;
}

static const char *strip_scheme(const char *name, bool *packaged) {
    static const char *const scheme[] = {"package://", "model://"};
    for (int k = 0; k < 2; k++) {
        if (strncmp(name, scheme[k], strlen(scheme[k])) == 0) {
            *packaged = true;
            return name + strlen(scheme[k]);
        }
    }
    return strncmp(name, "file://", 7) == 0 ? name + 7 : name;
}

static const char *find_plain(urdf_work *w, const char *name) {
    char path[MAX_PATH_BYTES];
    const char *slash = strrchr(w->path, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - w->path) + 1 : 0;
    int size = snprintf(path, sizeof path, "%.*s%s", folder, w->path, name);
    return size < MAX_PATH_BYTES && w->files.exists(w->files.context, path) ? pool_text(w->pool, name) : NULL;
}

const char *urdf_find_file(urdf_work *w, const xml_element *at, const char *attribute, const char *name,
                           const char **tried) {
    bool packaged = false;
    const char *rest = strip_scheme(name, &packaged);
    *tried = rest;
    if (!packaged) {
        return find_plain(w, rest);
    }
    /* package and the path in it */
    const char *slash = strchr(rest, '/');
    if (!slash || slash == rest) {
        return NULL;
    }
    search s = {.w = w, .package = rest, .size = (size_t)(slash - rest), .rest = slash + 1};
    if (find_in_options(&s) || find_above(&s, false) || find_on_path(&s, strncmp(name, "model://", 8) == 0)) {
        return urdf_seen_from_file(w, s.found);
    }
    bool guessed = !w->certain && find_above(&s, true);
    for (const char *next = strchr(s.rest, '/'); !guessed && !w->certain && next; next = strchr(next + 1, '/')) {
        s.rest = next + 1;
        guessed = find_above(&s, true);
    }
    if (guessed) {
        if (!w->guessed) {
            xml_notice(w->report, at, attribute, "--package NAME=DIR says where a package is",
                       "no folder is called \"%.*s\": %s is taken", (int)s.size, s.package, s.found);
        }
        w->guessed = true;
        return urdf_seen_from_file(w, s.found);
    }
    return NULL;
}

bool urdf_can_read(const urdf_work *w, const xml_element *mesh, const char *file, sim_error *why) {
    double scale[3] = {1, 1, 1};
    xml_vector(mesh, "scale", scale);
    return w->files.readable(w->files.meshes, file, (sim_v3){scale[0], scale[1], scale[2]}, why);
}
