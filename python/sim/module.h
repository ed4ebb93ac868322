/* The extension sim._sim: types and helpers shared by its files.
 *
 * Lifetimes.  A World keeps its Scene, and everything made from either keeps that one.  Arrays of numbers that the
 * library moves from step to step (q, v, sensors) are copies in blocks of their own, which outlive the world; arrays
 * that stay in place in the library (control inputs, applied forces) have the World as base.
 *
 * Threads.  All calls hold the GIL but loading, stepping and solving.  A world in a call without the GIL is `busy`, and
 * refuses every other call. */
#ifndef SIM_PYTHON_MODULE_H
#define SIM_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sim_python_array_api
#ifndef SIM_PYTHON_IMPORTS_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <sim/sim.h>

/* ---- objects ---- */

typedef struct SceneObject {
    PyObject_HEAD sim_scene *scene;
    PyObject *file;     /* str, or None: from memory */
    PyObject *warnings; /* tuple of str */
    PyObject *names;    /* dict: kind -> tuple of str */
    PyObject *recipe;   /* arguments that load it again */
} SceneObject;

/* Numbers in a block that arrays keep alive: `owner` is a capsule. */
typedef struct number_block {
    double *data;
    npy_intp count;
    PyObject *owner;
} number_block;

typedef struct WorldObject {
    PyObject_HEAD SceneObject *scene;
    sim_world *world;
    number_block q, v, sensor;
    PyObject *sensors;                 /* mappingproxy: name -> array */
    PyObject *recorders;               /* list of open recorders, which this world feeds */
    sim_derived *derived;              /* at states of the caller; made when it is first needed */
    sim_step_derivatives *derivatives; /* likewise */
    bool busy;                         /* in a call without the GIL */
    PyObject *weakrefs;
} WorldObject;

/* A contact problem, which does not change. */
typedef struct ProblemObject {
    PyObject_HEAD sim_problem *own; /* of a world ... */
    sim_problem_file *file;         /* ... or of a file */
    const sim_problem *problem;
    sim_law_options law;
} ProblemObject;

extern PyTypeObject SceneType, WorldType, StateType, ProblemType, RecorderType;

/* ---- errors.c ---- */

extern PyObject *Error, *InputError, *SceneError, *StepError;

int errors_add(PyObject *module);
/* The exception for a failed call; NULL. */
PyObject *raise_error(const sim_error *error);
PyObject *raise_scene_error(const sim_diagnostics *diagnostics, const sim_error *error, const char *path);
PyObject *raise_step_error(const sim_world *world, const sim_error *error);
/* Text of the library, bytes that are not UTF-8 replaced. */
PyObject *text_of(const char *text);
/* "scene.json:3:5: error: ..." without newline */
PyObject *diagnostic_text(const sim_diagnostic *diagnostic);

/* ---- records.c ---- */

/* A member of a struct: the one source of the attributes of records and the fields of structured arrays. */
typedef struct record_field {
    const char *name;
    char type; /* d double, i int, l int64, L uint64, b bool, v three doubles, p two ints, e name of a kind (int) */
    size_t offset;
    const char *help;
} record_field;

int records_add(PyObject *module);
PyObject *certificate_record(const sim_certificate *certificate);
PyObject *info_record(const sim_step_info *info);
PyObject *energy_record(sim_energy energy);
/* dtype of structs with these members; fields end with a NULL name. */
PyArray_Descr *record_dtype(const record_field *fields, size_t size);

/* ---- arrays.c ---- */

int block_create(number_block *block, npy_intp count);
void block_free(number_block *block);
/* A new array of the block's items [first, first + count). */
PyObject *block_array(const number_block *block, npy_intp first, npy_intp count, bool writable);
/* A new array of memory that `base` owns. */
PyObject *borrowed_array(double *data, npy_intp count, PyObject *base, bool writable);
PyObject *copied_array(int dimensions, const npy_intp *shape, const double *data);
/* `count` numbers from an array of that length, or all of them from one number; false with an exception. */
bool read_numbers(PyObject *value, const char *name, npy_intp count, double *to);
/* Copies into memory of the library: for attributes that can be assigned. */
int assign_numbers(PyObject *value, const char *name, npy_intp count, double *to);

/* ---- scene.c ---- */

PyObject *scene_load(PyObject *module, PyObject *args, PyObject *keywords);
int scene_add(PyObject *module);
/* Calls a function of the package's Python files on an object. */
PyObject *call_python(const char *module, const char *function, PyObject *object);
/* A tuple of names: "bodies", "joints", ...; borrowed. */
PyObject *scene_names(const SceneObject *scene, const char *kind);

