/* States: all that a step depends on, in one block of bytes.
 *
 * The block is a header and the arrays of sim_state, one after the other; what a checkpoint holds.  A bytes object
 * owns it, so that copies, comparison and pickling are those of bytes. */
#include "module.h"

static const char mark[8] = "simst04";

/* A header; `size` words each of arrays follow. */
typedef struct state_header {
    char mark[8];
    int64_t nbody, nq, nv, nequality, ntendon, nactuator, nsensor_value, nhistory, ncontrol, nevent;
    int64_t ntree; /* ntree 0: nothing sleeps */
    int64_t ncontact, step;
    double time, time0;
} state_header;

typedef struct StateObject {
    PyObject_HEAD PyObject *bytes;
} StateObject;

enum { CONTACT_WORDS = 25, REST_WORDS = 3, WRENCH_WORDS = 6, SWITCH_WORDS = 8, EVENT_WORDS = 5 };
_Static_assert(sizeof(sim_contact) == CONTACT_WORDS * sizeof(double), "contacts have no padding, so bits can be equal");
_Static_assert(sizeof(sim_rest) == REST_WORDS * sizeof(double), "likewise");
_Static_assert(sizeof(sim_force) == WRENCH_WORDS * sizeof(double), "likewise");
_Static_assert(sizeof(sim_happened) == EVENT_WORDS * sizeof(double), "likewise");
_Static_assert(sizeof(sim_switched) == SWITCH_WORDS * sizeof(double), "likewise");

enum { STATE_ARRAYS = 22 };

/* An array of a state: where its pointer stands, and its words. */
typedef struct state_array {
    size_t offset;
    int64_t words;
} state_array;

static void list_arrays(const state_header *h, state_array list[STATE_ARRAYS]) {
    const state_array all[STATE_ARRAYS] = {
        {offsetof(sim_state, q), h->nq},
        {offsetof(sim_state, v), h->nv},
        {offsetof(sim_state, a), h->nv},
        {offsetof(sim_state, joint_impulse), SIM_JOINT_ROWS * h->nv},
        {offsetof(sim_state, equality_impulse), SIM_MAX_ROWS * h->nequality},
        {offsetof(sim_state, tendon_impulse), 4 * h->ntendon},
        {offsetof(sim_state, effort), h->nactuator},
        {offsetof(sim_state, activation), h->nactuator},
        {offsetof(sim_state, input), SIM_INPUTS * h->nactuator},
        {offsetof(sim_state, held), h->nv},
        {offsetof(sim_state, trail), 4 * h->nv},
        {offsetof(sim_state, sensor), h->nsensor_value},
        {offsetof(sim_state, history), h->nhistory},
        {offsetof(sim_state, applied), h->nv},
        {offsetof(sim_state, wrench), WRENCH_WORDS * h->nbody},
        {offsetof(sim_state, switched), SWITCH_WORDS * h->nequality},
        {offsetof(sim_state, control), h->ncontrol},
        {offsetof(sim_state, event), EVENT_WORDS * h->nevent},
        {offsetof(sim_state, rest), REST_WORDS * h->ntree},
        {offsetof(sim_state, contact), CONTACT_WORDS * h->ncontact},
        {offsetof(sim_state, impulse), 3 * h->ncontact},
        {offsetof(sim_state, impulse_trend), 3 * h->ncontact},
    };
    memcpy(list, all, sizeof all);
}

static int64_t state_bytes(const state_header *h) {
    state_array list[STATE_ARRAYS];
    list_arrays(h, list);
    int64_t words = 0;
    for (int k = 0; k < STATE_ARRAYS; k++) {
        words += list[k].words;
    }
    return (int64_t)sizeof *h + words * (int64_t)sizeof(double);
}

static state_header header_of(const sim_model *m, const sim_state *s) {
    state_header h = {.nbody = m->nbody,
                      .nq = m->nq,
                      .nv = m->nv,
                      .nequality = m->nequality,
                      .ntendon = m->ntendon,
                      .nactuator = m->nactuator,
                      .nsensor_value = m->nsensor_value,
                      .nhistory = m->nhistory,
                      .ncontrol = m->ncontrol,
                      .nevent = m->nevent,
                      .ntree = s->rest ? m->ntree : 0,
                      .ncontact = s->ncontact,
                      .step = s->step,
                      .time = s->time,
                      .time0 = s->time0};
    memcpy(h.mark, mark, sizeof mark);
    return h;
}

