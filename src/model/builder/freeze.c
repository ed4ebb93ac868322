/* Constant model from the builder's parts: bodies depth first, dofs numbered along, one block of memory. */
#include "model/builder/core/builder.h"
#include "model/parts/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct freezer {
    const sim_builder *from;
    memory_pool *pool;
    sim_model *model;
    sim_body *body;
    sim_dof *dof;
    sim_tree *tree;
    int *place;    /* place[old] = new */
    int *last_dof; /* [nbody] the last dof on the path from the world to a body, or -1 */
    int failed;    /* out of memory */
} freezer;

static void *take_items(freezer *f, int count, size_t size) {
    void *items = pool_alloc(f->pool, (size_t)count, size);
    f->failed |= !items;
    return items;
}

static const char *take_text(freezer *f, const char *text) {
    char *copy = pool_text(f->pool, text);
    f->failed |= text && !copy;
    return copy;
}

/* Numbers of all parts, and the gravity. */
static void count_parts(freezer *f) {
    sim_model *m = f->model;
    const sim_builder *b = f->from;
    m->nbody = b->nbody;
    for (int i = 1; i < b->nbody; i++) {
        m->nq += sim_joint_nq(b->body[i].joint);
        m->nv += sim_joint_nv(b->body[i].joint);
        m->ntree += b->body[i].parent == 0 && builder_tree(b, i) == i;
    }
    m->nshape = b->nshape;
    m->nmaterial = b->nmaterial;
    m->nmaterial_pair = b->npair;
    m->ngeometry = b->ngeometry;
    m->nactuator = b->nactuator;
    m->nhistory = b->nhistory;
    m->nload = b->nload;
    m->nequality = b->nequality;
    m->nsite = b->nsite;
    m->ntendon = b->ntendon;
    m->nkeyframe = b->nkeyframe;
    m->nsensor = b->nsensor;
    m->nsoft = b->nsoft;
    m->gravity = b->gravity;
    m->fluid = b->fluid;
}

/* A body with its parameters and its ranges in q and v. */
static void place_body(freezer *f, int i, const sim_body_def *def, int *q0, int *v0, int tree) {
    int parent = i ? f->place[def->parent] : 0;
    f->body[i] = (sim_body){
        .name = take_text(f, def->name),
        .joint_name = take_text(f, def->joint_name),
        .parent = parent,
        .tree = tree,
        .subtree_end = i + 1,
        .joint = def->joint,
        .q0 = *q0,
        .nq = sim_joint_nq(def->joint),
        .v0 = *v0,
        .nv = sim_joint_nv(def->joint),
        .placement = def->placement,
        .axis = def->axis,
        .axis2 = def->axis2,
        .pitch = def->pitch,
        .inertia = def->inertia,
    };
    *q0 += f->body[i].nq;
    *v0 += f->body[i].nv;
}

/* Degrees of freedom of a body: the chain of parents that branch-sparse factors follow. */
static void place_dofs(freezer *f, int i, const sim_body_def *def) {
    const sim_body *b = &f->body[i];
    /* each has the one before as parent, the first the last of the parent body */
    int parent = i ? f->last_dof[b->parent] : -1;
    for (int k = 0; k < b->nv; k++) {
        int j = b->v0 + k, plain = joint_coordinate_of(b->joint, k);
        f->dof[j] = (sim_dof){
            .body = i,
            .parent = parent,
            .depth = parent < 0 ? 1 : f->dof[parent].depth + 1,
            .turns = (joint_facts_of(b->joint)->angular >> k) & 1u,
            .slides = (joint_facts_of(b->joint)->linear >> k) & 1u,
            .run = parent >= 0 && parent == j - 1 ? f->dof[parent].run + 1 : 1,
            .row = f->model->nl,
            .armature = def->armature[k],
            .damping = def->damping[k],
            .stiffness = def->stiffness[k],
            .rest = def->rest[k],
            .spring = {def->spring[0], def->spring[1]},
            .damper = {def->damper[0], def->damper[1]},
            .coordinate = plain < 0 ? -1 : b->q0 + plain,
            .limit = def->limit[k],
            .friction = def->friction[k],
            .velocity_limit = def->velocity_limit[k],
            .effort_range = {def->effort_range[k][0], def->effort_range[k][1]},
        };
        f->model->nl += f->dof[j].depth;
        parent = j;
    }
    f->last_dof[i] = parent;
}

