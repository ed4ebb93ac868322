/* Split of constraints into slots, and the layout of their data.
 *
 * A slot is the part z_ij of the velocity z_i = sum_j z_ij of a constraint that one part j of the system gives (Lee et al.
 * 2024, eqs. 30, 31):
 *
 *     bodies   a body: J_ij = J_ib J_b.  A contact within a tree has two slots, stacked and not summed, so that what slots
 *              add to A stays block diagonal in the bodies.  Rows of joints are split over their dofs, J_ij = J_ik e_k', by
 *              the same reasoning: each adds to one number of the diagonal, whatever dofs and trees a row may tie
 *     trees    a tree, with all its columns
 *     none     the whole
 *
 * Trees of one body are the same under bodies and trees.  Those of six dofs or fewer are rows of the lanes
 * (lanes.h), and so is each body of a tree that is split over them; contacts between such rows are the lanes'.  The
 * row of a free body holds its velocity V = S v in the axes of the world, in which rows of contacts are those of a point. */
#include "solver/subadmm/lanes/batch_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROW = LANES, FEW = 6 };

/* ---- trees ---- */

static int knows_bodies(const subadmm *s) { return s->bodies.is != NULL; }

static int in_row(const subadmm_tree *t) { return t->form == SUBADMM_LANE || t->form == SUBADMM_ROW; }

static void find_trees(subadmm *s, subadmm_form of_bodies) {
    const sim_problem *p = s->problem;
    for (int t = 0; t < p->ntree; t++) {
        s->node[t] = -1;
    }
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
        int nv = p->tree[t].nv, first = knows_bodies(s) ? s->bodies.is->first[t] : 0;
        int end = knows_bodies(s) ? s->bodies.is->first[t + 1] : 0;
        s->node[t] = s->ntree;
        for (int b = first; b < end; b++) {
            s->bodies.node[b] = s->ntree;
        }
        s->tree[s->ntree++] = (subadmm_tree){.form = s->split == SUBADMM_BODIES && end - first > 1 ? of_bodies
                                                     : nv > FEW                                    ? SUBADMM_DENSE
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
static double *turn_of(subadmm *s, const subadmm_tree *t) {
    const sim_motion *S = s->bodies.is->chain[SIM_CHAIN_START].S + t->v0;
    double *turn = ARENA_NEW(s->call->scratch, double, 36);
    for (int j = 0; j < FEW && turn; j++) {
        const double of[6] = {S[j].ang.x, S[j].ang.y, S[j].ang.z, S[j].lin.x, S[j].lin.y, S[j].lin.z};
        memcpy(turn + 6 * j, of, sizeof of);
    }
    return turn;
}

static int orthogonal(const double *turn) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++) {
                sum += turn[6 * i + k] * turn[6 * j + k];
            }
            if (!(fabs(sum - (i == j)) <= 16 * DBL_EPSILON)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Rows of the lanes: how many bodies there are. */
static int number_rows(subadmm *s) {
    int count = 0;
    for (int k = 0; k < s->ntree; k++) {
        subadmm_tree *t = &s->tree[k];
        if (t->form == SUBADMM_DENSE) {
            continue;
        }
        t->lane = count;
        count += subadmm_splits(t) ? t->body1 - t->body0 : 1;
        if (!subadmm_splits(t) && t->nv == FEW && t->body1 - t->body0 == 1) {
            double *turn = turn_of(s, t);
            if (!turn) {
                return -1;
            }
            t->turn = orthogonal(turn) ? turn : NULL;
        }
    }
    return count;
}

/* Are the chains of gaps and of A the same in all trees that are split? */
static int same_place(const subadmm *s) {
    const sim_body_chain *a = &s->bodies.is->chain[SIM_CHAIN_START], *b = &s->bodies.is->chain[SIM_CHAIN_MASS];
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        size_t bodies = (size_t)(t->body1 - t->body0 - 1);
        if (subadmm_splits(t) && (memcmp(a->S + t->v0, b->S + t->v0, (size_t)t->nv * sizeof *a->S) ||
                                  memcmp(a->r + t->body0 + 1, b->r + t->body0 + 1, bodies * sizeof *a->r))) {
            return 0;
        }
    }
    return 1;
}

/* ---- constraints ---- */

static int on_bodies(const subadmm *s, int i) {
    return knows_bodies(s) && (s->bodies.is->rows[i].body[0] >= 0 || s->bodies.is->rows[i].body[1] >= 0);
}

/* The parts of a constraint: its bodies where it knows them, else its trees.  Their nodes; which side of the problem's rows
 * or of the bodies' rows each is. */
static int parts_of(const subadmm *s, int i, int node[2], int side[2]) {
    const sim_constraint *c = &s->problem->constraint[i];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        int part = on_bodies(s, i) ? s->bodies.is->rows[i].body[k] : c->tree[k];
        if (part >= 0) {
            node[count] = on_bodies(s, i) ? s->bodies.node[part] : s->node[part];
            side[count++] = k;
        }
    }
    /* a tree that is not split has one part, whatever its bodies are */
    return count == 2 && node[0] == node[1] && !subadmm_splits(&s->tree[node[0]]) ? 1 : count;
}

