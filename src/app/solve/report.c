/* Report of `sim solve`.  A row a file and a summary for people, or one JSON object for programs. */
#include "app/output/json_out.h"
#include "app/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct solve_report {
    const solve_run *run;
    json_out json;
};

static const char *const level_name[SOLVE_ACCURACY_LEVELS] = {"1e-4", "1e-6", "1e-8"};

/* ---- for people ---- */

static void print_head(void) {
    printf("%-40s %8s %6s  %-18s %10s %10s %8s %8s %8s\n", "file", "contacts", "rows", "outcome", "iterations",
           "time [s]", "E", "own", "momentum");
}

static void print_case(const solve_case *c) {
    const char *slash = strrchr(c->path, '/');
    const sim_certificate *e = &c->certificate;
    printf("%-40s %8d %6d  %-18s", slash ? slash + 1 : c->path, c->contacts, c->rows, solve_verdict(c));
    if (!c->trouble.status) {
        printf(" %10d %10.3g %8.1e %8.1e", c->iterations, c->seconds, e->E, e->own);
        if (!c->local) {
            printf(" %8.1e", e->momentum);
        }
    }
    putchar('\n');
    fflush(stdout);
}

static void print_shares(const char *what, const int within[SOLVE_ACCURACY_LEVELS], int files) {
    printf("%-22s", what);
    for (int k = 0; k < SOLVE_ACCURACY_LEVELS; k++) {
        printf("  %d of %d at %s", within[k], files, level_name[k]);
    }
    putchar('\n');
}

/* The law that `own` measures.  Steps of a scene may hold another: the elastic law needs the loads of the step before. */
static void print_law(const solve_run *run) {
    bool elastic = run->info && run->info->default_law == SIM_ELASTIC && !run->request->law;
    printf("%-22s  %s, %s cone%s\n", "law of the answers", sim_compliance_name(run->compliance),
           sim_cone_name(run->cone), elastic ? "; in a step of a scene: elastic (--law elastic)" : "");
}

static void print_totals(const solve_run *run) {
    const solve_totals *t = &run->totals;
    printf("\n%d file%s, %d refused by %s, %d not read or not solved; %.3g s\n", t->files, t->files == 1 ? "" : "s",
           t->refused, run->name, t->unreadable, t->seconds);
    if (run->info) {
        print_branches(stdout, "finished by             ", run->info, &t->finished, NULL);
    }
    print_reasons(stdout, "gave up                 ", &t->gave_up);
    print_law(run);
    print_shares("rigid law, E", t->within_E, t->files);
    print_shares("the solver's own law", t->within_own, t->files);
}

/* ---- for programs ---- */

static void write_options(json_out *out, const solve_run *run) {
    const sim_solver_info *info = run->info;
    json_open(out, "options", '{');
    for (int k = 0; info && k < info->noptions; k++) {
        const sim_solver_option *o = &info->option[k];
        if (o->choices) {
            json_text(out, o->name, o->choices[(int)run->option[k]]);
        } else {
            json_real(out, o->name, run->option[k]);
        }
    }
    json_close(out, '}');
}

static void write_head(json_out *out, const solve_run *run) {
    const solve_request *request = run->request;
    json_open(out, NULL, '{');
    json_text(out, "format", "sim solve");
    json_whole(out, "format_version", 1);
    json_text(out, "sim_version", sim_version());
    json_text(out, "build", sim_build_info());
    json_text(out, "solver", run->name);
    json_text(out, "law", sim_compliance_name(run->compliance));
    json_text(out, "cone", sim_cone_name(run->cone));
    write_options(out, run);
    json_real(out, "time_limit", request->time_limit > 0 ? request->time_limit : HUGE_VAL);
    json_real(out, "time_per_contact", request->time_per_contact);
    json_whole(out, "repeat", request->repeat);
    json_open(out, "problems", '[');
}

static void write_certificate(json_out *out, const solve_case *c) {
    /* figures by name */
    const sim_certificate *e = &c->certificate;
    const struct {
        const char *name;
        double value;
    } figure[] = {
        {"E", e->E},
        {"e_sic", e->e_sic},
        {"e_vel", e->e_vel},
        {"e_imp", e->e_imp},
        {"e_paper", e->e_paper},
        {"own", e->own},
        {"slackness", e->slackness},
        {"lee", e->lee},
        {"lee_scaled", e->lee_scaled},
        {"cone", e->cone},
        {"penetration", e->penetration},
        {"past_range", e->past_range},
        {"slip", e->slip},
        {"drive", e->drive},
        {"excess", e->excess},
    };
    for (size_t k = 0; k < sizeof figure / sizeof figure[0]; k++) {
        json_real(out, figure[k].name, figure[k].value);
    }
    /* a local problem has no momentum balance */
    json_real(out, "momentum", c->local ? HUGE_VAL : e->momentum);
    json_whole(out, "worst", e->worst);
    json_whole(out, "worst_own", e->worst_own);
}

