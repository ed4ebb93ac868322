/* Energy-momentum stress of a step by the midpoint rule: a discrete gradient of the elastic energy.
 *
 *     P = F S,    F = (F0 + F1)/2,    D = F1 - F0,    S : dC = 2 (Psi(F1) - Psi(F0)),    S symmetric
 *
 *     C = (C0 + C1)/2 = F'F + D'D/4,    dC = C1 - C0 = F'D + D'F,    P : D = S : dC / 2
 *     Neo-Hookean    S = mu (1 - L) + la (J - a)/J (cof C + cof dC / 12),    L = ln(1 + x) / (x (I0 + 1))
 *     co-rotated     S = 2 mu + (la (tr U - 3) - 2 mu) U^-1
 *
 *     F0, F1   deformation gradients at the start and the end, C0 = F0'F0, U0 = sqrt(C0)
 *     J, U     means of det F and of U over both ends;  I0 = tr C0,  x = tr dC / (I0 + 1);  mu, la, a: elastic_law.c
 *
 * The stress at F itself is that of a body too small by cos(theta/2) where it turns by theta: stiff bodies that turn would
 * gain energy without bound.  P does the work -(Psi(F1) - Psi(F0)) for steps of any size, S is objective, and P F' is
 * symmetric: a free body keeps energy, momentum and angular momentum.  Each S follows from a product that is exact:
 *
 *     det C1 - det C0 = (cof C + cof dC / 12) : dC,      tr U1 - tr U0 = U^-1 : dC / 2.
 *
 * Stiffness is that of a place with C.  Inverted elements have none of this, and take the stress at F.
 * Reference: Simo, Tarnow 1992, The discrete energy-momentum method, section 4; Gonzalez 2000, Exact energy and momentum
 * conserving algorithms for general models in nonlinear elasticity, section 5.  Different: quotients are divided out.
 * Cost: some ten products of 3 x 3; co-rotated, two singular value decompositions. */
#include "dyn/soft/elastic_mean.h"

#include "math/svd.h"

#include <math.h>

static const double MIN_MIDDLE = 0.02; /* det F over |F|^3, of a step that turns by some 2 rad */

/* A + s B */
static m3 m3_axpy(m3 A, double s, m3 B) {
    return (m3){v3_axpy(A.x, s, B.x), v3_axpy(A.y, s, B.y), v3_axpy(A.z, s, B.z)};
}

static m3 m3_cofactor(m3 A) { return (m3){v3_cross(A.y, A.z), v3_cross(A.z, A.x), v3_cross(A.x, A.y)}; }

static double m3_det(m3 A) { return v3_dot(A.x, v3_cross(A.y, A.z)); }

static double m3_trace(m3 A) { return A.x.x + A.y.y + A.z.z; }

static m3 diagonal_of(double s) { return (m3){{s, 0, 0}, {0, s, 0}, {0, 0, s}}; }

/* V diag(s) V' */
static m3 stretch_along(m3 V, const double s[3]) {
    m3 along = {v3_scale(s[0], V.x), v3_scale(s[1], V.y), v3_scale(s[2], V.z)};
    return m3_product(along, m3_transpose(V));
}

static m3 stretch_of(m3 F) {
    m3 U, V;
    double s[3];
    svd_rotations(F, &U, s, &V);
    return stretch_along(V, s);
}

static m3 neo_hookean_stress(const elastic_material *m, double J0, double J1, double I0, m3 C, m3 dC) {
    double x = m3_trace(dC) / (I0 + 1), L = (x == 0 ? 1 : log1p(x) / x) / (I0 + 1), J = (J0 + J1) / 2;
    m3 G = m3_axpy(m3_cofactor(C), 1.0 / 12, m3_cofactor(dC));
    return m3_axpy(diagonal_of(m->shear * (1 - L)), m->bulky * (J - m->slack) / J, G);
}

static m3 corotated_stress(const elastic_material *m, m3 F0, m3 F1) {
    m3 U = m3_axpy(m3_axpy(diagonal_of(0), 0.5, stretch_of(F0)), 0.5, stretch_of(F1));
    double slope = m->bulky * (m3_trace(U) - 3) - 2 * m->shear;
    return m3_axpy(diagonal_of(2 * m->shear), slope / m3_det(U), m3_cofactor(U));
}

/* F + F'^-1 E / 2, E = D'D/4: its F'F is C to O(E^2).  F itself near to half a turn. */
static m3 turned_stretch(m3 F, m3 E) {
    double det = m3_det(F), size = m3_trace(m3_product(m3_transpose(F), F));
    return det > MIN_MIDDLE * size * sqrt(size) ? m3_axpy(F, 0.5 / det, m3_product(m3_cofactor(F), E)) : F;
}

bool eval_elastic_mean(const elastic_material *material, m3 F0, m3 F, elastic_mean *out) {
    m3 D = m3_axpy(m3_axpy(F, 1, F), -2, F0), F1 = m3_axpy(F0, 1, D);
    double J0 = m3_det(F0), J1 = m3_det(F1);
    if (!(J0 > 0 && J1 > 0)) {
        return false;
    }
    m3 T = m3_transpose(F), across = m3_product(T, D), C0 = m3_product(m3_transpose(F0), F0);
    m3 turned = m3_product(m3_transpose(D), D), C = m3_axpy(m3_product(T, F), 0.25, turned);
    m3 dC = m3_axpy(across, 1, m3_transpose(across));
    m3 S = material->law == ELASTIC_NEO_HOOKEAN ? neo_hookean_stress(material, J0, J1, m3_trace(C0), C, dC)
                                                : corotated_stress(material, F0, F1);
    *out = (elastic_mean){m3_product(F, S), turned_stretch(F, m3_axpy(diagonal_of(0), 0.25, turned))};
    return true;
}
