/* Contacts of surfaces of soft bodies: nodes on faces and edges on edges, with a thickness.
 *
 *     gap = n . (x_A - x_B) - (r_A + r_B),     kept where  gap <= margin + dt c  and  n . (x_A - x_B) >= -(r_A + r_B)
 *
 *     x_A, x_B  nearest points of the two elements, m;  n  unit normal from B to A, outwards from B
 *     r         thickness of a body, m;  c  the greatest speed at which corners of the two close in along n, m/s
 *
 * Boxes around nodes, faces and edges stay in a tree that is refitted where they left their enlarged boxes.  Left out
 * are elements of one body that share a tetrahedron's corners, or are within twice r_A + r_B at rest.  A node has one
 * contact with a patch of faces that share corners: the nearest.  An edge counts if it is convex, folded by more than
 * MIN_FOLD, and the normal lies between those of its faces; else nodes and faces say the same.
 *
 * Reference: R. Bridson, R. Fedkiw, J. Anderson, Robust treatment of collisions, contact and friction for cloth
 * animation, 2002, section 6.  Different: normals point outwards, so that a thin overlap has the right side; pairs come
 * from the linear motion of the step, and the rows of the step keep them apart.
 * Cost: refit in n, some 200 flops a pair of elements whose boxes meet. */
#include "collide/skin/skin.h"
#include "collide/broadphase/broadphase.h"
#include "collide/skin/surface.h"
#include "math/spatial.h"

#include <math.h>
#include <string.h>

static const double MARGIN_OVER_THICKNESS = 0.1;
static const double MIN_FACING_COSINE = 0.1;    /* of a node's normal against the contact's */
static const double MIN_FOLD_SINE = 0.05;       /* of an edge */
static const double MAX_CONE_SINE = 1e-6;       /* by which a normal may leave the cone of an edge */
static const double MIN_CROSS_SINE = 0.02;      /* of two edges: parallel ones touch by their nodes */
static const double KEPT_OVER_THICKNESS = 1e-6; /* by which a face of a step ago counts as nearer */

/* A node near a face, or two edges. */
typedef struct meeting {
    int a, b;      /* elements; the node first */
    double offset; /* m: n . (x_a - x_b) */
    double order;  /* m: the nearest face of a node comes first */
    v3 normal;     /* from b to a */
    skin_point on[2];
} meeting;

struct skin_stage {
    const sim_model *model;
    memory_pool *pool;
    skin_surfaces surfaces;
    aabb *box;
    broad_phase *broad;
    sim_arena *arena;
};

static bool allows_elements(void *context, int a, int b) { return surfaces_may_touch(context, a, b); }

skin_stage *skin_create(const sim_model *model, const filter *f) {
    memory_pool *pool = pool_create();
    skin_stage *s = pool ? POOL_NEW(pool, skin_stage, 1) : NULL;
    if (!s) {
        pool_free(pool);
        return NULL;
    }
    /* surfaces, and boxes of their elements */
    s->pool = pool;
    s->model = model;
    s->arena = arena_create();
    bool made = s->arena && surfaces_create(&s->surfaces, model, f, pool);
    uint8_t *moves = made ? POOL_NEW(pool, uint8_t, s->surfaces.count) : NULL;
    s->box = made ? POOL_NEW(pool, aabb, s->surfaces.count) : NULL;
    for (int k = 0; moves && k < s->surfaces.count; k++) {
        moves[k] = s->surfaces.moves[k];
    }
    s->broad = moves && s->box ? broadphase_create(s->surfaces.count, moves, allows_elements, &s->surfaces) : NULL;
    if (!s->broad) {
        skin_free(s);
        return NULL;
    }
    return s;
}

void skin_free(skin_stage *s) {
    if (s) {
        arena_free(s->arena);
        if (s->broad) {
            broadphase_free(s->broad);
        }
        pool_free(s->pool);
    }
}

size_t skin_bytes(const skin_stage *s) {
    return pool_bytes(s->pool) + broadphase_bytes(s->broad) + arena_bytes(s->arena);
}

static v3 velocity_of(const skin_input *in, int body) {
    return in->velocity ? in->velocity[body].lin : v3_make(0, 0, 0);
}

/* ---- boxes ---- */

typedef struct task {
    skin_stage *s;
    const skin_input *in;
} task;

