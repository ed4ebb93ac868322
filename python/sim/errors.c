/* Exceptions, made from the errors and diagnostics of the library. */
#include "module.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

PyObject *Error, *InputError, *SceneError, *StepError;

static PyObject *new_exception(PyObject *module, const char *name, const char *help, PyObject *first,
                               PyObject *second) {
    PyObject *bases = second ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first);
    PyObject *type = bases ? PyErr_NewExceptionWithDoc(name, help, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (type && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, type)) {
        Py_CLEAR(type);
    }
    return type;
}

int errors_add(PyObject *module) {
    Error = new_exception(module, "sim.Error", "A call of the library failed; the text says why. Base of all errors.",
                          PyExc_Exception, NULL);
    InputError = Error ? new_exception(module, "sim.InputError",
                                       "An argument, a state or a problem is not one that the library takes.", Error,
                                       PyExc_ValueError)
                       : NULL;
    SceneError = InputError
                     ? new_exception(module, "sim.SceneError",
                                     "A scene, robot or model is wrong.\n\n"
                                     "The text lists all errors, a line each. Attributes of the first one:\n"
                                     "file, line, column (0: no place in a file), path (JSON pointer), message,\n"
                                     "hint (str or None). `errors` has a line of text for each error.",
                                     InputError, NULL)
                     : NULL;
    StepError = SceneError ? new_exception(module, "sim.StepError",
                                           "A step failed, and the world is as it was before it.\n\n"
                                           "The text names the body and the quantity. Attributes: time (s) and step\n"
                                           "of the state that the step began from.",
                                           Error, PyExc_RuntimeError)
                           : NULL;
    return StepError ? 0 : -1;
}

PyObject *text_of(const char *text) { return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); }

PyObject *raise_error(const sim_error *error) {
    PyObject *text = text_of(error->text);
    if (text) {
        PyErr_SetObject(error->status == SIM_BAD_INPUT ? InputError : Error, text);
        Py_DECREF(text);
    }
    return NULL;
}

/* An exception of this type with its text; new reference. */
static PyObject *exception_of(PyObject *type, PyObject *text) { return text ? PyObject_CallOneArg(type, text) : NULL; }

/* Steals `value`; false with an exception where that is NULL or the attribute cannot be set. */
static bool set_attribute(PyObject *object, const char *name, PyObject *value) {
    bool ok = object && value && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* Raises an exception and gives up the reference; NULL. */
static PyObject *raise_exception(PyObject *type, PyObject *exception, bool whole) {
    if (whole) {
        PyErr_SetObject(type, exception);
    }
    Py_XDECREF(exception);
    return NULL;
}

static PyObject *optional_text(const char *text) { return text ? text_of(text) : Py_NewRef(Py_None); }

PyObject *diagnostic_text(const sim_diagnostic *diagnostic) {
    char text[4096];
    int length = sim_diagnostic_print(diagnostic, text, sizeof text);
    length = length < (int)sizeof text ? length : (int)sizeof text - 1;
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    return PyUnicode_DecodeUTF8(text, length, "replace");
}

/* All errors as a list of lines. */
static PyObject *error_lines(const sim_diagnostics *d) {
    PyObject *lines = PyList_New(0);
    for (int k = 0; lines && k < d->count; k++) {
        PyObject *line = d->item[k].warning ? NULL : diagnostic_text(&d->item[k]);
        if ((line && PyList_Append(lines, line)) || (!line && PyErr_Occurred())) {
            Py_CLEAR(lines);
        }
        Py_XDECREF(line);
    }
    if (lines && d->more) {
        PyObject *line = PyUnicode_FromFormat("and %d more", d->more);
        if (!line || PyList_Append(lines, line)) {
            Py_CLEAR(lines);
        }
        Py_XDECREF(line);
    }
    return lines;
}

PyObject *raise_scene_error(const sim_diagnostics *d, const sim_error *error, const char *path) {
    const sim_diagnostic none = {.file = path ? path : "", .pointer = "", .message = error->text};
    const sim_diagnostic *first = &none;
    for (int k = d->count - 1; k >= 0; k--) {
        first = d->item[k].warning ? first : &d->item[k];
    }
    /* no such file: Python's own exception, with its name; a file that the scene names has a place in it */
    struct stat about;
    bool folder = error->status == SIM_NO_RESOURCE && path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    if (folder || (error->status == SIM_NO_RESOURCE && path && access(path, R_OK))) {
        errno = folder ? EISDIR : errno;
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    }
    if (error->status == SIM_NO_RESOURCE && first->line == 0) {
        return raise_error(error);
    }
    PyObject *lines = error_lines(d), *newline = PyUnicode_FromString("\n");
    PyObject *text = !lines || !newline   ? NULL
                     : PyList_Size(lines) ? PyUnicode_Join(newline, lines)
                                          : text_of(error->text);
    PyObject *exception = exception_of(SceneError, text);
    Py_XDECREF(text);
    Py_XDECREF(newline);
    bool whole = exception && set_attribute(exception, "errors", lines) &&
                 set_attribute(exception, "file", optional_text(first->file)) &&
                 set_attribute(exception, "line", PyLong_FromLong(first->line)) &&
                 set_attribute(exception, "column", PyLong_FromLong(first->column)) &&
                 set_attribute(exception, "path", optional_text(first->pointer)) &&
                 set_attribute(exception, "message", optional_text(first->message)) &&
                 set_attribute(exception, "hint", optional_text(first->hint));
    if (!exception) {
        Py_XDECREF(lines);
    }
    return raise_exception(SceneError, exception, whole);
}

PyObject *raise_step_error(const sim_world *world, const sim_error *error) {
    if (error->status != SIM_FAILED) {
        return raise_error(error);
    }
    const sim_state *now = sim_world_state(world);
    PyObject *text = text_of(error->text), *exception = exception_of(StepError, text);
    Py_XDECREF(text);
    bool whole = exception && set_attribute(exception, "time", PyFloat_FromDouble(now->time)) &&
                 set_attribute(exception, "step", PyLong_FromLongLong(now->step));
    return raise_exception(StepError, exception, whole);
}
