/* Surfaces of a contact: friction by direction, belts, adhesion, as a round cone on scaled axes, an offset and a load.
 *
 *     ellipse    |(g_1/mu_1, g_2/mu_2)| <= g_n along e_1, e_2, and -g . u is the greatest of all such g
 *     scaling    a_k = mu_k / mu, mu = max(mu_1, mu_2):   u'_k = a_k u_k,  g_k = a_k g'_k,  g . u = g' . u'
 *                so |g'_t| <= mu g_n, and g' opposes u': rows along a_k e_k have Coulomb's law
 *     belts      w_t = E' (R_A b_A - R_B b_B), of a contact that lasts at the part of the step where it obeys the law;
 *                w = L e . (R_A b'_A - R_B b'_B) of rows against turning
 *     adhesion   -p <= g_n:   g_n + p for g_n has Signorini's law, with the load p that pulls the bodies together,
 *                A (v - v*) = J' (gamma + p) - J' p:   v* <- v* - A^-1 J_n' p,   p = dt adhesion up to its range
 *
 *     turning    rows u = L e . (omega_A - omega_B) about t1, t2 (rolling) and n (torsion): moment L gamma, bound mu / L;
 *                L [m], the size of the smaller body that moves, gives all rows of a contact one unit
 *
 *     e_k, E    tangents of the contact, and its frame;  g, u: impulse, N s, and relative velocity, m/s
 *     mu_k      coefficient along e_k: of two surfaces sqrt(mu_Ak mu_Bk)
 *     R, b, b'  axes of a body; velocity of its surface in them, m/s, and angular velocity, rad/s
 *
 * The section of the ellipsoid (mu_along, mu_across, mu_across) about the direction d by the contact plane, s^2 = 1 -
 * (d . n)^2, has mu_1 = (s^2/mu_along^2 + (1 - s^2)/mu_across^2)^-1/2 along the projection of d, and mu_2 = mu_across.
 *
 * References: Goyal, Ruina, Papadopoulos, Wear 143, 1991 (dissipation of the greatest); Maugis, J. Colloid Interface
 * Science 150, 1992 (a constant pull over a range, after Dugdale).     Cost: a solve with A a tree with adhesion. */
#include "contact/problem/row/row.h"

#include <string.h>

static const double MIN_PLANE_PART = 1e-6; /* s: a direction along the normal has no projection */

/* The friction ellipse of a surface in the contact plane: along e, and across it. */
typedef struct ellipse {
    v3 e;
    double along, across;
} ellipse;

static ellipse section_of(const assembly *f, const sim_model *m, int shape, v3 n) {
    const sim_shape *of = &m->shape[shape];
    const sim_material *material = &m->material[of->material];
    v3 d = of->friction_direction, t1 = v3_perpendicular(n);
    double mu = material->friction, across = material->friction_across > 0 ? material->friction_across : mu;
    d = m3_times(f->middle->pose[of->body].R,
                 m3_times(of->pose.R, v3_dot(d, d) > 0 ? v3_scale(1 / v3_norm(d), d) : v3_make(1, 0, 0)));
    v3 in_plane = v3_axpy(d, -v3_dot(d, n), n);
    double s = v3_norm(in_plane);
    if (mu == across || s < MIN_PLANE_PART) {
        return (ellipse){t1, across, across};
    }
    double x = s / mu, y = v3_dot(d, n) / across;
    return (ellipse){v3_scale(1 / s, in_plane), 1 / sqrt(x * x + y * y), across};
}

/* Its radius in a direction of the plane. */
static double ellipse_radius(const ellipse *of, v3 t, v3 n) {
    double x = v3_dot(of->e, t) / of->along, y = v3_dot(v3_cross(n, of->e), t) / of->across;
    return of->along == of->across ? of->along : 1 / sqrt(x * x + y * y);
}

static double ellipse_ratio(const ellipse *of) { return max_of(of->along, of->across) / min_of(of->along, of->across); }

/* Frame (t1, t2, n) with t1 x t2 = n.  Any two tangents serve where friction is the same in all directions. */
static m3 frame_along(v3 n) {
    v3 t1 = v3_perpendicular(n);
    return (m3){t1, v3_cross(n, t1), n};
}