static void place_trees(freezer *f) {
    for (int i = f->model->nbody - 1; i > 0; i--) {
        sim_body *parent = &f->body[f->body[i].parent];
        if (parent->subtree_end < f->body[i].subtree_end) {
            parent->subtree_end = f->body[i].subtree_end;
        }
    }
    for (int i = 1; i < f->model->nbody; i++) {
        const sim_body *b = &f->body[i];
        sim_tree *t = &f->tree[b->tree];
        if (t->nbody == 0) {
            *t = (sim_tree){.body0 = i, .v0 = b->v0, .q0 = b->q0};
        }
        t->nbody++;
        t->nq += b->nq;
        t->nv += b->nv;
    }
}

static sim_body_inertia at_origin(const sim_inertia *inertia) {
    return (sim_body_inertia){inertia->mass, v3_scale(inertia->mass, inertia->com),
                              sym3_parallel_axis(inertia->moment, inertia->mass, inertia->com)};
}

static void place_bodies(freezer *f, const int *order) {
    /* memory */
    sim_model *m = f->model;
    f->body = take_items(f, m->nbody, sizeof *f->body);
    f->dof = take_items(f, m->nv, sizeof *f->dof);
    f->tree = take_items(f, m->ntree, sizeof *f->tree);
    joint_rotation *rotation = take_items(f, m->nbody, sizeof *rotation);
    sim_body_inertia *inertia = take_items(f, m->nbody, sizeof *inertia);
    double *q = take_items(f, m->nq, sizeof *q), *v = take_items(f, m->nv, sizeof *v);
    if (f->failed) {
        return;
    }
    /* bodies in topological order */
    int q0 = 0, v0 = 0, tree = -1, angle = 0, tied = 0;
    for (int i = 0; i < m->nbody; i++) {
        f->place[order[i]] = i;
        const sim_body_def *def = &f->from->body[order[i]];
        int root = i && def->parent == 0 ? builder_tree(f->from, order[i]) : tied;
        tree += root != tied;
        tied = root;
        place_body(f, i, def, &q0, &v0, tree);
        place_dofs(f, i, def);
        inertia[i] = at_origin(&def->inertia);
        rotation[i] = joint_rotation_of(&f->body[i]);
        rotation[i].angle0 = angle;
        angle += joint_facts_of(def->joint)->angles;
        memcpy(q + f->body[i].q0, def->q, (size_t)f->body[i].nq * sizeof *q);
        memcpy(v + f->body[i].v0, def->v, (size_t)f->body[i].nv * sizeof *v);
    }
    /* trees */
    place_trees(f);
    m->body = f->body;
    m->dof = f->dof;
    m->tree = f->tree;
    m->inertia = inertia;
    m->rotation = rotation;
    m->q_initial = q;
    m->v_initial = v;
}

static sim_track take_track(freezer *f, const sim_track *from) {
    /* memory */
    sim_track track = *from;
    int numbers = from->keys * from->width;
    bool bent = from->keys && from->rates;
    double *times = take_items(f, from->keys, sizeof *times), *values = take_items(f, numbers, sizeof *values);
    double *rates = bent ? take_items(f, numbers, sizeof *rates) : NULL;
    sim_term *term = from->terms ? take_items(f, from->terms, sizeof *term) : NULL;
    /* copies */
    if (!f->failed && from->keys) {
        memcpy(times, from->times, (size_t)from->keys * sizeof *times);
        memcpy(values, from->values, (size_t)numbers * sizeof *values);
    }
    if (!f->failed && bent) {
        memcpy(rates, from->rates, (size_t)numbers * sizeof *rates);
    }
    if (!f->failed && from->terms) {
        memcpy(term, from->term, (size_t)from->terms * sizeof *term);
    }
    track.times = times;
    track.values = values;
    track.rates = rates;
    track.term = term;
    return track;
}

static int compare_exclusions(const void *a, const void *b) {
    const sim_exclusion *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->second > y->second) - (x->second < y->second);
}

