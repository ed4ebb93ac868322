/* The solvers: every method answers the same contact problem, chosen by name. */
#ifndef SIM_SOLVER_H
#define SIM_SOLVER_H

#include <sim/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option of a solver: the one source for keys in scenes, ranges, `--list-solvers` and the docs. */
typedef struct sim_solver_option {
    const char *name, *help;
    double low, high, standard;
    int whole;                 /* takes whole numbers only */
    const char *const *choice; /* names of 0, 1, ...; ends with NULL; NULL: a number */
} sim_solver_option;

/* What of its effort a solver counts beside iterations, as bits: numbers of a solution that else stay 0; places are those of
 * its history. */
enum { SIM_COUNTS_SEARCHES = 1, SIM_COUNTS_FAILURES = 2, SIM_COUNTS_WHOLE_STEPS = 4, SIM_COUNTS_PLACES = 8 };

/* Solvers by name, with those of the caller among them (sim/method.h). */
typedef struct sim_solver_registry sim_solver_registry;

/* What a solver is. */
typedef struct sim_solver_card {
    const char *name;   /* "sap" */
    const char *method; /* one line */
    const char *paper;
    sim_cone cone;             /* the law of its answers ... */
    sim_compliance compliance; /* ... and the R and target that it is given unless another is asked for */
    unsigned kinds;            /* bit k: takes constraints of kind k */
    int local;       /* takes problems of W and q alone as they are; else by a factor W = L L', A = 1, J = L */
    int asymmetric;  /* takes W that is not symmetric as it is; else its symmetric part, and the rest round by round */
    int bodies;      /* wants the bodies of a problem, where they are known */
    int positions;   /* 1 + the option by which it wants the positions of a problem; 0: has no use for them */
    unsigned counts; /* SIM_COUNTS_... */
    const char *const *branch; /* names of the methods it is made of; ends with NULL; NULL: it is one */
    int noptions;
    const sim_solver_option *option;
    /* With these options, what `own` of the certificate may be where it says "solved": sim_solver_confirm.  NULL: ten times
     * its option "tolerance"; 1e-6 if it has none */
    double (*claim)(const double *option);
    const struct sim_solver_method *registered; /* set by sim_solver_register; in the library NULL */
} sim_solver_card;

/* The solvers of the library: index 0 .. count - 1; by name NULL if there is none such. */
SIM_API int sim_solver_count(void);
SIM_API const sim_solver_card *sim_solver_at(int index);
SIM_API const sim_solver_card *sim_solver_find(const char *name);

typedef enum sim_outcome {
    SIM_SOLVED,      /* within the solver's tolerance */
    SIM_AT_ROUNDING, /* no number in double precision gets nearer */
    SIM_AT_LIMIT,    /* iterations or time ran out; the best answer so far */
    SIM_STALLED, /* no step makes it better, though it is no answer: a local minimum, a ray; the best answer so far */
    SIM_BROKEN_DOWN, /* a matrix was singular, a number not finite; the best answer so far */
    SIM_REFUTED,     /* it said "solved", and the certificate says otherwise: sim_solver_confirm */
    SIM_OUTCOMES,
} sim_outcome;

/* Why a solver gave up, where it did: its best answer so far is handed out all the same. */
typedef enum sim_reason {
    SIM_REASON_NONE,       /* it did not */
    SIM_REASON_ITERATIONS, /* it had as many as it may */
    SIM_REASON_TIME,       /* who waited had enough: sim_solution.stop */
    SIM_REASON_STANDSTILL, /* the error no longer falls */
    SIM_REASON_MINIMUM,    /* what it makes smaller is least here, and yet this is no answer */
    SIM_REASON_RAY,        /* its path goes off to infinity */
    SIM_REASON_SINGULAR,   /* a matrix could not be divided by, or not within rounding */
    SIM_REASON_NONFINITE,  /* a number is not finite */
    SIM_REASON_UNFIT,      /* no law that its method knows */
    SIM_REASON_ENERGY,     /* its answer creates energy, and was not taken: said by steps, not by solvers */
    SIM_REASON_REFUTED,    /* it said "solved", and the certificate says otherwise */
    SIM_REASON_WORK,       /* more work than it may take: of sap, its option most_work */
    SIM_REASONS,
} sim_reason;

enum { SIM_MAX_BRANCHES = 4 }; /* of a solver */

SIM_API const char *sim_outcome_name(sim_outcome outcome);
SIM_API const char *sim_reason_name(sim_reason reason); /* a word or two: "local minimum" */
SIM_API const char *sim_reason_text(sim_reason reason); /* a sentence, without its full stop */

