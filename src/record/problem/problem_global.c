/* Conversion of FCLIB's global form to trees, A and J:  M v = H r + G l + f,  u = H' v + w,  G' v + b = 0.
 *
 *     A = M, tree by tree dense,   J = (H, G)',   v* = M^-1 f,   offsets w, b
 *
 * Coupled velocities are stored dense, which is impossible for very large trees (finite element meshes). */
#include "record/problem/problem_file.h"

#include <string.h>

static const ptrdiff_t most_numbers = (ptrdiff_t)1 << 27; /* of the blocks of M, and of those of J */
enum { MAX_COUPLED_DOFS = 4096 };

typedef struct draft {
    sim_problem parts;
    sim_problem_tree *tree;
    sim_constraint *constraint;
    double *A, *J, *offset, *v_free, *v_guess;
    int *tree_of; /* [n] by FCLIB's velocities */
    int *place;   /* [n] likewise: which of the problem's */
} draft;

static bool order_velocities(sim_problem_file *file, draft *d, const fclib *p, memory_pool *work) {
    /* trees: connected components of M */
    d->tree_of = POOL_NEW(work, int, p->dofs);
    d->place = POOL_NEW(work, int, p->dofs);
    file->fclib_dof = POOL_NEW(file->pool, int, p->dofs);
    d->parts.ntree = d->tree_of ? problem_trees(work, p, d->tree_of) : -1;
    d->tree = d->parts.ntree >= 0 ? POOL_NEW(work, sim_problem_tree, d->parts.ntree) : NULL;
    if (!d->tree || !d->place || !file->fclib_dof) {
        return false;
    }
    /* offset of each tree */
    for (int i = 0; i < p->dofs; i++) {
        d->tree[d->tree_of[i]].nv++;
    }
    for (int t = 0, v0 = 0; t < d->parts.ntree; t++) {
        d->tree[t].v0 = v0;
        v0 += d->tree[t].nv;
        d->tree[t].nv = 0;
    }
    /* permutation from FCLIB's velocities to the trees', and back */
    for (int i = 0; i < p->dofs; i++) {
        sim_problem_tree *t = &d->tree[d->tree_of[i]];
        d->place[i] = t->v0 + t->nv++;
        file->fclib_dof[d->place[i]] = i;
    }
    return true;
}

static sim_status fill_A(draft *d, const fclib *p, memory_pool *work, sim_error *error) {
    /* sizes of the dense blocks */
    ptrdiff_t size = 0;
    ptrdiff_t *at = POOL_NEW(work, ptrdiff_t, d->parts.ntree);
    for (int t = 0; at && t < d->parts.ntree; t++) {
        at[t] = size;
        size += (ptrdiff_t)d->tree[t].nv * d->tree[t].nv;
        if (d->tree[t].nv > MAX_COUPLED_DOFS || size > most_numbers) {
            return sim_fail(error, SIM_BAD_INPUT, "M couples %d velocities with each other; the limit is %d",
                            d->tree[t].nv, MAX_COUPLED_DOFS);
        }
    }
    /* fill them from the rows of M */
    d->A = at ? POOL_NEW(work, double, size) : NULL;
    if (!d->A) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    for (int i = 0; i < p->dofs; i++) {
        const sim_problem_tree *t = &d->tree[d->tree_of[i]];
        double *row = d->A + at[d->tree_of[i]] + (ptrdiff_t)(d->place[i] - t->v0) * t->nv;
        for (ptrdiff_t k = p->M.start[i]; k < p->M.start[i + 1]; k++) {
            row[d->place[p->M.column[k]] - t->v0] = p->M.value[k];
        }
    }
    return SIM_OK;
}

/* The trees that a constraint touches, the lower first; one that touches none is given the first. */
static void find_trees(const draft *d, sim_constraint *c, const sparse *rows, int first) {
    for (int row = first; row < first + c->rows; row++) {
        for (ptrdiff_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
            int t = d->tree_of[rows->column[k]];
            if (c->tree[0] < 0 || t == c->tree[0]) {
                c->tree[0] = t;
            } else if (c->tree[1] < 0) {
                c->tree[1] = t;
            }
        }
    }
    if (c->tree[1] >= 0 && c->tree[1] < c->tree[0]) {
        int lower = c->tree[1];
        c->tree[1] = c->tree[0];
        c->tree[0] = lower;
    }
    c->tree[0] = c->tree[0] < 0 ? 0 : c->tree[0];
}

static void fill_rows(const draft *d, const sim_constraint *c, const int *fclib_row, const sparse *rows, int base) {
    for (int k = 0; k < c->rows; k++) {
        int row = fclib_row[c->row + k] - base;
        for (ptrdiff_t e = rows->start[row]; e < rows->start[row + 1]; e++) {
            int dof = rows->column[e], side = d->tree_of[dof] != c->tree[0];
            const sim_problem_tree *t = &d->tree[d->tree_of[dof]];
            d->J[c->block[side] + (ptrdiff_t)k * t->nv + d->place[dof] - t->v0] = rows->value[e];
        }
    }
}

