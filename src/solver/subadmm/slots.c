/* Split of constraints into slots, and the layout of their data.
 *
 * A slot is the part z_ij of the velocity z_i = sum_j z_ij of a constraint that part j of the system contributes (Lee
 * et al. 2024, eqs. 30, 31).  The parts are
 *
 *     bodies   bodies: J_ij = J_ib J_b.  A contact within a tree has two slots, stacked and not summed, so that the
 *              terms added to A stay block diagonal in the bodies.  Rows of joints are split over their dofs,
 *              J_ij = J_ik e_k': each adds to one diagonal number, whatever dofs and trees a row couples
 *     trees    trees, with all their columns
 *     none     the whole system
 *
 * Trees of one body are the same under bodies and trees.  Trees of at most six dofs are rows of the lanes (lanes.h),
 * and so is each body of a split tree.  Contacts between such rows are in the lanes.  The row of a free body holds its
 * velocity V = S v in world axes, in which contact rows are those of a point. */
#include "solver/subadmm/lanes/batch_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROW_NUMBERS = LANES, MAX_LANE_DOFS = 6 };

/* ---- trees ---- */

static bool has_bodies(const subadmm *s) { return s->bodies.is != NULL; }

static bool is_in_row(const subadmm_tree *t) { return t->form == SUBADMM_LANE || t->form == SUBADMM_ROW; }

static void find_touched_trees(subadmm *s, subadmm_form of_bodies) {
    const sim_problem *p = s->problem;
    for (int t = 0; t < p->ntree; t++) {
        s->node[t] = -1;
    }
    /* trees with constraints */
    for (int k = 0; k < 2 * p->nconstraint; k++) {
        int tree = p->constraint[k / 2].tree[k % 2];
        if (tree >= 0) {
            s->node[tree] = 0;
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        if (s->node[t] < 0) {
            continue;
        }
        /* their index, bodies and form */
        int nv = p->tree[t].nv, first = has_bodies(s) ? s->bodies.is->first[t] : 0;
        int end = has_bodies(s) ? s->bodies.is->first[t + 1] : 0;
        s->node[t] = s->ntree;
        for (int b = first; b < end; b++) {
            s->bodies.node[b] = s->ntree;
        }
        s->tree[s->ntree++] = (subadmm_tree){.form = s->split == SUBADMM_BODIES && end - first > 1 ? of_bodies
                                                     : nv > MAX_LANE_DOFS                          ? SUBADMM_DENSE
                                                     : s->split == SUBADMM_NONE                    ? SUBADMM_ROW
                                                                                                   : SUBADMM_LANE,
                                             .index = t,
                                             .v0 = p->tree[t].v0,
                                             .nv = nv,
                                             .body0 = first,
                                             .body1 = end,
                                             .lane = -1};
    }
}

/* S' of a free body, if S is orthogonal. */
static double *copy_turn(subadmm *s, const subadmm_tree *t) {
    const sim_motion *S = s->bodies.is->chain[SIM_CHAIN_START].S + t->v0;
    double *turn = ARENA_NEW(s->call->scratch, double, 36);
    for (int j = 0; j < MAX_LANE_DOFS && turn; j++) {
        const double of[6] = {S[j].ang.x, S[j].ang.y, S[j].ang.z, S[j].lin.x, S[j].lin.y, S[j].lin.z};
        memcpy(turn + 6 * j, of, sizeof of);
    }
    return turn;
}

static bool is_orthogonal(const double *turn) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++) {
                sum += turn[6 * i + k] * turn[6 * j + k];
            }
            if (!(fabs(sum - (i == j)) <= 16 * DBL_EPSILON)) {
                return false;
            }
        }
    }
    return true;
}

/* Assigns rows of the lanes; their number, -1 without memory. */
static int number_lane_rows(subadmm *s) {
    int count = 0;
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_DENSE) {
            continue;
        }
        t->lane = count;
        count += subadmm_is_split(t) ? t->body1 - t->body0 : 1;
        if (!subadmm_is_split(t) && t->nv == MAX_LANE_DOFS && t->body1 - t->body0 == 1) {
            double *turn = copy_turn(s, t);
            if (!turn) {
                return -1;
            }
            t->turn = is_orthogonal(turn) ? turn : NULL;
        }
    }
    return count;
}

