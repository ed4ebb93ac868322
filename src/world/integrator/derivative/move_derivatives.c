/* Derivatives of q (+) map(h v): coordinates that move along a velocity.
 *
 *     q1 = q R(t),     phi1 = R(t)' phi + D(t) dt,     D x = alpha' u (u.x) + sin(alpha)/s (x - u (u.x)) - (1 - cos(alpha))/s u x x
 *
 *     t = h w       rotation vector, rad;  s = |t|,  u = t/s
 *     alpha(s)      angle of R: s (exponential), 2 atan(s/2) (Cayley), atan(s/2) (half of Cayley)
 *     phi, phi1     small turns of the attitude before and after, in axes of the body: tangent vectors
 *
 * Plain coordinates: dq1 = dq + h dv, or h/2 with half of Cayley.
 * Reference: J. Sola, J. Deray, D. Atchuthan, A micro Lie theory for state estimation in robotics, 2018, eqs. 143, 144.
 * Cost: 3 x 3 blocks; products linear in the numbers of the other matrix. */
#include "world/integrator/derivative/move_derivatives.h"
#include "model/parts/joint.h"

static const double MIN_ANGLE = 1e-6;   /* rad: below, the first terms of the series are exact to rounding */
static const double SMALL_ANGLE = 1e-2; /* rad: below, two terms of the series of the inverse are */

static m3 cross_matrix(double s, v3 a) {
    return (m3){{0, s * a.z, -s * a.y}, {-s * a.z, 0, s * a.x}, {s * a.y, -s * a.x, 0}};
}

/* a 1 + b t t' + c [t]x */
static m3 axial_matrix(double a, double b, double c, v3 t) {
    m3 K = cross_matrix(c, t);
    return (m3){v3_add(v3_axpy((v3){a, 0, 0}, b * t.x, t), K.x), v3_add(v3_axpy((v3){0, a, 0}, b * t.y, t), K.y),
                v3_add(v3_axpy((v3){0, 0, a}, b * t.z, t), K.z)};
}

/* alpha(s) and its slope. */
static double angle_of(rotation_map map, double s, double *slope) {
    double part = map == ROTATION_CAYLEY ? 1 : 0.5, u = 0.5 * s;
    *slope = map == ROTATION_EXP ? 1 : part / (1 + u * u);
    return map == ROTATION_EXP ? s : 2 * part * atan(u);
}

m3 rotation_derivative(rotation_map map, v3 turn) {
    double slope, s = v3_norm(turn), angle = angle_of(map, s, &slope);
    if (s < MIN_ANGLE) {
        return axial_matrix(slope, 0, -0.5 * slope * slope, turn);
    }
    double half = sin(0.5 * angle), across = sin(angle) / s;
    return axial_matrix(across, (slope - across) / (s * s), -2 * half * half / (s * s), turn);
}

m3 rotation_log_derivative(v3 turn) {
    double s = v3_norm(turn), k = s < SMALL_ANGLE ? 1.0 / 12 + s * s / 720 : (1 - 0.5 * s / tan(0.5 * s)) / (s * s);
    return axial_matrix(1 - k * s * s, k, 0.5, turn);
}

/* The first dof of the orientation of a body, -1: it has none. */
static int orientation_dof(const sim_body *b) {
    int first = joint_facts_of(b->joint)->quaternion;
    return first < 0 ? -1 : b->v0 + first;
}

void differentiate_move(const sim_model *m, sim_range bodies, rotation_map map, const double *v, double h,
                        move_derivative *out) {
    out->line = map == ROTATION_CAYLEY_HALF ? 0.5 * h : h;
    for (int i = bodies.first; i < bodies.end; i++) {
        int j = orientation_dof(&m->body[i]);
        if (j >= 0) {
            v3 turn = {h * v[j], h * v[j + 1], h * v[j + 2]};
            m3 D = rotation_derivative(map, turn);
            double slope, s = v3_norm(turn), angle = angle_of(map, s, &slope);
            out->from[i] = m3_transpose(quat_matrix(quat_exp(s > 0 ? v3_scale(angle / s, turn) : turn)));
            out->by[i] = (m3){v3_scale(h, D.x), v3_scale(h, D.y), v3_scale(h, D.z)};
        }
    }
}

/* The part of a body: its plain dofs, by a number; its orientation from the dof `turn` on (-1: none), by a matrix. */
typedef struct body_move {
    int first, end, turn;
    double line;
    const m3 *matrix;
} body_move;

static body_move move_of(const sim_model *m, int i, const move_derivative *d, move_part part, double s) {
    const sim_body *b = &m->body[i];
    int turn = orientation_dof(b);
    return (body_move){.first = b->v0,
                       .end = turn < 0 ? b->v0 + b->nv : turn,
                       .turn = turn,
                       .line = s * (part == MOVE_BY ? d->line : 1),
                       .matrix = part == MOVE_BY ? &d->by[i] : &d->from[i]};
}

void add_times_move(const sim_model *m, sim_range bodies, const move_derivative *d, move_part part, double s,
                    const double *X, ptrdiff_t x_stride, double *Y, ptrdiff_t y_stride) {
    /* body by body: plain coordinates, then the orientation */
    sim_range dofs = sim_dof_range(m, bodies);
    for (int i = bodies.first; i < bodies.end; i++) {
        body_move b = move_of(m, i, d, part, s);
        for (int row = 0; row < dofs.end - dofs.first; row++) {
            const double *x = X + row * x_stride - dofs.first;
            double *y = Y + row * y_stride - dofs.first;
            for (int j = b.first; j < b.end; j++) {
                y[j] += b.line * x[j];
            }
            if (b.turn >= 0) {
                v3 sum = m3_transposed_times(*b.matrix, (v3){x[b.turn], x[b.turn + 1], x[b.turn + 2]});
                y[b.turn] += s * sum.x;
                y[b.turn + 1] += s * sum.y;
                y[b.turn + 2] += s * sum.z;
            }
        }
    }
}

void add_move_times(const sim_model *m, sim_range bodies, const move_derivative *d, move_part part, double s,
                    int columns, const double *X, ptrdiff_t x_stride, double *Y, ptrdiff_t y_stride) {
    /* body by body: plain coordinates, then the orientation */
    sim_range dofs = sim_dof_range(m, bodies);
    for (int i = bodies.first; i < bodies.end; i++) {
        body_move b = move_of(m, i, d, part, s);
        for (int j = b.first; j < b.end; j++) {
            const double *x = X + (j - dofs.first) * x_stride;
            double *y = Y + (j - dofs.first) * y_stride;
            for (int k = 0; k < columns; k++) {
                y[k] += b.line * x[k];
            }
        }
        if (b.turn < 0) {
            continue;
        }
        const double *x = X + (b.turn - dofs.first) * x_stride;
        double *y = Y + (b.turn - dofs.first) * y_stride;
        for (int k = 0; k < columns; k++) {
            v3 sum = m3_times(*b.matrix, (v3){x[k], x[x_stride + k], x[2 * x_stride + k]});
            y[k] += s * sum.x;
            y[y_stride + k] += s * sum.y;
            y[2 * y_stride + k] += s * sum.z;
        }
    }
}
