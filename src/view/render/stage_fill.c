/* Surfaces of a picture.  Shapes have the colours of the scene (by default one colour a tree, as on the page of a run).
 * Tendons are rods with round joints; contacts are balls and arrows in the colour of their state.  A polygon between
 * pressure fields is a disc of its area, the paler the less pressure it bears. */
#include "math/angle.h"
#include "math/v3.h"
#include "view/render/parts.h"

#include <string.h>

static const uint32_t palette[] = {0x6f9bc8, 0xd98d5f, 0x7fb08a, 0xb58bbd, 0xc9b063, 0x6fb3b3, 0xc97f8b, 0x8f98b8};
static const uint32_t standing_colour = 0xb4bac2, tendon_colour = 0xb5483a;

/* Of contacts, on light and on dark ground. */
static const struct contact_colours {
    uint32_t open, stick, slip;
} contact_colours[2] = {{0x7b8794, 0x1668d9, 0xe8710a}, {0x8593a3, 0x4aa3ff, 0xffa033}};

enum { PALETTE_ENTRIES = sizeof palette / sizeof palette[0] };

static float linear_of(double c) { return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4)); }

void stage_colour(uint32_t rgb, vec3 linear) {
    for (int k = 0; k < 3; k++) {
        linear[k] = linear_of((rgb >> (16 - 8 * k) & 0xff) / 255.0);
    }
}

static bool is_carried(const sim_model *model, int body) {
    while (body > 0 && model->body[body].nv == 0) {
        body = model->body[body].parent;
    }
    return body > 0;
}

static int root_of(const sim_model *model, int body) {
    while (body > 0 && model->body[body].parent > 0) {
        body = model->body[body].parent;
    }
    return body;
}

/* Transparent surfaces cover only some samples of each pixel. */
static uint32_t planes_of(float alpha) {
    static const uint32_t some[STAGE_SAMPLES + 1] = {0x0, 0x1, 0x9, 0xd, 0xf};
    int count = (int)lrintf(alpha * STAGE_SAMPLES);
    return some[count < 0 ? 0 : count > STAGE_SAMPLES ? STAGE_SAMPLES : count];
}

/* `otherwise`: where the scene gives no colour. */
static stage_paint paint_with(const float color[4], uint32_t otherwise) {
    stage_paint paint = {.planes = planes_of(color[3])};
    stage_colour(otherwise, paint.colour);
    for (int k = 0; k < 3 && color[0] >= 0; k++) {
        paint.colour[k] = linear_of(color[k]);
    }
    return paint;
}

static stage_paint paint_of(const sim_model *model, const sim_shape *shape) {
    bool carried = is_carried(model, shape->body);
    return paint_with(shape->color, carried ? palette[root_of(model, shape->body) % PALETTE_ENTRIES] : standing_colour);
}

/* ---- surfaces ---- */

static void put_vector(vec3 out, v3 a) {
    out[0] = (float)a.x;
    out[1] = (float)a.y;
    out[2] = (float)a.z;
}

/* x -> p + R (scale x) */
static void put_mesh(stage *s, const view_mesh *mesh, const sim_pose *pose, const double scale[3], stage_paint paint) {
    stage_corner *corner = s->corner + s->corners;
    for (int k = 0; k < mesh->nvertex; k++) {
        const float *x = mesh->position[k], *n = mesh->normal[k];
        put_vector(corner[k].at,
                   v3_add(pose->p, m3_times(pose->R, v3_make(scale[0] * (double)x[0], scale[1] * (double)x[1],
                                                             scale[2] * (double)x[2]))));
        put_vector(corner[k].normal, m3_times(pose->R, v3_make((double)n[0] / scale[0], (double)n[1] / scale[1],
                                                               (double)n[2] / scale[2])));
        glm_vec3_normalize(corner[k].normal);
    }
    for (int k = 0; k < mesh->ntriangle; k++) {
        stage_face *face = &s->face[s->faces++];
        for (int i = 0; i < 3; i++) {
            face->corner[i] = (uint32_t)s->corners + mesh->triangle[k][i];
        }
        face->paint = (uint32_t)s->paints;
    }
    s->corners += mesh->nvertex;
    s->paint[s->paints++] = paint;
}

