/* The contact stage of a step.
 *
 *     ties -> islands -> rows, masses (shared out among threads) -> each island: R and target, which motors are rows,
 *     solver, shift, judge -> velocities
 *
 * Memory is the frame's, given back at the next step. */
#include "contact/stage.h"
#include "base/pool.h"
#include "contact/problem/parts.h"
#include "math/dense.h"
#include "solver/matrices/delassus.h"
#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

enum { WORTH_SPREADING = 200 };    /* constraints */
enum { WAITS_ASKED_EVERY = 1000 }; /* rows and velocities of iterations, some 50 us, who waits is asked */

typedef struct worker {
    sim_solver *solver;
    sim_arena *scratch;
} worker;

struct contact_stage {
    const sim_model *model;
    contact_options options;
    sim_pool *pool;
    sim_arena *arena;
    double *size;          /* [nbody] of their shapes */
    int *last_dof;         /* [nbody] nearest dof on the path from the root, -1: none moves it */
    int *joint, njoint;    /* dofs with ranges or dry friction */
    sim_motion *acc;       /* [nbody] accelerations where no joint accelerates; equalities ask for them */
    double *M, *L, *x, *y; /* of the mass operators */
    double *root;
    double *moved;              /* [ntree] kg of its bodies that move */
    worker *worker;             /* [threads] */
    positions_memory positions; /* of nobody who asks for none */
    frame frame;
};

static int take_memory(contact_stage *s) {
    const sim_model *m = s->model;
    s->arena = sim_arena_create();
    s->size = sag_sizes(s->pool, m);
    s->last_dof = POOL_NEW(s->pool, int, m->nbody);
    s->joint = POOL_NEW(s->pool, int, m->nv);
    s->acc = POOL_NEW(s->pool, sim_motion, m->nequality ? m->nbody : 0);
    s->M = POOL_NEW(s->pool, double, m->nl);
    s->L = POOL_NEW(s->pool, double, m->nl);
    s->x = POOL_NEW(s->pool, double, m->nv);
    s->y = POOL_NEW(s->pool, double, m->nv);
    s->root = POOL_NEW(s->pool, double, m->nv);
    s->moved = POOL_NEW(s->pool, double, m->ntree);
    s->worker = POOL_NEW(s->pool, worker, s->options.threads);
    return s->arena && s->size && s->last_dof && s->joint && s->acc && s->M && s->L && s->x && s->y && s->root &&
           s->moved && s->worker;
}

contact_stage *contact_stage_create(const sim_model *model, const contact_options *options, sim_error *error) {
    if (contact_kinds_check(model, options->solver, error)) {
        return NULL;
    }
    sim_pool *pool = sim_pool_create();
    contact_stage *s = pool ? POOL_NEW(pool, contact_stage, 1) : NULL;
    if (!s) {
        sim_pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for contacts");
        return NULL;
    }
    s->model = model;
    s->options = *options;
    s->pool = s->positions.pool = pool;
    int ahead = contact_wants_positions(options->solver, options->solver_option);
    if (!take_memory(s) || (ahead && !positions_make(&s->positions, model))) {
        contact_stage_free(s);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d bodies", model->nbody);
        return NULL;
    }
    s->last_dof[0] = -1;
    for (int i = 1; i < model->nbody; i++) {
        const sim_body *b = &model->body[i];
        s->last_dof[i] = b->nv ? b->v0 + b->nv - 1 : s->last_dof[b->parent];
        s->moved[b->tree] += s->last_dof[i] >= 0 ? b->inertia.mass : 0;
    }
    for (int j = 0; j < model->nv; j++) {
        if (dof_has_rows(&model->dof[j])) {
            s->joint[s->njoint++] = j;
        }
    }
    for (int k = 0; k < options->threads; k++) {
        s->worker[k].scratch = sim_arena_create();
        s->worker[k].solver = sim_solver_create(options->solver, options->solver_option, error);
        if (!s->worker[k].solver || !s->worker[k].scratch) {
            if (s->worker[k].solver) {
                sim_fail(error, SIM_NO_RESOURCE, "no memory for contacts");
            }
            contact_stage_free(s);
            return NULL;
        }
    }
    return s;
}

