/* Which few points stand for many?
 *
 * Points at one place with one normal are one.  Then farthest-point sampling (Gonzalez 1985, "Clustering to minimize the
 * maximum intercluster distance", Theor. Comput. Sci. 38: no set of as many points covers the rest with less than half
 * the radius), from the deepest point, in the metric
 *     d^2 = |x - y|^2 + w^2 |n - m|^2,      w: a quarter of what the points span.
 * It takes extreme points early.  Each point chosen then gives way to the deepest of those nearest to it, if that is
 * deeper by more than a twentieth of the range of gaps; kept points count as 1.5 times as far as they are, so that the
 * choice holds from step to step. */
#include "collide/cluster.h"

#include <string.h>

static const double SAME_NORMAL = 0.995, PREFER_KEPT = 1.5 * 1.5, DEEPER = 0.05;

/* Points by columns: the distances of one to all others are the inner loop. */
typedef struct cloud {
    int count;
    double *c[6]; /* position, w normal */
    double *nearest, *prefer;
    int *owner, *chosen;
} cloud;

static int before(const contact_point *a, const contact_point *b) {
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
    return 0;
}

static int left_of(const contact_point *a, const contact_point *b) {
    return a->position.x != b->position.x ? a->position.x < b->position.x : before(a, b);
}

typedef int ordering(const contact_point *a, const contact_point *b);

/* Heap sort of places: no memory, no bad cases. */
static void sift(const contact_point *point, int *place, int from, int count, ordering *less) {
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

static void sort(const contact_point *point, int *place, int count, ordering *less) {
    for (int k = count / 2 - 1; k >= 0; k--) {
        sift(point, place, k, count, less);
    }
    for (int k = count - 1; k > 0; k--) {
        int swap = place[0];
        place[0] = place[k];
        place[k] = swap;
        sift(point, place, 0, k, less);
    }
}

/* Was it there a step ago?  `kept` in rising order. */
static int is_kept(const uint64_t *kept, int nkept, uint64_t feature) {
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

static int root_of(int *root, int k) {
    while (root[k] != k) {
        root[k] = root[root[k]];
        k = root[k];
    }
    return k;
}

/* Joins points that stand within `near` and face the same way: `root` leads from each to the deepest. */
static void join(const contact_point *point, int count, int *place, int *root, double near) {
    for (int k = 0; k < count; k++) {
        place[k] = root[k] = k;
    }
    sort(point, place, count, left_of);
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count; b++) {
            const contact_point *p = &point[place[a]], *q = &point[place[b]];
            if (q->position.x - p->position.x > near) {
                break;
            }
            v3 d = v3_sub(p->position, q->position);
            if (v3_dot(d, d) <= near * near && v3_dot(p->normal, q->normal) >= SAME_NORMAL) {
                int i = root_of(root, place[a]), j = root_of(root, place[b]);
                const contact_point *x = &point[i], *y = &point[j];
                int deeper = x->gap != y->gap ? x->gap < y->gap : before(x, y);
                root[deeper ? j : i] = deeper ? i : j;
            }
        }
    }
}

