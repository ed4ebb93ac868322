/* Force of a fluid on a body that moves in it, by the two models of MuJoCo.
 *
 *     box of the edges e, d = (e_x + e_y + e_z)/3
 *         F_k = -3 pi d eta u_k - rho/2 e_i e_j |u_k| u_k
 *         T_k = -pi d^3 eta w_k - rho/64 e_k (e_i^4 + e_j^4) |w_k| w_k
 *     ellipsoid of the semi-axes r, D = 2/3 (r_x + r_y + r_z), volume V, r_1 >= r_2 >= r_3
 *         F = -(3 pi D eta + rho |u| (c_b A + c_s (pi r_1 r_2 - A))) u + c_m rho V w x u
 *             + c_k rho c A (n x u) x u + rho (m u) x w
 *         T = -(pi D^3 eta + rho |c_a I w + c_s (I_1 - I) w|) w + rho ((m u) x u + (i w) x w)
 *         n_k = (r_i r_j)^2 u_k,   A = pi |n| / sqrt(n . u),   c = (n . u) / (|u| |n|^2)
 *         I_k = 8/15 pi r_k max(r_i, r_j)^4,   I_1 = 8/15 pi r_2 r_1^4
 *     added mass    m_k = V k_k/(2 - k_k),   k_k = 2/3 r_x r_y r_z R_D(r_i^2, r_j^2, r_k^2)
 *                   i_k = V/5 (r_i^2 - r_j^2)^2 (k_j - k_i) / (2 (r_i^2 - r_j^2) + (r_i^2 + r_j^2)(k_i - k_j))
 *
 *     u, w        velocity of the body over the fluid, m/s, and angular velocity, rad/s, in axes of the box or ellipsoid
 *     F, T        force, N, and moment about its centre, N m;  (i, j, k) cyclic
 *     rho, eta    density, kg/m^3, and viscosity of the fluid, Pa s
 *     c_b, c_s, c_a, c_k, c_m     coefficients: blunt, slender, angular drag; lift by Kutta and Magnus
 *     A           area across the way, m^2;  R_D: Carlson's elliptic integral of the second kind
 *
 * Lift and added mass do no work.  Inertia of the added mass itself is left out, as there.  The bounds of 1e-15 on their
 * denominators are left out: they have units, and change the forces on small bodies.
 * Reference: Todorov, Erez, Tassa 2012 (MuJoCo, "Fluid forces"); Andersen, Pesavento, Wang 2005; Tuckerman 1925 (m, i);
 * Carlson 1995 (R_D).     Cost: O(1). */
#include "math/eigen.h"
#include "math/spatial.h"
#include <sim/model.h>

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static const double MIN_SPEED = 1e-150; /* m/s: the square of less is zero */

static double pow2(double x) { return x * x; }
static double pow4(double x) { return pow2(x * x); }

sim_drag sim_drag_default(void) {
    return (sim_drag){.pose = pose_identity(), .blunt = 0.5, .slender = 0.25, .angular = 1.5, .kutta = 1, .magnus = 1};
}

sim_drag sim_drag_of_inertia(const sim_inertia *inertia) {
    const sym3 *a = &inertia->moment;
    double m[3][3] = {{a->xx, a->xy, a->xz}, {a->xy, a->yy, a->yz}, {a->xz, a->yz, a->zz}}, axes[3][3];
    eigen_symmetric(m, axes);
    sim_drag drag = sim_drag_default();
    drag.type = SIM_DRAG_BOX;
    drag.pose.p = inertia->com;
    v3 x = {axes[0][0], axes[1][0], axes[2][0]}, y = {axes[0][1], axes[1][1], axes[2][1]};
    drag.pose.R = (m3){x, y, v3_cross(x, y)};
    for (int k = 0; k < 3; k++) {
        double square = m[(k + 1) % 3][(k + 1) % 3] + m[(k + 2) % 3][(k + 2) % 3] - m[k][k];
        drag.size[k] = sqrt(max_of(0, square) / inertia->mass * 6);
    }
    return drag;
}