/* Rows of the problem in a tree. */
static const double *tree_rows(const subadmm *s, int i, const subadmm_tree *t) {
    const sim_constraint *c = &s->problem->constraint[i];
    return s->problem->J + c->block[c->tree[0] == t->index ? 0 : 1];
}

static int chain_of(const subadmm *s, int i) {
    return s->bodies.two_chains ? s->bodies.is->rows[i].chain : SIM_CHAIN_START;
}

/* Is it a contact between rows of the lanes? */
static int fits_lanes(const subadmm *s, int i) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    int node[2], side[2], count = parts_of(s, i, node, side), fits = c->kind == SIM_CONTACT && isfinite(R[0] + R[2]);
    for (int k = 0; k < count; k++) {
        const subadmm_tree *t = &s->tree[node[k]];
        fits = fits && t->lane >= 0 && (t->turn || subadmm_splits(t) ? on_bodies(s, i) : 1);
        fits = fits && (!on_bodies(s, i) || chain_of(s, i) == SIM_CHAIN_START || !(t->turn || subadmm_splits(t)));
    }
    return fits && count;
}

/* Three rows of six numbers. */
static const double *lane_rows(subadmm *s, int i, const subadmm_tree *t, int side) {
    if (t->turn || subadmm_splits(t)) {
        return s->bodies.is->J + s->bodies.is->rows[i].block[side];
    }
    const double *J = tree_rows(s, i, t);
    double *padded = t->nv < FEW ? ARENA_NEW(s->call->scratch, double, 18) : NULL;
    for (int k = 0; k < 18 && padded; k++) {
        padded[k] = k % 6 < t->nv ? J[k / 6 * t->nv + k % 6] : 0;
    }
    return t->nv < FEW ? padded : J;
}

static double guess_of(const subadmm *s, int row) {
    const double *guess = s->problem->impulse_guess;
    return guess && isfinite(guess[row]) ? guess[row] : 0;
}

static int fill_contact(subadmm *s, int i, admm_contact *to) {
    const sim_constraint *c = &s->problem->constraint[i];
    const double *R = s->call->R + c->row;
    int node[2], side[2], count = parts_of(s, i, node, side), ok = 1;
    *to = (admm_contact){.body = {-1, -1}, .friction = c->friction, .R_t = R[0], .R_n = R[2]};
    memcpy(to->target, s->target + c->row, sizeof to->target);
    for (int k = 0; k < 3; k++) {
        to->lambda[k] = guess_of(s, c->row + k);
    }
    for (int k = 0; k < count; k++) {
        const subadmm_tree *t = &s->tree[node[k]];
        to->body[k] = t->lane + (subadmm_splits(t) ? s->bodies.is->rows[i].body[side[k]] - t->body0 : 0);
        to->J[k] = lane_rows(s, i, t, side[k]);
        ok &= to->J[k] != NULL;
    }
    return ok;
}

