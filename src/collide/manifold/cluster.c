/* Farthest-point sampling of contact points.
 *
 * Points at one place with one normal are one.  Then farthest-point sampling (Gonzalez 1985, "Clustering to minimize
 * the maximum intercluster distance", Theor. Comput. Sci. 38: no set of as many points covers the rest with less than
 * half the radius), from the deepest point, in the metric
 *     d^2 = |x - y|^2 + w^2 |n - m|^2,      w: a quarter of what the points span.
 * after the extreme points along the sides, edges and corners of a cube.  The deepest of its nearest points replaces
 * each point chosen after those, if deeper by more than a twentieth of the range of gaps.  Kept points count as 1.5
 * times as far as they are, so the choice lasts from step to step. */
#include "collide/manifold/cluster.h"
#include "base/disjoint_set.h"

#include <string.h>

enum { FEATURE_SALT_BIT = 26 };                    /* the bits from here on tell apart points of one feature */
static const double EDGE_DISTANCE_OVER_NEAR = 100; /* of `near`: so close two ways out of one edge are of one contact */
static const double SAME_NORMAL_COSINE = 0.995, KEPT_DISTANCE_FACTOR = 1.5 * 1.5, MIN_DEEPER_OVER_RANGE = 0.05;

/* Points by columns: the distances of one to all others are the inner loop. */
typedef struct cloud {
    int count;
    double *c[6]; /* position, w normal */
    double *nearest, *prefer, *score;
    double *owner; /* which chosen point; a double, so that the loop over all points is done in vectors */
    double span;   /* diagonal of their box */
    int *chosen;
} cloud;

static bool comes_before(const contact_point *a, const contact_point *b) {
    if (a->feature != b->feature) {
        return a->feature < b->feature;
    }
    if (a->gap != b->gap) {
        return a->gap < b->gap;
    }
    const double *x = &a->position.x, *y = &b->position.x;
    for (int k = 0; k < 3; k++) {
        if (x[k] != y[k]) {
            return x[k] < y[k];
        }
    }
    return false;
}

static bool is_left_of(const contact_point *a, const contact_point *b) {
    return a->position.x != b->position.x ? a->position.x < b->position.x : comes_before(a, b);
}

typedef bool ordering(const contact_point *a, const contact_point *b);

/* Heap sort of places: no memory, no bad cases. */
static void sift_down(const contact_point *point, int *place, int from, int count, ordering *less) {
    for (int k = from; 2 * k + 1 < count;) {
        int child = 2 * k + 1;
        if (child + 1 < count && less(&point[place[child]], &point[place[child + 1]])) {
            child++;
        }
        if (!less(&point[place[k]], &point[place[child]])) {
            return;
        }
        int swap = place[k];
        place[k] = place[child];
        place[child] = swap;
        k = child;
    }
}

static void heap_sort(const contact_point *point, int *place, int count, ordering *less) {
    for (int k = count / 2 - 1; k >= 0; k--) {
        sift_down(point, place, k, count, less);
    }
    for (int k = count - 1; k > 0; k--) {
        int swap = place[0];
        place[0] = place[k];
        place[k] = swap;
        sift_down(point, place, 0, k, less);
    }
}

/* Was it there a step ago?  `kept` in rising order. */
static bool is_kept_sorted(const uint64_t *kept, int nkept, uint64_t feature) {
    int low = 0, high = nkept;
    while (low < high) {
        int middle = (low + high) / 2;
        if (kept[middle] < feature) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < nkept && kept[low] == feature;
}

static uint64_t *sorted_kept(const pair *p) {
    uint64_t *kept = ARENA_NEW(p->arena, uint64_t, p->nkept + 1);
    for (int k = 0; kept && k < p->nkept; k++) {
        int j = k;
        for (; j > 0 && kept[j - 1] > p->kept[k]; j--) { /* they come in order, or nearly */
            kept[j] = kept[j - 1];
        }
        kept[j] = p->kept[k];
    }
    return kept;
}

/* Joins points that stand within `near` and face the same way: `root` leads from each to the deepest. */
static void join_neighbours(const contact_point *point, int count, int *place, int *root, double near) {
    for (int k = 0; k < count; k++) {
        place[k] = root[k] = k;
    }
    heap_sort(point, place, count, is_left_of);
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count; b++) {
            const contact_point *p = &point[place[a]], *q = &point[place[b]];
            if (q->position.x - p->position.x > near) {
                break;
            }
            v3 d = v3_sub(p->position, q->position);
            if (v3_dot(d, d) <= near * near && v3_dot(p->normal, q->normal) >= SAME_NORMAL_COSINE) {
                int i = disjoint_set_find(root, place[a]), j = disjoint_set_find(root, place[b]);
                const contact_point *x = &point[i], *y = &point[j];
                int deeper = x->gap != y->gap ? x->gap < y->gap : comes_before(x, y);
                root[deeper ? j : i] = deeper ? i : j;
            }
        }
    }
}

