/* Sensors of a model: states at the end of a step; forces and accelerations as means over it.
 *
 * The step satisfies M(q*) a + C(q*, v*) = tau + J' f, with a = (v1 - v0) / dt.  Inverse dynamics at the same q*, v*, a
 * gives the wrench across every joint, from the leaves inwards,
 *
 *     f_i = I_i (a_i - g) + bias_i - f_ext + sum of the children's f,
 *
 * and the proper acceleration a_i - g of every body.  So the wrench at a base is weight plus d(momentum)/dt, and its part
 * along a joint axis is the effort of the joint.
 *
 *     q*, v*      where the integrator takes its forces (find_force_point)
 *     a_i, I_i    acceleration and inertia of body i, bias_i: wrench that velocities alone cost
 *     f_ext       mean forces of loads, contacts, tendons and constraints between bodies (step_forces.c)
 *
 * Reference: Featherstone 2008, section 5.3.   Cost: O(bodies + contacts) a step; O(shapes) for a rangefinder. */
#include "world/sensor/sensors.h"
#include "dyn/motion/advance.h"
#include "dyn/soft/soft_body.h"
#include "model/parts/delay.h"
#include "world/integrator/motion.h"

#include <math.h>
#include <sim/collide.h>
#include <string.h>

sim_status sensors_create(const sim_model *m, const sim_options *options, const sim_equality *equality,
                          const sim_force *drag, const char *damped, memory_pool *pool, world_sensors **out) {
    if (!m->nsensor) {
        return SIM_OK;
    }
    world_sensors *w = *out = POOL_NEW(pool, world_sensors, 1);
    if (!w) {
        return SIM_NO_RESOURCE;
    }
    *w = (world_sensors){.model = m, .options = options, .equality = equality, .drag = drag, .damped = damped};
    w->mean = sim_derived_create(m, NULL);
    w->end = sim_derived_create(m, NULL);
    w->q = POOL_NEW(pool, double, m->nq);
    w->v = POOL_NEW(pool, double, m->nv);
    w->a = POOL_NEW(pool, double, m->nv);
    w->tau = POOL_NEW(pool, double, m->nv);
    w->moment = POOL_NEW(pool, double, m->nv);
    w->external = POOL_NEW(pool, force, m->nbody);
    return w->mean && w->end && w->q && w->v && w->a && w->tau && w->moment && w->external ? SIM_OK : SIM_NO_RESOURCE;
}

void sensors_free(world_sensors *w) {
    if (w) {
        sim_derived_free(w->mean);
        sim_derived_free(w->end);
    }
}

size_t sensors_bytes(const world_sensors *w) { return w ? w->mean->bytes + w->end->bytes : 0; }

/* Internal forces cancel: the wrench on a soft body's frame is that of all held nodes, which their base bears. */
static void pass_to_holders(world_sensors *w) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nsoft; k++) {
        const sim_soft *s = &m->soft[k];
        for (int i = s->base; i > 0; i = m->body[i].parent) {
            v3 apart = v3_sub(w->mean->pose[s->body].p, w->mean->pose[i].p);
            w->mean->force[i] = force_add(w->mean->force[i], force_at_parent(w->mean->force[s->body], apart));
        }
    }
}

/* Has the tree a ball or free joint? */
static bool tree_turns(const sim_model *m, int tree) {
    bool any = false;
    for (int i = m->tree[tree].body0; i < m->tree[tree].body0 + m->tree[tree].nbody; i++) {
        any |= m->body[i].joint == SIM_BALL || m->body[i].joint == SIM_FREE;
    }
    return any;
}

/* The scheme by which a tree moved in the step; rk4 has no point of forces: the middle. */
static const theta_scheme *scheme_of(const world_sensors *w, int tree) {
    sim_integrator by = w->options->integrator == SIM_RK4 ? SIM_MIDPOINT : w->options->integrator;
    return theta_scheme_of(w->damped && w->damped[tree] ? SIM_IMPLICIT_EULER : by);
}

