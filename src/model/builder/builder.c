/* Builder of a model: each call checks its arguments; the first error is kept until finish. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"

#include <float.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_limit sim_limit_default(void) { return (sim_limit){.low = -INFINITY, .high = INFINITY, .stiffness = INFINITY}; }

sim_body_def sim_body_default(void) {
    sim_body_def def = {
        .joint = SIM_FREE,
        .placement = pose_identity(),
        .axis = {0, 0, 1},
        .axis2 = {1, 0, 0},
    };
    for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
        def.limit[k] = sim_limit_default();
        def.velocity_limit[k] = INFINITY;
        def.effort_range[k][0] = -INFINITY;
        def.effort_range[k][1] = INFINITY;
    }
    return def;
}

sim_shape sim_shape_default(void) {
    return (sim_shape){.type = SIM_SPHERE,
                       .size = {0.1, 0, 0},
                       .pose = pose_identity(),
                       .color = {-1, -1, -1, 1},
                       .group = 1,
                       .mask = UINT32_MAX};
}

sim_material sim_material_default(void) {
    return (sim_material){.name = "default",
                          .friction = 0.5,
                          .stiffness = INFINITY,
                          .dissipation = 0,
                          .restitution = 0,
                          .adhesion_range = 1e-4};
}

sim_builder *sim_builder_create(void) {
    sim_builder *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->pool = pool_create();
    b->gravity = v3_make(0, 0, -9.81);
    sim_body_def world = sim_body_default();
    world.name = world.joint_name = "world";
    world.joint = SIM_FIXED;
    sim_material plain = sim_material_default();
    if (!b->pool) {
        sim_fail(&b->error, SIM_NO_RESOURCE, "no memory for a model");
    }
    sim_builder_add_body(b, &world);
    sim_builder_add_material(b, &plain);
    return b;
}

void sim_builder_discard(sim_builder *b) {
    /* lists; geometries are the builder's until a model takes them */
    if (!b) {
        return;
    }
    pool_free(b->pool);
    free(b->body);
    free(b->shape);
    free(b->material);
    free(b->pair);
    free(b->exclusion);
    for (int k = 0; k < b->ngeometry; k++) {
        sim_geometry_free(b->geometry[k]);
    }
    free(b->geometry);
    free(b->actuator);
    free(b->actuator_target);
    free(b->load);
    free(b->load_target);
    free(b->equality);
    free(b->site);
    free(b->sensor);
    free(b->keyframe);
    free(b->joint_state);
    free(b->drag);
    free(b->drive);
    free(b->drive_keyframe);
    free(b->state_keyframe);
    free(b->tendon);
    free(b->soft);
    free(b->tied);
    free(b);
}

void sim_builder_gravity(sim_builder *b, sim_v3 gravity) {
    if (!b) {
        return;
    }
    if (!v3_finite(gravity)) {
        builder_refuse(b, SIM_BAD_INPUT, "gravity is not finite");
        return;
    }
    b->gravity = gravity;
}

static bool rotation_is_proper(m3 R) {
    m3 T = m3_product(m3_transpose(R), R);
    double off = fabs(T.x.x - 1) + fabs(T.y.y - 1) + fabs(T.z.z - 1) + fabs(T.x.y) + fabs(T.x.z) + fabs(T.y.z);
    return off < 1e-9 && v3_dot(R.x, v3_cross(R.y, R.z)) > 0;
}

bool builder_proper_pose(const pose *X) { return v3_finite(X->p) && rotation_is_proper(X->R); }

