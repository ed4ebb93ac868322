/* Solvers as they are named on the command line, with values of their options: "canal",
 * "subadmm:split=none:tolerance=0" (solver/words.h). */
#ifndef APP_CLI_SOLVER_CHOICE_H
#define APP_CLI_SOLVER_CHOICE_H

#include "app/cli/options.h"
#include <sim/solver.h>

typedef struct solver_choice {
    const sim_solver_info *info;
    double *option; /* one for each of info->option */
    char *text;     /* as it was given */
} solver_choice;

typedef struct solver_choices {
    int count;
    solver_choice *item;
} solver_choices;

/* From a list whose items name one or more, with commas between.  Also after a failure to be freed. */
sim_status solver_choices_read(const text_list *list, solver_choices *choices, sim_error *error);
void solver_choices_free(solver_choices *choices);

/* Default values of all options; to be freed.  NULL without memory. */
double *solver_standard(const sim_solver_info *info, sim_error *error);

#endif
