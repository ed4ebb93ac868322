/* Columns of balls (radius 5 cm) and boxes (10 cm) above the ground: all pairs are tried, symplectic Euler steps. */
#include "support/clutter.h"
#include "math/v3.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 8 };
static const double MARGIN = 1e-3, FRICTION = 1, STIFFNESS = 1e12, GRAVITY = 9.81;

typedef struct thing {
    sim_shape shape;
    sim_pose pose;
    double mass, turning; /* moment of inertia about any axis */
} thing;

struct clutter {
    int bodies, fixed; /* the fixed ones stand after the bodies */
    double dt;
    thing *thing;
    double *v, *v_free;
    sim_problem problem;
    sim_problem_tree *tree;
    int room;
    sim_constraint *constraint;
    double *gap, *J, *R, *target, *W;
};

static void times(const void *self, int tree, const double *x, double *y) {
    const clutter *c = self;
    for (int k = 0; k < 6; k++) {
        y[k] = x[k] * (k < 3 ? c->thing[tree].turning : c->thing[tree].mass);
    }
}

static void solve(const void *self, int tree, double *x) {
    const clutter *c = self;
    for (int k = 0; k < 6; k++) {
        x[k] /= k < 3 ? c->thing[tree].turning : c->thing[tree].mass;
    }
}

static void diagonal(const void *self, int tree, double *d) {
    const thing *t = &((const clutter *)self)->thing[tree];
    for (int j = 0; j < 6; j++) {
        d[j] = j < 3 ? t->turning : t->mass;
    }
}

static void matrix(const void *self, int tree, double *A) {
    const clutter *c = self;
    memset(A, 0, 36 * sizeof *A);
    for (int k = 0; k < 6; k++) {
        A[7 * k] = k < 3 ? c->thing[tree].turning : c->thing[tree].mass;
    }
}

static void add_body(clutter *c, random_source *r, int k, int columns) {
    thing *t = &c->thing[k];
    int column = k % columns, across = 1;
    while (across * across < columns) {
        across++;
    }
    double edge = 0.1, middle = 0.5 * (across - 1), apart = columns > 1 ? 0.4 / middle / 2 : 0;
    t->shape = sim_shape_default();
    t->shape.type = random_uniform(r, 0, 1) < 0.5 ? SIM_SPHERE : SIM_BOX;
    t->shape.size[0] = t->shape.size[1] = t->shape.size[2] = t->shape.type == SIM_BOX ? edge : edge / 2;
    t->mass = t->shape.type == SIM_BOX ? 1 : 4 * M_PI / 3 * 0.125;
    t->turning = t->mass * edge * edge * (t->shape.type == SIM_BOX ? 1.0 / 6 : 0.1);
    apart = apart < 0.2 ? 0.2 : apart;
    t->pose.R = random_rotation(r);
    t->pose.p =
        v3_make(apart * (column % across - middle) + random_uniform(r, -0.005, 0.005),
                apart * (column / across - middle) + random_uniform(r, -0.005, 0.005), 0.06 + 0.12 * (k / columns));
}

static thing plane(v3 normal, double offset) {
    thing t = {.shape = sim_shape_default()};
    t.shape.type = SIM_HALF_SPACE;
    v3 x = fabs(normal.x) < 0.5 ? v3_make(1, 0, 0) : v3_make(0, 0, 1), y = v3_cross(normal, x);
    t.pose.R = (m3){x, y, normal};
    t.pose.p = v3_scale(-offset, normal);
    return t;
}

clutter *clutter_create(int bodies, int columns, int walls, double dt) {
    clutter *c = calloc(1, sizeof *c);
    random_source r = {1};
    c->bodies = bodies;
    c->fixed = walls ? 5 : 1;
    c->dt = dt;
    c->thing = calloc((size_t)(bodies + c->fixed), sizeof *c->thing);
    c->v = calloc((size_t)(6 * bodies), sizeof *c->v);
    c->v_free = calloc((size_t)(6 * bodies), sizeof *c->v_free);
    c->tree = calloc((size_t)bodies, sizeof *c->tree);
    double half = 0.4;
    for (int k = 0; k < bodies; k++) {
        add_body(c, &r, k, columns);
        half = fmax(half, c->thing[k].pose.p.x + 0.2);
        c->tree[k] = (sim_problem_tree){6 * k, 6};
    }
    c->thing[bodies] = plane(v3_make(0, 0, 1), 0);
    for (int k = 1; k < c->fixed; k++) {
        double sign = k % 2 ? 1 : -1;
        c->thing[bodies + k] = plane(k < 3 ? v3_make(sign, 0, 0) : v3_make(0, sign, 0), half);
    }
    return c;
}

void clutter_free(clutter *c) {
    if (c) {
        free(c->thing);
        free(c->v);
        free(c->v_free);
        free(c->tree);
        free(c->constraint);
        free(c->gap);
        free(c->J);
        free(c->R);
        free(c->target);
        free(c->W);
        free(c);
    }
}

static void make_room(clutter *c) {
    if (c->problem.nconstraint < c->room) {
        return;
    }
    size_t n = (size_t)(c->room = 2 * c->room + 64);
    c->constraint = realloc(c->constraint, n * sizeof *c->constraint);
    c->gap = realloc(c->gap, 3 * n * sizeof *c->gap);
    c->R = realloc(c->R, 3 * n * sizeof *c->R);
    c->target = realloc(c->target, 3 * n * sizeof *c->target);
    c->J = realloc(c->J, 36 * n * sizeof *c->J);
    c->W = realloc(c->W, 9 * n * sizeof *c->W);
}

