/* Whole motions with every solver: lines C12 and C13 of tests/solver/consistency.c. */
#include "math/v3.h"
#include "support.h"
#include "support/contenders.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>

static const double g = 9.81;

/* C13.  A ball leaves at e times the speed with which it came into the step, but for the R_n gamma that near-rigid
 * strikes yield: R_n = sigma w / 100 for w^2 = (1 + 2 (7/2)^2) / (9 m^2) of a ball. */
Test(consistency, c13_balls_bounce_by_restitution) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++) {
            double e = k ? 0.8 : 0.3, before = 0, after = 0;
            surface s = rough(0.5);
            s.restitution = e;
            yard y = yard_begin(v3_make(0, 0, -g), s);
            yard_ground(&y);
            yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 2, v3_make(0, 0, 0.3), v3_make(0, 0, 0));
            y.option = all[i].option;
            yard_open(&y, all[i].info->name, SIM_SYMPLECTIC_EULER, 1e-3);
            while (after <= 0 && sim_world_state(y.world)->time < 0.4) {
                before = motion_of(&y, "ball").lin.z;
                yard_step(&y);
                after = motion_of(&y, "ball").lin.z;
            }
            double w = sqrt((1 + 2 * 3.5 * 3.5) / 9), came = g * 1e-3 - before;
            double lacks = all[i].info->default_law == SIM_RIGID ? 0 : 1e-5 * w * (came - e * before);
            double close = all[i].info->default_law == SIM_RIGID ? 1e-12 * -before : 1e-6;
            if (all[i].info->default_law == SIM_ELASTIC) { /* as stiff, or stiffer for the speed of the strike */
                close += lacks /= 2;
            }
            cr_expect_lt(before, -1.9, "%s is braked before it arrives", all[i].name);
            cr_expect_float_eq(after, -e * before - lacks, close, "%s: %.12g after %.12g, due %.12g", all[i].name,
                               after, before, -e * before - lacks);
            yard_end(&y);
        }
    }
}

/* A sphere thrown along the ground without spin: friction slows and turns it until at t = 2 v / (7 mu g) it rolls.  How
 * far it is off after T. */
static double thrown(const contender *who, double dt) {
    const double mu = 0.2, v = 2, T = 0.6, t = 2 * v / (7 * mu * g);
    yard y = yard_begin(v3_make(0, 0, -g), rough(mu));
    yard_ground(&y);
    yard_add(&y, "ball", SIM_SPHERE, 0.3, 0, 0, 2, v3_make(0, 0, 0.3), v3_make(v, 0, 0));
    y.option = who->option;
    y.options.contact_margin = 0.02; /* seen where the convex law lifts it to */
    yard_open(&y, who->info->name, SIM_SYMPLECTIC_EULER, dt);
    for (int k = 0; k < (int)lround(T / dt); k++) {
        yard_step(&y);
    }
    double x = place_of(&y, "ball").x;
    yard_end(&y);
    return x - (v * t - 0.5 * mu * g * t * t + 5.0 / 7 * v * (T - t));
}

Test(consistency, c12_from_sliding_to_rolling_all_solvers_come_to_the_same_path_as_the_step_goes_to_nothing) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        double before = 0;
        for (int n = 0; n < 4; n++) {
            double off = thrown(&all[i], 4e-3 / (1 << n));
            cr_expect_lt(fabs(off), 2e-3);
            cr_expect(n == 0 || fabs(before / off - 2) < 0.1, "%s: %g m after %g m at twice the step", all[i].name, off,
                      before);
            before = off;
        }
    }
}

/* A sticking contact keeps the order of the scheme: a cylinder on a spring rolls to and fro, x = x0 cos sqrt(k / (m + I
 * / lever^2)) t, with midpoint. */
