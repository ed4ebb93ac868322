/* Sampled distance fields: how near to the mesh they are, how steep; files that keep them. */
#include "support/fields.h"
#include "support/meshes.h"
#include "support/share.h"

#include "geometry/field/grid.h"
#include "geometry/field/grid_file.h"
#include "geometry/mesh/bvh.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- accuracy ---- */

static field_grid *build(memory_pool *pool, const sim_geometry *mesh, double cell, const char *cache) {
    sim_error error = {0};
    int64_t room = FIELD_MAX_STEPS;
    field_grid *grid = grid_build(pool, mesh, cell, cache, "field", &room, &error);
    cr_assert(grid, "%s", error.text);
    return grid;
}

static v3 near_surface(random_source *r, const sim_mesh *m, double reach) {
    const int *i = m->triangle[random_index(r, m->ntriangle)];
    double u = random_uniform(r, 0, 1), v = random_uniform(r, 0, 1 - u);
    v3 p = v3_axpy(v3_scale(u, m->vertex[i[0]]), v, m->vertex[i[1]]);
    return v3_axpy(v3_axpy(p, 1 - u - v, m->vertex[i[2]]), random_uniform(r, 0, reach), random_unit(r));
}

/* Largest difference from the exact distance within half a cell of the surface. */
static double error_near(const sim_geometry *mesh, const field_grid *grid, int points) {
    random_source r = {1};
    double worst = 0;
    for (int k = 0; k < points; k++) {
        v3 p = near_surface(&r, mesh->mesh, 0.5 * grid->cell), g;
        worst = fmax(worst, fabs(grid_distance(grid, p, &g) - mesh_distance(mesh, p, &g)));
    }
    return worst;
}

Test(grid, error_falls_with_the_square_of_the_cell) {
    sim_geometry *mesh = soup_geometry(soup_sphere(0.05, 6));
    double error[3] = {1, 1, 1};
    for (int k = 0; k < part_of(3); k++) {
        memory_pool *pool = pool_create();
        double cell = 0.01 / (1 << k);
        error[k] = error_near(mesh, build(pool, mesh, cell, NULL), 3000);
        double expected = cell * cell / (4 * 0.05); /* h^2 H / 4 */
        cr_log_warn("sphere of radius 10, 20, 40 cells / 2: error %.2e m, %.3f cells, expected %.2e", error[k],
                    error[k] / cell, expected);
        cr_assert(error[k] < 1.5 * expected);
        pool_free(pool);
    }
    double order = log2(error[0] / error[2]) / 2;
    cr_log_warn("order %.2f", order);
    cr_assert(order > 1.8 || is_part());
    sim_geometry_free(mesh);
}

Test(grid, flat_faces_are_exact_and_sharp_edges_rounded_by_a_fraction_of_a_cell) {
    soup s = soup_box(0.1, 0.07, 0.05);
    soup_move(&s, (sim_pose){m3_axis_angle(v3_make(0.6, 0, 0.8), 0.7), {0.3, 0.2, 0.1}});
    sim_geometry *mesh = soup_geometry(s);
    memory_pool *pool = pool_create();
    field_grid *grid = build(pool, mesh, 2e-3, NULL);
    random_source r = {2};
    double flat = 0, edge = 0;
    for (int k = 0; k < 20000; k++) {
        v3 p = near_surface(&r, mesh->mesh, 2e-3), g, n, q;
        double exact = mesh_distance(mesh, p, &n), d = grid_distance(grid, p, &g);
        /* flat: the same face all over the cells that matter */
        int same = 1;
        for (int c = 0; c < 8; c++) {
            v3 o = {c & 1 ? 4e-3 : -4e-3, c & 2 ? 4e-3 : -4e-3, c & 4 ? 4e-3 : -4e-3};
            mesh_distance(mesh, v3_add(p, o), &q);
            same &= v3_dot(q, n) > 1 - 1e-9;
        }
        flat = same ? fmax(flat, fabs(d - exact)) : flat;
        edge = fmax(edge, fabs(d - exact));
    }
    cr_log_warn("box: faces off by %.1e m, edges by %.2f cells", flat, edge / 2e-3);
    cr_assert(flat < 1e-9 && edge < 0.5 * 2e-3, "%g, %g", flat, edge);
    pool_free(pool);
    sim_geometry_free(mesh);
}

/* ---- slopes ---- */

/* A knot of sharp things: two boxes and a ring, one through the other's side. */
static sim_geometry *spiky(void) {
    soup a = soup_box(0.1, 0.07, 0.02), b = soup_box(0.01, 0.02, 0.03), c = soup_torus(0.03, 0.008, 24, 6);
    soup_move(&b, (sim_pose){m3_axis_angle(v3_make(0.6, 0, 0.8), 0.7), {0, 0, 0.05}});
    soup_move(&c, (sim_pose){m3_axis_angle(v3_make(1, 0, 0), 0.9), {0, 0, -0.05}});
    soup_add(&a, b);
    soup_add(&a, c);
    return soup_geometry(a);
}

