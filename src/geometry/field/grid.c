/* Distance from a sampled grid.
 *
 * Exact samples d_ijk stand at the corners of cubes of edge h all through a box around the solid (docs/collision.md
 * has their cost).  Between them
 *     f(p) = sum_ijk d_ijk b(x/h - i) b(y/h - j) b(z/h - k),
 *     b(t) = 3/4 - t^2  for |t| <= 1/2,   (3/2 - |t|)^2 / 2  for 1/2 <= |t| <= 3/2,
 * the quadratic B-spline (C. de Boor 1978, "A practical guide to splines", ch. IX): its gradient is continuous, and
 * being a mean of differences of samples it overshoots little.  The samples are the coefficients.  So flat faces are
 * exact, a surface of mean curvature H is off by h^2 H / 4, and sharp edges are rounded by a fifth of a cell.
 *
 * Where two parts of the surface are equally near, f can be steeper than 1 by MAX_STEEPNESS - 1 at most (found by
 * search).  Farther than a cell from the surface, slopes are therefore reduced by and by,
 *     s(a) = a,   a - q (a - 1)^2 / 4,   3 - q + (1 - q) (a - 3)   for a = |f| / h in [0, 1], [1, 3], [3, ...],
 * 1 - q = 1 / MAX_STEEPNESS: |f| exceeds the distance to where f = 0 by less than a tenth of a cell, anywhere.
 *
 * Outside the sampled box, at a distance u from its nearest point c, sqrt(u^2 + f(c)^2).  That is no more than the
 * distance, since the whole solid lies beyond a right angle or more at c, and no steeper than f.  Everywhere at least
 * the distance to the mesh's own bounds, less a quarter of a cell, which leaves f alone where it is good. */
#include "geometry/field/grid.h"

#include "geometry/field/grid_file.h"
#include "geometry/mesh/bvh.h"
#include <string.h>

static const double MAX_STEEPNESS = 1.04;
enum { DEFAULT_CELLS = 100, MARGIN_CELLS = 3 };

/* ---- asking ---- */

/* The sample nearest to x, its neighbours' weights and their slopes. */
static int spline_weights(double x, double w[3], double slope[3]) {
    double nearest = rint(x), t = x - nearest;
    w[0] = 0.5 * (0.5 - t) * (0.5 - t);
    w[1] = 0.75 - t * t;
    w[2] = 0.5 * (0.5 + t) * (0.5 + t);
    slope[0] = t - 0.5;
    slope[1] = -2 * t;
    slope[2] = t + 0.5;
    return (int)nearest - 1;
}

/* The spline, p in the box where it is interpolated; the gradient per cell. */
static double evaluate_spline(const field_grid *grid, v3 p, v3 *gradient) {
    /* weights of quadratic B-splines, and of their derivatives */
    double wx[3], wy[3], wz[3], sx[3], sy[3], sz[3];
    int i = spline_weights((p.x - grid->origin.x) * grid->inverse_cell, wx, sx);
    int j = spline_weights((p.y - grid->origin.y) * grid->inverse_cell, wy, sy);
    int k = spline_weights((p.z - grid->origin.z) * grid->inverse_cell, wz, sz);
    size_t row = (size_t)grid->size[0], layer = row * (size_t)grid->size[1];
    const float *at = grid->sample + (size_t)i + row * (size_t)j + layer * (size_t)k;
    /* tensor product over 27 samples */
    double f = 0, fx = 0, fy = 0, fz = 0;
    for (int c = 0; c < 3; c++, at += layer) {
        double g = 0, gx = 0, gy = 0;
        for (int b = 0; b < 3; b++) {
            const float *d = at + row * (size_t)b;
            double d0 = (double)d[0], d1 = (double)d[1], d2 = (double)d[2];
            double value = wx[0] * d0 + wx[1] * d1 + wx[2] * d2;
            g += wy[b] * value;
            gy += sy[b] * value;
            gx += wy[b] * (sx[0] * d0 + sx[1] * d1 + sx[2] * d2);
        }
        f += wz[c] * g;
        fx += wz[c] * gx;
        fy += wz[c] * gy;
        fz += sz[c] * g;
    }
    *gradient = v3_make(fx, fy, fz);
    return f;
}

/* s(a) and its slope. */
static double ease_distance(double a, double *slope) {
    const double q = 1 - 1 / MAX_STEEPNESS;
    if (a <= 1) {
        *slope = 1;
        return a;
    }
    if (a <= 3) {
        *slope = 1 - q * (a - 1) / 2;
        return a - q * (a - 1) * (a - 1) / 4;
    }
    *slope = 1 - q;
    return 3 - q + (1 - q) * (a - 3);
}

static v3 nearest_in_box(v3 p, v3 low, v3 high) {
    return v3_make(fmin(fmax(p.x, low.x), high.x), fmin(fmax(p.y, low.y), high.y), fmin(fmax(p.z, low.z), high.z));
}

/* sqrt(u^2 + f(c)^2), c being the point of the sampled box nearest to p, f(c) = d with the gradient g. */
static double continue_distance(v3 p, v3 c, double d, v3 *g) {
    v3 away = v3_sub(p, c);
    double u = v3_norm(away);
    if (!(u > 0)) {
        return d;
    }
    double v = fmax(d, 0), n = sqrt(u * u + v * v), s = v / n;
    *g = v3_make(away.x / n + (away.x == 0 ? s * g->x : 0), away.y / n + (away.y == 0 ? s * g->y : 0),
                 away.z / n + (away.z == 0 ? s * g->z : 0));
    return n;
}

