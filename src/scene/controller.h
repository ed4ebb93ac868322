/* Parts common to the readers of controllers, targets, phases and events of a scene. */
#ifndef SCENE_CONTROLLER_H
#define SCENE_CONTROLLER_H

#include "scene/loader/loader.h"

static inline sim_model *model_of(const loader *l) { return l->scene->model; }

static inline const node *first_of(const node *list) { return list && list->kind == NODE_ARRAY ? list->first : NULL; }

int count_items(const node *list);

/* Memory until the scene is loaded; never asked for nothing. */
void *allocate_items(loader *l, int count, size_t size);

typedef int find_function(const sim_model *model, const char *name);

/* Index of a name in a scope; -1 and reported at `at` if there is none. */
int find_part(loader *l, const scope *s, find_function *find, const char *name, const char *kind, const node *at);

/* Lengths of a controller's actuators at a keyframe. */
bool keyframe_lengths(loader *l, const scope *s, const sim_controller *c, const char *name, const node *at,
                      double *value);

/* Coordinates from which inverse kinematics searches: where the target before leaves the controller's joints, the others
 * as in the initial state; NULL before: all of them.  NULL: no memory. */
double *search_start(loader *l, const sim_controller *c, const sim_target *before);

/* A place of a site: a pose or a point, in the axes of a body (-1: of the world) as it stands in the initial state. */
typedef struct site_place {
    const char *site;
    int frame;
    bool point;
    sim_pose pose;
    const node *at;
} site_place;
/* Lengths of a controller's actuators there, by inverse kinematics from q on, which moves: only its joints do. */
bool place_lengths(loader *l, const scope *s, const sim_controller *c, const site_place *to, double *q, double *value);

/* A track of the controller, after another target or NULL, and of a task impedance the poses on it; nothing where none
 * is given. */
typedef struct controller_target {
    sim_track track;
    int npose;
    const sim_pose *pose;
} controller_target;
bool read_controller_target(loader *l, const scope *s, const sim_controller *c, const controller_target_data *d,
                            const sim_target *before, controller_target *out);

#endif
