/* Controllers, phases and events of a scene, once the model is there.
 *
 * Controllers come first, then phases, which name them. */
#include "scene/controller.h"
#include "scene/loader/placement.h"

#include <math.h>
#include <sim/dynamics.h>
#include <string.h>

/* ---- actuators ---- */

/* Those that the patterns name, in their order. */
static bool read_controlled_actuators(loader *l, const scope *s, const node *list, sim_controller *c) {
    const sim_model *m = model_of(l);
    int *actuator = allocate_items(l, m->nactuator, sizeof *actuator);
    for (const node *n = first_of(list); n && actuator; n = n->next) {
        controlled_actuator_data d;
        char full[MAX_NAME_BYTES + 1];
        if (!loader_read(l, n, &table_controlled, &d) || !loader_full_name(s, d.actuator, full)) {
            return false;
        }
        int before = c->nactuator;
        for (int k = 0; k < m->nactuator && c->nactuator < m->nactuator; k++) {
            if (m->actuator[k].transmission == SIM_BY_JOINT && name_matches(m->actuator[k].name, full, &l->worked)) {
                actuator[c->nactuator++] = k;
            }
        }
        if (c->nactuator == before) {
            report_once(&l->report, n, NULL, "no actuator of a joint has the name \"%.100s\"", d.actuator);
            return false;
        }
    }
    c->actuator = actuator;
    return actuator != NULL;
}

/* Those of the joints between a site and the world; every joint needs one, but for free ones. */
static bool find_path(loader *l, const sim_controller *site, const node *at, sim_controller *c) {
    const sim_model *m = model_of(l);
    int *actuator = allocate_items(l, m->nactuator, sizeof *actuator);
    if (!actuator) {
        return false;
    }
    for (int i = m->site[site->site].body; i > 0; i = m->body[i].parent) {
        for (int j = m->body[i].v0; j < m->body[i].v0 + m->body[i].nv && m->body[i].joint != SIM_FREE; j++) {
            int k = 0;
            while (k < m->nactuator && (m->actuator[k].transmission != SIM_BY_JOINT || m->actuator[k].dof != j)) {
                k++;
            }
            if (k == m->nactuator) {
                report_once(&l->report, at, "a motor without gains is enough: {\"joint\": ...}",
                            "the joint of \"%.80s\", between the site and the world, has no actuator", m->body[i].name);
                return false;
            }
            actuator[c->nactuator++] = k;
        }
    }
    c->actuator = actuator;
    return true;
}

/* One number for all, or one for each. */
static const double *fill_numbers(loader *l, const number_list *list, int count, const node *at) {
    double *out = allocate_items(l, count, sizeof *out);
    if (list->count != 1 && list->count != count) {
        report_once(&l->report, at, NULL, "expected one number, or one for each of %d actuators, not %d", count,
                    list->count);
        return NULL;
    }
    for (int k = 0; k < count && out; k++) {
        out[k] = list->value[list->count == 1 ? 0 : k];
    }
    return out;
}

/* Of joints, to numbers of their actuators: times the gear to some power. */
static const double *through_gears(const loader *l, const sim_controller *c, const double *of_joint, int power) {
    double *out = (double *)of_joint; /* of the loader, and no one else has it */
    for (int k = 0; k < c->nactuator && out; k++) {
        out[k] *= pow(model_of(l)->actuator[c->actuator[k]].gear, power);
    }
    return out;
}

/* ---- controllers ---- */

static bool read_target(loader *l, const scope *s, const controller_data *d, sim_controller *c) {
    controller_target way = {0};
    bool good = read_controller_target(l, s, c, &d->target, NULL, &way);
    c->target = way.track;
    c->npose = way.npose;
    c->pose = way.pose;
    return good;
}

/* kd = 2 zeta sqrt(kp M_jj) with the mass matrix of the initial state. */
static const double *critical_damping(loader *l, const sim_controller *c, double ratio) {
    const sim_model *m = model_of(l);
    sim_derived *d = sim_derived_create(m, NULL);
    double *M = allocate_items(l, (int)m->nl, sizeof *M), *out = allocate_items(l, c->nactuator, sizeof *out);
    if (d && M && out) {
        sim_kinematics(d, sim_all(m), m->q_initial);
        sim_crba(d, sim_all(m), NULL, NULL, M);
        for (int k = 0; k < c->nactuator; k++) {
            const sim_actuator *a = &m->actuator[c->actuator[k]];
            const sim_dof *dof = &m->dof[a->dof];
            out[k] = 2 * ratio * sqrt(c->stiffness[k] * M[dof->row + dof->depth - 1]) / fabs(a->gear);
        }
    }
    l->report.no_memory |= !d;
    sim_derived_free(d);
    return d && M ? out : NULL;
}

