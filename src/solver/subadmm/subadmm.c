/* SubADMM: the subsystem-based alternating direction method of multipliers (Lee et al. 2024, sec. VI, algorithm 2).
 *
 * Each constraint is split into slots, one for each body that it touches (slots.c), and velocities, slots and
 * multipliers are found in turn: each tree by itself, each constraint by itself,
 *
 *     (A_j + sum_i beta_i J_ij'J_ij) v_j = A_j v* + sum_i J_ij'(beta_i z_ij + lambda_i)          (eq. 34)
 *     beta_i z_ij = beta_i J_ij v_j - lambda_i + lambda_i',   (sum_j z_ij, lambda_i') in the law  (eqs. 35 to 39)
 *
 * The slots need not be kept.  Put into eq. 34 they leave, with x = v - v* and the same f for all slots of a row,
 *
 *     x_j <- x_j + (A_j + kappa C_j)^-1 (sum_i J_ij' f_i - A_j x_j),     f_i = lambda_i' + (lambda_i' - lambda_i),
 *
 * (trees.c), and the law sees their sum J_i x alone (law.c).  So the three ways to split differ in C and in
 * the number of slots, and in nothing else.
 *
 * Penalties.  beta_i = kappa / w_i, with w_i = trace W_ii / rows the inverse mass that constraint i feels: for contacts of
 * bodies alike that is the authors' one beta, in proportion to mass; beside each other stand feathers, anvils, and rows
 * about axes, whose unit is another.  kappa follows the residuals: primal / dual is steered to a balance by factors of its
 * root (eq. 43), as energies (measure.c), so that no unit has a say.  C does not depend on kappa: a change costs a
 * factor.  The balance is larger while E is: soft penalties spread what is missing over a heap in few iterations, stiff ones
 * settle who sticks and who slides.  So it begins stiffer where the guess is near: open heaps at rest take a tenth fewer
 * iterations (24 heaps; within walls, where some go on and on, chance decides).
 *
 * Guesses.  The iteration is a map of (x, lambda), and where its rounds lead can be told ahead (anderson.c).  A round is
 * three iterations: so the guesses cost no more than these.
 *
 * It stops on E, measured on v = v* + A^-1 J' lambda (measure.c), and hands out the best that was measured. */
#include "solver/core/law.h"
#include "solver/subadmm/lanes/batch_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ITERATIONS, SPLIT, FACTORISATION, ACCELERATION, LANES_AT_ONCE, MOST_WORK, OPTIONS };

static const char *const splits[] = {"bodies", "trees", "none", NULL};
static const char *const factorisations[] = {"crba", "aba", NULL};
static const char *const widths[] = {"vector", "scalar", NULL};
static const char *const accelerations[] = {"none", "anderson", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-6},
    [MAX_ITERATIONS] =
        {.name = "max_iterations", .help = "at most", .low = 0, .high = 1e9, .default_value = 5000, .integer = true},
    [ITERATIONS] = {.name = "iterations",
                    .help = "exactly so many, whatever E is; 0: until the tolerance",
                    .low = 0,
                    .high = 1e9,
                    .default_value = 0,
                    .integer = true},
    [SPLIT] = {.name = "split",
               .help = "constraints into a slot for each body, each tree, or none",
               .high = 2,
               .default_value = SUBADMM_BODIES,
               .integer = true,
               .choices = splits,
               .study = true},
    [FACTORISATION] = {.name = "factorisation",
                       .help = "of trees: along their branches, or joint by joint",
                       .high = 1,
                       .integer = true,
                       .choices = factorisations,
                       .study = true},
    [ACCELERATION] = {.name = "acceleration",
                      .help = "guess ahead from rounds in a row",
                      .high = 1,
                      .default_value = 1,
                      .integer = true,
                      .choices = accelerations,
                      .study = true},
    [LANES_AT_ONCE] = {.name = "lanes",
                       .help = "contacts and bodies several at a time, as wide as the machine's vectors, or one by one",
                       .high = 1,
                       .integer = true,
                       .choices = widths,
                       .study = true},
    [MOST_WORK] = SOLVER_WORK_OPTION,
};

