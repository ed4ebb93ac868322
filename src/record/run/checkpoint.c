/* Checkpoints: a state saved and restored to the last bit.
 *
 * A checkpoint is a header; the folder of the scene; the state as the machine stores it; the text of the scene; and a
 * checksum of all before it.
 * The state is q, v, a; contacts with impulses and their trends; forces of the caller; memory of controllers, events,
 * sleep; efforts, activations and inputs of actuators; delayed inputs and readings.  It also has
 * impulses of ranges, dry friction and constraints with their switches.  It replaces an older one in one move. */
#include "base/file.h"
#include "base/hash.h"
#include "contact/stage.h"
#include "record/file/atomic_file.h"
#include "record/run/fingerprint.h"

#include <limits.h>
#include <sim/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[16] = "sim checkpoint\n";
enum { FORMAT_VERSION = 16, OLDEST_FORMAT = 15 }; /* 15: the same of models without delays, which were unknown */
static const uint64_t byte_order = 0x0102030405060708u;

typedef struct header {
    char magic[16];
    uint64_t byte_order, format;
    uint64_t model;                  /* fingerprint */
    uint64_t nq, nv, ncontact, nrow; /* nrow: numbers of drives, sensors and all impulses of rows */
    uint64_t nrest;
    uint64_t nfolder, ntext; /* of the scene: before and behind all numbers */
    double step_size;
    char integrator[16], solver[16];  /* or "off": no contacts */
    char scene_hash[72], version[32]; /* for readers of the file: its origin */
    double time, time0;
    int64_t step;
} header;
_Static_assert(sizeof(header) == 16 + 11 * 8 + 2 * 16 + 72 + 32 + 3 * 8, "a header has no gaps");
_Static_assert(sizeof(sim_contact) == 4 * sizeof(int) + 9 * sizeof(double) + 8 + 13 * sizeof(double),
               "a contact has no gaps");
_Static_assert(sizeof(sim_happened) == 5 * sizeof(double), "an event has no gaps");
_Static_assert(sizeof(sim_switched) == 8 * sizeof(double), "a switch has no gaps");
_Static_assert(sizeof(sim_rest) == 3 * 8, "a rest has no gaps");

/* q, v, a, held and trail. */
static uint64_t motion_numbers(const header *head) { return head->nq + 7 * head->nv; }

static size_t state_size(const header *head) {
    return (motion_numbers(head) + head->nrow) * sizeof(double) +
           head->ncontact * (sizeof(sim_contact) + 2 * sizeof(sim_v3)) + head->nrest * sizeof(sim_rest) +
           head->nfolder + head->ntext;
}

static size_t file_size(const header *head) { return sizeof *head + state_size(head) + sizeof(uint64_t); }

/* Forces of the caller, memory of controllers, events. */
static size_t applied_numbers(const sim_model *model) {
    return (size_t)model->nv + 6 * (size_t)model->nbody + (size_t)model->ncontrol + 5 * (size_t)model->nevent;
}
/* Efforts, activations, inputs. */
static size_t drive_numbers(const sim_model *model) { return (2 + SIM_INPUTS) * (size_t)model->nactuator; }
static size_t joint_numbers(const sim_model *model) { return SIM_JOINT_ROWS * (size_t)model->nv; }
static size_t equality_numbers(const sim_model *model) { return SIM_MAX_ROWS * (size_t)model->nequality; }
/* A switch is as long as eight numbers. */
static size_t switch_numbers(const sim_model *model) { return 8 * (size_t)model->nequality; }
static size_t tendon_numbers(const sim_model *model) { return 4 * (size_t)model->ntendon; }

static size_t row_numbers(const sim_model *model) {
    return joint_numbers(model) + equality_numbers(model) + tendon_numbers(model) + switch_numbers(model);
}

/* ---- writing ---- */

