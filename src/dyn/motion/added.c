/* Product with operators added to the inertias of bodies.
 *
 *     tau += J' E J a
 *
 *     E      of a body, at its origin: kg m^2, kg m, kg;  J: velocities of the bodies by those of the joints
 *
 * Outwards the accelerations J a, inwards the sums of E J a.     Cost: O(n). */
#include "dyn/motion/added.h"
#include "dyn/motion/rigid.h"

void added_mass_times(sim_derived *d, sim_range range, const sim_articulated *E, const double *a, double *tau) {
    const sim_model *m = d->model;
    /* outwards: accelerations, and what they cost */
    for (int i = range.first; i < range.end; i++) {
        d->acc[i] = carried_acceleration(d, i, a);
        d->force[i] = added_times(&E[i], d->acc[i]);
    }
    /* inwards: sums on the joints */
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            tau[j] += motion_dot(d->S[j], d->force[i]);
        }
        if (b->parent) {
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(d->force[i], d->r[i]));
        }
    }
}
