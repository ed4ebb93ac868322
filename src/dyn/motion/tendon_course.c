/* Geodesics of a taut string over a sphere or a cylinder.
 *
 *     around    P = f(rho_a) + f(rho_b) + r phi,     f(rho) = sqrt(rho^2 - r^2) - r acos(r / rho)
 *     inside    P = |a - x| + |x - b|,  least over the points x of the circle
 *     sphere    L = P                   cylinder    L^2 = P^2 + (z_b - z_a)^2
 *
 *     r             radius, m
 *     rho_a, rho_b  distances of the ends a, b from the centre or the axis, m
 *     phi           angle between the ends as seen from there, rad; 2 pi - phi over the far side
 *     P, L          length in the plane of the circle, and in space, m
 *
 * The string on a sphere stays in the plane of a, b and the centre; on an unrolled cylinder it is a straight line.  It
 * touches where phi > acos(r / rho_a) + acos(r / rho_b): there the arc is 0, so that L and its gradient have no jump.
 * A length is stationary in the points of contact: gradients hold these fixed.
 *
 * Reference: Garner, Pandy, The obstacle-set method for representing muscle paths in musculoskeletal models, Computer
 * Methods in Biomechanics and Biomedical Engineering 3, 2000 (sphere and cylinder).  The path inside, a reflection at a
 * circle (Alhazen's problem), is found by Newton's method within a bracket.  Cost: some trigonometric functions. */
#include "dyn/motion/tendon_course.h"

#include <stddef.h>

static const double ON_SURFACE = 1e-9; /* of the radius: an end nearer to the axis is inside, and the string straight */
static const double RIGHT_ANGLE = 1e-12; /* cosine: rounding does not move a string at a right angle to its side */

/* Both ends in the plane: distances from the axis, and the angle between them. */
typedef struct plane_ends {
    jet rho_a, rho_b, phi;
} plane_ends;

static jet3 project_to_circle(const string_obstacle *o, jet3 p) {
    if (o->cylinder) {
        p.x.z = p.d.z = p.dd.z = 0;
    }
    return p;
}

static plane_ends seen_from_axis(const string_obstacle *o, jet3 a, jet3 b) {
    a = project_to_circle(o, a);
    b = project_to_circle(o, b);
    jet across = jet3_norm(jet3_cross(a, b));
    return (plane_ends){jet3_norm(a), jet3_norm(b), jet_angle(across, jet3_dot(a, b))};
}

/* Distance of an end from its tangent point, sqrt(rho^2 - r^2), and the angle between both, acos(r / rho). */
static double tangent_length(double r, double rho) { return sqrt(max_of(0, (rho - r) * (rho + r))); }
static double tangent_angle(double r, double rho) { return atan2(tangent_length(r, rho), r); }

/* f(rho);  f' = l / rho, f'' = r^2 / (l rho^2) with l the distance to the tangent point. */
static jet tangent_part(double r, jet rho) {
    double l = tangent_length(r, rho.x);
    return jet_chain(rho, l - r * tangent_angle(r, rho.x), l / rho.x, l > 0 ? r * r / (l * rho.x * rho.x) : 0);
}

/* Distance of an end from the point of the circle at the angle `turn` from it. */
static jet chord_length(double r, jet rho, jet turn) {
    jet squares = jet_add(jet_times(rho, rho), jet_constant(r * r));
    return jet_root(jet_axpy(squares, -2 * r, jet_times(rho, jet_cosine(turn))));
}

/* dP/d beta of a path inside, by way of the point at the angle beta from a. */
static jet inside_slope(double r, const plane_ends *e, jet beta) {
    jet rest = jet_axpy(e->phi, -1, beta);
    jet from = jet_over(jet_times(e->rho_a, jet_sine(beta)), chord_length(r, e->rho_a, beta));
    jet to = jet_over(jet_times(e->rho_b, jet_sine(rest)), chord_length(r, e->rho_b, rest));
    return jet_scale(r, jet_axpy(from, -1, to));
}

