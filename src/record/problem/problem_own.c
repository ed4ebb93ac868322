/* Our own format of a problem: all its arrays in a group, restored to the bit.
 *
 * Indices are checked here; sim_problem_create checks the meaning of numbers. */
#include "record/problem/problem_file.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char problem_own_group[] = "sim_problem";
enum { FORMAT_VERSION = 1, CONSTRAINT_NUMBERS = 11, FIRST_NUMBERS = 7 };

/* The numbers of a constraint, by name.  Those after the first are 0 in files that lack them. */
static const struct {
    const char *name;
    size_t offset;
} number[CONSTRAINT_NUMBERS] = {
    {"friction", offsetof(sim_constraint, friction)},
    {"stiffness", offsetof(sim_constraint, stiffness)},
    {"dissipation", offsetof(sim_constraint, dissipation)},
    {"restitution", offsetof(sim_constraint, restitution)},
    {"bound", offsetof(sim_constraint, bound)},
    {"damping", offsetof(sim_constraint, damping)},
    {"force", offsetof(sim_constraint, force)},
    {"rolling", offsetof(sim_constraint, rolling)},
    {"torsion", offsetof(sim_constraint, torsion)},
    {"surface_1", offsetof(sim_constraint, surface[0])},
    {"surface_2", offsetof(sim_constraint, surface[1])},
};

static double *number_of(sim_constraint *c, int k) { return (double *)(void *)((char *)c + number[k].offset); }

/* ---- writing ---- */

static void put_constraints(store *s, store_node *group, const sim_problem *p) {
    /* integers and indices */
    int count = p->nconstraint;
    int64_t *one = POOL_NEW(s->pool, int64_t, 2 * (ptrdiff_t)count);
    double *value = POOL_NEW(s->pool, double, count);
    if (!one || !value) {
        s->starved = true;
        return;
    }
#define PUT_ONE(label, type, expression)                                                                               \
    for (int i = 0; i < count; i++) {                                                                                  \
        one[i] = (int64_t)(expression);                                                                                \
    }                                                                                                                  \
    store_whole(s, group, label, type, 1, count, one)
#define PUT_TWO(label, type, member)                                                                                   \
    for (int i = 0; i < 2 * count; i++) {                                                                              \
        one[i] = p->constraint[i / 2].member[i % 2];                                                                   \
    }                                                                                                                  \
    store_whole(s, group, label, type, 1, 2 * (ptrdiff_t)count, one)
    PUT_ONE("kind", STORE_I32, p->constraint[i].kind);
    PUT_ONE("rows", STORE_I32, p->constraint[i].rows);
    PUT_TWO("tree", STORE_I32, tree);
    PUT_TWO("block", STORE_I64, block);
    PUT_TWO("body", STORE_I32, body);
    PUT_ONE("id", STORE_U64, p->constraint[i].id);
    PUT_ONE("turns", STORE_I32, p->constraint[i].turns != 0);
    /* real parameters */
    for (int k = 0; k < CONSTRAINT_NUMBERS; k++) {
        for (int i = 0; i < count; i++) {
            sim_constraint c = p->constraint[i];
            value[i] = *number_of(&c, k);
        }
        store_real(s, group, number[k].name, 1, count, value);
    }
}

static void put_vector(store *s, store_node *group, const char *name, const double *values, ptrdiff_t count) {
    if (values) {
        store_real(s, group, name, 1, count, values);
    }
}

static void put_wholes(store *s, store_node *group, const char *name, const int *values, ptrdiff_t count) {
    int64_t *wide = POOL_NEW(s->pool, int64_t, count);
    for (ptrdiff_t k = 0; wide && k < count; k++) {
        wide[k] = values[k];
    }
    if (wide) {
        store_whole(s, group, name, STORE_I32, 1, count, wide);
    }
    s->starved |= !wide;
}

