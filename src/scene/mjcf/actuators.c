/* Actuators: every shortcut as the general law
 *
 *     f = gain(l, l') u + bias(l, l'),   gain = g0 + g1 l + g2 l',   bias = b0 + b1 l + b2 l',   l = gear q
 *
 * with the control input u, or an activation that follows it.
 *
 *     motor        gain 1
 *     position     gain kp, bias -kp l - kv l'; a time constant filters u
 *     velocity     gain kv, bias -kv l'
 *     intvelocity  as position, of the integral of u
 *     damper       gain -kv l', u >= 0
 *     cylinder     gain A (area), bias as given, u filtered
 *     muscle       force, length and velocity curves of muscles, activation with two time constants
 *     dcmotor      gain K/R, bias -K^2/R l', of the voltage u; motor constant K, resistance R
 *     adhesion     gain g0 >= 0, u >= 0, at the contacts of a body
 *
 * Shortcuts share one set of defaults: each level of defaults acts on the law that the outer levels left.
 *
 * Reference: MuJoCo, XML reference, actuator; user_api.cc for the order in which levels act. */
#include "math/angle.h"
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

typedef enum activation { NO_ACTIVATION, INTEGRATOR, FILTER, MUSCLE_ACTIVATION } activation;
typedef enum law_type { CONSTANT, AFFINE, MUSCLE_LAW } law_type;
enum { MAX_PARAMETERS = 10 };

typedef struct drive {
    activation dynamics;
    law_type gain, bias;
    double dynprm[MAX_PARAMETERS], gainprm[MAX_PARAMETERS], biasprm[MAX_PARAMETERS];
    double gear[6], ctrl[2], force[2], act[2];
    const char *ctrl_limited, *force_limited, *act_limited; /* NULL: auto */
    double inherit;
    double group;
    double motor, resistance; /* K, N m/A; R, Ohm */
} drive;

/* ---- the law, level by level ---- */

static void read_general(const xml_element *e, drive *d) {
    static const char *const dynamics[] = {"none", "integrator", "filter", "muscle"};
    static const char *const law[] = {"fixed", "affine", "muscle"};
    const char *said = xml_text(e, "dyntype"), *gain = xml_text(e, "gaintype"), *bias = xml_text(e, "biastype");
    for (int k = 0; k < 4 && said; k++) {
        d->dynamics = strcmp(said, dynamics[k]) == 0 ? (activation)k : d->dynamics;
    }
    d->dynamics = said && strcmp(said, "filterexact") == 0 ? FILTER : d->dynamics;
    for (int k = 0; k < 3; k++) {
        d->gain = gain && strcmp(gain, law[k]) == 0 ? (law_type)k : d->gain;
        d->bias = bias && strcmp(bias, law[k]) == 0 ? (law_type)k : d->bias;
    }
    if (bias && strcmp(bias, "none") == 0) {
        d->bias = CONSTANT;
        memset(d->biasprm, 0, sizeof d->biasprm);
    }
    xml_numbers(e, "dynprm", MAX_PARAMETERS, d->dynprm);
    xml_numbers(e, "gainprm", MAX_PARAMETERS, d->gainprm);
    xml_numbers(e, "biasprm", MAX_PARAMETERS, d->biasprm);
}

static void set_law(drive *d, activation dynamics, law_type gain, law_type bias) {
    d->dynamics = dynamics;
    d->gain = gain;
    d->bias = bias;
    if (bias == CONSTANT) {
        memset(d->biasprm, 0, sizeof d->biasprm);
    }
}

static void read_position(mjcf_work *w, const xml_element *e, drive *d) {
    double kp = d->gainprm[0], kv = 0, ratio = 0, time = 0;
    xml_numbers(e, "kp", 1, &kp);
    d->gainprm[0] = kp;
    d->biasprm[1] = -kp;
    bool damped = xml_numbers(e, "kv", 1, &kv) == 1, by_ratio = xml_numbers(e, "dampratio", 1, &ratio) == 1;
    if ((damped && by_ratio) || kv < 0 || ratio < 0) {
        xml_error(w->report, e, by_ratio ? "dampratio" : "kv", NULL, "kv or dampratio, not both, and not negative");
        mjcf_refuse(w);
    }
    d->biasprm[2] = damped ? -kv : by_ratio ? ratio : d->biasprm[2];
    activation dynamics = d->dynamics;
    if (xml_numbers(e, "timeconst", 1, &time) == 1) {
        d->dynprm[0] = time;
        dynamics = time > 0 ? FILTER : NO_ACTIVATION;
    }
    xml_numbers(e, "inheritrange", 1, &d->inherit);
    set_law(d, strcmp(e->name, "intvelocity") == 0 ? INTEGRATOR : dynamics, CONSTANT, AFFINE);
}