/* The chains of gaps and of A are equal in all split trees. */
static bool has_equal_chains(const subadmm *s) {
    const sim_body_chain *a = &s->bodies.is->chain[SIM_CHAIN_START], *b = &s->bodies.is->chain[SIM_CHAIN_MASS];
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        size_t bodies = (size_t)(t->body1 - t->body0 - 1);
        if (subadmm_is_split(t) && (memcmp(a->S + t->v0, b->S + t->v0, (size_t)t->nv * sizeof *a->S) != 0 ||
                                    memcmp(a->r + t->body0 + 1, b->r + t->body0 + 1, bodies * sizeof *a->r) != 0)) {
            return false;
        }
    }
    return true;
}

/* ---- constraints ---- */

static bool uses_body_rows(const subadmm *s, int i) {
    return has_bodies(s) && (s->bodies.is->rows[i].body[0] >= 0 || s->bodies.is->rows[i].body[1] >= 0);
}

/* Parts of a constraint: its bodies where known, else its trees.  `node`: their trees; `side`: their side in the rows
 * of the problem or of the bodies.  Returns their number. */
static int find_parts_of(const subadmm *s, int i, int node[2], int side[2]) {
    const sim_constraint *c = &s->problem->constraint[i];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        int part = uses_body_rows(s, i) ? s->bodies.is->rows[i].body[k] : c->tree[k];
        if (part >= 0) {
            node[count] = uses_body_rows(s, i) ? s->bodies.node[part] : s->node[part];
            side[count++] = k;
        }
    }
    /* two bodies of an unsplit tree are one part */
    return count == 2 && node[0] == node[1] && !subadmm_is_split(&s->tree[node[0]]) ? 1 : count;
}

/* Rows of the problem in a tree. */
static const double *tree_rows(const subadmm *s, int i, const subadmm_tree *t) {
    const sim_constraint *c = &s->problem->constraint[i];
    return s->problem->J + c->block[c->tree[0] == t->index ? 0 : 1];
}

static int chain_of(const subadmm *s, int i) {
    return s->bodies.two_chains ? s->bodies.is->rows[i].chain : SIM_CHAIN_START;
}

/* The constraint is a contact between rows of the lanes. */
static bool fits_lanes(const subadmm *s, int i) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    int node[2], side[2], count = find_parts_of(s, i, node, side),
                          fits = c->kind == SIM_CONTACT && isfinite(R[0] + R[2]);
    for (int k = 0; k < count; k++) {
        const subadmm_tree *t = &s->tree[node[k]];
        fits = fits && t->lane >= 0 && (t->turn || subadmm_is_split(t) ? uses_body_rows(s, i) : 1);
        fits =
            fits && (!uses_body_rows(s, i) || chain_of(s, i) == SIM_CHAIN_START || !(t->turn || subadmm_is_split(t)));
    }
    return fits && count;
}

/* Three rows of six numbers. */
static const double *lane_rows(subadmm *s, int i, const subadmm_tree *t, int side) {
    if (t->turn || subadmm_is_split(t)) {
        return s->bodies.is->J + s->bodies.is->rows[i].block[side];
    }
    const double *J = tree_rows(s, i, t);
    double *padded = t->nv < MAX_LANE_DOFS ? ARENA_NEW(s->call->scratch, double, 18) : NULL;
    for (int k = 0; k < 18 && padded; k++) {
        padded[k] = k % 6 < t->nv ? J[k / 6 * t->nv + k % 6] : 0;
    }
    return t->nv < MAX_LANE_DOFS ? padded : J;
}

static double warm_start_of(const subadmm *s, int row) {
    const double *guess = s->problem->impulse_guess;
    return guess && isfinite(guess[row]) ? guess[row] : 0;
}

static bool fill_lane_contact(subadmm *s, int i, admm_contact *to) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    int node[2], side[2], count = find_parts_of(s, i, node, side);
    bool ok = true;
    *to = (admm_contact){.body = {-1, -1}, .friction = c->friction, .R_t = R[0], .R_n = R[2]};
    memcpy(to->target, s->target + c->row, sizeof to->target);
    for (int k = 0; k < 3; k++) {
        to->lambda[k] = warm_start_of(s, c->row + k);
    }
    for (int k = 0; k < count; k++) {
        const subadmm_tree *t = &s->tree[node[k]];
        to->body[k] = t->lane + (subadmm_is_split(t) ? s->bodies.is->rows[i].body[side[k]] - t->body0 : 0);
        to->J[k] = lane_rows(s, i, t, side[k]);
        ok = ok && to->J[k] != NULL;
    }
    return ok;
}

