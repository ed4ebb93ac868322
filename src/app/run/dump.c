/* Export of the contact problem of one step.  The contact problem, as a file for other solvers. */
#include "app/run/dump.h"

#include <stdio.h>

/* A problem without contacts is one, too: of no rows. */
static sim_status write_problem(const run_context *r, const sim_problem *problem, sim_error *error) {
    char title[256], description[256];
    const sim_options *o = sim_world_options(r->world);
    snprintf(title, sizeof title, "%s, step %lld", r->scene->name ? r->scene->name : "scene",
             (long long)r->request->dump_problem);
    snprintf(description, sizeof description, "the step that ends at %.9g s, of %.9g s, %s",
             sim_world_state(r->world)->time + o->step, o->step, sim_integrator_name(o->integrator));
    sim_problem_file *file = sim_problem_file_create_under(problem, &o->law, title, description, error);
    sim_status status = file ? sim_problem_file_write(file, r->request->dump_file, error)
                             : (error->status ? error->status : SIM_NO_RESOURCE);
    sim_problem_file_free(file);
    return status;
}

sim_status dump_problem(const run_context *r, sim_error *error) {
    sim_problem *problem = sim_world_problem(r->world, error);
    if (!problem) {
        return error->status ? error->status : SIM_NO_RESOURCE;
    }
    sim_status status = write_problem(r, problem, error);
    sim_problem_free(problem);
    return status;
}
