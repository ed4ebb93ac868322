/* Cells of a line of CSV (RFC 4180), which here never holds a line break. */
#include "sweep/sweep.h"

#include <string.h>

void sweep_add_cell(text *row, const char *content) {
    bool quoted = strpbrk(content, ",\"") != NULL;
    const char *quote = quoted ? "\"" : "";
    text_add(row, "%s", quote);
    for (const char *c = content; *c; c++) {
        text_add(row, "%s%c", *c == '"' ? quote : "", *c == '\n' || *c == '\r' ? ' ' : *c);
    }
    text_add(row, "%s", quote);
}

const char *sweep_next_cell(const char *row, char *cell) {
    bool quoted = *row == '"';
    row += quoted;
    while (*row && *row != '\n' && (quoted || *row != ',')) {
        if (quoted && *row == '"') {
            if (row[1] != '"') {
                row++;
                break;
            }
            row++;
        }
        *cell++ = *row++;
    }
    *cell = 0;
    return *row == ',' ? row + 1 : NULL;
}
