/* One body for the builder: joint, mass properties, shapes, sites.  Errors that the builder would refuse are
 * reported here first, where their place in the file is known. */
#include "base/nearest.h"
#include "math/angle.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"
#include "scene/shape/soft.h"

#include <sim/dynamics.h>
#include <stdlib.h>
#include <string.h>

/* ---- joint ---- */

/* One number for all degrees of freedom, or one for each. */
static bool spread_numbers(loader *l, const joint_data *d, const char *key, const number_list *list, int nv,
                           double *out) {
    if (list->count > 1 && list->count != nv) {
        report_once(&l->report, node_member(d->at, key), NULL, "%d numbers for a joint with %d degree%s of freedom",
                    list->count, nv, nv == 1 ? "" : "s");
        return false;
    }
    for (int i = 0; i < nv && list->count; i++) {
        out[i] = list->value[list->count == 1 ? 0 : i];
    }
    return true;
}

static bool read_axes(loader *l, const joint_data *d, sim_body_def *def) {
    def->axis = v3_make(d->axis[0], d->axis[1], d->axis[2]);
    def->axis2 = v3_make(d->axis2[0], d->axis2[1], d->axis2[2]);
    /* normalise both axes */
    double n1 = v3_direction(&def->axis), n2 = v3_direction(&def->axis2);
    const node *axis = node_member(d->at, "axis"), *axis2 = node_member(d->at, "axis2");
    const node *second = axis2 ? axis2 : axis ? axis : d->at;
    if (n1 == 0) {
        report_once(&l->report, axis, NULL, "the axis has length 0");
        return false;
    }
    if (n2 == 0) {
        report_once(&l->report, axis2, NULL, "the axis has length 0");
        return false;
    }
    /* angle between the axes: 90 degrees for planar joints, not 0 for universal ones */
    double along = fabs(v3_dot(v3_scale(1 / n1, def->axis), v3_scale(1 / n2, def->axis2)));
    if (def->joint == SIM_PLANAR && along > 1e-6) {
        report_once(&l->report, second, "the default of axis2 is [1, 0, 0]",
                    "axis2 of a planar joint must be perpendicular to axis, not at %.4g degrees",
                    acos(fmin(along, 1)) / RADIANS_PER_DEGREE);
        return false;
    }
    if (def->joint == SIM_UNIVERSAL && along > 0.999) {
        report_once(&l->report, second, "the default of axis2 is [1, 0, 0]",
                    "the two axes of a universal joint are parallel");
        return false;
    }
    return true;
}

/* Pairs of least and greatest, one for all degrees of freedom or one for each. */
static bool read_range(loader *l, const joint_data *d, sim_body_def *def) {
    /* number of pairs */
    const node *at = node_member(d->at, d->range.count ? "range" : "range_deg");
    const number_list *list = d->range.count ? &d->range : &d->range_deg;
    double unit = d->range.count ? 1 : RADIANS_PER_DEGREE;
    int nv = sim_joint_nv(def->joint), pairs = list->count / 2;
    if (pairs > 1 && pairs != nv) {
        report_once(&l->report, at, NULL, "%d pairs for a joint with %d degree%s of freedom", pairs, nv,
                    nv == 1 ? "" : "s");
        return false;
    }
    /* ends of each coordinate, in SI units */
    for (int k = 0; k < nv && pairs; k++) {
        const double *pair = list->value + (pairs == 1 ? 0 : 2 * k);
        if (pair[0] > pair[1]) {
            report_once(&l->report, at, NULL, "a range needs the lower end first, not %g, %g", pair[0], pair[1]);
            return false;
        }
        if (d->range.count) {
            doubt_coordinate(l, at, def->joint, k, fabs(pair[0]) > fabs(pair[1]) ? pair[0] : pair[1],
                             "for degrees use \"range_deg\"");
        }
        def->limit[k].low = unit * pair[0];
        def->limit[k].high = unit * pair[1];
    }
    return true;
}

