/* Articulated-body algorithm for split trees: cost linear in the number of bodies (Lee et al. 2024, remark 1;
 * Featherstone, ch. 7).
 *
 * With H_b = I_b + kappa sum weight J_ib'J_ib in place of inertias, from the tips to the root, dof by dof, last to
 * first,
 *
 *     U_j = H S_j,   D_j = S_j . U_j + diagonal_j + kappa C_j,   H <- H - U_j U_j' / D_j,   then H_p += X' H X;
 *
 * U and D hold as long as kappa does.  A step starts from the imbalance F_b = push_b - I_b V_b of bodies and
 * tau_j = push_j - diagonal_j x_j of joints, inwards and then outwards:
 *
 *     u_j = tau_j + S_j . F,   F <- F - U_j u_j / D_j,   then F_p += X' F;
 *     a <- a_p at the body;    dx_j = (u_j - U_j . a) / D_j,   a <- a + S_j dx_j.
 *
 * No matrix of the tree is formed.  Constraints and A must refer to the same chain; otherwise branch.c applies. */
#include "solver/subadmm/articulated.h"
#include "solver/subadmm/lanes/six.h"

#include <string.h>

enum { U_NUMBERS = 6, JOINT_NUMBERS = 8 }; /* of a dof: U, 1 / D, u */

static double *joint_numbers(const subadmm_tree *t, int dof) { return t->K + (ptrdiff_t)JOINT_NUMBERS * (dof - t->v0); }

bool subadmm_make_articulated(subadmm *s, subadmm_tree *t) {
    t->C = ARENA_NEW(s->call->scratch, double, t->nv);
    t->K = ARENA_NEW(s->call->scratch, double, JOINT_NUMBERS *(size_t)t->nv);
    t->A = ARENA_NEW(s->call->scratch, double, LANES *(size_t)(t->body1 - t->body0)); /* F, then a, of bodies */
    return t->C && t->K && t->A;
}

void subadmm_begin_articulated(subadmm *s, const subadmm_tree *t) {
    double *added = s->bodies.added[SIM_CHAIN_START];
    memset(t->C, 0, (size_t)t->nv * sizeof *t->C);
    memset(added + SIX_NUMBERS * (ptrdiff_t)t->body0, 0, (size_t)(SIX_NUMBERS * (t->body1 - t->body0)) * sizeof *added);
    for (int i = t->body0; i < t->body1; i++) {
        six_add_triangle(admm_lanes_added(&s->lanes, t->lane + i - t->body0), added + SIX_NUMBERS * (ptrdiff_t)i);
    }
}

void subadmm_add_articulated(subadmm *s, const subadmm_tree *t, const subadmm_side *side, int rows, double weight) {
    double *added = s->bodies.added[SIM_CHAIN_START];
    double *H = side->body >= 0 ? added + SIX_NUMBERS * (ptrdiff_t)side->body : NULL;
    for (int r = 0; r < rows; r++) {
        const double *J = side->J + (ptrdiff_t)r * side->stride;
        for (int j = 0; j < side->n && !H; j++) {
            t->C[side->dof - t->v0 + j] += weight * J[j] * J[j];
        }
        for (int k = 0; k < SIX_NUMBERS && H; k++) {
            H[k] += weight * J[k / 6] * J[k % 6];
        }
    }
}

/* Eliminates dof j from H; false: D is not positive. */
static bool eliminate_dof(const subadmm *s, const subadmm_tree *t, int j, double *H) {
    const sim_problem_bodies *b = s->bodies.is;
    motion S = b->chain[SIM_CHAIN_START].S[j];
    force F = six_times(H, S);
    double *U = joint_numbers(t, j), D = b->diagonal[j] + s->kappa * t->C[j - t->v0] + motion_dot(S, F);
    if (!(D > 0)) {
        return false;
    }
    six_store(F.ang, F.lin, U);
    U[U_NUMBERS] = 1 / D;
    for (int i = 0; i < 6; i++) {
        double a = U[i] / D;
        for (int k = 0; k < 6; k++) {
            H[6 * i + k] -= a * U[k];
        }
    }
    return true;
}

