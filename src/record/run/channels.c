/* Channels of a recording: names, units, values.  One row of the table per channel. */
#include "record/run/channels.h"

#include "collide/collision.h"
#include "contact/stage.h"
#include "math/v3.h"
#include "model/parts/joint.h"
#include <sim/dynamics.h>

#include <stdio.h>
#include <string.h>

/* Kinds of coordinates and velocities: a angle, l length, u component of a unit quaternion. */
static char coordinate_kind(sim_joint_type type, int k) {
    const joint_facts *f = joint_facts_of(type);
    return f->quaternion >= 0 && k >= f->quaternion ? 'u' : joint_is_angle(type, k) ? 'a' : 'l';
}

static char velocity_kind(sim_joint_type type, int k) { return joint_facts_of(type)->angular >> k & 1 ? 'a' : 'l'; }

/* Bodies stand in the order of their coordinates, so the owner of one is found by halving. */
static const sim_body *owner_of_coordinate(const sim_model *model, int coordinate) {
    int low = 0, high = model->nbody;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (model->body[middle].q0 <= coordinate) {
            low = middle;
        } else {
            high = middle;
        }
    }
    while (model->body[low].nq == 0) {
        low--;
    }
    return &model->body[low];
}

/* ---- names and units ---- */

static void copy_name(const char *from, char *text, size_t size) { snprintf(text, size, "%s", from ? from : ""); }

static void no_name(const sim_scene *scene, int item, char *text, size_t size) {
    (void)scene, (void)item;
    copy_name("", text, size);
}

static void coordinate_name(const sim_scene *scene, int item, char *text, size_t size) {
    sim_model_coordinate_name(scene->model, item, text, size);
}

static void velocity_name(const sim_scene *scene, int item, char *text, size_t size) {
    sim_model_dof_name(scene->model, item, text, size);
}

static void body_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy_name(scene->model->body[item + 1].name, text, size);
}

static void point_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy_name(scene->record.point[item].name, text, size);
}

static void actuator_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy_name(scene->model->actuator[item].name, text, size);
}

static void sensor_value_name(const sim_scene *scene, int item, char *text, size_t size) {
    sim_model_sensor_value_name(scene->model, item, text, size);
}

/* The k-th controller of phases. */
static int find_machine(const sim_model *m, int k) {
    int i = 0;
    while (m->controller[i].type != SIM_PHASES || k-- > 0) {
        i++;
    }
    return i;
}

static void machine_name(const sim_scene *scene, int item, char *text, size_t size) {
    snprintf(text, size, "%s", scene->model->controller[find_machine(scene->model, item)].name);
}

static void event_name(const sim_scene *scene, int item, char *text, size_t size) {
    snprintf(text, size, "%s", scene->model->event[item].name);
}

static void event_count_name(const sim_scene *scene, int item, char *text, size_t size) {
    snprintf(text, size, "%s.count", scene->model->event[item].name);
}

static void energy_name(const sim_scene *scene, int item, char *text, size_t size) {
    static const char *const names[] = {"kinetic", "potential", "total"};
    (void)scene;
    copy_name(names[item], text, size);
}

static void momentum_name(const sim_scene *scene, int item, char *text, size_t size) {
    static const char *const names[] = {"angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z"};
    (void)scene;
    copy_name(names[item], text, size);
}

static const char *coordinate_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    const sim_body *body = owner_of_coordinate(scene->model, item);
    char kind = coordinate_kind(body->joint, item - body->q0);
    return kind == 'a' ? "rad" : kind == 'l' ? "m" : "1";
}

static const char *velocity_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    const sim_body *body = &scene->model->body[scene->model->dof[item].body];
    return velocity_kind(body->joint, item - body->v0) == 'a' ? "rad/s" : "m/s";
}

#define UNIT(function, text)                                                                                           \
    static const char *function(const sim_scene *scene, int item, int component) {                                     \
        (void)scene, (void)item, (void)component;                                                                      \
        return text;                                                                                                   \
    }
UNIT(seconds, "s")
UNIT(metres, "m")
UNIT(radians, "rad")
UNIT(metres_per_second, "m/s")
UNIT(square_metres, "m^2")
UNIT(joules, "J")
UNIT(number, "1")