static stage_sectors sectors_of(const view_sectors *own, const sim_pose *pose, const double scale[3]) {
    stage_sectors sectors = {.strength = own->strength};
    const v3 axis[3] = {pose->R.x, pose->R.y, pose->R.z};
    const float *m = own->middle;
    put_vector(sectors.middle,
               v3_add(pose->p, m3_times(pose->R, v3_make(scale[0] * (double)m[0], scale[1] * (double)m[1],
                                                         scale[2] * (double)m[2]))));
    for (int i = 0; i < 3; i++) {
        if (own->changes[i]) {
            put_vector(sectors.normal[sectors.count++], axis[i]);
        }
    }
    return sectors;
}

static void put_floor(stage *s, const sim_pose *pose, int half_space) {
    double height = -v3_dot(pose->R.z, pose->p); /* of the eye, which is the origin */
    if (height <= 0 || s->floors == STAGE_FLOORS) {
        return;
    }
    stage_floor *floor = &s->floor[s->floors++];
    put_vector(floor->normal, pose->R.z);
    put_vector(floor->along, pose->R.x);
    put_vector(floor->across, pose->R.y);
    floor->height = (float)height;
    floor->eye[0] = (float)-v3_dot(pose->R.x, pose->p);
    floor->eye[1] = (float)-v3_dot(pose->R.y, pose->p);
    floor->half_space = half_space;
}

static void put_shapes(stage *s, const stage_source *source, const view_frame *frame, sim_v3 eye) {
    const sim_model *model = source->scene->model;
    for (int k = 0; k < model->nshape; k++) {
        const sim_shape *shape = &model->shape[k];
        const sim_pose *body = &frame->pose[shape->body];
        sim_pose pose = {m3_product(body->R, shape->pose.R),
                         v3_sub(v3_add(body->p, m3_times(body->R, shape->pose.p)), eye)};
        int mesh = source->drawing->mesh_of[k];
        if (shape->type == SIM_HALF_SPACE && !shape->hidden) {
            put_floor(s, &pose, 1);
        } else if (mesh >= 0) {
            const double *scale = source->drawing->scale[k];
            stage_paint paint = paint_of(model, shape);
            paint.sectors = sectors_of(&source->sectors[k], &pose, scale);
            put_mesh(s, source->mesh[mesh], &pose, scale, paint);
        }
    }
}

static void put_softs(stage *s, const stage_source *source, const view_frame *frame, sim_v3 eye) {
    const sim_model *model = source->scene->model;
    const sim_pose pose = {m3_identity(), {0, 0, 0}};
    for (int k = 0; k < model->nsoft; k++) {
        const sim_soft *soft = &model->soft[k];
        view_soft_place(&source->soft[k], soft, frame->pose, eye);
        put_mesh(s, source->soft[k].mesh, &pose, (double[]){1, 1, 1},
                 paint_with(soft->color, palette[soft->body % PALETTE_ENTRIES]));
    }
}

/* ---- contacts ---- */

/* Sizes as on the page of a run, in parts of a typical body. */
static const double DOT_RADIUS = 0.055, ARROW_RADIUS = 0.022, MAX_ARROW_LENGTH = 12, MIN_ARROW_LENGTH = 0.03;

/* Of a disc: its height over its radius; how far from white it is without pressure. */
static const double PATCH_HEIGHT = 0.05, MAX_PALE_PART = 0.3;

static uint32_t contact_colour(const stage_source *source, const view_contact *c) {
    const sim_model *model = source->scene->model;
    const struct contact_colours *colour = &contact_colours[source->wish->dark != 0];
    double normal = v3_dot(c->impulse, c->normal);
    double friction = v3_norm(v3_axpy(c->impulse, -normal, c->normal));
    double mu =
        sim_material_together(model, model->shape[c->shape_a].material, model->shape[c->shape_b].material).friction;
    return v3_norm(c->impulse) == 0 ? colour->open : friction < 0.995 * mu * normal ? colour->stick : colour->slip;
}

