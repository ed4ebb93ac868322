/* Bodies of a scene.
 *
 *     body without joints     a body fixed to its parent
 *     body with one joint     a body with that joint
 *     body with more          a chain of links without mass, one a joint, the body last
 *
 * The frame of a link stands at the point of its joint.  Where the last joint is beside the origin of its body, the
 * body is fixed to the link: it keeps the frame of the file.  A joint with ref r stands as the file says at q = r: its
 * frame is turned (shifted) back by r. */
#include "scene/mjcf/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- joints ---- */

static void put_number(mjcf_work *w, const char *key, double number, double otherwise) {
    if (number != otherwise) {
        writer_put_number(w->out, key, number);
    }
}

/* In degrees where the file has them. */
static void put_range(mjcf_work *w, const mjcf_joint *j) {
    double given[2];
    bool degrees = j->type == MJCF_HINGE && j->scope->file->compiler.degrees && j->margin == 0;
    if (degrees && mjcf_numbers(&j->item, "range", 2, given) == 2) {
        writer_put_numbers(w->out, "range_deg", 2, given);
    } else {
        writer_put_numbers(w->out, "range", 2, j->range);
    }
}

void mjcf_put_limit_softness(mjcf_work *w, const mjcf_joint *j) {
    double stiffness, dissipation;
    if (mjcf_find_weights(w) && mjcf_soften(w, MJCF_SOFT_LIMITS, j->item.at, &j->limit, mjcf_joint_weight(&w->model, j),
                                            &stiffness, &dissipation)) {
        writer_put_number(w->out, "limit_stiffness", j->squeezed ? 2 * stiffness : stiffness);
        writer_put_number(w->out, "limit_dissipation", dissipation);
    }
}

static void put_joint(mjcf_work *w, const mjcf_joint *j) {
    /* type, name, axis */
    static const char *const type[MJCF_JOINT_TYPES] = {"free", "ball", "slider", "hinge"};
    bool named = j->name && strcmp(j->name, j->link) != 0;
    mjcf_here(w, j->item.at);
    writer_open(w->out, "joint", '{');
    writer_put_text(w->out, "type", type[j->type]);
    if (named) {
        writer_put_text(w->out, "name", j->name);
    }
    if (j->type > MJCF_BALL && (j->axis.x != 0 || j->axis.y != 0 || j->axis.z != 1)) {
        writer_put_numbers(w->out, "axis", 3, (const double[]){j->axis.x, j->axis.y, j->axis.z});
    }
    /* range, spring, damper */
    if (j->limited && j->type != MJCF_BALL) {
        put_range(w, j);
    }
    if (j->limited && j->type != MJCF_BALL && j->limit.given) {
        mjcf_put_limit_softness(w, j);
    }
    put_number(w, "stiffness", j->stiffness, 0);
    mjcf_put_terms(w, "spring_terms", j->spring_terms);
    if (j->type > MJCF_BALL && (j->stiffness != 0 || j->spring_terms[0] != 0 || j->spring_terms[1] != 0)) {
        put_number(w, "rest", j->springref, 0);
    }
    put_number(w, "damping", j->damping + j->geared[0], 0);
    mjcf_put_terms(w, "damper_terms",
                   (const double[]){j->damper_terms[0] + j->geared[1], j->damper_terms[1] + j->geared[2]});
    put_number(w, "armature", j->armature, 0);
    put_number(w, "friction", j->friction, 0);
    if (j->effort_limited) {
        writer_put_numbers(w->out, "effort_range", 2, j->effort_range);
    }
    writer_close(w->out, '}');
    if (j->ref != 0 && j->type > MJCF_BALL) {
        writer_put_number(w->out, "q", j->ref);
    }
}

/* Frame of a link where the joint stands at its reference, seen from `from`, a point of the body. */
static mjcf_place link_place(const mjcf_joint *j, sim_v3 from) {
    mjcf_place place = {v3_sub(j->pos, from), {1, 0, 0, 0}};
    sim_v3 axis = v3_scale(1 / fmax(v3_norm(j->axis), 1e-300), j->axis);
    if (j->type == MJCF_HINGE && j->ref != 0) {
        double s = sin(-j->ref / 2);
        place.q = (sim_quat){cos(j->ref / 2), s * axis.x, s * axis.y, s * axis.z};
    } else if (j->type == MJCF_SLIDE) {
        place.p = v3_axpy(place.p, -j->ref, axis);
    }
    return place;
}

/* ---- mass properties ---- */

