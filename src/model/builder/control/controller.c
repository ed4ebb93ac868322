/* Controllers and events: checks and copies into a model that no world uses yet.
 *
 * A controller takes its actuators over: their gains, their compensation of gravity and their targets become its own. */
#include "base/pool.h"
#include "model/track/spline.h"
#include <sim/model.h>

#include <math.h>
#include <string.h>

/* Numbers of `sim_state.control` besides those for each actuator. */
enum { LEAD_NUMBERS = 2, TASK_NUMBERS = LEAD_NUMBERS + 7 + 6 };

const char *sim_controller_name(sim_controller_type type) {
    static const char *const name[SIM_CONTROLLER_TYPES] = {"joint_impedance", "task_impedance", "gripper", "phases"};
    return name[type];
}

/* ---- checks ---- */

static sim_status refuse_controller(const sim_controller *c, const char *why, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "controller \"%s\": %s", c->name ? c->name : "", why);
}

/* Joints' actuators that no other controller leads. */
static sim_status check_actuators(const sim_model *m, const sim_controller *c, sim_error *error) {
    for (int k = 0; k < c->nactuator; k++) {
        int a = c->actuator[k];
        if (a < 0 || a >= m->nactuator || m->actuator[a].transmission != SIM_BY_JOINT) {
            return refuse_controller(c, "it leads actuators of joints alone", error);
        }
        for (int i = 0; i < m->ncontroller; i++) {
            for (int j = 0; j < m->controller[i].nactuator; j++) {
                if (m->controller[i].actuator[j] == a) {
                    return sim_fail(error, SIM_BAD_INPUT, "controllers \"%s\" and \"%s\" both lead the actuator \"%s\"",
                                    m->controller[i].name, c->name, m->actuator[a].name);
                }
            }
        }
        bool gains = c->type != SIM_JOINT_IMPEDANCE || (c->stiffness[k] >= 0 && isfinite(c->stiffness[k]));
        bool damps = c->type == SIM_TASK_IMPEDANCE || (c->damping[k] >= 0 && isfinite(c->damping[k]));
        if (!gains || !damps) {
            return refuse_controller(c, "its stiffness and damping must be finite and not negative", error);
        }
    }
    return c->nactuator || c->type == SIM_PHASES ? SIM_OK : refuse_controller(c, "it leads no actuator", error);
}

/* Its own track, or that of a phase, with so many poses. */
static sim_status check_track(const sim_controller *c, const sim_track *t, int npose, sim_error *error) {
    int width = c->type == SIM_TASK_IMPEDANCE ? 1 : c->nactuator;
    if (t->terms || (t->keys && t->width != width)) {
        return refuse_controller(c, "its target needs keys with a value for each actuator", error);
    }
    for (int k = 0; k < t->keys; k++) {
        if (!isfinite(t->times[k]) || (k && !(t->times[k] > t->times[k - 1]))) {
            return refuse_controller(c, "the times of its target must increase", error);
        }
        for (int i = 0; i < width; i++) {
            double x = t->values[k * width + i];
            bool place = c->type != SIM_TASK_IMPEDANCE || (x >= 0 && x <= npose - 1);
            if (!isfinite(x) || !place) {
                return refuse_controller(c, "a value of its target is not finite, or no place among its poses", error);
            }
        }
    }
    return SIM_OK;
}

static sim_status check_task(const sim_model *m, const sim_controller *c, sim_error *error) {
    if (c->site < 0 || c->site >= m->nsite || m->body[m->site[c->site].body].tree < 0) {
        return refuse_controller(c, "it needs a site on a body that moves", error);
    }
    for (int k = 0; k < 6; k++) {
        if (!(c->task_stiffness[k] >= 0) || !isfinite(c->task_stiffness[k])) {
            return refuse_controller(c, "its stiffness must be finite and not negative", error);
        }
    }
    bool good =
        c->damping_ratio >= 0 && isfinite(c->damping_ratio) && c->posture_rate >= 0 && isfinite(c->posture_rate);
    int tree = m->body[m->site[c->site].body].tree;
    for (int k = 0; k < c->nactuator; k++) {
        good &= m->actuator[c->actuator[k]].tree == tree;
    }
    return good ? SIM_OK
                : refuse_controller(c, "it needs a damping ratio and a posture rate >= 0, and actuators of one tree",
                                    error);
}

