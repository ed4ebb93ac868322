/* Questions to a world (rays, overlaps), and checkpoints of it in files. */
#include "module.h"

#include <math.h>
#include <stdlib.h>

#define WORLD(object) ((WorldObject *)(object))

PyObject *world_ray(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"origin", "direction", "range", "but", NULL};
    PyObject *origin, *direction, *but = Py_None;
    sim_v3 from, along;
    double range = 1e6;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|d$O:ray", (char **)names, &origin, &direction, &range, &but) ||
        !read_numbers(origin, "origin", 3, &from.x) || !read_numbers(direction, "direction", 3, &along.x)) {
        return NULL;
    }
    double norm = sqrt(along.x * along.x + along.y * along.y + along.z * along.z);
    if (!(norm > 0 && isfinite(norm) && isfinite(from.x + from.y + from.z) && range >= 0)) {
        PyErr_SetString(InputError,
                        "a ray has a finite origin, a direction that is not zero, and a range of 0 or more");
        return NULL;
    }
    int body = but == Py_None ? -1 : scene_index(WORLD(o)->scene, "bodies", but);
    if ((body < 0 && but != Py_None) || !world_sync(WORLD(o))) {
        return NULL;
    }
    along = (sim_v3){along.x / norm, along.y / norm, along.z / norm};
    int shape = -1;
    double distance = sim_ray_model(WORLD(o)->scene->scene->model, sim_world_derived(WORLD(o)->world)->pose, body, from,
                                    along, range, &shape);
    return isfinite(distance) ? Py_BuildValue("(di)", distance, shape) : Py_BuildValue("(dO)", INFINITY, Py_None);
}

static const record_field overlap_fields[] = {{"body", 'p', offsetof(sim_overlap, body), ""},
                                              {"shape", 'p', offsetof(sim_overlap, shape), ""},
                                              {"depth", 'd', offsetof(sim_overlap, depth), "m"},
                                              {0}};

PyObject *world_overlaps(PyObject *o, PyObject *none) {
    (void)none;
    sim_overlap *list = NULL;
    int count = 0;
    sim_error error;
    if (!world_sync(WORLD(o))) {
        return NULL;
    }
    if (sim_world_overlaps(WORLD(o)->world, &list, &count, &error)) {
        return raise_error(&error);
    }
    PyArray_Descr *dtype = record_dtype(overlap_fields, sizeof *list);
    npy_intp size = count;
    PyObject *array = dtype ? PyArray_Zeros(1, &size, dtype, 0) : NULL;
    if (array && count) {
        memcpy(PyArray_DATA((PyArrayObject *)array), list, (size_t)count * sizeof *list);
    }
    free(list);
    return array;
}

/* A path as bytes of the file system; the world is synchronous then. */
static PyObject *read_path(WorldObject *w, PyObject *args, PyObject *keywords, const char *format) {
    static const char *const names[] = {"path", NULL};
    PyObject *path = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, format, (char **)names, PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    if (!world_is_free(w)) {
        Py_CLEAR(path);
    }
    return path;
}

PyObject *world_save(PyObject *o, PyObject *args, PyObject *keywords) {
    PyObject *path = read_path(WORLD(o), args, keywords, "O&:save");
    sim_error error;
    if (!path || !world_sync(WORLD(o))) {
        Py_XDECREF(path);
        return NULL;
    }
    sim_status status = sim_checkpoint_write(PyBytes_AS_STRING(path), WORLD(o)->scene->scene, WORLD(o)->world, &error);
    Py_DECREF(path);
    return status ? raise_error(&error) : Py_NewRef(Py_None);
}

PyObject *world_restore(PyObject *o, PyObject *args, PyObject *keywords) {
    PyObject *path = read_path(WORLD(o), args, keywords, "O&:restore");
    sim_error error;
    if (!path) {
        return NULL;
    }
    sim_status status = sim_checkpoint_read(PyBytes_AS_STRING(path), WORLD(o)->scene->scene, WORLD(o)->world, &error);
    Py_DECREF(path);
    if (status) {
        return raise_error(&error);
    }
    world_show(WORLD(o));
    Py_RETURN_NONE;
}
