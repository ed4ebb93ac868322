/* Description of the scene in a page.  Bodies, joints, shapes, cameras, names and units, as JSON. */
#include "math/v3.h"
#include "view/mesh/soft.h"
#include "view/page/pack.h"

#include <stdio.h>
#include <string.h>

static void put_raw(view_bytes *out, const char *text) { view_put_bytes(out, text, strlen(text)); }

/* Bytes that are no UTF-8 were refused with the scene. */
static void put_json_text(view_bytes *out, const char *text) {
    view_put_byte(out, '"');
    for (const char *c = text ? text : ""; *c; c++) {
        char escaped[16];
        if ((unsigned char)*c < 0x20 || *c == '"' || *c == '\\') {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*c);
            put_raw(out, escaped);
        } else {
            view_put_byte(out, *c);
        }
    }
    view_put_byte(out, '"');
}

static void put_json_real(view_bytes *out, double value) {
    char text[32];
    snprintf(text, sizeof text, isfinite(value) ? "%.9g" : "null", value);
    char *comma = strchr(text, ','); /* the caller's locale may write one */
    if (comma) {
        *comma = '.';
    }
    put_raw(out, text);
}

static void put_reals(view_bytes *out, const char *key, int count, const double *value) {
    put_raw(out, ",\"");
    put_raw(out, key);
    put_raw(out, "\":[");
    for (int k = 0; k < count; k++) {
        put_raw(out, k ? "," : "");
        put_json_real(out, value[k]);
    }
    put_raw(out, "]");
}

static void put_vector(view_bytes *out, const char *key, sim_v3 v) {
    put_reals(out, key, 3, (double[]){v.x, v.y, v.z});
}

/* Least x, y, z, greatest x, y, z, m; left out where nothing is. */
static void put_box(view_bytes *out, const char *key, const sim_v3 box[2]) {
    if (!view_box_is_empty(box)) {
        put_reals(out, key, 6, (double[]){box[0].x, box[0].y, box[0].z, box[1].x, box[1].y, box[1].z});
    }
}

static void put_pose(view_bytes *out, const sim_pose *pose) {
    sim_quat q = quat_from_matrix(pose->R);
    put_vector(out, "position", pose->p);
    put_reals(out, "quaternion", 4, (double[]){q.w, q.x, q.y, q.z});
}

static void put_key_text(view_bytes *out, const char *key, const char *text) {
    put_raw(out, ",\"");
    put_raw(out, key);
    put_raw(out, "\":");
    put_json_text(out, text);
}

static void put_key_real(view_bytes *out, const char *key, double value) {
    put_raw(out, ",\"");
    put_raw(out, key);
    put_raw(out, "\":");
    put_json_real(out, value);
}

/* ---- the parts ---- */

/* Numbers with which a viewer moves a joint, besides its axes: the ends of its coordinates, and the pitch of a
 * screw. */
static void put_motion(view_bytes *out, const sim_model *model, const sim_body *body) {
    double range[2 * 6];
    for (int k = 0; k < body->nv; k++) {
        range[2 * k] = model->dof[body->v0 + k].limit.low;
        range[2 * k + 1] = model->dof[body->v0 + k].limit.high;
    }
    if (body->nv > 0 && body->nv == body->nq) {
        put_reals(out, "range", 2 * body->nv, range);
    }
    if (body->joint == SIM_SCREW) {
        put_key_real(out, "pitch", body->pitch);
    }
}

static void put_body(view_bytes *out, const view_description *d, int index) {
    /* name and place in the tree */
    const sim_body *body = &d->scene->model->body[index];
    put_raw(out, index ? ",\n{\"name\":" : "\n{\"name\":");
    put_json_text(out, index ? body->name : "world");
    put_key_real(out, "parent", body->parent);
    put_key_real(out, "radius", d->sizes->body[index]);
    /* mass properties and joint */
    if (index) {
        put_key_real(out, "mass", body->inertia.mass);
        put_vector(out, "com", body->inertia.com);
        if (body->inertia.mass > 0) {
            const sim_sym3 *m = &body->inertia.moment;
            put_reals(out, "inertia", 6, (double[]){m->xx, m->yy, m->zz, m->xy, m->xz, m->yz});
        }
        put_key_text(out, "joint", sim_joint_name(body->joint));
        put_pose(out, &body->placement);
        put_vector(out, "axis", body->axis);
        put_vector(out, "axis2", body->axis2);
        put_key_real(out, "dofs", body->nv);
        put_motion(out, d->scene->model, body);
    }
    put_raw(out, "}");
}

