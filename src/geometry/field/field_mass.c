/* Mass properties of a distance field at density 1, by halved cubes cut along tangent planes.
 *
 * A cube whose middle c has |d(c)| above half its diagonal is wholly inside or outside, since d is nowhere steeper than 1.
 * The others are halved.  Of a small one the part
 *     d(c) + g . (x - c) < 0,      g the gradient at c
 * counts: the plane touches the surface at the point nearest to c, and strays from it by half the curvature times the
 * squared way along it.  Halving goes on while d at the middles of the eight halves departs from that of the whole by more
 * than a part of the edge.  So flat faces take few cubes; edges and tight rounds take the smallest.
 *
 * The part of a cube is the sum of those of its six tetrahedra (H. W. Kuhn 1960, "Some combinatorial lemmas in topology",
 * IBM J. Res. Dev. 4).  The plane leaves a tetrahedron or a wedge of three of each.  Of the corners a, b, c, d with sum s
 *     V = |(b - a) . ((c - a) x (d - a))| / 6,   first moment V s / 4,   second V (s s' + a a' + b b' + c c' + d d') / 20.
 *
 * Cost: some 5 distances for each cube of the edge that the surface crosses, 12 where it bends. */
#include "geometry/field/field_mass.h"

enum { CORNERS = 8, STEPS_PER_CUT = 200 };
static const double WIDEST_OVER_EDGE = 2, FINEST_OVER_EDGE = 1; /* cubes whose halves may be cut */
static const double MAX_BEND_OVER_EDGE = 0.004;                 /* of the surface off a tangent plane */
static const double REACH_OVER_HALF = 1.7320508075688774 * (1 + 1e-9);

/* Integrals of 1, x and x x' from the middle of the bounds. */
typedef struct moments {
    double volume;
    v3 first;
    sym3 second;
} moments;

typedef struct walk {
    const sim_field *field;
    v3 origin;
    double edge;
    int64_t room; /* steps left: see field.h */
    moments sum;
} walk;

typedef struct cube {
    v3 middle; /* from the origin */
    double half, d;
    v3 g;
} cube;

/* A corner and the plane's height over it. */
typedef struct corner {
    v3 x;
    double f;
} corner;

static cube cube_at(walk *w, v3 middle, double half) {
    cube c = {middle, half, 0, {0, 0, 0}};
    c.d = sim_field_distance(w->field, v3_add(w->origin, middle), &c.g);
    return c;
}

static double plane_at(const cube *c, v3 x) { return c->d + v3_dot(c->g, v3_sub(x, c->middle)); }

static void add_whole(moments *m, const cube *c) {
    double volume = 8 * c->half * c->half * c->half, own = volume * c->half * c->half / 3;
    m->volume += volume;
    m->first = v3_axpy(m->first, volume, c->middle);
    m->second = sym3_add(sym3_rank_one(m->second, volume, c->middle), (sym3){own, own, own, 0, 0, 0});
}

static void add_tetrahedron(moments *m, double sign, v3 a, v3 b, v3 c, v3 d) {
    v3 s = v3_add(v3_add(a, b), v3_add(c, d));
    double volume = sign * fabs(v3_dot(v3_sub(b, a), v3_cross(v3_sub(c, a), v3_sub(d, a)))) / 6, w = volume / 20;
    m->volume += volume;
    m->first = v3_axpy(m->first, volume / 4, s);
    m->second = sym3_rank_one(sym3_rank_one(sym3_rank_one(m->second, w, s), w, a), w, b);
    m->second = sym3_rank_one(sym3_rank_one(m->second, w, c), w, d);
}

/* Where the plane meets the edge between two corners to both sides of it. */
static v3 meet(const corner *p, const corner *q) { return v3_axpy(p->x, p->f / (p->f - q->f), v3_sub(q->x, p->x)); }

/* The part of a tetrahedron below the plane; the corners in rising order of their heights. */
static void add_below(moments *m, const corner *const t[4], int below) {
    const corner *a = t[0], *b = t[1], *c = t[2], *d = t[3];
    if (below == 1) {
        add_tetrahedron(m, 1, a->x, meet(a, b), meet(a, c), meet(a, d));
    } else if (below == 2) { /* a wedge between the triangles at a and at b */
        v3 ac = meet(a, c), ad = meet(a, d), bc = meet(b, c), bd = meet(b, d);
        add_tetrahedron(m, 1, a->x, ac, ad, bd);
        add_tetrahedron(m, 1, a->x, ac, bc, bd);
        add_tetrahedron(m, 1, a->x, b->x, bc, bd);
    } else if (below > 2) {
        add_tetrahedron(m, 1, a->x, b->x, c->x, d->x);
        if (below == 3) {
            add_tetrahedron(m, -1, d->x, meet(d, a), meet(d, b), meet(d, c));
        }
    }
}

