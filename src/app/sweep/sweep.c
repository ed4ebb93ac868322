/* `sim sweep`: its command line, its progress, the job script of Slurm. */
#include "app/sweep/sweep.h"
#include "app/cli/interrupt.h"
#include "app/cli/outputs.h"
#include "app/cli/usage.h"
#include "app/run/setup.h"
#include "app/sweep/workers.h"

#include "record/run/run_statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sweep_request {
    const char *file, *out, *part;
    int64_t jobs, slurm;
    int quiet, validate, help;
} sweep_request;

#define AT(member) offsetof(sweep_request, member)

enum { MAX_PARTS = 100000 };

static const option_row rows[] = {
    {"out", "FILE", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write the rows to FILE: .h5 (HDF5) or .csv; until all are there, to FILE.part"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no progress line and no summary", .letter = 'q'},
    {"jobs", "N", OPTION_COUNT, AT(jobs), 1, 1024, .heading = "Run",
     .help = "run N at once, each in a process; default: as many as there are processors"},
    {"part", "K/N", OPTION_TEXT, AT(part),
     .help = "run only runs K, K + N, K + 2 N, ..., and write them to FILE.part.K, for arrays of jobs. The same "
             "command without --part collects all parts, and runs the rest"},
    {"slurm", "N", OPTION_COUNT, AT(slurm), 1, MAX_PARTS,
     .help = "print a job script for an array of N jobs of Slurm: bash SCRIPT submits it"},
    {"validate", NULL, OPTION_FLAG, AT(validate), .heading = "Information",
     .help = "check the sweep, print its size and columns, and exit"},
    {"help", NULL, OPTION_FLAG, AT(help), .help = "print this help", .letter = 'h'},
};
const option_set sweep_options = {
    .command = "sim sweep",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim sweep SWEEP.json --out FILE [OPTION]...",
    .about = "Run a scene many times with values of its own each time: a grid, a list or a Latin hypercube over any "
             "values of the scene (docs/sweeps.md). Each run is a row of FILE: inputs, summary, certificate and chosen "
             "signals. After a kill or Ctrl-C the same command goes on where it was.",
};

static sim_status parse_part(const char *part, sweep_work *work, sim_error *error) {
    work->part = 0;
    work->parts = 1;
    char *end = NULL;
    if (part) {
        work->part = strtoll(part, &end, 10);
        bool first = end != part && *end == '/';
        const char *second = first ? end + 1 : end;
        work->parts = first ? strtoll(second, &end, 10) : 0;
        if (!first || end == second || *end || work->part < 0 || work->parts > MAX_PARTS || work->part >= work->parts) {
            return sim_fail(error, SIM_BAD_INPUT, "--part takes K/N with K from 0 to N - 1, as in 3/100, not '%s'",
                            part);
        }
    }
    return SIM_OK;
}

static sim_status parse_sweep_request(int count, char **arguments, sweep_request *request, sweep_work *work,
                                      sim_error *error) {
    /* options */
    int first;
    *request = (sweep_request){0};
    sim_status status = options_read(&sweep_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    /* files */
    if (count - first != 1) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: sim sweep SWEEP.json --out FILE.h5; see sim sweep --help",
                        first == count ? "no sweep given" : "one sweep at a time");
    }
    request->file = arguments[first];
    if (request->validate && (request->out || request->part || request->slurm)) {
        return sim_fail(error, SIM_BAD_INPUT, "--validate runs nothing: leave out --%s",
                        request->out    ? "out"
                        : request->part ? "part"
                                        : "slurm");
    }
    if (!request->out && !request->validate) {
        return sim_fail(error, SIM_BAD_INPUT, "no output given: --out FILE.h5");
    }
    /* processes and part */
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    work->jobs = request->jobs ? (int)request->jobs : processors > 0 ? (int)processors : 1;
    status = parse_part(request->part, work, error);
    return status ? status : outputs_apart(request->out, request->file, "the sweep", error);
}

/* ---- progress ---- */