/* Unit axis2 at right angles to a unit axis for planar joints, merely not parallel for universal ones. */
static sim_status normalise_axes(sim_builder *b, sim_body_def *def) {
    double n1 = v3_direction(&def->axis), n2 = v3_direction(&def->axis2);
    if (n1 == 0 || n2 == 0) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": a joint axis must be a finite vector other than zero",
                              def->name);
    }
    def->axis = v3_scale(1 / n1, def->axis);
    def->axis2 = v3_scale(1 / n2, def->axis2);
    if (def->joint == SIM_UNIVERSAL || def->joint == SIM_PLANAR) {
        double along = v3_dot(def->axis, def->axis2);
        if (fabs(along) > (def->joint == SIM_PLANAR ? 1e-6 : 0.999)) {
            return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": axis2 must be %s axis", def->name,
                                  def->joint == SIM_PLANAR ? "at right angles to" : "not parallel to");
        }
        if (def->joint == SIM_PLANAR) {
            def->axis2 = v3_axpy(def->axis2, -along, def->axis);
            def->axis2 = v3_scale(1 / v3_norm(def->axis2), def->axis2);
        }
    }
    return SIM_OK;
}

static sim_status check_limit(sim_builder *b, const sim_body_def *def, int k) {
    /* ranges and velocity limits exist for single coordinates only */
    const sim_limit *l = &def->limit[k];
    const double *effort = def->effort_range[k];
    int plain = joint_coordinate_of(def->joint, k) >= 0 && def->joint != SIM_FREE;
    bool any = l->low > -INFINITY || l->high < INFINITY || def->velocity_limit[k] < INFINITY || isfinite(effort[0]);
    if (!plain && any) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": a %s joint takes no ranges and no velocity limit",
                              def->name, sim_joint_name(def->joint));
    }
    /* values */
    if (!(l->low <= l->high) || l->low == INFINITY || l->high == -INFINITY) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": the range of its joint, from %g to %g, is empty",
                              def->name, l->low, l->high);
    }
    if (!(l->stiffness > 0) || !(l->dissipation >= 0) || !isfinite(l->dissipation) ||
        !(l->restitution >= 0 && l->restitution <= 1)) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "body \"%s\": ends of a range: stiffness > 0, dissipation >= 0, 0 <= restitution <= 1",
                              def->name);
    }
    if (!(def->friction[k] >= 0) || !isfinite(def->friction[k])) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": dry friction must be finite and not negative", def->name);
    }
    if (!(def->velocity_limit[k] > 0)) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": a velocity limit must be above 0", def->name);
    }
    if (!(effort[0] < effort[1]) || isfinite(effort[0]) != isfinite(effort[1])) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": low must be below high in its range of efforts",
                              def->name);
    }
    return SIM_OK;
}

/* Terms of springs and dampers beyond the linear ones. */
static sim_status check_terms(sim_builder *b, const sim_body_def *def) {
    const double *s = def->spring, *d = def->damper;
    bool any = s[0] != 0 || s[1] != 0 || d[0] != 0 || d[1] != 0, good = fmin(d[0], d[1]) >= 0;
    bool one = def->joint == SIM_HINGE || def->joint == SIM_SLIDER || joint_pulls_vectors(def->joint);
    if ((any && !one) || !good || !isfinite(s[0] + s[1] + d[0] + d[1])) {
        return builder_refuse(
            b, SIM_BAD_INPUT,
            "body \"%s\": its spring_terms, damper_terms >= 0, are finite, of a hinge, slider, ball or free joint",
            def->name);
    }
    return SIM_OK;
}

/* A ball joint has one spring, a free joint one of its place and one of its orientation. */
static sim_status check_vector_springs(sim_builder *b, const sim_body_def *def) {
    const double *k = def->stiffness;
    for (int i = 0; i < sim_joint_nv(def->joint) && joint_pulls_vectors(def->joint); i++) {
        if (k[i] != k[i - i % 3]) {
            return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": a %s joint has one stiffness for all directions%s",
                                  def->name, sim_joint_name(def->joint),
                                  def->joint == SIM_FREE ? ", and one for all turns" : "");
        }
    }
    return SIM_OK;
}

