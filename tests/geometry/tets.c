/* Soft solids: tetrahedra fill the solid once, and their extent is linear in each. */
#include "geometry/import/tets/tets_file.h"
#include "geometry/mesh/bvh.h"
#include "math/angle.h"
#include "math/spatial.h"
#include "support/meshes.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static sim_shape solid(sim_shape_type type, double a, double b, double c) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = a, s.size[1] = b, s.size[2] = c;
    return s;
}

static sim_geometry *soft(const sim_shape *shape, double edge) {
    sim_error error = {0};
    sim_geometry *g = sim_shape_pressure(shape, edge, &error);
    cr_assert(g, "%s", error.text);
    cr_assert_eq(g->type, SIM_GEOMETRY_TETS);
    return g;
}

static double volume_of(const sim_tets *t, int k) {
    const int *i = t->tet[k];
    v3 a = t->vertex[i[0]];
    return v3_dot(v3_cross(v3_sub(t->vertex[i[1]], a), v3_sub(t->vertex[i[2]], a)), v3_sub(t->vertex[i[3]], a)) / 6;
}

static void mass_agrees(const sim_inertia *a, const sim_inertia *b, double tolerance) {
    double size2 = (b->moment.xx + b->moment.yy + b->moment.zz) / b->mass;
    cr_expect_float_eq(a->mass, b->mass, tolerance * b->mass, "mass %.9g, due %.9g", a->mass, b->mass);
    cr_expect(v3_norm(v3_sub(a->com, b->com)) <= tolerance * sqrt(size2));
    cr_expect_float_eq(a->moment.xx, b->moment.xx, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.yy, b->moment.yy, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.zz, b->moment.zz, tolerance * b->mass * size2);
    cr_expect_float_eq(a->moment.xy, b->moment.xy, tolerance * b->mass * size2);
}

Test(tets, flat_solids_are_filled_exactly_and_round_ones_to_second_order) {
    random_source r = {1};
    sim_v3 cloud[20];
    for (int k = 0; k < 20; k++) {
        cloud[k] = v3_scale(0.1, random_unit(&r));
    }
    sim_geometry *hull = sim_geometry_hull(cloud, 20, NULL);
    sim_shape exact[] = {solid(SIM_BOX, 0.3, 0.2, 0.1), solid(SIM_BOX, 0.1, 0.1, 0.1), solid(SIM_CONVEX, 0, 0, 0)};
    exact[2].geometry = hull;
    for (int k = 0; k < 3; k++) {
        sim_geometry *g = soft(&exact[k], 0.07);
        sim_inertia due = sim_shape_inertia(&exact[k], 1);
        mass_agrees(&g->solid, &due, 1e-12);
        sim_geometry_free(g);
    }
    const sim_shape round[] = {solid(SIM_SPHERE, 0.1, 0, 0), solid(SIM_ELLIPSOID, 0.1, 0.05, 0.07),
                               solid(SIM_CYLINDER, 0.1, 0.05, 0), solid(SIM_CYLINDER, 0.03, 0.2, 0),
                               solid(SIM_CAPSULE, 0.05, 0.1, 0)};
    for (int k = 0; k < 5; k++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            sim_geometry *g = soft(&round[k], fine ? 0.01 : 0.02);
            sim_inertia due = sim_shape_inertia(&round[k], 1);
            error[fine] = fabs(g->solid.moment.xx / due.moment.xx - 1) + fabs(g->solid.mass / due.mass - 1);
            sim_geometry_free(g);
        }
        cr_expect(error[1] < 0.02, "%s %d: %g", sim_shape_name(round[k].type), k, error[1]);
        cr_expect(error[1] < 0.45 * error[0], "%s %d: %g, then %g", sim_shape_name(round[k].type), k, error[0],
                  error[1]);
    }
    sim_geometry_free(hull);
}

