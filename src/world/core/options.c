/* Options of a world: names of integrators, defaults, the compliance that follows from them, checks. */
#include "world/core/world.h"

#include <math.h>

static const char *const integrator_names[SIM_INTEGRATORS] = {
    [SIM_MIDPOINT] = "midpoint",
    [SIM_SYMPLECTIC_EULER] = "symplectic",
    [SIM_IMPLICIT_EULER] = "implicit",
    [SIM_MOREAU] = "moreau",
    [SIM_RK4] = "rk4",
};

const char *sim_integrator_name(sim_integrator integrator) { return integrator_names[integrator]; }

sim_options sim_options_default(void) {
    return (sim_options){.step = 1e-3,
                         .integrator = SIM_MIDPOINT,
                         .threads = 1,
                         .tolerance = 1e-10,
                         .max_iterations = 50,
                         .contacts = 1,
                         .contact_margin = NAN,
                         .compliance = -1,
                         .law = sim_law_options_default(),
                         .sleep_speed = NAN,
                         .sleep_time = NAN};
}

sim_compliance sim_options_compliance(const sim_options *options) {
    const sim_solver_info *info = options->solver ? options->solver : sim_solver_default();
    return options->compliance < 0 ? info->default_law : (sim_compliance)options->compliance;
}

sim_status options_check(const sim_options *o, sim_error *error) {
    /* step, integrator, threads */
    if (!(o->step > 0) || !isfinite(o->step)) {
        return sim_fail(error, SIM_BAD_INPUT, "the step must be positive and finite, not %g s", o->step);
    }
    if ((unsigned)o->integrator >= SIM_INTEGRATORS) {
        return sim_fail(error, SIM_BAD_INPUT, "%d is not an integrator", (int)o->integrator);
    }
    if (o->threads < 1 || o->threads > 64) {
        return sim_fail(error, SIM_BAD_INPUT, "the number of threads must be 1 to 64, not %d", o->threads);
    }
    /* tolerance, margin, compliance */
    if (!(o->tolerance > 0 && o->tolerance < 1) || o->max_iterations < 1) {
        return sim_fail(error, SIM_BAD_INPUT, "the tolerance must lie between 0 and 1, max_iterations be at least 1");
    }
    if (o->contact_margin < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "the contact margin must not be negative, as %g m is", o->contact_margin);
    }
    if (o->compliance >= SIM_COMPLIANCES) {
        return sim_fail(error, SIM_BAD_INPUT, "%d is not a compliance", o->compliance);
    }
    /* budget */
    if (o->budget.iterations < 0 || !(o->budget.time >= 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "the budget of the solver must not be negative, as %d iterations, %g s",
                        o->budget.iterations, o->budget.time);
    }
    /* sleep */
    if (o->sleep_speed < 0 || o->sleep_time < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "the speed and the time of sleep must not be negative, as %g m/s, %g s",
                        o->sleep_speed, o->sleep_time);
    }
    if (o->sleep && o->integrator == SIM_RK4) {
        return sim_fail(error, SIM_BAD_INPUT, "nothing sleeps under the integrator %s: choose another",
                        sim_integrator_name(o->integrator));
    }
    /* parameters of the law, of contacts and of rows of joints and constraints alike */
    return sim_law_options_check(&o->law, error);
}
