/* The contacts of one state, for people to look at. */
#ifndef APP_RUN_CONTACTS_H
#define APP_RUN_CONTACTS_H

#include "app/run/run.h"

/* To standard output, as JSON. */
sim_status print_contacts(const run_context *run, sim_error *error);

#endif
