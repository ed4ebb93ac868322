/* A scene on its way from files to a model.  src/scene/README.md lists the files in the order of their work. */
#ifndef SCENE_LOADER_LOADER_H
#define SCENE_LOADER_LOADER_H

#include "base/sha256.h"
#include "scene/format/read.h"
#include "scene/format/tables/format.h"
#include "scene/json/names.h"

#include <sim/scene.h>

/* Limits that keep a small file from causing endless work. */
typedef struct scene_limits {
    int64_t bodies;       /* bodies and copies of models, all in all */
    int64_t copied_nodes; /* values copied because of overrides */
    int64_t work;         /* steps of work beyond the length of the text: patterns, overrides, scatters */
    int64_t bytes;        /* of all files together, those of meshes apart */
    int64_t mesh_bytes;   /* of those */
    int64_t solids;       /* steps of building geometries: src/geometry/field/field.h */
    int files;
} scene_limits;

enum { MAX_MODEL_DEPTH = 32, MAX_NAME_BYTES = 255, MAX_MATERIALS = 1000 };

/* Where texts of files come from: the file system, or a test.  `*content` is malloc'd.  `included` files must be
 * regular ones. */
typedef struct file_reader {
    sim_status (*read)(void *context, const char *path, bool included, char **content, size_t *length,
                       sim_error *error);
    /* Triangles of a mesh file of at most `*room` bytes, which it takes.  SIM_NO_RESOURCE: no file or memory. */
    sim_status (*mesh)(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                       sim_error *error);
    bool (*exists)(void *context, const char *path);
    /* All bytes of another file, which count as those of mesh files do; to be freed. */
    sim_status (*bytes)(void *context, const char *path, int64_t *room, char **content, size_t *size, sim_error *error);
    void *context;
} file_reader;

typedef struct material_entry {
    const char *name;
    material_data data;
    int index;                 /* in the builder; -1: refused */
    bool at_points, over_area; /* shapes touch with it so */
    struct material_entry *next;
} material_entry;

typedef struct document {
    source from; /* from.name is the path */
    node *root;
    material_entry *materials;
    bool unnamed_material; /* the name of one was refused: a reference to it is no second error */
    struct document *next;
} document;

/* One copy of a model (or the scene itself): the scope of its names. */
typedef struct scope scope;
struct scope {
    scope *outer, *older; /* older: made before this one */
    const document *document;
    const node *model;
    const node *instance;  /* NULL: the scene itself */
    const char *prefix;    /* of every name in it */
    const char *start;     /* keyframe of the model that is its initial state; NULL: none */
    const char *parent;    /* body on which its roots hang, full name; NULL: where the outer scope's roots hang */
    const node *parent_at; /* the value that names it */
    sim_pose frame;        /* place of the model there */
    const node *joint;     /* in place of its root's joint; NULL: none */
    int first, end;        /* bodies of it and of models within it */
    int roots;
    bool resolved;
    int world_parent; /* the meaning of `world` in it: body (-1: the world) and pose there */
    sim_pose world_frame;
};

typedef struct entry {
    const char *name;
    const char *joint_name; /* of its own; NULL: that of the body */
    const node *body;
    scope *scope;
    const node *joint; /* NULL: as the body states */
    int parent;        /* entry, -1: the world, -2: not found */
    sim_pose frame;    /* reference of the body's pose, in the parent's body frame */
    const node *q, *v; /* initial state from outside the body */
    const scope *q_scope, *v_scope;
    int order;           /* place in loader->order; -1: not there yet */
    int index;           /* in the builder; -1: not there */
    int site0, site_end; /* its sites in loader->site */
    sim_joint_type type;
    double effort_range[SIM_MAX_JOINT_NV][2]; /* of actuators */
    double range[SIM_MAX_JOINT_NV][2];        /* of coordinates */
    bool read;                                /* its joint is known */
    bool moves;                               /* against the world */
} entry;

typedef struct site_entry {
    const char *name;
    const node *at;
    int body;                /* entry */
    sim_pose pose;           /* in the body frame, once the body is built */
    int index;               /* in the builder; -1: not there */
    struct site_entry *next; /* of those that are the frames of bodies */
} site_entry;

/* A constraint between bodies, or a tendon: the value that states it, and its index in the builder. */
typedef struct part_place {
    const node *at;
    int index;
    struct part_place *next; /* added before */
} part_place;

/* A muscle whose force or lengths follow from the model, once that is built. */
typedef struct muscle_entry {
    const node *at;
    int actuator; /* in the model */
    double scale; /* peak force over the accelerations that a unit force causes; 0: the force is given */
    bool measure; /* find the range of its lengths */
    struct muscle_entry *next;
} muscle_entry;

