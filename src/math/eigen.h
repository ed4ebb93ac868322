/* Eigenvalues and eigenvectors of a symmetric 3x3 matrix. */
#ifndef MATH_EIGEN_H
#define MATH_EIGEN_H

/* m becomes diagonal, with the eigenvalues; columns of e are the eigenvectors.  In no order. */
void eigen_symmetric(double m[3][3], double e[3][3]);

#endif
