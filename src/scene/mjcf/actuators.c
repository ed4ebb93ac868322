/* Actuators: what they act on, and their ranges; their laws are read in drive/law.c. */
#include "scene/mjcf/drive/law.h"
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

static bool is_off(const mjcf_work *w, const mjcf_law *d) {
    const mjcf_option *o = &w->model.files->option;
    return (d->group >= 0 && d->group <= 30 && (o->no_group >> (int)d->group & 1)) || o->no_actuation ||
           xml_allows(&w->allowed, "actuator");
}

/* A joint whose velocities belong to no coordinates. */
static bool is_turning(const mjcf_joint *j) { return j && j->type < MJCF_SLIDE; }

/* ---- ranges ---- */

static bool is_limited(mjcf_work *w, const mjcf_file *f, const xml_element *e, const char *said, const char *key,
                       const double range[2]) {
    bool given = range[0] != 0 || range[1] != 0;
    if (said && strcmp(said, "auto") != 0) {
        given = strcmp(said, "true") == 0;
    } else if (given && !f->compiler.auto_limits) {
        xml_error(w->report, e, key, NULL, "\"%s\" does not say whether it counts, and autolimits is false", key);
        mjcf_refuse(w);
    }
    if (given && !(range[0] < range[1])) {
        xml_error(w->report, e, key, NULL, "\"%s\" is empty: from %g to %g", key, range[0], range[1]);
        mjcf_refuse(w);
    }
    return given;
}

/* The range of the joint about its middle, `inherit` times as wide. */
static void inherit_range(mjcf_work *w, const xml_element *e, const mjcf_joint *j, mjcf_law *d) {
    if (!(d->inherit > 0)) {
        return;
    }
    if (!j || !j->limited || is_turning(j)) {
        xml_error(w->report, e, "inheritrange", NULL, "the joint has no range to inherit");
        mjcf_refuse(w);
        return;
    }
    double *range = d->dynamics == MJCF_INTEGRATOR ? d->act : d->ctrl;
    double mean = (j->range[0] + j->range[1]) / 2, radius = d->inherit * (j->range[1] - j->range[0]) / 2;
    range[0] = mean - radius;
    range[1] = mean + radius;
    *(d->dynamics == MJCF_INTEGRATOR ? &d->act_limited : &d->ctrl_limited) = "true";
}

/* ---- as a scene ---- */

static void put_row(mjcf_work *w, const char *key, const double *number, bool plain) {
    if (!plain) {
        writer_put_numbers(w->out, key, 3, number);
    }
}

static void put_law(mjcf_work *w, const mjcf_law *d) {
    double gain[3] = {d->gainprm[0]}, bias[3] = {0};
    if (d->gain == MJCF_AFFINE) {
        memcpy(gain, d->gainprm, sizeof gain);
    }
    if (d->bias == MJCF_AFFINE) {
        memcpy(bias, d->biasprm, sizeof bias);
    }
    put_row(w, "gain", gain, gain[0] == 1 && gain[1] == 0 && gain[2] == 0);
    put_row(w, "bias", bias, bias[0] == 0 && bias[1] == 0 && bias[2] == 0);
}

static void put_activation(mjcf_work *w, const mjcf_file *f, const xml_element *e, const mjcf_law *d) {
    static const char *const type[] = {"", "integrator", "filter", "muscle"};
    if (d->dynamics == MJCF_NO_ACTIVATION) {
        return;
    }
    writer_open(w->out, "activation", '{');
    writer_put_text(w->out, "type", type[d->dynamics]);
    if (d->dynamics == MJCF_FILTER) {
        writer_put_number(w->out, "time_constant", d->dynprm[0]);
    } else if (d->dynamics == MJCF_MUSCLE_ACTIVATION) {
        writer_put_numbers(w->out, "time_constant", 2, d->dynprm);
    }
    if (d->dynamics != MJCF_MUSCLE_ACTIVATION && is_limited(w, f, e, d->act_limited, "actrange", d->act)) {
        writer_put_numbers(w->out, "range", 2, d->act);
    }
    writer_close(w->out, '}');
}

