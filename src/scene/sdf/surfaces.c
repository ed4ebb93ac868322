/* Surfaces of collision shapes as materials, each once.
 *
 *     torsion = 3 pi/16 a mu_t N          a: patch_radius, mu_t: coefficient */
#include "scene/sdf/sdf.h"

#include <math.h>
#include <stdio.h>

typedef struct surface {
    double friction[2], torsion, restitution;
} surface;

static bool has_direction(const xml_element *ode) {
    double along[3] = {0};
    xml_vector(ode, "fdir1", along);
    return along[0] != 0 || along[1] != 0 || along[2] != 0;
}

static surface read_surface(const xml_element *collision) {
    /* friction, along and across */
    surface s = {.friction = {1, 1}};
    const xml_element *e = xml_child(collision, "surface"), *friction = xml_child(e, "friction");
    const xml_element *ode = xml_child(friction, "ode"), *torsional = xml_child(friction, "torsional");
    const xml_element *bounce = xml_child(e, "bounce");
    if (ode) {
        xml_number(ode, "mu", &s.friction[0]);
        s.friction[1] = s.friction[0];
        xml_number(ode, "mu2", &s.friction[1]);
        if (!has_direction(ode)) {
            s.friction[0] = s.friction[1] = fmin(s.friction[0], s.friction[1]);
        }
    }
    /* torsion, restitution */
    double radius = 0, coefficient = 0;
    if (torsional && xml_number(torsional, "patch_radius", &radius) &&
        xml_number(torsional, "coefficient", &coefficient)) {
        s.torsion = 3 * acos(-1) / 16 * radius * coefficient;
    }
    if (bounce) {
        xml_number(bounce, "restitution_coefficient", &s.restitution);
    }
    return s;
}

/* Two coefficients need a direction. */
static void check_surface(sdf_work *w, const xml_element *collision) {
    const xml_element *ode = xml_child(xml_child(xml_child(collision, "surface"), "friction"), "ode");
    double first = 1, second = 1;
    if (ode && xml_number(ode, "mu", &first) && xml_number(ode, "mu2", &second) && first != second &&
        !has_direction(ode)) {
        xml_notice(w->report, ode, "mu2", "give fdir1, in the frame of the collision",
                   "mu2 differs from mu, but no fdir1 says in which direction: the lesser counts in all");
    }
}

int sdf_find_surface(sdf_work *w, const xml_element *collision) {
    enum { KEY_BYTES = 120 };
    surface s = read_surface(collision);
    char *key = pool_alloc(w->pool, KEY_BYTES, 1);
    if (!key) {
        w->report->no_memory = true;
        return 0;
    }
    check_surface(w, collision);
    snprintf(key, KEY_BYTES, "%.17g %.17g %.17g %.17g", s.friction[0], s.friction[1], s.torsion, s.restitution);
    int found = names_find(&w->surfaces, key);
    if (found >= 0) {
        return found;
    }
    w->report->no_memory |= !names_add(&w->surfaces, key, w->nsurface);
    w->surface[w->nsurface] = collision;
    return w->nsurface++;
}

void sdf_put_surfaces(sdf_work *w) {
    if (!w->nsurface) {
        return;
    }
    writer_open(w->out, "materials", '[');
    for (int k = 0; k < w->nsurface; k++) {
        /* name, friction, what is not 0 */
        surface s = read_surface(w->surface[k]);
        char name[40];
        snprintf(name, sizeof name, "surface_%d", k);
        sdf_here(w, w->surface[k]);
        writer_open(w->out, NULL, '{');
        writer_put_text(w->out, "name", name);
        if (s.friction[0] == s.friction[1]) {
            writer_put_number(w->out, "friction", s.friction[0]);
        } else {
            writer_put_numbers(w->out, "friction", 2, s.friction);
        }
        if (s.torsion != 0) {
            writer_put_number(w->out, "torsion", s.torsion);
        }
        if (s.restitution != 0) {
            writer_put_number(w->out, "restitution", s.restitution);
        }
        writer_close(w->out, '}');
    }
    writer_close(w->out, ']');
}
