/* Keyframes: qpos and qvel, in the order of the joints in the file, become states of joints by name. act and ctrl, in
 * that of the actuators, become their inputs.  Lists may be short: coordinates that follow are those of the reference
 * pose, all others 0. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

/* Numbers of a list, zeros behind a short one, as in MuJoCo; NULL: absent, or too long (reported). */
static double *read_state(mjcf_work *w, const xml_element *e, const char *key, const char *what, int wanted) {
    const char *given = xml_text(e, key);
    int count = given ? xml_count_numbers(given) : 0;
    if (count == 0) {
        return NULL;
    }
    if (count > wanted) {
        xml_error(w->report, e, key, NULL, "%d numbers, where the %s of the model take %d", count, what, wanted);
        mjcf_refuse(w);
        return NULL;
    }
    if (count < wanted) {
        xml_notice(w->report, e, key, NULL, "%d numbers, where the %s of the model take %d: the others are %s", count,
                   what, wanted, strcmp(key, "qpos") == 0 ? "those of the reference pose" : "0");
    }
    double *out = POOL_NEW(w->pool, double, wanted);
    w->report->no_memory |= !out;
    if (out) {
        xml_numbers(e, key, count, out);
    }
    return out;
}

/* Coordinates from number `first` on become those of the reference pose. */
static void complete_coordinates(const mjcf_model *m, int first, double *qpos) {
    for (int k = 0; k < m->njoint; k++) {
        const mjcf_joint *j = &m->joint[k];
        const mjcf_place *at = &m->body[j->body].place;
        double rest[7] = {at->p.x, at->p.y, at->p.z, at->q.w, at->q.x, at->q.y, at->q.z};
        int nq = j->type == MJCF_FREE ? 7 : j->type == MJCF_BALL ? 4 : 1;
        if (j->type == MJCF_BALL) {
            memcpy(rest, (const double[]){1, 0, 0, 0}, 4 * sizeof *rest);
        } else if (j->type != MJCF_FREE) {
            rest[0] = j->ref;
        }
        for (int i = 0; i < nq; i++) {
            qpos[j->q0 + i] = j->q0 + i < first ? qpos[j->q0 + i] : rest[i];
        }
    }
}

/* Scenes take quaternions of length 1 +- 1e-3: others are scaled. */
static void scale_quaternions(mjcf_work *w, const xml_element *e, double *qpos) {
    const mjcf_model *m = &w->model;
    int scaled = 0;
    const char *first = NULL;
    for (int k = 0; k < m->njoint && qpos; k++) {
        const mjcf_joint *j = &m->joint[k];
        double *q = qpos + j->q0 + (j->type == MJCF_FREE ? 3 : 0);
        double length = j->type <= MJCF_BALL ? quat_norm((sim_quat){q[0], q[1], q[2], q[3]}) : 1;
        if (fabs(length - 1) <= 1e-3) {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            q[i] = length > 1e-14 ? q[i] / length : i == 0;
        }
        first = scaled++ ? first : mjcf_joint_name(j);
    }
    if (scaled) {
        xml_notice(w->report, e, "qpos", "a quaternion has length 1",
                   "%d quaternions are scaled to length 1, the first of \"%.80s\"", scaled, first);
    }
}

static void put_values(mjcf_work *w, const char *key, int count, const double *value) {
    if (count == 1) {
        writer_put_number(w->out, key, value[0]);
    } else {
        writer_put_numbers(w->out, key, count, value);
    }
}

static void put_joint_state(mjcf_work *w, const mjcf_joint *j, const double *q, const double *v) {
    static const int nq_of[MJCF_JOINT_TYPES] = {7, 4, 1, 1}, nv_of[MJCF_JOINT_TYPES] = {6, 3, 1, 1};
    int nq = nq_of[j->type], nv = nv_of[j->type];
    if (q && !v) {
        put_values(w, mjcf_joint_name(j), nq, q + j->q0);
        return;
    }
    writer_open(w->out, mjcf_joint_name(j), '{');
    if (q) {
        put_values(w, "q", nq, q + j->q0);
    }
    put_values(w, "v", nv, v + j->v0);
    writer_close(w->out, '}');
}

/* One number is the control input, else both are named. */
static void put_drives(mjcf_work *w, const double *ctrl, const double *act) {
    const mjcf_model *m = &w->model;
    if (!ctrl && !act) {
        return;
    }
    writer_open(w->out, "ctrl", '{');
    for (int k = 0, active = 0; k < m->ndrive; active += m->drive[k++].active) {
        const mjcf_drive *d = &m->drive[k];
        const double *activation = act && d->active ? &act[active] : NULL;
        if (d->name && activation) {
            writer_open(w->out, d->name, '{');
            if (ctrl) {
                writer_put_number(w->out, "ctrl", ctrl[k]);
            }
            writer_put_number(w->out, "activation", *activation);
            writer_close(w->out, '}');
        } else if (d->name && ctrl) {
            writer_put_number(w->out, d->name, ctrl[k]);
        }
    }
    writer_close(w->out, '}');
}

static int count_activations(const mjcf_model *m) {
    int count = 0;
    for (int k = 0; k < m->ndrive; k++) {
        count += m->drive[k].active;
    }
    return count;
}

static void put_key(mjcf_work *w, mjcf_list *list, const mjcf_each *each, int number) {
    /* states */
    const mjcf_model *m = &w->model;
    const xml_element *e = each->at;
    double *q = read_state(w, e, "qpos", "joints", m->nq), *v = read_state(w, e, "qvel", "joints", m->nv);
    double *ctrl = read_state(w, e, "ctrl", "actuators", m->ndrive);
    double *act = read_state(w, e, "act", "activations", count_activations(m));
    if (q) {
        complete_coordinates(m, xml_count_numbers(xml_text(e, "qpos")), q);
    }
    scale_quaternions(w, e, q);
    const char *name = mjcf_name(w, each->scope, e);
    double time = 0;
    xml_numbers(e, "time", 1, &time);
    /* as a scene */
    mjcf_open_item(w, list, e);
    writer_put_text(w->out, "name", name ? name : mjcf_number_name(w, "key", number));
    if (time != 0) {
        writer_put_number(w->out, "time", time);
    }
    if (q || v) {
        writer_open(w->out, "initial", '{');
        for (int k = 0; k < m->nbody; k++) {
            for (int j = m->body[k].joint; j >= 0; j = m->joint[j].next) {
                put_joint_state(w, &m->joint[j], q, v);
            }
        }
        writer_close(w->out, '}');
    }
    put_drives(w, ctrl, act);
    writer_close(w->out, '}');
}

void mjcf_put_keyframes(mjcf_work *w) {
    const mjcf_model *m = &w->model;
    mjcf_list list = {.key = "keyframes"};
    mjcf_each each = mjcf_each_of(m, "keyframe", "key");
    int number = 0;
    while (mjcf_next(&each)) {
        if (each.scope == m->scopes) {
            put_key(w, &list, &each, number++);
        } else {
            xml_notice(w->report, each.at, NULL, NULL, "keyframes of attached models are left out");
        }
    }
    mjcf_close_list(w, &list);
}