static double margin_of(const task *t, int element) {
    const skin_surfaces *f = &t->s->surfaces;
    double r = t->s->model->soft[f->element[element].soft].thickness, given = t->in->margin[f->shape[element]];
    return fmax(MARGIN_OVER_THICKNESS * r, isfinite(given) ? given : 0);
}

static void bound_elements(void *context, int self, int first, int end) {
    task *t = context;
    (void)self;
    for (int k = first; k < end; k++) {
        const skin_element *e = &t->s->surfaces.element[k];
        double more = t->s->model->soft[e->soft].thickness + margin_of(t, k);
        v3 low = {INFINITY, INFINITY, INFINITY}, high = v3_neg(low);
        for (int i = 0; i < 2 * skin_corners(e->kind); i++) {
            int body = e->body[i / 2];
            v3 x = v3_axpy(t->in->pose[body].p, i % 2 ? t->in->step : 0, velocity_of(t->in, body));
            low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
            high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
        }
        v3 widen = {more, more, more};
        t->s->box[k] = (aabb){v3_sub(low, widen), v3_add(high, widen)};
    }
}

/* ---- pairs ---- */

/* Do corners of the two close in fast enough to touch in the step? */
static bool is_in_reach(const task *t, const meeting *m) {
    const skin_surfaces *f = &t->s->surfaces;
    const skin_element *a = &f->element[m->a], *b = &f->element[m->b];
    double skin = t->s->model->soft[a->soft].thickness + t->s->model->soft[b->soft].thickness;
    double away = INFINITY, after = -INFINITY;
    for (int i = 0; i < skin_corners(a->kind); i++) {
        away = fmin(away, v3_dot(m->normal, velocity_of(t->in, a->body[i])));
    }
    for (int i = 0; i < skin_corners(b->kind); i++) {
        after = fmax(after, v3_dot(m->normal, velocity_of(t->in, b->body[i])));
    }
    double margin = margin_of(t, m->a) + margin_of(t, m->b);
    return m->offset >= -skin && m->offset - skin <= margin + t->in->step * fmax(0, after - away);
}

/* Outward normal where a point lies on a face, for its side: of the face, an edge or a corner. */
static v3 side_normal(const skin_surfaces *f, int face, int feature) {
    const skin_edges *e = &f->edges[f->element[face].soft];
    int index = face - e->first_face;
    if (feature == 0) {
        return f->normal[face];
    }
    if (feature > 3) {
        return f->normal[f->element_of_body[f->element[face].body[feature - 4]]];
    }
    const int *two = f->across[e->of_face[3 * index + feature - 1]];
    return two[1] < 0 ? f->normal[face] : v3_add(f->normal[two[0]], f->normal[two[1]]);
}

/* A node on a face. */
static bool meet_face(const task *t, int node, int face, meeting *m) {
    const skin_surfaces *f = &t->s->surfaces;
    *m = (meeting){.a = node, .b = face};
    int feature = skin_nearest(&f->element[node], &f->element[face], t->in->pose, &m->on[0], &m->on[1]);
    v3 apart = v3_sub(m->on[0].at, m->on[1].at);
    double distance = v3_norm(apart);
    bool outside = v3_dot(apart, side_normal(f, face, feature)) >= 0;
    m->normal = f->normal[face];
    if (feature > 0 && distance > 0) {
        m->normal = v3_scale(outside ? 1 / distance : -1 / distance, apart);
    }
    m->offset = feature > 0 ? (outside ? distance : -distance) : v3_dot(m->normal, apart);
    m->order = distance;
    return v3_dot(m->normal, f->normal[node]) < -MIN_FACING_COSINE && is_in_reach(t, m);
}

/* Is the direction u, outwards from an edge, between the normals of its faces, and is it folded? */
static bool is_ridge_along(const task *t, int edge, v3 u) {
    const skin_surfaces *f = &t->s->surfaces;
    const int *two = f->across[edge], *opposite = f->opposite[edge];
    if (two[1] < 0) {
        return false;
    }
    v3 x = t->in->pose[f->element[edge].body[0]].p, first = v3_sub(t->in->pose[opposite[0]].p, x),
       second = v3_sub(t->in->pose[opposite[1]].p, x);
    bool folded = v3_norm(v3_cross(f->normal[two[0]], f->normal[two[1]])) > MIN_FOLD_SINE &&
                  v3_dot(second, f->normal[two[0]]) < 0;
    return folded && v3_dot(first, u) <= MAX_CONE_SINE * v3_norm(first) &&
           v3_dot(second, u) <= MAX_CONE_SINE * v3_norm(second);
}