/* Of a box and a sphere the extent is the depth below the nearest side over the greatest depth. */
Test(tets, extent_is_depth_over_the_greatest_depth) {
    const sim_shape shape[] = {solid(SIM_BOX, 0.3, 0.2, 0.1), solid(SIM_CYLINDER, 0.1, 0.06, 0),
                               solid(SIM_CYLINDER, 0.04, 0.2, 0)};
    random_source r = {2};
    for (int s = 0; s < 3; s++) {
        sim_geometry *g = soft(&shape[s], 0.013);
        const sim_tets *t = g->tets;
        const double *size = shape[s].size;
        double worst = 0;
        for (int k = 0; k < t->ntet; k++) {
            cr_assert(volume_of(t, k) > 0);
            /* a point at random */
            double w[4], sum = 0, extent = 0;
            v3 x = {0, 0, 0};
            for (int i = 0; i < 4; i++) {
                sum += w[i] = random_uniform(&r, 0.01, 1);
            }
            for (int i = 0; i < 4; i++) {
                x = v3_axpy(x, w[i] / sum, t->vertex[t->tet[k][i]]);
                extent += w[i] / sum * t->extent[t->tet[k][i]];
            }
            cr_assert_float_eq(t->level[k] + v3_dot(t->slope[k], x), extent, 1e-12);
            /* depth: of a cylinder below its facets, within the height of a facet */
            double depth, most, slack = 1e-12;
            if (shape[s].type == SIM_BOX) {
                depth = fmin(size[0] / 2 - fabs(x.x), fmin(size[1] / 2 - fabs(x.y), size[2] / 2 - fabs(x.z)));
                most = 0.05;
            } else {
                depth = fmin(size[0] - hypot(x.x, x.y), size[1] / 2 - fabs(x.z));
                most = fmin(size[0], size[1] / 2);
                slack = 0.02;
            }
            worst = fmax(worst, fabs(extent - depth / most) - slack);
        }
        cr_expect(worst <= 0, "shape %d: %g", s, worst);
        sim_geometry_free(g);
    }
}

Test(tets, bad_tetrahedra_are_refused) {
    sim_v3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
    const double extent[5] = {0, 0, 0, 1, 0};
    const int turned[1][4] = {{1, 0, 2, 3}}, flat[1][4] = {{0, 1, 2, 4}}, far[1][4] = {{0, 1, 2, 9}};
    sim_error error;
    sim_geometry *g = sim_geometry_tets(x, 5, turned, 1, extent, &error);
    cr_assert(g && volume_of(g->tets, 0) > 0);
    cr_expect_float_eq(g->tets->slope[0].z, 1, 1e-15);
    sim_geometry_free(g);
    cr_expect(!sim_geometry_tets(x, 5, flat, 1, extent, &error));
    cr_expect_str_eq(error.text, "none of the 1 tetrahedra has a volume");
    cr_expect(!sim_geometry_tets(x, 5, far, 1, extent, &error));
    cr_expect_str_eq(error.text, "tetrahedron 0 names vertex 9; there are 5 vertices");
    x[2].y = NAN;
    cr_expect(!sim_geometry_tets(x, 5, turned, 1, extent, &error));
    sim_shape plane = solid(SIM_HALF_SPACE, 0, 0, 0), ball = solid(SIM_SPHERE, 1, 0, 0);
    cr_expect(!sim_shape_pressure(&plane, 0, &error));
    cr_expect_str_eq(error.text, "a pressure field needs a closed solid, not a half_space");
    cr_expect(!sim_shape_pressure(&ball, 1e-4, &error));
    cr_expect_eq(error.status, SIM_BAD_INPUT);
}

static int compare_faces(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int)); }

static void sort_three(int f[3]) {
    for (int pass = 0; pass < 3; pass++) {
        int k = pass == 1;
        if (f[k] > f[k + 1]) {
            int swap = f[k];
            f[k] = f[k + 1];
            f[k + 1] = swap;
        }
    }
}

