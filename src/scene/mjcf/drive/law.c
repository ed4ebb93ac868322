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
#include "scene/mjcf/drive/law.h"
#include "math/angle.h"

#include <math.h>
#include <string.h>

/* ---- the law, level by level ---- */

static void read_general(const xml_element *e, mjcf_law *d) {
    static const char *const dynamics[] = {"none", "integrator", "filter", "muscle"};
    static const char *const law[] = {"fixed", "affine", "muscle"};
    const char *said = xml_text(e, "dyntype"), *gain = xml_text(e, "gaintype"), *bias = xml_text(e, "biastype");
    for (int k = 0; k < 4 && said; k++) {
        d->dynamics = strcmp(said, dynamics[k]) == 0 ? (mjcf_activation)k : d->dynamics;
    }
    d->dynamics = said && strcmp(said, "filterexact") == 0 ? MJCF_FILTER : d->dynamics;
    for (int k = 0; k < 3; k++) {
        d->gain = gain && strcmp(gain, law[k]) == 0 ? (mjcf_law_type)k : d->gain;
        d->bias = bias && strcmp(bias, law[k]) == 0 ? (mjcf_law_type)k : d->bias;
    }
    d->bias = bias && strcmp(bias, "none") == 0 ? MJCF_CONSTANT : d->bias;
    xml_numbers(e, "dynprm", MJCF_LAW_NUMBERS, d->dynprm);
    xml_numbers(e, "gainprm", MJCF_LAW_NUMBERS, d->gainprm);
    xml_numbers(e, "biasprm", MJCF_LAW_NUMBERS, d->biasprm);
}

static void set_law(mjcf_law *d, mjcf_activation dynamics, mjcf_law_type gain, mjcf_law_type bias) {
    d->dynamics = dynamics;
    d->gain = gain;
    d->bias = bias;
}

static void read_position(mjcf_work *w, const xml_element *e, mjcf_law *d) {
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
    mjcf_activation dynamics = d->dynamics;
    if (xml_numbers(e, "timeconst", 1, &time) == 1) {
        d->dynprm[0] = time;
        dynamics = time > 0 ? MJCF_FILTER : MJCF_NO_ACTIVATION;
    }
    xml_numbers(e, "inheritrange", 1, &d->inherit);
    set_law(d, strcmp(e->name, "intvelocity") == 0 ? MJCF_INTEGRATOR : dynamics, MJCF_CONSTANT, MJCF_AFFINE);
}

static void read_damping(const xml_element *e, mjcf_law *d) {
    bool damper = strcmp(e->name, "damper") == 0;
    double kv = !damper ? d->gainprm[0] : d->gain == MJCF_AFFINE ? -d->gainprm[2] : 0;
    xml_numbers(e, "kv", 1, &kv);
    memset(damper ? d->gainprm : d->biasprm, 0, sizeof d->gainprm);
    if (damper) {
        d->gainprm[2] = -kv;
        d->ctrl_limited = "true";
        set_law(d, MJCF_NO_ACTIVATION, MJCF_AFFINE, MJCF_CONSTANT);
    } else {
        d->gainprm[0] = kv;
        d->biasprm[2] = -kv;
        set_law(d, MJCF_NO_ACTIVATION, MJCF_CONSTANT, MJCF_AFFINE);
    }
}

static void read_cylinder(const xml_element *e, mjcf_law *d) {
    double diameter = -1;
    xml_numbers(e, "timeconst", 1, &d->dynprm[0]);
    xml_numbers(e, "bias", 3, d->biasprm);
    xml_numbers(e, "area", 1, &d->gainprm[0]);
    if (xml_numbers(e, "diameter", 1, &diameter) == 1 && diameter >= 0) {
        d->gainprm[0] = PI / 4 * diameter * diameter;
    }
    set_law(d, MJCF_FILTER, MJCF_CONSTANT, MJCF_AFFINE);
}

/* Ke of a nominal point: voltage V, torque T at rest, and speed w without load but for the damping B,
 *
 *     w = V Ke / (Ke^2 + R B),   R = Ke V / T where it is not given;   V / w where no Ke does so. */
