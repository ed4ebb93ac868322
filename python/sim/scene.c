/* Scenes: loading with the caller's values in place of those of the file, names of the model's parts. */
#include "module.h"

/* Reads the items of a sequence of str as UTF-8 into memory that the caller frees; the texts live as long as `fast`. */
static const char **read_texts(PyObject *sequence, const char *name, PyObject **fast, int *count) {
    *fast = PySequence_Fast(sequence, "a list of texts is expected");
    if (!*fast) {
        return NULL;
    }
    Py_ssize_t size = PySequence_Fast_GET_SIZE(*fast);
    const char **texts = PyMem_Malloc((size_t)(size + 1) * sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t k = 0; k < size; k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(*fast, k);
        if (!PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "%s has texts, not %.100s", name, Py_TYPE(item)->tp_name);
        }
        Py_ssize_t length = 0;
        texts[k] = PyErr_Occurred() ? NULL : PyUnicode_AsUTF8AndSize(item, &length);
        if (texts[k] && strlen(texts[k]) != (size_t)length) {
            PyErr_Format(PyExc_ValueError, "%s has a text with a zero character", name);
        }
        if (PyErr_Occurred()) {
            PyMem_Free(texts);
            return NULL;
        }
    }
    *count = (int)size;
    return texts;
}

static PyObject *warnings_of(const sim_diagnostics *d) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < d->count; k++) {
        PyObject *line = diagnostic_text(&d->item[k]);
        if (!line || PyList_Append(list, line)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(line);
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* ---- names ---- */

/* Names of items of `size` bytes, which begin with their name or have it at `offset`. */
static PyObject *names_at(const void *items, int count, size_t size, size_t offset, const char *unnamed) {
    PyObject *names = PyTuple_New(count);
    for (int k = 0; names && k < count; k++) {
        const char *const *name = (const void *)((const char *)items + (size_t)k * size + offset);
        PyObject *text = *name ? text_of(*name) : PyUnicode_FromFormat("%s%d", unnamed, k);
        if (!text) {
            Py_CLEAR(names);
            break;
        }
        PyTuple_SET_ITEM(names, k, text);
    }
    return names;
}

static PyObject *numbered_names(const sim_model *m, int count,
                                void (*name)(const sim_model *m, int k, char *text, size_t size)) {
    char text[256];
    PyObject *names = PyTuple_New(count);
    for (int k = 0; names && k < count; k++) {
        name(m, k, text, sizeof text);
        PyObject *item = text_of(text);
        if (!item) {
            Py_CLEAR(names);
            break;
        }
        PyTuple_SET_ITEM(names, k, item);
    }
    return names;
}

/* Bodies with a joint that moves. */
static PyObject *joint_names(const sim_model *m) {
    PyObject *list = PyList_New(0);
    for (int k = 1; list && k < m->nbody; k++) {
        PyObject *name = m->body[k].nv ? text_of(m->body[k].joint_name) : NULL;
        if ((name && PyList_Append(list, name)) || (!name && PyErr_Occurred())) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    PyObject *names = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return names;
}

#define NAMES(list, count, type, unnamed) names_at(list, count, sizeof(type), offsetof(type, name), unnamed)

/* Steals `names`. */
static bool add_names(PyObject *dict, const char *kind, PyObject *names) {
    bool ok = names && !PyDict_SetItemString(dict, kind, names);
    Py_XDECREF(names);
    return ok;
}

static PyObject *all_names(const sim_model *m) {
    PyObject *dict = PyDict_New();
    if (!dict) {
        return NULL;
    }
    if (add_names(dict, "bodies", NAMES(m->body, m->nbody, sim_body, "body")) &&
        add_names(dict, "joints", joint_names(m)) &&
        add_names(dict, "dofs", numbered_names(m, m->nv, sim_model_dof_name)) &&
        add_names(dict, "coordinates", numbered_names(m, m->nq, sim_model_coordinate_name)) &&
        add_names(dict, "shapes", NAMES(m->shape, m->nshape, sim_shape, "shape")) &&
        add_names(dict, "materials", NAMES(m->material, m->nmaterial, sim_material, "material")) &&
        add_names(dict, "actuators", NAMES(m->actuator, m->nactuator, sim_actuator, "actuator")) &&
        add_names(dict, "sites", NAMES(m->site, m->nsite, sim_site, "site")) &&
        add_names(dict, "sensors", NAMES(m->sensor, m->nsensor, sim_sensor, "sensor")) &&
        add_names(dict, "tendons", NAMES(m->tendon, m->ntendon, sim_tendon, "tendon")) &&
        add_names(dict, "constraints", NAMES(m->equality, m->nequality, sim_equality, "constraint")) &&
        add_names(dict, "keyframes", NAMES(m->keyframe, m->nkeyframe, sim_keyframe, "keyframe"))) {
        return dict;
    }
    Py_DECREF(dict);
    return NULL;
}

PyObject *scene_names(const SceneObject *scene, const char *kind) { return PyDict_GetItemString(scene->names, kind); }

int scene_index(const SceneObject *scene, const char *kind, PyObject *key) {
    PyObject *names = scene_names(scene, kind);
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (PyUnicode_Check(key)) {
        for (Py_ssize_t k = 0; k < count; k++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(names, k), key) == 0) {
                return (int)k;
            }
        }
        PyObject *some = PyTuple_GetSlice(names, 0, 20);
        if (some) {
            PyErr_Format(InputError, "%R is none of the %s: %R%s", key, kind, some, count > 20 ? " and more" : "");
            Py_DECREF(some);
        }
        return -1;
    }
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (index < 0 || index >= count) {
        PyErr_Format(PyExc_IndexError, "there are %zd %s, and no number %zd", count, kind, index);
        return -1;
    }
    return (int)index;
}

int scene_joint(const SceneObject *scene, PyObject *key) {
    const sim_model *m = scene->scene->model;
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
    int body = name ? sim_model_find_joint(m, name) : -1;
    if (body >= 0 || PyErr_Occurred()) {
        return body;
    }
    int index = scene_index(scene, "joints", key);
    return index < 0 ? -1
                     : sim_model_find_joint(m, PyUnicode_AsUTF8(PyTuple_GET_ITEM(scene_names(scene, "joints"), index)));
}

/* ---- loading ---- */

static PyObject *new_scene(sim_scene *scene, PyObject *recipe, PyObject *file, PyObject *warnings) {
    PyObject *names = all_names(scene->model);
    SceneObject *self = names && warnings ? (SceneObject *)SceneType.tp_alloc(&SceneType, 0) : NULL;
    if (!self) {
        Py_XDECREF(names);
        Py_XDECREF(warnings);
        sim_scene_free(scene);
        return NULL;
    }
    self->scene = scene;
    self->recipe = Py_NewRef(recipe);
    self->file = Py_NewRef(file);
    self->warnings = warnings;
    self->names = names;
    return (PyObject *)self;
}

/* Arguments of the caller as the library takes them, and what keeps their texts alive. */
typedef struct load_request {
    const char *path, *text;
    Py_ssize_t length;
    sim_import_options import;
    sim_scene_overrides overrides;
    PyObject *kept[3];
    const char **texts[3];
} load_request;

static PyObject *load_scene(const load_request *r, PyObject *recipe, PyObject *file) {
    sim_diagnostics diagnostics = {0};
    sim_error error = {0};
    sim_scene *scene;
    Py_BEGIN_ALLOW_THREADS scene =
        r->text ? sim_scene_parse(r->text, (size_t)r->length, r->path, &r->overrides, &diagnostics, &error)
                : sim_scene_load(r->path, &r->overrides, &diagnostics, &error);
    Py_END_ALLOW_THREADS PyObject *result = scene ? new_scene(scene, recipe, file, warnings_of(&diagnostics))
                                                  : raise_scene_error(&diagnostics, &error, r->text ? NULL : r->path);
    sim_diagnostics_free(&diagnostics);
    return result;
}

/* Seeds are whole numbers up to 2^53. */
static bool read_seed(PyObject *object, uint64_t *seed) {
    PyObject *whole = PyNumber_Index(object); /* NumPy's whole numbers, too */
    *seed = whole ? PyLong_AsUnsignedLongLong(whole) : 0;
    Py_XDECREF(whole);
    if (!PyErr_Occurred() && *seed > 1ULL << 53) {
        PyErr_SetString(InputError, "a seed is a whole number from 0 to 2^53");
    }
    return !PyErr_Occurred();
}

PyObject *scene_load(PyObject *module, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"path", "text",           "file",   "set",   "seed",    "start", "cache",
                                        "base", "repair_inertia", "strict", "allow", "package", "mesh",  "recipe",
                                        NULL};
    (void)module;
    load_request r = {0};
    PyObject *file, *set, *seed_object, *allow, *package, *recipe;
    int base, repair, strict, mesh;
    uint64_t seed = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sz#OOOzzippOOiO:_load", (char **)names, &r.path, &r.text,
                                     &r.length, &file, &set, &seed_object, &r.overrides.start, &r.overrides.cache,
                                     &base, &repair, &strict, &allow, &package, &mesh, &recipe)) {
        return NULL;
    }
    r.import = (sim_import_options){
        .base = (sim_base)base, .mesh = (sim_mesh_use)mesh, .repair_inertia = repair, .strict = strict};
    r.overrides.import = &r.import;
    bool ok = (r.texts[0] = read_texts(set, "set", &r.kept[0], &r.overrides.count)) &&
              (r.texts[1] = read_texts(allow, "allow", &r.kept[1], &r.import.nallow)) &&
              (r.texts[2] = read_texts(package, "package", &r.kept[2], &r.import.npackage));
    if (ok && seed_object != Py_None) {
        ok = read_seed(seed_object, &seed);
        r.overrides.seed = &seed;
    }
    r.overrides.set = r.texts[0];
    r.import.allow = r.texts[1];
    r.import.package = r.texts[2];
    PyObject *result = ok ? load_scene(&r, recipe, file) : NULL;
    for (int k = 0; k < 3; k++) {
        PyMem_Free(r.texts[k]);
        Py_XDECREF(r.kept[k]);
    }
    return result;
}

