/* Minimum of a distance field over a triangle of a surface.
 *
 *     minimise f(t) = phi(P(t)),  t in the triangle,
 *
 * with P(t) the point of the true surface nearest to t (the identity where triangles are the surface).  From the best
 * corner, towards the least point of a quadratic model on the triangle. Its curvature comes from the gradients at the
 * corners and is corrected on the way (BFGS); safeguarded so that f never rises.  It stops when the duality gap max_k
 * grad f . (t - corner_k), which bounds what is left to gain where f is convex, is within tolerance.  Local minima on
 * triangles and the gap: Macklin, Erleben, Mueller, Chentanez, Jeschke, Corse, "Local optimization for robust signed
 * distance field collision", 2020, sections 4.1 and 4.2.  The model, since small radii beside large ones make valleys
 * in which first-order steps crawl.
 *
 * Inside a solid with edges phi has creases, and just outside it turns as sharply: there neither says which way out
 * is. But moving the surface by s along the normal of a contact adds s to its gap and changes nothing else.  So a
 * search that ends on a crease goes on with the surface lifted off, along the best guess of the normal, to where phi
 * is round.  The normal found there is the next guess. */
#include "collide/field/field_model.h"

enum { MAX_DESCENT_STEPS = 16, MAX_LINE_TRIALS = 6 };
static const double MIN_CREASE_SLOPE = 0.05; /* how much the slope changes across what is called a crease */

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
    for (int trial = 0; trial < MAX_LINE_TRIALS; trial++) {
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
    int turns = b->slope_beyond > 0 && b->slope_beyond - b->slope > MIN_CREASE_SLOPE * v3_norm(d);
    return turns ? CREASE : low > 0 ? LOWER : NO_LOWER;
}

static int best_corner(const patch *p) {
    int best = 0;
    for (int k = 1; k < 3; k++) {
        best = p->corner[k].f < p->corner[best].f ? k : best;
    }
    return best;
}

static double model_value(const model *m, const double d[2]) {
    return m->u[0] * d[0] + m->u[1] * d[1] + 0.5 * model_curvature(m, d, d);
}

/* The least point of the model on the triangle: inside, or on one of the edges. */
static v3 model_minimum(const model *m, const patch *p, v3 from) {
    double corner[3][2], det = m->xx * m->yy - m->xy * m->xy, best[2] = {0, 0}, least = 0;
    double newton[2] = {-(m->yy * m->u[0] - m->xy * m->u[1]) / det, -(m->xx * m->u[1] - m->xy * m->u[0]) / det};
    int inside = 1;
    for (int k = 0; k < 3; k++) {
        model_components(m, v3_sub(p->corner[k].t, from), corner[k]);
    }
    for (int k = 0; k < 3; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % 3];
        double w[2] = {b[0] - a[0], b[1] - a[1]};
        inside = inside && w[0] * (newton[1] - a[1]) - w[1] * (newton[0] - a[0]) >= 0;
        double slope = m->u[0] * w[0] + m->u[1] * w[1] + model_curvature(m, a, w),
               s = -slope / model_curvature(m, w, w);
        s = fmin(fmax(s, 0), 1);
        double d[2] = {a[0] + s * w[0], a[1] + s * w[1]}, value = model_value(m, d);
        if (value < least) {
            least = value;
            best[0] = d[0];
            best[1] = d[1];
        }
    }
    const double *d = inside ? newton : best;
    return v3_add(from, v3_add(v3_scale(d[0], m->e[0]), v3_scale(d[1], m->e[1])));
}

static void update_model(model *m, v3 moved, v3 turned) {
    double s[2], y[2];
    model_components(m, moved, s);
    model_components(m, turned, y);
    model_learn(m, s, y);
}

/* From `here` down to a local minimum. Returns 1 when it ends on a crease; then its g is the two sides' together. */
static bool descend_on_triangle(encounter *e, const patch *p, place *here) {
    double enough = 3e-6 * p->size, least = 1e-3 * enough;
    v3 uphill = place_uphill(here);
    model m = model_create(p);
    for (int k = 0; k < MAX_DESCENT_STEPS && duality_gap(p, here->t, uphill) > enough; k++) {
        place start = *here, far = *here;
        bracket b;
        model_components(&m, uphill, m.u);
        v3 aim = model_minimum(&m, p, here->t);
        if (!(v3_dot(v3_sub(aim, here->t), uphill) < -least)) {
            return false;
        }
        encounter_place(e, aim, p->normal, p->size, &far);
        outcome found = line_search(e, p, here, uphill, &far, &b);
        if (found == CREASE &&
            here->f > patch_round(e, p)) { /* so far off there is no crease: the model was too soft */
            if (v3_norm(v3_sub(far.t, start.t)) * v3_norm(uphill) < least) { /* nor any way left in it */
                return false;
            }
            uphill = place_uphill(here);
            update_model(&m, v3_sub(far.t, here->t), v3_sub(place_uphill(&far), uphill));
            continue;
        }
        if (found == CREASE) {
            double w = b.slope / (b.slope - b.slope_beyond);
            here->g = v3_add(v3_scale(1 - w, here->g), v3_scale(w, b.beyond));
            return true;
        }
        if (found == NO_LOWER) {
            return false;
        }
        v3 before = uphill;
        uphill = place_uphill(here);
        update_model(&m, v3_sub(here->t, start.t), v3_sub(uphill, before));
    }
    return false;
}

/* On with the surface lifted off, from where it is along its g. */
static void lift_off(encounter *e, const patch *p, place *here) {
    enum { MAX_LIFTS = 4 };
    for (int k = 0; k < MAX_LIFTS; k++) {
        double length = v3_norm(here->g), lift = patch_round(e, p) - place_gap(here);
        if (!(length > 0.1) || !(lift > 0)) {
            return;
        }
        v3 n = v3_scale(1 / length, here->g);
        here->shift = v3_scale(lift, n);
        encounter_place(e, here->t, p->normal, p->size, here);
        descend_on_triangle(e, p, here);
        here->lift = v3_dot(here->shift, here->g);
        if (v3_norm(v3_sub(here->g, n)) <= 1e-7) {
            return;
        }
    }
}

bool patch_touch(encounter *e, const patch *p, place *at) {
    double tiny = 1e-6 * p->size;
    if (!(fabs(place_gap(at)) <= tiny)) {
        return false;
    }
    place off = *at;
    off.g = v3_neg(p->normal);
    lift_off(e, p, &off);
    if (!(fabs(place_gap(&off) - place_gap(at)) <= tiny) || v3_norm(v3_sub(off.x, at->x)) > sqrt(1e-6) * p->size) {
        return false;
    }
    at->g = off.g;
    return true;
}

void patch_minimum(encounter *e, const patch *p, place *out) {
    place here = p->corner[best_corner(p)];
    here.shift = v3_make(0, 0, 0);
    here.lift = 0;
    if (descend_on_triangle(e, p, &here)) {
        lift_off(e, p, &here);
    }
    place_check(e, &here);
    *out = here;
}