/* ---- what it acts on ---- */

static const mjcf_joint *find_driven(mjcf_work *w, const mjcf_scope *s, const xml_element *e) {
    mjcf_item item = mjcf_plain(s, e);
    const char *key = xml_text(e, "joint") ? "joint" : "jointinparent";
    int found = mjcf_find(w, s, &w->model.joints, &item, key, "joint");
    return found >= 0 ? &w->model.joint[found] : NULL;
}

static const mjcf_tendon *find_pulled(mjcf_work *w, const mjcf_scope *s, const xml_element *e) {
    mjcf_item item = mjcf_plain(s, e);
    int found = mjcf_find(w, s, &w->model.tendons, &item, "tendon", "tendon");
    return found >= 0 ? &w->model.tendon[found] : NULL;
}

/* ---- what turns with it ---- */

static bool is_plain(const mjcf_law *d) {
    return d->armature == 0 && d->damping[0] == 0 && d->damping[1] == 0 && d->damping[2] == 0;
}

/* On a joint or tendon they are those of the actuator times the square of its gear; also where its force is off. */
static void add_geared(mjcf_work *w, const mjcf_each *each, const mjcf_law *d) {
    /* the joint or tendon */
    const xml_element *e = each->at;
    double least = fmin(fmin(d->damping[0], d->damping[1]), fmin(d->damping[2], d->armature));
    const mjcf_joint *j = find_driven(w, each->scope, e);
    const mjcf_tendon *t = find_pulled(w, each->scope, e);
    bool named = xml_text(e, "joint") || xml_text(e, "jointinparent") || xml_text(e, "tendon");
    if (least < 0 || !named) {
        xml_error(w->report, e, NULL, NULL,
                  named ? "damping and armature of an actuator are not negative"
                        : "damping and armature of an actuator need a joint or tendon");
        mjcf_refuse(w);
        return;
    }
    if (!j && !t) {
        return;
    }
    /* what it brings */
    double square = d->gear[0] * d->gear[0];
    double *geared = j ? w->model.joint[j - w->model.joint].geared : w->model.tendon[t - w->model.tendon].geared;
    for (int k = 0; k < 3 && !w->model.files->option.no_damper; k++) {
        geared[k] += square * d->damping[k];
    }
    *(j ? &w->model.joint[j - w->model.joint].armature : &w->model.tendon[t - w->model.tendon].armature) +=
        square * d->armature;
}

void mjcf_add_geared(mjcf_work *w) {
    mjcf_each each = mjcf_each_of(&w->model, "actuator", NULL);
    while (!xml_allows(&w->allowed, "actuator") && mjcf_next(&each)) {
        mjcf_item item = mjcf_item_of(w, each.scope, each.at, each.at->name, -1);
        mjcf_law d = mjcf_read_gear(w, &item);
        if (!is_plain(&d)) {
            add_geared(w, &each, &d);
        }
    }
}

/* ---- the law at what it acts on ---- */

/* Inertia that a transmission moves at the reference pose, seen along its length; 0: unknown. */
static double find_weight(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const mjcf_joint *j,
                          const double gear[6]) {
    mjcf_item item = mjcf_plain(s, e);
    const mjcf_tendon *tendon = find_pulled(w, s, e);
    double one = gear[0] * gear[0];
    if (j) {
        return is_turning(j) ? mjcf_ball_weight(w, j, gear) : one > 0 ? w->model.diagonal[j->v0] / one : 0;
    }
    if (tendon) {
        return one > 0 ? mjcf_tendon_weight(w, tendon) / one : 0;
    }
    int site = mjcf_find(w, s, &w->model.sites, &item, "site", "site");
    int reference = mjcf_find(w, s, &w->model.sites, &item, "refsite", "site");
    return site >= 0 && reference != -1 ? mjcf_site_weight(w, site, reference < 0 ? -1 : reference, gear) : 0;
}

/* A positive damping of a servo is a ratio: 2 ratio sqrt(kp m), with the inertia m = sum M_kk / moment_k^2 at the
 * reference pose, as in MuJoCo. */