/* ---- the type ---- */

static void scene_dealloc(PyObject *object) {
    SceneObject *self = (SceneObject *)object;
    sim_scene_free(self->scene);
    Py_XDECREF(self->file);
    Py_XDECREF(self->warnings);
    Py_XDECREF(self->names);
    Py_XDECREF(self->recipe);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *scene_repr(PyObject *object) {
    const sim_scene *s = ((SceneObject *)object)->scene;
    return PyUnicode_FromFormat("<sim.Scene %s%s%s%d bodies, %d degrees of freedom, %d actuators>", s->name ? "\"" : "",
                                s->name ? s->name : "", s->name ? "\": " : "", s->model->nbody - 1, s->model->nv,
                                s->model->nactuator);
}

#define SCENE(object) (((const SceneObject *)(object))->scene)

static PyObject *get_name(PyObject *o, void *none) {
    (void)none;
    return SCENE(o)->name ? text_of(SCENE(o)->name) : Py_NewRef(Py_None);
}
static PyObject *get_description(PyObject *o, void *none) {
    (void)none;
    return SCENE(o)->description ? text_of(SCENE(o)->description) : Py_NewRef(Py_None);
}
static PyObject *get_file(PyObject *o, void *none) {
    (void)none;
    return Py_NewRef(((SceneObject *)o)->file);
}
static PyObject *get_warnings(PyObject *o, void *none) {
    (void)none;
    return Py_NewRef(((SceneObject *)o)->warnings);
}
static PyObject *get_text(PyObject *o, void *none) {
    (void)none;
    return PyUnicode_DecodeUTF8(SCENE(o)->text, (Py_ssize_t)SCENE(o)->text_length, "replace");
}
static PyObject *get_hash(PyObject *o, void *none) {
    (void)none;
    return PyUnicode_FromString(SCENE(o)->hash);
}
static PyObject *get_duration(PyObject *o, void *none) {
    (void)none;
    return PyFloat_FromDouble(SCENE(o)->duration);
}
static PyObject *get_dt(PyObject *o, void *none) {
    (void)none;
    return PyFloat_FromDouble(SCENE(o)->options.step);
}
static PyObject *get_seed(PyObject *o, void *none) {
    (void)none;
    return PyLong_FromUnsignedLongLong(SCENE(o)->seed);
}
static PyObject *get_gravity(PyObject *o, void *none) {
    (void)none;
    const npy_intp three = 3;
    return copied_array(1, &three, &SCENE(o)->model->gravity.x);
}
static PyObject *get_count(PyObject *o, void *offset) {
    const char *model = (const char *)SCENE(o)->model;
    return PyLong_FromLong(*(const int *)(const void *)(model + (size_t)offset));
}
static PyObject *get_mass(PyObject *o, void *none) {
    (void)none;
    double sum = 0;
    for (int k = 1; k < SCENE(o)->model->nbody; k++) {
        sum += SCENE(o)->model->body[k].inertia.mass;
    }
    return PyFloat_FromDouble(sum);
}
static PyObject *get_names(PyObject *o, void *kind) { return Py_NewRef(scene_names((SceneObject *)o, kind)); }
static PyObject *get_options(PyObject *o, void *none) {
    (void)none;
    return world_options_dict(&SCENE(o)->options);
}

static PyGetSetDef scene_attributes[] = {
    {"name", get_name, NULL, "Name of the scene, or None.", NULL},
    {"description", get_description, NULL, "Its description, or None.", NULL},
    {"file", get_file, NULL, "The file that it was read from, or None.", NULL},
    {"warnings", get_warnings, NULL, "Odd things in the file, a line of text each.", NULL},
    {"text", get_text, NULL, "Text of the scene, with the caller's values in place of its own.", NULL},
    {"hash", get_hash, NULL, "SHA-256 of the text and of all files that it includes.", NULL},
    {"duration", get_duration, NULL, "Time that a run of the program lasts, s.", NULL},
    {"dt", get_dt, NULL, "Time step of the scene, s.", NULL},
    {"seed", get_seed, NULL, "Seed of what is random in the scene.", NULL},
    {"gravity", get_gravity, NULL, "Gravity, m/s^2.", NULL},
    {"mass", get_mass, NULL, "Mass of all bodies, kg.", NULL},
    {"options", get_options, NULL, "Options that worlds of this scene have by default, a dict.", NULL},
    MODEL_ATTRIBUTES,
    MODEL_NAMES("sensors", "Names of the sensors."),
    {0},
};

PyObject *call_python(const char *module, const char *function, PyObject *object) {
    PyObject *imported = PyImport_ImportModule(module),
             *result = imported ? PyObject_CallMethod(imported, function, "O", object) : NULL;
    Py_XDECREF(imported);
    return result;
}

static PyObject *scene_html(PyObject *object, PyObject *none) {
    (void)none;
    return call_python("sim._page", "_describe_scene", object);
}

static PyObject *scene_reduce(PyObject *object, PyObject *none) {
    (void)none;
    PyObject *module = PyImport_ImportModule("sim._load"),
             *again = module ? PyObject_GetAttrString(module, "_load_again") : NULL;
    const SceneObject *self = (SceneObject *)object;
    PyObject *result = again ? Py_BuildValue("O(Os)", again, self->recipe, self->scene->hash) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(again);
    return result;
}

static PyMethodDef scene_methods[] = {
    {"_repr_html_", scene_html, METH_NOARGS, "_repr_html_($self, /)\n--\n\nA table for notebooks."},
    {"__reduce__", scene_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle: the scene is loaded again, and refused if its files have changed."},
    {0},
};

enum { MAX_ATTRIBUTES = 50 };

/* Attributes of the scene and of its model, as one list. */
static PyGetSetDef all_attributes[MAX_ATTRIBUTES + 1];

int scene_add(PyObject *module) {
    const PyGetSetDef *const lists[] = {scene_attributes, model_attributes};
    int count = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        for (const PyGetSetDef *item = lists[k]; item->name && count < MAX_ATTRIBUTES; item++) {
            all_attributes[count++] = *item;
        }
    }
    return PyModule_AddType(module, &SceneType);
}

PyTypeObject SceneType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.Scene",
    .tp_doc = "A model with its options, from sim.load or sim.loads. It does not change, and any number of worlds may\n"
              "share it.",
    .tp_basicsize = sizeof(SceneObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = scene_dealloc,
    .tp_repr = scene_repr,
    .tp_methods = scene_methods,
    .tp_getset = all_attributes,
};