/* Ends of the range, dry friction, velocity limit. */
static bool read_limits(loader *l, const joint_data *d, sim_body_def *def) {
    int nv = sim_joint_nv(def->joint);
    double stiffness[SIM_MAX_JOINT_NV], dissipation[SIM_MAX_JOINT_NV] = {0}, restitution[SIM_MAX_JOINT_NV] = {0};
    for (int k = 0; k < nv; k++) {
        stiffness[k] = INFINITY;
    }
    bool good = read_range(l, d, def);
    good &= spread_numbers(l, d, "limit_stiffness", &d->limit_stiffness, nv, stiffness);
    good &= spread_numbers(l, d, "limit_dissipation", &d->limit_dissipation, nv, dissipation);
    good &= spread_numbers(l, d, "limit_restitution", &d->limit_restitution, nv, restitution);
    good &= spread_numbers(l, d, "friction", &d->friction, nv, def->friction);
    good &= spread_numbers(l, d, "velocity_limit", &d->velocity_limit, nv, def->velocity_limit);
    for (int k = 0; k < nv; k++) {
        def->limit[k].stiffness = stiffness[k];
        def->limit[k].dissipation = dissipation[k];
        def->limit[k].restitution = restitution[k];
    }
    return good;
}

static bool read_joint(loader *l, const joint_data *d, sim_body_def *def) {
    int nv = sim_joint_nv(def->joint);
    bool good = read_axes(l, d, def);
    /* springs and dampers, then ranges */
    def->pitch = d->pitch;
    for (int k = 0; k < 2; k++) {
        def->spring[k] = d->spring_terms[k];
        def->damper[k] = d->damper_terms[k];
    }
    good &= spread_numbers(l, d, "stiffness", &d->stiffness, nv, def->stiffness);
    good &= spread_numbers(l, d, "damping", &d->damping, nv, def->damping);
    good &= spread_numbers(l, d, "armature", &d->armature, nv, def->armature);
    good &= spread_numbers(l, d, "rest", &d->rest, nv, def->rest);
    good &= read_limits(l, d, def);
    for (int k = 0; good && k < nv && (def->joint == SIM_BALL || def->joint == SIM_FREE); k++) {
        if (def->stiffness[k] != def->stiffness[k - k % 3]) {
            report_once(&l->report, node_member(d->at, "stiffness"), NULL,
                        "a %s joint has one stiffness for all directions%s", sim_joint_name(def->joint),
                        def->joint == SIM_FREE ? ", and one for all turns" : "");
            good = false;
        }
    }
    return good;
}

static bool read_efforts(loader *l, const joint_data *d, entry *e) {
    /* the same in both directions */
    int nv = sim_joint_nv(e->type), pairs = d->effort_range.count / 2;
    double effort[SIM_MAX_JOINT_NV];
    const node *at = node_member(d->at, "effort_range");
    for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
        effort[k] = INFINITY;
    }
    bool good = spread_numbers(l, d, "effort", &d->effort, nv, effort);
    for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
        e->effort_range[k][0] = -effort[k];
        e->effort_range[k][1] = effort[k];
    }
    /* or a range of its own */
    if (pairs > 1 && pairs != nv) {
        report_once(&l->report, at, NULL, "%d pairs for %d degree%s of freedom", pairs, nv, nv == 1 ? "" : "s");
        return false;
    }
    for (int k = 0; k < nv && pairs; k++) {
        memcpy(e->effort_range[k], d->effort_range.value + (pairs > 1 ? 2 * k : 0), sizeof e->effort_range[k]);
        if (!(e->effort_range[k][0] < e->effort_range[k][1])) {
            report_once(&l->report, at, NULL, "expected the lesser number first, not [%g, %g]", e->effort_range[k][0],
                        e->effort_range[k][1]);
            return false;
        }
    }
    return good;
}

/* ---- mass properties ---- */