static void put_given_inertia(mjcf_work *w, const mjcf_body *b) {
    double numbers[6];
    if (xml_numbers(b->inertial, "fullinertia", 6, numbers) == 6) {
        writer_put_numbers(w->out, "matrix", 6, numbers);
        return;
    }
    memset(numbers, 0, sizeof numbers);
    xml_numbers(b->inertial, "diaginertia", 3, numbers);
    writer_put_numbers(w->out, "moments", 3, numbers);
    mjcf_place place = mjcf_inertial_place(w, b);
    if (place.q.x != 0 || place.q.y != 0 || place.q.z != 0) {
        writer_put_numbers(w->out, "quaternion", 4, (const double[]){place.q.w, place.q.x, place.q.y, place.q.z});
    }
}

static void put_inertia(mjcf_work *w, const mjcf_body *b) {
    if (!b->massive || b->solid) {
        return;
    }
    const sim_inertia *I = &b->inertia;
    mjcf_here(w, b->inertial ? b->inertial : b->item.at);
    writer_open(w->out, "inertia", '{');
    writer_put_number(w->out, "mass", I->mass);
    if (I->com.x != 0 || I->com.y != 0 || I->com.z != 0) {
        writer_put_numbers(w->out, "com", 3, (const double[]){I->com.x, I->com.y, I->com.z});
    }
    if (b->given) {
        put_given_inertia(w, b);
    } else {
        const sim_sym3 *J = &I->moment;
        writer_put_numbers(w->out, "matrix", 6, (const double[]){J->xx, J->yy, J->zz, J->xy, J->xz, J->yz});
    }
    writer_close(w->out, '}');
}

/* ---- shapes ---- */

/* The convex hull stands for the mesh: in contacts, unless it is to be exact, and without faces. */
static bool is_hull(const mjcf_work *w, const mjcf_geom *g) {
    bool faces = g->mesh->path || g->mesh->nface;
    return !faces || (g->touching >= 0 && w->options.mesh == SIM_MESH_CONVEX);
}

static void put_mesh(mjcf_work *w, const mjcf_geom *g) {
    /* a file */
    const mjcf_mesh *m = g->mesh;
    const double *s = m->scale;
    if (m->path) {
        const char *slash = strrchr(w->path, '/');
        size_t folder = slash ? (size_t)(slash - w->path) + 1 : 0;
        bool beside = folder && strncmp(m->path, w->path, folder) == 0;
        writer_put_text(w->out, "file", beside ? m->path + folder : m->path);
        if (s[0] != s[1] || s[0] != s[2]) {
            writer_put_numbers(w->out, "scale", 3, s);
        } else {
            put_number(w, "scale", s[0], 1);
        }
        return;
    }
    /* vertices and faces */
    writer_open(w->out, "points", '[');
    for (int k = 0; k < m->nvertex; k++) {
        const double *v = m->vertex + 3 * k;
        writer_put_numbers(w->out, NULL, 3, (const double[]){s[0] * v[0], s[1] * v[1], s[2] * v[2]});
    }
    writer_close(w->out, ']');
    bool mirrored = s[0] * s[1] * s[2] < 0, faces = m->nface && !is_hull(w, g);
    if (faces) {
        writer_open(w->out, "triangles", '[');
        for (int k = 0; k < m->nface; k++) {
            const double *f = m->face + 3 * k;
            writer_put_numbers(w->out, NULL, 3, (const double[]){f[0], f[mirrored ? 2 : 1], f[mirrored ? 1 : 2]});
        }
        writer_close(w->out, ']');
    }
}

/* Heights from 0 to 1 times the third size, row by row. */
static void put_heights(mjcf_work *w, const mjcf_geom *g) {
    double size[4] = {0};
    mjcf_heights h;
    xml_numbers(g->hfield, "size", 4, size);
    if (!mjcf_read_heights(w, g->scope->file, g->hfield, &h)) {
        xml_lose(w->report, (xml_element *)g->item.at);
        return;
    }
    writer_put_number(w->out, "columns", h.columns);
    writer_put_numbers(w->out, "extent", 2, (const double[]){2 * size[0], 2 * size[1]});
    for (int k = 0; k < h.rows * h.columns; k++) {
        h.height[k] *= size[2];
    }
    writer_put_numbers(w->out, "heights", h.rows * h.columns, h.height);
}

