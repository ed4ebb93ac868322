/* Linear tetrahedra: constant deformation gradient, Hessian by its eigenvectors.
 *
 *     F = sum_n x_n b_n',   F = U diag(s) V',   E = V0 Psi(s),   f_n = -V0 U diag(dPsi/ds) V' b_n
 *     K = V0 sum_e l_e w_e w_e',   w_e,n = U Q_e V' b_n,   Q_e, l_e: eigenvectors and eigenvalues of the Hessian by F
 *     C = V0 tau (2 mu sum_i d_i d_i' + la d d' + 2 mu sum_ij g_ij g_ij'),   d = d_1 + d_2 + d_3
 *         d_i: u_i v_i',   g_ij: (s_i u_i v_j' + s_j u_j v_i') / sqrt(s_i^2 + s_j^2)
 *
 *     b_n    gradient of the barycentric coordinate of corner n at rest, 1/m;  V0  volume at rest, m^3
 *     x_n    places, m;  f_n  forces, N;  K  N/m;  C  N s/m;  tau  dissipation, s
 *
 * Setting negative l_e to zero is the nearest semi-definite Hessian by F.  The viscosity is that of Kelvin and Voigt, of
 * the rate of the Green strain in principal axes.  It equals tau K at rest, and neither opposes rotations nor turns
 * the body.  Over a step from F0 to F1 at the rate (F1 - F0) / dt its axes are those of (F0 + F1)/2: only there is
 * F'dF + dF'F the change of F'F, none in a turn.  At F1 a turn at omega would stretch by omega^2 dt / 2.
 * Reference: Smith, de Goes, Kim 2018, section 4; Smith, de Goes, Kim 2019, section 4.  Different: tau K at a
 * deformed place opposes rotations; C stands in its place.
 * Cost: one singular value decomposition; nine products of vectors of 12 with themselves a matrix. */
#include "dyn/soft/elastic_tet.h"

#include "dyn/soft/elastic_mean.h"
#include "math/eigen.h"
#include "math/svd.h"

#include <stdbool.h>
#include <string.h>

static const double MIN_PIVOT_RATIO = 1e-10;    /* of a positive definite curvature */
static const double MIN_CURVATURE_RATIO = 1e-3; /* of springs, over mu */
static const double MIN_STRESS_RATIO = 1e-9;    /* over mu, of a stress with a stiffness against turning */

elastic_tet make_elastic_tet(const v3 x[4]) {
    v3 a = v3_sub(x[1], x[0]), b = v3_sub(x[2], x[0]), c = v3_sub(x[3], x[0]);
    double six = v3_dot(v3_cross(a, b), c);
    elastic_tet t = {.volume = six / 6};
    t.slope[1] = v3_scale(1 / six, v3_cross(b, c));
    t.slope[2] = v3_scale(1 / six, v3_cross(c, a));
    t.slope[3] = v3_scale(1 / six, v3_cross(a, b));
    t.slope[0] = v3_neg(v3_add(t.slope[1], v3_add(t.slope[2], t.slope[3])));
    return t;
}

/* Differences of places, so that a body far away has no greater rounding. */
static m3 deformation(const elastic_tet *t, const v3 x[4]) {
    m3 F = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int n = 1; n < 4; n++) {
        v3 d = v3_sub(x[n], x[0]);
        F.x = v3_axpy(F.x, t->slope[n].x, d);
        F.y = v3_axpy(F.y, t->slope[n].y, d);
        F.z = v3_axpy(F.z, t->slope[n].z, d);
    }
    return F;
}

static void force_corners(const elastic_tet *t, const m3 *U, const m3 *V, const stretch_response *r, v3 force[4]) {
    v3 sum = {0, 0, 0};
    for (int n = 1; n < 4; n++) {
        v3 b = m3_transposed_times(*V, t->slope[n]);
        v3 along = {r->slope[0] * b.x, r->slope[1] * b.y, r->slope[2] * b.z};
        force[n] = v3_scale(-t->volume, m3_times(*U, along));
        sum = v3_add(sum, force[n]);
    }
    force[0] = v3_neg(sum);
}

