/* The same clutter, here and in MuJoCo: what does a step cost, and how deep do things sink?
 *
 * scenes/bench/clutter.json comes to rest under `sap`; from that state every program and solver first goes on for some
 * steps of its own, then is timed: the same balls, boxes and walls, friction 1, steps of 10 ms.  MuJoCo's contacts are
 * as soft as it makes them by default.  Its iterations are those of the last step.
 *
 *     bench_mujoco [--quick | BODIES]     up to so many bodies, 160 if it is not said */
#include "scene/json/text.h"
#include "support/quick.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct plan {
    int settle, again, timed; /* steps: under sap, under whoever is timed, timed */
    double patience;          /* s of processor time for the last two */
} plan;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_scene *load(int bodies, const char *solver) {
    char ball[64], box[64], by[64];
    snprintf(ball, sizeof ball, "instances/0/repeat/counts/2=%d", bodies / 8);
    snprintf(box, sizeof box, "instances/1/repeat/counts/2=%d", bodies / 8);
    snprintf(by, sizeof by, "world/solver=%s", solver);
    const char *set[] = {ball, box, by};
    sim_scene_overrides overrides = {.count = 3, .set = set};
    sim_error error;
    sim_scene *s = sim_scene_load("scenes/bench/clutter.json", &overrides, NULL, &error);
    if (!s) {
        fprintf(stderr, "%s\n", error.text);
        exit(error.status);
    }
    return s;
}

static void row(int bodies, const char *program, const char *solver, double us, double contacts, double depth,
                double iterations) {
    printf("%6d %-13s %-17s %10.0f %9.0f %12.3f %11.1f\n", bodies, program, solver, 1e6 * us, contacts, 1e3 * depth,
           iterations);
    fflush(stdout);
}

/* ---- ours ---- */

static void measure_ours(int bodies, const char *solver, const sim_state *rest, const plan *p) {
    sim_scene *s = load(bodies, solver);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    double spent = 0, contacts = 0, depth = 0, iterations = 0, begin = seconds();
    int timed = 0;
    sim_world_set_state(w, rest, NULL);
    for (int k = 0; k < p->again && seconds() - begin < p->patience; k++) {
        sim_world_step(w, NULL);
    }
    for (begin = seconds(); timed < p->timed && spent < p->patience; timed++) {
        sim_world_step(w, NULL);
        const sim_step_info *info = sim_world_info(w);
        spent = seconds() - begin;
        contacts += info->contacts;
        iterations += info->solver_iterations;
        depth = fmax(depth, info->certificate.penetration);
    }
    row(bodies, "sim", solver, spent / timed, contacts / timed, depth, iterations / timed);
    sim_world_free(w);
    sim_scene_free(s);
}

/* ---- MuJoCo ---- */

static void put_shape(text *t, const sim_model *m, const sim_shape *shape) {
    const sim_body *b = &m->body[shape->body];
    const double *s = shape->size;
    sim_v3 p = shape->pose.p;
    if (shape->type == SIM_HALF_SPACE) {
        text_add(t, "<geom type='plane' size='5 5 1' ");
    } else if (shape->type == SIM_SPHERE) {
        text_add(t, "<geom type='sphere' size='%.17g' ", s[0]);
    } else {
        text_add(t, "<geom type='box' size='%.17g %.17g %.17g' ", s[0] / 2, s[1] / 2, s[2] / 2);
    }
    text_add(t, "pos='%.17g %.17g %.17g' friction='%g' ", p.x, p.y, p.z, m->material[shape->material].friction);
    if (b->nv) {
        text_add(t, "mass='%.17g' ", b->inertia.mass);
    }
    text_add(t, "/>\n");
}

static void put_shapes(text *t, const sim_model *m, int body) {
    for (int k = 0; k < m->nshape; k++) {
        int at = m->shape[k].body;
        if (at == body || (body == 0 && m->body[at].nv == 0)) {
            put_shape(t, m, &m->shape[k]);
        }
    }
}