/* The model's are these: the lesser first, sorted, each once. */
static void take_exclusions(sim_model *model, sim_exclusion *exclusion, int count) {
    int kept = 0;
    for (int k = 0; k < count; k++) {
        int i = exclusion[k].first, j = exclusion[k].second;
        exclusion[k] = (sim_exclusion){i < j ? i : j, i < j ? j : i};
    }
    qsort(exclusion, (size_t)count, sizeof *exclusion, compare_exclusions);
    for (int k = 0; k < count; k++) {
        if (!kept || compare_exclusions(&exclusion[kept - 1], &exclusion[k]) != 0) {
            exclusion[kept++] = exclusion[k];
        }
    }
    model->exclusion = exclusion;
    model->nexclusion = kept;
}

static void place_exclusions(freezer *f) {
    const sim_builder *b = f->from;
    sim_exclusion *exclusion = take_items(f, b->nexclusion, sizeof *exclusion);
    if (f->failed) {
        return;
    }
    for (int k = 0; k < b->nexclusion; k++) {
        exclusion[k] = (sim_exclusion){f->place[b->exclusion[k].first], f->place[b->exclusion[k].second]};
    }
    take_exclusions(f->model, exclusion, b->nexclusion);
}

/* Joint or tendon of an actuator, from 1; 0: another. */
static int driven_place(const sim_model *m, const sim_actuator *a) {
    return a->transmission == SIM_BY_JOINT ? 1 + a->dof : a->transmission == SIM_BY_TENDON ? 1 + m->nv + a->tendon : 0;
}

/* The range of efforts of a joint or tendon with one actuator is one of its forces; of a joint without any none. */
static void place_effort_ranges(freezer *f, sim_actuator *actuator) {
    const sim_model *m = f->model;
    int *drives = calloc((size_t)m->nv + (size_t)m->ntendon + 1, sizeof *drives);
    f->failed |= !drives;
    for (int k = 0; k < m->nactuator && drives; k++) {
        drives[driven_place(m, &actuator[k])]++;
    }
    for (int k = 0; k < m->nactuator && drives; k++) {
        int j = driven_place(m, &actuator[k]);
        if (j > 0 && drives[j] == 1) {
            builder_bound_force(j <= m->nv ? f->dof[j - 1].effort_range : f->from->tendon[j - m->nv - 1].effort_range,
                                actuator[k].gear, actuator[k].force_range);
        }
    }
    for (int j = 0; j < m->nv && drives; j++) {
        if (drives[j + 1] < 2) {
            f->dof[j].effort_range[0] = -INFINITY;
            f->dof[j].effort_range[1] = INFINITY;
        }
    }
    free(drives);
}

static void place_parts(freezer *f) {
    /* memory */
    sim_model *m = f->model;
    const sim_builder *b = f->from;
    sim_shape *shape = take_items(f, m->nshape, sizeof *shape);
    sim_material *material = take_items(f, m->nmaterial, sizeof *material);
    sim_material_pair *pair = take_items(f, m->nmaterial_pair, sizeof *pair);
    sim_geometry **geometry = take_items(f, m->ngeometry, sizeof *geometry);
    sim_actuator *actuator = take_items(f, m->nactuator, sizeof *actuator);
    sim_load *load = take_items(f, m->nload, sizeof *load);
    if (f->failed) {
        return;
    }
    /* parts with the numbers of bodies and coordinates in the model */
    for (int k = 0; k < m->nshape; k++) {
        shape[k] = b->shape[k];
        shape[k].name = take_text(f, b->shape[k].name);
        shape[k].body = f->place[b->shape[k].body];
        shape[k].modulus = shape[k].pressure ? b->material[shape[k].material].modulus : 0;
    }
    for (int k = 0; k < m->nmaterial; k++) {
        material[k] = b->material[k];
        material[k].name = take_text(f, b->material[k].name);
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        pair[k] = b->pair[k];
    }
    for (int k = 0; k < m->ngeometry; k++) {
        geometry[k] = b->geometry[k];
    }
    for (int k = 0; k < m->nactuator; k++) {
        actuator[k] = b->actuator[k];
        actuator[k].name = take_text(f, b->actuator[k].name);
        const joint_target *on = &b->actuator_target[k];
        actuator[k].dof = on->dof < 0 ? -1 : f->body[f->place[on->body]].v0 + on->dof;
        actuator[k].tree = f->body[f->place[on->body]].tree;
        actuator[k].body = f->place[on->body];
        actuator[k].target = take_track(f, &b->actuator[k].target);
        actuator[k].feedforward = take_track(f, &b->actuator[k].feedforward);
        actuator[k].ctrl = take_track(f, &b->actuator[k].ctrl);
    }
    place_effort_ranges(f, actuator);
    for (int k = 0; k < m->nload; k++) {
        const joint_target *on = &b->load_target[k];
        int body = f->place[on->body];
        load[k] = b->load[k];
        load[k].name = take_text(f, b->load[k].name);
        load[k].body = on->dof < 0 ? body : -1;
        load[k].dof = on->dof < 0 ? -1 : f->body[body].v0 + on->dof;
        load[k].track = take_track(f, &b->load[k].track);
    }
    /* hand them over */
    m->shape = shape;
    m->material = material;
    m->material_pair = pair;
    m->geometry = geometry;
    m->actuator = actuator;
    m->load = load;
}