/* f_n = -V0 P b_n */
static void press_corners(const elastic_tet *t, m3 P, v3 force[4]) {
    v3 sum = {0, 0, 0};
    for (int n = 1; n < 4; n++) {
        force[n] = v3_scale(-t->volume, m3_times(P, t->slope[n]));
        sum = v3_add(sum, force[n]);
    }
    force[0] = v3_neg(sum);
}

double eval_elastic_tet(const elastic_material *material, const elastic_tet *t, const v3 x[4], v3 *force) {
    m3 U, V;
    double s[3];
    svd_rotations(deformation(t, x), &U, s, &V);
    stretch_response r = eval_stretches(material, s);
    if (force) {
        force_corners(t, &U, &V, &r, force);
    }
    return t->volume * r.energy;
}

/* Axes of a tetrahedron: U, and V' b_n. */
typedef struct tet_axes {
    v3 u[3];
    double b[4][3];
} tet_axes;

static tet_axes axes_of(const elastic_tet *t, const m3 *U, const m3 *V) {
    tet_axes a = {.u = {U->x, U->y, U->z}};
    for (int n = 0; n < 4; n++) {
        v3 b = m3_transposed_times(*V, t->slope[n]);
        a.b[n][0] = b.x, a.b[n][1] = b.y, a.b[n][2] = b.z;
    }
    return a;
}

/* w of Q = sum over i, j of q[i][j] u_i v_j'. */
static void motion_of(const tet_axes *a, double q[3][3], double w[12]) {
    for (int n = 0; n < 4; n++) {
        v3 sum = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            double along = q[i][0] * a->b[n][0] + q[i][1] * a->b[n][1] + q[i][2] * a->b[n][2];
            sum = v3_axpy(sum, along, a->u[i]);
        }
        memcpy(w + 3 * n, (const double[3]){sum.x, sum.y, sum.z}, 3 * sizeof *w);
    }
}

/* A += l w w' */
static void add_motion(const tet_axes *a, double q[3][3], double l, double (*A)[12]) {
    double w[12];
    motion_of(a, q, w);
    for (int i = 0; i < 12; i++) {
        double lw = l * w[i];
        for (int j = 0; j < 12; j++) {
            A[i][j] += lw * w[j];
        }
    }
}

/* C = sum_k d_k e_k e_k', e_k the columns of e: by C = L D L' where all d are positive, true, else by eigenvectors. */
static bool split_curvature(double C[3][3], double e[3][3], double d[3]) {
    memset(e, 0, 9 * sizeof **e);
    bool positive = true;
    for (int k = 0; k < 3 && positive; k++) {
        for (int i = k; i < 3; i++) {
            e[i][k] = C[i][k];
            for (int l = 0; l < k; l++) {
                e[i][k] -= d[l] * e[i][l] * e[k][l];
            }
        }
        d[k] = e[k][k];
        positive = d[k] > MIN_PIVOT_RATIO * C[k][k];
        for (int i = k; i < 3 && positive; i++) {
            e[i][k] /= d[k];
        }
    }
    if (!positive) {
        eigen_symmetric(C, e);
        for (int k = 0; k < 3; k++) {
            d[k] = C[k][k];
        }
    }
    return positive;
}

static void add_stiffness(const tet_axes *a, stretch_response *r, double volume, bool projected, double (*K)[12]) {
    const double half = sqrt(0.5);
    double e[3][3], along[3];
    split_curvature(r->curvature, e, along);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        const double value[3] = {along[k], r->twist[k], r->flip[k]};
        double q[3][3][3] = {{{e[0][k], 0, 0}, {0, e[1][k], 0}, {0, 0, e[2][k]}}, {{0}}, {{0}}};
        q[1][i][j] = half, q[1][j][i] = -half;
        q[2][i][j] = half, q[2][j][i] = half;
        for (int mode = 0; mode < 3; mode++) {
            if (value[mode] != 0 && (value[mode] > 0 || !projected)) {
                add_motion(a, q[mode], volume * value[mode], K);
            }
        }
    }
}

