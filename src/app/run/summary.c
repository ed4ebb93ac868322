/* Summary of a run.  A few lines for people, and one JSON object for programs. */
#include "app/run/summary.h"

#include "app/output/json_out.h"
#include "app/output/plural.h"
#include "app/output/reasons.h"
#include "app/output/solver_statistics.h"

#include <math.h>

static const double MIN_SHOWN_LIFT_M = 1e-6;    /* smaller lifts are not shown */
static const double MIN_SHOWN_OPENING_M = 1e-6; /* nor smaller openings of constraints */

/* Has no value where nothing was counted. */
static double ratio_or_nan(double part, double whole) { return whole > 0 ? part / whole : NAN; }

static double mean_iterations(const run_context *run) {
    return ratio_or_nan((double)run->statistics.iterations, (double)run->statistics.steps);
}

/* Is the state at which the run begins later than its end? */
static bool begins_late(const run_context *run) {
    return run->statistics.steps == 0 && run->scene->duration < sim_world_state(run->world)->time;
}

/* ---- for people ---- */

/* Steps in which implicit Euler moved soft bodies. */
static void print_damped(const run_context *run) {
    const run_statistics *statistics = &run->statistics;
    if (statistics->damped > 0) {
        const char *name = sim_integrator_name(run->scene->options.integrator);
        fprintf(stderr,
                "  damped         %lld step%s, first at %.9g s: implicit Euler moved soft bodies to which %s would "
                "have given energy\n",
                (long long)statistics->damped, plural_s(statistics->damped), statistics->first_damped, name);
    }
}

static void print_late(const run_context *run) {
    if (begins_late(run)) {
        fprintf(stderr, "  BEGINS LATE    at %g s, after the end of the run at %g s\n",
                sim_world_state(run->world)->time, run->scene->duration);
    }
}

static void print_pace(const run_context *run) {
    const run_statistics *statistics = &run->statistics;
    if (statistics->steps == 0) {
        fprintf(stderr, "  wall time      %.3g s, no steps\n", run->wall);
        print_late(run);
        return;
    }
    fprintf(stderr, "  wall time      %.3g s, real-time factor %.3g, %.3g us a step\n", run->wall,
            ratio_or_nan(statistics_simulated_time(statistics, run->world), run->wall),
            1e6 * run->wall / (double)statistics->steps);
    fprintf(stderr, "  integrator     %.2f iterations on average, %d at most; worst residual %.1e\n",
            mean_iterations(run), statistics->most_iterations, statistics->worst_residual);
    if (statistics->saturated > 0) {
        fprintf(stderr, "  effort limits  reached in %lld step%s\n", (long long)statistics->saturated,
                plural_s(statistics->saturated));
    }
}

const char *summary_names(const run_context *run, const int body[2], char *text, size_t size) {
    const sim_body *all = run->scene->model->body;
    text[0] = 0;
    if (body[0] >= 0 && body[1] >= 0) {
        snprintf(text, size, ", \"%s\" and \"%s\"", all[body[0]].name, all[body[1]].name);
    } else if (body[0] >= 0 || body[1] >= 0) {
        snprintf(text, size, ", the joint of \"%s\"", all[body[body[0] >= 0 ? 0 : 1]].name);
    }
    return text;
}

/* The bodies with the greatest errors of unsolved steps, where more than the first step has some. */
static void print_jammed(const run_context *run) {
    enum { SHOWN = 3 };
    const frequent_pairs *jammed = &run->statistics.contact.jammed;
    char names[SUMMARY_NAME_BYTES];
    for (int k = 0; k < jammed->pairs && k < SHOWN && run->statistics.contact.unsolved_steps > 1; k++) {
        fprintf(stderr, "                 %s %lld step%s%s\n",
                k ? "                " : "greatest errors:", (long long)jammed->pair[k].least,
                plural_s(jammed->pair[k].least), summary_names(run, jammed->pair[k].body, names, sizeof names));
    }
}

