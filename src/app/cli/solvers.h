/* The list of solvers with their options. */
#ifndef APP_CLI_SOLVERS_H
#define APP_CLI_SOLVERS_H

#include <stdbool.h>

/* As text: options marked `study` only if asked for.  As JSON: all, with the mark. */
void print_solvers(bool json, bool study);

#endif
