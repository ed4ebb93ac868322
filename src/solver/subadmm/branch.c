/* Trees split over their bodies: constraints add to A a matrix of the same shape (Lee et al. 2024, eqs. 40, 41).
 *
 *     A + kappa C = J_B' blkdiag(I_b + kappa sum weight J_ib'J_ib) J_B + diagonal
 *
 * J_B maps joints to bodies.  A slot on a body adds a symmetric 6 x 6 operator H_b on its motion.  Operators are
 * carried to the root like composite inertias:
 *
 *     H_p += X' H_c X,     C_jk = S_k . (H_j S_j carried to the body of k),   k on the path from the root to j.
 *
 * The matrix and its factor K = L' D L have no other entries; elimination runs from the tips to the root (Featherstone,
 * ch. 6).  C does not depend on kappa, so that another kappa costs one factorisation.  Constraints and A may refer to
 * two configurations of a step, each with its chain; their composites are computed separately and added.
 *
 * Row j of a matrix holds the dofs on the path from the root to j, j last. */
#include "solver/subadmm/branch.h"
#include "math/dense.h"
#include "solver/subadmm/lanes/six.h"

#include <string.h>

static const sim_problem_bodies *bodies_of(const subadmm *s) { return s->bodies.is; }

static double *matrix_row(const subadmm *s, double *M, int j) { return M + s->bodies.row[j]; }

/* The last dof before a body on its path from the root; -1: none. */
static int dof_before(const sim_problem_bodies *b, int body) {
    for (int i = b->node[body].parent; i >= 0; i = b->node[i].parent) {
        if (b->node[i].nv) {
            return b->node[i].v0 + b->node[i].nv - 1;
        }
    }
    return -1;
}

/* Paths of the dofs of a tree; returns the total length of its rows. */
static ptrdiff_t find_branch_paths(subadmm *s, const subadmm_tree *t) {
    subadmm_bodies *b = &s->bodies;
    ptrdiff_t numbers = 0;
    for (int i = t->body0; i < t->body1; i++) {
        int before = dof_before(b->is, i);
        for (int j = b->is->node[i].v0; j < b->is->node[i].v0 + b->is->node[i].nv; j++) {
            b->parent[j] = before;
            b->depth[j] = before < 0 ? 1 : b->depth[before] + 1;
            b->run[j] = before == j - 1 && before >= 0 ? b->run[before] + 1 : 1;
            b->row[j] = numbers;
            numbers += b->depth[j];
            before = j;
        }
    }
    return numbers;
}

/* ---- composites ---- */

/* M += composites of H [36 nbody] on a chain; H is overwritten. */
static void add_branch_composites(subadmm *s, const subadmm_tree *t, int chain, double *H, double *M) {
    const sim_problem_bodies *b = bodies_of(s);
    const sim_body_chain *at = &b->chain[chain];
    /* bodies from the tips to the root, H_i complete when reached */
    for (int i = t->body1 - 1; i >= t->body0; i--) {
        const sim_body_node *n = &b->node[i];
        /* entries of row j: S_k . (H_i S_j at the body of k), k on the path to the root */
        for (int j = n->v0; j < n->v0 + n->nv; j++) {
            force F = six_times(H + SIX_NUMBERS * (ptrdiff_t)i, at->S[j]);
            double *row = matrix_row(s, M, j);
            for (int body = i, k = j, entry = s->bodies.depth[j]; entry > 0;) {
                for (; k >= b->node[body].v0 && b->node[body].nv; k--) {
                    row[--entry] += motion_dot(at->S[k], F);
                }
                if (entry > 0) {
                    F = force_at_parent(F, at->r[body]);
                    body = b->node[body].parent;
                    k = b->node[body].v0 + b->node[body].nv - 1;
                }
            }
        }
        /* H_p += X' H_i X */
        if (n->parent >= 0) {
            six_add_at_parent(H + SIX_NUMBERS * (ptrdiff_t)i, at->r[i], H + SIX_NUMBERS * (ptrdiff_t)n->parent);
        }
    }
}

static void clear_operators(double *H, int first, int end) {
    memset(H + SIX_NUMBERS * (ptrdiff_t)first, 0, (size_t)(SIX_NUMBERS * (end - first)) * sizeof *H);
}

