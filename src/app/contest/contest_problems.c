/* The problems of a case: states of a scene that comes to rest or is put there, and wrenches on what floats. */
#include "app/cli/scene_place.h"
#include "app/contest/contest.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Forces on bodies that float, at their origin: linear in the world's axes, angular in the body's. */
static void push(const contest_case *c, const sim_model *m, contest_random *random, double *applied) {
    double g = sqrt(m->gravity.x * m->gravity.x + m->gravity.y * m->gravity.y + m->gravity.z * m->gravity.z);
    for (int b = 1; b < m->nbody; b++) {
        const sim_body *body = &m->body[b];
        double force = c->force * g * body->inertia.mass;
        for (int k = 0; k < 6 && body->joint == SIM_FREE; k++) {
            applied[body->v0 + k] = contest_uniform(random, -1, 1) * force * (k < 3 ? 1 : c->arm);
        }
    }
}

static sim_status place(const contest_case *c, sim_world *world, contest_random *random, sim_error *error) {
    const sim_model *m = sim_world_model(world);
    sim_state state = {.time = sim_world_state(world)->time,
                       .time0 = sim_world_state(world)->time0,
                       .step = sim_world_state(world)->step,
                       .q = calloc((size_t)m->nq + 1, sizeof(double)),
                       .v = calloc((size_t)m->nv + 1, sizeof(double)),
                       .a = calloc((size_t)m->nv + 1, sizeof(double))};
    sim_status status = state.q && state.v && state.a ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory");
    if (!status) {
        c->place(random, m, state.q, state.v);
        status = sim_world_set_state(world, &state, error);
    }
    free(state.q);
    free(state.v);
    free(state.a);
    return status;
}

static sim_status advance(sim_world *world, int steps, sim_error *error) {
    sim_status status = SIM_OK;
    for (int k = 0; k < steps && !status; k++) {
        status = sim_world_step(world, error);
    }
    return status;
}

/* The problems of the state in which the world is. */
static sim_status take(contest_problems *p, sim_world *world, int wrenches, contest_random *random, sim_error *error) {
    const sim_model *m = sim_world_model(world);
    for (int k = 0; k < (wrenches ? wrenches : 1); k++) {
        double *applied = sim_world_applied(world);
        if (wrenches) {
            push(p->c, m, random, applied);
        }
        p->item[p->count] = sim_world_problem(world, error);
        memset(applied, 0, (size_t)m->nv * sizeof *applied);
        if (!p->item[p->count]) {
            return error->status ? error->status : sim_fail(error, SIM_FAILED, "nothing touches");
        }
        p->count++;
    }
    return SIM_OK;
}

static int few(const contest_request *request, int count, int most) {
    return request->quick && count > most ? most : count;
}

/* The problems are those of a solver that asks for all that there is to know; who settles the world is the scene's. */
static sim_options asking(const sim_options *settling) {
    sim_options o = *settling;
    for (int k = 0; k < sim_solver_count(); k++) {
        if (sim_solver_at(k)->bodies) {
            o.solver = sim_solver_at(k);
            o.solver_option = NULL;
        }
    }
    return o;
}

static int contacts_of(const sim_problem *problem) {
    int count = 0;
    for (int i = 0; i < problem->nconstraint; i++) {
        count += problem->constraint[i].kind == SIM_CONTACT;
    }
    return count;
}

/* To the next state: another, or the next in time. */
static sim_status move_on(const contest_case *c, int state, sim_world *world, contest_random *random,
                          sim_error *error) {
    int anew = c->place && (!c->runs || state == 0);
    return anew ? place(c, world, random, error) : state ? advance(world, c->between, error) : SIM_OK;
}

/* The states of a run, or of all that there is. */
static sim_status take_run(contest_problems *p, int run, int states, int wrenches, sim_world *const worlds[2],
                           contest_random *random, sim_error *error) {
    sim_status status = SIM_OK;
    for (int s = 0; s < states && !status; s++) {
        int before = p->count;
        status = move_on(p->c, s, worlds[0], random, error);
        status = status ? status : sim_world_set_state(worlds[1], sim_world_state(worlds[0]), error);
        status = status ? status : take(p, worlds[1], wrenches, random, error);
        if (p->c->runs && p->count > before && contacts_of(p->item[before]) == 0) {
            sim_problem_free(p->item[--p->count]);
            p->idle++;
        }
        for (int k = before; k < p->count; k++) {
            p->run[k] = run;
        }
    }
    return status;
}

static sim_status take_all(const contest_request *request, contest_problems *p, sim_world *world, sim_world *asked,
                           sim_error *error) {
    const contest_case *c = p->c;
    contest_random random = {20240601};
    sim_world *const worlds[2] = {world, asked};
    int runs = few(request, c->runs ? c->runs : 1, 1), states = c->runs ? c->states : few(request, c->states, 2),
        wrenches = few(request, c->wrenches, 2);
    size_t room = (size_t)(runs * states * (wrenches ? wrenches : 1));
    p->item = calloc(room, sizeof *p->item);
    p->run = calloc(room, sizeof *p->run);
    sim_status status = p->item && p->run ? advance(world, c->settle, error)
                                          : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problems");
    for (int run = 0; run < runs && !status; run++) {
        status = take_run(p, run, states, wrenches, worlds, &random, error);
    }
    return status;
}

static void describe(contest_problems *p, const sim_model *m) {
    for (int b = 1; b < m->nbody; b++) {
        p->bodies += m->body[b].nv > 0;
    }
    p->velocities = m->nv;
    for (int k = 0; k < p->count; k++) {
        int contacts = contacts_of(p->item[k]);
        p->least = k == 0 || contacts < p->least ? contacts : p->least;
        p->most = contacts > p->most ? contacts : p->most;
        p->mean += (double)contacts / p->count;
    }
}

sim_status contest_problems_make(const contest_request *request, const contest_case *c, contest_problems *p,
                                 sim_error *error) {
    enum { MOST = sizeof c->set / sizeof c->set[0] };
    *p = (contest_problems){.c = c};
    sim_scene_overrides overrides = {.set = c->set};
    while (overrides.count < MOST && c->set[overrides.count]) {
        overrides.count++;
    }
    char path[PATH_MAX];
    scene_place(request->scenes, c->scene, path);
    sim_scene *scene = sim_scene_load(path, &overrides, NULL, error);
    sim_world *world = scene ? sim_world_create(scene->model, &scene->options, error) : NULL;
    sim_options options = scene ? asking(&scene->options) : sim_options_default();
    sim_world *asked = world ? sim_world_create(scene->model, &options, error) : NULL;
    sim_status status = asked ? take_all(request, p, world, asked, error) : error->status;
    if (scene) {
        p->law = scene->options.law;
        describe(p, scene->model);
    }
    sim_world_free(asked);
    sim_world_free(world);
    sim_scene_free(scene);
    return status;
}

void contest_problems_free(contest_problems *p) {
    for (int k = 0; k < p->count && p->item; k++) {
        sim_problem_free(p->item[k]);
    }
    free(p->item);
    p->item = NULL;
}