UNIT(newton_seconds, "N s")

static const char *twist_unit(const sim_scene *scene, int item, int component) {
    (void)scene, (void)item;
    return component < 3 ? "rad/s" : "m/s";
}

static const char *effort_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    int dof = scene->model->actuator[item].dof;
    if (dof < 0) {
        return "N";
    }
    const sim_body *body = &scene->model->body[scene->model->dof[dof].body];
    return velocity_kind(body->joint, dof - body->v0) == 'a' ? "N m" : "N";
}

static const char *sensor_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    return sim_model_sensor_value_unit(scene->model, item);
}

static const char *momentum_unit(const sim_scene *scene, int item, int component) {
    (void)scene, (void)component;
    return item < 3 ? "kg m^2/s" : "kg m/s";
}

/* ---- how many ---- */

static int count_one(const sim_scene *scene) { return (void)scene, 1; }
static int count_three(const sim_scene *scene) { return (void)scene, 3; }
static int count_six(const sim_scene *scene) { return (void)scene, 6; }
static int count_coordinates(const sim_scene *scene) { return scene->model->nq; }
static int count_velocities(const sim_scene *scene) { return scene->model->nv; }
static int count_bodies(const sim_scene *scene) { return scene->model->nbody - 1; } /* the world stands still */
static int count_actuators(const sim_scene *scene) { return scene->model->nactuator; }
static int count_sensor_values(const sim_scene *scene) { return scene->model->nsensor_value; }
static int count_machines(const sim_scene *scene) {
    int count = 0;
    for (int k = 0; k < scene->model->ncontroller; k++) {
        count += scene->model->controller[k].type == SIM_PHASES;
    }
    return count;
}

static int count_events(const sim_scene *scene) { return scene->model->nevent; }
static int count_points(const sim_scene *scene) { return scene->record.npoint; }

/* ---- numbers ---- */

static void store_vector_at(double *out, sim_v3 a) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static void fetch_time(channel_source *source, double *out) { *out = sim_world_state(source->world)->time; }
static void fetch_step(channel_source *source, double *out) { *out = (double)sim_world_state(source->world)->step; }

static void fetch_coordinates(channel_source *source, double *out) {
    memcpy(out, sim_world_state(source->world)->q, (size_t)source->scene->model->nq * sizeof *out);
}

static void fetch_velocities(channel_source *source, double *out) {
    memcpy(out, sim_world_state(source->world)->v, (size_t)source->scene->model->nv * sizeof *out);
}

static void fetch_positions(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 1; i < source->scene->model->nbody; i++) {
        store_vector_at(out + 3 * (i - 1), derived->pose[i].p);
    }
}

/* A rotation has two quaternions.  The product of the quaternions of the joints along the tree decides.  It is
 * continuous in time without memory, so a resumed run writes the same numbers. */
static void fetch_quaternions(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    const double *count_coordinates = sim_world_state(source->world)->q;
    sim_quat *turn = source->turn;
    turn[0] = (sim_quat){1, 0, 0, 0};
    for (int i = 1; i < source->scene->model->nbody; i++, out += 4) {
        const sim_body *body = &source->scene->model->body[i];
        quat stand = quat_product(turn[body->parent], quat_from_matrix(body->placement.R));
        quat t = turn[i] = quat_product(stand, joint_turn(body, count_coordinates + body->q0));
        quat q = quat_from_matrix(derived->pose[i].R);
        double sign = q.w * t.w + q.x * t.x + q.y * t.y + q.z * t.z < 0 ? -1 : 1;
        memcpy(out, (double[]){sign * q.w, sign * q.x, sign * q.y, sign * q.z}, 4 * sizeof *out);
    }
}

static void fetch_twists(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 1; i < source->scene->model->nbody; i++, out += 6) {
        store_vector_at(out, derived->vel[i].ang);
        store_vector_at(out + 3, derived->vel[i].lin);
    }
}

static void fetch_energy(channel_source *source, double *out) {
    sim_energy energy = sim_world_energy(source->world);
    out[0] = energy.kinetic;
    out[1] = energy.potential;
    out[2] = energy.kinetic + energy.potential;
}

