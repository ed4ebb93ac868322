/* The linearised law of ACN, constraint by constraint.
 *
 *     F = gamma - P(y),   x = D^-1 F,   G = rho D^-1 P',   D = 1 - P' + rho P' R'      (acn.c)
 *
 * Reference: Alart, Curnier 1991. */
#include "solver/core/cone_discs.h"
#include "solver/newton/acn.h"

#include <string.h>

/* x and G of a contact at y; |F|^2. */
static double linearise_contact(acn *a, int i, double rho, const double *R, const double *y) {
    const sim_constraint *c = &a->problem->constraint[i];
    double *x = a->x + c->row, mu = c->friction, size = sqrt(y[0] * y[0] + y[1] * y[1]), radius = mu * y[2], F[3];
    memcpy(F, a->gamma + c->row, sizeof F);
    a->G[i] = (cone_hessian){0};
    /* open: P = 0 */
    if (!(y[2] > 0)) {
        memcpy(x, F, sizeof F);
        return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    }
    /* stick: P = y */
    bool sticks = size <= radius;
    double t[2] = {sticks ? 0 : y[0] / size, sticks ? 0 : y[1] / size};
    F[0] -= sticks ? y[0] : radius * t[0];
    F[1] -= sticks ? y[1] : radius * t[1];
    F[2] -= y[2];
    for (int k = 0; k < 3 && sticks; k++) {
        a->G[i].weight[k] = 1 / R[k];
        x[k] = F[k] / (rho * R[k]);
    }
    /* slide: P = (mu y_n t, y_n) */
    if (!sticks) {
        double h = radius / size, d = 1 - h + rho * h * R[0], normal = F[2] / (rho * R[2]);
        double along = t[0] * F[0] + t[1] * F[1] + mu * (1 - rho * R[2]) * normal;
        double across = (t[0] * F[1] - t[1] * F[0]) / d;
        a->G[i] = (cone_hessian){.sliding = 1, .t = {t[0], t[1]}, .lean = mu, .weight = {1 / R[2], rho * h / d}};
        x[0] = along * t[0] - across * t[1];
        x[1] = along * t[1] + across * t[0];
        x[2] = normal;
    }
    return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
}

/* The same of a contact that resists turning: each disc has the radius mu y_n of its own. */
static double linearise_turning_contact(acn *a, int i, double rho, const double *R, const double *y) {
    /* open: P = 0 */
    const sim_constraint *c = &a->problem->constraint[i];
    double *x = a->x + c->row, F[SIM_MAX_ROWS], sum = 0;
    cone_hessian *G = &a->G[i];
    *G = (cone_hessian){0};
    bool open = !(y[2] > 0);
    for (int r = 0; r < c->rows; r++) {
        F[r] = x[r] = a->gamma[c->row + r];
        sum += F[r] * F[r];
    }
    if (open) {
        return sum;
    }
    /* normal */
    sim_disc disc[SIM_MAX_DISCS];
    int count = sim_contact_discs(c, disc);
    F[2] -= y[2];
    x[2] = F[2] / (rho * R[2]);
    G->weight[2] = 1 / R[2];
    sum = F[2] * F[2];
    for (int k = 0; k < count; k++) {
        int first = disc[k].row;
        bool flat = disc[k].rows == 2;
        double mu = disc[k].bound, size = flat ? hypot(y[first], y[first + 1]) : fabs(y[first]), radius = mu * y[2];
        bool sticks = size <= radius && mu > 0;
        double t[2] = {size > 0 ? y[first] / size : 1, flat && size > 0 ? y[first + 1] / size : 0};
        for (int r = first; r < first + disc[k].rows; r++) {
            F[r] -= sticks ? y[r] : radius * t[r - first];
            sum += F[r] * F[r];
            G->weight[r] = sticks ? 1 / R[r] : 0;
            x[r] = F[r] / (rho * R[r]);
        }
        if (!sticks) {
            double h = size > 0 ? radius / size : 0, d = 1 - h + rho * h * R[first];
            double along = t[0] * F[first] + (flat ? t[1] * F[first + 1] : 0) + mu * (1 - rho * R[2]) * x[2];
            double across = flat ? (t[0] * F[first + 1] - t[1] * F[first]) / d : 0;
            discs_set_sliding(G, &disc[k], k, t, rho * h / d);
            x[first] = along * t[0] - across * t[1];
            if (flat) {
                x[first + 1] = along * t[1] + across * t[0];
            }
        }
    }
    return sum;
}

/* The same of another row. */
static double linearise_bounded_row(acn *a, int i, int r, double rho, double R, double y) {
    const sim_constraint *c = &a->problem->constraint[i];
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? a->problem->step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound, F = a->gamma[c->row + r] - fmin(fmax(y, low), bound);
    bool inside = y > low && y < bound;
    a->G[i].weight[r] = inside ? 1 / R : 0;
    a->x[c->row + r] = inside ? F / (rho * R) : F;
    return F * F;
}

/* Has the contact changed its piece of P since it was last linearised? */
static void watch_piece(acn *a, int i, const double *y) {
    char piece = (char)(!(y[2] > 0) ? PIECE_OPEN : PIECE_STICK + a->G[i].sliding); /* a bit a disc */
    a->next_share[i] = piece == a->piece[i] ? a->next_share[i] : 1;
    a->piece[i] = piece;
}

/* x and G of a constraint; |F|^2. */
static double linearise_constraint(acn *a, int i) {
    const sim_constraint *c = &a->problem->constraint[i];
    double w = a->w[i], extra = a->point.alpha * a->share[i] * w, rho = 1 / (w + extra), sum = 0;
    double y[SIM_MAX_ROWS], R[SIM_MAX_ROWS];
    /* y = gamma - rho s',  R' = R + alpha c w */
    for (int r = 0; r < c->rows; r++) {
        int row = c->row + r;
        y[r] = a->gamma[row] - rho * (a->s[row] + extra * (a->gamma[row] - a->centre[row]));
        R[r] = a->call->R[row] + extra;
    }
    if (c->kind == SIM_CONTACT) {
        sum = sim_contact_turns(c) ? linearise_turning_contact(a, i, rho, R, y) : linearise_contact(a, i, rho, R, y);
        watch_piece(a, i, y);
        return sum;
    }
    a->G[i] = (cone_hessian){0};
    for (int r = 0; r < c->rows; r++) {
        a->x[c->row + r] = 0; /* a given force */
        sum += acn_is_given(a, c->row + r) ? 0 : linearise_bounded_row(a, i, r, rho, R[r], y[r]);
    }
    return sum;
}

static void linearise_some(void *context, int worker, int first, int end) {
    acn *a = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        a->part[i] = linearise_constraint(a, i);
    }
}

double acn_linearise(void *self) {
    acn *a = self;
    double sum = 0;
    solver_run(a->call, a->problem->nconstraint, linearise_some, a);
    for (int i = 0; i < a->problem->nconstraint; i++) {
        sum += a->w[i] * a->part[i];
    }
    return sqrt(sum);
}
