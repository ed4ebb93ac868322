/* How many pieces of work are done?  One line on standard error, rewritten in place; nothing where nobody looks. */
#include "app/cli/pieces.h"
#include "app/output/run_statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };
static const double interval = 0.1; /* s */

void pieces_start(pieces *p, int many) {
    if (p) {
        *p = (pieces){.shown = isatty(STDERR_FILENO), .many = many};
    }
}

static void draw(pieces *p, double part) {
    double share = p->many ? fmin((p->done + part) / p->many, 1) : 0;
    int full = (int)(share * BAR);
    char bar[BAR + 1] = {0};
    memset(bar, '=', (size_t)full);
    memset(bar + full, ' ', (size_t)(BAR - full));
    char text[80];
    int number = p->done < p->many ? p->done + 1 : p->many;
    int length = p->many > 1 ? snprintf(text, sizeof text, "[%s] %d of %d: %s", bar, number, p->many, p->name)
                             : snprintf(text, sizeof text, "[%s] %s", bar, p->name);
    length = length < (int)sizeof text ? length : (int)sizeof text - 1;
    fprintf(stderr, "\r%s%*s", text, p->length > length ? p->length - length : 0, "");
    fflush(stderr);
    p->length = length;
    p->next = clock_seconds() + interval;
}

void pieces_begin(pieces *p, const char *name) {
    if (p && p->shown) {
        snprintf(p->name, sizeof p->name, "%s", name);
        draw(p, 0);
    }
}

void pieces_part(pieces *p, double part) {
    if (p && p->shown && clock_seconds() >= p->next) {
        draw(p, part);
    }
}

void pieces_hide(pieces *p) {
    if (p && p->shown) {
        fprintf(stderr, "\r%*s\r", p->length, "");
        fflush(stderr);
        p->length = 0;
    }
}

void pieces_done(pieces *p) {
    if (p) {
        pieces_hide(p);
        p->done++;
    }
}