/* The point of the shortest path inside: the slope rises from below zero to above among the points that both ends see. */
static double solve_inside(double r, const plane_ends *e) {
    const plane_ends fixed = {jet_constant(e->rho_a.x), jet_constant(e->rho_b.x), jet_constant(e->phi.x)};
    double low = max_of(0, e->phi.x - tangent_angle(r, e->rho_b.x));
    double high = min_of(e->phi.x, tangent_angle(r, e->rho_a.x)), beta = 0.5 * (low + high);
    for (int k = 0; k < 100; k++) {
        jet slope = inside_slope(r, &fixed, (jet){beta, 1, 0});
        *(slope.x > 0 ? &high : &low) = beta;
        double next = beta - slope.x / slope.d;
        next = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(next - beta) <= 1e-16 * (1 + fabs(beta))) {
            break;
        }
        beta = next;
    }
    return beta;
}

/* P */
static jet plane_length(const string_obstacle *o, const string_course *c, jet3 a, jet3 b) {
    double r = o->radius;
    plane_ends e = seen_from_axis(o, a, b);
    if (c->kind == COURSE_INSIDE) {
        /* the point moves so that it stays stationary */
        const plane_ends fixed = {jet_constant(e.rho_a.x), jet_constant(e.rho_b.x), jet_constant(e.phi.x)};
        jet beta = jet_constant(c->middle);
        double bend = inside_slope(r, &fixed, (jet){c->middle, 1, 0}).d;
        beta.d = bend > 0 ? -inside_slope(r, &e, beta).d / bend : 0;
        return jet_add(chord_length(r, e.rho_a, beta), chord_length(r, e.rho_b, jet_axpy(e.phi, -1, beta)));
    }
    jet turn = c->kind == COURSE_FAR ? jet_axpy(jet_constant(2 * M_PI), -1, e.phi) : e.phi;
    return jet_add(jet_add(tangent_part(r, e.rho_a), tangent_part(r, e.rho_b)), jet_scale(r, turn));
}

jet course_length(const string_obstacle *o, const string_course *c, jet3 a, jet3 b) {
    jet3 way = jet3_sub(b, a);
    if (c->kind == COURSE_STRAIGHT) {
        return jet3_norm(way);
    }
    jet P = plane_length(o, c, a, b), rise = {way.x.z, way.d.z, way.dd.z};
    return o->cylinder ? jet_root(jet_add(jet_times(P, P), jet_times(rise, rise))) : P;
}

/* Axes of the plane: e1 to a, e2 across towards b. */
static void set_plane(const string_obstacle *o, v3 a, v3 b, string_course *c) {
    c->e1 = v3_scale(1 / v3_norm(a), a);
    v3 across = v3_axpy(b, -v3_dot(b, c->e1), c->e1);
    double size = v3_norm(across);
    if (size > 1e-14 * v3_norm(b)) {
        /* once more: what is left of a long b is little beside its rounding */
        across = v3_scale(1 / size, across);
        across = v3_axpy(across, -v3_dot(across, c->e1), c->e1);
        c->e2 = v3_scale(1 / v3_norm(across), across);
    } else {
        c->e2 = o->cylinder ? v3_make(-c->e1.y, c->e1.x, 0) : v3_perpendicular(c->e1);
    }
}

static v3 on_circle(const string_course *c, double r, double angle) {
    return v3_add(v3_scale(r * cos(angle), c->e1), v3_scale(r * sin(angle), c->e2));
}

/* The point of the segment from a to b that is nearest to the centre. */
static v3 nearest_of_segment(v3 a, v3 b) {
    v3 way = v3_sub(b, a);
    double part = v3_dot(way, way) > 0 ? -v3_dot(way, a) / v3_dot(way, way) : 0;
    return v3_axpy(a, min_of(1, max_of(0, part)), way);
}