static sim_status check_joint(sim_builder *b, sim_body_def *def) {
    /* parameters of each degree of freedom */
    const joint_facts *facts = joint_facts_of(def->joint);
    for (int k = 0; k < facts->nv; k++) {
        double least = fmin(fmin(def->armature[k], def->damping[k]), def->stiffness[k]);
        if (!(least >= 0) || !isfinite(def->armature[k]) || !isfinite(def->damping[k]) ||
            !isfinite(def->stiffness[k])) {
            return builder_refuse(b, SIM_BAD_INPUT,
                                  "body \"%s\": armature, damping and stiffness must be finite and not negative",
                                  def->name);
        }
        if (!isfinite(def->rest[k]) || !isfinite(def->v[k])) {
            return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": %s is not finite", def->name,
                                  isfinite(def->v[k]) ? "the rest coordinate of its spring" : "an initial velocity");
        }
        if (check_limit(b, def, k)) {
            return b->error.status;
        }
    }
    if (check_terms(b, def) || check_vector_springs(b, def)) {
        return b->error.status;
    }
    /* initial coordinates and pitch */
    for (int k = 0; k < facts->nq; k++) {
        if (!isfinite(def->q[k])) {
            return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": an initial coordinate is not finite", def->name);
        }
    }
    if (!isfinite(def->pitch)) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": the pitch is not finite", def->name);
    }
    return SIM_OK;
}

sim_status builder_normalise_quaternion(sim_builder *b, sim_body_def *def) {
    int at = joint_facts_of(def->joint)->quaternion;
    if (at < 0) {
        return SIM_OK;
    }
    double *q = def->q + at;
    double n = quat_norm(joint_quaternion(q));
    if (n == 0) {
        q[0] = 1;
        return SIM_OK;
    }
    if (fabs(n - 1) > 1e-3) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": the initial quaternion has length %g, not 1", def->name,
                              n);
    }
    for (int k = 0; k < 4; k++) {
        q[k] /= n;
    }
    return SIM_OK;
}

/* Bodies without any mass are frames; those that move must carry mass (dyn/mass/massless.c). */
static sim_status check_inertia(sim_builder *b, const sim_body_def *def) {
    const sim_inertia *I = &def->inertia;
    const sym3 *m = &I->moment;
    double moments = fabs(m->xx) + fabs(m->yy) + fabs(m->zz) + fabs(m->xy) + fabs(m->xz) + fabs(m->yz);
    if (I->mass == 0 && moments == 0 && v3_finite(I->com)) {
        return SIM_OK;
    }
    sim_error why;
    if (sim_inertia_check(&def->inertia, &why)) {
        return builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": %.400s", def->name, why.text);
    }
    return SIM_OK;
}

int sim_builder_add_body(sim_builder *b, const sim_body_def *given) {
    /* room */
    if (!b || b->error.status) {
        return -1;
    }
    if (builder_grow(b, (void **)&b->body, b->nbody, &b->body_room, sizeof *b->body)) {
        return -1;
    }
    /* own copy with a name */
    sim_body_def def = *given;
    char plain[32];
    snprintf(plain, sizeof plain, "body%d", b->nbody);
    def.name = pool_text(b->pool, given->name ? given->name : plain);
    def.joint_name = given->joint_name ? pool_text(b->pool, given->joint_name) : def.name;
    if (!def.name || !def.joint_name) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    /* parent, type, placement */
    if (def.parent < 0 || (b->nbody > 0 && def.parent >= b->nbody)) {
        builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": parent %d is not a body added before", def.name, def.parent);
        return -1;
    }
    if ((unsigned)def.joint >= SIM_JOINT_TYPES) {
        builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": %d is not a joint type", def.name, (int)def.joint);
        return -1;
    }
    if (!builder_proper_pose(&def.placement)) {
        builder_refuse(b, SIM_BAD_INPUT, "body \"%s\": the placement is not a finite pose with a proper rotation",
                       def.name);
        return -1;
    }
    /* normalised axes and quaternion, joint and inertia */
    if (normalise_axes(b, &def) || check_joint(b, &def) || builder_normalise_quaternion(b, &def) ||
        check_inertia(b, &def)) {
        return -1;
    }
    b->body[b->nbody] = def;
    return b->nbody++;
}

