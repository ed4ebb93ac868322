/* Check of a field's definition, and its tree as an array of nodes.
 *
 * Nodes are in the order in which they are met.  Poses are multiplied out: each leaf is in the field's own frame.  Each
 * node has a box that holds its solid: a leaf's own box turned with it, the hull of a union's, the overlap of an
 * intersection's. */
#include "geometry/field/field.h"

#include "geometry/core/solid.h"
#include "geometry/field/grid.h"
#include "math/angle.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double MAX_LENGTH = 1e9; /* m */
static const char *const field_name[SIM_FIELD_TYPES] = {"sphere", "box",   "cylinder",     "profile",   "thread",
                                                        "grid",   "union", "intersection", "difference"};

const char *sim_field_name(sim_field_type type) { return (unsigned)type < SIM_FIELD_TYPES ? field_name[type] : "?"; }

sim_field_def sim_field_default(void) {
    return (sim_field_def){.pose = {.R = m3_identity()}, .thread = {.flank_angle = PI / 3}};
}

typedef struct bounds {
    v3 low, high; /* infinite to all sides: a solid without bounds */
} bounds;

static bool is_bounded(const bounds *b) { return v3_finite(b->low) && v3_finite(b->high); }

/* Requirements found while the tree is laid out. */
typedef struct builder {
    memory_pool *pool;
    const char *cache;
    int64_t *room;
    sim_error *error;
    field_node *node;
    int count;
    double detail;
    char where[256]; /* the way to the node: "field.child[1].child[0]" */
} builder;

static sim_status refuse_definition(const builder *b, const char *text) {
    return sim_fail(b->error, SIM_BAD_INPUT, "%s: %s", b->where, text);
}

static sim_status report_no_memory(const builder *b) {
    return sim_fail(b->error, SIM_NO_RESOURCE, "no memory for a field");
}

static bool is_length(double x) { return x > 0 && x <= MAX_LENGTH; }

/* ---- counting, and what holds for nodes of all types ---- */

static bool turns_space(const sim_m3 *R) {
    const double slack = 1e-9;
    v3 z = v3_cross(R->x, R->y);
    return fabs(v3_dot(R->x, R->x) - 1) < slack && fabs(v3_dot(R->y, R->y) - 1) < slack &&
           fabs(v3_dot(R->x, R->y)) < slack && v3_norm(v3_sub(z, R->z)) < slack;
}

static sim_status check_node(const builder *b, const sim_field_def *def) {
    /* type */
    if ((unsigned)def->type >= SIM_FIELD_TYPES) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: %d is no type of field", b->where, (int)def->type);
    }
    /* number of children */
    const char *name = sim_field_name(def->type);
    int least = def->type == SIM_FIELD_DIFFERENCE ? 2 : def->type >= SIM_FIELD_UNION ? 1 : 0;
    if (least == 0 && def->nchild != 0) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: a %s has no children, here it has %d", b->where, name,
                        def->nchild);
    }
    if (def->nchild < least || (least > 0 && !def->child)) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: expected at least %d %s of the %s, found %d", b->where, least,
                        least > 1 ? "children" : "child", name, def->child ? def->nchild : 0);
    }
    /* rounding and pose */
    if (!(def->rounding >= 0 && def->rounding <= MAX_LENGTH)) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: rounding must be from 0 to %g m, not %g", b->where, MAX_LENGTH,
                        def->rounding);
    }
    if (!(v3_norm(def->pose.p) <= MAX_LENGTH)) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: the position (%g, %g, %g) must be within %g m of the origin",
                        b->where, def->pose.p.x, def->pose.p.y, def->pose.p.z, MAX_LENGTH);
    }
    if (!turns_space(&def->pose.R)) {
        return refuse_definition(b, "the axes of the pose must be of unit length, at right angles and right-handed");
    }
    return SIM_OK;
}

/* Appends to the way; gives back how long it was. */
static size_t go_to_child(builder *b, int k) {
    size_t length = strlen(b->where);
    snprintf(b->where + length, sizeof b->where - length, ".child[%d]", k);
    return length;
}

