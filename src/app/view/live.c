/* Pacing of a live run by the clock.  Sixty times a second it simulates the steps that are due, until the
 * next frame at most, and then shows the newest state. */
#include "app/view/live.h"
#include "app/cli/interrupt.h"
#include "app/run/page.h"
#include "app/run/setup.h"
#include "live/server.h"
#include "live/session.h"
#include "view/page/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FRAME_SECONDS = 1.0 / 60, IDLE_SECONDS = 0.25; /* s */

typedef struct stage {
    live_session *session;
    live_server *server;
    sim_view *view;
    char *page;
    size_t page_size;
    view_bytes frame, words;
    int dragging; /* a watcher; 0: none */
    uint64_t shown;
} stage;

static bool handle_message(void *context, int watcher, const char *text, size_t length) {
    stage *s = context;
    live_command command;
    sim_error error;
    const sim_model *model = sim_world_model(live_session_world(s->session));
    if (live_command_read(text, length, model, &command, &error)) {
        return false;
    }
    if (command.verb == LIVE_DRAG) {
        s->dragging = watcher;
    }
    live_session_do(s->session, &command);
    return true;
}

static void forget_watcher(void *context, int watcher) {
    stage *s = context;
    if (s->dragging == watcher) {
        s->dragging = 0;
        live_session_do(s->session, &(live_command){.verb = LIVE_RELEASE});
    }
}

/* Words first, and how long they are; then the picture. */
static sim_status send_live_frame(stage *s, sim_error *error) {
    s->words.size = s->frame.size = 0;
    live_session_tell(s->session, &s->words);
    view_put_number(&s->frame, s->words.size);
    view_put_bytes(&s->frame, s->words.data, s->words.size);
    sim_status status = view_live_frame(s->view, live_session_world(s->session), &s->frame, error);
    if (!status && live_server_show(s->server, s->frame.data, s->frame.size)) {
        status = sim_fail(error, SIM_NO_RESOURCE, "no memory for a frame");
    }
    s->shown = live_session_serial(s->session);
    return status;
}

static void move_world(stage *s, double until) {
    while (!interrupt_seen() && live_session_due(s->session, clock_seconds())) {
        live_session_step(s->session);
        if (clock_seconds() >= until) {
            break;
        }
    }
}

static sim_status run_live(stage *s, sim_error *error) {
    sim_status status = send_live_frame(s, error);
    double next = clock_seconds();
    while (!status && !interrupt_seen()) {
        double now = clock_seconds();
        /* nobody watches: rest */
        int watched = live_server_watchers(s->server) > 0;
        if (!watched) {
            live_session_rest(s->session, now);
            live_server_serve(s->server, IDLE_SECONDS);
            next = clock_seconds();
            continue;
        }
        /* move the world to the time of the next frame */
        next = fmax(next + FRAME_SECONDS, now);
        move_world(s, next);
        if (live_session_serial(s->session) != s->shown) {
            status = send_live_frame(s, error);
        }
        /* serve until then */
        do {
            live_server_serve(s->server, next - clock_seconds());
        } while (clock_seconds() < next && !interrupt_seen());
    }
    return status;
}

static void say_where(const view_request *request, const char *address, int port) {
    char url[128];
    int wide = strchr(address, ':') != NULL;
    snprintf(url, sizeof url, "http://%s%s%s:%d/", wide ? "[" : "", address, wide ? "]" : "", port);
    printf("%s\n", url);
    fflush(stdout);
    if (request->open) {
        page_browse(url);
    }
}

static sim_status set_up(stage *s, const view_request *request, const sim_scene *scene, sim_error *error) {
    const char *address = request->listen ? request->listen : "127.0.0.1";
    s->session = live_session_create(scene, error);
    if (!s->session) {
        return error->status;
    }
    s->view = view_live_open(scene, live_session_world(s->session), &s->page, &s->page_size, error);
    live_listener listener = {s, handle_message, forget_watcher};
    s->server = s->view ? live_server_open(address, (int)request->port, s->page, s->page_size, listener, error) : NULL;
    if (!s->server) {
        return error->status;
    }
    interrupt_watch();
    say_where(request, address, live_server_port(s->server));
    return SIM_OK;
}

sim_status live_serve(const view_request *request, sim_error *error) {
    stage s = {0};
    scene_wish wish = {
        .set = request->set, .solver = request->solver, .start = request->start, .robot = &request->robot};
    sim_scene *scene = setup_scene(request->file, NULL, 0, &wish, error);
    if (!scene) {
        return error->status;
    }
    sim_status status = require_bodies(scene, request->file, error);
    status = status ? status : set_up(&s, request, scene, error);
    status = status ? status : run_live(&s, error);
    live_server_close(s.server);
    sim_view_discard(s.view);
    free(s.page);
    view_bytes_free(&s.frame);
    view_bytes_free(&s.words);
    live_session_free(s.session);
    sim_scene_free(scene);
    return status;
}