static const state_header *state_head(const StateObject *state) {
    return (const void *)PyBytes_AS_STRING(state->bytes);
}

/* Steals `bytes`. */
static PyObject *new_state(PyObject *bytes) {
    StateObject *self = bytes ? (StateObject *)StateType.tp_alloc(&StateType, 0) : NULL;
    if (!self) {
        Py_XDECREF(bytes);
        return NULL;
    }
    self->bytes = bytes;
    return (PyObject *)self;
}

PyObject *state_of(const sim_world *world) {
    const sim_state *s = sim_world_state(world);
    state_header h = header_of(sim_world_model(world), s);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)state_bytes(&h));
    if (!bytes) {
        return NULL;
    }
    char *to = PyBytes_AS_STRING(bytes);
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    state_array list[STATE_ARRAYS];
    list_arrays(&h, list);
    for (int k = 0; k < STATE_ARRAYS; k++) {
        const void *from = *(const void *const *)(const void *)((const char *)s + list[k].offset);
        size_t size = (size_t)list[k].words * sizeof(double);
        if (size && from) {
            memcpy(to, from, size);
        } else {
            memset(to, 0, size);
        }
        to += size;
    }
    return new_state(bytes);
}

/* The state in the block, which its pointers lead into. */
static sim_state state_in(const StateObject *state) {
    const state_header *h = state_head(state);
    sim_state s = {.time = h->time, .time0 = h->time0, .step = h->step, .ncontact = (int)h->ncontact};
    state_array list[STATE_ARRAYS];
    list_arrays(h, list);
    char *at = PyBytes_AS_STRING(state->bytes) + sizeof *h;
    for (int k = 0; k < STATE_ARRAYS; k++) {
        void *array = list[k].words ? at : NULL;
        memcpy((char *)&s + list[k].offset, &array, sizeof array);
        at += (size_t)list[k].words * sizeof(double);
    }
    return s;
}

bool state_read(PyObject *object, const sim_model *m, sim_state *state) {
    if (!object || !PyObject_TypeCheck(object, &StateType)) {
        PyErr_SetString(PyExc_TypeError, "a sim.State is expected, as world.state returns it");
        return false;
    }
    const state_header *h = state_head((StateObject *)object), here = header_of(m, &(sim_state){0});
    if (h->nbody != here.nbody || h->nq != here.nq || h->nv != here.nv || h->nequality != here.nequality ||
        h->ntendon != here.ntendon || h->nactuator != here.nactuator || h->nsensor_value != here.nsensor_value ||
        h->nhistory != here.nhistory || h->ncontrol != here.ncontrol || h->nevent != here.nevent ||
        (h->ntree && h->ntree != m->ntree)) {
        PyErr_Format(InputError,
                     "the state is of another model: it has %lld coordinates, %lld velocities, %lld actuators; the "
                     "world has %d, %d, %d",
                     (long long)h->nq, (long long)h->nv, (long long)h->nactuator, m->nq, m->nv, m->nactuator);
        return false;
    }
    *state = state_in((StateObject *)object);
    return true;
}

int state_restore(WorldObject *world, PyObject *object) {
    sim_state state;
    sim_error error;
    if (!state_read(object, world->scene->scene->model, &state)) {
        return -1;
    }
    if (sim_world_set_state(world->world, &state, &error)) {
        raise_error(&error);
        return -1;
    }
    return 0;
}

/* ---- the type ---- */

/* Are these the bytes of a state, whole?  Sizes are bounded first, so that nothing overflows. */
static bool bytes_fit(PyObject *bytes) {
    state_header h;
    if (PyBytes_GET_SIZE(bytes) < (Py_ssize_t)sizeof h) {
        return false;
    }
    memcpy(&h, PyBytes_AS_STRING(bytes), sizeof h);
    const int64_t sizes[] = {h.nbody,         h.nq,       h.nv,       h.nequality, h.ntendon, h.nactuator,
                             h.nsensor_value, h.nhistory, h.ncontrol, h.nevent,    h.ntree,   h.ncontact};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        if (sizes[k] < 0 || sizes[k] > INT32_MAX) {
            return false;
        }
    }
    return memcmp(h.mark, mark, sizeof mark) == 0 && state_bytes(&h) == PyBytes_GET_SIZE(bytes);
}

