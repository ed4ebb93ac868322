/* Reader of FCLIB files.  Every error in one is refused here, with the place and the reason.
 *
 * A matrix is stored as its `nz` tells: nz >= 0 triplets (i: row, p: column), -1 compressed columns, -2 compressed
 * rows. How many entries there are, the arrays say themselves: nzmax may be greater. */
#include "record/problem/fclib.h"

#include <limits.h>
#include <math.h>
#include <sim/math.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    memory_pool *pool;
    sim_error *error;
} reader;

static bool fail_array(const reader *r, const store_node *parent, const char *name, const char *what) {
    char path[STORE_PATH_BYTES];
    const char *at = store_path(parent, path);
    sim_fail(r->error, SIM_BAD_INPUT, "%s/%s: %s", parent->parent ? at : "", name, what);
    return false;
}

static bool report_no_memory(const reader *r) {
    sim_fail(r->error, SIM_NO_RESOURCE, "no memory for the problem");
    return false;
}

static const store_node *find_array(const reader *r, const store_node *parent, const char *name, store_kind kind) {
    static const char *const wanted[] = {
        [STORE_GROUP] = "should be a group",
        [STORE_WHOLE] = "should hold whole numbers",
        [STORE_REAL] = "should hold numbers in floating point",
        [STORE_TEXT] = "should be a text",
    };
    const store_node *node = store_find(parent, name);
    if (!node || node->kind != kind) {
        fail_array(r, parent, name, node ? wanted[kind] : "is missing");
        return NULL;
    }
    return node;
}

static bool take_int(const reader *r, const store_node *parent, const char *name, int least, int *value) {
    const store_node *node = find_array(r, parent, name, STORE_WHOLE);
    if (!node) {
        return false;
    }
    if (node->count != 1 || node->whole[0] < least || node->whole[0] > INT_MAX) {
        return fail_array(r, parent, name, "should be one whole number within its range");
    }
    *value = (int)node->whole[0];
    return true;
}

/* All finite, `count` of them. */
static const double *take_vector(const reader *r, const store_node *parent, const char *name, ptrdiff_t count) {
    char text[120];
    const store_node *node = find_array(r, parent, name, STORE_REAL);
    if (!node) {
        return NULL;
    }
    if (node->count != count) {
        snprintf(text, sizeof text, "holds %td numbers where %td are needed", node->count, count);
        fail_array(r, parent, name, text);
        return NULL;
    }
    for (ptrdiff_t k = 0; k < count; k++) {
        if (!isfinite(node->real[k])) {
            snprintf(text, sizeof text, "number %td is not finite", k);
            fail_array(r, parent, name, text);
            return NULL;
        }
    }
    return node->real;
}

/* ---- matrices ---- */

typedef struct stored {
    const store_node *group;
    int m, n, nz;
    const store_node *i, *p, *x;
} stored;

static bool indices_within(const reader *r, const stored *a, const store_node *node, ptrdiff_t count, int end) {
    char text[120];
    for (ptrdiff_t k = 0; k < count; k++) {
        if (node->whole[k] < 0 || node->whole[k] >= end) {
            snprintf(text, sizeof text, "entry %td is %lld, outside 0 .. %d", k, (long long)node->whole[k], end - 1);
            return fail_array(r, a->group, node->name, text);
        }
    }
    return true;
}

static bool take_triplets(const reader *r, const stored *a, triplets *t) {
    if (a->i->count < a->nz || a->p->count < a->nz || a->x->count < a->nz) {
        return fail_array(r, a->group, "nz", "states more entries than there are");
    }
    if (!indices_within(r, a, a->i, a->nz, a->m) || !indices_within(r, a, a->p, a->nz, a->n)) {
        return false;
    }
    *t = triplets_make(r->pool, a->nz);
    if (!t->row || !t->column || !t->value) {
        return report_no_memory(r);
    }
    for (ptrdiff_t k = 0; k < a->nz; k++) {
        triplets_add(t, (int)a->i->whole[k], (int)a->p->whole[k], a->x->real[k]);
    }
    return true;
}

