/* Surfaces of round solids.  As rings about z, one below the other, which neighbours join:
 *
 *     p = (r cos a, r sin a, z),   a = 2 pi k / turn
 *
 * The first and last point of a ring coincide; poles are rings of radius zero, of which half the triangles are left
 * out. An ellipsoid is the unit sphere with each axis scaled by s_i; its normals are those of the sphere divided by
 * s_i. */
#include "math/angle.h"
#include "view/mesh/parts.h"

#include <math.h>

typedef struct ring {
    double radius, z;
    double out, up; /* the normal's parts away from the axis and along it */
} ring;

static void add_ring(view_mesh *mesh, ring r, int turn) {
    for (int k = 0; k <= turn; k++) {
        double angle = 2 * PI * (k % turn) / turn, c = cos(angle), s = sin(angle);
        view_mesh_vertex(mesh, r.radius * c, r.radius * s, r.z, r.out * c, r.out * s, r.up);
    }
}

/* Joins the ring that starts at vertex `above` with that at `below`. */
static void join_rings(view_mesh *mesh, int above, int below, int turn, int upper_pole, int lower_pole) {
    for (int k = 0; k < turn; k++) {
        if (!lower_pole) {
            view_mesh_triangle(mesh, above + k, below + k, below + k + 1);
        }
        if (!upper_pole) {
            view_mesh_triangle(mesh, above + k, below + k + 1, above + k + 1);
        }
    }
}

/* Half a turn from pole to pole in turn/2 steps; at the equator a straight part of `length`, if any. */
static view_mesh *make_ball(double radius, double length, int turn) {
    int steps = turn / 2, rings = steps + 1 + (length > 0);
    view_mesh *mesh = view_mesh_room(rings * (turn + 1), 2 * rings * turn);
    for (int k = 0, made = 0; mesh && k <= steps; k++) {
        double angle = PI * k / steps, s = k % steps ? sin(angle) : 0, c = cos(angle);
        int copies = length > 0 && 2 * k == steps ? 2 : 1;
        for (int copy = 0; copy < copies; copy++, made++) {
            double lift = 2 * k < steps || (copies == 2 && copy == 0) ? 0.5 * length : -0.5 * length;
            add_ring(mesh, (ring){radius * s, radius * c + lift, s, c}, turn);
            if (made > 0) {
                join_rings(mesh, (made - 1) * (turn + 1), made * (turn + 1), turn, made == 1, made == rings - 1);
            }
        }
    }
    return mesh;
}

view_mesh *view_mesh_capsule(double radius, double length, int detail) { return make_ball(radius, length, detail); }

view_mesh *view_mesh_ellipsoid(const double semi_axes[3], int detail) {
    view_mesh *mesh = make_ball(1, 0, detail);
    for (int i = 0; mesh && i < mesh->nvertex; i++) {
        float *p = mesh->position[i], *n = mesh->normal[i];
        double m[3], square = 0;
        for (int k = 0; k < 3; k++) {
            m[k] = n[k] / semi_axes[k];
            square += m[k] * m[k];
        }
        for (int k = 0; k < 3; k++) {
            p[k] = (float)(p[k] * semi_axes[k]);
            n[k] = (float)(m[k] / sqrt(square));
        }
    }
    return mesh;
}

view_mesh *view_mesh_cylinder(double radius, double length, int detail) {
    const double h = 0.5 * length;
    const ring rings[] = {{0, h, 0, 1},       {radius, h, 0, 1},   {radius, h, 1, 0},
                          {radius, -h, 1, 0}, {radius, -h, 0, -1}, {0, -h, 0, -1}};
    view_mesh *mesh = view_mesh_room(6 * (detail + 1), 4 * detail);
    if (mesh) {
        for (int k = 0; k < 6; k++) {
            add_ring(mesh, rings[k], detail);
        }
        for (int k = 0; k < 6; k += 2) {
            join_rings(mesh, k * (detail + 1), (k + 1) * (detail + 1), detail, k == 0, k == 4);
        }
    }
    return mesh;
}