static const double BEGIN = 1, NEARBY = 5;                /* kappa; where E is below FAR from the start */
static const double STIFF = 0.07, SOFT = 0.5, FAR = 5e-4; /* primal / dual at last, and while E is above that */
static const double NEAR = 2;                             /* by which factor it may be off */
static const double MOST_CHANGE = 10;                     /* of kappa at once */
static const double WAIT = 1.02;                          /* looks between changes grow by this */
static const double SOFTEST = 1e-6, STIFFEST = 1e6;
enum { ROUND = 3, WINDOW = 10, PATIENCE = 10, NEVER = 100 };
static const double ROUNDING = 1e3; /* E over the rounding of kappa */

/* How it goes on. */
typedef struct progress {
    int iteration, in_round, begun; /* begun: the iteration after which it did, from new impulses */
    int next, in_vain;              /* look; looks since E was last the least */
    double since, wait;
    double change; /* of kappa, due after this iteration */
    int again;     /* so is C */
    anderson ahead;
    sim_outcome outcome; /* SIM_OUTCOMES: none yet */
} progress;

static int reserve(subadmm *s) {
    const sim_problem *p = s->problem;
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint, nv = (size_t)p->nv;
    struct {
        double **at;
        size_t count;
    } all[] = {{&s->weight, n}, {&s->slack, rows},   {&s->inverse_mass, n}, {&s->rho, n}, {&s->target, rows},
               {&s->q, rows},   {&s->v, nv + LANES}, {&s->momentum, nv},    {&s->dx, nv}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].at = ARENA_NEW(s->call->scratch, double, all[k].count);
        if (!*all[k].at) {
            return 0;
        }
    }
    s->G = s->split == SUBADMM_NONE ? ARENA_NEW(s->call->scratch, cone_hessian, n) : NULL;
    return s->split != SUBADMM_NONE || s->G;
}

/* ---- looks ---- */

/* The best so far; of a fixed number of iterations the last. */
static void keep_best(subadmm *s, progress *at) {
    at->in_vain = s->E <= 0.99 * s->best ? 0 : at->in_vain + 1;
    if (s->E < s->best || s->call->option[ITERATIONS] > 0) {
        s->best = s->E;
        memcpy(s->least, s->state, (size_t)s->numbers * sizeof *s->least);
    }
}

/* How kappa should change. */
static void steer(const subadmm *s, progress *at) {
    double balance = fmax(STIFF, SOFT * fmin(1, s->best / FAR)), ratio = s->primal / (balance * s->dual);
    at->since++;
    if (at->since >= at->wait && isfinite(ratio) && (ratio > NEAR || ratio < 1 / NEAR)) {
        double change = fmin(MOST_CHANGE, fmax(1 / MOST_CHANGE, sqrt(ratio)));
        at->change = fmin(STIFFEST, fmax(SOFTEST, s->kappa * change)) / s->kappa;
        at->since = 0;
        at->wait *= WAIT;
    }
}

static int at_rounding(const subadmm *s, const progress *at) {
    return at->in_vain >= PATIENCE && s->best <= ROUNDING * fmax(1, s->kappa) * DBL_EPSILON;
}

/* E and residuals, between the multipliers' update and that of x; `first`: before all iterations.  SIM_OUTCOMES: it goes
 * on. */
static sim_outcome look(subadmm *s, progress *at, int first) {
    const double *o = s->call->option;
    subadmm_measure(s);
    s->call->work += s->work.look;
    keep_best(s, at);
    solver_record(s->call, s->E, NAN);
    at->begun = first ? at->iteration : at->begun;
    int since = at->iteration - at->begun;
    at->next = at->iteration + ROUND * (since < 30 ? 2 : since < 120 ? 4 : since / 30);
    if (!isfinite(s->E)) {
        s->call->out->reason = SIM_REASON_NONFINITE;
        return SIM_BROKEN_DOWN;
    }
    if (o[ITERATIONS] == 0 && s->best <= o[TOLERANCE]) {
        return SIM_SOLVED;
    }
    if (o[ITERATIONS] == 0 && at_rounding(s, at)) {
        s->call->out->reason = SIM_REASON_STANDSTILL;
        return s->best <= MAX_E_AT_ROUNDING ? SIM_AT_ROUNDING : SIM_AT_LIMIT;
    }
    if (!first) {
        subadmm_residuals(s);
        steer(s, at);
    }
    at->again = subadmm_cull(s, first ? 1 : at->change != 1 ? 2 : NEVER);
    return SIM_OUTCOMES;
}