static void resolve_ratio(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const mjcf_joint *j, mjcf_law *d) {
    double kp = d->gainprm[0];
    if (d->gain != MJCF_CONSTANT || d->bias != MJCF_AFFINE || !(d->biasprm[2] > 0) || kp != -d->biasprm[1]) {
        return;
    }
    double weight = mjcf_find_weights(w) && kp >= 0 ? find_weight(w, s, e, j, d->gear) : 0;
    if (!(weight > 0)) {
        xml_error(w->report, e, NULL, "give kv",
                  "the damping ratio needs a joint, site, or tendon without geoms, kp, a gear and a mass matrix at the "
                  "reference pose");
        mjcf_refuse(w);
        return;
    }
    d->biasprm[2] *= -2 * sqrt(kp * weight);
}

void mjcf_put_tendon_effort(mjcf_work *w, const mjcf_tendon *t) {
    /* does it count? */
    mjcf_item item = mjcf_item_of(w, t->scope, t->at, "tendon", -1);
    double range[2] = {0}, gear = 0;
    if (!mjcf_is_limited(w, t->scope->file, &item, "actuatorfrclimited", "actuatorfrcrange")) {
        return;
    }
    mjcf_numbers(&item, "actuatorfrcrange", 2, range);
    /* its actuators: forces sum in MuJoCo, forces times gears here */
    mjcf_each each = mjcf_each_of(&w->model, "actuator", NULL);
    while (mjcf_next(&each) && mjcf_spend(w, each.at)) {
        if (!xml_text(each.at, "tendon") || find_pulled(w, each.scope, each.at) != t) {
            continue;
        }
        mjcf_item other = mjcf_item_of(w, each.scope, each.at, each.at->name, -1);
        mjcf_law d = mjcf_read_gear(w, &other);
        if (gear != 0 && d.gear[0] != gear && !is_off(w, &d)) {
            xml_error(w->report, t->at, "actuatorfrcrange", "give the actuators a `forcerange`",
                      "the range of the force of several actuators of different gears together is not supported");
            mjcf_refuse(w);
            return;
        }
        gear = is_off(w, &d) ? gear : d.gear[0];
    }
    if (gear != 0) {
        const double effort[2] = {fmin(gear * range[0], gear * range[1]), fmax(gear * range[0], gear * range[1])};
        writer_put_numbers(w->out, "effort_range", 2, effort);
    }
}

static void put_site(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const char *attribute, const char *key) {
    mjcf_item item = mjcf_plain(s, e);
    int found = mjcf_find(w, s, &w->model.sites, &item, attribute, "site");
    if (found >= 0) {
        writer_put_text(w->out, key, w->model.site[found].name);
    } else if (found == -2) {
        xml_error(w->report, e, NULL, NULL, "the attribute \"%s\" is missing", attribute);
        mjcf_refuse(w);
    }
}

static void put_crank(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i) {
    double length = mjcf_number(i, "cranklength", 0);
    writer_open(w->out, "slider_crank", '{');
    put_site(w, s, i->at, "cranksite", "crank_site");
    put_site(w, s, i->at, "slidersite", "slider_site");
    writer_put_number(w->out, "length", length);
    writer_close(w->out, '}');
}

/* Contacts are pulled together: the force has no length to follow, and is not negative. */
static void put_adhesion(mjcf_work *w, const mjcf_each *each, const mjcf_item *i, const mjcf_law *d) {
    const char *said = d->ctrl_limited ? d->ctrl_limited : "auto";
    bool limited = strcmp(said, "true") == 0 || (strcmp(said, "auto") == 0 && (d->ctrl[0] != 0 || d->ctrl[1] != 0));
    bool pulls =
        d->gain == MJCF_CONSTANT && d->bias == MJCF_CONSTANT && d->gainprm[0] >= 0 && limited && d->ctrl[0] >= 0;
    int found = mjcf_find(w, each->scope, &w->model.bodies, i, "body", "body");
    if (!pulls || found == 0) {
        xml_error(
            w->report, each->at, pulls ? "body" : NULL, NULL,
            pulls
                ? "the world does not move: name the body that touches it"
                : "the contacts of a body need a fixed gain that is not negative, no bias, and a ctrlrange from 0 on");
        mjcf_refuse(w);
    } else if (found > 0) {
        writer_put_text(w->out, "contacts_of", mjcf_name_of(&w->model.bodies, found));
    }
}

