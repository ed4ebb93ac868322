/* FCLIB's view of a problem: its contacts and its equality rows, under the rigid law, which has no R and aims at
 * `target`:
 *
 *     global   M = A,  H, G = J',  f = A v*,  w, b = offset - target
 *     local    W, V, R: the blocks between contacts and equality rows,  q, s = q - target
 *
 * Joint limits, dry friction, springs and actuators FCLIB has no words for; nor for contacts that yield.  Rows against
 * turning are left out: FCLIB has these in problems of their own, where all contacts roll and none has torsion. */
#include "record/problem/problem_file.h"
#include "solver/core/products.h"

#include <stdio.h>
#include <string.h>

sim_status problem_map_view(sim_problem_file *file, sim_error *error) {
    /* count contacts and bilateral rows */
    const sim_problem *p = file->problem;
    file->fclib_row = POOL_NEW(file->pool, int, p->nrow);
    file->fclib_dof = POOL_NEW(file->pool, int, p->nv);
    if (!file->fclib_row || !file->fclib_dof) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    file->dofs = p->nv;
    file->contacts = file->bilateral = 0;
    file->contact_rows = SIM_CONTACT_ROWS;
    for (int i = 0; i < p->nconstraint; i++) {
        file->contacts += p->constraint[i].kind == SIM_CONTACT;
    }
    /* FCLIB's row of each row; limits and dry friction have none */
    for (int i = 0, contact = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            file->fclib_row[c->row + k] = c->kind == SIM_CONTACT    ? (k < 3 ? 3 * contact + (k + 1) % 3 : -1)
                                          : c->kind == SIM_EQUALITY ? 3 * file->contacts + file->bilateral++
                                                                    : -1;
        }
        contact += c->kind == SIM_CONTACT;
    }
    /* velocities keep their order */
    for (int j = 0; j < p->nv; j++) {
        file->fclib_dof[j] = j;
    }
    return SIM_OK;
}

typedef struct view {
    const sim_problem_file *file;
    const sim_problem *p;
    store *s;
    store_node *group, *vectors;
    int m;      /* 3 nc */
    double *w;  /* [3 nc + p] offset - target, or q - target */
    double *mu; /* [nc] */
} view;

static bool fill_view_vectors(view *v, memory_pool *work) {
    /* w and mu in FCLIB's rows */
    const sim_problem *p = v->p;
    const double *from = sim_problem_local(p) ? p->q : p->offset;
    double *R = POOL_NEW(work, double, p->nrow), *target = POOL_NEW(work, double, p->nrow);
    v->w = POOL_NEW(work, double, (ptrdiff_t)v->m + v->file->bilateral);
    v->mu = POOL_NEW(work, double, v->file->contacts);
    if (!R || !target || !v->w || !v->mu) {
        return false;
    }
    /* target velocity of the rigid law */
    sim_regularise(p, SIM_RIGID, &v->file->law, NULL, R, target);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            int at = v->file->fclib_row[k];
            if (at >= 0) {
                v->w[at] = (from ? from[k] : 0) - target[k];
            }
            if (c->kind == SIM_CONTACT && at >= 0) {
                v->mu[at / 3] = c->friction;
            }
        }
    }
    return true;
}

static bool put_mass(const view *v, memory_pool *work) {
    /* size of the blocks of A */
    const sim_problem *p = v->p;
    ptrdiff_t size = 0, largest = 0;
    for (int t = 0; t < p->ntree; t++) {
        ptrdiff_t block = (ptrdiff_t)p->tree[t].nv * p->tree[t].nv;
        size += block;
        largest = block > largest ? block : largest;
    }
    /* nonzeros of A as triplets */
    triplets M = triplets_make(work, size);
    double *A = POOL_NEW(work, double, largest), *f = POOL_NEW(work, double, p->nv);
    if (!M.row || !M.column || !M.value || !A || !f) {
        return false;
    }
    for (int t = 0; t < p->ntree; t++) {
        int n = p->tree[t].nv, v0 = p->tree[t].v0;
        p->mass.matrix(p->mass.self, t, A);
        for (int k = 0; k < n * n; k++) {
            if (A[k] != 0) {
                triplets_add(&M, v0 + k / n, v0 + k % n, A[k]);
            }
        }
    }
    /* f = A v_free */
    problem_mass_times(p, p->v_free, f);
    fclib_put_triplets(v->s, v->group, "M", p->nv, p->nv, &M);
    store_real(v->s, v->vectors, "f", 1, p->nv, f);
    return true;
}

