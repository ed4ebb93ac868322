/* Sweeps: many runs of one scene, each with values of its own in place of the scene's (docs/sweeps.md).
 *
 * A run gives a row: inputs, summary, certificate and signals.  A row depends on the sweep and on the number of the run
 * alone: rows from any process, thread or machine have the same bytes.  Rows go into files as they come
 * (FILE.part*), and together into one file at the end; runs whose rows are there are not repeated. */
#ifndef SIM_SWEEP_H
#define SIM_SWEEP_H

#include <sim/base.h>
#include <sim/scene.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_sweep sim_sweep;

typedef struct sim_sweep_info {
    const char *name; /* may be "" */
    int64_t runs;
    int columns;               /* of a row */
    const char *const *column; /* their names: "run", the inputs, "ending", "reason", ... */
    const char *const *group;  /* "runs", "inputs", "summary", "certificate", "signals" */
    const bool *is_text;       /* columns of texts; others hold numbers */
    const char *text;          /* the file as read; zero-terminated */
    size_t text_length;
    char hash[65]; /* SHA-256 of that text, of the scene with its files, and of this build; hex */
} sim_sweep_info;

/* NULL on failure, as sim_scene_load: SIM_BAD_INPUT with diagnostics, or SIM_NO_RESOURCE.  The first run is loaded, too,
 * so that wrong paths are found.  `cache`: folder of cached distance fields; NULL: none. */
SIM_API sim_sweep *sim_sweep_load(const char *path, const char *cache, sim_diagnostics *diagnostics, sim_error *error);
/* The same from memory; `path` names it in messages, and the scene's file is relative to it. */
SIM_API sim_sweep *sim_sweep_parse(const char *text, size_t length, const char *path, const char *cache,
                                   sim_diagnostics *diagnostics, sim_error *error);
SIM_API void sim_sweep_free(sim_sweep *sweep);
SIM_API const sim_sweep_info *sim_sweep_about(const sim_sweep *sweep);

/* Run number `run`, and its row: a line of CSV, malloc'd.  A run that fails has a row, too.  NULL without memory, or
 * with SIM_FAILED once `stop`, asked before every step, is true (NULL: never).  Any number of threads may call it. */
SIM_API char *sim_sweep_run(const sim_sweep *sweep, int64_t run, bool (*stop)(void *context), void *context,
                            sim_error *error);

/* The row of a run that could not be run to its end, for that reason: its process was killed, twice.  malloc'd. */
SIM_API char *sim_sweep_row_without(const sim_sweep *sweep, int64_t run, const char *reason, sim_error *error);

/* Rows on their way to the file `path` (.csv, .h5). */
typedef struct sim_sweep_rows sim_sweep_rows;

/* Finds the rows that are there, in `path` and in all its parts.  New ones go to the part number `part` (-1: the one
 * without number), which no other process may hold.  Refused: parts of another sweep, or of another build. */
SIM_API sim_sweep_rows *sim_sweep_rows_open(const sim_sweep *sweep, const char *path, int part, sim_error *error);
SIM_API bool sim_sweep_rows_has(const sim_sweep_rows *rows, int64_t run);
SIM_API int64_t sim_sweep_rows_count(const sim_sweep_rows *rows);
/* Of the rows that are there, those that do not end as "finished". */
SIM_API int64_t sim_sweep_rows_failures(const sim_sweep_rows *rows);
/* On the disk when it returns, as far as a kill of the process goes.  A row that is there already is left out. */
SIM_API sim_status sim_sweep_rows_add(sim_sweep_rows *rows, const char *row, sim_error *error);
/* All rows into the file, in order; the parts go.  SIM_FAILED: some are missing. */
SIM_API sim_status sim_sweep_rows_finish(sim_sweep_rows *rows, sim_error *error);
/* Frees them; the parts stay. */
SIM_API void sim_sweep_rows_close(sim_sweep_rows *rows);

/* Reference of the format (Markdown), from the table that drives the parser.  malloc'd. */
SIM_API char *sim_sweep_reference(void);

#ifdef __cplusplus
}
#endif
#endif