typedef struct sweep_progress {
    sweep_work *work;
    bool shown;
    double started, next; /* on the clock */
    int64_t before;       /* runs that were done at the start */
    int length;           /* of the line that stands there */
} sweep_progress;

/* "12 s", "3.4 min", "2.1 h" */
static void print_span(char *text, size_t size, double seconds) {
    if (seconds < 99.5) {
        snprintf(text, size, "%.0f s", seconds);
    } else if (seconds < 5970) {
        snprintf(text, size, "%.1f min", seconds / 60);
    } else {
        snprintf(text, size, "%.1f h", seconds / 3600);
    }
}

static void show_progress(void *context) {
    enum { BAR_LETTERS = 24, SPAN_BYTES = 32 };
    static const double REDRAW_SECONDS = 0.1; /* s */
    sweep_progress *p = context;
    double now = clock_seconds();
    if (!p->shown || now < p->next) {
        return;
    }
    p->next = now + REDRAW_SECONDS;
    /* bar, counts, time left at the pace so far */
    int64_t done = p->work->done, many = p->work->wanted, failures = sim_sweep_rows_failures(p->work->rows);
    char bar[BAR_LETTERS + 1] = {0}, span[SPAN_BYTES], text[120];
    memset(bar, ' ', BAR_LETTERS);
    memset(bar, '=', (size_t)(done * BAR_LETTERS / (many ? many : 1)));
    int length = snprintf(text, sizeof text, "[%s] %lld of %lld runs", bar, (long long)done, (long long)many);
    if (failures) {
        length += snprintf(text + length, sizeof text - (size_t)length, ", %lld failed", (long long)failures);
    }
    if (done > p->before) {
        print_span(span, sizeof span, (now - p->started) / (double)(done - p->before) * (double)(many - done));
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s left", span);
    }
    fprintf(stderr, "\r%s%*s", text, p->length > length ? p->length - length : 0, "");
    fflush(stderr);
    p->length = length;
}

static void hide_progress(sweep_progress *p) {
    if (p->length) {
        fprintf(stderr, "\r%*s\r", p->length, "");
        fflush(stderr);
        p->length = 0;
    }
}

/* ---- without runs ---- */

static void print_sweep(const char *file, const sim_sweep *sweep) {
    const sim_sweep_info *info = sim_sweep_about(sweep);
    printf("%s: ok, %lld %s, %d columns:\n", file, (long long)info->runs, info->runs == 1 ? "run" : "runs",
           info->columns);
    for (int k = 0; k < info->columns; k++) {
        printf("  %-12s %s\n", k && strcmp(info->group[k], info->group[k - 1]) == 0 ? "" : info->group[k],
               info->column[k]);
    }
}

/* For bash, in single quotes. */
static void print_quoted(const char *text) {
    putchar('\'');
    for (; *text; text++) {
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, stdout);
    }
    putchar('\'');
}

static void print_slurm_script(const sweep_request *request) {
    printf("#!/bin/bash\n# Submits itself as an array of %lld jobs, and a job that collects their rows.\n"
           "# Limits of time and memory belong here, as in #SBATCH --time=01:00:00\n"
           "#SBATCH --job-name=sweep\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\nsweep=",
           (long long)request->slurm);
    print_quoted(request->file);
    printf("\nout=");
    print_quoted(request->out);
    printf("\nsim=${SIM:-sim}\n"
           "if [ -z \"$SLURM_JOB_ID\" ]; then\n"
           "    array=$(sbatch --parsable --array=0-%lld \"$0\") || exit 1\n"
           "    sbatch --dependency=\"afterany:$array\" \"$0\"\n"
           "elif [ -n \"$SLURM_ARRAY_TASK_ID\" ]; then\n"
           "    exec \"$sim\" sweep \"$sweep\" --out \"$out\" --quiet --jobs \"${SLURM_CPUS_PER_TASK:-1}\" \\\n"
           "        --part \"$SLURM_ARRAY_TASK_ID/%lld\"\n"
           "else\n"
           "    exec \"$sim\" sweep \"$sweep\" --out \"$out\" --quiet --jobs \"${SLURM_CPUS_PER_TASK:-1}\"\n"
           "fi\n",
           (long long)request->slurm - 1, (long long)request->slurm);
}