/* The coordinates and velocities at which a step from one state to another takes its forces. */
static void find_force_point(const world_sensors *w, const sim_state *from, const sim_state *to, double *q, double *v) {
    const sim_model *m = w->model;
    double dt = w->options->step;
    for (int tree = 0; tree < m->ntree; tree++) {
        const theta_scheme *s = scheme_of(w, tree);
        const sim_tree *t = &m->tree[tree];
        sim_range bodies = sim_tree_range(m, tree);
        /* positions: along the velocity of the step, or along v0 */
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            v[j] = from->v[j] + (s->explicit_position ? 0 : s->travel) * (to->v[j] - from->v[j]);
        }
        if (s->position == 0.5 && !s->explicit_position) {
            advance_by(m, bodies, ROTATION_CAYLEY_HALF, from->q, v, dt, q);
        } else {
            advance_by(m, bodies, ROTATION_EXP, from->q, v, s->position * dt, q);
        }
        /* velocities */
        double part = tree_turns(m, tree) ? s->turning : s->velocity;
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            v[j] = from->v[j] + part * (to->v[j] - from->v[j]);
        }
    }
}

/* Accelerations and wrenches of the step, in w->mean. */
static void eval_step(world_sensors *w, const sim_state *now, const sim_state *before) {
    const sim_model *m = w->model;
    sim_range all = sim_all(m);
    find_force_point(w, before, now, w->q, w->v);
    for (int j = 0; j < m->nv; j++) {
        w->a[j] = (now->v[j] - before->v[j]) / w->options->step;
    }
    sim_kinematics(w->mean, all, w->q);
    sim_velocities(w->mean, all, w->v);
    sensors_sum_forces(w, now, before);
    sim_rnea(w->mean, all, w->a, w->external, m->gravity, w->tau);
    pass_to_holders(w);
}

/* ---- means over the step ---- */

/* The wrench across the joint of the sensor's body, at the frame and in its axes. */
static force joint_wrench(const world_sensors *w, const sim_sensor *s) {
    const pose *X = &w->mean->pose[s->body];
    v3 lever = m3_times(X->R, s->frame.p);
    force f = w->mean->force[s->body];
    m3 R = m3_product(X->R, s->frame.R);
    return (force){m3_transposed_times(R, v3_sub(f.ang, v3_cross(lever, f.lin))), m3_transposed_times(R, f.lin)};
}

/* Proper acceleration of a frame in world axes: without gravity's part, which rnea gives to the world. */
static motion proper_acceleration(const world_sensors *w, int body, v3 point) {
    if (body == 0) {
        return (motion){{0, 0, 0}, v3_neg(w->model->gravity)};
    }
    v3 r = m3_times(w->mean->pose[body].R, point), omega = w->mean->vel[body].ang;
    motion a = motion_at_child(w->mean->acc[body], r);
    a.lin = v3_add(a.lin, v3_cross(omega, v3_cross(omega, r)));
    return a;
}

/* Normal forces of contacts, over the step. */
static double touch_force(const world_sensors *w, const sim_sensor *s, const sim_state *now) {
    v3 centre = pose_point(w->mean->pose[s->body], s->frame.p);
    double sum = 0;
    for (int k = 0; k < now->ncontact; k++) {
        const sim_contact *c = &now->contact[k];
        if (is_pair_of(w->model, c->body_a, c->body_b, s->body, -1) &&
            v3_norm(v3_sub(c->at.position, centre)) <= s->radius) {
            sum += v3_dot(now->impulse[k], c->at.normal) / w->options->step;
        }
    }
    return sum;
}

/* ---- frames ---- */

static pose frame_pose(const sim_derived *d, int body, const pose *frame) {
    return body ? pose_product(d->pose[body], *frame) : *frame;
}

/* Velocity of a body at a point of the world. */
static motion velocity_at_point(const sim_derived *d, int body, v3 point) {
    const motion none = {{0, 0, 0}, {0, 0, 0}};
    return body ? motion_at_child(d->vel[body], v3_sub(point, d->pose[body].p)) : none;
}

