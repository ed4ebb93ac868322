/* Contact points of touching pairs at the end of the step, predicted.
 *
 * A contact that lasts moves over both of its surfaces: with n the normal and x the point,
 *
 *     dx/dt and dn/dt follow from the curvatures of both surfaces and the relative motion (Montana 1988).
 *
 * Curvature is not asked for shape by shape.  The pair is collided once more with its bodies at the poses q0 (+) dt v0.
 * The point with the same feature is the same contact, a step later.  So is the only point of a pair that has one,
 * because round bodies roll from triangle to triangle.  Where the feature is gone, as of teeth that roll over facets,
 * it is the nearest new point with about the same normal.  That point lies within twice the pair's motion.  The error
 * of x and n is O(dt^2), as v0 differs from the mean velocity of the step by O(dt).  This holds for every shape that
 * has an answer in the narrow phase.
 *
 * A point that jumped is another contact: farther than the pair can move and a quarter of its size, or with a normal
 * turned by more than 30 degrees.  Slow pairs are left out: below 0.005 sqrt(g r) all that the rates of a contact
 * change within a step is 2.5e-5 of what gravity adds.
 *
 * Two distance fields that conform, as a nut and its bolt, have a hundred contacts.  Where they move fast, they are
 * searched next to the features at the start alone, and no farther than the points can part (find_margin).
 *
 * Reference: D. J. Montana, The kinematics of contact and grasp, Int. J. Robotics Research 7(3), 1988.
 * Cost: one narrow-phase query for each pair that is followed. */
#include "collide/follow.h"
#include "base/pool.h"
#include "collide/contact/bounds.h"
#include "collide/sweep.h"
#include "math/spatial.h"

#include <stdbool.h>
#include <string.h>

static const double MAX_JUMP_OVER_SIZE = 0.25;
static const double MIN_NORMAL_COSINE = 0.866;
static const double MAX_JUMP_OVER_TRAVEL = 2;       /* from facet to facet */
static const double MIN_FACET_COSINE = 0.99;        /* of their normals */
static const double MIN_SPEED_OVER_FALL = 5e-3;     /* of sqrt(g r) */
static const double MIN_LOCAL_WAY_OVER_SIZE = 0.01; /* of a pair that is searched next to its features alone */

/* One thread's share. */
typedef struct worker {
    sim_arena *scratch;
    int failed;
} worker;

struct contact_follower {
    const sim_model *model;
    memory_pool *pool;
    double *reach; /* [nshape] from the body's origin to the shape's farthest point */
    double *size;  /* [nshape] radius of the shape's ball */
    worker *worker;
    int workers;
};

contact_follower *follower_create(const sim_model *m) {
    memory_pool *pool = pool_create();
    contact_follower *f = pool ? POOL_NEW(pool, contact_follower, 1) : NULL;
    double *reach = f ? POOL_NEW(pool, double, 2 * (size_t)m->nshape) : NULL;
    if (!reach) {
        pool_free(pool);
        return NULL;
    }
    f->model = m;
    f->pool = pool;
    f->reach = reach;
    f->size = reach + m->nshape;
    for (int k = 0; k < m->nshape; k++) {
        bounding_ball ball = shape_ball(&m->shape[k]);
        f->size[k] = ball.radius;
        f->reach[k] = v3_norm(pose_point(m->shape[k].pose, ball.centre)) + ball.radius;
    }
    return f;
}

void follower_free(contact_follower *f) {
    if (f) {
        for (int k = 0; k < f->workers; k++) {
            arena_free(f->worker[k].scratch);
        }
        pool_free(f->pool);
    }
}

size_t follower_bytes(const contact_follower *f) {
    size_t bytes = pool_bytes(f->pool);
    for (int k = 0; k < f->workers; k++) {
        bytes += arena_bytes(f->worker[k].scratch);
    }
    return bytes;
}

/* One arena for each thread, for good. */
static bool prepare_workers(contact_follower *f, int count) {
    if (count > f->workers) {
        worker *more = POOL_NEW(f->pool, worker, count);
        for (int k = 0; more && k < f->workers; k++) {
            more[k] = f->worker[k];
        }
        f->worker = more ? more : f->worker;
        while (more && f->workers < count && (more[f->workers].scratch = arena_create())) {
            f->workers++;
        }
    }
    for (int k = 0; k < f->workers; k++) {
        f->worker[k].failed = 0;
    }
    return f->workers >= count;
}

