/* Contacts of the corners and edges of a box, a hull or a cylinder with a distance field.
 *
 * Corners are asked one by one.  Steps along an edge are as long as phi allows.  Where its slope turns from falling to
 * rising there is a local minimum, found to rounding between brackets.  It is a contact where g points against the cone
 * of the normals of the two faces at the edge.
 *
 * Inside a solid with edges phi turns by a crease from one slope to another.  There g is the blend
 *     n = (1 - w) g_1 + w g_2   without a part along the edge,
 * which points straight away from the edge of the other solid. g_1 and g_2 both rise by -phi on the way to it, so its
 * length, along n / |n|, is phi / |n|. */
#include "collide/field/field_contact.h"
#include "math/angle.h"

enum { MAX_EDGE_STEPS = 16, MAX_RIM_STEPS = 32, RIM_POINTS = 8, MAX_NARROWINGS = 60 };
static const uint32_t SIDE = 0x80000000u, POINT = 0x40000000u;
static const double MAX_LEVEL_SLOPE = 1e-9; /* a slope */

typedef struct walk {
    const pair *pair;
    const solid *a, *b;
    pose X_ba;
    manifold *out;
    double least, deepest; /* gap of what was found; field at the deepest corner */
    v3 corner, corner_g;
    uint32_t corner_name;
} walk;

/* An edge of A by its length from one end. */
typedef struct edge {
    v3 from, along; /* straight: unit */
    double radius;  /* of a rim; else 0 */
    double length;
    v3 into[2]; /* straight: within its two faces, away from it; unit */
    uint32_t name;
} edge;

static double field_at(const walk *w, v3 x, v3 *g) {
    double f = w->b->distance(w->b, pose_point(w->X_ba, x), g);
    *g = m3_transposed_times(w->X_ba.R, *g);
    return f;
}

static v3 edge_point(const edge *e, double s, v3 *along, v3 into[2]) {
    if (e->radius > 0) {
        double c = cos(s / e->radius), d = sin(s / e->radius);
        *along = v3_make(-d, c, 0);
        into[0] = v3_make(-c, -d, 0);
        into[1] = v3_make(0, 0, -copysign(1, e->from.z));
        return v3_make(e->radius * c, e->radius * d, e->from.z);
    }
    *along = e->along;
    into[0] = e->into[0];
    into[1] = e->into[1];
    return v3_axpy(e->from, s, e->along);
}

static void add_edge_contact(walk *w, v3 x, v3 g, double gap, uint32_t name, uint32_t part) {
    double length = v3_norm(g);
    if (gap < w->pair->margin && length > 0.1 && isfinite(gap)) {
        v3 n = v3_scale(1 / length, g);
        contact_point c = point_between(v3_axpy(x, -0.5 * gap, n), n, gap, feature_pair(SIDE | name, part));
        manifold_add(w->out, w->pair->arena, &c);
        w->least = fmin(w->least, gap);
    }
}

static void note_corner(walk *w, v3 x, v3 g, double f, uint32_t name) {
    if (f < w->deepest) {
        w->deepest = f;
        w->corner = x;
        w->corner_g = g;
        w->corner_name = name;
    }
}

static bool is_in_normal_cone(v3 g, const v3 into[2]) {
    double slack = -FIELD_SLACK * v3_norm(g);
    return v3_dot(g, into[0]) >= slack && v3_dot(g, into[1]) >= slack;
}

/* Both solids are where the middle between their surfaces is. */
static bool overlaps_at(const walk *w, v3 x, v3 n, double gap) {
    v3 g, middle = v3_axpy(x, -0.5 * gap, n);
    return field_at(w, middle, &g) < 0 && w->a->distance(w->a, middle, &g) < 0;
}

