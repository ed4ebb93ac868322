/* PGS: block Gauss-Seidel on the impulses, with the exact Coulomb law for every contact.
 *
 *     u = W gamma + q,     one constraint after the other:  gamma_i solves the law with  s_i = K_i gamma_i + b_i,
 *
 * where b_i is the velocity that all other impulses cause.  There is no pyramid and no scalar relaxation: a single
 * contact is solved in one sweep to rounding.  The pyramid, one row after the other, is an option for comparison.
 *
 * It stops on E (natural_map.c), which costs nearly a sweep; the change of a sweep, which costs nothing, tells when to
 * evaluate it.  The result is the best iterate that was evaluated.
 *
 * Reference: Jourdan, Alart, Jean 1998.  Differs from the paper: Anderson acceleration, stages with a proximal term.
 * Cost: a sweep costs the blocks of W, or J v and Y gamma (prepare.c), and 250 multiplications a contact. */
#include "solver/gauss_seidel/pgs.h"
#include "solver/core/anderson.h"
#include "solver/core/natural_map.h"
#include "solver/core/products.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, RELAXATION, CONE, MATRIX, ORDER, ACCELERATION, MAX_WORK, OPTIONS };
enum { FORWARD, ALTERNATING };

static const char *const cones[] = {"cone", "pyramid", NULL};
static const char *const matrices[] = {"auto", "free", "assembled", NULL};
static const char *const orders[] = {"forward", "alternating", NULL};

static const char *const accelerations[] = {"none", "anderson", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-8},
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
    [MAX_WORK] = SOLVER_WORK_OPTION,
};

/* Iterate of the least merit.  E alone is relative, and would prefer impulses that drive ever larger velocities. */
typedef struct best {
    double merit;    /* E times excess (pgs_residual) */
    double residual; /* its E */
    double *gamma;
} best;

/* E costs nearly a sweep: it is evaluated after a small change, and now and then. */
typedef struct check_schedule {
    double max_change; /* of a sweep, relative: E is evaluated below */
    int next;          /* sweep after which it is evaluated in any case */
} check_schedule;

/* Stages that follow each other without progress: shorter steps end cycles (a proximal term, prepare.c), extrapolations
 * with more growth leave plateaus.  Order and figures solved most of a collection of hard problems. */
static const struct { double proximal, max_growth; } stages[] = {{1e-10, 1}, {0.1, 1}, {1e-10, 4}, {0.5, 1}};

enum { STAGES = sizeof stages / sizeof *stages, STAGE_SWEEPS = 512 };
static const double MAX_MERIT_RATIO = 1000;        /* of the iterate over the best: it has diverged */
static const double STAGE_PROGRESS_RATIO = 0.1;    /* of E: a stage that reaches it is repeated */
static const double REST_CHANGE = 2 * DBL_EPSILON; /* of a sweep, relative: the iterate no longer moves */
enum { ANDERSON_WINDOW = 10 };                     /* sweeps */

typedef struct stage_state {
    int stage, length, end; /* index; sweeps; last sweep */
    double residual;        /* best E at its start */
} stage_state;

/* Multiplications of the solution of a contact (75 ns), besides those of W or J. */
enum { WORK_OF_BLOCK = 250 };

typedef struct iteration {
    solver_call *call;
    pgs s;
    anderson acceleration;
    best best;
    check_schedule check;
    stage_state stage;
    int sweep;
} iteration;

/* E of the iterate, which is kept if it is the best. */
static double eval_pgs_error(iteration *r) {
    double excess, residual = pgs_residual(&r->s, &excess);
    if (residual * excess < r->best.merit) {
        r->best.merit = residual * excess;
        r->best.residual = residual;
        memcpy(r->best.gamma, r->s.gamma, (size_t)r->s.lanes * sizeof *r->best.gamma);
    }
    return residual;
}

/* Change of a sweep, relative to velocities and impulses. */
static double relative_change(const pgs *s, pgs_change change) {
    double sum = 0;
    for (int k = 0; k < s->lanes; k++) {
        sum += s->gamma[k] * s->gamma[k];
    }
    double velocity = s->size_q > 0 ? change.velocity / s->size_q : change.velocity;
    double impulse = sum > 0 ? change.impulse / sqrt(sum) : change.impulse;
    return isnan(velocity + impulse) ? NAN : fmax(velocity, impulse);
}

