/* Compliance R and target velocity of every row, by the rigid, the near-rigid and the elastic law.
 *
 *     s = u - target + R gamma,     gamma in K, s in K*, gamma . s = 0  (sim_cone, sim_constraint_kind)
 *
 * phi [m] gap, dt [s] step, k [N/m] stiffness, d = k tau [N s/m] damper between the surfaces, gamma [N s] impulse.
 * With phi = phi0 + dt u, spring and damper give at the end of the step
 *
 *     gamma = -dt k (phi + tau u)     <=>     R = 1 / (dt k (dt + tau)),   target = -phi0 / (dt + tau).
 *
 * Rigid: R = 0, target = -phi0 / dt.  Of an overlap a step undoes the part `push`, but for the slop (slop_of), and no
 * faster than `undo` (undone_part).  Near-rigid, with w = |W_ii|_F / 3 [1/kg], tau = dt for rigid contacts:
 *
 *     R_n = max(beta^2 / (4 pi^2) w, 1 / (dt k (dt + tau))),   R_t = sigma w,   target_n = -phi0 / (dt + tau).
 *
 * Elastic, with w = W_nn of a contact, c >= 1 its load over its weight (load_stiffening), gamma- of the step before:
 *
 *     R_n = R_t = max(beta^2 / (4 pi^2) w / c, 1 / (dt k (dt + tau))),   target_t = R_t gamma_t-,
 *     target_n = R_n h + push (-phi0 / dt - R_n h)  for phi0 < 0,   h = min(gamma_n-, greatest load: load_limit).
 *
 * w is at least MIN_NORMAL_PART of the mean of W_tt.  Rows against turning are like friction, with w of their own.
 * Friction has target 0, but for the elastic law.  Fast approaches bounce (near_rigid_bounce, rigid_target).  Six rows
 * of a weld are two constraints, of metres and of radians.  Springs and actuators state their own R.
 * Reference: Castro, Permenter, Han 2021, eqs. 23, 29, 30.
 * Differs from the paper: slop, slow undoing, restitution, the option `carried` (stiffening), and the elastic law. */
#include "problem/laws.h"

#include <math.h>

static const double MIN_COMPLIANCE_PART = 1e-6;    /* of R, where a deep overlap is undone slowly */
static const double STRIKE_COMPLIANCE_PART = 0.01; /* of the compliance of friction, near-rigid */
static const double FREE_LOAD_RATIO = 4;           /* elastic: loads over own weight that change no stiffness */
static const double MAX_LOAD_RATIO = 1e5;          /* elastic: greatest stiffening by a load */
static const double FREE_STRIKE_RATIO = 2;         /* elastic: speed over what forces add in a step that is no strike */
static const double MIN_NORMAL_PART = 0.1;         /* elastic: least w over the mean of W_tt */
static const double MIN_CHANGE = 1e-3;             /* elastic: least du over `undo` */
static const double MAX_LOAD = 1000;               /* elastic: greatest load over sqrt(E / w) */

static const double LOAD_KINK = 1e-9; /* of speeds that count as equal */

typedef struct law {
    const sim_problem *problem;
    sim_compliance compliance;
    const sim_law_options *options;
    double strike; /* m/s: the fastest strike in the step, 0: none */
    double energy; /* J: E of load_limit; infinite: not known */
    double depth;  /* m: of the deepest contact */
    bool bounces;  /* does a contact or limit bounce in the step? */
} law;

sim_law_options sim_law_options_default(void) {
    return (sim_law_options){
        .beta = 1, .sigma = 1e-3, .push = 0.2, .threshold = 0.01, .carried = 1, .slop = 0.02, .undo = 0.1};
}