/* Joint, tendon, site, crank or the contacts of a body, with its gear. */
static void put_transmission(mjcf_work *w, const mjcf_each *each, const mjcf_item *i, const mjcf_joint *j,
                             const mjcf_law *d) {
    const xml_element *e = each->at;
    bool site = false;
    /* what the element names */
    if (xml_text(e, "joint") || xml_text(e, "jointinparent")) {
        writer_put_text(w->out, "joint", j ? mjcf_joint_name(j) : "");
    } else if (xml_text(e, "tendon")) {
        int found = mjcf_find(w, each->scope, &w->model.tendons, i, "tendon", "tendon");
        writer_put_text(w->out, "tendon", found >= 0 ? mjcf_name_of(&w->model.tendons, found) : "");
    } else if (xml_text(e, "cranksite")) {
        put_crank(w, each->scope, i);
    } else if (xml_text(e, "site")) {
        site = true;
        put_site(w, each->scope, e, "site", "site");
        if (xml_text(e, "refsite")) {
            put_site(w, each->scope, e, "refsite", "reference_site");
        }
    } else if (xml_text(e, "body")) {
        put_adhesion(w, each, i, d);
        return;
    } else {
        xml_error(w->report, e, NULL, NULL, "the actuator names no joint, tendon, site, crank or body");
        mjcf_refuse(w);
    }
    /* factors */
    if (is_turning(j) && !xml_text(e, "joint")) {
        writer_put_flag(w->out, "gear_in_parent", true);
    }
    if (site || is_turning(j)) {
        writer_put_numbers(w->out, "gear", site || j->type == MJCF_FREE ? 6 : 3, d->gear);
    } else if (d->gear[0] != 1) {
        writer_put_number(w->out, "gear", d->gear[0]);
    }
}

/* ---- muscles ---- */

static void put_muscle(mjcf_work *w, const mjcf_item *i, const mjcf_law *d) {
    static const char *const key[5] = {"lmin", "lmax", "vmax", "fpmax", "fvmax"};
    double length[2] = {0};
    if (d->gain != MJCF_MUSCLE_LAW || d->bias != MJCF_MUSCLE_LAW ||
        memcmp(d->gainprm, d->biasprm, 9 * sizeof(double)) != 0) {
        xml_error(w->report, i->at, NULL, NULL, "a muscle has the same gain and bias, both of the type \"muscle\"");
        mjcf_refuse(w);
        return;
    }
    /* force and lengths, as far as they are given */
    writer_open(w->out, "muscle", '{');
    if (d->gainprm[2] >= 0) {
        writer_put_number(w->out, "force", d->gainprm[2]);
    } else if (d->gainprm[3] != 200) {
        writer_put_number(w->out, "scale", d->gainprm[3]);
    }
    if (mjcf_numbers(i, "lengthrange", 2, length) == 2 && length[0] < length[1]) {
        writer_put_numbers(w->out, "length_range", 2, length);
    }
    /* curves */
    writer_put_numbers(w->out, "range", 2, d->gainprm);
    for (int k = 0; k < 5; k++) {
        writer_put_number(w->out, key[k], d->gainprm[4 + k]);
    }
    writer_close(w->out, '}');
}

static void check_law(mjcf_work *w, const xml_element *e, const mjcf_law *d) {
    if (d->dynamics == MJCF_FILTER && !(d->dynprm[0] > 0)) {
        xml_error(w->report, e, NULL, NULL, "the time constant of a filter is above 0, not %g", d->dynprm[0]);
        mjcf_refuse(w);
    }
}

