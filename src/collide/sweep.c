/* Continuous collision of two separate shapes within the step: conservative advancement.
 *
 * At a distance g, with no two points approaching faster than s, nothing touches for a time g/s; then both are
 * measured again.  Convex shapes apart along n stay apart while the plane between them is not crossed, so there s is
 * the approach along n,
 *
 *     s = -n.(v_a - v_b) + |omega_a| rho_a + |omega_b| rho_b,     rho: reach about the body's origin,
 *
 * and s <= 0 means never.  Else s = |v_a - v_b| + |omega_a| rho_a + |omega_b| rho_b.  Any lower bound of g will do;
 * distance fields have a cheap one (field_apart.c).
 *
 * Bodies that meet at time t push there: with the levers l_a, l_b from their origins to the point as they are then,
 *
 *     u = n.(v_a + omega_a x l_a - v_b - omega_b x l_b),     phi(t) = phi(0) + t u.
 *
 * The law takes both where the step starts.  So each body has its own point, x(0) + l: an impulse through the centre
 * of a ball at t goes through it now.  One point, midway, would be off by half of their slip, and turn the ball.
 *
 * An impulse P at the points x_a, x_b of two bodies that move changes their angular momentum by
 *
 *     (x_a - x_b) x P + (1 - theta) dt (v_a - v_b) x P,        x_a - x_b = -t (v_a - v_b) along the tangents:
 *
 * nothing in the mean if theta = 1/2, but -t (v_a - v_b) x P if theta = 1.  There one point for both (`one_point`, as
 * the caller chooses) keeps it to rounding, and turns frictionless balls a little.
 * Reference: Mirtich 1996. */
#include "collide/sweep.h"
#include "collide/contact/bounds.h"

enum { MAX_ADVANCES = 64, SURE_ADVANCES = 32 };

static double spin_speed(const mover *m) { return swing(v3_norm(m->v.ang), m->reach); }

double sweep_speed(const mover *a, const mover *b) {
    return v3_norm(v3_sub(a->v.lin, b->v.lin)) + spin_speed(a) + spin_speed(b);
}

static pose body_at(const mover *m, double t) {
    v3 turn = v3_scale(t, m->v.ang);
    m3 R = v3_norm(turn) > 0 ? m3_product(quat_matrix(quat_exp(turn)), m->X.R) : m->X.R;
    return (pose){R, v3_axpy(m->X.p, t, m->v.lin)};
}

static pose shape_at(const mover *m, double t) { return pose_product(body_at(m, t), m->shape->pose); }

double sweep_apart(const sweep *s, double t, double enough) {
    pose X_a = shape_at(&s->a, t), X_b = shape_at(&s->b, t);
    pair p = {.a = s->a.shape, .b = s->b.shape, .X_ab = pose_relative(X_a, X_b)};
    return pair_apart(&p, enough, s->margin);
}

/* The pair in the frame of A; its points back in the world. */
void sweep_ask(const sweep *s, double t, double margin, manifold *out) {
    pose X_a = shape_at(&s->a, t), X_b = shape_at(&s->b, t);
    pose X_ba = pose_relative(X_b, X_a);
    pair p = {.a = s->a.shape,
              .b = s->b.shape,
              .X_ab = pose_relative(X_a, X_b),
              .X_ba = &X_ba,
              .margin = margin,
              .kept = s->kept,
              .nkept = s->nkept,
              .follows = s->follows,
              .nearest = s->nearest,
              .arena = s->arena,
              .parting = s->parting};
    int first = out->count;
    pair_collide(&p, out);
    for (int k = first; k < out->count; k++) {
        out->point[k].position = pose_point(X_a, out->point[k].position);
        out->point[k].normal = m3_times(X_a.R, out->point[k].normal);
    }
}

static const contact_point *find_deepest(const manifold *m) {
    const contact_point *best = m->point;
    for (int k = 1; k < m->count; k++) {
        best = m->point[k].gap < best->gap ? &m->point[k] : best;
    }
    return best;
}

double sweep_least_gap(const manifold *m) { return m->count ? find_deepest(m)->gap : HUGE_VAL; }

static v3 belt_at(const mover *m, v3 x) {
    return v3_add(m->belt, v3_cross(m->spin, v3_sub(x, pose_point(m->X, m->shape->pose.p))));
}