static sim_status count_nodes(builder *b, const sim_field_def *def, int depth) {
    if (depth > FIELD_MAX_DEPTH) {
        return sim_fail(b->error, SIM_BAD_INPUT, "the field is nested more than %d deep", FIELD_MAX_DEPTH);
    }
    sim_status status = check_node(b, def);
    if (status) {
        return status;
    }
    if (++b->count > FIELD_MAX_NODES) {
        return sim_fail(b->error, SIM_BAD_INPUT, "the field has more than %d parts", FIELD_MAX_NODES);
    }
    for (int k = 0; k < def->nchild && !status; k++) {
        size_t back = go_to_child(b, k);
        status = count_nodes(b, &def->child[k], depth + 1);
        b->where[back] = 0;
    }
    return status;
}

/* ---- leaves ---- */

static sim_status set_sizes(const builder *b, const sim_field_def *def, field_node *n, bounds *box) {
    /* dimensions */
    static const char *const what[3][3] = {
        {"radius"}, {"edge along x", "edge along y", "edge along z"}, {"radius", "length"}};
    for (int k = 0; k < 3 && what[def->type][k]; k++) {
        if (!is_length(def->size[k])) {
            return sim_fail(b->error, SIM_BAD_INPUT, "%s: the %s's %s must be positive and at most %g m, not %g",
                            b->where, sim_field_name(def->type), what[def->type][k], MAX_LENGTH, def->size[k]);
        }
    }
    /* half edges and bounds */
    const double *s = def->size;
    switch (def->type) {
    case SIM_FIELD_SPHERE:
        n->half[0] = s[0];
        box->high = v3_make(s[0], s[0], s[0]);
        break;
    case SIM_FIELD_BOX:
        for (int k = 0; k < 3; k++) {
            n->half[k] = s[k] / 2;
        }
        box->high = v3_make(s[0] / 2, s[1] / 2, s[2] / 2);
        break;
    default:
        n->half[0] = s[0];
        n->half[1] = s[1] / 2;
        box->high = v3_make(s[0], s[0], s[1] / 2);
    }
    box->low = v3_neg(box->high);
    return SIM_OK;
}

static sim_status check_profile(const builder *b, const sim_field_def *def) {
    /* number of points and thickness */
    if (def->npoint < 2 || def->npoint > FIELD_MAX_NODES || !def->point) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: a profile needs 2 to %d points, found %d", b->where,
                        FIELD_MAX_NODES, def->point ? def->npoint : 0);
    }
    if (!is_length(def->thickness)) {
        return sim_fail(b->error, SIM_BAD_INPUT,
                        "%s: the profile's thickness must be positive and at most %g m, not %g", b->where, MAX_LENGTH,
                        def->thickness);
    }
    /* each point */
    for (int k = 0; k < def->npoint; k++) {
        double r = def->point[k][0], z = def->point[k][1];
        if (!(r >= 0 && r <= MAX_LENGTH && fabs(z) <= MAX_LENGTH)) {
            return sim_fail(b->error, SIM_BAD_INPUT,
                            "%s: point %d of the profile is (%g, %g): expected a radius of 0 or more and a height, "
                            "both of at most %g m",
                            b->where, k, r, z, MAX_LENGTH);
        }
    }
    return SIM_OK;
}

static sim_status set_profile(const builder *b, const sim_field_def *def, field_node *n, bounds *box) {
    /* check */
    sim_status status = check_profile(b, def);
    if (status) {
        return status;
    }
    /* memory */
    field_profile *profile = POOL_NEW(b->pool, field_profile, 1);
    double(*point)[2] = pool_alloc(b->pool, (size_t)def->npoint, sizeof *point);
    double(*step)[2] = pool_alloc(b->pool, (size_t)def->npoint, sizeof *step);
    double *inverse = POOL_NEW(b->pool, double, def->npoint);
    if (!profile || !point || !step || !inverse) {
        return report_no_memory(b);
    }
    /* points, steps between them, bounds of the profile */
    memcpy(point, def->point, (size_t)def->npoint * sizeof *point);
    double far = 0, low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < def->npoint; k++) {
        far = fmax(far, point[k][0]);
        low = fmin(low, point[k][1]);
        high = fmax(high, point[k][1]);
        if (k + 1 < def->npoint) {
            step[k][0] = point[k + 1][0] - point[k][0];
            step[k][1] = point[k + 1][1] - point[k][1];
            double squared = step[k][0] * step[k][0] + step[k][1] * step[k][1];
            inverse[k] = squared > 1e-280 ? 1 / squared : 0;
        }
    }
    /* profile and bounds of the solid */
    *profile =
        (field_profile){def->npoint, (const double(*)[2])point, (const double(*)[2])step, inverse, def->thickness};
    n->profile = profile;
    double d = def->thickness;
    box->low = v3_make(-far - d, -far - d, low - d);
    box->high = v3_make(far + d, far + d, high + d);
    return SIM_OK;
}

