/* Prints the dynamics of a scene or robot at random states, for comparison with an implementation in another language:
 *
 *     print_dynamics FILE fixed|free|planar STATES
 *
 * Lines: "body NAME q0 nq v0 nv mass"; then for each state "q ...", "v ...", "pose NAME p R" (columns of R), "mass ..." (a row
 * of the mass matrix), "bias ..." (M a + bias = tau, gravity included), "fluid ..." (its forces on the joints), "energy ..." (potential), "dampers ..." (their forces on the joints); for each tendon "length ..." and "moments ...". */
#include "math/spatial.h"
#include "model/parts/joint.h"
#include <sim/dynamics.h>
#include <sim/scene.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uniform in (-1, 1): a linear congruential generator. */
static double random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*state * 0x1p-63;
}

static void fill_state(const sim_model *m, uint64_t *seed, double *q, double *v) {
    for (int k = 0; k < m->nq; k++) {
        q[k] = 2 * random_number(seed);
    }
    for (int k = 0; k < m->nv; k++) {
        v[k] = 3 * random_number(seed);
    }
    for (int i = 1; i < m->nbody; i++) { /* quaternions */
        const sim_body *b = &m->body[i];
        double *turn = b->joint == SIM_FREE ? q + b->q0 + 3 : b->joint == SIM_BALL ? q + b->q0 : NULL;
        double length = turn ? sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]) : 1;
        for (int k = 0; turn && k < 4; k++) {
            turn[k] /= length;
        }
    }
}

static void print_row(const char *word, const double *number, int count) {
    printf("%s", word);
    for (int k = 0; k < count; k++) {
        printf(" %.17g", number[k]);
    }
    putchar('\n');
}

static void print_pose(const char *name, const sim_pose *X) {
    printf("pose %s", name);
    const double number[12] = {X->p.x,   X->p.y,   X->p.z,   X->R.x.x, X->R.x.y, X->R.x.z,
                               X->R.y.x, X->R.y.y, X->R.y.z, X->R.z.x, X->R.z.y, X->R.z.z};
    print_row("", number, 12);
}

/* Moments of an actuator; of muscles peak force, least and greatest length; length, and force at the control input 1
 * (activation 1), without limits. */
static void print_actuator(const sim_derived *d, int k, const double *q, const double *v, double *row) {
    const sim_model *m = d->model;
    const sim_actuator *a = &m->actuator[k];
    const sim_tree *t = &m->tree[a->tree];
    memset(row, 0, (size_t)m->nv * sizeof *row);
    double length = sim_actuator_length(d, k, q, row + t->v0), rate = 0;
    for (int i = 0; i < m->nv; i++) {
        rate += row[i] * v[i];
    }
    print_row("drive", row, m->nv);
    const sim_muscle *u = &a->muscle;
    if (u->force > 0) {
        print_row("muscle", (const double[]){u->force, u->length_range[0], u->length_range[1]}, 3);
        print_row("law", (const double[]){length, sim_muscle_force(u, 1, length, rate, NULL)}, 2);
        return;
    }
    const double law[2] = {length, a->gain[0] + a->gain[1] * length + a->gain[2] * rate + a->bias[0] +
                                       a->bias[1] * length + a->bias[2] * rate};
    print_row("law", law, 2);
}

/* Forces of the fluid on the joints, where there is one. */
static void print_fluid(sim_derived *d, double *row) {
    const sim_model *m = d->model;
    sim_force *external = calloc((size_t)m->nbody, sizeof *external);
    double *without = calloc((size_t)m->nv + 1, sizeof *without);
    for (int k = 0; k < m->ndrag && external; k++) {
        const sim_drag *drag = &m->drag[k];
        pose X = pose_product(d->pose[drag->body], drag->pose);
        v3 lever = v3_sub(X.p, d->pose[drag->body].p);
        motion u = motion_at_child(d->vel[drag->body], lever);
        u = (motion){m3_transposed_times(X.R, u.ang), m3_transposed_times(X.R, v3_sub(u.lin, m->fluid.wind))};
        force f = sim_drag_force(drag, &m->fluid, u, NULL);
        f = force_at_parent((force){m3_times(X.R, f.ang), m3_times(X.R, f.lin)}, lever);
        external[drag->body] = force_add(external[drag->body], f);
    }
    if (m->ndrag && external && without) {
        sim_rnea(d, sim_all(m), NULL, NULL, m->gravity, without);
        sim_rnea(d, sim_all(m), NULL, external, m->gravity, row);
        for (int j = 0; j < m->nv; j++) {
            row[j] = without[j] - row[j];
        }
        print_row("fluid", row, m->nv);
    }
    free(external);
    free(without);
}

