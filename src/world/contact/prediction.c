/* Prediction of contacts that last: their points and normals at the end of the step.
 *
 *     q1 = q0 (+) dt v0     (`end`),        q0 (+) p dt v0     (`middle`, where J is taken)
 *     u_n >= -4 |u*_n - u_n| - V (dt V / r)^2,     dt V <= r / 4,    depth <= r / 10
 *
 *     p        part of the step at which the scheme takes its forces, if that is before its end, else 0
 *     u, u*    J v at the start, and J v* of free motion, m/s
 *     V, r     speed, m/s, and size, m, of the pair;  g: gravity, m/s^2;  w: angular velocity of A over B, rad/s
 *
 * J and the gap of a contact follow its point and normal through the step (contact/problem/row/contacts.c).  So the pair is
 * collided again at q1.  A contact lasts if it closes no faster than the accelerations of the step make it (second
 * line),
 *
 *   - if its pair has at most two contacts, or its bodies tilt against each other, |n x w| r > 0.05 sqrt(g r), or
 *     the surfaces of both turn by more than 0.005 sqrt(g / r): levers of the start would let a load creep outwards on
 *     a turntable, by w^2 dt of its radius in a unit of time; and
 *   - if at most two pairs touch one of its limbs: a body between more pairs does not roll.  A limb is a child of the
 *     world with all that it carries: a tree, or one of several that a tendon ties.
 *
 * Contacts of other limbs are carried to q1 by both bodies where the surfaces turn as one: |w| <= 0.05 of the turn W of each,
 * and W^2 dt > 1e-4 / s, the creep by levers of the start.  Such are those of a heap on a turntable.
 *
 * A contact that closes faster is an impact.  Velocities at the start do not predict its motion, and it keeps the
 * levers that it meets with (collide/sweep.c).
 * Cost: a second narrow phase for the pairs of lasting contacts that are not carried. */
#include "collide/skin/element.h"
#include "dyn/motion/advance.h"
#include "math/spatial.h"
#include "math/v3.h"
#include "world/contact/contacts.h"

#include <stdlib.h>
#include <string.h>

double prediction_place(const sim_options *options) {
    double position = theta_position(options->integrator);
    return position < 1 ? position : 0;
}

/* At the initial state of the model, where bodies without joints stay. */
static sim_derived *create_derived(const sim_model *m) {
    sim_derived *d = sim_derived_create(m, NULL);
    if (d) {
        sim_kinematics(d, sim_all(m), m->q_initial);
        sim_velocities(d, sim_all(m), m->v_initial);
    }
    return d;
}

sim_status forces_create(world_contacts *w) {
    const sim_model *m = w->model;
    w->held = POOL_NEW(w->pool, double, m->nv);
    w->unheld = POOL_NEW(w->pool, double, m->nv);
    w->mass = POOL_NEW(w->pool, double, m->nv);
    w->v_ahead = POOL_NEW(w->pool, double, m->nv);
    w->v_mean = POOL_NEW(w->pool, double, m->nv);
    if (!w->held || !w->unheld || !w->mass || !w->v_ahead || !w->v_mean) {
        return SIM_NO_RESOURCE;
    }
    sim_kinematics(w->motion->derived, sim_all(m), m->q_initial);
    sim_articulated_factor(w->motion->derived, sim_all(m), NULL, NULL);
    for (int j = 0; j < m->nv; j++) {
        w->mass[j] = 1 / w->motion->derived->Dinv[j];
    }
    return SIM_OK;
}

/* The limb of each body by its first body, with its end, mass and smallest shape. */
static void measure_limbs(world_contacts *w) {
    const sim_model *m = w->model;
    for (int i = 1; i < m->nbody; i++) {
        int first = m->body[i].parent ? w->limb_of[m->body[i].parent] : i;
        w->limb_of[i] = first;
        if (first == i) {
            w->limb[i] = (limb){.v0 = m->body[i].v0, .size = INFINITY};
        }
        w->limb[first].v_end = m->body[i].v0 + m->body[i].nv;
        w->limb[first].mass += m->body[i].inertia.mass;
    }
    for (int k = 0; k < m->nshape; k++) {
        limb *l = &w->limb[w->limb_of[m->shape[k].body]];
        l->size = fmin(l->size, follower_size(w->follower, k));
    }
}

