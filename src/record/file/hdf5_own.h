/* Test whether a dataset stores all its data in the file itself.  HDF5 has two layouts that take it from elsewhere, and
 * a file of a stranger must not read others for us. */
#ifndef RECORD_FILE_HDF5_OWN_H
#define RECORD_FILE_HDF5_OWN_H

#include <hdf5.h>

/* NULL, or why not.  To be asked before anything else of a dataset: even the size of a virtual one is looked up
 * elsewhere. */
static inline const char *hdf5_foreign(hid_t dataset) {
    hid_t made = H5Dget_create_plist(dataset);
    H5D_layout_t layout = made >= 0 ? H5Pget_layout(made) : H5D_LAYOUT_ERROR;
    int external = made >= 0 ? H5Pget_external_count(made) : -1;
    if (made >= 0) {
        H5Pclose(made);
    }
    return layout == H5D_VIRTUAL                        ? "is made of parts of other files (a virtual dataset)"
           : external > 0                               ? "stands in another file (external storage)"
           : layout == H5D_LAYOUT_ERROR || external < 0 ? "has a layout that cannot be read"
                                                        : NULL;
}

#endif
