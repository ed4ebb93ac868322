/* Contact problems in files: reading, writing, stored solutions. */
#include "record/problem/problem_file.h"
#include "base/file.h"
#include "math/dense.h"
#include "record/file/atomic_file.h"
#include "solver/core/products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t most_bytes = (int64_t)1 << 30;

static sim_problem_file *new_file(sim_error *error) {
    memory_pool *pool = pool_create();
    sim_problem_file *file = pool ? POOL_NEW(pool, sim_problem_file, 1) : NULL;
    if (!file) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
        return NULL;
    }
    file->pool = file->store.pool = pool;
    file->store.root.name = "";
    file->law = sim_law_options_default();
    return file;
}

void sim_problem_file_free(sim_problem_file *file) {
    if (file) {
        sim_problem_free(file->problem);
        pool_free(file->pool);
    }
}

const sim_problem *sim_problem_file_problem(const sim_problem_file *file) { return file->problem; }

sim_law_options sim_problem_file_law(const sim_problem_file *file) { return file->law; }

const char *sim_problem_file_info(const sim_problem_file *file, const char *name) {
    static const char *const form[] = {"fclib_local", "fclib_global", "fclib_global_rolling"};
    for (int k = 0; k < 3; k++) {
        const store_node *node = store_find(store_find(store_find(&file->store.root, form[k]), "info"), name);
        if (node && node->kind == STORE_TEXT) {
            return node->text;
        }
    }
    return NULL;
}

/* ---- making ---- */

static sim_status take_fclib(sim_problem_file *file, memory_pool *work, sim_error *error) {
    fclib stated;
    sim_status status = fclib_take(work, &file->store.root, &stated, error);
    if (status) {
        return status;
    }
    if (!sparse_even_out(work, stated.global ? &stated.M : &stated.W) ||
        (!stated.global && stated.bilateral && !sparse_even_out(work, &stated.R))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    if (stated.contact_rows > 3 && !sparse_symmetric(&stated.M)) {
        return sim_fail(error, SIM_BAD_INPUT, "/fclib_global_rolling/M: must be symmetric");
    }
    if (stated.global) {
        return sparse_symmetric(&stated.M) ? problem_global(file, &stated, work, error)
                                           : problem_reduced(file, &stated, work, error);
    }
    return problem_local_whole(file, &stated, work, error);
}

static sim_status take_problem(sim_problem_file *file, sim_error *error) {
    const store_node *own = store_find(&file->store.root, problem_own_group);
    memory_pool *work = pool_create();
    sim_status status = SIM_OK;
    if (!work) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    if (own) {
        status = problem_take_own(own, work, &file->problem, error);
        status = status ? status : problem_take_law(own, &file->law, error);
        status = status ? status : problem_map_view(file, error);
    } else {
        status = take_fclib(file, work, error);
    }
    pool_free(work);
    return status;
}

static sim_problem_file *parse_until(const void *bytes, size_t size, bool (*stop)(void *context), void *context,
                                     sim_error *error) {
    sim_problem_file *file = new_file(error);
    if (file) {
        file->store.stop = stop;
        file->store.stop_context = context;
    }
    if (file && (store_parse(&file->store, bytes, size, error) || take_problem(file, error))) {
        sim_problem_file_free(file);
        return NULL;
    }
    return file;
}

sim_problem_file *problem_file_parse(const void *bytes, size_t size, sim_error *error) {
    return parse_until(bytes, size, NULL, NULL, error);
}

sim_problem_file *problem_file_of_tree(void (*fill)(store *s, void *data), void *data, sim_error *error) {
    sim_problem_file *file = new_file(error);
    if (file) {
        fill(&file->store, data);
    }
    if (file && take_problem(file, error)) {
        sim_problem_file_free(file);
        return NULL;
    }
    return file;
}

sim_problem_file *sim_problem_file_create(const sim_problem *problem, const char *title, const char *description,
                                          sim_error *error) {
    return sim_problem_file_create_under(problem, NULL, title, description, error);
}

sim_problem_file *sim_problem_file_create_under(const sim_problem *problem, const sim_law_options *law,
                                                const char *title, const char *description, sim_error *error) {
    sim_problem_file *file = new_file(error);
    if (!file) {
        return NULL;
    }
    problem_put_own(&file->store, problem);
    if (law) {
        problem_put_law(&file->store, law);
    }
    sim_status status =
        file->store.starved ? sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem") : take_problem(file, error);
    status = status ? status : problem_put_view(file, title, description, error);
    if (status) {
        sim_problem_file_free(file);
        return NULL;
    }
    return file;
}

/* ---- disk ---- */

static sim_status read_bytes(const char *path, char **bytes, size_t *size, sim_error *error) {
    sim_error why = {0};
    if (!file_read(path, most_bytes, bytes, size, &why)) {
        return SIM_OK;
    }
    return sim_fail(error, why.status, "%s%s", why.status == SIM_BAD_INPUT ? "is " : "cannot be read: ", why.text);
}

sim_problem_file *sim_problem_file_read(const char *path, sim_error *error) {
    return sim_problem_file_read_until(path, NULL, NULL, error);
}

sim_problem_file *sim_problem_file_read_until(const char *path, bool (*stop)(void *context), void *context,
                                              sim_error *error) {
    sim_error why = {0};
    char *bytes;
    size_t size = 0;
    sim_problem_file *file =
        read_bytes(path, &bytes, &size, &why) ? NULL : parse_until(bytes, size, stop, context, &why);
    free(bytes);
    if (!file) {
        sim_fail(error, why.status, "%s: %s", path, why.text);
    } else {
        file->store.stop = NULL; /* the caller's may not live as long as the file */
    }
    return file;
}

sim_status sim_problem_file_write(const sim_problem_file *file, const char *path, sim_error *error) {
    sim_error why = {0};
    void *bytes;
    size_t size;
    if (store_print(&file->store, &bytes, &size, &why)) {
        return sim_fail(error, why.status, "%s: %s", path, why.text);
    }
    sim_status status = replace_file(path, "a problem", bytes, size, error);
    free(bytes);
    return status;
}

/* ---- answers ---- */

/* u = W gamma + q */
static void local_velocity(const sim_problem *p, const double *impulse, double *u) {
    memcpy(u, p->q, (size_t)p->nrow * sizeof *u);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            const sim_constraint *other = &p->constraint[p->W->column[k]];
            for (int row = 0; row < c->rows; row++) {
                u[c->row + row] +=
                    dense_dot(other->rows, p->W->value + p->W->at[k] + row * other->rows, impulse + other->row);
            }
        }
    }
}

