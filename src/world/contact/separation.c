/* Separation of bodies that overlap at the end of a step.
 *
 *     b = phi' - phi1             least change of a gap;  bodies part where b > 0.003 r
 *     q1 <- q1 (+) dt c           c: the least shift with which gaps change by b (contact/island/separation.c)
 *
 *     phi1    gap at the end of the step, m
 *     phi'    min(0, phi0 + dt u_n), the gap that the law promised there, m: the deepest of the pair; 0 of pairs that
 *             were not in contact
 *     r       radius of the ball around the smaller shape, m
 *
 * The gaps of a step are linear in its end velocities, on the geometry at its start.  Where bodies strike, they turn
 * and slide otherwise than in free motion.  Gaps err by some (dt V)^2 / r, and unexpected bodies meet.  So all pairs
 * with a body for which this matters are collided again at q1.  Velocities stay as they are: bodies that still close
 * strike in the next step.  No body is shifted farther than the step moved the farthest.
 *
 * The shift mends geometry alone: how far contacts give way is up to the law, which knows their velocities.  Holding up
 * what the law lets sink would leave it falling on the spot.  For the same reason bodies whose contacts have no solution
 * are left alone.
 *
 * Reference: position solver of Catto, Box2D (2006). Here the metric is that of whole trees, their joints and loops
 * hold, and bodies are collided again after shifts beyond r / 100.
 * Cost: kinematics, a narrow phase without sweeps for bodies off their course, a contact problem where bodies part. */
#include "dyn/motion/advance.h"
#include "world/contact/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PASSES = 16 };
static const double MAX_RELATIVE_OVERLAP = 0.003; /* beyond the allowed one, over the radius of the smaller shape */
static const double MAX_RELATIVE_ERROR = 0.0015;  /* of the gaps in view, over the radius of the smallest shape */
static const double MAX_RELATIVE_SHIFT = 0.003;   /* of a body that is not collided again, likewise */
static const double MAX_FALLS_AT_REST = 2;        /* way of a body that contacts hold at rest, over g dt^2 */

sim_status separation_create(world_contacts *w) {
    /* memory */
    const sim_model *m = w->model;
    w->body_size = POOL_NEW(w->pool, double, m->nbody);
    w->body_reach = POOL_NEW(w->pool, double, m->nbody);
    w->on_course = POOL_NEW(w->pool, char, m->nbody);
    w->parted = POOL_NEW(w->pool, char, m->ntree);
    if (!w->body_size || !w->body_reach || !w->on_course || !w->parted) {
        return SIM_NO_RESOURCE;
    }
    /* sizes of bodies */
    for (int b = 0; b < m->nbody; b++) {
        w->body_size[b] = INFINITY;
        w->body_reach[b] = 0;
    }
    for (int k = 0; k < m->nshape; k++) {
        int b = m->shape[k].body;
        w->body_size[b] = fmin(w->body_size[b], collision_radius(w->collision, k));
        /* a half-space reaches without end; how far it turns its contacts shows in the ways of the other bodies */
        double reach = collision_reach(w->collision, k);
        w->body_reach[b] = fmax(w->body_reach[b], isfinite(reach) ? reach : 0);
    }
    return SIM_OK;
}

void separation_free(world_contacts *w) {
    free(w->promised);
    free(w->least);
    free(w->deep);
}

size_t separation_bytes(const world_contacts *w) {
    size_t gaps = w->promised ? (size_t)w->room * sizeof *w->promised : 0;
    return gaps + (size_t)w->least_room * (sizeof *w->least + sizeof *w->deep);
}

sim_status separation_make_room(world_contacts *w, int room) {
    double *promised = realloc(w->promised, (size_t)room * sizeof *promised);
    w->promised = promised ? promised : w->promised;
    return promised ? SIM_OK : SIM_NO_RESOURCE;
}

/* The way of a body in the step: of its origin, and by turning about it at its reach. */
static double way_of_body(const world_contacts *w, int body) {
    const sim_pose *from = &w->start->pose[body], *to = &w->end->pose[body];
    v3 x = v3_sub(to->R.x, from->R.x), y = v3_sub(to->R.y, from->R.y), z = v3_sub(to->R.z, from->R.z);
    double turn = sqrt((v3_dot(x, x) + v3_dot(y, y) + v3_dot(z, z)) / 2); /* 2 sin(angle / 2) */
    return v3_norm(v3_sub(to->p, from->p)) + w->body_reach[body] * turn;
}

/* The way that the contacts of the step sent a body, beyond its free motion, m; less than some g dt^2 is no strike. */
static double way_of_strike(const world_contacts *w, int body) {
    const sim_motion *free = &w->start->vel[body], *to = &w->end->vel[body];
    double dt = w->options->step, fall = v3_norm(w->model->gravity) * dt * dt;
    double way = dt * (v3_norm(v3_sub(to->lin, free->lin)) + w->body_reach[body] * v3_norm(v3_sub(to->ang, free->ang)));
    return way > MAX_FALLS_AT_REST * fall ? way : 0;
}

