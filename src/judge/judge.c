/* Figures of error of a solution, constraint by constraint.
 *
 * From gamma follow the velocities u = b + W gamma (motion.c) and, for the rigid law and for the solver's own,
 * q = b - target and s = q + (W + R) gamma.  The natural map of projection.h, for rho = 1 and in units of velocity for
 * rho_i = rows / trace(W_ii + R_i), gives the parts of E (sim/judge.h).  Besides:
 *
 *     slackness   s . gamma and the cost gamma . (W + R) gamma / 2 = (|vbar - v*|_A^2 + |gamma|_R^2) / 2
 *     lee         gamma - Pi(gamma - s), the nested projection
 *
 * and plain figures: impulses outside their set, overlap after the step, joints past their range, slip inside the cone, friction that drives.
 * References: Castro, Permenter, Han 2021, eqs. 24, 33; Lee et al. 2024, sec. VII.
 * Cost: two natural maps a contact and law; motion.c has the products. */
#include "judge/energy.h"
#include "judge/motion.h"
#include "judge/projection.h"
#include "judge/slots.h"

#include <string.h>

static const double MAX_INSIDE_PART = 0.999; /* of mu gamma_n: less friction is inside its cone */

typedef struct trial {
    const sim_problem *problem;
    const double *gamma;
    judge_motion motion;
    sim_judgement *judgement;
} trial;

static double square_of(double x) { return x * x; }

static double plane_norm(double x, double y) { return sqrt(x * x + y * y); }

static void keep_greatest(trial *t, const sim_constraint *c, int slot, double value) {
    if (value > t->judgement->most[slot]) {
        t->judgement->most[slot] = value;
        t->judgement->at[slot] = (int)(c - t->problem->constraint);
    }
}

/* A constraint under one law: s, with mu |s_t| added to the normal by Coulomb's law, and w = 1 / rho_i. */
typedef struct law_view {
    double *sum; /* of this law */
    double s[SIM_MAX_ROWS], w;
} law_view;

static void eval_law(const trial *t, const sim_constraint *c, const sim_regularisation *law, double *sum, law_view *a) {
    const judge_motion *m = &t->motion;
    double q2 = 0, s2 = 0, gamma2 = 0, w = m->trace[c - t->problem->constraint];
    for (int k = 0; k < c->rows; k++) {
        int row = c->row + k;
        double q = m->free[row] - law->target[row];
        double s = q + m->pushed[row] + law->R[row] * t->gamma[row];
        a->s[k] = s;
        w += law->R[row];
        q2 += q * q;
        s2 += s * s;
        gamma2 += square_of(t->gamma[row]);
    }
    a->sum = sum;
    a->w = w = w > 0 ? w / c->rows : 0;
    sum[FREE] += q2;
    sum[SHIFTED] += s2;
    sum[UNDOING] += w > 0 ? fmax(q2, m->speed[c - t->problem->constraint]) / square_of(w) : 0;
    sum[MOVED] += square_of(w) * gamma2;
}

/* The parts of E, from |F(1)|^2 and |F_i / rho_i|^2; F(0) if nothing moves the constraint. */
static void add_maps(const law_view *a, double sic, double velocity, double still) {
    a->sum[MAP_SIC] += sic;
    a->sum[MAP_VELOCITY] += velocity;
    a->sum[MAP_IMPULSE] += a->w > 0 ? velocity / square_of(a->w) : still;
}

static void judge_lee(trial *t, const sim_constraint *c, const law_view *rigid) {
    simd4 s[3], w = {1, rigid->w, 0, 0};
    for (int k = 0; k < 3; k++) {
        s[k] = (simd4){rigid->s[k], rigid->s[k], 0, 0};
    }
    simd4 map = contact_maps(project_nested, c->friction, w, t->gamma + c->row, s);
    t->judgement->sum[LEE] += map[0];
    t->judgement->sum[LEE_SCALED] += map[1];
}

