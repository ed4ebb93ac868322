/* Files beside a model: their paths, heights of ground, mean colours of textures.
 *
 *     PNG       height: the grey of a pixel, of colours their red; the last row of the picture is the first along y
 *     others    rows, columns as integers of 32 bits, then the heights as floats, the first row first along y (little
 *               end first)
 *
 * Reference: MuJoCo, XML reference, asset/hfield and asset/texture. */
#include "base/words.h"
#include "geometry/import/picture.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEIGHTS = 1 << 22 };

/* ---- heights ---- */

static void refuse_heights(mjcf_work *w, const xml_element *at, const char *why) {
    xml_error(w->report, at, "file", NULL, "\"%.200s\": %s", xml_text(at, "file"), why);
    mjcf_refuse(w);
}

/* Room for the heights; false: too few or too many (reported). */
static bool size_heights(mjcf_work *w, const xml_element *at, mjcf_heights *h, int64_t rows, int64_t columns) {
    if (rows < 2 || columns < 2 || rows > MAX_HEIGHTS || columns > MAX_HEIGHTS || rows * columns > MAX_HEIGHTS) {
        xml_error(w->report, at, "file", NULL, "a file of %lld by %lld heights: at least 2 by 2, and at most %d",
                  (long long)rows, (long long)columns, MAX_HEIGHTS);
        mjcf_refuse(w);
        return false;
    }
    h->rows = (int)rows;
    h->columns = (int)columns;
    h->height = POOL_NEW(w->pool, double, rows *columns);
    w->report->no_memory |= !h->height;
    return h->height;
}

static bool take_picture(mjcf_work *w, const xml_element *at, const char *bytes, size_t size, mjcf_heights *h) {
    picture p;
    sim_error why = {0};
    if (picture_read_png(xml_text(at, "file"), bytes, size, MAX_HEIGHTS, &p, &why)) {
        xml_error(w->report, at, "file", NULL, "%s", why.text);
        mjcf_refuse(w);
        return false;
    }
    bool good = size_heights(w, at, h, p.height, p.width);
    for (int y = 0; good && y < p.height; y++) {
        const uint16_t *row = p.sample + 3 * (size_t)(p.height - 1 - y) * (size_t)p.width;
        for (int x = 0; x < p.width; x++) {
            h->height[(size_t)y * (size_t)p.width + (size_t)x] = row[3 * x];
        }
    }
    free(p.sample);
    return good;
}

