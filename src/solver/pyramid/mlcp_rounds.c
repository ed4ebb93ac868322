/* Outer iterations of the pyramid equations (mlcp.c): their solution, and its way to the round cone.
 *
 * The Levenberg-Marquardt method, regular or projected (levenberg_marquardt.c), as in Mylapilli and Jain 2016, starts from
 * zero, or from the warm start if |r| is less there.  Small problems and warm starts end within a few iterations.
 * Where a warm start leads into a minimum that is no root, once more with directions turned there, and once from nothing.
 *
 * Else in rounds.  Where contacts share loads W is singular, and |r| has long valleys and minima that are no roots.  A round
 * solves with y + soft (x - near) in place of y, `near` being where it starts (a proximal point, as in Rockafellar 1976):
 * soft is 1 at first, where all is easy, and a tenth in each round, as far as a billionth; an answer in which x no longer
 * moves is one of the problem itself.  J is then far from singular, and its steps cost a third.
 *
 * With alignment=following every round, softened or not, begins with directions turned to where the last one has its slip
 * and its friction (direction_update.c), so that pyramids touch the round cone where the answer is.  It ends on E, the error of the
 * round cone.  Where E no longer falls it says so. */
#include "math/dense.h"
#include "solver/matrices/levenberg_marquardt.h"
#include "solver/pyramid/direction_update.h"
#include "solver/pyramid/mlcp.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, MOST_MEMORY = DIRECTIONS + 3, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "E at which it stops; with other alignments than following, error of complementarity",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-9},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "of Levenberg and Marquardt",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 500,
                        .integer = true},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
    [MOST_MEMORY] = SOLVER_MEMORY_OPTION,
};

/* Where there are more rows than velocities, impulses are not unique and kinks are dead ends: a guess is lifted off them by
 * so much.  Of friction all directions are, and as these are opposites the sum stays. */
static const double LIFT = 0.01;
static const double SOFTEST = 1, HARDER = 0.1, HARDEST = 1e-9;
static const double LOOSE = 0.1, TIGHT = 0.01,
                    TIGHTER = 0.1;   /* a round is solved to so much of soft, or of the tolerance; where that
                                                             * is nothing to do, to less */
static const double ROUNDED = 1e-12; /* an error that is as good as none */
static const double WORTH = 0.9;     /* of E: less is no progress */
/* Iterations at first, and of a round; rows up to which the first ones are tried without a guess; rounds without progress;
 * with a guess, iterations that do not halve |r|^2, and rounds without progress after which it goes on from nothing. */
enum { TRIAL = 30, ROUND = 20, SMALL = 200, PATIENCE = 20, CALM = 8, STUCK = 3 };

typedef struct search {
    solver_call *call;
    levenberg_kind kind;
    polyhedral *p;
    mlcp m;
    int follows, guessed, overflows;        /* the squares of q are no numbers */
    double size;                            /* by which velocities were divided */
    double *x, *start, *work, *gamma;       /* [n] each; [rows] */
    double *best, least, error;             /* impulses of the least error; the last one */
    double turned;                          /* the least when there was progress, */
    int since;                              /* so many rounds ago */
    int iterations, rounds, failures, last; /* outcome of the last round */
} search;

/* Impulses that x stands for, in search.gamma. */
static void translate(search *s, const double *x) {
    const polyhedral *p = s->p;
    polyhedral_velocity(p, x, s->m.y);
    for (int i = 0; i < p->n; i++) { /* the lesser of x and y is 0, but for the error */
        s->work[i] = p->unknown[i].free || x[i] > s->m.y[i] ? s->size * x[i] : 0;
    }
    polyhedral_impulse(p, s->work, s->gamma);
}

static void residual(void *self, const double *x, double *r) { mlcp_residual(&((search *)self)->m, x, r); }
static void derive(void *self, const double *x) { mlcp_linearise(&((search *)self)->m, x); }
static bool step(void *self, const double *r, double lambda, double *dx, double *range) {
    return mlcp_step_find(&((search *)self)->m, r, lambda, dx, range);
}
static void along(void *self, const double *dx, double *Jdx) { mlcp_slope(&((search *)self)->m, dx, Jdx); }

/* What a round stops on: its own equations, or what all of it is for; the best of that is kept. */
static double error(void *self, const double *x) {
    search *s = self;
    translate(s, x);
    s->error = s->overflows ? HUGE_VAL
               : s->follows ? dual_error(s->p->dual, s->gamma, s->p->s)
                            : polyhedral_error(s->p, x, s->m.y);
    if (s->error < s->least || s->least == HUGE_VAL) {
        s->least = s->error;
        memcpy(s->best, s->gamma, (size_t)s->p->dual->n * sizeof *s->best);
    }
    if (s->error <= s->call->option[TOLERANCE]) {
        return 0;
    }
    return s->m.soft > 0 ? mlcp_off(&s->m, x) : s->follows ? polyhedral_error(s->p, x, s->m.y) : s->error;
}

