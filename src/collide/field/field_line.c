/* Ends of a line contact: a cone, a cylinder or a rod given as a field that lies on its side.
 *
 * On such a line x(s) the field phi is about flat along d and rises across:
 *
 *     u_a = g . a = 0,      u_d(s) = g . d about constant,
 *
 * g the gradient of phi, d the direction of the line, a = n x d, n the surface's normal.  Any load of the line, in
 * force and moment, is that of forces at its two ends.  Points between them come and go with the triangles as the body
 * rolls; the ends stay.  The line ends where the slope along it, outwards, has risen by END_SLOPE_RISE:
 *
 *     u_d(s) = max(u_d(0), 0) + END_SLOPE_RISE.
 *
 * At a sharp rim that is the rim; where the surface is rounded with radius r it is r END_SLOPE_RISE beyond the begin of
 * the round. On the side to which the solid leans it is the lowest place of the round, up to r END_SLOPE_RISE.  Both
 * depend smoothly on the pose. A surface that bends along d (a barrel), or whose line does (a ring that lies flat), has
 * no such line.
 *
 * Over a face of a convex solid the line ends at the face's edge.  Inside the solid phi turns as far before the edge as the
 * line is deep, so the line is taken off the solid: the ends stand where edges are met, and both are one contact.
 *
 * Symbols: s arc length [m]; u slopes, pure numbers.
 * Cost: some 20 evaluations of both fields for each end. */
#include "collide/field/field_contact.h"

static const double END_SLOPE_RISE = 1e-3;     /* slope */
static const double MAX_SLOPE_CHANGE = 1e-4;   /* along a straight line */
static const double MAX_SLOPE_ACROSS = 1e-8;   /* on the line */
static const double MAX_SOFTNESS_RATIO = 0.05; /* curvature along the line over that across */
static const double MAX_BEND_RATIO = 1e-3;     /* way across over way along */
static const double PROBE_OVER_EXTENT = 1e-4;
static const double FIRST_STRIDE_OVER_EXTENT = 1e-3; /* beyond the last point */
static const double MAX_STRIDE_OVER_EXTENT = 0.1;
static const double END_TOLERANCE_RATIO = 0.01; /* of END_SLOPE_RISE */
static const double MAX_SMOOTH_RISE = 0.1;      /* slope beyond which the rise is no straight line, or a jump */
static const double MIN_STIFFNESS_RATIO = 1e-3; /* across the line, over that where it was found */
static const double MIN_CUT_OVER_EXTENT = 1e-8;
static const double MIN_LENGTH_OVER_EXTENT = 1e-3;
static const double SAME_LINE_OVER_EXTENT = 0.05; /* distance from the line of points that it replaces */
static const double MAX_REACH_OVER_EXTENT = 2.5;
static const double LIFT_OVER_EXTENT = 0.01; /* gap to a convex solid, of the smaller extent */

/* A place on the line, its axes in the surface there. */
typedef struct station {
    place at;
    v3 along, across; /* unit */
} station;

typedef struct line {
    encounter *e;
    v3 shift;                 /* a lift, see field_contact.h */
    v3 origin, along, across; /* at the first place */
    double stiffness;         /* of the field, across [1/m] */
    double length;            /* of the solid's own size [m] */
} line;

static bool place_station(const line *l, v3 x, v3 along, double reach, station *out) {
    place *at = &out->at;
    *at = (place){.shift = l->shift};
    if (!solid_project(l->e->surface, x, reach, &at->x, &at->normal)) {
        return false;
    }
    at->t = at->x;
    at->f = encounter_field(l->e, v3_add(at->x, at->shift), &at->g);
    at->lift = v3_dot(at->shift, at->g);
    v3 d = v3_axpy(along, -v3_dot(along, at->normal), at->normal);
    double length = v3_norm(d);
    if (!(length > 0.1) || !(v3_norm(at->g) > 0.1)) {
        return false;
    }
    out->along = v3_scale(1 / length, d);
    out->across = v3_cross(at->normal, out->along);
    return true;
}