static void sort_corners(const corner *t[4]) {
    for (int k = 1; k < 4; k++) {
        const corner *mine = t[k];
        int j = k;
        for (; j > 0 && t[j - 1]->f > mine->f; j--) {
            t[j] = t[j - 1];
        }
        t[j] = mine;
    }
}

/* The part of the cube behind its plane. */
static void add_cut(walk *w, const cube *c) {
    static const int path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}}; /* from corner 0 to corner 7 */
    corner at[CORNERS];
    for (int k = 0; k < CORNERS; k++) {
        v3 way = {k & 1 ? c->half : -c->half, k & 2 ? c->half : -c->half, k & 4 ? c->half : -c->half};
        at[k].x = v3_add(c->middle, way);
        at[k].f = plane_at(c, at[k].x);
    }
    for (int k = 0; k < 6; k++) {
        const corner *t[4] = {&at[0], &at[path[k][0]], &at[path[k][1]], &at[7]};
        int below = 0;
        for (int i = 0; i < 4; i++) {
            below += t[i]->f < 0;
        }
        sort_corners(t);
        add_below(&w->sum, t, below);
    }
}

static bool is_crossed(const cube *c) { return fabs(c->d) <= REACH_OVER_HALF * c->half; }

/* No deeper than the halvings from the solid's size to the finest edge. */
static void add_cube(walk *w, const cube *c) {
    /* wholly inside or outside */
    if (!is_crossed(c)) {
        if (c->d < 0) {
            add_whole(&w->sum, c);
        }
        return;
    }
    /* eight halves, and how far their distances are off the plane of the whole */
    cube part[CORNERS];
    double half = 0.5 * c->half, bend = 0;
    for (int k = 0; k < CORNERS; k++) {
        v3 way = {k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half};
        part[k] = cube_at(w, v3_add(c->middle, way), half);
        double plane = plane_at(c, part[k].middle);
        if (is_crossed(&part[k]) || fabs(plane) <= REACH_OVER_HALF * half) {
            bend = fmax(bend, fabs(part[k].d - plane));
        }
    }
    /* halved again, or cut */
    double width = 2 * c->half;
    bool again = width > WIDEST_OVER_EDGE * w->edge ||
                 (bend > MAX_BEND_OVER_EDGE * w->edge && width > FINEST_OVER_EDGE * w->edge);
    w->room -= CORNERS * (w->field->cost + (again ? 0 : STEPS_PER_CUT));
    for (int k = 0; k < CORNERS && w->room >= 0; k++) {
        if (again) {
            add_cube(w, &part[k]);
        } else if (is_crossed(&part[k])) {
            add_cut(w, &part[k]);
        } else if (part[k].d < 0) {
            add_whole(&w->sum, &part[k]);
        }
    }
}

bool field_mass(const sim_field *field, v3 low, v3 high, double edge, int64_t *room, sim_inertia *solid) {
    /* cubes from one that holds the solid on */
    v3 size = v3_sub(high, low);
    walk w = {.field = field, .origin = v3_axpy(low, 0.5, size), .edge = edge, .room = *room};
    double width = edge, longest = fmax(size.x, fmax(size.y, size.z));
    while (width < longest) {
        width *= 2;
    }
    cube all = cube_at(&w, v3_make(0, 0, 0), 0.5 * width);
    add_cube(&w, &all);
    *room = w.room;
    /* about the centre of mass */
    const moments *m = &w.sum;
    *solid = (sim_inertia){.com = w.origin};
    if (m->volume > 0) {
        v3 com = v3_scale(1 / m->volume, m->first);
        sym3 C = sym3_rank_one(m->second, -m->volume, com);
        *solid = (sim_inertia){
            m->volume, v3_add(w.origin, com), {C.yy + C.zz, C.xx + C.zz, C.xx + C.yy, -C.xy, -C.xz, -C.yz}};
    }
    return w.room >= 0;
}
