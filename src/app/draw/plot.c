/* `sim plot`: its command line, its files and its output. */
#include "app/draw/plot.h"
#include "app/cli/outputs.h"
#include "app/cli/usage.h"
#include "record/file/atomic_file.h"
#include "sweep/table.h"
#include "view/plot/figure.h"
#include "view/plot/files.h"
#include "view/plot/quantity.h"
#include "view/plot/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct plot_request {
    plot_wish wish;
    const char *out, *size;
    int list, quiet, help;
} plot_request;

#define AT(member) offsetof(plot_request, member)

static const option_row rows[] = {
    {"quantity", "LIST", OPTION_TEXT, AT(wish.quantities), .heading = "Selection",
     .help = "draw a panel for each word of LIST: energy, drift, contacts, iterations, integrator, E, own, "
             "penetration, past_range, slip, coordinates, velocities, positions, points, momentum, efforts, sensors, "
             "residual, cost. Or names of columns, as in --quantity 'energy,elbow,*.pose.z'. Default: by the files"},
    {"x", "NAME", OPTION_TEXT, AT(wish.x), .help = "draw over this column; default: time, for histories iteration"},
    {"y", "NAME", OPTION_TEXT, AT(wish.y), .help = "of a sweep: draw maps with this input along y"},
    {"from", "X", OPTION_SPAN, AT(wish.from), .help = "start at X"},
    {"to", "X", OPTION_SPAN, AT(wish.to), .help = "end at X"},
    {"log", NULL, OPTION_FLAG, AT(wish.log), .help = "use logarithmic axes; errors and residuals always have them"},
    {"log-x", NULL, OPTION_FLAG, AT(wish.log_x), .help = "use a logarithmic x axis"},
    {"linear", NULL, OPTION_FLAG, AT(wish.linear), .help = "use no logarithmic axes"},
    {"out", "FILE.svg", OPTION_TEXT, AT(out), .heading = "Output",
     .help = "write the picture to FILE.svg; default: standard output"},
    {"size", "WxH", OPTION_TEXT, AT(size),
     .help = "set the size in pixels, as in 800x600; 800 alone derives the height from the panels; default: 800"},
    {"title", "TEXT", OPTION_TEXT, AT(wish.title), .help = "set the title; default: the name of the scene, if known"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "print no notes on omitted data", .letter = 'q'},
    {"list", NULL, OPTION_FLAG, AT(list), .heading = "Information",
     .help = "list the columns of the files with unit, minimum and maximum; of a sweep with input or signal for unit"},
    OPTION_ROW_HELP(plot_request, NULL),
};
const option_set plot_options = {
    .command = "sim plot",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim plot FILE... [OPTION]...\n       sim plot FIGURE.json [--out FILE.svg]",
    .about = "Draw trajectories (.csv, .h5) and histories of sim solve as SVG: one panel a quantity, over a common "
             "axis. Several files are compared, one colour each. The file of a sweep becomes a line over one input, or "
             "a map over two. The picture suits light and dark pages. "
             "FIGURE.json describes a figure of any numbers: panels, axes, series (docs/plots.md).",
};

static sim_status read_plot_size(const char *text, plot_wish *wish, sim_error *error) {
    enum { MIN_PIXELS = 200, MAX_PIXELS = 10000 };
    char *end;
    long width = strtol(text, &end, 10), height = 0;
    if (*end == 'x') {
        height = strtol(end + 1, &end, 10);
        height = height < MIN_PIXELS ? -1 : height;
    }
    if (*end || width < MIN_PIXELS || width > MAX_PIXELS || height < 0 || height > MAX_PIXELS) {
        return sim_fail(error, SIM_BAD_INPUT, "--size takes pixels from %d to %d, as in 800x600 or 800, not '%.40s'",
                        MIN_PIXELS, MAX_PIXELS, text);
    }
    wish->width = (int)width;
    wish->height = (int)height;
    return SIM_OK;
}