static bool read_inertia(loader *l, const inertia_data *d, sim_inertia *out) {
    pose X = {.p = {d->com[0], d->com[1], d->com[2]}};
    if (!placement_read_axes(&l->report, d, &X.R)) {
        return false;
    }
    const double *m = d->matrix;
    sim_inertia own = {.mass = d->mass, .moment = {m[0], m[1], m[2], m[3], m[4], m[5]}};
    if (node_member(d->at, "moments")) {
        own.moment = (sym3){d->moments[0], d->moments[1], d->moments[2], 0, 0, 0};
    }
    *out = sim_inertia_placed(&own, &X);
    sim_error why;
    if (sim_inertia_check(out, &why)) {
        report_once(&l->report, d->at, NULL, "%s", why.text);
        return false;
    }
    return true;
}

static bool set_body_inertia(loader *l, const entry *e, const body_data *b, sim_body_def *def) {
    bool good = shapes_add_mass(l, e, b, &def->inertia);
    if (b->inertia.at) {
        good &= read_inertia(l, &b->inertia, &def->inertia);
    }
    return good;
}

/* ---- resistance in a fluid ---- */

static void build_drag(loader *l, const entry *e, const node *list) {
    /* its parts */
    for (const node *n = list ? list->first : NULL; n; n = n->next) {
        drag_data d;
        sim_drag drag = sim_drag_default();
        if (!loader_read(l, n, &table_drag, &d) || !placement_read(&l->report, &d.pose, &drag.pose)) {
            continue;
        }
        drag.body = e->index;
        drag.type = (sim_drag_type)(d.type + 1);
        memcpy(drag.size, drag.type == SIM_DRAG_BOX ? d.size : d.radii, sizeof drag.size);
        drag.blunt = d.blunt;
        drag.slender = d.slender;
        drag.angular = d.angular;
        drag.kutta = d.kutta;
        drag.magnus = d.magnus;
        sim_builder_add_drag(l->builder, &drag);
    }
    /* an empty list: none */
    if (list && !list->first) {
        sim_builder_add_drag(l->builder, &(sim_drag){.body = e->index, .pose = pose_identity()});
    }
}

/* ---- bodies ---- */

static void note_motion(loader *l, entry *e) {
    const entry *parent = e->parent >= 0 ? &l->entries[e->parent] : NULL;
    e->moves = e->type != SIM_FIXED || (parent && parent->moves);
}

/* The coordinates of a free joint are the pose of its body; another body's name would stand for two. */
static const char *joint_name_of(const loader *l, const entry *e) {
    bool own = e->joint_name && e->type != SIM_FREE && names_find(&l->names, e->joint_name) < 0;
    return own ? e->joint_name : NULL;
}

static bool read_body(loader *l, entry *e, const body_data *b, const joint_data *joint, sim_body_def *def) {
    pose X;
    *def = sim_body_default();
    def->name = e->name;
    def->joint_name = joint_name_of(l, e);
    def->joint = e->type;
    def->parent = e->parent >= 0 ? l->entries[e->parent].index : 0;
    /* joint, and its pose in the frame of the parent */
    bool good = read_joint(l, joint, def);
    good &= read_efforts(l, joint, e);
    memcpy(def->effort_range, e->effort_range, sizeof def->effort_range);
    for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
        e->range[k][0] = def->limit[k].low;
        e->range[k][1] = def->limit[k].high;
    }
    if (!placement_read(&l->report, &b->pose, &X)) {
        return false;
    }
    X = pose_product(e->frame, X);
    def->placement = X;
    /* a free body starts at its pose: the joint frame is the world */
    if (e->type == SIM_FREE) {
        quat q = quat_from_matrix(X.R);
        const double start[7] = {X.p.x, X.p.y, X.p.z, q.w, q.x, q.y, q.z};
        memcpy(def->q, start, sizeof start);
        def->placement = pose_identity();
    }
    good &= set_body_inertia(l, e, b, def);
    good &= read_state(l, e, b, def);
    return good;
}

static bool is_soft(const entry *e) { return node_member(e->body, "soft"); }