static void put_size(mjcf_work *w, const mjcf_geom *g) {
    /* one key or two, by the type */
    const double *s = g->size;
    switch (g->type) {
    case MJCF_SPHERE:
        writer_put_number(w->out, "radius", s[0]);
        break;
    case MJCF_CAPSULE:
    case MJCF_CYLINDER:
        writer_put_number(w->out, "radius", s[0]);
        writer_put_number(w->out, "length", 2 * s[1]);
        break;
    case MJCF_ELLIPSOID:
        writer_put_numbers(w->out, "radii", 3, s);
        break;
    case MJCF_BOX:
        writer_put_numbers(w->out, "size", 3, (const double[]){2 * s[0], 2 * s[1], 2 * s[2]});
        break;
    case MJCF_MESH:
        put_mesh(w, g);
        if (g->touching >= 0 && !is_hull(w, g) && w->options.mesh == SIM_MESH_DECOMPOSED) {
            writer_open(w->out, "decompose", '{');
            writer_close(w->out, '}');
        }
        break;
    case MJCF_HFIELD:
        put_heights(w, g);
        break;
    default:
        break;
    }
}

/* Velocity of the surface, in the axes of the body. */
static void put_belt(mjcf_work *w, const mjcf_geom *g) {
    sim_m3 R = mjcf_pose(g->place).R;
    sim_v3 along = m3_times(R, mjcf_vector(g->belt)), turn = m3_times(R, mjcf_vector(g->belt + 3));
    if (v3_norm(along) > 0 || v3_norm(turn) > 0) {
        const double belt[6] = {along.x, along.y, along.z, turn.x, turn.y, turn.z};
        writer_put_numbers(w->out, "surface_velocity", v3_norm(turn) > 0 ? 6 : 3, belt);
    }
}

static void put_shape(mjcf_work *w, const mjcf_contacts *c, const mjcf_geom *g, bool shown) {
    /* name, type, use */
    static const char *const type[MJCF_SHAPES] = {"half_space", "height_field", "sphere", "capsule", "ellipsoid",
                                                  "cylinder",   "box",          "mesh",   "sdf"};
    if (g->name) {
        writer_put_text(w->out, "name", g->name);
    }
    bool hull = g->mesh && is_hull(w, g);
    writer_put_text(w->out, "type", hull ? "convex" : type[g->type]);
    if (g->touching < 0) {
        writer_put_text(w->out, "use", "picture");
    } else if (!shown) {
        writer_put_text(w->out, "use", "contact");
    }
    /* size, place, mass, colour, contacts */
    put_size(w, g);
    mjcf_put_place(w->out, "pose", g->mesh ? mjcf_product(g->place, g->mesh->place) : g->place);
    const mjcf_body *b = &w->model.body[g->body];
    if (b->solid && g->weighs) {
        writer_put_number(w->out, g->mass < 0 ? "density" : "mass",
                          b->mass_factor * (g->mass < 0 ? g->density : g->mass));
    }
    if (g->colored && shown) {
        writer_put_numbers(w->out, "color", g->rgba[3] == 1 ? 3 : 4, g->rgba);
    }
    mjcf_put_contact(w, c, g);
    put_belt(w, g);
    writer_close(w->out, '}');
}

/* Is any geom of a body in a group that is drawn? */
static bool has_visible(const mjcf_model *m, const mjcf_body *b) {
    for (int k = b->geom; k >= 0; k = m->geom[k].next) {
        if (m->geom[k].group < 3) {
            return true;
        }
    }
    return false;
}

static void put_shapes(mjcf_work *w, const mjcf_contacts *c, const mjcf_body *b) {
    const mjcf_model *m = &w->model;
    bool visible = has_visible(m, b);
    mjcf_list list = {.key = "shapes"};
    for (int k = b->geom; k >= 0; k = m->geom[k].next) {
        const mjcf_geom *g = &m->geom[k];
        bool shown = g->group < 3 || !visible, needed = g->touching >= 0 || (b->solid && g->weighs) || g->around;
        if (!needed && (!shown || g->scope->file->compiler.discard_visual)) {
            continue;
        }
        mjcf_open_item(w, &list, g->item.at);
        put_shape(w, c, g, shown);
    }
    mjcf_close_list(w, &list);
}

static void put_sites(mjcf_work *w, const mjcf_body *b) {
    const mjcf_model *m = &w->model;
    mjcf_list list = {.key = "sites"};
    for (int k = b->site; k >= 0; k = m->site[k].next) {
        mjcf_open_item(w, &list, m->site[k].item.at);
        writer_put_text(w->out, "name", m->site[k].name);
        mjcf_put_place(w->out, "pose", m->site[k].place);
        writer_close(w->out, '}');
    }
    mjcf_close_list(w, &list);
}

/* ---- bodies ---- */