sim_status sim_law_options_check(const sim_law_options *l, sim_error *error) {
    bool good = l->beta > 0 && isfinite(l->beta) && l->sigma > 0 && isfinite(l->sigma) && l->push >= 0 &&
                l->push <= 1 && l->threshold >= 0 && l->carried >= 1 && l->slop >= 0 && isfinite(l->slop) &&
                l->undo >= 0;
    return good ? SIM_OK
                : sim_fail(error, SIM_BAD_INPUT,
                           "beta and sigma must be positive, push from 0 to 1, threshold, slop and undo not negative, "
                           "carried 1 or more");
}

double sim_law_reach(sim_compliance compliance, double step) { return compliance == SIM_NEAR_RIGID ? 2 * step : step; }

/* J v of one row, one side's part. */
static double side_velocity(const sim_problem *p, const sim_constraint *c, int row, int side, const double *v) {
    double u = 0;
    if (c->tree[side] >= 0) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        const double *J = p->J + c->block[side] + (ptrdiff_t)row * t->nv;
        for (int j = 0; j < t->nv; j++) {
            u += J[j] * v[t->v0 + j];
        }
    }
    return u;
}

/* J v + w of one row, at the velocity before the step or without constraints. */
static double row_velocity(const sim_problem *p, const sim_constraint *c, int row, const double *v) {
    double u = p->offset ? p->offset[c->row + row] : 0;
    return v ? u + side_velocity(p, c, row, 0, v) + side_velocity(p, c, row, 1, v) : u;
}

/* Inverse mass that the row k of a constraint feels: root mean square of the block of W among those of its three. */
static double inverse_mass(const double *W, int rows, int k) {
    int first = k / 3 * 3, end = first + 3 < rows ? first + 3 : rows;
    double sum = 0;
    for (int i = first; i < end; i++) {
        for (int j = first; j < end; j++) {
            sum += W[i * rows + j] * W[i * rows + j];
        }
    }
    return sqrt(sum) / (end - first);
}

double law_normal_inverse_mass(int rows, const double *W, bool *floored) {
    double least = MIN_NORMAL_PART / 2 * (W[0] + W[rows + 1]), w = W[2 * rows + 2];
    *floored = w < least;
    return *floored ? least : w;
}

/* w of the row k: of the first three rows of an elastic contact that along its normal. */
static double law_inverse_mass(const law *l, const sim_constraint *c, const double *W, int k) {
    bool elastic_contact = l->compliance == SIM_ELASTIC && c->kind == SIM_CONTACT, floored;
    return elastic_contact && k < SIM_CONTACT_ROWS ? law_normal_inverse_mass(c->rows, W, &floored)
                                                   : inverse_mass(W, c->rows, k);
}

/* |J (v* - v0)| of one side. */
static double side_change(const sim_problem *p, const sim_constraint *c, int side) {
    double sum = 0;
    int rows = c->kind == SIM_CONTACT ? SIM_CONTACT_ROWS : c->rows; /* not those about axes */
    for (int row = 0; row < rows; row++) {
        double du = side_velocity(p, c, row, side, p->v_free) - side_velocity(p, c, row, side, p->v_start);
        sum += du * du;
    }
    return sqrt(sum);
}

double law_free_change(const sim_problem *p, const sim_constraint *c) {
    return fmax(side_change(p, c, 0), side_change(p, c, 1));
}

/* The overlap of a constraint that no step undoes; 0 where the problem does not know both velocities:
 *
 *     slop dt du,   du = max(|J_A (v* - v0)|, |J_B (v* - v0)|) over all rows of the constraint.
 *
 * s_n >= mu |s_t|, which every solution of the strict or the convex law has, is solved by v = 0 as long as no target is
 * above zero.  Bodies that friction locks, like a wedge, have no other v.  The least overlap to be undone, were it
 * rounding, would leave the step without a solution.  The slop is a part of the way that forces alone would move either
 * side in a step, g dt^2 under gravity.  It has the units of the gap, vanishes with the step, and needs no size of
 * bodies. Its default, 1/50, is well below the overlap at rest of the near-rigid law (tau = dt, beta = 1), which is (dt
 * + tau) beta^2/(4 pi^2) g dt = g dt^2 / 20. */
