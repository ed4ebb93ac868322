/* The contact stage of a step.
 *
 *     assemble  ->  solve each island  ->  scatter
 *
 * The memory of a step is the arena's, given back at the next one. */
#include "contact/stage.h"
#include "base/pool.h"
#include "contact/island/island.h"
#include "contact/result/result.h"
#include "math/v3.h"
#include "solver/matrices/tree_lu.h"
#include "solver/solver.h"

#include <string.h>

struct contact_stage {
    contact_options options;
    model_tables tables;
    memory_pool *pool;
    sim_arena *arena;
    assembly_memory memory;
    positions_memory positions; /* empty unless the solver asks for positions */
    worker *worker;             /* [threads] */
    assembly assembly;          /* of the last step */
    bool separated;             /* ... or of the bodies that were parted after it */
    bool large;                 /* a tree is so large that factors may follow its branches */
};

static sim_status create_stage_memory(contact_stage *s, const sim_model *m) {
    mass_memory *mass = &s->memory.mass;
    s->arena = arena_create();
    s->memory.acc = POOL_NEW(s->pool, sim_motion, m->nequality || m->ntendon ? m->nbody : 0);
    mass->M = POOL_NEW(s->pool, double, m->nl);
    mass->L = POOL_NEW(s->pool, double, m->nl);
    mass->x = POOL_NEW(s->pool, double, m->nv);
    mass->y = POOL_NEW(s->pool, double, m->nv);
    mass->root = POOL_NEW(s->pool, double, m->nv);
    s->worker = POOL_NEW(s->pool, worker, s->options.threads);
    bool ok = s->arena && s->memory.acc && mass->M && mass->L && mass->x && mass->y && mass->root && s->worker;
    if (ok && contact_wants_positions(s->options.solver, s->options.solver_option)) {
        s->memory.positions = &s->positions;
        return positions_create(&s->positions, m, s->pool);
    }
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

/* Tendons that act, or that a constraint names; their number, -1 without memory. */
static int list_tendons(contact_stage *s, const sim_model *m, const int **list) {
    int *tendon = POOL_NEW(s->pool, int, m->ntendon), count = 0;
    for (int k = 0; k < m->ntendon && tendon; k++) {
        bool needed = sim_tendon_acts(&m->tendon[k]);
        for (int i = 0; i < m->nequality; i++) {
            const sim_equality *e = &m->equality[i];
            needed |= e->type == SIM_TENDON_COUPLING && (e->tendon[0] == k || e->tendon[1] == k);
        }
        if (needed) {
            tendon[count++] = k;
        }
    }
    *list = tendon;
    return tendon ? count : -1;
}

/* Properties of the model's surfaces that its contacts need. */
static void find_surfaces(const sim_model *m, model_tables *t) {
    for (int k = 0; k < m->nshape; k++) {
        t->belts |= v3_norm(m->shape[k].surface_velocity) > 0 || v3_norm(m->shape[k].surface_spin) > 0;
    }
    for (int k = 0; k < m->nmaterial; k++) {
        const sim_material *of = &m->material[k];
        t->directed |= of->friction_across > 0 && of->friction_across != of->friction;
        t->adhesive |= of->adhesion > 0;
        t->turning |= of->torsion > 0 || of->rolling > 0;
    }
    for (int k = 0; k < m->nactuator; k++) {
        t->adhesive |= m->actuator[k].transmission == SIM_BY_CONTACTS;
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        t->adhesive |= m->material_pair[k].adhesion > 0;
        t->turning |= m->material_pair[k].torsion > 0 || m->material_pair[k].rolling > 0;
    }
}

static sim_status create_tables(contact_stage *s, const sim_model *m) {
    /* memory, and tendons */
    bool speeds = false;
    int *last_dof = POOL_NEW(s->pool, int, m->nbody), *joint = POOL_NEW(s->pool, int, m->nv), njoint = 0;
    double *moved = POOL_NEW(s->pool, double, m->ntree), *size = sag_sizes(s->pool, m);
    const int *tendon;
    int ntendon = list_tendons(s, m, &tendon);
    if (!last_dof || !joint || !moved || !size || ntendon < 0) {
        return SIM_NO_RESOURCE;
    }
    /* bodies, and joints with rows */
    last_dof[0] = -1;
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        last_dof[i] = b->nv ? b->v0 + b->nv - 1 : last_dof[b->parent];
        moved[b->tree] += last_dof[i] >= 0 ? b->inertia.mass : 0;
    }
    /* joints with rows, and the surfaces */
    for (int j = 0; j < m->nv; j++) {
        speeds |= m->dof[j].velocity_limit < INFINITY;
        if (dof_has_rows(&m->dof[j])) {
            joint[njoint++] = j;
        }
    }
    s->tables = (model_tables){.model = m,
                               .size = size,
                               .last_dof = last_dof,
                               .joint = joint,
                               .njoint = njoint,
                               .tendon = tendon,
                               .ntendon = ntendon,
                               .moved = moved,
                               .speeds = speeds};
    find_surfaces(m, &s->tables);
    return SIM_OK;
}

