/* A scene in Bullet, with its default sequential impulses (10 sweeps) in single precision, as Debian's package has it.
 *
 * The friction of a pair is the product of the two, so each body gets the square root.  Bodies do not fall asleep: the
 * other engines work at rest, too.  Bullet does not report whether a step was solved. */
#include "beside.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Theirs {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btScalar step = 0;
};

btVector3 vector(const double *v) {
    return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

std::unique_ptr<btCollisionShape> make_shape(const beside_body &b) {
    if (b.shape == BESIDE_BALL) {
        return std::make_unique<btSphereShape>(static_cast<btScalar>(b.size[0]));
    }
    if (b.shape == BESIDE_BOX) {
        return std::make_unique<btBoxShape>(vector(b.size) / 2);
    }
    return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar(0));
}

std::unique_ptr<btRigidBody> make_body(const beside_body &b, btCollisionShape *shape, double friction) {
    const double *q = b.start.quaternion;
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(b.mass), nullptr, shape, vector(b.inertia));
    btQuaternion turn(static_cast<btScalar>(q[1]), static_cast<btScalar>(q[2]), static_cast<btScalar>(q[3]),
                      static_cast<btScalar>(q[0]));
    info.m_startWorldTransform = btTransform(turn, vector(b.start.position));
    info.m_friction = static_cast<btScalar>(std::sqrt(friction));
    auto body = std::make_unique<btRigidBody>(info);
    body->setLinearVelocity(vector(b.start.velocity));
    body->setAngularVelocity(vector(b.start.spin));
    body->setActivationState(DISABLE_DEACTIVATION);
    return body;
}

void *make(const beside_scene *scene, const char *) {
    auto *t = new Theirs;
    t->step = static_cast<btScalar>(scene->step);
    t->world.setGravity(vector(scene->gravity));
    for (int k = 0; k < scene->count; k++) {
        t->shapes.push_back(make_shape(scene->body[k]));
        t->bodies.push_back(make_body(scene->body[k], t->shapes.back().get(), scene->friction));
        t->world.addRigidBody(t->bodies.back().get());
    }
    return t;
}

int step(void *world) {
    auto *t = static_cast<Theirs *>(world);
    t->world.stepSimulation(t->step, 0);
    return -1;
}

void read_state(const void *world, int body, beside_state *state) {
    const btRigidBody &b = *static_cast<const Theirs *>(world)->bodies[static_cast<size_t>(body)];
    const btQuaternion q = b.getOrientation();
    const double turn[] = {q.w(), q.x(), q.y(), q.z()};
    std::memcpy(state->quaternion, turn, sizeof turn);
    for (int i = 0; i < 3; i++) {
        state->position[i] = b.getCenterOfMassPosition()[i];
        state->velocity[i] = b.getLinearVelocity()[i];
        state->spin[i] = b.getAngularVelocity()[i];
    }
}

void destroy(void *world) {
    auto *t = static_cast<Theirs *>(world);
    for (auto &body : t->bodies) {
        t->world.removeRigidBody(body.get());
    }
    delete t;
}

const char *version() {
    static const std::string text = std::to_string(btGetVersion() / 100) + "." + std::to_string(btGetVersion() % 100);
    return text.c_str();
}

} // namespace

int main(int count, char **word) {
    static const beside_engine engine = {"Bullet", "default", make, version, step, read_state, destroy};
    return beside_main(count, word, &engine);
}
