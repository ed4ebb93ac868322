/* Pressure fields of soft shapes: each built once for all equal shapes. */
#include "scene/loader/loader.h"

#include <string.h>

struct pressure_entry {
    sim_shape of; /* its type, size and geometry */
    double edge;  /* m; 0: the default */
    const sim_geometry *field;
    struct pressure_entry *next;
};

static bool is_same_solid(const pressure_entry *e, const sim_shape *shape, double edge) {
    return e->of.type == shape->type && e->of.geometry == shape->geometry && e->edge == edge &&
           memcmp(e->of.size, shape->size, sizeof shape->size) == 0;
}

static const sim_geometry *find_pressure(loader *l, const node *at, const sim_shape *shape, double edge) {
    /* an equal one */
    for (const pressure_entry *e = l->pressures; e; e = e->next) {
        if (is_same_solid(e, shape, edge)) {
            return e->field;
        }
    }
    /* a new one */
    sim_error why = {0};
    sim_geometry *made = sim_shape_pressure(shape, edge, &why);
    if (!made) {
        report_geometry(l, at, &why);
        return NULL;
    }
    /* kept for the next */
    pressure_entry *e = POOL_NEW(l->work, pressure_entry, 1);
    const sim_geometry *kept = sim_builder_add_geometry(l->builder, made);
    if (!e || !kept) {
        l->report.no_memory = true;
        return NULL;
    }
    *e = (pressure_entry){*shape, edge, kept, l->pressures};
    l->pressures = e;
    return kept;
}

bool add_shape_pressure(loader *l, const shape_data *d, sim_shape *shape) {
    const node *at = node_member(d->at, "compliance"), *edge = node_member(d->at, "field_edge");
    if (!(note_material(l, shape->material, true) > 0)) {
        report_once(&l->report, at, "add it to the material", "a pressure field needs a material with a \"modulus\"");
        return false;
    }
    shape->pressure = find_pressure(l, edge ? edge : at, shape, edge ? d->field_edge : 0);
    return shape->pressure != NULL;
}
