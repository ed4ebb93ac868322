/* A spring between a point of a body and a point of the world. */
#ifndef LIVE_SPRING_H
#define LIVE_SPRING_H

#include <sim/world.h>

typedef struct live_spring live_spring;

live_spring *live_spring_create(const sim_model *model); /* NULL without memory */
void live_spring_free(live_spring *spring);
void live_spring_hold(live_spring *spring, sim_point point, sim_v3 target);
void live_spring_release(live_spring *spring);
/* The forces of the next step, in sim_world_applied. */
void live_spring_pull(live_spring *spring, sim_world *world);

#endif
