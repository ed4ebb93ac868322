/* Hulls and meshes to try: few corners and many, long, flat, with large faces of many corners. */
#include "scene.h"

#include <stddef.h>

static int blob(random_source *r, sim_v3 *v, int count, double x, double y, double z) {
    for (int k = 0; k < count; k++) {
        sim_v3 u = random_unit(r);
        v[k] = (sim_v3){x * u.x, y * u.y, z * u.z};
    }
    return count;
}

static int prism(sim_v3 *v, int sides, double radius, double top, double half) {
    for (int k = 0; k < sides; k++) {
        double t = 6.283185307179586 * k / sides;
        v[2 * k] = (sim_v3){radius * cos(t), radius * sin(t), -half};
        v[2 * k + 1] = (sim_v3){top * cos(t), top * sin(t), half};
    }
    return 2 * sides;
}

static int points(random_source *r, int which, sim_v3 *v) {
    switch (which) {
    case 0: /* a tetrahedron */
        return blob(r, v, 4, 0.6, 0.6, 0.6);
    case 1: /* a box */
        for (int k = 0; k < 8; k++) {
            v[k] = (sim_v3){k & 1 ? 0.3 : -0.3, k & 2 ? 0.2 : -0.2, k & 4 ? 0.5 : -0.5};
        }
        return 8;
    case 2:
        return prism(v, 6, 0.4, 0.4, 0.15);
    case 3:
        return prism(v, 12, 0.3, 0.1, 0.4);
    case 4:
        return blob(r, v, 12, 0.5, 0.5, 0.5);
    case 5:
        return blob(r, v, 24, 0.6, 0.2, 0.3);
    case 6: /* its origin outside */
        blob(r, v, 10, 0.3, 0.3, 0.3);
        for (int k = 0; k < 10; k++) {
            v[k].x += 0.7;
        }
        return 10;
    default: /* a pyramid */
        for (int k = 0; k < 4; k++) {
            v[k] = (sim_v3){k & 1 ? 0.4 : -0.4, k & 2 ? 0.4 : -0.4, -0.1};
        }
        v[4] = (sim_v3){0, 0, 0.4};
        return 5;
    }
}

enum { HULLS = 8 };

static sim_geometry *surface_of(const sim_geometry *hull) {
    const sim_hull *h = hull->hull;
    int triangle[512][3], count = 0;
    for (int f = 0; f < h->nface; f++) {
        for (int k = h->face_start[f] + 1; k + 1 < h->face_start[f + 1]; k++, count++) {
            triangle[count][0] = h->loop[h->face_start[f]];
            triangle[count][1] = h->loop[k];
            triangle[count][2] = h->loop[k + 1];
        }
    }
    sim_error error;
    return sim_geometry_mesh(h->vertex, h->nvertex, (const int(*)[3])triangle, count, &error);
}

void stock_make(stock *s) {
    random_source r = {20240};
    *s = (stock){0};
    for (int k = 0; k < HULLS; k++) {
        sim_v3 v[96];
        sim_error error;
        int count = points(&r, k, v);
        for (int small = 0; small < 2; small++) {
            for (int i = 0; small && i < count; i++) {
                v[i] = (sim_v3){1e-3 * v[i].x, 1e-3 * v[i].y, 1e-3 * v[i].z};
            }
            s->hull[small][k] = sim_geometry_hull(v, count, &error);
            s->mesh[small][k] = s->hull[small][k] ? surface_of(s->hull[small][k]) : NULL;
        }
        if (!s->hull[1][k] || !s->mesh[1][k]) {
            fprintf(stderr, "stock %d: %s\n", k, error.text);
            break;
        }
        s->hulls = s->meshes = k + 1;
    }
}

void stock_free(stock *s) {
    for (int small = 0; small < 2; small++) {
        for (int k = 0; k < s->hulls; k++) {
            sim_geometry_free(s->hull[small][k]);
            sim_geometry_free(s->mesh[small][k]);
        }
    }
}