static m3 turned_to(v3 z) {
    v3 away = fabs(z.x) < 0.7 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    v3 y = v3_cross(z, away);
    y = v3_scale(1 / v3_norm(y), y);
    return (m3){v3_cross(y, z), y, z};
}

/* ---- tendons ---- */

/* The lines of all tendons that are drawn, one tendon after the other. */
typedef struct tendon_lines {
    sim_v3 (*line)[2];
    int *end; /* [ntendon] */
    int count;
} tendon_lines;

/* false: no memory. */
static bool find_tendon_lines(const stage *s, const stage_source *source, tendon_lines *out) {
    const sim_model *m = source->scene->model;
    const sim_derived *d = source->posed;
    *out = (tendon_lines){.end = ARENA_NEW(s->arena, int, m->ntendon)};
    for (int k = 0; k < m->ntendon && out->end; k++) {
        out->count += m->tendon[k].width > 0 ? sim_tendon_lines(d, k, NULL, 0) : 0;
        out->end[k] = out->count;
    }
    out->line = arena_alloc(s->arena, (size_t)out->count, sizeof *out->line);
    for (int k = 0, at = 0; k < m->ntendon && out->end && out->line; at = out->end[k++]) {
        sim_tendon_lines(d, k, out->line + at, out->end[k] - at);
    }
    return out->end && out->line;
}

static stage_paint paint_of_tendon(const sim_tendon *t) {
    stage_paint paint = {.planes = planes_of(t->color[3])};
    stage_colour(tendon_colour, paint.colour);
    for (int k = 0; k < 3 && t->color[0] >= 0; k++) {
        paint.colour[k] = linear_of(t->color[k]);
    }
    return paint;
}

/* Rods, and a ball at the end of each. */
static void put_tendons(stage *s, const stage_source *source, const tendon_lines *lines, v3 eye) {
    const sim_model *m = source->scene->model;
    for (int k = 0, i = 0; k < m->ntendon; k++) {
        double r = 0.5 * m->tendon[k].width;
        stage_paint paint = paint_of_tendon(&m->tendon[k]);
        for (; i < lines->end[k]; i++) {
            v3 way = v3_sub(lines->line[i][1], lines->line[i][0]);
            double length = v3_norm(way);
            v3 along = length > 0 ? v3_scale(1 / length, way) : v3_make(0, 0, 1);
            sim_pose pose = {turned_to(along), v3_sub(v3_axpy(lines->line[i][0], 0.5, way), eye)};
            put_mesh(s, source->shaft, &pose, (double[]){r, r, length > 0 ? length : r}, paint);
            pose.p = v3_sub(lines->line[i][1], eye);
            put_mesh(s, source->ball, &pose, (double[]){r, r, r}, paint);
        }
    }
}

/* ---- arrows and points ---- */

/* The force on A; if A stands still, the force on B. */
static void put_arrow(stage *s, const stage_source *source, const view_contact *c, v3 at, stage_paint paint) {
    const sim_model *model = source->scene->model;
    double size = source->sizes->typical, impulse = v3_norm(c->impulse);
    double length = impulse / source->scene->options.step / source->sizes->force * size;
    length = min_of(length, MAX_ARROW_LENGTH * size);
    if (!(length > MIN_ARROW_LENGTH * size)) {
        return;
    }
    double sign = is_carried(model, model->shape[c->shape_a].body) ? 1 : -1;
    double tip = min_of(0.2 * size, 0.45 * length), width = ARROW_RADIUS * size;
    v3 way = v3_scale(sign / impulse, c->impulse);
    sim_pose pose = {turned_to(way), v3_axpy(at, (length - tip) / 2, way)};
    put_mesh(s, source->shaft, &pose, (double[]){width, width, length - tip}, paint);
    pose.p = v3_axpy(at, length - tip, way);
    put_mesh(s, source->tip, &pose, (double[]){0.32 * tip, 0.32 * tip, tip}, paint);
}

/* Impulse of the normal over the area, N s/m^2. */
static double patch_load(const view_contact *c) { return fabs(v3_dot(c->impulse, c->normal)) / c->area; }

