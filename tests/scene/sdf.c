/* Models in SDFormat: what becomes of their elements, and how wrong ones are refused.  Places and dynamics are held against
 * a second implementation in sdf_oracle.py. */
#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SDF(inside) "<sdf version='1.9'>\n" inside "</sdf>"
#define MODEL(inside) SDF("<model name='m'>\n" inside "</model>")
#define MASS "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
#define LINK(name) "<link name='" name "'>" MASS "</link>"
/* Two links and a joint, which stands in line 4. */
#define JOINT(type, inside)                                                                                            \
    MODEL(LINK("a") LINK("b") "\n<joint name='j' type='" type "'><parent>a</parent><child>b</child>" inside "</"       \
                              "joint>")
#define AXIS "<axis><xyz>1 0 0</xyz></axis>"

static sim_scene *load_model(const char *text, const test_file *files, const sim_import_options *import) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.import = import};
    sim_scene *s = load_text(text, files, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    sim_diagnostics_free(&found);
    return s;
}

static const sim_body *body_of(const sim_scene *s, const char *name) {
    int i = sim_model_find_body(s->model, name);
    cr_assert(i > 0, "there is no body %s", name);
    return &s->model->body[i];
}

Test(scene_sdf, joints_have_their_types) {
    static const struct {
        const char *text;
        sim_joint_type type;
    } row[] = {{JOINT("revolute", AXIS), SIM_HINGE},
               {JOINT("continuous", AXIS), SIM_HINGE},
               {JOINT("prismatic", AXIS), SIM_SLIDER},
               {JOINT("screw", AXIS "<screw_thread_pitch>0.1</screw_thread_pitch>"), SIM_SCREW},
               {JOINT("screw", AXIS "<thread_pitch>-6.283185307179586</thread_pitch>"), SIM_SCREW},
               {JOINT("ball", ""), SIM_BALL},
               {JOINT("universal", AXIS "<axis2><xyz>0 1 0</xyz></axis2>"), SIM_HINGE},
               {JOINT("revolute2", AXIS "<axis2><xyz>1 1 0</xyz></axis2>"), SIM_HINGE}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        sim_scene *s = load_model(row[k].text, NULL, NULL);
        const sim_body *b = body_of(s, "b");
        cr_assert_eq(b->joint, row[k].type);
        cr_assert_eq(body_of(s, "a")->joint, SIM_FREE);
        sim_scene_free(s);
    }
}

Test(scene_sdf, limits_and_dynamics_reach_the_joint) {
    sim_scene *s = load_model(
        JOINT("revolute", "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>0.5</upper><effort>30</effort>"
                          "<velocity>3</velocity></limit><dynamics><damping>2</damping><friction>3</friction>"
                          "<spring_stiffness>4</spring_stiffness><spring_reference>0.25</spring_reference>"
                          "</dynamics></axis>"),
        NULL, NULL);
    const sim_dof *dof = &s->model->dof[6];
    cr_assert(dof->limit.low == -1 && dof->limit.high == 0.5 && dof->damping == 2 && dof->friction == 3);
    cr_assert(dof->stiffness == 4 && dof->rest == 0.25 && dof->velocity_limit == 3);
    cr_assert(strstr(s->text, "\"effort\": 30"));
    sim_scene_free(s);
    /* none, as the format writes it */
    s = load_model(JOINT("revolute", "<axis><limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort>"
                                     "<velocity>-1</velocity></limit></axis>"),
                   NULL, NULL);
    cr_assert(isinf(s->model->dof[6].limit.low) && isinf(s->model->dof[6].velocity_limit));
    sim_scene_free(s);
}