/* Contacts of the lanes.  Trees with other constraints, too, are not solved there. */
static bool find_contacts(subadmm *s, char *solved, admm_contact *contact) {
    s->input = (admm_input){.nbody = s->input.nbody, .solved = solved, .contact = contact};
    memset(solved, 0, (size_t)s->input.nbody);
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int node[2], side[2], count = find_parts_of(s, i, node, side);
        s->lane_of[i] = fits_lanes(s, i) ? s->input.ncontact++ : -1;
        s->beside += s->lane_of[i] < 0;
        if (s->lane_of[i] >= 0 && !fill_lane_contact(s, i, &contact[s->lane_of[i]])) {
            return false;
        }
        for (int k = 0; k < count && s->lane_of[i] < 0; k++) {
            subadmm_tree *t = &s->tree[node[k]];
            t->form = t->form == SUBADMM_LANE ? SUBADMM_ROW : t->form;
        }
    }
    for (int k = 0; k < s->ntree; k++) {
        if (s->tree[k].form == SUBADMM_LANE) {
            solved[s->tree[k].lane] = 1;
        }
    }
    return true;
}

/* ---- all other rows ---- */

/* Row of a body in `rows`: x or its response. */
static double *lane_row(const subadmm *s, double *rows, int lane) {
    return rows + (ptrdiff_t)ROW_NUMBERS * s->lanes.row_of[lane];
}

static subadmm_side make_body_side(const subadmm *s, int i, const subadmm_tree *t, int side) {
    const sim_body_rows *on = &s->bodies.is->rows[i];
    int body = on->body[side], lane = t->lane + body - t->body0, chain = chain_of(s, i);
    ptrdiff_t at = (ptrdiff_t)ROW_NUMBERS * body;
    bool start = chain == SIM_CHAIN_START;
    return (subadmm_side){.n = 6,
                          .stride = 6,
                          .J = s->bodies.is->J + on->block[side],
                          .x = start ? lane_row(s, s->lanes.row, lane) : s->bodies.V + at,
                          .response = start ? lane_row(s, s->lanes.response, lane) : s->bodies.response + at,
                          .push = s->bodies.push[chain] + at,
                          .body = body,
                          .dof = -1,
                          .chain = chain};
}

/* J of a row that holds V: J v = (J turn) V. */
static double *turn_rows(subadmm *s, const double *J, int rows, const double *turn) {
    double *to = ARENA_NEW(s->call->scratch, double, 6 * rows);
    for (int k = 0; k < 6 * rows && to; k++) {
        to[k] = 0;
        for (int j = 0; j < 6; j++) {
            to[k] += J[k / 6 * 6 + j] * turn[6 * j + k % 6];
        }
    }
    return to;
}

static subadmm_side make_tree_side(subadmm *s, int i, const subadmm_tree *t) {
    const sim_constraint *c = &s->problem->constraint[i];
    sim_columns of = sim_block_columns(s->problem, c, c->tree[0] == t->index ? 0 : 1);
    subadmm_side side = {.n = t->turn ? 6 : of.count,
                         .stride = t->nv,
                         .J = tree_rows(s, i, t),
                         .body = -1,
                         .dof = t->v0 + (t->turn ? 0 : of.first)};
    side.push = s->push + side.dof;
    int row = t->form == SUBADMM_ROW, first = side.dof - t->v0;
    side.x = row ? lane_row(s, s->lanes.row, t->lane) + first : s->x + side.dof;
    side.response = row ? lane_row(s, s->lanes.response, t->lane) + first : s->v + side.dof;
    side.J = t->turn ? turn_rows(s, side.J, c->rows, t->turn) : side.J + of.first;
    return side;
}

static bool find_sides(subadmm *s) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int node[2], part[2], count = s->lane_of[i] < 0 ? find_parts_of(s, i, node, part) : 0;
        memset(s->side[i], 0, sizeof s->side[i]);
        for (int k = 0; k < count; k++) {
            const subadmm_tree *t = &s->tree[node[k]];
            s->side[i][k] = subadmm_is_split(t) && uses_body_rows(s, i) ? make_body_side(s, i, t, part[k])
                                                                        : make_tree_side(s, i, t);
            s->side[i][k].tree = node[k];
            if (!s->side[i][k].J) {
                return false;
            }
        }
    }
    return true;
}