/* `lines`: columns of compressed columns, rows of compressed rows. */
static bool take_compressed(const reader *r, const stored *a, int lines, triplets *t) {
    /* starts of the lines rise */
    const int64_t *start = a->p->whole;
    ptrdiff_t entries = a->i->count < a->x->count ? a->i->count : a->x->count;
    if (a->p->count != (ptrdiff_t)lines + 1 || start[0] != 0) {
        return fail_array(r, a->group, "p", "should start with 0 and have one number more than there are lines");
    }
    for (int k = 0; k < lines; k++) {
        if (start[k + 1] < start[k] || start[k + 1] > entries) {
            return fail_array(r, a->group, "p", "should rise to at most as many entries as there are");
        }
    }
    /* entries within the matrix */
    if (!indices_within(r, a, a->i, start[lines], a->nz == -1 ? a->m : a->n)) {
        return false;
    }
    /* triplets */
    *t = triplets_make(r->pool, start[lines]);
    if (!t->row || !t->column || !t->value) {
        return report_no_memory(r);
    }
    for (int line = 0; line < lines; line++) {
        for (int64_t k = start[line]; k < start[line + 1]; k++) {
            int across = (int)a->i->whole[k];
            triplets_add(t, a->nz == -1 ? across : line, a->nz == -1 ? line : across, a->x->real[k]);
        }
    }
    return true;
}

/* rows x columns; -1: whatever it says. */
static bool take_matrix(const reader *r, const store_node *parent, const char *name, int rows, int columns,
                        sparse *out) {
    char text[120];
    stored a = {.group = find_array(r, parent, name, STORE_GROUP)};
    triplets t;
    if (!a.group || !take_int(r, a.group, "m", 0, &a.m) || !take_int(r, a.group, "n", 0, &a.n) ||
        !take_int(r, a.group, "nz", -2, &a.nz)) {
        return false;
    }
    if (a.m != rows || (columns >= 0 && a.n != columns)) {
        snprintf(text, sizeof text, "is %d x %d, where %d rows%s are needed", a.m, a.n, rows,
                 columns >= 0 ? " and the columns of the vectors" : "");
        return fail_array(r, parent, name, text);
    }
    a.i = find_array(r, a.group, "i", STORE_WHOLE);
    a.p = a.i ? find_array(r, a.group, "p", STORE_WHOLE) : NULL;
    a.x = a.p ? find_array(r, a.group, "x", STORE_REAL) : NULL;
    if (!a.x || !take_vector(r, a.group, "x", a.x->count) ||
        !(a.nz >= 0 ? take_triplets(r, &a, &t) : take_compressed(r, &a, a.nz == -1 ? a.n : a.m, &t))) {
        return false;
    }
    *out = sparse_of(r->pool, a.m, a.n, &t);
    return sparse_there(out) ? true : report_no_memory(r);
}

/* ---- problems ---- */

/* How many bilateral rows there are: as many as `vector` has numbers, if it is there at all. */
static bool take_bilateral(const reader *r, const store_node *group, const store_node *vectors, const char *matrix,
                           const char *vector, int *count) {
    const store_node *there = store_find(vectors, vector);
    *count = 0;
    if (!there) {
        return store_find(group, matrix) ? fail_array(r, vectors, vector, "is missing, but its matrix is present")
                                         : true;
    }
    if (there->kind != STORE_REAL || there->count > INT_MAX / 4) {
        return fail_array(r, vectors, vector, "should hold numbers in floating point");
    }
    *count = (int)there->count;
    return true;
}

static bool take_local(const reader *r, const store_node *group, const store_node *vectors, fclib *p) {
    int m = p->contact_rows * p->contacts;
    p->q = take_vector(r, vectors, "q", m);
    if (!p->q || !take_matrix(r, group, "W", m, m, &p->W) ||
        !take_bilateral(r, group, vectors, "V", "s", &p->bilateral)) {
        return false;
    }
    if (p->bilateral == 0) {
        return true;
    }
    p->s = take_vector(r, vectors, "s", p->bilateral);
    return p->s && take_matrix(r, group, "V", m, p->bilateral, &p->V) &&
           take_matrix(r, group, "R", p->bilateral, p->bilateral, &p->R);
}

static bool take_global(const reader *r, const store_node *group, const store_node *vectors, fclib *p) {
    int m = p->contact_rows * p->contacts;
    const store_node *f = find_array(r, vectors, "f", STORE_REAL);
    if (!f || f->count > INT_MAX / 4) {
        return f ? fail_array(r, vectors, "f", "holds too many numbers") : false;
    }
    p->dofs = (int)f->count;
    p->f = take_vector(r, vectors, "f", p->dofs);
    p->w = p->f ? take_vector(r, vectors, "w", m) : NULL;
    if (!p->w || !take_matrix(r, group, "M", p->dofs, p->dofs, &p->M) ||
        !take_matrix(r, group, "H", p->dofs, m, &p->H) || !take_bilateral(r, group, vectors, "G", "b", &p->bilateral)) {
        return false;
    }
    if (p->bilateral == 0) {
        return true;
    }
    p->b = take_vector(r, vectors, "b", p->bilateral);
    return p->b && take_matrix(r, group, "G", p->dofs, p->bilateral, &p->G);
}

