/* Motion axes of a path at a point, and how forces that act there change with them. */
#ifndef DYN_MASS_WRENCH_H
#define DYN_MASS_WRENCH_H

#include "dyn/motion/rigid.h"
#include "model/parts/joint.h"

/* Do two dofs of one path belong to one orientation? */
static inline bool turn_together(const sim_model *m, int j, int k) {
    const sim_body *b = &m->body[m->dof[j].body];
    int first = joint_facts_of(b->joint)->quaternion;
    return m->dof[j].body == m->dof[k].body && first >= 0 && j >= b->v0 + first && k >= b->v0 + first;
}

/* S_j x S_k where dof j moves the axis of k, else zero. */
static inline motion axis_change(const sim_model *m, int j, int k, motion S_j, motion S_k) {
    if (j < k || turn_together(m, j, k)) {
        return (motion){v3_cross(S_j.ang, S_k.ang), v3_add(v3_cross(S_j.ang, S_k.lin), v3_cross(S_j.lin, S_k.ang))};
    }
    return (motion){{0, 0, 0}, {0, 0, 0}};
}

#endif
