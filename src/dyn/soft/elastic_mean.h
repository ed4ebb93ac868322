/* Energy-momentum stress of a step by the midpoint rule. */
#ifndef DYN_SOFT_ELASTIC_MEAN_H
#define DYN_SOFT_ELASTIC_MEAN_H

#include "dyn/soft/elastic_law.h"
#include "math/v3.h"

typedef struct elastic_mean {
    m3 P; /* Pa: first Piola-Kirchhoff stress that does the work of the energy's change */
    m3 F; /* where the stiffness is taken */
} elastic_mean;

/* F0, F: deformation gradients at the start and in the middle of the step; false: inverted at an end. */
bool eval_elastic_mean(const elastic_material *material, m3 F0, m3 F, elastic_mean *out);

#endif
