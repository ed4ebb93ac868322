/* How far does a solver get with a problem, and how fast?
 *
 * Solvers know nothing of it: to see an answer on the way, the problem is solved anew with the effort limited, by the option
 * `rounds` where there is one, else `max_iterations`.  What comes out is judged by the certificate, and timed without anything
 * that reads or keeps. */
#include "app/contest/contest.h"
#include "base/pool.h"
#include "solver/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double ENOUGH = 0.05; /* s of a problem, after which no run is repeated */

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one problem, one solver ---- */

typedef struct desk {
    const solver_choice *solver;
    sim_problem given; /* as the solver sees it */
    sim_pool *pool;
    sim_regularisation rigid, own;
    double *v, *impulse, *work;
    int64_t repeat;
} desk;

static int lay_out(desk *d, size_t nv, size_t nrow, double **W) {
    double *R[4];
    for (int k = 0; k < 4; k++) {
        R[k] = POOL_NEW(d->pool, double, nrow);
    }
    d->v = POOL_NEW(d->pool, double, nv);
    d->impulse = POOL_NEW(d->pool, double, nrow);
    d->work = POOL_NEW(d->pool, double, sim_judge_work(&d->given));
    *W = POOL_NEW(d->pool, double, sim_delassus_diagonal_size(&d->given));
    if (!R[0] || !R[1] || !R[2] || !R[3] || !d->v || !d->impulse || !d->work || !*W) {
        return 0;
    }
    d->rigid = (sim_regularisation){R[0], R[1]};
    d->own = (sim_regularisation){R[2], R[3]};
    return 1;
}

/* The problem, with the law that the solver is made for. */
static sim_status sit_down(desk *d, const contest_problems *p, int index, const solver_choice *solver, int64_t repeat,
                           sim_error *error) {
    double *W;
    *d = (desk){.solver = solver, .given = *p->item[index], .pool = pool_create(), .repeat = repeat};
    if (!p->c->warm) {
        d->given.v_guess = d->given.impulse_guess = NULL;
    }
    if (!d->pool || !lay_out(d, (size_t)d->given.nv, (size_t)d->given.nrow, &W) ||
        sim_delassus_diagonal(&d->given, W, error)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the answer");
    }
    sim_compliance own = solver->info->default_law;
    sim_regularise(&d->given, SIM_RIGID, &p->law, W, (double *)d->rigid.R, (double *)d->rigid.target);
    sim_regularise(&d->given, own, &p->law, W, (double *)d->own.R, (double *)d->own.target);
    return SIM_OK;
}

static void count_kinds(const desk *d, contest_answer *a) {
    double most = 0;
    for (int i = 0; i < d->given.nconstraint; i++) {
        const sim_constraint *c = &d->given.constraint[i];
        most = c->kind == SIM_CONTACT ? fmax(most, d->impulse[c->row + 2]) : most;
    }
    for (int i = 0; i < d->given.nconstraint; i++) {
        const sim_constraint *c = &d->given.constraint[i];
        const double *g = d->impulse + c->row;
        if (c->kind == SIM_CONTACT) {
            int open = g[2] <= 1e-8 * most, slides = hypot(g[0], g[1]) >= 0.999 * c->friction * g[2];
            a->open += open;
            a->slide += !open && slides;
            a->stick += !open && !slides;
        }
    }
}

