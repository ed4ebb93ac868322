/* A model in MJCF as structs: bodies with what is in them, all frames, copies and attached models resolved.
 *
 *   compiler.c   options of a file
 *   place.c      orientations in all their forms
 *   model.c      lists, names, references
 *   tree.c       bodies depth first: frames, copies, attached models
 *   joint.c      joints
 *   geom.c       geoms, sites, cameras
 *   asset.c      assets by name, colours
 *   mesh.c       triangles, their mass, shapes fitted to them
 *   image.c      heights and mean colours of files
 *   inertia.c    mass properties of bodies
 *   weights.c    inertia at the reference pose; stiffness of soft constraints */
#ifndef SCENE_MJCF_PARTS_PARTS_H
#define SCENE_MJCF_PARTS_PARTS_H

#include "math/spatial.h"
#include "scene/json/writer.h"
#include "scene/mjcf/format/format.h"
#include "scene/xml/robot.h"

#include <sim/scene.h>

/* ---- files ---- */

typedef enum mjcf_inertia_source { MJCF_INERTIA_NEVER, MJCF_INERTIA_ALWAYS, MJCF_INERTIA_AUTO } mjcf_inertia_source;

typedef struct mjcf_compiler {
    bool degrees, strip_path, auto_limits, balance_inertia, discard_visual, fit_bounds, global;
    char euler[4];
    const char *mesh_folder, *texture_folder;
    mjcf_inertia_source inertia;
    int groups[2];
    double bound_mass, bound_inertia, total_mass;
} mjcf_compiler;

typedef struct mjcf_option {
    double step, gravity[3];
    double density, viscosity, wind[3]; /* of the fluid */
    const char *integrator;             /* NULL: none was given */
    bool no_equality, no_friction, no_limit, no_contact, no_spring, no_damper, no_gravity, no_actuation, no_clamp,
        across_joints; /* contacts of bodies with their parents */
    uint32_t no_group; /* of actuators, bit by bit */
} mjcf_option;

/* A texture of a file, once asked for. */
typedef struct mjcf_texture {
    bool known, found;
    double mean[3];
} mjcf_texture;

/* A file, its includes put in. */
typedef struct mjcf_file mjcf_file;
struct mjcf_file {
    const char *path;
    xml_element *root;
    mjcf_classes classes;
    mjcf_compiler compiler;
    mjcf_option option;
    name_table assets;       /* "mesh:NAME" */
    struct mjcf_mesh **mesh; /* [nasset], once opened */
    mjcf_texture *texture;   /* [nasset] */
    const xml_element **asset;
    int nasset;
    bool named; /* the names of its elements are listed */
    mjcf_file *next;
};

/* Where a name stands: the file, and what comes before and behind its names. */
typedef struct mjcf_scope mjcf_scope;
struct mjcf_scope {
    mjcf_file *file;
    const char *prefix, *suffix;
    bool part;                 /* of an attached model only a body or frame is there */
    const xml_element *copied; /* of a copy: its <replicate> */
    const mjcf_scope *around;  /* the scope around it, in which names end otherwise; NULL: no copy */
    mjcf_scope *next;          /* of the attached models, in their order, the model itself first; of the copies */
};

/* ---- what is in it ---- */

/* Rotation by q, which may be no unit quaternion, then shift by p. */
typedef struct mjcf_place {
    sim_v3 p;
    sim_quat q;
} mjcf_place;

typedef enum mjcf_joint_type { MJCF_FREE, MJCF_BALL, MJCF_SLIDE, MJCF_HINGE, MJCF_JOINT_TYPES } mjcf_joint_type;
typedef enum mjcf_shape {
    MJCF_PLANE,
    MJCF_HFIELD,
    MJCF_SPHERE,
    MJCF_CAPSULE,
    MJCF_ELLIPSOID,
    MJCF_CYLINDER,
    MJCF_BOX,
    MJCF_MESH,
    MJCF_SDF,
    MJCF_SHAPES
} mjcf_shape;

