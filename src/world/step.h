/* Stages of a step that are this room's own. */
#ifndef WORLD_STEP_H
#define WORLD_STEP_H

#include "world/contact/contacts.h"

/* Notes a tree whose end state is not finite, or faster than light. */
void check_tree(motion_work *w, int tree, worker_info *info);
/* The failure of a step at such a tree, in words. */
sim_status explain_failure(motion_work *w, const world_contacts *c, int tree, sim_error *error);

#endif
