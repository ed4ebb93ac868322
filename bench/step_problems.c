/* Contact problems of a scene, as files (for study/compare.py).  Long: what it writes, it also solves in memory.
 *
 *     step_problems SCENE FOLDER/NAME [--set PATH=VALUE]... [--settle N] [--states N] [--between N] [--runs N]
 *                   [--place nut|balls] [--wrenches N] [--force F] [--arm A] [--keep PATH] [--from PATH]
 *                   [--solver NAME:OPTION=VALUE:... [--repeat N] [--guess]]
 *
 * A world runs `settle` steps; then `states` states follow, `between` steps apart, or placed at random.  Each state
 * gives one problem, or one for each of `wrenches` random wrenches on the floating bodies: components within +- F
 * weights of the body, and within that times A metres.  `runs` repeats the states from random starts; problems without
 * contacts are then left out.  `keep` writes each state as a checkpoint to PATH_000.h5 and so on; `from` takes the
 * states from such files in place of running to them, every `between`-th.  Writes FOLDER/NAME_000.hdf5 and so on, under the law of the scene, with the data of
 * solvers that use bodies (sim_problem_bodies); prints JSON: bodies that move, velocities, steps without contacts, and
 * of each problem its run and its contacts. The same command gives the same problems.
 *
 * With --solver it solves each problem instead of writing it, with what no file holds (sim_problem_bodies: SubADMM
 * splits trees by it), and prints a JSON object a problem with the keys of `sim solve --json`. */
#include "solver/words.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <sim/sim.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- random states ---- */

/* splitmix64 */
typedef struct random_stream {
    uint64_t state;
} random_stream;

static double uniform(random_stream *random, double low, double high) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Box-Muller transform. */
static double normal(random_stream *random) {
    double size = sqrt(-2 * log(uniform(random, 0x1p-54, 1)));
    return size * cos(uniform(random, 0, 6.283185307179586));
}

/* A nut on its thread, at rest: turned by any angle, on the upper or the lower flank with at most a tenth of the play
 * left. It is off the axis and tilted by less than the play. */
static void place_nut(random_stream *random, const sim_model *model, double *q, double *v) {
    static const double turn = 6.283185307179586, pitch = 0.005, play = 1.155e-4; /* rad, m, m */
    (void)model;
    (void)v;
    double angle = uniform(random, -1, 1) * turn, left = uniform(random, 0, 0.1);
    double side = uniform(random, -1, 1) < 0 ? -1 : 1;
    q[0] = uniform(random, -1e-5, 1e-5);
    q[1] = uniform(random, -1e-5, 1e-5);
    q[2] = pitch * angle / turn + side * (1 - left) * play;
    q[3] = cos(0.5 * angle);
    q[4] = uniform(random, -1e-4, 1e-4);
    q[5] = uniform(random, -1e-4, 1e-4);
    q[6] = sin(0.5 * angle);
    double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int k = 3; k < 7; k++) {
        q[k] /= length;
    }
}

/* Radius of the first sphere of a body. */
static double ball_radius(const sim_model *m, int body) {
    for (int s = 0; s < m->nshape; s++) {
        if (m->shape[s].body == body && m->shape[s].type == SIM_SPHERE) {
            return m->shape[s].size[0];
        }
    }
    return 0;
}

/* Is a ball at q clear of those before it? */
static bool ball_is_clear(const sim_model *m, int body, const double *q) {
    const double *at = q + m->body[body].q0, own = ball_radius(m, body);
    for (int b = 1; b < body; b++) {
        const double *other = q + m->body[b].q0;
        if (m->body[b].joint == SIM_FREE) {
            double x = at[0] - other[0], y = at[1] - other[1], z = at[2] - other[2], reach = own + ball_radius(m, b);
            if (x * x + y * y + z * z < reach * reach) {
                return false;
            }
        }
    }
    return true;
}

/* Balls in a cube of 60 cm on the origin, clear of walls and of each other; velocities of 1 m/s standard deviation
 * along each axis, no spin.  A ball without a free place after a thousand tries makes all begin again. */
