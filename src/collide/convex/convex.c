/* Signed distance of two convex solids, with its direction.
 *
 * First the directions that the solids suggest (depth_seed.c): often one is the normal, and two points prove it
 * (depth_proof.c).  Else simplices lead near it (gjk.c), Newton's method to it where the solids are round
 * (depth_newton.c), and again two points may prove it.  Other cases need a search.  Cores apart: simplices until
 * nothing is nearer.  Cores that overlap: a polytope that grows until no direction can be lower (depth.c).  Both radii
 * are taken off at the end. */
#include "collide/convex/minkowski.h"

static bool is_curved(const convex *c) { return c->kind == CONVEX_CYLINDER || c->kind == CONVEX_ELLIPSOID; }

static minkowski minkowski_of(const convex *a, const convex *b, const pose *X_ab, double far, uint32_t start[2]) {
    double reach = a->extent + b->extent + v3_norm(a->centre) + v3_norm(b->centre) + v3_norm(X_ab->p);
    minkowski m = {.a = a, .b = b, .X_ab = *X_ab, .curved = is_curved(a) || is_curved(b), .start = start, .far = far};
    m.grain = 2 * DBL_EPSILON * reach;
    m.least = min_of(a->least, b->least);
    return m;
}

static v3 point_of_a(const gjk_result *g) {
    v3 p = {0, 0, 0};
    for (int k = 0; k < g->count; k++) {
        p = v3_axpy(p, g->weight[k], g->corner[k].a);
    }
    return p;
}

/* A point of A farthest along u that lies over one of B farthest along -u.  Where A or B has but one, that is it.  Else
 * B is moved until it stands clear by a little (the less, the sharper): then the nearest points are these. */
