/* A and J body by body, for solvers that pass along trees themselves (sim/problem.h), when they first ask.
 *
 * Nothing is computed here but the rows on bodies; the rest is the dynamics' own, numbered as the island numbers it. */
#include "contact/problem/assemble.h"

/* Does it act on bodies, and not on joints? */
static bool acts_on_bodies(const assembly *f, const constraint_source *t) {
    return t->kind == SOURCE_CONTACT ||
           (t->kind == SOURCE_EQUALITY && !equality_is_of_coordinates(&f->in->equality[t->index]));
}

/* The body of a side in its island, -1: none that moves. */
static int island_body(const assembly *f, const sim_model *m, const island *is, const constraint_source *t, int body,
                       int side) {
    int tree = t->tree[side];
    return tree < 0 ? -1 : is->bodies.first[f->local[tree]] + body - m->tree[tree].body0;
}

static ptrdiff_t lay_out_rows(const assembly *f, const sim_model *m, const island *is, int constraint, ptrdiff_t at) {
    const constraint_source *t = &f->source[f->source_of[constraint]];
    const sim_constraint *c = &f->constraint[constraint];
    sim_body_rows *rows = &f->on_body[constraint];
    *rows = (sim_body_rows){.body = {-1, -1}, .chain = t->kind == SOURCE_EQUALITY ? SIM_CHAIN_MASS : SIM_CHAIN_START};
    for (int side = 0; side < 2 && acts_on_bodies(f, t); side++) {
        rows->body[side] = island_body(f, m, is, t, c->body[side], side);
        rows->block[side] = at;
        at += rows->body[side] >= 0 ? 6 * (ptrdiff_t)t->rows : 0;
    }
    return at;
}

static void fill_island(void *is) { bodies_fill(is); }