static void put_patch(stage *s, const stage_source *source, const view_contact *c, v3 at, double most,
                      stage_paint paint) {
    double radius = sqrt(c->area / PI), share = most > 0 ? sqrt(patch_load(c) / most) : 0;
    for (int k = 0; k < 3; k++) {
        paint.colour[k] = (float)(MAX_PALE_PART + (1 - MAX_PALE_PART) * share) * (paint.colour[k] - 1) + 1;
    }
    sim_pose pose = {turned_to(c->normal), at};
    put_mesh(s, source->shaft, &pose, (double[]){radius, radius, PATCH_HEIGHT * radius}, paint);
}

static void draw_contacts(stage *s, const stage_source *source, const view_frame *frame, sim_v3 eye) {
    double radius = DOT_RADIUS * source->sizes->typical, most = 0;
    for (int k = 0; k < frame->ncontact; k++) {
        most = frame->contact[k].area > 0 ? fmax(most, patch_load(&frame->contact[k])) : most;
    }
    for (int k = 0; k < frame->ncontact; k++) {
        const view_contact *c = &frame->contact[k];
        stage_paint paint = {.mark = 1, .planes = (1u << STAGE_SAMPLES) - 1};
        stage_colour(contact_colour(source, c), paint.colour);
        sim_pose pose = {m3_identity(), v3_sub(c->position, eye)};
        if (source->wish->contacts && c->area > 0) {
            put_patch(s, source, c, pose.p, most, paint);
        } else if (source->wish->contacts) {
            put_mesh(s, source->ball, &pose, (double[]){radius, radius, radius}, paint);
        }
        if (source->wish->forces) {
            put_arrow(s, source, c, pose.p, paint);
        }
    }
}

/* ---- all of it ---- */

static void count_mesh(const view_mesh *mesh, size_t times, size_t room[3]) {
    room[0] += times * (size_t)mesh->nvertex;
    room[1] += times * (size_t)mesh->ntriangle;
    room[2] += times;
}

bool stage_fill(stage *s, const stage_source *source, const view_frame *frame, sim_v3 eye) {
    /* room for the meshes */
    size_t room[3] = {1, 1, 1}, contacts = (size_t)frame->ncontact;
    tendon_lines lines = {0};
    if (source->posed && !find_tendon_lines(s, source, &lines)) {
        return false;
    }
    for (int k = 0; k < source->scene->model->nshape; k++) {
        int mesh = source->drawing->mesh_of[k];
        if (mesh >= 0) {
            count_mesh(source->mesh[mesh], 1, room);
        }
    }
    for (int k = 0; k < source->scene->model->nsoft; k++) {
        count_mesh(source->soft[k].mesh, 1, room);
    }
    count_mesh(source->ball, (source->wish->contacts ? contacts : 0) + (size_t)lines.count, room);
    count_mesh(source->shaft,
               (source->wish->forces ? contacts : 0) + (source->wish->contacts ? contacts : 0) + (size_t)lines.count,
               room);
    count_mesh(source->tip, source->wish->forces ? contacts : 0, room);
    /* memory */
    s->corner = ARENA_NEW(s->arena, stage_corner, room[0]);
    s->face = ARENA_NEW(s->arena, stage_face, room[1]);
    s->paint = ARENA_NEW(s->arena, stage_paint, room[2]);
    s->corners = s->faces = s->paints = s->floors = 0;
    if (!s->corner || !s->face || !s->paint || room[0] > INT32_MAX / 2 || room[1] > INT32_MAX / 2) {
        return false;
    }
    /* shapes, tendons and contacts */
    put_shapes(s, source, frame, eye);
    put_softs(s, source, frame, eye);
    if (source->posed) {
        put_tendons(s, source, &lines, eye);
    }
    draw_contacts(s, source, frame, eye);
    return true;
}

/* Level, of lines alone. */
void stage_floor_below(stage *s, sim_v3 eye, double height) {
    sim_pose pose = {m3_identity(), v3_sub(v3_make(0, 0, height), eye)};
    put_floor(s, &pose, 0);
}
