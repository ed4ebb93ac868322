/* Coordinates at which sites and bodies stand where the caller wants them. */
#include "module.h"

#include <math.h>

static PyStructSequence_Field reach_fields[] = {
    {"q", "coordinates [nq]"},
    {"reached", "every goal, within the tolerance"},
    {"distance", "greatest that is left, m"},
    {"angle", "greatest rotation that is left, rad"},
    {"iterations", "of all searches"},
    {"starts", "searches"},
    {NULL, NULL},
};

static PyTypeObject *ReachType;

int reach_add(PyObject *module) {
    static PyStructSequence_Desc about = {
        "sim.Reach", "Answer of inverse kinematics; where a goal is out of reach, the nearest that was found.",
        reach_fields, 6};
    ReachType = PyStructSequence_NewType(&about);
    return ReachType ? PyModule_AddObjectRef(module, "Reach", (PyObject *)ReachType) : -1;
}

/* A position [3], or a pose as a matrix [R p; 0 1]. */
static bool read_target(PyObject *value, sim_ik_goal *goal) {
    PyArrayObject *array = (PyArrayObject *)PyArray_FROMANY(value, NPY_DOUBLE, 1, 2, NPY_ARRAY_IN_ARRAY);
    if (!array) {
        return false;
    }
    const double *x = PyArray_DATA(array);
    goal->point = PyArray_NDIM(array) == 1 && PyArray_SIZE(array) == 3;
    bool matrix = PyArray_NDIM(array) == 2 && PyArray_DIM(array, 0) == 4 && PyArray_DIM(array, 1) == 4;
    if (goal->point) {
        goal->pose = (sim_pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {x[0], x[1], x[2]}};
    } else if (matrix) {
        goal->pose = (sim_pose){{{x[0], x[4], x[8]}, {x[1], x[5], x[9]}, {x[2], x[6], x[10]}}, {x[3], x[7], x[11]}};
        /* R' R = 1, and the last row */
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double dot = x[i] * x[j] + x[4 + i] * x[4 + j] + x[8 + i] * x[8 + j];
                matrix = matrix && fabs(dot - (i == j)) < 1e-6;
            }
        }
        double turn = x[0] * (x[5] * x[10] - x[6] * x[9]) + x[1] * (x[6] * x[8] - x[4] * x[10]) +
                      x[2] * (x[4] * x[9] - x[5] * x[8]);
        matrix = matrix && turn > 0; /* no reflection */
        matrix = matrix && x[12] == 0 && x[13] == 0 && x[14] == 0 && x[15] == 1;
    }
    if (!goal->point && !matrix) {
        PyErr_SetString(InputError, "a goal is a position [3], or a pose [R p; 0 1] with a rotation R");
    }
    Py_DECREF(array);
    return goal->point || matrix;
}

/* The frame that stands for a name: a site, else a body. */
static bool read_frame(const SceneObject *scene, PyObject *name, sim_ik_goal *goal) {
    const sim_model *m = scene->scene->model;
    int is_site = PyUnicode_Check(name) ? PySequence_Contains(scene_names(scene, "sites"), name) : 0;
    if (is_site < 0) {
        return false;
    }
    if (is_site) {
        const sim_site *site = &m->site[scene_index(scene, "sites", name)];
        goal->body = site->body;
        goal->frame = site->pose;
        return true;
    }
    goal->frame = (sim_pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    goal->body = scene_index(scene, "bodies", name);
    return goal->body >= 0;
}

/* {name: target}; the caller frees.  NULL with an exception. */
static sim_ik_goal *read_goals(const SceneObject *scene, PyObject *dict, int *count) {
    PyObject *name, *target;
    Py_ssize_t at = 0;
    sim_ik_goal *goals = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *goals);
    if (!goals) {
        PyErr_NoMemory();
        return NULL;
    }
    *count = 0;
    while (PyDict_Next(dict, &at, &name, &target)) {
        if (!read_frame(scene, name, &goals[*count]) || !read_target(target, &goals[*count])) {
            PyMem_Free(goals);
            return NULL;
        }
        ++*count;
    }
    return goals;
}

