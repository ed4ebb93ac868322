#include "support/lanes.h"

#include "math/v3.h"

#include <stdlib.h>

static double spread(random_source *r, double decades) { return pow(10, random_uniform(r, -decades, decades)); }

/* Rows of a point, or any. */
static void random_rows(random_source *r, const sim_m3 *E, int point, double sign, double size, double *J) {
    v3 lever = v3_scale(size, random_unit(r));
    const v3 axis[3] = {E->x, E->y, E->z};
    for (int k = 0; k < 3; k++) {
        v3 lin = v3_scale(sign, axis[k]), ang = v3_cross(lever, lin);
        const double row[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
        for (int j = 0; j < 6; j++) {
            J[6 * k + j] = point ? row[j] : random_normal(r);
        }
    }
}

/* About m times a unit matrix, and something symmetric of that size. */
static void random_mass(random_source *r, double m, double *A) {
    double G[36];
    for (int k = 0; k < 36; k++) {
        G[k] = random_normal(r);
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            A[6 * i + j] = i == j ? m : 0;
            for (int k = 0; k < 6; k++) {
                A[6 * i + j] += 0.1 * m * G[6 * i + k] * G[6 * j + k];
            }
        }
    }
}

static void random_contact(random_source *r, const lanes_recipe *recipe, lanes_case *c, int i) {
    admm_contact *to = &c->contact[i];
    sim_m3 E = random_rotation(r);
    int point = random_uniform(r, 0, 1) >= recipe->general, one = random_uniform(r, 0, 1) < recipe->world;
    int a = random_index(r, recipe->bodies),
        b = recipe->bodies > 1 ? (a + 1 + random_index(r, recipe->bodies - 1)) : -1;
    int side = random_index(r, 2);
    *to = (admm_contact){.body = {a, b < 0 ? -1 : b % recipe->bodies}, .J = {c->J[i][0], c->J[i][1]}};
    to->body[one ? side : 1] = one ? -1 : to->body[1];
    if (to->body[0] < 0 && to->body[1] < 0) {
        to->body[0] = a;
    }
    for (int s = 0; s < 2; s++) {
        random_rows(r, &E, point, s ? -1 : 1, spread(r, recipe->decades), c->J[i][s]);
        c->weight[i][s] = spread(r, recipe->decades);
    }
    to->friction = random_index(r, 4) ? random_uniform(r, 0, 2) : 0;
    to->R_n = random_index(r, 2) ? spread(r, recipe->decades) : 0;
    to->R_t = random_index(r, 2) ? spread(r, recipe->decades) : 0;
    double speed = spread(r, recipe->decades), impulse = random_index(r, 3) ? spread(r, recipe->decades) : 0;
    for (int k = 0; k < 3; k++) {
        to->target[k] = speed * random_normal(r);
        to->lambda[k] = c->lambda[i][k] = impulse * random_normal(r);
    }
}

lanes_case lanes_random(random_source *r, const lanes_recipe *recipe) {
    size_t n = (size_t)recipe->contacts, bodies = (size_t)recipe->bodies;
    lanes_case c = {.contact = calloc(n + 1, sizeof *c.contact),
                    .solved = calloc(bodies + 1, 1),
                    .J = calloc(n + 1, sizeof *c.J),
                    .weight = calloc(n + 1, sizeof *c.weight),
                    .A = calloc(bodies + 1, sizeof *c.A),
                    .x = calloc(bodies + 1, sizeof *c.x),
                    .lambda = calloc(n + 1, sizeof *c.lambda)};
    c.in = (admm_input){recipe->bodies, recipe->contacts, c.solved, c.contact};
    for (int b = 0; b < recipe->bodies; b++) {
        c.solved[b] = 1;
        random_mass(r, spread(r, recipe->decades), c.A[b]);
    }
    for (int i = 0; i < recipe->contacts; i++) {
        random_contact(r, recipe, &c, i);
    }
    return c;
}

void lanes_free(lanes_case *c) {
    free(c->contact);
    free(c->solved);
    free(c->J);
    free(c->weight);
    free(c->A);
    free(c->x);
    free(c->lambda);
}

/* Gauss's elimination with row exchanges. */
static void solve(double *A, double *x) {
    for (int k = 0; k < 6; k++) {
        int best = k;
        for (int i = k; i < 6; i++) {
            best = fabs(A[6 * i + k]) > fabs(A[6 * best + k]) ? i : best;
        }
        for (int j = 0; j < 7; j++) {
            double *a = j < 6 ? &A[6 * k + j] : &x[k], *b = j < 6 ? &A[6 * best + j] : &x[best], swap = *a;
            *a = *b;
            *b = swap;
        }
        for (int i = k + 1; i < 6; i++) {
            double f = A[6 * i + k] / A[6 * k + k];
            for (int j = k; j < 6; j++) {
                A[6 * i + j] -= f * A[6 * k + j];
            }
            x[i] -= f * x[k];
        }
    }
    for (int i = 5; i >= 0; i--) {
        for (int j = i + 1; j < 6; j++) {
            x[i] -= A[6 * i + j] * x[j];
        }
        x[i] /= A[7 * i];
    }
}