sim_status prediction_create(world_contacts *w) {
    w->follower = follower_create(w->model);
    w->lasts = POOL_NEW(w->pool, char, w->model->ntree);
    w->limb = POOL_NEW(w->pool, limb, w->model->nbody);
    w->limb_of = POOL_NEW(w->pool, int, w->model->nbody);
    w->q_ahead = POOL_NEW(w->pool, double, w->model->nq);
    w->end = create_derived(w->model);
    if (!w->follower || !w->lasts || !w->limb || !w->limb_of || !w->q_ahead || !w->end) {
        return SIM_NO_RESOURCE;
    }
    measure_limbs(w);
    if (prediction_place(w->options) > 0 && !(w->middle = create_derived(w->model))) {
        w->middle = w->start;
        return SIM_NO_RESOURCE;
    }
    return SIM_OK;
}

void prediction_free(world_contacts *w) {
    if (!w->follower) {
        return;
    }
    follower_free(w->follower);
    sim_derived_free(w->end);
    if (w->middle != w->start) {
        sim_derived_free(w->middle);
    }
    free(w->wanted);
    free(w->way);
    free(w->followed);
}

size_t prediction_bytes(const world_contacts *w) {
    if (!w->follower) {
        return 0;
    }
    size_t each = sizeof *w->wanted + sizeof *w->way + sizeof *w->followed,
           middle = w->middle != w->start ? w->middle->bytes : 0;
    return follower_bytes(w->follower) + w->end->bytes + middle + each * (size_t)w->room;
}

sim_status prediction_make_room(world_contacts *w, int room) {
    char *wanted = realloc(w->wanted, (size_t)room * sizeof *wanted);
    w->wanted = wanted ? wanted : w->wanted;
    lasting_way *way = realloc(w->way, (size_t)room * sizeof *way);
    w->way = way ? way : w->way;
    followed_contact *followed = realloc(w->followed, (size_t)room * sizeof *followed);
    w->followed = followed ? followed : w->followed;
    return wanted && way && followed ? SIM_OK : SIM_NO_RESOURCE;
}

static const double MAX_RELATIVE_CHANGE =
    0.5; /* of an acceleration from step to step, relative, where nothing strikes */
enum { MAX_ROLLING_PAIRS = 2 };
static const double MAX_RELATIVE_DEPTH =
    0.1; /* of an overlap, over the pair's size: normals of deeper ones are unreliable */
static const double MAX_RELATIVE_WAY = 0.25; /* of the pair's points against each other in a step, over its size */
static const double SLOW_OVER_FLAT = 0.1;    /* speed below which a pair is slow, over that below which it lies flat */
static const double MAX_TURN_AS_ONE = 0.05;  /* of two surfaces against each other, over the turn of the slower one */
static const double MAX_CREEP = 1e-4; /* of the distance from the axis in a unit of time, 1/s: by levers of the start */
static const double MAX_CLOSING_GAINS = 4; /* of the change of normal velocity by free motion in a step */

static bool can_tree_move(const world_contacts *w, int tree) {
    return tree >= 0 && w->model->tree[tree].nv > 0 && !sleep_has(w->sleep, tree);
}

/* |x|^2 of velocities, weighted with the effective inertia of each joint. */
static double inertia_norm2(const world_contacts *w, int tree, const double *x) {
    const sim_tree *t = &w->model->tree[tree];
    double sum = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        sum += w->mass[j] * x[j] * x[j];
    }
    return sum;
}

/* Is the root mean square of its speeds below the speed that moves a contact of its smallest shape? */
static bool is_limb_slow(const world_contacts *w, int body) {
    const limb *l = &w->limb[w->limb_of[body]];
    double sum = 0;
    for (int j = l->v0; j < l->v_end; j++) {
        sum += w->mass[j] * w->now->v[j] * w->now->v[j];
    }
    return l->mass > 0 && follower_is_slow(w->follower, sqrt(sum / l->mass), l->size);
}

static void count_touching_pairs(world_contacts *w) {
    for (int i = 0; i < w->model->nbody; i++) {
        w->limb[i].pairs = 0;
    }
    for (int k = 0; k < w->next->ncontact; k++) {
        const sim_contact *c = &w->next->contact[k];
        if (k > 0 && c[-1].shape_a == c->shape_a && c[-1].shape_b == c->shape_b) {
            continue;
        }
        const int body[2] = {c->body_a, c->body_b};
        for (int side = 0; side < 2; side++) {
            if (can_tree_move(w, w->model->body[body[side]].tree)) {
                w->limb[w->limb_of[body[side]]].pairs++;
            }
        }
    }
}

