/* Rows of the Jacobian of a world's step, and the memory among them. */
#ifndef WORLD_WHOLE_ROWS_H
#define WORLD_WHOLE_ROWS_H

#include "world/derivative/derivative.h"
#include <sim/step_derivatives.h>

/* Vectors of nv numbers at the beginning of the memory. */
enum { MEMORY_LAST_V, MEMORY_SECOND_LAST_V, MEMORY_HELD, MEMORY_PRESSED, MEMORY_PRESSED_BEFORE, MEMORY_VECTORS };

/* Places in the memory: impulses of joints (-1: no joint has rows), and of contacts, and their moments (-1: there are
 * none). */
typedef struct memory_map {
    int size, nv, joint, contact, moment;
} memory_map;

typedef struct whole_rows {
    const motion_work *past; /* `now`: the state at the start */
    const sim_state *to;
    sim_step_jacobian *out;
    memory_map before, after;
    int nv, rows, columns; /* 2 nv and the memory, after and before */
    const char *smooth;    /* [ntree] does free motion take the lasting forces on? */
    const double *slope;   /* [SIM_INPUTS][nactuator] of forces by inputs, within their ranges */
    const char *constant;  /* [nactuator] are they at an end in free motion? */
} whole_rows;

/* `any`: has the world a memory? */
memory_map memory_map_of(const sim_model *m, int contacts, bool any);
void copy_memory(const sim_model *m, const sim_state *state, const memory_map *map, double *to);

/* Zeros, and the rows of what only moves on. */
void clear_whole(const whole_rows *w);
/* A row of a tree without constraints: by q, v, force; by parameters. */
void put_tree_row(const whole_rows *w, int tree, const double *row, const double *parameters, int to);
/* A row of an island, of its width. */
void put_island_row(const whole_rows *w, const island_system *s, const double *row, int to);
/* All rows of its memory.  False without memory. */
bool put_island_memory(const whole_rows *w, island_system *s);

#endif
