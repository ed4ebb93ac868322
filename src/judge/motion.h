/* Velocities and momentum from the impulses of a solution. */
#ifndef JUDGE_MOTION_H
#define JUDGE_MOTION_H

#include <sim/problem.h>

typedef struct judge_motion {
    double *free;   /* [nrow] J v* + w */
    double *pushed; /* [nrow] W gamma */
    double *trace;  /* [nconstraint] of W_ii */
    double *speed;  /* [nconstraint] sum over rows of (|J| V + |w|)^2, by which J v* + w rounds; 0 of local problems */
    double *of_dof; /* [nv] V = max(|v*|, |D^2 A v*|), D = diag(A)^-1/2 */
    double *j;      /* [nv] J' gamma */
    double *rest;   /* the judge's scratch */
} judge_motion;

/* Numbers that a motion takes, and their places. */
size_t judge_motion_size(const sim_problem *problem);
judge_motion judge_motion_in(const sim_problem *problem, double *work);

/* Fills free, pushed, trace and j. */
void judge_eval_motion(const sim_problem *problem, const double *gamma, judge_motion *m);

/* Squares of the momentum error and of its measures, once j is known; all 0 for local problems. */
typedef struct judge_balance {
    double error, momentum, contact; /* of D (A (v - v*) - j), D A v, D j */
} judge_balance;
judge_balance judge_eval_momentum(const sim_problem *problem, const double *v, judge_motion *m);

#endif