static PyObject *state_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"data", NULL};
    PyObject *bytes;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "S:State", (char **)names, &bytes)) {
        return NULL;
    }
    if (!bytes_fit(bytes)) {
        PyErr_SetString(InputError, "these are not the bytes of a state, or of another version");
        return NULL;
    }
    return new_state(Py_NewRef(bytes));
}

static void state_dealloc(PyObject *object) {
    Py_XDECREF(((StateObject *)object)->bytes);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *state_repr(PyObject *object) {
    const state_header *h = state_head((StateObject *)object);
    PyObject *time = PyFloat_FromDouble(h->time), *text = NULL;
    if (time) {
        text = PyUnicode_FromFormat("<sim.State at %R s, step %lld, %lld contacts>", time, (long long)h->step,
                                    (long long)h->ncontact);
        Py_DECREF(time);
    }
    return text;
}

static PyObject *state_compare(PyObject *a, PyObject *b, int op) {
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(a, &StateType) || !PyObject_TypeCheck(b, &StateType)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyObject_RichCompare(((StateObject *)a)->bytes, ((StateObject *)b)->bytes, op);
}

static Py_hash_t state_hash(PyObject *object) { return PyObject_Hash(((StateObject *)object)->bytes); }

static PyObject *state_as_bytes(PyObject *object, PyObject *none) {
    (void)none;
    return Py_NewRef(((StateObject *)object)->bytes);
}

static PyObject *state_reduce(PyObject *object, PyObject *none) {
    (void)none;
    return Py_BuildValue("O(O)", Py_TYPE(object), ((StateObject *)object)->bytes);
}

static PyObject *get_time(PyObject *object, void *none) {
    (void)none;
    return PyFloat_FromDouble(state_head((StateObject *)object)->time);
}

static PyObject *get_step(PyObject *object, void *none) {
    (void)none;
    return PyLong_FromLongLong(state_head((StateObject *)object)->step);
}

static PyObject *get_q(PyObject *object, void *none) {
    (void)none;
    StateObject *self = (StateObject *)object;
    char *words = PyBytes_AS_STRING(self->bytes) + sizeof(state_header);
    return borrowed_array((double *)(void *)words, (npy_intp)state_head(self)->nq, self->bytes, false);
}

static PyObject *get_v(PyObject *object, void *none) {
    (void)none;
    StateObject *self = (StateObject *)object;
    const state_header *h = state_head(self);
    char *words = PyBytes_AS_STRING(self->bytes) + sizeof *h + (size_t)h->nq * sizeof(double);
    return borrowed_array((double *)(void *)words, (npy_intp)h->nv, self->bytes, false);
}

static PyGetSetDef state_attributes[] = {
    {"time", get_time, NULL, "Time, s.", NULL},
    {"step", get_step, NULL, "Steps taken.", NULL},
    {"q", get_q, NULL, "Coordinates, a read-only array.", NULL},
    {"v", get_v, NULL, "Velocities, a read-only array.", NULL},
    {0},
};

static PyMethodDef state_methods[] = {
    {"__bytes__", state_as_bytes, METH_NOARGS, "__bytes__($self, /)\n--\n\nAll of the state; sim.State takes it."},
    {"__reduce__", state_reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nFor pickle and copy."},
    {0},
};

PyTypeObject StateType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.State",
    .tp_doc = "State(data)\n--\n\n"
              "All that the next steps depend on, as world.state returns it: it does not change.\n\n"
              "world.state = state continues from there with the same bits. States can be compared (equal: the same\n"
              "bits), hashed, pickled, and turned into bytes and back.",
    .tp_basicsize = sizeof(StateObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = state_new,
    .tp_dealloc = state_dealloc,
    .tp_repr = state_repr,
    .tp_richcompare = state_compare,
    .tp_hash = state_hash,
    .tp_methods = state_methods,
    .tp_getset = state_attributes,
};