static void add_rows(double *J, const v3 axis[3], v3 x, double sign) {
    for (int k = 0; k < 3; k++) {
        v3 turn = v3_cross(x, axis[k]);
        double row[6] = {turn.x, turn.y, turn.z, axis[k].x, axis[k].y, axis[k].z};
        for (int j = 0; j < 6; j++) {
            J[6 * k + j] = sign * row[j];
        }
    }
}

static void add_contact(clutter *c, int a, int b, const sim_contact_point *at) {
    make_room(c);
    int i = c->problem.nconstraint++;
    v3 n = at->normal, across = fabs(n.x) < 0.7 ? v3_make(1, 0, 0) : v3_make(0, 1, 0), t1 = v3_cross(across, n);
    t1 = v3_scale(1 / v3_norm(t1), t1);
    v3 axis[3] = {t1, v3_cross(n, t1), n};
    c->constraint[i] = (sim_constraint){.kind = SIM_CONTACT,
                                        .row = 3 * i,
                                        .rows = 3,
                                        .tree = {a, b < c->bodies ? b : -1},
                                        .block = {36 * i, 36 * i + 18},
                                        .body = {a, b},
                                        .id = at->feature,
                                        .friction = FRICTION,
                                        .stiffness = STIFFNESS,
                                        .dissipation = c->dt};
    c->gap[3 * i] = c->gap[3 * i + 1] = 0;
    c->gap[3 * i + 2] = at->gap;
    c->problem.nrow += 3;
    add_rows(c->J + 36 * i, axis, v3_sub(at->position, c->thing[a].pose.p), 1);
    if (b < c->bodies) {
        add_rows(c->J + 36 * i + 18, axis, v3_sub(at->position, c->thing[b].pose.p), -1);
    }
}

/* J_i A^-1 J_i' */
static void weigh(clutter *c) {
    memset(c->W, 0, (size_t)(9 * c->problem.nconstraint) * sizeof *c->W);
    for (int i = 0; i < c->problem.nconstraint; i++) {
        for (int side = 0; side < 2 && c->constraint[i].tree[side] >= 0; side++) {
            const thing *t = &c->thing[c->constraint[i].tree[side]];
            const double *J = c->J + 36 * i + 18 * side;
            for (int k = 0; k < 54; k++) {
                int row = k / 18, column = k / 6 % 3, j = k % 6;
                c->W[9 * i + 3 * row + column] += J[6 * row + j] * J[6 * column + j] / (j < 3 ? t->turning : t->mass);
            }
        }
    }
}

static void find_contacts(clutter *c) {
    sim_contact_point point[MOST_POINTS];
    c->problem.nconstraint = c->problem.nrow = 0;
    make_room(c);
    for (int a = 0; a < c->bodies; a++) {
        for (int b = a + 1; b < c->bodies + c->fixed; b++) {
            thing *A = &c->thing[a], *B = &c->thing[b];
            if (b < c->bodies && v3_norm(v3_sub(A->pose.p, B->pose.p)) > 0.19) {
                continue;
            }
            int count = sim_collide_shapes(&A->shape, &A->pose, &B->shape, &B->pose, MARGIN, point, MOST_POINTS);
            for (int k = 0; k < count && k < MOST_POINTS; k++) {
                add_contact(c, a, b, &point[k]);
            }
        }
    }
}

const sim_problem *clutter_problem(clutter *c, sim_regularisation *law) {
    sim_law_options o = sim_law_options_default();
    find_contacts(c);
    for (int k = 0; k < 6 * c->bodies; k++) {
        c->v_free[k] = c->v[k] - (k % 6 == 5 ? GRAVITY * c->dt : 0);
    }
    sim_problem *p = &c->problem;
    p->step = c->dt;
    p->ntree = c->bodies;
    p->nv = 6 * c->bodies;
    p->tree = c->tree;
    p->constraint = c->constraint;
    p->gap = c->gap;
    p->J = c->J;
    p->mass = (sim_mass){c, times, solve, matrix, diagonal, NULL};
    p->v_free = c->v_free;
    p->v_start = p->v_guess = c->v;
    weigh(c);
    sim_regularise(p, SIM_NEAR_RIGID, &o, c->W, c->R, c->target);
    *law = (sim_regularisation){c->R, c->target};
    return p;
}

void clutter_step(clutter *c, const double *v) {
    memcpy(c->v, v, (size_t)(6 * c->bodies) * sizeof *v);
    for (int b = 0; b < c->bodies; b++) {
        v3 turn = v3_scale(c->dt, v3_make(v[6 * b], v[6 * b + 1], v[6 * b + 2]));
        double angle = v3_norm(turn);
        sim_pose *X = &c->thing[b].pose;
        X->p = v3_axpy(X->p, c->dt, v3_make(v[6 * b + 3], v[6 * b + 4], v[6 * b + 5]));
        if (angle > 0) {
            X->R = m3_product(m3_axis_angle(v3_scale(1 / angle, turn), angle), X->R);
        }
    }
}

double clutter_kinetic_energy(const clutter *c) {
    double sum = 0;
    for (int k = 0; k < 6 * c->bodies; k++) {
        sum += 0.5 * c->v[k] * c->v[k] * (k % 6 < 3 ? c->thing[k / 6].turning : c->thing[k / 6].mass);
    }
    return sum;
}
