/* Words of other formats (MJCF, URDF, SDFormat, Drake, Siconos, Bullet) and their equivalents here. */
#include "scene/format/foreign.h"

#include <stdio.h>
#include <string.h>

#define IN_INERTIA                                                                                                     \
    "mass properties of a body: \"inertia\": {\"mass\": ..., \"moments\": [...]}, or \"mass\" or \"density\" of its "  \
    "shapes"
#define IN_POSE                                                                                                        \
    "its place is \"pose\": {\"position\": [x, y, z], \"quaternion\": [w, x, y, z]}, or \"rpy_deg\" for the latter"
#define IN_JOINT "that belongs into the body's \"joint\": {\"type\": ..., ...}"
#define IN_MATERIAL "surfaces are \"materials\" of the scene, which a shape names: \"material\": \"rubber\""
#define IN_WORLD "that belongs into \"world\""
#define IN_RANGE "the ends of a joint are its \"range\": [low, high], or \"range_deg\""
#define IN_SHAPES "shapes are listed in \"shapes\": [{\"type\": ...}], for contacts and pictures alike"
#define OF_ACTUATOR "motors are \"actuators\" of the scene: {\"joint\": ..., \"kp\": ..., \"kd\": ...}"

typedef struct foreign_key {
    const char *words; /* with spaces between and around */
    const char *said;
} foreign_key;

static const foreign_key of_scene[] = {
    {" gravity step timestep dt duration integrator solver option options seed contacts threads tolerance "
     "contact_margin ",
     IN_WORLD},
    {" worldbody links link rigid_bodies objects ", "they are \"bodies\", each with the joint to its parent"},
    {" joints joint ", "a joint is the \"joint\" of the body that it moves: {\"type\": \"hinge\", \"axis\": [...]}"},
    {" geoms geometries collisions ", "shapes are listed in the \"shapes\" of a body"},
    {" motors motor controllers control ", OF_ACTUATOR},
    {" equality equalities welds springs ", "they are \"constraints\""},
    {" tendon strings ropes cables ", "they are \"tendons\": [{\"name\": ..., \"path\": [...]}]"},
    {" forces ", "they are \"loads\""},
    {" keyframe keyframes state ", "the state at the start is \"initial\": {\"name\": q}"},
    {" include assets asset meshes ",
     "another file is an instance: \"instances\": [{\"file\": ...}]; meshes are named by shapes"},
    {" sensors sensor output outputs ", "recorded output is set in \"record\""},
    {" version format ", "the version of the format is \"sim\": 1"},
    {" exclude collision_filter ", "they are \"exclusions\": [{\"first\": ..., \"second\": ...}]"},
    {NULL, NULL}};

static const foreign_key of_world[] = {
    {" dt h timestep time_step ", "that is \"step\", in seconds"},
    {" time end_time t_end tmax stop_time horizon ", "that is \"duration\", in seconds"},
    {" g ", "that is \"gravity\": [0, 0, -9.81]"},
    {" iterations ls_iterations ",
     "those of a contact solver are options of it: \"solver\": \"pgs:max_iterations=100\""},
    {" friction restitution mu ", IN_MATERIAL},
    {NULL, NULL}};

static const foreign_key of_body[] = {
    {" mass density com moments ixx iyy izz inertial moi inertia_tensor ", IN_INERTIA},
    {" position pos origin xyz translation location transform x y z ", IN_POSE},
    {" quaternion quat rpy rpy_deg euler orientation rotation axis_angle rot ", IN_POSE},
    {" geom geoms geometry geometries collision collisions collider colliders visual visuals ", IN_SHAPES},
    {" static fixed kinematic dynamic is_static type free floating freejoint ",
     "its motion is set by \"joint\": \"fixed\" (the default), \"free\", \"hinge\", ..."},
    {" axis axis2 range range_deg limit limits damping stiffness armature friction effort pitch lower upper ",
     IN_JOINT},
    {" velocity linear_velocity angular_velocity twist qvel vel omega w ", "the velocity at the start is \"v\""},
    {" qpos angle coordinate ", "the coordinates at the start are \"q\", or \"q_deg\""},
    {" children child bodies body links ", "each body names its \"parent\"; all are in one list"},
    {" joints ", "a body has one \"joint\"; for more add bodies of very small mass between"},
    {" mu restitution material color rgba colour group mask ", "that belongs to the shapes of the body"},
    {" actuator motor kp kd ", OF_ACTUATOR},
    {NULL, NULL}};

