/* Which solver, with which options? */
#include "app/solver_choice.h"
#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one option ---- */

static sim_status unknown(const sim_solver_card *card, const char *name, sim_error *error) {
    enum { MOST = 63 };
    const char *names[MOST + 1] = {NULL};
    char all[300] = "";
    for (int k = 0; k < card->noptions && k < MOST; k++) {
        size_t used = strlen(all);
        names[k] = card->option[k].name;
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", card->option[k].name);
    }
    const char *near = sim_nearest_word(name, names);
    return sim_fail(error, SIM_BAD_INPUT, "the solver %s has no option '%.60s'%s%s%s; it has %s", card->name, name,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", card->noptions ? all : "none");
}

static sim_status not_a_value(const sim_solver_card *card, const sim_solver_option *o, const char *text,
                              sim_error *error) {
    char all[200] = "";
    for (int k = 0; o->choice && o->choice[k]; k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", o->choice[k]);
    }
    if (o->choice) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes one of %s, not '%.60s'", card->name, o->name, all,
                        text);
    }
    return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes a %s from %g to %g, not '%.60s'", card->name, o->name,
                    o->whole ? "whole number" : "number", o->low, o->high, text);
}

static sim_status put_value(const sim_solver_card *card, int k, const char *text, double *value, sim_error *error) {
    const sim_solver_option *o = &card->option[k];
    for (int c = 0; o->choice && o->choice[c]; c++) {
        if (strcmp(o->choice[c], text) == 0) {
            value[k] = c;
            return SIM_OK;
        }
    }
    char *end;
    double number = strtod(text, &end);
    int decimal = text[strspn(text, "+-.0123456789eE")] == 0;
    if (o->choice || end == text || *end || !decimal || !(number >= o->low && number <= o->high) ||
        (o->whole && number != floor(number))) {
        return not_a_value(card, o, text, error);
    }
    value[k] = number;
    return SIM_OK;
}

int solver_option_named(const sim_solver_card *card, const char *name, size_t length) {
    for (int k = 0; k < card->noptions; k++) {
        if (strlen(card->option[k].name) == length && strncmp(card->option[k].name, name, length) == 0) {
            return k;
        }
    }
    return -1;
}

sim_status solver_setting(const sim_solver_card *card, const char *setting, double *value, sim_error *error) {
    size_t length = strcspn(setting, "=");
    int k = solver_option_named(card, setting, length);
    if (setting[length] == 0) {
        return sim_fail(error, SIM_BAD_INPUT, "options of a solver are set as OPTION=VALUE, not '%.60s'", setting);
    }
    if (k < 0) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), setting);
        return unknown(card, name, error);
    }
    return put_value(card, k, setting + length + 1, value, error);
}

double *solver_standard(const sim_solver_card *card, sim_error *error) {
    double *value = calloc((size_t)card->noptions + 1, sizeof *value);
    if (!value) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the options");
        return NULL;
    }
    for (int k = 0; k < card->noptions; k++) {
        value[k] = card->option[k].standard;
    }
    return value;
}

/* ---- solvers with options ---- */

/* Cuts `text` at the next `mark`; what follows, NULL: nothing. */
static char *cut(char *text, char mark) {
    char *end = strchr(text, mark);
    if (end) {
        *end++ = 0;
    }
    return end;
}

static sim_status read_one(const char *text, size_t length, solver_choice *c, sim_error *error) {
    c->text = strndup(text, length);
    char *parts = strndup(text, length);
    if (!c->text || !parts) {
        free(parts);
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    char *setting = cut(parts, ':');
    c->card = sim_solver_find(parts);
    sim_status status =
        c->card ? SIM_OK : sim_fail(error, SIM_BAD_INPUT, "there is no solver '%s'; see sim --list-solvers", parts);
    c->option = status ? NULL : solver_standard(c->card, error);
    status = status || c->option ? status : SIM_NO_RESOURCE;
    while (!status && setting) {
        char *next = cut(setting, ':');
        status = solver_setting(c->card, setting, c->option, error);
        setting = next;
    }
    free(parts);
    return status;
}

static int count_names(const text_list *list) {
    int count = 0;
    for (int k = 0; k < list->count; k++) {
        count++;
        for (const char *at = list->item[k]; *at; at++) {
            count += *at == ',';
        }
    }
    return count;
}

sim_status solver_choices_read(const text_list *list, solver_choices *choices, sim_error *error) {
    sim_status status = SIM_OK;
    *choices = (solver_choices){0, calloc((size_t)count_names(list) + 1, sizeof *choices->item)};
    if (!choices->item) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    for (int k = 0; k < list->count && !status; k++) {
        for (const char *name = list->item[k]; *name && !status;) {
            size_t length = strcspn(name, ",");
            status = read_one(name, length, &choices->item[choices->count++], error);
            name += length + (name[length] == ',');
        }
    }
    return status;
}

void solver_choices_free(solver_choices *choices) {
    for (int k = 0; k < choices->count; k++) {
        free(choices->item[k].option);
        free(choices->item[k].text);
    }
    free(choices->item);
}
