/* What is the signed distance of two convex solids, and along which direction?
 *
 * Cores apart: their distance (gjk.c), the direction of round ones made exact (polish.c), less both radii.  Cores that
 * overlap or touch: the least translation that parts them (depth.c), plus both radii. */
#include "collide/minkowski.h"

#include <ccd/ccd.h>

/* ---- libccd's Minkowski portal refinement, fenced ---- */

typedef struct fenced {
    const convex *solid;
    pose X;         /* in a frame at A's centre, lengths over `size` */
    double size;    /* of the pair */
    double inflate; /* so that what touches overlaps a little */
    int fuel;       /* support calls left */
} fenced;

enum { FUEL = 200 };

/* Two of its loops end only by what this function says: without fuel it says that nothing lies ahead. */
static void fenced_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out) {
    fenced *f = (fenced *)(uintptr_t)object;
    v3 u = {direction->v[0], direction->v[1], direction->v[2]}, p = {0, 0, 0};
    double length = v3_norm(u);
    uint32_t vertex;
    if (f->fuel-- <= 0 || !(length > DBL_MIN) || !(length < DBL_MAX)) {
        p = v3_scale(-1e3, u);
    } else {
        u = v3_scale(1 / length, u);
        p = convex_support(f->solid, m3_transposed_times(f->X.R, u), &vertex);
        p = v3_axpy(v3_add(m3_times(f->X.R, v3_scale(1 / f->size, p)), f->X.p), f->inflate, u);
    }
    ccdVec3Set(out, p.x, p.y, p.z);
}

static void fenced_centre(const void *object, ccd_vec3_t *out) {
    const fenced *f = object;
    v3 p = v3_add(m3_times(f->X.R, v3_scale(1 / f->size, f->solid->centre)), f->X.p);
    ccdVec3Set(out, p.x, p.y, p.z);
}

static int portal_direction(const minkowski *m, mink_direction *out) {
    double size = m->a->extent + m->b->extent;
    v3 origin = m->a->centre, at_b = v3_sub(m->X_ab.p, origin);
    fenced a = {m->a, {m3_identity(), v3_scale(-1 / size, origin)}, size, 1e-3, FUEL};
    fenced b = {m->b, {m->X_ab.R, v3_scale(1 / size, at_b)}, size, 1e-3, FUEL};
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = fenced_support;
    ccd.center1 = ccd.center2 = fenced_centre;
    ccd.max_iterations = 50;
    ccd.mpr_tolerance = m->curved ? 1e-3 : 1e-12;
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    if (ccdMPRPenetration(&a, &b, &ccd, &depth, &direction, &position) != 0) {
        return 0;
    }
    v3 u = {direction.v[0], direction.v[1], direction.v[2]};
    double length = v3_norm(u);
    if (!(fabs(length - 1) < 1e-6)) {
        return 0;
    }
    out->u = v3_scale(1 / length, u);
    out->h = v3_dot(out->u, mink_support(m, out->u).d);
    out->slope = HUGE_VAL;
    return 1;
}

/* ---- the pair ---- */

static int is_curved(const convex *c) { return c->kind == CONVEX_CYLINDER || c->kind == CONVEX_ELLIPSOID; }

static minkowski minkowski_of(const convex *a, const convex *b, const pose *X_ab) {
    double reach = a->extent + b->extent + v3_norm(a->centre) + v3_norm(b->centre) + v3_norm(X_ab->p);
    minkowski m = {.a = a, .b = b, .X_ab = *X_ab, .curved = is_curved(a) || is_curved(b)};
    m.grain = 2 * DBL_EPSILON * reach;
    m.least = fmin(a->least, b->least);
    return m;
}

static v3 between_centres(const minkowski *m) {
    v3 c = v3_sub(m->a->centre, pose_point(m->X_ab, m->b->centre));
    return v3_norm(c) > 1e-9 * (m->a->extent + m->b->extent) ? c : v3_make(1, 0, 0);
}

/* A pair of points of the two cores, farthest along u and -u, that lie `gap` apart along -u.  Where one is single, it
 * is one of them.  Else B is moved away until it stands clear: then the nearest points are these. */
static void witnesses(const minkowski *m, v3 u, double gap, v3 *on_a, v3 *on_b) {
    uint32_t vertex;
    v3 n = v3_neg(u);
    if (!mink_tied(m->a, u)) {
        *on_a = convex_support(m->a, u, &vertex);
    } else if (!mink_tied(m->b, m3_transposed_times(m->X_ab.R, n))) {
        *on_a = v3_axpy(pose_point(m->X_ab, convex_support(m->b, m3_transposed_times(m->X_ab.R, n), &vertex)), gap, n);
    } else {
        minkowski apart = *m;
        double clear = 0.5 * fmin(m->a->extent, m->b->extent);
        apart.X_ab.p = v3_axpy(apart.X_ab.p, clear - gap, u);
        gjk_result g;
        gjk(&apart, HUGE_VAL, n, &g);
        v3 p = {0, 0, 0};
        for (int k = 0; k < g.count; k++) {
            p = v3_axpy(p, g.weight[k], g.corner[k].a);
        }
        *on_a = p;
    }
    *on_b = v3_axpy(*on_a, -gap, n);
}

static void finish(const minkowski *m, v3 u, double core_gap, convex_gap *out) {
    double ra = m->a->radius, rb = m->b->radius;
    out->normal = v3_neg(u);
    out->gap = core_gap - ra - rb;
    witnesses(m, u, core_gap, &out->on_a, &out->on_b);
    out->on_a = v3_axpy(out->on_a, ra, u);
    out->on_b = v3_axpy(out->on_b, -rb, u);
}

static void apart(const minkowski *m, const gjk_result *g, convex_gap *out) {
    mink_direction d = {g->axis, -g->below, HUGE_VAL};
    double tolerance = fmax(1e-9 * m->least, 8 * m->grain);
    if (m->curved || g->above - g->below > tolerance) {
        out->iterations += mink_polish(m, &d);
        out->certain = g->above + d.h <= fmax(1e-6 * m->least, tolerance);
        finish(m, d.u, -d.h, out);
    } else {
        out->certain = 1;
        finish(m, d.u, g->above, out);
    }
}

static void inside(const minkowski *m, const gjk_result *g, convex_gap *out) {
    mink_direction seed;
    int seeded = portal_direction(m, &seed);
    depth_result depth;
    mink_depth(m, g, seeded ? &seed : NULL, &depth);
    out->iterations += depth.iterations;
    out->certain = depth.best.h - depth.below <= fmax(1e-6 * m->least, 16 * m->grain);
    finish(m, depth.best.u, -depth.best.h, out);
}

int convex_distance(const convex *a, const convex *b, const pose *X_ab, double margin, v3 guess, convex_gap *out) {
    minkowski m = minkowski_of(a, b, X_ab);
    double radii = a->radius + b->radius, length = v3_norm(guess);
    *out = (convex_gap){0};
    if (length > 0) {
        v3 u = v3_scale(-1 / length, guess);
        out->gap = -v3_dot(u, mink_support(&m, u).d) - radii;
        if (out->gap > margin) {
            return 0;
        }
    }
    gjk_result g;
    gjk(&m, margin + radii, between_centres(&m), &g);
    out->iterations = g.iterations;
    if (g.beyond) {
        out->gap = g.below - radii;
        return 0;
    }
    double touching = m.curved ? fmax(1e-7 * m.least, 64 * m.grain) : 64 * m.grain;
    if (g.count < 4 && g.above > touching) {
        apart(&m, &g, out);
    } else {
        inside(&m, &g, out);
    }
    return out->gap <= margin;
}