void contact_stage_free(contact_stage *s) {
    if (!s) {
        return;
    }
    for (int k = 0; s->worker && k < s->options.threads; k++) {
        sim_solver_free(s->worker[k].solver);
        sim_arena_free(s->worker[k].scratch);
    }
    sim_derived_free(s->positions.ahead);
    sim_arena_free(s->arena);
    sim_pool_free(s->pool);
}

size_t contact_stage_bytes(const contact_stage *s) {
    size_t bytes = sim_pool_bytes(s->pool) + sim_arena_bytes(s->arena);
    for (int k = 0; k < s->options.threads; k++) {
        bytes += sim_arena_bytes(s->worker[k].scratch);
    }
    return bytes;
}

/* ---- building ---- */

/* What the physics of each constraint is; where it stands comes later. */
static sim_constraint describe(const frame *f, const sim_model *m, const tie *t) {
    sim_constraint c = {.rows = t->rows, .tree = {-1, -1}, .body = {-1, -1}, .id = (uint64_t)t->index};
    if (t->kind == TIE_CONTACT) {
        const sim_contact *from = &f->in->contact[t->index];
        c.kind = SIM_CONTACT;
        c.body[0] = from->body_a;
        c.body[1] = from->body_b;
        c.id = from->at.feature;
        c.friction = from->friction;
        c.stiffness = from->stiffness;
        c.dissipation = from->dissipation;
        c.restitution = from->restitution;
    } else if (t->kind == TIE_MOTOR) {
        return motor_constraint(f, m, &f->in->motor[t->index]);
    } else if (t->kind == TIE_EQUALITY) {
        const sim_equality *from = &m->equality[t->index];
        c.kind = from->type == SIM_SPRING_DAMPER ? SIM_SPRING : SIM_EQUALITY;
        c.body[0] = from->body[0];
        c.body[1] = from->body[1];
        c.stiffness = from->stiffness;
        c.dissipation = from->dissipation;
    } else {
        const sim_dof *from = &m->dof[t->index];
        c.kind = t->kind == TIE_FRICTION ? SIM_FRICTION : SIM_LIMIT;
        c.body[0] = from->body;
        c.bound = t->kind == TIE_FRICTION ? from->friction : 0;
        if (c.kind == SIM_LIMIT) {
            c.stiffness = from->limit.stiffness;
            c.dissipation = from->limit.dissipation;
            c.restitution = from->limit.restitution;
        }
    }
    return c;
}

/* Blocks of J; the next free place. */
static ptrdiff_t lay_out_blocks(const frame *f, const sim_model *m, const tie *t, sim_constraint *c, ptrdiff_t at) {
    for (int side = 0, place = 0; side < 2; side++) {
        int tree = t->tree[side];
        if (tree >= 0 && !(side == 1 && t->tree[0] == tree)) {
            c->tree[place] = f->local[tree];
            c->block[place++] = at;
            at += (ptrdiff_t)t->rows * m->tree[tree].nv;
        }
    }
    return at;
}

/* Where everything stands: constraints, their rows and blocks, one after the other. */
static int lay_out_constraints(frame *f, const sim_model *m) {
    ptrdiff_t nJ = 0;
    f->constraint = ARENA_NEW(f->arena, sim_constraint, f->nconstraint);
    f->axes = ARENA_NEW(f->arena, m3, f->nconstraint);
    f->rolls = ARENA_NEW(f->arena, char, f->nconstraint);
    f->row = ARENA_NEW(f->arena, int, f->nconstraint);
    f->gap = ARENA_NEW(f->arena, double, f->nrow);
    f->impulse_guess = ARENA_NEW(f->arena, double, f->nrow);
    int offsets = m->nequality || f->in->followed;
    f->offset = offsets ? ARENA_NEW(f->arena, double, f->nrow) : NULL;
    if (!f->constraint || !f->axes || !f->rolls || !f->row || !f->gap || !f->impulse_guess || (offsets && !f->offset)) {
        return 0;
    }
    for (int s = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        is->first_row = s ? is[-1].first_row + is[-1].problem.nrow : 0;
        for (int i = 0, row = 0; i < is->problem.nconstraint; i++) {
            int at = is->first_constraint + i;
            const tie *t = &f->tie[f->tie_of[at]];
            sim_constraint *c = &f->constraint[at];
            *c = describe(f, m, t);
            c->row = row;
            f->row[at] = is->first_row + row;
            nJ = lay_out_blocks(f, m, t, c, nJ);
            row += t->rows;
            is->motors += t->kind == TIE_MOTOR;
        }
        is->rows = is->motors;
        is->motor0 = is->problem.nconstraint - is->motors;
    }
    f->nJ = nJ;
    f->J = ARENA_NEW(f->arena, double, nJ);
    if (f->J && nJ) {
        memset(f->J, 0, (size_t)nJ * sizeof *f->J);
    }
    return f->J != NULL;
}