/* Between s[0], where phi falls by slope[0], and s[1], where it rises. */
static void add_edge_minimum(walk *w, const edge *e, double s[2], double slope[2], v3 g[2]) {
    double f = 0, close = 1e-11 * e->length;
    v3 x, along, into[2];
    uint32_t part = (uint32_t)(s[0] / e->length * MAX_EDGE_STEPS) + 1;
    /* bracket of the slope's zero: regula falsi, every third step a bisection */
    for (int k = 0; k < MAX_NARROWINGS && s[1] - s[0] > close; k++) {
        double t = k % 3 < 2 ? slope[0] / (slope[0] - slope[1]) : 0.5;
        double here = s[0] + fmin(fmax(t, 0.01), 0.99) * (s[1] - s[0]), rise;
        v3 turned;
        x = edge_point(e, here, &along, into);
        field_at(w, x, &turned);
        rise = v3_dot(turned, along);
        int side = rise > 0;
        s[side] = here;
        slope[side] = rise;
        g[side] = turned;
        if (fabs(rise) <= 1e-13) {
            s[!side] = here;
            slope[!side] = -rise;
            g[!side] = turned;
        }
    }
    /* normal: gradients on both sides, interpolated to slope 0 along the edge */
    double t = slope[1] - slope[0] > 0 ? slope[0] / (slope[0] - slope[1]) : 0.5;
    v3 n = v3_add(v3_scale(1 - t, g[0]), v3_scale(t, g[1])), at_bottom;
    x = edge_point(e, s[0] + t * (s[1] - s[0]), &along, into);
    f = field_at(w, x, &at_bottom);
    double length = v3_norm(n), gap = f;
    if (!(length > 0.1)) {
        return;
    }
    n = v3_scale(1 / length, n);
    /* overlap by the distance to the surface along the normal */
    if (f < 0 && length < 0.999 && overlaps_at(w, x, n, f / length)) {
        gap = f / length;
    }
    /* a contact if the normal lies in the edge's normal cone */
    if (is_in_normal_cone(n, into)) {
        add_edge_contact(w, x, n, gap, e->name, part);
    }
}

static void walk_edge(walk *w, const edge *e) {
    /* step length along the edge */
    int steps = e->radius > 0 ? MAX_RIM_STEPS : MAX_EDGE_STEPS;
    double step = e->length / steps, margin = w->pair->margin, s[2] = {0, 0}, slope[2] = {0, 0}, f;
    v3 g[2], x, along, into[2];
    /* an edge far from the surface is left out */
    x = edge_point(e, 0.5 * e->length, &along, into);
    if (e->radius == 0 && field_at(w, x, &g[0]) > 0.5 * e->length + margin) {
        return;
    }
    /* steps as long as the distance allows; a change of sign of the slope brackets a minimum */
    for (double at = 0;; at += fmax(step, f - margin)) {
        int last = at >= e->length * (1 - 1e-9);
        at = last ? e->length : at;
        x = edge_point(e, at, &along, into);
        f = field_at(w, x, &g[1]);
        s[1] = at;
        slope[1] = v3_dot(g[1], along);
        if (at > 0 && slope[0] < -MAX_LEVEL_SLOPE && slope[1] > MAX_LEVEL_SLOPE && f < margin + step) {
            double s_of[2] = {s[0], s[1]}, slope_of[2] = {slope[0], slope[1]};
            v3 g_of[2] = {g[0], g[1]};
            add_edge_minimum(w, e, s_of, slope_of, g_of);
        }
        s[0] = s[1];
        slope[0] = slope[1];
        g[0] = g[1];
        if (last) {
            break;
        }
    }
}

/* A corner from which edges lead along `way`. */
static void try_corner(walk *w, v3 x, const v3 *way, int count, uint32_t name) {
    v3 g;
    double f = field_at(w, x, &g), slack = -FIELD_SLACK * v3_norm(g);
    if (!(f < w->pair->margin)) {
        return;
    }
    note_corner(w, x, g, f, name);
    for (int k = 0; k < count; k++) {
        if (v3_dot(g, way[k]) < slack * v3_norm(way[k])) {
            return;
        }
    }
    add_edge_contact(w, x, g, f, name, 0);
}

