/* Derivatives of coordinates that move along a velocity. */
#ifndef WORLD_INTEGRATOR_DERIVATIVE_MOVE_DERIVATIVES_H
#define WORLD_INTEGRATOR_DERIVATIVE_MOVE_DERIVATIVES_H

#include "dyn/motion/advance.h"
#include "math/spatial.h"

#include <stddef.h>

/* d (q (+) map(h v)) = from d q + by d v of the bodies of a tree, block by block. */
typedef struct move_derivative {
    double line;   /* by of plain coordinates, whose from is 1 */
    m3 *from, *by; /* [nbody] of orientations */
} move_derivative;

typedef enum move_part { MOVE_FROM, MOVE_BY } move_part;

/* The rotation vector's map and its derivative in axes of the turned body. */
m3 rotation_derivative(rotation_map map, v3 turn);
/* The inverse of that of ROTATION_EXP: of the rotation vector by the attitude. */
m3 rotation_log_derivative(v3 turn);

void differentiate_move(const sim_model *m, sim_range bodies, rotation_map map, const double *v, double h,
                        move_derivative *out);
/* Y += s X part, of matrices of n rows and columns with strides; then Y += s part X, of `columns` columns. */
void add_times_move(const sim_model *m, sim_range bodies, const move_derivative *d, move_part part, double s,
                    const double *X, ptrdiff_t x_stride, double *Y, ptrdiff_t y_stride);
void add_move_times(const sim_model *m, sim_range bodies, const move_derivative *d, move_part part, double s,
                    int columns, const double *X, ptrdiff_t x_stride, double *Y, ptrdiff_t y_stride);

#endif
