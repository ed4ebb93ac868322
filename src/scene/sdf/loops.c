/* Joints that close loops, and gearboxes, as constraints.
 *
 *     fixed, ball, free hinge    weld, connected point, two connected points
 *     any other                  the link in N + 1 equal parts, N the number of such joints: each carries a part, and the
 *                                parts are welded; mass m / (N + 1), moments J / (N + 1)
 *     gearbox                    theta_2 = - ratio theta_1, the angles of two hinges to the body of reference
 *
 * Parts that are welded move as the link does, so ranges, springs and friction of the joint act as in a tree.
 * Reference: sdformat.org/spec, joint. */
#include "scene/sdf/sdf.h"

#include <math.h>
#include <string.h>

#define HINGE_ARM 0.1 /* m: between the two points of a hinge that closes a loop */
#define ALIGNED 1e-9  /* 1 - cosine between axes that are one direction */

/* Ends, spring, damper, friction or a limit of the effort. */
static bool is_free_axis(const xml_element *axis) {
    static const char *const key[3] = {"damping", "friction", "spring_stiffness"};
    const xml_element *limit = xml_child(axis, "limit"), *dynamics = xml_child(axis, "dynamics");
    double low = -SDF_UNLIMITED, high = SDF_UNLIMITED, value = 0;
    bool is_free = !xml_child(axis, "mimic");
    if (limit) {
        xml_number(limit, "lower", &low);
        xml_number(limit, "upper", &high);
    }
    for (int k = 0; k < 3 && dynamics; k++) {
        xml_number(dynamics, key[k], &value);
        is_free &= value == 0;
    }
    return is_free && low <= -SDF_UNLIMITED && high >= SDF_UNLIMITED;
}

sdf_loop sdf_loop_of(const sdf_joint *j) {
    bool hinge = strcmp(j->type, "revolute") == 0 || strcmp(j->type, "continuous") == 0;
    const xml_element *axis = xml_child(j->at, "axis");
    bool points =
        strcmp(j->type, "fixed") == 0 || strcmp(j->type, "ball") == 0 || (hinge && axis && is_free_axis(axis));
    return strcmp(j->type, "gearbox") == 0 ? SDF_GEAR : points ? SDF_POINTS : SDF_PART;
}

/* A point of the world on both links. */
static void put_connect(sdf_work *w, const sdf_joint *j, sim_v3 point, bool *any) {
    const sdf_frame *child = &w->frame[w->link[j->child].frame];
    const sdf_frame *parent = j->parent == SDF_WORLD ? NULL : &w->frame[w->link[j->parent].frame];
    sim_v3 on_child = pose_point(pose_inverse(child->world), point);
    sim_v3 on_parent = parent ? pose_point(pose_inverse(parent->world), point) : point;
    sdf_open_constraint(w, j->at, "connect", any);
    writer_put_text(w->out, "first", child->name);
    if (parent) {
        writer_put_text(w->out, "second", parent->name);
    }
    writer_put_numbers(w->out, "first_point", 3, (const double[]){on_child.x, on_child.y, on_child.z});
    writer_put_numbers(w->out, "second_point", 3, (const double[]){on_parent.x, on_parent.y, on_parent.z});
    writer_close(w->out, '}');
}

static void put_weld(sdf_work *w, const sdf_joint *j, const char *first, const char *second, sim_pose X, bool *any) {
    sdf_open_constraint(w, j->at, "weld", any);
    writer_put_text(w->out, "first", first);
    if (second) {
        writer_put_text(w->out, "second", second);
    }
    sdf_put_pose(w, "second_pose", X);
    writer_close(w->out, '}');
}

/* ---- gears ---- */

/* The hinge between a link and the body of reference of a gearbox, and its direction along an axis of the world: the
 * angle of the link from the body about the axis is `sign` times its coordinate. */
