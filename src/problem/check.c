/* Checks of a contact problem that a caller hands over.
 *
 * Indices must fit, numbers be finite and in the range that gives them a meaning:
 *
 *     contact, limit, equality   stiffness k > 0 (infinity: rigid), dissipation >= 0; friction in [0, 1000],
 *                                restitution in [0, 1]
 *     spring, actuator           k >= 0 and damping d >= 0, and not both 0: R = 1 / (dt (dt k + d)) must exist
 *     friction, actuator         bound >= 0 (infinity: never slips, never saturates)
 *
 * and A must be symmetric, as solvers assume.  Numbers that a kind has no use for are not checked.  A message begins
 * with the array that it is about, with its name in files. */
#include "problem/check.h"

#include <math.h>
#include <stdbool.h>

static sim_status check_there(const char *name, const void *array, ptrdiff_t count, sim_error *error) {
    return array || count == 0 ? SIM_OK
                               : sim_fail(error, SIM_BAD_INPUT, "%s: is missing; %td numbers are needed", name, count);
}

static sim_status check_finite(const char *name, const double *x, ptrdiff_t count, sim_error *error) {
    for (ptrdiff_t k = 0; k < count && x; k++) {
        if (!isfinite(x[k])) {
            return sim_fail(error, SIM_BAD_INPUT, "%s[%td] is %g: it must be finite", name, k, x[k]);
        }
    }
    return SIM_OK;
}

/* ---- sizes and places ---- */

static sim_status check_sizes(const sim_problem *p, const double *A, sim_error *error) {
    if (p->ntree < 0 || p->nv < 0 || p->nconstraint < 0 || p->nrow < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%d trees, %d velocities, %d constraints, %d rows: a count is negative",
                        p->ntree, p->nv, p->nconstraint, p->nrow);
    }
    if (!(p->step > 0) || isinf(p->step)) {
        return sim_fail(error, SIM_BAD_INPUT, "step is %g s: it must be more than 0, and finite", p->step);
    }
    sim_status status = check_there("tree", p->tree, p->ntree, error);
    status = status ? status : check_there("constraint", p->constraint, p->nconstraint, error);
    status = status ? status : check_there("gap", p->gap, p->nrow, error);
    status = status ? status : check_there("v_free", p->v_free, p->nv, error);
    return status ? status : check_there("A", A, p->nv, error);
}

static sim_status check_trees(const sim_problem *p, sim_error *error) {
    long long v0 = 0;
    for (int t = 0; t < p->ntree; t++) {
        if (p->tree[t].v0 != v0 || p->tree[t].nv < 0) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "tree: the %d velocities of tree %d from %d on do not follow on those before",
                            p->tree[t].nv, t, p->tree[t].v0);
        }
        v0 += p->tree[t].nv;
    }
    return v0 == p->nv ? SIM_OK
                       : sim_fail(error, SIM_BAD_INPUT,
                                  "tree: has %lld velocities, but the problem %d: they do not fit", v0, p->nv);
}