static double told(void *self) { return ((search *)self)->error; }

static double distance(search *s, const double *x) {
    mlcp_residual(&s->m, x, s->work);
    return dense_dot(s->p->n, s->work, s->work);
}

static void lift(const search *s, double *x) {
    const polyhedral *p = s->p;
    for (int i = p->free; i < p->n; i++) {
        x[i] += !p->unknown[i].free && (p->unknown[i].normal >= 0 || p->unknown[i].rows == 0) ? LIFT : 0;
    }
}

/* Velocities are divided by the greatest of q; x stands at nothing, or at the guess, wherever |r| is less. */
static void start(search *s) {
    polyhedral *p = s->p;
    const sim_problem *problem = s->call->problem;
    const double *guess = problem->impulse_guess;
    for (int k = 0; k < p->dual->n; k++) {
        s->gamma[k] = guess && isfinite(guess[k]) ? guess[k] : 0;
    }
    polyhedral_from_impulse(p, s->gamma, s->start, s->m.y);
    for (int i = 0; i < p->n; i++) {
        s->size = fmax(s->size, fabs(p->q[i]));
    }
    s->size = s->size > 0 ? s->size : 1;
    s->overflows = !isfinite(dense_dot(p->dual->n, p->dual->q, p->dual->q));
    polyhedral_scale(p, s->size);
    for (int i = 0; i < p->n; i++) {
        s->start[i] /= s->size;
    }
    if (problem->nrow > problem->nv) {
        lift(s, s->start);
    }
    memset(s->x, 0, (size_t)p->n * sizeof *s->x);
    s->guessed = guess && distance(s, s->start) < distance(s, s->x);
    if (s->guessed) {
        memcpy(s->x, s->start, (size_t)p->n * sizeof *s->x);
    }
}

/* Normals' impulses in the mean. */
static double impulse_unit(const search *s) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < s->p->groups; i++) {
        double own = s->x[s->p->group[i].first];
        if (s->p->group[i].contact >= 0 && own > 0) {
            sum += own * own;
            count++;
        }
    }
    return count ? fmax(1, sqrt(sum / count)) : 1;
}

/* From x on, with so many iterations; the better answer counts.  0 without memory. */
static int solve_round(search *s, double soft, double tolerance, int most) {
    sim_solution *out = s->call->out;
    size_t mark = arena_mark(s->call->scratch);
    levenberg_problem problem = {.n = s->p->n,
                                 .self = s,
                                 .residual = residual,
                                 .error = error,
                                 .bounded = s->p->n - s->p->free,
                                 .tolerance = tolerance,
                                 .max_iterations = most,
                                 .max_stalled_iterations = s->guessed ? CALM : 0,
                                 .linearise = derive,
                                 .step = step,
                                 .jacobian_times = along,
                                 .recorded_error = told};
    s->m.soft = soft;
    s->m.unit = impulse_unit(s);
    memcpy(s->m.near, s->x, (size_t)s->p->n * sizeof *s->x);
    mlcp_step_begin(&s->m);
    if (!levenberg_solve(&problem, s->kind, s->call, s->x)) {
        return 0;
    }
    arena_release(s->call->scratch, mark);
    s->m.soft = 0;
    s->iterations += out->iterations;
    s->failures += out->outcome > SIM_AT_ROUNDING;
    s->rounds++;
    s->last = (int)out->outcome;
    return 1;
}

static int iterations_left(const search *s) { return (int)s->call->option[MAX_ITERATIONS] - s->iterations; }

static int has_ended(const search *s) {
    return s->least <= s->call->option[TOLERANCE] || iterations_left(s) <= 0 || solution_stopped(s->call->out);
}

static int no_progress(search *s) {
    s->since++;
    if (s->least < WORTH * s->turned) {
        s->turned = s->least;
        s->since = 0;
    }
    return s->since >= PATIENCE;
}

static int as_it_is(search *s) {
    int left = iterations_left(s);
    return solve_round(s, 0, s->call->option[TOLERANCE], left < TRIAL ? left : TRIAL);
}

static void from_nothing(search *s) { memset(s->x, 0, (size_t)s->p->n * sizeof *s->x); }

/* A guess may lead into a minimum of |r| that is no root: then on with directions as they are there, which is off the kinks,
 * and once more from nothing.  0 without memory. */
static int try_first(search *s) {
    if (!as_it_is(s)) {
        return 0;
    }
    for (int again = 0; again < 2 && s->guessed && s->last > SIM_AT_ROUNDING && !has_ended(s); again++) {
        if (again || !s->follows) {
            from_nothing(s);
        } else {
            turning_turn(s->p, 1, s->x, s->m.y);
        }
        if (!as_it_is(s)) {
            return 0;
        }
    }
    return 1;
}

/* As it is, and then round by round with softer steps; where those that began at a guess stand still, from nothing.
 * 0 without memory. */
