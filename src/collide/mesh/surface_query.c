/* Queries of a surface: triangles in a box or a ball, side of a point.
 *
 * Meshes descend their bounding volume hierarchy.  A height field has its cells on a grid: those under a box follow
 * from its sides; over many cells the hierarchy rules out blocks by their heights.
 * Cost: logarithmic in the triangles of a mesh, plus those found. */
#include "collide/mesh/surface.h"

#include "geometry/mesh/mesh.h"

/* ---- height fields ---- */

/* The cells of an axis that [low, high] meets or touches: first .. last; none if first > last. */
static void cells_of(double low, double high, double size, int count, int *first, int *last) {
    double scale = count / size;
    *first = (int)fmin(fmax(ceil((low + 0.5 * size) * scale) - 1, 0), count);
    *last = (int)fmin(fmax(floor((high + 0.5 * size) * scale), -1), count - 1);
}

/* Cells of columns i0 .. i1, rows j0 .. j1 that reach heights between low and high. False: `visit` has had enough. */
static bool cells_between(const sim_heights *h, const int i[2], const int j[2], double low, double high,
                          bvh_visit *visit, void *context) {
    int columns = h->columns;
    for (int v = j[0]; v <= j[1]; v++) {
        for (int u = i[0]; u <= i[1]; u++) {
            const double *z = h->height + (size_t)v * (size_t)columns + u;
            double near = z[0], diagonal = z[columns + 1], right = z[1], left = z[columns];
            double least = near < diagonal ? near : diagonal, most = near < diagonal ? diagonal : near;
            int cell = v * (columns - 1) + u;
            if ((least <= high || right <= high) && (most >= low || right >= low) && !visit(context, 2 * cell)) {
                return false;
            }
            if ((least <= high || left <= high) && (most >= low || left >= low) && !visit(context, 2 * cell + 1)) {
                return false;
            }
        }
    }
    return true;
}

enum { FEW_CELLS = 4 * BVH_CELLS * BVH_CELLS };

/* Many cells: by the tree's blocks. */
static void blocks_between(const surface *s, const int i[2], const int j[2], double low, double high, bvh_visit *visit,
                           void *context) {
    /* the rectangle of cells in metres, so that nodes can be compared */
    const sim_heights *h = s->heights;
    int waiting[BVH_MAX_DEPTH + 1] = {0}, nwaiting = 1, columns = h->columns - 1;
    double x = h->size[0] / columns, y = h->size[1] / (h->rows - 1);
    double x0 = (i[0] + 0.5) * x - 0.5 * h->size[0], x1 = (i[1] + 0.5) * x - 0.5 * h->size[0];
    double y0 = (j[0] + 0.5) * y - 0.5 * h->size[1], y1 = (j[1] + 0.5) * y - 0.5 * h->size[1];
    /* descend */
    while (nwaiting > 0) {
        const bvh_node *n = &s->bvh->node[waiting[--nwaiting]];
        if (n->low[0] > x1 || n->high[0] < x0 || n->low[1] > y1 || n->high[1] < y0 || n->low[2] > high ||
            n->high[2] < low) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
            continue;
        }
        /* cells of the leaf within the rectangle */
        int i0 = n->first % columns, j0 = n->first / columns;
        int u[2] = {i[0] > i0 ? i[0] : i0, i[1] < i0 + BVH_CELLS - 1 ? i[1] : i0 + BVH_CELLS - 1};
        int v[2] = {j[0] > j0 ? j[0] : j0, j[1] < j0 + BVH_CELLS - 1 ? j[1] : j0 + BVH_CELLS - 1};
        if (!cells_between(h, u, v, low, high, visit, context)) {
            return;
        }
    }
}

static void heights_in_box(const surface *s, v3 low, v3 high, bvh_visit *visit, void *context) {
    const sim_heights *h = s->heights;
    int i[2], j[2];
    if (low.z > h->highest || high.z < h->lowest || !(low.x <= high.x && low.y <= high.y)) {
        return;
    }
    cells_of(low.x, high.x, h->size[0], h->columns - 1, &i[0], &i[1]);
    cells_of(low.y, high.y, h->size[1], h->rows - 1, &j[0], &j[1]);
    if ((double)(i[1] - i[0]) * (j[1] - j[0]) > FEW_CELLS) {
        blocks_between(s, i, j, low.z, high.z, visit, context);
    } else {
        cells_between(h, i, j, low.z, high.z, visit, context);
    }
}

/* The triangle above or below p, or -1 beside the field. */
static int triangle_at(const sim_heights *h, v3 p) {
    double x = (p.x / h->size[0] + 0.5) * (h->columns - 1), y = (p.y / h->size[1] + 0.5) * (h->rows - 1);
    if (!(x >= 0 && y >= 0 && x <= h->columns - 1 && y <= h->rows - 1)) {
        return -1;
    }
    int i = x < h->columns - 2 ? (int)x : h->columns - 2, j = y < h->rows - 2 ? (int)y : h->rows - 2;
    return 2 * (j * (h->columns - 1) + i) + (x - i < y - j);
}

typedef struct search {
    const surface *s;
    v3 p;
    double distance; /* squared */
    surface_place *place;
} search;

static bool try_triangle(void *context, int t) {
    search *f = context;
    v3 c[3];
    int feature;
    surface_corners(f->s, t, c);
    v3 q = triangle_nearest(c[0], c[1], c[2], f->p, &feature), d = v3_sub(q, f->p);
    double distance = v3_dot(d, d);
    if (distance < f->distance) {
        f->distance = distance;
        f->place->point = q;
        f->place->triangle = t;
        f->place->feature = feature;
    }
    return true;
}

