/* Structs of the library as records with named attributes, and as fields of structured arrays, from one table each. */
#include "module.h"

#define CERTIFICATE(member, type, help)                                                                                \
    { #member, type, offsetof(sim_certificate, member), help }
#define INFO(member, type, help)                                                                                       \
    { #member, type, offsetof(sim_step_info, member), help }

static const record_field certificate_fields[] = {
    CERTIFICATE(E, 'd', "natural map of the rigid Coulomb law: the one number for comparing solvers; 0 is exact"),
    CERTIFICATE(e_sic, 'd', "its part in mixed units"),
    CERTIFICATE(e_vel, 'd', "its part in velocities"),
    CERTIFICATE(e_imp, 'd', "its part in impulses"),
    CERTIFICATE(e_paper, 'd', "|F(1)| / |q|"),
    CERTIFICATE(own, 'd', "E for the solver's own law"),
    CERTIFICATE(momentum, 'd', "error of the balance of momentum, relative"),
    CERTIFICATE(slackness, 'd', "mean complementarity of contacts over the cost"),
    CERTIFICATE(lee, 'd', "mean |gamma - P(gamma - s)| of contacts"),
    CERTIFICATE(lee_scaled, 'd', "the same, scaled to velocities, m/s"),
    CERTIFICATE(cone, 'd', "worst impulse outside its cone, N s"),
    CERTIFICATE(penetration, 'd', "deepest overlap at the end of the step, m"),
    CERTIFICATE(past_range, 'd', "greatest angle of a joint past its range at the end of the step, rad"),
    CERTIFICATE(slip, 'd', "fastest slip where friction is inside its cone, m/s"),
    CERTIFICATE(drive, 'd', "most energy that friction puts in, J"),
    CERTIFICATE(excess, 'd', "kinetic energy without a source, J"),
    CERTIFICATE(worst, 'i', "constraint with the greatest error; -1: none"),
    CERTIFICATE(worst_own, 'i', "likewise, of the solver's own law"),
    CERTIFICATE(deepest, 'i', "constraint of `penetration`; -1: none"),
    CERTIFICATE(farthest, 'i', "constraint of `past_range`; -1: none"),
    CERTIFICATE(fastest, 'i', "constraint of `slip`; -1: none"),
    CERTIFICATE(constraints, 'i', "constraints judged; 0: nothing was solved, and all else is 0"),
    CERTIFICATE(nonfinite, 'i', "not 0: a number is not finite"),
    {0},
};

static const record_field info_fields[] = {
    INFO(iterations, 'i', "implicit integrators: iterations, maximum over trees"),
    INFO(nonconverged, 'i', "trees whose iteration hit the limit"),
    INFO(residual, 'd', "worst tree's estimated error, relative"),
    INFO(saturated, 'i', "actuators at their effort limit"),
    INFO(curbed, 'd', "kinetic energy that a tree gained without force, taken back, J"),
    INFO(curbed_body, 'i', "the first body of that tree"),
    INFO(created, 'd', "elastic energy that a step of a soft body created, J"),
    INFO(created_body, 'i', "that soft body"),
    INFO(damped, 'i', "soft bodies that implicit Euler moved, as their scheme would have created energy"),
    INFO(contacts, 'i', "contacts"),
    INFO(islands, 'i', "islands of contacts and constraints"),
    INFO(solver_iterations, 'i', "iterations of the solver, maximum over islands"),
    INFO(solver_total, 'i', "their sum over islands"),
    INFO(unsolved, 'i', "islands without a solution"),
    {"unsolved_body", 'p', offsetof(sim_step_info, worst_body[SIM_WORST_UNSOLVED]),
     "bodies with the greatest error of these; -1: none, or one alone"},
    INFO(factorisations, 'i', "factorisations over islands"),
    INFO(refused, 'i', "islands whose solution created energy and was replaced"),
    INFO(stuck, 'i', "constraints whose overlap no motion can undo"),
    INFO(stuck_body, 'p', "bodies of the deepest of these; -1: none"),
    INFO(stuck_depth, 'd', "its depth, m or rad"),
    INFO(undone, 'd', "energy that undoing overlaps put in, J"),
    INFO(sag, 'd', "deepest overlap of a loaded contact that is softer than its material, m"),
    INFO(sag_part, 'd', "sag relative to the radius of its smaller body"),
    INFO(sag_body, 'p', "bodies of `sag`"),
    INFO(lift, 'd', "greatest height to which the convex law lifts a sliding contact, m"),
    INFO(lift_body, 'p', "bodies of `lift`"),
    INFO(asleep, 'i', "trees that slept through the step"),
    INFO(asleep_bodies, 'i', "their bodies"),
    INFO(asleep_contacts, 'i', "their contacts"),
    INFO(woken, 'i', "trees that woke"),
    INFO(stilled, 'd', "kinetic energy of those that fell asleep, J"),
    {0},
};

static const record_field energy_fields[] = {
    {"kinetic", 'd', offsetof(sim_energy, kinetic), "J"},
    {"potential", 'd', offsetof(sim_energy, potential), "J: of gravity and springs"},
    {0},
};

/* A type of records; `fields` is also the order of their attributes. */
typedef struct record_type {
    const char *name, *help;
    const record_field *fields;
    PyTypeObject *type;
} record_type;

static record_type certificate_type = {
    "sim.Certificate", "Errors of the solution of a step; 0 is exact (docs/certificate.md).", certificate_fields, NULL};
static record_type info_type = {"sim.StepInfo",
                                "Counts and figures of the last step.\n\n"
                                "`gave_up` counts islands without a solution by the reason of the solver.",
                                info_fields, NULL};
static record_type energy_type = {"sim.Energy", "Energy of the world, J.", energy_fields, NULL};

enum { MAX_RECORD_FIELDS = 40 };

static int add_record(PyObject *module, record_type *record, const char *last, const char *last_help) {
    PyStructSequence_Field fields[MAX_RECORD_FIELDS + 1] = {{NULL, NULL}};
    int count = 0;
    for (; record->fields[count].name; count++) {
        fields[count] = (PyStructSequence_Field){record->fields[count].name, record->fields[count].help};
    }
    if (last) {
        fields[count++] = (PyStructSequence_Field){last, last_help};
    }
    PyStructSequence_Desc about = {record->name, record->help, fields, count};
    record->type = PyStructSequence_NewType(&about);
    return record->type ? PyModule_AddObjectRef(module, strrchr(record->name, '.') + 1, (PyObject *)record->type) : -1;
}

int records_add(PyObject *module) {
    return add_record(module, &certificate_type, NULL, NULL) || add_record(module, &energy_type, NULL, NULL) ||
                   add_record(module, &info_type, "gave_up", "islands without a solution, by reason")
               ? -1
               : 0;
}

static PyObject *member_value(const record_field *field, const void *from) {
    const char *at = (const char *)from + field->offset;
    switch (field->type) {
    case 'd':
        return PyFloat_FromDouble(*(const double *)(const void *)at);
    case 'i':
        return PyLong_FromLong(*(const int *)(const void *)at);
    default: /* p */
        return Py_BuildValue("(ii)", ((const int *)(const void *)at)[0], ((const int *)(const void *)at)[1]);
    }
}

/* A record of `from`; steals `last`, the value of the attribute beyond the table (NULL: there is none). */
static PyObject *new_record(const record_type *record, const void *from, PyObject *last) {
    PyObject *result = PyStructSequence_New(record->type);
    int count = 0;
    for (; result && record->fields[count].name; count++) {
        PyObject *value = member_value(&record->fields[count], from);
        if (!value) {
            Py_CLEAR(result);
            break;
        }
        PyStructSequence_SetItem(result, count, value);
    }
    if (result && last) {
        PyStructSequence_SetItem(result, count, last);
    } else {
        Py_XDECREF(last);
    }
    return result;
}

PyObject *certificate_record(const sim_certificate *certificate) {
    return new_record(&certificate_type, certificate, NULL);
}

PyObject *energy_record(sim_energy energy) { return new_record(&energy_type, &energy, NULL); }

PyObject *info_record(const sim_step_info *info) {
    PyObject *reasons = PyDict_New();
    for (int k = 1; reasons && k < SIM_REASONS; k++) {
        PyObject *count = info->gave_up[k] ? PyLong_FromLong(info->gave_up[k]) : NULL;
        if (count && PyDict_SetItemString(reasons, sim_reason_name((sim_reason)k), count)) {
            Py_CLEAR(reasons);
        }
        Py_XDECREF(count);
    }
    return reasons ? new_record(&info_type, info, reasons) : NULL;
}

static const char *number_format(char type) {
    switch (type) {
    case 'd':
        return "f8";
    case 'v':
        return "3f8";
    case 'p':
        return "2i4";
    case 'L':
        return "u8";
    case 'l':
        return "i8";
    case 'b':
        return "?";
    default:
        return "i4";
    }
}

PyArray_Descr *record_dtype(const record_field *fields, size_t size) {
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
    bool ok = names && formats && offsets;
    for (; ok && fields->name; fields++) {
        PyObject *name = PyUnicode_FromString(fields->name),
                 *format = PyUnicode_FromString(number_format(fields->type)),
                 *offset = PyLong_FromSize_t(fields->offset);
        ok = name && format && offset && !PyList_Append(names, name) && !PyList_Append(formats, format) &&
             !PyList_Append(offsets, offset);
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
    }
    PyObject *about = ok ? Py_BuildValue("{sOsOsOsn}", "names", names, "formats", formats, "offsets", offsets,
                                         "itemsize", (Py_ssize_t)size)
                         : NULL;
    PyArray_Descr *dtype = NULL;
    if (about && !PyArray_DescrConverter(about, &dtype)) {
        dtype = NULL;
    }
    Py_XDECREF(about);
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    return dtype;
}