static uint32_t whole_at(const char *at) {
    const unsigned char *p = (const unsigned char *)at;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool take_floats(mjcf_work *w, const xml_element *at, const char *bytes, size_t size, mjcf_heights *h) {
    /* two numbers tell how long the file is */
    enum { HEAD_BYTES = 8 };
    uint32_t rows = size >= HEAD_BYTES ? whole_at(bytes) : 0, columns = size >= HEAD_BYTES ? whole_at(bytes + 4) : 0;
    if (size < HEAD_BYTES || HEAD_BYTES + 4 * (uint64_t)rows * columns != size) {
        refuse_heights(w, at, "neither a PNG file, nor as many floats as its first two numbers say");
        return false;
    }
    if (!size_heights(w, at, h, rows, columns)) {
        return false;
    }
    /* heights */
    for (size_t k = 0; k < (size_t)rows * columns; k++) {
        uint32_t bits = whole_at(bytes + HEAD_BYTES + 4 * k);
        float x;
        memcpy(&x, &bits, sizeof x);
        h->height[k] = x;
        if (!isfinite(x)) {
            refuse_heights(w, at, "a height is not finite");
            return false;
        }
    }
    return true;
}

static bool read_height_file(mjcf_work *w, const mjcf_file *f, const xml_element *at, mjcf_heights *h) {
    if (xml_text(at, "nrow") || xml_text(at, "ncol") || xml_text(at, "elevation")) {
        xml_error(w->report, at, "file", NULL, "the file says rows, columns and heights; leave these out");
        mjcf_refuse(w);
        return false;
    }
    /* bytes */
    const char *path = mjcf_path_in(w, f, at, f->compiler.mesh_folder);
    char *bytes = NULL;
    size_t size = 0;
    sim_error why = {0};
    if (!path || !w->files.bytes(w->files.context, path, &bytes, &size, &why)) {
        w->report->no_memory |= !path;
        refuse_heights(w, at, why.text);
        return false;
    }
    bool good =
        ends_in_any_case(path, ".png") ? take_picture(w, at, bytes, size, h) : take_floats(w, at, bytes, size, h);
    free(bytes);
    return good;
}

/* The first row of the text is the farthest along y. */
static bool read_elevation(mjcf_work *w, const xml_element *at, mjcf_heights *h) {
    double rows = 0, columns = 0;
    xml_numbers(at, "nrow", 1, &rows);
    xml_numbers(at, "ncol", 1, &columns);
    const char *given = xml_text(at, "elevation");
    int count = given ? xml_count_numbers(given) : 0;
    bool whole =
        rows == floor(rows) && columns == floor(columns) && rows >= 2 && columns >= 2 && rows * columns <= MAX_HEIGHTS;
    if (!whole || (count && count != rows * columns)) {
        xml_error(w->report, at, given ? "elevation" : "nrow", NULL,
                  "expected nrow times ncol heights, at least 2 by 2 and at most %d, not %d for %g by %g", MAX_HEIGHTS,
                  count, rows, columns);
        mjcf_refuse(w);
        return false;
    }
    h->rows = (int)rows;
    h->columns = (int)columns;
    h->height = POOL_NEW(w->pool, double, rows *columns);
    double *said = POOL_NEW(w->pool, double, rows *columns);
    if (!h->height || !said) {
        w->report->no_memory = true;
        return false;
    }
    xml_numbers(at, "elevation", count, said);
    for (int row = 0; row < h->rows; row++) {
        memcpy(h->height + (size_t)row * (size_t)h->columns, said + (size_t)(h->rows - 1 - row) * (size_t)h->columns,
               (size_t)h->columns * sizeof *said);
    }
    return true;
}

bool mjcf_read_heights(mjcf_work *w, const mjcf_file *f, const xml_element *at, mjcf_heights *h) {
    bool good = xml_text(at, "file") ? read_height_file(w, f, at, h) : read_elevation(w, at, h);
    if (!good) {
        return false;
    }
    /* from 0 to 1 */
    int count = h->rows * h->columns;
    double low = h->height[0], high = low;
    for (int k = 1; k < count; k++) {
        low = fmin(low, h->height[k]);
        high = fmax(high, h->height[k]);
    }
    for (int k = 0; k < count; k++) {
        h->height[k] = high > low ? (h->height[k] - low) / (high - low) : 0;
    }
    return true;
}

/* ---- textures ---- */

static bool read_mean(mjcf_work *w, const mjcf_file *f, const xml_element *at, double mean[3]) {
    const char *path = mjcf_path_in(w, f, at, f->compiler.texture_folder);
    char *bytes = NULL;
    size_t size = 0;
    sim_error why = {0};
    picture p;
    bool good = path && ends_in_any_case(path, ".png") && w->files.bytes(w->files.context, path, &bytes, &size, &why) &&
                picture_read_png(path, bytes, size, 0, &p, &why) == SIM_OK;
    w->report->no_memory |= !path;
    free(bytes);
    if (good) {
        memcpy(mean, p.mean, sizeof p.mean);
    }
    return good;
}

bool mjcf_texture_mean(mjcf_work *w, mjcf_file *f, int asset, double mean[3]) {
    mjcf_texture *t = &f->texture[asset];
    if (!t->known) {
        t->known = true;
        t->found = read_mean(w, f, f->asset[asset], t->mean);
        if (!t->found) {
            w->unpainted = w->unpainted ? w->unpainted : f->asset[asset];
            w->nunpainted++;
        }
    }
    memcpy(mean, t->mean, sizeof t->mean);
    return t->found;
}

/* ---- paths of the files that a model names ---- */

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