/* Next evaluation of E, after one that gave `residual`. */
static void schedule_check(check_schedule *c, int sweep, double change, double residual, double tolerance) {
    c->next = sweep + 1 + (sweep < 256 ? sweep / 4 : 64);
    if (change <= c->max_change) {
        c->max_change = change * fmin(0.9, fmax(0.1, tolerance / residual));
    }
}

static void enter_stage(iteration *r, int stage) {
    r->stage.stage = stage;
    r->stage.end = r->sweep + r->stage.length;
    r->stage.residual = r->best.residual;
    pgs_set_proximal(&r->s, stages[stage].proximal);
    anderson_restart(&r->acceleration);
    r->acceleration.max_growth = stages[stage].max_growth;
}

/* At the end of a stage: the same again after progress, else the next.  It continues from the iterate, which leaves
 * plateaus more easily than the best one, unless it has diverged. */
static void update_stage(iteration *r) {
    if (r->sweep < r->stage.end) {
        return;
    }
    if (r->best.residual <= STAGE_PROGRESS_RATIO * r->stage.residual) {
        r->stage.end = r->sweep + r->stage.length;
        r->stage.residual = r->best.residual;
        return;
    }
    double excess, residual = pgs_residual(&r->s, &excess);
    if (residual * excess > MAX_MERIT_RATIO * r->best.merit) {
        memcpy(r->s.gamma, r->best.gamma, (size_t)r->s.lanes * sizeof *r->best.gamma);
        pgs_refresh(&r->s);
    }
    r->stage.length *= r->stage.stage + 1 < STAGES ? 1 : 2;
    enter_stage(r, (r->stage.stage + 1) % STAGES);
}

/* Anderson acceleration; extrapolated impulses are projected, and v follows. */
static void accelerate_sweeps(iteration *r) {
    pgs *s = &r->s;
    anderson_result result = anderson_end(&r->acceleration, s->gamma);
    for (int i = 0; i < s->n && result == ANDERSON_EXTRAPOLATED; i++) {
        pgs_project(s, &s->block[i], s->gamma + s->block[i].at);
    }
    if (result != ANDERSON_PLAIN) {
        pgs_refresh(s);
    }
}

/* Weights (1 / rho_i)^1/2, 1 / rho_i = trace W_ii / rows: |f|^2 is an energy. */
static bool init_pgs_acceleration(iteration *r, int window) {
    const pgs *s = &r->s;
    if (!anderson_make(&r->acceleration, s->lanes, window, r->call->scratch)) {
        return false;
    }
    for (int i = 0; i < s->n && window > 0; i++) {
        for (int k = 0; k < s->block[i].rows; k++) {
            r->acceleration.scale[s->block[i].at + k] = 1 / sqrt(s->block[i].rho);
        }
    }
    return true;
}

static solver_piece end_pgs(iteration *r, sim_outcome outcome) {
    r->call->out->outcome = outcome;
    return SIM_PIECE_ENDED;
}

