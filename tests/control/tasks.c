/* Whole tasks of robots: a trot of ten seconds on the flat and over steps, a nut turned onto its bolt, balls poured from
 * bottle to bottle; a pot set on a pile of dishes, a jar opened; robots that stand, and fall from half a metre. */
#include "control/dishes.h"
#include "control/jar.h"
#include "control/nut.h"
#include "control/pour.h"
#include "control/trot.h"
#include "support/share.h"

/* The cost of transport: work over weight and way. */
static double cost_of(const char *path, const char *solver) {
    walk w = begin_walk(path, solver, 0.002);
    const sim_model *m = w.scene->model;
    go_on(&w, 5000);
    double mass = 0, way = sim_world_derived(w.world)->pose[w.trunk].p.x;
    for (int i = 1; i < m->nbody; i++) {
        mass += m->body[i].tree == m->body[w.trunk].tree ? m->inertia[i].mass : 0;
    }
    cr_expect_gt(way, 2.7, "%s, %s: %g m, and the steps end at 2.7", path, solver, way);
    cr_expect_gt(w.upright, 0.866, "%s, %s: it leans by a cosine of %g", path, solver, w.upright);
    double cost = w.work / (9.81 * mass * way);
    end_walk(&w);
    return cost;
}

static void expect_same_cost(const char *path) {
    double ratio = cost_of(path, "sap") / cost_of(path, "auto");
    cr_expect(ratio > 0.8 && ratio < 1.2, "%s: %g", path, ratio);
}

Test(tasks, trot_on_the_flat_at_the_same_cost_by_two_solvers) { expect_same_cost("scenes/robots/a1_trots.json"); }

Test(tasks, trot_over_steps_at_the_same_cost_by_two_solvers) {
    expect_same_cost("scenes/robots/a1_trots_over_steps.json");
}

/* From where the faces overlap by half a pitch on. */
static void expect_thread_to_lead(const char *solver, int steps) {
    const double TOP = 0.0525, HALF_NUT = 0.012; /* m: of the scene */
    const int ALL = 1080;                        /* steps of the task */
    assembly a = begin_assembly(solver);
    double worst = 0;
    for (int n = 0; n < steps; n++) {
        step_assembly(&a);
        worst = a.height - HALF_NUT < TOP - NUT_PITCH / 2 ? fmax(worst, fabs(a.slack)) : worst;
    }
    cr_expect(steps < ALL || (a.turns < -3.7 && a.height < TOP), "%s: %g turns, at %g m", solver, a.turns, a.height);
    cr_expect_gt(worst, 0, "%s: still above the thread, at %g m", solver, a.height);
    cr_expect_lt(worst, NUT_PLAY, "%s: off by %g m", solver, worst);
    cr_expect_lt(a.overlap, 0.00005, "%s: overlap %g m", solver, a.overlap);
    end_assembly(&a);
}

Test(tasks, nut_follows_its_thread_by_canal, LONG_RUN) { expect_thread_to_lead("canal", 1080); }

Test(tasks, nut_follows_its_thread_by_the_default, LONG_RUN) { expect_thread_to_lead("auto", 1080); }

Test(tasks, nut_begins_to_follow_its_thread) { expect_thread_to_lead("auto", 400); }

/* The strict form of an inner problem may not have them all: in two steps it got nowhere in 24 of them. */
Test(tasks, nut_follows_its_thread_by_canal_of_24_newton_steps, LONG_RUN) {
    expect_thread_to_lead("canal:max_iterations=24", 1080);
}

Test(tasks, nut_follows_its_thread_by_subadmm_of_40_passes, LONG_RUN) {
    expect_thread_to_lead("subadmm:max_iterations=40", 1080);
}

/* Both bottles stay in the hands, above the table at -0.015 m, and the first one stands upright in the end. */
static void expect_balls_in_the_second_bottle(const char *solver, int layers) {
    pouring p = begin_pouring(solver, layers);
    pour_on(&p, 1440);
    const pose *X = sim_world_derived(p.world)->pose;
    int balls = 9 * layers, poured = balls_within(&p, p.empty);
    cr_expect_geq(poured, 0.95 * balls, "%s: %d of %d", solver, poured, balls);
    cr_expect_gt(X[p.full].p.z, 0.05, "%s: %g", solver, X[p.full].p.z);
    cr_expect_gt(X[p.empty].p.z, 0, "%s: %g", solver, X[p.empty].p.z);
    cr_expect_gt(X[p.full].R.z.z, 0.95, "%s: %g", solver, X[p.full].R.z.z);
    end_pouring(&p);
}

