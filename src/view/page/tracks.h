/* Numbers over time, for plots. */
#ifndef VIEW_PAGE_TRACKS_H
#define VIEW_PAGE_TRACKS_H

#include "view/image/bytes.h"
#include "view/mesh/frame.h"
#include "view/page/readings.h"

typedef struct view_tracks view_tracks;

/* Plotted signals of a model: figures of the scene, the coordinates of its joints, readings.  NULL without memory. */
view_tracks *view_tracks_create(const sim_model *model, const view_readings *readings);
void view_tracks_free(view_tracks *tracks);
bool view_tracks_add(view_tracks *tracks, const view_frame *frame); /* false: no memory */
/* Drops the recorded values; the list of signals stays. */
void view_tracks_forget(view_tracks *tracks);
int view_tracks_count(const view_tracks *tracks);
const char *const *view_tracks_names(const view_tracks *tracks);
const char *const *view_tracks_units(const view_tracks *tracks);
/* The coordinate of each signal: a body and a number within its joint; the world for figures of the scene. */
const int *view_tracks_bodies(const view_tracks *tracks);
const int *view_tracks_coordinates(const view_tracks *tracks);
/* Times as doubles, then each track as floats, all frames of one after the other; as this machine holds them. */
void view_tracks_put(const view_tracks *tracks, view_bytes *out);

#endif
