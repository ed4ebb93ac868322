/* Rollouts: arrays of the caller to sim_rollout_run, and paths back as arrays. */
#include "module.h"

#include <stdatomic.h>

/* Ctrl-C, which the thread that called looks at twenty times a second. */
typedef struct interrupt {
    PyThreadState *thread;
    unsigned long caller;
    double next;
    atomic_bool seen;
} interrupt;

static bool is_interrupted(void *context) {
    interrupt *i = context;
    if (PyThread_get_thread_ident() == i->caller && !atomic_load(&i->seen) && monotonic_seconds() > i->next) {
        PyEval_RestoreThread(i->thread);
        atomic_store(&i->seen, PyErr_CheckSignals() != 0);
        i->thread = PyEval_SaveThread();
        i->next = monotonic_seconds() + 0.05;
    }
    return atomic_load(&i->seen);
}

/* Arguments as the library takes them, and the arrays that are made for it. */
typedef struct rollout_request {
    sim_rollout rollout;
    const SceneObject *scene;
    int threads;
    const sim_state **state;
    sim_state *state_item;
    PyObject *states; /* a list of State, or None */
    PyObject *paths[3];
} rollout_request;

static bool read_states(rollout_request *r) {
    if (r->states == Py_None) {
        return true;
    }
    size_t runs = (size_t)r->rollout.runs;
    if (!PyList_Check(r->states) || PyList_GET_SIZE(r->states) != r->rollout.runs) {
        PyErr_SetString(PyExc_TypeError, "states is a list with a state for each run");
        return false;
    }
    r->state = PyMem_Malloc((runs + 1) * sizeof *r->state);
    r->state_item = PyMem_Malloc((runs + 1) * sizeof *r->state_item);
    if (!r->state || !r->state_item) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t k = 0; k < runs; k++) {
        if (!state_read(PyList_GET_ITEM(r->states, (Py_ssize_t)k), r->scene->scene->model, &r->state_item[k])) {
            return false;
        }
        r->state[k] = &r->state_item[k];
    }
    r->rollout.state = r->state;
    return true;
}

/* Numbers of a contiguous array of doubles of that many items; None: NULL. */
static bool read_array(PyObject *value, const char *name, int64_t count, const double **numbers) {
    *numbers = NULL;
    if (value == Py_None) {
        return true;
    }
    if (!PyArray_Check(value) || PyArray_TYPE((PyArrayObject *)value) != NPY_DOUBLE ||
        !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)value) || PyArray_SIZE((PyArrayObject *)value) != count) {
        PyErr_Format(PyExc_TypeError, "%s is a contiguous array of %lld doubles", name, (long long)count);
        return false;
    }
    *numbers = PyArray_DATA((PyArrayObject *)value);
    return true;
}

static bool make_paths(rollout_request *r, bool sensors) {
    const sim_model *m = r->scene->scene->model;
    const int width[3] = {m->nq, m->nv, m->nsensor_value};
    double **const path[3] = {&r->rollout.q_path, &r->rollout.v_path, &r->rollout.sensor_path};
    for (int k = 0; k < 3; k++) {
        const npy_intp shape[3] = {r->rollout.runs, r->rollout.steps / r->rollout.every, width[k]};
        if (k == 2 && !sensors) {
            r->paths[k] = Py_NewRef(Py_None);
        } else if (!(r->paths[k] = PyArray_SimpleNew(3, shape, NPY_DOUBLE))) {
            return false;
        } else {
            *path[k] = PyArray_DATA((PyArrayObject *)r->paths[k]);
        }
    }
    return true;
}

static bool read_input(const char *name, sim_input *input) {
    static const char *const names[SIM_INPUTS] = {"ctrl", "targets", "rates", "feedforward"};
    for (int k = 0; k < SIM_INPUTS; k++) {
        if (strcmp(name, names[k]) == 0) {
            *input = (sim_input)k;
            return true;
        }
    }
    PyErr_Format(InputError, "no input is called \"%.60s\": ctrl, targets, rates, feedforward", name);
    return false;
}

