/* How far is an answer from what the laws ask, constraint by constraint?
 *
 * From gamma follow the velocities u = b + W gamma (motion.c) and, for the rigid law and for the one that the solver was
 * given, q = b - target and s = q + (W + R) gamma.  The natural map of projection.h, for rho = 1 and in units of velocity
 * for rho_i = rows / trace(W_ii + R_i), gives the parts of E; see sim/judge.h.  Besides:
 *
 *     slackness   s . gamma and the cost gamma . (W + R) gamma / 2 = (|vbar - v*|_A^2 + |gamma|_R^2) / 2
 *                 (Castro, Permenter, Han 2021, eqs. 24, 33)
 *     lee         gamma - Pi(gamma - s), the nested projection (Lee et al. 2024, sec. VII)
 *
 * and what a person would ask: is an impulse outside its set, what overlaps after the step, what slips although its
 * friction could hold it, does friction push anything along. */
#include "judge/motion.h"
#include "judge/projection.h"
#include "judge/slots.h"

#include <string.h>

/* Friction that uses less than this part of what it may is inside its cone. */
static const double inside = 0.999;

typedef struct trial {
    const sim_problem *problem;
    const double *gamma;
    judge_motion motion;
    sim_judgement *judgement;
} trial;

static double square(double x) { return x * x; }

static double length2(double x, double y) { return sqrt(x * x + y * y); }

static void keep_most(trial *t, int slot, double value) {
    if (value > t->judgement->most[slot]) {
        t->judgement->most[slot] = value;
    }
}

/* s, and with it what R makes of the inverse mass. */
typedef struct shifted {
    double s[SIM_MAX_ROWS], w;
} shifted;

static shifted judge_shift(const trial *t, const sim_constraint *c, const sim_regularisation *law, double *sum) {
    const judge_motion *m = &t->motion;
    shifted a = {.w = m->trace[c - t->problem->constraint]};
    double q2 = 0;
    for (int k = 0; k < c->rows; k++) {
        int row = c->row + k;
        double q = m->free[row] - law->target[row];
        a.s[k] = q + m->pushed[row] + law->R[row] * t->gamma[row];
        a.w += law->R[row];
        q2 += q * q;
        sum[SHIFTED] += square(a.s[k]);
    }
    a.w = a.w > 0 ? a.w / c->rows : 0;
    sum[FREE] += q2;
    sum[UNDOING] += a.w > 0 ? q2 / square(a.w) : 0;
    return a;
}

/* The parts of E; returns |F_i / rho_i|^2. */
static double judge_map(const trial *t, const sim_constraint *c, const double *s, double w, double *sum) {
    static const double still[SIM_MAX_ROWS];
    const double *gamma = t->gamma + c->row, dt = t->problem->step;
    double velocity = natural_map(c, dt, w, gamma, s);
    sum[MAP_SIC] += natural_map(c, dt, 1, gamma, s);
    sum[MAP_VELOCITY] += velocity;
    sum[MAP_IMPULSE] += w > 0 ? velocity / square(w) : natural_map(c, dt, 1, gamma, still);
    return velocity;
}

/* s + (0, 0, mu |s_t|) of contacts, where the law is Coulomb's. */
static void add_de_saxce(const sim_constraint *c, double *s) {
    if (c->kind == SIM_CONTACT) {
        s[2] += c->friction * length2(s[0], s[1]);
    }
}

static void judge_rigid(trial *t, const sim_constraint *c, const sim_regularisation *law) {
    double *sum = t->judgement->sum;
    const double *gamma = t->gamma + c->row;
    shifted a = judge_shift(t, c, law, sum + RIGID);
    if (c->kind == SIM_CONTACT) {
        double y[3], z[3];
        for (int k = 0; k < 3; k++) {
            y[k] = gamma[k] - a.s[k];
            z[k] = a.w * gamma[k] - a.s[k];
        }
        project_nested(c->friction, y);
        project_nested(c->friction, z);
        for (int k = 0; k < 3; k++) {
            sum[LEE] += square(gamma[k] - y[k]);
            sum[LEE_SCALED] += square(a.w * gamma[k] - z[k]);
        }
    }
    add_de_saxce(c, a.s);
    double map = judge_map(t, c, a.s, a.w, sum + RIGID);
    if (map > t->judgement->most[MAP_WORST]) {
        t->judgement->most[MAP_WORST] = map;
        t->judgement->worst = (int)(c - t->problem->constraint);
    }
}

