#include "solver/delassus.h"
#include "solver/extrapolate.h"
#include "solver/law.h"
#include "solver/products.h"
#include "solver/subadmm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ITERATIONS, SPLIT, FACTORISATION, ACCELERATION, OPTIONS };

static const char *const accelerations[] = {"none", "anderson", NULL};
static const char *const splits[] = {"bodies", "trees", "none", NULL};
static const char *const factorisations[] = {"crba", "aba", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-6, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "at most", 0, 1e9, 5000, 1, NULL},
    [ITERATIONS] = {"iterations", "so many whatever E is, for timing; 0: until the tolerance", 0, 1e9, 0, 1, NULL},
    [SPLIT] = {"split", "into what constraints are split", 0, 2, SUBADMM_BODIES, 1, splits},
    [FACTORISATION] = {"factorisation", "of trees: composite inertias and branches, or articulated bodies", 0, 1, 0, 1,
                       factorisations},
    [ACCELERATION] = {"acceleration", "guess ahead from iterations in a row", 0, 1, 1, 1, accelerations},
};

static double env(const char *n, double d) { const char *e = getenv(n); return e ? atof(e) : d; }

static int reserve(subadmm *s) {
    sim_arena *scratch = s->call->scratch;
    const sim_problem *p = s->problem;
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint, state = (size_t)s->state;
    struct { double **at; size_t count; } all[] = {{&s->push, state}, {&s->target, rows}, {&s->slack, rows}, {&s->inverse_mass, n}, {&s->rho, n},
        {&s->q, rows}, {&s->s, rows}, {&s->v, (size_t)p->nv}, {&s->u, rows}, {&s->dx, (size_t)p->nv}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k].at = ARENA_NEW(scratch, double, all[k].count);
        if (!*all[k].at) return 0;
    }
    s->x = ARENA_NEW(scratch, double, state + rows);
    s->lambda = s->x + state;
    s->side = sim_arena_alloc(scratch, n, sizeof *s->side);
    s->weight = sim_arena_alloc(scratch, n, sizeof *s->weight);
    s->kept = ARENA_NEW(scratch, char, n);
    s->tree = ARENA_NEW(scratch, subadmm_tree, p->ntree);
    s->node = ARENA_NEW(scratch, int, p->ntree);
    s->bend = ARENA_NEW(scratch, convex_bend, n);
    if (s->bodies.is) {
        size_t nv = (size_t)p->nv;
        s->bodies.parent = ARENA_NEW(scratch, int, nv);
        s->bodies.depth = ARENA_NEW(scratch, int, nv);
        s->bodies.run = ARENA_NEW(scratch, int, nv);
        s->bodies.row = ARENA_NEW(scratch, ptrdiff_t, nv);
        s->bodies.added[0] = ARENA_NEW(scratch, double, 36 * s->bodies.is->nbody);
        s->bodies.added[1] = ARENA_NEW(scratch, double, 36 * s->bodies.is->nbody);
    }
    memset(s->kept, 1, n);
    s->openly = ARENA_NEW(scratch, char, n); s->again = ARENA_NEW(scratch, char, n); memset(s->openly, 0, n); memset(s->again, 0, n);
    memset(s->x, 0, (state + rows) * sizeof(double));
    return 1;
}

static void find_trees(subadmm *s) {
    const sim_problem *p = s->problem;
    for (int t = 0; t < p->ntree; t++) s->node[t] = -1;
    for (int i = 0; i < p->nconstraint; i++)
        for (int k = 0; k < 2; k++)
            if (p->constraint[i].tree[k] >= 0) s->node[p->constraint[i].tree[k]] = 0;
    s->ntree = 0;
    for (int t = 0; t < p->ntree; t++) {
        if (s->node[t] < 0) continue;
        s->node[t] = s->ntree;
        subadmm_tree *k = &s->tree[s->ntree++];
        *k = (subadmm_tree){.form = SUBADMM_DENSE, .index = t, .v0 = p->tree[t].v0, .nv = p->tree[t].nv};
        if (s->bodies.is && s->split == SUBADMM_BODIES) {
            k->body0 = s->bodies.is->first[t];
            k->body1 = s->bodies.is->first[t + 1];
            k->form = k->body1 - k->body0 > 1 ? SUBADMM_BRANCH : SUBADMM_DENSE;
            k->chains = 3;
        }
    }
}

