/* The HDF5 library prints its errors on its own; we keep them for the one sentence we return. */
#ifndef RECORD_FILE_HDF5_QUIET_H
#define RECORD_FILE_HDF5_QUIET_H

#include <hdf5.h>
#include <sim/base.h>
#include <stdio.h>

enum { HDF5_REASON_BYTES = 256 };

typedef struct hdf5_silence {
    H5E_auto2_t function;
    void *data;
} hdf5_silence;

static inline hdf5_silence hdf5_silence_begin(void) {
    hdf5_silence before;
    H5Eget_auto2(H5E_DEFAULT, &before.function, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static inline void hdf5_silence_end(hdf5_silence before) { H5Eset_auto2(H5E_DEFAULT, before.function, before.data); }

static inline herr_t hdf5_keep_innermost(unsigned n, const H5E_error2_t *entry, void *text) {
    (void)n;
    snprintf(text, HDF5_REASON_BYTES, "%s", entry->desc);
    return 0;
}

static inline herr_t hdf5_see_memory(unsigned n, const H5E_error2_t *entry, void *status) {
    (void)n;
    if (entry->maj_num == H5E_RESOURCE && (entry->min_num == H5E_NOSPACE || entry->min_num == H5E_CANTALLOC)) {
        *(sim_status *)status = SIM_NO_RESOURCE;
    }
    return 0;
}

/* Was its last failure one of memory, or of the data that it read? */
static inline sim_status hdf5_status(void) {
    sim_status status = SIM_BAD_INPUT;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, hdf5_see_memory, &status);
    return status;
}

/* The message of the library for its last failure. */
static inline void hdf5_reason(char text[HDF5_REASON_BYTES]) {
    snprintf(text, HDF5_REASON_BYTES, "unknown error");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, hdf5_keep_innermost, text);
}

#endif
