/* Figures of a certificate from sums over islands; sim/judge.h defines each.
 *
 *     E = max(e_sic, e_vel, e_imp, e_round),   each a root of a sum of squares over the root of another
 *
 * A root below 1e-146 counts as zero; a sum that is not finite makes every figure infinite.
 * Reference: Acary, Bremond, Huber 2018, for e_sic; the norms are those of sim/judge.h.     Cost: constant. */
#include "judge/slots.h"

#include <float.h>
#include <math.h>

void sim_judgement_add(sim_judgement *sum, const sim_judgement *island, int constraint0) {
    for (int k = 0; k < SUMS; k++) {
        sum->sum[k] += island->sum[k];
    }
    for (int k = 0; k < MAXIMA; k++) {
        if (island->most[k] > sum->most[k]) {
            sum->most[k] = island->most[k];
            sum->at[k] = constraint0 + island->at[k];
        }
    }
    sum->contacts += island->contacts;
    sum->constraints += island->constraints;
    sum->nonfinite |= island->nonfinite;
}

sim_energy_gain sim_judgement_gain(const sim_judgement *j) {
    return (sim_energy_gain){j->sum[GAIN], j->sum[OF_STOPS], j->sum[OF_EQUALITIES], j->sum[KINETIC]};
}

void sim_judgement_refuse(sim_judgement *j, double excess) { j->sum[EXCESS] = fmin(excess, DBL_MAX); }

/* Sums of squares below this root have lost their digits: a body of 1e-160 m/s is at rest. */
static const double MIN_MEASURED_ROOT = 1e-146; /* sqrt(DBL_MIN / DBL_EPSILON) */

static double error_ratio(double error, double size) { return error < MIN_MEASURED_ROOT ? 0 : error / size; }

/* The three parts of E from their squares, and the least E that rounding allows.  Velocities are known to
 * VELOCITY_ROUNDING of the velocities that impulses give and take.  Where contacts press against each other without
 * bound, gamma - rho s rounds to gamma whatever s is.  They are also known to that part of the speeds whose differences
 * they are.  Otherwise two bodies that fall as one, with a weld that carries nothing, would be judged by the rounding
 * of their fall. */
typedef struct parts {
    double sic, velocity, impulse, rounding;
} parts;

static const double VELOCITY_ROUNDING = 2 * DBL_EPSILON; /* relative */

static parts make_parts(const double *law, double impulse2, double speed2) {
    double gamma = sqrt(impulse2), unknown = VELOCITY_ROUNDING * sqrt(law[MOVED]), none = sqrt(DBL_EPSILON);
    double velocity = fmax(fmax(sqrt(law[FREE]), sqrt(law[SHIFTED])), none * sqrt(speed2));
    return (parts){
        .sic = error_ratio(sqrt(law[MAP_SIC]), fmax(velocity, gamma)),
        .velocity = error_ratio(sqrt(law[MAP_VELOCITY]), velocity),
        .impulse = error_ratio(sqrt(law[MAP_IMPULSE]), fmax(gamma, none * sqrt(law[UNDOING]))),
        .rounding = error_ratio(unknown, fmax(velocity, unknown)),
    };
}

static double greatest_part(parts e) { return fmax(fmax(e.sic, e.rounding), fmax(e.velocity, e.impulse)); }

static sim_certificate all_infinite(int worst, int constraints) {
    double x = INFINITY;
    return (sim_certificate){x, x, x, x, x,     x,     x,     x,     x,     x,           x, x,
                             x, x, x, x, worst, worst, worst, worst, worst, constraints, 1};
}

static int worst_constraint(const sim_judgement *j, int slot) { return j->most[slot] > 0 ? j->at[slot] : -1; }

sim_certificate sim_judgement_finish(const sim_judgement *j) {
    /* numbers that are not finite */
    const double *sum = j->sum, *most = j->most;
    int nonfinite = j->nonfinite;
    for (int k = 0; k < SUMS; k++) {
        nonfinite |= !isfinite(sum[k]);
    }
    if (nonfinite) {
        return all_infinite(worst_constraint(j, MAP_WORST), j->constraints);
    }
    /* errors of the rigid law and of the solver's own */
    parts rigid = make_parts(sum + RIGID, sum[IMPULSE], sum[SPEED]),
          own = make_parts(sum + OWN, sum[IMPULSE], sum[SPEED]);
    /* means, greatest values and their constraints */
    double contacts = j->contacts ? j->contacts : 1;
    return (sim_certificate){
        .E = greatest_part(rigid),
        .e_sic = rigid.sic,
        .e_vel = rigid.velocity,
        .e_imp = rigid.impulse,
        .e_paper = error_ratio(sqrt(sum[RIGID + MAP_SIC]), sqrt(sum[RIGID + FREE])),
        .own = greatest_part(own),
        .momentum = error_ratio(sqrt(sum[BALANCE]), sqrt(fmax(sum[MOMENTUM], sum[CONTACT_MOMENTUM]))),
        .slackness = error_ratio(sum[SLACK] / contacts, fmax(sum[COST], 0)),
        .lee = sqrt(sum[LEE]) / contacts,
        .lee_scaled = sqrt(sum[LEE_SCALED]) / contacts,
        .cone = most[CONE],
        .penetration = most[PENETRATION],
        .past_range = most[PAST_RANGE],
        .slip = most[SLIP],
        .drive = most[DRIVE],
        .excess = sum[EXCESS],
        .worst = worst_constraint(j, MAP_WORST),
        .worst_own = worst_constraint(j, MAP_WORST_OWN),
        .deepest = worst_constraint(j, PENETRATION),
        .farthest = worst_constraint(j, PAST_RANGE),
        .fastest = worst_constraint(j, SLIP),
        .constraints = j->constraints,
        .nonfinite = 0,
    };
}
