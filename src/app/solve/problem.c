/* One file: read, answered, judged, written.
 *
 * The solver sees R and target of the law asked for. The judge also sees those of the rigid law, and the problem of the
 * file. Where a solver needs velocities and the file has W alone, it gets W = L L'. */
#include "app/solve/solve.h"
#include "base/pool.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Processor time, so that other load of the machine counts little. */
static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* To ask for the time costs a third of a microsecond: where iterations are as short, only every few are asked. */
typedef struct deadline {
    double end, last;
    int skip, left;
} deadline;

static bool is_deadline_over(void *context) {
    enum { MAX_SKIPPED_CALLS = 64 };
    static const double MIN_CALL_SECONDS = 1e-4;
    deadline *d = context;
    if (d->left-- > 0) {
        return false;
    }
    double now = processor_seconds();
    d->skip = now - d->last > MIN_CALL_SECONDS ? 0 : d->skip < MAX_SKIPPED_CALLS ? 2 * d->skip + 1 : d->skip;
    d->left = d->skip;
    d->last = now;
    return now >= d->end;
}

typedef struct solve_job {
    solve_run *run;
    solve_case *c;
    memory_pool *pool;
    const sim_problem *problem; /* as in the file */
    sim_problem given;          /* input of the solver */
    sim_regularisation own, rigid;
    double *v, *impulse;
    double limit; /* s of processor time that are left when the file is read; HUGE_VAL: no limit */
} solve_job;

static bool set_trouble(solve_job *w, sim_status status, const char *what) {
    sim_fail(&w->c->trouble, status, "%s: %s", w->c->path, what);
    return false;
}

static double *allocate_numbers(solve_job *w, size_t count) {
    double *made = POOL_NEW(w->pool, double, count);
    if (!made) {
        set_trouble(w, SIM_NO_RESOURCE, "no memory for the solution");
    }
    return made;
}

static bool set_problem_law(solve_job *w) {
    const sim_problem *p = w->problem;
    solve_run *run = w->run;
    double *W = allocate_numbers(w, sim_delassus_diagonal_size(p)), *R[2], *target[2];
    for (int k = 0; k < 2 && W; k++) {
        R[k] = allocate_numbers(w, (size_t)p->nrow);
        target[k] = allocate_numbers(w, (size_t)p->nrow);
        if (!R[k] || !target[k]) {
            return false;
        }
    }
    if (!W || sim_delassus_diagonal(p, W, &w->c->trouble)) {
        return false;
    }
    sim_regularise(p, SIM_RIGID, &w->c->law, W, R[0], target[0]);
    sim_regularise(p, run->compliance, &w->c->law, W, R[1], target[1]);
    w->rigid = (sim_regularisation){R[0], target[0]};
    w->own = (sim_regularisation){R[1], target[1]};
    return true;
}

/* Input of the solver: the problem, and an initial guess only if asked for. */
static bool set_given(solve_job *w) {
    sim_error why = {0};
    w->given = *w->problem;
    if (!w->run->request->guess) {
        w->given.v_guess = w->given.impulse_guess = NULL;
    }
    if (sim_solver_accepts(w->run->solver, &w->given, &why)) {
        w->c->refused = 1;
        return set_trouble(w, why.status, why.text);
    }
    return true;
}

/* Reading took all of its time: no impulses, and free motion. */
static bool use_free_motion(solve_job *w) {
    w->c->outcome = SIM_AT_LIMIT;
    w->c->reason = SIM_REASON_TIME;
    w->c->finished_by = -1;
    w->c->residual = HUGE_VAL;
    for (int j = 0; j < w->given.nv; j++) {
        w->v[j] = w->given.v_free[j];
    }
    return true;
}

