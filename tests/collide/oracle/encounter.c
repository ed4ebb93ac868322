/* Conditions where two shapes meet, one of them not convex. */
#include "encounter.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, TURNS = 60 };

void encounter_begin(encounter *e, random_source *r, stock *from, sim_shape_type type, double scale, solid *a) {
    e->a = shape_random(r, from, type, 0);
    for (int i = 0; i < 3; i++) {
        e->a.size[i] *= scale;
    }
    e->X_a = (sim_pose){random_rotation(r), {0, 0, 0}};
    e->X_b = (sim_pose){random_rotation(r), {random_uniform(r, -1, 1), random_uniform(r, -1, 1), 0}};
    solid_of(&e->a, &e->X_a, vec_of(0, 0, 0), a);
    e->smaller = fmin((double)a->extent, 0.5);
    e->margin = 0.05 * e->smaller;
}

double encounter_gap(random_source *r, const encounter *e) {
    switch (random_index(r, 4)) {
    case 0:
        return e->margin * random_uniform(r, 1.01, 2);
    case 1:
        return e->margin * random_uniform(r, 0, 0.99);
    case 2:
        return e->smaller * random_uniform(r, -1e-9, 1e-9);
    default:
        return -e->smaller * random_uniform(r, 1e-4, 0.05);
    }
}

int encounter_approach(encounter *e, encounter_measure *measure, double *target) {
    vec normal = {0, 0, 0};
    real gap = measure(e, &normal);
    if (gap < 1e-3L * e->smaller || gap < *target || !(fabsl(length(normal) - 1) < 1e-6L)) {
        return 0;
    }
    for (int k = 0; k < 4; k++) {
        real next = k < 3 ? real_max(*target, e->smaller * powl(10, -1 - k)) : *target;
        if (gap <= next && k < 3) {
            continue;
        }
        e->X_a.p = vec_plain(along(vec_from(e->X_a.p), next - gap, normal));
        vec turned = normal;
        gap = measure(e, &turned);
        normal = gap > 1e-9L * e->smaller ? turned : normal;
        gap = gap > 0 ? gap : next;
    }
    *target = !e->rough && *target > -1e-8 * e->smaller && gap > 0 ? (double)gap : *target;
    return 1;
}

/* SIM_ORACLE_SHOW: how many scenes at most. */
static void fail(const encounter *e, counts *sum, long *of, const char *what, double expected, double got,
                 const sim_contact_point *c, int n) {
    static int shown;
    const char *most = getenv("SIM_ORACLE_SHOW");
    ++*of;
    sum->wrong++;
    if (shown++ >= (most ? atoi(most) : 1)) {
        return;
    }
    scene s = {.a = e->a, .b = e->b, .X_a = e->X_a, .X_b = e->X_b, .margin = e->margin};
    s.b.geometry = NULL;
    s.a.geometry = s.a.type == SIM_CONVEX ? s.a.geometry : NULL;
    fprintf(stderr, "%s: %s: expected %.17g, got %.17g\n", e->name, what, expected, got);
    scene_print(stderr, &s);
    for (int k = 0; k < n && k < 12; k++) {
        fprintf(stderr,
                "  got: gap %.17g, normal {%.12g, %.12g, %.12g}, position {%.12g, %.12g, %.12g}, feature %llx\n",
                c[k].gap, c[k].normal.x, c[k].normal.y, c[k].normal.z, c[k].position.x, c[k].position.y,
                c[k].position.z, (unsigned long long)c[k].feature);
    }
}

static int ask(const encounter *e, sim_contact_point *point) {
    int n = sim_collide_shapes(&e->a, &e->X_a, &e->b, &e->X_b, e->margin, point, MOST);
    return n > MOST ? MOST : n;
}

static int deepest(const sim_contact_point *c, int n) {
    int best = n > 0 ? 0 : -1;
    for (int k = 1; k < n; k++) {
        best = c[k].gap < c[best].gap ? k : best;
    }
    return best;
}