static const foreign_key of_joint[] = {
    {" limit limits lower upper min max low high lo hi limited ", IN_RANGE},
    {" name ", "a joint has the name of its body"},
    {" parent child body1 body2 ", "the joint belongs to the body that it moves; that names its \"parent\""},
    {" origin pose pos position xyz rpy anchor frame ", "the joint is at the \"pose\" of its body"},
    {" frictionloss coulomb mu dry_friction static_friction ", "dry friction of a joint is \"friction\""},
    {" ref springref rest_length spring_ref ", "the rest coordinate of its spring is \"rest\""},
    {" spring k spring_stiffness ", "that is \"stiffness\""},
    {" dynamics viscous viscosity c ", "viscous damping is \"damping\""},
    {" rotor_inertia rotorinertia inertia ", "the rotor's inertia is \"armature\""},
    {" mimic gear ", "coupled coordinates are a constraint of type \"coupling\""},
    {" kp kd motor actuator target control ", OF_ACTUATOR},
    {" q angle qpos v ", "the state at the start is \"q\" and \"v\" of the body"},
    {" forcerange max_force max_torque ", "that is \"effort\""},
    {" restitution bounce limit_bounce ", "that is \"limit_restitution\", at the ends of its range"},
    {NULL, NULL}};

static const foreign_key of_shape[] = {
    {" mu mu1 mu2 friction restitution bounce stiffness dissipation damping surface solref solimp condim e margin "
     "rolling torsion rolling_friction rolling_resistance torsional_friction spinning_friction ",
     IN_MATERIAL},
    {" soft hydroelastic pressure pressure_field modulus youngs_modulus hydroelastic_modulus ",
     "a soft solid has \"compliance\": \"field\" and a material with a \"modulus\""},
    {" position pos origin xyz translation quaternion quat rpy rpy_deg euler orientation rotation ", IN_POSE},
    {" rgba colour diffuse ", "that is \"color\": [r, g, b, a]"},
    {" half_extents halfextents half_size extents dimensions dims ", "a box has \"size\": [x, y, z], its full edges"},
    {" height half_length halflength h ", "that is \"length\", the whole of it"},
    {" diameter ", "that is \"radius\", half of it"},
    {" contype collision_group category ", "that is \"group\""},
    {" conaffinity collision_mask ", "that is \"mask\""},
    {" filename uri url path mesh ", "that is \"file\""},
    {" vertices vertex verts ", "that is \"points\""},
    {" faces face indices ", "that is \"triangles\""},
    {" inertia com ", "mass properties of a body that do not follow from shapes are its \"inertia\""},
    {" normal ", "a half_space is solid below z = 0 of its \"pose\""},
    {NULL, NULL}};

static const foreign_key of_material[] = {
    {" mu mu1 mu2 static_friction dynamic_friction friction_coefficient coefficient coulomb ",
     "that is \"friction\", one coefficient, or two: along and across"},
    {" e ", "restitution is \"restitution\", an elastic modulus \"modulus\""},
    {" bounce cor bounciness ", "that is \"restitution\""},
    {" damping d c ", "that is \"dissipation\", damping over stiffness"},
    {" k kn ", "that is \"stiffness\", in N/m"},
    {" young youngs youngs_modulus young_modulus elastic_modulus hydroelastic_modulus ",
     "that is \"modulus\", in Pa, of shapes with \"compliance\": \"field\""},
    {" rolling_resistance rolling_friction rollingfriction rolling_coefficient ", "that is \"rolling\", a length in m"},
    {" spin spinning_friction spinningfriction torsional torsional_friction torsional_coefficient ",
     "that is \"torsion\", a length in m"},
    {" density mass color rgba ", "that belongs to shapes"},
    {NULL, NULL}};

static const foreign_key of_actuator[] = {
    {" kv d damping kd_gain ", "that is \"kd\""},
    {" p stiffness k ", "that is \"kp\""},
    {" limit limits max_force max_torque torque_limit ", "that is \"effort\""},
    {" forcerange ", "that is \"force_range\""},
    {" ctrlrange ", "that is \"ctrl_range\""},
    {" gainprm ", "that is \"gain\""},
    {" biasprm ", "that is \"bias\""},
    {" dyntype dynprm timeconst actrange ", "that is \"activation\""},
    {" setpoint position reference q_des ref desired trajectory ", "that is \"target\""},
    {" torque force ", "that is \"feedforward\", or \"ctrl\" behind a gear"},
    {" control input ", "that is \"ctrl\""},
    {" gear_ratio transmission ratio ", "that is \"gear\""},
    {" body ", "that is \"joint\", the name of the body whose joint it drives"},
    {NULL, NULL}};

static const foreign_key of_load[] = {{" pos position at ", "that is \"point\""},
                                      {" moment ", "that is \"torque\""},
                                      {" wrench ", "that is \"force\" and \"torque\""},
                                      {" link ", "that is \"body\""},
                                      {NULL, NULL}};

static const foreign_key of_two[] = {
    {" body1 link1 geom1 parent a from bodies ", "that is \"first\""},
    {" body2 link2 geom2 child b to ", "that is \"second\""},
    {" anchor point pos ", "that is \"first_point\" and \"second_point\", each in the frame of its body"},
    {" polycoef gear_ratio multiplier ", "that is \"ratio\""},
    {" length ", "that is \"distance\", of a spring \"rest\""},
    {NULL, NULL}};

static const foreign_key of_inertia[] = {
    {" ixx iyy izz ixy ixz iyz fullinertia tensor ", "that is \"matrix\": [ixx, iyy, izz, ixy, ixz, iyz]"},
    {" diaginertia inertia diagonal ", "that is \"moments\": [a, b, c], or \"matrix\""},
    {" pos position origin center centre ", "that is \"com\""},
    {NULL, NULL}};

