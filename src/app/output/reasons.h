/* Reasons for which solvers gave up, with their counts. */
#ifndef APP_OUTPUT_REASONS_H
#define APP_OUTPUT_REASONS_H

#include "app/output/json_out.h"
#include "record/run/run_statistics.h"

/* A line a reason that there was, with its sentence: "3 local minimum: ..."; nothing if there was none. */
void print_reasons(FILE *file, const char *before, const reason_counts *counts);
/* "gave_up": {"local minimum": 3}, empty if there was none. */
void json_reasons(json_out *out, const reason_counts *counts);

#endif
