/* Joints as scenes have them.
 *
 *     revolute, continuous, screw, ball    the joint of its child, at the point of the joint frame
 *     prismatic                            the same, at the child: a slider has no point
 *     universal, revolute2                 two hinges in series, with a body without mass between them
 *
 * The frame of a joint of the scene is parallel to its child.  Where it stands beside the child, a body without mass has
 * the joint and carries the child, so that the child keeps its frame. */
#include "scene/sdf/sdf.h"

#include <math.h>
#include <string.h>

#define OUT_OF_REACH 1e9      /* rad, m: the open end of a range that has one end */
#define ROUNDING_LENGTH 1e-12 /* m: points that are nearer are one */

typedef enum axis_kind { AXIS_NONE, AXIS_ONE, AXIS_TWO } axis_kind;

static const struct {
    const char *word, *scene;
    axis_kind axes;
} types[] = {
    {"revolute", "hinge", AXIS_ONE},  {"continuous", "hinge", AXIS_ONE}, {"prismatic", "slider", AXIS_ONE},
    {"screw", "screw", AXIS_ONE},     {"ball", "ball", AXIS_NONE},       {"fixed", NULL, AXIS_NONE},
    {"universal", "hinge", AXIS_TWO}, {"revolute2", "hinge", AXIS_TWO},
};

static int type_of(const sdf_joint *j) {
    int count = (int)(sizeof types / sizeof *types);
    for (int k = 0; k < count; k++) {
        if (strcmp(types[k].word, j->type) == 0) {
            return k;
        }
    }
    return -1;
}

static void refuse_axis(sdf_work *w) { w->good = false; }

/* ---- one axis ---- */

const char *sdf_axis_name(sdf_work *w, const sdf_joint *j, bool second) {
    const char *name = w->frame[j->frame].name;
    return second ? sdf_clean_name(w, name, "_axis2") : name;
}

