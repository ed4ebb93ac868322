/* Input and output of pair functions.
 *
 * Everything in the frame of A, so that neither where the pair stands nor how it is turned plays a part. */
#ifndef COLLIDE_CONTACT_PAIR_H
#define COLLIDE_CONTACT_PAIR_H

#include "base/arena.h"
#include "math/spatial.h"
#include <sim/collide.h>

#include <math.h>
#include <stdbool.h>

typedef sim_contact_point contact_point;

/* Midway between the surfaces. */
static inline contact_point point_between(v3 position, v3 normal, double gap, uint64_t feature) {
    return (contact_point){.position = position, .normal = normal, .gap = gap, .feature = feature};
}

typedef struct pair {
    const sim_shape *a, *b; /* a->type <= b->type */
    pose X_ab;              /* B's shape frame in A's */
    const pose *X_ba;       /* pose of A in B, computed as X_ab was, so that an exchange of the two gives the same bits.
                             * NULL: the inverse of X_ab */
    double margin;          /* points with a greater gap are left out */
    const uint64_t *kept;   /* features of the pair's points a step ago: where two choices are as good, keep these */
    int nkept;
    bool follows;     /* points far from the features of `kept` may be left out */
    bool nearest;     /* points farther than the nearest may be left out */
    sim_arena *arena; /* scratch, and the points */
    v3 *parting; /* may be NULL. In: a direction that parted B from A a step ago, or 0. Out: one that does now, or 0.
                       * It saves time and changes no answer. */
} pair;

/* Points found, in the arena. */
typedef struct manifold {
    contact_point *point;
    int count, room;
    int failed; /* out of memory */
} manifold;

/* Adds to `out` the contact points of the pair, in the frame of A: normal from B to A. */
typedef void pair_function(const pair *p, manifold *out);

void manifold_add(manifold *out, sim_arena *arena, const contact_point *point);
/* Of the points from `first` on with one feature at one place keep the deepest; at other places they get other
 * features. */
void manifold_unique(const pair *p, manifold *out, int first);

/* The smallest gap of the points from `first` on [m]; infinite without a point. */
static inline double manifold_least_gap(const manifold *m, int first) {
    double least = HUGE_VAL;
    for (int k = first; k < m->count; k++) {
        least = fmin(least, m->point[k].gap);
    }
    return least;
}

/* Whether the pair had a point with this feature a step ago. */
static inline bool pair_was_kept(const pair *p, uint64_t feature) {
    for (int k = 0; k < p->nkept; k++) {
        if (p->kept[k] == feature) {
            return true;
        }
    }
    return false;
}

static inline uint64_t feature_pair(uint32_t of_a, uint32_t of_b) { return (uint64_t)of_a << 32 | of_b; }
static inline uint64_t feature_swapped(uint64_t f) { return f << 32 | f >> 32; }

/* The function of the pair, whichever way round it is given: `a` and `b` of any order of types. */
void pair_collide(const pair *p, manifold *out);
/* A lower bound of the distance of both shapes, whichever way round, that costs far less than their contacts.  It is
 * no better than `enough` asks for.  Minus infinity: none is known that is above `too_near`. */
double pair_apart(const pair *p, double enough, double too_near);
/* Asks `f` for the pair with A and B changed about, and turns its answer round. */
void pair_swapped(const pair *p, pair_function *f, manifold *out);

#endif
