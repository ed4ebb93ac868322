/* Separation of two solids that overlap deeply.
 *
 *     minimise m(x) = max(phi_A(x), phi_B(x)),     phi: signed distance, m
 *
 * A ball of radius -m fits into both solids at x, so they must move apart by 2 |m| at least.  Contacts at local minima of
 * distance may miss this: none lies there where one solid contains the other, or where two alike coincide.  The
 * deepest one may also push back what it pushed out a step earlier.
 *
 * Where the deepest contact does not halve that ball, a plane that parts the two takes its place.  Contacts that lead the
 * same way stay.  Each push halves the ball or ends it, so the solids part.  A plane ignores hollows: where it leads
 * far beyond the known depth, the way out of the solid with the nearer surface replaces it.
 *
 * Method: a bundle of planes under m with a proximal term, from a few starts (Lemarechal 1975).
 * Cost: MAX_STEPS distances of both solids a start. */
#include "collide/field/field_contact.h"

enum { CELLS_PER_SIDE = 3, MAX_STEPS = 24, MAX_PLANES = 10, MAX_SHIFTS = 24 };
static const double MIN_THROUGH_OVER_EXTENT = 0.5, HALVED_GAP_RATIO = 0.55, MAX_TRUSTED_DEPTH_RATIO = 8,
                    SAME_WAY_COSINE = 0.5;
static const double TOUCHING_DEPTH_OVER_EXTENT = 1e-9; /* of the smaller one's extent: shallower overlaps only touch */

typedef struct shared {
    const pair *pair;
    const solid *a, *b;
    pose X_ba;
    double m; /* the best so far */
    v3 x;
} shared;

/* Both distances at x, and their gradients in A's frame. */
typedef struct both {
    double a, b;
    v3 ga, gb;
} both;

static both both_at(const shared *s, v3 x) {
    both at;
    at.a = s->a->distance(s->a, x, &at.ga);
    at.b = s->b->distance(s->b, pose_point(s->X_ba, x), &at.gb);
    at.gb = m3_transposed_times(s->X_ba.R, at.gb);
    return at;
}

/* The box in A's frame in which both are. */
static bool find_common_box(const shared *s, v3 *low, v3 *high) {
    v3 l, h, a, b;
    solid_box(s->pair->a, s->a, low, high);
    solid_box(s->pair->b, s->b, &l, &h);
    v3 half = v3_scale(0.5, v3_sub(h, l)), middle = pose_point(s->pair->X_ab, v3_scale(0.5, v3_add(l, h)));
    m3 R = s->pair->X_ab.R;
    v3 reach = {fabs(R.x.x) * half.x + fabs(R.y.x) * half.y + fabs(R.z.x) * half.z,
                fabs(R.x.y) * half.x + fabs(R.y.y) * half.y + fabs(R.z.y) * half.z,
                fabs(R.x.z) * half.x + fabs(R.y.z) * half.y + fabs(R.z.z) * half.z};
    a = v3_sub(middle, reach);
    b = v3_add(middle, reach);
    *low = v3_make(fmax(low->x, a.x), fmax(low->y, a.y), fmax(low->z, a.z));
    *high = v3_make(fmin(high->x, b.x), fmin(high->y, b.y), fmin(high->z, b.z));
    return low->x < high->x && low->y < high->y && low->z < high->z;
}

static double least_extent(v3 size) { return fmin(size.x, fmin(size.y, size.z)); }

static void try_point(shared *s, v3 x) {
    v3 g;
    double m = s->a->distance(s->a, x, &g);
    if (m < s->m) {
        m = fmax(m, s->b->distance(s->b, pose_point(s->X_ba, x), &g));
    }
    if (m < s->m) {
        s->m = m;
        s->x = x;
    }
}

/* Planes under m, were it convex: each distance about each place that was tried. */
typedef struct bundle {
    int count;
    double value[MAX_PLANES]; /* where x is now */
    v3 slope[MAX_PLANES];
} bundle;

static void add_plane(bundle *b, double value, v3 slope) {
    int k = b->count < MAX_PLANES ? b->count++ : 0;
    if (b->count == MAX_PLANES && k == 0) { /* the lowest says least */
        for (int i = 1; i < MAX_PLANES; i++) {
            k = b->value[i] < b->value[k] ? i : k;
        }
    }
    b->value[k] = value;
    b->slope[k] = slope;
}

/* The way d that minimises the highest of the planes plus d^2 / (2 step).  Its dual is a point of a simplex, found by
 * shifting weight from the lowest plane that has any to the highest.  Returns how high the highest is there. */
