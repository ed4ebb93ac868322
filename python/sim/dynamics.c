/* Kinematics and dynamics of a world's model, at its state or at one of the caller.
 *
 *     tau = M(q) a + C(q, v)
 *
 * of the bodies and their armature alone: without contacts, actuators, springs and damping.  C includes gravity. */
#include "module.h"

#include <math.h>

#define WORLD(object) ((WorldObject *)(object))

static const sim_model *model_of(const WorldObject *w) { return w->scene->scene->model; }

/* ---- states of the caller ---- */

/* Are quaternions of unit length?  With an exception where not. */
static bool is_configuration(const sim_model *m, const double *q) {
    for (int k = 1; k < m->nbody; k++) {
        const sim_body *b = &m->body[k];
        if (b->joint == SIM_BALL || b->joint == SIM_FREE) {
            const double *x = q + b->q0 + b->nq - 4;
            double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
            if (!(fabs(norm - 1) <= 1e-6)) {
                PyErr_Format(InputError, "the quaternion of body \"%s\" is not of unit length", b->name);
                return false;
            }
        }
    }
    return true;
}

/* A point of the phase space: q, v and a vector of nv numbers, each given or of the state. */
typedef struct phase {
    double *q, *v, *x;
} phase;

static void phase_free(phase *p) { PyMem_Free(p->q); }

static bool is_given(PyObject *value) { return value && value != Py_None; }

/* `x` NULL: none.  Kinematics and velocities are then those of the point. */
static bool read_phase(WorldObject *w, PyObject *q, PyObject *v, PyObject *x, const char *name, phase *p) {
    *p = (phase){0};
    if (!world_sync(w)) {
        return false;
    }
    const sim_model *m = model_of(w);
    if (!w->derived && !(w->derived = sim_derived_create(m, NULL))) {
        PyErr_NoMemory();
        return false;
    }
    p->q = PyMem_Malloc((size_t)(m->nq + 3 * m->nv + 1) * sizeof *p->q);
    if (!p->q) {
        PyErr_NoMemory();
        return false;
    }
    p->v = p->q + m->nq;
    p->x = p->v + m->nv;
    memcpy(p->q, w->q.data, (size_t)m->nq * sizeof *p->q);
    memcpy(p->v, w->v.data, (size_t)m->nv * sizeof *p->v);
    bool ok = (!is_given(q) || (read_numbers(q, "q", m->nq, p->q) && is_configuration(m, p->q))) &&
              (!is_given(v) || read_numbers(v, "v", m->nv, p->v)) && (!x || read_numbers(x, name, m->nv, p->x));
    if (!ok) {
        phase_free(p);
        return false;
    }
    sim_kinematics(w->derived, sim_all(m), p->q);
    sim_velocities(w->derived, sim_all(m), p->v);
    return true;
}

/* ---- dynamics ---- */

static PyObject *mass_matrix(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"q", NULL};
    PyObject *q = NULL;
    phase p;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:mass_matrix", (char **)names, &q) ||
        !read_phase(WORLD(o), q, NULL, NULL, NULL, &p)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    double *M = PyMem_Malloc((size_t)(m->nl + 1) * sizeof *M);
    const npy_intp shape[2] = {m->nv, m->nv};
    PyObject *result = M ? PyArray_ZEROS(2, shape, NPY_DOUBLE, 0) : PyErr_NoMemory();
    if (result) {
        sim_crba(WORLD(o)->derived, sim_all(m), NULL, NULL, M);
        double *dense = PyArray_DATA((PyArrayObject *)result);
        for (int i = 0; i < m->nv; i++) {
            const double *row = M + m->dof[i].row;
            for (int j = i, k = m->dof[i].depth - 1; j >= 0; j = m->dof[j].parent, k--) {
                dense[(npy_intp)i * m->nv + j] = dense[(npy_intp)j * m->nv + i] = row[k];
            }
        }
    }
    PyMem_Free(M);
    phase_free(&p);
    return result;
}

static PyObject *inverse_dynamics_at(PyObject *o, PyObject *q, PyObject *v, PyObject *a) {
    phase p;
    if (!read_phase(WORLD(o), q, v, a, "a", &p)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    const npy_intp nv = m->nv;
    PyObject *tau = PyArray_SimpleNew(1, &nv, NPY_DOUBLE);
    if (tau) {
        sim_rnea(WORLD(o)->derived, sim_all(m), a ? p.x : NULL, NULL, m->gravity, PyArray_DATA((PyArrayObject *)tau));
    }
    phase_free(&p);
    return tau;
}

static PyObject *bias(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"q", "v", NULL};
    PyObject *q = NULL, *v = NULL;
    return PyArg_ParseTupleAndKeywords(args, keywords, "|OO:bias", (char **)names, &q, &v)
               ? inverse_dynamics_at(o, q, v, NULL)
               : NULL;
}

