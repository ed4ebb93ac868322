/* Holds contact points against the oracle. */
#include "check.h"

#include <string.h>

const char *const fault_name[FAULTS] = {"number",   "missed", "spurious", "gap",    "normal",
                                        "surface",  "patch",  "spread",   "margin", "count",
                                        "identity", "swap",   "frame",    "scale",  "uncertain"};

typedef struct answer {
    int count;
    sim_contact_point point[MOST_POINTS];
} answer;

typedef struct hold {
    const scene *s;
    tally *t;
    FILE *log;
    int shown;
    truth truth;
    const answer *got;
    int faulty;
    double tolerance;
} hold;

static int simple(sim_shape_type t) {
    return t == SIM_SPHERE || t == SIM_CAPSULE || t == SIM_BOX || t == SIM_HALF_SPACE;
}

int closed_form(sim_shape_type a, sim_shape_type b) { return simple(a) && simple(b); }

static void report(hold *h, fault f, double expected, double found) {
    h->t->fault[f]++;
    h->t->by_category[h->s->is][f]++;
    h->faulty |= f != FAULT_UNCERTAIN;
    if (!h->log || h->t->fault[f] > h->shown) {
        return;
    }
    fprintf(h->log, "%s - %s: %s: expected %.17g, got %.17g\n", sim_shape_name(h->s->a.type),
            sim_shape_name(h->s->b.type), fault_name[f], expected, found);
    scene_print(h->log, h->s);
    vec n = h->truth.normal;
    fprintf(h->log, "  oracle: gap %.17Lg, normal {%.12Lg, %.12Lg, %.12Lg}, %s\n", h->truth.gap, n.x, n.y, n.z,
            h->truth.unique ? "unique" : "not unique");
    for (int k = 0; k < h->got->count; k++) {
        const sim_contact_point *c = &h->got->point[k];
        fprintf(h->log,
                "  got: gap %.17g, normal {%.12g, %.12g, %.12g}, position {%.12g, %.12g, %.12g}, feature %llx\n",
                c->gap, c->normal.x, c->normal.y, c->normal.z, c->position.x, c->position.y, c->position.z,
                (unsigned long long)c->feature);
    }
    fprintf(h->log, "\n");
}

static void ask(const sim_shape *a, const sim_pose *X_a, const sim_shape *b, const sim_pose *X_b, double margin,
                answer *out) {
    out->count = sim_collide_shapes(a, X_a, b, X_b, margin, out->point, MOST_POINTS);
    if (out->count > MOST_POINTS) {
        out->count = MOST_POINTS;
    }
}

static int finite_point(const sim_contact_point *c) {
    return isfinite(c->gap) && isfinite(c->position.x) && isfinite(c->position.y) && isfinite(c->position.z) &&
           isfinite(c->normal.x) && isfinite(c->normal.y) && isfinite(c->normal.z) &&
           fabsl(length(vec_from(c->normal)) - 1) < 1e-12L;
}

static const sim_contact_point *deepest(const answer *g) {
    const sim_contact_point *best = NULL;
    for (int k = 0; k < g->count; k++) {
        if (!best || g->point[k].gap < best->gap) {
            best = &g->point[k];
        }
    }
    return best;
}

static void check_points(hold *h, const solid *a, const solid *b, vec origin) {
    const scene *s = h->s;
    for (int k = 0; k < h->got->count; k++) {
        const sim_contact_point *c = &h->got->point[k];
        if (!finite_point(c)) {
            report(h, FAULT_NUMBER, 1, (double)length(vec_from(c->normal)));
            return;
        }
        if (c->gap > s->margin) {
            report(h, FAULT_MARGIN, s->margin, c->gap);
        }
        vec p = minus(vec_from(c->position), origin), n = vec_from(c->normal);
        double off = (double)real_max(fabsl(solid_surface(a, along(p, c->gap / 2, n))),
                                      fabsl(solid_surface(b, along(p, -c->gap / 2, n))));
        int is_deepest = c == deepest(h->got);
        double *worst = is_deepest ? &h->t->surface : &h->t->patch;
        *worst = fmax(*worst, off / s->smaller);
        if (off > (is_deepest ? 10 * h->tolerance + 1e-7 * s->smaller : 0.01 * s->smaller)) {
            report(h, is_deepest ? FAULT_SURFACE : FAULT_PATCH, 0, off);
        }
        for (int j = 0; j < k; j++) {
            if (h->got->point[j].feature == c->feature) {
                report(h, FAULT_IDENTITY, k, j);
            }
        }
    }
    if (h->got->count > 4) {
        report(h, FAULT_COUNT, 4, h->got->count);
    }
}