/* Steps that were not solved: a line for each way. */
static void print_failures(const run_context *run) {
    const run_statistics *statistics = &run->statistics;
    const contact_statistics *c = &statistics->contact;
    char names[SUMMARY_NAME_BYTES];
    if (statistics->nonconverged > 0) {
        fprintf(stderr, "  NOT CONVERGED  %lld of %lld step%s, first at %.9g s\n", (long long)statistics->nonconverged,
                (long long)statistics->steps, plural_s(statistics->steps), statistics->first_nonconverged);
    }
    if (c->unsolved_steps > 0) {
        fprintf(
            stderr,
            "  NOT SOLVED     %lld of %lld step%s with contacts or constraints (%lld island%s), first at %.9g s%s\n",
            (long long)c->unsolved_steps, (long long)c->steps, plural_s(c->steps), (long long)c->unsolved_islands,
            plural_s(c->unsolved_islands), c->first_unsolved,
            summary_names(run, c->unsolved_body, names, sizeof names));
        print_reasons(stderr, "                 ", &c->gave_up);
        print_jammed(run);
    }
}

static void print_success(const run_context *run) {
    const run_statistics *statistics = &run->statistics;
    const contact_statistics *c = &statistics->contact;
    if (statistics->steps == 0 || statistics->nonconverged > 0 || c->unsolved_steps > 0) {
        return;
    }
    char steps[40] = "the only step";
    if (statistics->steps > 1) {
        snprintf(steps, sizeof steps, "all %lld steps", (long long)statistics->steps);
    }
    if (c->steps > 0) {
        fprintf(stderr, "  verdict        %s solved; the contact law of %s holds to %.1e\n", steps,
                sim_world_options(run->world)->solver->name, c->figure[FIGURE_OWN].worst);
    } else {
        fprintf(stderr, "  verdict        %s converged; no contacts or constraints\n", steps);
    }
}

/* Does a contact rest much too deep, for another reason than two bodies that squeeze it? */
static bool sinks_in(const run_context *run) {
    const contact_statistics *statistics = &run->statistics.contact;
    const overlap_statistics *overlap = &run->statistics.overlap;
    const int *body = statistics->sag.body;
    bool squeezed = overlap->stuck && overlap->body[0] == body[0] && overlap->body[1] == body[1];
    return statistics_sinks(statistics) && !squeezed;
}

/* An elastic contact always follows its load: law/carried is of the near-rigid law alone. */
static const char *explain_sag(const sim_options *options) {
    return sim_options_compliance(options) == SIM_ELASTIC
               ? "contacts are springs that sink by the squares of the step and of world/law/beta;\n                 "
                 "smaller steps, a smaller world/law/beta (0.1) or \"compliance\": \"rigid\" in the world prevent it"
               : "contacts have the compliance that the step resolves, more where moments are small or loads are\n    "
                 "             heavy; smaller steps, a smaller world/law/beta (0.1), world/law/carried (1e6) for heavy "
                 "loads or\n                 a solver of the rigid law prevent it";
}

/* Exact solutions of a law that differs from rigid contact. */
static void print_sag(const run_context *run) {
    const contact_statistics *statistics = &run->statistics.contact;
    char names[SUMMARY_NAME_BYTES];
    if (sinks_in(run)) {
        fprintf(stderr, "  SINKS          %.2g m under load, %.2g of its radius, at %.9g s%s:\n                 %s\n",
                statistics->sag.worst, statistics->sag_part, statistics->sag.time,
                summary_names(run, statistics->sag.body, names, sizeof names),
                explain_sag(sim_world_options(run->world)));
    }
}

static void print_figure(const run_context *run, const char *before, int figure, const char *unit) {
    const figure_statistics *f = &run->statistics.contact.figure[figure];
    char names[SUMMARY_NAME_BYTES];
    fprintf(stderr, "%s%.1e%s at worst (mean %.1e)%s", before, f->worst, unit,
            ratio_or_nan(f->sum, (double)run->statistics.contact.steps),
            summary_names(run, f->body, names, sizeof names));
}

