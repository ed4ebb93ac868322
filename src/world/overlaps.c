/* Pairs of bodies that overlap in the present state.
 *
 *     gap < -1e-4 r     the deepest contact of every two bodies, r the radius of the ball around the smaller shape, m
 *
 * This is deeper than near-rigid contacts sink at rest, and less than visible.  Contacts with a stiffness may be
 * compressed on purpose: they count only where the energy k depth^2 / 2 exceeds m V^2 / 2.  They would then throw the
 * lighter tree, of mass m, faster than overlaps are undone, V. */
#include "world/core/world.h"

#include <math.h>
#include <stdlib.h>

static const double MIN_RELATIVE_DEPTH = 1e-4;

/* By bodies, then the deepest first, then in the order of the contacts. */
static int compare_overlaps(const void *a, const void *b) {
    const sim_overlap *x = a, *y = b;
    for (int side = 0; side < 2; side++) {
        if (x->body[side] != y->body[side]) {
            return x->body[side] < y->body[side] ? -1 : 1;
        }
    }
    if (x->depth != y->depth) {
        return x->depth > y->depth ? -1 : 1;
    }
    return x->shape[0] != y->shape[0] ? (x->shape[0] > y->shape[0]) - (x->shape[0] < y->shape[0])
                                      : (x->shape[1] > y->shape[1]) - (x->shape[1] < y->shape[1]);
}

static sim_overlap make_overlap(const sim_contact *c) {
    bool turned = c->body_a > c->body_b;
    return (sim_overlap){.body = {turned ? c->body_b : c->body_a, turned ? c->body_a : c->body_b},
                         .shape = {turned ? c->shape_b : c->shape_a, turned ? c->shape_a : c->shape_b},
                         .depth = -c->at.gap};
}

/* kg of the lighter side that can move. */
static double lighter_mass(const sim_world *w, const sim_contact *c) {
    const sim_model *m = w->model;
    const int body[2] = {c->body_a, c->body_b};
    double mass = INFINITY;
    for (int side = 0; side < 2; side++) {
        int tree = m->body[body[side]].tree;
        if (tree >= 0 && m->tree[tree].nv) {
            mass = fmin(mass, w->motion.parts[tree].mass);
        }
    }
    return mass;
}

static bool is_overlap(const sim_world *w, const sim_contact *c) {
    double a = collision_radius(w->collision, c->shape_a), b = collision_radius(w->collision, c->shape_b);
    double depth = -c->at.gap, V = w->options.law.undo;
    return depth > MIN_RELATIVE_DEPTH * fmin(a, b) &&
           (isinf(c->stiffness) || c->stiffness * depth * depth > lighter_mass(w, c) * V * V);
}

static int keep_deepest_of_pairs(sim_overlap *list, int count) {
    int kept = 0;
    for (int k = 0; k < count; k++) {
        const sim_overlap *last = kept ? &list[kept - 1] : NULL;
        if (!last || last->body[0] != list[k].body[0] || last->body[1] != list[k].body[1]) {
            list[kept++] = list[k];
        }
    }
    return kept;
}

sim_status sim_world_overlaps(sim_world *w, sim_overlap **list, int *count, sim_error *error) {
    /* contacts of the present state */
    const sim_contact *contact;
    int contacts = 0, deep = 0;
    *list = NULL;
    *count = 0;
    sim_status status = w->options.contacts ? sim_world_contacts(w, &contact, &contacts, error) : SIM_OK;
    if (status || contacts == 0) {
        return status;
    }
    /* overlaps among them */
    sim_overlap *found = malloc((size_t)contacts * sizeof *found);
    if (!found) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the overlaps of %d contacts", contacts);
    }
    for (int k = 0; k < contacts; k++) {
        if (is_overlap(w, &contact[k])) {
            found[deep++] = make_overlap(&contact[k]);
        }
    }
    /* the deepest of each pair of bodies */
    qsort(found, (size_t)deep, sizeof *found, compare_overlaps);
    *list = found;
    *count = keep_deepest_of_pairs(found, deep);
    return SIM_OK;
}