static void put_trees(store *s, store_node *group, const sim_problem *p) {
    /* length of J and of A */
    ptrdiff_t length = 0, size = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2; side++) {
            ptrdiff_t end = c->tree[side] < 0 ? 0 : c->block[side] + (ptrdiff_t)c->rows * p->tree[c->tree[side]].nv;
            length = end > length ? end : length;
        }
    }
    for (int t = 0; t < p->ntree; t++) {
        size += (ptrdiff_t)p->tree[t].nv * p->tree[t].nv;
    }
    /* diagonal blocks of A, tree by tree */
    int *nv = POOL_NEW(s->pool, int, p->ntree);
    double *A = POOL_NEW(s->pool, double, size);
    if (!nv || !A) {
        s->starved = true;
        return;
    }
    ptrdiff_t at = 0;
    for (int t = 0; t < p->ntree; t++) {
        nv[t] = p->tree[t].nv;
        p->mass.matrix(p->mass.self, t, A + at);
        at += (ptrdiff_t)nv[t] * nv[t];
    }
    put_wholes(s, group, "tree_velocities", nv, p->ntree);
    put_vector(s, group, "A", A, size);
    put_vector(s, group, "J", p->J, length);
}

static void put_own_delassus(store *s, store_node *parent, const sim_problem *p) {
    /* offsets of the blocks, and length of their values */
    const sim_delassus *W = p->W;
    store_node *group = store_group(s, parent, "W");
    ptrdiff_t blocks = W->start[p->nconstraint], length = 0;
    int64_t *at = POOL_NEW(s->pool, int64_t, blocks);
    s->starved |= !at;
    for (int i = 0; at && i < p->nconstraint; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            at[k] = W->at[k];
            ptrdiff_t end = W->at[k] + p->constraint[i].rows * p->constraint[W->column[k]].rows;
            length = end > length ? end : length;
        }
    }
    /* block compressed rows */
    put_wholes(s, group, "start", W->start, (ptrdiff_t)p->nconstraint + 1);
    put_wholes(s, group, "column", W->column, blocks);
    if (at) {
        store_whole(s, group, "at", STORE_I64, 1, blocks, at);
    }
    put_vector(s, group, "value", W->value, length);
    store_int(s, group, "symmetric", W->symmetric);
}

void problem_put_own(store *s, const sim_problem *p) {
    /* format and names of the constraint kinds */
    char kinds[160] = "";
    store_node *group = store_group(s, &s->root, problem_own_group);
    for (int k = 0; k < SIM_CONSTRAINT_KINDS; k++) {
        size_t used = strlen(kinds);
        snprintf(kinds + used, sizeof kinds - used, "%s%d %s", k ? ", " : "", k,
                 sim_constraint_name((sim_constraint_kind)k));
    }
    store_attribute(s, group, "kinds", kinds);
    store_attribute(s, group, "made_by", sim_version());
    store_int(s, group, "format", FORMAT_VERSION);
    /* vectors */
    store_real(s, group, "step", 1, 1, &p->step);
    put_constraints(s, group, p);
    put_vector(s, group, "gap", p->gap, p->nrow);
    put_vector(s, group, "offset", p->offset, p->nrow);
    put_vector(s, group, "q", p->q, p->nrow);
    put_vector(s, group, "v_free", p->v_free, p->nv);
    put_vector(s, group, "v_start", p->v_start, p->nv);
    put_vector(s, group, "v_guess", p->v_guess, p->nv);
    put_vector(s, group, "impulse_guess", p->impulse_guess, p->nrow);
    put_vector(s, group, "impulse_trend", p->impulse_trend, p->nrow);
    /* W of a local problem, or A and J of a global one */
    if (sim_problem_local(p)) {
        put_own_delassus(s, group, p);
    } else {
        put_trees(s, group, p);
    }
}

/* The numbers of a law: names and ranges. */
static const struct {
    const char *name;
    size_t offset;
    double least, most;
    int open;       /* the least itself is too little */
    double missing; /* of files from before there was such a number; NAN: it must be there */
} law_number[] = {
    {"beta", offsetof(sim_law_options, beta), 0, DBL_MAX, 1, NAN},
    {"sigma", offsetof(sim_law_options, sigma), 0, DBL_MAX, 1, NAN},
    {"push", offsetof(sim_law_options, push), 0, 1, 0, NAN},
    {"threshold", offsetof(sim_law_options, threshold), 0, DBL_MAX, 0, NAN},
    {"carried", offsetof(sim_law_options, carried), 1, DBL_MAX, 0, NAN},
    {"slop", offsetof(sim_law_options, slop), 0, DBL_MAX, 0, NAN},
    {"undo", offsetof(sim_law_options, undo), 0, INFINITY, 0, INFINITY},
};
enum { LAW_NUMBERS = sizeof law_number / sizeof law_number[0] };

