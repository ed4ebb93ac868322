/* Can the oracle be trusted?  Two methods for each quantity, neither of the library. */
#include "oracle/check.h"

#include <criterion/criterion.h>

static const sim_shape_type convex_types[] = {SIM_SPHERE,   SIM_BOX,       SIM_CAPSULE,
                                              SIM_CYLINDER, SIM_ELLIPSOID, SIM_CONVEX};
enum { TYPES = 6, EACH = 22 };

typedef void look(const scene *s, const solid *a, const solid *b, void *context);

static void over_scenes(look *see, void *context) {
    static solid a, b;
    stock from;
    stock_make(&from);
    random_source r = {7};
    for (int i = 0; i < TYPES; i++) {
        for (int j = i; j < TYPES; j++) {
            for (int k = 0; k < EACH; k++) {
                scene s;
                if (scene_random(&r, &from, convex_types[i], convex_types[j], (category)(k % CATEGORIES), &s)) {
                    solid_of(&s.a, &s.X_a, vec_from(s.X_b.p), &a);
                    solid_of(&s.b, &s.X_b, vec_from(s.X_b.p), &b);
                    see(&s, &a, &b, context);
                }
            }
        }
    }
    stock_free(&from);
}

static void compare_methods(const scene *s, const solid *a, const solid *b, void *context) {
    int *compared = context;
    if (a->kind == SOLID_POLY && b->kind == SOLID_POLY) {
        real least = real_min(a->least, b->least);
        truth x = poly_gap(a, b), y = sphere_gap(a, b, 1e-8L * least, 60000);
        cr_expect(x.gap >= y.gap - 1e-12L && x.gap <= y.gap + y.beyond + 1e-12L, "%s - %s, %s: %Lg, %Lg (+ %Lg)",
                  sim_shape_name(s->a.type), sim_shape_name(s->b.type), category_name[s->is], x.gap, y.gap, y.beyond);
        ++*compared;
    }
}

Test(oracle_self, exhaustive_axes_and_features_agree_with_the_search_of_the_sphere) {
    int compared = 0;
    over_scenes(compare_methods, &compared);
    cr_expect_geq(compared, 200);
}

static void compare_nearest(const scene *s, const solid *a, const solid *b, void *context) {
    int *compared = context;
    truth t = solid_gap(a, b);
    if (t.core > 0.01L * s->smaller && s->is != RATIO) {
        vec x, y;
        real d = nearest_points(a, b, 2000, &x, &y);
        cr_expect(d >= t.core - 1e-12L, "points nearer than the distance: %Lg, %Lg", d, t.core);
        cr_expect(d <= t.core + t.beyond + 1e-5L * s->smaller, "%s - %s, %s: distance %Lg, nearest points %Lg",
                  sim_shape_name(s->a.type), sim_shape_name(s->b.type), category_name[s->is], t.core, d);
        ++*compared;
    }
}

Test(oracle_self, projected_gradients_find_points_as_near_as_the_distance) {
    int compared = 0;
    over_scenes(compare_nearest, &compared);
    cr_expect_geq(compared, 50);
}

static void certain(const scene *s, const solid *a, const solid *b, void *context) {
    int *uncertain = context;
    truth t = solid_gap(a, b);
    real attained = solid_separation(a, b, t.normal);
    cr_expect(fabsl(attained - t.gap) < 1e-9L * s->smaller + 1e-12L * s->coordinate,
              "%s - %s, %s: %Lg, its normal gives %Lg", sim_shape_name(s->a.type), sim_shape_name(s->b.type),
              category_name[s->is], t.gap, attained);
    *uncertain += t.beyond > 1e-7L * s->smaller;
}

Test(oracle_self, normals_attain_their_gaps_and_nearly_all_gaps_are_proven) {
    int uncertain = 0;
    over_scenes(certain, &uncertain);
    cr_expect_leq(uncertain, 5, "%d scenes without proof", uncertain);
}

Test(oracle_self, a_box_from_its_corners_has_six_faces_and_twelve_edges) {
    sim_shape box = sim_shape_default();
    box.type = SIM_BOX;
    box.size[0] = 1, box.size[1] = 2, box.size[2] = 3;
    static solid s;
    sim_pose X = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    cr_assert(solid_of(&box, &X, vec_of(0, 0, 0), &s));
    cr_expect_eq(s.poly.nf, 6);
    cr_expect_eq(s.poly.ne, 12);
    for (int f = 0; f < s.poly.nf; f++) {
        cr_expect_eq(s.poly.corners[f], 4);
    }
    cr_expect_float_eq((double)solid_surface(&s, vec_of(0.1L, 0.2L, 0.3L)), -0.4, 1e-15);
    cr_expect_float_eq((double)solid_surface(&s, vec_of(3.5L, 5, 1)), 5, 1e-15);
}
