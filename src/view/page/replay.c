/* Frames of a recorded run.  Batches of records are read, channel by channel; poses stand in the file, or
 * follow from the coordinates.  Everything in a file may be wrong, and is checked before it is used. */
#include "view/page/replay.h"
#include "math/v3.h"
#include "view/mesh/frame.h"
#include "view/page/readings.h"

#include <sim/dynamics.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_RECORDS = 64, MAX_CONTACTS = 50000000 };

/* A dataset of so many numbers a record, and a batch of them; NULL: the file has it not. */
typedef struct channel_rows {
    const char *name;
    ptrdiff_t width;
    double *value;
} channel_rows;

enum {
    TIME,
    POSITION,
    QUATERNION,
    Q,
    ENERGY,
    START,
    COUNT,
    ITERATIONS,
    OWN,
    E,
    PENETRATION,
    PAST_RANGE,
    SLIP,
    SENSOR,
    EFFORT,
    PHASE,
    EVENT_TIME,
    EVENT_COUNT,
    CHANNELS
};

struct view_replay {
    trajectory *file;
    const sim_scene *scene;
    channel_rows channel[CHANNELS];
    ptrdiff_t first, held; /* the batch in memory */
    sim_derived *derived;
    view_readings readings;
    sim_pose *pose;
    bool areas;       /* of contacts are recorded */
    double *contacts; /* of the batch: shape (2), position, normal, impulse (3 each), gap, area, each for all in turn */
    ptrdiff_t contact0, ncontact;
    view_contact *contact;
    int contact_room;
};

void view_replay_free(view_replay *r) {
    if (r) {
        for (int c = 0; c < CHANNELS; c++) {
            free(r->channel[c].value);
        }
        sim_derived_free(r->derived);
        view_readings_free(&r->readings);
        free(r->pose);
        free(r->contacts);
        free(r->contact);
        free(r);
    }
}

/* ---- channels of the file ---- */

/* Whether it is there, in a width that the model has. */
static void find_channel(view_replay *r, int channel, const char *name, ptrdiff_t width) {
    double *value = calloc((size_t)(BATCH_RECORDS * width + 1), sizeof *value);
    int there = value && width > 0 && trajectory_rows(r->file, name, 0, 1, width, value, NULL) == SIM_OK;
    if (!there) {
        free(value);
    }
    r->channel[channel] = (channel_rows){name, width, there ? value : NULL};
}

static int count_machines(const sim_model *model) {
    int count = 0;
    for (int k = 0; k < model->ncontroller; k++) {
        count += model->controller[k].type == SIM_PHASES;
    }
    return count;
}

/* Which channels the file has. */
static void ask_all(view_replay *r) {
    const sim_model *model = r->scene->model;
    find_channel(r, TIME, "time", 1);
    find_channel(r, POSITION, "body/position", 3 * (ptrdiff_t)(model->nbody - 1));
    find_channel(r, QUATERNION, "body/quaternion", 4 * (ptrdiff_t)(model->nbody - 1));
    find_channel(r, Q, "q", model->nq);
    find_channel(r, ENERGY, "energy", 3);
    find_channel(r, START, "contact/start", 1);
    find_channel(r, COUNT, "contact/count", 1);
    find_channel(r, ITERATIONS, "statistics/solver_iterations", 1);
    find_channel(r, OWN, "certificate/own", 1);
    find_channel(r, E, "certificate/E", 1);
    find_channel(r, PENETRATION, "certificate/penetration", 1);
    find_channel(r, PAST_RANGE, "certificate/past_range", 1);
    find_channel(r, SLIP, "certificate/slip", 1);
    find_channel(r, SENSOR, "sensor", model->nsensor_value);
    find_channel(r, EFFORT, "effort", model->nactuator);
    find_channel(r, PHASE, "phase", count_machines(model));
    find_channel(r, EVENT_TIME, "event/time", model->nevent);
    find_channel(r, EVENT_COUNT, "event/count", model->nevent);
    r->areas = trajectory_rows(r->file, "contact/area", 0, 0, 1, NULL, NULL) == SIM_OK;
}

view_replay *view_replay_open(trajectory *file, const sim_scene *scene, sim_error *error) {
    /* memory */
    view_replay *r = calloc(1, sizeof *r);
    if (r) {
        *r = (view_replay){.file = file, .scene = scene};
        r->pose = calloc((size_t)scene->model->nbody, sizeof *r->pose);
        r->derived = sim_derived_create(scene->model, error);
    }
    if (!r || !r->pose || !r->derived || !view_readings_plan(&r->readings, scene->model)) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its frames", file->path);
        view_replay_free(r);
        return NULL;
    }
    /* channels: time, and poses or coordinates */
    ask_all(r);
    int posed = r->channel[POSITION].value && r->channel[QUATERNION].value;
    if (file->records == 0 || !r->channel[TIME].value) {
        sim_fail(error, SIM_BAD_INPUT, "%s: holds no record", file->path);
    } else if (scene->model->nbody > 1 && !posed && !r->channel[Q].value) {
        sim_fail(error, SIM_BAD_INPUT,
                 "%s: holds neither poses of the scene's %d bodies nor its %d coordinates: record \"poses\"",
                 file->path, scene->model->nbody - 1, scene->model->nq);
    } else {
        return r;
    }
    view_replay_free(r);
    return NULL;
}