static header make_header(const sim_scene *scene, const sim_world *world) {
    /* numbers that fix the length of the file */
    const sim_model *model = sim_world_model(world);
    const sim_options *options = sim_world_options(world);
    const sim_state *state = sim_world_state(world);
    header head = {.byte_order = byte_order, .format = FORMAT_VERSION, .model = fingerprint_of(model, options)};
    memcpy(head.magic, magic, sizeof magic);
    head.nq = (uint64_t)model->nq;
    head.nv = (uint64_t)model->nv;
    head.ncontact = (uint64_t)state->ncontact;
    head.nrow = applied_numbers(model) + drive_numbers(model) + (uint64_t)model->nsensor_value;
    head.nrow += (uint64_t)model->nhistory;
    head.nrow += contact_stage_needed(model) ? row_numbers(model) : 0;
    head.nrest = state->rest ? (uint64_t)model->ntree : 0;
    head.nfolder = scene->folder ? strlen(scene->folder) : 0;
    head.ntext = scene->text ? scene->text_length : 0;
    /* settings that have to agree on resume */
    head.step_size = options->step;
    snprintf(head.integrator, sizeof head.integrator, "%s", sim_integrator_name(options->integrator));
    snprintf(head.solver, sizeof head.solver, "%s",
             options->contacts || contact_stage_needed(model) ? options->solver->name : "off");
    snprintf(head.scene_hash, sizeof head.scene_hash, "%s", scene->hash);
    snprintf(head.version, sizeof head.version, "%s", sim_version());
    /* time */
    head.time = state->time;
    head.time0 = state->time0;
    head.step = state->step;
    return head;
}

static char *put_bytes(char *at, const void *from, size_t size) {
    if (size > 0) {
        memcpy(at, from, size);
    }
    return at + size;
}

static char *pack_checkpoint(const sim_scene *scene, const sim_world *world, size_t *size) {
    /* memory of the whole file */
    header head = make_header(scene, world);
    const sim_state *state = sim_world_state(world);
    *size = file_size(&head);
    char *bytes = malloc(*size), *at = bytes;
    if (!bytes) {
        return NULL;
    }
    /* motion */
    at = put_bytes(at, &head, sizeof head);
    at = put_bytes(at, scene->folder, head.nfolder);
    at = put_bytes(at, state->q, head.nq * sizeof(double));
    at = put_bytes(at, state->v, head.nv * sizeof(double));
    at = put_bytes(at, state->a, head.nv * sizeof(double));
    at = put_bytes(at, state->held, head.nv * sizeof(double));
    at = put_bytes(at, state->trail, 4 * head.nv * sizeof(double));
    /* contacts and warm starts */
    at = put_bytes(at, state->contact, head.ncontact * sizeof *state->contact);
    at = put_bytes(at, state->impulse, head.ncontact * sizeof *state->impulse);
    at = put_bytes(at, state->impulse_trend, head.ncontact * sizeof *state->impulse_trend);
    const sim_model *model = scene->model;
    at = put_bytes(at, state->applied, head.nv * sizeof(double));
    at = put_bytes(at, state->wrench, (size_t)model->nbody * sizeof *state->wrench);
    at = put_bytes(at, state->control, (size_t)model->ncontrol * sizeof(double));
    at = put_bytes(at, state->event, (size_t)model->nevent * sizeof *state->event);
    at = put_bytes(at, state->effort, (size_t)model->nactuator * sizeof(double));
    at = put_bytes(at, state->activation, (size_t)model->nactuator * sizeof(double));
    at = put_bytes(at, state->input, SIM_INPUTS * (size_t)model->nactuator * sizeof(double));
    at = put_bytes(at, state->sensor, (size_t)model->nsensor_value * sizeof(double));
    at = put_bytes(at, state->history, (size_t)model->nhistory * sizeof(double));
    if (contact_stage_needed(model)) {
        at = put_bytes(at, state->joint_impulse, joint_numbers(model) * sizeof(double));
        at = put_bytes(at, state->equality_impulse, equality_numbers(model) * sizeof(double));
        at = put_bytes(at, state->tendon_impulse, tendon_numbers(model) * sizeof(double));
        at = put_bytes(at, state->switched, (size_t)model->nequality * sizeof *state->switched);
    }
    /* rest, text of the scene, checksum */
    at = put_bytes(at, state->rest, head.nrest * sizeof *state->rest);
    at = put_bytes(at, scene->text, head.ntext);
    uint64_t sum = hash_bytes(HASH_START, bytes, (size_t)(at - bytes));
    memcpy(at, &sum, sizeof sum);
    return bytes;
}

sim_status sim_checkpoint_write(const char *path, const sim_scene *scene, const sim_world *world, sim_error *error) {
    size_t size = 0;
    char *bytes = pack_checkpoint(scene, world, &size);
    sim_status status = bytes ? replace_file(path, "a checkpoint", bytes, size, error)
                              : sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a checkpoint", path);
    free(bytes);
    return status;
}

/* ---- reading ---- */

