/* Turns and solutions of the methods of a portfolio, summed over a run. */
#ifndef APP_OUTPUT_SOLVER_STATISTICS_H
#define APP_OUTPUT_SOLVER_STATISTICS_H

#include "app/output/json_out.h"
#include "record/run/run_statistics.h"

/* `unit` NULL: the caller names it.  Both say nothing of a solver that is one method. */
void print_branches(FILE *file, const char *before, const sim_solver_info *info, const branch_counts *counts,
                    const char *unit);
void json_branches(json_out *out, const sim_solver_info *info, const branch_counts *counts);

#endif
