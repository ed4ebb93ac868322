/* Surfaces of triangles against every triangle asked: meshes that are not convex, and height fields.
 *
 * Apart, the gap is the least distance from any triangle.  Inside, more than one answer is right, so what must hold is held:
 * there is a point, it is no deeper than the way the shape was pushed in, and following the deepest points leads out again. */
#include "oracle/triangles.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, SURFACES = 4 };

typedef struct counts {
    long scenes, missed, spurious, gap, surface, number, deep, stuck, swap, identity;
    double worst_gap, worst_surface, worst_patch, worst_depth;
} counts;

typedef struct place {
    const char *on;
    sim_shape a, surface;
    sim_pose X_a, X;
    double margin, smaller;
} place;

static sim_geometry *geometry_of(int which) {
    return which == 0   ? torus_mesh(0.5, 0.2, 18, 10)
           : which == 1 ? ell_mesh()
           : which == 2 ? star_mesh()
                        : ground_heights();
}
static const char *const surface_name[SURFACES] = {"torus", "L", "star", "ground"};

static void show(const place *p, const char *what, double expected, double got, const sim_contact_point *c, int n) {
    const char *most = getenv("SIM_ORACLE_SHOW");
    static int shown;
    if (shown++ >= (most ? atoi(most) : 1)) {
        return;
    }
    scene s = {.a = p->a, .b = p->surface, .X_a = p->X_a, .X_b = p->X, .margin = p->margin};
    s.b.geometry = NULL;
    fprintf(stderr, "%s on %s: %s: expected %.17g, got %.17g\n", sim_shape_name(p->a.type), p->on, what, expected, got);
    scene_print(stderr, &s);
    for (int k = 0; k < n; k++) {
        fprintf(stderr,
                "  got: gap %.17g, normal {%.12g, %.12g, %.12g}, position {%.12g, %.12g, %.12g}, feature %llx\n",
                c[k].gap, c[k].normal.x, c[k].normal.y, c[k].normal.z, c[k].position.x, c[k].position.y,
                c[k].position.z, (unsigned long long)c[k].feature);
    }
}

static int deepest(const sim_contact_point *c, int n) {
    int best = n ? 0 : -1;
    for (int k = 1; k < n; k++) {
        best = c[k].gap < c[best].gap ? k : best;
    }
    return best;
}

static void check_points(const place *p, const triangles *t, const solid *a, const sim_contact_point *c, int n,
                         counts *sum) {
    for (int k = 0; k < n; k++) {
        vec x = vec_from(c[k].position), m = vec_from(c[k].normal);
        if (!isfinite(c[k].gap) || !(fabsl(length(m) - 1) < 1e-12L) || !(length(x) < 1e9L) || c[k].gap > p->margin) {
            sum->number++;
            return;
        }
        double off = (double)fmaxl(fabsl(solid_surface(a, along(x, c[k].gap / 2, m))),
                                   triangles_distance(t, along(x, -c[k].gap / 2, m)));
        double *worst = k == deepest(c, n) ? &sum->worst_surface : &sum->worst_patch;
        *worst = fmax(*worst, off / p->smaller);
        if (off >
            (k == deepest(c, n) ? 1e-5 : 0.03) * p->smaller) { /* a capsule's far end is its core's, moved along n */
            sum->surface++;
            show(p, "not on both surfaces", 0, off, c + k, 1);
        }
        for (int j = 0; j < k; j++) {
            if (c[j].feature == c[k].feature) {
                sum->identity++;
                show(p, "two points of one feature", k, j, c, n);
            }
        }
    }
}

/* Pushed in by `depth` from where it touched: does following the deepest points lead out? */
static void check_way_out(place p, double depth, const sim_contact_point *c, int n, counts *sum) {
    sim_contact_point point[MOST];
    int first = deepest(c, n);
    if (first < 0 || c[first].gap > -1e-3 * depth) {
        sum->missed++;
        show(&p, "inside, but nothing found", -depth, first < 0 ? 0 : c[first].gap, c, n);
        return;
    }
    sum->worst_depth = fmax(sum->worst_depth, -c[first].gap / depth);
    if (c[first].gap < -1.05 * depth - 1e-9 * p.smaller) {
        sum->deep++;
        show(&p, "deeper than it was pushed in", -depth, c[first].gap, c, n);
    }
    memcpy(point, c, (size_t)n * sizeof *point);
    for (int k = 0; k < 60; k++) {
        int d = deepest(point, n);
        if (d < 0 || point[d].gap > -1e-3 * depth) {
            return;
        }
        p.X_a.p = vec_plain(along(vec_from(p.X_a.p), -point[d].gap, vec_from(point[d].normal)));
        n = sim_collide_shapes(&p.a, &p.X_a, &p.surface, &p.X, p.margin, point, MOST);
    }
    sum->stuck++;
    show(&p, "no way out", 0, depth, point, n);
}

/* Somewhere outside near the surface, then towards it until the gap is `target`. 0: no luck. */
static int bring(random_source *r, place *p, triangles *t, solid *a, double target) {
    vec normal = {0, 0, 0};
    int which;
    triangles_of(p->surface.geometry, &p->X, vec_of(0, 0, 0), t);
    const vec *c = t->corner[random_index(r, t->count)];
    real u = random_uniform(r, 0.05, 0.9), v = random_uniform(r, 0.05, 0.95) * (1 - u);
    vec at = along(along(c[0], u, minus(c[1], c[0])), v, minus(c[2], c[0]));
    vec out = unit(cross(minus(c[1], c[0]), minus(c[2], c[0])));
    p->X_a.p = vec_plain(along(at, (real)p->smaller * 1.2L, out));
    solid_of(&p->a, &p->X_a, vec_of(0, 0, 0), a);
    real gap = triangles_gap(t, a, &normal, &which);
    if (gap <= 0 || gap < target || (t->closed && triangles_winding(t, solid_support(a, vec_of(1, 0, 0))) > 0.5L)) {
        return 0;
    }
    if (!t->closed && dot(normal, unit(cross(minus(t->corner[which][1], t->corner[which][0]),
                                             minus(t->corner[which][2], t->corner[which][0])))) < 0.2L) {
        return 0; /* behind or beside an open surface */
    }
    p->X_a.p = vec_plain(along(vec_from(p->X_a.p), target - gap, normal));
    solid_of(&p->a, &p->X_a, vec_of(0, 0, 0), a);
    return 1;
}

