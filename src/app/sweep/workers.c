/* Processes that run a sweep side by side.
 *
 * A worker reads numbers of runs from a pipe and writes rows to another; the parent alone writes files.  A worker that
 * dies is replaced, and its run is run again; a run that kills two workers has a row that says so.  Workers end when
 * the parent does: one end of each pipe is its own.  A process each, not a thread: a run that is killed for its memory
 * takes no other with it. */
#include "app/sweep/workers.h"
#include "app/cli/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100, MAX_JOBS = 1024 };

typedef struct worker {
    pid_t pid; /* 0: none */
    int to, from;
    int64_t run; /* that it has; -1: none */
    char *line;  /* the part of its row that has come */
    size_t length, room;
} worker;

typedef struct crew {
    sweep_work *work;
    int count;
    worker *worker;
    int64_t next;    /* no run before it is waiting */
    int64_t *again;  /* runs whose worker died: to be run again */
    int waiting;     /* of these */
    int64_t *killed; /* runs that have killed one worker */
    int killers, killers_room;
} crew;

static sim_status report_no_memory(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for the workers");
}

/* ---- the worker ---- */

static bool write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Ends with the pipe of the parent. */
static void work_until_told(const sim_sweep *sweep, int from, int to) {
    int64_t run;
    ssize_t got;
    while ((got = read(from, &run, sizeof run)) == sizeof run || (got < 0 && errno == EINTR)) {
        sim_error why;
        char *row = got > 0 ? sim_sweep_run(sweep, run, NULL, NULL, &why) : NULL;
        if (got > 0 && (!row || !write_all(to, row, strlen(row)) || !write_all(to, "\n", 1))) {
            _exit(SIM_NO_RESOURCE);
        }
        free(row);
    }
    _exit(SIM_OK);
}

static void close_pipes(worker *w) {
    if (w->pid) {
        close(w->to);
        close(w->from);
    }
}

