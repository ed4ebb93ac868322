/* The format of sweeps, key by key.  docs/sweeps.md is printed from here. */
#include "sweep/sweep.h"

#include "scene/format/tables/table_words.h"

static const char *design_name(int i) {
    static const char *const name[SWEEP_DESIGNS] = {"grid", "list", "latin"};
    return i < SWEEP_DESIGNS ? name[i] : NULL;
}

static const char *take_name(int i) {
    static const char *const name[SIGNAL_TAKES] = {"end", "start", "least", "most", "mean"};
    return i < SIGNAL_TAKES ? name[i] : NULL;
}

static const field place_fields[] = {
    {"path", FIELD_TEXT, AT(place_data, path), .required = true,
     .help = "Path of a value of the scene, as `--set` takes it."},
};
static const table table_place = {"place",
                                  "A value of the scene. A text stands for its `path`.",
                                  sizeof(place_data),
                                  place_fields,
                                  .count = COUNT(place_fields),
                                  .shorthand = "path",
                                  .text_stands_for = "path"};

static const field input_fields[] = {
    {"name", FIELD_NAME, AT(input_data, name), .help = "Name of the column. Default: the last key of the first path."},
    {"set", FIELD_OBJECTS, AT(input_data, set), .table = &table_place, .required = true,
     .help = "Where the value goes: one place or more, as in `[\"materials/wood/friction\"]`. `world/solver` and "
             "`world/seed` are places, too."},
    {"values", FIELD_LIST, AT(input_data, values), .help = "Values of any kind that the places take."},
    {"from", FIELD_NUMBER, AT(input_data, from), .help = "The first of `count` numbers; `latin`: their lower limit."},
    {"to", FIELD_NUMBER, AT(input_data, to), .help = "The last of them; `latin`: their upper limit."},
    {"count", FIELD_INTEGER, AT(input_data, count), WITHIN(2, MAX_SWEEP_RUNS),
     .help = "How many numbers, with equal steps. Of `grid` and `list`."},
    {"log", FIELD_FLAG, AT(input_data, log), .standard = "false", .help = "Equal ratios in place of equal steps."},
};
static const table table_input = {"input", "Values that the runs have in turn: `values`, or numbers `from` .. `to`.",
                                  sizeof(input_data), input_fields, .count = COUNT(input_fields)};

static const field signal_fields[] = {
    {"name", FIELD_NAME, AT(signal_data, name),
     .help = "Name of the column. Default: that of the signal, behind `take` unless this is `end`."},
    {"column", FIELD_TEXT, AT(signal_data, column), .required = true,
     .help = "A column that a run of the scene records in CSV ([formats.md](formats.md)), with its unit or without: "
             "`top.pose.z`, `energy.total`, `sensor.tip`."},
    {"take", FIELD_ENUM, AT(signal_data, take), .name_of = take_name, .standard = "\"end\"",
     .help = "Its number at the end or the start, or the least, greatest or mean of all records (`record/every`)."},
};
static const table table_signal = {"signal",
                                   "A number of the row, from what a run can record. A text stands for its `column`.",
                                   sizeof(signal_data),
                                   signal_fields,
                                   .count = COUNT(signal_fields),
                                   .shorthand = "column",
                                   .text_stands_for = "column"};

static const field sweep_fields[] = {
    {"sweep", FIELD_INTEGER, AT(sweep_data, version), WITHIN(1, 1), .required = true, .help = "Version of the format."},
    {"name", FIELD_TEXT, AT(sweep_data, name), .standard = "\"\"", .help = "Title."},
    {"description", FIELD_TEXT, AT(sweep_data, description), .help = "For the reader."},
    {"scene", FIELD_TEXT, AT(sweep_data, scene), .required = true,
     .help = "Scene, robot or model: a file, relative to that of the sweep."},
    {"set", FIELD_VALUES, AT(sweep_data, set), .help = "Values of the scene for all runs: paths to values."},
    {"inputs", FIELD_OBJECTS, AT(sweep_data, inputs), .table = &table_input, .required = true,
     .help = "Values that differ from run to run."},
    {"design", FIELD_ENUM, AT(sweep_data, design), .name_of = design_name, .standard = "\"grid\"",
     .help = "`grid`: every value of an input with every value of the others; the last input changes from run to run. "
             "`list`: the first values of all inputs, the second, ... `latin`: Latin hypercube; each input has one "
             "number in each of `runs` equal parts of its range, in an order of its own."},
    {"runs", FIELD_INTEGER, AT(sweep_data, runs), WITHIN(1, MAX_SWEEP_RUNS), .help = "Number of runs. Of `latin`."},
    {"seed", FIELD_INTEGER, AT(sweep_data, seed), WITHIN(0, 9007199254740992.0), .standard = "0",
     .help = "Seed of the Latin hypercube. That of the scene is `world/seed`."},
    {"signals", FIELD_OBJECTS, AT(sweep_data, signals), .table = &table_signal,
     .help = "Numbers of each run besides summary and certificate."},
};
const table table_sweep = {"sweep", "The file: a JSON object.", sizeof(sweep_data), sweep_fields,
                           .count = COUNT(sweep_fields)};

