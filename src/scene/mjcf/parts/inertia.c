/* Mass properties of bodies.
 *
 *     inertial        numbers of the file
 *     geoms           sum of the solids of density rho or of a given mass, of the groups that count
 *     boundmass, boundinertia     least mass, least principal moments
 *     balanceinertia  principal moments that no body has (A + B < C) become their mean
 *     settotalmass    all masses and moments are scaled
 *
 * A body of plain shapes keeps their densities, as a person would write it; any other has numbers. */
#include "math/angle.h"
#include "math/eigen.h"
#include "scene/mjcf/parts/parts.h"

#include <math.h>
#include <string.h>

/* ---- of geoms ---- */

static sim_shape solid_shape(const mjcf_geom *g) {
    static const sim_shape_type type[MJCF_SHAPES] = {[MJCF_SPHERE] = SIM_SPHERE,
                                                     [MJCF_CAPSULE] = SIM_CAPSULE,
                                                     [MJCF_ELLIPSOID] = SIM_ELLIPSOID,
                                                     [MJCF_CYLINDER] = SIM_CYLINDER,
                                                     [MJCF_BOX] = SIM_BOX};
    sim_shape s = sim_shape_default();
    s.type = type[g->type];
    for (int k = 0; k < 3; k++) {
        bool doubled = g->type == MJCF_BOX || ((g->type == MJCF_CAPSULE || g->type == MJCF_CYLINDER) && k == 1);
        s.size[k] = doubled ? 2 * g->size[k] : g->size[k];
    }
    return s;
}

/* Of the surface at 1 kg/m^2: its area A, and second moments s_k, the integral of the square of coordinate k over it. */
static sim_inertia shell_inertia(const mjcf_geom *g) {
    const double a = g->size[0], b = g->size[1], c = g->size[2];
    double area, s[3];
    if (g->type == MJCF_BOX) {
        area = 8 * (a * b + b * c + c * a);
        s[0] = 8 * a * a * (b * c + (a * c + a * b) / 3);
        s[1] = 8 * b * b * (c * a + (b * c + a * b) / 3);
        s[2] = 8 * c * c * (a * b + (b * c + a * c) / 3);
    } else {
        /* a tube of the length l and what closes it: two half balls, or two discs */
        bool round = g->type != MJCF_CYLINDER;
        double l = g->type == MJCF_SPHERE ? 0 : 2 * b, tube = 2 * PI * a * l, ends = (round ? 4 : 2) * PI * a * a;
        area = tube + ends;
        s[0] = s[1] = tube * a * a / 2 + ends * a * a / (round ? 3 : 4);
        s[2] = tube * l * l / 12 + ends * (l * l / 4 + (round ? a * l / 2 + a * a / 3 : 0));
    }
    return (sim_inertia){area, {0, 0, 0}, {s[1] + s[2], s[2] + s[0], s[0] + s[1], 0, 0, 0}};
}

/* In the frame of the body. */
static bool geom_inertia(mjcf_work *w, const mjcf_geom *g, sim_inertia *out) {
    if (g->shell && (g->mesh || g->type == MJCF_ELLIPSOID)) {
        xml_error(w->report, mjcf_holder(&g->item, "shellinertia"), "shellinertia",
                  g->mesh ? "give the mesh inertia=\"shell\"" : NULL, "%s have no shell of mass",
                  g->mesh ? "geoms of meshes" : "ellipsoids");
        mjcf_refuse(w);
        return false;
    }
    if (g->mesh) {
        if (!mjcf_weigh_mesh(w, g->mesh, g->item.at)) {
            return false;
        }
        *out = g->mesh->inertia;
    } else if (g->shell) {
        *out = shell_inertia(g);
    } else {
        sim_shape s = solid_shape(g);
        *out = sim_shape_inertia(&s, 1);
    }
    double factor = g->mass < 0 ? g->density : g->mass / out->mass;
    sim_pose X = mjcf_pose(g->place);
    out->mass *= factor;
    sim_sym3 *m = &out->moment;
    *m = (sim_sym3){factor * m->xx, factor * m->yy, factor * m->zz, factor * m->xy, factor * m->xz, factor * m->yz};
    *out = sim_inertia_placed(out, &X);
    return true;
}

static void weigh_geoms(mjcf_work *w, mjcf_body *b) {
    b->solid = true;
    for (int k = b->geom; k >= 0; k = w->model.geom[k].next) {
        const mjcf_geom *g = &w->model.geom[k];
        sim_inertia I;
        if (!g->weighs || !geom_inertia(w, g, &I)) {
            continue;
        }
        b->inertia = b->massive ? sim_inertia_add(&b->inertia, &I) : I;
        b->massive = true;
        b->solid &= !g->mesh && !g->shell && !(g->visual && g->scope->file->compiler.discard_visual);
    }
    b->solid &= b->massive;
}

/* ---- of <inertial> ---- */

