/* Contacts carried on to where the motion of the step takes them. */
#ifndef COLLIDE_FOLLOW_H
#define COLLIDE_FOLLOW_H

#include "base/threads.h"
#include <sim/collide.h>
#include <stddef.h>

typedef struct contact_follower contact_follower;

/* A contact as it will be. */
typedef struct followed_contact {
    sim_v3 position, normal;
    double gap;
    bool known;   /* 0: the pair has no such point there */
    bool carried; /* not found there, but taken along by both bodies */
} followed_contact;

typedef struct follow_input {
    const sim_model *model;
    const sim_pose *start, *end; /* [nbody] now, and as the velocities of now move the bodies within the step */
    const sim_motion *velocity;  /* [nbody] of the bodies at `end` */
    double step;                 /* s */
    const sim_contact *contact;  /* sorted, as found at `start` */
    int ncontact;
    const char *wanted; /* [ncontact] which contacts to follow */
} follow_input;

/* NULL without memory. */
contact_follower *follower_create(const sim_model *model);
void follower_free(contact_follower *follower);
size_t follower_bytes(const contact_follower *follower);

/* Does what moves at this speed leave contacts of this size where they are? */
bool follower_is_slow(const contact_follower *follower, double speed, double size);
/* The radius of a shape's ball. */
double follower_size(const contact_follower *follower, int shape);
/* V of a contact's pair, the greatest relative speed of any two of its points, of bodies at `pose`; and the size of the
 * smaller one. */
double follower_speed(const contact_follower *follower, const sim_pose *pose, const sim_motion *velocity,
                      const sim_contact *contact, double *size);

/* Fills out[ncontact].  Depends on the input alone. */
sim_status follower_run(contact_follower *follower, const follow_input *input, sim_threads *threads,
                        followed_contact *out, sim_error *error);

#endif
