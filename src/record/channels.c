/* What can be written down of a world, under which name, in which unit?  One row of the table per channel. */
#include "record/channels.h"

#include "math/v3.h"
#include "model/joint.h"
#include <sim/dynamics.h>

#include <stdio.h>
#include <string.h>

/* Kinds of coordinates by joint type: a angle, l length, u component of a unit quaternion. */
static const char coordinate_kinds[SIM_JOINT_TYPES][SIM_MAX_JOINT_NQ + 1] = {
    [SIM_FIXED] = "",       [SIM_HINGE] = "a",   [SIM_SLIDER] = "l",   [SIM_SCREW] = "a",      [SIM_CYLINDRICAL] = "al",
    [SIM_UNIVERSAL] = "aa", [SIM_BALL] = "uuuu", [SIM_PLANAR] = "lla", [SIM_FREE] = "llluuuu",
};
static const char velocity_kinds[SIM_JOINT_TYPES][SIM_MAX_JOINT_NV + 1] = {
    [SIM_FIXED] = "",       [SIM_HINGE] = "a",  [SIM_SLIDER] = "l",   [SIM_SCREW] = "a",     [SIM_CYLINDRICAL] = "al",
    [SIM_UNIVERSAL] = "aa", [SIM_BALL] = "aaa", [SIM_PLANAR] = "lla", [SIM_FREE] = "lllaaa",
};

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

static void copy(const char *from, char *text, size_t size) { snprintf(text, size, "%s", from ? from : ""); }

static void no_name(const sim_scene *scene, int item, char *text, size_t size) {
    (void)scene, (void)item;
    copy("", text, size);
}

static void coordinate_name(const sim_scene *scene, int item, char *text, size_t size) {
    sim_model_coordinate_name(scene->model, item, text, size);
}

static void velocity_name(const sim_scene *scene, int item, char *text, size_t size) {
    sim_model_dof_name(scene->model, item, text, size);
}

static void body_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy(scene->model->body[item + 1].name, text, size);
}

static void point_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy(scene->record.point[item].name, text, size);
}

static void actuator_name(const sim_scene *scene, int item, char *text, size_t size) {
    copy(scene->model->actuator[item].name, text, size);
}

static void energy_name(const sim_scene *scene, int item, char *text, size_t size) {
    static const char *const names[] = {"kinetic", "potential", "total"};
    (void)scene;
    copy(names[item], text, size);
}

static void momentum_name(const sim_scene *scene, int item, char *text, size_t size) {
    static const char *const names[] = {"angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z"};
    (void)scene;
    copy(names[item], text, size);
}

static const char *coordinate_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    const sim_body *body = owner_of_coordinate(scene->model, item);
    char kind = coordinate_kinds[body->joint][item - body->q0];
    return kind == 'a' ? "rad" : kind == 'l' ? "m" : "1";
}

static const char *velocity_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    const sim_body *body = &scene->model->body[scene->model->dof[item].body];
    return velocity_kinds[body->joint][item - body->v0] == 'a' ? "rad/s" : "m/s";
}

#define UNIT(function, text)                                                                                           \
    static const char *function(const sim_scene *scene, int item, int component) {                                     \
        (void)scene, (void)item, (void)component;                                                                      \
        return text;                                                                                                   \
    }
UNIT(seconds, "s")
UNIT(metres, "m")
UNIT(metres_per_second, "m/s")
UNIT(joules, "J")
UNIT(number, "1")

static const char *twist_unit(const sim_scene *scene, int item, int component) {
    (void)scene, (void)item;
    return component < 3 ? "rad/s" : "m/s";
}

static const char *effort_unit(const sim_scene *scene, int item, int component) {
    (void)component;
    int dof = scene->model->actuator[item].dof;
    const sim_body *body = &scene->model->body[scene->model->dof[dof].body];
    return velocity_kinds[body->joint][dof - body->v0] == 'a' ? "N m" : "N";
}

static const char *momentum_unit(const sim_scene *scene, int item, int component) {
    (void)scene, (void)component;
    return item < 3 ? "kg m^2/s" : "kg m/s";
}

/* ---- how many ---- */

static int one(const sim_scene *scene) { return (void)scene, 1; }
static int three(const sim_scene *scene) { return (void)scene, 3; }
static int six(const sim_scene *scene) { return (void)scene, 6; }
static int coordinates(const sim_scene *scene) { return scene->model->nq; }
static int velocities(const sim_scene *scene) { return scene->model->nv; }
static int bodies(const sim_scene *scene) { return scene->model->nbody - 1; } /* the world stands still */
static int actuators(const sim_scene *scene) { return scene->model->nactuator; }
static int points(const sim_scene *scene) { return scene->record.npoint; }

/* ---- numbers ---- */

static void put(double *out, sim_v3 a) {
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
        put(out + 3 * (i - 1), derived->pose[i].p);
    }
}

/* A rotation has two quaternions.  The joints' own, multiplied along the tree, choose: they are continuous in time and
 * need no memory, so that a resumed run writes what the uninterrupted one would have written. */
static void fetch_quaternions(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    const double *coordinates = sim_world_state(source->world)->q;
    sim_quat *turn = source->turn;
    turn[0] = (sim_quat){1, 0, 0, 0};
    for (int i = 1; i < source->scene->model->nbody; i++, out += 4) {
        const sim_body *body = &source->scene->model->body[i];
        quat stand = quat_product(turn[body->parent], quat_from_matrix(body->placement.R));
        quat t = turn[i] = quat_product(stand, joint_turn(body, coordinates + body->q0));
        quat q = quat_from_matrix(derived->pose[i].R);
        double sign = q.w * t.w + q.x * t.x + q.y * t.y + q.z * t.z < 0 ? -1 : 1;
        memcpy(out, (double[]){sign * q.w, sign * q.x, sign * q.y, sign * q.z}, 4 * sizeof *out);
    }
}