/* Sweeps until the work of the call reaches `until`. */
static solver_piece iterate_pgs(iteration *r, double until) {
    solver_call *call = r->call;
    const double *o = call->option;
    pgs *s = &r->s;
    double tolerance = o[TOLERANCE];
    while (r->sweep < (int)o[MAX_ITERATIONS] && !(r->best.residual <= tolerance) && !solution_stopped(call->out)) {
        if (call->work >= until) {
            return SIM_PIECE_PAUSED;
        }
        if (call->work > o[MAX_WORK] * 1e9) {
            call->out->reason = SIM_REASON_WORK;
            break;
        }

        /* sweep: gamma_i by its law with all others fixed */
        int sweep = call->out->iterations = ++r->sweep;
        bool backwards = (int)o[ORDER] == ALTERNATING && sweep % 2 == 0;
        anderson_begin(&r->acceleration, s->gamma);
        double change = relative_change(s, pgs_sweep(s, o[RELAXATION], backwards));
        call->work += call->iteration_work;
        if (!isfinite(change)) {
            call->out->reason = SIM_REASON_NONFINITE;
            return end_pgs(r, SIM_BROKEN_DOWN);
        }

        /* E, where it is worth its cost, with v free of gathered rounding */
        bool at_rest = change <= REST_CHANGE;
        if (change <= r->check.max_change || sweep >= r->check.next || at_rest || sweep == (int)o[MAX_ITERATIONS]) {
            pgs_refresh(s);
            schedule_check(&r->check, sweep, change, eval_pgs_error(r), tolerance);
            call->work += call->iteration_work;
        }
        if (call->out->history) {
            double excess;
            solver_record(call, pgs_residual(s, &excess), NAN);
        }
        if (at_rest && !(r->best.residual <= tolerance)) {
            call->out->reason = SIM_REASON_STANDSTILL;
            return end_pgs(r, r->best.residual <= MAX_E_AT_ROUNDING ? SIM_AT_ROUNDING : SIM_AT_LIMIT);
        }

        /* extrapolation; next stage where there is no progress */
        accelerate_sweeps(r);
        update_stage(r);
    }
    return end_pgs(r, r->best.residual <= tolerance ? SIM_SOLVED : SIM_AT_LIMIT);
}

/* The best impulses, with their velocities. */
static void write_solution(const iteration *r) {
    const pgs *s = &r->s;
    for (int i = 0; i < s->n; i++) {
        const pgs_block *b = &s->block[i];
        double *impulse = r->call->out->impulse + s->problem->constraint[i].row;
        memcpy(impulse, r->best.gamma + b->at, (size_t)b->rows * sizeof *impulse);
    }
    solution_write_velocity(r->call);
    r->call->out->residual = r->best.residual;
}

static void *begin_pgs(solver_call *call) {
    iteration *r = ARENA_NEW(call->scratch, iteration, 1);
    if (!r) {
        return NULL;
    }
    *r = (iteration){.call = call, .best = {HUGE_VAL, HUGE_VAL, NULL}};
    if (!pgs_prepare(&r->s, call, (int)call->option[MATRIX], call->scratch) ||
        !init_pgs_acceleration(r, call->option[ACCELERATION] > 0 ? ANDERSON_WINDOW : 0) ||
        !(r->best.gamma = ARENA_NEW(call->scratch, double, r->s.lanes))) {
        return NULL;
    }
    memset(r->best.gamma, 0, (size_t)r->s.lanes * sizeof *r->best.gamma);
    r->s.pyramid = (int)call->option[CONE];
    call->iteration_work = pgs_multiplications(&r->s) + (double)WORK_OF_BLOCK * r->s.n;

    /* first stage; E of the warm start */
    r->check = (check_schedule){2 * call->option[TOLERANCE], 1};
    r->stage.length = STAGE_SWEEPS;
    enter_stage(r, 0);
    solver_record(call, eval_pgs_error(r), NAN);
    call->work += call->iteration_work;
    return r;
}

static solver_piece resume_pgs(void *state, double until) {
    iteration *r = state;
    solver_piece piece = iterate_pgs(r, until);
    write_solution(r);
    return piece;
}

static void restart_pgs(void *state, const double *impulse) {
    iteration *r = state;
    for (int i = 0; i < r->s.n; i++) {
        const pgs_block *b = &r->s.block[i];
        memcpy(r->s.gamma + b->at, impulse + r->s.problem->constraint[i].row, (size_t)b->rows * sizeof *impulse);
    }
    pgs_refresh(&r->s);
    r->best.merit = r->best.residual = HUGE_VAL;
    eval_pgs_error(r);
    r->stage.length = STAGE_SWEEPS;
    enter_stage(r, 0);
    write_solution(r);
    r->call->work += r->call->iteration_work;
}

static sim_status solve_pgs(solver_call *call) { return solver_solve_in_one_piece(call, begin_pgs, resume_pgs); }

/* The pyramid has a law of its own, which differs from the round cone of E: it has four directions. */
static double pgs_claim(const double *option) {
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
             .turning = true,
             .local = true,
             .asymmetric = true,
             .noptions = OPTIONS,
             .option = options,
             .claim = pgs_claim},
    .solve = solve_pgs,
    .begin = begin_pgs,
    .resume = resume_pgs,
    .restart_from = restart_pgs,
};
