/* Rendering of a scene.
 *
 *     surfaces, relative to the eye -> shadow map of each light -> triangles in pixels, band by band of the picture ->
 *     nearest triangle of each of four samples of a pixel -> their colours, averaged
 *
 * Colours are computed last, once for each surface that a pixel shows (deferred shading).  Threads share the bands.
 * One thread draws a band, in the order of the triangles, so the picture does not depend on the number of threads. */
#include "view/render/render.h"
#include "base/pool.h"
#include "base/threads.h"
#include "math/angle.h"
#include "math/v3.h"
#include "view/render/parts.h"

#include <stdlib.h>
#include <string.h>

/* Colours of the surroundings, on a light and on a dark page (viewer/src/theme.js). */
typedef struct surroundings {
    uint32_t sky, ground, line, below;
} surroundings;

static const surroundings day = {0xe9edf1, 0xf3f5f7, 0x8794a3, 0xc9ced6};
static const surroundings night = {0x14181d, 0x2b323a, 0x6b7885, 0x5d6670};

/* ---- before the first picture ---- */

static view_mesh *arrow_tip(void) {
    /* memory */
    view_mesh *mesh = calloc(1, sizeof *mesh);
    enum { CIRCLE_POINTS = 16 };
    if (!mesh) {
        return NULL;
    }
    mesh->position = calloc(2 * CIRCLE_POINTS, sizeof *mesh->position);
    mesh->normal = calloc(2 * CIRCLE_POINTS, sizeof *mesh->normal);
    mesh->triangle = calloc(CIRCLE_POINTS, sizeof *mesh->triangle);
    if (!mesh->position || !mesh->normal || !mesh->triangle) {
        view_mesh_free(mesh);
        return NULL;
    }
    /* a ring and the tip once for each side, so that normals are smooth around */
    mesh->nvertex = 2 * CIRCLE_POINTS;
    mesh->ntriangle = CIRCLE_POINTS;
    for (uint32_t k = 0; k < CIRCLE_POINTS; k++) {
        double angle = 2 * PI * k / CIRCLE_POINTS;
        float c = (float)cos(angle), s = (float)sin(angle);
        memcpy(mesh->position[2 * k], (float[3]){c, s, 0}, sizeof(float[3]));
        memcpy(mesh->position[2 * k + 1], (float[3]){0, 0, 1}, sizeof(float[3]));
        memcpy(mesh->normal[2 * k], (float[3]){c, s, 0.5f}, sizeof(float[3]));
        memcpy(mesh->normal[2 * k + 1], (float[3]){c, s, 0.5f}, sizeof(float[3]));
        memcpy(mesh->triangle[k], (uint32_t[3]){2 * k, (2 * k + 2) % (2 * CIRCLE_POINTS), 2 * k + 1},
               sizeof(uint32_t[3]));
    }
    return mesh;
}

static bool make_meshes(render *r) {
    const sim_model *model = r->scene->model;
    sim_shape ball = {.type = SIM_SPHERE, .size = {1}}, shaft = {.type = SIM_CYLINDER, .size = {1, 1}};
    if (!view_drawing_plan(&r->drawing, model) || !view_sizes_find(&r->sizes, model)) {
        return false;
    }
    r->mesh = calloc((size_t)r->drawing.count + 1, sizeof *r->mesh);
    bool good = r->mesh != NULL;
    for (int k = 0; good && k < r->drawing.count; k++) {
        r->mesh[k] = view_mesh_create(&r->drawing.base[k], view_drawing_detail(model->nshape));
        good = r->mesh[k] != NULL;
    }
    r->ball = view_mesh_create(&ball, 12);
    r->shaft = view_mesh_create(&shaft, 12);
    r->tip = arrow_tip();
    return good && r->ball && r->shaft && r->tip;
}