double grid_distance(const field_grid *grid, v3 p, v3 *gradient) {
    v3 c = nearest_in_box(p, grid->low, grid->high), g;
    double f = evaluate_spline(grid, c, &g), slope;
    double a = ease_distance(fabs(f) * grid->inverse_cell, &slope);
    g = v3_scale(slope * grid->inverse_cell, g);
    double d = continue_distance(p, c, copysign(a * grid->cell, f), &g);
    v3 beyond = v3_sub(p, nearest_in_box(p, grid->mesh_low, grid->mesh_high));
    double far = v3_norm(beyond);
    if (far > 0.5 * grid->cell && far - 0.25 * grid->cell > d) {
        *gradient = v3_scale(1 / far, beyond);
        return far - 0.25 * grid->cell;
    }
    *gradient = g;
    return d;
}

uint64_t grid_hash(const field_grid *grid) {
    uint64_t hash = 0;
    for (int k = 0; k < 16; k++) {
        int c = (unsigned char)grid->key[k];
        hash = hash << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return hash;
}

/* ---- sampling ---- */

/* The distance at p, `before` being that of a neighbour one cell away: it says how far to search, and the sign unless
 * it is within a cell. */
static double sample_at(const sim_geometry *mesh, v3 p, double before, double cell) {
    double reach = (fabs(before) + cell) * (1 + 1e-9);
    if (fabs(before) > cell * (1 + 1e-6)) {
        v3 nearest;
        int feature;
        if (bvh_nearest(mesh->bvh, mesh->mesh, p, reach, &nearest, &feature) >= 0) {
            return copysign(v3_norm(v3_sub(p, nearest)), before);
        }
    }
    v3 unused;
    return mesh_distance(mesh, p, &unused);
}

/* In rows to and fro, so that each sample is a cell away from the one before. */
static void sample_all(const field_grid *grid, const sim_geometry *mesh, float *sample) {
    double before = 0;
    for (int k = 0, back_y = 0, back_x = 0; k < grid->size[2]; k++, back_y = !back_y) {
        for (int b = 0; b < grid->size[1]; b++, back_x = !back_x) {
            int j = back_y ? grid->size[1] - 1 - b : b;
            for (int a = 0; a < grid->size[0]; a++) {
                int i = back_x ? grid->size[0] - 1 - a : a;
                v3 p = {grid->origin.x + i * grid->cell, grid->origin.y + j * grid->cell,
                        grid->origin.z + k * grid->cell};
                before = sample_at(mesh, p, before, grid->cell);
                sample[(size_t)i + (size_t)grid->size[0] * ((size_t)j + (size_t)grid->size[1] * (size_t)k)] =
                    (float)before;
            }
        }
    }
}

/* The box: MARGIN_CELLS cells around the mesh, in whole cells, and a sample more to each side.  Returns how many
 * samples it holds; the grid is good for `most`. */
static double lay_out_grid(field_grid *grid, const sim_geometry *mesh, double cell, double most) {
    v3 length = v3_sub(mesh->high, mesh->low), middle = v3_axpy(mesh->low, 0.5, length);
    double longest = fmax(length.x, fmax(length.y, length.z)), count = 1;
    grid->cell = cell > 0 ? cell : longest / DEFAULT_CELLS;
    grid->inverse_cell = 1 / grid->cell;
    const double side[3] = {length.x, length.y, length.z};
    double half[3], cells[3];
    for (int k = 0; k < 3; k++) {
        cells[k] = ceil(side[k] * grid->inverse_cell) + 2 * MARGIN_CELLS + 2;
        count *= cells[k] + 1;
        half[k] = 0.5 * cells[k] * grid->cell;
    }
    for (int k = 0; k < 3 && count <= most; k++) {
        grid->size[k] = (int)cells[k] + 1;
    }
    v3 reach = {half[0], half[1], half[2]}, inside = v3_sub(reach, v3_make(grid->cell, grid->cell, grid->cell));
    grid->mesh_low = mesh->low;
    grid->mesh_high = mesh->high;
    grid->origin = v3_sub(middle, reach);
    grid->low = v3_sub(middle, inside);
    grid->high = v3_add(middle, inside);
    return count;
}

static void refuse_cell_count(const field_grid *grid, double count, double most, const char *where, sim_error *error) {
    sim_fail(error, SIM_BAD_INPUT,
             "%s: a cell of %.3g m makes %.3g samples of this mesh, %.3g are the most: %.2g m would do", where,
             grid->cell, count, most, 1.2 * grid->cell * cbrt(count / most));
}

field_grid *grid_build(memory_pool *pool, const sim_geometry *mesh, double cell, const char *cache, const char *where,
                       int64_t *room, sim_error *error) {
    /* samples within the work that is left */
    field_grid *grid = POOL_NEW(pool, field_grid, 1);
    double most = floor((double)*room / STEPS_PER_SAMPLE);
    double count = grid ? lay_out_grid(grid, mesh, cell, most) : 0;
    if (!(count <= most)) {
        refuse_cell_count(grid, count, most, where, error);
        return NULL;
    }
    *room -= (int64_t)count * STEPS_PER_SAMPLE;
    /* memory */
    float *sample = grid ? POOL_NEW(pool, float, (size_t)count) : NULL;
    if (!sample) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a grid", where);
        return NULL;
    }
    grid->sample = sample;
    /* samples of the cache, else measured and stored there */
    grid_file_key(grid, mesh->mesh);
    if (!cache || !grid_file_read(cache, grid, sample)) {
        sample_all(grid, mesh, sample);
        if (cache) {
            grid_file_write(cache, grid);
        }
    }
    return grid;
}
