/* A robot in URDF as a scene: bodies depth first, then constraints of mimics.
 *
 *     link            body of the same name, with its shapes and its inertia
 *     joint           `joint` and `pose` of the body that it carries
 *     mimic           constraint of type coupling: q = multiplier q_leader + offset
 *     root link       fixed to the world, free, or planar; a root link "world" is the world
 *
 * Bodies of the robot that overlap at the start have no contacts with each other: collision shapes of robots are often
 * larger than their links. */
#include "scene/urdf/urdf.h"
#include "scene/xml/robot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_zero(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* ---- joints ---- */

static void read_axis(const urdf_joint *j, double axis[3]) {
    const xml_element *e = xml_child(j->at, "axis");
    axis[0] = 1;
    axis[1] = axis[2] = 0;
    if (e) {
        xml_vector(e, "xyz", axis);
    }
}

static void put_axis(urdf_work *w, const urdf_joint *j) {
    double axis[3];
    read_axis(j, axis);
    if (is_zero(axis)) {
        return;
    }
    if (axis[0] != 0 || axis[1] != 0 || axis[2] != 1) {
        writer_put_numbers(w->out, "axis", 3, axis);
    }
    if (j->type != URDF_PLANAR) {
        return;
    }
    /* x in the plane, or y where the normal is nearly along x */
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    int k = fabs(axis[0]) < 0.9 * length ? 0 : 1;
    double along = axis[k] / length, axis2[3];
    for (int i = 0; i < 3; i++) {
        axis2[i] = (i == k) - along * axis[i] / length;
    }
    if (axis2[0] != 1) {
        writer_put_numbers(w->out, "axis2", 3, axis2);
    }
}

static void check_axes(urdf_work *w) {
    for (int k = 0; k < w->robot.njoint; k++) {
        const urdf_joint *j = &w->robot.joint[k];
        double axis[3];
        read_axis(j, axis);
        if (is_zero(axis) && j->type != URDF_FIXED && j->type != URDF_FLOATING) {
            xml_error(w->report, xml_child(j->at, "axis"), "xyz", NULL, "the axis has length 0");
            w->good = false;
        }
    }
}

static void put_limit(urdf_work *w, const urdf_joint *j) {
    /* which ends there are */
    const xml_element *limit = xml_child(j->at, "limit");
    bool ends = j->type == URDF_REVOLUTE || j->type == URDF_PRISMATIC;
    bool given = limit && (xml_text(limit, "lower") || xml_text(limit, "upper"));
    if (ends && !given) {
        xml_notice(w->report, j->at, "type", NULL, "a %s joint without lower and upper has no range",
                   xml_text(j->at, "type"));
    }
    if (!limit) {
        return;
    }
    /* range */
    double range[2], velocity = 0, effort = 0;
    xml_number(limit, "lower", &range[0]);
    xml_number(limit, "upper", &range[1]);
    w->out->here = limit->at;
    if (ends && given) {
        writer_put_numbers(w->out, "range", 2, range);
    } else if (given) {
        xml_notice(w->report, limit, NULL, NULL, "a %s joint has no range: lower and upper are ignored",
                   xml_text(j->at, "type"));
    }
    if (ends && given && range[0] == range[1]) {
        xml_notice(w->report, limit, NULL, NULL, "lower and upper are both %g: the joint cannot move", range[0]);
    }
    /* velocity, effort */
    xml_number(limit, "velocity", &velocity);
    if (velocity > 0) {
        writer_put_number(w->out, "velocity_limit", velocity);
    }
    xml_number(limit, "effort", &effort);
    if (effort > 0) {
        writer_put_number(w->out, "effort", effort);
    }
}

static void put_dynamics(urdf_work *w, const urdf_joint *j) {
    const xml_element *dynamics = xml_child(j->at, "dynamics");
    static const char *const key[2] = {"damping", "friction"};
    for (int k = 0; k < 2 && dynamics; k++) {
        double value = 0;
        w->out->here = dynamics->at;
        xml_number(dynamics, key[k], &value);
        if (value != 0) {
            writer_put_number(w->out, key[k], value);
        }
    }
}

static void put_joint(urdf_work *w, const urdf_joint *j) {
    static const char *const scene_type[URDF_JOINT_TYPES] = {"hinge", "hinge", "slider", "fixed", "free", "planar"};
    w->out->here = j->at->at;
    if (j->type == URDF_FIXED) {
        return;
    }
    writer_open(w->out, "joint", '{');
    writer_put_text(w->out, "type", scene_type[j->type]);
    if (strcmp(j->name, w->robot.link[j->child].name) != 0) {
        writer_put_text(w->out, "name", j->name);
    }
    if (j->type != URDF_FLOATING) {
        put_axis(w, j);
        put_limit(w, j);
        put_dynamics(w, j);
    }
    writer_close(w->out, '}');
}

/* ---- bodies ---- */

static void put_base_joint(urdf_work *w) {
    if (w->options.base != SIM_BASE_FIXED) {
        writer_put_text(w->out, "joint", w->options.base == SIM_BASE_FREE ? "free" : "planar");
    }
}

static bool has_shapes(const xml_element *link) { return xml_child(link, "visual") || xml_child(link, "collision"); }