static const foreign_key of_pose[] = {
    {" pos xyz translation origin p x y z ", "that is \"position\": [x, y, z]"},
    {" quat rotation orientation rot q ", "that is \"quaternion\": [w, x, y, z]"},
    {" euler euler_deg ", "that is \"rpy\", or \"rpy_deg\": roll, pitch, yaw about fixed axes"},
    {NULL, NULL}};

static const foreign_key of_others[] = {{" pos eye ", "that is \"position\""},
                                        {" lookat look_at at ", "that is \"target\""},
                                        {" fovy ", "that is \"fov\", in radians, or \"fov_deg\""},
                                        {" name ", "copies get a \"prefix\""},
                                        {" dt rate interval ", "that is \"every\", in steps"},
                                        {NULL, NULL}};

static const struct {
    const table *t;
    const foreign_key *keys;
} lists[] = {
    {&table_scene, of_scene},       {&table_world, of_world},     {&table_body, of_body},
    {&table_joint, of_joint},       {&table_shape, of_shape},     {&table_material, of_material},
    {&table_actuator, of_actuator}, {&table_load, of_load},       {&table_constraint, of_two},
    {&table_exclusion, of_two},     {&table_inertia, of_inertia}, {&table_pose, of_pose},
    {&table_camera, of_others},     {&table_instance, of_others}, {&table_record, of_others},
    {&table_model, of_scene},
};

/* The word in small letters with a space before and behind; false if it is too long. */
static bool frame_word(const char *word, char framed[40]) {
    size_t length = strlen(word);
    if (length == 0 || length > 32) {
        return false;
    }
    framed[0] = ' ';
    for (size_t k = 0; k < length; k++) {
        framed[k + 1] = word[k] >= 'A' && word[k] <= 'Z' ? (char)(word[k] - 'A' + 'a') : word[k];
    }
    strcpy(framed + length + 1, " ");
    return strchr(word, ' ') == NULL;
}

const char *foreign_find_key(const table *t, const char *key) {
    char framed[40];
    for (size_t k = 0; frame_word(key, framed) && k < sizeof lists / sizeof lists[0]; k++) {
        for (const foreign_key *entry = lists[k].t == t ? lists[k].keys : NULL; entry && entry->words; entry++) {
            if (strstr(entry->words, framed)) {
                return entry->said;
            }
        }
    }
    return NULL;
}

/* ---- values ---- */

static const struct {
    const char *words, *name, *more;
} values[] = {
    {" revolute rotary rotational rotation rotoid pin ", "hinge", ""},
    {" continuous ", "hinge", ", without a \"range\""},
    {" prismatic linear translational translation slide ", "slider", ""},
    {" floating freejoint 6dof float quaternion_floating ", "free", ""},
    {" spherical ballsocket ball_socket ball_rpy gimbal ", "ball", ""},
    {" helical ", "screw", ""},
    {" weld static none ", "fixed", ""},
    {" plane ground halfspace infinite_plane floor ", "half_space", ", solid below z = 0 of its \"pose\""},
    {" cube cuboid block ", "box", ", whose \"size\" are its full edges"},
    {" ball ", "sphere", ""},
    {" hull convexhull convex_hull polyhedron polytope ", "convex", ", of \"points\" or a \"file\""},
    {" hfield heightmap heightfield terrain ", "height_field", ""},
    {" trimesh triangle_mesh triangles ", "mesh", ""},
    {" tube ring torus cone revolved lathe ", "sdf", ", whose field rotates a \"profile\""},
    {" gear mimic ", "coupling", ""},
    {" rod tendon rope ", "distance", ""},
    {" ball point loop pin ", "connect", ""},
    {" fixed ", "weld", ""},
    {" spring_damper ", "spring", ""},
    {" semi_implicit semi-implicit semi_implicit_euler euler ", "symplectic", ""},
    {" backward_euler implicit_euler implicitfast backward ", "implicit", ""},
    {" runge_kutta runge-kutta rungekutta ", "rk4", ""},
    {" newton ", "canal", ", a Newton method"},
    {" lemke dantzig lcp ", "mlcp-pivot", ""},
    {" q qpos positions angles ", "coordinates", ""},
    {" v qvel rates ", "velocities", ""},
    {" forces contact_forces ", "contacts", ""},
    {" torques ", "efforts", ""},
    {" natural spline3 ", "spline", ""},
    {" step constant zoh ", "hold", ""},
};

const char *foreign_find_value(const field *f, const char *value, char *text, size_t size) {
    char framed[40];
    for (size_t k = 0; frame_word(value, framed) && k < sizeof values / sizeof values[0]; k++) {
        bool known = false;
        for (int i = 0; f->name_of(i) && !known; i++) {
            known = strcmp(f->name_of(i), values[k].name) == 0;
        }
        if (known && strstr(values[k].words, framed)) {
            snprintf(text, size, "here that is \"%s\"%s", values[k].name, values[k].more);
            return text;
        }
    }
    return NULL;
}