static bool make_softs(render *r) {
    const sim_model *model = r->scene->model;
    r->soft = POOL_NEW(r->pool, view_soft, model->nsoft + 1);
    bool good = r->soft != NULL;
    for (int k = 0; good && k < model->nsoft; k++) {
        good = view_soft_create(&r->soft[k], &model->soft[k]);
    }
    return good;
}

static bool make_sectors(render *r) {
    const sim_model *model = r->scene->model;
    view_round *round = POOL_NEW(r->pool, view_round, r->drawing.count + 1);
    r->sectors = POOL_NEW(r->pool, view_sectors, model->nshape + 1);
    for (int k = 0; round && k < r->drawing.count; k++) {
        round[k] = view_round_find(r->mesh[k]);
    }
    for (int k = 0; round && r->sectors && k < model->nshape; k++) {
        int mesh = r->drawing.mesh_of[k];
        if (mesh >= 0) {
            r->sectors[k] = view_sectors_of(&model->shape[k], r->drawing.scale[k], &round[mesh]);
        }
    }
    return round && r->sectors;
}

static void make_tones(render *r) {
    for (int k = 0; k <= TONE_STEPS; k++) {
        double c = (double)k / TONE_STEPS, s = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
        r->tone[k] = (unsigned char)lrint(255 * s);
    }
}

render *render_create(const sim_scene *scene, const render_wish *wish, sim_error *error) {
    /* memory */
    memory_pool *pool = pool_create();
    render *r = pool ? POOL_NEW(pool, render, 1) : NULL;
    if (!r) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
        return NULL;
    }
    r->pool = pool;
    r->scene = scene;
    r->wish = *wish;
    /* samples of the bands */
    r->stage = POOL_NEW(pool, stage, 1);
    r->arena = arena_create();
    r->threads = threads_create(wish->threads);
    size_t samples = (size_t)wish->threads * STAGE_SAMPLES * BAND_ROWS * (size_t)wish->width;
    r->near = POOL_NEW(pool, float, samples);
    r->id = POOL_NEW(pool, uint32_t, samples);
    r->posed = scene->model->ntendon ? sim_derived_create(scene->model, NULL) : NULL;
    if ((scene->model->ntendon && !r->posed) || !r->stage || !r->arena || !r->threads || !r->near || !r->id ||
        !make_meshes(r) || !make_softs(r) || !make_sectors(r)) {
        render_free(r);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
        return NULL;
    }
    /* colours */
    make_tones(r);
    stage *s = r->stage;
    s->arena = r->arena;
    s->width = wish->width;
    s->height = wish->height;
    const surroundings *around = wish->dark ? &night : &day;
    stage_colour(around->sky, s->sky);
    stage_colour(around->ground, s->ground);
    stage_colour(around->line, s->line);
    stage_colour(around->below, s->below);
    return r;
}

void render_free(render *r) {
    if (r) {
        for (int k = 0; r->mesh && k < r->drawing.count; k++) {
            view_mesh_free(r->mesh[k]);
        }
        for (int k = 0; r->soft && k < r->scene->model->nsoft; k++) {
            view_soft_free(&r->soft[k]);
        }
        free(r->mesh);
        sim_derived_free(r->posed);
        view_mesh_free(r->ball);
        view_mesh_free(r->shaft);
        view_mesh_free(r->tip);
        view_drawing_free(&r->drawing);
        view_sizes_free(&r->sizes);
        threads_free(r->threads);
        arena_free(r->arena);
        pool_free(r->pool);
    }
}

/* ---- the camera ---- */

static void vector_of(sim_v3 a, vec3 out) {
    out[0] = (float)a.x;
    out[1] = (float)a.y;
    out[2] = (float)a.z;
}

