/* HDF5 files for tests, by the library's plain means. */
#ifndef TESTS_RECORD_H5_H
#define TESTS_RECORD_H5_H

#include <hdf5.h>
#include <stddef.h>

hid_t h5_new(const char *path);
hid_t h5_group(hid_t parent, const char *name); /* closed with the file */
void h5_ints(hid_t parent, const char *name, int count, const int *values);
void h5_int(hid_t parent, const char *name, int value);
void h5_reals(hid_t parent, const char *name, int count, const double *values);
void h5_text(hid_t parent, const char *name, const char *text);
/* An array of `count` reals whose values stand in another file, as bytes (external storage) or as its dataset "from" (a
 * virtual dataset). */
void h5_elsewhere(hid_t parent, const char *name, int count, const char *other, int is_virtual);
void h5_delete(const char *path, const char *name);

typedef enum h5_storage { H5_TRIPLETS, H5_COLUMNS, H5_ROWS, H5_STORAGES } h5_storage;
/* Of a dense row-major matrix what is not zero; triplets in an odd order, the first entry in two parts. */
void h5_matrix(hid_t parent, const char *name, int m, int n, const double *dense, h5_storage storage);

/* The same groups, arrays, attributes, types, shapes and bytes?  The name of the first that differs, or NULL. */
const char *h5_difference(const char *a, const char *b);

#endif