Test(tasks, balls_end_in_the_second_bottle_by_the_default) { expect_balls_in_the_second_bottle("auto", 3); }

Test(tasks, balls_end_in_the_second_bottle_by_canal, LONG_RUN) { expect_balls_in_the_second_bottle("canal", 3); }

Test(tasks, balls_end_in_the_second_bottle_by_subadmm, LONG_RUN) { expect_balls_in_the_second_bottle("subadmm", 3); }

/* Each dish stands in the one below within 10 mm and a degree, and moves by less than a millimetre in the time after the
 * hand let go: 5 s in long runs, else 1 s. */
static void expect_pile_to_stand(const char *solver, const char *law, bool solves) {
    piling p = begin_piling(solver, law);
    pile_on(&p, 8);
    cr_expect_gt(p.held, 5, "%s: the hand last touches at %g s", solver, p.held);
    cr_expect(!solves || p.unsolved == 0, "%s: %d steps unsolved", solver, p.unsolved);
    const double after = span_of(5, 1);
    pile_on(&p, p.held + after - sim_world_state(p.world)->time);
    cr_expect_geq(sim_world_state(p.world)->time - p.held, after - 0.01, "%s: it touches at %g s", solver, p.held);
    cr_expect_lt(p.moved, 1e-3, "%s: by %g m", solver, p.moved);
    const pose *X = sim_world_derived(p.world)->pose;
    static const double heights[DISHES] = {0.003, 0.01346, 0.06425, 0.08297}; /* m: at rest, from the scene */
    for (int i = 0; i < DISHES; i++) {
        pose at = X[p.dish[i]];
        double side = hypot(at.p.x - X[p.dish[0]].p.x, at.p.y - X[p.dish[0]].p.y);
        cr_expect_gt(at.R.z.z, cos(0.0175), "%s, dish %d leans by a cosine of %g", solver, i, at.R.z.z);
        cr_expect_lt(side, 0.01, "%s, dish %d: %g m", solver, i, side);
        cr_expect_float_eq(at.p.z, heights[i], 1e-3, "%s, dish %d at %g m", solver, i, at.p.z);
    }
    end_piling(&p);
}

Test(tasks, dishes_stand_after_the_hand_let_go_by_the_default) { expect_pile_to_stand("auto", "elastic", true); }

/* Their forces are not unique where all is rigid: chance decides which of 0 to 7 of 1,920 steps stand still at 1e-6. */
Test(tasks, rigid_dishes_stand_after_the_hand_let_go_by_auto, LONG_RUN) {
    expect_pile_to_stand("auto", "rigid", false);
}

Test(tasks, dishes_stand_after_the_hand_let_go_by_canal, LONG_RUN) { expect_pile_to_stand("canal", "rigid", false); }

Test(tasks, dishes_stand_after_the_hand_let_go_by_subadmm, LONG_RUN) {
    expect_pile_to_stand("subadmm", "rigid", false);
}

/* All marbles end in the bowl, and the jar stands upright within 10 mm of its place, its lid on. */
static void expect_jar_emptied(const char *scene) {
    opening o = begin_opening(scene);
    cr_assert_eq(marbles_within(&o, o.jar, 0.034, JAR_HEIGHT), MARBLES);
    open_on(&o, 3400);
    pose jar = pose_in(&o, o.jar);
    v3 lid = pose_point(pose_inverse(jar), pose_in(&o, o.lid).p);
    cr_expect_eq(marbles_within(&o, o.bowl, BOWL_RADIUS, BOWL_HEIGHT), MARBLES);
    cr_expect_lt(v3_norm(v3_sub(jar.p, o.place)), 0.01, "%g %g %g", jar.p.x, jar.p.y, jar.p.z);
    cr_expect_gt(jar.R.z.z, 0.999, "%g", jar.R.z.z);
    /* its plug has 10 mm of play where it is narrow, and the lid is on the rim */
    cr_expect_lt(hypot(lid.x, lid.y), 0.01, "%g %g", lid.x, lid.y);
    cr_expect_float_eq(lid.z, JAR_HEIGHT, 0.001, "%g", lid.z);
    end_opening(&o);
}

