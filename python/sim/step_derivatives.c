/* Derivatives of the last step of a world, as a dict of arrays. */
#include "module.h"

#define WORLD(object) ((WorldObject *)(object))

static const sim_model *model_of(const WorldObject *w) { return w->scene->scene->model; }

static bool is_given(PyObject *value) { return value && value != Py_None; }

/* An array of the shape under a name in a dict, and the place of its numbers; NULL: with an exception. */
static double *add_array(PyObject *to, const char *name, npy_intp rows, npy_intp columns) {
    const npy_intp shape[2] = {rows, columns};
    PyObject *array = PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
    bool added = array && PyDict_SetItemString(to, name, array) == 0;
    Py_XDECREF(array); /* the dict holds it */
    return added ? PyArray_DATA((PyArrayObject *)array) : NULL;
}

static bool add_object(PyObject *to, const char *name, PyObject *value) {
    bool added = value && PyDict_SetItemString(to, name, value) == 0;
    Py_XDECREF(value);
    return added;
}

/* The matrices by inputs lie one after the other, and each becomes an array. */
static bool add_inputs(PyObject *to, int rows, int actuators, const double *by_input) {
    static const char *const names[SIM_INPUTS] = {"ctrl", "targets", "rates", "feedforward"};
    size_t size = (size_t)rows * (size_t)actuators;
    for (int k = 0; k < SIM_INPUTS; k++) {
        double *numbers = add_array(to, names[k], rows, actuators);
        if (!numbers) {
            return false;
        }
        memcpy(numbers, by_input + (size_t)k * size, size * sizeof *numbers);
    }
    return true;
}

/* ---- parameters ---- */

/* Parameters of the caller, one a column. */
typedef struct parameter_list {
    sim_parameter *list;
    int count;
} parameter_list;

/* Kinds in the order of sim_parameter_kind, and the names that their index is of. */
static const struct {
    const char *name, *of;
} PARAMETER_KINDS[SIM_PARAMETER_KINDS] = {{"mass", "bodies"},        {"inertia", "bodies"},
                                          {"friction", "materials"}, {"stiffness", "materials"},
                                          {"placement", "shapes"},   {"size", "shapes"}};

static int parameter_kind_of(const char *name) {
    for (int k = 0; k < SIM_PARAMETER_KINDS; k++) {
        if (strcmp(name, PARAMETER_KINDS[k].name) == 0) {
            return k;
        }
    }
    PyErr_Format(InputError, "no parameter is called \"%s\": mass, inertia, friction, stiffness, placement, size",
                 name);
    return -1;
}

/* (kind, name) or (kind, name, component): one column, or all of its components. */
static bool add_parameter(const SceneObject *scene, PyObject *item, parameter_list *to) {
    const char *name;
    PyObject *of, *tuple = PySequence_Tuple(item);
    int component = 0, kind = -1, index = -1;
    bool whole = tuple && PyTuple_GET_SIZE(tuple) < 3;
    if (tuple && PyArg_ParseTuple(tuple, "sO|i;a parameter is (kind, name) or (kind, name, component)", &name, &of,
                                  &component)) {
        kind = parameter_kind_of(name);
        index = kind < 0 ? -1 : scene_index(scene, PARAMETER_KINDS[kind].of, of);
    }
    Py_XDECREF(tuple);
    if (index < 0) {
        return false;
    }
    int most = sim_parameter_components((sim_parameter_kind)kind);
    if (component < 0 || component >= most) {
        PyErr_Format(InputError, "the parameter %s has the components 0 to %d, not %d", PARAMETER_KINDS[kind].name,
                     most - 1, component);
        return false;
    }
    int first = whole ? 0 : component, end = whole ? most : component + 1;
    sim_parameter *more = PyMem_Realloc(to->list, (size_t)(to->count + end - first + 1) * sizeof *more);
    if (!more) {
        PyErr_NoMemory();
        return false;
    }
    to->list = more;
    for (int k = first; k < end; k++) {
        to->list[to->count++] = (sim_parameter){(sim_parameter_kind)kind, index, k};
    }
    return true;
}

static bool read_parameters(const SceneObject *scene, PyObject *given, parameter_list *to) {
    PyObject *items = is_given(given) ? PySequence_Fast(given, "parameters are a list of (kind, name)") : NULL;
    bool ok = items || !is_given(given);
    for (Py_ssize_t k = 0; ok && items && k < PySequence_Fast_GET_SIZE(items); k++) {
        ok = add_parameter(scene, PySequence_Fast_GET_ITEM(items, k), to);
    }
    Py_XDECREF(items);
    return ok;
}

/* ---- derivatives of a step ---- */

/* Rows and columns of the derivative by the state. */
static void jacobian_sizes(const WorldObject *w, bool memory, int *rows, int *columns) {
    sim_world_memory_sizes(w->world, columns, rows);
    *rows = 2 * model_of(w)->nv + (memory ? *rows : 0);
    *columns = 2 * model_of(w)->nv + (memory ? *columns : 0);
}