/* ---- added mass ---- */

/* R_D by the duplication theorem: the three arguments approach each other fourfold a turn. */
static double elliptic_rd(double x, double y, double z) {
    double sum = 0, part = 1, a = (x + y + 3 * z) / 5;
    while (max_of(fabs(a - x), max_of(fabs(a - y), fabs(a - z))) > 1e-3 * a) {
        double u = sqrt(x), v = sqrt(y), w = sqrt(z), step = u * v + u * w + v * w;
        sum += part / (w * (z + step));
        part /= 4;
        x = (x + step) / 4;
        y = (y + step) / 4;
        z = (z + step) / 4;
        a = (x + y + 3 * z) / 5;
    }
    /* Taylor's series about equal arguments */
    double X = (a - x) / a, Y = (a - y) / a, Z = -(X + Y) / 3, XY = X * Y, ZZ = Z * Z;
    double E2 = XY - 6 * ZZ, E3 = (3 * XY - 8 * ZZ) * Z, E4 = 3 * (XY - ZZ) * ZZ, E5 = XY * ZZ * Z;
    double series = 1 - 3 * E2 / 14 + E3 / 6 + 9 * E2 * E2 / 88 - 3 * E4 / 22 - 9 * E2 * E3 / 52 + 3 * E5 / 26;
    return 3 * sum + part * series / (a * sqrt(a));
}

/* Of an ellipsoid, over the density of the fluid: m^3, m^5. */
static void find_added_mass(const double r[3], double mass[3], double inertia[3]) {
    double volume = 4.0 / 3 * PI * r[0] * r[1] * r[2], kappa[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        kappa[k] = 2.0 / 3 * r[0] * r[1] * r[2] * elliptic_rd(pow2(r[i]), pow2(r[j]), pow2(r[k]));
        mass[k] = volume * kappa[k] / max_of(1e-15, 2 - kappa[k]);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double less = pow2(r[i]) - pow2(r[j]), sum = pow2(r[i]) + pow2(r[j]);
        double below = fabs(2 * less + sum * (kappa[i] - kappa[j]));
        inertia[k] = fabs(less) <= 1e-9 * sum ? 0 : volume * pow2(less) * fabs(kappa[j] - kappa[i]) / (5 * below);
    }
}

void sim_drag_complete(sim_drag *drag) {
    memset(drag->added_mass, 0, sizeof drag->added_mass);
    memset(drag->added_inertia, 0, sizeof drag->added_inertia);
    if (drag->type == SIM_DRAG_ELLIPSOID) {
        find_added_mass(drag->size, drag->added_mass, drag->added_inertia);
    }
}

/* ---- forces ---- */

static void box_force(const sim_drag *drag, const sim_fluid *fluid, const double *w, const double *u, double *out,
                      double *slope) {
    const double *e = drag->size;
    double d = (e[0] + e[1] + e[2]) / 3, turning = PI * d * d * d * fluid->viscosity,
           moving = 3 * PI * d * fluid->viscosity;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double twist = fluid->density * e[k] * (pow4(e[i]) + pow4(e[j])) / 64 * fabs(w[k]);
        double push = 0.5 * fluid->density * e[i] * e[j] * fabs(u[k]);
        out[k] = -(turning + twist) * w[k];
        out[3 + k] = -(moving + push) * u[k];
        slope[k] = turning + 2 * twist;
        slope[3 + k] = moving + 2 * push;
    }
}

static v3 v3_times(const double *a, v3 b) { return (v3){a[0] * b.x, a[1] * b.y, a[2] * b.z}; }