/* The rotation from the coordinates of an axis to those of the child; false: none. */
static bool find_turn(sdf_work *w, const sdf_joint *j, const xml_element *axis, sim_m3 *turn) {
    const sdf_frame *f = &w->frame[j->frame];
    const sdf_scope *s = &w->scope[f->scope];
    const xml_element *xyz = xml_child(axis, "xyz");
    const char *name = xyz ? xml_text(xyz, "expressed_in") : NULL;
    int link = w->link[j->child].frame, from = j->frame;
    if (name && *name) {
        from = sdf_find_frame(w, f->scope, name, xyz, "expressed_in");
    } else if (s->file->version < 105 || (axis && xml_flag(axis, "use_parent_model_frame"))) {
        from = f->scope > 0 ? s->frame : SDF_WORLD;
    }
    if (from == j->frame && f->base == link) {
        *turn = f->place.R;
        return memcmp(turn, &(sim_m3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, sizeof *turn) != 0;
    }
    sim_pose seen = from >= 0 ? w->frame[from].world : pose_identity();
    *turn = pose_relative(w->frame[link].world, seen).R;
    return from != link;
}

sim_v3 sdf_axis_in_child(sdf_work *w, const sdf_joint *j, const xml_element *axis) {
    const xml_element *xyz = xml_child(axis, "xyz");
    double a[3] = {0, 0, 1};
    sim_m3 turn;
    if (xyz) {
        xml_vector(xyz, "direction", a);
    }
    if (a[0] == 0 && a[1] == 0 && a[2] == 0) {
        xml_error(w->report, xyz, NULL, NULL, "the axis has length 0");
        refuse_axis(w);
    }
    sim_v3 given = {a[0], a[1], a[2]};
    return find_turn(w, j, axis, &turn) ? m3_times(turn, given) : given;
}

static void put_direction(sdf_work *w, const sdf_joint *j, const xml_element *axis) {
    sim_v3 a = sdf_axis_in_child(w, j, axis);
    if (a.x != 0 || a.y != 0 || a.z != 1) {
        writer_put_numbers(w->out, "axis", 3, (const double[]){a.x, a.y, a.z});
    }
}

static void put_above_zero(sdf_work *w, const xml_element *e, const char *key, const char *name) {
    double value = 0;
    if (e && xml_number(e, key, &value) && value > 0 && value < SDF_UNLIMITED) {
        writer_put_number(w->out, name, value);
    }
}

static void put_limit(sdf_work *w, const xml_element *axis, bool ends) {
    const xml_element *limit = xml_child(axis, "limit");
    double range[2] = {-SDF_UNLIMITED, SDF_UNLIMITED};
    if (!limit) {
        return;
    }
    sdf_here(w, limit);
    xml_number(limit, "lower", &range[0]);
    xml_number(limit, "upper", &range[1]);
    bool open[2] = {range[0] <= -SDF_UNLIMITED, range[1] >= SDF_UNLIMITED};
    if (ends && !(open[0] && open[1])) {
        range[0] = open[0] ? -OUT_OF_REACH : range[0];
        range[1] = open[1] ? OUT_OF_REACH : range[1];
        writer_put_numbers(w->out, "range", 2, range);
    }
    put_above_zero(w, limit, "velocity", "velocity_limit");
    put_above_zero(w, limit, "effort", "effort");
}

static void put_dynamics(sdf_work *w, const xml_element *axis) {
    static const char *const key[3] = {"damping", "friction", "spring_stiffness"};
    static const char *const name[3] = {"damping", "friction", "stiffness"};
    const xml_element *dynamics = xml_child(axis, "dynamics");
    double value[3] = {0}, rest = 0;
    if (!dynamics) {
        return;
    }
    sdf_here(w, dynamics);
    for (int k = 0; k < 3; k++) {
        xml_number(dynamics, key[k], &value[k]);
        if (value[k] != 0) {
            writer_put_number(w->out, name[k], value[k]);
        }
    }
    xml_number(dynamics, "spring_reference", &rest);
    if (value[2] != 0 && rest != 0) {
        writer_put_number(w->out, "rest", rest);
    }
}

static void put_pitch(sdf_work *w, const sdf_joint *j) {
    double pitch = 0, thread = 0;
    bool given = xml_number(j->at, "screw_thread_pitch", &pitch), old = xml_number(j->at, "thread_pitch", &thread);
    if (!given && !(old && thread != 0)) {
        xml_error(w->report, j->at, NULL, NULL, "a screw needs <screw_thread_pitch>");
        refuse_axis(w);
        return;
    }
    writer_put_number(w->out, "pitch", given ? pitch : -2 * acos(-1) / thread);
}

/* The joint of the body that is open. */
static void put_joint(sdf_work *w, const sdf_joint *j, const char *body, bool second) {
    int type = type_of(j);
    const char *name = sdf_axis_name(w, j, second);
    const xml_element *axis = xml_child(j->at, second ? "axis2" : "axis");
    sdf_here(w, j->at);
    writer_open(w->out, "joint", '{');
    writer_put_text(w->out, "type", types[type].scene);
    if (strcmp(name, body) != 0) {
        writer_put_text(w->out, "name", name);
    }
    if (strcmp(j->type, "screw") == 0) {
        put_pitch(w, j);
    }
    if (types[type].axes != AXIS_NONE) {
        put_direction(w, j, axis);
        put_limit(w, axis, strcmp(j->type, "continuous") != 0);
        put_dynamics(w, axis);
    }
    writer_close(w->out, '}');
    double start = 0;
    if (types[type].axes != AXIS_NONE && axis && xml_number(axis, "initial_position", &start) && start != 0) {
        writer_put_number(w->out, "q", start);
    }
}

/* ---- bodies ---- */

static void open_body(sdf_work *w, const xml_element *at, const char *name, const char *parent, sim_pose X) {
    sdf_here(w, at);
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "name", name);
    if (parent) {
        writer_put_text(w->out, "parent", parent);
    }
    sdf_put_pose(w, "pose", X);
}

static bool check_joint(sdf_work *w, const sdf_joint *j) {
    static const char *const axis[2] = {"axis", "axis2"};
    /* a known type, with as many axes as it has */
    int type = type_of(j);
    if (type < 0) {
        xml_error(w->report, j->at, "type", NULL, "joints of type %s are not supported", j->type);
        refuse_axis(w);
        return false;
    }
    for (int k = 0; k < 2; k++) {
        const xml_element *e = xml_child(j->at, axis[k]);
        bool wanted = k < (int)types[type].axes;
        if (wanted && !e) {
            xml_notice(w->report, j->at, NULL, NULL, "a %s joint without <%s> has the axis z", j->type, axis[k]);
        }
        if (!wanted && e) {
            xml_notice(w->report, e, NULL, NULL, "a %s joint has no <%s>: it is ignored", j->type, axis[k]);
        }
    }
    return true;
}

