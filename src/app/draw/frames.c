/* Frames of the moments that are drawn, simulated or read. */
#include "app/draw/frames.h"
#include "app/cli/interrupt.h"
#include "view/page/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void frames_free(frame_list *frames) {
    free(frames->time);
    free(frames->pose);
    free(frames->contact_end);
    free(frames->contact);
}

view_frame frames_at(const frame_list *frames, int k) {
    int start = k ? frames->contact_end[k - 1] : 0;
    return (view_frame){.time = frames->time[k],
                        .pose = frames->pose + (size_t)k * (size_t)frames->bodies,
                        .ncontact = frames->contact_end[k] - start,
                        .contact = frames->contact + start};
}

static sim_status report_no_memory(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for the frames: draw fewer");
}

/* A film has to begin within the run, which lasts until `end`. */
static const double LATE_PART = 1e-6; /* of the time of the last record: as written by hand, it is not later */

static sim_status fail_late(double from, double end, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "--time %.6g: the run ends before, at %.6g s", from, end);
}

static sim_status check_beginning(const frame_times *times, double end, double margin, sim_error *error) {
    return times->every == 0 || times->from <= end + margin ? SIM_OK : fail_late(times->from, end, error);
}

static bool grow_array(void *array, int room, size_t size) {
    void *larger = realloc(*(void **)array, (size_t)room * size);
    *(void **)array = larger ? larger : *(void **)array;
    return larger != NULL;
}

/* Room for one frame more with so many contacts, not yet counted. */
static bool grow_frames(frame_list *f, int contacts) {
    if (f->count == f->room) {
        int room = 2 * f->room + 16;
        if (!grow_array(&f->time, room, sizeof *f->time) ||
            !grow_array(&f->contact_end, room, sizeof *f->contact_end) ||
            !grow_array(&f->pose, room, (size_t)f->bodies * sizeof *f->pose)) {
            return false;
        }
        f->room = room;
    }
    if (f->contacts + contacts > f->contact_room || !f->contact) {
        int room = 2 * (f->contacts + contacts) + 16;
        if (!grow_array(&f->contact, room, sizeof *f->contact)) {
            return false;
        }
        f->contact_room = room;
    }
    return true;
}

static sim_pose *next_poses(frame_list *f) { return f->pose + (size_t)f->count * (size_t)f->bodies; }

static void take_frame(frame_list *f, double time, int contacts) {
    f->contacts += contacts;
    f->contact_end[f->count] = f->contacts;
    f->time[f->count++] = time;
}

/* ---- simulated ---- */

static bool take_world(frame_list *f, sim_world *world) {
    const sim_state *state = sim_world_state(world);
    if (!grow_frames(f, state->ncontact)) {
        return false;
    }
    memcpy(next_poses(f), sim_world_derived(world)->pose, (size_t)f->bodies * sizeof(sim_pose));
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        f->contact[f->contacts + k] = (view_contact){c->shape_a,        c->shape_b, c->at.position, c->at.normal,
                                                     state->impulse[k], c->at.gap,  c->at.area};
    }
    take_frame(f, state->time, state->ncontact);
    return true;
}

/* Simulates to the last frame and keeps the state nearest to each. */
static sim_status simulate_frames(frame_list *f, sim_world *world, double step, const frame_times *times,
                                  batch_progress *progress, sim_error *error) {
    /* one frame, whenever it is, if no interval is given */
    double end = times->every > 0 ? times->to : times->from;
    if (check_beginning(times, end, step / 2, error)) {
        return error->status;
    }
    for (;;) {
        double time = sim_world_state(world)->time;
        /* keep the state at the time of a frame */
        double next = times->from + f->count * times->every;
        if (time >= next - step / 2 && !take_world(f, world)) {
            return report_no_memory(error);
        }
        /* the last frame */
        next = times->from + f->count * times->every;
        if ((f->count && times->every == 0) || next > end + step / 2) {
            return SIM_OK;
        }
        if (interrupt_seen()) {
            return sim_fail(error, SIM_FAILED, "interrupted: nothing was drawn");
        }
        /* one step further */
        batch_progress_part(progress, end > 0 ? fmin(time / end, 1) : 0);
        if (sim_world_step(world, error)) {
            return error->status;
        }
    }
}

sim_status frames_simulate(frame_list *f, const sim_scene *scene, const frame_times *times, batch_progress *progress,
                           sim_error *error) {
    sim_world *world = sim_world_create(scene->model, &scene->options, error);
    f->bodies = scene->model->nbody;
    sim_status status = world ? simulate_frames(f, world, scene->options.step, times, progress, error) : error->status;
    batch_progress_hide(progress);
    sim_world_free(world);
    return status;
}

/* ---- read ---- */

static bool take_record(frame_list *f, const view_frame *frame) {
    if (!grow_frames(f, frame->ncontact)) {
        return false;
    }
    memcpy(next_poses(f), frame->pose, (size_t)f->bodies * sizeof(sim_pose));
    if (frame->ncontact) {
        memcpy(f->contact + f->contacts, frame->contact, (size_t)frame->ncontact * sizeof *f->contact);
    }
    take_frame(f, frame->time, frame->ncontact);
    return true;
}

/* The record nearest to `wanted`, at `at` or after it; times grow. */
static ptrdiff_t nearest_record(const double *time, ptrdiff_t records, ptrdiff_t at, double wanted) {
    while (at + 1 < records && fabs(time[at + 1] - wanted) <= fabs(time[at] - wanted)) {
        at++;
    }
    return at;
}

/* Takes from a recording the record nearest to each frame. */
static sim_status read_picture_frames(frame_list *f, view_replay *replay, const double *time, ptrdiff_t records,
                                      const frame_times *times, sim_error *error) {
    ptrdiff_t at = 0;
    double last = time[records - 1], end = fmin(times->to, last);
    if (times->from > last + fmax(times->every / 1000, LATE_PART * fabs(last))) {
        return fail_late(times->from, last, error);
    }
    for (int k = 0;; k++) {
        double wanted = times->from + k * times->every;
        if (k && (times->every == 0 || !(wanted <= end + times->every / 1000))) {
            return SIM_OK;
        }
        view_frame frame;
        at = nearest_record(time, records, at, wanted);
        if (interrupt_seen()) {
            return sim_fail(error, SIM_FAILED, "interrupted: nothing was drawn");
        }
        if (view_replay_read(replay, at, &frame, error)) {
            return error->status;
        }
        if (!take_record(f, &frame)) {
            return report_no_memory(error);
        }
    }
}

sim_status frames_read(frame_list *f, trajectory *run, const sim_scene *scene, const frame_times *times,
                       sim_error *error) {
    view_replay *replay = view_replay_open(run, scene, error);
    double *time = calloc((size_t)run->records, sizeof *time);
    f->bodies = scene->model->nbody;
    sim_status status = !replay ? error->status : time ? SIM_OK : report_no_memory(error);
    status = status ? status : trajectory_rows(run, "time", 0, run->records, 1, time, error);
    status = status ? status : read_picture_frames(f, replay, time, run->records, times, error);
    f->no_contacts = replay && !view_replay_has_contacts(replay);
    view_replay_free(replay);
    free(time);
    return status;
}
