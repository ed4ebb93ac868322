/* Contact problems by hand and by chance. */
#include "support/problems.h"
#include "math/v3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TREES = 256, MOST_CONSTRAINTS = 1024 };

typedef struct draft {
    sim_problem p;
    sim_problem_tree tree[MOST_TREES];
    sim_constraint constraint[MOST_CONSTRAINTS];
    double gap[MOST_CONSTRAINTS * SIM_MAX_ROWS], offset[MOST_CONSTRAINTS * SIM_MAX_ROWS];
    double *A, *J, *v_free, *v_start;
    ptrdiff_t nA, nJ;
} draft;

static draft *begin(double dt) {
    draft *d = calloc(1, sizeof *d);
    d->p.step = dt;
    return d;
}

static sim_problem *end(draft *d) {
    sim_error error = {0};
    d->p.tree = d->tree;
    d->p.constraint = d->constraint;
    d->p.gap = d->gap;
    d->p.offset = d->offset;
    d->p.J = d->J;
    d->p.v_free = d->v_free;
    d->p.v_start = d->v_start;
    sim_problem *made = sim_problem_create(&d->p, d->A, &error);
    if (!made) {
        fprintf(stderr, "test problem: %s\n", error.text);
        abort();
    }
    free(d->A);
    free(d->J);
    free(d->v_free);
    free(d->v_start);
    free(d);
    return made;
}

/* A tree with `n` velocities; its matrix, to be filled. */
static double *add_tree(draft *d, int n) {
    d->tree[d->p.ntree++] = (sim_problem_tree){d->p.nv, n};
    size_t nv = (size_t)(d->p.nv + n);
    d->A = realloc(d->A, (size_t)(d->nA + n * n) * sizeof *d->A);
    d->v_free = realloc(d->v_free, nv * sizeof *d->v_free);
    d->v_start = realloc(d->v_start, nv * sizeof *d->v_start);
    for (int j = 0; j < n; j++) {
        d->v_free[d->p.nv + j] = d->v_start[d->p.nv + j] = 0;
    }
    d->p.nv += n;
    double *A = d->A + d->nA;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    d->nA += n * n;
    return A;
}

/* A constraint; its blocks of J, zero, are to be filled. */
static sim_constraint *add_constraint(draft *d, sim_constraint_kind kind, int rows, int tree_a, int tree_b) {
    sim_constraint *c = &d->constraint[d->p.nconstraint];
    *c = (sim_constraint){.kind = kind,
                          .row = d->p.nrow,
                          .rows = rows,
                          .tree = {tree_a, tree_b},
                          .body = {-1, -1},
                          .id = (uint64_t)d->p.nconstraint,
                          .stiffness = INFINITY};
    d->p.nconstraint++;
    d->p.nrow += rows;
    for (int side = 0; side < 2; side++) {
        if (c->tree[side] >= 0) {
            ptrdiff_t size = (ptrdiff_t)rows * d->tree[c->tree[side]].nv;
            c->block[side] = d->nJ;
            d->J = realloc(d->J, (size_t)(d->nJ + size) * sizeof *d->J);
            memset(d->J + d->nJ, 0, (size_t)size * sizeof *d->J);
            d->nJ += size;
        }
    }
    return c;
}

static void dense_spd(random_source *r, int n, double scale, double *A) {
    double G[36 * 36];
    for (int k = 0; k < n * n; k++) {
        G[k] = random_normal(r) / sqrt(n);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j;
            for (int k = 0; k < n; k++) {
                sum += G[i * n + k] * G[j * n + k];
            }
            A[i * n + j] = A[j * n + i] = scale * sum;
        }
    }
}

/* Angular, then linear velocity of the centre of mass. */
static void add_free_body(draft *d, random_source *r) {
    double *A = add_tree(d, 6), I[9], mass = random_uniform(r, 0.5, 2);
    dense_spd(r, 3, 0.05 * mass, I);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A[6 * i + j] = I[3 * i + j];
        }
        A[6 * (3 + i) + 3 + i] = mass;
    }
}

/* Rows along t1, t2, n of the velocity of the point x of a body, times the sign. */
static void point_rows(double *J, const v3 axis[3], v3 x, double sign) {
    for (int k = 0; k < 3; k++) {
        v3 turn = v3_cross(x, axis[k]);
        double row[6] = {turn.x, turn.y, turn.z, axis[k].x, axis[k].y, axis[k].z};
        for (int j = 0; j < 6; j++) {
            J[6 * k + j] = sign * row[j];
        }
    }
}

