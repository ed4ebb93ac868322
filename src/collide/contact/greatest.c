/* The greatest properties of any two materials of a model. */
#include "collide/contact/greatest.h"

#include <math.h>
#include <stdbool.h>

double model_max_friction(const sim_model *m) {
    double most = 0;
    for (int k = 0; k < m->nmaterial; k++) {
        most = fmax(most, fmax(m->material[k].friction, m->material[k].friction_across));
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        most = fmax(most, m->material_pair[k].friction);
    }
    return most;
}

double model_max_adhesion_range(const sim_model *m) {
    double most = 0, longest = 0;
    bool pulled = false;
    for (int k = 0; k < m->nactuator; k++) {
        pulled |= m->actuator[k].transmission == SIM_BY_CONTACTS;
    }
    for (int k = 0; k < m->nmaterial; k++) {
        longest = fmax(longest, m->material[k].adhesion_range);
        most = pulled || m->material[k].adhesion > 0 ? fmax(most, m->material[k].adhesion_range) : most;
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        const sim_material_pair *p = &m->material_pair[k];
        most = pulled || p->adhesion > 0 ? fmax(most, isnan(p->adhesion_range) ? longest : p->adhesion_range) : most;
        most = most > 0 && p->adhesion_range > most ? p->adhesion_range : most;
    }
    return most;
}

double model_max_turning(const sim_model *m) {
    double rolling = 0, torsion = 0;
    for (int k = 0; k < m->nmaterial; k++) {
        rolling = fmax(rolling, m->material[k].rolling);
        torsion = fmax(torsion, m->material[k].torsion);
    }
    for (int k = 0; k < m->nmaterial_pair; k++) {
        rolling = fmax(rolling, m->material_pair[k].rolling);
        torsion = fmax(torsion, m->material_pair[k].torsion);
    }
    return rolling + torsion;
}
