/* Tetrahedra of solids, for soft bodies.
 *
 *     box     a grid of cells, six tetrahedra each about one diagonal (Kuhn 1960)
 *     others  isosurface stuffing of the depth below the surface (geometry/tets/stuffing.c)
 *
 *     depth, m: sphere r - |p|;  cylinder the least of r - rho and l/2 - |z|;  capsule r - distance to its axis
 *     ellipsoid (1 - |p / s|) least s: zero on the surface, which is all that counts
 *
 * Cost: linear in the cells of the box, or of the lattice. */
#include "geometry/core/weld.h"
#include "geometry/mesh/bvh.h"
#include "geometry/tets/stuffing.h"
#include <sim/model.h>

#include <stdlib.h>
#include <string.h>

static const double MAX_NODES = 2e6, EDGE_OVER_RADIUS = 0.35;

void sim_soft_mesh_free(sim_soft_mesh *t) {
    free(t->node);
    free(t->tet);
    *t = (sim_soft_mesh){0};
}

/* ---- boxes ---- */

static sim_status fill_box(const sim_shape *shape, double edge, sim_soft_mesh *out, sim_error *error) {
    /* cells along each edge */
    int n[3];
    double nodes = 1;
    for (int k = 0; k < 3; k++) {
        double cells = fmax(1, round(shape->size[k] / edge));
        nodes *= cells + 1;
        n[k] = nodes <= MAX_NODES ? (int)cells : 0;
    }
    if (!(nodes <= MAX_NODES)) {
        return sim_fail(error, SIM_BAD_INPUT, "edges of %g m make more than %g nodes", edge, MAX_NODES);
    }
    int cells = n[0] * n[1] * n[2];
    out->node = malloc((size_t)nodes * sizeof *out->node);
    out->tet = malloc(6 * (size_t)cells * sizeof *out->tet);
    if (!out->node || !out->tet) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the tetrahedra of a box");
    }
    /* nodes, x fastest */
    for (int k = 0; k < (n[0] + 1) * (n[1] + 1) * (n[2] + 1); k++) {
        const int at[3] = {k % (n[0] + 1), k / (n[0] + 1) % (n[1] + 1), k / (n[0] + 1) / (n[1] + 1)};
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = shape->size[i] * ((double)at[i] / n[i] - 0.5);
        }
        out->node[out->nnode++] = (v3){x[0], x[1], x[2]};
    }
    /* of each cell the six ways from its first corner to its last along its edges */
    static const int way[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int step[3] = {1, n[0] + 1, (n[0] + 1) * (n[1] + 1)};
    for (int c = 0; c < cells; c++) {
        int corner = c % n[0] + step[1] * (c / n[0] % n[1]) + step[2] * (c / n[0] / n[1]);
        for (int w = 0; w < 6; w++) {
            int *t = out->tet[out->ntet++];
            t[0] = corner;
            for (int k = 0; k < 3; k++) {
                t[k + 1] = t[k] + step[way[w][k]];
            }
        }
    }
    return SIM_OK;
}

/* ---- other solids ---- */

static double depth_in_round(const void *solid, v3 p) {
    const sim_shape *s = solid;
    double beyond, rho = hypot(p.x, p.y);
    switch (s->type) {
    case SIM_SPHERE:
        return s->size[0] - v3_norm(p);
    case SIM_CYLINDER:
        return fmin(s->size[0] - rho, s->size[1] / 2 - fabs(p.z));
    case SIM_CAPSULE:
        beyond = fmax(0, fabs(p.z) - s->size[1] / 2);
        return s->size[0] - hypot(rho, beyond);
    default: /* ellipsoid */
        return (1 - v3_norm((v3){p.x / s->size[0], p.y / s->size[1], p.z / s->size[2]})) *
               fmin(s->size[0], fmin(s->size[1], s->size[2]));
    }
}