static double slope_along(const station *s) { return v3_dot(s->at.g, s->along); }
static double slope_across(const station *s) { return v3_dot(s->at.g, s->across); }

/* The place of the line near x: secant steps across it. */
static bool find_station(line *l, v3 x, station *out) {
    enum { MAX_STEPS = 16 };
    double reach = MAX_STRIDE_OVER_EXTENT * l->length, stiffness = l->stiffness;
    if (!place_station(l, x, l->along, 2 * reach, out)) {
        return false;
    }
    for (int k = 0; k < MAX_STEPS && fabs(slope_across(out)) > MAX_SLOPE_ACROSS; k++) {
        double before = slope_across(out), step = -before / stiffness;
        station next;
        if (!(fabs(step) <= reach) ||
            !place_station(l, v3_axpy(out->at.x, step, out->across), l->along, 2 * reach, &next)) {
            return false;
        }
        double learned = (slope_across(&next) - before) / step;
        stiffness = learned > MIN_STIFFNESS_RATIO * l->stiffness ? learned : stiffness;
        *out = next;
    }
    return fabs(slope_across(out)) <= 1e-5;
}

/* How far off the straight line through the origin the station is, within the plane that touches there. */
static bool is_on_line(const line *l, const station *s) {
    v3 way = v3_sub(s->at.x, l->origin);
    return fabs(v3_dot(way, l->across)) <= MAX_BEND_RATIO * (fabs(v3_dot(way, l->along)) + 0.01 * l->length);
}

/* Change of both slopes per way h along one of the axes. */
static bool probe_curvature(const line *l, const station *here, v3 axis, double h, double change[2]) {
    station there;
    if (!place_station(l, v3_axpy(here->at.x, h, axis), here->along, fabs(h), &there)) {
        return false;
    }
    double way = v3_dot(v3_sub(there.at.x, here->at.x), axis);
    change[0] = (slope_along(&there) - slope_along(here)) / way;
    change[1] = (slope_across(&there) - slope_across(here)) / way;
    return true;
}

/* Directions of least and greatest curvature of the field over the surface at x, by differences.  At the end of a line
 * one side is round: of the four pairs of sides the one with the least curvature counts. */
static bool find_axes(line *l, v3 x) {
    /* the nearest point of the surface, with axes */
    const encounter *e = l->e;
    station here;
    double h = PROBE_OVER_EXTENT * e->surface->extent, B[2][2][2], softest = HUGE_VAL, angle = 0;
    if (!solid_project(e->surface, x, MAX_STRIDE_OVER_EXTENT * e->surface->extent, &here.at.x, &here.at.normal) ||
        !place_station(l, here.at.x, v3_perpendicular(here.at.normal), h, &here)) {
        return false;
    }
    /* curvature to both sides of both axes */
    for (int side = 0; side < 2; side++) {
        double way = side ? -h : h;
        if (!probe_curvature(l, &here, here.along, way, B[0][side]) ||
            !probe_curvature(l, &here, here.across, way, B[1][side])) {
            return false;
        }
    }
    /* eigenvalues of the four combinations; the softest counts */
    for (int k = 0; k < 4; k++) {
        const double *a = B[0][k & 1], *b = B[1][k >> 1];
        double xy = 0.5 * (a[1] + b[0]), mean = 0.5 * (a[0] + b[1]), half = 0.5 * (a[0] - b[1]), r = hypot(half, xy);
        if (fabs(mean - r) < softest) {
            softest = fabs(mean - r);
            angle = 0.5 * atan2(-xy, -half);
            l->stiffness = mean + r;
        }
    }
    /* frame of the line */
    l->length = e->surface->extent;
    l->origin = here.at.x;
    l->along = v3_add(v3_scale(cos(angle), here.along), v3_scale(sin(angle), here.across));
    l->across = v3_cross(here.at.normal, l->along);
    return l->stiffness > 0.1 / e->surface->extent && softest <= MAX_SOFTNESS_RATIO * l->stiffness;
}

/* The slope outwards less the bar, `s` from the origin; 1 beyond a sharp rim, where no place of the line is found. */
static double rise_at(line *l, double sign, double s, double bar, station *at) {
    int found = find_station(l, v3_axpy(l->origin, sign * s, l->along), at);
    return found ? sign * slope_along(at) - bar : 1;
}