/* ---- a batch ---- */

static sim_status report_wrong_contacts(const view_replay *r, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "%s: /contact: its rows do not fit its records, or the scene", r->file->path);
}

static sim_status read_contacts(view_replay *r, sim_error *error) {
    /* rows of the records that are held */
    static const struct {
        const char *name;
        ptrdiff_t width;
    } part[] = {{"contact/shape", 2},   {"contact/position", 3}, {"contact/normal", 3},
                {"contact/impulse", 3}, {"contact/gap", 1},      {"contact/area", 1}};
    const double *start = r->channel[START].value, *count = r->channel[COUNT].value;
    double low = start[0], high = start[r->held - 1] + count[r->held - 1];
    if (!(low >= 0 && high >= low && high - low < MAX_CONTACTS && high < 1e15)) {
        return report_wrong_contacts(r, error);
    }
    r->contact0 = (ptrdiff_t)low;
    r->ncontact = (ptrdiff_t)(high - low);
    /* read them, column by column */
    free(r->contacts);
    r->contacts = calloc(13 * (size_t)r->ncontact + 1, sizeof *r->contacts);
    if (!r->contacts) {
        return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its contacts", r->file->path);
    }
    sim_status status = SIM_OK;
    double *to = r->contacts;
    size_t parts = sizeof part / sizeof part[0] - !r->areas;
    for (size_t k = 0; !status && r->ncontact > 0 && k < parts; k++) {
        status = trajectory_rows(r->file, part[k].name, r->contact0, r->ncontact, part[k].width, to, error);
        to += part[k].width * r->ncontact;
    }
    return status;
}

static sim_status read_batch(view_replay *r, ptrdiff_t k, sim_error *error) {
    if (r->held > 0 && k >= r->first && k < r->first + r->held) {
        return SIM_OK;
    }
    sim_status status = SIM_OK;
    r->first = k;
    r->held = r->file->records - k < BATCH_RECORDS ? r->file->records - k : BATCH_RECORDS;
    for (int c = 0; !status && c < CHANNELS; c++) {
        channel_rows *rows = &r->channel[c];
        status = rows->value ? trajectory_rows(r->file, rows->name, r->first, r->held, rows->width, rows->value, error)
                             : SIM_OK;
    }
    if (!status && r->channel[START].value && r->channel[COUNT].value) {
        status = read_contacts(r, error);
    }
    r->held = status ? 0 : r->held;
    return status;
}

/* ---- a frame ---- */

static const double *row_of(const view_replay *r, int channel, ptrdiff_t k) {
    const channel_rows *rows = &r->channel[channel];
    return rows->value ? rows->value + (k - r->first) * rows->width : NULL;
}

static sim_status report_not_finite(const view_replay *r, const char *what, ptrdiff_t k, sim_error *error) {
    return sim_fail(error, SIM_BAD_INPUT, "%s: %s of record %lld are not finite", r->file->path, what, (long long)k);
}

static sim_status find_poses(view_replay *r, ptrdiff_t k, sim_error *error) {
    /* poses from coordinates */
    const sim_model *model = r->scene->model;
    const double *p = row_of(r, POSITION, k), *turn = row_of(r, QUATERNION, k), *q = row_of(r, Q, k);
    r->pose[0] = (sim_pose){m3_identity(), {0, 0, 0}};
    if (!p || !turn) {
        for (int i = 0; i < model->nq; i++) {
            if (!isfinite(q[i])) {
                return report_not_finite(r, "coordinates", k, error);
            }
        }
        if (model->nbody > 1) {
            sim_poses(r->derived, sim_all(model), q);
            memcpy(r->pose, r->derived->pose, (size_t)model->nbody * sizeof *r->pose);
        }
        return SIM_OK;
    }
    /* recorded poses, quaternions normalised */
    for (int i = 1; i < model->nbody; i++, p += 3, turn += 4) {
        quat orientation = {turn[0], turn[1], turn[2], turn[3]};
        double length = quat_norm(orientation);
        if (!(length > 0) || !isfinite(length) || !v3_finite((v3){p[0], p[1], p[2]})) {
            return report_not_finite(r, "poses", k, error);
        }
        r->pose[i] = (sim_pose){quat_matrix(quat_normalised(orientation)), {p[0], p[1], p[2]}};
    }
    return SIM_OK;
}

static sim_v3 vector_at(const double *from, ptrdiff_t k) {
    return (sim_v3){from[3 * k], from[3 * k + 1], from[3 * k + 2]};
}

