/* Newton's method for the bottom of a bowl: where a smooth curved surface lies parallel to a field.
 *
 *     u(x) = g - (g . n) n = 0,    x on the surface, n its normal there, g the field's gradient.
 *
 * The least place of one triangle lies beside the bottom that its neighbour has, and both are of one contact.  With B
 * the change of u along the surface, in the plane that touches it at x,
 *
 *     x <- P(x - B^-1 u),
 *
 * P the nearest point of the surface.  B comes from two places close to the first and is corrected on the way
 * (field_model.c); the axes of the plane turn with n.  A step is no longer than the trust radius, which shrinks where
 * the field does not fall.  Valleys between unlike radii cost little more than round bowls; where B says that the
 * bottom is far off, as along a cylinder, none is looked for.
 *
 * References: J. Nocedal, S. J. Wright, Numerical Optimization, 2006, chapters 4 and 6; P.-A. Absil, R. Mahony,
 * R. Sepulchre, Optimization Algorithms on Matrix Manifolds, 2008 (the step in the tangent plane, brought back by P).
 * Departure: axes are carried along by projection, no parallel transport.
 * A valley whose bottom is level has no bowl, nor has the rim of a flat face that turns into a round: there the place across
 * from the middle of the triangle is taken, which depends smoothly on the pose.
 *
 * Cost: to a slope of 1e-8 about 8 evaluations of the field and 20 of the surface's distance; 1 and 2 where the
 * triangle is flat. */
#include "collide/field/field_model.h"

enum { MAX_NEWTON_STEPS = 16 };
static const double MAX_LEVEL_SLOPE = 1e-8;  /* slope that is none: rounding leaves up to 2e-9 along a valley */
static const double MIN_SLOPE_GAIN = 0.1;    /* of the slope at first: less tells of a bottom near */
static const double MAX_WAY_OVER_SIZE = 1.5; /* triangle's sizes from the start */
static const double MAX_FIRST_STEP_OVER_SIZE =
    3; /* triangle's sizes: no search where the first Newton step is longer */
static const double MIN_TURN_OVER_SLOPE =
    0.3; /* of the slope at first: a change across the triangle that tells of no bottom near */
static const double MAX_LINE_CURVATURE_RATIO = 0.05;     /* along over across: a line is looked for */
static const double MAX_STRAIGHT_CURVATURE_RATIO = 1e-3; /* such a valley has no bottom */
static const double ARMIJO_C1 = 1e-4;                    /* of what the slope promises */
static const double MIN_RIM_TURN = 0.02;                 /* of the slope across a triangle at the edge of a flat face */
static const double RIM_SLOPE_RISE = 1e-3;               /* of the slope, where a round begins */
static const double PROBE_OVER_SIZE = 1e-3;              /* of the triangle's size */
static const double FIRST_TRUST_OVER_SIZE = 0.5;         /* of the triangle's size */

/* How the slope changes from corner to corner, at most. */
static double slope_change(const patch *p) {
    double most = 0;
    for (int k = 0; k < 3; k++) {
        v3 d = v3_sub(place_uphill(&p->corner[(k + 1) % 3]), place_uphill(&p->corner[k]));
        most = fmax(most, v3_norm(d));
    }
    return most;
}

/* The axes turned into the plane that touches at `at`; u in them. */
static void set_tangent_axes(model *m, const place *at) {
    v3 n = at->normal, along = v3_axpy(m->e[0], -v3_dot(m->e[0], n), n);
    m->e[0] = v3_scale(1 / v3_norm(along), along);
    m->e[1] = v3_cross(n, m->e[0]);
    model_components(m, place_uphill(at), m->u);
}