/* Energy of gravity and springs; forces of dampers on the joints. */
static void print_passive(sim_derived *d, const double *q, const double *v, double *row, double *moments) {
    const sim_model *m = d->model;
    double energy = sim_potential_energy(d, sim_all(m), q);
    for (int j = 0; j < m->nv; j++) {
        row[j] = -dof_damper_force(&m->dof[j], v[j]);
    }
    for (int k = 0; k < m->ntendon; k++) {
        const sim_tendon *t = &m->tendon[k];
        energy += sim_tendon_energy(d, k, q);
        sim_tendon_moments(d, k, moments);
        double rate = 0;
        for (int j = 0; j < m->nv; j++) {
            rate += moments[j] * v[j];
        }
        for (int j = 0; j < m->nv; j++) {
            row[j] -= moments[j] * damper_force(t->damping, t->damper, rate);
        }
    }
    print_row("energy", &energy, 1);
    print_row("dampers", row, m->nv);
}

static void print_state(const sim_model *m, sim_derived *d, uint64_t *seed, double *work) {
    /* state */
    double *q = work, *v = q + m->nq, *unit = v + m->nv, *row = unit + m->nv;
    fill_state(m, seed, q, v);
    print_row("q", q, m->nq);
    print_row("v", v, m->nv);
    sim_kinematics(d, sim_all(m), q);
    sim_velocities(d, sim_all(m), v);
    for (int i = 1; i < m->nbody; i++) {
        print_pose(m->body[i].name, &d->pose[i]);
    }
    /* mass matrix, bias */
    for (int k = 0; k < m->nv; k++) {
        memset(unit, 0, (size_t)m->nv * sizeof *unit);
        unit[k] = 1;
        sim_mass_times(d, sim_all(m), NULL, unit, row);
        print_row("mass", row, m->nv);
    }
    sim_rnea(d, sim_all(m), NULL, NULL, m->gravity, row);
    print_row("bias", row, m->nv);
    print_fluid(d, row);
    print_passive(d, q, v, row, unit);
    for (int k = 0; k < m->ntendon; k++) {
        double length = sim_tendon_length(d, k, q);
        sim_tendon_moments(d, k, row);
        print_row("length", &length, 1);
        print_row("moments", row, m->nv);
    }
    for (int k = 0; k < m->nactuator; k++) {
        print_actuator(d, k, q, v, row);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: print_dynamics FILE fixed|free|planar STATES\n");
        return 2;
    }
    /* scene */
    const char *const allow[] = {"mesh"};
    sim_import_options import = {
        .base = strcmp(argv[2], "free") == 0     ? SIM_BASE_FREE
                : strcmp(argv[2], "planar") == 0 ? SIM_BASE_PLANAR
                                                 : SIM_BASE_FIXED,
        .nallow = 1,
        .allow = allow,
    };
    sim_scene_overrides overrides = {.import = &import};
    sim_error error = {0};
    sim_scene *scene = sim_scene_load(argv[1], &overrides, NULL, &error);
    if (!scene) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const sim_model *m = scene->model;
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        printf("body %s %d %d %d %d %.17g\n", b->name, b->q0, b->nq, b->v0, b->nv, b->inertia.mass);
    }
    /* states */
    sim_derived *d = sim_derived_create(m, NULL);
    double *work = calloc((size_t)m->nq + 3 * (size_t)m->nv + 1, sizeof *work);
    uint64_t seed = 1;
    for (int k = 0; d && work && k < atoi(argv[3]); k++) {
        print_state(m, d, &seed, work);
    }
    free(work);
    sim_derived_free(d);
    sim_scene_free(scene);
    return 0;
}
