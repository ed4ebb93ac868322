/* Actuators of a model that is being built. */
#include "model/builder/core/builder.h"
#include "model/parts/delay.h"
#include "model/parts/joint.h"

#include <math.h>

sim_actuator sim_actuator_default(void) {
    const sim_track none = {.interpolation = SIM_HOLD, .width = 1};
    return (sim_actuator){.site = {-1, -1},
                          .gear = 1,
                          .effort = INFINITY,
                          .force_range = {-INFINITY, INFINITY},
                          .target = none,
                          .feedforward = none,
                          .ctrl = none,
                          .ctrl_range = {-INFINITY, INFINITY},
                          .gain = {1, 0, 0},
                          .activation = {.range = {-INFINITY, INFINITY}},
                          .muscle = sim_muscle_default()};
}

sim_muscle sim_muscle_default(void) {
    return (sim_muscle){.range = {0.75, 1.05}, .lmin = 0.5, .lmax = 1.6, .vmax = 1.5, .fpmax = 1.3, .fvmax = 1.2};
}

static bool all_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return false;
        }
    }
    return true;
}

/* Low below high, both finite or both infinite. */
static bool is_force_range(const double *range) {
    return range[0] < range[1] && isfinite(range[0]) == isfinite(range[1]);
}

static sim_status check_numbers(sim_builder *b, const sim_actuator *a, const char *name) {
    if (!(a->kp >= 0) || !(a->kd >= 0) || !(a->effort > 0) || !isfinite(a->kp) || !isfinite(a->kd)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": kp, kd must be finite and >= 0, effort > 0", name);
    }
    if (a->gear == 0 || !isfinite(a->gear) || !all_finite(a->gain, 3) || !all_finite(a->bias, 3)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": gear, gain and bias must be finite, gear not 0",
                              name);
    }
    if (!is_force_range(a->force_range) || !(a->ctrl_range[0] <= a->ctrl_range[1])) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "actuator on \"%s\": low must be below high in its ranges of forces and control inputs",
                              name);
    }
    if (!builder_proper_delay(a->delay, a->delay_steps)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": a delay >= 0 with room for 1 to %d steps", name,
                              MOST_DELAY_STEPS);
    }
    return SIM_OK;
}

bool builder_proper_delay(double delay, int steps) {
    return delay == 0 ? steps == 0 : delay > 0 && isfinite(delay) && steps > 0 && steps <= MOST_DELAY_STEPS;
}

static sim_status check_activation(sim_builder *b, const sim_activation *w, const char *name) {
    int times = w->type == SIM_FILTERED ? 1 : w->type == SIM_MUSCULAR ? 2 : 0;
    for (int k = 0; k < times; k++) {
        if (!(w->time_constant[k] > 0) || !isfinite(w->time_constant[k])) {
            return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": a time constant must be > 0", name);
        }
    }
    bool unit = w->type != SIM_MUSCULAR || (w->initial >= 0 && w->initial <= 1);
    if (w->type && (!(w->range[0] <= w->initial) || !(w->initial <= w->range[1]) || !isfinite(w->initial) || !unit)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator on \"%s\": its first activation is out of range", name);
    }
    return SIM_OK;
}

static sim_status check_muscle(sim_builder *b, const sim_muscle *m, const char *name) {
    bool good = m->range[0] < m->range[1] && m->length_range[0] < m->length_range[1] && m->lmin < 1 && m->lmax > 1 &&
                m->vmax > 0 && m->fpmax >= 0 && m->fvmax > 1;
    double sum = m->force + m->range[0] + m->range[1] + m->length_range[0] + m->length_range[1] + m->lmin + m->lmax +
                 m->vmax + m->fpmax + m->fvmax;
    if (m->force != 0 && !(good && m->force > 0 && isfinite(sum))) {
        return builder_refuse(
            b, SIM_BAD_INPUT,
            "actuator on \"%s\": a muscle needs rising ranges, lmin < 1 < lmax, vmax > 0, fpmax >= 0, "
            "fvmax > 1 and a force > 0",
            name);
    }
    return SIM_OK;
}

