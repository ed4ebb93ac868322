/* Contacts of the surface of one solid with the distance field of another.
 *
 * The descent of the tree of boxes over the triangles leaves out boxes that are too far. phi is never steeper than 1,
 * so nothing within r of a point p is nearer than phi(p) - r.  On the triangles that stay the field's local minimum is
 * found (field_minimum.c), and whether it is a contact (field_accept.c). */
#include "collide/field/field_contact.h"

#include <string.h>

enum { MAX_CUT_DEPTH = 12 };                       /* parts far from the field are not cut */
static const double SAME_DEPTH_OVER_EXTENT = 1e-6; /* of the surface's size */
static const double NEAREST_SLACK = 0.25; /* by which estimates may err, of the way from the least gap to the margin */

/* How far from the patch a contact may be that only the search along the solid's edges will find. */
static double max_stray(const encounter *e, const patch *p) {
    return e->surface->skin && p->sharp ? e->surface->skin->bulge : 0;
}

static void cut_patch(encounter *e, const patch *p, int depth);

static void collide_patch(encounter *e, const patch *p, int depth) {
    double low = fmin(p->corner[0].f, fmin(p->corner[1].f, p->corner[2].f));
    if (low > 0.6 * p->size + e->margin) {
        return;
    }
    if (p->size > e->coarse && depth < MAX_CUT_DEPTH) {
        cut_patch(e, p, depth);
        return;
    }
    place least;
    patch_minimum(e, p, &least);
    if (e->round) {
        settle_round(e, p, &least);
    }
    if (place_gap(&least) < e->margin + max_stray(e, p)) {
        report_minimum(e, p, &least);
    }
}

static double longest_patch_edge(const patch *p) {
    double most = 0;
    for (int k = 0; k < 3; k++) {
        most = fmax(most, v3_norm(v3_sub(p->corner[(k + 1) % 3].t, p->corner[k].t)));
    }
    return most;
}

static void cut_patch(encounter *e, const patch *p, int depth) {
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
        q.size = longest_patch_edge(&q);
        collide_patch(e, &q, depth + 1);
    }
}

/* State of a vertex. */
static const place *evaluate_vertex(encounter *e, int v) {
    place *at = &e->vertex[v];
    if (!(e->seen[v] & VERTEX_KNOWN)) {
        *at = (place){.lift = 0};
        at->t = at->x = e->surface->mesh->vertex[v];
        at->f = encounter_field(e, at->t, &at->g);
        e->seen[v] |= VERTEX_KNOWN;
        e->deepest = e->deepest < 0 || at->f < e->vertex[e->deepest].f ? v : e->deepest;
    }
    return at;
}

/* About how low the field is over the patch.  Along each edge, taken for convex, it is not below the tangents at both
 * ends.  The middle of the patch may be a little lower. */
static double estimate_least(const place at[3]) {
    double least = HUGE_VAL, deepest = 0;
    for (int k = 0; k < 3; k++) {
        const place *a = &at[k], *b = &at[(k + 1) % 3];
        v3 edge = v3_sub(b->t, a->t);
        double from = v3_dot(place_uphill(a), edge), to = v3_dot(place_uphill(b), edge);
        double down = a->f <= b->f ? -from : to, up = a->f <= b->f ? to : -from, rise = fabs(b->f - a->f);
        if (down > 0) { /* inwards from the lower end */
            double s = up + down > 0 ? (up - rise) / (up + down) : 1;
            deepest = fmax(deepest, down * fmin(fmax(s, 0), 1));
        }
        least = fmin(least, a->f);
    }
    return least - 1.2 * deepest;
}

/* Of a convex field over a flat triangle: not below the planes that touch it at the corners. */
static double bound_least(const place at[3]) {
    double best = -HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        double low = 0;
        for (int j = 1; j < 3; j++) {
            low = fmin(low, v3_dot(at[k].g, v3_sub(at[(k + j) % 3].t, at[k].t)));
        }
        best = fmax(best, at[k].f + low);
    }
    return best;
}