static bool read_joints(loader *l, const scope *s, const controller_data *d, sim_controller *c) {
    static const double zero[] = {0};
    const number_list none = {1, zero};
    if (!read_controlled_actuators(l, s, d->actuators, c)) {
        return false;
    }
    bool joints = c->type == SIM_JOINT_IMPEDANCE;
    c->gravity_compensation = d->gravity_compensation;
    c->stiffness = joints ? fill_numbers(l, &d->stiffness, c->nactuator, node_member(d->at, "stiffness")) : NULL;
    if (joints && !through_gears(l, c, c->stiffness, -2)) {
        return false;
    }
    const number_list *damping = d->damping.count ? &d->damping : &none;
    c->damping = joints && !d->damping.count
                     ? critical_damping(l, c, d->damping_ratio)
                     : through_gears(l, c, fill_numbers(l, damping, c->nactuator, node_member(d->at, "damping")), -2);
    return c->damping && read_target(l, s, d, c);
}

static bool read_task(loader *l, const scope *s, const controller_data *d, sim_controller *c) {
    /* site and the joints to it */
    const sim_model *m = model_of(l);
    const node *stiffness = node_member(d->at, "stiffness");
    c->site = find_part(l, s, sim_model_find_site, d->site, "site", node_member(d->at, "site"));
    if (c->site < 0 || !find_path(l, c, node_member(d->at, "site"), c)) {
        return false;
    }
    if (d->stiffness.count != 2 && d->stiffness.count != 6) {
        report_once(&l->report, stiffness, NULL, "expected [translation, rotation], or six numbers, not %d",
                    d->stiffness.count);
        return false;
    }
    /* stiffness, damping */
    for (int k = 0; k < 6; k++) {
        c->task_stiffness[k] = d->stiffness.value[d->stiffness.count == 2 ? k / 3 : k];
    }
    c->damping_ratio = d->damping_ratio;
    c->posture_rate = d->posture_rate;
    /* posture and target */
    double *posture = allocate_items(l, c->nactuator, sizeof *posture);
    if (d->posture && posture && keyframe_lengths(l, s, c, d->posture, node_member(d->at, "posture"), posture)) {
        for (int k = 0; k < c->nactuator; k++) {
            posture[k] /= m->actuator[c->actuator[k]].gear;
        }
        c->posture = posture;
    }
    return posture && (!d->posture || c->posture) && read_target(l, s, d, c);
}

/* ---- phases ---- */

/* The first phase of the list that leads to the k-th one and stands before it; -1: none. */
static int phase_before(const sim_controller *machine, int k) {
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < machine->phase[j].ntransition; i++) {
            if (machine->phase[j].transition[i].to == k) {
                return j;
            }
        }
    }
    return -1;
}

/* The target that a controller has when the k-th phase begins, on the way through the list; NULL: only its own. */
static const sim_target *target_before(const sim_controller *machine, int k, int controller) {
    for (int j = phase_before(machine, k); j >= 0; j = phase_before(machine, j)) {
        const sim_phase *p = &machine->phase[j];
        for (int i = p->ntarget - 1; i >= 0; i--) {
            if (p->target[i].controller == controller) {
                return &p->target[i];
            }
        }
    }
    return NULL;
}