static double minimise_bundle(const bundle *b, double step, v3 *d) {
    /* all weight on the highest plane */
    double weight[MAX_PLANES] = {0}, top = 0;
    int best = 0;
    for (int k = 1; k < b->count; k++) {
        best = b->value[k] > b->value[best] ? k : best;
    }
    weight[best] = 1;
    *d = v3_scale(-step, b->slope[best]);
    for (int shift = 0; shift < MAX_SHIFTS; shift++) {
        /* the highest plane, and the lowest with weight */
        int high = -1, low = -1;
        double bottom = HUGE_VAL;
        top = -HUGE_VAL;
        for (int k = 0; k < b->count; k++) {
            double v = b->value[k] + v3_dot(b->slope[k], *d);
            high = v > top ? k : high;
            top = fmax(top, v);
            if (weight[k] > 0 && v < bottom) {
                low = k;
                bottom = v;
            }
        }
        /* an exact line search along the shift between both */
        v3 turn = v3_sub(b->slope[high], b->slope[low]);
        double square = v3_dot(turn, turn);
        if (!(top - bottom > 1e-3 * step) || !(square > 1e-12)) {
            break;
        }
        double moved = fmin((top - bottom) / (step * square), weight[low]);
        weight[high] += moved;
        weight[low] -= moved;
        *d = v3_axpy(*d, -step * moved, turn);
    }
    return top;
}

/* Down from x, by a bundle method (Lemarechal 1975): each failed step improves the model for the next. */
static void descend_bundle(shared *s, double step) {
    double smallest = 1e-3 * step;
    bundle planes = {.count = 0};
    both at = both_at(s, s->x);
    add_plane(&planes, at.a, at.ga);
    add_plane(&planes, at.b, at.gb);
    for (int k = 0, vain = 0; k < MAX_STEPS && step > smallest; k++) {
        v3 d;
        double hoped = s->m - minimise_bundle(&planes, step, &d);
        if (!(hoped > fmax(0.02 * fabs(s->m), 1e-3 * smallest))) {
            return;
        }
        v3 x = v3_add(s->x, d);
        at = both_at(s, x);
        double m = fmax(at.a, at.b);
        int lower = m < s->m;
        if (lower) {
            for (int i = 0; i < planes.count; i++) {
                planes.value[i] += v3_dot(planes.slope[i], d);
            }
            s->m = m;
            s->x = x;
        }
        v3 back = v3_sub(s->x, x); /* 0, or from where it was in vain */
        add_plane(&planes, fmin(at.a + v3_dot(at.ga, back), s->m), at.ga);
        add_plane(&planes, fmin(at.b + v3_dot(at.gb, back), s->m), at.gb);
        vain = lower ? 0 : vain + 1;
        step *= vain && vain % 4 == 0 ? 0.5 : 1;
    }
}

/* Where to look as well. */
static both set_place(shared *s, v3 x) {
    both at = both_at(s, x);
    s->x = x;
    s->m = fmax(at.a, at.b);
    return at;
}

/* The largest ball found that fits into both: -m, at x, looked for in their common box, and from x on.  0: none.
 * `settled`: m is known to be least at x if it is least there of all that is tried. */
static bool find_common_ball(shared *s, v3 low, v3 high, int settled) {
    v3 size = v3_sub(high, low), from = s->x;
    double known = s->m;
    for (int k = 0; k < CELLS_PER_SIDE * CELLS_PER_SIDE * CELLS_PER_SIDE; k++) {
        int i = k % CELLS_PER_SIDE, j = k / CELLS_PER_SIDE % CELLS_PER_SIDE, l = k / (CELLS_PER_SIDE * CELLS_PER_SIDE);
        double u = (i + 0.5) / CELLS_PER_SIDE, v = (j + 0.5) / CELLS_PER_SIDE, w = (l + 0.5) / CELLS_PER_SIDE;
        try_point(s, v3_make(low.x + u * size.x, low.y + v * size.y, low.z + w * size.z));
    }
    if (s->m > 0.5 * v3_norm(size) / CELLS_PER_SIDE || (settled && s->m >= fmin(known, 0))) { /* no steeper than 1 */
        return false;
    }
    descend_bundle(s, 0.25 * (s->m < 0 ? least_extent(size) : fmax(least_extent(size), 2 * s->m)));
    if (s->m >= 0 && known < HUGE_VAL) { /* from there as well */
        shared other = *s;
        other.x = from;
        other.m = known;
        descend_bundle(&other, 0.25 * least_extent(size));
        *s = other.m < s->m ? other : *s;
    }
    return s->m < 0;
}

/* Is what both boxes share as thick as half of either? */
static bool reaches_through(const shared *s, double thin) {
    v3 low, high;
    solid_box(s->pair->a, s->a, &low, &high);
    double a = least_extent(v3_sub(high, low));
    solid_box(s->pair->b, s->b, &low, &high);
    return thin >= MIN_THROUGH_OVER_EXTENT * fmin(a, least_extent(v3_sub(high, low)));
}

/* Moved apart by the contact, do they hold in common a ball half as large at most? */
static bool leads_out(const shared *s, const contact_point *c) {
    pair moved = *s->pair;
    v3 low, high;
    moved.X_ab.p = v3_axpy(moved.X_ab.p, c->gap, c->normal);
    shared then = {.pair = &moved, .a = s->a, .b = s->b, .X_ba = pose_inverse(moved.X_ab), .m = HUGE_VAL};
    set_place(&then, s->x);
    return !find_common_box(&then, &low, &high) || !find_common_ball(&then, low, high, 0) || then.m >= 0.5 * s->m;
}

