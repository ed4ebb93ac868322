/* Soft bodies: nodes as bodies, the surface of the tetrahedra.
 *
 *     m_n = rho / 4 sum of V over the tetrahedra of node n
 *
 *     m_n  mass of a node, kg;  rho  density, kg/m^3;  V  volume of a tetrahedron at rest, m^3
 *
 * A triangle is of the surface if one tetrahedron alone has it.  Its nodes carry spheres, by which they touch.
 * Cost: n log n for the triangles, in a sort. */
#include "math/v3.h"
#include "model/builder/core/builder.h"
#include "model/soft/chambers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MIN_VOLUME_OVER_SIZE3 = 1e-12; /* of the longest edge: flatter tetrahedra are refused */

const char *sim_soft_law_name(sim_soft_law law) {
    static const char *const name[SIM_SOFT_LAWS] = {"neo-hookean", "corotated"};
    return (unsigned)law < SIM_SOFT_LAWS ? name[law] : NULL;
}

sim_soft sim_soft_default(void) {
    return (sim_soft){.pose = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}},
                      .poisson = 0.4,
                      .density = 1000,
                      .group = 1,
                      .mask = UINT32_MAX,
                      .color = {-1, -1, -1, 1}};
}

static sim_status check_numbers(sim_builder *b, const sim_soft *s) {
    /* material, nodes, pose */
    if (!(s->modulus > 0) || !isfinite(s->modulus) || !(s->poisson >= 0 && s->poisson < 0.5) || !(s->density > 0) ||
        !isfinite(s->density) || !(s->dissipation >= 0) || !isfinite(s->dissipation) || !(s->thickness >= 0) ||
        !isfinite(s->thickness) || (unsigned)s->law >= SIM_SOFT_LAWS) {
        return builder_refuse(b, SIM_BAD_INPUT,
                              "soft body \"%s\": modulus and density > 0, 0 <= poisson < 0.5, dissipation and "
                              "thickness >= 0, all finite",
                              s->name);
    }
    if (s->nnode < 4 || s->ntet < 1 || !s->node || !s->tet) {
        return builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": %d nodes and %d tetrahedra make no solid", s->name,
                              s->nnode, s->ntet);
    }
    for (int n = 0; n < s->nnode; n++) {
        if (!v3_finite(s->node[n])) {
            return builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": node %d is not finite", s->name, n);
        }
    }
    return v3_finite(s->v) && v3_finite(s->w) && builder_proper_pose(&s->pose)
               ? SIM_OK
               : builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": its pose or velocity is not finite", s->name);
}

/* Copies a tetrahedron with positive volume and adds its part of the masses. */
static sim_status add_tet(sim_builder *b, const sim_soft *s, int k, int to[4], double *mass) {
    const int *t = s->tet[k];
    for (int i = 0; i < 4; i++) {
        if (t[i] < 0 || t[i] >= s->nnode) {
            return builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": tetrahedron %d names node %d of %d", s->name, k,
                                  t[i], s->nnode);
        }
    }
    v3 e[3];
    double size = 0;
    for (int i = 0; i < 3; i++) {
        e[i] = v3_sub(s->node[t[i + 1]], s->node[t[0]]);
        size = max_of(size, v3_norm(e[i]));
    }
    double volume = v3_dot(v3_cross(e[0], e[1]), e[2]) / 6;
    if (!(fabs(volume) > MIN_VOLUME_OVER_SIZE3 * size * size * size)) {
        return builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": tetrahedron %d has no volume", s->name, k);
    }
    const int turned[4] = {t[0], t[1], volume > 0 ? t[2] : t[3], volume > 0 ? t[3] : t[2]};
    memcpy(to, turned, sizeof turned);
    for (int i = 0; i < 4; i++) {
        mass[t[i]] += s->density * fabs(volume) / 4;
    }
    return SIM_OK;
}

