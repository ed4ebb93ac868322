/* Contact of one solid's surface with another's distance field: data shared by the stages. */
#ifndef COLLIDE_FIELD_FIELD_CONTACT_H
#define COLLIDE_FIELD_FIELD_CONTACT_H

#include "collide/field/field_solid.h"
#include "geometry/field/field_mesh.h"

/* How far from parallel two surfaces may be for a point that is no local minimum to count as contact: the sine.  It is
 * what two faces that rest on each other are apart from each other by while they settle. */
#define FIELD_SLACK 0.01

/* A place on the surface and the field there, in the surface's frame. */
typedef struct place {
    v3 t;      /* on the triangle */
    v3 x;      /* on the surface */
    v3 normal; /* of the surface; of the triangle where it is flat */
    v3 g;      /* gradient of the field */
    double f;  /* the field there, or where the lift takes it */
    v3 shift;  /* a lift: the surface moved away from the field's solid */
    double lift;
    bool settled; /* by settle_round */
} place;

static inline double place_gap(const place *at) { return at->f - at->lift; }

enum {
    VERTEX_KNOWN = 1,
    VERTEX_TAKEN = 2,   /* is a contact */
    VERTEX_COVERED = 4, /* of a triangle that has a contact */
    VERTEX_ROLLS = 8,   /* on the slope of a bowl, whose bottom is near */
    VERTEX_KEPT = 16,   /* of a feature that a point had a step ago */
};

/* A triangle that may have a contact, and about how low the field is there. */
typedef struct candidate {
    double low;
    int triangle;
} candidate;

/* The surface of one solid in the field of another. */
typedef struct encounter {
    const pair *pair;
    const solid *surface, *field;
    pose X_fs; /* the surface's frame in the field's */
    double margin;
    double coarse;              /* longer triangles are cut: they may hold several minima */
    const struct convex *round; /* the field's solid, if that is a ball, a capsule or an ellipsoid; else NULL */
    bool surface_is_a;          /* else it is B's */
    bool sharp_only;            /* the other direction finds what is smooth */
    place *vertex;              /* [nvertex] as far as they were needed */
    unsigned char *seen;        /* [nvertex] of VERTEX_... */
    candidate *waiting;         /* [ntriangle] triangles near enough, to be gone through in order of promise */
    int nwaiting;
    manifold *out;
    int first;              /* of the pair's points in `out` */
    int deepest;            /* vertex where the field is least, or -1 */
    double least;           /* gap of this surface's points so far, or the margin */
    int lines;              /* points that may be of a line */
    bool follows;           /* searches next to vertices of VERTEX_KEPT alone */
    long fields, triangles; /* evaluations of the field, triangles looked at: for benchmarks */
} encounter;

/* A triangle, or a part of one. */
typedef struct patch {
    int triangle;
    uint32_t part; /* 0: the whole; else which part */
    place corner[3];
    v3 whole[3]; /* corners of the whole triangle */
    v3 normal;   /* unit */
    double size; /* longest edge */
    bool smooth; /* the surface's normal is nowhere far from the triangle's */
    int sharp;   /* where it has edges and corners: SKIN_EDGE << k | SKIN_CORNER << k */
} patch;

/* How far off the other solid its distance is round enough to say which way is out. */
static inline double patch_round(const encounter *e, const patch *p) {
    return 0.2 * fmin(p->size, 0.5 * e->field->extent);
}

/* The field, at a point of the surface's frame. */
double encounter_field(encounter *e, v3 x, v3 *gradient);
/* Where the surface is above t, a place on a triangle; not looked for beyond `reach`.  The lift in `out` is heeded. */
void encounter_place(encounter *e, v3 t, v3 flat_normal, double reach, place *out);
/* Tangential part of the field's gradient: the way up within the surface. */
v3 place_uphill(const place *at);

/* Where the surface was lifted off, is the gap found there possible?  Outside it is the field itself; inside no less
 * deep than the field, with both solids at its middle.  If not, the field has the last word. */
void place_check(encounter *e, place *at);

/* The point `at` as a contact, by the number of a vertex. */
void report_vertex(encounter *e, const place *at, int v);
/* The vertex or the triangle that a feature names; -1: neither is this surface's.  False: an end of a line. */
bool encounter_feature(const encounter *e, uint64_t feature, int *vertex, int *triangle);
/* The end `number` of a line contact. */
void report_end(encounter *e, const place *at, uint32_t number);
/* Corners that lie parallel to the field. */
void report_corners(encounter *e, const patch *p);
/* Where the field's solid is round: from a place near by to where the surface is smooth, and its normal meets the point of
 * the solid that lies deepest along it.  False, and `at` as it was: there is no such place near. */
bool settle_round(encounter *e, const patch *p, place *at);
/* A local minimum over the patch, if it is one of the whole surface. */
void report_minimum(encounter *e, const patch *p, place *low);

/* Where the surfaces touch so closely that rounding decides about g: is there a local minimum with the surface lifted
 * off here?  Then its g is taken. */
bool patch_touch(encounter *e, const patch *p, place *at);
/* A local minimum of the field over the patch. */
void patch_minimum(encounter *e, const patch *p, place *out);

/* From a place where a smooth surface lies about parallel to the field down to where it does exactly.  0, and `at` as
 * it was: there is no such place near. */
bool bowl_bottom(encounter *e, const patch *p, place *at);
/* In a valley, where surfaces touch along a ring, to the place across from the middle of the triangle.  False, and `at` as
 * it was: there is no valley. */
bool valley_middle(encounter *e, const patch *p, place *at);
/* At the edge of a flat face that turns into a round, to the place across from the middle of the triangle.  False, and `at`
 * as it was: there is no such edge. */
bool rim_middle(encounter *e, const patch *p, place *at);

/* The points from `first` on that are of one straight line give way to its two ends. */
void report_lines(encounter *e, int first);

/* All contacts of the surface with the field, added to `out`. */
bool encounter_run(encounter *e);

/* Contacts of the corners and edges of A, a box, a cylinder or a hull, in B's field. `first`: of the pair's points. */
void encounter_edges(const pair *p, const solid *a, const solid *b, int first, manifold *out);

/* A plane with A on one side and B on the other, once A is moved by `depth` along `normal`. */
typedef struct parting {
    double depth;
    v3 normal; /* unit, in A's frame */
    v3 middle; /* halfway between the two surfaces; where x is, along the plane */
} parting;

/* The least way that is found; `x`: in both; `point`: contacts, whose normals are tried.  depth HUGE_VAL: none. */
parting parting_of(const pair *p, const solid *a, const solid *b, v3 x, const contact_point *point, int count);
/* Motion of A along the unit vector n, in A's frame, after which a plane lies between A and B; HUGE_VAL: not known. */
double parting_depth(const pair *p, const solid *a, const solid *b, v3 n);
/* Drops contacts from `first` on that are deeper than a motion that parts A and B; the least of those takes their place
 * where none is left. */
void encounter_shorten(const pair *p, const solid *a, const solid *b, int first, manifold *out);
/* A contact that parts A and B where they overlap and those from `first` on would not. */
void encounter_overlap(const pair *p, const solid *a, const solid *b, int first, manifold *out);

#endif