/* Each face belongs to two tetrahedra, or lies on the surface with extent 0 at its corners. */
static void fits_together(const sim_tets *t, const char *name) {
    static const int opposite[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    int(*face)[3] = malloc(sizeof *face * 4 * (size_t)t->ntet);
    cr_assert(face);
    for (int k = 0; k < 4 * t->ntet; k++) {
        for (int c = 0; c < 3; c++) {
            face[k][c] = t->tet[k / 4][opposite[k % 4][c]];
        }
        sort_three(face[k]);
    }
    qsort(face, 4 * (size_t)t->ntet, sizeof *face, compare_faces);
    int single = 0, buried = 0, many = 0;
    for (int k = 0, next; k < 4 * t->ntet; k = next) {
        for (next = k + 1; next < 4 * t->ntet && compare_faces(face[k], face[next]) == 0; next++) {
        }
        bool surface = t->extent[face[k][0]] == 0 && t->extent[face[k][1]] == 0 && t->extent[face[k][2]] == 0;
        single += next - k == 1;
        buried += next - k == 1 && !surface;
        many += next - k > 2;
    }
    cr_expect(single > 0 && buried == 0 && many == 0, "%s: %d faces of one, %d of them inside, %d of more than two",
              name, single, buried, many);
    free(face);
}

/* A ring, a beam of L section, a bowl of a distance field. */
static sim_geometry *bent_solid(int kind) {
    if (kind == 0) {
        return soup_geometry(soup_torus(0.1, 0.03, 240, 80));
    }
    if (kind == 1) {
        /* of 0.2 x 0.2 x 0.1 m, with arms 0.08 m thick */
        static const sim_v3 x[12] = {{0, 0, 0},        {0.2, 0, 0},       {0.2, 0.08, 0},   {0.08, 0.08, 0},
                                     {0.08, 0.2, 0},   {0, 0.2, 0},       {0, 0, 0.1},      {0.2, 0, 0.1},
                                     {0.2, 0.08, 0.1}, {0.08, 0.08, 0.1}, {0.08, 0.2, 0.1}, {0, 0.2, 0.1}};
        static const int triangle[20][3] = {{0, 3, 1},  {1, 3, 2},  {0, 5, 3},   {3, 5, 4}, {6, 7, 9},
                                            {7, 8, 9},  {6, 9, 11}, {9, 10, 11}, {0, 1, 7}, {0, 7, 6},
                                            {1, 2, 8},  {1, 8, 7},  {2, 3, 9},   {2, 9, 8}, {3, 4, 10},
                                            {3, 10, 9}, {4, 5, 11}, {4, 11, 10}, {5, 0, 6}, {5, 6, 11}};
        return sim_geometry_mesh(x, 12, triangle, 20, NULL);
    }
    sim_field_def ball = sim_field_default(), hollow = sim_field_default(), bowl = sim_field_default();
    ball.type = SIM_FIELD_SPHERE;
    ball.size[0] = 0.1;
    hollow = ball;
    hollow.pose.p = v3_make(0, 0, 0.05);
    sim_field_def both[2] = {ball, hollow};
    bowl.type = SIM_FIELD_DIFFERENCE;
    bowl.child = both;
    bowl.nchild = 2;
    return sim_geometry_field(&bowl, 0.004, NULL, NULL);
}

/* Isosurface stuffing: the parts fit together, and mass properties converge to those of the solid. */
Test(tets, a_lattice_fills_solids_that_are_not_convex) {
    static const char *const name[] = {"torus", "beam", "bowl"};
    for (int kind = 0; kind < 3; kind++) {
        sim_shape s = sim_shape_default();
        sim_geometry *solid_geometry = bent_solid(kind);
        cr_assert(solid_geometry);
        s.type = kind == 2 ? SIM_SDF : SIM_MESH;
        s.geometry = solid_geometry;
        double error[3] = {0};
        for (int fine = 0; fine < part_of(3); fine++) {
            sim_geometry *g = soft(&s, 0.028 / (1 << fine));
            const sim_inertia *due = &solid_geometry->solid;
            error[fine] = fabs(g->solid.mass / due->mass - 1) + fabs(g->solid.moment.zz / due->moment.zz - 1);
            double most = 0;
            for (int k = 0; k < g->tets->nvertex; k++) {
                most = fmax(most, g->tets->extent[k]);
                cr_assert(g->tets->extent[k] >= 0);
            }
            cr_expect_eq(most, 1);
            fits_together(g->tets, name[kind]);
            sim_geometry_free(g);
        }
        /* order 2 of surface and edges: a third for a quarter */
        cr_expect((error[1] < 0.4 * error[0] && error[2] < 0.4 * error[1]) || is_part(), "%s: %g %g %g", name[kind],
                  error[0], error[1], error[2]);
        /* the default */
        sim_geometry *g = soft(&s, 0);
        cr_expect(fabs(g->solid.mass / solid_geometry->solid.mass - 1) <= 0.05);
        sim_geometry_free(g);
        sim_geometry_free(solid_geometry);
    }
}

/* Depth falls by a metre a metre, but for where it is greatest: the extent has a slope in every tetrahedron, also in
 * those of a thin wall whose corners are all as deep. */
Test(tets, extent_of_a_lattice_has_a_slope_everywhere) {
    for (int kind = 0; kind < 4; kind++) {
        sim_shape s = sim_shape_default();
        sim_field_def wall = sim_field_default();
        const double curve[4][2] = {{0, -0.008}, {0.018, -0.008}, {0.03, 0.006}, {0.043, 0.006}};
        wall.type = SIM_FIELD_PROFILE;
        wall.point = curve;
        wall.npoint = 4;
        wall.thickness = 0.003;
        sim_geometry *solid_geometry = kind == 3 ? sim_geometry_field(&wall, 0.01, NULL, NULL) : bent_solid(kind);
        cr_assert(solid_geometry);
        s.type = kind >= 2 ? SIM_SDF : SIM_MESH;
        s.geometry = solid_geometry;
        sim_geometry *g = soft(&s, kind == 3 ? 0.004 : 0.02);
        double greatest = 0, least = INFINITY;
        for (int k = 0; k < g->tets->nvertex; k++) {
            v3 x = g->tets->vertex[k];
            double depth = s.type == SIM_SDF ? -sim_field_distance(solid_geometry->field, x, NULL)
                                             : -mesh_distance(solid_geometry, x, NULL);
            greatest = fmax(greatest, depth);
        }
        for (int k = 0; k < g->tets->ntet; k++) {
            least = fmin(least, v3_norm(g->tets->slope[k]) * greatest);
        }
        /* of the slope along a normal, contacts count 0.2 at least */
        cr_expect_gt(least, 0.2, "solid %d: %g of the slope of the depth", kind, least);
        sim_geometry_free(g);
        sim_geometry_free(solid_geometry);
    }
}

/* The extent at a node inside is its depth over the greatest of all. */
Test(tets, extent_of_a_lattice_is_the_depth_of_its_nodes) {
    sim_shape s = sim_shape_default();
    sim_geometry *ring = soup_geometry(soup_torus(0.1, 0.03, 240, 80));
    s.type = SIM_MESH;
    s.geometry = ring;
    sim_geometry *g = soft(&s, 0.01);
    const sim_tets *t = g->tets;
    double greatest = 0, worst = 0;
    for (int k = 0; k < t->nvertex; k++) {
        v3 x = t->vertex[k];
        greatest = fmax(greatest, 0.03 - hypot(hypot(x.x, x.y) - 0.1, x.z));
    }
    for (int k = 0; k < t->nvertex; k++) {
        v3 x = t->vertex[k];
        double depth = 0.03 - hypot(hypot(x.x, x.y) - 0.1, x.z);
        worst = fmax(worst, fabs(t->extent[k] - depth / greatest));
    }
    /* the facets of the ring lie up to 0.03 (1 - cos(pi / 80)) + 0.13 (1 - cos(pi / 240)) below it */
    double facets = 0.03 * (1 - cos(PI / 80)) + 0.13 * (1 - cos(PI / 240));
    cr_expect(worst < 2 * facets / greatest, "%g", worst);
    sim_geometry_free(g);
    sim_geometry_free(ring);
}

Test(tets, lattices_that_miss_the_solid_or_are_too_fine_are_refused) {
    sim_error error;
    sim_shape s = sim_shape_default();
    sim_geometry *ring = soup_geometry(soup_torus(0.1, 0.03, 60, 20));
    s.type = SIM_MESH;
    s.geometry = ring;
    cr_expect(!sim_shape_pressure(&s, 0.1, &error));
    cr_expect(strstr(error.text, "of its volume: shorter ones are needed"), "%s", error.text);
    cr_expect(!sim_shape_pressure(&s, 1e-5, &error));
    cr_expect(strstr(error.text, "make a lattice of more than 2e+06 nodes"), "%s", error.text);
    sim_geometry_free(ring);
}

/* ---- files ---- */

/* Files by name, ended by a NULL name. */
typedef struct text_file {
    const char *name, *text;
} text_file;

static sim_status read_text(void *context, const char *path, char **content, size_t *size, sim_error *error) {
    for (const text_file *f = context; f->name; f++) {
        if (strcmp(f->name, path) == 0) {
            *size = strlen(f->text);
            *content = malloc(*size + 1); /* so that a step too far shows */
            memcpy(*content, f->text, *size + 1);
            return SIM_OK;
        }
    }
    return sim_fail(error, SIM_NO_RESOURCE, "No such file");
}

static sim_status read_tets(const text_file *files, const char *name, tet_list *out, sim_error *error) {
    tet_source from = {read_text, (void *)files};
    return tets_read(&from, name, v3_make(2, 1, 1), out, error);
}

#define GMSH_2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define GMSH_4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

/* Two tetrahedra on one face; a node that none names. */
static const text_file two[] = {
    {"two.msh",
     GMSH_2 "$PhysicalNames\n1\n3 1 \"all\"\n$EndPhysicalNames\n$Nodes\n6\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 "
            "1\n50 1 1 1e0\n60 9 9 9\n$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 20 30\n3 4 2 0 1 "
            "10 20 30 40\n4 4 2 0 1 20 30 40 50\n$EndElements\n"},
    {"four.msh",
     GMSH_4 "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 6 10 60\n0 1 0 1\n10\n0 0 0\n3 1 1 "
            "5\n20\n30\n40\n50\n60\n1 0 0 .1 .2 .3\n0 1 0 0 0 0\n0 0 1 0 0 0\n1 1 1 0 0 0\n9 9 9 0 0 "
            "0\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 10 20 30\n3 1 4 2\n2 10 20 30 40\n3 20 30 40 "
            "50\n$EndElements\n"},
    {"pair.node",
     "# nodes\n6 3 1 1\n1 0 0 0 7 1\n2 1 0 0 7 1 # a corner\n3 0 1 0 7 1\n4 0 0 1 7 1\n5 1 1 1 7 1\n6 9 9 9 7 1\n"},
    {"pair.ele", "2 4 1\n1 1 2 3 4 -1\n2 2 3 4 5 -1\n"},
    {NULL, NULL},
};

Test(tets, files_of_gmsh_and_tetgen_have_the_same_tetrahedra) {
    const char *const name[] = {"two.msh", "four.msh", "pair.node", "pair.ele"};
    const v3 node[5] = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 1, 1}};
    const int tet[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
    for (int k = 0; k < 4; k++) {
        tet_list list;
        sim_error error = {0};
        cr_assert_eq(read_tets(two, name[k], &list, &error), SIM_OK, "%s: %s", name[k], error.text);
        cr_assert(list.nnode == 5 && list.ntet == 2, "%s: %d nodes, %d tetrahedra", name[k], list.nnode, list.ntet);
        cr_expect(memcmp(list.node, node, sizeof node) == 0 && memcmp(list.tet, tet, sizeof tet) == 0, "%s", name[k]);
        free(list.node);
        free(list.tet);
    }
}