static bool has_rigid_parent(loader *l, const entry *e) {
    if (e->parent < 0 || !is_soft(&l->entries[e->parent])) {
        return true;
    }
    const node *parent = node_member(e->body, "parent");
    report_once(&l->report, parent ? parent : e->body, NULL, "the soft body \"%.80s\" carries no other",
                l->entries[e->parent].name);
    return false;
}

/* Joints and states of joints from outside; a pattern passes over soft bodies. */
static bool has_no_joint(loader *l, const entry *e) {
    const node *state = e->q ? e->q : e->v, *given = e->joint ? e->joint : state;
    if (!given || (!e->joint && strchr(given->key, '*'))) {
        return true;
    }
    report_once(&l->report, given, "give its \"pose\" and \"v\"", "the soft body \"%.80s\" has no joint", e->name);
    return false;
}

static void build_soft_body(loader *l, entry *e) {
    body_data b;
    e->type = SIM_FIXED;
    e->read = true;
    if (!l->builder || !loader_read(l, e->body, &table_body, &b) || !has_rigid_parent(l, e) || !has_no_joint(l, e)) {
        return;
    }
    build_soft(l, e, &b);
}

static void build_body(loader *l, int i) {
    entry *e = &l->entries[i];
    body_data b;
    joint_data other;
    /* the body's keys, and its joint unless an instance gives another */
    if (!has_rigid_parent(l, e)) {
        return;
    }
    if (!loader_read(l, e->body, &table_body, &b) || (e->joint && !loader_read(l, e->joint, &table_joint, &other))) {
        return;
    }
    const joint_data *joint = e->joint ? &other : &b.joint;
    /* definition for the builder */
    sim_body_def def;
    e->type = (sim_joint_type)joint->type;
    e->read = true;
    note_motion(l, e);
    bool good = read_body(l, e, &b, joint, &def);
    if (!good || !loader_good(l)) {
        return;
    }
    e->index = sim_builder_add_body(l->builder, &def);
    if (e->index < 0) {
        loader_report_refusal(l, e->body);
        return;
    }
    build_sites(l, e);
    build_drag(l, e, b.drag);
    shapes_build(l, e, &b);
}

void build_bodies(loader *l) {
    give_initial_states(l);
    for (int i = 0; i < l->count && !l->stopped && !l->report.no_memory; i++) {
        if (!is_soft(&l->entries[l->sequence[i]])) {
            build_body(l, l->sequence[i]);
        }
    }
    /* soft ones, which may be attached to any of these */
    for (int i = 0; i < l->count && !l->stopped && !l->report.no_memory; i++) {
        if (is_soft(&l->entries[l->sequence[i]])) {
            build_soft_body(l, &l->entries[l->sequence[i]]);
        }
    }
}

void check_moving_masses(loader *l) {
    /* the first degree of freedom that moves nothing */
    const sim_model *m = l->scene->model;
    sim_derived *d = sim_derived_create(m, NULL);
    int dof = -1;
    if (!d || sim_massless_dof(d, m->q_initial, &dof)) {
        l->report.no_memory = true;
    }
    sim_derived_free(d);
    if (dof < 0) {
        return;
    }
    /* its body, and the mass that it carries */
    int i = m->dof[dof].body;
    double mass = 0;
    for (int k = i; k < m->body[i].subtree_end; k++) {
        mass += m->body[k].inertia.mass;
    }
    const entry *e = &l->entries[names_find(&l->names, m->body[i].name)];
    const char *hint = "give it an inertia, or a shape a density or a mass";
    if (mass > 0 && m->body[i].joint == SIM_SLIDER) {
        report_once(&l->report, e->body, "leave out a joint, or give one an armature",
                    "the body \"%.80s\" moves without inertia: joints that it carries move all its mass the same way",
                    e->name);
    } else if (mass > 0) {
        report_once(&l->report, e->body, hint, "the body \"%.80s\" moves without inertia: its mass is on the axis",
                    e->name);
    } else {
        report_once(&l->report, e->body, hint, "the body \"%.80s\" moves but has no mass", e->name);
    }
}
