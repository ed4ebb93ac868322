/* Triangulation of the surface of a distance field.
 *
 * Dual contouring (T. Ju, F. Losasso, S. Schaefer, J. Warren 2002, "Dual contouring of Hermite data", ACM Trans.
 * Graphics 21): each piece of the surface in a cube has one vertex. Each crossed edge of the lattice has one polygon
 * that joins the vertices of the four cubes around it.  The vertex is where the planes that touch the surface at the
 * piece's crossings come nearest to meeting,
 *     least over x of   sum_i (n_i . (x - p_i))^2 + w |x - middle|^2,
 * which finds edges and corners of the solid; cut off at the cube; then brought onto the surface by Newton's method.
 *
 * One vertex a piece makes a closed surface without seams (Nielson 2004), but for one case.  Where a face with four
 * crossed edges joins the same two pieces twice, four polygons would meet in one edge.  There each of the two joins
 * gets a vertex of its own, between its two crossings. */
#include "geometry/field/surface.h"

#include "base/hash.h"
#include "geometry/field/surface_cells.h"
#include <stdlib.h>

enum { MAX_NEWTON_STEPS = 30, CUBE_CORNERS = 8 };
static const double ZERO_DISTANCE_OVER_SIZE = 1e-13, MIDDLE_WEIGHT = 1e-3;
/* in edges of the lattice */
static const double INSET_OVER_EDGE = 0.05, MAX_SHIFT_OVER_EDGE = 0.5, MAX_TIP_OVER_EDGE = 1,
                    MAX_SHARP_DISTANCE_OVER_EDGE = 0.02;
static const double PLACES_PER_EDGE = 1e4; /* to an edge */

/* Where an edge of the lattice is crossed. */
typedef struct crossing {
    v3 point, normal;
} crossing;

typedef struct mesher {
    lattice lattice;
    surface *out;
    int vertex_room, triangle_room;
    double size; /* of the solid */
    sparse_map crossing_of, arc_of, taken;
    crossing *crossing;
    int ncrossing, crossing_room;
    int failed;
} mesher;

bool surface_project(const sim_field *field, double size, v3 *p) {
    for (int step = 0; step < MAX_NEWTON_STEPS; step++) {
        v3 g;
        double d = sim_field_distance(field, *p, &g), squared = v3_dot(g, g);
        if (fabs(d) <= ZERO_DISTANCE_OVER_SIZE * size) {
            return true;
        }
        if (!(squared > 1e-6)) {
            return false;
        }
        *p = v3_axpy(*p, -d / squared, g);
    }
    return false;
}

/* ---- crossings ---- */

/* Regula falsi, the weight of an end that stays halved (Dowell and Jarratt's Illinois rule), between a < 0 <= b. */
static v3 find_zero_crossing(const sim_field *field, v3 a, double da, v3 b, double db, double close) {
    v3 p = b;
    int last = 0;
    for (int step = 0; step < MAX_NEWTON_STEPS; step++) {
        double t = da / (da - db);
        p = v3_axpy(a, t, v3_sub(b, a));
        double d = sim_field_distance(field, p, NULL);
        if (fabs(d) <= close) {
            break;
        }
        if (d < 0) {
            a = p;
            da = d;
            db *= last < 0 ? 0.5 : 1;
            last = -1;
        } else {
            b = p;
            db = d;
            da *= last > 0 ? 0.5 : 1;
            last = 1;
        }
    }
    return p;
}

static const crossing *crossing_at(mesher *m, const int at[3], int axis) {
    lattice *l = &m->lattice;
    int *which = sparse_at(&m->crossing_of, 4 * lattice_key(l, at) + (uint64_t)axis, -1);
    if (!which || !grow_items((void **)&m->crossing, m->ncrossing, &m->crossing_room, sizeof *m->crossing)) {
        m->failed = 1;
        return NULL;
    }
    if (*which < 0) {
        *which = m->ncrossing++;
        int end[3] = {at[0] + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2)};
        double da = lattice_distance(l, at), db = lattice_distance(l, end);
        v3 a = lattice_point(l, at), b = lattice_point(l, end);
        crossing *c = &m->crossing[*which];
        c->point = da < 0 ? find_zero_crossing(l->field, a, da, b, db, ZERO_DISTANCE_OVER_SIZE * m->size)
                          : find_zero_crossing(l->field, b, db, a, da, ZERO_DISTANCE_OVER_SIZE * m->size);
        sim_field_distance(l->field, c->point, &c->normal);
    }
    return &m->crossing[*which];
}

