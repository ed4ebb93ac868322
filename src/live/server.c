/* Web server of a live run, for all that reach the address on which it listens.  HTTP knows `/`, the page, and `/live`, a
 * WebSocket; there is nothing else, and no file.
 *
 *   - Host must be an address in numbers or localhost, so DNS rebinding by another site fails.
 *   - A WebSocket's Origin must be "http://" and that Host: pages of other sites are refused.
 *   - Messages are short and in one piece.  A client that breaks a rule is disconnected.
 *   - Only the newest frame is stored.  A slow client misses frames; at most one waits for it.
 *   - The number of connections is limited, and idle ones are closed. */
#include "live/server.h"
#include "live/command.h"

#include <arpa/inet.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONNECTIONS = 64, MAX_WATCHERS = 16, CHUNK_BYTES = 16384, TIMEOUT_SECONDS = 10 };

typedef struct caller {
    int watcher; /* 0: is none */
    size_t told; /* bytes of the page */
    uint64_t shown;
} caller;

struct live_server {
    struct lws_context *context;
    struct lws_vhost *host;
    lws_sorted_usec_list_t alarm;
    const unsigned char *page;
    size_t page_size;
    live_listener listener;
    unsigned char *frame; /* after LWS_PRE bytes of the library's */
    size_t frame_size, frame_room;
    uint64_t serial;
    int watchers, next;
    struct lws_protocols protocols[2];
};

/* ---- access ---- */

/* Without a port. */
static bool is_address(const char *host) {
    char text[64];
    unsigned char address[16];
    size_t length = strcspn(host, host[0] == '[' ? "]" : ":");
    if (length >= sizeof text) {
        return false;
    }
    memcpy(text, host, length);
    text[length] = 0;
    return host[0] == '[' ? inet_pton(AF_INET6, text + 1, address) == 1
                          : strcmp(text, "localhost") == 0 || inet_pton(AF_INET, text, address) == 1;
}

static bool host_is_ours(struct lws *wsi, char *host, int room) {
    return lws_hdr_copy(wsi, host, room, WSI_TOKEN_HOST) > 0 && is_address(host);
}

static bool may_watch(const live_server *server, struct lws *wsi) {
    char host[128], origin[sizeof host + 8], path[8], own[sizeof host + 8] = "http://";
    return server->watchers < MAX_WATCHERS && host_is_ours(wsi, host, sizeof host) &&
           lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) > 0 && strcmp(path, "/live") == 0 &&
           lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) > 0 && strcmp(origin, strcat(own, host)) == 0;
}

/* ---- the page ---- */

static int put_header(struct lws *wsi, const char *name, const char *value, unsigned char **at, unsigned char *end) {
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                       (int)strlen(value), at, end);
}