static bool meet_edge(const task *t, int a, int b, meeting *m) {
    const skin_surfaces *f = &t->s->surfaces;
    const skin_element *ea = &f->element[a], *eb = &f->element[b];
    *m = (meeting){.a = a, .b = b};
    v3 d = v3_sub(t->in->pose[ea->body[1]].p, t->in->pose[ea->body[0]].p),
       e = v3_sub(t->in->pose[eb->body[1]].p, t->in->pose[eb->body[0]].p), across = v3_cross(d, e);
    double size = v3_norm(across);
    if (!(size > MIN_CROSS_SINE * v3_norm(d) * v3_norm(e)) || f->across[b][1] < 0) {
        return false;
    }
    /* within both, outwards from B */
    skin_nearest(ea, eb, t->in->pose, &m->on[0], &m->on[1]);
    for (int k = 0; k < 4; k++) {
        double w = m->on[k / 2].weight[k % 2];
        if (!(w > 0 && w < 1)) {
            return false;
        }
    }
    v3 outwards = v3_add(f->normal[f->across[b][0]], f->normal[f->across[b][1]]);
    m->normal = v3_scale((v3_dot(across, outwards) < 0 ? -1 : 1) / size, across);
    m->offset = v3_dot(m->normal, v3_sub(m->on[0].at, m->on[1].at));
    return is_ridge_along(t, b, m->normal) && is_ridge_along(t, a, v3_neg(m->normal)) && is_in_reach(t, m);
}

static bool are_both_still(const task *t, int a, int b) {
    const skin_element *e[2] = {&t->s->surfaces.element[a], &t->s->surfaces.element[b]};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < skin_corners(e[k]->kind); i++) {
            if (!t->in->still || !t->in->still[e[k]->body[i]]) {
                return false;
            }
        }
    }
    return true;
}

/* ---- contacts ---- */

static int compare_contacts(const sim_contact *a, const sim_contact *b) {
    if (a->shape_a != b->shape_a) {
        return a->shape_a < b->shape_a ? -1 : 1;
    }
    if (a->shape_b != b->shape_b) {
        return a->shape_b < b->shape_b ? -1 : 1;
    }
    return a->at.feature < b->at.feature ? -1 : a->at.feature > b->at.feature;
}

static sim_contact make_contact(const task *t, const meeting *m) {
    /* the side with the lower shape is A */
    const skin_surfaces *f = &t->s->surfaces;
    const sim_model *model = t->s->model;
    bool turned = f->shape[m->a] > f->shape[m->b];
    int side[2] = {turned ? m->b : m->a, turned ? m->a : m->b}, shape[2] = {f->shape[side[0]], f->shape[side[1]]};
    double r[2] = {model->soft[f->element[m->a].soft].thickness, model->soft[f->element[m->b].soft].thickness};
    v3 middle = v3_scale(0.5, v3_add(v3_axpy(m->on[0].at, -r[0], m->normal), v3_axpy(m->on[1].at, r[1], m->normal)));
    sim_material_pair both =
        sim_material_together(model, model->shape[shape[0]].material, model->shape[shape[1]].material);
    sim_contact c = {.shape_a = shape[0],
                     .shape_b = shape[1],
                     .body_a = model->shape[shape[0]].body,
                     .body_b = model->shape[shape[1]].body,
                     .friction = both.friction,
                     .stiffness = both.stiffness,
                     .dissipation = both.dissipation,
                     .restitution = both.restitution};
    c.at.position = middle;
    c.at.normal = turned ? v3_neg(m->normal) : m->normal;
    c.at.gap = m->offset - r[0] - r[1];
    c.at.feature = (uint64_t)f->element[side[0]].code << 32 | f->element[side[1]].code;
    c.adhesion = c.at.gap <= both.adhesion_range ? both.adhesion : 0;
    return c;
}

/* Was it there a step ago? */
static bool was_before(const skin_input *in, const sim_contact *c) {
    int low = 0, high = in->nbefore;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_contacts(&in->before[middle], c) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < in->nbefore && compare_contacts(&in->before[low], c) == 0;
}

/* Nodes in turn, the nearest face of each first; edges keep their order. */
static bool comes_before(const meeting *a, const meeting *b) {
    return a->a != b->a ? a->a < b->a : a->order != b->order ? a->order < b->order : a->b < b->b;
}

