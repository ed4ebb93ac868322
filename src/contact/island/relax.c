/* Block projected gradient sweeps (Gauss-Seidel) on the convex problem of a step.
 *
 *     min D(gamma) = gamma . (W + R) gamma / 2 + gamma . b   over gamma in K,     b = J v0 + w - target
 *     gamma_i <- P_K(gamma_i - s_i / L_i),     s = b + (W + R) gamma,     L_i = |W_ii|_F + max R_i
 *
 *     gamma     impulses, N s;  W = J A^-1 J': Delassus operator, R: compliance, 1/kg
 *     K         impulses that a constraint may give: friction cone; not negative; within a bound; any
 *     L_i       bound of the greatest eigenvalue of block i, 1/kg
 *
 * Each update lowers D, from any initial impulses.  With v = v0 + A^-1 J' gamma, T its kinetic energy and T0 that of
 * v0,
 *
 *     T - T0 = D(gamma) + gamma . (target - w) - gamma . R gamma / 2,
 *
 * so a start with D <= 0 (D = 0 without impulses) adds no energy but by targets, for any number of sweeps.
 *
 * With A^-1 = B' B, Z = B J' (sim_mass) and x = Z gamma: J A^-1 J' gamma = Z' x, v - v0 = B' x, and |v - v0|^2 = x . x
 * in the metric of A.  Sweeps run up and down the list in turns.
 *
 * Reference: Luo, Tseng 1992.  The method is of first order, for a few sweeps and low accuracy.
 * Cost: two products with Z a sweep. */
#include "contact/island/relax.h"
#include "math/dense.h"
#include "solver/core/natural_map.h"

#include <math.h>
#include <string.h>

static double *row_of(const relaxation *r, int i, int side, int row, int *end) {
    const sim_problem *p = r->p;
    const sim_constraint *c = &p->constraint[i];
    sim_columns of = sim_block_columns(p, c, side);
    *end = of.first + of.count;
    return r->Z + r->at[2 * i + side] + (ptrdiff_t)row * p->tree[c->tree[side]].nv;
}

/* W_kl of one constraint. */
static double block_entry(const relaxation *r, int i, int k, int l) {
    double w = 0;
    for (int side = 0, end; side < 2 && r->p->constraint[i].tree[side] >= 0; side++) {
        const double *Z = row_of(r, i, side, k, &end);
        w += dense_dot(end, Z, row_of(r, i, side, l, &end));
    }
    return w;
}

double relax_inverse_mass(const relaxation *r, int i, int row) { return block_entry(r, i, row, row); }

static void halve_rows(const relaxation *r, int i) {
    const sim_problem *p = r->p;
    const sim_constraint *c = &p->constraint[i];
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        double *Z = r->Z + r->at[2 * i + side];
        size_t size = (size_t)c->rows * (size_t)p->tree[c->tree[side]].nv;
        memcpy(Z, p->J + c->block[side], size * sizeof *Z);
        p->mass.half(p->mass.self, c->tree[side], c->rows, sim_block_columns(p, c, side), Z);
    }
}

sim_status relax_create(relaxation *r, const sim_problem *p, sim_arena *scratch) {
    /* memory; Z in blocks */
    ptrdiff_t size = 0;
    *r = (relaxation){.p = p};
    r->at = ARENA_NEW(scratch, ptrdiff_t, 2 * p->nconstraint);
    r->x = ARENA_NEW(scratch, double, p->nv);
    r->row = ARENA_NEW(scratch, double, 3 * (size_t)p->nrow);
    r->size = ARENA_NEW(scratch, double, 2 * (size_t)p->nconstraint);
    if (!r->at || !r->x || !r->row || !r->size) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2 && p->constraint[i].tree[side] >= 0; side++) {
            r->at[2 * i + side] = size;
            size += (ptrdiff_t)p->constraint[i].rows * p->tree[p->constraint[i].tree[side]].nv;
        }
    }
    r->Z = ARENA_NEW(scratch, double, size);
    if (!r->Z) {
        return SIM_NO_RESOURCE;
    }
    r->base = r->row;
    r->R = r->base + p->nrow;
    r->gamma = r->R + p->nrow;
    r->pace = r->size + p->nconstraint;
    /* Z = B J', and the norm of each diagonal block of W */
    for (int i = 0; i < p->nconstraint; i++) {
        halve_rows(r, i);
        r->size[i] = r->pace[i] = 0;
        for (int k = 0; k < p->constraint[i].rows; k++) {
            for (int l = 0; l < p->constraint[i].rows; l++) {
                double w = block_entry(r, i, k, l);
                r->size[i] += w * w;
            }
        }
        r->size[i] = sqrt(r->size[i]);
    }
    /* start from zero */
    memset(r->x, 0, (size_t)p->nv * sizeof *r->x);
    memset(r->row, 0, 3 * (size_t)p->nrow * sizeof *r->row);
    return SIM_OK;
}