static void check_points(const encounter *e, const sim_contact_point *c, int n, counts *sum) {
    for (int k = 0; k < n; k++) {
        vec x = vec_from(c[k].position), m = vec_from(c[k].normal);
        if (!isfinite(c[k].gap) || !(fabsl(length(m) - 1) < 1e-12L) || !(length(x) < 1e9L) || c[k].gap > e->margin) {
            fail(e, sum, &sum->number, "number", 1, (double)length(m), c + k, 1);
            return;
        }
        double off = (double)real_max(fabsl(e->from_a(e->context, along(x, c[k].gap / 2, m))),
                                      fabsl(e->from_b(e->context, along(x, -c[k].gap / 2, m))));
        int is_deepest = k == deepest(c, n);
        double *worst = is_deepest ? &sum->worst_surface : &sum->worst_patch;
        *worst = fmax(*worst, off / e->smaller);
        if (off > fmax(is_deepest ? 0 : e->far_off, 10 * e->allowed) * e->smaller) {
            fail(e, sum, &sum->surface, "not on both surfaces", 0, off, c + k, 1);
        }
        for (int j = 0; j < k; j++) {
            if (c[j].feature == c[k].feature) {
                fail(e, sum, &sum->identity, "two points of one feature", k, j, c, n);
            }
        }
    }
}

static void check_way_out(const encounter *at, double depth, const sim_contact_point *c, int n, counts *sum) {
    static sim_contact_point point[MOST];
    encounter e = *at;
    int first = deepest(c, n);
    if (first < 0 || c[first].gap > -1e-3 * depth) {
        fail(at, sum, &sum->missed, "inside, but nothing found", -depth, first < 0 ? 0 : c[first].gap, c, n);
        return;
    }
    sum->worst_depth = fmax(sum->worst_depth, -c[first].gap / depth);
    if (c[first].gap < -1.05 * depth - e.allowed * e.smaller) {
        fail(at, sum, &sum->deep, "deeper than it was pushed in", -depth, c[first].gap, c, n);
    }
    memcpy(point, c, (size_t)n * sizeof *point);
    for (int k = 0; k < TURNS; k++) {
        int d = deepest(point, n);
        if (d < 0 || point[d].gap > -1e-3 * depth) {
            return;
        }
        e.X_a.p = vec_plain(along(vec_from(e.X_a.p), -point[d].gap, vec_from(point[d].normal)));
        n = ask(&e, point);
    }
    fail(at, sum, &sum->stuck, "no way out", 0, depth, c, deepest(c, n) + 1);
}

void encounter_check(const encounter *e, double target, counts *sum) {
    static sim_contact_point point[MOST], other[MOST];
    int n = ask(e, point), d = deepest(point, n);
    sum->scenes++;
    check_points(e, point, n, sum);
    if (target > e->margin) {
        if (n) {
            fail(e, sum, &sum->spurious, "farther than the margin", target, point[d].gap, point, n);
        }
    } else if (target < -1e-8 * e->smaller) {
        check_way_out(e, -target, point, n, sum);
    } else if (d < 0) {
        fail(e, sum, &sum->missed, "nothing found", target, 0, point, n);
    } else {
        double error = fabs(point[d].gap - target);
        sum->worst_gap = fmax(sum->worst_gap, error / e->smaller);
        if (!(error <= e->allowed * e->smaller)) {
            fail(e, sum, &sum->gap, "gap", target, point[d].gap, point, n);
        }
    }
    int m = sim_collide_shapes(&e->b, &e->X_b, &e->a, &e->X_a, e->margin, other, MOST);
    double there = n ? point[d].gap : 0, back = m > 0 && m <= MOST ? other[deepest(other, m)].gap : 0;
    int other_points = m != n && e->allowed < 1e-4; /* two fields: one is looked at with the other's triangles */
    if (other_points || (m > 0) != (n > 0) || !(fabs(there - back) <= fmax(1e-9, e->allowed) * e->smaller)) {
        fail(e, sum, &sum->swap, "A and B exchanged", there, back, point, n);
    }
}

void counts_print(const char *a, const char *b, const counts *s) {
    if (getenv("SIM_ORACLE_TABLE")) {
        fprintf(stderr,
                "%-12s %-12s %5ld scenes  gap %8.1e  surface %8.1e  patch %8.1e  depth/pushed %.3f  missed %ld "
                "spurious %ld "
                "gap %ld surface %ld number %ld deep %ld stuck %ld swap %ld identity %ld\n",
                a, b, s->scenes, s->worst_gap, s->worst_surface, s->worst_patch, s->worst_depth, s->missed, s->spurious,
                s->gap, s->surface, s->number, s->deep, s->stuck, s->swap, s->identity);
    }
}