static sim_status set_thread(const builder *b, const sim_field_def *def, field_node *n, bounds *box) {
    sim_status status = thread_check(&def->thread, b->where, b->error);
    if (status) {
        return status;
    }
    field_thread *thread = POOL_NEW(b->pool, field_thread, 1);
    if (!thread) {
        return report_no_memory(b);
    }
    *thread = thread_freeze(&def->thread);
    n->thread = thread;
    if (!def->thread.internal) {
        double r = thread->outer - thread->clearance;
        box->high = v3_make(r, r, thread->half_length);
        box->low = v3_neg(box->high);
    }
    return SIM_OK;
}

static sim_status set_grid(const builder *b, const sim_field_def *def, field_node *n, bounds *box) {
    if (!def->mesh || !def->mesh->mesh || !def->mesh->mesh->closed || !def->mesh->bvh) {
        return refuse_definition(b, "a grid needs a closed mesh");
    }
    if (!(def->cell >= 0 && def->cell <= MAX_LENGTH)) {
        return sim_fail(b->error, SIM_BAD_INPUT, "%s: the grid's cell must be from 0 to %g m, not %g", b->where,
                        MAX_LENGTH, def->cell);
    }
    n->grid = grid_build(b->pool, def->mesh, def->cell, b->cache, b->where, b->room, b->error);
    if (!n->grid) {
        return SIM_BAD_INPUT;
    }
    box->low = n->grid->low;
    box->high = n->grid->high;
    return SIM_OK;
}

static sim_status set_leaf_node(const builder *b, const sim_field_def *def, field_node *n, bounds *box) {
    switch (def->type) {
    case SIM_FIELD_PROFILE:
        return set_profile(b, def, n, box);
    case SIM_FIELD_THREAD:
        return set_thread(b, def, n, box);
    case SIM_FIELD_GRID:
        return set_grid(b, def, n, box);
    default:
        return set_sizes(b, def, n, box);
    }
}

/* A lattice tells the two sides of a wall apart when its edge is half the wall; a ridge wants a few. */
static double detail_of(const field_node *n) {
    const double *half = n->half;
    switch (n->type) {
    case SIM_FIELD_SPHERE:
        return half[0];
    case SIM_FIELD_BOX:
        return fmin(half[0], fmin(half[1], half[2]));
    case SIM_FIELD_CYLINDER:
        return fmin(half[0], half[1]);
    case SIM_FIELD_PROFILE:
        return n->profile->thickness;
    case SIM_FIELD_THREAD:
        return n->thread->pitch / 5;
    default:
        return HUGE_VAL;
    }
}

/* Steps of a leaf's distance, where it is placed: measured. */
static int64_t cost_of(const field_node *n) {
    return n->type == SIM_FIELD_PROFILE  ? 4 + 2 * n->profile->count
           : n->type == SIM_FIELD_THREAD ? 16
           : n->type == SIM_FIELD_GRID   ? 32
                                         : 4;
}

/* ---- boxes ---- */

static const bounds EVERYWHERE = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};