static PyObject *inverse_dynamics(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"a", "q", "v", NULL};
    PyObject *a, *q = NULL, *v = NULL;
    return PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:inverse_dynamics", (char **)names, &a, &q, &v)
               ? inverse_dynamics_at(o, q, v, a)
               : NULL;
}

static PyObject *forward_dynamics(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"tau", "q", "v", NULL};
    PyObject *tau, *q = NULL, *v = NULL;
    phase p;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:forward_dynamics", (char **)names, &tau, &q, &v) ||
        !read_phase(WORLD(o), q, v, tau, "tau", &p)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    const npy_intp nv = m->nv;
    PyObject *a = PyArray_SimpleNew(1, &nv, NPY_DOUBLE);
    if (a) {
        sim_aba(WORLD(o)->derived, sim_all(m), p.x, NULL, m->gravity, NULL, NULL, PyArray_DATA((PyArrayObject *)a));
    }
    phase_free(&p);
    return a;
}

/* `count` matrices [nv, nv] in a tuple, and the places of their numbers; NULL: with an exception. */
static PyObject *new_matrices(npy_intp nv, int count, double *to[]) {
    const npy_intp shape[2] = {nv, nv};
    PyObject *all = PyTuple_New(count);
    for (int k = 0; all && k < count; k++) {
        PyObject *one = PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
        if (!one) {
            Py_CLEAR(all);
            break;
        }
        to[k] = PyArray_DATA((PyArrayObject *)one);
        PyTuple_SET_ITEM(all, k, one);
    }
    return all;
}

/* (d tau / d q, d tau / d v) at an acceleration, or (d a / d q, d a / d v, d a / d tau) under forces. */
static PyObject *derivatives_at(PyObject *o, PyObject *q, PyObject *v, PyObject *x, bool forward) {
    phase p;
    if (!read_phase(WORLD(o), q, v, x, forward ? "tau" : "a", &p)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    sim_derivatives *work = sim_derivatives_create(m, NULL);
    double *to[3], *a = PyMem_Malloc((size_t)(m->nv + 1) * sizeof *a);
    PyObject *result = work && a ? new_matrices(m->nv, forward ? 3 : 2, to) : PyErr_NoMemory();
    if (result && forward) {
        sim_forward_derivatives(work, WORLD(o)->derived, sim_all(m), p.v, p.x, m->gravity, NULL, a, to[0], to[1],
                                to[2]);
    } else if (result) {
        sim_rnea_derivatives(work, WORLD(o)->derived, sim_all(m), p.v, p.x, m->gravity, to[0], to[1]);
    }
    PyMem_Free(a);
    sim_derivatives_free(work);
    phase_free(&p);
    return result;
}

static PyObject *inverse_dynamics_derivatives(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"a", "q", "v", NULL};
    PyObject *a, *q = NULL, *v = NULL;
    return PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:inverse_dynamics_derivatives", (char **)names, &a, &q, &v)
               ? derivatives_at(o, q, v, a, false)
               : NULL;
}

static PyObject *forward_dynamics_derivatives(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"tau", "q", "v", NULL};
    PyObject *tau, *q = NULL, *v = NULL;
    return PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:forward_dynamics_derivatives", (char **)names, &tau, &q,
                                       &v)
               ? derivatives_at(o, q, v, tau, true)
               : NULL;
}

/* ---- kinematics ---- */

/* ---- soft bodies ---- */

static PyObject *nodes(PyObject *o, PyObject *body) {
    /* the soft body */
    const sim_model *m = model_of(WORLD(o));
    int index = scene_index(WORLD(o)->scene, "bodies", body);
    const sim_soft *soft = NULL;
    for (int k = 0; k < m->nsoft && index >= 0; k++) {
        soft = m->soft[k].body == index ? &m->soft[k] : soft;
    }
    if (index >= 0 && !soft) {
        PyErr_Format(InputError, "the body \"%s\" is not soft", m->body[index].name);
    }
    if (!soft || !world_sync(WORLD(o))) {
        return NULL;
    }
    /* origins of its nodes */
    double *place = PyMem_Calloc((size_t)soft->nnode, 3 * sizeof *place);
    if (!place) {
        return PyErr_NoMemory();
    }
    for (int n = 0; n < soft->nnode; n++) {
        sim_v3 p = sim_world_derived(WORLD(o)->world)->pose[soft->body + 1 + n].p;
        place[3 * n] = p.x;
        place[3 * n + 1] = p.y;
        place[3 * n + 2] = p.z;
    }
    const npy_intp shape[2] = {soft->nnode, 3};
    PyObject *array = copied_array(2, shape, place);
    PyMem_Free(place);
    return array;
}

