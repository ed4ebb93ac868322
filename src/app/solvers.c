/* Which solvers are there?  The same cards that `--list-solvers` prints, for programs. */
#include "app/help.h"
#include "app/json_out.h"

#include <sim/solver.h>

static void write_option(json_out *out, const sim_solver_option *o) {
    json_open_line(out, NULL, '{');
    json_text(out, "name", o->name);
    json_text(out, "help", o->help);
    if (o->choice) {
        json_text(out, "default", o->choice[(int)o->standard]);
        json_open(out, "choices", '[');
        for (int k = 0; o->choice[k]; k++) {
            json_text(out, NULL, o->choice[k]);
        }
        json_close(out, ']');
    } else {
        json_real(out, "default", o->standard);
        json_real(out, "low", o->low);
        json_real(out, "high", o->high);
        json_text(out, "type", o->whole ? "whole" : "real");
    }
    json_close(out, '}');
}

static void write_card(json_out *out, const sim_solver_card *card) {
    json_open(out, NULL, '{');
    json_text(out, "name", card->name);
    json_text(out, "method", card->method);
    json_text(out, "paper", card->paper);
    json_text(out, "cone", sim_cone_name(card->cone));
    json_text(out, "law", sim_compliance_name(card->compliance));
    json_open_line(out, "kinds", '[');
    for (int k = 0; k < SIM_CONSTRAINT_KINDS; k++) {
        if (card->kinds >> k & 1) {
            json_text(out, NULL, sim_constraint_name((sim_constraint_kind)k));
        }
    }
    json_close(out, ']');
    json_text(out, "local", card->local ? "W" : "factor of W");
    json_text(out, "asymmetric", card->asymmetric ? "taken" : "in rounds");
    json_open(out, "options", '[');
    for (int k = 0; k < card->noptions; k++) {
        write_option(out, &card->option[k]);
    }
    json_close(out, ']');
    json_close(out, '}');
}

void print_solvers_json(void) {
    json_out out = {.file = stdout};
    json_open(&out, NULL, '{');
    json_text(&out, "format", "sim solvers");
    json_whole(&out, "format_version", 1);
    json_open(&out, "solvers", '[');
    for (int k = 0; k < sim_solver_count(); k++) {
        write_card(&out, sim_solver_at(k));
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
}