/* ---- iterations ---- */

/* 0 without memory, -1 if a matrix is not positive definite. */
static int change_penalty(subadmm *s, progress *at) {
    s->kappa *= at->change;
    int done = subadmm_factor(s, at->again);
    s->call->out->factorisations++;
    s->call->work += s->work.factor;
    anderson_restart(&at->ahead);
    subadmm_set_scale(s, &at->ahead);
    at->change = 1;
    at->again = 0;
    return done;
}

static int most_iterations(const subadmm *s) {
    const double *o = s->call->option;
    return (int)(o[ITERATIONS] > 0 ? o[ITERATIONS] : o[MAX_ITERATIONS]);
}

/* One iteration, with a look in its midst where one is due.  0 without memory. */
static int step(subadmm *s, progress *at) {
    int spent = s->call->work > s->call->option[MOST_WORK] * 1e9;
    int last = at->iteration == most_iterations(s) || spent || solution_stopped(s->call->out),
        ends = at->in_round == ROUND - 1;
    int looks = last || (at->iteration >= at->next && ends);
    if (at->in_round == 0) {
        anderson_begin(&at->ahead, s->state);
    }
    if (looks) {
        memcpy(s->before, s->state, (size_t)s->numbers * sizeof *s->before);
    }
    subadmm_spread(s);
    subadmm_project(s);
    if (!subadmm_move(s)) {
        return 0;
    }
    s->call->work += s->call->iteration_work;
    if (looks) {
        at->outcome = look(s, at, 0);
        if (at->outcome == SIM_OUTCOMES && last) {
            at->outcome = SIM_AT_LIMIT;
            s->call->out->reason = spent ? SIM_REASON_WORK : SIM_REASON_NONE;
        }
    }
    if (ends) {
        anderson_end(&at->ahead, s->state);
    }
    at->in_round = (at->in_round + 1) % ROUND;
    return 1;
}

/* x of the impulses as they stand, which a look has found. */
static void begin_where_impulses_lead(subadmm *s) {
    const admm_lanes *l = &s->lanes;
    memcpy(l->row, l->answer, (size_t)(LANES * l->nrow) * sizeof *l->row);
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        if (t->form != SUBADMM_LANE && t->form != SUBADMM_ROW) {
            memcpy(s->x + t->v0, s->v + t->v0, (size_t)t->nv * sizeof *s->x);
        }
    }
}

/* From the impulses as they stand: who is open is left out, x follows.  0 without memory. */
static int start(subadmm *s, progress *at) {
    at->outcome = look(s, at, 1);
    if (at->outcome == SIM_OUTCOMES && most_iterations(s) == 0) {
        at->outcome = SIM_AT_LIMIT;
    }
    if (at->outcome != SIM_OUTCOMES) {
        return 1;
    }
    at->again = 1;
    at->change = at->iteration == 0 && s->best < FAR ? NEARBY / s->kappa : 1;
    int done = change_penalty(s, at);
    begin_where_impulses_lead(s);
    at->outcome = done < 0 ? SIM_BROKEN_DOWN : SIM_OUTCOMES;
    return done != 0;
}

/* 0 without memory. */
static int iterate(subadmm *s, progress *at, double until) {
    int done = 1;
    while (at->outcome == SIM_OUTCOMES && done > 0 && s->call->work < until) {
        s->call->out->iterations = ++at->iteration;
        done = step(s, at);
        if (done && at->outcome == SIM_OUTCOMES && (at->change != 1 || at->again)) {
            done = change_penalty(s, at);
        }
    }
    at->outcome = done < 0 ? SIM_BROKEN_DOWN : at->outcome;
    return done != 0;
}

