/* Time of soft things: contact by pressure fields, and steps of soft bodies.
 *
 * Pressure fields: pairs of soft solids, and soft solids on rigid ones.  Tetrahedra and polygons a pair, microseconds a pair in random poses that overlap by a tenth of the radius, and
 * whether a warm pair asks for memory.  The budget: 2 ms for two solids of a thousand tetrahedra.
 * Soft bodies: a cube held by one face, or standing on a plane, of ever finer mesh; milliseconds a step, and the exponent
 * with which they grow from mesh to mesh in the number of tetrahedra.  The bar: below 1.5. */
#include "collide/contact/pair.h"
#include "math/spatial.h"
#include "support/models.h"
#include "support/quick.h"

#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { POSES = 40 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_shape solid(sim_shape_type type, double x, double y, double z) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    return s;
}

static void make_soft(sim_shape *s, double edge) {
    s->pressure = sim_shape_pressure(s, edge, NULL);
    s->modulus = 1e5;
}

static void time_pair(const char *name, const sim_shape *a, const sim_shape *b, double distance, int times) {
    pair p = {.a = a, .b = b, .arena = arena_create()};
    random_source r = {3};
    double spent = 0;
    int polygons = 0, grown = 0;
    for (int k = 0; k < POSES; k++) {
        p.X_ab = (pose){random_rotation(&r), v3_scale(distance, random_unit(&r))};
        if (b->type == SIM_HALF_SPACE) { /* its plane, at the distance below the centre of A */
            p.X_ab.p = v3_scale(-distance, p.X_ab.R.z);
        }
        for (int turn = -1; turn < times; turn++) { /* the first turn warms */
            size_t before = arena_bytes(p.arena);
            double begin = seconds();
            manifold m = {0};
            arena_release(p.arena, 0);
            pair_collide(&p, &m);
            spent += turn < 0 ? 0 : seconds() - begin;
            polygons += turn < 0 ? m.count : 0;
            grown += turn >= 0 && arena_bytes(p.arena) != before;
        }
    }
    printf("%-28s %5d and %5d tetrahedra, %5.0f polygons, %8.1f us%s\n", name, a->pressure->tets->ntet,
           b->pressure ? b->pressure->tets->ntet : 0, (double)polygons / POSES, 1e6 * spent / POSES / times,
           grown ? ", asks for memory when warm" : "");
    arena_free(p.arena);
}

/* A cube of 8 cm: held below z = `held`, or on a plane that only those with a thickness touch. */
static sim_model *cube_model(double edge, double held, double thickness, int *ntet) {
    sim_shape shape = solid(SIM_BOX, 0.08, 0.08, 0.08);
    sim_soft_mesh mesh;
    sim_error error;
    bool *fixed = NULL;
    if (sim_shape_soft_mesh(&shape, edge, &mesh, &error) || !(fixed = calloc((size_t)mesh.nnode, sizeof *fixed))) {
        return NULL;
    }
    for (int n = 0; n < mesh.nnode; n++) {
        fixed[n] = mesh.node[n].z < held;
    }
    sim_soft soft = sim_soft_default();
    soft.modulus = 5e4;
    soft.dissipation = 0.02;
    soft.thickness = thickness;
    soft.pose.p.z = 0.04 + thickness;
    soft.nnode = mesh.nnode;
    soft.node = mesh.node;
    soft.ntet = *ntet = mesh.ntet;
    soft.tet = (const int(*)[4])mesh.tet;
    soft.held = fixed;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, -9.81});
    sim_builder_add_soft(builder, &soft);
    shape = solid(SIM_HALF_SPACE, 0, 0, 0);
    sim_builder_add_shape(builder, &shape);
    free(fixed);
    sim_soft_mesh_free(&mesh);
    return sim_builder_finish(builder, &error);
}

/* Seconds a step, after the first ones, which settle; negative where a step fails. */
static double time_step(const sim_model *m, int steps) {
    sim_options options = sim_options_default();
    options.integrator = SIM_SYMPLECTIC_EULER;
    options.step = 5e-3;
    options.solver = sim_solver_find("sap");
    sim_world *w = m ? sim_world_create(m, &options, NULL) : NULL;
    bool good = w;
    double begin = 0;
    for (int k = -4; k < steps && good; k++) {
        begin = k == 0 ? seconds() : begin;
        good = !sim_world_step(w, NULL);
    }
    double spent = (seconds() - begin) / steps;
    sim_world_free(w);
    return good ? spent : -1;
}

/* MiB: most memory of the process so far. */
static double most_memory(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

/* Cubes of 6 n^3 tetrahedra, n to an edge; at most `most` of them. */
static void time_bodies(const char *name, double held, double thickness, int most, int steps) {
    static const int cells[] = {4, 6, 8, 10, 12, 14, 16, 20, 26};
    double before = 0, first = 0;
    int count = 0, least = 0;
    for (size_t k = 0; k < sizeof cells / sizeof *cells && 6 * cells[k] * cells[k] * cells[k] <= most; k++) {
        int ntet = 0, many = cells[k] > 14 ? (steps + 3) / 4 : steps;
        sim_model *m = cube_model(0.08 / cells[k], held, thickness, &ntet);
        double spent = time_step(m, many);
        printf("%-20s %6d tetrahedra, %9.2f ms a step, %5.0f MiB", name, ntet, 1e3 * spent, most_memory());
        if (k > 0) {
            printf(", exponent %.2f, from the first %.2f", log(spent / before) / log((double)ntet / count),
                   log(spent / first) / log((double)ntet / least));
        }
        printf("\n");
        fflush(stdout);
        first = k ? first : spent;
        least = k ? least : ntet;
        before = spent;
        count = ntet;
        sim_model_free(m);
    }
}

int main(int argc, char **argv) {
    int times = asked_quick(argc, argv) ? 1 : 20;
    const double R = 0.05;
    for (int fine = 0; fine < 3; fine++) {
        sim_shape ball = solid(SIM_SPHERE, R, 0, 0), box = solid(SIM_BOX, 0.08, 0.08, 0.08),
                  plane = solid(SIM_HALF_SPACE, 0, 0, 0);
        sim_shape rigid = solid(SIM_BOX, 0.08, 0.08, 0.08);
        make_soft(&ball, (double[]){0.03, 0.016, 0.008}[fine]);
        make_soft(&box, (double[]){0.03, 0.012, 0.006}[fine]);
        rigid.facets = sim_shape_facets(&rigid, HUGE_VAL, NULL);
        time_pair("two balls", &ball, &ball, 1.9 * R, times);
        time_pair("ball and soft box", &ball, &box, 1.9 * R, times);
        time_pair("two soft boxes", &box, &box, 0.09, times);
        time_pair("ball and rigid box", &ball, &rigid, 1.7 * R, times);
        time_pair("ball on a plane", &ball, &plane, 0.9 * R, times);
        sim_geometry_free((sim_geometry *)ball.pressure);
        sim_geometry_free((sim_geometry *)box.pressure);
        sim_geometry_free((sim_geometry *)rigid.facets);
    }
    /* soft bodies; a face of many nodes in contact has a dense inverse */
    int quick = times == 1;
    time_bodies("cube held by a face", -0.039, 0, quick ? 1296 : 110000, (times + 1) / 2);
    time_bodies("cube on a plane", -1, 1e-3, quick ? 1296 : 50000, (times + 3) / 4);
    return 0;
}