/* The strict law's answer to s = q + (zeta + R) lambda. */
static void answer(const admm_contact *c, double zeta, const double *q, double *next) {
    next[2] = fmax(0, -q[2] / (zeta + c->R_n));
    next[0] = -q[0] / (zeta + c->R_t);
    next[1] = -q[1] / (zeta + c->R_t);
    double size = hypot(next[0], next[1]), most = c->friction * next[2];
    for (int k = 0; k < 2 && size > most; k++) {
        next[k] *= most / size;
    }
}

void lanes_plainly(lanes_case *c, double kappa) {
    double(*r)[6] = calloc((size_t)c->in.nbody + 1, sizeof *r), (*H)[36] = calloc((size_t)c->in.nbody + 1, sizeof *H);
    memcpy(H, c->A, (size_t)c->in.nbody * sizeof *H);
    for (int i = 0; i < c->in.ncontact; i++) {
        const admm_contact *contact = &c->contact[i];
        double zeta = 0, q[3], next[3];
        for (int side = 0; side < 2; side++) {
            zeta += contact->body[side] >= 0 ? 1 / (kappa * c->weight[i][side]) : 0;
        }
        for (int k = 0; k < 3; k++) {
            q[k] = -zeta * c->lambda[i][k] - contact->target[k];
            for (int n = 0; n < 12; n++) {
                int b = contact->body[n / 6];
                q[k] += b >= 0 ? contact->J[n / 6][6 * k + n % 6] * c->x[b][n % 6] : 0;
            }
        }
        answer(contact, zeta, q, next);
        for (int n = 0; n < 36; n++) {
            int side = n / 18, k = n % 18 / 6, j = n % 6, b = contact->body[side];
            const double *J = contact->J[side] + 6 * k;
            for (int m = 0; m < 6 && b >= 0; m++) {
                H[b][6 * j + m] += kappa * c->weight[i][side] * J[j] * J[m];
            }
            if (b >= 0) {
                r[b][j] += J[j] * (2 * next[k] - c->lambda[i][k]);
            }
        }
        memcpy(c->lambda[i], next, sizeof next);
    }
    for (int b = 0; b < c->in.nbody; b++) {
        for (int n = 0; n < 36; n++) {
            r[b][n / 6] -= c->A[b][n] * c->x[b][n % 6];
        }
        solve(H[b], r[b]);
        for (int k = 0; k < 6; k++) {
            c->x[b][k] += r[b][k];
        }
    }
    free(r);
    free(H);
}

natural_sum lanes_natural_plainly(const lanes_case *c, const double *rho) {
    double(*x)[6] = calloc((size_t)c->in.nbody + 1, sizeof *x);
    natural_sum sum = {0};
    for (int n = 0; n < 36 * c->in.ncontact; n++) {
        int i = n / 36, side = n % 36 / 18, k = n % 18 / 6, j = n % 6, b = c->contact[i].body[side];
        if (b >= 0) {
            x[b][j] += c->J[i][side][6 * k + j] * c->lambda[i][k];
        }
    }
    for (int b = 0; b < c->in.nbody; b++) {
        double A[36];
        memcpy(A, c->A[b], sizeof A);
        solve(A, x[b]);
    }
    for (int i = 0; i < c->in.ncontact; i++) {
        const admm_contact *contact = &c->contact[i];
        sim_constraint like = {.kind = SIM_CONTACT, .rows = 3, .friction = contact->friction};
        double s[3], q[3] = {0};
        for (int k = 0; k < 3; k++) {
            s[k] = (k == 2 ? contact->R_n : contact->R_t) * c->lambda[i][k] - contact->target[k];
            for (int n = 0; n < 12; n++) {
                int b = contact->body[n / 6];
                s[k] += b >= 0 ? c->J[i][n / 6][6 * k + n % 6] * x[b][n % 6] : 0;
            }
        }
        natural_add(&sum, &like, 1, rho[i], 0, q, s, c->lambda[i]);
    }
    free(x);
    return sum;
}

void lanes_iterate(admm_lanes *l, const admm_kernels *kernels) {
    kernels->update_contacts(l, 0, l->contact_batches);
    kernels->update_bodies(l, 0, l->solved_batches);
}

int lanes_make(const lanes_case *c, const admm_kernels *kernels, double kappa, sim_arena *arena, admm_lanes *l) {
    if (!admm_lanes_pack(l, &c->in, arena)) {
        return 0;
    }
    double *state = ARENA_NEW(arena, double, l->state_numbers);
    if (!state) {
        return 0;
    }
    for (int b = 0; b < c->in.nbody; b++) {
        if (c->solved[b]) {
            admm_lanes_set_mass(l, b, c->A[b]);
        }
    }
    admm_lanes_begin(l, &c->in, state);
    kernels->factor_inertia(l, 0, l->solved_batches);
    admm_lanes_set_weights(l, &c->in, (const double(*)[2])c->weight);
    kernels->set_compliance(l, 0, l->contact_batches, kappa);
    kernels->factor(l, 0, l->solved_batches, kappa);
    return 1;
}
