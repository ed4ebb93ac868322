/* Mass properties of a link.
 *
 *     S = tr(J)/2 1 - J >= 0      second moments of the mass: no distribution of mass has others
 *
 * J is the inertia about the centre of mass, kg m^2.  S >= 0 is A + B >= C for the principal moments A <= B <= C.  The
 * repair replaces S by the nearest matrix without negative eigenvalues, S' = sum max(s_i, 0) e_i e_i', and
 * J' = tr(S') 1 - S'.
 *
 * Reference: Wensing, Kim, Slotine 2018, IEEE Robotics and Automation Letters 3(1), section III. */
#include "math/eigen.h"
#include "math/spatial.h"
#include "scene/urdf/urdf.h"

#include <math.h>
#include <string.h>

static const char *const moment_key[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};

double urdf_mass(const xml_element *link) {
    const xml_element *inertial = xml_child(link, "inertial");
    double mass = 0;
    if (inertial) {
        xml_number(xml_child(inertial, "mass"), "value", &mass);
    }
    return mass;
}

/* Replaces a symmetric matrix by sum max(s_i, 0) e_i e_i'. */
static void clip_negative(double m[3][3]) {
    double e[3][3];
    eigen_symmetric(m, e);
    double value[3] = {fmax(m[0][0], 0), fmax(m[1][1], 0), fmax(m[2][2], 0)};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            m[i][k] = value[0] * e[i][0] * e[k][0] + value[1] * e[i][1] * e[k][1] + value[2] * e[i][2] * e[k][2];
        }
    }
}

static void repair_moments(double J[6]) {
    double half = (J[0] + J[1] + J[2]) / 2;
    double S[3][3] = {{half - J[0], -J[3], -J[4]}, {-J[3], half - J[1], -J[5]}, {-J[4], -J[5], half - J[2]}};
    clip_negative(S);
    double trace = S[0][0] + S[1][1] + S[2][2];
    const double repaired[6] = {trace - S[0][0], trace - S[1][1], trace - S[2][2], -S[0][1], -S[0][2], -S[1][2]};
    memcpy(J, repaired, sizeof repaired);
}

/* Repairs moments that no body has, or reports them. */
static void check_moments(urdf_work *w, const xml_element *at, double mass, double J[6]) {
    sim_inertia I = {.mass = mass, .moment = {J[0], J[1], J[2], J[3], J[4], J[5]}};
    sim_error why;
    if (!sim_inertia_check(&I, &why)) {
        return;
    }
    if (!(mass > 0) || !w->options.repair_inertia) {
        xml_error(w->report, at, NULL, mass > 0 ? "--repair-inertia takes the nearest that a body can have" : NULL,
                  "%s", why.text);
        w->good = false;
        return;
    }
    repair_moments(J);
    xml_notice(w->report, at, NULL, NULL, "repaired: %s", why.text);
}

static bool all_zero(const double *number, int count) {
    for (int k = 0; k < count; k++) {
        if (number[k] != 0) {
            return false;
        }
    }
    return true;
}

void urdf_put_inertia(urdf_work *w, const xml_element *link) {
    const xml_element *inertial = xml_child(link, "inertial");
    double mass = urdf_mass(link), J[6];
    if (!inertial) {
        return;
    }
    /* numbers of the file; nothing at all is a frame without mass */
    const xml_element *origin = xml_child(inertial, "origin"), *inertia = xml_child(inertial, "inertia");
    for (int k = 0; k < 6; k++) {
        J[k] = 0;
        xml_number(inertia, moment_key[k], &J[k]);
    }
    if (mass == 0 && all_zero(J, 6)) {
        return;
    }
    if (mass == 0) {
        xml_notice(w->report, inertial, NULL, NULL, "the mass is 0: the moments of inertia are ignored");
        return;
    }
    check_moments(w, inertial, mass, J);
    /* as a scene */
    w->out->here = inertial->at;
    writer_open(w->out, "inertia", '{');
    writer_put_number(w->out, "mass", mass);
    double com[3] = {0}, rpy[3] = {0};
    if (origin) {
        xml_vector(origin, "xyz", com);
        xml_vector(origin, "rpy", rpy);
    }
    if (!all_zero(com, 3)) {
        writer_put_numbers(w->out, "com", 3, com);
    }
    bool plain = all_zero(J + 3, 3);
    writer_put_numbers(w->out, plain ? "moments" : "matrix", plain ? 3 : 6, J);
    if (!all_zero(rpy, 3)) {
        writer_put_numbers(w->out, "rpy", 3, rpy);
    }
    writer_close(w->out, '}');
}
