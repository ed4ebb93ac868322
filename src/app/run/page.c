/* Page of a run: its path, the interval of its frames, the browser that shows it. */
#include "app/run/page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES_PER_SECOND = 60, MIN_FRAMES = 240, MAX_FRAMES = 36000 };

int64_t page_every(double step, int64_t steps) {
    double every = floor(1 / (FRAMES_PER_SECOND * step) + 1e-6);
    int64_t longest = steps / MIN_FRAMES; /* whole steps */
    every = fmin(every, (double)longest);
    every = fmax(every, ceil((double)steps / MAX_FRAMES));
    return every > 1 ? (int64_t)every : 1;
}

sim_status page_name(char *path, size_t size, sim_error *error) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/sim-XXXXXX", folder && folder[0] ? folder : "/tmp");
    if (!mkdtemp(path)) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", path, strerror(errno));
    }
    size_t used = strlen(path);
    snprintf(path + used, size - used, "/run.html");
    return SIM_OK;
}

sim_status page_open(run_context *run, sim_error *error) {
    const run_request *request = run->request;
    if (!request->html && !request->view) {
        return SIM_OK;
    }
    if (request->html) {
        snprintf(run->page, sizeof run->page, "%s", request->html);
    } else if (page_name(run->page, sizeof run->page, error)) {
        return error->status;
    }
    run->view_every = page_every(run->scene->options.step, run->last_step);
    run->view = sim_view_open(run->page, run->scene, error);
    return run->view ? SIM_OK : error->status;
}

/* false: there is no such program. */
static bool run_program(const char *program, const char *path) {
    pid_t child = fork();
    if (child == 0) {
        int quiet = freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr); /* browsers chatter */
        execlp(program, program, path, (char *)NULL);
        _exit(quiet ? 127 : 126);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void page_browse(const char *where) {
    const char *browser = getenv("BROWSER");
    fflush(NULL);
    if (!(browser && browser[0] && run_program(browser, where)) && !run_program("xdg-open", where)) {
        fprintf(stderr, "sim: no browser could be started ($BROWSER, xdg-open): open the page by hand\n");
    }
}

void page_show(const char *path) {
    fprintf(stderr, "sim: the page is %s\n", path);
    page_browse(path);
}