/* ---- vertices ---- */

static int add_vertex(mesher *m, v3 p) {
    surface *s = m->out;
    if (!grow_items((void **)&s->vertex, s->nvertex, &m->vertex_room, sizeof *s->vertex)) {
        m->failed = 1;
        return 0;
    }
    s->vertex[s->nvertex] = p;
    return s->nvertex++;
}

/* x with (A + w 1) x = b, A symmetric positive semidefinite, w > 0: by elimination. */
static v3 solve_regularised(sym3 A, double w, v3 b) {
    double xx = A.xx + w, l1 = A.xy / xx, l2 = A.xz / xx;
    double yy = A.yy + w - l1 * A.xy, yz = A.yz - l1 * A.xz, l3 = yz / yy;
    double zz = A.zz + w - l2 * A.xz - l3 * yz;
    double y = b.y - l1 * b.x, z = (b.z - l2 * b.x - l3 * y) / zz;
    y = y / yy - l3 * z;
    return v3_make(b.x / xx - l1 * y - l2 * z, y, z);
}

/* Where the planes nearly meet, from their middle: a second solve starts where the first ends, so that the pull hardly
 * shows. */
static v3 meeting_point(const crossing *const *c, int count, v3 middle) {
    sym3 A = {0};
    for (int k = 0; k < count; k++) {
        A = sym3_rank_one(A, 1, c[k]->normal);
    }
    v3 x = middle;
    for (int pass = 0; pass < 2; pass++) {
        v3 b = {0, 0, 0};
        for (int k = 0; k < count; k++) {
            b = v3_axpy(b, v3_dot(c[k]->normal, v3_sub(c[k]->point, x)), c[k]->normal);
        }
        x = v3_add(x, solve_regularised(A, MIDDLE_WEIGHT * count, b));
    }
    return x;
}

static v3 clamp_to_bounds(v3 p, v3 low, v3 high) {
    return v3_make(fmin(fmax(p.x, low.x), high.x), fmin(fmax(p.y, low.y), high.y), fmin(fmax(p.z, low.z), high.z));
}

static bool is_within_box(v3 p, v3 low, v3 high, double slack) {
    return p.x >= low.x - slack && p.x <= high.x + slack && p.y >= low.y - slack && p.y <= high.y + slack &&
           p.z >= low.z - slack && p.z <= high.z + slack;
}

/* Crossings of one piece of a cube; returns how many. */
static int gather_crossings(const mesher *m, const cell *at, int piece, const crossing *c[12]) {
    const lattice *l = &m->lattice;
    int count = 0;
    for (int e = 0; e < 12; e++) {
        if (l->cube[at->inside].patch[e] == piece) {
            int o = cube_corner(e, 0),
                corner[3] = {at->at[0] + (o & 1), at->at[1] + (o >> 1 & 1), at->at[2] + (o >> 2)};
            int which = sparse_find(&m->crossing_of, 4 * lattice_key(l, corner) + (uint64_t)(e >> 2), 0);
            c[count++] = &m->crossing[which];
        }
    }
    return count;
}

/* No other vertex is as good as there.  (Two pieces of a cube that meet in one point of an edge would be joined.) */
static bool is_edge_free(mesher *m, v3 p) {
    v3 q = v3_scale(PLACES_PER_EDGE / m->lattice.edge, v3_sub(p, m->lattice.origin));
    uint64_t x = (uint64_t)(int64_t)rint(q.x), y = (uint64_t)(int64_t)rint(q.y), z = (uint64_t)(int64_t)rint(q.z);
    uint64_t key = hash_word(hash_word(hash_word(HASH_START, x), y), z);
    int before = m->taken.count, *slot = sparse_at(&m->taken, key | 1, 0);
    m->failed |= !slot;
    return m->taken.count > before;
}

