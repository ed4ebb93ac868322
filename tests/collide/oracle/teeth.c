/* Outlines of solids that interlock, their meshes, their distance in the plane by every corner and every side.
 *
 * Involute of the circle of radius r_b = r cos(alpha):  radius r_b sqrt(1 + u^2) where it has unrolled by u, and polar
 * angle u - atan(u) from where it starts; half a tooth spans pi / (2 N) - backlash / (2 r) + inv(alpha) at the base
 * circle, inv(x) = tan(x) - x (DIN 3960). */
#include "teeth.h"

#include <assert.h>
#include <stdlib.h>

static const double PRESSURE = 0.3490658503988659; /* rad: 20 degrees */
static const double PI = 3.141592653589793;

static void put(outline *o, double x, double y) {
    assert(o->count < OUTLINE_CORNERS);
    o->at[o->count][0] = x;
    o->at[o->count++][1] = y;
}

static void put_polar(outline *o, double radius, double angle) { put(o, radius * cos(angle), radius * sin(angle)); }

outline gear_outline(int teeth, double module, int flank, double backlash) {
    outline o = {0};
    double pitch = 0.5 * module * teeth, base = pitch * cos(PRESSURE), tip = pitch + module,
           root = pitch - 1.25 * module;
    double half = PI / (2 * teeth) - backlash / (2 * pitch) + tan(PRESSURE) - PRESSURE;
    double first = root > base ? sqrt(root * root / (base * base) - 1) : 0, last = sqrt(tip * tip / (base * base) - 1);
    for (int k = 0; k < teeth; k++) {
        double middle = 2 * PI * k / teeth;
        if (root < base) {
            put_polar(&o, root, middle - half);
        }
        for (int side = -1; side <= 1; side += 2) {
            for (int i = 0; i <= flank; i++) {
                double u = first + (last - first) * (side < 0 ? i : flank - i) / flank;
                put_polar(&o, base * sqrt(1 + u * u), middle + side * (half - (u - atan(u))));
            }
        }
        if (root < base) {
            put_polar(&o, root, middle + half);
        }
    }
    return o;
}

outline rack_outline(int teeth, double module, double backlash) {
    outline o = {0};
    double pitch = PI * module, wide = 0.25 * pitch - 0.5 * backlash, up = module, down = 1.25 * module;
    double end = 0.5 * (teeth + 1) * pitch, floor = -down - 3 * module;
    put(&o, -end, floor);
    put(&o, end, floor);
    put(&o, end, -down);
    for (int k = teeth / 2; k >= -(teeth / 2); k--) {
        put(&o, k * pitch + wide + down * tan(PRESSURE), -down);
        put(&o, k * pitch + wide - up * tan(PRESSURE), up);
        put(&o, k * pitch - wide + up * tan(PRESSURE), up);
        put(&o, k * pitch - wide - down * tan(PRESSURE), -down);
    }
    put(&o, -end, -down);
    return o;
}

outline ratchet_outline(int teeth, double radius, double height, double undercut) {
    outline o = {0};
    for (int k = 0; k < teeth; k++) {
        double angle = 2 * PI * k / teeth, root = radius - height;
        put_polar(&o, root, angle - height * tan(undercut) / root);
        put_polar(&o, radius, angle);
        put_polar(&o, radius, angle + 0.1 * 2 * PI / teeth);
    }
    return o;
}

outline pawl_outline(double length, double height, double undercut) {
    outline o = {0};
    put(&o, -length, 0);
    put(&o, -1.5 * height, 0);
    put(&o, -0.2 * height, -height);
    put(&o, 0, -height);
    put(&o, -height * tan(undercut), 0);
    put(&o, height, 0);
    put(&o, height, height);
    put(&o, -length, height);
    return o;
}

outline tail_outline(double width, double height, double flare) {
    outline o = {0};
    double out = height * tan(flare);
    put(&o, -2 * width, -height);
    put(&o, 2 * width, -height);
    put(&o, 2 * width, 0);
    put(&o, 0.5 * width, 0);
    put(&o, 0.5 * width + out, height);
    put(&o, -0.5 * width - out, height);
    put(&o, -0.5 * width, 0);
    put(&o, -2 * width, 0);
    return o;
}