static sim_status check_constraint_place(const sim_problem *p, int i, long long row, sim_error *error) {
    /* kind and rows */
    const sim_constraint *c = &p->constraint[i];
    if ((unsigned)c->kind >= SIM_CONSTRAINT_KINDS) {
        return sim_fail(error, SIM_BAD_INPUT, "kind[%d] is %d: kinds are 0 to %d", i, (int)c->kind,
                        SIM_CONSTRAINT_KINDS - 1);
    }
    if (c->rows < 1 || c->rows > SIM_MAX_ROWS || (c->kind == SIM_CONTACT && c->rows < SIM_CONTACT_ROWS)) {
        return sim_fail(error, SIM_BAD_INPUT, "rows[%d] is %d: a constraint has 1 to %d, a contact 3 to 6", i, c->rows,
                        SIM_MAX_ROWS);
    }
    if (c->row != row) {
        return sim_fail(error, SIM_BAD_INPUT, "constraint %d: its rows start at %d, those before end at %lld", i,
                        c->row, row);
    }
    /* trees and blocks of J */
    for (int side = 0; side < 2; side++) {
        if (c->tree[side] < -1 || c->tree[side] >= p->ntree) {
            return sim_fail(error, SIM_BAD_INPUT, "tree: constraint %d touches tree %d, of %d; none is -1", i,
                            c->tree[side], p->ntree);
        }
        if (c->tree[side] >= 0 && c->block[side] < 0) {
            return sim_fail(error, SIM_BAD_INPUT, "block: constraint %d has its part of J at %td", i, c->block[side]);
        }
        sim_columns of = c->columns[side];
        if (c->tree[side] >= 0 && (of.first < 0 || of.count < 0 || of.count > p->tree[c->tree[side]].nv - of.first)) {
            return sim_fail(error, SIM_BAD_INPUT, "columns: constraint %d has [%d, %d) of the %d of tree %d", i,
                            of.first, of.first + of.count, p->tree[c->tree[side]].nv, c->tree[side]);
        }
    }
    /* at least one tree, no tree twice */
    if (c->tree[0] < 0 && !sim_problem_local(p)) {
        return sim_fail(error, SIM_BAD_INPUT, "tree: constraint %d touches none, or its second only", i);
    }
    return c->tree[0] >= 0 && c->tree[0] == c->tree[1]
               ? sim_fail(error, SIM_BAD_INPUT, "tree: constraint %d names tree %d twice", i, c->tree[0])
               : SIM_OK;
}

/* ---- numbers of constraints ---- */

typedef enum range { FINITE, NOT_NEGATIVE, UP_TO_ONE, COULOMB, BOUND, POSITIVE } range;

static const char *const words[] = {
    [FINITE] = "it must be finite",         [NOT_NEGATIVE] = "it must be 0 or more, and finite",
    [UP_TO_ONE] = "it must be from 0 to 1", [COULOMB] = "it must be from 0 to 1000",
    [BOUND] = "it must be 0 or more",       [POSITIVE] = "it must be more than 0; infinity is rigid",
};

static bool is_in_range(range r, double x) {
    switch (r) {
    case NOT_NEGATIVE:
        return x >= 0 && isfinite(x);
    case UP_TO_ONE:
        return x >= 0 && x <= 1;
    case COULOMB:
        return x >= 0 && x <= SIM_MOST_FRICTION;
    case BOUND:
        return x >= 0;
    case POSITIVE:
        return x > 0;
    default:
        return isfinite(x);
    }
}

enum {
    HELD = 1 << SIM_CONTACT | 1 << SIM_LIMIT | 1 << SIM_EQUALITY,
    BOUNCING = 1 << SIM_CONTACT | 1 << SIM_LIMIT,
    SPRUNG = 1 << SIM_SPRING | 1 << SIM_ACTUATOR,
    BOUNDED = 1 << SIM_FRICTION | 1 << SIM_ACTUATOR,
};

static const struct {
    const char *name;
    size_t offset;
    unsigned kinds;
    range range;
} number[] = {
    {"friction", offsetof(sim_constraint, friction), 1 << SIM_CONTACT, COULOMB},
    {"surface[0]", offsetof(sim_constraint, surface[0]), 1 << SIM_CONTACT, FINITE},
    {"surface[1]", offsetof(sim_constraint, surface[1]), 1 << SIM_CONTACT, FINITE},
    {"rolling", offsetof(sim_constraint, rolling), 1 << SIM_CONTACT, NOT_NEGATIVE},
    {"torsion", offsetof(sim_constraint, torsion), 1 << SIM_CONTACT, NOT_NEGATIVE},
    {"stiffness", offsetof(sim_constraint, stiffness), HELD, POSITIVE},
    {"stiffness", offsetof(sim_constraint, stiffness), SPRUNG, NOT_NEGATIVE},
    {"dissipation", offsetof(sim_constraint, dissipation), HELD, NOT_NEGATIVE},
    {"restitution", offsetof(sim_constraint, restitution), BOUNCING, UP_TO_ONE},
    {"bound", offsetof(sim_constraint, bound), BOUNDED, BOUND},
    {"damping", offsetof(sim_constraint, damping), SPRUNG, NOT_NEGATIVE},
    {"force", offsetof(sim_constraint, force), SPRUNG, FINITE},
};