static void fetch_efforts(channel_source *source, double *out) {
    const double *effort = sim_world_efforts(source->world);
    memcpy(out, effort, (size_t)sim_world_model(source->world)->nactuator * sizeof *out);
}

static void fetch_sensors(channel_source *source, double *out) {
    const double *reading = sim_world_sensors(source->world);
    memcpy(out, reading, (size_t)source->scene->model->nsensor_value * sizeof *out);
}

static void fetch_phases(channel_source *source, double *out) {
    int count = count_machines(source->scene);
    for (int k = 0; k < count; k++) {
        out[k] = sim_world_phase(source->world, find_machine(source->scene->model, k));
    }
}

static void fetch_event_times(channel_source *source, double *out) {
    const sim_happened *h = sim_world_events(source->world);
    for (int k = 0; k < source->scene->model->nevent; k++) {
        out[k] = h[k].count ? h[k].time : NAN;
    }
}

static void fetch_event_counts(channel_source *source, double *out) {
    const sim_happened *h = sim_world_events(source->world);
    for (int k = 0; k < source->scene->model->nevent; k++) {
        out[k] = (double)h[k].count;
    }
}

static void fetch_momentum(channel_source *source, double *out) {
    sim_force momentum = sim_world_momentum(source->world);
    store_vector_at(out, momentum.ang);
    store_vector_at(out + 3, momentum.lin);
}

static void fetch_point_positions(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 0; i < source->scene->record.npoint; i++) {
        store_vector_at(out + 3 * i, sim_point_position(derived, source->scene->record.point[i].point));
    }
}

static void fetch_point_velocities(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 0; i < source->scene->record.npoint; i++) {
        store_vector_at(out + 3 * i, sim_point_velocity(derived, source->scene->record.point[i].point));
    }
}

#define STATISTIC(field)                                                                                               \
    static void fetch_##field(channel_source *source, double *out) {                                                   \
        *out = (double)sim_world_info(source->world)->field;                                                           \
    }
STATISTIC(iterations)
STATISTIC(sweeps)
STATISTIC(nonconverged)
STATISTIC(residual)
STATISTIC(saturated)

#define CERTIFICATE(field)                                                                                             \
    static void judged_##field(channel_source *source, double *out) {                                                  \
        *out = sim_world_info(source->world)->certificate.field;                                                       \
    }
STATISTIC(contacts)
STATISTIC(islands)
STATISTIC(solver_iterations)
STATISTIC(solver_total)
STATISTIC(unsolved)
STATISTIC(asleep)
STATISTIC(asleep_bodies)
STATISTIC(asleep_contacts)
STATISTIC(woken)
STATISTIC(stilled)
CERTIFICATE(E)
CERTIFICATE(own)
CERTIFICATE(momentum)
CERTIFICATE(slackness)
CERTIFICATE(lee)
CERTIFICATE(lee_scaled)
CERTIFICATE(cone)
CERTIFICATE(penetration)
CERTIFICATE(past_range)
CERTIFICATE(slip)
CERTIFICATE(drive)
CERTIFICATE(excess)

/* ---- numbers of contacts ---- */

static void fetch_start(channel_source *source, double *out) { *out = (double)source->before; }
static void fetch_count(channel_source *source, double *out) { *out = sim_world_state(source->world)->ncontact; }

static const sim_contact *contact_of(const channel_source *source) {
    return &sim_world_state(source->world)->contact[source->contact];
}

static void fetch_shapes(channel_source *source, double *out) {
    out[0] = contact_of(source)->shape_a;
    out[1] = contact_of(source)->shape_b;
}

static void fetch_contact_position(channel_source *source, double *out) {
    store_vector_at(out, contact_of(source)->at.position);
}
static void fetch_contact_normal(channel_source *source, double *out) {
    store_vector_at(out, contact_of(source)->at.normal);
}
static void fetch_contact_gap(channel_source *source, double *out) { *out = contact_of(source)->at.gap; }

static void fetch_contact_area(channel_source *source, double *out) { *out = contact_of(source)->at.area; }

static void fetch_contact_impulse(channel_source *source, double *out) {
    store_vector_at(out, sim_world_state(source->world)->impulse[source->contact]);
}