static void put_shape(view_bytes *out, const view_description *d, int index) {
    const sim_shape *shape = &d->scene->model->shape[index];
    double color[4] = {shape->color[0], shape->color[1], shape->color[2], shape->color[3]};
    put_raw(out, index ? ",\n{\"type\":" : "\n{\"type\":");
    put_json_text(out, sim_shape_name(shape->type));
    put_key_text(out, "name", shape->name);
    put_key_real(out, "body", shape->body);
    put_key_real(out, "mesh", d->mesh_of_shape[index]);
    put_reals(out, "scale", 3, d->scale[index]);
    put_reals(out, "color", 4, color);
    put_key_real(out, "group", shape->group);
    if (shape->hidden) {
        put_raw(out, ",\"hidden\":true");
    }
    put_pose(out, &shape->pose);
    put_raw(out, "}");
}

static void put_camera(view_bytes *out, const sim_camera *camera, int first) {
    put_raw(out, first ? "\n{\"name\":" : ",\n{\"name\":");
    put_json_text(out, camera->name);
    put_vector(out, "position", camera->position);
    put_vector(out, "target", camera->target);
    put_key_real(out, "fov", camera->fov);
    put_raw(out, "}");
}

static void put_solvers(view_bytes *out) {
    put_raw(out, ",\"live\":true,\"solvers\":[");
    for (int k = 0; k < sim_solver_count(); k++) {
        put_raw(out, k ? "," : "");
        put_json_text(out, sim_solver_at(k)->name);
    }
    put_raw(out, "]");
}

static void put_run(view_bytes *out, const view_description *d) {
    /* program and scene */
    const sim_scene *scene = d->scene;
    const sim_options *options = &scene->options;
    const sim_solver_info *solver = options->solver ? options->solver : sim_solver_default();
    put_raw(out, "{\"format\":\"sim page\",\"version\":1");
    put_key_text(out, "sim", sim_version());
    put_key_text(out, "name", scene->name);
    put_key_text(out, "description", scene->description);
    put_key_text(out, "integrator", sim_integrator_name(options->integrator));
    put_key_text(out, "solver", options->contacts && solver ? solver->name : "");
    put_key_text(out, "hash", scene->hash);
    /* scales of the drawing */
    put_key_real(out, "step", options->step);
    put_vector(out, "gravity", scene->model->gravity);
    put_key_real(out, "typical", d->sizes->typical);
    put_key_real(out, "force", d->sizes->force);
    put_key_real(out, "usual_force", d->usual_force);
    put_box(out, "moving", d->extent->moving);
    put_box(out, "still", d->extent->still);
    /* sizes of the blocks */
    put_key_real(out, "meshes", d->meshes);
    put_key_real(out, "frames", d->frames);
    put_key_real(out, "block", d->block_frames);
    if (d->live) {
        put_solvers(out);
    }
}

/* first = offset + ratio second + higher powers, of joint coordinates. */
static void put_coupling(view_bytes *out, const sim_model *model, const sim_equality *e, bool first) {
    put_raw(out, first ? "\n{\"first\":" : ",\n{\"first\":");
    for (int side = 0; side < 2; side++) {
        const sim_dof *dof = &model->dof[e->dof[side]];
        put_raw(out, side ? ",\"second\":[" : "[");
        put_json_real(out, dof->body);
        put_raw(out, ",");
        put_json_real(out, dof->coordinate - model->body[dof->body].q0);
        put_raw(out, "]");
    }
    put_key_real(out, "offset", e->offset);
    put_key_real(out, "ratio", e->ratio);
    put_reals(out, "higher", 3, e->higher);
    put_raw(out, "}");
}

static void put_couplings(view_bytes *out, const sim_model *model) {
    int count = 0;
    for (int k = 0; k < model->nequality; k++) {
        if (model->equality[k].type == SIM_COUPLING) {
            put_coupling(out, model, &model->equality[k], count++ == 0);
        }
    }
}

static void put_site(view_bytes *out, const char *key, const sim_site *site) {
    put_raw(out, key);
    put_json_real(out, site->body);
    put_vector(out, "point", site->pose.p);
}

/* viewer/src/tendons.js finds the course from it: of fixed tendons there is none. */
static void put_tendon(view_bytes *out, const sim_model *model, int index) {
    const sim_tendon *t = &model->tendon[index];
    put_raw(out, index ? ",\n{\"name\":" : "\n{\"name\":");
    put_json_text(out, t->name);
    put_key_real(out, "width", t->width);
    put_reals(out, "color", 4, (double[]){t->color[0], t->color[1], t->color[2], t->color[3]});
    put_raw(out, ",\"path\":[");
    for (int k = 0; k < t->npoint; k++) {
        /* one point of the path */
        const sim_path_point *p = &t->path[k];
        put_raw(out, k ? ",{" : "{");
        if (p->kind == SIM_PATH_PULLEY) {
            put_raw(out, "\"pulley\":true");
        } else if (p->kind == SIM_PATH_SITE) {
            put_site(out, "\"body\":", &model->site[p->site]);
        } else {
            put_raw(out, "\"shape\":");
            put_json_real(out, p->shape);
            if (p->site >= 0) {
                put_site(out, ",\"side\":{\"body\":", &model->site[p->site]);
                put_raw(out, "}");
            }
        }
        put_raw(out, "}");
    }
    put_raw(out, "]}");
}

