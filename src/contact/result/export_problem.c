/* All islands as one problem, for files. */
#include "contact/result/result.h"

/* Rows and trees numbered over all islands. */
static void renumber_constraints(const assembly *f, sim_constraint *to, sim_problem_tree *tree) {
    for (int k = 0; k < f->nisland; k++) {
        const island *is = &f->island[k];
        for (int i = is->first_constraint; i < is->first_constraint + is->problem.nconstraint; i++) {
            to[i] = f->constraint[i];
            to[i].row = f->row[i];
            for (int side = 0; side < 2; side++) {
                to[i].tree[side] += to[i].tree[side] >= 0 ? is->first_tree : 0;
            }
        }
        for (int t = is->first_tree; t < is->first_tree + is->problem.ntree; t++) {
            tree[t] = (sim_problem_tree){f->packed[t].v0 + is->first_v, f->packed[t].nv};
        }
    }
}

static ptrdiff_t matrix_size(const assembly *f) {
    ptrdiff_t size = 0;
    for (int t = 0; t < f->ntree; t++) {
        size += (ptrdiff_t)f->packed[t].nv * f->packed[t].nv;
    }
    return size;
}

sim_problem *export_problem(const assembly *f, const mass_operator *mass, sim_error *error) {
    /* memory */
    sim_constraint *constraint = ARENA_NEW(f->arena, sim_constraint, f->nconstraint);
    sim_problem_tree *tree = ARENA_NEW(f->arena, sim_problem_tree, f->ntree);
    double *A = ARENA_NEW(f->arena, double, matrix_size(f));
    const sim_problem_bodies *bodies = f->on_body ? bodies_of_all(f) : NULL;
    if (!constraint || !tree || !A || (f->on_body && !bodies)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", f->in->ncontact);
        return NULL;
    }
    /* constraints and trees, numbered over all islands */
    renumber_constraints(f, constraint, tree);
    /* blocks of A */
    sim_mass A_of = mass_interface(mass);
    double *at = A;
    for (int t = 0; t < f->ntree; t++) {
        A_of.matrix(A_of.self, t, at);
        at += (ptrdiff_t)tree[t].nv * tree[t].nv;
    }
    /* the whole step as one problem */
    sim_problem parts = {.step = f->in->step,
                         .ntree = f->ntree,
                         .nv = f->nv,
                         .nconstraint = f->nconstraint,
                         .nrow = f->nrow,
                         .tree = tree,
                         .constraint = constraint,
                         .gap = f->gap,
                         .J = f->J,
                         .offset = f->offset,
                         .v_free = f->driven ? f->v_free_variant : f->v_free,
                         .v_start = f->v_start,
                         .bodies = bodies,
                         .v_guess = f->v_start,
                         .impulse_guess = f->impulse_guess,
                         .impulse_trend = f->impulse_trend};
    return sim_problem_create(&parts, A, error);
}
