/* Cache of sampled distance fields in files; the header describes the format.
 *
 * A file is named after SHA-256 of what determines the samples: format, cell, corners of the mesh, and the build, since
 * another one may round otherwise.  A file is used only if its header, with the SHA-256 of the samples, is the expected
 * one.  Cost: a pass over the samples, against a distance query a sample. */
#include "geometry/field/grid_file.h"

#include "base/file.h"
#include "base/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[8] = {'S', 'I', 'M', 'G', 'R', 'I', 'D', '1'};
enum { PATH_ROOM = 4096, PUBLIC_MODE = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH };

typedef struct header {
    char magic[8];
    uint64_t one;
    char key[64];
    int64_t size[3];
    double origin[3], cell;
    char content[64];
} header;
_Static_assert(sizeof(header) == 200, "the format has no gaps");

void grid_file_key(field_grid *grid, const sim_mesh *mesh) {
    const int count[2] = {mesh->nvertex, mesh->ntriangle};
    sha256_state hash;
    sha256_start(&hash);
    sha256_add(&hash, MAGIC, sizeof MAGIC);
    sha256_add(&hash, &grid->cell, sizeof grid->cell);
    sha256_add(&hash, count, sizeof count);
    sha256_add(&hash, mesh->vertex, (size_t)mesh->nvertex * sizeof *mesh->vertex);
    sha256_add(&hash, mesh->triangle, (size_t)mesh->ntriangle * sizeof *mesh->triangle);
    sha256_finish(&hash, grid->key);
}

static size_t sample_count(const field_grid *grid) {
    return (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
}

static header header_of(const field_grid *grid, const float *sample) {
    header h = {.one = 1, .origin = {grid->origin.x, grid->origin.y, grid->origin.z}, .cell = grid->cell};
    char content[65];
    sha256_state hash;
    sha256_start(&hash);
    sha256_add(&hash, sample, sample_count(grid) * sizeof *sample);
    sha256_finish(&hash, content);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(h.key, grid->key, sizeof h.key);
    memcpy(h.content, content, sizeof h.content);
    for (int k = 0; k < 3; k++) {
        h.size[k] = grid->size[k];
    }
    return h;
}

/* Another build may round otherwise. */
static void name_build(char build[65]) {
    sha256_state hash;
    sha256_start(&hash);
    sha256_add(&hash, sim_version(), strlen(sim_version()));
    sha256_add(&hash, sim_build_info(), strlen(sim_build_info()));
    sha256_finish(&hash, build);
}

bool grid_file_name(char *path, size_t size, const char *folder, const field_grid *grid, const char *end) {
    char build[65];
    name_build(build);
    int length = snprintf(path, size, "%s/%s-%.8s%s", folder, grid->key, build, end);
    return length > 0 && length < (int)size;
}

bool grid_file_read(const char *folder, const field_grid *grid, float *sample) {
    /* file of the right size */
    char path[PATH_ROOM];
    header found;
    size_t count = sample_count(grid);
    int file;
    int64_t size;
    if (!grid_file_name(path, sizeof path, folder, grid, ".grid") || file_open(path, &file, &size, NULL)) {
        return false;
    }
    /* header and samples */
    FILE *stream = (size_t)size == sizeof found + count * sizeof *sample ? fdopen(file, "rb") : NULL;
    int good =
        stream && fread(&found, sizeof found, 1, stream) == 1 && fread(sample, sizeof *sample, count, stream) == count;
    if (stream) {
        fclose(stream);
    } else {
        close(file);
    }
    if (!good) {
        return false;
    }
    /* the content belongs to this grid, unharmed */
    header expected = header_of(grid, sample);
    if (memcmp(&found, &expected, sizeof found) != 0) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(sample[k])) {
            return false;
        }
    }
    return true;
}

/* The folder and those above it; whether that went well shows when a file is to be made there. */
static void make_folder(const char *folder) {
    char path[PATH_ROOM];
    int length = snprintf(path, sizeof path, "%s", folder);
    for (int k = 1; length < PATH_ROOM && k <= length; k++) {
        if (path[k] == '/' || path[k] == 0) {
            char end = path[k];
            path[k] = 0;
            (void)!mkdir(path, S_IRWXU);
            path[k] = end;
        }
    }
}

void grid_file_write(const char *folder, const field_grid *grid) {
    /* fresh file beside the old one */
    char path[PATH_ROOM];
    file_fresh fresh;
    if (!grid_file_name(path, sizeof path, folder, grid, ".grid")) {
        return;
    }
    make_folder(folder);
    if (file_fresh_open(&fresh, path)) {
        return;
    }
    /* header and samples; the new file takes the place of the old one when complete */
    header h = header_of(grid, grid->sample);
    size_t count = sample_count(grid);
    FILE *file = fdopen(fresh.file, "wb");
    if (file && fwrite(&h, sizeof h, 1, file) == 1 &&
        fwrite(grid->sample, sizeof *grid->sample, count, file) == count && fflush(file) == 0 &&
        fchmod(fresh.file, PUBLIC_MODE) == 0) {
        (void)file_fresh_commit(&fresh);
    }
    if (file) {
        fclose(file);
        fresh.file = -1;
    }
    file_fresh_close(&fresh);
}