/* Could the gaps of a body at the end of the step differ from those that the step had in view?  Those of its contacts
 * differ by some s^2 / 2 r, where s is its way; a body that was struck goes where its free motion did not lead. */
static bool is_off_course(const world_contacts *w, int tree, int body) {
    double r = w->body_size[body], s = way_of_body(w, body), least = MAX_RELATIVE_ERROR * r;
    double bent = w->in_contact[tree] ? s * s / (2 * r) : 0;
    return s > least && (bent > least || way_of_strike(w, body) > least);
}

/* Velocities at the end of the step, together with the shift of positions that its contacts asked for (position
 * correction). A body at rest that was shifted may meet one that was not in view. */
static const double *end_velocity_with_shift(const world_contacts *w, int tree) {
    const sim_tree *t = &w->model->tree[tree];
    if (!w->in_contact[tree]) {
        return w->next->v;
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->shift[j] += w->next->v[j];
    }
    return w->shift;
}

/* Poses at the end of the step, and the bodies that are off course; the farthest way of these, 0: there are none. */
static double find_off_course(world_contacts *w) {
    const sim_model *m = w->model;
    double farthest = 0;
    memset(w->on_course, 1, (size_t)m->nbody);
    for (int tree = 0; tree < m->ntree; tree++) {
        sim_range bodies = sim_tree_range(m, tree);
        if (m->tree[tree].nv) {
            sim_kinematics(w->end, bodies, w->next->q);
            sim_velocities(w->end, bodies, end_velocity_with_shift(w, tree));
        }
        for (int b = m->tree[tree].body0; b < m->tree[tree].body0 + m->tree[tree].nbody; b++) {
            bool moves = m->tree[tree].nv && !sleep_has(w->sleep, tree);
            w->on_course[b] = !moves || !is_off_course(w, tree, b);
            farthest = w->on_course[b] ? farthest : fmax(farthest, way_of_body(w, b));
        }
    }
    return farthest;
}

/* -1, 0, 1: the pair of shapes of a comes before that of b, is the same, comes after it. */
static int compare_pairs(const sim_contact *a, const sim_contact *b) {
    int first = (a->shape_a > b->shape_a) - (a->shape_a < b->shape_a);
    return first ? first : (a->shape_b > b->shape_b) - (a->shape_b < b->shape_b);
}

/* The gap that the law promised to the pair of a contact, at most 0; `*at` goes on through the sorted list. */
static double find_promise(const world_contacts *w, const sim_contact *c, int *at) {
    const sim_contact *list = w->next->contact;
    while (*at < w->next->ncontact && compare_pairs(&list[*at], c) < 0) {
        (*at)++;
    }
    double promise = 0;
    for (int k = *at; k < w->next->ncontact && compare_pairs(&list[k], c) == 0; k++) {
        promise = fmin(promise, w->promised[k]);
    }
    return promise;
}

static bool is_unsolved(const world_contacts *w, int body) {
    int tree = w->model->body[body].tree;
    return tree >= 0 && w->unsolved[tree];
}

/* The least change of every gap, m; how many must change? */
static int find_least_changes(world_contacts *w, const sim_contact *contact, int count) {
    int parts = 0, at = 0;
    for (int k = 0; k < count; k++) {
        const sim_contact *c = &contact[k];
        double r = fmin(collision_radius(w->collision, c->shape_a), collision_radius(w->collision, c->shape_b));
        bool promised = !is_unsolved(w, c->body_a) && !is_unsolved(w, c->body_b);
        double least = promised ? find_promise(w, c, &at) - c->at.gap : -INFINITY;
        w->least[k] = least;
        w->deep[k] = least > MAX_RELATIVE_OVERLAP * r;
        parts += w->deep[k];
    }
    return parts;
}

static sim_status make_room_for_changes(world_contacts *w, int count) {
    if (count <= w->least_room) {
        return SIM_OK;
    }
    int room = count + count / 2;
    double *least = realloc(w->least, (size_t)room * sizeof *least);
    w->least = least ? least : w->least;
    char *deep = realloc(w->deep, (size_t)room * sizeof *deep);
    w->deep = deep ? deep : w->deep;
    w->least_room = least && deep ? room : w->least_room;
    return least && deep ? SIM_OK : SIM_NO_RESOURCE;
}

