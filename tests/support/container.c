#include "support/container.h"
#include "math/v3.h"

static void add_box(sim_builder *b, v3 size, v3 at, int material) {
    sim_shape box = sim_shape_default();
    box.type = SIM_BOX;
    box.size[0] = size.x;
    box.size[1] = size.y;
    box.size[2] = size.z;
    box.pose.p = at;
    box.material = material;
    sim_builder_add_shape(b, &box);
}

static void add_walls(sim_builder *b, double height, int material) {
    for (int k = 0; k < 2; k++) {
        double sign = k ? 1 : -1;
        add_box(b, v3_make(0.05, 0.9, height), v3_make(sign * 0.425, 0, height / 2), material);
        add_box(b, v3_make(0.9, 0.05, height), v3_make(0, sign * 0.425, height / 2), material);
    }
}

sim_model *clutter_model(random_source *r, int count, int walls, double stiffness, double dissipation) {
    sim_builder *b = sim_builder_create();
    sim_material material = sim_material_default();
    material.name = "rough";
    material.friction = 1;
    material.stiffness = stiffness;
    material.dissipation = dissipation;
    int rough = sim_builder_add_material(b, &material);
    sim_shape ground = sim_shape_default();
    ground.type = SIM_HALF_SPACE;
    ground.material = rough;
    sim_builder_add_shape(b, &ground);
    if (walls) {
        add_walls(b, 0.12 * (count / 4 + 4), rough);
    }
    for (int i = 0; i < count; i++) {
        sim_body_def def = sim_body_default();
        sim_shape solid = sim_shape_default();
        int box = random_index(r, 2), column = i % 4;
        quat turn = quat_from_matrix(random_rotation(r));
        solid.type = box ? SIM_BOX : SIM_SPHERE;
        solid.size[0] = box ? 0.1 : 0.05;
        solid.size[1] = solid.size[2] = 0.1;
        solid.material = rough;
        def.inertia = sim_shape_inertia(&solid, 1000);
        def.q[0] = (column % 2 ? 0.2 : -0.2) + random_uniform(r, -5e-3, 5e-3);
        def.q[1] = (column / 2 ? 0.2 : -0.2) + random_uniform(r, -5e-3, 5e-3);
        def.q[2] = 0.06 + 0.12 * (i / 4);
        def.q[3] = turn.w;
        def.q[4] = turn.x;
        def.q[5] = turn.y;
        def.q[6] = turn.z;
        solid.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &solid);
    }
    return sim_builder_finish(b, NULL);
}
