/* Answers of the library about a scene, compared with the oracle. */
#ifndef ORACLE_CHECK_H
#define ORACLE_CHECK_H

#include "scene.h"

typedef enum fault {
    FAULT_NUMBER,    /* not finite, or a normal that is not unit */
    FAULT_MISSED,    /* nothing reported though nearer than the margin */
    FAULT_SPURIOUS,  /* reported though farther than the margin */
    FAULT_GAP,       /* the deepest gap is not the oracle's */
    FAULT_NORMAL,    /* the normal of the deepest point does not attain the gap, or is not the only one that does */
    FAULT_SURFACE,   /* position +- gap/2 normal is not on both surfaces, for the deepest point */
    FAULT_PATCH,     /* the same for another point, by more than a hundredth of the smaller size */
    FAULT_SPREAD,    /* face on face, but the points span less than half of what the faces have in common */
    FAULT_MARGIN,    /* a gap above the margin */
    FAULT_COUNT,     /* more than four points of a convex pair */
    FAULT_IDENTITY,  /* two points with one feature */
    FAULT_SWAP,      /* A and B exchanged: another answer */
    FAULT_FRAME,     /* carried elsewhere and turned: another answer */
    FAULT_SCALE,     /* a thousand times larger or smaller: another answer */
    FAULT_UNCERTAIN, /* the oracle could not tell; not counted against the library */
    FAULTS,
} fault;

extern const char *const fault_name[FAULTS];

/* Errors are divided by what they may be: 1 is the limit. */
typedef struct tally {
    long scenes, points, fault[FAULTS], by_category[CATEGORIES][FAULTS];
    double gap,
        gap_relative;      /* worst: metres; of the smaller size (of the larger of size and coordinate: closed forms) */
    double angle;          /* worst, where the normal is unique */
    double surface, patch; /* worst, of the smaller size: deepest points, all others */
    long wrong;            /* scenes with any fault */
} tally;

enum { MOST_POINTS = 256 };

/* Adds the scene to the tally. The first `shown` faults of each kind are printed to `log` (may be NULL). */
void scene_check(const scene *s, tally *t, FILE *log, int shown);
void tally_print(FILE *file, const char *name, const tally *t, int categories);

/* Area that two polytopes' faces across n have in common, and the smaller face's; -1 where there are no such faces. */
real faces_in_common(const solid *a, const solid *b, vec n, real *smaller);
/* Area that at most four points span, seen along n. */
real spanned_area(const sim_contact_point *c, int count, vec n);

/* Both types among sphere, capsule, box, half-space. */
int closed_form(sim_shape_type a, sim_shape_type b);

#endif
