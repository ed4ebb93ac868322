/* The cubes that the surface of a field passes through. */
#ifndef GEOMETRY_FIELD_SURFACE_CELLS_H
#define GEOMETRY_FIELD_SURFACE_CELLS_H

#include "geometry/field/field.h"
#include <stdint.h>

/* Numbers by key: open addressing, keys are never 0. */
typedef struct sparse_map {
    uint64_t *key;
    int *value;
    int count, room; /* room: a power of 2 */
} sparse_map;

void sparse_free(sparse_map *map);
/* Where the number of a key is kept, `absent` first put there when it is new; NULL without memory. */
int *sparse_at(sparse_map *map, uint64_t key, int absent);
/* The number of a key, or `absent`. */
int sparse_find(const sparse_map *map, uint64_t key, int absent);

/* Corner c of a cube stands at (c & 1, c >> 1 & 1, c >> 2).  Edge 4 a + b + 2 c lies along axis a, at b along the next
 * axis and at c along the one after. */
typedef struct cube_patches {
    signed char patch[12]; /* of the surface's pieces in the cube, the one that crosses the edge; -1: none does */
    signed char count;
} cube_patches;

typedef struct cell {
    int at[3];
    uint8_t inside; /* bit c: corner c is inside */
    int vertex;     /* of its first piece; the others follow */
} cell;

typedef struct lattice {
    const sim_field *field;
    v3 origin;
    double edge;
    int size[3]; /* in cubes */
    cube_patches cube[256];
    cell *cell; /* those that the surface passes through */
    int ncell, cell_room;
    sparse_map corner; /* by corner: which of `distance` */
    double *distance;
    int ndistance, distance_room;
    sparse_map by_place; /* which cell stands there */
    v3 low, high;        /* of all cubes that the surface may pass through */
    double radius;       /* of the ball about the origin that holds them */
    int failed;          /* no memory, too much work, or */
    bool leaves;         /* the surface runs out of the lattice */
    int64_t room;        /* steps left: see field.h */
    double expected;     /* about how many cells there would be, where that is too many; else 0 */
} lattice;

enum { LATTICE_MAX_SIZE = 1 << 17, LATTICE_MAX_CELLS = 5000000 };

/* How many cells `room` is enough for. */
double lattice_most_cells(const sim_field *field, int64_t room);
/* A lattice of cubes with edge `edge` around [low, high]; finds the cells within `room` steps.  0 without memory or
 * with too many cells. */
bool lattice_open(lattice *l, const sim_field *field, v3 low, v3 high, double edge, int64_t room);
void lattice_close(lattice *l);

static inline int cube_corner(int edge, int end) {
    int axis = edge >> 2, next = (axis + 1) % 3, after = (axis + 2) % 3;
    return end << axis | (edge & 1) << next | (edge >> 1 & 1) << after;
}

uint64_t lattice_key(const lattice *l, const int at[3]);
v3 lattice_point(const lattice *l, const int at[3]);
/* Distance at a corner. */
double lattice_distance(lattice *l, const int at[3]);

/* `items` grown, if it must be, to hold one more than `count`; false without memory. */
bool grow_items(void **items, int count, int *room, size_t size);

#endif
