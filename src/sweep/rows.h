/* Rows of a sweep in memory, and the files that they make. */
#ifndef SWEEP_ROWS_H
#define SWEEP_ROWS_H

#include "sweep/sweep.h"

/* All rows, in order, as one file. */
sim_status sweep_write_csv(const sim_sweep *s, const char *path, const char *const *row, sim_error *error);
sim_status sweep_write_hdf5(const sim_sweep *s, const char *path, const char *const *row, sim_error *error);

/* A file that is there: is it that of this sweep, and whole?  SIM_BAD_INPUT: another file. */
sim_status sweep_check_finished(const sim_sweep *s, const char *path, int64_t *failures, sim_error *error);

#endif
