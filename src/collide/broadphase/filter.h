/* Pairs of shapes that may touch. */
#ifndef COLLIDE_BROADPHASE_FILTER_H
#define COLLIDE_BROADPHASE_FILTER_H

#include "base/pool.h"
#include <sim/model.h>

/* Bodies held together by fixed joints count as one: the clump, named after the body nearest the world. */
typedef struct filter {
    const sim_model *model;
    const int *clump;  /* [nbody] */
    const int *parent; /* [nbody] the clump that the body's clump hangs on */
    const int *soft;   /* [nbody] the soft body of a node, -1: of none */
} filter;

/* False without memory. */
bool filter_create(filter *f, const sim_model *model, memory_pool *pool);

/* Shapes of one clump, of a clump and its parent other than the world (unless both say `across_joint`), and of two
 * excluded bodies do not meet.  Nor do nodes of soft bodies, which meet by their surfaces (collide/skin).  Each one's mask must have a bit of the other's group. */
bool filter_allows(const filter *f, int shape_a, int shape_b);

/* Two soft bodies, or one and itself, by their surfaces. */
bool filter_allows_soft(const filter *f, int soft_a, int soft_b);
bool filter_allows_any_soft(const filter *f);

/* May any two shapes touch?  Where that takes too long to tell: yes. */
bool filter_allows_any(const filter *f);

#endif