/* ---- frames ---- */

/* A frame on a body: the body's own, or that of a site. */
typedef struct frame {
    int body;
    sim_pose pose; /* in the body frame */
} frame;

static const sim_pose AT_BODY = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

static bool body_frame(const WorldObject *w, PyObject *body, frame *f) {
    *f = (frame){scene_index(w->scene, "bodies", body), AT_BODY};
    return f->body >= 0;
}

static bool site_frame(const WorldObject *w, PyObject *site, frame *f) {
    int index = scene_index(w->scene, "sites", site);
    if (index >= 0) {
        *f = (frame){model_of(w)->site[index].body, model_of(w)->site[index].pose};
    }
    return index >= 0;
}

static sim_v3 turned(const sim_m3 *R, sim_v3 a) {
    return (sim_v3){R->x.x * a.x + R->y.x * a.y + R->z.x * a.z, R->x.y * a.x + R->y.y * a.y + R->z.y * a.z,
                    R->x.z * a.x + R->y.z * a.y + R->z.z * a.z};
}

static sim_v3 cross(sim_v3 a, sim_v3 b) {
    return (sim_v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static PyObject *pose_of(WorldObject *w, const frame *f) {
    if (!world_sync(w)) {
        return NULL;
    }
    const sim_pose *X = &sim_world_derived(w->world)->pose[f->body];
    sim_v3 p = turned(&X->R, f->pose.p), x = turned(&X->R, f->pose.R.x), y = turned(&X->R, f->pose.R.y),
           z = turned(&X->R, f->pose.R.z);
    const double H[16] = {x.x, y.x, z.x, X->p.x + p.x, x.y, y.y, z.y, X->p.y + p.y,
                          x.z, y.z, z.z, X->p.z + p.z, 0,   0,   0,   1};
    const npy_intp shape[2] = {4, 4};
    return copied_array(2, shape, H);
}

static PyObject *body_pose(PyObject *o, PyObject *body) {
    frame f;
    return body_frame(WORLD(o), body, &f) ? pose_of(WORLD(o), &f) : NULL;
}

static PyObject *site_pose(PyObject *o, PyObject *site) {
    frame f;
    return site_frame(WORLD(o), site, &f) ? pose_of(WORLD(o), &f) : NULL;
}

/* The frame that the arguments name: a body, with a point of its own, or a site. */
static bool read_frame(WorldObject *w, PyObject *body, PyObject *point, PyObject *site, frame *f) {
    if (is_given(body) == is_given(site) || (is_given(site) && is_given(point))) {
        PyErr_SetString(PyExc_TypeError, "a body (with a point in its frame, or without), or a site is expected");
        return false;
    }
    return (is_given(site) ? site_frame(w, site, f) : body_frame(w, body, f)) &&
           (!is_given(point) || read_numbers(point, "point", 3, &f->pose.p.x));
}

/* Arguments of methods at a point of a body. */
static bool parse_frame(WorldObject *w, PyObject *args, PyObject *keywords, const char *format, frame *f) {
    static const char *const names[] = {"body", "point", "site", NULL};
    PyObject *body = NULL, *point = NULL, *site = NULL;
    return PyArg_ParseTupleAndKeywords(args, keywords, format, (char **)names, &body, &point, &site) &&
           read_frame(w, body, point, site, f) && world_sync(w);
}

static PyObject *velocity(PyObject *o, PyObject *args, PyObject *keywords) {
    frame f;
    if (!parse_frame(WORLD(o), args, keywords, "|OO$O:velocity", &f)) {
        return NULL;
    }
    const sim_derived *d = sim_world_derived(WORLD(o)->world);
    sim_motion v = d->vel[f.body];
    sim_v3 turn = cross(v.ang, turned(&d->pose[f.body].R, f.pose.p));
    const double numbers[6] = {v.ang.x, v.ang.y, v.ang.z, v.lin.x + turn.x, v.lin.y + turn.y, v.lin.z + turn.z};
    const npy_intp six = 6;
    return copied_array(1, &six, numbers);
}

static PyObject *jacobian(PyObject *o, PyObject *args, PyObject *keywords) {
    frame f;
    if (!parse_frame(WORLD(o), args, keywords, "|OO$O:jacobian", &f)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    const sim_derived *d = sim_world_derived(WORLD(o)->world);
    const npy_intp shape[2] = {6, m->nv};
    PyObject *result = PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
    int tree = m->body[f.body].tree;
    if (!result || tree < 0) {
        return result;
    }
    int nv = m->tree[tree].nv, v0 = m->tree[tree].v0;
    double *J = PyMem_Malloc((size_t)(6 * nv + 1) * sizeof *J), *to = PyArray_DATA((PyArrayObject *)result);
    if (!J) {
        Py_DECREF(result);
        return PyErr_NoMemory();
    }
    sim_body_jacobian(d, f.body, J);
    sim_v3 r = turned(&d->pose[f.body].R, f.pose.p);
    for (int j = 0; j < nv; j++) {
        sim_v3 turn = cross((sim_v3){J[j], J[nv + j], J[2 * nv + j]}, r);
        const double column[6] = {0, 0, 0, turn.x, turn.y, turn.z};
        for (int i = 0; i < 6; i++) {
            to[(npy_intp)i * m->nv + v0 + j] = J[i * nv + j] + column[i];
        }
    }
    PyMem_Free(J);
    return result;
}

/* ---- coordinates ---- */

static PyObject *advance(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"q", "v", "h", NULL};
    PyObject *q, *v;
    double h = 1;
    phase p;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|d:advance", (char **)names, &q, &v, &h) ||
        !read_phase(WORLD(o), q, v, NULL, NULL, &p)) {
        return NULL;
    }
    const sim_model *m = model_of(WORLD(o));
    const npy_intp nq = m->nq;
    sim_advance(m, sim_all(m), p.q, p.v, h, p.q);
    PyObject *result = copied_array(1, &nq, p.q);
    phase_free(&p);
    return result;
}

static PyObject *difference(PyObject *o, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"q0", "q1", NULL};
    PyObject *q0, *q1;
    phase a, b;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:difference", (char **)names, &q0, &q1) ||
        !read_phase(WORLD(o), q0, NULL, NULL, NULL, &a)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (read_phase(WORLD(o), q1, NULL, NULL, NULL, &b)) {
        const sim_model *m = model_of(WORLD(o));
        const npy_intp nv = m->nv;
        sim_difference(m, sim_all(m), a.q, b.q, a.v);
        result = copied_array(1, &nv, a.v);
        phase_free(&b);
    }
    phase_free(&a);
    return result;
}