static sim_status check_numbers(const sim_problem *p, int i, sim_error *error) {
    const sim_constraint *c = &p->constraint[i];
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        double x = *(const double *)(const void *)((const char *)c + number[k].offset);
        if ((number[k].kinds >> c->kind & 1) && !is_in_range(number[k].range, x)) {
            return sim_fail(error, SIM_BAD_INPUT, "%s[%d] is %g (%s): %s", number[k].name, i, x,
                            sim_constraint_name(c->kind), words[number[k].range]);
        }
    }
    double damping = SPRUNG >> c->kind & 1 ? c->damping : 0, dt = p->step;
    if (((SPRUNG | HELD) >> c->kind & 1) && !isfinite(1 / (dt * (dt * c->stiffness + damping)))) {
        return sim_fail(
            error, SIM_BAD_INPUT,
            "stiffness[%d] is %g and damping %g (%s): a force that does not depend on motion belongs to v_free", i,
            c->stiffness, damping, sim_constraint_name(c->kind));
    }
    return SIM_OK;
}

static sim_status check_constraints(const sim_problem *p, sim_error *error) {
    long long row = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        sim_status status = check_constraint_place(p, i, row, error);
        status = status ? status : check_numbers(p, i, error);
        if (status) {
            return status;
        }
        row += p->constraint[i].rows;
    }
    return row == p->nrow ? SIM_OK
                          : sim_fail(error, SIM_BAD_INPUT,
                                     "constraint: has %lld rows, but the problem %d: they do not fit", row, p->nrow);
}

/* ---- matrices ---- */

ptrdiff_t problem_length_of_J(const sim_problem *p) {
    ptrdiff_t end = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2; side++) {
            if (c->tree[side] >= 0) {
                ptrdiff_t past = c->block[side] + (ptrdiff_t)c->rows * p->tree[c->tree[side]].nv;
                end = past > end ? past : end;
            }
        }
    }
    return end;
}

ptrdiff_t problem_length_of_W(const sim_problem *p) {
    ptrdiff_t end = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            ptrdiff_t past = p->W->at[k] + p->constraint[i].rows * p->constraint[p->W->column[k]].rows;
            end = past > end ? past : end;
        }
    }
    return end;
}

static sim_status check_A(const sim_problem *p, const double *A, sim_error *error) {
    for (int t = 0; t < p->ntree; t++) {
        ptrdiff_t n = p->tree[t].nv;
        for (ptrdiff_t i = 0; i < n; i++) {
            for (ptrdiff_t j = 0; j <= i; j++) {
                double x = A[i * n + j], y = A[j * n + i];
                if (!isfinite(x) || x != y) {
                    return sim_fail(error, SIM_BAD_INPUT,
                                    "A: tree %d has %.17g in row %td, column %td, and %.17g across: %s", t, x, i, j, y,
                                    isfinite(x) ? "it is not symmetric" : "it must be finite");
                }
            }
        }
        A += n * n;
    }
    return SIM_OK;
}

static const double *block_at(const sim_problem *p, int i, int j) {
    int low = p->W->start[i], high = p->W->start[i + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->W->column[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < p->W->start[i + 1] && p->W->column[low] == j ? p->W->value + p->W->at[low] : NULL;
}

static sim_status check_symmetry(const sim_problem *p, sim_error *error) {
    const sim_delassus *W = p->W;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            int j = W->column[k], rows = p->constraint[i].rows, columns = p->constraint[j].rows;
            const double *a = W->value + W->at[k], *b = block_at(p, j, i);
            for (int e = 0; e < rows * columns; e++) {
                if (a[e] != (b ? b[e % columns * rows + e / columns] : 0)) {
                    return sim_fail(error, SIM_BAD_INPUT,
                                    "W: is declared symmetric, but is not in the blocks of %d and %d", i, j);
                }
            }
        }
    }
    return SIM_OK;
}

