/* Features of a surface: edges that stick out, triangles in one plane.
 *
 * An edge is a ridge where the normals n, m of its triangles turn apart, (n x m) . e > 0 along it.  Flat parts are the
 * classes of triangles that level edges connect, found by union and find (R. E. Tarjan 1975, "Efficiency of a good but
 * not linear set union algorithm", JACM 22), the lowest triangle at the root. */
#include "geometry/mesh/mesh_features.h"
#include "base/disjoint_set.h"

#include <stdlib.h>
#include <string.h>

typedef struct triangles {
    const sim_mesh *mesh;
    const sim_heights *heights;
    int count;
    uint16_t *flag;
    int *patch;
    int ups; /* bit a, a + 3: no normal seen yet that does not point along axis a, against it */
} triangles;

static void read_indices(const triangles *s, int t, int i[3]) {
    if (s->mesh) {
        memcpy(i, s->mesh->triangle[t], 3 * sizeof *i);
    } else {
        heights_triangle(s->heights, t, i);
    }
}

static v3 read_vertex(const triangles *s, int v) {
    return s->mesh ? s->mesh->vertex[v] : heights_vertex(s->heights, v);
}

static void read_corners(const triangles *s, int t, int i[3], v3 c[3]) {
    read_indices(s, t, i);
    for (int k = 0; k < 3; k++) {
        c[k] = read_vertex(s, i[k]);
    }
}

static int read_across(const triangles *s, int t, int k) {
    return s->mesh ? s->mesh->across[t][k] : heights_across(s->heights, t, k);
}

static v3 unit_normal(const v3 c[3]) {
    v3 n = v3_cross(v3_sub(c[1], c[0]), v3_sub(c[2], c[0]));
    return v3_scale(1 / v3_norm(n), n);
}

/* ---- edges ---- */

static bool is_level(v3 n, const v3 c[3], int k, v3 other, v3 beyond) {
    v3 a = v3_sub(beyond, c[k]), b = v3_sub(beyond, c[(k + 1) % 3]);
    double off = fabs(v3_dot(n, a)), near = fmin(v3_dot(a, a), v3_dot(b, b));
    return off * off <= RELIEF_SLACK * RELIEF_SLACK * near && v3_dot(n, other) > 0; /* else folded back onto itself */
}

static void look_across(triangles *s, int t, const v3 *normal) {
    /* axes along which the surface can face up */
    int i[3], j[3];
    v3 c[3], n = normal[t];
    read_corners(s, t, i, c);
    const double along[3] = {n.x, n.y, n.z};
    for (int a = 0; a < 3; a++) {
        s->ups &= along[a] > RELIEF_SLACK ? ~(8 << a) : along[a] < -RELIEF_SLACK ? ~(1 << a) : ~(9 << a);
    }
    /* each edge: border, ridge or level */
    for (int k = 0; k < 3; k++) {
        int other = read_across(s, t, k), beyond = 0;
        if (other < 0) {
            s->flag[t] |= (uint16_t)(RELIEF_RIDGE << k);
            continue;
        }
        read_indices(s, other, j);
        /* the corner of the neighbour off the edge */
        while (beyond < 2 && (j[beyond] == i[k] || j[beyond] == i[(k + 1) % 3])) {
            beyond++;
        }
        /* a ridge is convex and sharp; of two triangles the lower number keeps it */
        v3 m = normal[other], edge = v3_sub(c[(k + 1) % 3], c[k]), bend = v3_cross(n, m);
        double sine = v3_dot(bend, edge);
        if (other > t && sine > 0 && sine * sine > RELIEF_SHARP * RELIEF_SHARP * v3_dot(edge, edge)) {
            s->flag[t] |= (uint16_t)(RELIEF_RIDGE << k);
        }
        /* a level edge lies in a plane */
        if (is_level(n, c, k, m, read_vertex(s, j[beyond]))) {
            s->flag[t] |= (uint16_t)(RELIEF_LEVEL << k);
        }
    }
}

/* ---- corners ---- */

/* One triangle on round the corner's vertex; 0 at a border. */
static bool turn_about_vertex(const triangles *s, int *t, int *k, int back) {
    int i[3], j[3];
    int u = read_across(s, *t, back ? *k : (*k + 2) % 3);
    if (u < 0) {
        return false;
    }
    read_indices(s, *t, i);
    read_indices(s, u, j);
    *k = j[0] == i[*k] ? 0 : j[1] == i[*k] ? 1 : 2;
    *t = u;
    return true;
}

