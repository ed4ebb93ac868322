/* NumPy arrays over numbers of the library, and numbers from arrays of the caller. */
#include "module.h"

static void free_block(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, "sim.numbers")); }

int block_create(number_block *block, npy_intp count) {
    double *data = PyMem_Calloc(count > 0 ? (size_t)count : 1, sizeof *data);
    PyObject *owner = data ? PyCapsule_New(data, "sim.numbers", free_block) : PyErr_NoMemory();
    if (!owner) {
        PyMem_Free(data);
        return -1;
    }
    *block = (number_block){data, count, owner};
    return 0;
}

void block_free(number_block *block) {
    Py_CLEAR(block->owner);
    *block = (number_block){0};
}

PyObject *borrowed_array(double *data, npy_intp count, PyObject *base, bool writable) {
    PyObject *array = PyArray_SimpleNewFromData(1, &count, NPY_DOUBLE, data);
    if (!array) {
        return NULL;
    }
    if (!writable) {
        PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(base))) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

PyObject *block_array(const number_block *block, npy_intp first, npy_intp count, bool writable) {
    return borrowed_array(block->data + first, count, block->owner, writable);
}

PyObject *copied_array(int dimensions, const npy_intp *shape, const double *data) {
    PyObject *array = PyArray_SimpleNew(dimensions, shape, NPY_DOUBLE);
    if (array) {
        size_t bytes = (size_t)PyArray_NBYTES((PyArrayObject *)array);
        if (bytes) {
            memcpy(PyArray_DATA((PyArrayObject *)array), data, bytes);
        }
    }
    return array;
}

bool read_numbers(PyObject *value, const char *name, npy_intp count, double *to) {
    if (value == Py_None || PyUnicode_Check(value) || PyBytes_Check(value)) { /* NumPy would make nan of None */
        PyErr_Format(PyExc_TypeError, "%s has numbers, not %R", name, value);
        return false;
    }
    PyArrayObject *array =
        (PyArrayObject *)PyArray_FROMANY(value, NPY_DOUBLE, 0, 0, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_ENSUREARRAY);
    if (!array) {
        return false;
    }
    bool one = PyArray_NDIM(array) == 0, fits = PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == count;
    const double *from = PyArray_DATA(array);
    for (npy_intp k = 0; one && k < count; k++) {
        to[k] = *from;
    }
    if (fits && count) {
        memmove(to, from, (size_t)count * sizeof *to);
    } else if (!fits && !one) {
        PyErr_Format(InputError, "%s has %zd numbers in one dimension, the value has %zd in %d", name, count,
                     PyArray_SIZE(array), PyArray_NDIM(array));
    }
    Py_DECREF(array);
    return one || fits;
}

int assign_numbers(PyObject *value, const char *name, npy_intp count, double *to) {
    if (!value) {
        PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name);
        return -1;
    }
    return read_numbers(value, name, count, to) ? 0 : -1;
}
