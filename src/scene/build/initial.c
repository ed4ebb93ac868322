/* Initial states of joints: from their bodies, and from the `initial` of models and of the scene, which replace
 * them. */
#include "base/nearest.h"
#include "math/angle.h"
#include "model/parts/joint.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double LEAST_DOUBTED = 1e-6; /* part of a coordinate, or rad or m: written with six digits */

/* The k-th coordinate of a joint is an angle that hardly anyone means to be more than a turn: not of a screw. */
static bool is_angle(sim_joint_type type, int k) { return joint_is_angle(type, k) && type != SIM_SCREW; }

/* More than a turn in radians may have been meant in degrees.  Numbers out of reach stand for no end where a joint has
 * several degrees of freedom. */
void doubt_coordinate(loader *l, const node *at, sim_joint_type type, int k, double angle, const char *hint) {
    const double out_of_reach = 1000;
    if (is_angle(type, k) && fabs(angle) > 2 * PI && (type == SIM_HINGE || fabs(angle) < out_of_reach)) {
        report_warning(&l->report, at, hint, "%g rad are %.3g turns", angle, fabs(angle) / (2 * PI));
    }
}

static double beyond_range(const sim_model *m, const sim_dof *dof) {
    double q = dof->coordinate >= 0 ? m->q_initial[dof->coordinate] : 0;
    double beyond = fmax(dof->limit.low - q, q - dof->limit.high);
    return dof->coordinate >= 0 && beyond > LEAST_DOUBTED * fmax(1, fabs(q)) ? beyond : 0;
}

void doubt_starts(loader *l) {
    /* the first, and how many more */
    const sim_model *m = l->scene->model;
    const sim_dof *first = NULL;
    int more = -1;
    for (int j = 0; j < m->nv; j++) {
        if (beyond_range(m, &m->dof[j]) > 0) {
            first = first ? first : &m->dof[j];
            more++;
        }
    }
    if (!first) {
        return;
    }
    const entry *e = &l->entries[names_find(&l->names, m->body[first->body].name)];
    const char *unit = first->turns ? "rad" : "m";
    char others[48] = "";
    if (more > 0) {
        snprintf(others, sizeof others, ", and %d more start%s so", more, more == 1 ? "s" : "");
    }
    report_warning(&l->report, e->body, NULL, "the joint of \"%.80s\" starts at %.6g %s, past its range by %.3g %s%s",
                   e->name, m->q_initial[first->coordinate], unit, beyond_range(m, first), unit, others);
}

static bool right_count(loader *l, const node *at, const entry *e, int count, int wanted, const char *what) {
    if (count == wanted) {
        return true;
    }
    if (wanted == 0) {
        report_once(&l->report, at, NULL, "the joint of \"%.80s\" is fixed: it has no %s", e->name, what);
    } else {
        report_once(&l->report, at, NULL, "%d number%s for the %s joint of \"%.80s\", which takes %d", count,
                    count == 1 ? "" : "s", sim_joint_name(e->type), e->name, wanted);
    }
    return false;
}

/* Coordinates of a free body stand in the frame of the scope that gives them, as long as that hangs where the body
 * does. */
static void place_free(const entry *e, const scope *s, sim_body_def *def) {
    quat q = {def->q[3], def->q[4], def->q[5], def->q[6]};
    pose X = {quat_matrix(q), v3_make(def->q[0], def->q[1], def->q[2])};
    if (s && s->resolved && s->world_parent == e->parent) {
        X = pose_product(s->world_frame, X);
    }
    q = quat_from_matrix(X.R);
    const double out[7] = {X.p.x, X.p.y, X.p.z, q.w, q.x, q.y, q.z};
    memcpy(def->q, out, sizeof out);
}

bool read_q(loader *l, const entry *e, const node *at, const number_list *list, double unit, const scope *s,
            sim_body_def *def) {
    /* one value a coordinate, degrees only where all coordinates are angles */
    if (!right_count(l, at, e, list->count, sim_joint_nq(def->joint), "coordinates")) {
        return false;
    }
    if (unit != 1 && def->joint != SIM_HINGE && def->joint != SIM_UNIVERSAL && def->joint != SIM_SCREW) {
        report_once(&l->report, at, NULL, "degrees apply to hinge, screw and universal joints, not to a %s joint",
                    sim_joint_name(def->joint));
        return false;
    }
    /* coordinates in SI units */
    for (int i = 0; i < list->count; i++) {
        def->q[i] = unit * list->value[i];
        if (unit == 1) {
            doubt_coordinate(l, at, def->joint, i, list->value[i], "for degrees use \"q_deg\"");
        }
    }
    /* the quaternion of ball and free joints, normalised */
    int turned = def->joint == SIM_BALL ? 0 : def->joint == SIM_FREE ? 3 : -1;
    if (turned >= 0) {
        quat q;
        if (!placement_quaternion(&l->report, at, def->q + turned, &q)) {
            return false;
        }
        memcpy(def->q + turned, &q, sizeof q);
    }
    if (def->joint == SIM_FREE) {
        place_free(e, s, def);
    }
    return true;
}