static void judge_cone(trial *t, const sim_constraint *c, law_view *rigid, law_view *own, sim_cone cone) {
    const double *gamma = t->gamma + c->row;
    judge_lee(t, c, rigid);
    rigid->s[2] += c->friction * plane_norm(rigid->s[0], rigid->s[1]);
    own->s[2] += cone == SIM_CONE_CONVEX ? 0 : c->friction * plane_norm(own->s[0], own->s[1]);
    simd4 w = {1, rigid->w, 1, own->w}, s[3], none[3] = {{0}, {0}, {0}};
    for (int k = 0; k < 3; k++) {
        s[k] = (simd4){rigid->s[k], rigid->s[k], own->s[k], own->s[k]};
    }
    simd4 map = contact_maps(project_cones, c->friction, w, gamma, s);
    double still =
        rigid->w > 0 && own->w > 0 ? 0 : contact_maps(project_cones, c->friction, none[0] + 1, gamma, none)[0];
    add_maps(rigid, map[0], map[1], still);
    add_maps(own, map[2], map[3], still);
    keep_greatest(t, c, MAP_WORST, map[1]);
    keep_greatest(t, c, MAP_WORST_OWN, map[3]);
    t->judgement->sum[SLACK] += fabs(own->s[0] * gamma[0] + own->s[1] * gamma[1] + own->s[2] * gamma[2]);
}

/* The same of a contact that resists turning. */
static void judge_turning(trial *t, const sim_constraint *c, law_view *rigid, law_view *own, sim_cone cone) {
    static const double none[SIM_MAX_ROWS];
    const double *gamma = t->gamma + c->row;
    double *sum = t->judgement->sum;
    sum[LEE] += turning_map(c, true, 1, gamma, rigid->s);
    sum[LEE_SCALED] += turning_map(c, true, rigid->w, gamma, rigid->s);
    rigid->s[2] += turning_shift(c, rigid->s);
    own->s[2] += cone == SIM_CONE_CONVEX ? 0 : turning_shift(c, own->s);
    double still = turning_map(c, false, 1, gamma, none), map = turning_map(c, false, rigid->w, gamma, rigid->s),
           map_own = turning_map(c, false, own->w, gamma, own->s);
    add_maps(rigid, turning_map(c, false, 1, gamma, rigid->s), map, still);
    add_maps(own, turning_map(c, false, 1, gamma, own->s), map_own, still);
    keep_greatest(t, c, MAP_WORST, map);
    keep_greatest(t, c, MAP_WORST_OWN, map_own);
    double slack = 0;
    for (int k = 0; k < c->rows; k++) {
        slack += own->s[k] * gamma[k];
    }
    sum[SLACK] += fabs(slack);
}

/* The impulse of its other discs outside of them, and what drives. */
static void judge_discs(trial *t, const sim_constraint *c) {
    sim_disc disc[SIM_MAX_DISCS];
    const double *gamma = t->gamma + c->row, *b = t->motion.free + c->row, *Wg = t->motion.pushed + c->row;
    for (int k = 1, count = sim_contact_discs(c, disc); k < count; k++) {
        double power = 0;
        for (int r = disc[k].row; r < disc[k].row + disc[k].rows; r++) {
            power += gamma[r] * (b[r] + Wg[r]);
        }
        keep_greatest(t, c, CONE, disc_length(&disc[k], gamma) - disc[k].bound * gamma[2]);
        keep_greatest(t, c, DRIVE, power);
    }
}

static void judge_rows(trial *t, const sim_constraint *c, const law_view *rigid, const law_view *own) {
    static const double none[SIM_MAX_ROWS];
    const double *gamma = t->gamma + c->row, dt = t->problem->step, still = row_map(c, dt, 1, gamma, none);
    double map = row_map(c, dt, rigid->w, gamma, rigid->s), map_own = row_map(c, dt, own->w, gamma, own->s);
    add_maps(rigid, row_map(c, dt, 1, gamma, rigid->s), map, still);
    add_maps(own, row_map(c, dt, 1, gamma, own->s), map_own, still);
    keep_greatest(t, c, MAP_WORST, map);
    keep_greatest(t, c, MAP_WORST_OWN, map_own);
}

/* |gamma|^2 and gamma . (W + R) gamma / 2; the speeds */
static void judge_size(trial *t, const sim_constraint *c, const sim_regularisation *own) {
    t->judgement->sum[SPEED] += t->motion.speed[c - t->problem->constraint];
    for (int k = c->row; k < c->row + c->rows; k++) {
        double gamma = t->gamma[k];
        t->judgement->sum[IMPULSE] += gamma * gamma;
        t->judgement->sum[COST] += gamma * (t->motion.pushed[k] + own->R[k] * gamma) / 2;
    }
}