static sim_status fill_J(sim_problem_file *file, draft *d, const fclib *p, memory_pool *work, sim_error *error) {
    /* rows of J: columns of FCLIB's H and G */
    int m = p->contact_rows * p->contacts;
    sparse H = sparse_transposed(work, &p->H), G = {0};
    G = p->bilateral ? sparse_transposed(work, &p->G) : G;
    /* trees and block sizes of each constraint */
    ptrdiff_t size = 0;
    for (int i = 0; sparse_there(&H) && (!p->bilateral || sparse_there(&G)) && i < d->parts.nconstraint; i++) {
        sim_constraint *c = &d->constraint[i];
        find_trees(d, c, i < p->contacts ? &H : &G, i < p->contacts ? c->row : c->row - m);
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            c->block[side] = size;
            size += (ptrdiff_t)c->rows * d->tree[c->tree[side]].nv;
        }
        if (size > most_numbers) {
            return sim_fail(error, SIM_BAD_INPUT, "the blocks of J take more than %td numbers", most_numbers);
        }
    }
    /* fill the blocks */
    d->J = POOL_NEW(work, double, size);
    if (!d->J || !sparse_there(&H) || (p->bilateral && !sparse_there(&G))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    for (int i = 0; i < d->parts.nconstraint; i++) {
        bool contact = i < p->contacts;
        fill_rows(d, &d->constraint[i], file->fclib_row, contact ? &H : &G, contact ? 0 : m);
    }
    return SIM_OK;
}

/* v* = M^-1 f, by a problem without constraints. */
static sim_status fill_free(const sim_problem_file *file, draft *d, const fclib *p, sim_error *error) {
    sim_problem free_motion = {.step = 1, .ntree = d->parts.ntree, .nv = p->dofs, .tree = d->tree, .v_free = d->v_free};
    sim_error why = {0};
    sim_problem *made = sim_problem_create(&free_motion, d->A, &why);
    if (!made) {
        return sim_fail(error, why.status, why.status == SIM_BAD_INPUT ? "/fclib_global/M, here %s" : "%s", why.text);
    }
    for (int j = 0; j < p->dofs; j++) {
        d->v_free[j] = p->f[file->fclib_dof[j]];
    }
    for (int t = 0; t < made->ntree; t++) {
        made->mass.solve(made->mass.self, t, d->v_free + made->tree[t].v0);
    }
    sim_problem_free(made);
    return SIM_OK;
}

static bool fill_draft_vectors(const sim_problem_file *file, draft *d, const fclib *p, memory_pool *work) {
    int m = p->contact_rows * p->contacts, nrow = d->parts.nrow;
    d->v_free = POOL_NEW(work, double, p->dofs);
    d->offset = POOL_NEW(work, double, nrow);
    d->parts.gap = POOL_NEW(work, double, nrow);
    d->v_guess = p->v_guess ? POOL_NEW(work, double, p->dofs) : NULL;
    if (!d->v_free || !d->offset || !d->parts.gap || (p->v_guess && !d->v_guess)) {
        return false;
    }
    for (int k = 0; k < nrow; k++) {
        int at = file->fclib_row[k];
        d->offset[k] = at < m ? p->w[at] : p->b[at - m];
    }
    for (int j = 0; d->v_guess && j < p->dofs; j++) {
        d->v_guess[j] = p->v_guess[file->fclib_dof[j]];
    }
    d->parts.impulse_guess = problem_impulse_guess(file, p, work);
    return true;
}

sim_status problem_global(sim_problem_file *file, const fclib *p, memory_pool *work, sim_error *error) {
    draft d = {.parts = {.step = 1,
                         .nv = p->dofs,
                         .nconstraint = p->contacts + p->bilateral,
                         .nrow = p->contact_rows * p->contacts + p->bilateral}};
    file->dofs = p->dofs;
    if (p->dofs == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "the problem has no velocities");
    }
    d.constraint = problem_constraints(file, p, work);
    if (!d.constraint || !order_velocities(file, &d, p, work) || !fill_draft_vectors(file, &d, p, work)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    sim_status status = fill_A(&d, p, work, error);
    status = status ? status : fill_J(file, &d, p, work, error);
    status = status ? status : fill_free(file, &d, p, error);
    if (status) {
        return status;
    }
    d.parts.tree = d.tree;
    d.parts.constraint = d.constraint;
    d.parts.J = d.J;
    d.parts.offset = d.offset;
    d.parts.v_free = d.parts.v_start = d.v_free; /* FCLIB states no velocities before the step */
    d.parts.v_guess = d.v_guess;
    sim_error why = {0};
    file->problem = sim_problem_create(&d.parts, d.A, &why);
    return file->problem ? SIM_OK : sim_fail(error, why.status, "/fclib_global: %s", why.text);
}
