/* Twelve links between floor and wall (Mylapilli and Jain 2016, section 6.2): every solver comes to the end of the 20
 * s, and by the same way. */
#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20000 };

typedef struct run {
    double *height, *speed;   /* [STEPS + 1] of the last ball */
    double rise;              /* greatest of the energy over its least so far */
    double start, after, end; /* energy: at first, after the first second, at last */
    int unsolved, touching, most;
} run;

static double energy_of(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

static run swing(const char *solver) {
    sim_error error = {0};
    run r = {calloc(STEPS + 1, sizeof(double)), calloc(STEPS + 1, sizeof(double)), 0, 0, 0, 0, 0, 0, 0};
    sim_scene *scene = sim_scene_load("scenes/papers/pendulum_12.json", NULL, NULL, &error);
    cr_assert(scene && r.height && r.speed, "%s", error.text);
    scene->options.solver = sim_solver_find(solver);
    scene->options.solver_option = NULL;
    scene->options.compliance = SIM_RIGID;
    sim_world *w = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(w, "%s", error.text);
    int last = sim_model_find_body(scene->model, "link11_ball");
    double least = r.start = energy_of(w);
    for (int k = 1; k <= STEPS; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s: %s", solver, error.text);
        const sim_step_info *info = sim_world_info(w);
        const sim_pose *at = &sim_world_derived(w)->pose[last];
        sim_motion v = sim_world_derived(w)->vel[last];
        double y = -at->R.z.y, z = -at->R.z.z, energy = energy_of(w); /* a metre down the rod is the ball */
        r.height[k] = at->p.z + z;
        r.speed[k] = v.lin.z + v.ang.x * y;
        r.unsolved += info->unsolved;
        r.touching += info->islands > 0;
        r.most = info->contacts > r.most ? info->contacts : r.most;
        least = fmin(least, energy);
        r.rise = fmax(r.rise, energy - least);
        r.after = k == 1000 ? energy : r.after;
    }
    r.end = energy_of(w);
    sim_world_free(w);
    sim_scene_free(scene);
    return r;
}

static void drop(run *r) {
    free(r->height);
    free(r->speed);
}

static double apart(const double *a, const double *b, int first, int end) {
    double most = 0;
    for (int k = first; k <= end; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static void check(const char *solver, const run *r) {
    cr_expect_leq(100 * r->unsolved, r->touching, "%s: %d of %d steps unsolved", solver, r->unsolved, r->touching);
    cr_expect_lt(r->rise, 0.01, "%s: energy rose by %g J", solver, r->rise);
    cr_expect_lt(r->after, r->start - 20, "%s: %g J after a second", solver, r->after);
    cr_expect_lt(r->end, r->after - 200, "%s: %g J at the end", solver, r->end);
    cr_expect_geq(r->most, 2);
}

/* The first strike is at 0.157 s. */
Test(pendulum, five_solvers_go_the_same_way_and_no_strike_adds_energy) {
    static const char *const solver[] = {"mlcp-pivot", "mlcp-pfb-rlm", "mlcp-pfb-plm", "mncp-rlm", "mncp-plm"};
    run first = swing(solver[0]);
    check(solver[0], &first);
    cr_expect_eq(first.unsolved, 0);
    for (int k = 1; k < 5; k++) {
        run r = swing(solver[k]);
        check(solver[k], &r);
        int most =
            strncmp(solver[k], "mlcp-", 5) == 0 ? STEPS / 1000 : 0; /* whose searches end in minima now and then */
        cr_expect_leq(r.unsolved, most, "%s: %d steps unsolved", solver[k], r.unsolved);
        double second = apart(first.height, r.height, 1, 1000), all = apart(first.height, r.height, 1, STEPS),
               speed = apart(first.speed, r.speed, 1, 1000);
        cr_log_warn("%s: heights apart by %.1e m in a second, %.1e m in 20; speeds by %.1e m/s in a second", solver[k],
                    second, all, speed);
        cr_expect_lt(second, 1e-5, "%s: %g m", solver[k], second);
        cr_expect_lt(speed, 1e-4, "%s: %g m/s", solver[k], speed);
        cr_expect_lt(all, 0.1, "%s: %g m", solver[k], all);
        drop(&r);
    }
    drop(&first);
}

Test(pendulum, every_solver_of_rigid_contact_comes_to_the_end) {
    static const char *const five[] = {"mlcp-", "mncp-"};
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        int done = strncmp(info->name, five[0], 5) == 0 || strncmp(info->name, five[1], 5) == 0;
        if (info->default_law != SIM_NEAR_RIGID && !done) {
            run r = swing(info->name);
            check(info->name, &r);
            drop(&r);
        }
    }
}
