/* The fluid, and the resistance of bodies in it: checks of the builder. */
#include "model/builder/core/builder.h"

#include <math.h>

const char *sim_drag_name(sim_drag_type type) {
    static const char *const name[SIM_DRAG_TYPES] = {"none", "box", "ellipsoid"};
    return type >= 0 && type < SIM_DRAG_TYPES ? name[type] : NULL;
}

void sim_builder_fluid(sim_builder *b, const sim_fluid *fluid) {
    if (!b || b->error.status) {
        return;
    }
    const sim_v3 *u = &fluid->wind;
    if (!(fluid->density >= 0 && fluid->viscosity >= 0) || !isfinite(fluid->density + fluid->viscosity) ||
        !isfinite(u->x + u->y + u->z)) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "a fluid needs a density, a viscosity, both finite and not negative, and a finite wind");
        return;
    }
    b->fluid = *fluid;
}

void sim_builder_add_drag(sim_builder *b, const sim_drag *given) {
    if (!b || b->error.status || builder_check_body(b, given->body, "the resistance in a fluid")) {
        return;
    }
    /* type, place, size, coefficients */
    double sum = given->blunt + given->slender + given->angular + given->kutta + given->magnus;
    bool sized = given->type == SIM_DRAG_NONE || (given->size[0] > 0 && given->size[1] > 0 && given->size[2] > 0 &&
                                                  isfinite(given->size[0] + given->size[1] + given->size[2]));
    bool dragging = given->blunt >= 0 && given->slender >= 0 && given->angular >= 0;
    if (given->type < 0 || given->type >= SIM_DRAG_TYPES || !builder_proper_pose(&given->pose) || !sized || !dragging ||
        !isfinite(sum)) {
        builder_refuse(b, SIM_BAD_INPUT,
                       "the resistance of body \"%s\" in a fluid needs a proper pose, three finite sizes above 0 and "
                       "coefficients of drag that are not negative",
                       b->body[given->body].name);
        return;
    }
    if (!builder_grow(b, (void **)&b->drag, b->ndrag, &b->drag_room, sizeof *b->drag)) {
        b->drag[b->ndrag++] = *given;
    }
}
