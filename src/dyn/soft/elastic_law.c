/* Stable Neo-Hookean and co-rotated linear elasticity, in principal stretches.
 *
 *     Neo-Hookean    Psi = mu/2 (I - 3) + la/2 (J - a)^2 - mu/2 ln(I + 1),     I = sum s_i^2,  J = s1 s2 s3
 *                    a = 1 + mu/la - mu/(4 la),   mu = 4/3 mu_L,   la = la_L + 5/6 mu_L
 *     co-rotated     Psi = mu_L sum (s_i - 1)^2 + la_L/2 (sum s_i - 3)^2
 *
 *     eigenvalues of the Hessian off the stretches, for axes i, j and the third axis k:
 *     twist_k = (Psi_i + Psi_j)/(s_i + s_j),    flip_k = (Psi_i - Psi_j)/(s_i - s_j),    Psi_i = dPsi/ds_i
 *
 *     s_i    principal stretches, s_3 < 0 in an inverted element;  mu_L, la_L  Lame's constants, Pa
 *
 * Reference: B. Smith, F. de Goes, T. Kim, Stable Neo-Hookean flesh simulation, 2018, eqs. 14-16 and section 3.4;
 * B. Smith, F. de Goes, T. Kim, Analytic eigensystems for isotropic distortion energies, 2019, section 5.
 * Different: the energy at rest is subtracted; the quotients are divided out where the law allows.  The co-rotated
 * twist is bounded where s_i + s_j vanishes, since the energy has a kink there. */
#include "dyn/soft/elastic_law.h"

#include <math.h>
#include <string.h>

static const double MIN_SUM_OF_STRETCHES = 1e-6; /* of the co-rotated twist */

/* Energy density of the Neo-Hookean law, its rest value included. */
static double neo_hookean_energy(const elastic_material *m, const double s[3]) {
    double I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], over = s[0] * s[1] * s[2] - m->slack;
    return 0.5 * m->shear * (I - 3) + 0.5 * m->bulky * over * over - 0.5 * m->shear * log(I + 1);
}

elastic_material make_elastic(elastic_law law, double modulus, double poisson, double dissipation) {
    elastic_material m = {
        .law = law,
        .mu = modulus / (2 * (1 + poisson)),
        .lambda = modulus * poisson / ((1 + poisson) * (1 - 2 * poisson)),
        .dissipation = dissipation,
    };
    m.shear = m.mu;
    m.bulky = m.lambda;
    if (law == ELASTIC_NEO_HOOKEAN) {
        m.shear = 4.0 / 3 * m.mu;
        m.bulky = m.lambda + 5.0 / 6 * m.mu;
        m.slack = 1 + 0.75 * m.shear / m.bulky;
        m.rest = neo_hookean_energy(&m, (const double[3]){1, 1, 1});
    }
    return m;
}

static stretch_response eval_neo_hookean(const elastic_material *m, const double s[3]) {
    stretch_response out = {.energy = neo_hookean_energy(m, s) - m->rest};
    double I1 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 1;
    double shear = m->shear * (1 - 1 / I1), pressure = m->bulky * (s[0] * s[1] * s[2] - m->slack);
    const double face[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]}; /* dJ/ds */
    for (int i = 0; i < 3; i++) {
        out.slope[i] = shear * s[i] + pressure * face[i];
        out.twist[i] = shear + pressure * s[i];
        out.flip[i] = shear - pressure * s[i];
        for (int j = 0; j < 3; j++) {
            double c = 2 * m->shear * s[i] * s[j] / (I1 * I1) + m->bulky * face[i] * face[j];
            out.curvature[i][j] = c + (i == j ? shear : pressure * s[3 - i - j]);
        }
    }
    return out;
}

static stretch_response eval_corotated(const elastic_material *m, const double s[3]) {
    stretch_response out = {0};
    double trace = s[0] + s[1] + s[2] - 3;
    out.energy = 0.5 * m->bulky * trace * trace;
    for (int i = 0; i < 3; i++) {
        out.energy += m->shear * (s[i] - 1) * (s[i] - 1);
        out.slope[i] = 2 * m->shear * (s[i] - 1) + m->bulky * trace;
        double sum = fmax(s[(i + 1) % 3] + s[(i + 2) % 3], MIN_SUM_OF_STRETCHES);
        out.twist[i] = 2 * m->shear + (2 * m->bulky * trace - 4 * m->shear) / sum;
        out.flip[i] = 2 * m->shear;
        for (int j = 0; j < 3; j++) {
            out.curvature[i][j] = m->bulky + (i == j ? 2 * m->shear : 0);
        }
    }
    return out;
}

stretch_response eval_stretches(const elastic_material *m, const double s[3]) {
    return m->law == ELASTIC_NEO_HOOKEAN ? eval_neo_hookean(m, s) : eval_corotated(m, s);
}