/* A coupling's dofs in the numbers of the model; of the others none. */
static void place_equalities(freezer *f) {
    sim_equality *equality = take_items(f, f->model->nequality, sizeof *equality);
    for (int k = 0; k < f->model->nequality && !f->failed; k++) {
        sim_equality *e = &equality[k];
        *e = f->from->equality[k];
        e->name = take_text(f, e->name);
        for (int side = 0; side < 2; side++) {
            e->body[side] = f->place[e->body[side]];
            e->dof[side] = e->type == SIM_COUPLING ? f->body[e->body[side]].v0 + e->dof[side] : -1;
        }
    }
    f->model->equality = equality;
}

static void place_sites(freezer *f) {
    sim_site *site = take_items(f, f->model->nsite, sizeof *site);
    for (int k = 0; k < f->model->nsite && !f->failed; k++) {
        site[k] = f->from->site[k];
        site[k].name = take_text(f, site[k].name);
        site[k].body = f->place[site[k].body];
    }
    f->model->site = site;
}

/* In the numbers of the model; their values follow each other. */
static void place_sensors(freezer *f) {
    sim_sensor *sensor = take_items(f, f->model->nsensor, sizeof *sensor);
    for (int k = 0; k < f->model->nsensor && !f->failed; k++) {
        sim_sensor *s = &sensor[k];
        *s = f->from->sensor[k];
        s->name = take_text(f, s->name);
        s->body = f->place[s->body];
        s->reference = f->place[s->reference];
        s->dof = s->type <= SIM_SENSE_JOINT_EFFORT ? f->body[s->body].v0 + s->dof : -1;
        s->first = f->model->nsensor_value;
        f->model->nsensor_value += sim_sensor_values(s->type);
    }
    f->model->sensor = sensor;
}

static void place_inputs(freezer *f, sim_keyframe *keyframe, double *ctrl) {
    const sim_builder *b = f->from;
    sim_actuator *actuator = (sim_actuator *)f->model->actuator;
    for (int k = 0; k < f->model->nactuator; k++) {
        ctrl[k] = NAN;
    }
    for (int i = 0; i < b->ndrive; i++) {
        const sim_actuator_state *d = &b->drive[i];
        if (b->drive_keyframe[i] >= 0) {
            sim_keyframe *k = &keyframe[b->drive_keyframe[i]];
            ((sim_actuator_state *)k->drive)[k->ndrive++] = *d;
            continue;
        }
        double *activation = &actuator[d->actuator].activation.initial;
        ctrl[d->actuator] = isnan(d->ctrl) ? ctrl[d->actuator] : d->ctrl;
        *activation = isnan(d->activation) ? *activation : d->activation;
    }
}

/* The initial state becomes that of the keyframe at which the model starts. */
static void start_at(freezer *f, int keyframe) {
    sim_model *m = f->model;
    double *activation = take_items(f, m->nactuator, sizeof *activation);
    if (f->failed) {
        return;
    }
    m->time_initial = m->keyframe[keyframe].time;
    sim_model_keyframe_state(m, keyframe, (double *)m->q_initial, (double *)m->v_initial);
    sim_model_keyframe_drives(m, keyframe, (double *)m->ctrl_initial, activation);
    for (int k = 0; k < m->nactuator; k++) {
        ((sim_actuator *)m->actuator)[k].activation.initial = activation[k];
    }
}