static sim_status read_checkpoint_file(const char *path, char **bytes, size_t *size, sim_error *error) {
    sim_error why = {0};
    if (!file_read(path, PTRDIFF_MAX - 1, bytes, size, &why)) {
        return SIM_OK;
    }
    const char *words = why.status == SIM_BAD_INPUT ? "not a checkpoint" : "cannot read a checkpoint";
    return sim_fail(error, why.status, "%s: %s: %s", path, words, why.text);
}

/* Is the file whole and one of ours? */
static sim_status check_checkpoint_file(const char *path, const char *bytes, size_t size, header *head,
                                        sim_error *error) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: not a checkpoint of sim", path);
    }
    if (size < sizeof *head) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint is truncated at %zu bytes", path, size);
    }
    memcpy(head, bytes, sizeof *head);
    if (head->byte_order != byte_order) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint comes from a machine of the other byte order", path);
    }
    if (head->format < OLDEST_FORMAT || head->format > FORMAT_VERSION) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint has format %llu, this version reads formats %d to %d",
                        path, (unsigned long long)head->format, OLDEST_FORMAT, FORMAT_VERSION);
    }
    size_t most = size / sizeof(double); /* more numbers than that cannot be meant, and would overflow the next line */
    if (head->nq > most || head->nv > most || head->ncontact > most || head->nrow > most || head->nrest > most ||
        head->nfolder > size || head->ntext > size || size < file_size(head)) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint is truncated at %zu bytes", path, size);
    }
    uint64_t sum, found;
    memcpy(&sum, bytes + file_size(head) - sizeof sum, sizeof sum);
    found = hash_bytes(HASH_START, bytes, file_size(head) - sizeof sum);
    if (found != sum || size != file_size(head)) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint is damaged: its checksum is wrong", path);
    }
    return SIM_OK;
}

/* Does this world, with its options, have the model and the settings of the checkpoint? */
/* Would this world go on as the one that was saved? */
static sim_status check_world(const char *path, const header *head, const header *own, sim_error *error) {
    /* sizes of the state */
    if (head->nrow != own->nrow && head->nq == own->nq && head->nv == own->nv) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: the checkpoint is of another model: with other actuators, sensors or constraints", path);
    }
    if (head->nq != own->nq || head->nv != own->nv) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: the checkpoint is of another model: %llu coordinates and %llu velocities, the scene has "
                        "%llu and %llu",
                        path, (unsigned long long)head->nq, (unsigned long long)head->nv, (unsigned long long)own->nq,
                        (unsigned long long)own->nv);
    }
    /* settings, model and step */
    if (memcmp(head->solver, own->solver, sizeof own->solver) != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint was made with contacts '%.15s', not '%s'", path,
                        head->solver, own->solver);
    }
    if (head->nrest != own->nrest) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint was made %s bodies that may sleep", path,
                        head->nrest ? "with" : "without");
    }
    if (head->model != own->model) {
        const char *scene = memcmp(head->scene_hash, own->scene_hash, sizeof own->scene_hash)
                                ? "another scene, or other options"
                                : "other options, or other files that the scene names";
        return sim_fail(error, SIM_BAD_INPUT,
                        "%s: the checkpoint is of another model: as many coordinates, but other numbers (%s)", path,
                        scene);
    }
    if (memcmp(head->integrator, own->integrator, sizeof own->integrator) != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint was made with the integrator '%.15s', not '%s'", path,
                        head->integrator, own->integrator);
    }
    if (head->step_size != own->step_size) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: the checkpoint was made with a step of %.17g s, not %.17g s", path,
                        head->step_size, own->step_size);
    }
    return SIM_OK;
}

/* The state that points into the numbers of a file, in the order of pack_checkpoint. */
static sim_state state_of(const header *head, const sim_model *model, double *numbers) {
    /* motion, then what the caller, controllers and events left, then drives and sensors */
    double *applied = numbers + motion_numbers(head), *drives = applied + applied_numbers(model);
    double *event = drives - 5 * model->nevent;
    sim_state state = {.time = head->time,
                       .time0 = head->time0,
                       .step = head->step,
                       .q = numbers,
                       .v = numbers + head->nq,
                       .a = numbers + head->nq + head->nv,
                       .held = numbers + head->nq + 2 * head->nv,
                       .trail = numbers + head->nq + 3 * head->nv,
                       .ncontact = (int)head->ncontact,
                       .applied = applied,
                       .wrench = (sim_force *)(applied + head->nv),
                       .control = event - model->ncontrol,
                       .event = (sim_happened *)event,
                       .effort = drives,
                       .activation = drives + model->nactuator,
                       .input = drives + 2 * model->nactuator,
                       .sensor = drives + drive_numbers(model)};
    state.history = state.sensor + model->nsensor_value;
    /* rows of the contact problem */
    if (contact_stage_needed(model)) {
        state.joint_impulse = state.history + model->nhistory;
        state.equality_impulse = state.joint_impulse + joint_numbers(model);
        state.tendon_impulse = state.equality_impulse + equality_numbers(model);
        state.switched = (sim_switched *)(state.tendon_impulse + tendon_numbers(model));
    }
    return state;
}

