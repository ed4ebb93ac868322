/* Test of rest of a body.
 *
 *     |v_c| + |omega| r <= u   for the time T
 *
 * v_c [m/s] the velocity of its centre of mass, r [m] the distance from there to its farthest point, or its radius of
 * gyration sqrt(tr I / 2 m) if greater.  No point is faster than u.  Defaults follow from size and gravity g:
 *
 *     u = 10^-3 sqrt(g r),     T = 2 pi sqrt(R / g),     R along its tree, from the root to the farthest point:
 *
 * a thousandth of the speed sqrt(g r) that gravity gives over r, and one swing of a pendulum as long as the tree.
 *
 * So a body that falls asleep loses at most m u^2 / 2 = 10^-6 m g r / 2, as its kinetic energy is m v_c^2 / 2 + omega .
 * I omega / 2 and no principal moment exceeds m r^2.  A steady acceleration above 2 u / T, or u / T from rest (at R =
 * r: 1.6 10^-4 g), makes it faster than u within T. So a body that begins to slide, or turns at the end of a swing,
 * does not sleep.  Without gravity there are no defaults: only given values count. */
#include "collide/contact/bounds.h"
#include "math/v3.h"
#include "world/sleep/sleep.h"

#include <math.h>

enum { MIN_REST_STEPS = 10 };               /* however long they are */
static const double REST_SPEED_PART = 1e-3; /* of sqrt(g r), the speed that gravity gives over r */

/* Distances from the centre of mass: radius of gyration, farthest point of a shape. */
static double radius_of_gyration(const sim_inertia *I) {
    double turning = I->moment.xx + I->moment.yy + I->moment.zz;
    return I->mass > 0 && turning > 0 ? sqrt(0.5 * turning / I->mass) : 0;
}

static void find_sizes(const sim_model *m, double *radius, double *reach) {
    for (int i = 1; i < m->nbody; i++) {
        radius[i] = radius_of_gyration(&m->body[i].inertia);
        reach[i] = radius[i] + v3_norm(m->body[i].inertia.com);
    }
    for (int k = 0; k < m->nshape; k++) {
        const sim_shape *shape = &m->shape[k];
        bounding_ball ball = shape_ball(shape);
        if (shape->body > 0 && isfinite(ball.radius)) {
            v3 at = pose_point(shape->pose, ball.centre), com = m->body[shape->body].inertia.com;
            radius[shape->body] = fmax(radius[shape->body], v3_norm(v3_sub(at, com)) + ball.radius);
            reach[shape->body] = fmax(reach[shape->body], v3_norm(at) + ball.radius);
        }
    }
}

/* From the root of each tree to the farthest point along its bodies. */
static void find_lengths(const sim_model *m, const double *reach, double *path, double *length) {
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        path[i] = b->parent ? path[b->parent] + v3_norm(b->placement.p) : 0;
        length[b->tree] = fmax(length[b->tree], path[i] + reach[i]);
    }
}

/* A body without mass and extent moves with its children. */
static void set_limits(world_sleep *s, const double *length) {
    const sim_model *m = s->model;
    const sim_options *o = s->options;
    double g = v3_norm(m->gravity);
    for (int i = 1; i < m->nbody; i++) {
        const sim_body *b = &m->body[i];
        bool nothing = b->inertia.mass == 0 && s->radius[i] == 0;
        s->limit[i] = nothing                 ? INFINITY
                      : isnan(o->sleep_speed) ? REST_SPEED_PART * sqrt(g * s->radius[i])
                                              : o->sleep_speed;
        s->moves[i] = b->nv > 0 || s->moves[b->parent];
    }
    for (int t = 0; t < m->ntree; t++) {
        bool open = isnan(o->sleep_time);
        double steps = (open ? 2 * M_PI * sqrt(length[t] / g) : o->sleep_time) / o->step;
        steps = fmax(ceil(steps - 1e-9), open ? MIN_REST_STEPS : 1);
        s->enough[t] = steps < 1e18 ? (int64_t)steps : INT64_MAX; /* NAN: no length and no gravity */
    }
}

sim_status rest_test_create(world_sleep *s, memory_pool *pool) {
    const sim_model *m = s->model;
    memory_pool *scratch = pool_create();
    double *reach = scratch ? POOL_NEW(scratch, double, m->nbody) : NULL;
    double *path = scratch ? POOL_NEW(scratch, double, m->nbody) : NULL;
    double *length = scratch ? POOL_NEW(scratch, double, m->ntree) : NULL;
    s->radius = POOL_NEW(pool, double, m->nbody);
    s->limit = POOL_NEW(pool, double, m->nbody);
    s->enough = POOL_NEW(pool, int64_t, m->ntree);
    s->moves = POOL_NEW(pool, char, m->nbody);
    bool ok = reach && path && length && s->radius && s->limit && s->enough && s->moves;
    if (ok) {
        find_sizes(m, s->radius, reach);
        find_lengths(m, reach, path, length);
        set_limits(s, length);
    }
    pool_free(scratch);
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

bool rest_test(world_sleep *s, int tree) {
    const sim_derived *d = s->motion->derived;
    sim_range bodies = sim_tree_range(s->model, tree);
    sim_velocities(s->motion->derived, bodies, s->next->v);
    for (int i = bodies.first; i < bodies.end; i++) {
        motion v = d->vel[i];
        v3 c = d->I[i].mass > 0 ? v3_scale(1 / d->I[i].mass, d->I[i].h) : v3_make(0, 0, 0);
        double fastest = v3_norm(v3_add(v.lin, v3_cross(v.ang, c))) + v3_norm(v.ang) * s->radius[i];
        if (!(fastest <= s->limit[i])) {
            return false;
        }
    }
    return true;
}
