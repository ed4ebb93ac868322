/* Solutions of contact problems by any solver, judged as steps are. */
#include "module.h"

#define SELF(object) ((ProblemObject *)(object))
#define PROBLEM(object) (SELF(object)->problem)

/* ---- laws ---- */

/* R and target of two laws: that of the certificate, and the solver's own. */
typedef struct laws {
    double *numbers, *R[2], *target[2];
} laws;

static bool laws_create(laws *l, const sim_problem *p, int compliance, const sim_law_options *law) {
    size_t rows = (size_t)p->nrow, diagonal = sim_delassus_diagonal_size(p);
    double *W = PyMem_Malloc((diagonal + 1) * sizeof *W);
    l->numbers = PyMem_Calloc(4 * rows + 1, sizeof *l->numbers);
    sim_error error;
    bool ok = false;
    if (!W || !l->numbers) {
        PyErr_NoMemory();
    } else if (sim_delassus_diagonal(p, W, &error)) {
        raise_error(&error);
    } else {
        for (int k = 0; k < 2; k++) {
            l->R[k] = l->numbers + 2 * (size_t)k * rows;
            l->target[k] = l->R[k] + rows;
            sim_regularise(p, k ? (sim_compliance)compliance : SIM_RIGID, law, W, l->R[k], l->target[k]);
        }
        ok = true;
    }
    PyMem_Free(W);
    return ok;
}

PyObject *problem_law(PyObject *object, PyObject *args, PyObject *keywords) {
    static const char *const names[] = {"compliance", "law", NULL};
    const char *word = "rigid";
    PyObject *numbers = Py_None;
    sim_law_options law = SELF(object)->law;
    int compliance = SIM_RIGID;
    laws l = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|sO:regularise", (char **)names, &word, &numbers) ||
        !read_compliance(word, &compliance) || (numbers != Py_None && !read_law_options(numbers, &law))) {
        return NULL;
    }
    npy_intp rows = PROBLEM(object)->nrow;
    bool ok = laws_create(&l, PROBLEM(object), compliance, &law);
    PyObject *R = ok ? copied_array(1, &rows, l.R[1]) : NULL, *target = ok ? copied_array(1, &rows, l.target[1]) : NULL;
    PyMem_Free(l.numbers);
    return Py_BuildValue("(NN)", R, target);
}

/* ---- solutions ---- */

enum {
    SOLUTION_IMPULSE,
    SOLUTION_V,
    SOLUTION_U,
    SOLUTION_SOLVED,
    SOLUTION_OUTCOME,
    SOLUTION_REASON,
    SOLUTION_ITERATIONS,
    SOLUTION_RESIDUAL,
    SOLUTION_SECONDS,
    SOLUTION_CERTIFICATE,
    SOLUTION_FIELDS,
};

static PyStructSequence_Field solution_fields[] = {
    {"impulse", "impulses of all rows [nrow], N s or N m s"},
    {"v", "velocities [nv]; None of local problems"},
    {"u", "velocities of all rows [nrow]: J v + offset"},
    {"solved", "within the solver's tolerance or to rounding, and not refuted by the certificate"},
    {"outcome", "in words"},
    {"reason", "for which the solver stopped short, in words; None: it did not"},
    {"iterations", "of the solver"},
    {"residual", "that the solver stops on"},
    {"seconds", "that the solver took, s"},
    {"certificate", "errors of the solution: a Certificate"},
    {NULL, NULL},
};

static PyTypeObject *SolutionType;

int solution_add(PyObject *module) {
    static PyStructSequence_Desc about = {"sim.Solution", "Solution of a contact problem, judged.", solution_fields,
                                          SOLUTION_FIELDS};
    SolutionType = PyStructSequence_NewType(&about);
    return SolutionType ? PyModule_AddObjectRef(module, "Solution", (PyObject *)SolutionType) : -1;
}

/* A solution with its arrays. */
typedef struct answer {
    PyObject *impulse, *v, *u;
    sim_solution solution;
    sim_certificate certificate;
    double seconds;
} answer;

