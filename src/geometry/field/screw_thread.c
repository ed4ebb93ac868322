/* Distance from a screw thread.
 *
 * The surface.  In the half-plane at angle 0 the ridge about z = 0 has a crest at radius R, |z| <= c.  A flank z = c
 * + (R - rho) t leads down to the root at radius a, where |z| = f; the root leads on to half the pitch. t = tan of
 * half the angle between the flanks; c is an eighth of half the pitch, the crest of ISO 68-1.  A turn by phi lifts it
 * by k phi, k = pitch / 2 pi.
 *
 * The point.  A screw motion along the thread takes it to angle 0 and a height s within half a pitch of 0.  Half a turn
 * about the ridge's radial axis, which maps the thread onto itself, makes s >= 0.  Whether it is inside is told by the
 * profile there, exactly.
 *
 * The distance.  To crest and root: |r - R| or |r - a| where s lies over them.  To the flank with its two edges: with
 * sigma(rho) = c + (R - rho) t, least over rho in [a, R] and phi of
 *     F = r^2 + rho^2 - 2 r rho cos phi + (s - sigma(rho) - k phi)^2.
 * For given phi the best rho is in closed form (a quadratic, cut off at the edges); one equation remains,
 *     G = 1/2 dF/dphi = r rho sin phi - k (s - sigma(rho) - k phi) = 0,
 * with a root between 0 and pi on the side where G(0) points, since G(+-pi) has the other sign.  Newton's method
 * between brackets finds it; lead angles being small, phi is, and two steps reach rounding.  The least of the three is
 * the distance to the surface, hence continuous, of slope 1, with the surface's normal for gradient. */
#include "geometry/field/field.h"
#include "math/angle.h"

static const double CLOSE_RAD = 1e-6; /* rad: Newton squares it, the next step would be below 1e-13 */
enum { MAX_STEPS = 60 };

static sim_status refuse_thread(sim_error *error, const char *where, const char *what, double value,
                                const char *expected) {
    return sim_fail(error, SIM_BAD_INPUT, "%s: the thread's %s must be %s, not %g", where, what, expected, value);
}

static bool is_positive(double x) { return x > 0 && isfinite(x); }

sim_status thread_check(const sim_thread *t, const char *where, sim_error *error) {
    /* dimensions */
    if (!is_positive(t->diameter)) {
        return refuse_thread(error, where, "diameter", t->diameter, "positive and finite");
    }
    if (!is_positive(t->pitch)) {
        return refuse_thread(error, where, "pitch", t->pitch, "positive and finite");
    }
    if (!(t->depth > 0 && t->depth < t->diameter / 2)) {
        return refuse_thread(error, where, "depth", t->depth, "positive and less than half the diameter");
    }
    if (!t->internal && !is_positive(t->length)) {
        return refuse_thread(error, where, "length", t->length, "positive and finite");
    }
    if (!(t->flank_angle >= 0 && t->flank_angle < PI)) {
        return refuse_thread(error, where, "flank angle", t->flank_angle, "from 0 to less than pi");
    }
    if (!(t->clearance >= 0 && t->clearance < t->diameter / 2 - t->depth)) {
        return refuse_thread(error, where, "clearance", t->clearance, "from 0 to less than the core's radius");
    }
    /* the ridge fits into the pitch, and the pitch is small against the core */
    double wide = t->pitch / 8 + 2 * t->depth * tan(t->flank_angle / 2);
    if (!(wide <= t->pitch)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: the thread's ridge is %g wide at its root, more than its pitch of %g: a smaller depth or "
                        "flank angle is needed",
                        where, wide, t->pitch);
    }
    if (!(t->pitch <= PI * (t->diameter / 2 - t->depth))) {
        return refuse_thread(error, where, "pitch", t->pitch, "at most pi times the core's radius");
    }
    return SIM_OK;
}

field_thread thread_freeze(const sim_thread *t) {
    double slope = tan(t->flank_angle / 2), crest = t->pitch / 16;
    return (field_thread){.outer = t->diameter / 2,
                          .core = t->diameter / 2 - t->depth,
                          .crest = crest,
                          .foot = crest + t->depth * slope,
                          .slope = slope,
                          .inv_square = 1 / (1 + slope * slope),
                          .pitch = t->pitch,
                          .inv_pitch = 1 / t->pitch,
                          .lead = t->pitch / (2 * PI),
                          .clearance = t->clearance,
                          .thick = t->clearance * sqrt(1 + slope * slope) <= crest,
                          .half_length = t->internal ? HUGE_VAL : t->length / 2,
                          .side = t->internal ? -1 : 1,
                          .hand = t->left ? -1 : 1};
}

/* A point in cylindrical terms, brought to angle 0 and 0 <= s <= pitch / 2. */
typedef struct reduced {
    double r, s;
    double e[2]; /* the radial direction in x and y */
    double turn; /* -1: half a turn about the radial axis made s positive */
} reduced;

static reduced reduce_to_profile(const field_thread *t, v3 p) {
    reduced q = {.turn = 1};
    q.r = field_radial(p.x, p.y, q.e);
    q.s = p.z - t->lead * atan2(p.y, p.x);
    q.s -= t->pitch * rint(q.s * t->inv_pitch);
    if (q.s < 0) {
        q.s = -q.s;
        q.turn = -1;
    }
    return q;
}

