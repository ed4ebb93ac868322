/* Contacts with surfaces that another shape of the same body covers. */
#ifndef COLLIDE_SEAMS_H
#define COLLIDE_SEAMS_H

#include "base/arena.h"
#include "base/pool.h"
#include "collide/broadphase/filter.h"
#include "collide/contact/bounds.h"
#include <sim/collide.h>

typedef struct seam_stage seam_stage;

/* `ball`: [nshape], in the frames of the shapes.  Both stay the caller's.  NULL without memory. */
seam_stage *seams_create(const sim_model *model, const filter *f, const bounding_ball *ball, memory_pool *pool);

/* Leaves out contacts at seams, keeps the order of the others, and returns their number; -1 without memory. */
int seams_leave_out(seam_stage *s, const sim_pose *X, sim_contact *contact, int count, sim_arena *scratch);

#endif
