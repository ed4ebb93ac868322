/* The greatest properties of any two materials of a model. */
#ifndef COLLIDE_CONTACT_GREATEST_H
#define COLLIDE_CONTACT_GREATEST_H

#include <sim/model.h>

double model_max_friction(const sim_model *m);
/* A gap beyond which no two surfaces pull each other, m. */
double model_max_adhesion_range(const sim_model *m);
/* Rolling and torsion together, m. */
double model_max_turning(const sim_model *m);

#endif