static void add_random_contact(draft *d, random_source *r, const problem_recipe *recipe, int c) {
    int a = c % recipe->bodies, b = recipe->bodies > 1 && random_uniform(r, 0, 1) < 0.5 ? (c + 1) % recipe->bodies : -1;
    m3 R = random_rotation(r);
    v3 axis[3] = {R.x, R.y, R.z};
    sim_constraint *made = add_constraint(d, SIM_CONTACT, 3, a, b);
    made->friction = recipe->friction;
    for (int side = 0; side < 2 && made->tree[side] >= 0; side++) {
        v3 x = {0.3 * random_normal(r), 0.3 * random_normal(r), 0.3 * random_normal(r)};
        point_rows(d->J + made->block[side], axis, x, side ? -1 : 1);
    }
    d->offset[made->row + 2] = random_uniform(r, -recipe->bias, recipe->bias);
}

/* One more constraint of each kind asked for, on single velocities or on two trees. */
static void add_others(draft *d, random_source *r, int kinds) {
    for (int kind = SIM_LIMIT; kind < SIM_CONSTRAINT_KINDS; kind++) {
        if (!(kinds >> kind & 1)) {
            continue;
        }
        int a = random_index(r, d->p.ntree), b = d->p.ntree > 1 ? (a + 1) % d->p.ntree : -1;
        int rows = kind == SIM_EQUALITY ? 2 : 1;
        sim_constraint *c = add_constraint(d, (sim_constraint_kind)kind, rows, a, kind == SIM_EQUALITY ? b : -1);
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            int n = rows * d->tree[c->tree[side]].nv;
            for (int k = 0; k < n; k++) {
                d->J[c->block[side] + k] = random_normal(r);
            }
        }
        c->bound = pow(10, random_uniform(r, -1, 4)); /* slips, or holds */
        c->damping = kind == SIM_SPRING || kind == SIM_ACTUATOR ? random_uniform(r, 0.1, 5) : 0;
        c->stiffness = kind == SIM_SPRING || kind == SIM_ACTUATOR ? random_uniform(r, 1, 1e4) : INFINITY;
        c->force = kind == SIM_SPRING || kind == SIM_ACTUATOR ? random_uniform(r, -50, 50) : 0;
    }
}

sim_problem *random_problem(random_source *r, const problem_recipe *recipe) {
    draft *d = begin(0.01);
    for (int b = 0; b < recipe->bodies; b++) {
        add_free_body(d, r);
    }
    if (recipe->chain) {
        dense_spd(r, recipe->chain, 0.5, add_tree(d, recipe->chain));
    }
    for (int c = 0; c < recipe->contacts; c++) {
        add_random_contact(d, r, recipe, c);
    }
    for (int k = 0; k <= recipe->more; k++) {
        add_others(d, r, recipe->kinds);
    }
    for (int j = 0; j < d->p.nv; j++) {
        d->v_free[j] = d->v_start[j] = 0.1 * random_normal(r);
    }
    /* towards the contacts, one after the other */
    for (int i = 0; i < recipe->contacts; i++) {
        const sim_constraint *c = &d->constraint[i];
        for (int k = 0; k < 3; k++) {
            double speed = (k == 2 ? -recipe->impact : 0) + recipe->scatter * random_normal(r), size = 0;
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                for (int j = 0; j < 6; j++) {
                    double x = d->J[c->block[side] + 6 * k + j];
                    size += x * x;
                }
            }
            for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
                for (int j = 0; j < 6; j++) {
                    d->v_free[d->tree[c->tree[side]].v0 + j] += speed / size * d->J[c->block[side] + 6 * k + j];
                }
            }
        }
    }
    return end(d);
}

sim_problem *box_stack(int count, const double *mass, double friction, double dt, double push) {
    static const double corner[4][2] = {{-0.1, -0.1}, {0.1, -0.1}, {0.1, 0.1}, {-0.1, 0.1}};
    static const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    draft *d = begin(dt);
    for (int b = 0; b < count; b++) {
        double *A = add_tree(d, 6);
        for (int i = 0; i < 3; i++) {
            A[7 * i] = mass[b] * 0.04 / 6;
            A[7 * (3 + i)] = mass[b];
        }
        d->v_free[6 * b + 5] = -9.81 * dt;
    }
    d->v_free[6 * count - 3] += push * dt / mass[count - 1];
    for (int b = 0; b < count; b++) {
        for (int k = 0; k < 4; k++) {
            sim_constraint *c = add_constraint(d, SIM_CONTACT, 3, b, b - 1);
            c->friction = friction;
            point_rows(d->J + c->block[0], axis, v3_make(corner[k][0], corner[k][1], -0.1), 1);
            if (b > 0) {
                point_rows(d->J + c->block[1], axis, v3_make(corner[k][0], corner[k][1], 0.1), -1);
            }
        }
    }
    return end(d);
}