/* experimental weights */
static int make_weights(subadmm *s) {
    const sim_problem *p = s->problem;
    int mode = (int)env("SA_WEIGHT", 1);
    double power = env("SA_COUNT", 0);
    delassus_answer Y;
    if (!delassus_answer_make(p, 1, s->call->scratch, &Y)) return 0;
    double *W = ARENA_NEW(s->call->scratch, double, 36), logs = 0; int nlog = 0;
    int *count = ARENA_NEW(s->call->scratch, int, p->ntree);
    memset(count, 0, sizeof(int) * (size_t)p->ntree);
    for (int i = 0; i < p->nconstraint; i++) for (int k = 0; k < 2; k++) if (p->constraint[i].tree[k] >= 0) count[p->constraint[i].tree[k]]++;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = 0; k < 2; k++) {
            s->weight[i][k] = 1;
            if (c->tree[k] < 0) { s->weight[i][k] = 1 / s->inverse_mass[i]; continue; }
            double trace = 0;
            memset(W, 0, 36 * sizeof(double));
            delassus_add(p, &Y, i, k, i, k, W);
            for (int r = 0; r < c->rows; r++) trace += W[r * c->rows + r];
            double m = trace > 0 ? c->rows / trace : 1;
            if (mode == 0) s->weight[i][k] = 1;
            else if (mode == 1) s->weight[i][k] = 1 / s->inverse_mass[i];
            else s->weight[i][k] = m;
            s->weight[i][k] *= pow(count[c->tree[k]], -power);
            logs += log(m / count[c->tree[k]]); nlog++;
        }
    }
    s->kappa = mode == 0 ? exp(logs / nlog) : 1;
    s->kappa *= env("SA_KAPPA", 1);
    return 1;
}

static double energies(subadmm *s, double *primal) {
    const sim_problem *p = s->problem;
    double e = 0;
    for (int t = 0; t < s->ntree; t++) {
        const subadmm_tree *k = &s->tree[t];
        for (int j = 0; j < k->nv; j++) s->dx[k->v0 + j] = s->x[k->v0 + j] - s->v[k->v0 + j];
        p->mass.times(p->mass.self, k->index, s->dx + k->v0, s->v + k->v0);
        for (int j = 0; j < k->nv; j++) e += s->dx[k->v0 + j] * s->v[k->v0 + j];
    }
    *primal = s->energy;
    return sqrt(e);
}

static double theta_dual(subadmm *s) {
    /* |J (x - A^-1 J' lambda)| ; s->v holds the latter */
    const sim_problem *p = s->problem;
    double sum = 0;
    for (int j = 0; j < p->nv; j++) s->dx[j] = s->x[j] - s->v[j];
    for (int t = 0; t < p->ntree; t++) if (s->node[t] < 0) for (int j = 0; j < p->tree[t].nv; j++) s->dx[p->tree[t].v0 + j] = 0;
    problem_jacobian_times(p, s->dx, s->u);
    for (int i = 0; i < p->nconstraint; i++) if (s->kept[i])
        for (int r = p->constraint[i].row; r < p->constraint[i].row + p->constraint[i].rows; r++) sum += s->u[r] * s->u[r];
    return sqrt(sum);
}

