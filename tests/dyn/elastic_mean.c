/* Forces of elastic tetrahedra over a step: their means by the midpoint rule, viscosity of a turn. */
#include "dyn/soft/elastic_tet.h"
#include "support/elastic_places.h"

#include <criterion/criterion.h>
#include <sim/sim.h>

/* Over a step of any size, turn and stretch, mean forces do the work that the energy loses.  They have no sum, and no
 * moment about the corners in the middle.  None act over a turn without stress; over no way they are those of the place. */
Test(elastic_tet, mean_forces_keep_energy_and_moment) {
    random_source r = {31};
    elastic_tet tet = make_elastic_tet(CORNER);
    for (int trial = 0; trial < 200; trial++) {
        elastic_material m = make_elastic(trial % ELASTIC_LAWS, 1, trial % 3 ? 0.3 : 0.49, 0);
        v3 from[4], to[4], middle[4], f[4], own[4], sum = {0, 0, 0}, moment = {0, 0, 0};
        bool turns = trial % 4 == 0;
        random_place(&r, turns ? 0 : 0.2, from);
        random_place(&r, turns ? 0 : 0.2, to);
        double work = 0, before = eval_elastic_tet(&m, &tet, from, own), after = eval_elastic_tet(&m, &tet, to, NULL);
        for (int n = 0; n < 4; n++) {
            middle[n] = v3_scale(0.5, v3_add(from[n], to[n]));
        }
        eval_elastic_matrices(&m, &tet, middle, &(elastic_matrices){.force = f, .from = from});
        for (int n = 0; n < 4; n++) {
            work += v3_dot(f[n], v3_sub(to[n], from[n]));
            sum = v3_add(sum, f[n]);
            moment = v3_add(moment, v3_cross(middle[n], f[n]));
            cr_expect(!turns || v3_norm(f[n]) < 1e-12, "%s: %g N over a turn", name_of(m.law), v3_norm(f[n]));
        }
        cr_expect_float_eq(work, before - after, 1e-12, "%s: %g J for %g", name_of(m.law), work, before - after);
        cr_expect(v3_norm(sum) < 1e-12 && v3_norm(moment) < 1e-12, "%s: sum %g N, moment %g N m", name_of(m.law),
                  v3_norm(sum), v3_norm(moment));
        eval_elastic_matrices(&m, &tet, from, &(elastic_matrices){.force = f, .from = from});
        for (int n = 0; n < 4; n++) {
            cr_expect(v3_norm(v3_sub(f[n], own[n])) < 1e-12, "%s: differs at rest", name_of(m.law));
        }
    }
}

/* Over a step: none in a turn by 0.3 rad of a stretched tetrahedron. */
Test(elastic_tet, viscosity_of_a_step_is_none_in_a_turn) {
    random_source r = {9};
    elastic_tet tet = make_elastic_tet(CORNER);
    elastic_material m = make_elastic(ELASTIC_NEO_HOOKEAN, 1, 0.4, 1);
    for (int trial = 0; trial < 20; trial++) {
        v3 from[4], to[4];
        double C[12][12], worst = 0;
        m3 R = quat_matrix(quat_exp(v3_scale(0.3, random_unit(&r))));
        random_place(&r, 0.3, from);
        for (int n = 0; n < 4; n++) {
            to[n] = v3_add(m3_times(R, from[n]), (v3){1, 2, 3});
        }
        eval_elastic_matrices(&m, &tet, to, &(elastic_matrices){.viscosity = C, .start = from});
        for (int i = 0; i < 12; i++) {
            double f = 0;
            for (int j = 0; j < 12; j++) {
                v3 way = v3_sub(to[j / 3], from[j / 3]);
                f += C[i][j] * (j % 3 == 0 ? way.x : j % 3 == 1 ? way.y : way.z);
            }
            worst = fmax(worst, fabs(f));
        }
        cr_expect_lt(worst, 1e-12, "a turn gives %g N", worst);
    }
}