/* The eye is the origin. */
static void aim_camera(render *r, const render_lens *lens) {
    stage *s = r->stage;
    vec3 eye = {0, 0, 0}, target, up = {0, 0, 1};
    mat4 look, lens_matrix, pixels = GLM_MAT4_IDENTITY_INIT;
    vector_of(v3_sub(lens->target, lens->eye), target);
    float distance = glm_vec3_norm(target), aspect = (float)render_aspect(r);
    if (fabsf(target[2]) > 0.9999f * distance) {
        glm_vec3_copy((vec3){0, 1, 0}, up); /* straight up or down */
    }
    glm_lookat(eye, target, up, look);
    glm_perspective_rh_no((float)lens->fov, aspect, 1, 2, lens_matrix); /* its depth is not used */
    glm_translate(pixels, (vec3){(float)s->width / 2, (float)s->height / 2, 0});
    glm_scale(pixels, (vec3){(float)s->width / 2, -(float)s->height / 2, 1});
    glm_mat4_mul(lens_matrix, look, s->project);
    glm_mat4_mul(pixels, s->project, s->project);
    for (int i = 0; i < 3; i++) {
        s->right[i] = look[i][0];
        s->up[i] = look[i][1];
        s->forward[i] = -look[i][2];
    }
    s->slope_y = tanf((float)lens->fov / 2);
    s->slope_x = aspect * s->slope_y;
    s->nearest = 0.005f * distance;
}

/* ---- bands ---- */

typedef struct seen {
    uint32_t id;
    float x, y, samples;
} seen;

/* Rotated by so much that no two samples share a line or a column. */
static const float sample_x[STAGE_SAMPLES] = {0.375f, 0.875f, 0.125f, 0.625f};
static const float sample_y[STAGE_SAMPLES] = {0.125f, 0.375f, 0.625f, 0.875f};

static void draw_band(render *r, int band, raster_plane plane[STAGE_SAMPLES]) {
    stage *s = r->stage;
    for (int p = 0; p < STAGE_SAMPLES; p++) {
        raster_clear(&plane[p], 0);
        for (int f = 0; f < s->floors; f++) {
            stage_floor *floor = &s->floor[f];
            /* way = forward + (2 x / width - 1) slope_x right + ...; 1 / distance along the view = -n way / height */
            double forward = -(double)glm_vec3_dot(floor->normal, s->forward) / (double)floor->height;
            double right = -(double)(glm_vec3_dot(floor->normal, s->right) * s->slope_x / floor->height);
            double up = -(double)(glm_vec3_dot(floor->normal, s->up) * s->slope_y / floor->height);
            raster_surface_fill(&plane[p], (uint32_t)f + 1, forward - right + up, 2 * right / s->width,
                                -2 * up / s->height);
        }
    }
    for (int k = r->bins.start[band]; k < r->bins.start[band + 1]; k++) {
        const raster_triangle *t = &r->bins.triangle[r->bins.item[k]];
        for (int p = 0; p < STAGE_SAMPLES; p++) {
            if (t->planes >> p & 1) {
                raster_triangle_fill(&plane[p], t);
            }
        }
    }
}

/* The surfaces that a pixel shows, each once, and the mean position of their samples. */
static int gather_samples(const raster_plane plane[STAGE_SAMPLES], ptrdiff_t at, seen list[STAGE_SAMPLES]) {
    int count = 0;
    for (int p = 0; p < STAGE_SAMPLES; p++) {
        int k = 0;
        while (k < count && list[k].id != plane[p].id[at]) {
            k++;
        }
        if (k == count) {
            list[count++] = (seen){.id = plane[p].id[at]};
        }
        list[k].x += sample_x[p];
        list[k].y += sample_y[p];
        list[k].samples++;
    }
    return count;
}

static unsigned char tone_of(const render *r, float linear) {
    float at = linear * TONE_STEPS + 0.5f;
    return r->tone[at <= 0 ? 0 : at >= TONE_STEPS ? TONE_STEPS : (int)at];
}