/* A side of a tetrahedron: its corners, and the same in ascending order. */
typedef struct side {
    int corner[3], key[3];
} side;

static int compare_sides(const void *a, const void *b) {
    const side *x = a, *y = b;
    for (int k = 0; k < 3; k++) {
        if (x->key[k] != y->key[k]) {
            return x->key[k] < y->key[k] ? -1 : 1;
        }
    }
    return memcmp(x->corner, y->corner, sizeof x->corner);
}

static void sort_key(side *s) {
    memcpy(s->key, s->corner, sizeof s->key);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 2; k++) {
            if (s->key[k] > s->key[k + 1]) {
                int swap = s->key[k];
                s->key[k] = s->key[k + 1];
                s->key[k + 1] = swap;
            }
        }
    }
}

static bool same_key(const side *a, const side *b) { return memcmp(a->key, b->key, sizeof a->key) == 0; }

/* Fills the surface; false without memory. */
static bool find_surface(sim_builder *b, sim_soft *s) {
    static const int outside[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    int count = 4 * s->ntet, nface = 0;
    side *list = malloc((size_t)count * sizeof *list);
    int(*face)[3] = pool_alloc(b->pool, (size_t)count, sizeof *face);
    for (int k = 0; k < count && list && face; k++) {
        for (int i = 0; i < 3; i++) {
            list[k].corner[i] = s->tet[k / 4][outside[k % 4][i]];
        }
        sort_key(&list[k]);
    }
    if (list && face) {
        qsort(list, (size_t)count, sizeof *list, compare_sides);
        for (int k = 0; k < count; k++) {
            bool twice =
                (k > 0 && same_key(&list[k - 1], &list[k])) || (k + 1 < count && same_key(&list[k], &list[k + 1]));
            if (!twice) {
                memcpy(face[nface++], list[k].corner, sizeof *face);
            }
        }
    }
    free(list);
    s->face = (const int(*)[3])face;
    s->nface = nface;
    return list && face && sort_chambers(s->nnode, s->node, nface, face, &s->nchamber);
}

/* A sphere on each node of the surface. */
static sim_status add_spheres(sim_builder *b, const sim_soft *s) {
    bool *outside = POOL_NEW(b->pool, bool, s->nnode);
    if (!outside) {
        return builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
    }
    for (int k = 0; k < 3 * s->nface; k++) {
        outside[s->face[k / 3][k % 3]] = true;
    }
    sim_shape shape = sim_shape_default();
    shape.size[0] = s->thickness;
    shape.material = s->material;
    shape.group = s->group;
    shape.mask = s->mask;
    shape.hidden = true;
    for (int n = 0; n < s->nnode && !b->error.status; n++) {
        if (outside[n]) {
            shape.body = s->body + 1 + n;
            sim_builder_add_shape(b, &shape);
        }
    }
    return b->error.status;
}

/* The body that carries the nodes, and these. */
static sim_status add_bodies(sim_builder *b, sim_soft *s, const double *mass) {
    sim_body_def def = sim_body_default();
    def.name = s->name;
    def.joint = SIM_FIXED;
    def.placement = s->pose;
    s->body = sim_builder_add_body(b, &def);
    def.parent = s->body;
    for (int n = 0; n < s->nnode && !b->error.status; n++) {
        char name[300];
        snprintf(name, sizeof name, "%.250s/%d", s->name, n);
        def.name = name;
        def.joint = s->held[n] ? SIM_FIXED : SIM_CARTESIAN;
        def.placement = (sim_pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, s->held[n] ? s->node[n] : (v3){0, 0, 0}};
        def.inertia = (sim_inertia){.mass = mass[n]};
        v3 rate = v3_add(s->v, v3_cross(s->w, s->node[n]));
        const double q[3] = {s->node[n].x, s->node[n].y, s->node[n].z}, v[3] = {rate.x, rate.y, rate.z};
        memcpy(def.q, q, sizeof q);
        memcpy(def.v, v, sizeof v);
        sim_builder_add_body(b, &def);
    }
    return b->error.status;
}

/* Copies of the arrays; false without memory. */
static bool copy_arrays(sim_builder *b, const sim_soft *given, sim_soft *s, int (**tet)[4], double **mass) {
    sim_v3 *node = POOL_NEW(b->pool, sim_v3, given->nnode);
    bool *held = POOL_NEW(b->pool, bool, given->nnode);
    int *holder = POOL_NEW(b->pool, int, given->nnode);
    *tet = pool_alloc(b->pool, (size_t)given->ntet, sizeof **tet);
    *mass = POOL_NEW(b->pool, double, given->nnode);
    if (!node || !held || !holder || !*tet || !*mass) {
        return false;
    }
    memcpy(node, given->node, (size_t)given->nnode * sizeof *node);
    if (given->held) {
        memcpy(held, given->held, (size_t)given->nnode * sizeof *held);
    }
    if (given->holder) {
        memcpy(holder, given->holder, (size_t)given->nnode * sizeof *holder);
    }
    s->node = node;
    s->held = held;
    s->holder = holder;
    s->tet = (const int(*)[4]) * tet;
    return true;
}

/* Fixed bodies under held nodes: the last that carries all of them. */
static sim_status find_base(sim_builder *b, sim_soft *s) {
    s->base = -1;
    for (int n = 0; n < s->nnode; n++) {
        if (!s->held[n]) {
            continue;
        }
        bool fixed = s->holder[n] >= 0 && s->holder[n] < b->nbody;
        for (int i = s->holder[n]; fixed && i > 0; i = b->body[i].parent) {
            fixed = b->body[i].joint == SIM_FIXED;
        }
        if (!fixed) {
            return builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": node %d stands on no fixed body", s->name, n);
        }
        s->base = s->base < 0 ? s->holder[n] : s->base;
        while (!builder_carries(b, s->base, s->holder[n])) {
            s->base = b->body[s->base].parent;
        }
    }
    s->base = s->base < 0 ? 0 : s->base;
    return SIM_OK;
}

