/* Contact solvers: every method solves the same contact problem and is chosen by name. */
#ifndef SIM_SOLVER_H
#define SIM_SOLVER_H

#include <sim/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option of a solver: the one source for keys in scenes, ranges, `--list-solvers` and the docs. */
typedef struct sim_solver_option {
    const char *name, *help;
    double low, high, default_value;
    bool integer;               /* whole numbers only */
    const char *const *choices; /* names of the values 0, 1, ..., ending with NULL; NULL: a number */
    bool study;       /* for experiments with the method alone: `--list-solvers` and the docs name it only when asked */
    bool same_states; /* other ways to one solution: saved states fit all values */
} sim_solver_option;

/* Counters of sim_solution that a solver fills beside iterations, as bits; the others stay 0.  PLACES: the unknowns in
 * sim_history. */
enum { SIM_COUNTS_SEARCHES = 1, SIM_COUNTS_FAILURES = 2, SIM_COUNTS_WHOLE_STEPS = 4, SIM_COUNTS_PLACES = 8 };

/* Solvers by name: those of the library and those of the caller (sim/method.h). */
typedef struct sim_solver_registry sim_solver_registry;

/* Description of a solver. */
typedef struct sim_solver_info {
    const char *name;   /* "sap" */
    const char *method; /* one line */
    const char *paper;
    sim_cone cone;              /* friction law of its solutions */
    sim_compliance default_law; /* R and velocity bias that it gets unless the caller asks for others */
    unsigned kinds;             /* bit k: takes constraints of kind k */
    bool turning;               /* takes contacts that resist turning, of more than three rows */
    bool study;                 /* for comparisons alone: `--list-solvers` names it only when asked */
    /* yes or no */
    bool local;                /* takes problems of W and q alone; others get a factor W = L L' with A = 1, J = L */
    bool asymmetric;           /* takes W that is not symmetric; others get the symmetric part in outer iterations */
    bool bodies;               /* uses the bodies of a problem, where they are known */
    int positions;             /* 1 + index of the option that makes it use the positions of a problem; 0: never */
    unsigned counts;           /* SIM_COUNTS_... */
    const char *const *branch; /* names of the methods that it combines, ending with NULL; NULL: it is one method */
    int noptions;
    const sim_solver_option *option;
    /* Largest `own` of the certificate that still confirms "solved" with these options (sim_solver_confirm).  NULL: ten
     * times its option "tolerance"; 1e-6 without that option */
    double (*claim)(const double *option);
    const struct sim_solver_method *registered; /* set by sim_solver_register; in the library NULL */
} sim_solver_info;

/* The solvers of the library: index 0 .. count - 1; by name, NULL for an unknown one. */
SIM_API int sim_solver_count(void);
SIM_API const sim_solver_info *sim_solver_at(int index);
SIM_API const sim_solver_info *sim_solver_find(const char *name);
/* The solver of worlds and scenes that name none. */
SIM_API const sim_solver_info *sim_solver_default(void);

typedef enum sim_outcome {
    SIM_SOLVED,      /* within the solver's tolerance */
    SIM_AT_ROUNDING, /* double precision allows no smaller error */
    /* of these the solution is the best iterate */
    SIM_AT_LIMIT,    /* iterations or time ran out */
    SIM_STALLED,     /* no step improves it, though it is no solution: a local minimum, a ray */
    SIM_BROKEN_DOWN, /* a matrix was singular or a number not finite */
    SIM_REFUTED,     /* the solver claimed "solved" and the certificate contradicts it: sim_solver_confirm */
    SIM_OUTCOMES,
} sim_outcome;

/* The reason for which a solver stopped short of a solution; it still returns its best iterate. */
typedef enum sim_reason {
    SIM_REASON_NONE,       /* it did not */
    SIM_REASON_ITERATIONS, /* iteration limit */
    SIM_REASON_TIME,       /* the caller stopped it: sim_solution.stop */
    SIM_REASON_STANDSTILL, /* the error no longer falls */
    SIM_REASON_MINIMUM,    /* a local minimum of its merit function that is no solution */
    SIM_REASON_RAY,        /* its path of pivots goes to infinity */
    SIM_REASON_SINGULAR,   /* a matrix is singular, or is so within rounding */
    SIM_REASON_NONFINITE,  /* a number is not finite */
    SIM_REASON_UNFIT,      /* a contact law that the method cannot express */
    SIM_REASON_ENERGY,     /* the solution creates energy and was discarded: set by steps, not by solvers */
    SIM_REASON_REFUTED,    /* it claimed "solved" and the certificate contradicts it */
    SIM_REASON_WORK,       /* the limit on work: option most_work */
    SIM_REASON_BUDGET,     /* the budget: sim_solution.most_iterations, or that of a step (sim_options.budget) */
    SIM_REASONS,
} sim_reason;

enum { SIM_MAX_BRANCHES = 5 }; /* of a solver */

SIM_API const char *sim_outcome_name(sim_outcome outcome);
SIM_API const char *sim_reason_name(sim_reason reason); /* a word or two: "local minimum" */
SIM_API const char *sim_reason_text(sim_reason reason); /* a sentence, without its full stop */

