/* Cubes of a lattice that the surface of a field crosses.
 *
 * Cubes are halved from one that holds the solid on.  Where |d| at the middle exceeds half the diagonal there is no
 * surface, since d is nowhere steeper than 1.  From the cubes found, the surface is followed to those left out.  So
 * time grows with the surface, not with the volume.
 *
 * Within a cube the surface has a piece for each loop that joins its crossed edges. On each face two crossed edges are
 * joined, and of four those that enclose an inside corner, the same for both neighbours (G. M. Nielson 2004, "Dual
 * marching cubes", IEEE Visualization, section 2). */
#include "geometry/field/surface_cells.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { SURVEY_CUBES = 16 /* cubes along a side in the first look */, MAX_ITEMS = 1 << 28 };
/* Cells that the first look counts for each one there is: 1 to 1.7 of a plane, up to 3.8 of a small shape with edges. */
static const double SURVEY_EXCESS = 4;

/* ---- numbers by key ---- */

void sparse_free(sparse_map *map) {
    free(map->key);
    free(map->value);
}

static uint32_t map_slot(uint64_t key, int room) {
    return (uint32_t)hash_finish(hash_word(HASH_START, key)) & (uint32_t)(room - 1);
}

static uint32_t find_slot(const sparse_map *map, uint64_t key) {
    uint32_t s = map_slot(key, map->room);
    while (map->key[s] && map->key[s] != key) {
        s = (s + 1) & (uint32_t)(map->room - 1);
    }
    return s;
}

static bool enlarge_map(sparse_map *map) {
    sparse_map wide = {.room = map->room ? 2 * map->room : 1024, .count = map->count};
    wide.key = calloc((size_t)wide.room, sizeof *wide.key);
    wide.value = malloc((size_t)wide.room * sizeof *wide.value);
    if (!wide.key || !wide.value) {
        sparse_free(&wide);
        return false;
    }
    for (int k = 0; k < map->room; k++) {
        if (map->key[k]) {
            uint32_t s = find_slot(&wide, map->key[k]);
            wide.key[s] = map->key[k];
            wide.value[s] = map->value[k];
        }
    }
    sparse_free(map);
    *map = wide;
    return true;
}

int *sparse_at(sparse_map *map, uint64_t key, int absent) {
    if (2 * map->count >= map->room && (map->room > MAX_ITEMS || !enlarge_map(map))) {
        return NULL;
    }
    uint32_t s = find_slot(map, key);
    if (!map->key[s]) {
        map->key[s] = key;
        map->value[s] = absent;
        map->count++;
    }
    return &map->value[s];
}

int sparse_find(const sparse_map *map, uint64_t key, int absent) {
    if (!map->room) {
        return absent;
    }
    uint32_t s = find_slot(map, key);
    return map->key[s] ? map->value[s] : absent;
}

bool grow_items(void **items, int count, int *room, size_t size) {
    if (count < *room) {
        return true;
    }
    int more = *room ? 2 * *room : 256;
    void *moved = *room > MAX_ITEMS ? NULL : realloc(*items, (size_t)more * size);
    if (!moved) {
        return false;
    }
    *items = moved;
    *room = more;
    return true;
}

/* ---- pieces of the surface in a cube ---- */

static bool is_crossed(int inside, int edge) {
    return (inside >> cube_corner(edge, 0) & 1) != (inside >> cube_corner(edge, 1) & 1);
}

static int edge_between(int a, int b) {
    int differ = a ^ b, axis = differ == 1 ? 0 : differ == 2 ? 1 : 2, from = a & b;
    return 4 * axis + (from >> (axis + 1) % 3 & 1) + 2 * (from >> (axis + 2) % 3 & 1);
}

/* Joins the crossed edges of the face at `side` of `axis`: join[e][0..1] are the neighbours of e. */
static void join_on_face(int inside, int axis, int side, signed char join[12][2]) {
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, o = side << axis;
    int ring[4] = {o, o | u, o | u | v, o | v};
    int crossed[4], count = 0;
    for (int k = 0; k < 4; k++) {
        int e = edge_between(ring[k], ring[(k + 1) % 4]);
        if (is_crossed(inside, e)) {
            crossed[count++] = e;
        }
    }
    /* of four, crossed[k - 1] and crossed[k] meet in corner ring[k] */
    int first = count == 4 && (inside >> ring[0] & 1) ? 3 : 0;
    for (int k = 0; k < count; k += 2) {
        int e = crossed[(first + k) % 4], f = crossed[(first + k + 1) % 4];
        join[e][join[e][0] >= 0] = (signed char)f;
        join[f][join[f][0] >= 0] = (signed char)e;
    }
}

