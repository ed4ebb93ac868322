/* Models in SDFormat, translated to the text of a scene.
 *
 *   tables.c      the format: every element and attribute
 *   files.c       included files, and names of meshes to paths
 *   frames.c      models, links, joints and frames as one graph of places
 *   tree.c        links and joints as trees
 *   joints.c      axes, ranges, mimics
 *   loops.c       joints that close loops, gearboxes
 *   surfaces.c    materials of shapes
 *   shapes.c      visual and collision shapes of a link
 *   translate.c   the scene as a whole
 *   reference.c   docs/sdf.md */
#ifndef SCENE_SDF_SDF_H
#define SCENE_SDF_SDF_H

#include "math/spatial.h"
#include "scene/urdf/urdf.h"

extern const xml_table sdf_table_file;

enum {
    SDF_WORLD = -1,
    SDF_MAX_FILES = 1000,
    SDF_MAX_DEPTH = 20, /* models within models */
    SDF_MAX_ITEMS = 200000
};
#define SDF_UNLIMITED 1e16 /* rad, m, ...: no limit, as the format says */

typedef struct sdf_file {
    const char *path;
    const xml_element *root; /* <sdf> */
    long version;            /* 107: 1.7 */
} sdf_file;

/* A model, or the world: what names are looked up in. */
typedef struct sdf_scope {
    const xml_element *at, *pose;    /* pose: NULL: none */
    const sdf_file *file, *named_in; /* named_in: whose element `pose` is */
    const char *path;                /* "arm::hand::": before its names in the graph */
    const char *prefix;              /* the same before names of the scene */
    const char *placement;           /* frame that stands at the pose; NULL: its own */
    int outer, top;                  /* scopes; top: the model in the world that it belongs to */
    int names;                       /* scope that its names belong to: itself, or that into which it is merged */
    int frame;                       /* its own */
    bool fixed;                      /* static */
} sdf_scope;

typedef enum sdf_kind { SDF_SCOPE, SDF_LINK, SDF_JOINT, SDF_FRAME } sdf_kind;

typedef struct sdf_frame {
    sdf_kind kind;
    const xml_element *at;
    const char *name; /* in the scene */
    int scope;
    int base;       /* frame that its place is seen from; -1: the world */
    sim_pose place; /* in `base` */
    sim_pose world; /* of the start */
    int follows;    /* the frame that it moves with; -1: the world, or itself a link */
    int link;       /* that it moves with; SDF_WORLD */
    int joint;      /* of a joint: its number */
} sdf_frame;

typedef struct sdf_link {
    int frame;
    int joint;       /* towards the world; -1: none */
    int first, next; /* links that it carries; the next of the same carrier */
    bool fixed;      /* static */
    bool massless;   /* its mass is 0 */
    int parts;       /* equal parts into which joints that close loops divide it */
} sdf_link;

/* A joint whose child another joint carries: not so, points of links, a part of its own, gear. */
typedef enum sdf_loop { SDF_NO_LOOP, SDF_POINTS, SDF_PART, SDF_GEAR } sdf_loop;

typedef struct sdf_joint {
    const xml_element *at;
    const char *type;
    int frame, parent, child; /* parent, child: links; SDF_WORLD */
    bool dropped;             /* within static models */
    sdf_loop loop;
} sdf_joint;

typedef struct sdf_files {
    bool (*exists)(void *context, const char *path);
    const source *(*read)(void *context, const xml_element *at, const char *path);
    void *context;
} sdf_files;

typedef struct sdf_work {
    report *report;
    memory_pool *pool;
    const char *path;
    sim_import_options options;
    xml_allowed allowed;
    sdf_files files;
    int limit; /* of models, links, joints and frames together */
    json_writer *out;
    urdf_work packages; /* for names of meshes and models */
    name_table known;   /* files, each parsed once */
    sdf_file **file;
    int nfile;
    name_table names; /* of frames, with the path of their scope */
    sdf_scope *scope;
    sdf_frame *frame;
    int nscope, nframe;
    sdf_link *link;
    sdf_joint *joint;
    int nlink, njoint;
    name_table surfaces;
    const xml_element **surface; /* <collision> that has it first */
    int nsurface;
    bool masked;                /* shapes are told apart by bits */
    const xml_element *undrawn; /* the first visual mesh that cannot be had */
    int nundrawn;
    const char *undrawn_why; /* NULL: it is not there, or of another format */
    bool wrong;              /* the tables found errors; the rest was read */
    bool good;
} sdf_work;

/* Writes the scene of a file; false when something is wrong (reported) or without memory (the report remembers). */
bool sdf_translate(sdf_work *w, xml_element *root);

/* ---- files.c ---- */
sdf_file *sdf_add_file(sdf_work *w, const char *path, xml_element *root);
/* The file of an <include>; NULL: reported. */
const sdf_file *sdf_include(sdf_work *w, const sdf_file *from, const xml_element *at);
/* The path of a mesh as seen from the main file; NULL: not found, `*tried` is what was looked for. */
const char *sdf_find_mesh(sdf_work *w, const sdf_file *from, const xml_element *at, const char **tried);

/* ---- frames.c ---- */
bool sdf_read_frames(sdf_work *w, const sdf_file *f);
/* A frame by its name in a scope; -2 and reported: there is none; SDF_WORLD. */
int sdf_find_frame(sdf_work *w, int scope, const char *name, const xml_element *at, const char *attribute);
/* A <pose>, or NULL for none. */
sim_pose sdf_read_pose(sdf_work *w, const xml_element *pose);
/* The same where a link is the only frame that it can be seen from. */
sim_pose sdf_read_pose_in_link(sdf_work *w, int link, const xml_element *pose);
void sdf_put_pose(sdf_work *w, const char *key, sim_pose X);
/* The next values of the scene come from this element. */
void sdf_here(sdf_work *w, const xml_element *e);
const char *sdf_clean_name(sdf_work *w, const char *prefix, const char *name);

/* ---- tree.c ---- */
bool sdf_read_tree(sdf_work *w);

/* ---- joints.c ---- */
/* Opens the body of a link and gives it its parent, pose and joint; bodies without mass before it where a joint has two
 * axes or stands beside the link. */
void sdf_open_body(sdf_work *w, int link);
/* The same of the part of a link that a joint has to itself; false: it has none, or an error was reported. */
bool sdf_open_part(sdf_work *w, const sdf_joint *j);
const char *sdf_part_name(sdf_work *w, const sdf_joint *j);
/* Couplings by the mimics of its axes. */
void sdf_put_mimics(sdf_work *w, const sdf_joint *j, bool *any);
void sdf_open_constraint(sdf_work *w, const xml_element *at, const char *type, bool *any);
const char *sdf_axis_name(sdf_work *w, const sdf_joint *j, bool second);
sim_v3 sdf_axis_in_child(sdf_work *w, const sdf_joint *j, const xml_element *axis);

/* ---- loops.c ---- */
/* How it closes a loop. */
sdf_loop sdf_loop_of(const sdf_joint *j);
/* Mimics, and joints that close loops. */
void sdf_put_constraints(sdf_work *w);

/* ---- surfaces.c ---- */
/* The number of the material of a <collision>. */
int sdf_find_surface(sdf_work *w, const xml_element *collision);
void sdf_put_surfaces(sdf_work *w);

/* ---- shapes.c ---- */
void sdf_put_shapes(sdf_work *w, int link);
/* The first child of a <geometry> that is a known shape; NULL: none. */
const xml_element *sdf_shape_element(const xml_element *shape);
/* Do the collision shapes of a link have its mass? */
bool sdf_is_auto(const sdf_work *w, int link);

#endif
