/* A field as a geometry: the tree of nodes, its surface in triangles, bounds and mass.
 *
 * Mass properties M(h) of a surface of triangles with corners on the true surface differ from the solid's by a term in
 * h^2. A second surface has each triangle cut in four, with the new corners on the solid. Its error is a quarter, and
 *     (4 M(h/2) - M(h)) / 3
 * is free of it (Richardson).  Spheres, boxes and cylinders alone have closed forms.  A coarse surface for contacts may
 * miss thin walls: there the mass comes from the field itself. */
#include "geometry/core/solid.h"
#include "geometry/field/field_mass.h"
#include "geometry/field/field_mesh.h"
#include "geometry/field/surface.h"
#include "geometry/mesh/mesh.h"
#include "math/angle.h"
#include <stdlib.h>

enum { MIN_EDGES = 50, MAX_EDGES = 200, MAX_TRIES = 4 };
enum { CONTACT_EDGES = 8 }; /* contacts stand a twelfth of the longest side apart, or closer where it is curved */

static sim_status report_no_memory(sim_error *error) {
    return sim_fail(error, SIM_NO_RESOURCE, "no memory for a field");
}

/* ---- mass ---- */

static sim_inertia principal_inertia(double mass, double xx, double yy, double zz) {
    return (sim_inertia){.mass = mass, .moment = {.xx = mass * xx, .yy = mass * yy, .zz = mass * zz}};
}

/* Of a field of a single node that has a closed form; mass 0 for others. */
static sim_inertia closed_form(const sim_field *field) {
    const field_node *n = &field->node[0];
    double a = 2 * n->half[0], b = 2 * n->half[1], c = 2 * n->half[2], r = n->half[0];
    sim_inertia I = {0};
    if (n->type == SIM_FIELD_SPHERE) {
        r += n->rounding;
        I = principal_inertia(4.0 / 3 * PI * r * r * r, 0.4 * r * r, 0.4 * r * r, 0.4 * r * r);
    } else if (n->type == SIM_FIELD_BOX && n->rounding == 0) {
        I = principal_inertia(a * b * c, (b * b + c * c) / 12, (a * a + c * c) / 12, (a * a + b * b) / 12);
    } else if (n->type == SIM_FIELD_CYLINDER && n->rounding == 0) {
        double across = (3 * r * r + b * b) / 12;
        I = principal_inertia(PI * r * r * b, across, across, r * r / 2);
    }
    I.com = n->X.p;
    I.moment = sym3_rotated(n->X.R, I.moment);
    return I;
}

/* The middle of each edge, brought onto the surface where that is near: corner[6 t + 3 + k] between corners k and k +
 * 1. */
static void cut_edges(const sim_field *field, const sim_mesh *mesh, double size, v3 *corner) {
    for (int t = 0; t < mesh->ntriangle; t++) {
        const int *i = mesh->triangle[t];
        for (int k = 0; k < 3; k++) {
            v3 a = mesh->vertex[i[k]], b = mesh->vertex[i[(k + 1) % 3]], middle = v3_scale(0.5, v3_add(a, b));
            int u = mesh->across[t][k];
            corner[6 * t + k] = a;
            corner[6 * t + 3 + k] = middle;
            if (u >= 0 && u < t) {
                int same = mesh->across[u][0] == t ? 0 : mesh->across[u][1] == t ? 1 : 2;
                corner[6 * t + 3 + k] = corner[6 * u + 3 + same];
                continue;
            }
            v3 p = middle;
            if (surface_project(field, size, &p) && v3_norm(v3_sub(p, middle)) < 0.5 * v3_norm(v3_sub(b, a))) {
                corner[6 * t + 3 + k] = p;
            }
        }
    }
}

static sym3 sym3_blend(double s, sym3 a, double t, sym3 b) {
    return (sym3){s * a.xx + t * b.xx, s * a.yy + t * b.yy, s * a.zz + t * b.zz,
                  s * a.xy + t * b.xy, s * a.xz + t * b.xz, s * a.yz + t * b.yz};
}

