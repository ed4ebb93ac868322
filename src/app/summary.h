/* What a run was and how it went, for people and for programs. */
#ifndef APP_SUMMARY_H
#define APP_SUMMARY_H

#include "app/run.h"
#include <stdio.h>

void print_summary(const sim_run *run); /* standard error */
/* JSON; closes `file`.  0 if it could not be written. */
int write_summary(const sim_run *run, FILE *file);

#endif
