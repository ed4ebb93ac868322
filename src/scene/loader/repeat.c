/* Placement of the copies of a pattern: line, grid, columns, scatter.
 *
 *     line      i offset
 *     grid      (i_x, i_y, i_z) spacing, the last index first
 *     columns   as grid, centred in x and y, with uniform jitter
 *     scatter   uniform in a box; with a radius each copy is drawn again until it is 2 radius from those before,
 *               which a cell list of edge 2 radius finds (random sequential addition)
 *
 * Random numbers: SplitMix64 (Steele, Lea, Flood 2014), seeded by the names of the instance; rotations uniform over
 * SO(3) (Marsaglia 1972).  Cost: constant a copy and try. */
#include "base/hash.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCATTER_TRIES = 1000 }; /* to find a free place for one copy */

struct placing {
    repeat_data repeat;
    const node *at;
    int64_t count, next;
    uint64_t random; /* state of the generator */
    /* Scatter without overlap: the copies so far, in chains by the cell (of edge 2 radius) that they stand in. */
    v3 *taken;
    int *chain, *first;
    size_t cells;
};

/* SplitMix64: a counter, scrambled.  The same numbers on every machine. */
static uint64_t draw_random(placing *p) {
    uint64_t z = p->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* In [0, 1). */
static double draw_unit(placing *p) { return (double)(draw_random(p) >> 11) * 0x1p-53; }

static double draw_between(placing *p, double low, double high) { return low + draw_unit(p) * (high - low); }

/* All orientations alike (Marsaglia's method: square roots only, no function that differs between libraries). */
static m3 draw_rotation(placing *p) {
    double x[4], square[2];
    for (int i = 0; i < 2; i++) {
        do {
            x[2 * i] = draw_between(p, -1, 1);
            x[2 * i + 1] = draw_between(p, -1, 1);
            square[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
        } while (square[i] >= 1 || square[i] < 1e-20);
    }
    double scale = sqrt((1 - square[0]) / square[1]);
    return quat_matrix(quat_normalised((quat){x[0], x[1], x[2] * scale, x[3] * scale}));
}

/* The order of instances in a file does not matter: names do. */
static uint64_t seed_of(const loader *l, const scope *s, const instance_data *d) {
    uint64_t h = l->seed * 0x9e3779b97f4a7c15u ^ (uint64_t)d->repeat.seed * 0xc2b2ae3d27d4eb4fu;
    const char *const name[] = {s->prefix, d->prefix, d->model ? d->model : d->file};
    for (int i = 0; i < 3; i++) {
        h = hash_byte(hash_text(h, name[i]), 0xff);
    }
    return h;
}

static size_t cell_of(const placing *p, v3 at, int dx, int dy, int dz) {
    double edge = 2 * p->repeat.radius;
    const double cell[3] = {floor((at.x - p->repeat.min[0]) / edge) + dx, floor((at.y - p->repeat.min[1]) / edge) + dy,
                            floor((at.z - p->repeat.min[2]) / edge) + dz};
    uint64_t h = HASH_START;
    for (int i = 0; i < 3; i++) {
        h = hash_number(h, cell[i]);
    }
    return (size_t)(h % p->cells);
}

static bool is_free(const placing *p, v3 at) {
    double apart = 4 * p->repeat.radius * p->repeat.radius;
    for (int i = 0; i < 27; i++) {
        size_t cell = cell_of(p, at, i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
        for (int k = p->first[cell]; k >= 0; k = p->chain[k]) {
            double dx = p->taken[k].x - at.x, dy = p->taken[k].y - at.y, dz = p->taken[k].z - at.z;
            if (dx * dx + dy * dy + dz * dz < apart) {
                return false;
            }
        }
    }
    return true;
}

static v3 draw_place(placing *p) {
    const repeat_data *d = &p->repeat;
    double x = draw_between(p, d->min[0], d->max[0]), y = draw_between(p, d->min[1], d->max[1]);
    return (v3){x, y, draw_between(p, d->min[2], d->max[2])};
}

static bool scatter_place(loader *l, placing *p, sim_pose *place) {
    /* rejection sampling: draw until the ball is clear of those before */
    place->p = draw_place(p);
    if (p->taken) {
        for (int tries = 1; !is_free(p, place->p); tries++) {
            if (tries == MAX_SCATTER_TRIES || !loader_spend(l, 27, p->at)) {
                report_once(&l->report, p->at, "a larger box, a smaller radius or fewer copies",
                            "no room for copy %lld of %lld after %d tries", (long long)p->next, (long long)p->count,
                            MAX_SCATTER_TRIES);
                return false;
            }
            place->p = draw_place(p);
        }
        /* the new ball enters the cell list */
        size_t cell = cell_of(p, place->p, 0, 0, 0);
        p->taken[p->next] = place->p;
        p->chain[p->next] = p->first[cell];
        p->first[cell] = (int)p->next;
    }
    /* rotation uniform over SO(3) */
    if (p->repeat.random_orientation) {
        place->R = draw_rotation(p);
    }
    return true;
}

static v3 lattice_place(placing *p, bool centred) {
    const repeat_data *d = &p->repeat;
    int64_t nz = (int64_t)d->counts[2], ny = (int64_t)d->counts[1];
    int64_t x = p->next / (ny * nz), y = p->next / nz % ny, z = p->next % nz;
    double ix = (double)x, iy = (double)y, iz = (double)z;
    if (centred) {
        ix -= (d->counts[0] - 1) / 2;
        iy -= (d->counts[1] - 1) / 2;
    }
    return (v3){ix * d->spacing[0], iy * d->spacing[1], iz * d->spacing[2]};
}

bool pattern_next(loader *l, placing *p, sim_pose *place) {
    /* pose of the next copy in the frame of the pattern */
    const repeat_data *d = &p->repeat;
    double i = (double)p->next;
    bool found = p->next < p->count;
    *place = pose_identity();
    switch (found ? d->placement : -1) {
    case PLACE_LINE:
        place->p = (v3){i * d->offset[0], i * d->offset[1], i * d->offset[2]};
        break;
    case PLACE_GRID:
        place->p = lattice_place(p, false);
        break;
    case PLACE_COLUMNS:
        place->p = lattice_place(p, true);
        place->p.x += draw_between(p, -d->jitter, d->jitter);
        place->p.y += draw_between(p, -d->jitter, d->jitter);
        if (d->random_orientation) {
            place->R = draw_rotation(p);
        }
        break;
    case PLACE_SCATTER:
        found = scatter_place(l, p, place);
        break;
    default:
        break;
    }
    p->next++;
    return found;
}

static bool make_cells(loader *l, placing *p) {
    p->cells = (size_t)(2 * p->count + 1);
    p->taken = POOL_NEW(l->work, v3, p->count);
    p->chain = POOL_NEW(l->work, int, p->count);
    p->first = POOL_NEW(l->work, int, p->cells);
    if (!p->taken || !p->chain || !p->first) {
        l->report.no_memory = true;
        return false;
    }
    memset(p->first, -1, p->cells * sizeof *p->first);
    return true;
}

static bool is_box(loader *l, const repeat_data *d) {
    for (int i = 0; i < 3; i++) {
        if (!isfinite(d->max[i] - d->min[i])) {
            report_once(&l->report, node_member(d->at, "max"), NULL,
                        "%c: the distance from %g to %g exceeds the largest double, %g", "xyz"[i], d -> min[i],
                        d -> max[i], DBL_MAX);
            return false;
        }
        if (!(d->min[i] <= d->max[i])) {
            report_once(&l->report, node_member(d->at, "max"), NULL, "%c: max %g is below min %g", "xyz"[i],
                        d -> max[i], d -> min[i]);
            return false;
        }
    }
    return true;
}

int64_t pattern_create(loader *l, const scope *s, const instance_data *instance, placing **out) {
    /* number of copies, within the limit of bodies */
    const repeat_data *d = &instance->repeat;
    double count = (double)d->count;
    if (d->placement == PLACE_GRID || d->placement == PLACE_COLUMNS) {
        count = d->counts[0] * d->counts[1] * d->counts[2];
    }
    if (count > (double)l->limits.bodies) {
        report_once(&l->report, d->at, NULL, "%g copies; the limit of bodies and copies in a scene is %lld", count,
                    (long long)l->limits.bodies);
        return -1;
    }
    /* generator of the pattern, seeded by its names */
    placing *p = POOL_NEW(l->work, placing, 1);
    if (!p) {
        l->report.no_memory = true;
        return -1;
    }
    *p = (placing){.repeat = *d, .at = d->at, .count = (int64_t)count, .random = seed_of(l, s, instance)};
    if (d->placement == PLACE_SCATTER && (!is_box(l, d) || (d->radius > 0 && !make_cells(l, p)))) {
        return -1;
    }
    *out = p;
    return p->count;
}
