/* Pressure fields of soft solids, and the facets by which rigid ones meet them.
 *
 * Each triangle of the surface makes a prism with its image on the medial set (soft_surface.c).  A prism with outer
 * corners i < j < k and images i' j' k' is cut in the tetrahedra
 *
 *     (i, j, k, k'),   (i, j, j', k'),   (i, i', j', k'),
 *
 * so that neighbours cut the side that they share by one diagonal.  Those that coinciding images leave without volume
 * go (geometry/tets/tets.c).  The extent is 0 at outer corners and 1 at images.  Cost: linear in the triangles.
 *
 * Closed meshes that are not convex, and distance fields, have no such image.  A lattice fills them
 * (geometry/tets/stuffing.c) and e = d / d_max, d the depth of a node below the surface, d_max the greatest.  Edges of
 * the surface are cut off by up to an edge of the lattice.  Its default edge is halved until the volume is right.
 * Tetrahedra whose corners are all as deep would have a pressure without a slope: they are cut at their centroid. */
#include "geometry/core/weld.h"
#include "geometry/mesh/bvh.h"
#include "geometry/tets/stuffing.h"
#include "model/soft/soft_surface.h"

#include <stdlib.h>
#include <string.h>

/* Default edges over the radius of the shape's ball: of soft solids, and of the facets of rigid ones. */
static const double SOFT_EDGE_OVER_RADIUS = 0.35, RIGID_EDGE_OVER_RADIUS = 0.18;
static const double MAX_TRIANGLES = 2e5, MAX_LATTICE_NODES = 2e6;
/* Share of the volume that a lattice may miss: of the default edge, and of one that the user gave. */
static const double MAX_MISSED_BY_DEFAULT = 0.05, MAX_MISSED = 0.2;

/* Points in groups of `width`, corners of triangles or tetrahedra. */
typedef struct point_list {
    v3 *point;
    double *extent;
    int count, room;
    bool failed;
} point_list;

static void add_point(point_list *l, v3 x, double extent) {
    if (l->count == l->room && !l->failed) {
        int room = 2 * l->room + 1024;
        v3 *point = realloc(l->point, (size_t)room * sizeof *point);
        l->point = point ? point : l->point;
        double *value = realloc(l->extent, (size_t)room * sizeof *value);
        l->extent = value ? value : l->extent;
        l->failed = !point || !value;
        l->room = room;
    }
    if (!l->failed) {
        l->point[l->count] = x;
        l->extent[l->count++] = extent;
    }
}

static bool comes_before(v3 a, v3 b) { return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z; }

static void add_prism(void *context, const v3 outer[3], const v3 inner[3]) {
    point_list *l = context;
    /* corners in one order for both sides of an edge */
    int c[3] = {0, 1, 2};
    for (int k = 0; k < 3; k++) {
        int a = k == 1 ? 1 : 0, b = a + 1;
        if (comes_before(outer[c[b]], outer[c[a]])) {
            int swap = c[a];
            c[a] = c[b];
            c[b] = swap;
        }
    }
    /* three tetrahedra: of each the first `outside` corners lie on the surface */
    for (int outside = 3; outside >= 1; outside--) {
        for (int k = 0; k < outside; k++) {
            add_point(l, outer[c[k]], 0);
        }
        for (int k = outside - 1; k < 3; k++) {
            add_point(l, inner[c[k]], 1);
        }
    }
}

static void add_triangle(void *context, const v3 outer[3], const v3 inner[3]) {
    (void)inner;
    for (int k = 0; k < 3; k++) {
        add_point(context, outer[k], 0);
    }
}

/* Radius of a ball that holds the shape. */
static double solid_radius(const sim_shape *shape) {
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_BOX:
        return v3_norm(v3_make(s[0], s[1], s[2])) / 2;
    case SIM_CAPSULE:
        return s[0] + s[1] / 2;
    case SIM_CYLINDER:
        return hypot(s[0], s[1] / 2);
    case SIM_SPHERE:
    case SIM_ELLIPSOID:
        return fmax(s[0], fmax(s[1], s[2]));
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return shape->geometry ? v3_norm(v3_sub(shape->geometry->high, shape->geometry->low)) / 2 : 0;
}

/* Points at one place become one; `corner` of each point among the vertices kept.  False without memory. */
static bool weld_list(point_list *l, int *corner, int *nvertex) {
    if (weld_points(l->point, l->count, 0, corner)) {
        return false;
    }
    int *place = malloc((size_t)l->count * sizeof *place);
    if (!place) {
        return false;
    }
    int kept = 0;
    for (int k = 0; k < l->count; k++) {
        if (corner[k] == k) {
            place[k] = kept;
            l->point[kept] = l->point[k];
            l->extent[kept++] = l->extent[k];
        }
        corner[k] = place[corner[k]];
    }
    free(place);
    *nvertex = kept;
    return true;
}

