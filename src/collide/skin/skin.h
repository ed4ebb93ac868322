/* Contacts of soft bodies with each other and with themselves. */
#ifndef COLLIDE_SKIN_SKIN_H
#define COLLIDE_SKIN_SKIN_H

#include "base/threads.h"
#include "collide/broadphase/filter.h"
#include <sim/collide.h>
#include <stddef.h>

typedef struct skin_stage skin_stage;

/* NULL without memory.  The filter must outlive it. */
skin_stage *skin_create(const sim_model *model, const filter *allowed);
void skin_free(skin_stage *skin);
size_t skin_bytes(const skin_stage *skin);

/* As collision_input has them, which see. */
typedef struct skin_input {
    const sim_pose *pose;
    const sim_motion *velocity;
    double step;
    const sim_contact *before;
    int nbefore;
    const char *still;
    const double *margin; /* [nshape] m */
} skin_input;

/* Contacts sorted by shapes and feature, to the next call; their number, -1 without memory. */
int skin_update(skin_stage *skin, const skin_input *input, sim_threads *threads, const sim_contact **contact);

#endif
