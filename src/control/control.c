/* Evaluation of controllers at the start of a step: phases first, then the others in the order of the model.
 *
 *     joint impedance   l* and its rate at the end of the step: the actuators' own law follows
 *     gripper           f* in the middle of the step
 *     task impedance    task_impedance.c
 *
 * The memory of a controller with targets holds the number of its target (0: its own track; -1: not evaluated yet).  It
 * also holds the time at which that was given, and the pose or values then.  All of it is part of the state. */
#include "control/control.h"
#include "math/spatial.h"

#include <math.h>
#include <string.h>

sim_status control_create(const sim_model *m, memory_pool *pool, control_work **out) {
    if (!m->ncontroller) {
        return SIM_OK;
    }
    control_work *w = *out = POOL_NEW(pool, control_work, 1);
    if (!w) {
        return SIM_NO_RESOURCE;
    }
    /* room for every switch of a phase of each controller */
    int changes = 0;
    for (int k = 0; k < m->ncontroller; k++) {
        int most = 0;
        for (int p = 0; p < m->controller[k].nphase; p++) {
            most = m->controller[k].phase[p].nswitch > most ? m->controller[k].phase[p].nswitch : most;
        }
        changes += most;
    }
    *w = (control_work){.model = m};
    w->d = sim_derived_create(m, NULL);
    w->middle = sim_derived_create(m, NULL);
    w->q_middle = POOL_NEW(pool, double, m->nq);
    w->v_middle = POOL_NEW(pool, double, m->nv);
    w->command = POOL_NEW(pool, drive_command, m->nactuator);
    w->next = POOL_NEW(pool, double, m->ncontrol);
    w->change = POOL_NEW(pool, sim_phase_switch, changes);
    int room = m->nv > m->nactuator ? m->nv : m->nactuator;
    w->tau = POOL_NEW(pool, double, room);
    w->a = POOL_NEW(pool, double, room);
    w->x = POOL_NEW(pool, double, room);
    w->first = POOL_NEW(pool, double, m->nactuator);
    w->J = POOL_NEW(pool, double, 6 * (size_t)m->nv);
    w->Y = POOL_NEW(pool, double, 6 * (size_t)m->nv);
    w->acc = POOL_NEW(pool, sim_motion, m->nbody);
    bool ok = w->d && w->middle && w->q_middle && w->v_middle && w->command && w->next && w->change && w->tau && w->a &&
              w->x && w->first && w->J && w->Y && w->acc;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

void control_free(control_work *w) {
    if (w) {
        sim_derived_free(w->d);
        sim_derived_free(w->middle);
    }
}

size_t control_bytes(const control_work *w) { return w ? w->d->bytes + w->middle->bytes : 0; }

void control_start(const sim_model *m, double *control) {
    memset(control, 0, (size_t)m->ncontrol * sizeof *control);
    for (int k = 0; k < m->ncontroller; k++) {
        control[m->controller[k].first] = -1;
    }
}

sim_status control_check(const sim_model *m, const double *control, sim_error *error) {
    for (int k = 0; k < m->ncontroller; k++) {
        const sim_controller *c = &m->controller[k];
        double x = control[c->first];
        bool phase = x >= -1 && x < c->nphase && x == floor(x);
        if (c->type == SIM_PHASES ? !phase : !lead_knows(m, k, x)) {
            return sim_fail(error, SIM_BAD_INPUT, "controller \"%s\" has no phase or target %g, as the state says",
                            c->name, x);
        }
    }
    return SIM_OK;
}

/* Where a controller without a track stands at the first step, it stays. */
static void begin_lead(control_work *w, const control_input *in, const sim_controller *c) {
    double *memory = w->next + c->first;
    memory[0] = 0;
    memory[1] = in->time;
    if (c->type == SIM_TASK_IMPEDANCE) {
        const sim_site *s = &w->model->site[c->site];
        pose X = pose_product(w->d->pose[s->body], s->pose);
        quat turn = quat_normalised(quat_from_matrix(X.R));
        const double at[7] = {X.p.x, X.p.y, X.p.z, turn.w, turn.x, turn.y, turn.z};
        memcpy(memory + 2, at, sizeof at);
        return;
    }
    for (int k = 0; k < c->nactuator; k++) {
        const sim_actuator *a = &w->model->actuator[c->actuator[k]];
        double length = a->gear * in->q[w->model->dof[a->dof].coordinate];
        memory[2 + k] = c->type == SIM_JOINT_IMPEDANCE ? length : 0;
    }
}

static void command_joints(control_work *w, const control_input *in, const sim_controller *c) {
    bool joints = c->type == SIM_JOINT_IMPEDANCE;
    lead_values(w, in, c, in->time + (joints ? 1 : 0.5) * in->step, w->x, w->a);
    for (int k = 0; k < c->nactuator; k++) {
        drive_command *to = &w->command[c->actuator[k]];
        *to = (drive_command){.controlled = true, .aimed = true};
        if (joints) {
            to->target = w->x[k];
            to->rate = w->a[k];
        } else {
            to->force = w->x[k];
        }
    }
}

void control_evaluate(control_work *w, const control_input *in) {
    /* kinematics and memory at the start */
    const sim_model *m = w->model;
    memcpy(w->next, in->control, (size_t)m->ncontrol * sizeof *w->next);
    sim_kinematics(w->d, sim_all(m), in->q);
    sim_velocities(w->d, sim_all(m), in->v);
    w->nchange = 0;
    /* controllers that are led for the first time stay where they are */
    for (int k = 0; k < m->ncontroller; k++) {
        const sim_controller *c = &m->controller[k];
        if (c->type != SIM_PHASES && w->next[c->first] < 0) {
            begin_lead(w, in, c);
        }
    }
    /* phases */
    for (int k = 0; k < m->ncontroller; k++) {
        if (m->controller[k].type == SIM_PHASES) {
            phases_evaluate(w, in, &m->controller[k]);
        }
    }
    /* commands */
    for (int k = 0; k < m->ncontroller; k++) {
        const sim_controller *c = &m->controller[k];
        if (c->type == SIM_TASK_IMPEDANCE) {
            task_impedance_evaluate(w, in, c);
        } else if (c->type != SIM_PHASES) {
            command_joints(w, in, c);
        }
    }
}
