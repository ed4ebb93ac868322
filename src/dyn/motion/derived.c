/* Memory of all quantities that follow from (model, q, v), in one block. */
#include "base/pool.h"
#include "dyn/motion/lanes.h"
#include "dyn/motion/tendon.h"
#include "model/parts/joint.h"

/* Body 0 is the world. */
sim_range sim_all(const sim_model *model) { return (sim_range){1, model->nbody}; }

sim_range sim_tree_range(const sim_model *model, int tree) {
    const sim_tree *t = &model->tree[tree];
    return (sim_range){t->body0, t->body0 + t->nbody};
}

sim_range sim_dof_range(const sim_model *model, sim_range bodies) {
    if (bodies.first >= bodies.end) {
        return (sim_range){0, 0};
    }
    const sim_body *last = &model->body[bodies.end - 1];
    return (sim_range){model->body[bodies.first].v0, last->v0 + last->nv};
}

static int count_angles(const sim_model *model) {
    const sim_body *last = &model->body[model->nbody - 1];
    return model->rotation[model->nbody - 1].angle0 + joint_facts_of(last->joint)->angles;
}

sim_derived *sim_derived_create(const sim_model *model, sim_error *error) {
    /* memory for kinematics and for all algorithms of the tree */
    memory_pool *pool = pool_create();
    sim_derived *d = pool ? POOL_NEW(pool, sim_derived, 1) : NULL;
    bool spread = true;
    if (d) {
        int n = model->nbody, nv = model->nv, angles = count_angles(model);
        d->model = model;
        d->memory = pool;
        d->pose = POOL_NEW(pool, sim_pose, n);
        d->r = POOL_NEW(pool, sim_v3, n);
        d->S = POOL_NEW(pool, sim_motion, nv);
        d->I = POOL_NEW(pool, sim_body_inertia, n);
        d->angle = POOL_NEW(pool, double, angles);
        d->sine = POOL_NEW(pool, double, angles);
        d->cosine = POOL_NEW(pool, double, angles);
        d->vel = POOL_NEW(pool, sim_motion, n);
        d->bias_acc = POOL_NEW(pool, sim_motion, n);
        d->bias_force = POOL_NEW(pool, sim_force, n);
        d->Ic = POOL_NEW(pool, sim_body_inertia, n);
        d->IA = POOL_NEW(pool, lanes66, n);
        d->U = POOL_NEW(pool, lanes6, nv);
        d->Dinv = POOL_NEW(pool, double, nv);
        d->acc = POOL_NEW(pool, sim_motion, n);
        d->force = POOL_NEW(pool, sim_force, n);
        d->u = POOL_NEW(pool, double, nv);
        d->from_root = POOL_NEW(pool, sim_v3, n);
        d->reached = POOL_NEW(pool, char, n);
        d->tendon_initial = POOL_NEW(pool, double, model->ntendon);
        for (int c = 0; c < 9; c++) {
            d->spread[c] = POOL_NEW(pool, double, nv);
            spread &= d->spread[c] != NULL;
        }
        d->bytes = pool_bytes(pool);
    }
    /* all of it, or nothing */
    if (!d || !d->pose || !d->r || !d->S || !d->I || !d->angle || !d->sine || !d->cosine || !d->vel || !d->bias_acc ||
        !d->bias_force || !d->Ic || !d->IA || !d->U || !d->Dinv || !d->acc || !d->force || !d->u || !d->from_root ||
        !d->reached || !d->tendon_initial || !spread) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for the dynamics of %d bodies", model->nbody);
        return NULL;
    }
    /* the world's pose and initial lengths are constant */
    d->pose[0] = pose_identity();
    tendon_measure_initial(d);
    return d;
}

void sim_derived_free(sim_derived *d) {
    if (d) {
        pool_free(d->memory);
    }
}
