/* Targets of controllers: names to indices, keyframes and places of sites to rows of joint coordinates.
 *
 * Poses and points become coordinates by inverse kinematics, each from the one before.  The first one of a phase begins
 * where the phase before it leaves the joints: of the many postures of a redundant arm, the search finds a near one. */
#include "math/spatial.h"
#include "scene/controller.h"
#include "scene/loader/placement.h"

#include <sim/dynamics.h>
#include <string.h>

int count_items(const node *list) {
    int count = 0;
    for (const node *n = first_of(list); n; n = n->next) {
        count++;
    }
    return count;
}

void *allocate_items(loader *l, int count, size_t size) {
    void *items = pool_alloc(l->work, (size_t)count + 1, size);
    l->report.no_memory |= !items;
    return items;
}

int find_part(loader *l, const scope *s, find_function *find, const char *name, const char *kind, const node *at) {
    char full[MAX_NAME_BYTES + 1];
    int found = loader_full_name(s, name, full) ? find(model_of(l), full) : -1;
    if (found < 0) {
        report_once(&l->report, at, NULL, "there is no %s \"%.100s\"", kind, name);
    }
    return found;
}

/* ---- places ---- */

/* Lengths of its actuators at coordinates of the model. */
static void lengths_at(const sim_model *m, const sim_controller *c, const double *q, double *value) {
    for (int k = 0; k < c->nactuator; k++) {
        const sim_actuator *a = &m->actuator[c->actuator[k]];
        value[k] = a->gear * q[m->dof[a->dof].coordinate];
    }
}

/* Coordinates where the track or the row of a target ends. */
static void coordinates_at_end(const sim_model *m, const sim_controller *c, const sim_target *target, double *q) {
    const sim_track *track = &target->track;
    const double *row = target->value ? target->value : track->values + (track->keys - 1) * c->nactuator;
    for (int k = 0; k < c->nactuator; k++) {
        const sim_actuator *a = &m->actuator[c->actuator[k]];
        q[m->dof[a->dof].coordinate] = row[k] / a->gear;
    }
}

double *search_start(loader *l, const sim_controller *c, const sim_target *before) {
    const sim_model *m = model_of(l);
    double *q = allocate_items(l, m->nq, sizeof *q);
    if (q) {
        memcpy(q, m->q_initial, (size_t)m->nq * sizeof *q);
        if (before) {
            coordinates_at_end(m, c, before, q);
        }
    }
    return q;
}

bool keyframe_lengths(loader *l, const scope *s, const sim_controller *c, const char *name, const node *at,
                      double *value) {
    const sim_model *m = model_of(l);
    int k = find_part(l, s, sim_model_find_keyframe, name, "keyframe", at);
    double *q = allocate_items(l, m->nq, sizeof *q), *v = allocate_items(l, m->nv, sizeof *v);
    if (k < 0 || !q || !v) {
        return false;
    }
    sim_model_keyframe_state(m, k, q, v);
    lengths_at(m, c, q, value);
    return true;
}

/* A pose in the axes of a body, in the world. */
static bool place_in_world(loader *l, int frame, sim_pose *to) {
    const sim_model *m = model_of(l);
    sim_derived *d = frame < 0 ? NULL : sim_derived_create(m, NULL);
    l->report.no_memory |= frame >= 0 && !d;
    if (d) {
        sim_kinematics(d, sim_all(m), m->q_initial);
        *to = pose_product(d->pose[frame], *to);
    }
    sim_derived_free(d);
    return frame < 0 || d;
}

bool place_lengths(loader *l, const scope *s, const sim_controller *c, const site_place *to, double *q, double *value) {
    /* goal */
    const sim_model *m = model_of(l);
    bool *held = allocate_items(l, m->nv, sizeof *held);
    sim_ik_options options = sim_ik_options_default();
    sim_ik_result result;
    sim_error why;
    if (!to->site) {
        report_once(&l->report, to->at, NULL, "places of a joint impedance need the \"site\" that stands there");
        return false;
    }
    int k = find_part(l, s, sim_model_find_site, to->site, "site", to->at);
    sim_ik_goal goal = {.pose = to->pose, .point = to->point};
    if (k < 0 || !held || !place_in_world(l, to->frame, &goal.pose)) {
        return false;
    }
    goal.body = m->site[k].body;
    goal.frame = m->site[k].pose;
    /* search */
    for (int j = 0; j < m->nv; j++) {
        held[j] = true;
    }
    for (int i = 0; i < c->nactuator; i++) {
        held[m->actuator[c->actuator[i]].dof] = false;
    }
    options.held = held;
    if (sim_inverse_kinematics(m, &goal, 1, &options, q, &result, &why)) {
        report_once(&l->report, to->at, NULL, "%s", why.text);
        return false;
    }
    if (result.outcome != SIM_IK_REACHED) {
        report_once(&l->report, to->at, NULL, "out of reach of \"%.80s\": %.3g m and %.3g rad are left", to->site,
                    result.distance, result.angle);
        return false;
    }
    lengths_at(m, c, q, value);
    return true;
}

static bool read_pose(loader *l, const node *n, sim_pose *out) {
    pose_data d;
    return loader_read(l, n, &table_pose, &d) && placement_read(&l->report, &d, out);
}

/* ---- targets ---- */

