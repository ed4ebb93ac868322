/* Loop of a run.  Load, open, step and record until the end or until something happens, close, report. */
#include "app/run/run.h"

#include "app/cli/interrupt.h"
#include "app/output/plural.h"
#include "app/run/dump.h"
#include "app/run/page.h"
#include "app/run/setup.h"
#include "app/run/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The run ends here; the first reason stays. */
static void end_run(run_context *r, int exit_status, const char *ending, const sim_error *why) {
    if (r->ending) {
        return;
    }
    r->exit_status = exit_status;
    r->ending = ending;
    if (why) {
        r->error = *why;
    }
}

/* ---- output ---- */

static void record_state(run_context *r) {
    sim_error why;
    for (int k = 0; k < r->outputs; k++) {
        if (sim_recorder_write(r->output[k].recorder, r->world, &why)) {
            end_run(r, SIM_NO_RESOURCE, "stopped", &why);
        } else {
            r->output[k].records++;
        }
    }
    if (!r->request->quiet || r->request->summary) {
        statistics_add_state(&r->statistics, r->world);
    }
    r->recorded = sim_world_state(r->world)->step;
}

static void show_frame(run_context *r) {
    sim_error why;
    if (r->view && sim_view_write(r->view, r->world, &why)) {
        end_run(r, SIM_NO_RESOURCE, "stopped", &why);
    }
    r->viewed = sim_world_state(r->world)->step;
}

static void write_checkpoint(run_context *r) {
    sim_error why;
    if (sim_checkpoint_write(r->request->checkpoint, r->scene, r->world, &why)) {
        end_run(r, SIM_NO_RESOURCE, "stopped", &why);
    } else {
        r->checkpoints++;
    }
}

static void close_outputs(run_context *r) {
    sim_error why;
    for (int k = 0; k < r->outputs; k++) {
        if (sim_recorder_close(r->output[k].recorder, &why)) {
            end_run(r, SIM_NO_RESOURCE, "stopped", &why);
        }
        r->output[k].recorder = NULL;
    }
    if (sim_view_close(r->view, &why)) {
        end_run(r, SIM_NO_RESOURCE, "stopped", &why);
        r->page[0] = 0;
    }
    r->view = NULL;
}

/* ---- the loop ---- */

static void refuse_step(run_context *r) {
    /* cause: integrator, energy guard or contact solver */
    char names[SUMMARY_NAME_BYTES];
    sim_error why;
    const sim_step_info *info = sim_world_info(r->world);
    const sim_state *good = sim_snapshot_state(r->good);
    if (info->nonconverged) {
        sim_fail(&why, SIM_FAILED,
                 "step %lld, from %.9g s on, did not converge: residual %.2g after %d iterations (%d of %d trees)",
                 (long long)good->step + 1, good->time, info->residual, info->iterations, info->nonconverged,
                 r->scene->model->ntree);
    } else if (info->refused) {
        sim_fail(
            &why, SIM_FAILED,
            "step %lld, from %.9g s on: the solver %s creates energy, %.3g J without a source, in %d of %d islands",
            (long long)good->step + 1, good->time, sim_world_options(r->world)->solver->name, info->certificate.excess,
            info->refused, info->islands);
    } else {
        sim_fail(&why, SIM_FAILED,
                 "step %lld, from %.9g s on: the solver %s gave up on %d of %d islands after up to %d iterations "
                 "(error %.2g of its law, E %.2g%s)",
                 (long long)good->step + 1, good->time, sim_world_options(r->world)->solver->name, info->unsolved,
                 info->islands, info->solver_iterations, info->certificate.own, info->certificate.E,
                 summary_names(r, info->worst_body[SIM_WORST_UNSOLVED], names, sizeof names));
    }
    /* return to the state before the step */
    sim_error back;
    end_run(r, SIM_FAILED, "failed", sim_world_set_state(r->world, good, &back) ? &back : &why);
}

/* Once in a run, for a step that takes very long: one line with its size. */
static void say_slow(run_context *r, double seconds) {
    static const double SLOW_STEP_SECONDS = 10; /* s */
    const sim_step_info *info = sim_world_info(r->world);
    if (r->told_slow || r->request->quiet || seconds < SLOW_STEP_SECONDS) {
        return;
    }
    r->told_slow = 1;
    progress_end(&r->progress);
    fprintf(stderr, "sim: note: step %lld took %.3g s: %d contact%s in %d island%s",
            (long long)sim_world_state(r->world)->step, seconds, info->contacts, plural_s(info->contacts),
            info->islands, plural_s(info->islands));
    if (info->factorisations > 0) {
        fprintf(stderr,
                ", %d factorisation%s of %.1e multiplications in total; --solver subadmm factors no island as a whole",
                info->factorisations, plural_s(info->factorisations), info->multiplications);
    }
    fputc('\n', stderr);
}

/* As it is between two steps; one that was given up has changed nothing. */
static void interrupt_run(run_context *r) {
    sim_error why;
    const sim_state *state = sim_world_state(r->world);
    char given_up[64] = "";
    if (time_limit_gave_up(&r->time_limit)) {
        snprintf(given_up, sizeof given_up, "; step %lld was given up", (long long)state->step + 1);
    }
    sim_fail(&why, SIM_OK, "%s at %.9g s, after step %lld of %lld%s",
             time_limit_reached(&r->time_limit) ? "--time-limit reached" : "interrupted", state->time,
             (long long)state->step, (long long)r->last_step, given_up);
    end_run(r, INTERRUPTED_STATUS, "interrupted", &why);
}

