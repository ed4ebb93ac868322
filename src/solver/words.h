/* A solver with values of its options, as in scenes and on command lines: "canal", "pgs:max_iterations=100",
 * "subadmm:split=none,tolerance=0".
 *
 *     solver  = name {(":" | ",") option "=" value}
 *     solvers = solver {"," solver}
 *
 * After a comma, a word with a "=" before the next ":" or "," is an option; any other word is the next solver. */
#ifndef SOLVER_WORDS_H
#define SOLVER_WORDS_H

#include <sim/method.h>
#include <stddef.h>

/* Largest number of options of a solver. */
enum { SOLVER_MAX_OPTIONS = 64 };

/* Length of the first solver of a list with its options; length of its name. */
size_t solver_words_length(const char *list);
size_t solver_words_name(const char *text);

/* Sets one option from "OPTION=VALUE", of `length` letters. */
sim_status solver_words_setting(const sim_solver_info *info, const char *setting, size_t length, double *value,
                                sim_error *error);
/* The options behind the solver's name in `text` (length in all), over the values that stand in `value`, one each. */
sim_status solver_words_options(const sim_solver_info *info, const char *text, size_t length, double *value,
                                sim_error *error);
/* Checks a solver with its options; `solvers` NULL: those of the library. */
sim_status solver_words_check(const sim_solver_registry *solvers, const char *text, sim_error *error);
/* Index of an option; -1: none of this name. */
int solver_words_option(const sim_solver_info *info, const char *name, size_t length);

#endif
