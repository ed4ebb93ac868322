/* Islands at rest that steps leave out. */
#ifndef WORLD_SLEEP_SLEEP_H
#define WORLD_SLEEP_SLEEP_H

#include "base/threads.h"
#include "world/integrator/motion.h"

typedef struct world_sleep {
    /* read */
    const sim_model *model;
    const sim_options *options;
    const sim_equality *equality; /* [nequality] as they act now */
    const sim_state *now;
    motion_work *motion; /* of awake trees; targets of all */
    sim_threads *threads;

    /* fixed when the world is created */
    double *radius;  /* [nbody] m, from its centre of mass to its farthest point */
    double *limit;   /* [nbody] m/s, the greatest speed at rest */
    int64_t *enough; /* [ntree] steps that it must have been at rest */
    char *moves;     /* [nbody] some joint moves it */

    /* of this step */
    sim_state *next;
    sim_step_info *info;
    char *asleep;   /* [ntree] */
    char *woken;    /* [ntree] by a contact: its free motion is not known yet */
    char *ready;    /* [ntree] at rest for long enough */
    char *upset;    /* [ntree] its hash has changed; of an island's first tree: that of any tree of the island */
    char *still;    /* [nbody] its tree sleeps, or none moves it */
    uint64_t *hash; /* [ntree] of the drives of the tree: first those of its bodies, then all */
    int *parent;    /* [ntree] */
    char *posed;    /* [ntree] it sleeps, and the poses where the step starts are those of the steps before */
} world_sleep;

/* Memory; the members above `fixed` are given, and those of `next` and `info`. */
sim_status sleep_create(world_sleep *s, memory_pool *pool);
/* Rejects a state that no world can produce. */
sim_status sleep_check(const world_sleep *s, const sim_state *state, sim_error *error);

/* The trees that sleep through this step, as far as contacts do not wake them. */
void sleep_begin(world_sleep *s);
static inline bool sleep_has(const world_sleep *s, int tree) { return s && s->asleep[tree]; }
/* Wakes islands that an awake body touches; how many trees. */
int sleep_wake(world_sleep *s, const sim_contact *contact, int count);
/* The contacts within sleeping islands among those of `next`, which has room; then their impulses, and those of
 * constraints. */
void sleep_keep_contacts(world_sleep *s);
void sleep_keep_impulses(world_sleep *s);
/* A sleeping tree from `now` to `next`; the number of its actuators at their limit. */
int sleep_pass(world_sleep *s, int tree);
/* Trees that have been at rest for long enough fall asleep in `next`. */
void sleep_end(world_sleep *s);

/* Sizes and limits of bodies at rest (rest_test.c). */
sim_status rest_test_create(world_sleep *s, memory_pool *pool);
/* Does a tree that is awake end the step at rest?  Leaves its bodies' velocities in `derived`. */
bool rest_test(world_sleep *s, int tree);

#endif
