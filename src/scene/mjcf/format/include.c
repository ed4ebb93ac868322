/* <include file="..."/>: the elements of the root of another file take its place, at any depth.
 *
 * Each file is included at most once, as in MuJoCo, so that no file includes itself.  Names of files are relative to the
 * model, or else to the file that includes. */
#include "scene/mjcf/format/format.h"

#include <stdio.h>
#include <string.h>

typedef struct includes {
    report *report;
    memory_pool *pool;
    const mjcf_files *files;
    const char *path;
    name_table seen;
    bool good;
} includes;

const char *mjcf_path_beside(memory_pool *pool, const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    while (strncmp(name, "./", 2) == 0) {
        name += 2;
    }
    char *joined = pool_alloc(pool, folder + strlen(name) + 1, 1);
    if (joined) {
        memcpy(joined, path, folder);
        strcpy(joined + folder, name);
    }
    return joined;
}

static void refuse_include(includes *i) { i->good = false; }

/* The file, parsed; NULL: reported. */
static xml_element *load_file(includes *i, const xml_element *at) {
    const char *name = xml_text(at, "file");
    if (!name) {
        xml_error(i->report, at, NULL, NULL, "the attribute \"file\" is missing");
        return NULL;
    }
    const char *path = mjcf_path_beside(i->pool, i->path, name);
    const char *nearby = mjcf_path_beside(i->pool, at->source->name, name);
    if (!path || !nearby) {
        i->report->no_memory = true;
        return NULL;
    }
    path = i->files->exists(i->files->context, path) ? path : nearby;
    if (names_find(&i->seen, path) >= 0) {
        xml_error(i->report, at, "file", NULL, "\"%.200s\" is included a second time", path);
        return NULL;
    }
    if (!names_add(&i->seen, path, 0)) {
        i->report->no_memory = true;
        return NULL;
    }
    const source *from = i->files->read(i->files->context, at, path);
    return from ? xml_parse(from, i->pool, i->report) : NULL;
}

/* Puts the children of `root` between the link to `at` and what follows it. */
static void splice_children(xml_element **link, xml_element *at, xml_element *root) {
    xml_element *rest = at->next;
    *link = root->first;
    while (*link) {
        (*link)->parent = at->parent;
        link = &(*link)->next;
    }
    *link = rest;
}

static void include_in(includes *i, xml_element *e, int depth) {
    if (depth > XML_MAX_DEPTH) {
        xml_error(i->report, e, NULL, NULL, "elements nested more than %d deep", XML_MAX_DEPTH);
        refuse_include(i);
        return;
    }
    xml_element **link = &e->first;
    while (*link && i->good) {
        xml_element *child = *link;
        if (strcmp(child->name, "include") != 0) {
            include_in(i, child, depth + 1);
            link = &child->next;
            continue;
        }
        if (child->first) {
            xml_error(i->report, child, NULL, NULL, "<include> holds elements");
            refuse_include(i);
        }
        xml_element *root = i->good ? load_file(i, child) : NULL;
        if (!root) {
            refuse_include(i);
            return;
        }
        splice_children(link, child, root); /* what came in is walked next */
    }
}

bool mjcf_include(report *r, memory_pool *pool, const mjcf_files *files, const char *path, xml_element *root) {
    includes i = {.report = r, .pool = pool, .files = files, .path = path, .good = true};
    if (!names_add(&i.seen, path, 0)) {
        r->no_memory = true;
        return false;
    }
    include_in(&i, root, 1);
    names_free(&i.seen);
    return i.good;
}