static void read_damping(const xml_element *e, drive *d) {
    bool damper = strcmp(e->name, "damper") == 0;
    double kv = !damper ? d->gainprm[0] : d->gain == AFFINE ? -d->gainprm[2] : 0;
    xml_numbers(e, "kv", 1, &kv);
    memset(damper ? d->gainprm : d->biasprm, 0, sizeof d->gainprm);
    if (damper) {
        d->gainprm[2] = -kv;
        d->ctrl_limited = "true";
        set_law(d, NO_ACTIVATION, AFFINE, CONSTANT);
    } else {
        d->gainprm[0] = kv;
        d->biasprm[2] = -kv;
        set_law(d, NO_ACTIVATION, CONSTANT, AFFINE);
    }
}

static void read_cylinder(const xml_element *e, drive *d) {
    double diameter = -1;
    xml_numbers(e, "timeconst", 1, &d->dynprm[0]);
    xml_numbers(e, "bias", 3, d->biasprm);
    xml_numbers(e, "area", 1, &d->gainprm[0]);
    if (xml_numbers(e, "diameter", 1, &diameter) == 1 && diameter >= 0) {
        d->gainprm[0] = PI / 4 * diameter * diameter;
    }
    set_law(d, FILTER, CONSTANT, AFFINE);
}

/* K = sqrt(Kt Ke), or the one that is positive; of a nominal point (V, torque at rest, free speed) Ke = V / speed and
 * R = K V / torque, where the element gives no others. */
static void read_motor_constants(const xml_element *e, drive *d) {
    double nominal[3] = {0}, constant[2] = {0}, resistance = 0;
    xml_numbers(e, "motorconst", 2, constant);
    xml_numbers(e, "nominal", 3, nominal);
    if (constant[1] <= 0 && nominal[2] > 0) {
        constant[1] = nominal[0] / nominal[2];
    }
    double Kt = constant[0], Ke = constant[1];
    if (Kt > 0 || Ke > 0) {
        d->motor = Kt > 0 && Ke > 0 ? sqrt(Kt * Ke) : Kt > 0 ? Kt : Ke;
    }
    if (xml_numbers(e, "resistance", 1, &resistance) == 1) {
        d->resistance = resistance;
    } else if (nominal[1] > 0) {
        d->resistance = d->motor * nominal[0] / nominal[1];
    }
}

static void read_dc_motor(mjcf_work *w, const xml_element *e, drive *d) {
    /* law */
    read_motor_constants(e, d);
    if (!(d->motor > 0) || !(d->resistance > 0)) {
        xml_error(w->report, e, NULL, "give `motorconst` and `resistance`, or `nominal`",
                  "the %s of the motor is not positive", d->motor > 0 ? "resistance" : "constant");
        mjcf_refuse(w);
        return;
    }
    d->gainprm[0] = d->motor / d->resistance;
    memset(d->biasprm, 0, sizeof d->biasprm);
    d->biasprm[2] = -d->motor * d->gainprm[0];
    set_law(d, NO_ACTIVATION, CONSTANT, AFFINE);
    /* greatest torque, by itself or by the current */
    double most[3] = {0};
    xml_numbers(e, "saturation", 3, most);
    double torque = most[0] > 0 ? most[0] : d->motor * most[1];
    if (torque > 0) {
        d->force[0] = -torque;
        d->force[1] = torque;
        d->force_limited = "true";
    }
}

/* Values that are as in the general law take those of muscles first. */
static void read_muscle(const xml_element *e, drive *d) {
    static const double standard[9] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
    static const char *const key[7] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
    for (int k = 0; k < 9; k++) {
        d->gainprm[k] = d->gainprm[k] == (k == 0) ? standard[k] : d->gainprm[k];
    }
    d->dynprm[0] = d->dynprm[0] == 1 ? 0.01 : d->dynprm[0];
    d->dynprm[1] = d->dynprm[1] == 0 ? 0.04 : d->dynprm[1];
    xml_numbers(e, "timeconst", 2, d->dynprm);
    xml_numbers(e, "range", 2, d->gainprm);
    for (int k = 0; k < 7; k++) {
        xml_numbers(e, key[k], 1, &d->gainprm[2 + k]);
    }
    memcpy(d->biasprm, d->gainprm, sizeof d->biasprm);
    set_law(d, MUSCLE_ACTIVATION, MUSCLE_LAW, MUSCLE_LAW);
}

static void read_adhesion(const xml_element *e, drive *d) {
    xml_numbers(e, "gain", 1, &d->gainprm[0]);
    d->ctrl_limited = "true";
    set_law(d, NO_ACTIVATION, CONSTANT, CONSTANT);
}