static int cull(subadmm *s, int *changed) {
    const sim_problem *p = s->problem;
    int left = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind != SIM_CONTACT) continue;
        double n = s->s[c->row + 2];
        int zero = s->lambda[c->row + 2] == 0;
        if (!s->kept[i]) {
            if (n < 0) { s->kept[i] = 1; s->again[i]++; *changed = 1; }
        } else {
            s->openly[i] = zero && n > 0 ? s->openly[i] + 1 : 0;
            if (s->openly[i] >= env("SA_CULL", 2) && s->again[i] < 3) { s->kept[i] = 0; *changed = 1; }
        }
        left += !s->kept[i];
    }
    return left;
}

static void keep_best(subadmm *s) {
    if (s->E < s->best) {
        s->best = s->E;
        for (int j = 0; j < s->problem->nv; j++) s->call->out->v[j] = s->problem->v_free[j] + s->v[j];
        memcpy(s->call->out->impulse, s->lambda, (size_t)s->problem->nrow * sizeof(double));
    }
}

static void set_scale(subadmm *s, extrapolation *e) {
    const sim_problem *p = s->problem;
    if (!e->window) return;
    memset(e->scale, 0, sizeof(double) * (size_t)e->n);
    for (int k = 0; k < s->ntree; k++) {
        const subadmm_tree *t = &s->tree[k];
        for (int j = 0; j < t->nv; j++) {
            double d;
            if (s->split == SUBADMM_NONE) d = 1;
            else if (env("SA_SCALE", 0) > 0 && t->form == SUBADMM_DENSE) { int st = (t->nv + 3) & ~3; d = t->A[j * (st + 1)]; }
            else if (t->form == SUBADMM_DENSE) { int st = (t->nv + 3) & ~3; d = t->A[j * (st + 1)] + s->kappa * t->C[j * (st + 1)]; }
            else { ptrdiff_t at = s->bodies.row[t->v0 + j] + s->bodies.depth[t->v0 + j] - 1; d = t->A[at] + s->kappa * t->C[at]; }
            e->scale[t->v0 + j] = sqrt(d);
        }
    }
    for (int r = 0; r < p->nrow; r++) e->scale[s->state + r] = sqrt(s->slack[r] / (env("SA_SCALE",0) > 0 ? 1 : s->kappa));
}

static int iterate(subadmm *s) {
    const double *o = s->call->option;
    int fixed = (int)o[ITERATIONS], most = fixed ? fixed : (int)o[MAX_ITERATIONS], next = 0, every = (int)env("SA_EVERY", 10);
    int verbose = (int)env("SA_VERBOSE", 0), adapt = (int)env("SA_ADAPT", 1), window = (int)env("SA_AND", 0);
    double gap = env("SA_GAP", 3), slow = 1;
    sim_outcome outcome = SIM_OUTCOMES;
    int period = (int)env("SA_PERIOD", 1), round = 0;
    extrapolation e;
    int since = 0;
    if (!extrapolation_make(&e, s->state + s->problem->nrow, window, s->call->scratch)) return 0;
    e.growth = env("SA_GROWTH", 1);
    if (subadmm_factor(s, 1) <= 0) { s->call->out->outcome = SIM_BROKEN_DOWN; return 1; }
    s->call->out->factorisations = 1;
    set_scale(s, &e);
    for (int k = 0; k <= most; k++) {
        double f = 1; int again = 0;
        s->call->out->iterations = k;
        if (k) {
            if (round == 0) extrapolation_begin(&e, s->x);
            subadmm_spread(s);
            subadmm_project(s);
        }
        if (!fixed ? k >= next || k == most : k == most) {
            subadmm_measure(s, s->lambda);
            keep_best(s);
            double p = s->change, d = env("SA_NORM", 0) ? energies(s, &p) : theta_dual(s);
 p *= env("SA_BIAS", 1);
            if (verbose) fprintf(stderr, "%d E %.3e primal %.3e dual %.3e kappa %.3e\n", k, s->E, p, d, s->kappa);
            solver_record(s->call, s->E, NAN);
            if (!fixed && s->best <= o[TOLERANCE]) { outcome = SIM_SOLVED; break; }
            if (!isfinite(s->E)) { outcome = SIM_BROKEN_DOWN; break; }
            if (solution_stopped(s->call->out)) break;
            next = k + (k < every * 10 ? every : k / 10 < env("SA_MOST", 1e9) ? k / 10 : (int)env("SA_MOST", 1e9));
            if (k == most) break;
            since++;
            int changed = 0, left = k && env("SA_CULL", 0) > 0 ? cull(s, &changed) : 0;
            if (verbose) fprintf(stderr, "left %d of %d\n", left, s->problem->nconstraint);
            if (changed) again = 1;
            if (k && adapt && since >= slow && (p > gap * d || d > gap * p) && p > 0 && d > 0) {
                f = fmin(10, fmax(0.1, sqrt(p / d)));
            }
        }
        if (!k) continue;
        if (!subadmm_move(s)) return 0;
        if (++round >= period) { round = 0; extrapolation_end(&e, s->x); }
        if (f != 1 || again) {
            s->kappa *= f;
            slow *= env("SA_SLOW", 1.3);
            since = 0;
            if (subadmm_factor(s, again) <= 0) { s->call->out->outcome = SIM_BROKEN_DOWN; return 1; }
            s->call->out->factorisations++;
            extrapolation_restart(&e); round = 0;
            set_scale(s, &e);
        }
    }
    s->call->out->outcome = outcome == SIM_OUTCOMES ? SIM_AT_LIMIT : outcome;
    return 1;
}

