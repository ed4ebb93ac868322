/* Objects of a scene as structs, filled by the tables, before names are looked up.  Members stand in the order of the
 * keys in tables.c; `at` is where the object was read, NULL if it was not given. */
#ifndef SCENE_FORMAT_TABLES_FORMAT_H
#define SCENE_FORMAT_TABLES_FORMAT_H

#include "scene/format/tables/fields.h"
#include "scene/json/document.h"

#include <sim/model.h>
#include <stdint.h>

/* Beside the shapes of the model: several of them, placed together. */
enum { COMPOUND = SIM_SHAPE_TYPES };

enum { EXCLUDE_NONE, EXCLUDE_INITIAL, EXCLUDES };

/* "none", "initial"; NULL beyond. */
const char *exclude_name(int i);

enum { USE_ALL, USE_CONTACT, USE_PICTURE, USES };
enum { COMPLIANT_POINTS, COMPLIANT_FIELD, SHAPE_COMPLIANCES };

typedef struct law_data {
    const node *at;
    double beta, sigma, push, threshold, carried, slop, undo;
} law_data;

typedef struct budget_data {
    const node *at;
    int64_t iterations;
    double time;
} budget_data;

typedef struct fluid_data {
    const node *at;
    double density, viscosity, wind[3];
} fluid_data;

typedef struct world_data {
    const node *at;
    double gravity[3];
    fluid_data fluid;
    double step, duration;
    int integrator;
    int64_t threads;
    double tolerance;
    int64_t max_iterations, seed;
    const char *start;
    bool contacts;
    int exclude;
    double contact_margin;
    int solver; /* -1: none of that name */
    const node *solver_options;
    budget_data budget;
    int compliance;
    law_data law;
    bool sleep;
    double sleep_speed, sleep_time;
} world_data;

typedef struct material_data {
    const node *at;
    const char *name, *other; /* other: of a pair */
    number_list friction;     /* one or two */
    double pair_friction;     /* of a pair */
    double stiffness, modulus, dissipation, restitution, torsion, rolling, adhesion, adhesion_range;
} material_data;

typedef struct pose_data {
    const node *at;
    double position[3], quaternion[4], rpy[3], rpy_deg[3], axis_angle[4];
} pose_data;

typedef struct joint_data {
    const node *at;
    const char *name;
    int type;
    double axis[3], axis2[3], pitch, spring_terms[2], damper_terms[2];
    number_list stiffness, damping, armature, rest, range, range_deg;
    number_list limit_stiffness, limit_dissipation, limit_restitution, friction, velocity_limit, effort, effort_range;
} joint_data;

typedef struct inertia_data {
    const node *at;
    double mass, com[3], moments[3], matrix[6], quaternion[4], rpy[3], rpy_deg[3], axis_angle[4];
} inertia_data;

typedef struct field_data {
    const node *at;
    int type;
    double radius, length, size[3];
    number_list points;
    double thickness, diameter, pitch, depth, flank_angle, clearance;
    bool internal, left;
    const char *file;
    number_list scale;
    double cell;
    const node *fields;
    double rounding;
    pose_data pose;
} field_data;

typedef struct decompose_data {
    const node *at;
    double concavity;
    int64_t parts;
    bool show;
} decompose_data;

typedef struct shape_data {
    const node *at;
    const char *name;
    int type;
    double radius, length, size[3], radii[3];
    const char *file;
    number_list scale, points, triangles;
    bool open;
    decompose_data decompose;
    number_list heights;
    int64_t columns;
    double extent[2];
    field_data field;
    double resolution;
    int compliance; /* COMPLIANT_* */
    double field_edge;
    const node *shapes;
    pose_data pose;
    double density, mass;
    const char *material;
    int use;
    double color[4];
    int64_t group, mask;
    bool across_joint;
    double surface_velocity[6], friction_direction[3];
} shape_data;

typedef struct site_data {
    const node *at;
    const char *name;
    pose_data pose;
} site_data;

typedef struct drag_data {
    const node *at;
    int type; /* that of the library less 1 */
    pose_data pose;
    double size[3], radii[3], blunt, slender, angular, kutta, magnus;
} drag_data;

