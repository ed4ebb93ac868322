/* Sensors against the dynamics that they stand for. */
#include "math/spatial.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setup {
    sim_scene *scene;
    sim_world *world;
} setup;

/* A scene from a text with ' in place of ". */
static setup begin(const char *text, const char *integrator) {
    char json[8192];
    char choice[64] = "world/integrator=";
    const char *set[] = {strcat(choice, integrator)};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    sim_error error = {0};
    snprintf(json, sizeof json, "%s", text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    setup s = {.scene = sim_scene_parse(json, strlen(json), "sensors", &overrides, NULL, &error)};
    cr_assert_not_null(s.scene, "%s", error.text);
    s.world = sim_world_create(s.scene->model, &s.scene->options, &error);
    cr_assert_not_null(s.world, "%s", error.text);
    return s;
}

static void end(setup s) {
    sim_world_free(s.world);
    sim_scene_free(s.scene);
}

static void run(setup s, int steps) {
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(s.world, NULL), SIM_OK);
    }
}

/* The values of a sensor. */
static const double *reading(setup s, const char *name) {
    int k = sim_model_find_sensor(s.scene->model, name);
    cr_assert(k >= 0, "%s", name);
    return sim_world_sensors(s.world) + s.scene->model->sensor[k].first;
}

static void reads(setup s, const char *name, int count, const double *expected, double tolerance) {
    const double *found = reading(s, name);
    for (int k = 0; k < count; k++) {
        cr_expect_float_eq(found[k], expected[k], tolerance, "%s[%d] = %.15g, not %.15g", name, k, found[k],
                           expected[k]);
    }
}

#define INERTIA(m)                                                                                                     \
    "'inertia': {'mass': " m ", 'com': [0.03, -0.02, 0.05], 'matrix': [0.05, 0.06, 0.04, 0.01, -0.005, 0.002]}"
#define BASE                                                                                                           \
    "{'name': 'base', 'pose': {'position': [0.3, -0.2, 0.5], 'rpy_deg': [30, 20, 10]}, " INERTIA(                      \
        "2") ", 'sites': "                                                                                             \
             "[{'name': 'foot', 'pose': {'position': [0.1, 0.2, -0.1], 'rpy_deg': [40, 0, 70]}}]}"
#define ARM                                                                                                            \
    "{'name': 'a', 'parent': 'base', 'joint': {'type': 'universal', 'axis': [0, 1, 0], 'axis2': [1, 0, 0], "           \
    "'damping': "                                                                                                      \
    "0.1}, 'pose': {'position': [0, 0, 0.3]}, 'q': [0.4, -0.3], 'v': [2, -3], " INERTIA(                               \
        "1") "}, "                                                                                                     \
             "{'name': 'b', 'parent': 'a', 'joint': {'type': 'hinge', 'axis': [1, 2, 3], 'stiffness': 2}, 'pose': "    \
             "{'position': "                                                                                           \
             "[0.2, 0, 0.3]}, 'v': 4, " INERTIA(                                                                       \
                 "0.7") "}, "                                                                                          \
                        "{'name': 'c', 'parent': 'b', 'joint': {'type': 'cylindrical', 'axis': [0, 1, 1]}, 'pose': "   \
                        "{'position': [0, 0.3, "                                                                       \
                        "0]}, 'v': [-2, 1], " INERTIA(                                                                 \
                            "0.5") ", 'sites': [{'name': 'tip', 'pose': {'position': [0, 0.1, 0.2], 'rpy_deg': "       \
                                   "[10, 50, -20]}}]}"
#define LOAD "'loads': [{'site': 'tip', 'force': [3, -1, 2], 'torque': [0.1, 0.2, -0.3]}]"

static const char *const schemes[] = {"midpoint", "symplectic", "implicit", "moreau"};

/* Where a step of joints with angles and distances alone takes its forces. */
static void force_point(const sim_model *m, int scheme, double dt, const double *q0, const double *v0, const double *v1,
                        double *q, double *v) {
    static const double place[] = {0.5, 0, 1, 0.5}, part[] = {0.5, 0, 1, 0};
    for (int j = 0; j < m->nv; j++) {
        v[j] = v0[j] + part[scheme] * (v1[j] - v0[j]);
    }
    sim_advance(m, sim_all(m), q0, v, place[scheme] * dt, q);
}

enum { MOST = 16 };

/* Momentum about the world's origin, h along the motion. */
static void momentum_at(sim_derived *d, const double *q, const double *v, const double *a, double h, double p[6]) {
    double qh[MOST], vh[MOST];
    sim_range all = sim_all(d->model);
    sim_advance(d->model, all, q, v, h, qh);
    for (int j = 0; j < d->model->nv; j++) {
        vh[j] = v[j] + h * a[j];
    }
    sim_kinematics(d, all, qh);
    sim_velocities(d, all, vh);
    sim_force f = sim_momentum(d, all);
    memcpy(p, (double[]){f.ang.x, f.ang.y, f.ang.z, f.lin.x, f.lin.y, f.lin.z}, 6 * sizeof *p);
}

