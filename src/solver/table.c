/* Table of the library's solvers, in the order of meson.build.  meson.build writes list.h: a new solver is a file and a
 * line there. */
#include "solver/table.h"
#include "solver/core/call.h"

#include <string.h>

#define SOLVER(NAME) extern const solver_type solver_##NAME;
#include "solver/list.h"
#undef SOLVER

#define SOLVER(NAME) &solver_##NAME,
static const solver_type *const table[] = {
#include "solver/list.h"
};
#undef SOLVER

int sim_solver_count(void) { return (int)(sizeof table / sizeof *table); }

const sim_solver_info *sim_solver_at(int index) {
    return index >= 0 && index < sim_solver_count() ? &table[index]->info : NULL;
}

const sim_solver_info *sim_solver_find(const char *name) {
    for (int k = 0; k < sim_solver_count(); k++) {
        if (strcmp(table[k]->info.name, name) == 0) {
            return &table[k]->info;
        }
    }
    return NULL;
}

const sim_solver_info *sim_solver_default(void) { return sim_solver_find("auto"); }

const solver_type *solver_type_of(const sim_solver_info *info) {
    for (int k = 0; k < sim_solver_count(); k++) {
        if (&table[k]->info == info) {
            return table[k];
        }
    }
    return info->registered;
}