/* A target of the phase that is read, the last one of the machine. */
static bool read_phase_target(loader *l, const scope *s, const node *n, const sim_controller *machine,
                              sim_target *out) {
    /* the controller */
    const sim_model *m = model_of(l);
    phase_target_data d;
    if (!loader_read(l, n, &table_phase_target, &d)) {
        return false;
    }
    int k = find_part(l, s, sim_model_find_controller, d.controller, "controller", node_member(n, "controller"));
    if (k < 0) {
        return false;
    }
    /* a target of its kind */
    const sim_controller *c = &m->controller[k];
    *out = (sim_target){.controller = k, .duration = d.duration};
    const sim_target own = {.track = c->target}, *before = target_before(machine, machine->nphase - 1, k);
    before = before || !c->target.keys ? before : &own;
    bool task = c->type == SIM_TASK_IMPEDANCE;
    if (d.track.at && c->type != SIM_PHASES) {
        controller_target way = {0};
        bool good = read_controller_target(l, s, c, &d.track, before, &way);
        out->track = way.track;
        out->npose = way.npose;
        out->way = way.pose;
        return good;
    }
    if (c->type == SIM_PHASES || task != (d.pose.at && !d.site) || (c->type == SIM_GRIPPER && !d.values.count)) {
        report_once(&l->report, n, NULL,
                    task                     ? "a task impedance is led to a \"pose\" of its own site"
                    : c->type == SIM_GRIPPER ? "a gripper is led to \"values\""
                    : c->type == SIM_PHASES  ? "phases do not lead phases"
                                             : "a joint impedance is led to \"values\", a \"keyframe\", or a \"pose\" "
                                               "of a \"site\"");
        return false;
    }
    if (task) {
        return placement_read(&l->report, &d.pose, &out->pose);
    }
    if (d.values.count) {
        const double *of_joint = fill_numbers(l, &d.values, c->nactuator, node_member(n, "values"));
        out->value = through_gears(l, c, of_joint, c->type == SIM_GRIPPER ? -1 : 1);
        return out->value;
    }
    /* joints of a keyframe or a pose */
    double *value = allocate_items(l, c->nactuator, sizeof *value), *q = search_start(l, c, before);
    site_place to = {.site = d.site, .frame = -1, .at = d.pose.at};
    out->value = value;
    if (!value || !q || (!d.keyframe && !placement_read(&l->report, &d.pose, &to.pose))) {
        return false;
    }
    return d.keyframe ? keyframe_lengths(l, s, c, d.keyframe, node_member(n, "keyframe"), value)
                      : place_lengths(l, s, c, &to, q, value);
}

static bool read_switch(loader *l, const scope *s, const node *n, sim_phase_switch *out) {
    phase_switch_data d;
    if (!loader_read(l, n, &table_phase_switch, &d)) {
        return false;
    }
    out->to = (sim_switch)d.to;
    out->equality = find_part(l, s, sim_model_find_equality, d.constraint, "constraint", node_member(n, "constraint"));
    return out->equality >= 0;
}

/* Keys that need another one beside them; false: it is missing. */
static bool check_partners(loader *l, const node *n) {
    static const struct {
        const char *key, *needs[2];
    } pair[] = {
        {"sensor", {"above", "below"}},
        {"above", {"sensor"}},
        {"below", {"sensor"}},
        {"component", {"sensor"}},
        {"first_site", {"second_site"}},
        {"second_site", {"first_site"}},
        {"first_site", {"nearer", "farther"}},
        {"nearer", {"first_site"}},
        {"farther", {"first_site"}},
        {"second_body", {"first_body"}},
        {"pressed", {"first_body"}},
    };
    for (size_t k = 0; k < sizeof pair / sizeof pair[0]; k++) {
        const node *at = node_member(n, pair[k].key);
        const char *one = pair[k].needs[0], *two = pair[k].needs[1];
        if (at && !node_member(n, one) && !(two && node_member(n, two))) {
            report_once(&l->report, at, NULL, "a condition with \"%s\" needs \"%s\"%s%s%s beside it", pair[k].key, one,
                        two ? " or \"" : "", two ? two : "", two ? "\"" : "");
            return false;
        }
    }
    return true;
}

/* Bounds that no number keeps. */
static bool check_bounds(loader *l, const node *n, const char *low, double least, const char *high, double greatest) {
    const node *at = node_member(n, low);
    if (at && node_member(n, high) && least > greatest) {
        report_once(&l->report, at, NULL, "must be at most \"%s\", %g, is %g: the condition would never hold", high,
                    greatest, least);
        return false;
    }
    return true;
}