static v3 find_witness(const minkowski *m, v3 u, double gap) {
    uint32_t vertex;
    mink_foot foot;
    mink_foot_of(m, u, &foot);
    if (foot.off <= MINK_TIGHT * m->grain) {
        return foot.a;
    }
    v3 n = v3_neg(u), at_b = m3_transposed_times(m->X_ab.R, n);
    int one_of_b = !mink_tied(m->b, at_b);
    if (!mink_tied(m->a, u) && !(one_of_b && is_curved(m->a) && !is_curved(m->b))) { /* a corner stands still */
        return convex_support(m->a, u, &vertex);
    }
    if (one_of_b) {
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

static void write_gap(const minkowski *m, v3 u, double core_gap, v3 on_core_a, convex_gap *out) {
    double ra = m->a->radius, rb = m->b->radius;
    out->normal = v3_neg(u);
    out->gap = core_gap - ra - rb;
    out->on_a = v3_axpy(on_core_a, ra, u);
    out->on_b = v3_axpy(out->on_a, out->gap, u);
}

static void write_proven_gap(const minkowski *m, const mink_direction *d, const mink_foot *foot, convex_gap *out) {
    out->certain = true;
    write_gap(m, d->u, -d->h, foot->a, out);
}

/* `polished`: the direction that was polished on the way, or NULL. */
static void solve_apart(const minkowski *m, const gjk_result *g, const mink_direction *polished, convex_gap *out) {
    double tolerance = max_of(1e-9 * m->least, 8 * m->grain);
    mink_direction d = {g->axis, -g->below, HUGE_VAL};
    out->certain = true;
    if (!m->curved && g->above - g->below <= tolerance) {
        write_gap(m, d.u, g->above, point_of_a(g), out);
        return;
    }
    if (polished && d.h >= polished->h - m->grain) {
        d = *polished;
    }
    mink_foot foot;
    mink_foot_of(m, d.u, &foot);
    if (foot.off > MINK_TIGHT * m->grain) {
        out->iterations += mink_polish(m, MINK_END, &d, &foot);
    }
    out->certain = g->above + d.h <= max_of(1e-6 * m->least, tolerance);
    write_gap(m, d.u, -d.h, find_witness(m, d.u, -d.h), out);
}

/* False when they turn out to be apart by more than `touching`: rounding had put the origin into a flat simplex.  Then
 * `g` starts again from the direction that shows it. */
static bool solve_inside(const minkowski *m, double touching, const mink_direction *low, gjk_result *g,
                         convex_gap *out) {
    depth_result depth;
    mink_depth(m, g, low, &depth);
    out->iterations += depth.iterations;
    if (depth.best.h < -touching) {
        gjk_start(m, v3_neg(depth.best.u), g);
        gjk_go(m, HUGE_VAL, 0, g);
        if (g->count < 4 && g->below > touching) {
            return false;
        }
    }
    out->certain = depth.best.h - depth.below <= max_of(1e-6 * m->least, 16 * m->grain);
    write_gap(m, depth.best.u, -depth.best.h, find_witness(m, depth.best.u, -depth.best.h), out);
    return true;
}

static void write_lower_bound(double gap, v3 u, convex_gap *out) {
    out->gap = gap;
    out->normal = v3_neg(u);
}

enum { MAX_ROUNDS = 4 };
typedef enum outcome { FOUND, PROVEN, FAR, LOST } outcome;

/* The result of Newton's method from `d`. */
static outcome polish_direction(const minkowski *m, mink_direction *d, mink_foot *foot, convex_gap *out) {
    out->iterations += mink_polish(m, MINK_NEAR, d, foot);
    return -d->h > m->far ? FAR : mink_is_minimum(m, foot) ? PROVEN : FOUND;
}

/* Round solids: the simplices converge slowly, Newton's method at once, and its foot proves the result.  Without that
 * proof the simplices must show that nothing is nearer. */
static outcome find_round_minimum(const minkowski *m, gjk_result *g, mink_direction *d, mink_foot *foot,
                                  convex_gap *out) {
    outcome is = FOUND;
    gjk_go(m, m->far, 0.03 * m->least, g);
    for (int round = 0; round < MAX_ROUNDS && !g->beyond; round++) {
        int exact = g->count < 4 && g->above - g->below <= 1e-6 * m->least;
        *d = (mink_direction){g->axis, -g->below, exact ? 0 : HUGE_VAL};
        if (g->count == 4) {
            mink_weigh_sides(m, g, d);
        }
        is = polish_direction(m, d, foot, out);
        if (is != FOUND || g->count == 4) {
            return is;
        }
        gjk_offer(m, d->u, g);
        gjk_go(m, m->far, d->h < 0 ? 1e-12 * m->least + 8 * m->grain : 0, g);
        if (d->h >= 0 || -g->below >= d->h - m->grain) {
            return FOUND;
        }
    }
    return LOST;
}

/* From what the solids suggest. */
static outcome try_seed(const minkowski *m, mink_direction *d, mink_foot *foot, convex_gap *out) {
    if (-d->h > m->far) {
        return FAR;
    }
    if (d->slope == 0) {
        mink_foot_of(m, d->u, foot);
        mink_foot_prove(m, foot);
        if (mink_is_minimum(m, foot)) {
            return PROVEN;
        }
    }
    if (m->a->kind == CONVEX_ELLIPSOID || m->b->kind == CONVEX_ELLIPSOID) {
        mink_direction x = *d;
        outcome is = polish_direction(m, &x, foot, out);
        *d = is == FOUND ? *d : x;
        return is;
    }
    return FOUND;
}

/* By simplices, and the polytope. */
static void search_direction(const minkowski *m, mink_direction low, convex_gap *out) {
    gjk_result g;
    mink_foot foot;
    outcome is = LOST;
    gjk_start(m, v3_neg(low.u), &g);
    if (m->curved) {
        is = find_round_minimum(m, &g, &low, &foot, out);
    } else {
        gjk_go(m, m->far, 0, &g);
    }
    out->iterations += g.iterations;
    double radii = m->a->radius + m->b->radius, touching = 64 * m->grain;
    const mink_direction *known = is == FOUND ? &low : NULL;
    if (is == PROVEN) {
        write_proven_gap(m, &low, &foot, out);
    } else if (is == FAR || g.beyond) {
        write_lower_bound((is == FAR ? -low.h : g.below) - radii, is == FAR ? low.u : g.axis, out);
    } else if ((g.count < 4 && g.below > touching) || !solve_inside(m, touching, known, &g, out)) {
        solve_apart(m, &g, known, out);
    }
}

bool convex_distance(const convex *a, const convex *b, const pose *X_ab, double margin, v3 guess, convex_gap *out) {
    uint32_t start[2] = {0, 0};
    double radii = a->radius + b->radius, length = v3_norm(guess);
    minkowski m = minkowski_of(a, b, X_ab, margin + radii, start);
    *out = (convex_gap){0};
    if (length > 0) {
        v3 u = v3_scale(-1 / length, guess);
        double h = v3_dot(u, mink_support(&m, u).d);
        if (-h > m.far) {
            write_lower_bound(-h - radii, u, out);
            return false;
        }
        start[0] = start[1] = 0; /* the guess leaves no trace */
    }
    mink_foot foot;
    mink_direction low = mink_first(&m);
    switch (try_seed(&m, &low, &foot, out)) {
    case PROVEN:
        write_proven_gap(&m, &low, &foot, out);
        break;
    case FAR:
        write_lower_bound(-low.h - radii, low.u, out);
        break;
    default:
        search_direction(&m, low, out);
    }
    return out->gap <= margin;
}