static double eval_slop(const law *l, const sim_constraint *c) {
    const sim_problem *p = l->problem;
    bool known = l->options->slop > 0 && p->v_start && p->v_free;
    return known ? l->options->slop * p->step * law_free_change(p, c) : 0;
}

/* The speed at which a gap may close, or an overlap is undone, m/s. */
static double gap_speed(const law *l, const sim_constraint *c, double gap) {
    if (gap >= 0) {
        return -gap / l->problem->step;
    }
    return fmin(l->options->push * fmax(-gap - eval_slop(l, c), 0) / l->problem->step, l->options->undo);
}

/* The greatest part of the targets -gap / time with which no row is faster than `undo`, V [m/s; rad/s about axes]. It
 * holds for overlaps of contacts and limits, and for rows of equalities three by three.
 *
 * The overlap is gone after its depth over V at the earliest, however short the step, and gives a body m V^2 / 2.
 * Near-rigid, where target_n = -phi0 / (dt + tau) > V, the contact's damper is made stronger:
 *
 *     tau' = -phi0 / V - dt,     R_n' = R_n V / target_n  (at least R_n / 1e6),     target_n' = V,
 *
 * with the same stiffness k, so that bodies rest on it as deep as before.  A stiffness of a material that the step
 * resolves is physics, and its energy came from outside: such a contact keeps its law. */
static double undone_part(const law *l, const sim_constraint *c, int row, double time) {
    const double *gap = l->problem->gap + c->row;
    double speed = fmax(-gap[row], 0) / time;
    if (c->kind == SIM_EQUALITY) {
        int first = row / 3 * 3, end = first + 3 < c->rows ? first + 3 : c->rows;
        double sum = 0;
        for (int k = first; k < end; k++) {
            sum += gap[k] * gap[k];
        }
        speed = sqrt(sum) / time;
    }
    return speed > l->options->undo ? l->options->undo / speed : 1;
}

bool law_strikes(const sim_problem *p, double threshold, const sim_constraint *c, int row) {
    bool arrives = p->gap[c->row + row] + p->step * row_velocity(p, c, row, p->v_free) <= 0;
    return arrives && row_velocity(p, c, row, p->v_start) < -threshold;
}

/* A contact along its normal, m/s. `closing`: speed that it takes from free motion, by which that closes more than the
 * gap within the step, or with its rebound if it bounces; `gain`: greatest change of either side's velocity by free
 * motion. */
typedef struct approach {
    double closing, gain;
} approach;

static bool can_bounce(const sim_constraint *c) {
    return (c->kind == SIM_CONTACT || c->kind == SIM_LIMIT) && c->restitution > 0 && isinf(c->stiffness);
}

static approach find_approach(const sim_problem *p, const sim_constraint *c, double threshold) {
    double u = p->offset ? p->offset[c->row + 2] : 0, gain = 0;
    for (int side = 0; side < 2; side++) {
        double free = side_velocity(p, c, 2, side, p->v_free);
        gain = fmax(gain, fabs(free - side_velocity(p, c, 2, side, p->v_start)));
        u += free;
    }
    double closing = -u - fmax(p->gap[c->row + 2], 0) / p->step;
    if (can_bounce(c) && law_strikes(p, threshold, c, 2)) {
        closing = fmax(closing, -u - c->restitution * row_velocity(p, c, 2, p->v_start));
    }
    return (approach){closing, gain};
}

/* The fastest strike, m/s, and its constraint; 0 where nothing closes faster than forces send bodies at rest. */
static double find_strike(const sim_problem *p, double threshold, int *at) {
    double speed = 0;
    *at = -1;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        approach of = c->kind == SIM_CONTACT ? find_approach(p, c, threshold) : (approach){0, 0};
        if (of.closing > fmax(speed, FREE_STRIKE_RATIO * of.gain) &&
            of.closing > FREE_STRIKE_RATIO * law_free_change(p, c)) {
            speed = of.closing;
            *at = i;
        }
    }
    return speed;
}

