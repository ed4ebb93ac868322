/* Attributes of worlds: arrays of the state and of the inputs, figures of the last step. */
#include "module.h"

#define WORLD(object) ((WorldObject *)(object))

PyObject *sensor_mapping(const SceneObject *scene, const number_block *block) {
    const sim_model *m = scene->scene->model;
    PyObject *dict = PyDict_New(), *names = scene_names(scene, "sensors");
    for (int k = 0; dict && k < m->nsensor; k++) {
        const sim_sensor *s = &m->sensor[k];
        PyObject *array = block_array(block, s->first, sim_sensor_values(s->type), false);
        if (!array || PyDict_SetItem(dict, PyTuple_GET_ITEM(names, k), array)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(array);
    }
    PyObject *proxy = dict ? PyDictProxy_New(dict) : NULL;
    Py_XDECREF(dict);
    return proxy;
}

/* ---- state ---- */

static PyObject *get_scene(PyObject *o, void *none) {
    (void)none;
    return Py_NewRef(WORLD(o)->scene);
}

static PyObject *get_time(PyObject *o, void *none) {
    (void)none;
    return world_is_free(WORLD(o)) ? PyFloat_FromDouble(sim_world_state(WORLD(o)->world)->time) : NULL;
}

static PyObject *get_steps(PyObject *o, void *none) {
    (void)none;
    return world_is_free(WORLD(o)) ? PyLong_FromLongLong(sim_world_state(WORLD(o)->world)->step) : NULL;
}

static PyObject *get_block(PyObject *o, void *offset) {
    const number_block *block = (const void *)((const char *)o + (size_t)offset);
    return block_array(block, 0, block->count, true);
}

static int set_block(PyObject *o, PyObject *value, void *offset) {
    const number_block *block = (const void *)((const char *)o + (size_t)offset);
    const char *name = block == &WORLD(o)->q ? "q" : "v";
    return world_is_free(WORLD(o)) ? assign_numbers(value, name, block->count, block->data) : -1;
}

static PyObject *get_state(PyObject *o, void *none) {
    (void)none;
    return world_sync(WORLD(o)) ? state_of(WORLD(o)->world) : NULL;
}

static int set_state(PyObject *o, PyObject *value, void *none) {
    (void)none;
    if (!world_is_free(WORLD(o)) || state_restore(WORLD(o), value)) {
        return -1;
    }
    world_show(WORLD(o));
    return 0;
}

/* ---- inputs ---- */

static const struct input_name {
    const char *name;
    sim_input input;
} input_names[] = {
    {"ctrl", SIM_CTRL}, {"targets", SIM_TARGET}, {"rates", SIM_TARGET_RATE}, {"feedforward", SIM_FEEDFORWARD}};

static PyObject *get_input(PyObject *o, void *which) {
    const struct input_name *name = which;
    return borrowed_array(sim_world_inputs(WORLD(o)->world, name->input), WORLD(o)->scene->scene->model->nactuator, o,
                          true);
}

static int set_input(PyObject *o, PyObject *value, void *which) {
    const struct input_name *name = which;
    if (!world_is_free(WORLD(o))) {
        return -1;
    }
    return assign_numbers(value, name->name, WORLD(o)->scene->scene->model->nactuator,
                          sim_world_inputs(WORLD(o)->world, name->input));
}

static PyObject *get_applied(PyObject *o, void *none) {
    (void)none;
    return borrowed_array(sim_world_applied(WORLD(o)->world), WORLD(o)->v.count, o, true);
}

static int set_applied(PyObject *o, PyObject *value, void *none) {
    (void)none;
    return world_is_free(WORLD(o))
               ? assign_numbers(value, "applied", WORLD(o)->v.count, sim_world_applied(WORLD(o)->world))
               : -1;
}

/* ---- readings ---- */

static PyObject *get_sensors(PyObject *o, void *none) {
    (void)none;
    return Py_NewRef(WORLD(o)->sensors);
}

static PyObject *get_sensor_values(PyObject *o, void *none) {
    (void)none;
    return block_array(&WORLD(o)->sensor, 0, WORLD(o)->sensor.count, false);
}

static PyObject *get_efforts(PyObject *o, void *none) {
    (void)none;
    const npy_intp count = WORLD(o)->scene->scene->model->nactuator;
    return world_is_free(WORLD(o)) ? copied_array(1, &count, sim_world_efforts(WORLD(o)->world)) : NULL;
}

static PyObject *get_certificate(PyObject *o, void *none) {
    (void)none;
    return world_is_free(WORLD(o)) ? certificate_record(&sim_world_info(WORLD(o)->world)->certificate) : NULL;
}

static PyObject *get_info(PyObject *o, void *none) {
    (void)none;
    return world_is_free(WORLD(o)) ? info_record(sim_world_info(WORLD(o)->world)) : NULL;
}

static PyObject *get_energy(PyObject *o, void *none) {
    (void)none;
    return world_sync(WORLD(o)) ? energy_record(sim_world_energy(WORLD(o)->world)) : NULL;
}

static PyObject *get_momentum(PyObject *o, void *none) {
    (void)none;
    const npy_intp six = 6;
    if (!world_sync(WORLD(o))) {
        return NULL;
    }
    sim_force momentum = sim_world_momentum(WORLD(o)->world);
    return copied_array(1, &six, &momentum.ang.x);
}

/* ---- the model ---- */

static PyObject *get_names(PyObject *o, void *kind) { return Py_NewRef(scene_names(WORLD(o)->scene, kind)); }

static PyObject *get_count(PyObject *o, void *offset) {
    const char *model = (const char *)WORLD(o)->scene->scene->model;
    return PyLong_FromLong(*(const int *)(const void *)(model + (size_t)offset));
}

static PyObject *get_dt(PyObject *o, void *none) {
    (void)none;
    return PyFloat_FromDouble(sim_world_options(WORLD(o)->world)->step);
}

static PyObject *get_options(PyObject *o, void *none) {
    (void)none;
    return world_options_dict(sim_world_options(WORLD(o)->world));
}

static PyObject *get_nbytes(PyObject *o, void *none) {
    (void)none;
    return world_is_free(WORLD(o)) ? PyLong_FromSize_t(sim_world_bytes(WORLD(o)->world)) : NULL;
}

#define BLOCK(name, member, help)                                                                                      \
    { name, get_block, set_block, help, (void *)offsetof(WorldObject, member) }
#define INPUT(row, help)                                                                                               \
    { input_names[row].name, get_input, set_input, help, (void *)&input_names[row] }
PyGetSetDef world_attributes[] = {
    {"scene", get_scene, NULL, "The scene.", NULL},
    {"time", get_time, NULL, "Time, s.", NULL},
    {"steps", get_steps, NULL, "Steps taken.", NULL},
    BLOCK("q", q,
          "Coordinates [nq]: one array, which every step fills. Values written into it hold from the next call."),
    BLOCK("v", v, "Velocities [nv], likewise."),
    {"state", get_state, set_state,
     "All that the next steps depend on, a State: a copy. Assigning one continues from there, with the same bits.",
     NULL},
    {"ctrl", get_input, set_input,
     "Control inputs [nactuator], which you write; nan leaves an actuator to the scene's track.",
     (void *)&input_names[0]},
    {"targets", get_input, set_input, "Targets of actuators [nactuator], likewise; m or rad.", (void *)&input_names[1]},
    {"rates", get_input, set_input, "Rates of targets [nactuator], likewise; m/s or rad/s.", (void *)&input_names[2]},
    {"feedforward", get_input, set_input, "Feed-forward forces of actuators [nactuator], likewise; N or N m.",
     (void *)&input_names[3]},
    {"applied", get_applied, set_applied,
     "Generalised forces [nv] that you apply on top of all others; kept until changed.", NULL},
    {"wrenches", get_wrenches, set_wrenches,
     "Wrenches that you apply to bodies [nbody, 6]: moment, force at the body's origin, in world axes; kept until "
     "changed.",
     NULL},
    {"switches", get_switches, NULL, "How each constraint is switched: \"on\", \"off\" or \"hold\".", NULL},
    {"sensors", get_sensors, NULL, "Readings after the last step: a mapping from the name of a sensor to its array.",
     NULL},
    {"sensor_values", get_sensor_values, NULL, "The readings of all sensors as one array.", NULL},
    {"efforts", get_efforts, NULL, "Forces of all actuators in the last step [nactuator], N or N m.", NULL},
    {"contacts", get_contacts, NULL,
     "Contacts of the last step: a structured array of body_a, body_b, shape_a, shape_b, position, normal (from B to "
     "A),\n"
     "gap, impulse and force (on A, in the world), friction, stiffness, dissipation, restitution, area. A copy.",
     NULL},
    {"certificate", get_certificate, NULL, "Errors of the contact solution of the last step: a Certificate.", NULL},
    {"info", get_info, NULL, "Counts and figures of the last step: a StepInfo.", NULL},
    {"energy", get_energy, NULL, "Kinetic and potential energy: an Energy, J.", NULL},
    {"momentum", get_momentum, NULL, "Momentum about the world's origin [6]: angular, linear.", NULL},
    {"dt", get_dt, NULL, "Time step, s.", NULL},
    {"options", get_options, NULL, "All options of the world, a dict.", NULL},
    {"nbytes", get_nbytes, NULL,
     "Bytes that the world holds, without those of its model and those that its solver keeps from call to call.", NULL},
    MODEL_ATTRIBUTES,
    {0},
};
