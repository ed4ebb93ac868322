/* Parts that all readers of files share: words and numbers (mesh_text.c), lists of vertices and triangles (mesh_parts.c),
 * equal corners (vertex_table.c), polygons to triangles (polygon.c). */
#ifndef GEOMETRY_IMPORT_PARTS_PARTS_H
#define GEOMETRY_IMPORT_PARTS_PARTS_H

#include "math/v3.h"
#include <sim/geometry.h>

/* A file in memory; a zero byte follows its last. */
typedef struct mesh_text {
    const char *name;
    const char *start, *end;
    const char *at;
    sim_error *error;
    bool beside; /* `name` is its path, and files below its folder may be read with it */
} mesh_text;

/* ---- triangles on their way in ---- */

typedef struct mesh_parts {
    v3 *vertex;
    int (*triangle)[3];
    size_t nvertex, vertex_room, ntriangle, triangle_room;
    int ncrossed;        /* polygons whose outline crosses itself */
    const char *crossed; /* place of the first in the text */
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
/* Line and column of a place, from 1. */
void text_place(const mesh_text *t, const char *at, long *line, long *column);
sim_status mesh_report_no_memory(const mesh_text *t);

/* ---- polygons ---- */

enum { POLYGON_MAX_CONCAVE = 1000 }; /* corners */

typedef enum polygon_outcome {
    POLYGON_CUT,
    POLYGON_NO_MEMORY,
    POLYGON_CROSSED,   /* cut, but its outline crosses itself: triangles overlap */
    POLYGON_TOO_LARGE, /* concave, and more than POLYGON_MAX_CONCAVE corners */
} polygon_outcome;

/* Cuts the polygon of `count` corners (indices of parts->vertex) into count - 2 triangles. */
polygon_outcome polygon_cut(mesh_parts *parts, int *corner, int count);

#endif