/* solref and solimp where they are given. */
typedef struct mjcf_softness {
    bool given;
    double ref[2], imp[5];
} mjcf_softness;

typedef struct mjcf_joint {
    mjcf_item item;
    const mjcf_scope *scope;
    const char *name; /* its own, full; NULL: none */
    const char *link; /* the body of the scene that it carries */
    int body, next;   /* next: of the body; -1: none */
    mjcf_joint_type type;
    sim_v3 pos, axis; /* in the body */
    bool limited, effort_limited;
    bool squeezed; /* its margins meet: both ends push to the middle */
    double range[2], margin, effort_range[2];
    double spring_terms[2], damper_terms[2]; /* of the second and third degree */
    double stiffness, damping, springdamper[2], ref, springref, armature, friction;
    double geared[3]; /* damping of its actuators, times the squares of their gears: linear, and the terms */
    mjcf_softness limit;
    int q0, v0; /* coordinates before it, in the order of the file */
} mjcf_joint;

typedef struct mjcf_geom {
    mjcf_item item;
    const mjcf_scope *scope;
    const char *name; /* full; NULL: none */
    int body, next;
    mjcf_shape type;
    mjcf_place place;
    double size[3];
    struct mjcf_mesh *mesh;
    const xml_element *hfield;
    int contype, conaffinity, condim, group, priority;
    double friction[3], adhesion, gap, solmix, mass, density; /* mass: negative: by density */
    double belt[6];                                           /* of its surface */
    mjcf_softness soft;
    double rgba[4];
    bool colored;
    bool weighs;  /* it gives its body mass */
    bool shell;   /* on its surface */
    bool visual;  /* it has no contacts */
    bool around;  /* a tendon names it */
    bool paired;  /* a <pair> names it */
    bool across;  /* it may touch the body that carries its own, or that its own carries */
    int touching; /* what it touches: an index, see contacts.c */
    int surface;  /* its material, there */
} mjcf_geom;

typedef struct mjcf_site {
    mjcf_item item;
    const mjcf_scope *scope;
    const char *name; /* full; never NULL */
    int body, next;
    mjcf_place place;
    mjcf_shape type;
    double size[3];
} mjcf_site;

typedef struct mjcf_body {
    mjcf_item item;
    const mjcf_scope *scope;
    const char *name; /* full; of the world "world" */
    int parent;
    mjcf_place place;      /* in its parent */
    mjcf_place inside;     /* of what is in it: identity, or from the world, in global coordinates */
    sim_pose world;        /* in the world, all coordinates at their reference */
    int joint, geom, site; /* the first; -1: none */
    int last_joint, last_geom, last_site;
    int clump;                   /* the body to which it is fixed, or itself; 0: the world */
    const char *centre;          /* a site at its centre of mass; NULL: none */
    const xml_element *inertial; /* NULL: none that counts */
    mjcf_item inertial_item;
    bool solid;          /* mass from geoms, as scenes find it themselves */
    bool massive;        /* it has mass */
    bool given;          /* it is that of <inertial>, number by number */
    sim_inertia inertia; /* in the body */
    double weight;       /* inverse mass that a constraint on it meets, once found; 1/kg */
    double mass_factor;  /* of its shapes, where it is solid */
} mjcf_body;

typedef struct mjcf_camera {
    mjcf_item item;
    const char *name;
    int body;
    mjcf_place place;
} mjcf_camera;

/* An actuator of the files, in their order. */
typedef struct mjcf_drive {
    const char *name; /* full; NULL: it is left out */
    bool active;      /* it has an activation */
} mjcf_drive;

/* Actuators and tendons, in the order of their indices. */
typedef struct mjcf_motor {
    const mjcf_scope *scope;
    bool idle; /* it is left out */
} mjcf_motor;
typedef struct mjcf_tendon {
    const mjcf_scope *scope;
    const xml_element *at;
    double geared[3], armature; /* of its actuators, as of a joint */
    bool still;                 /* a string between points that are fixed to the world: left out */
} mjcf_tendon;

