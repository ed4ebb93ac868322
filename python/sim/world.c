/* Worlds: creation, steps, states. */
#include "module.h"

#include <time.h>

bool world_is_free(const WorldObject *world) {
    if (world->busy) {
        PyErr_SetString(Error, "the world is busy: another thread steps it");
    }
    return !world->busy;
}

bool world_sync(WorldObject *w) {
    if (!world_is_free(w)) {
        return false;
    }
    const sim_state *now = sim_world_state(w->world);
    size_t q = (size_t)w->q.count * sizeof(double), v = (size_t)w->v.count * sizeof(double);
    if (memcmp(now->q, w->q.data, q) == 0 && memcmp(now->v, w->v.data, v) == 0) {
        return true;
    }
    sim_state wanted = *now;
    wanted.q = w->q.data;
    wanted.v = w->v.data;
    wanted.trail = NULL;  /* the steps before led elsewhere */
    wanted.sensor = NULL; /* read anew */
    sim_error error;
    if (sim_world_set_state(w->world, &wanted, &error)) {
        raise_error(&error);
        return false;
    }
    world_show(w);
    return true;
}

void world_show(WorldObject *w) {
    const sim_state *now = sim_world_state(w->world);
    memcpy(w->q.data, now->q, (size_t)w->q.count * sizeof(double));
    memcpy(w->v.data, now->v, (size_t)w->v.count * sizeof(double));
    memcpy(w->sensor.data, now->sensor, (size_t)w->sensor.count * sizeof(double));
}

/* ---- creation ---- */

static WorldObject *new_world(PyTypeObject *type, SceneObject *scene, PyObject *keywords) {
    double solver_option[MAX_SOLVER_OPTIONS];
    sim_options options = scene->scene->options;
    if (!parse_world_options(keywords, &options, solver_option)) {
        return NULL;
    }
    WorldObject *self = (WorldObject *)type->tp_alloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->scene = (SceneObject *)Py_NewRef(scene);
    const sim_model *m = scene->scene->model;
    sim_error error;
    self->world = sim_world_create(m, &options, &error);
    if (!self->world) {
        raise_error(&error);
    } else if (!block_create(&self->q, m->nq) && !block_create(&self->v, m->nv) &&
               !block_create(&self->sensor, m->nsensor_value) && (self->recorders = PyList_New(0)) &&
               (self->sensors = sensor_mapping(scene, &self->sensor))) {
        world_show(self);
        return self;
    }
    Py_DECREF(self);
    return NULL;
}

static PyObject *world_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    if (PyTuple_GET_SIZE(args) != 1) {
        PyErr_SetString(PyExc_TypeError, "World takes a scene, or what sim.load takes, and options by name");
        return NULL;
    }
    PyObject *scene = Py_NewRef(PyTuple_GET_ITEM(args, 0));
    if (!PyObject_TypeCheck(scene, &SceneType)) {
        PyObject *package = PyImport_ImportModule("sim"),
                 *loaded = package ? PyObject_CallMethod(package, "load", "O", scene) : NULL;
        Py_XDECREF(package);
        Py_DECREF(scene);
        scene = loaded;
    }
    if (scene && !PyObject_TypeCheck(scene, &SceneType)) {
        PyErr_SetString(PyExc_TypeError, "a sim.Scene is expected");
        Py_CLEAR(scene);
    }
    WorldObject *self = scene ? new_world(type, (SceneObject *)scene, keywords) : NULL;
    Py_XDECREF(scene);
    return (PyObject *)self;
}

static void world_dealloc(PyObject *object) {
    WorldObject *self = (WorldObject *)object;
    if (self->weakrefs) {
        PyObject_ClearWeakRefs(object);
    }
    recorders_close(self);
    Py_XDECREF(self->sensors);
    block_free(&self->q);
    block_free(&self->v);
    block_free(&self->sensor);
    sim_derived_free(self->derived);
    sim_step_derivatives_free(self->derivatives);
    sim_world_free(self->world);
    Py_XDECREF(self->scene);
    Py_TYPE(object)->tp_free(object);
}

/* ---- steps ---- */

double monotonic_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time between looks at signals, s. */
static const double SIGNAL_PERIOD = 0.05;

/* Up to n steps without the GIL, fewer where a signal may wait; their number. */
static int64_t step_for_a_while(WorldObject *w, int64_t n, sim_status *status, sim_error *error) {
    int64_t done = 0;
    w->busy = true;
    Py_BEGIN_ALLOW_THREADS double until = n > 1 ? monotonic_seconds() + SIGNAL_PERIOD : 0;
    while (done < n && (*status = sim_world_step(w->world, error)) == SIM_OK) {
        done++;
        if (done < n && monotonic_seconds() > until) {
            break;
        }
    }
    Py_END_ALLOW_THREADS w->busy = false;
    return done;
}