void problem_put_law(store *s, const sim_law_options *law) {
    store_node *group = store_group(s, store_find(&s->root, problem_own_group), "law");
    for (int k = 0; k < LAW_NUMBERS; k++) {
        const double *value = (const double *)(const void *)((const char *)law + law_number[k].offset);
        store_real(s, group, law_number[k].name, 1, 1, value);
    }
}

/* ---- reading ---- */

typedef struct own {
    const store_node *group;
    memory_pool *work;
    sim_error *error;
    sim_problem parts;
    sim_constraint *constraint;
    sim_problem_tree *tree;
    sim_delassus W;
    const double *A;
} own;

static bool refuse_array(const own *o, const char *name, const char *what) {
    sim_fail(o->error, SIM_BAD_INPUT, "/%s/%s: %s", problem_own_group, name, what);
    return false;
}

/* An array of that kind and length; any length if it is negative. */
static const store_node *take_array(const own *o, const store_node *group, const char *name, store_kind kind,
                                    ptrdiff_t count) {
    char text[120];
    const store_node *node = store_find(group, name);
    if (!node || node->kind != kind) {
        refuse_array(o, name, node ? "is not of the right type" : "is missing");
        return NULL;
    }
    if ((count >= 0 && node->count != count) || node->count > INT_MAX) {
        snprintf(text, sizeof text, "holds %td numbers where %td are needed", node->count, count);
        refuse_array(o, name, text);
        return NULL;
    }
    return node;
}

static const int64_t *take_integers(const own *o, const store_node *group, const char *name, ptrdiff_t count,
                                    int64_t least, int64_t most) {
    const store_node *node = take_array(o, group, name, STORE_WHOLE, count);
    for (ptrdiff_t k = 0; node && k < node->count; k++) {
        if (node->whole[k] < least || node->whole[k] > most) {
            refuse_array(o, name, "holds a number out of its range");
            return NULL;
        }
    }
    return node ? node->whole : NULL;
}

static const double *take_reals(const own *o, const store_node *group, const char *name, ptrdiff_t count) {
    const store_node *node = take_array(o, group, name, STORE_REAL, count);
    return node ? node->real : NULL;
}

static bool take_trees(own *o) {
    /* number of velocities of each tree */
    const store_node *node = store_find(o->group, "tree_velocities");
    int count = node && node->count <= INT_MAX ? (int)node->count : 0;
    const int64_t *nv = count ? take_integers(o, o->group, "tree_velocities", -1, 0, 1 << 20) : NULL;
    o->tree = POOL_NEW(o->work, sim_problem_tree, count);
    ptrdiff_t size = 0, v0 = 0;
    if ((count && !nv) || !o->tree) {
        return false;
    }
    /* offsets of velocities and of the blocks of A */
    for (int t = 0; t < count; t++) {
        o->tree[t] = (sim_problem_tree){(int)v0, (int)nv[t]};
        v0 += nv[t];
        size += (ptrdiff_t)(nv[t] * nv[t]);
        if (v0 > INT_MAX) {
            return refuse_array(o, "tree_velocities", "holds a number out of its range");
        }
    }
    /* A itself */
    o->parts.ntree = count;
    o->parts.nv = (int)v0;
    o->parts.tree = o->tree;
    o->A = count ? take_reals(o, o->group, "A", size) : NULL;
    return !count || o->A;
}