/* Sorts by insertion over falling distances (D. Shell 1959). */
static void sort_meetings(meeting *list, int count) {
    int apart = 1;
    while (count > 4 * apart) {
        apart = 3 * apart + 1;
    }
    for (; apart > 0; apart /= 3) {
        for (int k = apart; k < count; k++) {
            meeting m = list[k];
            int at = k;
            for (; at >= apart && comes_before(&m, &list[at - apart]); at -= apart) {
                list[at] = list[at - apart];
            }
            list[at] = m;
        }
    }
}

static void sort_contacts(sim_contact *list, int count) {
    int apart = 1;
    while (count > 4 * apart) {
        apart = 3 * apart + 1;
    }
    for (; apart > 0; apart /= 3) {
        for (int k = apart; k < count; k++) {
            sim_contact c = list[k];
            int at = k;
            for (; at >= apart && compare_contacts(&c, &list[at - apart]) < 0; at -= apart) {
                list[at] = list[at - apart];
            }
            list[at] = c;
        }
    }
}

static bool share_corner(const skin_element *a, const skin_element *b) {
    for (int i = 0; i < 9; i++) {
        if (a->body[i / 3] == b->body[i % 3]) {
            return true;
        }
    }
    return false;
}

/* Is a face of the node's accepted ones, [first, end), a neighbour of this one? */
static bool is_same_patch(const skin_surfaces *f, const meeting *list, int first, int end, const meeting *m) {
    for (int k = first; k < end; k++) {
        if (share_corner(&f->element[list[k].b], &f->element[m->b])) {
            return true;
        }
    }
    return false;
}

/* Leaves one meeting of a node with each patch; the number that are left. */
static int thin_out(const task *t, meeting *list, int count) {
    const skin_surfaces *f = &t->s->surfaces;
    int kept = 0, first = 0; /* of the node at hand */
    for (int k = 0; k < count; k++) {
        first = k > 0 && kept > 0 && list[kept - 1].a == list[k].a ? first : kept;
        bool face = f->element[list[k].b].kind == SKIN_FACE;
        if (!face || !is_same_patch(f, list, first, kept, &list[k])) {
            list[kept++] = list[k];
        }
    }
    return kept;
}

/* All meetings of the pairs whose boxes meet; -1 without memory. */
static int find_meetings(const task *t, const broad_pair *pair, int near, meeting **list) {
    const skin_element *element = t->s->surfaces.element;
    meeting *all = ARENA_NEW(t->s->arena, meeting, near);
    int count = 0;
    for (int k = 0; all && k < near; k++) {
        int a = pair[k].a, b = pair[k].b;
        if (are_both_still(t, a, b)) {
            continue;
        }
        meeting *m = &all[count];
        bool edges = element[a].kind == SKIN_EDGE, node = element[a].kind == SKIN_NODE;
        if (edges ? meet_edge(t, a, b, m) : meet_face(t, node ? a : b, node ? b : a, m)) {
            if (!edges) {
                sim_contact c = make_contact(t, m);
                double r = t->s->model->soft[element[b].soft].thickness;
                m->order -= was_before(t->in, &c) ? KEPT_OVER_THICKNESS * r : 0;
            }
            count++;
        }
    }
    *list = all;
    return all ? count : -1;
}

int skin_update(skin_stage *s, const skin_input *in, sim_threads *threads, const sim_contact **contact) {
    /* boxes and normals; pairs of elements */
    task t = {s, in};
    const broad_pair *pair;
    arena_release(s->arena, 0);
    surfaces_turn(&s->surfaces, in->pose);
    threads_run(threads, s->surfaces.count, bound_elements, &t);
    int near = broadphase_update(s->broad, s->box, threads, &pair);
    /* one meeting of a node with a patch of faces */
    meeting *list = NULL;
    int count = near < 0 ? -1 : find_meetings(&t, pair, near, &list);
    if (count < 0) {
        return -1;
    }
    sort_meetings(list, count);
    count = thin_out(&t, list, count);
    /* contacts in order */
    sim_contact *found = ARENA_NEW(s->arena, sim_contact, count);
    for (int k = 0; found && k < count; k++) {
        found[k] = make_contact(&t, &list[k]);
    }
    if (!found) {
        return -1;
    }
    sort_contacts(found, count);
    *contact = found;
    return count;
}
