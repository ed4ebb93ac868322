/* Separation of two triangle surfaces that overlap deeply.
 *
 * The overlap V changes, as A moves by dx, by dV = S . dx, where S is the area vector of the part of A's surface inside
 * B. It hangs on the rim of that part alone, the curve in which the surfaces cut each other:
 *     S = 1/2 (closed integral of) x cross dx, along n_A x n_B
 * (Stokes), a sum over the segments in which triangles cut each other.  A leaves along -S by as much as the overlap
 * reaches that way, from the part of A inside B to the part of B inside A. It leaves by no more than twice the depth
 * of the deepest vertex that leaves that way by itself.
 *
 * Each place of overlap has a rim of its own.  Segments that end in one point, where an edge goes through a triangle,
 * are of one rim.  Only of closed rims is S known.  Faces of both in one plane would leave gaps by rounding.  So B is
 * shifted by 1e-9 of the size in a direction that hardly any face has, and otherwise where a rim stays open.  Shallower
 * overlaps only touch.
 *
 * Triangles that share two edges ask in one way on which side the one passes the other (J. Pluecker's coordinates). So
 * none goes through between neighbours. */
#include "base/hash.h"
#include "collide/mesh/surface_side.h"

#include <float.h>
#include <string.h>

enum { MAX_TRIES = 3 };
static const double SHIFT_OVER_SIZE = 1e-9;             /* of the smaller size: how far B is seen moved */
static const double MIN_DEPTH_OVER_VERTEX_DEPTH = 0.25; /* of the deepest vertex's depth: least depth of the contacts */

/* Where an edge goes through a triangle: of two segments that are one rim it is the same. */
typedef struct piercing {
    uint64_t name; /* of the edge and the triangle; never 0 */
    v3 at;
} piercing;

typedef struct segment {
    piercing end[2]; /* along n_A x n_B */
    int rim;         /* a segment of the same rim; the first one points to itself */
} segment;

/* A triangle with the numbers of its corners, all in one frame. */
typedef struct corners {
    int triangle, corner[3];
    v3 at[3];
} corners;

typedef struct overlap {
    const pair *p;
    const surface *a, *b;
    pose X_ab, X_ba; /* B as it is seen */
    corners of_a;
    v3 normal;            /* its plane in B's frame: normal.x = offset, */
    double offset, grain; /* up to rounding: of the plane, */
    double rounding;      /* of places */
    segment *segment;
    int count, room, failed;
} overlap;

/* ---- segments ---- */

static corners numbered_corners(const surface *s, int t) {
    corners f = {.triangle = t};
    surface_triangle(s, t, f.corner);
    surface_corners(s, t, f.at);
    return f;
}

/* Volume of the edges from u to v and from p to q: its sign is the side on which they pass each other.  Both taken from
 * the lower number to the higher. */
static double passing_side(const corners *f, int i, const corners *g, int k) {
    int j = (i + 1) % 3, l = (k + 1) % 3, turned = f->corner[i] > f->corner[j], other = g->corner[k] > g->corner[l];
    v3 u = f->at[turned ? j : i], v = f->at[turned ? i : j], p = g->at[other ? l : k], q = g->at[other ? k : l];
    double volume = v3_dot(v3_sub(v, u), v3_cross(v3_sub(p, u), v3_sub(q, u)));
    return turned == other ? volume : -volume;
}

/* Where the edge of f from corner i on goes through the triangle g; false if it does not. */
static bool edge_pierces(const corners *f, int i, const corners *g, v3 *x) {
    int low = f->corner[i] < f->corner[(i + 1) % 3] ? i : (i + 1) % 3, high = low == i ? (i + 1) % 3 : i;
    v3 n = v3_cross(v3_sub(g->at[1], g->at[0]), v3_sub(g->at[2], g->at[0])), u = f->at[low], v = f->at[high];
    double du = v3_dot(n, v3_sub(u, g->at[0])), dv = v3_dot(n, v3_sub(v, g->at[0]));
    if ((du > 0) == (dv > 0) || du == dv) {
        return false;
    }
    int left = 0;
    for (int k = 0; k < 3; k++) {
        left += passing_side(f, i, g, k) > 0;
    }
    *x = v3_axpy(u, du / (du - dv), v3_sub(v, u));
    return left == 0 || left == 3;
}

static bool on_one_side(const overlap *o, const v3 d[3]) {
    double x = v3_dot(o->normal, d[0]) - o->offset, y = v3_dot(o->normal, d[1]) - o->offset,
           z = v3_dot(o->normal, d[2]) - o->offset;
    return least_of(x, y, z) > o->grain || most_of(x, y, z) < -o->grain;
}

