/* Sensors of a scene: names to joints, actuators, tendons, sites and bodies. */
#include "scene/loader/loader.h"

#include <math.h>
#include <string.h>

/* Of what a body has as a whole, a soft one has, too. */
static bool is_of_whole(sim_sensor_type type) {
    return type == SIM_SENSE_TOUCH || type == SIM_SENSE_CENTER_OF_MASS || type == SIM_SENSE_MOMENTUM ||
           type == SIM_SENSE_CENTER_OF_MASS_VELOCITY || type == SIM_SENSE_ANGULAR_MOMENTUM;
}

/* Where a sensor stands: a site, or the frame of a body, which for `world` is that of the model. */
static bool find_place(loader *l, const scope *s, const char *site, const char *body, const node *at, int *index,
                       sim_pose *frame) {
    bool world = !site && (!body || strcmp(body, "world") == 0);
    const site_entry *found_site = site ? loader_find_site(l, s, site, at) : NULL;
    int found = site ? (found_site ? found_site->body : -1) : world ? s->world_parent : loader_find(l, s, body, at);
    *index = found >= 0 ? l->entries[found].index : 0;
    if (found_site) {
        *frame = found_site->pose;
    } else if (world) {
        *frame = s->world_frame;
    }
    return world || found >= 0;
}

static bool is_of_ball(sim_sensor_type type) {
    return type == SIM_SENSE_BALL_ORIENTATION || type == SIM_SENSE_BALL_ANGULAR_VELOCITY;
}

/* The joint of a sensor has this degree of freedom, which is a coordinate; or it is a ball. */
static bool find_sensed_joint(loader *l, const scope *s, const sensor_data *d, sim_sensor *out) {
    const node *at = node_member(d->at, "joint"), *dof_at = node_member(d->at, "dof");
    int found = loader_find_joint(l, s, d->joint, at);
    const entry *e = found >= 0 ? &l->entries[found] : NULL;
    if (!e || !e->read) {
        return false;
    }
    bool ball = is_of_ball((sim_sensor_type)d->type);
    int count = e->type == SIM_BALL || e->type == SIM_FREE ? 0 : sim_joint_nv(e->type);
    if (ball ? e->type != SIM_BALL : d->dof >= count) {
        report_once(&l->report, ball || !dof_at ? at : dof_at, NULL,
                    ball ? "the joint of \"%.80s\" is %s, not a ball joint"
                         : "the joint of \"%.80s\" (%s) has no coordinate %d",
                    e->name, sim_joint_name(e->type), (int)d->dof);
        return false;
    }
    out->body = e->index;
    out->dof = (int)d->dof;
    return true;
}

static bool find_sensed_actuator(loader *l, const scope *s, const sensor_data *d, sim_sensor *out) {
    char full[MAX_NAME_BYTES + 1];
    out->actuator = loader_full_name(s, d->actuator, full) ? names_find(&l->actuators, full) : -1;
    if (out->actuator < 0 && loader_good(l)) {
        report_once(&l->report, node_member(d->at, "actuator"), NULL, "there is no actuator \"%.100s\"%s", d->actuator,
                    s->outer ? " in this model" : "");
    }
    return out->actuator >= 0;
}

static bool find_sensed(loader *l, const scope *s, const sensor_data *d, sim_sensor *out) {
    if (d->type <= SIM_SENSE_JOINT_EFFORT || is_of_ball((sim_sensor_type)d->type)) {
        return find_sensed_joint(l, s, d, out);
    }
    if (d->actuator) {
        return find_sensed_actuator(l, s, d, out);
    }
    if (d->type == SIM_SENSE_TENDON_LENGTH || d->type == SIM_SENSE_TENDON_VELOCITY) {
        out->tendon = loader_find_tendon(l, s, d->tendon, node_member(d->at, "tendon"));
        return out->tendon >= 0;
    }
    /* a frame, and the one that it is seen from */
    if (!d->site && !d->body) {
        report_once(&l->report, d->at, NULL, "one of \"site\", \"body\" must be given");
        return false;
    }
    const node *at = node_member(d->at, d->site ? "site" : "body");
    const node *from = node_member(d->at, d->reference_site ? "reference_site" : "reference");
    int whole = d->body && !is_of_whole((sim_sensor_type)d->type) && strcmp(d->body, "world") != 0
                    ? loader_find(l, s, d->body, at)
                    : -1;
    if (whole >= 0 && !loader_has_frame(l, &l->entries[whole], at)) {
        return false;
    }
    return find_place(l, s, d->site, d->body, at, &out->body, &out->frame) &&
           find_place(l, s, d->reference_site, d->reference, from ? from : d->at, &out->reference,
                      &out->reference_frame);
}

void read_sensor(loader *l, const scope *s, const node *n) {
    sensor_data d;
    sim_sensor sensor = sim_sensor_default();
    if (!loader_read(l, n, &table_sensor, &d)) {
        return;
    }
    sensor.name = loader_claim_name(l, s, d.name, node_member(n, "name"), "sensor", &l->sensors, 0);
    if (!sensor.name) {
        return;
    }
    /* the quantity and its place, to the builder */
    sensor.type = (sim_sensor_type)d.type;
    sensor.radius = node_member(n, "radius") ? d.radius : INFINITY;
    sensor.range = d.range;
    sensor.saturation = node_member(n, "saturation") ? d.saturation : INFINITY;
    sensor.delay = d.delay;
    if (read_delay(l, n, d.delay, &sensor.delay_steps) && find_sensed(l, s, &d, &sensor) && loader_good(l) &&
        sim_builder_add_sensor(l->builder, &sensor) < 0) {
        loader_report_refusal(l, n);
    }
}