/* A site beside a cylinder, in place of one within it that says the side of a string around it. */
typedef struct mjcf_side {
    int geom, site;
    const char *name;
} mjcf_side;

typedef struct mjcf_model {
    mjcf_body *body; /* depth first; 0: the world */
    mjcf_joint *joint;
    mjcf_geom *geom;
    mjcf_site *site;
    mjcf_camera *camera;
    int nbody, njoint, ngeom, nsite, ncamera;
    int body_room, joint_room, geom_room, site_room, camera_room;
    name_table bodies, joints, geoms, sites, actuators, tendons, links; /* links: names of bodies of the scene */
    name_table given;                                                   /* of elements, as the files have them */
    mjcf_file *files;                                                   /* the model itself first */
    mjcf_scope *scopes;
    mjcf_scope *copies, *last_copy;
    int64_t *tries; /* look-ups of names in copies */
    int nq, nv;
    int nactuator, ntendon; /* names given so far */
    mjcf_motor *motor;
    mjcf_tendon *tendon;
    mjcf_side *side;
    int motor_room, tendon_room, nside, side_room;
    mjcf_drive *drive;
    int ndrive, drive_room;
    bool weighed;               /* the following are known, or cannot be */
    double *moment;             /* [nv] zeros: work of sums over a transmission; NULL: not yet needed */
    double *diagonal, *inverse; /* [nv], [nv nv]: of the mass matrix at the reference pose; inverse: NULL: none */
} mjcf_model;

/* Bodies, joints, geoms, sites and copies of a model. */
enum { MJCF_MAX_ITEMS = 200 * 1000 };

/* Conversions of solref and solimp: their count, and the numbers that came out. */
typedef enum mjcf_soft_kind {
    MJCF_SOFT_CONTACTS,
    MJCF_SOFT_LIMITS,
    MJCF_SOFT_EQUALITIES,
    MJCF_SOFT_KINDS
} mjcf_soft_kind;
typedef struct mjcf_softened {
    const xml_element *at; /* the first */
    int count;
    double stiffness[2], dissipation[2]; /* least, greatest */
} mjcf_softened;

/* All that a translation works with. */
typedef struct mjcf_work {
    report *report;
    memory_pool *pool;
    const char *path; /* of the model */
    sim_import_options options;
    xml_allowed allowed;
    mjcf_files files;
    json_writer *out;
    int64_t limit; /* bodies, geoms, joints, sites, all in all */
    int64_t items;
    mjcf_model model;
    mjcf_softened softened[MJCF_SOFT_KINDS];
    int nundrawn; /* meshes that cannot be had */
    const xml_element *undrawn;
    const char *undrawn_why; /* NULL: it is not there, or of another format */
    int nunpainted;          /* textures likewise */
    const xml_element *unpainted;
    bool good;
} mjcf_work;

/* ---- compiler.c ---- */
/* A checked file: classes, compiler, options. */
bool mjcf_read_file(mjcf_work *w, mjcf_file *f);
/* Its tables of names. */
void mjcf_free_file(mjcf_file *f);
/* Degrees to radians, if the file has degrees. */
double mjcf_angle(const mjcf_file *f, double given);
/* Path of the file of an asset in a folder; NULL: no memory. */
const char *mjcf_path_in(mjcf_work *w, const mjcf_file *f, const xml_element *asset, const char *folder);
const char *mjcf_last_part(const char *path);

/* ---- place.c ---- */
mjcf_place mjcf_identity(void);
mjcf_place mjcf_read_place(mjcf_work *w, const mjcf_file *f, const mjcf_item *i);
sim_quat mjcf_euler(const mjcf_file *f, const double angle[3]);
sim_quat mjcf_turn_to(sim_v3 z); /* the least turn of the z axis to a direction */
mjcf_place mjcf_product(mjcf_place a, mjcf_place b);
mjcf_place mjcf_inverse(mjcf_place a);
/* Of the mass properties that a file gives. */
mjcf_place mjcf_inertial_place(mjcf_work *w, const mjcf_body *b);
sim_pose mjcf_pose(mjcf_place a);
/* `key` with the position and the orientation, as far as they are not trivial. */
void mjcf_put_place(json_writer *out, const char *key, mjcf_place a);
sim_v3 mjcf_vector(const double v[3]);