const table *const sweep_tables[] = {&table_sweep, &table_input, &table_place, &table_signal, NULL};
const table *const sweep_table_input = &table_input;
const table *const sweep_table_place = &table_place;
const table *const sweep_table_signal = &table_signal;

static const char introduction[] =
    "# Sweeps\n"
    "\n"
    "A sweep is many runs of one scene, each with values of its own. `sim sweep` runs them on all processors and "
    "writes a row a run. This page is printed from the table that drives the parser (`src/sweep/tables.c`).\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"sweep\": 1,\n"
    "  \"scene\": \"stack.json\",\n"
    "  \"set\": {\"world/duration\": 1},\n"
    "  \"inputs\": [\n"
    "    {\"set\": [\"materials/wood/friction\"], \"from\": 0.02, \"to\": 1, \"count\": 100},\n"
    "    {\"name\": \"ratio\", \"set\": [\"bodies/top/shapes/0/mass\"], \"from\": 0.1, \"to\": 1000, \"count\": 100, "
    "\"log\": true}\n"
    "  ],\n"
    "  \"signals\": [\"top.pose.z\"]\n"
    "}\n"
    "```\n"
    "\n"
    "```sh\n"
    "sim sweep sweep.json --out sweep.h5          # or sweep.csv\n"
    "sim plot sweep.h5 --quantity top.pose.z --out map.svg\n"
    "```\n"
    "\n"
    "* A row has the number of the run, the inputs, `ending`, `reason`, and the numbers of summary, certificate and "
    "signals. They are those of `sim SCENE --set ... --summary`, to the bit. An ending is `finished`, `failed` (a step "
    "failed), `refused` (the scene is wrong with these values) or `stopped` (memory or a file is missing). The command "
    "ends with status 0 whatever the endings, and tells how many runs failed.\n"
    "* Rows go to `sweep.h5.part` as they come. After a kill or Ctrl-C the same command goes on where it was, and "
    "repeats no run whose row is there. At the end all rows stand in `sweep.h5`, in order, and the part goes.\n"
    "* The file has the same bytes whatever the processes and machines that ran it. Times of the clock are not in it. "
    "A sweep that has changed, or another build of the program, refuses the rows that are there.\n"
    "* A process that is killed is replaced, and its run is run again.\n"
    "\n"
    "In HDF5 each column is a dataset: `/inputs/...`, `/summary/...`, `/certificate/...`, `/signals/...`, and "
    "`/runs/run`, `/runs/ending`, `/runs/reason`. `/columns` has their order, `/sweep` the file of the sweep.\n"
    "\n"
    "`sim plot` draws one input as a line, and two that form a grid as a map; `--x` and `--y` choose among more, over "
    "which the picture has means. Runs that did not finish are gaps.\n"
    "\n"
    "## Many machines\n"
    "\n"
    "```sh\n"
    "sim sweep sweep.json --out sweep.h5 --slurm 100 > job.sh && bash job.sh\n"
    "```\n"
    "\n"
    "The script submits an array of 100 jobs, which share the runs out (`--part K/100`), and one that waits for their "
    "end. That one collects the rows, and runs those that are missing. Any other batch system can do the same with "
    "`--part`. From Python a sweep runs on Dask, MPI and other executors ([python.md](python.md#sweeps)).\n"
    "\n";

char *sim_sweep_reference(void) {
    text t = {0};
    text_add(&t, "%s", introduction);
    for (int i = 0; sweep_tables[i]; i++) {
        reference_add_table(&t, sweep_tables, i);
    }
    t.length -= t.length > 0; /* the empty line at the end */
    if (t.start) {
        t.start[t.length] = 0;
    }
    return text_take(&t);
}
