/* The M48 bolt and its nut: contact all along the flanks, and a nut that goes down as it turns. */
#include "collide/contact/pair.h"
#include "geometry/field/field_mesh.h"
#include "support/contacts.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846, CLEARANCE = 5e-5, EDGE = 0.004, MARGIN = 5e-5;

typedef struct assembly {
    sim_shape bolt, nut;
} assembly;

/* Built once for all cases of this process: that takes longer than most of them. */
static const assembly *fine(void) {
    static assembly kept;
    if (!kept.bolt.geometry) {
        kept = (assembly){bolt_shape(CLEARANCE, EDGE), nut_shape(CLEARANCE, EDGE)};
    }
    return &kept;
}

/* The helicoid z = const + lead phi - (r - r0) tan(30 deg) and its unit normal, pointing up; at radius r. */
static v3 flank_normal(v3 at, int upper) {
    double r = hypot(at.x, at.y), lead = M48_PITCH / (2 * PI), t = tan(PI / 6);
    v3 out = {at.x / r, at.y / r, 0}, around = {-at.y / r, at.x / r, 0};
    v3 n = v3_add(v3_scale(upper ? t : -t, out), v3_scale(-lead / r, around));
    n.z = 1;
    return v3_scale((upper ? 1 : -1) / v3_norm(n), n);
}

/* Play along the axis that is left between each pair of flanks: both have moved back by the clearance, along the
 * normal. */
static double play(void) {
    double lead = M48_PITCH / (2 * PI), r = 0.0227; /* the lead angle changes little over the flank */
    return 2 * CLEARANCE * sqrt(1 + tan(PI / 6) * tan(PI / 6) + lead * lead / (r * r));
}

/* The nut let down by `drop`, turned by `angle` and let down a pitch a turn as well if it `screws`. */
static pose nut_at(double drop, double angle, int screws) {
    pose X = {m3_axis_angle(v3_make(0, 0, 1), angle), {0, 0, -drop}};
    X.p.z += screws ? angle / (2 * PI) * M48_PITCH : 0;
    return X;
}

Test(bolt_nut, contacts_lie_on_the_flanks_and_face_as_the_flanks_do) {
    const assembly *a = fine();
    contacts c = contacts_of(&a->bolt, &a->nut, nut_at(play(), 0.3, 1), MARGIN, NULL, 0);
    cr_assert(c.count >= 100 && c.count <= 120, "%d contacts", c.count);
    double worst = 0, low = HUGE_VAL, high = -HUGE_VAL;
    int near = 0;
    for (int k = 0; k < c.count; k++) {
        v3 x = c.point[k].position;
        double r = hypot(x.x, x.y);
        cr_assert(r > 0.0210 && r < 0.0242 && fabs(x.z) < 0.0195);
        /* The nut has come down onto the ridge's upper flank: the bolt's contact normal points down and inwards. */
        worst = fmax(worst, acos(fmin(1, -v3_dot(c.point[k].normal, flank_normal(x, 1)))));
        low = fmin(low, x.z);
        high = fmax(high, x.z);
        cr_assert(c.point[k].gap > -5e-6 && c.point[k].gap < 2e-5, "%g",
                  c.point[k].gap); /* crests stand off a little */
        near += fabs(c.point[k].gap) < 5e-7;
    }
    cr_assert_geq(near, 100);
    cr_assert_lt(worst, 5 * PI / 180);
    cr_assert_lt(worst, 0.1 * PI / 180, "normals off by %g deg", worst * 180 / PI);
    cr_assert(low < -0.016 && high > 0.016, "from %g to %g", low, high); /* along the whole nut */
    free(c.point);
}

Test(bolt_nut, lies_on_the_other_flank_when_lifted) {
    const assembly *a = fine();
    contacts c = contacts_of(&a->bolt, &a->nut, nut_at(-play(), 0.3, 1), MARGIN, NULL, 0);
    cr_assert_geq(c.count, 100);
    for (int k = 0; k < c.count; k++) {
        cr_assert_gt(-v3_dot(c.point[k].normal, flank_normal(c.point[k].position, 0)), cos(0.1 * PI / 180));
    }
    free(c.point);
}

static double least_gap(const assembly *a, pose X, double margin) {
    contacts c = contacts_of(&a->bolt, &a->nut, X, margin, NULL, 0);
    double least = c.count ? c.point[deepest_of(&c)].gap : HUGE_VAL;
    free(c.point);
    return least;
}

