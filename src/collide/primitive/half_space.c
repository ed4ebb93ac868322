/* Contact of a solid with a half-space.
 *
 * With the half-space's normal n the gap of a point x is n . x - n . o, o any point of its surface; the solid's is that
 * of its lowest point. Solids with corners give those of the side that faces down. The lowest point of a round solid
 * has the same number wherever it has rolled to. */
#include "collide/convex/convex.h"
#include "collide/primitive/primitives.h"

static const double MAX_HEIGHT_LOSS_OVER_SIZE =
    1e-13; /* of the size: the lowest point is missing where others stay above it by more */
static const double STANDING =
    0.2; /* sine of the angle up to which a side counts as standing, or lying, on the plane */
static const double MIN_DOWNWARD_COSINE = 0.5; /* cosine: faces that far from the plane's direction bear nothing */

/* Height of A's point x over B's surface. */
static double height_over_plane(const pair *p, v3 x) { return v3_dot(p->X_ab.R.z, v3_sub(x, p->X_ab.p)); }

static void add_point_of_a(const pair *p, manifold *out, v3 x, uint32_t vertex) {
    add_contact(p, out, x, p->X_ab.R.z, height_over_plane(p, x), feature_pair(vertex, 0));
}

void box_half_space(const pair *p, manifold *out) {
    convex box;
    face f;
    convex_of_shape(p->a, &box);
    convex_face(&box, v3_neg(p->X_ab.R.z), M_PI / 2, INFINITY, &f);
    for (int k = 0; k < f.count; k++) {
        add_point_of_a(p, out, f.corner[k], f.vertex[k]);
    }
}

/* The first point is on the ball of the lower end. The second is on the side below the other end, r / cos t off the
 * axis when the capsule leans by t. It is left out where the ball hides it. */
void capsule_half_space(const pair *p, manifold *out) {
    v3 n = p->X_ab.R.z;
    double r = p->a->size[0], length = p->a->size[1], fall = fabs(n.z), cosine = sqrt(fmax(1 - fall * fall, 0));
    for (uint32_t end = 0; end < 2; end++) {
        v3 centre = {0, 0, end ? length / 2 : -length / 2};
        if (n.z == 0 || (n.z < 0) == (int)end) {
            add_point_of_a(p, out, v3_axpy(centre, -r, n), 4 * end);
        } else if (fall <= STANDING && length * cosine > r * fall) {
            add_point_of_a(p, out, v3_axpy(centre, -r / cosine, n), 4 * end);
        }
    }
}

/* Lying or rolling: the lowest point of each rim.  Standing, when all of the lower rim may touch: points of it that
 * turn with it, and its lowest. */
void cylinder_half_space(const pair *p, manifold *out) {
    static const double turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    v3 n = p->X_ab.R.z;
    double r = p->a->size[0], half = p->a->size[1] / 2, across = sqrt(n.x * n.x + n.y * n.y), least = HUGE_VAL;
    v3 side = direction_or(v3_make(-n.x, -n.y, 0), across, v3_make(1, 0, 0));
    int low = n.z < 0, first = out->count;
    v3 lowest = {r * side.x, r * side.y, low ? half : -half}, highest = {-lowest.x, -lowest.y, lowest.z};
    if (across > STANDING || height_over_plane(p, highest) > p->margin) {
        add_point_of_a(p, out, v3_make(r * side.x, r * side.y, -half), 0);
        add_point_of_a(p, out, v3_make(r * side.x, r * side.y, half), 4);
        return;
    }
    for (int k = 0; k < 4; k++) {
        v3 x = {r * turn[k][0], r * turn[k][1], lowest.z};
        least = fmin(least, height_over_plane(p, x));
        add_point_of_a(p, out, x, 4 * (uint32_t)(2 + 8 * low + 2 * k)); /* numbers as convex_face has them */
    }
    if (height_over_plane(p, lowest) < least - MAX_HEIGHT_LOSS_OVER_SIZE * (r + half)) {
        add_point_of_a(p, out, lowest, 4 * (uint32_t)low);
    }
    manifold_reduce(p, out, first, 4);
}

void ellipsoid_half_space(const pair *p, manifold *out) {
    const double *e = p->a->size;
    v3 n = p->X_ab.R.z, stretched = {e[0] * n.x, e[1] * n.y, e[2] * n.z};
    double far = v3_norm(stretched);
    v3 x = v3_make(-e[0] * stretched.x / far, -e[1] * stretched.y / far, -e[2] * stretched.z / far);
    add_point_of_a(p, out, x, 0);
}

enum { MAX_VERTICES_WITHOUT_SEARCH = 64 }; /* vertices that are as quickly all looked at */

/* Here the half-space is A, solid below its z = 0, and the hull's lowest points are sought in its frame. */
void half_space_convex(const pair *p, manifold *out) {
    /* the lowest vertex */
    const sim_hull *hull = p->b->geometry->hull;
    const pose *X = &p->X_ab;
    v3 down = {-X->R.x.z, -X->R.y.z, -X->R.z.z};
    convex c = {.kind = CONVEX_HULL, .hull = hull};
    uint32_t lowest = 0;
    if (hull->nvertex > MAX_VERTICES_WITHOUT_SEARCH &&
        X->p.z - v3_dot(down, convex_support(&c, down, &lowest)) > p->margin) {
        return;
    }
    double least = X->p.z - v3_dot(down, hull->vertex[lowest]);
    /* vertices within the margin */
    int low = 0;
    for (int k = 0; k < hull->nvertex; k++) {
        double z = X->p.z - v3_dot(down, hull->vertex[k]);
        low += z <= p->margin;
        lowest = z < least ? (uint32_t)k : lowest;
        least = z < least ? z : least;
    }
    if (low == 0) {
        return;
    }
    /* vertices that bear: those of faces that look down, and the lowest */
    unsigned char *bears = ARENA_NEW(p->arena, unsigned char, hull->nvertex);
    if (!bears) {
        out->failed = 1;
        return;
    }
    for (int k = 0; k < hull->nvertex; k++) {
        bears[k] = k == (int)lowest;
    }
    for (int f = 0; f < hull->nface && low > 1; f++) {
        if (v3_dot(hull->normal[f], down) >= MIN_DOWNWARD_COSINE) {
            for (int k = hull->face_start[f]; k < hull->face_start[f + 1]; k++) {
                bears[hull->loop[k]] = 1;
            }
        }
    }
    /* contacts */
    int first = out->count;
    for (int k = 0; k < hull->nvertex; k++) {
        if (!bears[k] || X->p.z - v3_dot(down, hull->vertex[k]) > p->margin) {
            continue;
        }
        v3 x = pose_point(*X, hull->vertex[k]);
        contact_point point =
            point_between(v3_make(x.x, x.y, 0.5 * x.z), v3_make(0, 0, -1), x.z, feature_pair(0, 4 * (uint32_t)k));
        if (x.z <= p->margin) {
            manifold_add(out, p->arena, &point);
        }
    }
    manifold_reduce(p, out, first, 4);
}
