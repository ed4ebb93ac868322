/* Forces of the fluid on the bodies of a tree, with their implicit parts.
 *
 *     f(v) = sum of the resistances of a body, at its origin, v = v0 + theta dt a where dampers act
 *     E = theta dt D,   D = sum [T + c F c'  c F; (c F)'  F],   (M + J' E J) g = k(a) + J' E (J a + bias - gravity)
 *
 *     v, a, g    velocity, acceleration before a sweep and after it;  k: all forces;  theta: of dampers (theta.c)
 *     T, F       how fast moment and force of a resistance fall with angular and linear velocity of its centre, N m s, N s/m
 *     c          lever from the origin of the body to that centre, as the matrix of a cross product, m
 *
 * E joins the inertias of bodies, and so A of the contact problem; sweeps go on until f is that of the end.  Lift is no
 * part of E.  A single rigid body (spin.c) has E about its centre of mass, without the coupling of force and moment.
 *
 * Cost: linear in the bodies and resistances of a tree. */
#include "dyn/motion/added.h"
#include "world/integrator/motion.h"

sim_status drag_create(motion_work *w, memory_pool *pool) {
    const sim_model *m = w->model;
    if (!m->ndrag) {
        return SIM_OK;
    }
    for (int k = m->ndrag - 1; k >= 0; k--) {
        tree_parts *parts = &w->parts[m->body[m->drag[k].body].tree];
        parts->drag0 = k;
        parts->drags++;
    }
    w->drag = POOL_NEW(pool, sim_force, m->nbody);
    w->drag_motion = POOL_NEW(pool, sim_motion, m->nbody);
    w->body_extra = POOL_NEW(pool, sim_articulated, m->nbody);
    w->spin_extra = POOL_NEW(pool, sim_sym3, m->nbody);
    return w->drag && w->drag_motion && w->body_extra && w->spin_extra ? SIM_OK : SIM_NO_RESOURCE;
}

/* Motions of all bodies of a tree: J x, from `root` on. */
static void chain_motions(const sim_derived *d, sim_range bodies, const double *x, const sim_motion *bias, motion root,
                          sim_motion *out) {
    for (int i = bodies.first; i < bodies.end; i++) {
        const sim_body *b = &d->model->body[i];
        motion u = motion_at_child(b->parent ? out[b->parent] : root, d->r[i]);
        u = bias ? motion_add(u, bias[i]) : u;
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            u = motion_axpy(u, x[j], d->S[j]);
        }
        out[i] = u;
    }
}

/* ---- E ---- */

