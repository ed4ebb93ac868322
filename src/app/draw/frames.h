/* Moments of a run, kept to be drawn: simulated now, or read from a trajectory. */
#ifndef APP_DRAW_FRAMES_H
#define APP_DRAW_FRAMES_H

#include "app/cli/batch_progress.h"
#include "record/run/trajectory.h"
#include "view/mesh/frame.h"

typedef struct frame_list {
    int count, room, contacts, contact_room, bodies;
    double *time;     /* [count] */
    sim_pose *pose;   /* [count][bodies] */
    int *contact_end; /* [count] */
    view_contact *contact;
    int no_contacts; /* the file does not tell of any */
} frame_list;

void frames_free(frame_list *frames);
view_frame frames_at(const frame_list *frames, int k);

/* Which moments: from `from` to `to` (s), `every` apart; 0: the one nearest to `from`. */
typedef struct frame_times {
    double from, to, every;
} frame_times;

/* Moves a world of the scene through time. */
sim_status frames_simulate(frame_list *frames, const sim_scene *scene, const frame_times *times,
                           batch_progress *progress, sim_error *error);
/* Of a trajectory that belongs to the scene. */
sim_status frames_read(frame_list *frames, trajectory *run, const sim_scene *scene, const frame_times *times,
                       sim_error *error);

#endif
