/* Options of worlds and solvers by keyword, from one table. */
#include "module.h"

#include <math.h>

/* A keyword, and the member of sim_options that it sets. */
typedef struct option_field {
    const char *name;
    char type; /* d, i, b: numbers at `offset`; the others have functions of their own */
    size_t offset;
} option_field;

#define OPTION(name, type, member)                                                                                     \
    { name, type, offsetof(sim_options, member) }

static const option_field option_fields[] = {
    OPTION("dt", 'd', step),
    OPTION("threads", 'i', threads),
    OPTION("tolerance", 'd', tolerance),
    OPTION("max_iterations", 'i', max_iterations),
    OPTION("contacts", 'b', contacts),
    OPTION("contact_margin", 'd', contact_margin),
    OPTION("sleep", 'b', sleep),
    OPTION("sleep_speed", 'd', sleep_speed),
    OPTION("sleep_time", 'd', sleep_time),
    OPTION("budget_iterations", 'i', budget.iterations),
    OPTION("budget_time", 'd', budget.time),
    OPTION("integrator", 'I', integrator),
    OPTION("compliance", 'C', compliance),
    OPTION("law", 'L', law),
    OPTION("solver", 'S', solver),
    OPTION("solver_options", 'O', solver_option),
    {0},
};

static const option_field law_fields[] = {
    {"beta", 'd', offsetof(sim_law_options, beta)},       {"sigma", 'd', offsetof(sim_law_options, sigma)},
    {"push", 'd', offsetof(sim_law_options, push)},       {"threshold", 'd', offsetof(sim_law_options, threshold)},
    {"carried", 'd', offsetof(sim_law_options, carried)}, {"slop", 'd', offsetof(sim_law_options, slop)},
    {"undo", 'd', offsetof(sim_law_options, undo)},       {0},
};

static const option_field *find_field(const option_field *fields, const char *name) {
    while (fields->name && strcmp(fields->name, name) != 0) {
        fields++;
    }
    return fields->name ? fields : NULL;
}

static bool read_field(const option_field *field, PyObject *value, void *to) {
    void *at = (char *)to + field->offset;
    if (field->type == 'd') {
        *(double *)at = PyFloat_AsDouble(value);
    } else if (field->type == 'b' && !PyBool_Check(value) && !PyArray_IsScalar(value, Bool) && !PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is True or False, not %R", field->name, value);
    } else if (field->type == 'b') {
        *(bool *)at = PyObject_IsTrue(value) == 1;
    } else {
        int overflow = 0;
        long number = PyLong_AsLongAndOverflow(value, &overflow);
        if (overflow || number < INT32_MIN || number > INT32_MAX) {
            PyErr_Format(InputError, "%s is too large: %R", field->name, value);
        }
        *(int *)at = (int)number;
    }
    return !PyErr_Occurred();
}

static PyObject *field_value(const option_field *field, const void *from) {
    const void *at = (const char *)from + field->offset;
    return field->type == 'd'   ? PyFloat_FromDouble(*(const double *)at)
           : field->type == 'b' ? PyBool_FromLong(*(const bool *)at)
                                : PyLong_FromLong(*(const int *)at);
}

/* ---- words ---- */

const char *read_word(PyObject *value, const char *name) {
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is a text, not %.100s", name, Py_TYPE(value)->tp_name);
        return NULL;
    }
    return PyUnicode_AsUTF8(value);
}

const sim_solver_info *find_solver(const char *name) {
    const sim_solver_info *solver = sim_solver_find(name);
    if (!solver) {
        PyErr_Format(InputError, "no solver is called \"%.60s\": sim.solvers() has them all", name);
    }
    return solver;
}

bool read_compliance(const char *name, int *compliance) {
    for (int k = 0; k < SIM_COMPLIANCES; k++) {
        if (strcmp(name, sim_compliance_name((sim_compliance)k)) == 0) {
            *compliance = k;
            return true;
        }
    }
    PyErr_Format(InputError, "no compliance is called \"%.60s\": rigid, near-rigid, elastic", name);
    return false;
}