/* Of the frame relative to the reference, in axes of the reference. */
static motion relative_velocity(const sim_derived *d, const sim_sensor *s) {
    pose X = frame_pose(d, s->body, &s->frame), Y = frame_pose(d, s->reference, &s->reference_frame);
    motion a = velocity_at_point(d, s->body, X.p), b = velocity_at_point(d, s->reference, X.p);
    return (motion){m3_transposed_times(Y.R, v3_sub(a.ang, b.ang)), m3_transposed_times(Y.R, v3_sub(a.lin, b.lin))};
}

/* With u = v - v_r and w = omega - omega_r relative to the reference at the point,
 *     acceleration  a - a_r - 2 omega_r x u,      angular  alpha - alpha_r - omega_r x w. */
static motion relative_acceleration(const world_sensors *w, const sim_sensor *s) {
    const sim_derived *d = w->mean;
    pose X = frame_pose(d, s->body, &s->frame), Y = frame_pose(d, s->reference, &s->reference_frame);
    v3 there = m3_transposed_times(d->pose[s->reference].R, v3_sub(X.p, d->pose[s->reference].p));
    motion a = proper_acceleration(w, s->body, s->frame.p);
    motion b = proper_acceleration(w, s->reference, s->reference ? there : X.p);
    motion u = velocity_at_point(d, s->body, X.p), v = velocity_at_point(d, s->reference, X.p);
    v3 lin = v3_axpy(v3_sub(a.lin, b.lin), -2, v3_cross(v.ang, v3_sub(u.lin, v.lin)));
    v3 ang = v3_sub(v3_sub(a.ang, b.ang), v3_cross(v.ang, v3_sub(u.ang, v.ang)));
    return (motion){m3_transposed_times(Y.R, ang), m3_transposed_times(Y.R, lin)};
}

/* ---- the rest ---- */

static double ray_distance(const sim_derived *d, const sim_sensor *s) {
    int shape;
    pose X = frame_pose(d, s->body, &s->frame);
    double t = sim_ray_model(d->model, d->pose, s->body, X.p, X.R.z, s->range, &shape);
    return isfinite(t) ? t : -1;
}

/* Of all actuators, by the moments of their lengths. */
static double joint_effort(const world_sensors *w, const sim_state *now, int dof) {
    const sim_model *m = w->model;
    double sum = 0;
    for (int k = 0; k < m->nactuator; k++) {
        const sim_actuator *a = &m->actuator[k];
        if (a->tree == m->body[m->dof[dof].body].tree) {
            sim_actuator_length(w->mean, k, w->q, w->moment);
            sum += w->moment[dof - m->tree[a->tree].v0] * now->effort[k];
        }
    }
    return sum;
}

/* Mass and centre of mass of a body and all that hangs on it. */
static v3 subtree_centre(const sim_derived *d, int body) {
    double mass = 0;
    v3 sum = {0, 0, 0};
    for (int i = body ? body : 1; i < (body ? d->model->body[body].subtree_end : d->model->nbody); i++) {
        mass += d->I[i].mass;
        sum = v3_add(sum, v3_axpy(d->I[i].h, d->I[i].mass, d->pose[i].p));
    }
    return mass > 0 ? v3_scale(1 / mass, sum) : d->pose[body].p;
}

static double subtree_mass(const sim_derived *d, int body) {
    double mass = 0;
    for (int i = body ? body : 1; i < (body ? d->model->body[body].subtree_end : d->model->nbody); i++) {
        mass += d->I[i].mass;
    }
    return mass;
}

/* Their momentum: angular about the centre of mass, linear. */
static force subtree_momentum(const sim_derived *d, int body) {
    v3 centre = subtree_centre(d, body);
    force sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = body ? body : 1; i < (body ? d->model->body[body].subtree_end : d->model->nbody); i++) {
        const sim_body_inertia *I = &d->I[i];
        motion v = d->vel[i];
        force p = {v3_add(sym3_times(I->I, v.ang), v3_cross(I->h, v.lin)),
                   v3_sub(v3_scale(I->mass, v.lin), v3_cross(I->h, v.ang))};
        sum = force_add(sum, force_at_parent(p, v3_sub(d->pose[i].p, centre)));
    }
    return sum;
}

/* ---- all ---- */