static void add_viscosity(const tet_axes *a, const elastic_material *m, const double s[3], double volume,
                          double (*C)[12]) {
    double scale = volume * m->dissipation;
    double all[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    add_motion(a, all, scale * m->lambda, C);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double stretch[3][3] = {{0}}, shear[3][3] = {{0}}, size = sqrt(s[i] * s[i] + s[j] * s[j]);
        stretch[k][k] = 1;
        add_motion(a, stretch, 2 * scale * m->mu, C);
        if (size > 0) {
            shear[i][j] = s[i] / size;
            shear[j][i] = s[j] / size;
            add_motion(a, shear, 2 * scale * m->mu, C);
        }
    }
}

void eval_elastic_matrices(const elastic_material *material, const elastic_tet *t, const v3 x[4],
                           const elastic_matrices *out) {
    /* axes; forces and matrices that are asked for */
    m3 U, V, F = deformation(t, x);
    elastic_mean mean;
    bool has_mean = out->from && eval_elastic_mean(material, deformation(t, out->from), F, &mean);
    double s[3];
    svd_rotations(has_mean ? mean.F : F, &U, s, &V);
    tet_axes a = axes_of(t, &U, &V);
    stretch_response r = eval_stretches(material, s);
    if (out->force && has_mean) {
        press_corners(t, mean.P, out->force);
    } else if (out->force) {
        force_corners(t, &U, &V, &r, out->force);
    }
    if (out->stiffness) {
        memset(out->stiffness, 0, 12 * sizeof *out->stiffness);
        add_stiffness(&a, &r, t->volume, out->projected, out->stiffness);
    }
    if (out->start) {
        m3 F0 = deformation(t, out->start);
        m3 middle = {v3_scale(0.5, v3_add(F0.x, F.x)), v3_scale(0.5, v3_add(F0.y, F.y)),
                     v3_scale(0.5, v3_add(F0.z, F.z))};
        svd_rotations(middle, &U, s, &V);
        a = axes_of(t, &U, &V);
    }
    if (out->viscosity) {
        memset(out->viscosity, 0, 12 * sizeof *out->viscosity);
        add_viscosity(&a, material, s, t->volume, out->viscosity);
    }
}

/* ---- the same as springs ---- */

/* c with sum_k c_k e_k = g: e is unit lower triangular, or orthonormal. */
static void resolve_slope(double e[3][3], bool triangular, const double g[3], double c[3]) {
    for (int k = 0; k < 3; k++) {
        c[k] = triangular ? g[k] : e[0][k] * g[0] + e[1][k] * g[1] + e[2][k] * g[2];
        for (int l = 0; l < k && triangular; l++) {
            c[k] -= e[k][l] * c[l];
        }
    }
}

/* Along Q, with an eigenvalue and a slope of the energy, J; `least`: of the stiffness. */
static void add_spring(elastic_rows *out, const tet_axes *a, double q[3][3], double value, double slope, double least) {
    int row = out->count++;
    motion_of(a, q, out->w[row]);
    out->stiffness[row] = fmax(value, least);
    out->slope[row] = value;
    out->stretch[row] = slope / out->stiffness[row];
}

void eval_elastic_rows(const elastic_material *material, const elastic_tet *t, const v3 x[4], elastic_rows *out) {
    /* axes, response, the split of both by principal stretches */
    m3 U, V;
    double s[3], e[3][3], along[3], slope[3];
    svd_rotations(deformation(t, x), &U, s, &V);
    tet_axes a = axes_of(t, &U, &V);
    stretch_response r = eval_stretches(material, s);
    bool triangular = split_curvature(r.curvature, e, along);
    resolve_slope(e, triangular, r.slope, slope);
    /* stretches, shears, turns against the stress */
    double V0 = t->volume, least = V0 * MIN_CURVATURE_RATIO * material->mu;
    const double half = sqrt(0.5);
    out->count = 0;
    for (int k = 0; k < 3; k++) {
        double q[3][3] = {{e[0][k], 0, 0}, {0, e[1][k], 0}, {0, 0, e[2][k]}};
        add_spring(out, &a, q, V0 * along[k], V0 * slope[k], least);
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double q[3][3] = {{0}}, value = turn ? r.twist[k] : r.flip[k];
            q[i][j] = turn ? -half : half;
            q[j][i] = half;
            if (!turn || fabs(value) > MIN_STRESS_RATIO * material->mu) {
                add_spring(out, &a, q, V0 * value, 0, least);
            }
        }
    }
}