static sim_status find_frame_contacts(view_replay *r, ptrdiff_t k, int *count, sim_error *error) {
    /* rows of this record */
    const double *start = row_of(r, START, k), *many = row_of(r, COUNT, k);
    *count = 0;
    if (!start || !many) {
        return SIM_OK;
    }
    double low = *start - (double)r->contact0;
    if (!(low >= 0 && *many >= 0 && low + *many <= (double)r->ncontact)) {
        return report_wrong_contacts(r, error);
    }
    /* room */
    if (*many > r->contact_room) {
        view_contact *more = realloc(r->contact, (size_t)*many * sizeof *more);
        if (!more) {
            return sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for its contacts", r->file->path);
        }
        r->contact = more;
        r->contact_room = (int)*many;
    }
    /* contacts, whose shapes exist */
    const double *shape = r->contacts, *position = shape + 2 * r->ncontact, *normal = position + 3 * r->ncontact,
                 *impulse = normal + 3 * r->ncontact, *gap = impulse + 3 * r->ncontact, *area = gap + r->ncontact;
    int shapes = r->scene->model->nshape;
    for (ptrdiff_t c = (ptrdiff_t)low; *count < (int)*many; c++, ++*count) {
        double a = shape[2 * c], b = shape[2 * c + 1];
        if (!(a >= 0 && a < shapes && b >= 0 && b < shapes)) {
            return report_wrong_contacts(r, error);
        }
        r->contact[*count] = (view_contact){
            (int)a, (int)b, vector_at(position, c), vector_at(normal, c), vector_at(impulse, c), gap[c], area[c]};
    }
    return SIM_OK;
}

static double number_of(const view_replay *r, int channel, ptrdiff_t k, int component) {
    const double *row = row_of(r, channel, k);
    return row ? row[component] : NAN;
}

/* Inputs, and the beginnings of phases, are not recorded. */
static void find_readings(view_replay *r, ptrdiff_t k) {
    view_readings *readings = &r->readings;
    for (int n = 0, machines = 0; n < readings->count; n++) {
        view_reading reading = readings->list[n];
        double *value = &readings->value[n];
        switch (reading.kind) {
        case VIEW_SENSOR:
            *value = number_of(r, SENSOR, k, reading.of);
            break;
        case VIEW_EFFORT:
            *value = number_of(r, EFFORT, k, reading.of);
            break;
        case VIEW_PHASE:
            *value = number_of(r, PHASE, k, machines++);
            break;
        case VIEW_COUNT:
            *value = number_of(r, EVENT_COUNT, k, reading.of);
            break;
        case VIEW_AGE:
            *value = number_of(r, TIME, k, 0) - number_of(r, EVENT_TIME, k, reading.of);
            break;
        default:
            *value = NAN;
        }
    }
}

sim_status view_replay_read(view_replay *r, ptrdiff_t k, view_frame *frame, sim_error *error) {
    /* record, poses, contacts */
    int contacts = 0;
    sim_status status = read_batch(r, k, error);
    status = status ? status : find_poses(r, k, error);
    status = status ? status : find_frame_contacts(r, k, &contacts, error);
    if (status) {
        return status;
    }
    find_readings(r, k);
    /* frame */
    *frame = (view_frame){.time = number_of(r, TIME, k, 0),
                          .pose = r->pose,
                          .q = row_of(r, Q, k),
                          .ncontact = contacts,
                          .contact = r->contact,
                          .scalar = {[VIEW_KINETIC] = number_of(r, ENERGY, k, 0),
                                     [VIEW_POTENTIAL] = number_of(r, ENERGY, k, 1),
                                     [VIEW_TOTAL] = number_of(r, ENERGY, k, 2),
                                     [VIEW_CONTACTS] = number_of(r, COUNT, k, 0),
                                     [VIEW_ITERATIONS] = number_of(r, ITERATIONS, k, 0),
                                     [VIEW_OWN] = number_of(r, OWN, k, 0),
                                     [VIEW_E] = number_of(r, E, k, 0),
                                     [VIEW_PENETRATION] = number_of(r, PENETRATION, k, 0),
                                     [VIEW_PAST_RANGE] = number_of(r, PAST_RANGE, k, 0),
                                     [VIEW_SLIP] = number_of(r, SLIP, k, 0)},
                          .reading = r->readings.value};
    return SIM_OK;
}

sim_status view_replay_frame(view_replay *r, ptrdiff_t k, sim_view *view, sim_error *error) {
    view_frame frame;
    sim_status status = view_replay_read(r, k, &frame, error);
    return status ? status : view_add_frame(view, &frame, error);
}

bool view_replay_has_contacts(const view_replay *r) { return r->channel[START].value && r->channel[COUNT].value; }

sim_status view_replay_times(trajectory *file, double *step, double *between, sim_error *error) {
    double time[2] = {0}, count[2] = {0};
    ptrdiff_t last = file->records - 1;
    *step = *between = 0;
    for (int k = 0; k < 2 && last > 0; k++) {
        sim_status status = trajectory_rows(file, "time", k * last, 1, 1, &time[k], error);
        status = status ? status : trajectory_rows(file, "step", k * last, 1, 1, &count[k], error);
        if (status) {
            return status;
        }
    }
    if (last > 0 && !(time[1] > time[0] && count[1] > count[0] && isfinite(time[1] - time[0]))) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: its times do not increase", file->path);
    }
    if (last > 0) {
        *step = (time[1] - time[0]) / (count[1] - count[0]);
        *between = (time[1] - time[0]) / (double)last;
    }
    return SIM_OK;
}
