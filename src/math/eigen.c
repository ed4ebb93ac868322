/* Cyclic Jacobi rotations of a symmetric 3x3 matrix: right to rounding even for a needle.
 *
 *     m <- G' m G,   e <- e G,   G: the rotation in the plane (p, q) that makes m_pq = 0
 *
 * Reference: Golub, Van Loan 2013, section 8.5.  Cost: some five sweeps of three rotations. */
#include "math/eigen.h"

#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 30 };

static void apply_rotation(double m[3][3], double e[3][3], int p, int q) {
    double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double x = m[k][p], y = m[k][q], u = e[k][p], v = e[k][q];
        m[k][p] = c * x - s * y;
        m[k][q] = s * x + c * y;
        e[k][p] = c * u - s * v;
        e[k][q] = s * u + c * v;
    }
    for (int k = 0; k < 3; k++) {
        double x = m[p][k], y = m[q][k];
        m[p][k] = c * x - s * y;
        m[q][k] = s * x + c * y;
    }
}

void eigen_symmetric(double m[3][3], double e[3][3]) {
    const double one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(e, one, sizeof one);
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        if (m[0][1] == 0 && m[0][2] == 0 && m[1][2] == 0) {
            return;
        }
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (m[p][q] != 0) {
                    apply_rotation(m, e, p, q);
                }
            }
        }
    }
}
