/* Tetrahedra of solids, for soft bodies.
 *
 *     box, tube  a grid of cells, six tetrahedra each about one diagonal (Kuhn 1960)
 *     others     isosurface stuffing of the depth below the surface (geometry/tets/stuffing.c)
 *
 *     depth, m: sphere r - |p|;  cylinder the least of r - rho and l/2 - |z|;  capsule r - distance to its axis
 *     ellipsoid (1 - |p / s|) least s: zero on the surface, which is all that counts
 *
 * Cost: linear in the cells of the grid, or of the lattice. */
#include "geometry/core/weld.h"
#include "geometry/import/tets/tets_file.h"
#include "geometry/mesh/bvh.h"
#include "geometry/tets/stuffing.h"
#include <sim/model.h>

#include <stdlib.h>
#include <string.h>

static const double MAX_NODES = 2e6, EDGE_OVER_RADIUS = 0.35, PI = 3.14159265358979323846;
enum { MIN_SECTORS = 6 }; /* of a tube */

void sim_soft_mesh_free(sim_soft_mesh *t) {
    free(t->node);
    free(t->tet);
    *t = (sim_soft_mesh){0};
}

/* ---- grids: boxes and tubes ---- */

/* A point at fractions f of the way along the three axes of a grid. */
typedef v3 grid_place(const double size[3], const double f[3]);

typedef struct grid {
    int cells[3];
    bool closed; /* along the second axis the last node is the first */
} grid;

static v3 place_in_box(const double size[3], const double f[3]) {
    return (v3){size[0] * (f[0] - 0.5), size[1] * (f[1] - 0.5), size[2] * (f[2] - 0.5)};
}

/* `size`: outer radius, radius of the bore, length. */
static v3 place_in_tube(const double size[3], const double f[3]) {
    double radius = size[1] + f[0] * (size[0] - size[1]), angle = 2 * PI * f[1];
    return (v3){radius * cos(angle), radius * sin(angle), size[2] * (f[2] - 0.5)};
}

static int nodes_along(const grid *g, int axis) { return g->cells[axis] + !(g->closed && axis == 1); }

static int grid_node(const grid *g, const int at[3]) {
    return at[0] + nodes_along(g, 0) * (at[1] % nodes_along(g, 1) + nodes_along(g, 1) * at[2]);
}

/* Six tetrahedra: the ways from the first corner of a cell to its last along its edges. */
static void fill_cell(const grid *g, const int first[3], sim_soft_mesh *out) {
    static const int way[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int w = 0; w < 6; w++) {
        int *t = out->tet[out->ntet++], at[3] = {first[0], first[1], first[2]};
        t[0] = grid_node(g, at);
        for (int k = 0; k < 3; k++) {
            at[way[w][k]]++;
            t[k + 1] = grid_node(g, at);
        }
    }
}

/* Of lengths along the three axes, in cells of about `edge`; at least `least` of them. */
static sim_status fill_grid(const double length[3], double edge, const int least[3], bool closed, grid_place *place,
                            const double size[3], sim_soft_mesh *out, sim_error *error) {
    grid g = {.closed = closed};
    double nodes = 1;
    for (int k = 0; k < 3; k++) {
        double cells = fmax(least[k], round(length[k] / edge));
        nodes *= cells + 1;
        g.cells[k] = nodes <= MAX_NODES ? (int)cells : 0;
    }
    if (!(nodes <= MAX_NODES)) {
        return sim_fail(error, SIM_BAD_INPUT, "edges of %g m make more than %g nodes", edge, MAX_NODES);
    }
    out->node = malloc((size_t)nodes * sizeof *out->node);
    out->tet = malloc(6 * (size_t)(g.cells[0] * g.cells[1] * g.cells[2]) * sizeof *out->tet);
    if (!out->node || !out->tet) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for tetrahedra");
    }
    /* nodes and cells, the first axis fastest */
    for (int k = 0; k < nodes_along(&g, 2); k++) {
        for (int j = 0; j < nodes_along(&g, 1); j++) {
            for (int i = 0; i < nodes_along(&g, 0); i++) {
                const double f[3] = {(double)i / g.cells[0], (double)j / g.cells[1], (double)k / g.cells[2]};
                out->node[out->nnode++] = place(size, f);
            }
        }
    }
    for (int c = 0; c < g.cells[0] * g.cells[1] * g.cells[2]; c++) {
        const int at[3] = {c % g.cells[0], c / g.cells[0] % g.cells[1], c / g.cells[0] / g.cells[1]};
        fill_cell(&g, at, out);
    }
    return SIM_OK;
}

static sim_status fill_box(const sim_shape *shape, double edge, sim_soft_mesh *out, sim_error *error) {
    static const int least[3] = {1, 1, 1};
    return fill_grid(shape->size, edge, least, false, place_in_box, shape->size, out, error);
}

sim_status sim_tube_soft_mesh(double radius, double inner, double length, double edge, sim_soft_mesh *out,
                              sim_error *error) {
    static const int least[3] = {1, MIN_SECTORS, 1};
    *out = (sim_soft_mesh){0};
    if (!(inner > 0 && inner < radius) || !(length > 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "a tube needs 0 < bore < radius and a length, not %g, %g, %g m", inner,
                        radius, length);
    }
    const double size[3] = {radius, inner, length}, along[3] = {radius - inner, PI * (radius + inner), length};
    sim_status status =
        fill_grid(along, edge > 0 ? edge : radius - inner, least, true, place_in_tube, size, out, error);
    if (status) {
        sim_soft_mesh_free(out);
    }
    return status;
}

/* ---- other solids ---- */

/* By the type; outside of all that is not round. */
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
    case SIM_ELLIPSOID:
        return (1 - v3_norm((v3){p.x / s->size[0], p.y / s->size[1], p.z / s->size[2]})) *
               fmin(s->size[0], fmin(s->size[1], s->size[2]));
    case SIM_BOX:
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return -HUGE_VAL;
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
    case SIM_BOX:
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return g && (g->field || (shape->type == SIM_MESH && g->mesh->closed)) ? depth_in_surface : NULL;
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

/* ---- files ---- */

sim_status sim_soft_mesh_read(const char *path, sim_v3 scale, sim_soft_mesh *out, sim_error *error) {
    tet_list list;
    tet_source from = {.read = tet_read_file};
    *out = (sim_soft_mesh){0};
    sim_status status = tets_read(&from, path, scale, &list, error);
    if (!status) {
        *out = (sim_soft_mesh){list.nnode, list.ntet, list.node, list.tet};
    }
    return status;
}

/* ---- any ---- */

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
