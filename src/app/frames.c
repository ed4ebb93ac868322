/* Where is everything at the moments that are to be drawn? */
#include "app/frames.h"
#include "app/interrupt.h"
#include "math/v3.h"

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

static sim_status no_memory(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for the frames: draw fewer");
}

static int grow(void *array, int room, size_t size) {
    void *larger = realloc(*(void **)array, (size_t)room * size);
    *(void **)array = larger ? larger : *(void **)array;
    return larger != NULL;
}

/* Room for one frame more with so many contacts, not yet counted. */
static int make_room(frame_list *f, int contacts) {
    if (f->count == f->room) {
        int room = 2 * f->room + 16;
        if (!grow(&f->time, room, sizeof *f->time) || !grow(&f->contact_end, room, sizeof *f->contact_end) ||
            !grow(&f->pose, room, (size_t)f->bodies * sizeof *f->pose)) {
            return 0;
        }
        f->room = room;
    }
    if (f->contacts + contacts > f->contact_room || !f->contact) {
        int room = 2 * (f->contacts + contacts) + 16;
        if (!grow(&f->contact, room, sizeof *f->contact)) {
            return 0;
        }
        f->contact_room = room;
    }
    return 1;
}

static sim_pose *next_poses(frame_list *f) { return f->pose + (size_t)f->count * (size_t)f->bodies; }

static void take_frame(frame_list *f, double time, int contacts) {
    f->contacts += contacts;
    f->contact_end[f->count] = f->contacts;
    f->time[f->count++] = time;
}

/* ---- simulated ---- */

static int take_world(frame_list *f, sim_world *world) {
    const sim_state *state = sim_world_state(world);
    if (!make_room(f, state->ncontact)) {
        return 0;
    }
    memcpy(next_poses(f), sim_world_derived(world)->pose, (size_t)f->bodies * sizeof(sim_pose));
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        f->contact[f->contacts + k] =
            (view_contact){c->shape_a, c->shape_b, c->at.position, c->at.normal, state->impulse[k], c->at.gap};
    }
    take_frame(f, state->time, state->ncontact);
    return 1;
}

static sim_status simulate(frame_list *f, sim_world *world, double step, const frame_times *times, sim_error *error) {
    for (;;) {
        double time = sim_world_state(world)->time;
        double next = times->from + f->count * times->every;
        if (time >= next - step / 2 && !take_world(f, world)) {
            return no_memory(error);
        }
        next = times->from + f->count * times->every;
        if ((f->count && times->every == 0) || next > times->to + step / 2) {
            return SIM_OK;
        }
        if (interrupt_seen()) {
            return sim_fail(error, SIM_FAILED, "interrupted: nothing was drawn");
        }
        if (sim_world_step(world, error)) {
            return error->status;
        }
    }
}

sim_status frames_simulate(frame_list *f, const sim_scene *scene, const frame_times *times, sim_error *error) {
    sim_world *world = sim_world_create(scene->model, &scene->options, error);
    f->bodies = scene->model->nbody;
    sim_status status = world ? simulate(f, world, scene->options.step, times, error) : error->status;
    sim_world_free(world);
    return status;
}

/* ---- read ---- */

typedef struct reading {
    frame_list *frames;
    trajectory *run;
    const sim_scene *scene;
    sim_world *world; /* to have poses of coordinates; NULL: the file has poses */
    double *row;
    sim_error *error;
} reading;

static sim_status read_poses(reading *r, ptrdiff_t record) {
    int others = r->frames->bodies - 1;
    sim_pose *pose = next_poses(r->frames);
    pose[0] = (sim_pose){.R = m3_identity()};
    sim_status status = trajectory_rows(r->run, "body/position", record, 1, 3 * others, r->row, r->error);
    for (int b = 0; b < others && !status; b++) {
        pose[b + 1].p = v3_make(r->row[3 * b], r->row[3 * b + 1], r->row[3 * b + 2]);
    }
    status = status ? status : trajectory_rows(r->run, "body/quaternion", record, 1, 4 * others, r->row, r->error);
    for (int b = 0; b < others && !status; b++) {
        const double *q = r->row + 4 * b;
        pose[b + 1].R = quat_matrix(quat_normalised((sim_quat){q[0], q[1], q[2], q[3]}));
    }
    return status;
}

static sim_status read_coordinates(reading *r, ptrdiff_t record) {
    const sim_model *model = r->scene->model;
    sim_status status = trajectory_rows(r->run, "q", record, 1, model->nq, r->row, r->error);
    if (status) {
        return status;
    }
    memset(r->row + model->nq, 0, (size_t)(2 * model->nv) * sizeof *r->row);
    sim_state state = {.q = r->row, .v = r->row + model->nq, .a = r->row + model->nq + model->nv};
    status = sim_world_set_state(r->world, &state, r->error);
    if (!status) {
        memcpy(next_poses(r->frames), sim_world_derived(r->world)->pose, (size_t)r->frames->bodies * sizeof(sim_pose));
    }
    return status;
}

static int is_shape(const sim_scene *scene, double number) { return number >= 0 && number < scene->model->nshape; }

