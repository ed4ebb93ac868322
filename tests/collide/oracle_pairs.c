/* Meshes, height fields, distance fields and half-spaces among themselves: every triangle against every triangle; a
 * field of a ball, a box or a rod stands for the convex solid that it is. */
#include "oracle/encounter.h"
#include "oracle/triangles.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef enum thing {
    GROUND, /* a half-space */
    HULL,
    TORUS,
    ELL,
    STAR,
    HEIGHTS,
    FIELD_BALL,
    FIELD_BOX,
    FIELD_ROD,
    THINGS,
} thing;

static const char *const thing_name[THINGS] = {"half-space", "hull",       "torus",     "L",        "star",
                                               "heights",    "field ball", "field box", "field rod"};

typedef struct object {
    thing is;
    sim_shape shape;
    sim_shape equal; /* of a field: the solid that it is */
    sim_pose X;
    solid solid; /* or else */
    triangles t;
} object;

static int is_solid(const object *o) { return o->is <= HULL || o->is >= FIELD_BALL; }

static sim_geometry *field(sim_field_type type, double x, double y, double z) {
    sim_field_def d = sim_field_default();
    sim_error error;
    d.type = type;
    d.size[0] = x, d.size[1] = y, d.size[2] = z;
    return sim_geometry_field(&d, 0, NULL, &error);
}

static sim_geometry *geometry_of(thing is, const stock *from) {
    switch (is) {
    case HULL:
        return from->hull[0][4];
    case TORUS:
        return torus_mesh(0.5, 0.2, 12, 8);
    case ELL:
        return ell_mesh();
    case STAR:
        return star_mesh();
    case HEIGHTS:
        return ground_heights();
    case FIELD_BALL:
        return field(SIM_FIELD_SPHERE, 0.3, 0, 0);
    case FIELD_BOX:
        return field(SIM_FIELD_BOX, 0.5, 0.3, 0.4);
    case FIELD_ROD:
        return field(SIM_FIELD_CYLINDER, 0.2, 0.6, 0);
    default:
        return NULL;
    }
}

static void make(object *o, thing is, const sim_geometry *g) {
    static const sim_shape_type type[THINGS] = {SIM_HALF_SPACE,   SIM_CONVEX, SIM_MESH, SIM_MESH, SIM_MESH,
                                                SIM_HEIGHT_FIELD, SIM_SDF,    SIM_SDF,  SIM_SDF};
    o->is = is;
    o->shape = o->equal = sim_shape_default();
    o->shape.type = type[is];
    o->shape.geometry = g;
    if (is >= FIELD_BALL) {
        static const double size[3][3] = {{0.3, 0, 0}, {0.5, 0.3, 0.4}, {0.2, 0.6, 0}};
        o->equal.type = is == FIELD_BALL ? SIM_SPHERE : is == FIELD_BOX ? SIM_BOX : SIM_CYLINDER;
        memcpy(o->equal.size, size[is - FIELD_BALL], sizeof size[0]);
    } else {
        o->equal = o->shape;
    }
}

static void put(object *o) {
    if (is_solid(o)) {
        solid_of(&o->equal, &o->X, vec_of(0, 0, 0), &o->solid);
    } else {
        triangles_of(o->shape.geometry, &o->X, vec_of(0, 0, 0), &o->t);
    }
}

static real gap_of(const object *a, const object *b, vec *normal) {
    int which;
    if (is_solid(a) && is_solid(b)) {
        truth t = solid_gap(&a->solid, &b->solid);
        *normal = t.normal;
        return t.gap;
    }
    if (is_solid(a)) {
        return triangles_gap(&b->t, &a->solid, normal, &which);
    }
    if (is_solid(b)) {
        real gap = triangles_gap(&a->t, &b->solid, normal, &which);
        *normal = times(-1, *normal);
        return gap;
    }
    real best = HUGE_VALL;
    for (int k = 0; k < a->t.count; k++) {
        static solid one;
        vec n;
        triangle_solid(&one, a->t.corner[k]);
        real gap = triangles_gap(&b->t, &one, &n, &which);
        if (gap < best) {
            best = gap;
            *normal = n;
        }
    }
    return best;
}

typedef struct meeting {
    object *a, *b;
} meeting;

static real from(const object *o, vec place) {
    return is_solid(o) ? solid_surface(&o->solid, place) : triangles_distance(&o->t, place);
}
static real from_a(const void *context, vec place) { return from(((const meeting *)context)->a, place); }
static real from_b(const void *context, vec place) { return from(((const meeting *)context)->b, place); }

