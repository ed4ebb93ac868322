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
    warned(JOINT("revolute", "<axis><xyz>1 0 0</xyz><limit><d:jerk>3</d:jerk></limit></axis>"), "d:jerk");
    warned(MODEL("<link name='a'>" MASS "<self_collide>1</self_collide></link>"),
           "<self_collide> of <link> is ignored");
    warned(MODEL("<link name='a'/>"), "a link without <inertial> has 1 kg");
    warned(JOINT("revolute", ""), "a revolute joint without <axis> has the axis z");
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
    refused(JOINT("gearbox", AXIS), "scene.json:4:1", "a gearbox needs <axis>, <gearbox_reference_body>, and hinges");
    refused(JOINT("screw", AXIS), "scene.json:4:1", "a screw needs <screw_thread_pitch>");
    refused(JOINT("revolute", "<axis><xyz>0 0 0</xyz></axis>"), "scene.json:4:73", "the axis has length 0");
    refused(JOINT("revolute", "<axis><xyz expressed_in='q'>0 0 1</xyz></axis>"), "scene.json:4:78",
            "there is no frame \"q\"");
    refused(MODEL(LINK("a") "\n<joint name='j' type='ball'><parent>a</parent><child>world</child></joint>"),
            "scene.json:4:47", "the child of a joint is the world (name the world as its parent)");
    refused(MODEL("\n<link name='a'><inertial auto='true'/><gravity>0</gravity></link>"), "scene.json:4:1",
            "a link without gravity whose <inertial> is `auto`");
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

/* ---- what other programs write ---- */

/* Two equal cranks and a coupler: a parallelogram, of which the second crank closes the loop. */
#define CRANK(name, x)                                                                                                 \
    "<link name='" name "'><pose>" x " 0 2 0 0 0</pose><inertial><pose>0 0 -0.4 0 0 0</pose><mass>2</mass><inertia>"   \
    "<ixx>0.1</ixx><iyy>0.1</iyy><izz>0.01</izz></inertia></inertial></link>"
#define TURN(start) "<axis><initial_position>" start "</initial_position><xyz>0 1 0</xyz></axis>"
#define HINGE(name, parent, child, start)                                                                              \
    "<joint name='" name "' type='revolute'><parent>" parent "</parent>"                                               \
    "<child>" child "</child>" TURN(start) "</joint>"
#define COUPLER                                                                                                        \
    "<link name='bar'><pose>0 0 1.2 0 0 0</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>3</mass>"                    \
    "<inertia><ixx>0.01</ixx><iyy>0.2</iyy><izz>0.2</izz></inertia></inertial></link>"
#define CLOSURE(type)                                                                                                  \
    "\n<joint name='d' type='" type "'><pose>1 0 0 0 0 0</pose><parent>right</parent><child>bar</child>"               \
    "<axis><xyz>0 1 0</xyz></axis></joint>"
#define PART(limit)                                                                                                    \
    "<joint name='d' type='revolute'><pose>1 0 0 0 0 0</pose><parent>right</parent><child>bar</child>"                 \
    "<axis><initial_position>-0.8</initial_position><xyz>0 1 0</xyz><limit>" limit "</limit></axis></joint>"
#define CRANKS CRANK("left", "0") CRANK("right", "1") COUPLER
#define HINGES HINGE("a", "world", "left", "0.8") HINGE("b", "world", "right", "0.8") HINGE("c", "left", "bar", "-0.8")
#define PARALLELOGRAM(type) MODEL(CRANKS HINGES CLOSURE(type))