/* The piercings of the edges of f in g, added to `found` behind `count`; `of_b`: f is of B. */
static int find_piercings(const surface *s, const corners *f, const corners *g, int of_b, piercing *found, int count) {
    for (int k = 0; k < 3; k++) {
        if (edge_pierces(f, k, g, &found[count].at)) {
            uint64_t edge = surface_feature(s, f->triangle, k + 1) >> 2;
            found[count++].name = (uint64_t)(1 + of_b) << 62 | edge << 30 | (uint64_t)g->triangle;
        }
    }
    return count;
}

static bool add_segment(overlap *o, const piercing *from, const piercing *to) {
    if (o->count == o->room) {
        int room = o->room ? 2 * o->room : 64;
        segment *more = ARENA_NEW(o->p->arena, segment, room);
        if (!more) {
            o->failed = 1;
            return false;
        }
        if (o->count) {
            memcpy(more, o->segment, (size_t)o->count * sizeof *more);
        }
        o->segment = more;
        o->room = room;
    }
    o->segment[o->count] = (segment){{*from, *to}, o->count};
    o->count++;
    return true;
}

static bool visit_b(void *context, int t) {
    overlap *o = context;
    corners g = numbered_corners(o->b, t), *f = &o->of_a;
    piercing x[6];
    if (on_one_side(o, g.at)) {
        return true;
    }
    for (int k = 0; k < 3; k++) {
        g.at[k] = pose_point(o->X_ab, g.at[k]);
    }
    int count = find_piercings(o->a, f, &g, 0, x, 0);
    count = find_piercings(o->b, &g, f, 1, x, count);
    if (count != 2) {
        return true; /* not at all, or only just */
    }
    v3 na = v3_cross(v3_sub(f->at[1], f->at[0]), v3_sub(f->at[2], f->at[0]));
    v3 nb = v3_cross(v3_sub(g.at[1], g.at[0]), v3_sub(g.at[2], g.at[0]));
    int forward = v3_dot(v3_cross(na, nb), v3_sub(x[1].at, x[0].at)) > 0;
    return add_segment(o, &x[!forward], &x[forward]);
}

static bool visit_a(void *context, const bvh_node *leaf, v3 low, v3 high, const near_list *near) {
    (void)low, (void)high;
    overlap *o = context;
    for (int k = 0; k < leaf->count; k++) {
        v3 x[3], l, h;
        o->of_a = numbered_corners(o->a, surface_leaf(o->a, leaf, k));
        for (int c = 0; c < 3; c++) {
            x[c] = pose_point(o->X_ba, o->of_a.at[c]);
        }
        bounds_of_corners(x, &l, &h);
        o->normal = v3_cross(v3_sub(x[1], x[0]), v3_sub(x[2], x[0]));
        o->offset = v3_dot(o->normal, x[0]);
        o->grain = o->rounding * v3_norm(o->normal);
        near_in_box(near, l, h, visit_b, o);
    }
    return !o->failed;
}

/* ---- rims ---- */

typedef struct rim {
    int first, count; /* a segment, and how many there are; 0: not a rim's first */
    int open;
    v3 area, normal, sum; /* S; the way out; of the segments' ends, from the first one's */
    double from, to, least;
    int deepest; /* of the vertices, or -1 */
} rim;

static int root_of_rim(overlap *o, int k) {
    while (o->segment[k].rim != k) {
        k = o->segment[k].rim = o->segment[o->segment[k].rim].rim;
    }
    return k;
}

/* Ends of segments by name, open addressing: 1 + twice the segment + which of its ends; 0: none. */
typedef struct end_table {
    int *slot;
    uint32_t mask;
} end_table;

static int *find_end_slot(const end_table *table, const overlap *o, uint64_t name) {
    uint32_t at = (uint32_t)hash_finish(name) & table->mask;
    while (table->slot[at]) {
        int k = table->slot[at] - 1;
        if (o->segment[k / 2].end[k % 2].name == name) {
            break;
        }
        at = (at + 1) & table->mask;
    }
    return &table->slot[at];
}