/* The child of the world below which it moves, 0: nothing moves it. */
static int moving_root(const sim_builder *b, int body) {
    int root = 0;
    bool moves = false;
    for (int i = body; i > 0; i = b->body[i].parent) {
        moves |= sim_joint_nv(b->body[i].joint) > 0;
        root = i;
    }
    return moves ? root : 0;
}

/* Sites that are there; the tree with which they move, their trees tied; or -1. */
static int check_sites(sim_builder *b, const sim_actuator *a) {
    int root = 0, least = a->transmission == SIM_BY_SITE ? 1 : 2;
    for (int k = 0; k < 2; k++) {
        if (a->site[k] >= b->nsite || (a->site[k] < 0 && k < least)) {
            builder_refuse(b, SIM_BAD_INPUT, "an actuator names a site that was not added");
            return -1;
        }
        int other = a->site[k] >= 0 ? moving_root(b, b->site[a->site[k]].body) : 0;
        if (root && other && builder_tie_trees(b, root, other)) {
            return -1;
        }
        root = other ? other : root;
    }
    if (!root) {
        builder_refuse(b, SIM_BAD_INPUT, "the site \"%s\" of an actuator does not move", b->site[a->site[0]].name);
        return -1;
    }
    double sum = a->rod;
    for (int k = 0; k < 6; k++) {
        sum += a->wrench[k];
    }
    if (!isfinite(sum) || (a->transmission == SIM_BY_SLIDER_CRANK && !(a->rod > 0))) {
        builder_refuse(b, SIM_BAD_INPUT, "the actuator at site \"%s\" needs a finite gear and a rod of length > 0",
                       b->site[a->site[0]].name);
        return -1;
    }
    return root;
}

/* A tendon; the tree that moves it, its trees tied; or -1. */
static int check_tendon_drive(sim_builder *b, const sim_actuator *a) {
    if (a->tendon < 0 || a->tendon >= b->ntendon) {
        builder_refuse(b, SIM_BAD_INPUT, "an actuator names a tendon that was not added");
        return -1;
    }
    const sim_tendon *t = &b->tendon[a->tendon];
    if (t->tree[0] <= 0) {
        builder_refuse(b, SIM_BAD_INPUT, "the tendon \"%s\" of an actuator moves with nothing", t->name);
        return -1;
    }
    if (t->tree[1] >= 0 && builder_tie_trees(b, t->tree[0], t->tree[1])) {
        return -1;
    }
    return t->tree[0];
}

/* A dof with a coordinate of its own. */
static int check_joint_drive(sim_builder *b, int body, int dof) {
    if (builder_check_dof(b, body, dof, "an actuator")) {
        return -1;
    }
    if (joint_coordinate_of(b->body[body].joint, dof) < 0) {
        builder_refuse(b, SIM_BAD_INPUT, "an actuator cannot act on an orientation (joint of body \"%s\")",
                       b->body[body].name);
        return -1;
    }
    return body;
}

/* Efforts that the joint or tendon can take: of one actuator some, of several together none. */
static sim_status check_effort(sim_builder *b, const sim_actuator *a, const joint_target *on) {
    bool tendon = a->transmission == SIM_BY_TENDON;
    const double *effort = tendon ? b->tendon[a->tendon].effort_range : b->body[on->body].effort_range[on->dof];
    double range[2] = {a->force_range[0], a->force_range[1]};
    if (isfinite(effort[0]) && !builder_bound_force(effort, a->gear, range)) {
        return builder_refuse(b, SIM_BAD_INPUT, "actuator \"%s\": no force is within both its range and that of its %s",
                              a->name, tendon ? "tendon" : "joint");
    }
    for (int k = 0; k < b->nactuator && !(effort[0] <= 0 && effort[1] >= 0); k++) {
        bool same = tendon ? b->actuator[k].transmission == SIM_BY_TENDON && b->actuator[k].tendon == a->tendon
                           : b->actuator_target[k].body == on->body && b->actuator_target[k].dof == on->dof;
        if (same) {
            return builder_refuse(
                b, SIM_BAD_INPUT, "the %s \"%s\" has several actuators, and 0 is not in its range of efforts",
                tendon ? "tendon" : "joint of body", tendon ? b->tendon[a->tendon].name : b->body[on->body].name);
        }
    }
    return SIM_OK;
}

