/* The format MJCF: tables of every element and attribute, the files that a model is made of, classes of defaults.
 *
 *   tables.c         the file: compiler, option, defaults, assets
 *   tables_body.c    bodies, joints, geoms, sites
 *   tables_link.c    contact pairs, equalities, tendons
 *   tables_drive.c   actuators, sensors, keyframes
 *   include.c        <include>: several files become one tree
 *   defaults.c       attributes of an element, of its class and of the classes around that */
#ifndef SCENE_MJCF_FORMAT_FORMAT_H
#define SCENE_MJCF_FORMAT_FORMAT_H

#include "scene/json/names.h"
#include "scene/xml/table.h"

#include <sim/geometry.h>

extern const xml_table mjcf_table_model, mjcf_table_body, mjcf_table_joint, mjcf_table_geom, mjcf_table_site,
    mjcf_table_camera, mjcf_table_world, mjcf_table_contact, mjcf_table_equality, mjcf_table_tendon,
    mjcf_table_actuator, mjcf_table_sensor, mjcf_table_keyframe, mjcf_table_pair, mjcf_table_mesh, mjcf_table_material,
    mjcf_table_equality_default, mjcf_table_tendon_default, mjcf_table_default;
/* Of shortcuts for actuators, by name; NULL: none. */
const xml_table *mjcf_actuator_table(const char *name);

/* Files as the loader sees them. */
typedef struct mjcf_files {
    bool (*exists)(void *context, const char *path);
    /* An XML file; NULL: it was reported, at `at`. */
    const source *(*read)(void *context, const xml_element *at, const char *path);
    /* Triangles of a mesh file; false: `*why` says it. */
    bool (*mesh)(void *context, const char *path, sim_v3 scale, sim_triangles *out, sim_error *why);
    /* Can they be read? */
    bool (*readable)(void *context, const char *path, sim_v3 scale, sim_error *why);
    /* Bytes of any other file, to be freed; false: `*why` says it. */
    bool (*bytes)(void *context, const char *path, char **content, size_t *size, sim_error *why);
    void *context;
} mjcf_files;

/* ---- include.c ---- */

/* Puts the elements of included files in the place of <include>; false when wrong (reported). */
bool mjcf_include(report *r, memory_pool *pool, const mjcf_files *files, const char *path, xml_element *root);
/* A path beside the file of a model; in the pool. */
const char *mjcf_path_beside(memory_pool *pool, const char *path, const char *name);

/* ---- defaults.c ---- */

typedef struct mjcf_class {
    const char *name;
    const xml_element *at;
    int outer; /* -1: none */
    int again; /* the next <default> of the same class; -1: none */
    int last;  /* of those */
} mjcf_class;

typedef struct mjcf_classes {
    mjcf_class *item;
    int count;
    name_table names;
} mjcf_classes;

/* Fills the classes of a file. */
bool mjcf_list_classes(report *r, memory_pool *pool, const xml_element *root, mjcf_classes *out);
/* The class that an attribute names; -1: there is none of that name (reported).  Without the attribute `otherwise`. */
int mjcf_find_class(report *r, const mjcf_classes *c, const xml_element *e, const char *attribute, int otherwise);

/* An element with its defaults: of the class `cls` and the classes around it, in their elements `kind`. */
typedef struct mjcf_item {
    const mjcf_classes *classes;
    const xml_element *at;
    const char *kind;
    int cls;
} mjcf_item;

/* The element that says an attribute: the item itself, or a default; NULL: none does. */
const xml_element *mjcf_holder(const mjcf_item *i, const char *key);
/* The nearest that says one of several attributes, and which of them (-1: none). */
const xml_element *mjcf_nearest_holder(const mjcf_item *i, const char *const *key, int nkey, int *which);
const char *mjcf_text(const mjcf_item *i, const char *key);
double mjcf_number(const mjcf_item *i, const char *key, double otherwise);
/* Numbers that outer classes give first, and inner ones replace from the first on; how many were given at most. */
int mjcf_numbers(const mjcf_item *i, const char *key, int most, double *out);
bool mjcf_says(const mjcf_item *i, const char *key, const char *word);

/* The levels of defaults of an item, outermost first, itself last. */
enum { MJCF_MAX_LEVELS = XML_MAX_DEPTH + 2 };
typedef struct mjcf_levels {
    int count, cls[MJCF_MAX_LEVELS];
} mjcf_levels;
void mjcf_list_levels(const mjcf_classes *c, int cls, mjcf_levels *out);

#endif