/* In the middle of its play no flank is nearer than the clearance of both. */
Test(bolt_nut, gap_is_the_clearance_where_the_nut_floats) {
    const assembly *a = fine();
    cr_assert_float_eq(least_gap(a, nut_at(0, 0, 1), 1e-3), 2 * CLEARANCE, 1e-7);
    cr_assert_float_eq(least_gap(a, nut_at(0.5 * play(), 2, 1), 1e-3), CLEARANCE, 1e-6);
}

Test(bolt_nut, least_gap_stays_while_the_nut_goes_down_a_pitch_a_turn) {
    const assembly *a = fine();
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < 60; k++) { /* three turns */
        double gap = least_gap(a, nut_at(play(), -3 * 2 * PI * k / 60 - 0.123 * k, 1), MARGIN);
        low = fmin(low, gap);
        high = fmax(high, gap);
    }
    cr_log_warn("least gap over several turns: %.4f to %.4f um", 1e6 * low, 1e6 * high);
    cr_assert(high - low < 2e-7, "varies by %g um", 1e6 * (high - low));
}

/* Turned without going down it rises or sinks against the thread: by pitch / 2 pi times the angle, along the axis. */
Test(bolt_nut, gap_changes_when_the_nut_turns_and_does_not_descend) {
    const assembly *a = fine();
    double nz = 1 / (play() / (2 * CLEARANCE)), lead = M48_PITCH / (2 * PI);
    for (int k = 1; k <= 5; k++) {
        double angle = 0.02 * k;
        double deeper = least_gap(a, nut_at(play(), angle, 0), MARGIN);
        cr_assert_float_eq(deeper, -lead * angle * nz, 1e-6 + 0.01 * lead * angle, "%g rad: %g", angle, deeper);
    }
    double apart = least_gap(a, nut_at(0.5 * play(), -0.02, 0), 1e-3), sunk = 0.5 * play() - lead * 0.02;
    cr_assert_float_eq(apart, 2 * CLEARANCE - fabs(sunk) * nz, 1e-6);
}

static int shared(const uint64_t *kept, int nkept, const contacts *c) {
    int count = 0;
    for (int k = 0; k < c->count; k++) {
        for (int j = 0; j < nkept; j++) {
            count += kept[j] == c->point[k].feature;
        }
    }
    return count;
}

/* A slow turn: nearly all contacts of a step are there in the next. */
Test(bolt_nut, names_of_contacts_last) {
    const assembly *a = fine();
    uint64_t kept[128];
    int nkept = 0, lost = 0, steps = 20;
    for (int k = 0; k < steps; k++) {
        contacts c = contacts_of(&a->bolt, &a->nut, nut_at(play() + 1e-5, -1e-3 * k, 1), MARGIN, kept, nkept);
        lost += nkept - shared(kept, nkept, &c);
        nkept = c.count;
        for (int j = 0; j < c.count; j++) {
            kept[j] = c.point[j].feature;
        }
        free(c.point);
    }
    cr_assert_lt(lost, (steps - 1) * 120 / 20, "%d lost in %d steps", lost, steps - 1);
}

/* The geometry as it is built when nothing is said of its resolution: fewer triangles than it is drawn with meet, a few
 * hundred contacts come of them, and they are those of a fine surface. */
Test(bolt_nut, default_skin_gives_the_contacts_of_a_fine_one) {
    assembly a = {bolt_shape(CLEARANCE, 0), nut_shape(CLEARANCE, 0)};
    cr_assert_lt(8 * a.bolt.geometry->skin->mesh->ntriangle, a.bolt.geometry->mesh->ntriangle);
    cr_assert_lt(8 * a.nut.geometry->skin->mesh->ntriangle, a.nut.geometry->mesh->ntriangle);
    random_source r = {17};
    for (int k = 0; k < 10; k++) {
        pose X = nut_at(play() + 1e-5, random_uniform(&r, -3, 3), 1);
        X.p = v3_axpy(X.p, 1e-5, random_unit(&r));
        double x = least_gap(&a, X, MARGIN), y = least_gap(fine(), X, MARGIN);
        cr_assert_float_eq(x, y, 6e-7, "%g um, of a fine surface %g um", 1e6 * x, 1e6 * y);
    }
    contacts c = contacts_of(&a.bolt, &a.nut, nut_at(play(), 0.3, 1), MARGIN, NULL, 0);
    double low = HUGE_VAL, high = -HUGE_VAL;
    cr_assert(c.count >= 100 && c.count <= 120, "%d contacts", c.count);
    for (int k = 0; k < c.count; k++) {
        cr_assert_gt(-v3_dot(c.point[k].normal, flank_normal(c.point[k].position, 1)), cos(0.2 * PI / 180));
        low = fmin(low, c.point[k].position.z);
        high = fmax(high, c.point[k].position.z);
    }
    cr_assert(low < -0.016 && high > 0.016);
    free(c.point);
    shape_free(&a.bolt);
    shape_free(&a.nut);
}

