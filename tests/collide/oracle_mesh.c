/* Surfaces of triangles against every triangle asked: meshes that are not convex, and height fields. */
#include "oracle/encounter.h"
#include "oracle/triangles.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SURFACES = 4 };

static sim_geometry *geometry_of(int which) {
    return which == 0   ? torus_mesh(0.5, 0.2, 18, 10)
           : which == 1 ? ell_mesh()
           : which == 2 ? star_mesh()
                        : ground_heights();
}
static const char *const surface_name[SURFACES] = {"torus", "L", "star", "ground"};

typedef struct meeting {
    solid *a;
    triangles *t;
} meeting;

static real from_solid(const void *context, vec place) { return solid_surface(((const meeting *)context)->a, place); }
static real from_triangles(const void *context, vec place) {
    return triangles_distance(((const meeting *)context)->t, place);
}

static real distance_now(encounter *e, vec *normal) {
    const meeting *m = e->context;
    int which;
    solid_of(&e->a, &e->X_a, vec_of(0, 0, 0), m->a);
    return triangles_gap(m->t, m->a, normal, &which);
}

/* Somewhere outside near the surface, then towards it until the gap is `target`. 0: no luck. */
static int bring(random_source *r, encounter *e, const meeting *m, double *target) {
    vec normal = {0, 0, 0};
    int which = 0;
    const triangles *t = m->t;
    triangles_of(e->b.geometry, &e->X_b, vec_of(0, 0, 0), m->t);
    const vec *c = t->corner[random_index(r, t->count)];
    real u = random_uniform(r, 0.05, 0.9), v = random_uniform(r, 0.05, 0.95) * (1 - u);
    vec at = along(along(c[0], u, minus(c[1], c[0])), v, minus(c[2], c[0]));
    vec out = unit(cross(minus(c[1], c[0]), minus(c[2], c[0])));
    e->X_a.p = vec_plain(along(at, (real)e->smaller * 1.2L, out));
    solid_of(&e->a, &e->X_a, vec_of(0, 0, 0), m->a);
    if (t->closed && triangles_winding(t, solid_support(m->a, vec_of(1, 0, 0))) > 0.5L) {
        return 0;
    }
    triangles_gap(t, m->a, &normal, &which);
    c = t->corner[which];
    if (!t->closed && dot(normal, unit(cross(minus(c[1], c[0]), minus(c[2], c[0])))) < 0.2L) {
        return 0; /* behind or beside an open surface */
    }
    return encounter_approach(e, distance_now, target);
}

static void hold_type(sim_shape_type type, long scenes) {
    static solid a;
    stock from;
    stock_make(&from);
    random_source r = {1000 + (uint64_t)type};
    scenes = oracle_scenes(scenes);
    triangles t = {0};
    meeting both = {&a, &t};
    int first = is_part() ? (int)type % SURFACES : 0, end = is_part() ? first + 1 : SURFACES;
    for (int which = first; which < end; which++) {
        counts sum;
        memset(&sum, 0, sizeof sum);
        sim_geometry *g = geometry_of(which);
        cr_assert_not_null(g);
        for (long k = 0; k < scenes; k++) {
            encounter e = {.name = surface_name[which],
                           .b = sim_shape_default(),
                           .from_a = from_solid,
                           .from_b = from_triangles,
                           .context = &both,
                           .allowed = 1e-6,
                           .far_off = 0.03}; /* a capsule's far end is its core's, moved along the normal */
            e.b.type = which == 3 ? SIM_HEIGHT_FIELD : SIM_MESH;
            e.b.geometry = g;
            encounter_begin(&e, &r, &from, type, 0.3, &a);
            double target = encounter_gap(&r, &e);
            if (bring(&r, &e, &both, &target)) {
                encounter_check(&e, target, &sum);
            }
        }
        sim_geometry_free(g);
        counts_print(sim_shape_name(type), surface_name[which], &sum);
        cr_expect_gt(sum.scenes, scenes / 4);
        cr_expect_eq(sum.wrong, 0, "%s on %s: %ld faults in %ld scenes", sim_shape_name(type), surface_name[which],
                     sum.wrong, sum.scenes);
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
