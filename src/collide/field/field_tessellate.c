/* Triangles of a piece of a height field.  Neighbours follow from the grid. */
#include "collide/field/field_solid.h"

typedef struct builder {
    v3 *vertex;
    int (*triangle)[3], (*across)[3];
    int nvertex, ntriangle;
    sim_mesh *mesh;
} builder;

static bool allocate_mesh(builder *b, int nvertex, int ntriangle, sim_arena *arena) {
    *b = (builder){ARENA_NEW(arena, v3, nvertex),
                   arena_alloc(arena, (size_t)ntriangle, sizeof(int[3])),
                   arena_alloc(arena, (size_t)ntriangle, sizeof(int[3])),
                   0,
                   0,
                   ARENA_NEW(arena, sim_mesh, 1)};
    return b->vertex && b->triangle && b->across && b->mesh;
}

static void add_grid_triangle(builder *b, int i, int j, int k) {
    int *t = b->triangle[b->ntriangle++];
    t[0] = i;
    t[1] = j;
    t[2] = k;
}

static void finish_mesh(solid *s, builder *b) {
    *b->mesh = (sim_mesh){.nvertex = b->nvertex,
                          .ntriangle = b->ntriangle,
                          .vertex = b->vertex,
                          .triangle = (const int(*)[3])b->triangle,
                          .across = (const int(*)[3])b->across};
    s->mesh = b->mesh;
    s->bvh = NULL;
}

/* First and last line of the grid needed to cover [low, high] along one side. */
static bool find_grid_lines(double low, double high, double size, int count, int *first, int *last) {
    double cells = count - 1;
    double from = floor((low / size + 0.5) * cells), to = ceil((high / size + 0.5) * cells);
    if (!(from < cells) || !(to > 0)) {
        return false;
    }
    *first = (int)fmax(from, 0);
    *last = (int)fmin(to, cells);
    return *first < *last;
}

bool solid_heights(solid *s, const sim_heights *h, v3 low, v3 high, sim_arena *arena) {
    /* grid lines over the box */
    int i0, i1, j0, j1;
    *s = (solid){.extent = 0.5 * hypot(h->size[0], h->size[1])};
    if (!find_grid_lines(low.x, high.x, h->size[0], h->columns, &i0, &i1) ||
        !find_grid_lines(low.y, high.y, h->size[1], h->rows, &j0, &j1)) {
        return true;
    }
    /* memory */
    int columns = i1 - i0 + 1, rows = j1 - j0 + 1, cells = (columns - 1) * (rows - 1);
    builder b;
    int *number = ARENA_NEW(arena, int, 2 * cells), *vertex_number = ARENA_NEW(arena, int, columns *rows);
    if (!allocate_mesh(&b, columns * rows, 2 * cells, arena) || !number || !vertex_number) {
        return false;
    }
    /* vertices */
    for (int j = j0; j <= j1; j++) {
        for (int i = i0; i <= i1; i++) {
            double u = (double)i / (h->columns - 1) - 0.5, v = (double)j / (h->rows - 1) - 0.5;
            int place = j * h->columns + i;
            vertex_number[b.nvertex] = place;
            b.vertex[b.nvertex++] = v3_make(u * h->size[0], v * h->size[1], h->height[place]);
        }
    }
    /* two triangles a cell, and their neighbours */
    for (int j = 0; j + 1 < rows; j++) {
        for (int i = 0; i + 1 < columns; i++) {
            int v = j * columns + i, t = b.ntriangle, width = 2 * (columns - 1);
            add_grid_triangle(&b, v, v + 1, v + columns + 1);
            add_grid_triangle(&b, v, v + columns + 1, v + columns);
            int below[3] = {j > 0 ? t - width + 1 : -1, i + 2 < columns ? t + 3 : -1, t + 1};
            int above[3] = {t, j + 2 < rows ? t + width : -1, i > 0 ? t - 2 : -1};
            for (int k = 0; k < 3; k++) {
                b.across[t][k] = below[k];
                b.across[t + 1][k] = above[k];
            }
            number[t] = 2 * ((j0 + j) * (h->columns - 1) + i0 + i);
            number[t + 1] = number[t] + 1;
        }
    }
    /* mesh and names of its parts */
    finish_mesh(s, &b);
    s->number = number;
    s->vertex_number = vertex_number;
    return true;
}
