/* Geometries from their two sources: numbers of the scene, and files. */
#include "math/spatial.h"
#include "scene/loader/loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Steps, of which a scene has room for so many (scene_limits): measured. */
enum { STEPS_PER_TRIANGLE = 1000, STEPS_PER_POINT = 3000, STEPS_PER_HEIGHT = 20 };

bool read_scale(loader *l, const node *at, const number_list *given, sim_v3 *scale) {
    const double *s = given->value;
    *scale = given->count == 3   ? (sim_v3){s[0], s[1], s[2]}
             : given->count == 0 ? (sim_v3){1, 1, 1}
                                 : (sim_v3){s[0], s[0], s[0]};
    if (given->count == 2 || scale->x == 0 || scale->y == 0 || scale->z == 0) {
        report_once(&l->report, node_member(at, "scale"), NULL, "expected one factor or three, none of them 0");
        return false;
    }
    return true;
}

void report_geometry(loader *l, const node *at, const sim_error *why) {
    if (why->status) {
        l->report.no_resource |= why->status == SIM_NO_RESOURCE;
        report_once(&l->report, at, NULL, "%s", why->text);
    }
}

static bool has_room(loader *l, int count, int steps, const char *what, sim_error *why) {
    if (count > l->steps_left / steps) {
        sim_fail(why, SIM_BAD_INPUT, "the solids of the scene are too many: this one has %d %s, there is room for %lld",
                 count, what, (long long)(l->steps_left / steps));
        return false;
    }
    l->steps_left -= (int64_t)count * steps;
    return true;
}

/* ---- from numbers in the scene ---- */

static sim_v3 *points_of(loader *l, const number_list *rows) {
    sim_v3 *point = POOL_NEW(l->work, sim_v3, rows->count / 3);
    for (int k = 0; point && k < rows->count / 3; k++) {
        point[k] = (sim_v3){rows->value[3 * k], rows->value[3 * k + 1], rows->value[3 * k + 2]};
    }
    return point;
}

static sim_geometry *hull_of(loader *l, const sim_v3 *point, int count, sim_error *why) {
    return has_room(l, count, STEPS_PER_POINT, "points", why) ? sim_geometry_hull(point, count, why) : NULL;
}

static sim_geometry *mesh_of(loader *l, const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                             sim_error *why) {
    return has_room(l, ntriangle, STEPS_PER_TRIANGLE, "triangles", why)
               ? sim_geometry_mesh(vertex, nvertex, triangle, ntriangle, why)
               : NULL;
}

static sim_geometry *mesh_of_rows(loader *l, const shape_data *d, const sim_v3 *point, sim_error *why) {
    int count = d->triangles.count / 3, points = d->points.count / 3;
    int(*triangle)[3] = (int(*)[3])pool_alloc(l->work, (size_t)count, sizeof *triangle);
    if (!triangle) {
        sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    for (int k = 0; k < 3 * count; k++) {
        double number = d->triangles.value[k];
        if (number >= points) {
            sim_fail(why, SIM_BAD_INPUT, "triangle %d names point %.0f; there are %d, counted from 0", k / 3, number,
                     points);
            return NULL;
        }
        triangle[k / 3][k % 3] = (int)number;
    }
    return mesh_of(l, point, points, (const int(*)[3])triangle, count, why);
}

sim_geometry *geometry_from_rows(loader *l, const shape_data *d, sim_error *why) {
    if (d->type == SIM_HEIGHT_FIELD) {
        int columns = (int)d->columns, rows = d->heights.count / columns;
        if (rows < 2 || rows * columns != d->heights.count) {
            sim_fail(why, SIM_BAD_INPUT, "%d heights are not two or more rows of %d", d->heights.count, columns);
            return NULL;
        }
        return has_room(l, d->heights.count, STEPS_PER_HEIGHT, "heights", why)
                   ? sim_geometry_heights(columns, rows, d->extent, d->heights.value, why)
                   : NULL;
    }
    sim_v3 *point = points_of(l, &d->points);
    if (!point) {
        sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    return d->type == SIM_CONVEX ? hull_of(l, point, d->points.count / 3, why) : mesh_of_rows(l, d, point, why);
}

/* ---- from files ---- */

sim_status read_file_triangles(loader *l, const char *path, sim_v3 scale, sim_triangles *t, sim_error *why) {
    if (!path[0] || path[strlen(path) - 1] == '/') {
        return sim_fail(why, SIM_BAD_INPUT, "expected the name of a file");
    }
    if (++l->nfiles > l->limits.files) {
        return sim_fail(why, SIM_BAD_INPUT, "more than %d files", l->limits.files);
    }
    sim_status status = read_mesh_or_hull(l, path, scale, t, why);
    if (!status) {
        loader_note_file(l, path);
    }
    return status;
}

sim_geometry *geometry_of_triangles(loader *l, int type, const sim_triangles *t, sim_error *why) {
    return type == SIM_CONVEX ? hull_of(l, t->vertex, t->nvertex, why)
                              : mesh_of(l, t->vertex, t->nvertex, (const int(*)[3])t->triangle, t->ntriangle, why);
}

sim_geometry *geometry_from_file(loader *l, int type, const char *path, sim_v3 scale, sim_error *why) {
    sim_triangles t = {0};
    sim_geometry *g = read_file_triangles(l, path, scale, &t, why) ? NULL : geometry_of_triangles(l, type, &t, why);
    free(t.vertex);
    free(t.triangle);
    return g;
}
