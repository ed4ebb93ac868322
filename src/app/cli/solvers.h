/* The list of solvers with their options. */
#ifndef APP_CLI_SOLVERS_H
#define APP_CLI_SOLVERS_H

void print_solvers(void);
void print_solvers_json(void);

#endif
