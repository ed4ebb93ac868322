/* From the sums of islands to the figures of the whole. */
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

/* Sums of squares below this root have lost their digits: a body that rest has slowed to 1e-160 m/s is at rest. */
static const double LEAST_ROOT = 1e-146; /* sqrt(DBL_MIN / DBL_EPSILON) */

static double over(double error, double size) { return error < LEAST_ROOT ? 0 : error / size; }

/* The three parts of E from their squares, and what it is at least.  Velocities are known to `eps` of what impulses give and
 * take: contacts may press against each other without bound, until gamma - rho s is gamma whatever s is.  And they are known
 * to `eps` of the speeds that they are differences of: two bodies that fall as one, held by a weld that gives nothing, would
 * be judged by the rounding of their fall. */
typedef struct parts {
    double sic, velocity, impulse, rounding;
} parts;

static const double eps = 2 * DBL_EPSILON;

static parts parts_of(const double *law, double impulse2, double speed2) {
    double gamma = sqrt(impulse2), unknown = eps * sqrt(law[MOVED]), none = sqrt(DBL_EPSILON);
    double velocity = fmax(fmax(sqrt(law[FREE]), sqrt(law[SHIFTED])), none * sqrt(speed2));
    return (parts){
        .sic = over(sqrt(law[MAP_SIC]), fmax(velocity, gamma)),
        .velocity = over(sqrt(law[MAP_VELOCITY]), velocity),
        .impulse = over(sqrt(law[MAP_IMPULSE]), fmax(gamma, none * sqrt(law[UNDOING]))),
        .rounding = over(unknown, fmax(velocity, unknown)),
    };
}

static double greatest(parts e) { return fmax(fmax(e.sic, e.rounding), fmax(e.velocity, e.impulse)); }

static sim_certificate all_infinite(int worst, int constraints) {
    double x = INFINITY;
    return (sim_certificate){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, worst, worst, worst, worst, constraints, 1};
}

static int place(const sim_judgement *j, int slot) { return j->most[slot] > 0 ? j->at[slot] : -1; }

sim_certificate sim_judgement_finish(const sim_judgement *j) {
    const double *sum = j->sum, *most = j->most;
    int nonfinite = j->nonfinite;
    for (int k = 0; k < SUMS; k++) {
        nonfinite |= !isfinite(sum[k]);
    }
    if (nonfinite) {
        return all_infinite(place(j, MAP_WORST), j->constraints);
    }
    parts rigid = parts_of(sum + RIGID, sum[IMPULSE], sum[SPEED]), own = parts_of(sum + OWN, sum[IMPULSE], sum[SPEED]);
    double contacts = j->contacts ? j->contacts : 1;
    return (sim_certificate){
        .E = greatest(rigid),
        .e_sic = rigid.sic,
        .e_vel = rigid.velocity,
        .e_imp = rigid.impulse,
        .e_paper = over(sqrt(sum[RIGID + MAP_SIC]), sqrt(sum[RIGID + FREE])),
        .own = greatest(own),
        .momentum = over(sqrt(sum[BALANCE]), sqrt(fmax(sum[MOMENTUM], sum[CONTACT_MOMENTUM]))),
        .slackness = over(sum[SLACK] / contacts, fmax(sum[COST], 0)),
        .lee = sqrt(sum[LEE]) / contacts,
        .lee_scaled = sqrt(sum[LEE_SCALED]) / contacts,
        .cone = most[CONE],
        .penetration = most[PENETRATION],
        .slip = most[SLIP],
        .drive = most[DRIVE],
        .excess = sum[EXCESS],
        .worst = place(j, MAP_WORST),
        .worst_own = place(j, MAP_WORST_OWN),
        .deepest = place(j, PENETRATION),
        .fastest = place(j, SLIP),
        .constraints = j->constraints,
        .nonfinite = 0,
    };
}
