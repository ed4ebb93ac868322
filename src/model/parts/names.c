/* Names of bodies, sites, tendons, coordinates and dofs in files and messages. */
#include "model/parts/joint.h"

#include <stdio.h>
#include <string.h>

int sim_model_find_body(const sim_model *model, const char *name) {
    for (int i = 0; i < model->nbody; i++) {
        if (strcmp(model->body[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int sim_model_find_joint(const sim_model *model, const char *name) {
    for (int i = 1; i < model->nbody; i++) {
        if (model->body[i].nv > 0 && strcmp(model->body[i].joint_name, name) == 0) {
            return i;
        }
    }
    int body = sim_model_find_body(model, name);
    return body >= 0 && model->body[body].nv > 0 ? body : -1;
}

int sim_model_find_site(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nsite; k++) {
        if (strcmp(model->site[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

int sim_model_find_actuator(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nactuator; k++) {
        if (strcmp(model->actuator[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

int sim_model_find_equality(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nequality; k++) {
        if (model->equality[k].name && strcmp(model->equality[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

int sim_model_find_controller(const sim_model *model, const char *name) {
    for (int k = 0; k < model->ncontroller; k++) {
        if (strcmp(model->controller[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

int sim_model_find_event(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nevent; k++) {
        if (strcmp(model->event[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

int sim_model_find_tendon(const sim_model *model, const char *name) {
    for (int k = 0; k < model->ntendon; k++) {
        if (strcmp(model->tendon[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

static void join_names(const char *body, const char *component, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", body, *component ? "." : "", component);
}

void sim_model_dof_name(const sim_model *model, int dof, char *text, size_t size) {
    const sim_body *b = &model->body[model->dof[dof].body];
    join_names(b->joint_name, joint_facts_of(b->joint)->v_name[dof - b->v0], text, size);
}

/* The last body whose coordinates start at or before `coordinate`. */
static const sim_body *body_of_coordinate(const sim_model *model, int coordinate) {
    int low = 0, high = model->nbody;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (model->body[middle].q0 <= coordinate) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &model->body[low];
}

void sim_model_coordinate_name(const sim_model *model, int coordinate, char *text, size_t size) {
    const sim_body *b = body_of_coordinate(model, coordinate);
    join_names(b->joint_name, joint_facts_of(b->joint)->q_name[coordinate - b->q0], text, size);
}
