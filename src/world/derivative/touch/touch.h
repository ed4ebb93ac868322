/* The contact of two primitives as a function of the motions of their bodies. */
#ifndef WORLD_DERIVATIVE_TOUCH_H
#define WORLD_DERIVATIVE_TOUCH_H

#include "math/spatial.h"
#include <sim/collide.h>
#include <sim/derivatives.h>
#include <sim/dynamics.h>

#include <stdbool.h>

typedef enum touch_kind {
    TOUCH_PLANE,  /* a ball, a corner or the lowest point of a round solid on a plane */
    TOUCH_BALLS,  /* two balls; a ball and a line; two lines */
    TOUCH_FACETS, /* two boxes or hulls */
    TOUCH_ROUND   /* a cylinder or an ellipsoid, and a convex solid */
} touch_kind;

/* Features of two polyhedra, and the edge of one that a ball meets. */
typedef struct facet_touch {
    int corner; /* side whose corner meets a face of the other; -1: two edges cross */
    v3 face;    /* normal of that face */
    v3 edge[2]; /* directions */
    int turner; /* side whose face the normal belongs to; -1: it is across `along` */
    v3 along[2];
} facet_touch;

/* A point of a solid: its slip over the surface as the normal turns, m, and the ways on which it is free. */
typedef struct touch_feature {
    m3 slip;
    int ways;
    v3 way[2];
} touch_feature;

/* A system of touch_round.c, factored: of the points of both sides. */
typedef struct touch_round {
    touch_feature point[2];
    v3 x[2];
    double gap;
    int held, held_side[2], unknowns, swap[5];
    v3 held_way[2]; /* on which the owner of the normal is flat */
    v3 across[2];
    double LU[5 * 8];
} touch_round;

/* Two round sides along each other: the contact is at an end of one of them. */
typedef struct touch_side {
    v3 c, z; /* centre and axis */
    double half, radius;
    bool hollow; /* a capsule */
} touch_side;
typedef struct lying_touch {
    touch_side side[2];
    bool parallel;
    int whose, end; /* side, -1 or 1 along its axis */
} lying_touch;

typedef struct touch {
    touch_kind kind;
    bool line[2]; /* has a side a line, on which its ball slips? */
    int solid;    /* side of the ball or corner on a plane */
    facet_touch facets;
    touch_round round, owner; /* of the contact, and of the deepest points that own its normal, if `owned` */
    bool owned;
    lying_touch lying; /* if `lies_along`, in place of `round` */
    bool lies_along;
    bool kink; /* two normals are as good */
    m3 slip;   /* of a round solid on a plane: its lowest point moves by -slip d over it, where the normal turns by d */
    v3 axis;   /* of a capsule that lies on a plane, at the end that is not lowest: its ball is r / cos t wide */
    bool lies;
    v3 at[2];         /* of each side: centre of the ball, or the corner, or a point of the plane, or of contact */
    v3 origin[2];     /* of each body */
    double radius[2]; /* of balls */
    v3 n;             /* from B to A */
    double gap;
    bool spread; /* has each side the point of its own surface? */
    double part; /* of the gap, from the surface of the solid (of B between balls) to the point at which it acts */
} touch;

typedef struct touch_rate {
    v3 x, n, apart;
    double gap;
} touch_rate;

/* Velocities of the points of both sides over their bodies, as shapes grow; and of those that own the normal.  Rates of
 * radius and half the length of both. */
typedef struct touch_growth {
    v3 point[2], owner[2];
    double radius[2], half[2];
} touch_growth;

/* Of a side's point, carried by its body. */
static inline v3 touch_velocity(const touch *t, const sim_motion velocity[2], int side) {
    return v3_add(velocity[side].lin, v3_cross(velocity[side].ang, v3_sub(t->at[side], t->origin[side])));
}

