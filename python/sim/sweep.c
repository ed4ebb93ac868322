/* Sweeps: their runs one by one, and the rows on their way to a file.  _sweep.py hands the runs to executors. */
#include "module.h"

/* ---- sweeps ---- */

typedef struct SweepObject {
    PyObject_HEAD sim_sweep *sweep;
    PyObject *path;
} SweepObject;

static void sweep_dealloc(PyObject *object) {
    SweepObject *self = (SweepObject *)object;
    sim_sweep_free(self->sweep);
    Py_XDECREF(self->path);
    PyObject_Free(object);
}

PyObject *sweep_load(PyObject *module, PyObject *args) {
    const char *content, *path;
    Py_ssize_t length;
    (void)module;
    if (!PyArg_ParseTuple(args, "s#s:_sweep", &content, &length, &path)) {
        return NULL;
    }
    SweepObject *self = PyObject_New(SweepObject, &SweepType);
    if (!self) {
        return NULL;
    }
    self->path = text_of(path);
    sim_diagnostics found = {0};
    sim_error error = {0};
    Py_BEGIN_ALLOW_THREADS self->sweep = sim_sweep_parse(content, (size_t)length, path, NULL, &found, &error);
    Py_END_ALLOW_THREADS if (!self->sweep) { raise_scene_error(&found, &error, path); }
    sim_diagnostics_free(&found);
    if (!self->sweep || !self->path) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static bool read_run(const SweepObject *self, PyObject *args, const char *format, long long *run, const char **reason) {
    if (!PyArg_ParseTuple(args, format, run, reason)) {
        return false;
    }
    int64_t runs = sim_sweep_about(self->sweep)->runs;
    if (*run < 0 || *run >= runs) {
        PyErr_Format(InputError, "runs are 0 to %lld, not %lld", (long long)runs - 1, *run);
        return false;
    }
    return true;
}

static PyObject *take_row(char *row, const sim_error *error) {
    PyObject *result = row ? text_of(row) : raise_error(error);
    free(row);
    return result;
}

static PyObject *sweep_run(PyObject *object, PyObject *args) {
    const SweepObject *self = (SweepObject *)object;
    long long run;
    sim_error error = {0};
    char *row;
    if (!read_run(self, args, "L:run", &run, NULL)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS row = sim_sweep_run(self->sweep, run, NULL, NULL, &error);
    Py_END_ALLOW_THREADS return take_row(row, &error);
}

static PyObject *sweep_without(PyObject *object, PyObject *args) {
    const SweepObject *self = (SweepObject *)object;
    const char *reason = NULL;
    long long run;
    sim_error error = {0};
    return read_run(self, args, "Ls:without", &run, &reason)
               ? take_row(sim_sweep_row_without(self->sweep, run, reason, &error), &error)
               : NULL;
}

static PyObject *names_of(const char *const *name, int count) {
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *text = text_of(name[k]);
        if (!text) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, k, text);
        }
    }
    return tuple;
}

static const sim_sweep_info *info_of(PyObject *object) { return sim_sweep_about(((SweepObject *)object)->sweep); }

static PyObject *get_runs(PyObject *object, void *none) {
    return (void)none, PyLong_FromLongLong(info_of(object)->runs);
}

static PyObject *get_name(PyObject *object, void *none) { return (void)none, text_of(info_of(object)->name); }

static PyObject *get_hash(PyObject *object, void *none) { return (void)none, text_of(info_of(object)->hash); }

static PyObject *get_text(PyObject *object, void *none) {
    const sim_sweep_info *info = info_of(object);
    return (void)none, PyUnicode_DecodeUTF8(info->text, (Py_ssize_t)info->text_length, "replace");
}

static PyObject *get_path(PyObject *object, void *none) { return (void)none, Py_NewRef(((SweepObject *)object)->path); }

static PyObject *get_columns(PyObject *object, void *none) {
    return (void)none, names_of(info_of(object)->column, info_of(object)->columns);
}

static PyObject *get_groups(PyObject *object, void *none) {
    return (void)none, names_of(info_of(object)->group, info_of(object)->columns);
}

static PyObject *sweep_repr(PyObject *object) {
    return PyUnicode_FromFormat("<sim.Sweep of %lld runs, %d columns>", (long long)info_of(object)->runs,
                                info_of(object)->columns);
}

static PyGetSetDef sweep_attributes[] = {
    {"runs", get_runs, NULL, "Number of runs.", NULL},
    {"name", get_name, NULL, "Title.", NULL},
    {"columns", get_columns, NULL, "Names of the columns of a row.", NULL},
    {"groups", get_groups, NULL, "Group of each column: runs, inputs, summary, certificate or signals.", NULL},
    {"hash", get_hash, NULL, "SHA-256 of the sweep, its scene and this build.", NULL},
    {"text", get_text, NULL, "The file as read.", NULL},
    {"path", get_path, NULL, "Name of the file; the scene's is relative to it.", NULL},
    {0},
};

static PyObject *sweep_reduce(PyObject *object, PyObject *none) {
    (void)none;
    PyObject *module = PyImport_ImportModule("sim._sweep"),
             *again = module ? PyObject_GetAttrString(module, "_load_again") : NULL, *text = get_text(object, NULL);
    PyObject *result = again && text
                           ? Py_BuildValue("O(OOs)", again, text, ((SweepObject *)object)->path, info_of(object)->hash)
                           : NULL;
    Py_XDECREF(module);
    Py_XDECREF(again);
    Py_XDECREF(text);
    return result;
}