/* A body between many pairs cannot roll. */
static bool is_limb_free(const world_contacts *w, int body) {
    return w->limb[w->limb_of[body]].pairs <= MAX_ROLLING_PAIRS;
}

/* The angular velocity of the surface of a shape, rad/s. */
static v3 surface_turn(const world_contacts *w, const sim_derived *d, int body, int shape) {
    return v3_add(d->vel[body].ang, m3_times(d->pose[body].R, w->model->shape[shape].surface_spin));
}

/* |w| of the slower surface of two, rad/s, and of the surfaces against each other. */
static double slower_turn(const world_contacts *w, const sim_derived *d, const sim_contact *c, double *against) {
    v3 a = surface_turn(w, d, c->body_a, c->shape_a), b = surface_turn(w, d, c->body_b, c->shape_b);
    *against = v3_norm(v3_sub(a, b));
    return fmin(v3_norm(a), v3_norm(b));
}

/* Do both surfaces turn, as those of a turntable and its load? */
static bool both_turn(const world_contacts *w, const sim_contact *c) {
    double size = fmin(follower_size(w->follower, c->shape_a), follower_size(w->follower, c->shape_b)), against;
    return !follower_is_slow(w->follower, size * slower_turn(w, w->end, c, &against), size);
}

/* Do they turn as one, so fast that levers of the start would let loads creep? */
static bool turn_as_one(const world_contacts *w, const sim_derived *d, const sim_contact *c) {
    double against, turn = slower_turn(w, d, c, &against);
    return turn * turn * w->options->step > MAX_CREEP && against <= MAX_TURN_AS_ONE * turn;
}

/* Trees with a contact of which one side at least is free and not slow, or that both bodies carry: their end must be
 * known. */
static void mark_touched(world_contacts *w) {
    memset(w->lasts, 0, (size_t)w->model->ntree);
    w->any_lasts = false;
    count_touching_pairs(w);
    for (int k = 0; k < w->next->ncontact; k++) {
        const sim_contact *c = &w->next->contact[k];
        const int tree[2] = {w->model->body[c->body_a].tree, w->model->body[c->body_b].tree};
        int moves[2] = {can_tree_move(w, tree[0]), can_tree_move(w, tree[1])};
        bool fast = (moves[0] && is_limb_free(w, c->body_a) && !is_limb_slow(w, c->body_a)) ||
                    (moves[1] && is_limb_free(w, c->body_b) && !is_limb_slow(w, c->body_b)) ||
                    ((moves[0] || moves[1]) && turn_as_one(w, w->start, c));
        for (int side = 0; side < 2; side++) {
            if (moves[side] && fast) {
                w->lasts[tree[side]] = 1;
                w->any_lasts = true;
            }
        }
    }
}

static v3 point_velocity_at(const sim_derived *d, int body, v3 x) {
    return v3_add(d->vel[body].lin, v3_cross(d->vel[body].ang, v3_sub(x, d->pose[body].p)));
}

static v3 relative_velocity_at(const sim_derived *d, const sim_contact *c) {
    return v3_sub(point_velocity_at(d, c->body_a, c->at.position), point_velocity_at(d, c->body_b, c->at.position));
}

/* Has the pair of contact k three contacts or more? */
static bool has_a_face(const world_contacts *w, int k) {
    const sim_contact *c = &w->next->contact[k];
    int count = 0;
    for (int i = k - 2 > 0 ? k - 2 : 0; i <= k + 2 && i < w->next->ncontact; i++) {
        count += w->next->contact[i].shape_a == c->shape_a && w->next->contact[i].shape_b == c->shape_b;
    }
    return count > 2;
}

/* Do the bodies of a contact hardly tilt against each other?  Meshing teeth, with contacts on two lines or more, do. */
static bool hardly_tilts(const world_contacts *w, const sim_contact *c) {
    double size = fmin(follower_size(w->follower, c->shape_a), follower_size(w->follower, c->shape_b));
    v3 tilting = v3_cross(c->at.normal, v3_sub(w->end->vel[c->body_a].ang, w->end->vel[c->body_b].ang));
    return follower_is_slow(w->follower, SLOW_OVER_FLAT * size * v3_norm(tilting), size);
}

