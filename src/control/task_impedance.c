/* Impedance of a frame in the task space, with a posture in its null space.
 *
 *     tau = J' (F - Lambda Jdot v) + C(q, v) v + g(q) + (1 - J' Lambda J A^-1) A a_n
 *     F = K (x* - x) + D (xdot* - xdot),   D = 2 zeta K^1/2 S^-1/2 K^1/2,   S = K^1/2 W K^1/2
 *     a_n = omega^2 (q* - q) - 2 omega v
 *
 *     J, x         Jacobian and pose of the frame: m and rad, axes of the world; x* - x: way and rotation vector
 *     A, W, Lambda mass matrix of the tree, joints beside the path to the frame held fast; W = J A^-1 J'; Lambda = W^-1 where it moves, the operational-space inertia
 *     K, zeta      stiffness, N/m and N m/rad; damping ratio.  D is that of the modes of K and Lambda
 *     omega, q*    rate and posture of the return in the null space, rad/s, rad or m
 *
 * The actuators hold tau over the step.  J, A, C, g are those in its middle, at q + dt/2 v and v + dt/2 a_0.  So are x
 * and xdot, by the implicit midpoint rule.  Stiff springs and dampers are then stable:
 *
 *     xdot_m = xdot + dt/2 a,   x_m = x + dt/2 xdot + dt^2/4 a,   a = a_0 + W (F - F_0)
 *
 * with the acceleration a_0 and the force F_0 of the step before, which know of loads and contacts: at rest F is K (x* - x)
 * exactly.
 *
 * References: Khatib 1987; Albu-Schaffer, Ott, Frese, Hirzinger 2003 (damping design).  Departure: the midpoint rule.
 * Cost: six solves with A, two eigenvalue problems of order six. */
#include "control/control.h"
#include "linalg/blocks.h"
#include "linalg/dense/lu.h"
#include "math/spatial.h"

#include <math.h>
#include <string.h>

enum { N = BODY_DOFS };
static const double BRANCH_INERTIA = 1e9; /* kg m^2 or kg */
static const double MIN_MOBILITY_RATIO =
    1e-9; /* eigenvalues of W and S over the greatest, below which a direction is none */

/* ---- small matrices ---- */

/* Cyclic Jacobi rotations: A = V diag(e) V', A symmetric. */
static void find_eigenvectors(double A[N][N], double e[N], double V[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            V[i][j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int p = 0; p < N; p++) {
            for (int q = p + 1; q < N; q++) {
                off += A[p][q] * A[p][q];
                if (A[p][q] == 0) {
                    continue;
                }
                double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = copysign(1 / (fabs(theta) + sqrt(1 + theta * theta)), theta), c = 1 / sqrt(1 + t * t),
                       s = t * c;
                for (int k = 0; k < N; k++) {
                    double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < N; k++) {
                    double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                    x = V[k][p], y = V[k][q];
                    V[k][p] = c * x - s * y;
                    V[k][q] = s * x + c * y;
                }
            }
        }
        if (off == 0) {
            break;
        }
    }
    for (int i = 0; i < N; i++) {
        e[i] = A[i][i];
    }
}

/* f(A) = V f(e) V': the power of the eigenvalues that count, 0 of the others. */
static void raise_to_power(double A[N][N], double power, double out[N][N]) {
    double copy[N][N], e[N], V[N][N], most = 0;
    memcpy(copy, A, sizeof copy);
    find_eigenvectors(copy, e, V);
    for (int i = 0; i < N; i++) {
        most = fmax(most, e[i]);
    }
    memset(out, 0, N * sizeof *out);
    for (int k = 0; k < N; k++) {
        double f = e[k] > MIN_MOBILITY_RATIO * most ? pow(e[k], power) : 0;
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                out[i][j] += f * V[i][k] * V[j][k];
            }
        }
    }
}

static void multiply_matrix(double A[N][N], const double *x, double *y) {
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) {
            y[i] += A[i][j] * x[j];
        }
    }
}

/* x <- A^-1 x; not a number, which the step refuses, where A is singular. */
static void solve_linear(double A[N][N], double *x) {
    double H[N * BODY_STRIDE] = {0};
    int swap[N];
    for (int i = 0; i < N; i++) {
        memcpy(H + BODY_STRIDE * i, A[i], N * sizeof *H);
    }
    if (lu_factor(N, BODY_STRIDE, H, swap, NULL, NULL)) {
        lu_solve(N, BODY_STRIDE, H, swap, x);
    } else {
        x[0] = NAN;
    }
}

