/* Tendons: checks of the builder, and the trees that move them. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"
#include "model/parts/spring.h"

#include <math.h>
#include <string.h>

sim_tendon sim_tendon_default(void) {
    return (sim_tendon){.limit = sim_limit_default(),
                        .rest = {NAN, NAN},
                        .effort_range = {-INFINITY, INFINITY},
                        .width = 0.005,
                        .color = {-1, -1, -1, 1},
                        .tree = {-1, -1},
                        .moved_body = {-1, -1}};
}

bool sim_tendon_acts(const sim_tendon *t) {
    return t->limit.low > -INFINITY || t->limit.high < INFINITY || t->friction > 0 || t->armature > 0 ||
           tendon_has_spring(t) || tendon_has_damper(t);
}

static sim_status add_body(sim_builder *b, sim_tendon *t, int body) {
    return builder_add_tree(b, body, t->tree, t->moved_body);
}

/* ---- path and joints ---- */

static sim_status check_joints(sim_builder *b, sim_tendon *t) {
    for (int k = 0; k < t->njoint; k++) {
        const sim_tendon_joint *j = &t->joint[k];
        if (builder_check_dof(b, j->body, j->dof, "a tendon") || add_body(b, t, j->body)) {
            return b->error.status;
        }
        const sim_body_def *body = &b->body[j->body];
        bool ball = body->joint == SIM_BALL && j->dof == 0;
        if ((joint_coordinate_of(body->joint, j->dof) < 0 && !ball) || !isfinite(j->coefficient)) {
            return builder_refuse(b, SIM_BAD_INPUT,
                                  "tendon \"%s\": the joint of body \"%s\" has no such coordinate, or a coefficient "
                                  "that is not finite",
                                  t->name, body->name);
        }
    }
    return SIM_OK;
}

static sim_status refuse_path(sim_builder *b, const sim_tendon *t, int k, const char *why) {
    return builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": point %d of its path: %s", t->name, k, why);
}

/* Sites and shapes exist; shapes are round; divisors are positive. */
static sim_status check_point(sim_builder *b, sim_tendon *t, int k) {
    const sim_path_point *p = &t->path[k];
    if ((unsigned)p->kind >= SIM_PATH_KINDS) {
        return refuse_path(b, t, k, "not a site, a shape or a pulley");
    }
    if (p->kind == SIM_PATH_PULLEY) {
        bool proper = p->divisor > 0 && isfinite(p->divisor);
        return proper ? SIM_OK : refuse_path(b, t, k, "the divisor of a pulley must be positive");
    }
    bool around = p->kind == SIM_PATH_AROUND;
    if (p->site >= b->nsite || (p->site < 0 && !around)) {
        return refuse_path(b, t, k, "its site was not added");
    }
    if (around && (p->shape < 0 || p->shape >= b->nshape ||
                   (b->shape[p->shape].type != SIM_SPHERE && b->shape[p->shape].type != SIM_CYLINDER))) {
        return refuse_path(b, t, k, "a tendon goes around spheres and cylinders that were added before");
    }
    if (p->site >= 0 && add_body(b, t, b->site[p->site].body)) {
        return b->error.status;
    }
    return around ? add_body(b, t, b->shape[p->shape].body) : SIM_OK;
}

static bool is_kind(const sim_tendon *t, int k, sim_path_kind kind) {
    return k >= 0 && k < t->npoint && t->path[k].kind == kind;
}

/* Each branch goes from site to site; shapes stand between two sites. */
static sim_status check_path(sim_builder *b, sim_tendon *t) {
    for (int k = 0; k < t->npoint; k++) {
        if (check_point(b, t, k)) {
            return b->error.status;
        }
        bool after = is_kind(t, k - 1, SIM_PATH_SITE), before = is_kind(t, k + 1, SIM_PATH_SITE);
        bool alone = !after && !before && !is_kind(t, k - 1, SIM_PATH_AROUND) && !is_kind(t, k + 1, SIM_PATH_AROUND);
        if (t->path[k].kind == SIM_PATH_AROUND && !(after && before)) {
            return refuse_path(b, t, k, "a shape must stand between two sites");
        }
        if (t->path[k].kind == SIM_PATH_SITE && alone) {
            return refuse_path(b, t, k, "a branch needs two sites");
        }
        if (t->path[k].kind == SIM_PATH_PULLEY && !(before && (after || k == 0))) {
            return refuse_path(b, t, k, "a pulley must stand between two branches");
        }
    }
    return SIM_OK;
}

