/* What is the signed distance of two convex solids, and along which direction?
 *
 * Cores apart: their distance (gjk.c), the direction of round ones made exact (polish.c), less both radii.  Cores that
 * overlap or touch: the least translation that parts them (depth.c), plus both radii.
 *
 * libccd's portal refinement (MPR; Snethen, "XenoCollide", 2008) answers another question: where does a ray leave the
 * difference of the solids, and what is the normal there?  As a seed for the normal of overlapping polytopes it cost
 * 1.3 us a pair and saved 0.4 of 6 facets (random poses and overlaps of a thousandth of the size alike; whole pairs of
 * boxes then took 2.6 instead of 1.3 us); for round solids it cost as much as it saved.  Its own answer is not the least
 * depth.  So it is asked only where the polytope of depth.c runs out of room before the proof is closed (hulls of more
 * than about a thousand corners, deep in each other): there its directions, checked and polished like any other, are second
 * candidates, of which 5 in 261 were lower.  Its GJK and EPA are not used: they allocate, and return directions that are no
 * numbers. */
#include "collide/minkowski.h"
#include "collide/polytope.h"

#include <ccd/ccd.h>

/* ---- libccd's Minkowski portal refinement, fenced ---- */

typedef struct fenced {
    const convex *solid;
    pose X;      /* lengths over `size` */
    v3 centre;   /* where the ray begins */
    double size; /* of the pair */
    int fuel;    /* support calls left */
} fenced;

enum { FUEL = 200, MOST_ROUNDS = 4 };

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
        p = pose_point(f->X, v3_scale(1 / f->size, p));
    }
    ccdVec3Set(out, p.x, p.y, p.z);
}

static void fenced_centre(const void *object, ccd_vec3_t *out) {
    const fenced *f = object;
    ccdVec3Set(out, f->centre.x, f->centre.y, f->centre.z);
}

