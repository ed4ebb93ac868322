/* Assembly of the contact problems of a step, island by island.
 *
 *     active set  ->  islands  ->  places of constraints, rows, blocks of J, velocities  ->  A, J, gaps, warm start
 *
 * The last stage runs in parallel over trees and constraints; no number depends on how they are shared out.
 * Memory is the arena's, given back at the next step. */
#include "contact/problem/assemble.h"

#include <string.h>

typedef struct assembler {
    assembly *f;
    mass_operator mass; /* on all trees */
} assembler;

/* ---- places ---- */

/* The physics of a constraint; its places come later. */
static sim_constraint make_constraint(const assembly *f, const sim_model *m, const constraint_source *t) {
    sim_constraint c = {.rows = t->rows, .tree = {-1, -1}, .body = {-1, -1}, .id = (uint64_t)t->index};
    if (t->kind == SOURCE_CONTACT) {
        const sim_contact *from = &f->in->contact[t->index];
        c.kind = SIM_CONTACT;
        c.body[0] = from->body_a;
        c.body[1] = from->body_b;
        c.id = from->at.feature;
        c.friction = from->friction;
        c.stiffness = from->stiffness;
        c.dissipation = from->dissipation;
        c.restitution = from->restitution;
        c.rolling = from->rolling;
        c.torsion = from->torsion;
    } else if (t->kind == SOURCE_ACTUATOR) {
        return actuator_constraint(f, m, &f->in->actuator[t->index]);
    } else if (t->kind == SOURCE_ELASTIC) {
        return elastic_constraint(f, t);
    } else if (is_tendon_row(t->kind)) {
        return tendon_constraint(m, t);
    } else if (t->kind == SOURCE_EQUALITY) {
        const sim_equality *from = &f->in->equality[t->index];
        c.kind = from->type == SIM_SPRING_DAMPER ? SIM_SPRING : SIM_EQUALITY;
        c.body[0] = from->body[0];
        c.body[1] = from->body[1];
        c.stiffness = from->stiffness;
        c.dissipation = from->dissipation;
    } else {
        const sim_dof *from = &m->dof[t->index];
        c.kind = t->kind == SOURCE_FRICTION ? SIM_FRICTION : SIM_LIMIT;
        c.body[0] = from->body;
        c.bound = t->kind == SOURCE_FRICTION ? from->friction : 0;
        c.turns = from->turns;
        if (t->kind == SOURCE_SPEED_LOW || t->kind == SOURCE_SPEED_HIGH) {
            c.stiffness = INFINITY;
        } else if (c.kind == SIM_LIMIT) {
            c.stiffness = from->limit.stiffness;
            c.dissipation = from->limit.dissipation;
            c.restitution = from->limit.restitution;
        }
    }
    return c;
}