static sim_status create_bodies(assembly *f, const sim_model *m, island *is) {
    /* offsets of the trees' bodies */
    island_bodies *b = &is->bodies;
    const sim_problem *p = &is->base;
    b->first = ARENA_NEW(f->arena, int, p->ntree + 1);
    int count = 0;
    for (int t = 0; t < p->ntree && b->first; t++) {
        b->first[t] = count;
        count += m->tree[f->tree[is->first_tree + t]].nbody;
    }
    /* nodes, inertias, motion axes of both chains */
    b->node = ARENA_NEW(f->arena, sim_body_node, count);
    b->I = ARENA_NEW(f->arena, sim_body_inertia, count);
    b->diagonal = ARENA_NEW(f->arena, double, p->nv);
    bool ok = b->first && b->node && b->I && b->diagonal;
    for (int k = 0; k < SIM_CHAINS; k++) {
        b->r[k] = ARENA_NEW(f->arena, sim_v3, count);
        b->S[k] = ARENA_NEW(f->arena, sim_motion, p->nv);
        ok = ok && b->r[k] && b->S[k];
    }
    if (ok) {
        b->first[p->ntree] = count;
    }
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

sim_status bodies_lay_out(assembly *f, const sim_model *m) {
    /* rows of the constraints on bodies */
    ptrdiff_t size = 0;
    f->on_body = ARENA_NEW(f->arena, sim_body_rows, f->nconstraint);
    if (!f->on_body) {
        return SIM_NO_RESOURCE;
    }
    for (int s = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        if (create_bodies(f, m, is)) {
            return SIM_NO_RESOURCE;
        }
        for (int i = 0; i < is->base.nconstraint; i++) {
            size = lay_out_rows(f, m, is, is->first_constraint + i, size);
        }
    }
    /* operators of each island */
    f->J_body = ARENA_NEW(f->arena, double, size);
    for (int s = 0; s < f->nisland && f->J_body; s++) {
        island *is = &f->island[s];
        island_bodies *b = &is->bodies;
        b->is = (sim_problem_bodies){.nbody = b->first[is->base.ntree],
                                     .first = b->first,
                                     .node = b->node,
                                     .I = b->I,
                                     .diagonal = b->diagonal,
                                     .chain = {{b->r[0], b->S[0]}, {b->r[1], b->S[1]}},
                                     .rows = f->on_body + is->first_constraint,
                                     .J = f->J_body,
                                     .fill = fill_island,
                                     .island = is};
        b->assembly = f;
        b->filled = false;
        is->base.bodies = &b->is;
    }
    return f->J_body ? SIM_OK : SIM_NO_RESOURCE;
}

/* The t-th tree of an island. */
static void fill_tree(const assembly *f, const sim_model *m, const island *is, int index) {
    const island_bodies *b = &is->bodies;
    const sim_tree *t = &m->tree[f->tree[is->first_tree + index]];
    int shift = b->first[index] - t->body0, v_shift = is->base.tree[index].v0 - t->v0;
    const sim_derived *at[SIM_CHAINS] = {f->middle, f->in->mass};
    for (int i = t->body0; i < t->body0 + t->nbody; i++) {
        const sim_body *body = &m->body[i];
        int parent = body->parent ? body->parent + shift : -1;
        b->node[i + shift] = (sim_body_node){parent, body->v0 + v_shift, body->nv};
        b->I[i + shift] = f->in->mass->I[i];
        for (int k = 0; k < SIM_CHAINS; k++) {
            b->r[k][i + shift] = at[k]->r[i];
        }
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        for (int k = 0; k < SIM_CHAINS; k++) {
            b->S[k][j + v_shift] = at[k]->S[j];
        }
    }
}

void bodies_diagonal(const assembly *f, const sim_model *m, const island *is) {
    const double *extra = f->extra ? f->extra : f->in->extra;
    for (int k = 0; k < is->base.ntree; k++) {
        const sim_tree *t = &m->tree[f->tree[is->first_tree + k]];
        double *diagonal = is->bodies.diagonal + is->base.tree[k].v0;
        for (int j = 0; j < t->nv; j++) {
            diagonal[j] = m->dof[t->v0 + j].armature + (extra ? extra[t->v0 + j] : 0);
        }
    }
}

static void fill_body_rows(const assembly *f, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    for (int side = 0; side < 2; side++) {
        double *J = f->on_body[i].body[side] >= 0 ? f->J_body + f->on_body[i].block[side] : NULL;
        if (J && t->kind == SOURCE_CONTACT) {
            contact_on_body(f, i, side, J);
        } else if (J) {
            equality_on_body(f, i, side, J);
        }
    }
}

void bodies_fill(island *is) {
    if (is->bodies.filled) {
        return;
    }
    is->bodies.filled = true;
    const assembly *f = is->bodies.assembly;
    const sim_model *m = f->tables->model;
    for (int t = 0; t < is->base.ntree; t++) {
        fill_tree(f, m, is, t);
    }
    bodies_diagonal(f, m, is);
    for (int i = 0; i < is->base.nconstraint; i++) {
        fill_body_rows(f, is->first_constraint + i);
    }
}

/* ---- all islands as one ---- */

typedef struct whole_bodies {
    sim_problem_bodies is;
    island_bodies to;
    sim_body_rows *rows;
} whole_bodies;

static whole_bodies *allocate_whole(const assembly *f) {
    /* number of bodies */
    int count = 0;
    for (int k = 0; k < f->nisland; k++) {
        count += f->island[k].bodies.is.nbody;
    }
    /* memory */
    whole_bodies *w = ARENA_NEW(f->arena, whole_bodies, 1);
    if (!w) {
        return NULL;
    }
    w->to.first = ARENA_NEW(f->arena, int, f->ntree + 1);
    w->to.node = ARENA_NEW(f->arena, sim_body_node, count);
    w->to.I = ARENA_NEW(f->arena, sim_body_inertia, count);
    w->to.diagonal = ARENA_NEW(f->arena, double, f->nv);
    w->rows = ARENA_NEW(f->arena, sim_body_rows, f->nconstraint);
    bool ok = w->to.first && w->to.node && w->to.I && w->to.diagonal && w->rows;
    for (int k = 0; k < SIM_CHAINS; k++) {
        w->to.r[k] = ARENA_NEW(f->arena, sim_v3, count);
        w->to.S[k] = ARENA_NEW(f->arena, sim_motion, f->nv);
        ok = ok && w->to.r[k] && w->to.S[k];
        w->is.chain[k] = (sim_body_chain){w->to.r[k], w->to.S[k]};
    }
    /* operators of all islands together */
    w->is.nbody = count;
    w->is.first = w->to.first;
    w->is.node = w->to.node;
    w->is.I = w->to.I;
    w->is.diagonal = w->to.diagonal;
    w->is.rows = w->rows;
    w->is.J = f->J_body;
    w->is.fill = NULL;
    return ok ? w : NULL;
}

/* An island's bodies from number `body0` on. */
static void append_island(const island *is, int body0, whole_bodies *w) {
    /* bodies */
    const sim_problem_bodies *b = &is->bodies.is;
    for (int t = 0; t <= is->base.ntree; t++) {
        w->to.first[is->first_tree + t] = b->first[t] + body0;
    }
    for (int i = 0; i < b->nbody; i++) {
        sim_body_node n = b->node[i];
        w->to.node[body0 + i] = (sim_body_node){n.parent < 0 ? -1 : n.parent + body0, n.v0 + is->first_v, n.nv};
        w->to.I[body0 + i] = b->I[i];
    }
    /* motion axes of both chains */
    for (int j = 0; j < is->base.nv; j++) {
        w->to.diagonal[is->first_v + j] = b->diagonal[j];
    }
    for (int k = 0; k < SIM_CHAINS; k++) {
        for (int i = 0; i < b->nbody; i++) {
            w->to.r[k][body0 + i] = b->chain[k].r[i];
        }
        for (int j = 0; j < is->base.nv; j++) {
            w->to.S[k][is->first_v + j] = b->chain[k].S[j];
        }
    }
    /* rows on bodies */
    for (int i = 0; i < is->base.nconstraint; i++) {
        sim_body_rows rows = b->rows[i];
        rows.body[0] += rows.body[0] >= 0 ? body0 : 0;
        rows.body[1] += rows.body[1] >= 0 ? body0 : 0;
        w->rows[is->first_constraint + i] = rows;
    }
}

const sim_problem_bodies *bodies_of_all(const assembly *f) {
    whole_bodies *w = allocate_whole(f);
    if (!w) {
        return NULL;
    }
    w->to.first[0] = 0;
    for (int k = 0, body0 = 0; k < f->nisland; k++) {
        bodies_fill(&f->island[k]);
        append_island(&f->island[k], body0, w);
        body0 += f->island[k].bodies.is.nbody;
    }
    return &w->is;
}
