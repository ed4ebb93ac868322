/* Forces of several actuators on one joint or tendon, whose summed effort has a range.
 *
 *     F(x) = clamp(T(x), L),   T = sum t_k,   t_k(x) = g_k clamp(s_k - E_k g_k x, l_k)
 *     L = [T(x_low), T(x_high)]:    F(x) = sum g_k clamp(s_k - E_k g_k x, n_k),   n_k = forces at x_low and x_high
 *
 *     x        acceleration of the joint, or of the tendon's length, from where the forces were evaluated: rad/s^2 or m/s^2
 *     s, g, E  force that an actuator asks for at x = 0, N m or N; its gear; its fall with the acceleration of its length
 *     l, n     its own range of forces, and the narrower one of this step;  L: range of their efforts
 *
 * T falls in pieces of straight lines.  Between the ends of L no n_k acts before l_k does, and beyond them all act: each
 * actuator is limited by itself, to the same sum, and all that follows treats it as any other (effort_limits.c,
 * contact/problem/actuators.c).
 *
 * Where forces that do not follow the length are alone beyond L, those that point there are scaled to its end.
 *
 * Cost: the square of the number of actuators of a joint or tendon. */
#include "world/integrator/motion.h"

#include <math.h>

static const double SUM_ROUNDING = 1e-12; /* of a sum of efforts, over the sum of their sizes */

/* Actuators of one joint or tendon, seen so that its efforts are to be cut from above. */
typedef struct team {
    const motion_work *w;
    const int *member;
    int count;
    double sign; /* -1: efforts and accelerations are turned about */
} team;

static const sim_actuator *member_of(const team *t, int i) {
    return &t->w->model->actuator[t->w->actuator_order[t->member[i]]];
}

static double force_at(const team *t, int i, double x) {
    const sim_actuator *a = member_of(t, i);
    int k = t->member[i];
    double fall = t->w->gain[k] > 0 ? t->w->gain[k] * (a->gear * (t->sign * x)) : 0, force = t->w->asked[k] - fall;
    return fmax(a->force_range[0], fmin(a->force_range[1], force));
}

static double effort_at(const team *t, double x) {
    double sum = 0;
    for (int i = 0; i < t->count; i++) {
        sum += t->sign * member_of(t, i)->gear * force_at(t, i, x);
    }
    return sum;
}

/* Nearest places to the one where the efforts sum to `most`: where some force reaches an end of its own range. */
typedef struct bracket {
    double left, right;  /* -infinity, infinity: none */
    double above, below; /* the sums there, less `most`: >= 0, < 0 */
} bracket;

static bracket find_bracket(const team *t, double most) {
    bracket b = {-INFINITY, INFINITY, 0, 0};
    for (int i = 0; i < 2 * t->count; i++) {
        const sim_actuator *a = member_of(t, i / 2);
        int k = t->member[i / 2];
        double x = t->sign * (t->w->asked[k] - a->force_range[i % 2]) / (t->w->gain[k] * a->gear);
        if (!isfinite(x)) {
            continue;
        }
        double over = effort_at(t, x) - most;
        if (over >= 0 && x >= b.left) {
            b.left = x;
            b.above = over;
        } else if (over < 0 && x <= b.right) {
            b.right = x;
            b.below = over;
        }
    }
    return b;
}

/* How the sum of the efforts without limits falls. */
static double endless_fall(const team *t) {
    double sum = 0;
    for (int i = 0; i < t->count; i++) {
        const sim_actuator *a = member_of(t, i);
        sum += isfinite(a->force_range[0]) ? 0 : t->w->gain[t->member[i]] * a->gear * a->gear;
    }
    return sum;
}

/* The place where the efforts sum to `most`; -infinity: they are less everywhere, infinity: more. */
static double find_place(const team *t, double most) {
    bracket b = find_bracket(t, most);
    double fall = endless_fall(t);
    if (isfinite(b.left) && isfinite(b.right)) {
        return b.left + (b.right - b.left) * (b.above / (b.above - b.below));
    }
    if (isfinite(b.left) || isfinite(b.right)) {
        double x = isfinite(b.left) ? b.left : b.right, over = isfinite(b.left) ? b.above : b.below;
        return fall > 0 ? x + over / fall : isfinite(b.left) ? INFINITY : -INFINITY;
    }
    double over = effort_at(t, 0) - most;
    return fall > 0 ? over / fall : over > 0 ? INFINITY : -INFINITY;
}

/* Forces that sum to more than the range wherever the joint goes: the least ones, scaled where they point there. */
static void fix_forces(const team *t, double most) {
    double with = 0, against = 0;
    for (int i = 0; i < t->count; i++) {
        double effort = t->sign * member_of(t, i)->gear * force_at(t, i, INFINITY);
        with += fmax(effort, 0);
        against += fmin(effort, 0);
    }
    for (int i = 0; i < t->count; i++) {
        double *range = t->w->range[t->member[i]], force = force_at(t, i, INFINITY);
        double part = t->sign * member_of(t, i)->gear * force > 0 ? (most - against) / with : 1;
        range[0] = range[1] = part * force;
    }
}