/* The vertex of one piece: the first candidate that comes onto the surface close by, where no other vertex is.
 * Candidates are the meeting point, that point clamped to the cube, the middle of the crossings, and the crossings. The
 * meeting point may be a little outside the cube, as at the tip of a wedge thinner than a cube. */
static v3 piece_vertex(mesher *m, const cell *at, int piece) {
    /* mean of the crossings */
    const lattice *l = &m->lattice;
    const crossing *c[12];
    int count = gather_crossings(m, at, piece, c);
    double edge = l->edge;
    v3 middle = {0, 0, 0};
    for (int k = 0; k < count; k++) {
        middle = v3_axpy(middle, 1.0 / count, c[k]->point);
    }
    /* candidates: the meeting point, the same inside the cube, the mean */
    v3 low = lattice_point(l, at->at), high = v3_add(low, v3_make(edge, edge, edge));
    v3 meeting = meeting_point(c, count, middle),
       inset = v3_make(INSET_OVER_EDGE * edge, INSET_OVER_EDGE * edge, INSET_OVER_EDGE * edge);
    v3 start[3] = {meeting, clamp_to_bounds(meeting, v3_add(low, inset), v3_sub(high, inset)), middle};
    int sharp = is_within_box(meeting, low, high, MAX_TIP_OVER_EDGE * edge) &&
                fabs(sim_field_distance(l->field, meeting, NULL)) <= MAX_SHARP_DISTANCE_OVER_EDGE * edge;
    /* the first that Newton's method brings onto the surface nearby */
    for (int k = sharp ? 0 : 1; k < 3; k++) {
        v3 p = start[k];
        if (surface_project(l->field, m->size, &p) &&
            is_within_box(p, low, high, k ? MAX_SHIFT_OVER_EDGE * edge : MAX_TIP_OVER_EDGE * edge) &&
            is_edge_free(m, p)) {
            return p;
        }
    }
    /* else a crossing */
    for (int k = 0; k < count; k++) {
        if (is_edge_free(m, c[k]->point)) {
            return c[k]->point;
        }
    }
    return c[0]->point;
}

static void add_vertices(mesher *m) {
    lattice *l = &m->lattice;
    for (int k = 0; k < l->ncell; k++) {
        cell *at = &l->cell[k];
        const cube_patches *cube = &l->cube[at->inside];
        for (int e = 0; e < 12 && !m->failed; e++) {
            if (cube->patch[e] >= 0) {
                int o = cube_corner(e, 0);
                int corner[3] = {at->at[0] + (o & 1), at->at[1] + (o >> 1 & 1), at->at[2] + (o >> 2)};
                crossing_at(m, corner, e >> 2);
            }
        }
        at->vertex = m->out->nvertex;
        for (int piece = 0; piece < cube->count && !m->failed; piece++) {
            add_vertex(m, piece_vertex(m, at, piece));
        }
    }
}

/* ---- polygons ---- */