/* By `step` within the plane, and back to the surface: way and turn of u in `m`'s axes there. */
static bool step_on_surface(encounter *e, const place *from, const model *before, v3 step, place *to, model *m,
                            double way[2], double turn[2]) {
    *to = *from;
    if (!solid_project(e->surface, v3_add(from->x, step), 3 * v3_norm(step), &to->x, &to->normal)) {
        return false;
    }
    to->f = encounter_field(e, v3_add(to->x, to->shift), &to->g);
    *m = *before;
    set_tangent_axes(m, to);
    model_components(m, v3_sub(to->x, from->x), way);
    turn[0] = m->u[0] - before->u[0];
    turn[1] = m->u[1] - before->u[1];
    return v3_norm(to->g) > 0.1;
}

/* B from how u turns along both axes. */
static bool probe_hessian(encounter *e, const patch *p, const place *at, model *m) {
    double way[2][2], turn[2][2];
    for (int k = 0; k < 2; k++) {
        place there;
        model turned;
        if (!step_on_surface(e, at, m, v3_scale(PROBE_OVER_SIZE * p->size, m->e[k]), &there, &turned, way[k],
                             turn[k])) {
            return false;
        }
    }
    m->xx = turn[0][0] / way[0][0];
    m->yy = turn[1][1] / way[1][1];
    m->xy = 0.5 * (turn[0][1] / way[0][0] + turn[1][0] / way[1][1]);
    model_bound(m);
    return true;
}

/* -B^-1 u, no longer than `trust`. */
static v3 newton_step(const model *m, double trust) {
    double det = m->xx * m->yy - m->xy * m->xy;
    double d[2] = {-(m->yy * m->u[0] - m->xy * m->u[1]) / det, -(m->xx * m->u[1] - m->xy * m->u[0]) / det};
    double length = hypot(d[0], d[1]), scale = length > trust ? trust / length : 1;
    return v3_add(v3_scale(scale * d[0], m->e[0]), v3_scale(scale * d[1], m->e[1]));
}

static double slope_of(const model *m) { return hypot(m->u[0], m->u[1]); }

/* Is there a straight band to one side of the bottom?  The least curvature of the four pairs of sides. */
static bool has_straight_side(encounter *e, const patch *p, const place *at, const model *m) {
    double B[2][2][2];
    for (int k = 0; k < 4; k++) {
        double way[2], turn[2], *out = B[k & 1][k >> 1];
        place there;
        model turned;
        if (!step_on_surface(e, at, m, v3_scale((k >> 1 ? -PROBE_OVER_SIZE : PROBE_OVER_SIZE) * p->size, m->e[k & 1]),
                             &there, &turned, way, turn)) {
            return false;
        }
        out[0] = turn[0] / way[k & 1];
        out[1] = turn[1] / way[k & 1];
    }
    for (int k = 0; k < 4; k++) {
        const double *a = B[0][k & 1], *b = B[1][k >> 1];
        model side = {.xx = a[0], .yy = b[1], .xy = 0.5 * (a[1] + b[0])};
        if (model_curvature_ratio(&side) <= MAX_LINE_CURVATURE_RATIO) {
            return true;
        }
    }
    return false;
}