/* Convergence history, recorded on request. */
typedef struct sim_history {
    int room, count;  /* capacity; records, of which the first `room` are kept */
    double *residual; /* [room] the residual that the solver stops on */
    double *cost;     /* [room] its objective; NAN for methods without one */
    /* iterations of its linear systems, one system after the other, up to the capacity */
    int linear_room, linear_count;
    double *linear;   /* [linear_room] residual; NULL: not asked for */
    int *linear_step; /* [linear_room] outer iteration of each, from 1 on */
    /* the unknown of each record, nrow numbers each, up to the capacity.  Of incp: x = s - gamma (velocity less
     * impulse), both scaled to the same unit contact by contact */
    int place_room, place_count;
    double *place; /* [place_room]; NULL: not asked for */
} sim_history;

typedef struct sim_solution {
    double *v;       /* [nv] m/s, rad/s; none in local problems */
    double *impulse; /* [nrow] N s, N m s */
    sim_outcome outcome;
    sim_reason reason; /* of a failure; none where it is solved, if only to rounding */
    int iterations;
    int factorisations;
    int searches;    /* evaluations in line searches; of incp, sweeps of its restart; of mlcp-*, outer iterations */
    int finished_by; /* index in `branch` of the method whose solution this is; -1: no branches, or none was needed */
    int failures;    /* outer iterations whose inner problem was not solved */
    int whole_steps; /* iterations with a full Newton step, of methods that may shorten it */
    /* of incp: steps found by a search along the dogleg beyond the Cauchy point; those found by a search on an edge */
    int dogleg_steps, edge_steps;
    double residual;        /* the one that the solver stops on */
    double multiplications; /* of those factorisations, if each were done from scratch; 0: not counted */
    double factor_seconds;  /* their time, where there is a clock */
    double expected;        /* multiplications of the next factor, set before `stop` is called; 0: none or unknown */
    int most_iterations;    /* set by the caller, beside the option max_iterations: at most so many; 0: no limit */
    double patience; /* set by the caller: of solvers with branches, work over that of a hard problem; 0: no limit */
    const sim_clock *clock; /* NULL: none */
    sim_history *history;   /* NULL: not asked for */
    /* called once an iteration; true: stop now, the outcome is SIM_AT_LIMIT.  NULL: run to the end */
    bool (*stop)(void *context);
    void *stop_context;
} sim_solution;

/* Progress of a step, for its caller. */
typedef struct sim_effort {
    int constraints, rows, islands; /* of the island that is being solved; of the step */
    int factorisations;             /* of the island, so far */
    double multiplications;         /* of these */
    double expected;                /* of the next factor; 0: none or unknown */
} sim_effort;

/* Interruption of a step: called now and then while its contact problems are solved, by any thread and by several at
 * once. True: the step is abandoned; from then on `stop` must keep returning true until the step has returned. */
typedef struct sim_watch {
    bool (*stop)(void *context, const sim_effort *effort);
    void *context;
} sim_watch;

/* Limits on the solver in a step.  Where one is reached the best iterate is applied, and the island is unsolved, with
 * SIM_REASON_BUDGET.  Iterations give the same bits on any machine and for any number of threads; time does not, and is
 * for runs in real time. */
typedef struct sim_budget {
    int iterations; /* for each island of contacts, over all calls of the solver; 0: no limit */
    double time;    /* s, for all islands together; read after each iteration, so exceeded by one; 0: no limit */
} sim_budget;

/* A solver with its options and its memory, for one thread. */
typedef struct sim_solver sim_solver;

/* `option` holds one value for each option of `info`; NULL: the defaults. */
SIM_API sim_solver *sim_solver_create(const sim_solver_info *info, const double *option, sim_error *error);
SIM_API void sim_solver_free(sim_solver *solver);
SIM_API const sim_solver_info *sim_solver_info_of(const sim_solver *solver);
/* Checks that the solver can take this problem; the error names the constraint or the limit. */
SIM_API sim_status sim_solver_accepts(const sim_solver *solver, const sim_problem *problem, sim_error *error);
/* Fails without memory only; the solution holds the outcome, and its arrays are the caller's.  The same problem gives
 * the same bits, whatever was solved before. */
SIM_API sim_status sim_solver_solve(sim_solver *solver, const sim_problem *problem, const sim_regularisation *law,
                                    sim_solution *solution, sim_error *error);

/* Compares the outcome with the certificate of the solution (sim/judge.h: `own`, `momentum`).  "Solved" stands if
 * neither figure is above the solver's claim (at least 1e-7: rounding); "solved to rounding" stands up to 1e-3, too.
 * Otherwise, and where a figure is not finite, outcome and reason become SIM_REFUTED and SIM_REASON_REFUTED.  Steps,
 * `sim solve` and `sim bench` confirm every solution. */
SIM_API void sim_solver_confirm(const sim_solver *solver, double own, double momentum, sim_outcome *outcome,
                                sim_reason *reason);

/* Diagonal blocks J_i A^-1 J_i' (or those of W), rows x rows each, one after the other; their number of doubles.  Fails
 * without memory. */
SIM_API size_t sim_delassus_diagonal_size(const sim_problem *problem);
SIM_API sim_status sim_delassus_diagonal(const sim_problem *problem, double *W, sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