/* angle'' = - g (2 m l + M L) sin(angle) / (2 (I + m l^2) + M L^2):  M goes along the arc without turning. */
static double swing(double angle, double time) {
    const double k = 9.81 * (2 * 2 * 0.4 + 3 * 0.8) / (2 * (0.1 + 2 * 0.16) + 3 * 0.64), h = time / 2000;
    double rate = 0;
    for (int i = 0; i < 2000; i++) { /* Runge and Kutta */
        double r1 = -k * sin(angle), r2 = -k * sin(angle + h / 2 * rate),
               r3 = -k * sin(angle + h / 2 * (rate + h / 2 * r1));
        double r4 = -k * sin(angle + h * (rate + h / 2 * r2));
        angle += h * rate + h * h / 6 * (r1 + r2 + r3);
        rate += h / 6 * (r1 + 2 * r2 + 2 * r3 + r4);
    }
    return angle;
}

static void swings(const char *text) {
    sim_scene *s = load_model(text, NULL, NULL);
    sim_options options = s->options;
    options.step = 0.0005;
    sim_world *w = sim_world_create(s->model, &options, NULL);
    cr_assert_not_null(w);
    const sim_state *now = sim_world_state(w);
    for (int k = 0; k < 2000; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    double wanted = swing(0.8, now->time);
    cr_assert(fabs(wanted - 0.8) > 0.3);
    cr_expect_float_eq(now->q[body_of(s, "left")->q0], wanted, 1e-5, "%s", text);
    cr_expect_float_eq(now->q[body_of(s, "right")->q0], wanted, 1e-5);
    cr_expect_float_eq(now->q[body_of(s, "bar")->q0], -wanted, 1e-5);
    sim_world_free(w);
    sim_scene_free(s);
}

Test(scene_sdf, a_second_joint_of_a_link_closes_a_loop) {
    swings(PARALLELOGRAM("revolute"));
    swings(PARALLELOGRAM("ball"));
    /* a range makes it a part of the bar on a hinge */
    swings(MODEL(CRANKS HINGES PART("<lower>-3</lower>")));
    sim_scene *s = load_model(PARALLELOGRAM("fixed"), NULL, NULL);
    cr_assert(s->model->nequality == 1 && s->model->equality[0].type == SIM_WELD);
    sim_scene_free(s);
}

/* Two bars and a crosshead on a slide: the closure by a slide of the crosshead, or, written the other way about, by a
 * hinge, moves alike. */
#define ROD(name, at) "<link name='" name "'><pose>" at " 0 0 0</pose>" MASS "</link>"
#define SLIDE                                                                                                          \
    "<joint name='s' type='prismatic'><parent>world</parent><child>head</child><axis><xyz>1 0 0</xyz><dynamics>"       \
    "<damping>0.4</damping><spring_stiffness>30</spring_stiffness><spring_reference>0.2</spring_reference>"            \
    "</dynamics></axis></joint>"
#define PIN                                                                                                            \
    "<joint name='p' type='revolute'><parent>rod</parent><child>head</child><axis><xyz>0 1 0</xyz></axis></joint>"
#define LINKAGE(first, second)                                                                                         \
    MODEL(ROD("crank", "0 0 0") ROD("rod", "0 0 0.6") ROD("head", "0.9 0 0.6") HINGE("a", "world", "crank", "0")       \
              HINGE("b", "crank", "rod", "0") first second)

Test(scene_sdf, a_slide_closes_a_loop_as_a_hinge_does) {
    const char *text[2] = {LINKAGE(SLIDE, PIN), LINKAGE(PIN, SLIDE)};
    double angle[2];
    for (int k = 0; k < 2; k++) {
        sim_scene *s = load_model(text[k], NULL, NULL);
        sim_options options = s->options;
        options.step = 0.0005;
        sim_world *w = sim_world_create(s->model, &options, NULL);
        cr_assert_not_null(w);
        for (int i = 0; i < 600; i++) {
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        }
        angle[k] = sim_world_state(w)->q[body_of(s, "crank")->q0];
        sim_world_free(w);
        sim_scene_free(s);
    }
    cr_assert(fabs(angle[0]) > 0.1);
    cr_assert_float_eq(angle[0], angle[1], 1e-6, "%.9g %.9g", angle[0], angle[1]);
}

/* Two wheels on a carrier, geared 2 : 1. */
Test(scene_sdf, a_gearbox_couples_two_hinges) {
#define WHEEL(name, axis)                                                                                              \
    "<joint name='h" name "' type='revolute'><parent>carrier</parent><child>" name "</child><axis><xyz>" axis          \
    "</xyz></axis></joint>"
#define GEARED(axis)                                                                                                   \
    MODEL(LINK("carrier") LINK("one") LINK("two") WHEEL("one", "0 0 1") WHEEL(                                         \
        "two",                                                                                                         \
        axis) "<joint name='g' type='gearbox'><parent>one</parent><child>two</child><gearbox_ratio>2</gearbox_ratio>"  \
              "<gearbox_reference_body>carrier</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis></joint>")
    static const char *const text[2] = {GEARED("0 0 1"), GEARED("0 0 -1")};
    static const double ratio[2] = {-2, 2};
    for (int k = 0; k < 2; k++) {
        sim_scene *s = load_model(text[k], NULL, NULL);
        cr_assert_eq(s->model->nequality, 1);
        const sim_equality *e = &s->model->equality[0];
        cr_assert(e->type == SIM_COUPLING && e->ratio == ratio[k], "%g", e->ratio);
        cr_assert_str_eq(s->model->body[e->body[0]].name, "two");
        sim_scene_free(s);
    }
}

/* Links, joints and frames of a merged model become those of the outer one, and its frame a frame of it. */
Test(scene_sdf, merged_models_are_parts_of_the_outer_one) {
    static const test_file files[] = {
        {"part.sdf",
         SDF("<model name='part'>" LINK("a") "<link name='b'><pose>0 0 1 0 0 0</pose>" MASS "</link>"
                                             "<frame name='f'><pose relative_to='__model__'>0 1 0 0 0 0</pose></frame>"
                                             "<joint name='j' type='revolute'><parent>a</parent><child>b</child>" AXIS
                                             "</joint></model>")},
        {NULL, NULL}};
    sim_scene *s = load_model(
        MODEL("<include merge='true'><uri>part.sdf</uri><pose>2 0 0 0 0 0</pose></include><link name='c'><pose "
              "relative_to='_merged__part__model__'>0 0 3 0 0 0</pose>" MASS "</link><joint name='k' type='fixed'>"
              "<parent>b</parent><child>c</child></joint>"),
        files, NULL);
    const sim_model *m = s->model;
    cr_assert(m->nv == 7 && m->nsite == 1);
    const double *q = m->q_initial + body_of(s, "a")->q0;
    cr_assert(q[0] == 2 && q[2] == 0);
    cr_assert_eq(body_of(s, "c")->placement.p.z, 2); /* from b */
    cr_assert_eq(m->site[0].pose.p.y, 1);
    sim_scene_free(s);
    refused_with(SDF("<world name='w'>\n<include merge='true'><uri>part.sdf</uri></include></world>"), files, NULL,
                 "part.sdf:2:20", "a link of a model that is merged into no other model");
}

Test(scene_sdf, masses_of_auto_are_those_of_the_shapes) {
#define AUTO(inside, density)                                                                                          \
    MODEL("<link name='a'><inertial auto='true'>" inside "</inertial><collision name='c'>" density                     \
          "<geometry><box><size>1 2 3</size></box></geometry></collision></link>")
    static const char *const text[4] = {AUTO("", ""), AUTO("<density>50</density>", ""),
                                        AUTO("<density>50</density>", "<density>20</density>"),
                                        AUTO("<mass>12</mass>", "")};
    static const double mass[4] = {6000, 300, 120, 12};
    for (int k = 0; k < 4; k++) {
        sim_scene *s = load_model(text[k], NULL, NULL);
        const sim_body_inertia *I = &s->model->inertia[body_of(s, "a") - s->model->body];
        cr_assert_float_eq(I->mass, mass[k], 1e-12 * mass[k]);
        sim_scene_free(s);
    }
}

Test(scene_sdf, old_worlds_have_their_gravity_in_physics) {
    sim_scene *s =
        load_model("<sdf version='1.5'><world name='w'><physics type='ode'><gravity>0 0 -3</gravity></physics>"
                   "<model name='m'>" LINK("a") "</model></world></sdf>",
                   NULL, NULL);
    cr_assert_eq(s->model->gravity.z, -3);
    sim_scene_free(s);
}

Test(scene_sdf, links_of_the_world_and_without_mass_stand_still) {
    static const char *const texts[] = {
        MODEL("<link name='world'/>" LINK("b") "<joint name='j' type='revolute'><parent>world"
                                               "</parent><child>b</child>" AXIS "</joint>"),
        MODEL("<link name='base'><inertial><mass>0</mass></inertial></link>" LINK(
            "b") "<joint name='j' type='revolute'><parent>base</parent><child>b</child>" AXIS "</joint>")};
    static const char *const name[] = {"world_link", "base"};
    for (int k = 0; k < 2; k++) {
        sim_scene *s = load_model(texts[k], NULL, NULL);
        cr_assert(s->model->nv == 1 && body_of(s, name[k])->joint == SIM_FIXED && body_of(s, "b")->joint == SIM_HINGE);
        sim_scene_free(s);
    }
    /* but one that moves needs mass */
    refused(
        MODEL(LINK("a") "\n<link name='b'><inertial><mass>0</mass></inertial></link><joint name='j' type='revolute'>"
                        "<parent>a</parent><child>b</child>" AXIS "</joint>"),
        "scene.json:3:1", "moves without inertia");
}

#define CUBE(bits, friction)                                                                                           \
    "<collision name='c" bits "'><geometry><box/></geometry><surface><friction><ode>" friction "</ode></friction>"     \
    "<contact><collide_bitmask>" bits "</collide_bitmask></contact></surface></collision>"

Test(scene_sdf, forms_of_other_programs_are_read) {
    /* bits in hexadecimal, two frictions without a direction, what Bullet and Gazebo add */
    sim_scene *s =
        load_model(SDF("<world name='w'><state world_name='w'/><model name='m'><link name='m::a' my:note='x'>" MASS
                       "<contact><rolling_friction>1</rolling_friction></contact><visual name='v'/>" CUBE(
                           "0xAB", "<mu>0.5</mu><mu2>0.3</mu2>")
                           CUBE("5", "<mu>0.5</mu><mu2>0.3</mu2><fdir1>1 0 0</fdir1>") "</link></model></world>"),
                   NULL, NULL);
    const sim_model *m = s->model;
    cr_assert_eq(m->nshape, 2);
    cr_assert(m->shape[0].group == 0xab && m->shape[0].mask == 0xab && m->shape[1].group == 5);
    const sim_material *one = &m->material[m->shape[0].material], *two = &m->material[m->shape[1].material];
    cr_assert(one->friction == 0.3 && two->friction == 0.5, "%g %g", one->friction, two->friction);
    cr_assert_str_eq(m->body[1].name, "m::m::a");
    sim_scene_free(s);
    refused(MODEL("<link name='a'>\n" CUBE("0xfg", "") "</link>"), "scene.json:4:102", "expected a finite number");
    /* ends of ranges at infinity */
    s = load_model(JOINT("revolute", "<axis><xyz>0 0 1</xyz><limit><lower>-inf</lower><upper>inf</upper><effort>inf"
                                     "</effort></limit></axis>"),
                   NULL, NULL);
    cr_assert(isinf(s->model->dof[6].limit.high));
    sim_scene_free(s);
    refused(JOINT("revolute", "<axis><xyz>0 0 inf</xyz></axis>"), "scene.json:4:73", "expected three finite numbers");
}
