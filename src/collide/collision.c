/* All contacts of a model.
 *
 *     boxes of the shapes, stretched along their motion -> pairs whose boxes meet (broad phase, filters)
 *       -> contact points of each pair (narrow phase, shared out among threads) -> one list, sorted, without seams
 *
 * A pair closer than its margin is in contact.  So is a pair that comes that close within the step.  Its gaps are those
 * still to be travelled, so a fast body stops at the surface (sweep.c).  Some laws lift sliding bodies.  A pair that
 * touched a step ago then stays in contact up to the gap at which it glides. */
#include "collide/collision.h"
#include "base/pool.h"
#include "collide/broadphase/broadphase.h"
#include "collide/broadphase/filter.h"
#include "collide/contact/bounds.h"
#include "collide/contact/greatest.h"
#include "collide/pressure/pressure.h"
#include "collide/seams.h"
#include "collide/skin/skin.h"
#include "collide/sweep.h"

#include <stdlib.h>
#include <string.h>

/* A direction that shows that a pair is apart, in the frame of A: a step later it often still does. */
typedef struct parting {
    broad_pair at;
    v3 along;
} parting;

/* One thread's share of the narrow phase. */
typedef struct worker {
    sim_arena *scratch; /* a pair's */
    sim_arena *found;   /* the frame's */
    sim_contact *contact;
    int count, room, swept, pairs;
    parting *apart; /* [its share of the pairs] */
    int napart;
    int failed;
} worker;

struct collision_stage {
    const sim_model *model;
    memory_pool *pool;
    filter filter;
    bounding_ball *ball; /* [nshape] in the shape's frame */
    double *margin;      /* [nshape] */
    double friction;     /* the most that any two materials have */
    double belt;         /* m/s: the fastest surface over its body */
    double turn;         /* m: the most that rolling and torsion of any two materials are together */
    double range;        /* m: no surfaces pull each other beyond this gap */
    double *reach; /* [nshape] from the body's origin to the shape's farthest point; 0 where the body cannot move */
    aabb *box;     /* [nshape] */
    broad_phase *broad;
    seam_stage *seams;
    skin_stage *skin;           /* NULL: no soft bodies touch each other */
    const sim_contact *on_skin; /* theirs ... */
    int skin_count;             /* ... so many */
    worker *worker;
    int workers;
    sim_arena *frame[2]; /* contacts of this call and of the one before */
    int current;
    const sim_contact *contact;
    int ncontact;
    const parting *apart; /* sorted: may be dropped at any time, and costs only time then */
    int napart;
    collision_info info;
};

static bool allows_pair(void *context, int a, int b) { return filter_allows(context, a, b); }

/* Speed of the surface of a shape over its body, at most. */
static double belt_speed(const collision_stage *c, int shape) {
    const sim_shape *s = &c->model->shape[shape];
    double reach = v3_norm(c->ball[shape].centre) + c->ball[shape].radius;
    return v3_norm(s->surface_velocity) + swing(v3_norm(s->surface_spin), reach);
}

static double max_belt(const collision_stage *c) {
    double most = 0;
    for (int k = 0; k < c->model->nshape; k++) {
        most = fmax(most, belt_speed(c, k));
    }
    return most;
}

static bool create_parts(collision_stage *c, double margin) {
    /* memory */
    const sim_model *m = c->model;
    uint8_t *moves = POOL_NEW(c->pool, uint8_t, m->nshape);
    c->ball = POOL_NEW(c->pool, bounding_ball, m->nshape);
    c->margin = POOL_NEW(c->pool, double, m->nshape);
    c->reach = POOL_NEW(c->pool, double, m->nshape);
    c->box = POOL_NEW(c->pool, aabb, m->nshape);
    if (!moves || !c->ball || !c->margin || !c->reach || !c->box || !filter_create(&c->filter, m, c->pool)) {
        return false;
    }
    /* ball, margin and reach of each shape */
    c->range = model_max_adhesion_range(m);
    for (int k = 0; k < m->nshape; k++) {
        const sim_shape *shape = &m->shape[k];
        moves[k] = c->filter.clump[shape->body] != 0;
        c->ball[k] = shape_ball(shape);
        c->margin[k] = fmax(isnan(margin) ? c->ball[k].radius / 1000 : margin, c->range);
        c->reach[k] = moves[k] ? v3_norm(pose_point(shape->pose, c->ball[k].centre)) + c->ball[k].radius : 0;
    }
    /* broad phase */
    c->friction = model_max_friction(m);
    c->belt = max_belt(c);
    c->turn = model_max_turning(m);
    c->broad = broadphase_create(m->nshape, moves, allows_pair, &c->filter);
    c->frame[0] = arena_create();
    c->frame[1] = arena_create();
    if (filter_allows_any_soft(&c->filter) && !(c->skin = skin_create(m, &c->filter))) {
        return false;
    }
    c->seams = seams_create(m, &c->filter, c->ball, c->pool);
    return c->broad && c->seams && c->frame[0] && c->frame[1];
}