/* Of one value or of three. */
typedef struct sine_data {
    const node *at;
    double amplitude[3], frequency, phase, phase_deg, offset[3];
} sine_data;

typedef struct track_data {
    const node *at;
    number_list times, values;
    int interpolation;
    sine_data sine;
    const node *expression; /* a text, or an array of texts */
} track_data;

/* Solids of soft bodies, as shapes are numbered as far as they are the same. */
enum {
    SOFT_SPHERE,
    SOFT_BOX,
    SOFT_CAPSULE,
    SOFT_CYLINDER,
    SOFT_ELLIPSOID,
    SOFT_TUBE,
    SOFT_MESH,
    SOFT_TETRAHEDRA,
    SOFT_SOURCES
};

typedef struct attachment_data {
    const node *at;
    const char *body;
    double min[3], max[3], distance, stiffness, dissipation;
} attachment_data;

typedef struct soft_data {
    const node *at;
    int type;
    double radius, bore, length, size[3], radii[3];
    const char *file;
    number_list scale;
    double edge;
    int law, elasticity;
    double modulus, poisson, density, dissipation, thickness;
    const char *material;
    double color[4];
    int64_t group, mask;
    const node *attachments, *cuts, *inextensible;
    track_data pressure;
} soft_data;

/* Edges that keep their length. */
typedef struct layer_data {
    const node *at;
    double min[3], max[3];
} layer_data;

/* Tetrahedra that are left out. */
typedef struct cut_data {
    const node *at;
    double min[3], max[3];
} cut_data;

typedef struct body_data {
    const node *at;
    const char *name, *parent;
    pose_data pose;
    joint_data joint;
    inertia_data inertia;
    soft_data soft;
    const node *drag;
    const node *shapes, *sites;
    number_list q, q_deg, v;
} body_data;

typedef struct repeat_data {
    const node *at;
    int placement;
    int64_t count;
    double counts[3];
    double offset[3], spacing[3], jitter, min[3], max[3];
    int64_t seed;
    bool random_orientation;
    double radius;
    const char *on;
    pose_data pose;
} repeat_data;

enum { PLACE_LINE, PLACE_GRID, PLACE_COLUMNS, PLACE_SCATTER, PLACE_SERIES, PLACEMENTS };

typedef struct instance_data {
    const node *at;
    const char *model, *file, *prefix, *parent;
    pose_data pose;
    joint_data joint;
    repeat_data repeat;
    const char *start;
    const node *overrides;
} instance_data;

typedef struct model_data {
    const node *at;
    const char *description;
    const node *bodies, *instances, *initial, *keyframes, *actuators, *controllers, *sensors, *loads, *exclusions,
        *tendons, *constraints;
    bool self_contact;
    int exclude;
} model_data;

typedef struct exclusion_data {
    const node *at;
    const char *first, *second;
} exclusion_data;

typedef struct initial_data {
    const node *at;
    number_list q, q_deg, v;
} initial_data;

typedef struct keyframe_data {
    const node *at;
    const char *name;
    double time;
    const node *initial, *ctrl;
} keyframe_data;

typedef struct drive_data {
    const node *at;
    double ctrl, activation;
} drive_data;

typedef struct activation_data {
    const node *at;
    int type;
    number_list time_constant;
    double range[2], initial;
} activation_data;

typedef struct slider_crank_data {
    const node *at;
    const char *crank_site, *slider_site;
    double length;
} slider_crank_data;

typedef struct muscle_data {
    const node *at;
    double force, scale, length_range[2], range[2], lmin, lmax, vmax, fpmax, fvmax;
} muscle_data;

typedef struct actuator_data {
    const node *at;
    const char *name, *joint, *site, *reference_site;
    slider_crank_data slider_crank;
    const char *tendon, *contacts_of;
    int64_t dof;
    double kp, kd, effort;
    bool gravity_compensation;
    track_data target, feedforward;
    number_list gear;
    bool gear_in_parent;
    track_data ctrl;
    double ctrl_range[2], delay, gain[3], bias[3], force_range[2];
    activation_data activation;
    muscle_data muscle;
} actuator_data;

typedef struct load_data {
    const node *at;
    const char *name, *body, *site, *joint;
    int64_t dof;
    double point[3];
    int frame;
    track_data force, torque, value;
} load_data;