static void begin_body(mjcf_work *w, const xml_element *at, const char *name, const char *parent, mjcf_place place) {
    mjcf_here(w, at);
    writer_open(w->out, NULL, '{');
    writer_put_text(w->out, "name", name);
    if (parent) {
        writer_put_text(w->out, "parent", parent);
    }
    mjcf_put_place(w->out, "pose", place);
}

static const char *link_name(mjcf_work *w, const mjcf_joint *j) {
    if (j->name) {
        return mjcf_take_link(w, j->name, -1);
    }
    char wanted[260];
    snprintf(wanted, sizeof wanted, "%.200s_joint", w->model.body[j->body].name);
    return mjcf_take_link(w, pool_text(w->pool, wanted), -1);
}

/* The point of a joint; of a slide any will do. */
static sim_v3 joint_point(const mjcf_joint *j, sim_v3 before) {
    sim_v3 origin = {0, 0, 0};
    return j->type != MJCF_SLIDE ? j->pos : j->next < 0 ? origin : before;
}

static void put_body(mjcf_work *w, const mjcf_contacts *c, mjcf_body *b) {
    mjcf_model *m = &w->model;
    /* links of all joints but the last */
    const char *parent = b->parent > 0 ? m->body[b->parent].name : NULL;
    mjcf_place place = b->place;
    sim_v3 point = {0, 0, 0};
    bool open = false;
    for (int k = b->joint; k >= 0; k = m->joint[k].next) {
        mjcf_joint *j = &m->joint[k];
        j->pos = joint_point(j, point);
        bool carries = j->next < 0 && j->pos.x == 0 && j->pos.y == 0 && j->pos.z == 0;
        j->link = carries ? b->name : link_name(w, j);
        begin_body(w, carries ? b->item.at : j->item.at, j->link, parent, mjcf_product(place, link_place(j, point)));
        put_joint(w, j);
        open = carries;
        if (!carries) {
            writer_close(w->out, '}');
        }
        parent = j->link;
        point = j->pos;
        place = mjcf_identity();
    }
    /* the body itself */
    if (!open) {
        mjcf_place rest = b->joint >= 0 ? (mjcf_place){v3_neg(point), {1, 0, 0, 0}} : place;
        begin_body(w, b->item.at, b->name, parent, rest);
    }
    put_inertia(w, b);
    put_shapes(w, c, b);
    mjcf_put_drag(w, b);
    put_sites(w, b);
    writer_close(w->out, '}');
}

/* Shapes of the world need a body. */
static void put_world(mjcf_work *w, const mjcf_contacts *c) {
    mjcf_body *b = &w->model.body[0];
    if (b->geom < 0 && b->site < 0) {
        return;
    }
    b->name = mjcf_take_link(w, "world_body", -1);
    begin_body(w, w->model.files->root, b->name, NULL, mjcf_identity());
    put_shapes(w, c, b);
    put_sites(w, b);
    writer_close(w->out, '}');
}

/* Spring and damper of a joint by their time constant and ratio, with its inertia at the reference pose. */
static void list_springs(mjcf_work *w) {
    mjcf_model *m = &w->model;
    for (int k = 0; k < m->njoint; k++) {
        mjcf_joint *j = &m->joint[k];
        double time = j->springdamper[0], ratio = j->springdamper[1];
        if (!(time > 0 && ratio > 0)) {
            continue;
        }
        if (j->type == MJCF_FREE || !mjcf_find_weights(w)) {
            xml_error(w->report, j->item.at, "springdamper", NULL,
                      j->type == MJCF_FREE ? "a free joint has several inertias: give \"stiffness\" and \"damping\""
                                           : "the mass matrix at the reference pose is singular, or too large");
            mjcf_refuse(w);
            return;
        }
        double inertia = 1 / mjcf_joint_weight(m, j);
        j->stiffness = m->files->option.no_spring ? 0 : inertia / (time * time * ratio * ratio);
        j->damping = m->files->option.no_damper ? 0 : 2 * inertia / time;
    }
}

void mjcf_put_bodies(mjcf_work *w) {
    mjcf_contacts contacts = {0};
    mjcf_model *m = &w->model;
    list_springs(w);
    mjcf_find_contacts(w, &contacts);
    mjcf_here(w, m->files->root);
    mjcf_put_surfaces(w, &contacts);
    mjcf_here(w, m->files->root);
    writer_open(w->out, "bodies", '[');
    put_world(w, &contacts);
    for (int k = 1; k < m->nbody && w->good; k++) {
        put_body(w, &contacts, &m->body[k]);
    }
    mjcf_here(w, m->files->root);
    writer_close(w->out, ']');
}