/* Steps that runs took, and the failures of those that failed: {run: text}. */
static PyObject *collect_ends(const rollout_request *r) {
    const npy_intp runs = r->rollout.runs;
    PyObject *steps = PyArray_SimpleNew(1, &runs, NPY_INT64), *failures = PyDict_New();
    bool ok = steps && failures;
    for (npy_intp k = 0; ok && k < runs; k++) {
        const sim_rollout_end *end = &r->rollout.end[k];
        ((int64_t *)PyArray_DATA((PyArrayObject *)steps))[k] = end->steps;
        if (end->why.status) {
            PyObject *run = PyLong_FromSsize_t(k), *text = text_of(end->why.text);
            ok = run && text && !PyDict_SetItem(failures, run, text);
            Py_XDECREF(run);
            Py_XDECREF(text);
        }
    }
    PyObject *result = ok ? Py_BuildValue("(OOOOO)", r->paths[0], r->paths[1], r->paths[2], steps, failures) : NULL;
    Py_XDECREF(steps);
    Py_XDECREF(failures);
    return result;
}

static PyObject *run(rollout_request *r, const sim_options *options) {
    interrupt signals = {.caller = PyThread_get_thread_ident(), .next = monotonic_seconds() + 0.05};
    sim_error error;
    r->rollout.stop = is_interrupted;
    r->rollout.context = &signals;
    signals.thread = PyEval_SaveThread();
    sim_status status = sim_rollout_run(r->scene->scene->model, options, r->threads, &r->rollout, &error);
    PyEval_RestoreThread(signals.thread);
    if (atomic_load(&signals.seen)) {
        return NULL;
    }
    return status ? raise_error(&error) : collect_ends(r);
}

PyObject *rollout(PyObject *module, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"scene", "runs", "steps", "states",  "q",       "v",       "control",
                                        "input", "hold", "every", "threads", "sensors", "options", NULL};
    PyObject *scene, *q, *v, *control, *world_options;
    const char *input;
    int sensors;
    long long runs, steps, hold, every;
    rollout_request r = {.rollout = sim_rollout_default()};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!LLOOOOsLLipO!:_rollout", (char **)names, &SceneType, &scene,
                                     &runs, &steps, &r.states, &q, &v, &control, &input, &hold, &every, &r.threads,
                                     &sensors, &PyDict_Type, &world_options)) {
        return NULL;
    }
    if (runs < 0 || steps < 0 || hold < 1 || every < 1) {
        return PyErr_Format(InputError, "steps are 0 or more, hold and every 1 or more: not %lld, %lld, %lld", steps,
                            hold, every);
    }
    r.scene = (SceneObject *)scene;
    r.rollout.runs = runs;
    r.rollout.steps = steps;
    r.rollout.hold = hold;
    r.rollout.every = every;
    const sim_model *m = r.scene->scene->model;
    double solver_option[MAX_SOLVER_OPTIONS];
    sim_options options = r.scene->scene->options;
    r.rollout.end = PyMem_Calloc((size_t)runs + 1, sizeof *r.rollout.end);
    bool ok =
        r.rollout.end && parse_world_options(world_options, &options, solver_option) && read_states(&r) &&
        read_array(q, "q", runs * m->nq, &r.rollout.q) && read_array(v, "v", runs * m->nv, &r.rollout.v) &&
        read_array(control, "ctrl", runs * (steps / hold + (steps % hold != 0)) * m->nactuator, &r.rollout.control) &&
        read_input(input, &r.rollout.input) && make_paths(&r, sensors);
    PyObject *result = ok ? run(&r, &options) : !PyErr_Occurred() ? PyErr_NoMemory() : NULL;
    PyMem_Free(r.rollout.end);
    PyMem_Free(r.state);
    PyMem_Free(r.state_item);
    for (int k = 0; k < 3; k++) {
        Py_XDECREF(r.paths[k]);
    }
    return result;
}