bool subadmm_make_branch(subadmm *s, subadmm_tree *t) {
    /* memory: A, C and K along the branches */
    const sim_problem_bodies *b = bodies_of(s);
    double *H = s->bodies.added[SIM_CHAIN_MASS];
    t->numbers = find_branch_paths(s, t);
    t->A = ARENA_NEW(s->call->scratch, double, 3 * t->numbers);
    if (!t->A) {
        return false;
    }
    t->C = t->A + t->numbers;
    t->K = t->C + t->numbers;
    /* composite inertias */
    memset(t->A, 0, (size_t)t->numbers * sizeof *t->A);
    clear_operators(H, t->body0, t->body1);
    for (int i = t->body0; i < t->body1; i++) {
        six_add_rigid(&b->I[i], H + SIX_NUMBERS * (ptrdiff_t)i);
    }
    /* A of them, with the diagonal of the joints */
    add_branch_composites(s, t, SIM_CHAIN_MASS, H, t->A);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        matrix_row(s, t->A, j)[s->bodies.depth[j] - 1] += b->diagonal[j];
    }
    return true;
}

void subadmm_begin_branch(subadmm *s, const subadmm_tree *t) {
    memset(s->bodies.joint + t->v0, 0, (size_t)t->nv * sizeof *s->bodies.joint);
    memset(t->C, 0, (size_t)t->numbers * sizeof *t->C);
    for (int chain = 0; chain < SIM_CHAINS; chain++) {
        clear_operators(s->bodies.added[chain], t->body0, t->body1);
    }
    for (int i = t->body0; i < t->body1; i++) {
        six_add_triangle(admm_lanes_added(&s->lanes, t->lane + i - t->body0),
                         s->bodies.added[SIM_CHAIN_START] + SIX_NUMBERS * (ptrdiff_t)i);
    }
}

void subadmm_add_branch(subadmm *s, const subadmm_side *side, int rows, double weight) {
    double *H = side->body >= 0 ? s->bodies.added[side->chain] + SIX_NUMBERS * (ptrdiff_t)side->body : NULL;
    for (int r = 0; r < rows; r++) {
        const double *J = side->J + (ptrdiff_t)r * side->stride;
        for (int j = 0; j < side->n && !H; j++) {
            s->bodies.joint[side->dof + j] += weight * J[j] * J[j];
        }
        for (int k = 0; k < SIX_NUMBERS && H; k++) {
            H[k] += weight * J[k / 6] * J[k % 6];
        }
    }
}

void subadmm_sum_branch(subadmm *s, const subadmm_tree *t) {
    for (int chain = 0; chain <= s->bodies.two_chains; chain++) {
        add_branch_composites(s, t, chain, s->bodies.added[chain], t->C);
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        matrix_row(s, t->C, j)[s->bodies.depth[j] - 1] += s->bodies.joint[j];
    }
}

/* ---- factor ---- */

bool subadmm_factor_branch(subadmm *s, subadmm_tree *t) {
    /* K = A + kappa C */
    const subadmm_bodies *b = &s->bodies;
    for (ptrdiff_t k = 0; k < t->numbers; k++) {
        t->K[k] = t->A[k] + s->kappa * t->C[k];
    }
    /* K = L^T D L, leaves first */
    for (int k = t->v0 + t->nv - 1; k >= t->v0; k--) {
        double *row = matrix_row(s, t->K, k), pivot = row[b->depth[k] - 1];
        if (!(pivot > 0)) {
            return false;
        }
        double over = 1 / pivot;
        for (int i = b->parent[k]; i >= 0; i = b->parent[i]) {
            int depth = b->depth[i];
            double a = row[depth - 1] * over;
            dense_axpy(depth, -a, row, matrix_row(s, t->K, i));
            row[depth - 1] = a;
        }
        row[b->depth[k] - 1] = over;
    }
    return true;
}

