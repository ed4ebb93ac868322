/* Counts of failed solves by reason, as text and as JSON. */
#include "app/output/reasons.h"

void print_reasons(FILE *file, const char *before, const reason_counts *counts) {
    for (int k = SIM_REASON_NONE + 1; k < SIM_REASONS; k++) {
        if (counts->of[k]) {
            fprintf(file, "%s%lld %s: %s\n", before, (long long)counts->of[k], sim_reason_name((sim_reason)k),
                    sim_reason_text((sim_reason)k));
        }
    }
}

void json_reasons(json_out *out, const reason_counts *counts) {
    json_open_line(out, "gave_up", '{');
    for (int k = SIM_REASON_NONE + 1; k < SIM_REASONS; k++) {
        if (counts->of[k]) {
            json_whole(out, sim_reason_name((sim_reason)k), counts->of[k]);
        }
    }
    json_close(out, '}');
}
