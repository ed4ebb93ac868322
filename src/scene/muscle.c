/* Muscles whose peak force or range of lengths follows from the model.
 *
 *     F0 = scale / |M^-1 J|,    J = (dl/dq)'                     at the reference state
 *     least, greatest l: the ends of  q' = -+ D^-1 J  within the ranges of the joints, from the reference state on
 *
 *     l       length of the actuator, m or rad
 *     M, D    mass matrix with armature, and its diagonal
 *
 * F0 makes the joints accelerate by `scale`.  The flow is that of an overdamped mechanism which the actuator alone
 * moves.  It ends at a stationary length, or at the ends of joints or of the actuator's tendon (projected gradient,
 * steps grow while they succeed).
 *
 * Reference: MuJoCo, Modeling, section Muscles (acc0, length range); there the ends come from a damped simulation.
 * Departures: equalities and ranges of other tendons do not stop the flow.
 * Cost: a mass matrix, and some hundred kinematics a muscle. */
#include "scene/loader/loader.h"

#include <math.h>
#include <sim/dynamics.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FLOW_STEPS = 5000 };
static const double FIRST_STEP = 0.05;      /* greatest change of a velocity-like coordinate, rad or m */
static const double MIN_STEP = 1e-10;       /* the same, where the flow has ended */
static const double FARTHEST_LENGTH = 1e6;  /* m or rad: beyond it there is no end */
static const double MIN_LENGTH_SPAN = 1e-9; /* m or rad */

typedef struct muscle_work {
    loader *loader;
    const node *at;
    const sim_model *model;
    sim_derived *d;
    double *M, *q, *next, *moment, *flow, *diagonal;
    int actuator;
    sim_range bodies; /* of its tree */
} muscle_work;

static double *take_memory(muscle_work *w, const sim_model *m) {
    w->model = m;
    w->d = sim_derived_create(m, NULL);
    w->M = calloc((size_t)m->nl + 2 * (size_t)m->nq + 3 * (size_t)m->nv + 1, sizeof *w->M);
    if (w->M) {
        w->q = w->M + m->nl;
        w->next = w->q + m->nq;
        w->moment = w->next + m->nq;
        w->flow = w->moment + m->nv;
        w->diagonal = w->flow + m->nv;
    }
    return w->d ? w->M : NULL;
}

/* Length and moments [nv] at q. */
static double measure_length(muscle_work *w, const double *q) {
    const sim_tree *t = &w->model->tree[w->model->actuator[w->actuator].tree];
    memset(w->moment, 0, (size_t)w->model->nv * sizeof *w->moment);
    sim_kinematics(w->d, w->bodies, q);
    return sim_actuator_length(w->d, w->actuator, q, w->moment + t->v0);
}

/* |M^-1 J|; M becomes its factor, the diagonal is kept. */
static double unit_acceleration(muscle_work *w) {
    const sim_model *m = w->model;
    measure_length(w, m->q_reference);
    sim_crba(w->d, w->bodies, NULL, NULL, w->M);
    sim_range dofs = sim_dof_range(m, w->bodies);
    for (int j = dofs.first; j < dofs.end; j++) {
        w->diagonal[j] = w->M[m->dof[j].row + m->dof[j].depth - 1];
    }
    sim_ltdl(m, w->bodies, w->M);
    memcpy(w->flow, w->moment, (size_t)m->nv * sizeof *w->flow);
    sim_ltdl_solve(m, w->bodies, w->M, w->flow);
    double sum = 0;
    for (int j = dofs.first; j < dofs.end; j++) {
        sum += w->flow[j] * w->flow[j];
    }
    return sqrt(sum);
}

/* ---- the flow ---- */

static double clamp_to_limits(const sim_dof *dof, double q) { return fmin(fmax(q, dof->limit.low), dof->limit.high); }

/* Coordinates into the ranges of their joints. */
static void keep_in_range(const muscle_work *w, double *q) {
    sim_range dofs = sim_dof_range(w->model, w->bodies);
    for (int j = dofs.first; j < dofs.end; j++) {
        const sim_dof *dof = &w->model->dof[j];
        if (dof->coordinate >= 0) {
            q[dof->coordinate] = clamp_to_limits(dof, q[dof->coordinate]);
        }
    }
}

