/* Normals, tangents, nearest points and crossings of the two edges of a contact. */
#include "solver/implicit/cone_kinks.h"

#include <math.h>

static void edge_normal(edge e, double mu, const double *x, double normal[3]) {
    double rho = hypot(x[0], x[1]), size = sqrt(1 + mu * mu);
    normal[0] = e == EDGE_CONE && rho > 0 ? x[0] / (rho * size) : 0;
    normal[1] = e == EDGE_CONE && rho > 0 ? x[1] / (rho * size) : 0;
    normal[2] = e == EDGE_CONE ? mu / size : 1;
}

void eval_edge_sides(edge e, double mu, const double *x, double normal[3], double beyond[9], double within[9]) {
    residual_region active = hypot(x[0], x[1]) > 0 && mu > 0 ? RESIDUAL_SLIP : RESIDUAL_STICK;
    edge_normal(e, mu, x, normal);
    residual_map_contact_slope(e == EDGE_CONE ? RESIDUAL_SLIP : RESIDUAL_BREAK, mu, x, beyond);
    residual_map_contact_slope(e == EDGE_CONE ? RESIDUAL_STICK : active, mu, x, within);
}

/* Cone: the generator through x, the circle around the axis, the outward normal.
 * Differs from the paper: eq. 29 has mu x_n for x_n in the first, which is a tangent for mu = 1 only. */
void make_edge_basis(edge e, double mu, const double *x, double B[9]) {
    double rho = hypot(x[0], x[1]), length = hypot(rho, x[2]), normal[3];
    double t[2] = {rho > 0 ? x[0] / rho : 1, rho > 0 ? x[1] / rho : 0};
    bool plane = e == EDGE_PLANE || !(length > 0);
    edge_normal(e, mu, x, normal);
    double generator[3] = {plane ? 1 : t[0] * rho / length, plane ? 0 : t[1] * rho / length, plane ? 0 : x[2] / length};
    double circle[3] = {plane ? 0 : -t[1], plane ? 1 : t[0], 0};
    for (int k = 0; k < 3; k++) {
        B[3 * k] = generator[k];
        B[3 * k + 1] = circle[k];
        B[3 * k + 2] = normal[k];
    }
}

/* In the half plane of axis and x the cone is a ray along (mu, -1): the nearest point is a projection onto it. */
void project_to_edge(edge e, double mu, double *x) {
    double rho = hypot(x[0], x[1]);
    if (e == EDGE_CONE) {
        double along = fmax(0, (mu * rho - x[2]) / (1 + mu * mu)), scale = rho > 0 ? mu * along / rho : 0;
        x[0] = rho > 0 ? scale * x[0] : mu * along;
        x[1] *= scale;
        x[2] = -along;
    } else if (e == EDGE_PLANE) {
        x[2] = 0;
    }
}

static int append_crossing(double a, edge e, int count, double *alpha, edge *which) {
    if (a > 0 && a < 1) {
        alpha[count] = a;
        which[count] = e;
        return count + 1;
    }
    return count;
}

/* The cone: |x_t + alpha u_t|^2 = mu^2 (x_n + alpha u_n)^2 on the side x_n + alpha u_n <= 0 (eq. 27). */
int find_edge_crossings(double mu, const double *x, const double *u, double alpha[MAX_EDGE_CROSSINGS],
                        edge which[MAX_EDGE_CROSSINGS]) {
    int count = u[2] != 0 ? append_crossing(-x[2] / u[2], EDGE_PLANE, 0, alpha, which) : 0;
    double a = mu * mu * u[2] * u[2] - u[0] * u[0] - u[1] * u[1];
    double b = 2 * (mu * mu * x[2] * u[2] - x[0] * u[0] - x[1] * u[1]);
    double c = mu * mu * x[2] * x[2] - x[0] * x[0] - x[1] * x[1], square = b * b - 4 * a * c;
    if (!(mu > 0) || !(square >= 0)) {
        return count;
    }
    double q = -0.5 * (b + (b < 0 ? -1 : 1) * sqrt(square)), root[2] = {a != 0 ? q / a : NAN, q != 0 ? c / q : NAN};
    for (int k = 0; k < 2; k++) {
        if (x[2] + root[k] * u[2] < 0) {
            count = append_crossing(root[k], EDGE_CONE, count, alpha, which);
        }
    }
    return count;
}