static double rigid_target(const law *l, const sim_constraint *c, int row) {
    const sim_problem *p = l->problem;
    double gap = p->gap[c->row + row], out = gap_speed(l, c, gap);
    if (c->restitution > 0 && law_strikes(p, l->options->threshold, c, row)) {
        return fmax(-c->restitution * row_velocity(p, c, row, p->v_start), gap < 0 ? out : 0);
    }
    return out;
}

/* Does a rigid constraint close fast enough to bounce?  Equalities have no restitution. */
static bool closes_to_bounce(const law *l, const sim_constraint *c, int row) {
    const sim_problem *p = l->problem;
    return can_bounce(c) && row_velocity(p, c, row, p->v_start) < -l->options->threshold;
}

/* The normal velocity at which the convex law lifts a contact that moves freely, mu |u_t| and the like, m/s. */
static double convex_lift(const sim_problem *p, const sim_constraint *c) {
    sim_disc disc[SIM_MAX_DISCS];
    double lift = 0;
    for (int k = 0, count = c->kind == SIM_CONTACT ? sim_contact_discs(c, disc) : 0; k < count; k++) {
        double square = 0;
        for (int row = disc[k].row; row < disc[k].row + disc[k].rows; row++) {
            double u = row_velocity(p, c, row, p->v_free);
            square += u * u;
        }
        lift += disc[k].bound * sqrt(square);
    }
    return lift;
}

/* Newton's law of restitution among near-rigid laws.
 *
 * The spring of the law would begin to brake before the surfaces meet, and take the part R/(w + R) of the approach.  A
 * rigid constraint with e > 0 that closes faster than the threshold therefore obeys Newton's law as rigid rows do.  It
 * is free until it arrives, target -phi0 / dt less the lift (convex_lift); in the step in which it does
 *
 *     target_n = max(e c, -phi0 / (dt + tau) for phi0 < 0),   c = -u_n before the step,
 *     R_n = min(R_n, sigma w / 100).
 *
 * Without that lift a sliding contact of the convex law would brake before it arrives, by up to mu |u_t|, and bounce by
 * the rest.
 *
 * One contact without friction then leaves with u_n = e c - R_n gamma, which lacks (1 + e) c R_n / W_nn, some 1e-5 of
 * c.  By the convex law a sliding strike leaves faster, by mu |u_t| at most.  A step takes a smaller e where this would
 * create energy (contact/island/restitution.c).
 *
 * Equalities of a problem in which something bounces have that R, too, and so have contacts with e > 0 through which the
 * blow passes.  On the softest spring that the step resolves their bodies would part in the bounce, and its damper would
 * take the energy. */
static void near_rigid_bounce(const law *l, const sim_constraint *c, int row, double w, double *R, double *target) {
    const sim_problem *p = l->problem;
    double gap = p->gap[c->row + row], tau = c->dissipation == 0 ? p->step : c->dissipation;
    *target = -gap / p->step - (l->compliance == SIM_NEAR_RIGID ? convex_lift(p, c) : 0);
    if (law_strikes(p, l->options->threshold, c, row)) {
        *R = fmin(*R, STRIKE_COMPLIANCE_PART * l->options->sigma * w);
        *target = fmax(-c->restitution * row_velocity(p, c, row, p->v_start), gap < 0 ? -gap / (p->step + tau) : 0);
    }
}

/* Does any row of the problem bounce in this step? */
static bool any_bounce(const law *l) {
    const sim_problem *p = l->problem;
    bool any = false;
    for (int i = 0; i < p->nconstraint && !any; i++) {
        const sim_constraint *c = &p->constraint[i];
        int row = c->kind == SIM_CONTACT ? 2 : 0;
        any = closes_to_bounce(l, c, row) && law_strikes(p, l->options->threshold, c, row);
    }
    return any;
}

