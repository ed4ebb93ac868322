/* Two shapes, at least one of them not convex, brought to a known gap: what must hold.
 *
 * Apart, the gap is the distance.  Inside, more than one answer is right, so: there is a point, it is no deeper than
 * the way the shape was pushed in, and following the deepest points leads out again. */
#ifndef ORACLE_ENCOUNTER_H
#define ORACLE_ENCOUNTER_H

#include "scene.h"

typedef struct encounter {
    const char *name;
    sim_shape a, b;
    sim_pose X_a, X_b;
    double margin, smaller;
    /* distance of a place from the surface of either */
    real (*from_a)(const void *context, vec place), (*from_b)(const void *context, vec place);
    const void *context;
    double allowed; /* error of gaps and of places, of the smaller size */
    int rough;      /* close to, the measure is no better than the gap aimed at */
    double far_off; /* the same for places of points that are not the deepest */
} encounter;

typedef struct counts {
    long scenes, wrong;
    long missed, spurious, gap, surface, number, deep, stuck, swap, identity;
    double worst_gap, worst_surface, worst_patch, worst_depth;
} counts;

/* A random shape of a type, `scale` times as large, and its solid; both shapes are turned anyhow. */
void encounter_begin(encounter *e, random_source *r, stock *from, sim_shape_type type, double scale, solid *a);
/* A gap to aim at: beyond the margin, within it, touching to 1e-9, or up to a twentieth of the size inside. */
double encounter_gap(random_source *r, const encounter *e);
/* How far the shapes are apart where they stand, and which way A would move off. */
typedef real encounter_measure(encounter *e, vec *normal);
/* Moves A to the gap `*target`, in steps that get shorter, as a normal found from afar is not quite that of the nearest
 * points; then says what the gap is, where the shapes are apart.  0: they do not start apart by more than that. */
int encounter_approach(encounter *e, encounter_measure *measure, double *target);
/* The shapes stand `target` apart or, where that is negative, were pushed in by so much from where they touched. */
void encounter_check(const encounter *e, double target, counts *sum);
/* With SIM_ORACLE_TABLE set. */
void counts_print(const char *a, const char *b, const counts *sum);

#endif