static void narrow_ranges(const shared_effort *s, const motion_work *w) {
    const double *effort = s->effort;
    for (int i = 0; i < s->count; i++) {
        const sim_actuator *a = &w->model->actuator[w->actuator_order[s->member[i]]];
        w->range[s->member[i]][0] = a->force_range[0];
        w->range[s->member[i]][1] = a->force_range[1];
    }
    /* cut from above, and, turned about, from below */
    for (int side = 0; side < 2; side++) {
        team t = {w, s->member, s->count, side ? -1 : 1};
        double most = side ? -effort[0] : effort[1], x = find_place(&t, most);
        for (int i = 0; i < t.count && isfinite(x); i++) {
            int k = t.member[i];
            double *range = w->range[k], force = force_at(&t, i, x);
            if (w->gain[k] > 0) {
                range[(t.sign * member_of(&t, i)->gear > 0)] = force;
            }
        }
        if (x == INFINITY) {
            fix_forces(&t, most);
            return;
        }
    }
}

void shared_effort_narrow(motion_work *w, int tree) {
    const tree_parts *parts = &w->parts[tree];
    for (int i = parts->shared0; i < parts->shared0 + parts->shareds; i++) {
        shared_effort *s = &w->shared[i];
        team t = {w, s->member, s->count, 1};
        s->sum = effort_at(&t, 0);
        narrow_ranges(s, w);
    }
}

int shared_effort_side(const motion_work *w, int k) {
    int s = w->shared_of[k];
    const double *range = s >= 0 ? w->shared[s].effort : NULL;
    return range ? (w->shared[s].sum > range[1]) - (w->shared[s].sum < range[0]) : 0;
}

/* The range of efforts that an actuator shares with others; NULL: none. */
static const double *shared_range(const sim_model *m, const sim_actuator *a) {
    const double *range = a->transmission == SIM_BY_JOINT    ? m->dof[a->dof].effort_range
                          : a->transmission == SIM_BY_TENDON ? m->tendon[a->tendon].effort_range
                                                             : NULL;
    return range && isfinite(range[0]) ? range : NULL;
}

/* Actuators of a tree that share a range, by their places in the order; behind them the next free place. */
static int *take_members(motion_work *w, const tree_parts *parts, const double *range, int *place) {
    shared_effort *s = &w->shared[parts->shared0 + parts->shareds];
    *s = (shared_effort){.effort = range, .member = place};
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
        if (shared_range(w->model, a) == range) {
            s->joint = a->transmission == SIM_BY_JOINT;
            w->shared_of[k] = parts->shared0 + parts->shareds;
            *place++ = k;
            s->count++;
        }
    }
    return place;
}

sim_status shared_effort_create(motion_work *w, memory_pool *pool) {
    /* memory: of joints and tendons with a range, and of all actuators */
    const sim_model *m = w->model;
    int ranges = 0, *place = POOL_NEW(pool, int, m->nactuator);
    for (int j = 0; j < m->nv; j++) {
        ranges += isfinite(m->dof[j].effort_range[0]);
    }
    for (int k = 0; k < m->ntendon; k++) {
        ranges += isfinite(m->tendon[k].effort_range[0]);
    }
    w->shared = POOL_NEW(pool, shared_effort, ranges);
    w->range = pool_alloc(pool, (size_t)m->nactuator, sizeof *w->range);
    w->shared_of = POOL_NEW(pool, int, m->nactuator);
    if (!place || !w->shared || !w->range || !w->shared_of) {
        return SIM_NO_RESOURCE;
    }
    /* ranges of each tree, with their actuators */
    for (int k = 0; k < m->nactuator; k++) {
        w->shared_of[k] = -1;
    }
    for (int t = 0, first = 0; t < m->ntree; t++) {
        tree_parts *parts = &w->parts[t];
        parts->shared0 = first;
        for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
            const double *range = shared_range(m, &m->actuator[w->actuator_order[k]]);
            if (range && w->shared_of[k] < 0) {
                place = take_members(w, parts, range, place);
                parts->shareds++;
            }
        }
        first += parts->shareds;
    }
    /* ranges of all others stay */
    for (int k = 0; k < m->nactuator; k++) {
        const sim_actuator *a = &m->actuator[w->actuator_order[k]];
        w->range[k][0] = a->force_range[0];
        w->range[k][1] = a->force_range[1];
        w->parts[a->tree].any_limit |= a->transmission == SIM_BY_JOINT && shared_range(m, a);
    }
    return SIM_OK;
}

bool actuator_at_limit(const sim_model *m, const double *given, int actuator) {
    const sim_actuator *a = &m->actuator[actuator];
    const double *range = shared_range(m, a);
    bool own = given[actuator] <= a->force_range[0] || given[actuator] >= a->force_range[1];
    if (own || !range) {
        return own;
    }
    /* the sum */
    double sum = 0, size = 0;
    for (int k = 0; k < m->nactuator; k++) {
        if (shared_range(m, &m->actuator[k]) == range) {
            sum += m->actuator[k].gear * given[k];
            size += fabs(m->actuator[k].gear * given[k]);
        }
    }
    return sum <= range[0] + SUM_ROUNDING * size || sum >= range[1] - SUM_ROUNDING * size;
}