/* Corners must be known. False: the triangle has no area. */
static bool make_patch(const encounter *e, int triangle, patch *p) {
    const sim_mesh *m = e->surface->mesh;
    const sim_skin *skin = e->surface->skin;
    const int *c = m->triangle[triangle];
    *p = (patch){.triangle = triangle, .whole = {m->vertex[c[0]], m->vertex[c[1]], m->vertex[c[2]]}, .smooth = true};
    v3 normal = v3_cross(v3_sub(p->whole[1], p->whole[0]), v3_sub(p->whole[2], p->whole[0]));
    double area = v3_norm(normal);
    if (!(area > 0)) {
        return false;
    }
    p->normal = v3_scale(1 / area, normal);
    p->sharp = skin ? skin->sharp[triangle] : 0;
    for (int k = 0; k < 3; k++) {
        p->size = fmax(p->size, v3_norm(v3_sub(p->whole[(k + 1) % 3], p->whole[k])));
        p->corner[k] = e->vertex[c[k]];
        p->corner[k].normal = skin ? skin->normal[triangle][k] : p->normal;
        p->smooth = p->smooth && v3_dot(p->normal, p->corner[k].normal) >= 0.9;
    }
    return true;
}

static bool visit_field_triangle(encounter *e, int triangle) {
    const sim_mesh *m = e->surface->mesh;
    const int *c = m->triangle[triangle];
    if (e->sharp_only && e->surface->skin && !e->surface->skin->sharp[triangle]) {
        return true;
    }
    double size = 0, least = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        size = fmax(size, v3_norm(v3_sub(m->vertex[c[(k + 1) % 3]], m->vertex[c[k]])));
        least = fmin(least, evaluate_vertex(e, c[k])->f);
    }
    e->triangles++;
    /* Nothing of a triangle is farther from its corners than 0.58 of its longest edge; the rest is for its bulge. */
    patch p;
    if (!(least <= (e->surface->curved ? 0.8 : 0.6) * size + e->margin) || !make_patch(e, triangle, &p)) {
        return true;
    }
    double low = estimate_least(p.corner);
    if (size > (e->field->convex ? 0.1 : 0.2) * e->field->extent) { /* the edges say too little */
        low = fmin(low, bound_least(p.corner) - (e->surface->curved ? 0.1 * size : 0));
    }
    if (size > e->coarse) {
        report_corners(e, &p);
        collide_patch(e, &p, 0);
    } else if (low <= e->margin + max_stray(e, &p)) {
        report_corners(e, &p);
        e->waiting[e->nwaiting++] = (candidate){low, triangle};
    }
    return !e->out->failed;
}

static bool comes_later(candidate a, candidate b) {
    return a.low > b.low || (a.low == b.low && a.triangle > b.triangle);
}

static void sift_candidate(candidate *c, int from, int count) {
    for (int k = from; 2 * k + 1 < count;) {
        int child = 2 * k + 1;
        child += child + 1 < count && comes_later(c[child + 1], c[child]);
        if (!comes_later(c[child], c[k])) {
            return;
        }
        candidate swap = c[k];
        c[k] = c[child];
        c[child] = swap;
        k = child;
    }
}

static void sort_candidates(candidate *c, int count) {
    for (int k = count / 2 - 1; k >= 0; k--) {
        sift_candidate(c, k, count);
    }
    for (int k = count - 1; k > 0; k--) {
        candidate swap = c[0];
        c[0] = c[k];
        c[k] = swap;
        sift_candidate(c, 0, k);
    }
}

/* Need a candidate not be looked at? A corner may be a contact, or belong to a triangle with one.  Then another is
 * searched only if it may be deeper than all so far, or nearly.  The search ends after MAX_FRUITLESS_CANDIDATES
 * failures.  So with those that only an edge of the solid beside the triangle could bring near. */
static bool is_spared(const encounter *e, double low, int seen, double same, const int in_vain[2]) {
    enum { MAX_FRUITLESS_CANDIDATES = 20 };
    if (!e->surface->skin) {
        return false;
    }
    if (seen & VERTEX_TAKEN) {
        return low > e->least - same || in_vain[0] >= MAX_FRUITLESS_CANDIDATES;
    }
    return (seen & VERTEX_COVERED && low > e->least + NEAREST_SLACK * (e->margin - e->least)) ||
           (low > e->margin && in_vain[1] >= 2 * MAX_FRUITLESS_CANDIDATES);
}