static sim_status take_up(const char *path, const header *head, const char *bytes, sim_world *world, sim_error *error) {
    /* copies at aligned addresses */
    const sim_model *model = sim_world_model(world);
    size_t count = (size_t)motion_numbers(head), rows = (size_t)head->nrow, contacts = (size_t)head->ncontact;
    double *numbers = malloc((count + rows + 1) * sizeof *numbers);
    sim_contact *contact = malloc((contacts + 1) * sizeof *contact);
    sim_v3 *impulse = malloc((2 * contacts + 1) * sizeof *impulse); /* and their trends */
    sim_rest *rest = malloc((head->nrest + 1) * sizeof *rest);
    sim_status status = SIM_NO_RESOURCE;
    sim_error why;
    sim_fail(&why, status, "no memory for a checkpoint");
    if (numbers && contact && impulse && rest && contacts <= INT_MAX) {
        /* arrays in the order of pack_checkpoint */
        const char *at = bytes + sizeof *head + head->nfolder;
        memcpy(numbers, at, count * sizeof *numbers);
        at += count * sizeof *numbers;
        memcpy(contact, at, contacts * sizeof *contact);
        at += contacts * sizeof *contact;
        memcpy(impulse, at, 2 * contacts * sizeof *impulse);
        at += 2 * contacts * sizeof *impulse;
        memcpy(numbers + count, at, rows * sizeof *numbers);
        at += rows * sizeof *numbers;
        memcpy(rest, at, head->nrest * sizeof *rest);
        sim_state state = state_of(head, model, numbers);
        state.contact = contact;
        state.impulse = impulse;
        state.impulse_trend = impulse + contacts;
        state.rest = head->nrest ? rest : NULL;
        status = sim_world_set_state(world, &state, &why);
    }
    /* the world has its own copies by now */
    free(rest);
    free(impulse);
    free(contact);
    free(numbers);
    return status ? sim_fail(error, status, "%s: %s", path, why.text) : SIM_OK;
}

sim_status sim_checkpoint_read(const char *path, const sim_scene *scene, sim_world *world, sim_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    header head, own = make_header(scene, world);
    sim_error why = {0};
    sim_status status = read_checkpoint_file(path, &bytes, &size, &why);
    status = status ? status : check_checkpoint_file(path, bytes, size, &head, &why);
    status = status ? status : check_world(path, &head, &own, &why);
    status = status ? status : take_up(path, &head, bytes, world, &why);
    free(bytes);
    return status ? sim_fail(error, status, "%s", why.text) : SIM_OK;
}

sim_status sim_checkpoint_scene(const char *path, char **text, size_t *length, char **folder, sim_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    header head;
    sim_error why = {0};
    *text = *folder = NULL;
    sim_status status = read_checkpoint_file(path, &bytes, &size, &why);
    status = status ? status : check_checkpoint_file(path, bytes, size, &head, &why);
    if (!status && head.ntext == 0) {
        status = sim_fail(&why, SIM_BAD_INPUT, "%s: the checkpoint holds no scene", path);
    }
    if (!status && head.nfolder) {
        *folder = strndup(bytes + sizeof head, (size_t)head.nfolder);
        status = *folder ? SIM_OK : sim_fail(&why, SIM_NO_RESOURCE, "%s: no memory for a checkpoint", path);
    }
    if (!status) { /* to the front, with a zero byte behind it */
        *length = (size_t)head.ntext;
        memmove(bytes, bytes + size - sizeof(uint64_t) - *length, *length);
        bytes[*length] = 0;
        *text = bytes;
        return SIM_OK;
    }
    free(bytes);
    return sim_fail(error, status, "%s", why.text);
}
