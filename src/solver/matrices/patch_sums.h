/* Sums A + J' G J over patches of constraints, for matrices by blocks of pairs of trees. */
#ifndef SOLVER_MATRICES_PATCH_SUMS_H
#define SOLVER_MATRICES_PATCH_SUMS_H

#include "base/threads.h"
#include "solver/core/cone_convex.h"
#include "solver/core/patches.h"

/* The matrix that is summed. */
typedef struct patch_sums_matrix {
    void *self;
    bool (*reserve)(void *self, int threads);  /* more memory in `kept` for the patches; false without */
    void (*mark_patch)(void *self, int patch); /* G has changed there; NULL: sum_patch sees to that */
    /* sums part[2 patch], part[2 patch + 1] and blocks between the trees; the threads of the last call to `reserve` at once */
    void (*sum_patch)(void *self, int thread, int patch);
    double *(*diagonal_block)(void *self, int node);
} patch_sums_matrix;

typedef struct patch_sums {
    patch_sums_matrix matrix;
    sim_arena *kept, *scratch;
    const sim_problem *problem;
    patches patches;
    bool known;             /* the structure of a problem is at hand: */
    sim_problem_tree *tree; /* copies for the comparison with the next problem */
    int ntree, nconstraint;
    int (*touched)[3]; /* [nconstraint] trees and rows */
    double **A;        /* [nodes] padded */
    double **part;     /* [2 patches] of the diagonal blocks of a and b; NULL without b */
    int *part_start;   /* [nodes + 2] by node, its parts in rising order: */
    int *node_part;    /* [2 patches] */
    cone_hessian *G;   /* [nconstraint] as of the last sum */
    bool summed;       /* since A and J were set */
    double **diagonal; /* [nodes] at work: the diagonal block where a part has changed, else NULL */
    int *changed;      /* [patches] at work */
    double *x;         /* [unknowns] node after node */
    sim_threads *threads;
    int workers; /* that the memory suffices for */
} patch_sums;

/* false without memory; closed all the same. */
bool patch_sums_open(patch_sums *s, patch_sums_matrix matrix);
void patch_sums_close(patch_sums *s);

/* Finds the patches of a problem and copies A; all patches count as changed.  Structure and memory of the last problem
 * are reused if trees and constraints connect in the same way.  The threads share the sums until the next call; NULL: the
 * caller's own.  false without memory. */
bool patch_sums_prepare(patch_sums *s, const sim_problem *problem, sim_threads *threads);

/* Sums the patches whose G [nconstraint] has changed, and the diagonal blocks of their trees. */
void patch_sums_set(patch_sums *s, const cone_hessian *G);

/* s->x from x, the velocities of all trees; and back for those with constraints. */
void patch_sums_gather(patch_sums *s, const double *x);
void patch_sums_scatter(const patch_sums *s, double *x);

/* Unknowns of a node. */
static inline int patch_sums_size(const patch_sums *s, int node) { return s->patches.graph.size[node]; }

#endif
