/* Tetrahedra without those in a box: chambers and notches of soft bodies.  Cost: linear in them. */
#include "math/v3.h"
#include <sim/model.h>

#include <stdlib.h>
#include <string.h>

static bool is_between(v3 x, v3 min, v3 max) {
    return x.x > min.x && x.y > min.y && x.z > min.z && x.x < max.x && x.y < max.y && x.z < max.z;
}

static v3 centre_of(const sim_soft_mesh *t, int k) {
    const int *n = t->tet[k];
    return v3_scale(0.25, v3_add(v3_add(t->node[n[0]], t->node[n[1]]), v3_add(t->node[n[2]], t->node[n[3]])));
}

sim_status sim_soft_mesh_cut(sim_soft_mesh *t, sim_v3 min, sim_v3 max, sim_error *error) {
    /* tetrahedra that stay, and their nodes */
    int *place = calloc((size_t)t->nnode, sizeof *place), kept = 0, count = 0;
    if (!place) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for tetrahedra");
    }
    for (int k = 0; k < t->ntet; k++) {
        if (!is_between(centre_of(t, k), min, max)) {
            memmove(t->tet[kept], t->tet[k], sizeof *t->tet);
            for (int i = 0; i < 4; i++) {
                place[t->tet[kept][i]] = 1;
            }
            kept++;
        }
    }
    /* nodes move to the front, in their order */
    for (int n = 0; n < t->nnode; n++) {
        if (place[n]) {
            t->node[count] = t->node[n];
            place[n] = count++;
        }
    }
    for (int k = 0; k < 4 * kept; k++) {
        t->tet[k / 4][k % 4] = place[t->tet[k / 4][k % 4]];
    }
    t->nnode = count;
    t->ntet = kept;
    free(place);
    return kept ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "a cut leaves no tetrahedron");
}
