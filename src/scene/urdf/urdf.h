/* Robots in URDF, translated to the text of a scene.
 *
 *   tables.c     the format: every element and attribute
 *   tree.c       links and joints as one tree
 *   packages.c   names of mesh files to paths
 *   place.c      <origin> as a pose
 *   inertia.c    mass properties of a link
 *   colors.c     colours by the name of their material
 *   shapes.c     visual and collision shapes of a link
 *   translate.c  bodies, joints and constraints in the order of the tree */
#ifndef SCENE_URDF_URDF_H
#define SCENE_URDF_URDF_H

#include "scene/json/names.h"
#include "scene/json/writer.h"
#include "scene/xml/table.h"

#include <sim/scene.h>

extern const xml_table table_robot;

typedef enum urdf_joint_type {
    URDF_REVOLUTE,
    URDF_CONTINUOUS,
    URDF_PRISMATIC,
    URDF_FIXED,
    URDF_FLOATING,
    URDF_PLANAR,
    URDF_JOINT_TYPES
} urdf_joint_type;

typedef struct urdf_joint {
    const xml_element *at;
    const char *name;
    urdf_joint_type type;
    int parent, child; /* links */
    int leader;        /* of a mimic: a joint; -1: none */
} urdf_joint;

typedef struct urdf_link {
    const xml_element *at;
    const char *name; /* as scenes allow it */
    int joint;        /* towards the root; -1: the root */
    int first, next;  /* joints that it carries: the first; the next one of the parent of this link */
    double mass;      /* kg, of the link alone */
    double carried;   /* kg, of it and of all links beyond */
} urdf_link;

typedef struct urdf_robot {
    const xml_element *root;
    urdf_link *link;
    urdf_joint *joint;
    int nlink, njoint;
    int base;   /* the root link */
    int *order; /* [nlink] depth first, in the order of the joints in the file */
    bool whole; /* it is one tree; else links count alone, in the order of the file, and `base` is none of them */
} urdf_robot;

/* Does a file exist?  As the loader sees files. */
typedef struct urdf_files {
    bool (*exists)(void *context, const char *path);
    void *context;
    /* Can a mesh of this name in the scene be read?  false: `*why` says it. */
    bool (*readable)(void *meshes, const char *file, sim_v3 scale, sim_error *why);
    void *meshes;
} urdf_files;

/* Colours by the name of their material: of the robot first, then of the shape that gives one first. */
typedef struct urdf_colors {
    name_table names;
    const xml_element **color;
    int count;
} urdf_colors;

/* All that a translation works with. */
typedef struct urdf_work {
    report *report;
    memory_pool *pool;
    const char *path; /* of the URDF file */
    sim_import_options options;
    xml_allowed allowed;
    urdf_files files;
    json_writer *out;
    urdf_robot robot;
    urdf_colors colors;
    const xml_element *undrawn; /* the first visual mesh that cannot be had */
    int nundrawn;
    const char *undrawn_why; /* NULL: it is not there, or of another format */
    bool certain;            /* packages: only folders that have the name */
    bool guessed;            /* the place of a package, with a notice */
    bool good;
} urdf_work;

/* Writes the scene of a robot; false when something is wrong (reported) or without memory (the report remembers). */
bool urdf_translate(urdf_work *w, xml_element *root);

/* tree.c: fills w->robot; false: there is no memory. */
bool urdf_read_tree(urdf_work *w, xml_element *root);
/* The root is a link called "world": it is the world. */
bool urdf_is_world(const urdf_robot *r, int link);

/* packages.c: the path of a mesh file, relative to the URDF file where it lies below its folder; NULL: not found
 * (`*tried` is what was looked for). */
const char *urdf_find_file(urdf_work *w, const xml_element *at, const char *attribute, const char *name,
                           const char **tried);
/* A path as seen from the folder of the URDF file. */
const char *urdf_seen_from_file(urdf_work *w, const char *found);
/* Can the mesh be read, with the `scale` of its element?  false: `*why` says it. */
bool urdf_can_read(const urdf_work *w, const xml_element *mesh, const char *file, sim_error *why);

/* inertia.c */
double urdf_mass(const xml_element *link);
void urdf_put_inertia(urdf_work *w, const xml_element *link);

/* colors.c: fills w->colors; the colour of a visual shape, NULL: none. */
bool urdf_list_colors(urdf_work *w, const xml_element *root);
const xml_element *urdf_find_color(const urdf_work *w, const xml_element *visual);

/* shapes.c */
void urdf_put_shapes(urdf_work *w, const xml_element *link);

/* place.c */
void urdf_put_pose(urdf_work *w, const char *key, const xml_element *origin);

#endif
