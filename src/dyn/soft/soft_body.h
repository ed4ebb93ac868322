/* The nodes of a soft body and their elastic energy. */
#ifndef DYN_SOFT_SOFT_BODY_H
#define DYN_SOFT_SOFT_BODY_H

#include "dyn/soft/elastic_tet.h"
#include <sim/model.h>

static inline elastic_material material_of_soft(const sim_soft *s) {
    elastic_law law = s->law == SIM_COROTATED ? ELASTIC_COROTATED : ELASTIC_NEO_HOOKEAN;
    return make_elastic(law, s->modulus, s->poisson, s->dissipation);
}

/* The soft body of a tree, NULL: it is rigid. */
const sim_soft *soft_of_tree(const sim_model *model, int tree);

/* Is a body the one that `whole` names: itself, or a node of that soft body? */
static inline bool is_body_part(const sim_model *m, int body, int whole) {
    if (body == whole || m->body[body].parent != whole) {
        return body == whole;
    }
    bool soft = false;
    for (int k = 0; k < m->nsoft && !soft; k++) {
        soft = m->soft[k].body == whole;
    }
    return soft;
}

/* Is a contact of the bodies a and b one of `first` on `second`, or, below 0, on any other?  Soft bodies are all their nodes. */
static inline bool is_pair_of(const sim_model *m, int a, int b, int first, int second) {
    bool mine = is_body_part(m, a, first), others = is_body_part(m, b, first);
    if (second < 0) {
        return mine != others;
    }
    return (mine && is_body_part(m, b, second)) || (others && is_body_part(m, a, second));
}

/* Place of a node in the frame of its body; q of the model. */
static inline v3 soft_place(const sim_model *m, const sim_soft *s, int node, const double *q) {
    const sim_body *b = &m->body[s->body + 1 + node];
    return b->nq ? (v3){q[b->q0], q[b->q0 + 1], q[b->q0 + 2]} : s->node[node];
}

/* Adds those of the pressure p, Pa, in its chambers to forces of its tree, N, and their sizes; q of the model. */
void add_chamber_forces(const sim_model *model, const sim_soft *soft, const double *q, double p, double *force,
                        double *strength);
/* m^3, of all chambers; adds to `rate` its derivative along v of the model, m^3/s, unless that is NULL. */
double chamber_volume(const sim_model *model, const sim_soft *soft, const double *q, const double *v, double *rate);
/* Symmetric part of the stiffness of gas on a face, N/m: the blocks [w]x between the corners of each pair. */
static const int FACE_PAIR[3][2] = {{0, 1}, {0, 2}, {1, 2}};
void eval_gas_stiffness(const sim_model *model, const sim_soft *soft, int face, const double *q, double p, sim_v3 w[3]);

/* Is the elasticity of a tree rows of the contact problem? */
static inline bool soft_has_rows(const sim_model *model, int tree) {
    const sim_soft *s = model->nsoft ? soft_of_tree(model, tree) : NULL;
    return s && s->rows;
}

/* J */
double soft_energy(const sim_model *model, const sim_soft *soft, const double *q);

#endif