static double nominal_constant(const double nominal[3], double resistance, double damping) {
    double V = nominal[0], T = nominal[1], speed = nominal[2], Ke = V / speed;
    if (damping > 0 && resistance > 0) {
        double root = V * V - 4 * resistance * damping * speed * speed;
        Ke = root > 0 ? (V + sqrt(root)) / (2 * speed) : Ke;
    } else if (damping > 0 && T > 0) {
        Ke = Ke > V * damping / T ? Ke - V * damping / T : Ke;
    }
    return Ke;
}

/* K = sqrt(Kt Ke), or the one that is positive.  The element starts from K and R of the defaults. */
static void read_motor_constants(const xml_element *e, mjcf_law *d) {
    double nominal[3] = {0}, constant[2] = {d->motor};
    xml_numbers(e, "motorconst", 2, constant);
    xml_numbers(e, "nominal", 3, nominal);
    xml_numbers(e, "resistance", 1, &d->resistance);
    if (constant[1] <= 0 && nominal[0] > 0 && nominal[2] > 0) {
        constant[1] = nominal_constant(nominal, d->resistance, d->damping[0]);
    }
    double Kt = constant[0], Ke = constant[1];
    d->motor = Kt > 0 && Ke > 0 ? sqrt(Kt * Ke) : Kt > 0 ? Kt : Ke;
    if (d->resistance == 0 && nominal[1] > 0) {
        d->resistance = d->motor * nominal[0] / nominal[1];
    }
}

static void read_dc_motor(mjcf_work *w, const xml_element *e, mjcf_law *d) {
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
    set_law(d, MJCF_NO_ACTIVATION, MJCF_CONSTANT, MJCF_AFFINE);
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
static void read_muscle(const xml_element *e, mjcf_law *d) {
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
    set_law(d, MJCF_MUSCLE_ACTIVATION, MJCF_MUSCLE_LAW, MJCF_MUSCLE_LAW);
}

static void read_adhesion(const xml_element *e, mjcf_law *d) {
    xml_numbers(e, "gain", 1, &d->gainprm[0]);
    d->ctrl_limited = "true";
    set_law(d, MJCF_NO_ACTIVATION, MJCF_CONSTANT, MJCF_CONSTANT);
}

/* Gear, damping and armature, which act besides the force and have no errors here. */
static void read_gear(mjcf_work *w, const xml_element *e, mjcf_law *d) {
    (void)w;
    xml_numbers(e, "gear", 6, d->gear);
    xml_numbers(e, "group", 1, &d->group);
    xml_numbers(e, "damping", 3, d->damping);
    xml_numbers(e, "armature", 1, &d->armature);
}

/* An element, a default or the actuator itself, acts on what the outer levels left. */
static void read_level(mjcf_work *w, const xml_element *e, mjcf_law *d) {
    /* what all have */
    read_gear(w, e, d);
    xml_numbers(e, "ctrlrange", 2, d->ctrl);
    xml_numbers(e, "forcerange", 2, d->force);
    xml_numbers(e, "actrange", 2, d->act);
    d->ctrl_limited = xml_text(e, "ctrllimited") ? xml_text(e, "ctrllimited") : d->ctrl_limited;
    d->force_limited = xml_text(e, "forcelimited") ? xml_text(e, "forcelimited") : d->force_limited;
    d->act_limited = xml_text(e, "actlimited") ? xml_text(e, "actlimited") : d->act_limited;
    /* the law of the shortcut */
    const char *name = e->name;
    if (strcmp(name, "general") == 0) {
        read_general(e, d);
    } else if (strcmp(name, "motor") == 0) {
        d->gainprm[0] = 1;
        set_law(d, MJCF_NO_ACTIVATION, MJCF_CONSTANT, MJCF_CONSTANT);
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
    if (strcmp(name, "dcmotor") != 0 && strcmp(name, "general") != 0) { /* a gain of another kind */
        d->motor = d->resistance = 0;
    }
}

typedef void level_reader(mjcf_work *w, const xml_element *e, mjcf_law *d);

static mjcf_law read_levels(mjcf_work *w, const mjcf_item *i, level_reader *read) {
    mjcf_law d = {.gear = {1}, .dynprm = {1}, .gainprm = {1}};
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

mjcf_law mjcf_read_law(mjcf_work *w, const mjcf_item *i) { return read_levels(w, i, read_level); }

mjcf_law mjcf_read_gear(mjcf_work *w, const mjcf_item *i) { return read_levels(w, i, read_gear); }
