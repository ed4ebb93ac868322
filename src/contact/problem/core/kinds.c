/* Kinds of constraints of a model, against those that its solver supports.  A solver that lacks one is refused before
 * the first step, not at the step that meets it. */
#include "contact/problem/core/assembly.h"
#include "model/parts/spring.h"

#include <math.h>

/* Forces that do not follow the length do not depend on contacts. */
static bool follows_length(const sim_actuator *a) {
    return a->kp > 0 || a->kd > 0 || a->muscle.force > 0 || a->gain[1] != 0 || a->gain[2] != 0 || a->bias[1] != 0 ||
           a->bias[2] != 0;
}

bool contact_actuator_is_limited(const sim_model *m, int actuator) {
    const sim_actuator *a = &m->actuator[actuator];
    bool joint = a->transmission == SIM_BY_JOINT;
    return follows_length(a) && (isfinite(a->force_range[0]) || !joint || isfinite(m->dof[a->dof].effort_range[0]));
}

bool contact_stage_needed(const sim_model *m) {
    bool needed = m->nequality > 0;
    for (int k = 0; k < m->ntendon; k++) {
        needed |= sim_tendon_acts(&m->tendon[k]);
    }
    for (int k = 0; k < m->nactuator; k++) {
        needed |= m->actuator[k].transmission != SIM_BY_JOINT && follows_length(&m->actuator[k]);
    }
    for (int j = 0; j < m->nv; j++) {
        needed |= dof_has_rows(&m->dof[j]);
    }
    for (int k = 0; k < m->nsoft; k++) {
        needed |= m->soft[k].rows;
    }
    return needed;
}

static const char *dof_body_name(const sim_model *m, int dof) { return m->body[m->dof[dof].body].name; }

static const char *actuator_body_name(const sim_model *m, const sim_actuator *a) {
    return m->body[a->dof >= 0 ? m->dof[a->dof].body : m->tree[a->tree].body0].name;
}

static sim_status refuse_kind(const sim_solver_info *info, sim_constraint_kind kind, const char *whose,
                              const char *body, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT,
                    "the solver %s takes no constraints of kind %s, which the %s of body \"%s\" is", info->name,
                    sim_constraint_name(kind), whose, body);
}

static sim_status refuse_tendon(const sim_solver_info *info, sim_constraint_kind kind, const char *what,
                                const char *tendon, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT,
                    "the solver %s takes no constraints of kind %s, which the %s of tendon \"%s\" is", info->name,
                    sim_constraint_name(kind), what, tendon);
}

static bool lacks_kind(const sim_solver_info *info, sim_constraint_kind kind) { return !(info->kinds >> kind & 1); }

static sim_status check_tendon(const sim_tendon *t, const sim_solver_info *info, sim_error *error) {
    if ((t->limit.low > -INFINITY || t->limit.high < INFINITY) && lacks_kind(info, SIM_LIMIT)) {
        return refuse_tendon(info, SIM_LIMIT, "range", t->name, error);
    }
    if (t->friction > 0 && lacks_kind(info, SIM_FRICTION)) {
        return refuse_tendon(info, SIM_FRICTION, "dry friction", t->name, error);
    }
    bool spring = t->armature > 0 || tendon_has_spring(t) || tendon_has_damper(t);
    return spring && lacks_kind(info, SIM_SPRING) ? refuse_tendon(info, SIM_SPRING, "spring", t->name, error) : SIM_OK;
}

/* A material, or a pair of them, that resists turning. */
static sim_status check_turning(const sim_model *m, const sim_solver_info *info, sim_error *error) {
    for (int k = 0; k < m->nmaterial && !info->turning; k++) {
        if (m->material[k].torsion > 0 || m->material[k].rolling > 0) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "the solver %s takes no contacts with rolling or torsion, which the material \"%s\" has",
                            info->name, m->material[k].name);
        }
    }
    for (int k = 0; k < m->nmaterial_pair && !info->turning; k++) {
        const sim_material_pair *p = &m->material_pair[k];
        if (p->torsion > 0 || p->rolling > 0) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "the solver %s takes no contacts with rolling or torsion, which the materials \"%s\" and "
                            "\"%s\" have together",
                            info->name, m->material[p->first].name, m->material[p->second].name);
        }
    }
    return SIM_OK;
}

sim_status contact_kinds_check(const sim_model *m, const sim_solver_info *info, sim_error *error) {
    /* surfaces */
    sim_status status = check_turning(m, info, error);
    if (status) {
        return status;
    }
    /* joints */
    for (int j = 0; j < m->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        if ((dof->limit.low > -INFINITY || dof->limit.high < INFINITY) && lacks_kind(info, SIM_LIMIT)) {
            return refuse_kind(info, SIM_LIMIT, "range of the joint", dof_body_name(m, j), error);
        }
        if (dof->velocity_limit < INFINITY && lacks_kind(info, SIM_LIMIT)) {
            return refuse_kind(info, SIM_LIMIT, "velocity limit of the joint", dof_body_name(m, j), error);
        }
        if (dof->friction > 0 && lacks_kind(info, SIM_FRICTION)) {
            return refuse_kind(info, SIM_FRICTION, "dry friction of the joint", dof_body_name(m, j), error);
        }
    }
    /* loop constraints and springs */
    for (int k = 0; k < m->nequality; k++) {
        sim_constraint_kind kind = m->equality[k].type == SIM_SPRING_DAMPER ? SIM_SPRING : SIM_EQUALITY;
        if (lacks_kind(info, kind)) {
            return refuse_kind(info, kind, "constraint", m->body[m->equality[k].body[0]].name, error);
        }
    }
    /* elasticity that is rows */
    for (int k = 0; k < m->nsoft; k++) {
        if (m->soft[k].rows && lacks_kind(info, SIM_SPRING)) {
            return refuse_kind(info, SIM_SPRING, "elasticity", m->soft[k].name, error);
        }
    }
    /* tendons */
    for (int k = 0; k < m->ntendon; k++) {
        status = check_tendon(&m->tendon[k], info, error);
        if (status) {
            return status;
        }
    }
    /* actuators with limits */
    for (int k = 0; k < m->nactuator; k++) {
        if (contact_actuator_is_limited(m, k) && lacks_kind(info, SIM_ACTUATOR)) {
            return refuse_kind(info, SIM_ACTUATOR, "actuator", actuator_body_name(m, &m->actuator[k]), error);
        }
    }
    return SIM_OK;
}
