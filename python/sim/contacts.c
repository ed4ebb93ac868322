/* Contacts of worlds as structured arrays. */
#include "module.h"

#define WORLD(object) ((WorldObject *)(object))

typedef struct contact_record {
    int body_a, body_b, shape_a, shape_b;
    sim_v3 position, normal;
    double gap;
    sim_v3 impulse, force;
    double friction, stiffness, dissipation, restitution, area;
} contact_record;

#define FIELD(member, type, help)                                                                                      \
    { #member, type, offsetof(contact_record, member), help }

static const record_field contact_fields[] = {
    FIELD(body_a, 'i', "bodies"),
    FIELD(body_b, 'i', ""),
    FIELD(shape_a, 'i', "shapes, shape_a < shape_b"),
    FIELD(shape_b, 'i', ""),
    FIELD(position, 'v', "m, in the world"),
    FIELD(normal, 'v', "unit vector from B to A"),
    FIELD(gap, 'd', "m, negative inside"),
    FIELD(impulse, 'v', "N s, in the world, on A"),
    FIELD(force, 'v', "N, likewise: impulse over dt"),
    FIELD(friction, 'd', "of the two materials"),
    FIELD(stiffness, 'd', "N/m"),
    FIELD(dissipation, 'd', "s"),
    FIELD(restitution, 'd', ""),
    FIELD(area, 'd', "m^2, of a polygon between pressure fields; 0 of a point"),
    {0},
};

/* `impulse` NULL: none is known. */
static PyObject *contact_array(const sim_contact *contact, const sim_v3 *impulse, int count, double dt) {
    PyArray_Descr *dtype = record_dtype(contact_fields, sizeof(contact_record));
    npy_intp size = count;
    PyObject *array = dtype ? PyArray_Zeros(1, &size, dtype, 0) : NULL; /* steals dtype */
    contact_record *to = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
    for (int k = 0; array && k < count; k++) {
        const sim_contact *c = &contact[k];
        sim_v3 g = impulse ? impulse[k] : (sim_v3){0, 0, 0};
        to[k] = (contact_record){c->body_a,
                                 c->body_b,
                                 c->shape_a,
                                 c->shape_b,
                                 c->at.position,
                                 c->at.normal,
                                 c->at.gap,
                                 g,
                                 {g.x / dt, g.y / dt, g.z / dt},
                                 c->friction,
                                 c->stiffness,
                                 c->dissipation,
                                 c->restitution,
                                 c->at.area};
    }
    return array;
}

PyObject *get_contacts(PyObject *o, void *none) {
    (void)none;
    if (!world_is_free(WORLD(o))) {
        return NULL;
    }
    const sim_state *s = sim_world_state(WORLD(o)->world);
    return contact_array(s->contact, s->impulse, s->ncontact, sim_world_options(WORLD(o)->world)->step);
}

PyObject *world_collide(PyObject *o, PyObject *none) {
    (void)none;
    const sim_contact *contact = NULL;
    int count = 0;
    sim_error error;
    if (!world_sync(WORLD(o))) {
        return NULL;
    }
    if (sim_world_contacts(WORLD(o)->world, &contact, &count, &error)) {
        return raise_error(&error);
    }
    return contact_array(contact, NULL, count, 1);
}