static sim_status parse_plot_request(int count, char **arguments, plot_request *request, int *first, sim_error *error) {
    /* options */
    *request = (plot_request){.wish = {.from = NAN, .to = NAN, .width = 800}};
    sim_status status = options_read(&plot_options, count, arguments, request, first, error);
    if (status || request->help) {
        return status;
    }
    /* files and output */
    if (*first == count) {
        return sim_fail(error, SIM_BAD_INPUT, "no file given: sim plot FILE... --out picture.svg; see sim plot --help");
    }
    const char *dot = request->out ? strrchr(request->out, '.') : NULL;
    if (request->out && strcmp(request->out, "-") != 0 && !(dot && strcmp(dot, ".svg") == 0)) {
        return sim_fail(error, SIM_BAD_INPUT, "--out takes a name that ends in .svg, not '%s'", request->out);
    }
    if (request->list && request->out) {
        return sim_fail(error, SIM_BAD_INPUT, "--list prints columns and draws nothing: leave out --out");
    }
    /* range of times and size */
    if (request->wish.from >= request->wish.to) {
        return sim_fail(error, SIM_BAD_INPUT, "--from should be less than --to");
    }
    if (!request->list && !request->out && isatty(STDOUT_FILENO)) {
        return sim_fail(error, SIM_BAD_INPUT, "no output given: --out picture.svg");
    }
    return request->size ? read_plot_size(request->size, &request->wish, error) : SIM_OK;
}

/* ---- --list ---- */

static sim_status print_columns(trajectory *t, sim_error *error) {
    double *value = malloc((size_t)t->records * sizeof *value);
    sim_status status = value ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for a column");
    for (int k = t->labels > 0; k < t->columns && !status; k++) {
        status = trajectory_values(t, k, value, error);
        double least = INFINITY, most = -INFINITY;
        for (ptrdiff_t r = 0; r < t->records && !status; r++) {
            least = fmin(least, value[r]);
            most = fmax(most, value[r]);
        }
        if (!status) {
            printf("  %-34s %-9s %12.6g .. %-12.6g\n", t->column[k].name, t->column[k].unit, least, most);
        }
    }
    free(value);
    return status;
}

static sim_status list_file(trajectory *t, sim_error *error) {
    printf("%s: %td records of %d columns\n", t->path, t->records, t->columns);
    for (int k = 0; k < t->labels; k++) {
        printf("  problem %s\n", t->label[k]);
    }
    sim_status status = print_columns(t, error);
    printf("  quantities:");
    for (int k = 0; plot_quantity_at(k); k++) {
        int found = 0;
        for (int c = t->labels > 0; c < t->columns && !found; c++) {
            found = plot_quantity_has(plot_quantity_at(k), &t->column[c]);
        }
        if (found) {
            printf(" %s", plot_quantity_at(k)->word);
        }
    }
    putchar('\n');
    return status;
}

/* A line a column: name, group, and its least and greatest number. */
static sim_status list_sweep(const char *path, sim_error *error) {
    static const char *const group[] = {[SWEEP_OTHER] = "", [SWEEP_INPUT] = "input", [SWEEP_SIGNAL] = "signal"};
    sweep_table *table = sweep_table_read(path, error);
    if (!table) {
        return error->status;
    }
    printf("%s: %lld runs of %d columns\n", path, (long long)table->rows, table->columns);
    for (int k = 0; k < table->columns; k++) {
        const sweep_column *column = &table->column[k];
        double least = INFINITY, most = -INFINITY;
        for (int64_t run = 0; run < table->rows && column->number; run++) {
            least = fmin(least, column->number[run]);
            most = fmax(most, column->number[run]);
        }
        if (column->number) {
            printf("  %-34s %-9s %12.6g .. %-12.6g\n", column->name, group[column->group], least, most);
        } else {
            printf("  %-34s %-9s %12s\n", column->name, group[column->group], "text");
        }
    }
    sweep_table_free(table);
    return SIM_OK;
}

/* ---- the command ---- */

/* `text` is freed. */
static sim_status write_plot_picture(const plot_request *request, char *text, sim_error *error) {
    sim_status status = SIM_OK;
    if (!text) {
        return error->status;
    }
    if (request->out && strcmp(request->out, "-") != 0) {
        status = replace_file(request->out, "a picture", text, strlen(text), error);
    } else {
        fputs(text, stdout);
    }
    free(text);
    return status;
}