/* A joint without coordinates of its own. */
static int check_orientation_drive(sim_builder *b, int body, const sim_actuator *a) {
    double sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += a->wrench[k];
    }
    bool known = body > 0 && body < b->nbody;
    if (!known || (b->body[body].joint != SIM_BALL && b->body[body].joint != SIM_FREE) || !isfinite(sum)) {
        builder_refuse(b, SIM_BAD_INPUT, "an actuator of an orientation needs a ball or free joint, and a finite gear");
        return -1;
    }
    return body;
}

/* A body that moves; a force that its contacts can take. */
static int check_contact_drive(sim_builder *b, int body, const sim_actuator *a) {
    if (body <= 0 || body >= b->nbody || !moving_root(b, body)) {
        builder_refuse(b, SIM_BAD_INPUT, "the body \"%s\" of an actuator of contacts does not move",
                       body > 0 && body < b->nbody ? b->body[body].name : "world");
        return -1;
    }
    double of_length = fabs(a->kp) + fabs(a->kd) + fabs(a->gain[1]) + fabs(a->gain[2]) + fabs(a->bias[1]) +
                       fabs(a->bias[2]) + a->muscle.force;
    if (!(of_length == 0)) {
        builder_refuse(
            b, SIM_BAD_INPUT,
            "the actuator of the contacts of body \"%s\" has no length: no kp, kd, muscle, nor gains by length",
            b->body[body].name);
        return -1;
    }
    return body;
}

int sim_builder_add_actuator(sim_builder *b, int body, const sim_actuator *given) {
    /* what it moves */
    if (!b || b->error.status) {
        return -1;
    }
    bool joint = given->transmission == SIM_BY_JOINT;
    bool tendon = given->transmission == SIM_BY_TENDON, turn = given->transmission == SIM_BY_ORIENTATION;
    bool contacts = given->transmission == SIM_BY_CONTACTS;
    body = joint      ? check_joint_drive(b, body, given->dof)
           : tendon   ? check_tendon_drive(b, given)
           : turn     ? check_orientation_drive(b, body, given)
           : contacts ? check_contact_drive(b, body, given)
                      : check_sites(b, given);
    if (body < 0) {
        return -1;
    }
    /* gains, ranges and activation */
    const char *name = joint || turn || contacts ? b->body[body].name
                       : tendon                  ? b->tendon[given->tendon].name
                                                 : b->site[given->site[0]].name;
    if (check_numbers(b, given, name) || check_activation(b, &given->activation, name) ||
        check_muscle(b, &given->muscle, name)) {
        return -1;
    }
    if (!joint && given->gravity_compensation) {
        builder_refuse(b, SIM_BAD_INPUT, "the actuator at \"%s\" cannot compensate gravity", name);
        return -1;
    }
    /* copies with tracks of their own */
    sim_actuator actuator = *given;
    int targets_room = b->actuator_room;
    if (builder_copy_track(b, &actuator.target, 1, "an actuator's target") ||
        builder_copy_track(b, &actuator.feedforward, 1, "an actuator's feed-forward") ||
        builder_copy_track(b, &actuator.ctrl, 1, "an actuator's control input") ||
        builder_grow(b, (void **)&b->actuator_target, b->nactuator, &targets_room, sizeof *b->actuator_target) ||
        builder_grow(b, (void **)&b->actuator, b->nactuator, &b->actuator_room, sizeof *b->actuator)) {
        return -1;
    }
    actuator.name = pool_text(b->pool, given->name ? given->name : name);
    actuator.force_range[0] = fmax(actuator.force_range[0], -actuator.effort);
    actuator.force_range[1] = fmin(actuator.force_range[1], actuator.effort);
    if (!(actuator.force_range[0] < actuator.force_range[1])) {
        builder_refuse(b, SIM_BAD_INPUT, "actuator \"%s\": no force is within both its effort and its range",
                       actuator.name ? actuator.name : name);
        return -1;
    }
    joint_target on = {body, joint ? given->dof : -1};
    if ((joint || tendon) && check_effort(b, &actuator, &on)) {
        return -1;
    }
    actuator.history = b->nhistory;
    b->nhistory += actuator.delay_steps;
    b->actuator[b->nactuator] = actuator;
    b->actuator_target[b->nactuator] = on;
    return b->nactuator++;
}
