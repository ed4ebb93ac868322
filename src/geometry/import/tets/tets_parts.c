/* Numbers of files of tetrahedra, and growing lists of what they tell. */
#include "geometry/import/tets/tets_file.h"

#include <limits.h>
#include <stdlib.h>

static const double MAX_NUMBER = 1e15;

/* ---- words ---- */

/* To the next word, over ends of lines and comments. */
static void skip_blanks(mesh_text *t) {
    while (t->at < t->end && (text_is_blank(*t->at) || *t->at == '\n' || *t->at == '\r' || *t->at == '#')) {
        if (*t->at == '#') {
            tets_next_line(t);
        } else {
            t->at++;
        }
    }
}

void tets_next_line(mesh_text *t) {
    while (t->at < t->end && *t->at != '\n') {
        t->at++;
    }
    t->at += t->at < t->end;
}

sim_status tets_numbers(mesh_text *t, int count, double *x) {
    for (int k = 0; k < count; k++) {
        skip_blanks(t);
        if (!text_number(t, &x[k])) {
            return SIM_BAD_INPUT;
        }
    }
    return SIM_OK;
}

sim_status tets_whole(mesh_text *t, int64_t *n) {
    double x;
    skip_blanks(t);
    const char *at = t->at;
    if (!text_number(t, &x)) {
        return SIM_BAD_INPUT;
    }
    if (x != floor(x) || fabs(x) > MAX_NUMBER) {
        return text_expected(t, at, "a whole number");
    }
    *n = (int64_t)x;
    return SIM_OK;
}

/* ---- lists ---- */

static sim_status grow_parts(const mesh_text *t, void **items, size_t count, size_t *room, size_t size) {
    if (count < *room) {
        return SIM_OK;
    }
    size_t more = *room ? 2 * *room : 256;
    void *larger = more > INT_MAX / 4 ? NULL : realloc(*items, more * size);
    if (!larger) {
        return sim_fail(t->error, SIM_NO_RESOURCE, "%.200s: no memory for its tetrahedra", t->name);
    }
    *items = larger;
    *room = more;
    return SIM_OK;
}

sim_status tets_add_node(const mesh_text *t, tet_parts *parts, int64_t number, v3 at) {
    void *items = parts->node;
    sim_status status = grow_parts(t, &items, parts->nnode, &parts->node_room, sizeof *parts->node);
    parts->node = items;
    if (!status) {
        parts->node[parts->nnode++] = (numbered_node){number, at};
    }
    return status;
}

sim_status tets_add_tet(const mesh_text *t, tet_parts *parts, const int64_t node[4], const char *at) {
    void *items = parts->tet;
    sim_status status = grow_parts(t, &items, parts->ntet, &parts->tet_room, sizeof *parts->tet);
    parts->tet = items;
    if (!status) {
        parts->tet[parts->ntet++] = (numbered_tet){{node[0], node[1], node[2], node[3]}, at};
    }
    return status;
}