/* v = v* + A^-1 J' gamma, u = J v + w */
static void global_velocity(const sim_problem *p, const double *impulse, double *v, double *u) {
    problem_jacobian_transposed(p, impulse, v);
    problem_mass_solve(p, v);
    for (int j = 0; j < p->nv; j++) {
        v[j] += p->v_free[j];
    }
    problem_velocity(p, v, u);
}

/* v alone. */
static sim_status follow_impulses(const sim_problem *p, const double *impulse, double *v, sim_error *error) {
    double *u = malloc(((size_t)p->nrow + 1) * sizeof *u);
    if (!u) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the solution");
    }
    global_velocity(p, impulse, v, u);
    free(u);
    return SIM_OK;
}

static const double *reals_in(const store_node *group, const char *name, ptrdiff_t count) {
    const store_node *node = store_find(group, name);
    return node && node->kind == STORE_REAL && node->count == count ? node->real : NULL;
}

sim_status sim_problem_file_stored(const sim_problem_file *file, double *v, double *impulse, sim_error *error) {
    const sim_problem *p = file->problem;
    /* impulses: in the order of the problem's own rows, else in FCLIB's */
    const store_node *solution = store_find(&file->store.root, "solution");
    const store_node *own = store_find(store_find(&file->store.root, problem_own_group), "solution");
    const double *all = reals_in(own, "impulse", p->nrow),
                 *r = reals_in(solution, "r", file->contact_rows * (ptrdiff_t)file->contacts);
    const double *l = reals_in(solution, "l", file->bilateral), *w = reals_in(solution, "v", file->dofs);
    if (!all && (!r || (file->bilateral && !l))) {
        return sim_fail(error, SIM_BAD_INPUT, "/solution: holds no solution, or one of another size");
    }
    for (int k = 0; k < p->nrow; k++) {
        int at = file->fclib_row[k], m = file->contact_rows * file->contacts;
        impulse[k] = all ? all[k] : at < 0 ? 0 : at < m ? r[at] : l[at - m];
    }
    /* velocities: stored ones, else A v = A v_free + J^T impulse */
    if (sim_problem_local(p)) {
        return SIM_OK;
    }
    for (int j = 0; j < p->nv && w; j++) {
        v[j] = w[file->fclib_dof[j]];
    }
    return w ? SIM_OK : follow_impulses(p, impulse, v, error);
}