sim_status builder_check_body(sim_builder *b, int body, const char *what) {
    return body >= 0 && body < b->nbody ? SIM_OK
                                        : builder_refuse(b, SIM_BAD_INPUT, "%s: there is no body %d", what, body);
}

int sim_builder_add_shape(sim_builder *b, const sim_shape *given) {
    /* body, pose and type */
    if (!b || b->error.status || builder_check_body(b, given->body, "a shape")) {
        return -1;
    }
    if (!builder_proper_pose(&given->pose) || (unsigned)given->type >= SIM_SHAPE_TYPES) {
        builder_refuse(b, SIM_BAD_INPUT, "a shape of body \"%s\" has no proper type or pose",
                       b->body[given->body].name);
        return -1;
    }
    /* geometry and material */
    sim_geometry_type needed = sim_shape_geometry(given->type);
    if (needed < SIM_GEOMETRY_TYPES ? !given->geometry || given->geometry->type != needed : given->geometry != NULL) {
        builder_refuse(b, SIM_BAD_INPUT, "a shape of body \"%s\", type %s, needs a geometry", b->body[given->body].name,
                       sim_shape_name(given->type));
        return -1;
    }
    if (given->material < 0 || given->material >= b->nmaterial) {
        builder_refuse(b, SIM_BAD_INPUT, "a shape of body \"%s\" names material %d, which was not added",
                       b->body[given->body].name, given->material);
        return -1;
    }
    if (given->pressure &&
        (given->pressure->type != SIM_GEOMETRY_TETS || !(b->material[given->material].modulus > 0))) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "a shape of body \"%s\": a pressure field needs tetrahedra, and a material with a modulus",
                       b->body[given->body].name);
        return -1;
    }
    if (given->type == SIM_HALF_SPACE && v3_norm(given->surface_spin) > 0) {
        builder_refuse(b, SIM_BAD_INPUT, "a half-space of body \"%s\": the surface of what has no end cannot turn",
                       b->body[given->body].name);
        return -1;
    }
    if (!isfinite(v3_norm(given->surface_velocity)) || !isfinite(v3_norm(given->surface_spin)) ||
        !isfinite(v3_norm(given->friction_direction))) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "a shape of body \"%s\": surface velocity and friction direction must be finite",
                       b->body[given->body].name);
        return -1;
    }
    /* copy */
    if (builder_grow(b, (void **)&b->shape, b->nshape, &b->shape_room, sizeof *b->shape)) {
        return -1;
    }
    b->shape[b->nshape] = *given;
    b->shape[b->nshape].name = pool_text(b->pool, given->name);
    return b->nshape++;
}

int sim_builder_add_exclusion(sim_builder *b, int first, int second) {
    if (!b || b->error.status || builder_check_body(b, first, "an exclusion") ||
        builder_check_body(b, second, "an exclusion") ||
        builder_grow(b, (void **)&b->exclusion, b->nexclusion, &b->exclusion_room, sizeof *b->exclusion)) {
        return -1;
    }
    b->exclusion[b->nexclusion] = (sim_exclusion){first, second};
    return b->nexclusion++;
}

static bool is_amount(double x) { return x >= 0 && isfinite(x); }