/* Velocities, packed island by island. */
static int lay_out_velocities(frame *f, const sim_model *m) {
    double *v_start = f->v_start = ARENA_NEW(f->arena, double, f->nv);
    double *v_free = f->v_free = ARENA_NEW(f->arena, double, f->nv);
    double *v = ARENA_NEW(f->arena, double, f->nv), *shift = ARENA_NEW(f->arena, double, f->nv);
    double *row = ARENA_NEW(f->arena, double, 5 * (size_t)f->nrow);
    sim_problem_tree *tree = f->packed = ARENA_NEW(f->arena, sim_problem_tree, f->ntree);
    if (!v_start || !v_free || !v || !shift || !row || !tree) {
        return 0;
    }
    for (int s = 0, at = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        sim_problem *p = &is->problem;
        is->first_v = at;
        p->tree = tree + is->first_tree;
        p->v_start = p->v_guess = v_start + at;
        p->v_free = v_free + at;
        is->v = v + at;
        is->shift = shift + at;
        double **mine[] = {&is->impulse, &is->R, &is->target, &is->R_rigid, &is->target_rigid};
        for (int k = 0; k < 5; k++) {
            *mine[k] = row + (size_t)k * f->nrow + is->first_row;
        }
        for (int t = 0, v0 = 0; t < p->ntree; t++) {
            const sim_tree *from = &m->tree[f->tree[is->first_tree + t]];
            size_t size = (size_t)from->nv * sizeof *v;
            tree[is->first_tree + t] = (sim_problem_tree){v0, from->nv};
            memcpy(v_start + at, f->in->v_start + from->v0, size);
            memcpy(v_free + at, f->in->v_free + from->v0, size);
            at += from->nv;
            v0 += from->nv;
        }
    }
    return 1;
}

/* What changes as motors become rows. */
static int lay_out_motors(frame *f, const sim_model *m) {
    if (f->driven) {
        f->v_guess = ARENA_NEW(f->arena, double, f->nv);
        f->extra = ARENA_NEW(f->arena, double, m->nv);
        if (!f->v_guess || !f->extra) {
            return 0;
        }
        memcpy(f->extra, f->in->extra, (size_t)m->nv * sizeof *f->extra);
    }
    return 1;
}

static mass_operator mass_of(const contact_stage *s, const int *tree) {
    const frame *f = &s->frame;
    return (mass_operator){.model = s->model,
                           .derived = f->in->mass,
                           .extra = f->extra ? f->extra : f->in->extra,
                           .M = s->M,
                           .L = s->L,
                           .x = s->x,
                           .y = s->y,
                           .root = s->root,
                           .tree = tree};
}

static void finish_problems(contact_stage *s) {
    frame *f = &s->frame;
    for (int k = 0; k < f->nisland; k++) {
        island *is = &f->island[k];
        sim_problem *p = &is->problem;
        p->step = f->in->step;
        p->constraint = f->constraint + is->first_constraint;
        is->rolls = f->rolls + is->first_constraint;
        p->gap = f->gap + is->first_row;
        p->impulse_guess = f->impulse_guess + is->first_row;
        p->J = f->J;
        p->offset = f->offset ? f->offset + is->first_row : NULL;
        is->mass = mass_of(s, f->tree + is->first_tree);
        p->mass = mass_interface(&is->mass);
    }
}

