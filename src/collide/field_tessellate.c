/* Which triangles stand for the surface of a box, a cylinder or a piece of a height field?
 *
 * Neighbours across edges are found by a search over all pairs for the few triangles of a box or a cylinder, and follow
 * from the grid for heights. */
#include "collide/field_solid.h"

enum { SIDES = 24 };

typedef struct builder {
    v3 *vertex;
    int (*triangle)[3], (*across)[3];
    int nvertex, ntriangle;
    sim_mesh *mesh;
} builder;

static int begin(builder *b, int nvertex, int ntriangle, sim_arena *arena) {
    *b = (builder){ARENA_NEW(arena, v3, nvertex),
                   sim_arena_alloc(arena, (size_t)ntriangle, sizeof(int[3])),
                   sim_arena_alloc(arena, (size_t)ntriangle, sizeof(int[3])),
                   0,
                   0,
                   ARENA_NEW(arena, sim_mesh, 1)};
    return b->vertex && b->triangle && b->across && b->mesh;
}

static void add(builder *b, int i, int j, int k) {
    int *t = b->triangle[b->ntriangle++];
    t[0] = i;
    t[1] = j;
    t[2] = k;
}

static int owner(const builder *b, int from, int to) {
    for (int t = 0; t < b->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            if (b->triangle[t][k] == from && b->triangle[t][(k + 1) % 3] == to) {
                return t;
            }
        }
    }
    return -1;
}

static void finish(solid *s, builder *b) {
    *b->mesh = (sim_mesh){.nvertex = b->nvertex,
                          .ntriangle = b->ntriangle,
                          .vertex = b->vertex,
                          .triangle = (const int(*)[3])b->triangle,
                          .across = (const int(*)[3])b->across};
    s->mesh = b->mesh;
    s->bvh = NULL;
}

static void neighbours(builder *b) {
    for (int t = 0; t < b->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            b->across[t][k] = owner(b, b->triangle[t][(k + 1) % 3], b->triangle[t][k]);
        }
    }
}

static int box(solid *s, const double size[3], sim_arena *arena) {
    static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    builder b;
    if (!begin(&b, 8, 12, arena)) {
        return 0;
    }
    for (int k = 0; k < 8; k++) {
        b.vertex[b.nvertex++] =
            v3_make((k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1], (k & 4 ? 0.5 : -0.5) * size[2]);
    }
    for (int f = 0; f < 6; f++) {
        add(&b, face[f][0], face[f][1], face[f][2]);
        add(&b, face[f][0], face[f][2], face[f][3]);
    }
    neighbours(&b);
    finish(s, &b);
    return 1;
}

static int cylinder(solid *s, const double size[3], sim_arena *arena) {
    builder b;
    if (!begin(&b, 2 * SIDES + 2, 4 * SIDES, arena)) {
        return 0;
    }
    for (int end = 0; end < 2; end++) {
        for (int k = 0; k < SIDES; k++) {
            double angle = 2 * 3.14159265358979323846 * k / SIDES;
            b.vertex[b.nvertex++] = v3_make(size[0] * cos(angle), size[0] * sin(angle), (end - 0.5) * size[1]);
        }
    }
    b.vertex[b.nvertex++] = v3_make(0, 0, -0.5 * size[1]);
    b.vertex[b.nvertex++] = v3_make(0, 0, 0.5 * size[1]);
    for (int k = 0; k < SIDES; k++) {
        int next = (k + 1) % SIDES;
        add(&b, k, next, SIDES + next);
        add(&b, k, SIDES + next, SIDES + k);
        add(&b, 2 * SIDES, next, k);
        add(&b, 2 * SIDES + 1, SIDES + k, SIDES + next);
    }
    neighbours(&b);
    finish(s, &b);
    s->curved = s->tube = 1;
    return 1;
}

int solid_tessellate(solid *s, const sim_shape *shape, sim_arena *arena) {
    return shape->type == SIM_BOX ? box(s, shape->size, arena) : cylinder(s, shape->size, arena);
}

/* First and last line of the grid needed to cover [low, high] along one side. */
static int lines(double low, double high, double size, int count, int *first, int *last) {
    double cells = count - 1;
    double from = floor((low / size + 0.5) * cells), to = ceil((high / size + 0.5) * cells);
    if (!(from < cells) || !(to > 0)) {
        return 0;
    }
    *first = (int)fmax(from, 0);
    *last = (int)fmin(to, cells);
    return *first < *last;
}

int solid_heights(solid *s, const sim_heights *h, v3 low, v3 high, sim_arena *arena) {
    int i0, i1, j0, j1;
    *s = (solid){.extent = 0.5 * hypot(h->size[0], h->size[1])};
    if (!lines(low.x, high.x, h->size[0], h->columns, &i0, &i1) ||
        !lines(low.y, high.y, h->size[1], h->rows, &j0, &j1)) {
        return 1;
    }
    int columns = i1 - i0 + 1, rows = j1 - j0 + 1, cells = (columns - 1) * (rows - 1);
    builder b;
    int *number = ARENA_NEW(arena, int, 2 * cells), *vertex_number = ARENA_NEW(arena, int, columns *rows);
    if (!begin(&b, columns * rows, 2 * cells, arena) || !number || !vertex_number) {
        return 0;
    }
    for (int j = j0; j <= j1; j++) {
        for (int i = i0; i <= i1; i++) {
            double u = (double)i / (h->columns - 1) - 0.5, v = (double)j / (h->rows - 1) - 0.5;
            int place = j * h->columns + i;
            vertex_number[b.nvertex] = place;
            b.vertex[b.nvertex++] = v3_make(u * h->size[0], v * h->size[1], h->height[place]);
        }
    }
    for (int j = 0; j + 1 < rows; j++) {
        for (int i = 0; i + 1 < columns; i++) {
            int v = j * columns + i, t = b.ntriangle, width = 2 * (columns - 1);
            add(&b, v, v + 1, v + columns + 1);
            add(&b, v, v + columns + 1, v + columns);
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
    finish(s, &b);
    s->number = number;
    s->vertex_number = vertex_number;
    return 1;
}
