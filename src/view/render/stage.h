/* Contents of one picture: surfaces, floors, lights; all places relative to the eye. */
#ifndef VIEW_RENDER_STAGE_H
#define VIEW_RENDER_STAGE_H

#include "base/arena.h"
#include "view/mesh/drawing.h"
#include "view/mesh/sectors.h"
#include "view/mesh/sizes.h"
#include "view/mesh/soft.h"
#include "view/render/raster.h"
#include "view/render/render.h"
#include <sim/dynamics.h>

#include <cglm/cglm.h>

enum {
    STAGE_SAMPLES = 4, /* of a pixel */
    STAGE_FLOORS = 16,
    STAGE_SKY = 8,  /* directions from which light of the sky comes */
    STAGE_TILE = 8, /* texels a side */
    STAGE_LIGHTS = 1 + STAGE_SKY,
};

typedef struct stage_corner {
    vec3 at, normal;
} stage_corner;

/* Sectors of round bodies: planes through a middle, where light and dark change (view/mesh/sectors.h). */
typedef struct stage_sectors {
    float strength; /* 0: there are none */
    vec3 middle;
    int count;
    vec3 normal[3]; /* [count] unit, of the planes */
} stage_sectors;

/* Properties that many triangles share. */
typedef struct stage_paint {
    vec3 colour;     /* linear */
    int mark;        /* no body: neither lit nor hidden, casts no shadow */
    uint32_t planes; /* samples that see it: fewer where it is transparent */
    stage_sectors sectors;
} stage_paint;

typedef struct stage_face {
    uint32_t corner[3], paint;
} stage_face;

/* A half-space, or the grid below a scene that has none. */
typedef struct stage_floor {
    vec3 normal, along, across;
    float height;   /* of the eye above it */
    vec2 eye;       /* where the eye stands, in metres along and across */
    int half_space; /* 0: lines alone */
} stage_floor;

typedef struct stage_light {
    vec3 direction; /* to it */
    mat4 project;   /* to its map: x, y in texels, z grows towards the light, metres */
    int size;       /* texels a side */
    float texel;    /* m */
    float *near;    /* [size][size] */
    float *crest;   /* [size / STAGE_TILE] squared: the greatest `near` in and around a tile of the map */
} stage_light;

typedef struct stage {
    sim_arena *arena;
    int width, height;
    float typical;                 /* size of a body */
    vec3 sky, ground, line, below; /* colours: of the sky, of floors, of their lines, of the light from below */
    /* the camera */
    vec3 right, up, forward;
    mat4 project;           /* to pixels, times w; w: distance along the view */
    float slope_x, slope_y; /* tangents of half the angles of view */
    float nearest;          /* near clipping distance, m */
    /* surfaces */
    int corners, faces, paints, floors;
    stage_corner *corner;
    stage_face *face;
    stage_paint *paint;
    stage_floor floor[STAGE_FLOORS];
    vec3 centre;                     /* of moving bodies */
    float radius, cell;              /* m; cell 0: floors without lines */
    stage_light light[STAGE_LIGHTS]; /* the sun, then the sky */
} stage;

/* stage_fill.c: surfaces of shapes, and marks of contacts.  false: no memory. */
typedef struct stage_source {
    const sim_scene *scene;
    const view_drawing *drawing;
    view_mesh *const *mesh;      /* [drawing->count] */
    const view_sectors *sectors; /* [nshape] */
    const view_mesh *ball, *shaft, *tip;
    const view_sizes *sizes;
    const render_wish *wish;
    view_soft *soft;          /* [nsoft] placed anew for each picture */
    const sim_derived *posed; /* poses of the frame, for tendons; NULL: there are none */
} stage_source;
bool stage_fill(stage *s, const stage_source *source, const view_frame *frame, sim_v3 eye);

/* stage_light.c: draws the maps of the lights.  false: no memory. */
bool stage_lights_aim(stage *s, vec3 centre, float radius);
void stage_light_draw(stage *s, int light);
/* How much of the light reaches a place on a surface: 0 .. 1. */
float stage_light_reaches(const stage *s, int light, vec3 at, vec3 normal);

/* stage_shade.c: the colour, linear, of surface `id` at pixel (x, y). */
void stage_shade(stage *s, uint32_t id, float x, float y, vec3 colour);
/* "#e9edf1" and its like, made linear. */
void stage_colour(uint32_t rgb, vec3 linear);

#endif