bool bowl_bottom(encounter *e, const patch *p, place *at) {
    place here = *at;
    if (!solid_project(e->surface, at->x, p->size, &here.x, &here.normal)) { /* corners stand beside it a little */
        return false;
    }
    here.f = encounter_field(e, v3_add(here.x, here.shift), &here.g);
    model m = {.e = {v3_perpendicular(at->normal)}, .softest = 1e-4 / p->size, .stiffest = 1e4 / p->size};
    set_tangent_axes(&m, &here);
    double first = slope_of(&m), trust = FIRST_TRUST_OVER_SIZE * p->size;
    e->lines++; /* unless it is the bottom of a bowl */
    if (slope_change(p) <= MIN_TURN_OVER_SLOPE * first || !probe_hessian(e, p, &here, &m) ||
        model_curvature_ratio(&m) <= MAX_STRAIGHT_CURVATURE_RATIO ||
        v3_norm(newton_step(&m, HUGE_VAL)) > MAX_FIRST_STEP_OVER_SIZE * p->size) {
        return false;
    }
    for (int k = 0; k < MAX_NEWTON_STEPS && slope_of(&m) > MAX_LEVEL_SLOPE; k++) {
        place next;
        model turned;
        double way[2], turn[2];
        v3 step = newton_step(&m, trust);
        if (!step_on_surface(e, &here, &m, step, &next, &turned, way, turn)) {
            trust = 0.25 * v3_norm(step);
            continue;
        }
        if (v3_norm(v3_sub(next.x, at->x)) > MAX_WAY_OVER_SIZE * p->size) {
            return false;
        }
        model_learn(&turned, way, turn);
        double promise = ARMIJO_C1 * v3_dot(place_uphill(&here), step);
        if (next.f <= here.f + promise || slope_of(&turned) <= 0.5 * slope_of(&m)) {
            here = next;
            m = turned;
        } else if (slope_of(&m) <= MIN_SLOPE_GAIN * first) {
            break; /* rounding decides */
        } else {
            trust = 0.25 * v3_norm(step);
        }
    }
    if (!(slope_of(&m) <= fmax(MAX_LEVEL_SLOPE, MIN_SLOPE_GAIN * first))) {
        return false;
    }
    e->lines -= !has_straight_side(e, p, &here, &m);
    *at = here;
    at->lift = v3_dot(at->shift, at->g);
    return true;
}

bool valley_middle(encounter *e, const patch *p, place *at) {
    enum { MAX_STEPS = 8 };
    const double MIN_TURN = 0.1; /* of the slope across the triangle */
    const double MAX_VALLEY_RATIO = 0.02, MAX_RISE_OVER_SIZE = 1e-3;
    /* curvature, where the slope turns across the triangle at all */
    place here = *at;
    model m = {.e = {v3_perpendicular(at->normal)}, .softest = 1e-4 / p->size, .stiffest = 1e4 / p->size};
    set_tangent_axes(&m, &here);
    if (here.lift != 0 || slope_change(p) < MIN_TURN || slope_of(&m) > FIELD_SLACK || !probe_hessian(e, p, &here, &m)) {
        return false;
    }
    /* axis of least curvature */
    double mean = 0.5 * (m.xx + m.yy), half = 0.5 * (m.xx - m.yy), r = hypot(half, m.xy), stiff = mean + r;
    if (!(fabs(mean - r) <= MAX_VALLEY_RATIO * stiff)) {
        return false;
    }
    double angle = 0.5 * atan2(-m.xy, -half);
    v3 along = v3_add(v3_scale(cos(angle), m.e[0]), v3_scale(sin(angle), m.e[1]));
    /* along it to the middle, and back across it to the bottom */
    v3 middle = v3_scale(1.0 / 3, v3_add(p->whole[0], v3_add(p->whole[1], p->whole[2])));
    v3 step = v3_scale(v3_dot(along, v3_sub(middle, here.x)), along);
    for (int k = 0; k < MAX_STEPS; k++) {
        if (!solid_project(e->surface, v3_add(here.x, step), p->size + 3 * v3_norm(step), &here.x, &here.normal)) {
            return false;
        }
        here.f = encounter_field(e, here.x, &here.g);
        step = v3_scale(-1 / stiff, place_uphill(&here));
        if (v3_norm(step) <= 1e-7 * p->size) {
            break;
        }
    }
    /* no place of the ring is much less deep */
    if (!(v3_norm(place_uphill(&here)) <= FIELD_SLACK && here.f <= at->f + MAX_RISE_OVER_SIZE * p->size)) {
        return false;
    }
    here.t = middle;
    *at = here;
    return true;
}

/* Places x(t) = P(middle + t out) of the surface, and the slope along `out` there; `out` within the flat face. */
typedef struct spoke {
    v3 middle, out; /* of the triangle; unit */
    double size;
} spoke;

static bool slope_on_spoke(encounter *e, const spoke *s, double t, place *at, double *slope) {
    if (!solid_project(e->surface, v3_axpy(s->middle, t, s->out), s->size, &at->x, &at->normal)) {
        return false;
    }
    at->f = encounter_field(e, at->x, &at->g);
    *slope = v3_dot(place_uphill(at), s->out);
    return true;
}

