/* Motors: actuators with feedback and a limit to their effort.
 *
 * At the end velocity v of its joint a motor asks for
 *
 *     s(v) = kp (target - q1) + kd (rate - v) + ... = force - (dt stiffness + damping) v,    stiffness = theta kp,  damping = kd
 *
 * where positions move with v0 + theta (v - v0), and gives the impulse g = dt s, held within +-dt bound.  Free motion has
 * chosen a side for each: within the limit the motor is a straight line and its slope stands in A, as the part
 * E = dt (dt stiffness + damping) of the diagonal; at the limit it is a constant.  Either way it is a line p(v).  As long
 * as what touches leaves the motor on its side, that is exact, A the better for a stiff motor in it, and no row needed.
 *
 * A motor that is driven off its side becomes a row, wholly: kind SIM_ACTUATOR, J = e of its joint.  With
 *
 *     A_ = A - E e e',    v_ = v* - A_^-1 e dt p(v*)
 *
 * (over all such motors, summed; E where the side is 0) both problems say the same as long as it is on its side:
 *
 *     A (v - v*) = J' gamma    <=>    A_ (v - v_) = J' gamma + e dt p(v).
 *
 * So an island is answered, those that the answer drives off their side become rows, and it is answered again from there.
 * Rows stay rows: this ends after as many rounds as there are motors, and mostly after one or two.  Then the effort of
 * every motor is that of its own law at the end velocity, whichever were rows. */
#include "contact/problem/parts.h"

#include <string.h>

static const contact_motor *motor_of(const frame *f, int constraint) {
    return &f->in->motor[f->tie[f->tie_of[constraint]].index];
}

static int dof_of(const island *is, const contact_motor *motor) {
    return is->mass.model->actuator[motor->actuator].dof;
}

/* Where the velocity of its joint stands among those of its island. */
static int place_of(const frame *f, const island *is, int constraint) {
    int tree = f->constraint[constraint].tree[0];
    return is->problem.tree[tree].v0 + dof_of(is, motor_of(f, constraint)) -
           is->mass.model->tree[is->mass.tree[tree]].v0;
}

static double asked(const frame *f, const contact_motor *motor, double v) {
    return motor->force - motor->gain / f->in->step * v;
}

static int side_of(double effort, double bound) { return (effort > bound) - (effort < -bound); }

static double within(double effort, double bound) { return max_of(-bound, min_of(bound, effort)); }

sim_constraint motor_constraint(const frame *f, const sim_model *m, const contact_motor *motor) {
    const sim_actuator *from = &m->actuator[motor->actuator];
    return (sim_constraint){.kind = SIM_ACTUATOR,
                            .rows = 1,
                            .tree = {-1, -1},
                            .body = {m->dof[from->dof].body, -1},
                            .id = (uint64_t)motor->actuator,
                            .bound = from->effort,
                            .stiffness = f->in->travel * from->kp,
                            .damping = from->kd,
                            .force = motor->force};
}

void rows_of_motor(frame *f, const sim_model *m, int i) {
    int actuator = motor_of(f, i)->actuator, row = f->row[i];
    block_of(f, i, 0)[m->actuator[actuator].dof - m->tree[f->tie[f->tie_of[i]].tree[0]].v0] = 1;
    f->gap[row] = 0;
    f->impulse_guess[row] = f->in->step * f->in->effort_before[actuator];
}

double motor_effort(const frame *f, const sim_constraint *c, double impulse) {
    int side = (impulse >= f->in->step * c->bound) - (impulse <= -f->in->step * c->bound);
    return side ? side * c->bound : impulse / f->in->step;
}

/* ---- which are rows ---- */

static void set_rows(const frame *f, island *is, int rows) {
    is->rows = rows;
    is->problem.nconstraint = is->motor0 + rows;
    is->problem.nrow = is->motors ? f->constraint[is->first_constraint + is->motor0].row + rows : is->problem.nrow;
}

static void swap(double *x, int a, int b) {
    double kept = x[a];
    x[a] = x[b];
    x[b] = kept;
}

/* The motor at this place of the list changes places with the first that is no row, and is one. */
static void make_row(frame *f, island *is, int i) {
    int to = is->first_constraint + is->problem.nconstraint, from = f->tie_of[i];
    sim_constraint c = f->constraint[i];
    int a = f->constraint[to].row, b = c.row;
    double *of_rows[] = {f->impulse_guess + is->first_row, is->R, is->target, is->R_rigid, is->target_rigid};
    f->constraint[i] = f->constraint[to];
    f->constraint[to] = c;
    f->constraint[i].row = b;
    f->constraint[to].row = a;
    f->tie_of[i] = f->tie_of[to];
    f->tie_of[to] = from;
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        swap(of_rows[k], a, b);
    }
    set_rows(f, is, is->rows + 1);
}

