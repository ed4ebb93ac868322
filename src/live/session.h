/* A simulation that goes on while it is watched. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include "live/command.h"
#include "view/image/bytes.h"
#include <sim/scene.h>

typedef struct live_session live_session;

/* At the start of the scene, standing still.  The scene must outlive it.  NULL on failure. */
live_session *live_session_create(const sim_scene *scene, sim_error *error);
void live_session_free(live_session *session);
/* Another world after a reset or a change of the solver. */
sim_world *live_session_world(live_session *session);
/* Failures are reported to the viewers. */
void live_session_do(live_session *session, const live_command *command);

/* Is a step due at `now`, s by a monotonic clock?  Steps follow that clock times the speed; a lag of more than a tenth
 * of a second is dropped. */
bool live_session_due(live_session *session, double now);
/* There were no viewers up to `now`: no step was due. */
void live_session_rest(live_session *session, double now);
void live_session_step(live_session *session);

/* Grows with every change of the picture or of its texts. */
uint64_t live_session_serial(const live_session *session);
/* How things stand, as JSON. */
void live_session_tell(const live_session *session, view_bytes *out);

#endif
