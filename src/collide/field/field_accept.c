/* Test of a minimum of a field over a piece of a surface for a contact.
 *
 * A minimum is a contact where the field's gradient g points against the cone of the normals that meet there: parallel
 * surfaces, or a lowest edge or corner.  Corners of triangles that lie parallel are contacts too: a face resting on a
 * face touches all over. */
#include "collide/convex/convex.h"
#include "collide/field/field_contact.h"

static const double SAME_PLACE_OVER_SIZE = 1e-6; /* of the triangle's size */

static const uint32_t SURFACE_SIDE = 0x80000000u, CORNER = 0x40000000u, LINE = 0x20000000u;

/* The field's gradient against the surface's normal. */
static bool is_parallel(v3 g, v3 normal) {
    double facing = -v3_dot(g, normal);
    v3 along = v3_axpy(g, facing, normal);
    return facing > 0 && v3_dot(along, along) <= FIELD_SLACK * FIELD_SLACK * v3_dot(g, g);
}

static void add_field_contact(encounter *e, const place *at, uint32_t number, uint32_t part) {
    double length = v3_norm(at->g), gap = place_gap(at);
    if (!(gap < e->margin) || !(length > 0.1) || !isfinite(gap) || !v3_finite(at->x)) {
        return;
    }
    e->least = fmin(e->least, gap);
    v3 n = v3_scale(1 / length, at->g), middle = v3_axpy(at->x, -0.5 * gap, n);
    uint32_t of_surface = SURFACE_SIDE | number;
    contact_point c = point_between(middle, n, gap,
                                    e->surface_is_a ? feature_pair(of_surface, part) : feature_pair(part, of_surface));
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

bool encounter_feature(const encounter *e, uint64_t feature, int *vertex, int *triangle) {
    const uint32_t NUMBER = 0x03ffffffu; /* above them bits tell apart points of one feature */
    const sim_mesh *m = e->surface->mesh;
    uint32_t mine = (uint32_t)(e->surface_is_a ? feature >> 32 : feature);
    int number = (int)(mine & NUMBER);
    *vertex = *triangle = -1;
    if (mine & SURFACE_SIDE && mine & CORNER) {
        *vertex = number < m->nvertex ? number : -1;
    } else if (mine & SURFACE_SIDE) {
        *triangle = number < m->ntriangle ? number : -1;
    }
    return !(mine & SURFACE_SIDE) || mine & CORNER || !(mine & LINE);
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

static bool field_falls(v3 g, v3 direction) { return v3_dot(g, direction) < -FIELD_SLACK * v3_norm(direction); }

/* Does the field fall from vertex `v` along an edge of the mesh? Goes round v both ways, from one of its triangles. */
static bool falls_from_vertex(const sim_mesh *m, int triangle, int v, v3 g) {
    enum { MAX_TRIANGLES_ROUND_VERTEX = 256 };
    for (int way = 0; way < 2; way++) {
        int t = triangle;
        for (int turn = 0; turn < MAX_TRIANGLES_ROUND_VERTEX && t >= 0; turn++) {
            const int *c = m->triangle[t];
            int k = c[0] == v ? 0 : c[1] == v ? 1 : 2;
            for (int j = 1; j < 3; j++) {
                if (field_falls(g, v3_sub(m->vertex[c[(k + j) % 3]], m->vertex[v]))) {
                    return true;
                }
            }
            t = m->across[t][way ? k : (k + 2) % 3];
            if (t == triangle) {
                return false;
            }
        }
    }
    return false;
}

/* Of a surface that is its triangles: is this the lowest place, of its own triangle and of those around? */
static bool is_lowest_flat(const encounter *e, const patch *p, const place *at) {
    const sim_mesh *m = e->surface->mesh;
    int part = part_of_triangle(p, at->t);
    for (int k = 0; k < 3; k++) { /* the patch may be part of the triangle only */
        v3 d = v3_sub(p->whole[k], at->t);
        if (v3_norm(d) > 1e-5 * p->size && field_falls(at->g, d)) {
            return false;
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
            if (v3_norm(d) > 1e-5 * p->size && field_falls(at->g, d)) {
                return false;
            }
        }
    }
    return true;
}

/* Projected gradient on the solid itself, x <- P(x - L g), which stands still exactly where g points against the cone
 * of normals at x; step lengths by Barzilai and Borwein.  Returns how far from standing still it ends, as a slope;
 * HUGE_VAL where it leaves the neighbourhood of `anchor`. */
static double descend_projected(encounter *e, v3 anchor, double reach, place *at) {
    enum { MAX_PROJECTED_STEPS = 12 };
    const double FIRST_STEP_OVER_REACH = 1;
    double step = FIRST_STEP_OVER_REACH * reach, last = HUGE_VAL;
    for (int k = 0; k < MAX_PROJECTED_STEPS; k++) {
        /* step on the surface */
        place next = *at;
        double length = v3_norm(at->g);
        if (!solid_project(e->surface, v3_axpy(at->x, -step / length, at->g), 3 * step, &next.x, &next.normal)) {
            step *= 0.25;
            continue;
        }
        /* has it stopped, or left the neighbourhood? */
        v3 moved = v3_sub(next.x, at->x);
        double way = v3_norm(moved);
        last = way / step;
        if (last <= 1e-6) {
            break;
        }
        if (v3_norm(v3_sub(next.x, anchor)) > reach) {
            return HUGE_VAL;
        }
        /* the value falls, else a shorter step; the length of the next by Barzilai and Borwein */
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
static bool settles_on_edge(encounter *e, const patch *p, place *at) {
    enum { MAX_LIFTS = 4 };
    double round = patch_round(e, p);
    v3 anchor = at->x;
    double slope = HUGE_VAL;
    for (int k = 0; k < MAX_LIFTS; k++) {
        v3 n = v3_scale(1 / v3_norm(at->g), at->g);
        at->shift = v3_scale(round - place_gap(at), n);
        at->f = encounter_field(e, v3_add(at->x, at->shift), &at->g);
        if (!(v3_norm(at->g) > 0.1)) {
            return false;
        }
        slope = descend_projected(e, anchor, 1.2 * p->size, at);
        at->lift = v3_dot(at->shift, at->g);
        if (slope > FIELD_SLACK) {
            return false;
        }
        if (v3_norm(v3_sub(at->g, n)) <= 1e-5) {
            break;
        }
    }
    place_check(e, at);
    return true;
}

/* Does one of the two surfaces not turn across the patch? */
static bool is_flat(const patch *p) {
    const double STRAIGHT = 1 - 1e-10; /* cosine */
    int surface = 1, field = 1;
    for (int k = 0; k < 3; k++) {
        v3 g = p->corner[k].g, first = p->corner[0].g;
        surface = surface && v3_dot(p->corner[k].normal, p->normal) >= STRAIGHT;
        field = field && v3_dot(g, first) >= STRAIGHT * v3_norm(g) * v3_norm(first);
    }
    return surface || field;
}

/* Is the bottom of a bowl to be looked for?  Not for balls and capsules, whose own points are exact; nor where two
 * fields bend, which conform in more places than they roll. */
static bool is_round(const encounter *e, const patch *p) {
    int exact = e->pair->a->type == SIM_SPHERE || e->pair->a->type == SIM_CAPSULE;
    return e->surface->curved && !p->sharp && !exact && (e->field->convex || is_flat(p));
}

/* The point of a round solid that lies deepest along -n, both in the surface's frame.  False: it has a line of them, or
 * nearly so. */
static bool deepest_along(const encounter *e, v3 n, v3 *x) {
    const double MIN_LEAN = 2 * FIELD_SLACK; /* of a capsule's axis against the plane, sine */
    const convex *c = e->round;
    v3 d = v3_neg(m3_times(e->X_fs.R, n));
    uint32_t ignored;
    if (c->kind == CONVEX_SEGMENT && fabs(d.z) < MIN_LEAN) {
        return false;
    }
    v3 in_field = v3_axpy(convex_support(c, d, &ignored), c->radius, d);
    *x = m3_transposed_times(e->X_fs.R, v3_sub(in_field, e->X_fs.p));
    return true;
}

/* x <- P(x + t), t the part within the surface of the way to the solid's point deepest along the normal at x: at once on a
 * plane, else the error shrinks by the solid's radius of curvature over that of the surface. */
bool settle_round(encounter *e, const patch *p, place *at) {
    enum { MAX_STEPS = 24 };
    const double CLOSE_OVER_EXTENT = 1e-9, MAX_WAY_OVER_SIZE = 1.5, MAX_RISE_OVER_SIZE = 0.05;
    place here = *at;
    here.shift = v3_make(0, 0, 0);
    here.lift = 0;
    here.f = encounter_field(e, here.x, &here.g);
    for (int k = 0; k < MAX_STEPS; k++) {
        v3 deepest;
        if (!deepest_along(e, here.normal, &deepest)) {
            return false;
        }
        v3 to = v3_sub(deepest, here.x);
        double over = v3_dot(to, here.normal);
        v3 step = v3_axpy(to, -over, here.normal);
        double way = v3_norm(step);
        /* not where the plane that touches the surface is too far from the solid */
        if (k == 0 && !(over <= e->margin + MAX_RISE_OVER_SIZE * p->size)) {
            return false;
        }
        if (way <= CLOSE_OVER_EXTENT * e->field->extent) {
            *at = here;
            at->settled = true;
            return true;
        }
        if (!solid_project(e->surface, v3_add(here.x, step), 3 * way, &here.x, &here.normal) ||
            v3_norm(v3_sub(here.x, at->x)) > MAX_WAY_OVER_SIZE * p->size) {
            return false;
        }
        here.f = encounter_field(e, here.x, &here.g);
    }
    return false;
}

/* Of a surface given by a distance. */
static bool is_curved_minimum(encounter *e, const patch *p, place *low) {
    int part = part_of_triangle(p, low->t);
    int edge =
        (part < 3 && p->sharp & SKIN_CORNER << part) || (part >= 3 && part < 6 && p->sharp & SKIN_EDGE << (part - 3));
    int sharp = !p->smooth || edge;
    if (e->sharp_only && !sharp) {
        return false;
    }
    bool flat = !p->smooth && !e->round;
    bool found = is_parallel(low->g, low->normal) || (flat && is_parallel(low->g, p->normal)) ||
                 (sharp && v3_norm(low->g) > 0.1 && settles_on_edge(e, p, low));
    if (low->settled) {
        return found;
    }
    if (found && is_round(e, p)) {
        if (!rim_middle(e, p, low)) {
            bowl_bottom(e, p, low);
        }
    } else if (found && !edge && e->pair->a->type != SIM_SPHERE) {
        valley_middle(e, p, low);
    }
    return found;
}

/* The triangle and the edge of it, from 1, that stand for the edge from corner k of t to the next. */
static int edge_owner(const sim_mesh *m, int t, int k, uint32_t *edge) {
    int other = m->across[t][k];
    *edge = (uint32_t)k + 1;
    if (other < 0 || other > t) {
        return t;
    }
    for (int j = 0; j < 3; j++) {
        if (m->across[other][j] == t && m->triangle[other][j] == m->triangle[t][(k + 1) % 3]) {
            *edge = (uint32_t)j + 1;
        }
    }
    return other;
}

static void mark_covered(encounter *e, const patch *p, const place *low) {
    double g = v3_norm(low->g);
    for (int k = 0; k < 3; k++) {
        if (v3_dot(p->corner[k].g, low->g) > 0.95 * g * v3_norm(p->corner[k].g)) {
            e->seen[e->surface->mesh->triangle[p->triangle][k]] |= VERTEX_COVERED;
        }
    }
}

void report_vertex(encounter *e, const place *at, int v) {
    if (!(e->seen[v] & VERTEX_TAKEN)) {
        e->seen[v] |= VERTEX_TAKEN;
        add_field_contact(e, at, vertex_number(e, v), 0);
    }
}

void report_end(encounter *e, const place *at, uint32_t number) { add_field_contact(e, at, LINE | number, 0); }

static bool is_contact(encounter *e, const patch *p, place *low) {
    if (e->surface->curved) {
        place settled = *low;
        bool found = is_curved_minimum(e, p, &settled);
        *low = found ? settled : *low;
        return found;
    }
    return is_parallel(low->g, p->normal) || is_lowest_flat(e, p, low);
}

void report_minimum(encounter *e, const patch *p, place *low) {
    if (!is_contact(e, p, low) && !(patch_touch(e, p, low) && is_contact(e, p, low))) {
        return;
    }
    const sim_mesh *m = e->surface->mesh;
    int part = part_of_triangle(p, low->t);
    if (part < 3) {
        report_vertex(e, low, m->triangle[p->triangle][part]);
    } else {
        uint32_t edge = 0;
        int owner = part < 6 ? edge_owner(m, p->triangle, part - 3, &edge) : p->triangle;
        add_field_contact(e, low, triangle_number(e, owner), 4 * p->part + edge);
    }
    mark_covered(e, p, low);
}

/* Is corner k on the slope of a bowl, whose bottom is near? */
static int rolls_away(encounter *e, const patch *p, int k) {
    unsigned char *seen = &e->seen[e->surface->mesh->triangle[p->triangle][k]];
    if (*seen & VERTEX_TAKEN) {
        return 0;
    }
    if (!(*seen & VERTEX_ROLLS)) {
        place bottom = p->corner[k];
        int rolls =
            bowl_bottom(e, p, &bottom) && v3_norm(v3_sub(bottom.x, p->corner[k].x)) > SAME_PLACE_OVER_SIZE * p->size;
        *seen |= rolls ? VERTEX_ROLLS : 0;
    }
    return *seen & VERTEX_ROLLS;
}

static bool is_corner_contact(encounter *e, const patch *p, int k) {
    const place *at = &p->corner[k];
    if (is_round(e, p)) {
        return is_parallel(at->g, at->normal) && !rolls_away(e, p, k);
    }
    return is_parallel(at->g, p->normal) || is_parallel(at->g, at->normal);
}

void report_corners(encounter *e, const patch *p) {
    for (int k = 0; k < 3; k++) {
        const place *at = &p->corner[k];
        if ((!e->sharp_only || p->sharp & SKIN_CORNER << k) && at->f < e->margin && is_corner_contact(e, p, k)) {
            report_vertex(e, at, e->surface->mesh->triangle[p->triangle][k]);
        }
    }
}
