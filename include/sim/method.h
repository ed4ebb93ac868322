/* A solver of one's own: what its author writes, what it is given, and how scenes and worlds come to know it
 * (docs/adding-a-solver.md has a whole one).  The solvers of the library are written to the same contract. */
#ifndef SIM_METHOD_H
#define SIM_METHOD_H

#include <sim/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_arena;
struct sim_threads;

/* One problem, to be answered. */
typedef struct sim_solver_call {
    const sim_problem *problem;
    const double *R, *target;  /* [nrow] of the law; R infinite: a force that is given, whatever moves */
    const double *option;      /* one for each of the card's */
    struct sim_arena *scratch; /* sim_solver_memory takes from it; given back after the call */
    void *kept;                /* what `create` made */
    sim_solution *out;
    /* Told by those that can be interrupted, in multiplications or what takes as long: done so far; of an iteration. */
    double work, unit;
    struct sim_threads
        *threads; /* that one problem may be spread over, to the same bits; NULL: none but the caller's */
} sim_solver_call;

/* How a piece of work ended. */
typedef enum sim_solver_piece { SIM_PIECE_NO_MEMORY, SIM_PIECE_PAUSED, SIM_PIECE_ENDED } sim_solver_piece;

typedef struct sim_solver_method {
    sim_solver_card card;
    int spreads;           /* makes use of threads; of solvers outside the library 0 */
    int lapack;            /* calls LAPACK for so many rows or more; 0: never */
    void *(*create)(void); /* memory from call to call, which must change no bit; NULL: none wanted */
    void (*destroy)(void *kept);
    int (*solve)(
        sim_solver_call *call); /* 0 without memory.  Fills v, impulse, outcome, iterations, residual on every path */
    /* The same in pieces, for solvers made of others; NULL: only whole.  State and memory of a call are in its scratch.
     * `begin` gives NULL without memory; `go_on` works until call->work is `until` or more, or it ends, and leaves the
     * best answer so far in call->out; `take` begins anew from these impulses, and leaves them there. */
    void *(*begin)(sim_solver_call *call);
    sim_solver_piece (*go_on)(void *state, double until);
    void (*take)(void *state, const double *impulse);
    /* Numbers of the dense matrices that it takes for a problem, which its option "most_memory" (GB) bounds; NULL: it has
     * none.  What takes more is refused, by sim_solver_accepts and before it is solved. */
    double (*dense)(const sim_problem *problem, const double *option);
} sim_solver_method;

/* ---- what a method may ask for ---- */

/* `count` items of `size` bytes, not zeroed, until the call ends; NULL without memory.  A call like the one before makes the
 * library allocate nothing. */
SIM_API void *sim_solver_memory(sim_solver_call *call, size_t count, size_t size);
/* Has who waits for the answer had enough?  To be asked once an iteration. */
static inline int sim_solver_stopped(const sim_solver_call *call) {
    return call->out->stop && call->out->stop(call->out->stop_context);
}
/* u = J v + w, and v = v* + A^-1 J' gamma, of problems with velocities. */
SIM_API void sim_solver_velocity(const sim_problem *problem, const double *v, double *u);
SIM_API void sim_solver_response(const sim_problem *problem, const double *impulse, double *v);
/* The impulses to begin with: the problem's guess, or none. */
SIM_API void sim_solver_guess(const sim_solver_call *call, double *impulse);
/* With the impulses of the solution: its v, and s = J v + w - target + R gamma of all rows.  Of rows whose R is infinite,
 * which have no s, 0. */
SIM_API void sim_solver_law_velocity(const sim_solver_call *call, double *s);
/* Of constraint i: the impulse nearest to y [rows] that its friction cone or its bounds allow. */
SIM_API void sim_solver_project(const sim_problem *problem, int i, double *y);
/* Of constraint i: a step of length rho by the strict law, whose answers it leaves where they are: the impulse nearest to
 * impulse - rho (s + (0, 0, friction |s_t|)) that is allowed.  The lift by what slides is for contacts alone; all [rows]. */
SIM_API void sim_solver_strict_step(const sim_problem *problem, int i, double rho, const double *s,
                                    const double *impulse, double *next);
/* Is this iteration the last?  So it is if the residual is no more than `tolerance` (solved) or no number (broken down), and
 * with that many iterations or at the wish of who waits (at the limit); sets the outcome. */
SIM_API int sim_solver_finished(const sim_solver_call *call, double tolerance, double most_iterations);
/* The diagonal blocks of W, as sim_delassus_diagonal has them; 0 without memory. */
SIM_API int sim_solver_diagonal(sim_solver_call *call, double *W);
/* w_i = trace(W_ii + R_i) of every constraint, to measure or to bound its block by: no eigenvalue is greater.  1 where nothing
 * moves it or yields; infinite R counts as none.  0 without memory. */
SIM_API int sim_solver_traces(sim_solver_call *call, double *w);

/* ---- how it is found ---- */

/* The solvers of the library, and those that are registered.  It must outlive the scenes, solvers and worlds that it is used
 * for.  NULL without memory. */
SIM_API sim_solver_registry *sim_solver_registry_create(sim_error *error);
SIM_API void sim_solver_registry_free(sim_solver_registry *registry);
/* The card by which the method is known from now on, for sim_options.solver and sim_solver_create; its name stands for it in
 * scenes that are loaded with this registry (sim_scene_overrides.solvers).  The struct is copied; texts, options and
 * functions that it points at stay the caller's.  NULL, with the reason: a name that is taken or no name, options that
 * contradict themselves, no solve, no memory. */
SIM_API const sim_solver_card *sim_solver_register(sim_solver_registry *registry, const sim_solver_method *method,
                                                   sim_error *error);
/* As sim_solver_count and the like; `registry` NULL: the solvers of the library alone. */
SIM_API int sim_solver_registry_count(const sim_solver_registry *registry);
SIM_API const sim_solver_card *sim_solver_registry_at(const sim_solver_registry *registry, int index);
SIM_API const sim_solver_card *sim_solver_registry_find(const sim_solver_registry *registry, const char *name);

#ifdef __cplusplus
}
#endif
#endif
