/* Distance fields: the fields themselves, and shapes on them.
 *
 * Fields of boxes, balls, cylinders and their unions are compared with the convex solids they are; a bowl and a hollow
 * with the distance written down here, by alternating projections between the two solids from many starts.  Inside,
 * what must hold is held, as in oracle_mesh. */
#include "oracle/encounter.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 6 };
static const char *const kind_name[KINDS] = {"ball", "box", "rod", "dumbbell", "bowl", "hollow"};

/* ---- distances written down a second time ---- */

static const double profile[5][2] = {{0, -0.3}, {0.15, -0.28}, {0.3, -0.18}, {0.38, 0}, {0.4, 0.2}};
static const double wall = 0.03;

static real segment_distance(real x, real y, const double *a, const double *b) {
    real ux = b[0] - a[0], uy = b[1] - a[1], t = ((x - a[0]) * ux + (y - a[1]) * uy) / (ux * ux + uy * uy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return real_hypot(x - a[0] - t * ux, y - a[1] - t * uy);
}

static real box_distance(vec p, real x, real y, real z) {
    vec q = vec_of(fabsl(p.x) - x, fabsl(p.y) - y, fabsl(p.z) - z);
    vec out = vec_of(real_max(q.x, 0), real_max(q.y, 0), real_max(q.z, 0));
    real in = real_max(q.x, real_max(q.y, q.z));
    return length(out) + real_min(in, 0);
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
        real r = real_hypot(p.x, p.y) - 0.25L, z = fabsl(p.z) - 0.35L;
        return r > 0 && z > 0 ? real_hypot(r, z) : real_max(r, z);
    }
    case 3:
        d = box_distance(p, 0.1L, 0.1L, 0.3L);
        d = real_min(d, length(minus(p, vec_of(0, 0, 0.3L))) - 0.2L);
        return real_min(d, length(plus(p, vec_of(0, 0, 0.3L))) - 0.25L);
    case 4:
        for (int k = 0; k < 4; k++) {
            d = real_min(d, segment_distance(real_hypot(p.x, p.y), p.z, profile[k], profile[k + 1]));
        }
        return d - wall;
    default: /* a box with a ball taken out: the distance itself inside the hollow and outside the box */
        return real_max(box_distance(p, 0.4L, 0.4L, 0.4L), 0.35L - length(p));
    }
}

static sim_geometry *build_field(int kind) {
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

/* Kept for all cases of this process. */
static const sim_geometry *field_of(int kind) {
    static sim_geometry *kept[KINDS];
    return kept[kind] ? kept[kind] : (kept[kind] = build_field(kind));
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
        const sim_geometry *g = field_of(kind);
        double worst = 0, inside = 0, gradient = 0;
        for (int k = 0; k < trials_of(20000); k++) {
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
    }
}

/* ---- shapes on fields ---- */

typedef struct meeting {
    int kind;
    sim_pose X; /* of the field */
    solid *a;
} meeting;

static vec local_of(const meeting *p, vec x) { return turn_back(mat_from(p->X.R), minus(x, vec_from(p->X.p))); }

/* Least distance of the solid from the field's, and where; by projections to and fro, from all around the solid. */
static real gap_of(const meeting *p, vec *normal) {
    const solid *a = p->a;
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

/* The first three are convex solids. */
static real gap_of_solid(const meeting *m, vec *normal) {
    static solid s;
    sim_shape equal = sim_shape_default();
    equal.type = m->kind == 0 ? SIM_SPHERE : m->kind == 1 ? SIM_BOX : SIM_CYLINDER;
    equal.size[0] = m->kind == 0 ? 0.35 : m->kind == 1 ? 0.5 : 0.25;
    equal.size[1] = m->kind == 1 ? 0.4 : 0.7;
    equal.size[2] = 0.7;
    solid_of(&equal, &m->X, vec_of(0, 0, 0), &s);
    truth t = solid_gap(m->a, &s);
    *normal = t.normal;
    return t.gap;
}

static real from_solid(const void *context, vec place) { return solid_surface(((const meeting *)context)->a, place); }
static real from_field(const void *context, vec place) {
    const meeting *m = context;
    return own_distance(m->kind, local_of(m, place));
}

/* From outside (or from within the hollow) towards the surface until the gap is `target`. */
static real distance_now(encounter *e, vec *normal) {
    const meeting *m = e->context;
    solid_of(&e->a, &e->X_a, vec_of(0, 0, 0), m->a);
    return m->kind < 3 ? gap_of_solid(m, normal) : gap_of(m, normal);
}

static int bring(random_source *r, encounter *e, const meeting *m, double *target) {
    vec d = vec_from(random_unit(r));
    real away = m->kind == 5 ? random_uniform(r, 0, 0.1) : m->kind == 4 ? random_uniform(r, 0, 0.6) : 1.2L;
    e->X_a.p = vec_plain(along(vec_from(e->X_b.p), away, d));
    if (own_distance(m->kind, local_of(m, vec_from(e->X_a.p))) <= 0) {
        return 0;
    }
    return encounter_approach(e, distance_now, target);
}

static void hold_type(sim_shape_type type, long scenes) {
    static solid a;
    stock from;
    stock_make(&from);
    random_source r = {2000 + (uint64_t)type};
    scenes = oracle_scenes(scenes);
    int first = is_part() ? (int)type % KINDS : 0, end = is_part() ? first + 1 : KINDS;
    for (int kind = first; kind < end; kind++) {
        counts sum;
        memset(&sum, 0, sizeof sum);
        const sim_geometry *g = field_of(kind);
        for (long k = 0; k < scenes; k++) {
            encounter e = {.name = kind_name[kind],
                           .b = sim_shape_default(),
                           .from_a = from_solid,
                           .from_b = from_field,
                           .allowed = 1e-3,
                           .rough = kind > 2};
            e.b.type = SIM_SDF;
            e.b.geometry = g;
            encounter_begin(&e, &r, &from, type, 0.2, &a);
            meeting both = {kind, e.X_b, &a};
            e.context = &both;
            double target = encounter_gap(&r, &e);
            if (bring(&r, &e, &both, &target)) {
                encounter_check(&e, target, &sum);
            }
        }
        counts_print(sim_shape_name(type), kind_name[kind], &sum);
        cr_expect_gt(sum.scenes, scenes / 8);
        cr_expect_eq(sum.wrong, 0, "%s on field %s: %ld faults in %ld scenes", sim_shape_name(type), kind_name[kind],
                     sum.wrong, sum.scenes);
    }
    stock_free(&from);
}

Test(oracle_field, balls_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_SPHERE, 80); }
Test(oracle_field, boxes_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_BOX, 20); }
Test(oracle_field, capsules_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_CAPSULE, 40); }
Test(oracle_field, cylinders_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_CYLINDER, 40); }
Test(oracle_field, ellipsoids_touch_fields_as_near_as_the_distance_says) { hold_type(SIM_ELLIPSOID, 40); }