/* Triangles of a mesh file that were read before their shape is built; the first that asks takes them. */
typedef struct early_mesh {
    const char *path;
    sim_v3 scale;
    sim_triangles triangles;
    struct early_mesh *next;
} early_mesh;

typedef struct loader {
    report report;
    reader reader;
    memory_pool *work; /* dies with the loader */
    sim_scene *scene;
    memory_pool *kept; /* dies with the scene */
    file_reader files;
    scene_limits limits;
    sha256_state hash;
    document *main, *documents;
    const char *folder; /* of names of files in the main document; NULL: its own */
    scene_data data;
    uint64_t seed;
    scope *scopes; /* the newest */
    entry *entries;
    int count, room;
    int *sequence; /* entries, parents first */
    site_entry *site, *frames;
    int nsite, site_room;
    const char **keyframe_name; /* of the scene, in order */
    int nkeyframe, keyframe_room;
    name_table keyframes;            /* to their indices in the builder */
    name_table names, joints, sites; /* of bodies; of joints that have their own; of sites */
    name_table actuators, sensors;
    muscle_entry *muscles;
    part_place *constraints, *tendon_places; /* the newest */
    name_table tendons;                      /* to their index in the builder */
    name_table round_shapes;                 /* spheres and cylinders: to their place in ... */
    int *round_shape;                        /* ... this list of indices in the builder; -1: several have the name */
    int nround, round_room;
    const node *stack[MAX_MODEL_DEPTH]; /* models being expanded */
    int depth, nfiles, materials;
    int64_t copies, copied_nodes, worked, bytes, exclusions;
    bool partial; /* the scene was written from a robot with errors (reported): its bodies are looked at for more */
    bool stopped; /* a limit was met (and reported) */
    /* The name of one was refused, or the key of their list: a reference to it is no second error. */
    bool unnamed_body, unnamed_site, unnamed_keyframe, unnamed_tendon, unnamed_model, unnamed_material;
    sim_builder *builder;
    geometry_entry *geometries; /* of files */
    early_mesh *early;          /* of robots, the newest */
    int nearly;
    pressure_entry *pressures;           /* of soft shapes */
    int64_t steps_left, mesh_bytes_left; /* steps of building geometries and bytes of mesh files that are left */
    const char *cache;                   /* folder for sampled fields; NULL: none */
    const sim_solver_registry *solvers;  /* by name; NULL: those of the library */
    sim_import_options import;           /* of robots */
    bool *allow_met;                     /* [import.nallow] an element of that name was left out */
    bool met_robot;                      /* a file of one was read */
    const char **file;                   /* [limits.files] of the scene: those that it names */
    bool built;
} loader;

/* Is everything well so far? */
bool loader_good(const loader *l);
/* As read_object, without repeating messages of the check of the whole file. */
bool loader_read(loader *l, const node *n, const table *t, void *out);
/* Counts work; false, and reported at `at`, when it has become too much. */
bool loader_spend(loader *l, int64_t work, const node *at);
/* Keeps the name of a file that is read for the scene. */
void loader_note_file(loader *l, const char *path);
/* "prefix" + "name" into a buffer; false if too long. */
bool loader_full_name(const scope *s, const char *name, char text[MAX_NAME_BYTES + 1]);
/* Has the joint of an entry that degree of freedom?  Else reports it at `dof_at`, or `at`. */
bool loader_has_dof(loader *l, const entry *e, int64_t dof, const node *at, const node *dof_at);
/* A name with the prefix of the scope, kept; NULL: none was given, or it is too long (reported at `at`). */
const char *loader_keep_name(loader *l, const scope *s, const char *name, const node *at);
/* The same, entered into the table of its kind with a number; NULL also if it is taken (reported). */
const char *loader_claim_name(loader *l, const scope *s, const char *name, const node *at, const char *kind,
                              name_table *taken, int value);
/* Entry of a name in a scope; -1 and reported at `at` if there is none. */
int loader_find(loader *l, const scope *s, const char *name, const node *at);
/* Does the frame of a body go with it?  That of a soft one stays: reported at `at`. */
bool loader_has_frame(loader *l, const entry *e, const node *at);

/* The same for the name of a joint: its own, or that of its body. */
int loader_find_joint(loader *l, const scope *s, const char *name, const node *at);
/* Does the joint of a body match a pattern, by its own name or by that of the body?  Counts the work. */
bool loader_joint_matches(loader *l, const entry *e, const char *pattern);

/* site.c */
/* Lists the sites of a body that has just been entered; adds them to the builder, once the body is there. */
void list_sites(loader *l, const scope *s, const node *body, int index);
void build_sites(loader *l, const entry *e);
/* Site of a name in a scope, or else the frame of the body of that name, as a site; NULL and reported at `at` if there is
 * neither. */
