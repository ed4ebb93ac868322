/* Planes that may divide a piece, and the cost of each.
 *
 *     across the axes of the solid's frame and the principal axes of the piece's surface, evenly spaced;
 *     through the edges where the solid is concave (notches), along either face there
 *
 *     cost = V_a + V_b + 0.1 V (l_a^2 + l_b^2) / l^2
 *
 *     V, l        volume and length of the hull of the piece; a, b: of the sides above and below the plane
 *
 * The first terms say how much the hulls fill.  The last one lets long pieces be halved where no single cut empties the
 * hulls, as of a ring.  Hulls are those of the points farthest along 128 directions.
 *
 * Reference: Chazelle 1984, Convex partitions of polyhedra (cuts along faces at notches); Mamou 2016, V-HACD (axes).
 * Cost: triangles times directions a plane. */
#include "geometry/split/piece.h"
#include "math/eigen.h"
#include "math/spatial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES_ACROSS = 7, MAX_NOTCHES = 12, SUPPORT_DIRECTIONS = 64 };
static const double EDGE_LENGTH_WEIGHT = 0.1;
static const double NOTCH_ANGLE = 0.1;             /* rad: flatter edges are no notches */
static const double MIN_WIDTH_OVER_EXTENT = 2e-3;  /* of the extent: no piece is thinner across its cut */
static const double SAME_PLANE_OVER_EXTENT = 1e-6; /* of 1, and of the extent */
static const double GOLDEN_ANGLE = 2.39996322972865332;

/* ---- notches ---- */

static int compare_notches(const void *a, const void *b) {
    const split_notch *x = a, *y = b;
    return (x->weight < y->weight) - (x->weight > y->weight);
}

split_notch *list_notches(const sim_mesh *mesh, int *count) {
    split_notch *notch = malloc(((size_t)mesh->ntriangle * 3 / 2 + 1) * sizeof *notch);
    *count = 0;
    for (int t = 0; t < mesh->ntriangle && notch; t++) {
        for (int k = 0; k < 3; k++) {
            int other = mesh->across[t][k];
            if (other <= t) {
                continue;
            }
            v3 n[2];
            const int pair[2] = {t, other};
            for (int i = 0; i < 2; i++) {
                const int *c = mesh->triangle[pair[i]];
                v3 a = mesh->vertex[c[0]];
                n[i] = v3_cross(v3_sub(mesh->vertex[c[1]], a), v3_sub(mesh->vertex[c[2]], a));
                n[i] = v3_scale(1 / fmax(v3_norm(n[i]), DBL_MIN), n[i]);
            }
            /* concave: the normals lean towards each other across the edge */
            v3 a = mesh->vertex[mesh->triangle[t][k]], b = mesh->vertex[mesh->triangle[t][(k + 1) % 3]];
            v3 edge = v3_sub(b, a);
            double turn = v3_dot(v3_cross(n[0], n[1]), edge), length = v3_norm(edge);
            double angle = atan2(v3_norm(v3_cross(n[0], n[1])), v3_dot(n[0], n[1]));
            if (turn < 0 && angle > NOTCH_ANGLE) {
                notch[(*count)++] = (split_notch){a, b, {n[0], n[1]}, length * angle};
            }
        }
    }
    if (notch) {
        qsort(notch, (size_t)*count, sizeof *notch, compare_notches);
    }
    return notch;
}

/* Is the middle of a notch within the walls of a piece? */
static bool is_inside(const piece *p, const split_notch *n, double extent) {
    v3 middle = v3_scale(0.5, v3_add(n->a, n->b));
    for (int k = 0; k < p->nwall; k++) {
        if (!(v3_dot(p->wall[k].normal, middle) > p->wall[k].offset + SAME_PLANE_OVER_EXTENT * extent)) {
            return false;
        }
    }
    return true;
}

/* ---- axes ---- */

/* Axes of the covariance of the surface. */
static void find_axes(const piece *p, v3 axis[3]) {
    double m[3][3] = {{0}}, e[3][3], area = 0;
    v3 mean = {0, 0, 0};
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < p->count; k++) {
            const v3 *c = p->triangle[k];
            double A = v3_norm(v3_cross(v3_sub(c[1], c[0]), v3_sub(c[2], c[0])));
            v3 x = v3_scale(1.0 / 3, v3_add(c[0], v3_add(c[1], c[2])));
            if (pass == 0) {
                mean = v3_axpy(mean, A, x);
                area += A;
                continue;
            }
            x = v3_sub(x, mean);
            const double d[3] = {x.x, x.y, x.z};
            for (int i = 0; i < 9; i++) {
                m[i / 3][i % 3] += A * d[i / 3] * d[i % 3];
            }
        }
        mean = pass == 0 && area > 0 ? v3_scale(1 / area, mean) : mean;
    }
    eigen_symmetric(m, e);
    for (int k = 0; k < 3; k++) {
        axis[k] = v3_make(e[0][k], e[1][k], e[2][k]);
    }
}

