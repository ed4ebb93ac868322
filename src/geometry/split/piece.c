/* Cutting a piece by a plane, its hull and its concavity.
 *
 *     concavity = max over points x of the hull of the distance of x from the solid
 *
 * taken at a lattice of 16^3 points over the bounds of the hull and at one as fine on its faces.  It tells how far the
 * hull reaches beyond the solid.  A cut leaves triangles of the surface alone.  The corners of its own face lie on them,
 * but for those where three cuts meet within the solid: the hull takes these, too.  An edge is cut at the same point from both sides, bit by bit, since its ends are taken in
 * one order.
 *
 * Reference: Wei, Liu, Ling, Su, Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
 * search (CoACD), ACM Trans. Graph. 41, 2022 (cuts of the surface itself, distance from hull to solid).
 * Cost: of a cut, triangles; of the concavity, some 6000 nearest points; of corners, the cubed number of cuts. */
#include "geometry/split/piece.h"
#include "geometry/mesh/mesh.h"
#include "math/spatial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LATTICE_CELLS = 16 };
static const double ROUNDING_OVER_EXTENT = 1e-9; /* of the extent: corners as near are in the plane */
static const double MIN_CORNER_VOLUME = 1e-6;    /* of the parallelepiped of three unit normals that meet in a corner */

void piece_free(piece *p) {
    free(p->triangle);
    free(p->wall);
    sim_geometry_free(p->hull);
    *p = (piece){0};
}

sim_status piece_add(piece *p, v3 a, v3 b, v3 c) {
    if (p->count == p->room) {
        int room = p->room ? 2 * p->room : 64;
        v3(*more)[3] = realloc(p->triangle, (size_t)room * sizeof *more);
        if (!more) {
            return SIM_NO_RESOURCE;
        }
        p->triangle = more;
        p->room = room;
    }
    p->triangle[p->count][0] = a;
    p->triangle[p->count][1] = b;
    p->triangle[p->count++][2] = c;
    return SIM_OK;
}

static sim_status add_wall(piece *p, const piece *from, split_plane at) {
    p->wall = malloc(((size_t)from->nwall + 1) * sizeof *p->wall);
    if (!p->wall) {
        return SIM_NO_RESOURCE;
    }
    if (from->nwall) {
        memcpy(p->wall, from->wall, (size_t)from->nwall * sizeof *p->wall);
    }
    p->wall[from->nwall] = at;
    p->nwall = from->nwall + 1;
    return SIM_OK;
}

static bool is_before(v3 a, v3 b) { return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z; }

/* Where an edge with ends on both sides meets the plane. */
static v3 cut_edge(v3 a, double da, v3 b, double db) {
    if (is_before(b, a)) {
        v3 swap = a;
        double other = da;
        a = b;
        da = db;
        b = swap;
        db = other;
    }
    return v3_axpy(a, da / (da - db), v3_sub(b, a));
}

/* One triangle: the polygons on both sides.  A triangle that only touches the plane stays on its side; a triangle in the
 * plane goes where the solid behind it is. */
static sim_status cut_triangle(const v3 *corner, split_plane at, double rounding, piece *above, piece *below) {
    /* sides of the corners */
    double d[3], low = 0, high = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = v3_dot(at.normal, corner[k]) - at.offset;
        d[k] = fabs(d[k]) <= rounding ? 0 : d[k];
        low = fmin(low, d[k]);
        high = fmax(high, d[k]);
    }
    if (low == 0 || high == 0) {
        v3 cross = v3_cross(v3_sub(corner[1], corner[0]), v3_sub(corner[2], corner[0]));
        bool over = high > 0 || (low == 0 && v3_dot(cross, at.normal) < 0);
        return piece_add(over ? above : below, corner[0], corner[1], corner[2]);
    }
    /* corners on both: those in the plane belong to either side */
    v3 side[2][5];
    int count[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        for (int s = 0; s < 2; s++) {
            if (s ? d[k] <= 0 : d[k] >= 0) {
                side[s][count[s]++] = corner[k];
            }
            if (d[k] * d[next] < 0) {
                side[s][count[s]++] = cut_edge(corner[k], d[k], corner[next], d[next]);
            }
        }
    }
    sim_status status = SIM_OK;
    for (int s = 0; s < 2; s++) {
        for (int k = 2; k < count[s] && !status; k++) {
            status = piece_add(s ? below : above, side[s][0], side[s][k - 1], side[s][k]);
        }
    }
    return status;
}

sim_status piece_cut(const piece *p, split_plane at, double extent, piece *above, piece *below) {
    *above = *below = (piece){0};
    split_plane back = {v3_neg(at.normal), -at.offset};
    sim_status status = add_wall(above, p, at);
    status = status ? status : add_wall(below, p, back);
    for (int k = 0; k < p->count && !status; k++) {
        status = cut_triangle(p->triangle[k], at, ROUNDING_OVER_EXTENT * extent, above, below);
    }
    if (status) {
        piece_free(above);
        piece_free(below);
    }
    return status;
}

/* ---- concavity ---- */

