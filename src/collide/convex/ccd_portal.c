/* Exit of a ray from the Minkowski difference of two solids, with the normal there.
 *
 * Portal refinement by libccd (MPR; Snethen, "XenoCollide", 2008).  As a seed for every overlap it costs more than it
 * saves.  Its own answer is not the least depth.  So it serves only where the polytope of depth.c runs out of room:
 * hulls of more than about a thousand corners, deep in each other.  There its directions, checked and polished like any
 * other, are second candidates, of which 5 in 261 were lower.  Its GJK and EPA are not used: they allocate, and return
 * directions that are no numbers. */
#include "collide/convex/minkowski.h"

#include <ccd/ccd.h>

typedef struct fenced {
    const convex *solid;
    pose X;      /* lengths over `size` */
    v3 centre;   /* where the ray begins */
    double size; /* of the pair */
    int fuel;    /* support calls left */
} fenced;

enum { MAX_CCD_ITERATIONS = 200 };

/* Two of its loops end only by what this function says: without fuel it says that nothing lies ahead. */
static void fenced_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out) {
    fenced *f = (fenced *)(uintptr_t)object; /* NOLINT(performance-no-int-to-ptr): libccd adds the const */
    v3 u = {direction->v[0], direction->v[1], direction->v[2]}, p = {0, 0, 0};
    double length = v3_norm(u);
    uint32_t vertex;
    if (f->fuel-- <= 0 || !(length > DBL_MIN) || !(length < DBL_MAX)) {
        p = v3_scale(-1e3, u);
    } else {
        u = v3_scale(1 / length, u);
        p = convex_support(f->solid, m3_transposed_times(f->X.R, u), &vertex);
        p = pose_point(f->X, v3_scale(1 / f->size, p));
    }
    ccdVec3Set(out, p.x, p.y, p.z);
}

static void fenced_centre(const void *object, ccd_vec3_t *out) {
    const fenced *f = object;
    ccdVec3Set(out, f->centre.x, f->centre.y, f->centre.z);
}

bool mink_portal(const minkowski *m, v3 ray, double below, mink_direction *out) {
    double size = m->a->extent + m->b->extent;
    v3 half = v3_scale(0.5 / size, m->X_ab.p); /* both near the origin of the frame */
    fenced a = {m->a, {m3_identity(), v3_neg(half)}, v3_scale(-0.5 * below / size, ray), size, MAX_CCD_ITERATIONS};
    fenced b = {m->b, {m->X_ab.R, half}, {0, 0, 0}, size, MAX_CCD_ITERATIONS};
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = fenced_support;
    ccd.center1 = ccd.center2 = fenced_centre;
    ccd.max_iterations = MAX_CCD_ITERATIONS;
    ccd.mpr_tolerance = 1e-12;
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    if (ccdMPRPenetration(&a, &b, &ccd, &depth, &direction, &position) != 0) {
        return false;
    }
    v3 u = {direction.v[0], direction.v[1], direction.v[2]};
    double length = v3_norm(u);
    if (!(fabs(length - 1) < 1e-6)) {
        return false;
    }
    out->u = v3_scale(1 / length, u);
    out->h = v3_dot(out->u, mink_support(m, out->u).d);
    out->slope = HUGE_VAL;
    return true;
}