static bool solve_given(solve_job *w) {
    /* memory for the solution */
    solve_run *run = w->run;
    solve_case *c = w->c;
    const solve_request *request = run->request;
    w->v = allocate_numbers(w, (size_t)w->given.nv);
    w->impulse = allocate_numbers(w, (size_t)w->given.nrow);
    if (!w->v || !w->impulse) {
        return false;
    }
    /* no time left: the free motion */
    if (w->limit <= 0) {
        return use_free_motion(w);
    }
    /* the least time of all repetitions */
    c->seconds = HUGE_VAL;
    for (int64_t k = 0; k < request->repeat; k++) {
        sim_solution s = {.v = w->v, .impulse = w->impulse, .history = run->history.room ? &run->history : NULL};
        double start = processor_seconds();
        deadline limit = {.end = start + w->limit, .last = start};
        if (isfinite(w->limit)) {
            s.stop = is_deadline_over;
            s.stop_context = &limit;
        }
        if (sim_solver_solve(run->solver, &w->given, &w->own, &s, &c->trouble)) {
            return false;
        }
        c->seconds = fmin(c->seconds, processor_seconds() - start);
        /* work and outcome */
        c->outcome = s.outcome;
        c->reason = s.reason;
        c->iterations = s.iterations;
        c->factorisations = s.factorisations;
        c->searches = s.searches;
        c->finished_by = s.finished_by;
        c->failures = s.failures;
        c->whole_steps = s.whole_steps;
        c->dogleg_steps = s.dogleg_steps;
        c->edge_steps = s.edge_steps;
        c->residual = s.residual;
    }
    return true;
}

/* The solution stored in the file. */
static bool read_stored_solution(solve_job *w, const sim_problem_file *file) {
    sim_error why = {0};
    w->v = allocate_numbers(w, (size_t)w->problem->nv);
    w->impulse = w->v ? allocate_numbers(w, (size_t)w->problem->nrow) : NULL;
    w->c->stored = 1;
    return w->impulse &&
           (!sim_problem_file_stored(file, w->v, w->impulse, &why) || set_trouble(w, why.status, why.text));
}

/* Counts of contacts: open below 1e-8 of the greatest normal impulse, sliding from 0.999 of the cone's edge on. */
static void count_contact_modes(solve_job *w) {
    const sim_problem *p = w->problem;
    double most = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        most = c->kind == SIM_CONTACT ? fmax(most, w->impulse[c->row + 2]) : most;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *g = w->impulse + c->row;
        if (c->kind == SIM_CONTACT) {
            int open = g[2] <= 1e-8 * most, slides = hypot(g[0], g[1]) >= 0.999 * c->friction * g[2];
            w->c->open += open;
            w->c->slide += !open && slides;
            w->c->stick += !open && !slides;
        }
    }
}

static bool judge_solution(solve_job *w) {
    double *work = allocate_numbers(w, sim_judge_work(w->problem));
    sim_judgement judgement = {0};
    if (!work) {
        return false;
    }
    count_contact_modes(w);
    sim_judge(w->problem, &w->rigid, &w->own, w->run->cone, w->v, w->impulse, work, &judgement);
    sim_certificate *found = &w->c->certificate;
    *found = sim_judgement_finish(&judgement);
    if (w->run->solver) {
        sim_solver_confirm(w->run->solver, found->own, found->momentum, &w->c->outcome, &w->c->reason);
    }
    return true;
}

static void write_history(const solve_job *w) {
    const solve_run *run = w->run;
    const sim_history *h = &run->history;
    for (int k = 0; k < h->count && run->history_file; k++) {
        fprintf(run->history_file, "\"%s\",%d,%.17g,", w->c->path, k, h->residual[k]);
        if (isfinite(h->cost[k])) {
            fprintf(run->history_file, "%.17g", h->cost[k]);
        }
        fputc('\n', run->history_file);
    }
    for (int k = 0, within = 0; k < h->linear_count; k++) {
        within = k && h->linear_step[k] == h->linear_step[k - 1] ? within + 1 : 0;
        fprintf(run->linear_file, "\"%s\",%d,%d,%.17g\n", w->c->path, h->linear_step[k], within, h->linear[k]);
    }
}