static sim_geometry *field_of(const sim_geometry *mesh, double cell) {
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_GRID;
    def.mesh = mesh;
    def.cell = cell;
    return field_geometry(&def, 0);
}

Test(grid, is_hardly_steeper_than_one_and_never_far_beyond_the_distance) {
    sim_geometry *mesh = spiky(), *g = field_of(mesh, 2e-3);
    field_slopes s = field_steepest(g, 0.05, 300000);
    double beyond = 0;
    random_source r = {3};
    for (int k = 0; k < 30000; k++) {
        v3 p = field_point(&r, g, 0.05), n;
        double d = fabs(sim_field_distance(g->field, p, NULL)), exact = fabs(mesh_distance(mesh, p, &n));
        if (exact > 4e-3) {
            beyond = fmax(beyond, d - exact);
        }
    }
    cr_log_warn("slope %.4f between points, gradient %.4f; %.2f cells beyond the distance", s.between, s.gradient,
                beyond / 2e-3);
    cr_assert(s.between < 1.05 && s.gradient < 1.05 && beyond < 0.2 * 2e-3, "%g, %g, %g", s.between, s.gradient,
              beyond);
    sim_geometry_free(g);
    sim_geometry_free(mesh);
}

Test(grid, gradient_is_continuous_and_the_difference_quotient) {
    sim_geometry *mesh = spiky(), *g = field_of(mesh, 2e-3);
    double kept, error = field_gradient_error(g, 0.03, 20000, 1e-7, 1e-4, &kept);
    cr_assert(kept > 0.99 && error < 1e-4, "%g over %g", error, kept);
    random_source r = {4};
    double jump = 0;
    for (int k = 0; k < 50000; k++) { /* inside the box: outside it the nearest point of a face may change sides */
        v3 p = field_point(&r, g, 0), a, b;
        double d = sim_field_distance(g->field, p, &a);
        if (fabs(d) < 3e-3) {
            sim_field_distance(g->field, v3_axpy(p, 1e-9, random_unit(&r)), &b);
            jump = fmax(jump, v3_norm(v3_sub(a, b)));
        }
    }
    cr_assert(jump < 1e-4, "%g", jump);
    sim_geometry_free(g);
    sim_geometry_free(mesh);
}

Test(grid, sign_is_that_of_the_mesh_away_from_its_edges) {
    sim_geometry *mesh = spiky(), *g = field_of(mesh, 2e-3);
    random_source r = {5};
    int inside = 0;
    for (int k = 0; k < 30000; k++) {
        v3 p = field_point(&r, g, 0.01), n;
        double exact = mesh_distance(mesh, p, &n);
        if (fabs(exact) > 0.5 * 2e-3) {
            cr_assert_eq(sim_field_distance(g->field, p, NULL) < 0, exact < 0);
            inside += exact < 0;
        }
    }
    cr_assert(inside > 300);
    cr_assert(g->mesh->closed);
    cr_assert_float_eq(g->solid.mass, mesh->solid.mass, 0.03 * mesh->solid.mass);
    sim_geometry_free(g);
    sim_geometry_free(mesh);
}

/* The sampling takes short cuts: each sample must still be the distance there. */
Test(grid, samples_are_the_distance) {
    sim_geometry *mesh = spiky();
    memory_pool *pool = pool_create();
    field_grid *grid = build(pool, mesh, 4e-3, NULL);
    size_t at = 0;
    for (int k = 0; k < grid->size[2]; k++) {
        for (int j = 0; j < grid->size[1]; j++) {
            for (int i = 0; i < grid->size[0]; i++, at++) {
                v3 p = v3_add(grid->origin, v3_scale(grid->cell, v3_make(i, j, k))), n;
                cr_assert_float_eq((double)grid->sample[at], mesh_distance(mesh, p, &n), 1e-7);
            }
        }
    }
    pool_free(pool);
    sim_geometry_free(mesh);
}

/* ---- files ---- */

static char folder[64];

static void open_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/grid_test_XXXXXX");
    cr_assert(mkdtemp(folder));
}

static int files_in_folder(void) {
    DIR *d = opendir(folder);
    int count = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        count += e->d_name[0] != '.';
    }
    closedir(d);
    return count;
}

static void close_folder(void) {
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            remove(path);
        }
    }
    closedir(d);
    rmdir(folder);
}

static size_t samples_of(const field_grid *g) { return (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2]; }

