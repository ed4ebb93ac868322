/* Which trees do contacts and constraints hold together?
 *
 * Trees are nodes, ties between two moving trees are edges; a connected component is an island.  What touches only what
 * stands still joins nothing, nor does a row of a joint or motor.  Islands are numbered by their first tree, trees and ties keep
 * their order within: nothing depends on how many threads there are or in which order contacts were met. */
#include "contact/problem/joined.h"
#include "contact/problem/parts.h"

static void join_trees(const frame *f, const sim_model *m, int *parent, char *touched) {
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
        touched[t] = 0;
    }
    for (int k = 0; k < f->ntie; k++) {
        int a = f->tie[k].tree[0], b = f->tie[k].tree[1];
        if (a >= 0 && b >= 0) {
            joined_add(parent, a, b);
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
static int number(const sim_model *m, int *parent, const char *touched, int *of) {
    int count = 0;
    for (int t = 0; t < m->ntree; t++) {
        int root = joined_root(parent, t); /* the least of its island: met first */
        of[t] = !touched[t] ? -1 : root == t ? count++ : of[root];
    }
    return count;
}

static int island_of_tie(const frame *f, const int *of, int k) {
    int t = f->tie[k].tree[0] >= 0 ? f->tie[k].tree[0] : f->tie[k].tree[1];
    return of[t];
}

/* Sort trees by island, counting. */
static void place_trees(frame *f, const sim_model *m, const int *of) {
    for (int t = 0; t < m->ntree; t++) {
        if (of[t] >= 0) {
            f->island[of[t]].problem.ntree++;
            f->ntree++;
        }
    }
    for (int i = 1; i < f->nisland; i++) {
        f->island[i].first_tree = f->island[i - 1].first_tree + f->island[i - 1].problem.ntree;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i].problem.ntree = 0;
    }
    for (int t = 0; t < m->ntree; t++) {
        f->local[t] = -1;
        if (of[t] >= 0) {
            island *s = &f->island[of[t]];
            f->local[t] = s->problem.ntree++;
            f->tree[s->first_tree + f->local[t]] = t;
            s->problem.nv += m->tree[t].nv;
            f->nv += m->tree[t].nv;
        }
    }
}

static void place_ties(frame *f, const int *of) {
    for (int k = 0; k < f->ntie; k++) {
        f->island[island_of_tie(f, of, k)].problem.nconstraint++;
    }
    f->nconstraint = f->ntie;
    for (int i = 1; i < f->nisland; i++) {
        f->island[i].first_constraint = f->island[i - 1].first_constraint + f->island[i - 1].problem.nconstraint;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i].problem.nconstraint = 0;
    }
    for (int k = 0; k < f->ntie; k++) {
        island *s = &f->island[island_of_tie(f, of, k)];
        f->tie_of[s->first_constraint + s->problem.nconstraint++] = k;
        s->problem.nrow += f->tie[k].rows;
        f->nrow += f->tie[k].rows;
    }
}

int islands_find(frame *f, const sim_model *m) {
    int *parent = ARENA_NEW(f->arena, int, m->ntree), *of = ARENA_NEW(f->arena, int, m->ntree);
    char *touched = ARENA_NEW(f->arena, char, m->ntree);
    f->local = ARENA_NEW(f->arena, int, m->ntree);
    f->tree = ARENA_NEW(f->arena, int, m->ntree);
    f->tie_of = ARENA_NEW(f->arena, int, f->ntie);
    if (!parent || !of || !touched || !f->local || !f->tree || !f->tie_of) {
        return 0;
    }
    join_trees(f, m, parent, touched);
    f->nisland = number(m, parent, touched, of);
    f->island = ARENA_NEW(f->arena, island, f->nisland);
    if (!f->island) {
        return 0;
    }
    for (int i = 0; i < f->nisland; i++) {
        f->island[i] = (island){0};
    }
    place_trees(f, m, of);
    place_ties(f, of);
    return 1;
}