/* Leaves one point for each that were joined, by the name of one that was kept, else by the lowest. */
static int merge_joined(contact_point *point, int count, int *root, uint64_t *name, const uint64_t *kept, int nkept) {
    for (int k = 0; k < count; k++) {
        name[k] = point[k].feature;
    }
    for (int k = 0; k < count; k++) {
        int r = disjoint_set_find(root, k), mine = is_kept_sorted(kept, nkept, point[k].feature),
            others = is_kept_sorted(kept, nkept, name[r]);
        if (mine != others ? mine : point[k].feature < name[r]) {
            name[r] = point[k].feature;
        }
    }
    int left = 0;
    for (int k = 0; k < count; k++) {
        if (root[k] == k) {
            contact_point c = point[k];
            c.feature = name[k];
            point[left++] = c;
        }
    }
    return left;
}

static cloud cloud_of(const contact_point *point, int count, const uint64_t *kept, int nkept, sim_arena *arena) {
    /* memory */
    cloud s = {.count = count};
    for (int k = 0; k < 6; k++) {
        s.c[k] = ARENA_NEW(arena, double, count);
    }
    s.nearest = ARENA_NEW(arena, double, count);
    s.prefer = ARENA_NEW(arena, double, count);
    s.owner = ARENA_NEW(arena, double, count);
    s.score = ARENA_NEW(arena, double, count);
    s.chosen = ARENA_NEW(arena, int, count);
    if (!s.c[0] || !s.c[1] || !s.c[2] || !s.c[3] || !s.c[4] || !s.c[5] || !s.nearest || !s.prefer || !s.owner ||
        !s.score || !s.chosen) {
        s.count = -1;
        return s;
    }
    /* extent of the cloud */
    v3 low = point[0].position, high = low;
    for (int k = 1; k < count; k++) {
        v3 x = point[k].position;
        low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    s.span = v3_norm(v3_sub(high, low));
    /* coordinates: positions, and normals scaled by a quarter of the extent */
    double w = 0.25 * s.span;
    for (int k = 0; k < count; k++) {
        const contact_point *c = &point[k];
        double at[6] = {c->position.x, c->position.y, c->position.z, w * c->normal.x, w * c->normal.y, w * c->normal.z};
        for (int j = 0; j < 6; j++) {
            s.c[j][k] = at[j];
        }
        s.nearest[k] = HUGE_VAL;
        s.owner[k] = 0;
        s.prefer[k] = is_kept_sorted(kept, nkept, c->feature) ? KEPT_DISTANCE_FACTOR : 1;
    }
    return s;
}

/* Chooses point k: those nearer to it than to what was chosen before are its own. Returns the next to choose. */
static int choose_point(cloud *s, int which, int k) {
    double a = s->c[0][k], b = s->c[1][k], c = s->c[2][k], d = s->c[3][k], e = s->c[4][k], f = s->c[5][k], me = which;
    const double *restrict x = s->c[0], *restrict y = s->c[1], *restrict z = s->c[2];
    const double *restrict u = s->c[3], *restrict v = s->c[4], *restrict w = s->c[5], *restrict prefer = s->prefer;
    double *restrict nearest = s->nearest, *restrict owner = s->owner, *restrict score = s->score;
    s->chosen[which] = k;
    for (int i = 0; i < s->count; i++) {
        double distance = (x[i] - a) * (x[i] - a) + (y[i] - b) * (y[i] - b) + (z[i] - c) * (z[i] - c) +
                          (u[i] - d) * (u[i] - d) + (v[i] - e) * (v[i] - e) + (w[i] - f) * (w[i] - f);
        owner[i] = distance < nearest[i] ? me : owner[i];
        nearest[i] = distance < nearest[i] ? distance : nearest[i];
        score[i] = nearest[i] * prefer[i];
    }
    int far = 0;
    for (int i = 1; i < s->count; i++) {
        if (score[i] > score[far]) {
            far = i;
        }
    }
    return far;
}

/* Each point chosen after the first `fixed` gives way to the deepest of its own, or to a kept one nearly as deep. */
static void deepen_choice(const contact_point *point, cloud *s, int fixed, double slack) {
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < s->count; k++) {
            int *c = &s->chosen[(int)s->owner[k]];
            int better = pass == 0 ? point[k].gap < point[*c].gap - slack
                                   : s->prefer[k] > s->prefer[*c] && point[k].gap <= point[*c].gap + slack;
            *c = better && (int)s->owner[k] >= fixed ? k : *c;
        }
    }
}

/* The first point: the deepest, or a kept one that is as deep but for `slack`. */
static int choose_first(const contact_point *point, const cloud *s, double slack) {
    int deepest = 0, best;
    for (int k = 1; k < s->count; k++) {
        deepest = point[k].gap < point[deepest].gap ? k : deepest;
    }
    best = deepest;
    for (int k = 0; k < s->count; k++) {
        int kept = s->prefer[k] > s->prefer[best] && point[k].gap <= point[deepest].gap + slack;
        best = kept ? k : best;
    }
    return best;
}

/* The farthest point along direction `which` of EXTREME_DIRECTIONS: the sides, corners and edges of a cube. Near ties
 * are left to the points that were kept, so that a face that lies across the direction does not change its mind. */