/* ---- slacks ---- */

/* Slots of a row on one side: one, or one for each dof of its joints. */
static int count_slots(const subadmm *s, const subadmm_side *side, int row) {
    int count = 0, by_dof = subadmm_is_split(&s->tree[side->tree]) && side->body < 0;
    for (int j = 0; j < side->n && by_dof; j++) {
        count += side->J[(ptrdiff_t)row * side->stride + j] != 0;
    }
    return by_dof ? count : 1;
}

static void find_slacks(subadmm *s) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        int node[2], part[2], count = find_parts_of(s, i, node, part);
        for (int r = 0; r < c->rows; r++) {
            int slots = s->lane_of[i] >= 0 ? count : 0;
            for (int k = 0; k < count && s->lane_of[i] < 0; k++) {
                slots += count_slots(s, &s->side[i][k], r);
            }
            s->slack[c->row + r] = (s->split == SUBADMM_NONE ? 1 : slots) / s->weight[i];
        }
    }
}

/* ---- allocation ---- */

static bool allocate_bodies(subadmm *s) {
    sim_arena *scratch = s->call->scratch;
    subadmm_bodies *b = &s->bodies;
    size_t nv = (size_t)s->problem->nv, bodies = (size_t)b->is->nbody;
    b->parent = ARENA_NEW(scratch, int, nv);
    b->depth = ARENA_NEW(scratch, int, nv);
    b->run = ARENA_NEW(scratch, int, nv);
    b->row = ARENA_NEW(scratch, ptrdiff_t, nv);
    b->node = ARENA_NEW(scratch, int, bodies);
    b->joint = ARENA_NEW(scratch, double, nv);
    bool ok = b->parent && b->depth && b->run && b->row && b->node && b->joint;
    for (int chain = 0; chain < SIM_CHAINS; chain++) {
        b->push[chain] = ARENA_NEW(scratch, double, ROW_NUMBERS *bodies);
        b->added[chain] = ARENA_NEW(scratch, double, 36 * bodies);
        ok = ok && b->push[chain] && b->added[chain];
    }
    return ok;
}

static bool make_lanes(subadmm *s) {
    sim_arena *scratch = s->call->scratch;
    size_t constraints = (size_t)s->problem->nconstraint;
    s->input.nbody = number_lane_rows(s);
    if (s->input.nbody < 0) {
        return false;
    }
    char *solved = ARENA_NEW(scratch, char, s->input.nbody);
    admm_contact *contact = ARENA_NEW(scratch, admm_contact, constraints);
    return solved && contact && find_contacts(s, solved, contact) && admm_lanes_pack(&s->lanes, &s->input, scratch);
}

/* `numbers` rounded up to whole cache lines. */
static size_t pad_to_lines(size_t numbers) { return (numbers + LANES - 1) / LANES * LANES; }