static void shade_band(render *r, const raster_plane plane[STAGE_SAMPLES]) {
    int width = r->wish.width;
    for (int row = plane->first; row < plane->end; row++) {
        for (int x = 0; x < width; x++) {
            seen list[STAGE_SAMPLES];
            int count = gather_samples(plane, (row - plane->first) * (ptrdiff_t)width + x, list);
            vec3 sum = {0, 0, 0}, colour;
            for (int k = 0; k < count; k++) {
                float share = list[k].samples;
                stage_shade(r->stage, list[k].id, (float)x + list[k].x / share, (float)row + list[k].y / share, colour);
                glm_vec3_minv(colour, (vec3){1, 1, 1}, colour);
                glm_vec3_muladds(colour, share / STAGE_SAMPLES, sum);
            }
            unsigned char *out = r->rgb + 3 * (row * (ptrdiff_t)width + x);
            for (int i = 0; i < 3; i++) {
                out[i] = tone_of(r, sum[i]);
            }
        }
    }
}

static void some_bands(void *context, int worker, int first, int end) {
    render *r = context;
    int width = r->wish.width, height = r->wish.height;
    size_t one = (size_t)BAND_ROWS * (size_t)width, mine = (size_t)worker * STAGE_SAMPLES * one;
    for (int band = first; band < end; band++) {
        raster_plane plane[STAGE_SAMPLES];
        int last = (band + 1) * BAND_ROWS;
        for (int p = 0; p < STAGE_SAMPLES; p++) {
            plane[p] = (raster_plane){.width = width,
                                      .first = band * BAND_ROWS,
                                      .end = last < height ? last : height,
                                      .dx = (double)sample_x[p],
                                      .dy = (double)sample_y[p],
                                      .near = r->near + mine + (size_t)p * one,
                                      .id = r->id + mine + (size_t)p * one};
        }
        draw_band(r, band, plane);
        shade_band(r, plane);
    }
}

/* ---- the picture ---- */

static void some_lights(void *context, int worker, int first, int end) {
    render *r = context;
    (void)worker;
    for (int k = first; k < end; k++) {
        stage_light_draw(r->stage, k);
    }
}

static bool fill_stage(render *r, const view_frame *frame, const view_extent *extent, const render_lens *lens) {
    /* surfaces */
    stage *s = r->stage;
    stage_source source = {r->scene, &r->drawing, r->mesh,  r->sectors, r->ball, r->shaft,
                           r->tip,   &r->sizes,   &r->wish, r->soft,    r->posed};
    if (r->posed) {
        memcpy(r->posed->pose, frame->pose, (size_t)r->scene->model->nbody * sizeof *frame->pose);
    }
    arena_release(r->arena, 0);
    if (!stage_fill(s, &source, frame, lens->eye)) {
        return false;
    }
    /* the ground, and the ball that the lights fall on */
    render_ball moves = render_extent_ball(r, extent, false), all = render_extent_ball(r, extent, true);
    vector_of(v3_sub(moves.centre, lens->eye), s->centre);
    s->radius = (float)moves.radius;
    s->cell = r->wish.plain ? 0 : powf(10, floorf(log10f(0.4f * s->radius)));
    if (s->floors == 0) {
        stage_floor_below(s, lens->eye, render_extent_low(r, extent));
    }
    render_ball lit = all.radius < 3 * moves.radius ? all : (render_ball){moves.centre, 1.6 * moves.radius};
    vec3 centre;
    vector_of(v3_sub(lit.centre, lens->eye), centre);
    return stage_lights_aim(s, centre, (float)(1.02 * lit.radius));
}

sim_status render_picture(render *r, const view_frame *frame, const view_extent *extent, const render_lens *lens,
                          unsigned char *rgb, sim_error *error) {
    int bands = (r->wish.height + BAND_ROWS - 1) / BAND_ROWS;
    aim_camera(r, lens);
    if (!fill_stage(r, frame, extent, lens) || !render_bins_fill(&r->bins, r->stage, r->arena, BAND_ROWS, bands)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
    }
    r->rgb = rgb;
    threads_run(r->threads, STAGE_LIGHTS, some_lights, r);
    threads_run(r->threads, bands, some_bands, r);
    return SIM_OK;
}
