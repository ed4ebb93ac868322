/* Limited actuators: feedback with a range of forces, as rows or as part of A and v*.
 *
 *     s(v) = force - (dt stiffness + damping) v,     |gamma| <= dt bound,     v = g q'
 *     A_ = A - g^2 E e e',     v_ = v* - A_^-1 g e dt p(v*)
 *
 *     v, g        velocity of its length at the end of the step, rad/s or m/s, and its gear
 *     s, gamma    force asked for beyond the middle of its range, N m or N, and impulse dt s within its limit
 *     stiffness, damping   of the force over the length and v; positions move with v0 + theta (v - v0)
 *     p(v)        force on the side that free motion has chosen: s(v) within the limit, else the limit
 *     E           dt (dt stiffness + damping) within the limit, else 0
 *     e           unit vector of the joint
 *
 * While contacts leave the actuator on its side, p is exact, it needs no row, and A is better conditioned with E.  An
 * actuator that is driven off its side becomes a row wholly: kind SIM_ACTUATOR, J = g e.  A_ and v_ are without all
 * actuators that are rows, and both problems agree as long as these stay on their side:
 *
 *     A (v - v*) = J' gamma    <=>    A_ (v - v_) = J' gamma + g e dt p(v).
 *
 * Actuators that are no joints' are always rows, J = dl/dq: v* is without them.
 *
 * So an island is solved, actuators that the solution drives off their side become rows, and it is solved again from
 * there (solve_island.c).  Rows stay rows: there are at most as many solves as actuators, mostly one or two.  In the
 * end every actuator gives the force of its own law at the end velocity. */
#include "contact/problem/assemble.h"

#include <string.h>

static const contact_actuator *find_actuator(const assembly *f, int constraint) {
    return &f->in->actuator[f->source[f->source_of[constraint]].index];
}

/* Of a joint's. */
static int actuator_dof(const island *is, const contact_actuator *a) {
    return is->mass.model->actuator[a->actuator].dof;
}

static double actuator_gear(const island *is, const contact_actuator *a) {
    return is->mass.model->actuator[a->actuator].gear;
}

/* The k-th actuator of the island's order, in the list of all constraints. */
static int actuator_place(const island *is, int k) { return is->first_constraint + is->first_actuator + is->order[k]; }

/* The place of its joint's velocity among those of its island. */
static int velocity_place(const assembly *f, const island *is, int constraint) {
    int tree = f->constraint[constraint].tree[0];
    return is->base.tree[tree].v0 + actuator_dof(is, find_actuator(f, constraint)) -
           is->mass.model->tree[is->mass.tree[tree]].v0;
}

/* Rate of its length, at the velocities of its island. */
static double eval_rate(const assembly *f, const island *is, int constraint, const double *v) {
    const contact_actuator *a = find_actuator(f, constraint);
    const sim_problem_tree *t = &is->base.tree[f->constraint[constraint].tree[0]];
    return a->moment ? dense_dot(t->nv, a->moment, v + t->v0)
                     : actuator_gear(is, a) * v[velocity_place(f, is, constraint)];
}

static double eval_effort(const assembly *f, const contact_actuator *a, double v) {
    return a->force - a->gain / f->in->step * v;
}

static int limit_side(double effort, double bound) { return (effort > bound) - (effort < -bound); }

static double clamp_effort(double effort, double bound) { return max_of(-bound, min_of(bound, effort)); }

sim_constraint actuator_constraint(const assembly *f, const sim_model *m, const contact_actuator *a) {
    const sim_actuator *from = &m->actuator[a->actuator];
    int body = from->dof >= 0 ? m->dof[from->dof].body : m->tree[from->tree].body0;
    return (sim_constraint){.kind = isfinite(a->bound) ? SIM_ACTUATOR : SIM_SPRING,
                            .rows = 1,
                            .tree = {-1, -1},
                            .body = {body, -1},
                            .id = (uint64_t)a->actuator,
                            .bound = a->bound,
                            .stiffness = f->in->travel * a->stiffness,
                            .damping = a->damping,
                            .force = a->force};
}

void rows_of_actuator(assembly *f, const sim_model *m, int i) {
    const contact_actuator *a = find_actuator(f, i);
    const sim_actuator *from = &m->actuator[a->actuator];
    const sim_tree *t = &m->tree[from->tree];
    int row = f->row[i];
    double *J = block_of(f, i, 0);
    if (a->moment) {
        memcpy(J, a->moment, (size_t)t->nv * sizeof *J);
    } else {
        J[from->dof - t->v0] = from->gear;
    }
    f->gap[row] = 0;
    f->impulse_guess[row] = f->in->step * (f->in->effort_before[a->actuator] - a->middle);
}