static bool heights_nearest(const surface *s, v3 p, double reach, surface_place *place) {
    search f = {s, p, reach * reach * (1 + 1e-12), place};
    place->triangle = -1;
    int below = triangle_at(s->heights, p);
    if (below >= 0) {
        try_triangle(&f, below);
    }
    /* Square rings would be quicker far away; contact asks from near by. */
    double r = sqrt(f.distance);
    v3 d = v3_make(r, r, r);
    heights_in_box(s, v3_sub(p, d), v3_add(p, d), try_triangle, &f);
    return place->triangle >= 0;
}

/* ---- both ---- */

void surface_in_box(const surface *s, v3 low, v3 high, bvh_visit *visit, void *context) {
    surface_some_in_box(s, 0, low, high, visit, context);
}

void surface_some_in_box(const surface *s, int of, v3 low, v3 high, bvh_visit *visit, void *context) {
    if (s->mesh) {
        bvh_in_box(s->bvh, 0, of ? s->relief->node : NULL, of, low, high, visit, context);
    } else if (!of || s->relief->node[0] & of) {
        heights_in_box(s, low, high, visit, context);
    }
}

/* Points farther above or below a cell than `reach` are beside it. */
static void heights_in_ball(const surface *s, v3 p, double reach, bvh_visit *visit, void *context) {
    const sim_heights *h = s->heights;
    /* cells under the ball */
    int i[2], j[2], columns = h->columns;
    double x = h->size[0] / (columns - 1), y = h->size[1] / (h->rows - 1);
    cells_of(p.x - reach, p.x + reach, h->size[0], columns - 1, &i[0], &i[1]);
    cells_of(p.y - reach, p.y + reach, h->size[1], h->rows - 1, &j[0], &j[1]);
    /* distance of the ball's centre from the box of each cell */
    for (int v = j[0]; v <= j[1]; v++) {
        double low_y = v * y - 0.5 * h->size[1], dy = p.y < low_y ? low_y - p.y : p.y > low_y + y ? p.y - low_y - y : 0;
        for (int u = i[0]; u <= i[1]; u++) {
            double low_x = u * x - 0.5 * h->size[0], dx = p.x < low_x       ? low_x - p.x
                                                          : p.x > low_x + x ? p.x - low_x - x
                                                                            : 0;
            const double *z = h->height + (size_t)v * (size_t)columns + u;
            int rises = z[0] < z[columns + 1];
            double a = z[rises ? 0 : columns + 1], b = z[rises ? columns + 1 : 0];
            double low = z[1] < a ? z[1] : a, high = z[1] > b ? z[1] : b;
            low = z[columns] < low ? z[columns] : low;
            high = z[columns] > high ? z[columns] : high;
            double dz = p.z < low ? low - p.z : p.z > high ? p.z - high : 0;
            int cell = v * (columns - 1) + u;
            if (dx * dx + dy * dy + dz * dz <= reach * reach &&
                !(visit(context, 2 * cell) && visit(context, 2 * cell + 1))) {
                return;
            }
        }
    }
}

void surface_in_ball(const surface *s, v3 p, double reach, bvh_visit *visit, void *context) {
    if (s->mesh) {
        bvh_in_ball(s->bvh, p, reach, visit, context);
    } else {
        heights_in_ball(s, p, reach, visit, context);
    }
}

bool surface_nearest(const surface *s, v3 p, double reach, surface_place *place) {
    if (s->mesh) {
        place->triangle = bvh_nearest(s->bvh, s->mesh, p, reach, &place->point, &place->feature);
    } else {
        heights_nearest(s, p, reach, place);
    }
    if (place->triangle < 0) {
        return false;
    }
    place->normal = surface_feature_normal(s, place->triangle, place->feature);
    return true;
}

double surface_distance(const surface *s, v3 p, double reach, surface_place *place) {
    if (!surface_nearest(s, p, reach, place)) {
        return HUGE_VAL;
    }
    v3 d = v3_sub(p, place->point);
    return v3_dot(d, place->normal) < 0 ? -v3_norm(d) : v3_norm(d);
}

static bool outside_box(const surface *s, v3 p) {
    return p.x < s->low.x || p.x > s->high.x || p.y < s->low.y || p.y > s->high.y || p.z > s->high.z;
}

/* Below a height field by more than it is high, the nearest place is the one straight above. */
static bool heights_hold(const surface *s, v3 p, double *distance, surface_place *place) {
    int t = triangle_at(s->heights, p);
    if (t < 0) {
        return false;
    }
    v3 c[3];
    surface_corners(s, t, c);
    v3 n = surface_normal(s, t);
    double below = v3_dot(n, v3_sub(p, c[0]));
    if (below >= 0) {
        return false;
    }
    double rise = below / n.z;
    if (-rise <
        4 * fmax(s->heights->size[0] / (s->heights->columns - 1), s->heights->size[1] / (s->heights->rows - 1))) {
        *distance = -fabs(surface_distance(s, p, -rise, place));
        return isfinite(*distance);
    }
    *place = (surface_place){v3_axpy(p, -below, n), n, t, 0};
    *distance = below;
    return true;
}

bool surface_holds(const surface *s, v3 p, double *distance, surface_place *place) {
    if (!s->solid || outside_box(s, p)) {
        return false;
    }
    if (s->heights) {
        return heights_hold(s, p, distance, place);
    }
    if (p.z < s->low.z) {
        return false;
    }
    *distance = surface_distance(s, p, HUGE_VAL, place);
    return *distance < 0;
}
