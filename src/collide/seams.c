/* Contacts at the seams between shapes of one body, as between the tiles of a floor.
 *
 * A box that slides from tile to tile meets the side of the next one, or an edge of it.  Pair by pair that is a contact.
 * But the tiles are flush: there is no side, and no edge.  A body touches the shape P at x with the normal n out of P, and
 * another shape Q of the same body along m.  The contact with P is at a seam if
 *
 *     x + d t is in Q,     t = the part of n across m, of unit length           the surface goes on along n,
 *     at no point of P about x that has the normal n, too, does x + d t leave Q     nor is it a wall that stands on Q.
 *
 * Where Q is flush with P, or covers P at x, t leads into Q or along its surface.  A normal of their union has t.u <= 0
 * for all directions u that lead into the union or along it, unless the union is hollow at x.  There, as where a wall
 * stands on a floor, P has points about x, of a face or of an edge, that show the normal above Q.  They are sought on a
 * circle about x, and towards the sides of the face or edge of P along n.  Bodies overlap the wall or are yet to reach
 * it, so the radius is d and twice the greatest gap.  Any shape of P's body that is touched may cover these points.
 *
 * d is a thousandth of the smallest of the three shapes, the gap up to which shapes are in contact.  A step below a
 * tenth of it counts as flush.  A contact only goes where that with Q stays.  Only rigid convex shapes take part.
 *
 * Cost: a hash entry for each contact of a body that has several of them; where one shape touches two of them, a few
 * queries of points, some 30 ns each. */
#include "collide/seams.h"
#include "collide/contact/pair.h"
#include "collide/convex/convex.h"

static const double PROBE_OVER_SIZE = 1e-3;
static const double FLUSH_OVER_PROBE = 0.1;
enum { CIRCLE = 24 };

/* A contact as seen from one of its shapes. */
typedef struct side {
    int shape, other; /* P, and what touches it */
    v3 point, normal; /* on P, out of P */
} side;

/* Contacts of one shape with one clump, as a list. */
typedef struct list {
    int shape, clump, first; /* first: entry, -1: free slot */
} list;

struct seam_stage {
    const sim_model *model;
    const filter *filter;
    const bounding_ball *ball;
    int *solids; /* [nbody] convex shapes of the clump named after the body */
    bool any;    /* has some clump two of them? */
};

/* A call. */
typedef struct seams {
    const seam_stage *stage;
    const sim_pose *X;
    const sim_contact *contact;
    bool *dropped;
    list *slot; /* [mask + 1] */
    unsigned mask;
    int *next; /* [2 count] entry 2 k + i: contact k as seen from its shape i */
    sim_arena *scratch;
} seams;

/* Rigid and convex. */
static bool is_solid(const sim_shape *shape) { return shape_is_convex(shape) && !shape->pressure; }

seam_stage *seams_create(const sim_model *m, const filter *f, const bounding_ball *ball, memory_pool *pool) {
    seam_stage *s = POOL_NEW(pool, seam_stage, 1);
    int *solids = POOL_NEW(pool, int, m->nbody);
    if (!s || !solids) {
        return NULL;
    }
    *s = (seam_stage){.model = m, .filter = f, .ball = ball, .solids = solids};
    for (int k = 0; k < m->nshape; k++) {
        const sim_shape *shape = &m->shape[k];
        s->any |= is_solid(shape) && ++solids[f->clump[shape->body]] > 1;
    }
    return s;
}

static int clump_of(const seam_stage *s, int shape) { return s->filter->clump[s->model->shape[shape].body]; }

/* May this side of a contact be at a seam?  Points on surfaces that are not convex are not exact where there is a gap. */
static bool may_be_seam(const seam_stage *s, const sim_contact *c, int shape) {
    const sim_shape *all = s->model->shape;
    return s->solids[clump_of(s, shape)] > 1 && is_solid(&all[c->shape_a]) && is_solid(&all[c->shape_b]);
}

/* ---- lists ---- */

static list *find_list(const seams *s, int shape, int clump) {
    unsigned at = ((unsigned)shape * 2654435761u ^ (unsigned)clump * 2246822519u) & s->mask;
    while (s->slot[at].first >= 0 && (s->slot[at].shape != shape || s->slot[at].clump != clump)) {
        at = (at + 1) & s->mask;
    }
    return &s->slot[at];
}