void actuator_scatter(const assembly *f, const island *is, int k, double impulse, double *effort) {
    const contact_actuator *a = find_actuator(f, actuator_place(is, k));
    int side = (impulse >= f->in->step * a->bound) - (impulse <= -f->in->step * a->bound);
    effort[a->actuator] = side ? a->range[side > 0] : a->middle + impulse / f->in->step;
}

bool actuator_is_held(const assembly *f, const island *is, int k) {
    return find_actuator(f, actuator_place(is, k))->moment != NULL;
}

/* ---- A and v* ---- */

void actuators_remove_from_mass(assembly *f, const island *is) {
    /* the diagonal with all, then without the rows */
    for (int k = 0; k < is->actuators; k++) {
        const contact_actuator *a = find_actuator(f, actuator_place(is, k));
        if (!a->moment) {
            f->extra[actuator_dof(is, a)] = f->in->extra[actuator_dof(is, a)];
        }
    }
    for (int k = 0; k < is->rows; k++) {
        const contact_actuator *a = find_actuator(f, actuator_place(is, k));
        int j = actuator_dof(is, a);
        double g = actuator_gear(is, a);
        if (!a->moment && !a->side) {
            f->extra[j] = max_of(0, f->extra[j] - g * g * a->gain);
        }
    }
    /* factors */
    for (int t = 0; t < is->base.ntree; t++) {
        if (f->driven[is->mass.tree[t]]) {
            mass_change(&is->mass, is->mass.tree[t]);
        }
    }
    if (is->base.bodies && is->bodies.filled) {
        bodies_diagonal(f, is->mass.model, is);
    }
}

void actuators_remove_from_v_free(const assembly *f, const island *is, double *v) {
    const sim_problem *p = &is->base;
    memset(v, 0, (size_t)p->nv * sizeof *v);
    /* g dt p(v*) */
    for (int k = 0; k < is->rows; k++) {
        int i = actuator_place(is, k);
        const contact_actuator *a = find_actuator(f, i);
        if (!a->moment) {
            double effort = a->side ? a->side * a->bound : eval_effort(f, a, eval_rate(f, is, i, p->v_free));
            v[velocity_place(f, is, i)] += f->in->step * actuator_gear(is, a) * effort;
        }
    }
    /* v_ = v* - A_^-1 g e dt p(v*) */
    for (int t = 0; t < p->ntree; t++) {
        if (is->rows && f->driven[is->mass.tree[t]]) {
            p->mass.solve(p->mass.self, t, v + p->tree[t].v0);
        }
    }
    for (int j = 0; j < p->nv; j++) {
        v[j] = p->v_free[j] - v[j];
    }
}

/* ---- which are rows ---- */

/* The k-th of the order becomes the first one that is no row. */
static void move_to_rows(int *order, int first, int k) {
    int kept = order[first];
    order[first] = order[k];
    order[k] = kept;
}

int actuators_predict_rows(const assembly *f, island *is) {
    int rows = 0;
    for (int k = 0; k < is->actuators; k++) {
        int i = actuator_place(is, k);
        const contact_actuator *a = find_actuator(f, i);
        double before = f->in->effort_before[a->actuator] - a->middle, bound = a->bound;
        if (a->moment || (before >= bound) - (before <= -bound) != a->side) {
            move_to_rows(is->order, rows++, k);
        }
    }
    return rows;
}

/* Impulses of a warm start of its own: those of `base` stay the impulses of the step before. */
static void own_impulse_guess(const assembly *f, island *is) {
    double *own = f->impulse_warm + is->first_row;
    if (is->impulse_guess != own) {
        memcpy(own, is->impulse_guess, (size_t)is->base.nrow * sizeof *own);
        is->impulse_guess = own;
    }
}

/* The solution becomes the warm start; impulses in the order of `base`. */
static void keep_warm_start(const assembly *f, island *is) {
    int first = is->base.nrow - is->actuators;
    double *v = f->v_guess + is->first_v;
    memcpy(v, is->v, (size_t)is->base.nv * sizeof *v);
    is->v_guess = v;
    memcpy(is->impulse_guess, is->impulse, (size_t)first * sizeof *v);
    for (int k = 0; k < is->rows; k++) {
        is->impulse_guess[first + is->order[k]] = is->impulse[first + k];
    }
}

int actuators_add_crossed(const assembly *f, island *is) {
    int rows = is->rows;
    for (int k = is->rows; k < is->actuators; k++) {
        int i = actuator_place(is, k);
        const contact_actuator *a = find_actuator(f, i);
        double effort = eval_effort(f, a, eval_rate(f, is, i, is->v)), bound = a->bound;
        if (limit_side(effort, bound) != a->side) {
            own_impulse_guess(f, is);
            is->impulse_guess[f->constraint[i].row] = f->in->step * clamp_effort(effort, bound);
            move_to_rows(is->order, rows++, k);
        }
    }
    if (rows > is->rows) {
        keep_warm_start(f, is);
    }
    return rows - is->rows;
}