const site_entry *loader_find_site(loader *l, const scope *s, const char *name, const node *at);
/* Makes sites of the frames that members `site`, `first_site` and `second_site` below `n` name. */
void list_frames(loader *l, const scope *s, const node *n);

/* Notes where a part stands that the builder took; `index` < 0: it was refused, which becomes an error there. */
void loader_note_part(loader *l, part_place **list, int index, const node *at);
/* The value that states each of `count` parts of a list; NULL: a part without one.  NULL without memory. */
const node **loader_part_nodes(loader *l, const part_place *list, int count);
/* A refusal of the builder becomes an error at the value that it refused. */
void loader_report_refusal(loader *l, const node *at);

/* ", did you mean ...": the name in the scope that is most like this one. */
const char *loader_nearest(loader *l, const scope *s, const char *name, char *hint, size_t size);

/* files.c: the file system as a `file_reader`. */
sim_status read_scene_file(void *context, const char *path, bool included, char **content, size_t *length,
                           sim_error *error);
/* The triangles of a mesh file; where it has points alone those of their convex hull. */
sim_status read_mesh_or_hull(loader *l, const char *path, sim_v3 scale, sim_triangles *t, sim_error *why);
/* Can it be read?  Its triangles are kept for the next read. */
sim_status read_mesh_early(loader *l, const char *path, sim_v3 scale, sim_error *why);
void drop_early_meshes(loader *l);
sim_status read_mesh_file(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                          sim_error *error);
bool scene_file_exists(void *context, const char *path);
sim_status read_bytes_file(void *context, const char *path, int64_t *room, char **content, size_t *size,
                           sim_error *error);
/* A path that a file names: relative to that file.  In the work pool; NULL without memory. */
const char *path_beside(loader *l, const document *d, const char *file);
/* The text of a file, kept as long as the load; counted, and part of the scene's hash.  NULL: `*why` says it, or there is no
 * memory. */
const char *loader_read_text(loader *l, const char *path, size_t *length, sim_error *why);
/* A text as a document; its root is NULL when it is wrong (reported). */
document *loader_add_document(loader *l, const char *path, const char *content, size_t length);
/* A file, read once.  NULL when it is wrong (reported, at `at` if it could not be had). */
document *loader_load_document(loader *l, const char *path, const node *at);

/* robot.c: is a text XML?  The tree of a scene written from a robot, that of the main file or of an instance; NULL when it
 * is wrong (reported).  `d->from` becomes the text of that scene, with the places in the file. */
bool is_robot(const char *content, size_t length);
node *parse_robot(loader *l, document *d, bool main);
/* Reports options of robots where there is none to which they apply. */
void check_import_options(loader *l);
/* Reports names of the caller that are left out, but that neither a file of a robot nor a format has. */
void check_allowed_names(loader *l);

/* anchor.c: names of files in the main document as seen from the folder of `out`. */
void anchor_file_names(loader *l, const char *out);

/* override.c */
void override_options(loader *l, const sim_scene_overrides *overrides);
/* A copy of `model` with the instance's overrides; NULL if they are wrong. */
const node *override_model(loader *l, const node *instance, const node *model, const node *overrides, const table *t);

/* expand.c */
void expand_instances(loader *l);

/* repeat.c */
typedef struct placing placing;
/* Number of copies; -1 when wrong.  `*out` is in the work pool. */
int64_t pattern_create(loader *l, const scope *s, const instance_data *instance, placing **out);
/* Place of the next copy, in the frame of the instance; false when none is left. */
bool pattern_next(loader *l, placing *p, sim_pose *place);

/* body.c */
void build_materials(loader *l);
void build_bodies(loader *l);
/* initial.c */
/* Takes one value of `initial` for one joint. */
typedef void give_function(loader *l, entry *e, const scope *s, const node *n, void *context);
/* Every value of an `initial` (NULL: none) to the joints that its keys name, in order. */
void give_initial(loader *l, const scope *s, const node *initial, give_function *give, void *context);
/* The `initial` of models and of the scene to the bodies, before these are read. */
void give_initial_states(loader *l);
/* The state of a joint into `def`: from outside the body, else its own. */
bool read_state(loader *l, const entry *e, const body_data *b, sim_body_def *def);
/* Coordinates, in the frame of `s`, times `unit`; velocities. */
bool read_q(loader *l, const entry *e, const node *at, const number_list *list, double unit, const scope *s,
            sim_body_def *def);
bool read_v(loader *l, const entry *e, const node *at, const number_list *list, const scope *s, sim_body_def *def);
/* Warns of a coordinate in radians that may be meant in degrees. */
void doubt_coordinate(loader *l, const node *at, sim_joint_type type, int k, double angle, const char *hint);

/* keyframe.c */
void read_keyframe(loader *l, const scope *s, const node *n);
/* The run starts at the keyframe that the world names. */
void start_at_keyframe(loader *l);