/* Greatest speed of the points of a pair against each other, m/s; of bodies that turn as one without their turn. */
static double speed_of_pair(const world_contacts *w, int k, bool as_one, double *size) {
    const sim_contact *c = &w->next->contact[k];
    double speed = follower_speed(w->follower, w->end->pose, w->end->vel, c, size);
    if (!as_one) {
        return speed;
    }
    v3 turn = v3_sub(w->end->vel[c->body_a].ang, w->end->vel[c->body_b].ang);
    return fmin(speed, v3_norm(relative_velocity_at(w->end, c)) + 2 * *size * v3_norm(turn));
}

/* Does a contact close no faster than accelerations make it?  Line 2 of the head.  `start` has the velocities of the
 * free motion, `end` those of the start. */
static bool is_lasting(const world_contacts *w, int k, bool as_one) {
    const sim_contact *c = &w->next->contact[k];
    double u = v3_dot(c->at.normal, relative_velocity_at(w->end, c)),
           u_free = v3_dot(c->at.normal, relative_velocity_at(w->start, c));
    double size, speed = speed_of_pair(w, k, as_one, &size), way = w->options->step * speed / size;
    return way <= MAX_RELATIVE_WAY && c->at.gap >= -MAX_RELATIVE_DEPTH * size &&
           u >= -(MAX_CLOSING_GAINS * fabs(u_free - u) + speed * way * way);
}

/* How a contact lasts, if it does.  A slow body that is not followed ends where it starts (stay_at_start). */
static lasting_way classify_contact(const world_contacts *w, int k) {
    const sim_contact *c = &w->next->contact[k];
    const int body[2] = {c->body_a, c->body_b};
    bool rolls = false, moves = false;
    bool met = v3_dot(c->at.apart, c->at.apart) > 0 || skin_is_contact(w->model, c);
    for (int side = 0; side < 2; side++) {
        int tree = w->model->body[body[side]].tree;
        bool lasts = tree >= 0 && w->lasts[tree];
        moves |= lasts;
        rolls |= lasts && is_limb_free(w, body[side]);
    }
    if (met || !moves) {
        return LASTS_NOT;
    }
    if (!rolls) {
        return turn_as_one(w, w->end, c) && is_lasting(w, k, true) ? LASTS_CARRIED : LASTS_NOT;
    }
    bool face = has_a_face(w, k), as_one = face && both_turn(w, c);
    if (face && !as_one && hardly_tilts(w, c)) {
        return LASTS_NOT;
    }
    return !is_lasting(w, k, as_one) ? LASTS_NOT : as_one ? LASTS_AS_ONE : LASTS;
}

/* Marks contacts that last. */
static void find_lasting(void *context, int worker, int first, int last) {
    world_contacts *w = context;
    (void)worker;
    for (int k = first; k < last; k++) {
        w->way[k] = classify_contact(w, k);
        w->wanted[k] = w->way[k] == LASTS || w->way[k] == LASTS_AS_ONE;
    }
}

/* Has nothing struck in the last two steps?  With the changes b = v0 - v1 and c = v1 - v2 of v:
 *
 *     |b - c| <= 1/2 max(|b|, dt g)
 *
 * Leaves b in v_mean and 2 b - c in v_ahead. */
bool prediction_is_smooth(world_contacts *w, const sim_state *at, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    const double *v = at->v, *v1 = at->trail, *v2 = v1 + w->model->nv;
    double *b = w->v_mean, *d = w->v_ahead;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        b[j] = v[j] - v1[j];
        d[j] = b[j] - (v1[j] - v2[j]);
    }
    double fall = w->options->step * v3_norm(w->model->gravity);
    double scale = fmax(inertia_norm2(w, tree, b), w->motion->parts[tree].mass * fall * fall);
    bool smooth = inertia_norm2(w, tree, d) <= MAX_RELATIVE_CHANGE * MAX_RELATIVE_CHANGE * scale;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        d[j] += b[j];
    }
    return smooth;
}

