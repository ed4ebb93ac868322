/* The list of solvers with their options, from sim_solver_info: as text for --list-solvers, as JSON for programs. */
#include "app/cli/solvers.h"
#include "app/cli/usage.h"
#include "app/output/json_out.h"

#include <sim/solver.h>
#include <stdio.h>
#include <string.h>

static void write_option(json_out *out, const sim_solver_option *o) {
    /* name and meaning */
    json_open_line(out, NULL, '{');
    json_text(out, "name", o->name);
    json_text(out, "help", o->help);
    /* values */
    if (o->choices) {
        json_text(out, "default", o->choices[(int)o->default_value]);
        json_open(out, "choices", '[');
        for (int k = 0; o->choices[k]; k++) {
            json_text(out, NULL, o->choices[k]);
        }
        json_close(out, ']');
    } else {
        json_real(out, "default", o->default_value);
        json_real(out, "low", o->low);
        json_real(out, "high", o->high);
        json_text(out, "type", o->integer ? "whole" : "real");
    }
    if (o->study) {
        json_bool(out, "study", o->study);
    }
    json_close(out, '}');
}

/* By bit of SIM_COUNTS_... */
static const char *const counted[] = {"searches", "failures", "whole_steps"};

static void write_solver(json_out *out, const sim_solver_info *info) {
    /* method and law */
    json_open(out, NULL, '{');
    json_text(out, "name", info->name);
    json_text(out, "method", info->method);
    json_text(out, "paper", info->paper);
    json_text(out, "cone", sim_cone_name(info->cone));
    json_text(out, "law", sim_compliance_name(info->default_law));
    /* kinds of constraints */
    json_open_line(out, "kinds", '[');
    for (int k = 0; k < SIM_CONSTRAINT_KINDS; k++) {
        if (info->kinds >> k & 1) {
            json_text(out, NULL, sim_constraint_name((sim_constraint_kind)k));
        }
    }
    json_close(out, ']');
    /* form of the problem */
    json_text(out, "local", info->local ? "W" : "factor of W");
    json_text(out, "asymmetric", info->asymmetric ? "taken" : "in rounds");
    /* methods of a composite solver */
    if (info->branch) {
        json_open_line(out, "branches", '[');
        for (int k = 0; info->branch[k]; k++) {
            json_text(out, NULL, info->branch[k]);
        }
        json_close(out, ']');
    }
    json_bool(out, "bodies", info->bodies);
    /* counters that it fills */
    json_open_line(out, "counts", '[');
    for (int k = 0; k < 3; k++) {
        if (info->counts >> k & 1) {
            json_text(out, NULL, counted[k]);
        }
    }
    json_close(out, ']');
    /* options */
    json_open(out, "options", '[');
    for (int k = 0; k < info->noptions; k++) {
        write_option(out, &info->option[k]);
    }
    json_close(out, ']');
    json_close(out, '}');
}

static void print_json(void) {
    json_out out = {.file = stdout};
    json_open(&out, NULL, '{');
    json_text(&out, "format", "sim solvers");
    json_whole(&out, "format_version", 1);
    json_open(&out, "solvers", '[');
    for (int k = 0; k < sim_solver_count(); k++) {
        write_solver(&out, sim_solver_at(k));
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
}

/* ---- as text ---- */

/* Error of the convex law in sliding contacts (docs/contact.md). */
static const char CONVEX_SLIDES[] =
    " A body that slides at v with friction mu is lifted: it glides 2 mu v h above the ground in steps of h (1 mm at 1 "
    "m/s, 0.5 and 1 ms). Set down sliding, it first hops by (mu v)^2 / (2 g (1 + mu^2)^2), at any step (20 cm at 5 m/s "
    "and 0.5, 8 mm at 1 m/s).";

static void print_solver_option(const sim_solver_option *o) {
    /* name and values */
    enum { INDENT = 28 };
    char head[120];
    int length = snprintf(head, sizeof head, "    %s ", o->name);
    for (int k = 0; o->choices && o->choices[k]; k++) {
        length += snprintf(head + length, sizeof head - (size_t)length, "%s%s", k ? "|" : "", o->choices[k]);
    }
    if (!o->choices) {
        length += snprintf(head + length, sizeof head - (size_t)length, "%g..%g", o->low, o->high);
    }
    /* the meaning begins in its column, on a line of its own behind a long name */
    printf("%s", head);
    if (length + 1 > INDENT) {
        putchar('\n');
        length = 0;
    }
    /* meaning and default */
    char help[400];
    if (o->choices) {
        snprintf(help, sizeof help, "%s; %s", o->help, o->choices[(int)o->default_value]);
    } else {
        snprintf(help, sizeof help, "%s; %g", o->help, o->default_value);
    }
    printf("%*s", INDENT - length, "");
    usage_wrap(help, INDENT, INDENT);
}

static void print_kinds(const sim_solver_info *info) {
    char text[300] = "Takes";
    for (int k = 0; k < SIM_CONSTRAINT_KINDS; k++) {
        if (info->kinds >> k & 1) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s %s", used > strlen("Takes") ? "," : "",
                     sim_constraint_name((sim_constraint_kind)k));
        }
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "; W %s; a W that is not symmetric %s.",
             info->local ? "directly" : "by a factor",
             info->asymmetric ? "too" : "by its symmetric part, the rest in outer iterations");
    printf("    ");
    usage_wrap(text, 4, 4);
}

static void print_text(bool study) {
    /* heading */
    usage_wrap("The contact solvers. Their options follow the name, as in pgs:max_iterations=100,tolerance=1e-8, in "
               "world/solver of a scene and in every --solver, or are given in world/solver_options of the scene. The "
               "default comes last.",
               0, 0);
    if (!study) {
        usage_wrap("Each method has further options for experiments with it: --list-solvers --study.", 0, 0);
    }
    /* each solver: method, law, kinds of constraints, options */
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        char law[800];
        snprintf(law, sizeof law, "%s (%s). Law: %s. Default compliance: %s.%s", info->method, info->paper,
                 sim_cone_name(info->cone), sim_compliance_name(info->default_law),
                 info->cone == SIM_CONE_CONVEX ? CONVEX_SLIDES : "");
        printf("\n%s\n    ", info->name);
        usage_wrap(law, 4, 4);
        print_kinds(info);
        for (int i = 0; i < info->noptions; i++) {
            if (study || !info->option[i].study) {
                print_solver_option(&info->option[i]);
            }
        }
    }
}

void print_solvers(bool json, bool study) {
    if (json) {
        print_json();
    } else {
        print_text(study);
    }
}