static void check_scene(random_source *r, place *p, triangles *t, counts *sum) {
    static solid a;
    sim_contact_point point[MOST], other[MOST];
    int kind = random_index(r, 4);
    double target = kind == 0   ? p->margin * random_uniform(r, 1.001, 2)
                    : kind == 1 ? p->margin * random_uniform(r, 0, 0.999)
                    : kind == 2 ? p->smaller * random_uniform(r, -1e-9, 1e-9)
                                : -p->smaller * random_uniform(r, 1e-4, 0.05);
    if (!bring(r, p, t, &a, target)) {
        return;
    }
    int n = sim_collide_shapes(&p->a, &p->X_a, &p->surface, &p->X, p->margin, point, MOST);
    n = n > MOST ? MOST : n;
    sum->scenes++;
    check_points(p, t, &a, point, n, sum);
    int d = deepest(point, n);
    if (kind == 0) {
        sum->spurious += n > 0;
        if (n) {
            show(p, "farther than the margin", target, point[d].gap, point, n);
        }
    } else if (kind < 3) {
        double error = d < 0 ? HUGE_VAL : fabs(point[d].gap - target);
        sum->missed += d < 0;
        sum->worst_gap = d < 0 ? sum->worst_gap : fmax(sum->worst_gap, error / p->smaller);
        if (error > 1e-6 * p->smaller) {
            sum->gap += d >= 0;
            show(p, d < 0 ? "nothing found" : "gap", target, d < 0 ? 0 : point[d].gap, point, n);
        }
    } else {
        check_way_out(*p, -target, point, n, sum);
    }
    int m = sim_collide_shapes(&p->surface, &p->X, &p->a, &p->X_a, p->margin, other, MOST);
    sum->swap += m != n || (n && fabs(other[deepest(other, m)].gap - point[d].gap) > 1e-9 * p->smaller);
}

static void hold_type(sim_shape_type type, long scenes) {
    stock from;
    stock_make(&from);
    random_source r = {1000 + (uint64_t)type};
    const char *asked = getenv("SIM_ORACLE_SCENES");
    scenes = asked ? atol(asked) : scenes;
    triangles t = {0};
    for (int which = 0; which < SURFACES; which++) {
        counts sum;
        memset(&sum, 0, sizeof sum);
        sim_geometry *g = geometry_of(which);
        cr_assert_not_null(g);
        for (long k = 0; k < scenes; k++) {
            place p = {.on = surface_name[which], .surface = sim_shape_default()};
            p.surface.type = which == 3 ? SIM_HEIGHT_FIELD : SIM_MESH;
            p.surface.geometry = g;
            p.a = shape_random(&r, &from, type, 0);
            for (int i = 0; i < 3; i++) {
                p.a.size[i] *= 0.3;
            }
            static solid a;
            p.X_a = (sim_pose){random_rotation(&r), {0, 0, 0}};
            p.X = (sim_pose){random_rotation(&r), {random_uniform(&r, -1, 1), random_uniform(&r, -1, 1), 0}};
            solid_of(&p.a, &p.X_a, vec_of(0, 0, 0), &a);
            p.smaller = fmin((double)a.extent, 0.5);
            p.margin = 0.05 * p.smaller;
            check_scene(&r, &p, &t, &sum);
        }
        sim_geometry_free(g);
        long wrong = sum.missed + sum.spurious + sum.gap + sum.surface + sum.number + sum.deep + sum.stuck + sum.swap +
                     sum.identity;
        if (getenv("SIM_ORACLE_TABLE")) {
            fprintf(stderr,
                    "%-10s %-7s %6ld scenes  gap %8.1e  surface %8.1e  patch %8.1e  depth/pushed %.3f  missed %ld "
                    "spurious %ld gap %ld "
                    "surface %ld number %ld deep %ld stuck %ld swap %ld identity %ld\n",
                    sim_shape_name(type), surface_name[which], sum.scenes, sum.worst_gap, sum.worst_surface,
                    sum.worst_patch, sum.worst_depth, sum.missed, sum.spurious, sum.gap, sum.surface, sum.number,
                    sum.deep, sum.stuck, sum.swap, sum.identity);
        }
        cr_expect_gt(sum.scenes, scenes / 4);
        cr_expect_eq(wrong, 0, "%s on %s: %ld of %ld scenes", sim_shape_name(type), surface_name[which], wrong,
                     sum.scenes);
    }
    triangles_free(&t);
    stock_free(&from);
}

Test(oracle_mesh, balls_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_SPHERE, 400); }
Test(oracle_mesh, capsules_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_CAPSULE, 400); }
Test(oracle_mesh, boxes_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_BOX, 200); }
Test(oracle_mesh, cylinders_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_CYLINDER, 60); }
Test(oracle_mesh, ellipsoids_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_ELLIPSOID, 60); }
Test(oracle_mesh, hulls_touch_surfaces_as_near_as_their_nearest_triangle) { hold_type(SIM_CONVEX, 60); }
