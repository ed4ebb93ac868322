#include "collide/support.h"
#include "math/spatial.h"

#include <criterion/criterion.h>
#include <stdlib.h>

sim_shape plain_shape(sim_shape_type type, double a, double b, double c) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = a, s.size[1] = b, s.size[2] = c;
    return s;
}

sim_shape sphere_shape(double radius) { return plain_shape(SIM_SPHERE, radius, 0, 0); }
sim_shape box_shape(double x, double y, double z) { return plain_shape(SIM_BOX, x, y, z); }

int add_solid(sim_builder *builder, const char *name, const sim_shape *shape, sim_v3 at, int fixed) {
    sim_body_def def = sim_body_default();
    def.name = name;
    if (fixed) {
        def.joint = SIM_FIXED;
        def.placement.p = at;
    } else {
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.q[0] = at.x, def.q[1] = at.y, def.q[2] = at.z, def.q[3] = 1;
    }
    int body = sim_builder_add_body(builder, &def);
    sim_shape placed = *shape;
    placed.body = body;
    sim_builder_add_shape(builder, &placed);
    return body;
}

sim_model *finished(sim_builder *builder) {
    sim_error error = {0};
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert(model, "%s", error.text);
    return model;
}

sim_pose pose_at(double x, double y, double z) {
    pose X = pose_identity();
    X.p = v3_make(x, y, z);
    return X;
}

sim_pose random_pose(random_source *r, double spread) {
    pose X = {random_rotation(r), {0, 0, 0}};
    X.p = v3_make(random_uniform(r, -spread, spread), random_uniform(r, -spread, spread),
                  random_uniform(r, -spread, spread));
    return X;
}

stage stage_create(sim_model *model, double margin, int threads) {
    stage s = {.model = model, .step = 1e-3};
    s.collision = collision_create(model, margin);
    s.threads = threads_create(threads);
    s.pose = calloc((size_t)model->nbody, sizeof *s.pose);
    s.velocity = calloc((size_t)model->nbody, sizeof *s.velocity);
    cr_assert(s.collision && s.threads && s.pose && s.velocity);
    sim_derived *d = sim_derived_create(model, NULL);
    sim_poses(d, sim_all(model), model->q_initial);
    for (int i = 0; i < model->nbody; i++) {
        s.pose[i] = d->pose[i];
    }
    sim_derived_free(d);
    return s;
}

void stage_look(stage *s, int remember) {
    sim_error error = {0};
    collision_input in = {.pose = s->pose, .velocity = s->velocity, .step = s->step};
    if (remember) {
        in.before = s->contact;
        in.nbefore = s->count;
    }
    cr_assert_eq(collision_update(s->collision, &in, s->threads, &error), SIM_OK, "%s", error.text);
    s->contact = collision_contacts(s->collision, &s->count);
}

void stage_free(stage *s) {
    collision_free(s->collision);
    threads_free(s->threads);
    sim_model_free(s->model);
    free(s->pose);
    free(s->velocity);
}

int stage_contacts_of(const stage *s, const char *a, const char *b) {
    int i = sim_model_find_body(s->model, a), j = sim_model_find_body(s->model, b), count = 0;
    cr_assert(i >= 0 && j >= 0);
    for (int k = 0; k < s->count; k++) {
        const sim_contact *c = &s->contact[k];
        count += (c->body_a == i && c->body_b == j) || (c->body_a == j && c->body_b == i);
    }
    return count;
}

sim_model *scattered_solids(random_source *r, int count, double spread) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    sim_builder_add_shape(b, &floor);
    for (int i = 0; i < count; i++) {
        sim_shape shape = i % 3 == 0   ? box_shape(0.1, 0.1, 0.1)
                          : i % 3 == 1 ? sphere_shape(0.05)
                                       : plain_shape(SIM_CYLINDER, 0.05, 0.1, 0);
        add_solid(b, NULL, &shape,
                  (sim_v3){random_uniform(r, 0, spread), random_uniform(r, 0, spread), random_uniform(r, 0, spread)},
                  0);
    }
    return finished(b);
}