/* Direction sign D^-1 J from q, without what leads out of ranges; its greatest component. */
static double find_flow(muscle_work *w, double sign) {
    double most = 0;
    sim_range dofs = sim_dof_range(w->model, w->bodies);
    for (int j = dofs.first; j < dofs.end; j++) {
        const sim_dof *dof = &w->model->dof[j];
        double rate = sign * w->moment[j] / w->diagonal[j], q = dof->coordinate < 0 ? 0 : w->q[dof->coordinate];
        bool stopped = dof->coordinate >= 0 && (rate > 0 ? q >= dof->limit.high : q <= dof->limit.low);
        w->flow[j] = stopped ? 0 : rate;
        most = fmax(most, fabs(w->flow[j]));
    }
    return most;
}

/* The last length as the actuator pushes (sign 1) or pulls (-1); infinite: there is none. */
static double follow_flow(muscle_work *w, double sign) {
    const sim_model *m = w->model;
    memcpy(w->q, m->q_reference, (size_t)m->nq * sizeof *w->q);
    memcpy(w->next, w->q, (size_t)m->nq * sizeof *w->q);
    keep_in_range(w, w->q);
    double step = FIRST_STEP, length = measure_length(w, w->q), most = find_flow(w, sign);
    for (int k = 0; k < MAX_FLOW_STEPS && most > 0 && step > MIN_STEP; k++) {
        if (!loader_spend(w->loader, w->bodies.end - w->bodies.first, w->at)) {
            return NAN;
        }
        sim_advance(m, w->bodies, w->q, w->flow, step / most, w->next);
        keep_in_range(w, w->next);
        double there = measure_length(w, w->next);
        if (!(sign * (there - length) > 0)) {
            step *= 0.5;
            continue;
        }
        length = there;
        step *= 1.5;
        memcpy(w->q, w->next, (size_t)m->nq * sizeof *w->q);
        most = find_flow(w, sign);
        if (fabs(length) > FARTHEST_LENGTH) {
            return sign * INFINITY;
        }
    }
    return length;
}

/* Ends of the range of its own tendon. */
static void cut_range(const sim_model *m, const sim_actuator *a, double *low, double *high) {
    if (a->transmission == SIM_BY_TENDON) {
        const sim_limit *limit = &m->tendon[a->tendon].limit;
        double first = a->gear * limit->low, second = a->gear * limit->high;
        *low = fmax(*low, fmin(first, second));
        *high = fmin(*high, fmax(first, second));
    }
}

/* ---- all of a model ---- */

static bool complete_muscle(loader *l, muscle_work *w, const muscle_entry *e) {
    /* peak force */
    sim_actuator *a = (sim_actuator *)&w->model->actuator[e->actuator]; /* nobody has seen the model yet */
    w->at = e->at;
    w->actuator = e->actuator;
    w->bodies = sim_tree_range(w->model, a->tree);
    double unit = unit_acceleration(w);
    if (e->scale > 0 && !(unit > 0 && isfinite(e->scale / unit))) {
        report_once(&l->report, e->at, "give it a \"force\"",
                    "the muscle \"%.80s\" moves nothing in the reference state: there is no force for its scale",
                    a->name);
        return false;
    }
    a->muscle.force = e->scale > 0 ? e->scale / unit : a->muscle.force;
    /* lengths */
    if (e->measure) {
        double low = follow_flow(w, -1), high = follow_flow(w, 1);
        if (l->stopped) {
            return false;
        }
        cut_range(w->model, a, &low, &high);
        if (!isfinite(low) || !isfinite(high) || !(high - low > MIN_LENGTH_SPAN)) {
            report_once(&l->report, e->at, "give it a \"length_range\"",
                        "the length of the muscle \"%.80s\" has no ends: from %g to %g", a->name, low, high);
            return false;
        }
        a->muscle.length_range[0] = low;
        a->muscle.length_range[1] = high;
    }
    return true;
}

void complete_muscles(loader *l) {
    muscle_work w = {.loader = l};
    if (!l->muscles || !loader_good(l)) {
        return;
    }
    if (take_memory(&w, l->scene->model)) {
        for (const muscle_entry *e = l->muscles; e && complete_muscle(l, &w, e); e = e->next) {
        }
    } else {
        l->report.no_memory = true;
    }
    sim_derived_free(w.d);
    free(w.M);
}
