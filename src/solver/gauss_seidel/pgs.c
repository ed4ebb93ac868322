/* Block Gauss-Seidel on the impulses, with the exact Coulomb law for every contact (after Jourdan, Alart, Jean 1998).
 *
 *     u = W gamma + q,     one constraint after the other:  gamma_i <- the law's answer to  s_i = K_i gamma_i + b_i,
 *
 * where b_i holds what all others do, as they stand.  No pyramid and no scalar relaxation: a contact alone is answered in
 * one sweep to rounding.  The pyramid, one row after the other, is an option for comparison.
 *
 * It stops on the judge's own measure E, which costs nearly a sweep.  What a sweep changes tells for nothing when that is
 * worth asking; the answer given is the best that was measured. */
#include "solver/gauss_seidel/pgs.h"
#include "solver/core/anderson.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, RELAXATION, CONE, MATRIX, ORDER, ACCELERATION, MOST_WORK, NOPTIONS };
enum { FORWARD, ALTERNATING };

static const char *const cones[] = {"cone", "pyramid", NULL};
static const char *const matrices[] = {"auto", "free", "assembled", NULL};
static const char *const orders[] = {"forward", "alternating", NULL};

static const char *const accelerations[] = {"none", "anderson", NULL};

static const sim_solver_option options[NOPTIONS] = {
    [TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "maximum number of sweeps",
                        .low = 0,
                        .high = 1e9,
                        .default_value = 5000,
                        .integer = true},
    [RELAXATION] = {.name = "relaxation",
                    .help = "over-relaxation factor; 1 is Gauss-Seidel",
                    .low = 0.1,
                    .high = 1.95,
                    .default_value = 1,
                    .study = true},
    [CONE] = {.name = "cone",
              .help = "friction cone, or the pyramid of game engines",
              .high = 1,
              .integer = true,
              .choices = cones,
              .study = true},
    [MATRIX] = {.name = "matrix",
                .help = "operator W: assembled, or matrix-free through velocities",
                .high = 2,
                .integer = true,
                .choices = matrices,
                .study = true},
    [ORDER] = {.name = "order",
               .help = "sweeps in one direction, or forwards and backwards in turn",
               .high = 1,
               .integer = true,
               .choices = orders,
               .study = true},
    [ACCELERATION] = {.name = "acceleration",
                      .help = "extrapolation from consecutive sweeps",
                      .high = 1,
                      .default_value = 1,
                      .integer = true,
                      .choices = accelerations,
                      .study = true},
    [MOST_WORK] = SOLVER_WORK_OPTION,
};

/* The best so far: the least error in units of velocity.  E alone, which is relative, would take an answer that moves all
 * things ever faster for as good as one that leaves them be. */
typedef struct best {
    double merit; /* E times excess */
    double residual;
    double *gamma;
} best;

typedef struct watch {
    double trigger; /* a sweep that changes less is looked at */
    int next;       /* and so is this one */
} watch;

static double measure(pgs *s, best *b) {
    double excess, residual = pgs_residual(s, &excess);
    if (residual * excess < b->merit) {
        b->merit = residual * excess;
        b->residual = residual;
        memcpy(b->gamma, s->gamma, (size_t)s->lanes * sizeof *b->gamma);
    }
    return residual;
}

/* Relative size of what a sweep changed. */
static double relative(const pgs *s, pgs_change change) {
    double sum = 0;
    for (int k = 0; k < s->lanes; k++) {
        sum += s->gamma[k] * s->gamma[k];
    }
    double velocity = s->size_q > 0 ? change.velocity / s->size_q : change.velocity;
    double impulse = sum > 0 ? change.impulse / sqrt(sum) : change.impulse;
    return isnan(velocity + impulse) ? NAN : fmax(velocity, impulse);
}

static void plan(watch *w, int sweep, double change, double residual, double tolerance) {
    w->next = sweep + 1 + (sweep < 256 ? sweep / 4 : 64);
    if (change <= w->trigger) {
        w->trigger = change * fmin(0.9, fmax(0.1, tolerance / residual));
    }
}

/* What to do where nothing is gained: shorter steps, which end cycles (a proximal term, see prepare.c), or bolder
 * guesses.  The order and the figures are those that solved most of a collection of hard problems. */