int collision_possible(const sim_model *model) {
    memory_pool *pool = pool_create();
    filter f;
    int known = pool && filter_create(&f, model, pool);
    int possible = known ? filter_allows_any(&f) : -1;
    pool_free(pool);
    return possible;
}

collision_stage *collision_create(const sim_model *model, double margin) {
    memory_pool *pool = pool_create();
    collision_stage *c = pool ? POOL_NEW(pool, collision_stage, 1) : NULL;
    if (!c) {
        pool_free(pool);
        return NULL;
    }
    c->model = model;
    c->pool = pool;
    if (!create_parts(c, margin)) {
        collision_free(c);
        return NULL;
    }
    return c;
}

void collision_free(collision_stage *c) {
    if (!c) {
        return;
    }
    for (int k = 0; k < c->workers; k++) {
        arena_free(c->worker[k].scratch);
        arena_free(c->worker[k].found);
    }
    arena_free(c->frame[0]);
    arena_free(c->frame[1]);
    broadphase_free(c->broad);
    skin_free(c->skin);
    pool_free(c->pool);
}

size_t collision_bytes(const collision_stage *c) {
    size_t bytes =
        pool_bytes(c->pool) + broadphase_bytes(c->broad) + arena_bytes(c->frame[0]) + arena_bytes(c->frame[1]);
    bytes += c->skin ? skin_bytes(c->skin) : 0;
    for (int k = 0; k < c->workers; k++) {
        bytes += arena_bytes(c->worker[k].scratch) + arena_bytes(c->worker[k].found);
    }
    return bytes;
}

/* As many workers as there are threads, for good. */
static bool create_workers(collision_stage *c, int count) {
    if (count <= c->workers) {
        return true;
    }
    worker *more = POOL_NEW(c->pool, worker, count);
    if (!more) {
        return false;
    }
    if (c->workers) {
        memcpy(more, c->worker, (size_t)c->workers * sizeof *more);
    }
    c->worker = more;
    for (; c->workers < count; c->workers++) {
        sim_arena *scratch = arena_create(), *found = arena_create();
        if (!scratch || !found) {
            arena_free(scratch);
            arena_free(found);
            return false;
        }
        c->worker[c->workers] = (worker){.scratch = scratch, .found = found};
    }
    return true;
}

/* ---- boxes ---- */

typedef struct task {
    collision_stage *c;
    const collision_input *in;
    const broad_pair *pair;
} task;