static sim_status create_island_workers(contact_stage *s, sim_error *error) {
    for (int k = 0; k < s->options.threads; k++) {
        s->worker[k].scratch = arena_create();
        if (!s->worker[k].scratch) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for contacts");
        }
        s->worker[k].solver = sim_solver_create(s->options.solver, s->options.solver_option, error);
        if (!s->worker[k].solver) {
            return SIM_FAILED;
        }
    }
    return SIM_OK;
}

contact_stage *contact_stage_create(const sim_model *model, const contact_options *options, sim_error *error) {
    /* kinds of constraints that the solver lacks */
    if (contact_kinds_check(model, options->solver, error)) {
        return NULL;
    }
    /* memory */
    memory_pool *pool = pool_create();
    contact_stage *s = pool ? POOL_NEW(pool, contact_stage, 1) : NULL;
    if (!s) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for contacts");
        return NULL;
    }
    s->options = *options;
    s->pool = pool;
    for (int t = 0; t < model->ntree; t++) {
        s->large = s->large || model->tree[t].nv >= TREE_LU_MIN_DOFS;
    }
    /* tables of the model, workers of the islands */
    if (create_stage_memory(s, model) || create_tables(s, model)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the contacts of %d bodies", model->nbody);
    } else if (!create_island_workers(s, error)) {
        return s;
    }
    contact_stage_free(s);
    return NULL;
}

void contact_stage_free(contact_stage *s) {
    if (!s) {
        return;
    }
    for (int k = 0; s->worker && k < s->options.threads; k++) {
        sim_solver_free(s->worker[k].solver);
        arena_free(s->worker[k].scratch);
    }
    sim_derived_free(s->positions.ahead);
    arena_free(s->arena);
    pool_free(s->pool);
}

size_t contact_stage_bytes(const contact_stage *s) {
    size_t bytes = pool_bytes(s->pool) + arena_bytes(s->arena);
    for (int k = 0; k < s->options.threads; k++) {
        bytes += arena_bytes(s->worker[k].scratch) + solver_bytes(s->worker[k].solver);
    }
    return bytes;
}

static sim_status build_problems(contact_stage *s, const contact_input *in, const assembly_memory *memory, bool bodies,
                                 sim_threads *threads, sim_error *error) {
    arena_release(s->arena, 0);
    s->assembly = (assembly){.in = in,
                             .tables = &s->tables,
                             .arena = s->arena,
                             .middle = in->middle ? in->middle : in->start,
                             .rigid = s->options.compliance != SIM_NEAR_RIGID};
    sim_status status = assemble_problems(&s->assembly, memory, bodies, threads);
    for (int k = 0; k < s->assembly.nisland && bodies && s->options.bodies && !status; k++) {
        bodies_fill(&s->assembly.island[k]);
    }
    return status ? sim_fail(error, status, "no memory for %d contacts", in->ncontact) : SIM_OK;
}