static const sdf_joint *find_hinge(sdf_work *w, int link, int body, sim_v3 axis, double *sign) {
    for (int k = 0; k < w->njoint; k++) {
        const sdf_joint *j = &w->joint[k];
        const xml_element *own = xml_child(j->at, "axis");
        bool onward = j->parent == body && j->child == link, back = j->parent == link && j->child == body;
        bool hinge = strcmp(j->type, "revolute") == 0 || strcmp(j->type, "continuous") == 0;
        if (!(onward || back) || !hinge || !own || j->dropped || j->loop == SDF_POINTS) {
            continue;
        }
        sim_v3 a = m3_times(w->frame[w->link[j->child].frame].world.R, sdf_axis_in_child(w, j, own));
        double along = v3_dot(a, axis) / fmax(v3_norm(a) * v3_norm(axis), 1e-300);
        if (fabs(along) > 1 - ALIGNED) {
            *sign = (along > 0) == onward ? 1 : -1;
            return j;
        }
    }
    return NULL;
}

/* theta_2 = - ratio theta_1, the angles of child and parent from the body of reference. */
static void put_gear(sdf_work *w, const sdf_joint *j, bool *any) {
    /* the two hinges */
    const xml_element *axis[2] = {xml_child(j->at, "axis"), xml_child(j->at, "axis2")};
    const char *name = xml_text(j->at, "gearbox_reference_body");
    const sdf_joint *hinge[2] = {NULL, NULL};
    double sign[2] = {1, 1}, ratio = 1;
    int found = name ? sdf_find_frame(w, w->frame[j->frame].scope, name, j->at, "gearbox_reference_body") : SDF_WORLD;
    int body = found >= 0 ? w->frame[found].link : SDF_WORLD;
    for (int k = 0; k < 2 && axis[0]; k++) {
        sim_v3 a = sdf_axis_in_child(w, j, k && axis[1] ? axis[1] : axis[0]);
        a = m3_times(w->frame[w->link[j->child].frame].world.R, a);
        hinge[k] = find_hinge(w, k ? j->child : j->parent, body, a, &sign[k]);
    }
    if (!hinge[0] || !hinge[1] || hinge[0] == hinge[1]) {
        xml_error(
            w->report, j->at, NULL, NULL,
            "a gearbox needs <axis>, <gearbox_reference_body>, and hinges along its axes between that body and its "
            "parent and child");
        w->good = false;
        return;
    }
    /* as a coupling */
    xml_number(j->at, "gearbox_ratio", &ratio);
    sdf_open_constraint(w, j->at, "coupling", any);
    writer_put_text(w->out, "first", sdf_axis_name(w, hinge[1], false));
    writer_put_text(w->out, "second", sdf_axis_name(w, hinge[0], false));
    writer_put_number(w->out, "ratio", -ratio * sign[0] * sign[1]);
    writer_close(w->out, '}');
}

/* ---- all ---- */

/* A ball is a connected point; a hinge two, one of them HINGE_ARM along its axis; fixed links are welded. */
static void put_loop(sdf_work *w, const sdf_joint *j, bool *any) {
    const sdf_frame *child = &w->frame[w->link[j->child].frame], *own = &w->frame[j->frame];
    const sdf_frame *parent = j->parent == SDF_WORLD ? NULL : &w->frame[w->link[j->parent].frame];
    if (j->loop == SDF_PART) {
        put_weld(w, j, sdf_part_name(w, j), child->name, pose_identity(), any);
        return;
    }
    if (j->loop == SDF_GEAR) {
        put_gear(w, j, any);
        return;
    }
    if (strcmp(j->type, "fixed") == 0) {
        put_weld(w, j, child->name, parent ? parent->name : NULL,
                 parent ? pose_relative(parent->world, child->world) : child->world, any);
        return;
    }
    put_connect(w, j, own->world.p, any);
    if (strcmp(j->type, "ball") == 0) {
        return;
    }
    sim_v3 a = sdf_axis_in_child(w, j, xml_child(j->at, "axis"));
    sim_v3 along = m3_times(child->world.R, v3_scale(HINGE_ARM / fmax(v3_norm(a), 1e-300), a));
    put_connect(w, j, v3_add(own->world.p, along), any);
}

void sdf_put_constraints(sdf_work *w) {
    bool any = false;
    for (int k = 0; k < w->njoint && w->good; k++) {
        if (w->joint[k].loop) {
            put_loop(w, &w->joint[k], &any);
        }
        sdf_put_mimics(w, &w->joint[k], &any);
    }
    if (any) {
        writer_close(w->out, ']');
    }
}