typedef struct task {
    contact_follower *f;
    const follow_input *in;
    followed_contact *out;
} task;

static double smaller_size(const contact_follower *f, const sim_contact *c) {
    return fmin(f->size[c->shape_a], f->size[c->shape_b]);
}

/* Shapes that do not turn have reach 0.  A half-space ends nowhere: it reaches as far as the smaller shape about the
 * contact, or its speed would jump from 0 to infinity where it begins to turn. */
static mover make_mover(const contact_follower *f, const sim_contact *c, int shape, pose X, motion v) {
    double reach =
        isfinite(f->reach[shape]) ? f->reach[shape] : v3_norm(v3_sub(c->at.position, X.p)) + smaller_size(f, c);
    return (mover){.shape = &f->model->shape[shape], .X = X, .v = v, .reach = v3_norm(v.ang) > 0 ? reach : 0};
}

double follower_speed(const contact_follower *f, const sim_pose *X, const sim_motion *velocity, const sim_contact *c,
                      double *size) {
    mover a = make_mover(f, c, c->shape_a, X[c->body_a], velocity[c->body_a]),
          b = make_mover(f, c, c->shape_b, X[c->body_b], velocity[c->body_b]);
    *size = smaller_size(f, c);
    return sweep_speed(&a, &b);
}

bool follower_is_slow(const contact_follower *f, double speed, double size) {
    return speed * speed <= MIN_SPEED_OVER_FALL * MIN_SPEED_OVER_FALL * v3_norm(f->model->gravity) * size;
}

double follower_size(const contact_follower *f, int shape) { return f->size[shape]; }

/* A ball on a half-space that stands still: both its lever and the normal stay as they are. */
static bool never_moves(const task *t, const sim_contact *c) {
    const sim_shape *shape = t->in->model->shape;
    int a = c->shape_a, b = c->shape_b;
    int ball = shape[a].type == SIM_SPHERE && shape[b].type == SIM_HALF_SPACE;
    int turned = shape[b].type == SIM_SPHERE && shape[a].type == SIM_HALF_SPACE;
    int flat = ball ? b : a;
    sim_motion v = t->in->velocity[shape[flat].body];
    return (ball || turned) && v3_norm(v.ang) == 0;
}

static bool is_first_of_pair(const follow_input *in, int k) {
    return k == 0 || in->contact[k - 1].shape_a != in->contact[k].shape_a ||
           in->contact[k - 1].shape_b != in->contact[k].shape_b;
}

static int find_pair_end(const follow_input *in, int first) {
    int end = first + 1;
    while (end < in->ncontact && !is_first_of_pair(in, end)) {
        end++;
    }
    return end;
}

/* Is the feature that of a contact of the pair where the step starts? */
static bool has_known_feature(const task *t, int first, int end, uint64_t feature) {
    for (int k = first; k < end; k++) {
        if (t->in->contact[k].at.feature == feature) {
            return true;
        }
    }
    return false;
}

/* The point with the feature of contact k, or the only one of a pair that has one. */
static const contact_point *find_same_feature(const task *t, int k, bool alone, const manifold *found,
                                              double max_jump) {
    const sim_contact *c = &t->in->contact[k];
    for (int i = 0; i < found->count; i++) {
        const contact_point *p = &found->point[i];
        bool near = v3_norm(v3_sub(p->position, c->at.position)) <= max_jump;
        if ((alone || p->feature == c->at.feature) && near && v3_dot(p->normal, c->at.normal) >= MIN_NORMAL_COSINE) {
            return p;
        }
    }
    return NULL;
}

/* The nearest point that is new: contact k, gone over to the next facet. */
static const contact_point *find_next_feature(const task *t, int first, int end, int k, const manifold *found,
                                              double max_jump) {
    const sim_contact *c = &t->in->contact[k];
    const contact_point *best = NULL;
    for (int i = 0; i < found->count; i++) {
        const contact_point *p = &found->point[i];
        double jump = v3_norm(v3_sub(p->position, c->at.position));
        if (jump < max_jump && v3_dot(p->normal, c->at.normal) >= MIN_FACET_COSINE &&
            !has_known_feature(t, first, end, p->feature)) {
            max_jump = jump;
            best = p;
        }
    }
    return best;
}