bool subadmm_factor_articulated(subadmm *s, const subadmm_tree *t) {
    const sim_problem_bodies *b = s->bodies.is;
    double *all = s->bodies.added[SIM_CHAIN_MASS]; /* storage of the other chain, unused here */
    const double *added = s->bodies.added[SIM_CHAIN_START];
    for (int i = t->body0; i < t->body1; i++) {
        double *H = all + SIX_NUMBERS * (ptrdiff_t)i;
        for (int k = 0; k < SIX_NUMBERS; k++) {
            H[k] = s->kappa * added[SIX_NUMBERS * (ptrdiff_t)i + k];
        }
        six_add_rigid(&b->I[i], H);
    }
    for (int i = t->body1 - 1; i >= t->body0; i--) {
        const sim_body_node *n = &b->node[i];
        double *H = all + SIX_NUMBERS * (ptrdiff_t)i;
        for (int j = n->v0 + n->nv - 1; j >= n->v0; j--) {
            if (!eliminate_dof(s, t, j, H)) {
                return false;
            }
        }
        if (n->parent >= 0) {
            six_add_at_parent(H, b->chain[SIM_CHAIN_START].r[i], all + SIX_NUMBERS * (ptrdiff_t)n->parent);
        }
    }
    return true;
}

double subadmm_stiffness_articulated(const subadmm_tree *t, int dof) { return 1 / joint_numbers(t, dof)[U_NUMBERS]; }

/* ---- a step ---- */

static double *body_numbers(const subadmm_tree *t, int body) { return t->A + (ptrdiff_t)LANES * (body - t->body0); }

/* F_b of a body, without its children. */
static force body_imbalance(const subadmm *s, const subadmm_tree *t, int body) {
    int lane = t->lane + body - t->body0;
    double wrench[6];
    admm_lanes_wrench(&s->lanes, lane, wrench);
    const double *V = s->lanes.row + (ptrdiff_t)LANES * s->lanes.row_of[lane];
    force F = force_add(six_force(wrench), six_force(s->bodies.push[SIM_CHAIN_START] + (ptrdiff_t)LANES * body));
    return force_sub(F, six_rigid_times(&s->bodies.is->I[body], six_motion(V)));
}

static void sweep_inwards(const subadmm *s, const subadmm_tree *t) {
    const sim_problem_bodies *b = s->bodies.is;
    memset(t->A, 0, (size_t)(LANES * (t->body1 - t->body0)) * sizeof *t->A);
    for (int i = t->body1 - 1; i >= t->body0; i--) {
        const sim_body_node *n = &b->node[i];
        force F = force_add(six_force(body_numbers(t, i)), body_imbalance(s, t, i));
        for (int j = n->v0 + n->nv - 1; j >= n->v0; j--) {
            double *U = joint_numbers(t, j), tau = s->push[j] - b->diagonal[j] * s->x[j];
            double u = tau + motion_dot(b->chain[SIM_CHAIN_START].S[j], F);
            F = force_axpy(F, -u * U[U_NUMBERS], six_force(U));
            U[U_NUMBERS + 1] = u;
        }
        if (n->parent >= 0) {
            force sum =
                force_add(six_force(body_numbers(t, n->parent)), force_at_parent(F, b->chain[SIM_CHAIN_START].r[i]));
            six_store(sum.ang, sum.lin, body_numbers(t, n->parent));
        }
    }
}

static void sweep_outwards(subadmm *s, const subadmm_tree *t) {
    const sim_problem_bodies *b = s->bodies.is;
    for (int i = t->body0; i < t->body1; i++) {
        const sim_body_node *n = &b->node[i];
        motion a = {{0, 0, 0}, {0, 0, 0}};
        if (n->parent >= 0) {
            a = motion_at_child(six_motion(body_numbers(t, n->parent)), b->chain[SIM_CHAIN_START].r[i]);
        }
        for (int j = n->v0; j < n->v0 + n->nv; j++) {
            const double *U = joint_numbers(t, j);
            double dx = (U[U_NUMBERS + 1] - motion_dot(a, six_force(U))) * U[U_NUMBERS];
            a = motion_axpy(a, dx, b->chain[SIM_CHAIN_START].S[j]);
            s->x[j] += dx;
        }
        six_store(a.ang, a.lin, body_numbers(t, i));
    }
}

void subadmm_step_articulated(subadmm *s, const subadmm_tree *t) {
    sweep_inwards(s, t);
    sweep_outwards(s, t);
}
