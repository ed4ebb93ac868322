/* Triangle meshes: how they are put together, what they weigh. */
#include "support/meshes.h"

#include "geometry/mesh/mesh_features.h"
#include "math/v3.h"
#include <criterion/criterion.h>
#include <sim/collide.h>
#include <stdlib.h>

static void near(double x, double expected, double tolerance) {
    cr_assert_float_eq(x, expected, tolerance, "%.17g is not %.17g", x, expected);
}

static void same_solid(const sim_inertia *a, const sim_inertia *b, double relative) {
    double length = sqrt((b->moment.xx + b->moment.yy + b->moment.zz) / b->mass);
    double m = relative * b->mass, c = relative * length, i = relative * b->mass * length * length;
    near(a->mass, b->mass, m);
    near(a->com.x, b->com.x, c), near(a->com.y, b->com.y, c), near(a->com.z, b->com.z, c);
    near(a->moment.xx, b->moment.xx, i), near(a->moment.yy, b->moment.yy, i), near(a->moment.zz, b->moment.zz, i);
    near(a->moment.xy, b->moment.xy, i), near(a->moment.xz, b->moment.xz, i), near(a->moment.yz, b->moment.yz, i);
}

Test(mesh, a_box_weighs_what_a_box_weighs_wherever_it_stands) {
    random_source r = {1};
    for (int k = 0; k < 20; k++) {
        double x = random_uniform(&r, 0.1, 2), y = random_uniform(&r, 0.1, 2), z = random_uniform(&r, 0.1, 2);
        sim_pose X = {random_rotation(&r), v3_scale(k < 10 ? 1 : 100, random_unit(&r))};
        soup s = soup_box(x, y, z);
        soup_move(&s, X);
        sim_geometry *g = soup_geometry(s);
        sim_inertia box = box_inertia(x * y * z, x, y, z), placed = sim_inertia_placed(&box, &X);
        cr_assert(g->mesh->closed && g->mesh->ntriangle == 12 && g->mesh->nvertex == 8);
        same_solid(&g->solid, &placed, k < 10 ? 1e-13 : 1e-11);
        sim_geometry_free(g);
    }
}

Test(mesh, a_tetrahedron_weighs_what_its_closed_form_says) {
    /* corners 0, e_x, e_y, e_z: V = 1/6, centre 1/4, integral of x^2 = 1/60, of x y = 1/120 */
    const v3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int t[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    sim_geometry *g = sim_geometry_mesh(v, 4, t, 4, NULL);
    double own = 2.0 / 60 - 2.0 / 96, product = -(1.0 / 120 - 1.0 / 96);
    sim_inertia expected = {1.0 / 6, {0.25, 0.25, 0.25}, {own, own, own, product, product, product}};
    same_solid(&g->solid, &expected, 1e-15);
    sim_geometry_free(g);
}

Test(mesh, a_torus_converges_to_its_closed_form_with_order_two) {
    double error[3], R = 1, a = 0.3;
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = soup_geometry(soup_torus(R, a, 40 << k, 20 << k));
        double m = 2 * M_PI * M_PI * R * a * a;
        double about_axis = m * (R * R + 0.75 * a * a);
        error[k] = fabs(g->solid.moment.zz / about_axis - 1);
        near(g->solid.mass, m, 0.03 * m);
        sim_geometry_free(g);
    }
    cr_assert_lt(error[2], 2e-3);
    cr_assert(error[0] / error[1] > 3.8 && error[1] / error[2] > 3.9, "%g %g %g", error[0], error[1], error[2]);
}

/* Radius of a bumpy ball in a direction. */
static double bumpy(v3 n) { return 1 + 0.3 * n.x * n.y * n.z + 0.2 * n.z * n.z - 0.25 * n.x; }