/* Ctrl-C while a solver runs: asked for once an iteration, looked at twenty times a second. */
typedef struct interrupt {
    PyThreadState *thread;
    double next;
    bool seen;
} interrupt;

static bool is_interrupted(void *context) {
    interrupt *i = context;
    if (!i->seen && monotonic_seconds() > i->next) {
        PyEval_RestoreThread(i->thread);
        i->seen = PyErr_CheckSignals() != 0;
        i->thread = PyEval_SaveThread();
        i->next = monotonic_seconds() + 0.05;
    }
    return i->seen;
}

/* Solves, judges and confirms without the GIL; false with an exception. */
static bool run_solver(const sim_problem *p, sim_solver *solver, const laws *l, double *work, answer *a) {
    sim_error error;
    const sim_regularisation rigid = {l->R[0], l->target[0]}, own = {l->R[1], l->target[1]};
    interrupt signals = {.next = monotonic_seconds() + 0.05};
    a->solution.stop = is_interrupted;
    a->solution.stop_context = &signals;
    double began = monotonic_seconds();
    signals.thread = PyEval_SaveThread();
    sim_status status = sim_solver_solve(solver, p, &own, &a->solution, &error);
    a->seconds = monotonic_seconds() - began;
    if (!status && !signals.seen) {
        sim_judgement judgement = {0}, sum = {0};
        sim_judge(p, &rigid, &own, sim_solver_info_of(solver)->cone, a->solution.v, a->solution.impulse, work,
                  &judgement);
        sim_judgement_add(&sum, &judgement, 0);
        a->certificate = sim_judgement_finish(&sum);
        sim_solver_confirm(solver, a->certificate.own, a->certificate.momentum, &a->solution.outcome,
                           &a->solution.reason);
    }
    PyEval_RestoreThread(signals.thread);
    if (status) {
        raise_error(&error);
    }
    return !status && !signals.seen;
}

/* u = J v + w, or W gamma + q. */
static void fill_row_velocities(const sim_problem *p, const answer *a) {
    double *u = PyArray_DATA((PyArrayObject *)a->u);
    const double *g = a->solution.impulse;
    if (!sim_problem_local(p)) {
        sim_solver_velocity(p, a->solution.v, u);
        return;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int r = 0; r < c->rows; r++) {
            double sum = p->q[c->row + r];
            for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
                const sim_constraint *other = &p->constraint[p->W->column[k]];
                const double *block = p->W->value + p->W->at[k] + (ptrdiff_t)r * other->rows;
                for (int j = 0; j < other->rows; j++) {
                    sum += block[j] * g[other->row + j];
                }
            }
            u[c->row + r] = sum;
        }
    }
}