static cube_patches patches_of(int inside) {
    cube_patches c = {.count = 0};
    signed char join[12][2];
    memset(join, -1, sizeof join);
    memset(c.patch, -1, sizeof c.patch);
    for (int face = 0; face < 6; face++) {
        join_on_face(inside, face >> 1, face & 1, join);
    }
    for (int e = 0; e < 12; e++) {
        if (!is_crossed(inside, e) || c.patch[e] >= 0) {
            continue;
        }
        for (int at = e; c.patch[at] < 0;) {
            c.patch[at] = c.count;
            at = c.patch[join[at][0]] < 0 ? join[at][0] : join[at][1];
        }
        c.count++;
    }
    return c;
}

/* ---- the lattice ---- */

static int64_t cell_steps(const sim_field *field) { return STEPS_PER_CUBE + DISTANCES_PER_CUBE * field->cost; }

double lattice_most_cells(const sim_field *field, int64_t room) {
    return fmin(LATTICE_MAX_CELLS, floor((double)room / (double)cell_steps(field)));
}

uint64_t lattice_key(const lattice *l, const int at[3]) {
    uint64_t wide = (uint64_t)l->size[0] + 2, high = (uint64_t)l->size[1] + 2;
    return 1 + (uint64_t)at[0] + wide * ((uint64_t)at[1] + high * (uint64_t)at[2]);
}

v3 lattice_point(const lattice *l, const int at[3]) {
    return v3_make(l->origin.x + at[0] * l->edge, l->origin.y + at[1] * l->edge, l->origin.z + at[2] * l->edge);
}

double lattice_distance(lattice *l, const int at[3]) {
    int *which = sparse_at(&l->corner, lattice_key(l, at), -1);
    if (!which || !grow_items((void **)&l->distance, l->ndistance, &l->distance_room, sizeof *l->distance)) {
        l->failed = 1;
        return 1;
    }
    if (*which < 0) {
        *which = l->ndistance;
        l->distance[l->ndistance++] = sim_field_distance(l->field, lattice_point(l, at), NULL);
    }
    return l->distance[*which];
}

static void stretch_bounds(lattice *l, const int at[3]) {
    v3 a = lattice_point(l, at), b = v3_add(a, v3_make(l->edge, l->edge, l->edge));
    l->low = v3_make(fmin(l->low.x, a.x), fmin(l->low.y, a.y), fmin(l->low.z, a.z));
    l->high = v3_make(fmax(l->high.x, b.x), fmax(l->high.y, b.y), fmax(l->high.z, b.z));
    v3 far = {fmax(-a.x, b.x), fmax(-a.y, b.y), fmax(-a.z, b.z)};
    l->radius = fmax(l->radius, v3_norm(far));
}

/* Adds the cube if the surface passes through it. */
static void add_cell(lattice *l, const int at[3]) {
    int inside = 0;
    for (int c = 0; c < 8; c++) {
        int corner[3] = {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};
        inside |= (lattice_distance(l, corner) < 0) << c;
    }
    if (inside == 0 || inside == 255) {
        return;
    }
    int *which = sparse_at(&l->by_place, lattice_key(l, at), l->ncell);
    if (!which || !grow_items((void **)&l->cell, l->ncell, &l->cell_room, sizeof *l->cell)) {
        l->failed = 1;
        return;
    }
    l->cell[l->ncell++] = (cell){{at[0], at[1], at[2]}, (uint8_t)inside, -1};
}

/* Takes steps; too many of them end the search. */
static void spend_steps(lattice *l, int64_t steps) {
    l->room -= steps;
    l->failed |= l->room < 0 || l->ncell > LATTICE_MAX_CELLS;
}