static void put_phases(view_bytes *out, const sim_controller *machine) {
    put_raw(out, ",\"phases\":[");
    for (int k = 0; k < machine->nphase; k++) {
        put_raw(out, k ? "," : "");
        put_json_text(out, machine->phase[k].name);
    }
    put_raw(out, "]");
}

/* Its kind and number, and the ends of an input. */
static void put_reading(view_bytes *out, const sim_model *model, view_reading reading) {
    put_key_text(out, "kind", view_reading_word(reading.kind));
    put_key_real(out, "of", reading.of);
    if (reading.kind == VIEW_CTRL || reading.kind == VIEW_TARGET) {
        const sim_actuator *a = &model->actuator[reading.of];
        double range[2];
        view_reading_range(model, reading, range);
        put_reals(out, "range", 2, range);
        if (a->transmission == SIM_BY_JOINT) {
            const sim_dof *dof = &model->dof[a->dof];
            put_reals(out, "joint", 2, (double[]){dof->body, dof->coordinate - model->body[dof->body].q0});
            put_key_real(out, "gear", a->gear);
        }
    } else if (reading.kind == VIEW_PHASE) {
        put_phases(out, &model->controller[reading.of]);
    } else if (reading.kind == VIEW_COUNT && model->event[reading.of].stop) {
        put_raw(out, ",\"stop\":true");
    }
}

static void put_track(view_bytes *out, const view_description *d, int index) {
    int reading = index - (d->tracks - d->readings->count);
    put_raw(out, index ? ",\n{\"name\":" : "\n{\"name\":");
    put_json_text(out, d->track[index]);
    put_key_text(out, "unit", d->unit[index]);
    if (d->body[index]) {
        put_key_real(out, "body", d->body[index]);
        put_key_real(out, "coordinate", d->coordinate[index]);
    }
    if (reading >= 0) {
        put_reading(out, d->scene->model, d->readings->list[reading]);
    }
    put_raw(out, "}");
}

static void put_whole(view_bytes *out, long number) {
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    put_raw(out, text);
}

/* Corners of the surface by the bodies of their nodes, and triangles of corners. */
static void put_soft(view_bytes *out, const sim_soft *soft, const view_soft *surface, bool first) {
    put_raw(out, first ? "\n{\"body\":" : ",\n{\"body\":");
    put_whole(out, soft->body);
    put_key_real(out, "nodes", soft->nnode);
    put_reals(
        out, "color", 4,
        (double[]){(double)soft->color[0], (double)soft->color[1], (double)soft->color[2], (double)soft->color[3]});
    put_raw(out, ",\"corner\":[");
    for (int k = 0; k < surface->mesh->nvertex; k++) {
        put_raw(out, k ? "," : "");
        put_whole(out, soft->body + 1 + surface->node[k]);
    }
    put_raw(out, "],\"triangle\":[");
    for (int k = 0; k < 3 * surface->mesh->ntriangle; k++) {
        put_raw(out, k ? "," : "");
        put_whole(out, (long)surface->mesh->triangle[k / 3][k % 3]);
    }
    put_raw(out, "]}");
}

static void put_softs(view_bytes *out, const sim_model *model) {
    for (int k = 0; k < model->nsoft; k++) {
        view_soft surface = {0};
        if (view_soft_create(&surface, &model->soft[k])) {
            put_soft(out, &model->soft[k], &surface, k == 0);
        } else {
            out->starved = 1;
        }
        view_soft_free(&surface);
    }
}

void view_describe(view_bytes *out, const view_description *d) {
    /* sections */
    const sim_model *model = d->scene->model;
    put_run(out, d);
    put_raw(out, ",\n\"bodies\":[");
    for (int k = 0; k < model->nbody; k++) {
        put_body(out, d, k);
    }
    put_raw(out, "],\n\"shapes\":[");
    for (int k = 0; k < model->nshape; k++) {
        put_shape(out, d, k);
    }
    put_raw(out, "],\n\"softs\":[");
    put_softs(out, model);
    put_raw(out, "],\n\"couplings\":[");
    put_couplings(out, model);
    put_raw(out, "],\n\"tendons\":[");
    for (int k = 0; k < model->ntendon; k++) {
        put_tendon(out, model, k);
    }
    put_raw(out, "],\n\"cameras\":[");
    for (int k = 0; k < d->scene->ncamera; k++) {
        put_camera(out, &d->scene->camera[k], k == 0);
    }
    /* tracks and their units */
    put_raw(out, "],\n\"tracks\":[");
    for (int k = 0; k < d->tracks; k++) {
        put_track(out, d, k);
    }
    put_raw(out, "]}\n");
}