/* The reason for which the rigid law holds less exactly than the solver's own. */
static void explain_rigid_error(const sim_options *options) {
    const sim_solver_info *info = options->solver;
    sim_compliance compliance = sim_options_compliance(options);
    if (info->cone == SIM_CONE_CONVEX) {
        fprintf(stderr, ":\n                 not an error; the law of %s has compliance and lifts sliding bodies",
                info->name);
    } else if (compliance != SIM_RIGID) {
        fprintf(stderr, ":\n                 not an error; contacts of the %s law have compliance",
                sim_compliance_name(compliance));
    }
}

static void print_figures(const run_context *run) {
    const sim_options *options = sim_world_options(run->world);
    const sim_solver_info *info = options->solver;
    const contact_statistics *statistics = &run->statistics.contact;
    /* errors */
    print_figure(run, "  error          ", FIGURE_OWN, "");
    fprintf(stderr, " at %.9g s, by the law of %s\n", statistics->figure[FIGURE_OWN].time, info->name);
    print_figure(run, "                 ", FIGURE_MOMENTUM, "");
    fprintf(stderr, " of the momentum balance\n");
    print_figure(run, "  rigid Coulomb  E ", FIGURE_E, "");
    explain_rigid_error(options);
    if (statistics->lift.worst > MIN_SHOWN_LIFT_M) {
        char names[SUMMARY_NAME_BYTES];
        fprintf(stderr, "\n  lift           %.2g m at most, at %.9g s%s: %s lifts sliding bodies",
                statistics->lift.worst, statistics->lift.time,
                summary_names(run, statistics->lift.body, names, sizeof names), info->name);
    }
    /* depth and slip */
    print_figure(run, "\n  penetration    ", FIGURE_PENETRATION, " m");
    if (statistics->figure[FIGURE_PAST_RANGE].worst > 0) {
        print_figure(run, "\n  past range     ", FIGURE_PAST_RANGE, " rad");
    }
    print_figure(run, "\n  slip           ", FIGURE_SLIP, " m/s");
    fprintf(stderr, ", of sticking contacts\n");
}

static void print_contact_course(const run_context *run) {
    const contact_statistics *statistics = &run->statistics.contact;
    if (statistics->steps == 0) {
        return;
    }
    if (statistics->touching > 0) {
        fprintf(stderr, "  contacts       %.1f on average, %d at most, in %d island%s at most\n",
                ratio_or_nan((double)statistics->contacts, (double)statistics->touching), statistics->most_contacts,
                statistics->most_islands, plural_s(statistics->most_islands));
    }
    fprintf(stderr, "  solver         %s, %.2f iterations on average, %d at most\n",
            sim_world_options(run->world)->solver->name, (double)statistics->iterations / (double)statistics->steps,
            statistics->most_iterations);
    print_branches(stderr, "  finished by    ", sim_world_options(run->world)->solver, &statistics->finished,
                   "islands");
    print_figures(run);
}

static const char *body_name(const run_context *run, int body) {
    return body >= 0 ? run->scene->model->body[body].name : "a joint";
}

/* `title` and the lines of `reason` are laid out as the lines of the summary. */
static void print_gains(const run_context *run, const energy_gains *gains, const char *title, const char *owner,
                        const char *reason) {
    if (gains->steps) {
        fprintf(stderr, "  %s  %lld of %lld step%s, first at %.9g s, up to %.2g J in the %s \"%s\":\n%s", title,
                (long long)gains->steps, (long long)run->statistics.steps, plural_s(run->statistics.steps),
                gains->first, gains->most, owner, body_name(run, gains->body), reason);
    }
}

/* Steps that created energy. */
static void print_created_energy(const run_context *run) {
    bool implicit = run->scene->options.integrator == SIM_IMPLICIT_EULER;
    print_gains(run, &run->statistics.curbed, "TURNS TOO FAR", "tree of",
                "                 impacts turn bodies too far for the step; kinetic energy that it created was taken "
                "back;\n                 smaller steps prevent it\n");
    print_gains(
        run, &run->statistics.created, "BENDS TOO FAR", "soft body",
        implicit ? "                 its elasticity, or what ties it, created that energy; smaller steps prevent it\n"
                 : "                 its elasticity, or what ties it, created that energy; smaller steps or the "
                   "integrator implicit prevent it\n");
}

