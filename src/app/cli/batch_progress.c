/* Progress line of a command that works through files or cases.  One line on standard error, rewritten in place;
 * nothing if standard error is no terminal. */
#include "app/cli/batch_progress.h"
#include "record/run/run_statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_LETTERS = 24 };
static const double REDRAW_SECONDS = 0.1; /* s */

void batch_progress_start(batch_progress *p, int many) {
    if (p) {
        *p = (batch_progress){.shown = isatty(STDERR_FILENO), .many = many};
    }
}

static void draw_batch(batch_progress *p, double part) {
    double share = p->many ? fmin((p->done + part) / p->many, 1) : 0;
    int full = (int)(share * BAR_LETTERS);
    char bar[BAR_LETTERS + 1] = {0};
    memset(bar, '=', (size_t)full);
    memset(bar + full, ' ', (size_t)(BAR_LETTERS - full));
    char text[80];
    int number = p->done < p->many ? p->done + 1 : p->many;
    int length = p->many > 1 ? snprintf(text, sizeof text, "[%s] %d of %d: %s", bar, number, p->many, p->name)
                             : snprintf(text, sizeof text, "[%s] %s", bar, p->name);
    length = length < (int)sizeof text ? length : (int)sizeof text - 1;
    fprintf(stderr, "\r%s%*s", text, p->length > length ? p->length - length : 0, "");
    fflush(stderr);
    p->length = length;
    p->next = clock_seconds() + REDRAW_SECONDS;
}

void batch_progress_begin(batch_progress *p, const char *name) {
    if (p && p->shown) {
        snprintf(p->name, sizeof p->name, "%s", name);
        draw_batch(p, 0);
    }
}

void batch_progress_part(batch_progress *p, double part) {
    if (p && p->shown && clock_seconds() >= p->next) {
        draw_batch(p, part);
    }
}

void batch_progress_hide(batch_progress *p) {
    if (p && p->shown) {
        fprintf(stderr, "\r%*s\r", p->length, "");
        fflush(stderr);
        p->length = 0;
    }
}

void batch_progress_done(batch_progress *p) {
    if (p) {
        batch_progress_hide(p);
        p->done++;
    }
}