static void enter_contacts(seams *s, int count) {
    for (int k = count - 1; k >= 0; k--) {
        const sim_contact *c = &s->contact[k];
        for (int i = 0; i < 2; i++) {
            int shape = i ? c->shape_b : c->shape_a, other = i ? c->shape_a : c->shape_b;
            if (may_be_seam(s->stage, c, shape)) {
                int clump = clump_of(s->stage, shape);
                list *of = find_list(s, other, clump);
                s->next[2 * k + i] = of->first;
                *of = (list){other, clump, 2 * k + i};
            }
        }
    }
}

static bool begin_call(seams *s, int count) {
    s->mask = 15;
    while (s->mask < 4 * (unsigned)count) {
        s->mask = 2 * s->mask + 1;
    }
    s->slot = ARENA_NEW(s->scratch, list, s->mask + 1);
    s->next = ARENA_NEW(s->scratch, int, 2 * count);
    s->dropped = ARENA_NEW(s->scratch, bool, count);
    if (!s->slot || !s->next || !s->dropped) {
        return false;
    }
    for (unsigned k = 0; k <= s->mask; k++) {
        s->slot[k].first = -1;
    }
    for (int k = 0; k < count; k++) {
        s->dropped[k] = false;
    }
    return true;
}

/* ---- geometry ---- */

static side make_side(const sim_contact *c, int i) {
    const contact_point *p = &c->at;
    double sign = i ? -1 : 1; /* from the middle to A, or to B */
    v3 way = v3_norm(p->apart) > 0 ? p->apart : v3_scale(p->gap, p->normal);
    return (side){.shape = i ? c->shape_b : c->shape_a,
                  .other = i ? c->shape_a : c->shape_b,
                  .point = v3_axpy(p->position, sign / 2, way),
                  .normal = v3_scale(-sign, p->normal)};
}

/* Distance of a point of the world from a convex shape, negative inside; infinite beyond `reach`. */
static double find_distance(const seams *s, int shape, v3 x, double reach) {
    const sim_shape *solid = &s->stage->model->shape[shape];
    sim_shape point = sim_shape_default();
    point.type = SIM_SPHERE;
    point.size[0] = reach;
    pose X = pose_product(s->X[solid->body], solid->pose);
    pair p = {.a = &point, .b = solid, .X_ab = pose_relative((pose){m3_identity(), x}, X), .arena = s->scratch};
    size_t mark = arena_mark(s->scratch);
    manifold found = {0};
    pair_collide(&p, &found);
    double gap = found.count ? found.point[0].gap : HUGE_VAL;
    arena_release(s->scratch, mark);
    return gap + reach;
}

/* The question whether P shows its normal where nothing covers it. */
typedef struct search {
    const seams *s;
    const side *p;
    int touched;                /* first entry of the contacts of the same two bodies */
    v3 along;                   /* t */
    double radius, size, flush; /* m: of the circle; of a ball that has no face, but counts */
    double here;                /* distance of the point from P */
} search;

/* Is x in a shape of the body of P that is touched, too? */
static bool is_covered(const search *a, v3 x) {
    int last = -1;
    for (int e = a->touched; e >= 0; e = a->s->next[e]) {
        const sim_contact *c = &a->s->contact[e / 2];
        int q = e % 2 ? c->shape_b : c->shape_a;
        if (q != a->p->shape && q != last && !a->s->dropped[e / 2] && find_distance(a->s, q, x, a->flush) <= a->flush) {
            return true;
        }
        last = q;
    }
    return false;
}

/* Does P have the normal at x, with nothing along t? */
static bool is_open(const search *a, v3 x) {
    double rise = find_distance(a->s, a->p->shape, x, 4 * a->radius) - a->here;
    return fabs(rise) <= a->radius * a->radius / a->size && !is_covered(a, v3_axpy(x, a->radius, a->along));
}

static bool is_open_on_circle(const search *a) {
    v3 n = a->p->normal, least = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    v3 u = v3_scale(1 / v3_norm(v3_cross(n, least)), v3_cross(n, least)), v = v3_cross(n, u);
    for (int k = 0; k < CIRCLE; k++) {
        double angle = 2 * M_PI * k / CIRCLE;
        v3 way = v3_axpy(v3_scale(a->radius * cos(angle), u), a->radius * sin(angle), v);
        if (is_open(a, v3_add(a->p->point, way))) {
            return true;
        }
    }
    return false;
}