/* The hooked finger raises the lid by 0.104 m in 4.8 s and no contact holds it longer; all marbles stay inside. */
Test(tasks, hand_takes_the_lid_off_the_jar) {
    opening o = begin_opening("iiwas_open_jar");
    open_on(&o, 1040);
    v3 lid = pose_point(pose_inverse(pose_in(&o, o.jar)), pose_in(&o, o.lid).p);
    cr_expect_gt(lid.z, JAR_HEIGHT + 0.05, "%g", lid.z);
    cr_expect_eq(marbles_within(&o, o.jar, 0.034, JAR_HEIGHT), MARBLES);
    end_opening(&o);
}

Test(tasks, marbles_end_in_the_bowl_and_the_lid_on_the_jar, LONG_RUN) { expect_jar_emptied("iiwas_open_jar"); }

Test(tasks, lid_is_held_by_a_pressure_field, LONG_RUN) { expect_jar_emptied("iiwas_open_jar_softly"); }

/* Seconds of a scene, each step solved, in contact half the time. */
static void expect_solved(sim_scene *scene, const char *name, double seconds) {
    sim_error error = {0};
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world, "%s", error.text);
    int unsolved = 0, touched = 0, steps = (int)(seconds / scene->options.step + 0.5);
    for (int n = 0; n < steps; n++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        const sim_step_info *info = sim_world_info(world);
        unsolved += info->nonconverged > 0 || info->unsolved > 0;
        touched += sim_world_state(world)->ncontact > 0;
    }
    cr_expect_eq(unsolved, 0, "%s: %d of %d steps", name, unsolved, steps);
    cr_expect_gt(touched, steps / 2, "%s touches in %d of %d steps", name, touched, steps);
    sim_world_free(world);
}

/* Its controllers hold the quadruped for ten seconds, and catch its fall from half a metre. */
static void expect_quadruped_held(const char *solver) {
    for (int falls = 0; falls < 2; falls++) {
        char set[2][80];
        const char *list[] = {set[0], set[1]};
        snprintf(set[0], sizeof set[0], "world/solver=%s", solver);
        snprintf(set[1], sizeof set[1], "instances/dog_/pose/position=[0,0,%s]", falls ? "0.5" : "0");
        sim_scene_overrides overrides = {.count = 2, .set = list};
        sim_error error = {0};
        sim_scene *scene = sim_scene_load("scenes/robots/a1_stands.json", &overrides, NULL, &error);
        cr_assert(scene, "%s", error.text);
        expect_solved(scene, solver, 10);
        sim_scene_free(scene);
    }
}

Test(tasks, quadruped_stands_and_lands_by_the_default) { expect_quadruped_held("auto"); }

Test(tasks, quadruped_stands_and_lands_by_acn) { expect_quadruped_held("acn"); }

Test(tasks, quadruped_stands_and_lands_by_incp) { expect_quadruped_held("incp"); }

Test(tasks, quadruped_stands_and_lands_by_nsn) { expect_quadruped_held("nsn"); }

Test(tasks, quadruped_stands_and_lands_by_subadmm) { expect_quadruped_held("subadmm"); }

Test(tasks, quadruped_stands_and_lands_by_sap) { expect_quadruped_held("sap"); }

Test(tasks, quadruped_stands_and_lands_by_canal) { expect_quadruped_held("canal"); }

/* Every robot let loose, its joints held by its controllers. */
Test(tasks, robots_fall_from_half_a_metre_without_an_unsolved_step) {
    static const char *const names[] = {"a1", "allegro", "g1_arms", "iiwa14", "panda"};
    for (int k = 0; k < 5; k++) {
        char text[500];
        int length =
            snprintf(text, sizeof text,
                     "{\"sim\": 1, \"world\": {\"step\": 0.002}, \"materials\": [{\"name\": \"floor\", \"friction\": "
                     "0.8}], \"bodies\": [{\"name\": \"ground\", \"shapes\": [{\"type\": \"half_space\", \"material\": "
                     "\"floor\"}]}], \"instances\": [{\"file\": \"%s.json\", \"prefix\": \"r_\", \"joint\": \"free\", "
                     "\"pose\": {\"position\": [0, 0, 0.5]}}]}",
                     names[k]);
        sim_error error = {0};
        sim_scene *scene = sim_scene_parse(text, (size_t)length, "scenes/robots/fall.json", NULL, NULL, &error);
        cr_assert(scene, "%s", error.text);
        expect_solved(scene, names[k], 2);
        sim_scene_free(scene);
    }
}
