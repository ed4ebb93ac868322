/* Dishes in dishes: where they touch follows from the curves that are turned about the axis. */
#include "support/contacts.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846, MARGIN = 1e-3, EDGE = 0.004;
enum { PLATE, BOWL, POT };

/* Two dishes on one axis, the second at height z; what the curves say of their contact. */
typedef struct stack {
    int below, above;
    double radial, axial; /* the normal from the upper to the lower */
    double touching;      /* height at which they touch */
    double inner, outer;  /* radii between which contacts lie */
} stack;

/* The line from a to b moved by `thickness` along its left side; height at which point p of the other dish, which
 * stands `lift` higher, is at the distance of both thicknesses. */
static double height_over(const double a[2], const double b[2], const double p[2], double both, double *radial,
                          double *axial) {
    double u = b[0] - a[0], v = b[1] - a[1], length = hypot(u, v);
    *radial = v / length; /* from the upper dish down to the lower: against the line's upper side */
    *axial = -u / length;
    /* (p + (0, h) - a) . (-v, u) / length = both */
    return (both * length + (p[0] - a[0]) * v - (p[1] - a[1]) * u) / u;
}

static stack bowl_in_bowl(void) {
    const dish *d = &dishes[BOWL];
    stack s = {.below = BOWL, .above = BOWL, .inner = 0.038, .outer = 0.078};
    s.touching = height_over(d->point[1], d->point[2], d->point[1], 2 * d->thickness, &s.radial, &s.axial);
    return s;
}

/* The bowl's rim under the sloping part of the plate: seen from the plate the bowl hangs below. */
static stack plate_on_bowl(void) {
    const dish *p = &dishes[PLATE], *b = &dishes[BOWL];
    stack s = {.below = BOWL, .above = PLATE, .inner = 0.0735, .outer = 0.0745};
    double both = -(p->thickness + b->thickness);
    s.touching = -height_over(p->point[1], p->point[2], b->point[2], both, &s.radial, &s.axial);
    return s;
}

