/* Mass properties of a link. */
#include "math/spatial.h"
#include "scene/urdf/urdf.h"
#include "scene/xml/robot.h"

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
    inertia_repair(J);
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