#define METHOD(name, help)                                                                                             \
    { #name, (PyCFunction)(void (*)(void))name, METH_VARARGS | METH_KEYWORDS, help }

PyMethodDef dynamics_methods[] = {
    {"body_pose", body_pose, METH_O,
     "body_pose($self, body, /)\n--\n\nFrame of a body (name or number) in the world: a 4 x 4 matrix [R p; 0 1]."},
    {"nodes", nodes, METH_O,
     "nodes($self, body, /)\n--\n\nPlaces of the nodes of a soft body (name or number) in the world: an array [n, 3], "
     "m."},
    {"site_pose", site_pose, METH_O, "site_pose($self, site, /)\n--\n\nThe same of a site."},
    METHOD(velocity, "velocity($self, /, body=None, point=None, *, site=None)\n--\n\n"
                     "Velocity [6] of a body, angular and linear, in world axes, at its origin, at a point given in\n"
                     "its frame, or at a site."),
    METHOD(jacobian, "jacobian($self, /, body=None, point=None, *, site=None)\n--\n\n"
                     "The matrix [6, nv] that takes v to that velocity."),
    METHOD(mass_matrix, "mass_matrix($self, /, q=None)\n--\n\nMass matrix M(q) [nv, nv], armature included."),
    METHOD(bias, "bias($self, /, q=None, v=None)\n--\n\n"
                 "C(q, v): generalised forces [nv] that velocities and gravity ask for at zero acceleration."),
    METHOD(inverse_dynamics, "inverse_dynamics($self, /, a, *, q=None, v=None)\n--\n\n"
                             "tau = M(q) a + C(q, v): the forces [nv] for an acceleration, of bodies alone, without\n"
                             "contacts, actuators, springs and damping."),
    METHOD(forward_dynamics, "forward_dynamics($self, /, tau, *, q=None, v=None)\n--\n\n"
                             "The acceleration [nv] under generalised forces tau; inverse of inverse_dynamics."),
    METHOD(inverse_dynamics_derivatives,
           "inverse_dynamics_derivatives($self, /, a, *, q=None, v=None)\n--\n\n"
           "(d tau / d q, d tau / d v) of inverse_dynamics, [nv, nv] each; column j is the derivative along\n"
           "advance(q, e_j, h)."),
    METHOD(forward_dynamics_derivatives, "forward_dynamics_derivatives($self, /, tau, *, q=None, v=None)\n--\n\n"
                                         "(d a / d q, d a / d v, d a / d tau) of forward_dynamics, [nv, nv] each."),
    METHOD(advance, "advance($self, /, q, v, h=1.0)\n--\n\n"
                    "Coordinates moved along v for the time h: q + h v, where quaternions stay of unit length."),
    METHOD(difference, "difference($self, /, q0, q1)\n--\n\nThe v with advance(q0, v) = q1."),
    {0},
};
