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
    if (info->turning) {
        json_text(out, NULL, "turning contact");
    }
    json_close(out, ']');
    /* form of the problem */
    json_text(out, "local", info->local ? "W" : "factor of W");
    json_text(out, "asymmetric", info->asymmetric ? "taken" : "outer iterations");
    /* methods of a composite solver */
    if (info->branch) {
        json_open_line(out, "branches", '[');
        for (int k = 0; info->branch[k]; k++) {
            json_text(out, NULL, info->branch[k]);
        }
        json_close(out, ']');
    }
    json_bool(out, "bodies", info->bodies);
    if (info->study) {
        json_bool(out, "study", info->study);
    }
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
    " Sliding bodies are lifted: by 2 mu v h at speed v, friction mu and step h (1 mm at 1 m/s, 0.5, 1 ms); set down "
    "sliding, they first hop.";

static void print_solver_option(const sim_solver_option *o) {
    /* name and values */
    char head[120];
    int length = snprintf(head, sizeof head, "    %s ", o->name);
    for (int k = 0; o->choices && o->choices[k]; k++) {
        length += snprintf(head + length, sizeof head - (size_t)length, "%s%s", k ? "|" : "", o->choices[k]);
    }
    if (!o->choices) {
        length += snprintf(head + length, sizeof head - (size_t)length, "%g..%g", o->low, o->high);
    }
    /* meaning and default */
    char help[400];
    if (o->choices) {
        snprintf(help, sizeof help, "%s; default: %s", o->help, o->choices[(int)o->default_value]);
    } else {
        snprintf(help, sizeof help, "%s; default: %g", o->help, o->default_value);
    }
    usage_entry(head, length, help);
}

/* Kinds of constraints and forms of the problem that a solver does not take as they are; most take all. */
static void print_limits(const sim_solver_info *info) {
    char text[400] = "";
    for (int k = 0; k < SIM_CONSTRAINT_KINDS; k++) {
        if (!(info->kinds >> k & 1)) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s %s",
                     used ? "," : "Refuses:", sim_constraint_name((sim_constraint_kind)k));
        }
    }
    if (!info->turning) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s contacts with rolling or torsion", used ? "," : "Refuses:");
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s%s", used ? ". " : "",
             info->local ? "" : "Problems given by W = J A^-1 J' alone are factored first. ",
             info->asymmetric ? "" : "The unsymmetric part of W takes outer iterations.");
    if (text[0]) {
        printf("    ");
        usage_wrap(text, 4, 4);
    }
}

static void print_text(bool study) {
    /* heading */
    usage_wrap("The contact solvers and their options. auto is the default; docs/solving.md helps to choose. Options "
               "follow the name, as in pgs:max_iterations=100,tolerance=1e-8: in world/solver of a scene and in every "
               "--solver. E is the error against rigid Coulomb contact.",
               0, 0);
    if (!study) {
        usage_wrap("Solvers and options for experiments with a method: --list-solvers --study.", 0, 0);
    }
    /* each solver: method, law, limits, options */
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        if (info->study && !study) {
            continue;
        }
        char law[800];
        snprintf(law, sizeof law, "%s (%s). Law: %s. Default compliance: %s.%s", info->method, info->paper,
                 sim_cone_name(info->cone), sim_compliance_name(info->default_law),
                 info->cone == SIM_CONE_CONVEX ? CONVEX_SLIDES : "");
        printf("\n%s\n    ", info->name);
        usage_wrap(law, 4, 4);
        print_limits(info);
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