int mink_portal(const minkowski *m, v3 ray, double below, mink_direction *out) {
    double size = m->a->extent + m->b->extent;
    v3 half = v3_scale(0.5 / size, m->X_ab.p); /* both near the origin of the frame */
    fenced a = {m->a, {m3_identity(), v3_neg(half)}, v3_scale(-0.5 * below / size, ray), size, FUEL};
    fenced b = {m->b, {m->X_ab.R, half}, {0, 0, 0}, size, FUEL};
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = fenced_support;
    ccd.center1 = ccd.center2 = fenced_centre;
    ccd.max_iterations = FUEL;
    ccd.mpr_tolerance = 1e-12;
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

static minkowski minkowski_of(const convex *a, const convex *b, const pose *X_ab, uint32_t start[2]) {
    double reach = a->extent + b->extent + v3_norm(a->centre) + v3_norm(b->centre) + v3_norm(X_ab->p);
    minkowski m = {.a = a, .b = b, .X_ab = *X_ab, .curved = is_curved(a) || is_curved(b), .start = start};
    m.grain = 2 * DBL_EPSILON * reach;
    m.least = min_of(a->least, b->least);
    return m;
}

static v3 between_centres(const minkowski *m) {
    v3 c = v3_sub(m->a->centre, pose_point(m->X_ab, m->b->centre));
    return v3_norm(c) > 1e-9 * (m->a->extent + m->b->extent) ? c : v3_make(1, 0, 0);
}

static v3 point_of_a(const gjk_result *g) {
    v3 p = {0, 0, 0};
    for (int k = 0; k < g->count; k++) {
        p = v3_axpy(p, g->weight[k], g->corner[k].a);
    }
    return p;
}

/* A point of A farthest along u that lies over one of B farthest along -u.  Where A or B has but one, that is it.  Else B
 * is moved until it stands clear by a little (the less, the sharper): then the nearest points are these. */
static v3 witness(const minkowski *m, v3 u, double gap) {
    uint32_t vertex;
    mink_foot foot;
    mink_foot_of(m, u, &foot);
    if (foot.off <= MINK_TIGHT * m->grain) {
        return foot.a;
    }
    v3 n = v3_neg(u), at_b = m3_transposed_times(m->X_ab.R, n);
    if (!mink_tied(m->a, u)) {
        return convex_support(m->a, u, &vertex);
    }
    if (!mink_tied(m->b, at_b)) {
        return v3_axpy(pose_point(m->X_ab, convex_support(m->b, at_b, &vertex)), gap, n);
    }
    minkowski apart = *m;
    double clear = 1e-4 * min_of(m->a->extent, m->b->extent);
    apart.X_ab.p = v3_axpy(apart.X_ab.p, clear - gap, u);
    gjk_result g;
    gjk_start(&apart, n, &g);
    gjk_go(&apart, HUGE_VAL, 0, &g);
    v3 p = point_of_a(&g);
    return v3_axpy(p, v3_dot(u, convex_support(m->a, u, &vertex)) - v3_dot(u, p), u);
}

static void finish(const minkowski *m, v3 u, double core_gap, v3 on_core_a, convex_gap *out) {
    double ra = m->a->radius, rb = m->b->radius;
    out->normal = v3_neg(u);
    out->gap = core_gap - ra - rb;
    out->on_a = v3_axpy(on_core_a, ra, u);
    out->on_b = v3_axpy(out->on_a, out->gap, u);
}

static void finish_proven(const minkowski *m, const mink_direction *d, const mink_foot *foot, convex_gap *out) {
    out->certain = 1;
    finish(m, d->u, -d->h, foot->a, out);
}

/* `polished`: the direction that was polished on the way, or NULL. */
static void apart(const minkowski *m, const gjk_result *g, const mink_direction *polished, convex_gap *out) {
    double tolerance = max_of(1e-9 * m->least, 8 * m->grain);
    mink_direction d = {g->axis, -g->below, HUGE_VAL};
    out->certain = 1;
    if (!m->curved && g->above - g->below <= tolerance) {
        finish(m, d.u, g->above, point_of_a(g), out);
        return;
    }
    if (polished && d.h >= polished->h - m->grain) {
        d = *polished;
    } else {
        mink_foot foot;
        out->iterations += mink_polish(m, &d, &foot);
    }
    out->certain = g->above + d.h <= max_of(1e-6 * m->least, tolerance);
    finish(m, d.u, -d.h, witness(m, d.u, -d.h), out);
}

/* 0 when they turn out to be apart by more than `touching`: rounding had put the origin into a flat simplex.  Then `g`
 * starts again from the direction that shows it. */
static int inside(const minkowski *m, double touching, const mink_direction *low, gjk_result *g, convex_gap *out) {
    depth_result depth;
    mink_depth(m, g, low, &depth);
    out->iterations += depth.iterations;
    if (depth.best.h < -touching) {
        gjk_start(m, v3_neg(depth.best.u), g);
        gjk_go(m, HUGE_VAL, 0, g);
        if (g->count < 4 && g->below > touching) {
            return 0;
        }
    }
    out->certain = depth.best.h - depth.below <= max_of(1e-6 * m->least, 16 * m->grain);
    finish(m, depth.best.u, -depth.best.h, witness(m, depth.best.u, -depth.best.h), out);
    return 1;
}

/* `slope`: 0 if u may well be the minimum as it is. */
static void weigh(const minkowski *m, v3 u, double slope, mink_direction *best) {
    double h = v3_dot(u, mink_support(m, u).d);
    if (h < best->h) {
        *best = (mink_direction){u, h, slope};
    }
}

/* Along the axes of a box or a cylinder, and at right angles to the cylinder's.  `u`: roughly the direction; `X`: NULL or
 * the solid's pose. */
static void weigh_normals(const minkowski *m, const convex *c, const pose *X, v3 u_outer, mink_direction *best) {
    v3 u = X ? m3_transposed_times(X->R, u_outer) : u_outer;
    v3 n[3] = {{copysign(1, u.x), 0, 0}, {0, copysign(1, u.y), 0}, {0, 0, copysign(1, u.z)}};
    double across = sqrt(u.x * u.x + u.y * u.y);
    if (c->kind == CONVEX_CYLINDER) {
        n[0] = across > 0 ? v3_make(u.x / across, u.y / across, 0) : n[0];
        n[1] = n[2];
    }
    int count = c->kind == CONVEX_BOX ? 3 : c->kind == CONVEX_CYLINDER ? 2 : 0;
    for (int k = 0; k < count; k++) {
        weigh(m, X ? m3_times(X->R, n[k]) : n[k], 0, best);
    }
}

/* The lowest of a few directions that are as good as any to begin with. */
static mink_direction first_direction(const minkowski *m) {
    v3 u = v3_neg(v3_unit(between_centres(m)));
    mink_direction best = {u, HUGE_VAL, HUGE_VAL};
    weigh(m, u, HUGE_VAL, &best);
    weigh_normals(m, m->a, NULL, u, &best);
    weigh_normals(m, m->b, &m->X_ab, u, &best);
    return best;
}

/* The sides of a tetrahedron, looking out. */
static void weigh_sides(const minkowski *m, const gjk_result *g, mink_direction *best) {
    static const int side[4][4] = {{1, 2, 3, 0}, {0, 3, 2, 1}, {0, 1, 3, 2}, {0, 2, 1, 3}};
    for (int f = 0; f < 4; f++) {
        v3 p = g->corner[side[f][0]].d;
        v3 n = triangle_normal(p, g->corner[side[f][1]].d, g->corner[side[f][2]].d);
        double length = v3_norm(n), beyond = v3_dot(n, v3_sub(g->corner[side[f][3]].d, p));
        if (length > 0) {
            n = v3_scale((beyond > 0 ? -1 : 1) / length, n);
            if (v3_dot(n, p) < best->h) {
                weigh(m, n, HUGE_VAL, best);
            }
        }
    }
}

/* Round solids: what the simplices approach more and more slowly, Newton's method finds at once, and its foot proves it.
 * Where it does not, the simplices have to show that nothing is nearer.  1: `d` has been polished; 2: and is proven. */
static int nearest_of_round(const minkowski *m, double far, gjk_result *g, mink_direction *d, mink_foot *foot,
                            convex_gap *out) {
    gjk_go(m, far, 0.03 * m->least, g);
    for (int round = 0; round < MOST_ROUNDS && !g->beyond; round++) {
        int exact = g->count < 4 && g->above - g->below <= 1e-6 * m->least;
        *d = (mink_direction){g->axis, -g->below, exact ? 0 : HUGE_VAL};
        if (g->count == 4) {
            weigh_sides(m, g, d);
        }
        out->iterations += mink_polish(m, d, foot);
        if (mink_is_minimum(m, foot)) {
            return 2;
        }
        if (g->count == 4) {
            return 1;
        }
        gjk_offer(m, d->u, g);
        gjk_go(m, far, d->h < 0 ? 1e-12 * m->least + 8 * m->grain : 0, g);
        if (d->h >= 0 || -g->below >= d->h - m->grain) {
            return 1;
        }
    }
    return 0;
}

int convex_distance(const convex *a, const convex *b, const pose *X_ab, double margin, v3 guess, convex_gap *out) {
    uint32_t start[2] = {0, 0};
    minkowski m = minkowski_of(a, b, X_ab, start);
    double radii = a->radius + b->radius, length = v3_norm(guess);
    *out = (convex_gap){0};
    if (length > 0) {
        v3 u = v3_scale(-1 / length, guess);
        out->gap = -v3_dot(u, mink_support(&m, u).d) - radii;
        if (out->gap > margin) {
            out->normal = v3_neg(u);
            return 0;
        }
        start[0] = start[1] = 0; /* the guess leaves no trace */
    }
    gjk_result g;
    mink_foot foot;
    int polished = 0;
    mink_direction low = first_direction(&m);
    if (-low.h > margin + radii) {
        out->gap = -low.h - radii;
        out->normal = v3_neg(low.u);
        return 0;
    }
    if (low.slope == 0) {
        mink_foot_of(&m, low.u, &foot);
        mink_foot_prove(&m, &foot);
        if (mink_is_minimum(&m, &foot)) {
            finish_proven(&m, &low, &foot, out);
            return out->gap <= margin;
        }
    }
    gjk_start(&m, v3_neg(low.u), &g);
    if (m.curved) {
        polished = nearest_of_round(&m, margin + radii, &g, &low, &foot, out);
        if (polished == 2) {
            out->iterations += g.iterations;
            finish_proven(&m, &low, &foot, out);
            return out->gap <= margin;
        }
    } else {
        gjk_go(&m, margin + radii, 0, &g);
    }
    out->iterations += g.iterations;
    if (g.beyond) {
        out->gap = g.below - radii;
        out->normal = v3_neg(g.axis);
        return 0;
    }
    double touching = 64 * m.grain;
    if ((g.count < 4 && g.below > touching) || !inside(&m, touching, polished ? &low : NULL, &g, out)) {
        apart(&m, &g, polished ? &low : NULL, out);
    }
    return out->gap <= margin;
}
