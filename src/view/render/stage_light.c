/* Shadow maps.  A map of the nearest surfaces, drawn along its direction over a ball around the scene.  A place is lit
 * if nothing on the map is nearer to the light by more than the map resolves.
 *
 * The sun is one light.  The sky is several lights, spread over the half sphere above.  Each stands for an equal share
 * of the light on level ground, so corners and places under things are darker. */
#include "view/render/stage.h"

static const int sun_size = 2048, sky_size = 160;
enum { BLUR_TEXELS = 2, BLUR_SIDE = 2 * BLUR_TEXELS + 2 }; /* texels over which light is averaged: soft borders */
static const float lean = 1.5f; /* texels by which a place is moved off its surface before it is looked up */

/* cos^2 of the angle from above in equal parts, without light along the ground, whose long shadows would show one by
 * one. */
static void direction_of(int light, vec3 out) {
    static const float sun[3] = {-0.5f, -0.5f, 1};
    if (light == 0) {
        glm_vec3_normalize_to((float *)sun, out);
        return;
    }
    int k = light - 1;
    float up = sqrtf(((float)k + 1.5f) / (STAGE_SKY + 1)), out_of_it = sqrtf(1 - up * up);
    float angle = 2.399963f * (float)k + 0.5f; /* the golden angle: no two in one line */
    glm_vec3_copy((vec3){out_of_it * cosf(angle), out_of_it * sinf(angle), up}, out);
}

static void aim_light(stage_light *light, vec3 centre, float radius) {
    vec3 eye, up = {0, 0, 1};
    mat4 look, flat, texels = GLM_MAT4_IDENTITY_INIT;
    if (fabsf(light->direction[2]) > 0.99f) {
        glm_vec3_copy((vec3){0, 1, 0}, up);
    }
    glm_vec3_copy(centre, eye);
    glm_vec3_muladds(light->direction, radius, eye);
    glm_lookat(eye, centre, up, look);
    glm_ortho_rh_no(-radius, radius, -radius, radius, 0, 2 * radius, flat);
    glm_mat4_mul(flat, look, light->project);
    float half = (float)light->size / 2;
    glm_translate(texels, (vec3){half, half, 0});
    glm_scale(texels, (vec3){half, half, -radius}); /* near 1 at the light, -1 far: in metres */
    glm_mat4_mul(texels, light->project, light->project);
    light->texel = radius / half;
}

bool stage_lights_aim(stage *s, vec3 centre, float radius) {
    for (int k = 0; k < STAGE_LIGHTS; k++) {
        stage_light *light = &s->light[k];
        light->size = k == 0 ? sun_size : sky_size;
        light->near = ARENA_NEW(s->arena, float, (size_t)light->size *(size_t)light->size);
        size_t tiles = (size_t)(light->size / STAGE_TILE);
        light->crest = ARENA_NEW(s->arena, float, tiles *tiles);
        if (!light->near || !light->crest) {
            return false;
        }
        direction_of(k, light->direction);
        aim_light(light, centre, radius);
    }
    return true;
}

static void place_on_map(stage_light *light, vec3 at, vec3 out) { glm_mat4_mulv3(light->project, at, 1, out); }

/* Over each tile and as far around it as softness reaches. */
static void find_crests(stage_light *light) {
    int tiles = light->size / STAGE_TILE;
    for (int k = 0; k < tiles * tiles; k++) {
        int x0 = k % tiles * STAGE_TILE - BLUR_TEXELS - 1, y0 = k / tiles * STAGE_TILE - BLUR_TEXELS - 1;
        float most = -INFINITY;
        for (int y = y0 < 0 ? 0 : y0; y < y0 + STAGE_TILE + 2 * BLUR_TEXELS + 2 && y < light->size; y++) {
            const float *row = light->near + (ptrdiff_t)y * light->size;
            for (int x = x0 < 0 ? 0 : x0; x < x0 + STAGE_TILE + 2 * BLUR_TEXELS + 2 && x < light->size; x++) {
                most = row[x] > most ? row[x] : most;
            }
        }
        light->crest[k] = most;
    }
}

void stage_light_draw(stage *s, int number) {
    /* depth map seen from the light */
    stage_light *light = &s->light[number];
    raster_plane plane = {light->size, 0, light->size, 0.5, 0.5, light->near, NULL};
    raster_clear(&plane, -1e30f);
    /* faces that cast a shadow */
    for (int f = 0; f < s->faces; f++) {
        const stage_face *face = &s->face[f];
        raster_triangle t = {.id = 1};
        if (s->paint[face->paint].mark || s->paint[face->paint].planes != (1u << STAGE_SAMPLES) - 1) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            vec3 at;
            place_on_map(light, s->corner[face->corner[i]].at, at);
            t.x[i] = (double)at[0];
            t.y[i] = (double)at[1];
            t.near[i] = (double)at[2];
        }
        raster_triangle_fill(&plane, &t);
    }
    find_crests(light);
}

/* The mean over a square of 2 REACH + 1 texels a side around the place, which may lie between texels: whole texels
 * within, parts of those at the border. */
static float mean_around(const stage_light *light, float x, float y, float near) {
    float fx = floorf(x - 0.5f), fy = floorf(y - 0.5f), u = x - 0.5f - fx, v = y - 0.5f - fy, sum = 0;
    const float *row = light->near + (ptrdiff_t)((int)fy - BLUR_TEXELS) * light->size + (int)fx - BLUR_TEXELS;
    for (int j = 0; j < BLUR_SIDE; j++, row += light->size) {
        float line = 0;
        for (int i = 1; i < BLUR_SIDE - 1; i++) {
            line += row[i] <= near ? 1.0f : 0.0f;
        }
        line += row[0] <= near ? 1 - u : 0;
        line += row[BLUR_SIDE - 1] <= near ? u : 0;
        sum += line * (j == 0 ? 1 - v : j == BLUR_SIDE - 1 ? v : 1);
    }
    return sum / (float)((BLUR_SIDE - 1) * (BLUR_SIDE - 1));
}

/* Where nothing around is nearer to the light, which is almost everywhere, no texel is looked at. */
float stage_light_reaches(const stage *s, int number, vec3 at, vec3 normal) {
    const stage_light *light = &s->light[number];
    const float(*m)[4] = (const float(*)[4])light->project;
    float off = lean * light->texel, p[3];
    for (int i = 0; i < 3; i++) {
        p[i] = m[3][i];
        for (int k = 0; k < 3; k++) {
            p[i] += m[k][i] * (at[k] + off * normal[k]);
        }
    }
    float low = BLUR_TEXELS + 2, high = (float)light->size - low, near = p[2] + off;
    if (!(p[0] > low && p[1] > low && p[0] < high && p[1] < high)) {
        return 1;
    }
    int tile = (int)p[1] / STAGE_TILE * (light->size / STAGE_TILE) + (int)p[0] / STAGE_TILE;
    return light->crest[tile] <= near ? 1 : mean_around(light, p[0], p[1], near);
}
