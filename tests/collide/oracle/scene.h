/* Two shapes somewhere, made at random to be hard in a known way. */
#ifndef ORACLE_SCENE_H
#define ORACLE_SCENE_H

#include "oracle.h"
#include "support/models.h"
#include <stdio.h>

typedef enum category {
    APART,      /* farther than the margin */
    WITHIN,     /* nearer than the margin */
    TOUCHING,   /* to 1e-9 of their size */
    SHALLOW,    /* up to a twentieth of the smaller one deep */
    DEEP,       /* anywhere in each other */
    PARALLEL,   /* two faces against each other */
    EDGES,      /* two edges along each other */
    COINCIDENT, /* the centres at one place */
    RATIO,      /* sizes 1 : 1000 */
    FAR,        /* 10 km from the origin */
    ALIGNED,    /* axes exactly along axes, sizes and places multiples of 1/8 */
    CATEGORIES,
} category;

extern const char *const category_name[CATEGORIES];

typedef struct scene {
    category is;
    sim_shape a, b;
    sim_pose X_a, X_b;
    double margin;
    double smaller, larger; /* extents of the two */
    double coordinate;      /* greatest in use */
} scene;

/* Hulls and meshes to draw from: [0] of size 1, [1] of a thousandth of that. */
typedef struct stock {
    int hulls, meshes;
    sim_geometry *hull[2][12], *mesh[2][12];
} stock;
void stock_make(stock *s);
void stock_free(stock *s);

/* 0: no such scene (no faces to lay against each other, say). */
int scene_random(random_source *r, const stock *stock, sim_shape_type a, sim_shape_type b, category is, scene *out);
/* Fills in extents and coordinates of a scene given by hand. */
void scene_measure(scene *s);
/* As C initialisers with every digit. */
void scene_print(FILE *file, const scene *s);

sim_shape shape_random(random_source *r, const stock *stock, sim_shape_type type, int small);

#endif
