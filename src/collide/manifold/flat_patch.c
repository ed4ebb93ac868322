/* Corners of a flat contact.
 *
 * Where a plane rests on a plane, forces at the corners of the convex hull of their contact equal any pressure, in
 * force and moment.  The hull is found by Andrew's monotone chain (1979, "Another efficient algorithm for convex hulls
 * in two dimensions"). */
#include "collide/manifold/cluster.h"

static const double MAX_NORMAL_DIFFERENCE = 1e-3; /* difference of unit normals */
static const double STRAIGHT_OVER_SPAN = 1e-5, INSIDE_OVER_SPAN = 0.02, KEPT_BONUS_OVER_SPAN = 1e-3,
                    MIN_DEEPER_OVER_SPAN = 1e-7, MIN_DEEPER_OVER_RANGE = 0.1;
enum { MAX_PLAIN_POINTS = 4, MAX_CORNERS = 8 };

typedef struct flat_point {
    double u, v;
    int which;
} flat_point;

typedef struct patch {
    const contact_point *point;
    flat_point *at, *hull;
    int count, nhull;
    double span;
} patch;

static bool is_flat_left_of(const flat_point *a, const flat_point *b) {
    return a->u != b->u ? a->u < b->u : a->v != b->v ? a->v < b->v : a->which < b->which;
}

static void shell_sort(flat_point *p, int count) {
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int k = gap; k < count; k++) {
            flat_point mine = p[k];
            int j = k;
            for (; j >= gap && is_flat_left_of(&mine, &p[j - gap]); j -= gap) {
                p[j] = p[j - gap];
            }
            p[j] = mine;
        }
    }
}

static double turn_area(const flat_point *a, const flat_point *b, const flat_point *c) {
    return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

/* One half of the hull, from `hull[from]` on. */
static int build_half_hull(const patch *s, int from, int top) {
    int n = from;
    for (int i = 0; i < s->count; i++) {
        const flat_point *p = &s->at[top ? s->count - 1 - i : i];
        while (n >= from + 2 && turn_area(&s->hull[n - 2], &s->hull[n - 1], p) <= 0) {
            n--;
        }
        s->hull[n++] = *p;
    }
    return n - 1; /* its last is the first of the other half */
}

/* Points that stand out less than rounding are no corners. */
static void remove_straight_corners(patch *s) {
    for (int k = 0; k < s->nhull && s->nhull > 2;) {
        const flat_point *a = &s->hull[(k + s->nhull - 1) % s->nhull], *b = &s->hull[k];
        const flat_point *c = &s->hull[(k + 1) % s->nhull];
        double chord = hypot(c->u - a->u, c->v - a->v);
        if (turn_area(a, b, c) > STRAIGHT_OVER_SPAN * s->span * chord) {
            k++;
            continue;
        }
        for (int i = k; i + 1 < s->nhull; i++) {
            s->hull[i] = s->hull[i + 1];
        }
        s->nhull--;
        k = k > 0 ? k - 1 : 0;
    }
}

/* Is any point well inside the hull? */
static bool is_filled(const patch *s) {
    for (int i = 0; i < s->count; i++) {
        double near = HUGE_VAL;
        for (int k = 0; k < s->nhull; k++) {
            const flat_point *a = &s->hull[k], *b = &s->hull[(k + 1) % s->nhull];
            near = fmin(near, turn_area(a, b, &s->at[i]) / fmax(hypot(b->u - a->u, b->v - a->v), 1e-300));
        }
        if (near > INSIDE_OVER_SPAN * s->span) {
            return true;
        }
    }
    return false;
}

/* The farthest corners in MAX_CORNERS directions; of those that are nearly as far, one that was kept. */
static void mark_extremes(const pair *p, const patch *s, unsigned char *stays) {
    static const double way[MAX_CORNERS][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    for (int d = 0; d < MAX_CORNERS; d++) {
        double far = -HUGE_VAL;
        int best = 0;
        for (int k = 0; k < s->nhull; k++) {
            const flat_point *h = &s->hull[k];
            double along = way[d][0] * h->u + way[d][1] * h->v;
            along += pair_was_kept(p, s->point[h->which].feature) ? KEPT_BONUS_OVER_SPAN * s->span : 0;
            best = along > far ? k : best;
            far = fmax(far, along);
        }
        stays[s->hull[best].which] = 1;
    }
}

static int find_deepest_flat(const patch *s) {
    int best = s->at[0].which;
    for (int k = 1; k < s->count; k++) {
        best = s->point[s->at[k].which].gap < s->point[best].gap ? s->at[k].which : best;
    }
    return best;
}

/* By how much the deepest point must be deeper than those that stay.  On the hull of a disc that rocks it is another one from
 * step to step; eight of its corners miss 4 % of what gaps differ by. */
static double deeper_than(const patch *s, int deepest) {
    bool on_hull = false;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < s->nhull; k++) {
        double gap = s->point[s->hull[k].which].gap;
        low = fmin(low, gap);
        high = fmax(high, gap);
        on_hull = on_hull || s->hull[k].which == deepest;
    }
    return fmax(MIN_DEEPER_OVER_SPAN * s->span, on_hull ? MIN_DEEPER_OVER_RANGE * (high - low) : 0);
}

/* Marks what stays of one flat contact. */
static void mark_hull_corners(const pair *p, patch *s, unsigned char *stays) {
    /* extent */
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < s->count; k++) {
        low[0] = fmin(low[0], s->at[k].u), high[0] = fmax(high[0], s->at[k].u);
        low[1] = fmin(low[1], s->at[k].v), high[1] = fmax(high[1], s->at[k].v);
    }
    s->span = hypot(high[0] - low[0], high[1] - low[1]);
    /* convex hull by two chains, upper and lower */
    shell_sort(s->at, s->count);
    int lower = build_half_hull(s, 0, 0);
    s->nhull = build_half_hull(s, lower, 1);
    remove_straight_corners(s);
    /* a patch with holes keeps all points */
    if (s->nhull > MAX_CORNERS && !is_filled(s)) {
        for (int k = 0; k < s->count; k++) {
            stays[s->at[k].which] = 1;
        }
        return;
    }
    /* corners, or the extremes of a few directions */
    if (s->nhull > MAX_CORNERS) {
        mark_extremes(p, s, stays);
    }
    double least = HUGE_VAL;
    for (int k = 0; k < s->nhull; k++) {
        int which = s->hull[k].which;
        stays[which] |= s->nhull <= MAX_CORNERS;
        least = stays[which] ? fmin(least, s->point[which].gap) : least;
    }
    /* the deepest point, where it is deeper than all of these */
    int deepest = find_deepest_flat(s);
    if (s->point[deepest].gap < least - deeper_than(s, deepest)) {
        stays[deepest] = 1;
    }
}