Test(mesh, a_star_shaped_solid_weighs_what_random_points_say) {
    random_source r = {7};
    soup s = soup_sphere(1, 4);
    for (int k = 0; k < s.nvertex; k++) {
        s.vertex[k] = v3_scale(bumpy(s.vertex[k]), s.vertex[k]);
    }
    sim_geometry *g = soup_geometry(s);
    const sim_inertia *I = &g->solid;
    /* Second moments over the cube [-1.5, 1.5]^3, by rejection: 1e6 points know them to about 1e-3. */
    int n = 1000000, inside = 0;
    v3 sum = {0, 0, 0};
    double zz = 0, xy = 0;
    for (int k = 0; k < n; k++) {
        v3 p = {random_uniform(&r, -1.5, 1.5), random_uniform(&r, -1.5, 1.5), random_uniform(&r, -1.5, 1.5)};
        double d = v3_norm(p);
        if (d < bumpy(v3_scale(1 / d, p))) {
            inside++;
            sum = v3_add(sum, p);
            zz += p.x * p.x + p.y * p.y;
            xy -= p.x * p.y;
        }
    }
    double cell = 27.0 / n, volume = inside * cell;
    near(I->mass, volume, 0.01 * volume);
    v3 com = v3_scale(1.0 / inside, sum);
    near(I->com.x, com.x, 0.003), near(I->com.y, com.y, 0.003), near(I->com.z, com.z, 0.003);
    near(I->moment.zz, zz * cell - volume * (com.x * com.x + com.y * com.y), 0.02 * I->moment.zz);
    near(I->moment.xy, xy * cell + volume * com.x * com.y, 0.01 * I->moment.zz);
    sim_geometry_free(g);
}

Test(mesh, torn_triangles_are_joined_and_those_without_area_dropped) {
    random_source r = {3};
    soup s = soup_torus(1, 0.4, 30, 12), torn = soup_torn(&s);
    for (int k = 0; k < torn.nvertex; k++) {
        torn.vertex[k] = v3_axpy(torn.vertex[k], random_uniform(&r, 0, 1e-14), random_unit(&r));
    }
    torn.triangle[5][1] = torn.triangle[5][0]; /* one without area, its hole filled by a copy */
    soup patch = {.nvertex = 3, .ntriangle = 1, .vertex = malloc(3 * sizeof(v3)), .triangle = malloc(sizeof(int[3]))};
    for (int k = 0; k < 3; k++) {
        patch.vertex[k] = s.vertex[s.triangle[5][k]];
        patch.triangle[0][k] = k;
    }
    soup_add(&torn, patch);
    int nvertex = s.nvertex, ntriangle = s.ntriangle;
    sim_geometry *g = soup_geometry(torn), *whole = soup_geometry(s);
    cr_assert_eq(g->mesh->nvertex, nvertex);
    cr_assert_eq(g->mesh->ntriangle, ntriangle);
    cr_assert(g->mesh->closed);
    same_solid(&g->solid, &whole->solid, 1e-12);
    sim_geometry_free(g);
    sim_geometry_free(whole);
}

Test(mesh, triangles_given_twice_count_once) {
    soup whole = soup_box(1, 2, 3), twice = soup_box(1, 2, 3), again = soup_box(1, 2, 3);
    for (int t = 0; t < again.ntriangle; t++) { /* from another corner on */
        int first = again.triangle[t][0];
        again.triangle[t][0] = again.triangle[t][1], again.triangle[t][1] = again.triangle[t][2];
        again.triangle[t][2] = first;
    }
    soup_add(&twice, again);
    sim_geometry *g = soup_geometry(twice), *one = soup_geometry(whole);
    cr_expect_eq(g->mesh->ntriangle, 12);
    cr_expect(g->mesh->closed);
    cr_expect(g->hull, "convex");
    same_solid(&g->solid, &one->solid, 1e-12);
    sim_geometry_free(g);
    sim_geometry_free(one);
}

Test(mesh, neighbours_share_the_edge_they_are_named_for) {
    sim_geometry *g = soup_geometry(soup_torus(1, 0.4, 30, 12));
    const sim_mesh *m = g->mesh;
    for (int t = 0; t < m->ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            int u = m->across[t][k], a = m->triangle[t][k], b = m->triangle[t][(k + 1) % 3], found = 0;
            for (int c = 0; c < 3; c++) {
                found += m->triangle[u][c] == b && m->triangle[u][(c + 1) % 3] == a && m->across[u][c] == t;
            }
            cr_assert_eq(found, 1);
        }
    }
    sim_geometry_free(g);
}