/* ---- model.c ---- */
/* Counts an item; false: too many (reported). */
bool mjcf_spend(mjcf_work *w, const xml_element *at);
/* Room for one more item; false: none (reported). */
bool mjcf_add(mjcf_work *w, const xml_element *at, void **items, int count, int *room, size_t size);
/* A name as scenes allow it, with prefix and suffix; NULL: the element has none. */
const char *mjcf_name(mjcf_work *w, const mjcf_scope *s, const xml_element *e);
/* A name that no site has yet, made from `wanted`; it is taken. */
const char *mjcf_take_site(mjcf_work *w, const char *wanted, int index);
/* A name and an ending. */
const char *mjcf_joined(mjcf_work *w, const char *name, const char *ending);
/* "actuator7" of index 6, or that and a number: no element has this name. */
const char *mjcf_number_name(mjcf_work *w, const char *word, int index);
/* A name that no body of the scene has yet, made from `wanted`; it is taken. */
const char *mjcf_take_link(mjcf_work *w, const char *wanted, int number);
bool mjcf_add_name(mjcf_work *w, name_table *names, const xml_element *e, const char *what, const char *name,
                   int index);
/* Index of what an attribute names; -1 and reported: there is none.  -2: the attribute is absent. */
int mjcf_find(mjcf_work *w, const mjcf_scope *s, const name_table *names, const mjcf_item *i, const char *attribute,
              const char *what);
/* An item without defaults. */
mjcf_item mjcf_plain(const mjcf_scope *s, const xml_element *e);
mjcf_item mjcf_item_of(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const char *kind, int cls);
/* The writer's place becomes that of an element. */
void mjcf_here(mjcf_work *w, const xml_element *e);
/* The linear term of a spring or damper, and those of the second and third degree; and into the scene, if there are any. */
double mjcf_polynomial(mjcf_work *w, const mjcf_item *i, const char *key, double higher[2]);
void mjcf_put_terms(mjcf_work *w, const char *key, const double terms[2]);
mjcf_softness mjcf_read_softness(const mjcf_item *i, const char *ref, const char *imp);
/* `limited`: said, or by the range; reports a range that may not count by itself. */
bool mjcf_is_limited(mjcf_work *w, const mjcf_file *f, const mjcf_item *i, const char *limited, const char *range);
/* Ends a margin within those given.  True: they met, and stand at their middle.  Springs of both ends act at once there,
 * k (low - q) - k (q - high) = 2 k (middle - q). */
bool mjcf_narrow_range(double range[2], double margin);
void mjcf_refuse(mjcf_work *w);

/* ---- tree.c ---- */
/* False: no memory or numbers are left.  Errors of parts leave the others readable. */
bool mjcf_read_tree(mjcf_work *w);

/* ---- joint.c, geom.c ---- */
void mjcf_add_joint(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame);
void mjcf_add_geom(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame);
void mjcf_add_site(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame);
/* A site at the centre of mass of a body, made once. */
void mjcf_add_centre(mjcf_work *w, mjcf_body *b);
/* A site at a point of a body. */
const char *mjcf_add_point(mjcf_work *w, mjcf_body *b, sim_v3 point, const char *wanted);
void mjcf_add_camera(mjcf_work *w, const mjcf_scope *s, const xml_element *e, int cls, int body, mjcf_place frame);

/* ---- asset.c ---- */
bool mjcf_list_assets(mjcf_work *w, mjcf_file *f);
/* An asset by name, of its file; NULL and reported: there is none. */
const xml_element *mjcf_find_asset(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, const char *attribute,
                                   const char *kind);
/* Its number in the file; -1: there is none, which was reported, or the attribute is absent. */
int mjcf_find_asset_index(mjcf_work *w, const mjcf_scope *s, const mjcf_item *i, const char *attribute,
                          const char *kind);
