/* Reader of files of tetrahedra: Gmsh (.msh) and TetGen (.node beside .ele).
 *
 * Numbers of nodes may have gaps and any order: they are sorted once.  Nodes that no tetrahedron names are left out.
 * Cost: n log n in the nodes. */
#include "geometry/import/tets/tets_file.h"

#include "base/file.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MAX_FILE_BYTES = INT64_C(4) << 30;

/* ---- lists ---- */

static int compare_numbers(const void *a, const void *b) {
    int64_t x = ((const numbered_node *)a)->number, y = ((const numbered_node *)b)->number;
    return (x > y) - (x < y);
}

/* Places of the corners of all tetrahedra among the sorted nodes. */
static sim_status find_corners(const mesh_text *t, const tet_parts *parts, int (*tet)[4]) {
    for (size_t k = 0; k < parts->ntet; k++) {
        for (int i = 0; i < 4; i++) {
            numbered_node wanted = {.number = parts->tet[k].node[i]};
            const numbered_node *found = bsearch(&wanted, parts->node, parts->nnode, sizeof wanted, compare_numbers);
            if (!found) {
                return text_wrong(t, parts->tet[k].at, "a tetrahedron of node %lld, which the file does not have",
                                  (long long)wanted.number);
            }
            tet[k][i] = (int)(found - parts->node);
        }
    }
    return SIM_OK;
}

/* Nodes in use, scaled, in the order of their numbers. */
static sim_status keep_used(const mesh_text *t, const tet_parts *parts, v3 scale, int *place, tet_list *out) {
    for (int k = 0; k < 4 * out->ntet; k++) {
        place[out->tet[k / 4][k % 4]] = 1;
    }
    for (size_t n = 0; n < parts->nnode; n++) {
        if (place[n]) {
            v3 p = parts->node[n].at;
            p = (v3){scale.x * p.x, scale.y * p.y, scale.z * p.z};
            if (!v3_finite(p)) {
                return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: node %lld is not finite once it is scaled", t->name,
                                (long long)parts->node[n].number);
            }
            place[n] = out->nnode;
            out->node[out->nnode++] = p;
        }
    }
    for (int k = 0; k < 4 * out->ntet; k++) {
        out->tet[k / 4][k % 4] = place[out->tet[k / 4][k % 4]];
    }
    return SIM_OK;
}

static sim_status finish_tets(const mesh_text *t, tet_parts *parts, v3 scale, tet_list *out) {
    /* each node once */
    if (parts->ntet == 0) {
        return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: there are no tetrahedra in the file", t->name);
    }
    if (parts->nnode) {
        qsort(parts->node, parts->nnode, sizeof *parts->node, compare_numbers);
    }
    for (size_t n = 1; n < parts->nnode; n++) {
        if (parts->node[n].number == parts->node[n - 1].number) {
            return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: there are two nodes %lld", t->name,
                            (long long)parts->node[n].number);
        }
    }
    /* corners, then the nodes that they name */
    int *place = calloc(parts->nnode + 1, sizeof *place);
    out->node = malloc((parts->nnode + 1) * sizeof *out->node);
    out->tet = malloc(parts->ntet * sizeof *out->tet);
    out->ntet = (int)parts->ntet;
    sim_status status = !place || !out->node || !out->tet
                            ? sim_fail(t->error, SIM_NO_RESOURCE, "%.200s: no memory for its tetrahedra", t->name)
                            : find_corners(t, parts, out->tet);
    status = status ? status : keep_used(t, parts, scale, place, out);
    free(place);
    return status;
}

/* ---- files ---- */

sim_status tet_read_file(void *context, const char *path, char **content, size_t *size, sim_error *error) {
    (void)context;
    return file_read(path, MAX_FILE_BYTES, content, size, error);
}

static sim_status open_text(const tet_source *from, const char *path, char **content, mesh_text *t, sim_error *error) {
    size_t size = 0;
    sim_error why = {0};
    sim_status status = from->read(from->context, path, content, &size, &why);
    if (status) {
        return sim_fail(error, status, "%.200s: %.200s", path, why.text);
    }
    *t = (mesh_text){path, *content, *content + size, *content, error, false};
    return SIM_OK;
}

static bool ends_with(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

/* The name of the other file, with another ending; to be freed. */
static char *name_beside(const char *path, const char *ending) {
    const char *dot = strrchr(path, '.');
    size_t stem = (size_t)(dot - path), size = stem + strlen(ending) + 1;
    char *name = malloc(size);
    if (name) {
        memcpy(name, path, stem);
        memcpy(name + stem, ending, strlen(ending) + 1);
    }
    return name;
}

static sim_status read_pair(const tet_source *from, const char *path, v3 scale, tet_list *out, sim_error *error) {
    mesh_text nodes = {0}, tets = {0};
    char *content[2] = {NULL, NULL}, *name[2] = {name_beside(path, ".node"), name_beside(path, ".ele")};
    tet_parts parts = {0};
    sim_status status = !name[0] || !name[1] ? sim_fail(error, SIM_NO_RESOURCE, "no memory for names of files")
                                             : open_text(from, name[0], &content[0], &nodes, error);
    status = status ? status : open_text(from, name[1], &content[1], &tets, error);
    status = status ? status : tets_read_tetgen_nodes(&nodes, &parts);
    status = status ? status : tets_read_tetgen_tets(&tets, &parts);
    status = status ? status : finish_tets(&tets, &parts, scale, out);
    for (int k = 0; k < 2; k++) {
        free(content[k]);
        free(name[k]);
    }
    free(parts.node);
    free(parts.tet);
    return status;
}

static sim_status read_gmsh(const tet_source *from, const char *path, v3 scale, tet_list *out, sim_error *error) {
    mesh_text t = {0};
    char *content = NULL;
    tet_parts parts = {0};
    sim_status status = open_text(from, path, &content, &t, error);
    status = status ? status : tets_read_gmsh(&t, &parts);
    status = status ? status : finish_tets(&t, &parts, scale, out);
    free(content);
    free(parts.node);
    free(parts.tet);
    return status;
}

sim_status tets_read(const tet_source *from, const char *path, v3 scale, tet_list *out, sim_error *error) {
    /* format by the name */
    *out = (tet_list){0};
    bool pair = ends_with(path, ".node") || ends_with(path, ".ele");
    if (!pair && !ends_with(path, ".msh")) {
        return sim_fail(error, SIM_BAD_INPUT, "%.200s: tetrahedra come from .msh (Gmsh), .node or .ele (TetGen)", path);
    }
    /* numbers have a point in every locale */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a locale");
    }
    locale_t callers = uselocale(plain);
    sim_status status = pair ? read_pair(from, path, scale, out, error) : read_gmsh(from, path, scale, out, error);
    uselocale(callers);
    freelocale(plain);
    if (status) {
        free(out->node);
        free(out->tet);
        *out = (tet_list){0};
    }
    return status;
}
