/* Point at which a contact acts: midway between the surfaces, or on the surface of the body that moves. */
#include "world/contact/contacts.h"

#include <math.h>

static bool can_move(const sim_model *m, int body) {
    int tree = m->body[body].tree;
    return tree >= 0 && m->tree[tree].nv > 0;
}

v3 acting_point(const sim_model *m, const sim_contact *c, v3 midway, v3 normal, double gap) {
    bool a_moves = can_move(m, c->body_a), one_moves = a_moves != can_move(m, c->body_b);
    return one_moves && isinf(c->stiffness) && gap < 0 ? v3_axpy(midway, (a_moves ? 0.5 : -0.5) * gap, normal) : midway;
}