static void judge_own(trial *t, const sim_constraint *c, const sim_regularisation *law, sim_cone cone) {
    double *sum = t->judgement->sum, slack = 0;
    shifted a = judge_shift(t, c, law, sum + OWN);
    if (cone != SIM_CONE_CONVEX) {
        add_de_saxce(c, a.s);
    }
    judge_map(t, c, a.s, a.w, sum + OWN);
    for (int k = 0; k < c->rows; k++) {
        double gamma = t->gamma[c->row + k];
        slack += a.s[k] * gamma;
        sum[COST] += gamma * (t->motion.pushed[c->row + k] + law->R[c->row + k] * gamma) / 2;
    }
    sum[SLACK] += c->kind == SIM_CONTACT ? fabs(slack) : 0;
}

static void judge_contact(trial *t, const sim_constraint *c) {
    const double *gamma = t->gamma + c->row, *b = t->motion.free + c->row, *Wg = t->motion.pushed + c->row;
    const double *gap = t->problem->gap, dt = t->problem->step;
    double u[3] = {b[0] + Wg[0], b[1] + Wg[1], b[2] + Wg[2]};
    double friction = length2(gamma[0], gamma[1]), most = c->friction * gamma[2];
    keep_most(t, CONE, fmax(-gamma[2], friction - most));
    keep_most(t, PENETRATION, -((gap ? gap[c->row + 2] : 0) + dt * u[2]));
    keep_most(t, DRIVE, gamma[0] * u[0] + gamma[1] * u[1]);
    if (friction < inside * most) {
        keep_most(t, SLIP, length2(u[0], u[1]));
    }
}

static void judge_other(trial *t, const sim_constraint *c) {
    const double *gap = t->problem->gap, dt = t->problem->step;
    for (int k = 0; k < c->rows; k++) {
        int row = c->row + k;
        double gamma = t->gamma[row], u = t->motion.free[row] + t->motion.pushed[row];
        if (c->kind == SIM_LIMIT) {
            keep_most(t, CONE, -gamma);
            keep_most(t, PENETRATION, -((gap ? gap[row] : 0) + dt * u));
        } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
            keep_most(t, CONE, fabs(gamma) - dt * c->bound);
        }
        if (c->kind == SIM_FRICTION) {
            keep_most(t, DRIVE, gamma * u);
        }
    }
}

/* The first constraint whose impulse is no number, -1: none. */
static int first_nonfinite(const sim_problem *p, const double *gamma) {
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->constraint[i].row; k < p->constraint[i].row + p->constraint[i].rows; k++) {
            if (!isfinite(gamma[k])) {
                return i;
            }
        }
    }
    return -1;
}

static int all_finite(const double *x, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(x[k])) {
            return 0;
        }
    }
    return 1;
}

static void judge_balance_of(trial *t, const double *v) {
    double *sum = t->judgement->sum;
    judge_balance b = judge_momentum(t->problem, v, &t->motion);
    sum[BALANCE] = b.error;
    sum[MOMENTUM] = b.momentum;
    sum[CONTACT_MOMENTUM] = b.contact;
}

size_t sim_judge_work(const sim_problem *p) { return judge_motion_size(p); }

void sim_judge(const sim_problem *p, const sim_regularisation *rigid, const sim_regularisation *own, sim_cone cone,
               const double *v, const double *gamma, double *work, sim_judgement *judgement) {
    *judgement = (sim_judgement){.constraints = p->nconstraint, .worst = first_nonfinite(p, gamma)};
    judgement->nonfinite = judgement->worst >= 0 || !all_finite(v, p->nv);
    trial t = {p, gamma, judge_motion_in(p, work), judgement};
    for (int i = 0; i < p->nconstraint; i++) {
        judgement->contacts += p->constraint[i].kind == SIM_CONTACT;
    }
    if (judgement->nonfinite) {
        judgement->most[MAP_WORST] = judgement->worst >= 0 ? INFINITY : 0;
        return;
    }
    judge_motion_of(p, gamma, &t.motion);
    judge_balance_of(&t, v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        judge_rigid(&t, c, rigid);
        judge_own(&t, c, own, cone);
        if (c->kind == SIM_CONTACT) {
            judge_contact(&t, c);
        } else {
            judge_other(&t, c);
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            judgement->sum[IMPULSE] += square(gamma[k]);
        }
    }
    judgement->nonfinite = !all_finite(judgement->sum, SUMS);
}