static void add_surface_triangle(mesher *m, int a, int b, int c) {
    surface *s = m->out;
    if (!grow_items((void **)&s->triangle, s->ntriangle, &m->triangle_room, sizeof *s->triangle)) {
        m->failed = 1;
        return;
    }
    int *t = s->triangle[s->ntriangle++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static double triangle_height(v3 a, v3 b, v3 c) {
    v3 ab = v3_sub(b, a), ac = v3_sub(c, a), bc = v3_sub(c, b);
    double longest = fmax(v3_dot(ab, ab), fmax(v3_dot(ac, ac), v3_dot(bc, bc)));
    return longest > 0 ? v3_norm(v3_cross(ab, ac)) / sqrt(longest) : 0;
}

/* How bad a diagonal is: how far its middle is off the surface, and more where it leaves a triangle without height. */
static double diagonal_cost(const mesher *m, v3 a, v3 b, v3 c, v3 d) {
    double edge = m->lattice.edge;
    double off = fabs(sim_field_distance(m->lattice.field, v3_scale(0.5, v3_add(a, c)), NULL));
    double height = fmin(triangle_height(a, b, c), triangle_height(a, c, d));
    return off + 1e-3 * v3_norm(v3_sub(c, a)) + (height < 0.02 * edge ? edge : 0);
}

static void add_polygon(mesher *m, const int *corner, int count, int fan_from) {
    if (count == 4) {
        const v3 *v = m->out->vertex;
        v3 p[4] = {v[corner[0]], v[corner[1]], v[corner[2]], v[corner[3]]};
        fan_from = diagonal_cost(m, p[0], p[1], p[2], p[3]) <= diagonal_cost(m, p[1], p[2], p[3], p[0]) ? 0 : 1;
    }
    for (int k = 1; k + 1 < count; k++) {
        add_surface_triangle(m, corner[fan_from], corner[(fan_from + k) % count], corner[(fan_from + k + 1) % count]);
    }
}

/* The vertex between two crossings that a face with four joins, one for both polygons that use it.  The face spans
 * `axis` and the direction `side` (-1 or 1) along `across`; its inside corner is at the start or end of the edge from
 * `at`. */
static int arc_vertex(mesher *m, const int at[3], int axis, int across, int side) {
    lattice *l = &m->lattice;
    int corner[3] = {at[0], at[1], at[2]};
    int end = !(lattice_distance(l, corner) < 0);
    corner[axis] += end;
    int beside[3] = {corner[0], corner[1], corner[2]};
    beside[across] -= side < 0;
    const crossing *mine = crossing_at(m, at, axis), *other = NULL;
    v3 first = mine ? mine->point : v3_make(0, 0, 0);
    other = m->failed ? NULL : crossing_at(m, beside, across);
    /* the corner, the face's normal, and the quarter of it that the arc is in */
    int along = end ? -1 : 1, normal = 3 - axis - across;
    int quarter = axis < across ? (along > 0) + 2 * (side > 0) : (side > 0) + 2 * (along > 0);
    int *which = sparse_at(&m->arc_of, 16 * lattice_key(l, corner) + (uint64_t)(4 * normal + quarter), -1);
    if (!other || !which) {
        m->failed = 1;
        return 0;
    }
    if (*which < 0) {
        v3 p = v3_scale(0.5, v3_add(first, other->point)), q = p;
        double near = l->edge;
        if (!surface_project(l->field, m->size, &q) || v3_norm(v3_sub(q, p)) > near) {
            q = first;
        }
        *which = add_vertex(m, q);
    }
    return *which;
}

/* The piece of the cube at `place` that crosses the edge from `at` along `axis`: its number, and the cell. */
static int piece_at(const mesher *m, const int place[3], const int at[3], int axis, const cell **found) {
    const lattice *l = &m->lattice;
    *found = &l->cell[sparse_find(&l->by_place, lattice_key(l, place), 0)];
    int next = (axis + 1) % 3, after = (axis + 2) % 3;
    int edge = 4 * axis + (at[next] - place[next]) + 2 * (at[after] - place[after]);
    return l->cube[(*found)->inside].patch[edge];
}

/* Do the two cubes on both sides of a face with four crossed edges join one pair of pieces twice?  The face spans the
 * edge from `at` and its neighbour `beside`. */
static bool is_joined_twice(mesher *m, const int place[2][3], const int at[3], const int beside[3], int axis) {
    lattice *l = &m->lattice;
    int at_end[3] = {at[0], at[1], at[2]}, beside_end[3] = {beside[0], beside[1], beside[2]};
    at_end[axis]++;
    beside_end[axis]++;
    int inside = lattice_distance(l, at) < 0, diagonal = lattice_distance(l, beside_end) < 0;
    if (inside != diagonal || inside == (lattice_distance(l, beside) < 0) ||
        inside == (lattice_distance(l, at_end) < 0)) {
        return false;
    }
    const cell *unused;
    return piece_at(m, place[0], at, axis, &unused) == piece_at(m, place[0], beside, axis, &unused) &&
           piece_at(m, place[1], at, axis, &unused) == piece_at(m, place[1], beside, axis, &unused);
}

/* The polygon around the edge of the lattice from `at` along `axis`. */
static void add_polygon_around(mesher *m, const int at[3], int axis) {
    static const int ring[4][2] = {{-1, -1}, {0, -1}, {0, 0}, {-1, 0}};
    int next = (axis + 1) % 3, after = (axis + 2) % 3;
    int inside = lattice_distance(&m->lattice, at) < 0;
    int place[5][3], corner[CUBE_CORNERS], count = 0, fan_from = 0;
    for (int k = 0; k < 5; k++) {
        int q = inside ? k % 4 : (4 - k) % 4;
        place[k][axis] = at[axis];
        place[k][next] = at[next] + ring[q][0];
        place[k][after] = at[after] + ring[q][1];
    }
    for (int k = 0; k < 4 && !m->failed; k++) {
        const cell *here;
        int piece = piece_at(m, place[k], at, axis, &here);
        corner[count++] = here->vertex + piece;
        /* the face between this cube and the next lies on the side that both are on */
        int across = place[k][next] == place[k + 1][next] ? next : after;
        int side = place[k][across] < at[across] ? -1 : 1;
        int beside[3] = {at[0], at[1], at[2]};
        beside[across] += side;
        if (is_joined_twice(m, (const int(*)[3]) & place[k], at, beside, axis)) {
            fan_from = count;
            corner[count++] = arc_vertex(m, at, axis, across, side);
        }
    }
    if (!m->failed) {
        add_polygon(m, corner, count, fan_from);
    }
}

/* Each crossed edge is taken up by the cube whose corner 0 it starts from. */
static void add_polygons(mesher *m) {
    lattice *l = &m->lattice;
    for (int k = 0; k < l->ncell && !m->failed; k++) {
        for (int axis = 0; axis < 3; axis++) {
            if (l->cube[l->cell[k].inside].patch[4 * axis] >= 0) {
                add_polygon_around(m, l->cell[k].at, axis);
            }
        }
    }
}

static sim_status refuse_lattice(const mesher *m, double edge, int64_t room, sim_error *error) {
    /* reason: bounds, cost, resolution, memory */
    const lattice *l = &m->lattice;
    double most = lattice_most_cells(l->field, room);
    if (l->leaves) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "the surface of a field of size %.3g m runs out of its bounds: its distances "
                        "cannot be those of a solid",
                        m->size);
    }
    if (l->expected > 0 && most < 100) {
        return sim_fail(error, SIM_BAD_INPUT, "a field of %d parts has a surface that takes too long to find",
                        l->field->nnode);
    }
    if (!(l->expected < 1e30)) {
        return sim_fail(error, SIM_BAD_INPUT, "a resolution of %.3g m is too fine for a field of size %.3g m", edge,
                        m->size);
    }
    if (l->expected > 0) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a resolution of %.3g m makes about %.2g triangles of this field, %.2g are the most: %.2g m "
                        "would do",
                        edge, 2 * l->expected, 2 * most, 1.2 * edge * sqrt(l->expected / most));
    }
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for the surface of a field of size %g m at a resolution of %g m",
                    m->size, edge);
}