/* One number a contact where solids are soft, else none. */
static int count_area(const sim_scene *scene) {
    bool soft = false;
    for (int k = 0; k < scene->model->nshape; k++) {
        soft |= scene->model->shape[k].pressure != NULL;
    }
    return soft;
}

static int count_two(const sim_scene *scene) { return (void)scene, 2; }

static void side_name(const sim_scene *scene, int item, char *text, size_t size) {
    (void)scene;
    copy_name(item ? "b" : "a", text, size);
}

static void axis_name(const sim_scene *scene, int item, char *text, size_t size) {
    static const char *const names[] = {"x", "y", "z"};
    (void)scene;
    copy_name(names[item], text, size);
}

/* ---- the tables ---- */

#define ALWAYS ((size_t)-1)
#define IF(member) offsetof(sim_record_spec, member)

static const char *const nothing[] = {""};
static const char *const xyz[] = {"x", "y", "z"};
static const char *const wxyz[] = {"qw", "qx", "qy", "qz"};
static const char *const twist[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
static const char *const point_rates[] = {"vx", "vy", "vz"};

static const channel_kind table[] = {
    {"time", "simulated time", 1, 0, 1, ALWAYS, "time", nothing, count_one, no_name, seconds, fetch_time},
    {"step", "steps taken", 1, 1, 1, ALWAYS, "step", nothing, count_one, no_name, number, fetch_step},
    {"q", "joint coordinates", 2, 0, 1, IF(coordinates), "", nothing, count_coordinates, coordinate_name,
     coordinate_unit, fetch_coordinates},
    {"v", "joint velocities", 2, 0, 1, IF(velocities), "", nothing, count_velocities, velocity_name, velocity_unit,
     fetch_velocities},
    {"body/position", "origin of the body frame in the world", 3, 0, 3, IF(poses), "pose.", xyz, count_bodies,
     body_name, metres, fetch_positions},
    {"body/quaternion", "orientation, w x y z, body to world, of continuous sign", 3, 0, 4, IF(poses), "pose.", wxyz,
     count_bodies, body_name, number, fetch_quaternions},
    {"body/velocity", "angular velocity, then velocity of the origin of the body frame; world axes", 3, 0, 6,
     IF(twists), "twist.", twist, count_bodies, body_name, twist_unit, fetch_twists},
    {"energy", "mechanical energy; potential: gravity and springs", 2, 0, 1, IF(energy), "energy.", nothing,
     count_three, energy_name, joules, fetch_energy},
    {"momentum", "momentum about the origin of the world; world axes", 2, 0, 1, IF(momentum), "momentum.", nothing,
     count_six, momentum_name, momentum_unit, fetch_momentum},
    {"effort", "effort of an actuator in the last step", 2, 0, 1, IF(efforts), "effort.", nothing, count_actuators,
     actuator_name, effort_unit, fetch_efforts},
    {"sensor", "readings of sensors; forces and accelerations are means over the last step", 2, 0, 1, IF(sensors),
     "sensor.", nothing, count_sensor_values, sensor_value_name, sensor_unit, fetch_sensors},
    {"phase", "number of the phase of a state machine, from 0; -1: before the first step", 2, 1, 1, ALWAYS, "phase.",
     nothing, count_machines, machine_name, number, fetch_phases},
    {"event/time", "the last time at which an event happened, within the step; NAN: not yet", 2, 0, 1, ALWAYS, "event.",
     nothing, count_events, event_name, seconds, fetch_event_times},
    {"event/count", "so many times it has happened", 2, 1, 1, ALWAYS, "event.", nothing, count_events, event_count_name,
     number, fetch_event_counts},
    {"point/position", "position in the world", 3, 0, 3, ALWAYS, "point.", xyz, count_points, point_name, metres,
     fetch_point_positions},
    {"point/velocity", "velocity, world axes", 3, 0, 3, ALWAYS, "point.", point_rates, count_points, point_name,
     metres_per_second, fetch_point_velocities},
    {"statistics/iterations", "iterations of the integrator in the last step, maximum over trees", 1, 1, 1,
     IF(statistics), "iterations", nothing, count_one, no_name, number, fetch_iterations},
    {"statistics/sweeps", "articulated-body sweeps in the last step, sum over trees", 1, 1, 1, IF(statistics), "sweeps",
     nothing, count_one, no_name, number, fetch_sweeps},
    {"statistics/nonconverged", "trees at the iteration limit in the last step", 1, 1, 1, IF(statistics),
     "nonconverged", nothing, count_one, no_name, number, fetch_nonconverged},
    {"statistics/residual", "relative size of the last iteration's update, maximum over trees", 1, 0, 1, IF(statistics),
     "residual", nothing, count_one, no_name, number, fetch_residual},
    {"statistics/saturated", "actuators at their effort limit", 1, 1, 1, IF(statistics), "saturated", nothing,
     count_one, no_name, number, fetch_saturated},
};
enum { KINDS = sizeof table / sizeof table[0] };

/* Only of scenes in which shapes can touch, or joints or constraints have rows. */
#define COUNTED(field, meaning)                                                                                        \
    {                                                                                                                  \
        "statistics/" #field, meaning, 1, 1, 1, IF(statistics), #field, nothing, count_one, no_name, number,           \
            fetch_##field                                                                                              \
    }
#define JUDGED(field, unit, meaning)                                                                                   \
    {                                                                                                                  \
        "certificate/" #field, meaning, 1, 0, 1, IF(statistics), "certificate." #field, nothing, count_one, no_name,   \
            unit, judged_##field                                                                                       \
    }
static const channel_kind touching_table[] = {
    COUNTED(contacts, "contacts in the last step"),
    COUNTED(islands, "islands of bodies that these connect"),
    COUNTED(solver_iterations, "iterations of the contact solver, maximum over islands"),
    COUNTED(solver_total, "iterations of the contact solver, sum over islands"),
    COUNTED(unsolved, "islands whose solver gave up"),
    JUDGED(E, number, "relative error of the rigid Coulomb law, which compares solvers"),
    JUDGED(own, number, "the same error of the law that the solver was given"),
    JUDGED(momentum, number, "error of the momentum balance, relative"),
    JUDGED(slackness, number, "mean complementarity slackness over the cost, convex laws"),
    JUDGED(lee, newton_seconds, "mean of |gamma - P(gamma - s)|, rho = 1 kg"),
    JUDGED(lee_scaled, metres_per_second, "the same with rho of each contact, over rho"),
    JUDGED(cone, newton_seconds, "greatest excess of an impulse over its friction cone"),
    JUDGED(penetration, metres, "deepest overlap at the end of the step"),
    JUDGED(past_range, radians, "greatest angle of a joint past its range at the end of the step"),
    JUDGED(slip, metres_per_second, "fastest slip where friction is inside its cone"),
    JUDGED(drive, joules, "greatest energy added by friction"),
    JUDGED(excess, joules, "energy created by solutions; those beyond rounding were rejected"),
    {"contact/start", "row of the first contact of the last step, in the datasets below", 1, 1, 1, IF(contacts), NULL,
     nothing, count_one, no_name, number, fetch_start},
    {"contact/count", "contacts of the last step", 1, 1, 1, IF(contacts), NULL, nothing, count_one, no_name, number,
     fetch_count},
};
enum { TOUCHING_KINDS = sizeof touching_table / sizeof touching_table[0] };

/* Only of scenes in which anything may sleep. */
static const channel_kind sleeping_table[] = {
    COUNTED(asleep, "trees of bodies that slept in the last step"),
    COUNTED(asleep_bodies, "bodies of these"),
    COUNTED(asleep_contacts, "contacts among these, unchanged and not part of the certificate"),
    COUNTED(woken, "trees that woke in the last step"),
    {"statistics/stilled", "kinetic energy of bodies that fell asleep at the end of the last step", 1, 0, 1,
     IF(statistics), "stilled", nothing, count_one, no_name, joules, fetch_stilled},
};
enum { SLEEPING_KINDS = sizeof sleeping_table / sizeof sleeping_table[0] };

/* A row a contact. */
static const channel_kind contact_table[] = {
    {"contact/shape", "numbers of the two shapes", 2, 1, 1, IF(contacts), NULL, nothing, count_two, side_name, number,
     fetch_shapes},
    {"contact/position", "point at which it acts, at the start of the step", 2, 0, 1, IF(contacts), NULL, nothing,
     count_three, axis_name, metres, fetch_contact_position},
    {"contact/normal", "unit, from b to a, at the start of the step", 2, 0, 1, IF(contacts), NULL, nothing, count_three,
     axis_name, number, fetch_contact_normal},
    {"contact/gap", "at the start of the step; negative inside", 1, 0, 1, IF(contacts), NULL, nothing, count_one,
     no_name, metres, fetch_contact_gap},
    {"contact/area", "of a polygon between pressure fields; 0 of a point", 1, 0, 1, IF(contacts), NULL, nothing,
     count_area, no_name, square_metres, fetch_contact_area},
    {"contact/impulse", "impulse on a, and its opposite on b; world axes", 2, 0, 1, IF(contacts), NULL, nothing,
     count_three, axis_name, newton_seconds, fetch_contact_impulse},
};
enum { CONTACT_KINDS = sizeof contact_table / sizeof contact_table[0] };

const channel_kind *channel_kind_at(int number) {
    return number < KINDS                                     ? &table[number]
           : number < KINDS + TOUCHING_KINDS                  ? &touching_table[number - KINDS]
           : number < KINDS + TOUCHING_KINDS + SLEEPING_KINDS ? &sleeping_table[number - KINDS - TOUCHING_KINDS]
                                                              : NULL;
}

static bool is_wanted(const channel_kind *kind, const sim_scene *scene) {
    if (kind->flag != ALWAYS && !*(const bool *)((const char *)&scene->record + kind->flag)) {
        return false;
    }
    return kind->items(scene) > 0;
}

static void choose_channels(const sim_scene *scene, const channel_kind *kind, int kinds, record_channel *chosen,
                            int *count, size_t *row) {
    for (int k = 0; k < kinds; k++) {
        if (is_wanted(&kind[k], scene)) {
            int items = kind[k].items(scene);
            size_t numbers = (size_t)items * (size_t)kind[k].width;
            chosen[(*count)++] = (record_channel){&kind[k], items, *row, numbers};
            *row += numbers;
        }
    }
}

channel_set *channels_choose(const sim_scene *scene, memory_pool *pool) {
    /* channels of steps and of contacts */
    channel_set *set = POOL_NEW(pool, channel_set, 1);
    int touching = scene->options.contacts ? collision_possible(scene->model) : 0;
    if (!set || touching < 0) {
        return NULL;
    }
    set->channel = POOL_NEW(pool, record_channel, KINDS + TOUCHING_KINDS + SLEEPING_KINDS);
    set->contact_channel = POOL_NEW(pool, record_channel, CONTACT_KINDS);
    if (!set->channel || !set->contact_channel) {
        return NULL;
    }
    /* channels by what the model can have: joints, contacts, sleep */
    choose_channels(scene, table, KINDS, set->channel, &set->count, &set->width);
    if (touching || contact_stage_needed(scene->model)) {
        choose_channels(scene, touching_table, TOUCHING_KINDS, set->channel, &set->count, &set->width);
    }
    if (touching) {
        choose_channels(scene, contact_table, CONTACT_KINDS, set->contact_channel, &set->contact_count,
                        &set->contact_width);
    }
    if (scene->options.sleep) {
        choose_channels(scene, sleeping_table, SLEEPING_KINDS, set->channel, &set->count, &set->width);
    }
    return set;
}

void channels_fetch(const channel_set *set, channel_source *source, double *row) {
    for (int s = 0; s < set->count; s++) {
        set->channel[s].kind->fetch(source, row + set->channel[s].offset);
    }
}

int channels_contacts(const channel_set *set, const channel_source *source) {
    return set->contact_count ? sim_world_state(source->world)->ncontact : 0;
}

void channels_fetch_contacts(const channel_set *set, channel_source *source, double *rows) {
    int count = channels_contacts(set, source);
    for (source->contact = 0; source->contact < count; source->contact++, rows += set->contact_width) {
        for (int s = 0; s < set->contact_count; s++) {
            set->contact_channel[s].kind->fetch(source, rows + set->contact_channel[s].offset);
        }
    }
    source->before += count;
}