/* Of names that end with NULL. */
static const char *find_figure(char **path) {
    for (; *path; path++) {
        const char *dot = strrchr(*path, '.');
        if (dot && strcmp(dot, ".json") == 0) {
            return *path;
        }
    }
    return NULL;
}

static sim_status draw_described_figure(const plot_request *request, const char *path, int files, sim_error *error) {
    const plot_wish *w = &request->wish;
    bool plain = files == 1 && !request->list && !request->size && !w->quantities && !w->x && !w->title && !w->log &&
                 !w->linear && !w->log_x && isnan(w->from) && isnan(w->to);
    if (!plain) {
        return sim_fail(
            error, SIM_BAD_INPUT,
            "%.200s describes its figure alone: sim plot FIGURE.json takes no other file and no option but --out",
            path);
    }
    sim_status status = outputs_apart(request->out, path, "an input file", error);
    return status ? status : write_plot_picture(request, plot_figure(path, error), error);
}

static sim_status draw_files(const plot_request *request, trajectory *const *file, int files, sim_error *error) {
    char note[256];
    sim_status status = write_plot_picture(request, plot_files(file, files, &request->wish, note, error), error);
    if (*note && !request->quiet && !status) {
        fprintf(stderr, "sim: %s\n", note);
    }
    return status;
}

/* A sweep stands alone, and knows no times. */
static sim_status draw_sweep(const plot_request *request, const char *path, int files, sim_error *error) {
    const plot_wish *w = &request->wish;
    char note[256];
    if (files != 1 || !isnan(w->from) || !isnan(w->to) || w->log_x || w->linear) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%.200s holds a sweep: sim plot takes one at a time, with --quantity, --x, --y, --log, --out, "
                        "--size, --title and --list",
                        path);
    }
    if (request->list) {
        return list_sweep(path, error);
    }
    sim_status status = outputs_apart(request->out, path, "an input file", error);
    status = status ? status : write_plot_picture(request, plot_sweep(path, w, note, error), error);
    if (!status && *note && !request->quiet) {
        fprintf(stderr, "sim: %s\n", note);
    }
    return status;
}

static const char *find_sweep(char **path) {
    for (; *path; path++) {
        if (sweep_table_is(*path)) {
            return *path;
        }
    }
    return NULL;
}

static sim_status with_files(const plot_request *request, char **path, int files, sim_error *error) {
    /* outputs are not inputs */
    trajectory **file = calloc((size_t)files, sizeof(trajectory *));
    sim_status status = file ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for the names of files");
    for (int k = 0; k < files && !status; k++) {
        status = outputs_apart(request->out, path[k], "an input file", error);
    }
    /* open, or list, the files */
    for (int k = 0; k < files && !status; k++) {
        file[k] = trajectory_open(path[k], error);
        status = file[k] ? SIM_OK : error->status;
        if (!status && request->list) {
            status = list_file(file[k], error);
        }
    }
    /* draw */
    if (!status && !request->list) {
        status = draw_files(request, file, files, error);
    }
    for (int k = 0; k < files && file; k++) {
        trajectory_free(file[k]);
    }
    free(file);
    return status;
}

/* Of a described figure, a sweep, or records. */
int plot_command(int count, char **arguments) {
    plot_request request;
    sim_error error = {0};
    int first;
    sim_status status = parse_plot_request(count, arguments, &request, &first, &error);
    if (status) {
        return error_print(&error);
    }
    if (request.help) {
        usage_print(&plot_options);
        return SIM_OK;
    }
    const char *figure = find_figure(arguments + first);
    const char *sweep = figure ? NULL : find_sweep(arguments + first);
    if (request.wish.y && !sweep) {
        sim_fail(&error, SIM_BAD_INPUT, "--y belongs to the files of sweeps");
        return error_print(&error);
    }
    status = figure  ? draw_described_figure(&request, figure, count - first, &error)
             : sweep ? draw_sweep(&request, sweep, count - first, &error)
                     : with_files(&request, arguments + first, count - first, &error);
    return status ? error_print(&error) : SIM_OK;
}