/* Two triangles of one edge, bent by an angle, with every choice of first corners: only a bend of zero runs on flat. */
Test(mesh, an_edge_runs_on_flat_only_where_both_triangles_lie_in_a_plane) {
    static const double bend[] = {0, 1e-3, 0.3, 1.2, -0.3};
    for (int k = 0; k < 45; k++) {
        double angle = bend[k / 9];
        const v3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0.3, -1, 0}, {0.4, cos(angle), -sin(angle)}};
        const int own[3] = {1, 0, 2}, other[3] = {0, 1, 3};
        int a = k % 3, b = k / 3 % 3;
        const int t[2][3] = {{own[a], own[(a + 1) % 3], own[(a + 2) % 3]},
                             {other[b], other[(b + 1) % 3], other[(b + 2) % 3]}};
        sim_geometry *g = sim_geometry_mesh(v, 4, t, 2, NULL);
        for (int s = 0; s < 2; s++) {
            int levels = g->relief->flag[s] & RELIEF_FLAT, shared = 0;
            for (int e = 0; e < 3; e++) {
                shared |= g->mesh->across[s][e] >= 0 ? RELIEF_LEVEL << e : 0;
            }
            cr_expect_neq(shared, 0);
            cr_expect_eq(levels, angle == 0 ? shared : 0, "bend %g, corners %d: %x, shared %x", angle, k % 9, levels,
                         shared);
        }
        sim_geometry_free(g);
    }
}

Test(mesh, boxes_that_touch_along_an_edge_are_two_solids) {
    soup s = soup_box(1, 1, 1), other = soup_box(1, 1, 1);
    soup_move(&other, (sim_pose){m3_identity(), {1, 1, 0}});
    soup_add(&s, other);
    sim_geometry *g = soup_geometry(s);
    cr_assert(g->mesh->closed && !g->mesh->convex);
    near(g->solid.mass, 2, 1e-14);
    for (int t = 0; t < 24; t++) {
        for (int k = 0; k < 3; k++) {
            cr_assert_eq(g->mesh->across[t][k] / 12, t / 12);
        }
    }
    sim_geometry_free(g);
}

/* Both push away what comes near, and nothing is in the way between them. */
Test(mesh, boxes_that_touch_along_an_edge_push_by_their_own_faces) {
    soup s = soup_box(1, 1, 1), other = soup_box(1, 1, 1);
    soup_move(&other, (sim_pose){m3_identity(), {1, 1, 0}});
    soup_add(&s, other);
    sim_shape mesh = sim_shape_default(), ball = sim_shape_default();
    sim_geometry *g = soup_geometry(s);
    mesh.type = SIM_MESH;
    mesh.geometry = g;
    ball.size[0] = 0.1;
    const v3 centre[3] = {{0.599, 0.2, 0.1}, {0.2, 0.599, -0.2}, {0.599, 0.401, 0}};
    const int points[3] = {1, 1, 2}; /* the last in the wedge between them */
    for (int k = 0; k < 3; k++) {
        sim_pose X = {m3_identity(), centre[k]}, still = {m3_identity(), {0, 0, 0}};
        sim_contact_point c[8];
        int count = sim_collide_shapes(&ball, &X, &mesh, &still, 0.01, c, 8);
        cr_assert_eq(count, points[k], "%d points at %d", count, k);
        for (int i = 0; i < count; i++) {
            near(c[i].gap, -0.001, 1e-14);
            near(fabs(c[i].normal.x) + fabs(c[i].normal.y), 1, 1e-14);
        }
    }
    sim_geometry_free(g);
}

/* A box whose upper edges carry extra vertices that only the sides know of: the top closes on them by triangles without
 * area.  `chain`: one after another along an edge. */
static soup box_with_slivers(int chain) {
    soup s = {.nvertex = 8 + 4 * chain,
              .ntriangle = 0,
              .vertex = malloc((size_t)(8 + 4 * chain) * sizeof(v3)),
              .triangle = malloc((size_t)(6 + 4 * (3 + 2 * chain)) * sizeof(int[3]))};
    const int base[4][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}};
    for (int k = 0; k < 8; k++) {
        s.vertex[k] = v3_make((k & 3) == 1 || (k & 3) == 2 ? 0.7 : 0, (k & 3) >= 2 ? 1.1 : 0, k / 4 * 0.3);
    }
    memcpy(s.triangle, base, sizeof base);
    s.ntriangle = 4;
    for (int side = 0; side < 4; side++) {
        int a = side, b = (side + 1) % 4, from = 4 + a, to = 4 + b, last = to;
        memcpy(s.triangle[s.ntriangle++], (int[3]){a, b, to}, sizeof(int[3]));
        for (int k = chain; k >= 1; k--) { /* from `to` back to `from` */
            int v = 8 + chain * side + k - 1;
            s.vertex[v] = v3_axpy(s.vertex[from], k / (chain + 1.0), v3_sub(s.vertex[to], s.vertex[from]));
            memcpy(s.triangle[s.ntriangle++], (int[3]){a, last, v}, sizeof(int[3]));
            memcpy(s.triangle[s.ntriangle++], (int[3]){v, last, from}, sizeof(int[3]));
            last = v;
        }
        memcpy(s.triangle[s.ntriangle++], (int[3]){a, last, from}, sizeof(int[3]));
    }
    return s;
}

