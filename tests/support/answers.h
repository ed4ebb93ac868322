/* A problem, a law and the answer of a solver, with all the arrays that these take. */
#ifndef SUPPORT_ANSWERS_H
#define SUPPORT_ANSWERS_H

#include <sim/solver.h>

enum { ANSWER_HISTORY = 256 };

typedef struct answer {
    const sim_problem *problem;
    double *W; /* diagonal blocks J_i A^-1 J_i' */
    double *R, *target;
    sim_regularisation law;
    double *v, *impulse;
    double *s; /* u - target + R gamma, after answer_check */
    sim_history history;
    sim_solution out;
} answer;

/* Near-rigid with these figures; `answer_free` gives all back. */
answer answer_create(const sim_problem *problem, double beta, double sigma);
/* Of the rigid law. */
answer rigid_entry(const sim_problem *problem);
void answer_free(answer *a);
/* Solve; options may be NULL. */
void answer_find(answer *a, const char *solver, const double *option);
/* Within so many iterations; 0: no limit. */
void answer_find_within(answer *a, const char *solver, const double *option, int most);

/* The value of an option, by name; a list of them ends with NULL. */
typedef struct option_setting {
    const char *name;
    double value;
} option_setting;

/* The options of a solver as they stand, but for those named. */
void options_with(const char *solver, const option_setting *set, double *option);

/* How far it is from the convex law and from balance, each over the size of what it is made of; sets a->s. */
typedef struct answer_errors {
    double momentum; /* |D (A (v - v*) - J' gamma)| over the greater of |D A v| and |D J' gamma| */
    double cone;     /* gamma outside its bounds */
    double dual;     /* s outside the dual cone */
    double work;     /* |gamma . s| */
} answer_errors;
answer_errors answer_check(answer *a);

/* Dense n x n: x <- A^-1 x by elimination with pivots; A is lost. */
void answer_eliminate(int n, double *A, double *x);
double norm_of(const double *x, int n);
double distance_between(const double *x, const double *y, int n);

#endif