/* Sizes of unsplit trees, by their A. */
static int prepare_whole(subadmm *s) {
    s->size = ARENA_NEW(s->call->scratch, double, s->problem->nv);
    if (!s->size || !hessian_prepare(s->whole, s->problem, SPD_AUTO)) {
        return 0;
    }
    hessian_mass_diagonal(s->whole, s->size);
    for (int k = 0; k < s->ntree; k++) {
        for (int j = s->tree[k].v0; j < s->tree[k].v0 + s->tree[k].nv; j++) {
            s->size[j] = sqrt(s->size[j]);
        }
    }
    return 1;
}

static int prepare(subadmm *s) {
    const double *o = s->call->option;
    s->bodies.is = s->split == SUBADMM_BODIES ? s->problem->bodies : NULL;
    s->kernels = (int)o[LANES_AT_ONCE] ? &admm_scalar : &admm_vector;
    s->herds = (int)o[LANES_AT_ONCE] ? &subadmm_alike_scalar : &subadmm_alike_vector;
    s->kappa = BEGIN;
    if (!reserve(s) || !subadmm_weigh(s)) {
        return 0;
    }
    for (int i = 0; i < s->problem->nconstraint; i++) {
        s->weight[i] = 1 / s->inverse_mass[i];
    }
    return subadmm_lay_out(s, (int)o[FACTORISATION]) && (s->split != SUBADMM_NONE || prepare_whole(s)) &&
           subadmm_make_trees(s);
}

typedef struct iteration {
    subadmm s;
    progress at;
    double handed_out; /* E of what stands in the solution */
} iteration;

static void *begin(solver_call *call) {
    iteration *r = ARENA_NEW(call->scratch, iteration, 1);
    int window = (int)call->option[ACCELERATION] ? WINDOW : 0;
    if (!r) {
        return NULL;
    }
    *r = (iteration){.s = {.call = call, .problem = call->problem, .whole = call->workspace, .best = HUGE_VAL},
                     .at = {.change = 1, .wait = 1},
                     .handed_out = -1};
    subadmm *s = &r->s;
    s->split = (subadmm_split)(int)call->option[SPLIT];
    if (!prepare(s) || !anderson_make(&r->at.ahead, s->independent, window, call->scratch)) {
        return NULL;
    }
    subadmm_count_work(s);
    call->work += s->work.preparation;
    return start(s, &r->at) ? r : NULL;
}

static void write_solution(iteration *r) {
    if (r->handed_out != r->s.best || r->s.call->option[ITERATIONS] > 0) {
        subadmm_hand_out(&r->s);
        r->handed_out = r->s.best;
    }
    r->s.call->out->residual = r->s.best;
}

static solver_piece resume(void *state, double until) {
    iteration *r = state;
    sim_solution *out = r->s.call->out;
    if (!iterate(&r->s, &r->at, until)) {
        return SIM_PIECE_NO_MEMORY;
    }
    write_solution(r);
    out->outcome = r->at.outcome;
    return r->at.outcome == SIM_OUTCOMES ? SIM_PIECE_PAUSED : SIM_PIECE_ENDED;
}

/* As if it began with this guess, but for kappa. */
static void restart_from(void *state, const double *impulse) {
    iteration *r = state;
    subadmm_take(&r->s, impulse);
    r->at.change = r->at.wait = 1;
    r->at.in_round = r->at.in_vain = 0;
    r->s.best = HUGE_VAL;
    start(&r->s, &r->at);
    write_solution(r);
}

static sim_status solve(solver_call *call) { return law_solve_in_one_piece(call, begin, resume); }

const solver_type solver_subadmm = {
    .info = {.name = "subadmm",
             .method = "alternating directions: each body by itself, each contact by itself",
             .paper = "Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .bodies = 1,
             .noptions = OPTIONS,
             .option = options},
    .uses_threads = 1,
    .create = hessian_create_workspace,
    .destroy = hessian_free_workspace,
    .solve = solve,
    .begin = begin,
    .resume = resume,
    .restart_from = restart_from,
};
