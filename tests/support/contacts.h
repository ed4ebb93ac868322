/* Contacts of distance fields, as several tests and benchmarks need them. */
#ifndef SUPPORT_CONTACTS_H
#define SUPPORT_CONTACTS_H

#include "collide/contact/pair.h"
#include "support/fields.h"
#include <sim/sim.h>

/* A shape of a field, of a type with sizes, or of another geometry. */
sim_shape field_shape(const sim_field_def *def, double resolution);
sim_shape sized_shape(sim_shape_type type, double x, double y, double z);
sim_shape geometry_shape(sim_shape_type type, const sim_geometry *geometry);
void shape_free(sim_shape *shape);

/* The contact points of A at the identity and B at X; in a buffer that is the caller's to free().  `kept` as in
 * pair. */
typedef struct contacts {
    contact_point *point;
    int count;
} contacts;
contacts contacts_of(const sim_shape *a, const sim_shape *b, pose X, double margin, const uint64_t *kept, int nkept);
int deepest_of(const contacts *c);

/* `which` of `dishes`. */
sim_shape dish_shape(int which, double resolution);
/* M48 x 5 with `clearance` on each flank of each: the bolt 60 mm long, the nut a hexagon 75 mm wide and 38 mm high. */
#define M48_PITCH 0.005
sim_shape bolt_shape(double clearance, double resolution);
sim_shape nut_shape(double clearance, double resolution);

#endif