static void step_once(run_context *r) {
    /* keep the state before, to return to it under --on-nonconverged fail */
    sim_error why;
    double began = clock_seconds();
    bool returns = r->good != NULL;
    if (returns && sim_snapshot_take(r->good, r->world, &why)) {
        end_run(r, SIM_NO_RESOURCE, "stopped", &why);
        return;
    }
    /* step */
    time_limit_begin_step(&r->time_limit);
    if (sim_world_step(r->world, &why)) {
        if (time_limit_gave_up(&r->time_limit)) {
            interrupt_run(r);
        }
        end_run(r, why.status, why.status == SIM_FAILED ? "failed" : "stopped", &why);
        return;
    }
    /* tally */
    statistics_add_step(&r->statistics, r->world);
    say_slow(r, clock_seconds() - began);
    const sim_step_info *info = sim_world_info(r->world);
    /* a step that is not solved ends the run */
    if (returns && (info->nonconverged || info->unsolved)) {
        refuse_step(r);
    }
}

static void dump_if_due(run_context *r) {
    sim_error why = {0};
    if (sim_world_state(r->world)->step + 1 == r->request->dump_problem && dump_problem(r, &why)) {
        end_run(r, why.status, "stopped", &why);
    }
}

/* An event that ends the run makes this step the last. */
static void stop_at_event(run_context *r) {
    int event = sim_world_stopped(r->world);
    if (event < 0) {
        return;
    }
    r->last_step = sim_world_state(r->world)->step;
    if (!r->request->quiet) {
        progress_end(&r->progress);
        fprintf(stderr, "sim: event \"%s\" at %.9g s ends the run\n", r->scene->model->event[event].name,
                sim_world_events(r->world)[event].time);
    }
}

static void run_loop(run_context *r) {
    /* state at the start */
    int64_t every = r->scene->record.every, save = r->request->checkpoint_every;
    record_state(r);
    show_frame(r);
    if (time_limit_reached(&r->time_limit)) {
        interrupt_run(r);
    }
    while (!r->ending && sim_world_state(r->world)->step < r->last_step) {
        /* step */
        dump_if_due(r);
        if (!r->ending) {
            step_once(r);
        }
        if (r->ending) {
            break;
        }
        stop_at_event(r);
        /* outputs that are due */
        int64_t now = sim_world_state(r->world)->step;
        if (now % every == 0) {
            record_state(r);
        }
        if (r->view && now % r->view_every == 0) {
            show_frame(r);
        }
        if (save && now % save == 0) {
            write_checkpoint(r);
        }
        /* progress and limits */
        progress_step(&r->progress, &r->statistics, r->world);
        if (interrupt_seen() || time_limit_reached(&r->time_limit)) {
            interrupt_run(r);
        }
    }
}

/* The last good state is always on record, and kept unless the simulation itself went wrong. */
static void finish_run(run_context *r) {
    int can_record = !r->ending || r->exit_status == SIM_FAILED || r->exit_status == INTERRUPTED_STATUS;
    if (can_record && r->recorded != sim_world_state(r->world)->step) {
        record_state(r);
    }
    if (can_record && r->viewed != sim_world_state(r->world)->step) {
        show_frame(r);
    }
    if (r->request->checkpoint && r->exit_status != SIM_FAILED) {
        write_checkpoint(r);
    }
    close_outputs(r);
    r->wall = clock_seconds() - r->statistics.started;
    end_run(r, SIM_OK, "finished", NULL);
}

static int report_run(run_context *r, FILE *summary) {
    /* reason */
    progress_end(&r->progress);
    if (r->exit_status == INTERRUPTED_STATUS) {
        fprintf(stderr, "sim: %s\n", r->error.text);
    } else if (r->exit_status) {
        error_print(&r->error);
    }
    /* summary, for people and for programs */
    if (r->request->quiet) {
        print_warnings(r);
    } else {
        print_summary(r);
    }
    if (summary && !write_summary(r, summary)) {
        fprintf(stderr, "sim: error: %s: cannot write the summary\n", r->request->summary);
        return r->exit_status ? r->exit_status : SIM_NO_RESOURCE;
    }
    if (r->request->view && r->page[0]) {
        page_show(r->page);
    }
    return r->exit_status;
}

int run_scene(const run_request *request) {
    /* load and open everything */
    run_context r;
    FILE *summary = NULL;
    sim_error why;
    sim_status status = run_setup(&r, request, &summary, &why);
    int exit_status = status;
    if (status) {
        error_print(&why);
        /* run */
    } else if (!request->validate && !request->contacts) {
        interrupt_watch();
        time_limit_watch(&r.time_limit, r.world, request->quiet);
        statistics_start(&r.statistics, r.world);
        double end = sim_world_state(r.world)->time0 + (double)r.last_step * r.scene->options.step;
        progress_start(&r.progress, !request->quiet && !run_writes_to_terminal(&r), end);
        run_loop(&r);
        finish_run(&r);
        exit_status = report_run(&r, summary);
    }
    /* release */
    run_clear(&r);
    return exit_status;
}
