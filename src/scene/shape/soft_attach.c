/* Attachments of soft bodies: nodes in a box, or near the shapes of a rigid body, keep their place on that body.
 *
 * A rigid attachment to a body that cannot move makes the node a fixed one; any other is a constraint of three rows.
 * Cost: nodes times shapes of the body. */
#include "collide/field/field_solid.h"
#include "math/spatial.h"
#include "scene/shape/soft.h"

#include <math.h>
#include <string.h>

/* A rigid body that holds nodes. */
typedef struct holder {
    const char *name;
    int index; /* in the builder */
    bool moves;
    pose X;
} holder;

static bool find_holder(loader *l, const entry *e, const attachment_data *d, holder *out) {
    const node *at = node_member(d->at, "body");
    bool world = strcmp(d->body, "world") == 0;
    int found = world ? e->scope->world_parent : loader_find(l, e->scope, d->body, at);
    const entry *body = found >= 0 ? &l->entries[found] : NULL;
    if (!world && !body) {
        return false;
    }
    if (body && node_member(body->body, "soft")) {
        report_once(&l->report, at, NULL, "soft bodies are held by rigid ones, and \"%.80s\" is soft", body->name);
        return false;
    }
    if (body && body->index < 0) {
        return false; /* it was refused */
    }
    *out = (holder){.name = d->body, .index = body ? body->index : 0, .moves = body && body->moves};
    out->X = builder_start_pose(l->builder, out->index);
    return true;
}

/* Shapes of a holder with an inside. */
static int count_solids(const loader *l, int body) {
    int count = 0;
    for (int k = 0; k < l->builder->nshape; k++) {
        const sim_shape *shape = &l->builder->shape[k];
        count += shape->body == body && solid_of_shape(shape).distance != NULL;
    }
    return count;
}

/* Distance of a point of the world to the shapes of a holder, m; negative inside. */
static double distance_to_holder(const loader *l, const holder *h, v3 p) {
    double least = INFINITY;
    v3 gradient;
    for (int k = 0; k < l->builder->nshape; k++) {
        const sim_shape *shape = &l->builder->shape[k];
        solid s = shape->body == h->index ? solid_of_shape(shape) : (solid){0};
        if (s.distance) {
            pose in_world = pose_product(h->X, shape->pose);
            least = fmin(least, s.distance(&s, pose_point(pose_inverse(in_world), p), &gradient));
        }
    }
    return least;
}

static bool is_in_box(const attachment_data *d, v3 x) {
    const double at[3] = {x.x, x.y, x.z};
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside &= at[k] >= d->min[k] && at[k] <= d->max[k];
    }
    return inside;
}

/* Box, distance or both, that make sense. */
static bool check_region(loader *l, const attachment_data *d, const holder *h, bool *box, bool *near) {
    const node *min = node_member(d->at, "min"), *max = node_member(d->at, "max");
    *box = min && max;
    *near = node_member(d->at, "distance");
    if (!min != !max || (!*box && !*near)) {
        report_once(&l->report, d->at, NULL, "an attachment needs \"min\" and \"max\", or a \"distance\"");
        return false;
    }
    if (*near && count_solids(l, h->index) == 0) {
        report_once(&l->report, node_member(d->at, "distance"), "give a box by \"min\" and \"max\"",
                    "\"%.80s\" has no shape with an inside", h->name);
        return false;
    }
    if (node_member(d->at, "dissipation") && !node_member(d->at, "stiffness")) {
        report_once(&l->report, node_member(d->at, "dissipation"), NULL, "\"dissipation\" needs a \"stiffness\"");
        return false;
    }
    return true;
}

static bool plan_attachment(loader *l, const entry *e, const node *n, const sim_soft *s, attachment_plan *plan) {
    attachment_data d;
    holder h;
    bool box, near;
    if (!loader_read(l, n, &table_attachment, &d) || !find_holder(l, e, &d, &h) ||
        !check_region(l, &d, &h, &box, &near) ||
        !loader_spend(l, (int64_t)s->nnode * (near ? 1 + l->builder->nshape : 1), n)) {
        return false;
    }
    /* the nodes that it takes */
    bool stiff = node_member(n, "stiffness");
    int before = plan->count, fixed = 0;
    for (int k = 0; k < s->nnode; k++) {
        v3 x = pose_point(s->pose, s->node[k]);
        bool wanted = !plan->taken[k] && (!box || is_in_box(&d, s->node[k])) &&
                      (!near || distance_to_holder(l, &h, x) <= d.distance);
        if (wanted && !h.moves && !stiff) {
            plan->held[k] = plan->taken[k] = true;
            plan->holder[k] = h.index;
            fixed++;
        } else if (wanted) {
            plan->taken[k] = true;
            plan->list[plan->count++] = (held_node){k, h.index, pose_point(pose_inverse(h.X), x),
                                                    stiff ? d.stiffness : INFINITY, stiff ? d.dissipation : 0};
        }
    }
    if (plan->count == before && !fixed) {
        report_once(&l->report, n, NULL, "no node of \"%.80s\" is there, that no attachment before holds", e->name);
        return false;
    }
    return true;
}

bool plan_attachments(loader *l, const entry *e, const soft_data *d, const sim_soft *s, attachment_plan *plan) {
    *plan = (attachment_plan){.held = POOL_NEW(l->work, bool, s->nnode),
                              .taken = POOL_NEW(l->work, bool, s->nnode),
                              .holder = POOL_NEW(l->work, int, s->nnode),
                              .list = POOL_NEW(l->work, held_node, s->nnode)};
    if (!plan->held || !plan->taken || !plan->holder || !plan->list) {
        l->report.no_memory = true;
        return false;
    }
    bool good = true;
    for (const node *n = d->attachments ? d->attachments->first : NULL; n; n = n->next) {
        good &= plan_attachment(l, e, n, s, plan);
    }
    return good;
}

void add_attachments(loader *l, const attachment_plan *plan, int first) {
    for (int k = 0; k < plan->count; k++) {
        const held_node *h = &plan->list[k];
        sim_equality equality = sim_equality_default();
        equality.type = SIM_CONNECT;
        equality.body[0] = h->body;
        equality.body[1] = first + h->node;
        equality.frame[0].p = h->point;
        equality.stiffness = h->stiffness;
        equality.dissipation = h->dissipation;
        sim_builder_add_equality(l->builder, &equality);
        sim_builder_add_exclusion(l->builder, h->body, first + h->node);
    }
}