/* Joins segments to rims; one that starts where no other ends, or where more than one does, leaves its rim open. */
static bool join_segments(overlap *o, rim *rims) {
    /* hash table of the segments' ends */
    uint32_t size = 16;
    while (size < 4 * (uint32_t)o->count) {
        size *= 2;
    }
    end_table ends = {ARENA_NEW(o->p->arena, int, size), size - 1};
    if (!ends.slot) {
        o->failed = 1;
        return false;
    }
    memset(ends.slot, 0, size * sizeof *ends.slot);
    /* enter the ends */
    for (int k = 0; k < o->count; k++) {
        rims[k] = (rim){.first = k, .deepest = -1, .from = HUGE_VAL, .to = -HUGE_VAL, .least = -HUGE_VAL};
        int *slot = find_end_slot(&ends, o, o->segment[k].end[1].name);
        rims[k].open = *slot != 0;
        *slot = 2 * k + 2;
    }
    /* join each start to the end before it (disjoint sets) */
    for (int k = 0; k < o->count; k++) {
        int before = *find_end_slot(&ends, o, o->segment[k].end[0].name) / 2 - 1;
        rims[k].open |= before < 0;
        if (before >= 0) {
            int one = root_of_rim(o, before), other = root_of_rim(o, k);
            o->segment[one > other ? one : other].rim = one < other ? one : other;
        }
    }
    return true;
}

/* S of each rim, and whether it is closed.  Returns whether all are. */
static int measure_rims(overlap *o, rim *rims) {
    int closed = 1;
    for (int k = 0; k < o->count; k++) {
        rim *r = &rims[root_of_rim(o, k)];
        v3 origin = o->segment[r->first].end[0].at, x = v3_sub(o->segment[k].end[0].at, origin),
           y = v3_sub(o->segment[k].end[1].at, origin);
        r->area = v3_axpy(r->area, 0.5, v3_cross(x, y));
        r->sum = v3_add(r->sum, x);
        r->count++;
        r->open |= rims[k].open;
        closed &= !rims[k].open;
    }
    return closed;
}

static void reach_to(rim *r, v3 x) {
    double h = v3_dot(r->normal, x);
    r->from = fmin(r->from, h);
    r->to = fmax(r->to, h);
}

/* The rim nearest to x. */
static rim *rim_near(overlap *o, rim *rims, v3 x) {
    double best = HUGE_VAL;
    rim *found = NULL;
    for (int k = 0; k < o->count; k++) {
        v3 d = v3_sub(o->segment[k].end[0].at, x);
        if (v3_dot(d, d) < best) {
            best = v3_dot(d, d);
            found = &rims[root_of_rim(o, k)];
        }
    }
    return found;
}

/* All closed rims as one. */
static rim all_rims(const overlap *o, const rim *rims) {
    rim sum = {.first = 0, .deepest = -1, .from = HUGE_VAL, .to = -HUGE_VAL};
    v3 origin = o->segment[0].end[0].at;
    for (int k = 0; k < o->count; k++) {
        if (rims[k].count && !rims[k].open) {
            v3 off = v3_sub(o->segment[rims[k].first].end[0].at, origin);
            sum.sum = v3_add(sum.sum, v3_axpy(rims[k].sum, rims[k].count, off));
            sum.area = v3_add(sum.area, rims[k].area);
            sum.count += rims[k].count;
        }
    }
    double size = v3_norm(sum.area);
    sum.open = !(size > DBL_MIN);
    sum.normal = v3_scale(sum.open ? 0 : -1 / size, sum.area);
    return sum;
}

/* How far each overlap reaches along its way out. */
static void find_extents(overlap *o, rim *rims, const manifold *inside) {
    for (int k = 0; k < o->count; k++) {
        rim *r = &rims[k];
        double size = v3_norm(r->area);
        if (r->count) {
            r->open |= !(size > DBL_MIN);
            r->normal = v3_scale(r->open ? 0 : -1 / size, r->area);
        }
    }
    for (int k = 0; k < o->count; k++) {
        reach_to(&rims[root_of_rim(o, k)], o->segment[k].end[0].at);
    }
    for (int k = 0; k < inside->count; k++) { /* the vertex, and the place of the other surface next to it */
        const contact_point *c = &inside->point[k];
        rim *r = rim_near(o, rims, c->position);
        reach_to(r, v3_axpy(c->position, 0.5 * c->gap, c->normal));
        reach_to(r, v3_axpy(c->position, -0.5 * c->gap, c->normal));
        if (v3_dot(c->normal, r->normal) > 0.5 && (r->deepest < 0 || c->gap < inside->point[r->deepest].gap)) {
            r->deepest = k;
        }
    }
}