static void walk_box(walk *w) {
    const double *size = w->a->size;
    const double half[3] = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
    const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    /* corners, with the three edges at each */
    for (int k = 0; k < 8; k++) {
        double sign[3] = {k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1};
        v3 x = v3_make(sign[0] * half[0], sign[1] * half[1], sign[2] * half[2]), way[3];
        for (int i = 0; i < 3; i++) {
            way[i] = v3_scale(-sign[i], axis[i]);
        }
        try_corner(w, x, way, 3, POINT | (uint32_t)k);
        /* the three edges that begin at this corner */
        for (int i = 0; i < 3; i++) {
            if (sign[i] < 0) {
                edge e = {.from = x, .along = axis[i], .length = size[i], .name = (uint32_t)(3 * k + i)};
                e.into[0] = way[(i + 1) % 3];
                e.into[1] = way[(i + 2) % 3];
                walk_edge(w, &e);
            }
        }
    }
}

static void walk_hull(walk *w, const sim_hull *h) {
    /* vertices, with the edges at each */
    enum { MAX_EDGES = 64 };
    v3 way[MAX_EDGES];
    for (int v = 0; v < h->nvertex; v++) {
        int count = 0;
        for (int k = h->ring_start[v]; k < h->ring_start[v + 1] && count < MAX_EDGES; k++) {
            way[count++] = v3_sub(h->vertex[h->ring[k]], h->vertex[v]);
        }
        try_corner(w, h->vertex[v], way, count, POINT | (uint32_t)v);
    }
    /* edges, each once, with the faces at its sides */
    for (int face = 0; face < h->nface; face++) {
        for (int k = h->face_start[face]; k < h->face_start[face + 1]; k++) {
            if (h->across[k] < face) {
                continue;
            }
            int next = k + 1 < h->face_start[face + 1] ? k + 1 : h->face_start[face];
            v3 from = h->vertex[h->loop[k]], d = v3_sub(h->vertex[h->loop[next]], from);
            edge e = {.from = from, .length = v3_norm(d), .name = (uint32_t)k};
            if (e.length > 0) {
                e.along = v3_scale(1 / e.length, d);
                e.into[0] = v3_cross(h->normal[face], e.along);
                e.into[1] = v3_cross(e.along, h->normal[h->across[k]]);
                walk_edge(w, &e);
            }
        }
    }
}

static void walk_rims(walk *w) {
    double r = w->a->size[0], half = 0.5 * w->a->size[1];
    for (uint32_t end = 0; end < 2; end++) {
        edge e = {.from = v3_make(0, 0, end ? half : -half), .radius = r, .name = end};
        e.length = 2 * PI * r;
        walk_edge(w, &e);
        for (uint32_t k = 0; k < RIM_POINTS; k++) { /* a rim that lies flat is level all round */
            v3 along, way[4];
            v3 x = edge_point(&e, e.length * k / RIM_POINTS, &along, way);
            way[2] = along;
            way[3] = v3_neg(along);
            try_corner(w, x, way, 4, POINT | (RIM_POINTS * end + k));
        }
    }
}

void encounter_edges(const pair *p, const solid *a, const solid *b, int first, manifold *out) {
    walk w = {.pair = p, .a = a, .b = b, .X_ba = pose_inverse(p->X_ab), .out = out};
    for (int k = first; k < out->count; k++) {
        w.least = fmin(w.least, out->point[k].gap);
    }
    if (p->a->type == SIM_BOX) {
        walk_box(&w);
    } else if (p->a->type == SIM_CYLINDER) {
        walk_rims(&w);
    } else if (a->geometry && a->geometry->hull) {
        walk_hull(&w, a->geometry->hull);
    }
    if (w.deepest < 2 * w.least) {
        add_edge_contact(&w, w.corner, w.corner_g, w.deepest, w.corner_name, 1);
    }
}
