/* `sim ik`: joint coordinates at which a site of a robot stands at given poses, as JSON for scenes.
 *
 * Each pose starts where the one before ended, so that joints move little between them.  One pose prints an `initial`,
 * several print `keyframes`.  Words about what was reached go to standard error. */
#include "app/ik/ik.h"
#include "app/cli/robots.h"
#include "app/cli/usage.h"
#include "app/output/json_out.h"
#include "app/run/setup.h"
#include "math/spatial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ik_request {
    text_list set, to;
    robot_request robot;
    const char *file, *site, *start;
    double radius, tolerance;
    int64_t starts;
    int help;
} ik_request;

#define AT(member) offsetof(ik_request, member)

static const option_row rows[] = {
    {"site", "NAME", OPTION_TEXT, AT(site), .heading = "Goal",
     .help = "the site, or the body, that is to stand at the poses"},
    {"to", "POSE", OPTION_LIST, AT(to),
     .help = "a pose in the world: \"x y z\" in m, of any orientation, or \"x y z qw qx qy qz\"; repeatable: each one "
             "starts from the one before"},
    {"start", "NAME", OPTION_TEXT, AT(start),
     .help = "start at this keyframe of the scene; default: its initial state"},
    {"tolerance", "M", OPTION_REAL, AT(tolerance), .heading = "Search",
     .help = "error in m at which a pose counts as reached; default: 1e-12"},
    {"radius", "M", OPTION_REAL, AT(radius), .help = "error in m that a rotation of 1 rad counts as; default: 0.2"},
    {"starts", "N", OPTION_COUNT, AT(starts), 1, 100000,
     .help = "search from N places of the joint ranges before a pose counts as out of reach; default: 60"},
    OPTION_ROW_SET(ik_request, "Scene"),
    ROBOT_OPTIONS(ik_request),
    OPTION_ROW_HELP(ik_request, "Information"),
};
const option_set ik_options = {
    .command = "sim ik",
    .row = rows,
    .count = sizeof rows / sizeof rows[0],
    .usage = "sim ik SCENE.json --site NAME --to \"x y z [qw qx qy qz]\" [OPTION]...",
    .about = "Find joint coordinates within their ranges at which a site of a robot stands at given poses: inverse "
             "kinematics by damped least squares. Free joints stay. Print them as `initial` of a scene, several poses "
             "as `keyframes`. A pose out of reach gives the nearest stationary point, the distance that is left, and "
             "status 1.",
};

static sim_status parse_ik_request(int count, char **arguments, ik_request *request, sim_error *error) {
    int first;
    *request = (ik_request){0};
    sim_status status = options_read(&ik_options, count, arguments, request, &first, error);
    if (status || request->help) {
        return status;
    }
    if (count - first != 1) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: sim ik arm.json --site tool --to \"0.5 0 0.3\"; see sim ik --help",
                        first == count ? "no scene given" : "one scene at a time");
    }
    if (!request->site || !request->to.count) {
        return sim_fail(error, SIM_BAD_INPUT, "--%s is missing: sim ik arm.json --site tool --to \"0.5 0 0.3\"",
                        request->site ? "to" : "site");
    }
    request->file = arguments[first];
    return robot_request_check(&request->robot, error);
}

/* Three numbers are a point, seven a pose. */
static sim_status parse_pose(const char *text, sim_ik_goal *goal, sim_error *error) {
    double x[7];
    int count = 0;
    const char *at = text;
    for (char *end; count < 7; count++, at = end) {
        at += strspn(at, " ,");
        x[count] = strtod(at, &end);
        if (end == at || !isfinite(x[count])) {
            break;
        }
    }
    at += strspn(at, " ,");
    if (*at || (count != 3 && count != 7)) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "--to \"%s\": expected \"x y z\" or \"x y z qw qx qy qz\", numbers apart by spaces", text);
    }
    goal->point = count == 3;
    goal->pose = pose_identity();
    goal->pose.p = v3_make(x[0], x[1], x[2]);
    if (!goal->point) {
        quat turn = {x[3], x[4], x[5], x[6]};
        if (!(quat_norm(turn) > 1e-6)) {
            return sim_fail(error, SIM_BAD_INPUT, "--to \"%s\": the quaternion has no length", text);
        }
        goal->pose.R = quat_matrix(quat_normalised(turn));
    }
    return SIM_OK;
}

/* Coordinates of all joints of the robot, but for free ones. */
static void print_joints(json_out *out, const sim_model *m, int tree, const double *q) {
    json_open(out, "initial", '{');
    for (int i = m->tree[tree].body0; i < m->tree[tree].body0 + m->tree[tree].nbody; i++) {
        const sim_body *b = &m->body[i];
        if (b->joint == SIM_FREE || b->nq == 0) {
            continue;
        }
        if (b->nq == 1) {
            json_real(out, b->joint_name, q[b->q0]);
            continue;
        }
        json_open_line(out, b->joint_name, '[');
        for (int c = 0; c < b->nq; c++) {
            json_real(out, NULL, q[b->q0 + c]);
        }
        json_close(out, ']');
    }
    json_close(out, '}');
}

