/* Sensors: of sites, joints, actuators, frames and bodies with all that they carry.
 *
 * A frame of the type `body` is that of its centre of mass. A site with the axes of the body replaces it, so its
 * orientation is left out. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

typedef enum subject { OF_SITE, OF_TOUCH, OF_JOINT, OF_BALL, OF_TENDON, OF_ACTUATOR, OF_FRAME, OF_TREE } subject;

static const struct {
    const char *element, *type;
    subject of;
} kinds[] = {
    {"touch", "touch", OF_TOUCH},
    {"accelerometer", "accelerometer", OF_SITE},
    {"velocimeter", "velocimeter", OF_SITE},
    {"gyro", "gyro", OF_SITE},
    {"force", "force", OF_SITE},
    {"torque", "torque", OF_SITE},
    {"rangefinder", "rangefinder", OF_SITE},
    {"jointpos", "joint_position", OF_JOINT},
    {"jointvel", "joint_velocity", OF_JOINT},
    {"jointactuatorfrc", "joint_effort", OF_JOINT},
    {"ballquat", "ball_orientation", OF_BALL},
    {"ballangvel", "ball_angular_velocity", OF_BALL},
    {"tendonpos", "tendon_length", OF_TENDON},
    {"tendonvel", "tendon_velocity", OF_TENDON},
    {"actuatorfrc", "actuator_force", OF_ACTUATOR},
    {"actuatorpos", "actuator_length", OF_ACTUATOR},
    {"actuatorvel", "actuator_velocity", OF_ACTUATOR},
    {"framepos", "frame_position", OF_FRAME},
    {"framequat", "frame_orientation", OF_FRAME},
    {"framexaxis", "frame_x_axis", OF_FRAME},
    {"frameyaxis", "frame_y_axis", OF_FRAME},
    {"framezaxis", "frame_z_axis", OF_FRAME},
    {"framelinvel", "frame_velocity", OF_FRAME},
    {"frameangvel", "frame_angular_velocity", OF_FRAME},
    {"framelinacc", "frame_acceleration", OF_FRAME},
    {"frameangacc", "frame_angular_acceleration", OF_FRAME},
    {"subtreecom", "center_of_mass", OF_TREE},
    {"subtreelinvel", "center_of_mass_velocity", OF_TREE},
    {"subtreeangmom", "angular_momentum", OF_TREE},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(const xml_element *e) {
    int k = 0;
    while (k < KINDS && strcmp(kinds[k].element, e->name) != 0) {
        k++;
    }
    return k < KINDS ? k : -1;
}

/* ---- frames ---- */

static bool is_word(const char *said, const char *word) { return said && strcmp(said, word) == 0; }

/* Does the sensor read the axes of a frame?  Sites at centres of mass have others. */
static bool has_axes(const char *element) {
    return strcmp(element, "framequat") == 0 || (strncmp(element, "frame", 5) == 0 && strstr(element, "axis"));
}

/* Is the frame one that scenes can name?  As a reference it needs its axes, too. */
static bool has_frame(const char *type, const char *element, bool reference) {
    bool centre = is_word(type, "body") && !reference && !has_axes(element);
    return !type || is_word(type, "site") || is_word(type, "xbody") || centre;
}

void mjcf_list_centres(mjcf_work *w) {
    mjcf_each each = mjcf_each_of(&w->model, "sensor", NULL);
    while (mjcf_next(&each)) {
        if (!is_word(xml_text(each.at, "objtype"), "body") || has_axes(each.at->name)) {
            continue;
        }
        mjcf_item item = mjcf_plain(each.scope, each.at);
        int found = mjcf_find(w, each.scope, &w->model.bodies, &item, "objname", "body");
        if (found > 0) {
            mjcf_add_centre(w, &w->model.body[found]);
        }
    }
}

static void put_frame(mjcf_work *w, const mjcf_each *each, const char *type, const char *attribute, bool reference) {
    const mjcf_model *m = &w->model;
    mjcf_item item = mjcf_plain(each->scope, each->at);
    bool site = is_word(type, "site");
    int found = mjcf_find(w, each->scope, site ? &m->sites : &m->bodies, &item, attribute, site ? "site" : "body");
    if (found < 0) {
        return;
    }
    const char *centre = !site && is_word(type, "body") ? m->body[found].centre : NULL;
    if (site || centre) {
        writer_put_text(w->out, reference ? "reference_site" : "site", centre ? centre : m->site[found].name);
    } else {
        writer_put_text(w->out, reference ? "reference" : "body", found > 0 ? m->body[found].name : "world");
    }
}

/* ---- one sensor ---- */

/* The ball about the volume of a site. */
static void put_radius(mjcf_work *w, const xml_element *e, const mjcf_site *t) {
    const double *s = t->size;
    double radius = t->type == MJCF_SPHERE     ? s[0]
                    : t->type == MJCF_CAPSULE  ? s[0] + s[1]
                    : t->type == MJCF_CYLINDER ? hypot(s[0], s[1])
                    : t->type == MJCF_BOX      ? sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
                                               : fmax(s[0], fmax(s[1], s[2]));
    if (t->type != MJCF_SPHERE) {
        xml_notice(w->report, e, "site", NULL, "contacts count within the ball about the site, of radius %g m", radius);
    }
    writer_put_number(w->out, "radius", radius);
}

