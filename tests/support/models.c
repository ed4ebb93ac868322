#include "models.h"

#include "math/v3.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t next_bits(random_source *r) {
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_uniform(random_source *r, double low, double high) {
    return low + (high - low) * (double)(next_bits(r) >> 11) * 0x1p-53;
}

int random_index(random_source *r, int count) { return (int)(next_bits(r) % (uint64_t)count); }

double random_normal(random_source *r) {
    double u = 1 - random_uniform(r, 0, 1);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * random_uniform(r, 0, 1));
}

sim_v3 random_unit(random_source *r) {
    v3 a = {random_normal(r), random_normal(r), random_normal(r)};
    return v3_scale(1 / v3_norm(a), a);
}

sim_m3 random_rotation(random_source *r) {
    quat q = {random_normal(r), random_normal(r), random_normal(r), random_normal(r)};
    return quat_matrix(quat_normalised(q));
}

sim_inertia box_inertia(double mass, double x, double y, double z) {
    double k = mass / 12;
    return (sim_inertia){mass, {0, 0, 0}, {k * (y * y + z * z), k * (x * x + z * z), k * (x * x + y * y), 0, 0, 0}};
}

sim_inertia random_inertia(random_source *r) {
    sim_inertia box = box_inertia(random_uniform(r, 0.2, 5), random_uniform(r, 0.05, 0.5), random_uniform(r, 0.05, 0.5),
                                  random_uniform(r, 0.05, 0.5));
    sim_pose at = {random_rotation(r), v3_scale(random_uniform(r, 0, 0.3), random_unit(r))};
    return sim_inertia_placed(&box, &at);
}

sim_model *random_forest(random_source *r, int bodies) {
    sim_builder *builder = sim_builder_create();
    for (int i = 1; i <= bodies; i++) {
        sim_body_def def = sim_body_default();
        def.joint = (sim_joint_type)random_index(r, SIM_CARTESIAN);
        def.parent = random_index(r, 8) == 0 ? 0 : random_index(r, 3) ? i - 1 : random_index(r, i);
        def.placement = (sim_pose){random_rotation(r), v3_scale(random_uniform(r, 0, 0.5), random_unit(r))};
        def.axis = random_unit(r);
        def.axis2 = v3_perpendicular(def.axis);
        if (def.joint == SIM_UNIVERSAL) {
            def.axis2 = v3_axpy(def.axis2, random_uniform(r, -2, 2), def.axis);
        }
        def.pitch = random_uniform(r, -0.1, 0.1);
        def.inertia = random_inertia(r);
        for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
            def.armature[k] = random_index(r, 2) ? random_uniform(r, 0, 0.2) : 0;
        }
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}

void random_state(random_source *r, const sim_model *m, double *q, double *v) {
    for (int k = 0; k < m->nq; k++) {
        q[k] = random_uniform(r, -2, 2);
    }
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        if (b->joint == SIM_BALL || b->joint == SIM_FREE) {
            quat unit = quat_from_matrix(random_rotation(r));
            double *at = q + b->q0 + b->nq - 4;
            at[0] = unit.w;
            at[1] = unit.x;
            at[2] = unit.y;
            at[3] = unit.z;
        }
    }
    for (int j = 0; j < m->nv; j++) {
        v[j] = random_uniform(r, -3, 3);
    }
}

sim_model *swinging_chain(int links) {
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < links; i++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.parent = i;
        def.placement.p = (v3){i ? 0.2 : 0, 0, 0};
        def.axis = i % 2 ? (v3){0, 0, 1} : (v3){0, 1, 0};
        def.inertia = box_inertia(0.2, 0.2, 0.02, 0.02);
        def.inertia.com = (v3){0.1, 0, 0};
        def.q[0] = 0.1 * sin(i);
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}

static int add_hinge(sim_builder *builder, int parent, v3 at, v3 axis, v3 size, double mass, v3 com) {
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.parent = parent;
    def.placement.p = at;
    def.axis = axis;
    def.inertia = box_inertia(mass, size.x, size.y, size.z);
    def.inertia.com = com;
    return sim_builder_add_body(builder, &def);
}

static int add_base(sim_builder *builder, v3 size, double mass) {
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(mass, size.x, size.y, size.z);
    return sim_builder_add_body(builder, &def);
}

sim_model *arm_model(void) {
    const double reach[7] = {0, 0.333, 0.316, 0.0825, 0.384, 0.088, 0.107};
    sim_builder *builder = sim_builder_create();
    int parent = 0;
    for (int i = 0; i < 7; i++) {
        v3 axis = i % 2 ? (v3){0, 1, 0} : (v3){0, 0, 1};
        parent = add_hinge(builder, parent, (v3){0, 0, reach[i]}, axis, (v3){0.1, 0.1, 0.3}, 3 - 0.3 * i,
                           (v3){0.01, 0, 0.1});
    }
    return sim_builder_finish(builder, NULL);
}

sim_model *quadruped_model(void) {
    sim_builder *builder = sim_builder_create();
    int trunk = add_base(builder, (v3){0.5, 0.2, 0.1}, 12);
    for (int leg = 0; leg < 4; leg++) {
        double front = leg < 2 ? 1 : -1, left = leg % 2 ? 1 : -1;
        int hip = add_hinge(builder, trunk, (v3){0.2 * front, 0.1 * left, 0}, (v3){1, 0, 0}, (v3){0.1, 0.1, 0.1}, 1,
                            (v3){0, 0.02 * left, 0});
        int thigh = add_hinge(builder, hip, (v3){0, 0.04 * left, 0}, (v3){0, 1, 0}, (v3){0.04, 0.04, 0.25}, 1.5,
                              (v3){0, 0, -0.1});
        add_hinge(builder, thigh, (v3){0, 0, -0.25}, (v3){0, 1, 0}, (v3){0.02, 0.02, 0.25}, 0.3, (v3){0, 0, -0.12});
    }
    return sim_builder_finish(builder, NULL);
}

