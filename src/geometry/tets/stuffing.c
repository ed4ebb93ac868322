/* Isosurface stuffing: tetrahedra of a body-centred cubic lattice, cut along a surface.
 *
 *     inside:   d(x) > 0,  d the depth below the surface, m
 *     cut:      x_c on an edge from d > 0 to d < 0 with d(x_c) = 0
 *     warp:     a node moves to the nearest cut closer than alpha of its edge, and has d = 0 from then on
 *     fill:     of each tetrahedron the part with d > 0: one tetrahedron, a pyramid (two) or a prism (three)
 *
 * Nodes are the corners of cubes of edge a and their centres.  Two centres of cubes that share a face, and two corners
 * along an edge of that face, are a tetrahedron: two long edges a, four short ones a sqrt(3) / 2.
 *
 * Reference: F. Labelle, J. R. Shewchuk, Isosurface stuffing, SIGGRAPH 2007, sections 3 and 4.1 (alpha for surfaces
 * of uniform elements).  Different: quadrilaterals are cut from the node of the lower number, for which the bounds of
 * the paper on angles do not hold.  Cuts are found on the depth itself, not by a line.
 * Cost: one depth a node, about ten a cut. */
#include "geometry/tets/stuffing.h"

#include <stdlib.h>
#include <string.h>

static const double ALPHA_LONG = 0.24999, ALPHA_SHORT = 0.41189;
enum { MAX_CUT_STEPS = 40, SHORT_LINKS = 8, LINKS = 14 };

/* Nodes: corners first, then centres; `n` cubes along each axis, n + 1 corners. */
typedef struct lattice {
    depth_function *depth_of;
    const void *solid;
    double edge;
    int n[3], ncorner, nnode;
    v3 *x;
    double *depth;
    stuffing *out;
    int room;
    bool failed;
} lattice;

static int corner_at(const lattice *l, int i, int j, int k) { return i + (l->n[0] + 1) * (j + (l->n[1] + 1) * k); }
static int centre_at(const lattice *l, int i, int j, int k) { return l->ncorner + i + l->n[0] * (j + l->n[1] * k); }

static void cubes_along(v3 low, v3 high, double edge, double n[3]) {
    /* a margin of an edge at either end: the outermost nodes lie outside */
    n[0] = ceil((high.x - low.x) / edge) + 2;
    n[1] = ceil((high.y - low.y) / edge) + 2;
    n[2] = ceil((high.z - low.z) / edge) + 2;
}

double stuffing_size(v3 low, v3 high, double edge) {
    double n[3];
    cubes_along(low, high, edge, n);
    return 2 * n[0] * n[1] * n[2];
}

/* ---- lattice ---- */

static bool make_nodes(lattice *l, v3 low, v3 high) {
    /* memory */
    double n[3];
    cubes_along(low, high, l->edge, n);
    for (int k = 0; k < 3; k++) {
        l->n[k] = (int)n[k];
    }
    l->ncorner = (l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1);
    l->nnode = l->ncorner + l->n[0] * l->n[1] * l->n[2];
    l->x = malloc((size_t)l->nnode * sizeof *l->x);
    l->depth = malloc((size_t)l->nnode * sizeof *l->depth);
    if (!l->x || !l->depth) {
        return false;
    }
    /* corners, then centres */
    v3 middle = v3_scale(0.5, v3_add(low, high));
    v3 start = v3_axpy(middle, -l->edge / 2, v3_make(l->n[0], l->n[1], l->n[2]));
    for (int centre = 0; centre < 2; centre++) {
        int last[3] = {l->n[0] + 1 - centre, l->n[1] + 1 - centre, l->n[2] + 1 - centre};
        for (int k = 0; k < last[2]; k++) {
            for (int j = 0; j < last[1]; j++) {
                for (int i = 0; i < last[0]; i++) {
                    double half = 0.5 * centre;
                    int node = centre ? centre_at(l, i, j, k) : corner_at(l, i, j, k);
                    l->x[node] = v3_axpy(start, l->edge, v3_make(i + half, j + half, k + half));
                    l->depth[node] = l->depth_of(l->solid, l->x[node]);
                }
            }
        }
    }
    return true;
}

