/* All solvers of the table and all their variants: what the tests of agreement loop over, so that a solver joins them
 * by being there. */
#ifndef SUPPORT_CONTENDERS_H
#define SUPPORT_CONTENDERS_H

#include "support/answers.h"

enum { MOST_CONTENDERS = 64, MOST_OPTIONS = 32 };

/* A solver as tight as it goes; besides, one for each choice of an option `cone` that obeys another law. */
typedef struct contender {
    char name[48]; /* "pgs", "pgs, pyramid" */
    const sim_solver_info *info;
    sim_cone cone;
    double option[MOST_OPTIONS];
} contender;

int contenders_all(contender list[MOST_CONTENDERS]);
int option_of(const sim_solver_info *info, const char *name); /* -1: has none such */
/* Does it take all kinds of rows that are there? */
int contender_takes(const contender *who, const sim_problem *problem);
/* Is it made for rows that yield nothing? */
static inline int contender_is_rigid(const contender *who) { return who->info->default_law != SIM_NEAR_RIGID; }

/* Which laws take part: bit k for sim_cone k. */
enum { STRICT = 1 << SIM_CONE_STRICT, CONVEX = 1 << SIM_CONE_CONVEX, PYRAMID = 1 << SIM_CONE_PYRAMID, ANY = 7 };

/* A problem with the R that all are given, and what they answer. */
typedef struct contest {
    int count;
    contender who[MOST_CONTENDERS];
    answer of[MOST_CONTENDERS];
} contest;

/* Everybody of those laws who takes it.  R > 0: that of every row; 0: the rigid law's, whoever is not made for it too;
 * < 0: near-rigid.  Targets are the rigid law's where R is 0, else near-rigid. */
void contest_hold(contest *c, const sim_problem *problem, unsigned cones, double R);
/* Those of one entry; so that R and target may be changed before answer_find. */
answer contest_entry(const sim_problem *problem, double R);
void contest_end(contest *c);

/* |x - y| over the greater of both, greatest components; 0 beside 0. */
double apart(int count, const double *x, const double *y);

#endif
