/* Rows of elastic tetrahedra: the force of each, linearised where the step starts, as springs along its strains.
 *
 *     force = -sum_r (k_r (e_r + w_r . dx) + (l_r - k_r) p dt w_r . v0) w_r,     dx = p dt (v0 + theta (v - v0))
 *     J_r = sqrt(c k_r) w_r,    u = J v + offset,    offset_r = sqrt(k_r / c) (e_r / dt + p (l_r / k_r - theta) w_r . v0)
 *     gamma = -dt^2 u:  a row of kind SIM_SPRING of stiffness 1,     c = p theta
 *
 *     w_r     motion of the corners along a principal stretch, or a shear, or a turn between two axes, 1/m
 *     l_r     V0 times an eigenvalue of the Hessian of the energy by F, J;  e_r  stretch along it
 *     k_r     l_r, or a small positive stiffness in its place: then l_r acts along the velocity before the step
 *     p       part of the step at which elastic forces act;  theta  part of v - v0 that positions move with
 *
 * The compliance matrix of a tetrahedron, the inverse of its projected Hessian, is diagonal in these rows.  A then has
 * the masses of nodes and the viscosity alone, and v* is free motion without elasticity.
 * Reference: Macklin et al. 2019, sections 3.2 and 9 (compliance form), with the eigenvectors of Smith, de Goes, Kim
 * 2019, section 5, in place of three rows of stretches: these resist no shear at rest.
 * Departure: one linearisation a step.  From the Newton steps of the tangent form a step differs by dt^3.
 * Cost: one singular value decomposition a tetrahedron; J has 6 to 9 rows as wide as the tree. */
#include "contact/problem/row/row.h"
#include "dyn/soft/soft_body.h"

sim_status elastic_find(assembly *f) {
    /* tetrahedra */
    const sim_model *m = f->tables->model;
    for (int k = 0; k < m->nsoft; k++) {
        f->nelastic += m->soft[k].rows ? m->soft[k].ntet : 0;
    }
    f->elastic = f->nelastic ? ARENA_NEW(f->arena, elastic_part, f->nelastic) : NULL;
    if (f->nelastic && !f->elastic) {
        return SIM_NO_RESOURCE;
    }
    /* springs of each */
    elastic_part *part = f->elastic;
    for (int k = 0; k < m->nsoft; k++) {
        const sim_soft *s = &m->soft[k];
        elastic_material material = material_of_soft(s);
        for (int t = 0; s->rows && t < s->ntet; t++, part++) {
            v3 rest[4], x[4];
            for (int i = 0; i < 4; i++) {
                rest[i] = s->node[s->tet[t][i]];
                x[i] = soft_place(m, s, s->tet[t][i], f->in->q_start);
            }
            elastic_tet shape = make_elastic_tet(rest);
            part->soft = s;
            part->tet = s->tet[t];
            eval_elastic_rows(&material, &shape, x, &part->spring);
        }
    }
    return SIM_OK;
}

int elastic_source_rows(const assembly *f, int index) {
    const elastic_part *part = &f->elastic[index / 2];
    int moves = 0;
    for (int i = 0; i < 4; i++) {
        moves += f->tables->model->body[part->soft->body + 1 + part->tet[i]].nv;
    }
    return !moves ? 0 : index % 2 ? part->spring.count - STRAIN_ROWS : STRAIN_ROWS;
}

sim_constraint elastic_constraint(const assembly *f, const constraint_source *t) {
    return (sim_constraint){.kind = SIM_SPRING,
                            .rows = t->rows,
                            .tree = {-1, -1},
                            .body = {f->elastic[t->index / 2].soft->body, -1},
                            .id = (uint64_t)t->index,
                            .stiffness = 1};
}

void rows_of_elastic(assembly *f, const sim_model *m, int i) {
    const constraint_source *t = &f->source[f->source_of[i]];
    const elastic_part *part = &f->elastic[t->index / 2];
    const elastic_rows *spring = &part->spring;
    const sim_tree *tree = &m->tree[t->tree[0]];
    int first = t->index % 2 ? STRAIN_ROWS : 0, row = f->row[i];
    bool damped = source_is_damped(f, t);
    double dt = f->in->step, place = damped ? 1 : f->in->elastic, theta = travel_of(f, damped), *J = block_of(f, i, 0);
    /* J, and w . v0 */
    double rate[ELASTIC_ROWS] = {0};
    for (int n = 0; n < 4; n++) {
        const sim_body *b = &m->body[part->soft->body + 1 + part->tet[n]];
        for (int r = 0; r < t->rows; r++) {
            const double *w = spring->w[first + r] + 3 * n;
            double scale = sqrt(place * theta * spring->stiffness[first + r]);
            for (int k = 0; k < b->nv; k++) {
                J[(ptrdiff_t)r * tree->nv + b->v0 - tree->v0 + k] = scale * w[k];
                rate[r] += w[k] * f->in->v_start[b->v0 + k];
            }
        }
        widen_columns(f, m, i, 0, b->v0, b->v0 + b->nv);
    }
    /* offset; warm start: the force at the start */
    for (int r = 0; r < t->rows; r++) {
        double k = spring->stiffness[first + r], stretch = spring->stretch[first + r],
               scale = sqrt(k / (place * theta));
        f->gap[row + r] = 0;
        f->offset[row + r] = scale * (stretch / dt + place * (spring->slope[first + r] / k - theta) * rate[r]);
        f->impulse_guess[row + r] = -dt * scale * stretch;
    }
}
