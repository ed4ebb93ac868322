/* Readers of mesh files: interface of mesh_file.c and of the formats (mesh_obj.c, mesh_stl.c, mesh_msh.c,
 * mesh_collada.c, mesh_gltf.c).  Parts are mesh_text.c (words and numbers), vertex_table.c (equal corners) and polygon.c
 * (polygons to triangles). */
#ifndef GEOMETRY_IMPORT_MESH_FILE_H
#define GEOMETRY_IMPORT_MESH_FILE_H

#include "math/v3.h"
#include <sim/geometry.h>

/* A file in memory; a zero byte follows its last. */
typedef struct mesh_text {
    const char *name;
    const char *start, *end;
    const char *at;
    sim_error *error;
} mesh_text;

/* Triangles from the content of a file, for `sim_triangles_read`. */
sim_status mesh_parse(const char *name, const char *content, size_t size, v3 scale, sim_triangles *triangles,
                      sim_error *error);

/* ---- triangles on their way in ---- */

typedef struct mesh_parts {
    v3 *vertex;
    int (*triangle)[3];
    size_t nvertex, vertex_room, ntriangle, triangle_room;
} mesh_parts;

/* 0 without memory. */
int mesh_add_vertex(mesh_parts *parts, v3 p);
int mesh_add_triangle(mesh_parts *parts, int a, int b, int c);
/* Cut into triangles; `at` is its place in messages. */
sim_status mesh_add_polygon(const mesh_text *text, const char *at, mesh_parts *parts, int *corner, int count);

/* Vertices by their coordinates; `slot` is the caller's to free. */
typedef struct vertex_table {
    int *slot;
    size_t size;
} vertex_table;

/* The index of p, which is added where it is new; -1 without memory. */
int vertex_table_find(vertex_table *table, mesh_parts *parts, v3 p);
/* To `size` slots, a power of two; false without memory. */
bool vertex_table_grow(vertex_table *table, size_t size, const mesh_parts *parts);

sim_status mesh_read_obj(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_stl(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_msh(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_collada(mesh_text *text, mesh_parts *parts);
sim_status mesh_read_gltf(mesh_text *text, mesh_parts *parts);
/* A binary STL file is as long as its count says. */
bool mesh_is_binary_stl(const char *content, size_t size);

/* ---- words and numbers ---- */

bool text_is_blank(char c);
/* The first word of the content is `word`, large or small. */
bool text_is_word(const char *at, const char *word);
const char *text_word_end(const char *at);
/* A decimal number that a blank, the end of the line or a comment follows; 0 and t->error if there is none. */
bool text_number(mesh_text *t, double *x);
/* `NAME:LINE:COLUMN: expected WHAT, found "..."`; returns SIM_BAD_INPUT. */
sim_status text_expected(const mesh_text *t, const char *at, const char *what);
/* `NAME:LINE:COLUMN: ` and a sentence. */
sim_status text_wrong(const mesh_text *t, const char *at, const char *format, ...) SIM_PRINTF(3, 4);
sim_status mesh_no_memory(const mesh_text *t);

/* ---- polygons ---- */

enum { POLYGON_MAX_CONCAVE = 1000 }; /* corners */

typedef enum polygon_outcome {
    POLYGON_CUT,
    POLYGON_NO_MEMORY,
    POLYGON_CROSSED,   /* its outline crosses itself */
    POLYGON_TOO_LARGE, /* concave, and more than POLYGON_MAX_CONCAVE corners */
} polygon_outcome;

/* Cuts the polygon of `count` corners (indices of parts->vertex) into count - 2 triangles. */
polygon_outcome polygon_cut(mesh_parts *parts, int *corner, int count);

#endif
