/* The fluid of a model, and the resistance of its bodies.
 *
 *     geoms with fluidshape="ellipsoid"     their ellipsoids: those of all others of the body do not count; of a mesh
 *                                           along its principal axes as far as its vertices reach
 *     else                                  the box of mass and inertia, which is that of a scene
 *
 * Where principal moments are equal the axes of the box are those of <inertial>, or of the only geom. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

static bool fluid_acts(const mjcf_work *w) {
    const mjcf_option *o = &w->model.files->option;
    return (o->density > 0 || o->viscosity > 0) && !(o->no_spring && o->no_damper);
}

void mjcf_put_fluid(mjcf_work *w) {
    const mjcf_option *o = &w->model.files->option;
    if (!fluid_acts(w)) {
        return;
    }
    writer_open(w->out, "fluid", '{');
    writer_put_number(w->out, "density", o->density);
    writer_put_number(w->out, "viscosity", o->viscosity);
    if (o->wind[0] != 0 || o->wind[1] != 0 || o->wind[2] != 0) {
        writer_put_numbers(w->out, "wind", 3, o->wind);
    }
    writer_close(w->out, '}');
}

static void put_ellipsoid(mjcf_work *w, mjcf_list *list, const mjcf_geom *g) {
    /* semi-axes */
    const double *s = g->size;
    mjcf_place frame = mjcf_identity();
    double radii[3] = {s[0], s[0], s[0]}, coefficient[5] = {0.5, 0.25, 1.5, 1, 1};
    if (g->type == MJCF_CAPSULE || g->type == MJCF_CYLINDER) {
        radii[2] = g->type == MJCF_CAPSULE ? s[0] + s[1] : s[1];
    } else if (g->type == MJCF_BOX || g->type == MJCF_ELLIPSOID) {
        memcpy(radii, s, sizeof radii);
    } else if (g->type == MJCF_MESH && !mjcf_mesh_reach(w, g->mesh, g->item.at, &frame, radii)) {
        return;
    }
    /* coefficients */
    static const char *const key[5] = {"blunt", "slender", "angular", "kutta", "magnus"};
    const double otherwise[5] = {0.5, 0.25, 1.5, 1, 1};
    mjcf_numbers(&g->item, "fluidcoef", 5, coefficient);
    mjcf_open_item(w, list, g->item.at);
    writer_put_text(w->out, "type", "ellipsoid");
    mjcf_put_place(w->out, "pose", mjcf_product(g->place, frame));
    writer_put_numbers(w->out, "radii", 3, radii);
    for (int k = 0; k < 5; k++) {
        if (coefficient[k] != otherwise[k]) {
            writer_put_number(w->out, key[k], coefficient[k]);
        }
    }
    writer_close(w->out, '}');
}

/* Axes that the file gives the inertia of a body; false: none. */
static bool given_axes(mjcf_work *w, const mjcf_body *b, sim_quat *q) {
    if (b->given) {
        *q = quat_normalised(mjcf_inertial_place(w, b).q);
        return xml_text(b->inertial, "diaginertia") != NULL;
    }
    bool of_geoms = !b->inertial || b->scope->file->compiler.inertia == MJCF_INERTIA_ALWAYS;
    int count = 0;
    for (int k = b->geom; k >= 0 && of_geoms; k = w->model.geom[k].next) {
        const mjcf_geom *g = &w->model.geom[k];
        if (g->weighs) {
            *q = quat_normalised(g->place.q);
            count += g->mesh ? 2 : 1;
        }
    }
    return count == 1;
}

/* Axes of equal moments are those that rounding makes. */
static bool has_equal_moments(const sim_sym3 *J) {
    double least = fmin(fabs(J->xx - J->yy), fmin(fabs(J->yy - J->zz), fabs(J->zz - J->xx)));
    return least < 1e-9 * (J->xx + J->yy + J->zz);
}

static void put_box(mjcf_work *w, mjcf_list *list, const mjcf_body *b) {
    sim_quat q;
    if (!b->massive || !(b->inertia.mass > 0) || !given_axes(w, b, &q)) {
        return;
    }
    /* the inertia along these axes */
    sim_m3 R = quat_matrix(q);
    sim_sym3 J = sym3_rotated(m3_transpose(R), b->inertia.moment);
    double off = fmax(fabs(J.xy), fmax(fabs(J.xz), fabs(J.yz)));
    if (off > 1e-9 * (J.xx + J.yy + J.zz) || !has_equal_moments(&J)) {
        return;
    }
    sim_inertia along = {.mass = b->inertia.mass, .moment = {J.xx, J.yy, J.zz, 0, 0, 0}};
    sim_drag box = sim_drag_of_inertia(&along);
    mjcf_open_item(w, list, b->item.at);
    writer_put_text(w->out, "type", "box");
    mjcf_put_place(w->out, "pose", (mjcf_place){b->inertia.com, q});
    writer_put_numbers(w->out, "size", 3, box.size);
    writer_close(w->out, '}');
}

void mjcf_put_drag(mjcf_work *w, const mjcf_body *b) {
    mjcf_list list = {.key = "drag"};
    if (!fluid_acts(w)) {
        return;
    }
    bool any = false;
    for (int k = b->geom; k >= 0; k = w->model.geom[k].next) {
        const mjcf_geom *g = &w->model.geom[k];
        bool stands = g->type == MJCF_PLANE || g->type == MJCF_HFIELD; /* it never moves */
        if (!stands && mjcf_says(&g->item, "fluidshape", "ellipsoid")) {
            put_ellipsoid(w, &list, g);
            any = true;
        }
    }
    if (!any) {
        put_box(w, &list, b);
    }
    mjcf_close_list(w, &list);
}
