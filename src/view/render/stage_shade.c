/* Shading.  Of a matt surface of colour c, with normal n,
 *
 *     c (sun max(n.l, 0) reached by the sun + sky reached by the sky) + a little gloss,
 *
 * the sky's light taking the colour of the floor from below.  Floors have lines every power of ten of metres and fade
 * into the sky far off. */
#include "view/render/stage.h"

static const float sun_strength = 0.74f, sky_strength = 0.42f, gloss = 0.10f;
static const float floor_reach = 14; /* radii of the scene: where it has faded */
static const float faint_shadow = 0.14f;

static float smooth_step_f(float from, float to, float x) {
    float t = glm_clamp((x - from) / (to - from), 0, 1);
    return t * t * (3 - 2 * t);
}

/* ---- light ---- */

static void light_surface(stage *s, vec3 at, vec3 normal, vec3 colour) {
    stage_light *sun = &s->light[0];
    vec3 view, half;
    float facing = glm_vec3_dot(normal, sun->direction), open = 0;
    float lit = facing > 0 ? stage_light_reaches(s, 0, at, normal) : 0;
    for (int k = 1; k < STAGE_LIGHTS; k++) {
        open += glm_vec3_dot(normal, s->light[k].direction) > 0 ? stage_light_reaches(s, k, at, normal) : 0.6f;
    }
    open = 0.3f + 0.7f * open / STAGE_SKY;
    glm_vec3_normalize_to(at, view);
    glm_vec3_sub(sun->direction, view, half);
    glm_vec3_normalize(half);
    float shine = glm_max(glm_vec3_dot(half, normal), 0);
    shine *= shine, shine *= shine, shine *= shine, shine *= shine; /* to the 16th */
    for (int i = 0; i < 3; i++) {
        float from_sky = s->below[i] + (1 - s->below[i]) * (0.5f + 0.5f * normal[2]);
        colour[i] *= sky_strength * open * from_sky + sun_strength * glm_max(facing, 0) * lit;
        colour[i] += gloss * shine * lit * glm_max(facing, 0);
    }
}

/* ---- floors ---- */

/* How much of a line is seen where one coordinate is `at`, in cells, and a pixel `wide`. */
static float line_at(float at, float wide) {
    float off = fabsf(at - floorf(at + 0.5f));
    return (1 - smooth_step_f(0.2f * wide, 1.0f * wide, off)) * (1 - smooth_step_f(0.15f, 0.6f, wide));
}

/* How much of the lines is seen at a place on a floor; `fall`: of the line of sight, towards it. */
static float lines_at(stage *s, stage_floor *f, vec3 at, vec3 way, float fall) {
    float distance = glm_vec3_norm(at), x = glm_vec3_dot(f->along, at), y = glm_vec3_dot(f->across, at);
    /* A pixel covers more of the floor the flatter it is seen. */
    float pixel = 2 * s->slope_y / (float)s->height * distance / s->cell, flat = glm_vec3_norm(way) / fall - 1;
    float wide_x = pixel * (1 + flat * x * x / (distance * distance));
    float wide_y = pixel * (1 + flat * y * y / (distance * distance));
    float u = (f->eye[0] + x) / s->cell, v = (f->eye[1] + y) / s->cell;
    float fine = glm_max(line_at(u, wide_x), line_at(v, wide_y));
    float coarse = glm_max(line_at(u / 10, wide_x / 10), line_at(v / 10, wide_y / 10));
    return glm_max(0.55f * coarse, 0.25f * fine);
}

static void shade_floor(stage *s, stage_floor *f, vec3 way, vec3 colour) {
    vec3 at, off;
    float fall = -glm_vec3_dot(f->normal, way);
    glm_vec3_scale(way, f->height / fall, at);
    glm_vec3_sub(at, s->centre, off);
    float far = smooth_step_f(0.25f, 1, glm_vec3_norm(off) / (floor_reach * s->radius));
    glm_vec3_copy(f->half_space ? s->ground : s->sky, colour);
    if (s->cell > 0) {
        glm_vec3_lerp(colour, s->line, lines_at(s, f, at, way, fall), colour);
    }
    if (f->half_space) {
        light_surface(s, at, f->normal, colour);
    } else {
        glm_vec3_scale(colour, 1 - faint_shadow * (1 - stage_light_reaches(s, 0, at, f->normal)), colour);
    }
    glm_vec3_lerp(colour, s->sky, far, colour);
}