/* The plane instead of those that lead elsewhere. */
static void add_parting_plane(const pair *p, const parting *way, int first, manifold *out) {
    contact_point c = point_between(way->middle, way->normal, -way->depth, feature_pair(3, 3));
    int left = first;
    for (int k = first; k < out->count; k++) {
        if (v3_dot(out->point[k].normal, way->normal) > SAME_WAY_COSINE) {
            out->point[left++] = out->point[k];
        }
    }
    out->count = left;
    manifold_add(out, p->arena, &c);
}

/* Drops the contacts from `first` on that are deeper than `depth`.  Returns the count of the others. */
static int drop_deeper(double depth, int first, manifold *out) {
    const double LONGER = 1.05; /* of a depth that is known to some per cent */
    int left = first;
    for (int k = first; k < out->count; k++) {
        if (-out->point[k].gap <= LONGER * depth) {
            out->point[left++] = out->point[k];
        }
    }
    out->count = left;
    return left - first;
}

/* Where a motion by d parts the solids, no point of one lies deeper than d in the other.  A contact that is deeper leads
 * a longer way out than need be, across a corner.  Shallow overlaps ask the normal of the shallowest contact alone. */
void encounter_shorten(const pair *p, const solid *a, const solid *b, int first, manifold *out) {
    const double DEEP_OVER_EXTENT = 0.01; /* overlap over the smaller one's extent */
    contact_point deep = {.gap = HUGE_VAL}, shallow = {.gap = -HUGE_VAL};
    for (int k = first; k < out->count; k++) {
        deep = out->point[k].gap < deep.gap ? out->point[k] : deep;
        shallow = out->point[k].gap > shallow.gap ? out->point[k] : shallow;
    }
    if (!(deep.gap < 0)) {
        return;
    }
    if (-deep.gap > DEEP_OVER_EXTENT * fmin(a->extent, b->extent)) {
        parting way = parting_of(p, a, b, deep.position, out->point + first, out->count - first);
        if (!drop_deeper(way.depth, first, out)) {
            contact_point c = point_between(way.middle, way.normal, -way.depth, feature_pair(3, 3));
            manifold_add(out, p->arena, &c);
        }
    } else if (shallow.gap < 0 && deep.gap < shallow.gap) {
        double depth = parting_depth(p, a, b, shallow.normal);
        drop_deeper(fmax(depth, -shallow.gap), first, out);
    }
}

/* At the contact: do the gradients of both distances oppose each other?  For convex solids m is then least there. */
static bool are_gradients_opposed(shared *s, const contact_point *c) {
    both at = set_place(s, c->position);
    return v3_dot(at.ga, at.gb) < -0.999 && fabs(at.a - at.b) <= 0.1 * fabs(c->gap);
}

/* Out of the solid whose surface is nearer, by both distances. */
static void add_nearer_way_out(const shared *s, manifold *out) {
    both at = both_at(s, s->x);
    v3 n = at.b >= at.a ? at.gb : v3_neg(at.ga);
    double length = v3_norm(n);
    if (length > 0.1) {
        contact_point c = point_between(s->x, v3_scale(1 / length, n), at.a + at.b, feature_pair(3, 3));
        manifold_add(out, s->pair->arena, &c);
    }
}

void encounter_overlap(const pair *p, const solid *a, const solid *b, int first, manifold *out) {
    shared s = {.pair = p, .a = a, .b = b, .X_ba = pose_inverse(p->X_ab), .m = HUGE_VAL};
    contact_point deepest = {.gap = HUGE_VAL};
    v3 low, high;
    for (int k = first; k < out->count; k++) {
        deepest = out->point[k].gap < deepest.gap ? out->point[k] : deepest;
    }
    if (!a->distance || !b->distance || !find_common_box(&s, &low, &high)) {
        return;
    }
    double thin = least_extent(v3_sub(high, low)), gap = fmin(deepest.gap, 0);
    int through = p->a->type != SIM_HALF_SPACE && reaches_through(&s, thin);
    if (!through && -gap >= 0.25 * thin) { /* no ball fits in that is twice as large */
        return;
    }
    int settled = p->a->type == SIM_HALF_SPACE || (isfinite(deepest.gap) && are_gradients_opposed(&s, &deepest));
    if (!find_common_ball(&s, low, high, settled) || s.m > -TOUCHING_DEPTH_OVER_EXTENT * fmin(a->extent, b->extent) ||
        (s.m >= HALVED_GAP_RATIO * gap && (!through || leads_out(&s, &deepest)))) {
        return;
    }
    const contact_point *found = out->count > first ? out->point + first : NULL;
    parting way = parting_of(p, a, b, s.x, found, out->count - first);
    if (way.depth <= MAX_TRUSTED_DEPTH_RATIO * fmax(-gap, -2 * s.m)) {
        add_parting_plane(p, &way, first, out);
    } else if (s.m < gap) {
        add_nearer_way_out(&s, out);
    }
}
