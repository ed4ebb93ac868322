#include "support/models.h"

#include "math/sincos.h"
#include "math/v3.h"

#include <criterion/criterion.h>

static double units_apart(double x, double exact) { return fabs(x - exact) / (fabs(exact) * 0x1p-52 + 1e-300); }

Test(math, sine_and_cosine_agree_with_the_library_to_a_unit_in_the_last_place) {
    enum { N = 100000 };
    static double x[N], s[N], c[N];
    random_source r = {1};
    for (int k = 0; k < N; k++) {
        double scale = pow(10, random_uniform(&r, -8, 5.9));
        x[k] = random_uniform(&r, -scale, scale);
    }
    x[0] = 0;
    x[1] = M_PI;
    x[2] = -M_PI / 2;
    sincos_many(N, x, s, c);
    double worst = 0;
    for (int k = 0; k < N; k++) {
        /* near a zero of the function only the absolute error is held: 33 + 33 + 53 bits of pi/2 go far beyond */
        worst = fmax(worst, units_apart(s[k], sin(x[k])));
        worst = fmax(worst, units_apart(c[k], cos(x[k])));
    }
    cr_expect(worst <= 2, "%g units", worst);
}

Test(math, huge_and_bad_angles_go_to_the_library) {
    const double x[4] = {1e6, -1e22, INFINITY, NAN};
    double s[4], c[4];
    sincos_many(4, x, s, c);
    cr_expect(s[0] == sin(1e6) && c[0] == cos(1e6));
    cr_expect(s[1] == sin(-1e22) && c[1] == cos(-1e22));
    cr_expect(isnan(s[2]) && isnan(c[3]));
}

Test(math, quaternions_matrices_and_rotation_vectors_agree) {
    random_source r = {2};
    for (int k = 0; k < 1000; k++) {
        v3 u = v3_scale(random_uniform(&r, 0, k % 2 ? 1e-3 : 3.1), random_unit(&r));
        quat q = quat_exp(u);
        cr_expect(v3_norm(v3_sub(quat_log(q), u)) < 1e-14);
        quat back = quat_from_matrix(quat_matrix(q));
        double sign = back.w * q.w + back.x * q.x + back.y * q.y + back.z * q.z < 0 ? -1 : 1;
        cr_expect(fabs(back.w - sign * q.w) + fabs(back.x - sign * q.x) + fabs(back.y - sign * q.y) +
                      fabs(back.z - sign * q.z) <
                  1e-14);
        v3 axis = random_unit(&r), turned = m3_times(m3_axis_angle(axis, 0.7), u);
        v3 same = m3_times(quat_matrix(quat_exp(v3_scale(0.7, axis))), u);
        cr_expect(v3_norm(v3_sub(turned, same)) < 1e-14);
    }
}

Test(math, rotated_inertia_is_R_I_Rt) {
    random_source r = {3};
    for (int k = 0; k < 100; k++) {
        sim_inertia I = random_inertia(&r);
        m3 R = random_rotation(&r);
        v3 u = random_unit(&r);
        v3 direct = m3_times(R, sym3_times(I.moment, m3_transposed_times(R, u)));
        cr_expect(v3_norm(v3_sub(direct, sym3_times(sym3_rotated(R, I.moment), u))) < 1e-14);
    }
}
