/* Fingerprint of a model.  A hash over the numbers that enter its motion; names and colours do not. */
#include "record/run/fingerprint.h"
#include "base/hash.h"
#include "contact/stage.h"
#include "model/parts/joint.h"

#include <math.h>
#include <string.h>

/* Only of types without padding. */
#define ADD(hash, value) (*(hash) = hash_bytes(*(hash), &(value), sizeof(value)))

/* There is more than one NAN; all mean: left out. */
static void add_number(uint64_t *hash, double value) {
    value = isnan(value) ? NAN : value;
    ADD(hash, value);
}

/* As four bytes: files of earlier versions keep their fingerprint. */
static void add_flag(uint64_t *hash, bool value) {
    int number = value;
    ADD(hash, number);
}

static void add_track(uint64_t *hash, const sim_track *track) {
    ADD(hash, track->interpolation);
    ADD(hash, track->keys);
    ADD(hash, track->width);
    *hash = hash_bytes(*hash, track->times, (size_t)track->keys * sizeof(double));
    *hash = hash_bytes(*hash, track->values, (size_t)track->keys * (size_t)track->width * sizeof(double));
    if (track->rates) {
        *hash = hash_bytes(*hash, track->rates, (size_t)track->keys * (size_t)track->width * sizeof(double));
    }
    if (track->terms) {
        *hash = hash_bytes(*hash, track->term, (size_t)track->terms * sizeof *track->term);
    }
}

static void add_bodies(uint64_t *hash, const sim_model *model) {
    /* tree: joints and inertias */
    for (int i = 0; i < model->nbody; i++) {
        const sim_body *body = &model->body[i];
        ADD(hash, body->parent);
        ADD(hash, body->joint);
        ADD(hash, body->placement);
        ADD(hash, body->axis);
        ADD(hash, body->axis2);
        ADD(hash, body->pitch);
        ADD(hash, body->inertia);
    }
    /* degrees of freedom */
    for (int i = 0; i < model->nv; i++) {
        const sim_dof *dof = &model->dof[i];
        ADD(hash, dof->armature);
        ADD(hash, dof->damping);
        ADD(hash, dof->stiffness);
        ADD(hash, dof->rest);
        if (dof_has_terms(dof)) {
            ADD(hash, dof->spring);
            ADD(hash, dof->damper);
        }
        ADD(hash, dof->limit);
        ADD(hash, dof->friction);
        ADD(hash, dof->velocity_limit);
        if (isfinite(dof->effort_range[0])) {
            ADD(hash, dof->effort_range);
        }
    }
    /* loop constraints */
    for (int i = 0; i < model->nequality; i++) {
        const sim_equality *equality = &model->equality[i];
        ADD(hash, equality->type);
        ADD(hash, equality->body);
        ADD(hash, equality->frame);
        ADD(hash, equality->dof);
        ADD(hash, equality->distance);
        ADD(hash, equality->offset);
        ADD(hash, equality->ratio);
        ADD(hash, equality->higher);
        ADD(hash, equality->tendon);
        ADD(hash, equality->stiffness);
        ADD(hash, equality->dissipation);
        ADD(hash, equality->damping);
        add_flag(hash, equality->off);
    }
}

static void add_tendons(uint64_t *hash, const sim_model *model) {
    for (int i = 0; i < model->ntendon; i++) {
        /* joints and path */
        const sim_tendon *tendon = &model->tendon[i];
        for (int k = 0; k < tendon->njoint; k++) {
            ADD(hash, tendon->joint[k].dof);
            ADD(hash, tendon->joint[k].coefficient);
        }
        for (int k = 0; k < tendon->npoint; k++) {
            const sim_path_point *point = &tendon->path[k];
            ADD(hash, point->kind);
            ADD(hash, point->shape);
            ADD(hash, point->divisor);
            if (point->site >= 0 && point->kind != SIM_PATH_PULLEY) {
                ADD(hash, model->site[point->site].body);
                ADD(hash, model->site[point->site].pose);
            }
        }
        /* limits and forces */
        ADD(hash, tendon->limit);
        ADD(hash, tendon->stiffness);
        ADD(hash, tendon->damping);
        if (any_terms(tendon->spring) || any_terms(tendon->damper)) {
            ADD(hash, tendon->spring);
            ADD(hash, tendon->damper);
        }
        ADD(hash, tendon->rest);
        ADD(hash, tendon->friction);
        ADD(hash, tendon->armature);
        if (isfinite(tendon->effort_range[0])) {
            ADD(hash, tendon->effort_range);
        }
    }
}