/* The body of a link, or of a part of it, with the joint that carries it. */
static void open_carried(sdf_work *w, const sdf_joint *j, const char *name) {
    /* the point of the joint, seen from the child */
    const sdf_frame *f = &w->frame[w->link[j->child].frame], *own = &w->frame[j->frame];
    const sdf_frame *carrier = j->parent == SDF_WORLD ? NULL : &w->frame[w->link[j->parent].frame];
    const char *parent = carrier ? carrier->name : NULL;
    sim_pose X = carrier ? pose_relative(carrier->world, f->world) : f->world;
    sim_v3 beside = own->base == w->link[j->child].frame ? own->place.p : pose_relative(f->world, own->world).p;
    int type = type_of(j);
    bool pointless = !types[type].scene || strcmp(j->type, "prismatic") == 0;
    if (pointless || v3_norm(beside) < ROUNDING_LENGTH) {
        beside = (sim_v3){0};
    }
    X.p = pose_point(X, beside);
    /* the first of two axes, and the last where it stands beside the child */
    bool second = types[type].axes == AXIS_TWO;
    if (second) {
        open_body(w, j->at, sdf_axis_name(w, j, false), parent, X);
        put_joint(w, j, sdf_axis_name(w, j, false), false);
        writer_close(w->out, '}');
        parent = sdf_axis_name(w, j, false);
        X = pose_identity();
    }
    if (v3_norm(beside) > 0) {
        const char *last = sdf_axis_name(w, j, second);
        open_body(w, j->at, last, parent, X);
        put_joint(w, j, last, second);
        writer_close(w->out, '}');
        X = (sim_pose){pose_identity().R, v3_neg(beside)};
        open_body(w, f->at, name, last, X);
        return;
    }
    open_body(w, f->at, name, parent, X);
    if (types[type].scene) {
        put_joint(w, j, name, second);
    }
}

void sdf_open_body(sdf_work *w, int link) {
    const sdf_link *l = &w->link[link];
    const sdf_frame *f = &w->frame[l->frame];
    const sdf_joint *j = l->joint >= 0 ? &w->joint[l->joint] : NULL;
    if (j && check_joint(w, j)) {
        open_carried(w, j, f->name);
        return;
    }
    open_body(w, f->at, f->name, NULL, f->world);
    if (!j && !l->fixed) {
        writer_put_text(w->out, "joint", "free");
    }
}

const char *sdf_part_name(sdf_work *w, const sdf_joint *j) {
    return sdf_clean_name(w, w->frame[j->frame].name, "_part");
}

bool sdf_open_part(sdf_work *w, const sdf_joint *j) {
    bool good = j->loop == SDF_PART && check_joint(w, j);
    if (good) {
        open_carried(w, j, sdf_part_name(w, j));
    }
    return good;
}

/* ---- mimics ---- */

static const sdf_joint *find_leader(sdf_work *w, const sdf_joint *j, const xml_element *mimic) {
    int found = sdf_find_frame(w, w->frame[j->frame].scope, xml_text(mimic, "joint"), mimic, "joint");
    if (found >= 0 && w->frame[found].kind == SDF_JOINT) {
        return &w->joint[w->frame[found].joint];
    }
    if (w->good) {
        xml_error(w->report, mimic, "joint", NULL, "\"%.80s\" is no joint", xml_text(mimic, "joint"));
        refuse_axis(w);
    }
    return NULL;
}

static bool has_axis(const sdf_joint *j, bool second) {
    int type = type_of(j);
    return !j->dropped && (!j->loop || j->loop == SDF_PART) && type >= 0 && (int)types[type].axes > second;
}

void sdf_open_constraint(sdf_work *w, const xml_element *at, const char *type, bool *any) {
    sdf_here(w, at);
    if (!*any) {
        writer_open(w->out, "constraints", '[');
    }
    *any = true;
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "type", type);
}

static void put_mimic(sdf_work *w, const sdf_joint *j, bool second, bool *any) {
    const xml_element *axis = xml_child(j->at, second ? "axis2" : "axis"), *mimic = xml_child(axis, "mimic");
    const sdf_joint *leader = mimic && has_axis(j, second) ? find_leader(w, j, mimic) : NULL;
    if (!leader) {
        return;
    }
    const char *word = xml_text(mimic, "axis");
    bool led = word && strcmp(word, "axis2") == 0;
    if (!has_axis(leader, led) || (leader == j && led == second)) {
        xml_error(w->report, mimic, "joint", NULL, "\"%.80s\" has no axis that can lead", xml_text(mimic, "joint"));
        refuse_axis(w);
        return;
    }
    /* q = m q_leader + (offset - m reference) */
    double ratio = 1, offset = 0, reference = 0;
    xml_number(mimic, "multiplier", &ratio);
    xml_number(mimic, "offset", &offset);
    xml_number(mimic, "reference", &reference);
    sdf_open_constraint(w, mimic, "coupling", any);
    writer_put_text(w->out, "first", sdf_axis_name(w, j, second));
    writer_put_text(w->out, "second", sdf_axis_name(w, leader, led));
    writer_put_number(w->out, "ratio", ratio);
    writer_put_number(w->out, "offset", offset - ratio * reference);
    writer_close(w->out, '}');
}

void sdf_put_mimics(sdf_work *w, const sdf_joint *j, bool *any) {
    put_mimic(w, j, false, any);
    put_mimic(w, j, true, any);
}
