/* Answers before the judge. */
#ifndef SUPPORT_JUDGED_H
#define SUPPORT_JUDGED_H

#include <sim/judge.h>

/* v = v* + A^-1 J' gamma */
void velocity_after(const sim_problem *problem, const double *impulse, double *v);
/* The judgement of an answer under the rigid law as it stands by default; `own` NULL: the same, `v` NULL: what follows
 * from the impulses. */
sim_judgement judgement_of(const sim_problem *problem, const sim_regularisation *own, sim_cone cone, const double *v,
                           const double *impulse);
sim_certificate certificate_of(const sim_problem *problem, const sim_regularisation *own, sim_cone cone,
                               const double *v, const double *impulse);
/* The same with the rigid law, strict. */
sim_certificate judged(const sim_problem *problem, const double *impulse);

#endif