/* The gap up to which motion and slip count for a point, and how fast it closes. */
static double max_counted_gap(const sweep *s, const contact_point *c, double *closing) {
    v3 v = v3_sub(mover_velocity(&s->a, c->position), mover_velocity(&s->b, c->position));
    *closing = -v3_dot(c->normal, v);
    v3 slides =
        v3_axpy(v3_add(v, v3_sub(belt_at(&s->a, c->position), belt_at(&s->b, c->position))), *closing, c->normal);
    double slip = v3_norm(slides) + s->turn * v3_norm(v3_sub(s->a.v.ang, s->b.v.ang));
    return s->margin + fmax(*closing, 0) * s->step + s->lift * slip;
}

void sweep_drop_unreached(const sweep *s, double near, manifold *out) {
    int kept = 0;
    for (int k = 0; k < out->count; k++) {
        const contact_point *c = &out->point[k];
        double closing;
        if (c->gap <= fmax(near, max_counted_gap(s, c, &closing))) {
            out->point[kept++] = *c;
        }
    }
    out->count = kept;
}

/* How far apart the shapes are at time t, and how fast they come nearer at most.  A lower bound where it is known and
 * above the margin, else the gap of the deepest point.  Infinite where nothing is within `reach`. */
static double find_gap(const sweep *s, double t, double reach, double *closing) {
    bool convex = shape_is_convex(s->a.shape) && shape_is_convex(s->b.shape);
    double apart = convex ? -HUGE_VAL : sweep_apart(s, t, reach);
    if (apart > s->margin) {
        return apart < reach ? apart : HUGE_VAL;
    }
    size_t mark = arena_mark(s->arena);
    manifold near = {0};
    sweep least = *s;
    least.nearest = true;
    sweep_ask(&least, t, reach, &near);
    contact_point at = near.count ? *find_deepest(&near) : (contact_point){.gap = HUGE_VAL};
    arena_release(s->arena, mark);
    if (convex && near.count) {
        double spins = spin_speed(&s->a) + spin_speed(&s->b);
        *closing = spins - v3_dot(at.normal, v3_sub(s->a.v.lin, s->b.v.lin));
    }
    return near.failed ? -HUGE_VAL : at.gap;
}

/* The moment of coming within the margin, or -1.  A bound on the approach far above it, as of boxes that spin side by
 * side, allows small advances only.  After SURE_ADVANCES the rest of the step is tested in equal parts.  Between two
 * tests shapes may overlap by the bound times a part, and part again. */
static double find_meeting_time(const sweep *s, double speed) {
    double t = 0;
    for (int k = 0; k < MAX_ADVANCES; k++) {
        double closing = speed, gap = find_gap(s, t, s->margin + (s->step - t) * speed, &closing);
        if (gap <= s->margin) {
            return t;
        }
        if (isinf(gap) || closing <= 0) {
            return -1;
        }
        double advance = (gap - 0.5 * s->margin) / closing;
        t += k < SURE_ADVANCES ? advance : fmax(advance, (s->step - t) / (MAX_ADVANCES - k));
        if (t > s->step) {
            return -1;
        }
    }
    return t;
}

void sweep_keep_landing(const sweep *s, manifold *out) {
    sweep longer = *s;
    int kept = 0;
    for (int k = 0; k < out->count; k++) {
        const contact_point *c = &out->point[k];
        double closing;
        if (c->gap <= max_counted_gap(s, c, &closing) && closing > 0) {
            longer.step = fmax(longer.step, 1.01 * c->gap / closing);
            out->point[kept++] = *c;
        }
    }
    out->count = kept && find_meeting_time(&longer, sweep_speed(&s->a, &s->b)) >= 0 ? kept : 0;
}

/* The lever that x has at time t, on the body where it stands now. */
static v3 carried_back(const mover *m, double t, v3 x) { return v3_axpy(x, -t, m->v.lin); }

void sweep_collide(const sweep *s, manifold *out) {
    double t = find_meeting_time(s, sweep_speed(&s->a, &s->b));
    if (t < 0) {
        return;
    }
    int first = out->count;
    sweep_ask(s, t, 1.5 * s->margin, out);
    for (int k = first; k < out->count; k++) {
        contact_point *c = &out->point[k];
        v3 half = v3_scale(0.5 * c->gap, c->normal);
        v3 met_a = v3_add(c->position, half), met_b = v3_sub(c->position, half);
        v3 on_a = carried_back(&s->a, t, met_a), on_b = carried_back(&s->b, t, met_b);
        c->position = v3_scale(0.5, v3_add(on_a, on_b));
        if (s->one_point && s->a.reach > 0 && s->b.reach > 0) {
            on_a = on_b = c->position;
        }
        c->gap += t * v3_dot(c->normal, v3_sub(mover_velocity(&s->b, on_b), mover_velocity(&s->a, on_a)));
        c->apart = v3_sub(on_a, on_b);
    }
}