/* The state: x, lambda, impulses and rows of the lanes, V.  Rows of bodies in trees, and V, follow from x. */
static bool make_state(subadmm *s) {
    size_t lanes = s->lanes.state_numbers, nv = 0, rows = 0;
    size_t V = s->bodies.two_chains ? ROW_NUMBERS * (size_t)s->bodies.is->nbody : 0;
    /* sizes: x and lambda only where some tree or constraint needs them */
    for (int k = 0; k < s->ntree; k++) {
        nv = is_in_row(&s->tree[k]) ? nv : (size_t)s->problem->nv;
    }
    for (int i = 0; i < s->problem->nconstraint; i++) {
        rows = s->lane_of[i] >= 0 ? rows : (size_t)s->problem->nrow;
    }
    size_t numbers = pad_to_lines(nv) + pad_to_lines(rows) + lanes + V;
    /* allocate */
    s->state = ARENA_NEW(s->call->scratch, double, numbers + LANES); /* padded for vector reads */
    s->before = ARENA_NEW(s->call->scratch, double, numbers + LANES);
    s->least = ARENA_NEW(s->call->scratch, double, numbers);
    s->bodies.response = ARENA_NEW(s->call->scratch, double, V);
    s->push = ARENA_NEW(s->call->scratch, double, s->problem->nv + LANES);
    if (!s->state || !s->before || !s->least || !s->push || !s->bodies.response) {
        return false;
    }
    /* addresses, and zero */
    s->numbers = (int)numbers;
    s->x = s->state;
    s->lambda = s->x + pad_to_lines(nv);
    s->bodies.V = s->lambda + pad_to_lines(rows) + lanes;
    memset(s->state, 0, numbers * sizeof *s->state);
    memset(s->least, 0, numbers * sizeof *s->least); /* zero impulses, in case E is never finite */
    admm_lanes_begin(&s->lanes, &s->input, s->lambda + pad_to_lines(rows));
    /* numbers that determine the rest */
    s->independent = (int)(s->lanes.row - s->state) + LANES * (s->lanes.solved_batches * LANES);
    for (int k = 0; k < s->ntree; k++) {
        s->independent = s->tree[k].form == SUBADMM_ROW ? s->numbers : s->independent;
    }
    /* warm start */
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int r = c->row; r < c->row + c->rows && s->lane_of[i] < 0; r++) {
            s->lambda[r] = warm_start_of(s, r);
        }
    }
    return true;
}

/* Weights of the lanes' slots; unsplit, both sides together are one slot. */
static bool set_lane_weights(subadmm *s) {
    /* memory */
    size_t contacts = (size_t)s->input.ncontact;
    double *rho = ARENA_NEW(s->call->scratch, double, contacts);
    s->slot = arena_alloc(s->call->scratch, contacts, sizeof *s->slot);
    s->kept = ARENA_NEW(s->call->scratch, char, 3 * contacts);
    if (!rho || !s->slot || !s->kept) {
        return false;
    }
    s->open = s->kept + contacts;
    s->back = s->open + contacts;
    /* all contacts kept, none open */
    memset(s->kept, 1, contacts);
    memset(s->open, 0, 2 * contacts);
    /* weights of both slots; unsplit, both sides are one slot with twice the weight */
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int k = s->lane_of[i];
        if (k >= 0) {
            bool halves = s->split == SUBADMM_NONE && s->input.contact[k].body[1] >= 0;
            s->slot[k][0] = s->slot[k][1] = halves ? 2 * s->weight[i] : s->weight[i];
            rho[k] = s->rho[i];
        }
    }
    admm_lanes_set_rho(&s->lanes, rho);
    return true;
}

bool subadmm_make_layout(subadmm *s, bool articulated) {
    sim_arena *scratch = s->call->scratch;
    size_t constraints = (size_t)s->problem->nconstraint, trees = (size_t)s->problem->ntree;
    s->tree = ARENA_NEW(scratch, subadmm_tree, trees);
    s->node = ARENA_NEW(scratch, int, trees);
    s->lane_of = ARENA_NEW(scratch, int, constraints);
    s->side = arena_alloc(scratch, constraints, sizeof *s->side);
    if (!s->tree || !s->node || !s->lane_of || !s->side || (has_bodies(s) && !allocate_bodies(s))) {
        return false;
    }
    find_touched_trees(s, articulated ? SUBADMM_ARTICULATED : SUBADMM_BRANCH);
    s->bodies.two_chains = has_bodies(s) && !has_equal_chains(s);
    for (int k = 0; k < s->ntree && s->bodies.two_chains; k++) { /* the articulated form needs equal chains */
        s->tree[k].form = subadmm_is_split(&s->tree[k]) ? SUBADMM_BRANCH : s->tree[k].form;
    }
    if (!make_lanes(s) || !make_state(s) || !find_sides(s)) {
        return false;
    }
    find_slacks(s);
    return set_lane_weights(s) && (!has_bodies(s) || subadmm_find_batches(s));
}

void subadmm_restart(subadmm *s, const double *impulse) {
    size_t contacts = (size_t)s->input.ncontact;
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        if (s->lane_of[i] >= 0) {
            admm_lanes_set_impulse(&s->lanes, s->lane_of[i], impulse + c->row);
        } else {
            memcpy(s->lambda + c->row, impulse + c->row, (size_t)c->rows * sizeof *impulse);
        }
    }
    memset(s->kept, 1, contacts);
    memset(s->open, 0, 2 * contacts); /* and `back` */
}