Test(scene_sdf, axes_of_old_versions_are_seen_from_the_model) {
    static const struct {
        const char *version, *flag;
        sim_v3 axis; /* of the child, which is turned by pi/2 about z */
    } row[] = {{"1.4", "", {0, -1, 0}},
               {"1.6", "", {1, 0, 0}},
               {"1.6", "<use_parent_model_frame>1</use_parent_model_frame>", {0, -1, 0}}};
    for (int k = 0; k < 3; k++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "<sdf version='%s'><model name='m'>" LINK(
                "a") "<link name='b'><pose>0 0 0 0 0 1.5707963267948966</pose>" MASS
                     "</link><joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>%s"
                     "</axis></joint></model></sdf>",
            row[k].version, row[k].flag);
        sim_scene *s = load_model(text, NULL, NULL);
        cr_assert(v3_norm(v3_sub(body_of(s, "b")->axis, row[k].axis)) < 1e-15);
        sim_scene_free(s);
    }
}

Test(scene_sdf, included_models_are_found_named_and_placed) {
    static const test_file files[] = {
        {"box/model.config", "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>box.sdf</sdf></model>"},
        {"box/box.sdf",
         SDF("<model name='box'>" LINK("body") "<frame name='top'><pose>0 0 0.5 0 0 0</pose></frame></model>")},
        {"box/old.sdf", "<sdf version='1.5'/>"},
        {NULL, NULL}};
    const char *package = "crate=box";
    sim_import_options import = {.npackage = 1, .package = &package};
    sim_scene *s =
        load_model(SDF("<world name='w'><include><uri>model://crate</uri><pose>1 0 0 0 0 0</pose></include>"
                       "<include><uri>box</uri><name>second</name><static>true</static></include>"
                       "<include><uri>box/box.sdf</uri><name>third</name><placement_frame>top</placement_frame>"
                       "<pose relative_to='box'>0 0 2 0 0 0</pose></include></world>"),
                   files, &import);
    cr_assert_eq(body_of(s, "box::body")->joint, SIM_FREE);
    cr_assert_eq(body_of(s, "second::body")->joint, SIM_FIXED);
    const double *q = s->model->q_initial + body_of(s, "third::body")->q0;
    cr_assert(v3_norm(v3_sub((sim_v3){q[0], q[1], q[2]}, (sim_v3){1, 0, 1.5})) < 1e-15);
    sim_scene_free(s);
}

Test(scene_sdf, a_mimic_is_a_coupling) {
    sim_scene *s = load_model(
        MODEL(LINK("a") LINK("b") LINK(
            "c") "<joint name='j' type='revolute'><parent>a</parent><child>b</child>" AXIS
                 "</joint><joint name='k' type='prismatic'><parent>a</parent><child>c</child><axis><mimic joint='j'>"
                 "<multiplier>2</multiplier><offset>0.75</offset><reference>0.25</reference></mimic></axis></joint>"),
        NULL, NULL);
    cr_assert(strstr(s->text, "\"first\": \"k\"") && strstr(s->text, "\"second\": \"j\""));
    cr_assert(strstr(s->text, "\"ratio\": 2") && strstr(s->text, "\"offset\": 0.25"));
    sim_scene_free(s);
}

Test(scene_sdf, nothing_is_passed_over_in_silence) {
    warned(MODEL(LINK("a") "<plugin name='p'/>"), "<plugin> is ignored (scenes have actuators and controllers");
    warned(MODEL("<link name='a'>" MASS "<self_collide>1</self_collide></link>"),
           "<self_collide> of <link> is ignored");
    warned(MODEL("<link name='a'/>"), "a link without <inertial> has 1 kg");
    warned(MODEL(LINK("a") "<drake:thing/>"), "<drake:thing> is ignored");
    refused(MODEL(LINK("a") "<gripper name='g'/>"), "scene.json:3:119", "<gripper> is not supported");
    refused(MODEL("<link name='a'>" MASS "<kinematic>true</kinematic></link>"), "scene.json:3:112",
            "<kinematic> of <link> is not supported");
    refused(MODEL("<link name='a'><inertial><mas>1</mas></inertial></link>"), "scene.json:3:26",
            "unknown element <mas> in <inertial> (did you mean \"mass\"?)");
    refused(MODEL("<link name='a'><inertial mass='1'/></link>"), "scene.json:3:26",
            "unknown attribute \"mass\" of <inertial> (it stands in an element of its own)");
    refused(MODEL("<link name='a'><inertial><mass><b/></mass></inertial></link>"), "scene.json:3:26",
            "<mass> holds more than a value");
    refused(MODEL("<link name='a'><inertial><mass>one</mass></inertial></link>"), "scene.json:3:26",
            "expected a finite number for \"mass\", not \"one\"");
    refused(MODEL("<link name='a'><gravity>maybe</gravity></link>"), "scene.json:3:16",
            "expected true or false for \"gravity\", not \"maybe\"");
    refused(MODEL("<link name='a'><pose>0 0 0</pose></link>"), "scene.json:3:16", "expected 6 numbers, not 3");
    refused("<sdf version='1.3'><model name='m'/></sdf>", "scene.json:1:6", "version 1.3 is not read");
}