/* An element, a default or the actuator itself, acts on what the outer levels left. */
static void read_level(mjcf_work *w, const xml_element *e, drive *d) {
    /* what all have */
    xml_numbers(e, "gear", 6, d->gear);
    xml_numbers(e, "ctrlrange", 2, d->ctrl);
    xml_numbers(e, "forcerange", 2, d->force);
    xml_numbers(e, "actrange", 2, d->act);
    xml_numbers(e, "group", 1, &d->group);
    d->ctrl_limited = xml_text(e, "ctrllimited") ? xml_text(e, "ctrllimited") : d->ctrl_limited;
    d->force_limited = xml_text(e, "forcelimited") ? xml_text(e, "forcelimited") : d->force_limited;
    d->act_limited = xml_text(e, "actlimited") ? xml_text(e, "actlimited") : d->act_limited;
    /* the law of the shortcut */
    const char *name = e->name;
    if (strcmp(name, "general") == 0) {
        read_general(e, d);
    } else if (strcmp(name, "motor") == 0) {
        d->gainprm[0] = 1;
        set_law(d, NO_ACTIVATION, CONSTANT, CONSTANT);
    } else if (strcmp(name, "position") == 0 || strcmp(name, "intvelocity") == 0) {
        read_position(w, e, d);
    } else if (strcmp(name, "velocity") == 0 || strcmp(name, "damper") == 0) {
        read_damping(e, d);
    } else if (strcmp(name, "cylinder") == 0) {
        read_cylinder(e, d);
    } else if (strcmp(name, "adhesion") == 0) {
        read_adhesion(e, d);
    } else if (strcmp(name, "dcmotor") == 0) {
        read_dc_motor(w, e, d);
    } else {
        read_muscle(e, d);
    }
}

/* The gear alone, for the range of a tendon. */
static void read_gear(mjcf_work *w, const xml_element *e, drive *d) {
    (void)w;
    xml_numbers(e, "gear", 6, d->gear);
    xml_numbers(e, "group", 1, &d->group);
}

typedef void level_reader(mjcf_work *w, const xml_element *e, drive *d);

static drive read_drive(mjcf_work *w, const mjcf_item *i, level_reader *read) {
    drive d = {.gear = {1}, .dynprm = {1}, .gainprm = {1}};
    mjcf_levels levels;
    mjcf_list_levels(i->classes, i->cls, &levels);
    for (int k = 0; k < levels.count; k++) {
        for (int again = levels.cls[k]; again >= 0; again = i->classes->item[again].again) {
            for (const xml_element *e = i->classes->item[again].at->first; e; e = e->next) {
                if (mjcf_actuator_table(e->name)) {
                    read(w, e, &d);
                }
            }
        }
    }
    read(w, i->at, &d);
    return d;
}

