/* Derivatives of the surface of a contact by its two materials.
 *
 *     mu = sqrt(mu_1 mu_2),    1/k = 1/k_1 + 1/k_2,    tau = k (tau_1/k_1 + tau_2/k_2)                             (1)
 *     dk = (k/k_i)^2 dk_i,     dtau = k/k_i^2 (tau - tau_i) dk_i
 *
 *     mu     friction;  k: stiffness, N/m;  tau: dissipation, s;  i: material of a side, both sides may have the same
 *
 * A number that a pair of materials has of its own replaces (1), and has the derivative zero.
 * Reference: model/parts/material.c.  Cost: constant a parameter. */
#include "world/derivative/touch/touch.h"

#include <math.h>

/* The numbers of its own that a pair has; NaN: none. */
static sim_material_pair given_pair(const sim_model *m, const int of[2]) {
    sim_material_pair out = {.friction = NAN, .stiffness = NAN, .dissipation = NAN};
    for (int k = 0; k < m->nmaterial_pair; k++) {
        const sim_material_pair *pair = &m->material_pair[k];
        if ((pair->first == of[0] && pair->second == of[1]) || (pair->first == of[1] && pair->second == of[0])) {
            out = *pair;
        }
    }
    return out;
}

void touch_surface(const sim_model *m, const sim_contact *c, int parameters, const sim_parameter *parameter,
                   surface_rates *out) {
    const int of[2] = {m->shape[c->shape_a].material, m->shape[c->shape_b].material};
    sim_material_pair pair = given_pair(m, of), together = sim_material_together(m, of[0], of[1]);
    for (int p = 0; p < parameters; p++) {
        const sim_parameter *by = &parameter[p];
        for (int side = 0; side < 2; side++) {
            const sim_material *own = &m->material[of[side]];
            if (by->index != of[side]) {
                continue;
            }
            if (by->kind == SIM_BY_FRICTION && isnan(pair.friction)) {
                double other = m->material[of[!side]].friction;
                out->friction[p] += of[0] == of[1] ? 0.5 : own->friction > 0 ? 0.5 * sqrt(other / own->friction) : 0;
            }
            if (by->kind == SIM_BY_STIFFNESS && isfinite(own->stiffness)) {
                /* a pair's own dissipation or stiffness does not hold the other one */
                double k = isinf(m->material[of[!side]].stiffness)
                               ? own->stiffness
                               : 1 / (1 / own->stiffness + 1 / m->material[of[!side]].stiffness);
                double part = k / own->stiffness;
                bool follows = isnan(pair.dissipation) && own->modulus == 0 && m->material[of[!side]].modulus == 0;
                out->stiffness[p] += isnan(pair.stiffness) ? part * part : 0;
                out->dissipation[p] += follows ? part / own->stiffness * (together.dissipation - own->dissipation) : 0;
            }
        }
    }
}