static PyMethodDef sweep_methods[] = {
    {"run", sweep_run, METH_VARARGS,
     "run($self, run, /)\n--\n\nRun number `run`, and its row: a line of CSV. Releases the GIL."},
    {"without", sweep_without, METH_VARARGS,
     "without($self, run, reason, /)\n--\n\nThe row of a run that could not be run to its end, for that reason."},
    {"__reduce__", sweep_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle: the sweep is loaded again, and refused if its files have changed."},
    {0},
};

PyTypeObject SweepType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.Sweep",
    .tp_doc =
        "Many runs of one scene, from sim.load_sweep. It does not change; any number of threads may run its runs.",
    .tp_basicsize = sizeof(SweepObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = sweep_dealloc,
    .tp_repr = sweep_repr,
    .tp_methods = sweep_methods,
    .tp_getset = sweep_attributes,
};

/* ---- rows ---- */

typedef struct RowsObject {
    PyObject_HEAD sim_sweep_rows *rows; /* NULL: closed */
    PyObject *sweep;
} RowsObject;

static void rows_dealloc(PyObject *object) {
    RowsObject *self = (RowsObject *)object;
    sim_sweep_rows_close(self->rows);
    Py_XDECREF(self->sweep);
    PyObject_Free(object);
}

PyObject *sweep_rows(PyObject *module, PyObject *args) {
    PyObject *sweep;
    const char *path;
    sim_error error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!s:_sweep_rows", &SweepType, &sweep, &path)) {
        return NULL;
    }
    RowsObject *self = PyObject_New(RowsObject, &RowsType);
    if (!self) {
        return NULL;
    }
    self->sweep = Py_NewRef(sweep);
    self->rows = sim_sweep_rows_open(((SweepObject *)sweep)->sweep, path, -1, &error);
    if (!self->rows) {
        Py_DECREF(self);
        return raise_error(&error);
    }
    return (PyObject *)self;
}

static sim_sweep_rows *open_rows(PyObject *object) {
    sim_sweep_rows *rows = ((RowsObject *)object)->rows;
    if (!rows) {
        PyErr_SetString(Error, "the rows are closed");
    }
    return rows;
}

static PyObject *rows_has(PyObject *object, PyObject *args) {
    const SweepObject *sweep = (SweepObject *)((RowsObject *)object)->sweep;
    const sim_sweep_rows *rows = open_rows(object);
    long long run;
    return rows && read_run(sweep, args, "L:has", &run, NULL) ? PyBool_FromLong(sim_sweep_rows_has(rows, run)) : NULL;
}

static PyObject *rows_add(PyObject *object, PyObject *args) {
    sim_sweep_rows *rows = open_rows(object);
    const char *row;
    sim_error error = {0};
    if (!rows || !PyArg_ParseTuple(args, "s:add", &row)) {
        return NULL;
    }
    return sim_sweep_rows_add(rows, row, &error) ? raise_error(&error) : Py_NewRef(Py_None);
}

static PyObject *rows_finish(PyObject *object, PyObject *none) {
    sim_sweep_rows *rows = open_rows(object);
    sim_error error = {0};
    (void)none;
    return !rows ? NULL : sim_sweep_rows_finish(rows, &error) ? raise_error(&error) : Py_NewRef(Py_None);
}

static PyObject *rows_close(PyObject *object, PyObject *none) {
    RowsObject *self = (RowsObject *)object;
    (void)none;
    sim_sweep_rows_close(self->rows);
    self->rows = NULL;
    return Py_NewRef(Py_None);
}

static PyObject *get_count(PyObject *object, void *none) {
    const sim_sweep_rows *rows = open_rows(object);
    return (void)none, rows ? PyLong_FromLongLong(sim_sweep_rows_count(rows)) : NULL;
}

static PyObject *get_failures(PyObject *object, void *none) {
    const sim_sweep_rows *rows = open_rows(object);
    return (void)none, rows ? PyLong_FromLongLong(sim_sweep_rows_failures(rows)) : NULL;
}

static PyGetSetDef rows_attributes[] = {
    {"count", get_count, NULL, "Rows that are there.", NULL},
    {"failures", get_failures, NULL, "Those that did not finish.", NULL},
    {0},
};

static PyMethodDef rows_methods[] = {
    {"has", rows_has, METH_VARARGS, "has($self, run, /)\n--\n\nIs the row of this run there?"},
    {"add", rows_add, METH_VARARGS, "add($self, row, /)\n--\n\nKeep a row, in memory and in the part."},
    {"finish", rows_finish, METH_NOARGS, "finish($self, /)\n--\n\nAll rows into the file."},
    {"close", rows_close, METH_NOARGS, "close($self, /)\n--\n\nClose the part, which stays."},
    {0},
};

PyTypeObject RowsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim._sim._Rows",
    .tp_doc = "Rows of a sweep on their way to a file.",
    .tp_basicsize = sizeof(RowsObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = rows_dealloc,
    .tp_methods = rows_methods,
    .tp_getset = rows_attributes,
};