sim_status contact_stage_build(contact_stage *s, const contact_input *in, sim_threads *threads, sim_error *error) {
    /* rigid ones; A of soft bodies is more than that of their nodes */
    bool bodies = !in->body_extra && !in->soft && (s->options.solver->bodies || s->options.bodies || s->large);
    s->separated = false;
    return build_problems(s, in, &s->memory, bodies, threads, error);
}

/* The failure of an island: the caller stopped the step, or it is solved once more for the reason in words. */
static sim_status fail_island(contact_stage *s, island *is, sim_error *error) {
    const sim_watch *watch = s->assembly.in->watch;
    sim_effort effort = {.islands = s->assembly.nisland};
    if (watch && watch->stop(watch->context, &effort)) {
        return fail_stopped(error);
    }
    return solve_island(&s->assembly, &s->options, &s->worker[0], is, error);
}

sim_status contact_stage_solve(contact_stage *s, sim_threads *threads, contact_output *out, sim_error *error) {
    assembly *f = &s->assembly;
    const contact_options *o = &s->options;
    /* velocities and impulses of every island */
    solve_islands(f, o, s->worker, threads);
    for (int k = 0; k < f->nisland; k++) {
        sim_status status = f->island[k].failed ? fail_island(s, &f->island[k], error) : SIM_OK;
        if (status) {
            return status;
        }
    }
    /* to the order of the model */
    scatter_solutions(f, s->tables.model, out);
    /* the certificate, and the figures of the warnings */
    certify_step(f, &out->info);
    sag_find(f, s->tables.size, &out->info);
    if (o->solver->cone == SIM_CONE_CONVEX) {
        double gravity = v3_norm(s->tables.model->gravity);
        lift_find(f, sim_law_reach(o->compliance, f->in->step), gravity, &out->info);
    }
    return SIM_OK;
}

sim_status contact_stage_separate(contact_stage *s, const contact_input *in, const double *least, const char *deep,
                                  sim_threads *threads, double *shift, char *touched, sim_error *error) {
    /* the rows at the end of the step, of which solvers see nothing */
    const sim_model *m = s->tables.model;
    assembly *f = &s->assembly;
    assembly_memory memory = s->memory;
    memory.positions = NULL;
    s->separated = true;
    sim_status status = build_problems(s, in, &memory, false, threads, error);
    memset(touched, 0, (size_t)m->ntree);
    /* shifts of the islands, in the order of the model */
    for (int k = 0; k < f->nisland && !status; k++) {
        island *is = &f->island[k];
        if (separate_island(f, is, least, deep, s->worker[0].scratch)) {
            return sim_fail(error, SIM_NO_RESOURCE, "no memory for %d contacts", in->ncontact);
        }
        for (int t = 0; t < is->base.ntree && is->parted; t++) {
            const sim_tree *to = &m->tree[f->tree[is->first_tree + t]];
            if (is->condensed && is->condensed->tree[t].n) {
                condensed_shift(is, t, is->shift, shift + to->v0);
            } else {
                memcpy(shift + to->v0, is->shift + is->base.tree[t].v0, (size_t)to->nv * sizeof *shift);
            }
            touched[f->tree[is->first_tree + t]] = 1;
        }
    }
    return status;
}

const sim_problem *contact_stage_island(const contact_stage *s, int index) {
    return index < s->assembly.nisland ? &s->assembly.island[index].problem : NULL;
}

const assembly *contact_stage_assembly(const contact_stage *s) { return s->separated ? NULL : &s->assembly; }

sim_problem *contact_stage_problem(contact_stage *s, sim_error *error) {
    assembly *f = &s->assembly;
    mass_operator mass = assembly_mass(f, &s->memory.mass, f->tree);
    for (int k = 0; k < f->nisland; k++) {
        derive_full_problem(f, &f->island[k], 1);
    }
    return export_problem(f, &mass, error);
}
