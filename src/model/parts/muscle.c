/* Force of a muscle over its length, rate and activation, with its slopes.
 *
 *     f = -F (w FL(L) FV(V) + FP(L)),     L = r0 + (l - l0) / L0,     V = l' / (vmax L0)
 *     L0 = (l1 - l0) / (r1 - r0)
 *
 *     FL    0.5 ((L - lmin)/(a - lmin))^2     lmin <= L <= a = (lmin + 1)/2      FV    0                        V <= -1
 *           1 - 0.5 ((1 - L)/(1 - a))^2       a <= L <= 1                              (V + 1)^2           -1 <= V <= 0
 *           1 - 0.5 ((L - 1)/(b - 1))^2       1 <= L <= b = (1 + lmax)/2               fvmax - (y - V)^2/y  0 <= V <= y
 *           0.5 ((lmax - L)/(lmax - b))^2     b <= L <= lmax;  0 outside               fvmax, y = fvmax - 1    beyond
 *     FP    fpmax 0.5 x^2,  1 <= L <= b;   fpmax (0.5 + x - 1), L > b;   x = (L - 1)/(b - 1)
 *
 *     l, l'       length and rate of the actuator: m, m/s (rad, rad/s);  [l0, l1]: its range of lengths
 *     L, V        length and rate scaled by the resting length L0;  [r0, r1]: the range of L;  lmin, lmax, vmax, fpmax
 *                 and fvmax as of the muscle
 *     F, w        peak force at rest, N; activation
 *
 * Reference: Hill 1938; Zajac 1989, sections II-III; the curves are those of MuJoCo's muscles.   Cost: O(1). */
#include <sim/model.h>

#include <math.h>

/* A value and its slope. */
typedef struct curve {
    double value, slope;
} curve;

/* c0 + c1 ((x - from) / width)^2 */
static curve make_parabola(double c0, double c1, double x, double from, double width) {
    double t = (x - from) / width;
    return (curve){c0 + c1 * t * t, 2 * c1 * t / width};
}

static curve active_length(const sim_muscle *m, double L) {
    double a = 0.5 * (m->lmin + 1), b = 0.5 * (1 + m->lmax);
    if (L <= m->lmin || L >= m->lmax) {
        return (curve){0, 0};
    }
    return L <= a   ? make_parabola(0, 0.5, L, m->lmin, a - m->lmin)
           : L <= 1 ? make_parabola(1, -0.5, L, 1, 1 - a)
           : L <= b ? make_parabola(1, -0.5, L, 1, b - 1)
                    : make_parabola(0, 0.5, L, m->lmax, m->lmax - b);
}

static curve active_velocity(const sim_muscle *m, double V) {
    double y = m->fvmax - 1;
    return V <= -1  ? (curve){0, 0}
           : V <= 0 ? make_parabola(0, 1, V, -1, 1)
           : V <= y ? make_parabola(m->fvmax, -y, V, y, y)
                    : (curve){m->fvmax, 0};
}

static curve passive_length(const sim_muscle *m, double L) {
    double b = 0.5 * (1 + m->lmax);
    if (L <= 1) {
        return (curve){0, 0};
    }
    return L <= b ? make_parabola(0, 0.5 * m->fpmax, L, 1, b - 1)
                  : (curve){m->fpmax * ((L - 1) / (b - 1) - 0.5), m->fpmax / (b - 1)};
}

double sim_muscle_force(const sim_muscle *m, double w, double length, double rate, double slope[2]) {
    /* scaled length and rate */
    double L0 = (m->length_range[1] - m->length_range[0]) / (m->range[1] - m->range[0]);
    double L = m->range[0] + (length - m->length_range[0]) / L0, V = rate / (m->vmax * L0);
    /* the three curves */
    curve FL = active_length(m, L), FV = active_velocity(m, V), FP = passive_length(m, L);
    if (slope) {
        slope[0] = -m->force * (w * FL.slope * FV.value + FP.slope) / L0;
        slope[1] = -m->force * w * FL.value * FV.slope / (m->vmax * L0);
    }
    return -m->force * (w * FL.value * FV.value + FP.value);
}