/* Lift and drag of an ellipsoid, without those of its added mass. */
static v3 ellipsoid_push(const sim_drag *drag, const sim_fluid *fluid, v3 w, v3 u, double *slope) {
    const double *r = drag->size;
    double volume = 4.0 / 3 * PI * r[0] * r[1] * r[2], speed = v3_norm(u);
    double most = max_of(r[0], max_of(r[1], r[2])), least = min_of(r[0], min_of(r[1], r[2]));
    double greatest = PI * most * (r[0] + r[1] + r[2] - most - least), d = 2.0 / 3 * (r[0] + r[1] + r[2]);
    double linear = 3 * PI * d * fluid->viscosity;
    if (!(speed > MIN_SPEED)) {
        *slope = linear;
        return v3_scale(-linear, u);
    }
    /* area across the way, and its normal n, over the speed */
    const double across[3] = {pow2(r[1] * r[2]), pow2(r[2] * r[0]), pow2(r[0] * r[1])};
    v3 way = v3_scale(1 / speed, u), n = v3_times(across, way);
    double along = v3_dot(n, way), square = v3_dot(n, n), area = PI * sqrt(square / along);
    /* lift */
    v3 lift = v3_scale(drag->magnus * fluid->density * volume, v3_cross(w, u));
    v3 circulation = v3_scale(drag->kutta * fluid->density * along / square * area, v3_cross(n, u));
    lift = v3_add(lift, v3_cross(circulation, u));
    /* drag */
    double push = fluid->density * speed * (area * drag->blunt + drag->slender * (greatest - area));
    *slope = max_of(0, linear + 2 * push);
    return v3_axpy(lift, -(linear + push), u);
}

static void ellipsoid_force(const sim_drag *drag, const sim_fluid *fluid, v3 w, v3 u, double *out, double *slope) {
    /* moments of turning */
    const double *r = drag->size;
    double d = 2.0 / 3 * (r[0] + r[1] + r[2]), moment[3], mixed[3], push_slope;
    double most = max_of(r[0], max_of(r[1], r[2])), least = min_of(r[0], min_of(r[1], r[2]));
    double greatest = 8.0 / 15 * PI * (r[0] + r[1] + r[2] - most - least) * pow4(most);
    for (int k = 0; k < 3; k++) {
        moment[k] = 8.0 / 15 * PI * r[k] * pow4(max_of(r[(k + 1) % 3], r[(k + 2) % 3]));
        mixed[k] = drag->angular * moment[k] + drag->slender * (greatest - moment[k]);
    }
    double linear = PI * d * d * d * fluid->viscosity, twist = fluid->density * v3_norm(v3_times(mixed, w));
    /* added mass, lift, drag */
    v3 mass = v3_scale(fluid->density, v3_times(drag->added_mass, u)),
       spin = v3_scale(fluid->density, v3_times(drag->added_inertia, w));
    v3 F = v3_add(ellipsoid_push(drag, fluid, w, u, &push_slope), v3_cross(mass, w));
    v3 T = v3_axpy(v3_add(v3_cross(mass, u), v3_cross(spin, w)), -(linear + twist), w);
    const double all[6] = {T.x, T.y, T.z, F.x, F.y, F.z};
    memcpy(out, all, sizeof all);
    for (int k = 0; k < 3; k++) {
        slope[k] = linear + 2 * twist;
        slope[3 + k] = push_slope;
    }
}

sim_force sim_drag_force(const sim_drag *drag, const sim_fluid *fluid, sim_motion velocity, double slope[6]) {
    const double w[3] = {velocity.ang.x, velocity.ang.y, velocity.ang.z},
                 u[3] = {velocity.lin.x, velocity.lin.y, velocity.lin.z};
    double out[6] = {0}, falls[6] = {0};
    if (drag->type == SIM_DRAG_BOX) {
        box_force(drag, fluid, w, u, out, falls);
    } else if (drag->type == SIM_DRAG_ELLIPSOID) {
        ellipsoid_force(drag, fluid, velocity.ang, velocity.lin, out, falls);
    }
    if (slope) {
        memcpy(slope, falls, sizeof falls);
    }
    return (force){{out[0], out[1], out[2]}, {out[3], out[4], out[5]}};
}