/* ---- the task ---- */

typedef struct task {
    control_work *w;
    const sim_controller *c;
    sim_range bodies;
    int v0, nv;
    double W[N][N], Lambda[N][N], D[N][N];
    double rate[N]; /* xdot */
} task;

static const double *row_of(const double *J, const task *t, int row) { return J + (ptrdiff_t)row * t->nv; }

/* q + dt/2 v, v + dt/2 a_0: all torques are those in the middle of the step. */
static void move_to_middle(task *t, const control_input *in) {
    control_work *w = t->w;
    sim_advance(w->model, t->bodies, in->q, in->v, 0.5 * in->step, w->q_middle);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->v_middle[j] = in->v[j] + (in->moved ? 0.5 * (in->v[j] - in->v_before[j]) : 0);
    }
    sim_kinematics(w->middle, t->bodies, w->q_middle);
    sim_velocities(w->middle, t->bodies, w->v_middle);
}

/* J, A^-1 J', W and what follows from it. */
static void eval_mobility(task *t) {
    control_work *w = t->w;
    const sim_model *m = w->model;
    const sim_site *s = &m->site[t->c->site];
    size_t size = (size_t)t->nv * sizeof *w->J;
    /* J: point, then axes */
    sim_body_jacobian(w->middle, s->body, w->Y);
    memcpy(w->J + 3 * t->nv, w->Y, 3 * size);
    sim_point_jacobian(w->middle, (sim_point){s->body, s->pose.p}, w->J);
    /* A^-1 J', branches beside the path held fast: a gripper closes on its own */
    for (int k = 0; k < t->nv; k++) {
        double size2 = 0;
        for (int i = 0; i < N; i++) {
            size2 += row_of(w->J, t, i)[k] * row_of(w->J, t, i)[k];
        }
        w->a[t->v0 + k] = size2 > 0 ? 0 : BRANCH_INERTIA;
    }
    sim_articulated_factor(w->middle, t->bodies, w->a, NULL);
    for (int i = 0; i < N; i++) {
        memcpy(w->x + t->v0, row_of(w->J, t, i), size);
        sim_articulated_solve(w->middle, t->bodies, w->x);
        memcpy(w->Y + (ptrdiff_t)i * t->nv, w->x + t->v0, size);
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < t->nv; k++) {
                sum += row_of(w->J, t, i)[k] * row_of(w->Y, t, j)[k];
            }
            t->W[i][j] = t->W[j][i] = sum;
        }
    }
    raise_to_power(t->W, -1, t->Lambda);
}

static void eval_damping(task *t) {
    double S[N][N], root[N][N], k[N];
    for (int i = 0; i < N; i++) {
        k[i] = sqrt(t->c->task_stiffness[i]);
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            S[i][j] = k[i] * t->W[i][j] * k[j];
        }
    }
    raise_to_power(S, -0.5, root);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            t->D[i][j] = 2 * t->c->damping_ratio * k[i] * root[i][j] * k[j];
        }
    }
}

/* J x of velocities or accelerations of the model. */
static void task_of(const task *t, const double *x, double *out) {
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int k = 0; k < t->nv; k++) {
            out[i] += row_of(t->w->J, t, i)[k] * x[t->v0 + k];
        }
    }
}