/* The contacts of the lanes; trees that something else touches as well are not solved there. */
static int find_contacts(subadmm *s, char *solved, admm_contact *contact) {
    s->input = (admm_input){.nbody = s->input.nbody, .solved = solved, .contact = contact};
    memset(solved, 0, (size_t)s->input.nbody);
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int node[2], side[2], count = parts_of(s, i, node, side);
        s->lane_of[i] = fits_lanes(s, i) ? s->input.ncontact++ : -1;
        s->beside += s->lane_of[i] < 0;
        if (s->lane_of[i] >= 0 && !fill_contact(s, i, &contact[s->lane_of[i]])) {
            return 0;
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
    return 1;
}

/* ---- all other rows ---- */

/* A row of x, or of what answers it. */
static double *row_at(const subadmm *s, double *rows, int lane) {
    return rows + (ptrdiff_t)ROW * s->lanes.row_of[lane];
}

static subadmm_side body_side(const subadmm *s, int i, const subadmm_tree *t, int side) {
    const sim_body_rows *on = &s->bodies.is->rows[i];
    int body = on->body[side], lane = t->lane + body - t->body0, chain = chain_of(s, i);
    ptrdiff_t at = (ptrdiff_t)ROW * body;
    int start = chain == SIM_CHAIN_START;
    return (subadmm_side){.n = 6,
                          .stride = 6,
                          .J = s->bodies.is->J + on->block[side],
                          .x = start ? row_at(s, s->lanes.row, lane) : s->bodies.V + at,
                          .answer = start ? row_at(s, s->lanes.answer, lane) : s->bodies.answer + at,
                          .push = s->bodies.push[chain] + at,
                          .body = body,
                          .dof = -1,
                          .chain = chain};
}

/* J of a row that holds V: J v = (J turn) V. */
static double *turned_rows(subadmm *s, const double *J, int rows, const double *turn) {
    double *to = ARENA_NEW(s->call->scratch, double, 6 * rows);
    for (int k = 0; k < 6 * rows && to; k++) {
        to[k] = 0;
        for (int j = 0; j < 6; j++) {
            to[k] += J[k / 6 * 6 + j] * turn[6 * j + k % 6];
        }
    }
    return to;
}

static subadmm_side tree_side(subadmm *s, int i, const subadmm_tree *t) {
    const sim_constraint *c = &s->problem->constraint[i];
    sim_columns of = sim_block_columns(s->problem, c, c->tree[0] == t->index ? 0 : 1);
    subadmm_side side = {.n = t->turn ? 6 : of.count,
                         .stride = t->nv,
                         .J = tree_rows(s, i, t),
                         .body = -1,
                         .dof = t->v0 + (t->turn ? 0 : of.first)};
    side.push = s->push + side.dof;
    int row = t->form == SUBADMM_ROW, first = side.dof - t->v0;
    side.x = row ? row_at(s, s->lanes.row, t->lane) + first : s->x + side.dof;
    side.answer = row ? row_at(s, s->lanes.answer, t->lane) + first : s->v + side.dof;
    side.J = t->turn ? turned_rows(s, side.J, c->rows, t->turn) : side.J + of.first;
    return side;
}

static int find_sides(subadmm *s) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int node[2], part[2], count = s->lane_of[i] < 0 ? parts_of(s, i, node, part) : 0;
        memset(s->side[i], 0, sizeof s->side[i]);
        for (int k = 0; k < count; k++) {
            const subadmm_tree *t = &s->tree[node[k]];
            s->side[i][k] = subadmm_splits(t) && on_bodies(s, i) ? body_side(s, i, t, part[k]) : tree_side(s, i, t);
            s->side[i][k].tree = node[k];
            if (!s->side[i][k].J) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- slacks ---- */

/* Slots of a row on a side: one, or one for each dof of the joints that it ties. */
static int count_slots(const subadmm *s, const subadmm_side *side, int row) {
    int count = 0, by_dof = subadmm_splits(&s->tree[side->tree]) && side->body < 0;
    for (int j = 0; j < side->n && by_dof; j++) {
        count += side->J[(ptrdiff_t)row * side->stride + j] != 0;
    }
    return by_dof ? count : 1;
}

static void find_slacks(subadmm *s) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        int node[2], part[2], count = parts_of(s, i, node, part);
        for (int r = 0; r < c->rows; r++) {
            int slots = s->lane_of[i] >= 0 ? count : 0;
            for (int k = 0; k < count && s->lane_of[i] < 0; k++) {
                slots += count_slots(s, &s->side[i][k], r);
            }
            s->slack[c->row + r] = (s->split == SUBADMM_NONE ? 1 : slots) / s->weight[i];
        }
    }
}

/* ---- all of it ---- */

static int make_bodies(subadmm *s) {
    sim_arena *scratch = s->call->scratch;
    subadmm_bodies *b = &s->bodies;
    size_t nv = (size_t)s->problem->nv, bodies = (size_t)b->is->nbody;
    b->parent = ARENA_NEW(scratch, int, nv);
    b->depth = ARENA_NEW(scratch, int, nv);
    b->run = ARENA_NEW(scratch, int, nv);
    b->row = ARENA_NEW(scratch, ptrdiff_t, nv);
    b->node = ARENA_NEW(scratch, int, bodies);
    b->joint = ARENA_NEW(scratch, double, nv);
    int ok = b->parent && b->depth && b->run && b->row && b->node && b->joint;
    for (int chain = 0; chain < SIM_CHAINS; chain++) {
        b->push[chain] = ARENA_NEW(scratch, double, ROW *bodies);
        b->added[chain] = ARENA_NEW(scratch, double, 36 * bodies);
        ok = ok && b->push[chain] && b->added[chain];
    }
    return ok;
}

static int make_lanes(subadmm *s) {
    sim_arena *scratch = s->call->scratch;
    size_t constraints = (size_t)s->problem->nconstraint;
    s->input.nbody = number_rows(s);
    if (s->input.nbody < 0) {
        return 0;
    }
    char *solved = ARENA_NEW(scratch, char, s->input.nbody);
    admm_contact *contact = ARENA_NEW(scratch, admm_contact, constraints);
    return solved && contact && find_contacts(s, solved, contact) && admm_lanes_pack(&s->lanes, &s->input, scratch);
}

