/* Clutter (Castro, Permenter, Han 2021, sec. VI-C): four columns of spheres and boxes dropped into a container. */
#ifndef SUPPORT_CONTAINER_H
#define SUPPORT_CONTAINER_H

#include "support/models.h"

/* Spheres of 5 cm and boxes of 10 cm, density 1000, in columns at (+-0.2, +-0.2), 0.12 m apart in height, turned at
 * random, above a ground of 0.8 m x 0.8 m; with walls around it. Friction 1, dissipation as given (s), stiffness in
 * N/m. */
sim_model *clutter_model(random_source *r, int count, int walls, double stiffness, double dissipation);

#endif
