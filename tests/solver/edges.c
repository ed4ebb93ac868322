/* The edges of a contact's unknown: where its derivative jumps, tangents, nearest points, crossings. */
#include "solver/implicit/cone_kinks.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* A point of an edge. */
static void on_edge(random_source *r, edge e, double mu, double *x) {
    double angle = random_uniform(r, 0, 2 * M_PI), a = random_uniform(r, 0.1, 2);
    x[0] = cos(angle) * (e == EDGE_CONE ? mu * a : a);
    x[1] = sin(angle) * (e == EDGE_CONE ? mu * a : a);
    x[2] = e == EDGE_CONE ? -a : 0;
}

/* Along the edge both sides say the same, since gamma is continuous; across it they do not. */
Test(edges, the_derivative_jumps_across_and_not_along) {
    random_source r = {1};
    for (int trial = 0; trial < 400; trial++) {
        edge e = trial % 2 ? EDGE_CONE : EDGE_PLANE;
        double mu = random_uniform(&r, 0.1, 2), x[3], normal[3], beyond[9], within[9], B[9], jump = 0;
        on_edge(&r, e, mu, x);
        eval_edge_sides(e, mu, x, normal, beyond, within);
        make_edge_basis(e, mu, x, B);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double product = 0;
                for (int k = 0; k < 3; k++) {
                    product += B[3 * k + i] * B[3 * k + j];
                }
                cr_expect_float_eq(product, i == j, 1e-14, "columns %d and %d: %g", i, j, product);
            }
        }
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++) {
                double step = 0;
                for (int k = 0; k < 3; k++) {
                    step += (beyond[3 * i + k] - within[3 * i + k]) * B[3 * k + j];
                }
                jump = j == 2 ? fmax(jump, fabs(step)) : jump;
                cr_expect(j == 2 || fabs(step) < 1e-14, "along tangent %d it jumps by %g", j, step);
            }
        }
        cr_expect_gt(jump, 0.5);
        /* a little beyond and within are the regions that were meant */
        double out[3], in[3];
        for (int k = 0; k < 3; k++) {
            out[k] = x[k] + 1e-9 * normal[k];
            in[k] = x[k] - 1e-9 * normal[k];
        }
        cr_expect_eq(residual_map_contact_region(mu, out), e == EDGE_CONE ? RESIDUAL_SLIP : RESIDUAL_BREAK);
        cr_expect_eq(residual_map_contact_region(mu, in), e == EDGE_CONE ? RESIDUAL_STICK : RESIDUAL_SLIP);
    }
}

/* The residual stands across the edge, and no point nearby on it is nearer. */
Test(edges, the_nearest_point_is_on_the_edge_and_nearest) {
    random_source r = {2};
    for (int trial = 0; trial < 400; trial++) {
        double mu = random_uniform(&r, 0.1, 2), y[3], x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = y[k] = random_normal(&r);
        }
        project_to_edge(EDGE_CONE, mu, x);
        cr_expect_float_eq(hypot(x[0], x[1]), -mu * x[2], 1e-14);
        double distance = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
        for (int near = 0; near < 50; near++) {
            double z[3];
            on_edge(&r, EDGE_CONE, mu, z);
            double other = hypot(hypot(z[0] - y[0], z[1] - y[1]), z[2] - y[2]);
            cr_expect_geq(other, distance - 1e-12, "trial %d: %g, not %g", trial, other, distance);
        }
    }
}

/* As many as a fine walk sees changes of region, and at each there is an edge. */
Test(edges, all_crossings_of_a_line_are_found) {
    random_source r = {3};
    int most = 0;
    for (int trial = 0; trial < 2000; trial++) {
        double mu = random_uniform(&r, 0, 2), x[3], u[3], alpha[MAX_EDGE_CROSSINGS];
        edge which[MAX_EDGE_CROSSINGS];
        for (int k = 0; k < 3; k++) {
            x[k] = random_normal(&r);
            u[k] = 3 * random_normal(&r);
        }
        mu = trial % 10 ? mu : 0;
        int found = find_edge_crossings(mu, x, u, alpha, which), seen = 0;
        most = found > most ? found : most;
        residual_region last = residual_map_contact_region(mu, x);
        for (int k = 1; k <= 2000; k++) {
            double y[3] = {x[0] + u[0] * k / 2000, x[1] + u[1] * k / 2000, x[2] + u[2] * k / 2000};
            residual_region now = residual_map_contact_region(mu, y);
            seen += now != last;
            last = now;
        }
        cr_expect(found == seen || found == seen + 2, "trial %d: %d found, %d seen", trial, found,
                  seen); /* a short visit */
        for (int k = 0; k < found; k++) {
            double y[3] = {x[0] + alpha[k] * u[0], x[1] + alpha[k] * u[1], x[2] + alpha[k] * u[2]};
            double off = which[k] == EDGE_PLANE ? y[2] : hypot(y[0], y[1]) + mu * y[2];
            cr_expect_leq(fabs(off), 1e-12, "trial %d: off by %g", trial, off);
        }
    }
    cr_expect_eq(most, MAX_EDGE_CROSSINGS);
}

Test(edges, a_normal_is_of_length_one_and_across_its_tangents) {
    random_source r = {4};
    for (int trial = 0; trial < 100; trial++) {
        double mu = random_uniform(&r, 0.01, 3), x[3], normal[3], beyond[9], within[9], B[9];
        on_edge(&r, EDGE_CONE, mu, x);
        eval_edge_sides(EDGE_CONE, mu, x, normal, beyond, within);
        make_edge_basis(EDGE_CONE, mu, x, B);
        double generator[3] = {B[0], B[3], B[6]}, circle[3] = {B[1], B[4], B[7]};
        cr_expect_float_eq(dot(normal, normal), 1, 1e-14);
        cr_expect_float_eq(dot(normal, generator), 0, 1e-14);
        cr_expect_float_eq(dot(normal, circle), 0, 1e-14);
    }
}
