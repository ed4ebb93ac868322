/* Summary of a run, as text and as JSON. */
#ifndef APP_RUN_SUMMARY_H
#define APP_RUN_SUMMARY_H

#include "app/run/run.h"
#include <stdio.h>

/* Owner of a figure, into `text`: ", the joint of \"a\"", ", \"a\" and \"b\"", or nothing. */
enum { SUMMARY_NAME_BYTES = 300 };
const char *summary_names(const run_context *run, const int body[2], char *text, size_t size);
/* Standard error: all, or only a line of the run and that for each of its faults, if any. */
void print_summary(const run_context *run);
void print_warnings(const run_context *run);
/* JSON; closes `file`.  false: it could not be written. */
bool write_summary(const run_context *run, FILE *file);

#endif
