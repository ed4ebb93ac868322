/* Progress line of a run.  One line on standard error, rewritten in place; nothing if standard error is no terminal.
 * No colour. */
#include "app/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

static const double REDRAW_SECONDS = 0.1; /* s */

void progress_start(run_progress *progress, int wanted, double duration) {
    *progress = (run_progress){.shown = wanted && isatty(STDERR_FILENO), .duration = duration};
}

static void draw_line(run_progress *progress, const char *text, int length) {
    int blank = progress->length > length ? progress->length - length : 0;
    fprintf(stderr, "\r%s%*s", text, blank, "");
    fflush(stderr);
    progress->length = length;
}

void progress_step(run_progress *progress, const run_statistics *statistics, const sim_world *world) {
    /* at most one line in REDRAW_SECONDS */
    if (!progress->shown) {
        return;
    }
    double now = clock_seconds();
    if (now < progress->next) {
        return;
    }
    progress->next = now + REDRAW_SECONDS;
    /* time and speed */
    const sim_step_info *info = sim_world_info(world);
    double wall = now - statistics->started, speed = wall > 0 ? statistics_simulated_time(statistics, world) / wall : 0;
    char text[80];
    int length = snprintf(text, sizeof text, "%.3f / %g s  %.3gx real time  ", sim_world_state(world)->time,
                          progress->duration, speed),
        left = (int)sizeof text - length;
    /* work and error of the last step */
    if (left > 0 && statistics->contact.steps) {
        length += snprintf(text + length, (size_t)left, "%d contacts  %d iterations  error %.1e", info->contacts,
                           info->solver_iterations, statistics->contact.figure[FIGURE_OWN].worst);
    } else if (left > 0) {
        length += snprintf(text + length, (size_t)left, "%d iterations  residual %.1e", info->iterations,
                           statistics->worst_residual);
    }
    draw_line(progress, text, length < (int)sizeof text ? length : (int)sizeof text - 1);
}

void progress_end(run_progress *progress) {
    if (progress->length > 0) {
        draw_line(progress, "", 0);
        fputc('\r', stderr);
        fflush(stderr);
    }
}