static int same_samples(const field_grid *a, const field_grid *b) {
    return samples_of(a) == samples_of(b) && memcmp(a->sample, b->sample, samples_of(a) * sizeof *a->sample) == 0;
}

static void path_of(const field_grid *grid, char path[256]) {
    cr_assert(grid_file_name(path, 256, folder, grid, ".grid"));
}

static char *slurp(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s", path);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    cr_assert_eq(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

Test(grid, comes_back_from_its_file_bit_for_bit, .init = open_folder, .fini = close_folder) {
    sim_geometry *mesh = spiky();
    memory_pool *pool = pool_create();
    field_grid *made = build(pool, mesh, 8e-3, folder), *read = build(pool, mesh, 8e-3, folder);
    field_grid *alone = build(pool, mesh, 8e-3, NULL);
    cr_assert_eq(files_in_folder(), 1);
    cr_assert(same_samples(made, read) && same_samples(made, alone));
    build(pool, mesh, 9e-3, folder);
    cr_assert_eq(files_in_folder(), 2); /* another cell, another file */
    pool_free(pool);
    sim_geometry_free(mesh);
}

/* A file with a valid head and other samples must be believed: that shows that it is read at all. */
Test(grid, file_is_used_and_not_made_again, .init = open_folder, .fini = close_folder) {
    sim_geometry *mesh = spiky();
    memory_pool *pool = pool_create();
    field_grid *made = build(pool, mesh, 8e-3, NULL), other = *made;
    float *sample = calloc(samples_of(made), sizeof *sample);
    sample[7] = 42;
    other.sample = sample;
    grid_file_write(folder, &other);
    cr_assert(same_samples(&other, build(pool, mesh, 8e-3, folder)));
    free(sample);
    pool_free(pool);
    sim_geometry_free(mesh);
}

Test(grid, file_that_is_cut_short_changed_or_foreign_is_made_again, .init = open_folder, .fini = close_folder) {
    sim_geometry *mesh = spiky();
    memory_pool *pool = pool_create();
    field_grid *made = build(pool, mesh, 10e-3, folder);
    char path[256];
    path_of(made, path);
    size_t size, again;
    char *good = slurp(path, &size), *bad = malloc(size + 1);
    random_source r = {6};
    for (int trial = 0; trial < 120; trial += is_part() ? 7 : 1) {
        size_t length = size;
        memcpy(bad, good, size);
        if (trial < 40) {
            length = trial < 20 ? (size_t)trial * 11 : (size_t)random_index(&r, (int)size);
        } else if (trial < 110) {
            bad[trial < 80 ? random_index(&r, 200) : random_index(&r, (int)size)] ^= (char)(1 << random_index(&r, 8));
        } else if (trial < 115) {
            bad[length++] = 0;
        } else {
            for (size_t k = 0; k < size; k++) {
                bad[k] = (char)random_index(&r, 256);
            }
        }
        spill(path, bad, length);
        memory_pool *short_lived = pool_create();
        cr_assert(same_samples(made, build(short_lived, mesh, 10e-3, folder)), "trial %d", trial);
        pool_free(short_lived);
        char *mended = slurp(path, &again);
        cr_assert(again == size && memcmp(mended, good, size) == 0, "trial %d", trial);
        free(mended);
    }
    cr_assert_eq(files_in_folder(), 1);
    free(good);
    free(bad);
    pool_free(pool);
    sim_geometry_free(mesh);
}

Test(grid, folder_that_is_not_there_or_in_the_way_is_no_error, .init = open_folder, .fini = close_folder) {
    sim_geometry *mesh = spiky();
    memory_pool *pool = pool_create();
    field_grid *made = build(pool, mesh, 10e-3, NULL);
    char path[256];
    path_of(made, path);
    mkdir(path, 0700); /* a folder where the file should be */
    cr_assert(same_samples(made, build(pool, mesh, 10e-3, folder)));
    cr_assert_eq(files_in_folder(), 1);
    rmdir(path);
    cr_assert(same_samples(made, build(pool, mesh, 10e-3, "/dev/null/at/all")));
    pool_free(pool);
    sim_geometry_free(mesh);
}

Test(grid, cell_that_gives_too_many_samples_is_refused) {
    sim_geometry *mesh = soup_geometry(soup_box(1, 1, 1));
    sim_field_def def = sim_field_default();
    sim_error error = {0};
    def.type = SIM_FIELD_GRID;
    def.mesh = mesh;
    def.cell = 1e-6;
    cr_assert_null(sim_geometry_field(&def, 0, NULL, &error));
    cr_assert(strstr(error.text, "are the most"), "%s", error.text);
    sim_geometry_free(mesh);
}
