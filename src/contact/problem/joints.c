/* The row of a joint: the end of a range, or dry friction.
 *
 *     low end    gap = q - low     J = e_j          its impulse pushes up, >= 0
 *     high end   gap = high - q    J = -e_j
 *     friction   gap = 0           J = e_j          within +- dt friction
 */
#include "contact/problem/assembly.h"

void rows_of_joint(assembly *f, const sim_model *m, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_dof *dof = &m->dof[t->index];
    double q = f->in->q_start[dof->coordinate];
    int which = t->kind == SOURCE_LOW ? 0 : t->kind == SOURCE_HIGH ? 1 : 2, row = f->row[i];
    block_of(f, i, 0)[t->index - m->tree[t->tree[0]].v0] = t->kind == SOURCE_HIGH ? -1 : 1;
    widen_columns(f, m, i, 0, t->index, t->index + 1);
    f->gap[row] = t->kind == SOURCE_LOW ? q - dof->limit.low : t->kind == SOURCE_HIGH ? dof->limit.high - q : 0;
    f->impulse_guess[row] = f->in->joint_before[3 * t->index + which];
}