/* The contact that parts the solids where the rim is; false: they only touch there. */
static bool add_rim_contact(const overlap *o, const rim *r, const manifold *inside, double touching, manifold *out) {
    const contact_point *deepest = r->deepest >= 0 ? &inside->point[r->deepest] : NULL;
    v3 origin = o->segment[r->first].end[0].at, sum = v3_axpy(origin, 1.0 / r->count, r->sum);
    double depth = r->to - r->from;
    v3 middle = v3_axpy(sum, 0.5 * (r->from + r->to) - v3_dot(r->normal, sum), r->normal);
    if (deepest && depth > -2 * deepest->gap) { /* more than one place overlaps: the deepest alone */
        depth = -2 * deepest->gap;
        middle = deepest->position;
    }
    if (depth <= touching) {
        return false;
    }
    uint32_t name = (uint32_t)r->first << 2 | 3;
    contact_point c = {.position = middle, .normal = r->normal, .gap = -depth, .feature = feature_pair(name, name)};
    manifold_add(out, o->p->arena, &c);
    return true;
}

/* Where a vertex is much deeper than the contacts found, all rims belong to one overlap; without rims it speaks for
 * itself. */
static void add_lost_overlap(overlap *o, const rim *rims, const manifold *inside, int deepest, int first,
                             manifold *out) {
    double deep = inside->point[deepest].gap;
    rim all = o->count ? all_rims(o, rims) : (rim){.open = 1};
    if (manifold_least_gap(out, first) < MIN_DEPTH_OVER_VERTEX_DEPTH * deep) {
        return;
    }
    for (int k = 0; k < o->count && !all.open; k++) {
        reach_to(&all, o->segment[k].end[0].at);
    }
    for (int k = 0; k < inside->count && !all.open; k++) {
        reach_to(&all, v3_axpy(inside->point[k].position, 0.5 * inside->point[k].gap, inside->point[k].normal));
        reach_to(&all, v3_axpy(inside->point[k].position, -0.5 * inside->point[k].gap, inside->point[k].normal));
    }
    all.deepest = deepest;
    out->count = first;
    if (all.open || !add_rim_contact(o, &all, inside, 0, out)) {
        manifold_add(out, o->p->arena, &inside->point[deepest]);
    }
}

/* The segments in which the surfaces cut each other, B moved by `aside`. */
static void cut_surfaces(overlap *o, v3 aside) {
    o->count = 0;
    o->X_ab.p = v3_add(o->p->X_ab.p, aside);
    o->X_ba = pose_inverse(o->X_ab);
    surface_near(o->a, 0, o->b, &o->X_ab, 0, visit_a, o);
}

void surface_overlap(const pair *p, const surface *a, const surface *b, const manifold *inside, manifold *out) {
    /* sizes, and a shift that avoids degenerate cuts */
    static const v3 way[MAX_TRIES] = {{0.53, 0.31, 0.79}, {-0.43, 0.83, -0.35}, {0.71, -0.61, -0.36}};
    overlap o = {.p = p, .a = a, .b = b, .X_ab = p->X_ab};
    double size_a = v3_norm(v3_sub(a->high, a->low)), size_b = v3_norm(v3_sub(b->high, b->low));
    double aside = SHIFT_OVER_SIZE * fmin(size_a, size_b);
    o.rounding = 1e-12 * (size_a + size_b + v3_norm(p->X_ab.p));
    /* rims of the intersection: closed curves, or another shift */
    rim *rims = NULL;
    for (int k = 0, closed = 0; k < MAX_TRIES && !closed && !o.failed; k++) {
        cut_surfaces(&o, v3_scale(aside, way[k]));
        rims = ARENA_NEW(p->arena, rim, o.count + 1);
        o.failed |= !rims;
        closed = !o.failed && join_segments(&o, rims) && measure_rims(&o, rims);
    }
    out->failed |= o.failed;
    if (o.failed) {
        return;
    }
    /* a contact for each rim */
    int first = out->count, deepest = -1;
    if (o.count) {
        find_extents(&o, rims, inside);
    }
    for (int k = 0; k < o.count && !out->failed; k++) {
        if (rims[k].count && !rims[k].open) {
            add_rim_contact(&o, &rims[k], inside, 2 * aside, out);
        }
    }
    /* a deep vertex that no rim covers */
    for (int k = 0; k < inside->count; k++) {
        deepest = deepest < 0 || inside->point[k].gap < inside->point[deepest].gap ? k : deepest;
    }
    if (deepest >= 0 && inside->point[deepest].gap < -2 * aside) {
        add_lost_overlap(&o, rims, inside, deepest, first, out);
    }
}