static mjModel *translate(const sim_scene *s) {
    const sim_model *m = s->model;
    text t = {0};
    text_add(&t, "<mujoco><option timestep='%g'/><size njmax='%d' nconmax='%d'/><worldbody>\n", s->options.step,
             20 * m->nbody, 5 * m->nbody);
    put_shapes(&t, m, 0);
    for (int i = 1; i < m->nbody; i++) {
        if (m->body[i].nv) {
            text_add(&t, "<body><freejoint/>\n");
            put_shapes(&t, m, i);
            text_add(&t, "</body>\n");
        }
    }
    text_add(&t, "</worldbody></mujoco>\n");
    static mjVFS files;
    char why[500] = "no memory";
    mj_defaultVFS(&files);
    int length = (int)t.length, no = mj_makeEmptyFileVFS(&files, "clutter.xml", length);
    mjModel *model = NULL;
    if (!no) {
        memcpy(files.filedata[mj_findFileVFS(&files, "clutter.xml")], t.start, (size_t)length);
        model = mj_loadXML("clutter.xml", &files, why, sizeof why);
        mj_deleteVFS(&files);
    }
    free(t.start);
    if (!model) {
        fprintf(stderr, "MuJoCo: %s\n", why);
        exit(1);
    }
    return model;
}

static double deepest(const mjData *d) {
    double depth = 0;
    for (int k = 0; k < d->ncon; k++) {
        depth = fmax(depth, -d->contact[k].dist);
    }
    return depth;
}

static void measure_theirs(int bodies, const mjModel *plain, int solver, int cone, const sim_state *rest,
                           const plan *p) {
    static const char *const name[] = {[mjSOL_PGS] = "PGS", [mjSOL_CG] = "CG", [mjSOL_NEWTON] = "Newton"};
    char what[64], version[32];
    mjModel *m = mj_copyModel(NULL, plain);
    m->opt.solver = solver;
    m->opt.cone = cone;
    mjData *d = mj_makeData(m);
    memcpy(d->qpos, rest->q, (size_t)m->nq * sizeof *d->qpos);
    memcpy(d->qvel, rest->v, (size_t)m->nv * sizeof *d->qvel);
    double begin = seconds(), spent = 0, contacts = 0, depth = 0;
    int timed = 0;
    for (int k = 0; k < p->again && seconds() - begin < p->patience; k++) {
        mj_step(m, d);
    }
    for (begin = seconds(); timed < p->timed && spent < p->patience; timed++) {
        mj_step(m, d);
        spent = seconds() - begin;
        contacts += d->ncon;
        depth = fmax(depth, deepest(d));
    }
    snprintf(what, sizeof what, "%s, %s", name[solver], cone == mjCONE_PYRAMIDAL ? "pyramids" : "cones");
    snprintf(version, sizeof version, "MuJoCo %s", mj_versionString());
    row(bodies, version, what, spent / timed, contacts / timed, depth, d->solver_iter);
    mj_deleteData(d);
    mj_deleteModel(m);
}

static void measure(int bodies, const plan *p) {
    sim_scene *s = load(bodies, "sap");
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    for (int k = 0; k < p->settle; k++) {
        sim_world_step(w, NULL);
    }
    const sim_state *rest = sim_world_state(w);
    mjModel *m = translate(s);
    measure_ours(bodies, "sap", rest, p);
    measure_ours(bodies, "pgs", rest, p);
    measure_theirs(bodies, m, mjSOL_NEWTON, mjCONE_PYRAMIDAL, rest, p);
    measure_theirs(bodies, m, mjSOL_NEWTON, mjCONE_ELLIPTIC, rest, p);
    measure_theirs(bodies, m, mjSOL_CG, mjCONE_PYRAMIDAL, rest, p);
    mj_deleteModel(m);
    sim_world_free(w);
    sim_scene_free(s);
}

int main(int count, char **word) {
    static const int size[] = {40, 80, 160, 320, 640};
    int quick = asked_quick(count, word), most = quick ? 40 : count > 1 ? atoi(word[1]) : 160;
    plan p = quick ? (plan){50, 2, 5, 0.1} : (plan){1000, 100, 100, 10};
    printf("sim %s, %s\n%6s %-13s %-17s %10s %9s %12s %11s\n", sim_version(), sim_build_info(), "bodies", "program",
           "solver", "us a step", "contacts", "depth [mm]", "iterations");
    for (size_t k = 0; k < sizeof size / sizeof *size && size[k] <= most; k++) {
        measure(size[k], &p);
    }
    return 0;
}