/* In the scaled unknown: |t| = -friction n is the edge of slip, n = 0 that of contact. */
static void write_places(const solve_job *w) {
    const sim_history *h = &w->run->history;
    int n = w->problem->nrow, records = n ? h->place_count / n : 0;
    for (int k = 0; k < records; k++) {
        const double *x = h->place + (size_t)k * (size_t)n;
        for (int i = 0; i < w->problem->nconstraint; i++) {
            const sim_constraint *c = &w->problem->constraint[i];
            if (c->kind == SIM_CONTACT) {
                fprintf(w->run->places_file, "\"%s\",%d,%d,%.17g,%.17g,%.17g,%.17g\n", w->c->path, k, i, c->friction,
                        x[c->row], x[c->row + 1], x[c->row + 2]);
            }
        }
    }
}

static bool write_problem_solution(solve_job *w, sim_problem_file *file) {
    const solve_run *run = w->run;
    char path[4096], made_by[200];
    solve_answer_path(run, w->c->path, path, sizeof path);
    snprintf(made_by, sizeof made_by, "sim %s, solver %s, %s law", sim_version(), run->name,
             sim_compliance_name(run->compliance));
    return !sim_problem_file_answer(file, w->impulse, made_by, &w->c->trouble) &&
           !sim_problem_file_write(file, path, &w->c->trouble);
}

static void describe_problem(solve_case *c, const solve_run *run, const sim_problem_file *file) {
    const sim_problem *p = sim_problem_file_problem(file);
    const solve_request *request = run->request;
    c->law = sim_problem_file_law(file);
    c->law.beta = request->beta > 0 ? request->beta : c->law.beta;
    c->law.sigma = request->sigma > 0 ? request->sigma : c->law.sigma;
    c->constraints = p->nconstraint;
    c->rows = p->nrow;
    c->velocities = p->nv;
    c->local = sim_problem_local(p);
    c->symmetric = !p->W || p->W->symmetric;
    for (int i = 0; i < p->nconstraint; i++) {
        c->contacts += p->constraint[i].kind == SIM_CONTACT;
    }
}

/* The time that reading took is gone. */
static void set_limit(solve_job *w, double start) {
    const solve_request *request = w->run->request;
    double whole = request->time_limit + request->time_per_contact * w->c->contacts;
    w->limit = request->time_limit > 0 ? whole - (processor_seconds() - start) : HUGE_VAL;
}

/* A short file is read to its end even without time left, so that its problem is reported.  With --time-per-contact the
 * limit is known only after reading, so reading is not limited. */
static sim_problem_file *read_in_time(const solve_request *request, const char *path, double start, sim_error *error) {
    static const double MIN_READ_SECONDS = 1; /* s */
    int limited = request->time_limit > 0 && !(request->time_per_contact > 0);
    deadline d = {.end = start + request->time_limit + MIN_READ_SECONDS, .last = start};
    sim_error why = {0};
    sim_problem_file *file = sim_problem_file_read_until(path, limited ? is_deadline_over : NULL, &d, &why);
    if (!file && why.status == SIM_FAILED) {
        sim_fail(error, SIM_FAILED, "%s, with --time-limit %g", why.text, request->time_limit);
    } else if (!file) {
        *error = why;
    }
    return file;
}

void solve_one(solve_run *run, const char *path, solve_case *c) {
    /* read */
    double start = processor_seconds();
    *c = (solve_case){.path = path, .finished_by = -1};
    sim_problem_file *file = read_in_time(run->request, path, start, &c->trouble);
    if (!file) {
        return;
    }
    /* law and solver */
    solve_job w = {.run = run, .c = c, .pool = pool_create(), .problem = sim_problem_file_problem(file)};
    describe_problem(c, run, file);
    set_limit(&w, start);
    /* solve, or take the stored solution, and judge it */
    if (!w.pool) {
        set_trouble(&w, SIM_NO_RESOURCE, "no memory for the solution");
    } else if (run->info ? set_given(&w) && set_problem_law(&w) && solve_given(&w) && judge_solution(&w)
                         : set_problem_law(&w) && read_stored_solution(&w, file) && judge_solution(&w)) {
        /* history and solution */
        if (run->history.room) {
            write_history(&w);
            write_places(&w);
        }
        if (run->request->out) {
            write_problem_solution(&w, file);
        }
    }
    /* release */
    pool_free(w.pool);
    sim_problem_file_free(file);
}
