/* A scene in DART, with its defaults: FCL's collision on meshes of the shapes, Dantzig's pivots, and projected
 * Gauss-Seidel where these fail; or DART's own collision of boxes and balls.
 *
 * Neither way of collision knows half-spaces: a box of the same surface stands for each.  The friction of a pair is the
 * lesser of the two, and all are the same.  DART does not report whether a step was solved. */
#include "beside.h"

#include <cstdio>
#include <cstring>
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/config.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#include <string>
#include <vector>

namespace {

using namespace dart::dynamics;

constexpr double GROUND = 20; // m, edge of the box that stands for a half-space

struct Theirs {
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<BodyNode *> bodies;
};

Eigen::Vector3d vector(const double *v) { return {v[0], v[1], v[2]}; }

Eigen::Isometry3d pose_of(const beside_state &x) {
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.linear() = Eigen::Quaterniond(x.quaternion[0], x.quaternion[1], x.quaternion[2], x.quaternion[3]).matrix();
    pose.translation() = vector(x.position);
    return pose;
}

ShapePtr make_shape(const beside_body &b) {
    if (b.shape == BESIDE_BALL) {
        return std::make_shared<SphereShape>(b.size[0]);
    }
    if (b.shape == BESIDE_BOX) {
        return std::make_shared<BoxShape>(vector(b.size));
    }
    return std::make_shared<BoxShape>(Eigen::Vector3d::Constant(GROUND));
}

void add_shape(BodyNode *node, const beside_body &b, double friction) {
    auto *shape = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(make_shape(b));
    shape->getDynamicsAspect()->setFrictionCoeff(friction);
    if (b.shape == BESIDE_HALF_SPACE) {
        shape->setRelativeTranslation({0, 0, -GROUND / 2});
    }
}

void add_fixed(Theirs &t, const beside_body &b, double friction) {
    auto skeleton = Skeleton::create("fixed" + std::to_string(t.world->getNumSkeletons()));
    WeldJoint::Properties weld;
    weld.mT_ParentBodyToJoint = pose_of(b.start);
    add_shape(skeleton->createJointAndBodyNodePair<WeldJoint>(nullptr, weld).second, b, friction);
    skeleton->setMobile(false);
    t.world->addSkeleton(skeleton);
}

void add_moving(Theirs &t, const beside_body &b, double friction) {
    auto skeleton = Skeleton::create("body" + std::to_string(t.world->getNumSkeletons()));
    auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
    add_shape(pair.second, b, friction);
    pair.second->setInertia(Inertia(b.mass, Eigen::Vector3d::Zero(), vector(b.inertia).asDiagonal().toDenseMatrix()));
    pair.first->setTransform(pose_of(b.start));
    pair.first->setLinearVelocity(vector(b.start.velocity));
    pair.first->setAngularVelocity(vector(b.start.spin));
    t.bodies.push_back(pair.second);
    t.world->addSkeleton(skeleton);
}

void *make(const beside_scene *scene, const char *variant) {
    auto *t = new Theirs;
    if (std::strcmp(variant, "own") == 0) {
        t->world->getConstraintSolver()->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
    }
    t->world->setTimeStep(scene->step);
    t->world->setGravity(vector(scene->gravity));
    for (int k = 0; k < scene->count; k++) {
        const beside_body &b = scene->body[k];
        (b.mass > 0 ? add_moving : add_fixed)(*t, b, scene->friction);
    }
    return t;
}

int step(void *world) {
    static_cast<Theirs *>(world)->world->step();
    return -1;
}

void read_state(const void *world, int body, beside_state *state) {
    const BodyNode *node = static_cast<const Theirs *>(world)->bodies[static_cast<size_t>(body)];
    const Eigen::Isometry3d &pose = node->getWorldTransform();
    const Eigen::Quaterniond q(pose.linear());
    const Eigen::Vector3d p = pose.translation(), v = node->getLinearVelocity(), w = node->getAngularVelocity();
    const double turn[] = {q.w(), q.x(), q.y(), q.z()};
    std::memcpy(state->quaternion, turn, sizeof turn);
    std::memcpy(state->position, p.data(), sizeof state->position);
    std::memcpy(state->velocity, v.data(), sizeof state->velocity);
    std::memcpy(state->spin, w.data(), sizeof state->spin);
}

void destroy(void *world) { delete static_cast<Theirs *>(world); }

const char *version() { return DART_VERSION; }

} // namespace

int main(int count, char **word) {
    static const beside_engine engine = {"DART", "default own", make, version, step, read_state, destroy};
    return beside_main(count, word, &engine);
}
