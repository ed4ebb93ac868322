/* Joints of bodies. */
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <string.h>

static const char *const type_name[MJCF_JOINT_TYPES] = {"free", "ball", "slide", "hinge"};

static mjcf_joint_type read_type(const mjcf_item *i) {
    const char *said = strcmp(i->at->name, "freejoint") == 0 ? "free" : mjcf_text(i, "type");
    int type = MJCF_HINGE;
    for (int k = 0; said && k < MJCF_JOINT_TYPES; k++) {
        type = strcmp(said, type_name[k]) == 0 ? k : type;
    }
    return (mjcf_joint_type)type;
}

double mjcf_polynomial(mjcf_work *w, const mjcf_item *i, const char *key, double higher[2]) {
    double term[3] = {0};
    mjcf_numbers(i, key, 3, term);
    bool brakes = strcmp(key, "damping") == 0;
    if (term[0] < 0 || (brakes && fmin(term[1], term[2]) < 0)) {
        xml_error(w->report, mjcf_holder(i, key), key, NULL, "\"%s\" is negative", key);
        mjcf_refuse(w);
    }
    higher[0] = term[1];
    higher[1] = term[2];
    return term[0];
}

void mjcf_put_terms(mjcf_work *w, const char *key, const double terms[2]) {
    if (terms[0] != 0 || terms[1] != 0) {
        writer_put_numbers(w->out, key, 2, terms);
    }
}

static void read_range(mjcf_work *w, mjcf_joint *j) {
    const mjcf_file *f = j->scope->file;
    const mjcf_item *i = &j->item;
    j->limited =
        j->type != MJCF_FREE && mjcf_is_limited(w, f, i, "limited", "range") && !w->model.files->option.no_limit;
    mjcf_numbers(i, "range", 2, j->range);
    j->margin = mjcf_number(i, "margin", 0);
    bool angle = j->type == MJCF_HINGE || j->type == MJCF_BALL;
    for (int k = 0; k < 2 && angle; k++) {
        j->range[k] = mjcf_angle(f, j->range[k]);
    }
    const xml_element *at = mjcf_holder(i, "range");
    if (j->limited && j->type == MJCF_BALL && j->range[0] != 0) {
        xml_error(w->report, at ? at : i->at, at ? "range" : NULL, NULL,
                  "the range of a ball joint begins at 0, its angle from the reference");
        mjcf_refuse(w);
    } else if (j->limited && !(j->type == MJCF_BALL ? j->range[1] >= 0 : j->range[0] < j->range[1])) {
        xml_error(w->report, at ? at : i->at, at ? "range" : NULL, NULL, "the range is empty: from %g to %g",
                  j->range[0], j->range[1]);
        mjcf_refuse(w);
    }
    /* the ends act a margin before */
    if (j->type == MJCF_BALL) {
        j->range[1] = j->limited ? fmax(j->range[1] - j->margin, 0) : j->range[1];
    } else {
        j->squeezed = j->limited && mjcf_narrow_range(j->range, j->margin);
    }
    /* forces of actuators */
    j->effort_limited = j->type > MJCF_BALL && mjcf_is_limited(w, f, i, "actuatorfrclimited", "actuatorfrcrange");
    mjcf_numbers(i, "actuatorfrcrange", 2, j->effort_range);
}

static void read_dynamics(mjcf_work *w, mjcf_joint *j) {
    /* springs, dampers, friction */
    const mjcf_item *i = &j->item;
    const mjcf_option *o = &w->model.files->option;
    double spring = mjcf_polynomial(w, i, "stiffness", j->spring_terms);
    double damper = mjcf_polynomial(w, i, "damping", j->damper_terms);
    j->stiffness = o->no_spring ? 0 : spring;
    j->damping = o->no_damper ? 0 : damper;
    for (int k = 0; k < 2; k++) {
        j->spring_terms[k] = o->no_spring ? 0 : j->spring_terms[k];
        j->damper_terms[k] = o->no_damper ? 0 : j->damper_terms[k];
    }
    mjcf_numbers(i, "springdamper", 2, j->springdamper);
    j->armature = mjcf_number(i, "armature", 0);
    j->friction = o->no_friction ? 0 : mjcf_number(i, "frictionloss", 0);
    /* references, and what a free joint cannot have */
    j->ref = mjcf_number(i, "ref", 0);
    j->springref = mjcf_number(i, "springref", 0);
    if (j->type == MJCF_HINGE) {
        j->ref = mjcf_angle(j->scope->file, j->ref);
        j->springref = mjcf_angle(j->scope->file, j->springref);
    }
    j->limit = mjcf_read_softness(i, "solreflimit", "solimplimit");
}

static void read_axis(mjcf_work *w, mjcf_joint *j, mjcf_place frame) {
    double pos[3] = {0}, axis[3] = {0, 0, 1};
    mjcf_numbers(&j->item, "pos", 3, pos);
    mjcf_numbers(&j->item, "axis", 3, axis);
    j->pos =
        j->type == MJCF_FREE ? (sim_v3){0, 0, 0} : mjcf_product(frame, (mjcf_place){mjcf_vector(pos), {1, 0, 0, 0}}).p;
    sim_pose turn = mjcf_pose(frame);
    j->axis = frame.q.w == 1 ? mjcf_vector(axis) : m3_times(turn.R, mjcf_vector(axis));
    if (j->type > MJCF_BALL && v3_norm(j->axis) < 1e-14) {
        const xml_element *at = mjcf_holder(&j->item, "axis");
        xml_error(w->report, at, "axis", NULL, "the axis has length 0");
        mjcf_refuse(w);
    }
}

/* A free joint stands alone, on a body of the world. */
static void check_free(mjcf_work *w, const mjcf_joint *j, const mjcf_body *b) {
    if (b->joint >= 0 && (j->type == MJCF_FREE || w->model.joint[b->joint].type == MJCF_FREE)) {
        xml_error(w->report, j->item.at, NULL, NULL, "a free joint is the only joint of its body");
        mjcf_refuse(w);
    }
    if (j->type == MJCF_FREE && b->parent != 0) {
        xml_error(w->report, j->item.at, NULL, NULL, "a free joint is for bodies of the world");
        mjcf_refuse(w);
    }
}

void mjcf_add_joint(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame) {
    mjcf_model *m = &w->model;
    if (!mjcf_add(w, e, (void **)&m->joint, m->njoint, &m->joint_room, sizeof *m->joint)) {
        return;
    }
    bool plain = strcmp(e->name, "freejoint") == 0;
    mjcf_joint j = {.scope = s, .body = body, .next = -1};
    j.item = plain ? mjcf_plain(s, e) : mjcf_item_of(w, s, e, "joint", cls);
    j.name = mjcf_name(w, s, e);
    j.type = read_type(&j.item);
    read_axis(w, &j, frame);
    read_range(w, &j);
    read_dynamics(w, &j);
    /* into the list of its body */
    mjcf_body *b = &m->body[body];
    check_free(w, &j, b);
    int index = m->njoint++;
    if (b->last_joint >= 0) {
        m->joint[b->last_joint].next = index;
    } else {
        b->joint = index;
    }
    b->last_joint = index;
    m->joint[index] = j;
    if (j.name) {
        mjcf_add_name(w, &m->joints, e, "joint", j.name, index);
    }
}
