/* Plotted signals of a page.  The figures of a frame (frame.h), the coordinates of joints, except orientations and
 * free bodies, and other readings (readings.h). */
#include "view/page/tracks.h"
#include "base/pool.h"
#include "dyn/soft/soft_body.h"
#include "model/parts/joint.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_COORDINATES = 240, NAME_BYTES = 512 };

struct view_tracks {
    memory_pool *pool;
    int count, coordinates, readings;
    const char **name, **unit;
    const int *coordinate;          /* [coordinates] of the model */
    int *body, *coordinate_of_body; /* [count] */
    double *time;
    float *row; /* [frames][count] */
    int frames, room;
};

static const struct {
    const char *name, *unit;
} scalars[VIEW_SCALARS] = {
    [VIEW_KINETIC] = {"kinetic energy", "J"},  [VIEW_POTENTIAL] = {"potential energy", "J"},
    [VIEW_TOTAL] = {"total energy", "J"},      [VIEW_CONTACTS] = {"contacts", ""},
    [VIEW_ITERATIONS] = {"iterations", ""},    [VIEW_OWN] = {"error by the solver's law", ""},
    [VIEW_E] = {"error by the rigid law", ""}, [VIEW_PENETRATION] = {"penetration", "m"},
    [VIEW_PAST_RANGE] = {"past range", "rad"}, [VIEW_SLIP] = {"slip at rest", "m/s"},
};

/* The unit of a body's k-th coordinate; NULL: not plotted, as those of free and ball joints and of soft bodies. */
static const char *track_coordinate_unit(const sim_model *model, const sim_body *body, int k) {
    bool plain = body->nq > 0 && body->joint != SIM_FREE && body->joint != SIM_BALL;
    if (!plain || soft_of_tree(model, body->tree)) {
        return NULL;
    }
    return joint_is_angle(body->joint, k) ? "rad" : "m";
}

static void choose_coordinates(view_tracks *tracks, const sim_model *model, int *chosen) {
    char name[NAME_BYTES];
    for (int i = 1; i < model->nbody; i++) {
        const sim_body *body = &model->body[i];
        for (int k = 0; k < body->nq && tracks->coordinates < MAX_COORDINATES; k++) {
            const char *unit = track_coordinate_unit(model, body, k);
            if (unit) {
                sim_model_coordinate_name(model, body->q0 + k, name, sizeof name);
                tracks->name[tracks->count] = pool_text(tracks->pool, name);
                tracks->body[tracks->count] = i;
                tracks->coordinate_of_body[tracks->count] = k;
                tracks->unit[tracks->count++] = unit;
                chosen[tracks->coordinates++] = body->q0 + k;
            }
        }
    }
    tracks->coordinate = chosen;
}

static void choose_readings(view_tracks *tracks, const view_readings *readings) {
    char name[NAME_BYTES];
    for (int k = 0; k < readings->count; k++) {
        view_reading_name(readings->model, readings->list[k], name, sizeof name);
        tracks->name[tracks->count] = pool_text(tracks->pool, name);
        tracks->unit[tracks->count++] = view_reading_unit(readings->model, readings->list[k]);
    }
    tracks->readings = readings->count;
}

view_tracks *view_tracks_create(const sim_model *model, const view_readings *readings) {
    /* memory */
    size_t most = VIEW_SCALARS + MAX_COORDINATES + (size_t)readings->count;
    memory_pool *pool = pool_create();
    view_tracks *tracks = pool ? POOL_NEW(pool, view_tracks, 1) : NULL;
    int *chosen = tracks ? POOL_NEW(pool, int, MAX_COORDINATES) : NULL;
    const char **name = chosen ? POOL_NEW(pool, const char *, 2 * most) : NULL;
    int *body = name ? POOL_NEW(pool, int, 2 * most) : NULL;
    if (!body) {
        pool_free(pool);
        return NULL;
    }
    *tracks =
        (view_tracks){.pool = pool, .name = name, .unit = name + most, .body = body, .coordinate_of_body = body + most};
    /* figures of the scene, coordinates, readings */
    for (; tracks->count < VIEW_SCALARS; tracks->count++) {
        tracks->name[tracks->count] = scalars[tracks->count].name;
        tracks->unit[tracks->count] = scalars[tracks->count].unit;
    }
    choose_coordinates(tracks, model, chosen);
    choose_readings(tracks, readings);
    return tracks;
}

void view_tracks_free(view_tracks *tracks) {
    if (tracks) {
        free(tracks->time);
        free(tracks->row);
        pool_free(tracks->pool);
    }
}

static bool grow_tracks(view_tracks *tracks) {
    if (tracks->frames == tracks->room) {
        size_t room = 2 * (size_t)tracks->room + 256;
        double *time = realloc(tracks->time, room * sizeof *time);
        tracks->time = time ? time : tracks->time;
        float *row = realloc(tracks->row, room * (size_t)tracks->count * sizeof *row);
        tracks->row = row ? row : tracks->row;
        tracks->room = time && row ? (int)room : tracks->room;
    }
    return tracks->frames < tracks->room;
}

bool view_tracks_add(view_tracks *tracks, const view_frame *frame) {
    if (!grow_tracks(tracks)) {
        return false;
    }
    float *row = tracks->row + (size_t)tracks->frames * (size_t)tracks->count;
    tracks->time[tracks->frames++] = frame->time;
    for (int k = 0; k < VIEW_SCALARS; k++) {
        row[k] = (float)frame->scalar[k];
    }
    for (int k = 0; k < tracks->coordinates; k++) {
        row[VIEW_SCALARS + k] = frame->q ? (float)frame->q[tracks->coordinate[k]] : (float)NAN;
    }
    for (int k = 0; k < tracks->readings; k++) {
        row[VIEW_SCALARS + tracks->coordinates + k] = frame->reading ? (float)frame->reading[k] : (float)NAN;
    }
    return true;
}

void view_tracks_forget(view_tracks *tracks) { tracks->frames = 0; }

int view_tracks_count(const view_tracks *tracks) { return tracks->count; }
const char *const *view_tracks_names(const view_tracks *tracks) { return tracks->name; }
const char *const *view_tracks_units(const view_tracks *tracks) { return tracks->unit; }
const int *view_tracks_bodies(const view_tracks *tracks) { return tracks->body; }
const int *view_tracks_coordinates(const view_tracks *tracks) { return tracks->coordinate_of_body; }

void view_tracks_put(const view_tracks *tracks, view_bytes *out) {
    view_put_bytes(out, tracks->time, (size_t)tracks->frames * sizeof *tracks->time);
    for (int k = 0; k < tracks->count; k++) {
        for (int f = 0; f < tracks->frames; f++) {
            view_put_bytes(out, &tracks->row[(size_t)f * (size_t)tracks->count + (size_t)k], sizeof(float));
        }
    }
}