static bool read_integrator(const char *name, sim_integrator *integrator) {
    for (int k = 0; k < SIM_INTEGRATORS; k++) {
        if (strcmp(name, sim_integrator_name((sim_integrator)k)) == 0) {
            *integrator = (sim_integrator)k;
            return true;
        }
    }
    PyErr_Format(InputError, "no integrator is called \"%.60s\": midpoint, symplectic, implicit, moreau, rk4", name);
    return false;
}

/* ---- dicts ---- */

static bool is_dict(PyObject *value, const char *name) {
    if (!PyDict_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is a dict, not %.100s", name, Py_TYPE(value)->tp_name);
    }
    return PyDict_Check(value);
}

bool read_law_options(PyObject *dict, sim_law_options *law) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!is_dict(dict, "law")) {
        return false;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = read_word(key, "the name of a number of the law");
        const option_field *field = name ? find_field(law_fields, name) : NULL;
        if (name && !field) {
            PyErr_Format(InputError, "the law has no number %R: beta, sigma, push, threshold, carried, slop, undo",
                         key);
        }
        if (!field || !read_field(field, value, law)) {
            return false;
        }
    }
    sim_error error;
    if (sim_law_options_check(law, &error)) {
        raise_error(&error);
        return false;
    }
    return true;
}

/* A number, a whole one where the option is, or the word of a choice. */
static bool read_solver_option(const sim_solver_option *option, PyObject *value, double *to) {
    if (option->choices) {
        for (int k = 0; option->choices[k] && PyUnicode_Check(value); k++) {
            if (PyUnicode_CompareWithASCIIString(value, option->choices[k]) == 0) {
                *to = k;
                return true;
            }
        }
        PyErr_Format(InputError, "%s has no choice %R", option->name, value);
        return false;
    }
    *to = PyFloat_AsDouble(value);
    bool fits = *to >= option->low && *to <= option->high && (!option->integer || *to == floor(*to));
    if (!PyErr_Occurred() && !fits) {
        PyObject *low = PyFloat_FromDouble(option->low), *high = PyFloat_FromDouble(option->high);
        if (low && high) {
            PyErr_Format(InputError, "%s is a %s from %R to %R, not %R", option->name,
                         option->integer ? "whole number" : "number", low, high, value);
        }
        Py_XDECREF(low);
        Py_XDECREF(high);
    }
    return !PyErr_Occurred();
}

bool read_solver_options(const sim_solver_info *solver, const double *before, PyObject *dict,
                         double option[MAX_SOLVER_OPTIONS]) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (solver->noptions > MAX_SOLVER_OPTIONS) {
        PyErr_Format(Error, "%s has more options than this module has room for", solver->name);
        return false;
    }
    for (int k = 0; k < solver->noptions; k++) {
        option[k] = before ? before[k] : solver->option[k].default_value;
    }
    if (dict && !is_dict(dict, "solver_options")) {
        return false;
    }
    while (dict && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = read_word(key, "the name of an option");
        int k = 0;
        while (name && k < solver->noptions && strcmp(solver->option[k].name, name) != 0) {
            k++;
        }
        if (name && k == solver->noptions) {
            PyErr_Format(InputError, "the solver %s has no option %R: sim.solvers() lists them", solver->name, key);
            return false;
        }
        if (!name || !read_solver_option(&solver->option[k], value, &option[k])) {
            return false;
        }
    }
    return true;
}

/* ---- options of worlds ---- */

/* The solver by its name, and its options over those of the scene; another solver begins with its defaults. */
static bool read_solver(PyObject *name, PyObject *dict, sim_options *o, double option[MAX_SOLVER_OPTIONS]) {
    const char *word = name ? read_word(name, "solver") : NULL;
    const sim_solver_info *before = o->solver ? o->solver : sim_solver_default();
    const sim_solver_info *solver = !name ? before : word ? find_solver(word) : NULL;
    if (!solver || !read_solver_options(solver, solver == before ? o->solver_option : NULL, dict, option)) {
        return false;
    }
    o->solver = solver;
    o->solver_option = option;
    return true;
}