/* ---- bodies ---- */

/* How much light the sector at a place keeps.  Borders are as wide as the footprint of a pixel.  Where the line of
 * sight turns by d, the place on the plane moves by (|at| / |way|) (d - way (plane . d) / (plane . way)). */
static float sector_light(stage *s, stage_sectors *sectors, vec3 plane, vec3 way, vec3 at) {
    float *side[2] = {s->right, s->up};
    const float turn[2] = {2 * s->slope_x / (float)s->width, 2 * s->slope_y / (float)s->height};
    float product = 1, fall = glm_vec3_dot(plane, way), far = glm_vec3_norm(at) / glm_vec3_norm(way);
    vec3 from;
    glm_vec3_sub(at, sectors->middle, from);
    for (int k = 0; k < sectors->count; k++) {
        float *normal = sectors->normal[k], wide = 1e-12f;
        for (int j = 0; j < 2; j++) {
            float part = glm_vec3_dot(plane, side[j]) / fall;
            wide += fabsf(turn[j] * far * (glm_vec3_dot(normal, side[j]) - part * glm_vec3_dot(normal, way)));
        }
        product *= glm_clamp(glm_vec3_dot(normal, from) / wide, -1, 1);
    }
    return 1 - sectors->strength + sectors->strength * product;
}

/* Where the line of sight meets the triangle's plane; the normal there between those of its corners. */
static void shade_face(stage *s, const stage_face *face, vec3 way, vec3 colour) {
    stage_corner *c[3] = {&s->corner[face->corner[0]], &s->corner[face->corner[1]], &s->corner[face->corner[2]]};
    stage_paint *paint = &s->paint[face->paint];
    vec3 ab, ac, plane, at, normal = {0, 0, 0};
    glm_vec3_sub(c[1]->at, c[0]->at, ab);
    glm_vec3_sub(c[2]->at, c[0]->at, ac);
    glm_vec3_cross(ab, ac, plane);
    float fall = glm_vec3_dot(plane, way), size = glm_vec3_norm2(plane);
    if (fall == 0 || size == 0) {
        return;
    }
    glm_vec3_scale(way, glm_vec3_dot(plane, c[0]->at) / fall, at);
    for (int i = 0; i < 3; i++) {
        vec3 one, other, part;
        glm_vec3_sub(c[(i + 1) % 3]->at, at, one);
        glm_vec3_sub(c[(i + 2) % 3]->at, at, other);
        glm_vec3_cross(one, other, part);
        glm_vec3_muladds(c[i]->normal, glm_clamp(glm_vec3_dot(part, plane) / size, 0, 1), normal);
    }
    if (fall > 0) { /* seen from within */
        glm_vec3_negate(normal);
    }
    glm_vec3_normalize(normal);
    glm_vec3_copy(paint->colour, colour);
    if (paint->mark) {
        vec3 view;
        glm_vec3_normalize_to(at, view);
        glm_vec3_scale(colour, 0.7f + 0.3f * fabsf(glm_vec3_dot(normal, view)), colour);
    } else {
        if (paint->sectors.strength > 0) {
            glm_vec3_scale(colour, sector_light(s, &paint->sectors, plane, way, at), colour);
        }
        light_surface(s, at, normal, colour);
    }
}

void stage_shade(stage *s, uint32_t id, float x, float y, vec3 colour) {
    vec3 way;
    glm_vec3_copy(s->forward, way);
    glm_vec3_muladds(s->right, s->slope_x * (2 * x / (float)s->width - 1), way);
    glm_vec3_muladds(s->up, s->slope_y * (1 - 2 * y / (float)s->height), way);
    glm_vec3_copy(s->sky, colour);
    if (id > (uint32_t)s->floors) {
        shade_face(s, &s->face[id - 1 - (uint32_t)s->floors], way, colour);
    } else if (id > 0) {
        shade_floor(s, &s->floor[id - 1], way, colour);
    }
}