static void start(subadmm *s) {
    const sim_problem *p = s->problem;
    int mode = (int)env("SA_START", 1);
    for (int r = 0; r < p->nrow; r++) {
        s->lambda[r] = p->impulse_guess && isfinite(p->impulse_guess[r]) ? p->impulse_guess[r] : 0;
        s->call->out->impulse[r] = 0;
    }
    memcpy(s->call->out->v, p->v_free, (size_t)p->nv * sizeof(double));
    if (mode == 1) {
        subadmm_measure(s, s->lambda);
        for (int t = 0; t < s->ntree; t++)
            for (int j = s->tree[t].v0; j < s->tree[t].v0 + s->tree[t].nv; j++) s->x[j] = s->v[j];
    } else if (p->v_guess) {
        for (int t = 0; t < s->ntree; t++)
            for (int j = s->tree[t].v0; j < s->tree[t].v0 + s->tree[t].nv; j++) s->x[j] = p->v_guess[j] - p->v_free[j];
    }
}

static int solve(solver_call *call) {
    subadmm s = {.call = call, .problem = call->problem, .best = HUGE_VAL, .whole = call->kept};
    s.split = (subadmm_split)(int)call->option[SPLIT];
    if (!law_check(call)) {
        law_refuse(call);
        return 1;
    }
    s.bodies.is = s.split == SUBADMM_BODIES ? call->problem->bodies : NULL;
    s.state = call->problem->nv + (s.bodies.is ? 16 * s.bodies.is->nbody : 0);
    if (!reserve(&s) || !subadmm_weigh(&s) || !make_weights(&s)) return 0;
    find_trees(&s);
    subadmm_split_up(&s);
    if (s.split == SUBADMM_NONE && !hessian_prepare(s.whole, call->problem, SPD_AUTO)) return 0;
    if (!subadmm_make_trees(&s)) return 0;
    start(&s);
    int done = iterate(&s);
    call->out->residual = s.best;
    return done;
}

static void *create(void) { return hessian_create(); }
static void destroy(void *kept) { hessian_free(kept); }

const solver_type solver_subadmm = {
    .card = {.name = "subadmm",
             .method = "alternating directions, constraints split over bodies",
             .paper = "Lee et al. 2024",
             .cone = SIM_CONE_STRICT,
             .compliance = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .bodies = 1,
             .noptions = OPTIONS,
             .option = options},
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
