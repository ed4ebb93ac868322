/* All contacts of a model, from the poses of its bodies. */
#ifndef COLLIDE_COLLISION_H
#define COLLIDE_COLLISION_H

#include "base/threads.h"
#include <sim/collide.h>
#include <stddef.h>

typedef struct collision_stage collision_stage;

/* Where the bodies are, and how they are about to move. */
typedef struct collision_input {
    const sim_pose *pose;       /* [nbody] */
    const sim_motion *velocity; /* [nbody] at body origins, world axes; NULL: at rest */
    double step;                /* s: how long they move so */
    double
        glide; /* s: by the law what slides at v stays in contact up to a gap of glide friction v; 0: nothing lifts */
    bool one_point; /* moving bodies that meet within the step share one point (sweep.c); 0: each has its own */
    const sim_contact *before; /* contacts of a step ago, as they were returned then; may be NULL */
    int nbefore;
    const char *still; /* [nbody] two bodies of these are passed over; NULL: none */
} collision_input;

/* Counts of a call. */
typedef struct collision_info {
    int near;   /* pairs whose boxes meet */
    int swept;  /* pairs followed along their motion */
    int pairs;  /* pairs in contact */
    int points; /* contacts */
} collision_info;

/* May any two shapes of the model touch, wherever its bodies go?  -1 without memory. */
int collision_possible(const sim_model *model);

/* `margin`: points with a gap up to it are contacts though nothing moves; NAN: a thousandth of the radius of the
 * smaller shape's ball.  NULL without memory. */
collision_stage *collision_create(const sim_model *model, double margin);
void collision_free(collision_stage *collision);
size_t collision_bytes(const collision_stage *collision);

/* Contacts, sorted by shape_a, shape_b and feature.  They stay through the next call, so that it can be shown them as
 * `before`, and no longer.  Depends on the input alone: not on earlier calls, not on the number of threads. */
sim_status collision_update(collision_stage *collision, const collision_input *input, sim_threads *threads,
                            sim_error *error);
const sim_contact *collision_contacts(const collision_stage *collision, int *count);
/* Of the ball around a shape. */
double collision_radius(const collision_stage *collision, int shape);
/* From its body's origin to the farthest point of a shape; 0 of bodies that nothing moves. */
double collision_reach(const collision_stage *collision, int shape);
const collision_info *collision_last(const collision_stage *collision);

#endif