static void add_shapes(uint64_t *hash, const sim_model *model) {
    /* shapes and their geometries */
    for (int i = 0; i < model->nshape; i++) {
        const sim_shape *shape = &model->shape[i];
        ADD(hash, shape->body);
        ADD(hash, shape->type);
        ADD(hash, shape->size);
        if (shape->geometry) {
            ADD(hash, shape->geometry->fingerprint);
        }
        ADD(hash, shape->pose);
        ADD(hash, shape->material);
        ADD(hash, shape->group);
        ADD(hash, shape->mask);
        if (shape->across_joint) { /* as below */
            ADD(hash, shape->across_joint);
        }
        ADD(hash, shape->surface_velocity);
        const sim_v3 *spin = &shape->surface_spin;
        if (spin->x != 0 || spin->y != 0 || spin->z != 0) { /* states from before there was one stay good */
            ADD(hash, shape->surface_spin);
        }
        ADD(hash, shape->friction_direction);
        if (shape->pressure) {
            ADD(hash, shape->pressure->fingerprint);
            ADD(hash, shape->modulus);
        }
    }
    /* exclusions */
    for (int i = 0; i < model->nexclusion; i++) {
        ADD(hash, model->exclusion[i]);
    }
    /* materials and pairs */
    for (int i = 0; i < model->nmaterial; i++) {
        const sim_material *material = &model->material[i];
        ADD(hash, material->friction);
        ADD(hash, material->friction_across);
        ADD(hash, material->stiffness);
        ADD(hash, material->dissipation);
        ADD(hash, material->restitution);
        ADD(hash, material->torsion);
        ADD(hash, material->rolling);
        ADD(hash, material->adhesion);
        ADD(hash, material->adhesion_range);
    }
    for (int i = 0; i < model->nmaterial_pair; i++) {
        const sim_material_pair *pair = &model->material_pair[i];
        ADD(hash, pair->first);
        ADD(hash, pair->second);
        add_number(hash, pair->friction);
        add_number(hash, pair->stiffness);
        add_number(hash, pair->dissipation);
        add_number(hash, pair->restitution);
        add_number(hash, pair->torsion);
        add_number(hash, pair->rolling);
        add_number(hash, pair->adhesion);
        add_number(hash, pair->adhesion_range);
    }
}

static void add_forces(uint64_t *hash, const sim_model *model) {
    /* actuators, loads */
    for (int i = 0; i < model->nactuator; i++) {
        const sim_actuator *actuator = &model->actuator[i];
        ADD(hash, actuator->dof);
        ADD(hash, actuator->kp);
        ADD(hash, actuator->kd);
        ADD(hash, actuator->effort);
        add_flag(hash, actuator->gravity_compensation);
        add_track(hash, &actuator->target);
        add_track(hash, &actuator->feedforward);
        ADD(hash, actuator->transmission);
        ADD(hash, actuator->site);
        ADD(hash, actuator->wrench);
        ADD(hash, actuator->rod);
        ADD(hash, actuator->tendon);
        if (actuator->transmission >= SIM_BY_ORIENTATION) {
            ADD(hash, actuator->body);
        }
        if (actuator->in_parent) {
            add_flag(hash, true);
        }
        ADD(hash, actuator->muscle);
        ADD(hash, actuator->gear);
        ADD(hash, actuator->force_range);
        add_track(hash, &actuator->ctrl);
        ADD(hash, actuator->ctrl_range);
        ADD(hash, actuator->gain);
        ADD(hash, actuator->bias);
        if (actuator->delay > 0) {
            ADD(hash, actuator->delay);
            ADD(hash, actuator->delay_steps);
        }
        ADD(hash, actuator->activation.type);
        ADD(hash, actuator->activation.time_constant);
        ADD(hash, actuator->activation.range);
    }
    for (int i = 0; i < model->nsite && model->nactuator; i++) {
        ADD(hash, model->site[i].body);
        ADD(hash, model->site[i].pose);
    }
    for (int i = 0; i < model->nload; i++) {
        const sim_load *load = &model->load[i];
        ADD(hash, load->body);
        ADD(hash, load->dof);
        ADD(hash, load->point);
        add_flag(hash, load->local);
        add_track(hash, &load->track);
    }
}

static void add_phases(uint64_t *hash, const sim_model *model, const sim_controller *c) {
    for (int i = 0; i < c->nphase; i++) {
        /* targets and switches */
        const sim_phase *p = &c->phase[i];
        for (int k = 0; k < p->ntarget; k++) {
            const sim_target *t = &p->target[k];
            ADD(hash, t->controller);
            ADD(hash, t->duration);
            ADD(hash, t->pose);
            if (t->value) {
                *hash =
                    hash_bytes(*hash, t->value, (size_t)model->controller[t->controller].nactuator * sizeof *t->value);
            }
            if (sim_track_given(&t->track)) {
                add_track(hash, &t->track);
                *hash = hash_bytes(*hash, t->way, (size_t)t->npose * sizeof *t->way);
            }
        }
        for (int k = 0; k < p->nswitch; k++) {
            ADD(hash, p->change[k].equality);
            ADD(hash, p->change[k].to);
        }
        /* transitions */
        for (int k = 0; k < p->ntransition; k++) {
            ADD(hash, p->transition[k].to);
            for (int n = 0; n < p->transition[k].ncondition; n++) {
                const sim_condition *q = &p->transition[k].condition[n];
                ADD(hash, q->quantity);
                ADD(hash, q->first);
                ADD(hash, q->second);
                ADD(hash, q->low);
                ADD(hash, q->high);
            }
        }
    }
}