static void put_subject(mjcf_work *w, const mjcf_each *each, subject of) {
    const mjcf_model *m = &w->model;
    const xml_element *e = each->at;
    mjcf_item item = mjcf_plain(each->scope, e);
    /* one key, by what it measures */
    int found;
    switch (of) {
    case OF_SITE:
    case OF_TOUCH:
        found = mjcf_find(w, each->scope, &m->sites, &item, "site", "site");
        writer_put_text(w->out, "site", found >= 0 ? m->site[found].name : "");
        if (of == OF_TOUCH && found >= 0) {
            put_radius(w, e, &m->site[found]);
        }
        break;
    case OF_JOINT:
    case OF_BALL:
        found = mjcf_find(w, each->scope, &m->joints, &item, "joint", "joint");
        writer_put_text(w->out, "joint", found >= 0 ? mjcf_joint_name(&m->joint[found]) : "");
        break;
    case OF_TENDON:
        found = mjcf_find(w, each->scope, &m->tendons, &item, "tendon", "tendon");
        writer_put_text(w->out, "tendon", found >= 0 ? mjcf_name_of(&m->tendons, found) : "");
        break;
    case OF_ACTUATOR:
        found = mjcf_find(w, each->scope, &m->actuators, &item, "actuator", "actuator");
        writer_put_text(w->out, "actuator", found >= 0 ? mjcf_name_of(&m->actuators, found) : "");
        break;
    case OF_TREE:
        found = mjcf_find(w, each->scope, &m->bodies, &item, "body", "body");
        writer_put_text(w->out, "body", found > 0 ? m->body[found].name : "world");
        break;
    case OF_FRAME:
        put_frame(w, each, xml_text(e, "objtype"), "objname", false);
        if (xml_text(e, "refname")) {
            put_frame(w, each, xml_text(e, "reftype"), "refname", true);
        }
        break;
    }
}

/* Is the actuator or tendon left out? */
static bool is_idle(mjcf_work *w, const mjcf_each *each, subject of) {
    const mjcf_model *m = &w->model;
    mjcf_item item = mjcf_plain(each->scope, each->at);
    if (of == OF_ACTUATOR) {
        int found = mjcf_find(w, each->scope, &m->actuators, &item, "actuator", "actuator");
        return found >= 0 && m->motor[found].idle;
    }
    int found = of == OF_TENDON ? mjcf_find(w, each->scope, &m->tendons, &item, "tendon", "tendon") : -1;
    return found >= 0 && m->tendon[found].still;
}

/* Can scenes measure it?  Else one notice. */
static bool is_measured(mjcf_work *w, const mjcf_each *each, int kind) {
    const xml_element *e = each->at;
    if (kind < 0) {
        xml_notice(w->report, e, NULL, NULL, "sim has no sensor <%.40s>: it is left out", e->name);
        return false;
    }
    if (kinds[kind].of == OF_SITE && !xml_text(e, "site")) {
        xml_notice(w->report, e, NULL, NULL, "a rangefinder without a site is left out");
        return false;
    }
    if (is_idle(w, each, kinds[kind].of)) {
        xml_notice(w->report, e, NULL, NULL, "the sensor is left out with what it reads");
        return false;
    }
    bool frame = kinds[kind].of != OF_FRAME || (has_frame(xml_text(e, "objtype"), e->name, false) &&
                                                has_frame(xml_text(e, "reftype"), e->name, true));
    if (!frame) {
        xml_notice(w->report, e, NULL, "sites and xbodies have frames",
                   "the frame has no name in a scene: the sensor is left out");
    }
    return frame;
}

static void put_cutoff(mjcf_work *w, const xml_element *e) {
    double cutoff = 0;
    xml_numbers(e, "cutoff", 1, &cutoff);
    if (cutoff > 0 && (has_axes(e->name) || strcmp(e->name, "ballquat") == 0)) {
        xml_error(w->report, e, "cutoff", NULL, "orientations and axes have no cutoff");
        mjcf_refuse(w);
    } else if (cutoff > 0) {
        writer_put_number(w->out, "saturation", cutoff);
    }
}

void mjcf_put_sensors(mjcf_work *w) {
    mjcf_list list = {.key = "sensors"};
    mjcf_each each = mjcf_each_of(&w->model, "sensor", NULL);
    for (int number = 0; mjcf_next(&each); number++) {
        /* one that scenes can measure */
        const xml_element *e = each.at;
        int kind = find_kind(e);
        if (!is_measured(w, &each, kind)) {
            continue;
        }
        /* as a scene */
        const char *name = mjcf_name(w, each.scope, e);
        mjcf_open_item(w, &list, e);
        writer_put_text(w->out, "name", name ? name : mjcf_number_name(w, "sensor", number));
        writer_put_text(w->out, "type", kinds[kind].type);
        put_subject(w, &each, kinds[kind].of);
        mjcf_item item = mjcf_plain(each.scope, e);
        put_cutoff(w, e);
        mjcf_put_delay(w, &item);
        writer_close(w->out, '}');
    }
    mjcf_close_list(w, &list);
}