outline socket_outline(double width, double height, double flare, double play) {
    outline o = {0};
    double out = height * tan(flare), wide = 0.5 * width + play / cos(flare), low = play, high = height + play;
    double slope = out / height;
    put(&o, -2 * width, low);
    put(&o, -wide - low * slope, low);
    put(&o, -wide - high * slope, high);
    put(&o, wide + high * slope, high);
    put(&o, wide + low * slope, low);
    put(&o, 2 * width, low);
    put(&o, 2 * width, 2.5 * height);
    put(&o, -2 * width, 2.5 * height);
    return o;
}

/* ---- meshes ---- */

static double turn_of(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* May the corner left[k] be cut off? */
static int is_ear(const outline *o, const int *left, int count, int k) {
    const double *a = o->at[left[(k + count - 1) % count]], *b = o->at[left[k]], *c = o->at[left[(k + 1) % count]];
    if (turn_of(a, b, c) <= 0) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        const double *p = o->at[left[i]];
        int own = p == a || p == b || p == c;
        if (!own && turn_of(a, b, p) >= 0 && turn_of(b, c, p) >= 0 && turn_of(c, a, p) >= 0) {
            return 0;
        }
    }
    return 1;
}

/* Triangles of the polygon, by cutting off ears (Meisters 1975), the roundest first; returns how many. */
static int triangulate(const outline *o, int (*triangle)[3]) {
    int left[OUTLINE_CORNERS], count = o->count, found = 0;
    for (int k = 0; k < count; k++) {
        left[k] = k;
    }
    while (count > 2) {
        int best = -1;
        double most = -1;
        for (int k = 0; k < count; k++) {
            const double *a = o->at[left[(k + count - 1) % count]], *b = o->at[left[k]],
                         *c = o->at[left[(k + 1) % count]];
            double wide = hypot(c[0] - a[0], c[1] - a[1]), area = turn_of(a, b, c);
            if (area > most * wide * wide && is_ear(o, left, count, k)) {
                most = area / (wide * wide);
                best = k;
            }
        }
        assert(best >= 0);
        int cut[3] = {left[(best + count - 1) % count], left[best], left[(best + 1) % count]};
        for (int k = 0; k < 3; k++) {
            triangle[found][k] = cut[k];
        }
        found++;
        count--;
        for (int k = best; k < count; k++) {
            left[k] = left[k + 1];
        }
    }
    return found;
}

typedef struct prism {
    int count, nvertex;
    int (*triangle)[3];
    sim_v3 *vertex;
} prism;

