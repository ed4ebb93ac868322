/* Reader of the tetrahedra of Gmsh's MSH files, ASCII, versions 2.2 and 4.1.
 *
 *     $MeshFormat   version, 0, size of a number
 *     $Nodes        2.2: count; lines of number, x, y, z
 *                   4.1: blocks, ...; each block: dimension, entity, parametric, count; numbers; coordinates
 *     $Elements     2.2: count; lines of number, type, tags, nodes
 *                   4.1: blocks, ...; each block: dimension, entity, type, count; lines of number, nodes
 *
 * Points, lines and areas are passed over, as are other sections.  Solids that are no linear tetrahedra are refused.
 * Reference: Gmsh reference manual 4.11, sections 10.1, 10.2. */
#include "geometry/import/tets/tets_file.h"

#include <string.h>

enum { TETRAHEDRON = 4 };

/* Element types of dimension 0 to 2. */
static bool is_flat(int64_t type) {
    static const int flat[] = {15, 1, 8, 26, 27, 28, 62, 63, 64, 65, 66, 2, 3, 9, 10, 16, 20, 21, 22, 23, 24, 25};
    bool found = false;
    for (size_t k = 0; k < sizeof flat / sizeof *flat; k++) {
        found |= flat[k] == type;
    }
    return found;
}

static sim_status refuse_type(const mesh_text *t, const char *at, int64_t type) {
    return text_wrong(t, at, "solid elements must be linear tetrahedra (type 4), not of type %lld", (long long)type);
}

/* To the line behind the next one that is `$section`; false: there is none. */
static bool find_section(mesh_text *t, const char *section) {
    for (t->at = t->start; t->at < t->end;) {
        bool here = *t->at == '$' && text_is_word(t->at + 1, section);
        tets_next_line(t);
        if (here) {
            return true;
        }
    }
    return false;
}

static sim_status enter_section(mesh_text *t, const char *section, const char *shown) {
    return find_section(t, section)
               ? SIM_OK
               : sim_fail(t->error, SIM_BAD_INPUT, "%.200s: there is no section $%s", t->name, shown);
}

/* ---- 2.2 ---- */

static sim_status read_nodes_2(mesh_text *t, tet_parts *parts) {
    int64_t count, number;
    double x[3];
    sim_status status = tets_whole(t, &count);
    for (int64_t k = 0; k < count && !status; k++) {
        status = tets_whole(t, &number);
        status = status ? status : tets_numbers(t, 3, x);
        status = status ? status : tets_add_node(t, parts, number, (v3){x[0], x[1], x[2]});
    }
    return status;
}

static sim_status read_corners(mesh_text *t, tet_parts *parts, const char *at) {
    int64_t node[4];
    sim_status status = SIM_OK;
    for (int i = 0; i < 4 && !status; i++) {
        status = tets_whole(t, &node[i]);
    }
    return status ? status : tets_add_tet(t, parts, node, at);
}

static sim_status read_elements_2(mesh_text *t, tet_parts *parts) {
    /* number, type and tags of each; corners of tetrahedra */
    int64_t count, number, type, tags, tag;
    sim_status status = tets_whole(t, &count);
    for (int64_t k = 0; k < count && !status; k++) {
        status = tets_whole(t, &number);
        const char *at = t->at;
        status = status ? status : tets_whole(t, &type);
        status = status ? status : tets_whole(t, &tags);
        for (int64_t i = 0; i < tags && !status; i++) {
            status = tets_whole(t, &tag);
        }
        if (!status && type == TETRAHEDRON) {
            status = read_corners(t, parts, at);
        } else if (!status && !is_flat(type)) {
            status = refuse_type(t, at, type);
        } else if (!status) {
            tets_next_line(t);
        }
    }
    return status;
}

/* ---- 4.1 ---- */

static sim_status read_wholes(mesh_text *t, int count, int64_t *n) {
    sim_status status = SIM_OK;
    for (int i = 0; i < count && !status; i++) {
        status = tets_whole(t, &n[i]);
    }
    return status;
}

/* Numbers of a block stand first, then its coordinates; the numbers are kept in the nodes. */
static sim_status read_node_block(mesh_text *t, tet_parts *parts) {
    int64_t head[4], number;
    double x[6];
    size_t first = parts->nnode;
    sim_status status = read_wholes(t, 4, head);
    for (int64_t k = 0; !status && k < head[3]; k++) {
        status = tets_whole(t, &number);
        status = status ? status : tets_add_node(t, parts, number, (v3){0, 0, 0});
    }
    if (!status && (head[0] < 0 || head[0] > 3)) {
        return text_wrong(t, t->at, "a block of nodes of dimension %lld", (long long)head[0]);
    }
    for (int64_t k = 0; !status && k < head[3]; k++) {
        status = tets_numbers(t, 3 + (head[2] ? (int)head[0] : 0), x);
        if (!status) {
            parts->node[first + (size_t)k].at = (v3){x[0], x[1], x[2]};
        }
    }
    return status;
}

static sim_status read_element_block(mesh_text *t, tet_parts *parts) {
    int64_t head[4], number;
    sim_status status = read_wholes(t, 4, head);
    const char *at = t->at;
    if (!status && head[2] != TETRAHEDRON && !is_flat(head[2])) {
        return refuse_type(t, at, head[2]);
    }
    for (int64_t k = 0; !status && k < head[3]; k++) {
        status = tets_whole(t, &number);
        at = t->at;
        if (!status && head[2] == TETRAHEDRON) {
            status = read_corners(t, parts, at);
        } else if (!status) {
            tets_next_line(t);
        }
    }
    return status;
}

static sim_status read_blocks(mesh_text *t, tet_parts *parts, sim_status (*read)(mesh_text *, tet_parts *)) {
    int64_t head[4]; /* blocks, items, least and greatest number */
    sim_status status = read_wholes(t, 4, head);
    for (int64_t k = 0; !status && k < head[0]; k++) {
        status = read(t, parts);
    }
    return status;
}

sim_status tets_read_gmsh(mesh_text *t, tet_parts *parts) {
    /* version */
    double version;
    int64_t binary;
    if (!find_section(t, "meshformat")) {
        return sim_fail(t->error, SIM_BAD_INPUT, "%.200s: not a file of Gmsh: there is no $MeshFormat", t->name);
    }
    const char *at = t->at;
    sim_status status = tets_numbers(t, 1, &version);
    status = status ? status : tets_whole(t, &binary);
    if (status) {
        return status;
    }
    if (binary || (version != 2.2 && version != 4.1)) {
        return text_wrong(t, at, "expected a text of version 2.2 or 4.1, not %s%g", binary ? "binary " : "", version);
    }
    /* nodes, elements */
    status = enter_section(t, "nodes", "Nodes");
    status = status ? status : version == 2.2 ? read_nodes_2(t, parts) : read_blocks(t, parts, read_node_block);
    status = status ? status : enter_section(t, "elements", "Elements");
    return status ? status : version == 2.2 ? read_elements_2(t, parts) : read_blocks(t, parts, read_element_block);
}
