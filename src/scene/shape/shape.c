/* Shapes of a body, and their mass.  A compound is as many shapes as it has parts. */
#include "math/spatial.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <float.h>
#include <string.h>

/* Caller and purpose of a visit of shapes. */
typedef struct visit {
    loader *l;
    const entry *e;
    const body_data *body;
    bool (*each)(const struct visit *v, const shape_data *d, const sim_shape *shape);
    sim_inertia *sum;
} visit;

enum { STEPS_PER_SHAPE = 100 }; /* measured */

static void shape_size(const shape_data *d, double size[3]) {
    memset(size, 0, 3 * sizeof *size);
    if (d->type == SIM_BOX || d->type == SIM_ELLIPSOID) {
        memcpy(size, d->type == SIM_BOX ? d->size : d->radii, 3 * sizeof *size);
    } else if (d->type < SIM_HALF_SPACE) {
        size[0] = d->radius;
        size[1] = d->length;
    }
}

/* The surface properties of a shape; those of its compound where it states none. */
static bool read_surface(const visit *v, const shape_data *d, bool is_part, sim_shape *shape) {
    if (d->material) {
        shape->material = material_index_of(v->l, v->e->scope->document, d->material, node_member(d->at, "material"));
    }
    const node *color = node_member(d->at, "color");
    for (int i = 0; i < 4 && color; i++) {
        shape->color[i] = i < color->count ? (float)d->color[i] : 1;
    }
    if (!is_part || node_member(d->at, "group")) {
        shape->group = (uint32_t)d->group;
    }
    if (!is_part || node_member(d->at, "mask")) {
        shape->mask = (uint32_t)d->mask;
    }
    if (!is_part || node_member(d->at, "across_joint")) {
        shape->across_joint = d->across_joint;
    }
    if (node_member(d->at, "use")) {
        shape->hidden = d->use == USE_CONTACT;
    }
    if (node_member(d->at, "use") && d->use == USE_PICTURE) {
        shape->group = shape->mask = 0;
    }
    if (node_member(d->at, "surface_velocity")) {
        const double *belt = d->surface_velocity;
        shape->surface_velocity = v3_make(belt[0], belt[1], belt[2]);
        shape->surface_spin = v3_make(belt[3], belt[4], belt[5]);
    }
    const node *direction = node_member(d->at, "friction_direction");
    if (direction) {
        v3 along = v3_make(d->friction_direction[0], d->friction_direction[1], d->friction_direction[2]);
        if (!(v3_norm(along) > 0)) {
            report_once(&v->l->report, direction, NULL, "a direction must not be the zero vector");
            return false;
        }
        shape->friction_direction = along;
    }
    return shape->material >= 0;
}

static bool read_solid(const visit *v, const shape_data *d, sim_shape *shape) {
    shape->type = (sim_shape_type)d->type;
    shape_size(d, shape->size);
    if (sim_shape_geometry(shape->type) < SIM_GEOMETRY_TYPES) {
        shape->geometry = find_shape_geometry(v->l, v->e->scope->document, d);
        return shape->geometry;
    }
    if (v->e->moves && shape->type == SIM_HALF_SPACE) {
        report_once(&v->l->report, d->at, NULL, "a half-space needs a body that cannot move; \"%.80s\" can",
                    v->e->name);
        return false;
    }
    return true;
}

static bool visit_shapes(const visit *v, const node *shapes, const sim_shape *compound);

/* `compound`: properties for its parts, and its pose; NULL for a single shape. */
static bool visit_shape(const visit *v, const node *n, const sim_shape *compound) {
    shape_data d;
    pose own;
    if (!loader_spend(v->l, STEPS_PER_SHAPE, n)) {
        return false;
    }
    if (!loader_read(v->l, n, &table_shape, &d) || !placement_read(&v->l->report, &d.pose, &own)) {
        return false;
    }
    sim_shape shape = compound ? *compound : sim_shape_default();
    shape.name = d.name;
    shape.body = v->e->index;
    shape.pose = compound ? pose_product(compound->pose, own) : own;
    bool good = read_surface(v, &d, compound, &shape);
    if (d.type == COMPOUND) {
        return visit_shapes(v, d.shapes, &shape) && good;
    }
    good &= read_solid(v, &d, &shape);
    return good && v->each(v, &d, &shape);
}

static bool visit_shapes(const visit *v, const node *shapes, const sim_shape *compound) {
    bool good = true;
    for (const node *n = shapes ? shapes->first : NULL; n; n = n->next) {
        good &= visit_shape(v, n, compound);
    }
    return good;
}