/* Visits the cubes of width `last` that the surface may pass through; returns how many there are. */
static double search_cubes(lattice *l, const int at[3], int width, int last) {
    if (l->failed || at[0] >= l->size[0] || at[1] >= l->size[1] || at[2] >= l->size[2]) {
        return 0;
    }
    /* the distance at the middle rules a cube out */
    double half = 0.5 * width * l->edge, count = 0;
    v3 middle = v3_add(lattice_point(l, at), v3_make(half, half, half));
    spend_steps(l, l->field->cost);
    if (fabs(sim_field_distance(l->field, middle, NULL)) > 1.7320508075688774 * half * (1 + 1e-9)) {
        return 0;
    }
    /* a cube of the lattice */
    if (width == 1) {
        int before = l->ncell;
        stretch_bounds(l, at);
        add_cell(l, at);
        spend_steps(l, 8 * l->field->cost + (l->ncell > before ? cell_steps(l->field) : 0));
    }
    if (width == last) {
        return 1;
    }
    /* eight halves */
    int w = width / 2;
    for (int c = 0; c < 8; c++) {
        int child[3] = {at[0] + (c & 1) * w, at[1] + (c >> 1 & 1) * w, at[2] + (c >> 2) * w};
        count += search_cubes(l, child, w, last);
    }
    return count;
}

/* Cubes beside those found, across faces that the surface crosses, to the last of them.  Where d is steeper than 1 (a
 * sampled distance may be, a little) the search leaves out cubes whose corners are barely crossed. */
static void close_up(lattice *l) {
    for (int k = 0; k < l->ncell && !l->failed; k++) {
        for (int face = 0; face < 6; face++) {
            cell here = l->cell[k];
            int axis = face >> 1, up = face & 1, beside[3] = {here.at[0], here.at[1], here.at[2]}, inside = 0;
            for (int c = 0; c < 8; c++) {
                inside += (c >> axis & 1) == up && (here.inside >> c & 1);
            }
            beside[axis] += up ? 1 : -1;
            if (inside == 0 || inside == 4 || sparse_find(&l->by_place, lattice_key(l, beside), -1) >= 0) {
                continue;
            }
            l->leaves |= beside[axis] < 0 || beside[axis] >= l->size[axis];
            l->failed |= l->leaves;
            if (!l->failed) {
                stretch_bounds(l, beside);
                add_cell(l, beside);
                spend_steps(l, 8 * l->field->cost + cell_steps(l->field));
            }
        }
    }
}

/* From the wide cubes that the surface may pass through: a plane crosses nearly as many. */
static double expect_cells(lattice *l, int width) {
    const int origin[3] = {0, 0, 0};
    int last = width;
    while (width / last < SURVEY_CUBES) {
        last /= 2;
    }
    return 1.0 * last * last * search_cubes(l, origin, width, last);
}

bool lattice_open(lattice *l, const sim_field *field, v3 low, v3 high, double edge, int64_t room) {
    *l = (lattice){.field = field,
                   .edge = edge,
                   .room = room,
                   .low = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                   .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    v3 size = v3_sub(high, low);
    const double length[3] = {size.x, size.y, size.z};
    double slack[3];
    int width = 1;
    for (int k = 0; k < 3; k++) {
        double cells = ceil(length[k] / edge) + 1;
        if (!(cells < LATTICE_MAX_SIZE)) {
            l->expected = 2 * (size.x * size.y + size.y * size.z + size.z * size.x) / edge / edge;
            return false;
        }
        l->size[k] = (int)cells;
        slack[k] = 0.5 * (cells * edge - length[k]); /* half a cell or more: corners outside all round */
        while (width < l->size[k]) {
            width *= 2;
        }
    }
    l->origin = v3_sub(low, v3_make(slack[0], slack[1], slack[2]));
    for (int inside = 0; inside < 256; inside++) {
        l->cube[inside] = patches_of(inside);
    }
    const int origin[3] = {0, 0, 0};
    double most = lattice_most_cells(field, room), expected = width > SURVEY_CUBES ? expect_cells(l, width) : 0;
    if (!l->failed && expected <= SURVEY_EXCESS * most) {
        search_cubes(l, origin, width, 1);
        close_up(l);
    }
    if (l->room < 0 || l->ncell > LATTICE_MAX_CELLS || expected > SURVEY_EXCESS * most) {
        l->failed = 1;
        l->expected = fmax(expected, fmax(1.1 * most, 1));
    }
    return !l->failed;
}

void lattice_close(lattice *l) {
    free(l->cell);
    free(l->distance);
    sparse_free(&l->corner);
    sparse_free(&l->by_place);
}
