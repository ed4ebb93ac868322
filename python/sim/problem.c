/* Contact problems of a step as arrays, and in files. */
#include "module.h"

#define SELF(object) ((ProblemObject *)(object))
#define PROBLEM(object) (SELF(object)->problem)

/* Steals `own`, `file`: one of them, the other NULL. */
static PyObject *new_problem(sim_problem *own, sim_problem_file *file, const sim_law_options *law) {
    ProblemObject *self = SELF(ProblemType.tp_alloc(&ProblemType, 0));
    if (!self) {
        sim_problem_free(own);
        sim_problem_file_free(file);
        return NULL;
    }
    self->own = own;
    self->file = file;
    self->problem = own ? own : sim_problem_file_problem(file);
    self->law = *law;
    return (PyObject *)self;
}

PyObject *world_problem(PyObject *object, PyObject *none) {
    (void)none;
    WorldObject *w = (WorldObject *)object;
    sim_error error = {.status = SIM_NO_RESOURCE, .text = "no memory for a contact problem"};
    if (!world_sync(w)) {
        return NULL;
    }
    sim_problem *problem;
    w->busy = true;
    Py_BEGIN_ALLOW_THREADS problem = sim_world_problem(w->world, &error);
    Py_END_ALLOW_THREADS w->busy = false;
    return problem ? new_problem(problem, NULL, &sim_world_options(w->world)->law) : raise_error(&error);
}

PyObject *load_problem(PyObject *module, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"path", NULL};
    PyObject *path;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&:load_problem", (char **)names, PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    sim_error error;
    sim_problem_file *file = sim_problem_file_read(PyBytes_AS_STRING(path), &error);
    Py_DECREF(path);
    if (!file) {
        return raise_error(&error);
    }
    sim_law_options law = sim_problem_file_law(file);
    return new_problem(NULL, file, &law);
}

static PyObject *problem_write(PyObject *object, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"path", "title", "description", NULL};
    PyObject *path;
    const char *title = "", *description = "";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|ss:write", (char **)names, PyUnicode_FSConverter, &path,
                                     &title, &description)) {
        return NULL;
    }
    sim_error error;
    sim_problem_file *file =
        sim_problem_file_create_under(PROBLEM(object), &SELF(object)->law, title, description, &error);
    bool written = file && !sim_problem_file_write(file, PyBytes_AS_STRING(path), &error);
    sim_problem_file_free(file);
    Py_DECREF(path);
    if (!written) {
        return raise_error(&error);
    }
    Py_RETURN_NONE;
}

/* ---- sparse matrices ---- */

/* A matrix in compressed rows, filled row by row. */
typedef struct csr {
    PyObject *data, *column, *start; /* arrays */
    double *value;
    int32_t *index, *first;
    npy_intp rows, columns, filled;
} csr;

static bool csr_create(csr *m, npy_intp rows, npy_intp columns, npy_intp nonzeros) {
    npy_intp starts = rows + 1;
    *m = (csr){.rows = rows, .columns = columns};
    m->data = PyArray_SimpleNew(1, &nonzeros, NPY_DOUBLE);
    m->column = PyArray_SimpleNew(1, &nonzeros, NPY_INT32);
    m->start = PyArray_SimpleNew(1, &starts, NPY_INT32);
    if (!m->data || !m->column || !m->start) {
        return false;
    }
    m->value = PyArray_DATA((PyArrayObject *)m->data);
    m->index = PyArray_DATA((PyArrayObject *)m->column);
    m->first = PyArray_DATA((PyArrayObject *)m->start);
    m->first[0] = 0;
    return true;
}

static void csr_put(csr *m, const double *values, int count, int column0) {
    for (int k = 0; k < count; k++) {
        m->value[m->filled] = values[k];
        m->index[m->filled++] = column0 + k;
    }
}

static void csr_end_row(csr *m, npy_intp row) { m->first[row + 1] = (int32_t)m->filled; }

/* The matrix as scipy.sparse.csr_matrix; frees it. */
static PyObject *csr_finish(csr *m) {
    PyObject *sparse = m->start && m->column && m->data ? PyImport_ImportModule("scipy.sparse") : NULL;
    PyObject *arrays = sparse ? Py_BuildValue("(OOO)", m->data, m->column, m->start) : NULL;
    PyObject *matrix =
        arrays ? PyObject_CallMethod(sparse, "csr_matrix", "(O(nn))", arrays, m->rows, m->columns) : NULL;
    Py_XDECREF(arrays);
    Py_XDECREF(sparse);
    Py_XDECREF(m->data);
    Py_XDECREF(m->column);
    Py_XDECREF(m->start);
    return matrix;
}