/* Gains of joints are those of their actuators. */
static void add_controllers(uint64_t *hash, const sim_model *model) {
    for (int i = 0; i < model->ncontroller; i++) {
        const sim_controller *c = &model->controller[i];
        ADD(hash, c->type);
        *hash = hash_bytes(*hash, c->actuator, (size_t)c->nactuator * sizeof *c->actuator);
        add_track(hash, &c->target);
        for (int k = 0; k < c->npose; k++) {
            ADD(hash, c->pose[k]);
        }
        if (c->type == SIM_TASK_IMPEDANCE) {
            ADD(hash, model->site[c->site].body);
            ADD(hash, model->site[c->site].pose);
            ADD(hash, c->task_stiffness);
            ADD(hash, c->damping_ratio);
            ADD(hash, c->posture_rate);
        }
        if (c->posture) {
            *hash = hash_bytes(*hash, c->posture, (size_t)c->nactuator * sizeof *c->posture);
        }
        add_phases(hash, model, c);
    }
}

static void add_contact_options(uint64_t *hash, const sim_options *options) {
    const sim_solver_info *info = options->solver;
    int compliance = (int)sim_options_compliance(options);
    *hash = hash_bytes(*hash, info->name, strlen(info->name));
    for (int k = 0; k < info->noptions; k++) {
        const sim_solver_option *o = &info->option[k];
        if (!o->same_states) {
            add_number(hash, options->solver_option ? options->solver_option[k] : o->default_value);
        }
    }
    add_number(hash, options->contact_margin);
    ADD(hash, compliance);
    ADD(hash, options->law);
    /* files of runs without a budget keep their fingerprint */
    if (options->budget.iterations > 0) {
        ADD(hash, options->budget.iterations);
    }
    if (options->budget.time > 0) {
        ADD(hash, options->budget.time);
    }
}

/* Files of models without a fluid keep their fingerprint. */
static void add_fluid(uint64_t *hash, const sim_model *model) {
    if (model->ndrag) {
        ADD(hash, model->fluid);
    }
    for (int i = 0; i < model->ndrag; i++) {
        const sim_drag *drag = &model->drag[i];
        ADD(hash, drag->body);
        ADD(hash, drag->type);
        ADD(hash, drag->pose);
        ADD(hash, drag->size);
        ADD(hash, drag->blunt);
        ADD(hash, drag->slender);
        ADD(hash, drag->angular);
        ADD(hash, drag->kutta);
        ADD(hash, drag->magnus);
    }
}

static void add_softs(uint64_t *hash, const sim_model *model) {
    for (int i = 0; i < model->nsoft; i++) {
        const sim_soft *soft = &model->soft[i];
        ADD(hash, soft->body);
        *hash = hash_bytes(*hash, soft->node, (size_t)soft->nnode * sizeof *soft->node);
        *hash = hash_bytes(*hash, soft->tet, (size_t)soft->ntet * sizeof *soft->tet);
        ADD(hash, soft->law);
        ADD(hash, soft->modulus);
        ADD(hash, soft->poisson);
        ADD(hash, soft->dissipation);
        if (soft->rows) {
            add_flag(hash, soft->rows);
        }
        add_track(hash, &soft->pressure);
    }
}

uint64_t fingerprint_of(const sim_model *model, const sim_options *options) {
    uint64_t hash = HASH_START;
    ADD(&hash, model->nbody);
    ADD(&hash, model->nq);
    ADD(&hash, model->nv);
    ADD(&hash, model->gravity);
    add_bodies(&hash, model);
    add_tendons(&hash, model);
    add_shapes(&hash, model);
    add_softs(&hash, model);
    add_controllers(&hash, model);
    add_forces(&hash, model);
    add_fluid(&hash, model);
    ADD(&hash, options->tolerance);
    ADD(&hash, options->max_iterations);
    int rows = contact_stage_needed(model); /* which the contact solver answers, too */
    if (rows) {
        add_flag(&hash, options->contacts);
    }
    if (options->contacts || rows) {
        add_contact_options(&hash, options);
    }
    if (options->sleep) {
        add_number(&hash, options->sleep_speed);
        add_number(&hash, options->sleep_time);
    }
    return hash;
}
