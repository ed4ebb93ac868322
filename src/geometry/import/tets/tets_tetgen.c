/* Reader of TetGen's .node and .ele files.
 *
 *     .node   count, dimension 3, attributes, markers; lines of number, x, y, z, ...
 *     .ele    count, nodes a tetrahedron (4), attributes; lines of number, nodes, ...
 *
 * Attributes and markers are passed over.
 * Reference: TetGen 1.6 manual, section 5.2. */
#include "geometry/import/tets/tets_file.h"

sim_status tets_read_tetgen_nodes(mesh_text *t, tet_parts *parts) {
    int64_t count, dimension, number;
    double x[3];
    sim_status status = tets_whole(t, &count);
    status = status ? status : tets_whole(t, &dimension);
    if (!status && dimension != 3) {
        return text_wrong(t, t->at, "expected nodes of 3 coordinates, not %lld", (long long)dimension);
    }
    tets_next_line(t);
    for (int64_t k = 0; !status && k < count; k++) {
        status = tets_whole(t, &number);
        status = status ? status : tets_numbers(t, 3, x);
        status = status ? status : tets_add_node(t, parts, number, (v3){x[0], x[1], x[2]});
        tets_next_line(t);
    }
    return status;
}

sim_status tets_read_tetgen_tets(mesh_text *t, tet_parts *parts) {
    int64_t count, corners, number, node[4];
    sim_status status = tets_whole(t, &count);
    status = status ? status : tets_whole(t, &corners);
    if (!status && corners != 4) {
        return text_wrong(t, t->at, "expected tetrahedra of 4 nodes, not %lld", (long long)corners);
    }
    tets_next_line(t);
    for (int64_t k = 0; !status && k < count; k++) {
        status = tets_whole(t, &number);
        const char *at = t->at;
        for (int i = 0; i < 4 && !status; i++) {
            status = tets_whole(t, &node[i]);
        }
        status = status ? status : tets_add_tet(t, parts, node, at);
        tets_next_line(t);
    }
    return status;
}