static void print_overlap(const run_context *run) {
    const overlap_statistics *statistics = &run->statistics.overlap;
    if (statistics->refused) {
        fprintf(stderr,
                "  NOT TAKEN      solutions that create energy, in %lld step%s, %.1e J at most, first at %.9g s; "
                "replaced by solutions that create none\n",
                (long long)statistics->refused, plural_s(statistics->refused),
                run->statistics.contact.figure[FIGURE_EXCESS].worst, statistics->first_refused);
    }
    if (statistics->stuck) {
        fprintf(stderr,
                "  cannot part    \"%s\" and \"%s\", %.2g m deep: no motion separates them; in %lld step%s, first at "
                "%.9g s\n",
                body_name(run, statistics->body[0]), body_name(run, statistics->body[1]), statistics->depth,
                (long long)statistics->stuck, plural_s(statistics->stuck), statistics->first_stuck);
    }
}

/* Do contacts store energy by their material? */
static bool has_springs(const sim_model *model) {
    for (int k = 0; k < model->nmaterial; k++) {
        if (isfinite(model->material[k].stiffness) || model->material[k].modulus > 0) {
            return true;
        }
    }
    return false;
}

/* Bodies that may move at all. */
static int count_movable(const sim_model *model) {
    int count = 0;
    for (int t = 0; t < model->ntree; t++) {
        count += model->tree[t].nv ? model->tree[t].nbody : 0;
    }
    return count;
}

static void print_sleep(const run_context *run) {
    const sleep_statistics *statistics = &run->statistics.sleep;
    if (sim_world_options(run->world)->sleep && run->statistics.steps > 0) {
        fprintf(stderr, "  asleep         %d of %d bodies at the end, %.1f on average; not judged while they sleep\n",
                statistics->now, count_movable(run->scene->model),
                (double)statistics->bodies / (double)run->statistics.steps);
        fprintf(stderr, "                 %.2e J of kinetic energy removed; woken %lld time%s\n", statistics->stilled,
                (long long)statistics->woken, plural_s(statistics->woken));
    }
}

static void print_head(const run_context *run) {
    const sim_state *state = sim_world_state(run->world);
    fprintf(stderr, "%s: %s at %.9g s, step %lld (%s, %g s a step)\n", run->scene->name ? run->scene->name : "scene",
            run->ending, state->time, (long long)state->step, sim_integrator_name(run->scene->options.integrator),
            run->scene->options.step);
}

void print_warnings(const run_context *run) {
    const run_statistics *s = &run->statistics;
    if (s->nonconverged || s->contact.unsolved_steps || sinks_in(run) || s->curbed.steps || s->created.steps ||
        s->overlap.refused || s->overlap.stuck || begins_late(run)) {
        print_head(run);
        print_late(run);
        print_failures(run);
        print_sag(run);
        print_created_energy(run);
        print_overlap(run);
    }
}

/* The loop that opened the widest. */
static void print_opening(const run_context *run) {
    const figure_statistics *opening = &run->statistics.opening;
    char names[SUMMARY_NAME_BYTES];
    if (opening->worst > MIN_SHOWN_OPENING_M) {
        fprintf(stderr, "  open           constraint by %.2g m at most, at %.9g s%s\n", opening->worst, opening->time,
                summary_names(run, opening->body, names, sizeof names));
    }
}

