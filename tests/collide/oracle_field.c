/* Distance fields: the fields themselves, and shapes on them.
 *
 * Fields of boxes, balls, cylinders and their unions are compared with the convex solids they are; a bowl and a hollow with
 * the distance written down here, by alternating projections between the two solids from many starts.  Inside, what must
 * hold is held, as in oracle_mesh. */
#include "oracle/triangles.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, KINDS = 6 };
static const char *const kind_name[KINDS] = {"ball", "box", "rod", "dumbbell", "bowl", "hollow"};

/* ---- distances written down a second time ---- */

static const double profile[5][2] = {{0, -0.3}, {0.15, -0.28}, {0.3, -0.18}, {0.38, 0}, {0.4, 0.2}};
static const double wall = 0.03;

static real segment_distance(real x, real y, const double *a, const double *b) {
    real ux = b[0] - a[0], uy = b[1] - a[1], t = ((x - a[0]) * ux + (y - a[1]) * uy) / (ux * ux + uy * uy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypotl(x - a[0] - t * ux, y - a[1] - t * uy);
}

static real box_distance(vec p, real x, real y, real z) {
    vec q = vec_of(fabsl(p.x) - x, fabsl(p.y) - y, fabsl(p.z) - z);
    vec out = vec_of(fmaxl(q.x, 0), fmaxl(q.y, 0), fmaxl(q.z, 0));
    real in = fmaxl(q.x, fmaxl(q.y, q.z));
    return length(out) + fminl(in, 0);
}

/* Distance outside; inside no more than that it is negative counts. */
static real own_distance(int kind, vec p) {
    real d = HUGE_VALL;
    switch (kind) {
    case 0:
        return length(p) - 0.35L;
    case 1:
        return box_distance(p, 0.25L, 0.2L, 0.35L);
    case 2: {
        real r = hypotl(p.x, p.y) - 0.25L, z = fabsl(p.z) - 0.35L;
        return r > 0 && z > 0 ? hypotl(r, z) : fmaxl(r, z);
    }
    case 3:
        d = box_distance(p, 0.1L, 0.1L, 0.3L);
        d = fminl(d, length(minus(p, vec_of(0, 0, 0.3L))) - 0.2L);
        return fminl(d, length(plus(p, vec_of(0, 0, 0.3L))) - 0.25L);
    case 4:
        for (int k = 0; k < 4; k++) {
            d = fminl(d, segment_distance(hypotl(p.x, p.y), p.z, profile[k], profile[k + 1]));
        }
        return d - wall;
    default: /* a box with a ball taken out: the distance itself inside the hollow and outside the box */
        return fmaxl(box_distance(p, 0.4L, 0.4L, 0.4L), 0.35L - length(p));
    }
}

static sim_geometry *field_of(int kind) {
    sim_field_def d = sim_field_default(), child[3] = {sim_field_default(), sim_field_default(), sim_field_default()};
    sim_error error;
    switch (kind) {
    case 0:
        d.type = SIM_FIELD_SPHERE;
        d.size[0] = 0.35;
        break;
    case 1:
        d.type = SIM_FIELD_BOX;
        d.size[0] = 0.5, d.size[1] = 0.4, d.size[2] = 0.7;
        break;
    case 2:
        d.type = SIM_FIELD_CYLINDER;
        d.size[0] = 0.25, d.size[1] = 0.7;
        break;
    case 3:
        d.type = SIM_FIELD_UNION;
        child[0].type = SIM_FIELD_BOX;
        child[0].size[0] = child[0].size[1] = 0.2, child[0].size[2] = 0.6;
        child[1].type = child[2].type = SIM_FIELD_SPHERE;
        child[1].size[0] = 0.2, child[1].pose.p.z = 0.3;
        child[2].size[0] = 0.25, child[2].pose.p.z = -0.3;
        d.child = child;
        d.nchild = 3;
        break;
    case 4:
        d.type = SIM_FIELD_PROFILE;
        d.point = profile;
        d.npoint = 5;
        d.thickness = wall;
        break;
    default:
        d.type = SIM_FIELD_DIFFERENCE;
        child[0].type = SIM_FIELD_BOX;
        child[0].size[0] = child[0].size[1] = child[0].size[2] = 0.8;
        child[1].type = SIM_FIELD_SPHERE;
        child[1].size[0] = 0.35;
        d.child = child;
        d.nchild = 2;
    }
    sim_geometry *g = sim_geometry_field(&d, 0, NULL, &error);
    cr_assert_not_null(g, "%s: %s", kind_name[kind], error.text);
    return g;
}

static vec slope(int kind, vec p) {
    real h = 1e-7L;
    return times(1 / (2 * h),
                 vec_of(own_distance(kind, plus(p, vec_of(h, 0, 0))) - own_distance(kind, minus(p, vec_of(h, 0, 0))),
                        own_distance(kind, plus(p, vec_of(0, h, 0))) - own_distance(kind, minus(p, vec_of(0, h, 0))),
                        own_distance(kind, plus(p, vec_of(0, 0, h))) - own_distance(kind, minus(p, vec_of(0, 0, h)))));
}

Test(oracle_field, distances_are_those_written_down_a_second_time) {
    random_source r = {3};
    for (int kind = 0; kind < KINDS; kind++) {
        sim_geometry *g = field_of(kind);
        double worst = 0, inside = 0, gradient = 0;
        for (int k = 0; k < 20000; k++) {
            sim_v3 p = {random_uniform(&r, -0.8, 0.8), random_uniform(&r, -0.8, 0.8), random_uniform(&r, -0.8, 0.8)}, n;
            double d = sim_field_distance(g->field, p, &n);
            real e = own_distance(kind, vec_from(p));
            if (e > 0) {
                worst = fmax(worst, fabs(d - (double)e));
            } else if (kind < 3) {
                inside = fmax(inside, fabs(d - (double)e));
            }
            cr_assert(d <= 0 || e >= 0, "%s: %g where it is %Lg", kind_name[kind], d, e);
            vec s = slope(kind, vec_from(p));
            if (e > 0.001L && fabsl(length(s) - 1) < 1e-9L) {
                gradient = fmax(gradient, (double)length(minus(s, vec_from(n))));
            }
        }
        cr_expect_lt(worst, 1e-12, "%s: off by %g outside", kind_name[kind], worst);
        cr_expect_lt(inside, 1e-12, "%s: off by %g inside", kind_name[kind], inside);
        cr_expect_lt(gradient, 1e-6, "%s: gradient off by %g", kind_name[kind], gradient);
        sim_geometry_free(g);
    }
}

/* ---- shapes on fields ---- */

typedef struct counts {
    long scenes, missed, spurious, gap, surface, number, deep, stuck, identity, swap;
    double worst_gap, worst_surface, worst_depth;
} counts;

typedef struct place {
    int kind;
    sim_shape a, field;
    sim_pose X_a, X;
    double margin, smaller;
} place;

static vec local_of(const place *p, vec x) { return turn_back(mat_from(p->X.R), minus(x, vec_from(p->X.p))); }

/* Least distance of the solid from the field's, and where; by projections to and fro, from all around the solid. */
static real gap_of(const place *p, const solid *a, vec *normal) {
    real best = HUGE_VALL;
    vec at = a->p;
    for (int start = 0; start < 26; start++) {
        vec d = vec_of(start % 3 - 1, start / 3 % 3 - 1, start / 9 - 1);
        vec x = solid_nearest(a, length(d) > 0 ? along(a->p, 2 * a->extent / length(d), d) : a->p);
        real last = HUGE_VALL;
        for (int k = 0; k < 4000; k++) {
            vec y = local_of(p, x);
            real g = own_distance(p->kind, y);
            if (g < best) {
                best = g;
                at = x;
            }
            if (g <= a->radius || last - g < 1e-12L) {
                break;
            }
            last = g;
            x = solid_nearest(a, along(x, -g, turn(mat_from(p->X.R), slope(p->kind, y))));
        }
    }
    *normal = turn(mat_from(p->X.R), slope(p->kind, local_of(p, at)));
    return best - a->radius;
}

static void show(const place *p, const char *what, double expected, double got, const sim_contact_point *c, int n) {
    const char *most = getenv("SIM_ORACLE_SHOW");
    static int shown;
    if (shown++ >= (most ? atoi(most) : 1)) {
        return;
    }
    scene s = {.a = p->a, .b = p->field, .X_a = p->X_a, .X_b = p->X, .margin = p->margin};
    s.b.geometry = NULL;
    fprintf(stderr, "%s on field %s: %s: expected %.17g, got %.17g\n", sim_shape_name(p->a.type), kind_name[p->kind],
            what, expected, got);
    scene_print(stderr, &s);
    for (int k = 0; k < n && k < 12; k++) {
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

static void check_points(const place *p, const solid *a, const sim_contact_point *c, int n, counts *sum) {
    for (int k = 0; k < n; k++) {
        vec x = vec_from(c[k].position), m = vec_from(c[k].normal);
        if (!isfinite(c[k].gap) || !(fabsl(length(m) - 1) < 1e-12L) || !(length(x) < 1e9L) || c[k].gap > p->margin) {
            sum->number++;
            show(p, "number", 1, (double)length(m), c + k, 1);
            return;
        }
        double off = (double)fmaxl(fabsl(solid_surface(a, along(x, c[k].gap / 2, m))),
                                   fabsl(own_distance(p->kind, local_of(p, along(x, -c[k].gap / 2, m)))));
        sum->worst_surface = fmax(sum->worst_surface, off / p->smaller);
        if (off > 0.01 * p->smaller) {
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

static void check_way_out(place p, double depth, const sim_contact_point *c, int n, counts *sum) {
    sim_contact_point point[MOST];
    int first = deepest(c, n);
    if (first < 0 || c[first].gap > -1e-3 * depth) {
        sum->missed++;
        show(&p, "inside, but nothing found", -depth, first < 0 ? 0 : c[first].gap, c, n);
        return;
    }
    sum->worst_depth = fmax(sum->worst_depth, -c[first].gap / depth);
    if (c[first].gap < -1.05 * depth - 1e-6 * p.smaller) {
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
        n = sim_collide_shapes(&p.a, &p.X_a, &p.field, &p.X, p.margin, point, MOST);
        n = n > MOST ? MOST : n;
    }
    sum->stuck++;
    show(&p, "no way out", 0, depth, point, n);
}

/* From outside (or from within the hollow) towards the surface until the gap is `target`. */
static int bring(random_source *r, place *p, solid *a, double target) {
    vec normal, d = vec_from(random_unit(r));
    real away = p->kind == 5 ? random_uniform(r, 0, 0.1) : p->kind == 4 ? random_uniform(r, 0, 0.6) : 1.2L;
    p->X_a.p = vec_plain(along(vec_from(p->X.p), away, d));
    solid_of(&p->a, &p->X_a, vec_of(0, 0, 0), a);
    if (own_distance(p->kind, local_of(p, a->p)) <= 0) {
        return 0;
    }
    real gap = gap_of(p, a, &normal);
    if (gap < 1e-3L * p->smaller || gap < target || fabsl(length(normal) - 1) > 1e-6L) {
        return 0;
    }
    p->X_a.p = vec_plain(along(vec_from(p->X_a.p), target - gap, normal));
    solid_of(&p->a, &p->X_a, vec_of(0, 0, 0), a);
    return 1;
}

static void check_scene(random_source *r, place *p, counts *sum, double allowed) {
    static solid a;
    static sim_contact_point point[MOST], other[MOST];
    int which = random_index(r, 4);
    double target = which == 0   ? p->margin * random_uniform(r, 1.01, 2)
                    : which == 1 ? p->margin * random_uniform(r, 0, 0.99)
                    : which == 2 ? p->smaller * random_uniform(r, -1e-9, 1e-9)
                                 : -p->smaller * random_uniform(r, 1e-4, 0.05);
    if (!bring(r, p, &a, target)) {
        return;
    }
    int n = sim_collide_shapes(&p->a, &p->X_a, &p->field, &p->X, p->margin, point, MOST);
    n = n > MOST ? MOST : n;
    sum->scenes++;
    check_points(p, &a, point, n, sum);
    int d = deepest(point, n);
    if (which == 0) {
        sum->spurious += n > 0;
        if (n) {
            show(p, "farther than the margin", target, point[d].gap, point, n);
        }
    } else if (which < 3) {
        double error = d < 0 ? HUGE_VAL : fabs(point[d].gap - target);
        sum->missed += d < 0;
        sum->worst_gap = d < 0 ? sum->worst_gap : fmax(sum->worst_gap, error / p->smaller);
        if (error > allowed * p->smaller) {
            sum->gap += d >= 0;
            show(p, d < 0 ? "nothing found" : "gap", target, d < 0 ? 0 : point[d].gap, point, n);
        }
    } else {
        check_way_out(*p, -target, point, n, sum);
    }
    int m = sim_collide_shapes(&p->field, &p->X, &p->a, &p->X_a, p->margin, other, MOST);
    sum->swap += m != n || (n && fabs(other[deepest(other, m)].gap - point[d].gap) > 1e-9 * p->smaller);
}

static void hold_type(sim_shape_type type, long scenes) {
    stock from;
    stock_make(&from);
    random_source r = {2000 + (uint64_t)type};
    const char *asked = getenv("SIM_ORACLE_SCENES");
    scenes = asked ? atol(asked) : scenes;
    for (int kind = 0; kind < KINDS; kind++) {
        counts sum;
        memset(&sum, 0, sizeof sum);
        sim_geometry *g = field_of(kind);
        for (long k = 0; k < scenes; k++) {
            place p = {.kind = kind, .field = sim_shape_default()};
            p.field.type = SIM_SDF;
            p.field.geometry = g;
            p.a = shape_random(&r, &from, type, 0);
            for (int i = 0; i < 3; i++) {
                p.a.size[i] *= 0.2;
            }
            static solid a;
            p.X_a = (sim_pose){random_rotation(&r), {0, 0, 0}};
            p.X = (sim_pose){random_rotation(&r), {random_uniform(&r, -1, 1), random_uniform(&r, -1, 1), 0}};
            solid_of(&p.a, &p.X_a, vec_of(0, 0, 0), &a);
            p.smaller = fmin((double)a.extent, 0.5);
            p.margin = 0.05 * p.smaller;
            check_scene(&r, &p, &sum, 1e-3);
        }
        sim_geometry_free(g);
        long wrong = sum.missed + sum.spurious + sum.gap + sum.surface + sum.number + sum.deep + sum.stuck + sum.swap +
                     sum.identity;
        if (getenv("SIM_ORACLE_TABLE")) {
            fprintf(stderr,
                    "%-10s field %-8s %5ld scenes  gap %8.1e  surface %8.1e  depth/pushed %.3f  missed %ld spurious "
                    "%ld gap "
                    "%ld surface %ld number %ld deep %ld stuck %ld swap %ld identity %ld\n",
                    sim_shape_name(type), kind_name[kind], sum.scenes, sum.worst_gap, sum.worst_surface,
                    sum.worst_depth, sum.missed, sum.spurious, sum.gap, sum.surface, sum.number, sum.deep, sum.stuck,
                    sum.swap, sum.identity);
        }
        cr_expect(sum.scenes > scenes / 8 || type == SIM_CONVEX, "%s on %s: %ld scenes", sim_shape_name(type),
                  kind_name[kind], sum.scenes);
        cr_expect_eq(wrong, 0, "%s on field %s: %ld faults in %ld scenes", sim_shape_name(type), kind_name[kind], wrong,
                     sum.scenes);
    }
    stock_free(&from);
}

Test(oracle_field, balls_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_SPHERE, 80); }
Test(oracle_field, boxes_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_BOX, 20); }
Test(oracle_field, capsules_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_CAPSULE, 40); }
Test(oracle_field, cylinders_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_CYLINDER, 40); }
Test(oracle_field, ellipsoids_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_ELLIPSOID, 40); }