/* States of joints and actuators, sorted by keyframes in the order of the calls. */
static void place_keyframes(freezer *f) {
    /* memory */
    const sim_builder *b = f->from;
    sim_model *m = f->model;
    sim_keyframe *keyframe = take_items(f, m->nkeyframe, sizeof *keyframe);
    sim_joint_state *state = take_items(f, b->njoint_state, sizeof *state);
    sim_actuator_state *drive = take_items(f, b->ndrive, sizeof *drive);
    double *reference = take_items(f, m->nq, sizeof *reference), *ctrl = take_items(f, m->nactuator, sizeof *ctrl);
    if (f->failed) {
        return;
    }
    /* places of the states of each keyframe */
    sim_joint_state *next = state;
    for (int k = 0; k < m->nkeyframe; k++) {
        keyframe[k] = (sim_keyframe){
            .name = take_text(f, b->keyframe[k].name), .time = b->keyframe[k].time, .state = next, .drive = drive};
        next += b->keyframe[k].nstate;
        drive += b->keyframe[k].ndrive;
    }
    for (int i = 0; i < b->njoint_state; i++) {
        sim_keyframe *k = &keyframe[b->state_keyframe[i]];
        sim_joint_state *s = (sim_joint_state *)&k->state[k->nstate++];
        *s = b->joint_state[i];
        s->body = f->place[s->body];
    }
    place_inputs(f, keyframe, ctrl);
    m->keyframe = keyframe;
    m->ctrl_initial = ctrl;
    /* start */
    memcpy(reference, m->q_initial, (size_t)m->nq * sizeof *reference);
    m->q_reference = reference;
    if (b->start) {
        start_at(f, b->start - 1);
    }
}

/* Dofs, trees and bodies in the numbers of the model. */
static void place_tendons(freezer *f) {
    sim_tendon *tendon = take_items(f, f->model->ntendon, sizeof *tendon);
    for (int k = 0; k < f->model->ntendon && !f->failed; k++) {
        sim_tendon *t = &tendon[k];
        *t = f->from->tendon[k];
        t->name = take_text(f, t->name);
        sim_tendon_joint *joint = take_items(f, t->njoint, sizeof *joint);
        sim_path_point *path = take_items(f, t->npoint, sizeof *path);
        for (int i = 0; i < t->njoint && !f->failed; i++) {
            joint[i] = t->joint[i];
            joint[i].body = f->place[joint[i].body];
            joint[i].dof += f->body[joint[i].body].v0;
        }
        for (int i = 0; i < t->npoint && !f->failed; i++) {
            path[i] = t->path[i];
        }
        t->joint = joint;
        t->path = path;
        for (int i = 0; i < 2 && t->tree[i] >= 0; i++) {
            t->tree[i] = f->body[f->place[t->tree[i]]].tree;
            t->moved_body[i] = f->place[t->moved_body[i]];
        }
        if (t->tree[0] == t->tree[1]) {
            t->tree[1] = t->moved_body[1] = -1;
        }
    }
    f->model->tendon = tendon;
}

/* Those that the builder was given, or the box of the inertia. */
static void place_drags(freezer *f) {
    const sim_builder *b = f->from;
    sim_model *m = f->model;
    if (!(m->fluid.density > 0) && !(m->fluid.viscosity > 0)) {
        return;
    }
    sim_drag *drag = take_items(f, m->nbody + b->ndrag, sizeof *drag);
    int *first = take_items(f, m->nbody + 1, sizeof *first), *order = take_items(f, b->ndrag, sizeof *order),
        *next = take_items(f, m->nbody, sizeof *next);
    if (f->failed) {
        return;
    }
    /* by bodies: counting sort */
    for (int k = 0; k < b->ndrag; k++) {
        first[f->place[b->drag[k].body] + 1]++;
    }
    for (int i = 0; i < m->nbody; i++) {
        first[i + 1] += first[i];
        next[i] = first[i];
    }
    for (int k = 0; k < b->ndrag; k++) {
        order[next[f->place[b->drag[k].body]]++] = k;
    }
    /* of every moving body with mass */
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *body = &m->body[i];
        bool moves = f->last_dof[i] >= 0 && body->inertia.mass > 0;
        if (moves && first[i] == first[i + 1]) {
            drag[m->ndrag] = sim_drag_of_inertia(&body->inertia);
            drag[m->ndrag++].body = i;
        }
        for (int k = first[i]; moves && k < first[i + 1]; k++) {
            drag[m->ndrag] = b->drag[order[k]];
            drag[m->ndrag].body = i;
            sim_drag_complete(&drag[m->ndrag]);
            m->ndrag += drag[m->ndrag].type != SIM_DRAG_NONE;
        }
    }
    m->drag = drag;
}