void print_summary(const run_context *run) {
    /* verdict and course */
    const run_statistics *statistics = &run->statistics;
    print_head(run);
    print_failures(run);
    print_success(run);
    print_sag(run);
    print_created_energy(run);
    print_pace(run);
    print_damped(run);
    print_contact_course(run);
    print_opening(run);
    print_overlap(run);
    print_sleep(run);
    /* energy */
    fprintf(stderr, "  energy         %.6g J at the start, %.6g J at the end; at most %.2e J from the start\n",
            statistics->energy_first, statistics->energy_last, statistics_energy_change(statistics));
    if (statistics->overlap.undone > 0) {
        fprintf(stderr, "                 %.2e J added by %scorrecting overlaps\n", statistics->overlap.undone,
                has_springs(run->scene->model) ? "elastic contacts and by " : "");
    }
    /* memory and files */
    fprintf(stderr, "  memory         %.1f MiB at most\n", (double)peak_memory() / (1024 * 1024));
    for (int k = 0; k < run->outputs; k++) {
        fprintf(stderr, "  wrote          %s (%lld record%s)\n", run->output[k].path, (long long)run->output[k].records,
                plural_s(run->output[k].records));
    }
    if (run->request->html && run->page[0]) {
        fprintf(stderr, "  wrote          %s (HTML page)\n", run->page);
    }
    if (run->checkpoints > 0) {
        fprintf(stderr, "  checkpoint     %s\n", run->request->checkpoint);
    }
}

/* ---- for programs ---- */

static void write_identity(json_out *out, const run_context *run) {
    /* program and scene */
    const sim_scene *scene = run->scene;
    json_text(out, "format", "sim summary");
    json_whole(out, "format_version", 1);
    json_text(out, "sim_version", sim_version());
    json_text(out, "build", sim_build_info());
    json_text(out, "scene", scene->name);
    json_text(out, "scene_file", run->scene_file);
    json_text(out, "scene_hash", scene->hash);
    json_open(out, "arguments", '[');
    for (int k = 1; k < run->request->count; k++) {
        json_text(out, NULL, run->request->arguments[k]);
    }
    json_close(out, ']');
    /* settings and size */
    json_seed(out, "seed", scene->seed);
    json_text(out, "integrator", sim_integrator_name(scene->options.integrator));
    json_real(out, "step", scene->options.step);
    json_whole(out, "threads", scene->options.threads);
    json_whole(out, "bodies", scene->model->nbody - 1);
    json_whole(out, "dofs", scene->model->nv);
}

typedef struct gain_keys {
    const char *steps, *first, *most;
} gain_keys;

static void write_gains(json_out *out, const energy_gains *gains, gain_keys key) {
    json_whole(out, key.steps, gains->steps);
    json_real(out, key.first, gains->steps ? gains->first : NAN);
    json_real(out, key.most, gains->most);
}

static void write_course(json_out *out, const run_context *run) {
    const run_statistics *statistics = &run->statistics;
    const sim_state *state = sim_world_state(run->world);
    /* end and range */
    json_text(out, "ending", run->ending);
    json_whole(out, "exit_status", run->exit_status);
    json_text(out, "reason", run->error.text[0] ? run->error.text : NULL);
    json_whole(out, "first_step", statistics->first_step);
    json_whole(out, "last_step", state->step);
    json_whole(out, "steps", statistics->steps);
    json_real(out, "time", state->time);
    json_bool(out, "begins_late", begins_late(run));
    json_real(out, "wall_time", run->wall);
    json_real(out, "real_time_factor", ratio_or_nan(statistics_simulated_time(statistics, run->world), run->wall));
    /* the integrator */
    json_real(out, "iterations_mean", mean_iterations(run));
    json_whole(out, "iterations_max", statistics->most_iterations);
    json_real(out, "worst_residual", statistics->worst_residual);
    json_whole(out, "nonconverged_steps", statistics->nonconverged);
    json_real(out, "first_nonconverged_time", statistics->nonconverged ? statistics->first_nonconverged : NAN);
    json_whole(out, "saturated_steps", statistics->saturated);
    json_whole(out, "damped_steps", statistics->damped);
    json_real(out, "first_damped_time", statistics->damped ? statistics->first_damped : NAN);
    write_gains(out, &statistics->curbed, (gain_keys){"curbed_steps", "first_curbed_time", "most_curbed"});
    write_gains(out, &statistics->created, (gain_keys){"created_steps", "first_created_time", "most_created"});
}

