/* The option table as text. */
#ifndef APP_HELP_H
#define APP_HELP_H

void print_help(void);
void print_man_page(void);
void print_completion(void);
void print_solvers(void);
void print_solvers_json(void);
void print_solve_help(void);
void print_bench_help(void);
void print_plot_help(void);
void print_view_help(void);
void print_render_help(void);
void print_contest_help(void);

#endif