/* Reading, distance and contact, as far as they are given; at the place of the next condition. */
static bool read_states(loader *l, const scope *s, const transition_data *d, sim_transition *t, sim_condition *to) {
    const sim_model *m = model_of(l);
    const node *n = d->at;
    if (d->sensor) {
        int k = find_part(l, s, sim_model_find_sensor, d->sensor, "sensor", node_member(n, "sensor"));
        if (k < 0 || d->component >= sim_sensor_values(m->sensor[k].type)) {
            report_once(&l->report, n, NULL, "the sensor \"%.80s\" has no component %d", d->sensor, (int)d->component);
            return false;
        }
        to[t->ncondition++] = (sim_condition){.quantity = SIM_READING,
                                              .first = m->sensor[k].first + (int)d->component,
                                              .second = -1,
                                              .low = node_member(n, "above") ? d->above : -INFINITY,
                                              .high = node_member(n, "below") ? d->below : INFINITY};
    }
    if (d->first_site || d->second_site) {
        const char *name[2] = {d->first_site ? d->first_site : "", d->second_site ? d->second_site : ""};
        int k[2];
        for (int i = 0; i < 2; i++) {
            k[i] = find_part(l, s, sim_model_find_site, name[i], "site", n);
        }
        to[t->ncondition++] = (sim_condition){.quantity = SIM_SITE_DISTANCE,
                                              .first = k[0],
                                              .second = k[1],
                                              .low = node_member(n, "farther") ? d->farther : -INFINITY,
                                              .high = node_member(n, "nearer") ? d->nearer : INFINITY};
        if (k[0] < 0 || k[1] < 0) {
            return false;
        }
    }
    if (d->first_body) {
        int first = find_part(l, s, sim_model_find_body, d->first_body, "body", n);
        int second = d->second_body ? find_part(l, s, sim_model_find_body, d->second_body, "body", n) : -1;
        to[t->ncondition++] = (sim_condition){.quantity = SIM_PRESSED,
                                              .first = first,
                                              .second = second,
                                              .low = d->pressed ? 0.5 : -1,
                                              .high = d->pressed ? 2 : 0.5};
        return first >= 0 && (!d->second_body || second >= 0);
    }
    return true;
}

static bool read_transition(loader *l, const scope *s, const node *n, const node *phases, sim_transition *out) {
    transition_data d;
    enum { MAX_CONDITIONS = 5 };
    sim_condition *to = allocate_items(l, MAX_CONDITIONS, sizeof *to);
    if (!to || !loader_read(l, n, &table_transition, &d) || !check_partners(l, n) ||
        !check_bounds(l, n, "above", d.above, "below", d.below) ||
        !check_bounds(l, n, "farther", d.farther, "nearer", d.nearer)) {
        return false;
    }
    /* the phase */
    *out = (sim_transition){.to = -1, .condition = to};
    int k = 0;
    for (const node *p = first_of(phases); p; p = p->next, k++) {
        const node *name = node_member(p, "name");
        out->to = name && name->kind == NODE_TEXT && strcmp(name->text, d.to) == 0 ? k : out->to;
    }
    if (out->to < 0) {
        report_once(&l->report, node_member(n, "to"), NULL, "there is no phase \"%.100s\"", d.to);
        return false;
    }
    /* its conditions */
    if (node_member(n, "after")) {
        to[out->ncondition++] = (sim_condition){.quantity = SIM_ELAPSED, .low = d.after, .high = INFINITY};
    }
    if (node_member(n, "at_time")) {
        to[out->ncondition++] = (sim_condition){.quantity = SIM_TIME_PASSED, .low = d.at_time, .high = INFINITY};
    }
    return read_states(l, s, &d, out, to);
}

static bool read_phase(loader *l, const scope *s, const node *n, const node *phases, const sim_controller *machine,
                       sim_phase *out) {
    phase_data d;
    if (!loader_read(l, n, &table_phase, &d)) {
        return false;
    }
    /* targets, switches, transitions */
    sim_target *target = allocate_items(l, count_items(d.targets), sizeof *target);
    sim_phase_switch *change = allocate_items(l, count_items(d.switches), sizeof *change);
    sim_transition *transition = allocate_items(l, count_items(d.next), sizeof *transition);
    bool good = target && change && transition;
    *out = (sim_phase){.name = d.name, .target = target, .change = change, .transition = transition};
    for (const node *k = first_of(d.targets); k && good; k = k->next) {
        good = read_phase_target(l, s, k, machine, &target[out->ntarget++]);
    }
    for (const node *k = first_of(d.switches); k && good; k = k->next) {
        good = read_switch(l, s, k, &change[out->nswitch++]);
    }
    for (const node *k = first_of(d.next); k && good; k = k->next) {
        good = read_transition(l, s, k, phases, &transition[out->ntransition++]);
    }
    return good;
}