/* R of the softest spring that the step resolves. */
static double softest_compliance(const law *l, double w) {
    return l->compliance == SIM_RIGID ? 0 : l->options->beta * l->options->beta / (4 * M_PI * M_PI) * w;
}

/* Friction in a contact or joint.  An elastic row keeps the deflection -R dt gamma of its spring from the step before:
 *
 *     gamma = gamma_before - u / R    <=>    target = R gamma_before.
 *
 * Friction at rest carries a constant force with u = 0; the near-rigid law slides at u = -R gamma. */
static void friction_row(const law *l, const sim_constraint *c, int row, double w, double *R, double *target) {
    const sim_problem *p = l->problem;
    bool elastic = l->compliance == SIM_ELASTIC;
    *R = elastic ? softest_compliance(l, w) : l->compliance == SIM_NEAR_RIGID ? l->options->sigma * w : 0;
    *target = elastic && p->impulse_guess ? *R * p->impulse_guess[c->row + row] : 0;
}

double law_force_energy(const sim_problem *p, double *work) {
    double sum = 0;
    for (int t = 0; t < p->ntree; t++) {
        const sim_problem_tree *tree = &p->tree[t];
        double *change = work, *product = work + tree->nv;
        for (int j = 0; j < tree->nv; j++) {
            change[j] = p->v_free[tree->v0 + j] - p->v_start[tree->v0 + j];
        }
        p->mass.times(p->mass.self, t, change, product);
        for (int j = 0; j < tree->nv; j++) {
            sum += change[j] * product[j];
        }
    }
    return sum;
}

/* R = 1 / (dt k (dt + tau)) of a stated stiffness. */
static double stated_compliance(const law *l, const sim_constraint *c, double tau) {
    return 1 / (l->problem->step * c->stiffness * (l->problem->step + tau));
}

/* Does the row state its own force or spring, softer than the law's? */
static bool has_own_force(const law *l, const sim_constraint *c, const double *W, int row) {
    if (c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR) {
        return true;
    }
    bool along_gap = c->kind != SIM_FRICTION && (c->kind != SIM_CONTACT || row == 2);
    double softest = along_gap ? softest_compliance(l, law_inverse_mass(l, c, W, row)) : 0;
    return along_gap && isfinite(c->stiffness) && stated_compliance(l, c, c->dissipation) >= softest;
}

/* E: twice the kinetic energy that the forces of a step give by themselves, J,
 *
 *     E = (v* - v0)' A (v* - v0) + sum of gamma-^2 W_rr over the rows that state a force or a soft spring. */
static double find_energy(const law *l, const double *W) {
    const sim_problem *p = l->problem;
    if (!p->force_energy) {
        return HUGE_VAL;
    }
    double sum = *p->force_energy;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            double impulse = p->impulse_guess[c->row + k];
            sum += has_own_force(l, c, W, k) ? impulse * impulse * W[k * c->rows + k] : 0;
        }
        W += c->rows * c->rows;
    }
    return sum;
}

static double find_depth(const sim_problem *p) {
    double depth = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        depth = c->kind == SIM_CONTACT ? fmax(depth, -p->gap[c->row + 2]) : depth;
    }
    return depth;
}

/* The greatest impulse of a row that is a load,  MAX_LOAD sqrt(E / w).
 *
 * A mass M that rests on m has gamma = M g dt, E = M (g dt)^2 and w = 1/m, so gamma = sqrt(M/m) sqrt(E/w): masses may
 * differ by MAX_LOAD^2.  Impulses beyond cancel in the bodies that they squeeze.  Nothing bounds them by itself: c rises
 * with gamma, R falls with c, and gamma is the overlap over dt R.  The spring would store energy that no force gave. */
