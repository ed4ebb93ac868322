/* `sim bench solvers`: the same contact problems, answered by several solvers. */
#ifndef APP_CONTEST_CONTEST_H
#define APP_CONTEST_CONTEST_H

#include "app/cli/options.h"
#include "app/cli/pieces.h"
#include "app/cli/solver_choice.h"
#include <sim/sim.h>
#include <stdio.h>

/* What the user asked for.  Zero and NULL: not given. */
typedef struct contest_request {
    text_list solver;
    solver_choices solvers;
    const char *scenes, *curves, *out; /* folder, file, folder */
    int64_t repeat;
    int equal_time, quick, json, list, quiet, help;
    int words;
    char **word; /* names of cases as given */
    pieces *progress;
} contest_request;

extern const option_set contest_options;

/* Repeatable random numbers: splitmix64. */
typedef struct contest_random {
    uint64_t state;
} contest_random;
double contest_uniform(contest_random *random, double low, double high);
void contest_place_nut(contest_random *random, const sim_model *model, double *q, double *v);
void contest_place_balls(contest_random *random, const sim_model *model, double *q, double *v);

/* Where problems come from: a scene, states of it, and wrenches on its free bodies. */
typedef struct contest_case {
    const char *name, *family; /* cases of a family differ in size alone */
    const char *scene;         /* file below the folder of scenes */
    int usual;                 /* among those that are taken if none is named */
    int settle;                /* steps before the first state */
    int states, between;       /* how many, and steps from one to the next */
    int wrenches;              /* of each state; 0: nothing but gravity acts */
    double force, arm;         /* each component within +- `force` weights of the body, and that times `arm` metres */
    int warm;                  /* solvers are told the step before */
    int runs;           /* so often `states` from a start by chance; problems where nothing touches are left out */
    const char *set[6]; /* values of the scene that differ, as in --set */
    /* another state in place of a later one, or, with runs, as the first of each; NULL: time goes on */
    void (*place)(contest_random *random, const sim_model *model, double *q, double *v);
} contest_case;

extern const contest_case contest_cases[];
extern const int contest_case_count;

int contest_chosen(const contest_request *request, const contest_case *c);
/* Does every word name a case? */
sim_status contest_check_words(const contest_request *request, sim_error *error);

typedef struct contest_problems {
    const contest_case *c;
    int count, bodies, velocities; /* bodies that move */
    int least, most;               /* contacts of a problem */
    double mean;
    sim_problem **item;
    int *run; /* [count] of which run */
    int idle; /* steps of runs in which nothing touches */
    sim_law_options law;
} contest_problems;

/* The same for everybody, always.  Also after a failure to be freed; the figures stay. */
sim_status contest_problems_make(const contest_request *request, const contest_case *c, contest_problems *p,
                                 sim_error *error);
void contest_problems_free(contest_problems *p);

/* How an answer of one problem went. */
typedef struct contest_answer {
    sim_outcome outcome;
    int iterations, rounds; /* rounds: records of the solver's history */
    int failures;           /* rounds whose inner problem was not solved */
    int searches;           /* the solver's own count */
    int whole_steps;        /* iterations that took Newton's point as it stood */
    double seconds;
    sim_certificate certificate;
    int open, stick, slide; /* contacts */
} contest_answer;

/* All problems by one solver. */
typedef struct contest_entry {
    const contest_problems *problems;
    const solver_choice *solver;
    int equal_time;         /* no longer than the first entry took for each */
    contest_answer *answer; /* [problems->count] */
    sim_error trouble;
} contest_entry;

/* Is it after the rigid law, and limited by nothing but its own tolerance?  Only then have equal time and curves a meaning. */
int contest_unlimited(const solver_choice *solver);
/* Fills `entry`; `first` is that whose time must not be exceeded, NULL: there is none. */
void contest_answer_all(const contest_request *request, contest_entry *entry, const contest_entry *first);
/* How E falls with the effort: rows of the file of curves. */
void contest_curves(const contest_request *request, contest_entry *entry, FILE *file);

/* A table as the figures come, or JSON at the end. */
void contest_report_open(const contest_request *request);
void contest_report_problems(const contest_request *request, const contest_problems *p);
void contest_report_entry(const contest_request *request, const contest_entry *entry, const contest_entry *first);
void contest_report_kinds(const contest_request *request, const contest_entry *first);
/* Of cases with runs: iterations and steps left unsolved, as Todorov counts them. */
void contest_report_runs(const contest_request *request, const contest_entry *entry, int count);
void contest_report_close(const contest_request *request, const contest_entry *entry, int count);

int contest_command(int count, char **arguments);

#endif