/* With r = 1/2 and the norm of inertia_norm2, a change x of v moves |b - c| by |x| at most, and r |b| by r |x|. */
bool prediction_may_change(world_contacts *w, const sim_state *at, int tree, double speed) {
    const sim_tree *t = &w->model->tree[tree];
    prediction_is_smooth(w, at, tree);
    double *b = w->v_mean, *d = w->v_ahead, mass = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        d[j] -= b[j];
        mass += w->mass[j];
    }
    double fall = w->options->step * v3_norm(w->model->gravity) * sqrt(w->motion->parts[tree].mass);
    double bound = MAX_RELATIVE_CHANGE * fmax(sqrt(inertia_norm2(w, tree, b)), fall);
    return fabs(sqrt(inertia_norm2(w, tree, d)) - bound) < (1 + MAX_RELATIVE_CHANGE) * speed * sqrt(mass);
}

/* v1 = v0 + b + (b - c): off by O(dt^3).  After a strike v1 = v0. */
static void predict_velocities(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    double travel = theta_travel(w->options->integrator);
    bool smooth = prediction_is_smooth(w, w->now, tree);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double gain = smooth ? w->v_ahead[j] : 0;
        w->v_ahead[j] = w->now->v[j] + gain;
        w->v_mean[j] = w->now->v[j] + travel * gain;
    }
}

/* J of slow trees is taken at the start.  Those that others touch stay there, at their velocities. */
static void stay_at_start(world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    if (w->middle != w->start) {
        size_t bodies = (size_t)t->nbody;
        memcpy(w->middle->pose + t->body0, w->start->pose + t->body0, bodies * sizeof *w->start->pose);
        memcpy(w->middle->r + t->body0, w->start->r + t->body0, bodies * sizeof *w->start->r);
        memcpy(w->middle->S + t->v0, w->start->S + t->v0, (size_t)t->nv * sizeof *w->start->S);
    }
    if (w->any_lasts) {
        sim_range bodies = sim_tree_range(w->model, tree);
        sim_kinematics(w->end, bodies, w->now->q);
        sim_velocities(w->end, bodies, w->now->v);
        memcpy(w->v_ahead + t->v0, w->now->v + t->v0, (size_t)t->nv * sizeof *w->v_ahead);
    }
}

/* Kinematics where J of contacts is taken, and where the step will end, by the scheme's own way of moving. */
static void move_tree(world_contacts *w, int tree) {
    const sim_model *m = w->model;
    sim_range bodies = sim_tree_range(m, tree);
    double dt = w->options->step, *q = w->q_ahead;
    int half = w->middle != w->start, explicit = half && !theta_is_implicit(w->options->integrator);
    if (!w->lasts[tree]) {
        stay_at_start(w, tree);
        return;
    }
    predict_velocities(w, tree);
    if (half) {
        const double *v = explicit ? w->now->v : w->v_mean;
        advance_by(m, bodies, explicit ? ROTATION_EXP : ROTATION_CAYLEY_HALF, w->now->q, v, explicit ? 0.5 * dt : dt,
                   q);
        sim_kinematics(w->middle, bodies, q);
    }
    if (explicit) {
        advance_by(m, bodies, ROTATION_EXP, q, w->v_ahead, 0.5 * dt, q);
    } else {
        advance_by(m, bodies, half ? ROTATION_CAYLEY : ROTATION_EXP, w->now->q, w->v_mean, dt, q);
    }
    sim_kinematics(w->end, bodies, q);
    sim_velocities(w->end, bodies, w->v_ahead);
}

static void move_trees(void *context, int worker, int first, int end) {
    world_contacts *w = context;
    (void)worker;
    for (int tree = first; tree < end; tree++) {
        if (can_tree_move(w, tree)) {
            move_tree(w, tree);
        }
    }
}

/* How a body at the start carries the point x. */
static v3 carried_by(const world_contacts *w, int body, v3 x) {
    const sim_pose *from = &w->start->pose[body];
    return pose_point(w->end->pose[body], m3_transposed_times(from->R, v3_sub(x, from->p)));
}

/* A contact of surfaces that turn as one.  The pair is not collided again, or the end has not its feature, as where a
 * round face has other corners there.  Both bodies carry it to the same place, but for their slip; one whose surface turns over it does not. */