/* Where the line ends along `sign` times its direction, looked for from `start` on, about where the points end. */
static bool find_end(line *l, const station *first, double sign, double start, station *end) {
    enum { MAX_CUTS = 40 };
    double bar = fmax(sign * slope_along(first), 0) + END_SLOPE_RISE;
    double low = 0, f_low = sign * slope_along(first) - bar, high = fmax(start, 0), f_high;
    double stride = FIRST_STRIDE_OVER_EXTENT * l->length;
    station at, inside = *first;                              /* the latter at `low` */
    while ((f_high = rise_at(l, sign, high, bar, &at)) < 0) { /* bracket */
        low = high, f_low = f_high, inside = at;
        high += stride;
        stride = fmin(4 * stride, MAX_STRIDE_OVER_EXTENT * l->length);
        if (high > MAX_REACH_OVER_EXTENT * l->length || !is_on_line(l, &at)) {
            return false;
        }
    }
    /* Illinois method, with bisections for a sharp rim, where the slope jumps */
    int side = 0;
    double reached = f_low; /* at `low`; f_low is halved by the method */
    for (int k = 0; k < MAX_CUTS && reached < -END_TOLERANCE_RATIO * END_SLOPE_RISE &&
                    high - low > MIN_CUT_OVER_EXTENT * l->length;
         k++) {
        double s = k % 3 == 2 || f_high > MAX_SMOOTH_RISE ? 0.5 * (low + high)
                                                          : (low * f_high - high * f_low) / (f_high - f_low);
        double f = rise_at(l, sign, s, bar, &at);
        if (f > END_TOLERANCE_RATIO * END_SLOPE_RISE) {
            high = s, f_high = f;
            f_low *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            low = s, f_low = reached = f, inside = at;
            f_high *= side == -1 && f_high <= MAX_SMOOTH_RISE ? 0.5 : 1;
            side = -1;
        }
    }
    *end = inside;
    return is_on_line(l, &inside);
}

/* The slope along the line is that of a straight one: it is the same a tenth of the length before both ends. */
static bool is_straight(line *l, const station end[2]) {
    v3 way = v3_sub(end[1].at.x, end[0].at.x);
    station inner[2];
    for (int k = 0; k < 2; k++) {
        if (!find_station(l, v3_axpy(end[0].at.x, k ? 0.9 : 0.1, way), &inner[k])) {
            return false;
        }
    }
    return v3_norm(way) >= MIN_LENGTH_OVER_EXTENT * l->length &&
           fabs(slope_along(&inner[1]) - slope_along(&inner[0])) <= MAX_SLOPE_CHANGE;
}

/* Where a contact point stands, in the surface's frame. */
static v3 point_on_surface(const encounter *e, const contact_point *c) {
    if (e->surface_is_a) {
        return v3_axpy(c->position, 0.5 * c->gap, c->normal);
    }
    v3 on = v3_axpy(c->position, -0.5 * c->gap, c->normal);
    return m3_transposed_times(e->pair->X_ab.R, v3_sub(on, e->pair->X_ab.p));
}

/* How far the points from `first` on reach along the line, both ways. */
static void reach_of_points(const line *l, int first, double reach[2]) {
    const encounter *e = l->e;
    reach[0] = reach[1] = 0;
    for (int k = first; k < e->out->count; k++) {
        v3 way = v3_sub(point_on_surface(e, &e->out->point[k]), l->origin);
        double s = v3_dot(way, l->along);
        if (v3_norm(v3_axpy(way, -s, l->along)) <= SAME_LINE_OVER_EXTENT * l->length) {
            reach[0] = fmax(reach[0], -s);
            reach[1] = fmax(reach[1], s);
        }
    }
}