static void write_law(json_out *out, const sim_law_options *law) {
    json_open(out, "law", '{');
    json_real(out, "beta", law->beta);
    json_real(out, "sigma", law->sigma);
    json_real(out, "push", law->push);
    json_real(out, "threshold", law->threshold);
    json_real(out, "carried", law->carried);
    json_real(out, "slop", law->slop);
    json_real(out, "undo", law->undo);
    json_close(out, '}');
}

static void write_solve_case(json_out *out, const solve_run *run, const solve_case *c) {
    /* size */
    json_open_line(out, NULL, '{');
    json_text(out, "file", c->path);
    json_whole(out, "contacts", c->contacts);
    json_whole(out, "constraints", c->constraints);
    json_whole(out, "rows", c->rows);
    json_whole(out, "velocities", c->velocities);
    json_text(out, "form", c->local ? "local" : "global");
    /* outcome */
    json_text(out, "outcome", solve_outcome(c));
    json_text(out, "gave_up", c->reason ? sim_reason_name(c->reason) : NULL);
    json_text(out, "reason", c->trouble.status ? c->trouble.text : c->reason ? sim_reason_text(c->reason) : NULL);
    if (!c->trouble.status) {
        /* law */
        write_law(out, &c->law);
        if (run->info && run->info->branch) {
            json_text(out, "finished_by", c->finished_by >= 0 ? run->info->branch[c->finished_by] : NULL);
        }
        /* work, and the state of the contacts */
        json_whole(out, "iterations", c->iterations);
        json_whole(out, "factorisations", c->factorisations);
        json_whole(out, "searches", c->searches);
        json_whole(out, "failures", c->failures);
        json_whole(out, "whole_steps", c->whole_steps);
        json_whole(out, "dogleg_steps", c->dogleg_steps);
        json_whole(out, "edge_steps", c->edge_steps);
        json_whole(out, "open", c->open);
        json_whole(out, "stick", c->stick);
        json_whole(out, "slide", c->slide);
        /* errors */
        json_real(out, "residual", c->residual);
        json_real(out, "seconds", c->seconds);
        write_certificate(out, c);
    }
    json_close(out, '}');
}

static void write_shares(json_out *out, const char *key, const int within[SOLVE_ACCURACY_LEVELS]) {
    json_open_line(out, key, '{');
    for (int k = 0; k < SOLVE_ACCURACY_LEVELS; k++) {
        json_whole(out, level_name[k], within[k]);
    }
    json_close(out, '}');
}

static void write_totals(json_out *out, const solve_run *run) {
    const solve_totals *t = &run->totals;
    json_close(out, ']');
    json_open(out, "summary", '{');
    json_whole(out, "files", t->files);
    json_whole(out, "refused", t->refused);
    json_whole(out, "failed", t->unreadable);
    json_whole(out, "unsolved", t->unsolved);
    json_real(out, "seconds", t->seconds);
    if (run->info) {
        json_branches(out, run->info, &t->finished);
    }
    json_reasons(out, &t->gave_up);
    write_shares(out, "E", t->within_E);
    write_shares(out, "own", t->within_own);
    json_close(out, '}');
    json_close(out, '}');
    putchar('\n');
}

/* ---- both ---- */

solve_report *solve_report_open(const solve_run *run) {
    solve_report *report = calloc(1, sizeof *report);
    if (report) {
        report->run = run;
        report->json.file = stdout;
        if (run->request->json) {
            write_head(&report->json, run);
        } else {
            print_head();
        }
    }
    return report;
}

void solve_report_case(solve_report *report, const solve_case *c) {
    if (report->run->request->json) {
        write_solve_case(&report->json, report->run, c);
    } else {
        print_case(c);
    }
}

void solve_report_close(solve_report *report) {
    if (report->run->request->json) {
        write_totals(&report->json, report->run);
    } else {
        print_totals(report->run);
    }
    free(report);
}