/* Solve and judge, by a solver with options of its own. */
static sim_status answer(desk *d, const double *option, contest_answer *a, sim_error *error) {
    sim_solver *solver = sim_solver_create(d->solver->info, option, error);
    sim_status status = solver ? sim_solver_accepts(solver, &d->given, error) : error->status;
    *a = (contest_answer){.seconds = HUGE_VAL};
    double begun = processor_seconds();
    for (int64_t k = 0; k < d->repeat && !status && (k == 0 || processor_seconds() - begun < ENOUGH); k++) {
        sim_solution s = {.v = d->v, .impulse = d->impulse};
        double start = processor_seconds();
        status = sim_solver_solve(solver, &d->given, &d->own, &s, error);
        a->seconds = fmin(a->seconds, processor_seconds() - start);
        a->outcome = s.outcome;
        a->iterations = s.iterations;
        a->failures = s.failures;
        a->searches = s.searches;
        a->whole_steps = s.whole_steps;
    }
    if (!status) {
        sim_judgement sum = {0};
        sim_reason reason = SIM_REASON_NONE;
        sim_judge(&d->given, &d->rigid, &d->own, d->solver->info->cone, d->v, d->impulse, d->work, &sum);
        a->certificate = sim_judgement_finish(&sum);
        sim_solver_confirm(solver, a->certificate.own, a->certificate.momentum, &a->outcome, &reason);
        count_kinds(d, a);
    }
    sim_solver_free(solver);
    return status;
}

/* ---- effort ---- */

static int option_index(const sim_solver_info *info, const char *name) {
    return solver_words_option(info, name, strlen(name));
}

/* The option by which an answer on the way is had; -1: none. */
static int effort_option(const sim_solver_info *info) {
    int rounds = option_index(info, "rounds");
    return rounds >= 0 ? rounds : option_index(info, "max_iterations");
}

int contest_unlimited(const solver_choice *solver) {
    static const char *const limit[] = {"rounds", "max_iterations", "iterations"};
    int unlimited = effort_option(solver->info) >= 0 && solver->info->default_law == SIM_RIGID;
    for (size_t k = 0; k < sizeof limit / sizeof *limit; k++) {
        int index = option_index(solver->info, limit[k]);
        unlimited = unlimited && (index < 0 || !(solver->option[index] < solver->info->option[index].default_value ||
                                                 solver->option[index] > solver->info->option[index].default_value));
    }
    return unlimited;
}

static sim_status answer_with(desk *d, double *option, int effort, double amount, contest_answer *a, sim_error *error) {
    const sim_solver_option *o = &d->solver->info->option[effort];
    option[effort] = fmin(o->high, fmax(o->low, amount));
    return answer(d, option, a, error);
}

/* What can be done in `seconds`, if the time of an effort k is t + k s: from two runs, then from what the last one took. */
static sim_status answer_within(desk *d, double *option, double seconds, contest_answer *a, sim_error *error) {
    enum { FEW = 1, MORE = 33, TRIES = 4 };
    int effort = effort_option(d->solver->info);
    contest_answer few;
    sim_status status = answer_with(d, option, effort, FEW, &few, error);
    double amount = MORE;
    status = status ? status : answer_with(d, option, effort, amount, a, error);
    for (int k = 0; k < TRIES && !status && fabs(a->seconds - seconds) > 0.03 * seconds; k++) {
        double each = fmax((a->seconds - few.seconds) / fmax(amount - FEW, 1), 1e-9), before = amount;
        amount = fmax(FEW, floor(FEW + (seconds - few.seconds) / each));
        if (amount >= before && (a->outcome != SIM_AT_LIMIT || amount <= before)) {
            break; /* it is done, or it cannot be told nearer */
        }
        status = answer_with(d, option, effort, amount, a, error);
    }
    return status;
}

/* Rounds are what the solver records where they are not its iterations. */
static sim_status count_rounds(desk *d, contest_answer *a, sim_error *error) {
    enum { ROOM = 4096 };
    sim_history history = {.room = ROOM};
    sim_solution s = {.v = d->v, .impulse = d->impulse, .history = &history};
    a->rounds = a->iterations;
    if (option_index(d->solver->info, "rounds") < 0) {
        return SIM_OK;
    }
    history.residual = POOL_NEW(d->pool, double, ROOM);
    history.cost = POOL_NEW(d->pool, double, ROOM);
    sim_solver *solver = sim_solver_create(d->solver->info, d->solver->option, error);
    sim_status status = !history.residual || !history.cost ? sim_fail(error, SIM_NO_RESOURCE, "no memory for rounds")
                        : solver                           ? sim_solver_solve(solver, &d->given, &d->own, &s, error)
                                                           : error->status;
    sim_solver_free(solver);
    a->rounds = history.count;
    return status;
}