static sim_status measure_surface(sim_geometry *g, double size, sim_error *error) {
    /* each triangle cut into four, new corners moved onto the surface */
    static const int quarter[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
    const sim_mesh *mesh = g->mesh;
    size_t count = (size_t)mesh->ntriangle;
    v3 *corner = malloc(6 * count * sizeof *corner);
    int(*triangle)[3] = malloc(4 * count * sizeof *triangle);
    /* refined surface */
    if (corner && triangle) {
        cut_edges(g->field, mesh, size, corner);
        for (size_t t = 0; t < 4 * count; t++) {
            for (int k = 0; k < 3; k++) {
                triangle[t][k] = (int)(6 * (t / 4)) + quarter[t % 4][k];
            }
        }
        /* Richardson extrapolation: the error falls with the square of the edge */
        sim_inertia coarse = solid_inertia(mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle);
        sim_inertia fine = solid_inertia(corner, (int)(6 * count), (const int(*)[3])triangle, (int)(4 * count));
        double f = 4.0 / 3, c = -1.0 / 3;
        g->solid.mass = f * fine.mass + c * coarse.mass;
        g->solid.com = v3_add(v3_scale(f, fine.com), v3_scale(c, coarse.com));
        g->solid.moment = sym3_blend(f, fine.moment, c, coarse.moment);
    }
    free(corner);
    free(triangle);
    return corner && triangle ? SIM_OK : report_no_memory(error);
}

/* ---- the surface ---- */

static v3 componentwise_max(v3 a, v3 b) { return v3_make(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }
static v3 componentwise_min(v3 a, v3 b) { return v3_make(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }

/* A surface that touches itself between the corners of the lattice may not close when corners are joined: a lattice a
 * little finer stands elsewhere. */
static sim_status triangulate_field(sim_geometry *g, memory_pool *pool, double edge, int64_t *room, sim_error *error) {
    /* surface and mesh */
    v3 low = g->low, high = g->high;
    for (int k = 0; k < MAX_TRIES; k++, edge *= 0.97) {
        surface s;
        sim_status status = surface_extract(g->field, low, high, edge, &s, room, error);
        if (status) {
            return status;
        }
        sim_mesh *mesh = mesh_build(pool, s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle, 0, error);
        /* bounds are those of the field and of the surface */
        g->low = componentwise_max(low, s.low);
        g->high = componentwise_min(high, s.high);
        v3 far = componentwise_max(v3_neg(g->low), g->high);
        g->radius = fmin(s.radius, v3_norm(far));
        surface_free(&s);
        g->mesh = mesh;
        if (!mesh) {
            return SIM_NO_RESOURCE;
        }
        /* done when it closes */
        if (mesh->closed) {
            g->bvh = bvh_build(pool, mesh);
            return g->bvh ? SIM_OK : report_no_memory(error);
        }
    }
    return sim_fail(error, SIM_BAD_INPUT,
                    "the field's surface does not close at a resolution of %g m: parts that only touch should overlap",
                    edge);
}

/* Of a solid whose surface for contacts may be too coarse: see field_mass.c. */
static sim_status measure_cubes(sim_geometry *g, v3 low, v3 high, double edge, int64_t *room, sim_error *error) {
    return field_mass(g->field, low, high, edge, room, &g->solid)
               ? SIM_OK
               : sim_fail(error, SIM_BAD_INPUT, "the mass of a field of %d parts takes too long to find",
                          g->field->nnode);
}

/* Shows walls and threads. */
static double usual_edge(const sim_field *field) {
    v3 size = v3_sub(field->high, field->low);
    double longest = fmax(size.x, fmax(size.y, size.z));
    return fmin(fmax(field->detail, longest / MAX_EDGES), longest / MIN_EDGES);
}

sim_status surface_of_drawing(const sim_geometry *g, surface *out, sim_error *error) {
    int64_t room = FIELD_MAX_STEPS;
    double edge = usual_edge(g->field);
    *out = (surface){0};
    return g->field->edge <= edge ? SIM_OK
                                  : surface_extract(g->field, g->field->low, g->field->high, edge, out, &room, error);
}

static sim_status fill_field_geometry(sim_geometry *g, memory_pool *pool, const sim_field_def *def, double resolution,
                                      const char *cache, int64_t *room, sim_error *error) {
    /* field from its definition */
    if (!(resolution >= 0 && isfinite(resolution))) {
        return sim_fail(error, SIM_BAD_INPUT, "the resolution of a field must be 0 or more and finite, not %g",
                        resolution);
    }
    g->type = SIM_GEOMETRY_FIELD;
    g->memory = pool;
    sim_field *field = field_build(pool, def, cache, &g->low, &g->high, room, error);
    if (!field) {
        return SIM_BAD_INPUT;
    }
    /* edge of the triangles */
    double usual = usual_edge(field), edge = resolution > 0 ? resolution : usual;
    field->edge = edge;
    g->field = field;
    g->fingerprint = hash_bytes(field_hash(g->field), &edge, sizeof edge);
    /* surface */
    v3 low = g->low, high = g->high;
    sim_status status = triangulate_field(g, pool, edge, room, error);
    /* mass properties: closed form, else from the surface */
    g->solid = closed_form(g->field);
    if (!status && g->solid.mass == 0) {
        status = edge > usual ? measure_cubes(g, low, high, usual, room, error)
                              : measure_surface(g, v3_norm(v3_sub(high, low)), error);
    }
    /* points of contact on a coarser surface */
    if (!status) {
        v3 size = v3_sub(g->high, g->low);
        double longest = fmax(size.x, fmax(size.y, size.z));
        g->skin = skin_build(pool, g->field, g->mesh, g->bvh, resolution > 0 ? 0 : longest / CONTACT_EDGES);
        status = g->skin ? SIM_OK : report_no_memory(error);
    }
    g->bytes = pool_bytes(pool);
    return status;
}

sim_geometry *sim_geometry_field(const sim_field_def *def, double resolution, const char *cache, sim_error *error) {
    int64_t room = FIELD_MAX_STEPS;
    return geometry_field_within(def, resolution, cache, &room, error);
}

sim_geometry *geometry_field_within(const sim_field_def *def, double resolution, const char *cache, int64_t *room,
                                    sim_error *error) {
    memory_pool *pool = pool_create();
    sim_geometry *g = pool ? POOL_NEW(pool, sim_geometry, 1) : NULL;
    if (!g) {
        pool_free(pool);
        report_no_memory(error);
        return NULL;
    }
    if (fill_field_geometry(g, pool, def, resolution, cache, room, error)) {
        pool_free(pool);
        return NULL;
    }
    return g;
}
