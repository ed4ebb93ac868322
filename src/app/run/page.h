/* The page of a run, for a browser. */
#ifndef APP_RUN_PAGE_H
#define APP_RUN_PAGE_H

#include "app/run/run.h"

/* Starts the page that the request asks for, if any. */
sim_status page_open(run_context *run, sim_error *error);
/* A name for a page among temporary files, in a folder of its own, which is made. */
sim_status page_name(char *path, size_t size, sim_error *error);
/* In a browser: a path, or an address. */
void page_browse(const char *where);
/* Prints where it is, and opens it. */
void page_show(const char *path);

/* Steps from frame to frame: 60 frames a second; more where a run is short, fewer where it is very long. */
int64_t page_every(double step, int64_t steps);

#endif
