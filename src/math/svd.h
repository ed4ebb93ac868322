/* Singular values of a 3x3 matrix, with proper rotations. */
#ifndef MATH_SVD_H
#define MATH_SVD_H

#include "math/v3.h"

/* F = U diag(s) V' with det U = det V = 1 and s[0] >= s[1] >= |s[2]|; s[2] has the sign of det F. */
void svd_rotations(m3 F, m3 *U, double s[3], m3 *V);

#endif