static void fill_rows(void *context, int index, int first, int end) {
    contact_stage *s = context;
    frame *f = &s->frame;
    (void)index;
    for (int i = first; i < end; i++) {
        tie_kind kind = f->tie[f->tie_of[i]].kind;
        f->rolls[i] = 0;
        for (int k = 0; k < f->constraint[i].rows && f->offset; k++) {
            f->offset[f->row[i] + k] = 0;
        }
        if (kind == TIE_CONTACT) {
            rows_of_contact(f, s->model, s->last_dof, i);
        } else if (kind == TIE_EQUALITY) {
            rows_of_equality(f, s->model, s->last_dof, s->acc, i);
        } else if (kind == TIE_MOTOR) {
            rows_of_motor(f, s->model, i);
        } else {
            rows_of_joint(f, s->model, i);
        }
    }
}

static void prepare_masses(void *context, int index, int first, int end) {
    contact_stage *s = context;
    (void)index;
    mass_operator m = mass_of(s, s->frame.tree);
    for (int k = first; k < end; k++) {
        int tree = s->frame.tree[k];
        if (!s->frame.driven || !s->frame.driven[tree]) { /* else it waits until it is known which motors are rows */
            mass_prepare(&m, tree);
        }
    }
}

static void fill_bodies(void *context, int index, int first, int end) {
    contact_stage *s = context;
    (void)index;
    for (int k = first; k < end; k++) {
        bodies_fill(&s->frame, s->model, &s->frame.island[k]);
    }
}

/* ---- solving ---- */

/* R and targets must not depend on which motors are rows: they are found with all of them out of A and v*, as in the
 * problem that is given out. */
static sim_status regularise(contact_stage *s, island *is, sim_arena *scratch, sim_error *error) {
    const sim_problem *p = &is->problem;
    double *W = NULL;
    motors_all(&s->frame, is);
    motors_let_go(&s->frame, is);
    if (s->options.compliance == SIM_NEAR_RIGID) {
        W = ARENA_NEW(scratch, double, sim_delassus_diagonal_size(p));
        if (!W || !delassus_diagonal(p, NULL, scratch, W)) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
        }
    }
    sim_regularise(p, s->options.compliance, &s->options.law, W, is->R, is->target);
    sim_regularise(p, SIM_RIGID, &s->options.law, NULL, is->R_rigid, is->target_rigid);
    undo_rules rules = {s->moved, s->size, s->options.law.undo, s->options.law.threshold};
    if (!undo_possible(&s->frame, is, &rules, scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
    }
    return SIM_OK;
}

/* Adds the time since `*since`, and starts anew. */
static void spend(island *is, const sim_clock *clock, int part, double *since) {
    if (clock) {
        double now = clock->now(clock->context);
        is->seconds[part] += now - *since;
        *since = now;
    }
}

static void add_effort(sim_solution *sum, const sim_solution *part) {
    sum->iterations += part->iterations;
    sum->factorisations += part->factorisations;
    sum->multiplications += part->multiplications;
    sum->factor_seconds += part->factor_seconds;
}

/* What a solver is asked through, and what it lets know meanwhile.  Of small islands who waits is not asked every time. */
typedef struct listener {
    const sim_watch *watch;
    const island *is;
    int islands, left, told;
} listener;

static int listen(void *context) {
    listener *l = context;
    const sim_problem *p = &l->is->problem;
    const sim_solution *at = &l->is->solution;
    if (!l->told && l->left-- <= 0) {
        sim_effort effort = {p->nconstraint,      p->nrow,     l->islands, at->factorisations,
                             at->multiplications, at->expected};
        l->left = WAITS_ASKED_EVERY / (p->nrow + p->nv + 1);
        l->told = l->watch->stop(l->watch->context, &effort);
    }
    return l->told;
}

static sim_status given_up(sim_error *error) {
    return sim_fail(error, SIM_FAILED, "the step was given up by who waits for it");
}