static void put_body(urdf_work *w, int index) {
    const urdf_robot *r = &w->robot;
    const urdf_link *link = &r->link[index];
    const urdf_joint *joint = link->joint >= 0 ? &r->joint[link->joint] : NULL;
    /* the world is no body, but its shapes need one */
    bool world = urdf_is_world(r, index);
    if (world && !has_shapes(link->at)) {
        return;
    }
    /* name, parent, joint */
    w->out->here = link->at->at;
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "name", world ? "world_link" : link->name);
    if (joint && r->whole && !urdf_is_world(r, joint->parent)) {
        writer_put_text(w->out, "parent", r->link[joint->parent].name);
    }
    if (joint) {
        urdf_put_pose(w, "pose", xml_child(joint->at, "origin"));
        put_joint(w, joint);
    } else if (!world) {
        put_base_joint(w);
    }
    /* mass and shapes */
    urdf_put_inertia(w, link->at);
    urdf_put_shapes(w, link->at);
    writer_close(w->out, '}');
}

static void check_base(urdf_work *w) {
    const urdf_robot *r = &w->robot;
    if (urdf_is_world(r, r->base) && w->options.base != SIM_BASE_FIXED) {
        xml_error(w->report, r->link[r->base].at, "name", "fix or free the joints that it carries",
                  "the root link is the world: a free or planar base has no meaning");
        w->good = false;
    }
}

/* ---- mimics ---- */

static void put_mimic(urdf_work *w, const urdf_joint *j) {
    const urdf_robot *r = &w->robot;
    const xml_element *mimic = xml_child(j->at, "mimic");
    double ratio, offset;
    xml_number(mimic, "multiplier", &ratio);
    xml_number(mimic, "offset", &offset);
    w->out->here = mimic->at;
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "type", "coupling");
    writer_put_text(w->out, "first", j->name);
    writer_put_text(w->out, "second", r->joint[j->leader].name);
    if (ratio != 1) {
        writer_put_number(w->out, "ratio", ratio);
    }
    if (offset != 0) {
        writer_put_number(w->out, "offset", offset);
    }
    writer_close(w->out, '}');
}

static void put_mimics(urdf_work *w) {
    const urdf_robot *r = &w->robot;
    bool any = false;
    for (int k = 0; k < r->njoint; k++) {
        if (r->joint[k].leader >= 0) {
            if (!any) {
                writer_open(w->out, "constraints", '[');
            }
            any = true;
            put_mimic(w, &r->joint[k]);
        }
    }
    if (any) {
        writer_close(w->out, ']');
    }
}

/* Coordinates of all joints where those that follow none are 0; mimics run in no circle.  `path`: [njoint] work. */
static void eval_starts(const urdf_robot *r, bool *known, int *path, double *start) {
    for (int k = 0; k < r->njoint; k++) {
        int count = 0;
        for (int at = k; at >= 0 && !known[at]; at = r->joint[at].leader) {
            known[at] = true;
            path[count++] = at;
        }
        while (count > 0) {
            int at = path[--count], leader = r->joint[at].leader;
            const xml_element *mimic = leader >= 0 ? xml_child(r->joint[at].at, "mimic") : NULL;
            double ratio = 0, offset = 0;
            if (mimic) {
                xml_number(mimic, "multiplier", &ratio);
                xml_number(mimic, "offset", &offset);
            }
            start[at] = mimic ? ratio * start[leader] + offset : 0;
        }
    }
}

/* Mimics start where their leaders have them. */
static void put_initial(urdf_work *w) {
    const urdf_robot *r = &w->robot;
    bool *known = POOL_NEW(w->pool, bool, r->njoint), any = false;
    int *path = POOL_NEW(w->pool, int, r->njoint);
    double *start = POOL_NEW(w->pool, double, r->njoint);
    if (!known || !path || !start) {
        w->report->no_memory = true;
        return;
    }
    eval_starts(r, known, path, start);
    for (int k = 0; k < r->njoint; k++) {
        const xml_element *mimic = xml_child(r->joint[k].at, "mimic");
        if (!isfinite(start[k])) {
            xml_error(w->report, mimic, NULL, NULL, "the start of \"%.80s\" is beyond all numbers", r->joint[k].name);
            w->good = false;
        } else if (start[k] != 0) {
            if (!any) {
                writer_open(w->out, "initial", '{');
            }
            any = true;
            w->out->here = mimic->at;
            writer_put_number(w->out, r->joint[k].name, start[k]);
        }
    }
    if (any) {
        writer_close(w->out, '}');
    }
}

/* The scene; of a robot that is no tree, what can be looked at. */
static void put_robot(urdf_work *w, const xml_element *root) {
    w->out->here = root->at;
    writer_open(w->out, NULL, '{');
    writer_put_number(w->out, "sim", 1);
    if (xml_text(root, "name")) {
        writer_put_text(w->out, "name", xml_text(root, "name"));
    }
    writer_put_text(w->out, "exclude", "initial");
    writer_open(w->out, "bodies", '[');
    for (int k = 0; k < w->robot.nlink; k++) {
        put_body(w, w->robot.order[k]);
    }
    w->out->here = root->at;
    writer_close(w->out, ']');
    if (w->robot.whole) {
        put_mimics(w);
        put_initial(w);
    }
    xml_say_undrawn(w->report, w->undrawn, w->nundrawn, "filename", w->undrawn_why);
    writer_close(w->out, '}');
}

bool urdf_translate(urdf_work *w, xml_element *root) {
    /* by the tables; later stages find their errors in what is left */
    bool right = xml_check(w->report, w->pool, root, &table_robot, &w->allowed);
    w->good = !root->unusable;
    if (!w->good || !urdf_read_tree(w, root) || !urdf_list_colors(w, root)) {
        names_free(&w->colors.names);
        return false;
    }
    if (w->robot.whole) {
        check_base(w);
    }
    check_axes(w);
    put_robot(w, root);
    names_free(&w->colors.names);
    w->report->no_memory |= w->out->out.failed;
    w->good &= right && !w->out->out.failed;
    return w->good;
}
