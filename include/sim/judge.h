/* The judge: how right is an answer?  It knows the problem and nothing of how the answer was found. */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include <sim/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every figure says how wrong an answer (v, gamma) is; 0 is exact.  u is taken from vbar = v* + A^-1 J' gamma, so that all
 * but `momentum` depend on gamma alone.  s = u - target + R gamma.
 *
 * `E` is the one number for comparing solvers: natural map of the rigid Coulomb law in units of impulse and of velocity,
 * each over the size of what it is made of (Acary, Bremond, Huber 2018, made free of units):
 *
 *     F(rho) = gamma - P_K(gamma - rho (s + (0, 0, mu |s_t|))),   rho_i = 3 / trace W_ii    (rows / trace for others)
 *     e_sic  = |F(1)| / max(|q|, |gamma|, |u|)
 *     e_vel  = |(F_i(rho_i) / rho_i)_i| / max(|q|, |u|)
 *     e_imp  = |F(rho_i)| / |gamma|
 *     E      = max(e_sic, e_vel, e_imp),   q = J v* + w - target */
typedef struct sim_certificate {
    double E, e_sic, e_vel, e_imp;
    double e_paper;   /* |F(1)| / |q| */
    double own;       /* E for the solver's own law: its cone, its R and target */
    double momentum;  /* |D (A (v - v*) - J' gamma)| / max(|D A v|, |D J' gamma|), D = diag(A)^-1/2 (Castro 2021, 32) */
    double slackness; /* sum |s_i . gamma_i| / nc / cost, own law; for convex laws only (33) */
    double lee;       /* |gamma - P(gamma - s)| / nc, strict law, rho = 1 kg (Lee et al., sec. VII) */
    double lee_scaled;  /* the same with rho_i, divided by it: m/s */
    double cone;        /* N s: worst |gamma_t| - mu gamma_n, or -gamma_n; of other rows what is out of bounds */
    double penetration; /* m: deepest -(gap + dt u_n), contacts and limits */
    double slip;        /* m/s: fastest |u_t| where friction is inside its cone */
    double drive;       /* J: most that friction puts in, max gamma_t . u_t */
    int worst;          /* constraint with the greatest natural map in e_vel; -1: none */
    int nonfinite;      /* a number of the answer is none: all else is meaningless */
} sim_certificate;

/* Sums from which the certificate of many islands is made: judge each, add up, finish. */
typedef struct sim_judgement {
    double sum[20]; /* squares and maxima; the judge's own business */
    int contacts, constraints, worst, nonfinite;
} sim_judgement;

/* `rigid`: R and target of the rigid law; `own` and `cone`: those that the solver was given.  `work` holds
 * sim_judge_work(problem) numbers. */
SIM_API size_t sim_judge_work(const sim_problem *problem);
SIM_API void sim_judge(const sim_problem *problem, const sim_regularisation *rigid, const sim_regularisation *own,
                       sim_cone cone, const double *v, const double *impulse, double *work, sim_judgement *judgement);
/* `constraint0`: where this island's constraints start in the list of all. */
SIM_API void sim_judgement_add(sim_judgement *sum, const sim_judgement *island, int constraint0);
SIM_API sim_certificate sim_judgement_finish(const sim_judgement *judgement);

#ifdef __cplusplus
}
#endif
#endif
