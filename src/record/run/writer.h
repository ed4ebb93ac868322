/* A kind of trajectory file.  The recorder packs rows and decides when to flush; a writer puts rows into a file. */
#ifndef RECORD_RUN_WRITER_H
#define RECORD_RUN_WRITER_H

#include "record/run/channels.h"

typedef struct writer writer;
struct writer {
    /* A record: a row, and one for each of its contacts. */
    sim_status (*write)(writer *self, const double *row, const double *contact, int contacts, sim_error *error);
    /* Makes all records so far readable for others, even if the program dies now. */
    sim_status (*flush)(writer *self, sim_error *error);
    /* Also frees `self`, in every case. */
    sim_status (*close)(writer *self, sim_error *error);
};

/* NULL on failure.  `set` and `scene` must outlive the writer. */
writer *csv_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error);
writer *hdf5_open(const char *path, const sim_scene *scene, const channel_set *set, sim_error *error);

/* Can HDF5 be written by this build? */
bool hdf5_present(void);
/* For programs, before anything else of HDF5: when the program ends the library stays as it is.  Tidying up, it would
 * fail noisily once it has met a damaged file. */
void hdf5_disable_atexit(void);

#endif
