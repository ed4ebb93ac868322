/* What does each light see?  A map of the nearest surfaces, drawn along its direction over a ball around the scene: a place
 * is lit if nothing on the map is nearer to the light than itself, by more than the map can tell.
 *
 * The sun is one light.  The sky is several, spread over the half sphere above so that each stands for an equal share of the
 * light that falls on level ground: where fewer of them reach, in corners and under things, it is darker. */
#include "view/stage.h"

static const int sun_size = 2048, sky_size = 512;
static const float lean = 1.5f; /* texels by which a place is moved off its surface before it is looked up */

/* Rings of directions: cos^2 of the angle from above in equal parts. */
static void direction_of(int light, vec3 out) {
    static const float sun[3] = {-0.5f, -0.5f, 1};
    if (light == 0) {
        glm_vec3_normalize_to((float *)sun, out);
        return;
    }
    int k = light - 1;
    float up = sqrtf((float)(k % 3 + 1) / 3.5f), out_of_it = sqrtf(1 - up * up);
    float angle = 2.399963f * (float)k + 0.5f; /* the golden angle: no two in one line */
    glm_vec3_copy((vec3){out_of_it * cosf(angle), out_of_it * sinf(angle), up}, out);
}

static void aim(stage_light *light, vec3 centre, float radius) {
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

int stage_lights_aim(stage *s, vec3 centre, float radius) {
    for (int k = 0; k < STAGE_LIGHTS; k++) {
        stage_light *light = &s->light[k];
        light->size = k == 0 ? sun_size : sky_size;
        light->near = ARENA_NEW(s->arena, float, (size_t)light->size *(size_t)light->size);
        if (!light->near) {
            return 0;
        }
        direction_of(k, light->direction);
        aim(light, centre, radius);
    }
    return 1;
}

static void place_on_map(stage_light *light, vec3 at, vec3 out) { glm_mat4_mulv3(light->project, at, 1, out); }

void stage_light_draw(stage *s, int number) {
    stage_light *light = &s->light[number];
    raster_plane plane = {light->size, 0, light->size, 0.5, 0.5, light->near, NULL};
    raster_clear(&plane, -1e30f);
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
}

/* Four texels around a place, by how near each is: 0 .. 1. */
static float four_texels(const stage_light *light, float x, float y, float near) {
    float fx = floorf(x - 0.5f), fy = floorf(y - 0.5f), u = x - 0.5f - fx, v = y - 0.5f - fy;
    const float *row = light->near + (ptrdiff_t)fy * light->size + (ptrdiff_t)fx;
    float a = row[0] <= near, b = row[1] <= near, c = row[light->size] <= near, d = row[light->size + 1] <= near;
    return (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d);
}

/* The sun's shadows have soft borders: the mean over a square of 2 reach + 1 texels a side. */
float stage_light_reaches(const stage *s, int number, vec3 at, vec3 normal) {
    stage_light *light = (stage_light *)&s->light[number];
    int reach = number == 0 ? 2 : 1;
    vec3 off, p;
    glm_vec3_copy(at, off);
    glm_vec3_muladds(normal, lean * light->texel, off);
    place_on_map(light, off, p);
    float border = (float)reach + 2;
    if (!(p[0] > border && p[1] > border && p[0] < (float)light->size - border && p[1] < (float)light->size - border)) {
        return 1;
    }
    float sum = 0, near = p[2] + lean * light->texel;
    for (int j = -reach; j <= reach; j++) {
        for (int i = -reach; i <= reach; i++) {
            sum += four_texels(light, p[0] + (float)i, p[1] + (float)j, near);
        }
    }
    return sum / (float)((2 * reach + 1) * (2 * reach + 1));
}