/* Over which side; tangent angles alpha of both ends. */
static course_kind choose_side(const string_course *c, const double *alpha, double phi, v3 a, v3 b, const v3 *side) {
    bool clear = phi <= alpha[0] + alpha[1];
    if (!side) {
        return clear ? COURSE_STRAIGHT : COURSE_NEAR;
    }
    if (clear) {
        v3 nearest = nearest_of_segment(a, b);
        double least = -RIGHT_ANGLE * v3_norm(*side) * v3_norm(nearest);
        return v3_dot(*side, nearest) >= least ? COURSE_STRAIGHT : COURSE_FAR;
    }
    v3 near = on_circle(c, 1, 0.5 * (phi + alpha[0] - alpha[1]));
    v3 far = on_circle(c, -1, 0.5 * (phi - alpha[0] + alpha[1]));
    return v3_dot(near, *side) > v3_dot(far, *side) ? COURSE_NEAR : COURSE_FAR;
}

/* Angles at which the string meets and leaves the surface, and the two points. */
static void place_touch(const string_obstacle *o, const double *alpha, double phi, v3 a, v3 b, string_course *c) {
    double sign = c->kind == COURSE_FAR ? -1 : 1, way[3], r = o->radius;
    c->arc[0] = c->kind == COURSE_INSIDE ? c->middle : sign * alpha[0];
    c->arc[1] = c->kind == COURSE_INSIDE ? c->middle : sign * ((sign < 0 ? 2 * M_PI - phi : phi) - alpha[1]);
    for (int k = 0; k < 2; k++) {
        c->on[k] = on_circle(c, r, c->arc[k]);
    }
    if (o->cylinder) {
        /* the height rises evenly along the way */
        v3 flat_a = {a.x, a.y, 0}, flat_b = {b.x, b.y, 0};
        way[0] = v3_norm(v3_sub(c->on[0], flat_a));
        way[1] = r * fabs(c->arc[1] - c->arc[0]);
        way[2] = v3_norm(v3_sub(c->on[1], flat_b));
        double all = way[0] + way[1] + way[2], part = all > 0 ? (b.z - a.z) / all : 0;
        c->on[0].z = a.z + part * way[0];
        c->on[1].z = a.z + part * (way[0] + way[1]);
    }
}

string_course find_course(const string_obstacle *o, v3 a, v3 b, const v3 *side) {
    string_course c = {.kind = COURSE_STRAIGHT};
    double r = o->radius;
    /* ends and side in the plane of the circle */
    v3 flat_a = project_to_circle(o, jet3_constant(a)).x, flat_b = project_to_circle(o, jet3_constant(b)).x;
    plane_ends e = seen_from_axis(o, jet3_constant(a), jet3_constant(b));
    if (min_of(e.rho_a.x, e.rho_b.x) < (1 - ON_SURFACE) * r) {
        return c;
    }
    set_plane(o, flat_a, flat_b, &c);
    double alpha[2] = {tangent_angle(r, e.rho_a.x), tangent_angle(r, e.rho_b.x)};
    v3 aim = {0, 0, 0};
    if (side) {
        aim = v3_add(v3_scale(v3_dot(*side, c.e1), c.e1), v3_scale(v3_dot(*side, c.e2), c.e2));
    }
    /* through the obstacle, or around */
    if (side && v3_norm(project_to_circle(o, jet3_constant(*side)).x) < r) {
        c.kind = e.phi.x <= alpha[0] + alpha[1] ? COURSE_INSIDE : COURSE_STRAIGHT;
        c.middle = c.kind == COURSE_INSIDE ? solve_inside(r, &e) : 0;
    } else {
        c.kind = choose_side(&c, alpha, e.phi.x, flat_a, flat_b, side ? &aim : NULL);
    }
    if (c.kind != COURSE_STRAIGHT) {
        place_touch(o, alpha, e.phi.x, a, b, &c);
    }
    return c;
}
