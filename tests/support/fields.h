/* Distance fields that several tests share. */
#ifndef SUPPORT_FIELDS_H
#define SUPPORT_FIELDS_H

#include "support/models.h"
#include <sim/geometry.h>

sim_field_def field_sphere(double radius);
sim_field_def field_box(double x, double y, double z);
sim_field_def field_cylinder(double radius, double length);
/* The M48 bolt, 5 mm pitch, ISO depth, right-handed, no clearance. */
sim_field_def field_bolt(double length);
/* The bore that goes with it, its surface moved outwards by `clearance`. */
sim_field_def field_bore(double clearance);

/* A plate, a bowl, a pot: curves from (0, 0). */
enum { DISHES = 3 };
typedef struct dish {
    const char *name;
    double point[3][2], thickness;
} dish;
extern const dish dishes[DISHES];
sim_field_def field_dish(int which);

/* A hexagonal nut of the given width across flats and height around the bore, from `part[4]`. */
sim_field_def field_nut(double clearance, double width, double height, sim_field_def part[4]);

/* The geometry; stops the test where it is refused. */
sim_geometry *field_geometry(const sim_field_def *def, double resolution);
/* A point in the box of the geometry, grown by `beyond` to all sides. */
sim_v3 field_point(random_source *r, const sim_geometry *g, double beyond);

/* Largest |d(p) - d(q)| / |p - q| over random pairs, near and far, and largest |gradient|. */
typedef struct field_slopes {
    double between, gradient;
} field_slopes;
field_slopes field_steepest(const sim_geometry *g, double beyond, int pairs);
/* Largest difference of the gradient from differences of the distance at step h, over points where the differences at h
 * and h/2 agree to `smooth`; `kept`: the share of points that do. */
double field_gradient_error(const sim_geometry *g, double beyond, int points, double h, double smooth, double *kept);

#endif