static sim_v3 cross(sim_v3 a, sim_v3 b) {
    return (sim_v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static sim_v3 add(sim_v3 a, double s, sim_v3 b) { return (sim_v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static sim_v3 turned(sim_m3 R, sim_v3 a) {
    return add(add((sim_v3){R.x.x * a.x, R.x.y * a.x, R.x.z * a.x}, a.y, R.y), a.z, R.z);
}
static sim_v3 vector(const double *a) { return (sim_v3){a[0], a[1], a[2]}; }

Test(sensors, of_force_and_torque_at_a_base_read_weight_and_the_rate_of_momentum) {
    for (int k = 0; k < 4; k++) {
        setup s = begin("{'sim': 1, 'world': {'step': 0.002, 'tolerance': 1e-14}, 'bodies': [" BASE ", " ARM "], " LOAD
                        ", 'sensors': [{'name': 'f', 'type': 'force', 'site': 'foot'}, {'name': 't', 'type': 'torque', "
                        "'site': 'foot'}]}",
                        schemes[k]);
        const sim_model *m = s.scene->model;
        sim_derived *d = sim_derived_create(m, NULL);
        double q0[MOST], v0[MOST], q[MOST], v[MOST], a[MOST], p[4][6], rate[6];
        for (int i = 0; i < 50; i++) {
            const sim_state *now = sim_world_state(s.world);
            memcpy(q0, now->q, (size_t)m->nq * sizeof *q0);
            memcpy(v0, now->v, (size_t)m->nv * sizeof *v0);
            run(s, 1);
            now = sim_world_state(s.world);
            for (int j = 0; j < m->nv; j++) {
                a[j] = (now->v[j] - v0[j]) / 0.002;
            }
            force_point(m, k, 0.002, q0, v0, now->v, q, v);
            /* d(momentum)/dt by differences, of fourth order */
            const double h[] = {1e-3, -1e-3, 5e-4, -5e-4};
            for (int n = 0; n < 4; n++) {
                momentum_at(d, q, v, a, h[n], p[n]);
            }
            for (int n = 0; n < 6; n++) {
                rate[n] = (4 * (p[2][n] - p[3][n]) / 1e-3 - (p[0][n] - p[1][n]) / 2e-3) / 3;
            }
            /* less the forces of gravity and the load */
            sim_kinematics(d, sim_all(m), q);
            sim_v3 moment = vector(rate), lin = vector(rate + 3);
            for (int b = 1; b < m->nbody; b++) {
                sim_v3 com = add(d->pose[b].p, 1, turned(d->pose[b].R, m->body[b].inertia.com));
                sim_v3 weight = {0, 0, -9.81 * m->body[b].inertia.mass};
                lin = add(lin, -1, weight);
                moment = add(moment, -1, cross(com, weight));
            }
            const sim_site *tip = &m->site[sim_model_find_site(m, "tip")],
                           *foot = &m->site[sim_model_find_site(m, "foot")];
            sim_v3 load = {3, -1, 2}, at = sim_point_position(d, (sim_point){tip->body, tip->pose.p});
            lin = add(lin, -1, load);
            moment = add(add(moment, -1, (sim_v3){0.1, 0.2, -0.3}), -1, cross(at, load));
            /* at the foot, in its axes */
            sim_v3 origin = sim_point_position(d, (sim_point){foot->body, foot->pose.p});
            sim_m3 R = d->pose[foot->body].R;
            sim_m3 axes = {turned(R, foot->pose.R.x), turned(R, foot->pose.R.y), turned(R, foot->pose.R.z)};
            sim_v3 f = turned(axes, vector(reading(s, "f"))), t = turned(axes, vector(reading(s, "t")));
            t = add(t, 1, cross(origin, f));
            double scale = 1 + fabs(lin.x) + fabs(lin.y) + fabs(lin.z);
            cr_assert_float_eq(f.x, lin.x, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, f.x, lin.x);
            cr_assert_float_eq(f.y, lin.y, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, f.y, lin.y);
            cr_assert_float_eq(f.z, lin.z, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, f.z, lin.z);
            cr_assert_float_eq(t.x, moment.x, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, t.x, moment.x);
            cr_assert_float_eq(t.y, moment.y, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, t.y, moment.y);
            cr_assert_float_eq(t.z, moment.z, 1e-10 * scale, "%s step %d: %.13g, %.13g", schemes[k], i, t.z, moment.z);
        }
        sim_derived_free(d);
        end(s);
    }
}

Test(sensors, of_torque_read_the_effort_of_a_motor_about_its_axis) {
    for (int k = 0; k < 4; k++) {
        setup s = begin(
            "{'sim': 1, 'world': {'step': 0.001, 'tolerance': 1e-14}, 'bodies': [{'name': 'a', 'joint': "
            "{'type': 'hinge', 'axis': [0, 1, 0]}, 'v': 3, " INERTIA(
                "1") ", 'sites': [{'name': 's'}]}, "
                     "{'name': 'b', 'parent': 'a', 'joint': {'type': 'hinge', 'axis': [0, 0, 1]}, 'pose': "
                     "{'position': [0, 0, 0.4]}, 'v': -2, " INERTIA(
                         "1") "}], 'actuators': [{'name': 'm', 'joint': "
                              "'a', 'gear': 3, 'kp': 40, 'kd': 2, 'target': 1}], 'sensors': [{'name': 't', 'type': "
                              "'torque', 'site': "
                              "'s'}, {'name': 'e', 'type': 'joint_effort', 'joint': 'a'}, {'name': 'f', 'type': "
                              "'actuator_force', 'actuator': 'm'}]}",
            schemes[k]);
        for (int i = 0; i < 30; i++) {
            run(s, 1);
            double effort = *reading(s, "f");
            cr_expect_float_eq(*reading(s, "e"), 3 * effort, 1e-13 * fabs(effort));
            cr_expect(fabs(effort) > 0.1);
            cr_expect_float_eq(reading(s, "t")[1], 3 * effort, 1e-9 * (1 + fabs(effort)), "%s: %.13g, %.13g",
                               schemes[k], reading(s, "t")[1], effort);
        }
        end(s);
    }
}

Test(sensors, of_acceleration_read_g_at_rest_and_nothing_in_free_fall) {
    setup s =
        begin("{'sim': 1, 'bodies': [{'name': 'still', 'sites': [{'name': 'a', 'pose': {'rpy_deg': [90, 0, 0]}}]}, "
              "{'name': 'stone', 'joint': 'free', 'v': [1, 2, 3, 0, 0, 4], 'inertia': {'mass': 1, 'moments': [1, 1, "
              "1]}, 'sites': [{'name': 'b'}]}], 'sensors': [{'name': 'rest', 'type': 'accelerometer', 'site': "
              "'a'}, {'name': 'fall', 'type': 'accelerometer', 'site': 'b'}, {'name': 'frame', 'type': "
              "'frame_acceleration', 'site': 'b'}, {'name': 'gyro', 'type': 'gyro', 'site': 'b'}]}",
              "midpoint");
    reads(s, "rest", 3, (double[]){0, 0, 0}, 0); /* no step was taken */
    run(s, 3);
    reads(s, "rest", 3, (double[]){0, 9.81, 0}, 1e-14);
    reads(s, "fall", 3, (double[]){0, 0, 0}, 1e-12);
    reads(s, "frame", 3, (double[]){0, 0, -9.81}, 1e-12);
    reads(s, "gyro", 3, (double[]){0, 0, 4}, 1e-12);
    end(s);
}

Test(sensors, on_a_turning_arm_read_the_centripetal_acceleration) {
    for (int k = 0; k < 4; k++) {
        setup s = begin("{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'bodies': [{'name': 'arm', 'joint': 'hinge', 'v': "
                        "5, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'sites': [{'name': 's', 'pose': {'position': "
                        "[0.8, 0, 0.1]}}]}], 'sensors': [{'name': 'a', 'type': 'accelerometer', 'site': 's'}, {'name': "
                        "'g', 'type': 'gyro', 'site': 's'}, {'name': 'v', 'type': 'velocimeter', 'site': 's'}]}",
                        schemes[k]);
        run(s, 7);
        reads(s, "a", 3, (double[]){-25 * 0.8, 0, 0}, 1e-10);
        reads(s, "g", 3, (double[]){0, 0, 5}, 1e-12);
        reads(s, "v", 3, (double[]){0, 4, 0}, 1e-12);
        end(s);
    }
}

/* Two moving frames, one seen from the other and from the world. */
#define FRAMES                                                                                                         \
    "{'sim': 1, 'world': {'step': 0.002, 'tolerance': 1e-14}, 'bodies': [" BASE ", " ARM                               \
    ", {'name': 'free', 'joint': 'free', 'v': [1, -2, 0.5, 3, -1, 2], " INERTIA(                                       \
        "1") ", 'sites': [{'name': 'eye', "                                                                            \
             "'pose': {'position': [0.2, 0.1, 0], 'rpy_deg': [5, 60, 7]}}]}], 'sensors': ["                            \
             "{'name': 'x', 'type': 'frame_position', 'site': 'tip', 'reference_site': 'eye'}, "                       \
             "{'name': 'r', 'type': 'frame_orientation', 'site': 'tip', 'reference_site': 'eye'}, "                    \
             "{'name': 'v', 'type': 'frame_velocity', 'site': 'tip', 'reference_site': 'eye'}, "                       \
             "{'name': 'w', 'type': 'frame_angular_velocity', 'site': 'tip', 'reference_site': 'eye'}, "               \
             "{'name': 'x0', 'type': 'frame_position', 'site': 'tip'}, {'name': 'v0', 'type': 'frame_velocity', "      \
             "'site': 'tip'}, "                                                                                        \
             "{'name': 'a', 'type': 'frame_acceleration', 'site': 'tip', 'reference_site': 'eye'}, "                   \
             "{'name': 'b', 'type': 'frame_angular_acceleration', 'site': 'tip', 'reference_site': 'eye'}, "           \
             "{'name': 'a0', 'type': 'frame_acceleration', 'site': 'tip'}, "                                           \
             "{'name': 'com', 'type': 'center_of_mass', 'body': 'world'}, {'name': 'p', 'type': 'momentum', 'body': "  \
             "'world'}]}"

/* All readings h along the motion of q, v, a. */
static void readings_at(setup s, const double *q, const double *v, const double *a, double h, double *out) {
    const sim_model *m = s.scene->model;
    double qh[MOST], vh[MOST], zero[MOST] = {0};
    sim_advance(m, sim_all(m), q, v, h, qh);
    for (int j = 0; j < m->nv; j++) {
        vh[j] = v[j] + h * a[j];
    }
    sim_state at = {.q = qh, .v = vh, .a = zero};
    sim_error error = {0};
    cr_assert_eq(sim_world_set_state(s.world, &at, &error), SIM_OK, "%s", error.text);
    memcpy(out, sim_world_sensors(s.world), (size_t)m->nsensor_value * sizeof *out);
}

/* Rates of all readings along the motion, of fourth order. */
static void rates_at(setup s, const double *q, const double *v, const double *a, double *rate) {
    enum { VALUES = 64 };
    double at[4][VALUES];
    const double h[] = {1e-3, -1e-3, 5e-4, -5e-4};
    for (int n = 0; n < 4; n++) {
        readings_at(s, q, v, a, h[n], at[n]);
    }
    for (int n = 0; n < s.scene->model->nsensor_value; n++) {
        rate[n] = (4 * (at[2][n] - at[3][n]) / 1e-3 - (at[0][n] - at[1][n]) / 2e-3) / 3;
    }
}

static const double *of(setup s, const double *values, const char *name) {
    return values + s.scene->model->sensor[sim_model_find_sensor(s.scene->model, name)].first;
}

Test(sensors, of_velocity_read_the_rates_of_position_and_orientation) {
    setup s = begin(FRAMES, "midpoint");
    const sim_model *m = s.scene->model;
    random_source random = {5};
    for (int k = 0; k < 20; k++) {
        double q[MOST], v[MOST], zero[MOST] = {0}, rate[64], now[64];
        random_state(&random, m, q, v);
        rates_at(s, q, v, zero, rate);
        readings_at(s, q, v, zero, 0, now);
        for (int n = 0; n < 3; n++) {
            cr_expect_float_eq(of(s, rate, "x")[n], of(s, now, "v")[n], 1e-8);
            cr_expect_float_eq(of(s, rate, "x0")[n], of(s, now, "v0")[n], 1e-8);
            double total = 0;
            for (int b = 1; b < m->nbody; b++) {
                total += m->body[b].inertia.mass;
            }
            cr_expect_float_eq(total * of(s, rate, "com")[n], of(s, now, "p")[3 + n], 1e-8 * total);
        }
        /* omega = 2 r' r^-1 */
        const double *r = of(s, now, "r"), *dr = of(s, rate, "r"), *w = of(s, now, "w");
        sim_v3 rv = vector(r + 1), dv = vector(dr + 1);
        sim_v3 omega = add(add((sim_v3){0, 0, 0}, 2 * r[0], dv), -2 * dr[0], rv);
        omega = add(omega, -2, cross(dv, rv));
        cr_expect_float_eq(omega.x, w[0], 1e-8);
        cr_expect_float_eq(omega.y, w[1], 1e-8);
        cr_expect_float_eq(omega.z, w[2], 1e-8);
    }
    end(s);
}

Test(sensors, of_acceleration_read_the_rates_of_velocity_over_the_step) {
    setup s = begin(FRAMES, "midpoint"), other = begin(FRAMES, "midpoint");
    const sim_model *m = s.scene->model;
    for (int k = 0; k < 20; k++) {
        double q0[MOST], v0[MOST], q[MOST], v[MOST], a[MOST], rate[64];
        const sim_state *now = sim_world_state(s.world);
        memcpy(q0, now->q, (size_t)m->nq * sizeof *q0);
        memcpy(v0, now->v, (size_t)m->nv * sizeof *v0);
        run(s, 1);
        for (int j = 0; j < m->nv; j++) {
            a[j] = (now->v[j] - v0[j]) / 0.002;
        }
        /* the middle of the step; of a free body that turns, half the Cayley map differs from half the angle by 1e-9 */
        force_point(m, 0, 0.002, q0, v0, now->v, q, v);
        rates_at(other, q, v, a, rate);
        for (int n = 0; n < 3; n++) {
            cr_expect_float_eq(of(s, rate, "v")[n], reading(s, "a")[n], 2e-6, "%g",
                               of(s, rate, "v")[n] - reading(s, "a")[n]);
            cr_expect_float_eq(of(s, rate, "w")[n], reading(s, "b")[n], 2e-6, "%g",
                               of(s, rate, "w")[n] - reading(s, "b")[n]);
            cr_expect_float_eq(of(s, rate, "v0")[n], reading(s, "a0")[n], 1e-8);
        }
    }
    end(s);
    end(other);
}

#define STOOL                                                                                                          \
    "{'sim': 1, 'bodies': [{'name': 'floor', 'shapes': [{'type': 'half_space'}]}, {'name': 'stool', 'joint': 'free', " \
    "'pose': {'position': [0, 0, 0.1]}, 'inertia': {'mass': 3, 'com': [0.1, 0, 0.2], 'moments': [0.1, 0.1, 0.1]}, "    \
    "'shapes': [{'type': 'sphere', 'radius': 0.1, 'pose': {'position': [-0.2, 0.2, 0]}}, {'type': 'sphere', "          \
    "'radius': "                                                                                                       \
    "0.1, 'pose': {'position': [-0.2, -0.2, 0]}}, {'type': 'sphere', 'radius': 0.1, 'pose': {'position': [0.4, 0, "    \
    "0]}}],"                                                                                                           \
    " 'sites': [{'name': 'front', 'pose': {'position': [0.4, 0, -0.1]}}]}], 'sensors': [{'name': 'all', 'type': "      \
    "'touch', 'body': 'stool'}, {'name': 'front', 'type': 'touch', 'site': 'front', 'radius': 0.05}, {'name': "        \
    "'floor',"                                                                                                         \
    " 'type': 'touch', 'body': 'floor'}]}"

Test(sensors, of_touch_read_the_weight_of_a_body_at_rest_and_its_part_on_a_patch) {
    setup s = begin(STOOL, "midpoint");
    run(s, 2000);
    double weight = 3 * 9.81;
    reads(s, "all", 1, &weight, 1e-6);
    reads(s, "floor", 1, &weight, 1e-6);
    reads(s, "front", 1, (double[]){weight / 2}, 1e-4); /* its com is halfway from the rear feet to the front one */
    end(s);
}

Test(sensors, of_force_read_what_hangs_on_constraints) {
    static const char *const constraints[] = {
        "{'type': 'weld', 'first': 'hook', 'second': 'stone', 'second_pose': {'position': [0, 0, 0.2]}}",
        "{'type': 'connect', 'first': 'hook', 'second': 'stone', 'second_point': [0, 0, 0.2]}",
        "{'type': 'distance', 'first': 'stone', 'second': 'hook', 'distance': 0.2}",
        "{'type': 'spring', 'first': 'hook', 'second': 'stone', 'rest': 0.1, 'stiffness': 196.2, 'damping': 50}"};
    for (int k = 0; k < 4; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{'sim': 1, 'bodies': [{'name': 'hook', 'pose': {'position': [0.3, 0, 1]}, 'sites': [{'name': 's', "
                 "'pose': {'position': [-0.3, 0, 0]}}]}, {'name': 'stone', 'joint': 'free', 'pose': {'position': [0.3, "
                 "0, 0.8]}, 'inertia': {'mass': 2, 'moments': [0.1, 0.1, 0.1]}}], 'constraints': [%s], 'sensors': "
                 "[{'name': 'f', 'type': 'force', 'site': 's'}, {'name': 't', 'type': 'torque', 'site': 's'}]}",
                 constraints[k]);
        setup s = begin(text, "midpoint");
        run(s, 3000);
        reads(s, "f", 3, (double[]){0, 0, 2 * 9.81}, 1e-6);
        reads(s, "t", 3, (double[]){0, -0.3 * 2 * 9.81, 0}, 1e-6);
        end(s);
    }
}

Test(sensors, of_torque_read_the_moment_of_a_weld_on_either_side) {
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{'sim': 1, 'bodies': [{'name': 'hook', 'pose': {'position': [0.3, 0, 1]}, 'sites': [{'name': 's', "
                 "'pose': {'position': [-0.3, 0, 0]}}]}, {'name': 'stone', 'joint': 'free', 'pose': {'position': [0.3, "
                 "0, 1]}, 'inertia': {'mass': 2, 'com': [0.1, 0, 0], 'moments': [0.1, 0.1, 0.1]}}], 'constraints': "
                 "[{'type': 'weld', 'first': '%s', 'second': '%s'}], 'sensors': [{'name': 't', 'type': 'torque', "
                 "'site': 's'}]}",
                 k ? "hook" : "stone", k ? "stone" : "hook");
        setup s = begin(text, "midpoint");
        run(s, 2000);
        reads(s, "t", 3, (double[]){0, -0.4 * 2 * 9.81, 0}, 1e-5);
        end(s);
    }
}

Test(sensors, of_force_read_the_push_of_contacts) {
    setup s =
        begin("{'sim': 1, 'bodies': [{'name': 'table', 'shapes': [{'type': 'box', 'size': [1, 1, 0.1]}], 'sites': "
              "[{'name': 's', 'pose': {'position': [0.5, 0, 0]}}]}, {'name': 'ball', 'joint': 'free', 'pose': "
              "{'position': [0.2, 0.1, 0.15]}, 'shapes': [{'type': 'sphere', 'radius': 0.1, 'mass': 4}]}], "
              "'sensors': [{'name': 'f', 'type': 'force', 'site': 's'}, {'name': 't', 'type': 'torque', 'site': "
              "'s'}]}",
              "midpoint");
    double weight = 4 * 9.81;
    run(s, 1500);
    reads(s, "f", 3, (double[]){0, 0, weight}, 1e-6);
    reads(s, "t", 3, (double[]){0.1 * weight, 0.3 * weight, 0}, 1e-5);
    end(s);
}

/* Two weights on a rope over a wheel, which hangs on a gallows. */
#define GALLOWS(more)                                                                                                  \
    "{'sim': 1, 'world': {'contacts': false}, 'bodies': [{'name': 'gallows', 'inertia': {'mass': 3, 'com': [0.2, 0, "  \
    "1], 'moments': [1, 1, 1]}, 'shapes': [{'name': 'wheel', 'type': 'cylinder', 'radius': 0.1, 'length': 0.1, "       \
    "'pose': "                                                                                                         \
    "{'position': [0.5, 0, 2], 'rpy_deg': [90, 0, 0]}}], 'sites': [{'name': 'foot'}, {'name': 'over', 'pose': "        \
    "{'position': [0.5, 0, 2.3]}}]}, {'name': 'a', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'pose': "           \
    "{'position': [0.4, 0, 1]}, 'inertia': {'mass': 2, 'moments': [1, 1, 1]}, 'sites': [{'name': 'left'}]}, {'name': " \
    "'b', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'pose': {'position': [0.6, 0, 1]}, 'inertia': {'mass': 1, "  \
    "'moments': [1, 1, 1]}, 'sites': [{'name': 'right'}]}], 'tendons': [{'name': 'rope', 'path': ['left', {'around': " \
    "'wheel', 'side': 'over'}, 'right']" more "}], 'sensors': [{'name': 'f', 'type': 'force', 'site': 'foot'}, "       \
    "{'name': 't', 'type': 'torque', 'site': 'foot'}, {'name': 'l', 'type': 'tendon_length', 'tendon': 'rope'}, "      \
    "{'name': 'v', 'type': 'tendon_velocity', 'tendon': 'rope'}]"

static void gallows_carry_the_rope(const char *text) {
    setup s = begin(text, "midpoint");
    double pull = 2 * (2 * 2 * 1 / 3.0) * 9.81; /* twice the tension of Atwood's machine */
    reads(s, "l", 1, (double[]){2 + 0.1 * M_PI}, 1e-12);
    run(s, 100);
    reads(s, "f", 3, (double[]){0, 0, 3 * 9.81 + pull}, 1e-6);
    reads(s, "t", 3, (double[]){0, -0.2 * 3 * 9.81 - 0.5 * pull, 0}, 1e-6);
    reads(s, "v", 1, (double[]){0}, 1e-7);
    end(s);
}

/* A ball that spins on a plate acts on it with the moment kappa N along the spin. */
Test(sensors, of_torque_read_the_moment_of_torsion) {
    setup s =
        begin("{'sim': 1, 'world': {'step': 0.001}, 'materials': [{'name': 'felt', 'friction': 0.5, 'torsion': "
              "0.004}], 'bodies': [{'name': 'plate', 'sites': [{'name': 'plate'}], 'shapes': "
              "[{'type': 'box', 'size': [4, 4, 0.1], 'mass': 1, 'material': 'felt'}]}, {'name': 'ball', 'joint': "
              "{'type': 'cartesian'}, 'pose': {'position': [0, 0, 0.15]}, 'inertia': {'mass': 1e-6, 'moments': "
              "[1e-9, 1e-9, 1e-9]}}, {'name': 'top', 'parent': 'ball', 'joint': 'ball', 'v': [0, 0, 30], 'shapes': "
              "[{'type': 'sphere', 'radius': 0.1, 'mass': 2, 'material': 'felt'}]}], 'sensors': [{'name': 't', "
              "'type': 'torque', 'site': 'plate'}]}",
              "symplectic");
    run(s, 20);
    reads(s, "t", 3, (const double[]){0, 0, -0.004 * 2 * 9.81}, 1e-4 * 0.08);
    end(s);
}

Test(sensors, of_force_read_the_pull_of_tendons) {
    gallows_carry_the_rope(GALLOWS(", 'range': [0, 2.314159265358979]") "}");
    gallows_carry_the_rope(GALLOWS("") ", 'constraints': [{'type': 'tendon', 'first': 'rope'}]}");
}

/* Two weights on strings of which one lengthens by as much as the other shortens: Atwood's machine again. */
Test(sensors, of_force_read_the_pull_of_coupled_tendons) {
    setup s =
        begin("{'sim': 1, 'world': {'contacts': false}, 'bodies': [{'name': 'beam', 'pose': {'position': [0, 0, 1]}, "
              "'sites': [{'name': 's'}, {'name': 'l', 'pose': {'position': [-0.1, 0, 0]}}, {'name': 'r', 'pose': "
              "{'position': [0.1, 0, 0]}}]}, {'name': 'a', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'pose': "
              "{'position': [-0.1, 0, 0.5]}, 'inertia': {'mass': 2, 'moments': [1, 1, 1]}, 'sites': [{'name': "
              "'left'}]}, {'name': 'b', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'pose': {'position': [0.1, "
              "0, 0.5]}, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'sites': [{'name': 'right'}]}], 'tendons': "
              "[{'name': 'long', 'path': ['l', 'left']}, {'name': 'short', 'path': ['r', 'right']}], "
              "'constraints': [{'type': 'tendon', 'first': 'long', 'second': 'short', 'ratio': -1}], 'sensors': "
              "[{'name': 'f', 'type': 'force', 'site': 's'}, {'name': 't', 'type': 'torque', 'site': 's'}]}",
              "midpoint");
    run(s, 50);
    reads(s, "f", 3, (double[]){0, 0, 2 * (2 * 2 * 1 / 3.0) * 9.81}, 1e-6);
    reads(s, "t", 3, (double[]){0, 0, 0}, 1e-6);
    end(s);
}

Test(sensors, that_look_along_a_ray_read_the_distance_to_another_body) {
    setup s =
        begin("{'sim': 1, 'bodies': [{'name': 'floor', 'shapes': [{'type': 'half_space'}]}, {'name': 'eye', "
              "'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'q': 2, 'v': -1, 'shapes': [{'type': 'box', "
              "'size': [1, 1, 1], 'mass': 1}], 'sites': [{'name': 'down', 'pose': {'rpy_deg': [180, 0, 0]}}, "
              "{'name': 'up'}]}], 'sensors': [{'name': 'd', 'type': 'rangefinder', 'site': 'down'}, {'name': 'u', "
              "'type': 'rangefinder', 'site': 'up'}, {'name': 'short', 'type': 'rangefinder', 'site': 'down', "
              "'range': 1.9}, {'name': 'q', 'type': 'joint_position', 'joint': 'eye'}, {'name': 'v', 'type': "
              "'joint_velocity', 'joint': 'eye'}]}",
              "midpoint");
    reads(s, "d", 1, (double[]){2}, 1e-15);
    reads(s, "u", 1, (double[]){-1}, 0);
    reads(s, "short", 1, (double[]){-1}, 0);
    run(s, 200);
    reads(s, "d", 1, sim_world_state(s.world)->q, 1e-14);
    reads(s, "short", 1, sim_world_state(s.world)->q, 1e-14);
    cr_expect_eq(*reading(s, "q"), sim_world_state(s.world)->q[0]);
    cr_expect_eq(*reading(s, "v"), sim_world_state(s.world)->v[0]);
    end(s);
}

Test(sensors, of_subtrees_read_their_momentum_about_their_centre_of_mass) {
    setup s = begin(FRAMES, "midpoint");
    run(s, 10);
    sim_force p = sim_world_momentum(s.world);
    sim_v3 lin = vector(reading(s, "p") + 3), ang = vector(reading(s, "p")), com = vector(reading(s, "com"));
    ang = add(ang, 1, cross(com, lin));
    cr_expect_float_eq(lin.x, p.lin.x, 1e-12);
    cr_expect_float_eq(ang.x, p.ang.x, 1e-12);
    cr_expect_float_eq(ang.y, p.ang.y, 1e-12);
    cr_expect_float_eq(ang.z, p.ang.z, 1e-12);
    end(s);
}

/* The base cannot tell a wrench of an actuator at a site from the load that it stands for; the joint can. */
Test(sensors, see_actuators_of_sites_as_the_loads_they_stand_for) {
#define ROD                                                                                                            \
    "{'name': 'rod', 'parent': 'foot', 'joint': {'type': 'hinge', 'axis': [0, 1, 0]}, 'inertia': {'mass': 2, 'com': "  \
    "[0.2, 0, 0], 'moments': [0.1, 0.1, 0.1]}, 'sites': [{'name': 'end', 'pose': {'position': [0.5, 0, 0.1]}}]}"
#define FOOT                                                                                                           \
    "{'name': 'foot', 'joint': 'fixed', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'sites': [{'name': 'sole'}]}"
#define SEEN                                                                                                           \
    "'sensors': [{'name': 'f', 'type': 'force', 'site': 'sole'}, {'name': 't', 'type': 'torque', 'site': 'sole'}, "    \
    "{'name': 'e', 'type': 'joint_effort', 'joint': 'rod'}]"
#define START "{'sim': 1, 'world': {'step': 0.002, 'tolerance': 1e-14}, 'bodies': [" FOOT ", " ROD "], " SEEN ", "
    for (int k = 0; k < 4; k++) {
        setup by_load =
            begin(START "'loads': [{'body': 'rod', 'point': [0.5, 0, 0.1], 'frame': 'body', 'force': [1, 2, "
                        "30], 'torque': [0.1, 0.2, 0.3]}]}",
                  schemes[k]);
        setup by_site = begin(
            START "'actuators': [{'site': 'end', 'gear': [0.1, 0.2, 3, 0.01, 0.02, 0.03], 'ctrl': 10}]}", schemes[k]);
        for (int i = 0; i < 50; i++) {
            run(by_load, 1);
            run(by_site, 1);
            for (int c = 0; c < 3; c++) {
                cr_assert_float_eq(reading(by_site, "f")[c], reading(by_load, "f")[c], 1e-9);
                cr_assert_float_eq(reading(by_site, "t")[c], reading(by_load, "t")[c], 1e-9);
            }
            cr_assert_eq(reading(by_load, "e")[0], 0);
            cr_assert_float_eq(reading(by_site, "e")[0], 0.2 + 0.1 * 1 - 0.5 * 30, 1e-12, "%.12g",
                               reading(by_site, "e")[0]);
        }
        end(by_load);
        end(by_site);
    }
}

/* Rates by central differences over two steps; the axes of a frame are columns of its orientation. */
Test(sensors, of_lengths_centres_and_axes_agree_with_their_rates_and_orientations) {
    setup s = begin(
        "{'sim': 1, 'world': {'step': 1e-4}, 'bodies': [" BASE ", " ARM "], 'actuators': [{'name': 'm', 'joint': 'b', "
        "'gear': 3}, {'name': 'w', 'site': 'tip', 'reference_site': 'foot', 'gear': [1, 2, 3, 0, 0, 0]}], 'sensors': "
        "[{'name': 'm', 'type': 'actuator_length', 'actuator': 'm'}, {'name': 'mv', 'type': 'actuator_velocity', "
        "'actuator': 'm'}, {'name': 'w', 'type': 'actuator_length', 'actuator': 'w'}, {'name': 'wv', 'type': "
        "'actuator_velocity', 'actuator': 'w'}, {'name': 'c', 'type': 'center_of_mass', 'body': 'a'}, {'name': 'cv', "
        "'type': 'center_of_mass_velocity', 'body': 'a'}, {'name': 'p', 'type': 'momentum', 'body': 'a'}, {'name': "
        "'h', 'type': 'angular_momentum', 'body': 'a'}, {'name': 'o', 'type': 'frame_orientation', 'site': 'tip', "
        "'reference': 'a'}, {'name': 'x', 'type': 'frame_x_axis', 'site': 'tip', 'reference': 'a'}, {'name': 'z', "
        "'type': 'frame_z_axis', 'site': 'tip', "
        "'reference': 'a'}]}",
        "midpoint");
    double before[5], rate[5];
    run(s, 1);
    memcpy(before, (double[]){*reading(s, "m"), *reading(s, "w")}, 2 * sizeof *before);
    memcpy(before + 2, reading(s, "c"), 3 * sizeof *before);
    run(s, 1);
    memcpy(rate, (double[]){*reading(s, "mv"), *reading(s, "wv")}, 2 * sizeof *rate);
    memcpy(rate + 2, reading(s, "cv"), 3 * sizeof *rate);
    reads(s, "h", 3, reading(s, "p"), 1e-15);
    const double *o = reading(s, "o");
    sim_m3 R = quat_matrix((sim_quat){o[0], o[1], o[2], o[3]});
    reads(s, "x", 3, (double[]){R.x.x, R.x.y, R.x.z}, 1e-14);
    reads(s, "z", 3, (double[]){R.z.x, R.z.y, R.z.z}, 1e-14);
    run(s, 1);
    for (int k = 0; k < 5; k++) {
        double after = k < 2 ? *reading(s, k ? "w" : "m") : reading(s, "c")[k - 2];
        cr_expect_float_eq((after - before[k]) / 2e-4, rate[k], 1e-5, "%d", k);
    }
    end(s);
}

/* A box of 1 kg on the ground, and a frame at -3, 0.2, 5 m. */
Test(sensors, beyond_their_saturation_read_that) {
    setup s =
        begin("{'sim': 1, 'bodies': [{'name': 'ground', 'shapes': [{'type': 'half_space'}]}, {'name': 'box', 'joint': "
              "'free', 'pose': {'position': [0, 0, 0.1]}, 'shapes': [{'type': 'box', 'size': [0.2, 0.2, 0.2], 'mass': "
              "1}]}, {'name': 'mast', 'pose': {'position': [-3, 0.2, 5]}}], 'sensors': [{'name': 't', 'type': 'touch', "
              "'body': 'box', 'saturation': 5}, {'name': 'p', 'type': 'frame_position', 'body': 'mast', 'saturation': "
              "2}]}",
              "midpoint");
    run(s, 20);
    reads(s, "t", 1, (double[]){5}, 0);
    reads(s, "p", 3, (double[]){-2, 0.2, 2}, 0);
    end(s);
}
