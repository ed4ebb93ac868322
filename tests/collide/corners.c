/* Convex solids that press on both sides of a concave corner: a contact at the point of either side that lies deepest in the
 * solid,
 *
 *     depth_i = h(-n_i) - n_i . p,     h the solid's support function, p its place, n_i the normal of side i. */
#include "collide/convex/convex.h"
#include "support/contacts.h"
#include "support/meshes.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846, MARGIN = 2e-5;

typedef struct corner {
    const char *name;
    sim_shape shape;
    v3 n[2]; /* of both sides; x is on side i where n_i . x = c_i */
    double c[2];
    int round; /* about z: solids lie in a plane through the axis */
} corner;

/* Two slabs: the floor, and a wall that leans back by `lean`. */
static corner slabs(const char *name, double lean, double resolution) {
    static sim_field_def part[2];
    sim_field_def both = sim_field_default();
    m3 R = m3_axis_angle(v3_make(0, 1, 0), -lean);
    part[0] = field_box(0.2, 0.1, 0.02);
    part[0].pose.p = v3_make(0.05, 0, -0.01);
    part[1] = field_box(0.02, 0.1, 0.2);
    part[1].pose = (pose){R, m3_times(R, v3_make(-0.01, 0, 0.05))};
    both.type = SIM_FIELD_UNION;
    both.child = part;
    both.nchild = 2;
    return (corner){name, field_shape(&both, resolution), {{0, 0, 1}, {cos(lean), 0, sin(lean)}}, {0, 0}, 0};
}