static bool take_constraints(own *o) {
    /* index arrays, all of them within their ranges */
    const store_node *first = store_find(o->group, "kind");
    int count = first && first->count <= INT_MAX / 8 ? (int)first->count : 0;
    const int64_t *kind = take_integers(o, o->group, "kind", -1, 0, SIM_CONSTRAINT_KINDS - 1);
    const int64_t *rows = kind ? take_integers(o, o->group, "rows", count, 1, SIM_MAX_ROWS) : NULL;
    const int64_t *tree =
        rows ? take_integers(o, o->group, "tree", 2 * (ptrdiff_t)count, -1, o->parts.ntree - 1) : NULL;
    const int64_t *block =
        tree ? take_integers(o, o->group, "block", 2 * (ptrdiff_t)count, INT64_MIN, INT64_MAX) : NULL;
    const int64_t *body = block ? take_integers(o, o->group, "body", 2 * (ptrdiff_t)count, INT_MIN, INT_MAX) : NULL;
    const int64_t *id = body ? take_integers(o, o->group, "id", count, INT64_MIN, INT64_MAX) : NULL;
    bool dated = !store_find(o->group, "turns"); /* older files: gaps of joints count as lengths */
    const int64_t *turns = id && !dated ? take_integers(o, o->group, "turns", count, 0, 1) : NULL;
    o->constraint = id && (turns || dated) ? POOL_NEW(o->work, sim_constraint, count) : NULL;
    if (!o->constraint) {
        return false;
    }
    /* constraints and their rows */
    for (int i = 0, row = 0; i < count; i++) {
        o->constraint[i] = (sim_constraint){.kind = (sim_constraint_kind)kind[i],
                                            .row = row,
                                            .rows = (int)rows[i],
                                            .tree = {(int)tree[2 * i], (int)tree[2 * i + 1]},
                                            .block = {(ptrdiff_t)block[2 * i], (ptrdiff_t)block[2 * i + 1]},
                                            .body = {(int)body[2 * i], (int)body[2 * i + 1]},
                                            .id = (uint64_t)id[i],
                                            .turns = turns ? (int)turns[i] : 0};
        row += (int)rows[i];
        o->parts.nrow = row;
    }
    /* real parameters */
    for (int k = 0; k < CONSTRAINT_NUMBERS; k++) {
        bool lacking = k >= FIRST_NUMBERS && !store_find(o->group, number[k].name);
        const double *value = lacking ? NULL : take_reals(o, o->group, number[k].name, count);
        if (!value && !lacking) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            *number_of(&o->constraint[i], k) = value ? value[i] : 0;
        }
    }
    o->parts.nconstraint = count;
    o->parts.constraint = o->constraint;
    return true;
}

static bool take_J(own *o) {
    const store_node *J = o->parts.ntree ? take_array(o, o->group, "J", STORE_REAL, -1) : NULL;
    for (int i = 0; i < o->parts.nconstraint; i++) {
        const sim_constraint *c = &o->constraint[i];
        for (int side = 0; side < 2; side++) {
            if (c->tree[side] < 0) {
                continue;
            }
            ptrdiff_t size = (ptrdiff_t)c->rows * o->tree[c->tree[side]].nv;
            if (!J || c->block[side] < 0 || size > J->count || c->block[side] > J->count - size) {
                return J ? refuse_array(o, "block", "lies outside J") : false;
            }
        }
    }
    o->parts.J = J ? J->real : NULL;
    return !o->parts.ntree || J;
}

