/* Reduction of contact points to few.
 *
 * The deepest comes first, then the farthest from it. Each further point adds most to the area of the chosen ones
 * across the normal of the deepest. It counts by how near it is to carrying: fully where it is as deep as the deepest,
 * not at all at the margin. Points that add next to nothing are left out. The choice of a step ago stays while it spans
 * nearly as much and still holds a deepest point. So rounding does not change the points that carry the load.
 *
 * The points are taken to have about one normal. */
#include "collide/convex/convex.h"

static const double MIN_AREA_RATIO = 0.9; /* a choice that spans this part of the best is as good */
static const double MIN_AREA_OVER_DISTANCE2 =
    1e-3; /* a point that adds less than this part of (greatest distance)^2 adds nothing */
static const double DEPTH_NOISE_OVER_DISTANCE =
    1e-7; /* from step to step depths are equal that differ by less of the greatest distance, */
static const double DEPTH_ROUNDING_OVER_DISTANCE = 1e-13; /* and by less than this for single queries */
static const double MIN_GAIN_RATIO = 1 + 1e-9;            /* of equal points the first */

typedef struct choice {
    const contact_point *point;
    int count, most;
    double *x, *y; /* places across the normal */
    int *chosen;   /* by number of choice */
    int *ring;     /* the corners of the chosen ones' hull, anticlockwise */
    int nchosen, nring;
    double depth, margin; /* gap of the deepest, and the greatest there is */
} choice;

static double twice_area(const choice *c, int i, int j, int k) {
    return (c->x[j] - c->x[i]) * (c->y[k] - c->y[i]) - (c->y[j] - c->y[i]) * (c->x[k] - c->x[i]);
}

static double squared_distance(const choice *c, int i, int j) {
    double x = c->x[j] - c->x[i], y = c->y[j] - c->y[i];
    return x * x + y * y;
}

/* Twice the area that point k adds to the hull; with less than two points in it, the square of a distance. */
static double added_area(const choice *c, int k) {
    if (c->nring == 1) {
        return squared_distance(c, c->ring[0], k);
    }
    double sum = 0;
    for (int i = 0, from = c->ring[c->nring - 1]; i < c->nring; from = c->ring[i++]) {
        sum -= min_of(twice_area(c, from, c->ring[i], k), 0);
    }
    return sum;
}

/* From 1 at the deepest to 0 at the margin. */
static double carrying_share(const choice *c, int k) {
    double span = c->margin - c->depth;
    return span > 0 ? min_of(max_of((c->margin - c->point[k].gap) / span, 0), 1) : 1;
}

static double carried_gain(const choice *c, int k) { return carrying_share(c, k) * added_area(c, k); }

/* Takes point k in: the edges of the hull that see it make way. */
static void add_to_hull(choice *c, int k) {
    c->chosen[c->nchosen++] = k;
    if (c->nring < 2) {
        c->ring[c->nring++] = k;
        return;
    }
    if (!(added_area(c, k) > 0)) {
        return;
    }
    int n = c->nring, sees[2] = {-1, -1}; /* first and last edge in sight; in between lie only such */
    for (int i = 0; i < n; i++) {
        int here = twice_area(c, c->ring[i], c->ring[(i + 1) % n], k) < 0;
        int before = twice_area(c, c->ring[(i + n - 1) % n], c->ring[i], k) < 0;
        if (here && !before) {
            sees[0] = i;
        }
        if (before && !here) {
            sees[1] = i;
        }
    }
    if (sees[0] < 0 || sees[1] < 0) {
        return;
    }
    int *fresh = c->ring + c->most + 1, count = 0;
    fresh[count++] = k;
    for (int i = sees[1];; i = (i + 1) % n) {
        fresh[count++] = c->ring[i];
        if (i == sees[0]) {
            break;
        }
    }
    for (int i = 0; i < count; i++) {
        c->ring[i] = fresh[i];
    }
    c->nring = count;
}

/* Twice the area that the chosen ones span, as far as they span one. */
static double chosen_area(const choice *c) {
    double sum = 0;
    for (int i = 1; i + 1 < c->nring; i++) {
        sum += twice_area(c, c->ring[0], c->ring[i], c->ring[i + 1]);
    }
    return sum;
}

/* The farthest two chosen ones, squared. */
static double chosen_length2(const choice *c) {
    double most = 0;
    for (int i = 0; i < c->nchosen; i++) {
        for (int j = 0; j < i; j++) {
            most = max_of(most, squared_distance(c, c->chosen[i], c->chosen[j]));
        }
    }
    return most;
}

/* How much of the load the chosen ones could carry, on average. */
static double mean_carrying_share(const choice *c) {
    double sum = 0;
    for (int i = 0; i < c->nchosen; i++) {
        sum += carrying_share(c, c->chosen[i]);
    }
    return sum / c->nchosen;
}

static bool is_chosen(const choice *c, int k) {
    for (int i = 0; i < c->nchosen; i++) {
        if (c->chosen[i] == k) {
            return true;
        }
    }
    return false;
}