/* `travel`: how far the pair moves, at most. */
static void match_points(const task *t, int first, int end, const manifold *found, double travel) {
    bool alone = end - first == 1 && found->count == 1;
    for (int k = first; k < end; k++) {
        if (t->in->wanted[k]) {
            double max_jump = travel + MAX_JUMP_OVER_SIZE * smaller_size(t->f, &t->in->contact[k]);
            const contact_point *p = find_same_feature(t, k, alone, found, max_jump);
            p = p ? p : find_next_feature(t, first, end, k, found, MAX_JUMP_OVER_TRAVEL * travel);
            if (p) {
                t->out[k] =
                    (followed_contact){.position = p->position, .normal = p->normal, .gap = p->gap, .known = true};
            }
        }
    }
}

/* The greatest gap that a contact may have at the end, whose two points of now then are
 *
 *     g + dt |u| + dt^2 (w_a^2 r_a + w_b^2 r_b) / 2
 *
 * apart at most, u their velocity against each other, w the angular velocities, r the reaches.  No more than the
 * greatest gap now and the way of the pair. */
static double find_margin(const task *t, const sweep *s, int first, int end, double travel) {
    double turn_a = s->step * v3_norm(s->a.v.ang), turn_b = s->step * v3_norm(s->b.v.ang);
    double bend = 0.5 * (swing(turn_a * turn_a, s->a.reach) + swing(turn_b * turn_b, s->b.reach)), margin = 0;
    for (int k = first; k < end; k++) {
        if (t->in->wanted[k]) {
            const contact_point *c = &t->in->contact[k].at;
            v3 u = v3_sub(mover_velocity(&s->a, c->position), mover_velocity(&s->b, c->position));
            margin = fmax(margin, c->gap + fmin(s->step * v3_norm(u) + bend, travel));
        }
    }
    return margin;
}

static bool follow_pair(const task *t, int index, int first, int end) {
    /* shapes at the end of the step; slow pairs keep their contacts */
    const follow_input *in = t->in;
    const sim_contact *c = &in->contact[first];
    sim_arena *scratch = t->f->worker[index].scratch;
    sweep s = {.a = make_mover(t->f, c, c->shape_a, in->end[c->body_a], in->velocity[c->body_a]),
               .b = make_mover(t->f, c, c->shape_b, in->end[c->body_b], in->velocity[c->body_b]),
               .step = in->step,
               .arena = scratch};
    double speed = sweep_speed(&s.a, &s.b), size = smaller_size(t->f, c);
    if (never_moves(t, c) || follower_is_slow(t->f, speed, size)) {
        return true;
    }
    /* features and greatest gap at the start */
    uint64_t *kept = ARENA_NEW(scratch, uint64_t, end - first);
    double gap = 0;
    for (int k = first; kept && k < end; k++) {
        kept[k - first] = in->contact[k].at.feature;
        gap = fmax(gap, in->contact[k].at.gap);
    }
    /* contacts at the end, matched to those at the start */
    manifold found = {0};
    s.kept = kept;
    s.nkept = kept ? end - first : 0;
    double travel = fmin(speed * in->step, size);
    bool fields = s.a.shape->type == SIM_SDF && s.b.shape->type == SIM_SDF;
    s.follows = fields && travel > MIN_LOCAL_WAY_OVER_SIZE * size;
    sweep_ask(&s, 0, s.follows ? find_margin(t, &s, first, end, travel) : gap + travel, &found);
    match_points(t, first, end, &found, travel);
    arena_release(scratch, 0);
    return kept && !found.failed;
}

/* The pairs whose first contact is in this share. */
static void follow_pairs(void *context, int index, int first, int end) {
    const task *t = context;
    for (int k = first; k < end; k++) {
        if (!is_first_of_pair(t->in, k)) {
            continue;
        }
        int past = find_pair_end(t->in, k), any = 0;
        for (int i = k; i < past; i++) {
            t->out[i] = (followed_contact){.known = 0};
            any |= t->in->wanted[i];
        }
        if (any && !follow_pair(t, index, k, past)) {
            t->f->worker[index].failed = 1;
        }
    }
}

sim_status follower_run(contact_follower *f, const follow_input *in, sim_threads *threads, followed_contact *out,
                        sim_error *error) {
    task t = {.f = f, .in = in, .out = out};
    int failed = !prepare_workers(f, threads_count(threads));
    if (!failed) {
        threads_run(threads, in->ncontact, follow_pairs, &t);
    }
    for (int k = 0; k < f->workers; k++) {
        failed |= f->worker[k].failed;
    }
    return failed ? sim_fail(error, SIM_NO_RESOURCE, "no memory to follow %d contacts", in->ncontact) : SIM_OK;
}