int sim_builder_add_soft(sim_builder *b, const sim_soft *given) {
    /* a copy with arrays of its own */
    if (!b || b->error.status || builder_grow(b, (void **)&b->soft, b->nsoft, &b->soft_room, sizeof *b->soft)) {
        return -1;
    }
    sim_soft s = *given;
    char plain[32];
    snprintf(plain, sizeof plain, "soft%d", b->nsoft);
    s.name = pool_text(b->pool, given->name ? given->name : plain);
    if (s.name && check_numbers(b, &s)) {
        return -1;
    }
    int(*tet)[4];
    double *mass;
    if (!s.name || !copy_arrays(b, given, &s, &tet, &mass)) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    /* tetrahedra, masses, surface */
    for (int k = 0; k < s.ntet; k++) {
        if (add_tet(b, given, k, tet[k], mass)) {
            return -1;
        }
    }
    for (int n = 0; n < s.nnode; n++) {
        if (mass[n] == 0) {
            builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": no tetrahedron has node %d", s.name, n);
            return -1;
        }
    }
    if (!find_surface(b, &s)) {
        builder_refuse(b, SIM_NO_RESOURCE, "no memory for a model");
        return -1;
    }
    if (sim_track_given(&s.pressure) && s.nchamber == 0) {
        builder_refuse(b, SIM_BAD_INPUT, "soft body \"%s\": it has a pressure, and no closed chamber within", s.name);
        return -1;
    }
    if (sim_track_given(&s.pressure) && builder_copy_track(b, &s.pressure, 1, "a pressure")) {
        return -1;
    }
    if (find_base(b, &s) || add_bodies(b, &s, mass) || (s.thickness > 0 && add_spheres(b, &s))) {
        return -1;
    }
    b->soft[b->nsoft++] = s;
    return s.body;
}
