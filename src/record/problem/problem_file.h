/* A file of a contact problem in memory: all that stands in it, and the problem made of it. */
#ifndef RECORD_PROBLEM_PROBLEM_FILE_H
#define RECORD_PROBLEM_PROBLEM_FILE_H

#include "record/problem/fclib.h"
#include <sim/record.h>

struct sim_problem_file {
    memory_pool *pool;
    store store;
    sim_problem *problem;
    sim_law_options law;
    int contacts, bilateral, dofs; /* nc, p, n as FCLIB counts them; n = 0: local */
    int contact_rows;              /* of each contact in FCLIB's r: 3, or 5 of rolling problems */
    int *fclib_row;                /* [nrow] where a row of the problem stands in FCLIB's (r, l); -1: nowhere */
    int *fclib_dof;                /* [nv] where a velocity of the problem stands in FCLIB's v */
    /* Where M is not symmetric the problem is local, and v = v0 + response (r, l), in FCLIB's order. */
    const double *v0, *response; /* [n], [n][3 nc + p] */
};

/* From the bytes of a file. */
sim_problem_file *problem_file_parse(const void *bytes, size_t size, sim_error *error);
/* From a tree that `fill` makes. */
sim_problem_file *problem_file_of_tree(void (*fill)(store *s, void *data), void *data, sim_error *error);

/* Converts the FCLIB part of a file to the problem of the file. */
sim_status problem_local_whole(sim_problem_file *file, const fclib *stated, memory_pool *work, sim_error *error);
/* u = K (r, l) + q: `K` and `q` have 3 nc + p rows in FCLIB's order. */
sim_status problem_local(sim_problem_file *file, const fclib *stated, memory_pool *work, const sparse *K,
                         const double *q, sim_error *error);
sim_status problem_global(sim_problem_file *file, const fclib *stated, memory_pool *work, sim_error *error);
/* W = H' M^-1 H, q = H' M^-1 f + w for an M that is not symmetric. */
sim_status problem_reduced(sim_problem_file *file, const fclib *stated, memory_pool *work, sim_error *error);
/* A constraint for each contact and each bilateral row, and where their rows stand; NULL without memory. */
sim_constraint *problem_constraints(sim_problem_file *file, const fclib *stated, memory_pool *work);
/* Guesses of (r, l) in the order of the problem; NULL: there are none. */
const double *problem_impulse_guess(const sim_problem_file *file, const fclib *stated, memory_pool *work);

/* Which tree each velocity belongs to, such that M couples none of different trees and no constraint touches more than
 * two; their number, -1 without memory. */
int problem_trees(memory_pool *work, const fclib *stated, int *tree);

/* Our own group: all of a problem, to the bit. */
extern const char problem_own_group[];
void problem_put_own(store *s, const sim_problem *problem);
sim_status problem_take_own(const store_node *group, memory_pool *work, sim_problem **problem, sim_error *error);
/* The numbers of its law, which may be missing in a file: `law` then stays as it is. */
void problem_put_law(store *s, const sim_law_options *law);
sim_status problem_take_law(const store_node *group, sim_law_options *law, sim_error *error);
/* The part of a problem that FCLIB can express: contacts and equality rows, under the rigid law, with the file's
 * numbers.  Fills its counts and maps. */
sim_status problem_put_view(sim_problem_file *file, const char *title, const char *description, sim_error *error);
/* Counts and maps alone. */
sim_status problem_map_view(sim_problem_file *file, sim_error *error);

#endif