static void store_vector(v3 a, double *out) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static void store_quaternion(quat q, double *out) { memcpy(out, (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof *out); }

/* Forces and accelerations. */
static void read_mean(const world_sensors *w, const sim_sensor *s, const sim_state *now, double *out) {
    m3 R = m3_product(w->mean->pose[s->body].R, s->frame.R);
    switch (s->type) {
    case SIM_SENSE_FORCE:
        store_vector(joint_wrench(w, s).lin, out);
        break;
    case SIM_SENSE_TORQUE:
        store_vector(joint_wrench(w, s).ang, out);
        break;
    case SIM_SENSE_TOUCH:
        *out = touch_force(w, s, now);
        break;
    case SIM_SENSE_ACCELEROMETER:
        store_vector(m3_transposed_times(R, proper_acceleration(w, s->body, s->frame.p).lin), out);
        break;
    case SIM_SENSE_FRAME_ACCELERATION:
        store_vector(relative_acceleration(w, s).lin, out);
        break;
    default:
        store_vector(relative_acceleration(w, s).ang, out);
        break;
    }
}

static bool is_mean(sim_sensor_type type) {
    return type == SIM_SENSE_FORCE || type == SIM_SENSE_TORQUE || type == SIM_SENSE_TOUCH ||
           type == SIM_SENSE_ACCELEROMETER || type == SIM_SENSE_FRAME_ACCELERATION ||
           type == SIM_SENSE_FRAME_ANGULAR_ACCELERATION;
}

/* States of frames, at the end. */
static void read_frame(const sim_derived *d, const sim_sensor *s, double *out) {
    pose X = frame_pose(d, s->body, &s->frame), Y = frame_pose(d, s->reference, &s->reference_frame);
    motion v = velocity_at_point(d, s->body, X.p);
    switch (s->type) {
    case SIM_SENSE_GYRO:
        store_vector(m3_transposed_times(X.R, v.ang), out);
        break;
    case SIM_SENSE_VELOCIMETER:
        store_vector(m3_transposed_times(X.R, v.lin), out);
        break;
    case SIM_SENSE_FRAME_POSITION:
        store_vector(m3_transposed_times(Y.R, v3_sub(X.p, Y.p)), out);
        break;
    case SIM_SENSE_FRAME_ORIENTATION:
        store_quaternion(quat_from_matrix(m3_product(m3_transpose(Y.R), X.R)), out);
        break;
    case SIM_SENSE_FRAME_X_AXIS:
        store_vector(m3_transposed_times(Y.R, X.R.x), out);
        break;
    case SIM_SENSE_FRAME_Y_AXIS:
        store_vector(m3_transposed_times(Y.R, X.R.y), out);
        break;
    case SIM_SENSE_FRAME_Z_AXIS:
        store_vector(m3_transposed_times(Y.R, X.R.z), out);
        break;
    case SIM_SENSE_FRAME_VELOCITY:
        store_vector(relative_velocity(d, s).lin, out);
        break;
    default:
        store_vector(relative_velocity(d, s).ang, out);
        break;
    }
}

/* Length of an actuator, or its rate. */
static double actuator_state(const world_sensors *w, const sim_sensor *s, const sim_state *now) {
    const sim_tree *t = &w->model->tree[w->model->actuator[s->actuator].tree];
    memset(w->moment, 0, (size_t)t->nv * sizeof *w->moment);
    double length = sim_actuator_length(w->end, s->actuator, now->q, w->moment), rate = 0;
    for (int j = 0; j < t->nv; j++) {
        rate += w->moment[j] * now->v[t->v0 + j];
    }
    return s->type == SIM_SENSE_ACTUATOR_LENGTH ? length : rate;
}

/* Momentum of a body with all that hangs on it, or the velocity of their centre. */
static void read_subtree(const sim_derived *d, const sim_sensor *s, double *out) {
    if (s->type == SIM_SENSE_CENTER_OF_MASS) {
        store_vector(subtree_centre(d, s->body), out);
        return;
    }
    force momentum = subtree_momentum(d, s->body);
    if (s->type == SIM_SENSE_CENTER_OF_MASS_VELOCITY) {
        double mass = subtree_mass(d, s->body);
        store_vector(v3_scale(mass > 0 ? 1 / mass : 0, momentum.lin), out);
        return;
    }
    store_vector(momentum.ang, out);
    if (s->type == SIM_SENSE_MOMENTUM) {
        store_vector(momentum.lin, out + 3);
    }
}

/* States, by the type of the sensor. */
static void read_sensor(const world_sensors *w, const sim_sensor *s, const sim_state *now, double *out) {
    const sim_model *m = w->model;
    switch (s->type) {
    case SIM_SENSE_JOINT_POSITION:
        *out = now->q[m->dof[s->dof].coordinate];
        break;
    case SIM_SENSE_JOINT_VELOCITY:
        *out = now->v[s->dof];
        break;
    case SIM_SENSE_JOINT_EFFORT:
        *out = joint_effort(w, now, s->dof);
        break;
    case SIM_SENSE_ACTUATOR_FORCE:
        *out = now->effort[s->actuator];
        break;
    case SIM_SENSE_ACTUATOR_LENGTH:
    case SIM_SENSE_ACTUATOR_VELOCITY:
        *out = actuator_state(w, s, now);
        break;
    case SIM_SENSE_BALL_ORIENTATION:
        memcpy(out, now->q + m->body[s->body].q0, 4 * sizeof *out);
        break;
    case SIM_SENSE_BALL_ANGULAR_VELOCITY:
        memcpy(out, now->v + m->body[s->body].v0, 3 * sizeof *out);
        break;
    case SIM_SENSE_TENDON_LENGTH:
        *out = sim_tendon_length(w->end, s->tendon, now->q);
        break;
    case SIM_SENSE_TENDON_VELOCITY:
        *out = sim_tendon_rate(w->end, s->tendon, now->v);
        break;
    case SIM_SENSE_RANGEFINDER:
        *out = ray_distance(w->end, s);
        break;
    case SIM_SENSE_CENTER_OF_MASS:
    case SIM_SENSE_CENTER_OF_MASS_VELOCITY:
    case SIM_SENSE_ANGULAR_MOMENTUM:
    case SIM_SENSE_MOMENTUM:
        read_subtree(w->end, s, out);
        break;
    default:
        read_frame(w->end, s, out);
        break;
    }
}

/* A reading goes into the history, and an older one takes its place.  Without a step before, nothing grows older. */
static void delay_reading(const world_sensors *w, const sim_sensor *s, sim_state *now, const sim_state *before) {
    int width = sim_sensor_values(s->type), steps = (int)delay_in_steps(s->delay, w->options->step);
    double *history = now->history + s->history, *out = now->sensor + s->first;
    size_t size = (size_t)width * sizeof *out;
    if (before) {
        delay_shift(history, before->history + s->history, width * (s->delay_steps + 1), width);
    }
    memcpy(history, out, size);
    memcpy(out, history + (ptrdiff_t)steps * width, size);
}

/* Numbers beyond the greatest magnitude become that; the -1 of a ray that meets nothing stays. */
static void clamp_reading(const sim_sensor *s, double *out) {
    double least = s->type == SIM_SENSE_RANGEFINDER ? -1 : -s->saturation;
    for (int k = 0; k < sim_sensor_values(s->type); k++) {
        out[k] = max_of(least, min_of(s->saturation, out[k]));
    }
}

void sensors_read(world_sensors *w, sim_state *now, const sim_state *before) {
    /* the step, and its end */
    sim_range all = sim_all(w->model);
    if (before) {
        eval_step(w, now, before);
    }
    sim_kinematics(w->end, all, now->q);
    sim_velocities(w->end, all, now->v);
    /* readings */
    for (int k = 0; k < w->model->nsensor; k++) {
        const sim_sensor *s = &w->model->sensor[k];
        double *out = now->sensor + s->first;
        if (!is_mean(s->type)) {
            read_sensor(w, s, now, out);
        } else if (before) {
            read_mean(w, s, now, out);
        } else {
            memset(out, 0, (size_t)sim_sensor_values(s->type) * sizeof *out);
        }
        if (isfinite(s->saturation)) {
            clamp_reading(s, out);
        }
        if (s->delay > 0) {
            delay_reading(w, s, now, before);
        }
    }
}