/* H, or G: the rows of J that FCLIB counts from `first` on, `count` of them, as columns. */
static bool put_jacobian(const view *v, memory_pool *work, const char *name, int first, int count) {
    /* room */
    const sim_problem *p = v->p;
    ptrdiff_t size = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int side = 0; side < 2; side++) {
            int t = p->constraint[i].tree[side];
            size += t >= 0 ? (ptrdiff_t)p->constraint[i].rows * p->tree[t].nv : 0;
        }
    }
    triplets H = triplets_make(work, size);
    if (!H.row || !H.column || !H.value) {
        return false;
    }
    /* entries that are not zero */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows * 2; k++) {
            int side = k / c->rows, row = k % c->rows, column = v->file->fclib_row[c->row + row] - first;
            if (c->tree[side] < 0 || column < 0 || column >= count) {
                continue;
            }
            const sim_problem_tree *t = &p->tree[c->tree[side]];
            const double *J = p->J + c->block[side] + (ptrdiff_t)row * t->nv;
            for (int j = 0; j < t->nv; j++) {
                if (J[j] != 0) {
                    triplets_add(&H, t->v0 + j, column, J[j]);
                }
            }
        }
    }
    /* write */
    fclib_put_triplets(v->s, v->group, name, p->nv, count, &H);
    return true;
}

/* W, V, or R: the numbers of K = (W V; V' R) from a row and a column on. */
static bool put_view_delassus(const view *v, memory_pool *work, const char *name, int row0, int rows, int column0,
                              int columns) {
    /* room */
    const sim_problem *p = v->p;
    ptrdiff_t size = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            size += p->constraint[i].rows * p->constraint[p->W->column[k]].rows;
        }
    }
    triplets t = triplets_make(work, size);
    if (!t.row || !t.column || !t.value) {
        return false;
    }
    /* entries of the part */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *a = &p->constraint[i];
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            const sim_constraint *b = &p->constraint[p->W->column[k]];
            for (int e = 0; e < a->rows * b->rows; e++) {
                int row = v->file->fclib_row[a->row + e / b->rows] - row0;
                int column = v->file->fclib_row[b->row + e % b->rows] - column0;
                if (row >= 0 && row < rows && column >= 0 && column < columns) {
                    triplets_add(&t, row, column, p->W->value[p->W->at[k] + e]);
                }
            }
        }
    }
    /* write */
    sparse a = sparse_of(work, rows, columns, &t);
    if (sparse_there(&a)) {
        fclib_put_rows(v->s, v->group, name, &a);
    }
    return sparse_there(&a);
}

static bool put_local(const view *v, memory_pool *work) {
    int m = v->m, p = v->file->bilateral;
    store_real(v->s, v->vectors, "q", 1, m, v->w);
    if (p) {
        store_real(v->s, v->vectors, "s", 1, p, v->w + m);
    }
    return put_view_delassus(v, work, "W", 0, m, 0, m) &&
           (!p || (put_view_delassus(v, work, "V", 0, m, m, p) && put_view_delassus(v, work, "R", m, p, m, p)));
}

static bool put_global(const view *v, memory_pool *work) {
    int m = v->m, p = v->file->bilateral;
    store_real(v->s, v->vectors, "w", 1, m, v->w);
    if (p) {
        store_real(v->s, v->vectors, "b", 1, p, v->w + m);
    }
    return put_mass(v, work) && put_jacobian(v, work, "H", 0, m) && (!p || put_jacobian(v, work, "G", m, p));
}

static void put_info(const view *v, const char *title, const char *description) {
    char text[256];
    int left_out = 0;
    for (int k = 0; k < v->p->nrow; k++) {
        left_out += v->file->fclib_row[k] < 0;
    }
    snprintf(text, sizeof text,
             "Written by sim %s.  This part has %d contacts and %d equality rows under the rigid law; %d other rows, "
             "and the whole problem, are in the group %s.",
             sim_version(), v->file->contacts, v->file->bilateral, left_out, problem_own_group);
    store_node *info = store_group(v->s, v->group, "info");
    store_text(v->s, info, "title", title ? title : "");
    store_text(v->s, info, "description", description ? description : "");
    store_text(v->s, info, "math_info", text);
}

sim_status problem_put_view(sim_problem_file *file, const char *title, const char *description, sim_error *error) {
    sim_status status = problem_map_view(file, error);
    memory_pool *work = status ? NULL : pool_create();
    view v = {.file = file, .p = file->problem, .s = &file->store, .m = 3 * file->contacts};
    bool good = work && fill_view_vectors(&v, work);
    if (good) {
        v.group = store_group(v.s, &v.s->root, sim_problem_local(v.p) ? "fclib_local" : "fclib_global");
        store_int(v.s, v.group, "spacedim", 3);
        put_info(&v, title, description);
        v.vectors = v.group ? store_group(v.s, v.group, "vectors") : NULL;
        store_real(v.s, v.vectors, "mu", 1, file->contacts, v.mu);
        good = sim_problem_local(v.p) ? put_local(&v, work) : put_global(&v, work);
    }
    pool_free(work);
    return status                         ? status
           : good && !file->store.starved ? SIM_OK
                                          : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
}