/* Is the triangle next to a feature that had a point a step ago, and that is no contact yet? */
static bool is_next_to_lost(const encounter *e, const int *corner) {
    bool lost = false;
    for (int k = 0; k < 3; k++) {
        lost = lost || (e->seen[corner[k]] & (VERTEX_KEPT | VERTEX_TAKEN)) == VERTEX_KEPT;
    }
    return lost;
}

/* Had the triangle a point a step ago? */
static bool had_point(const encounter *e, int triangle) {
    int vertex, named = -1;
    for (int k = 0; k < e->pair->nkept && named != triangle; k++) {
        encounter_feature(e, e->pair->kept[k], &vertex, &named);
    }
    return named == triangle;
}

/* The most promising first. */
static void collide_candidates(encounter *e) {
    int in_vain[2] = {0, 0}; /* in a row, where there is contact already; where only an edge may be near */
    double same = SAME_DEPTH_OVER_EXTENT * e->surface->extent;
    sort_candidates(e->waiting, e->nwaiting);
    for (int i = 0; i < e->nwaiting && !e->out->failed; i++) {
        const int *c = e->surface->mesh->triangle[e->waiting[i].triangle];
        double low = e->waiting[i].low, least = e->least;
        int seen = e->seen[c[0]] | e->seen[c[1]] | e->seen[c[2]], count = e->out->count;
        if (e->pair->nearest && low > least + NEAREST_SLACK * (e->margin - least)) {
            return;
        }
        if ((is_spared(e, low, seen, same, in_vain) && !had_point(e, e->waiting[i].triangle)) ||
            (e->follows && !is_next_to_lost(e, c))) {
            continue;
        }
        patch p;
        make_patch(e, e->waiting[i].triangle, &p);
        collide_patch(e, &p, 0);
        if (seen & (VERTEX_TAKEN | VERTEX_COVERED)) {
            in_vain[0] = e->least < least - same ? 0 : in_vain[0] + 1;
        } else if (low > e->margin) {
            in_vain[1] = e->out->count > count ? 0 : in_vain[1] + 1;
        }
    }
}

/* ---- which triangles ---- */

