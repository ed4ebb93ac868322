/* What is the mass matrix?  (Composite rigid bodies, Featherstone ch. 6.2.)
 *
 * I^c_i = inertia of body i with all that hangs on it, taken at o_i.  A unit acceleration of dof j of body i alone needs the
 * wrench F = I^c_i S_j there; each ancestor dof k feels it as M_jk = S_k . F, F carried towards the root.
 * Row j holds the ancestors of j from the root on, so an ancestor's row is as long as its place in it. */
#include "dyn/articulated.h"

/* Row of dof j, from its own entry down to the root's. */
static inline void climb(const sim_derived *d, int i, int j, force F, double *row) {
    const sim_model *m = d->model;
    int entry = m->dof[j].depth;
    int k = j;
    for (;;) {
        const sim_body *b = &m->body[i];
        for (; k >= b->v0; k--) {
            row[--entry] = motion_dot(d->S[k], F);
        }
        if (entry == 0) {
            return;
        }
        F = force_at_parent(F, d->r[i]);
        i = b->parent;
        k = m->body[i].v0 + m->body[i].nv - 1;
    }
}

static inline void fill_row(const sim_derived *d, int i, int j, force F, const double *extra, double *M) {
    const sim_dof *dof = &d->model->dof[j];
    double *row = M + dof->row;
    climb(d, i, j, F, row);
    row[dof->depth - 1] += dof->armature + (extra ? extra[j] : 0);
}

/* Composite inertias of rigid bodies are rigid: ten numbers. */
static void composite_rigid(sim_derived *d, sim_range range, const double *extra, double *M) {
    const sim_model *m = d->model;
    rigid *composite = d->Ic;
    for (int i = range.first; i < range.end; i++) {
        composite[i] = d->I[i];
    }
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            fill_row(d, i, j, rigid_times(&composite[i], d->S[j]), extra, M);
        }
        if (b->parent) {
            composite[b->parent] = rigid_add(composite[b->parent], rigid_at_parent(composite[i], d->r[i]));
        }
    }
}

static void composite_general(sim_derived *d, sim_range range, const double *extra, const articulated *body_extra,
                              double *M) {
    const sim_model *m = d->model;
    for (int i = range.first; i < range.end; i++) {
        d->IA[i] = articulated_add(articulated_rigid(&d->I[i]), body_extra[i]);
    }
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            fill_row(d, i, j, articulated_times(&d->IA[i], d->S[j]), extra, M);
        }
        if (b->parent) {
            d->IA[b->parent] = articulated_add(d->IA[b->parent], articulated_at_parent(d->IA[i], d->r[i]));
        }
    }
}

void sim_crba(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra, double *M) {
    if (body_extra) {
        composite_general(d, range, extra, body_extra, M);
    } else {
        composite_rigid(d, range, extra, M);
    }
}