static bool read_option(const option_field *field, PyObject *value, sim_options *o) {
    const char *word;
    switch (field->type) {
    case 'I':
        return (word = read_word(value, field->name)) && read_integrator(word, &o->integrator);
    case 'C':
        return (word = read_word(value, field->name)) && read_compliance(word, &o->compliance);
    case 'L':
        return read_law_options(value, &o->law);
    default:
        return read_field(field, value, o);
    }
}

bool parse_world_options(PyObject *keywords, sim_options *o, double solver_option[MAX_SOLVER_OPTIONS]) {
    PyObject *key, *value, *solver = NULL, *solver_options = NULL;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8(key);
        const option_field *field = name ? find_field(option_fields, strcmp(name, "step") == 0 ? "dt" : name) : NULL;
        if (name && !field) {
            PyErr_Format(PyExc_TypeError, "World has no option %R: help(sim.World) lists them", key);
        }
        if (!field) {
            return false;
        }
        if (field == option_fields && strcmp(name, "step") == 0 && PyDict_GetItemString(keywords, "dt")) {
            PyErr_SetString(PyExc_TypeError, "dt and step are one option: give one of them");
            return false;
        }
        value = value == Py_None ? NULL : value;
        solver = field->type == 'S' ? value : solver;
        solver_options = field->type == 'O' ? value : solver_options;
        if (value && field->type != 'S' && field->type != 'O' && !read_option(field, value, o)) {
            return false;
        }
    }
    return read_solver(solver, solver_options, o, solver_option);
}

/* Steals `value`. */
static bool put(PyObject *dict, const char *name, PyObject *value) {
    bool ok = value && !PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return ok;
}

static bool put_fields(PyObject *dict, const option_field *field, const void *from) {
    bool ok = true;
    for (; ok && field->name; field++) {
        ok = strchr("dib", field->type) == NULL || put(dict, field->name, field_value(field, from));
    }
    return ok;
}

static PyObject *option_value(const sim_solver_option *option, double value) {
    return option->choices   ? PyUnicode_FromString(option->choices[(int)value])
           : option->integer ? PyLong_FromDouble(value)
                             : PyFloat_FromDouble(value);
}

static PyObject *solver_options_dict(const sim_solver_info *solver, const double *value) {
    PyObject *dict = PyDict_New();
    for (int k = 0; dict && k < solver->noptions; k++) {
        const sim_solver_option *option = &solver->option[k];
        if (!put(dict, option->name, option_value(option, value ? value[k] : option->default_value))) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

PyObject *world_options_dict(const sim_options *o) {
    PyObject *dict = PyDict_New(), *law = PyDict_New();
    const sim_solver_info *solver = o->solver ? o->solver : sim_solver_default();
    bool ok = dict && law && put(dict, "solver", PyUnicode_FromString(solver->name)) &&
              put(dict, "solver_options", solver_options_dict(solver, o->solver_option)) &&
              put(dict, "integrator", PyUnicode_FromString(sim_integrator_name(o->integrator))) &&
              put(dict, "compliance", PyUnicode_FromString(sim_compliance_name(sim_options_compliance(o)))) &&
              put_fields(dict, option_fields, o) && put_fields(law, law_fields, &o->law) &&
              !PyDict_SetItemString(dict, "law", law);
    Py_XDECREF(law);
    if (!ok) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyObject *list_solvers(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    PyObject *all = PyDict_New();
    for (int k = 0; all && k < sim_solver_count(); k++) {
        const sim_solver_info *s = sim_solver_at(k);
        PyObject *one = PyDict_New();
        bool ok = one && put(one, "method", PyUnicode_FromString(s->method)) &&
                  put(one, "paper", PyUnicode_FromString(s->paper ? s->paper : "")) &&
                  put(one, "cone", PyUnicode_FromString(sim_cone_name(s->cone))) &&
                  put(one, "compliance", PyUnicode_FromString(sim_compliance_name(s->default_law))) &&
                  put(one, "options", solver_options_dict(s, NULL)) && !PyDict_SetItemString(all, s->name, one);
        Py_XDECREF(one);
        if (!ok) {
            Py_CLEAR(all);
        }
    }
    return all;
}