/* The points that lie flat with point k, those taken up marked. */
static void gather_flat_points(const contact_point *point, int count, int k, double near, unsigned char *taken,
                               patch *s) {
    v3 n = point[k].normal, side = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    v3 e = v3_cross(n, side), f;
    e = v3_scale(1 / v3_norm(e), e);
    f = v3_cross(n, e);
    s->count = 0;
    for (int i = k; i < count; i++) {
        v3 d = v3_sub(point[i].position, point[k].position), m = v3_sub(point[i].normal, n);
        if (!taken[i] && fabs(v3_dot(d, n)) <= near && v3_dot(m, m) <= MAX_NORMAL_DIFFERENCE * MAX_NORMAL_DIFFERENCE) {
            taken[i] = 1;
            s->at[s->count++] = (flat_point){v3_dot(d, e), v3_dot(d, f), i};
        }
    }
}

void flat_points(const pair *p, manifold *out, int first, double near) {
    /* memory */
    int count = out->count - first, left = 0;
    if (count <= MAX_PLAIN_POINTS || out->failed) {
        return;
    }
    contact_point *point = out->point + first;
    unsigned char *taken = ARENA_NEW(p->arena, unsigned char, count),
                  *stays = ARENA_NEW(p->arena, unsigned char, count);
    patch s = {.point = point};
    s.at = ARENA_NEW(p->arena, flat_point, count);
    s.hull = ARENA_NEW(p->arena, flat_point, 2 * count + 2);
    if (!taken || !stays || !s.at || !s.hull) {
        out->failed = 1;
        return;
    }
    for (int k = 0; k < count; k++) {
        taken[k] = stays[k] = 0;
    }
    /* of each flat patch the corners of its hull stay */
    for (int k = 0; k < count; k++) {
        if (!taken[k]) {
            gather_flat_points(point, count, k, near, taken, &s);
            if (s.count > MAX_PLAIN_POINTS) {
                mark_hull_corners(p, &s, stays);
            } else {
                for (int i = 0; i < s.count; i++) {
                    stays[s.at[i].which] = 1;
                }
            }
        }
    }
    /* remove the others */
    for (int k = 0; k < count; k++) {
        if (stays[k]) {
            point[left++] = point[k];
        }
    }
    out->count = first + left;
}
