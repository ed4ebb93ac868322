/* Closed chambers of a soft body: the parts of its surface that enclose no solid.
 *
 *     V = sum of a . (b x c) / 6 over the faces of a part,   a chamber where V < 0
 *
 *     a, b, c  corners of a face, counterclockwise from outside the solid, m
 *
 * Faces that share a node are of one part, found by disjoint sets.  A chamber that touches the outer surface at a node is
 * part of it.
 * Cost: nearly linear in the faces. */
#include "model/soft/chambers.h"
#include "base/disjoint_set.h"
#include "math/v3.h"

#include <stdlib.h>
#include <string.h>

static double volume_below(const v3 *node, const int face[3]) {
    return v3_dot(node[face[0]], v3_cross(node[face[1]], node[face[2]])) / 6;
}

bool sort_chambers(int nnode, const v3 *node, int nface, int (*face)[3], int *nchamber) {
    /* memory: a forest over the nodes, volumes of its roots, faces of chambers */
    int *parent = malloc((size_t)nnode * sizeof *parent);
    double *volume = calloc((size_t)nnode, sizeof *volume);
    int(*inner)[3] = malloc((size_t)nface * sizeof *inner);
    bool good = parent && volume && inner;
    *nchamber = 0;
    /* parts and their volumes */
    disjoint_set_start(parent, good ? nnode : 0);
    for (int k = 0; k < nface && good; k++) {
        disjoint_set_unite(parent, face[k][0], face[k][1]);
        disjoint_set_unite(parent, face[k][0], face[k][2]);
    }
    for (int k = 0; k < nface && good; k++) {
        volume[disjoint_set_find(parent, face[k][0])] += volume_below(node, face[k]);
    }
    /* faces of chambers last, in their order */
    int outer = 0;
    for (int k = 0; k < nface && good; k++) {
        bool within = volume[disjoint_set_find(parent, face[k][0])] < 0;
        memcpy(within ? inner[(*nchamber)++] : face[outer++], (int[3]){face[k][0], face[k][1], face[k][2]},
               sizeof *face);
    }
    if (*nchamber) {
        memcpy(face + outer, inner, (size_t)*nchamber * sizeof *face);
    }
    free(parent);
    free(volume);
    free(inner);
    return good;
}
