/* Sizes that drawing is relative to: reach of each body, typical size, typical force.
 *
 *     body      greatest |pose of a shape| + radius of the shape, m; of a soft body and its nodes its greatest |node|
 *     typical   median of the bodies that move and have shapes, else of all that have, else distance of a joint from its
 *               parent, else 1 m
 *     force     mean weight of the bodies, N, else 1 N */
#include "view/mesh/sizes.h"
#include "math/v3.h"

#include <stdlib.h>

/* From the origin of the shape; 0 for half-spaces, which have no end. */
static double shape_radius(const sim_shape *shape) {
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_SPHERE:
        return s[0];
    case SIM_BOX:
        return 0.5 * v3_norm(v3_make(s[0], s[1], s[2]));
    case SIM_CAPSULE:
        return s[0] + 0.5 * s[1];
    case SIM_CYLINDER:
        return hypot(s[0], 0.5 * s[1]);
    case SIM_ELLIPSOID:
        return max_of(s[0], max_of(s[1], s[2]));
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
        return shape->geometry->radius;
    case SIM_HALF_SPACE:
    case SIM_SHAPE_TYPES:
        break;
    }
    return 0;
}

/* Of two bodies hung on each other, how far the one stands from the other tells as much as a shape. */
static double joint_distance(const sim_body *body) { return v3_norm(body->placement.p); }

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Does anything let the body move, or is it soft? */
static bool moves(const sim_model *model, int body) {
    for (int k = 0; k < model->nsoft; k++) {
        if (model->soft[k].body == body) {
            return true;
        }
    }
    while (body > 0 && model->body[body].joint == SIM_FIXED) {
        body = model->body[body].parent;
    }
    return body > 0;
}

/* The middle one of the bodies whose size is known, of all or of those that move; 0 without one. */
static double median_size(const sim_model *model, const double *size, bool all, double *room) {
    int known = 0;
    for (int i = 0; i < model->nbody; i++) {
        if (size[i] > 0 && (all || moves(model, i))) {
            room[known++] = size[i];
        }
    }
    qsort(room, (size_t)known, sizeof *room, by_size);
    return known ? room[known / 2] : 0;
}

/* Of bodies, else of joint distances. */
static double typical_size(const sim_model *model, const double *size, double *room) {
    double typical = median_size(model, size, false, room);
    typical = typical > 0 ? typical : median_size(model, size, true, room);
    for (int i = 1; i < model->nbody && typical == 0; i++) {
        typical = model->body[i].parent ? joint_distance(&model->body[i]) : 0;
    }
    return typical > 0 ? typical : 1;
}

/* A soft body with all its nodes counts as one. */
static double mean_weight(const sim_model *model) {
    double mass = 0;
    int count = model->nsoft;
    for (int i = 1; i < model->nbody; i++) {
        count += model->body[i].inertia.mass > 0;
        mass += model->body[i].inertia.mass;
    }
    for (int k = 0; k < model->nsoft; k++) {
        count -= model->soft[k].nnode;
    }
    double weight = count ? mass / count * v3_norm(model->gravity) : 0;
    return weight > 0 && isfinite(weight) ? weight : 1;
}

static double soft_radius(const sim_soft *s) {
    double most = 0;
    for (int n = 0; n < s->nnode; n++) {
        most = max_of(most, v3_norm(s->node[n]));
    }
    return most;
}

static void set_nodes(view_sizes *sizes, const sim_soft *s, double size) {
    for (int n = 0; n < s->nnode; n++) {
        sizes->body[s->body + 1 + n] = size;
    }
}

bool view_sizes_find(view_sizes *sizes, const sim_model *model) {
    /* memory */
    size_t count = (size_t)model->nbody;
    double *room = calloc(count, sizeof *room);
    sizes->body = calloc(count, sizeof *sizes->body);
    if (!room || !sizes->body) {
        free(room);
        return false;
    }
    /* reach of the shapes of each body, of soft ones as a whole */
    for (int k = 0; k < model->nshape; k++) {
        const sim_shape *shape = &model->shape[k];
        double *size = &sizes->body[shape->body];
        *size = shape->body ? max_of(*size, shape_radius(shape) + v3_norm(shape->pose.p)) : 0;
    }
    for (int k = 0; k < model->nsoft; k++) {
        set_nodes(sizes, &model->soft[k], 0);
        sizes->body[model->soft[k].body] = soft_radius(&model->soft[k]);
    }
    sizes->typical = typical_size(model, sizes->body, room);
    for (int i = 0; i < model->nbody; i++) {
        sizes->body[i] = sizes->body[i] > 0 ? sizes->body[i] : sizes->typical;
    }
    for (int k = 0; k < model->nsoft; k++) {
        set_nodes(sizes, &model->soft[k], soft_radius(&model->soft[k]));
    }
    /* typical force */
    sizes->force = mean_weight(model);
    free(room);
    return true;
}

void view_sizes_free(view_sizes *sizes) { free(sizes->body); }