static PyObject *get_A(PyObject *o, void *none) {
    (void)none;
    const sim_problem *p = PROBLEM(o);
    npy_intp nonzeros = 0;
    int most = 0;
    for (int t = 0; t < p->ntree; t++) {
        nonzeros += (npy_intp)p->tree[t].nv * p->tree[t].nv;
        most = p->tree[t].nv > most ? p->tree[t].nv : most;
    }
    double *block = PyMem_Malloc(((size_t)most * (size_t)most + 1) * sizeof *block);
    csr m;
    if (!block) {
        return PyErr_NoMemory();
    }
    bool made = csr_create(&m, p->nv, p->nv, nonzeros);
    for (int t = 0; made && t < p->ntree; t++) {
        int nv = p->tree[t].nv, v0 = p->tree[t].v0;
        p->mass.matrix(p->mass.self, t, block);
        for (int i = 0; i < nv; i++) {
            csr_put(&m, block + (ptrdiff_t)i * nv, nv, v0);
            csr_end_row(&m, v0 + i);
        }
    }
    PyMem_Free(block);
    return csr_finish(&m);
}

/* The sides of a constraint, that with the lower columns first; their number. */
static int sort_sides(const sim_problem *p, const sim_constraint *c, int side[2]) {
    int count = 0;
    for (int k = 0; k < 2; k++) {
        if (c->tree[k] >= 0) {
            side[count++] = k;
        }
    }
    if (count == 2 && p->tree[c->tree[0]].v0 > p->tree[c->tree[1]].v0) {
        side[0] = 1;
        side[1] = 0;
    }
    return count;
}

static PyObject *get_J(PyObject *o, void *none) {
    (void)none;
    const sim_problem *p = PROBLEM(o);
    npy_intp nonzeros = 0;
    int side[2];
    for (int i = 0; i < p->nconstraint && p->ntree; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = sort_sides(p, c, side) - 1; k >= 0; k--) {
            nonzeros += (npy_intp)c->rows * sim_block_columns(p, c, side[k]).count;
        }
    }
    csr m;
    bool made = csr_create(&m, p->nrow, p->nv, nonzeros);
    for (int r = 0; made && r < p->nrow; r++) {
        m.first[r + 1] = 0;
    }
    for (int i = 0; made && p->ntree && i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        int sides = sort_sides(p, c, side);
        for (int r = 0; r < c->rows; r++) {
            for (int k = 0; k < sides; k++) {
                const sim_problem_tree *tree = &p->tree[c->tree[side[k]]];
                sim_columns columns = sim_block_columns(p, c, side[k]);
                csr_put(&m, p->J + c->block[side[k]] + (ptrdiff_t)r * tree->nv + columns.first, columns.count,
                        tree->v0 + columns.first);
            }
            csr_end_row(&m, c->row + r);
        }
    }
    return csr_finish(&m);
}

static PyObject *get_W(PyObject *o, void *none) {
    (void)none;
    const sim_problem *p = PROBLEM(o);
    if (!sim_problem_local(p)) {
        Py_RETURN_NONE;
    }
    const sim_delassus *W = p->W;
    npy_intp nonzeros = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            nonzeros += (npy_intp)p->constraint[i].rows * p->constraint[W->column[k]].rows;
        }
    }
    csr m;
    bool made = csr_create(&m, p->nrow, p->nrow, nonzeros);
    for (int i = 0; made && i < p->nconstraint; i++) {
        for (int r = 0; r < p->constraint[i].rows; r++) {
            for (int k = W->start[i]; k < W->start[i + 1]; k++) {
                const sim_constraint *other = &p->constraint[W->column[k]];
                csr_put(&m, W->value + W->at[k] + (ptrdiff_t)r * other->rows, other->rows, other->row);
            }
            csr_end_row(&m, p->constraint[i].row + r);
        }
    }
    return csr_finish(&m);
}

/* ---- numbers ---- */

/* Arrays of a problem, by the offset of their pointer: of its velocities, or of its rows. */
static PyObject *vector(PyObject *o, size_t offset, npy_intp count) {
    const double *const *numbers = (const void *)((const char *)PROBLEM(o) + offset);
    if (!*numbers) {
        Py_RETURN_NONE;
    }
    return copied_array(1, &count, *numbers);
}

static PyObject *get_velocities(PyObject *o, void *offset) { return vector(o, (size_t)offset, PROBLEM(o)->nv); }
static PyObject *get_rows(PyObject *o, void *offset) { return vector(o, (size_t)offset, PROBLEM(o)->nrow); }

static PyObject *get_offset(PyObject *o, void *none) {
    (void)none;
    npy_intp rows = PROBLEM(o)->nrow;
    return PROBLEM(o)->offset ? copied_array(1, &rows, PROBLEM(o)->offset) : PyArray_ZEROS(1, &rows, NPY_DOUBLE, 0);
}

static PyObject *get_int(PyObject *o, void *offset) {
    return PyLong_FromLong(*(const int *)(const void *)((const char *)PROBLEM(o) + (size_t)offset));
}

static PyObject *get_dt(PyObject *o, void *none) {
    (void)none;
    return PyFloat_FromDouble(PROBLEM(o)->step);
}