static double load_limit(const law *l, double w) { return w > 0 ? MAX_LOAD * sqrt(l->energy / w) : HUGE_VAL; }

/* A stop whose spring is the softest that the step resolves.  The spring keeps its impulse from the step before. The
 * gap is corrected by that part of the overlap o = -phi0 which the spring does not explain:
 *
 *     target = R gamma_before + push (o - dt R gamma_before) / dt,   at most `undo` faster than R gamma_before.
 *
 * With e = o - dt R gamma_before,  e <- (1 - push) e: R may follow the load without a jump of the force.
 *
 * Beyond the greatest load a spring keeps no more, and contacts are undone in proportion to their overlaps, the deepest
 * at `undo`: a body between two walls comes to the middle. */
static double elastic_target(const law *l, const sim_constraint *c, int row, double R, double limit) {
    const sim_problem *p = l->problem;
    double gap = p->gap[c->row + row], guess = p->impulse_guess ? fmax(0, p->impulse_guess[c->row + row]) : 0;
    double held = guess > limit ? R * limit : R * guess;
    if (gap >= 0) {
        return -gap / p->step;
    }
    double part = c->kind == SIM_CONTACT && guess > limit ? -gap / l->depth : 1;
    return held + fmin(l->options->push * (-gap / p->step - held), part * l->options->undo);
}

/* The row along which a constraint has its gap: the normal of a contact, each row of the others.  `stiffer`: c. */
static void compliant_row(const law *l, const sim_constraint *c, int row, double w, double stiffer, double *R,
                          double *target) {
    double dt = l->problem->step, tau = c->dissipation;
    bool rigid = isinf(c->stiffness);
    double softest = softest_compliance(l, w / stiffer);
    if (rigid && l->compliance == SIM_RIGID) {
        *R = 0;
        double time = dt / l->options->push;
        *target = c->kind == SIM_EQUALITY ? -l->problem->gap[c->row + row] / time * undone_part(l, c, row, time)
                                          : rigid_target(l, c, row);
        return;
    }
    tau = rigid && tau == 0 && l->compliance == SIM_NEAR_RIGID ? dt : tau;
    double own = stated_compliance(l, c, tau);
    if (l->compliance == SIM_ELASTIC && own < softest && c->kind != SIM_EQUALITY) {
        *R = softest;
        *target = elastic_target(l, c, row, softest, load_limit(l, w));
        if (closes_to_bounce(l, c, row)) {
            near_rigid_bounce(l, c, row, w / stiffer, R, target);
        }
        return;
    }
    double part = own < softest ? undone_part(l, c, row, dt + tau) : 1;
    *R = fmax(softest, own) * fmax(part, MIN_COMPLIANCE_PART);
    if (l->bounces && rigid && (c->kind == SIM_EQUALITY || can_bounce(c))) {
        *R = fmin(*R, STRIKE_COMPLIANCE_PART * l->options->sigma * w);
    }
    *target = -l->problem->gap[c->row + row] / (dt + tau) * part;
    if (closes_to_bounce(l, c, row)) { /* near-rigid; rigid_target has the others */
        near_rigid_bounce(l, c, row, w / stiffer, R, target);
    }
}

static void regularise_constraint(const law *l, const sim_constraint *c, const double *W, double stiffer, double *R,
                                  double *target) {
    for (int k = 0; k < c->rows; k++) {
        double w = l->compliance != SIM_RIGID ? law_inverse_mass(l, c, W, k) : 0;
        if ((c->kind == SIM_CONTACT && k != 2) || c->kind == SIM_FRICTION) {
            friction_row(l, c, k, w / stiffer, &R[k], &target[k]);
        } else if (c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR) {
            double dt = l->problem->step;
            R[k] = 1 / (dt * (dt * c->stiffness + c->damping));
            target[k] = R[k] * dt * c->force;
        } else {
            compliant_row(l, c, k, w, stiffer, &R[k], &target[k]);
        }
    }
}