static m3 symmetric_matrix(sym3 a) { return (m3){{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}; }

/* The matrix of c x. */
static m3 cross_matrix(v3 c) { return (m3){{0, c.z, -c.y}, {-c.z, 0, c.x}, {c.y, -c.x, 0}}; }

/* c F c' */
static sym3 moved_slope(sym3 F, v3 c) {
    m3 C = cross_matrix(c), B = m3_product(m3_product(C, symmetric_matrix(F)), m3_transpose(C));
    return (sym3){B.x.x, B.y.y, B.z.z, B.y.x, B.z.x, B.z.y};
}

static void add_slopes(sim_articulated *to, sym3 T, sym3 F, v3 c) {
    m3 B = m3_product(cross_matrix(c), symmetric_matrix(F));
    to->A = sym3_add(to->A, sym3_add(T, moved_slope(F, c)));
    to->B = (m3){v3_add(to->B.x, B.x), v3_add(to->B.y, B.y), v3_add(to->B.z, B.z)};
    to->C = sym3_add(to->C, F);
}

/* E of a single rigid body: all that it carries, about its centre of mass and uncoupled. */
static void gather_spin(motion_work *w, int k) {
    const sim_derived *d = w->derived;
    const spin_body *s = &w->spin[k];
    const pose *X = &d->pose[s->body];
    v3 com = m3_times(X->R, s->com);
    sym3 T = {0}, F = {0};
    for (int i = s->body; i < w->model->body[s->body].subtree_end; i++) {
        const sim_articulated *E = &w->body_extra[i];
        v3 c = v3_sub(v3_sub(d->pose[i].p, X->p), com);
        m3 P = m3_product(cross_matrix(c), m3_transpose(E->B)); /* c (B)' */
        sym3 both = {2 * P.x.x, 2 * P.y.y, 2 * P.z.z, P.x.y + P.y.x, P.x.z + P.z.x, P.y.z + P.z.y};
        T = sym3_add(T, sym3_add(E->A, sym3_add(both, moved_slope(E->C, c))));
        F = sym3_add(F, E->C);
        w->body_extra[i] = (sim_articulated){0};
    }
    add_slopes(&w->body_extra[s->body], T, F, com);
    w->spin_extra[k] = sym3_rotated(m3_transpose(X->R), T);
}

/* ---- forces ---- */

void drag_eval(motion_work *w, int tree, const double *v, double weight) {
    const sim_model *m = w->model;
    const sim_derived *d = w->derived;
    const tree_parts *parts = &w->parts[tree];
    sim_range bodies = sim_tree_range(m, tree);
    const motion rest = {{0, 0, 0}, {0, 0, 0}};
    chain_motions(d, bodies, v, NULL, rest, w->drag_motion);
    for (int i = bodies.first; i < bodies.end; i++) {
        w->drag[i] = (force){{0, 0, 0}, {0, 0, 0}};
        w->body_extra[i] = (sim_articulated){0};
    }
    /* each resistance in its own axes, then at the origin of its body */
    for (int k = parts->drag0; k < parts->drag0 + parts->drags; k++) {
        const sim_drag *drag = &m->drag[k];
        const pose *X = &d->pose[drag->body];
        m3 R = m3_product(X->R, drag->pose.R);
        v3 c = m3_times(X->R, drag->pose.p);
        motion u = motion_at_child(w->drag_motion[drag->body], c);
        u = (motion){m3_transposed_times(R, u.ang), m3_transposed_times(R, v3_sub(u.lin, m->fluid.wind))};
        double slope[6];
        force f = sim_drag_force(drag, &m->fluid, u, slope);
        f = force_at_parent((force){m3_times(R, f.ang), m3_times(R, f.lin)}, c);
        w->drag[drag->body] = force_add(w->drag[drag->body], f);
        sym3 T = {weight * slope[0], weight * slope[1], weight * slope[2], 0, 0, 0},
             F = {weight * slope[3], weight * slope[4], weight * slope[5], 0, 0, 0};
        add_slopes(&w->body_extra[drag->body], sym3_rotated(R, T), sym3_rotated(R, F), c);
    }
    for (int k = parts->spin0; k < parts->spin0 + parts->spins; k++) {
        gather_spin(w, k);
    }
}

void drag_add_implicit(motion_work *w, int tree, const double *a, sim_force *external) {
    sim_range bodies = sim_tree_range(w->model, tree);
    const motion falling = {{0, 0, 0}, v3_neg(w->model->gravity)};
    chain_motions(w->derived, bodies, a, w->derived->bias_acc, falling, w->drag_motion);
    for (int i = bodies.first; i < bodies.end; i++) {
        external[i] = force_add(external[i], added_times(&w->body_extra[i], w->drag_motion[i]));
    }
}

void drag_add_product(motion_work *w, int tree, const double *x, double *out) {
    if (w->parts[tree].drags) {
        added_mass_times(w->derived, sim_tree_range(w->model, tree), w->body_extra, x, out);
    }
}

void drag_keep(motion_work *w, int tree, const double *from, const double *to) {
    if (!w->parts[tree].drags) {
        return;
    }
    /* along the straight line on which A has it */
    const sim_tree *t = &w->model->tree[tree];
    sim_range bodies = sim_tree_range(w->model, tree);
    const motion rest = {{0, 0, 0}, {0, 0, 0}};
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->tau[j] = to[j] - from[j];
    }
    chain_motions(w->derived, bodies, w->tau, NULL, rest, w->drag_motion);
    for (int i = bodies.first; i < bodies.end; i++) {
        w->drag[i] = force_sub(w->drag[i], added_times(&w->body_extra[i], w->drag_motion[i]));
    }
}
