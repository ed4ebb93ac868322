/* Solvers with their options, from the words of a command line. */
#include "app/cli/solver_choice.h"
#include "solver/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *solver_standard(const sim_solver_info *info, sim_error *error) {
    double *value = calloc((size_t)info->noptions + 1, sizeof *value);
    if (!value) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the options");
        return NULL;
    }
    for (int k = 0; k < info->noptions; k++) {
        value[k] = info->option[k].default_value;
    }
    return value;
}

static sim_status read_one(const char *text, size_t length, solver_choice *c, sim_error *error) {
    c->text = strndup(text, length);
    if (!c->text) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the command line");
    }
    sim_status status = solver_words_check(NULL, c->text, error);
    if (status) {
        return status;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)solver_words_name(c->text), c->text);
    c->info = sim_solver_find(name);
    c->option = solver_standard(c->info, error);
    return c->option ? solver_words_options(c->info, c->text, length, c->option, error) : SIM_NO_RESOURCE;
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
            size_t length = solver_words_length(name);
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
