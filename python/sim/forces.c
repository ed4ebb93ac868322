/* Forces of the caller on bodies, and switches of constraints. */
#include "module.h"

#define WORLD(object) ((WorldObject *)(object))

static npy_intp count_bodies(const WorldObject *w) { return w->scene->scene->model->nbody; }

PyObject *get_wrenches(PyObject *o, void *none) {
    (void)none;
    const npy_intp shape[2] = {count_bodies(WORLD(o)), 6};
    double *numbers = &sim_world_wrenches(WORLD(o)->world)->ang.x;
    PyObject *flat = borrowed_array(numbers, shape[0] * 6, o, true);
    PyArray_Dims dimensions = {(npy_intp *)shape, 2};
    PyObject *array = flat ? PyArray_Newshape((PyArrayObject *)flat, &dimensions, NPY_CORDER) : NULL;
    Py_XDECREF(flat);
    return array;
}

int set_wrenches(PyObject *o, PyObject *value, void *none) {
    PyObject *array = value && world_is_free(WORLD(o)) ? get_wrenches(o, none) : NULL;
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "wrenches cannot be deleted");
    }
    int failed = array ? PyArray_CopyObject((PyArrayObject *)array, value) : -1;
    Py_XDECREF(array);
    return failed;
}

/* The frame of a soft body bears no force; its nodes are bodies of their own. */
static bool bears_force(const sim_model *m, int body) {
    for (int k = 0; k < m->nsoft; k++) {
        if (m->soft[k].body == body) {
            PyErr_Format(InputError, "the soft body \"%s\" moves by its nodes: push \"%s/0\" and so on",
                         m->soft[k].name, m->soft[k].name);
            return false;
        }
    }
    return true;
}

PyObject *world_push(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"body", "force", "point", "moment", NULL};
    PyObject *body, *force, *point = Py_None, *moment = Py_None;
    sim_force wrench = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O$O:push", (char **)names, &body, &force, &point, &moment)) {
        return NULL;
    }
    sim_point at = {.body = scene_index(WORLD(o)->scene, "bodies", body)};
    bool ok = at.body >= 0 && bears_force(WORLD(o)->scene->scene->model, at.body) &&
              read_numbers(force, "force", 3, &wrench.lin.x) &&
              (point == Py_None || read_numbers(point, "point", 3, &at.local.x)) &&
              (moment == Py_None || read_numbers(moment, "moment", 3, &wrench.ang.x)) && world_sync(WORLD(o));
    if (!ok) {
        return NULL;
    }
    sim_world_push(WORLD(o)->world, at, wrench);
    Py_RETURN_NONE;
}

static const char *const switch_words[SIM_SWITCHES] = {"off", "on", "hold"};

/* A word, or a truth: on or off. */
static bool read_switch(PyObject *value, sim_switch *to) {
    if (PyBool_Check(value)) {
        *to = value == Py_True ? SIM_SWITCH_ON : SIM_SWITCH_OFF;
        return true;
    }
    for (int k = 0; PyUnicode_Check(value) && k < SIM_SWITCHES; k++) {
        if (PyUnicode_CompareWithASCIIString(value, switch_words[k]) == 0) {
            *to = (sim_switch)k;
            return true;
        }
    }
    PyErr_Format(InputError, "a constraint is switched \"off\", \"on\" or \"hold\", not %R", value);
    return false;
}

PyObject *world_switch(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"constraint", "to", NULL};
    PyObject *constraint, *word;
    sim_switch to = SIM_SWITCH_OFF;
    sim_error error;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:switch", (char **)names, &constraint, &word)) {
        return NULL;
    }
    int index = scene_index(WORLD(o)->scene, "constraints", constraint);
    if (index < 0 || !read_switch(word, &to) || !world_sync(WORLD(o))) {
        return NULL;
    }
    if (sim_world_switch(WORLD(o)->world, index, to, &error)) {
        return raise_error(&error);
    }
    Py_RETURN_NONE;
}

PyObject *get_switches(PyObject *o, void *none) {
    (void)none;
    if (!world_is_free(WORLD(o))) {
        return NULL;
    }
    int count = WORLD(o)->scene->scene->model->nequality;
    const sim_state *s = sim_world_state(WORLD(o)->world);
    PyObject *words = PyTuple_New(count);
    for (int k = 0; words && k < count; k++) {
        PyObject *word = PyUnicode_FromString(switch_words[s->switched[k].to]);
        if (!word) {
            Py_CLEAR(words);
            break;
        }
        PyTuple_SET_ITEM(words, k, word);
    }
    return words;
}
