/* A quadratic model of a field over a plane that touches a surface or holds a triangle. */
#ifndef COLLIDE_FIELD_FIELD_MODEL_H
#define COLLIDE_FIELD_FIELD_MODEL_H

#include "collide/field/field_contact.h"

/* f is taken for u . d + d . B d / 2, d the way from where u is its gradient. */
typedef struct model {
    v3 e[2];                  /* axes of the plane */
    double u[2], xx, xy, yy;  /* gradient and curvature */
    double softest, stiffest; /* bounds on the curvature */
} model;

/* The plane of the patch; curvature from how the gradient turns from corner to corner. */
model model_create(const patch *p);
/* Curvature within the bounds: principal values cut off. */
void model_bound(model *m);
/* The least principal curvature over the greatest. */
double model_curvature_ratio(const model *m);
/* Along the axes of the plane. */
void model_components(const model *m, v3 v, double out[2]);
/* a . B b */
double model_curvature(const model *m, const double a[2], const double b[2]);
/* The gradient turned by y, in components, along the way s. */
void model_learn(model *m, const double s[2], const double y[2]);

#endif
