/* All solvers there are: a new one is a file and a line here. */
#include "solver/table.h"
#include "solver/solver.h"

#include <string.h>

extern const solver_type solver_sap;
extern const solver_type solver_pgs;
extern const solver_type solver_canal;
extern const solver_type solver_subadmm;
extern const solver_type solver_auto;
extern const solver_type solver_nsn;
extern const solver_type solver_incp;
extern const solver_type solver_mncp_rlm;
extern const solver_type solver_mncp_plm;
extern const solver_type solver_mlcp_pfb_rlm;
extern const solver_type solver_mlcp_pfb_plm;
extern const solver_type solver_mlcp_pivot;

/* One a line. */
static const solver_type *const table[] = {
    &solver_sap,          //
    &solver_pgs,          //
    &solver_canal,        //
    &solver_subadmm,      //
    &solver_auto,         //
    &solver_nsn,          //
    &solver_incp,         //
    &solver_mncp_rlm,     //
    &solver_mncp_plm,     //
    &solver_mlcp_pfb_rlm, //
    &solver_mlcp_pfb_plm, //
    &solver_mlcp_pivot,   //
    NULL,                 /* the end */
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