/* Blocks of J; returns the next free place. */
static ptrdiff_t lay_out_blocks(const assembly *f, const sim_model *m, const constraint_source *t, sim_constraint *c,
                                ptrdiff_t at) {
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

/* Constraints, their rows and blocks, one after the other. */
static sim_status lay_out_constraints(assembly *f, const sim_model *m) {
    /* memory */
    ptrdiff_t nJ = 0;
    bool offsets = m->nequality || m->ntendon || f->elastic || f->in->followed || f->tables->belts || f->tables->speeds,
         bounces = false;
    f->constraint = ARENA_NEW(f->arena, sim_constraint, f->nconstraint);
    f->axes = ARENA_NEW(f->arena, m3, f->nconstraint);
    f->moved = ARENA_NEW(f->arena, v3, f->nconstraint);
    f->rolls = ARENA_NEW(f->arena, char, f->nconstraint);
    f->pull = f->tables->adhesive ? ARENA_NEW(f->arena, double, f->nconstraint) : NULL;
    f->row = ARENA_NEW(f->arena, int, f->nconstraint);
    f->before = ARENA_NEW(f->arena, int, f->nconstraint);
    f->gap = ARENA_NEW(f->arena, double, f->nrow);
    f->impulse_guess = ARENA_NEW(f->arena, double, f->nrow);
    f->impulse_trend = ARENA_NEW(f->arena, double, f->nrow);
    f->diagonal = ARENA_NEW(f->arena, double, SIM_MAX_ROWS *(size_t)f->nrow);
    f->offset = offsets ? ARENA_NEW(f->arena, double, f->nrow) : NULL;
    if (!f->constraint || !f->axes || !f->moved || !f->rolls || !f->row || !f->before || !f->gap || !f->impulse_guess ||
        !f->impulse_trend || !f->diagonal || (offsets && !f->offset) || (f->tables->adhesive && !f->pull)) {
        return SIM_NO_RESOURCE;
    }
    /* rows of each island, in the order of its constraints; actuators come last */
    for (int s = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        is->first_row = s ? is[-1].first_row + is[-1].base.nrow : 0;
        for (int i = 0, row = 0; i < is->base.nconstraint; i++) {
            int at = is->first_constraint + i;
            const constraint_source *t = &f->source[f->source_of[at]];
            sim_constraint *c = &f->constraint[at];
            *c = make_constraint(f, m, t);
            c->row = row;
            f->row[at] = is->first_row + row;
            nJ = lay_out_blocks(f, m, t, c, nJ);
            row += t->rows;
            is->actuators += t->kind == SOURCE_ACTUATOR;
            bounces |= c->restitution > 0;
        }
        is->first_actuator = is->base.nconstraint - is->actuators;
    }
    /* a copy for the variants of restitution and drives */
    if (bounces || f->driven) {
        f->constraint_variant = ARENA_NEW(f->arena, sim_constraint, f->nconstraint);
    }
    /* blocks of J */
    f->nJ = nJ;
    f->J = ARENA_NEW(f->arena, double, nJ);
    if (!f->J || ((bounces || f->driven) && !f->constraint_variant)) {
        return SIM_NO_RESOURCE;
    }
    memset(f->J, 0, (size_t)nJ * sizeof *f->J);
    memset(f->impulse_trend, 0, (size_t)f->nrow * sizeof *f->impulse_trend); /* only contacts have one */
    return SIM_OK;
}

/* Four lists of rows, so far from one to the next. */
static row_laws laws_at(double *rows, ptrdiff_t next) {
    return (row_laws){rows, rows + next, rows + 2 * next, rows + 3 * next};
}

/* Velocities, packed island by island; rows of laws and impulses. */
static sim_status lay_out_velocities(assembly *f, const sim_model *m) {
    /* memory */
    double *v_start = f->v_start = ARENA_NEW(f->arena, double, f->nv);
    double *v_free = f->v_free = ARENA_NEW(f->arena, double, f->nv);
    double *v = ARENA_NEW(f->arena, double, f->nv), *shift = ARENA_NEW(f->arena, double, f->nv);
    double *row = ARENA_NEW(f->arena, double, 5 * (size_t)f->nrow);
    sim_problem_tree *tree = f->packed = ARENA_NEW(f->arena, sim_problem_tree, f->ntree);
    if (!v_start || !v_free || !v || !shift || !row || !tree) {
        return SIM_NO_RESOURCE;
    }
    /* slices of each island */
    for (int s = 0, at = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        sim_problem *p = &is->base;
        is->first_v = at;
        p->tree = tree + is->first_tree;
        p->v_start = p->v_guess = is->v_guess = v_start + at;
        p->v_free = v_free + at;
        is->v = v + at;
        is->shift = shift + at;
        is->impulse = row + is->first_row;
        is->full_law = laws_at(row + f->nrow + is->first_row, f->nrow);
        /* velocities of its trees */
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
    return SIM_OK;
}

/* Memory of derived problems, where limited actuators may become rows. */
static sim_status lay_out_actuators(assembly *f, const sim_model *m) {
    /* memory */
    if (!f->driven) {
        return SIM_OK;
    }
    int *order = ARENA_NEW(f->arena, int, f->nconstraint);
    double *laws = ARENA_NEW(f->arena, double, 4 * (size_t)f->nrow);
    f->extra = ARENA_NEW(f->arena, double, m->nv);
    f->v_guess = ARENA_NEW(f->arena, double, f->nv);
    f->v_free_variant = ARENA_NEW(f->arena, double, f->nv);
    f->impulse_variant = ARENA_NEW(f->arena, double, f->nrow);
    f->impulse_warm = ARENA_NEW(f->arena, double, f->nrow);
    if (!order || !laws || !f->extra || !f->v_guess || !f->v_free_variant || !f->impulse_variant || !f->impulse_warm) {
        return SIM_NO_RESOURCE;
    }
    /* a variant begins as the problem itself */
    memcpy(f->extra, f->in->extra, (size_t)m->nv * sizeof *f->extra);
    memcpy(f->v_free_variant, f->v_free, (size_t)f->nv * sizeof *f->v_free);
    for (int s = 0; s < f->nisland; s++) {
        island *is = &f->island[s];
        is->order = order + is->first_constraint;
        is->partial_law = laws_at(laws + is->first_row, f->nrow);
        for (int k = 0; k < is->actuators; k++) {
            is->order[k] = k;
        }
    }
    return SIM_OK;
}

mass_operator assembly_mass(const assembly *f, const mass_memory *memory, const int *tree) {
    return (mass_operator){.model = f->tables->model,
                           .derived = f->in->mass,
                           .extra = f->extra ? f->extra : f->in->extra,
                           .body_extra = f->in->body_extra,
                           .soft = f->in->soft,
                           .M = memory->M,
                           .L = memory->L,
                           .x = memory->x,
                           .y = memory->y,
                           .root = memory->root,
                           .tree = tree};
}

static void connect_problems(assembly *f, const mass_memory *memory) {
    for (int k = 0; k < f->nisland; k++) {
        island *is = &f->island[k];
        sim_problem *p = &is->base;
        p->step = f->in->step;
        p->constraint = f->constraint + is->first_constraint;
        is->source = f->source_of + is->first_constraint;
        is->rolls = f->rolls + is->first_constraint;
        p->gap = f->gap + is->first_row;
        p->impulse_guess = is->impulse_guess = f->impulse_guess + is->first_row;
        p->impulse_trend = f->impulse_trend + is->first_row;
        p->J = f->J;
        p->offset = f->offset ? f->offset + is->first_row : NULL;
        is->mass = assembly_mass(f, memory, f->tree + is->first_tree);
        p->mass = mass_interface(&is->mass);
        is->problem = is->base;
    }
}

/* ---- numbers ---- */

static void fill_source_rows(void *context, int index, int first, int end) {
    assembly *f = ((const assembler *)context)->f;
    /* offset, gap and J of each constraint, by its kind */
    const model_tables *m = f->tables;
    (void)index;
    for (int i = first; i < end; i++) {
        source_kind kind = f->source[f->source_of[i]].kind;
        f->rolls[i] = ROLLS_NOT;
        for (int k = 0; k < f->constraint[i].rows && f->offset; k++) {
            f->offset[f->row[i] + k] = 0;
        }
        if (kind == SOURCE_CONTACT) {
            rows_of_contact(f, m->model, m->last_dof, i);
        } else if (kind == SOURCE_EQUALITY) {
            rows_of_equality(f, m->model, m->last_dof, i);
        } else if (kind == SOURCE_ELASTIC) {
            rows_of_elastic(f, m->model, i);
        } else if (is_tendon_row(kind)) {
            rows_of_tendon(f, m->model, i);
        } else if (kind == SOURCE_ACTUATOR) {
            rows_of_actuator(f, m->model, i);
        } else {
            rows_of_joint(f, m->model, i);
        }
    }
}

static void prepare_masses(void *context, int index, int first, int end) {
    const assembler *a = context;
    (void)index;
    for (int k = first; k < end; k++) {
        int tree = a->f->tree[k];
        /* otherwise each derived problem has its own (variant.c) */
        if (!a->f->driven || !a->f->driven[tree] || a->f->pull) {
            mass_prepare(&a->mass, tree);
        }
    }
}

static void pull_together(void *context, int index, int first, int end) {
    assembly *f = ((const assembler *)context)->f;
    (void)index;
    for (int k = first; k < end; k++) {
        surface_pull_together(f, &f->island[k], f->island[k].v);
    }
}

/* The start with its own velocities: `start` has those of the free motion. */
static sim_status place_anchor(assembly *f, const sim_model *m) {
    size_t nbody = (size_t)m->nbody;
    sim_derived *d = ARENA_NEW(f->arena, sim_derived, 1);
    sim_motion *vel = ARENA_NEW(f->arena, sim_motion, nbody), *bias = ARENA_NEW(f->arena, sim_motion, nbody);
    sim_motion *acc = ARENA_NEW(f->arena, sim_motion, nbody);
    sim_force *wrench = ARENA_NEW(f->arena, sim_force, nbody);
    if (!d || !vel || !bias || !acc || !wrench) {
        return SIM_NO_RESOURCE;
    }
    *d = *f->in->start;
    d->vel = vel;
    d->bias_acc = bias;
    d->bias_force = wrench;
    d->vel[0] = (sim_motion){{0, 0, 0}, {0, 0, 0}};
    sim_velocities(d, sim_all(m), f->in->v_start);
    sim_bias_accelerations(d, sim_all(m), acc);
    f->anchor = d;
    f->anchor_acc = acc;
    return SIM_OK;
}

sim_status assemble_problems(assembly *f, const assembly_memory *memory, bool bodies, sim_threads *threads) {
    const sim_model *m = f->tables->model;
    /* tendons, and what the rows between bodies need of all */
    sim_status status = SIM_OK;
    if (m->nequality || m->ntendon) {
        sim_bias_accelerations(f->in->mass, sim_all(m), memory->acc);
        f->acc = memory->acc;
    }
    if (m->nequality && f->in->soft) {
        status = place_anchor(f, m);
    }
    status = status ? status : elastic_find(f);
    if (m->ntendon && !status) {
        status = tendons_find(f, threads);
    }
    /* constraints that may act in this step, and the islands that they connect */
    status = status ? status : active_set_find(f);
    status = status ? status : islands_find(f, m);
    /* places of everything in the lists of all islands */
    status = status ? status : lay_out_constraints(f, m);
    status = status ? status : lay_out_velocities(f, m);
    status = status ? status : lay_out_actuators(f, m);
    status = status || !bodies ? status : bodies_lay_out(f, m);
    status = status || !memory->positions ? status : positions_lay_out(f, m, f->tables->last_dof, memory->positions);
    if (status) {
        return status;
    }
    connect_problems(f, &memory->mass);
    /* factors of A; J, gaps and warm starts */
    assembler a = {f, assembly_mass(f, &memory->mass, f->tree)};
    threads_run(threads, f->ntree, prepare_masses, &a);
    threads_run(threads, f->nconstraint, fill_source_rows, &a);
    if (f->pull) {
        threads_run(threads, f->nisland, pull_together, &a);
    }
    if (f->in->soft && condense_islands(f)) {
        return SIM_NO_RESOURCE;
    }
    /* the same at the end of the step, for solvers that ask for it */
    if (f->J_ahead) {
        positions_fill(f);
    }
    return SIM_OK;
}
