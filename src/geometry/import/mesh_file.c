/* Reader of mesh files.
 *
 * OBJ, STL, MSH, COLLADA and glTF by readers of our own (mesh_*.c).  A general importer was tried first (assimp 5.2.5): it
 * keeps single precision only, takes NaN for a coordinate, and makes each corner a vertex of its own.  It names no
 * place in its errors, leaks on files cut off, and links 10 MB.
 *
 * The whole file is read, then parsed.  Memory is at most a small multiple of its size: counts in the file are compared
 * with its length before allocation.  The format is found by content; where that leaves it open, by the name's ending.
 * Each vertex is scaled; a scale that mirrors turns the triangles round, so that outside stays outside. */
#include "geometry/import/mesh_file.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- parts ---- */

/* Leaves out vertices that no triangle names. */
static sim_status drop_unused(const mesh_text *t, mesh_parts *parts) {
    /* mark the vertices in use */
    int *new_index = calloc(parts->nvertex + 1, sizeof(int));
    if (!new_index) {
        return mesh_report_no_memory(t);
    }
    for (size_t i = 0; i < parts->ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            new_index[parts->triangle[i][k]] = 1;
        }
    }
    /* number them */
    size_t kept = 0;
    for (size_t v = 0; v < parts->nvertex; v++) {
        if (new_index[v]) {
            parts->vertex[kept] = parts->vertex[v];
            new_index[v] = (int)kept++;
        }
    }
    /* renumber the corners */
    for (size_t i = 0; i < parts->ntriangle; i++) {
        for (int k = 0; k < 3; k++) {
            parts->triangle[i][k] = new_index[parts->triangle[i][k]];
        }
    }
    parts->nvertex = kept;
    free(new_index);
    return SIM_OK;
}

static sim_status scale_parts(const mesh_text *t, mesh_parts *parts, v3 scale) {
    for (size_t v = 0; v < parts->nvertex; v++) {
        v3 *p = &parts->vertex[v], old = *p;
        *p = (v3){scale.x * p->x, scale.y * p->y, scale.z * p->z};
        if (!v3_finite(*p)) {
            return sim_fail(t->error, SIM_BAD_INPUT,
                            "%.200s: the vertex at (%g, %g, %g) is not finite once it is scaled by (%g, %g, %g)",
                            t->name, old.x, old.y, old.z, scale.x, scale.y, scale.z);
        }
    }
    int mirrors = (scale.x < 0) ^ (scale.y < 0) ^ (scale.z < 0);
    for (size_t i = 0; i < parts->ntriangle && mirrors; i++) {
        int swap = parts->triangle[i][1];
        parts->triangle[i][1] = parts->triangle[i][2];
        parts->triangle[i][2] = swap;
    }
    return SIM_OK;
}

/* ---- formats ---- */

static bool name_ends(const char *name, const char *ending) {
    const char *dot = strrchr(name, '.');
    return dot && text_is_word(dot, ending);
}

/* The first word is one that OBJ files begin with. */
static bool begins_like_obj(const mesh_text *t) {
    static const char *const first[] = {"v", "vt", "vn", "f", "o", "g", "s", "mtllib", "usemtl"};
    const char *p = t->start;
    size_t size = (size_t)(t->end - t->start);
    if (memchr(t->start, 0, size < 1024 ? size : 1024)) {
        return false;
    }
    while (text_is_blank(*p) || *p == '\n' || *p == '\r' || *p == '#') {
        for (int comment = *p == '#'; comment && *p && *p != '\n' && *p != '\r';) {
            p++;
        }
        p += *p != 0;
    }
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (text_is_word(p, first[i])) {
            return true;
        }
    }
    return false;
}

static bool begins_with_solid(const mesh_text *t) {
    const char *p = t->start;
    while (text_is_blank(*p) || *p == '\n' || *p == '\r') {
        p++;
    }
    return text_is_word(p, "solid");
}

/* The first letter behind a byte order mark and blanks. */
static char first_letter(const mesh_text *t) {
    const char *p = t->start;
    p += strncmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (text_is_blank(*p) || *p == '\n' || *p == '\r') {
        p++;
    }
    return *p;
}

