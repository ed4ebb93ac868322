/* Into what is a constraint split?
 *
 * A slot is a part z_ij of the velocity z_i = sum_j z_ij that a constraint sees, given by one part of the system alone
 * (Lee et al. 2024, eqs. 30, 31):
 *
 *     bodies   a body: J_ij = J_ib J_b.  Contacts within a tree have two slots, stacked and not summed, so that what slots
 *              add to A stays block diagonal in the bodies.  Rows of joints are split over their dofs, J_ij = J_ik e_k', by
 *              the same reasoning: each adds to one number of the diagonal, whatever dofs a row may tie
 *     trees    a tree: all of its columns
 *     none     the whole
 *
 * Trees of one body are the same under bodies and trees. */
#include "solver/subadmm.h"

#include <string.h>

static int tree_of_body(const sim_problem_bodies *b, int ntree, int body) {
    int low = 0, high = ntree;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (b->first[middle] <= body) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int node_of_tree(const subadmm *s, int tree) { return s->node[tree]; }

/* A body's part in a constraint on bodies, if its tree is split over them. */
static subadmm_side body_side(const subadmm *s, const sim_body_rows *on, int side) {
    int nbody = s->bodies.is->nbody;
    return (subadmm_side){.at = s->problem->nv + 8 * (on->chain * nbody + on->body[side]),
                          .n = 6,
                          .stride = 6,
                          .J = s->bodies.is->J + on->block[side]};
}

/* All that a tree has in it. */
static subadmm_side tree_side(const subadmm *s, const sim_constraint *c, int side) {
    const sim_problem_tree *t = &s->problem->tree[c->tree[side]];
    sim_columns of = sim_block_columns(s->problem, c, side);
    return (subadmm_side){
        .at = t->v0 + of.first, .n = of.count, .stride = t->nv, .J = s->problem->J + c->block[side] + of.first};
}

static int is_split(const subadmm *s, int tree) {
    int node = node_of_tree(s, tree);
    return node >= 0 && s->tree[node].form != SUBADMM_DENSE;
}

/* Sides of a constraint on bodies. */
static int split_over_bodies(subadmm *s, int i, subadmm_side *side, int *tree) {
    const sim_constraint *c = &s->problem->constraint[i];
    const sim_body_rows *on = &s->bodies.is->rows[i];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        if (on->body[k] >= 0) {
            tree[count] = tree_of_body(s->bodies.is, s->problem->ntree, on->body[k]);
            side[count] = is_split(s, tree[count]) ? body_side(s, on, k)
                                                   : tree_side(s, c, tree[count] == c->tree[0] ? 0 : 1);
            count++;
        }
    }
    return count;
}

static int split_over_trees(const subadmm *s, int i, subadmm_side *side, int *tree) {
    const sim_constraint *c = &s->problem->constraint[i];
    int count = 0;
    for (int k = 0; k < 2 && c->tree[k] >= 0; k++) {
        tree[count] = c->tree[k];
        side[count++] = tree_side(s, c, k);
    }
    return count;
}

/* Which slots a row has on a side: one, or one for each dof of joints that it ties. */
static int slots_of_row(const subadmm_side *side, int row, int by_dof) {
    int count = 0;
    for (int j = 0; j < side->n && by_dof; j++) {
        count += side->J[(ptrdiff_t)row * side->stride + j] != 0;
    }
    return by_dof ? count : 1;
}

/* 1 / weight of every slot, and their sum by row. */
static void weigh_slots(subadmm *s, int i, const int *tree, int sides) {
    const sim_constraint *c = &s->problem->constraint[i];
    int joints = s->bodies.is && s->bodies.is->rows[i].body[0] < 0 && s->bodies.is->rows[i].body[1] < 0;
    for (int r = 0; r < c->rows; r++) {
        double slack = 0;
        for (int k = 0; k < sides; k++) {
            int by_dof = joints && is_split(s, tree[k]);
            slack += slots_of_row(&s->side[i][k], r, by_dof) / s->weight[i][k];
        }
        s->slack[c->row + r] = s->split == SUBADMM_NONE ? 1 / s->weight[i][0] : slack;
    }
}

void subadmm_split_up(subadmm *s) {
    const sim_problem_bodies *b = s->bodies.is;
    for (int i = 0; i < s->problem->nconstraint; i++) {
        subadmm_side none = {0};
        int tree[2], joints = b && b->rows[i].body[0] < 0 && b->rows[i].body[1] < 0;
        s->side[i][0] = s->side[i][1] = none;
        int sides = b && !joints ? split_over_bodies(s, i, s->side[i], tree)
                                 : split_over_trees(s, i, s->side[i], tree);
        weigh_slots(s, i, tree, sides);
    }
}