/* Of the last step, into a dict. */
static bool add_step_derivatives(WorldObject *w, const parameter_list *by, bool memory, double near, PyObject *to,
                                 double *by_input) {
    const sim_model *m = model_of(w);
    int rows, columns;
    jacobian_sizes(w, memory, &rows, &columns);
    sim_error error;
    if (!w->derivatives && !(w->derivatives = sim_step_derivatives_create(m, &error))) {
        raise_error(&error);
        return false;
    }
    sim_step_jacobian out = {.memory = memory,
                             .near = near,
                             .by_state = add_array(to, "state", rows, columns),
                             .by_applied = add_array(to, "applied", rows, m->nv),
                             .by_friction = add_array(to, "friction", rows, m->nmaterial),
                             .parameter = by->list,
                             .parameters = by->count,
                             .by_parameter = add_array(to, "parameters", rows, by->count),
                             .by_input = by_input};
    if (!out.by_state || !out.by_applied || !out.by_friction || !out.by_parameter) {
        return false;
    }
    if (sim_world_step_derivatives(w->world, w->derivatives, &out, &error)) {
        raise_error(&error);
        return false;
    }
    return add_object(to, "residual", PyFloat_FromDouble(out.residual)) &&
           add_object(to, "kinks", PyLong_FromLong(out.kinks)) &&
           (!by_input || add_inputs(to, rows, m->nactuator, by_input));
}

static PyObject *step_derivatives(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"parameters", "memory", "near", NULL};
    PyObject *given = NULL;
    int memory = 0, rows, columns;
    double near = 0;
    parameter_list by = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Opd:step_derivatives", (char **)names, &given, &memory, &near) ||
        !world_sync(WORLD(o)) || !read_parameters(WORLD(o)->scene, given, &by)) {
        PyMem_Free(by.list);
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    bool inputs = sim_world_options(WORLD(o)->world)->integrator != SIM_RK4;
    jacobian_sizes(WORLD(o), memory, &rows, &columns);
    size_t size = inputs ? (size_t)SIM_INPUTS * (size_t)rows * (size_t)m->nactuator : 0;
    double *by_input = inputs ? PyMem_Calloc(size + 1, sizeof *by_input) : NULL;
    PyObject *result = inputs && !by_input ? PyErr_NoMemory() : PyDict_New();
    if (result && !add_step_derivatives(WORLD(o), &by, memory, near, result, by_input)) {
        Py_CLEAR(result);
    }
    PyMem_Free(by_input);
    PyMem_Free(by.list);
    return result;
}

static PyObject *copy_memory(PyObject *o, PyObject *none) {
    (void)none;
    if (!world_sync(WORLD(o))) {
        return NULL;
    }
    int before, now;
    sim_world_memory_sizes(WORLD(o)->world, &before, &now);
    const npy_intp size = now;
    PyObject *result = PyArray_ZEROS(1, &size, NPY_DOUBLE, 0);
    if (result) {
        sim_world_memory(WORLD(o)->world, PyArray_DATA((PyArrayObject *)result));
    }
    return result;
}

#define METHOD(name, help)                                                                                             \
    { #name, (PyCFunction)(void (*)(void))name, METH_VARARGS | METH_KEYWORDS, help }

PyMethodDef derivative_methods[] = {
    METHOD(
        step_derivatives,
        "step_derivatives($self, /, parameters=None, memory=False, near=0.0)\n--\n\n"
        "Derivatives of the last step, exact: a dict of matrices whose rows are the new (q, v), 2 nv: \"state\" by\n"
        "the old (q, v), \"applied\", \"friction\" [2 nv, 1 + materials], and \"ctrl\", \"targets\", \"rates\",\n"
        "\"feedforward\" [2 nv, nactuator] (not with rk4).  Positions are tangent vectors, as in advance.\n"
        "\"parameters\" has a column for each of (\"mass\", body), (\"friction\" or \"stiffness\", material),\n"
        "(\"inertia\", body, k), (\"placement\", shape, k), (\"size\", shape, k); without the component k all 10, 6 or "
        "3: mass, first moments,\n"
        "moments xx yy zz xy xz yz at the body's origin; moves and turns along the body's axes.  With `memory` rows "
        "and\n"
        "the columns of \"state\" are those of q, v and memory(): only these multiply from step to step.  "
        "\"residual\": the\n"
        "error of the linear systems; \"kinks\": actuators at an end of a range, and constraints between pieces of\n"
        "their law or within `near` (m/s) of that, where the derivative is that of one side.  Steps that have none are "
        "refused by name: "
        "sim.InputError."),
    {"memory", copy_memory, METH_NOARGS,
     "memory($self, /)\n--\n\n"
     "Numbers of the state besides q and v on which the next step depends: v one and two steps before, held forces,\n"
     "lasting forces of contacts and those a step before [nv] each; impulses of rows of joints [nv, 4] where there "
     "are\n"
     "any; impulses of contacts [n, 3].  Empty where there are no contact problems."},
    {0},
};