/* The nodes of a soft body follow on its own, in their order. */
static void place_softs(freezer *f) {
    sim_soft *soft = take_items(f, f->model->nsoft, sizeof *soft);
    for (int k = 0; k < f->model->nsoft && !f->failed; k++) {
        sim_soft *s = &soft[k];
        *s = f->from->soft[k];
        sim_v3 *node = take_items(f, s->nnode, sizeof *node);
        int(*tet)[4] = take_items(f, s->ntet, sizeof *tet), (*face)[3] = take_items(f, s->nface, sizeof *face);
        bool *held = take_items(f, s->nnode, sizeof *held);
        s->name = take_text(f, s->name);
        s->body = f->place[s->body];
        s->base = f->place[s->base];
        s->pressure = take_track(f, &s->pressure);
        if (!f->failed) {
            memcpy(node, s->node, (size_t)s->nnode * sizeof *node);
            memcpy(tet, s->tet, (size_t)s->ntet * sizeof *tet);
            memcpy(face, s->face, (size_t)s->nface * sizeof *face);
            memcpy(held, s->held, (size_t)s->nnode * sizeof *held);
        }
        s->node = node;
        s->tet = (const int(*)[4])tet;
        s->face = (const int(*)[3])face;
        s->held = held;
        s->holder = NULL; /* of the builder alone */
    }
    f->model->soft = soft;
}

sim_model *freeze_model(const sim_builder *builder, const int *order, sim_error *error) {
    /* memory */
    freezer f = {.from = builder, .pool = pool_create()};
    f.model = f.pool ? POOL_NEW(f.pool, sim_model, 1) : NULL;
    f.place = calloc((size_t)builder->nbody, sizeof *f.place);
    f.last_dof = calloc((size_t)builder->nbody, sizeof *f.last_dof);
    f.failed = !f.model || !f.place || !f.last_dof;
    /* parts, bodies first because the others name them */
    if (!f.failed) {
        f.model->memory = f.pool;
        count_parts(&f);
        place_bodies(&f, order);
    }
    if (!f.failed) {
        place_exclusions(&f);
        place_parts(&f);
        place_equalities(&f);
        place_sites(&f);
        place_keyframes(&f);
        place_tendons(&f);
        place_sensors(&f);
        place_drags(&f);
        place_softs(&f);
    }
    /* failure leaves nothing */
    free(f.place);
    free(f.last_dof);
    if (f.failed) {
        pool_free(f.pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a model of %d bodies", builder->nbody);
        return NULL;
    }
    f.model->bytes = pool_bytes(f.pool);
    return f.model;
}

sim_status sim_model_exclude(sim_model *model, const sim_exclusion *pairs, int count, sim_error *error) {
    int before = model->nexclusion;
    sim_exclusion *all = POOL_NEW(model->memory, sim_exclusion, before + count);
    if (!all) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for %d exclusions", count);
    }
    for (int k = 0; k < before + count; k++) {
        all[k] = k < before ? model->exclusion[k] : pairs[k - before];
    }
    take_exclusions(model, all, before + count);
    model->bytes = pool_bytes(model->memory);
    return SIM_OK;
}

void sim_model_free(sim_model *model) {
    if (model) {
        for (int k = 0; k < model->ngeometry; k++) {
            sim_geometry_free(model->geometry[k]);
        }
        pool_free(model->memory);
    }
}
