/* The implicit step of Euler's equations: an angular acceleration that is called found solves them, however fast the body
 * spins, however slender it is and however poor the guess. */
#include "world/integrator/euler_step.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>

/* A body of moments up to a thousand to one whose spin may turn it many times a step; a third with armature. */
static euler random_step(random_source *r, bool armature, v3 *alpha) {
    v3 m = {pow(10, random_uniform(r, -3, 0)), pow(10, random_uniform(r, -3, 0)), pow(10, random_uniform(r, -3, 0))};
    double spin = pow(10, random_uniform(r, -1, 5));
    euler e = {.J = sym3_rotated(random_rotation(r), (sym3){m.y + m.z, m.x + m.z, m.x + m.y, 0, 0, 0}),
               .h = pow(10, random_uniform(r, -4, -0.5)),
               .s = 1};
    if (armature) {
        e.D = (sym3){random_uniform(r, 0, 1), random_uniform(r, 0, 1), random_uniform(r, 0, 1), 0, 0, 0};
    }
    e.w0 = v3_scale(spin, random_unit(r));
    *alpha = v3_scale(spin / e.h * pow(10, random_uniform(r, -3, 0.5)), random_unit(r));
    v3 w = v3_axpy(e.w0, e.h * random_uniform(r, 0, 1), *alpha);
    e.b = v3_add(inertia_times(&e, *alpha), gyroscopic_torque(&e.J, w));
    return e;
}

/* |r| over the sum of its terms. */
static double relative_residual(const euler *e, v3 a) {
    v3 w = v3_axpy(e->w0, e->h, a), turn = gyroscopic_torque(&e->J, w), push = inertia_times(e, a);
    double size = v3_norm(push) + v3_norm(w) * v3_norm(sym3_times(e->J, w)) + v3_norm(e->b);
    return v3_norm(v3_sub(v3_add(push, turn), e->b)) / size;
}

Test(euler_step, what_is_found_solves_the_equations) {
    const int TRIALS = part_of(1000000);
    random_source r = {7};
    int found = 0, wrong = 0;
    double worst = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        v3 a;
        euler e = random_step(&r, trial % 3 == 0, &a);
        a = v3_scale(random_uniform(&r, 0, 1), a);
        if (solve_euler(&e, &a)) {
            double residual = relative_residual(&e, a);
            worst = fmax(worst, residual);
            wrong += residual > 1e-9;
            found++;
        }
    }
    cr_expect_geq(found, 0.999 * TRIALS, "%d", found);
    cr_expect_eq(wrong, 0, "%d are wrong, %g at worst", wrong, worst);
}
