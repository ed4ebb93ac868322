/* Recordings of worlds: trajectories (CSV, HDF5) and pages (HTML), which steps feed.
 *
 * A World keeps its open recorders, and a Recorder knows its World until it is closed; the end of either closes the
 * file. */
#include "module.h"

#include <math.h>

typedef struct RecorderObject {
    PyObject_HEAD WorldObject *world; /* borrowed; NULL: closed */
    sim_recorder *recorder;
    sim_view *view; /* a page, in place of a recorder */
    PyObject *path;
    int64_t every, last; /* steps between records; the last step on record, -1: none */
    int64_t records;
} RecorderObject;

#define RECORDER(object) ((RecorderObject *)(object))

static bool write_record(RecorderObject *r) {
    sim_error error;
    sim_world *w = r->world->world;
    if (r->view ? sim_view_write(r->view, w, &error) : sim_recorder_write(r->recorder, w, &error)) {
        raise_error(&error);
        return false;
    }
    r->last = sim_world_state(w)->step;
    r->records++;
    return true;
}

int64_t recorders_room(const WorldObject *w, int64_t n) {
    int64_t step = sim_world_state(w->world)->step;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(w->recorders); k++) {
        int64_t every = RECORDER(PyList_GET_ITEM(w->recorders, k))->every, room = every - step % every;
        n = room < n ? room : n;
    }
    return n;
}

bool recorders_write(WorldObject *w) {
    int64_t step = sim_world_state(w->world)->step;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(w->recorders); k++) {
        RecorderObject *r = RECORDER(PyList_GET_ITEM(w->recorders, k));
        if (step % r->every == 0 && step != r->last && !write_record(r)) {
            return false;
        }
    }
    return true;
}

/* Closes the file; false with an exception where its end could not be written. */
static bool finish(RecorderObject *r) {
    sim_error error;
    sim_status status = SIM_OK;
    if (r->recorder) {
        status = sim_recorder_close(r->recorder, &error);
    } else if (r->view) {
        status = sim_view_close(r->view, &error);
    }
    r->recorder = NULL;
    r->view = NULL;
    r->world = NULL;
    if (status) {
        raise_error(&error);
    }
    return status == SIM_OK;
}

void recorders_close(WorldObject *w) {
    for (Py_ssize_t k = 0; w->recorders && k < PyList_GET_SIZE(w->recorders); k++) {
        PyObject *recorder = PyList_GET_ITEM(w->recorders, k);
        if (!finish(RECORDER(recorder))) {
            PyErr_WriteUnraisable(recorder);
        }
    }
    Py_CLEAR(w->recorders);
}

/* ---- opening ---- */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

/* Pages have sixty frames a second. */
static int64_t default_every(const WorldObject *w, bool page) {
    double every = page ? floor(1 / (60 * sim_world_options(w->world)->step) + 1e-6) : w->scene->scene->record.every;
    return every > 1 ? (int64_t)every : 1;
}

static bool open_file(RecorderObject *r, const char *path) {
    sim_error error;
    const sim_scene *scene = r->world->scene->scene;
    if (ends_with(path, ".html")) {
        r->view = sim_view_open(path, scene, &error);
    } else if (!sim_recorder_accepts(path, &error)) {
        r->recorder = sim_recorder_open(path, scene, r->world->world, &error);
    }
    if (!r->view && !r->recorder) {
        raise_error(&error);
    }
    return r->view || r->recorder;
}

PyObject *world_record(PyObject *object, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"path", "every", NULL};
    WorldObject *w = (WorldObject *)object;
    PyObject *path, *every_object = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O:record", (char **)names, PyUnicode_FSDecoder, &path,
                                     &every_object)) {
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8(path);
    long long every = text ? default_every(w, ends_with(text, ".html")) : 1;
    if (text && every_object != Py_None) {
        every = PyLong_AsLongLong(every_object);
    }
    if (!PyErr_Occurred() && every < 1) {
        PyErr_Format(InputError, "records are 1 or more steps apart, not %lld", every);
    }
    RecorderObject *r = !PyErr_Occurred() && world_sync(w) ? RECORDER(RecorderType.tp_alloc(&RecorderType, 0)) : NULL;
    if (!r) {
        Py_DECREF(path);
        return NULL;
    }
    r->world = w;
    r->path = path;
    r->every = every;
    r->last = -1;
    if (open_file(r, text) && write_record(r) && !PyList_Append(w->recorders, (PyObject *)r)) {
        return (PyObject *)r;
    }
    Py_DECREF(r);
    return NULL;
}

