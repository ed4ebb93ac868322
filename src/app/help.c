/* Help of the program: --help, the manual page and the completion of bash, printed from the table of options. */
#include "app/help.h"
#include "app/bench/bench.h"
#include "app/cli/options.h"
#include "app/cli/usage.h"
#include "app/convert/convert.h"
#include "app/draw/plot.h"
#include "app/draw/render.h"
#include "app/ik/ik.h"
#include "app/solve/solve.h"
#include "app/sweep/sweep.h"
#include "app/view/view.h"

#include <sim/solver.h>
#include <stdio.h>
#include <string.h>

static const char page_date[] = "2026-11-28"; /* date of the last change of the text below */
static const char summary[] = "simulate rigid and articulated bodies in contact";
static const char description[] =
    "Simulate a scene (a JSON file with bodies, joints and shapes), a robot in URDF, or a model in MJCF or SDFormat. "
    "Data goes to standard output, messages and progress to standard error. Ctrl-C, SIGTERM and the end of the "
    "terminal (SIGHUP) end a run after the current step; after one more second they abandon the step. Files are closed "
    "and readable. A second Ctrl-C kills at once, as does SIGTERM after five seconds.";

static const struct {
    const char *usage, *meaning;
} command_list[] = {
    {"sim [run] SCENE.json [OPTION]...", "simulate a scene"},
    {"sim [run] ROBOT.urdf [OPTION]...", "simulate URDF, MJCF, SDFormat"},
    {"sim convert ROBOT.urdf --out FILE", "write a robot as a scene"},
    {"sim view RUN.h5 | SCENE.json --live", "show a recorded or live run"},
    {"sim render SCENE.json|RUN.h5 --out FILE", "draw pictures and films"},
    {"sim plot FILE...", "plot recorded quantities as SVG"},
    {"sim ik ROBOT.json --site NAME --to POSE", "find joint coordinates of a pose"},
    {"sim solve FILE... --solver NAME", "solve contact problems from files"},
    {"sim sweep SWEEP.json --out FILE", "run a scene for many values"},
    {"sim bench contact", "measure the time of steps"},
};
static const struct {
    const char *command, *meaning;
} examples[] = {
    {"sim scene.json --out run.csv", "record the trajectory (CSV)"},
    {"sim scene.json --out run.h5 --every 10", "record every tenth step"},
    {"sim scene.json --validate", "check the scene"},
    {"sim scene.json --contacts", "list contacts at the start"},
    {"sim scene.json --checkpoint a.state --duration 5", "run 5 s and save the state"},
    {"sim --resume a.state --duration 10", "continue to 10 s"},
    {"sim scene.json --view", "show the run in a browser"},
    {"sim view run.h5 --html run.html", "page of a recorded run"},
    {"sim view scene.json --live", "watch and steer a run"},
    {"sim render scene.json --time 2 --out a.png", "draw the scene at 2 s"},
    {"sim plot run.h5 --out run.svg", "plot energy and contacts"},
    {"sim dog.urdf --base free --view", "show a robot as it falls"},
    {"sim convert arm.urdf --out arm.json", "write a robot as a scene"},
    {"sim ik arm.json --site tool --to \"0.5 0 0.3\"", "joint coordinates for it"},
    {"sim solve problems/ --solver pgs", "solve contact problems"},
    {"sim sweep sweep.json --out sweep.h5", "run a scene for each value"},
    {"sim bench contact", "measure the time of steps"},
};

static const struct {
    int status;
    const char *meaning;
} statuses[] = {
    {0, "the run reached its end"},
    {1, "the simulation failed: a value became non-finite, or a step did not converge under --on-nonconverged fail; "
        "files hold the steps before"},
    {2, "bad input: scene, checkpoint or command line; no file was written"},
    {3, "a resource is unavailable: memory, a file, disk space"},
    {130, "interrupted by Ctrl-C, SIGTERM, SIGHUP or --time-limit; files are closed and readable"},
};

static const char cache_place[] = "$XDG_CACHE_HOME/sim, or ~/.cache/sim";
static const char cache_meaning[] =
    "distance fields sampled from meshes, kept for later runs; may be deleted at any time";

