/* Signed distance fields as they are kept: a tree of nodes in one array, and its leaves' own functions. */
#ifndef GEOMETRY_FIELD_FIELD_H
#define GEOMETRY_FIELD_FIELD_H

#include "base/pool.h"
#include "math/spatial.h"
#include <sim/geometry.h>

/* A thread in numbers that its distance needs; see screw_thread.c. */
typedef struct field_thread {
    double outer, core;      /* radii of crest and root */
    double crest, foot;      /* half the width of the ridge at its crest and at its root */
    double slope;            /* tan(flank_angle / 2) */
    double inv_square;       /* 1 / (1 + slope^2) */
    double pitch, inv_pitch; /* per turn */
    double lead;             /* per radian */
    double clearance;        /* the surface moved into the solid */
    double half_length;      /* of a rod; HUGE_VAL for a bore */
    double side;             /* 1 rod, -1 bore */
    double hand;             /* 1 right, -1 left */
    bool thick;              /* no point of a flank is nearer to the ridge's other side than twice the clearance */
} field_thread;

/* A curve (radius, z) turned about z. */
typedef struct field_profile {
    int count; /* of points */
    const double (*point)[2];
    const double (*step)[2];       /* from a point to the next */
    const double *inverse_squared; /* 1 / |step|^2; 0 where two points coincide */
    double thickness;
} field_profile;

typedef struct field_grid field_grid;

/* A node and those below it stand in one run; the first child follows its parent, each further child the end of the one
 * before. */
typedef struct field_node {
    sim_field_type type;
    int end;     /* the first node past this one's run */
    bool placed; /* X is not the identity */
    pose X;      /* the node's frame in the field's */
    double rounding;
    double half[3]; /* sphere: r; box: half edges; cylinder: r, half length */
    const field_profile *profile;
    const field_thread *thread;
    const field_grid *grid;
} field_node;

struct sim_field {
    int nnode;
    const field_node *node;
    double detail; /* an edge of triangles that the thinnest of its leaves calls for */
    int64_t cost;  /* steps of one distance */
    v3 low, high;  /* a box that holds the solid */
    double edge;   /* of the triangles of its geometry's surface */
};

enum { FIELD_MAX_DEPTH = 32, FIELD_MAX_NODES = 1 << 16 };

/* Distances of leaves in their own frames, with the gradient; `gradient` is never NULL. */
double profile_distance(const field_profile *profile, v3 p, v3 *gradient);
/* `lead` as below. */
double thread_distance(const field_thread *thread, v3 p, v3 *gradient, double *lead);
double grid_distance(const field_grid *grid, v3 p, v3 *gradient);

/* The distance d at p and its gradient g.  `lead`: how far ahead the part of the surface that decides is.  Where it exceeds
 * 2 |d| the nearest point of the surface is p - d g, and g the normal there. */
double field_distance_and_lead(const sim_field *field, v3 p, v3 *gradient, double *lead);

/* Refuses what no thread can be. */
sim_status thread_check(const sim_thread *def, const char *where, sim_error *error);
field_thread thread_freeze(const sim_thread *def);

/* Work is counted in steps of about two nanoseconds. */
enum { STEPS_PER_SAMPLE = 400, STEPS_PER_CUBE = 2000, DISTANCES_PER_CUBE = 60 };
static const int64_t FIELD_MAX_STEPS = 10000000000;

/* As sim_geometry_field, within `*room` steps, less those taken on return: larger fields are refused. */
sim_geometry *geometry_field_within(const sim_field_def *def, double resolution, const char *cache, int64_t *room,
                                    sim_error *error);

/* The tree of the definition, checked, and a box that holds the solid (rounding and all). NULL on failure. */
sim_field *field_build(memory_pool *pool, const sim_field_def *def, const char *cache, v3 *low, v3 *high, int64_t *room,
                       sim_error *error);

/* Of all that decides the distance. */
uint64_t field_hash(const sim_field *field);

/* A unit vector along (x, y, 0) and its length; on the axis, x. */
static inline double field_radial(double x, double y, double e[2]) {
    double squared = x * x + y * y;
    if (squared > 1e-280) {
        double r = sqrt(squared);
        e[0] = x / r;
        e[1] = y / r;
        return r;
    }
    e[0] = 1;
    e[1] = 0;
    return 0;
}

#endif
