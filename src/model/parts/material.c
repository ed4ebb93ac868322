/* Contact parameters of a pair of materials.
 *
 * Two surfaces that press on each other are springs in series: the same force f shortens each by f/k1, f/k2.  Dampers
 * of relaxation time tau = c/k share that shortening in the same parts, so their times are averaged by compliance. */
#include <math.h>
#include <sim/model.h>

static double series_stiffness(double k1, double k2) { return isinf(k1) ? k2 : isinf(k2) ? k1 : k1 * k2 / (k1 + k2); }

static double mean_relaxation(const sim_material *a, const sim_material *b) {
    if (isinf(a->stiffness) && isinf(b->stiffness)) {
        return fmax(a->dissipation, b->dissipation);
    }
    double ca = 1 / a->stiffness, cb = 1 / b->stiffness;
    return (a->dissipation * ca + b->dissipation * cb) / (ca + cb);
}

static double given_or(double said, double otherwise) { return isnan(said) ? otherwise : said; }

sim_material_pair sim_material_together(const sim_model *model, int first, int second) {
    const sim_material *a = &model->material[first], *b = &model->material[second];
    sim_material_pair out = {.first = first,
                             .second = second,
                             .friction = sqrt(a->friction * b->friction),
                             .stiffness = series_stiffness(a->stiffness, b->stiffness),
                             .dissipation = mean_relaxation(a, b),
                             .restitution = fmax(a->restitution, b->restitution)};
    for (int k = 0; k < model->nmaterial_pair; k++) {
        const sim_material_pair *p = &model->material_pair[k];
        if ((p->first == first && p->second == second) || (p->first == second && p->second == first)) {
            out.friction = given_or(p->friction, out.friction);
            out.stiffness = given_or(p->stiffness, out.stiffness);
            out.dissipation = given_or(p->dissipation, out.dissipation);
            out.restitution = given_or(p->restitution, out.restitution);
        }
    }
    return out;
}
