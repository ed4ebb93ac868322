/* Nesterov-Todd scaling of a second-order cone, and points of it that stay exact near its boundary. */
#ifndef SOLVER_INTERIOR_POINT_CONE_SCALING_H
#define SOLVER_INTERIOR_POINT_CONE_SCALING_H

/* x in Q = { x_3 >= |x_t| } with x_3 = |x_t| + over: `over` keeps its digits where x_3 - |x_t| would lose them. */
typedef struct cone_point {
    double t[2], over;
} cone_point;

double cone_point_normal(const cone_point *x);
/* x . z, x_t and z_t against each other or not. */
double cone_point_product(const cone_point *x, const cone_point *z);
/* x + length dx; dx in plain coordinates, as all steps. */
cone_point cone_point_moved(const cone_point *x, const double dx[3], double length);
/* Greatest a with x + a dx in Q; infinite if all are. */
double cone_step_length(const cone_point *x, const double dx[3]);

/* P = beta (stretch p p' + m m' / stretch + b b'),   p = (q, 1) / sqrt(2), m = (q, -1) / sqrt(2), b = (-q_2, q_1, 0).
 * P takes x and P^-1 takes z to lambda. */
typedef struct cone_scaling {
    double beta, stretch, q[2], lambda[3];
} cone_scaling;

cone_scaling cone_scaling_of(const cone_point *x, const cone_point *z);
/* y = P x, and y = P^-1 x; the two may be the same. */
void cone_scale(const cone_scaling *s, const double x[3], double y[3]);
void cone_unscale(const cone_scaling *s, const double x[3], double y[3]);
/* G = (R + D P^2 D)^-1, D = diag(1, 1, mu), R = diag(R_t, R_t, R_n), as (G_11, G_22, G_33, G_12, G_13, G_23). */
void cone_scaling_block(const cone_scaling *s, const double *R, double mu, double *G);

/* Jordan product x o y = (x_3 y_t + y_3 x_t, x . y), and the y of lambda o y = d. */
void cone_product(const double x[3], const double y[3], double product[3]);
void cone_divide(const double lambda[3], const double d[3], double y[3]);

#endif