static void check_spread(hold *h, const solid *a, const solid *b) {
    const sim_contact_point *c = deepest(h->got);
    real smaller = 0, shared = c ? faces_in_common(a, b, vec_from(c->normal), &smaller) : -1;
    if (shared > 0.01L * smaller && h->truth.gap < 0.99L * h->s->margin) {
        real spanned = spanned_area(h->got->point, h->got->count, vec_from(c->normal));
        if (spanned < 0.5L * shared) {
            report(h, FAULT_SPREAD, (double)shared, (double)spanned);
        }
    }
}

static void check_deepest(hold *h, const solid *a, const solid *b) {
    const truth *t = &h->truth;
    const sim_contact_point *c = deepest(h->got);
    double tolerance = h->tolerance, gap = (double)t->gap, slack = tolerance + (double)t->beyond;
    if (!c) {
        if (gap < h->s->margin - slack) {
            report(h, FAULT_MISSED, gap, 0);
        }
        return;
    }
    if (gap > h->s->margin + slack) {
        report(h, FAULT_SPURIOUS, gap, c->gap);
        return;
    }
    double error = fmax(gap - c->gap, c->gap - gap - (double)t->beyond);
    double size = closed_form(h->s->a.type, h->s->b.type) ? fmax(h->s->larger, h->s->coordinate) : h->s->smaller;
    h->t->gap = fmax(h->t->gap, error);
    if (h->s->is != FAR || closed_form(h->s->a.type, h->s->b.type)) {
        h->t->gap_relative = fmax(h->t->gap_relative, error / size);
    }
    if (!(error <= tolerance)) {
        report(h, (double)t->beyond > tolerance ? FAULT_UNCERTAIN : FAULT_GAP, gap, c->gap);
        return;
    }
    vec n = vec_from(c->normal);
    double attained = (double)solid_separation(a, b, unit(n));
    /* a turn of e costs up to extent e: rotations given to sixteen digits are orthogonal to no more */
    if (!(attained >= gap - 4 * tolerance)) {
        report(h, FAULT_NORMAL, gap, attained);
    }
    if (t->unique) {
        double off = (double)angle_between(n, t->normal), scale = fmax(fabs((double)t->core), h->s->smaller * 1e-9);
        h->t->angle = fabs((double)t->core) > 1e-6 * h->s->smaller ? fmax(h->t->angle, off) : h->t->angle;
        if (off > 1e-7 + 4 * sqrt(2 * (tolerance + 1e-8 * h->s->smaller) / scale) &&
            attained < gap - 1e-9 * h->s->smaller) {
            report(h, FAULT_NORMAL, 0, off);
        }
    }
}

/* Is each point of one answer, carried by X and scaled, a point of the other? */
static double differs(const answer *from, const answer *to, const sim_pose *X, double scale, int swapped,
                      double length_unit) {
    if (from->count != to->count) {
        return HUGE_VAL;
    }
    double worst = 0;
    for (int i = 0; i < from->count; i++) {
        const sim_contact_point *c = &from->point[i];
        vec p = plus(vec_from(X->p), times(scale, turn(mat_from(X->R), vec_from(c->position))));
        vec n = times(swapped ? -1 : 1, turn(mat_from(X->R), vec_from(c->normal)));
        double best = HUGE_VAL;
        for (int j = 0; j < to->count; j++) {
            const sim_contact_point *d = &to->point[j];
            double off = (double)(length(minus(p, vec_from(d->position))) / length_unit +
                                  length(minus(n, vec_from(d->normal)))) +
                         fabs(scale * c->gap - d->gap) / length_unit;
            uint64_t f = swapped ? c->feature << 32 | c->feature >> 32 : c->feature;
            best = fmin(best, off + (f == d->feature ? 0 : 1e-20));
        }
        worst = fmax(worst, best);
    }
    return worst;
}

static const sim_pose unmoved = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

static double deepest_gap(const answer *a) {
    const sim_contact_point *c = deepest(a);
    return c ? c->gap : HUGE_VAL;
}

/* Where several answers are as good, only the gap has to be the same. */
static int generic(category is) { return is <= DEEP || is == RATIO; }

