/* Help text of a command, from its table of options. */
#ifndef APP_CLI_USAGE_H
#define APP_CLI_USAGE_H

#include "app/cli/options.h"

enum { USAGE_WIDTH = 79 }; /* letters of a line */

/* --help of a command. */
void usage_print(const option_set *set);
/* Options under their headings. */
void usage_rows(const option_row *row, int count);
/* A name of `length` letters, and its meaning in the column of meanings. */
void usage_entry(const char *name, int length, const char *meaning);
/* Words of `text` in lines from column `indent` on; the first line has `column` letters already. */
void usage_wrap(const char *text, int indent, int column);

#endif
