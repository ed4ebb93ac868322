/* Scenes: a model, options and recorded signals, from a JSON file (docs/scene.md) or a robot in URDF (docs/urdf.md). */
#ifndef SIM_SCENE_H
#define SIM_SCENE_H

#include <sim/base.h>
#include <sim/model.h>
#include <sim/world.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Signals that a run records. */
typedef struct sim_record_spec {
    int every; /* steps between records */
    bool coordinates, velocities, poses, twists, energy, momentum, efforts, statistics, contacts, sensors; /* flags */
    int npoint;
    const struct sim_record_point {
        const char *name;
        sim_point point;
    } * point; /* position, velocity of body points */
} sim_record_spec;

typedef struct sim_camera {
    const char *name;
    sim_v3 position, target;
    double fov; /* vertical, rad */
} sim_camera;

typedef struct sim_scene {
    const char *name;
    const char *description;
    sim_model *model;
    sim_options options;
    double duration; /* s */
    uint64_t seed;
    sim_record_spec record;
    int ncamera;
    const sim_camera *camera;
    const char *text; /* the file as read, or with the caller's values in place of its own; zero-terminated */
    size_t text_length;
    const char *folder; /* absolute: names of files in the text count from it; NULL: it does not exist */
    char hash[65];      /* SHA-256 of that text and of every included file, in order of reading; hex */
    int nfile;
    const char *const *file; /* files that were read for it besides: of models and meshes */
    void *memory;
} sim_scene;

/* One thing wrong in a scene, or odd, with its place. */
typedef struct sim_diagnostic {
    const char *file;
    int line, column;    /* from 1; 0 where the place is no file (an option of the command line) */
    const char *pointer; /* JSON pointer, "/bodies/3/inertia" */
    const char *message;
    const char *hint; /* may be NULL */
    bool warning;     /* the scene is loaded all the same */
} sim_diagnostic;

/* All errors of a scene, up to 20; of a loaded scene its warnings. */
typedef struct sim_diagnostics {
    int count;
    sim_diagnostic item[20];
    int more; /* found beyond those */
    void *memory;
} sim_diagnostics;

SIM_API void sim_diagnostics_free(sim_diagnostics *diagnostics);
/* "scene.json:42:17: error: /bodies/3/inertia: ... (hint)", or "warning:", with a newline; returns the length, as
 * snprintf. */
SIM_API int sim_diagnostic_print(const sim_diagnostic *diagnostic, char *text, size_t size);

/* The root link of a robot in the world. */
typedef enum sim_base { SIM_BASE_FIXED, SIM_BASE_FREE, SIM_BASE_PLANAR } sim_base;
/* Meshes of a robot in contacts: their convex hulls, as they are, or as convex parts. */
typedef enum sim_mesh_use { SIM_MESH_CONVEX, SIM_MESH_EXACT, SIM_MESH_DECOMPOSED } sim_mesh_use;

/* How a robot in URDF becomes a scene (docs/urdf.md). */
typedef struct sim_import_options {
    sim_base base; /* of the file itself; robots that a scene includes are fixed, or have the joint of the instance */
    sim_mesh_use mesh;
    bool repair_inertia; /* inertias that no body has become the nearest that one can have */
    bool strict;         /* notices of what is ignored are errors */
    int nallow, npackage;
    const char *const *allow;   /* elements that are left out where they would be refused */
    const char *const *package; /* "NAME=DIR": folders of packages */
} sim_import_options;

/* Additions of the caller to the file: values that replace its own ("world/step=0.002", as `sim --set`), in the text of
 * the scene, too. Others are the keyframe at which it starts, the folder of cached distance fields, and user-defined
 * solvers. */
typedef struct sim_scene_overrides {
    int count;
    const char *const *set;
    const uint64_t *seed; /* at most 2^53; NULL: the file's */
    const char *start;    /* name of a keyframe, in place of world/start; NULL: the file's */
    const char *cache;    /* folder, made when needed; NULL: none */
    /* whose solvers world/solver may name; must outlive the scene.  NULL: those of the library */
    const sim_solver_registry *solvers;
    const sim_import_options *import; /* NULL: all 0 */
    const char *folder;               /* names of files count from it; NULL: from the folder of the file */
    /* a file: names of files in the text of the loaded scene are relative to its folder ("-": to the current one).  The
     * text is then laid out anew.  NULL: neither */
    const char *names_from;
} sim_scene_overrides;

/* NULL on failure: SIM_BAD_INPUT with diagnostics filled, or SIM_NO_RESOURCE (no such file, no memory).  A scene that
 * is loaded may come with warnings.  `overrides` and `diagnostics` may be NULL; `error` is the first diagnostic. */
SIM_API sim_scene *sim_scene_load(const char *path, const sim_scene_overrides *overrides, sim_diagnostics *diagnostics,
                                  sim_error *error);
/* The same from memory; `path` names it in messages and anchors relative includes. */
SIM_API sim_scene *sim_scene_parse(const char *text, size_t length, const char *path,
                                   const sim_scene_overrides *overrides, sim_diagnostics *diagnostics,
                                   sim_error *error);
SIM_API void sim_scene_free(sim_scene *scene);

/* JSON Schema (2020-12) and reference page (Markdown) of the scene format, from the table that drives the parser.
 * malloc'd; the caller frees. */
SIM_API char *sim_scene_schema(void);
SIM_API char *sim_scene_reference(void);
/* The same of URDF, MJCF and SDFormat: what becomes of every element. */
SIM_API char *sim_urdf_reference(void);
SIM_API char *sim_mjcf_reference(void);
SIM_API char *sim_sdf_reference(void);

#ifdef __cplusplus
}
#endif
#endif
