/* The judge: figures of error of a solution.  It knows the problem, and nothing of the solver. */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include <sim/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of error of a solution (v, gamma); 0 is exact.  The velocities u = J vbar + w are those of
 * vbar = v* + A^-1 J' gamma, so that all but `momentum` depend on gamma alone.  s = u - target + R gamma.
 *
 * `E` is the one number for comparing solvers. It is the natural map of the rigid Coulomb law in units of impulse and
 * of velocity, relative to its terms (after Acary, Bremond, Huber 2018):
 *
 *     F(rho) = gamma - P_K(gamma - rho (s + (0, 0, mu |s_t|))),   rho_i = rows / trace(W_ii + R_i)
 *     e_sic  = |F(1)| / max(|q|, |gamma|, |s|)
 *     e_vel  = |(F_i(rho_i) / rho_i)_i| / max(|q|, |s|)
 *     e_imp  = |F(rho_i)| / |gamma|
 *     E      = max(e_sic, e_vel, e_imp, e_round),   q = J v* + w - target
 *
 * e_sic mixes units, but is never greater than |(e_vel, e_imp)|, which do not: other units change E by sqrt 2 at most.
 * An impulse below 1.5e-8 of the impulse that would undo q counts as none: e_imp has 1.5e-8 |(rho_i q_i)_i| in place of
 * |gamma| where that is greater.  A velocity below 1.5e-8 of the speeds by which q rounds, |J| max(|v*|, |D^2 A v*|) + |w|,
 * counts as none in all three, as does an impulse that would undo no more; D = diag(A)^-1/2.  e_round = 4e-16 |(gamma_i / rho_i)_i| / max(|q|,
 * |s|), 1 at most: where impulses are so great that gamma - rho s rounds to gamma, the error of s is unknown.  An error
 * over zero is infinite; 0 / 0 is 0. */
typedef struct sim_certificate {
    double E, e_sic, e_vel, e_imp;
    double e_paper; /* |F(1)| / |q| */
    double own; /* E for the solver's own R, target and cone: without mu |s_t| if convex; a pyramid counts as strict */
    double momentum;  /* |D (A (v - v*) - J' gamma)| / max(|D A v|, |D J' gamma|), D = diag(A)^-1/2 (Castro 2021, 32) */
    double slackness; /* of contacts, sum |s_i . gamma_i| / nc / cost (33), with s as in `own` */
    double lee;       /* of contacts, |gamma - P(gamma - s)| / nc, strict law, rho = 1 kg (Lee et al., sec. VII) */
    double lee_scaled;  /* the same with rho_i, divided by it: m/s */
    double cone;        /* N s: worst |gamma_t| - mu gamma_n, or -gamma_n; of other rows the part out of bounds */
    double penetration; /* m: deepest -(gap + dt u_n), contacts and limits of lengths */
    double past_range;  /* rad: greatest -(gap + dt u), limits of angles */
    double slip;        /* m/s: fastest |u_t| where friction is inside its cone, below 0.999 of it */
    double drive;       /* J: most that friction puts in, max gamma_t . u_t */
    double excess;      /* J, kinetic energy beyond that of free motion, targets, springs and actuators (energy.c); of a
                    * replaced solution: that before the replacement */
    int worst;          /* constraint with the greatest natural map in e_vel; -1: none */
    int worst_own;      /* likewise, of the solver's own law */
    int deepest, farthest, fastest; /* those of `penetration`, `past_range` and `slip`; -1: there is none */
    int constraints;                /* judged: 0, and all else is 0, too */
    int nonfinite; /* a number is not finite, or too large to be judged: the other figures are infinite */
} sim_certificate;

/* Figures of a step's certificate with the bodies of the worst constraint; UNSOLVED: of the island without a solution
 * that is furthest from its own law. */
enum {
    SIM_WORST_E,
    SIM_WORST_OWN,
    SIM_WORST_PENETRATION,
    SIM_WORST_PAST_RANGE,
    SIM_WORST_SLIP,
    SIM_WORST_UNSOLVED,
    SIM_WORSTS
};

/* Sums for the certificate of many islands: judge each, add up (from all zeros), finish. */
typedef struct sim_judgement {
    double sum[28], most[7]; /* private to the judge, as is `at`: the constraint of each maximum */
    int at[7], contacts, constraints, nonfinite;
} sim_judgement;

/* `rigid`: R and target of the rigid law; `own` and `cone`: those that the solver was given.  `work` holds
 * sim_judge_work(problem) numbers.  Local problems have no `v`. */
SIM_API size_t sim_judge_work(const sim_problem *problem);
SIM_API void sim_judge(const sim_problem *problem, const sim_regularisation *rigid, const sim_regularisation *own,
                       sim_cone cone, const double *v, const double *impulse, double *work, sim_judgement *judgement);
/* `constraint0`: where this island's constraints start in the list of all. */
SIM_API void sim_judgement_add(sim_judgement *sum, const sim_judgement *island, int constraint0);
/* Energy that a solution gains over free motion with its springs and actuators.  Energy that the targets of stops
 * (contacts, limits) and of equalities put in.  The size of the energies whose difference `gain` is. */
typedef struct sim_energy_gain {
    double gain, stops, equalities, size; /* J */
} sim_energy_gain;
SIM_API sim_energy_gain sim_judgement_gain(const sim_judgement *judgement);
/* The judged solution replaces one that had this excess, J. */
SIM_API void sim_judgement_refuse(sim_judgement *judgement, double excess);
SIM_API sim_certificate sim_judgement_finish(const sim_judgement *judgement);

#ifdef __cplusplus
}
#endif
#endif
