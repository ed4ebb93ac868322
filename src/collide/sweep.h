/* Conservative test whether two separate shapes meet within the step. */
#ifndef COLLIDE_SWEEP_H
#define COLLIDE_SWEEP_H

#include "collide/contact/pair.h"

/* A shape in motion. */
typedef struct mover {
    const sim_shape *shape;
    pose X;       /* of its body */
    motion v;     /* of its body, at the body's origin */
    v3 belt;      /* velocity of its surface over the body, at the origin of the shape */
    v3 spin;      /* angular velocity of it */
    double reach; /* from the body's origin to the farthest point of the shape; 0 for what stands still */
} mover;

/* Velocity of the body's point at x. */
static inline v3 mover_velocity(const mover *m, v3 x) {
    return v3_add(m->v.lin, v3_cross(m->v.ang, v3_sub(x, m->X.p)));
}

typedef struct sweep {
    mover a, b;
    double step;
    double margin;
    double lift;    /* s: points count up to a gap of so much times their slip, too */
    double turn;    /* m: ... and of `lift` times so much times their relative angular velocity */
    bool one_point; /* for two bodies that both move */
    const uint64_t *kept;
    int nkept;
    bool follows, nearest; /* as in pair */
    sim_arena *arena;
    v3 *parting; /* as in pair; NULL: none */
} sweep;

/* Adds the contact points at the moment the two come within `margin`, if they do so before the step ends.  In the
 * world, each with the normal, the levers and the rate of closing at the meeting.  Its gap closes at that rate then. */
void sweep_collide(const sweep *s, manifold *out);

/* The contact points with a gap under `margin` as the shapes will stand at time t. In the world. */
void sweep_ask(const sweep *s, double t, double margin, manifold *out);
/* A lower bound of the distance at time t, at most about `enough`; minus infinity: none above the margin is known. */
double sweep_apart(const sweep *s, double t, double enough);
/* Infinite where there is no point. */
double sweep_least_gap(const manifold *m);
/* Leaves out the points farther than `near` that neither the motion of the step brings within the margin nor slip
 * lifts. */
void sweep_drop_unreached(const sweep *s, double near, manifold *out);

/* Keeps the points that come nearer and that motion or slip reaches; none if the two pass each other by. */
void sweep_keep_landing(const sweep *s, manifold *out);

/* The greatest speed with which any two points of the shapes approach each other. */
/* Speed or way at `reach` from the axis of a spin or turn.  A half-space reaches without end, but only where it turns. */
static inline double swing(double turn, double reach) { return turn > 0 && reach > 0 ? turn * reach : 0; }

double sweep_speed(const mover *a, const mover *b);

#endif
