/* Files of records read back: trajectories (CSV, HDF5) and the histories of `sim solve`. */
#ifndef RECORD_RUN_TRAJECTORY_H
#define RECORD_RUN_TRAJECTORY_H

#include "base/pool.h"
#include <sim/base.h>
#include <stddef.h>

/* A column of numbers.  In both kinds of files it has the name that CSV gives it, the unit apart. */
typedef struct trajectory_column {
    const char *name; /* "elbow", "hand.pose.x", "energy.total" */
    const char *unit; /* "rad"; "": a pure number */
    int set;          /* of HDF5: which dataset, and where in its rows */
    int item, component;
} trajectory_column;

typedef struct trajectory trajectory;
struct trajectory {
    memory_pool *pool;
    const char *path;
    ptrdiff_t records; /* that are whole */
    int columns;
    trajectory_column *column; /* [columns] */
    /* Histories: each record belongs to a problem. */
    int labels; /* 0: a trajectory */
    const char **label;
    const int *label_of; /* [records] */
    sim_status (*read)(trajectory *t, int column, double *value, sim_error *error);
    void (*close)(trajectory *t);
    void *file;
};

/* NULL on failure. */
trajectory *trajectory_open(const char *path, sim_error *error);
void trajectory_free(trajectory *t);
/* The numbers of a column: [records]. */
sim_status trajectory_values(trajectory *t, int column, double *value, sim_error *error);
/* The next column of this name after `from`, or -1; "elbow [rad]" names one of several by its unit. */
int trajectory_find(const trajectory *t, const char *name, int from);

/* The kinds of files: each fills in the rest of `t`. */
sim_status trajectory_open_csv(trajectory *t, sim_error *error);
sim_status trajectory_open_hdf5(trajectory *t, sim_error *error);

/* Of a run in HDF5: rows [first, first + rows) of a dataset, `width` numbers each; SIM_BAD_INPUT where it is not there
 * or has another width. */
sim_status trajectory_rows(trajectory *t, const char *dataset, ptrdiff_t first, ptrdiff_t rows, ptrdiff_t width,
                           double *value, sim_error *error);
/* A text that stands at the root of the file ("scene"), in the pool; NULL: none. */
const char *trajectory_text(trajectory *t, const char *name);
/* A number there; `standard` where there is none. */
double trajectory_number(trajectory *t, const char *name, double standard);

#endif
