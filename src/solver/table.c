/* All solvers there are: a new one is a file and a line here. */
#include "solver/table.h"
#include "solver/solver.h"

#include <string.h>

extern const solver_type solver_sap;
extern const solver_type solver_pgs;
extern const solver_type solver_canal;
extern const solver_type solver_subadmm;

static const solver_type *const table[] = {
    &solver_sap, &solver_pgs, &solver_canal, &solver_subadmm, NULL, /* the end */
};

int sim_solver_count(void) { return (int)(sizeof table / sizeof *table) - 1; }

const sim_solver_card *sim_solver_at(int index) {
    return index >= 0 && index < sim_solver_count() ? &table[index]->card : NULL;
}

const sim_solver_card *sim_solver_find(const char *name) {
    for (int k = 0; k < sim_solver_count(); k++) {
        if (strcmp(table[k]->card.name, name) == 0) {
            return &table[k]->card;
        }
    }
    return NULL;
}

const solver_type *solver_type_of(const sim_solver_card *card) {
    for (int k = 0; k < sim_solver_count(); k++) {
        if (&table[k]->card == card) {
            return table[k];
        }
    }
    return NULL;
}