static real distance_now(encounter *e, vec *normal) {
    const meeting *m = e->context;
    m->a->X = e->X_a;
    put(m->a);
    return gap_of(m->a, m->b, normal);
}

/* A far outside B, turned at random, then towards it until the gap is `target`; from above, where B has an above. */
static int bring(random_source *r, encounter *e, const meeting *m, double *target) {
    vec normal, d = vec_from(random_unit(r));
    int above = m->b->is == GROUND || m->b->is == HEIGHTS, below = m->a->is == GROUND || m->a->is == HEIGHTS;
    e->X_a = m->a->X = (sim_pose){random_rotation(r), {0, 0, 0}};
    e->X_b = m->b->X = (sim_pose){random_rotation(r), {0, 0, 0}};
    if (above || below) {
        vec up = above ? vec_from(e->X_b.R.z) : times(-1, vec_from(e->X_a.R.z));
        d = unit(along(times(0.3L, d), 1, up));
    }
    e->X_a.p = vec_plain(times(1.8L, d));
    put(m->b);
    distance_now(e, &normal);
    if (m->b->is == HEIGHTS && dot(normal, vec_from(e->X_b.R.z)) < 0.3L) {
        return 0;
    }
    if (m->a->is == HEIGHTS && dot(normal, vec_from(e->X_a.R.z)) > -0.3L) {
        return 0;
    }
    return encounter_approach(e, distance_now, target);
}

static void hold(thing ka, thing kb, long scenes) {
    static object a, b;
    stock some;
    stock_make(&some);
    sim_geometry *ga = geometry_of(ka, &some), *gb = geometry_of(kb, &some);
    random_source r = {(uint64_t)(3000 + 100 * ka + kb)};
    counts sum;
    memset(&sum, 0, sizeof sum);
    make(&a, ka, ga);
    make(&b, kb, gb);
    meeting both = {&a, &b};
    char name[64];
    snprintf(name, sizeof name, "%s - %s", thing_name[ka], thing_name[kb]);
    scenes = oracle_scenes(scenes);
    for (long k = 0; k < scenes; k++) {
        encounter e = {.name = name,
                       .a = a.shape,
                       .b = b.shape,
                       .margin = 0.02,
                       .smaller = 0.4,
                       .from_a = from_a,
                       .from_b = from_b,
                       .context = &both,
                       .allowed = ka >= FIELD_BALL || kb >= FIELD_BALL ? 1e-3 : 1e-6,
                       .far_off = 0.01};
        double target = encounter_gap(&r, &e);
        if (bring(&r, &e, &both, &target)) {
            encounter_check(&e, target, &sum);
        }
    }
    counts_print(thing_name[ka], thing_name[kb], &sum);
    cr_expect_gt(sum.scenes, scenes / 5, "%s: %ld scenes", name, sum.scenes);
    cr_expect_eq(sum.wrong, 0, "%s: %ld faults in %ld scenes", name, sum.wrong, sum.scenes);
    if (ka != HULL) {
        sim_geometry_free(ga);
    }
    if (kb != HULL) {
        sim_geometry_free(gb);
    }
    triangles_free(&a.t);
    triangles_free(&b.t);
    stock_free(&some);
}

Test(oracle_pairs, half_spaces_touch_surfaces_and_fields_where_their_lowest_point_is) {
    for (int k = TORUS; k < THINGS; k++) {
        if (k != HEIGHTS) {
            hold(GROUND, (thing)k, 60);
        }
    }
}

Test(oracle_pairs, meshes_touch_meshes_as_near_as_their_nearest_triangles) {
    hold(TORUS, ELL, 12);
    hold(ELL, ELL, 40);
    hold(ELL, STAR, 12);
    hold(TORUS, TORUS, 8);
}

Test(oracle_pairs, meshes_touch_ground_as_near_as_their_nearest_triangles) {
    hold(ELL, HEIGHTS, 20);
    hold(TORUS, HEIGHTS, 8);
}

Test(oracle_pairs, meshes_and_ground_touch_fields_as_the_solids_they_are) {
    for (int k = FIELD_BALL; k < FIELD_ROD; k++) {
        hold(TORUS, (thing)k, 20);
        hold(ELL, (thing)k, 40);
        hold(HEIGHTS, (thing)k, 20);
    }
}

Test(oracle_pairs, fields_and_hulls_touch_fields_as_the_solids_they_are) {
    for (int j = FIELD_BALL; j < THINGS; j++) {
        hold(HULL, (thing)j, 40);
        for (int k = j; k < THINGS; k++) {
            hold((thing)j, (thing)k, 40);
        }
    }
}
