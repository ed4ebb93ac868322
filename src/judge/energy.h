/* Kinetic energy that a solution creates. */
#ifndef JUDGE_ENERGY_H
#define JUDGE_ENERGY_H

#include "judge/motion.h"
#include <sim/judge.h>

/* Fills the judgement's slots of energy; `m` is filled already, and its j is overwritten. */
void judge_energy(const sim_problem *problem, const double *target, const double *v, const double *gamma,
                  judge_motion *m, sim_judgement *judgement);

#endif
