/* Islands: connected components of the graph of trees (nodes) and constraints between two moving trees (edges).
 *
 * Contacts with fixed bodies connect nothing, nor do rows of a single joint or actuator.  Islands are numbered by their
 * first tree; trees and constraints keep their order within.  So no number depends on the threads, or on the order in
 * which contacts are found.
 *
 * Cost: disjoint sets, nearly linear in trees and constraints. */
#include "base/disjoint_set.h"
#include "contact/problem/core/assembly.h"

static void connect_trees(const assembly *f, const sim_model *m, int *parent, char *touched) {
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
        touched[t] = 0;
    }
    for (int k = 0; k < f->nsource; k++) {
        int a = f->source[k].tree[0], b = f->source[k].tree[1];
        if (a >= 0 && b >= 0) {
            disjoint_set_unite(parent, a, b);
        }
        for (int side = 0; side < 2; side++) {
            int t = side ? b : a;
            if (t >= 0) {
                touched[t] = 1;
            }
        }
    }
}

/* Numbers the islands; of[t] is the island of tree t, -1 if it touches nothing. */
static int number_islands(const sim_model *m, int *parent, const char *touched, int *of) {
    int count = 0;
    for (int t = 0; t < m->ntree; t++) {
        int root = disjoint_set_find(parent, t); /* the least of its island: met first */
        of[t] = !touched[t] ? -1 : root == t ? count++ : of[root];
    }
    return count;
}

static int island_of_source(const assembly *f, const int *of, int k) {
    int t = f->source[k].tree[0] >= 0 ? f->source[k].tree[0] : f->source[k].tree[1];
    return of[t];
}

/* Sort trees by island, counting. */
static void sort_trees(assembly *f, const sim_model *m, const int *of) {
    for (int t = 0; t < m->ntree; t++) {
        if (of[t] >= 0) {
            f->island[of[t]].base.ntree++;
            f->ntree++;
        }
    }
    for (int i = 1; i < f->nisland; i++) {
        f->island[i].first_tree = f->island[i - 1].first_tree + f->island[i - 1].base.ntree;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i].base.ntree = 0;
    }
    for (int t = 0; t < m->ntree; t++) {
        f->local[t] = -1;
        if (of[t] >= 0) {
            island *s = &f->island[of[t]];
            f->local[t] = s->base.ntree++;
            f->tree[s->first_tree + f->local[t]] = t;
            s->base.nv += m->tree[t].nv;
            f->nv += m->tree[t].nv;
        }
    }
}

static void sort_sources(assembly *f, const int *of) {
    for (int k = 0; k < f->nsource; k++) {
        f->island[island_of_source(f, of, k)].base.nconstraint++;
    }
    f->nconstraint = f->nsource;
    for (int i = 1; i < f->nisland; i++) {
        f->island[i].first_constraint = f->island[i - 1].first_constraint + f->island[i - 1].base.nconstraint;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i].base.nconstraint = 0;
    }
    for (int k = 0; k < f->nsource; k++) {
        island *s = &f->island[island_of_source(f, of, k)];
        f->source_of[s->first_constraint + s->base.nconstraint++] = k;
        s->base.nrow += f->source[k].rows;
        f->nrow += f->source[k].rows;
    }
}

sim_status islands_find(assembly *f, const sim_model *m) {
    /* memory */
    int *parent = ARENA_NEW(f->arena, int, m->ntree), *of = ARENA_NEW(f->arena, int, m->ntree);
    char *touched = ARENA_NEW(f->arena, char, m->ntree);
    f->local = ARENA_NEW(f->arena, int, m->ntree);
    f->tree = ARENA_NEW(f->arena, int, m->ntree);
    f->source_of = ARENA_NEW(f->arena, int, f->nsource);
    if (!parent || !of || !touched || !f->local || !f->tree || !f->source_of) {
        return SIM_NO_RESOURCE;
    }
    /* islands: connected components of trees under constraints */
    connect_trees(f, m, parent, touched);
    f->nisland = number_islands(m, parent, touched, of);
    f->island = ARENA_NEW(f->arena, island, f->nisland);
    if (!f->island) {
        return SIM_NO_RESOURCE;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i] = (island){0};
    }
    /* trees and constraints in the order of the islands */
    sort_trees(f, m, of);
    sort_sources(f, of);
    return SIM_OK;
}