static int begin_page(const live_server *server, struct lws *wsi) {
    unsigned char head[LWS_PRE + 1024], *start = head + LWS_PRE, *at = start, *end = head + sizeof head;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, "text/html; charset=utf-8", server->page_size, &at, end) ||
        put_header(wsi, "Cache-Control:", "no-store", &at, end) ||
        put_header(wsi, "X-Content-Type-Options:", "nosniff", &at, end) ||
        put_header(wsi, "X-Frame-Options:", "DENY", &at, end) ||
        put_header(wsi, "Cross-Origin-Resource-Policy:", "same-origin", &at, end) ||
        put_header(wsi, "Referrer-Policy:", "no-referrer", &at, end) ||
        lws_finalize_write_http_header(wsi, start, &at, end)) {
        return 1;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_request(const live_server *server, struct lws *wsi, caller *c, const char *path) {
    char host[128];
    int status = !host_is_ours(wsi, host, sizeof host)               ? HTTP_STATUS_FORBIDDEN
                 : lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0 ? HTTP_STATUS_METHOD_NOT_ALLOWED
                 : strcmp(path, "/") != 0                            ? HTTP_STATUS_NOT_FOUND
                                                                     : HTTP_STATUS_OK;
    if (status == HTTP_STATUS_OK) {
        c->told = 0;
        return begin_page(server, wsi);
    }
    return lws_return_http_status(wsi, (unsigned)status, NULL) || lws_http_transaction_completed(wsi);
}

static int send_page(const live_server *server, struct lws *wsi, caller *c) {
    unsigned char chunk[LWS_PRE + CHUNK_BYTES];
    size_t left = server->page_size - c->told, size = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    memcpy(chunk + LWS_PRE, server->page + c->told, size);
    c->told += size;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_SECONDS);
    bool last = c->told == server->page_size;
    if (lws_write(wsi, chunk + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)size) {
        return 1;
    }
    if (last) {
        c->told = 0;
        return lws_http_transaction_completed(wsi);
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* ---- watchers ---- */

static int refuse_message(struct lws *wsi, enum lws_close_status why) {
    lws_close_reason(wsi, why, NULL, 0);
    return -1;
}

static int hear_message(const live_server *server, struct lws *wsi, const caller *c, const char *text, size_t length) {
    if (!lws_is_first_fragment(wsi) || !lws_is_final_fragment(wsi) || length > LIVE_MAX_COMMAND_BYTES) {
        return refuse_message(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE);
    }
    if (lws_frame_is_binary(wsi) || !server->listener.said(server->listener.context, c->watcher, text, length)) {
        return refuse_message(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION);
    }
    return 0;
}

static int send_frame(const live_server *server, struct lws *wsi, caller *c) {
    if (c->shown == server->serial) {
        return 0;
    }
    c->shown = server->serial;
    int size = (int)server->frame_size;
    return lws_write(wsi, server->frame + LWS_PRE, server->frame_size, LWS_WRITE_BINARY) < size;
}

static int handle_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
    struct lws_context *context = lws_get_context(wsi);
    live_server *server = context ? lws_context_user(context) : NULL;
    caller *c = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return answer_request(server, wsi, c, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return send_page(server, wsi, c);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !may_watch(server, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        *c = (caller){.watcher = ++server->next};
        server->watchers++;
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return hear_message(server, wsi, c, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send_frame(server, wsi, c);
    case LWS_CALLBACK_CLOSED: /* also of refused clients */
        if (c && c->watcher) {
            server->watchers--;
            server->listener.left(server->listener.context, c->watcher);
            c->watcher = 0;
        }
        return 0;
    default: /* the default actions of the library might grant access: none is used */
        return 0;
    }
}

/* ---- the server ---- */

static const lws_retry_bo_t heartbeat = {.secs_since_valid_ping = TIMEOUT_SECONDS,
                                         .secs_since_valid_hangup = 2 * TIMEOUT_SECONDS};

/* Left to itself, the library would listen to all of IPv6 when it is given an address of IPv4. */
static uint64_t family_of(const char *address) {
    return strchr(address, ':') ? LWS_SERVER_OPTION_IPV6_V6ONLY_MODIFY | LWS_SERVER_OPTION_IPV6_V6ONLY_VALUE
                                : LWS_SERVER_OPTION_DISABLE_IPV6;
}

live_server *live_server_open(const char *address, int port, const void *page, size_t size, live_listener listener,
                              sim_error *error) {
    /* numeric address */
    unsigned char number[16];
    if (inet_pton(AF_INET, address, number) != 1 && inet_pton(AF_INET6, address, number) != 1) {
        sim_fail(error, SIM_BAD_INPUT, "'%s' is not a numeric address, such as 127.0.0.1 or ::1", address);
        return NULL;
    }
    /* server and page */
    live_server *server = calloc(1, sizeof *server);
    if (!server) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a server");
        return NULL;
    }
    server->page = page;
    server->page_size = size;
    server->listener = listener;
    /* protocol, limits and timeouts */
    server->protocols[0] = (struct lws_protocols){.name = "sim",
                                                  .callback = handle_event,
                                                  .per_session_data_size = sizeof(caller),
                                                  .rx_buffer_size = LIVE_MAX_COMMAND_BYTES + 1};
    struct lws_context_creation_info info = {.port = port,
                                             .iface = address,
                                             .protocols = server->protocols,
                                             .gid = (gid_t)-1,
                                             .uid = (uid_t)-1,
                                             .user = server,
                                             .fd_limit_per_thread = MAX_CONNECTIONS,
                                             .timeout_secs = TIMEOUT_SECONDS,
                                             .keepalive_timeout = TIMEOUT_SECONDS,
                                             .retry_and_idle_policy = &heartbeat,
                                             .options = family_of(address) | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                                                        LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND};
    /* listen */
    lws_set_log_level(0, NULL);
    server->context = lws_create_context(&info);
    server->host = server->context ? lws_create_vhost(server->context, &info) : NULL;
    if (!server->host || live_server_port(server) <= 0) {
        live_server_close(server);
        sim_fail(error, SIM_NO_RESOURCE,
                 port
                     ? "cannot listen on %s, port %d: it is in use or not permitted; without --port a free port is used"
                     : "cannot listen on %s: not an address of this machine",
                 address, port);
        return NULL;
    }
    return server;
}

void live_server_close(live_server *server) {
    if (server) {
        if (server->context) {
            lws_context_destroy(server->context);
        }
        free(server->frame);
        free(server);
    }
}

int live_server_port(const live_server *server) { return lws_get_vhost_listen_port(server->host); }
int live_server_watchers(const live_server *server) { return server->watchers; }

sim_status live_server_show(live_server *server, const void *frame, size_t size) {
    if (size > server->frame_room) {
        unsigned char *more = realloc(server->frame, LWS_PRE + 2 * size);
        if (!more) {
            return SIM_NO_RESOURCE;
        }
        server->frame = more;
        server->frame_room = 2 * size;
    }
    memcpy(server->frame + LWS_PRE, frame, size);
    server->frame_size = size;
    server->serial++;
    lws_callback_on_writable_all_protocol(server->context, &server->protocols[0]);
    return SIM_OK;
}

/* An alarm that is due before the library begins to wait must still end the waiting. */
static void wake_server(lws_sorted_usec_list_t *alarm) {
    lws_cancel_service(lws_container_of(alarm, live_server, alarm)->context);
}

void live_server_serve(live_server *server, double seconds) {
    if (seconds > 0) {
        lws_sul_schedule(server->context, 0, &server->alarm, wake_server, (lws_usec_t)(1e6 * seconds) + 1000);
    }
    lws_service(server->context, seconds > 0 ? 0 : -1);
}