/* Corners whose lowest triangle is known carry this bit. */
enum { SEEN = RELIEF_PLAIN << 3 };

static void take_corner(triangles *s, int t, int k) {
    if (s->flag[t] & SEEN << k) {
        return;
    }
    s->flag[t] |= (uint16_t)((RELIEF_OWNS | SEEN) << k);
    int plain = s->flag[t] & RELIEF_LEVEL << k && s->flag[t] & RELIEF_LEVEL << (k + 2) % 3;
    for (int back = 0; back < 2; back++) {
        int u = t, c = k;
        while (turn_about_vertex(s, &u, &c, back) && !(s->flag[u] & SEEN << c)) {
            s->flag[u] |= (uint16_t)(SEEN << c);
            plain = plain && s->flag[u] & RELIEF_LEVEL << c && s->flag[u] & RELIEF_LEVEL << (c + 2) % 3;
        }
    }
    if (plain) {
        s->flag[t] |= (uint16_t)(RELIEF_PLAIN << k);
    }
}

/* ---- flat parts ---- */

static void join_level(triangles *s) {
    disjoint_set_start(s->patch, s->count);
    for (int t = 0; t < s->count; t++) {
        for (int k = 0; k < 3; k++) {
            if (s->flag[t] & RELIEF_LEVEL << k) {
                disjoint_set_unite(s->patch, t, read_across(s, t, k));
            }
        }
    }
    for (int t = 0; t < s->count; t++) {
        s->patch[t] = disjoint_set_find(s->patch, t);
    }
}

/* ---- nodes ---- */

static uint8_t of_triangle(int flag) {
    uint8_t out = flag & 7 * RELIEF_RIDGE ? RELIEF_RIDGES : 0;
    for (int k = 0; k < 3; k++) {
        if (flag & RELIEF_OWNS << k && !(flag & RELIEF_PLAIN << k)) {
            out |= RELIEF_POINTS;
        }
    }
    return out;
}

/* Children stand after their parents. */
static void gather_node_flags(const triangles *s, const sim_bvh *bvh, uint8_t *node) {
    for (int n = bvh->nnode - 1; n >= 0; n--) {
        const bvh_node *of = &bvh->node[n];
        node[n] = of->count ? 0 : node[of->first] | node[of->first + 1];
        for (int k = 0; k < of->count; k++) {
            node[n] |= of_triangle(s->flag[s->mesh ? bvh->order[of->first + k] : heights_leaf(s->heights, of, k)]);
        }
    }
}

/* All flags; false without memory. */
static bool find_flags(triangles *s) {
    v3 *normal = malloc((size_t)s->count * sizeof *normal);
    for (int t = 0; normal && t < s->count; t++) {
        int i[3];
        v3 c[3];
        read_corners(s, t, i, c);
        normal[t] = unit_normal(c);
    }
    for (int t = 0; normal && t < s->count; t++) {
        look_across(s, t, normal);
    }
    for (int t = 0; normal && t < 3 * s->count; t++) {
        take_corner(s, t / 3, t % 3);
    }
    free(normal);
    return normal != NULL;
}

static int has_level(const triangles *s) {
    int level = 0;
    for (int t = 0; t < s->count; t++) {
        level |= s->flag[t] & RELIEF_FLAT;
    }
    return level;
}

sim_relief *relief_build(memory_pool *pool, const sim_mesh *mesh, const sim_heights *heights, const sim_bvh *bvh) {
    /* flags of the triangles */
    triangles s = {mesh, heights, mesh ? mesh->ntriangle : heights_triangles(heights), NULL, NULL, 63};
    sim_relief *relief = POOL_NEW(pool, sim_relief, 1);
    uint8_t *node = POOL_NEW(pool, uint8_t, bvh->nnode);
    s.flag = POOL_NEW(pool, uint16_t, s.count);
    if (!relief || !node || !s.flag || !find_flags(&s)) {
        return NULL;
    }
    /* coplanar patches */
    if (has_level(&s)) {
        s.patch = POOL_NEW(pool, int, s.count);
        if (!s.patch) {
            return NULL;
        }
        join_level(&s);
    }
    /* flags of the tree's nodes */
    gather_node_flags(&s, bvh, node);
    *relief = (sim_relief){s.flag, s.patch, node, -1};
    /* an axis along which the whole surface faces up */
    for (int a = 0; a < 6; a++) {
        relief->up = s.ups & 1 << a ? a : relief->up;
    }
    return relief;
}
