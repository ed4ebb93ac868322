/* Web server of a live run: the page, frames to its viewers, and their messages. */
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include <sim/base.h>
#include <stddef.h>

typedef struct live_server live_server;

typedef struct live_listener {
    void *context;
    /* A message of a watcher; false refuses it, and disconnects the watcher. */
    bool (*said)(void *context, int watcher, const char *text, size_t length);
    void (*left)(void *context, int watcher);
} live_listener;

/* An address in numbers; port 0: a free one.  The page must outlive it.  NULL on failure. */
live_server *live_server_open(const char *address, int port, const void *page, size_t size, live_listener listener,
                              sim_error *error);
void live_server_close(live_server *server);
int live_server_port(const live_server *server);
int live_server_watchers(const live_server *server);
/* The frame that goes to each watcher as soon as it has read the last one sent to it.  Earlier ones are dropped.
 * SIM_NO_RESOURCE without memory. */
sim_status live_server_show(live_server *server, const void *frame, size_t size);
/* Serves for so many seconds, or until a message or a signal arrives. */
void live_server_serve(live_server *server, double seconds);

#endif