/* Velocities of the joints named stay, and those of free joints; the caller frees.  NULL with an exception. */
static bool *read_held(const SceneObject *scene, PyObject *joints) {
    const sim_model *m = scene->scene->model;
    bool *held = PyMem_Calloc((size_t)m->nv + 1, sizeof *held);
    PyObject *list = held ? PySequence_Fast(joints, "hold is a list of joints") : PyErr_NoMemory();
    bool ok = list != NULL;
    for (int j = 0; ok && j < m->nv; j++) {
        held[j] = m->body[m->dof[j].body].joint == SIM_FREE;
    }
    for (Py_ssize_t k = 0; ok && k < PySequence_Fast_GET_SIZE(list); k++) {
        int body = scene_joint(scene, PySequence_Fast_GET_ITEM(list, k));
        ok = body >= 0;
        for (int j = 0; ok && j < m->body[body].nv; j++) {
            held[m->body[body].v0 + j] = true;
        }
    }
    Py_XDECREF(list);
    if (!ok) {
        PyMem_Free(held);
    }
    return ok ? held : NULL;
}

static PyObject *reach_record(const sim_model *m, const double *q, const sim_ik_result *result) {
    const npy_intp nq = m->nq;
    PyObject *record = PyStructSequence_New(ReachType);
    PyObject *const values[] = {copied_array(1, &nq, q),
                                PyBool_FromLong(result->outcome == SIM_IK_REACHED),
                                PyFloat_FromDouble(result->distance),
                                PyFloat_FromDouble(result->angle),
                                PyLong_FromLong(result->iterations),
                                PyLong_FromLong(result->starts)};
    bool whole = record != NULL;
    for (int k = 0; k < 6; k++) {
        whole = whole && values[k];
        if (record) {
            PyStructSequence_SetItem(record, k, values[k]);
        } else {
            Py_XDECREF(values[k]);
        }
    }
    if (!whole) {
        Py_CLEAR(record);
    }
    return record;
}

PyObject *world_inverse_kinematics(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"goals", "q", "hold", "tolerance", "radius", "starts", "max_iterations", NULL};
    WorldObject *w = (WorldObject *)o;
    sim_ik_options options = sim_ik_options_default();
    PyObject *goals, *start = Py_None, *hold = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O$Oddii:inverse_kinematics", (char **)names, &PyDict_Type,
                                     &goals, &start, &hold, &options.tolerance, &options.radius, &options.starts,
                                     &options.max_iterations) ||
        !world_sync(w)) {
        return NULL;
    }
    if (!(options.tolerance > 0 && options.radius > 0) || options.starts < 1 || options.max_iterations < 1) {
        PyErr_SetString(InputError, "tolerance and radius are above 0, starts and max_iterations 1 or more");
        return NULL;
    }
    const sim_model *m = w->scene->scene->model;
    /* goals, joints that stay, coordinates */
    PyObject *none = PyTuple_New(0), *record = NULL;
    int count = 0;
    sim_ik_goal *goal = none ? read_goals(w->scene, goals, &count) : NULL;
    bool *held = goal ? read_held(w->scene, hold ? hold : none) : NULL;
    double *q = held ? PyMem_Malloc((size_t)(m->nq + 1) * sizeof *q) : NULL;
    if (q) {
        memcpy(q, w->q.data, (size_t)m->nq * sizeof *q);
    } else if (held) {
        PyErr_NoMemory();
    }
    /* search */
    if (q && (start == Py_None || read_numbers(start, "q", m->nq, q))) {
        sim_ik_result result;
        sim_error error;
        sim_status status;
        options.held = held;
        Py_BEGIN_ALLOW_THREADS status = sim_inverse_kinematics(m, goal, count, &options, q, &result, &error);
        Py_END_ALLOW_THREADS record = status ? raise_error(&error) : reach_record(m, q, &result);
    }
    PyMem_Free(q);
    PyMem_Free(held);
    PyMem_Free(goal);
    Py_XDECREF(none);
    return record;
}