/* x <- K^-1 x */
static void solve_branch(const subadmm *s, const subadmm_tree *t, double *x) {
    const subadmm_bodies *b = &s->bodies;
    for (int k = t->v0 + t->nv - 1; k >= t->v0; k--) {
        const double *row = matrix_row(s, t->K, k);
        for (int i = b->parent[k]; i >= 0;) {
            int run = b->run[i], base = i - run + 1;
            dense_axpy(run, -x[k], row + b->depth[i] - run, x + base);
            i = b->parent[base];
        }
    }
    for (int k = t->v0; k < t->v0 + t->nv; k++) {
        const double *row = matrix_row(s, t->K, k);
        double sum = x[k] * row[b->depth[k] - 1];
        for (int i = b->parent[k]; i >= 0;) {
            int run = b->run[i], base = i - run + 1;
            sum -= dense_dot(run, row + b->depth[i] - run, x + base);
            i = b->parent[base];
        }
        x[k] = sum;
    }
}

/* ---- passes ---- */

/* Velocity of a body: on the chain of gaps a row of the lanes. */
static double *body_velocity(const subadmm *s, const subadmm_tree *t, int chain, int body, double *rows, double *V) {
    return chain == SIM_CHAIN_START ? rows + (ptrdiff_t)LANES * s->lanes.row_of[t->lane + body - t->body0]
                                    : V + (ptrdiff_t)LANES * body;
}

void subadmm_spread_branch(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *V) {
    const sim_problem_bodies *b = bodies_of(s);
    for (int chain = 0; chain <= s->bodies.two_chains; chain++) {
        const sim_body_chain *at = &b->chain[chain];
        for (int i = t->body0; i < t->body1; i++) {
            const sim_body_node *n = &b->node[i];
            double *to = body_velocity(s, t, chain, i, rows, V);
            motion m = {{0, 0, 0}, {0, 0, 0}};
            if (n->parent >= 0) {
                m = motion_at_child(six_motion(body_velocity(s, t, chain, n->parent, rows, V)), at->r[i]);
            }
            for (int j = n->v0; j < n->v0 + n->nv; j++) {
                m = motion_axpy(m, x[j], at->S[j]);
            }
            six_store(m.ang, m.lin, to);
        }
    }
}

/* Force on a body; with `momentum` minus I V, on the chain of A, which is the last. */
static force body_push(const subadmm *s, const subadmm_tree *t, int chain, int body, int momentum) {
    force F = six_force(s->bodies.push[chain] + (ptrdiff_t)LANES * body);
    if (chain == SIM_CHAIN_START) {
        double wrench[6];
        admm_lanes_wrench(&s->lanes, t->lane + body - t->body0, wrench);
        F = force_add(F, six_force(wrench));
    }
    if (momentum && chain == s->bodies.two_chains) {
        motion V = six_motion(body_velocity(s, t, chain, body, s->lanes.row, s->bodies.V));
        F = force_sub(F, six_rigid_times(&bodies_of(s)->I[body], V));
    }
    return F;
}

/* Joint forces of body_push, from the tips to the root. */
static void gather_branch_chain(subadmm *s, const subadmm_tree *t, int chain, int momentum) {
    const sim_problem_bodies *b = bodies_of(s);
    const sim_body_chain *at = &b->chain[chain];
    for (int i = t->body1 - 1; i >= t->body0; i--) {
        const sim_body_node *n = &b->node[i];
        force F = body_push(s, t, chain, i, momentum);
        for (int j = n->v0; j < n->v0 + n->nv; j++) {
            s->push[j] += motion_dot(at->S[j], F);
        }
        if (n->parent >= 0) {
            double *to = s->bodies.push[chain] + (ptrdiff_t)LANES * n->parent;
            F = force_add(six_force(to), force_at_parent(F, at->r[i]));
            six_store(F.ang, F.lin, to);
        }
    }
}

void subadmm_gather_branch(subadmm *s, const subadmm_tree *t) {
    for (int chain = 0; chain <= s->bodies.two_chains; chain++) {
        gather_branch_chain(s, t, chain, 0);
    }
}

void subadmm_step_branch(subadmm *s, const subadmm_tree *t) {
    for (int chain = 0; chain <= s->bodies.two_chains; chain++) {
        gather_branch_chain(s, t, chain, 1);
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        s->push[j] -= bodies_of(s)->diagonal[j] * s->x[j];
    }
    solve_branch(s, t, s->push);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        s->x[j] += s->push[j];
    }
}