static stack pot_on_plate(void) {
    const dish *p = &dishes[PLATE], *b = &dishes[POT];
    stack s = {.below = PLATE, .above = POT, .inner = 0.0905, .outer = 0.0920};
    double both = p->thickness + b->thickness;
    s.touching = height_over(p->point[1], p->point[2], b->point[1], both, &s.radial, &s.axial);
    return s;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Greatest angle about the axis without a contact. */
static double widest_hole(const contacts *c) {
    double angle[256], most = 0;
    for (int k = 0; k < c->count; k++) {
        angle[k] = atan2(c->point[k].position.y, c->point[k].position.x);
    }
    qsort(angle, (size_t)c->count, sizeof *angle, ascending);
    for (int k = 0; k < c->count; k++) {
        double next = k + 1 < c->count ? angle[k + 1] : angle[0] + 2 * PI;
        most = fmax(most, next - angle[k]);
    }
    return most;
}

static void ring_is_right(stack s) {
    sim_shape below = dish_shape(s.below, EDGE), above = dish_shape(s.above, EDGE);
    for (int k = -4; k <= 4; k++) {
        double off = 1e-4 * k, gap = -s.axial * off;
        pose X = pose_identity();
        X.p.z = s.touching + off;
        contacts c = contacts_of(&below, &above, X, MARGIN, NULL, 0);
        cr_assert(c.count >= 24 && c.count <= 120, "%d contacts", c.count);
        cr_assert_float_eq(c.point[deepest_of(&c)].gap, gap, 1e-7, "%g, not %g", c.point[deepest_of(&c)].gap, gap);
        cr_assert_lt(widest_hole(&c), 2 * PI / 12);
        for (int j = 0; j < c.count; j++) {
            const contact_point *p = &c.point[j];
            double r = hypot(p->position.x, p->position.y);
            cr_assert(r > s.inner && r < s.outer, "radius %g", r);
            double radial = (p->normal.x * p->position.x + p->normal.y * p->position.y) / r;
            cr_assert_float_eq(radial, s.radial, 0.02);
            cr_assert_float_eq(p->normal.z, s.axial, 0.02);
            cr_assert_geq(p->gap, gap - 1e-9);
        }
        free(c.point);
    }
    shape_free(&below);
    shape_free(&above);
}

Test(dishes, bowl_in_bowl_touches_along_the_wall) { ring_is_right(bowl_in_bowl()); }
Test(dishes, plate_on_bowl_touches_along_the_rim) { ring_is_right(plate_on_bowl()); }
Test(dishes, pot_on_plate_touches_along_the_edge_of_its_floor) { ring_is_right(pot_on_plate()); }

/* Upside down on its rim, tilted or not. */
Test(dishes, bowl_on_its_rim_has_a_ring_of_contacts_on_the_ground) {
    sim_shape ground = sized_shape(SIM_HALF_SPACE, 0, 0, 0), bowl = dish_shape(BOWL, EDGE);
    pose X = {m3_axis_angle(v3_make(1, 0, 0), PI), {0, 0, 0.053}};
    contacts c = contacts_of(&ground, &bowl, X, 1e-4, NULL, 0);
    cr_assert_geq(c.count, 24);
    cr_assert_lt(widest_hole(&c), 2 * PI / 12);
    for (int k = 0; k < c.count; k++) {
        cr_assert_float_eq(hypot(c.point[k].position.x, c.point[k].position.y), 0.075, 1e-5);
        cr_assert_float_eq(c.point[k].gap, 0, 1e-9);
        cr_assert_float_eq(c.point[k].normal.z, -1, 1e-12);
    }
    free(c.point);
    for (int k = 1; k <= 10; k++) { /* the lowest point of a torus that leans */
        double tilt = 0.03 * k, lowest = -0.05 * cos(tilt) - 0.075 * sin(tilt) - 0.003;
        X = (pose){m3_axis_angle(v3_make(1, 0, 0), PI + tilt), {0, 0, -lowest - 1e-4}};
        c = contacts_of(&ground, &bowl, X, 1e-4, NULL, 0);
        cr_assert_geq(c.count, 1);
        cr_assert_float_eq(c.point[deepest_of(&c)].gap, -1e-4, 5e-9, "%g", c.point[deepest_of(&c)].gap);
        free(c.point);
    }
    shape_free(&ground);
    shape_free(&bowl);
}

/* No motion changes a gap by more than it moves any point: not while touching begins, nor tilted, nor off the axis. */
static void least_gap_is_continuous(stack s, uint64_t seed) {
    const int STEPS = part_of(60);
    sim_shape below = dish_shape(s.below, EDGE), above = dish_shape(s.above, EDGE);
    random_source r = {seed};
    for (int trial = 0; trial < trials_of(4); trial++) {
        v3 axis = random_unit(&r), way = {random_uniform(&r, -0.5, 0.5), random_uniform(&r, -0.5, 0.5), 1};
        double tilt = trial ? random_uniform(&r, 0, 0.05) : 0, last = 0, length = 1.5e-3, step = length / STEPS;
        int had = 0;
        for (int k = 0; k <= STEPS; k++) {
            double along = step * k - length / 2, turn = tilt * (1 + along);
            pose X = {m3_axis_angle(axis, turn),
                      v3_axpy(v3_make(0, 0, s.touching), along, trial ? way : v3_make(0, 0, 1))};
            contacts c = contacts_of(&below, &above, X, 5e-3, NULL, 0);
            double gap = c.count ? c.point[deepest_of(&c)].gap : HUGE_VAL;
            double most = step * v3_norm(way) + 0.11 * tilt * step;
            if (had) {
                cr_assert(fabs(gap - last) <= 1.01 * most + 1e-8, "%g after %g, step %g, trial %d", gap, last, most,
                          trial);
            }
            had = 1;
            last = gap;
            free(c.point);
        }
    }
    shape_free(&below);
    shape_free(&above);
}

Test(dishes, gap_of_bowl_in_bowl_is_continuous) { least_gap_is_continuous(bowl_in_bowl(), 1); }
Test(dishes, gap_of_plate_on_bowl_is_continuous) { least_gap_is_continuous(plate_on_bowl(), 2); }
Test(dishes, gap_of_pot_on_plate_is_continuous) { least_gap_is_continuous(pot_on_plate(), 3); }