int sim_builder_add_material(sim_builder *b, const sim_material *given) {
    if (!b || b->error.status ||
        builder_grow(b, (void **)&b->material, b->nmaterial, &b->material_room, sizeof *b->material)) {
        return -1;
    }
    /* friction, stiffness, restitution */
    if (!(given->friction >= 0 && given->friction <= SIM_MOST_FRICTION) || !(given->stiffness > 0) ||
        !(given->modulus >= 0 && given->modulus < HUGE_VAL) || !(given->dissipation >= 0) ||
        !(given->restitution >= 0 && given->restitution <= 1)) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "material \"%s\": 0 <= friction <= 1000, dissipation >= 0, stiffness > 0, modulus >= 0 and "
                       "finite, 0 <= restitution <= 1",
                       given->name ? given->name : "");
        return -1;
    }
    /* friction by direction, turning, adhesion */
    bool directed = given->friction_across != 0 && given->friction_across != given->friction;
    if (!(given->friction_across >= 0 && given->friction_across <= SIM_MOST_FRICTION) ||
        (directed && !(given->friction > 0)) || !is_amount(given->torsion) || !is_amount(given->rolling) ||
        !is_amount(given->adhesion) || !is_amount(given->adhesion_range)) {
        builder_refuse(
            b, SIM_BAD_INPUT,
            "material \"%s\": 0 <= friction_across <= 1000, with friction above 0 where they differ; torsion, "
            "rolling, adhesion and adhesion_range finite and not negative",
            given->name ? given->name : "");
        return -1;
    }
    /* copy */
    b->material[b->nmaterial] = *given;
    b->material[b->nmaterial].name = pool_text(b->pool, given->name);
    return b->nmaterial++;
}

/* Not a number: not said. */
static bool out_of(double x, double low, double high) { return x < low || x > high; }

int sim_builder_add_material_pair(sim_builder *b, const sim_material_pair *given) {
    if (!b || b->error.status || builder_grow(b, (void **)&b->pair, b->npair, &b->pair_room, sizeof *b->pair)) {
        return -1;
    }
    /* the materials, and numbers that are given */
    if (given->first < 0 || given->first >= b->nmaterial || given->second < 0 || given->second >= b->nmaterial) {
        builder_refuse(b, SIM_BAD_INPUT, "a pair of materials names material %d or %d, which was not added",
                       given->first, given->second);
        return -1;
    }
    if (out_of(given->friction, 0, SIM_MOST_FRICTION) || out_of(given->dissipation, 0, HUGE_VAL) ||
        out_of(given->restitution, 0, 1) || given->stiffness <= 0 || out_of(given->torsion, 0, DBL_MAX) ||
        out_of(given->rolling, 0, DBL_MAX) || out_of(given->adhesion, 0, DBL_MAX) ||
        out_of(given->adhesion_range, 0, DBL_MAX)) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "a pair of materials: 0 <= friction <= 1000, dissipation >= 0, stiffness > 0, 0 <= "
                       "restitution <= 1; torsion, rolling, adhesion and adhesion_range finite and not negative");
        return -1;
    }
    b->pair[b->npair] = *given;
    return b->npair++;
}

sim_status builder_check_dof(sim_builder *b, int body, int dof, const char *what) {
    if (builder_check_body(b, body, what)) {
        return b->error.status;
    }
    if (dof < 0 || dof >= sim_joint_nv(b->body[body].joint)) {
        return builder_refuse(b, SIM_BAD_INPUT, "%s: joint of body \"%s\" has no dof %d", what, b->body[body].name,
                              dof);
    }
    return SIM_OK;
}

int sim_builder_add_load(sim_builder *b, const sim_load *given, int body) {
    /* body or coordinate */
    int on_dof = given->dof >= 0;
    if (!b || b->error.status ||
        (on_dof ? builder_check_dof(b, body, given->dof, "a load") : builder_check_body(b, body, "a load"))) {
        return -1;
    }
    /* width of the track */
    if (given->track.width != (on_dof ? 1 : 6) || !v3_finite(given->point)) {
        builder_refuse(b, SIM_BAD_INPUT, "a load on body \"%s\" needs %d values a key and a finite point",
                       b->body[body].name, on_dof ? 1 : 6);
        return -1;
    }
    /* copy with a track of its own */
    sim_load load = *given;
    int targets_room = b->load_room;
    if (builder_copy_track(b, &load.track, on_dof ? 1 : 6, "a load") ||
        builder_grow(b, (void **)&b->load_target, b->nload, &targets_room, sizeof *b->load_target) ||
        builder_grow(b, (void **)&b->load, b->nload, &b->load_room, sizeof *b->load)) {
        return -1;
    }
    load.name = pool_text(b->pool, given->name ? given->name : b->body[body].name);
    b->load[b->nload] = load;
    b->load_target[b->nload] = (joint_target){body, on_dof ? given->dof : -1};
    return b->nload++;
}