static int end_of(const island *is) { return is->first_constraint + is->motor0 + is->motors; }

/* ---- A and v* ---- */

static void take_out_of_A(frame *f, island *is) {
    int first = is->first_constraint + is->motor0;
    for (int i = first; i < first + is->motors; i++) {
        int j = dof_of(is, motor_of(f, i));
        f->extra[j] = f->in->extra[j];
    }
    for (int i = first; i < first + is->rows; i++) {
        const contact_motor *motor = motor_of(f, i);
        int j = dof_of(is, motor);
        f->extra[j] = motor->side ? f->extra[j] : max_of(0, f->extra[j] - motor->gain);
    }
    for (int t = 0; t < is->problem.ntree; t++) {
        if (f->driven[is->mass.tree[t]]) {
            mass_change(&is->mass, is->mass.tree[t]);
        }
    }
    if (is->problem.bodies) {
        bodies_diagonal(f, is->mass.model, is);
    }
}

/* The v* that free motion found. */
static void restore_v(frame *f, const island *is) {
    for (int t = 0; t < is->problem.ntree; t++) {
        const sim_tree *from = &is->mass.model->tree[is->mass.tree[t]];
        memcpy(f->v_free + is->first_v + is->problem.tree[t].v0, f->in->v_free + from->v0,
               (size_t)from->nv * sizeof *f->v_free);
    }
}

void motors_let_go(frame *f, island *is) {
    if (is->motors == 0) {
        return;
    }
    double *x = is->shift, *v = f->v_free + is->first_v; /* the shift is found later */
    take_out_of_A(f, is);
    restore_v(f, is);
    memset(x, 0, (size_t)is->problem.nv * sizeof *x);
    for (int i = is->first_constraint + is->motor0; i < is->first_constraint + is->motor0 + is->rows; i++) {
        const contact_motor *motor = motor_of(f, i);
        int j = place_of(f, is, i);
        x[j] += f->in->step * (motor->side ? motor->side * f->constraint[i].bound : asked(f, motor, v[j]));
    }
    for (int t = 0; t < is->problem.ntree && is->rows; t++) {
        const sim_problem_tree *tree = &is->problem.tree[t];
        if (f->driven[is->mass.tree[t]]) {
            is->problem.mass.solve(is->problem.mass.self, t, x + tree->v0);
        }
        for (int j = tree->v0; j < tree->v0 + tree->nv; j++) {
            v[j] -= x[j];
        }
    }
}

void motors_all(frame *f, island *is) {
    if (is->motors) {
        set_rows(f, is, is->motors);
        take_out_of_A(f, is);
        restore_v(f, is);
    }
}

void motors_begin(frame *f, island *is) {
    set_rows(f, is, 0);
    for (int i = is->first_constraint + is->motor0; i < end_of(is); i++) {
        const contact_motor *motor = motor_of(f, i);
        double before = f->in->effort_before[motor->actuator], bound = f->constraint[i].bound;
        if ((before >= bound) - (before <= -bound) != motor->side) {
            make_row(f, is, i);
        }
    }
    motors_let_go(f, is);
}

void motors_return(frame *f, island *is, int rows) {
    if (is->motors) {
        set_rows(f, is, rows);
        motors_let_go(f, is);
    }
}

int motors_crossed(frame *f, island *is) {
    int before = is->rows, rows = is->problem.nrow;
    for (int i = is->first_constraint + is->problem.nconstraint; i < end_of(is); i++) {
        const contact_motor *motor = motor_of(f, i);
        double effort = asked(f, motor, is->v[place_of(f, is, i)]), bound = f->constraint[i].bound;
        if (side_of(effort, bound) != motor->side) {
            f->impulse_guess[f->row[i]] = f->in->step * within(effort, bound);
            make_row(f, is, i);
        }
    }
    if (is->rows > before) {
        double *guess = f->v_guess + is->first_v;
        memcpy(guess, is->v, (size_t)is->problem.nv * sizeof *guess);
        is->problem.v_guess = guess;
        memcpy(f->impulse_guess + is->first_row, is->impulse, (size_t)rows * sizeof *guess);
        motors_let_go(f, is);
    }
    return is->rows - before;
}
