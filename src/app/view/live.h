/* `sim view SCENE.json --live`: a run that goes on while it is watched. */
#ifndef APP_VIEW_LIVE_H
#define APP_VIEW_LIVE_H

#include "app/view/view.h"

/* Until Ctrl-C. */
sim_status live_serve(const view_request *request, sim_error *error);

#endif
