/* Penetration depth of two overlapping convex cores.
 *
 * The least of the support function h of D = A - B, by a polytope within D that grows (van den Bergen 2001, "Proximity
 * queries and penetration depth computation on 3D game objects").  Its least offset is a lower bound of min h; h along
 * any direction is an upper bound.  The farthest point of D along the normal of the facet of least offset gives h
 * there, and joins the polytope, until the bounds meet.  On polytopes that is exact after finitely many points.  Round
 * solids would take many small facets: there the best direction so far slides down to its local minimum by Newton's
 * method (depth_newton.c).  The polytope has only to show that nothing elsewhere is lower.  Offsets are signed, so an
 * origin that lies outside by a hair needs no case of its own. */
#include "collide/convex/minkowski.h"
#include "collide/convex/polytope.h"

enum { MAX_POLISHES = 8, MAX_BASINS = 12, MAX_FLAT_POINTS = 8 };
static const double LEAN_FACTOR = 1.5;

/* D without the ball that rolls inside of it: h is less by `round` everywhere. Its corners are sharper, so fewer facets
 * bound it. */
typedef struct core {
    const minkowski *m;
    double round;
} core;

static v3 core_point(const core *c, v3 u, v3 w) { return v3_axpy(w, -c->round, u); }
static v3 core_support(const core *c, v3 u) { return core_point(c, u, mink_support(c->m, u).d); }

/* The one of two points that is farther from the plane through p at right angles to u. */
static v3 farther_point(const core *c, v3 u, v3 p, double *distance) {
    v3 one = core_support(c, u), other = core_support(c, v3_neg(u));
    double x = v3_dot(u, v3_sub(one, p)), y = v3_dot(u, v3_sub(p, other));
    *distance = max_of(x, y);
    return x >= y ? one : other;
}

/* Four points of D that span space as well as a few directions show.  Else 0, and a direction in which D is flat. */
static bool find_tetrahedron(const core *c, v3 corner[4], v3 *flat) {
    /* the longest of three widths */
    double longest = -1, size;
    for (int k = 0; k < 3; k++) {
        v3 u = {k == 0, k == 1, k == 2}, low = core_support(c, v3_neg(u)), high = farther_point(c, u, low, &size);
        if (size > longest) {
            longest = size;
            corner[0] = low;
            corner[1] = high;
            *flat = u;
        }
    }
    if (!(longest > 8 * c->m->grain)) {
        return false;
    }
    /* the point that is farthest from that line */
    v3 e = v3_unit(v3_sub(corner[1], corner[0])), s = v3_perpendicular(e), t = v3_cross(e, s);
    double across_s, across_t;
    v3 by_s = farther_point(c, s, corner[0], &across_s), by_t = farther_point(c, t, corner[0], &across_t);
    corner[2] = across_s >= across_t ? by_s : by_t;
    *flat = s;
    if (!(max_of(across_s, across_t) > 8 * c->m->grain)) {
        return false;
    }
    /* the point that is farthest from that plane */
    *flat = v3_unit(v3_cross(e, v3_sub(corner[2], corner[0])));
    corner[3] = farther_point(c, *flat, corner[0], &size);
    return size > 8 * c->m->grain;
}

static mink_direction make_direction(const minkowski *m, v3 u) {
    return (mink_direction){u, v3_dot(u, mink_support(m, u).d), HUGE_VAL};
}

/* A tetrahedron fat enough to start from. */
static bool is_fat(const minkowski *m, const v3 c[4]) {
    v3 a = v3_sub(c[1], c[0]), b = v3_sub(c[2], c[0]), d = v3_sub(c[3], c[0]);
    double size = max_of(v3_norm(a), max_of(v3_norm(b), v3_norm(d)));
    return fabs(v3_dot(v3_cross(a, b), d)) > 1e-3 * size * size * min_of(size, m->least);
}

typedef struct search {
    const minkowski *m;
    core core;
    polytope p;
    depth_result *out;
    double tolerance, polished; /* h of the lowest direction that was polished */
    double proven;              /* by its foot: min h is no less */
    int npolish;
} search;

/* Takes in a point of D where it stands out over some facet. */
static void enclose_point(search *s, v3 w) {
    int best = 0;
    double most = -HUGE_VAL;
    for (int f = 0; f < s->p.nfacet; f++) {
        double out = s->p.offset[f] < HUGE_VAL ? v3_dot(s->p.facet[f].normal, w) - s->p.offset[f] : -HUGE_VAL;
        if (out > most) {
            most = out;
            best = f;
        }
    }
    if (most > s->m->grain) {
        polytope_grow(&s->p, best, w);
    }
}

/* The flat part of D's surface that the best direction found. Where it has no width, points beside it, so close that
 * anything between is lower by no more than the tolerance. A plane through the point that leans by x lies lower by h
 * x^2 / 2. */
static void enclose_best(search *s) {
    mink_direction best = s->out->best;
    v3 flat[MAX_FLAT_POINTS], x;
    int count = mink_flat(s->m, best.u, flat, MAX_FLAT_POINTS, &x);
    for (int k = 0; k < count; k++) {
        enclose_point(s, core_point(&s->core, best.u, flat[k]));
    }
    if (count <= 2) {
        v3 y = v3_unit(v3_cross(best.u, x));
        double lean = LEAN_FACTOR * sqrt(s->tolerance / max_of(best.h - s->core.round, s->tolerance));
        for (int k = count == 2 ? 2 : 0; k < 4; k++) {
            enclose_point(s, core_support(&s->core, v3_unit(v3_axpy(best.u, k & 1 ? lean : -lean, k & 2 ? y : x))));
        }
    }
}