static void fetch_twists(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 1; i < source->scene->model->nbody; i++, out += 6) {
        put(out, derived->vel[i].ang);
        put(out + 3, derived->vel[i].lin);
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

static void fetch_momentum(channel_source *source, double *out) {
    sim_force momentum = sim_world_momentum(source->world);
    put(out, momentum.ang);
    put(out + 3, momentum.lin);
}

static void fetch_point_positions(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 0; i < source->scene->record.npoint; i++) {
        put(out + 3 * i, sim_point_position(derived, source->scene->record.point[i].point));
    }
}

static void fetch_point_velocities(channel_source *source, double *out) {
    const sim_derived *derived = sim_world_derived(source->world);
    for (int i = 0; i < source->scene->record.npoint; i++) {
        put(out + 3 * i, sim_point_velocity(derived, source->scene->record.point[i].point));
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

/* ---- the table ---- */

#define ALWAYS ((size_t)-1)
#define IF(member) offsetof(sim_record_spec, member)

static const char *const nothing[] = {""};
static const char *const xyz[] = {"x", "y", "z"};
static const char *const wxyz[] = {"qw", "qx", "qy", "qz"};
static const char *const twist[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
static const char *const point_rates[] = {"vx", "vy", "vz"};

static const channel_kind table[] = {
    {"time", "simulated time", 1, 0, 1, ALWAYS, "time", nothing, one, no_name, seconds, fetch_time},
    {"step", "steps taken", 1, 1, 1, ALWAYS, "step", nothing, one, no_name, number, fetch_step},
    {"q", "joint coordinates", 2, 0, 1, IF(coordinates), "", nothing, coordinates, coordinate_name, coordinate_unit,
     fetch_coordinates},
    {"v", "joint velocities", 2, 0, 1, IF(velocities), "", nothing, velocities, velocity_name, velocity_unit,
     fetch_velocities},
    {"body/position", "origin of the body frame in the world", 3, 0, 3, IF(poses), "pose.", xyz, bodies, body_name,
     metres, fetch_positions},
    {"body/quaternion", "orientation, w x y z, body to world, of continuous sign", 3, 0, 4, IF(poses), "pose.", wxyz,
     bodies, body_name, number, fetch_quaternions},
    {"body/velocity", "angular velocity, then velocity of the origin of the body frame; world axes", 3, 0, 6,
     IF(twists), "twist.", twist, bodies, body_name, twist_unit, fetch_twists},
    {"energy", "mechanical energy; potential: gravity and springs", 2, 0, 1, IF(energy), "energy.", nothing, three,
     energy_name, joules, fetch_energy},
    {"momentum", "momentum about the origin of the world; world axes", 2, 0, 1, IF(momentum), "momentum.", nothing, six,
     momentum_name, momentum_unit, fetch_momentum},
    {"effort", "what an actuator gave in the step that led here", 2, 0, 1, IF(efforts), "effort.", nothing, actuators,
     actuator_name, effort_unit, fetch_efforts},
    {"point/position", "position in the world", 3, 0, 3, ALWAYS, "point.", xyz, points, point_name, metres,
     fetch_point_positions},
    {"point/velocity", "velocity, world axes", 3, 0, 3, ALWAYS, "point.", point_rates, points, point_name,
     metres_per_second, fetch_point_velocities},
    {"statistics/iterations", "iterations of the integrator in the step that led here, the most of any tree", 1, 1, 1,
     IF(statistics), "iterations", nothing, one, no_name, number, fetch_iterations},
    {"statistics/sweeps", "articulated-body sweeps in the step that led here, summed over trees", 1, 1, 1,
     IF(statistics), "sweeps", nothing, one, no_name, number, fetch_sweeps},
    {"statistics/nonconverged", "trees whose iteration hit the limit in the step that led here", 1, 1, 1,
     IF(statistics), "nonconverged", nothing, one, no_name, number, fetch_nonconverged},
    {"statistics/residual", "relative size of the last iteration's update, the worst of any tree", 1, 0, 1,
     IF(statistics), "residual", nothing, one, no_name, number, fetch_residual},
    {"statistics/saturated", "actuators at their effort limit", 1, 1, 1, IF(statistics), "saturated", nothing, one,
     no_name, number, fetch_saturated},
};
enum { KINDS = sizeof table / sizeof table[0] };

static int wanted(const channel_kind *kind, const sim_scene *scene) {
    if (kind->flag != ALWAYS && !*(const int *)((const char *)&scene->record + kind->flag)) {
        return 0;
    }
    return kind->items(scene) > 0;
}

channel_set *channels_choose(const sim_scene *scene, sim_pool *pool) {
    channel_set *set = POOL_NEW(pool, channel_set, 1);
    sim_channel *chosen = POOL_NEW(pool, sim_channel, KINDS);
    if (!set || !chosen) {
        return NULL;
    }
    set->channel = chosen;
    for (int k = 0; k < KINDS; k++) {
        if (wanted(&table[k], scene)) {
            int items = table[k].items(scene);
            size_t count = (size_t)items * (size_t)table[k].width;
            chosen[set->count++] = (sim_channel){&table[k], items, set->width, count};
            set->width += count;
        }
    }
    return set;
}

void channels_fetch(const channel_set *set, channel_source *source, double *row) {
    for (int s = 0; s < set->count; s++) {
        set->channel[s].kind->fetch(source, row + set->channel[s].offset);
    }
}