/* NULL, or the reason why a contact is none of these.  d: kinematics where it was found. */
const char *touch_make(const sim_derived *d, const sim_contact *c, touch *out);
/* Along velocities of both bodies at their origins. */
touch_rate touch_along(const touch *t, const sim_motion velocity[2]);
touch_rate touch_growing(const touch *t, const sim_motion velocity[2], const touch_growth *grow);
pose touch_shape_pose(const sim_derived *d, int shape);

/* ---- touch_size.c ---- */

/* By a size of the shape of a side (sim_shape), at its pose in the world; 0 where it has no such one. */
touch_rate touch_by_size(const sim_shape *shape, pose X, const touch *t, int side, int component);

/* ---- touch_surface.c ---- */

/* Of a contact, by each parameter. */
typedef struct surface_rates {
    double *friction, *stiffness, *dissipation;
} surface_rates;

/* Adds those by friction and stiffness of its materials. */
void touch_surface(const sim_model *m, const sim_contact *c, int parameters, const sim_parameter *parameter,
                   surface_rates *out);

/* ---- touch_facets.c ---- */

/* Is it a box or a hull? */
bool touch_is_polyhedron(const sim_shape *s);
/* The corner of one that is nearest to a point; the edge, or the face that looks most along `out`, on which the point
 * lies.  The normal that is nearest to n, within an angle.  False: there is none. */
bool touch_find_corner(const sim_shape *shape, pose X, v3 x, v3 *corner);
bool touch_find_edge(const sim_shape *shape, pose X, v3 x, v3 *edge);
bool touch_find_face(const sim_shape *shape, pose X, v3 x, v3 out, v3 *face);
bool touch_find_normal(const sim_shape *shape, pose X, v3 n, double angle, v3 *face);
/* Is a point in or on one? */
bool touch_holds(const sim_shape *shape, pose X, v3 x);
/* The farthest corner along `out`; the edge whose both ends are, to within an angle, false: there is none. */
v3 touch_farthest_corner(const sim_shape *shape, pose X, v3 out);
/* Of the edges that are farthest along `out`: the first that crosses the line through x along z, seen along `out`. */
bool touch_first_edge(const sim_shape *shape, pose X, v3 out, v3 x, v3 z, v3 *edge);
bool touch_farthest_edge(const sim_shape *shape, pose X, v3 out, double angle, v3 *edge);
/* As touch_make: of two boxes or hulls; of a ball and one of these or a capsule, false: the nearest feature is none of
 * its. */
const char *touch_solids(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t);
bool touch_ball(const sim_shape *const shape[2], const pose X[2], touch *t);
/* A capsule and a capsule, a box or a hull; false: the nearest features are none of theirs. */
bool touch_capsule(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t);
touch_rate touch_rate_of_facets(const touch *t, const sim_motion velocity[2], const touch_growth *grow);

/* ---- touch_round.c ---- */

/* Is it a cylinder or an ellipsoid? */
bool touch_is_round(const sim_shape *s);
/* Does a capsule or cylinder lie level on a face, and beyond it? */
bool touch_hangs_over(const sim_shape *const shape[2], const pose X[2], v3 n);
/* One of these and a convex solid; false: the points are none of theirs. */
bool touch_make_round(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t);
touch_rate touch_rate_of_round(const touch *t, const sim_motion velocity[2], const touch_growth *grow);

/* ---- touch_lying.c ---- */

/* Two capsules or cylinders whose axes are parallel, across the normal. */
bool touch_are_parallel(const sim_shape *const shape[2], const pose X[2], v3 n);
/* A contact at an end of one of two such shapes along each other; false: it is none. */
bool touch_make_lying(const sim_shape *const shape[2], const pose X[2], const sim_contact *c, touch *t);
/* The first end of a side that stands beside the other line; false: there is none. */
bool touch_first_end(const lying_touch *l, int *side, int *end);
/* `turn`: rate of the normal; NULL: that across both axes. */
touch_rate touch_rate_of_lying(const touch *t, const sim_motion velocity[2], const touch_growth *grow, const v3 *turn);

#endif