sim_status surface_extract(const sim_field *field, v3 low, v3 high, double edge, surface *out, int64_t *room,
                           sim_error *error) {
    /* cells of the lattice that the surface crosses */
    *out = (surface){0};
    mesher m = {.out = out, .size = v3_norm(v3_sub(high, low))};
    sim_status status = SIM_OK;
    int64_t before = *room;
    int opened = lattice_open(&m.lattice, field, low, high, edge, before);
    *room = m.lattice.room;
    /* refusals */
    if (!opened) {
        status = refuse_lattice(&m, edge, before, error);
    } else if (m.lattice.ncell == 0) {
        status = sim_fail(
            error, SIM_BAD_INPUT,
            "the field has no part as thick as its resolution of %g m, or is empty: a finer one is needed", edge);
    } else {
        /* dual contouring: a vertex in each cell, a polygon about each crossing */
        add_vertices(&m);
        add_polygons(&m);
        out->low = m.lattice.low;
        out->high = m.lattice.high;
        out->radius = m.lattice.radius;
        if (m.failed || m.lattice.failed) {
            status = sim_fail(error, SIM_NO_RESOURCE, "no memory for the surface of a field");
        }
    }
    /* release */
    lattice_close(&m.lattice);
    sparse_free(&m.crossing_of);
    sparse_free(&m.arc_of);
    sparse_free(&m.taken);
    free(m.crossing);
    if (status) {
        surface_free(out);
    }
    return status;
}

void surface_free(surface *s) {
    free(s->vertex);
    free(s->triangle);
    *s = (surface){0};
}