/* ---- numbers ---- */

static bool is_amount(double x) { return x >= 0 && isfinite(x); }

static sim_status check_numbers(sim_builder *b, const sim_tendon *t) {
    /* range */
    const sim_limit *l = &t->limit;
    if (!(l->low <= l->high) || l->low == INFINITY || l->high == -INFINITY) {
        return builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": its range, from %g to %g, is empty", t->name, l->low,
                              l->high);
    }
    if (!(l->stiffness > 0) || !is_amount(l->dissipation) || !(l->restitution >= 0 && l->restitution <= 1)) {
        return builder_refuse(
            b, SIM_BAD_INPUT,
            "tendon \"%s\": ends of its range: stiffness > 0, dissipation >= 0, 0 <= restitution <= 1", t->name);
    }
    /* forces, width and rest lengths */
    if (!is_amount(t->stiffness) || !is_amount(t->damping) || !is_amount(t->friction) || !is_amount(t->armature) ||
        !is_amount(t->width)) {
        return builder_refuse(
            b, SIM_BAD_INPUT,
            "tendon \"%s\": stiffness, damping, friction, armature and width must be finite and not negative", t->name);
    }
    if (!isfinite(t->spring[0] + t->spring[1]) || !is_amount(t->damper[0]) || !is_amount(t->damper[1])) {
        return builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": its spring_terms, damper_terms >= 0, are finite",
                              t->name);
    }
    const double *effort = t->effort_range;
    if (!(effort[0] < effort[1]) || isfinite(effort[0]) != isfinite(effort[1])) {
        return builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": its range of efforts needs two ends, the lower first",
                              t->name);
    }
    bool initial = isnan(t->rest[0]) && isnan(t->rest[1]);
    if (!initial && !(isfinite(t->rest[0]) && isfinite(t->rest[1]) && t->rest[0] <= t->rest[1])) {
        return builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": its rest length must be finite, the lower first",
                              t->name);
    }
    return SIM_OK;
}

static sim_status copy_lists(sim_builder *b, sim_tendon *t) {
    size_t joints = (size_t)t->njoint, points = (size_t)t->npoint;
    sim_tendon_joint *joint = POOL_NEW(b->pool, sim_tendon_joint, joints);
    sim_path_point *path = POOL_NEW(b->pool, sim_path_point, points);
    t->name = pool_text(b->pool, t->name);
    if (!joint || !path || !t->name) {
        return builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
    }
    if (joints) {
        memcpy(joint, t->joint, joints * sizeof *joint);
    }
    if (points) {
        memcpy(path, t->path, points * sizeof *path);
    }
    t->joint = joint;
    t->path = path;
    return SIM_OK;
}

int sim_builder_add_tendon(sim_builder *b, const sim_tendon *given) {
    /* a name, and either joints or a path */
    if (!b || b->error.status) {
        return -1;
    }
    if (!given->name || (given->njoint > 0) == (given->npoint > 0) || given->njoint < 0 || given->npoint < 0) {
        builder_refuse(b, SIM_BAD_INPUT, "a tendon needs a name, and either joints or a path");
        return -1;
    }
    /* its parts, and the trees that move them */
    sim_tendon t = *given;
    t.tree[0] = t.tree[1] = t.moved_body[0] = t.moved_body[1] = -1;
    if (check_numbers(b, &t) || check_joints(b, &t) || check_path(b, &t)) {
        return -1;
    }
    if (t.tree[0] < 0) {
        builder_refuse(b, SIM_BAD_INPUT, "tendon \"%s\": no joint moves it", t.name);
        return -1;
    }
    /* copy */
    if (builder_grow(b, (void **)&b->tendon, b->ntendon, &b->tendon_room, sizeof *b->tendon) || copy_lists(b, &t)) {
        return -1;
    }
    b->tendon[b->ntendon] = t;
    return b->ntendon++;
}