static v3 componentwise_min(v3 a, v3 b) { return v3_make(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static v3 componentwise_max(v3 a, v3 b) { return v3_make(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

/* The box of a box that is turned. */
static bounds rotated_bounds(const pose *X, const bounds *b) {
    if (!is_bounded(b)) {
        return EVERYWHERE;
    }
    v3 middle = pose_point(*X, v3_scale(0.5, v3_add(b->low, b->high)));
    v3 half = v3_scale(0.5, v3_sub(b->high, b->low));
    m3 R = X->R;
    v3 reach = {fabs(R.x.x) * half.x + fabs(R.y.x) * half.y + fabs(R.z.x) * half.z,
                fabs(R.x.y) * half.x + fabs(R.y.y) * half.y + fabs(R.z.y) * half.z,
                fabs(R.x.z) * half.x + fabs(R.y.z) * half.y + fabs(R.z.z) * half.z};
    return (bounds){v3_sub(middle, reach), v3_add(middle, reach)};
}

static void combine_bounds(sim_field_type type, const bounds *child, bounds *sum) {
    if (type == SIM_FIELD_UNION) {
        sum->low = componentwise_min(sum->low, child->low);
        sum->high = componentwise_max(sum->high, child->high);
    } else if (type == SIM_FIELD_INTERSECTION) {
        sum->low = componentwise_max(sum->low, child->low);
        sum->high = componentwise_min(sum->high, child->high);
    }
}

static bounds grown_bounds(bounds b, double by) {
    v3 reach = {by, by, by};
    return (bounds){v3_sub(b.low, reach), v3_add(b.high, reach)};
}

static bool is_identity(const pose *X) {
    pose one = pose_identity();
    return memcmp(X, &one, sizeof one) == 0;
}

/* The node of the definition and all below it, placed at X; its box in the field's frame. */
static sim_status lay_out_nodes(builder *b, const sim_field_def *def, const pose *above, bounds *box) {
    /* the node */
    field_node *n = &b->node[b->count++];
    n->type = def->type;
    n->X = pose_product(*above, def->pose);
    n->placed = !is_identity(&n->X);
    n->rounding = def->rounding;
    *box = EVERYWHERE;
    sim_status status = SIM_OK;
    /* a leaf has bounds of its own */
    if (def->type < SIM_FIELD_UNION) {
        status = set_leaf_node(b, def, n, box);
        *box = rotated_bounds(&n->X, box);
        b->detail = status ? 0 : fmin(b->detail, detail_of(n) + def->rounding);
    }
    /* an operator has those of its children, combined */
    for (int k = 0; k < def->nchild && !status; k++) {
        bounds child;
        size_t back = go_to_child(b, k);
        status = lay_out_nodes(b, &def->child[k], &n->X, &child);
        b->where[back] = 0;
        if (k == 0) {
            *box = child;
        } else {
            combine_bounds(def->type, &child, box);
        }
    }
    *box = grown_bounds(*box, def->rounding);
    n->end = b->count;
    return status;
}

sim_field *field_build(memory_pool *pool, const sim_field_def *def, const char *cache, v3 *low, v3 *high, int64_t *room,
                       sim_error *error) {
    /* number of nodes */
    builder b = {.pool = pool, .cache = cache, .room = room, .error = error, .detail = HUGE_VAL, .where = "field"};
    if (count_nodes(&b, def, 1)) {
        return NULL;
    }
    sim_field *field = POOL_NEW(pool, sim_field, 1);
    b.node = POOL_NEW(pool, field_node, b.count);
    if (!field || !b.node) {
        report_no_memory(&b);
        return NULL;
    }
    /* nodes in preorder, bounds from the leaves up */
    b.count = 0;
    bounds box;
    pose origin = pose_identity();
    if (lay_out_nodes(&b, def, &origin, &box)) {
        return NULL;
    }
    /* the solid is bounded and not empty */
    if (!is_bounded(&box)) {
        refuse_definition(&b, "the solid has no bounds: intersect a bore with the outside of its nut");
        return NULL;
    }
    if (!(box.low.x < box.high.x && box.low.y < box.high.y && box.low.z < box.high.z)) {
        refuse_definition(&b, "the solid is empty: the parts of an intersection do not meet");
        return NULL;
    }
    /* field and its cost */
    *low = box.low;
    *high = box.high;
    *field = (sim_field){b.count, b.node, b.detail, 0, box.low, box.high, 0};
    for (int k = 0; k < b.count; k++) {
        field->cost += cost_of(&b.node[k]);
    }
    return field;
}

/* Only of types without padding. */
#define ADD(hash, value) (*(hash) = hash_bytes(*(hash), &(value), sizeof(value)))

uint64_t field_hash(const sim_field *field) {
    /* parameters of every node */
    uint64_t hash = HASH_START + SIM_GEOMETRY_FIELD;
    for (int k = 0; k < field->nnode; k++) {
        const field_node *n = &field->node[k];
        ADD(&hash, n->type);
        ADD(&hash, n->end);
        ADD(&hash, n->X);
        ADD(&hash, n->rounding);
        ADD(&hash, n->half);
        /* shared content: profile, thread, samples */
        if (n->profile) {
            hash = hash_bytes(hash, n->profile->point, (size_t)n->profile->count * sizeof *n->profile->point);
            ADD(&hash, n->profile->thickness);
        }
        if (n->thread) { /* its numbers alone: bytes behind the flag that follows them may be anything */
            hash = hash_bytes(hash, n->thread, offsetof(field_thread, thick));
        }
        if (n->grid) {
            uint64_t content = grid_hash(n->grid);
            ADD(&hash, content);
        }
    }
    return hash;
}
