/* Names, allowances and mass properties, as all readers of robots treat them.
 *
 *     S = tr(J)/2 1 - J >= 0      second moments of the mass: no distribution of mass has others
 *
 * J is the inertia about the centre of mass, kg m^2.  S >= 0 is A + B >= C for the principal moments A <= B <= C.  The
 * repair replaces S by the nearest matrix without negative eigenvalues, S' = sum max(s_i, 0) e_i e_i', and
 * J' = tr(S') 1 - S'.
 *
 * Reference: Wensing, Kim, Slotine 2018, IEEE Robotics and Automation Letters 3(1), section III. */
#include "scene/xml/robot.h"

#include "base/words.h"
#include "math/eigen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool xml_clean_name(char *name) {
    bool changed = false;
    for (char *c = name; *c; c++) {
        if (strchr("/*,\"\\", *c) || (unsigned char)*c < 0x20) {
            *c = '_';
            changed = true;
        }
    }
    return changed;
}

bool xml_allows(const xml_allowed *allowed, const char *name) {
    for (int k = 0; k < allowed->count; k++) {
        if (strcmp(allowed->name[k], name) == 0) {
            allowed->met[k] = true;
            return true;
        }
    }
    return false;
}

/* ---- files of meshes ---- */

bool xml_is_mesh_name(const char *name) {
    static const char *const ending[] = {".obj", ".stl", ".dae", ".gltf", ".glb"};
    bool found = false;
    for (size_t k = 0; k < sizeof ending / sizeof ending[0]; k++) {
        found |= ends_in_any_case(name, ending[k]);
    }
    return found;
}

bool xml_miss_mesh(report *r, const xml_allowed *allowed, const xml_element *at, const char *key, const char *tried,
                   const sim_error *why, const char *hint) {
    char said[400];
    if (why->text[0]) {
        snprintf(said, sizeof said, "%.390s", why->text);
    } else if (tried) {
        snprintf(said, sizeof said, "there is no file \"%.200s\"", tried);
    } else {
        snprintf(said, sizeof said, "\"%.200s\" is neither an OBJ, STL, COLLADA nor glTF file", xml_text(at, key));
    }
    if (xml_allows(allowed, "mesh")) {
        xml_notice(r, at, key, NULL, "%s: the shape is left out", said);
        return true;
    }
    r->no_resource |= why->text[0] ? why->status == SIM_NO_RESOURCE : tried != NULL;
    xml_error(r, at, key, hint, "%s", said);
    return false;
}

void xml_say_undrawn(report *r, const xml_element *first, int count, const char *key, const char *why) {
    const char *hint = "pictures show the collision shapes of a link of which nothing else can be drawn";
    if (first && why) {
        xml_notice(r, first, key, hint, "visual meshes are left out (%d): %.390s", count, why);
    } else if (first) {
        xml_notice(
            r, first, key, hint,
            "visual meshes are left out (%d): \"%.200s\" is not found, or neither an OBJ, STL, COLLADA nor glTF file",
            count, xml_text(first, key));
    }
}

/* ---- mass properties ---- */

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

void inertia_repair(double J[6]) {
    double half = (J[0] + J[1] + J[2]) / 2;
    double S[3][3] = {{half - J[0], -J[3], -J[4]}, {-J[3], half - J[1], -J[5]}, {-J[4], -J[5], half - J[2]}};
    clip_negative(S);
    double trace = S[0][0] + S[1][1] + S[2][2];
    const double repaired[6] = {trace - S[0][0], trace - S[1][1], trace - S[2][2], -S[0][1], -S[0][2], -S[1][2]};
    memcpy(J, repaired, sizeof repaired);
}