/* The point of side k of a face that is nearest to x; of a segment, its end k. */
static v3 find_rim(const face *f, int k, v3 x) {
    v3 from = f->corner[k], along = v3_sub(f->corner[(k + 1) % f->count], from);
    double square = v3_dot(along, along), part = square > 0 ? v3_dot(v3_sub(x, from), along) / square : 0;
    return v3_axpy(from, f->count == 2 ? 0 : fmin(fmax(part, 0), 1), along);
}

/* Towards the rim of the face or edge that P shows along n, as far as the circle. */
static bool is_open_on_face(const search *a) {
    convex core;
    face f;
    const sim_shape *solid = &a->s->stage->model->shape[a->p->shape];
    if (!convex_of_shape(solid, &core)) {
        return false; /* a half-space: all of the circle is its face */
    }
    pose X = pose_product(a->s->X[solid->body], solid->pose);
    v3 x = pose_point(pose_inverse(X), a->p->point), n = m3_transposed_times(X.R, a->p->normal);
    convex_face(&core, n, PROBE_OVER_SIZE, a->radius, &f);
    for (int k = 0; k < f.count && f.count > 1; k++) {
        v3 way = v3_sub(find_rim(&f, k, x), x);
        way = v3_axpy(way, -v3_dot(way, n), n);
        double length = v3_norm(way), part = length > a->radius ? a->radius / length : 1;
        if (length > 0 && is_open(a, v3_axpy(a->p->point, part, m3_times(X.R, way)))) {
            return true;
        }
    }
    return false;
}

/* Is the contact where Q carries on the surface of P?  `gap`: the greatest of the two bodies. */
static bool is_at_seam(const seams *s, const side *p, const side *q, int touched, double gap) {
    const bounding_ball *ball = s->stage->ball;
    double size = fmin(ball[q->shape].radius, fmin(ball[p->shape].radius, ball[p->other].radius));
    double probe = PROBE_OVER_SIZE * size;
    search a = {.s = s,
                .p = p,
                .touched = touched,
                .along = v3_axpy(p->normal, -v3_dot(p->normal, q->normal), q->normal),
                .radius = probe + 2 * gap,
                .size = size,
                .flush = FLUSH_OVER_PROBE * probe};
    const sim_shape *solid = &s->stage->model->shape[q->shape];
    v3 centre = pose_point(s->X[solid->body], pose_point(solid->pose, ball[q->shape].centre));
    double length = v3_norm(a.along), away = v3_norm(v3_sub(p->point, centre));
    if (length < PROBE_OVER_SIZE || away > ball[q->shape].radius + 2 * probe) {
        return false; /* both normals agree, or Q is elsewhere */
    }
    a.along = v3_scale(1 / length, a.along);
    if (find_distance(s, q->shape, v3_axpy(p->point, probe, a.along), a.flush) > a.flush) {
        return false;
    }
    a.here = find_distance(s, p->shape, p->point, 4 * a.radius);
    return !is_open_on_circle(&a) && !is_open_on_face(&a);
}

static bool should_drop(const seams *s, int k, int i) {
    const sim_contact *c = &s->contact[k];
    side p = make_side(c, i);
    if (!may_be_seam(s->stage, c, p.shape)) {
        return false;
    }
    /* contacts of the same two bodies with another shape of P's; the greatest gap or overlap of all */
    int first = find_list(s, p.other, clump_of(s->stage, p.shape))->first;
    double gap = 0;
    bool several = false;
    for (int e = first; e >= 0; e = s->next[e]) {
        const sim_contact *d = &s->contact[e / 2];
        several |= (e % 2 ? d->shape_b : d->shape_a) != p.shape;
        gap = fmax(gap, fabs(d->at.gap));
    }
    for (int e = first; e >= 0 && several; e = s->next[e]) {
        side q = make_side(&s->contact[e / 2], e % 2);
        if (q.shape != p.shape && !s->dropped[e / 2] && is_at_seam(s, &p, &q, first, gap)) {
            return true;
        }
    }
    return false;
}

int seams_leave_out(seam_stage *stage, const sim_pose *X, sim_contact *contact, int count, sim_arena *scratch) {
    seams s = {.stage = stage, .X = X, .contact = contact, .scratch = scratch};
    if (!stage->any || count < 2) {
        return count;
    }
    if (!begin_call(&s, count)) {
        return -1;
    }
    enter_contacts(&s, count);
    for (int k = 0; k < count; k++) {
        s.dropped[k] = should_drop(&s, k, 0) || should_drop(&s, k, 1);
    }
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (!s.dropped[k]) {
            contact[kept++] = contact[k];
        }
    }
    return kept;
}
