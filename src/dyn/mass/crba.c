/* Mass matrix by the composite-rigid-body algorithm.
 *
 *     F = I^c_i S_j,   M_jk = S_k . F   for each ancestor dof k of dof j of body i, F shifted towards the root
 *
 *     I^c_i   inertia of body i and its whole subtree at o_i, kg, kg m, kg m^2
 *     F       wrench of a unit acceleration of dof j alone;  M: kg, kg m, kg m^2, row j holds the ancestors of j from
 *             the root on
 *
 * In shallow trees F moves from body to body.  In deep trees that is a long chain of dependent steps.  There the wrench
 * at each ancestor follows at once from the lever between the two bodies,
 *
 *     M_jk = axis_k . (n + (x_j - x_k) x f) + advance_k . f,
 *
 * over runs of consecutive ancestors: independent terms, which vectorise.  Positions x are relative to the first body
 * of the tree, so that its distance from the origin costs no digits.
 *
 * Reference: Featherstone 2008, section 6.2.  Cost: O(n d) for n dofs of depth d. */
#include "dyn/motion/lanes.h"
#include "dyn/motion/rigid.h"

/* Row of dof j, from its own entry down to the root's. */
static inline void fill_row_by_bodies(const sim_derived *d, int i, int j, force F, double *row) {
    const sim_model *m = d->model;
    int entry = m->dof[j].depth;
    int k = j;
    for (;;) {
        const sim_body *b = &m->body[i];
        for (; k >= b->v0; k--) {
            row[--entry] = motion_dot(d->S[k], F);
        }
        if (entry == 0) {
            return;
        }
        F = force_at_parent(F, d->r[i]);
        i = b->parent;
        k = m->body[i].v0 + m->body[i].nv - 1;
    }
}

enum { MIN_DEEP_DOFS = 16 }; /* depth from which levers are faster than shifts */

static void fill_run(const sim_derived *d, int base, int count, v3 x, force F, double *restrict row) {
    const double *restrict ax = d->spread[0] + base, *restrict ay = d->spread[1] + base,
                           *restrict az = d->spread[2] + base;
    const double *restrict lx = d->spread[3] + base, *restrict ly = d->spread[4] + base,
                           *restrict lz = d->spread[5] + base;
    const double *restrict px = d->spread[6] + base, *restrict py = d->spread[7] + base,
                           *restrict pz = d->spread[8] + base;
    v3 n = F.ang, f = F.lin;
    for (int k = 0; k < count; k++) {
        double rx = x.x - px[k], ry = x.y - py[k], rz = x.z - pz[k];
        double nx = n.x + (ry * f.z - rz * f.y), ny = n.y + (rz * f.x - rx * f.z), nz = n.z + (rx * f.y - ry * f.x);
        row[k] = (ax[k] * nx + ay[k] * ny + az[k] * nz) + (lx[k] * f.x + ly[k] * f.y + lz[k] * f.z);
    }
}

static void fill_row_by_levers(const sim_derived *d, int j, force F, double *row) {
    const sim_dof *dof = d->model->dof;
    v3 x = {d->spread[6][j], d->spread[7][j], d->spread[8][j]};
    for (int k = j; k >= 0;) {
        int run = dof[k].run, base = k - run + 1;
        fill_run(d, base, run, x, F, row + dof[k].depth - run);
        k = dof[base].parent;
    }
}

/* Copies axes and positions of the dofs, component by component.  Is the range deep enough to use them? */
static bool copy_axes(sim_derived *d, sim_range range) {
    const sim_model *m = d->model;
    int deepest = 0;
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        deepest = b->nv && m->dof[b->v0].depth > deepest ? m->dof[b->v0].depth : deepest;
    }
    if (deepest <= MIN_DEEP_DOFS) {
        return false;
    }
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        d->from_root[i] = b->parent ? v3_add(d->from_root[b->parent], d->r[i]) : (v3){0, 0, 0};
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            const double all[9] = {d->S[j].ang.x, d->S[j].ang.y,     d->S[j].ang.z,     d->S[j].lin.x,    d->S[j].lin.y,
                                   d->S[j].lin.z, d->from_root[i].x, d->from_root[i].y, d->from_root[i].z};
            for (int c = 0; c < 9; c++) {
                d->spread[c][j] = all[c];
            }
        }
    }
    return true;
}

static inline void fill_mass_row(const sim_derived *d, int i, int j, force F, bool deep, const double *extra,
                                 double *M) {
    const sim_dof *dof = &d->model->dof[j];
    double *row = M + dof->row;
    if (deep) {
        fill_row_by_levers(d, j, F, row);
    } else {
        fill_row_by_bodies(d, i, j, F, row);
    }
    row[dof->depth - 1] += dof->armature + (extra ? extra[j] : 0);
}

/* Composite inertias of rigid bodies are rigid: ten numbers. */
static void fill_rigid(sim_derived *d, sim_range range, const double *extra, double *M) {
    const sim_model *m = d->model;
    rigid *composite = d->Ic;
    bool deep = copy_axes(d, range);
    for (int i = range.first; i < range.end; i++) {
        composite[i] = d->I[i];
    }
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            fill_mass_row(d, i, j, rigid_times(&composite[i], d->S[j]), deep, extra, M);
        }
        if (b->parent) {
            composite[b->parent] = rigid_add(composite[b->parent], rigid_at_parent(composite[i], d->r[i]));
        }
    }
}

static force force_of_lanes(lanes6 f) {
    return (force){{f.ang[0], f.ang[1], f.ang[2]}, {f.lin[0], f.lin[1], f.lin[2]}};
}

static void fill_general(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra,
                         double *M) {
    /* inertias of the bodies with what is added to them */
    const sim_model *m = d->model;
    lanes66 *composite = d->IA;
    bool deep = copy_axes(d, range);
    for (int i = range.first; i < range.end; i++) {
        lanes66 added = lanes_general(&body_extra[i]);
        composite[i] = lanes_rigid(&d->I[i]);
        lanes_add(&composite[i], &added);
    }
    /* inward: composite inertia and the rows of M */
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            fill_mass_row(d, i, j, force_of_lanes(lanes_times(&composite[i], d->S[j], 1, 1)), deep, extra, M);
        }
        if (b->parent) {
            lanes66 moved = composite[i];
            lanes_to_parent(&moved, d->r[i]);
            lanes_add(&composite[b->parent], &moved);
        }
    }
}

void sim_crba(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra, double *M) {
    if (body_extra) {
        fill_general(d, range, extra, body_extra, M);
    } else {
        fill_rigid(d, range, extra, M);
    }
}