static void face(prism *p, int a, int b, int c) {
    int *t = p->triangle[p->count++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* Corner k of the outline stands at 2 k below and 2 k + 1 above; of the bore, after those. */
static void walls(prism *p, int first, int count, int inwards) {
    for (int k = 0; k < count; k++) {
        int a = first + 2 * k, b = first + 2 * ((k + 1) % count);
        if (inwards) {
            int other = a;
            a = b;
            b = other;
        }
        face(p, a, b, b + 1);
        face(p, a, b + 1, a + 1);
    }
}

static void fans(prism *p, const outline *o, double z) {
    int middle = p->nvertex;
    p->vertex[p->nvertex++] = (sim_v3){0, 0, -z};
    p->vertex[p->nvertex++] = (sim_v3){0, 0, z};
    for (int k = 0; k < o->count; k++) {
        int a = 2 * k, b = 2 * ((k + 1) % o->count);
        face(p, middle + 1, a + 1, b + 1);
        face(p, middle, b, a);
    }
}

static void caps(prism *p, const outline *o, int bored) {
    int(*cap)[3] = malloc(OUTLINE_CORNERS * sizeof *cap), count = bored ? 0 : triangulate(o, cap);
    for (int k = 0; k < count; k++) {
        face(p, 2 * cap[k][0] + 1, 2 * cap[k][1] + 1, 2 * cap[k][2] + 1);
        face(p, 2 * cap[k][0], 2 * cap[k][2], 2 * cap[k][1]);
    }
    for (int k = 0; bored && k < o->count; k++) {
        int a = 2 * k, b = 2 * ((k + 1) % o->count), hole = 2 * o->count;
        face(p, a + 1, b + 1, hole + b + 1);
        face(p, a + 1, hole + b + 1, hole + a + 1);
        face(p, b, a, hole + a);
        face(p, b, hole + a, hole + b);
    }
    free(cap);
}

sim_geometry *prism_mesh(outline *o, double width, double bore, int single) {
    prism p = {.triangle = malloc(8 * OUTLINE_CORNERS * sizeof *p.triangle),
               .vertex = malloc((4 * OUTLINE_CORNERS + 2) * sizeof *p.vertex)};
    double z = single ? (double)(float)(0.5 * width) : 0.5 * width;
    for (int hole = 0; hole <= (bore > 0); hole++) {
        for (int k = 0; k < o->count; k++) {
            double *at = o->at[k], far = hole ? bore / hypot(at[0], at[1]) : 1, x = far * at[0], y = far * at[1];
            x = single ? (double)(float)x : x;
            y = single ? (double)(float)y : y;
            at[0] = hole ? at[0] : x;
            at[1] = hole ? at[1] : y;
            p.vertex[p.nvertex++] = (sim_v3){x, y, -z};
            p.vertex[p.nvertex++] = (sim_v3){x, y, z};
        }
    }
    walls(&p, 0, o->count, 0);
    if (bore < 0) {
        fans(&p, o, z);
    } else {
        caps(&p, o, bore > 0);
    }
    if (bore > 0) {
        walls(&p, 2 * o->count, o->count, 1);
    }
    sim_error error;
    sim_geometry *g = sim_geometry_mesh(p.vertex, p.nvertex, (const int(*)[3])p.triangle, p.count, &error);
    free(p.vertex);
    free(p.triangle);
    return g;
}

/* ---- distance ---- */

typedef struct flat {
    real x, y;
} flat;

static flat corner_of(const placed *p, int k) {
    const double *at = p->outline->at[k % p->outline->count];
    real c = cosl(p->turn), s = sinl(p->turn);
    return (flat){p->x + c * at[0] - s * at[1], p->y + s * at[0] + c * at[1]};
}

static void all_corners(const placed *p, flat *out) {
    for (int k = 0; k <= p->outline->count; k++) {
        out[k] = corner_of(p, k);
    }
}

static real side_of(flat a, flat b, flat p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

static int crosses(flat a, flat b, flat c, flat d) {
    return (side_of(a, b, c) > 0) != (side_of(a, b, d) > 0) && (side_of(c, d, a) > 0) != (side_of(c, d, b) > 0);
}

static int holds(const flat *o, int count, flat p) {
    int in = 0;
    for (int k = 0; k < count; k++) {
        if ((o[k].y > p.y) != (o[k + 1].y > p.y) &&
            p.x < o[k].x + (p.y - o[k].y) / (o[k + 1].y - o[k].y) * (o[k + 1].x - o[k].x)) {
            in = !in;
        }
    }
    return in;
}

/* From the nearest place of a side to p. */
static flat off_side(flat a, flat b, flat p) {
    flat e = {b.x - a.x, b.y - a.y}, d = {p.x - a.x, p.y - a.y};
    real t = real_min(real_max((d.x * e.x + d.y * e.y) / (e.x * e.x + e.y * e.y), 0), 1);
    return (flat){d.x - t * e.x, d.y - t * e.y};
}

/* The least distance of a corner of `a` from a side of `b`; way: from b to a.  Sides whose middle is farther away than
 * the best by half their length are left out. */
static real corners_off(const flat *a, int na, const flat *b, int nb, real best, real sign, real way[2]) {
    for (int k = 0; k < nb; k++) {
        flat middle = {(b[k].x + b[k + 1].x) / 2, (b[k].y + b[k + 1].y) / 2};
        real half = real_hypot(b[k].x - b[k + 1].x, b[k].y - b[k + 1].y) / 2, reach = (best + half) * (best + half);
        for (int i = 0; i < na; i++) {
            real x = a[i].x - middle.x, y = a[i].y - middle.y;
            if (x * x + y * y > reach) {
                continue;
            }
            flat d = off_side(b[k], b[k + 1], a[i]);
            real far = real_hypot(d.x, d.y);
            if (far < best) {
                best = far;
                reach = (best + half) * (best + half);
                way[0] = sign * d.x / far;
                way[1] = sign * d.y / far;
            }
        }
    }
    return best;
}

real outlines_gap(const placed *pa, const placed *pb, real normal[2]) {
    static flat a[OUTLINE_CORNERS + 1], b[OUTLINE_CORNERS + 1];
    int na = pa->outline->count, nb = pb->outline->count;
    all_corners(pa, a);
    all_corners(pb, b);
    for (int i = 0; i < na; i++) {
        for (int k = 0; k < nb; k++) {
            if (crosses(a[i], a[i + 1], b[k], b[k + 1])) {
                return 0;
            }
        }
    }
    if (holds(a, na, b[0]) || holds(b, nb, a[0])) {
        return 0;
    }
    real best = corners_off(a, na, b, nb, HUGE_VALL, 1, normal);
    return corners_off(b, nb, a, na, best, -1, normal);
}
