/* Contact points of a pair: the growing list, duplicate features, and a pair with its two shapes exchanged. */
#include "base/hash.h"
#include "collide/contact/bounds.h"
#include "collide/contact/pair.h"

#include <math.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 }; /* points */

void manifold_add(manifold *out, sim_arena *arena, const contact_point *point) {
    if (out->count == out->room) {
        int room = out->room ? 2 * out->room : FIRST_CAPACITY;
        contact_point *moved = ARENA_NEW(arena, contact_point, room);
        if (!moved) {
            out->failed = 1;
            return;
        }
        if (out->count) {
            memcpy(moved, out->point, (size_t)out->count * sizeof *moved);
        }
        out->point = moved;
        out->room = room;
    }
    out->point[out->count++] = *point;
}

/* The place in the table where the feature is, or an empty one. */
static size_t find_feature_slot(const manifold *out, const int *seen, size_t room, uint64_t feature) {
    size_t at = (size_t)hash_finish(feature) & (room - 1);
    while (seen[at] && out->point[seen[at] - 1].feature != feature) {
        at = (at + 1) & (room - 1);
    }
    return at;
}

void manifold_unique(const pair *p, manifold *out, int first) {
    double same = 1e-6 * fmin(shape_ball(p->a).radius, shape_ball(p->b).radius);
    uint64_t next = UINT64_C(1) << (p->a->type <= p->b->type ? 28 : 60); /* beside the number of a triangle or vertex */
    size_t mark = arena_mark(p->arena), room = 16;
    while (room < 2 * (size_t)(out->count - first)) {
        room *= 2;
    }
    int *seen = ARENA_NEW(p->arena, int, room), kept = first; /* 1 + the point, 0 for none */
    if (!seen) {
        out->failed = 1;
        return;
    }
    memset(seen, 0, room * sizeof *seen);
    for (int k = first; k < out->count; k++) {
        contact_point c = out->point[k];
        size_t at = find_feature_slot(out, seen, room, c.feature);
        while (seen[at] && v3_norm(v3_sub(out->point[seen[at] - 1].position, c.position)) > same) {
            c.feature += next;
            at = find_feature_slot(out, seen, room, c.feature);
        }
        if (!seen[at]) {
            out->point[kept] = c;
            seen[at] = ++kept;
        } else if (c.gap < out->point[seen[at] - 1].gap) {
            out->point[seen[at] - 1] = c;
        }
    }
    out->count = kept;
    arena_release(p->arena, mark);
}

void pair_swapped(const pair *p, pair_function *f, manifold *out) {
    /* features of the last step, with the sides exchanged */
    pair q = *p;
    uint64_t *kept = p->nkept ? ARENA_NEW(p->arena, uint64_t, p->nkept) : NULL;
    if (p->nkept && !kept) {
        out->failed = 1;
        return;
    }
    for (int k = 0; k < p->nkept; k++) {
        kept[k] = feature_swapped(p->kept[k]);
    }
    /* the pair with the sides exchanged */
    q.a = p->b;
    q.b = p->a;
    q.X_ab = p->X_ba ? *p->X_ba : pose_inverse(p->X_ab);
    q.X_ba = &p->X_ab;
    q.kept = kept;
    v3 parting = {0, 0, 0};
    if (p->parting) {
        parting = v3_neg(m3_transposed_times(p->X_ab.R, *p->parting));
        q.parting = &parting;
    }
    /* contacts back in the frame of A */
    int first = out->count;
    f(&q, out);
    for (int k = first; k < out->count; k++) {
        contact_point *c = &out->point[k];
        c->position = pose_point(p->X_ab, c->position);
        c->normal = v3_neg(m3_times(p->X_ab.R, c->normal));
        c->feature = feature_swapped(c->feature);
    }
    /* direction of parting */
    if (p->parting) {
        *p->parting = v3_neg(m3_times(p->X_ab.R, parting));
    }
}