Test(tets, wrong_files_are_refused_in_place) {
    static const struct {
        text_file file[3];
        const char *said;
    } wrong[] = {
        {{{"a.msh", "$Nodes\n"}}, "a.msh: not a file of Gmsh: there is no $MeshFormat"},
        {{{"a.msh", "$MeshFormat\n4.1 1 8\n"}}, "a.msh:2:1: expected a text of version 2.2 or 4.1, not binary 4.1"},
        {{{"a.msh", "$MeshFormat\n4.0 0 8\n"}}, "a.msh:2:1: expected a text of version 2.2 or 4.1, not 4"},
        {{{"a.msh", GMSH_2}}, "a.msh: there is no section $Nodes"},
        {{{"a.msh", GMSH_2 "$Nodes\n1\n1 0 0\n$EndNodes\n"}}, "a.msh:7:1: expected a number, found \"$EndNodes\""},
        {{{"a.msh", GMSH_2 "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 5 2 0 1 1\n"}},
         "a.msh:10:2: solid elements must be linear tetrahedra (type 4), not of type 5"},
        {{{"a.msh", GMSH_2 "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 7\n"}},
         "a.msh:10:2: a tetrahedron of node 7, which the file does not have"},
        {{{"a.msh", GMSH_2 "$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 1\n"}},
         "a.msh: there are two nodes 1"},
        {{{"a.msh", GMSH_2 "$Nodes\n0\n$EndNodes\n$Elements\n0\n"}}, "a.msh: there are no tetrahedra in the file"},
        {{{"a.node", "1 2 0 0\n"}, {"a.ele", "1 4 0\n"}}, "a.node:1:4: expected nodes of 3 coordinates, not 2"},
        {{{"a.node", "1 3 0 0\n1 0 0 0\n"}, {"a.ele", "1 10 0\n"}},
         "a.ele:1:5: expected tetrahedra of 4 nodes, not 10"},
        {{{"a.node", "1 3 0 0\n1 0 0 0\n"}}, "a.ele: No such file"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tet_list list;
        sim_error error = {0};
        cr_assert_neq(read_tets(wrong[k].file, wrong[k].file[0].name, &list, &error), SIM_OK);
        cr_expect_str_eq(error.text, wrong[k].said);
        cr_expect(!list.node && !list.tet);
    }
}

/* A file cut anywhere is refused or read, without a step past its end (the sanitizers look). */
Test(tets, files_that_end_early_do_no_harm) {
    for (int k = 0; k < 2; k++) {
        size_t length = strlen(two[k].text);
        for (size_t cut = 0; cut < length; cut++) {
            char *text = strdup(two[k].text);
            text[cut] = 0;
            text_file file[2] = {{two[k].name, text}};
            tet_list list;
            sim_error error = {0};
            read_tets(file, two[k].name, &list, &error);
            free(list.node);
            free(list.tet);
            free(text);
        }
    }
}
