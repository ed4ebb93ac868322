/* Numbers of the model as arrays, and joints by name. */
#include "module.h"

/* A member of the items of a list: `width` doubles each. */
typedef struct model_array {
    size_t count, list, size, member; /* of sim_model: the number of items, the pointer to them; of an item */
    int width;
} model_array;

#define MEMBER(counter, array, type, name, numbers)                                                                    \
    { offsetof(sim_model, counter), offsetof(sim_model, array), sizeof(type), offsetof(type, name), numbers }

static const model_array masses = MEMBER(nbody, body, sim_body, inertia.mass, 1);
static const model_array ranges = MEMBER(nv, dof, sim_dof, limit.low, 2);
static const model_array ctrl_ranges = MEMBER(nactuator, actuator, sim_actuator, ctrl_range, 2);
static const model_array force_ranges = MEMBER(nactuator, actuator, sim_actuator, force_range, 2);
static const model_array q_initial = {offsetof(sim_model, nq), offsetof(sim_model, q_initial), sizeof(double), 0, 1};
static const model_array v_initial = {offsetof(sim_model, nv), offsetof(sim_model, v_initial), sizeof(double), 0, 1};

static PyObject *get_array(PyObject *o, void *which) {
    const model_array *a = which;
    const char *model = (const char *)((SceneObject *)o)->scene->model;
    const char *items = *(const char *const *)(const void *)(model + a->list);
    const npy_intp shape[2] = {*(const int *)(const void *)(model + a->count), a->width};
    PyObject *array = PyArray_SimpleNew(a->width > 1 ? 2 : 1, shape, NPY_DOUBLE);
    double *to = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
    for (npy_intp k = 0; array && k < shape[0]; k++) {
        memcpy(to + k * a->width, items + (size_t)k * a->size + a->member, (size_t)a->width * sizeof *to);
    }
    return array;
}

#define ARRAY(name, which, help)                                                                                       \
    { name, get_array, NULL, help, (void *)&(which) }

PyGetSetDef model_attributes[] = {
    ARRAY("masses", masses, "Masses of the bodies [nbody], kg."),
    ARRAY("ranges", ranges, "Lowest and highest coordinate of each degree of freedom [nv, 2]; infinite: no end."),
    ARRAY("ctrl_ranges", ctrl_ranges, "Range of the control input of each actuator [nactuator, 2]; may be infinite."),
    ARRAY("force_ranges", force_ranges, "Range of the force of each actuator [nactuator, 2]; may be infinite."),
    ARRAY("q_initial", q_initial, "Coordinates at which worlds start [nq]."),
    ARRAY("v_initial", v_initial, "Velocities at which worlds start [nv]."),
    {0},
};

/* ---- joints ---- */

static PyStructSequence_Field joint_fields[] = {
    {"name", "that of its body"},
    {"type", "hinge, slider, ball, free, ..."},
    {"q", "its coordinates: a part of world.q"},
    {"v", "its velocities: a part of world.v"},
    {"coordinates", "a slice: where they stand in q"},
    {"dofs", "a slice: where they stand in v"},
    {NULL, NULL},
};

static PyTypeObject *JointType;

int joint_add(PyObject *module) {
    static PyStructSequence_Desc about = {
        "sim.Joint", "A joint of a world, with its numbers as parts of world.q and v.", joint_fields, 6};
    JointType = PyStructSequence_NewType(&about);
    return JointType ? PyModule_AddObjectRef(module, "Joint", (PyObject *)JointType) : -1;
}

static PyObject *new_slice(int first, int count) {
    PyObject *start = PyLong_FromLong(first), *stop = PyLong_FromLong(first + count);
    PyObject *slice = start && stop ? PySlice_New(start, stop, NULL) : NULL;
    Py_XDECREF(start);
    Py_XDECREF(stop);
    return slice;
}

PyObject *world_joint(PyObject *o, PyObject *key) {
    const WorldObject *w = (WorldObject *)o;
    int body = scene_joint(w->scene, key);
    PyObject *joint = body >= 0 ? PyStructSequence_New(JointType) : NULL;
    if (!joint) {
        return NULL;
    }
    const sim_body *b = &w->scene->scene->model->body[body];
    PyObject *const values[] = {PyUnicode_FromString(b->joint_name),
                                PyUnicode_FromString(sim_joint_name(b->joint)),
                                block_array(&w->q, b->q0, b->nq, true),
                                block_array(&w->v, b->v0, b->nv, true),
                                new_slice(b->q0, b->nq),
                                new_slice(b->v0, b->nv)};
    bool whole = true;
    for (int k = 0; k < 6; k++) {
        PyStructSequence_SetItem(joint, k, values[k]);
        whole = whole && values[k];
    }
    if (!whole) {
        Py_CLEAR(joint);
    }
    return joint;
}