static sim_problem *point_between(int walls, double mass, double friction, double gap, double dt,
                                  const double v_free[3]) {
    draft *d = begin(dt);
    double *A = add_tree(d, 3);
    for (int i = 0; i < walls; i++) {
        sim_constraint *c = add_constraint(d, SIM_CONTACT, 3, 0, -1);
        double *J = d->J + c->block[0];
        c->friction = friction;
        J[0] = 1;
        J[4] = J[8] = i ? -1 : 1;
        d->gap[c->row + 2] = gap;
    }
    for (int k = 0; k < 3; k++) {
        A[4 * k] = mass;
        d->v_free[k] = v_free[k];
    }
    return end(d);
}

sim_problem *point_on_ground(double mass, double friction, double gap, double dt, const double v_free[3]) {
    return point_between(1, mass, friction, gap, dt, v_free);
}

sim_problem *point_between_walls(double mass, double friction, double gap, double dt, const double v_free[3]) {
    return point_between(2, mass, friction, gap, dt, v_free);
}

sim_problem *point_at_walls(double mass, double friction, const double J[18], double gap, double dt,
                            const double v_free[3], const double v_start[3]) {
    draft *d = begin(dt);
    double *A = add_tree(d, 3);
    for (int i = 0; i < 3; i++) {
        A[4 * i] = mass;
        d->v_free[i] = v_free[i];
        d->v_start[i] = v_start[i];
    }
    for (int k = 0; k < 2; k++) {
        sim_constraint *c = add_constraint(d, SIM_CONTACT, 3, 0, -1);
        c->friction = friction;
        memcpy(d->J + c->block[0], J + 9 * k, 9 * sizeof *J);
        d->gap[c->row + 2] = gap;
    }
    return end(d);
}

sim_problem *floating_cluster(random_source *r, int bodies, int contacts, double friction, v3 *centre) {
    draft *d = begin(0.01);
    for (int b = 0; b < bodies; b++) {
        add_free_body(d, r);
        centre[b] = v3_make(random_normal(r), random_normal(r), random_normal(r));
    }
    for (int c = 0; c < contacts; c++) {
        int a = c % bodies, b = (a + 1 + c / bodies % (bodies - 1)) % bodies;
        m3 R = random_rotation(r);
        v3 axis[3] = {R.x, R.y, R.z}, at = v3_make(random_normal(r), random_normal(r), random_normal(r));
        sim_constraint *made = add_constraint(d, SIM_CONTACT, 3, a, b);
        made->friction = friction;
        point_rows(d->J + made->block[0], axis, v3_sub(at, centre[a]), 1);
        point_rows(d->J + made->block[1], axis, v3_sub(at, centre[b]), -1);
    }
    for (int j = 0; j < d->p.nv; j++) {
        d->v_free[j] = d->v_start[j] = random_normal(r);
    }
    return end(d);
}

sim_problem *rod_on_ground(double mass, double inertia, double x, double z, double friction, const double v_free[3]) {
    static const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    draft *d = begin(0.01);
    double *A = add_tree(d, 6);
    for (int i = 0; i < 3; i++) {
        A[7 * i] = inertia;
        A[7 * (3 + i)] = mass;
    }
    sim_constraint *c = add_constraint(d, SIM_CONTACT, 3, 0, -1);
    c->friction = friction;
    point_rows(d->J, axis, v3_make(x, 0, z), 1);
    d->v_free[1] = v_free[0];
    d->v_free[3] = v_free[1];
    d->v_free[5] = v_free[2];
    return end(d);
}

const problem_recipe mixed_recipe = {
    .bodies = 5, .chain = 7, .contacts = 12, .friction = 0.5, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.5};
const problem_recipe hard_recipe = {
    .bodies = 6, .contacts = 24, .friction = 0.9, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 1};

sim_problem *loaded_stack(double top) {
    double mass[] = {1, 1, 1, 1, 1, 1, top};
    return box_stack(7, mass, 0.5, 0.01, 0);
}
