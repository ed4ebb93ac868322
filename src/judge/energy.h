/* Does an answer create energy? */
#ifndef JUDGE_ENERGY_H
#define JUDGE_ENERGY_H

#include "judge/motion.h"
#include <sim/judge.h>

/* Fill the judgement's slots of energy; `m` holds what the impulses do, and its j is lost. */
void judge_energy(const sim_problem *problem, const double *target, const double *v, const double *gamma,
                  judge_motion *m, sim_judgement *judgement);

#endif
