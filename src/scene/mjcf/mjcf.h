/* Models in MJCF, translated to the text of a scene.
 *
 *   translate.c   the scene as a whole
 *   bodies.c      bodies, joints and shapes
 *   contacts.c    surfaces, and which shapes touch
 *   equalities.c  constraints besides joints
 *   tendons.c     tendons
 *   actuators.c   actuators
 *   sensors.c     sensors
 *   keyframes.c   states by name
 *   lists.c       elements of all files, items of the scene
 *   copies.c      elements that are copied with what they name
 *   reference.c   docs/mjcf.md */
#ifndef SCENE_MJCF_MJCF_H
#define SCENE_MJCF_MJCF_H

#include "scene/mjcf/parts/parts.h"

/* Writes the scene of a model; false when something is wrong (reported) or without memory (the report remembers). */
bool mjcf_translate(mjcf_work *w, xml_element *root);

/* Opens a list of the scene with its first item. */
typedef struct mjcf_list {
    const char *key;
    bool open;
} mjcf_list;
/* ---- fluid.c ---- */
/* In the options of the world; of a body. */
void mjcf_put_fluid(mjcf_work *w);
void mjcf_put_drag(mjcf_work *w, const mjcf_body *b);

/* ---- bodies.c ---- */
void mjcf_put_bodies(mjcf_work *w);
/* Stiffness and dissipation of the ends of a joint's range, where they are given. */
void mjcf_put_limit_softness(mjcf_work *w, const mjcf_joint *j);

/* ---- contacts.c ---- */

/* Pairs that touch: kinds of geoms by contype, conaffinity and pairs; bit k of `against` is set where kinds do not
 * touch.  Kind 0 is that of the defaults. */
enum { MJCF_MAX_KINDS = 32 };
typedef struct mjcf_kind {
    int contype, conaffinity;
    int pair; /* geom of a <pair>, which has a kind of its own; -1: any */
    uint32_t against;
} mjcf_kind;

typedef struct mjcf_surface {
    int condim, priority;
    double friction[3], adhesion, gap;
    double stiffness, dissipation; /* stiffness 0: as stiff as the step resolves */
    int pair;                      /* as of a kind */
} mjcf_surface;

typedef struct mjcf_contacts {
    mjcf_kind kind[MJCF_MAX_KINDS];
    int nkind;
    mjcf_surface *surface;
    int nsurface, room;
    bool pulled; /* by an actuator */
} mjcf_contacts;

void mjcf_find_contacts(mjcf_work *w, mjcf_contacts *c);
void mjcf_put_exclusions(mjcf_work *w);
void mjcf_put_surfaces(mjcf_work *w, const mjcf_contacts *c);
/* Keys of a shape: material, group, mask. */
void mjcf_put_contact(mjcf_work *w, const mjcf_contacts *c, const mjcf_geom *g);

/* ---- equalities.c ---- */
void mjcf_put_equalities(mjcf_work *w);
/* Tendons of joints that an equality holds alone. */
void mjcf_put_lone_tendons(mjcf_work *w, mjcf_list *list);

/* ---- tendons.c ---- */
/* Their names, which of them are still, and the geoms that they touch. */
void mjcf_list_tendons(mjcf_work *w);
void mjcf_put_tendons(mjcf_work *w);

/* ---- actuators.c ---- */
/* Damping and armature that actuators bring to joints and tendons, before these are written. */
void mjcf_add_geared(mjcf_work *w);
void mjcf_put_actuators(mjcf_work *w);
/* The range of the forces of all actuators of a tendon together. */
void mjcf_put_tendon_effort(mjcf_work *w, const mjcf_tendon *t);

/* ---- sensors.c ---- */
/* Sites at centres of mass that sensors ask for. */
void mjcf_list_centres(mjcf_work *w);
void mjcf_put_sensors(mjcf_work *w);

/* ---- keyframes.c ---- */
void mjcf_put_keyframes(mjcf_work *w);

/* ---- lists.c ---- */

/* A joint as scenes name it. */
const char *mjcf_joint_name(const mjcf_joint *j);
/* The name of an index, from a table of names. */
const char *mjcf_name_of(const name_table *names, int index);
/* Elements `kind` in the sections `section` of all files, those of attached models behind, then copies; false: no more. */
typedef struct mjcf_each {
    const char *section, *kind; /* kind: NULL for all that are read */
    const mjcf_model *model;
    const mjcf_scope *scope;
    const xml_element *group, *at;
} mjcf_each;
mjcf_each mjcf_each_of(const mjcf_model *m, const char *section, const char *kind);
bool mjcf_next(mjcf_each *each);

/* ---- copies.c ---- */
/* Does an element outside the bodies stand in a scope?  Those that name what is copied stand in the copies. */
bool mjcf_stands_in(const mjcf_model *m, const mjcf_scope *s, const xml_element *e);
/* False: names in copies took too many look-ups (reported). */
bool mjcf_check_tries(mjcf_work *w);

void mjcf_open_item(mjcf_work *w, mjcf_list *list, const xml_element *at);
void mjcf_close_list(mjcf_work *w, mjcf_list *list);
/* The delay of an actuator or sensor, as long as its samples reach back. */
void mjcf_put_delay(mjcf_work *w, const mjcf_item *i);

#endif
