/* Assets by name, their files, and the colours of geoms. */
#include "base/nearest.h"
#include "base/words.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"mesh", "hfield", "material", "texture"};

/* ---- names ---- */

/* "mesh:NAME"; without a name that of the file, without its ending. */
static char *asset_key(memory_pool *pool, const char *kind, const char *name, const char *file) {
    const char *dot = NULL;
    if (!name) {
        name = mjcf_last_part(file);
        dot = strrchr(name, '.');
    }
    int length = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    size_t size = strlen(kind) + (size_t)length + 2;
    char *key = pool_alloc(pool, size, 1);
    if (key) {
        snprintf(key, size, "%s:%.*s", kind, length, name);
    }
    return key;
}

static bool add_asset(mjcf_work *w, mjcf_file *f, const xml_element *e) {
    /* name */
    const char *name = xml_text(e, "name"), *file = xml_text(e, "file");
    if (!name && !file) {
        return true;
    }
    char *key = asset_key(w->pool, e->name, name, file);
    if (!key) {
        w->report->no_memory = true;
        return false;
    }
    /* into the list */
    if (names_find(&f->assets, key) >= 0) {
        xml_error(w->report, e, name ? "name" : "file", NULL, "a second %s called \"%.80s\"", e->name,
                  strchr(key, ':') + 1);
        return false;
    }
    f->asset[f->nasset] = e;
    if (!names_add(&f->assets, key, f->nasset++)) {
        w->report->no_memory = true;
        return false;
    }
    return true;
}

bool mjcf_list_assets(mjcf_work *w, mjcf_file *f) {
    /* room */
    int count = 0;
    for (const xml_element *group = xml_child(f->root, "asset"); group; group = xml_next(group)) {
        for (const xml_element *e = group->first; e; e = e->next) {
            count++;
        }
    }
    f->asset = POOL_NEW(w->pool, const xml_element *, count);
    f->mesh = POOL_NEW(w->pool, struct mjcf_mesh *, count);
    f->texture = POOL_NEW(w->pool, mjcf_texture, count);
    bool good = f->asset && f->mesh && f->texture;
    w->report->no_memory |= !good;
    /* by kind */
    for (const xml_element *group = xml_child(f->root, "asset"); group; group = xml_next(group)) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            for (const xml_element *e = xml_child(group, kinds[k]); e && good; e = xml_next(e)) {
                good &= add_asset(w, f, e);
            }
        }
    }
    return good;
}

int mjcf_find_asset_index(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, const char *attribute,
                          const char *kind) {
    /* by name */
    const xml_element *holder = mjcf_holder(i, attribute);
    const mjcf_file *f = s->file;
    if (!holder) {
        return -1;
    }
    const char *wanted = xml_text(holder, attribute);
    char *key = asset_key(w->pool, kind, wanted, NULL);
    int found = key ? names_find(&f->assets, key) : -1;
    w->report->no_memory |= !key;
    if (found >= 0) {
        return found;
    }
    /* what is like it */
    nearest near = {.wanted = wanted};
    char hint[200];
    size_t start = strlen(kind) + 1;
    for (size_t k = 0; k < f->assets.room && !report_full(w->report); k++) {
        const char *name = f->assets.name[k];
        if (name && strlen(name) > start && strncmp(name, kind, start - 1) == 0) {
            nearest_try(&near, name + start);
        }
    }
    xml_error(w->report, holder, attribute, nearest_hint(&near, hint, sizeof hint), "there is no %s \"%.80s\"", kind,
              wanted);
    mjcf_refuse(w);
    return -1;
}

const xml_element *mjcf_find_asset(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, const char *attribute,
                                   const char *kind) {
    int found = mjcf_find_asset_index(w, s, i, attribute, kind);
    return found >= 0 ? s->file->asset[found] : NULL;
}

/* ---- files ---- */

const char *mjcf_asset_path(mjcf_work *w, const mjcf_file *f, const xml_element *asset, const char **why,
                            bool *absent) {
    const char *file = xml_text(asset, "file");
    if (!ends_in_any_case(file, ".obj") && !ends_in_any_case(file, ".stl") && !ends_in_any_case(file, ".msh")) {
        *why = "is neither an OBJ, STL nor MSH file";
        return NULL;
    }
    const char *path = mjcf_path_in(w, f, asset, f->compiler.mesh_folder);
    if (path && !w->files.exists(w->files.context, path)) {
        *why = "is not there";
        *absent = true;
        return NULL;
    }
    return path;
}

/* ---- colours ---- */

static void mean_color(mjcf_work *w, mjcf_file *f, int asset, double rgba[4]) {
    /* of a file */
    const xml_element *texture = f->asset[asset];
    double rgb1[3] = {0.8, 0.8, 0.8}, rgb2[3] = {0.5, 0.5, 0.5}, mean[3];
    const char *builtin = xml_text(texture, "builtin");
    if (xml_text(texture, "file") && mjcf_texture_mean(w, f, asset, mean)) {
        for (int k = 0; k < 3; k++) {
            rgba[k] *= mean[k];
        }
        return;
    }
    /* built in */
    xml_numbers(texture, "rgb1", 3, rgb1);
    xml_numbers(texture, "rgb2", 3, rgb2);
    if (!builtin || strcmp(builtin, "none") == 0) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        rgba[k] *= strcmp(builtin, "flat") == 0 ? rgb1[k] : (rgb1[k] + rgb2[k]) / 2;
    }
}

void mjcf_read_color(mjcf_work *w, mjcf_geom *g) {
    /* of the geom, else of its material */
    double rgba[4] = {0.5, 0.5, 0.5, 1};
    bool own = mjcf_numbers(&g->item, "rgba", 4, rgba) > 0;
    const xml_element *material = mjcf_find_asset(w, g->scope, &g->item, "material", "material");
    g->colored = own || material;
    if (material && !own) {
        mjcf_item item = mjcf_item_of(w, g->scope, material, "material", -1);
        rgba[0] = rgba[1] = rgba[2] = rgba[3] = 1;
        mjcf_numbers(&item, "rgba", 4, rgba);
        int texture = mjcf_find_asset_index(w, g->scope, &item, "texture", "texture");
        if (texture >= 0) {
            mean_color(w, g->scope->file, texture, rgba);
        }
    }
    for (int k = 0; k < 4; k++) { /* a product of colours, as one would write it */
        g->rgba[k] = round(1e4 * (rgba[k] < 0 ? 0 : rgba[k] > 1 ? 1 : rgba[k])) / 1e4;
    }
}
