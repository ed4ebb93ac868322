/* Line searches along a descent direction of a convex function. */
#ifndef SOLVER_NEWTON_LINE_SEARCH_H
#define SOLVER_NEWTON_LINE_SEARCH_H

/* A convex function l along a line, from alpha = 0. */
typedef struct line {
    void *self;
    /* l'(alpha), and l'' if `second` is not NULL; the caller may cache the last alpha */
    double (*slope)(void *self, double alpha, double *second);
    /* l(alpha) - l(0) */
    double (*rise)(void *self, double alpha);
    double slope0; /* l'(0) < 0 */
    int evaluations;
} line;

/* Root of l' up to `tolerance` |l'(0)|; `max_alpha` where l still falls there. */
double line_exact(line *l, double max_alpha, double tolerance);
/* First of alpha = 1.25, 1, 0.8, ... that lowers l by 1e-4 alpha |l'(0)| (Armijo) and at least as much as the next;
 * 1.25 where l still falls there.  `noise`: rounding of l. */
double line_armijo(line *l, double noise);

#endif
