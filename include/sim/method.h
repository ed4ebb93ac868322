/* The contract between a contact solver and the library: its functions, the services that it may use, and its
 * registration. docs/adding-a-solver.md has an example.  The solvers of the library keep the same contract. */
#ifndef SIM_METHOD_H
#define SIM_METHOD_H

#include <sim/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_arena;
struct sim_threads;

/* One problem to solve. */
typedef struct sim_solver_call {
    const sim_problem *problem;
    const double *R, *target;  /* [nrow] compliance and velocity bias; R infinite: a given force, whatever moves */
    const double *option;      /* one for each of sim_solver_info.option */
    struct sim_arena *scratch; /* memory of sim_solver_memory, given back after the call */
    void *workspace;           /* from `create` */
    sim_solution *out;
    /* set by methods with `resume`, in multiplications or operations that take as long: done so far; of an iteration */
    double work, iteration_work;
    /* that may share the work of one problem, with the same bits; NULL: the caller's thread alone */
    struct sim_threads *threads;
} sim_solver_call;

/* The end of a piece of work. */
typedef enum sim_solver_piece { SIM_PIECE_NO_MEMORY, SIM_PIECE_PAUSED, SIM_PIECE_ENDED } sim_solver_piece;

typedef struct sim_solver_method {
    sim_solver_info info;
    bool uses_threads;     /* yes; 0 for solvers outside the library */
    int lapack;            /* least number of rows from which on it calls LAPACK; 0: never */
    void *(*create)(void); /* workspace from call to call, which must change no bit; NULL: none */
    void (*destroy)(void *workspace);
    /* Fills v, impulse, outcome, iterations and residual on every path; SIM_NO_RESOURCE without memory. */
    sim_status (*solve)(sim_solver_call *call);
    /* The same in pieces, for solvers that combine others; NULL: not available.  State and memory lie in call->scratch.
     * `begin` returns NULL without memory.  `resume` works until call->work reaches `until` or the method ends, and
     * leaves its best iterate in call->out.  `restart_from` starts again from these impulses and leaves them in
     * call->out. */
    void *(*begin)(sim_solver_call *call);
    sim_solver_piece (*resume)(void *state, double until);
    void (*restart_from)(void *state, const double *impulse);
    /* Number of doubles in its dense matrices for a problem, which its option "most_memory" (GB) bounds; NULL: none.
     * sim_solver_accepts refuses larger problems before they are solved. */
    double (*dense)(const sim_problem *problem, const double *option);
} sim_solver_method;

/* ---- services for a method ---- */

/* `count` items of `size` bytes, not zeroed, valid until the call ends; NULL without memory.  A call like the one
 * before allocates nothing. */
SIM_API void *sim_solver_memory(sim_solver_call *call, size_t count, size_t size);
/* True when the caller wants the method to stop.  Call it once an iteration. */
static inline bool sim_solver_stopped(const sim_solver_call *call) {
    return call->out->stop && call->out->stop(call->out->stop_context);
}
/* u = J v + w, and v = v* + A^-1 J' gamma, of problems with velocities. */
SIM_API void sim_solver_velocity(const sim_problem *problem, const double *v, double *u);
SIM_API void sim_solver_response(const sim_problem *problem, const double *impulse, double *v);
/* Initial impulses: the warm start of the problem, or zero. */
SIM_API void sim_solver_warm_start(const sim_solver_call *call, double *impulse);
/* From the impulses in call->out: its v, and s = J v + w - target + R gamma of all rows; 0 for rows with infinite R. */
SIM_API void sim_solver_law_velocity(const sim_solver_call *call, double *s);
/* Projects y [rows] onto the friction cone or the bounds of constraint i. */
SIM_API void sim_solver_project(const sim_problem *problem, int i, double *y);
/* Projected step of length rho by the strict law, whose solutions are its fixed points: next = P(impulse - rho (s + (0,
 * 0, friction |s_t|))) of constraint i, all [rows].  Contacts alone have the last term (De Saxce's). */
SIM_API void sim_solver_strict_step(const sim_problem *problem, int i, double rho, const double *s,
                                    const double *impulse, double *next);
/* True after the last iteration, with the outcome set. The residual is at most `tolerance` (solved) or not a number
 * (broken down), the iterations are used up, or the caller stops it (at the limit). */
SIM_API bool sim_solver_finished(const sim_solver_call *call, double tolerance, double max_iterations);
/* Diagonal blocks of W, as sim_delassus_diagonal; fails without memory. */
SIM_API sim_status sim_solver_diagonal(sim_solver_call *call, double *W);
/* w_i = trace(W_ii + R_i) of every constraint, a scale for its block and a bound on its eigenvalues.  1 where the trace
 * is 0; infinite R counts as 0.  Fails without memory. */
SIM_API sim_status sim_solver_traces(sim_solver_call *call, double *w);

/* ---- registration ---- */

/* The solvers of the library and those registered with it.  It must outlive the scenes, solvers and worlds that use it.
 * NULL without memory. */
SIM_API sim_solver_registry *sim_solver_registry_create(sim_error *error);
SIM_API void sim_solver_registry_free(sim_solver_registry *registry);
/* Registers a method.  The result is for sim_options.solver and sim_solver_create; scenes loaded with this registry
 * (sim_scene_overrides.solvers) know it by its name.  The struct is copied; texts, options and functions that it points
 * at stay the caller's.  NULL, with the reason: a missing or known name, inconsistent options, no solve, no memory. */
SIM_API const sim_solver_info *sim_solver_register(sim_solver_registry *registry, const sim_solver_method *method,
                                                   sim_error *error);
/* As sim_solver_count, _at and _find; `registry` NULL: the solvers of the library alone. */
SIM_API int sim_solver_registry_count(const sim_solver_registry *registry);
SIM_API const sim_solver_info *sim_solver_registry_at(const sim_solver_registry *registry, int index);
SIM_API const sim_solver_info *sim_solver_registry_find(const sim_solver_registry *registry, const char *name);

#ifdef __cplusplus
}
#endif
#endif