static void read_inertial(mjcf_work *w, mjcf_body *b) {
    /* numbers of the file */
    const xml_element *e = b->inertial;
    double mass = 0, diagonal[3], full[6];
    xml_numbers(e, "mass", 1, &mass);
    bool has_diagonal = xml_numbers(e, "diaginertia", 3, diagonal) == 3,
         has_full = xml_numbers(e, "fullinertia", 6, full) == 6;
    if (has_diagonal && has_full) {
        xml_error(w->report, e, "fullinertia", NULL, "diaginertia and fullinertia exclude each other");
        mjcf_refuse(w);
        return;
    }
    if (mass < 0) {
        xml_error(w->report, e, "mass", NULL, "the mass is negative");
        mjcf_refuse(w);
        return;
    }
    /* in the frame of the body */
    mjcf_place place = mjcf_inertial_place(w, b);
    sim_pose X = mjcf_pose(place);
    bool global = b->scope->file->compiler.global;
    sim_sym3 J = has_full       ? (sim_sym3){full[0], full[1], full[2], full[3], full[4], full[5]}
                 : has_diagonal ? sym3_rotated(X.R, (sim_sym3){diagonal[0], diagonal[1], diagonal[2], 0, 0, 0})
                                : (sim_sym3){0};
    J = has_full && global ? sym3_rotated(X.R, J) : J;
    b->inertia = (sim_inertia){mass, place.p, J};
    b->massive = mass > 0;
    b->given = !global;
    if (mass == 0 && (has_diagonal || has_full)) {
        b->massive = J.xx > 0 || J.yy > 0 || J.zz > 0;
    }
}

/* ---- bounds and repairs ---- */

static bool vectors_differ(const double a[3], const double b[3]) { return memcmp(a, b, 3 * sizeof *a) != 0; }

static void bound_inertia(mjcf_work *w, mjcf_body *b) {
    const mjcf_compiler *c = &b->scope->file->compiler;
    sim_inertia *I = &b->inertia;
    if (I->mass < c->bound_mass) {
        I->mass = c->bound_mass;
        b->massive = true;
        b->solid = b->given = false;
    }
    if (!b->massive && !(c->bound_inertia > 0)) {
        return;
    }
    /* principal moments */
    double J[3][3] = {{I->moment.xx, I->moment.xy, I->moment.xz},
                      {I->moment.xy, I->moment.yy, I->moment.yz},
                      {I->moment.xz, I->moment.yz, I->moment.zz}};
    double e[3][3];
    eigen_symmetric(J, e);
    double before[3] = {J[0][0], J[1][1], J[2][2]}, after[3];
    for (int k = 0; k < 3; k++) {
        after[k] = fmax(before[k], c->bound_inertia);
    }
    double sum = after[0] + after[1] + after[2], most = fmax(after[0], fmax(after[1], after[2]));
    if (2 * most > sum && c->balance_inertia) {
        after[0] = after[1] = after[2] = sum / 3;
        xml_notice(w->report, b->item.at, NULL, NULL, "balanced: all principal moments of inertia become %g", sum / 3);
    }
    if (!vectors_differ(before, after)) {
        return;
    }
    double M[3][3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            M[i][k] = after[0] * e[i][0] * e[k][0] + after[1] * e[i][1] * e[k][1] + after[2] * e[i][2] * e[k][2];
        }
    }
    I->moment = (sim_sym3){M[0][0], M[1][1], M[2][2], M[0][1], M[0][2], M[1][2]};
    b->solid = b->given = false;
}

static void scale_masses(mjcf_work *w) {
    mjcf_model *m = &w->model;
    double total = 0, wanted = m->files->compiler.total_mass;
    for (int k = 1; k < m->nbody; k++) {
        total += m->body[k].inertia.mass;
    }
    if (!(wanted > 0) || !(total > 0)) {
        return;
    }
    double factor = wanted / total;
    for (int k = 1; k < m->nbody; k++) {
        mjcf_body *b = &m->body[k];
        sim_sym3 *J = &b->inertia.moment;
        b->inertia.mass *= factor;
        *J = (sim_sym3){factor * J->xx, factor * J->yy, factor * J->zz, factor * J->xy, factor * J->xz, factor * J->yz};
        b->mass_factor = factor;
        b->given = false;
    }
}

static void check_inertia(mjcf_work *w, mjcf_body *b) {
    /* an error */
    sim_error why;
    if (!b->massive || b->solid || !sim_inertia_check(&b->inertia, &why)) {
        return;
    }
    const xml_element *at = b->inertial ? b->inertial : b->item.at;
    if (!(b->inertia.mass > 0) || !w->options.repair_inertia) {
        xml_error(w->report, at, NULL,
                  b->inertia.mass > 0
                      ? "--repair-inertia takes the nearest that a body can have; balanceinertia their mean"
                      : NULL,
                  "%s", why.text);
        mjcf_refuse(w);
        return;
    }
    /* or a repair */
    const sim_sym3 *m = &b->inertia.moment;
    double J[6] = {m->xx, m->yy, m->zz, m->xy, m->xz, m->yz};
    inertia_repair(J);
    b->inertia.moment = (sim_sym3){J[0], J[1], J[2], J[3], J[4], J[5]};
    b->given = false;
    xml_notice(w->report, at, NULL, NULL, "repaired: %s", why.text);
}

bool mjcf_read_inertia(mjcf_work *w) {
    mjcf_model *m = &w->model;
    for (int k = 1; k < m->nbody; k++) {
        mjcf_body *b = &m->body[k];
        bool own = b->inertial && b->scope->file->compiler.inertia != MJCF_INERTIA_ALWAYS;
        if (!own) {
            weigh_geoms(w, b);
        }
        if (own || (b->inertial && !b->massive)) { /* no geom counts */
            read_inertial(w, b);
        }
        bound_inertia(w, b);
    }
    scale_masses(w);
    for (int k = 1; k < m->nbody; k++) {
        check_inertia(w, &m->body[k]);
    }
    return w->good;
}