static void compare(hold *h, fault f, const answer *other, const sim_pose *X, double scale, double limit, int all) {
    double at_margin = fabs(fmin(deepest_gap(h->got), deepest_gap(other) / scale) - h->s->margin);
    if (at_margin < h->tolerance * 10) {
        return;
    }
    double gap = fabs(deepest_gap(h->got) * scale - deepest_gap(other)) / scale;
    if (h->got->count && other->count && !(gap <= 2 * h->tolerance)) {
        report(h, f, deepest_gap(h->got) * scale, deepest_gap(other));
    } else if ((h->got->count == 0) != (other->count == 0)) {
        report(h, f, h->got->count, other->count);
    } else if (all && h->truth.unique) {
        double off = differs(h->got, other, X, scale, f == FAULT_SWAP, scale * h->s->smaller);
        /* the direction between two points that nearly touch is only as good as their places */
        double rounding = 1e-15 * (h->s->larger + h->s->coordinate) / fabs((double)h->truth.core);
        if (!(off <= limit + 8 * rounding)) {
            report(h, f, 0, off);
        }
    }
}

static void scaled_shape(sim_shape *s, double by) {
    for (int k = 0; k < 3; k++) {
        s->size[k] *= by;
    }
}

static void check_invariance(hold *h) {
    const scene *s = h->s;
    answer other;
    int all = generic(s->is);
    double rough = closed_form(s->a.type, s->b.type) ? 1e-6 : 1e-3;
    ask(&s->b, &s->X_b, &s->a, &s->X_a, s->margin, &other);
    compare(h, FAULT_SWAP, &other, &unmoved, 1, rough, all);

    random_source r = {(uint64_t)h->t->scenes};
    mat R = mat_from(random_rotation(&r));
    vec p = times(s->larger, vec_from(random_unit(&r)));
    sim_pose X = {mat_plain(R), vec_plain(p)};
    sim_pose X_a = {mat_plain(turn_both(R, mat_from(s->X_a.R))), vec_plain(plus(p, turn(R, vec_from(s->X_a.p))))};
    sim_pose X_b = {mat_plain(turn_both(R, mat_from(s->X_b.R))), vec_plain(plus(p, turn(R, vec_from(s->X_b.p))))};
    ask(&s->a, &X_a, &s->b, &X_b, s->margin, &other);
    compare(h, FAULT_FRAME, &other, &X, 1, rough, all);

    for (int k = 0; k < 2 && !s->a.geometry && !s->b.geometry; k++) {
        double by = k ? 1e-3 : 1e3;
        sim_shape a = s->a, b = s->b;
        scaled_shape(&a, by);
        scaled_shape(&b, by);
        sim_pose Y_a = {s->X_a.R, vec_plain(times(by, vec_from(s->X_a.p)))};
        sim_pose Y_b = {s->X_b.R, vec_plain(times(by, vec_from(s->X_b.p)))};
        ask(&a, &Y_a, &b, &Y_b, by * s->margin, &other);
        compare(h, FAULT_SCALE, &other, &unmoved, by, rough, all);
    }
}

void scene_check(const scene *s, tally *t, FILE *log, int shown) {
    static solid a, b;
    static answer got;
    vec origin = vec_from(s->X_b.p);
    hold h = {.s = s, .t = t, .log = log, .shown = shown, .got = &got};
    if (!solid_of(&s->a, &s->X_a, origin, &a) || !solid_of(&s->b, &s->X_b, origin, &b)) {
        return;
    }
    h.truth = solid_gap(&a, &b);
    h.tolerance = 1e-12 * fmax(s->larger, s->coordinate) + (closed_form(s->a.type, s->b.type) ? 0 : 1e-6 * s->smaller);
    ask(&s->a, &s->X_a, &s->b, &s->X_b, s->margin, &got);
    t->scenes++;
    t->points += got.count;
    check_points(&h, &a, &b, origin);
    check_deepest(&h, &a, &b);
    check_spread(&h, &a, &b);
    check_invariance(&h);
    t->wrong += h.faulty;
}

void tally_print(FILE *f, const char *name, const tally *t, int categories) {
    fprintf(f, "%-26s %8ld scenes %8ld points  gap %8.1e (%8.1e)  angle %8.1e  surface %8.1e patch %8.1e  wrong %ld",
            name, t->scenes, t->points, t->gap, t->gap_relative, t->angle, t->surface, t->patch, t->wrong);
    for (int k = 0; k < FAULTS; k++) {
        if (t->fault[k]) {
            fprintf(f, "  %s %ld", fault_name[k], t->fault[k]);
            if (categories) {
                const char *open = " (";
                for (int c = 0; c < CATEGORIES; c++) {
                    if (t->by_category[c][k]) {
                        fprintf(f, "%s%s %ld", open, category_name[c], t->by_category[c][k]);
                        open = ", ";
                    }
                }
                fprintf(f, ")");
            }
        }
    }
    fprintf(f, "\n");
}
