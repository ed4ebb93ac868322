/* Solvers and options as text: parsing and error messages. */
#include "solver/words.h"
#include "base/nearest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD_LENGTH = 60 }; /* letters */

static void copy_word(const char *text, size_t length, char word[MAX_WORD_LENGTH + 1]) {
    size_t kept = length < MAX_WORD_LENGTH ? length : MAX_WORD_LENGTH;
    memcpy(word, text, kept);
    word[kept] = 0;
}

/* ---- words of a list ---- */

size_t solver_words_name(const char *text) { return strcspn(text, ":,"); }

/* True for "option=value": a "=" comes before the next ":" or ",". */
static bool is_setting(const char *text) { return text[strcspn(text, ":,=")] == '='; }

size_t solver_words_length(const char *list) {
    size_t length = solver_words_name(list);
    while (list[length] == ':' || (list[length] == ',' && is_setting(list + length + 1))) {
        length += 1 + strcspn(list + length + 1, ":,");
    }
    return length;
}

int solver_words_option(const sim_solver_info *info, const char *name, size_t length) {
    for (int k = 0; k < info->noptions; k++) {
        if (strlen(info->option[k].name) == length && strncmp(info->option[k].name, name, length) == 0) {
            return k;
        }
    }
    return -1;
}

/* ---- errors ---- */

static sim_status fail_unknown_option(const sim_solver_info *info, const char *name, sim_error *error) {
    const char *names[SOLVER_MAX_OPTIONS + 1] = {NULL};
    char all[300] = "";
    for (int k = 0; k < info->noptions && k < SOLVER_MAX_OPTIONS; k++) {
        size_t used = strlen(all);
        names[k] = info->option[k].name;
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", info->option[k].name);
    }
    const char *near = nearest_word(name, names);
    return sim_fail(error, SIM_BAD_INPUT, "the solver %s has no option '%s'%s%s%s; it has %s", info->name, name,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", info->noptions ? all : "none");
}

static sim_status fail_bad_value(const sim_solver_info *info, const sim_solver_option *o, const char *text,
                                 sim_error *error) {
    char all[200] = "";
    for (int k = 0; o->choices && o->choices[k]; k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", o->choices[k]);
    }
    if (o->choices) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes one of %s, not '%s'", info->name, o->name, all,
                        text);
    }
    return sim_fail(error, SIM_BAD_INPUT, "%s: option %s takes a %s from %g to %g, not '%s'", info->name, o->name,
                    o->integer ? "whole number" : "number", o->low, o->high, text);
}

static sim_status fail_unknown_solver(const sim_solver_registry *solvers, const char *name, sim_error *error) {
    enum { MAX_NAMES = 63 }; /* in the message */
    const char *names[MAX_NAMES + 1] = {NULL};
    char all[400] = "";
    for (int k = 0; k < sim_solver_registry_count(solvers) && k < MAX_NAMES; k++) {
        size_t used = strlen(all);
        names[k] = sim_solver_registry_at(solvers, k)->name;
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", names[k]);
    }
    const char *near = nearest_word(name, names);
    return sim_fail(error, SIM_BAD_INPUT, "there is no solver '%s'%s%s%s; there are %s", name,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", all);
}

/* ---- reading ---- */

static sim_status put_value(const sim_solver_info *info, int k, const char *text, double *value, sim_error *error) {
    const sim_solver_option *o = &info->option[k];
    for (int c = 0; o->choices && o->choices[c]; c++) {
        if (strcmp(o->choices[c], text) == 0) {
            value[k] = c;
            return SIM_OK;
        }
    }
    char *end;
    double number = strtod(text, &end);
    bool decimal = text[strspn(text, "+-.0123456789eE")] == 0;
    if (o->choices || end == text || *end || !decimal || !(number >= o->low && number <= o->high) ||
        (o->integer && number != floor(number))) {
        return fail_bad_value(info, o, text, error);
    }
    value[k] = number;
    return SIM_OK;
}

sim_status solver_words_setting(const sim_solver_info *info, const char *setting, size_t length, double *value,
                                sim_error *error) {
    char name[MAX_WORD_LENGTH + 1], text[MAX_WORD_LENGTH + 1];
    const char *equals = memchr(setting, '=', length);
    if (!equals) {
        copy_word(setting, length, name);
        return sim_fail(error, SIM_BAD_INPUT, "options of a solver are set as OPTION=VALUE, not '%s'", name);
    }
    size_t before = (size_t)(equals - setting);
    int k = solver_words_option(info, setting, before);
    copy_word(setting, before, name);
    copy_word(equals + 1, length - before - 1, text);
    if (k < 0) {
        return fail_unknown_option(info, name, error);
    }
    return length - before - 1 > MAX_WORD_LENGTH ? fail_bad_value(info, &info->option[k], text, error)
                                                 : put_value(info, k, text, value, error);
}

sim_status solver_words_options(const sim_solver_info *info, const char *text, size_t length, double *value,
                                sim_error *error) {
    sim_status status = SIM_OK;
    size_t at = strlen(info->name);
    bool given[SOLVER_MAX_OPTIONS] = {false};
    while (at < length && !status) {
        const char *setting = text + at + 1;
        size_t word = strcspn(setting, ":,");
        status = solver_words_setting(info, setting, word, value, error);
        int k = status ? -1 : solver_words_option(info, setting, strcspn(setting, "="));
        if (k >= 0 && given[k]) {
            status = sim_fail(error, SIM_BAD_INPUT, "%s: option %s is given twice", info->name, info->option[k].name);
        } else if (k >= 0) {
            given[k] = true;
        }
        at += 1 + word;
    }
    return status;
}

sim_status solver_words_check(const sim_solver_registry *solvers, const char *text, sim_error *error) {
    double value[SOLVER_MAX_OPTIONS];
    char name[MAX_WORD_LENGTH + 1];
    size_t length = solver_words_length(text);
    copy_word(text, solver_words_name(text), name);
    const sim_solver_info *info = sim_solver_registry_find(solvers, name);
    if (!info || strlen(name) < solver_words_name(text)) {
        return fail_unknown_solver(solvers, name, error);
    }
    if (text[length]) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "one solver is wanted here, with options as in %s:OPTION=VALUE, not '%.80s'; sim bench and sim "
                        "solve compare several",
                        info->name, text);
    }
    assert(info->noptions <= SOLVER_MAX_OPTIONS);
    return solver_words_options(info, text, length, value, error);
}