void print_help(void) {
    printf("Usage: sim SCENE.json [OPTION]...\n       sim COMMAND [OPTION]...\n\n");
    usage_wrap(description, 0, 0);
    printf("\nCommands (sim COMMAND --help lists its options):\n");
    for (size_t k = 0; k < sizeof command_list / sizeof command_list[0]; k++) {
        printf("  %-41s %s\n", command_list[k].usage, command_list[k].meaning);
    }
    usage_rows(option_table, option_count);
    printf("\nExamples:\n");
    for (size_t k = 0; k < sizeof examples / sizeof examples[0]; k++) {
        printf("  %-49s %s\n", examples[k].command, examples[k].meaning);
    }
    printf("\nExit status:\n");
    for (size_t k = 0; k < sizeof statuses / sizeof statuses[0]; k++) {
        printf("  %3d  ", statuses[k].status);
        usage_wrap(statuses[k].meaning, 7, 7);
    }
    printf("\nFiles:\n  %s\n       ", cache_place);
    usage_wrap(cache_meaning, 7, 7);
}

/* ---- the man page ---- */

/* Hyphens that users copy must stay hyphens. */
static int print_roff_word(const char *text, int length) {
    int column = 0;
    for (; length > 0; text++, length--) {
        const char *letter = *text == '-' ? "\\-" : *text == '\\' ? "\\e" : NULL;
        column += letter ? printf("%s", letter) : (putchar(*text), 1);
    }
    return column;
}

/* In lines of the source that fit a terminal; a word in front must not look like a command. */
static void print_roff(const char *text) {
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 2 * length > USAGE_WIDTH) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
        }
        if (column == 0 && (*text == '.' || *text == '\'')) {
            column += printf("\\&");
        }
        column += 1 + print_roff_word(text, length);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_roff_option(const option_row *row) {
    printf(".TP\n\\fB");
    if (row->letter) {
        printf("\\-%c\\fR, \\fB", row->letter);
    }
    print_roff("--");
    print_roff(row->name);
    printf("\\fR");
    if (row->argument) {
        printf(" \\fI");
        print_roff(row->argument);
        printf("\\fR");
    }
    putchar('\n');
    print_roff(row->help);
    putchar('\n');
}

static void print_roff_rows(const option_row *row, int count) {
    for (int k = 0; k < count; k++) {
        if (row[k].heading) {
            printf(".SS %s\n", row[k].heading);
        }
        if (row[k].help) {
            print_roff_option(&row[k]);
        }
    }
}

/* Commands other than a run, in the order of the manual. */
static const struct {
    const char *heading, *synopsis;
    const option_set *set;
} manual[] = {
    {"SOLVING PROBLEMS FROM FILES",
     ".B sim solve\n.IR FILE | FOLDER ...\n.B \\-\\-solver\n.I NAME\n.RI [ OPTION ]...\n", &solve_options},
    {"TIMING STEPS", ".B sim bench contact\n.RI [ CASE ]...\n.RI [ OPTION ]...\n", &bench_options},
    {"PAGES FOR A BROWSER",
     ".B sim view\n.I FILE.h5\n.RI [ OPTION ]...\n.br\n.B sim view\n.I SCENE.json\n.B \\-\\-live\n.RI [ OPTION ]...\n",
     &view_options},
    {"PLOTS", ".B sim plot\n.IR FILE ...\n.RI [ OPTION ]...\n", &plot_options},
    {"PICTURES", ".B sim render\n.IR SCENE.json | RUN.h5\n.B \\-\\-out\n.I FILE\n.RI [ OPTION ]...\n", &render_options},
    {"ROBOTS AS SCENES", ".B sim convert\n.IR ROBOT.urdf | SCENE.json\n.B \\-\\-out\n.I FILE\n.RI [ OPTION ]...\n",
     &convert_options},
    {"INVERSE KINEMATICS",
     ".B sim ik\n.I SCENE.json\n.B \\-\\-site\n.I NAME\n.B \\-\\-to\n.I POSE\n.RI [ OPTION ]...\n", &ik_options},
    {"SWEEPS", ".B sim sweep\n.I SWEEP.json\n.B \\-\\-out\n.I FILE\n.RI [ OPTION ]...\n", &sweep_options},
};