/* Off a convex solid, farther than the points are deep: outside its distance has no creases. */
static v3 line_lift(const encounter *e, int first, const contact_point *c) {
    double least = c->gap;
    if (!e->field->convex) {
        return v3_make(0, 0, 0);
    }
    for (int k = first; k < e->out->count; k++) {
        least = fmin(least, e->out->point[k].gap);
    }
    double lift = fmax(LIFT_OVER_EXTENT * fmin(e->surface->extent, e->field->extent) - least, 0);
    return e->surface_is_a ? v3_scale(lift, c->normal)
                           : v3_scale(-lift, m3_transposed_times(e->pair->X_ab.R, c->normal));
}

/* The line through the place of the surface near point k: its two ends. */
static bool line_through(encounter *e, int first, int k, place end[2]) {
    v3 x = point_on_surface(e, &e->out->point[k]);
    line l = {.e = e, .shift = line_lift(e, first, &e->out->point[k])};
    station here, found[2];
    double reach[2];
    if (!find_axes(&l, x) || !find_station(&l, l.origin, &here) || !find_axes(&l, here.at.x) ||
        !find_station(&l, l.origin, &here)) { /* again: axes turn across a cone */
        return false;
    }
    l.origin = here.at.x;
    reach_of_points(&l, first, reach);
    if (!find_end(&l, &here, -1, reach[0], &found[0]) || !find_end(&l, &here, 1, reach[1], &found[1]) ||
        !is_straight(&l, found)) {
        return false;
    }
    end[0] = found[0].at;
    end[1] = found[1].at;
    return true;
}

static bool is_near_segment(v3 x, const place end[2], double near) {
    v3 way = v3_sub(end[1].x, end[0].x), from = v3_sub(x, end[0].x);
    double s = fmin(fmax(v3_dot(from, way) / v3_dot(way, way), 0), 1);
    return v3_norm(v3_axpy(from, -s, way)) <= near;
}

/* The ends' number: the axis of the solid that the line is most along, and which end. */
static uint32_t end_number(const place end[2], int k) {
    v3 way = v3_sub(end[1].x, end[0].x);
    double part[3] = {way.x, way.y, way.z};
    int axis = fabs(part[0]) >= fabs(part[1]) && fabs(part[0]) >= fabs(part[2]) ? 0
               : fabs(part[1]) >= fabs(part[2])                                 ? 1
                                                                                : 2;
    return (uint32_t)(2 * axis + ((part[axis] > 0) == (k == 1)));
}

/* The points near the line go. */
static void drop_points_of_line(encounter *e, int first, const place end[2]) {
    double near = SAME_LINE_OVER_EXTENT * e->surface->extent;
    int left = first;
    for (int i = first; i < e->out->count; i++) {
        if (!is_near_segment(point_on_surface(e, &e->out->point[i]), end, near)) {
            e->out->point[left++] = e->out->point[i];
        }
    }
    e->out->count = left;
}

/* Lines in an order that belongs to the solid, so that each keeps its number. */
static void sort_lines(place ends[][2], int count) {
    const v3 order = {0.3607, 0.4793, 0.8001};
    for (int k = 1; k < count; k++) {
        for (int j = k; j > 0; j--) {
            v3 before = v3_add(ends[j - 1][0].x, ends[j - 1][1].x), after = v3_add(ends[j][0].x, ends[j][1].x);
            if (v3_dot(order, before) <= v3_dot(order, after)) {
                break;
            }
            for (int i = 0; i < 2; i++) {
                place swap = ends[j][i];
                ends[j][i] = ends[j - 1][i];
                ends[j - 1][i] = swap;
            }
        }
    }
}

void report_lines(encounter *e, int first) {
    enum { MAX_TRIES = 8, MAX_LINES = 4 };
    place ends[MAX_LINES][2];
    int lines = 0;
    for (int k = first, tries = 0; k < e->out->count && tries < MAX_TRIES && lines < MAX_LINES; tries++) {
        if (line_through(e, first, k, ends[lines])) {
            drop_points_of_line(e, first, ends[lines++]);
            k = first;
        } else {
            k++;
        }
    }
    sort_lines(ends, lines);
    for (int k = 0; k < lines; k++) {
        for (int i = 0; i < 2; i++) {
            report_end(e, &ends[k][i], (uint32_t)(6 * k) + end_number(ends[k], i));
        }
    }
}