Test(mesh, triangles_without_area_that_close_a_surface_are_flipped_away) {
    random_source r = {5};
    for (int chain = 0; chain <= 5; chain++) {
        for (int q = 0; q < 10; q++) {
            sim_pose X = {random_rotation(&r), v3_scale(3, random_unit(&r))}, middle = X;
            soup s = box_with_slivers(chain);
            soup_move(&s, X);
            for (int k = s.ntriangle - 1; k > 0; k--) { /* in any order */
                int other = random_index(&r, k + 1), swap[3];
                memcpy(swap, s.triangle[k], sizeof swap);
                memcpy(s.triangle[k], s.triangle[other], sizeof swap);
                memcpy(s.triangle[other], swap, sizeof swap);
            }
            int ntriangle = s.ntriangle;
            sim_geometry *g = soup_geometry(s);
            middle.p = v3_add(X.p, m3_times(X.R, v3_make(0.35, 0.55, 0.15)));
            sim_inertia box = box_inertia(0.7 * 1.1 * 0.3, 0.7, 1.1, 0.3), placed = sim_inertia_placed(&box, &middle);
            cr_assert(g->mesh->closed && g->mesh->ntriangle == ntriangle && g->mesh->convex, "%d slivers an edge",
                      chain);
            same_solid(&g->solid, &placed, 1e-12);
            for (int t = 0; t < g->mesh->ntriangle; t++) {
                const int *i = g->mesh->triangle[t];
                v3 a = g->mesh->vertex[i[0]];
                v3 n = v3_cross(v3_sub(g->mesh->vertex[i[1]], a), v3_sub(g->mesh->vertex[i[2]], a));
                cr_assert_gt(v3_norm(n), 1e-3);
            }
            sim_geometry_free(g);
        }
    }
}

Test(mesh, an_open_surface_has_no_mass) {
    sim_geometry *g = soup_geometry(soup_plane(1, 2, 3, 4));
    cr_assert(!g->mesh->closed && g->solid.mass == 0 && g->mesh->ntriangle == 24);
    sim_geometry_free(g);
}

static void refused(const v3 *v, int nv, const int (*t)[3], int nt, const char *words) {
    sim_error error = {0};
    cr_assert_null(sim_geometry_mesh(v, nv, t, nt, &error));
    cr_assert_eq(error.status, SIM_BAD_INPUT);
    cr_assert(strstr(error.text, words), "\"%s\" does not say \"%s\"", error.text, words);
}

Test(mesh, what_is_no_surface_is_refused_in_words) {
    v3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int fine[1][3] = {{0, 1, 2}}, outside[1][3] = {{0, 1, 4}}, below[1][3] = {{0, -1, 2}},
              line[1][3] = {{0, 1, 1}};
    const int inward[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    refused(v, 4, outside, 1, "names vertex 4, of 4");
    refused(v, 4, below, 1, "names vertex -1");
    refused(v, 4, line, 1, "none of the 1 triangles");
    refused(v, 4, inward, 4, "inside out");
    refused(v, 4, fine, 0, "at least 3 vertices and a triangle");
    v[1].x = NAN;
    refused(v, 4, fine, 1, "vertex 1 of the mesh is (nan");
    v[1].x = INFINITY;
    refused(v, 4, fine, 1, "finite");
    v[1].x = 1e200;
    refused(v, 4, fine, 1, "at most 1e+15");
}

Test(mesh, equal_content_has_equal_fingerprints_and_other_content_others) {
    sim_geometry *a = soup_geometry(soup_box(1, 2, 3)), *b = soup_geometry(soup_box(1, 2, 3)),
                 *c = soup_geometry(soup_box(1, 2, 3 + 1e-9));
    cr_assert(a->fingerprint == b->fingerprint && a->fingerprint != c->fingerprint);
    sim_geometry_free(a), sim_geometry_free(b), sim_geometry_free(c);
}
