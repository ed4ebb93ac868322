/* Where along a direction does a convex function end its descent? */
#ifndef SOLVER_NEWTON_LINE_SEARCH_H
#define SOLVER_NEWTON_LINE_SEARCH_H

/* A convex function l along a line, from alpha = 0. */
typedef struct line {
    void *self;
    /* l'(alpha), and l'' if `second` is not NULL; of several calls the last may be remembered */
    double (*slope)(void *self, double alpha, double *second);
    /* l(alpha) - l(0) */
    double (*rise)(void *self, double alpha);
    double slope0; /* l'(0) < 0 */
    int evaluations;
} line;

/* The root of l' up to `tolerance` |l'(0)|, or `most` where l still falls there. */
double line_exact(line *l, double most, double tolerance);
/* The first of alpha = 1.25, 1, 0.8, ... that lowers l by 1e-4 alpha |l'(0)| (Armijo) and no less than the next, or 1.25
 * where l still falls there.
 * `noise`: what l differs by for rounding alone. */
double line_armijo(line *l, double noise);

#endif
