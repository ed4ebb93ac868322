/* Derivatives of the step of one tree by the inertias of its bodies.
 *
 *     da/dp = H^-1 (-dR/dp),    dR/dp = d (M (a - rho) + C)/dp - (M + E) drho/dp - d tau/dp                        (1)
 *     q1 += R' (turn by p)      of single rigid bodies whose schemes have a turn of their own
 *
 *     p      mass, first or second moment of a body;  tau: weight that actuators hold;  other letters: theta_derivatives.c
 *
 * (1) is the effect of the generalised force -dR/dp, so the columns of forces give those of inertias.
 * Reference: dyn/mass/inertia_derivatives.c; spin_derivatives.c.  Cost: n^2 for each inertia of the tree. */
#include "math/dense.h"
#include "model/parts/joint.h"
#include "world/integrator/derivative/tree_derivatives.h"

#include <string.h>

bool change_inertia(const sim_model *m, const sim_parameter *p, int tree, sim_body_inertia *dI) {
    bool any = p->kind == SIM_BY_MASS || p->kind == SIM_BY_INERTIA;
    if (!any || m->body[p->index].tree != tree) {
        return false;
    }
    *dI = (sim_body_inertia){0};
    if (p->kind == SIM_BY_MASS) {
        const sim_body_inertia *I = &m->inertia[p->index];
        double part = I->mass > 0 ? 1 / I->mass : 0;
        sym3 J = {part * I->I.xx, part * I->I.yy, part * I->I.zz, part * I->I.xy, part * I->I.xz, part * I->I.yz};
        *dI = (sim_body_inertia){part * I->mass, v3_scale(part, I->h), J};
        return true;
    }
    double *const component[] = {&dI->mass, &dI->h.x,  &dI->h.y,  &dI->h.z,  &dI->I.xx,
                                 &dI->I.yy, &dI->I.zz, &dI->I.xy, &dI->I.xz, &dI->I.yz};
    *component[p->component] = 1;
    return true;
}

/* The single rigid body of a tree that a body is, or is fixed to; NULL: none. */
static const spin_body *find_spin(const motion_work *w, int tree, int body) {
    const tree_parts *parts = &w->parts[tree];
    for (const spin_body *s = w->spin + parts->spin0; s < w->spin + parts->spin0 + parts->spins; s++) {
        if (body >= s->body && body < w->model->body[s->body].subtree_end) {
            return s;
        }
    }
    return NULL;
}

/* Turn and swing of such a body by a parameter. */
static void spin_by_inertia(const motion_work *w, const spin_body *s, const spin_point *at, int body,
                            const sim_body_inertia *dI, v3 *turn, v3 *swing) {
    const sim_body *b = &w->model->body[s->body];
    const double *v = w->now->v + s->angular, *a = at->a + s->angular;
    const double *q = w->now->q + b->q0 + joint_facts_of(b->joint)->quaternion;
    differentiate_spin_inertia(w, s, at->extra, (sim_quat){q[0], q[1], q[2], q[3]}, (v3){v[0], v[1], v[2]},
                               (v3){a[0], a[1], a[2]}, at->velocity, body, dI, turn, swing);
}

/* push += (M + E) drho */
static void add_swing_force(const derivative_work *work, const sim_tree *t, const spin_body *s, const double *extra,
                            v3 swing, double *push) {
    const double by[3] = {swing.x, swing.y, swing.z};
    int linear = s->linear - t->v0;
    for (int i = 0; i < t->nv; i++) {
        for (int k = 0; k < 3; k++) {
            double E = extra && i == linear + k ? extra[s->linear + k] : 0;
            push[i] += (work->H[(ptrdiff_t)i * row_stride(t->nv) + linear + k] + E) * by[k];
        }
    }
}

void differentiate_inertias(derivative_work *work, const motion_work *w, int tree, const spin_point *at) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    for (int p = 0; p < work->parameters; p++) {
        double *push = work->force_by + (ptrdiff_t)p * t->nv;
        int body = work->parameter[p].index;
        sim_body_inertia dI;
        memset(push, 0, sizeof *push * (size_t)t->nv);
        if (!change_inertia(m, &work->parameter[p], tree, &dI)) {
            continue;
        }
        sim_inertia_derivatives(work->d, sim_tree_range(m, tree), body, &dI, true, work->x, m->gravity, -1, push);
        const spin_body *s = find_spin(w, tree, body);
        if (s && s->linear >= 0) {
            v3 turn, swing;
            spin_by_inertia(w, s, at, body, &dI, &turn, &swing);
            add_swing_force(work, t, s, at->extra, swing, push);
        }
    }
}

void add_held_inertias(derivative_work *work, const motion_work *w, int tree) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    for (int p = 0; p < work->parameters; p++) {
        double *push = work->force_by + (ptrdiff_t)p * t->nv, *weight = work->y;
        sim_body_inertia dI;
        if (!change_inertia(m, &work->parameter[p], tree, &dI)) {
            continue;
        }
        memset(weight, 0, sizeof *weight * (size_t)t->nv);
        sim_inertia_derivatives(work->d, sim_tree_range(m, tree), work->parameter[p].index, &dI, false, NULL,
                                m->gravity, 1, weight);
        for (int i = 0; i < t->nv; i++) {
            push[i] += work->drive[t->v0 + i].holds * weight[i];
        }
    }
}

void finish_inertias(derivative_work *work, const motion_work *w, int tree, const spin_point *at, bool turns,
                     tree_jacobian *out) {
    const sim_tree *t = &w->model->tree[tree];
    int n = t->nv, count = work->parameters;
    for (int p = 0; p < count; p++) {
        /* as a force, then by its turn */
        const double *push = work->force_by + (ptrdiff_t)p * n;
        for (int i = 0; i < n; i++) {
            ptrdiff_t row = (ptrdiff_t)i * out->width + 2 * n;
            out->q_by[(ptrdiff_t)i * count + p] = dense_dot(n, out->q + row, push);
            out->v_by[(ptrdiff_t)i * count + p] = dense_dot(n, out->v + row, push);
        }
        sim_body_inertia dI;
        int body = work->parameter[p].index;
        bool changes = turns && change_inertia(w->model, &work->parameter[p], tree, &dI);
        const spin_body *s = changes ? find_spin(w, tree, body) : NULL;
        if (s) {
            v3 turn, swing;
            spin_by_inertia(w, s, at, body, &dI, &turn, &swing);
            double *q = out->q_by + (ptrdiff_t)(s->angular - t->v0) * count + p;
            q[0] += turn.x;
            q[count] += turn.y;
            q[2 * (ptrdiff_t)count] += turn.z;
        }
    }
}