static void polish_and_prove(search *s, int rounds, mink_direction *x) {
    mink_foot foot;
    mink_polish(s->m, rounds, x, &foot);
    if (foot.off <= MINK_TIGHT * s->m->grain) {
        s->proven = max_of(s->proven, foot.below);
    }
}

static void offer_direction(search *s, mink_direction x) {
    if (x.h < s->out->best.h) {
        s->out->best = x;
    }
    if (s->m->curved && s->out->best.h < s->polished - s->tolerance && s->npolish < MAX_POLISHES) {
        s->npolish++;
        polish_and_prove(s, MINK_NEAR, &s->out->best);
        s->polished = s->out->best.h;
        if (s->out->best.h - s->proven > s->tolerance) {
            enclose_best(s);
        }
    }
}

/* Grows the polytope until the bounds meet or it can grow no more. */
static void grow_until_proven(search *s) {
    depth_result *out = s->out;
    double settled = HUGE_VAL; /* least offset of the facets that cannot be asked any more */
    for (; out->iterations < 2 * POLYTOPE_POINTS; out->iterations++) {
        int f = polytope_nearest(&s->p);
        out->below = min_of(settled, s->p.offset[f]) + s->core.round;
        out->below = max_of(out->below, s->proven);
        if (out->best.h - out->below <= s->tolerance) {
            return;
        }
        v3 u = s->p.facet[f].normal, w = core_support(&s->core, u);
        double offset = s->p.offset[f], h = v3_dot(u, w);
        if (h - offset <= s->m->grain) { /* a facet of D itself */
            s->p.offset[f] = HUGE_VAL;
            settled = min_of(settled, offset);
        } else if (!polytope_grow(&s->p, f, w)) {
            if (s->p.npoint == POLYTOPE_POINTS) {
                return;
            }
            s->p.offset[f] = HUGE_VAL; /* rounding: it cannot be asked again */
            settled = min_of(settled, offset);
        }
        offer_direction(s, (mink_direction){u, h + s->core.round, HUGE_VAL});
    }
}

static void polish_to_end(search *s, mink_direction x) {
    polish_and_prove(s, MINK_END, &x);
    if (x.h < s->out->best.h) {
        s->out->best = x;
    }
}

/* The proof has run out of room: at least look from the facets that are still promising. */
static void search_other_basins(search *s) {
    v3 seen[MAX_BASINS];
    for (int n = 0; n < MAX_BASINS; n++) {
        int best = -1;
        for (int f = 0; f < s->p.nfacet; f++) {
            int fresh =
                s->p.offset[f] + s->core.round < s->out->best.h && (best < 0 || s->p.offset[f] < s->p.offset[best]);
            for (int k = 0; k < n && fresh; k++) {
                fresh = v3_dot(seen[k], s->p.facet[f].normal) < 0.95;
            }
            best = fresh ? f : best;
        }
        if (best < 0) {
            return;
        }
        seen[n] = s->p.facet[best].normal;
        polish_to_end(s, make_direction(s->m, seen[n]));
        mink_direction x;
        if (!s->m->curved && mink_portal(s->m, seen[n], s->out->below, &x)) {
            polish_to_end(s, x);
        }
    }
}

static bool is_stationary(const minkowski *m, v3 u) {
    mink_foot foot;
    mink_foot_of(m, u, &foot);
    return foot.off <= MINK_TIGHT * m->grain;
}

void mink_depth(const minkowski *m, const gjk_result *from, const mink_direction *low, depth_result *out) {
    v3 corner[4], flat = {1, 0, 0};
    core without = {m, mink_rolling(m)}, whole = {m, 0};
    int sharp = without.round > 0 && find_tetrahedron(&without, corner, &flat), ready = !sharp && from->count == 4;
    for (int k = 0; ready && k < 4; k++) {
        corner[k] = from->corner[k].d;
    }
    ready = sharp || (ready && is_fat(m, corner)) || find_tetrahedron(&whole, corner, &flat);
    *out = (depth_result){.best = {.u = flat, .h = HUGE_VAL}, .below = -m->grain};
    if (!ready) {
        mink_direction one = make_direction(m, flat), other = make_direction(m, v3_neg(flat));
        out->best = one.h <= other.h ? one : other;
        return;
    }
    search s; /* large: not cleared */
    s.m = m;
    s.core = sharp ? without : whole;
    s.out = out;
    s.polished = HUGE_VAL;
    s.proven = -HUGE_VAL;
    s.npolish = 0;
    s.tolerance = m->curved ? max_of(1e-6 * m->least, 8 * m->grain) : 8 * m->grain;
    polytope_start(&s.p, corner, m->grain);
    if (low) {
        out->best = *low;
        s.polished = low->h;
        enclose_best(&s);
    }
    grow_until_proven(&s);
    if (m->curved && !is_stationary(m, out->best.u)) { /* low enough by the tolerance, but not where it ends */
        polish_and_prove(&s, MINK_END, &out->best);
    }
    if (out->best.h - out->below > s.tolerance) {
        search_other_basins(&s);
    }
}
