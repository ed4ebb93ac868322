/* Triangles of a field for contact, with its edges and corners.
 *
 * Contact is searched from triangle to triangle but found on the surface itself, so triangles need not be small. They
 * must tell the surface's sides apart, and be as close together as the wanted points of contact. Normals at a
 * triangle's corners are extrapolated from two places a little inside. So at an edge of the solid each side has its
 * own. */
#include "geometry/field/field_mesh.h"

#include <stdlib.h>
#include <string.h>

static const double PART_INWARDS = 0.05, MIN_SMOOTH_COSINE = 0.9;

/* The gradient at the surface next to p; the triangle's own normal where there is none. */
static v3 normal_near(const sim_field *field, v3 p, v3 otherwise) {
    v3 g;
    for (int step = 0; step < 3; step++) {
        double d = sim_field_distance(field, p, &g), squared = v3_dot(g, g);
        if (!(squared > 0.25)) {
            return otherwise;
        }
        p = v3_axpy(p, -d / squared, g);
    }
    double length = v3_norm(g);
    return length > 0.5 ? v3_scale(1 / length, g) : otherwise;
}

static void find_skin_normals(const sim_field *field, const sim_mesh *m, v3 (*normal)[3]) {
    for (int t = 0; t < m->ntriangle; t++) {
        const int *i = m->triangle[t];
        v3 a = m->vertex[i[0]], b = m->vertex[i[1]], c = m->vertex[i[2]], flat = mesh_triangle_normal(m, t);
        v3 middle = v3_scale(1.0 / 3, v3_add(a, v3_add(b, c)));
        for (int k = 0; k < 3; k++) {
            v3 corner = m->vertex[i[k]], in = v3_sub(middle, corner);
            v3 near = normal_near(field, v3_axpy(corner, PART_INWARDS, in), flat);
            v3 far = normal_near(field, v3_axpy(corner, 2 * PART_INWARDS, in), flat);
            v3 n = v3_dot(near, far) > 0.9 ? v3_sub(v3_scale(2, near), far) : near;
            normal[t][k] = v3_scale(1 / v3_norm(n), n);
        }
    }
}

static void find_sharp(const sim_mesh *m, const v3 (*normal)[3], unsigned char *sharp) {
    memset(sharp, 0, (size_t)m->ntriangle);
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            int u = m->across[t][k], v = m->triangle[t][k], w = m->triangle[t][(k + 1) % 3];
            for (int j = 0; u >= 0 && j < 3; j++) {
                int at = m->triangle[u][j];
                bool turned = (at == v && v3_dot(normal[t][k], normal[u][j]) < MIN_SMOOTH_COSINE) ||
                              (at == w && v3_dot(normal[t][(k + 1) % 3], normal[u][j]) < MIN_SMOOTH_COSINE);
                if (turned) {
                    sharp[t] |= (unsigned char)(SKIN_EDGE << k | SKIN_CORNER << k | SKIN_CORNER << (k + 1) % 3);
                }
            }
        }
    }
}

/* The height of the arc over a chord whose ends turn against each other by an angle is an eighth of both's product. */
static double find_bulge(const sim_mesh *m, const v3 (*normal)[3], const unsigned char *sharp) {
    double most = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            if (sharp[t] & SKIN_EDGE << k) {
                int next = (k + 1) % 3;
                double length = v3_norm(v3_sub(m->vertex[m->triangle[t][next]], m->vertex[m->triangle[t][k]]));
                most = fmax(most, length * v3_norm(v3_sub(normal[t][next], normal[t][k])) / 8);
            }
        }
    }
    return most;
}

/* A vertex is sharp for all its triangles when it is for one. */
static void spread_sharp(const sim_mesh *m, unsigned char *sharp, unsigned char *at) {
    memset(at, 0, (size_t)m->nvertex);
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < m->ntriangle; t++) {
            for (int k = 0; k < 3; k++) {
                int v = m->triangle[t][k], bit = SKIN_CORNER << k;
                at[v] |= (sharp[t] & bit) != 0;
                sharp[t] = (unsigned char)(at[v] ? sharp[t] | bit : sharp[t]);
            }
        }
    }
}

static const sim_mesh *coarse_mesh(memory_pool *pool, const sim_field *field, const sim_mesh *drawing, double spacing) {
    int(*triangle)[3] = malloc((size_t)drawing->ntriangle * sizeof *triangle);
    sim_error unused;
    if (!triangle) {
        return NULL;
    }
    memcpy(triangle, drawing->triangle, (size_t)drawing->ntriangle * sizeof *triangle);
    int left = skin_coarsen(field, drawing->vertex, drawing->nvertex, triangle, drawing->ntriangle, spacing);
    sim_mesh *mesh =
        left <= 0 ? NULL
                  : mesh_build(pool, drawing->vertex, drawing->nvertex, (const int(*)[3])triangle, left, 0, &unused);
    free(triangle);
    return mesh && mesh->closed ? mesh : mesh ? drawing : NULL;
}

sim_skin *skin_build(memory_pool *pool, const sim_field *field, const sim_mesh *drawing, const sim_bvh *bvh,
                     double spacing) {
    sim_skin *s = POOL_NEW(pool, sim_skin, 1);
    const sim_mesh *m = spacing > 0 ? coarse_mesh(pool, field, drawing, spacing) : drawing;
    if (!s || !m) {
        return NULL;
    }
    v3(*normal)[3] = pool_alloc(pool, (size_t)m->ntriangle, sizeof *normal);
    unsigned char *sharp = POOL_NEW(pool, unsigned char, m->ntriangle), *at = malloc((size_t)m->nvertex);
    if (normal && sharp && at) {
        find_skin_normals(field, m, normal);
        find_sharp(m, (const v3(*)[3])normal, sharp);
        spread_sharp(m, sharp, at);
        *s = (sim_skin){m, m == drawing ? bvh : bvh_build(pool, m), (const v3(*)[3])normal, sharp,
                        1.5 * find_bulge(m, (const v3(*)[3])normal, sharp)};
    }
    free(at);
    return s->bvh && normal && sharp && at ? s : NULL;
}