/* Children lists by counting sort, then depth first with a stack of our own: a chain may be 10^5 long. */
static bool depth_first(const sim_builder *b, int *order) {
    /* memory */
    int n = b->nbody;
    int *start = calloc((size_t)n + 2, sizeof *start), *child = calloc((size_t)n, sizeof *child);
    int *stack = calloc((size_t)n, sizeof *stack);
    bool ok = start && child && stack;
    if (ok) {
        /* children by counting sort */
        for (int i = 1; i < n; i++) {
            start[b->body[i].parent + 2]++;
        }
        for (int i = 0; i < n; i++) {
            start[i + 2] += start[i + 1];
        }
        for (int i = 1; i < n; i++) {
            child[start[b->body[i].parent + 1]++] = i;
        }
        ok = builder_gather_trees(b, child + start[0], start[1] - start[0]);
        /* depth first; children keep their order */
        int depth = 0, placed = 0;
        stack[depth++] = 0;
        while (depth) {
            int i = stack[--depth];
            order[placed++] = i;
            for (int k = start[i + 1]; k-- > start[i];) {
                stack[depth++] = child[k];
            }
        }
    }
    free(start);
    free(child);
    free(stack);
    return ok;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No two of the `count` names, which it sorts, are the same. */
static void check_unique(sim_builder *b, const char **name, int count, const char *what) {
    qsort(name, (size_t)count, sizeof *name, compare_names);
    for (int i = 1; i < count; i++) {
        if (strcmp(name[i - 1], name[i]) == 0) {
            builder_refuse(b, SIM_BAD_INPUT, "two %s have the name \"%s\"", what, name[i]);
            return;
        }
    }
}

/* Of bodies, sites, keyframes and tendons. */
static void check_names(sim_builder *b) {
    size_t most = (size_t)b->nbody + (size_t)b->nsite + (size_t)b->nkeyframe + (size_t)b->ntendon + (size_t)b->nsensor;
    const char **name = calloc(most, sizeof *name);
    if (!name) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return;
    }
    for (int i = 0; i < b->nbody; i++) {
        name[i] = b->body[i].name;
    }
    check_unique(b, name, b->nbody, "bodies");
    for (int k = 0; k < b->nsite; k++) {
        name[k] = b->site[k].name;
    }
    check_unique(b, name, b->nsite, "sites");
    for (int k = 0; k < b->nkeyframe; k++) {
        name[k] = b->keyframe[k].name;
    }
    check_unique(b, name, b->nkeyframe, "keyframes");
    for (int k = 0; k < b->ntendon; k++) {
        name[k] = b->tendon[k].name;
    }
    check_unique(b, name, b->ntendon, "tendons");
    for (int k = 0; k < b->nsensor; k++) {
        name[k] = b->sensor[k].name;
    }
    check_unique(b, name, b->nsensor, "sensors");
    free(name);
}

sim_model *sim_builder_finish(sim_builder *b, sim_error *error) {
    if (!b) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a model");
        return NULL;
    }
    sim_model *model = NULL;
    if (!b->error.status) {
        check_names(b);
    }
    if (!b->error.status) {
        builder_check_softs(b);
    }
    if (!b->error.status) {
        builder_add_facets(b);
    }
    if (b->error.status) {
        sim_fail(error, b->error.status, "%s", b->error.text);
    } else {
        int *order = calloc((size_t)b->nbody, sizeof *order);
        if (order && depth_first(b, order)) {
            model = freeze_model(b, order, error);
        } else {
            sim_fail(error, SIM_NO_RESOURCE, "no memory for a model of %d bodies", b->nbody);
        }
        free(order);
    }
    if (model) {
        b->ngeometry = 0; /* the model's now */
    }
    sim_builder_discard(b);
    return model;
}
