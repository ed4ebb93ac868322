/* Cubic splines with continuous second derivative, clamped at rest: the rates m_i at the keys solve
 *
 *     m_(i-1)/h_(i-1) + 2 (1/h_(i-1) + 1/h_i) m_i + m_(i+1)/h_i = 3 (d_(i-1)/h_(i-1) + d_i/h_i),   0 < i < n
 *     m_0 = m_n = 0,   h_i = t_(i+1) - t_i,   d_i = (x_(i+1) - x_i)/h_i
 *
 * t in s; x in the unit of the track, m and d in that unit a second.  The ends are at rest because a track stays at its
 * first and last value outside its keys.  So the rate is continuous at all times, and the acceleration except at the
 * two ends.
 *
 * Reference: C. de Boor, A Practical Guide to Splines, rev. ed., Springer 2001, chapter IV.
 *
 * Departures: none.
 *
 * Cost: linear in the keys, once, when the model is built; the matrix is diagonally dominant, so no pivots. */
#include "model/track/spline.h"

void spline_rates(const sim_track *track, double *rates, double *work) {
    int n = track->keys, width = track->width;
    const double *t = track->times;
    for (int c = 0; c < width; c++) {
        const double *x = track->values + c;
        double *m = rates + c;
        m[0] = work[0] = 0;
        for (int i = 1; i < n - 1; i++) { /* downwards: m_i = m - work m_(i+1) */
            double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
            double slope_before = (x[i * width] - x[(i - 1) * width]) / before;
            double slope_after = (x[(i + 1) * width] - x[i * width]) / after;
            double weight = before / after; /* the equation times h_(i-1) */
            double pivot = 2 * (1 + weight) - work[i - 1];
            work[i] = weight / pivot;
            m[i * width] = (3 * (slope_before + weight * slope_after) - m[(i - 1) * width]) / pivot;
        }
        if (n > 1) {
            m[(n - 1) * width] = 0;
        }
        for (int i = n - 2; i > 0; i--) {
            m[i * width] -= work[i] * m[(i + 1) * width];
        }
    }
}