/* A guess is a help, no part of the problem: one that does not fit is passed over. */
static const double *find_guess(const store_node *group, const char *name, ptrdiff_t count) {
    const store_node *node = store_find(group, name);
    bool fits = node && node->kind == STORE_REAL && node->count == count;
    for (ptrdiff_t k = 0; fits && k < count; k++) {
        fits = isfinite(node->real[k]);
    }
    return fits ? node->real : NULL;
}

static void take_guesses(const store_node *root, fclib *p) {
    const store_node *first = store_find(store_find(root, "guesses"), "1");
    p->r_guess = find_guess(first, "r", p->contact_rows * (ptrdiff_t)p->contacts);
    p->l_guess = find_guess(first, "l", p->bilateral);
    p->v_guess = p->global ? find_guess(first, "v", p->dofs) : NULL;
}

/* `count` coefficients from 0 to 1000. */
static const double *take_coefficients(const reader *r, const store_node *vectors, const char *name, ptrdiff_t count) {
    const double *mu = take_vector(r, vectors, name, count);
    for (ptrdiff_t i = 0; mu && i < count; i++) {
        if (!(mu[i] >= 0 && mu[i] <= SIM_MOST_FRICTION)) {
            fail_array(r, vectors, name, "holds a friction coefficient that is not from 0 to 1000");
            return NULL;
        }
    }
    return mu;
}

static bool take_friction(const reader *r, const store_node *vectors, fclib *p) {
    const store_node *mu = find_array(r, vectors, "mu", STORE_REAL);
    if (!mu || mu->count > INT_MAX / 16) {
        return mu ? fail_array(r, vectors, "mu", "holds too many numbers") : false;
    }
    p->contacts = (int)mu->count;
    p->mu = take_coefficients(r, vectors, "mu", mu->count);
    p->mu_r = p->mu && p->contact_rows == 5 ? take_coefficients(r, vectors, "mu_r", mu->count) : NULL;
    return p->mu && (p->contact_rows == 3 || p->mu_r);
}

/* A plane problem, and one that its group does not announce, are refused by name. */
static bool check_dimension(const reader *r, const store_node *group, bool rolling) {
    int dimension;
    if (!take_int(r, group, "spacedim", 0, &dimension)) {
        return false;
    }
    if (dimension != (rolling ? 5 : 3)) {
        return fail_array(r, group, "spacedim",
                          dimension == 2               ? "is 2: plane problems are not supported"
                          : dimension == 5 && !rolling ? "is 5: rolling friction is read from fclib_global_rolling"
                          : rolling                    ? "should be 5"
                                                       : "should be 3");
    }
    return true;
}

static bool take_fclib_problem(const reader *r, const store_node *root, fclib *p) {
    /* local or global form */
    const store_node *local = store_find(root, "fclib_local"), *global = store_find(root, "fclib_global"),
                     *rolling = store_find(root, "fclib_global_rolling");
    if (!local && !global && !rolling) {
        return fail_array(r, root, "fclib_local", "is missing, as is fclib_global: not a contact problem");
    }
    if ((local != NULL) + (global != NULL) + (rolling != NULL) > 1) {
        return local && global ? fail_array(r, root, "fclib_local", "and fclib_global: one problem at a time")
                               : fail_array(r, root, "fclib_global_rolling", "and another: one problem at a time");
    }
    p->global = !local;
    p->contact_rows = rolling ? 5 : 3;
    const store_node *group = find_array(r, root,
                                         rolling  ? "fclib_global_rolling"
                                         : global ? "fclib_global"
                                                  : "fclib_local",
                                         STORE_GROUP);
    if (!group || !check_dimension(r, group, rolling)) {
        return false;
    }
    /* friction coefficients, then matrices and vectors of the form */
    const store_node *vectors = find_array(r, group, "vectors", STORE_GROUP);
    if (!vectors || !take_friction(r, vectors, p) ||
        !(p->global ? take_global(r, group, vectors, p) : take_local(r, group, vectors, p))) {
        return false;
    }
    take_guesses(root, p);
    return true;
}

sim_status fclib_take(memory_pool *pool, const store_node *root, fclib *problem, sim_error *error) {
    sim_error why = {0};
    reader r = {pool, &why};
    *problem = (fclib){0};
    return take_fclib_problem(&r, root, problem) ? SIM_OK : sim_fail(error, why.status, "%s", why.text);
}
