/* Reduction of the contact points of a surface of triangles.
 *
 * Points at one place with about one normal are one: neighbours meet along edges.  The rest is dealt into groups of
 * nearly equal normals, a group for the deepest point that is left. Each group is reduced by itself (reduce.c):
 * contacts from different sides stay. */
#include "collide/mesh/surface.h"

#include <string.h>

static bool is_same_point(const contact_point *a, const contact_point *b, double alike, double same) {
    v3 d = v3_sub(a->position, b->position);
    return v3_dot(d, d) <= same * same && v3_dot(a->normal, b->normal) >= alike;
}

/* Is there, among the first `count`, a point that stands for c? */
static bool contains_point(const contact_point *point, int count, const contact_point *c, double alike, double same) {
    for (int k = 0; k < count; k++) {
        if (is_same_point(&point[k], c, alike, same)) {
            return true;
        }
    }
    return false;
}

/* Moves the group about the deepest point of the rest to `out`; returns how many are left. */
static int take_group(const pair *p, manifold *out, contact_point *rest, int count, double alike, double same) {
    int deepest = 0, left = 0, first = out->count;
    for (int k = 1; k < count; k++) { /* of equal depths the first: rounding has no say in whose name stays */
        deepest = rest[k].gap < rest[deepest].gap - 1e-6 * same ? k : deepest;
    }
    v3 n = rest[deepest].normal;
    manifold_add(out, p->arena, &rest[deepest]);
    for (int k = 0; k < count; k++) {
        if (k == deepest) {
            continue;
        }
        if (v3_dot(rest[k].normal, n) < alike) {
            rest[left++] = rest[k];
        } else if (!contains_point(out->point + first, out->count - first > 64 ? 64 : out->count - first, &rest[k],
                                   alike, same)) {
            manifold_add(out, p->arena, &rest[k]);
        }
    }
    return left;
}

/* Two points of the same features: of two overlaps the lesser, for features part by whichever way is shorter. */
static void keep_one_per_feature(manifold *out, int first) {
    int kept = first;
    for (int k = first; k < out->count; k++) {
        contact_point c = out->point[k];
        int same = first;
        while (same < kept && out->point[same].feature != c.feature) {
            same++;
        }
        if (same == kept) {
            out->point[kept++] = c;
        } else if (c.gap < 0 && out->point[same].gap < c.gap) {
            out->point[same] = c;
        }
    }
    out->count = kept;
}

void manifold_group(const pair *p, manifold *out, int first, double alike, double same, int each, int most) {
    int count = out->count - first;
    if (count < 2) {
        return;
    }
    contact_point *rest = ARENA_NEW(p->arena, contact_point, count);
    if (!rest) {
        out->failed = 1;
        return;
    }
    memcpy(rest, out->point + first, (size_t)count * sizeof *rest);
    out->count = first;
    while (count > 0 && out->count - first < most && !out->failed) {
        int start = out->count, room = most - (start - first);
        count = take_group(p, out, rest, count, alike, same);
        manifold_reduce(p, out, start, each < room ? each : room);
    }
    keep_one_per_feature(out, first);
}
