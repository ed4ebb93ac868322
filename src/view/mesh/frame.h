/* State for a picture of one moment, from a world or a trajectory. */
#ifndef VIEW_MESH_FRAME_H
#define VIEW_MESH_FRAME_H

#include <sim/scene.h>
#include <sim/view.h>

/* Of one contact, of the step that led to the frame. */
typedef struct view_contact {
    int shape_a, shape_b;
    sim_v3 position, normal, impulse; /* N s, on A */
    double gap;
    double area; /* m^2, of a polygon between pressure fields; 0: a point */
} view_contact;

/* Numbers of the whole scene that plots show. */
typedef enum view_scalar {
    VIEW_KINETIC,
    VIEW_POTENTIAL,
    VIEW_TOTAL,
    VIEW_CONTACTS,
    VIEW_ITERATIONS,
    VIEW_OWN,
    VIEW_E,
    VIEW_PENETRATION,
    VIEW_PAST_RANGE,
    VIEW_SLIP,
    VIEW_SCALARS,
} view_scalar;

typedef struct view_frame {
    double time;
    const sim_pose *pose; /* [nbody] */
    const double *q;      /* [nq]; NULL: not known */
    int ncontact;
    const view_contact *contact; /* sorted by shape_a, shape_b */
    double scalar[VIEW_SCALARS]; /* NAN: not known */
    const double *reading;       /* in the order of the view's readings (page/readings.h); NULL, NAN: not known */
} view_frame;

sim_status view_add_frame(sim_view *view, const view_frame *frame, sim_error *error);

#endif
