/* Keyframes of a model: found by name, written out as coordinates, velocities and inputs. */
#include <sim/model.h>

#include <math.h>
#include <string.h>

int sim_model_find_keyframe(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nkeyframe; k++) {
        if (strcmp(model->keyframe[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

void sim_model_keyframe_state(const sim_model *model, int keyframe, double *q, double *v) {
    /* the initial state */
    memmove(q, model->q_initial, (size_t)model->nq * sizeof *q);
    memmove(v, model->v_initial, (size_t)model->nv * sizeof *v);
    /* joints of the keyframe */
    for (int i = 0; keyframe >= 0 && i < model->keyframe[keyframe].nstate; i++) {
        const sim_joint_state *s = &model->keyframe[keyframe].state[i];
        const sim_body *b = &model->body[s->body];
        if (s->has_q) {
            memcpy(q + b->q0, s->q, (size_t)b->nq * sizeof *q);
        }
        if (s->has_v) {
            memcpy(v + b->v0, s->v, (size_t)b->nv * sizeof *v);
        }
    }
}

void sim_model_keyframe_drives(const sim_model *model, int keyframe, double *ctrl, double *activation) {
    /* the initial state */
    for (int k = 0; k < model->nactuator; k++) {
        ctrl[k] = model->ctrl_initial[k];
        activation[k] = model->actuator[k].activation.initial;
    }
    /* actuators of the keyframe */
    for (int i = 0; keyframe >= 0 && i < model->keyframe[keyframe].ndrive; i++) {
        const sim_actuator_state *s = &model->keyframe[keyframe].drive[i];
        ctrl[s->actuator] = isnan(s->ctrl) ? ctrl[s->actuator] : s->ctrl;
        activation[s->actuator] = isnan(s->activation) ? activation[s->actuator] : s->activation;
    }
}