/* The reader by content; where that leaves it open, by the ending of the name. */
static sim_status parse_mesh(mesh_text *t, mesh_parts *parts) {
    size_t size = (size_t)(t->end - t->start);
    if (size == 0) {
        return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: the file is empty", t->name);
    }
    if (name_ends(t->name, ".msh")) {
        return mesh_read_msh(t, parts);
    }
    if (mesh_is_binary_stl(t->start, size) || begins_with_solid(t)) {
        return mesh_read_stl(t, parts);
    }
    if (memcmp(t->start, "glTF", size < 4 ? size : 4) == 0 || first_letter(t) == '{' || name_ends(t->name, ".gltf") ||
        name_ends(t->name, ".glb")) {
        return mesh_read_gltf(t, parts);
    }
    if (first_letter(t) == '<' || name_ends(t->name, ".dae")) {
        return mesh_read_collada(t, parts);
    }
    if (begins_like_obj(t) || name_ends(t->name, ".obj")) {
        return mesh_read_obj(t, parts);
    }
    if (name_ends(t->name, ".stl")) {
        return mesh_read_stl(t, parts);
    }
    return sim_fail(t->error, SIM_BAD_INPUT,
                    "%.200s: neither an OBJ, STL, MSH, COLLADA nor glTF file, by content or by name", t->name);
}

static sim_status parse_and_scale(mesh_text *t, mesh_parts *parts, v3 scale) {
    sim_status status = parse_mesh(t, parts);
    bool only_points = !status && parts->ntriangle == 0 && parts->nvertex > 0;
    if (!status && parts->ntriangle == 0 && !only_points) {
        status = sim_fail(t->error, SIM_BAD_INPUT, "%.200s: there are no triangles in the file", t->name);
    }
    status = status || only_points ? status : drop_unused(t, parts);
    return status ? status : scale_parts(t, parts, scale);
}

static sim_status parse_content(const char *name, const char *content, size_t size, v3 scale, bool beside,
                                sim_triangles *triangles, sim_error *error) {
    /* scale */
    mesh_text t = {name, content, content + size, content, error, beside};
    mesh_parts parts = {0};
    *triangles = (sim_triangles){0};
    if (!v3_finite(scale) || scale.x == 0 || scale.y == 0 || scale.z == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%.200s: each scale must be finite and not zero, not (%g, %g, %g)", name,
                        scale.x, scale.y, scale.z);
    }
    /* numbers have a point in every locale */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        return mesh_report_no_memory(&t);
    }
    locale_t callers = uselocale(plain);
    sim_status status = parse_and_scale(&t, &parts, scale);
    uselocale(callers);
    freelocale(plain);
    if (status) {
        free(parts.vertex);
        free(parts.triangle);
        return status;
    }
    /* hand over the triangles */
    *triangles = (sim_triangles){.nvertex = (int)parts.nvertex,
                                 .ntriangle = (int)parts.ntriangle,
                                 .vertex = parts.vertex,
                                 .triangle = parts.triangle,
                                 .ncrossed = parts.ncrossed};
    if (parts.ncrossed) {
        text_place(&t, parts.crossed, &triangles->crossed_line, &triangles->crossed_column);
    }
    return SIM_OK;
}

sim_status mesh_parse(const char *name, const char *content, size_t size, v3 scale, sim_triangles *triangles,
                      sim_error *error) {
    return parse_content(name, content, size, scale, false, triangles, error);
}

/* ---- files ---- */

static sim_status read_content(int file, const char *path, size_t size, char **content, sim_error *error) {
    /* memory */
    char *buffer = malloc(size + 1);
    size_t have = 0;
    if (!buffer) {
        return sim_fail(error, SIM_NO_RESOURCE, "%.200s: no memory for its %zu bytes", path, size);
    }
    /* read all of it */
    while (have < size) {
        ssize_t got = read(file, buffer + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            const char *why = got < 0 ? strerror(errno) : "it became shorter while it was read";
            free(buffer);
            return sim_fail(error, SIM_NO_RESOURCE, "%.200s: %s", path, why);
        }
        have += (size_t)got;
    }
    buffer[size] = 0;
    *content = buffer;
    return SIM_OK;
}

sim_status sim_triangles_read(const char *path, sim_v3 scale, sim_triangles *triangles, sim_error *error) {
    struct stat about;
    char *content = NULL;
    *triangles = (sim_triangles){0};
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* not to wait for the other end of a pipe */
    if (file < 0 || fstat(file, &about) != 0) {
        const char *why = strerror(errno);
        if (file >= 0) {
            close(file);
        }
        return sim_fail(error, SIM_NO_RESOURCE, "%.200s: %s", path, why);
    }
    sim_status status;
    if (!S_ISREG(about.st_mode)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%.200s: %s", path,
                          S_ISDIR(about.st_mode) ? "a folder, not a file" : "not an ordinary file");
    } else {
        status = read_content(file, path, (size_t)about.st_size, &content, error);
    }
    close(file);
    if (!status) {
        status = parse_content(path, content, (size_t)about.st_size, scale, true, triangles, error);
    }
    free(content);
    return status;
}