/* A point of the flank, at the angle phi from the one that is asked. */
typedef struct flank_point {
    double rho, sine, cosine, height; /* height: s - sigma(rho) - k phi, from it up to the asked point */
    int edge;
} flank_point;

/* Taylor's series, the next term below rounding, for the small angles that lead angles give. */
static void small_sine(double x, double *sine, double *cosine) {
    if (fabs(x) < 0.2) {
        double z = x * x;
        *sine = x + x * z * (-1 / 6.0 + z * (1 / 120.0 + z * (-1 / 5040.0 + z * (1 / 362880.0))));
        *cosine = 1 + z * (-1 / 2.0 + z * (1 / 24.0 + z * (-1 / 720.0 + z * (1 / 40320.0 - z * (1 / 3628800.0)))));
    } else {
        *sine = sin(x);
        *cosine = cos(x);
    }
}

static flank_point flank_at(const field_thread *t, double r, double s, double phi) {
    flank_point f;
    small_sine(phi, &f.sine, &f.cosine);
    double w = s - t->crest - t->outer * t->slope - t->lead * phi;
    double rho = (r * f.cosine - t->slope * w) * t->inv_square;
    f.edge = rho < t->core || rho > t->outer;
    f.rho = rho < t->core ? t->core : rho > t->outer ? t->outer : rho;
    f.height = w + t->slope * f.rho;
    return f;
}

static flank_point flank_nearest(const field_thread *t, double r, double s) {
    const double k = t->lead;
    double phi = 0, low = -PI, high = PI, change = 1;
    flank_point f = flank_at(t, r, s, phi);
    for (int step = 0; step < MAX_STEPS && change > CLOSE_RAD; step++) {
        double G = r * f.rho * f.sine - k * f.height;
        if (G < 0) {
            low = phi;
        } else {
            high = phi;
        }
        double slant = f.edge ? 0 : t->slope * k - r * f.sine; /* (1 + slope^2) drho / dphi */
        double dG = r * f.rho * f.cosine + k * k - slant * slant * t->inv_square;
        double next = phi - G / dG;
        change = fabs(next - phi);
        if (!(dG > 0 && next >= low && next <= high)) {
            next = 0.5 * (low + high);
            change = 1; /* halving is no proof of being close */
        }
        phi = next;
        f = flank_at(t, r, s, phi);
    }
    return f;
}

/* The surface without its ends, clearance 0, as a rod: distance and gradient in the directions (radial, round, z).
 * `face`: no edge and no other side of the ridge is within twice the clearance of the nearest point.  So the surface moved
 * by the clearance has the same normal there. */
static double surface_distance(const field_thread *t, double r, double s, double g[3], bool *face) {
    bool inside = s <= t->crest ? r < t->outer : s >= t->foot ? r < t->core : (t->outer - r) * t->slope > s - t->crest;
    double side = inside ? -1 : 1;
    double least = HUGE_VAL;
    *face = t->thick && (s <= t->crest - 2 * t->clearance || s >= t->foot + 2 * t->clearance);
    g[0] = 1;
    g[1] = g[2] = 0;
    if (s <= t->crest) {
        least = fabs(r - t->outer);
        if (side > 0) {
            return least;
        }
    }
    if (s >= t->foot) {
        least = min_of(least, fabs(r - t->core));
        if (side < 0) {
            return -least;
        }
    }
    flank_point f = flank_nearest(t, r, s);
    double across = r - f.rho * f.cosine, round = -f.rho * f.sine;
    double d = sqrt(across * across + round * round + f.height * f.height);
    if (d >= least) {
        return side * least;
    }
    *face = t->thick && f.rho >= t->core + 2 * t->clearance && f.rho <= t->outer - 2 * t->clearance && !f.edge;
    if (f.edge && d > 1e-12 * t->outer) {
        double scale = side / d;
        g[0] = scale * across;
        g[1] = scale * round;
        g[2] = scale * f.height;
        return side * d;
    }
    double tilt = t->lead / f.rho, scale = 1 / sqrt(1 + t->slope * t->slope + tilt * tilt);
    g[0] = scale * (t->slope * f.cosine + tilt * f.sine); /* the flank's normal (slope, -tilt, 1), turned by phi */
    g[1] = scale * (t->slope * f.sine - tilt * f.cosine);
    g[2] = scale;
    return side * d;
}

double thread_distance(const field_thread *t, v3 p, v3 *gradient, double *lead) {
    v3 right = {p.x, t->hand * p.y, p.z};
    reduced q = reduce_to_profile(t, right);
    double g[3];
    bool face;
    double d = t->side * surface_distance(t, q.r, q.s, g, &face) + t->clearance;
    double radial = t->side * g[0], round = t->side * q.turn * g[1];
    *gradient = v3_make(radial * q.e[0] - round * q.e[1], t->hand * (radial * q.e[1] + round * q.e[0]),
                        t->side * q.turn * g[2]);
    double past = fabs(p.z) - t->half_length;
    *lead = face ? fabs(past - d) : 0;
    if (past > d) {
        *lead = past - d;
        *gradient = v3_make(0, 0, copysign(1, p.z));
        return past;
    }
    return d;
}