static bool are_of_a_pair(const sim_problem *p, int i, int j) {
    const sim_constraint *c = &p->constraint[i], *d = &p->constraint[j];
    return d->kind == c->kind && d->body[0] == c->body[0] && d->body[1] == c->body[1] && d->tree[0] == c->tree[0] &&
           d->tree[1] == c->tree[1];
}

/* Mean normal impulse of the contacts of two bodies a step ago, N s; `end`: the first constraint of the next two. */
static double mean_impulse(const sim_problem *p, int first, int *end) {
    const sim_constraint *c = &p->constraint[first];
    double sum = 0;
    int i = first;
    for (; i < p->nconstraint && are_of_a_pair(p, first, i); i++) {
        sum += c->kind == SIM_CONTACT ? p->impulse_guess[p->constraint[i].row + 2] : 0;
    }
    *end = i;
    return sum / (i - first);
}

/* The factor c by which a contact is stiffer for its load.
 *
 *     R_n = beta^2/(4 pi^2) w / c,   R_t = sigma w / c,   c = gamma_n w / du,   1 <= c <= `carried`,
 *     du = max(|J_A (v* - v0)|, |J_B (v* - v0)|) along n
 *
 * The paper's R gives way by m w times as much where the contact carries the mass m.  Without the contact, motion gains
 * du in a step, so m = gamma_n / du.  gamma_n is that of the step before, as a mean over the contacts of two bodies.
 * The contact then gives way by (dt + tau) beta^2/(4 pi^2) du, whatever its load.  `carried` = 1 is the paper's rule.
 *
 * The elastic law always follows the load, with gamma_n / FREE_LOAD_RATIO, and du over all rows (law_free_change): g dt
 * under gravity.  Along n forces add nothing at a wall: c would have no bound, and heaps between walls would jam. Where
 * no force acts, du is MIN_CHANGE of the speed of undoing.  A squeezed body carries no load: gamma_n counts up to
 * load_limit, and c ends at MAX_LOAD_RATIO, so impulses that cancel stay within the precision of doubles.
 *
 * A contact that closes at the speed V is about to carry gamma_n = V / w: c = V / du.  A strike also passes through
 * contacts that do not close, so all contacts of a problem have, with its fastest strike V,
 *
 *     c >= V / (FREE_STRIKE_RATIO du).
 *
 * A stopped mass M gives gamma_n = M V, so a contact gives way by beta^2/(4 pi^2) FREE_STRIKE_RATIO M w du dt at most.
 */
static double load_stiffening(const law *l, const sim_constraint *c, const double *W, double impulse) {
    const sim_problem *p = l->problem;
    approach of = find_approach(p, c, l->options->threshold);
    double w = law_inverse_mass(l, c, W, 2), carried = fmin(impulse, load_limit(l, w)) * w;
    if (l->compliance != SIM_ELASTIC) {
        return carried > of.gain ? fmin(l->options->carried, carried / of.gain) : 1;
    }
    double du = fmax(law_free_change(p, c), MIN_CHANGE * l->options->undo);
    double speed = fmax(carried / FREE_LOAD_RATIO, of.closing);
    speed = fmax(speed, l->strike / FREE_STRIKE_RATIO);
    return speed > du ? fmin(MAX_LOAD_RATIO, speed / du) : 1;
}

static bool knows_loads(const sim_problem *p) { return p->impulse_guess && p->v_start && p->v_free; }

static bool are_equal(double a, double b, double near) {
    return fabs(a - b) <= fmax(near, LOAD_KINK * fmax(fabs(a), fabs(b)));
}

load_scan law_scan_loads(const sim_problem *p, const sim_law_options *options) {
    load_scan scan = {.known = knows_loads(p), .strike_at = -1};
    scan.strike = scan.known ? find_strike(p, options->threshold, &scan.strike_at) : 0;
    return scan;
}