void mjcf_read_color(mjcf_work *w, mjcf_geom *g);
/* Path of the file of a mesh; NULL and `*why` set: it cannot be had; is it absent? */
const char *mjcf_asset_path(mjcf_work *w, const mjcf_file *f, const xml_element *asset, const char **why, bool *absent);

/* ---- mesh.c ---- */
/* A mesh as geoms see it: v' = S R^T (v - p) of the vertices v of its file; R, p are the pose of the origin, S the
 * scale. */
typedef struct mjcf_mesh {
    const xml_element *at;
    mjcf_item item;
    const char *path, *lost; /* NULL: no file; why it cannot be had */
    bool absent, tried;
    mjcf_place place; /* of the scaled vertices */
    double scale[3];
    int nvertex, nface; /* inline */
    double *vertex;
    double *face;
    bool weighed;        /* the following are known */
    sim_inertia inertia; /* of density 1, in the frame of geoms */
    sim_v3 low, high;
} mjcf_mesh;
/* ---- builtin.c ---- */
/* Vertices and faces of a mesh by the formula `name`; a refusal is reported. */
void mjcf_make_mesh(mjcf_work *w, mjcf_mesh *m, const char *name);

/* ---- mesh.c ---- */
/* The mesh that a geom names; NULL: reported. */
mjcf_mesh *mjcf_open_mesh(mjcf_work *w, const mjcf_scope *s, int asset);
/* Finds its mass properties and bounds; false: reported at `at`. */
bool mjcf_weigh_mesh(mjcf_work *w, mjcf_mesh *m, const xml_element *at);
/* Its principal axes with the moments falling from x to z, and how far its vertices reach along each; false: reported. */
bool mjcf_mesh_reach(mjcf_work *w, mjcf_mesh *m, const xml_element *at, mjcf_place *frame, double reach[3]);
/* Size and place of a shape that is fitted to its mesh; false: reported. */
bool mjcf_fit_mesh(mjcf_work *w, mjcf_geom *g);

/* ---- image.c ---- */
/* Heights from 0 to 1. */
typedef struct mjcf_heights {
    int rows, columns;
    double *height; /* [rows][columns], rows along y */
} mjcf_heights;
/* Of a height field; false: reported. */
bool mjcf_read_heights(mjcf_work *w, const mjcf_file *f, const xml_element *at, mjcf_heights *h);
/* Mean of the file of a texture; false: it cannot be had, which a notice will say. */
bool mjcf_texture_mean(mjcf_work *w, mjcf_file *f, int asset, double mean[3]);

/* ---- weights.c ---- */
/* Inverse inertias at the reference pose, found once; false: the mass matrix is singular, or too large. */
bool mjcf_find_weights(mjcf_work *w);
/* Of the coordinate of a joint, or the mean of its coordinates. */
double mjcf_joint_weight(const mjcf_model *m, const mjcf_joint *j);
/* Inertia along a transmission, sum M_kk / moment_k^2, after mjcf_find_weights; 0: none, or not known.
 * Of a wrench at a site, in its axes or those of a site of reference (-1: none); of a ball or free joint; of a tendon,
 * whose path is known without geoms alone. */
double mjcf_site_weight(mjcf_work *w, int site, int reference, const double gear[6]);
double mjcf_ball_weight(mjcf_work *w, const mjcf_joint *j, const double gear[6]);
double mjcf_tendon_weight(mjcf_work *w, const mjcf_tendon *t);
/* Spring and damper of a soft constraint that meets the inverse inertia `weight`; noted for the notice. */
bool mjcf_soften(mjcf_work *w, mjcf_soft_kind kind, const xml_element *at, const mjcf_softness *s, double weight,
                 double *stiffness, double *dissipation);
/* One notice a kind. */
void mjcf_say_softened(mjcf_work *w);

/* ---- inertia.c ---- */
bool mjcf_read_inertia(mjcf_work *w);

#endif
