/* Contact with sleep and with actuators: the same bits for any number of threads and from a copied state. */
#include "contact/arms.h"
#include "support/share.h"
#include "support/step_info.h"

#include <criterion/criterion.h>
#include <string.h>

Test(wake, any_number_of_threads_gives_the_same_bits) {
    yard y = yard_stack("sap", 1, 1);
    sim_world *w[3];
    for (int k = 0; k < 3; k++) {
        sim_options o = *sim_world_options(y.world);
        o.threads = k + 1;
        w[k] = sim_world_create(y.model, &o, NULL);
    }
    int woken = 0;
    for (int n = 0; n < part_of(2200); n++) {
        for (int k = 0; k < 3; k++) {
            cr_assert_eq(sim_world_step(w[k], NULL), SIM_OK);
        }
        woken += sim_world_info(w[0])->woken;
        const sim_state *a = sim_world_state(w[0]);
        for (int k = 1; k < 3; k++) {
            const sim_state *b = sim_world_state(w[k]);
            cr_assert(!memcmp(a->q, b->q, (size_t)y.model->nq * 8) && !memcmp(a->v, b->v, (size_t)y.model->nv * 8));
            cr_assert(!memcmp(a->rest, b->rest, (size_t)y.model->ntree * sizeof *a->rest));
            cr_assert(step_info_equals(sim_world_info(w[0]), sim_world_info(w[k])));
        }
    }
    cr_expect(woken == YARD_STACK || is_part(), "%d", woken);
    for (int k = 0; k < 3; k++) {
        sim_world_free(w[k]);
    }
    yard_end(&y);
}

Test(actuators, give_the_same_bits_for_any_number_of_threads) {
    for (int trial = 0; trial < 2; trial++) {
        yard one = grippers(5, 20, 1e5, 1e3, trial ? "sap" : "pgs", SIM_MIDPOINT);
        sim_options o = *sim_world_options(one.world);
        o.threads = 2;
        sim_world *two = sim_world_create(one.model, &o, NULL);
        for (int k = 0; k < part_of(60); k++) {
            yard_step(&one);
            cr_assert_eq(sim_world_step(two, NULL), SIM_OK);
            cr_assert_arr_eq(sim_world_state(one.world)->v, sim_world_state(two)->v,
                             (size_t)one.model->nv * sizeof(double));
            cr_assert_arr_eq(sim_world_efforts(one.world), sim_world_efforts(two), 10 * sizeof(double));
        }
        sim_world_free(two);
        yard_end(&one);
    }
}

Test(actuators, go_on_to_the_bit_from_a_state) {
    for (int trial = 0; trial < 2; trial++) {
        random_source r = {7}, again = r;
        arm a, b;
        arm_open(&a, &r, 1, 0.5, trial ? "sap" : "pgs", SIM_MIDPOINT);
        arm_open(&b, &again, 1, 0.5, trial ? "sap" : "pgs", SIM_MIDPOINT);
        for (int k = 0; k < 40; k++) {
            yard_step(&a.y);
            yard_step(&a.y);
            cr_assert_eq(sim_world_set_state(b.y.world, sim_world_state(a.y.world), NULL), SIM_OK);
            yard_step(&a.y);
            yard_step(&b.y);
            cr_assert_arr_eq(sim_world_state(a.y.world)->v, sim_world_state(b.y.world)->v, sizeof(double[LINKS]));
            cr_assert_arr_eq(sim_world_efforts(a.y.world), sim_world_efforts(b.y.world), sizeof(double[LINKS]));
        }
        yard_end(&a.y);
        yard_end(&b.y);
    }
}
