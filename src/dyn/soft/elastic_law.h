/* Elastic materials as functions of the principal stretches. */
#ifndef DYN_SOFT_ELASTIC_LAW_H
#define DYN_SOFT_ELASTIC_LAW_H

typedef enum elastic_law { ELASTIC_NEO_HOOKEAN, ELASTIC_COROTATED, ELASTIC_LAWS } elastic_law;

typedef struct elastic_material {
    elastic_law law;
    double mu, lambda;   /* Pa, Lame's constants in small strain */
    double dissipation;  /* s: viscosity over elasticity, in small strain */
    double shear, bulky; /* Pa, the coefficients of the law: mu and lambda of its formula ... */
    double slack;        /* ... and its volume ratio without pressure, J */
    double rest;         /* Pa: its energy density at rest, which counts as none */
} elastic_material;

/* Of Young's modulus, Pa, and Poisson's ratio, 0 <= poisson < 1/2. */
elastic_material make_elastic(elastic_law law, double modulus, double poisson, double dissipation);

/* Energy density, Pa, at principal stretches s, and its derivatives.  The Hessian by F = U diag(s) V' has nine
 * eigenvectors.  Three are along stretches (`curvature`), and two for each pair of axes (i, j), listed by the third
 * axis: `twist` along u_i v_j' - u_j v_i', `flip` along u_i v_j' + u_j v_i'. */
typedef struct stretch_response {
    double energy;
    double slope[3];
    double curvature[3][3];
    double twist[3], flip[3];
} stretch_response;

/* s as svd_rotations gives them. */
stretch_response eval_stretches(const elastic_material *material, const double s[3]);

#endif