static void find_range(const piece *p, v3 n, double range[2]) {
    range[0] = INFINITY;
    range[1] = -INFINITY;
    const sim_hull *h = p->hull->hull;
    for (int k = 0; k < h->nvertex; k++) {
        double x = v3_dot(n, h->vertex[k]);
        range[0] = fmin(range[0], x);
        range[1] = fmax(range[1], x);
    }
}

static int add_plane(split_plane *out, int count, split_plane at, double extent) {
    for (int k = 0; k < count; k++) {
        double along = v3_dot(out[k].normal, at.normal), sign = along < 0 ? -1 : 1;
        if (fabs(along) > 1 - SAME_PLANE_OVER_EXTENT &&
            fabs(out[k].offset - sign * at.offset) < SAME_PLANE_OVER_EXTENT * extent) {
            return count;
        }
    }
    if (count < MAX_CANDIDATES) {
        out[count++] = at;
    }
    return count;
}

int list_candidates(const piece *p, const split_notch *notch, int nnotch, double extent, split_plane *out) {
    /* along faces at notches */
    int count = 0;
    for (int k = 0, used = 0; k < nnotch && used < MAX_NOTCHES; k++) {
        if (is_inside(p, &notch[k], extent)) {
            for (int i = 0; i < 2; i++) {
                v3 n = notch[k].normal[i];
                count = add_plane(out, count, (split_plane){n, v3_dot(n, notch[k].a)}, extent);
            }
            used++;
        }
    }
    /* across axes */
    v3 axis[6] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    find_axes(p, axis + 3);
    for (int k = 0; k < 6; k++) {
        double range[2];
        find_range(p, axis[k], range);
        for (int i = 1; i <= PLANES_ACROSS; i++) {
            double offset = range[0] + (range[1] - range[0]) * i / (PLANES_ACROSS + 1);
            count = add_plane(out, count, (split_plane){axis[k], offset}, extent);
        }
    }
    return count;
}

/* ---- cost ---- */

typedef struct farthest {
    double low[SUPPORT_DIRECTIONS], high[SUPPORT_DIRECTIONS];
    v3 at[2 * SUPPORT_DIRECTIONS];
} farthest;

/* Directions spread evenly over half a sphere (Fibonacci lattice). */
static void spread_directions(v3 *direction) {
    for (int k = 0; k < SUPPORT_DIRECTIONS; k++) {
        double z = (k + 0.5) / SUPPORT_DIRECTIONS, r = sqrt(1 - z * z);
        direction[k] = v3_make(r * cos(GOLDEN_ANGLE * k), r * sin(GOLDEN_ANGLE * k), z);
    }
}

static void take_point(farthest *f, const v3 *direction, v3 x) {
    for (int k = 0; k < SUPPORT_DIRECTIONS; k++) {
        double d = v3_dot(direction[k], x);
        if (d < f->low[k]) {
            f->low[k] = d;
            f->at[2 * k] = x;
        }
        if (d > f->high[k]) {
            f->high[k] = d;
            f->at[2 * k + 1] = x;
        }
    }
}

/* Volume of the hull of points, and the greatest distance along the directions. */
static double measure_hull(const farthest *f, double *length) {
    sim_error why = {0};
    sim_geometry *hull = sim_geometry_hull(f->at, 2 * SUPPORT_DIRECTIONS, &why);
    double volume = hull ? hull->solid.mass : why.status == SIM_BAD_INPUT ? 0 : INFINITY;
    sim_geometry_free(hull);
    *length = 0;
    for (int k = 0; k < SUPPORT_DIRECTIONS; k++) {
        *length = fmax(*length, f->high[k] - f->low[k]);
    }
    return volume;
}

double cut_cost(const piece *p, const sim_geometry *solid, split_plane at, double extent) {
    /* both sides wide enough */
    double range[2];
    find_range(p, at.normal, range);
    if (!(at.offset - range[0] > MIN_WIDTH_OVER_EXTENT * extent) ||
        !(range[1] - at.offset > MIN_WIDTH_OVER_EXTENT * extent)) {
        return INFINITY;
    }
    /* points farthest along all directions */
    v3 direction[SUPPORT_DIRECTIONS];
    piece side[2];
    farthest far[2];
    spread_directions(direction);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < SUPPORT_DIRECTIONS; k++) {
            far[i].low[k] = INFINITY;
            far[i].high[k] = -INFINITY;
        }
    }
    if (piece_cut(p, at, extent, &side[0], &side[1])) {
        return INFINITY;
    }
    double volume = 0, squares = 0, whole = 0;
    for (int i = 0; i < 2; i++) {
        int count;
        v3 *corner = piece_corners(&side[i], solid, &count);
        for (int k = 0; k < count && corner; k++) {
            take_point(&far[i], direction, corner[k]);
        }
        double length = 0;
        volume += count && corner ? measure_hull(&far[i], &length) : INFINITY;
        free(corner);
        squares += length * length;
        piece_free(&side[i]);
    }
    for (int k = 0; k < SUPPORT_DIRECTIONS; k++) {
        whole = fmax(whole, fmax(far[0].high[k], far[1].high[k]) - fmin(far[0].low[k], far[1].low[k]));
    }
    return volume + EDGE_LENGTH_WEIGHT * p->hull->solid.mass * squares / (whole * whole);
}