/* Where the slope has risen to `bar`, between t[0] on the flat and t[1] beyond: secants through the last two places beyond,
 * which are exact on a round but for terms of the third degree; bisections where these do not help. */
static bool find_rim(encounter *e, const spoke *s, double bar, double t[2], place *at) {
    enum { MAX_CUTS = 30 };
    double beyond[2][2] = {{0, 0}, {0, 0}}, rise; /* t and slope less the bar: the last two */
    int known = 0;
    for (int k = 0; k < MAX_CUTS; k++) {
        double turn = beyond[0][1] - beyond[1][1], here = 0.5 * (t[0] + t[1]);
        if (known >= 2 && k % 3 != 2 && fabs(turn) > 1e-6) {
            double secant = beyond[0][0] - beyond[0][1] * (beyond[0][0] - beyond[1][0]) / turn;
            here = secant > t[0] && secant < t[1] ? secant : here;
        }
        if (!slope_on_spoke(e, s, here, at, &rise)) {
            return false;
        }
        rise -= bar;
        if (fabs(rise) <= 1e-3 * RIM_SLOPE_RISE) {
            return true;
        }
        t[rise > 0] = here;
        if (rise > 0) {
            beyond[1][0] = beyond[0][0];
            beyond[1][1] = beyond[0][1];
            beyond[0][0] = here;
            beyond[0][1] = rise;
            known++;
        }
    }
    return t[1] - t[0] <= 1e-7 * s->size;
}

bool rim_middle(encounter *e, const patch *p, place *at) {
    const double MAX_RISE_OVER_SIZE = 2e-3, INWARDS_OVER_SIZE = 0.05, SAME_SLOPE = 1e-7;
    if (slope_change(p) < MIN_RIM_TURN) {
        return false;
    }
    /* in the plane of the flat from beside the middle of the triangle towards where it is steepest */
    const place *steepest = &p->corner[0];
    for (int k = 1; k < 3; k++) {
        bool steeper = v3_norm(place_uphill(&p->corner[k])) > v3_norm(place_uphill(steepest));
        steepest = steeper ? &p->corner[k] : steepest;
    }
    v3 n = v3_scale(1 / v3_norm(at->g), at->g), middle = v3_add(p->whole[0], v3_add(p->whole[1], p->whole[2]));
    spoke s = {v3_scale(1.0 / 3, middle), place_uphill(steepest), p->size};
    s.middle = v3_axpy(s.middle, v3_dot(n, v3_sub(at->x, s.middle)), n);
    s.out = v3_axpy(s.out, -v3_dot(n, s.out), n);
    if (!(v3_norm(s.out) > 0)) {
        return false;
    }
    s.out = v3_scale(1 / v3_norm(s.out), s.out);
    double low = fmin(v3_dot(s.out, v3_sub(at->x, s.middle)), 0), inwards = INWARDS_OVER_SIZE * p->size, slope;
    double t[2] = {low - inwards, v3_dot(s.out, v3_sub(steepest->x, s.middle))}, rise[2];
    /* the slope is the same in two places inwards: a flat face */
    place here = {.t = v3_scale(1.0 / 3, middle)};
    if (!slope_on_spoke(e, &s, low - 2 * inwards, &here, &slope) || !slope_on_spoke(e, &s, t[0], &here, &rise[0]) ||
        !(fabs(rise[0] - slope) <= SAME_SLOPE) || !slope_on_spoke(e, &s, t[1], &here, &rise[1]) ||
        !(rise[1] > rise[0] + RIM_SLOPE_RISE) || !find_rim(e, &s, rise[0] + RIM_SLOPE_RISE, t, &here)) {
        return false;
    }
    /* no place of the triangle is much less deep */
    if (!(v3_norm(place_uphill(&here)) <= FIELD_SLACK && here.f <= place_gap(at) + MAX_RISE_OVER_SIZE * p->size)) {
        return false;
    }
    *at = here;
    return true;
}