/* The nodes linked with one: eight of the other kind by short edges, then six of its own kind by long ones; -1 beyond
 * the lattice. */
static void find_links(const lattice *l, int node, int link[LINKS]) {
    bool centre = node >= l->ncorner;
    int own[3], other[3]; /* nodes along each axis */
    for (int k = 0; k < 3; k++) {
        own[k] = l->n[k] + (centre ? 0 : 1);
        other[k] = l->n[k] + (centre ? 1 : 0);
    }
    int at = centre ? node - l->ncorner : node;
    int i[3] = {at % own[0], at / own[0] % own[1], at / own[0] / own[1]};
    for (int k = 0; k < SHORT_LINKS; k++) {
        int to[3];
        bool inside = true;
        for (int axis = 0; axis < 3; axis++) {
            to[axis] = i[axis] + (k >> axis & 1) - (centre ? 0 : 1);
            inside = inside && to[axis] >= 0 && to[axis] < other[axis];
        }
        link[k] = !inside ? -1 : centre ? corner_at(l, to[0], to[1], to[2]) : centre_at(l, to[0], to[1], to[2]);
    }
    for (int k = 0; k < 6; k++) {
        int to[3] = {i[0], i[1], i[2]}, axis = k / 2;
        to[axis] += k % 2 ? 1 : -1;
        bool inside = to[axis] >= 0 && to[axis] < own[axis];
        link[SHORT_LINKS + k] = !inside  ? -1
                                : centre ? centre_at(l, to[0], to[1], to[2])
                                         : corner_at(l, to[0], to[1], to[2]);
    }
}

/* ---- cuts ---- */

/* The zero of the depth between a node inside and one outside, by regula falsi with halving (Illinois). */
static v3 find_cut(const lattice *l, int inside, int outside) {
    v3 x = l->x[inside], along = v3_sub(l->x[outside], x);
    double low = 0, high = 1, d_low = l->depth[inside], d_high = l->depth[outside], s = 0;
    int side = 0;
    for (int step = 0; step < MAX_CUT_STEPS; step++) {
        s = (low * d_high - high * d_low) / (d_high - d_low);
        double d = l->depth_of(l->solid, v3_axpy(x, s, along));
        if (fabs(d) <= 1e-9 * l->edge || high - low <= 1e-9) {
            break;
        }
        if (d > 0) {
            low = s, d_low = d;
            d_high = side > 0 ? d_high / 2 : d_high;
            side = 1;
        } else {
            high = s, d_high = d;
            d_low = side < 0 ? d_low / 2 : d_low;
            side = -1;
        }
    }
    return v3_axpy(x, s, along);
}

/* Moves a node onto the nearest cut of its edges that is too close to it. */
static void warp_node(lattice *l, int node) {
    int link[LINKS];
    double nearest = HUGE_VAL;
    v3 place = l->x[node];
    find_links(l, node, link);
    for (int k = 0; k < LINKS; k++) {
        int to = link[k];
        if (to < 0 || !(l->depth[node] * l->depth[to] < 0)) {
            continue;
        }
        bool inside = l->depth[node] > 0;
        v3 cut = find_cut(l, inside ? node : to, inside ? to : node);
        double distance = v3_norm(v3_sub(cut, l->x[node]));
        double reach = k < SHORT_LINKS ? ALPHA_SHORT * sqrt(0.75) * l->edge : ALPHA_LONG * l->edge;
        if (distance < reach && distance < nearest) {
            nearest = distance;
            place = cut;
        }
    }
    if (nearest < HUGE_VAL) {
        l->x[node] = place;
        l->depth[node] = 0;
    }
}

/* ---- filling ---- */

static void add_corner(lattice *l, v3 x, double depth) {
    stuffing *out = l->out;
    if (out->count == l->room && !l->failed) {
        int room = 2 * l->room + 4096;
        v3 *point = realloc(out->point, (size_t)room * sizeof *point);
        out->point = point ? point : out->point;
        double *value = realloc(out->depth, (size_t)room * sizeof *value);
        out->depth = value ? value : out->depth;
        l->failed = !point || !value;
        l->room = room;
    }
    if (!l->failed) {
        out->point[out->count] = x;
        out->depth[out->count++] = depth;
    }
}

