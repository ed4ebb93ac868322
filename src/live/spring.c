/* Spring that drags a body, from the grabbed point p to the mouse at t, critically damped for the effective mass at p:
 *
 *     f = m (w^2 (t - p) - 2 w dp/dt)          critically damped
 *     1/m = tr(J A^-1 J') / 3                  inverse effective mass at p, mean of all directions, 1/kg
 *     w^2 = 4 g / r                            the weight of a body of radius r stretches it by r / 4
 *
 * and w at most 1 / (4 h), so that the force, held through a step of h, stays a spring.  t - p counts up to 20 r.  On
 * the joints f acts as J' f. */
#include "live/spring.h"
#include "math/v3.h"
#include "view/mesh/sizes.h"

#include <stdlib.h>

static const double DEFAULT_RATE = 10; /* 1/s */

struct live_spring {
    const sim_model *model;
    sim_derived *derived;
    view_sizes sizes;
    double *jacobian, *column; /* [3][nv], [nv] */
    sim_point point;           /* of the world, body 0: none is held */
    sim_v3 target;
    int acts; /* forces of it stand in the world */
};

live_spring *live_spring_create(const sim_model *model) {
    live_spring *s = calloc(1, sizeof *s);
    if (s) {
        s->model = model;
        s->derived = sim_derived_create(model, NULL);
        s->jacobian = calloc(3 * (size_t)model->nv + 1, sizeof *s->jacobian);
        s->column = calloc((size_t)model->nv + 1, sizeof *s->column);
    }
    if (!s || !s->derived || !s->jacobian || !s->column || !view_sizes_find(&s->sizes, model)) {
        live_spring_free(s);
        return NULL;
    }
    return s;
}

void live_spring_free(live_spring *s) {
    if (s) {
        sim_derived_free(s->derived);
        view_sizes_free(&s->sizes);
        free(s->jacobian);
        free(s->column);
        free(s);
    }
}

void live_spring_hold(live_spring *s, sim_point point, sim_v3 target) {
    s->point = point;
    s->target = target;
}

void live_spring_release(live_spring *s) { s->point.body = 0; }

/* tr(J A^-1 J') / 3, 1/kg; leaves J behind. */
static double inverse_mass_at(live_spring *s, int tree) {
    const sim_tree *t = &s->model->tree[tree];
    sim_range range = sim_tree_range(s->model, tree);
    double sum = 0;
    sim_articulated_factor(s->derived, range, NULL, NULL);
    sim_point_jacobian(s->derived, s->point, s->jacobian);
    for (int k = 0; k < 3; k++) {
        const double *row = s->jacobian + k * t->nv;
        for (int j = 0; j < t->nv; j++) {
            s->column[t->v0 + j] = row[j];
        }
        sim_articulated_solve(s->derived, range, s->column);
        for (int j = 0; j < t->nv; j++) {
            sum += row[j] * s->column[t->v0 + j];
        }
    }
    return sum / 3;
}

static sim_v3 force_of(const live_spring *s, double step) {
    double r = s->sizes.body[s->point.body], g = v3_norm(s->model->gravity);
    double rate = fmin(g > 0 ? sqrt(4 * g / r) : DEFAULT_RATE, 0.25 / step);
    v3 stretch = v3_sub(s->target, sim_point_position(s->derived, s->point));
    double length = v3_norm(stretch);
    if (!(length <= 20 * r)) {
        stretch = isfinite(length) ? v3_scale(20 * r / length, stretch) : (v3){0, 0, 0};
    }
    v3 velocity = sim_point_velocity(s->derived, s->point);
    return v3_axpy(v3_scale(rate * rate, stretch), -2 * rate, velocity); /* of a mass of 1 */
}

void live_spring_pull(live_spring *s, sim_world *world) {
    /* remove the last force */
    double *applied = sim_world_applied(world);
    for (int j = 0; s->acts && j < s->model->nv; j++) {
        applied[j] = 0;
    }
    int tree = s->point.body ? s->model->body[s->point.body].tree : -1;
    s->acts = tree >= 0 && s->model->tree[tree].nv > 0;
    if (!s->acts) {
        return;
    }
    /* kinematics of the tree */
    sim_range range = sim_tree_range(s->model, tree);
    sim_kinematics(s->derived, range, sim_world_state(world)->q);
    sim_velocities(s->derived, range, sim_world_state(world)->v);
    /* force, for the inverse mass at the point */
    double yields = inverse_mass_at(s, tree);
    v3 f = yields > 0 ? v3_scale(1 / yields, force_of(s, sim_world_options(world)->step)) : (v3){0, 0, 0};
    /* generalised force J^T f */
    const sim_tree *t = &s->model->tree[tree];
    for (int j = 0; j < t->nv; j++) {
        const double *J = s->jacobian + j;
        applied[t->v0 + j] = J[0] * f.x + J[t->nv] * f.y + J[2 * t->nv] * f.z;
    }
}