/* Every joint moves some mass.  After the model is made. */
void check_moving_masses(loader *l);
/* Warns of joints that start past their range. */
void doubt_starts(loader *l);
/* Warns of tendons that start past their range. */
void doubt_tendons(loader *l);
/* Warns of rigid constraints between bodies that do not hold at the start. */
void doubt_open_constraints(loader *l);
/* Index in the builder; -1 and reported at `at` if there is none. */
/* Notes that a shape touches with the material, at points or over an area.  Its modulus, Pa; 0: it has none. */
double note_material(loader *l, int index, bool over_area);
/* Warns of a modulus that no shape uses. */
void doubt_moduli(loader *l);
int material_index_of(loader *l, const document *d, const char *name, const node *at);

/* shape.c */
/* Adds the mass properties that the body's shapes give it. */
bool shapes_add_mass(loader *l, const entry *e, const body_data *b, sim_inertia *sum);
void shapes_build(loader *l, const entry *e, const body_data *b);

/* geometry.c */
/* The geometry of a shape, built when first asked for; NULL when it is wrong (reported). */
const sim_geometry *find_shape_geometry(loader *l, const document *from, const shape_data *d);
/* Gives a shape of compliance `field` its pressure field; false: it cannot have one, and that was said. */
bool add_shape_pressure(loader *l, const shape_data *d, sim_shape *shape);
/* The convex parts of a mesh to be decomposed, after its geometry is found: their number; 0: reported. */
int find_shape_parts(loader *l, const shape_data *d, const sim_geometry *const **part);
bool read_scale(loader *l, const node *at, const number_list *given, sim_v3 *scale);
/* NULL: see `why`. */
sim_geometry *geometry_from_file(loader *l, int type, const char *path, sim_v3 scale, sim_error *why);
/* Its two stages: the triangles of a file, within the limits of the scene; hull or mesh of them. */
sim_status read_file_triangles(loader *l, const char *path, sim_v3 scale, sim_triangles *t, sim_error *why);
sim_geometry *geometry_of_triangles(loader *l, int type, const sim_triangles *t, sim_error *why);
/* From the numbers of a shape. */
sim_geometry *geometry_from_rows(loader *l, const shape_data *d, sim_error *why);
/* Says why a geometry is not there. */
void report_geometry(loader *l, const node *at, const sim_error *why);

/* solid.c */
/* Of a shape's distance field; NULL when it is wrong (reported). */
sim_geometry *geometry_from_field(loader *l, const document *from, const shape_data *d);

/* track.c */
typedef enum track_use { TRACK_TARGET, TRACK_EFFORT } track_use; /* of targets the rate counts, too */
/* A track of `width` values; false and reported when it is wrong. */
bool read_track(loader *l, const track_data *d, int width, track_use use, sim_track *out);

/* control.c */
void build_control(loader *l);

/* actuator.c */
/* Steps of a delay, s, of an object; false: they are too many (reported). */
bool read_delay(loader *l, const node *parent, double delay, int *steps);
void read_actuator(loader *l, const scope *s, const node *n);

/* exclusion.c */
void read_exclusion(loader *l, const scope *s, const node *n);
/* Where the model of a scope says that its bodies do not touch each other. */
void read_self_contact(loader *l, const scope *s);
/* Peak forces and lengths of muscles that the scene leaves to the model. */
void complete_muscles(loader *l);

/* controller.c: controllers and phases, into the model. */
void complete_controllers(loader *l);
/* Excludes pairs that overlap at the start, if the world or a model asks for it. */
void exclude_overlaps(loader *l);

/* tendon.c */
void read_tendon(loader *l, const scope *s, const node *n);
/* Index of a tendon in the builder; -1 and reported at `at` if there is none of that name. */
int loader_find_tendon(loader *l, const scope *s, const char *name, const node *at);
/* A shape of a body that tendons may name. */
void note_round_shape(loader *l, const entry *e, const char *name, int index);

/* sensor.c */
void read_sensor(loader *l, const scope *s, const node *n);

/* constraint.c */
void read_constraint(loader *l, const scope *s, const node *n);

/* output.c */
void read_world_options(loader *l);
void read_output(loader *l);
void resolve_output(loader *l);

/* solver.c */
void read_contact_options(loader *l);
/* Refuses contacts where the integrator takes none.  After the model is made. */
void check_contact_options(loader *l);

/* The loader with its limits and its source of files in the open, for tests. */
sim_scene *load_scene_text(const char *content, size_t length, const char *path, const sim_scene_overrides *overrides,
                           const scene_limits *limits, const file_reader *files, sim_diagnostics *diagnostics,
                           sim_error *error);
scene_limits scene_limits_default(void);

#endif