static sim_status check_phase(const sim_model *m, const sim_controller *c, const sim_phase *p, sim_error *error) {
    /* targets */
    for (int k = 0; k < p->ntarget; k++) {
        const sim_target *t = &p->target[k];
        bool there = t->controller >= 0 && t->controller < m->ncontroller;
        if (!there || m->controller[t->controller].type == SIM_PHASES || !(t->duration >= 0) ||
            !isfinite(t->duration)) {
            return refuse_controller(c, "a phase leads a controller that the model lacks, or in a time below 0", error);
        }
        const sim_controller *controller = &m->controller[t->controller];
        for (int i = 0; i < controller->nactuator && t->value; i++) {
            if (!isfinite(t->value[i])) {
                return refuse_controller(c, "a target of a phase is not finite", error);
            }
        }
        if (check_track(controller, &t->track, t->npose, error)) {
            return error->status;
        }
    }
    /* switches */
    for (int k = 0; k < p->nswitch; k++) {
        if (p->change[k].equality < 0 || p->change[k].equality >= m->nequality) {
            return refuse_controller(c, "a phase switches a constraint that the model lacks", error);
        }
    }
    /* transitions */
    for (int k = 0; k < p->ntransition; k++) {
        const sim_transition *t = &p->transition[k];
        if (t->to < 0 || t->to >= c->nphase) {
            return refuse_controller(c, "a phase leads to one that is not there", error);
        }
        for (int i = 0; i < t->ncondition; i++) {
            const sim_condition *q = &t->condition[i];
            int count = q->quantity == SIM_READING         ? m->nsensor_value
                        : q->quantity == SIM_SITE_DISTANCE ? m->nsite
                                                           : m->nbody;
            bool plain = q->quantity <= SIM_TIME_PASSED, two = q->quantity == SIM_SITE_DISTANCE;
            if (!plain && (q->first < 0 || q->first >= count || q->second >= count || (two && q->second < 0))) {
                return refuse_controller(c, "a condition is of a sensor, site or body that the model lacks", error);
            }
            if (!(q->low <= q->high)) {
                return refuse_controller(c, "a condition has its lower bound above its upper one", error);
            }
        }
    }
    return SIM_OK;
}

static sim_status check_controller(const sim_model *m, const sim_controller *c, sim_error *error) {
    if (!c->name || (unsigned)c->type >= SIM_CONTROLLER_TYPES || sim_model_find_controller(m, c->name) >= 0) {
        return refuse_controller(c, "a controller needs a type, and a name of its own", error);
    }
    sim_status status = check_actuators(m, c, error);
    status = status || c->type == SIM_PHASES ? status : check_track(c, &c->target, c->npose, error);
    status = status || c->type != SIM_TASK_IMPEDANCE ? status : check_task(m, c, error);
    if (!status && c->type == SIM_PHASES && !c->nphase) {
        return refuse_controller(c, "it has no phase", error);
    }
    for (int k = 0; k < c->nphase && !status; k++) {
        status = check_phase(m, c, &c->phase[k], error);
    }
    return status;
}

/* ---- copies ---- */

/* NULL for nothing; `failed` without memory. */
static void *copy_items(memory_pool *pool, const void *from, int count, size_t size, bool *failed) {
    if (!from || count == 0) {
        return NULL;
    }
    void *to = pool_alloc(pool, (size_t)count, size);
    *failed |= !to;
    return to ? memcpy(to, from, (size_t)count * size) : NULL;
}

#define COPY(pointer, count) ((pointer) = copy_items(pool, (pointer), (count), sizeof *(pointer), failed))

/* Splines without rates get those that make the acceleration continuous. */
static void copy_track(memory_pool *pool, sim_track *t, bool *failed) {
    int numbers = t->keys * t->width;
    COPY(t->times, t->keys);
    COPY(t->values, numbers);
    COPY(t->rates, numbers);
    if (t->keys && t->interpolation == SIM_SPLINE && !t->rates && !*failed) {
        double *rates = POOL_NEW(pool, double, numbers), *work = POOL_NEW(pool, double, t->keys);
        *failed |= !rates || !work;
        if (!*failed) {
            spline_rates(t, rates, work);
        }
        t->rates = rates;
    }
}