static const struct { double proximal, growth; } stages[] = {{1e-10, 1}, {0.1, 1}, {1e-10, 4}, {0.5, 1}};

enum { STAGES = sizeof stages / sizeof *stages, STAGE_LENGTH = 512, DIVERGED = 1000 };

typedef struct progress {
    int stage, length, end; /* sweeps */
    double residual;        /* the best at its start */
} progress;

static void enter(progress *at, int stage, int sweep, pgs *s, anderson *e, const best *b) {
    at->stage = stage;
    at->end = sweep + at->length;
    at->residual = b->residual;
    pgs_set_proximal(s, stages[stage].proximal);
    anderson_restart(e);
    e->growth = stages[stage].growth;
}

/* At the end of a stage: the same again if the best has become ten times better, else the next.  It goes on from where it
 * stands, which leaves dead ends better than the best answer does, unless it has run away. */
static void get_on(progress *at, int sweep, pgs *s, anderson *e, const best *b) {
    if (sweep < at->end) {
        return;
    }
    if (b->residual <= 0.1 * at->residual) {
        at->end = sweep + at->length;
        at->residual = b->residual;
        return;
    }
    double excess, residual = pgs_residual(s, &excess);
    if (residual * excess > DIVERGED * b->merit) {
        memcpy(s->gamma, b->gamma, (size_t)s->lanes * sizeof *b->gamma);
        pgs_refresh(s);
    }
    at->length *= at->stage + 1 < STAGES ? 1 : 2;
    enter(at, (at->stage + 1) % STAGES, sweep, s, e, b);
}

/* After a guess each impulse is put back into its set; v follows. */
static void follow(pgs *s, anderson_result result) {
    for (int i = 0; i < s->n && result == ANDERSON_EXTRAPOLATED; i++) {
        pgs_project(s, &s->block[i], s->gamma + s->block[i].at);
    }
    if (result != ANDERSON_PLAIN) {
        pgs_refresh(s);
    }
}

/* Lengths are measured with 1 / rho_i = trace W_ii / rows, so that |f|^2 is an energy. */
static int make_extrapolation(anderson *e, const pgs *s, int window, sim_arena *scratch) {
    if (!anderson_make(e, s->lanes, window, scratch)) {
        return 0;
    }
    for (int i = 0; i < s->n && window > 0; i++) {
        for (int k = 0; k < s->block[i].rows; k++) {
            e->scale[s->block[i].at + k] = 1 / sqrt(s->block[i].rho);
        }
    }
    return 1;
}

/* Multiplications of a sweep, with what the answer of a contact takes beside them (75 ns). */
enum { WORK_OF_BLOCK = 250 };

typedef struct iteration {
    solver_call *call;
    pgs s;
    anderson e;
    best b;
    watch w;
    progress at;
    int sweep;
} iteration;

static solver_piece end(iteration *r, sim_outcome outcome) {
    r->call->out->outcome = outcome;
    return SIM_PIECE_ENDED;
}

static void begin_iteration(iteration *r) {
    double tolerance = r->call->option[TOLERANCE];
    r->w = (watch){2 * tolerance, 1};
    r->at.length = STAGE_LENGTH;
    enter(&r->at, 0, 0, &r->s, &r->e, &r->b);
    solver_record(r->call, measure(&r->s, &r->b), NAN);
    r->call->work += r->call->iteration_work;
}