bool read_v(loader *l, const entry *e, const node *at, const number_list *list, const scope *s, sim_body_def *def) {
    if (!right_count(l, at, e, list->count, sim_joint_nv(def->joint), "velocities")) {
        return false;
    }
    memcpy(def->v, list->value, (size_t)list->count * sizeof *def->v);
    if (def->joint == SIM_FREE && s && s->resolved && s->world_parent == e->parent) {
        v3 v = m3_times(s->world_frame.R, v3_make(def->v[0], def->v[1], def->v[2]));
        def->v[0] = v.x;
        def->v[1] = v.y;
        def->v[2] = v.z;
    }
    return true;
}

/* The value of "q", "q_deg" or "v": a member of an object, or the whole value where it stands for "q". */
static const node *value_of(const node *n, const char *key) {
    const node *member = node_member(n, key);
    return member ? member : n;
}

/* A pattern passes over bodies that cannot move; a name does not. */
static const node *meant_for(const entry *e, const node *given) {
    return given && e->type == SIM_FIXED && strchr(given->key, '*') ? NULL : given;
}

bool read_state(loader *l, const entry *e, const body_data *b, sim_body_def *def) {
    bool good = true;
    initial_data q, v;
    /* q: of the scene's `initial` before the body's own */
    const node *given_q = meant_for(e, e->q), *given_v = meant_for(e, e->v);
    const node *own = b->q.count ? node_member(b->at, "q") : node_member(b->at, "q_deg");
    if (given_q && loader_read(l, given_q, &table_initial, &q)) {
        bool plain = q.q.count > 0;
        good &= read_q(l, e, value_of(given_q, plain ? "q" : "q_deg"), plain ? &q.q : &q.q_deg,
                       plain ? 1 : RADIANS_PER_DEGREE, e->q_scope, def);
    } else if (own && def->joint == SIM_FREE) {
        report_once(&l->report, own, NULL, "a free body starts at its pose: give \"pose\" instead");
        good = false;
    } else if (own) {
        good &= read_q(l, e, own, b->q.count ? &b->q : &b->q_deg, b->q.count ? 1 : RADIANS_PER_DEGREE, NULL, def);
    }
    /* v: the same order */
    if (given_v && loader_read(l, given_v, &table_initial, &v)) {
        good &= read_v(l, e, value_of(given_v, "v"), &v.v, e->v_scope, def);
    } else if (b->v.count) {
        good &= read_v(l, e, node_member(b->at, "v"), &b->v, e->scope, def);
    }
    return good;
}

/* ---- from outside the bodies ---- */

static void give_state(loader *l, entry *e, const scope *s, const node *n, void *context) {
    (void)l, (void)context;
    const node *v = node_member(n, "v");
    bool q = n->kind != NODE_OBJECT || node_member(n, "q") || node_member(n, "q_deg");
    if (q) {
        e->q = n;
        e->q_scope = s;
    }
    if (v) {
        e->v = n;
        e->v_scope = s;
    }
}

/* A value of `initial`, given to the joints that its key names. */
static void give_named(loader *l, const scope *s, const node *n, give_function *give, void *context) {
    char pattern[MAX_NAME_BYTES + 1];
    if (!loader_full_name(s, n->key, pattern)) {
        return;
    }
    /* one body by its name */
    if (!strchr(n->key, '*')) {
        int found = loader_find_joint(l, s, n->key, n);
        if (found >= 0) {
            give(l, &l->entries[found], s, n, context);
        }
        return;
    }
    /* every body that the pattern matches */
    bool any = false;
    for (int i = s->first; i < s->end && loader_spend(l, 0, n); i++) {
        if (loader_joint_matches(l, &l->entries[i], pattern)) {
            give(l, &l->entries[i], s, n, context);
            any = true;
        }
    }
    if (!any && !l->stopped) {
        report_once(&l->report, n, NULL, "no body matches \"%.100s\"", n->key);
    }
}

void give_initial(loader *l, const scope *s, const node *initial, give_function *give, void *context) {
    for (const node *n = initial && initial->kind == NODE_OBJECT ? initial->first : NULL; n; n = n->next) {
        if (strcmp(n->key, "comment") != 0 || n->kind != NODE_TEXT) {
            give_named(l, s, n, give, context);
        }
    }
}

/* The keyframe in which an instance starts; NULL: none is asked for, or there is none of that name (reported). */
static const node *find_instance_start(loader *l, const scope *s) {
    const node *list = node_member(s->model, "keyframes");
    nearest near = {.wanted = s->start};
    char hint[160];
    for (const node *n = list && list->kind == NODE_ARRAY ? list->first : NULL; n && s->start; n = n->next) {
        const node *name = node_member(n, "name");
        if (name && name->kind == NODE_TEXT && strcmp(name->text, s->start) == 0) {
            return n;
        }
        if (name && name->kind == NODE_TEXT) {
            nearest_try(&near, name->text);
        }
    }
    if (s->start) {
        report_once(&l->report, node_member(s->instance, "start"), nearest_hint(&near, hint, sizeof hint),
                    "the model has no keyframe \"%.100s\"", s->start);
    }
    return NULL;
}

void give_initial_states(loader *l) {
    /* The newest scope first: values of outer scopes come later and replace them. */
    for (const scope *s = l->scopes; s; s = s->older) {
        give_initial(l, s, node_member(s->model, "initial"), give_state, NULL);
        give_initial(l, s, node_member(find_instance_start(l, s), "initial"), give_state, NULL);
    }
}
