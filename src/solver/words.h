/* A solver with values of its options, as it is written in scenes and on command lines: "canal", "pgs:max_iterations=100",
 * "subadmm:split=none,tolerance=0".
 *
 *     solver  = name {(":" | ",") option "=" value}
 *     solvers = solver {"," solver}
 *
 * A word after a comma that holds a "=" before the next mark is an option of the solver before it, any other the next solver. */
#ifndef SOLVER_WORDS_H
#define SOLVER_WORDS_H

#include <sim/method.h>
#include <stddef.h>

/* Enough for the options of any info. */
enum { SOLVER_MAX_OPTIONS = 64 };

/* The length of the first solver of a list, its options included; and of its name. */
size_t solver_words_length(const char *list);
size_t solver_words_name(const char *text);

/* One option from "OPTION=VALUE", of `length` letters. */
sim_status solver_words_setting(const sim_solver_info *info, const char *setting, size_t length, double *value,
                                sim_error *error);
/* The options behind the solver's name in `text` (length in all), over the values that stand in `value`, one each. */
sim_status solver_words_options(const sim_solver_info *info, const char *text, size_t length, double *value,
                                sim_error *error);
/* The whole: a solver of those (NULL: of the library), with options that are its own and within their ranges. */
sim_status solver_words_check(const sim_solver_registry *solvers, const char *text, sim_error *error);
/* The index of an option; -1: there is none such. */
int solver_words_option(const sim_solver_info *info, const char *name, size_t length);

#endif
