/* Effective inertia with penalties beta_ij = kappa weight_ij:
 *
 *     zeta_i = sum_j 1 / beta_ij = slack_i / kappa,     H_j = A_j + kappa C_j,  C_j = sum_i weight_ij J_ij' J_ij.
 *
 * For three rows of a point at r from the body's origin, J' J is the inertia of a unit point mass at r: with V = (w;
 * v),
 *
 *     |v + w x r|^2 = w' (r'r - r r') w + 2 v . (w x r) + v . v. */
#include "solver/subadmm/lanes/lanes.h"

/* Index of row i and column j <= i in a packed lower triangle. */
static int triangle_index(int i, int j) { return i * (i + 1) / 2 + j; }

static void add_point_mass(double *sum, double weight, const double *r) {
    double m[3] = {weight * r[0], weight * r[1], weight * r[2]};
    sum[0] += m[1] * r[1] + m[2] * r[2];
    sum[1] -= m[0] * r[1];
    sum[2] += m[0] * r[0] + m[2] * r[2];
    sum[3] -= m[0] * r[2];
    sum[4] -= m[1] * r[2];
    sum[5] += m[0] * r[0] + m[1] * r[1];
    sum[7] += m[2]; /* rows of v, columns of w: -r x */
    sum[8] -= m[1];
    sum[10] -= m[2];
    sum[12] += m[0];
    sum[15] += m[1];
    sum[16] -= m[0];
    sum[9] += weight;
    sum[14] += weight;
    sum[20] += weight;
}

static void add_row_stiffness(double *sum, double weight, const double *J) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            sum[triangle_index(i, j)] += weight * (J[i] * J[j] + (J[6 + i] * J[6 + j] + J[12 + i] * J[12 + j]));
        }
    }
}

/* Adds weight J'J of one contact to the sums of its bodies. */
static void add_contact_stiffness(admm_lanes *l, const admm_contacts *c, int lane, const double *weight) {
    for (int side = 0; side < c->sides; side++) {
        double *sum = l->added[c->row[side][lane]], numbers[18];
        int count = c->form == ADMM_POINT ? 3 : 18, first = c->form == ADMM_POINT ? 9 + 3 * side : 18 * side;
        for (int k = 0; k < count; k++) {
            numbers[k] = c->geometry[LANES * (first + k) + lane];
        }
        if (c->form == ADMM_POINT) {
            add_point_mass(sum, weight[side], numbers);
        } else {
            add_row_stiffness(sum, weight[side], numbers);
        }
    }
}

static void copy_sums(const admm_lanes *l, admm_bodies *b) {
    for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < ADMM_SYMMETRIC; k++) {
            b->C[k][lane] = l->added[b->row + lane][k];
        }
    }
}

void admm_lanes_set_weights(admm_lanes *l, const admm_input *in, const double (*weight)[2]) {
    memset(l->added, 0, (size_t)l->nrow * sizeof *l->added);
    for (int i = 0; i < l->ncontact; i++) {
        admm_contacts *c = &l->contacts[l->place_of[i] / LANES];
        int lane = l->place_of[i] % LANES, first = in->contact[i].body[0] < 0;
        const double mine[2] = {weight[i][first], weight[i][1]};
        c->slack[lane] = 1 / mine[0] + (c->sides == 2 ? 1 / mine[1] : 0);
        if (c->keep[lane] > 0) {
            add_contact_stiffness(l, c, lane, mine);
        }
    }
    for (int n = 0; n < l->solved_batches; n++) {
        copy_sums(l, &l->bodies[n]);
    }
}

void admm_lanes_set_mass(admm_lanes *l, int body, const double *A) {
    admm_bodies *b = &l->bodies[l->row_of[body] / LANES];
    int lane = l->row_of[body] % LANES;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            b->A[triangle_index(i, j)][lane] = A[6 * i + j];
        }
    }
}

const double *admm_lanes_added(const admm_lanes *l, int body) { return l->added[l->row_of[body]]; }

void admm_lanes_wrench(const admm_lanes *l, int body, double *wrench) {
    const admm_bodies *b = &l->bodies[l->row_of[body] / LANES];
    const double *slot = l->slot + (ptrdiff_t)LANES * (b->first + l->row_of[body] % LANES);
    double sum[LANES] = {0};
    for (int s = 0; s < b->slots; s++, slot += LANES * LANES) {
        for (int k = 0; k < LANES; k++) {
            sum[k] += slot[k];
        }
    }
    memcpy(wrench, sum, 6 * sizeof *wrench);
}

static admm_contacts *batch_of(const admm_lanes *l, int contact) { return &l->contacts[l->place_of[contact] / LANES]; }

void admm_lanes_set_kept(admm_lanes *l, const char *kept) {
    for (int i = 0; i < l->ncontact; i++) {
        batch_of(l, i)->keep[l->place_of[i] % LANES] = kept[i] != 0;
    }
}

void admm_lanes_set_rho(admm_lanes *l, const double *rho) {
    for (int i = 0; i < l->ncontact; i++) {
        batch_of(l, i)->rho[l->place_of[i] % LANES] = rho[i];
    }
}

double admm_lanes_normal(const admm_lanes *l, int contact) {
    return batch_of(l, contact)->normal[l->place_of[contact] % LANES];
}

natural_sum admm_lanes_natural(const admm_lanes *l) {
    double sum[ADMM_SUMS][LANES] = {{0}}, all[ADMM_SUMS] = {0};
    for (int n = 0; n < l->contact_batches; n++) {
        for (int k = 0; k < ADMM_SUMS * LANES; k++) {
            sum[k / LANES][k % LANES] += l->contacts[n].natural[k / LANES][k % LANES];
        }
    }
    for (int k = 0; k < ADMM_SUMS * LANES; k++) {
        all[k / LANES] += sum[k / LANES][k % LANES];
    }
    return (natural_sum){
        .one = all[0], .velocity = all[1], .impulse = all[2], .gamma = all[3], .s = all[4], .moved = all[5]};
}

void admm_lanes_impulse(const admm_lanes *l, int contact, double *lambda) {
    const double *g = l->lambda + (ptrdiff_t)3 * LANES * (l->place_of[contact] / LANES) + l->place_of[contact] % LANES;
    for (int k = 0; k < 3; k++) {
        lambda[k] = g[LANES * k];
    }
}

void admm_lanes_set_impulse(const admm_lanes *l, int contact, const double *lambda) {
    double *g = l->lambda + (ptrdiff_t)3 * LANES * (l->place_of[contact] / LANES) + l->place_of[contact] % LANES;
    for (int k = 0; k < 3; k++) {
        g[LANES * k] = lambda[k];
    }
}