m3 surface_frame(assembly *f, const sim_model *m, int i, v3 n) {
    const sim_contact *from = &f->in->contact[f->source[f->source_of[i]].index];
    if (!f->tables->directed ||
        !sim_material_together(m, m->shape[from->shape_a].material, m->shape[from->shape_b].material).directed) {
        return frame_along(n);
    }
    /* axes of the ellipse further from a circle */
    ellipse a = section_of(f, m, from->shape_a, n), b = section_of(f, m, from->shape_b, n);
    const ellipse *first = a.along == 0 || ellipse_ratio(&a) >= ellipse_ratio(&b) ? &a : &b;
    const v3 t[2] = {first->e, v3_cross(n, first->e)};
    /* both coefficients, and the axes scaled by them */
    double mu[2];
    for (int k = 0; k < 2; k++) {
        mu[k] = sqrt(ellipse_radius(&a, t[k], n) * ellipse_radius(&b, t[k], n));
    }
    double most = max_of(mu[0], mu[1]);
    f->constraint[i].friction = most;
    return most > 0 ? (m3){v3_scale(mu[0] / most, t[0]), v3_scale(mu[1] / most, t[1]), n} : frame_along(n);
}

/* Velocity of the surface of a shape over its body, at a point of the world. */
static v3 belt_at(const sim_pose *X, const sim_shape *s, v3 x) {
    v3 from = v3_sub(m3_transposed_times(X->R, v3_sub(x, X->p)), s->pose.p);
    return m3_times(X->R, v3_add(s->surface_velocity, v3_cross(s->surface_spin, from)));
}

/* Of A's surface over B's. */
static v3 belt_over(const sim_pose *X, const sim_shape *a, const sim_shape *b, v3 x) {
    return v3_sub(belt_at(&X[a->body], a, x), belt_at(&X[b->body], b, x));
}

v3 surface_belts(const assembly *f, const sim_model *m, int i, const followed_contact *to, double part) {
    if (!f->tables->belts) {
        return v3_make(0, 0, 0);
    }
    const sim_contact *from = &f->in->contact[f->source[f->source_of[i]].index];
    const sim_shape *a = &m->shape[from->shape_a], *b = &m->shape[from->shape_b];
    v3 over = belt_over(to ? f->in->start->pose : f->middle->pose, a, b, from->at.position);
    if (to) {
        over = v3_axpy(v3_scale(1 - part, over), part, belt_over(f->in->end->pose, a, b, to->position));
    }
    return v3_make(v3_dot(f->axes[i].x, over), v3_dot(f->axes[i].y, over), 0);
}

void surface_add_belts(const assembly *f, int i, v3 belts) {
    f->constraint[i].surface[0] = belts.x;
    f->constraint[i].surface[1] = belts.y;
    f->offset[f->row[i]] += belts.x;
    f->offset[f->row[i] + 1] += belts.y;
}

void surface_set_guess(const assembly *f, int i, v3 impulse, v3 trend) {
    const m3 *E = &f->axes[i];
    double *guess = f->impulse_guess + f->row[i], *change = f->impulse_trend + f->row[i];
    v3 along = m3_transposed_times(*E, impulse), rises = m3_transposed_times(*E, trend);
    memcpy(guess, (const double[3]){along.x, along.y, along.z}, 3 * sizeof *guess);
    memcpy(change, (const double[3]){rises.x, rises.y, rises.z}, 3 * sizeof *change);
    if (f->tables->directed) { /* g' = g / a on scaled axes */
        double square[2] = {v3_dot(E->x, E->x), v3_dot(E->y, E->y)};
        for (int k = 0; k < 2; k++) {
            guess[k] /= square[k];
            change[k] /= square[k];
        }
    }
    if (f->pull) {
        f->pull[i] = f->in->step * f->in->contact[f->source[f->source_of[i]].index].adhesion;
        guess[2] += f->pull[i];
    }
}

v3 surface_impulse(const assembly *f, int i, const double *gamma) {
    return m3_times(f->axes[i], v3_make(gamma[0], gamma[1], gamma[2] - (f->pull ? f->pull[i] : 0)));
}

/* j -= J_n' p of one constraint. */
static void add_pull(const assembly *f, const island *is, int i, double *j) {
    const sim_constraint *c = &is->base.constraint[i];
    double p = f->pull[is->first_constraint + i];
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &is->base.tree[c->tree[side]];
        dense_axpy(t->nv, -p, f->J + c->block[side] + 2 * (ptrdiff_t)t->nv, j + t->v0);
    }
}

