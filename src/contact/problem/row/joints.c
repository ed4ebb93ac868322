/* The row of a joint: the end of a range, dry friction, or a velocity limit.
 *
 *     low end      gap = q - low     J = e_j          its impulse pushes up, >= 0
 *     high end     gap = high - q    J = -e_j
 *     friction     gap = 0           J = e_j          within +- dt friction
 *     low speed    gap = 0           J = e_j          w = limit:  u = v + limit >= 0, its impulse pushes up, >= 0
 *     high speed   gap = 0           J = -e_j         u = limit - v >= 0
 */
#include "contact/problem/row/row.h"

static bool points_down(source_kind kind) { return kind == SOURCE_HIGH || kind == SOURCE_SPEED_HIGH; }

int joint_row_of(source_kind kind) {
    return kind == SOURCE_LOW        ? SIM_ROW_LOW
           : kind == SOURCE_HIGH     ? SIM_ROW_HIGH
           : kind == SOURCE_FRICTION ? SIM_ROW_FRICTION
                                     : SIM_ROW_SPEED;
}

double joint_impulse_of(source_kind kind, double impulse) { return kind == SOURCE_SPEED_HIGH ? -impulse : impulse; }

void rows_of_joint(assembly *f, const sim_model *m, int i) {
    /* J, gap, offset */
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_dof *dof = &m->dof[t->index];
    double q = dof->coordinate < 0 ? 0 : f->in->q_start[dof->coordinate];
    int row = f->row[i];
    block_of(f, i, 0)[t->index - m->tree[t->tree[0]].v0] = points_down(t->kind) ? -1 : 1;
    widen_columns(f, m, i, 0, t->index, t->index + 1);
    f->gap[row] = t->kind == SOURCE_LOW ? q - dof->limit.low : t->kind == SOURCE_HIGH ? dof->limit.high - q : 0;
    if (t->kind == SOURCE_SPEED_LOW || t->kind == SOURCE_SPEED_HIGH) {
        f->offset[row] = dof->velocity_limit;
        f->rolls[i] = HAS_NO_GAP; /* a bound of speed: no position to correct */
    }
    /* warm start; one number holds the impulses of both speeds */
    double before = f->in->joint_before[SIM_JOINT_ROWS * t->index + joint_row_of(t->kind)];
    before = joint_impulse_of(t->kind, before);
    f->impulse_guess[row] = f->rolls[i] == HAS_NO_GAP ? max_of(0, before) : before;
}
