/* An oracle for contact: distance and least depth by brute force.
 *
 * Slow, plain, and without a line in common with src/: polytopes by every face, edge pair and vertex; curved solids by
 * searching the whole sphere of directions with a bound that proves the answer. */
#ifndef ORACLE_H
#define ORACLE_H

#include "vec.h"
#include <sim/collide.h>

enum { POLY_VERTICES = 96, POLY_FACES = 192, POLY_EDGES = 288, POLY_CORNERS = 32 };

/* A convex polytope, of any dimension: a point, a segment, a triangle, a solid. */
typedef struct poly {
    int nv, nf, ne;
    vec v[POLY_VERTICES];
    vec normal[POLY_FACES]; /* outwards */
    int corners[POLY_FACES], loop[POLY_FACES][POLY_CORNERS];
    int edge[POLY_EDGES][2];
} poly;

/* Faces and edges from vertices alone: every triple of points that has all others on one side spans a face. */
void poly_hull(poly *p, const vec *point, int count);

typedef enum solid_kind { SOLID_POLY, SOLID_CYLINDER, SOLID_ELLIPSOID, SOLID_HALF_SPACE } solid_kind;

/* A convex solid where it stands: everything within `radius` of a core. */
typedef struct solid {
    solid_kind kind;
    real radius;
    vec half;    /* cylinder: radius, radius, half length; ellipsoid: semi-axes */
    mat R;       /* its axes */
    vec p;       /* its origin */
    poly poly;   /* vertices and normals where they stand */
    real extent; /* farthest of the solid from p */
    real least;  /* its smallest size */
} solid;

/* The shape at X, seen from `origin`. Convex meshes are the hulls of their vertices. 0: not a convex solid. */
int solid_of(const sim_shape *shape, const sim_pose *X, vec origin, solid *out);
void solid_move(solid *s, vec step);

/* The farthest point of the core along n. */
vec solid_support(const solid *s, vec n);
/* min over a in A of n.a, less max over b in B of n.b, rounding included: for unit n never more than the gap. */
real solid_separation(const solid *a, const solid *b, vec n);
/* How far a point is from the surface, outside positive: exact for all but ellipsoids, there to first order. */
real solid_surface(const solid *s, vec p);
/* The nearest point of the core to p (p itself inside). */
vec solid_nearest(const solid *s, vec p);

typedef struct truth {
    real gap;       /* attained by `normal` */
    real beyond;    /* no direction does better by more than this: proven */
    vec normal;     /* from B to A */
    int unique;     /* no direction clearly different comes near */
    int core_apart; /* the cores do not overlap */
    real core;      /* gap of the cores */
    long work;      /* supports, axes or features looked at */
} truth;

/* Exhaustive separating axes and features. */
truth poly_gap(const solid *a, const solid *b);
/* Branch and bound over the sphere of directions, to `tolerance`, or as near as `budget` directions lead. */
truth sphere_gap(const solid *a, const solid *b, real tolerance, long budget);
/* Whichever suits, half-spaces included. */
truth solid_gap(const solid *a, const solid *b);
/* Upper bound of the distance of two cores that are apart, by accelerated projected gradient; the points it found. */
real nearest_points(const solid *a, const solid *b, int iterations, vec *on_a, vec *on_b);

#endif
