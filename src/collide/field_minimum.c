/* Where on a triangle of a surface is a distance field least?
 *
 *     minimise f(t) = phi(P(t)),  t in the triangle,
 *
 * with P(t) the point of the true surface nearest to t (the identity where triangles are the surface).  Projected
 * gradient with the step lengths of Barzilai and Borwein, from the best corner, safeguarded so that f never rises; it
 * stops when the duality gap max_k grad f . (t - corner_k), which bounds what is left to gain where f is convex, is
 * within tolerance.  Macklin, Erleben, Mueller, Chentanez, Jeschke, Corse, "Local optimization for robust signed distance
 * field collision", 2020, sections 4.1 and 4.2.
 *
 * Inside a solid with edges phi has creases, and just outside it turns as sharply: there neither says which way out is.
 * But moving the surface by s along the normal of a contact adds s to its gap and changes nothing else.  So a search that
 * ends on a crease goes on with the surface lifted off, along the best guess of the normal, to where phi is round, and the
 * normal found there is the next guess. */
#include "collide/field_contact.h"
#include "geometry/mesh.h"

enum { STEPS = 16, TRIALS = 6 };

/* Slopes along a line of search at both ends of what brackets its least point, and the gradient at the far end. */
typedef struct bracket {
    double slope, slope_beyond;
    v3 beyond;
} bracket;

typedef enum outcome { NO_LOWER, LOWER, CREASE } outcome;

static double duality_gap(const patch *p, v3 t, v3 uphill) {
    double gap = 0;
    for (int k = 0; k < 3; k++) {
        gap = fmax(gap, v3_dot(uphill, v3_sub(t, p->corner[k].t)));
    }
    return gap;
}

/* From `here` towards `far`: moves `here` to a lower place. */
static outcome line_search(encounter *e, const patch *p, place *here, v3 uphill, place *far, bracket *b) {
    v3 from = here->t, d = v3_sub(far->t, from);
    double first = v3_dot(uphill, d), low = 0, high = 1, f_high = far->f;
    b->slope = first;
    b->slope_beyond = v3_dot(place_uphill(far), d);
    b->beyond = far->g;
    if (far->f < here->f + 1e-4 * first && b->slope_beyond <= -0.5 * first) {
        *here = *far;
        return LOWER;
    }
    for (int trial = 0; trial < TRIALS; trial++) {
        /* The secant finds the bottom of a bowl, the crossing of the tangents that of a crease. */
        double width = high - low, rise = b->slope_beyond - b->slope;
        double w = trial & 1 ? (b->slope_beyond - (f_high - here->f) / width) / rise : -b->slope / rise;
        w = rise > 0 && w > 0.02 && w < 0.98 ? w : 0.5;
        double s = low + w * width;
        encounter_place(e, v3_axpy(from, s, d), p->normal, p->size, far);
        double slope = v3_dot(place_uphill(far), d);
        if (far->f < here->f && fabs(slope) <= -0.1 * first) {
            *here = *far;
            return LOWER;
        }
        if (far->f <= here->f && slope < 0) {
            *here = *far;
            low = s;
            b->slope = slope;
        } else {
            high = s;
            f_high = far->f;
            b->slope_beyond = slope;
            b->beyond = far->g;
        }
    }
    return b->slope_beyond > 0 ? CREASE : low > 0 ? LOWER : NO_LOWER;
}

static int best_corner(const patch *p) {
    int best = 0;
    for (int k = 1; k < 3; k++) {
        best = p->corner[k].f < p->corner[best].f ? k : best;
    }
    return best;
}

/* Where the ray from a place of the triangle along d leaves it. */
static v3 ray_end(const patch *p, v3 from, v3 d) {
    double s = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        v3 corner = p->corner[k].t, inwards = v3_cross(p->normal, v3_sub(p->corner[(k + 1) % 3].t, corner));
        double rate = v3_dot(inwards, d);
        if (rate < 0) {
            s = fmin(s, fmax(v3_dot(inwards, v3_sub(from, corner)), 0) / -rate);
        }
    }
    return isfinite(s) ? v3_axpy(from, s, d) : from;
}