static v3 v3_min(v3 a, v3 b) { return v3_make(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static v3 v3_max(v3 a, v3 b) { return v3_make(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

/* Corners of facets stand out of round solids, m. */
static double facet_height(const sim_shape *shape, double radius) {
    const sim_geometry *g = shape->pressure ? shape->pressure : shape->facets;
    return g && !shape->geometry ? fmax(0, g->radius - radius) : 0;
}

/* The box of a shape now, stretched by where its body's velocity takes it within the step. */
static void bound_shapes(void *context, int self, int first, int end) {
    task *t = context;
    collision_stage *c = t->c;
    (void)self;
    for (int k = first; k < end; k++) {
        const sim_shape *shape = &c->model->shape[k];
        pose X = pose_product(t->in->pose[shape->body], shape->pose);
        aabb box = shape_bounds(shape, &X);
        double more = (isfinite(c->margin[k]) ? c->margin[k] : 0) + facet_height(shape, c->ball[k].radius);
        if (t->in->velocity && c->reach[k] > 0) {
            motion v = t->in->velocity[shape->body];
            v3 shift = v3_scale(t->in->step, v.lin);
            double spin = v3_norm(v.ang);
            more += swing(fmin(spin * t->in->step, 2), c->reach[k]);
            double slip = v3_norm(v.lin) + swing(spin, c->reach[k]) + 2 * c->belt;
            double lift = t->in->glide * c->friction * slip + t->in->glide * c->turn * spin;
            more += fmin(lift, c->ball[k].radius);
            box.low = v3_min(box.low, v3_add(box.low, shift));
            box.high = v3_max(box.high, v3_add(box.high, shift));
        }
        box.low = v3_sub(box.low, v3_make(more, more, more));
        box.high = v3_add(box.high, v3_make(more, more, more));
        c->box[k] = box;
    }
}

/* ---- narrow phase ---- */

/* Features that the pair's contacts had a step ago. */
static int find_kept_features(const collision_input *in, broad_pair at, sim_arena *arena, const uint64_t **kept) {
    int low = 0, high = in->nbefore;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const sim_contact *b = &in->before[middle];
        if (b->shape_a < at.a || (b->shape_a == at.a && b->shape_b < at.b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int count = 0;
    while (low + count < in->nbefore && in->before[low + count].shape_a == at.a &&
           in->before[low + count].shape_b == at.b) {
        count++;
    }
    uint64_t *feature = count ? ARENA_NEW(arena, uint64_t, count) : NULL;
    for (int k = 0; feature && k < count; k++) {
        feature[k] = in->before[low + k].at.feature;
    }
    *kept = feature;
    return feature ? count : 0;
}

/* The separating direction of the pair in the last call, or 0. */
static v3 find_kept_parting(const collision_stage *c, broad_pair at) {
    int low = 0, high = c->napart;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const broad_pair *b = &c->apart[middle].at;
        if (b->a < at.a || (b->a == at.a && b->b < at.b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int found = low < c->napart && c->apart[low].at.a == at.a && c->apart[low].at.b == at.b;
    return found ? c->apart[low].along : v3_make(0, 0, 0);
}

static mover find_mover(const task *t, int shape) {
    const collision_stage *c = t->c;
    int body = c->model->shape[shape].body, moving = c->reach[shape] > 0 && t->in->velocity;
    return (mover){.shape = &c->model->shape[shape],
                   .X = t->in->pose[body],
                   .v = moving ? t->in->velocity[body] : (motion){{0, 0, 0}, {0, 0, 0}},
                   .belt = m3_times(t->in->pose[body].R, c->model->shape[shape].surface_velocity),
                   .spin = m3_times(t->in->pose[body].R, c->model->shape[shape].surface_spin),
                   .reach = c->reach[shape]};
}

/* Up to which gap over its slip does a pair stay in contact, by a law that lets what slides lift?  No farther than it
 * is large.  Resistance to turning lifts as friction does: *turn is the slip for an angular velocity, m; 0 without
 * friction, where only collision's own margin is left. */
static double max_lift_of_pair(const task *t, broad_pair at, double slip, double spin, double *turn) {
    const collision_stage *c = t->c;
    const sim_shape *a = &c->model->shape[at.a], *b = &c->model->shape[at.b];
    sim_material_pair both = sim_material_together(c->model, a->material, b->material);
    double lift = t->in->glide * both.friction, size = fmin(c->ball[at.a].radius, c->ball[at.b].radius);
    *turn = both.friction > 0 ? (both.rolling + both.torsion) / both.friction : 0;
    slip += *turn * spin;
    return lift * slip < size ? lift : size / slip;
}

/* Contact points of a pair, in the world.  Pairs that move less than the margin in a step are searched a little farther
 * out.  Of faster pairs in contact all points count that this step could close; other fast pairs are followed along
 * their motion.  A gliding pair must be in contact before it is below its gliding height.  Otherwise the law throws it
 * up again, and it hops. */
static void collide_pair(const task *t, broad_pair at, worker *w, manifold *out) {
    const collision_stage *c = t->c;
    sweep s = {.a = find_mover(t, at.a),
               .b = find_mover(t, at.b),
               .step = t->in->step,
               .margin = fmin(c->margin[at.a], c->margin[at.b]),
               .one_point = t->in->one_point,
               .arena = w->scratch};
    if (pressure_meets(s.a.shape, s.b.shape)) {
        sweep_ask(&s, 0, 0, out); /* soft solids meet only where they overlap */
        return;
    }
    s.nkept = find_kept_features(t->in, at, w->scratch, &s.kept);
    /* distance of travel in the step */
    double speed = sweep_speed(&s.a, &s.b), travel = speed * s.step,
           slip = speed + belt_speed(c, at.a) + belt_speed(c, at.b), spin = v3_norm(v3_sub(s.a.v.ang, s.b.v.ang)),
           lift = t->in->glide > 0 ? max_lift_of_pair(t, at, slip, spin, &s.turn) : 0;
    slip += s.turn * spin;
    s.lift = s.nkept ? lift : 0;
    int slow = travel <= s.margin, convex = shape_is_convex(s.a.shape) && shape_is_convex(s.b.shape);
    double near = s.margin + (slow ? travel : 0);
    v3 along = convex ? find_kept_parting(c, at) : v3_make(0, 0, 0);
    s.parting = convex ? &along : NULL;
    /* contacts at the start of the step, or a direction of parting */
    double reach = (convex ? s.margin + travel : near) + lift * slip;
    if (s.nkept || convex || sweep_apart(&s, 0, reach) < reach) {
        sweep_ask(&s, 0, reach, out);
    }
    if (along.x != 0 || along.y != 0 || along.z != 0) {
        w->apart[w->napart++] = (parting){at, along};
        return; /* farther apart than they can come */
    }
    s.parting = NULL;
    if (s.lift > 0 || sweep_least_gap(out) <= near) {
        if (lift > 0 || !slow) {
            sweep_drop_unreached(&s, near, out);
        }
        if (out->count) {
            return;
        }
    }
    /* contacts along the motion */
    manifold met = {.failed = out->failed};
    if (!slow) {
        w->swept++;
        sweep_collide(&s, &met);
    }
    /* a gliding pair that was not in contact lands */
    if (met.count || met.failed || s.nkept || lift == 0) {
        *out = met;
        return;
    }
    s.lift = lift;
    sweep_keep_landing(&s, out);
}

static sim_contact *reserve_contacts(worker *w, int count) {
    if (w->count + count > w->room) {
        int room = 2 * (w->count + count) + 64;
        sim_contact *moved = ARENA_NEW(w->found, sim_contact, room);
        if (!moved) {
            return NULL;
        }
        if (w->count) {
            memcpy(moved, w->contact, (size_t)w->count * sizeof *moved);
        }
        w->contact = moved;
        w->room = room;
    }
    return &w->contact[w->count];
}

/* In the order of features: insertion over falling distances (D. Shell 1959), which are 1 for a handful of points. */
static void sort_points(manifold *m) {
    enum { MAX_INSERTION_POINTS = 32 };
    int apart = 1;
    while (m->count > MAX_INSERTION_POINTS * apart) {
        apart = 3 * apart + 1;
    }
    for (; apart > 0; apart /= 3) {
        for (int k = apart; k < m->count; k++) {
            contact_point point = m->point[k];
            int at = k;
            for (; at >= apart && m->point[at - apart].feature > point.feature; at -= apart) {
                m->point[at] = m->point[at - apart];
            }
            m->point[at] = point;
        }
    }
}

static void store_contacts(const task *t, broad_pair at, worker *w, manifold *found) {
    /* material of the pair */
    const sim_shape *a = &t->c->model->shape[at.a], *b = &t->c->model->shape[at.b];
    sim_material_pair surface = sim_material_together(t->c->model, a->material, b->material);
    sim_contact *contact = reserve_contacts(w, found->count);
    if (!contact) {
        w->failed = 1;
        return;
    }
    /* points in the order of their features */
    sort_points(found);
    for (int k = 0; k < found->count; k++) {
        contact[k] =
            (sim_contact){.shape_a = at.a,
                          .shape_b = at.b,
                          .body_a = a->body,
                          .body_b = b->body,
                          .at = found->point[k],
                          .friction = surface.friction,
                          .stiffness = found->point[k].area > 0 ? found->point[k].stiffness : surface.stiffness,
                          .dissipation = surface.dissipation,
                          .restitution = surface.restitution,
                          .torsion = surface.torsion,
                          .rolling = surface.rolling,
                          .adhesion = found->point[k].gap <= surface.adhesion_range ? surface.adhesion : 0};
    }
    w->count += found->count;
    w->pairs++;
}

static bool are_both_still(const task *t, broad_pair at) {
    const sim_shape *shape = t->c->model->shape;
    return t->in->still && t->in->still[shape[at.a].body] && t->in->still[shape[at.b].body];
}

static void collide_pairs(void *context, int self, int first, int end) {
    task *t = context;
    worker *w = &t->c->worker[self];
    w->apart = ARENA_NEW(w->found, parting, end - first);
    w->failed |= !w->apart;
    for (int k = first; k < end && !w->failed; k++) {
        if (are_both_still(t, t->pair[k])) {
            continue;
        }
        manifold found = {0};
        arena_release(w->scratch, 0);
        collide_pair(t, t->pair[k], w, &found);
        w->failed |= found.failed;
        if (found.count) {
            store_contacts(t, t->pair[k], w, &found);
        }
    }
}

/* ---- the whole ---- */

static bool comes_before(const sim_contact *a, const sim_contact *b) {
    return a->shape_a < b->shape_a || (a->shape_a == b->shape_a && a->shape_b < b->shape_b);
}

/* The workers' contacts in their order, which is that of the pairs, and among them those of soft bodies. */
static void merge_contacts(const collision_stage *c, sim_contact *to) {
    int skin = 0;
    for (int k = 0; k < c->workers; k++) {
        const worker *w = &c->worker[k];
        for (int i = 0; i < w->count; i++) {
            while (skin < c->skin_count && comes_before(&c->on_skin[skin], &w->contact[i])) {
                *to++ = c->on_skin[skin++];
            }
            *to++ = w->contact[i];
        }
    }
    while (skin < c->skin_count) {
        *to++ = c->on_skin[skin++];
    }
}

static sim_status gather_contacts(collision_stage *c, const sim_pose *X, sim_error *error) {
    /* counts of all workers */
    int count = c->skin_count, napart = 0;
    for (int k = 0; k < c->workers; k++) {
        const worker *w = &c->worker[k];
        count += w->count;
        napart += w->napart;
        c->info.swept += w->swept;
        c->info.pairs += w->pairs;
        if (w->failed) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d pairs of shapes", c->info.near);
        }
    }
    /* the frame of the step before last is free */
    c->current = !c->current;
    arena_release(c->frame[c->current], 0);
    sim_contact *all = ARENA_NEW(c->frame[c->current], sim_contact, count);
    parting *apart = ARENA_NEW(c->frame[c->current], parting, napart);
    c->napart = 0;
    if (!all || !apart) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", count);
    }
    c->apart = apart;
    c->napart = napart;
    /* copy in the order of the workers */
    for (int k = 0; k < c->workers; k++) {
        const worker *w = &c->worker[k];
        if (w->napart) {
            memcpy(apart, w->apart, (size_t)w->napart * sizeof *apart);
        }
        apart += w->napart;
    }
    merge_contacts(c, all);
    /* without those at seams */
    arena_release(c->worker[0].scratch, 0);
    int kept = seams_leave_out(c->seams, X, all, count, c->worker[0].scratch);
    c->contact = all;
    c->ncontact = c->info.points = kept < 0 ? 0 : kept;
    return kept < 0 ? sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", count) : SIM_OK;
}

sim_status collision_update(collision_stage *c, const collision_input *input, sim_threads *threads, sim_error *error) {
    task t = {.c = c, .in = input};
    if (!create_workers(c, threads_count(threads))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d shapes", c->model->nshape);
    }
    /* pairs of shapes */
    threads_run(threads, c->model->nshape, bound_shapes, &t);
    int near = broadphase_update(c->broad, c->box, threads, &t.pair);
    if (near < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the pairs of %d shapes", c->model->nshape);
    }
    for (int k = 0; k < c->workers; k++) {
        worker *w = &c->worker[k];
        arena_release(w->found, 0);
        w->contact = NULL;
        w->count = w->room = w->swept = w->pairs = w->napart = w->failed = 0;
    }
    c->info = (collision_info){.near = near};
    threads_run(threads, near, collide_pairs, &t);
    /* soft bodies on each other */
    if (c->skin) {
        skin_input soft = {.pose = input->pose,
                           .velocity = input->velocity,
                           .step = input->step,
                           .before = input->before,
                           .nbefore = input->nbefore,
                           .still = input->still,
                           .margin = c->margin};
        c->skin_count = skin_update(c->skin, &soft, threads, &c->on_skin);
        if (c->skin_count < 0) {
            c->skin_count = 0;
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for contacts of soft bodies");
        }
    }
    return gather_contacts(c, input->pose, error);
}

double collision_reach(const collision_stage *c, int shape) { return c->reach[shape]; }

double collision_radius(const collision_stage *c, int shape) { return c->ball[shape].radius; }

const sim_contact *collision_contacts(const collision_stage *c, int *count) {
    *count = c->ncontact;
    return c->contact;
}

const collision_info *collision_last(const collision_stage *c) { return &c->info; }
