/* Parameters of a pair of materials. */
#include <criterion/criterion.h>
#include <math.h>
#include <sim/model.h>

static sim_model *two_materials(sim_material a, sim_material b, const sim_material_pair *pair) {
    sim_builder *builder = sim_builder_create();
    a.name = "a";
    b.name = "b";
    int first = sim_builder_add_material(builder, &a), second = sim_builder_add_material(builder, &b);
    if (pair) {
        sim_material_pair p = *pair;
        p.first = second; /* named the other way round */
        p.second = first;
        sim_builder_add_material_pair(builder, &p);
    }
    sim_error error = {0};
    sim_model *model = sim_builder_finish(builder, &error);
    cr_assert(model, "%s", error.text);
    return model;
}

static void near(double x, double expected) { cr_assert_float_eq(x, expected, 1e-15 * fabs(expected)); }

Test(materials, springs_in_series_share_force_and_relax_together) {
    sim_material a = sim_material_default(), b = a;
    a.friction = 0.9, a.stiffness = 1e4, a.dissipation = 0.02, a.restitution = 0.3;
    b.friction = 0.4, b.stiffness = 3e4, b.dissipation = 0.1, b.restitution = 0.6;
    sim_model *m = two_materials(a, b, NULL);
    sim_material_pair p = sim_material_together(m, 1, 2), q = sim_material_together(m, 2, 1);
    near(p.friction, 0.6);
    near(p.stiffness, 7500);
    near(p.dissipation, 0.04); /* three quarters of the give is a's */
    near(p.restitution, 0.6);
    cr_assert(p.friction == q.friction && p.stiffness == q.stiffness && p.dissipation == q.dissipation);
    sim_model_free(m);
}

Test(materials, rigid_against_soft_is_soft_and_rigid_against_rigid_rigid) {
    sim_material rigid = sim_material_default(), soft = rigid;
    rigid.dissipation = 0.5;
    soft.stiffness = 2e3, soft.dissipation = 0.01;
    sim_model *m = two_materials(rigid, soft, NULL);
    sim_material_pair p = sim_material_together(m, 1, 2), r = sim_material_together(m, 1, 0);
    near(p.stiffness, 2e3);
    near(p.dissipation, 0.01);
    cr_assert(isinf(r.stiffness));
    near(r.dissipation, 0.5);
    sim_model_free(m);
}

Test(materials, a_pair_overrides_what_it_says_and_nothing_else) {
    sim_material a = sim_material_default(), b = a;
    b.friction = 0.02;
    sim_material_pair pair = {.friction = 1.5, .stiffness = NAN, .dissipation = NAN, .restitution = 0.9};
    sim_model *m = two_materials(a, b, &pair);
    sim_material_pair p = sim_material_together(m, 1, 2);
    near(p.friction, 1.5);
    near(p.restitution, 0.9);
    cr_assert(isinf(p.stiffness));
    near(p.dissipation, 0);
    near(sim_material_together(m, 1, 0).friction, 0.5);
    sim_model_free(m);
}