void print_man_page(void) {
    /* name and synopsis */
    printf(".TH SIM 1 \"%s\" \"sim %s\"\n.SH NAME\nsim \\- %s\n.SH SYNOPSIS\n", page_date, sim_version(), summary);
    printf(".B sim\n.I SCENE.json\n.RI [ OPTION ]...\n.SH DESCRIPTION\n");
    print_roff(description);
    /* options of a run */
    printf("\n.SH OPTIONS\n");
    print_roff_rows(option_table, option_count);
    /* commands */
    for (size_t k = 0; k < sizeof manual / sizeof manual[0]; k++) {
        printf(".SH %s\n%s.PP\n", manual[k].heading, manual[k].synopsis);
        print_roff(manual[k].set->about);
        printf("\n");
        print_roff_rows(manual[k].set->row, manual[k].set->count);
        if (manual[k].set->after) {
            printf(".PP\n");
            print_roff(manual[k].set->after);
            putchar('\n');
        }
    }
    /* exit status */
    printf(".SH \"EXIT STATUS\"\n");
    for (size_t k = 0; k < sizeof statuses / sizeof statuses[0]; k++) {
        printf(".TP\n.B %d\n", statuses[k].status);
        print_roff(statuses[k].meaning);
        putchar('\n');
    }
    /* files and examples */
    printf(".SH FILES\n.TP\n.I ");
    print_roff(cache_place);
    putchar('\n');
    print_roff(cache_meaning);
    printf("\n.SH EXAMPLES\n");
    for (size_t k = 0; k < sizeof examples / sizeof examples[0]; k++) {
        printf(".TP\n.B ");
        print_roff(examples[k].command);
        putchar('\n');
        print_roff(examples[k].meaning);
        putchar('\n');
    }
}

/* ---- completion ---- */

static void complete_choices(const option_row *row, int count) {
    for (int k = 0; k < count; k++, row++) {
        const char *solvers[MAX_SOLVERS + 1];
        if (row->help && (row->kind == OPTION_CHOICE || row->kind == OPTION_SOLVER)) {
            solver_names(solvers);
            const char *const *choices = row->kind == OPTION_SOLVER ? (const char *const *)solvers : row->choices;
            printf("    --%s) COMPREPLY=($(compgen -W '", row->name);
            for (int c = 0; choices[c]; c++) {
                printf("%s%s", c ? " " : "", choices[c]);
            }
            printf("' -- \"$cur\")); return ;;\n");
        }
    }
}

static void complete_names(const char *variable, const option_row *row, int count) {
    printf("%s='", variable);
    for (int k = 0; k < count; k++) {
        if (row[k].help) {
            printf("%s--%s", k ? " " : "", row[k].name);
        }
    }
    printf("'");
}

static void complete_cases(void) {
    printf("; words='contact");
    for (int k = 0; k < bench_case_count; k++) {
        printf(" %s", bench_cases[k].name);
    }
    printf("'; ");
}

void print_completion(void) {
    /* values of options */
    printf("# bash completion of sim\n_sim() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
           "prev=${COMP_WORDS[COMP_CWORD-1]}\n    case $prev in\n");
    complete_choices(option_table, option_count);
    complete_choices(solve_options.row, solve_options.count);
    /* names of options, by command */
    printf("    esac\n    local words ");
    complete_names("names", option_table, option_count);
    printf("\n    if [[ ${COMP_WORDS[1]} == convert ]]; then ");
    complete_names("names", convert_options.row, convert_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == ik ]]; then ");
    complete_names("names", ik_options.row, ik_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == sweep ]]; then ");
    complete_names("names", sweep_options.row, sweep_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == solve ]]; then ");
    complete_names("names", solve_options.row, solve_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == bench ]]; then ");
    complete_names("names", bench_options.row, bench_options.count);
    complete_cases();
    printf("fi\n    if [[ ${COMP_WORDS[1]} == view ]]; then ");
    complete_names("names", view_options.row, view_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == plot ]]; then ");
    complete_names("names", plot_options.row, plot_options.count);
    printf("; fi\n    if [[ ${COMP_WORDS[1]} == render ]]; then ");
    complete_names("names", render_options.row, render_options.count);
    /* files where no name is being typed */
    printf("; fi\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n    elif [[ "
           "$words ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    else\n        "
           "COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\ncomplete -o filenames -F _sim sim\n");
}