/* Greedy; points kept a step ago count for somewhat more. */
static void choose_best(choice *c, const unsigned char *kept, int deepest, double nothing) {
    c->nchosen = c->nring = 0;
    add_to_hull(c, deepest);
    while (c->nchosen < c->most) {
        int best = -1;
        double most = 0;
        for (int k = 0; k < c->count; k++) {
            double g = carried_gain(c, k);
            double worth = kept[k] ? g / MIN_AREA_RATIO : g;
            if (g > nothing && worth > MIN_GAIN_RATIO * most && !is_chosen(c, k)) {
                most = worth;
                best = k;
            }
        }
        if (best < 0) {
            return;
        }
        add_to_hull(c, best);
    }
}

/* The points kept a step ago, if one of them is a deepest. */
static bool choose_kept(choice *c, const unsigned char *kept, double deep_enough) {
    int number = 0, deep = 0;
    for (int k = 0; k < c->count; k++) {
        number += kept[k];
        deep |= kept[k] && c->point[k].gap <= deep_enough;
    }
    if (number > c->most || !deep) {
        return false;
    }
    c->nchosen = c->nring = 0;
    for (int k = 0; k < c->count; k++) {
        if (kept[k]) {
            add_to_hull(c, k);
        }
    }
    return true;
}

/* Of the points that are deep enough the farthest from the middle of all. */
static int find_outermost(const choice *c, double deep_enough) {
    double x = 0, y = 0, most = -1;
    int best = 0;
    for (int k = 0; k < c->count; k++) {
        x += c->x[k] / c->count;
        y += c->y[k] / c->count;
    }
    for (int k = 0; k < c->count; k++) {
        double square = (c->x[k] - x) * (c->x[k] - x) + (c->y[k] - y) * (c->y[k] - y);
        if (c->point[k].gap <= deep_enough && square > MIN_GAIN_RATIO * most) {
            most = square;
            best = k;
        }
    }
    return best;
}

static void project_points(choice *c, v3 n) {
    v3 ex = v3_perpendicular(n), ey = v3_cross(n, ex), origin = c->point[0].position;
    for (int k = 0; k < c->count; k++) {
        v3 d = v3_sub(c->point[k].position, origin);
        c->x[k] = v3_dot(ex, d);
        c->y[k] = v3_dot(ey, d);
    }
}

void manifold_reduce(const pair *p, manifold *out, int first, int most) {
    /* memory */
    int count = out->count - first;
    if (count <= most || most < 1) {
        return;
    }
    size_t mark = arena_mark(p->arena);
    contact_point *point = out->point + first;
    choice c = {.point = point, .count = count, .most = most};
    c.x = ARENA_NEW(p->arena, double, 2 * (size_t)count);
    c.chosen = ARENA_NEW(p->arena, int, 3 * ((size_t)most + 1));
    unsigned char *kept = ARENA_NEW(p->arena, unsigned char, count);
    if (!c.x || !c.chosen || !kept) {
        out->failed = 1;
        return;
    }
    c.y = c.x + count;
    c.ring = c.chosen + most + 1;
    /* the deepest point, and features of the last step */
    int deepest = 0, known = 0;
    for (int k = 0; k < count; k++) {
        kept[k] = (unsigned char)pair_was_kept(p, point[k].feature);
        known |= kept[k];
        deepest = point[k].gap < point[deepest].gap ? k : deepest;
    }
    /* projection across its normal */
    project_points(&c, point[deepest].normal);
    double widest = 0, depth = point[deepest].gap;
    for (int k = 0; k < count; k++) {
        widest = max_of(widest, squared_distance(&c, deepest, k));
    }
    c.depth = depth;
    c.margin = p->margin;
    deepest =
        find_outermost(&c, depth + (known ? DEPTH_NOISE_OVER_DISTANCE : DEPTH_ROUNDING_OVER_DISTANCE) * sqrt(widest));
    /* points that span the greatest area */
    double nothing = MIN_AREA_OVER_DISTANCE2 * widest;
    choose_best(&c, kept, deepest, nothing);
    double best_area = mean_carrying_share(&c) * chosen_area(&c),
           best_length = mean_carrying_share(&c) * chosen_length2(&c);
    /* those of the last step, unless they span much less */
    if (choose_kept(&c, kept, depth + DEPTH_NOISE_OVER_DISTANCE * sqrt(widest)) &&
        (mean_carrying_share(&c) * chosen_area(&c) < MIN_AREA_RATIO * best_area ||
         mean_carrying_share(&c) * chosen_length2(&c) < MIN_AREA_RATIO * MIN_AREA_RATIO * best_length)) {
        choose_best(&c, kept, deepest, nothing);
    }
    out->count = first;
    for (int k = 0; k < count; k++) { /* in the order in which they came */
        if (is_chosen(&c, k)) {
            out->point[out->count++] = point[k];
        }
    }
    arena_release(p->arena, mark);
}
