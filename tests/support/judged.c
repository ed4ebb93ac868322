/* Answers before the judge. */
#include "support/judged.h"
#include "solver/core/products.h"

#include <stdlib.h>

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

void velocity_after(const sim_problem *p, const double *impulse, double *v) {
    problem_jacobian_transposed(p, impulse, v);
    problem_mass_solve(p, v);
    for (int j = 0; j < p->nv; j++) {
        v[j] += p->v_free[j];
    }
}

sim_judgement judgement_of(const sim_problem *p, const sim_regularisation *own, sim_cone cone, const double *v,
                           const double *impulse) {
    double *R = numbers((size_t)p->nrow), *target = numbers((size_t)p->nrow), *after = numbers((size_t)p->nv);
    double *work = numbers(sim_judge_work(p));
    sim_law_options options = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &options, NULL, R, target);
    sim_regularisation rigid = {R, target};
    if (!v && !sim_problem_local(p)) {
        velocity_after(p, impulse, after);
    }
    sim_judgement judgement;
    sim_judge(p, &rigid, own ? own : &rigid, cone, v ? v : after, impulse, work, &judgement);
    free(R);
    free(target);
    free(after);
    free(work);
    return judgement;
}

sim_certificate certificate_of(const sim_problem *p, const sim_regularisation *own, sim_cone cone, const double *v,
                               const double *impulse) {
    sim_judgement judgement = judgement_of(p, own, cone, v, impulse);
    return sim_judgement_finish(&judgement);
}

sim_certificate judged(const sim_problem *p, const double *impulse) {
    return certificate_of(p, NULL, SIM_CONE_STRICT, NULL, impulse);
}