static bool read_machine(loader *l, const scope *s, const controller_data *d, sim_controller *c) {
    sim_phase *phase = allocate_items(l, count_items(d->phases), sizeof *phase);
    c->phase = phase;
    for (const node *n = first_of(d->phases); n && phase; n = n->next) {
        c->nphase++;
        if (!read_phase(l, s, n, d->phases, c, &phase[c->nphase - 1])) {
            return false;
        }
    }
    return phase;
}

/* ---- all ---- */

static void read_controller(loader *l, const scope *s, const node *n, bool machines) {
    controller_data d;
    char full[MAX_NAME_BYTES + 1];
    if (!loader_read(l, n, &table_controller, &d) || machines != (d.type == SIM_PHASES)) {
        return;
    }
    sim_controller c = {.type = (sim_controller_type)d.type, .site = -1};
    sim_error why;
    if (!loader_full_name(s, d.name, full)) {
        report_once(&l->report, n, NULL, "this name with its prefixes is longer than %d bytes", MAX_NAME_BYTES);
        return;
    }
    c.name = full;
    bool good = machines                       ? read_machine(l, s, &d, &c)
                : c.type == SIM_TASK_IMPEDANCE ? read_task(l, s, &d, &c)
                                               : read_joints(l, s, &d, &c);
    if (good && sim_model_add_controller(model_of(l), &c, &why)) {
        report_once(&l->report, n, NULL, "%s", why.text);
    }
}

/* ---- events ---- */

/* Events name bodies and sensors as the scene does. */
static void read_event(loader *l, const scope *s, const node *n) {
    /* what it watches */
    const sim_model *m = model_of(l);
    event_data d;
    sim_error why;
    if (!loader_read(l, n, &table_event, &d)) {
        return;
    }
    sim_event e = {.name = d.name, .type = (sim_event_type)d.type, .second = -1, .level = d.level, .stop = d.stop};
    e.point = v3_make(d.point[0], d.point[1], d.point[2]);
    e.low = v3_make(d.min[0], d.min[1], d.min[2]);
    e.high = v3_make(d.max[0], d.max[1], d.max[2]);
    e.first = d.potential;
    if (d.body) {
        e.first = find_part(l, s, sim_model_find_body, d.body, "body", node_member(n, "body"));
        e.second = d.other ? find_part(l, s, sim_model_find_body, d.other, "body", node_member(n, "other")) : -1;
    } else if (d.sensor) {
        int k = find_part(l, s, sim_model_find_sensor, d.sensor, "sensor", node_member(n, "sensor"));
        if (k >= 0 && d.component >= sim_sensor_values(m->sensor[k].type)) {
            report_once(&l->report, n, NULL, "the sensor \"%.80s\" has no component %d", d.sensor, (int)d.component);
            k = -1;
        }
        e.first = k < 0 ? -1 : m->sensor[k].first + (int)d.component;
    }
    for (int k = 0; k < m->nsoft && d.type == SIM_LEAVES_BOX; k++) {
        if (m->soft[k].body == e.first) {
            report_once(&l->report, node_member(n, "body"), NULL,
                        "the soft body \"%.80s\" moves by its nodes, and its frame stays where it is", d.body);
            return;
        }
    }
    /* into the model */
    bool found = e.first >= 0 && (!d.other || e.second >= 0);
    if (found && sim_model_add_event(model_of(l), &e, &why)) {
        report_once(&l->report, n, NULL, "%s", why.text);
    }
}

static void read_events(loader *l) {
    const scope *whole = l->scopes;
    while (whole->older) {
        whole = whole->older;
    }
    for (const node *n = first_of(l->data.record.events); n; n = n->next) {
        read_event(l, whole, n);
    }
}

void complete_controllers(loader *l) {
    for (int machines = 0; machines < 2; machines++) {
        for (const scope *s = l->scopes; s && !l->report.no_memory; s = s->older) {
            for (const node *n = first_of(node_member(s->model, "controllers")); n; n = n->next) {
                read_controller(l, s, n, machines);
            }
        }
    }
    read_events(l);
}