static PyObject *world_step(PyObject *object, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"n", NULL};
    WorldObject *w = (WorldObject *)object;
    long long n = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|L:step", (char **)names, &n)) {
        return NULL;
    }
    if (n < 0) {
        return PyErr_Format(InputError, "a world makes 0 or more steps, not %lld", n);
    }
    if (!world_sync(w)) {
        return NULL;
    }
    sim_status status = SIM_OK;
    sim_error error;
    while (n > 0 && status == SIM_OK) {
        n -= step_for_a_while(w, recorders_room(w, n), &status, &error);
        world_show(w);
        if (status == SIM_OK && !recorders_write(w)) {
            return NULL;
        }
        if (status == SIM_OK && n > 0 && PyErr_CheckSignals()) {
            return NULL;
        }
    }
    return status ? raise_step_error(w->world, &error) : Py_NewRef(Py_None);
}

static PyObject *world_reset(PyObject *object, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"keyframe", NULL};
    WorldObject *w = (WorldObject *)object;
    PyObject *keyframe = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:reset", (char **)names, &keyframe) || !world_is_free(w)) {
        return NULL;
    }
    int index = keyframe == Py_None ? -1 : scene_index(w->scene, "keyframes", keyframe);
    if (index < 0 && PyErr_Occurred()) {
        return NULL;
    }
    sim_world_start(w->world, index);
    world_show(w);
    Py_RETURN_NONE;
}

static PyObject *world_html(PyObject *object, PyObject *none) {
    (void)none;
    return call_python("sim._page", "_describe_world", object);
}

static PyObject *world_reduce(PyObject *object, PyObject *none) {
    (void)none;
    return call_python("sim._load", "_reduce_world", object);
}

