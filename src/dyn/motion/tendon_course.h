/* A string stretched over a sphere or a cylinder, between two points. */
#ifndef DYN_MOTION_TENDON_COURSE_H
#define DYN_MOTION_TENDON_COURSE_H

#include "math/jet.h"

/* Sphere about the origin, or cylinder about the z axis, without end. */
typedef struct string_obstacle {
    bool cylinder;
    double radius; /* m */
} string_obstacle;

typedef enum course_kind {
    COURSE_STRAIGHT, /* past the obstacle, or through it */
    COURSE_NEAR,     /* over the side that the straight line is nearer to */
    COURSE_FAR,      /* over the other side */
    COURSE_INSIDE,   /* to one point of the surface and back */
} course_kind;

typedef struct string_course {
    course_kind kind;
    double middle; /* COURSE_INSIDE: rad, its point seen from the axis or centre, from a on */
    v3 e1, e2;     /* of the plane in which it turns: to a, and across towards b */
    double arc[2]; /* rad: angles from e1 towards e2 at which it meets and leaves the surface, along its way */
    v3 on[2];      /* the two points, m */
} string_course;

/* The course from a to b.  A side (NULL: none) outside the obstacle: over the side where that stands; inside: through
 * the obstacle. */
string_course find_course(const string_obstacle *o, v3 a, v3 b, const v3 *side);
/* Its length as the two points move, m, m/s, m/s^2. */
jet course_length(const string_obstacle *o, const string_course *c, jet3 a, jet3 b);

#endif
