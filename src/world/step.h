/* Stages of a step that are this room's own. */
#ifndef WORLD_STEP_H
#define WORLD_STEP_H

#include "world/core/world.h"

/* ---- check.c ---- */

/* Notes a tree whose end state is not finite, or faster than light. */
void check_tree(motion_work *w, int tree, worker_info *info);
/* The failure of a step at such a tree, in words. */
sim_status explain_failure(motion_work *w, const world_contacts *c, int tree, sim_error *error);

/* ---- events.c ---- */

/* Quantities at the start of the first step; then events of a step that has become `now`. */
void events_begin(sim_world *w);
void events_find(sim_world *w);

/* ---- control_stage.c ---- */

/* Controllers before the free motion: commands of their actuators, constraints that they switch. */
sim_status control_stage(sim_world *w, sim_error *error);
/* Undoes what control_stage switched, of a step that is not taken. */
void control_stage_undo(sim_world *w);

#endif