/* Numbers that stand before rows of the lanes, which begin with a cache line. */
static size_t lines(size_t numbers) { return (numbers + LANES - 1) / LANES * LANES; }

/* The state: x, lambda, impulses and rows of the lanes, V.  Rows of bodies in trees, and V, follow from x. */
static int make_state(subadmm *s) {
    size_t lanes = s->lanes.state_numbers, nv = 0, rows = 0;
    size_t V = s->bodies.two_chains ? ROW * (size_t)s->bodies.is->nbody : 0;
    for (int k = 0; k < s->ntree; k++) {
        nv = in_row(&s->tree[k]) ? nv : (size_t)s->problem->nv;
    }
    for (int i = 0; i < s->problem->nconstraint; i++) {
        rows = s->lane_of[i] >= 0 ? rows : (size_t)s->problem->nrow;
    }
    size_t numbers = lines(nv) + lines(rows) + lanes + V;
    s->state = ARENA_NEW(s->call->scratch, double, numbers + LANES); /* read in lanes */
    s->before = ARENA_NEW(s->call->scratch, double, numbers + LANES);
    s->least = ARENA_NEW(s->call->scratch, double, numbers);
    s->bodies.answer = ARENA_NEW(s->call->scratch, double, V);
    s->push = ARENA_NEW(s->call->scratch, double, s->problem->nv + LANES);
    if (!s->state || !s->before || !s->least || !s->push || !s->bodies.answer) {
        return 0;
    }
    s->numbers = (int)numbers;
    s->x = s->state;
    s->lambda = s->x + lines(nv);
    s->bodies.V = s->lambda + lines(rows) + lanes;
    memset(s->state, 0, numbers * sizeof *s->state);
    memset(s->least, 0, numbers * sizeof *s->least); /* if no number comes out: no impulse */
    admm_lanes_begin(&s->lanes, &s->input, s->lambda + lines(rows));
    s->independent = (int)(s->lanes.row - s->state) + LANES * (s->lanes.solved_batches * LANES);
    for (int k = 0; k < s->ntree; k++) {
        s->independent = s->tree[k].form == SUBADMM_ROW ? s->numbers : s->independent;
    }
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int r = c->row; r < c->row + c->rows && s->lane_of[i] < 0; r++) {
            s->lambda[r] = guess_of(s, r);
        }
    }
    return 1;
}

/* Weights of the lanes' slots; unsplit, both sides together are one slot. */
static int weigh_lanes(subadmm *s) {
    size_t contacts = (size_t)s->input.ncontact;
    double *rho = ARENA_NEW(s->call->scratch, double, contacts);
    s->slot = arena_alloc(s->call->scratch, contacts, sizeof *s->slot);
    s->kept = ARENA_NEW(s->call->scratch, char, 3 * contacts);
    if (!rho || !s->slot || !s->kept) {
        return 0;
    }
    s->open = s->kept + contacts;
    s->back = s->open + contacts;
    memset(s->kept, 1, contacts);
    memset(s->open, 0, 2 * contacts);
    for (int i = 0; i < s->problem->nconstraint; i++) {
        int k = s->lane_of[i];
        if (k >= 0) {
            int halves = s->split == SUBADMM_NONE && s->input.contact[k].body[1] >= 0;
            s->slot[k][0] = s->slot[k][1] = halves ? 2 * s->weight[i] : s->weight[i];
            rho[k] = s->rho[i];
        }
    }
    admm_lanes_rho(&s->lanes, rho);
    return 1;
}

int subadmm_lay_out(subadmm *s, int articulated) {
    sim_arena *scratch = s->call->scratch;
    size_t constraints = (size_t)s->problem->nconstraint, trees = (size_t)s->problem->ntree;
    s->tree = ARENA_NEW(scratch, subadmm_tree, trees);
    s->node = ARENA_NEW(scratch, int, trees);
    s->lane_of = ARENA_NEW(scratch, int, constraints);
    s->side = arena_alloc(scratch, constraints, sizeof *s->side);
    if (!s->tree || !s->node || !s->lane_of || !s->side || (knows_bodies(s) && !make_bodies(s))) {
        return 0;
    }
    find_trees(s, articulated ? SUBADMM_ARTICULATED : SUBADMM_BRANCH);
    s->bodies.two_chains = knows_bodies(s) && !same_place(s);
    for (int k = 0; k < s->ntree && s->bodies.two_chains; k++) { /* which joint by joint does not take */
        s->tree[k].form = subadmm_splits(&s->tree[k]) ? SUBADMM_BRANCH : s->tree[k].form;
    }
    if (!make_lanes(s) || !make_state(s) || !find_sides(s)) {
        return 0;
    }
    find_slacks(s);
    return weigh_lanes(s) && (!knows_bodies(s) || subadmm_find_alike(s));
}

void subadmm_take(subadmm *s, const double *impulse) {
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