/* A nut that is off the axis or tilted touches too; nothing is ever not a number. */
Test(bolt_nut, odd_poses_give_finite_contacts) {
    const assembly *a = fine();
    random_source r = {3};
    for (int k = 0; k < 40; k++) {
        double reach = k < 20 ? 2e-4 : 0.02, tilt = k < 20 ? 0.005 : 1;
        pose X = {m3_axis_angle(random_unit(&r), tilt * random_uniform(&r, -1, 1)), v3_scale(reach, random_unit(&r))};
        contacts c = contacts_of(&a->bolt, &a->nut, X, MARGIN, NULL, 0);
        cr_assert(c.count > 0 && c.count <= 120, "%d in pose %d", c.count, k);
        for (int j = 0; j < c.count; j++) {
            cr_assert(v3_finite(c.point[j].position) && isfinite(c.point[j].gap));
            cr_assert_float_eq(v3_norm(c.point[j].normal), 1, 1e-12);
        }
        free(c.point);
    }
}

/* ---- searches that may leave points out ---- */

typedef struct searching {
    const assembly *a;
    sim_arena *arena;
} searching;

static manifold search_at(searching *s, pose X, pair how) {
    manifold m = {0};
    how.a = &s->a->bolt;
    how.b = &s->a->nut;
    how.X_ab = X;
    how.arena = s->arena;
    pair_collide(&how, &m);
    cr_assert(!m.failed);
    return m;
}

static const contact_point *point_of_feature(const manifold *m, uint64_t feature) {
    for (int k = 0; k < m->count; k++) {
        if (m->point[k].feature == feature) {
            return &m->point[k];
        }
    }
    return NULL;
}

/* A step of 1/240 s at a turn a second.  Next to the features no fewer of them are found than in a search of all surfaces,
 * which keeps 120 points of any feature.  Those of both have the same gaps. */
Test(bolt_nut, search_next_to_features_finds_them_again) {
    searching s = {fine(), arena_create()};
    int again = 0, whole = 0, both = 0;
    for (int k = 0; k < 20; k++) {
        double angle = -0.3 * k, turn = 2 * PI / 240;
        arena_release(s.arena, 0);
        manifold start = search_at(&s, nut_at(play(), angle, 1), (pair){.margin = MARGIN});
        uint64_t kept[120];
        for (int i = 0; i < start.count; i++) {
            kept[i] = start.point[i].feature;
        }
        pose X = nut_at(play(), angle - turn, 1);
        pair how = {.margin = 4 * MARGIN, .kept = kept, .nkept = start.count};
        manifold all = search_at(&s, X, how);
        how.follows = true;
        manifold next = search_at(&s, X, how);
        for (int i = 0; i < start.count; i++) {
            const contact_point *p = point_of_feature(&all, kept[i]), *q = point_of_feature(&next, kept[i]);
            whole += p != NULL;
            again += q != NULL;
            both += p && q;
            cr_expect(!p || !q || fabs(p->gap - q->gap) < 1e-7, "gap %g, not %g", q->gap, p->gap);
        }
    }
    cr_log_warn("%d features again, %d of all surfaces, %d of both", again, whole, both);
    cr_expect_geq(again, whole);
    cr_expect_geq(both, whole / 2);
    arena_free(s.arena);
}

/* The nut anywhere in its play, aslant, and above the bolt: the search for the nearest point finds the least gap. */
Test(bolt_nut, search_for_the_nearest_point_finds_the_least_gap) {
    searching s = {fine(), arena_create()};
    for (int k = 0; k < 40; k++) {
        arena_release(s.arena, 0);
        pose X = nut_at(play() * (k % 5) / 4, 0.37 * k, 1);
        X.p.x = 2e-5 * (k % 3);
        X.R = m3_product(m3_axis_angle(v3_make(1, 0, 0), 1e-3 * (k % 4)), X.R);
        X.p.z += k >= 30 ? 0.06 : 0;
        manifold all = search_at(&s, X, (pair){.margin = 2e-3}),
                 nearest = search_at(&s, X, (pair){.margin = 2e-3, .nearest = true});
        double least = manifold_least_gap(&all, 0);
        cr_expect_eq(isfinite(least), isfinite(manifold_least_gap(&nearest, 0)));
        cr_expect(!isfinite(least) || fabs(least - manifold_least_gap(&nearest, 0)) < 1e-7, "case %d: %g, not %g", k,
                  manifold_least_gap(&nearest, 0), least);
    }
    arena_free(s.arena);
}