typedef struct path_data {
    const node *at;
    const char *site, *around, *side;
    double pulley;
} path_data;

typedef struct tendon_joint_data {
    const node *at;
    const char *joint;
    int64_t dof;
    double coefficient;
} tendon_joint_data;

typedef struct tendon_data {
    const node *at;
    const char *name;
    const node *joints, *path;
    double range[2], limit_stiffness, limit_dissipation, limit_restitution, stiffness, damping;
    double spring_terms[2], damper_terms[2];
    number_list rest;
    double friction, armature, effort_range[2], width, color[4];
} tendon_data;

typedef struct sensor_data {
    const node *at;
    const char *name;
    int type;
    const char *joint;
    int64_t dof;
    const char *actuator, *tendon, *site, *body;
    double radius;
    const char *reference_site, *reference;
    double range, saturation, delay;
} sensor_data;

typedef struct constraint_data {
    const node *at;
    const char *name;
    int type;
    const char *first, *second, *first_site, *second_site;
    pose_data first_pose, second_pose;
    double first_point[3], second_point[3], distance, rest;
    int64_t first_dof, second_dof;
    double offset, ratio, polynomial[5], stiffness, dissipation, damping;
    bool active;
} constraint_data;

typedef struct controlled_actuator_data {
    const node *at;
    const char *actuator;
} controlled_actuator_data;

typedef struct target_keyframe_data {
    const node *at;
    const char *keyframe;
} target_keyframe_data;

typedef struct controller_target_data {
    const node *at;
    number_list times;
    const node *poses, *keyframes;
    number_list points, values;
    const char *site, *frame;
    int interpolation;
} controller_target_data;

typedef struct phase_target_data {
    const node *at;
    const char *controller;
    pose_data pose;
    const char *keyframe;
    number_list values;
    controller_target_data track;
    const char *site;
    double duration;
} phase_target_data;

typedef struct phase_switch_data {
    const node *at;
    const char *constraint;
    int to;
} phase_switch_data;

typedef struct transition_data {
    const node *at;
    const char *to;
    double after, at_time;
    const char *sensor;
    int64_t component;
    double above, below;
    const char *first_site, *second_site;
    double nearer, farther;
    const char *first_body, *second_body;
    bool pressed;
} transition_data;

typedef struct phase_data {
    const node *at;
    const char *name;
    const node *targets, *switches, *next;
} phase_data;

typedef struct controller_data {
    const node *at;
    const char *name;
    int type;
    const node *actuators;
    const char *site;
    number_list stiffness, damping;
    double damping_ratio;
    bool gravity_compensation;
    double posture_rate;
    const char *posture;
    controller_target_data target;
    const node *phases;
} controller_data;

typedef struct point_data {
    const node *at;
    const char *name, *body, *site;
    double point[3];
} point_data;

typedef struct record_data {
    const node *at;
    int64_t every;
    unsigned signals;
    const node *points, *events;
} record_data;

typedef struct event_data {
    const node *at;
    const char *name;
    int type;
    const char *body;
    double point[3];
    const char *other;
    double min[3], max[3];
    const char *sensor;
    int64_t component;
    bool potential;
    double level;
    bool stop;
} event_data;

enum {
    SIGNAL_COORDINATES,
    SIGNAL_VELOCITIES,
    SIGNAL_POSES,
    SIGNAL_TWISTS,
    SIGNAL_ENERGY,
    SIGNAL_MOMENTUM,
    SIGNAL_EFFORTS,
    SIGNAL_STATISTICS,
    SIGNAL_CONTACTS,
    SIGNAL_SENSORS,
    SIGNALS
};

typedef struct camera_data {
    const node *at;
    const char *name;
    double position[3], target[3], fov, fov_deg;
} camera_data;

typedef struct scene_data {
    const node *at;
    int64_t version;
    const char *schema, *name, *description;
    world_data world;
    const node *exclusions, *materials, *material_pairs, *bodies, *models, *instances, *initial, *keyframes, *actuators,
        *controllers, *sensors, *loads, *tendons, *constraints;
    bool self_contact;
    int exclude;
    record_data record;
    const node *cameras;
} scene_data;

#endif