static void judge_contact(trial *t, const sim_constraint *c) {
    const double *gamma = t->gamma + c->row, *b = t->motion.free + c->row, *Wg = t->motion.pushed + c->row;
    const double *gap = t->problem->gap, dt = t->problem->step;
    double u[3] = {b[0] + Wg[0], b[1] + Wg[1], b[2] + Wg[2]};
    double friction = plane_norm(gamma[0], gamma[1]), most = c->friction * gamma[2];
    keep_greatest(t, c, CONE, fmax(-gamma[2], friction - most));
    keep_greatest(t, c, PENETRATION, -((gap ? gap[c->row + 2] : 0) + dt * u[2]));
    keep_greatest(t, c, DRIVE, gamma[0] * u[0] + gamma[1] * u[1]);
    if (friction < MAX_INSIDE_PART * most) {
        keep_greatest(t, c, SLIP, plane_norm(u[0], u[1]));
    }
}

static void judge_other(trial *t, const sim_constraint *c) {
    const double *gap = t->problem->gap, dt = t->problem->step;
    for (int k = 0; k < c->rows; k++) {
        int row = c->row + k;
        double gamma = t->gamma[row], u = t->motion.free[row] + t->motion.pushed[row];
        if (c->kind == SIM_LIMIT) {
            keep_greatest(t, c, CONE, -gamma);
            keep_greatest(t, c, c->turns ? PAST_RANGE : PENETRATION, -((gap ? gap[row] : 0) + dt * u));
        } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
            keep_greatest(t, c, CONE, fabs(gamma) - dt * c->bound);
        }
        if (c->kind == SIM_FRICTION) {
            keep_greatest(t, c, DRIVE, gamma * u);
        }
    }
}

/* The first constraint whose impulse is not finite, -1: none. */
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

static void judge_balance_of(trial *t, const double *v) {
    double *sum = t->judgement->sum;
    judge_balance b = judge_eval_momentum(t->problem, v, &t->motion);
    sum[BALANCE] = b.error;
    sum[MOMENTUM] = b.momentum;
    sum[CONTACT_MOMENTUM] = b.contact;
}

size_t sim_judge_work(const sim_problem *p) { return judge_motion_size(p); }

void sim_judge(const sim_problem *p, const sim_regularisation *rigid, const sim_regularisation *own, sim_cone cone,
               const double *v, const double *gamma, double *work, sim_judgement *judgement) {
    int nonfinite = first_nonfinite(p, gamma);
    *judgement = (sim_judgement){.constraints = p->nconstraint, .nonfinite = nonfinite >= 0}; /* v: by its momentum */
    trial t = {p, gamma, judge_motion_in(p, work), judgement};
    for (int i = 0; i < p->nconstraint; i++) {
        judgement->contacts += p->constraint[i].kind == SIM_CONTACT;
    }
    if (judgement->nonfinite) {
        judgement->most[MAP_WORST] = INFINITY;
        judgement->at[MAP_WORST] = nonfinite;
        return;
    }
    judge_eval_motion(p, gamma, &t.motion);
    judge_balance_of(&t, v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        law_view of_rigid, of_own;
        eval_law(&t, c, rigid, judgement->sum + RIGID, &of_rigid);
        eval_law(&t, c, own, judgement->sum + OWN, &of_own);
        judge_size(&t, c, own);
        if (c->kind == SIM_CONTACT && sim_contact_turns(c)) {
            judge_turning(&t, c, &of_rigid, &of_own, cone);
            judge_contact(&t, c);
            judge_discs(&t, c);
        } else if (c->kind == SIM_CONTACT) {
            judge_cone(&t, c, &of_rigid, &of_own, cone);
            judge_contact(&t, c);
        } else {
            judge_rows(&t, c, &of_rigid, &of_own);
            judge_other(&t, c);
        }
    }
    judge_energy(p, own->target, v, gamma, &t.motion, judgement); /* the last, as it overwrites j */
}
