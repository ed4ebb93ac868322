/* Contact parameters of a pair of materials.
 *
 * Two surfaces that press on each other are springs in series: the same force f shortens each by f/k1, f/k2.  Dampers
 * of relaxation time tau = c/k share that shortening in the same parts, so their times are averaged by compliance. */
#include "math/v3.h"

#include <math.h>
#include <sim/model.h>

static double series_stiffness(double k1, double k2) { return isinf(k1) ? k2 : isinf(k2) ? k1 : k1 * k2 / (k1 + k2); }

static double mean_relaxation(const sim_material *a, const sim_material *b) {
    bool soft = a->modulus > 0 || b->modulus > 0;
    if (!soft && isinf(a->stiffness) && isinf(b->stiffness)) {
        return max_of(a->dissipation, b->dissipation);
    }
    double ca = soft ? a->modulus > 0 ? 1 / a->modulus : 0 : 1 / a->stiffness;
    double cb = soft ? b->modulus > 0 ? 1 / b->modulus : 0 : 1 / b->stiffness;
    return (a->dissipation * ca + b->dissipation * cb) / (ca + cb);
}

static bool has_direction(const sim_material *m) { return m->friction_across > 0 && m->friction_across != m->friction; }

/* That of the materials that pull. */
static double adhesion_range(const sim_material *a, const sim_material *b) {
    bool any = a->adhesion > 0 || b->adhesion > 0;
    return max_of(!any || a->adhesion > 0 ? a->adhesion_range : 0, !any || b->adhesion > 0 ? b->adhesion_range : 0);
}

static double given_or(double said, double otherwise) { return isnan(said) ? otherwise : said; }

sim_material_pair sim_material_together(const sim_model *model, int first, int second) {
    const sim_material *a = &model->material[first], *b = &model->material[second];
    sim_material_pair out = {
        .first = first,
        .second = second,
        .friction = sqrt(max_of(a->friction, a->friction_across) * max_of(b->friction, b->friction_across)),
        .stiffness = series_stiffness(a->stiffness, b->stiffness),
        .dissipation = mean_relaxation(a, b),
        .restitution = max_of(a->restitution, b->restitution),
        .torsion = max_of(a->torsion, b->torsion),
        .rolling = max_of(a->rolling, b->rolling),
        .adhesion = max_of(a->adhesion, b->adhesion),
        .adhesion_range = adhesion_range(a, b),
        .directed = has_direction(a) || has_direction(b)};
    for (int k = 0; k < model->nmaterial_pair; k++) {
        const sim_material_pair *p = &model->material_pair[k];
        if ((p->first == first && p->second == second) || (p->first == second && p->second == first)) {
            out.friction = given_or(p->friction, out.friction);
            out.stiffness = given_or(p->stiffness, out.stiffness);
            out.dissipation = given_or(p->dissipation, out.dissipation);
            out.restitution = given_or(p->restitution, out.restitution);
            out.torsion = given_or(p->torsion, out.torsion);
            out.rolling = given_or(p->rolling, out.rolling);
            out.adhesion = given_or(p->adhesion, out.adhesion);
            out.adhesion_range = given_or(p->adhesion_range, out.adhesion_range);
            out.directed = out.directed && isnan(p->friction); /* a pair's friction has no direction */
        }
    }
    return out;
}