static void copy_phase(const sim_model *m, memory_pool *pool, sim_phase *p, bool *failed) {
    sim_target *target = copy_items(pool, p->target, p->ntarget, sizeof *target, failed);
    sim_transition *transition = copy_items(pool, p->transition, p->ntransition, sizeof *transition, failed);
    for (int k = 0; k < p->ntarget && target; k++) {
        COPY(target[k].value, m->controller[target[k].controller].nactuator);
        copy_track(pool, &target[k].track, failed);
        COPY(target[k].way, target[k].npose);
    }
    for (int k = 0; k < p->ntransition && transition; k++) {
        COPY(transition[k].condition, transition[k].ncondition);
    }
    COPY(p->change, p->nswitch);
    p->name = pool_text(pool, p->name);
    p->target = target;
    p->transition = transition;
}

/* All that it points to, in memory of the model. */
static bool copy_controller(const sim_model *m, memory_pool *pool, sim_controller *c) {
    bool none = false, *failed = &none;
    c->name = pool_text(pool, c->name);
    COPY(c->actuator, c->nactuator);
    COPY(c->stiffness, c->nactuator);
    COPY(c->damping, c->nactuator);
    COPY(c->posture, c->nactuator);
    COPY(c->pose, c->npose);
    copy_track(pool, &c->target, failed);
    sim_phase *phase = copy_items(pool, c->phase, c->nphase, sizeof *phase, failed);
    for (int k = 0; k < c->nphase && phase; k++) {
        copy_phase(m, pool, &phase[k], failed);
    }
    c->phase = phase;
    return !none && c->name;
}

static void take_over(sim_actuator *actuator, const sim_controller *c) {
    for (int k = 0; k < c->nactuator; k++) {
        sim_actuator *a = &actuator[c->actuator[k]];
        a->kp = c->type == SIM_JOINT_IMPEDANCE ? c->stiffness[k] : 0;
        a->kd = c->type == SIM_TASK_IMPEDANCE ? 0 : c->damping[k];
        a->gravity_compensation = c->type == SIM_JOINT_IMPEDANCE && c->gravity_compensation;
        a->target.keys = a->target.terms = 0;
    }
}

static int memory_numbers(const sim_controller *c) {
    return c->type == SIM_TASK_IMPEDANCE ? TASK_NUMBERS : LEAD_NUMBERS + (c->type == SIM_PHASES ? 0 : c->nactuator);
}

sim_status sim_model_add_controller(sim_model *m, const sim_controller *given, sim_error *error) {
    sim_status status = check_controller(m, given, error);
    if (status) {
        return status;
    }
    /* a copy behind the others */
    sim_controller *all = POOL_NEW(m->memory, sim_controller, m->ncontroller + 1);
    if (all && m->ncontroller) {
        memcpy(all, m->controller, (size_t)m->ncontroller * sizeof *all);
    }
    sim_controller *c = all ? &all[m->ncontroller] : NULL;
    if (c) {
        *c = *given;
    }
    if (!c || !copy_controller(m, m->memory, c)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for controller \"%s\"", given->name);
    }
    /* its memory and its actuators */
    c->first = m->ncontrol;
    take_over((sim_actuator *)m->actuator, c);
    m->controller = all;
    m->ncontroller++;
    m->ncontrol += memory_numbers(c);
    m->bytes = pool_bytes(m->memory);
    return SIM_OK;
}

/* ---- events ---- */

sim_status sim_model_add_event(sim_model *m, const sim_event *e, sim_error *error) {
    /* its parts */
    bool reading = e->type == SIM_READING_ABOVE || e->type == SIM_READING_BELOW, energy = e->type == SIM_ENERGY_BELOW;
    int count = reading ? m->nsensor_value : energy ? 2 : m->nbody;
    if (!e->name || sim_model_find_event(m, e->name) >= 0 || (unsigned)e->type >= SIM_EVENT_TYPES || e->first < 0 ||
        e->first >= count || e->second >= m->nbody || !isfinite(e->level)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "event \"%s\" needs a name of its own, a body or sensor of the model, and a finite level",
                        e->name ? e->name : "");
    }
    /* a copy behind the others */
    sim_event *all = POOL_NEW(m->memory, sim_event, m->nevent + 1);
    const char *name = pool_text(m->memory, e->name);
    if (!all || !name) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for event \"%s\"", e->name);
    }
    if (m->nevent) {
        memcpy(all, m->event, (size_t)m->nevent * sizeof *all);
    }
    all[m->nevent] = *e;
    all[m->nevent++].name = name;
    m->event = all;
    m->bytes = pool_bytes(m->memory);
    return SIM_OK;
}