/* Until every motor is a row, or on the side that A and v* have it on. */
static sim_status answer(contact_stage *s, worker *w, island *is, sim_error *error) {
    listener between = {.watch = s->frame.in->watch, .is = is, .islands = s->frame.nisland};
    sim_regularisation own = {is->R, is->target};
    sim_solution before = {0};
    sim_status status = SIM_OK;
    motors_begin(&s->frame, is);
    do {
        add_effort(&before, &is->solution);
        is->solution = (sim_solution){.v = is->v, .impulse = is->impulse, .clock = s->frame.in->clock};
        if (between.watch) {
            is->solution.stop = listen;
            is->solution.stop_context = &between;
        }
        status = sim_solver_solve(w->solver, &is->problem, &own, &is->solution, error);
        is->solution.stop = NULL;
    } while (!status && !between.told && motors_crossed(&s->frame, is));
    add_effort(&is->solution, &before);
    return status || !between.told ? status : given_up(error);
}

typedef struct attempt {
    contact_stage *s;
    worker *w;
    island *is;
} attempt;

/* What it takes is added to what it took. */
static sim_status answer_anew(void *self, int changed, sim_error *error) {
    attempt *a = self;
    sim_status status = changed ? regularise(a->s, a->is, a->w->scratch, error) : SIM_OK;
    return status ? status : answer(a->s, a->w, a->is, error);
}

/* The answer with as much restitution as the island bears, judged. */
static sim_status answer_and_judge(attempt *a, double *since, sim_error *error) {
    contact_stage *s = a->s;
    island *is = a->is;
    const sim_clock *clock = s->frame.in->clock;
    sim_status status = rebound_find(&s->frame, is, s->options.law.threshold, answer_anew, a, a->w->scratch, error);
    is->seconds[CONTACT_FACTOR] = is->solution.factor_seconds;
    spend(is, clock, CONTACT_SOLVER, since);
    status = status ? status : verdict_of(is, a->w->solver, a->w->scratch, error);
    spend(is, clock, CONTACT_JUDGE, since);
    return status;
}

/* Where the answer is none, or gains what it must not: were overlaps to be undone that nothing can?  If not that, one
 * that gains nothing takes its place. */
static sim_status guard(attempt *a, double *since, sim_error *error) {
    island *is = a->is;
    sim_status status = SIM_OK;
    double excess = guard_excess(is, a->w->scratch);
    int doubtful = excess > 0 || is->solution.outcome > SIM_AT_ROUNDING;
    if (doubtful && undo_any(is, a->s->options.law.threshold)) {
        int rows = is->rows;
        is->thorough = 1;
        status = regularise(a->s, is, a->w->scratch, error);
        if (!status && is->held_back) {
            status = answer_and_judge(a, since, error);
        } else {
            motors_return(&a->s->frame, is, rows);
        }
        excess = status ? 0 : guard_excess(is, a->w->scratch);
    }
    if (status || !(excess > 0)) {
        return status;
    }
    if (!guard_replace(is, a->w->scratch)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
    }
    status = verdict_of(is, a->w->solver, a->w->scratch, error);
    sim_judgement_refuse(&is->judgement, excess);
    spend(is, a->s->frame.in->clock, CONTACT_JUDGE, since);
    return status;
}

static sim_status solve_island(contact_stage *s, worker *w, island *is, sim_error *error) {
    const sim_clock *clock = s->frame.in->clock;
    double since = clock ? clock->now(clock->context) : 0;
    is->solution = (sim_solution){0};
    is->thorough = is->refused = 0;
    sim_status status = sim_solver_accepts(w->solver, &is->problem, error);
    status = status ? status : regularise(s, is, w->scratch, error);
    spend(is, clock, CONTACT_REGULARISE, &since);
    attempt a = {s, w, is};
    status = status ? status : answer_and_judge(&a, &since, error);
    status = status ? status : guard(&a, &since, error);
    if (!status && !touchdown(is, s->frame.in->travel, w->scratch)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of an island");
    }
    is->undone = status ? 0 : guard_undone(is, s->options.law.threshold);
    spend(is, clock, CONTACT_TOUCHDOWN, &since);
    sim_arena_release(w->scratch, 0);
    return status;
}