static bool take_delassus(own *o) {
    /* index arrays, within their ranges */
    const store_node *group = take_array(o, o->group, "W", STORE_GROUP, -1), *column = store_find(group, "column");
    int count = o->parts.nconstraint, blocks = column && column->count <= INT_MAX ? (int)column->count : 0;
    const int64_t *start = group ? take_integers(o, group, "start", (ptrdiff_t)count + 1, 0, blocks) : NULL;
    const int64_t *columns = start ? take_integers(o, group, "column", -1, 0, count - 1) : NULL;
    const store_node *value = columns ? take_array(o, group, "value", STORE_REAL, -1) : NULL;
    const int64_t *at = value ? take_integers(o, group, "at", blocks, 0, value->count) : NULL;
    const int64_t *symmetric = at ? take_integers(o, group, "symmetric", 1, 0, 1) : NULL;
    int *own_start = POOL_NEW(o->work, int, (ptrdiff_t)count + 1), *own_column = POOL_NEW(o->work, int, blocks);
    ptrdiff_t *own_at = POOL_NEW(o->work, ptrdiff_t, blocks);
    if (!symmetric || !own_start || !own_column || !own_at) {
        return false;
    }
    /* rows follow on each other, blocks lie within the values */
    for (int i = 0; i < count; i++) {
        own_start[i + 1] = (int)start[i + 1];
        if (start[0] != 0 || start[i + 1] < start[i]) {
            return refuse_array(o, "W", "its rows do not follow on each other");
        }
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            own_column[k] = (int)columns[k];
            own_at[k] = (ptrdiff_t)at[k];
            if (at[k] > value->count - o->constraint[i].rows * o->constraint[columns[k]].rows) {
                return refuse_array(o, "W", "a block lies outside its values");
            }
        }
    }
    /* W and q */
    o->W = (sim_delassus){own_start, own_column, own_at, value->real, (int)symmetric[0]};
    o->parts.W = &o->W;
    o->parts.q = take_reals(o, o->group, "q", o->parts.nrow);
    return o->parts.q != NULL;
}

/* May be missing. */
static bool take_optional(const own *o, const char *name, ptrdiff_t count, const double **values) {
    *values = NULL;
    if (!store_find(o->group, name)) {
        return true;
    }
    *values = take_reals(o, o->group, name, count);
    return *values != NULL;
}

static bool take_vectors(own *o) {
    sim_problem *p = &o->parts;
    p->gap = take_reals(o, o->group, "gap", p->nrow);
    const double *step = p->gap ? take_reals(o, o->group, "step", 1) : NULL;
    if (!step || (p->ntree && !(p->v_free = take_reals(o, o->group, "v_free", p->nv)))) {
        return false;
    }
    p->step = step[0];
    return take_optional(o, "offset", p->nrow, &p->offset) && take_optional(o, "v_start", p->nv, &p->v_start) &&
           take_optional(o, "v_guess", p->nv, &p->v_guess) &&
           take_optional(o, "impulse_guess", p->nrow, &p->impulse_guess) &&
           take_optional(o, "impulse_trend", p->nrow, &p->impulse_trend);
}

sim_status problem_take_law(const store_node *group, sim_law_options *law, sim_error *error) {
    const store_node *stated = store_find(group, "law");
    for (int k = 0; stated && k < LAW_NUMBERS; k++) {
        const store_node *node = store_find(stated, law_number[k].name);
        double value = !node                                          ? law_number[k].missing
                       : node->kind == STORE_REAL && node->count == 1 ? node->real[0]
                                                                      : NAN;
        double least = law_number[k].least;
        if (!(law_number[k].open ? value > least : value >= least) || !(value <= law_number[k].most)) {
            return sim_fail(error, SIM_BAD_INPUT, "/%s/law/%s: must be one number %s %g, and at most %g",
                            problem_own_group, law_number[k].name, law_number[k].open ? "above" : "from", least,
                            law_number[k].most);
        }
        *(double *)(void *)((char *)law + law_number[k].offset) = value;
    }
    return SIM_OK;
}

sim_status problem_take_own(const store_node *group, memory_pool *work, sim_problem **problem, sim_error *error) {
    sim_error why = {0};
    own o = {.group = group, .work = work, .error = &why};
    *problem = NULL;
    if (!take_integers(&o, group, "format", 1, FORMAT_VERSION, FORMAT_VERSION) || !take_trees(&o) ||
        !take_constraints(&o) || !take_J(&o) || !take_vectors(&o) || (!o.parts.ntree && !take_delassus(&o))) {
        return why.status ? sim_fail(error, why.status, "%s", why.text)
                          : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    *problem = sim_problem_create(&o.parts, o.A, &why);
    if (!*problem && why.status == SIM_BAD_INPUT) { /* begins with the name of the array */
        return sim_fail(error, why.status, "/%s/%s", problem_own_group, why.text);
    }
    return *problem ? SIM_OK : sim_fail(error, why.status, "%s", why.text);
}