static bool is_off(const mjcf_work *w, const drive *d) {
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
static void inherit_range(mjcf_work *w, const xml_element *e, const mjcf_joint *j, drive *d) {
    if (!(d->inherit > 0)) {
        return;
    }
    if (!j || !j->limited || is_turning(j)) {
        xml_error(w->report, e, "inheritrange", NULL, "the joint has no range to inherit");
        mjcf_refuse(w);
        return;
    }
    double *range = d->dynamics == INTEGRATOR ? d->act : d->ctrl;
    double mean = (j->range[0] + j->range[1]) / 2, radius = d->inherit * (j->range[1] - j->range[0]) / 2;
    range[0] = mean - radius;
    range[1] = mean + radius;
    *(d->dynamics == INTEGRATOR ? &d->act_limited : &d->ctrl_limited) = "true";
}

/* ---- as a scene ---- */

static void put_row(mjcf_work *w, const char *key, const double *number, bool plain) {
    if (!plain) {
        writer_put_numbers(w->out, key, 3, number);
    }
}

static void put_law(mjcf_work *w, const drive *d) {
    double gain[3] = {d->gainprm[0]}, bias[3] = {0};
    if (d->gain == AFFINE) {
        memcpy(gain, d->gainprm, sizeof gain);
    }
    if (d->bias == AFFINE) {
        memcpy(bias, d->biasprm, sizeof bias);
    }
    put_row(w, "gain", gain, gain[0] == 1 && gain[1] == 0 && gain[2] == 0);
    put_row(w, "bias", bias, bias[0] == 0 && bias[1] == 0 && bias[2] == 0);
}

static void put_activation(mjcf_work *w, const mjcf_file *f, const xml_element *e, const drive *d) {
    static const char *const type[] = {"", "integrator", "filter", "muscle"};
    if (d->dynamics == NO_ACTIVATION) {
        return;
    }
    writer_open(w->out, "activation", '{');
    writer_put_text(w->out, "type", type[d->dynamics]);
    if (d->dynamics == FILTER) {
        writer_put_number(w->out, "time_constant", d->dynprm[0]);
    } else if (d->dynamics == MUSCLE_ACTIVATION) {
        writer_put_numbers(w->out, "time_constant", 2, d->dynprm);
    }
    if (d->dynamics != MUSCLE_ACTIVATION && is_limited(w, f, e, d->act_limited, "actrange", d->act)) {
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
static void resolve_ratio(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const mjcf_joint *j, drive *d) {
    double kp = d->gainprm[0];
    if (d->gain != CONSTANT || d->bias != AFFINE || !(d->biasprm[2] > 0) || kp != -d->biasprm[1]) {
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
        drive d = read_drive(w, &other, read_gear);
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
static void put_adhesion(mjcf_work *w, const mjcf_each *each, const mjcf_item *i, const drive *d) {
    const char *said = d->ctrl_limited ? d->ctrl_limited : "auto";
    bool limited = strcmp(said, "true") == 0 || (strcmp(said, "auto") == 0 && (d->ctrl[0] != 0 || d->ctrl[1] != 0));
    bool pulls = d->gain == CONSTANT && d->bias == CONSTANT && d->gainprm[0] >= 0 && limited && d->ctrl[0] >= 0;
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
                             const drive *d) {
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

static void put_muscle(mjcf_work *w, const mjcf_item *i, const drive *d) {
    static const char *const key[5] = {"lmin", "lmax", "vmax", "fpmax", "fvmax"};
    double length[2] = {0};
    if (d->gain != MUSCLE_LAW || d->bias != MUSCLE_LAW || memcmp(d->gainprm, d->biasprm, 9 * sizeof(double)) != 0) {
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

static void check_law(mjcf_work *w, const xml_element *e, const drive *d) {
    if (d->dynamics == FILTER && !(d->dynprm[0] > 0)) {
        xml_error(w->report, e, NULL, NULL, "the time constant of a filter is above 0, not %g", d->dynprm[0]);
        mjcf_refuse(w);
    }
}

/* For keyframes, which list inputs in the order of the file. */
static void note_drive(mjcf_work *w, const xml_element *e, const drive *d, const char *name) {
    mjcf_model *m = &w->model;
    if (mjcf_add(w, e, (void **)&m->drive, m->ndrive, &m->drive_room, sizeof *m->drive)) {
        m->drive[m->ndrive++] = (mjcf_drive){name, d->dynamics != NO_ACTIVATION};
    }
}

static void put_actuator(mjcf_work *w, mjcf_list *list, const mjcf_each *each) {
    /* what it drives, and by which law */
    const xml_element *e = each->at;
    const mjcf_file *f = each->scope->file;
    mjcf_item item = mjcf_item_of(w, each->scope, e, e->name, -1);
    drive d = read_drive(w, &item, read_level);
    if (is_off(w, &d)) {
        note_drive(w, e, &d, NULL);
        return;
    }
    const mjcf_joint *j = find_driven(w, each->scope, e);
    check_law(w, e, &d);
    inherit_range(w, e, j, &d);
    resolve_ratio(w, each->scope, e, j, &d);
    /* name, joint, gear */
    mjcf_open_item(w, list, e);
    const char *name = mjcf_name_actuator(w, each->scope, e);
    note_drive(w, e, &d, name);
    writer_put_text(w->out, "name", name);
    put_transmission(w, each, &item, j, &d);
    /* law and limits */
    if (is_limited(w, f, e, d.ctrl_limited, "ctrlrange", d.ctrl) && !w->model.files->option.no_clamp) {
        writer_put_numbers(w->out, "ctrl_range", 2, d.ctrl);
    }
    mjcf_put_delay(w, &item);
    if (d.gain == MUSCLE_LAW || d.bias == MUSCLE_LAW) {
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

const char *mjcf_name_actuator(mjcf_work *w, const mjcf_scope *s, const xml_element *e) {
    mjcf_model *m = &w->model;
    const char *name = mjcf_name(w, s, e);
    name = name ? name : mjcf_number_name(w, "actuator", m->nactuator);
    if (!mjcf_add(w, e, (void **)&m->actuator_scope, m->nactuator, &m->actuator_room, sizeof *m->actuator_scope)) {
        return name;
    }
    m->actuator_scope[m->nactuator] = s;
    mjcf_add_name(w, &m->actuators, e, "actuator", name, m->nactuator++);
    return name;
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
