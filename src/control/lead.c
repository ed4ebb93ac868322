/* Where controllers are led: their own tracks, and the targets of phases.
 *
 *     x(t) = y(t) + (1 - s) (x_0 - y(t_0)),   R(t) = exp((1 - s) log(R_0 Y(t_0)')) Y(t)
 *     s = 10 u^3 - 15 u^4 + 6 u^5,   u = (t - t_0) / T
 *
 *     y, Y      target, values or position and axes: a place, or a track over the time since t_0
 *     x_0, R_0  where the controller was led when the phase began, at t_0
 *     T         duration, s; 0: at once
 *
 * Between poses of a track the way is straight and the axis of the turn fixed, from one pose to the next. */
#include "control/control.h"
#include "math/spatial.h"

#include <math.h>
#include <string.h>

/* Targets count from 1 through all phases of all controllers. */
static const sim_target *find_target(const sim_model *m, double id) {
    int left = (int)id;
    for (int k = 0; k < m->ncontroller && left > 0; k++) {
        for (int p = 0; p < m->controller[k].nphase; p++) {
            const sim_phase *phase = &m->controller[k].phase[p];
            if (left <= phase->ntarget) {
                return &phase->target[left - 1];
            }
            left -= phase->ntarget;
        }
    }
    return NULL;
}

bool lead_knows(const sim_model *m, int controller, double id) {
    if (id == -1 || id == 0) {
        return true;
    }
    const sim_target *target = id > 0 && id < 1e9 && id == floor(id) ? find_target(m, id) : NULL;
    return target && target->controller == controller;
}

/* s and its rate. */
static double progress_at(double time, double since, double duration, double *rate) {
    double u = duration > 0 ? (time - since) / duration : 1;
    if (u <= 0 || u >= 1) {
        *rate = 0;
        return u <= 0 ? 0 : 1;
    }
    *rate = 30 * u * u * (1 - u) * (1 - u) / duration;
    return u * u * u * (10 + u * (-15 + 6 * u));
}

static led_pose between_poses(pose from, pose to, double s, double rate) {
    v3 way = v3_sub(to.p, from.p), turn = quat_log(quat_from_matrix(m3_product(to.R, m3_transpose(from.R))));
    led_pose out;
    out.pose.p = v3_axpy(from.p, s, way);
    out.pose.R = m3_product(quat_matrix(quat_exp(v3_scale(s, turn))), from.R);
    out.rate = (motion){v3_scale(rate, turn), v3_scale(rate, way)};
    return out;
}

static led_pose track_pose(const sim_track *track, const pose *way, int count, double time) {
    double place, rate;
    sim_track_at(track, time, &place, &rate);
    int k = (int)fmin(floor(place), count - 2);
    k = k < 0 ? 0 : k;
    return count == 1 ? (led_pose){.pose = way[0]} : between_poses(way[k], way[k + 1], place - k, rate);
}

/* A target so long after its phase began. */
static led_pose target_pose(const sim_target *t, double elapsed) {
    return sim_track_given(&t->track) ? track_pose(&t->track, t->way, t->npose, elapsed) : (led_pose){.pose = t->pose};
}

static pose kept_pose(const double *at) {
    return (pose){quat_matrix((quat){at[3], at[4], at[5], at[6]}), v3_make(at[0], at[1], at[2])};
}

led_pose lead_pose(const control_work *w, const control_input *in, const sim_controller *c, double time) {
    const double *memory = w->next + c->first;
    const sim_target *target = find_target(w->model, memory[0]);
    (void)in;
    if (!target) {
        return sim_track_given(&c->target) ? track_pose(&c->target, c->pose, c->npose, time)
                                           : (led_pose){.pose = kept_pose(memory + 2)};
    }
    /* what is left of the difference at the start goes before the target */
    double rate, left = 1 - progress_at(time, memory[1], target->duration, &rate);
    pose from = kept_pose(memory + 2), first = target_pose(target, 0).pose;
    led_pose out = target_pose(target, time - memory[1]);
    v3 way = v3_sub(from.p, first.p), turn = quat_log(quat_from_matrix(m3_product(from.R, m3_transpose(first.R))));
    sim_m3 part = quat_matrix(quat_exp(v3_scale(left, turn)));
    out.pose.p = v3_axpy(out.pose.p, left, way);
    out.pose.R = m3_product(part, out.pose.R);
    out.rate.lin = v3_axpy(out.rate.lin, -rate, way);
    out.rate.ang = v3_axpy(m3_times(part, out.rate.ang), -rate, turn);
    return out;
}

void lead_values(const control_work *w, const control_input *in, const sim_controller *c, double time, double *value,
                 double *rate) {
    /* own track */
    const double *memory = w->next + c->first;
    const sim_target *target = find_target(w->model, memory[0]);
    (void)in;
    if (!target && sim_track_given(&c->target)) {
        sim_track_at(&c->target, time, value, rate);
        return;
    }
    /* the target, and what is left of the difference at the start */
    double ds = 0, s = target ? progress_at(time, memory[1], target->duration, &ds) : 0;
    bool moves = target && sim_track_given(&target->track);
    if (moves) {
        sim_track_at(&target->track, 0, w->first, NULL);
        sim_track_at(&target->track, time - memory[1], value, rate);
    }
    for (int k = 0; k < c->nactuator; k++) {
        double from = memory[2 + k], first = moves ? w->first[k] : target && target->value ? target->value[k] : from;
        double way = first - from;
        value[k] = moves ? value[k] - (1 - s) * way : from + s * way;
        if (rate) {
            rate[k] = ds * way + (moves ? rate[k] : 0);
        }
    }
}

void lead_to(control_work *w, const control_input *in, const sim_target *target, double id) {
    const sim_controller *c = &w->model->controller[target->controller];
    double *memory = w->next + c->first;
    /* where it is led now */
    if (c->type == SIM_TASK_IMPEDANCE) {
        pose X = lead_pose(w, in, c, in->time).pose;
        quat turn = quat_normalised(quat_from_matrix(X.R));
        const double at[7] = {X.p.x, X.p.y, X.p.z, turn.w, turn.x, turn.y, turn.z};
        memcpy(memory + 2, at, sizeof at);
    } else {
        lead_values(w, in, c, in->time, w->x, NULL);
        memcpy(memory + 2, w->x, (size_t)c->nactuator * sizeof *memory);
    }
    /* the way from there */
    memory[0] = id;
    memory[1] = in->time;
}
