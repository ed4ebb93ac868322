/* Summary of a run, as text and as JSON. */
#ifndef APP_RUN_SUMMARY_H
#define APP_RUN_SUMMARY_H

#include "app/run/run.h"
#include <stdio.h>

/* Owner of a figure, into `text`: ", the joint of \"a\"", ", \"a\" and \"b\"", or nothing. */
enum { SUMMARY_NAME_BYTES = 300 };
const char *summary_names(const run_context *run, const int body[2], char *text, size_t size);
void print_summary(const run_context *run); /* standard error */
/* JSON; closes `file`.  false: it could not be written. */
bool write_summary(const run_context *run, FILE *file);

#endif
