/* The module sim._sim: its functions and types. */
#define SIM_PYTHON_IMPORTS_ARRAY
#include "module.h"

static PyObject *build_info(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    return text_of(sim_build_info());
}

static PyMethodDef functions[] = {
    {"_load", (PyCFunction)(void (*)(void))scene_load, METH_VARARGS | METH_KEYWORDS,
     "A scene from a file or a text: sim.load and sim.loads call it."},
    {"_rollout", (PyCFunction)(void (*)(void))rollout, METH_VARARGS | METH_KEYWORDS,
     "Runs from states and inputs as contiguous arrays: sim.rollout calls it."},
    {"_sweep", sweep_load, METH_VARARGS, "A sweep from a text: sim.load_sweep calls it."},
    {"_sweep_rows", sweep_rows, METH_VARARGS, "Rows of a sweep on their way to a file: sim.sweep calls it."},
    {"load_problem", (PyCFunction)(void (*)(void))load_problem, METH_VARARGS | METH_KEYWORDS,
     "load_problem(path)\n--\n\nA contact problem from an HDF5 file in FCLIB's format or our own: a Problem."},
    {"solve", (PyCFunction)(void (*)(void))solve, METH_VARARGS | METH_KEYWORDS,
     "solve(problem, solver=None, /, *, compliance=None, law=None, guess=True, **options)\n--\n\n"
     "Solve a contact problem by a solver (name; None: the default) with its options, and judge the solution.\n\n"
     "compliance  rigid, near-rigid or elastic; None: that of the solver, rigid where it takes elastic\n"
     "law         dict of numbers of that law: beta, sigma, push, threshold, carried, slop, undo\n"
     "guess       start from the impulses of the step before\n\n"
     "Returns a Solution. Releases the GIL; Ctrl-C stops the solver."},
    {"solvers", list_solvers, METH_NOARGS,
     "solvers()\n--\n\n"
     "All contact solvers: a dict from the name to a dict of method, paper, cone, compliance (the law that it\n"
     "takes by default) and options (with their default values)."},
    {"build_info", build_info, METH_NOARGS, "build_info()\n--\n\nCompiler, instruction set and options of this build."},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "sim._sim",   .m_doc = "The part of the package sim that is written in C.",
    .m_size = -1,          .m_methods = functions,
};

PyMODINIT_FUNC PyInit__sim(void);

PyMODINIT_FUNC PyInit__sim(void) {
    import_array();
    PyTypeObject *const types[] = {&StateType, &ProblemType, &RecorderType, &SweepType};
    PyObject *module = PyModule_Create(&definition);
    bool ok = module && !errors_add(module) && !records_add(module) && !solution_add(module) && !joint_add(module) &&
              !reach_add(module) && !scene_add(module) && !world_add(module) &&
              !PyModule_AddStringConstant(module, "__version__", sim_version());
    ok = ok && PyType_Ready(&RowsType) == 0;
    for (size_t k = 0; ok && k < sizeof types / sizeof *types; k++) {
        ok = !PyModule_AddType(module, types[k]);
    }
    if (!ok) {
        Py_CLEAR(module);
    }
    return module;
}