Test(scene_sdf, wrong_models_are_refused_at_their_place) {
    refused(JOINT("gearbox", AXIS), "scene.json:4:17", "joints of type gearbox are not supported");
    refused(JOINT("revolute", ""), "scene.json:4:1", "a revolute joint needs <axis>");
    refused(JOINT("screw", AXIS), "scene.json:4:1", "a screw needs <screw_thread_pitch>");
    refused(JOINT("revolute", "<axis><xyz>0 0 0</xyz></axis>"), "scene.json:4:73", "the axis has length 0");
    refused(JOINT("revolute", "<axis><xyz expressed_in='q'>0 0 1</xyz></axis>"), "scene.json:4:78",
            "there is no frame \"q\"");
    refused(MODEL(LINK("a") "\n<joint name='j' type='ball'><parent>a</parent><child>world</child></joint>"),
            "scene.json:4:47", "the child of a joint is the world");
}

Test(scene_sdf, circles_are_refused) {
    refused(MODEL(LINK(
                "a") "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>"),
            "scene.json:3:119", "run in a circle");
    refused(MODEL(LINK("a") LINK("b") "<joint name='j' type='ball'><parent>a</parent><child>b</child></joint>"
                                      "<joint name='k' type='ball'><parent>b</parent><child>a</child></joint>"),
            "scene.json:3:7", "the joints of the link \"a\" run in a circle");
    static const test_file files[] = {
        {"again.sdf", SDF("<model name='m'><include><uri>again.sdf</uri></include></model>")}, {NULL, NULL}};
    refused_with(SDF("<model name='m'><include><uri>again.sdf</uri></include></model>"), files, NULL, "again.sdf:2:17",
                 "models nested more than 20 deep");
}

Test(scene_sdf, errors_of_all_stages_are_said_at_once) {
    refused_at_once(
        MODEL(
            "<link name='a'><inertial><mass>abc</mass></inertial></link>\n"
            "<link name='b'><inertial><mass>1</mass><inertia><izz>5</izz></inertia></inertial>\n"
            "<collision name='c'><geometry><sphere><radius>-1</radius></sphere></geometry></collision>\n"
            "<collision name='d'><geometry><mesh><uri>none.stl</uri></mesh></geometry></collision></link>\n"
            "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 0</xyz></axis></joint>\n"
            "<lnik name='q'/>"),
        (const char *const[]){"3:26 expected a finite number for \"mass\", not \"abc\"", "4:16 violate A + B >= C",
                              "5:31 /radius: must be from", "6:37 there is no file \"none.stl\"",
                              "7:73 the axis has length 0", "8:1 unknown element <lnik>", NULL});
    /* a frame that cannot be placed leaves the others to be looked at */
    refused_at_once(MODEL(LINK("a") "\n<frame name='f' attached_to='x'/>\n<frame name='g' attached_to='y'/>"),
                    (const char *const[]){"4:17 there is no frame \"x\"", "5:17 there is no frame \"y\"", NULL});
}