sim_model *humanoid_model(void) {
    const int joints[5] = {6, 6, 8, 8, 2}; /* two legs, two arms, neck */
    const v3 root[5] = {{0, 0.1, -0.1}, {0, -0.1, -0.1}, {0, 0.2, 0.4}, {0, -0.2, 0.4}, {0, 0, 0.5}};
    const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    sim_builder *builder = sim_builder_create();
    int trunk = add_base(builder, (v3){0.2, 0.4, 0.6}, 20);
    for (int limb = 0; limb < 5; limb++) {
        int parent = trunk;
        for (int k = 0; k < joints[limb]; k++) {
            v3 at = k ? (v3){0, 0, limb < 4 ? -0.1 : 0.1} : root[limb];
            parent = add_hinge(builder, parent, at, axis[k % 3], (v3){0.06, 0.06, 0.12}, 1, (v3){0, 0, -0.05});
        }
    }
    return sim_builder_finish(builder, NULL);
}

sim_model *standing_robot(random_source *r) {
    static const double once[] = {0}, aims[] = {0};
    sim_builder *b = sim_builder_create();
    sim_shape ground = sim_shape_default(), foot = sim_shape_default();
    sim_material rubber = sim_material_default();
    rubber.friction = 1;
    ground.type = SIM_HALF_SPACE;
    ground.material = foot.material = sim_builder_add_material(b, &rubber);
    sim_builder_add_shape(b, &ground);
    double length = random_uniform(r, 0.2, 0.4), radius = 0.02;
    sim_body_def trunk = sim_body_default();
    trunk.joint = SIM_FREE;
    trunk.placement.p.z = length + radius - 2e-5;
    trunk.inertia = box_inertia(random_uniform(r, 3, 10), 0.5, 0.3, 0.1);
    int base = sim_builder_add_body(b, &trunk);
    foot.type = SIM_SPHERE;
    foot.size[0] = radius;
    foot.pose.p.z = -length;
    for (int k = 0; k < 4; k++) {
        sim_body_def leg = sim_body_default();
        leg.joint = SIM_HINGE;
        leg.parent = base;
        leg.axis = (sim_v3){k % 2, 1 - k % 2, 0};
        leg.placement.p = (sim_v3){k < 2 ? 0.2 : -0.2, k == 0 || k == 3 ? 0.15 : -0.15, 0};
        leg.inertia = box_inertia(random_uniform(r, 0.2, 0.6), 0.04, 0.04, length);
        leg.inertia.com.z = -0.5 * length;
        foot.body = sim_builder_add_body(b, &leg);
        sim_builder_add_shape(b, &foot);
        sim_actuator servo = sim_actuator_default();
        servo.kp = random_uniform(r, 100, 300);
        servo.kd = random_uniform(r, 1, 5);
        servo.effort = 1e3;
        servo.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = aims};
        sim_builder_add_actuator(b, foot.body, &servo);
    }
    return sim_builder_finish(b, NULL);
}

void add_gripper(sim_builder *builder, int index, int material, double effort, double kp, double kd) {
    static const double once[] = {0}, inwards[] = {0.05, -0.05};
    char name[16];
    sim_shape pad = sim_shape_default();
    pad.type = SIM_BOX;
    pad.material = material;
    for (int side = 0; side < 2; side++) {
        sim_body_def def = sim_body_default();
        sim_actuator a = sim_actuator_default();
        a.kp = kp;
        a.kd = kd;
        a.effort = effort;
        a.target =
            (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = &inwards[side]};
        snprintf(name, sizeof name, "%s%d", side ? "right" : "left", index);
        def.name = name;
        def.joint = SIM_SLIDER;
        def.axis = (v3){1, 0, 0};
        def.placement.p = (v3){side ? 0.13 : -0.13, 0.5 * index, 0};
        def.inertia = box_inertia(0.2, 0.05, 0.1, 0.1);
        pad.size[0] = 0.05;
        pad.size[1] = pad.size[2] = 0.1;
        pad.body = sim_builder_add_body(builder, &def);
        sim_builder_add_shape(builder, &pad);
        sim_builder_add_actuator(builder, pad.body, &a);
    }
    sim_body_def def = sim_body_default();
    snprintf(name, sizeof name, "box%d", index);
    def.name = name;
    def.inertia = box_inertia(1, 0.2, 0.08, 0.08);
    def.q[1] = 0.5 * index;
    pad.size[0] = 0.2;
    pad.size[1] = pad.size[2] = 0.08;
    pad.body = sim_builder_add_body(builder, &def);
    sim_builder_add_shape(builder, &pad);
}

sim_model *free_bodies(random_source *r, int count) {
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < count; i++) {
        sim_body_def def = sim_body_default();
        def.inertia = random_inertia(r);
        def.q[0] = random_uniform(r, -10, 10);
        def.q[1] = random_uniform(r, -10, 10);
        def.q[2] = random_uniform(r, 0, 10);
        for (int k = 0; k < 6; k++) {
            def.v[k] = random_uniform(r, -2, 2);
        }
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}