static sim_status check_delassus(const sim_problem *p, sim_error *error) {
    /* arrays */
    const sim_delassus *W = p->W;
    if (!W || !p->q || !W->start || !W->column || !W->at || !W->value || W->start[0] != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "W: a problem without trees needs W and q");
    }
    /* columns increase in each row, and the diagonal is there */
    for (int i = 0; i < p->nconstraint; i++) {
        bool diagonal = false;
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            int j = W->column[k], rises = k == W->start[i] || j > W->column[k - 1];
            if (j < 0 || j >= p->nconstraint || !rises || W->at[k] < 0) {
                return sim_fail(error, SIM_BAD_INPUT, "W: row %d: block %d is out of place", i, j);
            }
            diagonal |= j == i;
        }
        if (!diagonal) {
            return sim_fail(error, SIM_BAD_INPUT, "W: row %d has no block on the diagonal", i);
        }
    }
    /* values */
    sim_status status = check_finite("W/value", W->value, problem_length_of_W(p), error);
    return status || !W->symmetric ? status : check_symmetry(p, error);
}

/* ---- bodies ---- */

ptrdiff_t problem_length_on_bodies(const sim_problem *p, const sim_problem_bodies *b) {
    ptrdiff_t end = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2; side++) {
            ptrdiff_t after = b->rows[i].block[side] + 6 * (ptrdiff_t)p->constraint[i].rows;
            end = b->rows[i].body[side] >= 0 && after > end ? after : end;
        }
    }
    return end;
}

/* Do the indices of bodies, dofs and rows fit?  Their numbers are not checked. */
static sim_status check_problem_bodies(const sim_problem *p, const sim_problem_bodies *b, sim_error *error) {
    bool fits = b->nbody >= 0 && b->first[0] == 0 && b->first[p->ntree] == b->nbody;
    for (int t = 0; t < p->ntree && fits; t++) {
        int v = p->tree[t].v0;
        fits = b->first[t] <= b->first[t + 1] && b->first[t + 1] <= b->nbody;
        for (int k = b->first[t]; k < b->first[t + 1] && fits; k++) {
            const sim_body_node *n = &b->node[k];
            fits = n->parent < k && (n->parent < 0 || n->parent >= b->first[t]) && n->v0 == v && n->nv >= 0;
            v += n->nv;
        }
        fits = fits && v == p->tree[t].v0 + p->tree[t].nv;
    }
    for (int i = 0; i < p->nconstraint && fits; i++) {
        const sim_body_rows *r = &b->rows[i];
        fits = r->body[0] < b->nbody && r->body[1] < b->nbody && r->chain >= 0 && r->chain < SIM_CHAINS &&
               (r->body[0] < 0 || r->block[0] >= 0) && (r->body[1] < 0 || r->block[1] >= 0);
    }
    return fits ? SIM_OK
                : sim_fail(error, SIM_BAD_INPUT, "bodies: trees, dofs or rows of theirs do not fit the problem");
}

sim_status problem_check(const sim_problem *p, const double *A, sim_error *error) {
    sim_status status = check_sizes(p, A, error);
    status = status ? status : check_trees(p, error);
    status = status ? status : check_constraints(p, error);
    status = status ? status : check_there("J", p->J, problem_length_of_J(p), error);
    if (!status && sim_problem_local(p) && (p->nconstraint || p->W)) {
        status = check_delassus(p, error);
    }
    status = status ? status : check_A(p, A, error);
    status = status || !p->bodies ? status : check_problem_bodies(p, p->bodies, error);
    status = status ? status : check_finite("J", p->J, problem_length_of_J(p), error);
    status = status ? status : check_finite("gap", p->gap, p->nrow, error);
    status = status ? status : check_finite("v_free", p->v_free, p->nv, error);
    status = status ? status : check_finite("v_start", p->v_start, p->nv, error);
    status = status ? status : check_finite("offset", p->offset, p->nrow, error);
    return status ? status : check_finite("q", p->q, p->nrow, error);
}