static solver_piece iterate(iteration *r, double until) {
    solver_call *call = r->call;
    const double *o = call->option;
    pgs *s = &r->s;
    double tolerance = o[TOLERANCE];
    while (r->sweep < (int)o[MAX_ITERATIONS] && !(r->b.residual <= tolerance) && !solution_stopped(call->out)) {
        if (call->work >= until) {
            return SIM_PIECE_PAUSED;
        }
        if (call->work > o[MOST_WORK] * 1e9) {
            call->out->reason = SIM_REASON_WORK;
            break;
        }
        int sweep = call->out->iterations = ++r->sweep;
        anderson_begin(&r->e, s->gamma);
        double change = relative(s, pgs_sweep(s, o[RELAXATION], (int)o[ORDER] == ALTERNATING && sweep % 2 == 0));
        call->work += call->iteration_work;
        if (!isfinite(change)) {
            call->out->reason = SIM_REASON_NONFINITE;
            return end(r, SIM_BROKEN_DOWN);
        }
        int resting = change <= 2 * DBL_EPSILON;
        if (change <= r->w.trigger || sweep >= r->w.next || resting || sweep == (int)o[MAX_ITERATIONS]) {
            pgs_refresh(s); /* rounding gathers in v */
            plan(&r->w, sweep, change, measure(s, &r->b), tolerance);
            call->work += call->iteration_work;
        }
        if (call->out->history) {
            double excess;
            solver_record(call, pgs_residual(s, &excess), NAN);
        }
        if (resting && !(r->b.residual <= tolerance)) {
            call->out->reason = SIM_REASON_STANDSTILL;
            return end(r, r->b.residual <= NATURAL_RIGHT ? SIM_AT_ROUNDING : SIM_AT_LIMIT);
        }
        follow(s, anderson_end(&r->e, s->gamma));
        get_on(&r->at, sweep, s, &r->e, &r->b);
    }
    return end(r, r->b.residual <= tolerance ? SIM_SOLVED : SIM_AT_LIMIT);
}

static void write_solution(const pgs *s, const solver_call *call, const double *gamma) {
    for (int i = 0; i < s->n; i++) {
        double *impulse = call->out->impulse + s->problem->constraint[i].row;
        memcpy(impulse, gamma + s->block[i].at, (size_t)s->block[i].rows * sizeof *gamma);
    }
    solution_write_velocity(call);
}

static void *begin(solver_call *call) {
    iteration *r = ARENA_NEW(call->scratch, iteration, 1);
    if (!r) {
        return NULL;
    }
    *r = (iteration){.call = call, .b = {HUGE_VAL, HUGE_VAL, NULL}};
    if (!pgs_prepare(&r->s, call, (int)call->option[MATRIX], call->scratch) ||
        !make_extrapolation(&r->e, &r->s, call->option[ACCELERATION] > 0 ? 10 : 0, call->scratch) ||
        !(r->b.gamma = ARENA_NEW(call->scratch, double, r->s.lanes))) {
        return NULL;
    }
    memset(r->b.gamma, 0, (size_t)r->s.lanes * sizeof *r->b.gamma);
    r->s.pyramid = (int)call->option[CONE];
    call->iteration_work = pgs_multiplications(&r->s) + (double)WORK_OF_BLOCK * r->s.n;
    begin_iteration(r);
    return r;
}

static solver_piece resume(void *state, double until) {
    iteration *r = state;
    solver_piece piece = iterate(r, until);
    r->call->out->residual = r->b.residual;
    write_solution(&r->s, r->call, r->b.gamma);
    return piece;
}

static void restart_from(void *state, const double *impulse) {
    iteration *r = state;
    for (int i = 0; i < r->s.n; i++) {
        const pgs_block *b = &r->s.block[i];
        memcpy(r->s.gamma + b->at, impulse + r->s.problem->constraint[i].row, (size_t)b->rows * sizeof *impulse);
    }
    pgs_refresh(&r->s);
    r->b.merit = r->b.residual = HUGE_VAL;
    measure(&r->s, &r->b);
    r->at.length = STAGE_LENGTH;
    enter(&r->at, 0, r->sweep, &r->s, &r->e, &r->b);
    r->call->out->residual = r->b.residual;
    write_solution(&r->s, r->call, r->b.gamma);
    r->call->work += r->call->iteration_work;
}

static sim_status solve(solver_call *call) { return solver_solve_in_one_piece(call, begin, resume); }

/* The pyramid answers a law of its own, which E, of the round cone, cannot know: it has four directions. */
static double claim(const double *option) {
    double own = solver_claim(10, option[TOLERANCE]);
    return option[CONE] > 0 ? fmax(own, solver_claim_of_pyramid(4)) : own;
}

const solver_type solver_pgs = {
    .info = {.name = "pgs",
             .method = "block Gauss-Seidel on the impulses, every contact solved exactly",
             .paper = "Jourdan, Alart, Jean 1998",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .asymmetric = 1,
             .noptions = NOPTIONS,
             .option = options,
             .claim = claim},
    .solve = solve,
    .begin = begin,
    .resume = resume,
    .restart_from = restart_from,
};