/* F of the midpoint rule; into the memory, too. */
static void eval_force(task *t, const control_input *in, double *F) {
    const control_work *w = t->w;
    const sim_site *s = &w->model->site[t->c->site];
    double dt = in->step, *memory = w->next + t->c->first + 9, a[N], B[N][N], WF[N], BWF[N], A[N][N];
    /* way and speed to go, in the middle of the step */
    led_pose to = lead_pose(w, in, t->c, in->time + 0.5 * dt);
    pose X = pose_product(w->middle->pose[s->body], s->pose);
    v3 way = v3_sub(to.pose.p, X.p), turn = quat_log(quat_from_matrix(m3_product(to.pose.R, m3_transpose(X.R))));
    const double e[N] = {way.x, way.y, way.z, turn.x, turn.y, turn.z};
    const double due[N] = {to.rate.lin.x, to.rate.lin.y, to.rate.lin.z, to.rate.ang.x, to.rate.ang.y, to.rate.ang.z};
    /* acceleration of the step before, and its force */
    for (int j = 0; j < t->nv; j++) {
        w->x[t->v0 + j] = in->moved ? (in->v[t->v0 + j] - in->v_before[t->v0 + j]) / dt : 0;
    }
    task_of(t, w->x, a);
    multiply_matrix(t->W, memory, WF);
    /* (1 + B W) F = K e + D (xdot* - xdot) - B (a_0 - W F_0),  B = dt/2 D + dt^2/4 K */
    for (int i = 0; i < N; i++) {
        F[i] = t->c->task_stiffness[i] * e[i];
        for (int j = 0; j < N; j++) {
            B[i][j] = 0.5 * dt * t->D[i][j] + (i == j ? 0.25 * dt * dt * t->c->task_stiffness[i] : 0);
            F[i] += t->D[i][j] * (due[j] - t->rate[j]);
        }
        a[i] = in->moved ? a[i] - WF[i] : 0;
    }
    multiply_matrix(B, a, BWF);
    for (int i = 0; i < N; i++) {
        F[i] -= BWF[i];
        for (int j = 0; j < N; j++) {
            A[i][j] = i == j;
            for (int k = 0; k < N; k++) {
                A[i][j] += B[i][k] * t->W[k][j];
            }
        }
    }
    solve_linear(A, F);
    memcpy(memory, F, N * sizeof *F);
}

/* tau += J' F */
static void add_wrench(const task *t, const double *F, double *tau) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < t->nv; k++) {
            tau[t->v0 + k] += row_of(t->w->J, t, i)[k] * F[i];
        }
    }
}

/* tau += (1 - J' Lambda J A^-1) A a_n */
static void add_posture(task *t) {
    control_work *w = t->w;
    const sim_model *m = w->model;
    double omega = t->c->posture_rate, pull[N], F[N];
    memset(w->a + t->v0, 0, (size_t)t->nv * sizeof *w->a);
    for (int k = 0; k < t->c->nactuator; k++) {
        int j = m->actuator[t->c->actuator[k]].dof, q = m->dof[j].coordinate;
        double due = t->c->posture ? t->c->posture[k] : m->q_initial[q];
        w->a[j] = omega * omega * (due - w->q_middle[q]) - 2 * omega * w->v_middle[j];
    }
    sim_mass_times(w->middle, t->bodies, NULL, w->a, w->x);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->tau[j] += w->x[j];
    }
    task_of(t, w->a, pull);
    multiply_matrix(t->Lambda, pull, F);
    for (int i = 0; i < N; i++) {
        F[i] = -F[i];
    }
    add_wrench(t, F, w->tau);
}

void task_impedance_evaluate(control_work *w, const control_input *in, const sim_controller *c) {
    /* mobility and speed */
    const sim_model *m = w->model;
    const sim_site *s = &m->site[c->site];
    int tree = m->body[s->body].tree;
    task t = {.w = w, .c = c, .bodies = sim_tree_range(m, tree), .v0 = m->tree[tree].v0, .nv = m->tree[tree].nv};
    move_to_middle(&t, in);
    eval_mobility(&t);
    eval_damping(&t);
    task_of(&t, in->v, t.rate);
    /* gravity and velocities */
    sim_rnea(w->middle, t.bodies, NULL, NULL, m->gravity, w->tau);
    sim_bias_accelerations(w->middle, t.bodies, w->acc);
    v3 lin = sim_point_bias_acceleration(w->middle, w->acc, (sim_point){s->body, s->pose.p}), ang = w->acc[s->body].ang;
    const double bias[N] = {-lin.x, -lin.y, -lin.z, -ang.x, -ang.y, -ang.z};
    double F[N];
    multiply_matrix(t.Lambda, bias, F);
    add_wrench(&t, F, w->tau);
    /* impedance, posture */
    eval_force(&t, in, F);
    add_wrench(&t, F, w->tau);
    add_posture(&t);
    for (int k = 0; k < c->nactuator; k++) {
        const sim_actuator *a = &m->actuator[c->actuator[k]];
        w->command[c->actuator[k]] = (drive_command){.controlled = true, .force = w->tau[a->dof] / a->gear};
    }
}