/* Leaves one point for each that were joined, by the name of one that was kept, else by the lowest. */
static int merge(contact_point *point, int count, int *root, uint64_t *name, const uint64_t *kept, int nkept) {
    for (int k = 0; k < count; k++) {
        name[k] = point[k].feature;
    }
    for (int k = 0; k < count; k++) {
        int r = root_of(root, k), mine = is_kept(kept, nkept, point[k].feature), others = is_kept(kept, nkept, name[r]);
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
    cloud s = {.count = count};
    for (int k = 0; k < 6; k++) {
        s.c[k] = ARENA_NEW(arena, double, count);
    }
    s.nearest = ARENA_NEW(arena, double, count);
    s.prefer = ARENA_NEW(arena, double, count);
    s.owner = ARENA_NEW(arena, int, count);
    s.chosen = ARENA_NEW(arena, int, count);
    if (!s.c[0] || !s.c[1] || !s.c[2] || !s.c[3] || !s.c[4] || !s.c[5] || !s.nearest || !s.prefer || !s.owner ||
        !s.chosen) {
        s.count = -1;
        return s;
    }
    v3 low = point[0].position, high = low;
    for (int k = 1; k < count; k++) {
        v3 x = point[k].position;
        low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    double w = 0.25 * v3_norm(v3_sub(high, low));
    for (int k = 0; k < count; k++) {
        const contact_point *c = &point[k];
        double at[6] = {c->position.x, c->position.y, c->position.z, w * c->normal.x, w * c->normal.y, w * c->normal.z};
        for (int j = 0; j < 6; j++) {
            s.c[j][k] = at[j];
        }
        s.nearest[k] = HUGE_VAL;
        s.owner[k] = 0;
        s.prefer[k] = is_kept(kept, nkept, c->feature) ? PREFER_KEPT : 1;
    }
    return s;
}

/* Chooses point k: those nearer to it than to what was chosen before are its own. Returns the next to choose. */
static int choose(cloud *s, int which, int k) {
    double x[6];
    for (int j = 0; j < 6; j++) {
        x[j] = s->c[j][k];
    }
    s->chosen[which] = k;
    for (int i = 0; i < s->count; i++) {
        double d0 = s->c[0][i] - x[0], d1 = s->c[1][i] - x[1], d2 = s->c[2][i] - x[2];
        double d3 = s->c[3][i] - x[3], d4 = s->c[4][i] - x[4], d5 = s->c[5][i] - x[5];
        double d = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5;
        s->owner[i] = d < s->nearest[i] ? which : s->owner[i];
        s->nearest[i] = d < s->nearest[i] ? d : s->nearest[i];
    }
    int far = 0;
    for (int i = 1; i < s->count; i++) {
        far = s->nearest[i] * s->prefer[i] > s->nearest[far] * s->prefer[far] ? i : far;
    }
    return far;
}

/* Each chosen point gives way to the deepest of its own, or to a kept one nearly as deep. */
static void deepen(const contact_point *point, cloud *s, double slack) {
    int *deepest = s->chosen;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < s->count; k++) {
            int *c = &deepest[s->owner[k]];
            int better = pass == 0 ? point[k].gap < point[*c].gap - slack
                                   : s->prefer[k] > s->prefer[*c] && point[k].gap <= point[*c].gap + slack;
            *c = better ? k : *c;
        }
    }
}

static int reduce(contact_point *point, int count, int most, const uint64_t *kept, int nkept, sim_arena *arena) {
    cloud s = cloud_of(point, count, kept, nkept, arena);
    if (s.count < 0) {
        return -1;
    }
    int next = 0;
    double low = point[0].gap, high = low;
    for (int k = 1; k < count; k++) {
        next = point[k].gap < point[next].gap ? k : next;
        high = fmax(high, point[k].gap);
    }
    low = point[next].gap;
    for (int which = 0; which < most; which++) {
        next = choose(&s, which, next);
    }
    int deepest = s.chosen[0];
    deepen(point, &s, DEEPER * (high - low));
    s.chosen[0] = deepest;
    for (int k = 0; k < most; k++) { /* by feature, as the points stand; nothing is overwritten before it is read */
        int j = k, mine = s.chosen[k];
        for (; j > 0 && s.chosen[j - 1] > mine; j--) {
            s.chosen[j] = s.chosen[j - 1];
        }
        s.chosen[j] = mine;
    }
    for (int k = 0; k < most; k++) {
        point[k] = point[s.chosen[k]];
    }
    return most;
}

void cluster_points(const pair *p, manifold *out, int first, int most, double near) {
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
    join(point, count, place, root, near);
    count = merge(point, count, root, name, kept, p->nkept);
    for (int k = 0; k < count; k++) {
        place[k] = k;
    }
    sort(point, place, count, before);
    for (int k = 0; k < count; k++) {
        sorted[k] = point[place[k]];
    }
    memcpy(point, sorted, (size_t)count * sizeof *point);
    if (count > most) {
        count = reduce(point, count, most, kept, p->nkept, p->arena);
    }
    if (count < 0) {
        out->failed = 1;
        return;
    }
    out->count = first + count;
}
