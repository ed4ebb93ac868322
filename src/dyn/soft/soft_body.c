/* Elastic energy of a soft body: E(q) = sum over its tetrahedra of V0 Psi.  Cost: linear in them. */
#include "dyn/soft/soft_body.h"

const sim_soft *soft_of_tree(const sim_model *m, int tree) {
    for (int k = 0; k < m->nsoft; k++) {
        if (m->body[m->soft[k].body].tree == tree) {
            return &m->soft[k];
        }
    }
    return NULL;
}

double soft_energy(const sim_model *m, const sim_soft *s, const double *q) {
    elastic_material material = material_of_soft(s);
    double energy = 0;
    for (int k = 0; k < s->ntet; k++) {
        v3 rest[4], x[4];
        for (int i = 0; i < 4; i++) {
            rest[i] = s->node[s->tet[k][i]];
            x[i] = soft_place(m, s, s->tet[k][i], q);
        }
        elastic_tet t = make_elastic_tet(rest);
        energy += eval_elastic_tet(&material, &t, x, NULL);
    }
    return energy;
}
