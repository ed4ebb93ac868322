/* Where does the surface of one solid touch another, given as a distance field?
 *
 * The tree of boxes over the surface's triangles is descended while the field at a box's centre leaves it near: phi is
 * never steeper than 1, so nothing within r of a point p is nearer than phi(p) - r.  On each triangle that stays the
 * field's local minimum is found (field_minimum.c).  It is a contact where the two surfaces are parallel there, and where
 * the surface has an edge or a corner that is lowest.  Corners of triangles that lie parallel are contacts too: a face
 * resting on a face touches all over. */
#include "collide/field_contact.h"

#include <string.h>

enum { VERTEX_UNKNOWN, VERTEX_FLAT, VERTEX_KNOWN, VERTEX_TAKEN };
enum { DEEPEST_CUT = 4 };
static const uint32_t SURFACE_SIDE = 0x80000000u, CORNER = 0x40000000u;

double encounter_field(encounter *e, v3 x, v3 *gradient) {
    e->fields++;
    double f = e->field->distance(e->field, pose_point(e->X_fs, x), gradient);
    *gradient = m3_transposed_times(e->X_fs.R, *gradient);
    return f;
}

void encounter_place(encounter *e, v3 t, v3 flat_normal, double reach, place *out) {
    out->t = out->x = t;
    out->normal = flat_normal;
    if (e->surface->curved && !solid_project(e->surface, t, reach, &out->x, &out->normal)) {
        out->x = t;
        out->normal = flat_normal;
    }
    out->f = encounter_field(e, v3_add(out->x, out->shift), &out->g);
}

v3 place_uphill(const place *at) { return v3_axpy(at->g, -v3_dot(at->g, at->normal), at->normal); }

/* The field's gradient against the surface's normal. */
static int parallel(v3 g, v3 normal) {
    double facing = -v3_dot(g, normal);
    v3 along = v3_axpy(g, facing, normal);
    return facing > 0 && v3_dot(along, along) <= FIELD_SLACK * FIELD_SLACK * v3_dot(g, g);
}

static void report(encounter *e, const place *at, uint32_t number, uint32_t part) {
    double length = v3_norm(at->g), gap = place_gap(at);
    if (!(gap < e->margin) || !(length > 0.1) || !isfinite(gap) || !v3_finite(at->x)) {
        return;
    }
    v3 n = v3_scale(1 / length, at->g), middle = v3_axpy(at->x, -0.5 * gap, n);
    uint32_t of_surface = SURFACE_SIDE | number;
    contact_point c = {middle, n, gap,
                       e->surface_is_a ? feature_pair(of_surface, part) : feature_pair(part, of_surface)};
    if (!e->surface_is_a) {
        pose X = e->pair->X_ab;
        c.position = pose_point(X, middle);
        c.normal = v3_neg(m3_times(X.R, n));
    }
    manifold_add(e->out, e->pair->arena, &c);
}

static uint32_t triangle_number(const encounter *e, int t) {
    return (uint32_t)(e->surface->number ? e->surface->number[t] : t);
}

static uint32_t vertex_number(const encounter *e, int v) {
    return CORNER | (uint32_t)(e->surface->vertex_number ? e->surface->vertex_number[v] : v);
}

/* Which corner (0..2), edge (3..5, from corner k - 3) or inside (6) of the whole triangle t is. */
static int part_of_triangle(const patch *p, v3 t) {
    double near = 1e-5 * p->size;
    for (int k = 0; k < 3; k++) {
        if (v3_norm(v3_sub(t, p->whole[k])) <= near) {
            return k;
        }
    }
    for (int k = 0; k < 3; k++) {
        v3 edge = v3_sub(p->whole[(k + 1) % 3], p->whole[k]);
        if (v3_norm(v3_cross(edge, v3_sub(t, p->whole[k]))) <= near * v3_norm(edge)) {
            return 3 + k;
        }
    }
    return 6;
}

static int falls(v3 g, v3 direction) { return v3_dot(g, direction) < -FIELD_SLACK * v3_norm(direction); }

/* Does the field fall from vertex `v` along an edge of the mesh? Goes round v both ways, from one of its triangles. */
static int falls_from_vertex(const sim_mesh *m, int triangle, int v, v3 g) {
    enum { MOST = 256 };
    for (int way = 0; way < 2; way++) {
        int t = triangle;
        for (int turn = 0; turn < MOST && t >= 0; turn++) {
            const int *c = m->triangle[t];
            int k = c[0] == v ? 0 : c[1] == v ? 1 : 2;
            for (int j = 1; j < 3; j++) {
                if (falls(g, v3_sub(m->vertex[c[(k + j) % 3]], m->vertex[v]))) {
                    return 1;
                }
            }
            t = m->across[t][way ? k : (k + 2) % 3];
            if (t == triangle) {
                return 0;
            }
        }
    }
    return 0;
}

