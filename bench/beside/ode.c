/* A scene in ODE, with its default error reduction and softness: dWorldStep (Lemke's and Dantzig's pivots), or
 * dWorldQuickStep (20 sweeps of projected Gauss-Seidel).
 *
 * A contact gets Coulomb's coefficient through dContactApprox1; without that word mu would be a force.  At most eight
 * contacts a pair.  A step of dWorldStep counts as unsolved if ODE printed a message; QuickStep does not report. */
#include "beside.h"

#include <ode/ode.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTACTS_OF_A_PAIR = 8 };

typedef struct theirs {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *body;
    double step, friction;
    int (*advance)(dWorldID, dReal);
} theirs;

/* ODE's handler of messages takes no pointer of ours, hence the only variable of this file. */
static int messages;

static void count_message(int number, const char *text, va_list values) {
    (void)number, (void)text, (void)values;
    messages++;
}

static dGeomID make_geom(dSpaceID space, const beside_body *b) {
    const double *s = b->size, *p = b->start.position;
    if (b->shape == BESIDE_BALL) {
        return dCreateSphere(space, s[0]);
    }
    if (b->shape == BESIDE_BOX) {
        return dCreateBox(space, s[0], s[1], s[2]);
    }
    double normal[3];
    beside_rotate(b->start.quaternion, (const double[]){0, 0, 1}, normal);
    return dCreatePlane(space, normal[0], normal[1], normal[2], normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2]);
}

static dBodyID make_body(dWorldID world, dGeomID geom, const beside_body *b) {
    const beside_state *x = &b->start;
    dMass mass;
    dBodyID body = dBodyCreate(world);
    dMassSetParameters(&mass, b->mass, 0, 0, 0, b->inertia[0], b->inertia[1], b->inertia[2], 0, 0, 0);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x->position[0], x->position[1], x->position[2]);
    dBodySetQuaternion(body, x->quaternion);
    dBodySetLinearVel(body, x->velocity[0], x->velocity[1], x->velocity[2]);
    dBodySetAngularVel(body, x->spin[0], x->spin[1], x->spin[2]);
    return body;
}

static void destroy(void *world) {
    theirs *t = world;
    dJointGroupDestroy(t->contacts);
    dSpaceDestroy(t->space);
    dWorldDestroy(t->world);
    dCloseODE();
    free(t->body);
    free(t);
}

static void *make(const beside_scene *scene, const char *variant) {
    theirs *t = calloc(1, sizeof *t);
    dBodyID *body = calloc((size_t)scene->count, sizeof *body);
    if (!t || !body || !dInitODE2(0)) {
        fprintf(stderr, "ODE: no memory\n");
        exit(1);
    }
    *t = (theirs){dWorldCreate(),
                  dHashSpaceCreate(NULL),
                  dJointGroupCreate(0),
                  body,
                  scene->step,
                  scene->friction,
                  strcmp(variant, "quick") == 0 ? dWorldQuickStep : dWorldStep};
    dSetMessageHandler(count_message);
    dWorldSetGravity(t->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    for (int k = 0; k < scene->count; k++) {
        const beside_body *b = &scene->body[k];
        dGeomID geom = make_geom(t->space, b);
        if (b->mass > 0) {
            body[k] = make_body(t->world, geom, b);
        } else if (b->shape != BESIDE_HALF_SPACE) {
            dGeomSetPosition(geom, b->start.position[0], b->start.position[1], b->start.position[2]);
            dGeomSetQuaternion(geom, b->start.quaternion);
        }
    }
    return t;
}

static void make_contacts(void *world, dGeomID a, dGeomID b) {
    theirs *t = world;
    dContact contact[MAX_CONTACTS_OF_A_PAIR] = {0};
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b) {
        return;
    }
    int count = dCollide(a, b, MAX_CONTACTS_OF_A_PAIR, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; k++) {
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = t->friction;
        dJointAttach(dJointCreateContact(t->world, t->contacts, &contact[k]), body_a, body_b);
    }
}

static int step(void *world) {
    theirs *t = world;
    dSpaceCollide(t->space, t, make_contacts);
    messages = 0;
    t->advance(t->world, t->step);
    dJointGroupEmpty(t->contacts);
    return t->advance == dWorldQuickStep ? -1 : messages > 0;
}

static void read_state(const void *world, int body, beside_state *state) {
    dBodyID b = ((const theirs *)world)->body[body];
    memcpy(state->position, dBodyGetPosition(b), sizeof state->position);
    memcpy(state->quaternion, dBodyGetQuaternion(b), sizeof state->quaternion);
    memcpy(state->velocity, dBodyGetLinearVel(b), sizeof state->velocity);
    memcpy(state->spin, dBodyGetAngularVel(b), sizeof state->spin);
}

static const char *version(void) { return dODE_VERSION; }

int main(int count, char **word) {
    static const beside_engine engine = {"ODE", "default quick", make, version, step, read_state, destroy};
    return beside_main(count, word, &engine);
}
