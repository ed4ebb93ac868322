/* Clutter comes to rest in its container (Castro, Permenter, Han 2021, sec. VI-C). */
#include "math/v3.h"
#include "support/container.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000, REST = 500 };
static const double dt = 0.01, sigma = 1e-3, mu = 1, g = 9.81;

typedef struct tally {
    double iterations, slip, worst_momentum, worst_own, deepest, fastest;
    int unsolved;
} tally;

static v3 velocity_at(const sim_derived *d, int body, v3 p) {
    return v3_add(d->vel[body].lin, v3_cross(d->vel[body].ang, v3_sub(p, d->pose[body].p)));
}

/* Mean speed along the surface of the contacts that stick. */
static double mean_slip(sim_world *w) {
    const sim_derived *d = sim_world_derived(w);
    const sim_state *s = sim_world_state(w);
    double sum = 0;
    int count = 0;
    for (int k = 0; k < s->ncontact; k++) {
        const sim_contact *c = &s->contact[k];
        v3 n = c->at.normal, p = s->impulse[k];
        double normal = v3_dot(n, p), along = v3_norm(v3_axpy(p, -normal, n));
        if (normal > 0 && along < 0.999 * mu * normal) {
            v3 u = v3_sub(velocity_at(d, c->body_a, c->at.position), velocity_at(d, c->body_b, c->at.position));
            sum += v3_norm(v3_axpy(u, -v3_dot(n, u), n));
            count++;
        }
    }
    return count ? sum / count : 0;
}

static tally settle(int walls, uint64_t seed, int threads, double *q) {
    random_source r = {seed};
    sim_error error = {0};
    sim_options o = sim_options_default();
    o.step = dt;
    o.integrator = SIM_SYMPLECTIC_EULER;
    o.threads = threads;
    sim_model *m = clutter_model(&r, 40, walls, 1e12, dt);
    sim_world *w = sim_world_create(m, &o, &error);
    cr_assert(w, "%s", error.text);
    tally t = {0};
    for (int k = 0; k < STEPS; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        const sim_step_info *info = sim_world_info(w);
        t.unsolved += info->unsolved;
        t.worst_momentum = fmax(t.worst_momentum, info->certificate.momentum);
        t.worst_own = fmax(t.worst_own, info->certificate.own);
        if (k >= REST) {
            t.iterations += info->solver_iterations / (double)(STEPS - REST);
            t.slip += mean_slip(w) / (STEPS - REST);
            t.deepest = fmax(t.deepest, info->certificate.penetration);
        }
    }
    const double *v = sim_world_state(w)->v;
    for (int j = 0; j < m->nv; j++) {
        t.fastest = fmax(t.fastest, fabs(v[j]));
    }
    if (q) {
        memcpy(q, sim_world_state(w)->q, (size_t)m->nq * sizeof *q);
    }
    sim_world_free(w);
    sim_model_free(m);
    return t;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One heap tells little: between walls it takes 1.6 to 3.5 iterations a step, as chance has piled it (24 heaps), and
 * slips where a ball rolls on: the median of five. */
Test(clutter, comes_to_rest_in_few_iterations_a_step) {
    enum { HEAPS = 5 };
    for (int walls = 0; walls < 2; walls++) {
        double iterations[HEAPS], slip[HEAPS];
        for (int k = 0; k < HEAPS; k++) {
            tally t = settle(walls, (uint64_t)k + 1, 1, NULL);
            cr_log_info("walls %d: %.2f iterations, slip %g, momentum %g, own %g, deepest %g, fastest %g", walls,
                        t.iterations, t.slip, t.worst_momentum, t.worst_own, t.deepest, t.fastest);
            cr_assert_eq(t.unsolved, 0);
            cr_assert_lt(t.worst_momentum, 1e-5, "momentum %g", t.worst_momentum);
            iterations[k] = t.iterations;
            slip[k] = t.slip;
        }
        qsort(iterations, HEAPS, sizeof *iterations, ascending);
        qsort(slip, HEAPS, sizeof *slip, ascending);
        cr_assert_leq(iterations[HEAPS / 2], 3.5, "%g iterations", iterations[HEAPS / 2]);
        /* without walls balls roll on */
        cr_assert(!walls || slip[HEAPS / 2] < sigma * mu * dt * g, "slip %g m/s", slip[HEAPS / 2]);
    }
}

Test(clutter, is_the_same_to_the_bit_with_two_threads) {
    static double one[40 * 7], two[40 * 7];
    settle(1, 1, 1, one);
    settle(1, 1, 2, two);
    cr_assert_eq(memcmp(one, two, sizeof one), 0);
}

/* ---- where SubADMM's penalty begins ---- */

/* Iterations a step of an open heap at rest, each from the answer of the step before; steps without an answer. */
static double iterations_at_rest(double gravity, double *unsolved) {
    char pull[64];
    snprintf(pull, sizeof pull, "world/gravity=[0,0,%g]", -gravity);
    const char *const set[] = {pull, "bodies/walls/shapes=[]", "materials/0/friction=0.5", "world/solver=\"subadmm\"",
                               "world/integrator=\"symplectic\""};
    const sim_scene_overrides open = {.count = 5, .set = set};
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/bench/clutter.json", &open, NULL, &error);
    cr_assert(scene, "%s", error.text);
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(w, "%s", error.text);
    double sum = *unsolved = 0;
    for (int k = 0; k < 400; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        sum += k < 200 ? 0 : sim_world_info(w)->solver_total / 200.0;
        *unsolved += k < 200 ? 0 : sim_world_info(w)->unsolved;
    }
    sim_world_free(w);
    sim_scene_free(scene);
    return sum;
}

/* Six heaps: the median is 95; 99 where kappa begins at 1 or at 25, 104 at 100, 200 at 0.02.  Balls roll on in heaps
 * without walls, and one that meets a box can cost a step its answer: the median of those, too. */
Test(clutter, at_rest_takes_subadmm_few_iterations_as_its_penalty_begins_stiff_enough) {
    double each[6], unsolved[6];
    for (int k = 0; k < 6; k++) {
        each[k] = iterations_at_rest(3.0 * (k + 1), &unsolved[k]);
    }
    qsort(each, 6, sizeof *each, ascending);
    qsort(unsolved, 6, sizeof *unsolved, ascending);
    cr_assert_lt(0.5 * (each[2] + each[3]), 130, "%g, %g iterations a step", each[2], each[3]);
    cr_assert_eq(unsolved[3], 0, "%g of 200 steps in half of the heaps", unsolved[3]);
}