static void solve_islands(void *context, int index, int first, int end) {
    contact_stage *s = context;
    for (int k = first; k < end; k++) {
        island *is = &s->frame.island[k];
        if (!is->spread) {
            is->failed = solve_island(s, &s->worker[index], is, NULL);
        }
    }
}

/* An island that is more than one thread's part of the whole, and not small, is answered by all threads together, if the
 * solver has use for them.  That saves time and changes no bit. */
static void solve_large_islands(contact_stage *s, sim_threads *threads) {
    worker *w = &s->worker[0];
    if (!solver_uses_threads(w->solver) || sim_threads_count(threads) == 1) {
        return;
    }
    solver_set_threads(w->solver, threads);
    for (int k = 0; k < s->frame.nisland; k++) {
        island *is = &s->frame.island[k];
        int large = is->problem.nconstraint > s->frame.nconstraint / sim_threads_count(threads);
        is->spread = large && is->problem.nconstraint >= WORTH_SPREADING;
        if (is->spread) {
            is->failed = solve_island(s, w, is, NULL);
        }
    }
    solver_set_threads(w->solver, NULL);
}

/* ---- the step ---- */

sim_status contact_stage_build(contact_stage *s, const contact_input *in, sim_threads *threads, sim_error *error) {
    frame *f = &s->frame;
    sim_arena_release(s->arena, 0);
    *f = (frame){.in = in,
                 .arena = s->arena,
                 .middle = in->middle ? in->middle : in->start,
                 .rigid = s->options.compliance != SIM_NEAR_RIGID};
    if (!ties_find(f, s->model, s->last_dof, s->joint, s->njoint) || !islands_find(f, s->model) ||
        !lay_out_constraints(f, s->model) || !lay_out_velocities(f, s->model) || !lay_out_motors(f, s->model) ||
        ((s->options.solver->bodies || s->options.bodies) && !bodies_lay_out(f, s->model)) ||
        (s->positions.ahead && !positions_lay_out(f, s->model, s->last_dof, &s->positions))) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", in->ncontact);
    }
    finish_problems(s);
    if (s->model->nequality) {
        sim_bias_accelerations(in->mass, sim_all(s->model), s->acc);
    }
    sim_threads_run(threads, f->ntree, prepare_masses, s);
    sim_threads_run(threads, f->nconstraint, fill_rows, s);
    if (f->on_body) {
        sim_threads_run(threads, f->nisland, fill_bodies, s);
    }
    if (f->J_ahead) {
        positions_fill(f);
    }
    return SIM_OK;
}

sim_status contact_stage_solve(contact_stage *s, sim_threads *threads, contact_output *out, sim_error *error) {
    frame *f = &s->frame;
    solve_large_islands(s, threads);
    sim_threads_run(threads, f->nisland, solve_islands, s);
    sim_effort effort = {.islands = f->nisland};
    for (int k = 0; k < f->nisland; k++) {
        sim_status status = f->island[k].failed;
        if (status && f->in->watch && f->in->watch->stop(f->in->watch->context, &effort)) {
            return given_up(error);
        }
        if (status && (status = solve_island(s, &s->worker[0], &f->island[k], error))) { /* once more, for the words */
            return status;
        }
    }
    hand_back(f, s->model, out);
    sag_find(f, s->size, &out->info);
    if (s->options.solver->cone == SIM_CONE_CONVEX) {
        lift_find(f, sim_law_reach(s->options.compliance, f->in->step), v3_norm(s->model->gravity), &out->info);
    }
    return SIM_OK;
}

const sim_problem *contact_stage_island(const contact_stage *s, int index) {
    return index < s->frame.nisland ? &s->frame.island[index].problem : NULL;
}

sim_problem *contact_stage_problem(contact_stage *s, sim_error *error) {
    frame *f = &s->frame;
    mass_operator mass = mass_of(s, f->tree);
    for (int k = 0; k < f->nisland; k++) {
        motors_all(f, &f->island[k]);
        motors_let_go(f, &f->island[k]);
        if (f->on_body) {
            bodies_diagonal(f, s->model, &f->island[k]);
        }
    }
    return whole_problem(f, &mass, error);
}