/* Of a surface that is its triangles: is this the lowest place, of its own triangle and of those around? */
static int lowest_flat(const encounter *e, const patch *p, const place *at) {
    const sim_mesh *m = e->surface->mesh;
    int part = part_of_triangle(p, at->t);
    for (int k = 0; k < 3; k++) { /* the patch may be part of the triangle only */
        v3 d = v3_sub(p->whole[k], at->t);
        if (v3_norm(d) > 1e-5 * p->size && falls(at->g, d)) {
            return 0;
        }
    }
    if (part < 3) {
        return !falls_from_vertex(m, p->triangle, m->triangle[p->triangle][part], at->g);
    }
    int k = part - 3, other = part < 6 ? m->across[p->triangle][k] : -1;
    if (other >= 0) {
        const int *c = m->triangle[other];
        for (int j = 0; j < 3; j++) {
            v3 d = v3_sub(m->vertex[c[j]], at->t);
            if (v3_norm(d) > 1e-5 * p->size && falls(at->g, d)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Projected gradient on the solid itself, x <- P(x - L g), which stands still exactly where g points against the cone of
 * normals at x; step lengths by Barzilai and Borwein.  Returns how far from standing still it ends, as a slope; HUGE_VAL
 * where it leaves the neighbourhood of `anchor`. */
static double settle(encounter *e, v3 anchor, double reach, place *at) {
    enum { MOST = 12 };
    double step = reach, last = HUGE_VAL;
    for (int k = 0; k < MOST; k++) {
        place next = *at;
        double length = v3_norm(at->g);
        if (!solid_project(e->surface, v3_axpy(at->x, -step / length, at->g), 3 * step, &next.x, &next.normal)) {
            step *= 0.25;
            continue;
        }
        v3 moved = v3_sub(next.x, at->x);
        double way = v3_norm(moved);
        last = way / step;
        if (last <= 1e-6) {
            break;
        }
        if (v3_norm(v3_sub(next.x, anchor)) > reach) {
            return HUGE_VAL;
        }
        next.f = encounter_field(e, v3_add(next.x, next.shift), &next.g);
        if (!(next.f < at->f) || !(v3_norm(next.g) > 0.1)) {
            step *= 0.25;
            continue;
        }
        double bend = v3_dot(moved, v3_sub(next.g, at->g));
        step = bend > 0 ? fmin(way * way / bend, 4 * reach) : 4 * reach;
        *at = next;
    }
    return last;
}

/* Of a curved surface with edges: is there a local minimum of the field on it, near the patch?  Looked for with the
 * surface lifted off, since close to an edge of the field's solid phi turns too sharply. */
static int settles(encounter *e, const patch *p, place *at) {
    enum { LIFTS = 4 };
    const double ROUND = 0.2;
    v3 anchor = at->x;
    double slope = HUGE_VAL;
    for (int k = 0; k < LIFTS; k++) {
        v3 n = v3_scale(1 / v3_norm(at->g), at->g);
        at->shift = v3_scale(ROUND * p->size - place_gap(at), n);
        at->f = encounter_field(e, v3_add(at->x, at->shift), &at->g);
        if (!(v3_norm(at->g) > 0.1)) {
            return 0;
        }
        slope = settle(e, anchor, 1.2 * p->size, at);
        at->lift = v3_dot(at->shift, at->g);
        if (slope > FIELD_SLACK) {
            return 0;
        }
        if (v3_norm(v3_sub(at->g, n)) <= 1e-5) {
            break;
        }
    }
    place_check(e, at);
    return 1;
}

static int smooth(const patch *p) {
    for (int k = 0; k < 3; k++) {
        if (v3_dot(p->normal, p->corner[k].normal) < 0.9) {
            return 0;
        }
    }
    return 1;
}

static void report_minimum(encounter *e, const patch *p, place *low) {
    int flat_parallel = parallel(low->g, p->normal);
    if (e->surface->curved) {
        int is_smooth = smooth(p);
        if (!(is_smooth && e->sharp_only) && (parallel(low->g, low->normal) || (flat_parallel && !is_smooth))) {
            ;
        } else if (is_smooth || !(v3_norm(low->g) > 0.1) || !settles(e, p, low)) {
            return;
        }
    } else if (!flat_parallel && !lowest_flat(e, p, low)) {
        return;
    }
    const sim_mesh *m = e->surface->mesh;
    int part = part_of_triangle(p, low->t), v = part < 3 ? m->triangle[p->triangle][part] : -1;
    if (v >= 0) {
        if (e->seen[v] != VERTEX_TAKEN) {
            e->seen[v] = VERTEX_TAKEN;
            report(e, low, vertex_number(e, v), 0);
        }
        return;
    }
    int across = part >= 3 && part < 6 ? m->across[p->triangle][part - 3] : -1;
    report(e, low, triangle_number(e, across >= 0 && across < p->triangle ? across : p->triangle), p->part);
}

/* Corners that lie parallel to the field are contact as well. */
static void report_corners(encounter *e, const patch *p) {
    if (e->sharp_only && smooth(p)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        const place *at = &p->corner[k];
        int v = e->surface->mesh->triangle[p->triangle][k];
        if (e->seen[v] != VERTEX_TAKEN && at->f < e->margin &&
            (parallel(at->g, p->normal) || parallel(at->g, at->normal))) {
            e->seen[v] = VERTEX_TAKEN;
            report(e, at, vertex_number(e, v), 0);
        }
    }
}

static void cut(encounter *e, const patch *p, int depth);

static void meet(encounter *e, const patch *p, int depth) {
    double low = fmin(p->corner[0].f, fmin(p->corner[1].f, p->corner[2].f));
    if (low > 0.6 * p->size + e->margin) {
        return;
    }
    if (p->size > e->coarse && depth < DEEPEST_CUT) {
        cut(e, p, depth);
        return;
    }
    place least;
    patch_minimum(e, p, &least);
    if (place_gap(&least) < e->margin) {
        report_minimum(e, p, &least);
    }
}

static double longest(const patch *p) {
    double most = 0;
    for (int k = 0; k < 3; k++) {
        most = fmax(most, v3_norm(v3_sub(p->corner[(k + 1) % 3].t, p->corner[k].t)));
    }
    return most;
}

static void cut(encounter *e, const patch *p, int depth) {
    place middle[3] = {{.lift = 0}};
    for (int k = 0; k < 3; k++) {
        v3 t = v3_scale(0.5, v3_add(p->corner[k].t, p->corner[(k + 1) % 3].t));
        encounter_place(e, t, p->normal, p->size, &middle[k]);
    }
    for (int k = 0; k < 4; k++) {
        patch q = *p;
        q.part = 4 * p->part + (uint32_t)k + 1;
        if (k < 3) {
            q.corner[0] = p->corner[k];
            q.corner[1] = middle[k];
            q.corner[2] = middle[(k + 2) % 3];
        } else {
            memcpy(q.corner, middle, sizeof middle);
        }
        q.size = longest(&q);
        meet(e, &q, depth + 1);
    }
}

/* What is known of a vertex; `near`: its place on the true surface matters. */
static const place *vertex(encounter *e, int v, int near, v3 normal, double size) {
    place *at = &e->vertex[v];
    if (e->seen[v] == VERTEX_UNKNOWN) {
        *at = (place){.lift = 0};
        at->t = at->x = e->surface->mesh->vertex[v];
        at->normal = normal;
        at->f = encounter_field(e, at->t, &at->g);
        e->seen[v] = VERTEX_FLAT;
        e->deepest = e->deepest < 0 || at->f < e->vertex[e->deepest].f ? v : e->deepest;
    }
    if (near && e->seen[v] == VERTEX_FLAT) {
        e->seen[v] = VERTEX_KNOWN;
        v3 x = at->x, n;
        if (e->surface->curved && solid_project(e->surface, at->t, size, &x, &n)) {
            at->normal = n;
            if (v3_norm(v3_sub(x, at->t)) > 1e-9 * size) {
                at->x = x;
                at->f = encounter_field(e, x, &at->g);
            }
        }
    }
    return at;
}

/* Can the patch reach below the margin?  Along each edge the field is taken for a parabola with the slopes at both ends; its
 * dip below the lower end counts one and a half times.  A crease between two corners turns the slopes round and makes the
 * dip half the edge, so that nothing sharp is passed over. */
static int may_touch(const encounter *e, const place at[3]) {
    double least = HUGE_VAL, deepest = 0;
    for (int k = 0; k < 3; k++) {
        const place *a = &at[k], *b = &at[(k + 1) % 3];
        v3 edge = v3_sub(b->t, a->t);
        double from = v3_dot(place_uphill(a), edge), to = v3_dot(place_uphill(b), edge), bend = to - from;
        double down = a->f <= b->f ? -from : to; /* inwards from the lower end */
        if (down > 0) {
            deepest = fmax(deepest, down * down / fmax(bend, down));
        }
        least = fmin(least, a->f);
    }
    return least - 0.75 * deepest <= e->margin;
}

static int visit(void *context, int triangle) {
    encounter *e = context;
    const sim_mesh *m = e->surface->mesh;
    const int *c = m->triangle[triangle];
    patch p = {.triangle = triangle, .whole = {m->vertex[c[0]], m->vertex[c[1]], m->vertex[c[2]]}};
    double size = 0, least = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, v3_norm(v3_sub(p.whole[(k + 1) % 3], p.whole[k])));
    }
    e->triangles++;
    for (int k = 0; k < 3; k++) {
        least = fmin(least, vertex(e, c[k], 0, v3_make(0, 0, 0), size)->f);
    }
    /* Nothing of a triangle is farther from its corners than 0.58 of its longest edge; the rest is for its bulge. */
    if (!(least <= (e->surface->curved ? 0.8 : 0.6) * size + e->margin)) {
        return 1;
    }
    v3 normal = v3_cross(v3_sub(p.whole[1], p.whole[0]), v3_sub(p.whole[2], p.whole[0]));
    double area = v3_norm(normal);
    if (!(area > 0)) {
        return 1;
    }
    p.normal = v3_scale(1 / area, normal);
    p.size = size;
    for (int k = 0; k < 3; k++) {
        p.corner[k] = *vertex(e, c[k], 1, p.normal, size);
        if (!e->surface->curved) {
            p.corner[k].normal = p.normal; /* a vertex has none of its own */
        }
    }
    if (size <= e->coarse && !may_touch(e, p.corner)) {
        return 1;
    }
    report_corners(e, &p);
    meet(e, &p, 0);
    return !e->out->failed;
}

static void descend(encounter *e, const sim_bvh *bvh) {
    struct {
        int node;
        v3 centre;
        double f; /* the field at `centre`: of the node or of one above */
    } waiting[BVH_MAX_DEPTH + 2], at;
    int nwaiting = 1;
    v3 g;
    waiting[0].node = 0;
    waiting[0].centre = v3_make(0, 0, 0);
    waiting[0].f = HUGE_VAL; /* nothing known */
    while (nwaiting > 0) {
        at = waiting[--nwaiting];
        const sim_bvh_node *n = &bvh->node[at.node];
        v3 low = v3_make((double)n->low[0], (double)n->low[1], (double)n->low[2]);
        v3 high = v3_make((double)n->high[0], (double)n->high[1], (double)n->high[2]);
        v3 centre = v3_scale(0.5, v3_add(low, high));
        double radius = (e->surface->curved ? 1.1 : 1) * v3_norm(v3_sub(high, centre)) + e->margin;
        /* Asked only where the answer may be no, by what the field above has said; of leaves their vertices are asked. */
        if (n->count == 0 && !(at.f + v3_norm(v3_sub(centre, at.centre)) <= radius)) {
            at.f = encounter_field(e, centre, &g);
            at.centre = centre;
            if (at.f > radius) {
                continue;
            }
        }
        for (int k = 0; k < n->count; k++) {
            if (!visit(e, bvh->order[n->first + k])) {
                return;
            }
        }
        if (n->count == 0 && nwaiting + 2 <= BVH_MAX_DEPTH + 2) {
            waiting[nwaiting] = at;
            waiting[nwaiting++].node = n->first + 1;
            waiting[nwaiting] = at;
            waiting[nwaiting++].node = n->first;
        }
    }
}

/* The deepest vertex of all is near a contact.  Where bodies are so far inside each other that none was found which is at
 * least half as deep, it stands for one: what overlaps is pushed apart. */
static void report_deepest(encounter *e) {
    double least = 0;
    for (int k = e->first; k < e->out->count; k++) {
        least = fmin(least, e->out->point[k].gap);
    }
    if (e->deepest >= 0 && e->vertex[e->deepest].f < 2 * least) {
        report(e, &e->vertex[e->deepest], vertex_number(e, e->deepest), 0);
    }
}

int encounter_run(encounter *e) {
    const sim_mesh *m = e->surface->mesh;
    if (!m || !m->ntriangle || !e->field->distance) {
        return 1;
    }
    e->vertex = ARENA_NEW(e->pair->arena, place, m->nvertex);
    e->seen = ARENA_NEW(e->pair->arena, unsigned char, m->nvertex);
    if (!e->vertex || !e->seen) {
        return 0;
    }
    memset(e->seen, VERTEX_UNKNOWN, (size_t)m->nvertex);
    e->deepest = -1;
    if (e->surface->bvh) {
        descend(e, e->surface->bvh);
    }
    for (int t = 0; !e->surface->bvh && t < m->ntriangle; t++) {
        if (!visit(e, t)) {
            break;
        }
    }
    report_deepest(e);
    return 1;
}