static double rolling(const contender *who, double dt) {
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/papers/spring_cylinder.json", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    sim_options o = scene->options;
    o.step = dt;
    o.solver = who->info;
    o.solver_option = who->option;
    o.compliance = who->info->default_law;
    sim_world *w = sim_world_create(scene->model, &o, &error);
    cr_assert(w, "%s", error.text);
    double lever = 0.05 - 0.25 * g / 2e4, mass = 0.5 + 0.25 * 0.05 * 0.05 / (lever * lever), sum = 0;
    int steps = (int)lround(2 / dt);
    for (int k = 1; k <= steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        sum += pow(sim_world_state(w)->q[0] - 0.1 * cos(sqrt(100 / mass) * k * dt), 2);
    }
    sim_world_free(w);
    sim_scene_free(scene);
    return sqrt(sum / steps);
}

Test(consistency, c12_what_rolls_keeps_the_second_order_of_midpoint_with_every_solver) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        double order = log2(rolling(&all[i], 0.01) / rolling(&all[i], 0.005));
        cr_expect_float_eq(order, 2, 0.05, "%s: order %g", all[i].name, order);
    }
}

typedef struct glide {
    double height, due, speed; /* over the ground; what the law says */
} glide;

/* A body that cannot turn is pushed along so that it keeps its speed: how high over the ground does it slide?  Steady,
 *
 *     gamma_n = m g dt = (mu |v| - height / (dt + tau)) / (R_n (1 + mu^2 R_t / R_n))      the convex law with u_n = 0
 *
 * and the strict laws leave it on the ground, or as deep as the elastic law's spring carries it: g dt^2 / 4 pi^2. */
static glide sliding(const contender *who, double dissipation, double dt) {
    const double mu = 0.3, tau = dissipation > 0 ? dissipation : dt, w = 1 / sqrt(3);
    surface s = rough(mu);
    s.dissipation = dissipation;
    yard y = yard_begin(v3_make(0, 0, -g), s);
    yard_ground(&y);
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 0.1;
    ball.material = y.material;
    sim_body_def def = sim_body_default();
    def.name = "sled";
    def.inertia = (sim_inertia){.mass = 1, .moment = {1e9, 1e9, 1e9, 0, 0, 0}};
    def.q[2] = 0.1;
    def.v[0] = 1;
    ball.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &ball);
    y.option = who->option;
    y.options.contact_margin = 0.02;
    yard_open(&y, who->info->name, SIM_SYMPLECTIC_EULER, dt);
    sim_world_applied(y.world)[0] = mu * g;
    for (int k = 0; k < 400 + (int)(40 * dissipation / dt); k++) {
        yard_step(&y);
    }
    glide found = {.height = place_of(&y, "sled").z - 0.1, .speed = motion_of(&y, "sled").lin.x};
    double Rn = w / (4 * M_PI * M_PI), mt2 = mu * mu * 4 * M_PI * M_PI * 1e-3;
    double sag = who->info->default_law == SIM_ELASTIC ? g * dt * dt / (4 * M_PI * M_PI) : 0;
    found.due = who->cone != SIM_CONE_CONVEX ? -sag : (dt + tau) * (mu * found.speed - Rn * (1 + mt2) * g * dt);
    yard_end(&y);
    return found;
}

Test(consistency, c12_what_slides_glides_where_the_law_is_convex_ever_lower_unless_dissipation_is_fixed) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        for (int fixed = 0; fixed < 2; fixed++) {
            double tau = 0.02 * fixed, mu_v = 0.3;
            for (int n = 0; n < part_of(3); n++) {
                double dt = 4e-3 / (1 << n), limit = all[i].cone == SIM_CONE_CONVEX ? tau * mu_v : 0;
                glide found = sliding(&all[i], tau, dt);
                cr_expect_float_eq(found.speed, 1, 1e-9, "%s", all[i].name);
                cr_expect_float_eq(found.height, found.due, 1e-9, "%s, step %g: %g m high, not %g", all[i].name, dt,
                                   found.height, found.due);
                cr_expect_float_eq(found.height, limit, 2 * mu_v * dt, "%s: %g m, not %g", all[i].name, found.height,
                                   limit);
            }
        }
    }
}