static void descend_tree(encounter *e, const sim_bvh *bvh) {
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
        const bvh_node *n = &bvh->node[at.node];
        v3 low = v3_make((double)n->low[0], (double)n->low[1], (double)n->low[2]);
        v3 high = v3_make((double)n->high[0], (double)n->high[1], (double)n->high[2]);
        v3 centre = v3_scale(0.5, v3_add(low, high));
        double radius = (e->surface->curved ? 1.1 : 1) * v3_norm(v3_sub(high, centre)) + e->margin;
        /* Evaluated only where the value above leaves it open; leaves are decided by their vertices. */
        if (n->count == 0 && !(at.f + v3_norm(v3_sub(centre, at.centre)) <= radius)) {
            at.f = encounter_field(e, centre, &g);
            at.centre = centre;
            if (at.f > radius) {
                continue;
            }
        }
        for (int k = 0; k < n->count; k++) {
            if (!visit_field_triangle(e, bvh->order[n->first + k])) {
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

/* Marks the vertices at the features of kept points.  False: a point has none, as an end of a line. */
static bool mark_kept(encounter *e) {
    const pair *p = e->pair;
    for (int k = 0; k < p->nkept; k++) {
        int vertex, triangle;
        if (!encounter_feature(e, p->kept[k], &vertex, &triangle)) {
            return false;
        }
        if (vertex >= 0) {
            e->seen[vertex] |= VERTEX_KEPT;
        }
        for (int j = 0; j < 3 && triangle >= 0; j++) {
            e->seen[e->surface->mesh->triangle[triangle][j]] |= VERTEX_KEPT;
        }
    }
    return true;
}

static void visit_kept(encounter *e) {
    const sim_mesh *m = e->surface->mesh;
    for (int t = 0; t < m->ntriangle; t++) {
        const int *c = m->triangle[t];
        if ((e->seen[c[0]] | e->seen[c[1]] | e->seen[c[2]]) & VERTEX_KEPT && !visit_field_triangle(e, t)) {
            return;
        }
    }
}

/* Triangles that may be near: next to features that are followed, in the tree of boxes, or all. */
static void visit_triangles(encounter *e) {
    const sim_mesh *m = e->surface->mesh;
    e->follows = e->pair->follows && e->surface->skin && mark_kept(e);
    if (e->follows) {
        visit_kept(e);
    } else if (e->surface->bvh) {
        descend_tree(e, e->surface->bvh);
    } else {
        for (int t = 0; t < m->ntriangle && visit_field_triangle(e, t); t++) {
        }
    }
}

/* The way out of the field's solid: the overlap shrinks fastest against the area vector of the part of the surface
 * inside.  0 where that is nearly closed. */
static v3 way_out(const encounter *e) {
    const sim_mesh *m = e->surface->mesh;
    v3 sum = {0, 0, 0};
    double all = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        const int *c = m->triangle[t];
        double inside = 0;
        for (int k = 0; k < 3; k++) {
            inside += e->seen[c[k]] & VERTEX_KNOWN && e->vertex[c[k]].f < 0;
        }
        if (inside > 0) {
            v3 area = v3_cross(v3_sub(m->vertex[c[1]], m->vertex[c[0]]), v3_sub(m->vertex[c[2]], m->vertex[c[0]]));
            sum = v3_axpy(sum, -inside, area);
            all += inside * v3_norm(area);
        }
    }
    double size = v3_norm(sum);
    return size > 0.05 * all ? v3_scale(1 / size, sum) : v3_make(0, 0, 0);
}

/* The deepest vertex of all is near a contact.  Bodies may be so far inside each other that no contact was found which
 * is at least half as deep.  Then it stands for one (but for SAME_DEPTH_OVER_EXTENT: vertices stand beside the surface
 * a little).  A point whose gradient leads through the other side does not: the deepest of those that lead out comes
 * first. */
static void report_deepest(encounter *e) {
    double least = 0;
    for (int k = e->first; k < e->out->count; k++) {
        least = fmin(least, e->out->point[k].gap);
    }
    double slack = e->out->count > e->first ? SAME_DEPTH_OVER_EXTENT * e->surface->extent : 0;
    if (e->deepest < 0 || !(e->vertex[e->deepest].f < 2 * least - slack)) {
        return;
    }
    v3 out = e->sharp_only ? v3_make(0, 0, 0) : way_out(e);
    int best = -1;
    for (int v = 0; v < e->surface->mesh->nvertex; v++) {
        const place *at = &e->vertex[v];
        if (e->seen[v] & VERTEX_KNOWN && at->f < (best < 0 ? 0 : e->vertex[best].f) &&
            v3_dot(at->g, out) > 0.5 * v3_norm(at->g)) {
            best = v;
        }
    }
    best = best >= 0 && e->vertex[best].f < 0.1 * e->vertex[e->deepest].f ? best : e->deepest;
    report_vertex(e, &e->vertex[best], best);
}

bool encounter_run(encounter *e) {
    /* memory */
    const sim_mesh *m = e->surface->mesh;
    if (!m || !m->ntriangle || !e->field->distance) {
        return true;
    }
    e->vertex = ARENA_NEW(e->pair->arena, place, m->nvertex);
    e->seen = ARENA_NEW(e->pair->arena, unsigned char, m->nvertex);
    e->waiting = ARENA_NEW(e->pair->arena, candidate, m->ntriangle);
    if (!e->vertex || !e->seen || !e->waiting) {
        return false;
    }
    memset(e->seen, 0, (size_t)m->nvertex);
    /* triangles near the field */
    int mine = e->out->count;
    e->deepest = -1;
    e->lines = 0;
    e->least = e->margin;
    e->nwaiting = 0;
    visit_triangles(e);
    /* contacts of faces, of lines, and of the deepest point */
    collide_candidates(e);
    if (e->lines > 0) {
        report_lines(e, mine);
    }
    report_deepest(e);
    return true;
}