static void place_balls(random_stream *random, const sim_model *m, double *q, double *v) {
    enum { MAX_TRIES = 1000 };
    static const double half = 0.3; /* m */
    int body = 1;
    while (body < m->nbody) {
        const sim_body *ball = &m->body[body];
        double r = ball_radius(m, body), *at = q + ball->q0;
        int left = ball->joint == SIM_FREE ? MAX_TRIES : 0;
        bool placed = !left;
        while (left-- > 0 && !placed) {
            at[0] = uniform(random, -half + r, half - r);
            at[1] = uniform(random, -half + r, half - r);
            at[2] = uniform(random, r, 2 * half - r);
            placed = ball_is_clear(m, body, q);
        }
        for (int k = 0; k < 3 && placed && ball->joint == SIM_FREE; k++) {
            v[ball->v0 + k] = normal(random);
            at[3] = 1;
        }
        body = placed ? body + 1 : 1;
    }
}

typedef void place_function(random_stream *random, const sim_model *model, double *q, double *v);

/* ---- problems ---- */

typedef struct request {
    const char *scene, *out; /* out: path of the files without _000.hdf5 */
    sim_scene_overrides overrides;
    int settle, states, between, runs, wrenches;
    double force, arm; /* weights of a body, m */
    place_function *place;
    const char *keep, *from; /* NULL: none; paths of checkpoints without _000.h5 */
    const char *solver;      /* NULL: write the problems */
    int repeat, guess;
} request;

typedef struct problem_writer {
    const request *request;
    const sim_scene *scene;
    sim_world *world, *asked; /* the scene's world, and one whose solver uses all data */
    sim_law_options law;
    random_stream random;
    sim_solver *solver;
    int count, idle;
    int *run, *contacts; /* [count] */
} problem_writer;

/* Wrenches on floating bodies, at their origin: linear in the world's axes, angular in the body's. */
static void apply_wrenches(problem_writer *w, const sim_model *m, double *applied) {
    double g = sqrt(m->gravity.x * m->gravity.x + m->gravity.y * m->gravity.y + m->gravity.z * m->gravity.z);
    for (int b = 1; b < m->nbody; b++) {
        const sim_body *body = &m->body[b];
        double force = w->request->force * g * body->inertia.mass;
        for (int k = 0; k < 6 && body->joint == SIM_FREE; k++) {
            applied[body->v0 + k] = uniform(&w->random, -1, 1) * force * (k < 3 ? 1 : w->request->arm);
        }
    }
}