/* Distance of a point outside the solid from it; 0 inside. */
static double distance_beyond(const sim_geometry *solid, v3 x) {
    v3 at;
    int feature, t = bvh_nearest(solid->bvh, solid->mesh, x, INFINITY, &at, &feature);
    v3 apart = v3_sub(x, at);
    bool outside = t >= 0 && v3_dot(apart, mesh_feature_normal(solid->mesh, t, feature)) > 0;
    return outside ? v3_norm(apart) : 0;
}

static bool is_within(const sim_hull *h, v3 x) {
    for (int f = 0; f < h->nface; f++) {
        if (v3_dot(h->normal[f], x) > h->offset[f]) {
            return false;
        }
    }
    return true;
}

/* The same over a triangle of the hull, at the middles of the n^2 equal ones that it is cut in, with edges up to `edge`. */
static double face_concavity(const sim_mesh *hull, int t, const sim_geometry *solid, double edge) {
    const int *corner = hull->triangle[t];
    v3 a = hull->vertex[corner[0]], b = v3_sub(hull->vertex[corner[1]], a), c = v3_sub(hull->vertex[corner[2]], a);
    double longest = fmax(v3_norm(b), fmax(v3_norm(c), v3_norm(v3_sub(c, b)))), most = 0;
    int n = (int)fmin(LATTICE_CELLS, fmax(1, ceil(longest / edge)));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 2 * (n - i) - 1; j++) {
            /* upright triangles stand between those upside down */
            int row = j / 2;
            double third = j % 2 ? 2.0 / 3 : 1.0 / 3, u = (i + third) / n, w = (row + third) / n;
            most = fmax(most, distance_beyond(solid, v3_axpy(v3_axpy(a, u, b), w, c)));
        }
    }
    return most;
}

double hull_concavity(const sim_geometry *hull, const sim_geometry *solid) {
    double most = 0;
    /* the lattice within */
    v3 size = v3_sub(hull->high, hull->low);
    for (int k = 0; k < LATTICE_CELLS * LATTICE_CELLS * LATTICE_CELLS; k++) {
        int i = k % LATTICE_CELLS, j = k / LATTICE_CELLS % LATTICE_CELLS, l = k / (LATTICE_CELLS * LATTICE_CELLS);
        v3 x = {hull->low.x + (i + 0.5) / LATTICE_CELLS * size.x, hull->low.y + (j + 0.5) / LATTICE_CELLS * size.y,
                hull->low.z + (l + 0.5) / LATTICE_CELLS * size.z};
        most = is_within(hull->hull, x) ? fmax(most, distance_beyond(solid, x)) : most;
    }
    /* the faces */
    for (int t = 0; t < hull->mesh->ntriangle; t++) {
        most = fmax(most, face_concavity(hull->mesh, t, solid, v3_norm(size) / LATTICE_CELLS));
    }
    return most;
}

/* ---- hulls ---- */

/* Where three planes meet; false: not in a point. */
static bool meet_walls(const split_plane *a, const split_plane *b, const split_plane *c, v3 *x) {
    v3 ab = v3_cross(a->normal, b->normal), bc = v3_cross(b->normal, c->normal), ca = v3_cross(c->normal, a->normal);
    double volume = v3_dot(a->normal, bc);
    *x = v3_scale(a->offset / volume, bc);
    *x = v3_axpy(v3_axpy(*x, b->offset / volume, ca), c->offset / volume, ab);
    return fabs(volume) > MIN_CORNER_VOLUME;
}

/* Is a point of the cuts a corner of the piece: above all of them, and below the surface of the solid? */
static bool is_corner(const piece *p, const sim_geometry *solid, double rounding, v3 x) {
    for (int k = 0; k < p->nwall; k++) {
        if (v3_dot(p->wall[k].normal, x) < p->wall[k].offset - rounding) {
            return false;
        }
    }
    return mesh_distance(solid, x, NULL) < -rounding;
}

v3 *piece_corners(const piece *p, const sim_geometry *solid, int *count) {
    size_t walls = (size_t)p->nwall;
    v3 *x = malloc((3 * (size_t)p->count + walls * walls * walls + 1) * sizeof *x);
    double rounding = ROUNDING_OVER_EXTENT * v3_norm(v3_sub(solid->high, solid->low));
    *count = 0;
    for (int k = 0; x && k < 3 * p->count; k++) {
        x[(*count)++] = p->triangle[k / 3][k % 3];
    }
    for (int i = 0; x && i < p->nwall; i++) {
        for (int j = i + 1; j < p->nwall; j++) {
            for (int k = j + 1; k < p->nwall; k++) {
                bool meet = meet_walls(&p->wall[i], &p->wall[j], &p->wall[k], &x[*count]);
                *count += meet && is_corner(p, solid, rounding, x[*count]);
            }
        }
    }
    return x;
}

sim_status piece_finish(piece *p, const sim_geometry *solid, sim_error *error) {
    int count;
    v3 *corner = piece_corners(p, solid, &count);
    if (!corner) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the parts of a mesh");
    }
    p->hull = sim_geometry_hull(corner, count, error);
    free(corner);
    if (!p->hull) {
        return error->status;
    }
    p->concavity = hull_concavity(p->hull, solid);
    return SIM_OK;
}