void surface_pull_together(assembly *f, const island *is, double *j) {
    const sim_problem *p = &is->base;
    bool any = false;
    for (int k = 0; k < p->nv; k++) {
        j[k] = 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT && f->pull[is->first_constraint + i] > 0) {
            add_pull(f, is, i, j);
            any = true;
        }
    }
    for (int t = 0; t < p->ntree && any; t++) {
        p->mass.solve(p->mass.self, t, j + p->tree[t].v0);
    }
    for (int k = 0; k < p->nv && any; k++) {
        f->v_free[is->first_v + k] += j[k];
    }
}

/* ---- turning ---- */

static const sim_contact *contact_of(const assembly *f, int i) {
    return &f->in->contact[f->source[f->source_of[i]].index];
}

static double turning_length(const assembly *f, int i, const sim_contact *from) {
    const constraint_source *t = &f->source[f->source_of[i]];
    double L = INFINITY;
    for (int side = 0; side < 2; side++) {
        double size = f->tables->size[side ? from->body_b : from->body_a];
        L = t->tree[side] >= 0 && size > 0 ? min_of(L, size) : L;
    }
    return isfinite(L) ? L : 1;
}

int surface_turning_axes(const assembly *f, int i, const sim_contact *from, v3 axis[3]) {
    const m3 *E = &f->axes[i];
    int rows = f->constraint[i].rows, count = 0;
    double L = rows > SIM_CONTACT_ROWS ? turning_length(f, i, from) : 0;
    if (rows >= 5) {
        axis[count++] = v3_scale(L / v3_norm(E->x), E->x);
        axis[count++] = v3_scale(L / v3_norm(E->y), E->y);
    }
    if (rows == 4 || rows == 6) {
        axis[count++] = v3_scale(L, E->z);
    }
    return count;
}

void surface_turning_rows(const assembly *f, const sim_derived *d, const int last[2], int stop, int i, double *J) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const sim_model *m = d->model;
    v3 axis[3];
    int count = surface_turning_axes(f, i, contact_of(f, i), axis);
    for (int side = 0; side < 2 && count; side++) {
        for (int j = t->tree[side] >= 0 ? last[side] : stop; j != stop; j = m->dof[j].parent) {
            const sim_tree *tree = &m->tree[t->tree[side]];
            double *column = block_in(J, f, i, side) + SIM_CONTACT_ROWS * (ptrdiff_t)tree->nv + (j - tree->v0);
            for (int k = 0; k < count; k++) {
                column[k * (ptrdiff_t)tree->nv] += (side ? -1 : 1) * v3_dot(axis[k], d->S[j].ang);
            }
        }
    }
}

void surface_turning_on_body(const assembly *f, int i, int side, double *J) {
    v3 axis[3];
    for (int k = 0, count = surface_turning_axes(f, i, contact_of(f, i), axis); k < count; k++) {
        v3 ang = v3_scale(side ? -1 : 1, axis[k]);
        double *row = J + 6 * (ptrdiff_t)(SIM_CONTACT_ROWS + k);
        row[0] = ang.x;
        row[1] = ang.y;
        row[2] = ang.z;
        row[3] = row[4] = row[5] = 0;
    }
}

/* Angular velocity of A's surface over B's, in the world. */
static v3 spin_over(const assembly *f, const sim_contact *from) {
    const sim_shape *a = &f->middle->model->shape[from->shape_a], *b = &f->middle->model->shape[from->shape_b];
    const sim_pose *X = f->middle->pose;
    return v3_sub(m3_times(X[a->body].R, a->surface_spin), m3_times(X[b->body].R, b->surface_spin));
}

void surface_start_turning(assembly *f, int i, v3 moment) {
    v3 axis[3];
    int count = surface_turning_axes(f, i, contact_of(f, i), axis), row = f->row[i] + SIM_CONTACT_ROWS;
    double L = turning_length(f, i, contact_of(f, i));
    for (int k = 0; k < count; k++) {
        f->gap[row + k] = 0;
        f->impulse_guess[row + k] = v3_dot(axis[k], moment) / (L * L);
        if (f->tables->belts) {
            f->offset[row + k] = v3_dot(axis[k], spin_over(f, contact_of(f, i)));
        }
    }
    if (count) {
        f->constraint[i].rolling /= L;
        f->constraint[i].torsion /= L;
    }
}

v3 surface_moment(const assembly *f, int i, const double *gamma) {
    v3 axis[3], sum = {0, 0, 0};
    for (int k = 0, count = surface_turning_axes(f, i, contact_of(f, i), axis); k < count; k++) {
        sum = v3_axpy(sum, gamma[SIM_CONTACT_ROWS + k], axis[k]);
    }
    return sum;
}
