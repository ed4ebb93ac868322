/* Help text of a command, from its table of options. */
#include "app/cli/usage.h"

#include <stdio.h>
#include <string.h>

/* Words of `text` in lines from `indent` on; the first line has `column` letters already. */
void usage_wrap(const char *text, int indent, int column) {
    for (int first = 1; *text; first = 0) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > USAGE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

void usage_entry(const char *name, int length, const char *meaning) {
    enum { MEANING_COLUMN = 28 };
    fputs(name, stdout);
    if (length + 1 > MEANING_COLUMN) { /* on a line of its own */
        putchar('\n');
        length = 0;
    }
    printf("%*s", MEANING_COLUMN - length, "");
    usage_wrap(meaning, MEANING_COLUMN, MEANING_COLUMN);
}

static void print_option(const option_row *row) {
    char head[80];
    char letter[8] = "";
    if (row->letter) {
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    }
    int length = snprintf(head, sizeof head, "  %s--%s %s", letter, row->name, row->argument ? row->argument : "");
    usage_entry(head, length, row->help);
}

void usage_rows(const option_row *row, int count) {
    for (int k = 0; k < count; k++) {
        if (row[k].heading) {
            printf("\n%s:\n", row[k].heading);
        }
        if (row[k].help) {
            print_option(&row[k]);
        }
    }
}

void usage_print(const option_set *set) {
    printf("Usage: %s\n\n", set->usage);
    usage_wrap(set->about, 0, 0);
    usage_rows(set->row, set->count);
    if (set->after) {
        putchar('\n');
        usage_wrap(set->after, 0, 0);
    }
}