/* Attributes of the model, which scenes and worlds have: get_count and get_names are the file's. */
#define MODEL_COUNT(name, help)                                                                                        \
    { #name, get_count, NULL, help, (void *)offsetof(sim_model, name) }
#define MODEL_NAMES(kind, help)                                                                                        \
    { kind, get_names, NULL, help, (void *)(kind) }
#define MODEL_ATTRIBUTES                                                                                               \
    MODEL_COUNT(nq, "Number of coordinates q."), MODEL_COUNT(nv, "Number of velocities v."),                           \
        MODEL_COUNT(nbody, "Number of bodies, the world (body 0) included."),                                          \
        MODEL_COUNT(nactuator, "Number of actuators."),                                                                \
        MODEL_NAMES("bodies", "Names of the bodies; body 0 is the world."),                                            \
        MODEL_NAMES("joints", "Names of the joints that move; a joint has the name of its body."),                     \
        MODEL_NAMES("dofs", "Names of the velocities v."), MODEL_NAMES("coordinates", "Names of the coordinates q."),  \
        MODEL_NAMES("shapes", "Names of the shapes."), MODEL_NAMES("actuators", "Names of the actuators."),            \
        MODEL_NAMES("sites", "Names of the sites."), MODEL_NAMES("tendons", "Names of the tendons."),                  \
        MODEL_NAMES("constraints", "Names of the constraints between bodies."),                                        \
        MODEL_NAMES("keyframes", "Names of the keyframes.")
/* Index of a thing by name or number; -1 with an exception that lists the names there are. */
int scene_index(const SceneObject *scene, const char *kind, PyObject *key);
/* Body that a joint moves, by the name of the joint or of that body, or by the number of the joint; -1 with an exception. */
int scene_joint(const SceneObject *scene, PyObject *key);

/* ---- state.c ---- */

PyObject *state_of(const sim_world *world);
int state_restore(WorldObject *world, PyObject *state);
/* The state of an object, which its pointers lead into; false with an exception: no State, or of another model. */
bool state_read(PyObject *object, const sim_model *model, sim_state *state);

/* ---- world.c ---- */

int world_add(PyObject *module);
/* False with an exception: the world is busy in another thread. */
bool world_is_free(const WorldObject *world);
/* Gives the world the q and v that the caller wrote; false with an exception: refused, or busy. */
bool world_sync(WorldObject *world);
/* Shows the caller the state after a change. */
void world_show(WorldObject *world);
/* A clock that never goes back, s. */
double monotonic_seconds(void);

/* ---- world_options.c ---- */

/* Options of a world from keywords, over those of the scene; `solver_option` is room for the solver's own. */
enum { MAX_SOLVER_OPTIONS = 64 };
bool parse_world_options(PyObject *keywords, sim_options *options, double solver_option[MAX_SOLVER_OPTIONS]);
PyObject *world_options_dict(const sim_options *options);
/* A solver by name; its options by a dict (NULL: none) over those before (NULL: the defaults). */
const sim_solver_info *find_solver(const char *name);
bool read_solver_options(const sim_solver_info *solver, const double *before, PyObject *dict,
                         double option[MAX_SOLVER_OPTIONS]);
/* A text; NULL with an exception that says what `name` is. */
const char *read_word(PyObject *value, const char *name);
bool read_law_options(PyObject *dict, sim_law_options *law);
bool read_compliance(const char *name, int *compliance);
PyObject *list_solvers(PyObject *module, PyObject *none);

/* ---- model.c ---- */

extern PyGetSetDef model_attributes[];
PyObject *world_joint(PyObject *world, PyObject *key);
int joint_add(PyObject *module);

/* ---- inverse_kinematics.c ---- */

PyObject *world_inverse_kinematics(PyObject *world, PyObject *args, PyObject *keywords);
int reach_add(PyObject *module);

/* ---- queries.c ---- */

PyObject *world_ray(PyObject *world, PyObject *args, PyObject *keywords);
PyObject *world_overlaps(PyObject *world, PyObject *none);
PyObject *world_save(PyObject *world, PyObject *args, PyObject *keywords);
PyObject *world_restore(PyObject *world, PyObject *args, PyObject *keywords);

/* ---- forces.c ---- */

PyObject *get_wrenches(PyObject *world, void *none);
int set_wrenches(PyObject *world, PyObject *value, void *none);
PyObject *get_switches(PyObject *world, void *none);
PyObject *world_push(PyObject *world, PyObject *args, PyObject *keywords);
PyObject *world_switch(PyObject *world, PyObject *args, PyObject *keywords);

/* ---- recorder.c, rollout.c ---- */

PyObject *world_record(PyObject *world, PyObject *args, PyObject *keywords);
/* Of the next n steps, those up to the first record that is due; writes those that are due; closes all. */
int64_t recorders_room(const WorldObject *world, int64_t n);
bool recorders_write(WorldObject *world);
void recorders_close(WorldObject *world);
PyObject *rollout(PyObject *module, PyObject *args, PyObject *keywords);

/* ---- sweep.c ---- */

extern PyTypeObject SweepType, RowsType;
PyObject *sweep_load(PyObject *module, PyObject *args);
PyObject *sweep_rows(PyObject *module, PyObject *args);

/* ---- contacts.c, dynamics.c, step_derivatives.c ---- */

PyObject *get_contacts(PyObject *world, void *none);
PyObject *world_collide(PyObject *world, PyObject *none);
extern PyMethodDef dynamics_methods[];
extern PyMethodDef derivative_methods[];

/* ---- problem.c, solve.c ---- */

PyObject *world_problem(PyObject *world, PyObject *none);
PyObject *load_problem(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *problem_law(PyObject *problem, PyObject *args, PyObject *keywords);
PyObject *solve(PyObject *module, PyObject *args, PyObject *keywords);
int solution_add(PyObject *module);

/* ---- world_views.c ---- */

extern PyGetSetDef world_attributes[];
/* Mapping of sensors' names to arrays in the block. */
PyObject *sensor_mapping(const SceneObject *scene, const number_block *block);

#endif
