/* Files of SDFormat: those that <include> names, and meshes.
 *
 *     model://NAME, folder     model.config in that folder names the file; without it model.sdf
 *     a bare word              the same folder beside the file, else that of model://WORD
 *     anything else            the file itself; a mesh of an absolute path that is absent: from the folder of the file on
 *
 * Folders of models are those of packages (urdf/packages.c).  A file is parsed once, however often it is included. */
#include "scene/sdf/sdf.h"

#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_URI_BYTES = 2000 };

/* ---- paths ---- */

static const char *join_paths(memory_pool *pool, const char *file, const char *name) {
    const char *slash = strrchr(file, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0;
    char *joined = pool_alloc(pool, folder + strlen(name) + 1, 1);
    if (joined) {
        memcpy(joined, file, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

/* A file that another one names, as a path; NULL: not found. */
static const char *find_file(sdf_work *w, const char *from, const xml_element *at, const char *uri, bool guess,
                             const char **tried) {
    w->packages.path = from;
    w->packages.certain = !guess;
    const char *found = urdf_find_file(&w->packages, at, "uri", uri, tried);
    return found ? join_paths(w->pool, from, found) : NULL;
}

const char *sdf_find_mesh(sdf_work *w, const sdf_file *from, const xml_element *at, const char **tried) {
    const char *uri = xml_text(at, "uri"), *found = find_file(w, from->path, at, uri, true, tried), *first = *tried;
    if (!found && uri[0] == '/') {
        found = find_file(w, from->path, at, uri + 1, true, tried);
        *tried = first;
    }
    w->packages.path = w->path;
    return found ? urdf_seen_from_file(&w->packages, found) : NULL;
}

/* ---- parsed files ---- */

/* 107 of "1.7"; 1.10 is above 1.9. */
static long version_number(const char *version) {
    enum { MAX_VERSION_PART = 1000 };
    const char *point = strchr(version, '.');
    long whole = strtol(version, NULL, 10), part = point ? strtol(point + 1, NULL, 10) : 0;
    bool known = whole >= 0 && whole < MAX_VERSION_PART && part >= 0 && part < 100;
    return known ? 100 * whole + part : 0;
}

sdf_file *sdf_add_file(sdf_work *w, const char *path, xml_element *root) {
    /* in the list */
    sdf_file *f = POOL_NEW(w->pool, sdf_file, 1);
    if (!f || !names_add(&w->known, path, w->nfile)) {
        w->report->no_memory = true;
        return NULL;
    }
    w->file[w->nfile++] = f;
    *f = (sdf_file){.path = path, .root = root};
    /* by the tables */
    if (strcmp(root->name, "sdf") != 0) {
        xml_error(w->report, root, NULL, "a scene takes files of all kinds as instances",
                  "expected <sdf> as the outermost element, not <%.60s>", root->name);
        return NULL;
    }
    if (!xml_fold(w->report, w->pool, root, &sdf_table_file)) {
        return NULL;
    }
    w->wrong |= !xml_check(w->report, w->pool, root, &sdf_table_file, &w->allowed);
    if (root->unusable) {
        return NULL;
    }
    const char *version = xml_text(root, "version");
    f->version = version_number(version);
    if (f->version < 104) {
        xml_error(w->report, root, "version", "gz sdf -p writes it anew", "version %.20s is not read", version);
        return NULL;
    }
    return f;
}

static bool file_exists(sdf_work *w, const char *path) { return path && w->files.exists(w->files.context, path); }

/* The file that model.config gives: that of the newest version. */
static const char *read_config(sdf_work *w, const xml_element *at, const char *path) {
    const source *from = w->files.read(w->files.context, at, path);
    const xml_element *root = from ? xml_parse(from, w->pool, w->report) : NULL, *best = NULL;
    long newest = -1;
    for (const xml_element *e = xml_child(root, "sdf"); e; e = xml_next(e)) {
        const char *version = xml_text(e, "version");
        long number = version ? version_number(version) : 0;
        if (e->content && number > newest) {
            best = e;
            newest = number;
        }
    }
    if (root && !best) {
        xml_error(w->report, root, NULL, NULL, "no <sdf> names a file");
    }
    const char *named = best ? join_paths(w->pool, path, best->content) : NULL;
    if (best && !file_exists(w, named)) {
        w->report->no_resource = true;
        xml_error(w->report, best, NULL, NULL, "there is no file \"%.200s\"", best->content);
        return NULL;
    }
    return named;
}

/* The file of a model, or, where `*config` becomes true, its model.config; NULL: none. */
static const char *find_model_file(sdf_work *w, const sdf_file *from, const xml_element *at, const char *uri,
                                   bool *config) {
    char longer[MAX_URI_BYTES + 40];
    const char *tried;
    if (ends_in_any_case(uri, ".sdf") || ends_in_any_case(uri, ".world") || ends_in_any_case(uri, ".xml")) {
        return find_file(w, from->path, at, uri, false, &tried);
    }
    snprintf(longer, sizeof longer, "%s/model.config", uri);
    const char *found = find_file(w, from->path, at, longer, false, &tried);
    *config = found != NULL;
    if (!found) {
        snprintf(longer, sizeof longer, "%s/model.sdf", uri);
        found = find_file(w, from->path, at, longer, false, &tried);
    }
    return found;
}

static const char *find_model(sdf_work *w, const sdf_file *from, const xml_element *at) {
    const char *uri = xml_text(at, "uri");
    char longer[MAX_URI_BYTES + 20];
    if (strlen(uri) >= MAX_URI_BYTES) {
        xml_error(w->report, at, "uri", NULL, "the name has more than %d bytes", MAX_URI_BYTES);
        return NULL;
    }
    if (strncmp(uri, "http://", 7) == 0 || strncmp(uri, "https://", 8) == 0) {
        xml_error(w->report, at, "uri", "fetch it, and name the folder by --package NAME=DIR and model://NAME",
                  "\"%.200s\" is not on this computer", uri);
        return NULL;
    }
    /* as it is; a bare word is also the name of a model */
    bool bare = !strchr(uri, ':') && uri[0] != '/' && uri[0] != '.', config = false;
    const char *found = find_model_file(w, from, at, uri, &config);
    if (!found && bare && !config) {
        snprintf(longer, sizeof longer, "model://%s", uri);
        found = find_model_file(w, from, at, longer, &config);
    }
    if (config) {
        return found ? read_config(w, at, found) : NULL;
    }
    if (!found) {
        w->report->no_resource = true;
        xml_error(w->report, at, "uri", "--package NAME=DIR says where a model is", "there is no model \"%.200s\"",
                  uri);
    }
    return found;
}

const sdf_file *sdf_include(sdf_work *w, const sdf_file *from, const xml_element *at) {
    const char *path = find_model(w, from, at);
    int known = path ? names_find(&w->known, path) : -1;
    if (known >= 0) {
        return w->file[known]->version > 0 ? w->file[known] : NULL;
    }
    if (path && w->nfile == SDF_MAX_FILES) {
        xml_error(w->report, at, "uri", NULL, "more than %d files", SDF_MAX_FILES);
        return NULL;
    }
    const source *content = path ? w->files.read(w->files.context, at, path) : NULL;
    xml_element *root = content ? xml_parse(content, w->pool, w->report) : NULL;
    return root ? sdf_add_file(w, path, root) : NULL;
}
