/* Counts of the branch that finished: "pgs 20, canal 17 islands", as text and as JSON. */
#include "app/output/solver_statistics.h"

void print_branches(FILE *file, const char *before, const sim_solver_info *info, const branch_counts *counts,
                    const char *unit) {
    if (info->branch) {
        fputs(before, file);
        for (int k = 0; info->branch[k]; k++) {
            fprintf(file, "%s%s %lld", k ? ", " : "", info->branch[k], (long long)counts->of[k]);
        }
        fprintf(file, "%s%s\n", unit ? " " : "", unit ? unit : "");
    }
}

void json_branches(json_out *out, const sim_solver_info *info, const branch_counts *counts) {
    if (info->branch) {
        json_open_line(out, "finished_by", '{');
        for (int k = 0; info->branch[k]; k++) {
            json_whole(out, info->branch[k], counts->of[k]);
        }
        json_close(out, '}');
    }
}