static void put_solution(sim_problem_file *file, const double *r, const double *u, const double *v,
                         const char *made_by) {
    store *s = &file->store;
    store_remove(&s->root, "solution");
    store_node *group = store_group(s, &s->root, "solution");
    store_attribute(s, group, "made_by", made_by);
    store_real(s, group, "r", 1, file->contact_rows * (ptrdiff_t)file->contacts, r);
    store_real(s, group, "u", 1, file->contact_rows * (ptrdiff_t)file->contacts, u);
    if (file->dofs) {
        store_real(s, group, "v", 1, file->dofs, v);
    }
    if (file->bilateral) {
        store_real(s, group, "l", 1, file->bilateral, r + file->contact_rows * (ptrdiff_t)file->contacts);
    }
}

/* Answers of our own kinds of rows beside FCLIB's. */
static void put_own_solution(sim_problem_file *file, const double *impulse) {
    store_node *own = store_find(&file->store.root, problem_own_group);
    if (own) {
        store_remove(own, "solution");
        store_node *group = store_group(&file->store, own, "solution");
        store_real(&file->store, group, "impulse", 1, file->problem->nrow, impulse);
    }
}

static sim_status answer_problem(sim_problem_file *file, const double *impulse, const char *made_by, memory_pool *work,
                                 sim_error *error) {
    /* work space in both orders */
    const sim_problem *p = file->problem;
    int order = file->contact_rows * file->contacts + file->bilateral;
    double *u = POOL_NEW(work, double, p->nrow), *R = POOL_NEW(work, double, p->nrow);
    double *target = POOL_NEW(work, double, p->nrow), *v = POOL_NEW(work, double, p->nv);
    double *r = POOL_NEW(work, double, order), *fclib_u = POOL_NEW(work, double, order);
    double *fclib_v = POOL_NEW(work, double, file->dofs);
    if (!u || !R || !target || !v || !r || !fclib_u || !fclib_v) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the solution");
    }
    /* relative velocity u of the impulses */
    if (sim_problem_local(p)) {
        local_velocity(p, impulse, u);
    } else {
        global_velocity(p, impulse, v, u);
    }
    /* FCLIB's u is measured from the target velocity of the law */
    sim_regularise(p, SIM_RIGID, &file->law, NULL, R, target);
    for (int k = 0; k < p->nrow; k++) {
        if (file->fclib_row[k] >= 0) {
            r[file->fclib_row[k]] = impulse[k];
            fclib_u[file->fclib_row[k]] = u[k] - target[k];
        }
    }
    /* FCLIB's generalised velocities */
    for (int j = 0; j < file->dofs; j++) {
        if (file->response) {
            fclib_v[j] = file->v0[j] + dense_dot(order, file->response + (ptrdiff_t)j * order, r);
        } else {
            fclib_v[file->fclib_dof[j]] = v[j];
        }
    }
    /* both records */
    put_solution(file, r, fclib_u, fclib_v, made_by);
    put_own_solution(file, impulse);
    return file->store.starved ? sim_fail(error, SIM_NO_RESOURCE, "no memory for the solution") : SIM_OK;
}

sim_status sim_problem_file_answer(sim_problem_file *file, const double *impulse, const char *made_by,
                                   sim_error *error) {
    memory_pool *work = pool_create();
    sim_status status = work ? answer_problem(file, impulse, made_by, work, error)
                             : sim_fail(error, SIM_NO_RESOURCE, "no memory for the solution");
    pool_free(work);
    return status;
}