static bool check_times(loader *l, const controller_target_data *d, int places) {
    const node *at = node_member(d->at, "times");
    if (d->times.count != places && (places != 1 || d->times.count)) {
        report_once(&l->report, at ? at : d->at, NULL, "%d times for %d places on the way", d->times.count, places);
        return false;
    }
    for (int k = 1; k < d->times.count; k++) {
        if (!(d->times.value[k] > d->times.value[k - 1])) {
            report_once(&l->report, at, NULL, "times must increase");
            return false;
        }
    }
    return places > 0;
}

static const double *times_of(const controller_target_data *d) {
    static const double start[] = {0};
    return d->times.count ? d->times.value : start;
}

/* Of a task impedance: the poses, and places among them. */
static bool read_poses(loader *l, const controller_target_data *d, controller_target *out) {
    int count = count_items(d->poses), k = 0;
    sim_pose *way = allocate_items(l, count, sizeof *way);
    double *place = allocate_items(l, count, sizeof *place);
    for (const node *n = first_of(d->poses); n && way && place; n = n->next, k++) {
        place[k] = k;
        if (!read_pose(l, n, &way[k])) {
            return false;
        }
    }
    out->pose = way;
    out->npose = count;
    out->track.width = 1;
    out->track.values = place;
    out->track.keys = count;
    return way && place && check_times(l, d, count);
}

/* One number for each row and joint, or one for each row, as lengths or forces of the actuators. */
static bool spread_rows(loader *l, const sim_controller *c, const controller_target_data *d, int rows, double *value) {
    int n = c->nactuator;
    if (d->values.count != rows && d->values.count != rows * n) {
        report_once(&l->report, node_member(d->at, "values"), NULL,
                    "expected a number for each of %d times, or %d rows of %d, not %d", rows, rows, n, d->values.count);
        return false;
    }
    for (int i = 0; i < rows * n; i++) {
        double gear = model_of(l)->actuator[c->actuator[i % n]].gear;
        value[i] = d->values.value[d->values.count == rows ? i / n : i] * (c->type == SIM_GRIPPER ? 1 / gear : gear);
    }
    return true;
}

/* Rows of coordinates at places of a site, one after the other. */
static bool place_rows(loader *l, const scope *s, const sim_controller *c, const controller_target_data *d,
                       const sim_target *before, double *value) {
    const node *frame = node_member(d->at, "frame"), *at = first_of(d->poses);
    site_place to = {.site = d->site, .frame = -1, .point = !d->poses, .at = node_member(d->at, "points")};
    to.frame = d->frame ? find_part(l, s, sim_model_find_body, d->frame, "body", frame) : -1;
    double *q = search_start(l, c, before);
    if (!q || (d->frame && to.frame < 0)) {
        return false;
    }
    for (int k = 0; to.point ? 3 * k < d->points.count : at != NULL; k++, at = at ? at->next : NULL) {
        if (to.point) {
            const double *p = d->points.value + 3 * k;
            to.pose = (sim_pose){m3_identity(), v3_make(p[0], p[1], p[2])};
        } else if (to.at = at, !read_pose(l, at, &to.pose)) {
            return false;
        }
        if (!place_lengths(l, s, c, &to, q, value + k * c->nactuator)) {
            return false;
        }
    }
    return true;
}

/* Rows of values: as given, of keyframes, or of places of a site. */
static bool read_rows(loader *l, const scope *s, const sim_controller *c, const controller_target_data *d,
                      const sim_target *before, controller_target *out) {
    int n = c->nactuator, k = 0;
    int rows = d->keyframes         ? count_items(d->keyframes)
               : d->poses           ? count_items(d->poses)
               : d->points.count    ? d->points.count / 3
               : d->times.count > 0 ? d->times.count
                                    : 1;
    double *value = allocate_items(l, rows * n, sizeof *value);
    bool good = value != NULL;
    for (const node *at = first_of(d->keyframes); at && good; at = at->next, k++) {
        target_keyframe_data keyframe;
        good = loader_read(l, at, &table_target_key, &keyframe) &&
               keyframe_lengths(l, s, c, keyframe.keyframe, at, value + k * n);
    }
    if (good && d->values.count) {
        good = spread_rows(l, c, d, rows, value);
    } else if (good && !d->keyframes) {
        good = place_rows(l, s, c, d, before, value);
    }
    out->track.width = n;
    out->track.values = value;
    out->track.keys = rows;
    return good && check_times(l, d, rows);
}

bool read_controller_target(loader *l, const scope *s, const sim_controller *c, const controller_target_data *d,
                            const sim_target *before, controller_target *out) {
    static const sim_interpolation interpolation[] = {SIM_HOLD, SIM_LINEAR, SIM_CUBIC, SIM_QUINTIC, SIM_SPLINE};
    if (!d->at) {
        return true;
    }
    bool poses = c->type == SIM_TASK_IMPEDANCE;
    if (poses ? !d->poses || d->frame : c->type == SIM_GRIPPER && !d->values.count) {
        report_once(&l->report, d->at, NULL,
                    poses ? "a task impedance is led by \"poses\" in the world" : "a gripper is led by \"values\"");
        return false;
    }
    out->track.times = times_of(d);
    out->track.interpolation = interpolation[d->interpolation];
    return poses ? read_poses(l, d, out) : read_rows(l, s, c, d, before, out);
}