static sim_status read_contact(reading *r, ptrdiff_t row, view_contact *c) {
    double shape[2], position[3], normal[3], impulse[3];
    sim_status status = trajectory_rows(r->run, "contact/shape", row, 1, 2, shape, r->error);
    status = status ? status : trajectory_rows(r->run, "contact/position", row, 1, 3, position, r->error);
    status = status ? status : trajectory_rows(r->run, "contact/normal", row, 1, 3, normal, r->error);
    status = status ? status : trajectory_rows(r->run, "contact/impulse", row, 1, 3, impulse, r->error);
    if (status) {
        return status;
    }
    if (!is_shape(r->scene, shape[0]) || !is_shape(r->scene, shape[1])) {
        return sim_fail(r->error, SIM_BAD_INPUT, "%s: /contact/shape: names a shape that the scene has not",
                        r->run->path);
    }
    *c = (view_contact){.shape_a = (int)shape[0],
                        .shape_b = (int)shape[1],
                        .position = {position[0], position[1], position[2]},
                        .normal = {normal[0], normal[1], normal[2]},
                        .impulse = {impulse[0], impulse[1], impulse[2]}};
    return SIM_OK;
}

/* Where the file holds none, none are drawn. */
static sim_status read_contacts(reading *r, ptrdiff_t record, int *count) {
    enum { MOST = 1000000 };
    double start, number;
    sim_error none;
    *count = 0;
    if (trajectory_rows(r->run, "contact/start", record, 1, 1, &start, &none) ||
        trajectory_rows(r->run, "contact/count", record, 1, 1, &number, &none)) {
        r->frames->no_contacts = 1;
        return SIM_OK;
    }
    if (!(number > 0 && number < MOST && start >= 0 && start < 1e15)) {
        return SIM_OK;
    }
    if (!make_room(r->frames, (int)number)) {
        return no_memory(r->error);
    }
    sim_status status = SIM_OK;
    for (int k = 0; k < (int)number && !status; k++) {
        status = read_contact(r, (ptrdiff_t)start + k, &r->frames->contact[r->frames->contacts + k]);
    }
    *count = (int)number;
    return status;
}

static sim_status read_record(reading *r, ptrdiff_t record, double time) {
    int contacts;
    if (!make_room(r->frames, 0)) {
        return no_memory(r->error);
    }
    sim_status status = r->world ? read_coordinates(r, record) : read_poses(r, record);
    status = status ? status : read_contacts(r, record, &contacts);
    if (!status) {
        take_frame(r->frames, time, contacts);
    }
    return status;
}

/* The record nearest to `wanted`, at `at` or after it; times grow. */
static ptrdiff_t nearest_record(const double *time, ptrdiff_t records, ptrdiff_t at, double wanted) {
    while (at + 1 < records && fabs(time[at + 1] - wanted) <= fabs(time[at] - wanted)) {
        at++;
    }
    return at;
}

static sim_status read_all(reading *r, const double *time, const frame_times *times) {
    ptrdiff_t at = 0, records = r->run->records;
    double end = fmin(times->to, time[records - 1]);
    sim_status status = SIM_OK;
    for (int k = 0; !status; k++) {
        double wanted = times->from + k * times->every;
        if (k && (times->every == 0 || wanted > end + times->every / 1000)) {
            break;
        }
        at = nearest_record(time, records, at, wanted);
        status = interrupt_seen() ? sim_fail(r->error, SIM_FAILED, "interrupted: nothing was drawn")
                                  : read_record(r, at, time[at]);
    }
    return status;
}

/* Poses if the file has them, else coordinates. */
static sim_status choose_source(reading *r) {
    sim_error none;
    const sim_model *model = r->scene->model;
    int others = model->nbody - 1;
    if (others == 0 || (trajectory_rows(r->run, "body/position", 0, 1, 3 * others, r->row, &none) == SIM_OK &&
                        trajectory_rows(r->run, "body/quaternion", 0, 1, 4 * others, r->row, &none) == SIM_OK)) {
        return SIM_OK;
    }
    if (trajectory_rows(r->run, "q", 0, 1, model->nq, r->row, &none)) {
        return sim_fail(r->error, SIM_BAD_INPUT,
                        "%s: holds neither poses nor coordinates of the scene's bodies (record/signals)", r->run->path);
    }
    r->world = sim_world_create(model, &r->scene->options, r->error);
    return r->world ? SIM_OK : r->error->status;
}

sim_status frames_read(frame_list *f, trajectory *run, const sim_scene *scene, const frame_times *times,
                       sim_error *error) {
    const sim_model *model = scene->model;
    reading r = {.frames = f, .run = run, .scene = scene, .error = error};
    int column = trajectory_find(run, "time", 0);
    double *time = calloc((size_t)run->records, sizeof *time);
    r.row = calloc((size_t)(7 * model->nbody + model->nq + 2 * model->nv), sizeof *r.row);
    f->bodies = model->nbody;
    sim_status status = time && r.row ? SIM_OK : no_memory(error);
    if (!status && column < 0) {
        status = sim_fail(error, SIM_BAD_INPUT, "%s: has no column 'time'", run->path);
    }
    status = status ? status : trajectory_values(run, column, time, error);
    status = status ? status : choose_source(&r);
    status = status ? status : read_all(&r, time, times);
    sim_world_free(r.world);
    free(r.row);
    free(time);
    return status;
}
