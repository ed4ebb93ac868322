/* Contacts and memory: a frame like the last takes none, whatever shapes touch; and wherever it runs out this is said
 * and survived. */
#include "collide/support.h"
#include "math/spatial.h"
#include "support/meshes.h"
#include "support/share.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <string.h>

/* One free body of every kind of shape, close to its neighbours, on every kind of ground. */
static sim_model *everything(void) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = plain_shape(SIM_HALF_SPACE, 0, 0, 0), shape = sim_shape_default();
    sim_field_def round = sim_field_default();
    const double heights[4] = {0.01, 0.02, 0.02, 0.01}, extent[2] = {4, 4};
    const sim_geometry *ring = sim_builder_add_geometry(b, soup_geometry(soup_torus(0.1, 0.04, 16, 8)));
    const sim_geometry *block = sim_builder_add_geometry(b, soup_geometry(soup_box(0.2, 0.2, 0.2)));
    const sim_geometry *ground = sim_builder_add_geometry(b, sim_geometry_heights(2, 2, extent, heights, NULL));
    round.type = SIM_FIELD_BOX;
    round.size[0] = round.size[1] = round.size[2] = 0.15;
    round.rounding = 0.02;
    const sim_geometry *field = sim_builder_add_geometry(b, sim_geometry_field(&round, 0.03, NULL, NULL));
    const struct {
        sim_shape_type type;
        double size[3];
        const sim_geometry *geometry;
        bool soft;
    } kind[] = {{SIM_SPHERE, {0.1, 0, 0}, NULL, false},
                {SIM_BOX, {0.2, 0.2, 0.2}, NULL, false},
                {SIM_CAPSULE, {0.05, 0.2, 0}, NULL, false},
                {SIM_CYLINDER, {0.1, 0.2, 0}, NULL, false},
                {SIM_ELLIPSOID, {0.1, 0.1, 0.12}, NULL, false},
                {SIM_MESH, {0}, block, false},
                {SIM_MESH, {0}, ring, false},
                {SIM_SDF, {0}, field, false},
                {SIM_SPHERE, {0.1, 0, 0}, NULL, true}};
    enum { KINDS = sizeof kind / sizeof kind[0] };
    sim_material rubber = sim_material_default();
    rubber.name = "rubber";
    rubber.modulus = 1e5;
    int soft = sim_builder_add_material(b, &rubber);
    sim_shape ball = sphere_shape(0.1);
    const sim_geometry *pressure = sim_builder_add_geometry(b, sim_shape_pressure(&ball, 0, NULL));
    sim_builder_add_shape(b, &floor);
    shape.type = SIM_HEIGHT_FIELD;
    shape.geometry = ground;
    sim_builder_add_shape(b, &shape);
    for (int i = 0; i < KINDS * KINDS; i++) {
        int k = i % KINDS, row = i / KINDS;
        shape = plain_shape(kind[(k * (row + 1)) % KINDS].type, 0, 0, 0);
        shape.geometry = kind[(k * (row + 1)) % KINDS].geometry;
        if (kind[(k * (row + 1)) % KINDS].soft) {
            shape.pressure = pressure;
            shape.material = soft;
        }
        for (int j = 0; j < 3; j++) {
            shape.size[j] = kind[(k * (row + 1)) % KINDS].size[j];
        }
        add_solid(b, NULL, &shape, (sim_v3){0.19 * (k - 3), 0.19 * (row - 3), 0.1}, 0);
    }
    return finished(b);
}

static void tremble(stage *s, random_source *r, const sim_pose *home) {
    for (int i = 1; i < s->model->nbody; i++) {
        s->pose[i].R = m3_product(m3_axis_angle(random_unit(r), random_uniform(r, 0, 1e-4)), home[i].R);
        s->pose[i].p = v3_axpy(home[i].p, 1e-4, random_unit(r));
    }
}

Test(collision_memory, a_frame_like_the_last_allocates_nothing) {
    for (int threads = is_part() ? 2 : 1; threads <= 2; threads++) {
        random_source r = {3};
        sim_pose home[100];
        stage s = stage_create(everything(), NAN, threads);
        for (int i = 0; i < s.model->nbody; i++) {
            home[i] = s.pose[i];
        }
        long before = 0;
        for (int frame = 0; frame < 60; frame++) {
            tremble(&s, &r, home);
            before = frame == 40 ? watched.calls : before;
            stage_look(&s, 1);
        }
        cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
        cr_expect_gt(s.count, 100);
        stage_free(&s);
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
}

Test(collision_memory, running_out_of_it_anywhere_is_said_and_survived) {
    sim_model *m = everything();
    int failures = 0;
    for (long n = 1;; n += is_part() ? 5 : 1) {
        sim_error error = {0};
        sim_world *w = sim_world_create(m, NULL, &error);
        const sim_contact *contact;
        int count = 0;
        watched.calls = 0;
        watched.fail_at = n;
        sim_status status = sim_world_contacts(w, &contact, &count, &error);
        watched.fail_at = 0;
        if (watched.calls < n) {
            cr_assert_eq(status, SIM_OK);
            sim_world_free(w);
            break;
        }
        failures++;
        cr_assert_eq(status, SIM_NO_RESOURCE, "allocation %ld", n);
        cr_assert(strstr(error.text, "no memory"), "allocation %ld: %s", n, error.text);
        cr_assert_eq(sim_world_contacts(w, &contact, &count, &error), SIM_OK, "and then it goes on");
        cr_assert_gt(count, 100);
        sim_world_free(w);
    }
    cr_expect_gt(failures, part_of(10));
    sim_model_free(m);
}