void relax_admit(relaxation *r, int i) {
    const sim_constraint *c = &r->p->constraint[i];
    double yields = 0;
    for (int k = c->row; k < c->row + c->rows; k++) {
        yields = fmax(yields, r->R[k]);
    }
    double L = r->size[i] + yields;
    r->pace[i] = L > 0 ? 1 / L : 0;
}

double relax_velocity(const relaxation *r, int i, int row) {
    const sim_constraint *c = &r->p->constraint[i];
    double u = 0;
    for (int side = 0, end; side < 2 && c->tree[side] >= 0; side++) {
        const double *Z = row_of(r, i, side, row, &end);
        u += dense_dot(end, Z, r->x + r->p->tree[c->tree[side]].v0);
    }
    return u;
}

/* g <- the impulse of K that is nearest to it. */
static void project_impulse(const sim_constraint *c, double step, double *g) {
    if (c->kind == SIM_LIMIT) {
        g[0] = fmax(g[0], 0);
    } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
        for (int k = 0; k < c->rows; k++) {
            g[k] = fmax(-step * c->bound, fmin(step * c->bound, g[k]));
        }
    } else if (c->kind == SIM_CONTACT && sim_contact_turns(c)) {
        natural_project(c, step, g);
    } else if (c->kind == SIM_CONTACT) {
        double mu = c->friction, slides = sqrt(g[0] * g[0] + g[1] * g[1]);
        if (slides <= mu * g[2]) {
            return;
        }
        double over = sqrt(1 + mu * mu), along = fmax((g[2] / over + mu / over * slides) / over, 0);
        double part = slides > 0 ? mu * along / slides : 0;
        g[0] *= part;
        g[1] *= part;
        g[2] = along;
    }
}

/* Sets the impulse of constraint i to g, and updates x. */
static void set_impulse(relaxation *r, int i, const double *g) {
    const sim_constraint *c = &r->p->constraint[i];
    for (int k = 0; k < c->rows; k++) {
        double change = g[k] - r->gamma[c->row + k];
        r->gamma[c->row + k] = g[k];
        for (int side = 0, end; side < 2 && c->tree[side] >= 0 && change != 0; side++) {
            const double *Z = row_of(r, i, side, k, &end);
            dense_axpy(end, change, Z, r->x + r->p->tree[c->tree[side]].v0);
        }
    }
}

void relax_sweep(relaxation *r) {
    int n = r->p->nconstraint, down = r->sweeps++ % 2;
    for (int at = 0; at < n; at++) {
        int i = down ? n - 1 - at : at;
        const sim_constraint *c = &r->p->constraint[i];
        double g[SIM_MAX_ROWS];
        for (int k = 0; k < c->rows; k++) {
            int row = c->row + k;
            g[k] = r->gamma[row] - r->pace[i] * (r->base[row] + relax_velocity(r, i, k) + r->R[row] * r->gamma[row]);
        }
        if (r->pace[i] > 0) {
            project_impulse(c, r->p->step, g);
            set_impulse(r, i, g);
        }
    }
}

void relax_start(relaxation *r, const double *impulse) {
    /* warm start: impulses projected onto the cones */
    const sim_problem *p = r->p;
    double slope = 0, curvature = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double g[SIM_MAX_ROWS];
        memcpy(g, impulse + c->row, (size_t)c->rows * sizeof *g);
        project_impulse(c, p->step, g);
        if (r->pace[i] > 0) {
            set_impulse(r, i, g);
        }
    }
    /* the multiple of them that minimises the quadratic cost, at most 1 */
    for (int k = 0; k < p->nrow; k++) {
        slope += r->gamma[k] * r->base[k];
        curvature += r->R[k] * r->gamma[k] * r->gamma[k];
    }
    curvature += dense_dot(p->nv, r->x, r->x);
    double part = slope < 0 && curvature > 0 ? fmin(-slope / curvature, 1) : 0;
    part = isfinite(part) ? part : 0;
    /* scale */
    for (int k = 0; k < p->nrow; k++) {
        r->gamma[k] = part > 0 ? part * r->gamma[k] : 0;
    }
    for (int j = 0; j < p->nv; j++) {
        r->x[j] = part > 0 ? part * r->x[j] : 0;
    }
}

void relax_motion(const relaxation *r, double *v) {
    const sim_problem *p = r->p;
    memset(v, 0, (size_t)p->nv * sizeof *v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            int n = p->tree[c->tree[side]].nv;
            for (int k = 0; k < c->rows; k++) {
                dense_axpy(n, r->gamma[c->row + k], p->J + c->block[side] + k * n, v + p->tree[c->tree[side]].v0);
            }
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.solve(p->mass.self, t, v + p->tree[t].v0);
    }
}