/* The contacts of the pair of bodies to which constraint i belongs. */
static void scan_pair(load_scan *scan, const sim_problem *p, int i) {
    if (i < scan->first || i >= scan->end) {
        for (scan->first = i; scan->first > 0 && are_of_a_pair(p, i, scan->first - 1); scan->first--) {
        }
        scan->impulse = mean_impulse(p, scan->first, &scan->end);
    }
}

contact_load law_contact_load(const sim_problem *p, const sim_law_options *options, load_scan *scan, int i,
                              const double *W, double near) {
    /* the rule of load_stiffening, by its parts */
    const sim_constraint *c = &p->constraint[i];
    contact_load out = {.stiffer = 1, .strike = scan->strike_at};
    if (!scan->known) {
        return out;
    }
    law l = {p, SIM_ELASTIC, options, .strike = scan->strike, .energy = HUGE_VAL};
    scan_pair(scan, p, i);
    out.first = scan->first;
    out.end = scan->end;
    out.impulse = scan->impulse;
    out.stiffer = load_stiffening(&l, c, W, out.impulse);
    double per_impulse = 1 / FREE_LOAD_RATIO, per_strike = 1 / FREE_STRIKE_RATIO;
    double speed[] = {per_impulse * out.impulse * law_inverse_mass(&l, c, W, 2),
                      find_approach(p, c, options->threshold).closing, per_strike * l.strike};
    double part[] = {per_impulse, 1, per_strike}, change[2] = {side_change(p, c, 0), side_change(p, c, 1)};
    double least = MIN_CHANGE * options->undo;
    int most = 0;
    for (int k = 1; k < 3; k++) {
        most = speed[k] > speed[most] ? k : most;
    }
    out.side = change[1] > change[0];
    out.change = change[out.side];
    if (out.change < least) {
        out.side = -1;
        out.change = least;
    }
    out.speed = speed[most];
    out.part = part[most];
    out.kind = out.stiffer == 1                ? LOAD_NONE
               : out.stiffer >= MAX_LOAD_RATIO ? LOAD_MOST
                                               : (load_kind)(LOAD_CARRIED + most);
    /* ties */
    bool tie = (out.side >= 0 && are_equal(change[0], change[1], near)) ||
               are_equal(fmax(change[0], change[1]), least, fmin(near, LOAD_KINK * least)) ||
               are_equal(out.speed, MAX_LOAD_RATIO * out.change, near);
    for (int k = 0; k < 3; k++) {
        tie = tie || (k != most && are_equal(speed[k], out.speed, near));
    }
    out.kink = (out.kind != LOAD_NONE && tie) || are_equal(out.speed, out.change, near);
    return out;
}

void sim_regularise(const sim_problem *p, sim_compliance compliance, const sim_law_options *options, const double *W,
                    double *R, double *target) {
    bool known = knows_loads(p);
    bool elastic = compliance == SIM_ELASTIC,
         loads = known && (elastic || (compliance == SIM_NEAR_RIGID && options->carried > 1));
    /* quantities of all constraints */
    int strike;
    law l = {p, compliance, options, .energy = HUGE_VAL};
    if (elastic && known) {
        l.strike = find_strike(p, options->threshold, &strike);
        l.energy = find_energy(&l, W);
        l.depth = find_depth(p);
    }
    l.bounces = compliance != SIM_RIGID && any_bounce(&l);
    /* constraint by constraint */
    double impulse = 0;
    for (int i = 0, end = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (loads && i == end) {
            impulse = mean_impulse(p, i, &end);
        }
        bool loaded = c->kind == SIM_CONTACT && loads && (impulse > 0 || elastic);
        double stiffer = loaded ? load_stiffening(&l, c, W, impulse) : 1;
        regularise_constraint(&l, c, W, stiffer, R + c->row, target + c->row);
        W = W ? W + c->rows * c->rows : NULL;
    }
}