/* ---- the command ---- */

static void print_end(const sweep_request *request, const sweep_progress *p, bool whole) {
    const sweep_work *work = p->work;
    int64_t ran = work->done - p->before, failures = sim_sweep_rows_failures(work->rows);
    double seconds = clock_seconds() - p->started;
    fprintf(stderr, "%s%s", request->out, whole ? "" : ".part");
    if (request->part) {
        fprintf(stderr, ".%d", (int)work->part);
    }
    fprintf(stderr, ": %lld of %lld runs", (long long)work->done, (long long)work->wanted);
    if (p->before) {
        fprintf(stderr, ", %lld of them before", (long long)p->before);
    }
    fprintf(stderr, ", %lld failed", (long long)failures);
    if (ran) {
        fprintf(stderr, "; %.3g s, %.3g runs a second", seconds, (double)ran / seconds);
    }
    fputc('\n', stderr);
}

static int run_rows(const sweep_request *request, sweep_work *work, sim_error *error) {
    /* rows that are missing */
    bool interrupted = false;
    sweep_progress progress = {
        .work = work, .shown = !request->quiet && isatty(STDERR_FILENO), .started = clock_seconds()};
    workers_count(work);
    progress.before = work->done;
    work->tell = show_progress;
    work->context = &progress;
    interrupt_watch();
    sim_status status = work->done < work->wanted ? workers_run(work, &interrupted, error) : SIM_OK;
    hide_progress(&progress);
    /* the file */
    bool whole = !status && !interrupted && !request->part;
    if (whole) {
        status = sim_sweep_rows_finish(work->rows, error);
    }
    if (!status && !request->quiet) {
        print_end(request, &progress, whole);
    }
    if (!status && interrupted) {
        fprintf(stderr, "sim: interrupted: the same command goes on from here\n");
        return INTERRUPTED_STATUS;
    }
    return status;
}

static void print_sweep_errors(const sim_diagnostics *found, sim_error *error) {
    for (int k = 0; k < found->count; k++) {
        char text[4096];
        sim_diagnostic_print(&found->item[k], text, sizeof text);
        fputs(text, stderr);
    }
    if (found->more > 0) {
        fprintf(stderr, "sim: and %d more\n", found->more);
    }
    if (found->count) {
        error->text[0] = 0; /* told already */
    }
}

int sweep_command(int count, char **arguments) {
    /* command line */
    sweep_request request;
    sweep_work work = {0};
    sim_error error = {0};
    sim_status status = parse_sweep_request(count, arguments, &request, &work, &error);
    if (status) {
        return error_print(&error);
    }
    if (request.help) {
        usage_print(&sweep_options);
        return SIM_OK;
    }
    /* sweep */
    char cache[4096];
    sim_diagnostics found;
    sim_sweep *sweep = sim_sweep_load(request.file, setup_cache(cache, sizeof cache), &found, &error);
    int exit_status = SIM_OK;
    if (!sweep) {
        print_sweep_errors(&found, &error);
        exit_status = error_print(&error);
    } else if (request.validate) {
        print_sweep(request.file, sweep);
    } else if (request.slurm) {
        print_slurm_script(&request);
    } else {
        /* rows */
        work.sweep = sweep;
        work.rows = sim_sweep_rows_open(sweep, request.out, request.part ? (int)work.part : -1, &error);
        exit_status = work.rows ? run_rows(&request, &work, &error) : (int)error.status;
        if (exit_status && exit_status != INTERRUPTED_STATUS) {
            error_print(&error);
        }
        sim_sweep_rows_close(work.rows);
    }
    sim_diagnostics_free(&found);
    sim_sweep_free(sweep);
    return exit_status;
}