/* The way to an answer, iteration by iteration, for those who ask. */
typedef struct sim_history {
    int room, count;  /* records kept: the first `room` */
    double *residual; /* [room] what the solver stops on */
    double *cost;     /* [room] what it minimises; NAN for methods that minimise nothing */
    /* of the linear systems within, from 1 on, one system after the other: as many as there is room for */
    int linear_room, linear_count;
    double *linear;   /* [linear_room] residual; NULL: not asked for */
    int *linear_step; /* [linear_room] the iteration it belongs to */
    /* the unknown at which each record was made, nrow numbers, as many as there is room for: of incp, x = s - gamma, velocity
     * less impulse, both scaled to the same unit contact by contact */
    int place_room, place_count;
    double *place; /* [place_room]; NULL: not asked for */
} sim_history;

typedef struct sim_solution {
    double *v;       /* [nv]; of local problems none */
    double *impulse; /* [nrow] */
    sim_outcome outcome;
    sim_reason reason; /* why it is no answer; none where it is solved, if only to rounding */
    int iterations;
    int factorisations;
    int searches;           /* evaluations of line searches; of incp, sweeps before it began anew; of mlcp-*, rounds */
    int finished_by;        /* the branch of the card whose answer this is; -1: no branches, or none was needed */
    int failures;           /* rounds whose inner problem was not solved, of methods that go by rounds */
    int whole_steps;        /* iterations that took Newton's point as it stood, of methods that may look elsewhere */
    double residual;        /* the solver's own: what it stops on */
    double multiplications; /* of those factorisations, were each done from scratch; 0: not counted */
    double factor_seconds;  /* that they took, where there is a clock */
    double expected; /* multiplications of the factor that is next, before `stop` is asked; 0: none, or not told */
    const sim_clock *clock; /* NULL: none */
    sim_history *history;   /* NULL: not asked for */
    /* asked once an iteration; not 0: enough, the outcome is SIM_AT_LIMIT.  NULL: until the solver is done */
    int (*stop)(void *context);
    void *stop_context;
} sim_solution;

/* What a step is working on, for who waits for it. */
typedef struct sim_effort {
    int constraints, rows, islands; /* of the island that is being solved; of the step */
    int factorisations;             /* of the island, so far */
    double multiplications;         /* of these */
    double expected;                /* of the factor that is next; 0: none, or not known */
} sim_effort;

/* Who waits for a step: asked now and then while its contact problems are solved, by any thread and by several at once.  Not
 * 0: the step is given up.  Once it said so, it must go on saying so until the step has returned. */
typedef struct sim_watch {
    int (*stop)(void *context, const sim_effort *effort);
    void *context;
} sim_watch;

/* A solver with its options and its memory, for one thread. */
typedef struct sim_solver sim_solver;

/* `option` holds a value for each of the card's options; NULL: all as they stand. */
SIM_API sim_solver *sim_solver_create(const sim_solver_card *card, const double *option, sim_error *error);
SIM_API void sim_solver_free(sim_solver *solver);
SIM_API const sim_solver_card *sim_solver_card_of(const sim_solver *solver);
/* Does it take this problem?  Says by name what it lacks. */
SIM_API sim_status sim_solver_accepts(const sim_solver *solver, const sim_problem *problem, sim_error *error);
/* Fails without memory only; how well it went stands in the solution, whose arrays are the caller's.  The same problem
 * gives the same bits, whatever was solved before. */
SIM_API sim_status sim_solver_solve(sim_solver *solver, const sim_problem *problem, const sim_regularisation *law,
                                    sim_solution *solution, sim_error *error);

/* Is the word of a solver believed?  `own` and `momentum` are those of its answer's certificate (sim/judge.h).  "Solved" is,
 * if neither is above what the card claims (at least 1e-7: rounding); "solved to rounding" up to 1e-3, too.  Else, and where
 * a figure is not finite, outcome and reason become SIM_REFUTED and SIM_REASON_REFUTED.  Steps, `sim solve` and `sim bench`
 * ask it of every answer. */
SIM_API void sim_solver_confirm(const sim_solver *solver, double own, double momentum, sim_outcome *outcome,
                                sim_reason *reason);

/* Diagonal blocks J_i A^-1 J_i' (or those of W), rows x rows each, one after the other; the number of doubles that takes.
 * Fails without memory. */
SIM_API size_t sim_delassus_diagonal_size(const sim_problem *problem);
SIM_API sim_status sim_delassus_diagonal(const sim_problem *problem, double *W, sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
