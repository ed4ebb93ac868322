/* The same problem in other words: constraints in another order, tangents turned, bodies named the other way round. */
#ifndef SUPPORT_REWORDED_H
#define SUPPORT_REWORDED_H

#include <sim/problem.h>

typedef struct reworded {
    sim_problem problem;
    sim_constraint *constraint;
    double *J, *offset, *gap;
} reworded;

/* Constraint i is order[i] of the old one, tangents of contacts turned by `angle` times 1, 2, ...; `swap`: bodies of
 * contacts change places, so that n turns round, and t2 with it. */
void reword(const sim_problem *p, const int *order, double angle, int swap, reworded *w);
void reworded_free(reworded *w);

#endif