static bool add_shape_inertia(const visit *v, const shape_data *d, const sim_shape *shape) {
    /* density or mass, unless the body's inertia is given */
    const node *density = node_member(d->at, "density"), *mass = node_member(d->at, "mass");
    const node *given = density ? density : mass;
    if (!given) {
        return true;
    }
    if (v->body->inertia.at) {
        report_once(&v->l->report, given, "remove one of them",
                    "the body's inertia is given, and so is the %s of a shape", density ? "density" : "mass");
        return false;
    }
    /* mass properties at the given density, or at 1 to be scaled to the mass */
    sim_inertia own = sim_shape_inertia(shape, density ? d->density : 1);
    bool hollow = shape->geometry && !(shape->geometry->solid.mass > 0);
    if (!(own.mass > 0) && !hollow) {
        report_once(&v->l->report, given, NULL, "the mass of the shape is below the smallest double, %g kg",
                    DBL_TRUE_MIN);
        return false;
    }
    if (!(own.mass > 0)) {
        report_once(&v->l->report, given, "close it, or give the body an inertia",
                    "the surface is open or encloses no volume, so it has no mass");
        return false;
    }
    if (mass) {
        own = sim_shape_inertia(shape, d->mass / own.mass);
        own.mass = d->mass;
    }
    /* in the body frame, added to those of the other shapes */
    sim_error why;
    if (sim_inertia_check(&own, &why)) {
        report_once(&v->l->report, given, NULL, "%s", why.text);
        return false;
    }
    own = sim_inertia_placed(&own, &shape->pose);
    *v->sum = sim_inertia_add(v->sum, &own);
    return true;
}

/* Parts have the contacts of a mesh, which is only drawn; or the parts are, each in its own colour. */
static bool add_parts(const visit *v, const shape_data *d, const sim_shape *shape) {
    static const float color[6][3] = {{0.9f, 0.4f, 0.3f}, {0.3f, 0.6f, 0.9f}, {0.5f, 0.8f, 0.4f},
                                      {0.9f, 0.8f, 0.3f}, {0.7f, 0.5f, 0.9f}, {0.4f, 0.8f, 0.8f}};
    const sim_geometry *const *part = NULL;
    int count = find_shape_parts(v->l, d, &part);
    bool good = count > 0, show = d->decompose.show && !shape->hidden;
    sim_shape drawn = *shape;
    drawn.group = drawn.mask = 0;
    if (good && !show && !shape->hidden) {
        good = sim_builder_add_shape(v->l->builder, &drawn) >= 0;
    }
    for (int k = 0; k < count && good; k++) {
        sim_shape s = *shape;
        s.type = SIM_CONVEX;
        s.geometry = part[k];
        s.hidden = !show;
        for (int i = 0; i < 4 && show; i++) {
            s.color[i] = i < 3 ? color[k % 6][i] : 1;
        }
        good = sim_builder_add_shape(v->l->builder, &s) >= 0;
    }
    return good;
}

static bool add_to_builder(const visit *v, const shape_data *d, const sim_shape *shape) {
    /* keys that exclude or need each other */
    if (d->decompose.at && d->compliance == COMPLIANT_FIELD) {
        report_once(&v->l->report, d->decompose.at, NULL, "a shape is decomposed or has a pressure field, not both");
        return false;
    }
    const node *edge = node_member(d->at, "field_edge");
    if (edge && d->compliance != COMPLIANT_FIELD) {
        report_once(&v->l->report, edge, NULL, "\"field_edge\" needs \"compliance\": \"field\"");
        return false;
    }
    /* parts, or one shape, soft or not */
    if (d->decompose.at && (shape->group || shape->mask)) {
        return add_parts(v, d, shape);
    }
    sim_shape soft = *shape;
    if (d->compliance == COMPLIANT_FIELD && !add_shape_pressure(v->l, d, &soft)) {
        return false;
    }
    if (d->compliance != COMPLIANT_FIELD && shape->material >= 0 && (shape->group || shape->mask)) {
        note_material(v->l, shape->material, false);
    }
    int index = sim_builder_add_shape(v->l->builder, &soft);
    if (shape->type == SIM_SPHERE || shape->type == SIM_CYLINDER) {
        note_round_shape(v->l, v->e, d->name, index);
    }
    return index >= 0;
}

bool shapes_add_mass(loader *l, const entry *e, const body_data *b, sim_inertia *sum) {
    return visit_shapes(&(visit){l, e, b, add_shape_inertia, sum}, b->shapes, NULL);
}

void shapes_build(loader *l, const entry *e, const body_data *b) {
    visit_shapes(&(visit){l, e, b, add_to_builder, NULL}, b->shapes, NULL);
}