static void write_sleep(json_out *out, const run_context *run) {
    const sleep_statistics *statistics = &run->statistics.sleep;
    if (!sim_world_options(run->world)->sleep) {
        return;
    }
    json_open(out, "sleep", '{');
    json_whole(out, "bodies", statistics->now);
    json_real(out, "bodies_mean", ratio_or_nan((double)statistics->bodies, (double)run->statistics.steps));
    json_whole(out, "bodies_most", statistics->most_bodies);
    json_whole(out, "woken", statistics->woken);
    json_real(out, "stilled", statistics->stilled);
    json_close(out, '}');
}

static const int nobody[2] = {-1, -1};

/* Names of one body or two; null: not known. */
static void write_bodies(json_out *out, const char *key, const run_context *run, const int body[2]) {
    const sim_body *all = run->scene->model->body;
    if (body[0] < 0 && body[1] < 0) {
        json_text(out, key, NULL);
        return;
    }
    json_open_line(out, key, '[');
    for (int k = 0; k < 2; k++) {
        if (body[k] >= 0) {
            json_text(out, NULL, all[body[k]].name);
        }
    }
    json_close(out, ']');
}

/* The most frequent bodies of unsolved steps; where there are many, `steps` may count some too few. */
static void write_jammed(json_out *out, const run_context *run) {
    enum { WRITTEN = 10 };
    const frequent_pairs *jammed = &run->statistics.contact.jammed;
    json_open(out, "jammed", '[');
    for (int k = 0; k < jammed->pairs && k < WRITTEN; k++) {
        json_open_line(out, NULL, '{');
        write_bodies(out, "bodies", run, jammed->pair[k].body);
        json_whole(out, "steps", jammed->pair[k].least);
        json_whole(out, "steps_at_most", jammed->pair[k].counts);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* Errors of the law itself: depth of resting contacts, and lift of sliding ones. */
static void write_departures(json_out *out, const run_context *run) {
    const contact_statistics *statistics = &run->statistics.contact;
    json_open_line(out, "sag", '{');
    json_real(out, "worst", statistics->sag.worst);
    json_real(out, "part_of_radius", statistics->sag_part);
    json_whole(out, "sinks", statistics_sinks(statistics));
    json_real(out, "worst_time", statistics->sag_part > 0 ? statistics->sag.time : NAN);
    write_bodies(out, "worst_bodies", run, statistics->sag_part > 0 ? statistics->sag.body : nobody);
    json_close(out, '}');
    if (sim_world_options(run->world)->solver->cone == SIM_CONE_CONVEX) {
        json_open_line(out, "lift", '{');
        json_real(out, "worst", statistics->lift.worst);
        json_real(out, "worst_time", statistics->lift.worst > 0 ? statistics->lift.time : NAN);
        write_bodies(out, "worst_bodies", run, statistics->lift.worst > 0 ? statistics->lift.body : nobody);
        json_close(out, '}');
    }
}

/* Figures have a mean over the steps with anything to solve, a worst, and the time of that. */
static void write_contacts(json_out *out, const run_context *run) {
    static const char *const name[FIGURES] = {[FIGURE_E] = "E",
                                              [FIGURE_OWN] = "own",
                                              [FIGURE_MOMENTUM] = "momentum",
                                              [FIGURE_PENETRATION] = "penetration",
                                              [FIGURE_PAST_RANGE] = "past_range",
                                              [FIGURE_SLIP] = "slip",
                                              [FIGURE_EXCESS] = "excess"};
    const contact_statistics *statistics = &run->statistics.contact;
    const sim_options *options = sim_world_options(run->world);
    double steps = (double)statistics->steps;
    /* contacts and iterations */
    json_open(out, "contacts", '{');
    json_text(out, "solver", options->contacts || statistics->steps ? options->solver->name : NULL);
    json_whole(out, "steps", statistics->touching);
    json_real(out, "mean", ratio_or_nan((double)statistics->contacts, (double)statistics->touching));
    json_whole(out, "most", statistics->most_contacts);
    json_whole(out, "solved_for", statistics->steps);
    json_whole(out, "most_islands", statistics->most_islands);
    json_real(out, "iterations_mean", ratio_or_nan((double)statistics->iterations, steps));
    json_whole(out, "iterations_max", statistics->most_iterations);
    json_whole(out, "iterations_total", statistics->total);
    if (statistics->steps) {
        json_branches(out, options->solver, &statistics->finished);
    }
    /* unsolved steps */
    json_whole(out, "unsolved_steps", statistics->unsolved_steps);
    json_whole(out, "unsolved_islands", statistics->unsolved_islands);
    json_reasons(out, &statistics->gave_up);
    json_real(out, "first_unsolved_time", statistics->unsolved_steps ? statistics->first_unsolved : NAN);
    /* refused and stuck steps */
    const overlap_statistics *overlap = &run->statistics.overlap;
    json_whole(out, "refused_steps", overlap->refused);
    json_real(out, "first_refused_time", overlap->refused ? overlap->first_refused : NAN);
    json_whole(out, "stuck_steps", overlap->stuck);
    json_text(out, "stuck_a", overlap->stuck ? body_name(run, overlap->body[0]) : NULL);
    json_text(out, "stuck_b", overlap->stuck ? body_name(run, overlap->body[1]) : NULL);
    json_real(out, "stuck_depth", overlap->stuck ? overlap->depth : NAN);
    write_bodies(out, "first_unsolved_bodies", run, statistics->unsolved_steps ? statistics->unsolved_body : nobody);
    write_jammed(out, run);
    write_departures(out, run);
    /* mean and worst of each figure */
    for (int k = 0; k < FIGURES; k++) {
        const figure_statistics *f = &statistics->figure[k];
        json_open_line(out, name[k], '{');
        json_real(out, "worst", statistics->steps ? f->worst : NAN);
        json_real(out, "mean", ratio_or_nan(f->sum, steps));
        json_real(out, "worst_time", statistics->steps ? f->time : NAN);
        if (k != FIGURE_MOMENTUM) {
            write_bodies(out, "worst_bodies", run, statistics->steps ? f->body : nobody);
        }
        json_close(out, '}');
    }
    json_close(out, '}');
}

/* Of rigid constraints between bodies; null: there are none. */
static void write_opening(json_out *out, const run_context *run) {
    const figure_statistics *opening = &run->statistics.opening;
    bool known = opening->worst >= 0;
    json_open_line(out, "opening", '{');
    json_real(out, "worst", known ? opening->worst : NAN);
    json_real(out, "worst_time", known ? opening->time : NAN);
    write_bodies(out, "worst_bodies", run, known ? opening->body : nobody);
    json_close(out, '}');
}

static void write_energy(json_out *out, const run_statistics *statistics) {
    int known = statistics->energy_samples > 0;
    json_open(out, "energy", '{');
    json_whole(out, "samples", statistics->energy_samples);
    json_real(out, "start", known ? statistics->energy_first : NAN);
    json_real(out, "end", known ? statistics->energy_last : NAN);
    json_real(out, "min", known ? statistics->energy_least : NAN);
    json_real(out, "max", known ? statistics->energy_most : NAN);
    json_real(out, "max_change", known ? statistics_energy_change(statistics) : NAN);
    json_real(out, "undone", statistics->overlap.undone);
    json_close(out, '}');
}

bool write_summary(const run_context *run, FILE *file) {
    json_out out = {.file = file};
    /* sections */
    json_open(&out, NULL, '{');
    write_identity(&out, run);
    write_course(&out, run);
    write_contacts(&out, run);
    write_sleep(&out, run);
    write_energy(&out, &run->statistics);
    write_opening(&out, run);
    json_whole(&out, "peak_memory", (int64_t)peak_memory());
    /* files */
    json_open(&out, "outputs", '[');
    for (int k = 0; k < run->outputs; k++) {
        json_open(&out, NULL, '{');
        json_text(&out, "file", run->output[k].path);
        json_whole(&out, "records", run->output[k].records);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_text(&out, "checkpoint", run->checkpoints > 0 ? run->request->checkpoint : NULL);
    json_close(&out, '}');
    fputc('\n', file);
    /* a write that failed is a failure of the run */
    bool good = !ferror(file);
    return (file == stdout ? !fflush(file) : !fclose(file)) && good;
}