/* The same as a mesh of triangles: an L drawn along y. */
static corner folded_mesh(const char *name, double lean) {
    double c = cos(lean), s = sin(lean);
    double line[6][2] = {
        {0, 0}, {0.15, 0}, {0.15, -0.02}, {-0.03, -0.02}, {-0.03 - 0.15 * s, 0.15 * c}, {-0.15 * s, 0.15 * c}};
    static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    soup m = {
        .nvertex = 12, .ntriangle = 20, .vertex = calloc(12, sizeof(v3)), .triangle = calloc(20, sizeof *m.triangle)};
    for (int k = 0; k < 12; k++) {
        m.vertex[k] = v3_make(line[k % 6][0], k < 6 ? -0.05 : 0.05, line[k % 6][1]);
    }
    for (int k = 0, t = 0; k < 6; k++) {
        int i = k, j = (k + 1) % 6;
        int quad[2][3] = {{i, j, j + 6}, {i, j + 6, i + 6}};
        for (int q = 0; q < 2; q++, t++) {
            for (int e = 0; e < 3; e++) {
                m.triangle[t][e] = quad[q][e];
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        for (int e = 0; e < 3; e++) {
            m.triangle[12 + k][e] = cap[k][2 - e];
            m.triangle[16 + k][e] = cap[k][e] + 6;
        }
    }
    return (corner){name, geometry_shape(SIM_MESH, soup_geometry(m)), {{0, 0, 1}, {c, 0, s}}, {0, 0}, 0};
}

/* A bowl, its bottom flat and its wall a cone. */
static corner bowl(const char *name, double resolution) {
    static const double line[3][2] = {{0, 0}, {0.05, 0}, {0.1, 0.06}};
    const double THICK = 0.004;
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = line;
    def.npoint = 3;
    def.thickness = THICK;
    double length = hypot(0.05, 0.06);
    v3 n = {-0.06 / length, 0, 0.05 / length};
    return (corner){name, field_shape(&def, resolution), {{0, 0, 1}, n}, {THICK, 0.05 * n.x + THICK}, 1};
}

static sim_shape cone_shape(double radius, double height, int sides) {
    v3 point[65];
    sim_error error;
    for (int k = 0; k < sides; k++) {
        point[k] = v3_make(radius * cos(2 * PI * k / sides), radius * sin(2 * PI * k / sides), -height / 3);
    }
    point[sides] = v3_make(0, 0, 2 * height / 3);
    return geometry_shape(SIM_CONVEX, sim_geometry_hull(point, sides + 1, &error));
}

/* h(d), and the point at which it is reached. */
static double support_height(const convex *c, v3 d, v3 *at) {
    uint32_t which;
    *at = v3_axpy(convex_support(c, d, &which), c->radius, d);
    return v3_dot(*at, d);
}

/* Does the solid touch along more than a point where n points into it? */
static bool lies_flat(const sim_shape *s, v3 n) {
    double across = hypot(n.x, n.y);
    bool about = s->type == SIM_CYLINDER || s->type == SIM_CAPSULE;
    return about && (fabs(n.z) < 0.02 || (s->type == SIM_CYLINDER && across < 0.02));
}

/* Places the solid so that it is `deep` in both sides; false where one of the deepest points is not on its side. */
static bool place_in_corner(const corner *k, const sim_shape *s, m3 R, const double deep[2], v3 *p) {
    convex c;
    v3 at[2], x;
    double b[2];
    convex_of_shape(s, &c);
    for (int i = 0; i < 2; i++) {
        v3 n = m3_transposed_times(R, k->n[i]);
        if (lies_flat(s, n)) {
            return false;
        }
        b[i] = k->c[i] + support_height(&c, v3_neg(n), &at[i]) - deep[i];
    }
    /* n_i . p = b_i, y = 0 */
    double det = k->n[0].x * k->n[1].z - k->n[1].x * k->n[0].z;
    *p = v3_make((b[0] * k->n[1].z - b[1] * k->n[0].z) / det, 0, (k->n[0].x * b[1] - k->n[1].x * b[0]) / det);
    for (int i = 0; i < 2; i++) {
        x = v3_add(*p, m3_times(R, at[i]));
        if (v3_dot(k->n[1 - i], x) - k->c[1 - i] < 2e-3) {
            return false;
        }
    }
    return true;
}

/* Contacts of a solid in a corner that lack, come twice or belong to neither side, summed over random poses. */
typedef struct tally {
    int missing, twice, others;
} tally;

static tally press(const corner *k, const sim_shape *s, int trials) {
    tally sum = {0, 0, 0};
    random_source r = {3};
    for (int trial = 0; trial < trials;) {
        /* a pose; in a bowl anywhere on its ring */
        double deep[2] = {random_uniform(&r, 1e-6, 5e-5), random_uniform(&r, 1e-6, 5e-5)};
        m3 R = k->round ? m3_axis_angle(v3_make(0, 1, 0), random_uniform(&r, -PI, PI)) : random_rotation(&r);
        m3 Z = m3_axis_angle(v3_make(0, 0, 1), k->round ? random_uniform(&r, -PI, PI) : 0);
        v3 p;
        if (!place_in_corner(k, s, R, deep, &p)) {
            continue;
        }
        trial++;
        R = m3_product(Z, R);
        pose X = {m3_transpose(R), v3_neg(m3_transposed_times(R, m3_times(Z, p)))};
        contacts c = contacts_of(s, &k->shape, X, MARGIN, NULL, 0);
        /* contacts of each side that are as deep as they should be, and others */
        int found[2] = {0, 0};
        for (int j = 0; j < c.count; j++) {
            int before = found[0] + found[1];
            for (int i = 0; i < 2; i++) {
                v3 n = m3_transposed_times(R, m3_times(Z, k->n[i]));
                found[i] += v3_dot(c.point[j].normal, n) > 1 - 1e-6 && fabs(c.point[j].gap + deep[i]) < 1e-8;
            }
            sum.others += found[0] + found[1] == before;
        }
        for (int i = 0; i < 2; i++) {
            sum.missing += found[i] == 0;
            sum.twice += found[i] > 1;
        }
        free(c.point);
    }
    return sum;
}

enum { CORNERS = 6, SMOOTH = 3, SOLIDS = 6 };

/* Balls, capsules and ellipsoids have one contact on each side; others have one there, too, and perhaps more. */
Test(corners, solids_touch_both_sides) {
    corner k[CORNERS] = {slabs("slabs at 90 degrees", 0, 0.01),
                         slabs("slabs at 120 degrees", PI / 6, 0.01),
                         folded_mesh("a mesh folded at 90 degrees", 0),
                         folded_mesh("a mesh folded at 120 degrees", PI / 6),
                         bowl("a bowl, 10 mm", 0.01),
                         bowl("a bowl", 0)};
    static const char *const name[SOLIDS] = {"sphere", "capsule", "ellipsoid", "cylinder", "cone", "box"};
    sim_shape s[SOLIDS] = {sized_shape(SIM_SPHERE, 0.012, 0, 0),
                           sized_shape(SIM_CAPSULE, 0.008, 0.02, 0),
                           sized_shape(SIM_ELLIPSOID, 0.012, 0.009, 0.007),
                           sized_shape(SIM_CYLINDER, 0.009, 0.02, 0),
                           cone_shape(0.01, 0.03, 24),
                           sized_shape(SIM_BOX, 0.02, 0.016, 0.012)};
    for (int i = 0; i < CORNERS; i++) {
        for (int j = 0; j < SOLIDS - k[i].round; j++) { /* a box in a bowl stands on two corners of an edge */
            tally sum = press(&k[i], &s[j], trials_of(200));
            cr_expect_eq(sum.missing, 0, "%s in %s: %d lacking", name[j], k[i].name, sum.missing);
            cr_expect(j >= SMOOTH || sum.twice + sum.others == 0, "%s in %s: %d twice, %d others", name[j], k[i].name,
                      sum.twice, sum.others);
        }
    }
    for (int i = 0; i < CORNERS; i++) {
        shape_free(&k[i].shape);
    }
    shape_free(&s[4]);
}