/* For keyframes, which list inputs in the order of the file. */
static void note_drive(mjcf_work *w, const xml_element *e, const mjcf_law *d, const char *name) {
    mjcf_model *m = &w->model;
    if (mjcf_add(w, e, (void **)&m->drive, m->ndrive, &m->drive_room, sizeof *m->drive)) {
        m->drive[m->ndrive++] = (mjcf_drive){name, d->dynamics != MJCF_NO_ACTIVATION};
    }
}

/* Its name, or one with its number; it is taken. */
static const char *name_actuator(mjcf_work *w, const mjcf_scope *s, const xml_element *e, bool idle) {
    mjcf_model *m = &w->model;
    const char *name = mjcf_name(w, s, e);
    name = name ? name : mjcf_number_name(w, "actuator", m->nactuator);
    if (!mjcf_add(w, e, (void **)&m->motor, m->nactuator, &m->motor_room, sizeof *m->motor)) {
        return name;
    }
    m->motor[m->nactuator] = (mjcf_motor){s, idle};
    mjcf_add_name(w, &m->actuators, e, "actuator", name, m->nactuator++);
    return name;
}

/* Sites or a tendon that no joint moves: their force moves nothing. */
static bool is_idle(mjcf_work *w, const mjcf_each *each, const mjcf_item *i) {
    static const char *const key[] = {"site", "refsite", "cranksite", "slidersite"};
    const mjcf_model *m = &w->model;
    const mjcf_tendon *tendon = find_pulled(w, each->scope, each->at);
    bool idle = tendon && tendon->still, moves = false;
    for (int k = 0; k < 4; k++) {
        int found = mjcf_find(w, each->scope, &m->sites, i, key[k], "site");
        idle |= found >= 0;
        moves |= found == -1 || (found >= 0 && m->body[m->site[found].body].clump > 0);
    }
    return idle && !moves;
}

static void put_actuator(mjcf_work *w, mjcf_list *list, const mjcf_each *each) {
    /* what it drives, and by which law */
    const xml_element *e = each->at;
    const mjcf_file *f = each->scope->file;
    mjcf_item item = mjcf_item_of(w, each->scope, e, e->name, -1);
    mjcf_law d = mjcf_read_law(w, &item);
    bool off = is_off(w, &d);
    if (off || is_idle(w, each, &item)) {
        if (!off) {
            xml_notice(w->report, e, NULL, NULL, "ignored: an actuator of what no joint moves");
        }
        name_actuator(w, each->scope, e, true);
        note_drive(w, e, &d, NULL);
        return;
    }
    const mjcf_joint *j = find_driven(w, each->scope, e);
    check_law(w, e, &d);
    inherit_range(w, e, j, &d);
    resolve_ratio(w, each->scope, e, j, &d);
    /* name, joint, gear */
    mjcf_open_item(w, list, e);
    const char *name = name_actuator(w, each->scope, e, false);
    note_drive(w, e, &d, name);
    writer_put_text(w->out, "name", name);
    put_transmission(w, each, &item, j, &d);
    /* law and limits */
    if (is_limited(w, f, e, d.ctrl_limited, "ctrlrange", d.ctrl) && !w->model.files->option.no_clamp) {
        writer_put_numbers(w->out, "ctrl_range", 2, d.ctrl);
    }
    mjcf_put_delay(w, &item);
    if (d.gain == MJCF_MUSCLE_LAW || d.bias == MJCF_MUSCLE_LAW) {
        put_muscle(w, &item, &d);
    } else {
        put_law(w, &d);
    }
    if (is_limited(w, f, e, d.force_limited, "forcerange", d.force)) {
        writer_put_numbers(w->out, "force_range", 2, d.force);
    }
    put_activation(w, f, e, &d);
    writer_close(w->out, '}');
}

void mjcf_put_actuators(mjcf_work *w) {
    mjcf_list list = {.key = "actuators"};
    mjcf_each each = mjcf_each_of(&w->model, "actuator", NULL);
    while (mjcf_next(&each)) {
        if (w->model.ndrive == 0 && xml_allows(&w->allowed, "actuator")) {
            xml_notice(w->report, each.group, NULL, NULL, "all actuators are left out");
        }
        put_actuator(w, &list, &each);
    }
    mjcf_close_list(w, &list);
}
