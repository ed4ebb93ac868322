/* The scene format as a table: every key with its type, unit, range, default and meaning.  The parser, the range
 * checks, the JSON Schema and the reference page are all driven by it.
 *
 * To add a key: one line in tables.c, a member in the struct it fills (format.h), and the code that uses it. */
#ifndef SCENE_FORMAT_TABLES_FIELDS_H
#define SCENE_FORMAT_TABLES_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct table table;

typedef enum field_kind {
    FIELD_TEXT,    /* const char * */
    FIELD_NAME,    /* const char *: not empty; no '/', '*', ',', '"', '\\' or control characters */
    FIELD_PREFIX,  /* const char *: as a name, but may be empty */
    FIELD_PATTERN, /* const char *: a name that may hold '*' */
    FIELD_FLAG,    /* bool */
    FIELD_INTEGER, /* int64_t */
    FIELD_NUMBER,  /* double */
    FIELD_ENUM,    /* int */
    FIELD_ENUMS,   /* unsigned, one bit each: an array of names */
    FIELD_VECTOR,  /* double[count] */
    FIELD_NUMBERS, /* number_list: one number, or an array of up to `count` (0: any number of) numbers */
    FIELD_ROWS,    /* number_list: one array of `count` numbers, or an array of such arrays */
    FIELD_FORMULA, /* const node *: a formula of time, or an array of `count` of them and of numbers */
    FIELD_OBJECT,  /* the struct of `table` */
    FIELD_OBJECTS, /* const node *: array of objects of `table`, read one by one by their users */
    FIELD_MAP,     /* const node *: object whose keys are names of the user's choice, its values objects of `table` */
    FIELD_VALUES,  /* const node *: object whose keys and values are checked by their user */
    FIELD_LIST,    /* const node *: array of one or more values of any kind */
} field_kind;

typedef struct number_list {
    int count; /* numbers in all; 0: not given */
    const double *value;
} number_list;

/* Bounds of every number in a field. */
typedef struct range {
    bool has_low, has_high, above_low; /* above_low: low itself is excluded */
    double low, high;
} range;

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset; /* in the struct of the table */
    int count;
    int count_least; /* vectors that may be shorter: at least this many */
    range range;
    const char *unit;
    bool required;
    const char *standard;        /* default, as JSON; NULL: absent */
    const char *(*name_of)(int); /* enums: name of a value, NULL beyond the last */
    const table *table;
    unsigned only;      /* bit 1 << type for each value of the table's `type_key` that knows this key; 0: all */
    unsigned needed_by; /* ... that must have it */
    int rival;          /* of the fields with the same number above 0 at most one may be given */
    int simulated;      /* enums: how many of the names are simulated; the others are refused by name; 0: all */
    bool settings;      /* enums of solvers: options may follow, as in pgs:max_iterations=100 (solver/words.h) */
    bool integers;      /* vectors: whole numbers */
    const char *help;
} field;

struct table {
    const char *name;
    const char *help;
    size_t size; /* of its struct */
    const field *fields;
    int count;
    const char *type_key;
    const char *shorthand;       /* a value that is no object stands for an object with this key alone */
    const char *text_stands_for; /* ... but a text, or an array that holds one, for an object with this one */
    const char *named_by[4];     /* in lists: the first of these keys that is there names an object; none: "name" */
    unsigned rivals_needed;      /* bit 1 << rival: one of these must be given */
    bool any_key;                /* keys are the user's: never unknown */
};

extern const table table_scene;
extern const table table_world;
extern const table table_fluid;
extern const table table_law;
extern const table table_budget;
extern const table table_material;
extern const table table_material_pair;
extern const table table_body;
extern const table table_pose;
extern const table table_joint;
extern const table table_inertia;
extern const table table_shape;
extern const table table_decompose;
extern const table table_soft;
extern const table table_attachment;
extern const table table_soft_cut;
extern const table table_layer;
extern const table table_drag;
extern const table table_site;
extern const table table_solid;
extern const table table_exclusion;
extern const table table_model;
extern const table table_instance;
extern const table table_repeat;
extern const table table_initial;
extern const table table_controller;
extern const table table_controlled;
extern const table table_target;
extern const table table_target_key;
extern const table table_phase;
extern const table table_phase_target;
extern const table table_phase_switch;
extern const table table_transition;
extern const table table_sensor;
extern const table table_keyframe;
extern const table table_drive;
extern const table table_actuator;
extern const table table_activation;
extern const table table_slider_crank;
extern const table table_muscle;
extern const table table_track;
extern const table table_vector_track;
extern const table table_sine;
extern const table table_vector_sine;
extern const table table_load;
extern const table table_constraint;
extern const table table_tendon;
extern const table table_tendon_joint;
extern const table table_path_point;
extern const table table_record;
extern const table table_point;
extern const table table_event;
extern const table table_camera;

/* All of them, in the order of the reference page; ends with NULL. */
extern const table *const all_tables[];

struct text;
/* A table of keys as a section of a reference page; keys that it shares with an earlier one refer to that. */
void reference_add_table(struct text *t, const table *const *tables, int at);

#endif
