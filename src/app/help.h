/* The option table as text. */
#ifndef APP_HELP_H
#define APP_HELP_H

void print_help(void);
void print_man_page(void);
void print_completion(void);

#endif
