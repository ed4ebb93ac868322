/* Derivatives of rows by the start of the step: J, gap, offset and warm start of joints.
 *
 *     ends of ranges, friction, velocity limits    dJ = 0,  d gap = +-dq
 *     coupling    J = (1, -P'(x)),  x = q_2 + p dt v_2,    gap = q_1 - P(q_2),    w = -k P''(x) v_2^2
 *
 *     P      polynomial of the coupling;  p: part of the step at which J is taken
 *     k      dt (3/2 - theta - p) dt, as in offset_of_bias, s
 *
 * Reference: contact/problem/row/joints.c, equalities.c.  Cost: constant. */
#include "world/derivative/derivative.h"

const char *row_trouble(const contact_step *step, const island *is, int i) {
    const constraint_source *t = &step->rows->source[is->source[i]];
    if (t->kind == SOURCE_CONTACT) {
        return contact_trouble(step, t->index);
    }
    if (is_tendon_row(t->kind)) {
        return "has a tendon that acts";
    }
    sim_equality_type type = t->kind == SOURCE_EQUALITY ? step->contacts->equality[t->index].type : SIM_COUPLING;
    return type == SIM_SPRING_DAMPER     ? "has a spring between bodies"
           : type == SIM_TENDON_COUPLING ? "has a constraint of tendons"
                                         : NULL;
}

/* P', P'', P''' at x. */
static void polynomial_slopes(const sim_equality *e, double x, double slope[3]) {
    const double *h = e->higher;
    slope[0] = e->ratio + x * (2 * h[0] + x * (3 * h[1] + x * 4 * h[2]));
    slope[1] = 2 * h[0] + x * (6 * h[1] + x * 12 * h[2]);
    slope[2] = 6 * h[1] + x * 24 * h[2];
}

static void differentiate_coupling(const island_system *s, const sim_equality *e, constraint_change *out) {
    const motion_work *w = s->step->motion;
    sim_integrator scheme = w->options->integrator;
    double p = theta_position(scheme) * s->dt, k = s->dt * (1.5 - theta_travel(scheme) - theta_position(scheme));
    double q2 = w->now->q[w->model->dof[e->dof[1]].coordinate], v2 = w->now->v[e->dof[1]], at[3], start[3];
    int one = local_column(s, &out->at, BY_START_Q, e->dof[0]), two = local_column(s, &out->at, BY_START_Q, e->dof[1]),
        rate = local_column(s, &out->at, BY_START_V, e->dof[1]);
    double *dJ = out->J[0] + (ptrdiff_t)local_dof(s, &out->at, e->dof[1]) * out->at.width;
    polynomial_slopes(e, q2 + p * v2, at);
    polynomial_slopes(e, q2, start);
    dJ[two] = -at[1];
    dJ[rate] = -at[1] * p;
    out->gap[one] = 1;
    out->gap[two] = -start[0];
    out->offset[two] = -k * at[2] * v2 * v2;
    out->offset[rate] = -k * v2 * (at[2] * p * v2 + 2 * at[1]);
}

bool differentiate_rows(const island_system *s, int i, constraint_change *out) {
    const assembly *f = s->step->rows;
    const constraint_source *t = &f->source[s->is->source[i]];
    if (t->kind == SOURCE_CONTACT) {
        return differentiate_contact(s, i, out);
    }
    if (t->kind == SOURCE_LOW || t->kind == SOURCE_HIGH) {
        out->gap[local_column(s, &out->at, BY_START_Q, t->index)] = t->kind == SOURCE_LOW ? 1 : -1;
    } else if (t->kind == SOURCE_EQUALITY) {
        const sim_equality *e = &s->step->contacts->equality[t->index];
        if (e->type != SIM_COUPLING) {
            return differentiate_pair(s, i, e, out);
        }
        differentiate_coupling(s, e, out);
    }
    return true;
}