/* All points of the surface by `visit`, welded; `corner` is to be freed.  NULL: said why. */
static int *make_list(const sim_shape *shape, double edge, soft_visit *visit, point_list *l, int *nvertex,
                      sim_error *error) {
    if (soft_surface_count(shape, edge) > MAX_TRIANGLES) {
        sim_fail(error, SIM_BAD_INPUT, "edges of %g m make more than %g triangles", edge, MAX_TRIANGLES);
        return NULL;
    }
    if (!soft_surface(shape, edge, visit, l)) {
        sim_fail(error, SIM_BAD_INPUT, "a pressure field needs a closed solid, not a %s%s", sim_shape_name(shape->type),
                 shape->type == SIM_MESH ? " that is open" : "");
        return NULL;
    }
    int *corner = l->failed || !l->count ? NULL : malloc((size_t)l->count * sizeof *corner);
    if (!corner || !weld_list(l, corner, nvertex)) {
        free(corner);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the surface of a %s", sim_shape_name(shape->type));
        return NULL;
    }
    return corner;
}

static sim_geometry *make_geometry(const sim_shape *shape, double edge, bool soft, sim_error *error) {
    point_list l = {0};
    int nvertex = 0;
    edge = edge > 0 ? edge : (soft ? SOFT_EDGE_OVER_RADIUS : RIGID_EDGE_OVER_RADIUS) * solid_radius(shape);
    int *corner = make_list(shape, edge, soft ? add_prism : add_triangle, &l, &nvertex, error);
    sim_geometry *g = NULL;
    if (corner && soft) {
        g = sim_geometry_tets(l.point, nvertex, (const int(*)[4])corner, l.count / 4, l.extent, error);
    } else if (corner) {
        g = sim_geometry_mesh(l.point, nvertex, (const int(*)[3])corner, l.count / 3, error);
    }
    free(corner);
    free(l.point);
    free(l.extent);
    return g;
}

/* ---- solids that are not convex ---- */

static double depth_in_mesh(const void *geometry, v3 p) { return -mesh_distance(geometry, p, NULL); }
static double depth_in_field(const void *geometry, v3 p) {
    return -sim_field_distance(((const sim_geometry *)geometry)->field, p, NULL);
}

/* Depth of a closed surface that is not convex; NULL where the shape is none. */
static depth_function *depth_of(const sim_shape *shape) {
    const sim_geometry *g = shape->geometry;
    if (g && g->field) {
        return depth_in_field;
    }
    return shape->type == SIM_MESH && g && g->mesh && g->mesh->closed && !g->hull ? depth_in_mesh : NULL;
}

/* The lattice of the edge, or of the first of its halves that misses no more than the default share of the volume. */
static sim_status fill_solid(const sim_shape *shape, depth_function *depth, double edge, stuffing *out,
                             sim_error *error) {
    const sim_geometry *g = shape->geometry;
    bool given = edge > 0;
    double allowed = given ? MAX_MISSED : MAX_MISSED_BY_DEFAULT, missed;
    for (edge = given ? edge : SOFT_EDGE_OVER_RADIUS * solid_radius(shape);; edge /= 2) {
        if (stuffing_size(g->low, g->high, edge) > MAX_LATTICE_NODES) {
            return sim_fail(error, SIM_BAD_INPUT, "edges of %g m make a lattice of more than %g nodes", edge,
                            MAX_LATTICE_NODES);
        }
        if (stuff_solid(depth, g, g->low, g->high, edge, out)) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the tetrahedra of a %s",
                            sim_shape_name(shape->type));
        }
        missed = fabs(1 - out->volume / g->solid.mass);
        if (missed <= allowed) {
            return SIM_OK;
        }
        free(out->point);
        free(out->depth);
        if (given) {
            return sim_fail(error, SIM_BAD_INPUT, "edges of %g m miss %.0f %% of its volume: shorter ones are needed",
                            edge, 100 * missed);
        }
    }
}

static sim_geometry *make_stuffed(const sim_shape *shape, depth_function *depth, double edge, sim_error *error) {
    stuffing s;
    if (fill_solid(shape, depth, edge, &s, error)) {
        return NULL;
    }
    if (split_flat_tets(depth, shape->geometry, &s)) {
        free(s.point);
        free(s.depth);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the tetrahedra of a %s", sim_shape_name(shape->type));
        return NULL;
    }
    /* extent from depth */
    double greatest = 0;
    for (int k = 0; k < s.count; k++) {
        greatest = fmax(greatest, s.depth[k]);
    }
    for (int k = 0; k < s.count; k++) {
        s.depth[k] /= greatest;
    }
    /* corners that coincide become one */
    point_list l = {.point = s.point, .extent = s.depth, .count = s.count};
    int nvertex = 0, *corner = malloc((size_t)s.count * sizeof *corner);
    sim_geometry *g = NULL;
    if (corner && weld_list(&l, corner, &nvertex)) {
        g = sim_geometry_tets(s.point, nvertex, (const int(*)[4])corner, s.count / 4, s.depth, error);
    } else {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the tetrahedra of a %s", sim_shape_name(shape->type));
    }
    free(corner);
    free(s.point);
    free(s.depth);
    return g;
}

sim_geometry *sim_shape_pressure(const sim_shape *shape, double edge, sim_error *error) {
    depth_function *depth = depth_of(shape);
    return depth ? make_stuffed(shape, depth, edge, error) : make_geometry(shape, edge, true, error);
}

sim_geometry *sim_shape_facets(const sim_shape *shape, double edge, sim_error *error) {
    return make_geometry(shape, edge, false, error);
}