/* ---- the type ---- */

static bool is_open(const RecorderObject *r) {
    if (!r->world) {
        PyErr_SetString(Error, "the recording is closed");
        return false;
    }
    return world_is_free(r->world);
}

static PyObject *recorder_write(PyObject *object, PyObject *none) {
    (void)none;
    if (!is_open(RECORDER(object)) || !world_sync(RECORDER(object)->world) || !write_record(RECORDER(object))) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *recorder_close(PyObject *object, PyObject *none) {
    (void)none;
    RecorderObject *r = RECORDER(object);
    if (!r->world) {
        Py_RETURN_NONE;
    }
    if (!world_is_free(r->world)) {
        return NULL;
    }
    PyObject *list = r->world->recorders;
    Py_INCREF(object);
    for (Py_ssize_t k = PyList_GET_SIZE(list) - 1; k >= 0; k--) {
        if (PyList_GET_ITEM(list, k) == object && PyList_SetSlice(list, k, k + 1, NULL)) {
            Py_DECREF(object);
            return NULL;
        }
    }
    bool whole = finish(r);
    Py_DECREF(object);
    return whole ? Py_NewRef(Py_None) : NULL;
}

static PyObject *recorder_enter(PyObject *object, PyObject *none) {
    (void)none;
    return Py_NewRef(object);
}

static PyObject *recorder_exit(PyObject *object, PyObject *args) {
    (void)args;
    return recorder_close(object, NULL);
}

static void recorder_dealloc(PyObject *object) {
    RecorderObject *r = RECORDER(object);
    if ((r->recorder || r->view) && !finish(r)) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(r->path);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *recorder_repr(PyObject *object) {
    const RecorderObject *r = RECORDER(object);
    return PyUnicode_FromFormat("<sim.Recorder %R, %lld records, %s>", r->path, (long long)r->records,
                                r->world ? "open" : "closed");
}

static PyObject *get_path(PyObject *object, void *none) {
    (void)none;
    return Py_NewRef(RECORDER(object)->path);
}

static PyObject *get_every(PyObject *object, void *none) {
    (void)none;
    return PyLong_FromLongLong(RECORDER(object)->every);
}

static PyObject *get_records(PyObject *object, void *none) {
    (void)none;
    return PyLong_FromLongLong(RECORDER(object)->records);
}

static PyObject *get_closed(PyObject *object, void *none) {
    (void)none;
    return PyBool_FromLong(RECORDER(object)->world == NULL);
}

static PyGetSetDef recorder_attributes[] = {
    {"path", get_path, NULL, "The file.", NULL},
    {"every", get_every, NULL, "Steps between records.", NULL},
    {"records", get_records, NULL, "Number of records written.", NULL},
    {"closed", get_closed, NULL, "True once the file is closed.", NULL},
    {0},
};

static PyMethodDef recorder_methods[] = {
    {"write", recorder_write, METH_NOARGS,
     "write($self, /)\n--\n\nWrite a record of the present state, besides those that are due."},
    {"close", recorder_close, METH_NOARGS, "close($self, /)\n--\n\nEnd the recording; the file is whole then."},
    {"__enter__", recorder_enter, METH_NOARGS, "__enter__($self, /)\n--\n\nThe recorder."},
    {"__exit__", recorder_exit, METH_VARARGS, "__exit__($self, /, *args)\n--\n\nClose it."},
    {0},
};

PyTypeObject RecorderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.Recorder",
    .tp_doc = "A recording of a world, from world.record: its steps write the records that are due.\n\n"
              "with world.record(\"run.h5\"):\n    world.step(1000)",
    .tp_basicsize = sizeof(RecorderObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = recorder_dealloc,
    .tp_repr = recorder_repr,
    .tp_methods = recorder_methods,
    .tp_getset = recorder_attributes,
};