static followed_contact carry_contact(const world_contacts *w, const sim_contact *c) {
    const sim_shape *shape = w->model->shape;
    v3 a = carried_by(w, c->body_a, c->at.position), b = carried_by(w, c->body_b, c->at.position);
    double spin_a = v3_norm(shape[c->shape_a].surface_spin), spin_b = v3_norm(shape[c->shape_b].surface_spin);
    double by_b = spin_a > 0 && spin_b == 0 ? 1 : spin_b > 0 && spin_a == 0 ? 0 : 0.5;
    v3 n = m3_transposed_times(w->start->pose[c->body_a].R, c->at.normal);
    return (followed_contact){.position = v3_axpy(a, by_b, v3_sub(b, a)),
                              .normal = m3_times(w->end->pose[c->body_a].R, n),
                              .gap = c->at.gap,
                              .known = true,
                              .carried = true};
}

/* Contacts at the end of the step into `followed`. */
static sim_status follow_contacts(world_contacts *w, sim_error *error) {
    follow_input in = {.model = w->model,
                       .start = w->start->pose,
                       .end = w->end->pose,
                       .velocity = w->end->vel,
                       .step = w->options->step,
                       .contact = w->next->contact,
                       .ncontact = w->next->ncontact,
                       .wanted = w->wanted};
    sim_status status = follower_run(w->follower, &in, w->threads, w->followed, error);
    for (int k = 0; k < w->next->ncontact && !status; k++) {
        followed_contact *to = &w->followed[k];
        if (to->known) {
            to->position = acting_point(w->model, &w->next->contact[k], to->position, to->normal, to->gap);
        } else if (w->way[k] == LASTS_AS_ONE || w->way[k] == LASTS_CARRIED) {
            *to = carry_contact(w, &w->next->contact[k]);
        }
    }
    return status;
}

sim_status predict_contacts(world_contacts *w, sim_error *error) {
    mark_touched(w);
    threads_run(w->threads, w->model->ntree, move_trees, w);
    threads_run(w->threads, w->next->ncontact, find_lasting, w);
    return follow_contacts(w, error);
}

/* Are the forces p near the forces `to`?  Weighted with the inverse effective inertia of each joint. */
static bool are_forces_near(const world_contacts *w, int tree, const double *p, const double *to) {
    const sim_tree *t = &w->model->tree[tree];
    double size = 0, change = 0;
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        double d = p[j] - to[j];
        size += p[j] * p[j] / w->mass[j];
        change += d * d / w->mass[j];
    }
    return size > 0 && change <= MAX_RELATIVE_CHANGE * MAX_RELATIVE_CHANGE * size;
}

/* Constraints that jam against each other have large impulses with a small sum.  The lasting parts of some of them, and
 * not of all, are a force that no step has had. */
void drop_unbalanced_forces(world_contacts *w) {
    double *p = w->next->trail + 2 * (ptrdiff_t)w->model->nv;
    for (int tree = 0; tree < w->model->ntree; tree++) {
        const sim_tree *t = &w->model->tree[tree];
        if (t->nv && !are_forces_near(w, tree, p, w->unheld)) {
            memset(p + t->v0, 0, (size_t)t->nv * sizeof *p);
        }
    }
}

bool forces_last(const world_contacts *w, const sim_state *at, int tree) {
    const double *p = at->trail + 2 * (ptrdiff_t)w->model->nv;
    return w->model->tree[tree].nv && are_forces_near(w, tree, p, p + w->model->nv);
}

bool forces_go_on(world_contacts *w, const sim_state *at, int tree) {
    return forces_last(w, at, tree) && prediction_is_smooth(w, at, tree);
}

void extrapolate_forces(world_contacts *w) {
    const double *p = w->now->trail + 2 * (ptrdiff_t)w->model->nv, *before = p + w->model->nv;
    for (int tree = 0; tree < w->model->ntree; tree++) {
        const sim_tree *t = &w->model->tree[tree];
        bool smooth = forces_go_on(w, w->now, tree);
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            w->held[j] = w->now->held[j] + (smooth ? 2 * p[j] - before[j] : 0);
        }
    }
}

void keep_trail(const sim_model *m, const sim_state *now, sim_state *next) {
    size_t size = (size_t)m->nv * sizeof(double);
    if (size) {
        memcpy(next->trail, now->v, size);
        memcpy(next->trail + m->nv, now->trail, size);
        memcpy(next->trail + 3 * (ptrdiff_t)m->nv, now->trail + 2 * (ptrdiff_t)m->nv, size);
    }
}