static int find(search *s) {
    double tolerance = s->call->option[TOLERANCE];
    int first = s->guessed || s->call->problem->nrow <= SMALL, left = iterations_left(s);
    if ((first || left == 0) && !try_first(s)) {
        return 0;
    }
    int near = first && s->last <= SIM_AT_ROUNDING, anew = !near;
    double soft = near ? HARDEST : SOFTEST, tight = TIGHT * tolerance;
    for (int round = 0; !has_ended(s) && !no_progress(s); round++) {
        if (!anew && s->guessed && s->since >= STUCK) {
            anew = 1;
            s->since = 0;
            soft = SOFTEST;
            from_nothing(s);
        } else if (round == 0 && !near) {
            from_nothing(s);
        } else if (s->follows) {
            turning_turn(s->p, 1, s->x, s->m.y);
        }
        if (soft == HARDEST && round > 0 && s->guessed && s->last > SIM_AT_ROUNDING) {
            lift(s, s->x);
        }
        left = iterations_left(s);
        /* what is small is polished as it is */
        double now = soft == HARDEST && first && round % 2 ? 0 : soft;
        if (!solve_round(s, now, fmax(tight, soft > HARDEST ? LOOSE * soft : 0), left < ROUND ? left : ROUND)) {
            return 0;
        }
        tight *= s->call->out->iterations == 0 ? TIGHTER : 1;
        soft = fmax(HARDER * soft, HARDEST);
    }
    if (s->rounds == 0) { /* stopped before the first one */
        error(s, s->x);
    }
    return 1;
}

static void tell(const search *s) {
    sim_solution *out = s->call->out;
    out->iterations = s->iterations;
    out->searches = s->rounds;
    out->failures = s->failures;
    out->residual = s->least;
    out->reason = SIM_REASON_NONE;
    if (s->least <= s->call->option[TOLERANCE]) {
        out->outcome = SIM_SOLVED;
    } else if (!isfinite(s->least)) {
        out->outcome = SIM_BROKEN_DOWN;
        out->reason = SIM_REASON_NONFINITE;
    } else if (s->since >= PATIENCE) {
        out->outcome = s->least <= ROUNDED ? SIM_AT_ROUNDING : SIM_STALLED;
        out->reason = s->last <= SIM_AT_ROUNDING ? SIM_REASON_STANDSTILL : SIM_REASON_MINIMUM;
    } else {
        out->outcome = SIM_AT_LIMIT;
    }
}

static sim_status solve(solver_call *call, levenberg_kind kind) {
    dual d;
    polyhedral p;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    search s = {.call = call,
                .kind = kind,
                .p = &p,
                .follows = o.alignment == POLYHEDRAL_FOLLOWING,
                .least = HUGE_VAL,
                .turned = HUGE_VAL};
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch) ||
        !mlcp_make(&s.m, &p, call->scratch) || !(s.m.step = mlcp_step_make(&p, call->scratch))) {
        return SIM_NO_RESOURCE;
    }
    s.x = ARENA_NEW(call->scratch, double, 3 * (size_t)p.n);
    s.gamma = ARENA_NEW(call->scratch, double, 2 * (size_t)d.n);
    if (!s.x || !s.gamma) {
        return SIM_NO_RESOURCE;
    }
    s.start = s.x + p.n;
    s.work = s.x + 2 * p.n;
    s.best = s.gamma + d.n;
    start(&s);
    if (!find(&s)) {
        return SIM_NO_RESOURCE;
    }
    tell(&s);
    solution_write(call, s.best);
    return SIM_OK;
}

static sim_status solve_regular(solver_call *call) { return solve(call, LEVENBERG_REGULAR); }
static sim_status solve_projected(solver_call *call) { return solve(call, LEVENBERG_PROJECTED); }

static double claim(const double *option) { return polyhedral_claim(option + DIRECTIONS, option[TOLERANCE]); }

/* W, a triangle and a square of impulses (mlcp_step.c). */
static double dense(const sim_problem *p, const double *option) {
    (void)option;
    return 3 * (double)p->nrow * p->nrow;
}

#define CARD(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016", .cone = SIM_CONE_PYRAMID,                  \
        .default_law = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = 1, .asymmetric = 1,              \
        .noptions = OPTIONS, .option = options, .claim = claim,                                                        \
    }

const solver_type solver_mlcp_pfb_rlm = {
    .info = CARD("mlcp-pfb-rlm", "penalised Fischer-Burmeister function with pyramids, regular Levenberg-Marquardt"),
    .lapack = 1,
    .dense = dense,
    .solve = solve_regular,
};

const solver_type solver_mlcp_pfb_plm = {
    .info = CARD("mlcp-pfb-plm", "penalised Fischer-Burmeister function with pyramids, projected Levenberg-Marquardt"),
    .lapack = 1,
    .dense = dense,
    .solve = solve_projected,
};