/* Takes the arrays of the answer. */
static PyObject *solution_record(const sim_problem *p, answer *a) {
    PyObject *result = PyStructSequence_New(SolutionType);
    if (!result) {
        return NULL;
    }
    fill_row_velocities(p, a);
    const sim_solution *s = &a->solution;
    PyObject *const values[SOLUTION_FIELDS] = {
        [SOLUTION_IMPULSE] = Py_NewRef(a->impulse),
        [SOLUTION_V] = Py_NewRef(sim_problem_local(p) ? Py_None : a->v),
        [SOLUTION_U] = Py_NewRef(a->u),
        [SOLUTION_SOLVED] = PyBool_FromLong(s->outcome == SIM_SOLVED || s->outcome == SIM_AT_ROUNDING),
        [SOLUTION_OUTCOME] = PyUnicode_FromString(sim_outcome_name(s->outcome)),
        [SOLUTION_REASON] =
            s->reason == SIM_REASON_NONE ? Py_NewRef(Py_None) : PyUnicode_FromString(sim_reason_name(s->reason)),
        [SOLUTION_ITERATIONS] = PyLong_FromLong(s->iterations),
        [SOLUTION_RESIDUAL] = PyFloat_FromDouble(s->residual),
        [SOLUTION_SECONDS] = PyFloat_FromDouble(a->seconds),
        [SOLUTION_CERTIFICATE] = certificate_record(&a->certificate),
    };
    bool whole = true;
    for (int k = 0; k < SOLUTION_FIELDS; k++) {
        PyStructSequence_SetItem(result, k, values[k]);
        whole = whole && values[k];
    }
    if (!whole) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *solve_by(const sim_problem *p, const sim_solver_info *info, const double *option, int compliance,
                          const sim_law_options *law) {
    sim_error error;
    laws l = {0};
    answer a = {0};
    npy_intp rows = p->nrow, nv = p->nv;
    sim_solver *solver = sim_solver_create(info, option, &error);
    if (!solver || sim_solver_accepts(solver, p, &error)) {
        sim_solver_free(solver);
        return raise_error(&error);
    }
    double *work = PyMem_Malloc((sim_judge_work(p) + 1) * sizeof *work);
    a.impulse = PyArray_ZEROS(1, &rows, NPY_DOUBLE, 0);
    a.v = PyArray_ZEROS(1, &nv, NPY_DOUBLE, 0);
    a.u = PyArray_ZEROS(1, &rows, NPY_DOUBLE, 0);
    PyObject *result = NULL;
    if (work && a.impulse && a.v && a.u && laws_create(&l, p, compliance, law)) {
        a.solution.impulse = PyArray_DATA((PyArrayObject *)a.impulse);
        a.solution.v = PyArray_DATA((PyArrayObject *)a.v);
        result = run_solver(p, solver, &l, work, &a) ? solution_record(p, &a) : NULL;
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    PyMem_Free(l.numbers);
    PyMem_Free(work);
    sim_solver_free(solver);
    Py_XDECREF(a.impulse);
    Py_XDECREF(a.v);
    Py_XDECREF(a.u);
    return result;
}

/* Keywords of `solve` that are no options of the solver. */
enum { ASKS_COMPLIANCE, ASKS_LAW, ASKS_GUESS, ASKED };

/* Splits the keywords into these (borrowed from `keywords`; NULL: not given, or None) and the others, a new dict. */
static PyObject *split_keywords(PyObject *keywords, PyObject *asked[ASKED]) {
    static const char *const names[ASKED] = {"compliance", "law", "guess"};
    PyObject *options = keywords ? PyDict_Copy(keywords) : PyDict_New();
    for (int k = 0; k < ASKED; k++) {
        asked[k] = keywords ? PyDict_GetItemString(keywords, names[k]) : NULL;
        if (options && asked[k] && PyDict_DelItemString(options, names[k])) {
            Py_CLEAR(options);
        }
        asked[k] = asked[k] == Py_None ? NULL : asked[k];
    }
    return options;
}

PyObject *solve(PyObject *module, PyObject *args, PyObject *keywords) {
    PyObject *object, *asked[ASKED];
    const char *name = NULL, *word = NULL;
    double option[MAX_SOLVER_OPTIONS];
    (void)module;
    if (!PyArg_ParseTuple(args, "O!|z:solve", &ProblemType, &object, &name)) {
        return NULL;
    }
    const sim_solver_info *info = name ? find_solver(name) : sim_solver_default();
    PyObject *options = info ? split_keywords(keywords, asked) : NULL;
    if (!options) {
        return NULL;
    }
    /* the law that the solver takes by default; the elastic one needs the loads of the step before */
    int compliance = info->default_law == SIM_ELASTIC ? SIM_RIGID : (int)info->default_law;
    sim_law_options law = SELF(object)->law;
    bool ok = read_solver_options(info, NULL, options, option);
    Py_DECREF(options);
    if (ok && asked[ASKS_COMPLIANCE]) {
        word = read_word(asked[ASKS_COMPLIANCE], "compliance");
        ok = word && read_compliance(word, &compliance);
    }
    ok = ok && (!asked[ASKS_LAW] || read_law_options(asked[ASKS_LAW], &law));
    /* warm start */
    int guess = ok && asked[ASKS_GUESS] ? PyObject_IsTrue(asked[ASKS_GUESS]) : 1;
    sim_problem problem = *PROBLEM(object);
    if (guess == 0) {
        problem.v_guess = problem.impulse_guess = problem.impulse_trend = NULL;
    }
    return ok && guess >= 0 ? solve_by(&problem, info, option, compliance, &law) : NULL;
}