static double *options_of(const solver_choice *solver, sim_error *error) {
    double *option = solver_standard(solver->info, error);
    if (option) {
        memcpy(option, solver->option, (size_t)solver->info->noptions * sizeof *option);
    }
    return option;
}

static sim_status answer_index(const contest_request *request, contest_entry *entry, const contest_entry *first,
                               int k) {
    desk d;
    sim_error *error = &entry->trouble;
    double *option = options_of(entry->solver, error);
    sim_status status =
        option ? sit_down(&d, entry->problems, k, entry->solver, request->repeat, error) : error->status;
    if (!status && entry->equal_time) {
        status = answer_within(&d, option, first->answer[k].seconds, &entry->answer[k], error);
        entry->answer[k].rounds = entry->answer[k].iterations;
    } else if (!status) {
        status = answer(&d, option, &entry->answer[k], error);
        status = status ? status : count_rounds(&d, &entry->answer[k], error);
    }
    if (option) {
        pool_free(d.pool);
    }
    free(option);
    return status;
}

void contest_answer_all(const contest_request *request, contest_entry *entry, const contest_entry *first) {
    entry->answer = calloc((size_t)entry->problems->count, sizeof *entry->answer);
    sim_status status =
        entry->answer ? SIM_OK : sim_fail(&entry->trouble, SIM_NO_RESOURCE, "no memory for the answers");
    for (int k = 0; k < entry->problems->count && !status; k++) {
        pieces_part(request->progress, k / (double)entry->problems->count);
        status = answer_index(request, entry, first, k);
    }
}

/* ---- curves ---- */

/* 1, 2, ..., 10, then a third more each time. */
static int next_effort(int k) { return k < 10 ? k + 1 : k + k / 3; }

static void write_row(const contest_entry *entry, int index, int effort, const contest_answer *a, FILE *file) {
    const sim_certificate *e = &a->certificate;
    fprintf(file, "%s,%s,%d,%d,%d,%.4g,%.4g,%.4g,%.4g,%.4g\n", entry->problems->c->name, entry->solver->text, index,
            effort, a->iterations, a->seconds, e->E, e->own, e->lee, e->lee_scaled);
}

/* Times are those of single runs: the median of many problems is told. */
static sim_status draw(contest_entry *entry, int index, int most, FILE *file) {
    desk d;
    sim_error *error = &entry->trouble;
    double *option = options_of(entry->solver, error);
    int effort = effort_option(entry->solver->info), tolerance = option_index(entry->solver->info, "tolerance");
    sim_status status = option ? sit_down(&d, entry->problems, index, entry->solver, 1, error) : error->status;
    if (option && tolerance >= 0) {
        option[tolerance] = entry->solver->info->option[tolerance].low;
    }
    for (int k = 1; k <= most && !status; k = next_effort(k)) {
        contest_answer a;
        status = answer_with(&d, option, effort, k, &a, error);
        if (!status) {
            write_row(entry, index, k, &a, file);
        }
        k = a.outcome == SIM_AT_LIMIT ? k : most; /* it does nothing more */
    }
    if (option) {
        pool_free(d.pool);
    }
    free(option);
    return status;
}

void contest_curves(const contest_request *request, contest_entry *entry, FILE *file) {
    enum { ROUNDS = 100, ITERATIONS = 3000, QUICK = 3 };
    int most = option_index(entry->solver->info, "rounds") >= 0 ? ROUNDS : ITERATIONS;
    for (int k = 0; k < entry->problems->count && !entry->trouble.status; k++) {
        pieces_part(request->progress, k / (double)entry->problems->count);
        draw(entry, k, request->quick ? QUICK : most, file);
    }
}