enum { EXTREME_DIRECTIONS = 26 };
static int find_extreme(const cloud *s, int which) {
    int cell = which < 13 ? which : which + 1; /* the middle of the 27 is no direction */
    int x = cell % 3 - 1, y = cell / 3 % 3 - 1, z = cell / 9 - 1;
    double d[3] = {x, y, z};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), slack = 1e-3 * s->span * length;
    int best = 0;
    double far = -HUGE_VAL, bonus = slack / (KEPT_DISTANCE_FACTOR - 1);
    for (int k = 0; k < s->count; k++) {
        double along = d[0] * s->c[0][k] + d[1] * s->c[1][k] + d[2] * s->c[2][k] + bonus * (s->prefer[k] - 1);
        best = along > far ? k : best;
        far = fmax(along, far);
    }
    return best;
}

static void sort_places(int *place, int count) {
    for (int k = 0; k < count; k++) {
        int j = k, mine = place[k];
        for (; j > 0 && place[j - 1] > mine; j--) {
            place[j] = place[j - 1];
        }
        place[j] = mine;
    }
}

static int sample_farthest(contact_point *point, int count, int most, const uint64_t *kept, int nkept,
                           sim_arena *arena) {
    cloud s = cloud_of(point, count, kept, nkept, arena);
    if (s.count < 0) {
        return -1;
    }
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < count; k++) {
        low = fmin(low, point[k].gap);
        high = fmax(high, point[k].gap);
    }
    double slack = MIN_DEEPER_OVER_RANGE * (high - low);
    int chosen = 0, next = choose_point(&s, chosen++, choose_first(point, &s, slack));
    for (int k = 0; k < EXTREME_DIRECTIONS && chosen < most; k++) {
        int far = find_extreme(&s, k);
        if (s.nearest[far] > 0) {
            next = choose_point(&s, chosen++, far);
        }
    }
    int fixed = chosen;
    while (chosen < most && s.nearest[next] > 0) {
        next = choose_point(&s, chosen++, next);
    }
    deepen_choice(point, &s, fixed, slack);
    sort_places(s.chosen, chosen); /* by feature, as the points stand: none is overwritten before it is read */
    for (int k = 0; k < chosen; k++) {
        point[k] = point[s.chosen[k]];
    }
    return chosen;
}

/* Of points in order of features: no two of one.  Points at one place are one contact, however they were found; else
 * the second gets a feature of its own. */
static int make_features_unique(contact_point *point, int count, double near) {
    uint64_t last = 0;
    int left = 0, same = 0;
    for (int k = 0; k < count; k++) {
        contact_point c = point[k];
        same = left > 0 && c.feature == last ? same + 1 : 0;
        last = c.feature;
        if (same) {
            contact_point *before = &point[left - 1];
            double apart = v3_norm(v3_sub(before->position, c.position));
            int two_ways_out = c.gap < 0 && v3_dot(before->normal, c.normal) < SAME_NORMAL_COSINE &&
                               apart <= EDGE_DISTANCE_OVER_NEAR * near;
            if (apart <= near || two_ways_out) {
                same--;
                c.feature = before->feature;
                *before = two_ways_out ? c : *before; /* the shorter: the deeper came first */
                continue;
            }
        }
        c.feature ^= (uint64_t)(same & 15) << FEATURE_SALT_BIT;
        point[left++] = c;
    }
    return left;
}

void cluster_join(const pair *p, manifold *out, int first, double near) {
    /* memory */
    int count = out->count - first;
    if (count < 2 || out->failed) {
        return;
    }
    contact_point *point = out->point + first;
    int *place = ARENA_NEW(p->arena, int, count), *root = ARENA_NEW(p->arena, int, count);
    uint64_t *name = ARENA_NEW(p->arena, uint64_t, count), *kept = sorted_kept(p);
    contact_point *sorted = ARENA_NEW(p->arena, contact_point, count);
    if (!place || !root || !name || !kept || !sorted) {
        out->failed = 1;
        return;
    }
    /* join and merge neighbours */
    join_neighbours(point, count, place, root, near);
    count = merge_joined(point, count, root, name, kept, p->nkept);
    /* sort, and make features unique */
    for (int k = 0; k < count; k++) {
        place[k] = k;
    }
    heap_sort(point, place, count, comes_before);
    for (int k = 0; k < count; k++) {
        sorted[k] = point[place[k]];
    }
    memcpy(point, sorted, (size_t)count * sizeof *point);
    out->count = first + make_features_unique(point, count, near);
}

void cluster_points(const pair *p, manifold *out, int first, int most, double near) {
    cluster_join(p, out, first, near);
    int count = out->count - first;
    if (out->failed || count <= most) {
        return;
    }
    uint64_t *kept = sorted_kept(p);
    count = kept ? sample_farthest(out->point + first, count, most, kept, p->nkept, p->arena) : -1;
    if (count < 0) {
        out->failed = 1;
        return;
    }
    out->count = first + count;
}