/* A corner of a part: a node, or the cut of the edge between two. */
typedef struct part_corner {
    v3 x;
    double depth;
} part_corner;

static void add_tet(lattice *l, part_corner a, part_corner b, part_corner c, part_corner d) {
    v3 u = v3_sub(b.x, a.x), v = v3_sub(c.x, a.x), w = v3_sub(d.x, a.x);
    l->out->volume += fabs(v3_dot(v3_cross(u, v), w)) / 6;
    add_corner(l, a.x, a.depth);
    add_corner(l, b.x, b.depth);
    add_corner(l, c.x, c.depth);
    add_corner(l, d.x, d.depth);
}

/* A prism from triangle `a` to triangle `b`, its sides cut from a[0] to b[1] and b[2], and from a[1] to b[2]. */
static void add_prism(lattice *l, const part_corner a[3], const part_corner b[3]) {
    add_tet(l, a[0], a[1], a[2], b[2]);
    add_tet(l, a[0], a[1], b[1], b[2]);
    add_tet(l, a[0], b[0], b[1], b[2]);
}

static part_corner node_corner(const lattice *l, int node) { return (part_corner){l->x[node], l->depth[node]}; }
static part_corner cut_corner(const lattice *l, int inside, int outside) {
    return (part_corner){find_cut(l, inside, outside), 0};
}

/* The part of a tetrahedron of nodes, in ascending order, that lies inside. */
static void fill_tet(lattice *l, const int node[4]) {
    int in[4], on[4], out[4], nin = 0, non = 0, nout = 0;
    for (int k = 0; k < 4; k++) {
        double d = l->depth[node[k]];
        if (d > 0) {
            in[nin++] = node[k];
        } else if (d < 0) {
            out[nout++] = node[k];
        } else {
            on[non++] = node[k];
        }
    }
    if (nin == 0) {
        return;
    }
    part_corner inside[4], surface[4]; /* corners within, and nodes on the surface */
    for (int k = 0; k < nin; k++) {
        inside[k] = node_corner(l, in[k]);
    }
    for (int k = 0; k < non; k++) {
        surface[k] = node_corner(l, on[k]);
    }
    if (nout == 0) { /* whole */
        for (int k = 0; k < non; k++) {
            inside[nin + k] = surface[k];
        }
        add_tet(l, inside[0], inside[1], inside[2], inside[3]);
    } else if (nin == 1) { /* the tip at one corner */
        for (int k = 0; k < nout; k++) {
            surface[non + k] = cut_corner(l, in[0], out[k]);
        }
        add_tet(l, inside[0], surface[0], surface[1], surface[2]);
    } else if (nin == 2 && nout == 1) { /* a pyramid on the face with the corner outside */
        part_corner c0 = cut_corner(l, in[0], out[0]), c1 = cut_corner(l, in[1], out[0]);
        add_tet(l, inside[0], inside[1], c1, surface[0]);
        add_tet(l, inside[0], c1, c0, surface[0]);
    } else if (nin == 2) { /* a prism along an edge */
        const part_corner a[3] = {inside[0], cut_corner(l, in[0], out[0]), cut_corner(l, in[0], out[1])};
        const part_corner b[3] = {inside[1], cut_corner(l, in[1], out[0]), cut_corner(l, in[1], out[1])};
        add_prism(l, a, b);
    } else { /* all but the tip */
        const part_corner c[3] = {cut_corner(l, in[0], out[0]), cut_corner(l, in[1], out[0]),
                                  cut_corner(l, in[2], out[0])};
        add_prism(l, inside, c);
    }
}