#define CONSTRAINT(member, type)                                                                                       \
    { #member, type, offsetof(sim_constraint, member), "" }

static const record_field constraint_fields[] = {
    CONSTRAINT(kind, 'i'),
    CONSTRAINT(row, 'i'),
    CONSTRAINT(rows, 'i'),
    CONSTRAINT(tree, 'p'),
    CONSTRAINT(body, 'p'),
    CONSTRAINT(id, 'L'),
    CONSTRAINT(friction, 'd'),
    CONSTRAINT(stiffness, 'd'),
    CONSTRAINT(dissipation, 'd'),
    CONSTRAINT(damping, 'd'),
    CONSTRAINT(force, 'd'),
    CONSTRAINT(bound, 'd'),
    CONSTRAINT(restitution, 'd'),
    CONSTRAINT(rolling, 'd'),
    CONSTRAINT(torsion, 'd'),
    CONSTRAINT(turns, 'i'),
    {0},
};

static PyObject *get_constraints(PyObject *o, void *none) {
    (void)none;
    PyArray_Descr *dtype = record_dtype(constraint_fields, sizeof(sim_constraint));
    npy_intp count = PROBLEM(o)->nconstraint;
    PyObject *array = dtype ? PyArray_Zeros(1, &count, dtype, 0) : NULL;
    if (array && count) {
        memcpy(PyArray_DATA((PyArrayObject *)array), PROBLEM(o)->constraint, (size_t)count * sizeof(sim_constraint));
    }
    return array;
}

static PyObject *get_kinds(PyObject *o, void *none) {
    (void)none;
    const sim_problem *p = PROBLEM(o);
    PyObject *kinds = PyTuple_New(p->nconstraint);
    for (int k = 0; kinds && k < p->nconstraint; k++) {
        PyObject *name = PyUnicode_FromString(sim_constraint_name(p->constraint[k].kind));
        if (!name) {
            Py_CLEAR(kinds);
            break;
        }
        PyTuple_SET_ITEM(kinds, k, name);
    }
    return kinds;
}

/* ---- the type ---- */

static void problem_dealloc(PyObject *object) {
    sim_problem_free(SELF(object)->own);
    sim_problem_file_free(SELF(object)->file);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *problem_repr(PyObject *object) {
    const sim_problem *p = PROBLEM(object);
    return PyUnicode_FromFormat("<sim.Problem of %d velocities, %d constraints, %d rows>", p->nv, p->nconstraint,
                                p->nrow);
}

#define AT(member) (void *)offsetof(sim_problem, member)

static PyGetSetDef problem_attributes[] = {
    {"dt", get_dt, NULL, "Time step, s.", NULL},
    {"nv", get_int, NULL, "Number of velocities; 0 of local problems.", AT(nv)},
    {"nrow", get_int, NULL, "Number of rows.", AT(nrow)},
    {"A", get_A, NULL, "Mass matrix with implicit terms [nv, nv], a scipy.sparse.csr_matrix.", NULL},
    {"J", get_J, NULL, "Jacobian of the rows [nrow, nv], likewise.", NULL},
    {"W", get_W, NULL, "Delassus operator [nrow, nrow] of local problems, likewise; else None.", NULL},
    {"q", get_rows, NULL, "Free velocity of the rows [nrow] of local problems: u = W impulse + q; else None.", AT(q)},
    {"v_free", get_velocities, NULL, "Velocities at the end of the step without constraints [nv].", AT(v_free)},
    {"v_start", get_velocities, NULL, "Velocities before the step [nv].", AT(v_start)},
    {"offset", get_offset, NULL, "w of u = J v + w [nrow].", NULL},
    {"gap", get_rows, NULL, "Gaps of the rows [nrow], m or rad; of a contact its third is meant.", AT(gap)},
    {"impulse_guess", get_rows, NULL, "Warm start [nrow]; None: there is none.", AT(impulse_guess)},
    {"constraints", get_constraints, NULL, "The constraints, a structured array of their parameters.", NULL},
    {"kinds", get_kinds, NULL, "The kind of each constraint in words.", NULL},
    {0},
};

static PyMethodDef problem_methods[] = {
    {"regularise", (PyCFunction)(void (*)(void))problem_law, METH_VARARGS | METH_KEYWORDS,
     "regularise($self, /, compliance='rigid', law=None)\n--\n\n"
     "Compliance R and target velocity of all rows ([nrow] each) under a law: s = u - target + R impulse."},
    {"write", (PyCFunction)(void (*)(void))problem_write, METH_VARARGS | METH_KEYWORDS,
     "write($self, /, path, title='', description='')\n--\n\n"
     "Write an HDF5 file in FCLIB's format, which sim.load_problem and `sim solve` read."},
    {0},
};

PyTypeObject ProblemType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim.Problem",
    .tp_doc =
        "The contact problem of one step, from world.problem() or sim.load_problem.\n\n"
        "A (v - v_free) = J' impulse, u = J v + offset, and a law between u and the impulses of each constraint.\n"
        "A contact has the rows (t1, t2, n). Local problems have u = W impulse + q in place of A and J.",
    .tp_basicsize = sizeof(ProblemObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = problem_dealloc,
    .tp_repr = problem_repr,
    .tp_methods = problem_methods,
    .tp_getset = problem_attributes,
};