/* The point to search towards: every third time along the last two steps together, which is the way down a valley
 * (parallel tangents: Shah, Buehler, Kempthorne 1964); else down the slope. */
static v3 aim_from(const patch *p, const place *here, v3 uphill, double step, int k, v3 two_ago) {
    int ignored;
    if (k % 3 == 2) {
        v3 aim = ray_end(p, here->t, v3_sub(here->t, two_ago));
        if (v3_dot(v3_sub(aim, here->t), uphill) < -1e-3 * step * v3_dot(uphill, uphill)) {
            return aim;
        }
    }
    return triangle_nearest(p->corner[0].t, p->corner[1].t, p->corner[2].t, v3_axpy(here->t, -step, uphill), &ignored);
}

/* From `here` down to a local minimum. Returns 1 when it ends on a crease; then its g is the two sides' together. */
static int descend(encounter *e, const patch *p, place *here) {
    double step = 4 * p->size, enough = 1e-7 * p->size;
    v3 uphill = place_uphill(here), one_ago = here->t, two_ago = here->t;
    for (int k = 0; k < STEPS && duality_gap(p, here->t, uphill) > enough; k++) {
        place start = *here, far = *here;
        bracket b;
        v3 aim = aim_from(p, here, uphill, step, k, two_ago);
        if (!(v3_dot(v3_sub(aim, here->t), uphill) < -1e-3 * enough)) {
            return 0;
        }
        encounter_place(e, aim, p->normal, p->size, &far);
        outcome found = line_search(e, p, here, uphill, &far, &b);
        if (found == CREASE) {
            double w = b.slope / (b.slope - b.slope_beyond);
            here->g = v3_add(v3_scale(1 - w, here->g), v3_scale(w, b.beyond));
            return 1;
        }
        if (found == NO_LOWER) {
            return 0;
        }
        v3 before = uphill;
        two_ago = one_ago;
        one_ago = start.t;
        uphill = place_uphill(here);
        v3 moved = v3_sub(here->t, start.t);
        double length = v3_dot(moved, moved), bend = v3_dot(moved, v3_sub(uphill, before));
        step = bend > 1e-3 * length / p->size ? length / bend : 1e3 * p->size;
    }
    return 0;
}

/* Halfway between the two surfaces both solids are, where they overlap. */
static int overlaps(encounter *e, const place *at) {
    v3 g, middle = v3_axpy(at->x, -0.5 * place_gap(at) / v3_norm(at->g), at->g);
    return encounter_field(e, middle, &g) < 0 &&
           (!e->surface->distance || e->surface->distance(e->surface, middle, &g) < 0);
}

void place_check(encounter *e, place *at) {
    if (at->lift == 0) {
        return;
    }
    place plain = *at;
    plain.shift = v3_make(0, 0, 0);
    plain.lift = 0;
    plain.f = encounter_field(e, at->x, &plain.g);
    if (plain.f >= 0 || place_gap(at) > 0.99 * plain.f || !overlaps(e, at)) {
        v3 n = at->g;
        *at = plain;
        if (plain.f >= 0 && v3_dot(n, plain.g) > 0.99) {
            at->g = n; /* better known than where phi is sharp */
        }
    }
}

void patch_minimum(encounter *e, const patch *p, place *out) {
    enum { LIFTS = 4 };
    const double ROUND = 0.2; /* of the size: how far off phi is round enough */
    place here = p->corner[best_corner(p)];
    here.shift = v3_make(0, 0, 0);
    here.lift = 0;
    int creased = descend(e, p, &here);
    for (int k = 0; k < LIFTS && creased; k++) {
        double length = v3_norm(here.g), lift = ROUND * p->size - place_gap(&here);
        if (!(length > 0.1) || !(lift > 0)) {
            break;
        }
        v3 n = v3_scale(1 / length, here.g);
        here.shift = v3_scale(lift, n);
        encounter_place(e, here.t, p->normal, p->size, &here);
        descend(e, p, &here);
        here.lift = v3_dot(here.shift, here.g);
        creased = v3_norm(v3_sub(here.g, n)) > 1e-7;
    }
    place_check(e, &here);
    *out = here;
}