/* The four tetrahedra about the link of two centres across a face of the lattice. */
static void fill_face(lattice *l, int axis, const int cube[3]) {
    int u = (axis + 1) % 3, w = (axis + 2) % 3;
    int below[3] = {cube[0], cube[1], cube[2]};
    below[axis]--;
    int centre[2] = {centre_at(l, below[0], below[1], below[2]), centre_at(l, cube[0], cube[1], cube[2])};
    static const int step[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    int corner[5];
    for (int k = 0; k < 5; k++) {
        int at[3] = {cube[0], cube[1], cube[2]};
        at[u] += step[k][0];
        at[w] += step[k][1];
        corner[k] = corner_at(l, at[0], at[1], at[2]);
    }
    for (int k = 0; k < 4; k++) {
        bool rises = corner[k] < corner[k + 1];
        const int node[4] = {corner[rises ? k : k + 1], corner[rises ? k + 1 : k], centre[0], centre[1]};
        fill_tet(l, node);
    }
}

static void fill_lattice(lattice *l) {
    for (int axis = 0; axis < 3; axis++) {
        int cube[3];
        for (cube[2] = axis == 2; cube[2] < l->n[2]; cube[2]++) {
            for (cube[1] = axis == 1; cube[1] < l->n[1]; cube[1]++) {
                for (cube[0] = axis == 0; cube[0] < l->n[0]; cube[0]++) {
                    fill_face(l, axis, cube);
                }
            }
        }
    }
}

sim_status stuff_solid(depth_function *depth, const void *solid, v3 low, v3 high, double edge, stuffing *out) {
    *out = (stuffing){0};
    lattice l = {.depth_of = depth, .solid = solid, .edge = edge, .out = out};
    bool made = make_nodes(&l, low, high);
    for (int node = 0; made && node < l.nnode; node++) {
        warp_node(&l, node);
    }
    if (made) {
        fill_lattice(&l);
    }
    free(l.x);
    free(l.depth);
    if (!made || l.failed) {
        free(out->point);
        free(out->depth);
        *out = (stuffing){0};
        return SIM_NO_RESOURCE;
    }
    return SIM_OK;
}

/* ---- flat tetrahedra ---- */

/* Slope of the depth, 1 m a metre where it is exact, below which a tetrahedron is flat. */
static const double FLAT_SLOPE = 0.3;

/* Length of the gradient of the linear function with these values at the corners. */
static double slope_of(const v3 x[4], const double value[4]) {
    v3 b = v3_sub(x[1], x[0]), c = v3_sub(x[2], x[0]), d = v3_sub(x[3], x[0]);
    double six = v3_dot(v3_cross(b, c), d);
    v3 sum = v3_scale(value[1] - value[0], v3_cross(c, d));
    sum = v3_axpy(sum, value[2] - value[0], v3_cross(d, b));
    sum = v3_axpy(sum, value[3] - value[0], v3_cross(b, c));
    return v3_norm(sum) / fabs(six);
}

static bool is_flat(const v3 x[4], const double value[4]) {
    return slope_of(x, value) < FLAT_SLOPE; /* not one without a volume: not a number */
}

sim_status split_flat_tets(depth_function *depth, const void *solid, stuffing *s) {
    int flat = 0, before = s->count;
    for (int k = 0; k < before; k += 4) {
        flat += is_flat(s->point + k, s->depth + k);
    }
    /* three more tetrahedra for each */
    size_t room = (size_t)before + 12 * (size_t)flat;
    v3 *point = realloc(s->point, (room + 1) * sizeof *point);
    s->point = point ? point : s->point;
    double *value = realloc(s->depth, (room + 1) * sizeof *value);
    s->depth = value ? value : s->depth;
    if (!point || !value) {
        return SIM_NO_RESOURCE;
    }
    for (int k = 0; k < before; k += 4) {
        if (!is_flat(point + k, value + k)) {
            continue;
        }
        v3 centre = v3_scale(0.25, v3_add(v3_add(point[k], point[k + 1]), v3_add(point[k + 2], point[k + 3])));
        double deep = fmax(0, depth(solid, centre));
        for (int c = 1; c < 4; c++, s->count += 4) { /* the parts without corner c */
            memcpy(point + s->count, point + k, 4 * sizeof *point);
            memcpy(value + s->count, value + k, 4 * sizeof *value);
            point[s->count + c] = centre;
            value[s->count + c] = deep;
        }
        point[k] = centre;
        value[k] = deep;
    }
    return SIM_OK;
}