static double depth_in_surface(const void *solid, v3 p) {
    const sim_geometry *g = ((const sim_shape *)solid)->geometry;
    return g->field ? -sim_field_distance(g->field, p, NULL) : -mesh_distance(g, p, NULL);
}

/* Bounds of a solid, and its depth; NULL where the shape is none. */
static depth_function *bound_solid(const sim_shape *shape, v3 *high) {
    const double *s = shape->size;
    const sim_geometry *g = shape->geometry;
    switch (shape->type) {
    case SIM_SPHERE:
        *high = (v3){s[0], s[0], s[0]};
        return depth_in_round;
    case SIM_CYLINDER:
        *high = (v3){s[0], s[0], s[1] / 2};
        return depth_in_round;
    case SIM_CAPSULE:
        *high = (v3){s[0], s[0], s[0] + s[1] / 2};
        return depth_in_round;
    case SIM_ELLIPSOID:
        *high = (v3){s[0], s[1], s[2]};
        return depth_in_round;
    default:
        return g && (g->field || (shape->type == SIM_MESH && g->mesh->closed)) ? depth_in_surface : NULL;
    }
}

/* Nodes of equal places become one. */
static sim_status weld_stuffing(stuffing *s, sim_soft_mesh *out) {
    int *to = malloc(2 * (size_t)s->count * sizeof *to), *place = to + s->count;
    out->tet = malloc((size_t)s->count / 4 * sizeof *out->tet);
    if (!to || !out->tet || weld_points(s->point, s->count, 0, to)) {
        free(to);
        return SIM_NO_RESOURCE;
    }
    for (int k = 0; k < s->count; k++) {
        if (to[k] == k) {
            place[k] = out->nnode;
            s->point[out->nnode++] = s->point[k];
        }
        out->tet[k / 4][k % 4] = place[to[k]];
    }
    free(to);
    out->ntet = s->count / 4;
    out->node = s->point;
    s->point = NULL;
    return SIM_OK;
}

static sim_status fill_other(const sim_shape *shape, double edge, sim_soft_mesh *out, sim_error *error) {
    /* bounds and lattice */
    v3 high, low;
    depth_function *depth = bound_solid(shape, &high);
    if (!depth) {
        return sim_fail(error, SIM_BAD_INPUT, "tetrahedra need a closed solid, not a %s%s", sim_shape_name(shape->type),
                        shape->type == SIM_MESH ? " that is open" : "");
    }
    low = shape->geometry ? shape->geometry->low : v3_neg(high);
    high = shape->geometry ? shape->geometry->high : high;
    edge = edge > 0 ? edge : EDGE_OVER_RADIUS * v3_norm(v3_sub(high, low)) / sqrt(12);
    if (stuffing_size(low, high, edge) > MAX_NODES) {
        return sim_fail(error, SIM_BAD_INPUT, "edges of %g m make a lattice of more than %g nodes", edge, MAX_NODES);
    }
    stuffing s;
    sim_status status = stuff_solid(depth, shape, low, high, edge, &s);
    if (!status && s.count == 0) {
        status =
            sim_fail(error, SIM_BAD_INPUT, "edges of %g m are too long for a %s", edge, sim_shape_name(shape->type));
    } else if (!status) {
        status = weld_stuffing(&s, out);
    }
    free(s.point);
    free(s.depth);
    return status == SIM_NO_RESOURCE
               ? sim_fail(error, status, "no memory for the tetrahedra of a %s", sim_shape_name(shape->type))
               : status;
}

sim_status sim_shape_soft_mesh(const sim_shape *shape, double edge, sim_soft_mesh *out, sim_error *error) {
    *out = (sim_soft_mesh){0};
    double least = fmin(shape->size[0], fmin(shape->size[1], shape->size[2]));
    bool box = shape->type == SIM_BOX;
    sim_status status =
        box ? fill_box(shape, edge > 0 ? edge : least / 2, out, error) : fill_other(shape, edge, out, error);
    if (status) {
        sim_soft_mesh_free(out);
    }
    return status;
}
