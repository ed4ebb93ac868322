/* Server of a build without libwebsockets: `live_server_open` refuses, so no server reaches the other functions. */
#include "live/server.h"

live_server *live_server_open(const char *address, int port, const void *page, size_t size, live_listener listener,
                              sim_error *error) {
    (void)address, (void)port, (void)page, (void)size, (void)listener;
    sim_fail(error, SIM_BAD_INPUT, "this build has no web server: libwebsockets is missing");
    return NULL;
}

void live_server_close(live_server *server) { (void)server; }
int live_server_port(const live_server *server) {
    (void)server;
    return 0;
}
int live_server_watchers(const live_server *server) {
    (void)server;
    return 0;
}
sim_status live_server_show(live_server *server, const void *frame, size_t size) {
    (void)server, (void)frame, (void)size;
    return SIM_BAD_INPUT;
}
void live_server_serve(live_server *server, double seconds) { (void)server, (void)seconds; }