static sim_status start_worker(crew *c, worker *w, sim_error *error) {
    int down[2], up[2];
    if (pipe(down)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no pipe for a worker: %s", strerror(errno));
    }
    if (pipe(up)) {
        close(down[0]);
        close(down[1]);
        return sim_fail(error, SIM_NO_RESOURCE, "no pipe for a worker: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_IGN); /* the parent's to read */
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_IGN); /* as SIGINT */
        signal(SIGPIPE, SIG_DFL);
        for (int k = 0; k < c->count; k++) {
            close_pipes(&c->worker[k]);
        }
        close(down[1]);
        close(up[0]);
        sim_sweep_rows_close(c->work->rows); /* and its lock */
        work_until_told(c->work->sweep, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    if (pid < 0) {
        close(down[1]);
        close(up[0]);
        return sim_fail(error, SIM_NO_RESOURCE, "a worker could not be started: %s", strerror(errno));
    }
    w->pid = pid;
    w->to = down[1];
    w->from = up[0];
    w->run = -1;
    w->length = 0;
    return SIM_OK;
}

static int end_worker(worker *w, int signal_number) {
    int status = 0;
    close_pipes(w);
    if (signal_number) {
        kill(w->pid, signal_number);
    }
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {
    }
    w->pid = 0;
    return status;
}

/* ---- runs ---- */

static bool is_wanted(const sweep_work *work, int64_t run) {
    return run % work->parts == work->part && !sim_sweep_rows_has(work->rows, run);
}

void workers_count(sweep_work *work) {
    int64_t runs = sim_sweep_about(work->sweep)->runs;
    work->wanted = work->done = 0;
    for (int64_t run = work->part; run < runs; run += work->parts) {
        work->wanted++;
        work->done += sim_sweep_rows_has(work->rows, run);
    }
}

/* The next run that is to be run, or -1. */
static int64_t next_run(crew *c) {
    int64_t runs = sim_sweep_about(c->work->sweep)->runs;
    if (c->waiting > 0) {
        return c->again[--c->waiting];
    }
    while (c->next < runs && !is_wanted(c->work, c->next)) {
        c->next++;
    }
    return c->next < runs ? c->next++ : -1;
}

static void give_run(crew *c, worker *w) {
    w->run = next_run(c);
    if (w->run >= 0) {
        (void)write_all(w->to, (const char *)&w->run, sizeof w->run); /* a worker that is dead is seen at its pipe */
    }
}

static sim_status take_row(crew *c, const char *row, sim_error *error) {
    sim_status status = sim_sweep_rows_add(c->work->rows, row, error);
    c->work->done += !status;
    c->work->tell(c->work->context);
    return status;
}

static bool has_killed(const crew *c, int64_t run) {
    for (int k = 0; k < c->killers; k++) {
        if (c->killed[k] == run) {
            return true;
        }
    }
    return false;
}

static bool note_killer(crew *c, int64_t run) {
    if (c->killers == c->killers_room) {
        int room = 2 * c->killers_room + 16;
        int64_t *more = realloc(c->killed, (size_t)room * sizeof *more);
        if (!more) {
            return false;
        }
        c->killed = more;
        c->killers_room = room;
    }
    c->killed[c->killers++] = run;
    return true;
}

/* The run of a dead worker waits again, or has its row; another worker takes the place. */
static sim_status replace_worker(crew *c, worker *w, sim_error *error) {
    int64_t run = w->run;
    int how = end_worker(w, 0);
    sim_status status = SIM_OK;
    if (run >= 0 && has_killed(c, run)) {
        char reason[80];
        snprintf(reason, sizeof reason,
                 WIFSIGNALED(how) ? "its process was killed twice, by signal %d"
                                  : "its process ended twice, with status %d",
                 WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        char *row = sim_sweep_row_without(c->work->sweep, run, reason, error);
        status = row ? take_row(c, row, error) : SIM_NO_RESOURCE;
        free(row);
    } else if (run >= 0) {
        c->again[c->waiting++] = run;
        status = note_killer(c, run) ? SIM_OK : report_no_memory(error);
    }
    status = status ? status : start_worker(c, w, error);
    if (!status) {
        give_run(c, w);
    }
    return status;
}

static sim_status grow_line(worker *w, sim_error *error) {
    enum { MIN_ROOM = 4096 };
    if (w->room - w->length < MIN_ROOM) {
        size_t room = 2 * w->room + MIN_ROOM;
        char *more = realloc(w->line, room);
        if (!more) {
            return report_no_memory(error);
        }
        w->line = more;
        w->room = room;
    }
    return SIM_OK;
}

/* Takes a row, a part of one, or the end of a worker. */
static sim_status hear_worker(crew *c, worker *w, sim_error *error) {
    sim_status status = grow_line(w, error);
    if (status) {
        return status;
    }
    ssize_t got = read(w->from, w->line + w->length, w->room - w->length - 1);
    if (got < 0 && errno == EINTR) {
        return SIM_OK;
    }
    if (got <= 0) {
        return replace_worker(c, w, error);
    }
    w->length += (size_t)got;
    w->line[w->length] = 0;
    if (w->line[w->length - 1] == '\n') {
        w->line[w->length - 1] = 0;
        w->length = 0;
        status = take_row(c, w->line, error);
        give_run(c, w);
    }
    return status;
}

/* ---- the crew ---- */

static sim_status hear_crew(crew *c, struct pollfd *ears, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < c->count; k++) {
        ears[k] = (struct pollfd){.fd = c->worker[k].from, .events = POLLIN};
    }
    int heard = poll(ears, (nfds_t)c->count, POLL_MS);
    for (int k = 0; k < c->count && heard > 0 && !status; k++) {
        if (ears[k].revents) {
            status = hear_worker(c, &c->worker[k], error);
        }
    }
    c->work->tell(c->work->context);
    return status;
}

sim_status workers_run(sweep_work *work, bool *interrupted, sim_error *error) {
    /* workers, each with a run */
    int64_t left = work->wanted - work->done;
    int jobs = left < work->jobs ? (int)left : work->jobs;
    crew c = {.work = work};
    sim_status status = SIM_OK;
    c.worker = calloc((size_t)jobs + 1, sizeof *c.worker);
    c.again = calloc((size_t)jobs + 1, sizeof *c.again);
    struct pollfd *ears = calloc((size_t)jobs + 1, sizeof *ears);
    if (!c.worker || !c.again || !ears) {
        status = report_no_memory(error);
    }
    signal(SIGPIPE, SIG_IGN); /* of a worker that died; its other pipe tells */
    for (; !status && c.count < jobs; c.count++) {
        status = start_worker(&c, &c.worker[c.count], error);
        if (!status) {
            give_run(&c, &c.worker[c.count]);
        }
    }
    /* rows as they come */
    *interrupted = false;
    while (!status && work->done < work->wanted && !*interrupted) {
        status = hear_crew(&c, ears, error);
        *interrupted = interrupt_seen();
    }
    /* the end of all workers */
    for (int k = 0; k < c.count; k++) {
        if (c.worker[k].pid) {
            end_worker(&c.worker[k], SIGKILL);
        }
        free(c.worker[k].line);
    }
    free(c.worker);
    free(c.again);
    free(c.killed);
    free(ears);
    return status;
}
