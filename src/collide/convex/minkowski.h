/* The difference of two convex cores, D = {a - b}, seen through its support function.
 *
 *     h(u) = max over a in A, b in B of u.(a - b) = h_A(u) + h_B(-u),   u a unit vector in the frame of A
 *
 * The signed distance of the cores is -min h.  Apart, min h is minus the distance of the origin from D; inside, the
 * least translation that parts them.  The contact normal (from B to A) is -u.  For any u, -h(u) is a lower bound of the
 * signed distance.  (Cameron & Culley, "Determining the minimum translational distance between two convex polyhedra",
 * 1986.) */
#ifndef COLLIDE_CONVEX_MINKOWSKI_H
#define COLLIDE_CONVEX_MINKOWSKI_H

#include "collide/convex/convex.h"

#include <float.h>

typedef struct minkowski {
    const convex *a, *b;
    pose X_ab;
    double least;    /* smallest width of the smaller core: the reference of tolerances */
    double grain;    /* rounding error of a support point */
    bool curved;     /* not both are polytopes */
    double far;      /* a distance that need not be known better */
    uint32_t *start; /* [2] vertices at which hulls are searched from, those found last; or NULL */
} minkowski;

/* A point of D and whose difference it is. */
typedef struct mink_point {
    v3 d, a;
    uint32_t vertex_a, vertex_b;
} mink_point;

/* The farthest along u (any length, not zero). */
mink_point mink_support(const minkowski *m, v3 u);

static inline v3 v3_unit(v3 a) { return v3_scale(1 / v3_norm(a), a); }

/* Where the search for the nearest point of D stands. */
typedef struct gjk_result {
    mink_point corner[4];
    double weight[4]; /* of the corners: the nearest point is their sum */
    int count;        /* corners; 4: the origin lies within them */
    v3 nearest;
    double above, below; /* the distance lies between the two */
    v3 axis;             /* h(axis) = -below */
    int beyond;          /* farther than `far`: broken off */
    int iterations;
} gjk_result;

/* From the point of D farthest against a direction (not zero). */
void gjk_start(const minkowski *m, v3 against, gjk_result *g);
/* On until the bounds are within `tolerance`, or nothing comes nearer, or the distance is known to be
 * greater than `far`. */
void gjk_go(const minkowski *m, double far, double tolerance, gjk_result *g);
/* Lets the point of D farthest along the unit vector u take part.  0 when that brings nothing nearer. */
bool gjk_offer(const minkowski *m, v3 u, gjk_result *g);

/* A direction and its h: an upper bound of min h. */
typedef struct mink_direction {
    v3 u;
    double h;
    double slope; /* of h, along what can still be varied */
} mink_direction;

/* Where the plane at right angles to u touches both. */
enum { MINK_TIGHT = 32 }; /* grains that `off` may be of what is stationary to rounding */
typedef struct mink_foot {
    v3 a, b;      /* points of A and B, farthest along u and against it, that are nearest to a - b = h u */
    double h;     /* along u */
    double off;   /* |a - b - h u|: 0 where u is stationary */
    double below; /* min h is no less: proven by the two points */
    int strict;   /* h u lies well within a flat part of D's surface: if stationary, it is a local minimum */
} mink_foot;
void mink_foot_of(const minkowski *m, v3 u, mink_foot *out);
/* Of overlapping solids `below` is known only from here on. */
void mink_foot_prove(const minkowski *m, mink_foot *f);
/* Radius of a ball that rolls freely inside D; 0 if there may be none. */
double mink_rolling(const minkowski *m);
/* Points of D that are as far along u as any, at most so many; a direction in which they lie, if they are more than
 * one. */
int mink_flat(const minkowski *m, v3 u, v3 *point, int most, v3 *along);
/* Stationary, and proven to be the minimum, both to rounding. */
static inline bool mink_is_minimum(const minkowski *m, const mink_foot *f) {
    return f->off <= MINK_TIGHT * m->grain && f->h - f->below <= MINK_TIGHT * m->grain;
}

/* A direction to begin with. */
mink_direction mink_first(const minkowski *m);
/* Of `best` and the sides of a simplex of four, looking out, the lowest. */
void mink_weigh_sides(const minkowski *m, const gjk_result *g, mink_direction *best);

/* Walks downhill from `at` to a local minimum of h to machine precision, if one is near.  Ends early at the proven
 * global minimum, and where D is farther than `far`. `foot`: of where it ends. */
enum { MINK_NEAR = 6, MINK_END = 32 }; /* rounds: from near by they are few; the last word may take its time */
int mink_polish(const minkowski *m, int rounds, mink_direction *at, mink_foot *foot);
/* Are the points of A (of B) that are farthest along u (against u) more than one? */
bool mink_tied(const convex *c, v3 u);

/* The normal of the surface of D where a ray from the origin leaves it; false if it was not found. */
bool mink_portal(const minkowski *m, v3 ray, double below, mink_direction *out);

typedef struct depth_result {
    mink_direction best;
    double below; /* min h is no less: proven */
    int iterations;
} depth_result;

/* Least of h where the origin is in D or as good as at its surface.  `low`: a direction already polished, or NULL. */
void mink_depth(const minkowski *m, const gjk_result *from, const mink_direction *low, depth_result *out);

#endif