static void say_result(const ik_request *request, int k, const sim_ik_result *r) {
    char which[32] = "";
    if (request->to.count > 1) {
        snprintf(which, sizeof which, "pose %d: ", k + 1);
    }
    if (r->outcome == SIM_IK_REACHED) {
        fprintf(stderr, "sim: %s\"%s\" reaches it, %d iterations\n", which, request->site, r->iterations);
    } else {
        fprintf(stderr, "sim: %s\"%s\" does not reach it: %.6g m and %.6g rad are left at the nearest %s (%d starts)\n",
                which, request->site, r->distance, r->angle,
                r->outcome == SIM_IK_STATIONARY ? "stationary point" : "place found", r->starts);
    }
}

/* Every pose in turn; SIM_FAILED if one is out of reach. */
static sim_status solve_poses(const ik_request *request, const sim_scene *scene, sim_ik_goal goal, double *q,
                              sim_error *error) {
    const sim_model *m = scene->model;
    json_out out = {.file = stdout};
    sim_ik_options options = sim_ik_options_default();
    sim_status worst = SIM_OK, status = SIM_OK;
    options.radius = request->radius > 0 ? request->radius : options.radius;
    options.tolerance = request->tolerance > 0 ? request->tolerance : options.tolerance;
    options.starts = request->starts ? (int)request->starts : options.starts;
    json_open(&out, NULL, '{');
    if (request->to.count > 1) {
        json_open(&out, "keyframes", '[');
    }
    for (int k = 0; k < request->to.count && !status; k++) {
        sim_ik_result result;
        status = parse_pose(request->to.item[k], &goal, error);
        status = status ? status : sim_inverse_kinematics(m, &goal, 1, &options, q, &result, error);
        if (status) {
            break;
        }
        say_result(request, k, &result);
        worst = result.outcome == SIM_IK_REACHED ? worst : SIM_FAILED;
        if (request->to.count > 1) {
            char name[32];
            snprintf(name, sizeof name, "pose%d", k + 1);
            json_open(&out, NULL, '{');
            json_text(&out, "name", name);
        }
        print_joints(&out, m, m->body[goal.body].tree, q);
        if (request->to.count > 1) {
            json_close(&out, '}');
        }
    }
    if (request->to.count > 1) {
        json_close(&out, ']');
    }
    json_close(&out, '}');
    printf("\n");
    return status ? status : worst;
}

/* The site, or else the frame of the body of that name; body -1: there is neither. */
static sim_ik_goal find_goal(const sim_model *m, const char *name) {
    int site = sim_model_find_site(m, name);
    sim_ik_goal frame = {.body = sim_model_find_body(m, name), .frame = pose_identity()};
    return site < 0 ? frame : (sim_ik_goal){.body = m->site[site].body, .frame = m->site[site].pose};
}

/* All that can be refused, before anything is printed. */
static sim_status check_goal(const ik_request *request, const sim_scene *scene, sim_ik_goal *to, sim_error *error) {
    const sim_model *m = scene->model;
    *to = find_goal(m, request->site);
    if (to->body < 0) {
        char list[256] = "";
        for (int k = 0; k < m->nsite && strlen(list) < 180; k++) {
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s \"%.40s\"", k ? "," : "", m->site[k].name);
        }
        return sim_fail(error, SIM_BAD_INPUT, "%s has no site and no body \"%s\"%s%s", request->file, request->site,
                        m->nsite ? "; there are the sites" : "", list);
    }
    sim_ik_goal goal;
    sim_status status = SIM_OK;
    for (int k = 0; k < request->to.count && !status; k++) {
        status = parse_pose(request->to.item[k], &goal, error);
    }
    if (!status && (to->body == 0 || m->tree[m->body[to->body].tree].nv == 0)) {
        status = sim_fail(error, SIM_BAD_INPUT, "no joint moves the site \"%s\"", request->site);
    }
    return status;
}

int ik_command(int count, char **arguments) {
    ik_request request;
    sim_error error = {0};
    sim_status status = parse_ik_request(count, arguments, &request, &error);
    if (!status && request.help) {
        usage_print(&ik_options);
    } else if (!status) {
        /* scene and goals */
        scene_wish wish = {.set = request.set, .start = request.start, .robot = &request.robot};
        sim_scene *scene = setup_scene(request.file, NULL, 0, &wish, &error);
        sim_ik_goal to;
        status = scene ? check_goal(&request, scene, &to, &error) : error.status;
        double *q = status ? NULL : malloc((size_t)scene->model->nq * sizeof *q + 1);
        if (!status && !q) {
            status = sim_fail(&error, SIM_NO_RESOURCE, "no memory for inverse kinematics");
        }
        /* joints */
        if (!status) {
            memcpy(q, scene->model->q_initial, (size_t)scene->model->nq * sizeof *q);
            error = (sim_error){0};
            status = solve_poses(&request, scene, to, q, &error);
        }
        free(q);
        sim_scene_free(scene);
    }
    options_free(&ik_options, &request);
    if (status && error.text[0]) {
        error_print(&error);
    }
    return status;
}