static const PyMethodDef world_methods[] = {
    {"step", (PyCFunction)(void (*)(void))world_step, METH_VARARGS | METH_KEYWORDS,
     "step($self, /, n=1)\n--\n\n"
     "Make n steps of dt. The GIL is released meanwhile, and Ctrl-C stops between two steps.\n\n"
     "Raises StepError where a step fails: the world is then as it was before that step."},
    {"reset", (PyCFunction)(void (*)(void))world_reset, METH_VARARGS | METH_KEYWORDS,
     "reset($self, /, keyframe=None)\n--\n\n"
     "Go to the initial state, or to that of a keyframe (name or number). Inputs of actuators are those\n"
     "of the scene again, applied forces zero."},
    {"inverse_kinematics", (PyCFunction)(void (*)(void))world_inverse_kinematics, METH_VARARGS | METH_KEYWORDS,
     "inverse_kinematics($self, /, goals, q=None, *, hold=(), tolerance=1e-12, radius=0.2, starts=60, "
     "max_iterations=300)\n--\n\n"
     "Coordinates within the joint ranges at which sites and bodies stand at goals: a dict from the name of a site or\n"
     "body to its position [3], or to its pose [4, 4]. The world stays as it is.\n\n"
     "q          where the search begins; None: the coordinates of the world\n"
     "hold       joints that stay; free joints always do\n"
     "tolerance  m: of every component of position, and of rotation times `radius` (m)\n"
     "starts     searches: from q, then from places all over the ranges, until one reaches\n\n"
     "Returns a Reach. Releases the GIL."},
    {"push", (PyCFunction)(void (*)(void))world_push, METH_VARARGS | METH_KEYWORDS,
     "push($self, /, body, force, point=None, *, moment=None)\n--\n\n"
     "Add a force [3] in world axes, at a point given in the frame of the body (None: its origin), and a moment, to\n"
     "`wrenches`. They stay until `wrenches` is changed: world.wrenches = 0 ends them all."},
    {"switch", (PyCFunction)(void (*)(void))world_switch, METH_VARARGS | METH_KEYWORDS,
     "switch($self, /, constraint, to)\n--\n\n"
     "Switch a constraint (name or number) \"off\", \"on\", or on to \"hold\" the relative pose, point, distance or\n"
     "offset of now: a grasp, a latch. True and False are on and off."},
    {"record", (PyCFunction)(void (*)(void))world_record, METH_VARARGS | METH_KEYWORDS,
     "record($self, /, path, every=None)\n--\n\n"
     "Record what the scene lists from now on into a file: .csv, .h5 (HDF5), or .html, a page for a browser.\n\n"
     "Steps write a record where their number divides by `every` (None: that of the scene, or 60 frames a second\n"
     "of a page), beginning now, until the Recorder is closed or the world ends. Use it in a `with`."},
    {"_repr_html_", world_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nA table for notebooks."},
    {"__reduce__", world_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle and copy: a world of the same scene and options, in the same state."},
    {"joint", world_joint, METH_O,
     "joint($self, joint, /)\n--\n\nA joint by name or number: a Joint, whose q and v are parts of those of the "
     "world."},
    {"collide", world_collide, METH_NOARGS,
     "collide($self, /)\n--\n\n"
     "Contacts of shapes that touch now, or will within a step: an array like `contacts`, without impulses."},
    {"overlaps", world_overlaps, METH_NOARGS,
     "overlaps($self, /)\n--\n\nBodies that overlap now: a structured array of body [2], shape [2] and depth, m."},
    {"ray", (PyCFunction)(void (*)(void))world_ray, METH_VARARGS | METH_KEYWORDS,
     "ray($self, /, origin, direction, range=1000000.0, *, but=None)\n--\n\n"
     "Distance along a ray to the first shape with contacts, and the number of that shape: (inf, None) where\n"
     "there is none within the range. Shapes of the body `but` are passed over."},
    {"save", (PyCFunction)(void (*)(void))world_save, METH_VARARGS | METH_KEYWORDS,
     "save($self, /, path)\n--\n\nWrite the state as a checkpoint, from which the program resumes, too."},
    {"restore", (PyCFunction)(void (*)(void))world_restore, METH_VARARGS | METH_KEYWORDS,
     "restore($self, /, path)\n--\n\n"
     "Read the state from a checkpoint, of the program or of `save`; refused if it is of another model, step or "
     "solver."},
    {"problem", world_problem, METH_NOARGS,
     "problem($self, /)\n--\n\nThe contact problem of the next step: a Problem. The state stays as it is."},
    {0},
};

enum { MAX_METHODS = 40 };

/* All methods, of several files, as one list. */
static PyMethodDef all_methods[MAX_METHODS + 1];

static void gather_methods(void) {
    const PyMethodDef *const lists[] = {world_methods, dynamics_methods, derivative_methods};
    int count = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        for (const PyMethodDef *method = lists[k]; method->ml_name && count < MAX_METHODS; method++) {
            all_methods[count++] = *method;
        }
    }
}

int world_add(PyObject *module) {
    gather_methods();
    return PyModule_AddType(module, &WorldType);
}

static PyObject *world_repr(PyObject *object) {
    WorldObject *w = (WorldObject *)object;
    const char *name = w->scene->scene->name;
    PyObject *time = PyFloat_FromDouble(sim_world_state(w->world)->time), *text = NULL;
    if (time) {
        text = PyUnicode_FromFormat("<sim.World %s%s%sat %R s, solver %s>", name ? "\"" : "", name ? name : "",
                                    name ? "\" " : "", time, sim_world_options(w->world)->solver->name);
        Py_DECREF(time);
    }
    return text;
}

PyDoc_STRVAR(
    world_help,
    "World(scene, *, solver=None, solver_options=None, dt=None, integrator=None, compliance=None, law=None, "
    "threads=None, contacts=None, contact_margin=None, tolerance=None, max_iterations=None, sleep=None, "
    "sleep_speed=None, sleep_time=None, budget_iterations=None, budget_time=None, step=None)\n--\n\n"
    "A model in motion: its state, and the step.\n\n"
    "scene: a Scene, or what sim.load takes. Options replace those of the scene; None keeps them:\n\n"
    "  solver             name of the contact solver: sim.solvers() has them all\n"
    "  solver_options     dict of its options\n"
    "  dt, step           time step, s; two names of one option\n"
    "  integrator         midpoint, symplectic, implicit, moreau, rk4\n"
    "  compliance         rigid, near-rigid, elastic\n"
    "  law                dict of numbers of the contact law: beta, sigma, push, threshold, carried, slop, undo\n"
    "  threads            1 to 64; the same bits for any number\n"
    "  contacts           False: shapes pass through each other\n"
    "  contact_margin     m: shapes with a gap up to this are in contact; nan: by their size\n"
    "  tolerance          of implicit integrators: error left in the acceleration, relative\n"
    "  max_iterations     of implicit integrators\n"
    "  sleep, sleep_speed, sleep_time    do steps leave out islands at rest? below this speed, for this time\n"
    "  budget_iterations, budget_time    limits on the contact solver in a step, 0: none");

PyTypeObject WorldType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.World",
    .tp_doc = world_help,
    .tp_basicsize = sizeof(WorldObject),
    .tp_weaklistoffset = offsetof(WorldObject, weakrefs),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = world_new,
    .tp_dealloc = world_dealloc,
    .tp_repr = world_repr,
    .tp_methods = all_methods,
    .tp_getset = world_attributes,
};