static sim_status place_state(problem_writer *w, sim_error *error) {
    const sim_model *m = sim_world_model(w->world);
    const sim_state *now = sim_world_state(w->world);
    sim_state state = {.time = now->time,
                       .time0 = now->time0,
                       .step = now->step,
                       .q = calloc((size_t)m->nq + 1, sizeof(double)),
                       .v = calloc((size_t)m->nv + 1, sizeof(double)),
                       .a = calloc((size_t)m->nv + 1, sizeof(double))};
    sim_status status = SIM_NO_RESOURCE;
    if (state.q && state.v && state.a) {
        w->request->place(&w->random, m, state.q, state.v);
        status = sim_world_set_state(w->world, &state, error);
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

static int count_contacts(const sim_problem *problem) {
    int count = 0;
    for (int i = 0; i < problem->nconstraint; i++) {
        count += problem->constraint[i].kind == SIM_CONTACT;
    }
    return count;
}

/* ---- solutions in memory ---- */

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A solver from NAME:OPTION=VALUE:... */
static sim_solver *create_solver(const char *text, sim_error *error) {
    char name[64];
    double value[SOLVER_MAX_OPTIONS];
    snprintf(name, sizeof name, "%.*s", (int)solver_words_name(text), text);
    const sim_solver_info *info = sim_solver_find(name);
    if (!info) {
        sim_fail(error, SIM_BAD_INPUT, "there is no solver '%s'", name);
        return NULL;
    }
    for (int k = 0; k < info->noptions; k++) {
        value[k] = info->option[k].default_value;
    }
    return solver_words_options(info, text, strlen(text), value, error) ? NULL : sim_solver_create(info, value, error);
}

typedef struct contact_modes {
    int open, stick, slide;
} contact_modes;

/* Open at less than 1e-8 of the greatest normal impulse, sliding at 0.999 of the cone's edge. */
static contact_modes count_modes(const sim_problem *p, const double *impulse) {
    contact_modes modes = {0};
    double most = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        most = c->kind == SIM_CONTACT ? fmax(most, impulse[c->row + 2]) : most;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *g = impulse + c->row;
        if (c->kind == SIM_CONTACT) {
            bool open = g[2] <= 1e-8 * most, slides = hypot(g[0], g[1]) >= 0.999 * c->friction * g[2];
            modes.open += open;
            modes.slide += !open && slides;
            modes.stick += !open && !slides;
        }
    }
    return modes;
}

static void print_solution(const problem_writer *w, const sim_solution *s, const sim_certificate *e, double seconds,
                           contact_modes modes) {
    printf("%s{\"outcome\": \"%s\", \"iterations\": %d, \"searches\": %d, \"failures\": %d, \"whole_steps\": %d, "
           "\"dogleg_steps\": %d, \"edge_steps\": %d, "
           "\"seconds\": %.9g, \"E\": %.17g, \"own\": %.17g, \"lee\": %.17g, \"lee_scaled\": %.17g, "
           "\"open\": %d, \"stick\": %d, \"slide\": %d}",
           w->count ? ",\n" : "", sim_outcome_name(s->outcome), s->iterations, s->searches, s->failures, s->whole_steps,
           s->dogleg_steps, s->edge_steps, seconds, e->E, e->own, e->lee, e->lee_scaled, modes.open, modes.stick,
           modes.slide);
}

/* Room for a solution: R and target of the rigid and of the solver's law, velocities, impulses, work of the judge. */
static sim_status solve_in(problem_writer *w, const sim_problem *p, double *room, sim_error *error) {
    size_t nrow = (size_t)p->nrow;
    const sim_solver_info *info = sim_solver_info_of(w->solver);
    sim_regularisation rigid = {room, room + nrow}, own = {room + 2 * nrow, room + 3 * nrow};
    sim_solution s = {.impulse = room + 4 * nrow, .v = room + 5 * nrow};
    double *W = s.v + p->nv, *work = W + sim_delassus_diagonal_size(p), seconds = HUGE_VAL;
    sim_status status = sim_solver_accepts(w->solver, p, error);
    status = status ? status : sim_delassus_diagonal(p, W, error);
    if (status) {
        return status;
    }
    sim_regularise(p, SIM_RIGID, &w->law, W, room, room + nrow);
    sim_regularise(p, info->default_law, &w->law, W, room + 2 * nrow, room + 3 * nrow);
    for (int k = 0; k < w->request->repeat && !status; k++) {
        s = (sim_solution){.impulse = s.impulse, .v = s.v};
        double start = processor_seconds();
        status = sim_solver_solve(w->solver, p, &own, &s, error);
        seconds = fmin(seconds, processor_seconds() - start);
    }
    if (!status) {
        sim_judgement sum = {0};
        sim_reason reason = SIM_REASON_NONE;
        sim_judge(p, &rigid, &own, info->cone, s.v, s.impulse, work, &sum);
        sim_certificate e = sim_judgement_finish(&sum);
        sim_solver_confirm(w->solver, e.own, e.momentum, &s.outcome, &reason);
        print_solution(w, &s, &e, seconds, count_modes(p, s.impulse));
    }
    return status;
}

static sim_status solve_problem(problem_writer *w, const sim_problem *problem, sim_error *error) {
    sim_problem p = *problem;
    if (!w->request->guess) {
        p.v_guess = p.impulse_guess = NULL;
    }
    size_t size = 5 * (size_t)p.nrow + (size_t)p.nv + sim_delassus_diagonal_size(&p) + sim_judge_work(&p);
    double *room = calloc(size + 1, sizeof *room);
    sim_status status = room ? solve_in(w, &p, room, error) : SIM_NO_RESOURCE;
    free(room);
    return status;
}

static sim_status write_problem(problem_writer *w, const sim_problem *problem, sim_error *error) {
    char path[PATH_MAX], title[PATH_MAX];
    const char *slash = strrchr(w->request->out, '/'), *name = slash ? slash + 1 : w->request->out;
    snprintf(path, sizeof path, "%s_%03d.hdf5", w->request->out, w->count);
    snprintf(title, sizeof title, "%s, problem %d", name, w->count);
    sim_problem_file *file = sim_problem_file_create_under(problem, &w->law, title, "study/compare.py", error);
    sim_status status = file ? sim_problem_file_write(file, path, error) : error->status;
    sim_problem_file_free(file);
    return status;
}

/* The problems of the present state. */
static sim_status write_state(problem_writer *w, int run, sim_error *error) {
    const sim_model *m = sim_world_model(w->asked);
    const request *r = w->request;
    sim_status status = sim_world_set_state(w->asked, sim_world_state(w->world), error);
    for (int k = 0; k < (r->wrenches ? r->wrenches : 1) && !status; k++) {
        double *applied = sim_world_applied(w->asked);
        if (r->wrenches) {
            apply_wrenches(w, m, applied);
        }
        sim_problem *problem = sim_world_problem(w->asked, error);
        memset(applied, 0, (size_t)m->nv * sizeof *applied);
        if (!problem) {
            return error->status ? error->status : sim_fail(error, SIM_FAILED, "nothing touches");
        }
        int contacts = count_contacts(problem);
        if (r->runs && contacts == 0) {
            w->idle++;
        } else {
            status = (r->solver ? solve_problem : write_problem)(w, problem, error);
            w->run[w->count] = run;
            w->contacts[w->count++] = contacts;
        }
        sim_problem_free(problem);
    }
    return status;
}

/* PREFIX_000.h5 */
static const char *checkpoint_path(char path[PATH_MAX], const char *prefix, int state) {
    snprintf(path, PATH_MAX, "%s_%03d.h5", prefix, state);
    return path;
}

/* A single random start, or with `place` alone a random state each time; else the next state in time. */
static sim_status move_on(problem_writer *w, int state, sim_error *error) {
    const request *r = w->request;
    char path[PATH_MAX];
    if (r->from) {
        return sim_checkpoint_read(checkpoint_path(path, r->from, state * (r->between ? r->between : 1)), w->scene,
                                   w->world, error);
    }
    if (r->place && (!r->runs || state == 0)) {
        return place_state(w, error);
    }
    return state ? advance(w->world, r->between, error) : SIM_OK;
}

static sim_status write_all(problem_writer *w, sim_error *error) {
    const request *r = w->request;
    int runs = r->runs ? r->runs : 1;
    size_t room = (size_t)(runs * r->states * (r->wrenches ? r->wrenches : 1)) + 1;
    w->run = calloc(room, sizeof *w->run);
    w->contacts = calloc(room, sizeof *w->contacts);
    sim_status status = w->run && w->contacts ? advance(w->world, r->from ? 0 : r->settle, error) : SIM_NO_RESOURCE;
    for (int run = 0; run < runs && !status; run++) {
        for (int s = 0; s < r->states && !status; s++) {
            char path[PATH_MAX];
            status = move_on(w, s, error);
            if (!status && r->keep) {
                status = sim_checkpoint_write(checkpoint_path(path, r->keep, s), w->scene, w->world, error);
            }
            status = status ? status : write_state(w, run, error);
        }
    }
    return status;
}

/* The options of the scene with a solver that uses all data of a problem. */
static sim_options options_with_all_data(const sim_options *settling) {
    sim_options o = *settling;
    for (int k = 0; k < sim_solver_count(); k++) {
        if (sim_solver_at(k)->bodies) {
            o.solver = sim_solver_at(k);
            o.solver_option = NULL;
        }
    }
    return o;
}

static void print_list(const char *name, const int *list, int count) {
    printf(", \"%s\": [", name);
    for (int k = 0; k < count; k++) {
        printf("%s%d", k ? ", " : "", list[k]);
    }
    putchar(']');
}

static void print_facts(const problem_writer *w, const sim_model *m) {
    int moving = 0;
    for (int b = 1; b < m->nbody; b++) {
        moving += m->body[b].nv > 0;
    }
    printf("{\"bodies\": %d, \"velocities\": %d, \"idle\": %d", moving, m->nv, w->idle);
    print_list("run", w->run, w->count);
    print_list("contacts", w->contacts, w->count);
    printf("}\n");
}

static sim_status write_scene(const request *r, sim_error *error) {
    sim_scene *scene = sim_scene_load(r->scene, &r->overrides, NULL, error);
    sim_options options = scene ? options_with_all_data(&scene->options) : sim_options_default();
    problem_writer w = {.request = r, .scene = scene, .random = {20240601}};
    w.solver = scene && r->solver ? create_solver(r->solver, error) : NULL;
    bool ready = scene && (w.solver || !r->solver);
    w.world = ready ? sim_world_create(scene->model, &scene->options, error) : NULL;
    w.asked = w.world ? sim_world_create(scene->model, &options, error) : NULL;
    sim_status status = w.asked ? SIM_OK : error->status;
    if (!status) {
        w.law = scene->options.law;
        printf(r->solver ? "[" : "");
        status = write_all(&w, error);
    }
    if (!status && r->solver) {
        printf("]\n");
    } else if (!status) {
        print_facts(&w, scene->model);
    }
    sim_solver_free(w.solver);
    free(w.run);
    free(w.contacts);
    sim_world_free(w.asked);
    sim_world_free(w.world);
    sim_scene_free(scene);
    return status;
}

/* ---- the command line ---- */

enum { SET, SETTLE, STATES, BETWEEN, RUNS, PLACE, WRENCHES, FORCE, ARM, KEEP, FROM, SOLVER, REPEAT, GUESS };
static const struct option long_options[] = {
    {"set", required_argument, NULL, SET},
    {"settle", required_argument, NULL, SETTLE},
    {"states", required_argument, NULL, STATES},
    {"between", required_argument, NULL, BETWEEN},
    {"runs", required_argument, NULL, RUNS},
    {"place", required_argument, NULL, PLACE},
    {"wrenches", required_argument, NULL, WRENCHES},
    {"force", required_argument, NULL, FORCE},
    {"arm", required_argument, NULL, ARM},
    {"keep", required_argument, NULL, KEEP},
    {"from", required_argument, NULL, FROM},
    {"solver", required_argument, NULL, SOLVER},
    {"repeat", required_argument, NULL, REPEAT},
    {"guess", no_argument, NULL, GUESS},
    {NULL, 0, NULL, 0},
};

static bool read_option(request *r, const char **set, int which) {
    int *count[] = {[SETTLE] = &r->settle, [STATES] = &r->states,     [BETWEEN] = &r->between,
                    [RUNS] = &r->runs,     [WRENCHES] = &r->wrenches, [REPEAT] = &r->repeat};
    if (which == SET) {
        set[r->overrides.count++] = optarg;
    } else if (which == PLACE) {
        r->place = strcmp(optarg, "nut") == 0 ? place_nut : place_balls;
    } else if (which == FORCE) {
        r->force = atof(optarg);
    } else if (which == ARM) {
        r->arm = atof(optarg);
    } else if (which == KEEP) {
        r->keep = optarg;
    } else if (which == FROM) {
        r->from = optarg;
    } else if (which == SOLVER) {
        r->solver = optarg;
    } else if (which == GUESS) {
        r->guess = 1;
    } else if (which >= 0 && which <= REPEAT && count[which]) {
        *count[which] = atoi(optarg);
    } else {
        return false;
    }
    return true;
}

int main(int count, char **arguments) {
    request r = {.states = 1, .repeat = 1};
    sim_error error = {0};
    const char **set = calloc((size_t)count, sizeof *set);
    bool good = set != NULL;
    for (int which; good && (which = getopt_long(count, arguments, "", long_options, NULL)) != -1;) {
        good = read_option(&r, set, which);
    }
    if (!good || count - optind != 2) {
        fprintf(stderr, "usage: step_problems SCENE FOLDER/NAME [OPTION]...\n");
        free(set);
        return SIM_BAD_INPUT;
    }
    r.scene = arguments[optind];
    r.out = arguments[optind + 1];
    r.overrides.set = set;
    sim_status status = write_scene(&r, &error);
    if (status) {
        fprintf(stderr, "step_problems: error: %s\n", error.text[0] ? error.text : "no memory");
    }
    free(set);
    return (int)status;
}