/* The contact problem at the end of the step, for its geometry alone. */
static contact_input input_at_end(const world_contacts *w, const sim_contact *contact, int count) {
    return (contact_input){.start = w->end,
                           .middle = w->end,
                           .mass = w->motion->derived,
                           .extra = w->motion->extra,
                           .body_extra = w->motion->body_extra,
                           .q_start = w->next->q,
                           .v_start = w->next->v,
                           .v_free = w->next->v,
                           .index = w->now->step,
                           .step = w->options->step,
                           .position = theta_position(w->options->integrator),
                           .travel = 1,
                           .contact = contact,
                           .ncontact = count,
                           .asleep = w->sleep ? w->sleep->asleep : NULL,
                           .equality = w->equality,
                           .joint_before = w->next->joint_impulse,
                           .equality_before = w->next->equality_impulse,
                           .tendon_before = w->next->tendon_impulse};
}

/* The way of a body by the shift, m; after sim_velocities of the shift. */
static double way_of_shift(const world_contacts *w, int body) {
    const sim_motion *c = &w->end->vel[body];
    return w->options->step * (v3_norm(c->lin) + w->body_reach[body] * v3_norm(c->ang));
}

/* Velocities of the shift, and the farthest way of a body by it, m. */
static double measure_shift(world_contacts *w) {
    const sim_model *m = w->model;
    double farthest = 0;
    for (int tree = 0; tree < m->ntree; tree++) {
        if (w->parted[tree]) {
            sim_velocities(w->end, sim_tree_range(m, tree), w->shift);
            for (int b = m->tree[tree].body0; b < m->tree[tree].body0 + m->tree[tree].nbody; b++) {
                farthest = fmax(farthest, way_of_shift(w, b));
            }
        }
    }
    return farthest;
}

static double kinetic_energy_at_end(world_contacts *w, sim_range bodies) {
    sim_velocities(w->end, bodies, w->next->v);
    return sim_kinetic_energy(w->end, bodies, w->next->v);
}

/* Moves positions and poses of a tree by h times the shift.  A tree that turns has more kinetic energy with the same
 * joint velocities where the shift spreads it: they are scaled to the energy before, and the step is reported. */
static void move_tree_by_shift(world_contacts *w, int tree, double h) {
    const double MAX_GAIN = 0.1; /* of the kinetic energy */
    const sim_tree *t = &w->model->tree[tree];
    sim_range bodies = sim_tree_range(w->model, tree);
    double *q = w->next->q, *v = w->next->v;
    /* energies before */
    w->info->undone -= sim_potential_energy(w->end, bodies, q);
    double before = kinetic_energy_at_end(w, bodies);
    /* the shift */
    advance_by(w->model, bodies, ROTATION_EXP, q, w->shift, h, q);
    sim_kinematics(w->end, bodies, q);
    /* energies after */
    w->info->undone += sim_potential_energy(w->end, bodies, q);
    double after = kinetic_energy_at_end(w, bodies);
    if (t->nbody > 1 && after > (1 + MAX_GAIN) * before) {
        double s = sqrt(before / after);
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            v[j] *= s;
        }
        w->motion->parts[tree].curbed = true;
        if (after - before > w->info->curbed) {
            w->info->curbed = after - before;
            w->info->curbed_body = t->body0;
        }
    }
}

/* Moves positions and poses by that part of the shift; the number of bodies to be collided again. */
static int move_parted(world_contacts *w, double part) {
    const sim_model *m = w->model;
    double h = part * w->options->step;
    int count = 0;
    memset(w->on_course, 1, (size_t)m->nbody);
    for (int tree = 0; tree < m->ntree; tree++) {
        for (int b = m->tree[tree].body0; w->parted[tree] && b < m->tree[tree].body0 + m->tree[tree].nbody; b++) {
            bool far = part * way_of_shift(w, b) > MAX_RELATIVE_SHIFT * w->body_size[b];
            w->on_course[b] = !far;
            count += far;
        }
        if (w->parted[tree]) {
            move_tree_by_shift(w, tree, h);
        }
    }
    return count;
}

sim_status separate_bodies(world_contacts *w, sim_error *error) {
    sim_status status = SIM_OK;
    double farthest = w->collides ? find_off_course(w) : 0;
    bool off = farthest > 0;
    for (int pass = 0; off && pass < MAX_PASSES && !status; pass++) {
        /* contacts at the end of the step */
        collision_input shapes = {.pose = w->end->pose,
                                  .one_point = true,
                                  .before = w->next->contact,
                                  .nbefore = w->next->ncontact,
                                  .still = w->on_course};
        int count = 0;
        status = collision_update(w->collision, &shapes, w->threads, error);
        const sim_contact *contact = collision_contacts(w->collision, &count);
        if (!status && make_room_for_changes(w, count)) {
            status = sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", count);
        }
        /* the shift, and positions moved by it */
        off = false;
        if (!status && find_least_changes(w, contact, count) > 0) {
            contact_input in = input_at_end(w, contact, count);
            status = contact_stage_separate(w->stage, &in, w->least, w->deep, w->threads, w->shift, w->parted, error);
            double way = status ? 0 : measure_shift(w);
            off = way > 0 && move_parted(w, fmin(1, farthest / way)) > 0;
        }
    }
    return status;
}
