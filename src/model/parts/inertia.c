/* Test of a rigid body's inertia.
 *
 *     m > 0,     I positive semidefinite,     Sigma = tr(I) / 2 1 - I = integral of x x' dm positive semidefinite
 *
 *     m    mass, kg;  I = integral of (|x|^2 1 - x x') dm: moment about the centre of mass, kg m^2
 *
 * The last says that no principal moment exceeds the sum of the other two.
 * Reference: Wensing, Kim, Slotine 2018, "Linear matrix inequalities for physically consistent inertial parameter
 * identification".     Cost: constant. */
#include "math/eigen.h"
#include "math/spatial.h"
#include <sim/model.h>

#include <math.h>

/* Ascending. */
static void principal_moments(sym3 a, double value[3]) {
    double m[3][3] = {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}, axes[3][3];
    eigen_symmetric(m, axes);
    for (int k = 0; k < 3; k++) {
        value[k] = m[k][k];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 2; k++) {
            if (value[k] > value[k + 1]) {
                double swap = value[k];
                value[k] = value[k + 1];
                value[k + 1] = swap;
            }
        }
    }
}

static bool is_finite_inertia(const sim_inertia *inertia) {
    const sym3 *m = &inertia->moment;
    return isfinite(inertia->mass) && v3_finite(inertia->com) && isfinite(m->xx) && isfinite(m->yy) &&
           isfinite(m->zz) && isfinite(m->xy) && isfinite(m->xz) && isfinite(m->yz);
}

sim_status sim_inertia_check(const sim_inertia *inertia, sim_error *error) {
    /* Files carry rounded numbers: a flat plate written with 4 digits may break A + B >= C in the last of them. */
    const double slack = 1e-3;
    if (!is_finite_inertia(inertia)) {
        return sim_fail(error, SIM_BAD_INPUT, "the inertia holds a number that is not finite");
    }
    if (!(inertia->mass > 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "the mass must be positive, not %g kg", inertia->mass);
    }
    double p[3];
    principal_moments(inertia->moment, p);
    if (p[0] < -1e-14 * fabs(p[2])) {
        return sim_fail(error, SIM_BAD_INPUT, "the inertia has a negative principal moment: (%.4g, %.4g, %.4g) kg m^2",
                        p[0], p[1], p[2]);
    }
    if (p[0] + p[1] < p[2] * (1 - slack)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "principal moments (%.4g, %.4g, %.4g) kg m^2 violate A + B >= C by %.3g %%: no mass "
                        "distribution has them",
                        p[0], p[1], p[2], 100 * (1 - (p[0] + p[1]) / p[2]));
    }
    return SIM_OK;
}

sim_inertia sim_inertia_add(const sim_inertia *a, const sim_inertia *b) {
    double mass = a->mass + b->mass;
    if (!(mass > 0)) {
        return *a;
    }
    v3 com = v3_scale(1 / mass, v3_add(v3_scale(a->mass, a->com), v3_scale(b->mass, b->com)));
    sym3 moment = sym3_add(sym3_parallel_axis(a->moment, a->mass, v3_sub(a->com, com)),
                           sym3_parallel_axis(b->moment, b->mass, v3_sub(b->com, com)));
    return (sim_inertia){mass, com, moment};
}

sim_inertia sim_inertia_placed(const sim_inertia *inertia, const sim_pose *X) {
    return (sim_inertia){inertia->mass, pose_point(*X, inertia->com), sym3_rotated(X->R, inertia->moment)};
}
